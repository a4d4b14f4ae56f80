//! The Cline whose hooks are Claude Code's: `~/.cline/hooks.json`, payloads that cannot be told from Claude
//! Code's, and answers of its own. So it is only ever an agent by `--agent cline-fork`.
//!
//! Its tools have Claude Code's names and Cline's old keys. Whatever JSON does not say `approve: true` is a
//! refusal, and so is every exit status but 0; nothing on stdout lets the call pass.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::cline::tools;
use super::fingerprint::Fingerprint;
use super::settled::{Settled, settle_answer};
use super::wiring::{CallForm, Directory, EntryForm, Form, Matcher, Scope, SettingsPlace, Wiring};
use super::{Agent, AgentFacts, EventSpec, FailureForms, Mark, Output, default_agent};
use crate::event::{Event, Kind, Operation};
use crate::verdict::{Answer, Verb};
use crate::watchdog::FailureForm;

/// The fork of Cline with Claude Code's hooks.
pub struct ClineFork;

const ID: &str = "cline-fork";

/// Its tools, and the tools of Cline that they are.
static TOOLS: &[(&str, &str)] = &[
    ("Bash", "execute_command"),
    ("Read", "read_file"),
    ("Write", "write_to_file"),
    ("Edit", "replace_in_file"),
    ("Grep", "search_files"),
    ("Glob", "list_files"),
    ("WebFetch", "web_fetch"),
    ("UseMcpTool", "use_mcp_tool"),
];

/// What the design gives a hook.
const LIMIT: Duration = Duration::from_secs(60);

const PRE_TOOL: EventSpec = EventSpec::new(Kind::PreToolUse)
    .input("tool_name, tool_input")
    .output(
        "approve, message, modifiedInput, additionalContext; JSON without approve:true refuses, as does every exit \
         status but 0",
    )
    .verbs(&[Verb::Deny, Verb::Allow])
    .tells()
    .matched("tool_name")
    .patience(LIMIT)
    .by_default();
/// The same about a tool whose input cannot be written anew.
static FIXED: EventSpec = PRE_TOOL;

static EVENTS: &[EventSpec] = &[
    PRE_TOOL.rewrites(),
    EventSpec::new(Kind::PostToolUse)
        .input("tool_name, tool_input, tool_response")
        .output("approve, message, modifiedOutput, additionalContext")
        .verbs(&[Verb::Deny])
        .replaces()
        .tells()
        .matched("tool_name")
        .patience(LIMIT)
        .by_default(),
    EventSpec::new(Kind::UserPromptSubmit)
        .input("prompt")
        .output("approve, message, additionalContext")
        .verbs(&[Verb::Deny])
        .tells()
        .patience(LIMIT)
        .by_default(),
    EventSpec::new(Kind::SessionStart)
        .input("source startup|resume|clear")
        .output("additionalContext")
        .tells()
        .patience(LIMIT)
        .by_default(),
    silent_spec(Kind::Stop).by_default(),
    silent_spec(Kind::SubagentStop).by_default(),
    silent_spec(Kind::Notification),
    silent_spec(Kind::PreCompact),
];

const fn silent_spec(kind: Kind) -> EventSpec {
    EventSpec::new(kind).output("nothing that is known").patience(LIMIT)
}

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "Cline with Claude Code's hooks",
    events: EVENTS,
    common_input: "session_id (the task's id), transcript_path, cwd, hook_event_name",
    // There is no text that only tells.
    failure: FailureForms {
        call: FailureForm::Stop(r#"{"approve":false,"message":""#, r#""}"#),
        rest: FailureForm::Silence,
        silent: &[],
    },
    wiring: Some(&WIRING),
    ..AgentFacts::UNKNOWN
};

impl Agent for ClineFork {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    /// Nothing in a payload tells.
    fn detect(&self, _payload: &Fingerprint) -> Option<Mark> {
        None
    }

    fn parse(&self, payload: Map<String, Value>, named: Option<&str>) -> Event {
        let mut event = Event { agent: ID, ..default_agent().parse(payload, named) };
        let Some(own) = own_tool(&event.tool).filter(|_| event.kind.is_tool()) else {
            return event;
        };
        let mut operations = tools::operations(own, &event.input);
        let Operation { tool, input } = operations.remove(0);
        event.raw.insert("tool_name".into(), tool.as_str().into());
        event.raw.insert("tool_input".into(), input.clone());
        event.native = json!({ "tool": own, "input": event.input });
        (event.tool, event.input, event.more) = (tool, input, operations);
        event
    }

    /// Nothing, or JSON that says whether the call passes.
    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let Some(spec) = self.spec_of(event) else { return Output::default() };
        let settled = settle_answer(spec, answer);
        let mut body = Map::new();
        if settled.refuses() {
            body.insert("message".into(), settled.reason.as_str().into());
        }
        if let Some(input) = new_input(event, &settled) {
            body.insert("modifiedInput".into(), input.into());
        }
        if let Some(response) = &settled.response {
            body.insert("modifiedOutput".into(), response.clone());
        }
        if !settled.context.is_empty() {
            body.insert("additionalContext".into(), settled.context.as_str().into());
        }
        if body.is_empty() && settled.verb.is_none() {
            return Output::default();
        }
        body.insert("approve".into(), (!settled.refuses()).into());
        Output::of_object(body, settled.refuses().then_some(settled.reason))
    }

    fn spec_of(&self, event: &Event) -> Option<&'static EventSpec> {
        match native_call(event) {
            Some((tool, input))
                if event.kind == Kind::PreToolUse && !tools::can_rebuild(tool, input) =>
            {
                Some(&FIXED)
            }
            _ => self.facts().event_spec(event.kind),
        }
    }
}

fn own_tool(tool: &str) -> Option<&'static str> {
    TOOLS.iter().find(|(claude, _)| *claude == tool).map(|(_, own)| *own)
}

fn native_call(event: &Event) -> Option<(&str, &Value)> {
    Some((event.native.get("tool")?.as_str()?, event.native.get("input")?))
}

/// The complete input by Cline's keys, where a rule changed it.
fn new_input(event: &Event, settled: &Settled) -> Option<Map<String, Value>> {
    let new = settled.input.clone()?;
    Some(match native_call(event) {
        Some((tool, input)) => tools::rebuild(tool, input, vec![(0, new)]),
        None => new,
    })
}

/// Claude Code's shape; a command line is split at blanks, so a list it is, and a matcher must be there.
/// Nothing tells it from Cline, so it is never found by itself.
static WIRING: Wiring = Wiring {
    directory: Directory { variable: None, home: ".cline" },
    files: &[
        SettingsPlace::shared(Scope::User, "hooks.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::User, "settings.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".cline/settings.json", Form::Entries(&ENTRIES)),
    ],
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm =
    EntryForm { call: CallForm::List, matcher: Matcher::Always, ..EntryForm::GROUPS };
