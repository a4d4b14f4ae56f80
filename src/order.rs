//! Sorting for lists of people and settings, small in the binary: the standard library's sorts are made anew
//! for each type, four kilobytes each. This one sorts places, and only that once. What is asked of ordered
//! sets and maps beside adding costs as much again for each type.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};
use std::mem;

/// Sorts the list; what is equal keeps its order.
pub fn sort_by<T>(items: &mut Vec<T>, compare: impl Fn(&T, &T) -> Ordering) {
    if items.is_sorted_by(|a, b| compare(a, b) != Ordering::Greater) {
        return;
    }
    let mut places: Vec<usize> = (0..items.len()).collect();
    sort_places(&mut places, &|a, b| compare(&items[a], &items[b]));
    let mut taken: Vec<Option<T>> = items.drain(..).map(Some).collect();
    items.extend(places.into_iter().filter_map(|place| taken[place].take()));
}

/// The same, by a key.
pub fn sort_by_key<T, K: Ord>(items: &mut Vec<T>, key: impl Fn(&T) -> K) {
    sort_by(items, |a, b| key(a).cmp(&key(b)));
}

/// The same, by the items themselves.
pub fn sort<T: Ord>(items: &mut Vec<T>) {
    sort_by(items, T::cmp);
}

/// A set of them. Where it is collected, they are sorted first.
pub fn to_set(items: impl IntoIterator<Item = String>) -> BTreeSet<String> {
    let mut set = BTreeSet::new();
    set.extend(items);
    set
}

/// Takes an entry out of a small map, which is made anew from the others.
pub fn take_entry<V>(map: &mut BTreeMap<String, V>, key: &str) -> Option<V> {
    let mut taken = None;
    for (name, value) in mem::take(map) {
        if name == key {
            taken = Some(value);
        } else {
            map.insert(name, value);
        }
    }
    taken
}

fn sort_places(places: &mut [usize], compare: &dyn Fn(usize, usize) -> Ordering) {
    places.sort_by(|a, b| compare(*a, *b));
}

#[cfg(test)]
mod tests {
    #[test]
    fn as_the_standard_library_sorts() {
        let mut own: Vec<(u32, u32)> = (0..500).map(|n| (n * 7919 % 13, n)).collect();
        let mut theirs = own.clone();
        super::sort_by_key(&mut own, |(key, _)| std::cmp::Reverse(*key));
        theirs.sort_by_key(|(key, _)| std::cmp::Reverse(*key));
        assert_eq!(own, theirs);
        super::sort(&mut own);
        theirs.sort();
        assert_eq!(own, theirs);
    }

    #[test]
    fn an_entry_is_taken_and_the_others_stay() {
        let mut map =
            super::BTreeMap::from(["a", "b", "c"].map(|name| (name.to_string(), name.len())));
        assert_eq!(super::take_entry(&mut map, "b"), Some(1));
        assert_eq!(super::take_entry(&mut map, "b"), None);
        assert!(map.keys().eq(["a", "c"]));
    }
}
