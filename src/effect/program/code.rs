//! Inline programs: `python -c`, `node -e`, `awk`, `sed`, SQL, editors' commands.
//!
//! The general languages share a tokenizer (`lex`), a walk over the tokens (`scan`) and one
//! table of what functions do (`rows`). A program of which every call is known has its effects and no
//! more; what hides what it does is an execution that nobody understands. A call that no row speaks of
//! runs the project's own code, as `pytest` does.

mod apply;
mod awk;
mod generic;
mod lex;
mod plain;
mod rows;
mod scan;
mod sed;
mod sftp;
mod small;
mod sql;
mod val;

use std::ops::Range;

use self::lex::Lang;
use self::scan::Scan;
use self::small::Sink;
use super::call::Next;
use super::guess;
use super::table::{self, Language};
use crate::effect::emitter::{Emitter, ScriptFile};
use crate::effect::value::{BLANK, Value};
use crate::effect::{Grade, Source, Word};
use crate::glob::SOME_NUMBER;
use crate::names::generic::ENDLESS;

pub use sftp::emit_transfer;
pub use small::{lists_here, passes_objects, unread_powershell};
pub use sql::{emit_embedded, emit_redis};

/// The effects of an inline program; what it runs in turn is put into `next`.
pub fn emit_inline(out: &mut Emitter, lang: Language, value: &Value, next: &mut Vec<Next>) {
    emit_program(out, lang, value, next);
    out.arguments.clear();
    (out.bare, out.script) = (false, ScriptFile::Inline);
}

fn emit_program(out: &mut Emitter, lang: Language, value: &Value, next: &mut Vec<Next>) {
    let span = value.span.clone();
    if value.is_fed_where(|text| is_read_as_code(lang, text)) {
        out.push(Word::Code, Grade::Certain, Source::Code, span.clone());
        out.push(Word::PipeToInterpreter, Grade::Certain, Source::Program, span);
        return;
    }
    if lang == Language::Jq {
        return filter(out, value);
    }
    let filled = filled(out, lang, value);
    let Some(text) = filled.as_ref().unwrap_or(value).text() else {
        out.push(Word::Code, Grade::Certain, Source::Code, span.clone());
        out.emit_unknown("an inline program that is known only at run time", span);
        return;
    };
    let home = out.cwd.clone();
    let (effects, runs) = (out.analysis.effects.len(), next.len());
    known(out, lang, text, &span, next);
    if let Some(shell) = (lang == Language::Python).then(|| shell_lines(text)).flatten() {
        next.push(Next::Script { text: Value::known(shell, span.clone()), rest: Vec::new() });
    }
    if GENERAL.iter().any(|(own, _)| *own == lang) {
        let made = effects..out.analysis.effects.len();
        if !made.is_empty() {
            out.programs.push((made, text.to_string()));
        }
    }
    // sed and awk are code only where their program runs something.
    let told = out.analysis.effects[effects..].iter().any(|e| e.word == Word::Code);
    if next.len() > runs && !told {
        out.push(Word::Code, Grade::Certain, Source::Code, span);
    }
    out.cwd = home;
}

/// The lines of IPython that are the shell's: `!rm x`, `%rm x`, `x = !ls`, and all that follows `%%bash`. In Python no line begins so.
fn shell_lines(text: &str) -> Option<String> {
    if let Some(script) = text.trim_start().strip_prefix("%%") {
        let (magic, script) = script.split_once('\n')?;
        let is_shell = ["bash", "sh", "script", "system", "sx", "!"];
        return is_shell.iter().any(|one| magic.starts_with(one)).then(|| script.to_string());
    }
    let of_shell = |line: &'_ str| {
        let line = line.trim_start();
        let assigned = line.split_once("= !").map(|(_, shell)| shell);
        // `!= x` and `% (x)` go on with an expression.
        let magic = line.strip_prefix('%').filter(|rest| rest.starts_with(char::is_alphabetic));
        let bang = line.strip_prefix('!').filter(|rest| !rest.starts_with('='));
        let bare = magic.or(bang).or(assigned)?.trim_start_matches('!');
        let bare = bare.strip_prefix("system ").or(bare.strip_prefix("sx ")).unwrap_or(bare);
        Some(bare.to_string())
    };
    let lines: Vec<String> = text.lines().filter_map(of_shell).collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

/// Is what stands in one of the gaps read as code? In a statement that somebody wrote it is only a part (`where id = '$ID'`).
fn is_read_as_code(lang: Language, outline: &str) -> bool {
    let begins = |one: &str| one.trim_start_matches([' ', '\t']).starts_with(BLANK);
    match lang {
        Language::Sql | Language::Awk | Language::Jq => outline.split([';', '\n']).any(begins),
        Language::Sed => {
            outline.split([';', '\n']).any(|one| begins(one) || flags_of(one).contains(BLANK))
        }
        _ => has_bare_blank(outline),
    }
}

