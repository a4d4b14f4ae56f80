//! Answers in the words of hooks servers, whatever envelope asked for them: read liberally.

use serde_json::{Map, Value};

use super::{Reply, object};
use crate::event::{Event, Kind, describe_new_prompt};
use crate::verdict::Verb;

/// What an answer decides, weakest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Decision {
    Allow,
    Modify,
    Ask,
    Defer,
    Block,
    Halt,
}

impl Decision {
    pub(super) fn to_verb(self) -> Verb {
        match self {
            Decision::Allow | Decision::Modify => Verb::Allow,
            Decision::Ask => Verb::Ask,
            Decision::Defer => Verb::Defer,
            Decision::Block => Verb::Deny,
            Decision::Halt => Verb::Halt,
        }
    }
}

/// What the answer says.
///
/// # Errors
/// Why it is none.
pub(super) fn read_answer(event: &Event, body: &str) -> Result<Reply, String> {
    let answer = object(body)?;
    let mut reply = Reply::default();
    let mut said: Vec<(Decision, &str)> = Vec::new();
    let text = |map: &'_ Map<String, Value>, key: &str| -> Option<String> {
        map.get(key).and_then(Value::as_str).map(str::to_string)
    };
    let mut reason = text(&answer, "reason").unwrap_or_default();
    if answer.get("continue") == Some(&Value::Bool(false)) {
        said.push((Decision::Halt, "continue"));
        reason = text(&answer, "stopReason").unwrap_or(reason);
    }
    if let Some(value) = answer.get("decision") {
        said.push((parse_decision(value)?, "decision"));
    } else if let Some(action) = answer.get("action") {
        said.push((
            match action.as_str() {
                Some("continue") => Decision::Allow,
                Some("block") => Decision::Block,
                _ => return Err("an unknown action".into()),
            },
            "action",
        ));
    }
    if let Some(Value::Object(specific)) = answer.get("hookSpecificOutput") {
        let named = specific.get("hookEventName").and_then(Value::as_str);
        if named.is_some_and(|name| name != event.name) {
            reply.notes.push("its hookSpecificOutput is for another event: ignored".into());
        } else {
            let why = read_specific(specific, event, &mut reply, &mut said)?;
            reason = why.filter(|_| reason.is_empty()).unwrap_or(reason);
        }
    }
    let strictest = said.iter().map(|(decision, _)| *decision).max().unwrap_or(Decision::Allow);
    if said.iter().any(|(decision, _)| *decision != strictest) {
        let words: Vec<String> = said.iter().map(|(d, key)| format!("{key} {d:?}")).collect();
        reply.notes.push(format!("it disagrees with itself: {}", words.join(", ")));
    }
    reply.explicit &= strictest == Decision::Allow;
    if strictest > Decision::Modify {
        (reply.input, reply.response) = (None, None);
    }
    let default = match strictest {
        Decision::Block | Decision::Halt => "Blocked by server",
        Decision::Modify => "Modified by server",
        _ => "",
    };
    reply.reason = if reason.trim().is_empty() { default.into() } else { reason };
    reply.verb = Some(strictest.to_verb());
    if strictest == Decision::Modify {
        match answer.get("modified_data") {
            Some(Value::Object(changes)) => apply_modifications(event, changes, &mut reply)?,
            _ => return Err("modify without an object `modified_data`".into()),
        }
    }
    reply.notice.extend(text(&answer, "systemMessage"));
    reply.suppress = answer.get("suppressOutput") == Some(&Value::Bool(true));
    let major = text(&answer, "version").filter(|v| v.split('.').next() != Some("1"));
    reply.notes.extend(major.map(|version| format!("it speaks version {version}")));
    reply.notes.extend(answer.get("metadata").map(|metadata| format!("metadata: {metadata}")));
    Ok(reply)
}

/// Every spelling of a decision.
pub(super) fn parse_decision(value: &Value) -> Result<Decision, String> {
    let text = match value {
        Value::Null | Value::Bool(true) => return Ok(Decision::Allow),
        Value::Bool(false) => return Ok(Decision::Block),
        Value::String(text) => text.trim().to_lowercase(),
        _ => return Err("a decision that is no text".into()),
    };
    Ok(match text.as_str() {
        "" | "allow" | "approve" | "approved" | "continue" | "ok" | "pass" | "yes" => {
            Decision::Allow
        }
        "block" | "deny" | "denied" | "reject" | "cancel" | "no" => Decision::Block,
        "ask" | "prompt" | "confirm" => Decision::Ask,
        "modify" | "modified" | "update" | "rewrite" => Decision::Modify,
        "halt" | "stop" => Decision::Halt,
        _ => return Err("an unknown decision".into()),
    })
}

