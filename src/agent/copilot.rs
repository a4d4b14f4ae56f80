//! Copilot CLI.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// Copilot CLI.
pub struct Copilot;

const ID: &str = "copilot";

impl Agent for Copilot {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Copilot CLI"
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

use super::wiring::{
    Constant, Directory, EntryForm, Form, Reads, Scope, SettingsPlace, Unit, Wiring,
};

/// A file of hookctl's own among its hooks; it reads a project's settings of Claude Code as well.
static WIRING: Wiring = Wiring {
    programs: &["copilot"],
    traces: &[".copilot"],
    directory: Directory { variable: Some(crate::env::COPILOT_HOME), home: ".copilot" },
    files: &[
        SettingsPlace::own(Scope::User, "hooks/hookctl.json", Form::Entries(&ENTRIES)),
        SettingsPlace::own(Scope::Project, ".github/hooks/hookctl.json", Form::Entries(&ENTRIES)),
    ],
    reads: &[Reads { agent: "claude", scopes: &[Scope::Project, Scope::Local] }],
    notes: &["A project's hooks run only in a folder that is trusted."],
    ..Wiring::UNKNOWN
};

/// VS Code reads the same file, and takes `timeout` for what `timeoutSec` is here.
pub(super) static ENTRIES: EntryForm = EntryForm {
    top: &[("version", Constant::Number(1))],
    keys: &[("type", Constant::Text("command"))],
    timeout: Some(("timeoutSec", Unit::Seconds)),
    ..EntryForm::FLAT
};
