//! Decisions as OpenTelemetry logs: OTLP/HTTP with JSON, one record for each message.

use serde_json::{Value, json};

use super::{Dialect, Facts, Heartbeat, Note, Reply, Request, SettingKey, Settings, Takes};
use crate::event::Event;

pub(super) struct Otlp;

const HEARTBEAT: SettingKey = SettingKey {
    name: "heartbeat",
    doc: "otlp: true = once a session it is told version, bundle, agents, and what `status --verify` says",
    takes: Takes::Flag(false),
};

/// The conventions change from version to version, so a file names the one that its collector reads.
const GEN_AI: SettingKey = SettingKey {
    name: "gen_ai",
    doc: "otlp: the version of OpenTelemetry's conventions for generative AI whose attributes are sent as well",
    takes: Takes::Word(&["off", CONVENTIONS]),
};

/// https://github.com/open-telemetry/semantic-conventions/blob/v1.41.0/docs/gen-ai/gen-ai-agent-spans.md
const CONVENTIONS: &str = "1.41";
const SCHEMA: &str = "https://opentelemetry.io/schemas/1.41.0";

static FACTS: Facts =
    Facts { names: &["otlp"], keys: &[HEARTBEAT, GEN_AI], page: Some("/v1/logs"), ..Facts::TOLD };

impl Dialect for Otlp {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn wants_heartbeat(&self, own: &Settings) -> bool {
        own.flag(&HEARTBEAT)
    }

    fn body(&self, request: &Request, own: &Settings) -> Vec<u8> {
        let gen_ai = own.word(&GEN_AI) == CONVENTIONS;
        let record = match &request.note {
            Note::Heartbeat(heartbeat) => heartbeat_record(request, heartbeat),
            _ => decision_record(request, gen_ai),
        };
        // Integers of 64 bits are texts in this mapping.
        let time = format!("{}000000", request.timestamp);
        let version = env!("CARGO_PKG_VERSION");
        let mut resource = Attributes::default();
        resource.text("service.name", "hookctl");
        resource.text("service.version", version);
        resource.text("host.name", record.host);
        let (number, severity) = record.severity;
        let log = json!({
            "timeUnixNano": time,
            "observedTimeUnixNano": time,
            "severityNumber": number,
            "severityText": severity,
            "eventName": record.name,
            "body": { "stringValue": record.body },
            "attributes": record.attributes.0,
        });
        let mut scope_logs =
            json!({ "scope": { "name": "hookctl", "version": version }, "logRecords": [log] });
        if gen_ai {
            scope_logs["schemaUrl"] = SCHEMA.into();
        }
        json!({ "resourceLogs": [{
            "resource": { "attributes": resource.0 },
            "scopeLogs": [scope_logs],
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

/// What is told of one message.
struct Record<'a> {
    name: &'static str,
    severity: (u8, &'static str),
    body: String,
    attributes: Attributes,
    host: &'a str,
}

#[derive(Default)]
struct Attributes(Vec<Value>);

impl Attributes {
    fn push(&mut self, key: &str, value: Value) {
        self.0.push(json!({ "key": key, "value": value }));
    }

    /// Where there is one.
    fn text(&mut self, key: &str, value: &str) {
        if !value.is_empty() {
            self.push(key, json!({ "stringValue": value }));
        }
    }

    fn texts(&mut self, key: &str, values: &[String]) {
        let values: Vec<Value> =
            values.iter().map(|value| json!({ "stringValue": value })).collect();
        self.push(key, json!({ "arrayValue": { "values": values } }));
    }
}

fn decision_record(request: &Request, gen_ai: bool) -> Record<'_> {
    let event = &request.event;
    let decision = request.note.decision_name();
    let what = request.call_summary();
    let mut attributes = Attributes::default();
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
    ] {
        attributes.text(key, value);
    }
    let mut host = "";
    if let Some(ending) = request.note.ending() {
        attributes.text("hookctl.rule", &ending.rule);
        attributes.text("hookctl.reason", &ending.reason);
        attributes.text("hookctl.bundle", &ending.bundle);
        if ending.paused {
            attributes.push("hookctl.paused", json!({ "boolValue": true }));
        }
        if gen_ai {
            attributes.text("enduser.id", &ending.origin.user);
            host = &ending.origin.host;
        }
    }
    if gen_ai {
        name_in_conventions(event, &mut attributes);
    }
    let words = [decision, event.name.as_str(), event.tool.as_str(), what.as_str()];
    let words: Vec<&str> = words.into_iter().filter(|word| !word.is_empty()).collect();
    Record {
        name: "hookctl.decision",
        severity: log_severity(decision),
        body: words.join(" "),
        attributes,
        host,
    }
}

/// The same by the names of the conventions.
fn name_in_conventions(event: &Event, attributes: &mut Attributes) {
    attributes.text("gen_ai.conversation.id", &event.session);
    attributes.text("gen_ai.agent.name", event.agent);
    if event.kind.is_tool() {
        attributes.text("gen_ai.operation.name", "execute_tool");
        attributes.text("gen_ai.tool.name", &event.tool);
        attributes.text("gen_ai.tool.call.id", event.call_id().unwrap_or_default());
    }
}

fn heartbeat_record<'a>(request: &Request, heartbeat: &'a Heartbeat) -> Record<'a> {
    let Heartbeat { origin, bundle, agents, problems } = heartbeat;
    let (verify, severity) = match problems.is_empty() {
        true => ("ok", log_severity("")),
        false => ("failed", log_severity("deny")),
    };
    let mut attributes = Attributes::default();
    for (key, value) in [
        ("log.record.uid", request.id.as_str()),
        ("session.id", &request.event.session),
        ("hookctl.agent", request.event.agent),
        ("hookctl.bundle", bundle),
        ("hookctl.verify", verify),
        ("enduser.id", &origin.user),
    ] {
        attributes.text(key, value);
    }
    attributes.texts("hookctl.agents", agents);
    if !problems.is_empty() {
        attributes.texts("hookctl.problems", problems);
    }
    Record {
        name: "hookctl.heartbeat",
        severity,
        body: format!("heartbeat {verify}"),
        attributes,
        host: &origin.host,
    }
}

/// Number and text of the data model: what was stopped is worth a warning, a question a second look.
fn log_severity(decision: &str) -> (u8, &'static str) {
    match decision {
        "deny" | "halt" => (13, "WARN"),
        "ask" | "defer" => (10, "INFO2"),
        _ => (9, "INFO"),
    }
}
