//! `read`, `mapfile`, `getopts`: what variables become of what a command is fed.

use std::ops::Range;

use super::produce::{lines_of, loose_atoms};
use super::state::{StateKey, StateValue, Var, unknown_var};
use super::word::{field_value, number_var};
use super::{Feed, Walker};
use crate::effect::decode;
use crate::effect::value::{Printer, Value};
use crate::limits;

impl Walker<'_> {
    /// The characters that words are split at here; None = nobody knows.
    pub(super) fn field_separators(&self) -> Option<String> {
        if let Some(own) = &self.frame.separators {
            return own.plain_text().map(str::to_string);
        }
        if !self.state.is_set(&StateKey::Splitting) {
            return Some(" \t\n".to_string());
        }
        match self.state.find_variable("IFS").map(Vec::as_slice) {
            Some([words]) => match &words[..] {
                [] => Some(String::new()),
                [one] => field_value(one, 0..0).plain_text().map(str::to_string),
                _ => None,
            },
            _ => None,
        }
    }

    fn assign_var(&mut self, name: &str, values: Var) {
        self.special_parameter(name, None, 0..0);
        self.taint_by(name);
        self.flow.keep(name, self.flow.fed);
        let name = name.split('[').next().unwrap_or_default();
        self.state.set(StateKey::Var(name.to_string()), Some(StateValue::Var(values)));
        if self.is_integer(name) {
            self.evaluate_name(name, &(0..0));
        }
    }

    /// Builtins that fill variables from outside.
    pub(super) fn run_input_builtin(
        &mut self,
        name: &str,
        args: &[Value],
        index: usize,
        span: &Range<usize>,
    ) {
        if name == "getopts" {
            if let Some(option) = args.get(1).and_then(Value::plain_text) {
                self.assign_var(option, vec![vec![vec![super::word::Atom::unknown_name()]]]);
            }
            self.forget_variable("OPTARG");
            return self.assign_var("OPTIND", number_var());
        }
        if let Some(feed) = descriptor_named(args).and_then(|name| self.descriptor_feed(name)) {
            let plain: Vec<Value> = without_descriptor(args);
            return self.fed_with(feed, |w| w.run_input_builtin(name, &plain, index, span));
        }
        let input = Input::parse(name == "read", args);
        if input.unnamed {
            let why = "input into a variable whose name is known only at run time";
            self.out.emit_unknown(why, span.clone());
        }
        if let Some(callback) = &input.callback {
            // It gets an index and a line.
            self.run_script(callback, Vec::new(), index);
            self.out.command = Some(index);
        }
        let Input { names, array, .. } = &input;
        let text = match &self.feed {
            Feed::Text(text) if input.told && (input.raw || *array || !text.contains('\\')) => {
                Some(text.clone())
            }
            _ => None,
        };
        let feed = match self.feed.clone() {
            // `curl -o x URL; read -r l < x`
            Feed::File(file) if self.is_downloaded(&file) => Feed::Stream(Printer::Stranger),
            feed => feed,
        };
        let each = lines_of(&feed);
        let separators = self.field_separators();
        match (text, each, separators) {
            (Some(text), ..) if name != "read" => {
                let parts = parts_of(&text, input.delimiter).skip(input.skip).take(input.most);
                let unset = std::iter::repeat_n(Vec::new(), input.origin);
                let words: Vec<_> = unset.chain(parts.map(loose_atoms)).collect();
                self.assign_var(&names[0], vec![words]);
            }
            (Some(text), _, Some(separators)) => {
                let rows: Vec<Vec<String>> = parts_of(&text, input.delimiter)
                    .map(|line| {
                        decode::split_fields(
                            line,
                            &separators,
                            if *array { 0 } else { names.len() },
                        )
                    })
                    .collect();
                for (i, name) in names.iter().enumerate() {
                    let mut values = Var::new();
                    for row in &rows {
                        let words = match row.get(i) {
                            _ if *array => row.iter().map(|w| loose_atoms(w)).collect(),
                            Some(word) => vec![loose_atoms(word)],
                            None => vec![Vec::new()],
                        };
                        if !values.contains(&words) {
                            values.push(words);
                        }
                        if values.len() > limits::VALUES {
                            break;
                        }
                    }
                    if values.is_empty() || values.len() > limits::VALUES {
                        values = unknown_var();
                    }
                    self.assign_var(name, values);
                }
            }
            (None, each, _) if names.len() == 1 => {
                let values = match *array {
                    true => vec![each],
                    false => each.into_iter().map(|line| vec![line]).collect(),
                };
                self.assign_var(&names[0], values);
            }
            _ => {
                for name in names {
                    self.assign_var(name, unknown_var());
                }
            }
        }
    }
}

