//! The matcher as it was first written, character by character: the oracle of the one in its place.

use proptest::prelude::*;

use super::is_glob;

fn matches_folded(glob: &str, text: &str, fold: bool) -> bool {
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
        match match_one(&glob, g, text[t], fold) {
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

/// Matches the glob element at `g` against one character: the index behind the element if it does.
fn match_one(glob: &[char], g: usize, c: char, fold: bool) -> Option<usize> {
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
fn may_intersect(a: &str, b: &str) -> bool {
    if !is_glob(a) {
        return matches_folded(b, a, false);
    }
    if !is_glob(b) {
        return matches_folded(a, b, false);
    }
    let a = simplify_glob(a);
    let b = simplify_glob(b);
    // reach[j]: the first i elements of a and the first j of b can share a text.
    let mut reach = vec![false; b.len() + 1];
    reach[0] = true;
    for j in 0..b.len() {
        reach[j + 1] = reach[j] && b[j] == OraclePiece::Many;
    }
    for x in &a {
        let mut next = vec![false; b.len() + 1];
        next[0] = reach[0] && *x == OraclePiece::Many;
        for j in 0..b.len() {
            let y = &b[j];
            next[j + 1] = match (x, y) {
                // A star takes nothing, or one more element of the other side.
                (OraclePiece::Many, _) | (_, OraclePiece::Many) => reach[j + 1] || next[j],
                (OraclePiece::One(p), OraclePiece::One(q)) => {
                    reach[j] && (p.is_none() || q.is_none() || p == q)
                }
            };
        }
        reach = next;
    }
    reach[b.len()]
}

#[derive(PartialEq)]
enum OraclePiece {
    Many,
    One(Option<char>),
}

fn simplify_glob(glob: &str) -> Vec<OraclePiece> {
    let chars: Vec<char> = glob.chars().collect();
    let mut out = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        match chars[i] {
            '*' => out.push(OraclePiece::Many),
            '?' => out.push(OraclePiece::One(None)),
            '[' => {
                if let Some(end) = class_end(&chars, i) {
                    i = end;
                    out.push(OraclePiece::One(None));
                } else {
                    out.push(OraclePiece::One(Some('[')));
                }
            }
            '\\' if i + 1 < chars.len() => {
                i += 1;
                out.push(OraclePiece::One(Some(chars[i])));
            }
            c => out.push(OraclePiece::One(Some(c))),
        }
        i += 1;
    }
    out
}

fn any_glob() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[abA]", 3 => Just("*".to_string()), 2 => Just("?".into()), 1 => Just("\\".into()), 2 => "[\\[\\]!^-]",
        1 => Just("[a-b]".into()), 1 => Just("[!a]".into()), 1 => Just("é".into()),
    ];
    prop::collection::vec(piece, 0..9).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50_000))]

    #[test]
    fn matching_is_what_it_was(a in any_glob(), b in any_glob(), text in "[abAB\\[\\]!é-]{0,8}", fold: bool) {
        prop_assert_eq!(super::matches_folded(&a, &text, fold), matches_folded(&a, &text, fold));
        prop_assert_eq!(super::may_intersect(&a, &b), may_intersect(&a, &b));
    }
}

#[test]
fn long_globs_take_no_time() {
    let text = "a".repeat(60_000);
    assert!(!super::matches(&format!("{}b", "*a".repeat(2000)), &text));
    assert!(!super::matches(&format!("*{}b", "a".repeat(2000)), &text));
    // Brackets that do not close are looked for once.
    assert!(super::matches(&"[".repeat(60_000), &"[".repeat(60_000)));
    assert!(super::may_intersect(&"[".repeat(60_000), "*["));
    assert!(super::find_fault(&"*a".repeat(5000)).is_some());
}
