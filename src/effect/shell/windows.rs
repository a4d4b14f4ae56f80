//! Commands as they are spelt on Windows and in upper case.
//!
//! An agent's shell is bash on every system, and still models write for cmd.exe and PowerShell. A
//! program of Windows takes its words as they are written, backslashes included; a call that both
//! worlds understand has both readings. All of this only adds what a deny or an ask can see: such
//! a call is never genuine.

use shuck_ast::{SimpleCommand, Span};

use super::Walker;
use super::call::Start;
use super::frame::Frame;
use crate::effect::path::split;
use crate::effect::program::options::Parsed;
use crate::effect::program::{spelling, table};
use crate::effect::value::Value;
use crate::effect::windows;

/// Words by their place, as they are written: one of bash may be several of cmd.exe.
pub(super) type WindowsWords = Vec<(usize, Vec<String>)>;

/// What else a call may mean.
#[derive(Default)]
pub(super) struct Reading {
    /// It is this program, with these arguments.
    pub instead: Option<(String, Vec<Value>)>,
    /// It may as well be these commands.
    pub also: Vec<Vec<Value>>,
}

/// The words that stand in a word of the text, where the shell takes some of it away that Windows
/// does not: backslashes, `$env:NAME`.
pub(super) fn written_words(text: &str, value: &Value) -> Option<Vec<String>> {
    let scope = |at: usize| {
        let rest = text[at + 1..].trim_start_matches('{');
        rest.get(..4).is_some_and(|s| s.eq_ignore_ascii_case("env:"))
    };
    // Before anything else the shell joins the lines.
    let text = &text.replace("\\\n", "");
    let backslash = memchr::memchr(b'\\', text.as_bytes()).is_some();
    if !backslash && !memchr::memchr_iter(b'$', text.as_bytes()).any(scope) {
        return None;
    }
    let quoted = text.strip_prefix('$').unwrap_or(text).starts_with(['"', '\'']);
    if (quoted || !takes_away(text)) && value.text().is_some() {
        return None;
    }
    let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match quote {
            // `\"` of a text that is quoted once more.
            _ if c == '\\' && chars.peek() == Some(&'"') => {}
            Some(q) if c == q => quote = None,
            Some(_) => word.push(c),
            None if matches!(c, '"' | '\'') => quote = Some(c),
            None if c.is_whitespace() => {
                words.extend((!word.is_empty()).then(|| std::mem::take(&mut word)));
            }
            // An escaped end of the command is one.
            None if matches!(c, ';' | '&' | '|') => break,
            None => word.push(c),
        }
    }
    words.extend((!word.is_empty()).then_some(word));
    Some(words)
}

/// Does the shell make anything else of the text than what stands between its quotes, `+'...'`, `t='it'\''s'`?
fn takes_away(text: &str) -> bool {
    let (mut chars, mut within) = (text.chars(), false);
    while let Some(c) = chars.next() {
        match c {
            '\'' => within = !within,
            _ if within => {}
            '\\' if chars.next() == Some('\'') => {}
            '\\' | '$' | '"' => return true,
            _ => {}
        }
    }
    false
}

