//! Languages that are looked at line by line: editors, Tcl, PowerShell, AppleScript, makefiles.

use std::ops::Range;

use crate::effect::emitter::Emitter;
use crate::effect::path::in_home;
use crate::effect::program::Next;
use crate::effect::value::{BLANK, Value};
use crate::effect::{Extent, Grade, Source, Word};
use crate::limits::{self, Cap};
use crate::names::applescript::ACTING;
use crate::names::jq::REACHING;
use crate::names::lisp::{HIDING, RUNNING};
use crate::names::vim::{MODIFYING, OPENING, READING};

mod powershell;

pub use powershell::{lists_here, passes_objects, scan_cmd, scan_powershell, unread_powershell};

/// Where the effects of a text go.
pub struct Sink<'a, 'p> {
    /// The effects.
    pub out: &'a mut Emitter<'p>,
    /// What runs in turn.
    pub next: &'a mut Vec<Next>,
    /// The bytes of the text.
    pub span: Range<usize>,
}

impl Sink<'_, '_> {
    fn text_value(&self, text: &str) -> Value {
        match text.find(['$', '%', '[', BLANK]) {
            Some(at) => Value::begins(&text[..at], self.span.clone()),
            None => Value::known(text, self.span.clone()),
        }
    }

    fn emit_path(&mut self, word: Word, text: &str, extent: Extent) {
        if text.is_empty() {
            return;
        }
        let text = in_home(text, &self.out.place.home).unwrap_or_else(|| text.to_string());
        let value = self.text_value(&text);
        self.out.emit_path(word, &value, extent, Grade::Certain, Source::Code);
    }

    /// A file whose commands run: what the call itself has put there from elsewhere nobody has read.
    fn emit_source(&mut self, text: &str) {
        self.emit_path(Word::Read, text, Extent::Exact);
        let file = self.text_value(text);
        let target = self.out.locate_exact(&file);
        if target.is_some_and(|at| self.out.written.get(&at.resolved) == Some(&None)) {
            let span = self.span.clone();
            self.out.push(Word::PipeToInterpreter, Grade::Certain, Source::Code, span);
        }
    }

    fn run_shell_text(&mut self, text: &str) {
        if !text.trim().is_empty() && Cap::Scripts.admits(self.next.len() + 1) {
            let text = Value::known(text.trim(), self.span.clone());
            self.next.push(Next::script(text));
        }
    }

    fn scan(&mut self, lang: super::Lang, text: &str) {
        super::scan_text(lang, self.out, self.next, &self.span, text);
    }

    fn emit_hidden(&mut self, why: &str) {
        self.out.emit_unknown(why, self.span.clone());
    }

    fn push(&mut self, word: Word) {
        self.out.push(word, Grade::Certain, Source::Code, self.span.clone());
    }
}

/// The string literals of a line, quotes of either kind.
fn string_literals(text: &str) -> Vec<String> {
    let (mut out, mut inner, mut quote) = (Vec::new(), String::new(), None);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match quote {
            None if c == '"' || c == '\'' => quote = Some(c),
            None => {}
            Some(q) if c == q => {
                out.push(std::mem::take(&mut inner));
                quote = None;
            }
            Some('"') if c == '\\' => inner.extend(chars.next()),
            Some(_) => inner.push(c),
        }
    }
    out
}

/// Words of a line, quotes and braces taken off.
fn split_words(text: &str) -> Vec<String> {
    let (mut out, mut word, mut quote, mut open) = (Vec::new(), String::new(), None, false);
    for c in text.chars() {
        match quote {
            None if c == '"' || c == '\'' || c == '{' && word.is_empty() => {
                quote = Some(if c == '{' { '}' } else { c });
                open = true;
            }
            None if c.is_whitespace() || c == ',' => {
                if open || !word.is_empty() {
                    out.push(std::mem::take(&mut word));
                    open = false;
                }
            }
            Some(q) if c == q => quote = None,
            _ => word.push(c),
        }
    }
    if open || !word.is_empty() {
        out.push(word);
    }
    out
}

/// What a function of Vim script does with its texts.
#[derive(Clone, Copy)]
enum Calls {
    Shell,
    Write,
    Delete,
    Ex,
    Hidden,
}

