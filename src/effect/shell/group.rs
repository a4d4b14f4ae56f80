//! Groups in words: bash's extended globs `@(a|b)`, `!(x)`, and zsh's glob qualifiers `*(.)`.

use super::word::{Atom, Quote};

/// A row whose groups are gone: `@(a|b)` is `{a,b}`, every other group matches anything. The text
/// that a zsh qualifier runs (`*(e:'cmd':)`) is handed back as well.
pub fn expand_groups(row: Vec<Atom>, runs: &mut Vec<String>) -> Vec<Atom> {
    let open = |i: usize| row.get(i) == Some(&Atom::Ch('(', Quote::Bare));
    if !(0..row.len()).any(open) {
        return row;
    }
    let mut out: Vec<Atom> = Vec::with_capacity(row.len());
    let mut at = 0;
    while at < row.len() {
        if !open(at) {
            out.push(row[at]);
            at += 1;
            continue;
        }
        let Some(end) = group_end(&row, at) else { return row };
        let inside = &row[at + 1..end];
        if out == [Atom::Ch('=', Quote::Bare)] && end + 1 == row.len() {
            // zsh's `=(cmd)`: a file of its own.
            return vec![Atom::Empty];
        }
        let kind = match out.last() {
            Some(Atom::Ch(c @ ('@' | '!' | '?' | '*' | '+' | '^'), Quote::Bare)) => *c,
            // zsh: a group may stand anywhere, and the last one qualifies if it is no choice.
            Some(_) if end + 1 == row.len() && !inside.contains(&Atom::Ch('|', Quote::Bare)) => 'q',
            Some(_) => '(',
            _ => return row,
        };
        // What is known only at run time is one more file's name.
        let mut text = String::new();
        for atom in inside {
            match atom {
                Atom::Ch(letter, _) => text.push(*letter),
                Atom::Unknown(_) => text.push_str("$REPLY"),
                _ => {}
            }
        }
        if end + 1 == row.len()
            && matches!(kind, '*' | '?' | 'q')
            && let Some(command) = qualifier_command(&text)
        {
            runs.push(command);
        }
        let plain = !inside.contains(&Atom::Ch('(', Quote::Bare));
        match kind {
            '@' | '(' if plain => {
                if kind == '@' {
                    out.pop();
                }
                let many = inside.contains(&Atom::Ch('|', Quote::Bare));
                if many {
                    out.push(Atom::Ch('{', Quote::Bare));
                }
                out.extend(inside.iter().map(|a| match a {
                    Atom::Ch('|', Quote::Bare) => Atom::Ch(',', Quote::Bare),
                    other => *other,
                }));
                if many {
                    out.push(Atom::Ch('}', Quote::Bare));
                }
            }
            // With this qualifier the pattern names what is hidden, too.
            'q' | '*' if text.contains('D') => {
                let dir = |atom: &Atom| *atom == Atom::Ch('/', Quote::Bare);
                let last = out.split_off(out.iter().rposition(dir).map_or(0, |at| at + 1));
                out.extend("{.".chars().map(|c| Atom::Ch(c, Quote::Bare)));
                out.extend(last.iter().copied().chain([Atom::Ch(',', Quote::Bare)]));
                out.extend(last.iter().copied().chain([Atom::Ch('}', Quote::Bare)]));
            }
            'q' | '*' => {}
            '(' => out.push(Atom::Ch('*', Quote::Bare)),
            _ => {
                out.pop();
                out.push(Atom::Ch('*', Quote::Bare));
            }
        }
        at = end + 1;
    }
    out
}

/// A row without what zsh's extended globs leave out: `^x` is any name, `*~x` the names before the `~`.
pub fn without_exclusions(mut row: Vec<Atom>) -> Vec<Atom> {
    let bare = |c| Atom::Ch(c, Quote::Bare);
    if let Some(at) = row.iter().skip(1).position(|atom| *atom == bare('~')) {
        row.truncate(at + 1);
    }
    if let Some(at) = row.iter().position(|atom| *atom == bare('^')) {
        let end =
            row[at..].iter().position(|atom| *atom == bare('/')).map_or(row.len(), |n| at + n);
        row.splice(at..end, [bare('*')]);
    }
    row
}

/// Where the group that opens at `from` closes.
fn group_end(row: &[Atom], from: usize) -> Option<usize> {
    let mut depth = 0_usize;
    for (i, atom) in row.iter().enumerate().skip(from) {
        match atom {
            Atom::Ch('(', Quote::Bare) => depth += 1,
            Atom::Ch(')', Quote::Bare) => {
                depth -= 1;
                if depth == 0 {
                    return Some(i);
                }
            }
            _ => {}
        }
    }
    None
}

/// The command of a qualifier: `e:cmd:`, `e{cmd}`, `+cmd`.
fn qualifier_command(text: &str) -> Option<String> {
    let text = text.strip_prefix("#q").unwrap_or(text);
    let at = text.find(['e', '+']).filter(|at| {
        text[..*at].bytes().all(|b| b.is_ascii_alphanumeric() || b"./@^-,[]=".contains(&b))
    })?;
    let rest = &text[at + 1..];
    if text[at..].starts_with('+') {
        return (!rest.is_empty()).then(|| rest.to_string());
    }
    let mark = rest.chars().next().filter(|c| !c.is_alphanumeric())?;
    let end = match mark {
        '{' => '}',
        '[' => ']',
        '<' => '>',
        '(' => ')',
        other => other,
    };
    let inner = &rest[mark.len_utf8()..];
    Some(inner.split(end).next().unwrap_or_default().to_string()).filter(|c| !c.is_empty())
}
