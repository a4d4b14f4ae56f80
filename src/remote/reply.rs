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

    fn remote(settings: &str) -> Remote {
        let text = format!(
            "[remote.x]\nurl = \"http://127.0.0.1:9\"\ndialect = \"hooks-server\"\n{settings}\n"
        );
        let path = std::path::Path::new("/f.toml");
        let read = crate::rule::file::read_rules(&text, path, crate::rule::Layer::User, None);
        read.remotes.into_iter().next().expect("a server")
    }

    fn event(name: &str) -> Event {
        let payload = json!({ "hook_event_name": name, "tool_name": "Bash", "tool_input": {} });
        let payload = payload.as_object().cloned().unwrap_or_default();
        agent::by_id("claude").expect("an agent").parse(payload, None)
    }

    #[test]
    fn an_allow_counts_where_the_event_waits_for_it_and_somebody_meant_it() {
        let allow = Some(Verb::Allow);
        for (name, settings, explicit, wanted) in [
            ("PreToolUse", "", false, None),
            ("PreToolUse", "", true, allow),
            ("PreToolUse", "on_allow = \"allow\"", false, allow),
            ("PermissionRequest", "", true, allow),
            ("PreModelSwitch", "", false, None),
            ("PreModelSwitch", "", true, allow),
            ("PostToolUse", "", true, None),
            ("UserPromptSubmit", "on_allow = \"allow\"", true, None),
            ("Stop", "", true, None),
        ] {
            let reply = Reply { verb: allow, explicit, ..Reply::default() };
            let found = reply.apply_settings(&remote(settings), &event(name)).verb;
            assert_eq!(found, wanted, "{name} {settings} {explicit}");
        }
    }

    #[test]
    fn a_changed_input_amounts_to_what_the_file_says() {
        for (settings, verb, explicit, wanted) in [
            ("", None, false, None),
            ("on_modify = \"allow\"", None, false, Some(Verb::Allow)),
            ("on_modify = \"ask\"", None, false, Some(Verb::Ask)),
            ("on_modify = \"allow\"", Some(Verb::Deny), false, Some(Verb::Deny)),
            ("on_modify = \"allow\"", Some(Verb::Ask), false, Some(Verb::Ask)),
            ("on_modify = \"ask\"", Some(Verb::Allow), true, Some(Verb::Allow)),
        ] {
            let input = Some(serde_json::Map::new());
            let reply = Reply { verb, explicit, input, ..Reply::default() };
            let found = reply.apply_settings(&remote(settings), &event("PreToolUse"));
            assert_eq!(found.verb, wanted, "{settings} {verb:?}");
            assert!(found.notes.is_empty(), "{:?}", found.notes);
        }
        let input = Some(serde_json::Map::new());
        let reply = Reply { input, ..Reply::default() };
        let found = reply.apply_settings(&remote(""), &event("PermissionRequest"));
        assert!(found.notes[0].contains("needs an allow"), "{:?}", found.notes);
    }

    #[test]
    fn a_deny_where_nothing_can_be_blocked_is_told_to_the_human() {
        for (name, reason, verb, notice) in [
            ("Notification", "no", None, vec!["no"]),
            ("Notification", "", None, vec![]),
            ("PreToolUse", "no", Some(Verb::Deny), vec![]),
            ("PostToolUseFailure", "no", Some(Verb::Deny), vec![]),
        ] {
            let reply = Reply { verb: Some(Verb::Deny), reason: reason.into(), ..Reply::default() };
            let found = reply.apply_settings(&remote(""), &event(name));
            assert_eq!(
                (found.verb, found.notice),
                (verb, notice.into_iter().map(String::from).collect()),
                "{name}"
            );
        }
    }

    #[test]
    fn an_event_that_can_be_blocked_is_not_let_pass_unasked() {
        for (name, wanted) in [
            ("PreToolUse", true),
            ("PermissionRequest", true),
            ("UserPromptSubmit", true),
            ("UserPromptExpansion", true),
            ("PostToolUse", true),
            ("PostToolUseFailure", true),
            ("PreModelSwitch", true),
            ("Notification", false),
            ("PostToolBatch", true),
            ("Stop", true),
            ("SubagentStop", true),
            ("PreCompact", true),
            ("SessionStart", false),
            ("SessionEnd", false),
        ] {
            assert_eq!(fails_closed(Kind::from_name(name)), wanted, "{name}");
        }
    }

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
