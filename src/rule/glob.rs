//! Globs over one string: `*` any run, `?` any character, `[a-z]` a class, `\` escapes.
//!
//! globset compiles a glob to a regex, some 40 microseconds each, which a process that lives for
//! half a millisecond cannot pay; so the hook path matches directly, in time linear in the text
//! for each `*`. globset is the oracle in the tests.

/// Does the glob hold for the whole text?
pub fn matches(glob: &str, text: &str) -> bool {
    matches_folded(glob, text, false)
}

/// The same, letter case ignored when `fold` is set.
pub fn matches_folded(glob: &str, text: &str, fold: bool) -> bool {
    if !is_glob(glob) {
        return if fold { glob.eq_ignore_ascii_case(text) } else { glob == text };
    }
    let glob: Vec<char> = glob.chars().collect();
    let text: Vec<char> = text.chars().collect();
    let (mut g, mut t) = (0, 0);
    // The last `*` seen and how much of the text it has taken: only it needs to be tried again.
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if g < glob.len() && glob[g] == '*' {
            star = Some((g, t));
            g += 1;
            continue;
        }
        match one(&glob, g, text[t], fold) {
            Some(next) => {
                g = next;
                t += 1;
            }
            None => match star {
                Some((at, taken)) => {
                    star = Some((at, taken + 1));
                    g = at + 1;
                    t = taken + 1;
                }
                None => return false,
            },
        }
    }
    glob[g..].iter().all(|c| *c == '*')
}

/// Does the text hold glob characters at all?
pub fn is_glob(text: &str) -> bool {
    text.bytes().any(|b| matches!(b, b'*' | b'?' | b'[' | b'\\'))
}

/// Why the glob cannot be meant, where it cannot.
pub fn fault(glob: &str) -> Option<&'static str> {
    if !glob.bytes().any(|b| matches!(b, b'[' | b'\\')) {
        return None;
    }
    let chars: Vec<char> = glob.chars().collect();
    let mut i = 0;
    while i < chars.len() {
        match chars[i] {
            '\\' if i + 1 == chars.len() => return Some("ends in a backslash"),
            '\\' => i += 2,
            '[' => match class_end(&chars, i) {
                Some(end) => i = end + 1,
                None => return Some("has a `[` without its `]`"),
            },
            _ => i += 1,
        }
    }
    None
}

/// Matches the glob element at `g` against one character: the index behind the element if it does.
fn one(glob: &[char], g: usize, c: char, fold: bool) -> Option<usize> {
    let same = |a: char, b: char| a == b || (fold && a.eq_ignore_ascii_case(&b));
    match *glob.get(g)? {
        '?' => Some(g + 1),
        '[' => {
            let Some(end) = class_end(glob, g) else { return (c == '[').then_some(g + 1) };
            let mut body = &glob[g + 1..end];
            let negated = matches!(body.first(), Some('!' | '^'));
            if negated {
                body = &body[1..];
            }
            let mut hit = false;
            let mut i = 0;
            while i < body.len() {
                if i + 2 < body.len() && body[i + 1] == '-' {
                    let within = |c: char| body[i] <= c && c <= body[i + 2];
                    hit |= within(c)
                        || (fold
                            && (within(c.to_ascii_lowercase()) || within(c.to_ascii_uppercase())));
                    i += 3;
                } else {
                    hit |= same(body[i], c);
                    i += 1;
                }
            }
            (hit != negated).then_some(end + 1)
        }
        '\\' if g + 1 < glob.len() => same(glob[g + 1], c).then_some(g + 2),
        other => same(other, c).then_some(g + 1),
    }
}

/// The index of the `]` that ends the class which opens at `g`.
fn class_end(glob: &[char], g: usize) -> Option<usize> {
    let mut i = g + 1;
    if matches!(glob.get(i), Some('!' | '^')) {
        i += 1;
    }
    // A `]` right after the opening stands for itself.
    i += 1;
    while i < glob.len() {
        if glob[i] == ']' {
            return Some(i);
        }
        i += 1;
    }
    None
}

/// Can one text satisfy both globs? Classes count as any character, so the answer may be a yes too
/// many, never a no too many.
pub fn intersect(a: &str, b: &str) -> bool {
    if !is_glob(a) {
        return matches(b, a);
    }
    if !is_glob(b) {
        return matches(a, b);
    }
    let a = simplify(a);
    let b = simplify(b);
    // reach[j]: the first i elements of a and the first j of b can share a text.
    let mut reach = vec![false; b.len() + 1];
    reach[0] = true;
    for j in 0..b.len() {
        reach[j + 1] = reach[j] && b[j] == Piece::Many;
    }
    for x in &a {
        let mut next = vec![false; b.len() + 1];
        next[0] = reach[0] && *x == Piece::Many;
        for j in 0..b.len() {
            let y = &b[j];
            next[j + 1] = match (x, y) {
                // A star takes nothing, or one more element of the other side.
                (Piece::Many, _) | (_, Piece::Many) => reach[j + 1] || next[j],
                (Piece::One(p), Piece::One(q)) => {
                    reach[j] && (p.is_none() || q.is_none() || p == q)
                }
            };
        }
        reach = next;
    }
    reach[b.len()]
}

#[derive(PartialEq)]
enum Piece {
    Many,
    One(Option<char>),
}

fn simplify(glob: &str) -> Vec<Piece> {
    let chars: Vec<char> = glob.chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        match chars[i] {
            '*' => out.push(Piece::Many),
            '?' => out.push(Piece::One(None)),
            '[' => {
                if let Some(end) = class_end(&chars, i) {
                    i = end;
                    out.push(Piece::One(None));
                } else {
                    out.push(Piece::One(Some('[')));
                }
            }
            '\\' if i + 1 < chars.len() => {
                i += 1;
                out.push(Piece::One(Some(chars[i])));
            }
            c => out.push(Piece::One(Some(c))),
        }
        i += 1;
    }
    out
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
                prop_assert!(intersect(&a, &b));
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
        assert!(intersect("*.env", ".e*"));
        assert!(!intersect("a*", "b*"));
        assert_eq!(fault("[a"), Some("has a `[` without its `]`"));
    }
}
