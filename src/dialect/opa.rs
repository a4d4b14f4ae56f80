//! Open Policy Agent's Data API: the event is the policy's `input`, the rule's value its answer.
//!
//! An answer that names no verdict in words that are known here is none: a policy that says no in words
//! of its own must not pass for one that says yes.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use super::answer::{self, Decision};
use super::{
    Defaults, Dialect, Facts, Reply, Request, SettingKey, Settings, Takes, agent_name, claude_http,
    object, with_member,
};
use crate::event::Event;
use crate::verdict::Verb;

pub(super) struct Opa;

const INPUT: SettingKey = SettingKey {
    name: "input",
    doc: "opa: what the policy gets as input: event, or raw",
    takes: Takes::Word(&["event", "raw"]),
};
const UNDEFINED: SettingKey = SettingKey {
    name: "undefined",
    doc: "opa: what a policy without an answer is: no_opinion, deny or fail",
    takes: Takes::Word(&["no_opinion", "deny", "fail"]),
};
const SHOW_ID: SettingKey = SettingKey {
    name: "show_decision_id",
    doc: "opa: true = a reason ends with the decision's id",
    takes: Takes::Flag(false),
};

/// What stands beside `result`. A body with anything else is of another protocol.
const BESIDE: &[&str] = &["decision_id", "metrics", "provenance", "explanation", "warning"];
/// What is read together with a native `hookSpecificOutput`.
const NATIVE: &[&str] =
    &["hookSpecificOutput", "continue", "stopReason", "systemMessage", "suppressOutput"];

static FACTS: Facts = Facts {
    names: &["opa"],
    keys: &[INPUT, UNDEFINED, SHOW_ID],
    // A daemon on this machine answers within milliseconds.
    defaults: Defaults { timeout: 500, retries: 1, delay: 50, ..Defaults::SLOW },
    page: Some("/v1/data/hookctl/decision"),
    doubt: Some("OPA's decision logs, where they are on, hold all that it is sent"),
    reads_nothing: true,
    hints: &[
        (401, "token or system.authz"),
        (404, "no such path: is this OPA's Data API?"),
        (500, "rules that contradict each other, or an error of a built-in"),
    ],
    ..Facts::ASKED
};

impl Dialect for Opa {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    /// There a policy would find no `input`, and have nothing to say about anything.
    fn address_fault(&self, path: &str) -> Option<(&'static str, &'static str)> {
        path.contains("/v0/").then_some(("/v0 takes no `input`", "ask for /v1/data/PACKAGE/RULE"))
    }

    fn body(&self, request: &Request, own: &Settings) -> Vec<u8> {
        let event = &request.event;
        if own.word(&INPUT) == "raw" {
            let payload = request.annotated_payload().map_or_else(|| request.payload(), Cow::Owned);
            return with_member(&json!({}), "input", &payload);
        }
        let mut input = json!({
            "agent": agent_name(event),
            "event": event.name,
            "session_id": event.session,
            "cwd": event.cwd,
        });
        if !event.tool.is_empty() {
            input["tool"] = json!({ "name": event.tool, "input": event.input });
        }
        if let Some(prompt) = event.prompt() {
            input["prompt"] = prompt.into();
        }
        if let Some(note) = request.note.to_json() {
            input["hookctl"] = note;
        }
        with_member(&json!({}), "input", &with_member(&input, "raw", &request.payload()))
    }

    fn read_answer(&self, own: &Settings, event: &Event, body: &str) -> Result<Reply, String> {
        let answer = object(body)?;
        let mut reply = match answer.get("result") {
            Some(result) if *result != json!({}) => of_result(result, event)?,
            None if answer.keys().any(|key| !BESIDE.contains(&key.as_str())) => {
                return Err("it has no `result`: is this OPA's Data API?".into());
            }
            // Of a package, the empty object is what its rules that do not hold amount to.
            _ => undefined_reply(own.word(&UNDEFINED))?,
        };
        if let Some(id) = answer.get("decision_id").and_then(Value::as_str) {
            reply.notes.push(format!("decision_id: {id}"));
            let told = reply.verb.is_some_and(|verb| verb != Verb::Allow);
            if own.flag(&SHOW_ID) && told {
                reply.reason = format!("{} (decision {id})", reply.reason).trim_start().into();
            }
        }
        Ok(reply)
    }
}

/// What it amounts to that no rule has a value.
fn undefined_reply(setting: &str) -> Result<Reply, String> {
    let note = "undefined: no such rule, or nothing to say".to_string();
    let verb = match setting {
        "fail" => return Err(note),
        "deny" => Some(Verb::Deny),
        _ => None,
    };
    let reason = verb.map(|_| "The policy has no answer".to_string()).unwrap_or_default();
    Ok(Reply { verb, reason, notes: vec![note], ..Reply::default() })
}

