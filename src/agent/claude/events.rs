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
    EventSpec::new(Kind::PreToolUse)
        .input("tool_name, tool_input, tool_use_id, mcp_server{name,source}?")
        .output(
            "permissionDecision allow|deny|ask|defer, permissionDecisionReason, updatedInput, \
             additionalContext; deny blocks, as does exit 2",
        )
        .tells()
        .verbs(&[Halt, Deny, Defer, Ask, Allow])
        .rewrites()
        .matched("tool_name")
        .timeout(LONG)
        .by_default(),
    EventSpec::new(Kind::PermissionRequest)
        .input("tool_name, tool_input, permission_suggestions[]?, mcp_server? (no tool_use_id)")
        .output(
            "decision {behavior: allow, updatedInput?} or {behavior: deny, message, interrupt?}; \
             exit 2 does not deny; no answer leaves the dialog to the user",
        )
        .verbs(&[Halt, Deny, Allow])
        .rewrites()
        .matched("tool_name")
        .timeout(LONG)
        .by_default(),
    EventSpec::new(Kind::PermissionDenied)
        .input("tool_name, tool_input, tool_use_id, reason")
        .output("retry (not written by hookctl)")
        .matched("tool_name"),
    EventSpec::new(Kind::PostToolUse)
        .input(
            "tool_name, tool_input, tool_use_id, tool_response (in the tool's own shape), \
             duration_ms, mcp_server?",
        )
        .output(
            "decision block + reason (told to the model, the tool has run), continue:false ends \
             the turn, updatedToolOutput in the tool's shape, updatedMCPToolOutput, \
             additionalContext",
        )
        .tells()
        .verbs(FEEDBACK)
        .replaces()
        .matched("tool_name")
        .by_default(),
    EventSpec::new(Kind::PostToolUseFailure)
        .input("tool_name, tool_input, tool_use_id, error, is_interrupt, duration_ms")
        .output("additionalContext; a deny is told as context")
        .tells()
        .matched("tool_name")
        .by_default(),
    EventSpec::new(Kind::PostToolBatch)
        .input("tool_calls[{tool_name, tool_input, tool_use_id, tool_response}]")
        .output("decision block and continue:false end the turn; additionalContext")
        .tells()
        .verbs(FEEDBACK),
    EventSpec::new(Kind::UserPromptSubmit)
        .input("prompt")
        .output(
            "decision block + reason and continue:false stop the prompt before the model sees it; \
             additionalContext",
        )
        .tells()
        .verbs(FEEDBACK)
        .timeout(30)
        .patience(SHORT)
        .by_default(),
    EventSpec::new(Kind::UserPromptExpansion)
        .input("expansion_type, command_name, command_args, command_source, prompt")
        .output("decision block + reason, additionalContext")
        .tells()
        .verbs(REFUSE)
        .matched("command_name"),
    EventSpec::new(Kind::SessionStart)
        .input(
            "source startup|resume|clear|compact|fork, model?; on a resume also \
             seconds_since_last_response, context_tokens, prompt_cache_likely_expired, \
             estimated_cache_write_usd",
        )
        .output("additionalContext; cannot be blocked; has an env file")
        .tells()
        .matched("source")
        .by_default(),
    EventSpec::new(Kind::SessionEnd)
        .input("reason clear|resume|logout|prompt_input_exit|other")
        .output("common keys only; cannot be blocked")
        .matched("reason")
        // The client's budget is 1.5 s for all hooks unless an entry names more.
        .timeout(5)
        .patience(Duration::from_millis(1_500))
        .by_default(),
    EventSpec::new(Kind::Setup)
        .input("trigger init|maintenance")
        .output("additionalContext; cannot be blocked; has an env file")
        .tells()
        .matched("trigger"),
    EventSpec::new(Kind::Stop)
        .input("stop_hook_active, last_assistant_message, background_tasks[], session_crons[]")
        .output(
            "decision block + reason: the agent goes on with the reason, at most 8 times in a row; \
             continue:false ends; additionalContext makes it go on as well",
        )
        .tells()
        .verbs(FEEDBACK)
        .timeout(LONG)
        .by_default(),
    EventSpec::new(Kind::SubagentStop)
        .input(
            "agent_id, agent_type, agent_transcript_path, stop_hook_active, \
             last_assistant_message, background_tasks[], session_crons[]",
        )
        .output(
            "decision block + reason: the subagent goes on; continue:false ends; additionalContext",
        )
        .tells()
        .verbs(FEEDBACK)
        .matched("agent_type")
        .timeout(LONG)
        .by_default(),
    EventSpec::new(Kind::StopFailure)
        .input("error, error_details?, last_assistant_message?")
        .output("common keys only; in print mode the client exits before the hook ends")
        .matched("error"),
    EventSpec::new(Kind::SubagentStart)
        .input("agent_id, agent_type")
        .output("additionalContext, for the subagent; exit 2 does not stop it")
        .tells()
        .matched("agent_type"),
    EventSpec::new(Kind::PreCompact)
        .input("trigger manual|auto, custom_instructions (null, absent or text)")
        .output(
            "decision block + reason cancels; plain text on stdout joins the instructions of the \
             summary",
        )
        .tells()
        .verbs(REFUSE)
        .matched("trigger")
        .by_default(),
    EventSpec::new(Kind::PostCompact)
        .input("trigger manual|auto, compact_summary")
        .output("common keys only; cannot be blocked")
        .matched("trigger"),
    EventSpec::new(Kind::Notification)
        .input("message, title?, notification_type permission_prompt|idle_prompt|...")
        .output("additionalContext; cannot be blocked")
        .tells()
        .matched("notification_type")
        .by_default(),
    EventSpec::new(Kind::TaskCreated)
        .input("task_id, task_subject, task_description?, teammate_name?")
        .output("exit 2 + stderr refuses the task")
        .verbs(REFUSE),
    EventSpec::new(Kind::TaskCompleted)
        .input("task_id, task_subject, task_description?, teammate_name?")
        .output("exit 2 + stderr refuses the completion")
        .verbs(REFUSE),
    EventSpec::new(Kind::TeammateIdle)
        .input("teammate_name, team_name")
        .output("exit 2 + stderr makes the teammate go on")
        .verbs(REFUSE),
    EventSpec::new(Kind::CwdChanged)
        .input("old_cwd, new_cwd")
        .output("watchPaths (not written by hookctl); cannot be blocked; has an env file"),
    EventSpec::new(Kind::FileChanged)
        .input("file_path, event change|...")
        .output("watchPaths (not written by hookctl); cannot be blocked; has an env file")
        // The client matches on the file's name without its directory.
        .matched("file_path"),
    EventSpec::new(Kind::DirectoryAdded)
        .input("directory, source")
        .output("common keys only; cannot be blocked")
        .matched("source"),
    EventSpec::new(Kind::ConfigChange)
        .input("source user_settings|project_settings|..., file_path?")
        .output("exit 2 + stderr refuses the change for the session")
        .verbs(REFUSE)
        .matched("source")
        .by_default(),
    EventSpec::new(Kind::InstructionsLoaded)
        .input("file_path, memory_type, load_reason, parent_file_path?")
        .output("common keys only; cannot be blocked")
        .matched("load_reason"),
    EventSpec::new(Kind::WorktreeCreate).input("name").output(
        "stdout is the worktree's path: hookctl prints nothing, so do not register it here",
    ),
    EventSpec::new(Kind::WorktreeRemove)
        .input("worktree_path")
        .output("common keys only; cannot be blocked"),
    EventSpec::new(Kind::Elicitation)
        .input("mcp_server_name, message, mode, requested_schema")
        .output("action, content (not written by hookctl: the question is the user's)")
        .matched("mcp_server_name"),
    EventSpec::new(Kind::ElicitationResult)
        .input("mcp_server_name, mode, action, content?")
        .output("action, content (not written by hookctl)")
        .matched("mcp_server_name"),
    EventSpec::new(Kind::PreModelSwitch)
        .input(
            "from_model, to_model, requested_model, source, context_tokens, prompt_cache_warm, \
             cache_ttl, estimated_cache_write_usd, pricing",
        )
        .output("permissionDecision allow|deny|ask, permissionDecisionReason")
        .verbs(&[Deny, Ask, Allow])
        .matched("to_model")
        .patience(SHORT),
    EventSpec::new(Kind::PostModelSwitch)
        .input(
            "from_model, to_model, requested_model, source, context_tokens, prompt_cache_warm, \
             cache_ttl, estimated_cache_write_usd, pricing",
        )
        .output("additionalContext; cannot be blocked")
        .tells()
        .matched("to_model"),
    EventSpec::new(Kind::MessageDisplay)
        .input("turn_id, message_id, index, final, delta")
        .output("displayContent (not written by hookctl); a process per batch of text"),
];
