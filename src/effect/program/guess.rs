//! Commands that the words of a program nobody knows may be.
//!
//! A wrapper that no table has, a language that nothing reads and a prompt that is fed by a pipe have this in
//! common: somewhere among their words stands a command of a program that is known. Such words are tried, and what
//! comes of them is possible at most. What reads as prose, or is given to something that speaks, is no command.

use std::ops::Range;

use super::call::{Call, Next};
use super::options::Parsed;
use super::table::{Class, Program, Role, find_program, find_row, has_class};
use crate::effect::path::{normalise_path, split};
use crate::effect::value::Value;
use crate::limits::Cap;
use crate::names::guess::{BUILT, COMMANDING, ESCAPES, PROSE, RUNNING, SPEAKING, TEXTS};
use crate::names::shell::SYSTEM_DIRS;

/// The commands that the words of a call may be; `called` = its program as it is written.
pub fn of_call(call: &Call, called: &str) -> Vec<Next> {
    let mut found = Vec::new();
    if speaks(call.name) || has_class(call.name, Class::Agent, &[]) {
        return found;
    }
    let built = is_built(called);
    // What stands behind it is no option, and no text of the program's own.
    let end = call.args.iter().position(|arg| arg.plain_text() == Some("--")).filter(|end| {
        let first = call.args.get(end + 1).map_or("", Value::known_start);
        is_grave(first) || first.contains(char::is_whitespace)
    });
    for (at, arg) in call.args.iter().enumerate() {
        let Some(text) = arg.text().filter(|_| !built || after_short(call, at)) else { continue };
        let before = at.checked_sub(1).map_or("", |at| call.args[at].known_start());
        let given =
            before.len() > 1 && before.starts_with('-') && before != "--" && !before.contains('=');
        let spaced = text.contains(char::is_whitespace);
        let behind = end.is_some_and(|end| at > end);
        match text.split_once('=') {
            Some((key, value)) if (key.starts_with('-') || !given) && names_command(key) => {
                found.extend(of_value(&arg.skip_bytes(text.len() - value.len())));
            }
            _ if text.starts_with('-') => {}
            _ if given && names_command(before) && (spaced || !is_grave(text)) => {
                found.extend(of_value(arg));
            }
            _ if given && !behind && is_one(before.trim_start_matches('-'), TEXTS) => {}
            _ if spaced && !is_prose(text) => found.extend(of_value(arg)),
            _ if spaced || end.is_some() && !behind => {}
            _ if is_grave(text) && at + 1 < call.args.len() => {
                found.push(maybe(Next::words(call.args[at..].to_vec())));
                break;
            }
            _ if !given && SPEAKING.contains(&text) => break,
            _ => {}
        }
    }
    found
}

/// Is it the value of `-c`? By that name even what a build has made may be a shell.
fn after_short(call: &Call, at: usize) -> bool {
    let before = at.checked_sub(1).map_or("", |at| call.args[at].known_start());
    before.len() == 2 && names_command(before)
}

/// Is it a program that the project itself builds? It is given texts, and is no wrapper, unless by its name.
pub fn is_built(name: &str) -> bool {
    let up = name.trim_start_matches("./");
    let path = up.trim_start_matches("../");
    let (dir, file) = split(path);
    let top = dir.split('/').next().unwrap_or_default();
    (BUILT.contains(&top) || path == "a.out")
        && (up == path || top != "bin")
        && (!file.contains('.') || file == "a.out")
        && !is_one(file, COMMANDING)
        && find_program(file, &[]).is_none()
}

/// Does the row leave words that may be a command? Of what it says all of, and of languages, nothing is tried.
pub fn may_run_more(call: &Call, row: &Program, next: &[Next]) -> bool {
    let first = call.parsed.operands.get(call.parsed.subs).map(|at| call.args[*at].known_start());
    if call.is_dry_run() {
        return false;
    }
    match row.before {
        // `nvm exec CMD`: what was wanted first may be left out.
        [Role::Text, Role::Command] if !next.is_empty() => first.is_some_and(is_grave),
        _ if row.windows && row.lang.is_some() => true,
        _ if row.sub && call.parsed.subs == 0 && !row.operands_known => true,
        // `kitty sh -c TEXT`: what it took for its own is the command's.
        _ if row.sub && row.before.contains(&Role::Joined) => first.is_some_and(is_grave),
        _ => {
            let bare = row.lang.is_none() && (!row.complete || row.free);
            next.is_empty() && bare && row.repeat == Role::Text
        }
    }
}

