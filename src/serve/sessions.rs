//! The sessions that agents have: what each event does to them, and how they look from outside.

use std::sync::Arc;
use std::time::Duration;

use hookctl::remote::breaker::unix_milliseconds;
use hookctl::text;
use serde_json::{Value, json};

use crate::cdev::{self, Hook, Post};
use crate::store::session::{self, Call, Session};
use crate::store::{Store, StoreError};

/// After so long without an event a session is idle.
const IDLE: u64 = 60_000;
/// What is shown of a call's input, and kept of its result.
const SUMMARY: usize = 100;
const OUTPUT: usize = 2_000;
/// How many calls are listed.
const HISTORY: usize = 50;

/// All of them.
#[derive(Debug)]
pub struct Sessions {
    store: Store,
    stale: Duration,
}

/// Where a session stands (cdev's contract, part B4).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// Nothing but its beginning was heard.
    Start,
    /// A human is asked.
    PermissionPending,
    /// A tool runs.
    ToolRunning,
    /// Something happened lately.
    Active,
    /// Nothing did.
    Inactive,
}

impl State {
    fn of(session: &Session, now: u64) -> State {
        match session {
            one if one.asks || one.notified => State::PermissionPending,
            one if !one.current_tool.is_empty() => State::ToolRunning,
            one if one.last_activity.saturating_add(IDLE) < now => State::Inactive,
            one if one.events <= 1 => State::Start,
            _ => State::Active,
        }
    }

    fn name(self) -> &'static str {
        match self {
            State::Start => "start",
            State::PermissionPending => "permission_pending",
            State::ToolRunning => "tool_running",
            State::Active => "active",
            State::Inactive => "inactive",
        }
    }
}

impl Sessions {
    /// Those that are forgotten after so long without an event.
    pub fn new(store: Store, stale: Duration) -> Arc<Sessions> {
        Arc::new(Sessions { store, stale })
    }

    /// An event came.
    ///
    /// # Errors
    /// Where it cannot be kept.
    pub async fn note(&self, hook: Hook, post: &Post) -> Result<(), StoreError> {
        let id = post.session();
        if id.is_empty() {
            return Ok(());
        }
        let (now, cwd, workspace, tool) =
            (unix_milliseconds(), post.cwd(), post.workspace(), post.tool());
        let call = new_call(post, now);
        let message = text::make_visible(&text::cut(post.shown("message"), 500));
        self.store
            .run(move |tx| {
                session::touch(tx, &id, &cwd, &workspace, now)?;
                match hook {
                    Hook::Session => session::set_tool(tx, &id, "")?,
                    Hook::Notification => return session::set_notified(tx, &id, Some(&message)),
                    // The call begins when the answer is there.
                    Hook::Question => {}
                    Hook::ToolStart => {
                        session::set_tool(tx, &id, &tool)?;
                        session::start_call(tx, &call)?;
                    }
                    Hook::ToolEnd => {
                        session::set_tool(tx, &id, "")?;
                        session::end_call(tx, &call)?;
                    }
                }
                session::set_notified(tx, &id, None)
            })
            .await
    }

    /// A human allowed the call, so it runs now; or it does not.
    ///
    /// # Errors
    /// Where it cannot be kept.
    pub async fn note_answer(&self, post: &Post, goes_ahead: bool) -> Result<(), StoreError> {
        let (id, tool, call) = (post.session(), post.tool(), new_call(post, unix_milliseconds()));
        if id.is_empty() {
            return Ok(());
        }
        self.store
            .run(move |tx| {
                session::set_tool(tx, &id, if goes_ahead { &tool } else { "" })?;
                if goes_ahead { session::start_call(tx, &call) } else { Ok(()) }
            })
            .await
    }

    /// All that are not stale, each with its last calls.
    ///
    /// # Errors
    /// Where they cannot be read.
    pub async fn list(&self) -> Result<Vec<Value>, StoreError> {
        let (now, since) = self.span();
        self.store
            .run(move |tx| {
                let all = session::active(tx, since, now)?;
                all.iter()
                    .map(|one| Ok(to_json(one, &session::calls(tx, &one.id, HISTORY)?, now)))
                    .collect()
            })
            .await
    }

    /// One of them.
    ///
    /// # Errors
    /// Where it cannot be read.
    pub async fn find(&self, id: &str) -> Result<Option<Value>, StoreError> {
        let ((now, since), id) = (self.span(), id.to_string());
        self.store
            .run(move |tx| {
                let Some(one) = session::find(tx, &id, since, now)? else { return Ok(None) };
                Ok(Some(to_json(&one, &session::calls(tx, &id, HISTORY)?, now)))
            })
            .await
    }

    /// Forgets the stale ones.
    ///
    /// # Errors
    /// Where they cannot be forgotten.
    pub async fn sweep(&self) -> Result<Vec<String>, StoreError> {
        let (_, since) = self.span();
        self.store.run(move |tx| session::take_stale(tx, since)).await
    }

    fn span(&self) -> (u64, u64) {
        let now = unix_milliseconds();
        (now, now.saturating_sub(self.stale.as_millis() as u64))
    }
}

fn new_call(post: &Post, now: u64) -> Call {
    let (tool, input) = (post.tool(), post.input());
    let described = cdev::describe(&tool, &input);
    let what = match described.target.as_str() {
        "" => text::make_visible(&input.to_string()),
        target => target.to_string(),
    };
    Call {
        session: post.session(),
        id: post.call(),
        tool,
        summary: what.chars().take(SUMMARY).collect(),
        started: now,
        ended: now,
        output: post.output(OUTPUT),
        is_error: post.is_error(),
    }
}

fn to_json(session: &Session, calls: &[Call], now: u64) -> Value {
    let history: Vec<Value> = calls.iter().map(call_json).collect();
    let text = |text: &str| if text.is_empty() { Value::Null } else { text.into() };
    json!({
        "session_id": session.id,
        "cwd": session.cwd,
        "workspace_id": session.workspace,
        "project": session.workspace,
        "kind": "external",
        "state": State::of(session, now).name(),
        "start_time": session.start_time,
        "last_activity": session.last_activity,
        "current_tool": text(&session.current_tool),
        "has_pending_permission": session.asks || session.notified,
        // The agent asks on its own terminal: nothing can be answered here.
        "answer_on_desktop": session.notified && !session.asks,
        "message": text(&session.message),
        "tool_history": history,
    })
}

fn call_json(call: &Call) -> Value {
    let (end, duration) = match call.ended {
        0 => (Value::Null, Value::Null),
        ended => (ended.into(), ended.saturating_sub(call.started).into()),
    };
    json!({
        "tool": call.tool,
        "tool_use_id": call.id,
        "input": call.summary,
        "start": call.started,
        "end": end,
        "duration_ms": duration,
        "output": call.output,
        "is_error": call.is_error,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_46_the_states_follow_from_what_is_known() {
        let session = |asks, tool: &str, age: u64, events| Session {
            id: "s".into(),
            cwd: String::new(),
            workspace: String::new(),
            start_time: 0,
            last_activity: 1_000_000 - age,
            events,
            current_tool: tool.into(),
            notified: false,
            message: String::new(),
            asks,
        };
        for (one, state) in [
            (session(false, "", 0, 1), State::Start),
            (session(false, "", 0, 2), State::Active),
            (session(false, "Bash", 0, 2), State::ToolRunning),
            (session(true, "Bash", 0, 2), State::PermissionPending),
            (session(false, "", 60_001, 2), State::Inactive),
        ] {
            assert_eq!(State::of(&one, 1_000_000), state);
        }
    }
}
