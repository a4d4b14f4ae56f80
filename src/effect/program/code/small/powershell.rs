//! PowerShell and cmd.exe: text as the commands that stand in it. What they do say the tables.

use super::*;
use crate::effect::flow::is_secret_name;
use crate::effect::path::is_rooted;
use crate::effect::program::table::{Program, Role, find_program};
use crate::effect::windows;
use crate::limits::Cap;
use crate::names::powershell::{CHANGING, HARMLESS, KEYWORDS, LOOKING, METHODS, OPAQUE, UNREAD};

mod plain;
mod reader;
mod statement;

use plain::Plain;
use reader::{NESTED, Reader, static_calls};
use statement::{CMD, POWERSHELL, Quoting, Statement, block_variables};

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

/// The first word of a text that the reader does not take apart as PowerShell does, or that no table knows.
pub fn unread_powershell(text: &str) -> Option<String> {
    unread(text, 0)
}

fn unread(text: &str, depth: usize) -> Option<String> {
    let plain = Plain::new(&text.to_ascii_lowercase());
    let code = plain.code.replace("$env:", "$");
    let opaque = |sign: &&&str| code.contains(**sign);
    let behind = |at: usize, sign: char| &plain.code[at + sign.len_utf8()..];
    let marks = |sign: char| plain.code.match_indices(sign).map(move |(at, _)| at);
    let statements = POWERSHELL.split(&plain.text);
    if depth == NESTED {
        return Some("$(".to_string());
    }
    let found = OPAQUE.iter().find(opaque).map(|sign| sign.to_string());
    let found = found.or_else(|| reveals(&statements));
    let found = found.or_else(|| {
        let called = marks('&').find(|at| behind(*at, '&').trim_start().starts_with('@'));
        called.map(|_| "& @".to_string())
    });
    let found = found.or_else(|| {
        let plain_list = |at: &usize| {
            plain.code[..*at].ends_with(|c: char| c.is_alphanumeric() || "/-_.:^~=".contains(c))
                || behind(*at, '@').starts_with(|c: char| "({".contains(c) || c.is_alphabetic())
        };
        marks('@').find(|at| !plain_list(at)).map(|_| "@".to_string())
    });
    let timing = |method: &String| {
        matches!(&method[..], "start(" | "stop(" | "restart(")
            && code.contains("diagnostics.stopwatch")
    };
    // A comment, or a part of a word.
    let found = found.or_else(|| {
        let part = |at: &usize| {
            plain.code[..*at].ends_with(|c: char| c.is_alphanumeric() || "_-./:".contains(c))
        };
        marks('#').find(|at| !part(at)).map(|_| "#".to_string())
    });
    // A method by its name.
    let found = found.or_else(|| {
        let mut calls = code.match_indices(".foreach(").map(|(at, call)| &code[at + call.len()..]);
        calls.find(|given| !given.trim_start().starts_with('{')).map(|_| "foreach(".to_string())
    });
    let found = found.or_else(|| {
        let mut brackets = marks('(').filter_map(|at| unread_bracket(&plain.code[..at]));
        brackets.find(|method| !timing(method))
    });
    let found =
        found.or_else(|| marks('[').find_map(|at| unread_type(&plain.code[..at], behind(at, '['))));
    let found = found.or_else(|| {
        static_calls(&plain).find(|call| call.effects().is_none()).map(|call| call.name())
    });
    let blocks = block_variables(&statements);
    let defined: Vec<&str> = statements
        .iter()
        .filter(|s| matches!(s.words.first().map(|w| &w[..]), Some("function" | "filter")))
        .filter_map(|s| s.words.get(1).map(|w| &w[..]))
        .collect();
    let found = found.or_else(|| {
        let unread = |s: &Statement| unread_statement(s, &defined, &blocks, depth);
        statements.iter().find_map(unread)
    });
    found.or_else(|| {
        computed_parts(&plain.text).into_iter().find_map(|part| unread(part, depth + 1))
    })
}

