//! The HTTP client: one POST with one absolute deadline over everything, and which failures are
//! worth another attempt.
//!
//! No redirects, no compression, no proxy from the environment (a repository's settings can set
//! variables). An answer is at most 1 MiB.

use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use ureq::{Timeout, http};

use super::{Request, at_home, dialect};
use crate::env;
use crate::rule::file::Remote;
use crate::rule::file::remote::{Dialect, Secret, Url, variables};

/// The largest answer that is read, in bytes.
const LARGEST: u64 = 1 << 20;

/// Why an attempt, or all of them, came to nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// For people and the journal; holds no secret.
    pub cause: String,
    /// Another attempt may be answered.
    pub again: bool,
    /// The server may have got the request.
    pub sent: bool,
    /// No earlier than after this.
    pub after: Duration,
    /// The server is there, and says what is wrong with this one event.
    pub up: bool,
    /// All attempts found the server unable to answer: it is down.
    pub down: bool,
}

impl Failure {
    fn new(cause: impl Into<String>, again: bool, sent: bool) -> Failure {
        let after = Duration::ZERO;
        Failure { cause: cause.into(), again, sent, after, up: false, down: false }
    }
}

/// One question to one server.
#[derive(Debug)]
pub struct Call<'a> {
    /// What is asked.
    pub request: &'a Request,
    /// Who is asked.
    pub remote: &'a Remote,
    /// How often an attempt is made again.
    pub retries: u32,
    /// When all must be over.
    pub limit: Instant,
}

impl Call<'_> {
    /// Asks one address after the other until one answers: its body.
    ///
    /// # Errors
    /// The last failure.
    pub fn run(&self, attempts: &mut u32, endpoint: &mut String) -> Result<String, Failure> {
        let body = dialect(self.remote.dialect).body(self.request, self.remote);
        let headers = headers(self.remote, &self.request.home)
            .map_err(|why| Failure::new(why, false, false))?;
        let mut last = Failure::new("its time is up", true, false);
        // The server is down where nothing else was seen, and it had all the time it may take.
        let mut down = true;
        for url in &self.remote.urls {
            *endpoint = url.endpoint().to_string();
            let mut left = self.retries;
            loop {
                let time = self.limit.saturating_duration_since(Instant::now());
                if time.is_zero() {
                    last.down = down && *attempts > 0;
                    return Err(last);
                }
                *attempts += 1;
                let start = Instant::now();
                let timeout = self.remote.timeout.min(time);
                last = match self.attempt(url, &headers, &body, timeout) {
                    Ok(body) => return Ok(body),
                    Err(failure) => failure,
                };
                // Neither a server that was given less than its time is down, nor one whose human
                // does not answer, nor one that says what is wrong.
                let cut = timeout < self.remote.timeout && start.elapsed() >= timeout;
                let alive = !last.again || last.up || cut || self.remote.human && last.sent;
                down &= !alive;
                if self.remote.human && last.sent {
                    return Err(last);
                }
                let pause = self.remote.delay.max(last.after);
                let time = self.limit.saturating_duration_since(Instant::now());
                // What cannot be waited for ends it here; the next address needs no pause.
                if !last.again || left == 0 || pause >= time {
                    break;
                }
                left -= 1;
                thread::sleep(pause);
            }
        }
        last.down = down;
        Err(last)
    }

    /// One request and its answer, checked.
    fn attempt(
        &self,
        url: &Url,
        headers: &[(String, String)],
        body: &[u8],
        timeout: Duration,
    ) -> Result<String, Failure> {
        let answer = post(self.remote, &self.request.home, url, headers, body, timeout)?;
        let text = judge_status(self.remote.dialect, &answer)?;
        match super::read(self.remote, &self.request.event, &text) {
            Ok(_) => Ok(text),
            Err(why) => Err(Failure::new(format!("invalid answer: {why}"), false, true)),
        }
    }
}

/// A server's answer.
#[derive(Debug)]
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// `Retry-After`, where it says how long.
    pub after: Duration,
    /// The body of a status from 200 to 299.
    pub body: Vec<u8>,
}

/// Which statuses are an answer, and which are worth another attempt.
pub fn judge_status(name: Dialect, answer: &Answer) -> Result<String, Failure> {
    let status = answer.status;
    let hint = dialect(name).hint(status);
    let cause = match hint {
        Some(hint) => format!("HTTP {status} ({hint})"),
        None => format!("HTTP {status}"),
    };
    match status {
        200..=299 => String::from_utf8(answer.body.clone())
            .map_err(|_| Failure::new("invalid answer: it is not UTF-8", false, true)),
        300..=399 => Err(Failure::new(format!("redirect (HTTP {status})"), false, true)),
        408 | 425 | 429 | 500..=599 => Err(Failure {
            after: answer.after,
            up: hint.is_some(),
            ..Failure::new(cause, true, true)
        }),
        _ => Err(Failure::new(cause, false, true)),
    }
}

