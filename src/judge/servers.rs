//! Servers in the judgement: which are asked about an event, what their answers do to it, and which are
//! told of its end.
//!
//! Local rules come first and a local deny is final. A server can always tighten. Its allow counts
//! like that of a hook script, and lifts an ask only where a human answers there.

use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value};

use super::remember::{ServerAnswer, Who};
use super::{Allowed, BLOCKED_ONCE, Judge, WOULD_ASK};
use crate::agent;
use crate::dialect::{Reply, Request};
use crate::engine::Match;
use crate::event::Kind;
use crate::journal::{self, By};
use crate::remote::memory::Recall;
use crate::remote::reply::fails_closed;
use crate::remote::{self, AskOutcome, Asking};
use crate::rule::file::Remote;
use crate::rule::{Action, Layer, Otherwise, Rule};
use crate::verdict::Verb;
use crate::watchdog;

/// A server and on whose behalf it is asked: the rules, strongest layer first.
pub(super) struct WantedServer<'a, 'r> {
    pub(super) remote: &'a Remote,
    pub(super) rules: Vec<&'r Rule>,
}

/// What the servers said together.
#[derive(Default)]
struct Settled<'r> {
    /// The new input, and for which rule.
    input: Option<(&'r Rule, Map<String, Value>)>,
    allows: Vec<Allowed<'r>>,
    /// The yes of a human.
    approved: Option<Allowed<'r>>,
}

impl<'a> Judge<'a> {
    /// A rule for each server that is asked about this event whatever the rules say.
    pub(super) fn forward_rules(&self) -> Vec<Rule> {
        let kind = self.event.kind;
        let all = self.config.remotes();
        let wanted = all.filter(|(_, one)| {
            one.dialect.is_asked_about(kind) && one.events.contains(kind) && !self.world.paused
        });
        wanted
            .map(|(layer, one)| Rule {
                id: format!("remote.{}", one.name),
                layer: Some(layer),
                on: one.events,
                actions: vec![Action::Remote {
                    server: one.name.clone(),
                    otherwise: match one.fail_open || !fails_closed(kind) {
                        true => Otherwise::Silent,
                        false => Otherwise::Deny,
                    },
                }],
                repeat: 1,
                ..Rule::default()
            })
            .collect()
    }

    /// Asks the servers that this event needs. Returns the new input that one of them wants, and who
    /// allows the call. `changed`: local rules rewrote the input, which no server has seen. `allowed`:
    /// they allow the call, for which no human need be bothered.
    pub(super) fn consult_servers<'r>(
        &mut self,
        matches: &[Match<'r>],
        forwards: &'r [Rule],
        changed: bool,
        allowed: bool,
    ) -> (Option<Map<String, Value>>, Vec<Allowed<'r>>) {
        let wanted = self.wanted_servers(matches, forwards, allowed);
        if wanted.is_empty() {
            return (None, Vec::new());
        }
        let recalls: Vec<Option<Recall>> =
            wanted.iter().map(|one| self.recall_answer(one, matches, changed)).collect();
        let open = wanted.iter().zip(&recalls).filter(|(_, recall)| recall.is_none());
        let open: Vec<&WantedServer<'_, '_>> = open.map(|(one, _)| one).collect();
        // Whoever would be asked may still say no.
        let waits = self.is_dry() && !open.is_empty();
        let mut answers = match self.is_dry() {
            true => self.would_ask(&open, matches),
            false => self.gather_answers(&open, matches),
        }
        .into_iter();
        // What of the voices so far only local rules and scripts said.
        let local = self.voices.len();
        let mut heard = Settled::default();
        for (one, recall) in wanted.iter().zip(recalls) {
            let reply = match recall {
                Some(recall) => Ok(self.remembered_reply(one, recall)),
                None => match answers.next() {
                    Some((asked, reply, who)) => {
                        self.record_answer(one.remote, &asked, reply.as_ref(), who);
                        reply
                    }
                    None if self.is_dry() => continue,
                    None => Err(String::new()),
                },
            };
            match reply {
                Ok(reply) => {
                    let reply = reply.apply_settings(one.remote, self.event);
                    self.remember_answer(one, matches, &reply, changed);
                    self.settle(one, reply, changed, waits, &mut heard);
                }
                Err(why) => one.rules.iter().for_each(|rule| self.apply_unanswered(rule, &why)),
            }
        }
        let Settled { input, mut allows, approved } = heard;
        // Nobody has allowed what another server made of the input.
        let seen = |rule: &Rule| input.as_ref().is_none_or(|(by, _)| std::ptr::eq(*by, rule));
        allows.retain(|one: &Allowed<'_>| seen(one.rule));
        if let Some(one) = approved.filter(|one| seen(one.rule)) {
            self.approve(one, local);
        }
        (input.map(|(_, input)| input), allows)
    }

    /// Takes over what a server said. `waits`: another that would be asked may still say no.
    fn settle<'r>(
        &mut self,
        one: &WantedServer<'_, 'r>,
        reply: Reply,
        changed: bool,
        waits: bool,
        heard: &mut Settled<'r>,
    ) {
        let Some(&rule) = one.rules.first() else { return };
        let allows = reply.verb == Some(Verb::Allow) && !changed && !waits;
        let reason = reply.reason.clone();
        let new = self.take_reply(rule, reply, changed);
        if new.is_some() && heard.input.is_some() {
            self.add_voice(rule, Verb::Deny, "Two servers change the input of this call.".into());
        }
        heard.input = new.map(|new| (rule, new)).or(heard.input.take());
        match allows {
            true if one.remote.human => heard.approved = Some(Allowed { rule, reason }),
            true => heard.allows.push(Allowed { rule, reason }),
            false => {}
        }
    }

