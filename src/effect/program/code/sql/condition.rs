//! Conditions that hold for every row: `id > 0`, `1 = 1 or x`, `exists (select 1)`.

use super::SqlToken;
use crate::names::sql::KEYS;

/// Does the condition hold for every row of that table?
pub(super) fn holds_always(tokens: &[SqlToken], table: &str) -> bool {
    let tokens = without_parens(tokens);
    let either = split(tokens, "or");
    if either.len() > 1 {
        return either.iter().any(|part| holds_always(part, table));
    }
    let both = split(tokens, "and");
    if both.len() > 1 {
        return both.iter().all(|part| holds_always(part, table));
    }
    is_always(tokens, table)
}

/// The tokens between a pair of parentheses that holds all of them.
fn without_parens(mut tokens: &[SqlToken]) -> &[SqlToken] {
    while let [first, inner @ .., last] = tokens
        && (first.kind, last.kind) == (b'(', b')')
    {
        let mut depth = 0;
        let closes = |token: &SqlToken| {
            depth += i32::from(token.kind == b'(') - i32::from(token.kind == b')');
            depth < 0
        };
        if inner.iter().any(closes) {
            break;
        }
        tokens = inner;
    }
    tokens
}

/// The parts between a word outside of parentheses.
fn split<'t>(tokens: &'t [SqlToken], word: &str) -> Vec<&'t [SqlToken]> {
    let mut depth = 0;
    tokens
        .split(|token| {
            depth += i32::from(token.kind == b'(') - i32::from(token.kind == b')');
            depth == 0 && token.kind == b'w' && token.text == word
        })
        .collect()
}

/// One comparison.
fn is_always(tokens: &[SqlToken], table: &str) -> bool {
    let texts: Vec<&str> =
        tokens.iter().map(|t| t.text.as_str()).filter(|t| !matches!(*t, "(" | ")")).collect();
    match texts[..] {
        ["true" | "1"] | ["not", "false" | "0"] => return true,
        ["exists", "select", ..] => return !texts.iter().any(|t| matches!(*t, "from" | "where")),
        _ => {}
    }
    let compares = |t: &SqlToken| {
        matches!(t.kind, b'=' | b'<' | b'>' | b'!')
            || t.kind == b'w' && matches!(t.text.as_str(), "is" | "like" | "ilike" | "in")
    };
    let Some(at) = tokens.iter().position(compares) else { return false };
    let left = &tokens[..at];
    let mut right = &tokens[at + 1..];
    let mut sign = tokens[at].text.clone();
    while let [next, rest @ ..] = right
        && matches!(next.kind, b'=' | b'>')
        && tokens[at].kind != b'w'
    {
        sign.push_str(&next.text);
        right = rest;
    }
    let behind: Vec<&str> =
        right.iter().map(|t| t.text.as_str()).filter(|t| !matches!(*t, "(" | ")")).collect();
    match sign.as_str() {
        "is" => behind == ["not", "null"] && is_key(left, table),
        "like" | "ilike" => {
            matches!(behind[..], [all] if !all.is_empty() && all.bytes().all(|b| b == b'%'))
        }
        "in" => {
            matches!(behind[..], ["select", _, "from", name] if name == table)
                && is_key(left, table)
        }
        _ => match (literal(left), literal(right)) {
            (Some(a), Some(b)) => is_true(&a, &sign, &b),
            (None, Some(b)) if is_key(left, table) => passes_every_key(&sign, &b),
            (None, None) if matches!(sign.as_str(), "=" | "==") => {
                !left.is_empty() && left.iter().map(|t| &t.text).eq(right.iter().map(|t| &t.text))
            }
            // All that is there was made before now.
            _ => {
                let named =
                    left.last().is_some_and(|t| t.text.to_ascii_lowercase().starts_with("created"));
                named
                    && sign.starts_with('<')
                    && matches!(behind[..], ["now" | "current_timestamp"])
            }
        },
    }
}

/// A number or a string, as text.
fn literal(tokens: &[SqlToken]) -> Option<String> {
    match tokens {
        [text] if text.kind == b'\'' => Some(text.text.clone()),
        [number] if number.text.parse::<f64>().is_ok() => Some(number.text.clone()),
        [minus, number] if minus.kind == b'-' && number.text.parse::<f64>().is_ok() => {
            Some(format!("-{}", number.text))
        }
        _ => None,
    }
}

fn is_true(a: &str, sign: &str, b: &str) -> bool {
    let order = match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(a), Ok(b)) => a.partial_cmp(&b),
        _ => Some(a.cmp(b)),
    };
    let Some(order) = order else { return false };
    match sign {
        "=" | "==" => order.is_eq(),
        "<>" | "!=" => order.is_ne(),
        "<" => order.is_lt(),
        "<=" => order.is_le(),
        ">" => order.is_gt(),
        ">=" => order.is_ge(),
        _ => false,
    }
}

/// Keys are counted from one on, and none is empty.
fn passes_every_key(sign: &str, value: &str) -> bool {
    let number = value.parse::<f64>();
    match (sign, number) {
        (">", Ok(n)) | ("<>" | "!=", Ok(n)) => n <= 0.0,
        (">=", Ok(n)) => n <= 1.0,
        ("<" | "<=", Ok(n)) => n >= 1e9,
        (">" | ">=" | "<>" | "!=", Err(_)) => value.is_empty(),
        _ => false,
    }
}

/// Does the column name the rows of the table: `id`, `u.id`, `user_id` of `users`?
fn is_key(left: &[SqlToken], table: &str) -> bool {
    let Some(last) = left.last() else { return false };
    let qualified = left.iter().skip(1).step_by(2).all(|t| t.kind == b'.');
    let name = last.text.to_ascii_lowercase();
    let stem = name.strip_suffix("id").map(|stem| stem.trim_end_matches('_'));
    let own = |stem: &str| stem.len() > 2 && table.starts_with(stem);
    matches!(last.kind, b'w' | b'"')
        && left.len() % 2 == 1
        && qualified
        && (KEYS.contains(&&*name) || stem.is_some_and(own))
}
