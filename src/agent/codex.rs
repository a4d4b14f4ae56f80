//! Codex CLI (observed with 0.169).
//!
//! Its answers look like Claude Code's, but its schemas are strict: one key that an event does not have makes it
//! drop the answer and run the tool. So each event's keys are written here one by one.

use std::time::Duration;

use serde_json::{Map, Value, json};

use super::call::{ToolNames, own_names};
use super::fingerprint::{Field, Fingerprint};
use super::patch::call_operations;
use super::reply::{DENY_CALL, NOTICE, Reply, response_reason};
use super::settled::{Settled, settle_answer};
use super::shaped::{event_of_payload, read_call, translate_call};
use super::wiring::{
    Consent, Directory, EntryForm, Form, Headless, Off, Scope, SettingsPlace, Strict, Switch,
    Wiring, by_platform,
};
use super::{Agent, AgentFacts, EventSpec, FailureForms, Mark, Output};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::verdict::Verb::{self, Allow, Deny};

/// Codex CLI.
pub struct Codex;

const ID: &str = "codex";
/// The tool whose one input is a patch of many files.
const PATCH: &str = "apply_patch";

const TOOLS: &[ToolNames] = &[
    ToolNames::new("Bash", "Bash", &[]),
    ToolNames::new(PATCH, "Edit", &[]),
    ToolNames::new("view_image", "Read", &[("path", "file_path")]),
    ToolNames::new("spawn_agent", "Agent", &[("message", "prompt")]),
];

static NAMES: [&str; TOOLS.len()] = own_names(TOOLS);

const REFUSE: &[Verb] = &[Deny];

/// Every event of 0.169 that Claude Code has too; beside these there is Interrupt, of which nothing can be said.
static EVENTS: &[EventSpec] = &[
    EventSpec::new(Kind::PreToolUse)
        .input("turn_id, tool_name, tool_input, tool_use_id")
        .output(
            "permissionDecision deny + permissionDecisionReason, allow + updatedInput (Bash and MCP tools), \
             additionalContext; one key more and the tool runs",
        )
        .tells()
        .verbs(REFUSE)
        .rewrites()
        .matched("tool_name")
        .timeout(600)
        .by_default(),
    EventSpec::new(Kind::PermissionRequest)
        .input("turn_id, tool_name, tool_input with description (no tool_use_id)")
        .output(
            "decision {behavior: allow} or {behavior: deny, message}; no answer leaves the dialog to the user; \
             never sent by codex exec",
        )
        .verbs(&[Deny, Allow])
        .matched("tool_name")
        .timeout(600)
        .by_default(),
    EventSpec::new(Kind::PostToolUse)
        .input("turn_id, tool_name, tool_input, tool_use_id, tool_response (no exit status of a command)")
        .output("decision block + reason, which the model sees in place of the result; additionalContext")
        .tells()
        .verbs(REFUSE)
        .replaces()
        .matched("tool_name")
        .by_default(),
    EventSpec::new(Kind::UserPromptSubmit)
        .input("turn_id, prompt")
        .output("decision block + reason, additionalContext")
        .tells()
        .verbs(REFUSE)
        .timeout(30)
        .by_default(),
    EventSpec::new(Kind::SessionStart)
        .input("source startup|resume|clear|compact|fork")
        .output("additionalContext; cannot be blocked")
        .tells()
        .matched("source")
        .by_default(),
    EventSpec::new(Kind::SessionEnd)
        .input("reason")
        .output("none: nothing is read")
        .matched("reason")
        // The client allows no more, whatever an entry says.
        .timeout(3)
        .patience(Duration::from_secs(3))
        .by_default(),
    EventSpec::new(Kind::Stop)
        .input("turn_id, stop_hook_active, last_assistant_message")
        .output("decision block + reason: the agent goes on with the reason")
        .verbs(REFUSE)
        .timeout(600)
        .by_default(),
    EventSpec::new(Kind::SubagentStart)
        .input("turn_id, agent_id, agent_type")
        .output("additionalContext")
        .tells()
        .matched("agent_type"),
    EventSpec::new(Kind::SubagentStop)
        .input("turn_id, agent_id, agent_type, agent_transcript_path, stop_hook_active, last_assistant_message")
        .output("decision block + reason: the subagent goes on")
        .verbs(REFUSE)
        .matched("agent_type")
        .timeout(600)
        .by_default(),
    EventSpec::new(Kind::PreCompact)
        .input("turn_id, trigger")
        .output("common keys only; cannot be blocked")
        .matched("trigger"),
    EventSpec::new(Kind::PostCompact)
        .input("turn_id, trigger")
        .output("common keys only; cannot be blocked")
        .matched("trigger"),
];

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "Codex CLI",
    events: EVENTS,
    common_input: "session_id, transcript_path (or null), cwd, hook_event_name, model?, permission_mode?, agent_id?, agent_type?",
    common_output: "systemMessage",
    tool_names: &NAMES,
    // There is no question to be had before a tool. No answer leaves the dialog to the user; a session's end reads
    // none; what an unknown event takes nobody knows.
    failure: FailureForms {
        call: DENY_CALL,
        rest: NOTICE,
        silent: &[Kind::PermissionRequest, Kind::SessionEnd, Kind::Other],
    },
    sample: r#"{"hook_event_name":"{event}","session_id":"{session}","cwd":"{cwd}","tool_name":"Bash","tool_input":{"command":"{command}"},"turn_id":"t","tool_use_id":"t"}"#,
    wiring: Some(&WIRING),
    ..AgentFacts::UNKNOWN
};

