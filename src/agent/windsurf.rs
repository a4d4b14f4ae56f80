//! Windsurf.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// Windsurf.
pub struct Windsurf;

const ID: &str = "windsurf";

impl Agent for Windsurf {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Windsurf"
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

use super::wiring::{Constant, Directory, EntryForm, Form, Scope, SettingsPlace, Wiring};

/// One list of entries for each event; no key for a timeout is known.
static WIRING: Wiring = Wiring {
    programs: &["windsurf"],
    traces: &[".codeium/windsurf"],
    directory: Directory { variable: None, home: ".codeium/windsurf" },
    files: &[
        SettingsPlace::shared(Scope::User, "hooks.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".windsurf/hooks.json", Form::Entries(&ENTRIES)),
    ],
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm =
    EntryForm { keys: &[("show_output", Constant::Flag(true))], timeout: None, ..EntryForm::FLAT };
