//! VS Code: the agent hooks (preview) of GitHub Copilot in the editor.
//!
//! Not run: read from its source and documentation. Answers have Claude Code's form; a `hookEventName` that is not the
//! event's strips the specific part. A new input is held against the tool's schema and dropped where it does not fit,
//! and the original runs: so one that has other keys or types than the original is refused here. Older builds name
//! `hookEventName` and `sessionId`; the session's directory is there only where the entry sets one.

use std::mem::discriminant;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::call::{ToolNames, find_tool, own_names, rename_keys, restore_input, set_lines};
use super::fields::{operation, rename_fields};
use super::fingerprint::{Field, Fingerprint};
use super::patch::call_operations;
use super::reply::{ASK_CALL, NOTICE, Reply};
use super::settled::{Settled, settle_answer};
use super::shaped::{event_of_payload, read_call};
use super::wiring::{Directory, Form, Reads, Scope, SettingsPlace, Wiring};
use super::{Agent, AgentFacts, EventSpec, FailureForms, Mark, Output};
use crate::event::{Event, Kind, Operation};
use crate::limits::OPERATIONS;
use crate::verdict::Answer;
use crate::verdict::Verb::{self, Allow, Ask, Deny, Halt};

/// VS Code with GitHub Copilot.
pub struct VsCode;

const ID: &str = "vscode";

/// What an entry without a timeout gets.
const PATIENCE: Duration = Duration::from_secs(30);
/// Where people and test suites answer.
const LONG: u32 = 600;
const FEEDBACK: &[Verb] = &[Halt, Deny];

const fn spec(kind: Kind) -> EventSpec {
    EventSpec::new(kind).patience(PATIENCE)
}

/// Every event. Matchers of the settings are ignored: each hook runs for every tool.
static EVENTS: &[EventSpec] = &[
    spec(Kind::PreToolUse)
        .input("tool_name, tool_input, tool_use_id")
        .output(
            "permissionDecision allow|deny|ask, permissionDecisionReason, updatedInput (same keys \
             and types), additionalContext; exit 2 denies",
        )
        .tells()
        .verbs(&[Halt, Deny, Ask, Allow])
        .rewrites()
        .timeout(LONG)
        .by_default(),
    spec(Kind::PostToolUse)
        .input("tool_name, tool_input, tool_use_id, tool_response (text)")
        .output("decision block + reason, continue:false, additionalContext")
        .tells()
        .verbs(FEEDBACK)
        .by_default(),
    spec(Kind::UserPromptSubmit)
        .input("prompt")
        .output("continue:false + stopReason")
        .verbs(FEEDBACK)
        .timeout(30)
        .by_default(),
    spec(Kind::SessionStart).input("source").output("additionalContext").tells().by_default(),
    spec(Kind::Stop)
        .input("stop_hook_active")
        .output("decision block + reason: the agent goes on; continue:false ends")
        .verbs(FEEDBACK)
        .timeout(LONG)
        .by_default(),
    spec(Kind::SubagentStart).input("agent_id, agent_type").output("additionalContext").tells(),
    spec(Kind::SubagentStop)
        .input("agent_id, agent_type, stop_hook_active")
        .output("decision block + reason: the subagent goes on; continue:false ends")
        .verbs(FEEDBACK)
        .timeout(LONG)
        .by_default(),
    spec(Kind::PreCompact).input("trigger").output("common keys only; cannot be blocked"),
];

const FIELDS: &[(&str, &str)] =
    &[("hookEventName", "hook_event_name"), ("sessionId", "session_id")];

const PATH_KEYS: &[(&str, &str)] = &[("filePath", "file_path")];
const EDIT_KEYS: &[(&str, &str)] =
    &[("filePath", "file_path"), ("oldString", "old_string"), ("newString", "new_string")];
const QUERY_KEYS: &[(&str, &str)] = &[("query", "pattern")];