/// What the rule's value says.
fn of_result(result: &Value, event: &Event) -> Result<Reply, String> {
    let plain = |decision: Decision| Reply {
        verb: Some(decision.to_verb()),
        reason: default_reason(decision).into(),
        ..Reply::default()
    };
    match result {
        Value::Bool(_) | Value::String(_) => match answer::parse_decision(result)? {
            Decision::Modify => Err("a change that does not say of what".into()),
            decision => Ok(plain(decision)),
        },
        Value::Array(items) if items.iter().all(Value::is_string) => {
            match sorted_messages(items)? {
                messages if messages.is_empty() => Ok(plain(Decision::Allow)),
                messages => Ok(Reply { reason: messages.join("; "), ..plain(Decision::Block) }),
            }
        }
        Value::Object(map) => of_object(map, event),
        _ => Err("a result that is no decision".into()),
    }
}

fn default_reason(decision: Decision) -> &'static str {
    match decision {
        Decision::Block | Decision::Halt => "Denied by policy",
        Decision::Modify => "Modified by policy",
        _ => "",
    }
}

/// What a key of an object decides, and its messages.
type Said = (Decision, Vec<String>);

/// The keys that are verbs, beside those that mean something by their absence.
const VERBS: [(&str, Decision); 4] = [
    ("allow", Decision::Allow),
    ("halt", Decision::Halt),
    ("ask", Decision::Ask),
    ("modify", Decision::Modify),
];

/// An object: of all that its keys say, the strictest counts.
fn of_object(map: &Map<String, Value>, event: &Event) -> Result<Reply, String> {
    let (mut reply, mut bad) = match native_answer(map, event) {
        Ok(reply) => (reply, None),
        Err(why) => (Reply::default(), Some(why)),
    };
    let native = decided(&reply);
    let mut said: Vec<Said> = Vec::new();
    said.extend(native.map(|decision| (decision, vec![reply.reason.clone()])));
    let mut known = false;
    for (key, value) in map {
        let Some(found) = of_key(key, value, &mut reply) else { continue };
        known = true;
        match found {
            Ok(found) => said.extend(found),
            Err(why) => bad = Some(format!("`{key}`: {why}")),
        }
    }
    let strictest = said.iter().map(|(decision, _)| *decision).max();
    // What makes no sense must not take a no away that stands beside it.
    if let Some(why) = bad
        && strictest.is_none_or(|decision| decision < Decision::Block)
    {
        return Err(why);
    }
    if !known {
        return Err("an object that decides nothing".into());
    }
    let Some(strictest) = strictest else { return Ok(reply) };
    reply.explicit &= strictest == Decision::Allow;
    if strictest > Decision::Modify && Some(strictest) != native {
        (reply.input, reply.response) = (None, None);
    }
    reply.verb = Some(strictest.to_verb());
    reply.reason = why(map, &said, strictest);
    if strictest == Decision::Modify {
        apply_change(map, event, &mut reply)?;
    } else if said.iter().any(|(decision, _)| *decision == Decision::Modify) {
        reply.notes.push("it also changes the call: dropped beside a stricter decision".into());
    }
    Ok(reply)
}

/// What a native answer decides.
fn decided(reply: &Reply) -> Option<Decision> {
    let changes = reply.input.is_some() || reply.response.is_some();
    match reply.verb {
        Some(Verb::Allow) => Some(Decision::Allow),
        Some(Verb::Ask) => Some(Decision::Ask),
        Some(Verb::Defer) => Some(Decision::Defer),
        Some(Verb::Deny) => Some(Decision::Block),
        Some(Verb::Halt) => Some(Decision::Halt),
        None => changes.then_some(Decision::Modify),
    }
}

/// What one key says; None where it is not known.
fn of_key(key: &str, value: &Value, reply: &mut Reply) -> Option<Result<Option<Said>, String>> {
    let plain = |decision| Some((decision, Vec::new()));
    let mut told = |texts: fn(&mut Reply) -> &mut Vec<String>| {
        texts(reply).extend(text_list(value));
        Ok(None)
    };
    Some(match key {
        "decision" => answer::parse_decision(value).map(plain),
        "allow" if value.is_boolean() => answer::parse_decision(value).map(plain),
        // Nothing that is denied is no objection.
        "deny" | "block" => {
            verb_messages(value, Decision::Block).map(|found| found.or(plain(Decision::Allow)))
        }
        "modified_data" | "updated_input" => {
            Ok(plain(Decision::Modify).filter(|_| !value.is_null()))
        }
        "context" | "add_context" => told(|reply| &mut reply.context),
        "system_message" => told(|reply| &mut reply.notice),
        "hookSpecificOutput" => Ok(None),
        _ => {
            let (_, decision) = VERBS.iter().find(|(verb, _)| *verb == key)?;
            verb_messages(value, *decision)
        }
    })
}

