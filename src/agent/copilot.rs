//! GitHub Copilot CLI: its payloads as events, and its answers.
//!
//! Observed with 1.0.102. The case of the key in the hook file selects the payload: camelCase payloads name no event
//! and call the tools by Copilot's names, PascalCase ones look like Claude Code's with Copilot's keys. Its native
//! answers at the top level work under both, `hookSpecificOutput` only under PascalCase; VS Code reads the same files
//! and that form alone, so both are written there. A human is shown nothing but reasons: notices have no place.
//!
//! The desktop app runs the same hooks and executes on `ask` (reported as github/app#228): where it is seen, an ask
//! is a deny.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::call::{
    ToolNames, find_tool, kind_by_content, own_names, place_operations, rename_keys, restore_input,
    set_lines, take_tool,
};
use super::fields::{absolute_field, operation, rename_fields, response_text, text_field};
use super::fingerprint::{Field, Fingerprint};
use super::patch::{call_operations, field_operations, patch_operations};
use super::settled::{BLOCKED, Settled, settle_answer};
use super::wiring::{
    Constant, Directory, EntryForm, Form, Headless, Off, Reads, Scope, SettingsPlace, Switch, Unit,
    Wiring,
};
use super::{Agent, AgentFacts, EventSpec, FailureForms, Mark, Output};
use crate::env;
use crate::event::{Event, Kind, Operation};
use crate::limits::OPERATIONS;
use crate::verdict::Answer;
use crate::verdict::Verb::{self, Allow, Ask, Deny, Halt};
use crate::watchdog::FailureForm;

/// GitHub Copilot CLI, `@github/copilot`.
pub struct Copilot;

const ID: &str = "copilot";

/// What an entry without a timeout gets.
const PATIENCE: Duration = Duration::from_secs(30);
/// Where people and test suites answer.
const LONG: u32 = 600;

const fn spec(kind: Kind) -> EventSpec {
    EventSpec::new(kind).patience(PATIENCE)
}

const STOP_INPUT: &str = "transcript_path, stop_reason, stop_hook_active";
const CONTEXT_OUTPUT: &str = "additionalContext";
const CONTINUE_OUTPUT: &str =
    "decision block + reason: the agent goes on with the reason, at most 8 times in a row";

/// Every event, under the name that install registers it by: the payload then names its event. Only the permission
/// request has the camelCase form under either key. Seen to act: all but the last six, which are documented.
static EVENTS: &[EventSpec] = &[
    spec(Kind::PreToolUse)
        .input("tool_name, tool_input")
        .output(
            "permissionDecision allow|deny|ask, permissionDecisionReason, modifiedArgs, \
             additionalContext; exit 2 denies without a reason",
        )
        .tells()
        .verbs(&[Deny, Ask, Allow])
        .rewrites()
        .matched("tool_name")
        .timeout(LONG)
        .by_default(),
    spec(Kind::PermissionRequest)
        .named("permissionRequest")
        .input("toolName, toolInput, permissionSuggestions[]")
        .output("behavior allow|deny, message, interrupt; no answer leaves the dialog to the user")
        .verbs(&[Halt, Deny, Allow])
        .matched("tool_name")
        .timeout(LONG)
        .by_default(),
    spec(Kind::PostToolUse)
        .input("tool_name, tool_input, tool_result{result_type, text_result_for_llm}")
        .output(
            "decision block + reason (in the result's place), modifiedResult, additionalContext",
        )
        .tells()
        .verbs(&[Deny])
        .replaces()
        .matched("tool_name")
        .by_default(),
    spec(Kind::UserPromptSubmit)
        .input("prompt")
        .output("decision block + reason, additionalContext")
        .tells()
        .verbs(&[Deny])
        .timeout(30)
        .by_default(),
    spec(Kind::SessionStart)
        .input("source new|resume|startup, initial_prompt")
        .output(CONTEXT_OUTPUT)
        .tells()
        .by_default(),
    spec(Kind::SessionEnd)
        .input("reason")
        .output("nothing; cannot be blocked")
        .timeout(5)
        .by_default(),
    spec(Kind::Stop)
        .input(STOP_INPUT)
        .output(CONTINUE_OUTPUT)
        .verbs(&[Deny])
        .timeout(LONG)
        .by_default(),
    spec(Kind::PostToolUseFailure)
        .input("tool_name, tool_input, error")
        .output(CONTEXT_OUTPUT)
        .tells()
        .matched("tool_name")
        .by_default(),
    spec(Kind::SubagentStart).input("agent_name, transcript_path").output(CONTEXT_OUTPUT).tells(),
    spec(Kind::SubagentStop)
        .input("agent_id, agent_type, agent_name, stop_reason, transcript_path")
        .output(CONTINUE_OUTPUT)
        .verbs(&[Deny])
        .timeout(LONG)
        .by_default(),
    spec(Kind::PreCompact)
        .input("trigger manual|auto, custom_instructions, transcript_path")
        .output("nothing; cannot be blocked"),
    spec(Kind::Notification).input("message, notification_type").output(CONTEXT_OUTPUT).tells(),
    spec(Kind::StopFailure)
        .named("errorOccurred")
        .input("error{message, name}, error_context, recoverable")
        .output("nothing; cannot be blocked"),
];

