//! Windsurf (Cascade).
//!
//! Not run: from the vendor's documentation. It knows exit statuses only: 2 on an event before something refuses it,
//! with the reason on stderr. Nobody can be asked, nothing is rewritten and the model is told nothing, so a question
//! and a rewrite are refusals. Text for the human goes to stderr as well, which `show_output` shows; stdout stays
//! empty, for no answer in JSON is documented.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::call::{place_operations, unpack_text};
use super::fields::{is_absolute, operation, rename_fields, text_field};
use super::fingerprint::{Field, Fingerprint};
use super::settled::settle_answer;
use super::wiring::{Constant, Directory, EntryForm, Form, Scope, SettingsPlace, Wiring};
use super::{Agent, AgentFacts, EventSpec, Mark, Output};
use crate::event::{Event, Kind, Operation};
use crate::limits::OPERATIONS;
use crate::verdict::Answer;
use crate::verdict::Verb::{self, Deny};

/// Windsurf's Cascade.
pub struct Windsurf;

const ID: &str = "windsurf";

/// When it gives up is not known and cannot be set: we are done before most agents would.
const PATIENCE: Duration = Duration::from_secs(30);
const REFUSES: &str = "exit 2 + stderr refuses";
const OBSERVES: &str = "nothing; cannot be blocked";
const REFUSE: &[Verb] = &[Deny];

const fn spec(kind: Kind, name: &'static str) -> EventSpec {
    EventSpec::new(kind).named(name).timeout(30).patience(PATIENCE).output(OBSERVES)
}

const fn gate(kind: Kind, name: &'static str) -> EventSpec {
    spec(kind, name).output(REFUSES).verbs(REFUSE).by_default()
}

/// Every event. Each kind of tool has its own ones, so several are of one kind.
static EVENTS: &[EventSpec] = &[
    gate(Kind::PreToolUse, "pre_run_command").input("tool_info{command_line, cwd}"),
    gate(Kind::PreToolUse, "pre_write_code")
        .input("tool_info{file_path, edits[]{old_string, new_string}}"),
    gate(Kind::PreToolUse, "pre_read_code").input("tool_info{file_path}"),
    gate(Kind::PreToolUse, "pre_mcp_tool_use")
        .input("tool_info{mcp_server_name, mcp_tool_name, mcp_tool_arguments}"),
    spec(Kind::PostToolUse, "post_run_command").input("tool_info{command_line, cwd}").by_default(),
    spec(Kind::PostToolUse, "post_write_code")
        .input("tool_info{file_path, edits[]{old_string, new_string}}")
        .by_default(),
    spec(Kind::PostToolUse, "post_read_code").input("tool_info{file_path}").by_default(),
    spec(Kind::PostToolUse, "post_mcp_tool_use")
        .input("tool_info{mcp_server_name, mcp_tool_name, mcp_tool_arguments, mcp_result}")
        .by_default(),
    gate(Kind::UserPromptSubmit, "pre_user_prompt").input("tool_info{user_prompt}"),
    spec(Kind::Stop, "post_cascade_response").input("tool_info{response}").by_default(),
    spec(Kind::WorktreeCreate, "post_setup_worktree").input("tool_info{worktree_path}"),
];

/// The session by Claude Code's name, and a call, which has no id but that of the step.
const SESSION: &[(&str, &str)] = &[("trajectory_id", "session_id")];
const CALL: &[(&str, &str)] = &[("execution_id", "tool_use_id")];
/// What events without a tool have in their `tool_info`.
const INFO: &[(&str, &str)] = &[("user_prompt", "prompt"), ("response", "last_assistant_message")];

static NAMES: [&str; 4] = ["run_command", "write_code", "read_code", "mcp_tool_use"];

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "Windsurf",
    events: EVENTS,
    common_input: "agent_action_name, trajectory_id, execution_id, timestamp, tool_info",
    tool_names: &NAMES,
    sample: r#"{"agent_action_name":"{event}","trajectory_id":"{session}","execution_id":"e","tool_info":{"command_line":"{command}","cwd":"{cwd}"}}"#,
    wiring: Some(&WIRING),
    ..AgentFacts::UNKNOWN
};

