//! Names that look like those of much-used packages. The lists stand in `config/popular/`, `build/popular.rs` packs them.

use std::cell::RefCell;

use crate::limits;

/// The list of each registry that has one, and what people put before or behind the names there.
const LISTS: [(&str, &[u8], &[&str]); 3] = [
    ("npm", include_bytes!(concat!(env!("OUT_DIR"), "/popular-npm.bin")), &["js", "node"]),
    ("pypi", include_bytes!(concat!(env!("OUT_DIR"), "/popular-pypi.bin")), &["py", "python"]),
    ("crates", include_bytes!(concat!(env!("OUT_DIR"), "/popular-crates.bin")), &["rs", "rust"]),
];

/// Longer names are compared by their beginning.
const LONGEST: usize = 64;
/// A name of fewer characters is like too many others.
const SHORTEST: usize = 4;
/// `python`
const LONGEST_AFFIX: usize = 6;
/// So long is one that many others are unlike.
const TELLING: usize = 7;
/// Bytes of a list that are looked at in one go: so many stand behind its last name.
const CHUNK: usize = 8;

/// A name as people read it: small letters, every mark between words the same, a scope a word like others.
struct Plain([u8; LONGEST], usize);

impl Plain {
    fn new(name: &[u8]) -> Plain {
        let mut plain = Plain([0; LONGEST], 0);
        let start = name.iter().position(|byte| *byte != b'@').unwrap_or(name.len());
        for byte in &name[start..] {
            let Some(place) = plain.0.get_mut(plain.1) else { break };
            *place = match byte {
                b'-' | b'_' | b'.' | b'/' => b'-',
                // Whatever it looks like: one character.
                0x80..0xc0 => continue,
                0xc0.. => b'?',
                byte => byte.to_ascii_lowercase(),
            };
            plain.1 += 1;
        }
        plain
    }

    fn bytes(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

/// Of a name in the list: others are compared with it.
const MODEL: u8 = 0x80;
/// It is among the most used.
const TOP: u8 = 0x40;

/// What a name is compared with others for.
struct Search<'n> {
    name: &'n [u8],
    own: Plain,
    /// `@babel`
    scope: Option<&'n [u8]>,
    first: u8,
    last: u8,
    /// How many characters more or less a name has that could be like it, as bits.
    gaps: u32,
    /// Where it has several words: the characters that they begin and end with, as bits.
    ends: Option<(u32, u32)>,
    affixes: &'static [&'static str],
    found: Option<String>,
}

thread_local! {
    /// The name that was looked at last, of which registry, and what was found: a call that a rule rewrites is judged twice.
    static LAST: RefCell<(&'static str, String, Option<String>)> = const {
        RefCell::new(("", String::new(), None))
    };
}

/// The much-used name that one like it, and itself not known, could be taken for.
pub fn find_model(registry: &'static str, name: &str) -> Option<String> {
    LAST.with_borrow_mut(|last| {
        if last.0 != registry || last.1 != name {
            *last = (registry, name.to_string(), search_list(registry, name)?);
        }
        last.2.clone()
    })
}

/// Is it one of the much-used names themselves?
pub fn is_listed(registry: &str, name: &str) -> bool {
    let list = LISTS.iter().find(|(own, ..)| *own == registry).map(|(_, list, _)| *list);
    list.is_some_and(|list| {
        limits::spend_steps(list.len() / 16) && each(list, |_, one| one == name.as_bytes())
    })
}

/// None = it was not looked for.
fn search_list(registry: &str, name: &str) -> Option<Option<String>> {
    let (_, list, affixes) = LISTS.iter().find(|(own, ..)| *own == registry)?;
    if !limits::spend_steps(list.len() / 16) {
        return None;
    }
    let mut search = Search::new(name.as_bytes(), affixes);
    let known = each(list, |head, theirs| {
        search.may_be_alike(theirs) && search.is_known(registry, head, theirs)
    });
    Some(search.found.filter(|_| !known))
}