/// The camelCase names of the events.
const CAMEL: &[(&str, Kind)] = &[
    ("preToolUse", Kind::PreToolUse),
    ("permissionRequest", Kind::PermissionRequest),
    ("postToolUse", Kind::PostToolUse),
    ("postToolUseFailure", Kind::PostToolUseFailure),
    ("userPromptSubmitted", Kind::UserPromptSubmit),
    ("sessionStart", Kind::SessionStart),
    ("sessionEnd", Kind::SessionEnd),
    ("agentStop", Kind::Stop),
    ("subagentStart", Kind::SubagentStart),
    ("subagentStop", Kind::SubagentStop),
    ("preCompact", Kind::PreCompact),
    ("notification", Kind::Notification),
    ("errorOccurred", Kind::StopFailure),
];

/// The camelCase fields, and those of results, by Claude Code's names.
const FIELDS: &[(&str, &str)] = &[
    ("sessionId", "session_id"),
    ("transcriptPath", "transcript_path"),
    ("toolName", "tool_name"),
    ("toolArgs", "tool_input"),
    ("toolInput", "tool_input"),
    ("toolResult", "tool_result"),
    ("permissionSuggestions", "permission_suggestions"),
    ("stopReason", "stop_reason"),
    ("initialPrompt", "initial_prompt"),
    ("customInstructions", "custom_instructions"),
    ("errorContext", "error_context"),
    ("agentId", "agent_id"),
    ("agentName", "agent_name"),
    ("agentType", "agent_type"),
];

const EDIT_KEYS: &[(&str, &str)] =
    &[("path", "file_path"), ("old_str", "old_string"), ("new_str", "new_string")];
const READ_KEYS: &[(&str, &str)] = &[("path", "file_path")];
const WRITE_KEYS: &[(&str, &str)] = &[("path", "file_path"), ("file_text", "content")];

/// Its tools under camelCase names, then PascalCase ones, which are Claude Code's with Copilot's keys.
const TOOLS: &[ToolNames] = &[
    ToolNames::new("bash", "Bash", &[]),
    // Seen on Windows only. Its lines are read as those of a shell, as under PascalCase, where it is called so too.
    ToolNames::new("powershell", "Bash", &[]),
    ToolNames::new("view", "Read", READ_KEYS),
    ToolNames::new("create", "Write", WRITE_KEYS),
    ToolNames::new("edit", "Edit", EDIT_KEYS),
    ToolNames::new("apply_patch", "Edit", &[]),
    ToolNames::new("grep", "Grep", &[]),
    ToolNames::new("glob", "Glob", &[]),
    ToolNames::new("web_fetch", "WebFetch", &[]),
    ToolNames::new("task", "Agent", &[]),
    ToolNames::new("Bash", "Bash", &[]),
    ToolNames::new("Read", "Read", READ_KEYS),
    ToolNames::new("Write", "Write", WRITE_KEYS),
    ToolNames::new("Edit", "Edit", EDIT_KEYS),
    ToolNames::new("Grep", "Grep", &[]),
    ToolNames::new("Glob", "Glob", &[]),
    ToolNames::new("WebFetch", "WebFetch", &[]),
    ToolNames::new("Agent", "Agent", &[]),
];
static NAMES: [&str; TOOLS.len()] = own_names(TOOLS);

