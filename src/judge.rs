//! The judgement of one event from end to end: match, run what rules run, rewrite, match again,
//! combine. `engine.rs` decides what matches; this file decides in which order things happen,
//! `commands.rs` prepares what is run, `values.rs` fills templates.

use std::cell::{Cell, OnceCell};
use std::cmp::Reverse;
use std::mem::ManuallyDrop;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Map, Value};

use crate::act::Outcome;
use crate::agent::Agent;
use crate::config::Config;
use crate::effect::{self, Analysis, Effect, Place};
use crate::engine::{self, Match, RuleContext};
use crate::event::{Event, Kind};
use crate::journal;
use crate::limits::{self, Spent, Stage};
use crate::marks::{Mark, Marks};
use crate::once;
use crate::paths::Paths;
use crate::remote::Asking;
use crate::rule::Profile;
use crate::rule::concern::RuleQuery;
use crate::rule::condition::Subject;
use crate::rule::path::Bases;
use crate::rule::template::{PlaceholderName, Template};
use crate::rule::{Layer, Otherwise, Rule, Severity, Verdict};
use crate::script::ScriptAnswer;
use crate::trust;
use crate::verdict::{Answer, Verb};
use circumstances::CommandQuestion;

mod allow;
mod circumstances;
mod commands;
mod hooks;
mod remember;
mod rewrite;
mod servers;
mod tell;
mod values;

/// How the note begins of a server that would be asked, where nobody is.
pub const WOULD_ASK: &str = "would ask";
/// The session of a call that nobody made.
pub const NO_SESSION: &str = "dry";
/// What is longer names no word that was not understood, in bytes.
const LONGEST_WORD: usize = 120;
/// Why a stop is not blocked again.
const BLOCKED_ONCE: &str = "the stop was blocked once already";

/// One event, and everything that is known of it before a rule is asked.
pub struct Situation {
    /// Whose event it is.
    pub agent: &'static dyn Agent,
    /// The event.
    pub event: Event,
    /// Where the session is.
    pub place: Place,
    /// What path patterns start from.
    pub bases: Bases,
    /// What the call would do.
    pub analysis: Analysis,
}

impl Situation {
    /// The event there.
    pub fn new((agent, event): (&'static dyn Agent, Event), place: Place) -> Situation {
        let analysis = effect::analyse_event(&event, &place);
        let bases = Bases::of_place(&place);
        Situation { agent, event, place, bases, analysis }
    }

    /// Each operation of the event there: one, for nearly all. What lies beyond the cap is one that nobody knows.
    pub fn of_operations(
        (agent, mut event): (&'static dyn Agent, Event),
        place: Place,
    ) -> Vec<Situation> {
        let beyond = event.more.len() >= limits::OPERATIONS;
        event.more.truncate(limits::OPERATIONS - 1);
        let mut events = event.split_operations(limits::SHARED);
        if beyond && let Some(last) = events.last() {
            events.push(Event { tool: "Bash".into(), input: Value::Null, ..last.clone() });
        }
        let last = events.pop();
        let mut all: Vec<Situation> =
            events.into_iter().map(|event| Situation::new((agent, event), place.clone())).collect();
        all.extend(last.map(|event| Situation::new((agent, event), place)));
        if beyond && let Some(last) = all.last_mut() {
            let why = format!("the call has more than {} operations", limits::OPERATIONS);
            last.analysis.notes = vec![why];
        }
        all
    }
}

/// Is anything done?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    /// Rules run their commands, servers are asked, notes are kept.
    Live,
    /// Nothing is run, written or contacted: what `explain` and `test` do.
    Dry,
}

/// What a judgement is made with.
#[derive(Debug)]
pub struct JudgeContext<'a> {
    /// Where our files are.
    pub paths: &'a Paths,
    /// The payload as it came, for commands that rules run.
    pub stdin: &'a [u8],
    /// Nothing may take longer.
    pub deadline: Instant,
    /// Is anything done?
    pub mode: Mode,
    /// A human paused hookctl.
    pub paused: bool,
    /// Where the program for notifications on the desktop is looked for; nowhere = none is shown.
    pub notifiers: &'a [&'a str],
}