impl Agent for Codex {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    /// A turn's id is in all but a session's first and last event (Claude Code has one in MessageDisplay); the
    /// transcript's name is in every event, or null.
    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        let display = payload.text(Field::HookEventName) == Kind::MessageDisplay.name();
        let turn = payload.has_text(Field::TurnId) && !display;
        (turn || has_rollout(payload)).then_some(Mark::Strong)
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
        // A rewrite was seen to act on these alone; of a patch only the whole could be replaced.
        let simple = event.tool == "Bash" || event.tool.starts_with("mcp__");
        let spec = EventSpec { rewrite: spec.rewrite && simple, ..spec };
        let settled = settle_answer(&spec, answer);
        let mut reply = Reply::default();
        match event.kind {
            Kind::PreToolUse => write_permission(&mut reply, &settled),
            Kind::PermissionRequest => write_dialog(&mut reply, &settled),
            Kind::PostToolUse => write_feedback(&mut reply, &settled),
            Kind::UserPromptSubmit if !settled.refuses() => reply.add_context(&settled),
            Kind::UserPromptSubmit | Kind::Stop | Kind::SubagentStop if settled.refuses() => {
                reply.decide("block", &settled.reason);
            }
            Kind::SessionStart | Kind::SubagentStart => reply.add_context(&settled),
            _ => {}
        }
        if takes_notice(event) {
            reply.add_notice(&settled);
        }
        reply.into_output(&event.name, &settled)
    }
}

/// `rollout-*.jsonl`: what only Codex calls a transcript.
fn has_rollout(payload: &Fingerprint) -> bool {
    let path = payload.text(Field::TranscriptPath);
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    name.starts_with("rollout-") && name.ends_with(".jsonl")
}

/// Interrupt knows this key alone, a session's end none; of an event that is new nobody knows.
fn takes_notice(event: &Event) -> bool {
    match event.kind {
        Kind::SessionEnd => false,
        Kind::Other => event.name == "Interrupt",
        _ => true,
    }
}

/// A bare allow voids the answer, as does a rewrite without one.
fn write_permission(reply: &mut Reply, settled: &Settled) {
    if settled.refuses() {
        reply.permit("deny", &settled.reason);
    } else if let Some(input) = &settled.input {
        reply.permit("allow", "");
        reply.specify("updatedInput", Value::Object(input.clone()));
    }
    reply.add_context(settled);
}

fn write_dialog(reply: &mut Reply, settled: &Settled) {
    match settled.verb {
        Some(Allow) => reply.specify("decision", json!({ "behavior": "allow" })),
        Some(_) => {
            reply.specify("decision", json!({ "behavior": "deny", "message": settled.reason }));
        }
        None => {}
    }
}

