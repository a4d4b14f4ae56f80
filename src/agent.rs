//! The agents: one file each, one trait, one static table.

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Map, Value};

use crate::event::{Event, Kind};
use crate::text;
use crate::verdict::{Answer, Verb};
use crate::watchdog::{CANNOT_JUDGE, FailureForm};
use fingerprint::Fingerprint;
use wiring::Wiring;

mod call;
pub mod claude;
pub mod cline;
pub mod cline_fork;
pub mod codex;
pub mod copilot;
pub mod cursor;
pub mod droid;
mod fields;
pub mod fingerprint;
pub mod gemini;
pub mod kiro;
pub mod opencode;
mod patch;
pub mod qwen;
mod reply;
pub mod settled;
mod shaped;
mod stranger;
pub mod vscode;
pub mod windsurf;
pub mod wiring;

/// How sure a payload is of the agent that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Mark {
    /// Nothing speaks against it: the default agent.
    Default,
    /// Overridden by `--agent`.
    Weak,
    /// Overrides `--agent`: what only this agent writes.
    Strong,
}

/// What leaves the process.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Output {
    /// One JSON object, plain text where the event wants it, or nothing.
    pub stdout: String,
    /// Only ever a last resort: what an agent shows beside exit status 2.
    pub stderr: String,
    /// 0 or 2.
    pub status: u8,
    /// The reason of an answer that stops something: said with exit status 2 where stdout reaches nobody.
    pub refusal: Option<String>,
}

impl Output {
    /// This object. `refusal` = why it stops something.
    fn of_object(object: Map<String, Value>, refusal: Option<String>) -> Output {
        Output { stdout: Value::Object(object).to_string(), refusal, ..Output::default() }
    }
}

/// What an event of an agent can do, for `check`, `explain --event` and the README's table.
#[derive(Debug, Clone, Copy)]
pub struct EventSpec {
    /// The event.
    pub kind: Kind,
    /// What the agent calls it, in its payloads and settings.
    pub name: &'static str,
    /// The fields of its input beside the common ones.
    pub input: &'static str,
    /// What its answer may carry and what blocks.
    pub output: &'static str,
    /// The verbs that have an effect here.
    pub verbs: &'static [Verb],
    /// Can the input be rewritten?
    pub rewrite: bool,
    /// Can the tool's result be replaced?
    pub replace: bool,
    /// Can text be told to the model?
    pub context: bool,
    /// Text for the model that cannot be told here is kept for the event after the tool.
    pub holds_context: bool,
    /// The field that a matcher of the agent's settings is tested on.
    pub matched: Option<&'static str>,
    /// The timeout that install writes, in seconds.
    pub timeout: u32,
    /// When the agent gives up on an entry that names no timeout.
    pub patience: Duration,
    /// Registered by `install` even when no rule needs it.
    pub by_default: bool,
}

impl EventSpec {
    /// An event that takes no key but the common ones and stops nothing.
    pub const fn new(kind: Kind) -> EventSpec {
        EventSpec {
            kind,
            name: kind.name(),
            input: "",
            output: "",
            verbs: &[],
            rewrite: false,
            replace: false,
            context: false,
            holds_context: false,
            matched: None,
            timeout: 60,
            patience: Duration::from_secs(600),
            by_default: false,
        }
    }

    /// By that name in the agent's payloads and settings.
    pub const fn named(self, name: &'static str) -> EventSpec {
        EventSpec { name, ..self }
    }

    /// With these fields in its input.
    pub const fn input(self, input: &'static str) -> EventSpec {
        EventSpec { input, ..self }
    }

    /// With that in its answer.
    pub const fn output(self, output: &'static str) -> EventSpec {
        EventSpec { output, ..self }
    }

    /// With these verbs.
    pub const fn verbs(self, verbs: &'static [Verb]) -> EventSpec {
        EventSpec { verbs, ..self }
    }

    /// Its input can be rewritten.
    pub const fn rewrites(self) -> EventSpec {
        EventSpec { rewrite: true, ..self }
    }

