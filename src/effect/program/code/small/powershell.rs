//! PowerShell and cmd.exe: text as the commands that stand in it. What they do say the tables.

use super::*;
use crate::effect::path::is_rooted;
use crate::effect::program::table::{Program, Special, find_program};
use crate::effect::windows;
use crate::limits::Cap;
use crate::names::powershell::{KEYWORDS, LOOKING, OPAQUE, UNREAD};

/// Get-ChildItem of the current directory.
pub fn lists_here<T: AsRef<str>>(name: &str, args: &[T]) -> bool {
    let mut text = false;
    ["get-childitem", "gci"].iter().any(|n| n.eq_ignore_ascii_case(name))
        && args.iter().all(|arg| {
            let arg = arg.as_ref().to_ascii_lowercase();
            let valued = ["-fi", "-inc", "-exc", "-dep", "-att"].iter().any(|o| arg.starts_with(o));
            std::mem::replace(&mut text, valued) && !arg.is_empty()
                || arg.starts_with('-') && !arg.starts_with("-p") && !arg.starts_with("-lit")
                || matches!(&arg[..], "." | "./" | ".\\")
        })
}

/// Does the cmdlet only choose among what it is given?
pub fn passes_objects(name: &str) -> bool {
    ["where-object", "where", "?", "select-object", "sort-object", "foreach-object", "%"]
        .iter()
        .any(|n| n.eq_ignore_ascii_case(name))
}

/// The words of each command: between separators that do not stand in quotes.
fn split_commands(text: &str, ends: &[char], quotes: &[char], escape: char) -> Vec<Vec<String>> {
    let (mut all, mut words, mut word) = (Vec::new(), Vec::new(), String::new());
    let (mut quote, mut open) = (None, false);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match quote {
            Some(q) if c == q => quote = None,
            Some('\'') => word.push(c),
            _ if c == escape => word.extend(chars.next()),
            Some(_) => word.push(c),
            None if quotes.contains(&c) => (quote, open) = (Some(c), true),
            None if c.is_whitespace() || ends.contains(&c) => {
                if open || !word.is_empty() {
                    words.push(std::mem::take(&mut word));
                    open = false;
                }
                if c == '\n' || ends.contains(&c) {
                    all.push(std::mem::take(&mut words));
                }
            }
            None => word.push(c),
        }
    }
    if open || !word.is_empty() {
        words.push(word);
    }
    all.push(words);
    all.retain(|words| !words.is_empty());
    all
}

impl Sink<'_, '_> {
    /// Hands a command on: the words of a program of Windows as they are written.
    fn run_command(&mut self, name: &str, args: &[String], cwd: Option<&Value>) {
        if !Cap::Scripts.admits(self.next.len() + 1) {
            return;
        }
        let found = find_program(name, self.out.place.programs);
        let own = found.is_none_or(|p| p.windows);
        let value = |text: &String| match own {
            true => Value::known(text, self.span.clone()),
            false => windows::word_value(text, &self.out.place.home, self.span.clone()),
        };
        let words: Vec<Value> = std::iter::once(Value::known(name, self.span.clone()))
            .chain(args.iter().map(value))
            .collect();
        self.next.push(Next::Words { words, cwd: cwd.cloned(), feeds: false });
    }

