//! Reading payloads, for every agent: leniently, since a model controls many of their strings.

use serde_json::{Map, Value};

use crate::event::Operation;

/// An agent's own names of fields, each with Claude Code's.
pub type FieldNames = &'static [(&'static str, &'static str)];

/// A field that is a text and not empty; the wrong type counts as missing.
pub fn text_field<'a>(payload: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    payload.get(key).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Absolute on any system: a payload may be read on another one than it was written on.
pub fn is_absolute(path: &str) -> bool {
    match path.as_bytes() {
        [b'/' | b'\\', ..] => true,
        [drive, b':', b'/' | b'\\', ..] => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

/// The field's text where it is an absolute path, else nothing: an event's place.
pub fn absolute_field(payload: &Map<String, Value>, key: &str) -> String {
    text_field(payload, key).filter(|path| is_absolute(path)).unwrap_or_default().to_string()
}

/// Gives fields the names that Claude Code has for them: pairs of the agent's own name and Claude Code's. Of several
/// own names the first that is there counts. It wins over Claude Code's, which the agent does not read: nothing beside
/// it may hide what it says. A field that is null counts as missing.
pub fn rename_fields(map: &mut Map<String, Value>, names: &[(&str, &str)]) {
    for (at, (own, claude)) in names.iter().enumerate() {
        let before = names[..at].iter().any(|one| one.1 == *claude && map.contains_key(*claude));
        let there = map.get(*own).is_some_and(|value| !value.is_null());
        if there
            && !before
            && let Some(value) = map.remove(*own)
        {
            map.insert((*claude).into(), value);
        }
    }
}

/// Would a shell run a part of the text, although it is JSON as well? Some clients take a list as JSON inside of a
/// text where others take a line for a shell: then both are judged.
pub fn runs_as_line(text: &str) -> bool {
    let group = text.trim_start().strip_prefix('{');
    ["$(", "`", "<(", ">("].iter().any(|mark| text.contains(mark))
        || group.is_some_and(|rest| rest.starts_with(char::is_whitespace))
}

/// Takes back what [`rename_fields`] did: the agent's own names for an input that a rule wrote.
pub fn restore_fields(map: &mut Map<String, Value>, names: &[(&str, &str)]) {
    for (own, claude) in names {
        if let Some(value) = map.remove(*claude) {
            map.insert((*own).into(), value);
        }
    }
}

/// An operation of that tool, by Claude Code's names.
pub fn operation(tool: &str, input: Value) -> Operation {
    Operation { tool: tool.into(), input }
}

/// The text of a tool's result: as it is, of its parts (`[{ "text": "..." }]`, below `content` or by itself), else
/// the JSON.
pub fn response_text(response: &Value) -> String {
    let parts = |parts: &[Value]| {
        let texts: Vec<&str> = parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
        (!texts.is_empty()).then(|| texts.join("\n"))
    };
    match response {
        Value::String(text) => Some(text.clone()),
        Value::Array(all) => parts(all),
        Value::Object(map) => match map.get("content") {
            Some(Value::Array(all)) => parts(all),
            _ => None,
        },
        _ => None,
    }
    .unwrap_or_else(|| response.to_string())
}