/// Functions of Vim script that call out.
const FUNCTIONS: &[(&str, Calls)] = &[
    ("system(", Calls::Shell),
    ("systemlist(", Calls::Shell),
    ("term_start(", Calls::Shell),
    ("job_start(", Calls::Shell),
    ("jobstart(", Calls::Shell),
    ("writefile(", Calls::Write),
    ("delete(", Calls::Delete),
    ("rename(", Calls::Write),
    ("fs.rm(", Calls::Delete),
    ("fs_unlink(", Calls::Delete),
    ("vim.cmd(", Calls::Ex),
    ("nvim_command(", Calls::Ex),
    ("nvim_exec(", Calls::Ex),
    ("nvim_exec2(", Calls::Ex),
    ("uv.spawn(", Calls::Hidden),
    ("loop.spawn(", Calls::Hidden),
    ("libcall(", Calls::Hidden),
    ("feedkeys(", Calls::Hidden),
    ("eval(", Calls::Hidden),
];

/// Ex commands: `:!cmd`, `:w FILE`, `:r !cmd`, and Vim script that calls out.
pub fn scan_vim(sink: &mut Sink, text: &str) {
    for line in text.split(['\n', '|']) {
        let line = line.trim().trim_start_matches(':').trim_start();
        ex(sink, line);
        for (function, calls) in FUNCTIONS {
            if let Some(at) = line.find(function) {
                let given = line[at + function.len()..].trim_start();
                match given.starts_with(['"', '\'', ')']) {
                    true => vim_call(sink, *calls, given),
                    false => sink.emit_hidden("an editor command whose text is known only then"),
                }
            }
        }
    }
}

/// A call of a function of Vim script.
fn vim_call(sink: &mut Sink, calls: Calls, given: &str) {
    let texts = string_literals(given);
    match (calls, &texts[..]) {
        (Calls::Shell, [text, ..]) => sink.run_shell_text(text),
        (Calls::Ex, [text, ..]) => ex(sink, text),
        (Calls::Write, [.., last]) => sink.emit_path(Word::Write, last, Extent::Exact),
        (Calls::Delete, [text, ..]) => {
            let tree = texts.iter().any(|t| t == "rf") || given.contains("recursive");
            sink.emit_path(Word::Delete, text, if tree { Extent::Tree } else { Extent::Exact });
        }
        _ => sink.emit_hidden("an editor command that may execute"),
    }
}

/// One command of ex.
fn ex(sink: &mut Sink, line: &str) {
    // A range: `%`, `1,$`, `'<,'>`, `.`
    let command =
        line.trim_start_matches(|c: char| c.is_ascii_digit() || "%$.,;+-'<>*".contains(c));
    let (name, rest) =
        command.split_at(command.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(command.len()));
    // A bang of the command's own stands right behind it; another begins a command of the shell.
    let behind = rest.strip_prefix('!').unwrap_or(rest).trim();
    let rest = rest.trim();
    let body = rest.trim_start_matches('!').trim();
    match name {
        // `silent !cmd`, `tab sp x`, `bufdo !cmd`
        name if MODIFYING.contains(&name) => ex(sink, behind.trim_start_matches(char::is_numeric)),
        // `g/pattern/cmd`
        "g" | "global" | "v" | "vglobal" => {
            let mark = behind.chars().next().unwrap_or('/');
            if let Some(command) = behind.splitn(3, mark).nth(2) {
                ex(sink, command.trim());
            }
        }
        // `au VimLeave * cmd`
        "au" | "autocmd" => {
            let command = body.splitn(3, char::is_whitespace).nth(2).unwrap_or_default();
            ex(sink, command.trim());
        }
        "" if command.starts_with('!') => sink.run_shell_text(command.trim_start_matches('!')),
        "w" | "wq" | "write" | "x" | "up" | "update" | "sav" | "saveas" | "wn" => {
            let piped = name == "w" && rest.len() > 1 && line.contains("w !");
            match rest.strip_prefix('!').filter(|_| piped) {
                Some(shell) => sink.run_shell_text(shell),
                None => {
                    sink.emit_path(Word::Write, body.trim_start_matches(">>").trim(), Extent::Exact)
                }
            }
        }
        "redir" if body.starts_with('>') => {
            sink.emit_path(Word::Write, body.trim_start_matches(['>', '!']).trim(), Extent::Exact)
        }
        "mks" | "mksession" | "mk" | "mkexrc" | "mkv" | "mkvimrc" | "mkvie" | "mkview" => {
            sink.emit_path(Word::Write, body, Extent::Exact)
        }
        "r" | "read" => match rest.strip_prefix('!') {
            Some(shell) => sink.run_shell_text(shell),
            None => sink.emit_path(Word::Read, body, Extent::Exact),
        },
        "cd" | "lcd" => sink.out.cwd = None,
        "terminal" | "term" => sink.run_shell_text(rest),
        "python" | "py" | "py3" | "python3" | "pyx" => sink.scan(super::Lang::Python, rest),
        "lua" => sink.scan(super::Lang::Lua, rest),
        "se" | "set" | "setl" | "setlocal" | "setg" | "setglobal" if !sets_programs(rest) => {}
        "perl" | "ruby" | "mzscheme" | "tcl" | "exe" | "execute" | "com" | "command" | "map"
        | "nmap" | "se" | "set" | "setl" | "setlocal" | "setg" | "setglobal" => {
            sink.emit_hidden("an editor command that may execute")
        }
        "norm" | "normal" if rest.contains(['!', ':']) => {
            sink.emit_hidden("an editor command that may execute")
        }
        name if READING.contains(&name) => sink.emit_source(body),
        name if OPENING.contains(&name) && !body.is_empty() => {
            sink.emit_path(Word::Read, body, Extent::Exact);
            sink.emit_path(Word::Write, body, Extent::Exact);
        }
        _ => {}
    }
}

