//! PowerShell and cmd.exe: text as the commands that stand in it. What they do say the tables.

use super::*;
use crate::effect::flow::is_secret_name;
use crate::effect::path::is_rooted;
use crate::effect::program::table::{Program, Role, find_program};
use crate::effect::windows;
use crate::limits::Cap;
use crate::names::powershell::{HARMLESS, KEYWORDS, LOOKING, METHODS, OPAQUE, UNREAD};

mod reader;
mod statement;

use reader::{Reader, static_calls};
use statement::{CMD, POWERSHELL, Quoting, Statement, is_assignment};

/// Get-ChildItem of the current directory.
pub fn lists_here<T: AsRef<str>>(name: &str, args: &[T]) -> bool {
    listed_directory(name, args).is_some_and(|dir| matches!(dir, "." | "./" | ".\\"))
}

/// The directory, or the pattern of files, that Get-ChildItem lists.
fn listed_directory<'t, T: AsRef<str>>(name: &str, args: &'t [T]) -> Option<&'t str> {
    if !["get-childitem", "gci"].iter().any(|own| own.eq_ignore_ascii_case(name)) {
        return None;
    }
    let mut dirs = Vec::new();
    let mut args = args.iter().map(AsRef::as_ref);
    while let Some(arg) = args.next() {
        let option = arg.to_ascii_lowercase();
        if ["-fi", "-inc", "-exc", "-dep", "-att"].iter().any(|own| option.starts_with(own)) {
            args.next()?;
        } else if option.starts_with("-p") || option.starts_with("-lit") {
            dirs.push(args.next()?);
        } else if !option.starts_with('-') {
            dirs.push(arg);
        }
    }
    match dirs[..] {
        [] => Some("."),
        [dir] if !dir.contains(',') => Some(dir),
        _ => None,
    }
}

/// Does the cmdlet only choose among what it is given?
pub fn passes_objects(name: &str) -> bool {
    ["where-object", "where", "?", "select-object", "sort-object", "foreach-object", "%"]
        .iter()
        .any(|n| n.eq_ignore_ascii_case(name))
}

impl Sink<'_, '_> {
    /// A word as a path of Windows.
    fn path_value(&self, text: &str) -> Value {
        windows::word_value(text, &self.out.place.home, self.span.clone())
    }

    /// A word of a command: that of a program of Windows as it is written.
    fn word_of(&self, name: &str, text: &str) -> Value {
        match find_program(name, self.out.place.programs).is_none_or(|p| p.windows) {
            true => Value::known(text, self.span.clone()),
            false => self.path_value(text),
        }
    }

    /// Hands a command on.
    fn run_words(&mut self, name: &str, args: Vec<Value>, cwd: Option<&Value>) {
        if !Cap::Scripts.admits(self.next.len() + 1) {
            return;
        }
        let words = std::iter::once(Value::known(name, self.span.clone())).chain(args).collect();
        self.next.push(Next::Words { words, cwd: cwd.cloned(), feeds: false });
    }

    /// The program that a name stands for in PowerShell or cmd.exe.
    fn windows_program(&self, word: &str, aliases: bool) -> (String, Option<&'static Program>) {
        let own = self.out.place.programs;
        let spelt = windows::program_name(word).unwrap_or_else(|| word.to_string());
        let found = find_program(&spelt, own);
        match found.filter(|p| aliases && !p.on_windows.is_empty()) {
            Some(posix) => (posix.on_windows.to_string(), find_program(posix.on_windows, own)),
            // Where it lies says which it is.
            None if found.is_none() && word.contains(['/', '\\']) => {
                (word.replace('\\', "/"), None)
            }
            None => (spelt, found),
        }
    }

    /// Where the commands behind `cd DIR` run.
    fn changed_directory(&self, args: &[String], before: Option<&Value>) -> Value {
        let dir = args.iter().find(|a| !a.starts_with(['-', '/']));
        let dir = dir.map_or("~", String::as_str);
        let to = self.path_value(dir);
        let Some(before) = before.filter(|_| !to.plain_text().is_some_and(is_rooted)) else {
            return to;
        };
        match (before.plain_text(), to.plain_text()) {
            (Some(before), Some(to)) => Value::known(format!("{before}/{to}"), self.span.clone()),
            _ => Value::unknown(self.span.clone()),
        }
    }
}

