//! Brace expansion: `{a,b}`, `{1..5}`, nested and side by side, up to a cap.

use super::word::{Atom, Quote, quoted_atoms};
use crate::limits;

/// Brace expansion; None = too many.
pub fn expand_braces(row: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    // Where each bare `{` closes, found in one pass.
    let mut close = vec![usize::MAX; row.len()];
    let mut stack = Vec::new();
    for (i, atom) in row.iter().enumerate() {
        match atom {
            Atom::Ch('{', Quote::Bare) => stack.push(i),
            Atom::Ch('}', Quote::Bare) => {
                if let Some(open) = stack.pop() {
                    close[open] = i;
                }
            }
            _ => {}
        }
    }
    let mut budget = limits::BRACED;
    expand_product(row, &close, 0, row.len(), &mut budget, 0)
}

/// The rows of a part, every brace in it expanded.
fn expand_product(
    row: &[Atom],
    close: &[usize],
    from: usize,
    to: usize,
    budget: &mut usize,
    depth: usize,
) -> Option<Vec<Vec<Atom>>> {
    if depth > limits::BRACES {
        return None;
    }
    let mut done: Vec<Vec<Atom>> = vec![Vec::new()];
    let mut at = from;
    while at < to {
        if row[at] == Atom::Ch('{', Quote::Bare) && close[at] < to {
            let end = close[at];
            if let Some(choices) = brace_choices(row, close, at + 1, end, budget, depth)? {
                let mut more = Vec::new();
                for head in &done {
                    for choice in &choices {
                        // What is made costs what it takes up, and a word at least its share.
                        let size = (head.len() + choice.len()).max(limits::BRACED / limits::FIELDS);
                        *budget = budget.checked_sub(size)?;
                        let mut whole = head.clone();
                        whole.extend_from_slice(choice);
                        more.push(whole);
                    }
                }
                done = more;
                at = end + 1;
                continue;
            }
        }
        *budget = budget.checked_sub(done.len() - 1)?;
        for one in &mut done {
            one.push(row[at]);
        }
        at += 1;
    }
    Some(done)
}

/// The alternatives between two braces; `Some(None)` = the braces are only text.
#[allow(clippy::type_complexity)]
fn brace_choices(
    row: &[Atom],
    close: &[usize],
    from: usize,
    to: usize,
    budget: &mut usize,
    depth: usize,
) -> Option<Option<Vec<Vec<Atom>>>> {
    let mut parts = Vec::new();
    let mut start = from;
    let mut at = from;
    while at < to {
        match row[at] {
            Atom::Ch('{', Quote::Bare) if close[at] < to => at = close[at],
            Atom::Ch(',', Quote::Bare) => {
                parts.push((start, at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if parts.is_empty() {
        let text: String = row[from..to]
            .iter()
            .filter_map(|a| if let Atom::Ch(c, Quote::Bare) = a { Some(*c) } else { None })
            .collect();
        if text.chars().count() != to - from {
            return Some(None);
        }
        return expand_sequence(&text).map_or(Some(None), |s| s.map(Some));
    }
    parts.push((start, to));
    let mut all = Vec::new();
    for (a, b) in parts {
        all.extend(expand_product(row, close, a, b, budget, depth + 1)?);
    }
    Some(Some(all))
}

/// `1..5`, `a..e`; `Some(None)` = too long.
fn expand_sequence(text: &str) -> Option<Option<Vec<Vec<Atom>>>> {
    let mut parts = text.split("..");
    let (a, b) = (parts.next()?, parts.next()?);
    let step: i64 = match parts.next() {
        Some(step) => step.parse().ok()?,
        None => 1,
    };
    let (from, to, letters) = match (a.parse::<i64>(), b.parse::<i64>()) {
        (Ok(x), Ok(y)) => (x, y, false),
        _ => {
            let mut x = a.chars();
            let mut y = b.chars();
            let (Some(p), None, Some(q), None) = (x.next(), x.next(), y.next(), y.next()) else {
                return None;
            };
            (i64::from(u32::from(p)), i64::from(u32::from(q)), true)
        }
    };
    let step = step.unsigned_abs().max(1);
    if from.abs_diff(to) / step > limits::RANGE as u64 {
        return Some(None);
    }
    let width = if letters {
        0
    } else {
        [a, b]
            .iter()
            .filter(|t| t.trim_start_matches('-').starts_with('0'))
            .map(|t| t.len())
            .max()
            .unwrap_or(0)
    };
    let mut out = Vec::new();
    let mut now = from;
    loop {
        let one = if letters {
            char::from_u32(u32::try_from(now).unwrap_or(0)).unwrap_or(' ').to_string()
        } else {
            format!("{now:0width$}")
        };
        out.push(quoted_atoms(&one));
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        now = if from <= to { now.saturating_add(step) } else { now.saturating_sub(step) };
        if (from <= to && now > to) || (from > to && now < to) {
            break;
        }
    }
    Some(Some(out))
}
