//! What a command runs in turn: wrapped commands, shell text, scripts, standard input.

use std::ops::Range;
use std::rc::Rc;

use super::call::Start;
use super::frame::Frame;
use super::state::{StateKey, StateValue};
use super::word::quoted_atoms;
use super::{Feed, Trap, Walker};
use crate::effect::emitter::{ScriptFile, Spot};
use crate::effect::path::{is_rooted, join};
use crate::effect::program::table::{self, Language, Program, Special, mark};
use crate::effect::program::twins::note_file;
use crate::effect::program::{Next, Parsed, code, guess, options};
use crate::effect::value::{BLANK, Printer, Text, Value, any_blank};
use crate::effect::{Arg, Effect, Extent, Grade, Source, SubCommand, Word};
use crate::limits;

/// Is it worth to be told of what only may run?
fn does_harm(word: Word) -> bool {
    !matches!(word, Word::Execute | Word::Code | Word::Network | Word::Remote | Word::Read)
}

/// Does a program of that name read shell text?
pub fn is_shell(name: &str, own: &'static [Program]) -> bool {
    let special = table::find_program(name, own).and_then(|program| program.special);
    matches!(special, Some(Special::Shell | Special::Source))
}

/// Does a program of that name read items, which it hands on as words?
pub fn is_feeder(name: &str, own: &'static [Program]) -> bool {
    let special = table::find_program(name, own).and_then(|program| program.special);
    matches!(special, Some(Special::Xargs))
}

