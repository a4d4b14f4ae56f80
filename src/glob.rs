//! Globs over one string: `*` any run, `?` any character, `[a-z]` a class, `\` escapes.
//!
//! globset compiles a glob to a regex, some 40 microseconds each, which a process that lives for
//! half a millisecond cannot pay; so the hook path matches directly, in time linear in the text
//! for each `*`. globset is the oracle in the tests.

use crate::limits;

#[cfg(test)]
#[path = "glob/oracle.rs"]
mod oracle;

/// What a number known only at run time looks like.
pub const SOME_NUMBER: &str = "[-0-9]*";

/// Does the glob hold for the whole text?
///
/// Where the event's budget runs out it is a no, and [`limits::spent_resource`] says so.
pub fn matches(glob: &str, text: &str) -> bool {
    matches_folded(glob, text, false)
}

/// The same, letter case ignored when `fold` is set.
pub fn matches_folded(glob: &str, text: &str, fold: bool) -> bool {
    let same = |a: u8, b: u8| a == b || fold && a.eq_ignore_ascii_case(&b);
    // Most texts differ from most globs before the first glob character.
    let mut plain = 0;
    while let (Some(own), Some(byte)) = (glob.as_bytes().get(plain), text.as_bytes().get(plain))
        && !is_active(*own)
        && same(*own, *byte)
    {
        plain += 1;
    }
    let (Some(glob), Some(text)) = (glob.get(plain..), text.get(plain..)) else { return false };
    match glob.bytes().next() {
        None => return text.is_empty(),
        Some(b'*') if !is_glob(&glob[1..]) => {
            let (end, text) = (&glob.as_bytes()[1..], text.as_bytes());
            let at = text.len().checked_sub(end.len());
            return at.is_some_and(|at| end.iter().zip(&text[at..]).all(|(a, b)| same(*a, *b)));
        }
        Some(own) if !is_active(own) => return false,
        Some(_) => {}
    }
    // `*x*`, as most words of rules are that say what is somewhere in a text.
    let within = glob.strip_prefix('*').and_then(|rest| rest.strip_suffix('*'));
    if let Some(within) = within.filter(|within| !fold && !is_glob(within)) {
        return limits::spend_steps(text.len()) && text.contains(within);
    }
    // Or else behind the last one; what stands in a class is not told by it.
    let end = glob.bytes().rposition(is_active).map_or(glob, |at| &glob[at + 1..]);
    if !fold && !glob.contains('[') && !text.ends_with(end) {
        return false;
    }
    // `[-]-x`
    let takes = |class: &str| text.chars().next().is_some_and(|c| class_takes(class, c, fold));
    if let Some((class, _)) = glob.strip_prefix('[').and_then(split_class)
        && !takes(class)
    {
        return false;
    }
    if !fold
        && let Some(run) = glob.strip_prefix('*')
        && !may_hold(text, run)
    {
        return false;
    }
    let pieces = parse_pieces(glob);
    // What is left of both: one piece takes one character, and only the last `*` is tried again.
    let (mut at, mut rest) = (0, text.chars());
    let mut star: Option<(usize, std::str::Chars<'_>)> = None;
    let mut steps = pieces.len();
    let holds = loop {
        if let Some(Piece::Many) = pieces.get(at) {
            at += 1;
            star = Some((at, rest.clone()));
            continue;
        }
        steps += 1;
        match (rest.next(), pieces.get(at)) {
            (None, piece) => break piece.is_none(),
            (Some(c), Some(piece)) if piece.matches_char(c, fold) => at += 1,
            _ => {
                let Some((behind, taken)) = &mut star else { break false };
                // A last `*` takes all there is.
                if *behind == pieces.len() {
                    break true;
                }
                if steps >= STEPS && !limits::spend_steps(std::mem::take(&mut steps)) {
                    break false;
                }
                taken.next();
                (at, rest) = (*behind, taken.clone());
            }
        }
    };
    limits::spend_steps(steps) && holds
}

/// Could the text hold what the glob begins with? Most do not, and that is told before the glob is taken apart.
fn may_hold(text: &str, glob: &str) -> bool {
    let end = glob.bytes().position(is_active).unwrap_or(glob.len());
    let (text, run) = (text.as_bytes(), &glob.as_bytes()[..end]);
    let Some(first) = run.first().filter(|_| text.len() <= STEPS) else { return true };
    text.windows(run.len()).any(|part| part[0] == *first && part == run)
}

/// How many steps are taken before they are counted.
const STEPS: usize = 1 << 12;

/// Does the text hold glob characters at all?
pub fn is_glob(text: &str) -> bool {
    text.bytes().any(is_active)
}

/// Is it a glob character, or what escapes one?
#[inline(always)]
fn is_active(byte: u8) -> bool {
    matches!(byte, b'*' | b'?' | b'[' | b'\\')
}

/// Does the text hold a glob character that is not escaped?
pub fn has_active(text: &str) -> bool {
    let mut escaped = false;
    for c in text.bytes() {
        match c {
            b'\\' if !escaped => {
                escaped = true;
                continue;
            }
            b'*' | b'?' | b'[' if !escaped => return true,
            _ => {}
        }
        escaped = false;
    }
    false
}

/// Why the glob cannot be meant, where it cannot.
pub fn find_fault(glob: &str) -> Option<&'static str> {
    if glob.len() > limits::PATTERN {
        return Some("is longer than 4096 bytes");
    }
    if !glob.bytes().any(|b| matches!(b, b'[' | b'\\')) {
        return None;
    }
    let mut rest = glob;
    while let Some(at) = rest.find(['[', '\\']) {
        let behind = &rest[at + 1..];
        rest = if rest.as_bytes()[at] == b'[' {
            match split_class(behind) {
                Some((_, behind)) => behind,
                None => return Some("has a `[` without its `]`"),
            }
        } else {
            let mut chars = behind.chars();
            match chars.next() {
                Some(_) => chars.as_str(),
                None => return Some("ends in a backslash"),
            }
        };
    }
    None
}

