//! Gemini CLI (observed with 0.61, headless).
//!
//! Its events have names of their own, its answers lie mostly at the top of the object. Anything but JSON counts as
//! "go on", also on stderr, so silence is silence on both.

use std::time::Duration;

use serde_json::{Map, Value};

use super::call::{ToolNames, own_names, set_lines};
use super::fields::{operation, text_field};
use super::fingerprint::{Field, Fingerprint};
use super::reply::{DENY_DECISION, NOTICE, Reply, response_reason};
use super::settled::{Settled, settle_answer};
use super::shaped::{enter_directory, event_of_payload, own_input, read_call, translate_call};
use super::wiring::{
    Directory, EntryForm, Form, Headless, Matcher, Off, Scope, SettingsPlace, Switch, Unit, Wiring,
    by_platform,
};
use super::{Agent, AgentFacts, EventSpec, FailureForms, Mark, Output};
use crate::event::{Event, Kind, Operation};
use crate::limits::{self, OPERATIONS};
use crate::verdict::Answer;
use crate::verdict::Verb::{self, Deny, Halt};

/// Gemini CLI.
pub struct Gemini;

const ID: &str = "gemini";
const AFTER_TOOL: &str = "AfterTool";
const WEB_FETCH: &str = "web_fetch";
/// Events that no other agent has.
const OWN_EVENTS: &[&str] = &[
    "BeforeTool",
    AFTER_TOOL,
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "PreCompress",
];

const TOOLS: &[ToolNames] = &[
    ToolNames::new("run_shell_command", "Bash", &[]),
    ToolNames::new("read_file", "Read", &[("start_line", "offset")]),
    ToolNames::new("write_file", "Write", &[]),
    ToolNames::new("replace", "Edit", &[("allow_multiple", "replace_all")]),
    ToolNames::new("grep_search", "Grep", SEARCH_KEYS),
    ToolNames::new("search_file_content", "Grep", SEARCH_KEYS),
    ToolNames::new("glob", "Glob", &[("dir_path", "path")]),
    ToolNames::new("list_directory", "LS", &[("dir_path", "path")]),
    ToolNames::new(WEB_FETCH, "WebFetch", &[]),
    ToolNames::new("google_web_search", "WebSearch", &[]),
    ToolNames::new("write_todos", "TodoWrite", &[]),
    ToolNames::new("invoke_agent", "Agent", &[("agent_name", "subagent_type")]),
    ToolNames::new("activate_skill", "Skill", &[]),
];
const SEARCH_KEYS: &[(&str, &str)] = &[("dir_path", "path"), ("include_pattern", "glob")];
/// A key of Claude Code's that is computed from two of its own: there is no way back.
const DERIVED: &[&str] = &["limit"];

static NAMES: [&str; TOOLS.len()] = own_names(TOOLS);

/// Where a command runs: today's field and the older one.
const DIRECTORIES: &[&str] = &["dir_path", "directory"];

const FEEDBACK: &[Verb] = &[Halt, Deny];
/// What the client gives an entry that names no time.
const PATIENCE: Duration = Duration::from_secs(60);

const fn spec(kind: Kind, name: &'static str) -> EventSpec {
    EventSpec::new(kind).named(name).patience(PATIENCE)
}

/// What it sends after a tool, whether that succeeded or not.
const fn after_tool(kind: Kind) -> EventSpec {
    spec(kind, AFTER_TOOL)
        .input("tool_name, tool_input, tool_response{llmContent, returnDisplay, error?}, mcp_context?")
        .output(
            "decision deny + reason, which the model sees in place of the result; additionalContext; \
             continue:false ends the turn",
        )
        .tells()
        .verbs(FEEDBACK)
        .replaces()
        .matched("tool_name")
        .by_default()
}

