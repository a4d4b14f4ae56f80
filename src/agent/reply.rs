//! Answers that are one JSON object in Claude Code's shape, which many agents took over: keys at the top, and
//! those of the event below `hookSpecificOutput`.

use serde_json::{Map, Value};

use super::Output;
use super::fields::response_text;
use super::settled::{BLOCKED, Settled, cap_text};
use crate::verdict::Verb;

/// The keys of such an answer.
#[derive(Default)]
pub struct Reply {
    top: Map<String, Value>,
    specific: Map<String, Value>,
}

impl Reply {
    /// A key at the top.
    pub fn put(&mut self, key: &str, value: impl Into<Value>) {
        self.top.insert(key.into(), value.into());
    }

    /// A key below `hookSpecificOutput`.
    pub fn specify(&mut self, key: &str, value: impl Into<Value>) {
        self.specific.insert(key.into(), value.into());
    }

    /// `decision` beside `reason`: what refuses where no permission is asked.
    pub fn decide(&mut self, decision: &str, reason: &str) {
        self.put("decision", decision);
        self.put("reason", reason);
    }

    /// `permissionDecision` with its reason, where there is one.
    pub fn permit(&mut self, decision: &str, reason: &str) {
        self.specify("permissionDecision", decision);
        if !reason.is_empty() {
            self.specify("permissionDecisionReason", reason);
        }
    }

    /// Ends the turn, with the text that the user sees for it.
    pub fn end_turn(&mut self, reason: &str) {
        self.put("continue", false);
        self.put("stopReason", reason);
    }

    /// Text for the model, where there is some.
    pub fn add_context(&mut self, settled: &Settled) {
        if !settled.context.is_empty() {
            self.specify("additionalContext", settled.context.as_str());
        }
    }

    /// Text for the user, where there is some.
    pub fn add_notice(&mut self, settled: &Settled) {
        if !settled.notice.is_empty() {
            self.put("systemMessage", settled.notice.as_str());
        }
    }

    /// The one object, or nothing where there is nothing to say. `name` = the event's, as the agent wrote it.
    pub fn into_output(mut self, name: &str, settled: &Settled) -> Output {
        if !self.specific.is_empty() {
            let mut specific = Map::new();
            specific.insert("hookEventName".into(), name.into());
            specific.append(&mut self.specific);
            self.put("hookSpecificOutput", specific);
        }
        if self.top.is_empty() {
            return Output::default();
        }
        let refusal = settled.verb.filter(|verb: &Verb| verb.stops_call());
        Output {
            stdout: Value::Object(self.top).to_string(),
            refusal: refusal.map(|_| settled.reason.clone()),
            ..Output::default()
        }
    }
}

/// A new result of a tool as the reason of a refusal, where that is what the model sees in place of the result. It
/// must not be empty.
pub fn response_reason(response: &Value) -> String {
    let text = response_text(response);
    if text.trim().is_empty() { BLOCKED.into() } else { cap_text(text) }
}
