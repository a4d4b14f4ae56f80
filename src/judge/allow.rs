//! Allows in the judgement: whether those of rules, hook scripts and servers cover a call.

use std::rc::Rc;

use super::{Allowed, CallForm, Judge};
use crate::effect;
use crate::engine::{self, Match};
use crate::limits;
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

    /// Speaks the allow of this form, where allows cover all of it, or all that stands in its stead.
    pub(super) fn add_allow(&mut self, form: &CallForm<'_, '_>, outside: &[Allowed<'_>]) {
        let shell =
            form.event.tool == "Bash" && form.event.command() == Some(form.analysis.text.as_str());
        if !self.add_plain_allow(form, outside) && shell && !form.analysis.steads().is_empty() {
            self.allow_through_recipe(form);
        }
    }

    /// Speaks the allow of what the recipe that the call runs says, as if the call said it.
    fn allow_through_recipe(&mut self, form: &CallForm<'_, '_>) {
        let mut files: Vec<String> = Vec::new();
        let mut way: Option<String> = None;
        let mut next = form.analysis.in_stead();
        while let Some((stead, text)) = next.filter(|_| files.len() < limits::SCRIPT_DEPTH) {
            files.push(stead.file);
            way.get_or_insert(stead.way);
            let mut input = form.event.input.as_object().cloned().unwrap_or_default();
            input.insert("command".into(), text.into());
            let again = self.call_with(form.event, input);
            let rules: Vec<&Rule> = again.rules.iter().map(Rc::as_ref).collect();
            let matches = self.matches_quietly(&rules, &again.event, &again.analysis);
            // What would have to be run, asked or changed for the recipe's commands is not: then nobody allows them.
            let hinders = |one: &Match<'_>| {
                one.verb().is_some_and(Verb::stops_call)
                    || !one.hinges.is_empty()
                    || !one.rule.actions.is_empty()
                    || one.rule.commands().next().is_some()
            };
            if matches.iter().any(|one| !one.observed && hinders(one))
                || self.unjudged.get().is_some()
                || files.iter().any(|file| again.analysis.may_change_recipe(file))
            {
                return;
            }
            let had = self.voices.len();
            if self.add_plain_allow(&again.to_form(&rules, &matches), &[]) {
                for (voice, way) in self.voices[had..].iter_mut().zip(&way) {
                    voice.reason.push_str(&format!(" (via {way})"));
                }
                return;
            }
            next = again.analysis.in_stead();
        }
    }

    fn add_plain_allow(&mut self, form: &CallForm<'_, '_>, outside: &[Allowed<'_>]) -> bool {
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
            return false;
        }
        let case = self.rule_context(event, analysis);
        // Rules that would stop, were they enforced here.
        let enforced = |rule: &Rule| !rule.mode.observes_in(self.config.profile);
        let others: Vec<&Rule> =
            rules.iter().copied().filter(|rule| enforced(rule) && !self.world.paused).collect();
        if !case.is_covered(&allows, &others) {
            return false;
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
        true
    }
}
