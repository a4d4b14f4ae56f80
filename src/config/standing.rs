//! What managed and user files make of the shipped rules: which are on, what of them is changed, and
//! who says so.
//!
//! One thing is settled by the highest file that speaks of it, and within a file by what speaks of
//! the rule itself before what speaks of its pack. What the managed file says of a rule, or a pack
//! that it switches on, the user's file may only tighten.

use std::rc::Rc;

use super::{Config, Source};
use crate::rule::file::{Autopilot, Override};
use crate::rule::shipped::{self, Shipped};
use crate::rule::{Profile, Rule, Severity};
use crate::verdict::Verb;

/// What can be said of a shipped rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// `[override.ID] enabled`
    Enabled(bool),
    /// `[pack] NAME`
    Pack(bool),
    /// `[override.ID] action`
    Action(Verb),
    /// `[override.ID] severity`
    Severity(Severity),
    /// `[override.ID] mode`: true = `"observe"`
    Observe(bool),
}

impl Change {
    /// The key as it is written.
    pub const fn key(self) -> &'static str {
        match self {
            Change::Enabled(_) => "enabled",
            Change::Pack(_) => "pack",
            Change::Action(_) => "action",
            Change::Severity(_) => "severity",
            Change::Observe(_) => "mode",
        }
    }

    /// The value as it is written.
    pub const fn value(self) -> &'static str {
        match self {
            Change::Enabled(true) | Change::Pack(true) => "true",
            Change::Enabled(false) | Change::Pack(false) => "false",
            Change::Action(verb) => verb.name(),
            Change::Severity(severity) => severity.name(),
            Change::Observe(true) => "observe",
            Change::Observe(false) => "enforce",
        }
    }

    fn loosens(self, rule: &Rule) -> bool {
        match self {
            Change::Enabled(on) | Change::Pack(on) => !on,
            Change::Action(verb) => rule.verb().is_some_and(|own| verb < own),
            Change::Severity(severity) => severity < rule.severity,
            Change::Observe(observe) => observe,
        }
    }

    /// What the change settles: both switches are one thing.
    const fn matter(self) -> usize {
        match self {
            Change::Enabled(_) | Change::Pack(_) => 0,
            Change::Action(_) => 1,
            Change::Severity(_) => 2,
            Change::Observe(_) => 3,
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
pub struct Said<'c> {
    /// The file.
    pub source: &'c Source,
    /// What it says.
    pub change: Change,
    /// Does that count?
    pub weight: Weight,
}

impl Config {
    /// The files that may change shipped rules, highest authority first.
    pub fn own_files(&self) -> impl Iterator<Item = &Source> {
        self.sources.iter().filter(|source| !source.layer.is_project() && source.refused.is_none())
    }

    /// What managed or user file says of the autopilot, if it is on.
    pub fn autopilot(&self) -> Option<&Autopilot> {
        let said = self.own_files().find_map(|source| source.file.autopilot.as_ref());
        said.filter(|found| found.on)
    }

    /// Is the pack on, and which file says so?
    pub fn pack(&self, pack: &str) -> (bool, Option<&Source>) {
        if pack == shipped::AUTOPILOT && self.autopilot().is_none() {
            return (false, self.own_files().find(|source| source.file.autopilot.is_some()));
        }
        let said = |source: &Source| {
            source.file.packs.iter().find(|(name, _)| name == pack).map(|(_, on)| *on)
        };
        let mut said = self.own_files().filter_map(|source| Some((said(source)?, Some(source))));
        said.next().unwrap_or((true, None))
    }

    /// Makes of a shipped rule what the files say; false = it is off. `tell` hears of every change.
    pub fn change<'c>(
        &'c self,
        pack: &str,
        rule: &mut Rule,
        mut tell: impl FnMut(Said<'c>),
    ) -> bool {
        let mut enabled = true;
        let mut settled = [false; 4];
        let mut held = false;
        for source in self.own_files() {
            let file = &source.file;
            let own = file.overrides.iter().find(|own| own.id == rule.id);
            let switch = file.packs.iter().find(|(name, _)| name == pack).map(|(_, on)| *on);
            for change in own.into_iter().flat_map(changes).chain(switch.map(Change::Pack)) {
                let weight = match change.matter() {
                    matter if settled[matter] => Weight::Settled,
                    _ if held && change.loosens(rule) => Weight::Held,
                    matter => {
                        settled[matter] = true;
                        Weight::Counts
                    }
                };
                if weight == Weight::Counts {
                    match change {
                        Change::Enabled(on) | Change::Pack(on) => enabled = on,
                        Change::Action(verb) => rule.verdict.turn(verb),
                        Change::Severity(severity) => rule.severity = severity,
                        Change::Observe(observe) => rule.observe = observe,
                    }
                }
                tell(Said { source, change, weight });
            }
            held |= own.is_some() || switch == Some(true);
        }
        enabled && (pack != shipped::AUTOPILOT || self.autopilot().is_some())
    }
}

fn changes(own: &Override) -> impl Iterator<Item = Change> {
    let all = [
        own.enabled.map(Change::Enabled),
        own.action.map(Change::Action),
        own.severity.map(Change::Severity),
        own.observe.map(Change::Observe),
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
    pub said: Vec<Said<'c>>,
}

impl Standing<'_> {
    /// Does an override make another rule of it, or switch it off by itself?
    pub fn overridden(&self) -> bool {
        self.said
            .iter()
            .any(|said| said.weight == Weight::Counts && !matches!(said.change, Change::Pack(_)))
    }

    /// Who switched it off.
    pub fn off_by(&self) -> Option<&Said<'_>> {
        let off = |said: &&Said<'_>| {
            said.weight == Weight::Counts
                && matches!(said.change, Change::Enabled(false) | Change::Pack(false))
        };
        self.said.iter().find(off)
    }
}

impl Said<'_> {
    /// As it would be written on one line: `[override.amend] action = "deny"`.
    pub fn text(&self, shipped: &Shipped) -> String {
        let value = match self.change {
            Change::Enabled(on) | Change::Pack(on) => on.to_string(),
            _ => format!("\"{}\"", self.change.value()),
        };
        match self.change {
            Change::Pack(_) => format!("[pack] {} = {value}", shipped.pack),
            _ => format!("[override.{}] {} = {value}", shipped.id, self.change.key()),
        }
    }
}

impl Config {
    /// Every shipped rule, in the order in which they give reasons.
    pub fn standings(&self) -> Vec<Standing<'_>> {
        let standing = |shipped: &'static Shipped| {
            let own = shipped.rule()?;
            let mut rule = Rc::clone(&own);
            let mut said = Vec::new();
            let enabled = self.change(shipped.pack, Rc::make_mut(&mut rule), |one| said.push(one));
            Some(Standing { shipped, own, rule, enabled, said })
        };
        shipped::RULES.iter().filter_map(standing).collect()
    }

    /// The profile and the file that sets it.
    pub fn profile_from(&self) -> (Profile, Option<&Source>) {
        let own = self.own_files().find(|source| source.file.profile.is_some());
        let raised = || {
            let raises = |source: &&Source| {
                source.layer.is_project() && source.file.profile == Some(Profile::Strict)
            };
            self.sources.iter().filter(|source| source.refused.is_none()).find(raises)
        };
        let from = own.filter(|source| source.file.profile == Some(self.profile)).or_else(raised);
        (self.profile, from)
    }
}
