//! Servers, asked by whole processes: what is sent, what an answer does, and that no fault of a server
//! hurts: the documented verdict, in time, with the documented number of requests, no secret told.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

#[path = "remote/answers.rs"]
mod answers;
#[path = "remote/bridge.rs"]
mod bridge;
#[path = "remote/cdev.rs"]
mod cdev;
#[path = "remote/claude_hook.rs"]
mod claude_hook;
#[path = "remote/claude_http.rs"]
mod claude_http;
#[path = "remote/cut.rs"]
mod cut;
#[path = "remote/dialects.rs"]
mod dialects;
#[path = "remote/faults.rs"]
mod faults;
mod home;
#[path = "remote/judgement.rs"]
mod judgement;
#[path = "remote/manage.rs"]
mod manage;
#[path = "remote/matrix.rs"]
mod matrix;
#[path = "remote/memory.rs"]
mod memory;
#[path = "remote/odd.rs"]
mod odd;
#[path = "remote/opa.rs"]
mod opa;
#[path = "remote/patience.rs"]
mod patience;
#[path = "remote/phone.rs"]
mod phone;
#[path = "remote/privacy.rs"]
mod privacy;
#[path = "remote/proof.rs"]
mod proof;
#[path = "remote/rate.rs"]
mod rate;
#[path = "remote/roads.rs"]
mod roads;
#[path = "remote/secrets.rs"]
mod secrets;
#[path = "remote/sent.rs"]
mod sent;
#[path = "remote/server.rs"]
mod server;
#[path = "remote/settings.rs"]
mod settings;
#[path = "remote/shown.rs"]
mod shown;
#[path = "remote/told.rs"]
mod told;
#[path = "remote/twice.rs"]
mod twice;

use server::{Home, Play, Server, answer_of, finish, ok, status};

/// Small times, so that tests need not wait.
const TIMES: &str = "timeout_ms = 400\nretry_count = 2\nretry_delay_ms = 30\ndeadline_ms = 1400";
const CLOSED: &str = "Server unavailable, failing closed";

fn bash(command: &str) -> Value {
    json!({
        "session_id": "s-1", "transcript_path": "/t.jsonl", "cwd": "/", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": command, "description": "d" }, "tool_use_id": "toolu_1"
    })
}

fn event(name: &str, more: Value) -> Value {
    let mut payload = json!({ "session_id": "s-1", "cwd": "/", "hook_event_name": name });
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    payload
}

/// What a deny for that reason becomes, event by event, where it can block anything.
fn blocked(reason: &str) -> Vec<(Value, Value)> {
    let block = || json!({ "decision": "block", "reason": reason });
    let permission = json!({"hookSpecificOutput": {"hookEventName": "PermissionRequest",
        "decision": {"behavior": "deny", "message": reason}}});
    let post = json!({"tool_name": "x", "tool_input": {}, "tool_response": 1});
    let call = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    vec![
        (event("PermissionRequest", call), permission),
        (event("PostToolUse", post), block()),
        (event("UserPromptSubmit", json!({"prompt": "p"})), block()),
        (event("Stop", json!({"stop_hook_active": false})), block()),
        (event("Stop", json!({"stop_hook_active": true})), Value::Null),
        (event("SubagentStop", json!({"stop_hook_active": false})), block()),
        (event("SubagentStop", json!({"stop_hook_active": true})), Value::Null),
        (event("PreCompact", json!({"trigger": "auto"})), block()),
    ]
}

/// A config whose server gets those events.
fn forward(url: &str, more: &str) -> String {
    format!("[remote.x]\nurl = \"{url}\"\nevents = \"*\"\n{TIMES}\n{more}\n")
}

/// What the answer says of a tool call.
fn verdict(answer: &Value) -> (&str, &str) {
    let specific = &answer["hookSpecificOutput"];
    let text = |key: &str| specific[key].as_str().unwrap_or_default();
    (text("permissionDecision"), text("permissionDecisionReason"))
}
