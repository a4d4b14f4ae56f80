//! The Hooks Server Protocol 1.0 for clients that speak it, and Claude Code's own `http` hooks. The server's rules decide;
//! where one asks, a human does. Envelope and answers: seed 001 and its contract, sections 2 and 3; of the other its
//! contract, sections 2 and 3.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hookctl::agent::default_agent;
use hookctl::payload;
use hookctl::verdict::{Answer, Verb};
use serde_json::{Map, Value, json};

use crate::cdev::{Hook, Post};
use crate::context::{Server, json_response, read_body, refuse};
use crate::hooks;
use crate::judge::on_thread;

/// The version that it speaks; clients of a later 1.x are answered alike.
const VERSION: &str = "1.0";

/// Makes an event of a body, or says what is lacking.
type ReadEvent = fn(Map<String, Value>) -> Result<Map<String, Value>, String>;

/// `POST /hook`: one event in the protocol's envelope.
pub async fn receive(State(server): State<Arc<Server>>, request: Request) -> Response {
    let mut post = match read_event(&server, request, read_envelope).await {
        Ok(post) => post,
        Err(refused) => return refused,
    };
    json_response(StatusCode::OK, &decide(&server, &mut post).await)
}

/// `POST /claude`: one event as Claude Code's own `http` hooks post it, answered in Claude Code's words. An empty body
/// is silence there.
pub async fn receive_native(State(server): State<Arc<Server>>, request: Request) -> Response {
    let mut post = match read_event(&server, request, Ok).await {
        Ok(post) => post,
        Err(refused) => return refused,
    };
    let agent = default_agent();
    let answer = judge(&server, &mut post).await.unwrap_or_else(not_judged);
    let output = agent.render(&agent.parse(post.raw, None), &answer);
    let body = match output.status {
        0 => output.stdout,
        // There is no exit status here, and nothing but a block is said by it.
        _ => json!({ "decision": "block", "reason": output.stderr }).to_string(),
    };
    (StatusCode::OK, [(header::CONTENT_TYPE, "application/json")], body).into_response()
}

async fn read_event(server: &Server, request: Request, read: ReadEvent) -> Result<Post, Response> {
    let Some(requester) = hooks::sender(server, &request) else {
        return Err(refuse(server, &request));
    };
    let bytes = read_body(request.into_body()).await?;
    let event = payload::parse(&bytes).map_err(|error| error.to_string()).and_then(read);
    // Its client decides what that means: nothing here says that the call is harmless.
    event
        .map(|event| Post { requester, ..Post::new(event) })
        .map_err(|why| json_response(StatusCode::BAD_REQUEST, &json!({ "error": why })))
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

/// What the rules say of an event and, where one asks about a call, a human; None where nothing could be told.
async fn judge(server: &Server, post: &mut Post) -> Option<Answer> {
    let (judge, raw) = (Arc::clone(&server.judge), post.raw.clone());
    let mut answer = on_thread(move || judge.see(&raw).answer).await?;
    let hook = match post.field("hook_event_name") {
        "PreToolUse" if answer.verb == Some(Verb::Ask) => {
            let human = hooks::ask_human(server, post).await;
            let said = |text: &str| {
                if human.reason.is_empty() { text.into() } else { human.reason.clone() }
            };
            match human.decision.as_str() {
                "allow" => {
                    (answer.verb, answer.reason) = (Some(Verb::Allow), said("A human said yes"))
                }
                "deny" => {
                    (answer.verb, answer.reason) = (Some(Verb::Deny), said("A human said no"))
                }
                // Nobody was there: the client asks by itself.
                _ => {}
            }
            None
        }
        "PreToolUse" => Some(Hook::ToolStart),
        "PostToolUse" | "PostToolUseFailure" => Some(Hook::ToolEnd),
        "SessionStart" => Some(Hook::Session),
        "Notification" => Some(Hook::Notification),
        _ => None,
    };
    if let Some(hook) = hook {
        hooks::tell(server, hook, post).await;
    }
    Some(answer)
}

fn not_judged() -> Answer {
    let reason = "hookctl serve could not judge this call".into();
    Answer { verb: Some(Verb::Ask), reason, ..Answer::default() }
}

/// What is answered by the protocol.
async fn decide(server: &Server, post: &mut Post) -> Value {
    let answer = judge(server, post).await.unwrap_or_else(not_judged);
    let mut out = match answer.verb {
        Some(Verb::Ask) => decision("ask", &answer.reason),
        Some(Verb::Halt) => decision("halt", &answer.reason),
        Some(Verb::Allow) | None => allow(&answer, post),
        Some(_) => decision("block", &answer.reason),
    };
    if !answer.notice.is_empty() {
        out["systemMessage"] = answer.notice.join("\n").into();
    }
    if !answer.context.is_empty() {
        let (event, context) = (post.field("hook_event_name"), answer.context.join("\n"));
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
        match patch_between(&old, &new) {
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
fn patch_between(old: &Value, new: &Value) -> Option<Value> {
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
            Some(before) => drop(patch.insert(key.clone(), patch_between(before, value)?)),
            None => drop(patch.insert(key.clone(), patch_between(&Value::Null, value)?)),
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
            assert_eq!(patch_between(&old, &new), patch, "{old} {new}");
        }
    }
}
