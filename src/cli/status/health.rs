//! Is a server there, and does it speak what it should? Asked of all of them at once, for at most a
//! second; no human is bothered and no breaker hears of it.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cli::{Context, make_visible, ping};
use crate::dialect::Request;
use crate::remote::{self, transport};
use crate::rule::file::Remote;
use crate::threads;

/// When all of them must have answered.
const LIMIT: Duration = Duration::from_secs(1);
/// What is kept of it for the one that is slow to say that it has no answer.
const MARGIN: Duration = Duration::from_millis(50);

/// How an address is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Health {
    /// It answers a question as its protocol wants.
    Up,
    /// It takes connections. More was not asked: a human answers there, or nobody does.
    Connects,
    /// It answers, but not as its protocol wants.
    WrongProtocol,
    /// It cannot be reached, or says itself that it cannot answer.
    Down,
}

/// What came of one address; the keys are stable.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Address {
    /// Without its query.
    pub(super) url: String,
    pub(super) health: Health,
    /// True = it was only connected to: a human answers there, or nobody does.
    pub(super) connect_only: bool,
    pub(super) milliseconds: u64,
    /// Why it is not up, or who knows.
    pub(super) cause: Option<String>,
}

impl Address {
    /// For people, without the address.
    pub(super) fn describe_state(&self) -> String {
        let ms = self.milliseconds;
        let state = match self.health {
            Health::Up => format!("up, {ms} ms"),
            Health::Connects => format!("takes connections, {ms} ms"),
            Health::WrongProtocol => "wrong protocol".into(),
            Health::Down => "down".into(),
        };
        match &self.cause {
            Some(cause) => format!("{state}: {cause}"),
            None => state,
        }
    }
}

/// Asks every address of every server; one list for each server.
pub(super) fn check_servers(context: &Context, remotes: &[&Remote]) -> Vec<Vec<Address>> {
    let start = Instant::now();
    let (sender, receiver) = threads::channel();
    let mut out: Vec<Vec<Address>> = Vec::new();
    for (at, remote) in remotes.iter().enumerate() {
        let request = ping::test_event(context, remote);
        let connect_only = remote::unattended_question(remote, &request.event).is_none();
        let mut addresses = Vec::new();
        for (nth, url) in remote.urls.iter().enumerate() {
            let one = Remote { urls: vec![url.clone()], ..(*remote).clone() };
            let request = ping::test_event(context, remote);
            let sender = sender.clone();
            thread::spawn(move || {
                let limit = start + LIMIT - MARGIN;
                let came = match connect_only {
                    true => probe_connection(&one, &request),
                    false => ask_address(&one, &request, limit),
                };
                sender.send((at, nth, came, start.elapsed()));
            });
            addresses.push(Address {
                url: url.endpoint().to_string(),
                health: Health::Down,
                connect_only,
                milliseconds: LIMIT.as_millis() as u64,
                cause: Some(format!("no answer within {} ms", LIMIT.as_millis())),
            });
        }
        out.push(addresses);
    }
    drop(sender);
    // Who is still waited for when the time is up keeps the answer from above.
    while let Ok((at, nth, came, took)) =
        receiver.recv_timeout((start + LIMIT).saturating_duration_since(Instant::now()))
    {
        let address = &mut out[at][nth];
        address.milliseconds = took.as_millis() as u64;
        let (health, cause) = came;
        (address.health, address.cause) = (health, cause.map(|why| make_visible(&why)));
    }
    out
}

/// Sends it the test event of `ping`, once: how it is, and why.
fn ask_address(remote: &Remote, request: &Request, limit: Instant) -> (Health, Option<String>) {
    let test = |url| transport::send_test_event(remote, request, url, limit);
    match remote.urls.first().map(test) {
        // What would be worth another attempt is a server that cannot answer now.
        Some(Err(failure)) if failure.sent && !failure.again => {
            (Health::WrongProtocol, Some(failure.cause))
        }
        Some(Err(failure)) => (Health::Down, Some(failure.cause)),
        _ => (Health::Up, None),
    }
}

/// Only connects: how it is, and what would tell more.
fn probe_connection(remote: &Remote, request: &Request) -> (Health, Option<String>) {
    let ping = || format!("`hookctl ping {}` asks the human there", remote.name);
    match try_connect(remote, request) {
        Ok(()) => (Health::Connects, remote.human.then(ping)),
        Err(why) => (Health::Down, Some(why)),
    }
}

/// Connects, to the proxy where there is one.
#[cfg_attr(not(unix), allow(unused_variables))]
fn try_connect(remote: &Remote, request: &Request) -> Result<(), String> {
    #[cfg(unix)]
    if let Some(path) = &remote.socket {
        let path = crate::remote::at_home(path, &request.home);
        return match std::os::unix::net::UnixStream::connect(path) {
            Ok(_) => Ok(()),
            Err(error) => Err(describe_error(&error)),
        };
    }
    let Some(url) = remote.urls.first() else { return Ok(()) };
    let target = remote.proxy.as_deref().filter(|_| !url.loopback).unwrap_or(&url.text);
    let mut last = "no such host".to_string();
    for address in resolve_addresses(target).unwrap_or_default() {
        match TcpStream::connect_timeout(&address, LIMIT) {
            Ok(_) => return Ok(()),
            Err(error) => last = describe_error(&error),
        }
    }
    Err(last)
}

/// Where the host of an address is.
fn resolve_addresses(url: &str) -> io::Result<Vec<SocketAddr>> {
    let uri: ureq::http::Uri = url.parse().map_err(|_| io::ErrorKind::InvalidInput)?;
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let port = match uri.scheme_str() {
        Some("https") => 443,
        _ => 80,
    };
    let found = (host, uri.port_u16().unwrap_or(port)).to_socket_addrs()?;
    Ok(found.collect())
}

fn describe_error(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".into(),
        io::ErrorKind::NotFound => "no such socket".into(),
        _ => "not reachable".into(),
    }
}