/// What a text that something runs may be.
pub fn of_value(value: &Value) -> Vec<Next> {
    let Some(text) = value.text() else { return Vec::new() };
    let command = of_command(text, &value.span);
    command.into_iter().chain(of_program(text, &value.span)).collect()
}

/// What the value of a setting may be: `key=COMMAND`, `key='!COMMAND'`, `|COMMAND`.
pub fn of_setting(value: &Value) -> Vec<Next> {
    let Some(text) = value.text().filter(|text| text.contains(char::is_whitespace)) else {
        return Vec::new();
    };
    let (key, rest) = text.split_once('=').unwrap_or(("", text));
    let key = if key.contains(char::is_whitespace) { "" } else { key };
    let behind = if key.is_empty() { text } else { rest };
    let behind = behind.trim_start_matches(['=', '|', '!', ' ']);
    let inner = ['"', '\''].iter().find_map(|q| behind.strip_prefix(*q)?.strip_suffix(*q));
    let text = match inner {
        Some(inner) => inner.replace("\\\"", "\"").trim_start_matches('!').to_string(),
        None => behind.to_string(),
    };
    of_value(&Value::known(text, value.span.clone()))
}

/// May the program be fed commands that no row speaks of?
pub fn may_be_fed(name: &str, parsed: &Parsed, text: &str) -> bool {
    match parsed.program {
        // An event in JSON is data to it.
        None => !text.trim_start().starts_with(['{', '[']) && !is_built(name),
        Some(row) => row.windows || row.sub && !row.operands_known,
    }
}

/// The commands that a program in some language starts: strings of it, and lines with the mark by which prompts go to
/// the shell.
pub fn of_program(text: &str, span: &Range<usize>) -> Vec<Next> {
    let mut found = of_escapes(text, span);
    let lower = text.to_ascii_lowercase();
    let data = lower.trim_start().starts_with(['[', '{']);
    if data || RUNNING.iter().any(|sign| lower.contains(sign)) {
        of_literals(text, span, &mut found);
    }
    found
}

/// Lines that go to the shell: `!cmd`, `\! cmd`, `.shell cmd`, `%%bash` with all behind it.
pub fn of_escapes(text: &str, span: &Range<usize>) -> Vec<Next> {
    let cells = text.split_once("%%bash\n").or_else(|| text.split_once("%%sh\n"));
    let marked = |line: &str| {
        let line = line.trim_start();
        let rest = ESCAPES.iter().find_map(|mark| line.strip_prefix(mark))?;
        of_command(rest.trim_end_matches(';'), span)
    };
    let cell = cells.and_then(|(_, cell)| of_command(cell, span));
    text.lines().filter_map(marked).chain(cell).collect()
}

/// The strings of a program, each by itself and those of one list together: `"rm", "-rf", "x"`.
fn of_literals(text: &str, span: &Range<usize>, found: &mut Vec<Next>) {
    let mut row: Vec<String> = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '\'', '`', '(', '{']) {
        let (between, tail) = rest.split_at(at);
        if !between.chars().all(|c| c.is_whitespace() || ",[]()".contains(c)) {
            of_row(&mut row, span, found);
        }
        let (inner, behind) = inside(tail);
        if tail.starts_with(['(', '{']) {
            // `syscmd(rm -rf x)`: some languages have no quotes.
            found.extend(of_command(inner.trim_matches(['`', '\'', ' ']), span));
            rest = &tail[1..];
            continue;
        }
        let inner = inner.replace("\\\"", "\"").replace("\\'", "'");
        found.extend(of_command(&inner, span));
        row.push(inner);
        rest = behind;
        if !Cap::Literals.admits(row.len() + 1) {
            break;
        }
    }
    of_row(&mut row, span, found);
}