/// A variable of the environment that tells of a secret, where it may be handed to others; the drive of all of them
/// where something reaches the network.
fn reveals(statements: &[Statement]) -> Option<String> {
    let secret = |word: &String| word.split("env:").skip(1).any(names_secret);
    let tests = |at: usize| {
        let own = &statements[at];
        let caller = at.checked_sub(1).and_then(|at| statements[at].words.last());
        let tested = |word: &String| {
            KEYWORDS.contains(&&word[..]) || word == "-not" || word.contains("]::isnullor")
        };
        if let Some(sign) = own.assignment() {
            return own.key.is_none() && !own.words[sign + 1..].iter().any(secret);
        }
        let compares = own.words.first().is_some_and(|word| word.starts_with(['$', '-', '!', '[']));
        let piped = statements.get(at + 1).is_some_and(|next| next.between.contains('|'));
        own.key.is_none()
            && compares
            && own.files.is_empty()
            && !piped
            && !own.between.contains('{')
            && (!own.between.ends_with('(') || caller.is_some_and(tested))
    };
    let told = |at: &usize| {
        let own = &statements[*at];
        own.words.iter().chain(&own.files).any(secret) && !tests(*at)
    };
    if let Some(at) = (0..statements.len()).find(told) {
        let words = &statements[at].words;
        return words.iter().find(|word| secret(word)).or(words.first()).cloned();
    }
    let drive = |word: &String| word.starts_with("env:");
    let changes = |own: &&Statement| {
        let from = own.assignment().map_or(0, |sign| sign + 1);
        let looks = |word: &String| {
            ["get-", "test-", "remove-item"].iter().any(|start| word.starts_with(start))
                || ["gci", "ls", "dir", "gi", "gc", "cat", "ri", "rm", "del"].contains(&&word[..])
        };
        let drive = own.words.iter().find(|word| drive(word));
        drive.is_some() && !own.words.get(from).is_some_and(looks)
    };
    if let Some(own) = statements.iter().find(changes) {
        return own.words.iter().find(|word| drive(word)).cloned();
    }
    let reaches = |own: &Statement| {
        let network = |word: &String| {
            let name = windows::program_name(word).unwrap_or_else(|| word.clone());
            word.contains("://")
                || find_program(&name, &[]).is_some_and(|p| p.effects.contains(&Word::Network))
        };
        own.words.iter().any(network)
    };
    let drive = statements.iter().flat_map(|own| &own.words).find(|word| drive(word))?;
    statements.iter().any(reaches).then(|| drive.clone())
}

/// Does the name of a variable of the environment tell of a secret?
fn names_secret(behind: &str) -> bool {
    let end = behind.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    is_secret_name(&behind[..end.unwrap_or(behind.len())].to_ascii_uppercase())
}

/// What stands in front of a bracket and is called, unless it is a method that changes nothing.
fn unread_bracket(before: &str) -> Option<String> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let object = before.trim_end_matches(word);
    let method = &before[object.len()..];
    let plain = match object.chars().next_back() {
        Some('.') => object.ends_with("..") || METHODS.contains(&method),
        // A method whose name is a text.
        Some('"' | '\'') => {
            let text = object[..object.len() - 1].trim_end_matches('_');
            !text.trim_end_matches(['"', '\'']).ends_with('.')
        }
        Some('$') => method.is_empty(),
        Some(':' | '-') => true,
        _ => {
            method.is_empty()
                || KEYWORDS.contains(&method)
                || METHOD_LIKE.contains(&method)
                || object.ends_with("function ")
        }
    };
    (!plain).then(|| format!("{method}("))
}

/// Attributes of a function and of what it is given.
const METHOD_LIKE: &[&str] = &["parameter", "cmdletbinding", "validateset", "alias", "outputtype"];

