//! Arithmetic evaluates what it meets: the text of a variable is an expression of its own, whose names and subscripts
//! are evaluated again, and a subscript may hold a command.

use std::ops::Range;

use shuck_ast::{
    BourneParameterExpansion, ParameterExpansionSyntax, Word as ShellWord, WordPart, WordPartNode,
};

use super::assign::arithmetic_names;
use super::call::flagged;
use super::state::{StateKey, StateValue};
use super::word::{Atom, Quote, number_var};
use super::{InSource, Walker};
use crate::effect::value::Value;
use crate::limits::Cap;
use crate::names::arithmetic::INTEGERS;

/// A row of atoms as arithmetic reads it.
struct ArithmeticText {
    /// What is known of it; numbers that are known only at run time are `0`.
    known: String,
    /// Some of it is not known.
    open: bool,
}

fn arithmetic_text(row: &[Atom]) -> ArithmeticText {
    let number = number_var().remove(0).remove(0);
    let mut read = ArithmeticText { known: String::new(), open: false };
    let mut at = 0;
    while let Some(atom) = row.get(at) {
        if row[at..].starts_with(&number) {
            read.known.push('0');
            at += number.len();
            continue;
        }
        match atom {
            Atom::Ch(c, quote) => {
                read.open |= *quote == Quote::Pattern && matches!(c, '*' | '?' | '[');
                read.known.push(*c);
            }
            Atom::Empty | Atom::Break => read.known.push(' '),
            Atom::Unknown(_) | Atom::Pipe(_) => read.open = true,
        }
        at += 1;
    }
    read
}

/// The names in an expression.
fn expression_names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|part| part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_'))
}

/// The one variable that a word is: `$x`, `"$x"`, `${x}`.
fn sole_variable(parts: &[WordPartNode]) -> Option<&str> {
    let [part] = parts else { return None };
    let name = match &part.kind {
        WordPart::DoubleQuoted { parts, .. } => return sole_variable(parts),
        WordPart::Variable(name) => name.as_str(),
        WordPart::ArrayAccess(reference) => reference.name.as_str(),
        WordPart::Parameter(parameter) => match &parameter.syntax {
            ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Access { reference }) => {
                reference.name.as_str()
            }
            _ => return None,
        },
        _ => return None,
    };
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_').then_some(name)
}

impl Walker<'_> {
    /// The call does something that nobody can tell from its text, and that hardly ever is a danger: it is not allowed,
    /// and nobody is asked for it.
    pub(super) fn emit_uncovered(&mut self, why: &str, place: impl InSource) {
        let range = place.range_of(self);
        self.out.command = self.frame.parent;
        self.out.emit_uncovered(why, range);
    }

    /// A name in arithmetic. One that was not set in this call is the user's own.
    pub(super) fn evaluate_name(&mut self, name: &str, span: &Range<usize>) {
        self.show_variable(name);
        let mut list = vec![name.to_string()];
        let mut at = 0;
        while let Some(name) = list.get(at) {
            at += 1;
            let Some(values) = self.state.find_variable(name) else { continue };
            let texts: Vec<ArithmeticText> =
                values.iter().flatten().map(|row| arithmetic_text(row)).collect();
            for text in &texts {
                self.evaluated_text(text, span);
            }
            for more in texts.iter().flat_map(|text| expression_names(&text.known)) {
                if !list.iter().any(|have| have == more) {
                    list.push(more.to_string());
                }
            }
            if !Cap::Names.admits(list.len()) {
                return;
            }
        }
    }

    /// A word in arithmetic.
    pub(super) fn evaluates_word(&mut self, word: &ShellWord) {
        let span = self.source_range(word.span);
        self.show_error(word);
        if let Some(name) = sole_variable(&word.parts) {
            return self.evaluate_name(name, &span);
        }
        let row = self.without_choosing(|w| w.expand_row(word, true));
        self.evaluates_text(&arithmetic_text(&row), &span);
    }

    /// An argument that is arithmetic (`let`, `shift`).
    pub(super) fn evaluates_value(&mut self, value: &Value) {
        let row = super::word::atoms_of(value);
        self.evaluates_text(&arithmetic_text(&row), &value.span);
    }

    /// What is assigned to a variable that is a number.
    pub(super) fn evaluates_integer(&mut self, name: &str, value: &Value) {
        if self.is_integer(name) {
            self.evaluates_value(value);
        }
    }

    /// Text that a declaration reads as an array: what stands in its parentheses is expanded.
    pub(super) fn evaluates_array(&mut self, flags: &[Value], value: &Value) {
        if value.known_start().starts_with('(') || flagged(flags, &['a', 'A']) {
            self.evaluates_value(value);
        }
    }

    /// Is the variable a number, by itself or because the call said so?
    pub(super) fn is_integer(&self, name: &str) -> bool {
        INTEGERS.contains(&name) || self.state.is_set(&StateKey::Integer(name.to_string()))
    }

    /// From here on the variable is a number.
    pub(super) fn declare_integer(&mut self, name: &str) {
        self.state.set(StateKey::Integer(name.to_string()), Some(StateValue::Set));
    }

    fn evaluates_text(&mut self, text: &ArithmeticText, span: &Range<usize>) {
        self.evaluated_text(text, span);
        for name in expression_names(&text.known) {
            self.evaluate_name(name, span);
        }
    }

    fn evaluated_text(&mut self, text: &ArithmeticText, span: &Range<usize>) {
        // Which of its names a text assigns is not told from those that it reads.
        arithmetic_names(&text.known).iter().for_each(|name| self.taint_by(name));
        if text.known.contains("$(") || text.known.contains('`') {
            self.emit_unseen("arithmetic on text that holds a command", span.clone());
        } else if text.open {
            self.emit_uncovered("arithmetic on a value known only at run time", span.clone());
        }
    }
}
