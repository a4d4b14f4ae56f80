//! What managed and user files make of the shipped rules: which are on, what of them is changed, and
//! who says so.
//!
//! One thing is settled by the highest file that speaks of it, and within a file by what speaks of
//! the rule itself before what speaks of its pack. What the managed file says of a rule, or a pack
//! that it switches on, the user's file may only tighten.

use std::rc::Rc;

use super::{Config, LayerFile};
use crate::rule::file::{Autopilot, Override};
use crate::rule::shipped::{self, Shipped};
use crate::rule::{Profile, Rule, RuleMode, Severity};
use crate::verdict::Verb;

/// What can be said of a shipped rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RuleChange {
    /// `[override.ID] enabled`
    Enabled(bool),
    /// `[pack] NAME`
    Pack(bool),
    /// `[override.ID] action`
    Action(Verb),
    /// `[override.ID] severity`
    Severity(Severity),
    /// `[override.ID] mode`
    Mode(RuleMode),
    /// `[override.ID] reason`
    Reason,
}

impl RuleChange {
    /// The key as it is written.
    pub const fn key(self) -> &'static str {
        match self {
            RuleChange::Enabled(_) => "enabled",
            RuleChange::Pack(_) => "pack",
            RuleChange::Action(_) => "action",
            RuleChange::Severity(_) => "severity",
            RuleChange::Mode(_) => "mode",
            RuleChange::Reason => "reason",
        }
    }

    /// The value as it is written; a reason's only the file has.
    const fn value(self) -> &'static str {
        match self {
            RuleChange::Enabled(true) | RuleChange::Pack(true) => "true",
            RuleChange::Enabled(false) | RuleChange::Pack(false) => "false",
            RuleChange::Action(verb) => verb.name(),
            RuleChange::Severity(severity) => severity.name(),
            RuleChange::Mode(mode) => mode.name(),
            RuleChange::Reason => "",
        }
    }

    fn loosens(self, rule: &Rule) -> bool {
        match self {
            RuleChange::Enabled(on) | RuleChange::Pack(on) => !on,
            RuleChange::Action(verb) => rule.verb().is_some_and(|own| verb < own),
            RuleChange::Severity(severity) => severity < rule.severity,
            RuleChange::Mode(mode) => mode < rule.mode,
            RuleChange::Reason => false,
        }
    }

    /// What the change settles: both switches are one thing.
    const fn settled_matter(self) -> usize {
        match self {
            RuleChange::Enabled(_) | RuleChange::Pack(_) => 0,
            RuleChange::Action(_) => 1,
            RuleChange::Severity(_) => 2,
            RuleChange::Mode(_) => 3,
            RuleChange::Reason => 4,
        }
    }
}

/// Does a change count?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Weight {
    /// It does.
    Counts,
    /// Something of more weight settled the matter.
    Settled,
    /// The managed file holds the rule, and the change would loosen it.
    Held,
}

/// What one file says of a shipped rule.
#[derive(Debug, Clone, Copy)]
pub struct FileOverride<'c> {
    /// The file.
    pub source: &'c LayerFile,
    /// What it says.
    pub change: RuleChange,
    /// Does that count?
    pub weight: Weight,
}

impl Config {
    /// The files that may change shipped rules, highest authority first.
    pub fn own_files(&self) -> impl Iterator<Item = &LayerFile> {
        self.sources.iter().filter(|source| !source.layer.is_project() && source.refused.is_none())
    }

    /// What managed or user file says of the autopilot, if it is on.
    pub fn active_autopilot(&self) -> Option<&Autopilot> {
        let said = self.own_files().find_map(|source| source.file.autopilot.as_ref());
        said.filter(|found| found.on)
    }

    /// May a refusal leave the agent's run going, where a plain one ends it?
    pub fn is_soft_deny(&self) -> bool {
        self.own_files().find_map(|source| source.file.soft_deny).unwrap_or(false)
    }

    /// Is the pack on, and which file says so?
    pub fn pack_state(&self, pack: &str) -> (bool, Option<&LayerFile>) {
        if pack == shipped::AUTOPILOT && self.active_autopilot().is_none() {
            return (false, self.own_files().find(|source| source.file.autopilot.is_some()));
        }
        let said = |source: &LayerFile| {
            source.file.packs.iter().find(|(name, _)| name == pack).map(|(_, on)| *on)
        };
        let mut said = self.own_files().filter_map(|source| Some((said(source)?, Some(source))));
        said.next().unwrap_or((true, None))
    }

    /// Makes of a shipped rule what the files say; false = it is off. `tell` hears of every change.
    pub fn apply_changes<'c>(
        &'c self,
        pack: &str,
        rule: &mut Rule,
        mut tell: impl FnMut(FileOverride<'c>),
    ) -> bool {
        let mut enabled = true;
        let mut settled = [false; 5];
        let mut held = false;
        for source in self.own_files() {
            let file = &source.file;
            let own = file.overrides.iter().find(|own| own.id == rule.id);
            let switch = file.packs.iter().find(|(name, _)| name == pack).map(|(_, on)| *on);
            for change in
                own.into_iter().flat_map(override_changes).chain(switch.map(RuleChange::Pack))
            {
                let weight = match change.settled_matter() {
                    matter if settled[matter] => Weight::Settled,
                    _ if held && change.loosens(rule) => Weight::Held,
                    matter => {
                        settled[matter] = true;
                        Weight::Counts
                    }
                };
                if weight == Weight::Counts {
                    match change {
                        RuleChange::Enabled(on) | RuleChange::Pack(on) => enabled = on,
                        RuleChange::Action(verb) => {
                            rule.was_deny = rule.verb() == Some(Verb::Deny);
                            rule.verdict.replace_verb(verb);
                        }
                        RuleChange::Reason => own.iter().for_each(|own| rule.replace_reason(own)),
                        RuleChange::Severity(severity) => rule.severity = severity,
                        RuleChange::Mode(mode) => rule.mode = mode,
                    }
                }
                tell(FileOverride { source, change, weight });
            }
            held |= own.is_some() || switch == Some(true);
        }
        enabled && (pack != shipped::AUTOPILOT || self.active_autopilot().is_some())
    }
}

