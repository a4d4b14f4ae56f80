//! What bridges are sent, and the files for what their listener does not take. Only the sender does that: no
//! agent waits for a listener, nor for a file.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::breaker::{Breaker, BreakerState, unix_milliseconds};
use super::secret::Credentials;
use super::sender::SpoolReport;
use super::spool::Message;
use super::{agent_page, at_home, http, privacy};
use crate::dialect::bridge::json::Json;
use crate::dialect::bridge::{Bridge, DIR, PORT, ROUTES, Route, agent_route};
use crate::dialect::{Request, Setting, Settings, format_time};
use crate::env;
use crate::paths::Paths;
use crate::payload;
use crate::redact;
use crate::rule::file::Remote;
use crate::rule::file::remote::{Send, Url};

use self::files::{CandidateDirectory, Files};

mod files;

/// So many characters of what is no event stand in a file's error, as the bridge's own hooks write it.
const PREVIEW: usize = 200;

/// Where the listener goes when its own port is taken.
const PORTS: std::ops::RangeInclusive<u16> = 3044..=3053;
/// How long one of those may take to say that it is there, and all of them.
const HEALTH: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
/// How long the files are waited for.
const PATIENCE: Duration = Duration::from_millis(500);

/// What the command line of a bridge's own hook says: no config names that bridge.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flags {
    /// Where it listens; none = at its own port, or wherever it is.
    pub port: Option<u16>,
    /// Where the files are.
    pub dir: Option<PathBuf>,
}

impl Flags {
    /// The bridge that they mean, by a name that no config can give.
    pub fn to_remote(&self, agent: &str) -> Remote {
        let urls = vec![Url::on_this_machine(self.port.unwrap_or(PORT), "")];
        let mut own = Settings::default();
        if let Some(dir) = &self.dir {
            own.set(&DIR, Setting::Path(dir.clone()));
        }
        let new = Remote::new(&format!("@{}", agent_route(agent).name), &Bridge);
        // Without a port it may have moved on from its own.
        Remote { urls, search: self.port.is_none(), own, ..new }
    }
}

/// Why there is no event to send, in the words of the bridge's own hooks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputFault {
    /// Where it failed.
    pub context: String,
    /// Why.
    pub message: String,
}

/// Why the listener did not take an event, in the words of its own hooks.
struct Failed {
    message: String,
    code: Option<&'static str>,
    /// This is not the listener, which may be at another port.
    elsewhere: bool,
    /// It answered, and may well take another event.
    answered: bool,
    /// It did not answer in time.
    slow: bool,
}

impl Failed {
    fn new(message: impl Into<String>) -> Failed {
        let message = message.into();
        Failed { message, code: None, elsewhere: false, answered: false, slow: false }
    }

    fn from_status(status: u16) -> Failed {
        let elsewhere = matches!(status, 404 | 405 | 501);
        Failed { elsewhere, answered: true, ..Failed::new(format!("HTTP {status}")) }
    }

    fn from_cause(cause: &str, url: &Url) -> Failed {
        let host = url.endpoint().split('/').nth(2).unwrap_or_default();
        let host = host.replace("localhost", "127.0.0.1");
        let coded = |message: String, code| Failed { code: Some(code), ..Failed::new(message) };
        match cause {
            http::REFUSED => Failed {
                elsewhere: true,
                ..coded(format!("connect ECONNREFUSED {host}"), "ECONNREFUSED")
            },
            "connection reset" => coded("socket hang up".into(), "ECONNRESET"),
            "no such host" => coded(format!("getaddrinfo ENOTFOUND {host}"), "ENOTFOUND"),
            _ if cause.starts_with("no answer within") => {
                Failed { slow: true, ..Failed::new("Request timeout") }
            }
            _ => {
                let other = cause.contains("no HTTP") || cause.starts_with(http::NOT_OURS);
                Failed { elsewhere: other, ..Failed::new(cause) }
            }
        }
    }
}

