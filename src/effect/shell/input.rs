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
        let takes = if name == "read" { "pdnNtuik" } else { "dnOsuCc" };
        let (mut delimiter, mut skip, mut most, mut origin) = (None, 0, usize::MAX, 0);
        let (mut names, mut array, mut raw, mut lines) = (Vec::new(), name != "read", false, true);
        let mut at = 0;
        while let Some(arg) = args.get(at) {
            at += 1;
            let text = arg.known_start();
            if !text.starts_with('-') || text == "-" {
                if arg.text().is_none() {
                    let why = "input into a variable whose name is known only at run time";
                    self.out.emit_unknown(why, span.clone());
                }
                names.push(text.to_string());
                continue;
            }
            raw |= text.contains('r');
            array |= name == "read" && text.ends_with(['a', 'A']);
            // Of letters in one word the first that takes a value has the rest of it, or the next word.
            let Some(taking) = text.find(|c| takes.contains(c)) else { continue };
            let (option, rest) = text[taking..].split_at(1);
            let value = match rest {
                "" => args.get(at).cloned(),
                rest => Some(Value::known(rest, arg.span.clone())),
            };
            at += usize::from(rest.is_empty());
            let Some(value) = value else { continue };
            let known = value.plain_text();
            let number = known.and_then(|text| text.parse().ok());
            match (name, option) {
                (_, "d") => {
                    // Without a letter, what lies between bytes that are zero.
                    delimiter = known.map(|text| text.chars().next().unwrap_or('\0'));
                    lines &= delimiter.is_some();
                }
                ("read", "n" | "N" | "k") | (_, "u") => lines = false,
                ("read", _) => {}
                (_, "s") => (skip, lines) = (number.unwrap_or(skip), lines && number.is_some()),
                (_, "n") => (most, lines) = (number.unwrap_or(most), lines && number.is_some()),
                (_, "O") => {
                    origin = number.unwrap_or(origin);
                    lines &= number.is_some_and(|first| first < limits::VALUES);
                }
                (_, "C") => {
                    // The callback gets an index and a line.
                    self.run_script(&value, Vec::new(), index);
                    self.out.command = Some(index);
                }
                _ => {}
            }
        }
        // `-n 0` is as none.
        let most = if most == 0 { usize::MAX } else { most };
        if names.is_empty() {
            names.push(if array { "MAPFILE" } else { "REPLY" }.to_string());
        }
        let text = match &self.feed {
            Feed::Text(text) if lines && (raw || array || !text.contains('\\')) => {
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
                let parts = parts_of(&text, delimiter).skip(skip).take(most);
                let unset = std::iter::repeat_n(Vec::new(), origin);
                let words: Vec<_> = unset.chain(parts.map(loose_atoms)).collect();
                self.assign_var(&names[0], vec![words]);
            }
            (Some(text), _, Some(separators)) => {
                let rows: Vec<Vec<String>> = parts_of(&text, delimiter)
                    .map(|line| {
                        decode::split_fields(line, &separators, if array { 0 } else { names.len() })
                    })
                    .collect();
                for (i, name) in names.iter().enumerate() {
                    let mut values = Var::new();
                    for row in &rows {
                        let words = match row.get(i) {
                            _ if array => row.iter().map(|w| loose_atoms(w)).collect(),
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
                let values = match array {
                    true => vec![each],
                    false => each.into_iter().map(|line| vec![line]).collect(),
                };
                self.assign_var(&names[0], values);
            }
            _ => {
                for name in &names {
                    self.assign_var(name, unknown_var());
                }
            }
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