    /// The tool's result can be replaced.
    pub const fn replaces(self) -> EventSpec {
        EventSpec { replace: true, ..self }
    }

    /// Text can be told to the model.
    pub const fn tells(self) -> EventSpec {
        EventSpec { context: true, ..self }
    }

    /// Text for the model is kept for the event after the tool, which can tell it.
    pub const fn holds_context(self) -> EventSpec {
        EventSpec { holds_context: true, ..self }
    }

    /// Matchers of the agent's settings are tested on that field.
    pub const fn matched(self, field: &'static str) -> EventSpec {
        EventSpec { matched: Some(field), ..self }
    }

    /// With that timeout, in seconds.
    pub const fn timeout(self, timeout: u32) -> EventSpec {
        EventSpec { timeout, ..self }
    }

    /// The agent gives up after that time, where an entry names none.
    pub const fn patience(self, patience: Duration) -> EventSpec {
        EventSpec { patience, ..self }
    }

    /// Registered even when no rule needs it.
    pub const fn by_default(self) -> EventSpec {
        EventSpec { by_default: true, ..self }
    }
}

/// What is known of an agent, as data.
#[derive(Debug)]
pub struct AgentFacts {
    /// The word of `--agent` and of the `agent` condition.
    pub id: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// Environment variables that it sets for its hooks and no other agent does. They leak into agents that it
    /// starts, so they count least.
    pub environment: &'static [&'static str],
    /// The events it has and what each can do.
    pub events: &'static [EventSpec],
    /// The fields that any event's input may have.
    pub common_input: &'static str,
    /// The keys that any event's answer may have.
    pub common_output: &'static str,
    /// The names of its own tools.
    pub tool_names: &'static [&'static str],
    /// What it sends before a shell command, for `hookctl status --verify`: JSON with `{event}`, `{session}`, `{cwd}` and
    /// `{command}` for whole texts.
    pub sample: &'static str,
    /// How it is told where hookctl itself cannot judge.
    pub failure: FailureForms,
    /// Where its settings are and how hookctl stands in them; none = hookctl does not know them.
    pub wiring: Option<&'static Wiring>,
}

impl AgentFacts {
    /// An agent of which nothing is known.
    pub const UNKNOWN: AgentFacts = AgentFacts {
        id: "",
        title: "",
        environment: &[],
        events: &[],
        common_input: "",
        common_output: "",
        tool_names: &[],
        sample: r#"{"hook_event_name":"{event}","session_id":"{session}","cwd":"{cwd}","tool_name":"Bash","tool_input":{"command":"{command}"}}"#,
        failure: FailureForms { call: FailureForm::Block, rest: FailureForm::Silence, silent: &[] },
        wiring: None,
    };

    /// What an event of that kind can do; unknown events can do nothing.
    pub fn event_spec(&self, kind: Kind) -> Option<&'static EventSpec> {
        self.events.iter().find(|spec| spec.kind == kind)
    }

    /// What this event can do: of several of one kind, that of its name.
    pub fn spec_of(&self, event: &Event) -> Option<&'static EventSpec> {
        let named = self.events.iter().find(|spec| spec.name == event.name);
        named.or_else(|| self.event_spec(event.kind))
    }

    /// The same; of an event that is not known, nothing.
    pub fn spec_or_nothing(&self, event: &Event) -> EventSpec {
        self.spec_of(event).copied().unwrap_or(EventSpec::new(event.kind))
    }
}

/// How an agent is told where hookctl itself cannot judge: unreadable stdin, a crash, no time left.
#[derive(Debug)]
pub struct FailureForms {
    /// Of a call, which could do harm: it is asked about, or refused where nobody can be asked.
    pub call: FailureForm,
    /// Of all else, which goes on: a notice for the human where one can be shown.
    pub rest: FailureForm,
    /// The events where nothing is said.
    pub silent: &'static [Kind],
}