/// The model sees the reason in place of the result, so that is also how a result is replaced: the schema's own key
/// for it changed nothing.
fn write_feedback(reply: &mut Reply, settled: &Settled) {
    if settled.refuses() {
        reply.decide("block", &settled.reason);
    } else if let Some(response) = &settled.response {
        reply.decide("block", &response_reason(response));
    }
    reply.add_context(settled);
}

/// Groups as Claude Code has them; each hook runs only once the user approved it, by its place.
static WIRING: Wiring = Wiring {
    programs: &["codex"],
    traces: &[".codex"],
    directory: Directory { variable: Some(crate::env::CODEX_HOME), home: ".codex" },
    files: &[
        SettingsPlace::shared(Scope::User, "hooks.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".codex/hooks.json", Form::Entries(&ENTRIES)),
    ],
    consent: Some(Consent {
        file: "config.toml",
        review: "open Codex and approve the hooks when it asks, or under `/hooks`",
    }),
    switches: &[Switch {
        places: &[
            (Scope::User, "config.toml"),
            (Scope::Project, ".codex/config.toml"),
            (Scope::Managed, REQUIREMENTS),
        ],
        keys: &["features", "hooks"],
        off: Off::Last(false),
    }],
    // Without a person it asks nobody, and its default sandbox writes nothing.
    headless: Some(Headless {
        args: &["exec", "--skip-git-repo-check", "--sandbox", "workspace-write", "{prompt}"],
        env: &[],
        subagent: Some("Agent"),
    }),
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm = EntryForm {
    positional: true,
    strict: Strict {
        top: &["description", "hooks"],
        types: &["command", "mcp_tool", "prompt", "agent"],
        ..Strict::NOTHING
    },
    ..EntryForm::GROUPS
};
/// What the administrator demands: TOML.
pub const REQUIREMENTS: &str = by_platform(
    "/etc/codex/requirements.toml",
    "/etc/codex/requirements.toml",
    "C:/ProgramData/OpenAI/Codex/requirements.toml",
);

#[cfg(test)]
mod tests {
    use super::*;

    fn call(tool: &str, input: Value) -> Event {
        let payload = json!({
            "hook_event_name": "PreToolUse", "turn_id": "t", "tool_name": tool, "tool_input": input,
        });
        Codex.parse(payload.as_object().cloned().unwrap_or_default(), None)
    }

    fn tools(event: &Event) -> Vec<&str> {
        let more = event.more.iter().map(|one| one.tool.as_str());
        std::iter::once(event.tool.as_str()).chain(more).collect()
    }

    #[test]
    fn what_is_no_known_part_of_a_patch_stays_a_call_of_the_tool() {
        let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** Chmod File: b\n*** End Patch";
        assert_eq!(tools(&call(PATCH, json!({ "command": patch }))), ["Write", PATCH]);
        for input in [json!({ "command": "x" }), json!({ "command": 5 }), json!([1]), Value::Null] {
            assert_eq!(tools(&call(PATCH, input.clone())), [PATCH], "{input}");
        }
        assert_eq!(tools(&call(PATCH, json!("*** Delete File: a"))), ["Delete"]);
    }

    /// One key that is not allowed and the tool runs.
    #[test]
    fn a_refusal_has_the_allowed_keys_alone() {
        let answer = Answer {
            verb: Some(Verb::Halt),
            input: Some(Map::new()),
            elements: vec![(0, Map::new())],
            context: vec!["c".into()],
            notice: vec!["n".into()],
            suppress: true,
            ..Answer::default()
        };
        let out = Codex.render(&call("Bash", json!({ "command": "ls" })), &answer);
        let expected = json!({
            "systemMessage": "n",
            "hookSpecificOutput": {
                "hookEventName": "PreToolUse",
                "permissionDecision": "deny",
                "permissionDecisionReason": "Blocked by hookctl",
                "additionalContext": "c",
            },
        });
        assert_eq!(serde_json::from_str::<Value>(&out.stdout).ok(), Some(expected));
        assert_eq!(out.refusal.as_deref(), Some("Blocked by hookctl"));
    }
}