/// The events that rules can speak of. A question (`decision: "ask"`) is no verb: without a person there the client
/// waits for ever, and no payload tells whether somebody is.
static EVENTS: &[EventSpec] = &[
    spec(Kind::PreToolUse, "BeforeTool")
        .input("tool_name, tool_input, mcp_context{server_name, tool_name}?, original_request_name?")
        .output("decision deny + reason, tool_input (all of it), continue:false ends the turn")
        .verbs(FEEDBACK)
        .rewrites()
        .holds_context()
        .matched("tool_name")
        .timeout(600)
        .by_default(),
    after_tool(Kind::PostToolUse),
    // The same event: `tool_response.error` tells it apart.
    after_tool(Kind::PostToolUseFailure),
    spec(Kind::UserPromptSubmit, "BeforeAgent")
        .input("prompt")
        .output("decision deny + reason: no request to the model; continue:false; additionalContext")
        .tells()
        .verbs(FEEDBACK)
        .timeout(30)
        .by_default(),
    spec(Kind::Stop, "AfterAgent")
        .input("prompt, prompt_response, stop_hook_active")
        .output("decision deny + reason: the agent goes on with the reason; continue:false ends")
        .verbs(FEEDBACK)
        .timeout(600)
        .by_default(),
    spec(Kind::SessionStart, "SessionStart")
        .input("source")
        .output("additionalContext; cannot be blocked")
        .tells()
        .matched("source")
        .by_default(),
    spec(Kind::SessionEnd, "SessionEnd")
        .input("reason")
        .output("common keys only; cannot be blocked")
        .matched("reason")
        .timeout(5)
        .by_default(),
    spec(Kind::Notification, "Notification")
        .input("notification_type ToolPermission|..., message, details")
        .output("common keys only; cannot be blocked")
        .matched("notification_type")
        .by_default(),
    spec(Kind::PreCompact, "PreCompress")
        .input("trigger")
        .output("common keys only; sent before every request to the model, so register it for no light reason")
        .matched("trigger"),
];

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "Gemini CLI",
    // GEMINI_PROJECT_DIR is set by Qwen Code as well.
    environment: &["GEMINI_SESSION_ID", "GEMINI_CWD"],
    events: EVENTS,
    common_input: "session_id, transcript_path, cwd, hook_event_name, timestamp",
    common_output: "continue, stopReason, systemMessage",
    tool_names: &NAMES,
    // Nobody can be asked. Events of the model come with every part of its answer, PreCompress with every request.
    failure: FailureForms {
        call: DENY_DECISION,
        rest: NOTICE,
        silent: &[Kind::Other, Kind::PreCompact],
    },
    sample: r#"{"hook_event_name":"{event}","session_id":"{session}","cwd":"{cwd}","tool_name":"run_shell_command","tool_input":{"command":"{command}"}}"#,
    wiring: Some(&WIRING),
};

impl Agent for Gemini {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        let event = payload.text(Field::HookEventName);
        let own = OWN_EVENTS.contains(&event) || payload.has_transcript_below(".gemini");
        own.then_some(Mark::Strong)
    }

    /// Forks with Claude Code's events read Gemini's files.
    fn excludes(&self, payload: &Fingerprint) -> bool {
        let event = payload.text(Field::HookEventName);
        Kind::from_name(event) != Kind::Other && !EVENTS.iter().any(|spec| spec.name == event)
    }

    fn parse(&self, payload: Map<String, Value>, named: Option<&str>) -> Event {
        let mut event = event_of_payload(self, payload, named);
        if let Some(value) = event.raw.remove("prompt_response") {
            event.raw.insert("last_assistant_message".into(), value);
        }
        read_call(&mut event, read_operations);
        read_result(&mut event.raw);
        if event.kind == Kind::PostToolUse && event.raw.contains_key("error") {
            event.kind = Kind::PostToolUseFailure;
            event.raw.insert("hook_event_name".into(), event.kind.name().into());
        }
        event
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let spec = self.facts().spec_or_nothing(event);
        let own = answer.input.as_ref().and_then(|new| own_arguments(event, new));
        let rewrite =
            spec.rewrite && answer.elements.is_empty() && (own.is_some() || answer.input.is_none());
        let settled = settle_answer(&EventSpec { rewrite, ..spec }, answer);
        let mut reply = Reply::default();
        match event.kind {
            Kind::PreToolUse => {
                refuse(&mut reply, &settled);
                if let (Some(own), Some(_)) = (own, &settled.input) {
                    reply.specify("tool_input", own);
                }
            }
            Kind::PostToolUse | Kind::PostToolUseFailure => {
                refuse(&mut reply, &settled);
                match &settled.response {
                    Some(response) if !settled.refuses() => {
                        reply.decide("deny", &response_reason(response));
                    }
                    _ => {}
                }
                reply.add_context(&settled);
            }
            // A refused prompt is never sent.
            Kind::UserPromptSubmit if settled.refuses() => refuse(&mut reply, &settled),
            Kind::Stop => match settled.verb {
                Some(Halt) => reply.end_turn(&settled.reason),
                Some(_) => reply.decide("deny", &settled.reason),
                None => {}
            },
            _ => reply.add_context(&settled),
        }
        reply.add_notice(&settled);
        reply.into_output(&event.name, &settled)
    }
}