/// Tools that type into a shell which runs already.
const TYPING: &[&str] = &["write_bash", "write_powershell"];

/// Keys that are made from others: the lines of a file, the one directory of a search.
const DERIVED: &[&str] = &["offset", "limit", "path"];

const ASK: FailureForm = FailureForm::Stop(
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"hookctl cannot judge this call"},"permissionDecision":"ask","permissionDecisionReason":""#,
    r#""}"#,
);
const REFUSE: FailureForm = FailureForm::Stop(
    r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"hookctl cannot judge this call"},"permissionDecision":"deny","permissionDecisionReason":""#,
    r#""}"#,
);

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "GitHub Copilot CLI",
    environment: &["COPILOT_CLI"],
    events: EVENTS,
    common_input: "hook_event_name, session_id, timestamp, cwd",
    tool_names: &NAMES,
    failure: FailureForms { call: ASK, rest: FailureForm::Silence, silent: &[] },
    wiring: Some(&WIRING),
    ..AgentFacts::UNKNOWN
};

impl Agent for Copilot {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    /// Rows 8, 14 and 17 of the contract's table.
    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        let has = |field: Field| payload.has(field);
        let ticks = payload.value(Field::Timestamp).is_some_and(Value::is_number);
        if has(Field::SessionIdCamel)
            && (has(Field::HookName) || has(Field::ToolNameCamel) || ticks)
            && !payload.has_usual_call()
        {
            return Some(Mark::Strong);
        }
        let dated = payload.has_text(Field::Timestamp);
        if payload.has_transcript_below(".copilot")
            || dated && has(Field::ToolResult)
            || has(Field::StopReason)
            || has(Field::InitialPrompt)
        {
            return Some(Mark::Strong);
        }
        let others = [Field::ToolUseId, Field::PermissionMode, Field::TranscriptPath];
        let bare = !others.into_iter().any(has);
        let claude = PASCAL.contains(&payload.text(Field::ToolName));
        let mark = if claude { Mark::Strong } else { Mark::Weak };
        (dated && bare).then_some(mark)
    }

    /// Its payloads have none of these; VS Code reads its hook files and sends the first.
    fn excludes(&self, payload: &Fingerprint) -> bool {
        payload.has(Field::ToolUseId) || payload.has(Field::PermissionMode)
    }

    fn parse(&self, mut payload: Map<String, Value>, named: Option<&str>) -> Event {
        let camel =
            ["sessionId", "toolName", "hookName"].iter().any(|key| payload.contains_key(*key));
        let own = ["hookName", "hook_event_name", "hookEventName"];
        let name = own.iter().find_map(|key| text_field(&payload, key)).or(named);
        let name = name.unwrap_or_else(|| name_by_shape(&payload)).to_string();
        rename_fields(&mut payload, FIELDS);
        rename_fields(
            &mut payload,
            &[("agent_name", "agent_type"), ("response", "last_assistant_message")],
        );
        let result_type = read_result(&mut payload);
        if let Some(text) = payload.get("error").and_then(|error| error.get("message")).cloned() {
            payload.insert("error".into(), text);
        }
        let kind = kind_of(&name, &payload);
        let mut native = json!({ "camel": camel, "app": is_desktop_app(&payload) });
        if let Some(result_type) = result_type {
            native["result_type"] = result_type;
        }
        let mut more = Vec::new();
        let mut first = operation("", Value::Null);
        if let Some((own, input)) = take_tool(&mut payload, (kind, &name)) {
            if kind == Kind::PreToolUse {
                native["input"] = input.clone();
            }
            native["tool"] = Value::from(own.as_str());
            (first, more) = place_operations(&mut payload, operations_of(&own, input));
        }
        if kind != Kind::Other {
            payload.insert("hook_event_name".into(), kind.name().into());
        }
        Event {
            agent: ID,
            kind,
            name,
            tool: first.tool,
            input: first.input,
            cwd: absolute_field(&payload, "cwd"),
            session: text_field(&payload, "session_id").unwrap_or_default().to_string(),
            more,
            raw: payload,
            native,
        }
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let Some(spec) = self.spec_of(event) else { return Output::default() };
        let asks = !event.native["app"].as_bool().unwrap_or(false);
        let verbs = if asks { spec.verbs } else { without_ask(spec.verbs) };
        let settled = settle_answer(&EventSpec { verbs, ..*spec }, answer);
        match event.kind {
            Kind::PreToolUse => render_call(event, settled),
            Kind::PermissionRequest => render_dialog(&settled),
            _ => render_top(event, settled),
        }
    }

    fn failure_form(&self, kind: Kind) -> FailureForm {
        match kind {
            // The app executes on an ask.
            Kind::PreToolUse if is_in_app_bundle() => REFUSE,
            kind => FACTS.failure.of(kind),
        }
    }
}

