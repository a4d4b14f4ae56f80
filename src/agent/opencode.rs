//! OpenCode.

use serde_json::{Map, Value};

use super::{Agent, EventSpec, Mark, Output, default_agent};
use crate::event::{Event, Kind};
use crate::verdict::Answer;
use crate::watchdog::FailureForm;

/// OpenCode.
pub struct OpenCode;

const ID: &str = "opencode";

impl Agent for OpenCode {
    fn id(&self) -> &'static str {
        ID
    }

    fn title(&self) -> &'static str {
        "OpenCode"
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

use super::wiring::{Directory, Form, PluginForm, Scope, SettingsPlace, Wiring};

/// A plugin of hookctl's own: it has no other hooks.
static WIRING: Wiring = Wiring {
    programs: &["opencode"],
    traces: &[".config/opencode", ".opencode"],
    directory: Directory { variable: Some(crate::env::XDG_CONFIG_HOME), home: ".config" },
    files: &[
        SettingsPlace::own(
            Scope::User,
            "opencode/plugins/hookctl.js",
            Form::Plugin(&PluginForm { template: PLUGIN }),
        ),
        SettingsPlace::own(
            Scope::Project,
            ".opencode/plugins/hookctl.js",
            Form::Plugin(&PluginForm { template: PLUGIN }),
        ),
    ],
    notes: &["OpenCode loads plugins when it starts: restart it."],
    ..Wiring::UNKNOWN
};

const PLUGIN: &str = include_str!("opencode/plugin.js");