/// One element of a glob.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Piece<'g> {
    /// `*`
    Many,
    /// `?`
    Any,
    /// That character.
    One(char),
    /// What stands between `[` and `]`.
    Class(&'g str),
}

impl Piece<'_> {
    /// Does it stand for that character? A `*` is none of these.
    fn matches_char(&self, c: char, fold: bool) -> bool {
        match self {
            Piece::Many => false,
            Piece::Any => true,
            Piece::One(own) => *own == c || (fold && own.eq_ignore_ascii_case(&c)),
            Piece::Class(body) => class_takes(body, c, fold),
        }
    }
}

fn class_takes(body: &str, c: char, fold: bool) -> bool {
    let (negated, body) = match body.strip_prefix(['!', '^']) {
        Some(rest) => (true, rest),
        None => (false, body),
    };
    let mut hit = false;
    let mut rest = body.chars();
    while let Some(first) = rest.next() {
        let mut ahead = rest.clone();
        hit |= match (ahead.next(), ahead.next()) {
            (Some('-'), Some(last)) => {
                rest = ahead;
                let within = |c: char| first <= c && c <= last;
                within(c)
                    || (fold && (within(c.to_ascii_lowercase()) || within(c.to_ascii_uppercase())))
            }
            _ => first == c || (fold && first.eq_ignore_ascii_case(&c)),
        };
    }
    hit != negated
}

/// The body of the class behind a `[`, and what stands behind its `]`.
fn split_class(behind: &str) -> Option<(&str, &str)> {
    let negated = usize::from(behind.starts_with(['!', '^']));
    // A `]` right after the opening stands for itself.
    let first = behind[negated..].chars().next()?.len_utf8();
    let end = negated + first + behind[negated + first..].find(']')?;
    Some((&behind[..end], &behind[end + 1..]))
}

/// The elements of a glob; `**` is one `*`.
fn parse_pieces(glob: &str) -> Vec<Piece<'_>> {
    let mut out = Vec::with_capacity(glob.len());
    let mut rest = glob.chars();
    // A `[` without its `]` stands for itself, and so do all behind it.
    let mut closes = true;
    while let Some(c) = rest.next() {
        let class = if c == '[' && closes { split_class(rest.as_str()) } else { None };
        out.push(match (c, class) {
            ('*', _) if out.last() == Some(&Piece::Many) => continue,
            ('*', _) => Piece::Many,
            ('?', _) => Piece::Any,
            (_, Some((body, behind))) => {
                rest = behind.chars();
                Piece::Class(body)
            }
            ('\\', _) => Piece::One(rest.next().unwrap_or('\\')),
            _ => {
                closes &= c != '[';
                Piece::One(c)
            }
        });
    }
    out
}

/// Can one text satisfy both globs? Classes count as any character, so the answer may be a yes too
/// many, never a no too many.
pub fn may_intersect(a: &str, b: &str) -> bool {
    if !is_glob(a) {
        return matches(b, a);
    }
    if !is_glob(b) {
        return matches(a, b);
    }
    let a = parse_pieces(a);
    let b = parse_pieces(b);
    // reach[j]: the first i elements of a and the first j of b can share a text.
    let mut reach = vec![false; b.len() + 1];
    reach[0] = true;
    for (j, y) in b.iter().enumerate() {
        reach[j + 1] = reach[j] && *y == Piece::Many;
    }
    for x in &a {
        // What stood at j before this element.
        let mut before = reach[0];
        reach[0] &= *x == Piece::Many;
        let mut any = reach[0];
        for (j, y) in b.iter().enumerate() {
            let here = match (x, y) {
                // A star takes nothing, or one more element of the other side.
                (Piece::Many, _) | (_, Piece::Many) => reach[j + 1] || reach[j],
                (Piece::One(p), Piece::One(q)) => before && p == q,
                _ => before,
            };
            before = std::mem::replace(&mut reach[j + 1], here);
            any |= here;
        }
        if !any || !limits::spend_steps(b.len()) {
            return false;
        }
    }
    reach[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn agrees_with_globset(glob in "[ab*?]{0,8}", text in "[abc]{0,10}") {
            let oracle = globset::GlobBuilder::new(&glob).literal_separator(false).build().unwrap().compile_matcher();
            // `**` has a meaning of its own in globset.
            prop_assume!(!glob.contains("**"));
            prop_assert_eq!(matches(&glob, &text), oracle.is_match(&text));
        }

        #[test]
        fn intersect_never_misses(a in "[ab*?]{0,6}", b in "[ab*?]{0,6}", text in "[ab]{0,8}") {
            if matches(&a, &text) && matches(&b, &text) {
                prop_assert!(may_intersect(&a, &b));
            }
        }
    }

    #[test]
    fn classes_and_escapes() {
        assert!(matches("[a-c]x", "bx"));
        assert!(!matches("[!a-c]x", "bx"));
        assert!(matches("\\*", "*"));
        assert!(!matches("\\*", "a"));
        assert!(matches_folded("README*", "readme.md", true));
        assert!(may_intersect("*.env", ".e*"));
        assert!(!may_intersect("a*", "b*"));
        assert_eq!(find_fault("[a"), Some("has a `[` without its `]`"));
    }
}
