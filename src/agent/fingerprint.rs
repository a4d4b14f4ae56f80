//! Who wrote a payload: the fields at its top that tell, found in one pass for all agents.

use memchr::memchr_iter;
use serde_json::{Map, Value};

/// Declares the fields, each with its name in payloads.
macro_rules! fields {
    ($($field:ident = $name:literal),* $(,)?) => {
        /// A field that tells agents apart.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Field {
            $(#[doc = concat!("`", $name, "`.")] $field,)*
        }

        const FIELDS: usize = [$(Field::$field),*].len();

        impl Field {
            fn from_name(name: &str) -> Option<Field> {
                match name {
                    $($name => Some(Field::$field),)*
                    _ => None,
                }
            }
        }
    };
}

fields! {
    Agent = "agent",
    AgentActionName = "agent_action_name",
    ClineVersion = "clineVersion",
    CursorVersion = "cursor_version",
    HookEventNameCamel = "hookEventName",
    HookEventName = "hook_event_name",
    HookName = "hookName",
    InitialPrompt = "initial_prompt",
    PermissionMode = "permission_mode",
    SessionIdCamel = "sessionId",
    StopReason = "stop_reason",
    TaskId = "taskId",
    Timestamp = "timestamp",
    ToolInfo = "tool_info",
    ToolInput = "tool_input",
    ToolName = "tool_name",
    ToolNameCamel = "toolName",
    ToolResult = "tool_result",
    ToolUseId = "tool_use_id",
    TranscriptPath = "transcript_path",
    TurnId = "turn_id",
}

/// A payload with the fields of it that tell who wrote it. Every agent asks at every event, and a look into the map
/// for each question would cost a twentieth of the event.
pub struct Fingerprint<'a> {
    /// All of it.
    pub payload: &'a Map<String, Value>,
    values: [Option<&'a Value>; FIELDS],
}

impl<'a> Fingerprint<'a> {
    /// That of this payload.
    pub fn of(payload: &'a Map<String, Value>) -> Fingerprint<'a> {
        let mut values = [None; FIELDS];
        for (name, value) in payload {
            if let Some(field) = Field::from_name(name) {
                values[field as usize] = Some(value);
            }
        }
        Fingerprint { payload, values }
    }

    /// The field, whatever it holds.
    pub fn value(&self, field: Field) -> Option<&'a Value> {
        self.values[field as usize]
    }

    /// Is the field there?
    pub fn has(&self, field: Field) -> bool {
        self.value(field).is_some()
    }

    /// The field's text; empty where it is missing or none.
    pub fn text(&self, field: Field) -> &'a str {
        self.value(field).and_then(Value::as_str).unwrap_or_default()
    }

    /// Is the field a text that is not empty?
    pub fn has_text(&self, field: Field) -> bool {
        !self.text(field).is_empty()
    }

    /// Is a call there by Claude Code's fields? Agents with fields of their own send none beside them, so that such a
    /// payload is not theirs, whatever other field it has.
    pub fn has_usual_call(&self) -> bool {
        self.has(Field::HookEventName) && (self.has(Field::ToolName) || self.has(Field::ToolInput))
    }

    /// Does the event's name begin with a small letter?
    pub fn has_camel_event(&self) -> bool {
        self.text(Field::HookEventName).starts_with(|c: char| c.is_ascii_lowercase())
    }

    /// Does the transcript lie below a directory of that name, which begins with a dot? Only the agent that writes it
    /// says so.
    pub fn has_transcript_below(&self, dot_directory: &str) -> bool {
        let path = self.text(Field::TranscriptPath).as_bytes();
        let is_separator = |byte: Option<&u8>| matches!(byte, Some(b'/' | b'\\'));
        memchr_iter(b'.', path).any(|at| {
            at > 0
                && is_separator(path.get(at - 1))
                && path[at..].starts_with(dot_directory.as_bytes())
                && is_separator(path.get(at + dot_directory.len()))
        })
    }
}
