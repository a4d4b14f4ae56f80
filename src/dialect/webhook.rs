//! Anything that takes a POST: a text or JSON of the file's own, or everything there is to tell.
//! What it answers is never read.

use serde_json::{Map, Value, json};

use super::{Dialect, Ending, Facts, Request, SettingKey, Settings, Takes, format_time};
use crate::text;

pub(super) struct Webhook;

/// The placeholders of what it is sent.
const NAMES: &[&str] = &[
    "agent", "event", "session", "cwd", "tool", "what", "decision", "rule", "reason", "time", "id",
];

const BODY: SettingKey = SettingKey {
    name: "body",
    doc: "webhook: what is sent; a text, or a table that becomes JSON",
    takes: Takes::Form(NAMES),
};

static FACTS: Facts = Facts { names: &["webhook"], keys: &[BODY], hides_path: true, ..Facts::TOLD };

impl Dialect for Webhook {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn placeholder_value(&self, request: &Request, name: &str) -> String {
        placeholder_text(request, name)
    }

    fn body(&self, request: &Request, _: &Settings) -> Vec<u8> {
        all_placeholders(request).to_string().into_bytes()
    }

    fn content_type(&self, own: &Settings) -> &'static str {
        match own.form(&BODY) {
            Some(Value::String(_)) => "text/plain; charset=utf-8",
            _ => "application/json",
        }
    }
}

/// What a placeholder stands for: people read it, on whatever shows them notifications.
fn placeholder_text(request: &Request, name: &str) -> String {
    let event = &request.event;
    let ending =
        |part: fn(&Ending) -> &String| request.note.ending().map(part).cloned().unwrap_or_default();
    let value = match name {
        "agent" => event.agent.into(),
        "event" => event.name.clone(),
        "session" => event.session.clone(),
        "cwd" => event.cwd.clone(),
        "tool" => event.tool.clone(),
        "what" => request.call_summary(),
        "decision" => request.note.decision_name().into(),
        "time" => format_time(request.timestamp),
        "id" => request.id.clone(),
        "rule" => ending(|ending| &ending.rule),
        _ => ending(|ending| &ending.reason),
    };
    text::make_visible(&value)
}

/// Every value under its name; empty ones are left out.
fn all_placeholders(request: &Request) -> Value {
    let values =
        NAMES.iter().map(|name| ((*name).to_string(), json!(placeholder_text(request, name))));
    let mut out: Map<String, Value> = values.filter(|(_, value)| value != "").collect();
    if request.note.ending().is_some_and(|ending| ending.paused) {
        out.insert("paused".into(), json!(true));
    }
    Value::Object(out)
}