/// What a call does, by Claude Code's names.
fn read_operations(event: &mut Event, own: &str, input: Value) -> Vec<Operation> {
    if let Some(tool) = mcp_tool(&event.raw, own) {
        return vec![operation(&tool, input)];
    }
    match own {
        WEB_FETCH => return fetches(&input),
        "run_shell_command" => enter_directory(event, &input, DIRECTORIES),
        _ => {}
    }
    let lines = |key: &str| input.get(key).and_then(Value::as_i64);
    let range = (lines("start_line"), lines("end_line"));
    let mut operations = translate_call(event, TOOLS, own, input);
    if let ("read_file", [one]) = (own, operations.as_mut_slice()) {
        set_lines(&mut one.input, range.0, range.1);
    }
    operations
}

/// The tool of an MCP server. Where the payload does not say which, its name cannot be taken apart: both names may
/// hold the sign between them.
fn mcp_tool(payload: &Map<String, Value>, own: &str) -> Option<String> {
    let context = payload.get("mcp_context").and_then(Value::as_object);
    let told = context.and_then(|context| {
        let (server, tool) =
            (text_field(context, "server_name")?, text_field(context, "tool_name")?);
        Some(format!("mcp__{server}__{tool}"))
    });
    told.or_else(|| own.starts_with("mcp_").then(|| format!("mcp__?__{own}")))
}

/// Addresses stand in free text; each is fetched.
fn fetches(input: &Value) -> Vec<Operation> {
    let text = input.get("prompt").and_then(Value::as_str).unwrap_or_default();
    let fetch = |(at, url): (usize, &str)| {
        let mut input = match at > 0 && text.len() > limits::ADDRESS {
            // A long text for each of its addresses would be too much.
            true => Map::new(),
            false => input.as_object().cloned().unwrap_or_default(),
        };
        input.insert("url".into(), url.into());
        operation("WebFetch", Value::Object(input))
    };
    let all: Vec<Operation> =
        addresses(text, OPERATIONS + 1).into_iter().enumerate().map(fetch).collect();
    if all.is_empty() { vec![operation("WebFetch", input.clone())] } else { all }
}

/// The web addresses in a text, each once, as many as are asked for.
fn addresses(text: &str, most: usize) -> Vec<&str> {
    let mut all: Vec<&str> = Vec::new();
    for (at, _) in text.match_indices("://") {
        let scheme = ["https", "http"].into_iter().find(|scheme| {
            let start = at.checked_sub(scheme.len());
            start
                .and_then(|start| text.get(start..at))
                .is_some_and(|t| t.eq_ignore_ascii_case(scheme))
        });
        let Some(scheme) = scheme else { continue };
        if all.len() == most {
            break;
        }
        let start = at - scheme.len();
        let rest = &text[start..text.floor_char_boundary(start + limits::ADDRESS)];
        let end = |c: char| c.is_whitespace() || matches!(c, '"' | '<' | '>' | '`' | '\'' | '|');
        let url = &rest[..rest.find(end).unwrap_or(rest.len())];
        let url = url.trim_end_matches(['.', ',', ';', '!', '?', ')', ']', '}']);
        if !all.contains(&url) {
            all.push(url);
        }
    }
    all
}

