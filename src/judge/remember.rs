//! What humans at servers said for the session, in the judgement: they are not asked again about what they
//! said, and no server answers in their name for more than that.

use std::collections::BTreeSet;

use super::servers::Wanted;
use super::{Judge, NO_SESSION};
use crate::dialect::{Reply, Request, time};
use crate::engine::Match;
use crate::journal::{self, By};
use crate::remote::memory::{self, Call, Memory, Recall};
use crate::remote::questions::{Doubt, HUMAN, Questions};
use crate::remote::{self, Asked};
use crate::verdict::Verb;

/// Who answered at a server where a human is to.
pub(super) enum Who {
    Now(By),
    /// The human, in an answer that is remembered here.
    Earlier(Recall),
}

impl Who {
    /// The line of the journal with that.
    pub(super) fn note(self, line: journal::Remote) -> journal::Remote {
        let (by, since, until) = match self {
            Who::Now(by) => (by, String::new(), String::new()),
            Who::Earlier(Recall { time: since, until, .. }) => {
                (By::HumanEarlier, time(since), time(until))
            }
        };
        journal::Remote { by: Some(by), since, until, ..line }
    }
}

/// What came of a question to a server: what was asked, what it says, and who says it where that is a human.
pub(super) type Heard = (Asked, Result<Reply, String>, Option<Who>);

/// Why an answer is no human's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unheard {
    /// It is an allow that the server may have remembered.
    Doubt(Doubt),
    /// The session's mode lets all calls pass.
    Mode,
}

impl Unheard {
    /// Who answered.
    fn who(self) -> Who {
        match self {
            Unheard::Doubt(_) => Who::Now(By::ServerMemory),
            Unheard::Mode => Who::Now(By::Nobody),
        }
    }

    /// What the answer amounts to.
    fn amounts(self, reply: &Reply) -> Result<Reply, String> {
        let why = match self {
            Unheard::Mode => return Err("it asks nobody in a session of this mode".into()),
            Unheard::Doubt(Doubt::Unrecorded) => "no record of the question could be kept".into(),
            Unheard::Doubt(Doubt::Fast) => {
                format!("it came in less than {} ms", HUMAN.as_millis())
            }
            Unheard::Doubt(Doubt::Other) => "it is for another call than this one".into(),
            Unheard::Doubt(Doubt::Before) => "the same was asked before in this session".into(),
            Unheard::Doubt(Doubt::Recalled) => "the server has it from its memory".into(),
        };
        let what =
            reply.remembered.as_deref().map(|pattern| format!(" (`{}`)", journal::clean(pattern)));
        let reason = format!(
            "An allow for the session{} came, but perhaps from no human for this call: {why}.",
            what.unwrap_or_default()
        );
        Ok(Reply { verb: Some(Verb::Ask), reason, notes: reply.notes.clone(), ..Reply::default() })
    }
}

