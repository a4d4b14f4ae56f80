//! Whoever is no agent that is known, and yet asks about a command line.
//!
//! Nothing is known of such an agent's answers but that exit status 2 stops a call in most of them, so that
//! is what is said, with the refusal of the agent whose events have such names on stdout. What runs is found by the names of fields, and judged as that of any other tool is.

use std::collections::VecDeque;

use serde_json::{Map, Value};

use super::fields::{is_absolute, runs_as_line};
use super::fingerprint::{Field, Fingerprint};
use super::{AGENTS, Agent, AgentFacts, EventSpec, Mark, Output, default_agent};
use crate::effect::tool::{holds_line, names_line};
use crate::event::{Event, Kind};
use crate::text;
use crate::verdict::{Answer, Verb};

/// An agent that is not known.
pub struct Stranger;

pub(super) const ID: &str = "unknown";

/// What fields are called that hold a tool's input, without their case and punctuation.
const INPUTS: &[&str] = &[
    "args",
    "arguments",
    "input",
    "parameters",
    "params",
    "toolargs",
    "toolarguments",
    "toolcall",
    "toolinfo",
    "toolinput",
    "toolparams",
];
/// Those that name the event, and the tool.
const EVENTS: &[&str] = &[
    "hookeventname",
    "hookname",
    "agentactionname",
    "eventname",
    "event",
    "eventtype",
    "hook",
    "hooktype",
];
const NAMES: &[&str] = &["toolname", "tool", "name"];
/// Those that a call brings along which has happened.
const RESULTS: &[&str] =
    &["toolresponse", "toolresult", "tooloutput", "result", "response", "posttooluse", "error"];
const SESSIONS: &[&str] = &["sessionid", "conversationid", "taskid", "trajectoryid", "threadid"];
/// Those that say where it runs, and those that hold a command beside its line.
const PLACES: &[&str] =
    &["cwd", "workdir", "workingdirectory", "workingdir", "workspaceroots", "projectdir"];
const PARTS: &[&str] = &["args", "arguments", "argv", "env", "executable", "program"];

const VERBS: &[Verb] = &[Verb::Halt, Verb::Deny, Verb::Defer, Verb::Ask];

const fn stopping_spec(kind: Kind, verbs: &'static [Verb]) -> EventSpec {
    EventSpec::new(kind).output("exit status 2 stops the call").verbs(verbs)
}

/// What is done for a call, whoever makes it.
static SPECS: &[EventSpec] = &[
    stopping_spec(Kind::PreToolUse, VERBS),
    stopping_spec(Kind::PermissionRequest, &[Verb::Halt, Verb::Deny]),
    stopping_spec(Kind::PostToolUse, &[Verb::Halt, Verb::Deny]),
];

/// What is known of it.
static FACTS: AgentFacts = AgentFacts {
    id: ID,
    title: "an agent that is not known",
    events: SPECS,
    ..AgentFacts::UNKNOWN
};

impl Agent for Stranger {
    fn facts(&self) -> &'static AgentFacts {
        &FACTS
    }

    fn detect(&self, payload: &Fingerprint) -> Option<Mark> {
        let name = payload.value(Field::HookEventName).and_then(Value::as_str);
        let kind = name.map(Kind::from_name);
        let claude = payload.value(Field::ToolName).is_some_and(Value::is_string)
            && payload.value(Field::ToolInput).is_some_and(Value::is_object);
        let other = match kind {
            None => !claude,
            Some(Kind::Other) => true,
            Some(kind) => kind.is_tool() && !claude,
        };
        (other && !command_inputs(payload.payload).is_empty()).then_some(Mark::Strong)
    }

    fn parse(&self, payload: Map<String, Value>, named: Option<&str>) -> Event {
        let mut calls = command_inputs(&payload);
        let own = first_field(&payload, EVENTS).or(named).unwrap_or_default().to_string();
        let tool =
            first_field(&payload, NAMES).or_else(|| nested_field(&payload, NAMES)).unwrap_or(&own);
        let tool = match tool {
            "" => "shell".into(),
            "Bash" => "Bash".into(),
            name => own_tool_name(name),
        };
        let mut cwd = working_directory(&payload).unwrap_or_default().to_string();
        let input = match calls.len() {
            1 => {
                // The event's place, and none that the call does something to.
                let mut input = calls.remove(0);
                if let Value::Object(map) = &mut input {
                    cwd = working_directory(map).map_or(cwd, str::to_string);
                    map.retain(|key, _| !PLACES.contains(&normalise_name(key).as_str()));
                }
                input
            }
            _ => Value::Array(calls),
        };
        Event {
            agent: ID,
            kind: event_kind(&own, &payload),
            name: own,
            tool,
            cwd,
            session: first_field(&payload, SESSIONS).unwrap_or_default().to_string(),
            input,
            more: Vec::new(),
            raw: payload,
            native: Value::Null,
        }
    }

    /// What stops is exit status 2; what would change the input is a stop, what allows is silence.
    fn render(&self, event: &Event, answer: &Answer) -> Output {
        let verb = answer.verb.filter(|verb| verb.stops_call());
        let reason = match (verb, &answer.input) {
            // The agent's own dialog is the question.
            (Some(Verb::Ask), _) if event.kind == Kind::PermissionRequest => None,
            (Some(_), _) if answer.reason.is_empty() => Some("Not confirmed by anybody.".into()),
            (Some(_), _) => Some(answer.reason.clone()),
            (None, Some(_)) => Some("A rule rewrites the input, which cannot be said here.".into()),
            (None, None) => None,
        };
        let told = |text: &str| text::make_visible(&format!("hookctl: {text}\n"));
        match reason {
            Some(reason) => Output {
                stdout: refuse_like_another(event, &reason),
                stderr: told(&reason),
                status: 2,
                ..Output::default()
            },
            None if answer.notice.is_empty() => Output::default(),
            None => Output { stderr: told(&answer.notice.join("\n")), ..Output::default() },
        }
    }
}

