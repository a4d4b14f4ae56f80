//! Tool calls in an agent's own words and in Claude Code's: what its tools and their keys are called, and the
//! way back for an input that a rule wrote.

use serde_json::{Map, Value};

use super::fields::{operation, text_field};
use crate::event::{Kind, Operation};

/// A tool of an agent, by its own name and Claude Code's.
pub struct ToolNames {
    /// What the agent calls it.
    pub own: &'static str,
    /// What Claude Code calls it.
    pub claude: &'static str,
    /// Its keys that have another name there: the agent's own and Claude Code's.
    pub keys: &'static [(&'static str, &'static str)],
}

impl ToolNames {
    /// The tool of these names.
    pub const fn new(
        own: &'static str,
        claude: &'static str,
        keys: &'static [(&'static str, &'static str)],
    ) -> ToolNames {
        ToolNames { own, claude, keys }
    }
}

/// The agent's own names of all its tools.
pub const fn own_names<const N: usize>(tools: &[ToolNames]) -> [&'static str; N] {
    let mut names = [""; N];
    let mut at = 0;
    while at < N {
        names[at] = tools[at].own;
        at += 1;
    }
    names
}

/// The tool of that own name.
pub fn find_tool<'t>(tools: &'t [ToolNames], own: &str) -> Option<&'t ToolNames> {
    tools.iter().find(|tool| tool.own == own)
}

/// The input by Claude Code's keys. The agent's own key wins over one that is there already: the tool reads its own, so
/// nothing beside it may hide what that says.
pub fn rename_keys(mut input: Value, keys: &[(&str, &str)]) -> Value {
    if let Value::Object(map) = &mut input {
        for (own, claude) in keys {
            if let Some(value) = map.remove(*own) {
                map.insert((*claude).into(), value);
            }
        }
    }
    input
}

/// The agent's own input with what is new in `new` over `old`, both by Claude Code's keys. None = something changed
/// that has no key of its own there: one of `derived`.
pub fn restore_input(
    own: &Map<String, Value>,
    (old, new): (&Value, &Map<String, Value>),
    keys: &[(&str, &str)],
    derived: &[&str],
) -> Option<Map<String, Value>> {
    let empty = Map::new();
    let old = old.as_object().unwrap_or(&empty);
    let mut out = own.clone();
    let gone = old.keys().filter(|key| !new.contains_key(*key));
    for key in gone.chain(new.keys()).filter(|key| old.get(*key) != new.get(*key)) {
        if derived.contains(&key.as_str()) {
            return None;
        }
        let name = keys.iter().find(|(_, claude)| claude == key).map_or(key.as_str(), |one| one.0);
        match new.get(key) {
            Some(value) => out.insert(name.into(), value.clone()),
            None => out.remove(name),
        };
    }
    Some(out)
}

/// An object or a list that came as JSON inside of a text; what cannot be read stays the text.
pub fn unpack_text(value: Value) -> Value {
    let Value::String(text) = &value else { return value };
    match serde_json::from_slice(text.as_bytes()) {
        Ok(inner @ (Value::Object(_) | Value::Array(_))) => inner,
        _ => value,
    }
}

/// Lines of a file, first and last: Claude Code's `offset` and `limit`.
pub fn set_lines(input: &mut Value, first: Option<i64>, last: Option<i64>) {
    let Some(map) = input.as_object_mut() else { return };
    let Some(first) = first else { return };
    map.insert("offset".into(), first.into());
    if let Some(last) = last.filter(|last| *last >= first) {
        map.insert("limit".into(), last.saturating_sub(first).saturating_add(1).into());
    }
}

/// A call's operations: the first for the event, which the payload names as well, and the others.
pub fn place_operations(
    payload: &mut Map<String, Value>,
    mut operations: Vec<Operation>,
) -> (Operation, Vec<Operation>) {
    let first = match operations.is_empty() {
        true => operation("", Value::Null),
        false => operations.remove(0),
    };
    payload.insert("tool_name".into(), Value::from(first.tool.as_str()));
    payload.insert("tool_input".into(), first.input.clone());
    (first, operations)
}

/// The own name and input of the tool, taken from where Claude Code has them. What has an input and no readable name is
/// judged by the input; a gate's payload that has neither, by all that it holds.
pub fn take_tool(
    payload: &mut Map<String, Value>,
    (kind, event): (Kind, &str),
) -> Option<(String, Value)> {
    let input = payload.remove("tool_input").unwrap_or(Value::Null);
    let name = text_field(payload, "tool_name").map(str::to_string);
    match (name, input) {
        (None, Value::Null) if kind.is_gate() => {
            Some((event.to_string(), Value::Object(payload.clone())))
        }
        (None, Value::Null) => None,
        (name, input) => Some((name.unwrap_or_else(|| "unknown".into()), unpack_text(input))),
    }
}

/// What an event is that has a name nobody knows, by what it holds: whatever it carries is judged. `payload` is by
/// Claude Code's fields.
pub fn kind_by_content(name: &str, payload: &Map<String, Value>) -> Kind {
    let has = |key: &str| payload.get(key).is_some_and(|value| !value.is_null());
    let starts = |words: &[&str]| words.iter().any(|word| name.starts_with(word));
    match (has("tool_name") || has("tool_input"), has("error")) {
        _ if starts(&["pre", "before"]) => Kind::PreToolUse,
        _ if starts(&["post", "after"]) => Kind::PostToolUse,
        (true, _) if has("tool_response") => Kind::PostToolUse,
        (true, true) => Kind::PostToolUseFailure,
        (true, false) => Kind::PreToolUse,
        (false, _) => Kind::Other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const KEYS: &[(&str, &str)] = &[("filePath", "file_path"), ("oldString", "old_string")];

    #[test]
    fn a_change_goes_back_to_the_own_key_and_nothing_else_is_touched() {
        let own = json!({ "filePath": "a", "oldString": "x", "extra": 1, "startLine": 3 });
        let old =
            json!({ "file_path": "a", "old_string": "x", "extra": 1, "startLine": 3, "offset": 3 });
        let change = |key: &str, value: Value| {
            let mut new = old.as_object().unwrap().clone();
            new.insert(key.into(), value);
            restore_input(own.as_object().unwrap(), (&old, &new), KEYS, &["offset"])
        };
        let expected = json!({ "filePath": "b", "oldString": "x", "extra": 1, "startLine": 3 });
        assert_eq!(change("file_path", json!("b")).map(Value::Object), Some(expected));
        assert_eq!(change("offset", json!(4)), None);
        let mut less = old.as_object().unwrap().clone();
        less.remove("old_string");
        let restored = restore_input(own.as_object().unwrap(), (&old, &less), KEYS, &[]);
        assert_eq!(
            restored.map(Value::Object),
            Some(json!({ "filePath": "a", "extra": 1, "startLine": 3 }))
        );
    }

    #[test]
    fn a_second_key_hides_nothing() {
        let input = json!({ "filePath": "/etc/shadow", "file_path": "README.md" });
        assert_eq!(rename_keys(input, KEYS), json!({ "file_path": "/etc/shadow" }));
    }
}