const TOOLS: &[ToolNames] = &[
    ToolNames::new("run_in_terminal", "Bash", &[("explanation", "description")]),
    ToolNames::new("read_file", "Read", PATH_KEYS),
    ToolNames::new("create_file", "Write", PATH_KEYS),
    ToolNames::new("replace_string_in_file", "Edit", EDIT_KEYS),
    ToolNames::new(MANY_EDITS, "Edit", EDIT_KEYS),
    ToolNames::new(
        "insert_edit_into_file",
        "Edit",
        &[("filePath", "file_path"), ("code", "content")],
    ),
    ToolNames::new(PATCH, "Edit", &[]),
    ToolNames::new("grep_search", "Grep", QUERY_KEYS),
    ToolNames::new("file_search", "Glob", QUERY_KEYS),
    ToolNames::new("list_dir", "LS", &[]),
    ToolNames::new(FETCH, "WebFetch", &[]),
    ToolNames::new("runSubagent", "Agent", &[]),
];
static NAMES: [&str; TOOLS.len()] = own_names(TOOLS);

const MANY_EDITS: &str = "multi_replace_string_in_file";
const FETCH: &str = "fetch_webpage";
const PATCH: &str = "apply_patch";
/// Names that other agents have for tools of theirs.
const SHARED: &[&str] = &["read_file", "grep_search", PATCH];

/// Keys that are made from others: the lines of a file.
const DERIVED: &[&str] = &["offset", "limit"];

const CANNOT_REWRITE: &str = "A rule rewrites this call in a way that VS Code would drop: other keys or types than the tool has.";

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "VS Code",
    events: EVENTS,
    common_input: "hook_event_name, session_id, timestamp, transcript_path, model, cwd?",
    common_output: "continue, stopReason, systemMessage",
    tool_names: &NAMES,
    failure: FailureForms { call: ASK_CALL, rest: NOTICE, silent: &[] },
    sample: r#"{"hook_event_name":"{event}","session_id":"{session}","cwd":"{cwd}","tool_name":"run_in_terminal","tool_input":{"command":"{command}"}}"#,
    wiring: Some(&WIRING),
    ..AgentFacts::UNKNOWN
};

impl Agent for VsCode {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    /// Rows 7, 13 and 16 of the contract's table. What row 9 says of other agents goes before row 13.
    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        let old = payload.has(Field::HookEventNameCamel) && payload.has(Field::SessionIdCamel);
        if old && !payload.has_usual_call() {
            return Some(Mark::Strong);
        }
        let tool = payload.text(Field::ToolName);
        let own = NAMES.contains(&tool) && !SHARED.contains(&tool);
        let extension = || payload.text(Field::TranscriptPath).contains("GitHub.copilot-chat");
        if !payload.has_camel_event() && (own || extension()) {
            return Some(Mark::Strong);
        }
        let called = payload.has_text(Field::Timestamp)
            && payload.has(Field::ToolUseId)
            && !payload.has(Field::PermissionMode);
        let input = payload.value(Field::ToolInput).and_then(Value::as_object);
        let camel_keys = input.is_some_and(|input| input.keys().any(|key| is_camel(key)));
        (called && camel_keys).then_some(Mark::Weak)
    }

    /// Its calls have an id, which Copilot CLI's do not have; and all of its payloads are dated.
    fn excludes(&self, payload: &Fingerprint) -> bool {
        let unnumbered = payload.has(Field::ToolName) && !payload.has(Field::ToolUseId);
        unnumbered || !payload.has(Field::Timestamp)
    }

    fn parse(&self, mut payload: Map<String, Value>, named: Option<&str>) -> Event {
        rename_fields(&mut payload, FIELDS);
        let mut event = event_of_payload(self, payload, named);
        read_call(&mut event, |event, own, input| {
            if event.kind == Kind::PreToolUse {
                event.native = json!({ "tool": own, "input": input.clone() });
            }
            operations_of(own, input)
        });
        event
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let Some(spec) = self.spec_of(event) else { return Output::default() };
        let mut settled = settle_answer(spec, answer);
        let mut reply = Reply::default();
        match (event.kind, settled.verb) {
            (Kind::PreToolUse, _) => set_permission(event, &mut settled, &mut reply),
            (Kind::UserPromptSubmit, Some(_)) => reply.end_turn(&settled.reason),
            (_, Some(Deny)) => reply.decide("block", &settled.reason),
            _ => {}
        }
        // The documentation of the stops shows it below.
        if matches!(event.kind, Kind::Stop | Kind::SubagentStop) && settled.verb == Some(Deny) {
            reply.specify("decision", "block");
            reply.specify("reason", settled.reason.as_str());
        }
        if settled.verb == Some(Halt) {
            reply.end_turn(&settled.reason);
        }
        reply.add_context(&settled);
        reply.add_notice(&settled);
        reply.into_output(&event.name, &settled)
    }
}

