//! Cursor: its payloads as events, and its answers.
//!
//! Not run: read from the bundle of its SDK (1.0.32), its documentation and third parties. An answer is one JSON object,
//! `{}` where there is nothing to say: nothing at all counts as a failure, and what does not fit the schema blocks.
//!
//! **Ask is a deny.** The documentation says that `ask` is accepted before tools and not enforced, third parties found
//! the same before shell commands, and nobody is there in headless runs: a question would let the call run.
//!
//! **A rewrite goes out only beside an allow.** `updated_input` is documented beside `permission: "allow"` alone, which
//! skips the user's approval, and a rewrite by itself allows nothing. Without an allow the call is refused with the new
//! input as the reason, so that the model can make the call in that form. Of a Write only the path is applied.

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value, json};

use super::call::{
    ToolNames, find_tool, own_names, place_operations, rename_keys, restore_input, take_tool,
    unpack_text,
};
use super::fields::{is_absolute, operation, rename_fields, text_field};
use super::fingerprint::{Field, Fingerprint};
use super::settled::{Settled, cap_text, settle_answer};
use super::shaped::event_of_payload;
use super::wiring::{
    Constant, Directory, EntryForm, FailClosed, Form, Reads, Scope, SettingsPlace, Strict, Wiring,
    by_platform,
};
use super::{Agent, AgentFacts, EventSpec, FailureForms, Mark, Output};
use crate::event::{Event, Kind, Operation};
use crate::text;
use crate::verdict::Answer;
use crate::verdict::Verb::{self, Allow, Deny, Halt};
use crate::watchdog::FailureForm;

/// Cursor, the editor and its CLI.
pub struct Cursor;

const ID: &str = "cursor";

/// What an entry without a timeout gets.
const PATIENCE: Duration = Duration::from_secs(60);
/// Where people and test suites answer.
const LONG: u32 = 600;
const GATE: &[Verb] = &[Deny, Allow];

const fn spec(kind: Kind, name: &'static str) -> EventSpec {
    EventSpec::new(kind).named(name).patience(PATIENCE)
}

const fn gate(name: &'static str) -> EventSpec {
    spec(Kind::PreToolUse, name)
        .output("permission allow|deny, user_message, agent_message; exit 2 denies")
        .verbs(GATE)
        .timeout(LONG)
}

const NOTHING: &str = "nothing; cannot be blocked";
const FOLLOW_UP: &str = "followup_message: the agent goes on with it, as often as loop_limit says";
const CONTEXT: &str = "additional_context";