impl Walker<'_> {
    /// Every field of a command.
    pub(super) fn words_of(&mut self, simple: &SimpleCommand) -> Vec<Value> {
        self.words_written(simple).0
    }

    /// The same, and those that Windows reads in another way as they are written.
    pub(super) fn words_written(&mut self, simple: &SimpleCommand) -> (Vec<Value>, WindowsWords) {
        // `! ! x`: the parser takes the first one only.
        let words = std::iter::once(&simple.name).chain(&simple.args);
        let words = words
            .skip_while(|word| self.slice(word.span) == "!")
            .filter(|word| !self.is_descriptor_word(word))
            .collect::<Vec<_>>();
        let (mut values, mut raw) = (Vec::new(), Vec::new());
        for group in super::doubt::side_by_side(words.into_iter()) {
            let at = values.len();
            values.extend(self.expand_arguments(&group));
            if let [word] = group[..]
                && values.len() == at + 1
                && let Some(text) = written_words(self.slice(word.span), &values[at])
            {
                raw.push((at, text));
            }
        }
        (values, raw)
    }

    /// How Windows, or a file system without letter case, reads a call.
    pub(super) fn on_windows(
        &self,
        words: &[Value],
        written: &WindowsWords,
        parsed: &Parsed,
        dir: &str,
    ) -> Reading {
        let own = self.out.place.programs;
        let find = |name: &str| table::find_program(name, own);
        let home = &self.out.place.home;
        let word = words.first().map(Value::known_start).unwrap_or_default();
        let raw = |at: usize| written.iter().find(|(place, _)| *place == at).map(|(_, w)| &w[..]);
        // All arguments as they are written.
        let verbatim = || -> Vec<Value> {
            let args = words.iter().enumerate().skip(1);
            args.flat_map(|(at, word)| match raw(at) {
                Some(words) => words.iter().map(|w| Value::known(w, word.span.clone())).collect(),
                None => vec![word.clone()],
            })
            .collect()
        };
        // The paths of Windows among them in their one form, the others as the shell has them.
        let mixed = || -> Vec<Value> {
            let args = words.iter().enumerate().skip(1);
            args.flat_map(|(at, word)| match (raw(at), word.text()) {
                (Some(words), _) if words.iter().any(|w| is_path(w)) => words
                    .iter()
                    .map(|text| match text.split_once('=') {
                        Some((key, path)) if windows::is_path(path) => {
                            let value = windows::word_value(path, home, word.span.clone());
                            value.map(|path| format!("{key}={path}"))
                        }
                        _ => windows::word_value(text, home, word.span.clone()),
                    })
                    .collect(),
                (_, Some(text)) if text.starts_with('%') && windows::is_path(text) => {
                    vec![windows::word_value(text, home, word.span.clone())]
                }
                _ => vec![word.clone()],
            })
            .collect()
        };
        let taken = |name: &str, args: &[Value]| {
            find(name).map(|program| spelling::normalise_arguments(program, args, home, own))
        };
        let call = |name: &str, args: Vec<Value>| -> Vec<Value> {
            let span = words.first().map_or(0..0, |w| w.span.clone());
            std::iter::once(Value::known(name, span)).chain(args).collect()
        };
        // bash takes its backslashes away all the same: `delet\e`.
        let unescaped = |name: &str| {
            let registry = |w: &String| w.get(..2).is_some_and(|s| s.eq_ignore_ascii_case("hk"));
            let escaped = |w: &String| w.contains('\\') && !is_path(w) && !registry(w);
            let any = written.iter().any(|(at, words)| *at > 0 && words.iter().any(escaped));
            any.then(|| call(name, mixed()))
        };
        let mut reading = Reading::default();
        if parsed.windows {
            let name = split(word).1.to_string();
            reading.also.extend(unescaped(&name));
            reading.instead = taken(&name, &verbatim()).map(|args| (name, args));
            return reading;
        }
        let entry = parsed.program.is_some() || parsed.subs > 0;
        if !entry {
            let spelt = raw(0).and_then(|w| w.first()).map_or(word, String::as_str);
            let named = |word: &str| {
                let name = windows::program_name(word)?;
                find(&name).map(|program| (name, program))
            };
            // Escapes of bash are no directories.
            let (first, second) = if is_path(spelt) { (spelt, word) } else { (word, spelt) };
            if let Some((name, program)) = named(first).or_else(|| named(second)) {
                if program.windows {
                    reading.also.extend(unescaped(&name));
                    reading.instead = taken(&name, &verbatim()).map(|args| (name, args));
                    return reading;
                }
                let args = mixed();
                if spelt.bytes().any(|b| b.is_ascii_lowercase()) {
                    reading.also.push(call(&name, args));
                } else {
                    // `GIT BRANCH -D x`, `FIND . -DELETE`: nobody knows what the options were.
                    let some = args.iter().map(|a| fold_case(a, false)).collect();
                    let all = args.iter().map(|a| fold_case(a, true)).collect();
                    reading.also.push(call(&name, some));
                    reading.also.push(call(&name, all));
                    reading.also.dedup();
                }
                return reading;
            }
            // `rd/s/q`, `cmd/c`: switches need no blank before them.
            if !dir.is_empty()
                && let Some((head, switches)) = word.split_once('/')
                && !head.is_empty()
                && !head.starts_with(['.', '~', '$'])
            {
                let name = windows::program_name(head).unwrap_or_else(|| head.to_string());
                if find(&name).is_some_and(|p| p.windows || !p.on_windows.is_empty()) {
                    let span = words.first().map_or(0..0, |w| w.span.clone());
                    let mut args = vec![Value::known(format!("/{switches}"), span)];
                    args.extend(verbatim());
                    reading.also.push(call(&name, args));
                }
            }
        }
        // `type server.pem`: no program has such a name.
        let named = |value: &Value| {
            value.plain_text().and_then(|t| t.rsplit_once('.')).is_some_and(|(stem, end)| {
                let letter = |c: char| c.is_ascii_alphanumeric();
                !stem.starts_with('-') && (1..=10).contains(&end.len()) && end.chars().all(letter)
            })
        };
        let shows_file = || split(word).1 == "type" && words.iter().skip(1).any(named);
        let told = parsed
            .program
            .filter(|p| !p.on_windows.is_empty())
            .filter(|p| spelling::is_told(p, &words[1..]) || written_path(written) || shows_file());
        if let Some(program) = told {
            reading.also.extend(unescaped(program.on_windows));
            reading.also.push(call(program.on_windows, verbatim()));
        }
        if written_path(written) || words.iter().skip(1).any(is_variable_path) {
            reading.also.push(call(word, mixed()));
        }
        reading
    }

    /// `IEX (New-Object ...).Method(...)`: what stands behind a cmdlet in brackets is PowerShell,
    /// whatever the shell makes of it.
    pub(super) fn walk_brackets(&mut self, first: Span, last: Span) {
        let rest = self.frame.source.get(last.end.offset()..).unwrap_or_default();
        if !rest.trim_start_matches([' ', '\t']).starts_with('(') {
            return;
        }
        let name = self.slice(first);
        let name = windows::program_name(name).unwrap_or_else(|| name.to_string());
        let cmdlet = table::find_program(&name, self.out.place.programs).is_some_and(|p| p.windows);
        let Some(index) = self.out.command.filter(|_| cmdlet) else { return };
        let text = self.frame.source.get(first.start.offset()..).unwrap_or_default();
        let line = text.lines().next().unwrap_or_default().to_string();
        let span = self.source_range(first).start..self.source_range(last).end;
        self.out.emit_unknown("PowerShell where a shell reads", span.clone());
        self.run_inline(table::Language::PowerShell, &Value::known(line, span), index);
    }

    /// Walks what a call may mean as well.
    pub(super) fn walk_other_readings(&mut self, readings: Vec<Vec<Value>>, index: usize) {
        for words in readings {
            if self.room.stopped {
                return;
            }
            let mark = self.state.mark();
            let enter = |frame: &mut Frame| {
                frame.parent = Some(index);
                frame.computed = true;
            };
            // Never genuine.
            let start = Start { marked: true, external: true, ..Start::default() };
            self.in_frame(enter, |w| w.call_words(&words, start));
            self.state.rollback(mark);
        }
    }
}

/// A path of Windows, maybe behind `key=`.
fn is_path(text: &str) -> bool {
    windows::is_path(text) || text.split_once('=').is_some_and(|(_, value)| windows::is_path(value))
}

fn written_path(written: &WindowsWords) -> bool {
    written.iter().any(|(at, words)| *at > 0 && words.iter().any(|word| is_path(word)))
}

/// `%USERPROFILE%\x`
fn is_variable_path(value: &Value) -> bool {
    value.text().is_some_and(|t| t.starts_with('%') && windows::is_path(t))
}

/// A word without its letter case; what begins with one dash only if `all`.
fn fold_case(value: &Value, all: bool) -> Value {
    let short = value.known_start().starts_with('-') && !value.known_start().starts_with("--");
    if all || !short { value.map(str::to_ascii_lowercase) } else { value.clone() }
}
