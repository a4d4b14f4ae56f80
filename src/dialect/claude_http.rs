//! What Claude Code's own `http` hooks speak: the agent's bytes as they are, and an answer with the
//! schema of a command hook's, which counts only if the agent would take it.

use serde_json::{Map, Value};

use super::answer::merge_patch;
use super::{Dialect, Facts, Reply, Request, SettingKey, Settings, Takes, object};
use crate::event::{Event, Kind};
use crate::names::claude_http::KNOWN;
use crate::verdict::Verb;

pub(super) struct ClaudeHttp;

const TEXT: SettingKey = SettingKey {
    name: "text_as_context",
    doc: "claude-http: true = an answer that is plain text is told to the model",
    takes: Takes::Flag(false),
};
const MERGE: SettingKey = SettingKey {
    name: "merge_input",
    doc: "claude-http: true = a changed input needs only what changes",
    takes: Takes::Flag(false),
};

static FACTS: Facts =
    Facts { names: &["claude-http", "raw"], keys: &[TEXT, MERGE], is_plain: false, ..Facts::ASKED };

impl Dialect for ClaudeHttp {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn body(&self, request: &Request, _: &Settings) -> Vec<u8> {
        request.annotated_payload().unwrap_or_else(|| request.bytes.clone())
    }

    fn read_answer(&self, own: &Settings, event: &Event, body: &str) -> Result<Reply, String> {
        // Older versions of the agent took text for context. What begins like an answer must be one.
        let told = own.flag(&TEXT)
            && matches!(event.kind, Kind::UserPromptSubmit | Kind::SessionStart)
            && !body.starts_with('{');
        if told {
            return Ok(Reply { context: vec![body.to_string()], ..Reply::default() });
        }
        read_object(&object(body)?, event, own.flag(&MERGE))
    }
}

/// What an answer with the schema of a command hook's says. `merged`: its input holds only what
/// changes.
///
/// # Errors
/// Why the agent would not take it.
pub(super) fn read_object(
    answer: &Map<String, Value>,
    event: &Event,
    merged: bool,
) -> Result<Reply, String> {
    let mut reply = Reply::default();
    let reason = text_field(answer, "reason")?.unwrap_or_default();
    reply.notice.extend(text_field(answer, "systemMessage")?);
    reply.suppress = bool_field(answer, "suppressOutput")?.unwrap_or(false);
    match text_field(answer, "decision")?.as_deref() {
        Some("block") => (reply.verb, reply.reason) = (Some(Verb::Deny), reason.clone()),
        // Still in the schema, and does nothing.
        None | Some("approve") => {}
        Some(_) => return Err("an unknown decision".into()),
    }
    for key in ["async", "asyncTimeout", "terminalSequence"] {
        if answer.contains_key(key) {
            reply.notes.push(format!("`{key}` is not handed on"));
        }
    }
    match answer.get("hookSpecificOutput") {
        None => {}
        Some(Value::Object(specific)) => read_specific(specific, event, merged, &mut reply)?,
        Some(_) => return Err("a hookSpecificOutput that is no object".into()),
    }
    let stop_reason = text_field(answer, "stopReason")?;
    if bool_field(answer, "continue")? == Some(false) {
        reply.verb = Some(Verb::Halt);
        let told = if reply.reason.is_empty() { reason } else { std::mem::take(&mut reply.reason) };
        reply.reason = stop_reason.unwrap_or(told);
    }
    if matches!(reply.verb, Some(Verb::Deny | Verb::Halt)) && reply.reason.trim().is_empty() {
        reply.reason = "Blocked by server".into();
    }
    Ok(reply)
}

fn read_specific(
    specific: &Map<String, Value>,
    event: &Event,
    merged: bool,
    reply: &mut Reply,
) -> Result<(), String> {
    if text_field(specific, "hookEventName")?.as_deref() != Some(event.name.as_str()) {
        return Err("its hookEventName is not this event's".into());
    }
    let mut input = specific.get("updatedInput");
    let mut told = permission(specific)?;
    if let Some(decision) = specific.get("decision") {
        let Value::Object(decision) = decision else {
            return Err("a decision that is no object".into());
        };
        let verb = behavior(decision)?;
        if event.kind != Kind::PermissionRequest {
            return Err("a `decision` that this event does not have".into());
        }
        input = decision.get("updatedInput").or(input);
        if told.as_ref().is_none_or(|(other, _)| verb > *other) {
            told = Some((verb, text_field(decision, "message")?));
        }
        if decision.contains_key("updatedPermissions") {
            reply.notes.push("`updatedPermissions` is not handed on".into());
        }
    }
    if let Some((verb, why)) = told
        && reply.verb.is_none_or(|other| verb > other)
    {
        reply.verb = Some(verb);
        reply.explicit = verb == Verb::Allow;
        reply.reason = why.unwrap_or_default();
    }
    if let Some(input) = input {
        changed(input, event, merged, reply)?;
    }
    reply.context.extend(text_field(specific, "additionalContext")?);
    reply.response = specific
        .get("updatedToolOutput")
        .or_else(|| specific.get("updatedMCPToolOutput"))
        .filter(|value| event.kind == Kind::PostToolUse && !value.is_null())
        .cloned();
    let others = specific.keys().filter(|key| !KNOWN.contains(&key.as_str()));
    reply.notes.extend(others.map(|key| format!("`{key}` is not handed on")));
    Ok(())
}

/// `permissionDecision` with its reason.
fn permission(specific: &Map<String, Value>) -> Result<Option<(Verb, Option<String>)>, String> {
    let why = text_field(specific, "permissionDecisionReason")?;
    let verb = match text_field(specific, "permissionDecision")?.as_deref() {
        None => return Ok(None),
        Some("allow") => Verb::Allow,
        Some("deny") => Verb::Deny,
        Some("ask") => Verb::Ask,
        Some("defer") => Verb::Defer,
        Some(_) => return Err("an unknown permissionDecision".into()),
    };
    Ok(Some((verb, why)))
}

/// What the decision on a dialog is.
fn behavior(decision: &Map<String, Value>) -> Result<Verb, String> {
    let interrupt = bool_field(decision, "interrupt")? == Some(true);
    match text_field(decision, "behavior")?.as_deref() {
        Some("allow") => Ok(Verb::Allow),
        Some("deny") if interrupt => Ok(Verb::Halt),
        Some("deny") => Ok(Verb::Deny),
        _ => Err("an unknown behavior".into()),
    }
}

/// The new input: whole, as the agent takes it, unless it was agreed otherwise.
fn changed(input: &Value, event: &Event, merged: bool, reply: &mut Reply) -> Result<(), String> {
    if !input.is_object() {
        return Err("an updatedInput that is no object".into());
    }
    if !event.kind.is_gate() {
        reply.notes.push(format!("{} has no input to change", event.name));
        return Ok(());
    }
    let mut new = if merged { event.input.clone() } else { input.clone() };
    if merged {
        merge_patch(&mut new, input);
    }
    reply.input = new.as_object().filter(|_| new != event.input).cloned();
    Ok(())
}

/// A text, where it is there; the agent drops an answer with anything else in its place.
fn text_field(map: &Map<String, Value>, key: &str) -> Result<Option<String>, String> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.clone())),
        Some(_) => Err(format!("`{key}` is no text")),
    }
}

fn bool_field(map: &Map<String, Value>, key: &str) -> Result<Option<bool>, String> {
    match map.get(key) {
        None => Ok(None),
        Some(Value::Bool(flag)) => Ok(Some(*flag)),
        Some(_) => Err(format!("`{key}` is neither true nor false")),
    }
}