/// How `read` or `mapfile` is called.
struct Input {
    /// The variables.
    names: Vec<String>,
    /// The name of one of them is known only at run time.
    unnamed: bool,
    /// All goes into one list.
    array: bool,
    /// A backslash is itself.
    raw: bool,
    /// It is told which part of the input is read.
    told: bool,
    /// What ends a part, where that is no line.
    delimiter: Option<char>,
    /// So many parts are left out.
    skip: usize,
    /// So many parts are read at most.
    most: usize,
    /// The place in the list that the first one gets.
    origin: usize,
    /// Shell text that runs for every few parts.
    callback: Option<Value>,
}

impl Input {
    fn parse(reads: bool, args: &[Value]) -> Input {
        let mut input = Input {
            names: Vec::new(),
            unnamed: false,
            array: !reads,
            raw: false,
            told: true,
            delimiter: None,
            skip: 0,
            most: usize::MAX,
            origin: 0,
            callback: None,
        };
        let takes = if reads { "pdnNtuik" } else { "dnOsuCc" };
        let mut rest = args.iter();
        while let Some(arg) = rest.next() {
            let text = arg.known_start();
            if !text.starts_with('-') || text == "-" {
                input.unnamed |= arg.text().is_none();
                input.names.push(text.to_string());
                continue;
            }
            // Of letters in one word the first that takes a value has the rest of it, or the next word.
            let taking = text.find(|c| takes.contains(c));
            let (flags, option) = text.split_at(taking.unwrap_or(text.len()));
            input.raw |= flags.contains('r');
            input.array |= reads && flags.ends_with(['a', 'A']);
            let Some(letter) = option.chars().next() else { continue };
            let value = match &option[1..] {
                "" => rest.next().cloned(),
                glued => Some(Value::known(glued, arg.span.clone())),
            };
            if let Some(value) = value {
                input.take_option(reads, letter, value);
            }
        }
        if input.names.is_empty() {
            input.names.push(if input.array { "MAPFILE" } else { "REPLY" }.to_string());
        }
        input
    }

    fn take_option(&mut self, reads: bool, letter: char, value: Value) {
        let number: Option<usize> = value.plain_text().and_then(|text| text.parse().ok());
        match (reads, letter) {
            (_, 'd') => {
                // Without a letter, what lies between bytes that are zero.
                let ends = |text: &str| text.chars().next().unwrap_or('\0');
                self.delimiter = value.plain_text().map(ends);
                self.told &= self.delimiter.is_some();
            }
            (true, 'n' | 'N' | 'k') | (_, 'u') => self.told = false,
            (false, 's') => {
                (self.skip, self.told) = (number.unwrap_or(0), self.told && number.is_some())
            }
            // None at most is as many as there are.
            (false, 'n') => {
                self.most = number.filter(|most| *most > 0).unwrap_or(usize::MAX);
                self.told &= number.is_some();
            }
            (false, 'O') => {
                self.origin = number.filter(|first| *first < limits::VALUES).unwrap_or(0);
                self.told &= number.is_some_and(|first| first < limits::VALUES);
            }
            (false, 'C') => self.callback = Some(value),
            _ => {}
        }
    }
}

/// What is read at once: lines, or what stands between such characters.
fn parts_of(text: &str, delimiter: Option<char>) -> Box<dyn Iterator<Item = &str> + '_> {
    match delimiter {
        None | Some('\n') => Box::new(text.lines()),
        Some(end) => {
            let text = text.strip_suffix('\n').unwrap_or(text);
            Box::new(text.strip_suffix(end).unwrap_or(text).split(end))
        }
    }
}

/// Where `-u` stands among the letters of an argument, and whether the descriptor stands behind it in the same word.
fn descriptor_option(args: &[Value]) -> Option<(usize, usize)> {
    args.iter().enumerate().find_map(|(at, arg)| {
        let text = arg.plain_text().filter(|text| text.starts_with('-'))?;
        let letters = text.trim_end_matches(|c: char| c.is_ascii_digit());
        letters.ends_with('u').then_some((at, letters.len()))
    })
}

/// The descriptor that `read -u 3`, `read -ru3` reads from.
fn descriptor_named(args: &[Value]) -> Option<&str> {
    let (at, end) = descriptor_option(args)?;
    match &args[at].plain_text()?[end..] {
        "" => Some(args.get(at + 1)?.known_start()),
        number => Some(number),
    }
}

/// The arguments without that option.
fn without_descriptor(args: &[Value]) -> Vec<Value> {
    let Some((at, end)) = descriptor_option(args) else { return args.to_vec() };
    let text = args[at].known_start();
    let letters = text[..end].trim_end_matches('u');
    let own = (letters.len() > 1).then(|| Value::known(letters, args[at].span.clone()));
    let rest = args.iter().skip(at + 1 + usize::from(end == text.len()));
    args[..at].iter().cloned().chain(own).chain(rest.cloned()).collect()
}
