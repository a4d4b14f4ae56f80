//! Heartbeats: collectors that want one are told, once a session, how hookctl stands on this machine.
//!
//! The event that begins a session only leaves a note. The sender finds it, asks for the state of the machine, which takes
//! longer than an event may, and puts the message for each collector into its spool.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Map, Value, json};

use super::spool::Spool;
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
/// So many are put into the spools together, and only where no more wait: a spool has room for some of everything.
const TOGETHER: usize = 200;
/// So many digits of its hash stand behind that.
const DIGITS: usize = 32;
/// What its name ends with when its messages are in the spools: then nobody reads it any more.
const TOLD: &str = "told";

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

/// Notes that a session has begun, where a collector wants to know: is a sender to be started? Where the managed rules have
/// not come yet they may name one.
pub fn note_session(config: &mut Config, paths: &Paths, event: &Event) -> bool {
    if event.session.is_empty() || !(config.has_remotes() || config.lacks_managed) {
        return false;
    }
    config.read_remotes();
    if wanting(config).is_empty() && !config.lacks_managed {
        return false;
    }
    let name = format!("{NOTE}{}", &sha256_hex(event.session.as_bytes())[..DIGITS]);
    let note = paths.notes().join(name);
    // Resumed and compacted ones begin again: they had theirs.
    if [&note, &told_name(&note)].iter().any(|note| note.symlink_metadata().is_ok()) {
        return false;
    }
    let (agent, session) = (event.agent, event.session.clone());
    let time = super::breaker::unix_milliseconds();
    Begun { note, agent, session, time, told: Vec::new() }.write().is_ok()
}

/// What the sender finds of the machine.
pub struct State {
    /// The agents that have hookctl.
    pub agents: Vec<String>,
    /// Why the guard is not in effect; empty where it is.
    pub problems: Vec<String>,
}

/// Puts messages of sessions that have begun into the spools: do more wait, for which there is room once these are sent? `look`
/// is asked for the state of the machine.
///
/// One sender does it for all. Who finds it at work leaves: it looks once more when it has let go, and finds what came
/// meanwhile.
pub fn queue_heartbeats(paths: &Paths, look: impl FnOnce() -> State) -> bool {
    if waiting(&paths.notes()).is_empty() {
        return false;
    }
    let Ok(lock) = files::open_to_edit(&paths.heartbeat_lock()) else { return false };
    let config = Config::load(paths, Path::new("/"), None);
    if lock.try_lock().is_err() || config.lacks_managed {
        return false;
    }
    let state = look();
    let heartbeat = Heartbeat {
        origin: Origin::of_machine(&paths.home),
        bundle: config.bundle.clone(),
        agents: state.agents,
        problems: state.problems,
    };
    let remotes = wanting(&config);
    for begun in waiting(&paths.notes()).into_iter().take(TOGETHER) {
        queue_heartbeat(begun, &heartbeat, &remotes, paths);
    }
    drop(lock);
    !waiting(&paths.notes()).is_empty()
}

/// Puts the message for each collector into its spool. What cannot be put there now waits.
fn queue_heartbeat(
    mut begun: Begun,
    heartbeat: &Heartbeat,
    remotes: &[(Layer, Remote)],
    paths: &Paths,
) {
    let mut line = journal::Line::new(begun.agent);
    let request = make_request(&begun, heartbeat.clone(), paths);
    // Of a spool that is full the oldest go: what waits here can wait longer.
    let has_room = |(layer, remote): &(Layer, Remote)| {
        let spool = Spool::for_server(&paths.spool(), *layer, &remote.name, Path::new("/"));
        spool.waiting_messages().len() < TOGETHER
    };
    let is_left = |one: &&(Layer, Remote)| !begun.told.contains(&one.1.name) && has_room(one);
    let left: Vec<_> = remotes.iter().filter(is_left).cloned().collect();
    Told::new(request, left, PathBuf::from("/"), paths.clone()).put_messages(&mut line);
    let queued = line.remotes.into_iter().filter(|remote| remote.outcome == "queued");
    begun.told.extend(queued.map(|remote| remote.name));
    // Who is killed before this puts it again, under the same id.
    let _ = match remotes.iter().all(|(_, remote)| begun.told.contains(&remote.name)) {
        true => fs::rename(&begun.note, told_name(&begun.note)),
        false => begun.write(),
    };
}

fn told_name(note: &Path) -> PathBuf {
    note.with_extension(TOLD)
}

/// A session that has begun, of which not every collector was told yet.
struct Begun {
    note: PathBuf,
    agent: &'static str,
    session: String,
    /// When, in milliseconds since 1970.
    time: u64,
    /// The collectors that were.
    told: Vec<String>,
}

impl Begun {
    fn write(&self) -> std::io::Result<()> {
        let Begun { note, agent, session, time, told } = self;
        let text = json!({ "agent": agent, "session": session, "time": time, "told": told });
        let text = text.to_string();
        files::replace_file(note, text.as_bytes())
    }

    fn read(note: PathBuf) -> Option<Begun> {
        let digits = note.file_name()?.to_str()?.strip_prefix(NOTE)?;
        // No draft of one.
        if digits.len() != DIGITS || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        let bytes = files::read_state(&note, files::SMALL).ok()?;
        let value: Value = serde_json::from_slice(&bytes).ok()?;
        let agent = agent::by_id(value.get("agent")?.as_str()?)?.id();
        let session = value.get("session")?.as_str()?.to_string();
        let told = value.get("told")?.as_array()?.iter();
        let told = told.filter_map(|name| name.as_str().map(String::from)).collect();
        Some(Begun { note, agent, session, time: value.get("time")?.as_u64()?, told })
    }
}

fn make_request(begun: &Begun, heartbeat: Heartbeat, paths: &Paths) -> Request {
    let Begun { agent, session, .. } = begun;
    let event = Event { session: session.clone(), ..bare_event(agent, "Heartbeat", Map::new()) };
    // The same for the same session, and another on another machine: it tells neither.
    let salt = super::privacy::load_salt(&paths.salt());
    let hash = sha256_hex(format!("heartbeat\0{salt}\0{session}").as_bytes());
    // Its first digits are the time, as of all messages: they go in that order.
    let time = format!("{:012x}", begun.time);
    let [a, b, c, d, e] = [&time[..8], &time[8..], &hash[..3], &hash[3..6], &hash[6..18]];
    let id = format!("{a}-{b}-7{c}-8{d}-{e}");
    let request = Request::new(event, session.clone().into_bytes(), Instant::now(), paths);
    Request { id, note: Note::Heartbeat(heartbeat), ..request }
}

/// The sessions of which somebody is still to be told.
fn waiting(notes: &Path) -> Vec<Begun> {
    let entries = fs::read_dir(notes).into_iter().flatten().flatten();
    entries.filter_map(|entry| Begun::read(entry.path())).collect()
}
