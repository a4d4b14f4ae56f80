//! The events of Claude Code and what each can do: the one table that `render`, `check`,
//! `explain --event`, `install` and the README read.

use std::time::Duration;

use crate::agent::EventSpec;
use crate::event::Kind;
use crate::verdict::Verb::{self, Allow, Ask, Defer, Deny, Halt};

/// The fields that any event's input may have. `permission_mode` comes with tools, prompts and
/// stops, `agent_id` only inside a subagent; a session's first events have no `prompt_id`.
pub const COMMON_INPUT: &str = "session_id, transcript_path, cwd, hook_event_name, prompt_id?, \
                                permission_mode?, effort{level}?, agent_id?, agent_type?";

/// The keys that any event's answer may have; `systemMessage` is shown to the user, not the model.
pub const COMMON_OUTPUT: &str =
    "continue, stopReason, suppressOutput, systemMessage, terminalSequence";

/// An event that takes `additionalContext`.
const fn telling(kind: Kind, input: &'static str, output: &'static str) -> EventSpec {
    EventSpec { context: true, ..EventSpec::plain(kind, input, output) }
}

/// An event whose `decision: "block"` and `continue: false` were both seen to act.
const FEEDBACK: &[Verb] = &[Halt, Deny];
/// An event that can only be refused.
const REFUSE: &[Verb] = &[Deny];
/// Where people and test suites answer, the client's own default of ten minutes is kept.
const LONG: u32 = 600;
/// What the client gives an entry without a timeout where that is not ten minutes.
const SHORT: Duration = Duration::from_secs(30);