/// One request to the listener, wherever it is.
fn post_event(remote: &Remote, request: &Request, body: &[u8]) -> Result<(), Failed> {
    let credentials =
        Credentials::for_remote(remote, request, request.deadline).map_err(Failed::new)?;
    let to = |url: &Url| {
        let url = &agent_page(remote, url, request.event.agent);
        let left = request.deadline.saturating_duration_since(Instant::now());
        let timeout = remote.timeout.min(left);
        let answer = http::send(remote, &request.home, url, &credentials, Some(body), timeout);
        let answer = answer.map_err(|failure| Failed::from_cause(&failure.cause, url))?;
        let says = || answer.body.as_ref().is_ok_and(|body| is_json(body));
        match answer.status {
            // Who did not say where it is does not mean whatever is there.
            200 | 201 if remote.search && !says() => Err(Failed {
                elsewhere: true,
                ..Failed::new(format!("no listener: HTTP {} without JSON", answer.status))
            }),
            200 | 201 => Ok(()),
            status => Err(Failed::from_status(status)),
        }
    };
    let mut failed = Failed::new("its time is up");
    for url in &remote.urls {
        match to(url) {
            Ok(()) => return Ok(()),
            Err(why) => failed = why,
        }
    }
    match remote.search && failed.elsewhere {
        true => find_listener(remote, &request.home).map_or(Err(failed), |url| to(&url)),
        false => Err(failed),
    }
}

/// The first port where the listener says that it is there.
fn find_listener(remote: &Remote, home: &Path) -> Option<Url> {
    let end = Instant::now() + HEALTH.1;
    PORTS.into_iter().find_map(|port| {
        let url = |path: &str| Url::on_this_machine(port, path);
        let timeout = HEALTH.0.min(end.saturating_duration_since(Instant::now()));
        let nothing = Credentials::default();
        let answer = http::send(remote, home, &url("/health"), &nothing, None, timeout).ok()?;
        let health: Value = serde_json::from_slice(&answer.body.ok()?).ok()?;
        let is = health["status"] == "ok" && health.get("processedEvents").is_some();
        is.then(|| url(""))
    })
}

fn is_json(body: &[u8]) -> bool {
    serde_json::from_slice::<serde::de::IgnoredAny>(body).is_ok()
}

/// Takes one event to the listener, else into the file: whether the listener has it. A fault goes into the
/// file of errors.
///
/// # Errors
/// Why neither has it.
pub(super) fn deliver_message(
    message: &Message,
    request: &Request,
    remote: &Remote,
    paths: &Paths,
    human: bool,
) -> Result<bool, String> {
    if let Some(fault) = &message.fault {
        let files = message_files(message, request, remote)?;
        files.add_error(error_entry(&fault.context, &fault.message, None, None))?;
        return Ok(false);
    }
    let breaker = Breaker::for_questions(&paths.state, remote);
    let came = match breaker.check_state() {
        // Only a listener that hangs costs time.
        BreakerState::Open(why) if !human => Err(Failed::new(why)),
        _ => post_event(remote, request, message.body.as_bytes()),
    };
    match came {
        Ok(()) => {
            breaker.close();
            Ok(true)
        }
        Err(failed) => {
            if failed.slow {
                breaker.open(&failed.message);
            }
            keep_event(message, request, remote, &failed).map(|()| false)
        }
    }
}

/// The files for the message.
fn message_files(message: &Message, request: &Request, remote: &Remote) -> Result<Files, String> {
    let route = agent_route(request.event.agent);
    let places = candidate_directories(remote, &request.home, Path::new(&message.root), route);
    Files::lock_directory(files::first_writable(&places)?, route.name, PATIENCE)
}

/// Notes the failure, and keeps the event.
fn keep_event(
    message: &Message,
    request: &Request,
    remote: &Remote,
    failed: &Failed,
) -> Result<(), String> {
    let files = message_files(message, request, remote)?;
    let length = message.body.encode_utf16().count();
    let about = json!({ "path": agent_route(request.event.agent).name, "dataLength": length });
    files.add_error(error_entry("http_send_failed", &failed.message, failed.code, Some(about)))?;
    let mut event = match Json::parse_in(&message.body, 1) {
        Some(object @ Json::Object(_)) => object,
        other => {
            if other.is_none() {
                let preview: String = message.body.chars().take(PREVIEW).collect();
                let about = json!({ "rawDataPreview": preview });
                files.add_error(error_entry(
                    "json_parse_error",
                    "the event is no JSON",
                    None,
                    Some(about),
                ))?;
            }
            Json::Object(vec![("\"__hook_raw\"".into(), Json::text(&message.body))])
        }
    };
    event.set("__hook_timestamp", Json::text(&format_time(message.time)));
    event.set("__hook_received", Json::Scalar(message.time.to_string()));
    let mut events = match files.read_events()? {
        Some(events) => events,
        None => {
            let about = json!({ "file": files.fallback_file() });
            let why = "the file was no JSON, and is set aside";
            files.add_error(error_entry("fallback_file_read_error", why, None, Some(about)))?;
            Vec::new()
        }
    };
    events.push(event);
    files.write_events(&events)
}

