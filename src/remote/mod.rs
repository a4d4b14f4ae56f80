//! Servers: the only part of hookctl that touches the network, and never for an event that no
//! server is asked about.
//!
//! Each server is asked in a thread of its own, which is left alone when its time is up: whatever a
//! server, a resolver or a proxy does, the agent has its answer before the deadline.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::agent;
use crate::event::{Event, Kind};
use crate::once::{self, Claim};
use crate::paths::Paths;
use crate::rule::file::Remote;
use crate::rule::file::remote::{Dialect as Name, Url};
use crate::trust;

use self::breaker::Breaker;
pub use self::note::{Ending, Note};
use self::questions::{Question, Questions};
use self::reply::Reply;
use self::transport::Failure;

mod answer;
pub mod breaker;
pub mod bridge;
mod cchd_v1;
pub(crate) mod cdev;
mod claude_http;
mod cloudevents;
pub mod effects;
mod hooks_server;
pub mod http;
pub mod memory;
mod note;
mod opa;
mod otlp;
mod peer;
mod privacy;
pub mod questions;
pub mod reply;
mod restore;
pub mod secret;
pub mod sender;
pub mod spool;
#[cfg(feature = "tls")]
mod tls;
pub mod told;
pub mod transport;
mod webhook;
mod wire;

/// What is kept of the event's own time for the answer itself.
const MARGIN: Duration = Duration::from_millis(50);
/// SessionEnd gives its hooks 1.5 s in all.
const SESSION_END: Duration = Duration::from_millis(1_200);
/// How long a thread may need to say that its time is up.
const GRACE: Duration = Duration::from_millis(35);

/// What is asked: the same for every server, every address and every attempt.
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
            id: id(timestamp),
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

    /// What a server like this is shown of it. Made once: it is large where the event is.
    fn view(&self, remote: &Remote) -> &Request {
        let Remote { send, human, .. } = *remote;
        let view = &self.views[send as usize + if human { 3 } else { 0 }];
        let view = view.get_or_init(|| privacy::view(self, send, human).map(Box::new));
        view.as_deref().unwrap_or(self)
    }

    /// The payload as JSON: the agent's own bytes, unless they had to be repaired.
    fn payload(&self) -> Cow<'_, [u8]> {
        match serde_json::from_slice::<Value>(&self.bytes) {
            Ok(_) => Cow::Borrowed(self.bytes.trim_ascii()),
            Err(_) => Cow::Owned(serde_json::to_vec(&self.event.raw).unwrap_or_default()),
        }
    }

    /// When the server must have been asked.
    fn limit(&self, remote: &Remote) -> Instant {
        let mut whole = remote.deadline;
        if self.event.kind == Kind::SessionEnd {
            whole = whole.min(SESSION_END);
        }
        (Instant::now() + whole).min(self.deadline.checked_sub(MARGIN).unwrap_or(self.deadline))
    }
}

/// A UUID of version 7.
fn id(timestamp: u64) -> String {
    let (a, b) = (random(), random());
    format!(
        "{:08x}-{:04x}-7{:03x}-{:04x}-{:012x}",
        timestamp >> 16 & 0xffff_ffff,
        timestamp & 0xffff,
        a & 0xfff,
        (b >> 48) & 0x3fff | 0x8000,
        b & 0xffff_ffff_ffff
    )
}

fn random() -> u64 {
    use std::hash::{BuildHasher as _, RandomState};
    // The standard library's hash keys are the system's randomness.
    RandomState::new().hash_one(std::process::id())
}

/// A protocol: an event to a request's body, and an answer's body to what it says.
pub trait Dialect: Sync {
    /// The body of the request.
    fn body(&self, request: &Request, remote: &Remote) -> Vec<u8>;

    /// What the answer says; its body is empty for opa only.
    ///
    /// # Errors
    /// Why it is no answer of this protocol.
    fn read(&self, remote: &Remote, event: &Event, body: &str) -> Result<Reply, String>;

