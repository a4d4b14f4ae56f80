//! Decisions as OpenTelemetry logs: OTLP/HTTP with JSON, one record for each message.

use serde_json::{Value, json};

use super::{Dialect, Facts, Reply, Request, Settings};
use crate::event::Event;

pub(super) struct Otlp;

static FACTS: Facts = Facts { names: &["otlp"], page: Some("/v1/logs"), ..Facts::TOLD };

impl Dialect for Otlp {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn body(&self, request: &Request, _: &Settings) -> Vec<u8> {
        let event = &request.event;
        let decision = request.note.decision_name();
        let (number, text) = log_severity(decision);
        // Integers of 64 bits are texts in this mapping.
        let time = format!("{}000000", request.timestamp);
        let what = request.call_summary();
        let ending = request.note.ending();
        let (rule, reason) =
            ending.map_or(("", ""), |ending| (ending.rule.as_str(), ending.reason.as_str()));
        let mut attributes = Vec::new();
        for (key, value) in [
            // Of records with the same one, all but one may be dropped.
            ("log.record.uid", request.id.as_str()),
            ("session.id", &event.session),
            ("hookctl.agent", event.agent),
            ("hookctl.event", &event.name),
            ("hookctl.cwd", &event.cwd),
            ("hookctl.tool", &event.tool),
            ("hookctl.what", &what),
            ("hookctl.decision", decision),
            ("hookctl.rule", rule),
            ("hookctl.reason", reason),
            ("hookctl.bundle", ending.map_or("", |ending| ending.bundle.as_str())),
        ] {
            if !value.is_empty() {
                attributes.push(attribute(key, json!({ "stringValue": value })));
            }
        }
        if ending.is_some_and(|ending| ending.paused) {
            attributes.push(attribute("hookctl.paused", json!({ "boolValue": true })));
        }
        let words = [decision, event.name.as_str(), event.tool.as_str(), what.as_str()];
        let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
        let version = env!("CARGO_PKG_VERSION");
        let resource = [
            attribute("service.name", json!({ "stringValue": "hookctl" })),
            attribute("service.version", json!({ "stringValue": version })),
        ];
        let record = json!({
            "timeUnixNano": time,
            "observedTimeUnixNano": time,
            "severityNumber": number,
            "severityText": text,
            "eventName": "hookctl.decision",
            "body": { "stringValue": words.join(" ") },
            "attributes": attributes,
        });
        let scope = json!({ "name": "hookctl", "version": version });
        json!({ "resourceLogs": [{
            "resource": { "attributes": resource },
            "scopeLogs": [{ "scope": scope, "logRecords": [record] }],
        }] })
        .to_string()
        .into_bytes()
    }

    /// It decides nothing, and says only what it did not take of what it got.
    fn read_answer(&self, _: &Settings, _: &Event, body: &str) -> Result<Reply, String> {
        let answer: Value = serde_json::from_slice(body.as_bytes()).unwrap_or_default();
        let partial = &answer["partialSuccess"];
        let rejected = match &partial["rejectedLogRecords"] {
            Value::String(text) => text.parse().unwrap_or(0),
            number => number.as_u64().unwrap_or(0),
        };
        let why = partial["errorMessage"].as_str().unwrap_or_default();
        let mut reply = Reply::default();
        if rejected > 0 || !why.is_empty() {
            reply.notes.push(format!("rejected {rejected} records: {why}"));
        }
        Ok(reply)
    }
}

fn attribute(key: &str, value: Value) -> Value {
    json!({ "key": key, "value": value })
}

/// Number and text of the data model: what was stopped is worth a warning, a question a second look.
fn log_severity(decision: &str) -> (u8, &'static str) {
    match decision {
        "deny" | "halt" => (13, "WARN"),
        "ask" | "defer" => (10, "INFO2"),
        _ => (9, "INFO"),
    }
}
