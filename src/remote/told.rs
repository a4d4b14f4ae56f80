//! What servers are told of a verdict once it is final: the messages, made when the answer has left,
//! and put where the sender finds them.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::breaker::Breaker;
use super::spool::{Message, Spool};
use super::{Request, first, key, sender};
use crate::config::Config;
use crate::event::Event;
use crate::journal;
use crate::judge::{Judgement, World};
use crate::once::{self, Claim};
use crate::paths::Paths;
use crate::rule::Layer;
use crate::rule::file::Remote;
use crate::rule::file::remote::Dialect;
use crate::verdict::Verb;

/// How long the second registration of hookctl waits for the first to have told the servers.
const SECOND: Duration = Duration::from_secs(2);

/// An event and the servers that are to be told how it ended.
#[derive(Debug)]
pub struct Told {
    request: Request,
    remotes: Vec<(Layer, Remote)>,
    /// The project whose files say what the servers are.
    root: PathBuf,
    paths: Paths,
}

impl Told {
    /// None where nobody is to be told.
    pub fn of(
        event: &Event,
        judgement: &Judgement,
        config: &Config,
        world: &World<'_>,
    ) -> Option<Told> {
        if judgement.told.is_empty() {
            return None;
        }
        let wanted = |(_, remote): &(Layer, &Remote)| judgement.told.contains(&remote.name);
        let remotes =
            config.remotes().filter(wanted).map(|(layer, remote)| (layer, remote.clone()));
        let mut mark = json!({ "verdict": judgement.answer.verb.map_or("silent", Verb::name) });
        if judgement.answer.verb.is_some() {
            mark["rule"] = judgement.rule.as_str().into();
            mark["reason"] = journal::clean(&judgement.answer.reason).into();
        }
        if world.paused {
            mark["paused"] = true.into();
        }
        let bytes = world.stdin.to_vec();
        let request = Request::new(event.clone(), bytes, world.deadline, world.paths);
        Some(Told {
            request: Request { mark: Some(mark), ..request },
            remotes: remotes.collect(),
            root: PathBuf::from(&world.place.project),
            paths: world.paths.clone(),
        })
    }

    /// Puts a message for each server into its spool and sees to it that they are sent; `line` notes
    /// what came of it.
    pub fn queue(self, line: &mut journal::Line) {
        let named = self.request.event.str("tool_use_id").is_some();
        let window = Duration::from_millis(if named { 5_000 } else { 700 });
        let mut send = false;
        let event = &self.request.event.name;
        for (layer, remote) in &self.remotes {
            let breaker = Breaker::of(&self.paths.state, remote);
            // Later is too late.
            if remote.dialect.is_live() && breaker.pauses() {
                continue;
            }
            let key = key(event, &self.request.bytes, &format!("tell {remote:?}"));
            let claim = once::claim(&self.paths.notes(), &key, window, Instant::now() + SECOND);
            if matches!(claim, Claim::Done(_)) {
                continue;
            }
            let mut spool = Spool::of(&self.paths.spool(), *layer, &remote.name, &self.root);
            let bridge = remote.dialect == Dialect::Bridge;
            if bridge {
                spool = spool.for_events();
            }
            let cause = match spool.put(&self.message(*layer, remote)) {
                Ok(0) => String::new(),
                Ok(gone) => format!("the spool is full: its oldest were dropped: {gone}"),
                Err(why) => format!("not told: {why}"),
            };
            let outcome = if cause.starts_with("not") { "failed" } else { "queued" };
            // While it is down or somebody sends already, nobody need start. What a bridge does not take
            // has its own file to go to.
            let pauses = || !bridge && breaker.pauses();
            let due = || !pauses() && spool.is_idle();
            send |= outcome == "queued" && due();
            line.remotes.push(journal::Remote {
                name: remote.name.clone(),
                endpoint: first(remote, self.request.event.kind, true),
                outcome: outcome.into(),
                cause,
                ..journal::Remote::default()
            });
            claim.done(b"told");
        }
        if send && let Err(error) = sender::start(&self.paths) {
            line.notes.push(format!("no sender could be started: {error}; run `hookctl flush`"));
        }
    }

    fn message(&self, layer: Layer, remote: &Remote) -> Message {
        let body = super::body(&self.request, remote);
        Message {
            id: self.request.id.clone(),
            time: self.request.timestamp,
            remote: remote.name.clone(),
            root: self.root.to_string_lossy().into_owned(),
            event: self.request.event.name.clone(),
            agent: self.request.event.agent.into(),
            body: String::from_utf8_lossy(&body).into_owned(),
            project: layer.is_project(),
            send: remote.send as u8,
        }
    }
}

/// How the event ended; a test ended in nothing.
pub(super) fn decision(request: &Request) -> &str {
    match marked(request, "verdict") {
        "" => "test",
        verdict => verdict,
    }
}

/// A text of what hookctl has to add.
pub(super) fn marked<'r>(request: &'r Request, key: &str) -> &'r str {
    request.mark.as_ref().and_then(|mark| mark.get(key)).and_then(Value::as_str).unwrap_or_default()
}

/// Was hookctl paused?
pub(super) fn is_paused(request: &Request) -> bool {
    request.mark.as_ref().is_some_and(|mark| mark.get("paused") == Some(&Value::Bool(true)))
}

/// What the call is about, in short.
pub(super) fn what(event: &Event) -> String {
    event.what().map(journal::clean).unwrap_or_default()
}

/// Milliseconds since 1970 as people and most programs read it.
pub(super) fn time(timestamp: u64) -> String {
    let time = jiff::Timestamp::from_millisecond(timestamp as i64).unwrap_or_default();
    format!("{time:.3}")
}
