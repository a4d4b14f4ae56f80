//! Rules that never have their say, for a stricter one answers wherever they would.

use super::{Lint, World};
use crate::event::{Kind, KindSet};
use crate::rule::{Certainty, Rule};
use crate::verdict::Verb;

impl Lint<'_> {
    pub(super) fn shadowed(&mut self, world: &World<'_>) {
        let Some(verb) = self.rule.verb() else { return };
        if !matches!(verb, Verb::Ask | Verb::Allow) || does_more(self.rule) {
            return;
        }
        let rule = self.rule;
        let above = world
            .sources
            .iter()
            .filter(|source| source.refused.is_none())
            .flat_map(|source| source.file.rules.iter().map(move |other| (source, other)))
            .find(|(source, other)| {
                let holds = source.trusted || other.only_tightens();
                other.layer() >= rule.layer() && holds && shadows(other, rule)
            });
        if let Some((_, other)) = above {
            let other_verb = other.verb().map_or("", Verb::name);
            self.warn(
                "shadowed",
                format!(
                    "`{}` never has its say: `{}` answers {other_verb} in every case of it",
                    rule.id,
                    other.name()
                ),
                "the strictest rule wins: give the other one an `unless`, or drop this one",
                self.key(verb.name()),
            );
        }
    }
}

/// Does the rule do anything that another rule's verdict does not take away?
fn does_more(rule: &Rule) -> bool {
    rule.acts() || rule.observe || !rule.actions.is_empty()
}

/// Does `other` answer more strictly wherever `rule` would answer? A yes is certain, a no is not.
fn shadows(other: &Rule, rule: &Rule) -> bool {
    other.verb() > rule.verb()
        && !other.observe
        && !other.acts()
        && other.unless.is_none()
        && (other.certainty == rule.certainty || other.certainty == Certainty::Possible)
        && other.on.intersect(rule.on) == rule.on
        // On a stop a block holds back after some times.
        && rule.on.intersect(KindSet::of(&[Kind::Stop, Kind::SubagentStop])).is_empty()
        && other.conditions.holds_with(&rule.conditions)
}