impl Agent for Windsurf {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    /// Row 4 of the contract's table.
    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        let own = payload.has(Field::AgentActionName) && payload.has(Field::ToolInfo);
        (own && !payload.has_usual_call()).then_some(Mark::Strong)
    }

    /// Its payloads do not name their event so.
    fn excludes(&self, payload: &Fingerprint) -> bool {
        payload.has(Field::HookEventName)
    }

    fn parse(&self, mut payload: Map<String, Value>, named: Option<&str>) -> Event {
        let name =
            text_field(&payload, "agent_action_name").or(named).unwrap_or_default().to_string();
        let spec = EVENTS.iter().find(|spec| spec.name == name);
        let kind = match spec {
            Some(spec) => spec.kind,
            None if name.starts_with("post_") => Kind::PostToolUse,
            // It must be judged by what it holds, whatever it is.
            None => Kind::PreToolUse,
        };
        rename_fields(&mut payload, SESSION);
        let info = unpack_text(payload.remove("tool_info").unwrap_or(Value::Null));
        let place = info.get("cwd").or_else(|| payload.get("cwd")).and_then(Value::as_str);
        let cwd = place.filter(|path| is_absolute(path)).unwrap_or_default().to_string();
        let (mut first, mut more) = (operation("", Value::Null), Vec::new());
        if kind.is_tool() {
            rename_fields(&mut payload, CALL);
            if let Some(result) = info.get("mcp_result") {
                payload.insert("tool_response".into(), unpack_text(result.clone()));
            }
            let tool = name.split_once('_').map_or(name.as_str(), |(_, tool)| tool);
            (first, more) = place_operations(&mut payload, operations_of(tool, info));
        } else if let Value::Object(mut info) = info {
            rename_fields(&mut info, INFO);
            payload.extend(info);
        }
        payload.insert("hook_event_name".into(), kind.name().into());
        Event {
            agent: ID,
            kind,
            name,
            tool: first.tool,
            input: first.input,
            cwd,
            session: text_field(&payload, "session_id").unwrap_or_default().to_string(),
            more,
            raw: payload,
            native: Value::Null,
        }
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let Some(spec) = self.spec_of(event) else { return Output::default() };
        settle_answer(spec, answer).into_exit_status()
    }
}

/// What the call does, by Claude Code's names.
fn operations_of(tool: &str, mut info: Value) -> Vec<Operation> {
    match tool {
        "run_command" => {
            if let Value::Object(map) = &mut info
                && let Some(line) = map.remove("command_line")
            {
                map.insert("command".into(), line);
            }
            vec![operation("Bash", info)]
        }
        "read_code" => vec![operation("Read", info)],
        "write_code" => edits(info),
        "mcp_tool_use" => {
            let text =
                |key: &str| info.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
            let server = text("mcp_server_name").unwrap_or("?");
            let name = format!("mcp__{server}__{}", text("mcp_tool_name").unwrap_or("unknown"));
            let arguments = info.get_mut("mcp_tool_arguments").map(Value::take);
            vec![operation(&name, arguments.map_or(info, unpack_text))]
        }
        other => vec![operation(other, info)],
    }
}

/// Each of the edits; the only one of a file that replaces nothing writes it.
fn edits(info: Value) -> Vec<Operation> {
    let path = info.get("file_path").cloned().unwrap_or(Value::Null);
    let text = |edit: &Value, key: &str| edit.get(key).cloned().unwrap_or(Value::Null);
    let edit = |edit: &Value| {
        let (old, new) = (text(edit, "old_string"), text(edit, "new_string"));
        operation("Edit", json!({ "file_path": path, "old_string": old, "new_string": new }))
    };
    match info.get("edits").and_then(Value::as_array).map(Vec::as_slice) {
        None | Some([]) => vec![operation("Edit", info)],
        Some([only]) if text(only, "old_string") == "" => {
            let content = text(only, "new_string");
            vec![operation("Write", json!({ "file_path": path, "content": content }))]
        }
        Some(all) => all.iter().take(OPERATIONS + 1).map(edit).collect(),
    }
}

/// One list of entries for each event; no key for a timeout is known.
static WIRING: Wiring = Wiring {
    programs: &["windsurf"],
    traces: &[".codeium/windsurf"],
    directory: Directory { variable: None, home: ".codeium/windsurf" },
    files: &[
        SettingsPlace::shared(Scope::User, "hooks.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".windsurf/hooks.json", Form::Entries(&ENTRIES)),
    ],
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm =
    EntryForm { keys: &[("show_output", Constant::Flag(true))], timeout: None, ..EntryForm::FLAT };