/// The part of a scoped name behind the scope.
fn bare(name: &[u8]) -> Option<&[u8]> {
    let slash = name.iter().position(|b| *b == b'/')?;
    Some(&name[slash + 1..])
}

/// A character as a bit; several share one.
fn bit(byte: u8) -> u32 {
    1 << (byte & 31)
}

impl<'n> Search<'n> {
    fn new(name: &'n [u8], affixes: &'static [&'static str]) -> Search<'n> {
        let own = Plain::new(name);
        let slash = name.iter().position(|b| *b == b'/').filter(|_| name.starts_with(b"@"));
        let scope = slash.map(|slash| &name[..slash]);
        // An affix of two letters may stand without a mark.
        let gaps = affixes.iter().fold(0b111, |gaps, affix| gaps | 1 << (affix.len() + 1));
        let words = || own.bytes().split(|b| *b == b'-');
        let marks = |of: fn(&[u8]) -> Option<&u8>| {
            words().fold(0, |all, word| all | of(word).map_or(u32::MAX, |byte| bit(*byte)))
        };
        let several = own.bytes().contains(&b'-');
        let ends = several.then(|| (marks(<[u8]>::first), marks(<[u8]>::last)));
        let first = own.0[0];
        let last = own.bytes().last().copied().unwrap_or_default();
        Search { name, own, scope, first, last, gaps, ends, affixes, found: None }
    }

    /// Could one be taken for the other? Of thousands of names nearly all say no by their lengths and ends: an edit or an affix
    /// leaves the first or the last character as it is, and what is turned has as many, its words' own at its ends.
    fn may_be_alike(&self, theirs: &[u8]) -> bool {
        let theirs = match theirs {
            [b'@', ..] if self.scope.is_some() => return true,
            [b'@', theirs @ ..] => theirs,
            theirs => theirs,
        };
        let gap = self.own.1.abs_diff(theirs.len());
        if gap > LONGEST_AFFIX + 1 || self.gaps >> gap & 1 == 0 {
            return false;
        }
        let ([first, ..], [.., last]) = (theirs, theirs) else { return false };
        // But for their case.
        let same = |a: u8, b: u8| (a ^ b) & !0x20 == 0;
        same(self.first, *first)
            || same(self.last, *last)
            || gap == 0
                && self.ends.is_some_and(|(firsts, lasts)| {
                    firsts & bit(*first) != 0 && lasts & bit(*last) != 0
                })
    }

    /// Is it the name itself? If not, it may be what it looks like.
    fn is_known(&mut self, registry: &str, head: u8, one: &[u8]) -> bool {
        if one == self.name {
            return true;
        }
        let theirs = Plain::new(one);
        let same = self.own.bytes() == theirs.bytes();
        // What is owned by its name, nobody else can publish there.
        let behind = self.scope.and_then(|scope| one.strip_prefix(scope));
        if behind.is_some_and(|rest| rest.first() == Some(&b'/')) || same && registry != "npm" {
            return true;
        }
        if head & MODEL != 0 && (same || self.is_alike(head, one, theirs.bytes())) {
            // In another scope the very name tells more than the first that is like it.
            let twin = bare(self.name).is_some_and(|own| bare(one) == Some(own));
            if twin || self.found.is_none() {
                self.found = Some(String::from_utf8_lossy(one).into_owned());
            }
        }
        false
    }

    fn is_alike(&self, head: u8, one: &[u8], theirs: &[u8]) -> bool {
        let own = self.own.bytes();
        is_slip(own, theirs, head & TOP != 0)
            || self.ends.is_some() && is_turned(own, theirs)
            || self.affixes.iter().any(|affix| is_affixed(own, theirs, affix.as_bytes()))
            || self.scope.is_some_and(|scope| is_like_scope(scope, one))
    }
}

/// Goes over the names of a list until one is what is looked for; was it?
fn each(list: &[u8], mut is: impl FnMut(u8, &[u8]) -> bool) -> bool {
    // Copied in whole chunks, whatever of the last belongs to the name.
    let mut name = [0; LONGEST + CHUNK];
    let mut rest = list;
    // Behind the last name stand as many bytes as are looked at in one go.
    while let Some((head, behind)) = rest.split_first() {
        rest = behind;
        let mut end = usize::from(head & 0x3f);
        loop {
            let (Some((_, place)), Some(chunk)) =
                (name.split_at_mut_checked(end), rest.first_chunk::<CHUNK>())
            else {
                return false;
            };
            let Some(place) = place.first_chunk_mut() else { return false };
            *place = *chunk;
            // The last one of a name has the high bit set.
            let last = u64::from_le_bytes(*chunk) & 0x8080_8080_8080_8080;
            let length = if last == 0 { CHUNK } else { last.trailing_zeros() as usize / 8 + 1 };
            end += length;
            rest = rest.split_at_checked(length).map_or(&[], |(_, rest)| rest);
            if last != 0 {
                break;
            }
        }
        name[end - 1] &= 0x7f;
        if is(*head, &name[..end]) {
            return true;
        }
    }
    false
}

/// Where two names differ: how much is the same before, and what is left of each.
fn difference<'n>(a: &'n [u8], b: &'n [u8]) -> (usize, &'n [u8], &'n [u8]) {
    let before = a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let (a, b) = (&a[before..], &b[before..]);
    let behind = a.iter().rev().zip(b.iter().rev()).take_while(|(a, b)| a == b).count();
    (before, &a[..a.len() - behind], &b[..b.len() - behind])
}

/// Is one the other with one character more, less, another one, or two in the wrong order?
fn is_one_edit(a: &[u8], b: &[u8]) -> bool {
    if a.len().abs_diff(b.len()) > 1 {
        return false;
    }
    let (_, a, b) = difference(a, b);
    match (a, b) {
        ([_], [_]) | ([_], []) | ([], [_]) => true,
        ([a, b], [c, d]) => a == d && b == c,
        _ => false,
    }
}

/// Is the name one slip of the finger from that one?
fn is_slip(own: &[u8], theirs: &[u8], top: bool) -> bool {
    if theirs.len() <= SHORTEST || theirs.len() < TELLING && !top || !is_one_edit(own, theirs) {
        return false;
    }
    let (at, more, less) = difference(own, theirs);
    // A version or a size: `cu11` beside `cu12`.
    if let ([a], [b]) = (more, less)
        && a.is_ascii_digit()
        && b.is_ascii_digit()
    {
        return false;
    }
    if more.contains(&b'-') || less.contains(&b'-') {
        return true;
    }
    // A short word is a word of its own: `d3-time`, `d3-timer`.
    let start = theirs[..at].iter().rposition(|b| *b == b'-').map_or(0, |dash| dash + 1);
    let end = theirs[at..].iter().position(|b| *b == b'-').map_or(theirs.len(), |dash| at + dash);
    end - start >= SHORTEST || top && theirs.len() > 5
}

/// Are the same words there in another order?
fn is_turned(own: &[u8], theirs: &[u8]) -> bool {
    if own.len() != theirs.len() || own.len() < TELLING || !theirs.contains(&b'-') {
        return false;
    }
    let sum = |name: &[u8]| name.iter().map(|byte| u32::from(*byte)).sum::<u32>();
    let words = |name: &'_ [u8]| {
        let mut words: Vec<Vec<u8>> = name.split(|b| *b == b'-').map(<[u8]>::to_vec).collect();
        words.sort_unstable();
        words
    };
    sum(own) == sum(theirs) && words(own) == words(theirs)
}

