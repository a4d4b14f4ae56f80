//! What an answer amounts to for the event, whatever the server speaks.

use crate::agent;
use crate::dialect::Reply;
use crate::event::{Event, Kind};
use crate::rule::file::Remote;
use crate::rule::file::remote::Amounts;
use crate::verdict::Verb;

impl Reply {
    /// What the answer amounts to for this event: the settings of the server, and what the event can
    /// express.
    pub fn apply_settings(mut self, remote: &Remote, event: &Event) -> Reply {
        let kind = event.kind;
        if self.input.is_some() && !self.verb.is_some_and(Verb::stops_call) && !self.explicit {
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
        self.fit_to_event(event);
        self
    }

    /// What the event cannot express becomes stricter, or a note.
    fn fit_to_event(&mut self, event: &Event) {
        let kind = event.kind;
        let verbs = agent::from_event(event).spec_of(event).map_or(&[][..], |spec| spec.verbs);
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
                // Of an agent that cannot ask, the call is refused.
                Kind::PreToolUse if verbs.contains(&Verb::Deny) => self.verb = Some(Verb::Deny),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_question_that_the_agent_cannot_ask_is_a_refusal() {
        let call = json!({
            "clineVersion": "",
            "taskId": "t",
            "hookName": "tool_call",
            "tool_call": { "name": "run_commands", "input": { "commands": ["ls"] } },
        });
        for (agent, payload, wanted) in [
            ("cline", call, Verb::Deny),
            (
                "claude",
                json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {} }),
                Verb::Ask,
            ),
        ] {
            let payload = payload.as_object().cloned().unwrap_or_default();
            let event = agent::by_id(agent).expect("an agent").parse(payload, None);
            let mut reply = Reply { verb: Some(Verb::Ask), ..Reply::default() };
            reply.fit_to_event(&event);
            assert_eq!(reply.verb, Some(wanted), "{agent}");
        }
    }
}