/// The configured headers with their variables filled in, and the token.
///
/// # Errors
/// What cannot be sent, without its value.
pub fn headers(remote: &Remote, home: &std::path::Path) -> Result<Vec<(String, String)>, String> {
    let mut out = Vec::new();
    for (name, value) in &remote.headers {
        let mut filled = String::new();
        for (text, variable) in variables(value) {
            filled.push_str(text);
            let listed = variable.filter(|v| remote.allow_vars.iter().any(|known| known == v));
            filled.push_str(&listed.and_then(env::get).unwrap_or_default());
        }
        out.push((name.clone(), filled));
    }
    let token = remote.token.as_ref().map(|token| secret(token, "token", home)).transpose()?;
    if let Some(token) = token {
        out.push(("Authorization".into(), format!("Bearer {token}")));
    }
    match out.iter().find(|(_, value)| http::HeaderValue::from_str(value).is_err()) {
        Some((name, _)) => Err(format!("the value of the header {name} cannot be sent")),
        None => Ok(out),
    }
}

/// A secret from where it is kept. `what` it is for, where it cannot be had.
fn secret(secret: &Secret, what: &str, home: &std::path::Path) -> Result<String, String> {
    match secret {
        Secret::Env(name) => {
            env::get(name).ok_or_else(|| format!("${name}, its {what}, is not set"))
        }
        Secret::File(path) => {
            let path = at_home(path, home);
            let text = fs::read_to_string(&path)
                .map_err(|error| format!("its {what} in {}: {error}", path.display()))?;
            Ok(text.trim().to_string())
        }
        // SEAM
        Secret::Command(_) => Err(format!("its {what}: commands are not run yet")),
    }
}

/// Sends it and reads the answer, all within the time.
///
/// # Errors
/// Why there is no answer.
pub fn post(
    remote: &Remote,
    home: &std::path::Path,
    url: &Url,
    headers: &[(String, String)],
    body: &[u8],
    timeout: Duration,
) -> Result<Answer, Failure> {
    let agent = agent(remote, home, url, timeout)?;
    let failed = |error| failure(error, timeout);
    let mut request = agent.post(&url.text).header("Content-Type", "application/json");
    for (name, value) in headers {
        request = request.header(name, value);
    }
    let mut response = request.send(body).map_err(failed)?;
    let status = response.status().as_u16();
    let after = response.headers().get("retry-after").and_then(|value| value.to_str().ok());
    let after = after.and_then(retry_after).unwrap_or_default();
    let mut body = Vec::new();
    if (200..300).contains(&status) {
        // What is too large is not read to find that out.
        if let Some(length) = response.body().content_length().filter(|len| *len > LARGEST) {
            return Err(failed(ureq::Error::BodyExceedsLimit(length)));
        }
        let limited = response.body_mut().with_config().limit(LARGEST);
        body = limited.read_to_vec().map_err(failed)?;
    }
    Ok(Answer { status, after, body })
}

fn agent(
    remote: &Remote,
    home: &std::path::Path,
    url: &Url,
    timeout: Duration,
) -> Result<ureq::Agent, Failure> {
    // Never the environment's. This machine is reached without one.
    let proxy = match remote.proxy.as_deref().filter(|_| !url.loopback) {
        Some(proxy) => Some(
            ureq::Proxy::new(proxy)
                .map_err(|_| Failure::new("the proxy's address cannot be used", false, false))?,
        ),
        None => None,
    };
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(proxy)
        .http_status_as_error(false)
        .max_idle_connections(0)
        .user_agent(concat!("hookctl/", env!("CARGO_PKG_VERSION")));
    #[cfg(feature = "tls")]
    let config = match &remote.ca {
        Some(path) => config.tls_config(only(&at_home(path, home))?),
        None => config,
    };
    let _ = home;
    Ok(ureq::Agent::with_parts(
        config.build(),
        DefaultConnector::new(),
        Local(DefaultResolver::default()),
    ))
}

/// TLS that trusts the authorities of that file and no others.
#[cfg(feature = "tls")]
fn only(path: &std::path::Path) -> Result<ureq::tls::TlsConfig, Failure> {
    use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
    let fail = |why: String| Failure::new(format!("TLS: {}: {why}", path.display()), false, false);
    let bytes = fs::read(path).map_err(|error| fail(error.to_string()))?;
    let mut certificates = Vec::new();
    for item in parse_pem(&bytes) {
        match item {
            Ok(PemItem::Certificate(one)) => certificates.push(one),
            Ok(_) => {}
            Err(error) => return Err(fail(error.to_string())),
        }
    }
    if certificates.is_empty() {
        return Err(fail("no certificate in it".into()));
    }
    let roots = RootCerts::new_with_certs(&certificates);
    Ok(TlsConfig::builder().root_certs(roots).build())
}