/// A text of letters and digits that is longer is no command's name: it is encoded.
const NO_NAME: usize = 40;

/// Is all of a text PowerShell that the reader takes apart as PowerShell does, of programs and cmdlets that are known?
pub fn is_plain_powershell(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    let rest = lower.replace(">&1", "").replace("&&", ";").replace("$env:", "$");
    // What is called by a value.
    let called = |behind: &str| !behind.trim_start().starts_with(['$', '(', '@']);
    rest.split('&').skip(1).all(called)
        && !OPAQUE.iter().any(|sign| rest.contains(sign))
        && !lower.split("$env:").skip(1).any(names_secret)
        && lower.match_indices('@').all(|(at, _)| lower[at..].starts_with("@("))
        && lower.match_indices('(').all(|(at, _)| is_plain_bracket(&lower[..at]))
        && lower.match_indices('[').all(|(at, _)| is_plain_type(&lower[at + 1..]))
        && static_calls(&lower).all(|call| call.effects().is_some())
        && POWERSHELL.split(&lower).iter().all(is_plain_statement)
}

/// Does the name of a variable of the environment tell of a secret?
fn names_secret(behind: &str) -> bool {
    let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    is_secret_name(&behind[..end.unwrap_or(behind.len())].to_ascii_uppercase())
}

/// What stands in front of a bracket: nothing that is called, or a method that changes nothing.
fn is_plain_bracket(before: &str) -> bool {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let object = before.trim_end_matches(word);
    let method = &before[object.len()..];
    method.is_empty()
        || object.ends_with("::")
        || object.ends_with('.') && METHODS.contains(&method)
}

/// What stands behind a square bracket: the type of a value, one that a member is called of, or a place in a list.
fn is_plain_type(behind: &str) -> bool {
    let Some((name, behind)) = behind.split_once(']') else { return false };
    let place = || name.chars().all(|c| c.is_ascii_digit() || "-.$i".contains(c));
    behind.starts_with("::")
        || HARMLESS.contains(&name.strip_prefix("system.").unwrap_or(name))
        || !name.is_empty() && place()
}

/// Is the word a member of what stood before: `.Replace`, not `./x`?
fn is_member(word: &str) -> bool {
    word.starts_with('.') && !word.starts_with("./") && !word.starts_with(".\\")
}

/// `gci x | ForEach-Object Delete`: a method by its name.
fn calls_member(word: &str, args: &[String]) -> bool {
    matches!(word, "foreach-object" | "foreach" | "%")
        && args.iter().any(|arg| !arg.starts_with('-'))
}

fn is_plain_statement(statement: &Statement) -> bool {
    let words = &statement.words;
    let first = words.iter().position(|word| !word.starts_with('$') && !is_assignment(word));
    let Some(first) = first.filter(|at| statement.quoted[*at] == Quoting::None) else {
        return true;
    };
    let word = words[first].as_str();
    let looks = || {
        let verb = word.split_once('-').map(|(verb, _)| verb);
        LOOKING.contains(&word)
            || verb.is_some_and(|verb| LOOKING.contains(&verb))
                && !["secret", "credential"].iter().any(|own| word.contains(own))
    };
    let name = windows::program_name(word).unwrap_or_else(|| word.to_string());
    // An operator, text and numbers as they stand, or a member of what stood before.
    word.starts_with('-')
        || is_member(word) && word != "."
        || !word.starts_with(|c: char| c.is_ascii_alphabetic() || "./\\~_%?".contains(c))
        || !UNREAD.contains(&word)
            && !calls_member(word, &words[first + 1..])
            && word != "."
            && (KEYWORDS.contains(&word)
                || matches!(word, "%" | "?")
                || word.contains(['/', '\\'])
                || find_program(&name, &[]).is_some()
                || looks())
}