    /// What such a server itself means by a status, where it gives it while it is up.
    fn hint(&self, _status: u16) -> Option<&'static str> {
        None
    }

    /// What is asked for below the address, where that is a base: for a question about events of
    /// this kind, or what is told of them.
    fn path(&self, _kind: Kind, _told: bool) -> Option<&'static str> {
        None
    }

    /// The question as one that a human's server answers by itself, as soon as it takes it; None where the
    /// protocol has no such.
    fn unasked(&self, _event: &Event) -> Option<Event> {
        None
    }

    /// How long connecting may take, where that is less than an attempt may.
    fn connect(&self) -> Option<Duration> {
        None
    }

    /// The largest body that it reads, in bytes.
    fn largest(&self) -> usize {
        usize::MAX
    }

    /// Is it only for a listener of the same user, where that is on this machine?
    fn is_own(&self) -> bool {
        false
    }

    /// The event as that of a session which the server knows nothing of, and in which a human is asked: that
    /// number makes it another. None where the protocol knows no sessions.
    fn anew(&self, _event: &Event, _number: u64) -> Option<Event> {
        None
    }

    /// The kind of body.
    fn content_type(&self, _remote: &Remote) -> &'static str {
        "application/json"
    }
}

/// What joins the events of one call.
fn correlation(event: &Event) -> Option<&str> {
    let keys = ["correlation_id", "tool_use_id", "prompt_id"];
    keys.iter().filter_map(|key| event.str(key)).find(|text| !text.is_empty())
}

/// The agent as the wire names it: `claude-code`.
fn agent_name(event: &Event) -> String {
    let title = agent::by_id(event.agent).map_or(event.agent, |agent| agent.title());
    title.to_lowercase().replace(' ', "-")
}

/// An object's text with one more key, whose value is JSON already and stays as it is.
fn with(object: &Value, key: &str, json: &[u8]) -> Vec<u8> {
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

/// The protocol of that name. Only [`body`] and [`read`] speak it: nothing leaves but through the view.
fn dialect(name: Name) -> &'static dyn Dialect {
    match name {
        Name::HooksServer => &hooks_server::HooksServer,
        Name::CchdV1 => &cchd_v1::CchdV1,
        Name::CloudEvents => &cloudevents::CloudEvents,
        Name::ClaudeHttp => &claude_http::ClaudeHttp,
        Name::Opa => &opa::Opa,
        Name::Cdev => &cdev::Cdev,
        Name::Webhook => &webhook::Webhook,
        Name::Otlp => &otlp::Otlp,
        Name::Bridge => &bridge::Bridge,
    }
}

/// The body of the request to this server: of what it may see, and no secret.
pub fn body(request: &Request, remote: &Remote) -> Vec<u8> {
    dialect(remote.dialect).body(request.view(remote), remote)
}

/// Reads an answer. None at all is no objection.
///
/// # Errors
/// Why it is no answer of the server's protocol, or cannot be used.
pub fn read(remote: &Remote, request: &Request, body: &str) -> Result<Reply, String> {
    let body = body.trim_start_matches('\u{feff}').trim();
    // Of a policy engine no answer is not one.
    if body.is_empty() && remote.dialect != Name::Opa {
        return Ok(Reply::default());
    }
    // It changes what it was shown.
    let (seen, own) = (&request.view(remote).event, &request.event);
    let mut reply = dialect(remote.dialect).read(remote, seen, body)?;
    if !std::ptr::eq(seen, own) {
        restore::restore(&mut reply, remote.send, remote.human, seen, own)?;
    }
    if remote.human
        && let Ok(answer) = serde_json::from_str::<Value>(body)
    {
        let says = |key: &str, what: &str| answer.get(key).is_some_and(|value| value == what);
        reply.recalled = says("source", "memory");
        if says("scope", "session") {
            reply.session = true;
            let pattern = answer.get("pattern").and_then(Value::as_str);
            reply.remembered = pattern.filter(|text| !text.is_empty()).map(str::to_string);
        }
    }
    Ok(reply)
}

/// Is the server told of this event, when it has ended?
pub fn tells(remote: &Remote, event: &Event) -> bool {
    remote.dialect.tells(event.kind) && (remote.dialect != Name::Cdev || cdev::tells(event))
}

/// Its addresses for events of that agent.
pub fn addresses(remote: &Remote, agent: &str) -> Vec<Url> {
    match remote.dialect {
        Name::Bridge => remote.urls.iter().map(|url| bridge::address(url, agent)).collect(),
        _ => remote.urls.clone(),
    }
}