    /// The same with what comes through the pipe as its operand.
    fn run_piped_command(
        &mut self,
        name: &str,
        args: &[String],
        operand: Value,
        cwd: Option<&Value>,
    ) {
        self.run_command(name, args, cwd);
        if let Some(Next::Words { words, .. }) = self.next.last_mut() {
            words.push(operand);
        }
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
        let to = windows::word_value(dir, &self.out.place.home, self.span.clone());
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
    let signs: Vec<char> = lower.chars().collect();
    let pairs = |wanted: fn(char, char) -> bool| signs.windows(2).any(|two| wanted(two[0], two[1]));
    // A method, or what is called or sourced by a value; what is redirected.
    let calls = pairs(|before, sign| sign == '(' && (before.is_alphanumeric() || before == '_'));
    let rest =
        lower.replace("2>&1", "").replace("&&", ";").replace("> $null", "").replace(">$null", "");
    !calls
        && !rest.contains(['&', '>'])
        && !OPAQUE.iter().any(|sign| lower.contains(sign))
        && split_commands(&lower, &[';', '|', '{', '}', '(', ')'], &['"', '\''], '`')
            .iter()
            .all(|words| is_plain_statement(words))
}

/// `gci x | ForEach-Object Delete`: a method by its name.
fn calls_member(word: &str, args: &[String]) -> bool {
    matches!(word, "foreach-object" | "foreach" | "%")
        && args.iter().any(|arg| !arg.starts_with('-'))
}

fn is_plain_statement(words: &[String]) -> bool {
    let first =
        words.iter().position(|word| !word.starts_with('$') && !matches!(&word[..], "=" | "+="));
    let Some(word) = first.map(|at| words[at].as_str()) else { return true };
    let looks = || {
        let verb = word.split_once('-').map(|(verb, _)| verb);
        LOOKING.contains(&word)
            || verb.is_some_and(|verb| LOOKING.contains(&verb))
                && !["secret", "credential"].iter().any(|own| word.contains(own))
    };
    let name = windows::program_name(word).unwrap_or_else(|| word.to_string());
    // An operator, or text and numbers as they stand.
    word.starts_with('-')
        || !word.starts_with(|c: char| c.is_ascii_alphabetic() || "./\\~_%?".contains(c))
        || !UNREAD.contains(&word)
            && !calls_member(word, &words[1..])
            && word != "."
            && (KEYWORDS.contains(&word)
                || matches!(word, "%" | "?")
                || word.contains(['/', '\\'])
                || find_program(&name, &[]).is_some()
                || looks())
}

/// So deep may strings and what is computed in them stand in each other.
const NESTED: usize = 8;

/// PowerShell, statement by statement.
pub fn scan_powershell(sink: &mut Sink, text: &str) {
    scan_nested(sink, text, 0);
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

fn scan_nested(sink: &mut Sink, text: &str, depth: usize) {
    for part in computed_parts(text) {
        match depth < NESTED {
            true => scan_nested(sink, part, depth + 1),
            false => sink.emit_hidden("PowerShell that is nested too deeply"),
        }
    }
    let lower = text.to_ascii_lowercase();
    let encoded = text.len() > NO_NAME
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
    if encoded {
        sink.emit_hidden("an encoded PowerShell command");
        return;
    }
    if ["[system.io.", "[io."].iter().any(|s| lower.contains(s))
        || lower.contains("::") && !lower.contains("::now")
    {
        sink.emit_hidden("PowerShell that calls .NET");
    }
    let mut fetched = false;
    if ["downloadstring", "downloadfile", "downloaddata", "openread("]
        .iter()
        .any(|w| lower.contains(w))
    {
        fetched = true;
        let mut urls = string_literals(text).into_iter().filter(|t| t.contains("://")).peekable();
        if urls.peek().is_none() {
            sink.push(Word::Network);
        }
        for url in urls.collect::<Vec<_>>() {
            let value = sink.text_value(&url);
            sink.out.emit_contact(&value, false, Source::Code);
        }
    }
    let mut cwd: Option<Value> = None;
    let mut listed = false;
    let ends = [';', '|', '&', '{', '}', '(', ')'];
    for words in split_commands(text, &ends, &['"', '\''], '`') {
        let first = words
            .iter()
            .position(|w| !w.starts_with('$') && !matches!(&w[..], "=" | "+=" | "." | ""));
        let Some(first) = first else { continue };
        let word = &words[first];
        if !word.starts_with(|c: char| c.is_ascii_alphanumeric() || "./\\~_".contains(c)) {
            continue;
        }
        // A method behind brackets, and what is given to it.
        if word.starts_with('.') && !word.starts_with("./") && !word.starts_with(".\\")
            || word.contains("://")
        {
            continue;
        }
        let args = &words[first + 1..];
        let name = word.to_ascii_lowercase();
        if KEYWORDS.contains(&&name[..]) {
            continue;
        }
        match &name[..] {
            "cd" | "sl" | "chdir" | "set-location" | "push-location" | "pushd" => {
                cwd = Some(sink.changed_directory(args, cwd.as_ref()));
                continue;
            }
            "iex" | "invoke-expression" => {
                if fetched
                    || ["iwr", "irm", "curl", "invoke-web", "invoke-rest"]
                        .iter()
                        .any(|w| lower.contains(w))
                {
                    sink.push(Word::PipeToInterpreter);
                } else {
                    sink.emit_hidden("PowerShell that runs text");
                }
                continue;
            }
            "import-module" | "ipmo" | "add-type" => {
                sink.emit_hidden("PowerShell that runs text");
                continue;
            }
            _ => {}
        }
        let (name, found) = sink.windows_program(word, true);
        // What a listing of the directory hands to the next command.
        let pipe = found.is_some_and(|p| p.special == Some(Special::Piped)) && listed;
        let object = |a: &String| a.starts_with("$_") || a.starts_with("$PSItem");
        let given = pipe && args.iter().all(|a| a.starts_with('-') || object(a));
        listed = lists_here(&name, args) || listed && passes_objects(&name);
        if given {
            let here = Value::known(".", sink.span.clone()).unknown_below();
            let own: Vec<String> = args.iter().filter(|a| !object(a)).cloned().collect();
            sink.run_piped_command(&name, &own, here, cwd.as_ref());
            continue;
        }
        fetched |= found.is_some_and(|p| p.effects.contains(&Word::Network));
        if name != *word {
            // Where there is no such alias it is the program of that name: pwsh on other systems.
            let (plain, own) = sink.windows_program(word, false);
            if own.is_some_and(|p| !p.windows) {
                sink.run_command(&plain, args, cwd.as_ref());
            }
        }
        sink.run_command(&name, args, cwd.as_ref());
    }
}

/// cmd.exe, command by command.
pub fn scan_cmd(sink: &mut Sink, text: &str) {
    let mut cwd: Option<Value> = None;
    let mut loops = false;
    for words in split_commands(text, &['&', '|', '(', ')'], &['"'], '^') {
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
        let mut args: Vec<String> = Vec::new();
        let mut rest = words[1..].iter();
        while let Some(word) = rest.next() {
            let Some(at) = word.find('>') else {
                args.push(word.clone());
                continue;
            };
            let file = word[at..].trim_start_matches('>');
            let file = if file.is_empty() { rest.next().map_or("", String::as_str) } else { file };
            if !file.starts_with('&') && !file.eq_ignore_ascii_case("nul") && !file.is_empty() {
                let file = windows::word_value(file, &sink.out.place.home, sink.span.clone());
                sink.out.code_path(Word::Write, &file);
            }
        }
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
            sink.run_command(&name, &args, cwd.as_ref());
        }
    }
}