/// What stands behind a square bracket: the type of a value, one that a member is called of, or a place in a list.
fn unread_type(before: &str, behind: &str) -> Option<String> {
    // A place in a list, and a type of what a list holds.
    if before.ends_with(|c: char| c.is_alphanumeric() || "_)]}'\"*./\\".contains(c)) {
        return None;
    }
    let end = behind.find([']', '[', '('])?;
    let name = behind[..end].trim();
    let (name, rest) = (name.strip_prefix("system.").unwrap_or(name), &behind[end..]);
    let plain = rest.starts_with("]::")
        || rest.starts_with('[') && rest.contains("]::")
        || rest.starts_with('(')
        || HARMLESS.contains(&name)
        || name.contains('-')
        || name.chars().all(|c| c.is_ascii_digit());
    (!plain).then(|| format!("[{name}]"))
}

/// Is the word a member of what stood before: `.Replace`, not `./x`?
fn is_member(word: &str) -> bool {
    word.starts_with('.') && !word.starts_with("./") && !word.starts_with(".\\")
}

/// Commands that run a block, or a method by its name.
const RUNNING: &[&str] = &[
    "foreach-object",
    "foreach",
    "%",
    "invoke-command",
    "icm",
    "start-job",
    "sajb",
    "start-threadjob",
    "measure-command",
];

fn unread_statement(
    statement: &Statement,
    defined: &[&str],
    blocks: &[String],
    depth: usize,
) -> Option<String> {
    let from = statement.assignment().map_or(0, |sign| sign + 1);
    let from = match statement.words.get(from).map(|word| &word[..]) {
        Some("return" | "throw" | "exit" | ".") => from + 1,
        _ => from,
    };
    let (word, args) = statement.words.get(from..)?.split_first()?;
    let called = statement.between.ends_with('&') && !statement.between.ends_with("&&");
    if statement.quoted[from] != Quoting::None && !called {
        return None;
    }
    let name = windows::program_name(word).unwrap_or_else(|| word.to_string());
    let looks = || {
        let verb = word.split_once('-').map(|(verb, _)| verb);
        LOOKING.contains(&&word[..])
            || verb.is_some_and(|verb| LOOKING.contains(&verb))
                && !["secret", "credential"].iter().any(|own| word.contains(own))
    };
    let given = |arg: &&String| {
        let member = || matches!(&word[..], "foreach-object" | "foreach" | "%");
        arg.starts_with('$') || member() && CHANGING.contains(&&arg[..])
    };
    if called && word.contains('$') && !word.contains(['/', '\\']) && !blocks.contains(word) {
        return Some(format!("& {word}"));
    }
    // An operator, text and numbers as they stand, a variable, or a member of what stood before.
    if word.starts_with('-')
        || is_member(word)
        || !word.starts_with(|c: char| c.is_ascii_alphabetic() || "./\\~_%?".contains(c))
        || KEYWORDS.contains(&&word[..]) && !RUNNING.contains(&&word[..])
    {
        return None;
    }
    match &word[..] {
        own if RUNNING.contains(&own) => {
            let block = args.iter().find(given)?;
            return Some(format!("{word} {block}"));
        }
        "iex" | "invoke-expression" => match args {
            [text] if statement.quoted[from + 1] == Quoting::Whole => {
                return unread(text, depth + 1);
            }
            _ => {}
        },
        "new-object" => {
            let of_type =
                |arg: &&String| HARMLESS.contains(&arg.strip_prefix("system.").unwrap_or(arg));
            if args.iter().find(|arg| !arg.starts_with('-')).is_some_and(|arg| of_type(&arg))
                && !args.iter().any(|arg| arg.starts_with("-c"))
            {
                return None;
            }
        }
        _ => {}
    }
    let plain = !UNREAD.contains(&&word[..])
        && (!word.contains('-')
            || word.contains(['/', '\\'])
            || word.ends_with(".exe")
            || defined.contains(&&word[..])
            || find_program(&name, &[]).is_some()
            || looks());
    (!plain).then(|| [std::slice::from_ref(word), &args[..args.len().min(1)]].concat().join(" "))
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
