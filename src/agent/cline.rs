//! Cline.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// Cline.
pub struct Cline;

const ID: &str = "cline";

impl Agent for Cline {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Cline"
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

use super::wiring::{Form, Scope, ScriptForm, SettingsPlace, Wiring};

/// One script for each event, in the only directories that its CLI and its extension both read.
static WIRING: Wiring = Wiring {
    programs: &["cline"],
    traces: &[".cline", "Documents/Cline"],
    files: &[
        SettingsPlace::own(Scope::User, "Documents/Cline/Hooks", Form::Scripts(&SCRIPTS)),
        SettingsPlace::own(Scope::Project, ".clinerules/hooks", Form::Scripts(&SCRIPTS)),
    ],
    notes: &["In VS Code, Cline's setting `hooksEnabled` must be on."],
    ..Wiring::UNKNOWN
};

/// Its CLI takes a program under an event's name for a bash script, so a script it is.
#[cfg(not(windows))]
static SCRIPTS: ScriptForm = ScriptForm {
    extension: "",
    template: "#!/bin/sh\n# managed-by: hookctl (do not edit; remove with `{uninstall}`)\nexec {command}\n",
};

/// PowerShell hands its own standard input to what it calls.
#[cfg(windows)]
static SCRIPTS: ScriptForm = ScriptForm {
    extension: ".ps1",
    template: "# managed-by: hookctl (do not edit; remove with `{uninstall}`)\r\n& {command}\r\nexit $LASTEXITCODE\r\n",
};
