//! What a command runs in turn: wrapped commands, shell text, scripts, standard input.

use std::rc::Rc;

use super::state::{Held, Key};
use super::{Feed, Walker};
use crate::effect::program::{Feeds, Next, code};
use crate::effect::value::{Spot, Value};
use crate::effect::{Extent, Grade, Source, Word};

/// How deep wrappers stand in wrappers.
const MAX_WRAPPERS: usize = 24;
/// How many words xargs is given at most.
const MAX_ITEMS: usize = 500;

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
                    self.overridden(&key);
                    marked |= self.mark_assignment(&key, value, first.span.clone(), false);
                }
                if marked {
                    self.out.analysis.commands[index].neutral_wrapper = false;
                    self.out.analysis.commands[index].transparent = false;
                }
                if words.is_empty() {
                    return;
                }
                let batches = match feeds {
                    Feeds::Nothing => vec![words],
                    _ => self.batches(words, feeds, index),
                };
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
                for words in batches {
                    self.external = true;
                    self.call(&words, marked);
                    self.external = false;
                }
                if !matches!(name.as_deref(), Some("command" | "builtin")) {
                    // `command cd x` goes there as well; no other wrapper changes this shell.
                    self.state.rollback(mark);
                }
                self.parent = outer;
            }
            Next::Script { text, rest } => self.script(&text, rest, index),
            Next::Stdin { lang, words } => self.stdin(lang, index, words),
            Next::File { lang, words } => {
                if let Some(file) = words.first().cloned() {
                    self.file(&file, lang, index, words);
                }
            }
        }
    }

    /// The commands that xargs makes of standard input.
    fn batches(&mut self, words: Vec<Value>, feeds: Feeds, index: usize) -> Vec<Vec<Value>> {
        let span = self.out.analysis.commands[index].span.clone();
        let with = |more: Vec<Value>| words.iter().cloned().chain(more).collect::<Vec<_>>();
        match (self.feed.clone(), feeds) {
            (Feed::Text(text), Feeds::Blanks { most })
                if !text.contains(['\'', '"', '\\'])
                    && text.split_whitespace().count() <= MAX_ITEMS =>
            {
                let items: Vec<Value> =
                    text.split_whitespace().map(|w| Value::known(w, span.clone())).collect();
                let most = if most == 0 { MAX_ITEMS } else { most };
                if items.is_empty() {
                    return vec![words];
                }
                items.chunks(most).map(|chunk| with(chunk.to_vec())).collect()
            }
            (Feed::Rooted(value), Feeds::Blanks { .. } | Feeds::Items) => vec![with(vec![value])],
            _ => vec![with(vec![Value::unknown(span)])],
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
        for (text, index, cwd) in std::mem::take(&mut self.traps) {
            if text.start().contains('$') || cwd != self.cwd() {
                self.script(&text, Vec::new(), index);
            }
        }
        self.traps.clear();
    }

    /// Runs something as a new shell sees it.
    pub(super) fn child(&mut self, positional: Vec<Value>, run: impl FnOnce(&mut Self)) {
        let child = self.state.child();
        let state = std::mem::replace(&mut self.state, child);
        self.set_positional(Some(Rc::new(positional)));
        let calls = std::mem::take(&mut self.calls);
        run(self);
        self.calls = calls;
        self.state = state;
    }

    /// An interpreter that reads its program from standard input.
    pub(super) fn stdin(&mut self, lang: &'static str, index: usize, words: Vec<Value>) {
        self.out.command = Some(index);
        let span = self.out.analysis.commands[index].span.clone();
        match self.feed.clone() {
            Feed::None => {}
            Feed::Text(text) if lang == "shell" => {
                let outer = std::mem::replace(&mut self.feed, Feed::None);
                self.child(words, |w| w.nested(&text, span, Some(index)));
                self.feed = outer;
            }
            Feed::Text(text) => {
                let value = Value::known(text, span);
                code::emit(&mut self.out, lang, &value, &mut Vec::new());
            }
            Feed::File(file) => self.file(&file, lang, index, words),
            Feed::Rooted(_) | Feed::Stream => {
                self.out.push(Word::PipeToInterpreter, Grade::Certain, Source::Program, span);
            }
        }
    }

    /// A script file runs with these words from `$0` on: opaque, unless the call itself wrote it.
    pub(super) fn file(&mut self, file: &Value, lang: &str, index: usize, words: Vec<Value>) {
        let program = lang.is_empty();
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
                self.stdin(if lang == "shell" { "shell" } else { "script" }, index, words);
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
                            // Words behind the name stand for `$1` ... while it runs.
                            let outer = self.positional();
                            let own = words.len() > 1;
                            if own {
                                self.set_positional(Some(Rc::new(words)));
                            }
                            self.nested(&text, file.span.clone(), Some(index));
                            if own {
                                self.set_positional(outer);
                            }
                        } else {
                            self.child(words, |w| {
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