/// What stands where the flags of sed's `s/a/b/` do: one of them runs what it made.
fn flags_of(command: &str) -> &str {
    let bytes = command.as_bytes();
    let substitutes = |pair: &[u8]| pair[0] == b's' && pair[1].is_ascii_punctuation();
    let Some(at) = bytes.windows(2).position(substitutes) else { return "" };
    let mark = bytes[at + 1];
    let ends = |at: &usize| bytes[*at] == mark && bytes[*at - 1] != b'\\';
    (at + 2..bytes.len()).filter(ends).nth(1).map_or("", |end| &command[end + 1..])
}

/// Does one of an outline's gaps stand outside of quotes?
fn has_bare_blank(outline: &str) -> bool {
    let (mut open, mut escaped) = (None, false);
    outline.chars().any(|c| {
        match (c, open) {
            (BLANK, None) => return true,
            _ if escaped => escaped = false,
            ('\\', _) => escaped = true,
            (quote, Some(own)) if quote == own => open = None,
            ('"' | '\'' | '`', None) => open = Some(c),
            _ => {}
        }
        false
    })
}

/// `s/a/b/` of Perl, with flags that run nothing and marks that stand nowhere else.
fn substitutes(text: &str) -> bool {
    let text = text.trim_end_matches(';');
    let Some(mark) = text.strip_prefix('s').and_then(|rest| rest.chars().next()) else {
        return false;
    };
    let parts: Vec<&str> = text[1..].split(mark).collect();
    let flags = |flags: &&str| flags.chars().all(|c| "gimsx".contains(c));
    "/#|,!".contains(mark) && parts.len() == 4 && parts.last().is_some_and(flags)
}

/// A program of jq: code only where it reaches for more than its input.
fn filter(out: &mut Emitter, value: &Value) {
    let grade = match value.text().or(value.outline()) {
        Some(text) if !small::reaches_out(text) => return,
        Some(_) => Grade::Certain,
        None => Grade::Possible,
    };
    out.push(Word::Code, grade, Source::Code, value.span.clone());
}

/// The text with something in its gaps, where that tells as much: what is there is read, and what the gaps add stays
/// possible.
fn filled(out: &mut Emitter, lang: Language, value: &Value) -> Option<Value> {
    let span = value.span.clone();
    let Some(text) = value.text() else {
        let outline = value.outline()?;
        if let Some((_, general)) = GENERAL.iter().find(|(own, _)| *own == lang) {
            // What ends no text in quotes is a part of that text.
            let inner = value.is_tame()
                && (*general == Lang::Perl && substitutes(outline) || !has_bare_blank(outline));
            let filled =
                || outline.replace(SOME_NUMBER, "1").replace(BLANK, &val::NAMED.to_string());
            return inner.then(|| Value::known(filled(), span));
        }
        let alone = matches!(lang, Language::Sed | Language::Awk | Language::Sql);
        if !alone || !outline.contains(|c: char| c.is_ascii_alphabetic()) {
            return None;
        }
        out.push(Word::Code, Grade::Possible, Source::Code, span.clone());
        return Some(Value::known(outline.replace(SOME_NUMBER, "1").replace(BLANK, "0"), span));
    };
    // `sed -n "$((N+1))p"`: any number does the same.
    (value.is_glob() && text.contains(SOME_NUMBER))
        .then(|| Value::known(text.replace(SOME_NUMBER, "1"), span))
}

/// The effects of a text that is known.
fn known(out: &mut Emitter, lang: Language, text: &str, span: &Range<usize>, next: &mut Vec<Next>) {
    match lang {
        Language::Sed => sed::emit(out, text, span, next),
        Language::Awk => awk::emit(out, text, span, next),
        Language::Sql => sql::emit(out, text, span, next),
        Language::Redis => {
            for line in text.lines() {
                let words = line.split_whitespace().map(|w| Value::known(w, span.clone()));
                sql::emit_redis(out, &words.collect::<Vec<_>>(), span);
            }
        }
        Language::Sftp => {
            for line in text.lines() {
                emit_transfer(out, &line.split_whitespace().collect::<Vec<_>>(), span, next);
            }
        }
        Language::Mongo => sql::emit_mongo(out, text, span),
        _ => {
            let general = GENERAL.iter().find(|(own, _)| *own == lang);
            let told = general.is_some_and(|(_, general)| plain::is_plain(*general, text))
                && !(lang == Language::Python && imports_own(out, text));
            let source = if told { Source::Plain } else { Source::Code };
            out.push(Word::Code, Grade::Certain, source, span.clone());
            coded(out, lang, text, span, next);
        }
    }
}