/// What came of asking one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Asked {
    /// The address that was asked last, without its query.
    pub endpoint: String,
    /// How many requests were made.
    pub attempts: u32,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// What was noted of it, where a human was to answer; None where that could not be.
    pub question: Option<Question>,
    /// The answer's body, or why there is none.
    pub outcome: Result<String, String>,
}

/// A server that is being asked.
pub struct Asking<'a> {
    /// Which one.
    pub remote: &'a Remote,
    /// What it is asked.
    pub request: Arc<Request>,
    start: Instant,
    limit: Instant,
    answer: mpsc::Receiver<Asked>,
}

/// Begins to ask it.
pub fn begin<'a>(request: &Arc<Request>, remote: &'a Remote, paths: &Paths) -> Asking<'a> {
    let (sender, answer) = mpsc::channel();
    let (start, limit) = (Instant::now(), request.limit(remote));
    let (asked, owned, paths) = (Arc::clone(request), remote.clone(), paths.clone());
    // Where no thread is to be had, the sender is gone at once.
    let _ = crate::threads::builder().spawn(move || {
        let _ = sender.send(ask_one(&asked, &owned, &paths, limit));
    });
    Asking { remote, request: Arc::clone(request), start, limit, answer }
}

impl Asking<'_> {
    /// Waits until its time is up.
    pub fn wait(&self) -> Asked {
        let left = (self.limit + GRACE).saturating_duration_since(Instant::now());
        let came = self.answer.recv_timeout(left);
        secret::wait_for_commands();
        let failed = |attempts, why: &str| Asked {
            endpoint: first(self.remote, self.request.event.kind, false),
            attempts,
            ms: self.start.elapsed().as_millis() as u64,
            question: None,
            outcome: Err(why.into()),
        };
        came.unwrap_or_else(|error| match error {
            RecvTimeoutError::Timeout => failed(1, "its time is up"),
            RecvTimeoutError::Disconnected => failed(0, "no thread is to be had"),
        })
    }
}

/// Asks one server, unless another registration of hookctl does so for the same event, or the
/// server has been down.
fn ask_one(request: &Request, remote: &Remote, paths: &Paths, limit: Instant) -> Asked {
    let start = Instant::now();
    // Without a call's id, the same payload may soon come again and mean another event.
    let named = request.event.call_id().is_some();
    let window = Duration::from_millis(if named { 5_000 } else { 700 });
    // All that is said of the server counts: what another registration was answered elsewhere is
    // not its answer.
    let key = key(&request.event.name, &request.bytes, &format!("ask {remote:?}"));
    // And what a human says of one call is no answer for its like.
    let claim = match named || !remote.human {
        true => once::claim(&paths.notes(), &key, window, limit),
        false => Claim::First(None),
    };
    if let Claim::Done(bytes) = &claim
        && let Ok(asked) = serde_json::from_slice(bytes)
    {
        // The answer is read against it: here, where the time is watched.
        request.view(remote);
        return asked;
    }
    let breaker = Breaker::of(&paths.state, remote);
    let probe = match breaker.look() {
        breaker::State::Closed => false,
        breaker::State::Probe => true,
        breaker::State::Open(why) if is_asked_at_once(remote, &why) => false,
        breaker::State::Open(why) => {
            let outcome = Err(format!("it has been down: {why}"));
            let asked = Asked {
                endpoint: first(remote, request.event.kind, false),
                attempts: 0,
                ms: 0,
                question: None,
                outcome,
            };
            claim.done(&serde_json::to_vec(&asked).unwrap_or_default());
            return asked;
        }
    };
    let short = probe || request.event.kind == Kind::SessionEnd;
    let retries = if short { 0 } else { remote.retries };
    let call = transport::Call { request, remote, retries, limit, told: None };
    let mut attempts = 0;
    let mut endpoint = first(remote, request.event.kind, false);
    let noted = note(request, remote, paths);
    let mut question = None;
    let (outcome, down) = match call.run(&mut attempts, &mut endpoint) {
        Ok(said) => {
            // Who is there again is told again as well.
            if breaker.close() {
                Breaker::told(&paths.state, remote).close();
            }
            question = noted.map(|id| Question { id, waited: said.waited.as_millis() as u64 });
            (Ok(said.body), None)
        }
        Err(Failure { cause, down, .. }) => (Err(cause.clone()), down.then_some(cause)),
    };
    if let Some(cause) = down {
        breaker.open(&cause);
    }
    let ms = start.elapsed().as_millis() as u64;
    let asked = Asked { endpoint, attempts, ms, question, outcome };
    claim.done(&serde_json::to_vec(&asked).unwrap_or_default());
    asked
}

