//! `read`, `mapfile`, `getopts`: what variables become of what a command is fed.

use std::ops::Range;

use super::produce::{lines_of, loose_atoms};
use super::state::{StateKey, StateValue, Var, unknown_var};
use super::word::{field_value, number_var};
use super::{Feed, Walker};
use crate::effect::decode;
use crate::effect::value::Value;
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
        let takes: &[&str] = match name {
            "read" => &["-p", "-d", "-n", "-N", "-t", "-u", "-i", "-k"],
            _ => &["-d", "-n", "-O", "-s", "-u", "-C", "-c"],
        };
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
            let short = format!("-{}", text.chars().last().unwrap_or_default());
            if name != "read" && short == "-C" {
                // The callback gets an index and a line.
                if let Some(text) = args.get(at) {
                    self.run_script(&text.clone(), Vec::new(), index);
                    self.out.command = Some(index);
                }
            }
            lines &= !matches!(short.as_str(), "-d" | "-n" | "-N" | "-u" | "-k");
            at += usize::from(takes.contains(&short.as_str()));
        }
        if names.is_empty() {
            names.push(if array { "MAPFILE" } else { "REPLY" }.to_string());
        }
        let text = match &self.feed {
            Feed::Text(text) if lines && (raw || array || !text.contains('\\')) => {
                Some(text.clone())
            }
            _ => None,
        };
        let each = lines_of(&self.feed);
        let separators = self.field_separators();
        match (text, each, separators) {
            (Some(text), ..) if name != "read" => {
                let words: Vec<_> = text.lines().map(loose_atoms).collect();
                self.assign_var(&names[0], vec![words]);
            }
            (Some(text), _, Some(separators)) => {
                let rows: Vec<Vec<String>> = text
                    .lines()
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