impl FailureForms {
    /// That of an event of this kind.
    pub fn of(&self, kind: Kind) -> FailureForm {
        match kind {
            Kind::PreToolUse => self.call,
            kind if self.silent.contains(&kind) => FailureForm::Silence,
            _ => self.rest,
        }
    }
}

/// One coding agent: what is known of it, and how its payloads and answers are read and written.
pub trait Agent: Sync {
    /// What is known of it.
    fn facts(&self) -> &'static AgentFacts;

    /// Did this agent write the payload?
    fn detect(&self, payload: &Fingerprint) -> Option<Mark>;

    /// Does the name of a server's tool tell which server it is of?
    fn tells_servers(&self) -> bool {
        true
    }

    /// Can this agent surely not have written the payload, whatever `--agent` says?
    fn excludes(&self, _payload: &Fingerprint) -> bool {
        false
    }

    /// The payload as an event. `named` is `--event`, for payloads that do not name theirs.
    fn parse(&self, payload: Map<String, Value>, named: Option<&str>) -> Event;

    /// The answer in the agent's own form: what this event cannot express becomes what is
    /// stricter, or silence (contracts: verbs).
    fn render(&self, event: &Event, answer: &Answer) -> Output;

    /// How it is told of an event of that kind that hookctl itself cannot judge.
    fn failure_form(&self, kind: Kind) -> FailureForm {
        self.facts().failure.of(kind)
    }

    /// What this event can do: of several of one kind, that of its name.
    fn spec_of(&self, event: &Event) -> Option<&'static EventSpec> {
        self.facts().spec_of(event)
    }
}

/// What follows from it, once for all of them: a trait's own methods are compiled for each.
impl dyn Agent + '_ {
    /// That failure's answer, for this cause.
    pub fn failure_output(&self, kind: Kind, cause: &str) -> Output {
        let message = text::make_visible(&format!("{CANNOT_JUDGE}{cause}"));
        let json = |before: &str, after: &str| {
            let text = Value::from(message.as_str()).to_string();
            let stdout = format!("{before}{}{after}", &text[1..text.len() - 1]);
            Output { stdout, ..Output::default() }
        };
        match self.failure_form(kind) {
            FailureForm::Silence => Output::default(),
            FailureForm::Notice(before, after) => json(before, after),
            FailureForm::Stop(before, after) => {
                Output { refusal: Some(message.clone()), ..json(before, after) }
            }
            FailureForm::Block => Output { stderr: message, status: 2, ..Output::default() },
        }
    }

    /// [`AgentFacts::id`].
    pub fn id(&self) -> &'static str {
        self.facts().id
    }

    /// [`AgentFacts::title`].
    pub fn title(&self) -> &'static str {
        self.facts().title
    }

    /// Is that one of its events before a tool?
    pub fn is_gate(&self, event: &str) -> bool {
        self.events().iter().any(|spec| spec.kind == Kind::PreToolUse && spec.name == event)
    }

    /// [`AgentFacts::events`].
    pub fn events(&self) -> &'static [EventSpec] {
        self.facts().events
    }

    /// [`AgentFacts::wiring`].
    pub fn wiring(&self) -> Option<&'static Wiring> {
        self.facts().wiring
    }

    /// What an event of that kind can do; unknown events can do nothing.
    pub fn event_spec(&self, kind: Kind) -> Option<&'static EventSpec> {
        self.facts().event_spec(kind)
    }

    /// The settings files that it reads for a session in `cwd`, its hooks among what they say.
    pub fn settings_files(&self, home: &Path, cwd: &Path, root: &Path) -> Vec<PathBuf> {
        let resolve = |wiring: &'static Wiring| {
            let read = wiring.files.iter().filter(|place| place.form.entries().is_some());
            read.map(|place| wiring.resolve(place, home, cwd, root))
        };
        self.wiring().into_iter().flat_map(resolve).collect()
    }
}

