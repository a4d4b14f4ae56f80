//! Heartbeats: collectors that want one are told, once a session, how hookctl stands on this machine.
//!
//! The event that begins a session only leaves a note. The sender finds it, asks for the state of the machine, which takes
//! longer than an event may, and puts the message for each collector into its spool.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::told::{Told, bare_event};
use crate::agent::{self, Agent};
use crate::config::Config;
use crate::dialect::{Heartbeat, Note, Origin, Request};
use crate::event::{Event, Kind};
use crate::files;
use crate::journal;
use crate::paths::Paths;
use crate::rule::Layer;
use crate::rule::file::Remote;
use crate::text::sha256_hex;

/// What the note of a session is called.
const NOTE: &str = "heartbeat-";
/// What stands in it when its messages are in the spools.
const DONE: &[u8] = b"done";

/// May a session of this agent begin with this event? Of an agent that tells nothing of beginnings, with any.
pub fn begins_session(agent: &dyn Agent, event: &Event) -> bool {
    let has = |kind: Kind| agent.events().iter().any(|spec| spec.kind == kind);
    Kind::BEGINNINGS.into_iter().find(|kind| has(*kind)).is_none_or(|kind| kind == event.kind)
}

/// The collectors that want heartbeats. A repository's file names none: what holds on a machine is nothing of its.
fn wanting(config: &Config) -> Vec<(Layer, Remote)> {
    let wanted = |(layer, remote): &(Layer, &Remote)| {
        !layer.is_project() && remote.dialect.wants_heartbeat(&remote.own)
    };
    config.remotes().filter(wanted).map(|(layer, remote)| (layer, remote.clone())).collect()
}

/// Notes that a session has begun, where a collector wants to know: is a sender to be started?
pub fn note_session(config: &mut Config, paths: &Paths, event: &Event) -> bool {
    if event.session.is_empty() || !config.has_remotes() {
        return false;
    }
    config.read_remotes();
    if wanting(config).is_empty() {
        return false;
    }
    let name = format!("{NOTE}{}", &sha256_hex(event.session.as_bytes())[..32]);
    let path = paths.notes().join(name);
    // Resumed and compacted ones begin again: they had theirs.
    if path.symlink_metadata().is_ok() {
        return false;
    }
    let note = json!({ "agent": event.agent, "session": event.session });
    files::replace_file(&path, note.to_string().as_bytes()).is_ok()
}

/// What the sender finds of the machine.
pub struct State {
    /// The agents that have hookctl.
    pub agents: Vec<String>,
    /// Why the guard is not in effect; empty where it is.
    pub problems: Vec<String>,
}

/// Puts the messages of all sessions that have begun into the spools. `look` is asked for the state of the machine.
///
/// One sender does it for all. Who finds it at work leaves: it looks once more when it has let go, and finds what came
/// meanwhile.
pub fn queue_heartbeats(paths: &Paths, mut look: impl FnMut() -> State) {
    while !waiting(&paths.notes()).is_empty() {
        let Ok(lock) = files::open_to_edit(&paths.heartbeat_lock()) else { return };
        if lock.try_lock().is_err() {
            return;
        }
        let sessions = waiting(&paths.notes());
        let (state, config) = (look(), Config::load(paths, Path::new("/"), None));
        let heartbeat = Heartbeat {
            origin: Origin::of_machine(&paths.home),
            bundle: config.bundle.clone(),
            agents: state.agents,
            problems: state.problems,
        };
        let remotes = wanting(&config);
        let told = sessions
            .iter()
            .filter(|begun| queue_heartbeat(begun, heartbeat.clone(), &remotes, paths).is_ok());
        // What cannot be told now waits for the next sender.
        if told.count() < sessions.len() {
            return;
        }
    }
}

/// # Errors
/// Where a collector's message could not be put into its spool: the note stays.
fn queue_heartbeat(
    begun: &Begun,
    heartbeat: Heartbeat,
    remotes: &[(Layer, Remote)],
    paths: &Paths,
) -> std::io::Result<()> {
    let mut line = journal::Line::new(begun.agent);
    let request = make_request(begun, heartbeat, paths);
    let told = Told::new(request, remotes.to_vec(), PathBuf::from("/"), paths.clone());
    told.put_messages(&mut line);
    if line.remotes.iter().any(|remote| remote.outcome != "queued") {
        return Err(std::io::ErrorKind::Other.into());
    }
    // Who is killed before this puts it again, under the same id.
    files::replace_file(&begun.note, DONE)
}

/// A session that has begun, of which no collector was told yet.
struct Begun {
    note: PathBuf,
    agent: &'static str,
    session: String,
}

fn make_request(begun: &Begun, heartbeat: Heartbeat, paths: &Paths) -> Request {
    let Begun { agent, session, .. } = begun;
    let event = Event { session: session.clone(), ..bare_event(agent, "Heartbeat", Map::new()) };
    let hash = sha256_hex(format!("heartbeat\0{}\0{session}", heartbeat.origin.host).as_bytes());
    let [a, b, c, d, e] = [&hash[..8], &hash[8..12], &hash[12..15], &hash[15..18], &hash[18..30]];
    let id = format!("{a}-{b}-8{c}-8{d}-{e}");
    let request = Request::new(event, session.clone().into_bytes(), Instant::now(), paths);
    Request { id, note: Note::Heartbeat(heartbeat), ..request }
}

fn waiting(notes: &Path) -> Vec<Begun> {
    let entries = fs::read_dir(notes).into_iter().flatten().flatten();
    let read = |entry: fs::DirEntry| {
        entry.file_name().to_str().filter(|name| name.starts_with(NOTE))?;
        let path = entry.path();
        let bytes = files::read_state(&path, files::SMALL).ok().filter(|bytes| bytes != DONE)?;
        let note: Value = serde_json::from_slice(&bytes).ok()?;
        let agent = agent::by_id(note.get("agent")?.as_str()?)?.id();
        let session = note.get("session")?.as_str()?.to_string();
        Some(Begun { note: path, agent, session })
    };
    entries.filter_map(read).collect()
}
