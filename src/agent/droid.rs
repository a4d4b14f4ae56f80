//! Factory Droid: Claude Code's events and answers, as its documentation and others tell; it was never run.

use std::time::Duration;

use serde_json::{Map, Value};

use super::call::{ToolNames, own_names};
use super::fingerprint::{Field, Fingerprint};
use super::patch::call_operations;
use super::reply::{DENY_CALL, NOTICE, Reply};
use super::settled::settle_answer;
use super::shaped::{event_of_payload, read_call, translate_call};
use super::wiring::{Directory, EntryForm, Form, Scope, SettingsPlace, Wiring};
use super::{Agent, AgentFacts, EventSpec, FailureForms, Mark, Output};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::verdict::Verb::{self, Allow, Deny, Halt};

/// Factory Droid.
pub struct Droid;

const ID: &str = "droid";
/// The tool whose input is a patch of many files.
const PATCH: &str = "ApplyPatch";
/// Tools that no other agent has by these names.
const MARKS: &[&str] = &["Execute", "Create"];

const TOOLS: &[ToolNames] = &[
    ToolNames::new("Execute", "Bash", &[]),
    ToolNames::new("Create", "Write", &[]),
    ToolNames::new("Edit", "Edit", &[]),
    ToolNames::new(PATCH, "Edit", &[]),
    ToolNames::new("Read", "Read", &[]),
    ToolNames::new("LS", "LS", &[]),
    ToolNames::new("Glob", "Glob", &[]),
    ToolNames::new("Grep", "Grep", &[]),
];

static NAMES: [&str; TOOLS.len()] = own_names(TOOLS);

const REFUSE: &[Verb] = &[Deny];

const fn spec(kind: Kind) -> EventSpec {
    // Not established: the shortest that any other agent with these settings has.
    EventSpec::new(kind).patience(Duration::from_secs(60))
}

/// The events that are documented. A question and a new input are said to be taken; nobody has seen it, so they are
/// no verbs here: what the client ignores would let the call run.
static EVENTS: &[EventSpec] = &[
    spec(Kind::PreToolUse)
        .input("permission_mode, tool_name, tool_input, tool_use_id")
        .output("permissionDecision allow|deny, permissionDecisionReason, additionalContext")
        .tells()
        .verbs(&[Deny, Allow])
        .matched("tool_name")
        .timeout(600)
        .by_default(),
    spec(Kind::PostToolUse)
        .input("permission_mode, tool_name, tool_input, tool_use_id, tool_response")
        .output("decision block + reason, additionalContext; continue:false ends the turn")
        .tells()
        .verbs(&[Halt, Deny])
        .matched("tool_name")
        .by_default(),
    spec(Kind::UserPromptSubmit)
        .input("prompt")
        .output("decision block + reason, additionalContext")
        .tells()
        .verbs(REFUSE)
        .timeout(30)
        .by_default(),
    spec(Kind::SessionStart)
        .input("source")
        .output("additionalContext; cannot be blocked")
        .tells()
        .matched("source")
        .by_default(),
    spec(Kind::SessionEnd)
        .input("reason")
        .output("common keys only; cannot be blocked")
        .matched("reason")
        .timeout(5)
        .by_default(),
    spec(Kind::Stop)
        .input("stop_hook_active")
        .output("decision block + reason: the agent goes on with the reason")
        .verbs(REFUSE)
        .timeout(600)
        .by_default(),
    spec(Kind::SubagentStop)
        .input("stop_hook_active")
        .output("decision block + reason: the subagent goes on")
        .verbs(REFUSE)
        .timeout(600)
        .by_default(),
    spec(Kind::PreCompact)
        .input("trigger")
        .output("common keys only; cannot be blocked")
        .matched("trigger"),
    spec(Kind::Notification)
        .input("message")
        .output("common keys only; cannot be blocked")
        .by_default(),
];

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "Factory Droid",
    environment: &["FACTORY_PROJECT_DIR"],
    events: EVENTS,
    common_input: "session_id, transcript_path, cwd, permission_mode, hook_event_name",
    common_output: "continue, stopReason, systemMessage",
    tool_names: &NAMES,
    // A question is not known to be one here, so what cannot be judged is refused.
    failure: FailureForms {
        call: DENY_CALL,
        rest: NOTICE,
        silent: &[Kind::PermissionRequest, Kind::Other],
    },
    sample: r#"{"hook_event_name":"{event}","session_id":"{session}","cwd":"{cwd}","tool_name":"Execute","tool_input":{"command":"{command}"}}"#,
    wiring: Some(&WIRING),
};

impl Agent for Droid {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        let tool = payload.text(Field::ToolName);
        let own = MARKS.contains(&tool) || payload.has_transcript_below(".factory");
        own.then_some(Mark::Strong)
    }

    fn parse(&self, payload: Map<String, Value>, named: Option<&str>) -> Event {
        let mut event = event_of_payload(self, payload, named);
        read_call(&mut event, |event, own, input| match own {
            PATCH => call_operations(PATCH, input),
            _ => translate_call(event, TOOLS, own, input),
        });
        event
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let spec = self.facts().spec_or_nothing(event);
        let settled = settle_answer(&spec, answer);
        let mut reply = Reply::default();
        reply.put_verdict(event.kind, &settled);
        // A refusal stands alone: what the client makes of keys beside it is not known.
        let before = matches!(event.kind, Kind::PreToolUse | Kind::UserPromptSubmit);
        if !(before && settled.refuses()) {
            reply.add_context(&settled);
            reply.add_notice(&settled);
        }
        reply.into_output(&event.name, &settled)
    }
}

/// A file of events, or where there is none the hooks of its settings.
static WIRING: Wiring = Wiring {
    programs: &["droid"],
    traces: &[".factory"],
    directory: Directory { variable: None, home: ".factory" },
    files: &[
        SettingsPlace::shared(Scope::User, "hooks.json", Form::Entries(&EVENTS_ONLY)),
        SettingsPlace::shared(Scope::User, "settings.json", Form::Entries(&EntryForm::GROUPS)),
        SettingsPlace::shared(Scope::Project, ".factory/hooks.json", Form::Entries(&EVENTS_ONLY)),
        SettingsPlace::shared(
            Scope::Project,
            ".factory/settings.json",
            Form::Entries(&EntryForm::GROUPS),
        ),
    ],
    ..Wiring::UNKNOWN
};

static EVENTS_ONLY: EntryForm = EntryForm { hooks: None, ..EntryForm::GROUPS };
