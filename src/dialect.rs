//! What servers speak: one file for each protocol, one trait, one static table. A file owns all that is said
//! of its protocol: its names, its keys of `[remote.NAME]` and what holds without them, what it is asked
//! about and told of, its bodies and its answers. It knows neither files nor transport.

use std::borrow::Cow;
use std::fmt;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Map, Value};

use crate::agent;
use crate::event::{Event, Kind};
use crate::limits;
use crate::moment::Moment;
use crate::paths::Paths;
use crate::text;
use crate::verdict::Verb;

pub use self::note::{Ending, Heartbeat, Note, Origin};
pub use self::rival::Rival;
pub use self::setting::{Setting, SettingKey, Settings, Takes};

mod answer;
pub mod bridge;
mod cchd_v1;
pub mod cdev;
mod claude_http;
mod cloudevents;
mod hooks_server;
mod note;
mod opa;
mod otlp;
mod rival;
mod setting;
mod webhook;

/// Every protocol, the usual one first.
pub static DIALECTS: &[&dyn Dialect] = &[
    &hooks_server::HooksServer,
    &cchd_v1::CchdV1,
    &cloudevents::CloudEvents,
    &claude_http::ClaudeHttp,
    &opa::Opa,
    &cdev::Cdev,
    &webhook::Webhook,
    &otlp::Otlp,
    &bridge::Bridge,
];

/// What a server speaks unless its settings say otherwise, and what `server.json` is about.
pub fn default_dialect() -> &'static dyn Dialect {
    DIALECTS[0]
}

/// Every name of every protocol.
pub fn dialect_names() -> impl Iterator<Item = (&'static str, &'static dyn Dialect)> {
    let names = |one: &&'static dyn Dialect| one.facts().names.iter().zip(std::iter::repeat(*one));
    DIALECTS.iter().flat_map(names).map(|(name, one)| (*name, one))
}

/// What holds where a file does not say otherwise; times in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Defaults {
    /// One attempt.
    pub timeout: u64,
    /// Retries after the first attempt.
    pub retries: u32,
    /// The pause before each.
    pub delay: u64,
    /// Everything together.
    pub deadline: u64,
    /// What cannot be asked goes on.
    pub fail_open: bool,
}

impl Defaults {
    /// Those of a server on another machine.
    pub const SLOW: Defaults =
        Defaults { timeout: 5_000, retries: 3, delay: 1_000, deadline: 25_000, fail_open: true };
    /// Those of a server that is told, and that nobody waits for.
    pub const TOLD: Defaults = Defaults { retries: 1, delay: 500, ..Defaults::SLOW };
}

/// What is so of a protocol whatever the event and the settings of its server are.
#[derive(Debug, Clone, Copy)]
pub struct Facts {
    /// Its name in a file, and others that it had or has elsewhere.
    pub names: &'static [&'static str],
    /// Its own keys of `[remote.NAME]`.
    pub keys: &'static [SettingKey],
    /// What holds where a file does not say otherwise.
    pub defaults: Defaults,
    /// The keys of all servers that have no effect here, and why.
    pub lacks: &'static [(&'static str, &'static str)],
    /// What is asked for where an address names no path.
    pub page: Option<&'static str>,
    /// The port of this machine where it is, unless its file says where.
    pub port: Option<u16>,
    /// The path of its address is a key, which nobody else is to see.
    pub hides_path: bool,
    /// It is asked for its decision. Else it is told of decisions, afterwards.
    pub decides: bool,
    /// What it is told is of use only at once: nothing is kept for it.
    pub is_live: bool,
    /// Its allow is no more than the absence of an objection, unless a setting says more.
    pub is_plain: bool,
    /// A human answers there, whatever the file says.
    pub is_human: bool,
    /// It answers from a memory of its own, which its answers do not tell.
    pub remembers: bool,
    /// What it does not take has files to go to, which its sender writes.
    pub keeps_files: bool,
    /// What it is called in a reason.
    pub title: &'static str,
    /// What is doubtful about sending it events.
    pub doubt: Option<&'static str>,
    /// The hook program of others whose work such a server does.
    pub rival: Option<&'static Rival>,
    /// It says something by an empty answer.
    pub reads_nothing: bool,
    /// What such a server itself means by a status, where it gives it while it is up.
    pub hints: &'static [(u16, &'static str)],
    /// How long connecting may take, where that is less than an attempt may.
    pub connect: Option<Duration>,
    /// The largest body that it reads, in bytes.
    pub largest: usize,
    /// It is only for a listener of the same user, where that is on this machine.
    pub is_own: bool,
}

