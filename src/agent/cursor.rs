//! Cursor.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// Cursor.
pub struct Cursor;

const ID: &str = "cursor";

impl Agent for Cursor {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Cursor"
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
    Constant, Directory, EntryForm, FailClosed, Form, Reads, Scope, SettingsPlace, Wiring,
};

/// One list of entries for each event; it reads a project's settings of Claude Code as well.
static WIRING: Wiring = Wiring {
    programs: &["cursor", "cursor-agent"],
    traces: &[".cursor"],
    directory: Directory { variable: None, home: ".cursor" },
    files: &[
        SettingsPlace::shared(Scope::User, "hooks.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".cursor/hooks.json", Form::Entries(&ENTRIES)),
    ],
    reads: &[Reads { agent: "claude", scopes: &[Scope::Project, Scope::Local] }],
    notes: &["A project's hooks run only in a workspace that is trusted."],
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm = EntryForm {
    top: &[("version", Constant::Number(1))],
    fail_closed: Some(&FailClosed {
        key: "failClosed",
        value: Constant::Flag(true),
        kinds: &[Kind::PreToolUse, Kind::PermissionRequest, Kind::UserPromptSubmit],
    }),
    ..EntryForm::FLAT
};
