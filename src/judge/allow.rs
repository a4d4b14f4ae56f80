//! Allows in the judgement: whether those of rules, hook scripts and servers cover a call.

use super::{Allowed, CallForm, Judge};
use crate::effect;
use crate::engine::{self, Match};
use crate::rule::{Rule, Verdict};
use crate::verdict::Verb;

impl Judge<'_> {
    /// Do local rules alone allow it? Nothing of the question stays.
    pub(super) fn is_allowed_locally(
        &mut self,
        form: &CallForm<'_, '_>,
        outside: &[Allowed<'_>],
    ) -> bool {
        let broken = self.config.broken.iter().any(|(kinds, _)| kinds.contains(form.event.kind));
        if broken || !self.voices.is_empty() || self.unjudged.get().is_some() {
            return false;
        }
        self.add_stops(form.matches, form.event, form.analysis);
        if self.voices.is_empty() {
            self.add_allow(form, outside);
        }
        let voices = std::mem::take(&mut self.voices);
        voices.iter().any(|voice| voice.verb == Verb::Allow)
    }

    /// Speaks the allow of this form, where allows cover all of it.
    pub(super) fn add_allow(&mut self, form: &CallForm<'_, '_>, outside: &[Allowed<'_>]) {
        let CallForm { rules, matches, event, analysis } = *form;
        let known: Vec<usize> = (0..analysis.effects.len())
            .filter(|at| analysis.effects[*at].grade != effect::Grade::Unknown)
            .collect();
        let from_outside: Vec<Match<'_>> = outside
            .iter()
            .map(|one| Match {
                effects: known.clone(),
                whole: true,
                verb: Some(Verb::Allow),
                ..Match::from_rule(one.rule)
            })
            .collect();
        let allows: Vec<&Match<'_>> = matches
            .iter()
            .filter(|one| !one.observed && one.verb() == Some(Verb::Allow))
            .chain(&from_outside)
            .collect();
        if allows.is_empty() {
            return;
        }
        let case = self.rule_context(event, analysis);
        // Rules that would stop, were they enforced here.
        let enforced = |rule: &Rule| !rule.mode.observes_in(self.config.profile);
        let others: Vec<&Rule> =
            rules.iter().copied().filter(|rule| enforced(rule) && !self.world.paused).collect();
        if !case.is_covered(&allows, &others) {
            return;
        }
        if let Some(one) = engine::strongest_match(allows.iter().copied()) {
            let said = outside.iter().find(|said| std::ptr::eq(said.rule, one.rule));
            let reason = match (&one.rule.verdict, said) {
                (Verdict::Allow { reason, .. }, _) => {
                    reason.fill_for_reader(&self.values_of(event, analysis, one))
                }
                (_, Some(said)) if !said.reason.is_empty() => said.reason.clone(),
                _ => "The server allows it.".into(),
            };
            self.add_voice(one.rule, Verb::Allow, reason);
        }
    }
}