/// Every event of 2.1.329.
///
/// Verbs are listed only where they were observed to act, those of TeammateIdle, PreModelSwitch and
/// UserPromptExpansion as read in the client's schema. Not verbs: what answers a question in the
/// user's place (Elicitation), names a path (WorktreeCreate) or repaints text (MessageDisplay).
pub static EVENTS: &[EventSpec] = &[
    EventSpec {
        verbs: &[Halt, Deny, Defer, Ask, Allow],
        rewrite: true,
        matched: Some("tool_name"),
        timeout: LONG,
        by_default: true,
        ..telling(
            Kind::PreToolUse,
            "tool_name, tool_input, tool_use_id, mcp_server{name,source}?",
            "permissionDecision allow|deny|ask|defer, permissionDecisionReason, updatedInput, \
             additionalContext; deny blocks, as does exit 2",
        )
    },
    EventSpec {
        verbs: &[Halt, Deny, Allow],
        rewrite: true,
        matched: Some("tool_name"),
        timeout: LONG,
        by_default: true,
        ..EventSpec::plain(
            Kind::PermissionRequest,
            "tool_name, tool_input, permission_suggestions[]?, mcp_server? (no tool_use_id)",
            "decision {behavior: allow, updatedInput?} or {behavior: deny, message, interrupt?}; \
             exit 2 does not deny; no answer leaves the dialog to the user",
        )
    },
    EventSpec {
        matched: Some("tool_name"),
        ..EventSpec::plain(
            Kind::PermissionDenied,
            "tool_name, tool_input, tool_use_id, reason",
            "retry (not written by hookctl)",
        )
    },
    EventSpec {
        verbs: FEEDBACK,
        replace: true,
        matched: Some("tool_name"),
        by_default: true,
        ..telling(
            Kind::PostToolUse,
            "tool_name, tool_input, tool_use_id, tool_response (in the tool's own shape), duration_ms, \
             mcp_server?",
            "decision block + reason (told to the model, the tool has run), continue:false ends \
             the turn, updatedToolOutput in the tool's shape, updatedMCPToolOutput, \
             additionalContext",
        )
    },
    EventSpec {
        matched: Some("tool_name"),
        by_default: true,
        ..telling(
            Kind::PostToolUseFailure,
            "tool_name, tool_input, tool_use_id, error, is_interrupt, duration_ms",
            "additionalContext; a deny is told as context",
        )
    },
    EventSpec {
        verbs: FEEDBACK,
        ..telling(
            Kind::PostToolBatch,
            "tool_calls[{tool_name, tool_input, tool_use_id, tool_response}]",
            "decision block and continue:false end the turn; additionalContext",
        )
    },
    EventSpec {
        verbs: FEEDBACK,
        timeout: 30,
        patience: SHORT,
        by_default: true,
        ..telling(
            Kind::UserPromptSubmit,
            "prompt",
            "decision block + reason and continue:false stop the prompt before the model sees it; \
             additionalContext",
        )
    },
    EventSpec {
        verbs: REFUSE,
        matched: Some("command_name"),
        ..telling(
            Kind::UserPromptExpansion,
            "expansion_type, command_name, command_args, command_source, prompt",
            "decision block + reason, additionalContext",
        )
    },
    EventSpec {
        matched: Some("source"),
        by_default: true,
        ..telling(
            Kind::SessionStart,
            "source startup|resume|clear|compact|fork, model?; on a resume also \
             seconds_since_last_response, context_tokens, prompt_cache_likely_expired, \
             estimated_cache_write_usd",
            "additionalContext; cannot be blocked; has an env file",
        )
    },
    EventSpec {
        matched: Some("reason"),
        // The client's budget is 1.5 s for all hooks unless an entry names more.
        timeout: 5,
        patience: Duration::from_millis(1_500),
        by_default: true,
        ..EventSpec::plain(
            Kind::SessionEnd,
            "reason clear|resume|logout|prompt_input_exit|other",
            "common keys only; cannot be blocked",
        )
    },
    EventSpec {
        matched: Some("trigger"),
        ..telling(
            Kind::Setup,
            "trigger init|maintenance",
            "additionalContext; cannot be blocked; has an env file",
        )
    },
    EventSpec {
        verbs: FEEDBACK,
        timeout: LONG,
        by_default: true,
        ..telling(
            Kind::Stop,
            "stop_hook_active, last_assistant_message, background_tasks[], session_crons[]",
            "decision block + reason: the agent goes on with the reason, at most 8 times in a row; \
             continue:false ends; additionalContext makes it go on as well",
        )
    },
    EventSpec {
        verbs: FEEDBACK,
        matched: Some("agent_type"),
        timeout: LONG,
        by_default: true,
        ..telling(
            Kind::SubagentStop,
            "agent_id, agent_type, agent_transcript_path, stop_hook_active, \
             last_assistant_message, background_tasks[], session_crons[]",
            "decision block + reason: the subagent goes on; continue:false ends; additionalContext",
        )
    },
    EventSpec {
        matched: Some("error"),
        ..EventSpec::plain(
            Kind::StopFailure,
            "error, error_details?, last_assistant_message?",
            "common keys only; in print mode the client exits before the hook ends",
        )
    },
    EventSpec {
        matched: Some("agent_type"),
        ..telling(
            Kind::SubagentStart,
            "agent_id, agent_type",
            "additionalContext, for the subagent; exit 2 does not stop it",
        )
    },
    EventSpec {
        verbs: REFUSE,
        matched: Some("trigger"),
        by_default: true,
        ..telling(
            Kind::PreCompact,
            "trigger manual|auto, custom_instructions (null, absent or text)",
            "decision block + reason cancels; plain text on stdout joins the instructions of the \
             summary",
        )
    },
    EventSpec {
        matched: Some("trigger"),
        ..EventSpec::plain(
            Kind::PostCompact,
            "trigger manual|auto, compact_summary",
            "common keys only; cannot be blocked",
        )
    },
    EventSpec {
        matched: Some("notification_type"),
        by_default: true,
        ..telling(
            Kind::Notification,
            "message, title?, notification_type permission_prompt|idle_prompt|...",
            "additionalContext; cannot be blocked",
        )
    },
    EventSpec {
        verbs: REFUSE,
        ..EventSpec::plain(
            Kind::TaskCreated,
            "task_id, task_subject, task_description?, teammate_name?",
            "exit 2 + stderr refuses the task",
        )
    },
    EventSpec {
        verbs: REFUSE,
        ..EventSpec::plain(
            Kind::TaskCompleted,
            "task_id, task_subject, task_description?, teammate_name?",
            "exit 2 + stderr refuses the completion",
        )
    },
    EventSpec {
        verbs: REFUSE,
        ..EventSpec::plain(
            Kind::TeammateIdle,
            "teammate_name, team_name",
            "exit 2 + stderr makes the teammate go on",
        )
    },
    EventSpec::plain(
        Kind::CwdChanged,
        "old_cwd, new_cwd",
        "watchPaths (not written by hookctl); cannot be blocked; has an env file",
    ),
    EventSpec {
        // The client matches on the file's name without its directory.
        matched: Some("file_path"),
        ..EventSpec::plain(
            Kind::FileChanged,
            "file_path, event change|...",
            "watchPaths (not written by hookctl); cannot be blocked; has an env file",
        )
    },
    EventSpec {
        matched: Some("source"),
        ..EventSpec::plain(
            Kind::DirectoryAdded,
            "directory, source",
            "common keys only; cannot be blocked",
        )
    },
    EventSpec {
        verbs: REFUSE,
        matched: Some("source"),
        by_default: true,
        ..EventSpec::plain(
            Kind::ConfigChange,
            "source user_settings|project_settings|..., file_path?",
            "exit 2 + stderr refuses the change for the session",
        )
    },
    EventSpec {
        matched: Some("load_reason"),
        ..EventSpec::plain(
            Kind::InstructionsLoaded,
            "file_path, memory_type, load_reason, parent_file_path?",
            "common keys only; cannot be blocked",
        )
    },
    EventSpec::plain(
        Kind::WorktreeCreate,
        "name",
        "stdout is the worktree's path: hookctl prints nothing, so do not register it here",
    ),
    EventSpec::plain(Kind::WorktreeRemove, "worktree_path", "common keys only; cannot be blocked"),
    EventSpec {
        matched: Some("mcp_server_name"),
        ..EventSpec::plain(
            Kind::Elicitation,
            "mcp_server_name, message, mode, requested_schema",
            "action, content (not written by hookctl: the question is the user's)",
        )
    },
    EventSpec {
        matched: Some("mcp_server_name"),
        ..EventSpec::plain(
            Kind::ElicitationResult,
            "mcp_server_name, mode, action, content?",
            "action, content (not written by hookctl)",
        )
    },
    EventSpec {
        verbs: &[Deny, Ask, Allow],
        matched: Some("to_model"),
        patience: SHORT,
        ..EventSpec::plain(
            Kind::PreModelSwitch,
            "from_model, to_model, requested_model, source, context_tokens, prompt_cache_warm, \
             cache_ttl, estimated_cache_write_usd, pricing",
            "permissionDecision allow|deny|ask, permissionDecisionReason",
        )
    },
    EventSpec {
        matched: Some("to_model"),
        ..telling(
            Kind::PostModelSwitch,
            "from_model, to_model, requested_model, source, context_tokens, prompt_cache_warm, \
             cache_ttl, estimated_cache_write_usd, pricing",
            "additionalContext; cannot be blocked",
        )
    },
    EventSpec::plain(
        Kind::MessageDisplay,
        "turn_id, message_id, index, final, delta",
        "displayContent (not written by hookctl); a process per batch of text",
    ),
];