/// What an agent is told that has an event of that name: who copies its events may read its answers. Nothing where
/// there is none.
fn refuse_like_another(event: &Event, reason: &str) -> String {
    let named = |agent: &&dyn Agent| agent.events().iter().any(|spec| spec.name == event.name);
    let Some(agent) = AGENTS.iter().copied().find(named) else { return String::new() };
    let answer = Answer { verb: Some(Verb::Deny), reason: reason.into(), ..Answer::default() };
    let stdout = agent.render(event, &answer).stdout;
    if stdout.starts_with('{') { stdout } else { String::new() }
}

/// The name of a tool that is not Claude Code's: one that means another tool there says nothing of this one.
pub fn own_tool_name(name: &str) -> String {
    match default_agent().facts().tool_names.contains(&name) {
        true => name.to_lowercase(),
        false => name.to_string(),
    }
}

/// A name without its case and punctuation: `toolName` and `tool_name` are one.
fn normalise_name(name: &str) -> String {
    name.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// The text of the first of these fields that there is.
fn first_field<'p>(map: &'p Map<String, Value>, names: &[&str]) -> Option<&'p str> {
    names.iter().find_map(|name| {
        let (_, value) = map.iter().find(|(key, _)| normalise_name(key) == *name)?;
        value.as_str().filter(|text| !text.is_empty())
    })
}

/// The directory that it says.
fn working_directory(map: &Map<String, Value>) -> Option<&str> {
    let (_, value) = map.iter().find(|(key, _)| PLACES.contains(&normalise_name(key).as_str()))?;
    value.get(0).unwrap_or(value).as_str().filter(|path| is_absolute(path))
}

/// The same in one of the objects of the payload.
fn nested_field<'p>(payload: &'p Map<String, Value>, names: &[&str]) -> Option<&'p str> {
    payload.values().filter_map(Value::as_object).find_map(|map| first_field(map, names))
}

/// Has the call happened already? Not so where nothing says it.
fn event_kind(name: &str, payload: &Map<String, Value>) -> Kind {
    let own = normalise_name(name);
    let known = Kind::ALL.iter().copied().filter(|kind| kind.is_tool());
    if let Some(kind) = known.into_iter().find(|kind| normalise_name(kind.name()) == own) {
        return kind;
    }
    let before = ["pre", "before"].iter().any(|word| own.starts_with(word) || own.ends_with(word));
    let after = ["post", "after"].iter().any(|word| own.starts_with(word) || own.ends_with(word))
        || payload.iter().any(|(key, value)| {
            !value.is_null() && RESULTS.contains(&normalise_name(key).as_str())
        });
    if after && !before { Kind::PostToolUse } else { Kind::PreToolUse }
}

/// The inputs of the call that hold a command line: those below the fields that hold a tool's input, where
/// there are such, else any but what describes a server.
fn command_inputs(payload: &Map<String, Value>) -> Vec<Value> {
    let mut whole = Value::Object(payload.clone());
    unpack_nested_json(&mut whole);
    let mut todo = VecDeque::from([(false, &whole)]);
    let mut found: Vec<(bool, &Value)> = Vec::new();
    let mut inputs = false;
    while let Some((inside, value)) = todo.pop_front() {
        match value {
            Value::Array(items) => todo.extend(items.iter().map(|item| (inside, item))),
            Value::Object(map) => {
                let holds = holds_line(map);
                if holds {
                    found.push((inside, value));
                }
                // All that lies in an input is looked at with it.
                if holds && inside {
                    continue;
                }
                for (key, value) in map.iter().filter(|(key, _)| !is_server(key)) {
                    let input = value.is_object() && INPUTS.contains(&normalise_name(key).as_str());
                    inputs |= input;
                    todo.push_back((inside || input, value));
                }
            }
            _ => {}
        }
    }
    let found = found.into_iter().filter(|(inside, _)| *inside || !inputs);
    let call = |(inside, value): (bool, &Value)| {
        let mut call = value.clone();
        if let (false, Value::Object(map)) = (inside, &mut call) {
            // The rest tells of the session.
            map.retain(|key, _| names_line(key) || PARTS.contains(&normalise_name(key).as_str()));
        }
        call
    };
    found.map(call).collect()
}

/// Is it about a server, and not what that is given?
fn is_server(key: &str) -> bool {
    let key = normalise_name(key);
    key.contains("server") || key.starts_with("mcp") && !INPUTS.iter().any(|end| key.ends_with(end))
}

/// Inputs and command lines that are JSON inside of a text become what they hold.
fn unpack_nested_json(whole: &mut Value) {
    let mut todo = vec![whole];
    while let Some(value) = todo.pop() {
        match value {
            Value::Array(items) => todo.extend(items),
            Value::Object(map) => {
                for (key, value) in map.iter_mut() {
                    if let Value::String(text) = &value
                        && text.trim_start().starts_with(['{', '['])
                        && !(names_line(key) && runs_as_line(text))
                        && (INPUTS.contains(&normalise_name(key).as_str()) || names_line(key))
                        && let Ok(inner @ (Value::Object(_) | Value::Array(_))) =
                            serde_json::from_slice(text.as_bytes())
                    {
                        *value = inner;
                    }
                    todo.push(value);
                }
            }
            _ => {}
        }
    }
}
