//! Droid.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// Droid.
pub struct Droid;

const ID: &str = "droid";

impl Agent for Droid {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Droid"
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

use super::wiring::{Directory, EntryForm, Form, Scope, SettingsPlace, Wiring};

/// A file of events, or where there is none the hooks of its settings.
static WIRING: Wiring = Wiring {
    programs: &["droid"],
    traces: &[".factory"],
    directory: Directory { variable: None, home: ".factory" },
    files: &[
        SettingsPlace::shared(Scope::User, "hooks.json", Form::Entries(&EVENTS_ONLY)),
        SettingsPlace::shared(Scope::User, "settings.json", Form::Entries(&EntryForm::GROUPS)),
        SettingsPlace::shared(Scope::Project, ".factory/hooks.json", Form::Entries(&EVENTS_ONLY)),
        SettingsPlace::shared(
            Scope::Project,
            ".factory/settings.json",
            Form::Entries(&EntryForm::GROUPS),
        ),
    ],
    ..Wiring::UNKNOWN
};

static EVENTS_ONLY: EntryForm = EntryForm { hooks: None, ..EntryForm::GROUPS };