/// Is one the other with that before or behind it: `lodash-js`, `python-requests`?
fn is_affixed(own: &[u8], theirs: &[u8], affix: &[u8]) -> bool {
    let (long, short) = if own.len() > theirs.len() { (own, theirs) } else { (theirs, own) };
    let added = |rest: Option<&[u8]>, glued: bool| match rest {
        Some([b'-', rest @ ..]) => rest == affix,
        Some(rest) => glued && rest == affix,
        None => false,
    };
    let before = || long.strip_prefix(affix)?.strip_prefix(b"-");
    short.len() >= SHORTEST
        && long.len() - short.len() >= affix.len()
        && (added(long.strip_prefix(short), affix.len() == 2) || before() == Some(short))
}

/// Does a scope look like the scope of that name, or like the name: `@babell/core`, `@types-node/x`?
fn is_like_scope(scope: &[u8], theirs: &[u8]) -> bool {
    let own = Plain::new(scope);
    let slash = theirs.iter().position(|b| *b == b'/').filter(|_| theirs.starts_with(b"@"));
    let them = slash.map(|slash| Plain::new(&theirs[..slash]));
    own.bytes().contains(&b'-') && own.bytes() == Plain::new(theirs).bytes()
        || them.is_some_and(|them| them.1 > SHORTEST && is_one_edit(own.bytes(), them.bytes()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::{
        LISTS, Plain, SHORTEST, TELLING, find_model, is_affixed, is_like_scope, is_turned,
    };

    const TEXTS: [(&str, &str); 3] = [
        ("npm", include_str!("../../../../config/popular/npm.txt")),
        ("pypi", include_str!("../../../../config/popular/pypi.txt")),
        ("crates", include_str!("../../../../config/popular/crates.txt")),
    ];

    fn plain(name: &str) -> Vec<u8> {
        Plain::new(name.as_bytes()).bytes().to_vec()
    }

    /// One edit, by the whole table of distances.
    fn is_edit(a: &[u8], b: &[u8]) -> bool {
        if a.len().abs_diff(b.len()) > 1 {
            return false;
        }
        let mut rows = vec![vec![0_usize; b.len() + 1]; a.len() + 1];
        for i in 0..=a.len() {
            for j in 0..=b.len() {
                let mut least = if i == 0 || j == 0 { i + j } else { usize::MAX };
                if i > 0 && j > 0 {
                    let other = usize::from(a[i - 1] != b[j - 1]);
                    least = (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1);
                    least = least.min(rows[i - 1][j - 1] + other);
                    if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                        least = least.min(rows[i - 2][j - 2] + 1);
                    }
                }
                rows[i][j] = least;
            }
        }
        rows[a.len()][b.len()] == 1
    }

    /// What the search comes to where every name of the list is looked at, and nothing is packed.
    fn plain_search(registry: &str, list: &[(&str, Vec<u8>)], name: &str) -> Option<String> {
        let (_, _, affixes) = LISTS.iter().find(|(own, ..)| *own == registry)?;
        let own = plain(name);
        let scope = name.split_once('/').map(|(scope, _)| scope).filter(|s| s.starts_with('@'));
        let mut found = None;
        for (line, them) in list {
            let theirs = line.trim_start_matches(['+', '~']);
            let owned = scope.is_some_and(|scope| theirs.starts_with(&format!("{scope}/")));
            if theirs == name || owned || own == *them && registry != "npm" {
                return None;
            }
            let top = line.starts_with('+');
            let long = them.len() > SHORTEST && (them.len() >= TELLING || top);
            // What makes an edit a slip is not what is searched for.
            let slip = long && is_edit(&own, them) && super::is_slip(&own, them, top);
            let alike = own == *them
                || slip
                || is_turned(&own, them)
                || affixes.iter().any(|affix| is_affixed(&own, them, affix.as_bytes()))
                || scope.is_some_and(|s| is_like_scope(s.as_bytes(), theirs.as_bytes()));
            let behind = |name: &str| name.split_once('/').map(|(_, rest)| rest.to_string());
            let twin = behind(name).is_some() && behind(name) == behind(theirs);
            if !line.starts_with('~') && alike && (found.is_none() || twin) {
                found = Some(theirs.to_string());
            }
        }
        found
    }

    #[test]
    fn a_packed_list_holds_the_names_of_its_file() {
        for ((registry, list, _), (_, text)) in LISTS.iter().zip(TEXTS) {
            let mut held = Vec::new();
            super::each(list, |head, name| {
                let sign = match (head & super::MODEL != 0, head & super::TOP != 0) {
                    (true, true) => "+",
                    (false, _) => "~",
                    _ => "",
                };
                held.push(format!("{sign}{}", String::from_utf8_lossy(name)));
                false
            });
            assert!(text.lines().eq(held.iter()), "{registry}");
        }
    }

    /// Names that are in a list, and what is one edit, one affix or another order of words away from them.
    fn names_to_seek(text: &str) -> Vec<String> {
        let mut all = Vec::new();
        for (number, line) in text.lines().enumerate() {
            let name = line.trim_start_matches(['+', '~']);
            // A part is enough, each with other edits.
            if number % 41 == 0 {
                all.push(name.to_string());
                all.extend([format!("{name}-js"), format!("python-{name}"), format!("{name}rs")]);
                all.push(name.replace(['-', '_', '.', '/'], "_"));
                let mut words: Vec<&str> = name.split('-').collect();
                words.rotate_left(1);
                all.push(words.join("-"));
                all.push(format!("@{}", name.replacen('-', "/", 1)));
                all.push(format!("@my/{name}"));
            }
            if number % 13 == 0 {
                let at = number / 13 % name.len();
                let (before, behind) = name.split_at(at);
                all.push(format!("{before}{}", &behind[1..]));
                all.push(format!("{before}x{}", &behind[1..]));
                all.push(format!("{before}-{behind}"));
                if let [a, b, ..] = behind.as_bytes() {
                    all.push(format!("{before}{}{}{}", *b as char, *a as char, &behind[2..]));
                }
            }
        }
        all.extend(
            ["", "a", "@", "@/", "@a/", "/", "-", "é", "lödash", "@bäbel/core"].map(String::from),
        );
        all.push("x".repeat(80));
        all
    }

    #[test]
    fn the_search_finds_what_a_plain_one_finds() {
        let mut seen: BTreeMap<bool, usize> = BTreeMap::new();
        for (registry, text) in TEXTS {
            let list: Vec<_> =
                text.lines().map(|l| (l, plain(l.trim_start_matches(['+', '~'])))).collect();
            for name in names_to_seek(text) {
                let wanted = plain_search(registry, &list, &name);
                assert_eq!(find_model(registry, &name), wanted, "{registry} {name}");
                *seen.entry(wanted.is_some()).or_default() += 1;
            }
        }
        assert!(seen.values().all(|count| *count > 500), "{seen:?}");
    }

    #[test]
    fn what_looks_like_a_much_used_name() {
        for (registry, name, model) in [
            ("npm", "loadsh", Some("lodash")),
            ("npm", "lodash", None),
            ("npm", "expresss", Some("express")),
            ("npm", "left-pad-of-mine", None),
            ("npm", "types-node", Some("@types/node")),
            ("npm", "@types/nodee", None),
            ("npm", "@tpyes/node", Some("@types/node")),
            ("npm", "axios-js", Some("axios")),
            ("pypi", "reqeusts", Some("requests")),
            ("pypi", "requests", None),
            ("pypi", "python-requests", Some("requests")),
            ("pypi", "typing_extensions", None),
            ("crates", "serde_jsom", Some("serde-json")),
            ("crates", "serde_json", None),
            ("crates", "rust-serde", Some("serde")),
            ("gems", "rials", None),
        ] {
            assert_eq!(find_model(registry, name).as_deref(), model, "{name}");
        }
    }

    /// Which names of a file look like others: `LOOKALIKES=npm:names.txt cargo test --lib lookalike -- --ignored --nocapture`.
    #[test]
    #[ignore = "a tool for whoever makes the lists anew"]
    fn names_of_a_file() {
        let told: &'static str = std::env::var("LOOKALIKES").unwrap().leak();
        let (registry, file) = told.split_once(':').unwrap();
        for name in std::fs::read_to_string(file).unwrap().lines() {
            if let Some(model) = find_model(registry, name) {
                println!("{name} {model}");
            }
        }
    }
}