/// What it came to.
#[derive(Debug, Clone, Default)]
pub struct Judgement {
    /// What to tell the agent.
    pub answer: Answer,
    /// The rule that gave the verdict, by its full name.
    pub rule: String,
    /// Every rule that spoke, for the journal: `user:x deny`.
    pub spoke: Vec<String>,
    /// The servers that were asked.
    pub remotes: Vec<journal::RemoteRecord>,
    /// The names of those that are to be told of the verdict.
    pub told: Vec<String>,
    /// The marks that it sets on the session, if the call goes on.
    pub marks: Marks,
    /// What went wrong or was left undone on the way.
    pub notes: Vec<String>,
    /// Verdicts that hang on commands which nobody ran, where nothing is done.
    pub pending: Vec<Pending>,
}

/// A verdict that hangs on a command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// The rule, by its full name.
    pub rule: String,
    /// What it says then; none = it only tells of the failure.
    pub verb: Option<Verb>,
    /// The command with its values.
    pub command: String,
    /// How the command has to end for that.
    pub end: PendingEnd,
    /// Why, as far as it is known before the command has run.
    pub reason: String,
}

/// How a command has to end for a verdict to hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PendingEnd {
    /// It fails: a rule's `run`, or the `run` of its `unless`.
    Fails,
    /// It succeeds: the `run` of a rule's `when`.
    Succeeds,
}

impl Judgement {
    /// What all operations of one call come to: the strictest verdict, an allow only if each of them has one.
    fn join(all: Vec<Judgement>) -> Judgement {
        let allowed = all.iter().all(|one| one.answer.verb == Some(Verb::Allow));
        let mut joined = Judgement::default();
        for (at, mut one) in all.into_iter().enumerate() {
            let answer = &mut joined.answer;
            let verb = one.answer.verb.filter(|verb| allowed || verb.stops_call());
            if verb > answer.verb {
                answer.verb = verb;
                answer.reason = one.answer.reason;
                joined.rule = one.rule;
            }
            answer.elements.extend(one.answer.input.map(|input| (at, input)));
            answer.response = answer.response.take().or(one.answer.response);
            answer.suppress |= one.answer.suppress;
            append_new(&mut answer.context, &mut one.answer.context);
            append_new(&mut answer.notice, &mut one.answer.notice);
            append_new(&mut joined.spoke, &mut one.spoke);
            append_new(&mut joined.told, &mut one.told);
            append_new(&mut joined.notes, &mut one.notes);
            append_new(&mut joined.pending, &mut one.pending);
            joined.remotes.append(&mut one.remotes);
            joined.marks = joined.marks.union(one.marks);
        }
        if matches!(joined.answer.verb, Some(Verb::Deny | Verb::Halt)) {
            joined.answer.elements.clear();
        }
        joined
    }
}

/// What is not there yet.
fn append_new<T: PartialEq>(all: &mut Vec<T>, more: &mut Vec<T>) {
    for one in more.drain(..) {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

/// A verdict on the table.
struct Voice {
    verb: Verb,
    layer: Layer,
    priority: u8,
    severity: Severity,
    rule: String,
    reason: String,
}

/// What came of a rule's command.
type RuleOutcome<'r, T> = (&'r Rule, T);

/// An allow that comes from outside: of a hook script, of a server.
struct Allowed<'r> {
    rule: &'r Rule,
    reason: String,
}

struct Judge<'a> {
    event: &'a Event,
    analysis: &'a Analysis,
    place: &'a Place,
    bases: &'a Bases,
    config: &'a Config,
    world: &'a JudgeContext<'a>,
    out: Judgement,
    voices: Vec<Voice>,
    /// The rules whose reasons the agent is told.
    reasons_of: Vec<String>,
    /// A human at a server has said yes.
    approved: bool,
    /// Servers that are being asked meanwhile.
    begun: Vec<Asking<'a>>,
    /// What the commands of conditions said so far: none is asked the same twice.
    asked: Vec<CommandQuestion>,
    /// The payload for commands, made for the first of them.
    payload: OnceCell<Arc<[u8]>>,
    /// The event and its payload for hook scripts, where the agent's own is not Claude Code's.
    told: OnceCell<(Event, Arc<[u8]>)>,
    /// Not every rule could be held against the call.
    unjudged: Cell<Option<Spent>>,
}