/// The events that say something of a kind. What those before and after tools cover is registered by those alone;
/// the others would judge the same call twice.
static EVENTS: &[EventSpec] = &[
    gate("preToolUse")
        .input("tool_name, tool_input, tool_use_id, cwd")
        .output(
            "permission allow|deny, user_message, agent_message, updated_input (beside an allow; \
             of a Write the path only), additional_context; exit 2 denies",
        )
        .tells()
        .rewrites()
        .matched("tool_name")
        .by_default(),
    spec(Kind::PostToolUse, "postToolUse")
        .input("tool_name, tool_input, tool_output (JSON text), tool_use_id, cwd, duration")
        .output("additional_context, updated_mcp_tool_output (tools of MCP servers only)")
        .tells()
        .replaces()
        .matched("tool_name")
        .by_default(),
    spec(Kind::PostToolUseFailure, "postToolUseFailure")
        .input("tool_name, tool_input, error_message, failure_type, duration, is_interrupt")
        .output(CONTEXT)
        .tells()
        .matched("tool_name")
        .by_default(),
    spec(Kind::UserPromptSubmit, "beforeSubmitPrompt")
        .input("prompt, attachments[]")
        .output("continue:false + user_message, additional_context")
        .tells()
        .verbs(&[Deny])
        .timeout(30)
        .by_default(),
    spec(Kind::SessionStart, "sessionStart")
        .input("is_background_agent, composer_mode")
        .output(CONTEXT)
        .tells()
        .by_default(),
    spec(Kind::SessionEnd, "sessionEnd").input("reason").output(NOTHING).timeout(5).by_default(),
    spec(Kind::Stop, "stop")
        .input("status, loop_count")
        .output(FOLLOW_UP)
        .verbs(&[Deny])
        .timeout(LONG)
        .by_default(),
    // What this and the next one answer is documented by the vendor only.
    spec(Kind::SubagentStop, "subagentStop")
        .input("subagent_type, status, task, summary, loop_count")
        .output(FOLLOW_UP)
        .verbs(&[Deny])
        .timeout(LONG)
        .by_default(),
    spec(Kind::SubagentStart, "subagentStart")
        .input("subagent_id, subagent_type, task")
        .output("permission allow|deny, user_message")
        .verbs(GATE),
    spec(Kind::PreCompact, "preCompact")
        .input("trigger, context_usage_percent, context_tokens, context_window_size, message_count")
        .output(NOTHING),
    gate("beforeShellExecution").input("command, cwd"),
    gate("beforeMCPExecution").input("tool_name, tool_input (JSON text), command or url"),
    gate("beforeReadFile").input("file_path, content, attachments[]"),
    gate("beforeTabFileRead").input("file_path, content"),
    spec(Kind::PostToolUse, "afterShellExecution")
        .input("command, output, duration")
        .output(NOTHING),
    spec(Kind::PostToolUse, "afterMCPExecution")
        .input("tool_name, tool_input (JSON text), result_json, duration")
        .output(NOTHING),
    spec(Kind::PostToolUse, "afterFileEdit")
        .input("file_path, edits[]{old_string, new_string}")
        .output(NOTHING),
    spec(Kind::PostToolUse, "afterTabFileEdit")
        .input("file_path, edits[]{old_string, new_string}")
        .output(NOTHING),
];

/// Its fields by Claude Code's names.
const FIELDS: &[(&str, &str)] = &[
    ("conversation_id", "session_id"),
    ("tool_output", "tool_response"),
    ("result_json", "tool_response"),
    ("error_message", "error"),
    ("duration", "duration_ms"),
    ("subagent_id", "agent_id"),
    ("subagent_type", "agent_type"),
];

const TOOLS: &[ToolNames] = &[
    ToolNames::new("Shell", "Bash", &[]),
    ToolNames::new("Read", "Read", &[]),
    // Edits as well: the old text is not told.
    ToolNames::new("Write", "Write", &[]),
    ToolNames::new("Delete", "Delete", &[]),
    ToolNames::new("Grep", "Grep", &[("file_path", "path")]),
];
static NAMES: [&str; TOOLS.len()] = own_names(TOOLS);

/// How tools of MCP servers are called; the server is not told.
const MCP: &str = "MCP:";
/// Where a command runs: what samples have, and what the documentation shows.
const PLACES: &[&str] = &["cwd", "working_directory"];

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "Cursor",
    environment: &["CURSOR_VERSION"],
    events: EVENTS,
    common_input: "hook_event_name, conversation_id, generation_id, session_id, model, cursor_version, \
         workspace_roots[], user_email, transcript_path?",
    tool_names: &NAMES,
    failure: FailureForms {
        call: FailureForm::Stop(
            r#"{"permission":"deny","agent_message":"hookctl cannot judge this call.","user_message":""#,
            r#""}"#,
        ),
        rest: FailureForm::Silence,
        silent: &[],
    },
    sample: r#"{"hook_event_name":"{event}","session_id":"{session}","cwd":"{cwd}","tool_name":"Shell","tool_input":{"command":"{command}"},"conversation_id":"{session}","cursor_version":"0","workspace_roots":["{cwd}"]}"#,
    wiring: Some(&WIRING),
    ..AgentFacts::UNKNOWN
};

