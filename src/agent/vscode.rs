//! VS Code.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// VS Code.
pub struct VsCode;

const ID: &str = "vscode";

impl Agent for VsCode {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "VS Code"
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

use super::wiring::{Directory, Form, Reads, Scope, SettingsPlace, Wiring};

/// It reads Copilot's files of hooks and Claude Code's settings, and has none of its own.
static WIRING: Wiring = Wiring {
    programs: &["code"],
    traces: &[".vscode", ".config/Code", "Library/Application Support/Code"],
    directory: Directory { variable: None, home: ".copilot" },
    files: &[
        SettingsPlace::own(
            Scope::User,
            "hooks/hookctl.json",
            Form::Entries(&super::copilot::ENTRIES),
        ),
        SettingsPlace::own(
            Scope::Project,
            ".github/hooks/hookctl.json",
            Form::Entries(&super::copilot::ENTRIES),
        ),
    ],
    reads: &[
        Reads { agent: "copilot", scopes: &[Scope::User, Scope::Project] },
        Reads { agent: "claude", scopes: &[Scope::User, Scope::Project, Scope::Local] },
    ],
    notes: &[
        "Hooks of agents are a preview in VS Code: `chat.hookFilesLocations` says which files count.",
    ],
    ..Wiring::UNKNOWN
};
