//! Qwen Code.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// Qwen Code.
pub struct Qwen;

const ID: &str = "qwen";

impl Agent for Qwen {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Qwen Code"
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

use super::wiring::{Directory, EntryForm, Form, Scope, SettingsPlace, Unit, Wiring};

/// Groups as Claude Code has them, with names and in milliseconds.
static WIRING: Wiring = Wiring {
    programs: &["qwen"],
    traces: &[".qwen"],
    directory: Directory { variable: None, home: ".qwen" },
    files: &[
        SettingsPlace::shared(Scope::User, "settings.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".qwen/settings.json", Form::Entries(&ENTRIES)),
    ],
    notes: &["A project's hooks run only in a folder that is trusted."],
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm = EntryForm {
    timeout: Some(("timeout", Unit::Milliseconds)),
    named: true,
    comments: true,
    ..EntryForm::GROUPS
};
