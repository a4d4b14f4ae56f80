//! Qwen Code (observed with 0.24.4 and 0.15.10, headless): a fork of Gemini CLI with Claude Code's events and
//! answers, and tools of its own names.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::call::{ToolNames, own_names};
use super::fingerprint::{Field, Fingerprint};
use super::gemini::read_result;
use super::reply::{ASK_CALL, NOTICE, Reply};
use super::settled::{Settled, settle_answer};
use super::shaped::{enter_directory, event_of_payload, read_call, translate_call};
use super::wiring::{
    Directory, EntryForm, Form, Headless, Off, Scope, SettingsPlace, Switch, Unit, Wiring,
};
use super::{Agent, AgentFacts, EventSpec, FailureForms, Mark, Output};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::verdict::Verb::{self, Allow, Ask, Deny, Halt};

/// Qwen Code.
pub struct Qwen;

const ID: &str = "qwen";

const SHELL: &str = "run_shell_command";

const TOOLS: &[ToolNames] = &[
    ToolNames::new(SHELL, "Bash", &[]),
    ToolNames::new("read_file", "Read", &[]),
    ToolNames::new("write_file", "Write", &[]),
    ToolNames::new("edit", "Edit", &[]),
    ToolNames::new("grep_search", "Grep", &[]),
    ToolNames::new("glob", "Glob", &[]),
    ToolNames::new("web_fetch", "WebFetch", &[]),
];

static NAMES: [&str; TOOLS.len()] = own_names(TOOLS);

const REFUSE: &[Verb] = &[Deny];

const fn spec(kind: Kind) -> EventSpec {
    // What the client gives an entry that names no time.
    EventSpec::new(kind).patience(Duration::from_secs(60))
}

/// Of its 22 events those that rules can speak of. What came in `-p` was observed; the answers to events that are
/// not sent there are read as Claude Code's.
static EVENTS: &[EventSpec] = &[
    spec(Kind::PreToolUse)
        .input("permission_mode, tool_name, tool_input, tool_use_id")
        .output(
            "permissionDecision allow|deny|ask (headless, ask blocks), permissionDecisionReason; \
             updatedInput has no effect",
        )
        .verbs(&[Deny, Ask, Allow])
        .holds_context()
        .matched("tool_name")
        .timeout(600)
        .by_default(),
    spec(Kind::PermissionRequest)
        .input("permission_mode, tool_name, tool_input")
        .output("decision {behavior: allow} or {behavior: deny, message}")
        .verbs(&[Deny, Allow])
        .matched("tool_name")
        .timeout(600)
        .by_default(),
    spec(Kind::PostToolUse)
        .input("permission_mode, tool_name, tool_input, tool_use_id, tool_response{llmContent, returnDisplay}")
        .output("additionalContext, joined to the result; a deny is told so; continue:false ends the turn")
        .tells()
        .verbs(&[Halt])
        .matched("tool_name")
        .by_default(),
    spec(Kind::PostToolUseFailure)
        .input("permission_mode, tool_name, tool_input, tool_use_id, error, is_interrupt")
        .output("additionalContext; a deny is told so")
        .tells()
        .matched("tool_name")
        .by_default(),
    spec(Kind::UserPromptSubmit)
        .input("prompt; headless it comes again with each round of tools")
        .output("decision block + reason: no request to the model; additionalContext")
        .tells()
        .verbs(REFUSE)
        .timeout(30)
        .by_default(),
    spec(Kind::Stop)
        .input("stop_hook_active (always true), last_assistant_message")
        .output("decision block + reason: the agent goes on with the reason")
        .verbs(REFUSE)
        .timeout(600)
        .by_default(),
    spec(Kind::SubagentStart).output("additionalContext").tells().matched("agent_type"),
    spec(Kind::SubagentStop)
        .output("decision block + reason: the subagent goes on")
        .verbs(REFUSE)
        .matched("agent_type")
        .timeout(600)
        .by_default(),
    spec(Kind::SessionStart)
        .input("source, model, permission_mode; not sent in -p")
        .output("additionalContext; cannot be blocked")
        .tells()
        .matched("source")
        .by_default(),
    spec(Kind::SessionEnd)
        .input("reason; not sent in -p")
        .output("common keys only; cannot be blocked")
        .matched("reason")
        .timeout(5)
        .by_default(),
    spec(Kind::PreCompact)
        .input("trigger")
        .output("common keys only; cannot be blocked")
        .matched("trigger"),
    spec(Kind::Notification)
        .input("message, notification_type, title")
        .output("common keys only; cannot be blocked")
        .matched("notification_type")
        .by_default(),
];

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "Qwen Code",
    environment: &["QWEN_PROJECT_DIR"],
    events: EVENTS,
    common_input: "session_id, transcript_path, cwd, hook_event_name, timestamp",
    common_output: "continue, stopReason, systemMessage",
    tool_names: &NAMES,
    // The dialog is the question; of an unknown event nothing waits for us.
    failure: FailureForms {
        call: ASK_CALL,
        rest: NOTICE,
        silent: &[Kind::PermissionRequest, Kind::Other],
    },
    sample: r#"{"hook_event_name":"{event}","session_id":"{session}","cwd":"{cwd}","tool_name":"run_shell_command","tool_input":{"command":"{command}"}}"#,
    wiring: Some(&WIRING),
};