/// PowerShell, statement by statement.
pub fn scan_powershell(sink: &mut Sink, text: &str) {
    Reader::new(sink).read_text(text);
}

/// What is computed within double quotes: the statements of `"a $(b) c"`.
fn computed_parts(text: &str) -> Vec<&str> {
    let (mut parts, mut quote, mut at) = (Vec::new(), None, 0);
    let bytes = text.as_bytes();
    while let Some(byte) = bytes.get(at) {
        match (quote, byte) {
            (None, b'"' | b'\'') => quote = Some(*byte),
            (Some(own), byte) if own == *byte => quote = None,
            (Some(b'\''), _) => {}
            (_, b'`') => at += 1,
            (Some(_), b'$') if bytes.get(at + 1) == Some(&b'(') => {
                let end = closing_bracket(text, at + 2);
                parts.push(&text[at + 2..end]);
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    parts
}

/// Where the bracket that was opened before is closed; quotes may hold others.
fn closing_bracket(text: &str, from: usize) -> usize {
    let (mut open, mut quote, mut escaped) = (1, None, false);
    for (at, byte) in text.bytes().enumerate().skip(from) {
        match (quote, byte) {
            _ if std::mem::take(&mut escaped) => {}
            (None | Some(b'"'), b'`') => escaped = true,
            (None, b'"' | b'\'') => quote = Some(byte),
            (Some(own), byte) if own == byte => quote = None,
            (None, b'(') => open += 1,
            (None, b')') => open -= 1,
            _ => {}
        }
        if open == 0 {
            return at;
        }
    }
    text.len()
}

/// cmd.exe, command by command.
pub fn scan_cmd(sink: &mut Sink, text: &str) {
    let mut cwd: Option<Value> = None;
    let mut loops = false;
    for Statement { words, files, .. } in CMD.split(text) {
        for file in files.iter().filter(|file| !file.eq_ignore_ascii_case("nul")) {
            let file = sink.path_value(file);
            sink.out.code_path(Word::Write, &file);
        }
        if words.is_empty() {
            continue;
        }
        let known = |word: &String| {
            let (name, found) = sink.windows_program(word.trim_start_matches('@'), false);
            found.is_some() || name.contains(['/', '\\'])
        };
        let mut words = words;
        // `if exist x del x`, `for %i in (*) do del %i`: the command is what a program is called.
        let lead = words[0].trim_start_matches('@').to_ascii_lowercase();
        if lead == "call" && words.len() > 1 && !words[1].starts_with(':') {
            words.remove(0);
        } else if KEYWORDS.contains(&&lead[..]) {
            let Some(at) = words.iter().skip(1).position(known) else { continue };
            words.drain(..=at);
        }
        // `%i`, `%%i` of a loop: known only at run time.
        loops |= lead == "for";
        if loops {
            words.iter_mut().for_each(|w| *w = w.replace("%%", "%").replace('%', "$"));
        }
        let mut args = words[1..].to_vec();
        // `rd/s/q x`: switches need no blank before them.
        let word = words[0].trim_start_matches('@');
        let (word, switches) = match word.split_once('/') {
            Some((head, rest)) if !head.is_empty() && !head.contains(['.', ':', '\\']) => {
                (head, Some(format!("/{rest}")))
            }
            _ => (word, None),
        };
        args.splice(0..0, switches);
        if matches!(&word.to_ascii_lowercase()[..], "cd" | "chdir" | "pushd") {
            cwd = Some(sink.changed_directory(&args, cwd.as_ref()));
            continue;
        }
        let (name, found) = sink.windows_program(word, false);
        // In cmd.exe `type` prints a file.
        let name = if name == "type" { "get-content".to_string() } else { name };
        if found.is_some() || !word.is_empty() {
            let args = args.iter().map(|arg| sink.word_of(&name, arg)).collect();
            sink.run_words(&name, args, cwd.as_ref());
        }
    }
}
