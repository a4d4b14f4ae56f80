//! The Claude Hooks Server Protocol 1.0: an envelope around the event, answers read liberally.

use serde_json::{Map, Value, json};

use super::{
    Dialect, Facts, Note, Reply, Request, SettingKey, Settings, Takes, answer, correlation_id,
};
use crate::event::{Event, Kind};

pub(super) struct HooksServer;

const STRICT: SettingKey = SettingKey {
    name: "strict_data",
    doc: "true = send the fields of the protocol and no others",
    takes: Takes::Flag(false),
};

/// What is in the envelope, or is there under another name.
const ENVELOPE: &[&str] = &["session_id", "hook_event_name", "correlation_id", "tool_result"];
/// What every event has: not sent in strict mode.
const COMMON: &[&str] =
    &["cwd", "transcript_path", "permission_mode", "prompt_id", "agent_id", "agent_type", "effort"];

static FACTS: Facts = Facts { names: &["hooks-server"], keys: &[STRICT], ..Facts::ASKED };

impl Dialect for HooksServer {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn body(&self, request: &Request, own: &Settings) -> Vec<u8> {
        let (event, strict) = (&request.event, own.flag(&STRICT));
        let head = json!({
            "id": request.id,
            "type": event.name,
            "name": event.name,
            "timestamp": request.timestamp,
            "session_id": event.session,
        });
        let mut data = event_data(event, strict);
        if let Some(note) = request.note.to_json()
            && (!strict || request.note == Note::Test)
        {
            data.insert("hookctl".into(), note);
        }
        envelope(event, head, data)
    }

    fn read_answer(&self, _: &Settings, event: &Event, body: &str) -> Result<Reply, String> {
        answer::read_answer(event, body)
    }
}

/// The whole body: what is said of the event, and what it brings.
pub(super) fn envelope(event: &Event, mut head: Value, data: Map<String, Value>) -> Vec<u8> {
    if let Some(id) = correlation_id(event) {
        head["correlation_id"] = id.into();
    }
    json!({ "version": "1.0", "event": head, "data": data }).to_string().into_bytes()
}

/// The fields that the protocol knows of an event of this kind.
fn known_fields(kind: Kind) -> &'static [&'static str] {
    match kind {
        Kind::PreToolUse => &["tool_name", "tool_input"],
        Kind::PostToolUse => &["tool_name", "tool_input", "tool_response"],
        Kind::UserPromptSubmit => &["prompt"],
        Kind::Notification => &["message"],
        Kind::Stop | Kind::SubagentStop => &["stop_hook_active"],
        Kind::PreCompact => &["trigger", "custom_instructions"],
        _ => &[],
    }
}

/// What the protocol knows of the event, and nothing else.
pub(super) fn known_event(event: &Event) -> Map<String, Value> {
    let mut out = Map::new();
    for key in known_fields(event.kind) {
        let value = match (*key, event.raw.get(*key)) {
            ("stop_hook_active", value) => Some(json!(value == Some(&Value::Bool(true)))),
            ("custom_instructions", value) => value.filter(|value| value.is_string()).cloned(),
            (_, value) => value.cloned(),
        };
        if let Some(value) = value {
            out.insert((*key).into(), value);
        }
    }
    out
}

/// The object `data` of the event.
fn event_data(event: &Event, strict: bool) -> Map<String, Value> {
    let (raw, fields) = (&event.raw, known_fields(event.kind));
    let mut out = known_event(event);
    if strict && !fields.is_empty() {
        return out;
    }
    for (key, value) in raw {
        let key_str = key.as_str();
        let other = ENVELOPE.contains(&key_str)
            || fields.contains(&key_str)
            || (strict && COMMON.contains(&key_str));
        if !other {
            out.insert(key.clone(), value.clone());
        }
    }
    if event.kind == Kind::UserPromptSubmit
        && let Some(cwd) = raw.get("cwd")
    {
        out.insert("current_working_directory".into(), cwd.clone());
    }
    out
}
