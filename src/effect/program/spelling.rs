//! Arguments as cmd.exe and PowerShell take them: `/s`, `/t:60`, `-Rec`, `a,b`, in the shape that
//! everything else is parsed in: `-s`, `-t 60`, `-recurse`, `a b`.

use super::table::{Arity, Program, find_program as find};
use crate::effect::value::Value;
use crate::effect::windows;

/// The arguments of a program of Windows, with `-` before its options and in lower case.
pub fn normalise_arguments(
    program: &'static Program,
    words: &[Value],
    home: &str,
    own: &'static [Program],
) -> Vec<Value> {
    let first = words.iter().find(|w| !w.known_start().starts_with(['-', '/']));
    let below = first.and_then(Value::plain_text).filter(|_| program.sub);
    let below =
        below.and_then(|w| find(&format!("{} {}", program.name, w.to_ascii_lowercase()), own));
    let rows = [Some(program), below];
    let mut out = Vec::with_capacity(words.len());
    let mut named = false;
    for word in words {
        let Some(text) = word.text() else {
            out.push(word.clone());
            continue;
        };
        if push_option(&rows, word, text, &mut out) {
            continue;
        }
        if program.lang.is_some() {
            // Program text stays as it is.
            out.push(word.clone());
            continue;
        }
        if !std::mem::replace(&mut named, true) && (program.sub || !program.verbs.is_empty()) {
            out.push(word.map(str::to_ascii_lowercase));
            continue;
        }
        let list = text.contains(',') && !text.contains("://");
        for part in text.split(|c| list && c == ',').filter(|part| !part.is_empty()) {
            out.push(operand_value(word, part, home));
        }
    }
    out
}

fn operand_value(word: &Value, text: &str, home: &str) -> Value {
    let value = windows::word_value(text, home, word.span.clone());
    // What the shell took for a glob is one.
    value.globbed(word.is_glob())
}

/// Pushes an option that one of the rows has; false = the word is none.
fn push_option(
    rows: &[Option<&'static Program>],
    word: &Value,
    text: &str,
    out: &mut Vec<Value>,
) -> bool {
    let push = |out: &mut Vec<Value>, text: String| {
        out.push(Value::known(text, word.span.clone()));
    };
    if let Some(rest) = text.strip_prefix('-') {
        if rest.is_empty() || rest.starts_with('-') {
            return false;
        }
        let (name, value) = text.split_once(':').map_or((text, None), |(n, v)| (n, Some(v)));
        let lower = name.to_ascii_lowercase();
        match find_option(rows, &lower) {
            Some((name, arity)) => {
                push(out, name.to_string());
                if let Some(value) = value.filter(|_| arity != Arity::None) {
                    push(out, value.to_string());
                }
            }
            None => push(out, lower),
        }
        return true;
    }
    let Some(rest) = text.strip_prefix('/') else { return false };
    // Git's shell writes `//s`, so that it does not take it for a path.
    let rest = rest.strip_prefix('/').unwrap_or(rest);
    let mut found = Vec::new();
    for part in rest.split('/') {
        let (name, value) = part.split_once(':').map_or((part, None), |(n, v)| (n, Some(v)));
        let name = format!("-{}", name.to_ascii_lowercase());
        let Some(arity) = rows.iter().flatten().find_map(|row| row.find_option(&name)) else {
            return false;
        };
        let value = value.filter(|_| arity.spec.arity != Arity::None);
        found.push(name);
        found.extend(value.map(str::to_string));
    }
    found.into_iter().for_each(|text| push(out, text));
    true
}

/// The option of that name, or the first one that begins so, as PowerShell cuts them short.
fn find_option(rows: &[Option<&'static Program>], name: &str) -> Option<(&'static str, Arity)> {
    let rows = || rows.iter().rev().flatten();
    let names = |row: &'static Program| {
        row.option_lines().flat_map(|(names, _)| names.split(',')).collect::<Vec<&'static str>>()
    };
    let found = rows()
        .find_map(|row| names(row).into_iter().find(|own| *own == name))
        .or_else(|| rows().find_map(|row| names(row).into_iter().find(|own| own.starts_with(name))))
        .filter(|_| name.len() > 1)?;
    let known = rows().find_map(|row| row.find_option(found))?;
    Some((found, known.spec.arity))
}

/// Is there an argument that only the program of Windows knows: `rm -Recurse`, `rmdir /s`?
pub fn is_told(program: &'static Program, args: &[Value]) -> bool {
    args.iter().filter_map(|a| a.text()).any(|text| {
        let bytes = text.as_bytes();
        let long = bytes.first() == Some(&b'-')
            && bytes.len() > 2
            && bytes[1].is_ascii_alphabetic()
            && (bytes[1].is_ascii_uppercase() && bytes[2].is_ascii_lowercase() || bytes.len() > 5);
        // Other single letters are names of directories.
        let letter = |part: &str| matches!(part, "s" | "q" | "f" | "y" | "S" | "Q" | "F" | "Y");
        let switch = text.strip_prefix('/').is_some_and(|rest| rest.split('/').all(letter));
        (long || switch) && {
            let rows = [find(program.on_windows, &[])];
            let mut found = Vec::new();
            let word = Value::known(text, 0..0);
            match switch {
                true => push_option(&rows, &word, text, &mut found),
                false => {
                    find_option(&rows, &text.to_ascii_lowercase()).is_some_and(|_| bytes.len() > 4)
                }
            }
        }
    })
}