impl Agent for Qwen {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    /// Its directory, or what Claude Code never sends (a time) beside one of its tools and a mode.
    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        let tool = payload.text(Field::ToolName);
        let call = TOOLS.iter().any(|one| one.own == tool)
            && payload.has_text(Field::Timestamp)
            && payload.has(Field::PermissionMode);
        (call || payload.has_transcript_below(".qwen")).then_some(Mark::Strong)
    }

    fn parse(&self, payload: Map<String, Value>, named: Option<&str>) -> Event {
        let mut event = event_of_payload(self, payload, named);
        // True from the first stop on: it tells nothing.
        event.raw.remove("stop_hook_active");
        read_call(&mut event, |event, own, input| {
            if own == SHELL {
                enter_directory(event, &input, &["directory"]);
            }
            translate_call(event, TOOLS, own, input)
        });
        read_result(&mut event.raw);
        event
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let spec = self.facts().spec_or_nothing(event);
        let settled = settle_answer(&spec, answer);
        let mut reply = Reply::default();
        match (event.kind, settled.verb) {
            (Kind::PermissionRequest, Some(verb)) => write_dialog(&mut reply, verb, &settled),
            (kind, _) => reply.put_verdict(kind, &settled),
        }
        // A refused prompt is never sent. Each round of tools brings the prompt's event again, in older versions with
        // an empty prompt.
        let is_told = match event.kind {
            Kind::UserPromptSubmit => {
                !settled.refuses() && event.prompt().is_some_and(|prompt| !prompt.is_empty())
            }
            _ => true,
        };
        if is_told {
            reply.add_context(&settled);
        }
        reply.add_notice(&settled);
        reply.into_output(&event.name, &settled)
    }
}

/// A dialog's answer is read in Claude Code's form, a refusal also at the top as before a tool: unknown keys are
/// ignored.
fn write_dialog(reply: &mut Reply, verb: Verb, settled: &Settled) {
    if verb == Allow {
        return reply.specify("decision", json!({ "behavior": "allow" }));
    }
    reply.decide("block", &settled.reason);
    reply.specify("decision", json!({ "behavior": "deny", "message": settled.reason }));
}

/// Groups as Claude Code has them, with names and in milliseconds.
static WIRING: Wiring = Wiring {
    programs: &["qwen"],
    traces: &[".qwen"],
    directory: Directory { variable: None, home: ".qwen" },
    files: &[
        SettingsPlace::shared(Scope::User, "settings.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".qwen/settings.json", Form::Entries(&ENTRIES)),
    ],
    notes: &["A project's hooks run only in a folder that is trusted."],
    switches: &[Switch {
        places: &[(Scope::User, "settings.json"), (Scope::Project, ".qwen/settings.json")],
        keys: &["disableAllHooks"],
        off: Off::Anywhere(true),
    }],
    // In its usual mode a run without a person refuses all that changes files, `mkdir` included (observed).
    headless: Some(Headless {
        args: &[
            "--approval-mode",
            "auto-edit",
            "--allowed-tools",
            "run_shell_command({command})",
            "--allowed-tools",
            "agent",
            "-p",
            "{prompt}",
        ],
        env: &[],
        subagent: Some("agent"),
    }),
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm = EntryForm {
    timeout: Some(("timeout", Unit::Milliseconds)),
    named: true,
    comments: true,
    ..EntryForm::GROUPS
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_runs_where_its_call_says() {
        let event = |tool: &str, dir: &str| {
            let payload = json!({
                "hook_event_name": "PreToolUse", "cwd": "/w", "tool_name": tool,
                "tool_input": { "command": "ls", "directory": dir },
            });
            Qwen.parse(payload.as_object().cloned().unwrap_or_default(), None).cwd
        };
        let dir = |dir: &str| event(SHELL, dir);
        assert_eq!([dir("sub"), dir("../x"), dir("/etc"), dir("")], ["/w/sub", "/x", "/etc", "/w"]);
        assert_eq!(event("glob", "/etc"), "/w");
    }
}
