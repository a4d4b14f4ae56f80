//! The rules inside the binary: config/default.toml, cut into rules at build time.
//!
//! A shipped rule's text is only parsed when the call at hand could concern it: the build notes
//! each rule's events, effects and programs beside its text.

use std::path::Path;

use crate::effect::{Analysis, Grade, Word};
use crate::event::{Event, Kind};

use super::{Layer, Rule, file};

/// A shipped rule and what the build knows of it.
#[derive(Debug)]
pub struct Shipped {
    /// Its id.
    pub id: &'static str,
    /// The pack it belongs to.
    pub pack: &'static str,
    /// Its events; empty = those of a call that has not happened yet.
    pub on: &'static [&'static str],
    /// The words of its `effect`; empty = any.
    pub effects: &'static [&'static str],
    /// The programs of its `command`, where all are plain names; empty = any.
    pub programs: &'static [&'static str],
    /// Its TOML, header included.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

impl Shipped {
    /// Could the rule speak of this event? A no is certain, a yes is not.
    pub fn concerns(&self, event: &Event, analysis: &Analysis) -> bool {
        let named = if self.on.is_empty() {
            matches!(event.kind, Kind::PreToolUse | Kind::PermissionRequest)
        } else {
            self.on.contains(&event.kind.name())
        };
        named
            && (self.effects.is_empty()
                || analysis.effects.iter().any(|effect| {
                    effect.grade == Grade::Unknown || self.effects.contains(&effect.word.text())
                }))
            && (self.programs.is_empty()
                || analysis.commands.iter().any(|command| {
                    command.name.is_empty() || self.programs.contains(&command.name.as_str())
                })
                || analysis
                    .effects
                    .iter()
                    .any(|effect| effect.grade == Grade::Unknown && effect.word == Word::Execute))
    }

    /// The rule itself.
    pub fn rule(&self) -> Option<Rule> {
        let read = file::read(self.text, Path::new("shipped"), Layer::Pack, None);
        debug_assert!(!read.has_errors(), "{:?}", read.faults);
        read.rules.into_iter().next()
    }
}
