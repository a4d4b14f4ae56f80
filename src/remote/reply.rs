//! What a server said, whatever it speaks, and what that amounts to for the event.

use serde_json::{Map, Value};

use crate::agent;
use crate::event::{Event, Kind};
use crate::rule::file::Remote;
use crate::rule::file::remote::Amounts;
use crate::verdict::Verb;

/// A server's answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reply {
    /// Its decision, none where it has nothing to say.
    pub verb: Option<Verb>,
    /// Its allow is a real one, not just the absence of an objection.
    pub explicit: bool,
    /// What it is remembered by, where it holds for the session.
    pub remembered: Option<String>,
    /// It holds for the rest of the session, as far as a human gave it.
    pub session: bool,
    /// The server says that it comes from its memory.
    pub recalled: bool,
    /// Nobody was asked, and why: the session's mode lets all calls pass.
    pub passed_over: bool,
    /// Why.
    pub reason: String,
    /// The complete new input of the tool.
    pub input: Option<Map<String, Value>>,
    /// The complete new result of the tool.
    pub response: Option<Value>,
    /// Texts for the model.
    pub context: Vec<String>,
    /// Texts for the human.
    pub notice: Vec<String>,
    /// `suppressOutput`
    pub suppress: bool,
    /// What the journal should know.
    pub notes: Vec<String>,
}

impl Reply {
    /// What the answer amounts to for this event: the settings of the server, and what the event can
    /// express.
    pub fn settle(mut self, remote: &Remote, event: &Event) -> Reply {
        let kind = event.kind;
        if self.input.is_some() && !self.verb.is_some_and(Verb::stops) && !self.explicit {
            self.verb = match remote.on_modify {
                Amounts::Silent => None,
                Amounts::Allow => Some(Verb::Allow),
                Amounts::Ask => Some(Verb::Ask),
            };
            self.explicit = self.verb == Some(Verb::Allow);
        }
        if self.verb == Some(Verb::Allow) {
            let real = self.explicit || remote.on_allow == Amounts::Allow;
            if !real || !(kind.is_gate() || kind == Kind::PreModelSwitch) {
                self.verb = None;
            }
        }
        if self.input.is_some() && kind == Kind::PermissionRequest && self.verb != Some(Verb::Allow)
        {
            self.notes.push("a changed input needs an allow beside it on PermissionRequest".into());
        }
        self.fit(event);
        self
    }

    /// What the event cannot express becomes stricter, or a note.
    fn fit(&mut self, event: &Event) {
        let kind = event.kind;
        let verbs = agent::of(event).spec(kind).map_or(&[][..], |spec| spec.verbs);
        let drop = |reply: &mut Reply, why: &str| {
            reply.notes.push(format!("{} cannot {why}: {}", kind.name(), reply.reason));
            reply.verb = None;
        };
        match self.verb {
            Some(Verb::Ask) if verbs.contains(&Verb::Ask) => {}
            Some(Verb::Ask) => match kind {
                // Nobody can be asked there.
                Kind::UserPromptSubmit | Kind::UserPromptExpansion => self.verb = Some(Verb::Deny),
                // The dialog is the question.
                Kind::PermissionRequest => self.verb = None,
                _ => drop(self, "ask"),
            },
            Some(Verb::Deny | Verb::Halt | Verb::Defer)
                // There a deny is told to the model as what went wrong.
                if verbs.is_empty() && kind != Kind::PostToolUseFailure =>
            {
                if !self.reason.is_empty() {
                    self.notice.push(self.reason.clone());
                }
                drop(self, "be blocked");
            }
            _ => {}
        }
    }
}

/// Does a server that must not be missed deny the event where it cannot be asked? Where nothing can
/// be blocked, nothing is.
pub fn fails_closed(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::PreToolUse
            | Kind::PermissionRequest
            | Kind::UserPromptSubmit
            | Kind::UserPromptExpansion
            | Kind::PostToolUse
            | Kind::PostToolUseFailure
            | Kind::PostToolBatch
            | Kind::Stop
            | Kind::SubagentStop
            | Kind::PreCompact
            | Kind::PreModelSwitch
    )
}
