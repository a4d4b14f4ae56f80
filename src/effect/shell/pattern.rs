//! Patterns in parameters: `${x%.c}`, `${x#*/}`, `${x/a/b}`, and `${x^^}`.

use shuck_ast::Pattern;

use super::Walker;
use super::parameter::is_name;
use super::word::{Atom, Quote};
use crate::effect::value::Split;
use crate::limits;

impl Walker<'_> {
    /// A pattern of characters, `*` and `?`, if it is no more than that.
    pub(super) fn plain_pattern(&mut self, pattern: &Pattern) -> Option<String> {
        let text = pattern.render(&self.frame.source);
        // One variable in it may be known.
        if let Some(name) = text.trim_matches('"').strip_prefix('$')
            && is_name(name.trim_matches(['{', '}']))
        {
            let text = self.text_of(name.trim_matches(['{', '}']))?;
            return (!text.contains(['*', '?', '[', '\\']) && text.len() < limits::REPLACED)
                .then_some(text);
        }
        let text = if text.len() > 1 && text.starts_with('"') && text.ends_with('"') {
            let inner = text[1..text.len() - 1].to_string();
            Some(inner).filter(|t| !t.contains(['*', '?']))?
        } else {
            text.to_string()
        };
        let simple =
            text.len() < limits::REPLACED && !text.contains(['[', '$', '`', '(', '\\', '"', '\'']);
        simple.then_some(text)
    }

    #[allow(clippy::too_many_arguments)]
    pub(super) fn strip_pattern(
        &mut self,
        own: Vec<Atom>,
        known: bool,
        pattern: &Pattern,
        front: bool,
        long: bool,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        if known && own.iter().all(|a| *a == Atom::Empty) {
            // Nothing can be taken away from nothing.
            return out.extend(own);
        }
        let plain = own
            .iter()
            .all(|a| matches!(a, Atom::Ch(c, q) if *q != Quote::Pattern || !"*?[".contains(*c)));
        let whole = self.plain_pattern(pattern);
        // A literal end may be taken off a glob or off what is known of a path.
        let literal = whole.as_ref().filter(|p| !p.contains(['*', '?']));
        if let Some(literal) = literal
            && !front
            && (!known || !plain)
        {
            let end: Vec<char> = literal.chars().collect();
            let tail = own.len().checked_sub(end.len()).map(|at| &own[at..]);
            let same = tail.is_some_and(|tail| {
                tail.iter().zip(&end).all(|(a, c)| matches!(a, Atom::Ch(d, _) if d == c))
            });
            if same {
                let mut rest = own[..own.len() - end.len()].to_vec();
                let star = Atom::Ch('*', Quote::Pattern);
                let whole = rest.last() == Some(&star)
                    && rest.iter().rev().nth(1).is_none_or(|a| matches!(a, Atom::Ch('/', _)));
                if whole && literal != "/" {
                    // `${f%.x}` of `*.x` is one name and not everything.
                    rest.pop();
                    rest.extend("[!.]*".chars().map(|c| Atom::Ch(c, Quote::Pattern)));
                }
                out.extend(rest);
                return;
            }
            // `${f%.x}` of something below a directory is something below it, or the same.
            if own.last().is_some_and(|a| matches!(a, Atom::Unknown(b) if b.split < Split::Freely))
            {
                out.extend(own);
                return;
            }
        }
        if front
            && whole.as_deref() == Some("*/")
            && own.iter().any(|a| matches!(a, Atom::Unknown(_)))
        {
            // `${f##*/}`: a name.
            out.push(if long && inside {
                Atom::unknown_name()
            } else {
                Atom::unknown_text(inside)
            });
            return;
        }
        let Some(pattern) = whole.filter(|_| known && plain && own.len() <= limits::STRIPPED)
        else {
            out.push(Atom::unknown_text(inside));
            return;
        };
        let text: Vec<char> = own.iter().filter_map(Atom::letter).collect();
        let pattern: Vec<char> = pattern.chars().collect();
        let lengths: Box<dyn Iterator<Item = usize>> =
            if long { Box::new((0..=text.len()).rev()) } else { Box::new(0..=text.len()) };
        for length in lengths {
            let part = if front { &text[..length] } else { &text[text.len() - length..] };
            if matches_pattern(&pattern, part) {
                if front {
                    out.extend_from_slice(&own[length..]);
                } else {
                    out.extend_from_slice(&own[..own.len() - length]);
                }
                return;
            }
        }
        out.extend(own);
    }
}

/// Upper (`U`, first only `u`) or lower (`L`, `l`) case.
pub fn change_case(own: Vec<Atom>, kind: char, out: &mut Vec<Atom>) {
    let mut first = true;
    out.extend(own.into_iter().map(|atom| match atom {
        Atom::Ch(c, q) => {
            let change = kind.is_ascii_uppercase() || std::mem::take(&mut first);
            match kind {
                'U' | 'u' if change => Atom::Ch(c.to_ascii_uppercase(), q),
                'L' | 'l' if change => Atom::Ch(c.to_ascii_lowercase(), q),
                _ => Atom::Ch(c, q),
            }
        }
        other => other,
    }));
}

/// `${x/pattern/with}`: the longest match at the first place, or at every one.
pub fn replace_pattern(own: &[Atom], pattern: &str, with: &[Atom], all: bool, out: &mut Vec<Atom>) {
    let text: Vec<char> = own.iter().filter_map(Atom::letter).collect();
    let (front, back) = (pattern.starts_with('#'), pattern.starts_with('%'));
    let pattern: Vec<char> = pattern.chars().skip(usize::from(!all && (front || back))).collect();
    let own: Vec<Atom> = own.iter().filter(|a| matches!(a, Atom::Ch(..))).copied().collect();
    let mut at = 0;
    while at < text.len() {
        let fits = |end: &usize| {
            (!back || all || *end == text.len()) && matches_pattern(&pattern, &text[at..*end])
        };
        let found = match pattern.contains(&'*') {
            true => (at + 1..=text.len()).rev().find(fits),
            false => Some(at + pattern.len()).filter(|end| *end <= text.len()).filter(fits),
        };
        match found.filter(|_| !pattern.is_empty() && (!front || all || at == 0)) {
            Some(end) => {
                out.extend_from_slice(with);
                at = end;
                if !all {
                    break;
                }
            }
            None => {
                out.push(own[at]);
                at += 1;
            }
        }
    }
    out.extend_from_slice(&own[at..]);
}

/// A shell pattern of `*` and `?` against a text, without backtracking over more than one star.
fn matches_pattern(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == text[t]) {
            p += 1;
            t += 1;
        } else if let Some((sp, st)) = star {
            p = sp + 1;
            t = st + 1;
            star = Some((sp, st + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}