impl Walker<'_> {
    /// An unknown argument in a place where an option could stand, of a program that could do more
    /// with it.
    pub(super) fn words_of_options(&mut self, parsed: &Parsed, index: usize) {
        let grave = parsed.options.iter().any(|o| {
            o.spec.is_some_and(|s| s.marks & mark::UNSAFE != 0)
                && o.value.as_ref().is_some_and(|v| v.text().is_none())
        });
        // `-o Key::=COMMAND`, `--config key='COMMAND'`
        let text = |s: table::OptSpec| s.role == table::Role::Text && s.marks & mark::UNSAFE != 0;
        let told = |o: &&options::ParsedOption| parsed.program.is_some() && o.spec.is_none_or(text);
        let values = parsed.options.iter().filter(told).filter_map(|o| o.value.as_ref());
        let tried: Vec<Next> = values.flat_map(guess::of_setting).collect();
        tried.into_iter().for_each(|next| self.run_next(next, index, false));
        if grave {
            let span = self.out.analysis.commands[index].span.clone();
            self.out.command = Some(index);
            self.out
                .emit_unknown("an option that executes, with a value known only at run time", span);
        }
    }

    /// Runs what a program runs in turn.
    pub(super) fn run_next(&mut self, next: Next, index: usize, assigns: bool) {
        let feeds = matches!(next, Next::Words { feeds: true, .. } | Next::Each { .. });
        if feeds && let Some(items) = self.file_of_items(index) {
            return self.fed_with(items, |w| w.run_fed(next, index, assigns));
        }
        self.run_fed(next, index, assigns);
    }

    fn run_fed(&mut self, next: Next, index: usize, assigns: bool) {
        match next {
            Next::Maybe(next) => self.try_out(*next, index),
            Next::Words { words, cwd, feeds } => {
                let mut words = words;
                let mut marked = false;
                let mark = self.state.mark();
                while assigns
                    && let Some((key, rest)) =
                        words.first().and_then(|w| w.written_start().split_once('='))
                {
                    if key.is_empty()
                        || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b"_%".contains(&b))
                    {
                        break;
                    }
                    let (key, rest) = (key.to_string(), rest.to_string());
                    let first = words.remove(0);
                    let value = first.text().is_some().then_some(rest.as_str());
                    if !first.counts_once() {
                        // `env a=$b cmd`: the second word of `$b` is the program.
                        self.emit_uncovered(
                            "a value that may be several words",
                            first.span.clone(),
                        );
                    }
                    self.flow.keep(&key, first.secrets);
                    self.override_variable(&key);
                    self.put_into_environment(&key, value);
                    marked |= self.mark_assignment(&key, value, first.span.clone(), false);
                }
                if marked {
                    self.out.analysis.commands[index].neutral_wrapper = false;
                    self.out.analysis.commands[index].transparent = false;
                }
                if words.is_empty() {
                    // `make test PATH=.`: what it runs is not what its name says.
                    self.out.analysis.commands[index].genuine &= !marked;
                    self.state.rollback(mark);
                    return;
                }
                if feeds {
                    let made = |item: &Value| words.iter().chain([item]).cloned().collect();
                    self.items_as_text(made, false, index);
                }
                let mut batches = match feeds {
                    true => self.xargs_batches(words, index),
                    false => vec![words],
                };
                if feeds {
                    self.stain_items(batches.iter_mut().flatten());
                }
                let items = batches.iter().filter_map(|words| words.last()).filter(|_| feeds);
                if items.into_iter().any(|item| item.text().or(item.prefix()).is_none()) {
                    self.out.add_note("items known only at run time");
                }
                // Rows of wrappers hand on all the words that are left.
                self.room.take_steps(batches.iter().map(Vec::len).sum::<usize>() / 4);
                let mut up = 0;
                let mut at = Some(index);
                while let Some(i) = at {
                    up += 1;
                    at = self.out.analysis.commands.get(i).and_then(|c| c.parent);
                }
                if up > limits::WRAPPERS {
                    self.out.command = Some(index);
                    self.out.emit_unknown("wrappers nested too deep", 0..0);
                    return;
                }
                if let Some(cwd) = cwd {
                    let text = cwd.plain_text().and_then(|text| match is_rooted(text) {
                        true => Some(text.to_string()),
                        false => Some(join(&self.cwd()?, text)),
                    });
                    if text != self.cwd() {
                        self.state.set(StateKey::Cwd, Some(StateValue::Cwd(text)));
                    }
                }
                let name = self.out.analysis.commands.get(index).map(|c| c.name.clone());
                self.under_command(index, |w| {
                    for words in batches {
                        w.call_words(&words, Start { marked, external: true, ..Start::default() });
                    }
                });
                if !matches!(name.as_deref(), Some("command" | "builtin")) {
                    // `command cd x` goes there as well; no other wrapper changes this shell.
                    self.state.rollback(mark);
                }
            }
            Next::Each { words, token } => self.each_item(&words, token.as_deref(), index, assigns),
            Next::Script { text, rest } => self.run_script(&text, rest, index),
            Next::Fed { text } => {
                self.fed_with(Feed::Stream(Printer::Stranger), |w| {
                    w.run_script(&text, Vec::new(), index);
                });
            }
            Next::Stdin { lang } => {
                let words = self.handed_on(index, true);
                self.run_stdin(lang, index, words);
            }
            Next::File { file, lang } => {
                let words = self.handed_on(index, false);
                self.run_file(&file, lang, index, words);
            }
        }
    }

    /// Runs what may be no command at all: what comes of it is possible, and nothing is left where nothing does.
    pub(super) fn try_out(&mut self, next: Next, index: usize) {
        self.tried(|w| {
            w.in_frame(|frame| frame.computed = true, |w| w.run_next(next, index, false));
        });
        self.out.command = Some(index);
    }

    /// What a value that leads a program may be as a command: `MAKEFLAGS='--eval=$(shell rm -rf x)'`.
    pub(super) fn try_value(&mut self, value: &Value) {
        for next in guess::of_value(value) {
            if let Next::Maybe(next) = next
                && let Next::Script { text, .. } = *next
                && let Some(script) = text.text()
            {
                let span = text.span.clone();
                self.tried(|w| w.walk_nested(script, span, w.frame.parent));
            }
        }
    }

    /// What comes of it is possible at most; nothing else of it stays.
    fn tried(&mut self, run: impl FnOnce(&mut Self)) {
        let before = self.found_so_far();
        let (notes, names) = (self.out.analysis.notes.len(), self.out.analysis.environment.len());
        let (written, listed) = (self.out.written.clone(), self.listed.clone());
        let mark = self.state.mark();
        let mut traps = std::mem::take(&mut self.traps);
        run(self);
        // Its own end is the last that comes of it.
        self.run_traps();
        traps.append(&mut self.traps);
        self.traps = traps;
        self.state.rollback(mark);
        (self.out.written, self.listed) = (written, listed);
        if self.room.stopped {
            return;
        }
        let analysis = &mut self.out.analysis;
        let tried = analysis.effects.split_off(before.effects);
        analysis.notes.truncate(notes);
        analysis.environment.truncate(names);
        if !tried.iter().any(|effect| effect.grade != Grade::Unknown && does_harm(effect.word)) {
            return self.take_back(before);
        }
        let known = tried.into_iter().filter(|effect| effect.grade != Grade::Unknown);
        analysis.effects.extend(known.map(|effect| Effect { grade: Grade::Possible, ..effect }));
    }

    /// Runs what that command starts.
    pub(super) fn under_command<T>(&mut self, index: usize, run: impl FnOnce(&mut Self) -> T) -> T {
        self.in_frame(|frame| frame.parent = Some(index), run)
    }

    /// `$0`, `$1` ... of the script that a shell or `source` runs: its operands; behind standard
    /// input's name only the arguments are left.
    fn handed_on(&self, index: usize, stdin: bool) -> Vec<Value> {
        let Some(command) = self.out.analysis.commands.get(index) else { return Vec::new() };
        let programs = self.out.place.programs;
        let reads = is_shell(&command.name, programs)
            || table::has_class(&command.name, table::Class::Interpreter, programs);
        if !reads {
            return Vec::new();
        }
        let own = |at: &usize| {
            let Arg { text, glob, span, .. } = command.args[*at].clone();
            match text {
                Some(text) => Value::known(text, span).globbed(glob),
                None => Value { secrets: command.said.sent, ..Value::unknown(span) },
            }
        };
        let mut words: Vec<Value> = command.operands.iter().map(own).collect();
        let dash = words.first().and_then(Value::plain_text) == Some("-");
        if stdin && !dash {
            words.insert(0, Value::unknown(command.span.clone()));
        }
        words
    }

    /// `bash -c TEXT name args`, `eval TEXT`.
    pub(super) fn run_script(&mut self, text: &Value, rest: Vec<Value>, index: usize) {
        let name = self.out.analysis.commands.get(index).map(|c| c.name.clone());
        let eval = matches!(name.as_deref(), Some("eval" | "trap"));
        self.out.command = Some(index);
        if text.text().is_none() {
            let by = match text.is_fed()
                && !text.is_fed_where(|outline| any_blank(outline, is_command_place))
            {
                true => Printer::Nobody,
                false => text.by(),
            };
            self.emit_unread(by, false, eval, &text.span);
        }
        // Of what is not known what is written is looked at all the same.
        let written = |text: &&str| text.contains(|c: char| c.is_ascii_alphabetic());
        let Some(whole) = text.text().or_else(|| text.outline().filter(written)) else { return };
        let told = self.out.analysis.commands.get(index).map_or(0, |c| c.said.sent);
        let enter = |frame: &mut Frame| {
            // In zsh's reading of the call every text is zsh's: which shell a name stands for is not told.
            frame.zsh |= name.as_deref() == Some("zsh");
            frame.secrets |= text.secrets | told;
        };
        let inner = match name.as_deref() {
            Some("nu" | "elvish" | "xonsh") => bracketed(whole),
            _ => Vec::new(),
        };
        if inner.len() > limits::VALUES {
            self.emit_unseen("more commands in brackets than are followed", text.span.clone());
        }
        for part in inner.into_iter().take(limits::VALUES) {
            // What these shells put in brackets is a command as well.
            self.in_child_shell(Vec::new(), |w| {
                w.walk_nested(part, text.span.clone(), Some(index));
            });
        }
        self.in_frame(enter, |w| match eval {
            true => w.walk_nested(whole, text.span.clone(), Some(index)),
            false => {
                w.in_child_shell(rest, |w| w.walk_nested(whole, text.span.clone(), Some(index)))
            }
        });
    }

    /// Text runs that somebody prints; `piped` = into an interpreter, `own` = in this very shell.
    fn emit_unread(&mut self, by: Printer, piped: bool, own: bool, span: &Range<usize>) {
        let source = Source::Program;
        self.text_of_items |= !piped && matches!(by, Printer::Local | Printer::Nobody);
        match by {
            Printer::Settings | Printer::File => {
                self.out.push(Word::Code, Grade::Certain, source, span.clone());
            }
            Printer::Stranger => {
                self.out.push(Word::PipeToInterpreter, Grade::Certain, source, span.clone());
            }
            // In a script that is nothing that anybody has to be told of.
            Printer::Local | Printer::Nobody if piped && self.out.in_script => {}
            Printer::Local | Printer::Nobody if piped => {
                self.out.push(Word::PipeToInterpreter, Grade::Certain, source, span.clone());
            }
            Printer::Local => {
                self.out.push(Word::Code, Grade::Certain, source, span.clone());
                self.out.emit_unknown("what another program prints is run", span.clone());
            }
            Printer::Nobody => {
                self.out.emit_unknown("shell text known only at run time", span.clone())
            }
        }
        if own {
            match by {
                Printer::Settings => self.state.set(StateKey::Tainted, Some(StateValue::Set)),
                _ => self.state.forget_all(),
            }
        }
    }

    /// What `trap` was told runs at the end.
    pub(super) fn run_traps(&mut self) {
        for Trap { text, index, seen } in std::mem::take(&mut self.traps) {
            let args =
                self.out.analysis.commands.get(index).map(|c| &c.args[..]).unwrap_or_default();
            // These run between all commands, in whichever directory.
            let always = |a: &Arg| matches!(a.text.as_deref(), Some("DEBUG" | "ERR" | "RETURN"));
            let moves = |c: &SubCommand| matches!(c.name.as_str(), "cd" | "pushd" | "popd");
            let moved = args.iter().any(always) && self.out.analysis.commands.iter().any(moves);
            if moved {
                self.state.set(StateKey::Cwd, Some(StateValue::Cwd(None)));
            }
            let same = seen.is_some_and(|(cwd, mark)| {
                cwd == self.cwd() && mark.is_none_or(|mark| mark == self.state.mark())
            });
            if moved || !same {
                self.run_script(&text, Vec::new(), index);
            }
        }
        self.traps.clear();
    }

    /// Runs something as a new shell sees it.
    pub(super) fn in_child_shell(&mut self, positional: Vec<Value>, run: impl FnOnce(&mut Self)) {
        let child = self.state.child_state();
        let state = std::mem::replace(&mut self.state, child);
        self.set_positional(Some(Rc::new(positional)));
        self.in_frame(|frame| frame.calls.clear(), run);
        self.state = state;
    }

    /// An interpreter that reads its program from standard input.
    pub(super) fn run_stdin(&mut self, lang: Language, index: usize, words: Vec<Value>) {
        self.out.command = Some(index);
        let (own, span) = match self.out.analysis.commands.get(index) {
            Some(c) => (matches!(c.name.as_str(), "." | "source"), c.span.clone()),
            None => return,
        };
        if let Feed::Text(text) = &self.feed
            && lang == Language::Shell
            && ends_in_backslash(text)
        {
            // bash puts a byte of its own in place of what does not come.
            self.emit_uncovered("a line that goes on where the text ends", span.clone());
            self.out.command = Some(index);
        }
        let outer = std::mem::replace(&mut self.feed, Feed::None);
        let secrets = self.frame.secrets;
        self.frame.secrets |= self.flow.fed;
        let parallel = self.out.analysis.commands.get(index).is_some_and(|c| c.name == "parallel");
        match outer.clone() {
            // Its lines are commands that nobody has seen.
            Feed::None | Feed::File(_) | Feed::Lines(_) | Feed::Found(..) | Feed::Tree(_)
                if parallel =>
            {
                self.out.emit_unknown("commands that standard input names", span);
            }
            Feed::None => {}
            Feed::Text(text) if text.contains(BLANK) => {
                self.run_sketch(&text, lang, span, index, own);
            }
            Feed::Text(text) if lang == Language::Shell => {
                self.text_with(&text, span, index, own, words, None)
            }
            Feed::Text(text) => {
                self.out.bare = words.len() == 1;
                self.out.arguments = words.into_iter().skip(1).collect();
                self.out.input = None;
                self.run_inline(lang, &Value::known(text, span), index);
            }
            // A dump that is loaded is no program from who knows where.
            Feed::Stream(_) if loads_dumps(lang) => {
                let word = Word::Named("database.write");
                self.out.push(word, Grade::Possible, Source::Code, span);
                self.hold_unread(index);
            }
            Feed::File(file) => match self.out.locate_value(&file, Extent::Exact, false) {
                // `sh < /dev/null`
                Spot::Stream => {}
                Spot::Unknown => self.out.emit_unknown("a script known only at run time", span),
                Spot::At(target) => {
                    let text = self.out.written.get(&target.resolved).cloned();
                    if loads_dumps(lang) && text == Some(None) {
                        self.hold_unread(index);
                        self.load_dump(&target.resolved, span);
                    } else {
                        if !loads_dumps(lang) {
                            note_file(&mut self.out, std::slice::from_ref(&file));
                        }
                        self.run_content(text, &file, Some(lang), index, own, words);
                    }
                }
            },
            Feed::Stream(by) => {
                if parallel {
                    self.out.emit_unknown("commands that standard input names", span.clone());
                }
                self.emit_unread(by, true, own, &span);
            }
            Feed::Lines(_)
            | Feed::Found(..)
            | Feed::Whole(..)
            | Feed::Tree(_)
            | Feed::Here
            | Feed::Names
            | Feed::Words
            | Feed::Numbers
            | Feed::Columns(_) => {
                self.emit_unread(Printer::Local, true, own, &span);
            }
        }
        self.frame.secrets = secrets;
        self.feed = outer;
    }

    /// A database reads what this call has put into a file: a dump, or what was fetched.
    fn load_dump(&mut self, path: &str, span: Range<usize>) {
        let words = [("database.write", Grade::Possible), ("database.unread", Grade::Certain)];
        let effects = &self.out.analysis.effects;
        // What dumps the database of this machine says no host.
        let far = effects.iter().any(|e| e.word == Word::Network && e.host.is_some());
        let fetched = far && self.is_download(path, effects.len());
        for (word, grade) in &words[..1 + usize::from(fetched)] {
            self.out.push(Word::Named(word), *grade, Source::Code, span.clone());
        }
    }

    /// Shell text that runs with these words from `$0` on; `own` = in this very shell, `file` = it stands in that one.
    fn text_with(
        &mut self,
        text: &str,
        span: Range<usize>,
        index: usize,
        own: bool,
        words: Vec<Value>,
        file: Option<&str>,
    ) {
        let key = StateKey::Var("BASH_SOURCE".to_string());
        let name = file.map(|file| StateValue::Var(vec![vec![quoted_atoms(file)]]));
        if !own {
            return self.in_child_shell(words, |w| {
                w.state.set(key, name);
                w.walk_nested(text, span, Some(index));
            });
        }
        let outer = self.state.get(&key).cloned();
        self.state.set(key.clone(), name);
        // `source FILE a b`: its own words while it runs; without any it sees this shell's.
        match words.len() > 1 {
            true => self.with_positionals(words, |w| w.walk_nested(text, span, Some(index))),
            false => self.walk_nested(text, span, Some(index)),
        }
        self.state.set(key, outer);
    }

    /// A program's text of which parts are not known.
    fn run_sketch(
        &mut self,
        text: &str,
        lang: Language,
        span: Range<usize>,
        index: usize,
        own: bool,
    ) {
        let mut by = Value::outlined(text.to_string(), Printer::Nobody, span.clone());
        if let (Text::Unknown(unknown), Some(tame)) = (&mut by.text, &self.tame) {
            unknown.tame = tame == text;
        }
        if lang != Language::Shell {
            return self.run_inline(lang, &by, index);
        }
        self.emit_unread(Printer::Nobody, false, own, &span);
        if own {
            self.walk_nested(text, span, Some(index));
        } else {
            self.in_child_shell(Vec::new(), |w| w.walk_nested(text, span, Some(index)));
        }
    }

    /// What a client does with commands that nobody has read is told by none of its other effects.
    fn hold_unread(&mut self, index: usize) {
        self.out.analysis.commands[index].transparent = false;
    }

    /// A program text, and what it runs in turn.
    pub(super) fn run_inline(&mut self, lang: Language, value: &Value, index: usize) {
        let mut next = Vec::new();
        code::emit_inline(&mut self.out, lang, value, &mut next);
        self.fed_with(Feed::None, |w| {
            for next in next {
                if w.room.stopped {
                    break;
                }
                w.run_next(next, index, false);
            }
        });
    }

    /// A script file runs with these words from `$0` on: opaque, unless the call itself wrote it.
    pub(super) fn run_file(
        &mut self,
        file: &Value,
        lang: Option<Language>,
        index: usize,
        words: Vec<Value>,
    ) {
        let program = lang.is_none();
        let fed = lang.unwrap_or(Language::Shell);
        self.resume_command(index);
        let caller = self.out.analysis.commands.get(index).map(|c| c.name.clone());
        let own = matches!(caller.as_deref(), Some("." | "source"));
        if let Text::Pipe(at) = file.text {
            let feed = self.pipe_feed(at);
            return self.fed_with(feed, |w| w.run_stdin(fed, index, words));
        }
        if let Some(feed) = self.path_feed(file, &Feed::None).filter(|f| !matches!(f, Feed::None)) {
            return self.fed_with(feed, |w| w.run_stdin(fed, index, words));
        }
        // `source $(brew --prefix)/x.sh`: it only says where that file lies.
        let named = |text: &str| text.rsplit('/').next().is_some_and(|name| !name.contains(BLANK));
        if file.is_fed() && !file.outline().is_some_and(named) {
            self.emit_unread(Printer::Stranger, true, own, &file.span);
            return;
        }
        let source = if program { Source::Program } else { Source::Operand };
        match self.out.locate_value(file, Extent::Exact, false) {
            Spot::Stream if program => {}
            Spot::Stream
                if !matches!(file.plain_text(), Some("-" | "/dev/stdin" | "/dev/fd/0")) =>
            {
                self.emit_unread(Printer::Nobody, false, own, &file.span);
            }
            Spot::Stream => self.run_stdin(fed, index, words),
            Spot::Unknown if program && self.known_program(file).is_some() => {}
            Spot::Unknown => {
                self.out.emit_unknown("a script file known only at run time", file.span.clone());
                if own {
                    self.state.forget_all();
                }
            }
            // A link to standard input.
            Spot::At(target) if matches!(target.resolved.as_str(), "/dev/stdin" | "/dev/fd/0") => {
                self.run_stdin(fed, index, words);
            }
            Spot::At(target) => {
                let text = self.out.written.get(&target.resolved).cloned();
                let span = file.span.clone();
                // What lay there before is the project's own.
                let came = self.out.is_fetched(&target.resolved)
                    && !self.out.resolver.exists(&target.resolved)
                    || text.is_none() && self.is_carried(&target.resolved, index);
                if text.is_none() && came {
                    self.out.emit_unknown("a program that the call itself fetched", span.clone());
                }
                let from = self.out.analysis.effects.len();
                self.out.push_effect(Word::Read, Grade::Certain, Some(target), None, source, span);
                if !program {
                    self.out.code_from_elsewhere(from);
                }
                self.run_content(text, file, lang, index, own, words);
            }
        }
    }

    /// A script's text, if the call wrote the file; `Some(None)` = it did, with text nobody knows.
    fn run_content(
        &mut self,
        text: Option<Option<String>>,
        file: &Value,
        lang: Option<Language>,
        index: usize,
        own: bool,
        words: Vec<Value>,
    ) {
        let span = file.span.clone();
        // A file that runs itself is not followed again.
        let spot = self.out.locate_value(file, Extent::Exact, false);
        // Where a copy, a link or a new name stands, its own place may be another.
        let place = match &spot {
            Spot::At(target)
                if target.lexical == target.resolved
                    && target.extent == Extent::Exact
                    && !self.out.copies.contains_key(&target.resolved) =>
            {
                Some(target.resolved.clone())
            }
            _ => None,
        };
        let running = match (spot, &text) {
            (Spot::At(target), Some(Some(_))) => self.out.written.remove_entry(&target.resolved),
            _ => None,
        };
        let shell = |text: &str| {
            matches!(lang, None | Some(Language::Shell))
                && (!text.starts_with("#!")
                    || text.lines().next().is_some_and(|l| l.contains("sh")))
        };
        match text {
            Some(Some(text)) if text.contains(BLANK) => {
                let other = lang.unwrap_or(Language::Other);
                let lang = if shell(&text) { Language::Shell } else { other };
                self.run_sketch(&text, lang, span, index, own);
            }
            None => {
                if lang.is_some_and(loads_dumps) {
                    self.hold_unread(index);
                }
                self.lead_into(file, lang, index, own, words);
                if own {
                    // What a sourced file does to this shell nobody knows.
                    self.state.forget_all();
                }
            }
            Some(Some(text)) if shell(&text) => {
                let name = file.plain_text().filter(|_| place.is_some());
                self.text_with(&text, span, index, own, words, name);
            }
            Some(Some(text)) => {
                self.out.script = place.map_or(ScriptFile::Unknown, ScriptFile::At);
                self.out.bare = words.len() == 1;
                self.out.arguments = words.into_iter().skip(1).collect();
                self.run_inline(lang.unwrap_or(Language::Other), &Value::known(text, span), index);
            }
            Some(None) => self.emit_unread(Printer::Stranger, true, own, &span),
        }
        self.out.written.extend(running);
    }
}