/// Is an option of Vim set that names a program or is code?
fn sets_programs(text: &str) -> bool {
    ["sh", "shell", "shcf", "shellcmdflag", "prg", "expr", "func", "foldexpr", "fde"]
        .iter()
        .any(|name| text.split('=').next().unwrap_or_default().trim().ends_with(name))
}

/// ed scripts: `w FILE`, `!cmd`, `r !cmd`.
pub fn scan_ed(sink: &mut Sink, text: &str) {
    let mut inserts = false;
    for line in text.lines() {
        if inserts {
            inserts = line != ".";
            continue;
        }
        let command =
            line.trim_start_matches(|c: char| c.is_ascii_digit() || "%$.,;+- ".contains(c));
        match command.as_bytes().first() {
            Some(b'a' | b'i' | b'c') if command.len() < 3 => inserts = true,
            Some(b'!') => sink.run_shell_text(&command[1..]),
            Some(b'w' | b'W' | b'r' | b'e' | b'E' | b'f') => {
                let rest = command[1..].trim_start_matches('q').trim();
                match rest.strip_prefix('!') {
                    Some(shell) => sink.run_shell_text(shell),
                    None => {
                        let word =
                            if command.starts_with(['w', 'W']) { Word::Write } else { Word::Read };
                        sink.emit_path(word, rest, Extent::Exact);
                    }
                }
            }
            Some(b'g' | b'v') if command.contains('!') => {
                sink.emit_hidden("an editor command that may execute")
            }
            _ => {}
        }
    }
}

/// The part of a text in which the arguments of one call stand.
fn call_arguments(text: &str) -> &str {
    &text[..text.floor_char_boundary(limits::LINE)]
}

