//! The rules inside the binary: config/packs/*.toml, cut into rules at build time.

use std::path::Path;
use std::rc::Rc;

use super::concern::Concern;
use super::{Layer, Rule, file};

/// A shipped rule and what the build knows of it.
#[derive(Debug)]
pub struct Shipped {
    /// Its id.
    pub id: &'static str,
    /// The pack it belongs to.
    pub pack: &'static str,
    /// What it could concern.
    pub concern: Concern<'static>,
    /// Its TOML, header included.
    pub text: &'static str,
}

/// The pack that counts only where the autopilot is on.
pub const AUTOPILOT: &str = "autopilot";
/// Its rule whose list of commands people may change.
pub const AUTOPILOT_LIST: &str = "autopilot-build";

include!(concat!(env!("OUT_DIR"), "/shipped.rs"));

impl Shipped {
    /// Does the rule count only where the autopilot is on?
    pub fn is_autopilot(&self) -> bool {
        self.pack == AUTOPILOT
    }

    /// The rule itself.
    pub fn rule(&self) -> Option<Rc<Rule>> {
        let read = file::read(self.text, Path::new("shipped"), Layer::Pack, None);
        debug_assert!(!read.has_errors(), "{:?}", read.faults);
        read.rules.into_iter().next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_build_and_the_reader_agree_on_what_a_rule_concerns() {
        for shipped in RULES {
            let rule = shipped.rule().expect(shipped.id);
            let line = super::super::concern::line(&rule);
            assert_eq!(Concern::parse(&line), Some(shipped.concern), "{}", shipped.id);
        }
    }
}