/// Notes a question to a human before it leaves: its number, where that can be.
fn note(request: &Request, remote: &Remote, paths: &Paths) -> Option<u64> {
    let event = &request.event;
    let asks = remote.human && event.kind.is_gate() && request.note == Note::Nothing;
    let questions = asks.then(|| Questions::of(&paths.state, &event.session)).flatten()?;
    questions.note(remote, &request.view(remote).event, !request.anew).ok()
}

/// Asks once more, as of a session that the server has no memory of and in which nobody is passed over.
/// None where its protocol has no such way.
pub fn ask_again(
    request: &Request,
    remote: &Remote,
    paths: &Paths,
    before: &Asked,
) -> Option<(Asked, Arc<Request>)> {
    // The same number in each registration of hookctl, so that they ask once.
    let number = before.question.as_ref().map_or(0, |question| question.id);
    let event = dialect(remote.dialect).anew(&request.event, number)?;
    let bytes = serde_json::to_vec(&event.raw).ok()?;
    let again = Request::new(event, bytes, request.deadline, paths);
    let again = Arc::new(Request { anew: true, effects: request.effects.clone(), ..again });
    let mut asked = begin(&again, remote, paths).wait();
    asked.attempts += before.attempts;
    Some((asked, again))
}

/// The question in a form that bothers nobody at that server, and proves that it takes questions; None
/// where there is none.
pub fn unasked(remote: &Remote, event: &Event) -> Option<Event> {
    match remote.human {
        true => dialect(remote.dialect).unasked(event),
        false => remote.dialect.decides().then(|| event.clone()),
    }
}

/// Is a server that was down for this reason asked all the same? It is on this machine and refuses at
/// once, and the human who starts it waits for the questions.
pub fn is_asked_at_once(remote: &Remote, why: &str) -> bool {
    let here = remote.urls.iter().all(|url| url.loopback);
    remote.human && here && remote.retries == 0 && why == http::REFUSED
}

/// Where that is asked or told which belongs to events of this kind.
fn address<'u>(remote: &Remote, url: &'u Url, kind: Kind, told: bool) -> Cow<'u, Url> {
    let path = dialect(remote.dialect).path(kind, told);
    path.map_or(Cow::Borrowed(url), |path| Cow::Owned(url.join(path)))
}

fn first(remote: &Remote, kind: Kind, told: bool) -> String {
    let url = remote.urls.first().map(|url| address(remote, url, kind, told));
    url.map(|url| url.endpoint().to_string()).unwrap_or_default()
}

/// The name of this event at this server, or of another thing that is done once for it.
fn key(event: &str, bytes: &[u8], whom: &str) -> String {
    let mut text = Vec::new();
    for part in [event.as_bytes(), bytes, whom.as_bytes()] {
        text.extend_from_slice(part);
        text.push(0);
    }
    format!("remote-{}", &trust::hash(&text)[..32])
}

/// A path of the config: `~/` is the home directory.
pub(crate) fn at_home(path: &Path, home: &Path) -> PathBuf {
    path.strip_prefix("~").map_or_else(|_| path.to_path_buf(), |rest| home.join(rest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn s1_04_ids_are_unique_and_of_version_7() {
        let ids: BTreeSet<String> = (0..1000).map(|_| id(1_795_183_819_000)).collect();
        assert_eq!(ids.len(), 1000);
        for id in ids {
            let parts: Vec<&str> = id.split('-').collect();
            let lengths: Vec<usize> = parts.iter().map(|part| part.len()).collect();
            assert_eq!(lengths, [8, 4, 4, 4, 12], "{id}");
            assert!(id.starts_with("01a1f9") && parts[2].starts_with('7'), "{id}");
            assert!(parts[3].starts_with(['8', '9', 'a', 'b']), "{id}");
        }
    }
}