/// Emacs Lisp: the functions that run, write and delete.
pub fn scan_lisp(sink: &mut Sink, text: &str) {
    if hands_on(text) {
        sink.emit_hidden("Lisp that may execute");
    }
    for (at, _) in text.match_indices('(') {
        let rest = &text[at + 1..];
        let end = call_arguments(rest)
            .find(|c: char| c.is_whitespace() || c == ')' || c == '(')
            .unwrap_or(0);
        let name = &rest[..end];
        let texts = || string_literals(call_arguments(&rest[end..])).into_iter();
        let literal = || texts().next().filter(|_| rest[end..].trim_start().starts_with('"'));
        let path = |text: Option<String>| text.unwrap_or_else(|| BLANK.to_string());
        match name {
            name if RUNNING.contains(&name) => match literal() {
                Some(text) => sink.run_shell_text(&text),
                None => sink.emit_hidden("shell text known only at run time"),
            },
            name if HIDING.contains(&name) => sink.emit_hidden("Lisp that may execute"),
            "delete-file" => sink.emit_path(Word::Delete, &path(literal()), Extent::Exact),
            "delete-directory" => sink.emit_path(Word::Delete, &path(literal()), Extent::Tree),
            "with-temp-file" => sink.emit_path(Word::Write, &path(texts().next()), Extent::Exact),
            "write-file" | "write-region" | "append-to-file" => {
                sink.emit_path(Word::Write, &path(texts().last()), Extent::Exact)
            }
            "find-file" | "insert-file-contents" | "load-file" => {
                sink.emit_path(Word::Read, &path(texts().next()), Extent::Exact)
            }
            "rename-file" | "copy-file" | "url-copy-file" => {
                sink.emit_path(Word::Write, &path(texts().nth(1)), Extent::Exact)
            }
            _ => {}
        }
    }
}

/// Is a function that runs something handed on by its name: `(funcall 'shell-command "ls")`?
fn hands_on(text: &str) -> bool {
    text.match_indices('\'').any(|(at, _)| {
        let name = call_arguments(&text[at + 1..]);
        let end = name.find(|c: char| c.is_whitespace() || c == ')').unwrap_or(name.len());
        RUNNING.contains(&&name[..end]) || HIDING.contains(&&name[..end])
    })
}

/// A makefile: its recipes and `$(shell ...)` are shell text.
pub fn scan_make(sink: &mut Sink, text: &str) {
    for line in text.split('\n') {
        if let Some(at) = line.find("$(shell") {
            let inner = &line[at + 7..];
            sink.run_shell_text(&inner[..inner.rfind(')').unwrap_or(inner.len())]);
        }
        let recipe = match line.strip_prefix('\t') {
            Some(recipe) => recipe,
            None => match line.split_once(';') {
                Some((head, recipe)) if head.contains(':') => recipe,
                _ => continue,
            },
        };
        sink.run_shell_text(&recipe.trim_start_matches(['@', '-', '+']).replace("$$", "$"));
    }
}

/// gdb commands.
pub fn scan_gdb(sink: &mut Sink, text: &str) {
    for line in text.lines() {
        let (name, rest) = line.trim().split_once(' ').unwrap_or((line.trim(), ""));
        match name {
            "shell" | "!" | "make" => sink.run_shell_text(rest),
            "platform" => sink.run_shell_text(rest.strip_prefix("shell ").unwrap_or_default()),
            "python" | "py" | "pi" | "script" => sink.scan(super::Lang::Python, rest),
            "source" | "so" => sink.emit_source(rest),
            "dump" | "generate-core-file" => sink.emit_hidden("a debugger command that writes"),
            "pipe" | "|" => sink.emit_hidden("a debugger command that executes"),
            "call" | "print" | "p" | "expr" | "expression" | "e" | "po" | "output" | "inspect"
                if rest.contains("system(") || rest.contains("exec") =>
            {
                sink.emit_hidden("a debugger command that executes")
            }
            _ if line.trim_start().starts_with('!') => sink.run_shell_text(&line.trim_start()[1..]),
            _ => {}
        }
    }
}

/// AppleScript and JavaScript for Automation.
pub fn scan_apple(sink: &mut Sink, text: &str) {
    let lower = text.to_ascii_lowercase();
    let mut rest = 0;
    const CALLS: &[&str] = &["do shell script", "doshellscript(", "$.system(", "$.popen("];
    while let Some((n, call)) = lower
        .get(rest..)
        .and_then(|text| CALLS.iter().filter_map(|call| Some((text.find(call)?, call))).min())
    {
        let at = rest + n;
        let line =
            call_arguments(text.get(at..).unwrap_or_default()).lines().next().unwrap_or_default();
        let tail = line.get(call.len()..).unwrap_or_default();
        let literal = tail
            .trim_start_matches(|c: char| c.is_alphabetic() || c == ' ' || c == '(')
            .starts_with(['"', '\'']);
        match string_literals(tail).first() {
            Some(text) if literal => sink.run_shell_text(&text.clone()),
            _ => sink.emit_hidden("shell text known only at run time"),
        }
        if line.contains(" & ") {
            sink.emit_hidden("shell text of which a part is known only at run time");
        }
        if line.to_ascii_lowercase().contains("administrator privileges") {
            sink.push(Word::Privilege);
        }
        rest = at + call.len();
    }
    if ACTING.iter().any(|words| lower.contains(words)) {
        sink.emit_hidden("a script that may execute or delete");
    }
}

