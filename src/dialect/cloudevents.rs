//! The CloudEvents envelope of later hooks clients: the agent's payload as it was sent in a structured
//! event, answered like the protocol before it.
//!
//! The content type is plain `application/json`, as those clients send it: their servers read bodies
//! of no other (Express takes `application/cloudevents+json` for no JSON, and finds nothing).

use serde_json::{Map, Value, json};

use super::{
    Defaults, Dialect, Facts, Reply, Request, Settings, agent_name, answer, correlation_id,
    format_time, with_member,
};
use crate::event::Event;

pub(super) struct CloudEvents;

static FACTS: Facts = Facts {
    names: &["cloudevents"],
    // As its own clients have it.
    defaults: Defaults { retries: 2, fail_open: false, ..Defaults::SLOW },
    ..Facts::ASKED
};

impl Dialect for CloudEvents {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn body(&self, request: &Request, _: &Settings) -> Vec<u8> {
        let event = &request.event;
        let mut head = Map::new();
        let mut put = |key: &str, value: Value| {
            head.insert(key.into(), value);
        };
        put("specversion", "1.0".into());
        put("type", format!("com.claudecode.hook.{}", event.name).into());
        put("source", format!("/{}/hooks", agent_name(event)).into());
        put("id", request.id.clone().into());
        put("time", format_time(request.timestamp).into());
        put("datacontenttype", "application/json".into());
        // An attribute is a text with something in it, or it is not there.
        if !event.session.is_empty() {
            put("sessionid", event.session.clone().into());
        }
        if let Some(id) = correlation_id(event) {
            put("correlationid", id.into());
        }
        // `data` is the agent's: what hookctl adds are attributes, whose names know no `_` or `.`.
        let note = request.note.to_json();
        for (key, value) in note.iter().filter_map(Value::as_object).flatten() {
            put(&format!("hookctl{key}"), value.clone());
        }
        with_member(&json!(head), "data", &request.payload())
    }

    fn read_answer(&self, _: &Settings, event: &Event, body: &str) -> Result<Reply, String> {
        answer::read_answer(event, body)
    }
}