/// The call with another input than it came with.
struct Again {
    input: Map<String, Value>,
    event: Event,
    analysis: Analysis,
    rules: Vec<Rc<Rule>>,
}

impl Again {
    fn to_form<'f, 'r>(
        &'f self,
        rules: &'f [&'r Rule],
        matches: &'f [Match<'r>],
    ) -> CallForm<'f, 'r> {
        CallForm { rules, matches, event: &self.event, analysis: &self.analysis }
    }

    fn find_matches(&self, judge: &mut Judge<'_>) -> Vec<Match<'_>> {
        let rules: Vec<&Rule> = self.rules.iter().map(Rc::as_ref).collect();
        let mut matches = judge.matches_quietly(&rules, &self.event, &self.analysis);
        judge.ask_circumstances(&mut matches, &self.event, &self.analysis, "again");
        matches
    }
}

/// One form of the call: as it came, or rewritten; and what there is to judge it by.
struct CallForm<'f, 'r> {
    rules: &'f [&'r Rule],
    matches: &'f [Match<'r>],
    event: &'f Event,
    analysis: &'f Analysis,
}

/// The reason of the rule's verdict, behind what a human is asked. A shipped rule that denies speaks to the model:
/// where it asks instead, its question stands in place of the reason, or the first sentence, which says what is done.
pub fn told_reason(
    rule: &Rule,
    verb: Verb,
    values: &dyn Fn(&PlaceholderName) -> Option<String>,
) -> String {
    let reason =
        rule.verdict.reason().map_or_else(String::new, |text| text.fill_for_reader(values));
    let question = rule.question.as_ref().filter(|_| verb == Verb::Ask);
    let asked = question.map(|text| text.fill_for_reader(values));
    let for_model = rule.layer() == Layer::Pack
        && verb == Verb::Ask
        && (rule.was_deny || rule.verb() == Some(Verb::Deny));
    match asked {
        Some(asked) if for_model => asked,
        _ if for_model => {
            let source = rule.verdict.reason().map_or("", Template::source);
            let rest = source.split_once(". ").map_or("", |(_, rest)| rest);
            reason.strip_suffix(rest).unwrap_or(&reason).trim_end().to_string()
        }
        Some(asked) if rule.layer() != Layer::Pack => format!("{}\n{reason}", asked.trim_end()),
        _ => reason,
    }
}

/// Which words of the call were not understood, and why: what a reason has behind it.
fn describe_unknown(one: &Match<'_>, analysis: &Analysis) -> String {
    let unknown = |effect: &&Effect| effect.grade == effect::Grade::Unknown;
    let mut effects = one.effects.iter().filter_map(|at| analysis.effects.get(*at)).filter(unknown);
    let word =
        effects.find_map(|effect| analysis.text.get(effect.span.clone())).unwrap_or_default();
    let why = match analysis.notes.is_empty() {
        true if word.contains('$') => "its value is not known",
        true => "not understood",
        false => &analysis.notes.join("; "),
    };
    // Of a text of which nothing was understood the whole is the word.
    let shown = word.trim();
    match shown.is_empty() || shown.len() > LONGEST_WORD || shown.contains('\n') {
        true if analysis.notes.is_empty() => String::new(),
        true => format!(" ({why})"),
        // One with backticks of its own needs none around it.
        false if shown.contains('`') => format!(" ({why}: {shown})"),
        false => format!(" ({why}: `{shown}`)"),
    }
}

/// Was the session not told that yet?
pub fn is_first_warning(paths: &Paths, event: &Event, warning: &str) -> bool {
    let key = trust::sha256_hex(format!("{}\0{warning}", event.session).as_bytes());
    once::first_time(&paths.notes(), &key[..32])
}

/// Judges a call by its operations: which of them decided, and what all come to.
///
/// # Panics
/// Where there is no operation: [`Situation::of_operations`] gives at least one.
pub fn judge_operations(
    situations: &[Situation],
    config: &Config,
    world: &JudgeContext<'_>,
) -> (usize, Judgement) {
    let (decided, mut judgement) = judge_each_operation(situations, config, world);
    judgement.answer.soft = !judgement.answer.is_silent() && config.is_soft_deny();
    (decided, judgement)
}