impl Agent for Cursor {
    fn tells_servers(&self) -> bool {
        false
    }

    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    /// Row 2 of the contract's table.
    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        payload.has(Field::CursorVersion).then_some(Mark::Strong)
    }

    /// Its events have names of their own, in camelCase.
    fn excludes(&self, payload: &Fingerprint) -> bool {
        let name = payload.text(Field::HookEventName);
        Kind::from_name(name) != Kind::Other && !payload.has(Field::CursorVersion)
    }

    fn parse(&self, mut payload: Map<String, Value>, named: Option<&str>) -> Event {
        rename_fields(&mut payload, FIELDS);
        if let Some(response) = payload.remove("tool_response") {
            payload.insert("tool_response".into(), unpack_text(response));
        }
        let mut event = event_of_payload(self, payload, named);
        let root = session_root(&event.raw);
        event.cwd = event.str_field("cwd").map_or_else(|| root.clone(), |dir| join(&root, dir));
        if event.kind.is_tool()
            && let Some((own, input)) = own_call(&mut event)
        {
            let place = PLACES.iter().find_map(|key| input.get(key).and_then(Value::as_str));
            if let Some(dir) = place {
                event.cwd = join(&event.cwd, dir);
            }
            if event.name == "preToolUse" {
                event.native = json!({ "tool": own, "input": input.clone() });
            }
            let operations = operations_of(&event.name, &own, input);
            let (first, more) = place_operations(&mut event.raw, operations);
            (event.tool, event.input, event.more) = (first.tool, first.input, more);
        }
        if !root.is_empty() {
            event.raw.insert("cwd".into(), root.into());
        }
        event
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let Some(spec) = self.spec_of(event) else { return Output::of_object(Map::new(), None) };
        let mut settled = settle_answer(spec, answer);
        let mut top = Map::new();
        match event.kind {
            Kind::PreToolUse | Kind::SubagentStart => set_permission(event, &mut settled, &mut top),
            Kind::UserPromptSubmit if settled.refuses() => {
                top.insert("continue".into(), false.into());
                top.insert("user_message".into(), settled.reason.as_str().into());
            }
            Kind::Stop | Kind::SubagentStop if settled.verb == Some(Deny) => {
                top.insert("followup_message".into(), settled.reason.as_str().into());
            }
            _ => {}
        }
        if let Some(response) = settled.response.filter(|_| event.tool.starts_with("mcp__")) {
            top.insert("updated_mcp_tool_output".into(), response);
        }
        // A prompt that is refused is never sent.
        let heard = top.get("continue").is_none();
        if heard && !settled.context.is_empty() {
            top.insert(CONTEXT.into(), settled.context.into());
        }
        // The turn ends of itself where nothing makes it go on.
        let refused = matches!(settled.verb, Some(Deny | Halt)) && !top.is_empty();
        Output::of_object(top, refused.then_some(settled.reason))
    }
}

/// The directory below that one, or itself where it is absolute.
fn join(base: &str, dir: &str) -> String {
    match is_absolute(dir) {
        true => dir.to_string(),
        false if base.is_empty() => String::new(),
        false => format!("{base}/{dir}"),
    }
}

/// The workspace that the session's directory lies in, else the first; the directory where there is none.
fn session_root(payload: &Map<String, Value>) -> String {
    let cwd = text_field(payload, "cwd").filter(|path| is_absolute(path)).unwrap_or_default();
    let roots =
        payload.get("workspace_roots").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    let mut roots = roots.iter().filter_map(Value::as_str).filter(|path| is_absolute(path));
    let below = |root: &&str| Path::new(cwd).starts_with(root);
    let first = roots.clone().next();
    roots.find(below).or(first).unwrap_or(cwd).to_string()
}

