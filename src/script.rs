//! Existing hook scripts: what a script written for Claude Code answered, read as the client does.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::act::{self, CommandEnd, Outcome};
use crate::event::{Event, Kind, KindSet};
use crate::verdict::Verb;

pub mod cupcake;
pub mod line;
pub mod settings;

words! {
    /// How a hook script answers, by the words of a rule's `dialect`.
    #[derive(Default)]
    Dialect {
        /// As Claude Code's own hooks do.
        #[default]
        Claude = "claude",
        /// As `cupcake eval --harness claude` does.
        Cupcake = "cupcake",
    }
}

impl Dialect {
    /// As that script is known to answer.
    pub fn from_script(script: &str) -> Dialect {
        if cupcake::is_run_by(script) { Dialect::Cupcake } else { Dialect::Claude }
    }

    /// The event as such a script can read it; None = as it came.
    pub fn stdin_for<'b>(self, event: &Event, bytes: &'b [u8]) -> Option<Cow<'b, [u8]>> {
        match self {
            Dialect::Claude => None,
            Dialect::Cupcake => Some(cupcake::stdin_for(event, bytes)),
        }
    }

    /// Does it see by itself to its not blocking a stop for ever, as scripts of the client's do? Policies are
    /// asked at every stop.
    pub fn ends_stops(self) -> bool {
        self == Dialect::Claude
    }

    /// What its exit status and output say.
    pub fn read_outcome(self, event: &Event, outcome: &Outcome) -> ScriptAnswer {
        match self {
            Dialect::Claude => read_claude_outcome(event, outcome),
            Dialect::Cupcake => cupcake::read_outcome(event, outcome),
        }
    }
}

/// What a hook script said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ScriptAnswer {
    /// Its verdict and reason.
    pub verb: Option<(Verb, String)>,
    /// The complete new input of the tool.
    pub input: Option<Map<String, Value>>,
    /// The new result of the tool.
    pub response: Option<Value>,
    /// Texts for the model.
    pub context: Vec<String>,
    /// Texts for the human.
    pub notice: Vec<String>,
    /// `suppressOutput`
    pub suppress: bool,
    /// The script failed: it said nothing, for this reason.
    pub failure: Option<String>,
}

impl ScriptAnswer {
    /// It said nothing, for this reason.
    pub fn failed(why: String) -> ScriptAnswer {
        ScriptAnswer { failure: Some(why), ..ScriptAnswer::default() }
    }
}

/// The name that a hook script is given for the event: Claude Code's, whatever the agent calls it.
pub fn event_name(event: &Event) -> &str {
    match event.kind {
        Kind::Other => &event.name,
        kind => kind.name(),
    }
}

/// The event as Claude Code would send it, for scripts that were written for that: its names and the fields that
/// it never leaves out. What the agent sent beside them stays.
pub fn to_claude(event: &Event) -> Map<String, Value> {
    let mut raw = event.raw.clone();
    raw.insert("hook_event_name".into(), event_name(event).into());
    raw.insert("session_id".into(), event.session.as_str().into());
    raw.insert("cwd".into(), event.cwd.as_str().into());
    if !raw.get("transcript_path").is_some_and(Value::is_string) {
        raw.insert("transcript_path".into(), "".into());
    }
    if !event.tool.is_empty() {
        raw.insert("tool_name".into(), event.tool.as_str().into());
        raw.insert("tool_input".into(), event.input.clone());
    }
    raw
}

/// Reads exit status and output as Claude Code 2.1.329 was seen to: JSON counts whatever the exit
/// status; exit status 2 blocks, for the JSON's reason or else the text on standard error; text is
/// context where the client takes it for that; everything else is a failure.
pub fn read_claude_outcome(event: &Event, outcome: &Outcome) -> ScriptAnswer {
    let text = trimmed_stdout(outcome);
    let answer = text
        .starts_with('{')
        .then(|| serde_json::from_slice::<Map<String, Value>>(text.as_bytes()));
    let is_json = matches!(answer, Some(Ok(_)));
    let mut said = match answer {
        Some(Ok(answer)) => read_json(event, &answer),
        Some(Err(_)) if outcome.stdout.len() >= act::KEPT => {
            let kept = act::KEPT >> 10;
            ScriptAnswer::failed(format!("its answer is longer than the {kept} KiB that are read"))
        }
        Some(Err(error)) => ScriptAnswer::failed(format!("its answer is no JSON object: {error}")),
        None if TEXT.contains(event.kind) && outcome.is_success() && !text.is_empty() => {
            ScriptAnswer { context: vec![text.to_string()], ..ScriptAnswer::default() }
        }
        None => ScriptAnswer::default(),
    };
    match outcome.end {
        CommandEnd::Exit(2) => refuse(event, outcome, &mut said),
        CommandEnd::Exit(0) => {}
        CommandEnd::Exit(..128) if is_json => {}
        CommandEnd::Exit(..128) => said.failure = Some(outcome.describe_end()),
        // Cut off, or its shell says so: what it had said so far is no answer, unless that was a no.
        CommandEnd::Exit(_)
        | CommandEnd::Signal
        | CommandEnd::Timeout(_)
        | CommandEnd::Deadline
        | CommandEnd::Failed(_) => {
            let refusal = said.verb.take().filter(|(verb, _)| verb.stops_call());
            said = ScriptAnswer { verb: refusal, ..ScriptAnswer::failed(outcome.describe_end()) };
        }
    }
    said
}