    /// The human has been asked: of the voices before `local`, neither the administrator's questions nor another
    /// server's are theirs to answer.
    fn approve(&mut self, one: Allowed<'_>, local: usize) {
        let mut at = 0;
        self.voices.retain(|one| {
            at += 1;
            at > local || one.verb != Verb::Ask || one.layer == Layer::Managed
        });
        self.approved = true;
        self.add_voice(one.rule, Verb::Allow, one.reason);
    }

    /// Is a server asked about this event whatever the rules say?
    pub(super) fn asks_anyway(&self) -> bool {
        let kind = self.event.kind;
        self.config
            .remotes()
            .any(|(_, one)| one.dialect.is_asked_about(kind) && one.events.contains(kind))
    }

    /// A local rule denies, so that nobody is asked: who wanted to be, and audits, is told.
    pub(super) fn notify_auditors(&mut self, matches: &[Match<'_>]) {
        let (config, kind) = (self.config, self.event.kind);
        let named = |remote: &Remote| {
            let mut fired = matches.iter().filter(|one| !one.observed);
            fired.any(|one| one.rule.remote_name() == Some(&remote.name))
        };
        let audits = |remote: &Remote| remote.audit && !remote.dialect.facts().is_live;
        for (_, remote) in config.remotes().filter(|(_, remote)| audits(remote)) {
            let asked = remote.events.contains(kind) && !self.world.paused;
            if remote.dialect.facts().decides && (asked || named(remote)) {
                self.mark_told(&remote.name);
            }
        }
    }

    /// Does the rule ask a server? Not so where that one is only told.
    pub(super) fn asks_server(&self, rule: &Rule) -> bool {
        let Some(name) = rule.remote_name() else { return false };
        let mut remotes = self.config.remotes();
        !remotes.any(|(_, one)| one.name == name && one.dialect.is_told_of(self.event.kind))
    }

    /// The rules that fired name servers which are told, not asked. `sure`: it is known of all that
    /// they did, their `when.run` included.
    pub(super) fn tell_of(&mut self, matches: &[Match<'_>], sure: bool) {
        let fired =
            |one: &&Match<'_>| !one.observed && (sure || one.rule.conditions.when.run.is_none());
        for rule in matches.iter().filter(fired).map(|one| one.rule) {
            let named = |one: &Remote| rule.remote_name() == Some(&one.name);
            let mut remotes = self.config.remotes().map(|(_, one)| one);
            if let Some(one) = remotes.find(|one| named(one) && one.dialect.tells_of(self.event)) {
                self.mark_told(&one.name);
            }
        }
    }

    /// Those that are told of every event that ended like this one.
    pub(super) fn tell_anyway(&mut self) {
        let (config, kind, verb) = (self.config, self.event.kind, self.out.answer.verb);
        for (_, remote) in config.remotes() {
            let wants = remote.verdicts.is_empty() || remote.verdicts.contains(&verb);
            let goes_ahead = kind == Kind::PreToolUse && !verb.is_some_and(Verb::stops_call);
            let tells = remote.dialect.tells_of(self.event)
                || goes_ahead && remote.dialect.tells_starts(&remote.own);
            if tells && remote.events.contains(kind) && wants {
                self.mark_told(&remote.name);
            }
        }
    }

    fn mark_told(&mut self, name: &str) {
        if self.is_dry() {
            self.note_once(format!("would tell: [remote.{name}]"));
        } else if !self.out.told.iter().any(|known| known == name) {
            self.out.told.push(name.to_string());
        }
    }

    fn note_once(&mut self, note: String) {
        if !self.out.notes.contains(&note) {
            self.out.notes.push(note);
        }
    }

    /// The servers that rules name and those of `forwards`, each once.
    fn wanted_servers<'r>(
        &mut self,
        matches: &[Match<'r>],
        forwards: &'r [Rule],
        allowed: bool,
    ) -> Vec<WantedServer<'a, 'r>> {
        let config = self.config;
        let mut out: Vec<WantedServer<'a, 'r>> = Vec::new();
        let named = matches.iter().filter(|one| !one.observed).map(|one| one.rule);
        for rule in named.chain(forwards) {
            let Some(name) = rule.remote_name() else { continue };
            let found = config.remotes().find(|(_, one)| one.name == name);
            let Some((_, remote)) = found else {
                self.apply_unanswered(rule, &format!("there is no [remote.{name}]"));
                continue;
            };
            if remote.dialect.is_told_of(self.event.kind)
                || remote.human && (allowed || self.was_asked(rule))
            {
                continue;
            }
            if !remote.dialect.is_asked_about(self.event.kind) {
                self.apply_unanswered(rule, &format!("it is not asked about {}", self.event.name));
                continue;
            }
            if let Some(known) = out.iter_mut().find(|one| one.remote.name == *name) {
                known.rules.push(rule);
            } else {
                out.push(WantedServer { remote, rules: vec![rule] });
            }
        }
        out.iter_mut().for_each(|one| {
            crate::order::sort_by_key(&mut one.rules, |rule| std::cmp::Reverse(rule.layer()))
        });
        out
    }

    /// Begins to ask the servers that will be wanted, for the time that commands of rules take. No human:
    /// what a command says may settle the call, and nobody is to be asked in vain. `sure`: the
    /// commands of conditions have spoken.
    pub(super) fn begin_asking(&mut self, matches: &[Match<'_>], forwards: &[Rule], sure: bool) {
        let fired = matches.iter().filter(|one| !one.observed).map(|one| one.rule);
        let runs = fired.clone().any(|rule| rule.runs_or_writes());
        if self.is_dry() || !runs {
            return;
        }
        let config = self.config;
        let hangs = |rule: &Rule| {
            let unless = rule.unless.as_ref().is_some_and(|unless| unless.when.run.is_some());
            unless || rule.conditions.when.run.is_some()
        };
        let mut remotes: Vec<&'a Remote> = Vec::new();
        for name in fired.filter(|rule| sure || !hangs(rule)).chain(forwards).map(Rule::remote_name)
        {
            let named = |(_, one): &(Layer, &Remote)| name == Some(&one.name);
            let Some((_, one)) = config.remotes().find(named) else { continue };
            let known = remotes.iter().chain(self.begun.iter().map(|one| &one.remote));
            let kind = self.event.kind;
            let asked =
                !one.human && one.dialect.is_asked_about(kind) && !one.dialect.is_told_of(kind);
            if asked && known.into_iter().all(|known| known.name != one.name) {
                remotes.push(one);
            }
        }
        let asking = self.asking(remotes);
        self.begun.extend(asking);
    }

    /// Begins to ask them, all at once.
    fn asking(&mut self, remotes: Vec<&'a Remote>) -> Vec<Asking<'a>> {
        if remotes.is_empty() {
            return Vec::new();
        }
        let request = self.shared_request();
        let begin = |remote| remote::begin_asking(&request, remote, self.world.paths);
        remotes.into_iter().map(begin).collect()
    }

    /// The event for servers: only copied where somebody is asked.
    fn shared_request(&mut self) -> Arc<Request> {
        watchdog::begin_waiting();
        let bytes = self.world.stdin.to_vec();
        let (deadline, paths) = (self.world.deadline, self.world.paths);
        let beside = self.asked_beside();
        if let Some(name) = beside {
            self.note_once(format!("{name}'s own hooks ask about this call as well"));
        }
        let effects = remote::effects::describe_effects(self.analysis);
        let request = Request::new(self.event.clone(), bytes, deadline, paths);
        Arc::new(Request { effects, twice: beside.is_some(), ..request })
    }

    /// The protocol of a server whose own hooks, in the agent's settings, ask it about this call as well.
    fn asked_beside(&self) -> Option<&'static str> {
        if !self.event.kind.is_gate() {
            return None;
        }
        let (home, place) = (&self.world.paths.home, self.place);
        let (cwd, root) = (Path::new(&place.cwd), Path::new(&place.project));
        let files = agent::from_event(self.event).settings_files(home, cwd, root);
        let dialects = self.config.remotes().map(|(_, one)| one.dialect);
        let beside = dialects.filter(|dialect| dialect.is_asked_beside(&files));
        beside.map(|dialect| dialect.scope_name()).next()
    }

    /// Notes who would be asked, where nobody is.
    fn would_ask(
        &mut self,
        wanted: &[&WantedServer<'a, '_>],
        matches: &[Match<'_>],
    ) -> Vec<ServerAnswer> {
        for one in wanted {
            self.note_once(format!("{WOULD_ASK}: [remote.{}]", one.remote.name));
            self.recall_anywhere(one, matches);
        }
        Vec::new()
    }

    /// What came of each, and what it says.
    fn gather_answers(
        &mut self,
        wanted: &[&WantedServer<'a, '_>],
        matches: &[Match<'_>],
    ) -> Vec<ServerAnswer> {
        let mut asking = std::mem::take(&mut self.begun);
        let is_begun = |one: &&&WantedServer<'a, '_>| {
            asking.iter().any(|begun| begun.remote.name == one.remote.name)
        };
        let others = wanted.iter().filter(|one| !is_begun(one)).map(|one| one.remote).collect();
        asking.extend(self.asking(others));
        let mut said: Vec<Option<ServerAnswer>> = wanted.iter().map(|_| None).collect();
        for one in asking {
            let remote = one.remote;
            let at = wanted.iter().position(|wanted| wanted.remote.name == remote.name);
            let Some(at) = at else { continue };
            let asked = one.wait_for_answer();
            let body = asked.outcome.as_ref().map_err(String::clone);
            said[at] =
                Some(match body.and_then(|body| remote::read_reply(remote, &one.request, body)) {
                    Ok(reply) => {
                        self.check_human_answer(wanted[at], matches, &one.request, (asked, reply))
                    }
                    failed => (asked, failed, remote.human.then_some(Who::Now(By::Nobody))),
                });
        }
        said.into_iter().flatten().collect()
    }

    /// A human is asked once about a call: before it is made, where that is wanted.
    fn was_asked(&self, rule: &Rule) -> bool {
        self.event.kind == Kind::PermissionRequest && rule.on.contains(Kind::PreToolUse)
    }

    /// Takes over what the server said, but for an allow; the input that it wants.
    fn take_reply(
        &mut self,
        rule: &Rule,
        reply: Reply,
        changed: bool,
    ) -> Option<Map<String, Value>> {
        let name = rule.qualified_name();
        self.out.notes.extend(reply.notes.iter().map(|note| format!("{name}: {note}")));
        self.out.answer.context.extend(reply.context);
        self.out.answer.notice.extend(reply.notice);
        self.out.answer.suppress |= reply.suppress;
        if let Some(verb) = reply.verb.filter(|verb| *verb != Verb::Allow) {
            // An agent that could not stop while a server says no would never stop.
            if verb == Verb::Halt || self.may_block(rule) {
                self.add_voice(rule, verb, reply.reason);
            } else {
                self.out.notes.push(format!("{name}: {BLOCKED_ONCE}"));
            }
        }
        if let Some(response) = reply.response {
            match self.out.answer.response {
                None => self.out.answer.response = Some(response),
                // What a local rule took out must not come back.
                Some(_) => {
                    self.out.notes.push(format!("{name}: a rule changed the result already"))
                }
            }
        }
        if reply.input.is_some() && changed {
            let why = "The server changes the input of this call, and a rule does so too.";
            self.add_voice(rule, Verb::Deny, why.into());
            return None;
        }
        reply.input
    }

    /// What a server that cannot be asked amounts to for the rule.
    fn apply_unanswered(&mut self, rule: &Rule, why: &str) {
        let name = rule.qualified_name();
        self.out.notes.push(format!("{name}: {why}"));
        let forwarded = rule.id.contains('.');
        if rule.failure_fallback() != Otherwise::Silent && !self.may_block(rule) {
            self.out.notes.push(format!("{name}: {BLOCKED_ONCE}"));
            return;
        }
        let server = rule.remote_name().unwrap_or_default();
        let mut remotes = self.config.remotes().filter(|(_, one)| one.name == server);
        let what = remotes.next().map_or("Server", |(_, one)| one.dialect.facts().title);
        self.apply_fallback(
            rule,
            match forwarded {
                true => format!("{what} unavailable, failing closed"),
                false => format!("The server `{server}` cannot be asked: {why}."),
            },
        );
    }

    /// A line of the journal.
    fn record_answer(
        &mut self,
        remote: &Remote,
        asked: &AskOutcome,
        reply: Result<&Reply, &String>,
        who: Option<Who>,
    ) {
        let no = reply.is_ok_and(|reply| matches!(reply.verb, Some(Verb::Deny | Verb::Halt)));
        let outcome = match (&asked.outcome, reply) {
            (Err(_), _) | (_, Err(_)) => "failed",
            _ if no && remote.human => "refused",
            _ => "answered",
        };
        // Why a human's server says nothing more.
        let silent = |reply: &&Reply| remote.human && reply.reason.is_empty();
        let why = reply.ok().filter(silent).and_then(|reply| reply.notes.first());
        let cause = asked.outcome.as_ref().err().or(reply.err()).or(why);
        let line = journal::RemoteRecord {
            name: remote.name.clone(),
            endpoint: asked.endpoint.clone(),
            attempts: asked.attempts,
            ms: asked.ms,
            outcome: outcome.into(),
            cause: cause.cloned().unwrap_or_default(),
            ..journal::RemoteRecord::default()
        };
        self.out.remotes.push(match who {
            Some(who) => who.annotate_line(line),
            None => line,
        });
    }

    /// Is the call denied already, by rules or by what they ran?
    pub(super) fn is_denied(&self, matches: &[Match<'_>]) -> bool {
        let denies = |verb| matches!(verb, Some(Verb::Deny | Verb::Halt));
        self.voices.iter().any(|voice| denies(Some(voice.verb)))
            || matches.iter().any(|one| {
                !one.observed
                    && denies(one.verb())
                    && one.rule.verdict.awaited_command().is_none()
                    && self.may_block(one.rule)
            })
    }

    /// Has a human at a server said yes to what this rule asks about?
    pub(super) fn is_approved(&self, one: &Match<'_>) -> bool {
        self.approved && one.verb() == Some(Verb::Ask) && one.rule.layer() != Layer::Managed
    }
}