/// The own name and input of the call: events of their own for shell, files and MCP servers have them in the payload.
fn own_call(event: &mut Event) -> Option<(String, Value)> {
    let (tool, keys): (&str, &[&str]) = match event.name.as_str() {
        "beforeShellExecution" | "afterShellExecution" => ("Shell", &["command", "cwd", "sandbox"]),
        "beforeReadFile" | "beforeTabFileRead" => ("Read", &["file_path"]),
        "afterFileEdit" | "afterTabFileEdit" => ("Edit", &["file_path", "edits"]),
        "beforeMCPExecution" | "afterMCPExecution" => {
            let (own, input) = take_tool(&mut event.raw, (event.kind, &event.name))?;
            let own = if own.starts_with(MCP) { own } else { format!("{MCP}{own}") };
            return Some((own, input));
        }
        name => return take_tool(&mut event.raw, (event.kind, name)),
    };
    let payload = &mut event.raw;
    let mut input = Map::new();
    for key in keys {
        input.extend(payload.remove(*key).map(|value| ((*key).to_string(), value)));
    }
    if let Some(output) = payload.remove("output") {
        payload.insert("tool_response".into(), output);
    }
    // Without what it should have it is judged by all that it holds.
    let input = if input.contains_key(keys[0]) { input } else { payload.clone() };
    Some((tool.into(), Value::Object(input)))
}

/// What the call does, by Claude Code's names.
fn operations_of(event: &str, own: &str, input: Value) -> Vec<Operation> {
    if let Some(tool) = own.strip_prefix(MCP) {
        return vec![operation(&format!("mcp__?__{tool}"), input)];
    }
    if matches!(event, "afterFileEdit" | "afterTabFileEdit") {
        return edits(input);
    }
    match find_tool(TOOLS, own) {
        Some(tool) => vec![operation(tool.claude, rename_keys(input, tool.keys))],
        None => vec![operation(own, input)],
    }
}

/// Each of the edits that were made.
fn edits(input: Value) -> Vec<Operation> {
    let edit = |one: &Value| {
        let mut one = one.clone();
        if let (Value::Object(map), Some(path)) = (&mut one, input.get("file_path")) {
            map.insert("file_path".into(), path.clone());
        }
        operation("Edit", one)
    };
    let all = input.get("edits").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
    match all {
        [] => vec![operation("Edit", input)],
        all => all.iter().map(edit).collect(),
    }
}

/// The permission, and a new input beside an allow.
fn set_permission(event: &Event, settled: &mut Settled, top: &mut Map<String, Value>) {
    if settled.input.is_some() || !settled.elements.is_empty() {
        match new_input(event, settled) {
            Ok(input) => drop(top.insert("updated_input".into(), input.into())),
            Err(why) => (settled.verb, settled.reason) = (Some(Deny), why),
        }
    }
    let word = match settled.verb {
        Some(Allow) => Allow,
        Some(_) => Deny,
        None => return,
    };
    top.insert("permission".into(), word.name().into());
    if word == Deny {
        for key in ["user_message", "agent_message"] {
            top.insert(key.into(), settled.reason.as_str().into());
        }
    }
}

/// The complete new input by the tool's own keys, or why the call is refused.
fn new_input(event: &Event, settled: &Settled) -> Result<Map<String, Value>, String> {
    let cannot = || "A rule rewrites this call, which Cursor cannot do to this tool.".to_string();
    let new = settled.input.as_ref().ok_or_else(cannot)?;
    let own = event.native["input"].as_object().ok_or_else(cannot)?;
    let tool = event.native["tool"].as_str().and_then(|name| find_tool(TOOLS, name));
    let keys = tool.map_or(&[][..], |tool| tool.keys);
    let restored = restore_input(own, (&event.input, new), keys, &[]).ok_or_else(cannot)?;
    let only_path = || {
        let old = own.iter().filter(|one| one.0 != "file_path");
        let new = restored.iter().filter(|one| one.0 != "file_path");
        old.eq(new)
    };
    if event.tool == "Write" && !only_path() {
        return Err("A rule rewrites what is written, and Cursor applies a new path only.".into());
    }
    if settled.verb != Some(Allow) {
        let new = text::make_visible(&Value::Object(restored).to_string());
        let why = format!(
            "A rule rewrites this call, and Cursor takes a new input only beside an approval, which no rule gives. \
             Make the call with this input: {new}"
        );
        return Err(cap_text(why));
    }
    Ok(restored)
}

