//! Anything that takes a POST: a text or JSON of the file's own, or everything there is to tell.
//! What it answers is never read.

use serde_json::{Map, Value, json};

use super::reply::Reply;
use super::{Dialect, Ending, Request, told};
use crate::event::Event;
use crate::rule::file::Remote;
use crate::rule::template::{Name, TOLD, Template};
use crate::text;

pub(super) struct Webhook;

impl Dialect for Webhook {
    fn body(&self, request: &Request, remote: &Remote) -> Vec<u8> {
        let fill = |text: &str| match Template::of(text, TOLD) {
            Ok(template) => template.fill(&|name| match name {
                Name::Own(name) => Some(value(request, name)),
                _ => None,
            }),
            // The file has a fault then, and does not come this far.
            Err(_) => text.to_string(),
        };
        match &remote.body {
            Some(Value::String(text)) => fill(text).into_bytes(),
            Some(body) => filled(body, &fill).to_string().into_bytes(),
            None => everything(request).to_string().into_bytes(),
        }
    }

    fn read(&self, _: &Remote, _: &Event, _: &str) -> Result<Reply, String> {
        Ok(Reply::default())
    }

    fn content_type(&self, remote: &Remote) -> &'static str {
        match remote.body {
            Some(Value::String(_)) => "text/plain; charset=utf-8",
            _ => "application/json",
        }
    }
}

/// What a placeholder stands for: people read it, on whatever shows them notifications.
fn value(request: &Request, name: &str) -> String {
    let event = &request.event;
    let ending = |part: fn(&Ending) -> &String| {
        request.note.ending().map(part).cloned().unwrap_or_default()
    };
    let value = match name {
        "agent" => event.agent.into(),
        "event" => event.name.clone(),
        "session" => event.session.clone(),
        "cwd" => event.cwd.clone(),
        "tool" => event.tool.clone(),
        "what" => told::what(event),
        "decision" => request.note.decision().into(),
        "time" => told::time(request.timestamp),
        "id" => request.id.clone(),
        "rule" => ending(|ending| &ending.rule),
        _ => ending(|ending| &ending.reason),
    };
    text::visible(&value)
}

/// Every value under its name; empty ones are left out.
fn everything(request: &Request) -> Value {
    let values = TOLD.iter().map(|name| ((*name).to_string(), json!(value(request, name))));
    let mut out: Map<String, Value> = values.filter(|(_, value)| value != "").collect();
    if request.note.ending().is_some_and(|ending| ending.paused) {
        out.insert("paused".into(), json!(true));
    }
    Value::Object(out)
}

/// The same value with every text in it filled in.
fn filled(value: &Value, fill: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text)),
        Value::Array(all) => all.iter().map(|one| filled(one, fill)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, one)| (key.clone(), filled(one, fill))).collect()
        }
        other => other.clone(),
    }
}
