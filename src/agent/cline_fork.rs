//! Cline with Claude Code's hooks.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// Cline with Claude Code's hooks.
pub struct ClineFork;

const ID: &str = "cline-fork";

impl Agent for ClineFork {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Cline with Claude Code's hooks"
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

use super::wiring::{CallForm, Directory, EntryForm, Form, Matcher, Scope, SettingsPlace, Wiring};

/// Claude Code's shape; a command line is split at blanks, so a list it is, and a matcher must be there.
/// Nothing tells it from Cline, so it is never found by itself.
static WIRING: Wiring = Wiring {
    directory: Directory { variable: None, home: ".cline" },
    files: &[
        SettingsPlace::shared(Scope::User, "hooks.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::User, "settings.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".cline/settings.json", Form::Entries(&ENTRIES)),
    ],
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm =
    EntryForm { call: CallForm::List, matcher: Matcher::Always, ..EntryForm::GROUPS };
