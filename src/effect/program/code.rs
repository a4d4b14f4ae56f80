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
use super::table::{self, Language};
use crate::effect::emitter::Emitter;
use crate::effect::value::{BLANK, Value};
use crate::effect::{Grade, Source, Word};

pub use sftp::transfer;
pub use small::{lists_here, passes_objects};
pub use sql::redis;

/// What a number known only at run time looks like in a value.
const NUMBER: &str = "[-0-9]*";

/// The effects of an inline program; what it runs in turn is put into `next`.
pub fn emit(out: &mut Emitter, lang: Language, value: &Value, next: &mut Vec<Next>) {
    let span = value.span.clone();
    if value.is_fed() {
        out.push(Word::Code, Grade::Certain, Source::Code, span.clone());
        out.push(Word::PipeToInterpreter, Grade::Certain, Source::Program, span);
        return;
    }
    if lang == Language::Jq {
        return match value.text().or(value.outline()) {
            Some(text) if !small::reaches_out(text) => {}
            Some(_) => out.push(Word::Code, Grade::Certain, Source::Code, span),
            None => out.push(Word::Code, Grade::Possible, Source::Code, span),
        };
    }
    // Text with gaps: what is there is read, and what the gaps add stays possible.
    let outline = value.outline().filter(|text| {
        matches!(lang, Language::Sed | Language::Awk | Language::Sql)
            && text.contains(|c: char| c.is_ascii_alphabetic())
    });
    if value.text().is_none()
        && let Some(outline) = outline
    {
        let filled = Value::known(outline.replace(BLANK, "0"), span.clone());
        out.push(Word::Code, Grade::Possible, Source::Code, span);
        return emit(out, lang, &filled, next);
    }
    if value.is_glob()
        && let Some(text) = value.text().filter(|text| text.contains(NUMBER))
    {
        // `sed -n "$((N+1))p"`: any number does the same.
        let filled = Value::known(text.replace(NUMBER, "1"), span);
        return emit(out, lang, &filled, next);
    }
    let Some(text) = value.text() else {
        out.push(Word::Code, Grade::Certain, Source::Code, span.clone());
        out.unknown("an inline program that is known only at run time", span);
        return;
    };
    let home = out.cwd.clone();
    let (effects, runs) = (out.analysis.effects.len(), next.len());
    match lang {
        Language::Sed => sed::emit(out, text, &span, next),
        Language::Awk => awk::emit(out, text, &span, next),
        Language::Sql => sql::emit(out, text, &span, next),
        Language::Redis => {
            for line in text.lines() {
                let words: Vec<Value> =
                    line.split_whitespace().map(|w| Value::known(w, span.clone())).collect();
                sql::redis(out, &words, &span);
            }
        }
        Language::Sftp => {
            for line in text.lines() {
                let words: Vec<&str> = line.split_whitespace().collect();
                transfer(out, &words, &span, next);
            }
        }
        Language::Mongo => sql::mongo(out, text, &span),
        _ => {
            out.push(Word::Code, Grade::Certain, Source::Code, span.clone());
            let general = match lang {
                Language::Python => Some(Lang::Python),
                Language::Node => Some(Lang::Js),
                Language::Perl => Some(Lang::Perl),
                Language::Ruby => Some(Lang::Ruby),
                Language::Php => Some(Lang::Php),
                Language::Lua => Some(Lang::Lua),
                Language::R => Some(Lang::R),
                _ => None,
            };
            if let Some(general) = general {
                scan_text(general, out, next, &span, text);
            } else {
                let mut sink = Sink { out: &mut *out, next, span: span.clone() };
                match lang {
                    Language::Vim => small::vim(&mut sink, text),
                    Language::Ed => small::ed(&mut sink, text),
                    Language::Lisp => small::lisp(&mut sink, text),
                    Language::Make => small::make(&mut sink, text),
                    Language::Gdb => small::gdb(&mut sink, text),
                    Language::AppleScript => small::apple(&mut sink, text),
                    Language::PowerShell => small::powershell(&mut sink, text),
                    Language::Cmd => small::cmd(&mut sink, text),
                    Language::Tcl => small::tcl(&mut sink, text),
                    _ => generic::emit(out, text, &span),
                }
            }
        }
    }
    // sed and awk are code only where their program runs something.
    let told = out.analysis.effects[effects..].iter().any(|e| e.word == Word::Code);
    if next.len() > runs && !told {
        out.push(Word::Code, Grade::Certain, Source::Code, span);
    }
    out.cwd = home;
}

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
        && table::program(first, &[]).is_some()
        && words.any(|word| {
            let mut dash = word.trim_start_matches('-').chars();
            word.starts_with('-') && dash.next().is_some_and(|c| c.is_ascii_alphabetic())
        })
}

/// The effects of a text in one of the general languages.
fn scan_text(lang: Lang, out: &mut Emitter, next: &mut Vec<Next>, span: &Range<usize>, text: &str) {
    if shell_line(text) {
        out.unknown("a shell command where a program was wanted", span.clone());
        next.push(Next::Script { text: Value::known(text, span.clone()), rest: Vec::new() });
    }
    Scan::new(lang, out, next, span.clone()).program(text);
    if forks(text) {
        let words = vec![Value::known("fork-bomb", span.clone())];
        next.push(Next::Words { words, cwd: None, feeds: false });
    }
}

/// Does a loop without end start itself again at every turn, and wait for nothing?
fn forks(text: &str) -> bool {
    if !text.contains("fork") || ["wait", "sleep", "exit", "break"].iter().any(|w| text.contains(w))
    {
        return false;
    }
    let bare: String = text.chars().filter(|c| !c.is_whitespace() && !"();".contains(*c)).collect();
    [
        "whileTrue:os.fork",
        "while1:os.fork",
        "forkwhile",
        "while1{fork",
        "whiletrue{pcntl_fork",
        "while1{pcntl_fork",
        "loop{fork",
        "loop{Process.fork",
        "loopdofork",
        "whiletruefork",
        "whiletruedofork",
    ]
    .iter()
    .any(|endless| bare.contains(endless))
}

#[cfg(test)]
mod tests;