/// The tools that it calls by Claude Code's names under PascalCase keys.
const PASCAL: &[&str] =
    &["Bash", "Read", "Write", "Edit", "Grep", "Glob", "WebFetch", "WebSearch", "Agent"];

fn kind_of(name: &str, payload: &Map<String, Value>) -> Kind {
    let camel = CAMEL.iter().find(|one| one.0 == name).map(|one| one.1);
    match camel.unwrap_or_else(|| Kind::from_name(name)) {
        Kind::Other => kind_by_content(name, payload),
        kind => kind,
    }
}

/// The event of a camelCase payload that came without `--event`, in the order of the contract.
fn name_by_shape(payload: &Map<String, Value>) -> &'static str {
    const SHAPES: &[(&[&str], &str)] = &[
        (&["toolName", "toolResult"], "postToolUse"),
        (&["toolName", "error"], "postToolUseFailure"),
        (&["hookName"], "permissionRequest"),
        (&["toolName"], "preToolUse"),
        (&["toolArgs"], "preToolUse"),
        (&["prompt"], "userPromptSubmitted"),
        (&["stopReason", "agentName"], "subagentStop"),
        (&["stopReason"], "agentStop"),
        (&["errorContext"], "errorOccurred"),
        (&["notification_type"], "notification"),
        (&["initialPrompt"], "sessionStart"),
        (&["source"], "sessionStart"),
        (&["reason"], "sessionEnd"),
        (&["trigger"], "preCompact"),
        (&["agentName"], "subagentStart"),
    ];
    let fits = |keys: &&[&str]| keys.iter().all(|key| payload.contains_key(*key));
    SHAPES.iter().find(|(keys, _)| fits(keys)).map_or("", |(_, name)| name)
}

/// Makes the result a text, so that whoever changes it changes all of it; returns its type.
fn read_result(payload: &mut Map<String, Value>) -> Option<Value> {
    let mut result = payload.remove("tool_result")?;
    let text = ["text_result_for_llm", "textResultForLlm"]
        .into_iter()
        .find_map(|key| result.get(key).filter(|text| text.is_string()).cloned());
    let kind = ["result_type", "resultType"].into_iter().find_map(|key| result.get(key).cloned());
    payload.insert("tool_response".into(), text.unwrap_or_else(|| result.take()));
    Some(kind.unwrap_or_else(|| "success".into()))
}

/// What the call does, by Claude Code's names.
fn operations_of(own: &str, input: Value) -> Vec<Operation> {
    if TYPING.contains(&own) {
        return typed_lines(own, input);
    }
    let Some(tool) = find_tool(TOOLS, own) else {
        return vec![Operation { tool: foreign_name(own), input }];
    };
    if tool.claude == "Edit" && input.get("path").or_else(|| input.get("file_path")).is_none() {
        return call_operations("Edit", input);
    }
    let patch = patched_by(tool.claude, &input);
    let mut input = rename_keys(input, tool.keys);
    match tool.claude {
        "Read" => {
            let line = |at: usize| input["view_range"].get(at).and_then(Value::as_i64);
            let (first, last) = (line(0), line(1));
            set_lines(&mut input, first, last);
            vec![operation("Read", input)]
        }
        "Grep" | "Glob" => searches(tool.claude, input),
        name => std::iter::once(operation(name, input)).chain(patch).collect(),
    }
}

/// The fields of an edit that hold a path or text of a file; `diff` shows people what it would do.
const EDITED: &[&str] = &[
    "path",
    "file_path",
    "old_str",
    "new_str",
    "old_string",
    "new_string",
    "file_text",
    "content",
    "diff",
];

