//! Cline's hooks: what each is called, and what it can do with either host.

use std::time::Duration;

use serde_json::{Map, Value};

use crate::agent::EventSpec;
use crate::agent::fields::text_field;
use crate::event::Kind;
use crate::verdict::Verb::{self, Deny, Halt};

/// A hook file, and how a payload tells of it.
pub struct Hook {
    /// The file's name, which is VS Code's name of the event.
    pub file: &'static str,
    /// The CLI's name of the event.
    cli: &'static str,
    kind: Kind,
    /// The field of the payload that only this event has.
    pub block: &'static str,
    /// The CLI's own field for the call; empty = there is none.
    pub call: &'static str,
}

const fn hook(
    file: &'static str,
    cli: &'static str,
    kind: Kind,
    block: &'static str,
    call: &'static str,
) -> Hook {
    Hook { file, cli, kind, block, call }
}

/// All of them. `PreCompact` and `Notification` are names without an event (source).
static HOOKS: &[Hook] = &[
    hook("PreToolUse", "tool_call", Kind::PreToolUse, "preToolUse", "tool_call"),
    hook("PostToolUse", "tool_result", Kind::PostToolUse, "postToolUse", "tool_result"),
    hook("UserPromptSubmit", "prompt_submit", Kind::UserPromptSubmit, "userPromptSubmit", ""),
    hook("TaskStart", "agent_start", Kind::SessionStart, "taskStart", ""),
    hook("TaskResume", "agent_resume", Kind::SessionStart, "taskResume", ""),
    hook("TaskComplete", "agent_end", Kind::Stop, "taskComplete", ""),
    hook("TaskCancel", "agent_abort", Kind::SessionEnd, "taskCancel", ""),
    hook("TaskError", "agent_error", Kind::StopFailure, "taskError", ""),
    hook("SessionShutdown", "session_shutdown", Kind::SessionEnd, "sessionShutdown", ""),
];

/// The hook that either host calls so.
pub fn by_name(name: &str) -> Option<&'static Hook> {
    HOOKS.iter().find(|hook| hook.file.eq_ignore_ascii_case(name) || hook.cli == name)
}

/// The hook of a payload that names none that is known. A call that is told as one is judged as one.
pub fn by_shape(payload: &Map<String, Value>) -> Option<&'static Hook> {
    let has = |key: &str| payload.get(key).is_some_and(Value::is_object);
    // A result is told with its call.
    HOOKS[..2].iter().rev().chain(&HOOKS[2..]).find(|hook| has(hook.block) || has(hook.call))
}

impl Hook {
    /// What Claude Code calls the event: it has others for a tool that failed, and for the agents that an
    /// agent starts.
    pub fn kind_of(&self, payload: &Map<String, Value>) -> Kind {
        let child = text_field(payload, "parent_agent_id").is_some();
        match self.file {
            "PostToolUse" if has_failed(payload) => Kind::PostToolUseFailure,
            "TaskStart" if child => Kind::SubagentStart,
            "TaskComplete" if child => Kind::SubagentStop,
            _ => self.kind,
        }
    }
}

/// Did the tool fail? VS Code leaves out what is false.
fn has_failed(payload: &Map<String, Value>) -> bool {
    let success = |block: &Value| block.get("success").and_then(Value::as_bool);
    match (payload.get("tool_result"), payload.get("postToolUse")) {
        (Some(result), block) => {
            result.get("error").is_some_and(|error| !error.is_null())
                || block.and_then(success) == Some(false)
        }
        (None, Some(block)) => success(block) != Some(true),
        (None, None) => false,
    }
}

/// Cline waits for these hooks, and `cancel` is the one thing that stops.
const CANCEL: &[Verb] = &[Halt, Deny];
/// What VS Code waits: its file is the CLI's too, which waits longer.
const VSCODE_LIMIT: Duration = Duration::from_secs(30);
/// What the CLI waits.
const CLI_LIMIT: Duration = Duration::from_secs(120);

const fn spec(kind: Kind, file: &'static str) -> EventSpec {
    EventSpec::new(kind).named(file).timeout(30).patience(VSCODE_LIMIT)
}

const PRE_TOOL: EventSpec = spec(Kind::PreToolUse, "PreToolUse")
    .input("tool_call{id, name, input} (CLI), preToolUse{toolName, parameters}")
    .output(
        "cancel + errorMessage: ends the whole run of the CLI, stops the tool in VS Code; overrideInput (CLI); \
         context (CLI), contextModification (VS Code)",
    )
    .verbs(CANCEL)
    .tells()
    .by_default();
