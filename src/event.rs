//! The event: what every agent's payload becomes before anything is judged.
//!
//! Parsing is lenient on purpose. A model controls many of these strings, so a payload that cannot
//! be read must never be a way past the rules: unknown events, unknown fields and missing fields
//! are kept or tolerated, and only what is not a JSON object at all is an error (see `hook.rs`).

use std::borrow::Cow;

use serde_json::{Map, Value};

macro_rules! kinds {
    ($($(#[$doc:meta])* $name:ident),+ $(,)?) => {
        /// The event kinds of Claude Code, whose names are the vocabulary of the rule file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Kind {
            $($(#[$doc])* $name,)+
            /// An event this version does not know: no rule but one on `*` speaks of it.
            Other,
        }

        impl Kind {
            /// Every known kind, in the order of the documentation.
            pub const ALL: &'static [Kind] = &[$(Kind::$name,)+];

            /// The name on the wire and in `on = "..."`.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Kind::$name => stringify!($name),)+
                    Kind::Other => "Other",
                }
            }
        }
    };
}

kinds! {
    /// Before a tool runs: the main gate.
    PreToolUse,
    /// A permission dialog is about to be shown.
    PermissionRequest,
    /// Auto mode's classifier refused a call.
    PermissionDenied,
    /// A tool succeeded.
    PostToolUse,
    /// A tool failed.
    PostToolUseFailure,
    /// A batch of parallel tool calls ended.
    PostToolBatch,
    /// The user sent a prompt.
    UserPromptSubmit,
    /// A slash command or skill became a prompt.
    UserPromptExpansion,
    /// A session begins, resumes, was cleared or compacted.
    SessionStart,
    /// A session ends.
    SessionEnd,
    /// `--init` or `--maintenance`.
    Setup,
    /// The main agent wants to end its turn.
    Stop,
    /// A subagent wants to end.
    SubagentStop,
    /// A turn ended in an API error.
    StopFailure,
    /// A subagent begins.
    SubagentStart,
    /// Before the conversation is summarised.
    PreCompact,
    /// After the conversation was summarised.
    PostCompact,
    /// The client tells the user something.
    Notification,
    /// A task was created.
    TaskCreated,
    /// A task was completed.
    TaskCompleted,
    /// A teammate has nothing to do.
    TeammateIdle,
    /// The session's directory changed.
    CwdChanged,
    /// A watched file changed.
    FileChanged,
    /// A directory was added to the session.
    DirectoryAdded,
    /// A settings file changed while the session runs.
    ConfigChange,
    /// A memory file was loaded.
    InstructionsLoaded,
    /// A worktree is to be made; stdout is its path.
    WorktreeCreate,
    /// A worktree is to be removed.
    WorktreeRemove,
    /// An MCP server asks the user something.
    Elicitation,
    /// The user answered an MCP server.
    ElicitationResult,
    /// The model is about to change.
    PreModelSwitch,
    /// The model changed.
    PostModelSwitch,
    /// A batch of text is shown.
    MessageDisplay,
}

impl Kind {
    /// The kind of that exact name, `Other` where there is none.
    pub fn from_name(name: &str) -> Kind {
        Kind::ALL.iter().copied().find(|k| k.name() == name).unwrap_or(Kind::Other)
    }

    /// The events that begin a session: the second where an agent has not the first.
    pub const BEGINNINGS: [Kind; 2] = [Kind::SessionStart, Kind::UserPromptSubmit];

    /// Does the event carry a tool call that has not happened yet?
    pub const fn is_gate(self) -> bool {
        matches!(self, Kind::PreToolUse | Kind::PermissionRequest)
    }

    /// Does the event carry a tool call at all?
    pub const fn is_tool(self) -> bool {
        matches!(
            self,
            Kind::PreToolUse
                | Kind::PermissionRequest
                | Kind::PermissionDenied
                | Kind::PostToolUse
                | Kind::PostToolUseFailure
        )
    }

    /// The bit of this kind in a [`KindSet`].
    const fn bit(self) -> u64 {
        1 << self as u64
    }
}

/// A set of event kinds, one bit each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct KindSet(u64);

impl KindSet {
    /// No kind.
    pub const EMPTY: KindSet = KindSet(0);
    /// Every kind, unknown ones included.
    pub const ALL: KindSet = KindSet(u64::MAX);

    /// The set of these kinds.
    pub const fn from_kinds(kinds: &[Kind]) -> KindSet {
        let mut bits = 0;
        let mut i = 0;
        while i < kinds.len() {
            bits |= kinds[i].bit();
            i += 1;
        }
        KindSet(bits)
    }

    /// Adds one kind.
    pub fn insert(&mut self, kind: Kind) {
        self.0 |= kind.bit();
    }

    /// The set as a number, for files that only this version reads.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// The set of that number.
    pub const fn from_bits(bits: u64) -> KindSet {
        KindSet(bits)
    }

    /// Is the kind in the set?
    pub const fn contains(self, kind: Kind) -> bool {
        self.0 & kind.bit() != 0
    }

    /// Is the set empty?
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// What is in both sets.
    pub const fn intersect(self, other: KindSet) -> KindSet {
        KindSet(self.0 & other.0)
    }

    /// What is in either set.
    pub const fn union(self, other: KindSet) -> KindSet {
        KindSet(self.0 | other.0)
    }

    /// The known kinds in the set, in the order of [`Kind::ALL`].
    pub fn iter(self) -> impl Iterator<Item = Kind> {
        Kind::ALL.iter().copied().filter(move |k| self.contains(*k))
    }
}

/// A tool and its input: what a call does, or one of several things that it does.
#[derive(Debug, Clone, PartialEq)]
pub struct Operation {
    /// The tool by Claude Code's name.
    pub tool: String,
    /// Its input by Claude Code's keys.
    pub input: Value,
}

/// One event of one agent, in the vocabulary that rules are written in.
#[derive(Debug, Clone)]
pub struct Event {
    /// The agent whose answer form applies (`claude`).
    pub agent: &'static str,
    /// The kind, `Other` for names this version does not know.
    pub kind: Kind,
    /// The name as the agent sent it.
    pub name: String,
    /// The tool by Claude Code's name (`Task` has become `Agent`), empty where there is none.
    pub tool: String,
    /// The tool's input; null where there is none.
    pub input: Value,
    /// The session's current directory: absolute, or empty where the payload names none.
    pub cwd: String,
    /// The session's id, empty where there is none.
    pub session: String,
    /// The operations behind the first, of a call that has several.
    pub more: Vec<Operation>,
    /// The whole payload, unknown fields included: what Claude Code has a name for, by that name.
    pub raw: Map<String, Value>,
    /// What the agent's own answer is made from (its tool's name and input, say); null where that is
    /// in `raw`.
    pub native: Value,
}

/// What is left of that many bytes when the value has taken its own, about.
fn takes_at_most(value: &Value, room: usize) -> Option<usize> {
    /// A value itself, with its place in an object or a list.
    const ITSELF: usize = 96;
    let left = room.checked_sub(ITSELF)?;
    match value {
        Value::String(text) => left.checked_sub(text.len()),
        Value::Array(items) => items.iter().try_fold(left, |left, item| takes_at_most(item, left)),
        Value::Object(map) => map
            .iter()
            .try_fold(left, |left, (key, item)| takes_at_most(item, left.checked_sub(key.len())?)),
        _ => Some(left),
    }
}

impl Event {
    /// A copy where it has several operations: they are judged one by one, and answered as one.
    pub fn whole_if_split(&self) -> Option<Event> {
        (!self.more.is_empty()).then(|| self.clone())
    }

    /// Each of its operations as an event of its own: one, for nearly all. `most` = bytes that all of them may keep of
    /// the payload beside their own inputs; larger fields stand in the first alone.
    pub fn split_operations(mut self, most: usize) -> Vec<Event> {
        let more = std::mem::take(&mut self.more);
        if more.is_empty() {
            return vec![self];
        }
        let mut shared = self.clone();
        // The whole call's, which may be large: each operation has its own, and the whole is answered.
        (shared.input, shared.native) = (Value::Null, Value::Null);
        shared.raw.remove("tool_input");
        let room = most / more.len();
        shared.raw.retain(|_, value| takes_at_most(value, room).is_some());
        let mut all = vec![self];
        for Operation { tool, input } in more {
            let mut one = shared.clone();
            one.raw.insert("tool_name".into(), Value::from(tool.as_str()));
            one.raw.insert("tool_input".into(), input.clone());
            all.push(Event { tool, input, ..one });
        }
        all
    }

    /// A string field of the payload.
    pub fn str_field(&self, key: &str) -> Option<&str> {
        self.raw.get(key).and_then(Value::as_str)
    }

    /// The id of its call: an empty one is none.
    pub fn call_id(&self) -> Option<&str> {
        self.str_field("tool_use_id").filter(|id| !id.is_empty())
    }

    /// Is this a call of that tool (by Claude Code's name)?
    pub fn is_tool(&self, name: &str) -> bool {
        self.tool == name
    }

    /// The shell command of the call, if it has one.
    pub fn command(&self) -> Option<&str> {
        self.input.get("command").and_then(Value::as_str)
    }

    /// The file the call names, if it names one.
    pub fn file_path(&self) -> Option<&str> {
        ["file_path", "notebook_path", "path"]
            .iter()
            .find_map(|key| self.input.get(key).and_then(Value::as_str))
    }

    /// What the call is about, in short: its command, its file or its URL.
    pub fn call_summary(&self) -> Option<&str> {
        self.command()
            .or_else(|| self.file_path())
            .or_else(|| self.input.get("url").and_then(Value::as_str))
    }

    /// The user's prompt.
    pub fn prompt(&self) -> Option<&str> {
        self.str_field("prompt")
    }

    /// What the tool returned: today's `tool_response`, or `tool_result` of older writers.
    pub fn tool_response(&self) -> Option<&Value> {
        self.raw.get("tool_response").or_else(|| self.raw.get("tool_result"))
    }

    /// Did the tool succeed, as the event itself tells? None where it does not say: of an agent that has an event of
    /// its own for failures, one for the others says so by its name (`agent::tool_succeeded`).
    pub fn told_success(&self) -> Option<bool> {
        match self.kind {
            Kind::PostToolUseFailure => Some(false),
            Kind::PostToolUse => told_success(self.tool_response()?),
            _ => None,
        }
    }

    /// The text that the tool printed or returned: of several, each on a line of its own.
    pub fn tool_output(&self) -> Option<Cow<'_, str>> {
        returned_text(self.tool_response()?)
    }

    /// What went wrong, where the event says so.
    pub fn error_text(&self) -> Option<&str> {
        self.str_field("error").or_else(|| {
            let response = self.tool_response()?;
            ["error", "stderr"]
                .iter()
                .find_map(|key| response.get(key).and_then(Value::as_str))
                .filter(|text| !text.is_empty())
        })
    }

    /// The first `n` characters of the prompt.
    pub fn prompt_preview(&self, n: usize) -> String {
        self.prompt().unwrap_or_default().chars().take(n).collect()
    }

    /// Is the agent already going on because of a stop hook?
    pub fn stop_hook_active(&self) -> bool {
        self.raw.get("stop_hook_active").and_then(Value::as_bool).unwrap_or(false)
    }
}

