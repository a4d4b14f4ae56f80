//! Kiro CLI 2.x.
//!
//! Not run: from the documentation of it and its predecessor. Only the event before a tool can be refused, with exit
//! status 2 and the reason on stderr, which the model is told. Plain text on stdout joins the context at a session's
//! start and at a prompt. Nobody can be asked and nothing is rewritten, so both are refusals. Payloads name no session.

use std::time::Duration;

use serde_json::{Map, Value};

use super::call::{ToolNames, find_tool, own_names, rename_keys};
use super::fields::operation;
use super::fingerprint::{Field, Fingerprint};
use super::settled::settle_answer;
use super::shaped::{enter_directory, event_of_payload, read_call};
use super::wiring::{Directory, EntryForm, Form, Scope, SettingsPlace, Unit, Wiring};
use super::{Agent, AgentFacts, EventSpec, Mark, Output};
use crate::event::{Event, Kind, Operation};
use crate::verdict::Answer;
use crate::verdict::Verb::Deny;

/// Kiro CLI.
pub struct Kiro;

const ID: &str = "kiro";

/// What an entry without a timeout gets.
const PATIENCE: Duration = Duration::from_secs(30);

const fn spec(kind: Kind, name: &'static str) -> EventSpec {
    EventSpec::new(kind).named(name).patience(PATIENCE).by_default()
}

static EVENTS: &[EventSpec] = &[
    spec(Kind::PreToolUse, "preToolUse")
        .input("tool_name, tool_input")
        .output("exit 2 + stderr refuses; the model is told")
        .verbs(&[Deny])
        .matched("tool_name")
        .timeout(600),
    spec(Kind::PostToolUse, "postToolUse")
        .input("tool_name, tool_input, tool_response{success, result[]}")
        .output("nothing; cannot be blocked")
        .matched("tool_name"),
    spec(Kind::UserPromptSubmit, "userPromptSubmit")
        .input("prompt")
        .output("plain text on stdout is context; cannot be blocked")
        .tells()
        .timeout(30),
    spec(Kind::SessionStart, "agentSpawn")
        .output("plain text on stdout is context; cannot be blocked")
        .tells(),
    spec(Kind::Stop, "stop").output("nothing; cannot be blocked"),
];

const WRITE_KEYS: &[(&str, &str)] = &[
    ("path", "file_path"),
    ("file_text", "content"),
    ("old_str", "old_string"),
    ("new_str", "new_string"),
];

/// Its tools, older names and then those that today's documentation has.
const TOOLS: &[ToolNames] = &[
    ToolNames::new("execute_bash", "Bash", &[]),
    ToolNames::new("fs_read", "Read", &[("path", "file_path")]),
    ToolNames::new("fs_write", "Write", WRITE_KEYS),
    ToolNames::new("shell", "Bash", &[]),
    ToolNames::new("read", "Read", &[("path", "file_path")]),
    ToolNames::new("write", "Write", WRITE_KEYS),
];
static NAMES: [&str; TOOLS.len()] = own_names(TOOLS);

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "Kiro CLI",
    events: EVENTS,
    common_input: "hook_event_name, cwd",
    tool_names: &NAMES,
    sample: r#"{"hook_event_name":"{event}","session_id":"{session}","cwd":"{cwd}","tool_name":"execute_bash","tool_input":{"command":"{command}"}}"#,
    wiring: Some(&WIRING),
    ..AgentFacts::UNKNOWN
};