/// An entry of the file of errors.
fn error_entry(context: &str, message: &str, code: Option<&str>, about: Option<Value>) -> Json {
    let now = unix_milliseconds();
    let mut error =
        json!({ "message": message, "stack": format!("Error: {message}"), "name": "Error" });
    if let Some(code) = code {
        error["code"] = code.into();
    }
    let mut entry = json!({ "timestamp": format_time(now), "context": context, "error": error });
    if let Some(about) = about {
        entry["additionalData"] = about;
    }
    entry["__hook_error_logged"] = now.into();
    Json::parse(&entry.to_string()).unwrap_or_else(|| Json::text(message))
}

/// Where the files may be. Never in a project, nor where others could read them.
fn candidate_directories(
    remote: &Remote,
    home: &Path,
    root: &Path,
    route: &Route,
) -> Vec<CandidateDirectory> {
    if let Some(dir) = remote.own.path(&DIR) {
        return vec![CandidateDirectory { dir: at_home(dir, home), shared: false }];
    }
    let mut out = vec![CandidateDirectory { dir: home.join(route.dir), shared: false }];
    // A repository's settings can set that variable: what counts is where it leads.
    if let Ok(temporary) = crate::files::real_path(&env::temporary_directory()) {
        let root = crate::files::real_path(root).unwrap_or_else(|_| root.to_path_buf());
        if root.parent().is_none() || !temporary.starts_with(root) {
            out.push(CandidateDirectory { dir: temporary.join(".a24z-hooks"), shared: true });
        }
    }
    out
}

/// Sends what is in the files to the listener, and takes out of them what it took. `request` makes the
/// request for the events of an agent.
pub(super) fn drain_files(
    remote: &Remote,
    home: &Path,
    root: &Path,
    patience: Duration,
    request: &dyn Fn(&str) -> Request,
) -> SpoolReport {
    let mut report = SpoolReport { remote: remote.name.clone(), ..SpoolReport::default() };
    for route in ROUTES {
        for place in candidate_directories(remote, home, root, route) {
            if place.is_safe() && place.dir.join(files::fallback_name(route.name)).exists() {
                let request = || request(route.agent);
                let drained = Files::lock_directory(&place.dir, route.name, patience)
                    .and_then(|files| drain_file(&files, remote, &request, &mut report));
                if let Err(why) = drained {
                    report.kept += 1;
                    report.why = why;
                }
            }
        }
    }
    report
}

/// What is sent of an event in a file, which another program may have written: never a secret.
fn redacted_event(event: &Json) -> Vec<u8> {
    let text = event.to_compact().into_bytes();
    let Ok(mut object) = payload::parse(&text) else {
        return privacy::shown_text(&text, Send::Full).into_bytes();
    };
    match redact::mask_fields(&mut object) {
        true => serde_json::to_vec(&object).unwrap_or_default(),
        false => text,
    }
}

fn drain_file(
    files: &Files,
    remote: &Remote,
    request: &dyn Fn() -> Request,
    report: &mut SpoolReport,
) -> Result<(), String> {
    let Some(mut events) = files.read_events()? else {
        report.aside += 1;
        return Ok(());
    };
    let received = |event: &Json| {
        event.scalar("__hook_received").and_then(|ms| ms.parse::<u64>().ok()).unwrap_or(0)
    };
    crate::order::sort_by_key(&mut events, received);
    let (count, mut gone) = (events.len(), false);
    events.retain(|event| {
        if gone {
            return true;
        }
        let came = post_event(remote, &request(), &redacted_event(event));
        if let Err(failed) = &came {
            gone = !failed.answered;
            report.why.clone_from(&failed.message);
        }
        came.is_err()
    });
    report.sent += count - events.len();
    report.kept += events.len();
    if events.len() < count { files.write_events(&events) } else { Ok(()) }
}

#[cfg(test)]
#[path = "bridge/tests.rs"]
mod tests;
