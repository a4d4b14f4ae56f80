//! Codex CLI.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// Codex CLI.
pub struct Codex;

const ID: &str = "codex";

impl Agent for Codex {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "Codex CLI"
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

use super::wiring::{Consent, Directory, EntryForm, Form, Scope, SettingsPlace, Wiring};

/// Groups as Claude Code has them; each hook runs only once the user approved it, by its place.
static WIRING: Wiring = Wiring {
    programs: &["codex"],
    traces: &[".codex"],
    directory: Directory { variable: Some(crate::env::CODEX_HOME), home: ".codex" },
    files: &[
        SettingsPlace::shared(Scope::User, "hooks.json", Form::Entries(&ENTRIES)),
        SettingsPlace::shared(Scope::Project, ".codex/hooks.json", Form::Entries(&ENTRIES)),
    ],
    consent: Some(Consent {
        file: "config.toml",
        review: "open Codex and approve the hooks when it asks, or under `/hooks`",
    }),
    ..Wiring::UNKNOWN
};

static ENTRIES: EntryForm = EntryForm { positional: true, ..EntryForm::GROUPS };
