//! What hookctl itself adds to an event that leaves: why it does, and how it ended.

use serde_json::{Value, json};

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
            Note::Nothing => None,
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