/// `hookSpecificOutput` as later servers of this protocol send it; its reason.
fn read_specific(
    specific: &Map<String, Value>,
    event: &Event,
    reply: &mut Reply,
    said: &mut Vec<(Decision, &str)>,
) -> Result<Option<String>, String> {
    let mut reason = specific.get("permissionDecisionReason").and_then(Value::as_str);
    let mut word = specific.get("permissionDecision").and_then(Value::as_str);
    let mut input = specific.get("updatedInput");
    if let Some(decision) = specific.get("decision") {
        word = decision.get("behavior").and_then(Value::as_str).or(word);
        reason = decision.get("message").and_then(Value::as_str).or(reason);
        input = decision.get("updatedInput").or(input);
        if decision.get("interrupt") == Some(&Value::Bool(true)) && word == Some("deny") {
            said.push((Decision::Halt, "interrupt"));
        }
    }
    if let Some(word) = word {
        let decision = match word {
            "allow" => Decision::Allow,
            "ask" => Decision::Ask,
            "defer" => Decision::Defer,
            "deny" => Decision::Block,
            _ => return Err("an unknown permissionDecision".into()),
        };
        reply.explicit = decision == Decision::Allow;
        said.push((decision, "permissionDecision"));
    }
    if let (Some(Value::Object(input)), Value::Object(old)) = (input, &event.input)
        && event.kind.is_gate()
    {
        let mut new = Value::Object(old.clone());
        merge_patch(&mut new, &Value::Object(input.clone()));
        reply.input = new.as_object().filter(|new| *new != old).cloned();
    }
    reply.response = specific
        .get("updatedToolOutput")
        .filter(|value| event.kind == Kind::PostToolUse && !value.is_null())
        .cloned();
    let context = specific.get("additionalContext").and_then(Value::as_str);
    reply.context.extend(context.map(str::to_string));
    Ok(reason.map(str::to_string))
}

/// What `modified_data` changes about the event, beside what the reply changes already.
pub(super) fn apply_modifications(
    event: &Event,
    changes: &Map<String, Value>,
    reply: &mut Reply,
) -> Result<(), String> {
    match event.kind {
        Kind::PreToolUse | Kind::PermissionRequest => {
            let mut rest = changes.clone();
            // A hook cannot change the tool.
            rest.remove("tool_name");
            let patch = match rest.get("tool_input") {
                Some(patch @ Value::Object(_)) => patch.clone(),
                Some(_) => return Err("a `tool_input` that is no object".into()),
                None => {
                    if !rest.is_empty() {
                        reply.notes.push("modified_data was taken for the tool's input".into());
                    }
                    Value::Object(rest)
                }
            };
            let old = event.input.as_object().cloned().unwrap_or_default();
            let mut new = Value::Object(reply.input.take().unwrap_or_else(|| old.clone()));
            merge_patch(&mut new, &patch);
            reply.input = new.as_object().filter(|new| **new != old).cloned();
        }
        Kind::PostToolUse => {
            if let (Some(patch), Some(old)) = (changes.get("tool_response"), event.tool_response())
            {
                let mut new = old.clone();
                match (&new, patch) {
                    (Value::Object(_), Value::Object(_)) => merge_patch(&mut new, patch),
                    _ => new = patch.clone(),
                }
                reply.response = Some(new).filter(|new| new != old && !new.is_null());
            }
        }
        Kind::UserPromptSubmit => {
            let prompt = changes.get("prompt").and_then(Value::as_str);
            if let Some(prompt) = prompt.filter(|new| Some(*new) != event.prompt()) {
                reply.context.push(describe_new_prompt(prompt));
                reply.notes.push("a prompt cannot be replaced: told to the model".into());
            }
        }
        Kind::PreCompact => {
            let text = changes.get("custom_instructions").and_then(Value::as_str);
            let text = text.filter(|new| Some(*new) != event.str_field("custom_instructions"));
            reply.context.extend(text.map(str::to_string));
        }
        kind => reply.notes.push(format!("nothing of {} can be modified: ignored", kind.name())),
    }
    Ok(())
}

/// JSON Merge Patch (RFC 7396).
pub(super) fn merge_patch(target: &mut Value, patch: &Value) {
    let Value::Object(patch) = patch else {
        *target = patch.clone();
        return;
    };
    if !target.is_object() {
        *target = Value::Object(Map::new());
    }
    let Value::Object(target) = target else { return };
    for (key, value) in patch {
        if value.is_null() {
            target.shift_remove(key);
        } else {
            merge_patch(target.entry(key.clone()).or_insert(Value::Null), value);
        }
    }
}
