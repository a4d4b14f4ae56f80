//! Names that look like those of much-used packages. The lists stand in `config/popular/`, `build/popular.rs` packs them.

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

/// A name of the list.
struct Known<'l> {
    name: &'l str,
    /// Others are compared with it.
    model: bool,
    /// It is among the most used.
    top: bool,
}

/// A name as people read it: small letters, every mark between words the same, a scope a word like others.
struct Plain([u8; LONGEST], usize);

impl Plain {
    fn new(name: &str) -> Plain {
        let mut plain = Plain([0; LONGEST], 0);
        for c in name.trim_start_matches('@').chars().take(LONGEST) {
            plain.0[plain.1] = match c {
                '-' | '_' | '.' | '/' => b'-',
                // Whatever it looks like: one character.
                c if !c.is_ascii() => b'?',
                c => c.to_ascii_lowercase() as u8,
            };
            plain.1 += 1;
        }
        plain
    }

    fn bytes(&self) -> &[u8] {
        &self.0[..self.1]
    }
}

/// The much-used name that one like it, and itself not known, could be taken for.
pub fn find_model(registry: &str, name: &str) -> Option<String> {
    let (_, list, affixes) = LISTS.iter().find(|(own, ..)| *own == registry)?;
    if !limits::spend_steps(list.len() / 16) {
        return None;
    }
    let own = Plain::new(name);
    let scope = name.split_once('/').map(|(scope, _)| scope).filter(|s| s.starts_with('@'));
    let mut found: Option<String> = None;
    let known = each(list, |one| {
        if one.name == name {
            return true;
        }
        let bare = one.name.strip_prefix('@');
        let scopes = scope.is_some() && bare.is_some();
        if !scopes && !may_be_alike(own.bytes(), bare.unwrap_or(one.name).as_bytes()) {
            return false;
        }
        let theirs = Plain::new(one.name);
        let same = own.bytes() == theirs.bytes();
        // What is owned by its name, nobody else can publish there.
        let owned = scope
            .is_some_and(|scope| one.name.strip_prefix(scope).is_some_and(|r| r.starts_with('/')));
        if owned || same && registry != "npm" {
            return true;
        }
        let twin = || name.split_once('/').zip(one.name.split_once('/'));
        if one.model
            && (found.is_none() || twin().is_some_and(|(own, theirs)| own.1 == theirs.1))
            && (same
                || is_slip(own.bytes(), theirs.bytes(), one.top)
                || is_turned(own.bytes(), theirs.bytes())
                || affixes
                    .iter()
                    .any(|affix| is_affixed(own.bytes(), theirs.bytes(), affix.as_bytes()))
                || scope.is_some_and(|scope| is_like_scope(scope, one.name)))
        {
            found = Some(one.name.to_string());
        }
        false
    });
    found.filter(|_| !known)
}

/// Could one be taken for the other? Of thousands of names nearly all say no by their lengths and ends: one edit leaves the
/// first or the last character as it is, an affix two of either, and what is turned has as many, and a mark between words.
fn may_be_alike(own: &[u8], theirs: &[u8]) -> bool {
    let gap = own.len().abs_diff(theirs.len());
    let ends = if gap > 1 { 2 } else { 1 };
    let short = own.len().min(theirs.len());
    if gap > LONGEST_AFFIX + 1 || short < ends {
        return false;
    }
    let same = |a: &[u8], b: &[u8]| a.eq_ignore_ascii_case(b);
    let mark = |name: &[u8]| name.iter().any(|b| !b.is_ascii_alphanumeric());
    same(&own[..ends], &theirs[..ends])
        || same(&own[own.len() - ends..], &theirs[theirs.len() - ends..])
        || gap == 0 && mark(own) && mark(theirs)
}

/// Goes over the names of a list until one is what is looked for; was it?
fn each(list: &[u8], mut is: impl FnMut(&Known) -> bool) -> bool {
    let mut name: Vec<u8> = Vec::with_capacity(LONGEST);
    let mut at = 0;
    while let Some(head) = list.get(at) {
        name.truncate(usize::from(head & 0x3f));
        let rest = &list[at + 1..];
        let length = rest.iter().position(|b| *b >= 0x80).map_or(rest.len(), |last| last + 1);
        name.extend_from_slice(&rest[..length]);
        if let Some(last) = name.last_mut() {
            *last &= 0x7f;
        }
        at += 1 + length;
        let text = std::str::from_utf8(&name).unwrap_or_default();
        if is(&Known { name: text, model: head & 0x80 != 0, top: head & 0x40 != 0 }) {
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
    let words = |name: &'_ [u8]| {
        let mut words: Vec<Vec<u8>> = name.split(|b| *b == b'-').map(<[u8]>::to_vec).collect();
        words.sort_unstable();
        words
    };
    words(own) == words(theirs)
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
fn is_like_scope(scope: &str, theirs: &str) -> bool {
    let (own, them) =
        (Plain::new(scope), theirs.split_once('/').map(|(scope, _)| Plain::new(scope)));
    own.bytes().contains(&b'-') && own.bytes() == Plain::new(theirs).bytes()
        || them.is_some_and(|them| {
            theirs.starts_with('@') && them.1 > SHORTEST && is_one_edit(own.bytes(), them.bytes())
        })
}

#[cfg(test)]
mod tests {
    use super::find_model;

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
        let told = std::env::var("LOOKALIKES").unwrap();
        let (registry, file) = told.split_once(':').unwrap();
        for name in std::fs::read_to_string(file).unwrap().lines() {
            if let Some(model) = find_model(registry, name) {
                println!("{name} {model}");
            }
        }
    }
}
