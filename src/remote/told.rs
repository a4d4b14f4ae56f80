//! What servers are told of a verdict once it is final: the messages, made when the answer has left,
//! and put where the sender finds them. A bridge is told of what nobody could judge as well, and of what
//! came by its own hook.

use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Map, Value};

use super::breaker::Breaker;
use super::bridge::{Flags, InputFault};
use super::spool::{Message, Spool};
use super::{claim_key, first_address, privacy, sender};
use crate::config::Config;
use crate::dialect::Request;
use crate::event::{Event, Kind};
use crate::journal;
use crate::once::{self, Claim};
use crate::paths::{self, Paths};
use crate::payload;
use crate::rule::Layer;
use crate::rule::file::Remote;
use crate::stdin::{Input, InputEnd};

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
    /// What came in, where it is no event.
    unread: Option<Input>,
}

impl Told {
    /// An event that was judged, and the servers that are told of it.
    pub fn new(
        request: Request,
        remotes: Vec<(Layer, Remote)>,
        root: PathBuf,
        paths: Paths,
    ) -> Told {
        Told { request, remotes, root, paths, unread: None }
    }

    /// What bridges get of what came in and cannot be judged, an event of that kind if it tells that;
    /// None where there is none that wants it. How it ended nobody can say.
    pub fn from_unreadable(
        input: Input,
        agent: &'static str,
        kind: Option<Kind>,
        paths: &Paths,
    ) -> Option<Told> {
        let root = paths::project_root(&std::env::current_dir().unwrap_or_default(), &paths.home);
        let config = Config::load(paths, &root, kind);
        let wanted = |remote: &Remote| {
            let events = remote.events;
            remote.dialect.facts().keeps_files
                && remote.verdicts.is_empty()
                && kind.map_or(!events.is_empty(), |kind| events.contains(kind))
        };
        let remotes = config.remotes().filter(|(_, remote)| wanted(remote));
        let remotes: Vec<_> = remotes.map(|(layer, remote)| (layer, remote.clone())).collect();
        if remotes.is_empty() {
            return None;
        }
        let event = bare_event(agent, kind.map_or("", Kind::name), Map::new());
        let request = Request::new(event, Vec::new(), Instant::now(), paths);
        Some(Told { request, remotes, root, paths: paths.clone(), unread: Some(input) })
    }

    /// Puts a message for each server into its spool and sees to it that they are sent; `line` notes
    /// what came of it.
    pub fn queue_messages(self, line: &mut journal::Line) {
        if self.put_messages(line)
            && let Err(error) = sender::start_sender(&self.paths)
        {
            line.notes.push(no_sender(&error));
        }
    }

    /// Puts a message for each server into its spool: is a sender to be started?
    pub fn put_messages(&self, line: &mut journal::Line) -> bool {
        let put = |send, (layer, remote): &(Layer, Remote)| self.put(*layer, remote, line) | send;
        self.remotes.iter().fold(false, put)
    }

    /// Puts the message for one server into its spool: is a sender to be started?
    fn put(&self, layer: Layer, remote: &Remote, line: &mut journal::Line) -> bool {
        let event = &self.request.event;
        let (state, facts) = (&self.paths.state, remote.dialect.facts());
        let down = || {
            Breaker::for_messages(state, remote).is_pausing()
                || Breaker::for_questions(state, remote).is_pausing()
        };
        // Later is too late.
        if facts.is_live && down() {
            return false;
        }
        let bytes = self.unread.as_ref().map_or(&self.request.bytes, |input| &input.bytes);
        let key = claim_key(&event.name, bytes, &format!("tell {remote:?}"));
        let window = Duration::from_millis(if event.call_id().is_some() { 5_000 } else { 700 });
        let claim = once::claim(&self.paths.notes(), &key, window, Instant::now() + SECOND);
        if matches!(claim, Claim::Done(_)) {
            return false;
        }
        let mut spool = Spool::for_server(&self.paths.spool(), layer, &remote.name, &self.root);
        if facts.keeps_files {
            spool = spool.for_events();
        }
        let (outcome, cause) = match spool.put(&self.make_message(layer, remote)) {
            Ok(0) => ("queued", String::new()),
            Ok(gone) => ("queued", spool_full_note(gone)),
            Err(why) => ("failed", format!("not told: {why}")),
        };
        line.remotes.push(journal::RemoteRecord {
            name: remote.name.clone(),
            endpoint: first_address(remote, event.kind, true),
            outcome: outcome.into(),
            cause,
            ..journal::RemoteRecord::default()
        });
        // While it is down or somebody sends already, nobody need start. What a bridge does not take
        // has its own file to go to.
        let send = outcome == "queued" && (facts.keeps_files || !down()) && spool.is_idle();
        claim.finish(b"told");
        send
    }

