//! Kiro.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// Kiro.
pub struct Kiro;

const ID: &str = "kiro";

impl Agent for Kiro {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Kiro"
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

/// Each of its agents has a file with hooks of its own; hookctl makes none.
static WIRING: Wiring = Wiring {
    programs: &["kiro-cli", "kiro"],
    traces: &[".kiro"],
    directory: Directory { variable: None, home: ".kiro" },
    files: &[
        SettingsPlace::shared(Scope::User, "agents/*.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".kiro/agents/*.json", Form::Entries(&ENTRIES)),
    ],
    notes: &["Kiro's hooks stand in the file of each agent: install again after you make another."],
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm =
    EntryForm { timeout: Some(("timeout_ms", Unit::Milliseconds)), ..EntryForm::FLAT };