/// One list of entries for each event; it reads a project's settings of Claude Code as well.
static WIRING: Wiring = Wiring {
    programs: &["cursor", "cursor-agent"],
    traces: &[".cursor"],
    directory: Directory { variable: None, home: ".cursor" },
    files: &[
        SettingsPlace::shared(
            Scope::Managed,
            by_platform(
                "/etc/cursor/hooks.json",
                "/Library/Application Support/Cursor/hooks.json",
                "C:/ProgramData/Cursor/hooks.json",
            ),
            Form::Entries(&ENTRIES),
        ),
        SettingsPlace::shared(Scope::User, "hooks.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".cursor/hooks.json", Form::Entries(&ENTRIES)),
    ],
    reads: &[Reads { agent: "claude", scopes: &[Scope::Project, Scope::Local] }],
    notes: &["A project's hooks run only in a workspace that is trusted."],
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm = EntryForm {
    top: &[("version", Constant::Number(1))],
    cuts_slashes: true,
    fail_closed: Some(&FailClosed {
        key: "failClosed",
        value: Constant::Flag(true),
        kinds: &[Kind::PreToolUse, Kind::PermissionRequest, Kind::UserPromptSubmit],
    }),
    strict: Strict { version: Some("version"), events: NAMES_OF_EVENTS, ..Strict::NOTHING },
    ..EntryForm::FLAT
};
/// Every event that it knows: a name of any other costs it the file.
const NAMES_OF_EVENTS: &[&str] = &[
    "beforeShellExecution",
    "beforeMCPExecution",
    "afterShellExecution",
    "afterMCPExecution",
    "beforeReadFile",
    "afterFileEdit",
    "beforeTabFileRead",
    "afterTabFileEdit",
    "stop",
    "beforeSubmitPrompt",
    "afterAgentResponse",
    "afterAgentThought",
    "sessionStart",
    "sessionEnd",
    "preCompact",
    "subagentStart",
    "subagentStop",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "workspaceOpen",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, input: Value) -> Event {
        let payload = json!({ "cursor_version": "2", "workspace_roots": ["/other", "/work"], "cwd": "/work/sub",
                              "hook_event_name": "preToolUse", "tool_name": tool, "tool_input": input });
        Cursor.parse(payload.as_object().cloned().unwrap_or_default(), None)
    }

    fn rewrite(event: &Event, verb: Option<Verb>, key: &str) -> Value {
        let mut input = event.input.as_object().cloned().unwrap_or_default();
        input.insert(key.into(), "new".into());
        let answer = Answer { verb, input: Some(input), ..Answer::default() };
        serde_json::from_str(&Cursor.render(event, &answer).stdout).unwrap()
    }

    #[test]
    fn a_rewrite_goes_out_beside_an_allow_only() {
        let event = call("Grep", json!({ "pattern": "x", "file_path": "a" }));
        let told = rewrite(&event, Some(Allow), "path");
        let input = json!({ "pattern": "x", "file_path": "new" });
        assert_eq!(told, json!({ "updated_input": input, "permission": "allow" }));
        let told = rewrite(&event, None, "path");
        assert_eq!(told["permission"], "deny");
        assert!(told["agent_message"].as_str().unwrap().ends_with(&input.to_string()), "{told}");
    }

    #[test]
    fn of_a_write_only_the_path_is_rewritten() {
        let event = call("Write", json!({ "file_path": "a", "content": "x" }));
        assert_eq!(rewrite(&event, Some(Allow), "file_path")["permission"], "allow");
        assert_eq!(rewrite(&event, Some(Allow), "content")["permission"], "deny");
    }

    #[test]
    fn a_call_is_judged_where_it_runs_and_the_session_stays_where_it_is() {
        for (dir, expected) in [("/tmp", "/tmp"), ("x", "/work/sub/x")] {
            for key in PLACES {
                let event = call("Shell", json!({ "command": "ls", *key: dir }));
                assert_eq!((event.cwd.as_str(), event.str_field("cwd")), (expected, Some("/work")));
            }
        }
    }
}
