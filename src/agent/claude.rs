//! Claude Code.
use super::{Agent, EventSpec, Mark, Output};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use serde_json::{Map, Value};

/// Claude Code, `@anthropic-ai/claude-code`.
pub struct Claude;

impl Agent for Claude {
    fn id(&self) -> &'static str {
        "claude"
    }
    fn title(&self) -> &'static str {
        "Claude Code"
    }
    fn detect(&self, _payload: &Map<String, Value>) -> Option<Mark> {
        Some(Mark::Default)
    }
    fn parse(&self, payload: Map<String, Value>, named: Option<&str>) -> Event {
        let s = |k: &str| payload.get(k).and_then(Value::as_str).unwrap_or_default().to_string();
        let name = payload
            .get("hook_event_name")
            .and_then(Value::as_str)
            .or(named)
            .unwrap_or_default()
            .to_string();
        Event {
            agent: "claude",
            kind: Kind::from_name(&name),
            name,
            tool: s("tool_name"),
            input: payload.get("tool_input").cloned().unwrap_or(Value::Null),
            cwd: s("cwd"),
            session: s("session_id"),
            raw: payload,
        }
    }
    fn render(&self, _event: &Event, _answer: &Answer) -> Output {
        Output::default()
    }
    fn events(&self) -> &'static [EventSpec] {
        &[]
    }
}
