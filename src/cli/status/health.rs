//! Is a server there, and does it speak what it should? Asked of all of them at once, for at most a
//! second; no human is bothered and no breaker hears of it.

use std::io;
use std::net::{SocketAddr, TcpStream, ToSocketAddrs as _};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::cli::{Context, ping, visible};
use crate::remote::{Request, transport};
use crate::rule::file::Remote;

/// When all of them must have answered.
const LIMIT: Duration = Duration::from_secs(1);
/// What is kept of it for the one that is slow to say that it has no answer.
const MARGIN: Duration = Duration::from_millis(50);

/// How an address is, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Health {
    /// It answers as its protocol wants; where that was not asked, it takes connections.
    Up,
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
    /// Why it is not up.
    pub(super) cause: Option<String>,
}

impl Address {
    /// For people, without the address.
    pub(super) fn state(&self) -> String {
        let ms = self.milliseconds;
        let state = match self.health {
            Health::Up if self.connect_only => format!("takes connections, {ms} ms"),
            Health::Up => format!("up, {ms} ms"),
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
pub(super) fn look(context: &Context, remotes: &[&Remote]) -> Vec<Vec<Address>> {
    let start = Instant::now();
    let (sender, receiver) = mpsc::channel();
    let mut out: Vec<Vec<Address>> = Vec::new();
    for (at, remote) in remotes.iter().enumerate() {
        let bothers = remote.human || !remote.dialect.decides();
        let connect_only = bothers && !transport::has_health(remote);
        let mut addresses = Vec::new();
        for (nth, url) in remote.urls.iter().enumerate() {
            let one = Remote { urls: vec![url.clone()], ..(*remote).clone() };
            let request = ping::test_event(context, remote);
            let sender = sender.clone();
            thread::spawn(move || {
                let limit = start + LIMIT - MARGIN;
                let came = match connect_only {
                    true => connect(&one, &request).map_err(|why| (Health::Down, why)),
                    false => ask(&one, &request, limit),
                };
                let _ = sender.send((at, nth, came, start.elapsed()));
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
        let (health, cause) = match came {
            Ok(()) => (Health::Up, None),
            Err((health, why)) => (health, Some(visible(&why))),
        };
        (address.health, address.cause) = (health, cause);
    }
    out
}

/// Sends it the test event of `ping`, once, or asks what its protocol has for that.
fn ask(remote: &Remote, request: &Request, limit: Instant) -> Result<(), (Health, String)> {
    if transport::has_health(remote) {
        let health = |url| transport::health(remote, request, url, limit).map(drop);
        return judge(remote.urls.first().map_or(Ok(()), health));
    }
    let call = transport::Call { request, remote, retries: 0, limit, told: None };
    judge(call.run(&mut 0, &mut String::new()).map(drop))
}

fn judge(came: Result<(), transport::Failure>) -> Result<(), (Health, String)> {
    match came {
        Ok(()) => Ok(()),
        // What would be worth another attempt is a server that cannot answer now.
        Err(failure) if failure.sent && !failure.again => {
            Err((Health::WrongProtocol, failure.cause))
        }
        Err(failure) => Err((Health::Down, failure.cause)),
    }
}

/// Only connects, to the proxy where there is one.
#[cfg_attr(not(unix), allow(unused_variables))]
fn connect(remote: &Remote, request: &Request) -> Result<(), String> {
    #[cfg(unix)]
    if let Some(path) = &remote.socket {
        let path = crate::remote::at_home(path, &request.home);
        return match std::os::unix::net::UnixStream::connect(path) {
            Ok(_) => Ok(()),
            Err(error) => Err(said(&error)),
        };
    }
    let Some(url) = remote.urls.first() else { return Ok(()) };
    let target = remote.proxy.as_deref().filter(|_| !url.loopback).unwrap_or(&url.text);
    let mut last = "no such host".to_string();
    for address in addresses(target).unwrap_or_default() {
        match TcpStream::connect_timeout(&address, LIMIT) {
            Ok(_) => return Ok(()),
            Err(error) => last = said(&error),
        }
    }
    Err(last)
}

/// Where the host of an address is.
fn addresses(url: &str) -> io::Result<Vec<SocketAddr>> {
    let uri: ureq::http::Uri = url.parse().map_err(|_| io::ErrorKind::InvalidInput)?;
    let host = uri.host().unwrap_or_default().trim_matches(['[', ']']);
    let port = match uri.scheme_str() {
        Some("https") => 443,
        _ => 80,
    };
    let found = (host, uri.port_u16().unwrap_or(port)).to_socket_addrs()?;
    Ok(found.collect())
}

fn said(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::ConnectionRefused => "connection refused".into(),
        io::ErrorKind::NotFound => "no such socket".into(),
        _ => "not reachable".into(),
    }
}
