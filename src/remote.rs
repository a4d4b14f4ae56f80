//! Servers: the only part of hookctl that touches the network, and never for an event that no
//! server is asked about.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::dialect::{Reply, Request, Takes};
use crate::event::{Event, Kind};
use crate::rule::file::Remote;
use crate::rule::file::remote::Url;
use crate::rule::template::{PlaceholderName, Template};
use crate::trust;

pub use self::ask::{AskOutcome, Asking, ask_again, begin_asking};

mod ask;
pub mod breaker;
pub mod bridge;
#[cfg(feature = "tls")]
mod ciphers;
pub mod effects;
#[cfg(feature = "tls")]
pub mod fleet;
pub mod heartbeat;
pub mod http;
pub mod memory;
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
mod wire;

/// What is kept of the event's own time for the answer itself.
const MARGIN: Duration = Duration::from_millis(50);
/// SessionEnd gives its hooks 1.5 s in all.
const SESSION_END: Duration = Duration::from_millis(1_200);

impl Request {
    /// What a server like this is shown of it. Made once: it is large where the event is.
    fn server_view(&self, remote: &Remote) -> &Request {
        let Remote { send, human, .. } = *remote;
        let view = &self.views[send as usize + if human { 3 } else { 0 }];
        let view = view.get_or_init(|| privacy::restricted_view(self, send, human).map(Box::new));
        view.as_deref().unwrap_or(self)
    }

    /// When the server must have been asked.
    fn ask_deadline(&self, remote: &Remote) -> Instant {
        let mut whole = remote.deadline;
        if self.event.kind == Kind::SessionEnd {
            whole = whole.min(SESSION_END);
        }
        (Instant::now() + whole).min(self.deadline.checked_sub(MARGIN).unwrap_or(self.deadline))
    }
}

/// The body of the request to this server: of what it may see, and no secret.
pub fn request_body(request: &Request, remote: &Remote) -> Vec<u8> {
    let (dialect, seen) = (remote.dialect, request.server_view(remote));
    let form = dialect.facts().keys.iter().find_map(|key| match key.takes {
        Takes::Form(names) => Some((remote.own.form(key)?, names)),
        _ => None,
    });
    let Some((form, names)) = form else { return dialect.body(seen, &remote.own) };
    let fill = |text: &str| match Template::parse_with_names(text, names) {
        Ok(template) => template.fill(&|name| match name {
            PlaceholderName::Own(name) => Some(dialect.placeholder_value(seen, name)),
            _ => None,
        }),
        // The file has a fault then, and does not come this far.
        Err(_) => text.to_string(),
    };
    match fill_templates(form, &fill) {
        Value::String(text) => text.into_bytes(),
        body => body.to_string().into_bytes(),
    }
}

/// The same value with every text in it filled in.
fn fill_templates(value: &Value, fill: &dyn Fn(&str) -> String) -> Value {
    match value {
        Value::String(text) => Value::String(fill(text)),
        Value::Array(all) => all.iter().map(|one| fill_templates(one, fill)).collect(),
        Value::Object(map) => {
            map.iter().map(|(key, one)| (key.clone(), fill_templates(one, fill))).collect()
        }
        other => other.clone(),
    }
}

/// Reads an answer. None at all is no objection, but where the protocol says something by it.
///
/// # Errors
/// Why it is no answer of the server's protocol, or cannot be used.
pub fn read_reply(remote: &Remote, request: &Request, body: &str) -> Result<Reply, String> {
    let body = body.trim_start_matches('\u{feff}').trim();
    if body.is_empty() && !remote.dialect.facts().reads_nothing {
        return Ok(Reply::default());
    }
    // It changes what it was shown.
    let (seen, own) = (&request.server_view(remote).event, &request.event);
    let mut reply = remote.dialect.read_answer(&remote.own, seen, body)?;
    if !std::ptr::eq(seen, own) {
        restore::restore_hidden(&mut reply, remote.send, remote.human, seen, own)?;
    }
    if remote.human
        && let Ok(answer) = serde_json::from_slice::<Value>(body.as_bytes())
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

/// Its addresses for events of that agent.
pub fn agent_addresses(remote: &Remote, agent: &str) -> Vec<Url> {
    remote.urls.iter().map(|url| agent_page(remote, url, agent)).collect()
}

/// One of them.
fn agent_page(remote: &Remote, url: &Url, agent: &str) -> Url {
    match remote.dialect.page_of(agent) {
        Some(page) => url.clone().or_path(&page),
        None => url.clone(),
    }
}

/// The question in a form that bothers nobody at that server, and proves that it takes questions; None
/// where there is none.
pub fn unattended_question(remote: &Remote, event: &Event) -> Option<Event> {
    match remote.human {
        true => remote.dialect.unattended_question(event),
        false => remote.dialect.facts().decides.then(|| event.clone()),
    }
}

/// Is a server that was down for this reason asked all the same? It is on this machine and refuses at
/// once, and the human who starts it waits for the questions.
pub fn is_asked_at_once(remote: &Remote, why: &str) -> bool {
    let here = remote.urls.iter().all(|url| url.loopback);
    remote.human && here && remote.retries == 0 && why == http::REFUSED
}

/// Where that is asked or told which belongs to events of this kind.
fn event_address<'u>(remote: &Remote, url: &'u Url, kind: Kind, told: bool) -> Cow<'u, Url> {
    let path = remote.dialect.request_path(kind, told);
    path.map_or(Cow::Borrowed(url), |path| Cow::Owned(url.join(path)))
}

fn first_address(remote: &Remote, kind: Kind, told: bool) -> String {
    let url = remote.urls.first().map(|url| event_address(remote, url, kind, told));
    url.map(|url| url.endpoint().to_string()).unwrap_or_default()
}

/// The name of this event at this server, or of another thing that is done once for it.
fn claim_key(event: &str, bytes: &[u8], whom: &str) -> String {
    let mut text = Vec::new();
    for part in [event.as_bytes(), bytes, whom.as_bytes()] {
        text.extend_from_slice(part);
        text.push(0);
    }
    format!("remote-{}", &trust::sha256_hex(&text)[..32])
}

/// A path of the config: `~/` is the home directory.
pub(crate) fn at_home(path: &Path, home: &Path) -> PathBuf {
    path.strip_prefix("~").map_or_else(|_| path.to_path_buf(), |rest| home.join(rest))
}