/// The reason: the messages of that decision, else what stands beside it.
fn why(map: &Map<String, Value>, said: &[Said], decision: Decision) -> String {
    let messages = said.iter().filter(|(of, _)| *of == decision).flat_map(|(_, texts)| texts);
    let messages: Vec<&str> =
        messages.map(String::as_str).filter(|text| !text.trim().is_empty()).collect();
    let text = if messages.is_empty() { decision_reason(map) } else { messages.join("; ") };
    if text.trim().is_empty() { default_reason(decision).into() } else { text }
}

/// What a native `hookSpecificOutput` says.
fn native_answer(map: &Map<String, Value>, event: &Event) -> Result<Reply, String> {
    if !map.contains_key("hookSpecificOutput") {
        return Ok(Reply::default());
    }
    let of = map.iter().filter(|(key, _)| NATIVE.contains(&key.as_str()));
    let of = of.map(|(key, value)| (key.clone(), value.clone())).collect();
    claude_http::read_object(&of, event, false)
}

/// The reason that stands beside the decision.
fn decision_reason(map: &Map<String, Value>) -> String {
    ["reason", "message", "reasons"]
        .iter()
        .filter_map(|key| map.get(*key))
        .map(|value| text_list(value).join("; "))
        .find(|text| !text.trim().is_empty())
        .unwrap_or_default()
}

/// A text or a list of texts; nothing of anything else.
fn text_list(value: &Value) -> Vec<String> {
    match value {
        Value::String(text) => vec![text.clone()],
        Value::Array(items) => items.iter().flat_map(text_list).collect(),
        _ => Vec::new(),
    }
}

/// A verb's value: a flag, a message, or a list of messages. None where it does not hold.
fn verb_messages(
    value: &Value,
    decision: Decision,
) -> Result<Option<(Decision, Vec<String>)>, String> {
    let messages = match value {
        Value::Null | Value::Bool(false) => return Ok(None),
        Value::Bool(true) => Vec::new(),
        Value::String(text) => vec![text.clone()],
        Value::Array(items) if items.is_empty() => return Ok(None),
        Value::Array(items) => sorted_messages(items)?,
        _ => return Err("neither a flag nor messages".into()),
    };
    Ok(Some((decision, messages)))
}

/// Messages as texts, or as objects with one; those of high severity come first.
fn sorted_messages(items: &[Value]) -> Result<Vec<String>, String> {
    let mut out = Vec::new();
    for item in items {
        let text = match item {
            Value::String(text) => Some(text.as_str()),
            Value::Object(map) => ["reason", "message", "msg", "question", "rule_id"]
                .iter()
                .find_map(|key| map.get(*key).and_then(Value::as_str)),
            _ => return Err("a message that is no text".into()),
        };
        let severity = item.get("severity").and_then(Value::as_str).unwrap_or_default();
        let high = ["HIGH", "CRITICAL"].iter().any(|word| severity.eq_ignore_ascii_case(word));
        out.push((!high, text.unwrap_or_default().to_string()));
    }
    crate::order::sort_by_key(&mut out, |(low, _)| *low);
    Ok(out.into_iter().map(|(_, text)| text).collect())
}

/// What the call becomes, beside what a native answer makes of it already.
fn apply_change(map: &Map<String, Value>, event: &Event, reply: &mut Reply) -> Result<(), String> {
    let there = |key: &str| map.get(key).filter(|value| !value.is_null());
    // Of the verb `modify` the higher priority wins a key, of equal ones the first: it comes last.
    let mut verbs: Vec<&Value> =
        there("modify").and_then(Value::as_array).into_iter().flatten().rev().collect();
    crate::order::sort_by_key(&mut verbs, |verb| {
        verb.get("priority").and_then(Value::as_i64).unwrap_or(50)
    });
    let inputs = verbs.iter().map(|verb| verb.get("updated_input").unwrap_or(&Value::Null));
    let inputs = inputs.chain(there("updated_input")).map(|input| json!({ "tool_input": input }));
    let changes: Vec<Value> = inputs.chain(there("modified_data").cloned()).collect();
    if changes.is_empty() && reply.input.is_none() && reply.response.is_none() {
        return Err("a change that does not say of what".into());
    }
    for change in &changes {
        match change {
            Value::Object(change) => answer::apply_modifications(event, change, reply)?,
            _ => return Err("`modified_data` is no object".into()),
        }
    }
    Ok(())
}
