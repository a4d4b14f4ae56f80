//! `input` and `response`: tests of single fields of a JSON value.

use std::borrow::Cow;

use serde_json::Value;

use crate::glob;
use crate::limits;
use crate::rule::Regex;

/// A test of one field of a JSON value.
#[derive(Debug, Clone, PartialEq)]
pub struct FieldTest {
    /// As written: `edits[].new_string`.
    pub field: String,
    /// What the value must be: any of them.
    pub tests: Vec<ValueTest>,
}

/// What a value must be.
#[derive(Debug, Clone, PartialEq)]
pub enum ValueTest {
    /// A glob over the whole value as text.
    Glob(String),
    /// Exactly this.
    Equals(Value),
    /// A regex somewhere in the value as text.
    Regex(Regex),
    /// Present, or absent.
    Exists(bool),
}

impl FieldTest {
    /// Does any value at this field path satisfy the test?
    pub fn is_satisfied_by(&self, value: &Value) -> bool {
        self.holds_in(|key| value.get(key))
    }

    pub(super) fn regexes(&self) -> impl Iterator<Item = &Regex> {
        self.tests.iter().filter_map(|test| match test {
            ValueTest::Regex(regex) => Some(regex),
            _ => None,
        })
    }

    pub(super) fn holds_in<'v>(&self, first: impl Fn(&str) -> Option<&'v Value>) -> bool {
        let mut found = Vec::new();
        let step = Step::of(&self.field);
        if let Some(value) = first(step.name) {
            collect_values(value, &step, &mut found);
        }
        self.tests.iter().any(|test| test.is_satisfied_by(&found))
    }
}

/// The first step of a field path.
struct Step<'p> {
    name: &'p str,
    /// What follows is meant of each item: `edits[]`.
    spread: bool,
    rest: Option<&'p str>,
}

impl Step<'_> {
    fn of(path: &str) -> Step<'_> {
        let (head, rest) =
            path.split_once('.').map_or((path, None), |(head, rest)| (head, Some(rest)));
        let name = head.strip_suffix("[]");
        Step { name: name.unwrap_or(head), spread: name.is_some(), rest }
    }
}

/// What the path leads to from the value of its first step.
fn collect_values<'v>(value: &'v Value, step: &Step<'_>, out: &mut Vec<&'v Value>) {
    let items = match value {
        Value::Array(items) if step.spread => items,
        _ if step.spread => return,
        one => std::slice::from_ref(one),
    };
    let Some(rest) = step.rest else { return out.extend(items) };
    let next = Step::of(rest);
    for item in items {
        let found = match item {
            Value::Array(items) => next.name.parse::<usize>().ok().and_then(|at| items.get(at)),
            other => other.get(next.name),
        };
        if let Some(found) = found {
            collect_values(found, &next, out);
        }
    }
}

impl ValueTest {
    pub(super) fn is_satisfied_by(&self, found: &[&Value]) -> bool {
        match self {
            ValueTest::Exists(wanted) => found.iter().any(|v| !v.is_null()) == *wanted,
            ValueTest::Equals(wanted) => found.iter().any(|v| is_equal_value(v, wanted)),
            ValueTest::Glob(pattern) => {
                found.iter().any(|v| bounded_text(v).is_some_and(|t| glob::matches(pattern, &t)))
            }
            ValueTest::Regex(regex) => {
                found.iter().any(|v| bounded_text(v).is_some_and(|t| regex.is_match(&t)))
            }
        }
    }
}

/// A value's text, where the event's budget reaches for reading it.
fn bounded_text(value: &Value) -> Option<Cow<'_, str>> {
    let text = value_text(value)?;
    limits::spend_steps(text.len() / 4).then_some(text)
}

/// Numbers compare by value: `1` in a rule is `1.0` in a payload.
fn is_equal_value(a: &Value, b: &Value) -> bool {
    a == b || matches!((a.as_f64(), b.as_f64()), (Some(a), Some(b)) if a == b)
}

/// A value as the text that globs and regexes see.
pub(super) fn value_text(value: &Value) -> Option<Cow<'_, str>> {
    match value {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Number(number) => Some(number.to_string().into()),
        Value::Bool(flag) => Some(flag.to_string().into()),
        Value::Null => None,
        other => serde_json::to_string(other).ok().map(Cow::Owned),
    }
}
