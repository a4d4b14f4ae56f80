//! Payloads in Claude Code's shape, which many agents took over: `hook_event_name`, `tool_name`, `tool_input`. The
//! names in them are the agents' own.

use serde_json::{Map, Value};

use super::Agent;
use super::call::{
    ToolNames, find_tool, kind_by_content, place_operations, rename_keys, restore_input, take_tool,
};
use super::fields::{absolute_field, is_absolute, operation, text_field};
use crate::effect::path;
use crate::event::{Event, Kind, Operation};

/// The payload as an event that has no call yet. Its kind is told by the agent's table of events, else by what the
/// payload holds.
pub fn event_of_payload(
    agent: &dyn Agent,
    mut payload: Map<String, Value>,
    named: Option<&str>,
) -> Event {
    let named = text_field(&payload, "hook_event_name").or(named).unwrap_or_default();
    let spec = agent.events().iter().find(|spec| spec.name == named);
    let kind = match spec.map_or_else(|| Kind::from_name(named), |spec| spec.kind) {
        Kind::Other => kind_by_content(named, &payload),
        kind => kind,
    };
    let name = match named {
        "" => agent.event_spec(kind).map_or("", |spec| spec.name),
        name => name,
    };
    let name = name.to_string();
    if kind != Kind::Other {
        payload.insert("hook_event_name".into(), kind.name().into());
    }
    Event {
        agent: agent.id(),
        kind,
        name,
        tool: String::new(),
        input: Value::Null,
        cwd: absolute_field(&payload, "cwd"),
        session: text_field(&payload, "session_id").unwrap_or_default().to_string(),
        more: Vec::new(),
        raw: payload,
        native: Value::Null,
    }
}

/// Gives the event its call by Claude Code's names; `read` makes the operations of a tool's own name and its input.
pub fn read_call(event: &mut Event, read: impl FnOnce(&mut Event, &str, Value) -> Vec<Operation>) {
    let Some((own, input)) = take_tool(&mut event.raw, (event.kind, &event.name)) else { return };
    let operations = read(event, &own, input);
    let (first, more) = place_operations(&mut event.raw, operations);
    (event.tool, event.input, event.more) = (first.tool, first.input, more);
}

/// The one operation of a tool, as the agent's table has it; a tool that is not there keeps its name and its keys.
/// An input whose keys change is kept as it came.
pub fn translate_call(
    event: &mut Event,
    tools: &[ToolNames],
    own: &str,
    input: Value,
) -> Vec<Operation> {
    let Some(tool) = find_tool(tools, own) else { return vec![operation(own, input)] };
    if !tool.keys.is_empty() {
        event.native = input.clone();
    }
    vec![operation(tool.claude, rename_keys(input, tool.keys))]
}

/// A command runs in the directory that its call names in one of those fields, from the session's on.
pub fn enter_directory(event: &mut Event, input: &Value, fields: &[&str]) {
    let text = |field: &&str| input.get(field).and_then(Value::as_str);
    let Some(dir) = fields.iter().filter_map(text).find(|dir| !dir.is_empty()) else { return };
    match is_absolute(dir) {
        true => event.cwd = dir.into(),
        false if event.cwd.is_empty() => return,
        false => event.cwd = format!("{}/{dir}", event.cwd),
    }
    if event.cwd.starts_with('/') {
        event.cwd = path::normalise_path(&event.cwd);
    }
}

/// The agent's own input for one that a rule wrote. None = something of it cannot be said there, one of `derived`.
pub fn own_input(
    event: &Event,
    tools: &[ToolNames],
    new: &Map<String, Value>,
    derived: &[&str],
) -> Option<Map<String, Value>> {
    let Value::Object(own) = &event.native else { return Some(new.clone()) };
    let tool = tools.iter().find(|tool| tool.claude == event.tool)?;
    restore_input(own, (&event.input, new), tool.keys, derived)
}
