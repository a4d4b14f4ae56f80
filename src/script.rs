//! Existing hook scripts: what a script written for Claude Code answered, read as the client does.

use std::borrow::Cow;

use serde_json::{Map, Value};

use crate::act::{self, End, Outcome};
use crate::event::{Event, Kind};
use crate::verdict::Verb;

pub mod cupcake;

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
    pub fn of(script: &str) -> Dialect {
        if cupcake::is_run_by(script) { Dialect::Cupcake } else { Dialect::Claude }
    }

    /// The event as such a script can read it; None = as it came.
    pub fn stdin<'b>(self, event: &Event, bytes: &'b [u8]) -> Option<Cow<'b, [u8]>> {
        match self {
            Dialect::Claude => None,
            Dialect::Cupcake => Some(cupcake::stdin(event, bytes)),
        }
    }

    /// Does it see by itself to its not blocking a stop for ever, as scripts of the client's do? Policies are
    /// asked at every stop.
    pub fn ends_stops(self) -> bool {
        self == Dialect::Claude
    }

    /// What its exit status and output say.
    pub fn read(self, event: &Event, outcome: &Outcome) -> Said {
        match self {
            Dialect::Claude => read(event, outcome),
            Dialect::Cupcake => cupcake::read(event, outcome),
        }
    }
}

/// What a hook script said.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
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

/// Reads exit status and output as Claude Code 2.1.329 was seen to: JSON counts whatever the exit
/// status; exit status 2 blocks, for the JSON's reason or else the text on standard error; text is
/// context where the client takes it for that; everything else is a failure.
pub fn read(event: &Event, outcome: &Outcome) -> Said {
    let text = text(outcome);
    let mut said = Said::default();
    let mut is_json = false;
    if text.starts_with('{') {
        match serde_json::from_str::<Map<String, Value>>(text) {
            Ok(answer) => {
                is_json = true;
                read_json(event, &answer, &mut said);
            }
            Err(_) if outcome.stdout.len() >= act::KEPT => {
                let kept = act::KEPT >> 10;
                said.failure =
                    Some(format!("its answer is longer than the {kept} KiB that are read"));
            }
            Err(error) => said.failure = Some(format!("its answer is no JSON object: {error}")),
        }
    } else if !text.is_empty()
        && outcome.succeeded()
        && matches!(
            event.kind,
            Kind::UserPromptSubmit
                | Kind::UserPromptExpansion
                | Kind::SessionStart
                | Kind::PreCompact
                | Kind::PostModelSwitch
        )
    {
        said.context.push(text.to_string());
    }
    match outcome.end {
        End::Exit(2) => {
            let stderr = outcome.stderr.trim();
            let json_reason = match &said.verb {
                Some((Verb::Deny | Verb::Halt, reason)) if !reason.is_empty() => {
                    Some(reason.clone())
                }
                _ => None,
            };
            let reason = json_reason.unwrap_or_else(|| {
                if stderr.is_empty() { "No stderr output".into() } else { stderr.to_string() }
            });
            let verb = match said.verb {
                Some((Verb::Halt, _)) => Verb::Halt,
                _ => Verb::Deny,
            };
            // Never on a permission request: the client ignores exit status 2 there.
            if event.kind != Kind::PermissionRequest {
                said.verb = Some((verb, reason));
            }
            said.failure = None;
        }
        End::Exit(0) => {}
        End::Exit(..128) if is_json => {}
        End::Exit(..128) => said.failure = Some(outcome.ended()),
        // Cut off, or its shell says so: what it had said so far is no answer, unless that was a no.
        End::Exit(_) | End::Signal | End::Timeout(_) | End::Deadline | End::Failed(_) => {
            let refusal = said.verb.take().filter(|(verb, _)| verb.stops());
            said = Said { verb: refusal, failure: Some(outcome.ended()), ..Said::default() };
        }
    }
    said
}

/// What it printed, without what may stand around it.
fn text(outcome: &Outcome) -> &str {
    outcome.stdout.trim_start_matches('\u{feff}').trim()
}

fn read_json(event: &Event, answer: &Map<String, Value>, said: &mut Said) {
    let string = |map: &Map<String, Value>, key: &str| {
        map.get(key).and_then(Value::as_str).map(str::to_string)
    };
    let reason = string(answer, "reason").unwrap_or_default();
    if let Some(message) = string(answer, "systemMessage") {
        said.notice.push(message);
    }
    said.suppress = answer.get("suppressOutput") == Some(&Value::Bool(true));
    match answer.get("decision").and_then(Value::as_str) {
        Some("block" | "deny") => said.verb = Some((Verb::Deny, reason.clone())),
        // Deprecated on PreToolUse, read all the same; on a stop it means nothing.
        Some("approve" | "allow") if event.kind.is_gate() => {
            said.verb = Some((Verb::Allow, reason.clone()));
        }
        _ => {}
    }
    if let Some(Value::Object(specific)) = answer.get("hookSpecificOutput") {
        // The client drops an answer for another event; what would tighten still counts here.
        let named = specific.get("hookEventName").and_then(Value::as_str);
        let valid = named.is_some_and(|name| name == event.name);
        let why = string(specific, "permissionDecisionReason").unwrap_or_else(|| reason.clone());
        let verb = match specific.get("permissionDecision").and_then(Value::as_str) {
            Some("allow") if valid => Some(Verb::Allow),
            Some("deny") => Some(Verb::Deny),
            Some("ask") if event.kind != Kind::PermissionRequest => Some(Verb::Ask),
            Some("defer") => Some(Verb::Defer),
            _ => None,
        };
        if let Some(verb) = verb {
            said.verb = Some((verb, why));
        }
        if let Some(Value::Object(decision)) = specific.get("decision") {
            match decision.get("behavior").and_then(Value::as_str) {
                Some("allow") if valid => said.verb = Some((Verb::Allow, reason.clone())),
                Some("deny") => {
                    let why = string(decision, "message").unwrap_or_default();
                    let interrupt = decision.get("interrupt") == Some(&Value::Bool(true));
                    let verb = if interrupt { Verb::Halt } else { Verb::Deny };
                    said.verb = Some((verb, why));
                }
                _ => {}
            }
            said.input = object(decision.get("updatedInput"), event).filter(|_| valid);
        }
        if valid {
            if let Some(input) = object(specific.get("updatedInput"), event) {
                said.input = Some(input);
            }
            if let Some(context) = string(specific, "additionalContext") {
                said.context.push(context);
            }
            said.response = specific
                .get("updatedToolOutput")
                .or_else(|| specific.get("updatedMCPToolOutput"))
                .filter(|value| !value.is_null())
                .cloned();
        } else if said.verb.is_none() {
            said.failure = Some("its hookSpecificOutput does not name this event".into());
        }
    }
    if answer.get("continue") == Some(&Value::Bool(false)) {
        let why = string(answer, "stopReason")
            .or_else(|| said.verb.take().map(|(_, why)| why))
            .unwrap_or(reason);
        said.verb = Some((Verb::Halt, why));
    }
}

/// A new input; a partial one is completed from the old (the seeds' reading of it).
fn object(value: Option<&Value>, event: &Event) -> Option<Map<String, Value>> {
    let Some(Value::Object(new)) = value else { return None };
    let mut whole = event.input.as_object().cloned().unwrap_or_default();
    whole.extend(new.clone());
    Some(whole)
}
