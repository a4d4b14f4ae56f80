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
}
