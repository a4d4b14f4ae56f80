//! The HTTP client: one request with one absolute deadline over everything.
//!
//! No redirects, no compression, no proxy from the environment (a repository's settings can set
//! variables). An answer is at most 1 MiB.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ureq::http;
use ureq::unversioned::resolver::DefaultResolver;
use ureq::unversioned::transport::{ConnectProxyConnector, Connector as _};

use super::at_home;
use super::secret::Credentials;
use super::transport::Failure;
use super::wire::{Dial, Local, Sent};
use crate::moment::Moment;
use crate::rule::file::Remote;
use crate::rule::file::remote::Url;

/// The largest answer that is read, in bytes.
const LARGEST: u64 = 1 << 20;
/// The largest headers of an answer, in bytes.
const LARGEST_HEADERS: usize = 12 << 10;
/// What is read at a time, in bytes: the headers must fit in. All of it is zeroed for every request.
const INPUT: usize = 16 << 10;
/// Nobody listens there.
pub(super) const REFUSED: &str = "connection refused";
/// Who listens there is not to be told anything.
pub(super) const NOT_OURS: &str = "not told to who listens there";
/// What is written at a time, in bytes.
const OUTPUT: usize = 8 << 10;

/// A server's answer.
#[derive(Debug)]
pub struct HttpAnswer {
    /// The HTTP status.
    pub status: u16,
    /// `Retry-After`, where it says how long.
    pub after: Duration,
    /// From the request's last byte to the answer's first.
    pub waited: Duration,
    /// The body of a status from 200 to 299, or why it cannot be had.
    pub body: Result<Vec<u8>, Failure>,
}

/// Sends it and reads the answer, all within the time. Without a body it is a GET.
///
/// # Errors
/// Why there is no answer.
pub fn send(
    remote: &Remote,
    home: &Path,
    url: &Url,
    credentials: &Credentials,
    body: Option<&[u8]>,
    timeout: Duration,
) -> Result<HttpAnswer, Failure> {
    let sent = Arc::new(Sent::default());
    let socket = remote.socket.as_ref().map(|path| at_home(path, home));
    // Never the environment's. This machine is reached without one.
    let proxy = remote.proxy.as_deref().filter(|_| !url.loopback && socket.is_none());
    let connect = remote.dialect.facts().connect;
    let failed = |error| {
        let sent = sent.last().is_some();
        let time = connect.filter(|_| !sent).unwrap_or(timeout).min(timeout);
        let mut failure = convert_error(error, time, sent);
        if proxy.is_some() && !sent {
            failure.cause.insert_str(0, "the proxy: ");
        }
        failure
    };
    let own = remote.dialect.facts().is_own && (url.loopback || socket.is_some());
    let until = Instant::now() + timeout;
    let dial = Dial { until, connect, socket, own, sent: Arc::clone(&sent) };
    let agent = http_agent(remote, home, proxy, dial, timeout)?;
    let mut request = http::Request::builder().uri(&url.text);
    if body.is_some() {
        let kind = remote.dialect.content_type(&remote.own);
        request = request.method("POST").header("Content-Type", kind);
    }
    for (name, value) in credentials.request_headers(body.unwrap_or_default()) {
        request = request.header(name, value);
    }
    let unusable = |error: http::Error| failed(error.into());
    let came = match body {
        Some(body) => agent.run(request.body(body).map_err(unusable)?),
        None => agent.run(request.body(()).map_err(unusable)?),
    };
    let waited = sent.last().map_or(Duration::ZERO, |last| last.elapsed());
    let mut response = came.map_err(failed)?;
    let status = response.status().as_u16();
    let header = |name| response.headers().get(name).and_then(|value| value.to_str().ok());
    let after = header("retry-after").and_then(retry_after).unwrap_or_default();
    let endless = header("content-length").or(header("transfer-encoding")).is_none();
    // Whoever can cut a connection must not make a no objection of an answer.
    let cut = |body: &Vec<u8>| body.is_empty() && endless && status != 204 && url.is_https();
    let body = match response.body().content_length() {
        _ if !(200..300).contains(&status) => Ok(Vec::new()),
        // What is too large is not read to find that out.
        Some(length) if length > LARGEST => Err(ureq::Error::BodyExceedsLimit(length)),
        _ => match response.body_mut().with_config().limit(LARGEST).read_to_vec() {
            Ok(body) if cut(&body) => Err(ureq::Error::Io(io::ErrorKind::UnexpectedEof.into())),
            read => read,
        },
    };
    Ok(HttpAnswer { status, after, waited, body: body.map_err(failed) })
}

