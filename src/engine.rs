//! The judgement: which rules speak of an event, and what they amount to together.
//!
//! No clock and no program: what has to be run for an answer (`when.run`, `run`, `hook`) is asked in between by `act.rs`,
//! which says what came of each command. The disk is asked for one thing: what lies below a directory (`effect/look.rs`).

mod autopilot;

use memchr::memmem;

use crate::effect::{Effect, Extent, Grade, Source, SubCommand, Target, Word, look};
use crate::event::{Event, Kind};
use crate::limits;
use crate::names;
use crate::rule::condition::{Conditions, Subject, is_led_elsewhere};
use crate::rule::{Certainty, Layer, Profile, Rule, Severity, Truth, Verdict};
use crate::verdict::Verb;

/// What it costs of the event's budget to look at a rule, and at a rule and an effect.
const RULE: usize = 32;
const EFFECT: usize = 16;

/// A rule that speaks of the event.
#[derive(Debug, Clone)]
pub struct Match<'r> {
    /// The rule.
    pub rule: &'r Rule,
    /// For deny, ask and everything but allow: the effects that it fired on, none where it speaks
    /// of the event as a whole. For allow: the effects that it covers.
    pub effects: Vec<usize>,
    /// The rule speaks of the event as a whole.
    pub whole: bool,
    /// The parts that the command of `unless` takes away if it holds: all else of that `unless` does.
    pub hinges: Vec<MatchPart>,
    /// It fired on something that was not understood.
    pub unknown: bool,
    /// The verdict, where it differs from the rule's own (danger words).
    pub verb: Option<Verb>,
    /// Evaluated, not enforced: the rule's mode, the profile, or a pause.
    pub observed: bool,
}

/// What of an event a rule speaks of: one effect, or (None) the event as a whole.
pub type MatchPart = Option<usize>;

impl<'r> Match<'r> {
    /// A rule that speaks of nothing yet.
    pub fn from_rule(rule: &'r Rule) -> Match<'r> {
        Match {
            rule,
            effects: Vec::new(),
            whole: false,
            hinges: Vec::new(),
            unknown: false,
            verb: None,
            observed: false,
        }
    }

    /// The verdict of the rule here.
    pub fn verb(&self) -> Option<Verb> {
        self.verb.or(self.rule.verb())
    }

    /// Everything that it speaks of.
    pub fn parts(&self) -> Vec<MatchPart> {
        let effects = self.effects.iter().map(|at| Some(*at));
        effects.chain(self.whole.then_some(None)).collect()
    }

    /// Takes a part away.
    pub fn drop_part(&mut self, part: MatchPart) {
        match part {
            Some(effect) => self.effects.retain(|at| *at != effect),
            None => self.whole = false,
        }
    }

    /// Speaks of the part as well, as far as its `unless` lets it.
    fn add_part(&mut self, part: MatchPart, relief: Relief) {
        if relief == Relief::Sure {
            return;
        }
        if relief == Relief::Hinges {
            self.hinges.push(part);
        }
        match part {
            Some(effect) => self.effects.push(effect),
            None => self.whole = true,
        }
    }

    /// Does it still speak of anything?
    pub fn has_parts(&self) -> bool {
        self.whole || !self.effects.is_empty()
    }
}

/// What an `unless` does to a part of a match.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relief {
    /// Nothing.
    None,
    /// It takes the part away.
    Sure,
    /// It does so if its command holds, which the caller asks.
    Hinges,
}

impl Relief {
    fn from_rule(rule: &Rule, rest_holds: impl FnOnce(&Conditions) -> bool) -> Relief {
        match &rule.unless {
            Some(unless) if rest_holds(unless) => match unless.when.run {
                Some(_) => Relief::Hinges,
                None => Relief::Sure,
            },
            _ => Relief::None,
        }
    }
}

/// Everything that a judgement depends on beside the rules.
#[derive(Debug, Clone, Copy)]
pub struct RuleContext<'a> {
    /// What conditions are tested on.
    pub subject: Subject<'a>,
    /// How much is asked.
    pub profile: Profile,
}

