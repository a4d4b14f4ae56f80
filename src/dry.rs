//! Judging without doing: one event as the hook would judge it, with nothing run, written or
//! contacted; and payloads for calls that nobody made. `explain` and `test` are made of it.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::agent::{self, Agent, Output};
use crate::config::Config;
use crate::effect::{Analysis, Place, windows};
use crate::event::{Event, Kind};
use crate::judge::{self, JudgeContext, Judgement, Mode, Situation};
use crate::marks::Marks;
use crate::paths::Paths;
use crate::rule::path::Bases;

/// An event and everything that came of it.
pub struct Dry {
    /// Whose event it is.
    pub agent: &'static dyn Agent,
    /// The event; of a call with several operations, the one that decided.
    pub event: Event,
    /// The whole call, where it has several.
    whole: Option<Event>,
    /// Where the session is.
    pub place: Place,
    /// What path patterns start from.
    pub bases: Bases,
    /// What the call would do.
    pub analysis: Analysis,
    /// Is hookctl paused?
    pub paused: bool,
    /// The marks that stood in the session before it.
    pub marks: Marks,
    /// What it came to.
    pub judgement: Judgement,
}

impl Dry {
    /// Judges the event there.
    pub fn judge(
        (agent, event): (&'static dyn Agent, Event),
        place: Place,
        config: &Config,
        paths: &Paths,
        paused: bool,
    ) -> Dry {
        let timeout = agent.event_spec(event.kind).map_or(60, |spec| u64::from(spec.timeout));
        let world = JudgeContext {
            paths,
            // For commands that rules run; none is.
            stdin: &[],
            deadline: Instant::now() + Duration::from_secs(timeout.saturating_sub(1)),
            mode: Mode::Dry,
            paused,
            notifiers: &[],
        };
        let whole = event.whole_if_split();
        let marks = place.standing_marks();
        let mut situations = Situation::of_operations((agent, event), place);
        let (decided, judgement) = judge::judge_operations(&situations, config, &world);
        let Situation { agent, event, place, bases, analysis } = situations.swap_remove(decided);
        Dry { agent, event, whole, place, bases, analysis, paused, marks, judgement }
    }

    /// What the agent is told.
    pub fn render(&self) -> Output {
        let event = self.whole.as_ref().unwrap_or(&self.event);
        self.agent.render(event, &self.judgement.answer)
    }
}

/// The event of a payload, and whose it is. `named` is the event where the payload names none.
pub fn parse_event(
    payload: Map<String, Value>,
    named: Option<&str>,
) -> (&'static dyn Agent, Event) {
    let agent = agent::detect_agent(&payload, None);
    (agent, agent::parse_event(agent, payload, named))
}

/// A call that nobody made, as that agent's: by Claude Code's names, answered in the agent's form.
pub fn synthetic_event(
    payload: Map<String, Value>,
    agent: &'static dyn Agent,
    named: Option<&str>,
) -> (&'static dyn Agent, Event) {
    let mut event = agent::default_agent().parse(payload, named);
    if agent.id() != event.agent {
        event.agent = agent.id();
        if let Some(spec) = agent.event_spec(event.kind) {
            event.name = spec.name.into();
        }
    }
    (agent, event)
}

/// The payload of an event that nobody sent.
pub fn synthetic_payload(name: &str, cwd: &str) -> Map<String, Value> {
    let mut payload = Map::new();
    payload.insert("session_id".into(), judge::NO_SESSION.into());
    payload.insert("cwd".into(), cwd.into());
    payload.insert("hook_event_name".into(), name.into());
    payload
}

/// The payload of a tool call that nobody made.
pub fn tool_call_payload(kind: Kind, tool: &str, input: Value, cwd: &str) -> Map<String, Value> {
    let mut payload = synthetic_payload(kind.name(), cwd);
    let mut put = |key: &str, value: Value| {
        payload.insert(key.to_string(), value);
    };
    put("permission_mode", "default".into());
    put("tool_name", tool.into());
    put("tool_input", input);
    if kind != Kind::PermissionRequest {
        put("tool_use_id", "toolu_dry".into());
    }
    match kind {
        Kind::PostToolUse => put("tool_response", empty_response(tool)),
        Kind::PostToolUseFailure => put("error", "it failed".into()),
        Kind::PermissionDenied => put("reason", "denied".into()),
        _ => {}
    }
    payload
}

/// The tool's input with the value in its main field; `absolute` makes a path what the client
/// would hand on.
pub fn tool_input(tool: &str, value: &str, absolute: &dyn Fn(&str) -> String) -> Value {
    match tool {
        "Read" | "MultiEdit" => json!({ "file_path": absolute(value) }),
        "Write" => json!({ "file_path": absolute(value), "content": "" }),
        "Edit" => json!({ "file_path": absolute(value), "old_string": "", "new_string": "" }),
        "NotebookEdit" | "NotebookRead" => json!({ "notebook_path": absolute(value) }),
        "WebFetch" => json!({ "url": value, "prompt": "" }),
        "Glob" | "Grep" => json!({ "pattern": value }),
        "LS" => json!({ "path": absolute(value) }),
        "WebSearch" => json!({ "query": value }),
        "Agent" | "Task" => json!({ "prompt": value, "description": "" }),
        "Skill" | "SlashCommand" => json!({ "skill": value, "command": value }),
        _ if tool.starts_with("mcp__") && value.is_empty() => json!({}),
        _ => json!({ "command": value }),
    }
}

/// A path as the client hands it on: absolute, `~` expanded.
pub fn absolute_path(path: &str, cwd: &Path, home: &Path) -> String {
    let full = match path.strip_prefix('~') {
        Some("") => home.to_path_buf(),
        Some(rest) if rest.starts_with('/') => home.join(&rest[1..]),
        _ if path.is_empty() => return String::new(),
        _ if windows::canonical_path(path).is_some() => return path.to_string(),
        _ => cwd.join(path),
    };
    windows::native_text(&full.components().collect::<PathBuf>())
}

/// What such a tool returns when it has nothing to say.
fn empty_response(tool: &str) -> Value {
    match tool {
        "Bash" => json!({ "stdout": "", "stderr": "", "interrupted": false, "isImage": false }),
        _ if tool.starts_with("mcp__") => json!([{ "type": "text", "text": "" }]),
        _ => json!({}),
    }
}