fn judge_each_operation(
    situations: &[Situation],
    config: &Config,
    world: &JudgeContext<'_>,
) -> (usize, Judgement) {
    if let [only] = situations {
        return (0, judge_event(only, config, world));
    }
    let all: Vec<Judgement> =
        situations.iter().map(|one| judge_event(one, config, world)).collect();
    let verbs: Vec<Option<Verb>> = all.iter().map(|one| one.answer.verb).collect();
    let joined = Judgement::join(all);
    let decided = verbs.iter().position(|verb| *verb == joined.answer.verb);
    (decided.unwrap_or(0), joined)
}

/// Judges the event.
pub fn judge_event(situation: &Situation, config: &Config, world: &JudgeContext<'_>) -> Judgement {
    limits::enter_stage(Stage::Rules);
    let Situation { event, place, bases, analysis, .. } = situation;
    let call = RuleQuery { event, analysis, place, deep: true };
    // The process ends soon: nothing is taken apart.
    let files = ManuallyDrop::new(config.file_rules(&call));
    let mut rules: Vec<&Rule> = files.iter().map(Rc::as_ref).collect();
    let (out, voices) = (Judgement::default(), Vec::new());
    let mut judge = Judge {
        event,
        analysis,
        place,
        bases,
        config,
        world,
        out,
        voices,
        reasons_of: Vec::new(),
        approved: false,
        begun: Vec::new(),
        asked: Vec::new(),
        payload: OnceCell::new(),
        told: OnceCell::new(),
        unjudged: Cell::new(None),
    };
    if rules.iter().any(|rule| rule.asks_session()) {
        // Which marks the call sets, shipped rules know as well.
        let shipped = ManuallyDrop::new(config.shipped_rules(Some(call)));
        let packs = shipped.iter().map(Rc::as_ref);
        judge.note_own_marks(rules.iter().copied().chain(packs), event, analysis);
    }
    let mut matches = judge.find_matches(&rules, event, analysis);
    // No shipped rule is stronger than a deny of the files: then they need not even be read.
    let shipped = ManuallyDrop::new(match judge.is_settled(&matches) {
        true => Vec::new(),
        false => config.shipped_rules(Some(RuleQuery { deep: judge.looks_deep(&matches), ..call })),
    });
    let packs: Vec<&Rule> = shipped.iter().map(Rc::as_ref).collect();
    if packs.iter().any(|rule| rule.asks_session()) {
        judge.note_own_marks(rules.iter().chain(&packs).copied(), event, analysis);
    }
    matches.extend(judge.find_matches(&packs, event, analysis));
    rules.extend(packs);
    judge.run_matches(&rules, matches)
}

impl<'a> Judge<'a> {
    fn is_dry(&self) -> bool {
        self.world.mode == Mode::Dry
    }

