//! What humans at servers said for the session, in the judgement: they are not asked again about what they
//! said, and no server answers in their name for more than that.

use super::servers::WantedServer;
use super::{Judge, NO_SESSION};
use crate::dialect::{Reply, Request, format_time};
use crate::engine::Match;
use crate::journal::{self, By};
use crate::order::to_set;
use crate::remote::memory::{self, AskedCall, Memory, Recall};
use crate::remote::questions::{Doubt, HUMAN, Questions, is_too_soon};
use crate::remote::{self, AskOutcome};
use crate::verdict::Verb;

/// Who answered at a server where a human is to.
pub(super) enum Who {
    Now(By),
    /// The human, in an answer that is remembered here.
    Earlier(Recall),
}

impl Who {
    /// The line of the journal with that.
    pub(super) fn annotate_line(self, line: journal::RemoteRecord) -> journal::RemoteRecord {
        let (by, since, until) = match self {
            Who::Now(by) => (by, String::new(), String::new()),
            Who::Earlier(Recall { time: since, until, .. }) => {
                (By::HumanEarlier, format_time(since), format_time(until))
            }
        };
        journal::RemoteRecord { by: Some(by), since, until, ..line }
    }
}

/// What came of a question to a server: what was asked, what it says, and who says it where that is a human.
pub(super) type ServerAnswer = (AskOutcome, Result<Reply, String>, Option<Who>);

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
    fn answered_by(self) -> Who {
        match self {
            Unheard::Doubt(_) => Who::Now(By::ServerMemory),
            Unheard::Mode => Who::Now(By::Nobody),
        }
    }

    /// What the answer amounts to.
    fn resolve_reply(self, reply: &Reply) -> Result<Reply, String> {
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
        let what = reply
            .remembered
            .as_deref()
            .map(|pattern| format!(" (`{}`)", journal::redact_and_cut(pattern)));
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
    pub(super) fn recall_answer(
        &self,
        one: &WantedServer<'_, '_>,
        matches: &[Match<'_>],
        changed: bool,
    ) -> Option<Recall> {
        let human = one.remote.human && !changed;
        let memory = human.then(|| self.session_memory()).flatten()?;
        memory.recall_answer(one.remote, &self.call_for_memory(one, matches))
    }

    /// The remembered answer, noted in the journal.
    pub(super) fn remembered_reply(&mut self, one: &WantedServer<'_, '_>, recall: Recall) -> Reply {
        let verb = recall.verb;
        let said = if verb == Verb::Allow { "Approved" } else { "Denied" };
        let reason = format!("{said} for this session: {}", recall.pattern);
        let (name, outcome) = (one.remote.name.clone(), "remembered".into());
        let line = journal::RemoteRecord { name, outcome, ..journal::RemoteRecord::default() };
        if self.is_dry() {
            self.out.notes.push(told_of(&recall, &one.remote.name));
        }
        self.out.remotes.push(Who::Earlier(recall).annotate_line(line));
        let explicit = verb == Verb::Allow;
        Reply { verb: Some(verb), explicit, reason, ..Reply::default() }
    }

    /// Of a call that nobody made: what humans said of its like in the sessions that there are.
    pub(super) fn recall_anywhere(&mut self, one: &WantedServer<'_, '_>, matches: &[Match<'_>]) {
        if !one.remote.human || self.event.session != NO_SESSION {
            return;
        }
        let state = &self.world.paths.state;
        let sessions = memory::valid_answers(state).into_iter().map(|answer| answer.session);
        for session in to_set(sessions) {
            let memory = Memory::for_session(state, &session);
            let recall = memory.and_then(|memory| {
                memory.recall_answer(one.remote, &self.call_for_memory(one, matches))
            });
            if let Some(recall) = recall {
                let told = told_of(&recall, &one.remote.name);
                self.out.notes.push(format!("in session {session} {told}"));
            }
        }
    }

    /// The answer of a human's server where a human is known to have given it. Else theirs when they
    /// are asked once more, as of a session that the server has no memory of; and else a question.
    pub(super) fn check_human_answer(
        &self,
        one: &WantedServer<'_, '_>,
        matches: &[Match<'_>],
        request: &Request,
        (asked, reply): (AskOutcome, Reply),
    ) -> ServerAnswer {
        if !one.remote.human {
            return (asked, Ok(reply), None);
        }
        let Some(unheard) = self.find_unheard(one, &asked, &reply) else {
            let who = self.who_answered(one, &asked, &reply);
            return (asked, Ok(reply), Some(who));
        };
        // Somebody has said yes to as much in the meantime.
        let said = self.recall_answer(one, matches, false).filter(|said| said.verb == Verb::Allow);
        if let Some(said) = said.filter(|_| unheard != Unheard::Mode) {
            return (asked, Ok(Reply { session: false, ..reply }), Some(Who::Earlier(said)));
        }
        let paths = self.world.paths;
        let again = remote::ask_again(request, one.remote, paths, &asked);
        let Some((again, request)) = again else {
            return (asked, unheard.resolve_reply(&reply), Some(unheard.answered_by()));
        };
        let body = again.outcome.as_ref().map_err(String::clone);
        let (reply, who) =
            match body.and_then(|body| remote::read_reply(one.remote, &request, body)) {
                Ok(reply) => match self.find_unheard(one, &again, &reply) {
                    Some(unheard) => (unheard.resolve_reply(&reply), unheard.answered_by()),
                    None => {
                        let who = self.who_answered(one, &again, &reply);
                        (Ok(reply), who)
                    }
                },
                failed => (failed, Who::Now(By::Nobody)),
            };
        (again, reply, Some(who))
    }

    /// Who gave an answer that counts.
    fn who_answered(&self, one: &WantedServer<'_, '_>, asked: &AskOutcome, reply: &Reply) -> Who {
        let says = match reply.verb {
            None => reply.input.is_some() || reply.response.is_some(),
            // So cdev says that nobody answered.
            Some(Verb::Ask) => !one.remote.dialect.facts().remembers,
            Some(_) => true,
        };
        let question = asked.question.as_ref();
        let waited = question.map_or(asked.ms, |question| question.waited);
        let seems = || {
            let questions = Questions::for_session(&self.world.paths.state, &self.event.session)?;
            questions.find_distrust(one.remote, question, reply.remembered.as_deref())
        };
        let lasts = reply.session && self.event.kind.is_gate();
        Who::Now(match says && !reply.passed_over {
            false => By::Nobody,
            true if is_too_soon(waited) => By::ServerMemory,
            true if lasts && seems().is_some() => By::ServerMemory,
            true => By::Human,
        })
    }

    /// Why the answer is not known to be a human's; None = it is, or it allows nothing.
    fn find_unheard(
        &self,
        one: &WantedServer<'_, '_>,
        asked: &AskOutcome,
        reply: &Reply,
    ) -> Option<Unheard> {
        if reply.passed_over && one.rules.iter().any(|rule| !rule.id.contains('.')) {
            return Some(Unheard::Mode);
        }
        let questions = Questions::for_session(&self.world.paths.state, &self.event.session);
        if !reply.session
            && !reply.recalled
            && matches!(reply.verb, Some(Verb::Allow | Verb::Deny))
            && let (Some(questions), Some(question)) = (&questions, &asked.question)
        {
            questions.note_single_use(question);
        }
        let lasts = reply.session || reply.recalled;
        let allows = self.event.kind.is_gate() && lasts && reply.verb == Some(Verb::Allow);
        if !allows || one.remote.dialect.believes_session_allow(&one.remote.own) {
            return None;
        }
        if reply.recalled {
            return Some(Unheard::Doubt(Doubt::Recalled));
        }
        let Some(questions) = questions else { return Some(Unheard::Doubt(Doubt::Unrecorded)) };
        let pattern = reply.remembered.as_deref();
        questions
            .distrust_and_note(one.remote, asked.question.as_ref(), pattern)
            .map(Unheard::Doubt)
    }

    /// Remembers what the human said of the call, where that was for the session.
    pub(super) fn remember_answer(
        &mut self,
        one: &WantedServer<'_, '_>,
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
        let kept = allow.zip(self.session_memory()).and_then(|(allow, memory)| {
            memory.keep_answer(one.remote, &self.call_for_memory(one, matches), allow)
        });
        self.out.notes.push(match kept {
            Some(pattern) => format!("{}: remembered: {pattern}", one.remote.name),
            None => format!("{}: not remembered, only this call", one.remote.name),
        });
    }

    /// The session has ended, and with it what was said for it.
    pub(super) fn end_of_session(&self) {
        if let Some(memory) = self.session_memory().filter(|_| !self.is_dry()) {
            // What cannot be removed holds no longer than it may.
            let _ = memory.end_session();
        }
    }

    fn session_memory(&self) -> Option<Memory> {
        Memory::for_session(&self.world.paths.state, &self.event.session)
    }

    /// The call as the human at that server sees it.
    fn call_for_memory(&self, one: &WantedServer<'_, '_>, matches: &[Match<'_>]) -> AskedCall<'_> {
        let asking = matches.iter().filter(|m| !m.observed && m.verb() == Some(Verb::Ask));
        let asks = asking
            .map(|m| m.rule.qualified_name())
            .chain(self.voices.iter().filter(|v| v.verb == Verb::Ask).map(|v| v.rule.clone()))
            .chain(one.rules.iter().map(|rule| rule.qualified_name()));
        let asks = to_set(asks);
        AskedCall { event: self.event, analysis: self.analysis, place: self.place, asks }
    }
}

/// What answers instead of the human, since when and until when.
fn told_of(recall: &Recall, remote: &str) -> String {
    let (verb, since, until) =
        (recall.verb.name(), format_time(recall.time), format_time(recall.until));
    format!(
        "[remote.{remote}] is not asked: a human's {verb} of {since} for {} holds until {until}",
        recall.pattern
    )
}
