//! Claude Code: its payloads as events. `events` is the table of what each event can do, `render`
//! writes the answers.
//!
//! The facts were established by experiment with 2.1.329; where a
//! fact is only read in the client's published types, the comment says so.

mod events;
mod render;
mod tools;

use super::fields::{is_absolute, text_field};
use super::fingerprint::{Field, Fingerprint};
use super::reply::{ASK_CALL, NOTICE};
use super::wiring::{
    CallForm, Constant, Directory, EntryForm, FailClosed, Form, Headless, Off, Scope,
    SettingsPlace, Switch, Wiring, by_platform,
};
use super::{Agent, AgentFacts, FailureForms, Mark, Output};
use crate::env;
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use serde_json::{Map, Value};

pub use super::settled::TEXT_LIMIT;

/// Claude Code, `@anthropic-ai/claude-code`.
pub struct Claude;

const ID: &str = "claude";

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "Claude Code",
    events: events::EVENTS,
    common_input: events::COMMON_INPUT,
    common_output: events::COMMON_OUTPUT,
    tool_names: tools::TOOLS,
    // A call that could not be judged is asked about (headless, the client then refuses it). A permission dialog is
    // itself the question, a notice per text batch would bury the text, and whatever a WorktreeCreate hook prints is
    // taken for the worktree's path.
    failure: FailureForms {
        call: ASK_CALL,
        rest: NOTICE,
        silent: &[Kind::PermissionRequest, Kind::MessageDisplay, Kind::WorktreeCreate],
    },
    wiring: Some(&WIRING),
    ..AgentFacts::UNKNOWN
};

impl Agent for Claude {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    /// Claude Code has no mark of its own: it is whoever names an event and is nobody else. It sends
    /// no `timestamp` (captures of every event of 2.1.329), so a text there speaks against it.
    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        let named = payload.has_text(Field::HookEventName);
        (named && !self.excludes(payload)).then_some(Mark::Default)
    }

    fn excludes(&self, payload: &Fingerprint) -> bool {
        payload.has_text(Field::Timestamp)
    }

    fn parse(&self, mut payload: Map<String, Value>, named: Option<&str>) -> Event {
        let name = text_field(&payload, "hook_event_name")
            .or(named)
            .or_else(|| by_shape(&payload).map(Kind::name))
            .unwrap_or_default()
            .to_string();
        if !name.is_empty() && !payload.contains_key("hook_event_name") {
            payload.insert("hook_event_name".into(), Value::from(name.as_str()));
        }
        // Names of older writers, read where today's is missing.
        for (today, older) in
            [("tool_response", "tool_result"), ("agent_type", "agent_name"), ("cwd", "project_dir")]
        {
            if payload.get(today).is_none_or(Value::is_null)
                && let Some(value) = payload.get(older).cloned()
            {
                payload.insert(today.into(), value);
            }
        }
        // `Task` is the old name: the client's own matchers take either for the other (observed).
        let tool = match text_field(&payload, "tool_name").unwrap_or_default() {
            "Task" => "Agent",
            tool => tool,
        };
        Event {
            agent: ID,
            kind: Kind::from_name(&name),
            name,
            tool: tool.to_string(),
            input: payload.get("tool_input").cloned().unwrap_or(Value::Null),
            cwd: text_field(&payload, "cwd")
                .filter(|cwd| is_absolute(cwd))
                .unwrap_or("")
                .to_string(),
            session: text_field(&payload, "session_id").unwrap_or_default().to_string(),
            more: Vec::new(),
            raw: payload,
            native: Value::Null,
        }
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        render::render_event(event.kind, &event.name, &event.tool, answer)
    }
}

/// The event of a payload that names none and came without `--event`: people pipe bare samples.
/// Only where the fields leave no doubt.
fn by_shape(payload: &Map<String, Value>) -> Option<Kind> {
    let has = |key: &str| payload.contains_key(key);
    if has("tool_name") && has("tool_input") {
        Some(if has("tool_response") || has("tool_result") {
            Kind::PostToolUse
        } else if has("permission_type") || has("permission_suggestions") {
            Kind::PermissionRequest
        } else {
            Kind::PreToolUse
        })
    } else if has("prompt") && !has("tool_name") && !has("command_name") {
        Some(Kind::UserPromptSubmit)
    } else {
        None
    }
}

/// The administrator's file.
const MANAGED: &str = by_platform(
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
    "C:/Program Files/ClaudeCode/managed-settings.json",
);
/// The administrator's other files.
const MANAGED_MORE: &str = by_platform(
    "/etc/claude-code/managed-settings.d/*.json",
    "/Library/Application Support/ClaudeCode/managed-settings.d/*.json",
    "C:/Program Files/ClaudeCode/managed-settings.d/*.json",
);

/// Its settings, which a variable moves.
static WIRING: Wiring = Wiring {
    programs: &["claude"],
    traces: &[".claude"],
    rereads: Some(true),
    directory: Directory { variable: Some(env::CLAUDE_CONFIG_DIR), home: ".claude" },
    files: &[
        SettingsPlace::shared(Scope::Managed, MANAGED, Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Managed, MANAGED_MORE, Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::User, "settings.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".claude/settings.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Local, ".claude/settings.local.json", Form::Entries(&ENTRIES)),
    ],
    switches: &[Switch {
        places: &[
            (Scope::User, "settings.json"),
            (Scope::Project, ".claude/settings.json"),
            (Scope::Local, ".claude/settings.local.json"),
            (Scope::Managed, MANAGED),
            (Scope::Managed, MANAGED_MORE),
        ],
        keys: &["disableAllHooks"],
        off: Off::Anywhere(true),
    }],
    headless: Some(Headless {
        args: &["-p", "{prompt}", "--allowedTools", "Bash({command})"],
        env: &[],
        subagent: Some("Agent"),
    }),
    ..Wiring::UNKNOWN
};

/// Entries with an argument list, which no shell reads.
pub static ENTRIES: EntryForm = EntryForm {
    call: CallForm::Args,
    fail_closed: Some(&FailClosed {
        key: "onFailure",
        value: Constant::Text("block"),
        // Stop and its kin ignore it (observed).
        kinds: &[
            Kind::PreToolUse,
            Kind::PermissionRequest,
            Kind::UserPromptSubmit,
            Kind::PostToolUse,
        ],
    }),
    fatal: &["PreToolUse", "PermissionRequest"],
    ..EntryForm::GROUPS
};
