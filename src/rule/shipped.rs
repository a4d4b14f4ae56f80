//! The rules inside the binary: config/default.toml, cut into rules at build time.
//!
//! A shipped rule's text is only parsed when the call at hand could concern it: the build notes
//! each rule's events, effects and programs beside its text.

use std::path::Path;
use std::rc::Rc;

use crate::effect::{Analysis, Effect, Extent, Grade, SubCommand, Target};
use crate::event::Event;

use super::path::FOLD;
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
    /// The longest literal part of each of its path patterns; empty where the rule has none.
    pub needles: &'static [&'static str],
    /// It speaks of what is not understood, and of nothing else.
    pub unknown: bool,
    /// Its TOML, header included.
    pub text: &'static str,
}

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

impl Shipped {
    /// Could the rule speak of this event? A no is certain, a yes is not.
    pub fn concerns(&self, event: &Event, analysis: &Analysis) -> bool {
        let named = if self.on.is_empty() {
            event.kind.is_gate()
        } else {
            self.on.contains(&event.kind.name())
        };
        if !named {
            return false;
        }
        if self.unknown {
            return analysis.effects.iter().any(|effect| effect.grade == Grade::Unknown);
        }
        let effect = |effect: &Effect| {
            let word = self.effects.is_empty() || self.effects.contains(&effect.word.text());
            word && (self.needles.is_empty()
                || effect.path.as_ref().is_some_and(|target| self.could_name(target)))
        };
        let command = |command: &SubCommand| {
            command.name.is_empty() || self.programs.contains(&command.name.as_str())
        };
        let speaks_of_effects = !self.effects.is_empty() || !self.needles.is_empty();
        (!speaks_of_effects || analysis.effects.iter().any(effect))
            && (self.programs.is_empty() || analysis.commands.iter().any(command))
    }

    /// Could one of the rule's path patterns name the target? Each pattern's longest literal part
    /// must stand somewhere in the path, unless the target is more than one path.
    fn could_name(&self, target: &Target) -> bool {
        target.extent != Extent::Exact
            || FOLD
            || self.needles.iter().any(|needle| {
                target.lexical.contains(needle) || target.resolved.contains(needle)
            })
    }

    /// The rule itself.
    pub fn rule(&self) -> Option<Rc<Rule>> {
        let read = file::read(self.text, Path::new("shipped"), Layer::Pack, None);
        debug_assert!(!read.has_errors(), "{:?}", read.faults);
        read.rules.into_iter().next()
    }
}