/// Every agent, the default one first. Of marks that are equally strong the first counts, so the order is that of
/// the contracts' table.
pub static AGENTS: &[&dyn Agent] = &[
    &claude::Claude,
    &opencode::OpenCode,
    &cursor::Cursor,
    &cline::Cline,
    &windsurf::Windsurf,
    &gemini::Gemini,
    &codex::Codex,
    &vscode::VsCode,
    &copilot::Copilot,
    &kiro::Kiro,
    &qwen::Qwen,
    &droid::Droid,
    &cline_fork::ClineFork,
];

/// The id of an agent that is none of them.
pub const UNKNOWN: &str = stranger::ID;

/// Whose events they are unless something says otherwise; rules call every agent's tools by its names.
pub fn default_agent() -> &'static dyn Agent {
    AGENTS[0]
}

/// The agent of that id.
pub fn by_id(id: &str) -> Option<&'static dyn Agent> {
    AGENTS.iter().copied().find(|agent| agent.id() == id)
}

/// The agent that an event came from, known or not.
pub fn from_event(event: &Event) -> &'static dyn Agent {
    by_id(event.agent).unwrap_or(&stranger::Stranger)
}

/// Did the tool succeed? None where nothing tells: an agent without an event for failures sends the same for either.
pub fn tool_succeeded(event: &Event) -> Option<bool> {
    let tells_apart = || from_event(event).event_spec(Kind::PostToolUseFailure).is_some();
    event
        .told_success()
        .or_else(|| (event.kind == Kind::PostToolUse && tells_apart()).then_some(true))
}

/// The kind of an event, by the name that any agent has for it.
pub fn kind_of_name(name: &str) -> Kind {
    match Kind::from_name(name) {
        Kind::Other => {
            let mut specs = AGENTS.iter().flat_map(|agent| agent.events());
            specs.find(|spec| spec.name == name).map_or(Kind::Other, |spec| spec.kind)
        }
        kind => kind,
    }
}

/// The event of a payload, for a hook that was registered for that event. A name in the payload that no agent has says
/// less than what was registered: an agent's new name for an old event is no way past its rules.
pub fn parse_event(
    agent: &'static dyn Agent,
    mut payload: Map<String, Value>,
    registered: Option<&str>,
) -> Event {
    /// Where payloads name their event.
    const NAMES: [&str; 3] = ["hook_event_name", "hookEventName", "agent_action_name"];
    let known = |name: &str| kind_of_name(name) != Kind::Other;
    if registered.is_some_and(known) {
        for key in NAMES {
            let name = payload.get(key).and_then(Value::as_str);
            if name.is_some_and(|name| !known(name)) {
                payload.remove(key);
            }
        }
    }
    agent.parse(payload, registered)
}

/// Whose payload is this? A strong mark beats `--agent`, `--agent` beats a weak one, unless the payload cannot be
/// that agent's; the environment counts only where nothing else speaks. What fits none of them and holds a
/// command line is a stranger's, whatever `--agent` says.
pub fn detect_agent(payload: &Map<String, Value>, flag: Option<&str>) -> &'static dyn Agent {
    let payload = &Fingerprint::of(payload);
    let marks = AGENTS.iter().filter_map(|&agent| Some((agent.detect(payload)?, agent)));
    let best = marks.reduce(|best, one| if one.0 > best.0 { one } else { best });
    match best {
        Some((Mark::Strong, agent)) => agent,
        _ if stranger::Stranger.detect(payload).is_some() => &stranger::Stranger,
        _ => flag
            .and_then(by_id)
            .filter(|agent| !agent.excludes(payload))
            .or(best.map(|(_, agent)| agent))
            .or_else(agent_of_environment)
            .unwrap_or(default_agent()),
    }
}

/// Whose hook this process is, as far as the environment says.
fn agent_of_environment() -> Option<&'static dyn Agent> {
    let set = |agent: &&dyn Agent| {
        agent.facts().environment.iter().any(|name| crate::env::get(name).is_some())
    };
    AGENTS.iter().copied().find(|agent| set(agent))
}
