//! What a command runs in turn: wrapped commands, shell text, scripts, standard input.

use std::rc::Rc;

use super::state::{Held, Key};
use super::{Feed, Walker};
use crate::effect::program::{Next, code};
use crate::effect::value::{Spot, Value};
use crate::effect::{Extent, Grade, Source, Word};

/// How deep wrappers stand in wrappers.
const MAX_WRAPPERS: usize = 24;

impl Walker<'_> {
    /// Runs what a program runs in turn.
    pub(super) fn next(&mut self, next: Next, index: usize, assigns: bool) {
        match next {
            Next::Words { words, cwd, feeds } => {
                let mut words = words;
                let mut marked = false;
                while assigns
                    && let Some((key, rest)) = words.first().and_then(|w| w.start().split_once('='))
                {
                    if key.is_empty()
                        || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                    {
                        break;
                    }
                    let (key, rest) = (key.to_string(), rest.to_string());
                    let first = words.remove(0);
                    let value = first.text.is_some().then_some(rest.as_str());
                    marked |= self.mark_assignment(&key, value, first.span.clone(), false);
                }
                if marked {
                    self.out.analysis.commands[index].neutral_wrapper = false;
                    self.out.analysis.commands[index].transparent = false;
                }
                if words.is_empty() {
                    return;
                }
                if feeds {
                    match self.feed.clone() {
                        Feed::Text(text) => {
                            let span = self.out.analysis.commands[index].span.clone();
                            words.extend(
                                text.split_whitespace()
                                    .take(500)
                                    .map(|w| Value::known(w, span.clone())),
                            );
                        }
                        Feed::Rooted(value) => words.push(value),
                        _ => words
                            .push(Value::unknown(self.out.analysis.commands[index].span.clone())),
                    }
                }
                let mut up = 0;
                let mut at = Some(index);
                while let Some(i) = at {
                    up += 1;
                    at = self.out.analysis.commands.get(i).and_then(|c| c.parent);
                }
                if up > MAX_WRAPPERS {
                    self.out.command = Some(index);
                    self.out.unknown("wrappers nested too deep", 0..0);
                    return;
                }
                let outer = self.parent.replace(index);
                let mark = self.state.mark();
                if let Some(cwd) = cwd {
                    let text = cwd.plain().map(str::to_string);
                    if text != self.cwd() {
                        self.state.set(Key::Cwd, Some(Held::Cwd(text)));
                    }
                }
                let name = self.out.analysis.commands.get(index).map(|c| c.name.clone());
                self.external = true;
                self.call(&words, marked);
                self.external = false;
                if !matches!(name.as_deref(), Some("command" | "builtin")) {
                    // `command cd x` goes there as well; no other wrapper changes this shell.
                    self.state.rollback(mark);
                }
                self.parent = outer;
            }
            Next::Script { text, rest } => self.script(&text, rest, index),
            Next::Fed { text } => {
                let outer = std::mem::replace(&mut self.feed, Feed::Stream);
                self.script(&text, Vec::new(), index);
                self.feed = outer;
            }
            Next::Stdin { lang } => self.stdin(lang, index),
            Next::File { file, lang } => self.file(&file, lang, index, false),
        }
    }

    /// `bash -c TEXT name args`, `eval TEXT`.
    pub(super) fn script(&mut self, text: &Value, rest: Vec<Value>, index: usize) {
        let eval = self
            .out
            .analysis
            .commands
            .get(index)
            .is_some_and(|c| matches!(c.name.as_str(), "eval" | "trap"));
        self.out.command = Some(index);
        let Some(known) = text
            .plain()
            .map(str::to_string)
            .or_else(|| text.glob.then(|| text.text.clone()).flatten())
        else {
            if text.fed {
                self.out.push(
                    Word::PipeToInterpreter,
                    Grade::Certain,
                    Source::Program,
                    text.span.clone(),
                );
            } else {
                self.out.unknown("shell text known only at run time", text.span.clone());
            }
            return;
        };
        if eval {
            self.nested(&known, text.span.clone(), Some(index));
            return;
        }
        self.child(rest, |w| w.nested(&known, text.span.clone(), Some(index)));
    }

    /// What `trap` was told runs at the end.
    pub(super) fn traps(&mut self) {
        for (text, index) in std::mem::take(&mut self.traps) {
            self.script(&text, Vec::new(), index);
        }
        self.traps.clear();
    }

    /// Runs something as a new shell sees it.
    pub(super) fn child(&mut self, positional: Vec<Value>, run: impl FnOnce(&mut Self)) {
        let child = self.state.child();
        let state = std::mem::replace(&mut self.state, child);
        let outer = self.positional.replace(Rc::new(positional));
        let calls = std::mem::take(&mut self.calls);
        run(self);
        self.calls = calls;
        self.positional = outer;
        self.state = state;
    }

    /// An interpreter that reads its program from standard input.
    pub(super) fn stdin(&mut self, lang: &'static str, index: usize) {
        self.out.command = Some(index);
        let span = self.out.analysis.commands[index].span.clone();
        match self.feed.clone() {
            Feed::None => {}
            Feed::Text(text) if lang == "shell" => {
                let outer = std::mem::replace(&mut self.feed, Feed::None);
                self.child(Vec::new(), |w| w.nested(&text, span, Some(index)));
                self.feed = outer;
            }
            Feed::Text(text) => {
                let value = Value::known(text, span);
                code::emit(&mut self.out, lang, &value, &mut Vec::new());
            }
            Feed::File(file) => self.file(&file, lang, index, false),
            // A dump that is loaded is no program from who knows where.
            Feed::Rooted(_) | Feed::Stream if matches!(lang, "sql" | "redis" | "mongo") => {
                let word = Word::Named("database.write");
                self.out.push(word, Grade::Possible, Source::Program, span);
            }
            Feed::Rooted(_) | Feed::Stream => {
                self.out.push(Word::PipeToInterpreter, Grade::Certain, Source::Program, span);
            }
        }
    }

    /// A script file runs: opaque, unless the call itself wrote it.
    pub(super) fn file(&mut self, file: &Value, lang: &str, index: usize, program: bool) {
        self.out.command = Some(index);
        self.out.cwd = self.cwd();
        let caller = self.out.analysis.commands.get(index).map(|c| c.name.clone());
        let sourced = matches!(caller.as_deref(), Some("." | "source"));
        if sourced && (file.pipe || file.fed) {
            self.state.forget_all();
        }
        if file.pipe || file.fed {
            self.out.push(
                Word::PipeToInterpreter,
                Grade::Certain,
                Source::Program,
                file.span.clone(),
            );
            return;
        }
        let source = if program { Source::Program } else { Source::Operand };
        let spot = self.out.spot(file, Extent::Exact, false);
        match spot {
            Spot::Stream => {
                if lang.is_empty() {
                    return;
                }
                self.stdin(if lang == "shell" { "shell" } else { "script" }, index);
            }
            Spot::Unknown => {
                self.out.unknown("a script file known only at run time", file.span.clone())
            }
            Spot::At(target) => {
                let written = self.out.written.get(&target.resolved).cloned();
                self.out.effect(
                    Word::Read,
                    Grade::Certain,
                    Some(target),
                    None,
                    source,
                    file.span.clone(),
                );
                match written {
                    // What a sourced file does to this shell nobody knows.
                    None if sourced => self.state.forget_all(),
                    None => {}
                    Some(Some(text))
                        if matches!(lang, "shell" | "")
                            && (!text.starts_with("#!")
                                || text.lines().next().is_some_and(|l| l.contains("sh"))) =>
                    {
                        if sourced {
                            self.nested(&text, file.span.clone(), Some(index));
                        } else {
                            self.child(Vec::new(), |w| {
                                w.nested(&text, file.span.clone(), Some(index));
                            });
                        }
                    }
                    Some(Some(text)) => {
                        let value = Value::known(text, file.span.clone());
                        code::emit(
                            &mut self.out,
                            if lang.is_empty() { "script" } else { lang },
                            &value,
                            &mut Vec::new(),
                        );
                    }
                    Some(None) => {
                        self.out.push(
                            Word::PipeToInterpreter,
                            Grade::Certain,
                            Source::Program,
                            file.span.clone(),
                        );
                    }
                }
            }
        }
    }
}