impl Facts {
    /// Those of a server that is asked.
    const ASKED: Facts = Facts {
        names: &[],
        keys: &[],
        defaults: Defaults::SLOW,
        lacks: &[],
        page: None,
        port: None,
        hides_path: false,
        decides: true,
        is_live: false,
        is_plain: true,
        is_human: false,
        remembers: false,
        keeps_files: false,
        title: "Server",
        doubt: None,
        rival: None,
        reads_nothing: false,
        hints: &[],
        connect: None,
        largest: usize::MAX,
        is_own: false,
    };
    /// Those of a server that is only told.
    const TOLD: Facts =
        Facts { decides: false, is_plain: false, defaults: Defaults::TOLD, ..Facts::ASKED };
}

/// A protocol: everything that hookctl knows of it.
pub trait Dialect: Sync {
    /// What is always so of it.
    fn facts(&self) -> &'static Facts;

    /// What is wrong with an address of this path, and what to write.
    fn address_fault(&self, _path: &str) -> Option<(&'static str, &'static str)> {
        None
    }

    /// What is asked for where an address names no path, if it hangs on whose events it gets.
    fn page_of(&self, _agent: &str) -> Option<String> {
        None
    }

    /// What is asked for below the address, where that is a base: for a question about events of
    /// this kind, or what is told of them.
    fn request_path(&self, _kind: Kind, _told: bool) -> Option<&'static str> {
        None
    }

    /// Is it asked about events of this kind?
    fn is_asked_about(&self, _kind: Kind) -> bool {
        self.facts().decides
    }

    /// Is it told of events of this kind, for nothing but its `events`, or a rule, wants it?
    fn is_told_of(&self, _kind: Kind) -> bool {
        !self.facts().decides
    }

    /// Is it told of this event?
    fn tells_of(&self, event: &Event) -> bool {
        self.is_told_of(event.kind)
    }

    /// Is it told of each call that goes ahead as well?
    fn tells_starts(&self, _own: &Settings) -> bool {
        false
    }

    /// Is it told once a session how hookctl stands?
    fn wants_heartbeat(&self, _own: &Settings) -> bool {
        false
    }

    /// Is an allow for the session believed, whoever gave it?
    fn believes_session_allow(&self, _own: &Settings) -> bool {
        false
    }

    /// Do hooks of its own in these settings files ask it about each call as well?
    fn is_asked_beside(&self, _files: &[PathBuf]) -> bool {
        false
    }

    /// What a placeholder stands for in a text of the file's own that it is sent.
    fn placeholder_value(&self, _request: &Request, _name: &str) -> String {
        String::new()
    }

    /// The body of the request, where the file has no text of its own for it.
    fn body(&self, request: &Request, own: &Settings) -> Vec<u8>;

    /// The kind of body.
    fn content_type(&self, _own: &Settings) -> &'static str {
        "application/json"
    }

    /// What the answer says. By itself none is read.
    ///
    /// # Errors
    /// Why it is no answer of this protocol.
    fn read_answer(&self, _own: &Settings, _event: &Event, _body: &str) -> Result<Reply, String> {
        Ok(Reply::default())
    }

    /// The question as one that a human's server answers by itself, as soon as it takes it; None where the
    /// protocol has no such.
    fn unattended_question(&self, _event: &Event) -> Option<Event> {
        None
    }

    /// The event as that of a session which the server knows nothing of, and in which a human is asked: that
    /// number makes it another. None where the protocol knows no sessions.
    fn in_new_session(&self, _event: &Event, _number: u64) -> Option<Event> {
        None
    }
}

impl dyn Dialect + '_ {
    /// Its name.
    pub fn scope_name(&self) -> &'static str {
        self.facts().names[0]
    }
}

impl fmt::Debug for dyn Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.scope_name())
    }
}

impl PartialEq for dyn Dialect {
    fn eq(&self, other: &dyn Dialect) -> bool {
        self.scope_name() == other.scope_name()
    }
}

impl Eq for dyn Dialect {}

/// What is asked or told: the same for every server, every address and every attempt.
#[derive(Debug)]
pub struct Request {
    /// The event.
    pub event: Event,
    /// Its bytes as the agent sent them.
    pub bytes: Vec<u8>,
    /// The event's own id.
    pub id: String,
    /// Milliseconds since 1970.
    pub timestamp: u64,
    /// What hookctl has to add about it.
    pub note: Note,
    /// What the call would do, for humans who are asked about it.
    pub effects: String,
    /// It is asked as of a session that the server knows nothing of.
    pub anew: bool,
    /// Another hook asks the same server about this call, by the call's own id.
    pub twice: bool,
    /// The end of the event's time.
    pub deadline: Instant,
    /// The user's home directory, for `~/`.
    pub home: PathBuf,
    /// Where the salt of hashes is kept.
    pub(crate) salt: PathBuf,
    /// What servers are shown of it, by `send` and by who reads it; None inside = all.
    pub(crate) views: [OnceLock<Option<Box<Request>>>; 6],
}