fn override_changes(own: &Override) -> impl Iterator<Item = RuleChange> {
    let all = [
        own.enabled.map(RuleChange::Enabled),
        own.action.map(RuleChange::Action),
        own.severity.map(RuleChange::Severity),
        own.mode.map(RuleChange::Mode),
        own.reason.as_ref().map(|_| RuleChange::Reason),
    ];
    all.into_iter().flatten()
}

/// A shipped rule with all that is said of it.
#[derive(Debug)]
pub struct Standing<'c> {
    /// The rule as it ships.
    pub shipped: &'static Shipped,
    /// The same, read.
    pub own: Rc<Rule>,
    /// What the files make of it.
    pub rule: Rc<Rule>,
    /// Is it on?
    pub enabled: bool,
    /// What files say of it, highest authority first.
    pub said: Vec<FileOverride<'c>>,
}

impl Standing<'_> {
    /// Does an override make another rule of it, or switch it off by itself?
    pub fn is_overridden(&self) -> bool {
        self.said.iter().any(|said| {
            said.weight == Weight::Counts && !matches!(said.change, RuleChange::Pack(_))
        })
    }

    /// Who switched it off.
    pub fn off_by(&self) -> Option<&FileOverride<'_>> {
        let off = |said: &&FileOverride<'_>| {
            said.weight == Weight::Counts
                && matches!(said.change, RuleChange::Enabled(false) | RuleChange::Pack(false))
        };
        self.said.iter().find(off)
    }
}

impl FileOverride<'_> {
    /// The value as it is written.
    pub fn value(&self, shipped: &Shipped) -> String {
        let own = self.source.file.overrides.iter().find(|own| own.id == shipped.id);
        match (self.change, own.and_then(|own| own.reason.as_ref())) {
            (RuleChange::Reason, Some(reason)) => reason.source().to_string(),
            (change, _) => change.value().to_string(),
        }
    }

    /// As it would be written on one line: `[override.amend] action = "deny"`.
    pub fn as_override_text(&self, shipped: &Shipped) -> String {
        let value = match self.change {
            RuleChange::Enabled(on) | RuleChange::Pack(on) => on.to_string(),
            _ => format!("\"{}\"", self.value(shipped)),
        };
        match self.change {
            RuleChange::Pack(_) => format!("[pack] {} = {value}", shipped.pack),
            _ => format!("[override.{}] {} = {value}", shipped.id, self.change.key()),
        }
    }
}

impl Config {
    /// Every shipped rule, in the order in which they give reasons.
    pub fn standing_rules(&self) -> Vec<Standing<'_>> {
        let standing = |shipped: &'static Shipped| {
            let own = shipped.rule()?;
            let mut rule = Rc::clone(&own);
            let mut said = Vec::new();
            let enabled =
                self.apply_changes(shipped.pack, Rc::make_mut(&mut rule), |one| said.push(one));
            Some(Standing { shipped, own, rule, enabled, said })
        };
        shipped::RULES.iter().filter_map(standing).collect()
    }

    /// The profile and the file that sets it.
    pub fn profile_from(&self) -> (Profile, Option<&LayerFile>) {
        let own = self.own_files().find(|source| source.file.profile.is_some());
        let raised = || {
            let raises = |source: &&LayerFile| {
                source.layer.is_project() && source.file.profile == Some(Profile::Strict)
            };
            self.sources.iter().filter(|source| source.refused.is_none()).find(raises)
        };
        let from = own.filter(|source| source.file.profile == Some(self.profile)).or_else(raised);
        (self.profile, from)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::rule::{Layer, file};

    #[test]
    fn what_takes_from_a_rule_loosens_it() {
        let text =
            "[rule.x]\ncommand = \"ls\"\nask = \"x\"\nseverity = \"high\"\nmode = \"strict\"\n";
        let read = file::read_rules(text, Path::new("/f.toml"), Layer::User, None);
        let rule = &read.rules[0];
        for (change, wanted) in [
            (RuleChange::Enabled(false), true),
            (RuleChange::Enabled(true), false),
            (RuleChange::Pack(false), true),
            (RuleChange::Pack(true), false),
            (RuleChange::Action(Verb::Allow), true),
            (RuleChange::Action(Verb::Ask), false),
            (RuleChange::Action(Verb::Deny), false),
            (RuleChange::Severity(Severity::Medium), true),
            (RuleChange::Severity(Severity::High), false),
            (RuleChange::Severity(Severity::Critical), false),
            (RuleChange::Mode(RuleMode::Observe), true),
            (RuleChange::Mode(RuleMode::Strict), false),
            (RuleChange::Mode(RuleMode::Enforce), false),
            (RuleChange::Reason, false),
        ] {
            assert_eq!(change.loosens(rule), wanted, "{change:?}");
        }
    }
}