/// What stands between that mark and its end, and what is behind.
fn inside(text: &str) -> (&str, &str) {
    let end = match text.as_bytes()[0] {
        b'(' => b')',
        b'{' => b'}',
        quote => quote,
    };
    let bytes = text.as_bytes();
    let close = (1..bytes.len()).find(|at| bytes[*at] == end && bytes[at - 1] != b'\\');
    let close = close.unwrap_or(text.len());
    (&text[1..close], text.get(close + 1..).unwrap_or_default())
}

/// Strings of one list that begin with the name of a program.
fn of_row(row: &mut Vec<String>, span: &Range<usize>, found: &mut Vec<Next>) {
    let row = std::mem::take(row);
    let Some(at) = row.iter().position(|word| is_grave(word)).filter(|at| at + 1 < row.len())
    else {
        return;
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./~=:+ ".contains(c);
    let word = |word: &String| match word.chars().all(plain) {
        true => word.clone(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    };
    let text = row[at..].iter().map(word).collect::<Vec<_>>().join(" ");
    found.push(maybe(Next::script(Value::known(text, span.clone()))));
}

/// A text that reads as a command from its first word on.
fn of_command(text: &str, span: &Range<usize>) -> Option<Next> {
    let text = text.trim().trim_start_matches(['!', '^', '$']).trim_start();
    let mut words =
        text.split([' ', '\t', '\n', ';', '|', '&', '(', ')', '{', '}', '"', '\'', '`']);
    let first = text.trim_start_matches(['(', '{', ' ']).split(char::is_whitespace);
    let first = first.skip_while(|word| word.contains('=')).find(|word| !word.is_empty())?;
    let program = split(first.trim_start_matches('\\').trim_end_matches(';')).1;
    let command = find_program(program, &[]).is_some() && words.any(is_grave) && !is_prose(text);
    command.then(|| maybe(Next::script(Value::known(text, span.clone()))))
}

fn maybe(next: Next) -> Next {
    Next::Maybe(Box::new(next))
}

/// May a command of that program do harm, or run one that does?
fn is_grave(word: &str) -> bool {
    let (dir, name) = split(word);
    (dir.is_empty() || dir.starts_with('/') && SYSTEM_DIRS.contains(&&*normalise_path(dir)))
        && name.starts_with(|c: char| c.is_ascii_lowercase())
        && find_row(name, &[])
            .is_some_and(|row| row.has_class(Class::Grave) || row.has_class(Class::Interpreter))
}

/// Does it hold words of a sentence outside of quotes?
fn is_prose(text: &str) -> bool {
    let mut quote = None;
    let bare = |c: char| match quote {
        None if c == '"' || c == '\'' => {
            quote = Some(c);
            ' '
        }
        Some(open) => {
            quote = quote.filter(|_| c != open);
            ' '
        }
        None => c,
    };
    let bare: String = text.chars().map(bare).collect();
    bare.split(|c: char| c.is_whitespace() || ",.?!".contains(c)).any(|word| PROSE.contains(&word))
}

/// Is one of the parts of that name in the list?
fn is_one(name: &str, list: &[&str]) -> bool {
    name.split(|c: char| !c.is_ascii_alphanumeric()).any(|part| list.contains(&part))
}

/// Does an option of that name, or a key, say what runs? `--command`, `-c`, `--onSuccess`, `commands=`
pub fn names_command(name: &str) -> bool {
    let bare = name.trim_start_matches('-');
    let short = name.starts_with('-') && matches!(bare, "c" | "e" | "x" | "r");
    let lower = bare.to_ascii_lowercase();
    let on = bare
        .strip_prefix("on")
        .is_some_and(|rest| rest.starts_with(|c: char| !c.is_ascii_lowercase()));
    short || on || bare.len() > 1 && is_one(&lower, COMMANDING) && !is_one(&lower, TEXTS)
}

/// Is what it is given a text for people or for a search?
fn speaks(name: &str) -> bool {
    is_one(split(name).1, SPEAKING)
}