    /// Does it matter what may lie below a directory? For an allow it does, and in profile strict.
    fn looks_deep(&self, matches: &[Match<'_>]) -> bool {
        self.config.profile == Profile::Strict
            || self.asks_anyway()
            || matches.iter().any(|m| m.rule.consults_outside() || m.verb() == Some(Verb::Allow))
    }

    fn run_matches<'r>(mut self, rules: &[&'r Rule], mut matches: Vec<Match<'r>>) -> Judgement {
        let forwards = self.forward_rules();
        if self.event.kind == Kind::SessionEnd {
            self.end_of_session();
        }
        if self.is_settled(&matches) {
            // A plain deny is final: nothing is run for a call that will not happen.
            self.notify_auditors(&matches);
            self.tell_of(&matches, false);
            self.add_messages(&matches);
            self.combine_answer(&self.original_form(rules, &matches), &[]);
            return self.out;
        }
        self.begin_asking(&matches, &forwards, false);
        self.ask_circumstances(&mut matches, self.event, self.analysis, "when");
        self.begin_asking(&matches, &forwards, true);
        self.tell_of(&matches, true);
        let (said, failed_runs) = self.run_actions(&matches);
        let rewritten = self.rewrite_input(&matches, &said);
        let mut allows: Vec<Allowed<'_>> = said
            .iter()
            .filter(|(_, said)| matches!(said.verb, Some((Verb::Allow, _))))
            .map(|(rule, _)| Allowed { rule, reason: "The hook script allows it.".into() })
            .collect();
        said.iter().for_each(|(rule, said)| self.hear_script(rule, said));
        failed_runs.iter().for_each(|(rule, outcome)| self.hear_failure(&matches, rule, outcome));
        self.replace_result(&matches, &said);
        let mut again = rewritten.map(|input| self.rewritten_call(&matches, input));
        if !forwards.is_empty() || matches.iter().any(|one| one.rule.remote_name().is_some()) {
            let form = self.original_form(rules, &matches);
            let input = self.ask_servers(&form, &forwards, again.as_ref(), &mut allows);
            again = again.or_else(|| input.map(|input| self.rewritten_call(&matches, input)));
        }
        match again {
            None => self.combine_answer(&self.original_form(rules, &matches), &allows),
            Some(again) => {
                self.out.answer.input = Some(again.input.clone());
                let matches = again.find_matches(&mut self);
                self.tell_of(&matches, false);
                let rules: Vec<&Rule> = again.rules.iter().map(Rc::as_ref).collect();
                self.combine_answer(&again.to_form(&rules, &matches), &allows);
            }
        }
        self.out
    }

    /// Asks the servers, unless local rules deny the call: the new input that one of them wants.
    fn ask_servers<'r>(
        &mut self,
        form: &CallForm<'_, 'r>,
        forwards: &'r [Rule],
        again: Option<&Again>,
        allows: &mut Vec<Allowed<'r>>,
    ) -> Option<Map<String, Value>> {
        let denied = self.is_denied(form.matches);
        let new = again.filter(|_| !denied).map(|again| again.find_matches(self));
        if denied || new.as_ref().is_some_and(|new| self.is_denied(new)) {
            self.notify_auditors(form.matches);
            return None;
        }
        let allowed = match (again, &new) {
            (Some(again), Some(matches)) => {
                let rules: Vec<&Rule> = again.rules.iter().map(Rc::as_ref).collect();
                self.is_allowed_locally(&again.to_form(&rules, matches), allows)
            }
            _ => self.is_allowed_locally(form, allows),
        };
        let (input, servers) =
            self.consult_servers(form.matches, forwards, again.is_some(), allowed);
        allows.extend(servers);
        input
    }

    /// The call as it came.
    fn original_form<'f, 'r>(
        &self,
        rules: &'f [&'r Rule],
        matches: &'f [Match<'r>],
    ) -> CallForm<'f, 'r>
    where
        'a: 'f,
    {
        CallForm { rules, matches, event: self.event, analysis: self.analysis }
    }

    /// The call with another input. Deny and ask judge both inputs, allow only the new one.
    fn rewritten_call(&mut self, matches: &[Match<'_>], input: Map<String, Value>) -> Again {
        self.add_stops(matches, self.event, self.analysis);
        self.call_with(self.event, input)
    }

    /// The call, were that its input.
    fn call_with(&self, event: &Event, input: Map<String, Value>) -> Again {
        let mut event = event.clone();
        event.raw.insert("tool_input".into(), Value::Object(input.clone()));
        event.input = Value::Object(input.clone());
        let analysis = effect::analyse_more(&event, self.place);
        limits::enter_stage(Stage::Rules);
        let call = RuleQuery { event: &event, analysis: &analysis, place: self.place, deep: true };
        let mut rules = self.config.file_rules(&call);
        rules.extend(self.config.shipped_rules(Some(call)));
        Again { input, event, analysis, rules }
    }

    fn find_matches<'r>(
        &mut self,
        rules: &[&'r Rule],
        event: &Event,
        analysis: &Analysis,
    ) -> Vec<Match<'r>> {
        let matches = self.matches_quietly(rules, event, analysis);
        for one in matches.iter().filter(|one| one.rule.marks().is_empty() || one.verb().is_some())
        {
            let verb = one.verb().map_or("-", Verb::name);
            let observed = if one.observed { " (observed)" } else { "" };
            self.out.spoke.push(format!("{} {verb}{observed}", one.rule.qualified_name()));
        }
        matches
    }

    fn matches_quietly<'r>(
        &mut self,
        rules: &[&'r Rule],
        event: &Event,
        analysis: &Analysis,
    ) -> Vec<Match<'r>> {
        let case = self.rule_context(event, analysis);
        let mut found: Vec<(usize, Match<'r>)> = Vec::new();
        // What a repository's rules cost must not be missing for the others.
        for (stage, project) in [(Stage::Project, true), (Stage::Rules, false)] {
            if rules.iter().all(|rule| rule.layer().is_project() != project) {
                continue;
            }
            limits::enter_stage(stage);
            for (at, rule) in rules.iter().enumerate() {
                if rule.layer().is_project() == project
                    && let Some(mut one) = case.test_rule(rule)
                {
                    one.observed |= self.world.paused && !rule.stays;
                    found.push((at, one));
                }
            }
            if let Some(spent) = limits::spent_resource() {
                self.unjudged.set(Some(spent));
            }
        }
        for (_, one) in &found {
            self.out.marks = self.out.marks.union(one.rule.marks());
        }
        crate::order::sort_by_key(&mut found, |(at, _)| *at);
        found.into_iter().map(|(_, one)| one).collect()
    }

    /// What the call itself reads it may send: to a rule that speaks of both the mark stands already. What it fetches
    /// comes in only behind it.
    fn note_own_marks<'r>(
        &self,
        rules: impl Iterator<Item = &'r Rule>,
        event: &Event,
        analysis: &Analysis,
    ) {
        let Some(session) = &self.place.session else { return };
        let case = self.rule_context(event, analysis);
        let private = |rule: &&Rule| rule.marks().contains(Mark::Private);
        if rules.filter(private).any(|rule| case.test_rule(rule).is_some()) {
            session.note_own([Mark::Private].into_iter().collect());
        }
    }

    fn rule_context<'c>(&'c self, event: &'c Event, analysis: &'c Analysis) -> RuleContext<'c> {
        let subject = Subject { event, analysis, bases: self.bases, place: self.place };
        RuleContext { subject, profile: self.config.profile }
    }

    /// Is there a deny that depends on nothing that would have to be run?
    fn is_settled(&self, matches: &[Match<'_>]) -> bool {
        matches.iter().any(|one| {
            !one.observed
                && matches!(one.verb(), Some(Verb::Deny | Verb::Halt))
                && !one.rule.runs_or_writes()
                && !self.asks_server(one.rule)
                && self.may_block(one.rule)
        })
    }

    fn may_block(&self, rule: &Rule) -> bool {
        let before = if engine::counts_stops(self.event, rule) {
            once::read_count(&self.world.paths.notes(), &self.stop_key(rule))
        } else {
            0
        };
        engine::may_block_stop(self.event, rule, before)
    }

    fn stop_key(&self, rule: &Rule) -> String {
        let text =
            format!("{}\0{}\0{}", self.event.session, self.event.name, rule.qualified_name());
        trust::sha256_hex(text.as_bytes())[..24].to_string()
    }

    /// What a hook script has to say.
    fn hear_script(&mut self, rule: &Rule, said: &ScriptAnswer) {
        self.out.answer.context.extend(said.context.iter().cloned());
        self.out.answer.notice.extend(said.notice.iter().cloned());
        self.out.answer.suppress |= said.suppress;
        let once = rule.hook_script().is_some_and(|(_, dialect)| !dialect.ends_stops());
        match &said.verb {
            Some((Verb::Deny, _)) if once && !self.may_block(rule) => {
                self.out.notes.push(format!("{}: {BLOCKED_ONCE}", rule.qualified_name()));
            }
            None | Some((Verb::Allow, _)) => {}
            Some((verb, reason)) => self.add_voice(rule, *verb, reason.clone()),
        }
        let Some(why) = &said.failure else { return };
        self.out.notes.push(format!("{}: hook script: {why}", rule.qualified_name()));
        if self.may_block(rule) {
            self.apply_fallback(rule, format!("The hook script of this rule failed: {why}."));
        } else if rule.failure_fallback() != Otherwise::Silent {
            self.out.notes.push(format!("{}: {BLOCKED_ONCE}", rule.qualified_name()));
        }
    }

    /// What a rule has to say whose command failed.
    fn hear_failure(&mut self, matches: &[Match<'_>], rule: &Rule, outcome: &Outcome) {
        let (ended, output) = (outcome.describe_end(), outcome.combined_output());
        let one = matches.iter().find(|one| std::ptr::eq(one.rule, rule));
        let (Verdict::Stop { verb, .. }, Some(one)) = (&rule.verdict, one) else {
            let text = format!("The command of this rule failed ({ended}):\n{output}");
            self.out.answer.context.push(format!(
                "{} [{}]",
                text.trim_end(),
                rule.qualified_name()
            ));
            return;
        };
        // Where it printed nothing, how it ended is all that there is to say.
        let printed = if output.trim().is_empty() { &ended } else { &output };
        let values = self.match_values(one);
        let reason = told_reason(rule, *verb, &|name| match name {
            PlaceholderName::RunOutput => Some(printed.clone()),
            PlaceholderName::Error => Some(ended.clone()),
            _ => values(name),
        });
        drop(values);
        self.add_voice(rule, *verb, reason);
    }

    fn apply_fallback(&mut self, rule: &Rule, why: String) {
        match rule.failure_fallback() {
            Otherwise::Silent => {}
            Otherwise::Ask => self.add_voice(rule, Verb::Ask, why),
            Otherwise::Deny => self.add_voice(rule, Verb::Deny, why),
        }
    }

    fn add_voice(&mut self, rule: &Rule, verb: Verb, reason: String) {
        let (layer, priority, severity) = rule.telling_order();
        let rule = rule.qualified_name();
        self.voices.push(Voice { verb, layer, priority, severity, rule, reason });
    }

    /// A question that no rule of a file has.
    fn ask_as(&mut self, rule: &str, layer: Layer, reason: String) {
        let (verb, priority, severity) = (Verb::Ask, 0, Severity::default());
        self.voices.push(Voice { verb, layer, priority, severity, rule: rule.into(), reason });
    }

    /// The strongest verdicts of rules that stop, on one form of the input: of shipped rules one.
    fn add_stops(&mut self, matches: &[Match<'_>], event: &Event, analysis: &Analysis) {
        let mut stops: Vec<&Match<'_>> = matches
            .iter()
            .filter(|one| {
                !one.observed
                    && one.verb().is_some_and(Verb::stops_call)
                    && one.rule.verdict.awaited_command().is_none()
                    && self.may_block(one.rule)
                    && !self.is_approved(one)
            })
            .collect();
        let strongest = stops.iter().filter_map(|one| one.verb()).max();
        stops.retain(|one| one.verb() == strongest);
        crate::order::sort_by_key(&mut stops, |one| Reverse(one.rule.telling_order()));
        stops.truncate(limits::REASONS);
        let of_files = stops.iter().filter(|one| one.rule.layer() != Layer::Pack).count();
        stops.truncate(of_files.max(1));
        for one in stops {
            let verb = one.verb().unwrap_or(Verb::Deny);
            let mut reason = told_reason(one.rule, verb, &self.values_of(event, analysis, one));
            if one.unknown {
                reason.push_str(&describe_unknown(one, analysis));
            }
            // What the call's own text does comes first.
            if let Some(way) = one.effects.first().and_then(|at| analysis.way_to(*at)) {
                reason.push_str(&format!(" (via {way})"));
            }
            self.add_voice(one.rule, verb, reason);
        }
    }

    /// Combines everything into the answer.
    fn combine_answer(&mut self, form: &CallForm<'_, '_>, outside: &[Allowed<'_>]) {
        self.add_stops(form.matches, form.event, form.analysis);
        self.ask_about_broken_config();
        self.ask_about_unjudged();
        if self.voices.is_empty() {
            self.add_allow(form, outside);
        }
        self.settle_voices();
        self.count_stops(form.matches);
        self.tell_anyway();
    }

    /// The strongest verdict, and the reasons of all that say so: those of higher layers first, then by priority and
    /// severity, then as in the file. A shipped rule's is told where no file's is, and of several the first.
    fn settle_voices(&mut self) {
        let Some(verb) = self.voices.iter().map(|one| one.verb).max() else { return };
        let mut all: Vec<&Voice> = self.voices.iter().filter(|one| one.verb == verb).collect();
        // One that says why goes before one that does not.
        let rank = |one: &Voice| (one.layer, !one.reason.is_empty(), one.priority, one.severity);
        crate::order::sort_by_key(&mut all, |one| Reverse(rank(one)));
        let mut told: Vec<String> = Vec::new();
        let mut reason = String::new();
        for voice in all {
            let first = told.is_empty();
            let repeated = told.contains(&voice.rule) || voice.layer == Layer::Pack;
            let silent = voice.reason.trim().is_empty();
            // An allow has one; a question that was left open elsewhere comes without.
            if !first && (repeated || silent || !verb.stops_call() || told.len() >= limits::REASONS)
            {
                continue;
            }
            if !silent || verb != Verb::Ask {
                let own = format!("{} [{}]", voice.reason.trim_end(), voice.rule);
                reason.push_str(if reason.is_empty() { "" } else { "\n" });
                reason.push_str(own.trim_start());
            }
            told.push(voice.rule.clone());
        }
        self.out.rule.clone_from(&told[0]);
        self.out.answer.verb = Some(verb);
        self.out.answer.reason = reason;
        if matches!(verb, Verb::Deny | Verb::Halt) {
            // What was to be told beside a call that does not happen still helps the model.
            self.out.answer.input = None;
        }
        self.reasons_of = told;
    }

    /// A file that cannot be used makes the calls that its rules could be about an ask. In a pause only the administrator's
    /// does: a rule of it that is locked holds then, and taking its file away must not switch it off.
    fn ask_about_broken_config(&mut self) {
        if self.world.paused && !self.config.lacks_managed {
            return;
        }
        for (kinds, why) in &self.config.broken {
            if !kinds.contains(self.event.kind) {
                continue;
            }
            self.out.notes.push(why.clone());
            if self.event.kind == Kind::PreToolUse {
                let reason = format!("hookctl's rules cannot all be used: {why}.");
                self.ask_as("config", Layer::Managed, reason);
            } else if self.event.kind == Kind::SessionStart {
                self.out.answer.notice.push(format!("hookctl: {why}"));
            }
        }
    }

    /// Rules that the budget did not reach for might have spoken.
    fn ask_about_unjudged(&mut self) {
        let spent = self.unjudged.get().or(limits::spent_resource());
        let Some(spent) = spent.filter(|_| !self.world.paused) else { return };
        let why = format!("hookctl cannot judge all of this: {}", spent.describe_shortage());
        self.out.notes.push(spent.describe_shortage().into());
        if self.event.kind == Kind::PreToolUse {
            self.ask_as("not-understood", Layer::Pack, format!("{why}."));
        } else {
            self.out.answer.notice.push(why);
        }
    }

    /// How often in a row each rule blocked a stop.
    fn count_stops(&mut self, matches: &[Match<'_>]) {
        if self.is_dry() {
            return;
        }
        let notes = self.world.paths.notes();
        for one in matches.iter().filter(|one| engine::counts_stops(self.event, one.rule)) {
            let key = self.stop_key(one.rule);
            let blocked = self.out.answer.verb == Some(Verb::Deny)
                && self.reasons_of.contains(&one.rule.qualified_name());
            let before = once::read_count(&notes, &key);
            once::store_count(&notes, &key, if blocked { before + 1 } else { 0 });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(verb: Option<Verb>, reason: &str) -> Judgement {
        let answer = Answer { verb, reason: reason.into(), ..Answer::default() };
        Judgement { answer, rule: reason.into(), ..Judgement::default() }
    }

    #[test]
    fn operations_of_one_call_come_to_the_strictest_verdict() {
        let (allow, ask, deny) = (Some(Verb::Allow), Some(Verb::Ask), Some(Verb::Deny));
        for (all, verb, reason) in [
            (vec![said(deny, "one"), said(deny, "two")], deny, "one"),
            (vec![said(ask, "one"), said(deny, "two"), said(ask, "three")], deny, "two"),
            (vec![said(allow, "one"), said(allow, "two")], allow, "one"),
            // An allow counts only if each of them has one.
            (vec![said(allow, "one"), said(None, "")], None, ""),
            (vec![said(allow, "one"), said(ask, "two")], ask, "two"),
        ] {
            let joined = Judgement::join(all);
            assert_eq!((joined.answer.verb, &*joined.answer.reason), (verb, reason));
            assert_eq!(joined.rule, reason);
        }
    }
}