/// Is it a language that dumps are written in?
fn loads_dumps(lang: Language) -> bool {
    matches!(lang, Language::Sql | Language::Redis | Language::Mongo)
}

/// What stands in brackets of the text: `(cmd)`, `![cmd]`; of brackets in brackets the inner ones too.
fn bracketed(text: &str) -> Vec<&str> {
    let inner = text.match_indices(['(', '[']).filter_map(|(at, open)| {
        let close = if open == "(" { ')' } else { ']' };
        text[at + 1..].split(close).next()
    });
    inner.filter(|part| part.contains(' ')).take(limits::VALUES + 1).collect()
}

/// Does the text end in a backslash that nothing takes away?
pub(super) fn ends_in_backslash(text: &str) -> bool {
    text.bytes().rev().take_while(|byte| *byte == b'\\').count() % 2 == 1
}

/// Would a command begin behind this text of a shell?
fn is_command_place(before: &str) -> bool {
    let before = before.trim_end_matches([' ', '\t', '"', '\'']);
    let word = before.rsplit(|c: char| !c.is_ascii_alphanumeric()).next();
    before.is_empty()
        || before.ends_with([';', '\n', '&', '|', '(', '{', '`', '!'])
        || word.is_some_and(|word| matches!(word, "do" | "then" | "else" | "exec" | "eval"))
}
