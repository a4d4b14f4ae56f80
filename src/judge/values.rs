//! What the placeholders of templates stand for, and changes to JSON values.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::Judge;
use crate::effect::{Analysis, SubCommand};
use crate::engine::Match;
use crate::event::Event;
use crate::rule::template::PlaceholderName;

impl Judge<'_> {
    /// What the placeholders of a matched rule stand for, of the call as it came.
    pub(super) fn match_values<'v>(
        &'v self,
        one: &'v Match<'_>,
    ) -> impl Fn(&PlaceholderName) -> Option<String> + 'v {
        self.values_of(self.event, self.analysis, one)
    }

    /// The same of the call in another form.
    pub(super) fn values_of<'v>(
        &'v self,
        event: &'v Event,
        analysis: &'v Analysis,
        one: &'v Match<'_>,
    ) -> impl Fn(&PlaceholderName) -> Option<String> + 'v {
        let command = one.effects.iter().find_map(|at| analysis.effects.get(*at)?.command);
        self.values_at(event, analysis, one, command)
    }

    /// The same where that sub-command is meant. What a command printed is nobody's here.
    pub(super) fn values_at<'v>(
        &'v self,
        event: &'v Event,
        analysis: &'v Analysis,
        one: &'v Match<'_>,
        command: Option<usize>,
    ) -> impl Fn(&PlaceholderName) -> Option<String> + 'v {
        let effects = || one.effects.iter().filter_map(|at| analysis.effects.get(*at));
        let path = move || effects().find_map(|effect| Some(&effect.path.as_ref()?.lexical));
        move |name| match name {
            PlaceholderName::Path => {
                path().map(String::as_str).or(event.file_path()).map(str::to_string)
            }
            PlaceholderName::Host => effects().find_map(|effect| effect.host.clone()),
            PlaceholderName::Package => {
                effects().find_map(|effect| effect.package.as_ref().map(ToString::to_string))
            }
            PlaceholderName::Command => command
                .and_then(|at| analysis.commands.get(at))
                .map(|command| command_text(analysis, command))
                .or_else(|| event.command().map(str::to_string)),
            PlaceholderName::Tool => Some(event.tool.clone()),
            PlaceholderName::Error => event.error_text().map(str::to_string),
            PlaceholderName::Output => event.tool_output().map(Cow::into_owned),
            PlaceholderName::Preview(characters) => {
                event.prompt().map(|_| event.prompt_preview(*characters))
            }
            PlaceholderName::Input(field) => input(event, field),
            PlaceholderName::RunOutput | PlaceholderName::Own(_) => None,
            PlaceholderName::Variable("ARGUMENTS") => serde_json::to_string(&event.raw).ok(),
            PlaceholderName::Variable("PROMPT") => event.prompt().map(str::to_string),
            PlaceholderName::Variable("TRANSCRIPT_PATH") => {
                event.str_field("transcript_path").map(str::to_string)
            }
            PlaceholderName::Variable(_) => Some(self.place.project.clone()),
        }
    }
}

/// A field of the input, as conditions on `input` have it.
fn input(event: &Event, field: &[String]) -> Option<String> {
    let (first, rest) = field.split_first()?;
    let mut value = match event.kind.is_tool() {
        true => event.input.get(first)?,
        false => event.raw.get(first)?,
    };
    for part in rest {
        value = match value {
            Value::Array(items) => items.get(part.parse::<usize>().ok()?)?,
            other => other.get(part)?,
        };
    }
    Some(value.as_str().map_or_else(|| value.to_string(), str::to_string))
}

/// The sub-command from its program's basename on.
pub(super) fn command_text(analysis: &Analysis, command: &SubCommand) -> String {
    match analysis.text.get(command.word.span.end..command.span.end) {
        Some(rest) if !command.quoted => format!("{}{rest}", command.name),
        _ => command.args.iter().fold(command.name.clone(), |text, arg| {
            text + " " + arg.text.as_deref().unwrap_or("…")
        }),
    }
}

/// Sets a field, making objects on the way. A field that held a number or a flag keeps its type
/// where the text can be read as one.
pub(super) fn set_field(map: &mut Map<String, Value>, field: &[String], text: String) {
    let Some((first, rest)) = field.split_first() else { return };
    if rest.is_empty() {
        let new = match map.get(first) {
            Some(Value::Number(_) | Value::Bool(_)) => {
                serde_json::from_slice(text.as_bytes()).unwrap_or(Value::String(text))
            }
            _ => Value::String(text),
        };
        map.insert(first.clone(), new);
        return;
    }
    let below = map.entry(first.clone()).or_insert_with(|| Value::Object(Map::new()));
    match below {
        Value::Object(below) => set_field(below, rest, text),
        Value::Array(items) => {
            let (index, rest) = (&rest[0], &rest[1..]);
            if let Some(item) = index.parse::<usize>().ok().and_then(|at| items.get_mut(at)) {
                match item {
                    Value::Object(map) if !rest.is_empty() => set_field(map, rest, text),
                    other if rest.is_empty() => *other = Value::String(text),
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

pub(super) fn each_string(value: &mut Value, change: &dyn Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(items) => items.iter_mut().for_each(|item| each_string(item, change)),
        Value::Object(map) => map.values_mut().for_each(|item| each_string(item, change)),
        _ => {}
    }
}