impl Agent for Kiro {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    /// Row 9 of the contract's table; those who also name their events so are told before.
    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        let others = payload.has(Field::CursorVersion) || payload.has(Field::SessionIdCamel);
        let known = EVENTS.iter().any(|spec| spec.name == payload.text(Field::HookEventName));
        let mark = if known { Mark::Strong } else { Mark::Weak };
        (payload.has_camel_event() && !others).then_some(mark)
    }

    fn parse(&self, payload: Map<String, Value>, named: Option<&str>) -> Event {
        let mut event = event_of_payload(self, payload, named);
        read_call(&mut event, |event, own, input| {
            if find_tool(TOOLS, own).is_some_and(|tool| tool.claude == "Bash") {
                enter_directory(event, &input, &["working_dir"]);
            }
            operations_of(own, input)
        });
        event
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let Some(spec) = self.spec_of(event) else { return Output::default() };
        settle_answer(spec, answer).into_exit_status()
    }
}

/// What the call does, by Claude Code's names.
fn operations_of(own: &str, input: Value) -> Vec<Operation> {
    let Some(tool) = find_tool(TOOLS, own) else {
        return vec![Operation { tool: foreign_name(own), input }];
    };
    match tool.claude {
        "Read" => reads(input, tool.keys),
        "Write" => vec![write(rename_keys(input, tool.keys))],
        name => vec![operation(name, rename_keys(input, tool.keys))],
    }
}

/// `@server/tool` is one of an MCP server.
fn foreign_name(own: &str) -> String {
    match own.strip_prefix('@').and_then(|name| name.split_once('/')) {
        Some((server, tool)) => format!("mcp__{server}__{tool}"),
        None => own.to_string(),
    }
}

/// Each of the places that are read.
fn reads(input: Value, keys: &[(&str, &str)]) -> Vec<Operation> {
    let all = input.get("operations").and_then(Value::as_array).filter(|all| !all.is_empty());
    match all {
        Some(all) => all.iter().flat_map(|one| read(one.clone(), keys)).collect(),
        None => read(input, keys),
    }
}

fn read(one: Value, keys: &[(&str, &str)]) -> Vec<Operation> {
    let mode = one.get("mode").and_then(Value::as_str).unwrap_or_default().to_string();
    match mode.as_str() {
        "Directory" => vec![operation("LS", one)],
        "Search" => vec![operation("Grep", one)],
        _ => match one.get("image_paths").and_then(Value::as_array).filter(|all| !all.is_empty()) {
            Some(images) => {
                let image = |path: &Value| {
                    let mut map = Map::new();
                    map.insert("file_path".into(), path.clone());
                    operation("Read", Value::Object(map))
                };
                let file =
                    one.get("path").map(|_| operation("Read", rename_keys(one.clone(), keys)));
                images.iter().map(image).chain(file).collect()
            }
            None => vec![operation("Read", rename_keys(one, keys))],
        },
    }
}

/// Its `command` says what is done to the file, and is none of a shell.
fn write(mut input: Value) -> Operation {
    let deed = input.as_object_mut().and_then(|map| map.remove("command"));
    let creates = deed.as_ref().and_then(Value::as_str) == Some("create");
    operation(if creates { "Write" } else { "Edit" }, input)
}

/// Each of its agents has a file with hooks of its own; hookctl makes none.
static WIRING: Wiring = Wiring {
    programs: &["kiro-cli", "kiro"],
    traces: &[".kiro"],
    directory: Directory { variable: None, home: ".kiro" },
    files: &[
        SettingsPlace::shared(Scope::User, "agents/*.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".kiro/agents/*.json", Form::Entries(&ENTRIES)),
    ],
    notes: &[
        "Kiro's hooks stand in the file of each agent: install again after you make another. `hookctl status` names a file without.",
    ],
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm =
    EntryForm { timeout: Some(("timeout_ms", Unit::Milliseconds)), ..EntryForm::FLAT };

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_command_runs_where_its_call_says() {
        let payload = json!({
            "hook_event_name": "preToolUse", "cwd": "/w", "tool_name": "execute_bash",
            "tool_input": { "command": "ls", "working_dir": "/etc" },
        });
        let event = Kiro.parse(payload.as_object().cloned().unwrap_or_default(), None);
        assert_eq!(event.cwd, "/etc");
    }
}