/// Tcl and Expect, command by command.
pub fn scan_tcl(sink: &mut Sink, text: &str) {
    for command in text.split([';', '\n', '[', ']']) {
        let words = split_words(command);
        let word = |n: usize| words.get(n).map_or("", String::as_str);
        let values = |sink: &Sink, from: usize| -> Vec<Value> {
            words.iter().skip(from).map(|w| sink.text_value(w)).collect()
        };
        match word(0) {
            "exec" | "spawn" | "open" if word(0) != "open" => {
                let words = values(sink, 1);
                sink.next.push(Next::words(words));
            }
            "system" => sink.run_shell_text(&words[1..].join(" ")),
            "open" => match word(1).strip_prefix('|') {
                Some(shell) => sink.run_shell_text(shell),
                None => {
                    let write = word(2).contains(['w', 'a', '+']);
                    sink.emit_path(
                        if write { Word::Write } else { Word::Read },
                        word(1),
                        Extent::Exact,
                    );
                }
            },
            "file" => match word(1) {
                "delete" => {
                    for path in words.iter().skip(2).filter(|w| !w.starts_with('-')) {
                        sink.emit_path(Word::Delete, path, Extent::Tree);
                    }
                }
                "rename" | "copy" | "mkdir" | "link" | "attributes" => {
                    if let Some(last) = words.last() {
                        sink.emit_path(Word::Write, last, Extent::Exact);
                    }
                }
                _ => {}
            },
            "source" => sink.emit_source(word(1)),
            "eval" | "uplevel" | "subst" | "load" | "send" | "socket" | "interp" | "interact" => {
                sink.emit_hidden("a Tcl program that may execute")
            }
            _ if command.trim_start().starts_with('$') => {
                sink.emit_hidden("a Tcl program that may execute")
            }
            _ => {}
        }
    }
}

/// Does a program of jq or yq reach for more than its input?
pub fn reaches_out(text: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || "_$.".contains(c);
    let text = outside_strings(text);
    text.split(|c| !part(c)).any(|word| {
        let end = word.as_ptr() as usize - text.as_ptr() as usize + word.len();
        // `{env: 1}` is a key, `env/x.json` a file.
        let name = word.split_once('.').map_or(word, |(name, _)| name);
        REACHING.contains(&name) && !text[end..].trim_start().starts_with([':', '/'])
    })
}

/// A program of jq without its strings, but with what they interpolate: `"\\(env)"`.
fn outside_strings(text: &str) -> String {
    let mut bare = String::new();
    let mut outer = Vec::new();
    let (mut quoted, mut depth) = (false, 0_usize);
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            '"' => quoted = !quoted,
            '\\' if quoted => {
                if chars.next() == Some('(') {
                    outer.push(std::mem::take(&mut depth));
                    quoted = false;
                }
            }
            _ if quoted => continue,
            '(' => depth += 1,
            ')' if depth > 0 => depth -= 1,
            ')' if !outer.is_empty() => (depth, quoted) = (outer.pop().unwrap_or(0), true),
            _ => {
                bare.push(c);
                continue;
            }
        }
        bare.push(' ');
    }
    bare
}

#[cfg(test)]
mod tests {
    use super::reaches_out;

    #[test]
    fn jq_that_reaches_out() {
        for text in ["env", "$ENV.A", ".a|env", "{a:env}", "[env]", "\"\\(env.A)\"", "load(\"x\")"]
        {
            assert!(reaches_out(text), "{text}");
        }
        for text in
            [".env", ".a.env", "{env: 1}", ".[\"env\"]", "\"load\"", ".environment", "env/x.json"]
        {
            assert!(!reaches_out(text), "{text}");
        }
    }
}
