//! Rules that never have their say, for a stricter one answers wherever they would.

use super::{Lint, LintContext};
use crate::event::{Kind, KindSet};
use crate::rule::{Certainty, Rule, RuleMode};
use crate::verdict::Verb;

impl Lint<'_> {
    pub(super) fn check_shadowed(&mut self, world: &LintContext<'_>) {
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
                other.layer() >= rule.layer() && holds && is_shadowed_by(other, rule)
            });
        if let Some((_, other)) = above {
            let other_verb = other.verb().map_or("", Verb::name);
            self.add_warning(
                "shadowed",
                format!(
                    "`{}` never has its say: `{}` answers {other_verb} in every case of it",
                    rule.id,
                    other.qualified_name()
                ),
                "the strictest rule wins: give the other one an `unless`, or drop this one",
                self.key_span(verb.name()),
            );
        }
    }
}

/// Does the rule do anything that another rule's verdict does not take away?
fn does_more(rule: &Rule) -> bool {
    rule.has_side_effects() || rule.mode != RuleMode::Enforce || !rule.actions.is_empty()
}

/// Does `other` answer more strictly wherever `rule` would answer? A yes is certain, a no is not.
fn is_shadowed_by(other: &Rule, rule: &Rule) -> bool {
    other.verb() > rule.verb()
        && other.mode == RuleMode::Enforce
        && !other.has_side_effects()
        && other.unless.is_none()
        && (other.certainty == rule.certainty || other.certainty == Certainty::Possible)
        && other.on.intersect(rule.on) == rule.on
        // On a stop a block holds back after some times.
        && rule.on.intersect(KindSet::from_kinds(&[Kind::Stop, Kind::SubagentStop])).is_empty()
        && other.conditions.holds_with(&rule.conditions)
}