impl RuleContext<'_> {
    /// Does the rule speak of the case, and of what in it?
    pub fn test_rule<'r>(&self, rule: &'r Rule) -> Option<Match<'r>> {
        if !rule.on.contains(self.subject.event.kind) || !self.could_hold(rule) {
            return None;
        }
        let observed = rule.is_observed(self.profile);
        let found = Match { observed, ..Match::from_rule(rule) };
        match &rule.verdict {
            // What was not looked at to the end may not be covered.
            Verdict::Allow { .. } => {
                self.test_allow(found).filter(|_| limits::spent_resource().is_none())
            }
            Verdict::NotUnderstood { danger, .. } => self.test_unknown(found, danger),
            Verdict::Stop { .. } | Verdict::None { .. } => self.test_other(found),
        }
    }

    /// Do the rule's conditions on the event itself hold? Where the budget does not reach to tell, nothing
    /// but a rule that hides secrets speaks: the judge asks.
    fn could_hold(&self, rule: &Rule) -> bool {
        let holds = limits::spend_steps(RULE) && rule.conditions.matches_event(&self.subject);
        if limits::spent_resource().is_some() { rule.redacts_result() } else { holds }
    }

    fn test_other<'r>(&self, mut found: Match<'r>) -> Option<Match<'r>> {
        if !found.rule.conditions.speaks_of_effects() {
            self.take_whole(&mut found);
            return found.has_parts().then_some(found);
        }
        let rule = found.rule;
        let mut sure = false;
        for (at, effect) in self.effects_for(rule).iter().enumerate() {
            let truth = match self.only_helps(rule, effect) {
                true => Truth::No,
                false => rule.conditions.match_effect(&self.subject, effect),
            };
            let relief = match self.fires(rule, effect, truth) {
                false => Relief::Sure,
                true => self.relief(rule, Some(effect)),
            };
            if relief == Relief::Sure {
                if limits::spend_steps(EFFECT) {
                    continue;
                }
                break;
            }
            // An exclusion may not have been looked at.
            if limits::spent_resource().is_some() {
                break;
            }
            sure |= effect.grade == Grade::Certain && truth == Truth::Yes;
            found.unknown |= effect.grade == Grade::Unknown;
            found.add_part(Some(at), relief);
        }
        if !sure && self.only_strict(rule) {
            found.verb = Some(Verb::Ask);
        }
        (!found.effects.is_empty()).then_some(found)
    }

    /// Does a shipped rule on commands meet one that only tells of itself (`docker push --help`)? People's own rules speak
    /// of every call, and so do those that guard hookctl.
    fn only_helps(&self, rule: &Rule, effect: &Effect) -> bool {
        effect.word == Word::Execute
            && rule.layer() == Layer::Pack
            && !rule.stays
            && self.subject.command_of(effect).is_some_and(|command| command.only_help)
    }

    /// The effects that the rule may speak of: what stands in files that the call runs can be stopped, and that is all.
    fn effects_for(&self, rule: &Rule) -> &[Effect] {
        match &rule.verdict {
            Verdict::Stop { .. } => &self.subject.analysis.effects,
            _ if !rule.marks().is_empty() => &self.subject.analysis.effects,
            _ if rule.remote_name().is_some() => &self.subject.analysis.effects,
            _ => self.subject.analysis.own_effects(),
        }
    }

    /// Takes the event as a whole. `unless` may speak of effects where the rule does not: then any effect counts.
    fn take_whole(&self, found: &mut Match<'_>) {
        let rule = found.rule;
        let effects = self.subject.analysis.own_effects();
        let only_effects = rule.unless.as_ref().is_some_and(|unless| unless.speaks_of_effects());
        if !only_effects || effects.is_empty() {
            return found.add_part(None, self.relief(rule, None));
        }
        for (at, effect) in effects.iter().enumerate() {
            found.add_part(Some(at), self.relief(rule, Some(effect)));
        }
    }

    /// What the `unless` of a deny or an ask does to that part.
    fn relief(&self, rule: &Rule, effect: Option<&Effect>) -> Relief {
        Relief::from_rule(rule, |unless| unless.relaxes(&self.subject, effect))
    }

    /// Does a rule that speaks so of the effect fire on it?
    fn fires(&self, rule: &Rule, effect: &Effect, truth: Truth) -> bool {
        match (effect.grade, truth) {
            // What a glob names may have the rule's name, or lie where the rule says, which its text does not tell.
            (Grade::Certain, Truth::No) => is_glob(effect) && self.takes_along(rule, effect),
            (_, Truth::No) => false,
            (Grade::Certain, Truth::Yes) => true,
            (Grade::Certain, Truth::Maybe) if self.takes_along(rule, effect) => true,
            (Grade::Certain | Grade::Possible, _) => {
                rule.conditions.lists_for_commands() || self.fires_on_possible(rule, effect)
            }
            (Grade::Unknown, _) => self.fires_on_unknown(rule, effect.word),
        }
    }

    /// Does a change of much touch what one's own rule names: a directory that goes with all in it, or a glob of the shell?
    /// What lies there, the disk tells.
    fn takes_along(&self, rule: &Rule, effect: &Effect) -> bool {
        let own = rule.layer() != Layer::Pack && rule.conditions.names_paths();
        let Some(target) = effect.path.as_ref().filter(|_| own) else { return false };
        let mut one = effect.clone();
        let mut hits = |place: Target| {
            one.path = Some(place);
            limits::spend_steps(EFFECT)
                && rule.conditions.match_effect(&self.subject, &one) == Truth::Yes
        };
        let goes = effect.word == Word::Delete
            && matches!(target.extent, Extent::Tree | Extent::Children)
            && rule.conditions.places_in(target, self.subject.bases).into_iter().any(|place| {
                let there = Target { extent: Extent::Exact, ..place.clone() };
                hits(place) && look::list_below(&there).is_some_and(|found| !found.is_empty())
            });
        let touched = || self.subject.bases.touched.list(effect.word, target);
        goes || self.is_told_apart(target)
            && touched().is_some_and(|found| {
                found.iter().any(|one| !is_installed(one) && hits(one.clone()))
            })
    }

    /// Is it worth a look? What holds the project or a home is too much, and what a package manager fills is made again.
    fn is_told_apart(&self, target: &Target) -> bool {
        !is_installed(target) && !self.subject.bases.lie_in(target)
    }

    fn fires_on_possible(&self, rule: &Rule, effect: &Effect) -> bool {
        let shipped = rule.layer() == Layer::Pack;
        // What a search or a build may meet in a tree is no question of its own.
        let wide = |target: &Target| target.extent != Extent::Exact;
        let met = matches!(effect.word, Word::Read | Word::Write)
            && effect.path.as_ref().is_none_or(wide);
        let adds = !shipped || rule.certainty == Certainty::Strict && !met;
        self.profile == Profile::Strict && adds
            || rule.certainty == Certainty::Possible
            || shipped && rule.severity == Severity::Critical
    }

    /// Is it the profile alone that makes this shipped deny fire on what is only possible? Then a
    /// human decides: a search through the project may well meet a key, but hardly ever does.
    fn only_strict(&self, rule: &Rule) -> bool {
        rule.verb() == Some(Verb::Deny)
            && rule.layer() == Layer::Pack
            && rule.severity != Severity::Critical
            && rule.certainty != Certainty::Possible
    }

    /// A rule on that very word fires on what is not understood, one with an allow list in every
    /// profile; the shipped ones leave it to `not-understood`.
    fn fires_on_unknown(&self, rule: &Rule, word: Word) -> bool {
        let list = rule.conditions.list.is_some();
        // What is contacted or sent to comes in or leaves, wherever that is.
        let marks = !rule.marks().is_empty() && rule.conditions.effect.contains(&word);
        if marks && matches!(word, Word::Network | Word::Send) {
            return true;
        }
        rule.layer() != Layer::Pack
            && (rule.conditions.lists_for_commands() || rule.conditions.effect.contains(&word))
            && (list || word.is_grave() || self.profile == Profile::Strict)
    }

    /// The shipped rule on what is not understood.
    fn test_unknown<'r>(&self, mut found: Match<'r>, danger: &[String]) -> Option<Match<'r>> {
        let strict = self.profile == Profile::Strict;
        found.effects = (0..self.subject.analysis.effects.len())
            .filter(|at| {
                let effect = &self.subject.analysis.effects[*at];
                effect.grade == Grade::Unknown && (effect.word.is_grave() || strict)
            })
            .collect();
        if found.effects.is_empty() {
            return None;
        }
        found.unknown = true;
        let text = self.subject.event.command().unwrap_or(&self.subject.analysis.text);
        if danger.iter().any(|word| memmem::find(text.as_bytes(), word.as_bytes()).is_some()) {
            found.verb = Some(Verb::Deny);
        }
        Some(found)
    }

    fn test_allow<'r>(&self, mut found: Match<'r>) -> Option<Match<'r>> {
        let rule = found.rule;
        let s = &self.subject;
        let spoiled = |effect: Option<&Effect>| {
            Relief::from_rule(rule, |unless| unless.could_hold(s, effect))
        };
        let effects = self.subject.analysis.own_effects();
        if effects.is_empty() {
            // Nothing that effects speak of happens: only a rule on the call as such speaks.
            if !rule.conditions.speaks_of_effects() {
                found.add_part(None, spoiled(None));
            }
            return found.has_parts().then_some(found);
        }
        for (at, effect) in effects.iter().enumerate() {
            if rule.conditions.covers(s, effect) {
                found.add_part(Some(at), spoiled(Some(effect)));
            }
        }
        // A call of nothing but transparent executes is covered by any allow on reads. An `unless` on
        // effects was held against each of them.
        if !rule.is_closed()
            && rule.conditions.effect.contains(&Word::Read)
            && rule.conditions.command.is_empty()
            && effects.iter().all(|effect| self.runs_command(effect, SubCommand::stands_for_itself))
            && !autopilot::prints_secrets(self.subject.analysis)
        {
            let spoils =
                |unless: &Conditions| !unless.speaks_of_effects() && unless.matches_event(s);
            found.add_part(None, Relief::from_rule(rule, spoils));
        }
        found.has_parts().then_some(found)
    }

    /// Do these allows cover the whole call?
    ///
    /// `others` are the rules that deny or ask: an effect that is only possible is not covered
    /// where one of them could speak of it.
    pub fn is_covered(&self, allows: &[&Match<'_>], others: &[&Rule]) -> bool {
        let effects = self.subject.analysis.own_effects();
        if effects.is_empty() {
            return allows.iter().any(|allow| allow.whole);
        }
        // Beside shipped allows alone every program must be one of those that they name.
        let open = allows.iter().any(|allow| !allow.rule.is_closed());
        let prints = autopilot::prints_secrets(self.subject.analysis);
        // These look at what no effect tells: they hold for none of a call that does such a thing.
        let kept = !prints
            && allows.iter().any(|allow| allow.rule.is_closed())
            && self.subject.analysis.environment.is_empty()
            && !autopilot::lists_environment(self.subject.analysis)
            && !autopilot::queries_blindly(self.subject.analysis)
            && !autopilot::runs_input(self.subject.analysis)
            && !autopilot::has_failed_secret_glob(self.subject.analysis);
        if !open && !kept {
            return false;
        }
        let mut needed = false;
        for (at, effect) in effects.iter().enumerate() {
            if !limits::spend_steps(allows.len() * EFFECT) {
                return false;
            }
            // What a transparent program does is told by its other effects; a function is no program at all.
            let elsewhere = || effect.command.is_some_and(|at| is_led_elsewhere(&self.subject, at));
            if open
                && !prints
                && self.runs_command(effect, SubCommand::stands_for_itself)
                && !elsewhere()
                || self.runs_command(effect, SubCommand::is_told_function)
            {
                continue;
            }
            needed = true;
            let edit = edit_of(effects, effect);
            let holds = |allow: &&Match<'_>| {
                (allow.effects.contains(&at) || edit.is_some_and(|at| allow.effects.contains(&at)))
                    && (kept && !autopilot::runs_text(effect) || !allow.rule.is_closed())
            };
            let mut covering = allows.iter().copied().filter(holds).peekable();
            if covering.peek().is_none()
                || !is_own(effect, covering) && self.possible_stop(others, effect).is_some()
            {
                return false;
            }
        }
        // Of what the budget does not reach for, nothing is known.
        limits::spent_resource().is_none()
            && (needed || allows.iter().any(|allow| allow.whole || !allow.effects.is_empty()))
    }

    /// A certain execute of a command that is so.
    fn runs_command(&self, effect: &Effect, is: fn(&SubCommand) -> bool) -> bool {
        effect.word == Word::Execute
            && effect.grade == Grade::Certain
            && effect.command.and_then(|at| self.subject.analysis.commands.get(at)).is_some_and(is)
    }

    /// Which of these rules could speak of what may happen, or may lie below the directory; and of which path there.
    pub fn possible_stop<'r>(
        &self,
        others: &[&'r Rule],
        effect: &Effect,
    ) -> Option<(&'r Rule, Option<String>)> {
        let wide = effect.path.as_ref().is_some_and(|t| t.extent != Extent::Exact);
        if !wide && effect.grade != Grade::Possible {
            return None;
        }
        let others: Vec<&'r Rule> =
            others.iter().copied().filter(|rule| self.could_stop(rule, effect)).collect();
        let first = others.first().map(|rule| (*rule, None));
        first.as_ref()?;
        // What a write would add cannot be seen.
        let seen = match (&effect.path, effect.word) {
            (Some(target), Word::Read | Word::Delete | Word::Permission) => {
                look::list_below(target)
            }
            _ => None,
        };
        match seen {
            None => first,
            // What is not there is nothing, unless the call makes it first.
            Some(found) if found.is_empty() => first.filter(|_| self.could_appear(effect)),
            Some(found) => found.into_iter().find_map(|target| {
                let path = target.lexical.clone();
                let one = Effect { path: Some(target), ..effect.clone() };
                let rule = others.iter().find(|rule| self.could_stop(rule, &one))?;
                Some((*rule, Some(path)))
            }),
        }
    }

    /// Could something be made where there is nothing yet, before the effect?
    fn could_appear(&self, effect: &Effect) -> bool {
        let analysis = self.subject.analysis;
        let (effects, commands) = (analysis.own_effects(), analysis.own_commands());
        let makes = |e: &Effect| {
            e.grade == Grade::Unknown
                || matches!(e.word, Word::Write | Word::Delete | Word::Remote | Word::Code)
        };
        let mut above = effect.command;
        let mut own = Vec::new();
        while let Some(at) = above.filter(|at| !own.contains(at)) {
            own.push(at);
            above = commands.get(at).and_then(|command| command.parent);
        }
        let last = effect.command.unwrap_or(commands.len());
        let before = commands.iter().enumerate().take(last);
        effects.iter().any(makes)
            || before.into_iter().any(|(at, c)| !own.contains(&at) && !c.stands_for_itself())
    }

    /// Could this deny or ask rule speak of the effect, were it certain?
    fn could_stop(&self, rule: &Rule, effect: &Effect) -> bool {
        let s = &self.subject;
        if !limits::spend_steps(EFFECT) {
            return true;
        }
        matches!(rule.verdict, Verdict::Stop { .. })
            && rule.on.contains(self.subject.event.kind)
            && rule.conditions.speaks_of_effects()
            && rule.conditions.matches_event(s)
            && rule.conditions.match_effect(s, effect) != Truth::No
            && self.relief(rule, Some(effect)) != Relief::Sure
    }
}