/// The new arguments by the client's own names: only what can be said faithfully. An address stands within a text
/// that says more.
fn own_arguments(event: &Event, new: &Map<String, Value>) -> Option<Map<String, Value>> {
    match event.tool.as_str() {
        "WebFetch" => None,
        _ => own_input(event, TOOLS, new, DERIVED),
    }
}

/// Refuses what is about to happen; a halt ends the turn as well.
fn refuse(reply: &mut Reply, settled: &Settled) {
    match settled.verb {
        Some(Halt) => reply.end_turn(&settled.reason),
        Some(_) => {}
        None => return,
    }
    reply.decide("deny", &settled.reason);
}

/// The result as the text that the model sees, and what went wrong. Qwen Code has the same form.
pub(super) fn read_result(payload: &mut Map<String, Value>) {
    let Some(Value::Object(result)) = payload.get_mut("tool_response") else { return };
    let error = match result.get("error") {
        Some(Value::Object(error)) => error.get("message").cloned(),
        Some(Value::Null) | None => None,
        Some(error) => Some(error.clone()),
    };
    let text = match result.get("llmContent") {
        Some(Value::String(text)) => Some(text.clone()),
        Some(Value::Array(parts)) => join_parts(parts),
        _ => None,
    };
    if let Some(text) = text {
        payload.insert("tool_response".into(), without_wrapping(&text).into());
    }
    if let Some(error) = error {
        payload.insert("error".into(), error);
    }
}

/// The text of all parts; none where there is one that is no text.
fn join_parts(parts: &[Value]) -> Option<String> {
    let texts: Option<Vec<&str>> =
        parts.iter().map(|part| part.as_str().or_else(|| part.get("text")?.as_str())).collect();
    Some(texts?.into_iter().map(without_wrapping).collect::<Vec<_>>().join("\n"))
}

/// What a command or a server said stands in a tag of the client's.
fn without_wrapping(text: &str) -> &str {
    let inner = text.strip_prefix("<untrusted_context>\n");
    inner.and_then(|inner| inner.strip_suffix("\n</untrusted_context>")).unwrap_or(text)
}

const PROJECT: &str = ".gemini/settings.json";
/// The administrator's file, which the others cannot overrule.
const MANAGED: &str = by_platform(
    "/etc/gemini-cli/settings.json",
    "/Library/Application Support/GeminiCli/settings.json",
    "C:/ProgramData/gemini-cli/settings.json",
);
/// The files that may switch hooks off.
const PLACES: &[(Scope, &str)] =
    &[(Scope::User, "settings.json"), (Scope::Project, PROJECT), (Scope::Managed, MANAGED)];

