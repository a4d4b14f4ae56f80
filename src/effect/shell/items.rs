//! xargs and parallel: the commands that they make of the items on standard input.

use std::ops::Range;

use super::frame::Frame;
use super::nested::is_shell;
use super::produce::known_line;
use super::{Feed, Walker, word};
use crate::effect::program::{self, Next, special};
use crate::effect::value::{Printer, Value};
use crate::limits::{self, Cap};

impl Walker<'_> {
    /// `xargs -a FILE`: what that file holds takes the place of standard input.
    pub(super) fn file_of_items(&mut self, index: usize) -> Option<Feed> {
        let command = self.out.analysis.commands.get(index).filter(|c| c.name == "xargs")?;
        let option =
            command.options.iter().find(|o| o.name == "-a" || o.aliases.contains(&"-a"))?;
        let file = match option.value.as_ref().and_then(|value| value.text.clone()) {
            Some(text) => Value::known(text, command.span.clone()),
            None => Value::unknown(command.span.clone()),
        };
        self.file_text(&file)
    }

    /// The commands that xargs makes of standard input.
    pub(super) fn xargs_batches(&mut self, words: Vec<Value>, index: usize) -> Vec<Vec<Value>> {
        let command = &self.out.analysis.commands[index];
        let span = command.span.clone();
        let option = |names: &[&str]| {
            command
                .options
                .iter()
                .find(|o| names.iter().any(|n| o.aliases.contains(n) || o.name == *n))
        };
        let whole = option(&["-l", "-E", "-e", "-s", "-d"]).is_some();
        let zero = option(&["-0"]).is_some();
        let lines = option(&["-L"]).is_some();
        let most = option(&["-n", "-L"]).map(|o| {
            o.value.as_ref().and_then(|v| v.text.as_deref()).and_then(|t| t.parse::<usize>().ok())
        });
        let with = |more: &[Value]| words.iter().chain(more).cloned().collect::<Vec<_>>();
        // xargs has quotes of its own.
        let known = match &self.feed {
            Feed::Text(text) if zero => !text.trim_end().contains(char::is_whitespace),
            // A blank at the end of a line goes on in the next one.
            Feed::Text(text) if lines && text.contains(" \n") => false,
            Feed::Text(text) => !text.contains(['\'', '"', '\\']),
            _ => true,
        };
        if !known || whole || most == Some(None) {
            return vec![with(&[Value::unknown(span)])];
        }
        if let (Feed::Text(text), true, Some(Some(most))) = (&self.feed, lines, most) {
            let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
            let words = |l: &&str| {
                l.split_whitespace().map(|w| Value::known(w, span.clone())).collect::<Vec<_>>()
            };
            return Cap::Fed
                .first_admitted(&lines)
                .chunks(most.max(1))
                .map(|chunk| with(&chunk.iter().flat_map(words).collect::<Vec<_>>()))
                .collect();
        }
        let mut items = self.input_items(&span, |c| c.is_whitespace() || c == '\0');
        if special::deletes_operands(&words, self.out.place.programs) {
            items.extend(self.whole_input_glob(&span));
        }
        match most.flatten() {
            Some(most) if most > 0 && !items.is_empty() => items.chunks(most).map(with).collect(),
            _ => vec![with(&items)],
        }
    }

    /// A command that runs for every item that standard input names.
    pub(super) fn each_item(
        &mut self,
        words: &[Value],
        token: Option<&str>,
        index: usize,
        assigns: bool,
    ) {
        let span = self.out.analysis.commands[index].span.clone();
        let mut items = self.input_items(&span, |c| c == '\n' || c == '\0');
        if items.len() > limits::ITEMS {
            items = vec![Value::unknown(span.clone())];
        }
        if special::deletes_operands(words, self.out.place.programs) {
            items.extend(self.whole_input_glob(&span));
        }
        self.stain_items(items.iter_mut());
        // A row of items writes nothing twice over in the text: none of them can be replaced.
        let enter = |frame: &mut Frame| frame.computed = true;
        self.in_frame(enter, |w| w.each_of(&items, words, token, index, assigns));
    }

    fn each_of(
        &mut self,
        items: &[Value],
        words: &[Value],
        token: Option<&str>,
        index: usize,
        assigns: bool,
    ) {
        let made = |item: &Value| match token {
            Some(token) => words.iter().map(|w| w.replace_token(token, item)).collect(),
            None => words.iter().chain([item]).cloned().collect(),
        };
        self.items_as_text(made, token.is_none(), index);
        for item in items {
            let Some(token) = token else {
                let item = std::slice::from_ref(item);
                let apart = program::effects::keep_words_apart(words, item);
                self.run_next(special::fill_row(words, item), index, assigns);
                if let Some(apart) = apart {
                    self.run_next(apart, index, assigns);
                }
                continue;
            };
            let words = words.iter().map(|w| w.replace_token(token, item)).collect();
            self.run_next(Next::Words { words, cwd: None, feeds: false }, index, assigns);
        }
    }

    /// `xargs sh -c 'eval "$1"' _`, `xargs -I{} bash -c {}`: is an item read as shell text? Then
    /// nobody knows what runs, be the input known or not.
    pub(super) fn items_as_text(
        &mut self,
        made: impl Fn(&Value) -> Vec<Value>,
        joins: bool,
        index: usize,
    ) {
        let span = self.out.analysis.commands[index].span.clone();
        let item = Value::printed(Printer::Local, span.clone()).one();
        let words = made(&item);
        let own = self.out.place.programs;
        let shell = |w: &Value| {
            let name = w.known_start().rsplit('/').next().unwrap_or_default();
            is_shell(name, own) || name == "eval"
        };
        // What a stranger prints is told by its own name.
        let stranger = matches!(self.feed, Feed::Stream(Printer::Stranger));
        if self.frame.probing || stranger || !words.iter().any(shell) {
            return;
        }
        // Walked once with an item that nobody knows; nothing of that walk stays.
        let (before, notes) = (self.found_so_far(), self.out.analysis.notes.len());
        let (written, mark) = (self.out.written.clone(), self.state.mark());
        let (command, cwd) = (self.out.command, self.out.cwd.clone());
        self.text_of_items = false;
        let next = match words.split_last() {
            Some((item, words)) if joins => special::fill_row(words, std::slice::from_ref(item)),
            _ => Next::Words { words, cwd: None, feeds: false },
        };
        self.in_frame(|frame| frame.probing = true, |w| w.run_next(next, index, false));
        self.state.rollback(mark);
        self.take_back(before);
        self.out.analysis.notes.truncate(notes);
        (self.out.written, self.out.command, self.out.cwd) = (written, command, cwd);
        if self.text_of_items {
            self.out.command = Some(index);
            self.out.emit_unknown("what standard input names is read as shell text", span);
        }
    }

    /// The glob that stands for all that standard input names, where nothing is left out.
    fn whole_input_glob(&self, span: &Range<usize>) -> Option<Value> {
        match &self.feed {
            Feed::Whole(_, all) => all.clone().map(|value| Value { span: span.clone(), ..value }),
            Feed::Here => Some(Value::glob("*", span.clone())),
            _ => None,
        }
    }

    /// What standard input names, item by item.
    fn input_items(&mut self, span: &Range<usize>, between: impl Fn(char) -> bool) -> Vec<Value> {
        match self.feed.clone() {
            Feed::Text(text) => {
                let items: Vec<&str> =
                    text.split(between).filter(|item| !item.is_empty()).collect();
                Cap::Fed
                    .first_admitted(&items)
                    .iter()
                    .map(|item| Value::known(*item, span.clone()))
                    .collect()
            }
            Feed::Found(all, named) => std::iter::once(all)
                .chain(named)
                .map(|value| Value { span: span.clone(), ..value })
                .collect(),
            Feed::Tree(start) => vec![
                Value { span: span.clone(), ..start.clone() },
                Value { span: span.clone(), ..start.unknown_below() },
            ],
            feed => vec![word::field_value(&known_line(&feed), span.clone())],
        }
    }
}