const POST_TOOL: EventSpec = spec(Kind::PostToolUse, "PostToolUse")
    .input(
        "tool_result{id, name, input, output, error?} (CLI), postToolUse{toolName, parameters, result, success}",
    )
    .output("cancel + errorMessage: ends the run; context (CLI), contextModification (VS Code)")
    .verbs(CANCEL)
    .tells()
    .by_default();
/// A tool that failed: a deny is told, as Claude Code tells it.
const POST_TOOL_FAILURE: EventSpec =
    EventSpec { kind: Kind::PostToolUseFailure, ..POST_TOOL.verbs(&[Halt]) };
const PROMPT: EventSpec = spec(Kind::UserPromptSubmit, "UserPromptSubmit")
    .input("userPromptSubmit{prompt, attachments}")
    .output("VS Code: cancel + errorMessage, contextModification; the CLI does not wait")
    .by_default();
const TASK_START: EventSpec = spec(Kind::SessionStart, "TaskStart")
    .input("taskStart{taskMetadata}")
    .output("VS Code: cancel + errorMessage, contextModification; the CLI does not wait")
    .by_default();
const TASK_RESUME: EventSpec = spec(Kind::SessionStart, "TaskResume")
    .input("taskResume; CLI only, and only with CLINE_HOOK_AGENT_RESUME=1")
    .output("nobody waits for it");
const TASK_COMPLETE: EventSpec = spec(Kind::Stop, "TaskComplete")
    .input("taskComplete, turn{outputText, status} (CLI)")
    .output("nobody waits for it")
    .by_default();
const SUBAGENT_START: EventSpec = EventSpec { kind: Kind::SubagentStart, ..DETACHED_START };
const SUBAGENT_STOP: EventSpec = EventSpec { kind: Kind::SubagentStop, ..TASK_COMPLETE };
const TASK_CANCEL: EventSpec = spec(Kind::SessionEnd, "TaskCancel")
    .input("taskCancel, reason (CLI)")
    .output("nobody waits for it")
    .by_default();
const TASK_ERROR: EventSpec = spec(Kind::StopFailure, "TaskError")
    .input("error{name, message, stack}; CLI only")
    .output("nobody waits for it");
const SHUTDOWN: EventSpec = spec(Kind::SessionEnd, "SessionShutdown")
    .input("reason?; CLI only, seen at an abort")
    .output("nobody waits for it")
    .by_default();
/// The CLI's start of a task.
const DETACHED_START: EventSpec = spec(Kind::SessionStart, "TaskStart")
    .input("taskStart{taskMetadata}")
    .output("the CLI does not wait");

/// What is registered, with all that either host can do.
pub static EVENTS: &[EventSpec] = &[
    PRE_TOOL.rewrites(),
    POST_TOOL,
    POST_TOOL_FAILURE,
    PROMPT.verbs(CANCEL).tells(),
    TASK_START.verbs(CANCEL).tells(),
    TASK_RESUME,
    TASK_COMPLETE,
    SUBAGENT_START,
    SUBAGENT_STOP,
    TASK_CANCEL,
    TASK_ERROR,
    SHUTDOWN,
];

/// What VS Code can do.
pub static VSCODE: &[EventSpec] = &[
    PRE_TOOL,
    POST_TOOL,
    POST_TOOL_FAILURE,
    PROMPT.verbs(CANCEL).tells(),
    TASK_START.verbs(CANCEL).tells(),
    TASK_COMPLETE,
    TASK_CANCEL,
];

/// What the CLI can do.
pub static CLI: &[EventSpec] = &[
    PRE_TOOL.rewrites().patience(CLI_LIMIT),
    POST_TOOL.patience(CLI_LIMIT),
    POST_TOOL_FAILURE.patience(CLI_LIMIT),
    PROMPT,
    DETACHED_START,
    TASK_COMPLETE,
    SUBAGENT_START,
    SUBAGENT_STOP,
    TASK_CANCEL,
    TASK_ERROR,
];

/// The same about a tool whose input cannot be written anew.
pub static CLI_FIXED: &[EventSpec] = &[
    PRE_TOOL.patience(CLI_LIMIT),
    POST_TOOL.patience(CLI_LIMIT),
    POST_TOOL_FAILURE.patience(CLI_LIMIT),
];