/// Names as the system resolves them, but `localhost` is this machine whatever that says.
#[derive(Debug)]
struct Local(DefaultResolver);

impl Resolver for Local {
    fn resolve(
        &self,
        uri: &http::Uri,
        config: &ureq::config::Config,
        timeout: NextTimeout,
    ) -> Result<ResolvedSocketAddrs, ureq::Error> {
        if !uri.host().is_some_and(|host| host.eq_ignore_ascii_case("localhost")) {
            // The one kind of I/O error that comes from here is that there is no such host.
            return self.0.resolve(uri, config, timeout).map_err(|error| match error {
                ureq::Error::Io(_) => ureq::Error::HostNotFound,
                other => other,
            });
        }
        let port =
            uri.port_u16().unwrap_or(if uri.scheme_str() == Some("https") { 443 } else { 80 });
        let mut out = self.empty();
        for ip in [IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V6(Ipv6Addr::LOCALHOST)] {
            out.push(SocketAddr::new(ip, port));
        }
        Ok(out)
    }
}

/// What an error of the client means.
fn failure(error: ureq::Error, timeout: Duration) -> Failure {
    use io::ErrorKind as Io;
    let slow = format!("no answer within {} ms", timeout.as_millis());
    match error {
        ureq::Error::Timeout(Timeout::Resolve | Timeout::Connect) => {
            Failure::new(slow, true, false)
        }
        ureq::Error::Timeout(_) => Failure::new(slow, true, true),
        ureq::Error::HostNotFound => Failure::new("no such host", true, false),
        ureq::Error::ConnectionFailed => Failure::new("no connection", true, false),
        ureq::Error::ConnectProxyFailed(_) => Failure::new("the proxy refused", true, false),
        ureq::Error::Io(error) => match error.kind() {
            Io::ConnectionRefused => Failure::new("connection refused", true, false),
            Io::HostUnreachable | Io::NetworkUnreachable | Io::AddrNotAvailable => {
                Failure::new("not reachable", true, false)
            }
            Io::TimedOut | Io::WouldBlock => Failure::new(slow, true, true),
            Io::InvalidData | Io::InvalidInput => {
                Failure::new(format!("TLS: {error}"), false, false)
            }
            _ => Failure::new("connection reset", true, true),
        },
        ureq::Error::Protocol(error) => {
            Failure::new(format!("invalid answer: no HTTP: {error}"), false, true)
        }
        ureq::Error::BodyExceedsLimit(_) => {
            Failure::new(format!("invalid answer: larger than {} KiB", LARGEST >> 10), false, true)
        }
        ureq::Error::LargeResponseHeader(..) => {
            Failure::new("invalid answer: its headers are too large", false, true)
        }
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => {
            Failure::new("its address cannot be used", false, false)
        }
        other => Failure::new(format!("TLS: {other}"), false, false),
    }
}

/// `Retry-After`: seconds, or a date.
fn retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    let parser = jiff::fmt::rfc2822::DateTimeParser::new();
    let date = SystemTime::from(parser.parse_timestamp(text).ok()?);
    date.duration_since(SystemTime::now()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_26_retry_after_is_seconds_or_a_date() {
        assert_eq!(retry_after("60"), Some(Duration::from_secs(60)));
        assert_eq!(retry_after("soon"), None);
        assert_eq!(retry_after("Sun, 06 Nov 1994 08:49:37 GMT"), None);
        let soon = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(90);
        let date = soon.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string();
        let found = retry_after(&date).expect("a date");
        assert!((85..=90).contains(&found.as_secs()), "{found:?}");
    }

    #[test]
    fn s1_24_s1_25_which_statuses_are_tried_again() {
        let of = |status| {
            judge_status(
                Dialect::HooksServer,
                &Answer { status, after: Duration::ZERO, body: Vec::new() },
            )
        };
        for status in [200, 201, 204, 299] {
            assert_eq!(of(status), Ok(String::new()));
        }
        for (status, again) in [
            (302, false),
            (307, false),
            (400, false),
            (401, false),
            (403, false),
            (404, false),
            (405, false),
            (413, false),
            (422, false),
            (408, true),
            (425, true),
            (429, true),
            (500, true),
            (502, true),
            (503, true),
            (504, true),
        ] {
            assert_eq!(of(status).unwrap_err().again, again, "{status}");
        }
    }
}
