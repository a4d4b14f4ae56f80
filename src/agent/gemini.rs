//! Gemini CLI.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// Gemini CLI.
pub struct Gemini;

const ID: &str = "gemini";

impl Agent for Gemini {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Gemini CLI"
    }

    fn detect(&self, _payload: &Map<String, Value>) -> Option<Mark> {
        None
    }

    fn parse(&self, payload: Map<String, Value>, named: Option<&str>) -> Event {
        Event { agent: ID, ..default_agent().parse(payload, named) }
    }

    fn render(&self, event: &Event, answer: &Answer) -> Output {
        default_agent().render(event, answer)
    }

    fn failure_form(&self, kind: Kind) -> FailureForm {
        default_agent().failure_form(kind)
    }

    fn events(&self) -> &'static [EventSpec] {
        &[]
    }

    fn wiring(&self) -> Option<&'static super::wiring::Wiring> {
        Some(&WIRING)
    }
}

use super::wiring::{Directory, EntryForm, Form, Matcher, Scope, SettingsPlace, Unit, Wiring};

/// Groups as Claude Code has them, with names and in milliseconds.
static WIRING: Wiring = Wiring {
    programs: &["gemini"],
    traces: &[".gemini"],
    directory: Directory { variable: None, home: ".gemini" },
    files: &[
        SettingsPlace::shared(Scope::User, "settings.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".gemini/settings.json", Form::Entries(&ENTRIES)),
    ],
    notes: &["Where folder trust is on, Gemini CLI runs no hook at all in a folder without it."],
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm = EntryForm {
    timeout: Some(("timeout", Unit::Milliseconds)),
    named: true,
    matcher: Matcher::Tools,
    comments: true,
    ..EntryForm::GROUPS
};
