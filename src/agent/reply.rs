//! Answers that are one JSON object in Claude Code's shape, which many agents took over: keys at the top, and
//! those of the event below `hookSpecificOutput`.

use serde_json::{Map, Value};

use super::Output;
use super::fields::response_text;
use super::settled::{BLOCKED, Settled, cap_text};
use crate::event::Kind;
use crate::verdict::Verb;
use crate::watchdog::FailureForm;

/// Asks about a call that cannot be judged.
pub const ASK_CALL: FailureForm = FailureForm::Stop(
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":""#,
    r#""}}"#,
);

/// Refuses it.
pub const DENY_CALL: FailureForm = FailureForm::Stop(
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":""#,
    r#""}}"#,
);

/// Refuses it where no permission is asked.
pub const DENY_DECISION: FailureForm =
    FailureForm::Stop(r#"{"decision":"deny","reason":""#, r#""}"#);

/// Tells the user that an event could not be judged.
pub const NOTICE: FailureForm = FailureForm::Notice(r#"{"systemMessage":""#, r#""}"#);

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

    /// The verdict, where calls have a permission and all else is blocked.
    pub fn put_verdict(&mut self, kind: Kind, settled: &Settled) {
        match (kind, settled.verb) {
            (Kind::PreToolUse, Some(verb)) => self.permit(verb.name(), &settled.reason),
            (_, Some(Verb::Halt)) => self.end_turn(&settled.reason),
            (_, Some(_)) => self.decide("block", &settled.reason),
            (_, None) => {}
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
        Output::of_object(self.top, refusal.map(|_| settled.reason.clone()))
    }
}

/// A new result of a tool as the reason of a refusal, where that is what the model sees in place of the result. It
/// must not be empty.
pub fn response_reason(response: &Value) -> String {
    let text = response_text(response);
    if text.trim().is_empty() { BLOCKED.into() } else { cap_text(text) }
}