/// Is it on what a glob of the shell names?
fn is_glob(effect: &Effect) -> bool {
    effect.path.as_ref().is_some_and(|target| target.extent == Extent::Glob)
}

/// Was it put there by a package manager, which makes it again?
fn is_installed(target: &Target) -> bool {
    target.lexical.split('/').any(|name| names::installed::DIRECTORIES.contains(&name))
}

/// The write of the edit that the effect is the read of: an editing tool reads no more than what it changes.
fn edit_of(effects: &[Effect], read: &Effect) -> Option<usize> {
    let same = |effect: &Effect| {
        effect.word == Word::Write && effect.source == Source::Tool && effect.path == read.path
    };
    let edits = read.word == Word::Read && read.source == Source::Tool && read.path.is_some();
    edits.then(|| effects.iter().position(same))?
}

/// Is the effect the affair of what these allows speak of, whatever other rules say?
fn is_own<'m>(effect: &Effect, mut allows: impl Iterator<Item = &'m Match<'m>>) -> bool {
    // What a program may do of itself (`git pull` to the work tree) is what an allow on that very command speaks
    // of; what a build or a test reads in the project is its own affair.
    if effect.grade == Grade::Possible && effect.source == Source::Program {
        return allows.any(|allow| allow.rule.conditions.names_commands());
    }
    let builds =
        |allow: &Match<'_>| allow.rule.is_closed() && !allow.rule.conditions.within.is_empty();
    autopilot::reads_its_own(effect) && allows.any(builds)
}

/// The strongest of some matches: by verdict, then by layer and priority, then by file order.
pub fn strongest_match<'m, 'r>(
    matches: impl IntoIterator<Item = &'m Match<'r>>,
) -> Option<&'m Match<'r>>
where
    'r: 'm,
{
    let rank = |one: &Match<'_>| (one.verb(), one.rule.authority());
    let stronger = |best, one| if rank(one) > rank(best) { one } else { best };
    matches.into_iter().reduce(stronger)
}

/// May a stop be blocked once more? `before` = how often in a row this rule did so already, where that is counted.
pub fn may_block_stop(event: &Event, rule: &Rule, before: u32) -> bool {
    if !matches!(event.kind, Kind::Stop | Kind::SubagentStop) {
        return true;
    }
    if counts_stops(event, rule) { before < rule.repeat.max(1) } else { !event.stop_hook_active() }
}

/// Is it for hookctl to count the stops that the rule blocked? Once can be told by the event, if its agent says it.
pub fn counts_stops(event: &Event, rule: &Rule) -> bool {
    let told = event.raw.get("stop_hook_active").is_some_and(|value| value.is_boolean());
    matches!(event.kind, Kind::Stop | Kind::SubagentStop) && (rule.repeat > 1 || !told)
}
