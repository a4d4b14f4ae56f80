//! The Hooks Server Protocol 1.0 for clients that speak it: `POST /hook`. The server's rules decide; where one asks, a
//! human does. Its envelope and answers: seed 001 and its contract, sections 2 and 3.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::Response;
use hookctl::payload;
use hookctl::verdict::{Answer, Verb};
use serde_json::{Map, Value, json};

use crate::access::Peer;
use crate::cdev::{Hook, Post};
use crate::context::{Server, json_response, read_body, refuse};
use crate::hooks;
use crate::judge::on_thread;

/// The version that it speaks; clients of a later 1.x are answered alike.
const VERSION: &str = "1.0";

/// One event.
pub async fn receive(State(server): State<Arc<Server>>, request: Request) -> Response {
    let peer = request.extensions().get::<Peer>().copied();
    if !peer.is_some_and(|peer| server.access.admits_hook(peer, request.headers())) {
        return refuse(&server, &request);
    }
    let bytes = match read_body(request.into_body()).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    let event = payload::parse(&bytes).map_err(|error| error.to_string()).and_then(read_envelope);
    let mut post = match event {
        Ok(event) => Post::new(event),
        // The client's `fail_open` decides: nothing here says that the call is harmless.
        Err(why) => return json_response(StatusCode::BAD_REQUEST, &json!({ "error": why })),
    };
    json_response(StatusCode::OK, &decide(&server, &mut post).await)
}

/// The event of an envelope, as Claude Code would have sent it.
///
/// # Errors
/// What it lacks.
fn read_envelope(mut envelope: Map<String, Value>) -> Result<Map<String, Value>, String> {
    let version = envelope.get("version").and_then(Value::as_str).unwrap_or_default();
    if version.split('.').next() != VERSION.split('.').next() {
        return Err(format!("version: {VERSION} is wanted"));
    }
    let Some(Value::Object(mut data)) = envelope.remove("data") else {
        return Err("data: an object is wanted".into());
    };
    let event =
        envelope.get("event").and_then(Value::as_object).ok_or("event: an object is wanted")?;
    let text = |key: &str| event.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    let name = text("type").or_else(|| text("name")).ok_or("event.type is wanted")?;
    // What the envelope says of an event is what it is, whatever its data say.
    data.insert("hook_event_name".into(), name.into());
    data.insert("session_id".into(), text("session_id").unwrap_or_default().into());
    if let Some(call) = text("correlation_id")
        && matches!(name, "PreToolUse" | "PostToolUse" | "PostToolUseFailure")
    {
        data.entry("tool_use_id").or_insert_with(|| call.into());
    }
    Ok(data)
}

/// What is answered to it.
async fn decide(server: &Server, post: &mut Post) -> Value {
    let (judge, raw) = (Arc::clone(&server.judge), post.raw.clone());
    let Some(answer) = on_thread(move || judge.see(&raw).answer).await else {
        return decision("ask", "hookctl-serve could not judge this call");
    };
    let event = post.field("hook_event_name").to_string();
    let hook = match event.as_str() {
        "PreToolUse" => Some(Hook::ToolStart),
        "PostToolUse" | "PostToolUseFailure" => Some(Hook::ToolEnd),
        "SessionStart" => Some(Hook::Session),
        "Notification" => Some(Hook::Notification),
        _ => None,
    };
    let asks_human = answer.verb == Some(Verb::Ask) && event == "PreToolUse";
    if let Some(hook) = hook.filter(|_| !asks_human) {
        hooks::tell(server, hook, post).await;
    }
    let mut out = match answer.verb {
        Some(Verb::Ask) if asks_human => {
            let human = hooks::ask_human(server, post).await;
            match human.decision.as_str() {
                "allow" => allow(&answer, post),
                "deny" if human.reason.is_empty() => decision("block", "A human said no"),
                "deny" => decision("block", &human.reason),
                _ => decision("ask", &answer.reason),
            }
        }
        Some(Verb::Ask) => decision("ask", &answer.reason),
        Some(Verb::Halt) => decision("halt", &answer.reason),
        Some(Verb::Allow) | None => allow(&answer, post),
        Some(_) => decision("block", &answer.reason),
    };
    if !answer.notice.is_empty() {
        out["systemMessage"] = answer.notice.join("\n").into();
    }
    if !answer.context.is_empty() {
        let context = answer.context.join("\n");
        out["hookSpecificOutput"] = json!({ "hookEventName": event, "additionalContext": context });
    }
    out
}

fn decision(word: &str, reason: &str) -> Value {
    json!({ "version": VERSION, "decision": word, "reason": reason })
}

/// No objection, or none to the call as a rule has it.
fn allow(answer: &Answer, post: &Post) -> Value {
    let changed = [
        ("tool_input", answer.input.clone().map(Value::Object)),
        ("tool_response", answer.response.clone()),
    ];
    let mut modified = Map::new();
    for (key, new) in changed {
        let Some(new) = new else { continue };
        let old = post.raw.get(key).cloned().unwrap_or_default();
        match merge_patch(&old, &new) {
            Some(patch) => modified.insert(key.into(), patch),
            None => {
                return decision(
                    "block",
                    "A rule rewrites this call as the protocol cannot say it",
                );
            }
        };
    }
    if !answer.elements.is_empty() {
        return decision("block", "A rule rewrites one of several operations of this call");
    }
    match modified.is_empty() {
        true => json!({ "version": VERSION, "decision": "allow" }),
        false => json!({ "version": VERSION, "decision": "modify", "modified_data": modified }),
    }
}

/// What makes the one of the other by a JSON merge patch (RFC 7396); None where a null would have to stay.
fn merge_patch(old: &Value, new: &Value) -> Option<Value> {
    let (Value::Object(old), Value::Object(new)) = (old, new) else {
        return (!holds_null(new)).then(|| new.clone());
    };
    let mut patch = Map::new();
    for key in old.keys().filter(|key| !new.contains_key(*key)) {
        patch.insert(key.clone(), Value::Null);
    }
    for (key, value) in new {
        match old.get(key) {
            Some(before) if before == value => {}
            Some(before) => drop(patch.insert(key.clone(), merge_patch(before, value)?)),
            None => drop(patch.insert(key.clone(), merge_patch(&Value::Null, value)?)),
        }
    }
    Some(Value::Object(patch))
}

/// Would a patch with it take something away? Lists are taken as they are.
fn holds_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(fields) => fields.values().any(holds_null),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_makes_the_new_of_the_old() {
        for (old, new, patch) in [
            (json!({"a": 1, "b": 2}), json!({"a": 1}), Some(json!({"b": null}))),
            (
                json!({"a": {"x": 1, "y": 2}}),
                json!({"a": {"x": 3}}),
                Some(json!({"a": {"x": 3, "y": null}})),
            ),
            (json!({"a": [1]}), json!({"a": [2, null]}), Some(json!({"a": [2, null]}))),
            (json!({"a": null}), json!({"a": null, "b": "x"}), Some(json!({"b": "x"}))),
            (json!({}), json!({"a": null}), None),
            (json!({"a": 1}), json!({"a": {"b": null}}), None),
        ] {
            assert_eq!(merge_patch(&old, &new), patch, "{old} {new}");
        }
    }
}