/// A word in lower case, then more of them: `filePath`.
fn is_camel(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_lowercase())
        && key.contains(|c: char| c.is_ascii_uppercase())
}

/// What the call does, by Claude Code's names.
fn operations_of(own: &str, input: Value) -> Vec<Operation> {
    let Some(tool) = find_tool(TOOLS, own) else {
        return vec![Operation { tool: own.into(), input }];
    };
    let all = match own {
        MANY_EDITS => edits(&input, tool.keys),
        FETCH => fetches(&input),
        PATCH => return call_operations(tool.claude, input),
        _ => Vec::new(),
    };
    if !all.is_empty() {
        return all;
    }
    let mut input = rename_keys(input, tool.keys);
    if tool.claude == "Read" {
        let line = |key: &str| input.get(key).and_then(Value::as_i64);
        let (first, last) = (line("startLine"), line("endLine"));
        set_lines(&mut input, first, last);
    }
    vec![operation(tool.claude, input)]
}

/// Each of the replacements, in the call's file where it names none.
fn edits(input: &Value, keys: &[(&str, &str)]) -> Vec<Operation> {
    let edit = |one: &Value| {
        let mut one = rename_keys(one.clone(), keys);
        if let (Value::Object(map), Some(path)) = (&mut one, input.get("filePath")) {
            map.entry("file_path").or_insert_with(|| path.clone());
        }
        operation("Edit", one)
    };
    input["replacements"].as_array().into_iter().flatten().map(edit).collect()
}

/// Each of the pages.
fn fetches(input: &Value) -> Vec<Operation> {
    let mut rest = input.clone();
    rest.as_object_mut().and_then(|map| map.remove("urls"));
    let fetch = |url: &Value| {
        let mut one = rest.clone();
        one["url"] = url.clone();
        operation("WebFetch", one)
    };
    input["urls"].as_array().into_iter().flatten().take(OPERATIONS + 1).map(fetch).collect()
}

/// The complete new input by the tool's own keys; none = it cannot be said so that the tool takes it.
fn new_input(event: &Event, settled: &Settled) -> Option<Map<String, Value>> {
    let own = event.native["input"].as_object()?;
    let name = event.native["tool"].as_str()?;
    let keys = find_tool(TOOLS, name).map_or(&[][..], |tool| tool.keys);
    let olds = operations_of(name, Value::Object(own.clone()));
    let mut new = own.clone();
    let whole = settled.input.iter().map(|input| (0, input));
    for (at, input) in whole.chain(settled.elements.iter().map(|(at, input)| (*at, input))) {
        let change = (&olds.get(at)?.input, input);
        match name {
            MANY_EDITS if own.contains_key("replacements") => {
                let place = new.get_mut("replacements")?.get_mut(at)?;
                *place = restore_input(place.as_object()?, change, keys, DERIVED)?.into();
            }
            FETCH if own.contains_key("urls") => {
                let rest =
                    |map: &Map<String, Value>| map.iter().filter(|one| one.0 != "url").count();
                let old = change.0.as_object()?;
                let same =
                    old.iter().all(|(key, value)| key == "url" || input.get(key) == Some(value));
                let url = input.get("url").filter(|_| same && rest(old) == rest(input))?;
                *new.get_mut("urls")?.get_mut(at)? = url.clone();
            }
            PATCH => return None,
            _ => new = restore_input(own, change, keys, DERIVED)?,
        }
    }
    has_shape_of(&Value::Object(new.clone()), &Value::Object(own.clone())).then_some(new)
}

/// Has it the keys and types of the other one, at every depth?
fn has_shape_of(new: &Value, old: &Value) -> bool {
    match (new, old) {
        (Value::Object(new), Value::Object(old)) => {
            new.len() == old.len()
                && old
                    .iter()
                    .all(|(key, old)| new.get(key).is_some_and(|new| has_shape_of(new, old)))
        }
        (Value::Array(new), Value::Array(old)) => {
            new.len() == old.len() && new.iter().zip(old).all(|(new, old)| has_shape_of(new, old))
        }
        _ => discriminant(new) == discriminant(old),
    }
}