/// Groups as Claude Code has them, with names and in milliseconds.
static WIRING: Wiring = Wiring {
    programs: &["gemini"],
    traces: &[".gemini"],
    directory: Directory { variable: None, home: ".gemini" },
    files: &[
        SettingsPlace::shared(Scope::Managed, MANAGED, Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::User, "settings.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, PROJECT, Form::Entries(&ENTRIES)),
    ],
    switches: &[
        Switch { places: PLACES, keys: &["hooksConfig", "enabled"], off: Off::Last(false) },
        Switch { places: PLACES, keys: &["hooksConfig", "disabled"], off: Off::Named },
    ],
    notes: &["Where folder trust is on, Gemini CLI runs no hook at all in a folder without it."],
    headless: Some(Headless {
        args: &[
            "--skip-trust",
            "--allowed-tools",
            "run_shell_command({command})",
            "-p",
            "{prompt}",
        ],
        env: &[],
        subagent: Some("Agent"),
    }),
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm = EntryForm {
    timeout: Some(("timeout", Unit::Milliseconds)),
    named: true,
    matcher: Matcher::Tools,
    comments: true,
    ..EntryForm::GROUPS
};

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn event(tool: &str, input: Value) -> Event {
        let payload = json!({
            "hook_event_name": "BeforeTool", "cwd": "/w", "tool_name": tool, "tool_input": input,
        });
        Gemini.parse(payload.as_object().cloned().unwrap_or_default(), None)
    }

    fn rewritten(event: &Event, key: &str, value: Value) -> Value {
        let mut input = event.input.as_object().cloned().unwrap_or_default();
        input.insert(key.into(), value);
        let out = Gemini.render(event, &Answer { input: Some(input), ..Answer::default() });
        serde_json::from_str(&out.stdout).unwrap_or_default()
    }

    #[test]
    fn a_rewrite_goes_back_to_the_own_keys() {
        let read = event("read_file", json!({ "file_path": "a", "start_line": 3, "end_line": 5 }));
        assert_eq!(read.input["offset"], 3);
        assert_eq!(read.input["limit"], 3);
        let own = &rewritten(&read, "file_path", json!("b"))["hookSpecificOutput"]["tool_input"];
        assert_eq!(*own, json!({ "file_path": "b", "start_line": 3, "end_line": 5 }));
        assert_eq!(rewritten(&read, "limit", json!(1))["decision"], "deny");
    }

    #[test]
    fn a_command_runs_where_its_call_says() {
        let dir =
            |dir: &str| event("run_shell_command", json!({ "command": "ls", "dir_path": dir })).cwd;
        assert_eq!([dir("sub/.."), dir("../x"), dir("/etc"), dir("")], ["/w", "/x", "/etc", "/w"]);
        let older = event("run_shell_command", json!({ "command": "ls", "directory": "sub" }));
        assert_eq!(older.cwd, "/w/sub");
    }

    #[test]
    fn a_text_of_many_addresses_makes_as_many_as_are_judged_and_one_more() {
        for text in ["http://".repeat(100_000), "http://x.example/ http://y.example ".repeat(9_000)]
        {
            let event = event(WEB_FETCH, json!({ "prompt": text }));
            assert!(event.input["prompt"].is_string());
            assert!(event.more.len() <= OPERATIONS);
            assert!(event.more.iter().all(|one| one.input.get("prompt").is_none()));
        }
        let many: String = (0..1000).map(|at| format!("http://h{at}.example/ ")).collect();
        assert_eq!(event(WEB_FETCH, json!({ "prompt": many })).more.len(), OPERATIONS);
    }

    #[test]
    fn each_address_is_fetched() {
        let text =
            "see (https://a.example/x), HTTP://b.example. and https://a.example/x or ftp://c";
        let event = event(WEB_FETCH, json!({ "prompt": text }));
        let mut urls = vec![event.input["url"].clone()];
        urls.extend(event.more.iter().map(|one| one.input["url"].clone()));
        assert_eq!(urls, ["https://a.example/x", "HTTP://b.example"]);
        let elements = vec![(1, Map::new())];
        let out = Gemini.render(&event, &Answer { elements, ..Answer::default() });
        assert!(out.stdout.contains(r#""decision":"deny""#), "{}", out.stdout);
    }

    #[test]
    fn a_server_is_not_told_from_a_name() {
        assert_eq!(event("mcp_a_b_c", json!({})).tool, "mcp__?__mcp_a_b_c");
    }

    #[test]
    fn a_fork_with_other_events_is_none() {
        let named = |name: &str| {
            json!({ "hook_event_name": name }).as_object().cloned().unwrap_or_default()
        };
        assert!(Gemini.excludes(&Fingerprint::of(&named("PreToolUse"))));
        assert!(!Gemini.excludes(&Fingerprint::of(&named("SessionStart"))));
        assert!(!Gemini.excludes(&Fingerprint::of(&named("BeforeSomethingNew"))));
    }
}