/// The operations of the patch that an edit takes beside a path, or that a command begins with.
fn patched_by(tool: &str, input: &Value) -> Vec<Operation> {
    match tool {
        // Whatever is none of an edit's own texts may be the patch.
        "Edit" => {
            let fields = input.as_object().into_iter().flatten();
            field_operations(
                fields.filter(|(key, _)| !EDITED.contains(&key.as_str())).map(|one| one.1),
            )
        }
        "Bash" => {
            let line = input.get("command").and_then(Value::as_str).unwrap_or_default();
            let patches = ["apply_patch", "applypatch"];
            let patch = patches.iter().any(|name| line.trim_start().starts_with(name));
            if patch { patch_operations(line) } else { Vec::new() }
        }
        _ => Vec::new(),
    }
}

/// What is typed into a shell that runs is a command line as any other, its keys written out (`{enter}`).
fn typed_lines(own: &str, input: Value) -> Vec<Operation> {
    let lines =
        input.get("input").and_then(Value::as_str).map(|text| text.replace("{enter}", "\n"));
    let lines = lines.map(|lines| operation("Bash", json!({ "command": lines })));
    std::iter::once(Operation { tool: own.into(), input }).chain(lines).collect()
}

/// A search looks into each of its `paths`.
fn searches(tool: &str, mut input: Value) -> Vec<Operation> {
    let paths = match input.as_object_mut().and_then(|map| map.remove("paths")) {
        Some(Value::Array(paths)) => paths,
        Some(Value::Null) | None => Vec::new(),
        Some(path) => vec![path],
    };
    let looks_at = |path: Value| {
        let mut input = input.clone();
        input["path"] = path;
        operation(tool, input)
    };
    match paths.is_empty() {
        true => vec![operation(tool, input)],
        false => paths.into_iter().take(OPERATIONS + 1).map(looks_at).collect(),
    }
}

/// A tool that is none of its own. Servers of MCP are parted from their tools by `/` in permission requests and by `-`
/// elsewhere, which their names have as well.
fn foreign_name(own: &str) -> String {
    match own.split_once('/') {
        Some((server, tool)) => format!("mcp__{server}__{tool}"),
        None if own.contains('-') => format!("mcp__?__{own}"),
        None => own.to_string(),
    }
}

/// Does the desktop app run this hook? No mark of it is documented, so any word for it counts: what is taken for the
/// app by mistake is refused where it would be asked.
fn is_desktop_app(payload: &Map<String, Value>) -> bool {
    let says = |key: &&str| {
        let text = text_field(payload, key).unwrap_or_default().to_ascii_lowercase();
        text.contains("desktop") || text == "app" || text.ends_with("-app")
    };
    ["host", "client", "clientName", "client_name", "surface"].iter().any(says)
        || is_in_app_bundle()
}

/// On macOS whatever an app starts knows the app's identifier.
fn is_in_app_bundle() -> bool {
    env::get(env::APP_BUNDLE).is_some_and(|id| id.to_ascii_lowercase().starts_with("com.github."))
}

