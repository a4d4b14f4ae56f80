//! Every rule on the kind of event at hand: did it match, and if not, why not?

use serde::Serialize;

use super::report::Explanation;
use crate::cli::flatten_lines;
use crate::config::standing::Standing;
use crate::effect::{Effect, Grade, Word};
use crate::engine::{Match, RuleContext};
use crate::rule::condition::Subject;
use crate::rule::{Action, Rule, Truth, Verdict, shipped};
use crate::verdict::Verb;

/// A rule that speaks of the event's kind, and what came of it.
#[derive(Serialize)]
pub(super) struct Considered {
    #[serde(rename = "rule")]
    pub(super) name: String,
    /// File and line, or the pack.
    pub(super) place: String,
    pub(super) verdict: &'static str,
    pub(super) matched: bool,
    /// Did it say or do more than to mark the session?
    #[serde(skip)]
    pub(super) speaks: bool,
    pub(super) observed: bool,
    /// The effects that it fired on or covers.
    pub(super) effects: Vec<usize>,
    /// Why it does not hold.
    pub(super) why: Option<String>,
}

impl Explanation<'_> {
    fn rule_context(&self) -> RuleContext<'_> {
        let subject = Subject {
            event: &self.dry.event,
            analysis: &self.dry.analysis,
            bases: &self.dry.bases,
            place: &self.dry.place,
        };
        RuleContext { subject, profile: self.config.profile }
    }

    /// Every rule on this kind of event, those that matched first.
    pub(super) fn considered_rules(&self) -> Vec<Considered> {
        let mut out = Vec::new();
        let case = self.rule_context();
        let shipped_rules = self.config.shipped_rules(None);
        for rule in self.config.rules.iter().chain(&shipped_rules) {
            if !rule.on.contains(self.dry.event.kind) {
                continue;
            }
            let found = case.test_rule(rule);
            out.push(Considered {
                name: rule.qualified_name(),
                place: self.place_of(rule),
                verdict: verdict_of(rule, found.as_ref()),
                matched: found.is_some(),
                speaks: found.is_some() && !only_marks(rule),
                observed: found.as_ref().is_some_and(|found| found.observed),
                why: found.is_none().then(|| self.why_not(rule)),
                effects: found.map(|found| found.effects).unwrap_or_default(),
            });
        }
        let off = |rule: &Rule, why: &str| Considered {
            name: rule.qualified_name(),
            place: self.place_of(rule),
            verdict: verdict_of(rule, None),
            matched: false,
            speaks: false,
            observed: false,
            effects: Vec::new(),
            why: Some(why.to_string()),
        };
        for source in self.config.sources.iter().filter(|source| !source.holds_whole()) {
            for rule in &source.file.rules {
                let waits = self
                    .config
                    .rules
                    .iter()
                    .all(|held| held.qualified_name() != rule.qualified_name());
                if waits && rule.on.contains(self.dry.event.kind) {
                    let why = match source.is_other {
                        true => "is another project's",
                        false => "waits for `hookctl trust`",
                    };
                    out.push(off(rule, why));
                }
            }
        }
        let autopilot = self.config.active_autopilot().is_some();
        let speaks = |one: &Standing<'_>| {
            !one.enabled
                && (autopilot || !one.shipped.is_autopilot())
                && one.rule.on.contains(self.dry.event.kind)
        };
        for one in self.config.standing_rules().iter().filter(|one| speaks(one)) {
            let why = one.off_by().map(|said| {
                format!("{} in {}", said.as_override_text(one.shipped), said.source.path.display())
            });
            out.push(off(&one.rule, why.as_deref().unwrap_or("switched off")));
        }
        crate::order::sort_by_key(&mut out, |rule| !rule.matched);
        out
    }

    /// Why an allow that covers everything does not hold: which effect could be one that which rule speaks of.
    pub(super) fn possible_stop_note(&self) -> String {
        let case = self.rule_context();
        let shipped_rules = self.config.shipped_rules(None);
        let others: Vec<&Rule> = self
            .config
            .rules
            .iter()
            .chain(&shipped_rules)
            .map(|rule| &**rule)
            .filter(|rule| !rule.mode.observes_in(self.config.profile))
            .collect();
        let effects = self.dry.analysis.own_effects();
        let found = effects.iter().enumerate().find_map(|(at, effect)| {
            let (rule, path) = case.possible_stop(&others, effect)?;
            let (verb, name) = (rule.verb().map_or("stop", Verb::name), rule.qualified_name());
            let on = path.map(|path| format!(" at {}", flatten_lines(&path))).unwrap_or_default();
            let effect = self.effect_name(at);
            Some(format!(
                "the allow does not hold: {effect} could be what {name} ({}) would {verb}{on}",
                self.place_of(rule)
            ))
        });
        found.unwrap_or_else(|| "the allow does not hold for a call that does this".into())
    }

    fn place_of(&self, rule: &Rule) -> String {
        let source = self.config.sources.iter().find(|source| Some(source.layer) == rule.layer);
        match source {
            Some(source) => format!("{}:{}", source.path.display(), rule.line),
            None => {
                let pack = shipped::RULES.iter().find(|one| one.id == rule.id);
                format!("shipped, pack {}", pack.map_or("", |one| one.pack))
            }
        }
    }

    /// The first condition that does not hold, tested one by one.
    fn why_not(&self, rule: &Rule) -> String {
        let s = self.rule_context().subject;
        let c = &rule.conditions;
        if let Some(key) = c.first_unmet(&s) {
            return format!("`{key}` does not hold");
        }
        let effects = &self.dry.analysis.effects;
        if matches!(rule.verdict, Verdict::NotUnderstood { .. }) {
            return "everything was understood".into();
        }
        if effects.is_empty() && c.speaks_of_effects() {
            return "the event does nothing that effects speak of".into();
        }
        if let Some(key) = c.unmet_by_all(&s) {
            return format!("`{key}`: no effect is one of these");
        }
        let candidates: Vec<&Effect> =
            effects.iter().filter(|e| c.match_effect(&s, e) != Truth::No).collect();
        if candidates.is_empty() {
            let asked =
                c.asked_conditions().into_iter().filter(|(_, scope, _)| scope.is_of_effects());
            let keys: Vec<&str> = asked.map(|(key, ..)| key).collect();
            return format!("no single effect has all of {}", keys.join(", "));
        }
        if let Some(unless) = &rule.unless {
            let allow = rule.verb() == Some(Verb::Allow);
            let relaxed = candidates.iter().all(|effect| match allow {
                true => unless.could_hold(&s, Some(effect)),
                false => unless.relaxes(&s, Some(effect)),
            });
            if relaxed {
                return "`unless` holds".into();
            }
        }
        if rule.verb() == Some(Verb::Allow) {
            return "covers none of the effects".into();
        }
        match candidates.iter().any(|effect| effect.grade != Grade::Unknown) {
            true => "only possible: fires in profile `strict`, or with certainty = \"possible\"",
            false => "not understood: `not-understood` speaks of it",
        }
        .into()
    }

    /// The effects that keep allow rules from taking hold.
    pub(super) fn uncovered_effects(&self, rules: &[Considered]) -> Vec<usize> {
        let allows: Vec<&Considered> =
            rules.iter().filter(|rule| rule.matched && rule.verdict == "allow").collect();
        if allows.is_empty() || self.dry.judgement.answer.verb.is_some() {
            return Vec::new();
        }
        let stands_for_itself = |effect: &Effect| {
            let command = effect.command.and_then(|at| self.dry.analysis.commands.get(at));
            effect.word == Word::Execute
                && effect.grade == Grade::Certain
                && command.is_some_and(|c| c.transparent || (c.neutral_wrapper && c.genuine))
        };
        (0..self.dry.analysis.effects.len())
            .filter(|at| !stands_for_itself(&self.dry.analysis.effects[*at]))
            .filter(|at| !allows.iter().any(|allow| allow.effects.contains(at)))
            .collect()
    }
}

/// Does the rule nothing but mark the session?
fn only_marks(rule: &Rule) -> bool {
    let marks = |action: &Action| matches!(action, Action::Mark(_));
    rule.verb().is_none() && !rule.actions.is_empty() && rule.actions.iter().all(marks)
}

fn verdict_of(rule: &Rule, found: Option<&Match<'_>>) -> &'static str {
    found.and_then(Match::verb).or(rule.verb()).map_or("-", Verb::name)
}