impl Request {
    /// A new event to ask about.
    pub fn new(event: Event, bytes: Vec<u8>, deadline: Instant, paths: &Paths) -> Request {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let timestamp = now.as_millis() as u64;
        Request {
            event,
            bytes,
            id: new_uuid(timestamp),
            timestamp,
            note: Note::Nothing,
            effects: String::new(),
            anew: false,
            twice: false,
            deadline,
            home: paths.home.clone(),
            salt: paths.salt(),
            views: Default::default(),
        }
    }

    /// The payload as JSON: the agent's own bytes, unless they had to be repaired.
    fn payload(&self) -> Cow<'_, [u8]> {
        match serde_json::from_slice::<Value>(&self.bytes) {
            Ok(_) => Cow::Borrowed(self.bytes.trim_ascii()),
            Err(_) => Cow::Owned(serde_json::to_vec(&self.event.raw).unwrap_or_default()),
        }
    }

    /// The event's object with what hookctl adds, under its name; None where that is nothing.
    fn annotated_payload(&self) -> Option<Vec<u8>> {
        let mut object = self.event.raw.clone();
        object.insert("hookctl".into(), self.note.to_json()?);
        Some(serde_json::to_vec(&object).unwrap_or_default())
    }

    /// What the call is about, in short.
    fn call_summary(&self) -> String {
        let what = self.event.call_summary().unwrap_or_default();
        text::cut(what, limits::JOURNAL_TEXT).into_owned()
    }
}

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

/// A UUID of version 7.
fn new_uuid(timestamp: u64) -> String {
    let (a, b) = (random_number(), random_number());
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        timestamp >> 16 & 0xffff_ffff,
        timestamp & 0xffff,
        a & 0xfff,
        (b >> 48) & 0x3fff | 0x8000,
        b & 0xffff_ffff_ffff
    )
}

/// A number that nobody can guess.
pub fn random_number() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    // The standard library's hash keys are the system's randomness.
    RandomState::new().hash_one(std::process::id())
}

/// What joins the events of one call.
fn correlation_id(event: &Event) -> Option<&str> {
    let keys = ["correlation_id", "tool_use_id", "prompt_id"];
    keys.iter().filter_map(|key| event.str_field(key)).find(|text| !text.is_empty())
}

/// The agent as the wire names it: `claude-code`.
fn agent_name(event: &Event) -> String {
    let title = agent::by_id(event.agent).map_or(event.agent, |agent| agent.title());
    title.to_lowercase().replace(' ', "-")
}

/// An object's text with one more key, whose value is JSON already and stays as it is.
fn with_member(object: &Value, key: &str, json: &[u8]) -> Vec<u8> {
    let mut out = object.to_string().into_bytes();
    out.pop();
    if out.len() > 1 {
        out.push(b',');
    }
    out.extend(format!("\"{key}\":").bytes());
    out.extend(json);
    out.push(b'}');
    out
}

/// The object that an answer is.
fn object(body: &str) -> Result<Map<String, Value>, String> {
    serde_json::from_slice(body.as_bytes()).map_err(|_| "it is no JSON object".to_string())
}

/// Milliseconds since 1970 as people and most programs read it.
pub fn format_time(timestamp: u64) -> String {
    Moment::from_millis(timestamp as i64).unwrap_or_default().to_millis_text()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn s1_04_ids_are_unique_and_of_version_7() {
        let ids: BTreeSet<String> = (0..1000).map(|_| new_uuid(1_795_183_819_000)).collect();
        assert_eq!(ids.len(), 1000);
        for id in ids {
            let parts: Vec<&str> = id.split('-').collect();
            let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert!(id.starts_with("01a1f9") && parts[2].starts_with('7'), "{id}");
            assert!(parts[3].starts_with(['8', '9', 'a', 'b']), "{id}");
        }
    }

    #[test]
    fn each_name_and_key_is_of_one_protocol() {
        let names: Vec<&str> = dialect_names().map(|(name, _)| name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        let keys: Vec<&str> =
            DIALECTS.iter().flat_map(|one| one.facts().keys).map(|key| key.name).collect();
        assert_eq!(keys.iter().collect::<BTreeSet<_>>().len(), keys.len(), "{keys:?}");
    }
}