/// Does a module that the program may import lie where it is started? Python takes that one before its own.
fn imports_own(out: &mut Emitter, text: &str) -> bool {
    let named: Vec<&str> = plain::modules().filter(|module| text.contains(*module)).collect();
    lies_here(out, &named)
}

/// Does one of these modules of Python lie where it is started?
pub fn lies_here(out: &mut Emitter, modules: &[&str]) -> bool {
    let Some(cwd) = out.cwd.clone() else { return true };
    modules.iter().any(|module| {
        [".py", "/__init__.py", ".pyc", ".so", ".abi3.so", ".pyd"]
            .iter()
            .any(|end| out.resolver.exists(&format!("{cwd}/{module}{end}")))
    })
}

/// The languages in which every program is code.
fn coded(out: &mut Emitter, lang: Language, text: &str, span: &Range<usize>, next: &mut Vec<Next>) {
    if let Some((_, general)) = GENERAL.iter().find(|(own, _)| *own == lang) {
        return scan_text(*general, out, next, span, text);
    }
    match LINES.iter().find(|(own, _)| *own == lang) {
        Some((_, read)) => read(&mut Sink { out, next, span: span.clone() }, text),
        None => generic::emit(out, text, span, next),
    }
}

/// The languages that share a tokenizer.
const GENERAL: &[(Language, Lang)] = &[
    (Language::Python, Lang::Python),
    (Language::Node, Lang::Js),
    (Language::Perl, Lang::Perl),
    (Language::Ruby, Lang::Ruby),
    (Language::Php, Lang::Php),
    (Language::Lua, Lang::Lua),
    (Language::R, Lang::R),
];

/// What reads a text line by line, and puts what it finds into the sink.
type LineReader = fn(&mut Sink, &str);

/// Those that are read line by line.
const LINES: &[(Language, LineReader)] = &[
    (Language::Vim, small::scan_vim),
    (Language::Ed, small::scan_ed),
    (Language::Lisp, small::scan_lisp),
    (Language::Make, small::scan_make),
    (Language::Gdb, small::scan_gdb),
    (Language::AppleScript, small::scan_apple),
    (Language::PowerShell, small::scan_powershell),
    (Language::Cmd, small::scan_cmd),
    (Language::Tcl, small::scan_tcl),
];

/// `node -e "rm -rf /"`: a command of the shell where a program was wanted. No program of these
/// languages begins with two bare words, the second one an option.
fn shell_line(text: &str) -> bool {
    let bare = |c: char| c.is_ascii_alphanumeric() || "-_./~*&;|\n ".contains(c);
    let mut words = text.split_whitespace();
    let mut first = words.next().unwrap_or_default();
    while matches!(first, "sudo" | "env" | "nohup" | "exec") {
        first = words.next().unwrap_or_default();
    }
    text.chars().all(bare)
        && first.starts_with(|c: char| c.is_ascii_lowercase())
        && !matches!(first, "print" | "puts" | "return" | "echo" | "p" | "say" | "yield" | "not")
        && table::find_program(first, &[]).is_some()
        && words.any(|word| {
            let mut dash = word.trim_start_matches('-').chars();
            word.starts_with('-') && dash.next().is_some_and(|c| c.is_ascii_alphabetic())
        })
}

/// The effects of a text in one of the general languages.
fn scan_text(lang: Lang, out: &mut Emitter, next: &mut Vec<Next>, span: &Range<usize>, text: &str) {
    if shell_line(text) {
        out.emit_unknown("a shell command where a program was wanted", span.clone());
        next.push(Next::script(Value::known(text, span.clone())));
    }
    if lang == Lang::Python && text.contains(['!', '%']) {
        next.extend(guess::of_escapes(text, span));
    }
    Scan::new(lang, out, next, span.clone()).scan_program(text);
    if is_fork_bomb(text) {
        let words = vec![Value::known("fork-bomb", span.clone())];
        next.push(Next::words(words));
    }
}

/// Does a loop without end start itself again at every turn, and wait for nothing?
fn is_fork_bomb(text: &str) -> bool {
    if !text.contains("fork") || ["wait", "sleep", "exit", "break"].iter().any(|w| text.contains(w))
    {
        return false;
    }
    let bare: String = text.chars().filter(|c| !c.is_whitespace() && !"();".contains(*c)).collect();
    ENDLESS.iter().any(|endless| bare.contains(endless))
}

#[cfg(test)]
mod tests;