    fn make_message(&self, layer: Layer, remote: &Remote) -> Message {
        let (body, fault) = match &self.unread {
            None => (body_text(&self.request, remote), None),
            Some(input) => unreadable_body(input, remote),
        };
        Message {
            id: self.request.id.clone(),
            time: self.request.timestamp,
            remote: remote.name.clone(),
            root: self.root.to_string_lossy().into_owned(),
            event: self.request.event.name.clone(),
            agent: self.request.event.agent.into(),
            body,
            project: layer.is_project(),
            send: remote.send as u8,
            fault,
            bridge: None,
        }
    }
}

/// Hands on what came in at a bridge's own hook: nobody judges it, and nobody waits for it.
///
/// # Errors
/// Why neither the listener nor a file nor the spool has it, or others are lost for it, or wait longer.
pub fn forward_input(
    agent: &'static str,
    flags: Flags,
    input: Input,
    paths: &Paths,
) -> Result<(), String> {
    let remote = flags.to_remote(agent);
    let object = payload::parse(&input.bytes).ok().filter(|_| stdin_fault(&input).is_none());
    let name = object.as_ref().and_then(|object| object.get("hook_event_name")?.as_str());
    let name = name.unwrap_or_default().to_string();
    let (bytes, unread) = match object {
        Some(_) => (input.bytes, None),
        None => (Vec::new(), Some(input)),
    };
    let event = bare_event(agent, &name, object.unwrap_or_default());
    let root = paths::project_root(&std::env::current_dir().unwrap_or_default(), &paths.home);
    let spool = Spool::for_server(&paths.spool(), Layer::User, &remote.name, &root);
    let spool = spool.for_other_server(&format!("{flags:?}")).for_events();
    let request = Request::new(event, bytes, Instant::now(), paths);
    let told = Told { unread, ..Told::new(request, Vec::new(), root, paths.clone()) };
    let message =
        Message { bridge: Some(flags.clone()), ..told.make_message(Layer::User, &remote) };
    let gone = match spool.put(&message) {
        Ok(gone) => gone,
        Err(why) => {
            let delivered = sender::deliver_message(&message, &flags, paths).map(drop);
            return delivered.map_err(|error| format!("not told: {error}; {why}"));
        }
    };
    if spool.is_idle() {
        // The next event's takes it along.
        sender::start_sender(paths).map_err(|error| no_sender(&error))?;
    }
    if gone > 0 { Err(spool_full_note(gone)) } else { Ok(()) }
}

fn spool_full_note(gone: usize) -> String {
    format!("the spool is full: its oldest were dropped: {gone}")
}

fn no_sender(error: &io::Error) -> String {
    format!("no sender could be started: {error}; run `hookctl flush`")
}

fn body_text(request: &Request, remote: &Remote) -> String {
    String::from_utf8_lossy(&super::request_body(request, remote)).into_owned()
}

/// An event of which only the agent is known, and its name if there is one.
pub(super) fn bare_event(agent: &'static str, name: &str, raw: Map<String, Value>) -> Event {
    Event {
        agent,
        kind: Kind::from_name(name),
        name: name.into(),
        tool: String::new(),
        input: Value::Null,
        cwd: String::new(),
        session: String::new(),
        more: Vec::new(),
        raw,
        native: Value::Null,
    }
}

/// What a bridge gets of bytes that are no event: their text, or why there is none.
fn unreadable_body(input: &Input, remote: &Remote) -> (String, Option<InputFault>) {
    match stdin_fault(input) {
        None => (privacy::shown_text(&input.bytes, remote.send), None),
        fault => (String::new(), fault),
    }
}

/// What the bridge's own hooks call it when stdin does not come as a whole.
fn stdin_fault(input: &Input) -> Option<InputFault> {
    let fault =
        |context: &str, message: String| Some(InputFault { context: context.into(), message });
    match &input.end {
        InputEnd::Failed(why) => fault("stdin_read_error", why.clone()),
        InputEnd::Open => fault("hook_fatal_error", "Timeout reading stdin".into()),
        InputEnd::Closed if input.oversized => {
            let most = input.bytes.len() >> 20;
            fault("hook_fatal_error", format!("stdin is larger than {most} MiB"))
        }
        InputEnd::Closed => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_that_do_not_come_as_a_whole_are_told_as_the_bridge_does() {
        let told = |oversized, end| {
            let fault = stdin_fault(&Input { bytes: vec![b' '; 2 << 20], oversized, end });
            fault.map(|fault| (fault.context, fault.message))
        };
        let fault = |context: &str, message: &str| Some((context.into(), message.into()));
        assert_eq!(told(false, InputEnd::Closed), None);
        assert_eq!(
            told(true, InputEnd::Closed),
            fault("hook_fatal_error", "stdin is larger than 2 MiB")
        );
        assert_eq!(told(true, InputEnd::Open), fault("hook_fatal_error", "Timeout reading stdin"));
        assert_eq!(told(false, InputEnd::Failed("no".into())), fault("stdin_read_error", "no"));
    }
}