/// The events whose scripts may print text for the model.
const TEXT: KindSet = KindSet::from_kinds(&[
    Kind::UserPromptSubmit,
    Kind::UserPromptExpansion,
    Kind::SessionStart,
    Kind::PreCompact,
    Kind::PostModelSwitch,
]);

/// Exit status 2.
fn refuse(event: &Event, outcome: &Outcome, said: &mut ScriptAnswer) {
    said.failure = None;
    // Never on a permission request: the client ignores exit status 2 there.
    if event.kind == Kind::PermissionRequest {
        return;
    }
    let (verb, reason) = match said.verb.take() {
        Some((verb @ (Verb::Deny | Verb::Halt), reason)) => (verb, reason),
        _ => (Verb::Deny, String::new()),
    };
    let told = [reason.as_str(), outcome.stderr.trim()].into_iter().find(|text| !text.is_empty());
    said.verb = Some((verb, told.unwrap_or("No stderr output").to_string()));
}

/// What it printed, without what may stand around it.
fn trimmed_stdout(outcome: &Outcome) -> &str {
    outcome.stdout.trim_start_matches('\u{feff}').trim()
}

fn string(map: &Map<String, Value>, key: &str) -> Option<String> {
    map.get(key).and_then(Value::as_str).map(str::to_string)
}

fn read_json(event: &Event, answer: &Map<String, Value>) -> ScriptAnswer {
    let reason = string(answer, "reason").unwrap_or_default();
    let mut said = ScriptAnswer {
        notice: string(answer, "systemMessage").into_iter().collect(),
        suppress: answer.get("suppressOutput") == Some(&Value::Bool(true)),
        ..ScriptAnswer::default()
    };
    said.verb = match answer.get("decision").and_then(Value::as_str) {
        Some("block" | "deny") => Some((Verb::Deny, reason.clone())),
        // Deprecated on PreToolUse, read all the same; on a stop it means nothing.
        Some("approve" | "allow") if event.kind.is_gate() => Some((Verb::Allow, reason.clone())),
        _ => None,
    };
    if let Some(Value::Object(specific)) = answer.get("hookSpecificOutput") {
        read_specific(event, specific, &reason, &mut said);
    }
    if answer.get("continue") == Some(&Value::Bool(false)) {
        let why = string(answer, "stopReason")
            .or_else(|| said.verb.take().map(|(_, why)| why))
            .unwrap_or(reason);
        said.verb = Some((Verb::Halt, why));
    }
    said
}

/// Reads `hookSpecificOutput`. The client drops an answer for another event; what would tighten still counts here.
fn read_specific(
    event: &Event,
    specific: &Map<String, Value>,
    reason: &str,
    said: &mut ScriptAnswer,
) {
    let named = specific.get("hookEventName").and_then(Value::as_str);
    let valid = named.is_some_and(|name| name == event_name(event));
    let verb = match specific.get("permissionDecision").and_then(Value::as_str) {
        Some("allow") if valid => Some(Verb::Allow),
        Some("deny") => Some(Verb::Deny),
        Some("ask") if event.kind != Kind::PermissionRequest => Some(Verb::Ask),
        Some("defer") => Some(Verb::Defer),
        _ => None,
    };
    if let Some(verb) = verb {
        let why = string(specific, "permissionDecisionReason");
        said.verb = Some((verb, why.unwrap_or_else(|| reason.to_string())));
    }
    if let Some(Value::Object(decision)) = specific.get("decision") {
        said.verb = in_dialog(decision, valid, reason).or(said.verb.take());
        said.input = complete_input(decision.get("updatedInput"), event).filter(|_| valid);
    }
    if valid {
        said.input = complete_input(specific.get("updatedInput"), event).or(said.input.take());
        said.context.extend(string(specific, "additionalContext"));
        let response =
            specific.get("updatedToolOutput").or_else(|| specific.get("updatedMCPToolOutput"));
        said.response = response.filter(|value| !value.is_null()).cloned();
    } else if said.verb.is_none() {
        said.failure = Some("its hookSpecificOutput does not name this event".into());
    }
}

/// The decision in the place of a permission dialog.
fn in_dialog(decision: &Map<String, Value>, valid: bool, reason: &str) -> Option<(Verb, String)> {
    match decision.get("behavior").and_then(Value::as_str)? {
        "allow" if valid => Some((Verb::Allow, reason.to_string())),
        "deny" => {
            let interrupt = decision.get("interrupt") == Some(&Value::Bool(true));
            let verb = if interrupt { Verb::Halt } else { Verb::Deny };
            Some((verb, string(decision, "message").unwrap_or_default()))
        }
        _ => None,
    }
}

/// A new input; a partial one is completed from the old (the seeds' reading of it).
fn complete_input(value: Option<&Value>, event: &Event) -> Option<Map<String, Value>> {
    let Some(Value::Object(new)) = value else { return None };
    let mut whole = event.input.as_object().cloned().unwrap_or_default();
    whole.extend(new.clone());
    Some(whole)
}
