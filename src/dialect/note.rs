//! What hookctl itself adds to an event that leaves: why it does, and how it ended.

use std::path::Path;

use serde_json::{Value, json};

use crate::env;
use crate::verdict::Verb;

/// What hookctl adds to an event.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Note {
    /// Nothing: the server is asked.
    #[default]
    Nothing,
    /// What the call would do: a human is asked.
    Effects(String),
    /// That it is a test.
    Test,
    /// How it ended: the server is told.
    Ended(Ending),
    /// How hookctl stands: a collector is told, once a session.
    Heartbeat(Heartbeat),
}

/// Whose event it is, and where.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Origin {
    /// The user, as their home directory is called.
    pub user: String,
    /// The machine's name.
    pub host: String,
}

impl Origin {
    /// Of the user with that home, on this machine.
    pub fn of_machine(home: &Path) -> Origin {
        let user = home.file_name().unwrap_or_default().to_string_lossy().into_owned();
        Origin { user, host: env::host_name() }
    }
}

/// How hookctl stands on a machine.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Heartbeat {
    /// Whose hookctl it is.
    pub origin: Origin,
    /// Version and hash of the bundle that the managed rules are from; empty where there is none.
    pub bundle: String,
    /// The agents that have hookctl.
    pub agents: Vec<String>,
    /// Why the guard is not in effect; empty where it is.
    pub problems: Vec<String>,
}

/// How an event ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ending {
    /// The verdict; None = no rule spoke.
    pub verb: Option<Verb>,
    /// The rule that gave it.
    pub rule: String,
    /// Why.
    pub reason: String,
    /// Was hookctl paused?
    pub paused: bool,
    /// Version and hash of the bundle that the managed rules are from; empty where there is none.
    pub bundle: String,
    /// Whose event it was.
    pub origin: Origin,
}

impl Ending {
    /// The verdict's word.
    pub fn verdict_name(&self) -> &'static str {
        self.verb.map_or("silent", Verb::name)
    }
}

impl Note {
    /// As an object, which most protocols send under `hookctl`; None where there is nothing to add.
    pub fn to_json(&self) -> Option<Value> {
        match self {
            Note::Nothing | Note::Heartbeat(_) => None,
            Note::Effects(effects) => Some(json!({ "effects": effects })),
            Note::Test => Some(json!({ "test": true })),
            Note::Ended(ending) => {
                let mut out = json!({ "verdict": ending.verdict_name() });
                if ending.verb.is_some() {
                    out["rule"] = ending.rule.as_str().into();
                    out["reason"] = ending.reason.as_str().into();
                }
                if ending.paused {
                    out["paused"] = true.into();
                }
                Some(out)
            }
        }
    }

    /// How the event ended, where that is told.
    pub fn ending(&self) -> Option<&Ending> {
        match self {
            Note::Ended(ending) => Some(ending),
            _ => None,
        }
    }

    /// How the event ended, in a word; a test ended in nothing.
    pub fn decision_name(&self) -> &'static str {
        self.ending().map_or("test", Ending::verdict_name)
    }
}