impl Judge<'_> {
    /// What is remembered of each of these calls to a human; `changed`: no human has seen
    /// the input.
    pub(super) fn recall(
        &self,
        one: &Wanted<'_, '_>,
        matches: &[Match<'_>],
        changed: bool,
    ) -> Option<Recall> {
        let human = one.remote.human && !changed;
        let memory = human.then(|| self.memory()).flatten()?;
        memory.recall(one.remote, &self.call(one, matches))
    }

    /// The remembered answer, noted in the journal.
    pub(super) fn remembered(&mut self, one: &Wanted<'_, '_>, recall: Recall) -> Reply {
        let verb = recall.verb;
        let said = if verb == Verb::Allow { "Approved" } else { "Denied" };
        let reason = format!("{said} for this session: {}", recall.pattern);
        let (name, outcome) = (one.remote.name.clone(), "remembered".into());
        let line = journal::Remote { name, outcome, ..journal::Remote::default() };
        if self.is_dry() {
            self.out.notes.push(told_of(&recall, &one.remote.name));
        }
        self.out.remotes.push(Who::Earlier(recall).note(line));
        let explicit = verb == Verb::Allow;
        Reply { verb: Some(verb), explicit, reason, ..Reply::default() }
    }

    /// Of a call that nobody made: what humans said of its like in the sessions that there are.
    pub(super) fn recall_anywhere(&mut self, one: &Wanted<'_, '_>, matches: &[Match<'_>]) {
        if !one.remote.human || self.event.session != NO_SESSION {
            return;
        }
        let state = &self.world.paths.state;
        let sessions: BTreeSet<String> =
            memory::all(state).into_iter().map(|answer| answer.session).collect();
        for session in sessions {
            let memory = Memory::of(state, &session);
            let recall =
                memory.and_then(|memory| memory.recall(one.remote, &self.call(one, matches)));
            if let Some(recall) = recall {
                let told = told_of(&recall, &one.remote.name);
                self.out.notes.push(format!("in session {session} {told}"));
            }
        }
    }

    /// The answer of a human's server where a human is known to have given it. Else theirs when they
    /// are asked once more, as of a session that the server has no memory of; and else a question.
    pub(super) fn heard(
        &self,
        one: &Wanted<'_, '_>,
        matches: &[Match<'_>],
        request: &Request,
        (asked, reply): (Asked, Reply),
    ) -> Heard {
        if !one.remote.human {
            return (asked, Ok(reply), None);
        }
        let Some(unheard) = self.unheard(one, &asked, &reply) else {
            let who = self.who(one, &asked, &reply);
            return (asked, Ok(reply), Some(who));
        };
        // Somebody has said yes to as much in the meantime.
        let said = self.recall(one, matches, false).filter(|said| said.verb == Verb::Allow);
        if let Some(said) = said.filter(|_| unheard != Unheard::Mode) {
            return (asked, Ok(Reply { session: false, ..reply }), Some(Who::Earlier(said)));
        }
        let paths = self.world.paths;
        let again = remote::ask_again(request, one.remote, paths, &asked);
        let Some((again, request)) = again else {
            return (asked, unheard.amounts(&reply), Some(unheard.who()));
        };
        let body = again.outcome.as_ref().map_err(String::clone);
        let (reply, who) = match body.and_then(|body| remote::read(one.remote, &request, body)) {
            Ok(reply) => match self.unheard(one, &again, &reply) {
                Some(unheard) => (unheard.amounts(&reply), unheard.who()),
                None => {
                    let who = self.who(one, &again, &reply);
                    (Ok(reply), who)
                }
            },
            failed => (failed, Who::Now(By::Nobody)),
        };
        (again, reply, Some(who))
    }

    /// Who gave an answer that counts.
    fn who(&self, one: &Wanted<'_, '_>, asked: &Asked, reply: &Reply) -> Who {
        let says = match reply.verb {
            None => reply.input.is_some() || reply.response.is_some(),
            // So cdev says that nobody answered.
            Some(Verb::Ask) => !one.remote.dialect.facts().remembers,
            Some(_) => true,
        };
        let question = asked.question.as_ref();
        let waited = question.map_or(asked.ms, |question| question.waited);
        let seems = || {
            let questions = Questions::of(&self.world.paths.state, &self.event.session)?;
            questions.seems(one.remote, question, reply.remembered.as_deref())
        };
        let lasts = reply.session && self.event.kind.is_gate();
        Who::Now(match says && !reply.passed_over {
            false => By::Nobody,
            true if waited < HUMAN.as_millis() as u64 => By::ServerMemory,
            true if lasts && seems().is_some() => By::ServerMemory,
            true => By::Human,
        })
    }

    /// Why the answer is not known to be a human's; None = it is, or it allows nothing.
    fn unheard(&self, one: &Wanted<'_, '_>, asked: &Asked, reply: &Reply) -> Option<Unheard> {
        if reply.passed_over && one.rules.iter().any(|rule| !rule.id.contains('.')) {
            return Some(Unheard::Mode);
        }
        let questions = Questions::of(&self.world.paths.state, &self.event.session);
        if !reply.session
            && !reply.recalled
            && matches!(reply.verb, Some(Verb::Allow | Verb::Deny))
            && let (Some(questions), Some(question)) = (&questions, &asked.question)
        {
            questions.once(question);
        }
        let lasts = reply.session || reply.recalled;
        let allows = self.event.kind.is_gate() && lasts && reply.verb == Some(Verb::Allow);
        if !allows || one.remote.dialect.believes(&one.remote.own) {
            return None;
        }
        if reply.recalled {
            return Some(Unheard::Doubt(Doubt::Recalled));
        }
        let Some(questions) = questions else { return Some(Unheard::Doubt(Doubt::Unrecorded)) };
        let pattern = reply.remembered.as_deref();
        questions.doubt(one.remote, asked.question.as_ref(), pattern).map(Unheard::Doubt)
    }

    /// Remembers what the human said of the call, where that was for the session.
    pub(super) fn remember(
        &mut self,
        one: &Wanted<'_, '_>,
        matches: &[Match<'_>],
        reply: &Reply,
        changed: bool,
    ) {
        if !reply.session || !self.event.kind.is_gate() {
            return;
        }
        let allow = match reply.verb {
            // Of a call that is not made as it came there is nothing to be like.
            _ if changed || reply.input.is_some() => None,
            Some(Verb::Allow) => Some(true),
            Some(Verb::Deny | Verb::Halt) => Some(false),
            _ => None,
        };
        let kept = allow
            .zip(self.memory())
            .and_then(|(allow, memory)| memory.keep(one.remote, &self.call(one, matches), allow));
        self.out.notes.push(match kept {
            Some(pattern) => format!("{}: remembered: {pattern}", one.remote.name),
            None => format!("{}: not remembered, only this call", one.remote.name),
        });
    }

    /// The session has ended, and with it what was said for it.
    pub(super) fn end_of_session(&self) {
        if let Some(memory) = self.memory().filter(|_| !self.is_dry()) {
            // What cannot be removed holds no longer than it may.
            let _ = memory.end();
        }
    }

    fn memory(&self) -> Option<Memory> {
        Memory::of(&self.world.paths.state, &self.event.session)
    }

    /// The call as the human at that server sees it.
    fn call(&self, one: &Wanted<'_, '_>, matches: &[Match<'_>]) -> Call<'_> {
        let asking = matches.iter().filter(|m| !m.observed && m.verb() == Some(Verb::Ask));
        let asks: BTreeSet<String> = asking
            .map(|m| m.rule.name())
            .chain(self.voices.iter().filter(|v| v.verb == Verb::Ask).map(|v| v.rule.clone()))
            .chain(one.rules.iter().map(|rule| rule.name()))
            .collect();
        Call { event: self.event, analysis: self.analysis, place: self.place, asks }
    }
}

/// What answers instead of the human, since when and until when.
fn told_of(recall: &Recall, remote: &str) -> String {
    let (verb, since, until) = (recall.verb.name(), time(recall.time), time(recall.until));
    format!(
        "[remote.{remote}] is not asked: a human's {verb} of {since} for {} holds until {until}",
        recall.pattern
    )
}