/// How the model is told of another prompt, where the agent cannot take it in place of the user's.
pub fn describe_new_prompt(prompt: &str) -> String {
    format!("Modified prompt: {prompt}")
}

/// Where tools have their text: Claude Code's Bash, files, those of other agents.
const TEXT_KEYS: [&str; 4] = ["stdout", "content", "output", "text"];

/// The text of what a tool returned: a string, a field of an object, the parts of a list as MCP has them.
fn returned_text(response: &Value) -> Option<Cow<'_, str>> {
    match response {
        Value::String(text) => Some(Cow::Borrowed(text)),
        Value::Array(parts) => {
            let texts: Vec<&str> =
                parts.iter().filter_map(|part| part.get("text")?.as_str()).collect();
            (!texts.is_empty()).then(|| Cow::Owned(texts.join("\n")))
        }
        Value::Object(fields) => TEXT_KEYS
            .iter()
            .find_map(|key| match fields.get(*key)? {
                Value::Object(_) => None,
                text => returned_text(text),
            })
            // Claude Code's Read.
            .or_else(|| Some(Cow::Borrowed(fields.get("file")?.get("content")?.as_str()?))),
        _ => None,
    }
}

/// What a response says of success, by the names that tools use for it.
fn told_success(response: &Value) -> Option<bool> {
    let flag = |key: &str| response.get(key).and_then(Value::as_bool);
    let failed = || ["is_error", "isError"].iter().find_map(|key| flag(key));
    let status = || ["exit_code", "exitCode"].iter().find_map(|key| response.get(key)?.as_i64());
    flag("success")
        .or_else(|| failed().map(|failed| !failed))
        .or_else(|| status().map(|status| status == 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const MOST: usize = 1 << 20;

    #[test]
    fn operations_share_what_is_small_and_the_first_keeps_the_rest() {
        let operation =
            |at: u32| Operation { tool: "Read".into(), input: json!({ "file_path": at }) };
        let long = "x".repeat(MOST / 2);
        let raw = json!({ "cwd": "/p", "tool_input": { "files": [1, 2] }, "long": long,
            "list": vec![json!({}); MOST / 100], "tool_response": "ok" });
        let event = Event {
            agent: "claude",
            kind: Kind::PreToolUse,
            name: "PreToolUse".into(),
            tool: "Read".into(),
            input: json!({}),
            cwd: "/p".into(),
            session: String::new(),
            more: (0..3).map(operation).collect(),
            raw: raw.as_object().unwrap().clone(),
            native: Value::Null,
        };
        let all = event.split_operations(MOST);
        let keys = |event: &Event| {
            event.raw.keys().cloned().collect::<std::collections::BTreeSet<String>>()
        };
        assert_eq!(keys(&all[0]).len(), 5);
        for (at, one) in all[1..].iter().enumerate() {
            let kept = ["cwd", "tool_input", "tool_name", "tool_response"].map(String::from);
            assert_eq!(keys(one), kept.into(), "{at}");
            assert_eq!(one.raw["tool_input"], json!({ "file_path": at }));
        }
    }
}