fn http_agent(
    remote: &Remote,
    home: &Path,
    proxy: Option<&str>,
    dial: Dial,
    timeout: Duration,
) -> Result<ureq::Agent, Failure> {
    let refuse = |why: String| Failure::new(why, false, false);
    let proxy = proxy.map(ureq::Proxy::new).transpose();
    let proxy = proxy.map_err(|_| refuse("the proxy's address cannot be used".into()))?;
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(timeout))
        .timeout_resolve(dial.connect)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .proxy(proxy)
        .http_status_as_error(false)
        .max_idle_connections(0)
        .input_buffer_size(INPUT)
        .output_buffer_size(OUTPUT)
        .max_response_header_size(LARGEST_HEADERS)
        .user_agent(concat!("hookctl/", env!("CARGO_PKG_VERSION")));
    let names = Local { names: DefaultResolver::default(), socket: dial.socket.is_some() };
    let connector = ().chain(ConnectProxyConnector::default()).chain(dial);
    #[cfg(feature = "tls")]
    let (config, connector) = {
        use ureq::unversioned::transport::RustlsConnector;
        let tls = super::tls::config(remote, home).map_err(|why| refuse(format!("TLS: {why}")))?;
        (config.tls_config(tls), connector.chain(RustlsConnector::default()))
    };
    #[cfg(not(feature = "tls"))]
    let _ = (remote, home);
    Ok(ureq::Agent::with_parts(config.build(), connector, names))
}

/// What an error of the client means. `sent`: something has left.
fn convert_error(error: ureq::Error, timeout: Duration, sent: bool) -> Failure {
    let again = |cause: &str| Failure::new(cause, true, sent);
    let never = |cause: String| Failure::new(cause, false, sent);
    let invalid = |why: &str| never(format!("invalid answer: {why}"));
    match error {
        ureq::Error::Timeout(_) => slow(timeout, sent),
        ureq::Error::HostNotFound => again("no such host"),
        ureq::Error::ConnectionFailed => again("no connection"),
        // It has not got past the proxy.
        ureq::Error::ConnectProxyFailed(_) => Failure::new("the proxy refused", true, false),
        ureq::Error::Io(error) => io_failure(&error, timeout, sent),
        ureq::Error::Protocol(error) => invalid(&format!("no HTTP: {error}")),
        ureq::Error::BodyExceedsLimit(_) => invalid(&format!("larger than {} KiB", LARGEST >> 10)),
        ureq::Error::LargeResponseHeader(..) => invalid("its headers are too large"),
        ureq::Error::BodyStalled => invalid("it does not go on"),
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => never("its address cannot be used".into()),
        other => never(format!("TLS: {other}")),
    }
}

fn slow(timeout: Duration, sent: bool) -> Failure {
    Failure::new(format!("no answer within {} ms", timeout.as_millis()), true, sent)
}

/// The same of an error of the system, or of the connection.
fn io_failure(error: &io::Error, timeout: Duration, sent: bool) -> Failure {
    use io::ErrorKind as Io;
    let own = error.get_ref().is_some();
    let (cause, again) = match error.kind() {
        Io::TimedOut | Io::WouldBlock => return slow(timeout, sent),
        Io::ConnectionRefused => (REFUSED.into(), true),
        Io::HostUnreachable if own => (format!("not reachable: {error}"), true),
        Io::PermissionDenied if own => (format!("{NOT_OURS}: {error}"), false),
        Io::InvalidData | Io::InvalidInput => (format!("TLS: {error}"), false),
        _ if !sent => ("not reachable".into(), true),
        _ => ("connection reset".into(), true),
    };
    Failure::new(cause, again, sent)
}

/// `Retry-After`: seconds, or a date.
fn retry_after(text: &str) -> Option<Duration> {
    let text = text.trim();
    if let Ok(seconds) = text.parse() {
        return Some(Duration::from_secs(seconds));
    }
    Moment::parse_http_date(text)?.from_now()
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
}
