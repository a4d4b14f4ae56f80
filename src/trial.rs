//! Tests of rules: each case becomes an event, is judged dry, and held against what was expected.

use std::path::Path;
use std::sync::Arc;

use serde_json::Value;

use crate::config::Config;
use crate::dry::{self, Dry};
use crate::effect::{Place, windows};
use crate::event::{Event, Kind};
use crate::marks::Session;
use crate::paths::Paths;
use crate::rule::case::{Case, CaseCall};
use crate::rule::shipped;
use crate::verdict::Verb;

/// What the cases are judged by, and where.
#[derive(Debug)]
pub struct Ground<'a> {
    paths: &'a Paths,
    config: &'a Config,
    place: Place,
}

/// What came of a case.
#[derive(Debug)]
pub struct CaseOutcome {
    /// The call in short: as it was written, or the event.
    pub what: String,
    /// The event as it was judged.
    pub event: Event,
    /// The verdict; None = silence.
    pub verb: Option<Verb>,
    /// The rule that gave it.
    pub rule: String,
    /// Its reason.
    pub reason: String,
    /// What was left undone on the way: commands that rules would run.
    pub notes: Vec<String>,
    /// Is it what the test expects?
    pub passed: bool,
}

impl<'a> Ground<'a> {
    /// The rules of `config` in a project. `env` is what shells will find in their environment.
    pub fn new(
        paths: &'a Paths,
        config: &'a Config,
        project: &Path,
        env: Option<fn(&str) -> Option<String>>,
    ) -> Ground<'a> {
        let text = windows::native_text;
        let mut place = Place {
            cwd: text(project),
            project: text(project),
            home: text(&paths.home),
            guarded: shipped::guarded_files(paths),
            env,
            read: Some(crate::files::read),
            ..Place::default()
        };
        config.complete_place(&mut place);
        Ground { paths, config, place }
    }

    /// Judges one case.
    pub fn run_case(&self, case: &Case) -> CaseOutcome {
        let project = Path::new(&self.place.project);
        let session = Some(Arc::new(Session::assumed(case.session)));
        let mut place = Place { session, ..self.place.clone() };
        if let Some(cwd) = &case.cwd {
            place.cwd = dry::absolute_path(cwd, project, &self.paths.home);
        }
        let kind = case.event.unwrap_or(Kind::PreToolUse);
        let payload = match &case.call {
            CaseCall::Main(tool, value) => {
                let absolute =
                    |path: &str| dry::absolute_path(path, Path::new(&place.cwd), &self.paths.home);
                dry::tool_call_payload(
                    kind,
                    tool,
                    dry::tool_input(tool, value, &absolute),
                    &place.cwd,
                )
            }
            CaseCall::Tool(tool, input) => {
                dry::tool_call_payload(kind, tool, Value::Object(input.clone()), &place.cwd)
            }
            CaseCall::Payload(given) => {
                let mut payload = given.clone();
                let own = payload.get("cwd").and_then(Value::as_str).unwrap_or_default();
                if case.cwd.is_none() && !own.is_empty() {
                    place.cwd = dry::absolute_path(own, project, &self.paths.home);
                }
                payload.insert("cwd".into(), place.cwd.as_str().into());
                payload
            }
        };
        let parsed = dry::parse_event(payload, case.event.map(Kind::name));
        let dry = self.judge_event(parsed, place);
        let Dry { event, judgement, .. } = dry;
        let verb = judgement.answer.verb;
        CaseOutcome {
            what: match &case.call {
                CaseCall::Main(_, value) => value.clone(),
                _ => event_summary(&event),
            },
            passed: case.wanted.accepts_verdict(verb) && case.accepts_rule(&judgement.rule),
            event,
            verb,
            rule: judgement.rule,
            reason: verb.map(|_| judgement.answer.reason).unwrap_or_default(),
            notes: judgement.notes,
        }
    }

    /// Judges any event as a case is judged: a pause does not count.
    pub fn judge_event(
        &self,
        parsed: (&'static dyn crate::agent::Agent, Event),
        place: Place,
    ) -> Dry {
        Dry::judge(parsed, place, self.config, self.paths, false)
    }

    /// The place of these cases, with another directory.
    pub fn place_at(&self, cwd: &str) -> Place {
        Place { cwd: windows::native_text(Path::new(cwd)), ..self.place.clone() }
    }
}

/// An event in short.
fn event_summary(event: &Event) -> String {
    if let Some(what) = event.call_summary().filter(|what| !what.is_empty()) {
        return what.to_string();
    }
    if !event.kind.is_tool() {
        let prompt = event.prompt().unwrap_or_default();
        return format!("{} {prompt}", event.name).trim_end().to_string();
    }
    match event.input.as_object().is_some_and(|input| !input.is_empty()) {
        true => format!("{} {}", event.tool, event.input),
        false => event.tool.clone(),
    }
}