fn set_permission(event: &Event, settled: &mut Settled, reply: &mut Reply) {
    if settled.input.is_some() || !settled.elements.is_empty() {
        match new_input(event, settled) {
            Some(input) => reply.specify("updatedInput", input),
            None => (settled.verb, settled.reason) = (Some(Deny), CANNOT_REWRITE.into()),
        }
    }
    let Some(verb) = settled.verb else { return };
    let word = if settled.refuses() { Deny } else { verb };
    reply.permit(word.name(), &settled.reason);
}

/// It reads Copilot's files of hooks and Claude Code's settings, and has none of its own.
static WIRING: Wiring = Wiring {
    programs: &["code"],
    traces: &[".vscode", ".config/Code", "Library/Application Support/Code"],
    directory: Directory { variable: None, home: ".copilot" },
    files: &[
        SettingsPlace::own(
            Scope::User,
            "hooks/hookctl.json",
            Form::Entries(&super::copilot::ENTRIES),
        ),
        SettingsPlace::own(
            Scope::Project,
            ".github/hooks/hookctl.json",
            Form::Entries(&super::copilot::ENTRIES),
        ),
    ],
    reads: &[
        Reads { agent: "copilot", scopes: &[Scope::User, Scope::Project] },
        Reads { agent: "claude", scopes: &[Scope::User, Scope::Project, Scope::Local] },
    ],
    notes: &[
        "Hooks of agents are a preview in VS Code: `chat.hookFilesLocations` says which files count.",
    ],
    ..Wiring::UNKNOWN
};

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, input: Value) -> Event {
        let payload = json!({ "timestamp": "t", "hook_event_name": "PreToolUse", "tool_use_id": "c",
                              "tool_name": tool, "tool_input": input });
        VsCode.parse(payload.as_object().cloned().unwrap_or_default(), None)
    }

    /// The new input where a rule sets that key of the operation; null = the call is refused.
    fn rewrite(event: &Event, at: usize, key: &str, value: Value) -> Value {
        let old = if at == 0 { &event.input } else { &event.more[at - 1].input };
        let mut input = old.as_object().cloned().unwrap_or_default();
        input.insert(key.into(), value);
        let mut answer = Answer::default();
        match event.more.is_empty() {
            true => answer.input = Some(input),
            false => answer.elements = vec![(at, input)],
        }
        let told: Value = serde_json::from_str(&VsCode.render(event, &answer).stdout).unwrap();
        let told = &told["hookSpecificOutput"];
        assert_eq!(told.get("updatedInput").is_none(), told["permissionDecision"] == "deny");
        told["updatedInput"].clone()
    }

    #[test]
    fn one_of_several_is_rewritten_in_its_place() {
        let edits = json!({ "explanation": "e", "replacements": [
            { "filePath": "a", "oldString": "x", "newString": "y" },
            { "filePath": "b", "oldString": "x", "newString": "y" },
        ] });
        let event = call(MANY_EDITS, edits.clone());
        let mut new = edits;
        new["replacements"][1]["newString"] = "z".into();
        assert_eq!(rewrite(&event, 1, "new_string", json!("z")), new);
        assert_eq!(rewrite(&event, 1, "replace_all", json!(true)), Value::Null);
        let event = call(FETCH, json!({ "urls": ["a", "b"], "query": "q" }));
        let new = json!({ "urls": ["c", "b"], "query": "q" });
        assert_eq!(rewrite(&event, 0, "url", json!("c")), new);
        assert_eq!(rewrite(&event, 0, "query", json!("c")), Value::Null);
        let only = call(FETCH, json!({ "urls": ["a"] }));
        assert_eq!(rewrite(&only, 0, "url", json!("c")), json!({ "urls": ["c"] }));
    }

    #[test]
    fn an_input_that_would_be_dropped_is_refused() {
        let event = call("run_in_terminal", json!({ "command": "ls", "isBackground": false }));
        let new = json!({ "command": "pwd", "isBackground": false });
        assert_eq!(rewrite(&event, 0, "command", json!("pwd")), new);
        assert_eq!(rewrite(&event, 0, "command", json!(1)), Value::Null);
        assert_eq!(rewrite(&event, 0, "timeout", json!(1)), Value::Null);
        let read = call("read_file", json!({ "filePath": "a", "startLine": 2, "endLine": 4 }));
        assert_eq!(read.input["limit"], 3);
        assert_eq!(rewrite(&read, 0, "limit", json!(1)), Value::Null);
    }
}
