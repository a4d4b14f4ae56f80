//! What humans at servers said for the session, in the judgement: they are not asked again about what they
//! said, and no server answers in their name for more than that.

use std::collections::BTreeSet;

use super::Judge;
use super::servers::Wanted;
use crate::engine::Match;
use crate::journal;
use crate::remote::memory::{Call, Memory, Recall};
use crate::remote::reply::Reply;
use crate::verdict::Verb;

impl Judge<'_> {
    /// What is remembered of each of these calls to a human; `changed`: no human has seen
    /// the input.
    pub(super) fn recall(
        &self,
        wanted: &[Wanted<'_, '_>],
        matches: &[Match<'_>],
        changed: bool,
    ) -> Vec<Recall> {
        let human = !changed && wanted.iter().any(|one| one.remote.human);
        let memory = human.then(|| self.memory()).flatten();
        let recall = |one: &Wanted<'_, '_>| match &memory {
            Some(memory) if one.remote.human => memory.recall(one.remote, &self.call(one, matches)),
            _ => Recall::default(),
        };
        wanted.iter().map(recall).collect()
    }

    /// The remembered answer, noted in the journal; None = the server is asked.
    pub(super) fn remembered(&mut self, one: &Wanted<'_, '_>, recall: &Recall) -> Option<Reply> {
        let (verb, pattern) = recall.said.clone()?;
        let said = if verb == Verb::Allow { "Approved" } else { "Denied" };
        self.out.remotes.push(journal::Remote {
            name: one.remote.name.clone(),
            outcome: "remembered".into(),
            ..journal::Remote::default()
        });
        Some(Reply {
            verb: Some(verb),
            explicit: verb == Verb::Allow,
            reason: format!("{said} for this session: {pattern}"),
            ..Reply::default()
        })
    }

    /// A server that answers from its own memory speaks for no human who has not seen as much.
    pub(super) fn doubt(&self, one: &Wanted<'_, '_>, recall: &Recall, reply: &mut Reply) {
        let Some(pattern) = reply.remembered.as_deref().map(journal::clean) else { return };
        if one.remote.guard && reply.verb == Some(Verb::Allow) && recall.theirs.contains(&pattern) {
            reply.reason =
                format!("`{pattern}` was allowed for the session; this call does more than that");
            (reply.verb, reply.explicit, reply.session) = (Some(Verb::Ask), false, false);
            reply.input = None;
        }
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
        let verb = match reply.verb {
            // Of a call that is not made as it came there is nothing to be like.
            _ if changed || reply.input.is_some() => None,
            Some(Verb::Allow) => Some(Verb::Allow),
            Some(Verb::Deny | Verb::Halt) => Some(Verb::Deny),
            _ => None,
        };
        let theirs = reply.remembered.clone();
        let kept = self
            .memory()
            .and_then(|memory| memory.keep(one.remote, &self.call(one, matches), verb, theirs));
        self.out.notes.push(match kept {
            Some(pattern) => format!("{}: remembered: {pattern}", one.remote.name),
            None => format!("{}: not remembered, only this call", one.remote.name),
        });
    }

    /// The session has ended, and with it what was said for it.
    pub(super) fn end_of_session(&self) {
        if let Some(memory) = self.memory().filter(|_| !self.world.dry) {
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
        Call { event: self.event, analysis: self.analysis, place: self.world.place, asks }
    }
}