fn without_ask(verbs: &'static [Verb]) -> &'static [Verb] {
    if verbs.contains(&Ask) { &[Deny, Allow] } else { verbs }
}

/// The complete new arguments by the tool's own keys.
fn new_arguments(event: &Event, settled: &Settled) -> Result<Option<Map<String, Value>>, String> {
    let whole = "A rule rewrites a part of this call, which cannot be said for this tool.";
    if !settled.elements.is_empty() {
        return Err(whole.into());
    }
    let Some(new) = &settled.input else { return Ok(None) };
    let tool = event.native["tool"].as_str().and_then(|own| find_tool(TOOLS, own));
    let keys = tool.map_or(&[][..], |tool| tool.keys);
    let own = event.native["input"].as_object().filter(|own| {
        // The keys of a patch's operation are not those of the tool.
        tool.is_none_or(|tool| tool.claude != "Edit" || own.contains_key("path"))
    });
    let restored = own.and_then(|own| restore_input(own, (&event.input, new), keys, DERIVED));
    restored.map(Some).ok_or_else(|| whole.into())
}

fn render_call(event: &Event, mut settled: Settled) -> Output {
    let arguments = new_arguments(event, &settled).unwrap_or_else(|why| {
        (settled.verb, settled.reason) = (Some(Deny), why);
        None
    });
    let mut specific = Map::new();
    if let Some(verb) = settled.verb {
        specific.insert("permissionDecision".into(), verb.name().into());
        if !settled.reason.is_empty() {
            specific.insert("permissionDecisionReason".into(), settled.reason.as_str().into());
        }
    }
    if !settled.context.is_empty() {
        specific.insert("additionalContext".into(), settled.context.as_str().into());
    }
    let mut top = specific.clone();
    if let Some(arguments) = arguments {
        specific.insert("updatedInput".into(), arguments.clone().into());
        top.insert("modifiedArgs".into(), arguments.into());
    }
    write_answer(event, top, specific, refusal_of(settled))
}

fn render_dialog(settled: &Settled) -> Output {
    let answer = match settled.verb {
        Some(Allow) => json!({ "behavior": "allow" }),
        Some(Halt) => json!({ "behavior": "deny", "message": settled.reason, "interrupt": true }),
        Some(_) => json!({ "behavior": "deny", "message": settled.reason }),
        None => return Output::default(),
    };
    let refusal = settled.refuses().then(|| settled.reason.clone());
    Output { stdout: answer.to_string(), refusal, ..Output::default() }
}

fn render_top(event: &Event, settled: Settled) -> Output {
    let (mut top, mut specific) = (Map::new(), Map::new());
    if settled.refuses() {
        top.insert("decision".into(), "block".into());
        top.insert("reason".into(), settled.reason.as_str().into());
    } else if let Some(response) = &settled.response {
        let kind = event.native.get("result_type").cloned().unwrap_or_else(|| "success".into());
        let result = json!({ "resultType": kind, "textResultForLlm": response_text(response) });
        top.insert("modifiedResult".into(), result);
    }
    // A prompt that is refused is never sent.
    let heard = event.kind != Kind::UserPromptSubmit || !settled.refuses();
    if heard && !settled.context.is_empty() {
        top.insert("additionalContext".into(), settled.context.as_str().into());
        specific.insert("additionalContext".into(), settled.context.as_str().into());
    }
    write_answer(event, top, specific, refusal_of(settled))
}

fn refusal_of(settled: Settled) -> Option<String> {
    let reason = if settled.reason.is_empty() { BLOCKED.to_string() } else { settled.reason };
    settled.verb.is_some_and(Verb::stops_call).then_some(reason)
}

/// The one object: both forms under PascalCase, the native one under camelCase.
fn write_answer(
    event: &Event,
    mut top: Map<String, Value>,
    mut specific: Map<String, Value>,
    refusal: Option<String>,
) -> Output {
    if top.is_empty() {
        return Output::default();
    }
    if !specific.is_empty() && event.native["camel"] != true {
        specific.insert("hookEventName".into(), event.name.as_str().into());
        top.insert("hookSpecificOutput".into(), specific.into());
    }
    Output::of_object(top, refusal)
}

/// A file of hookctl's own among its hooks; it reads a project's settings of Claude Code as well.
static WIRING: Wiring = Wiring {
    programs: &["copilot"],
    traces: &[".copilot"],
    directory: Directory { variable: Some(crate::env::COPILOT_HOME), home: ".copilot" },
    files: &[
        SettingsPlace::own(Scope::User, "hooks/hookctl.json", Form::Entries(&ENTRIES)),
        SettingsPlace::own(Scope::Project, ".github/hooks/hookctl.json", Form::Entries(&ENTRIES)),
    ],
    reads: &[Reads { agent: "claude", scopes: &[Scope::Project, Scope::Local] }],
    notes: &["A project's hooks run only in a folder that is trusted."],
    switches: &[Switch {
        places: &[
            (Scope::User, "settings.json"),
            (Scope::User, "hooks/hookctl.json"),
            (Scope::Project, ".github/copilot/settings.json"),
            (Scope::Project, ".github/copilot/settings.local.json"),
            (Scope::Project, ".github/hooks/hookctl.json"),
        ],
        keys: &["disableAllHooks"],
        off: Off::Anywhere(true),
    }],
    // It lets one name a program, not a whole command line (observed).
    headless: Some(Headless {
        args: &["--allow-tool", "shell(mkdir)", "-p", "{prompt}"],
        env: &[],
        subagent: Some("Agent"),
    }),
    ..Wiring::UNKNOWN
};

/// VS Code reads the same file, and takes `timeout` for what `timeoutSec` is here.
pub(super) static ENTRIES: EntryForm = EntryForm {
    top: &[("version", Constant::Number(1))],
    keys: &[("type", Constant::Text("command"))],
    timeout: Some(("timeoutSec", Unit::Seconds)),
    ..EntryForm::FLAT
};

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(payload: Value) -> Event {
        Copilot.parse(payload.as_object().cloned().unwrap_or_default(), None)
    }

    fn call(tool: &str, input: Value) -> Event {
        parse(json!({ "sessionId": "s", "timestamp": 1, "toolName": tool, "toolArgs": input }))
    }

    /// What the client is told where a rule sets that key of the first operation.
    fn rewrite(event: &Event, key: &str, value: Value) -> Value {
        let mut input = event.input.as_object().cloned().unwrap_or_default();
        input.insert(key.into(), value);
        let mut answer = Answer::default();
        match event.more.is_empty() {
            true => answer.input = Some(input),
            false => answer.elements = vec![(0, input)],
        }
        serde_json::from_str(&Copilot.render(event, &answer).stdout).unwrap()
    }

    fn is_refused(answer: &Value) -> bool {
        answer["permissionDecision"] == "deny" && answer.get("modifiedArgs").is_none()
    }

    #[test]
    fn what_has_no_key_of_its_own_is_not_rewritten() {
        let read = call("view", json!({ "path": "a", "view_range": [3, 5] }));
        assert_eq!((&read.input["offset"], &read.input["limit"]), (&json!(3), &json!(3)));
        assert!(is_refused(&rewrite(&read, "offset", json!(1))));
        let told = rewrite(&read, "file_path", json!("b"));
        assert_eq!(told["modifiedArgs"], json!({ "path": "b", "view_range": [3, 5] }));
        let search = call("grep", json!({ "pattern": "x", "paths": ["a", "b"] }));
        assert_eq!(search.more.len(), 1);
        assert!(is_refused(&rewrite(&search, "pattern", json!("y"))));
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\n";
        for input in [json!(patch), json!({ "input": patch })] {
            let patched = call("apply_patch", input);
            assert_eq!(patched.tool, "Write");
            assert!(is_refused(&rewrite(&patched, "file_path", json!("b"))));
        }
    }

    #[test]
    fn a_shell_call_that_patches_or_types_is_both() {
        let patch = "apply_patch <<'E'\n*** Begin Patch\n*** Delete File: a\n*** End Patch\nE";
        let event = call("bash", json!({ "command": patch }));
        assert_eq!((event.tool.as_str(), event.more[0].tool.as_str()), ("Bash", "Delete"));
        let event = call("write_bash", json!({ "shellId": "0", "input": "ls{enter}" }));
        assert_eq!(event.more[0], operation("Bash", json!({ "command": "ls\n" })));
    }

    #[test]
    fn arguments_may_be_json_inside_of_a_text() {
        assert_eq!(call("bash", json!(r#"{"command":"ls"}"#)).command(), Some("ls"));
        assert_eq!(call("bash", json!("{not json")).input, json!("{not json"));
    }

    #[test]
    fn the_desktop_app_is_never_asked() {
        let mut payload =
            json!({ "sessionId": "s", "timestamp": 1, "toolName": "bash", "toolArgs": {} });
        let ask = Answer { verb: Some(Ask), reason: "Sure?".into(), ..Answer::default() };
        let told = |payload: &Value| Copilot.render(&parse(payload.clone()), &ask).stdout;
        assert!(told(&payload).contains(r#""permissionDecision":"ask""#));
        payload["client"] = "copilot-desktop".into();
        assert!(told(&payload).contains(r#""permissionDecision":"deny""#));
    }

    #[test]
    fn a_payload_without_a_name_is_known_by_its_shape() {
        for (fields, name) in [
            (&["toolName", "toolResult"][..], "postToolUse"),
            (&["toolName", "error"], "postToolUseFailure"),
            (&["toolName", "toolArgs"], "preToolUse"),
            (&["stopReason", "agentName"], "subagentStop"),
            (&["stopReason"], "agentStop"),
            (&["source"], "sessionStart"),
            (&["agentName"], "subagentStart"),
        ] {
            let payload = fields.iter().map(|key| ((*key).to_string(), json!("x"))).collect();
            assert_eq!(name_by_shape(&payload), name);
            assert_ne!(kind_of(name, &payload), Kind::Other);
        }
    }
}
