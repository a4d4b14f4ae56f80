//! The attempts: one address after the other, and which failures are worth another try.

use std::hash::{BuildHasher as _, RandomState};
use std::thread;
use std::time::{Duration, Instant};

use super::http::{self, HttpAnswer};
use super::secret::Credentials;
use super::{Request, event_address};
use crate::dialect::Dialect;
use crate::rule::file::Remote;
use crate::rule::file::remote::Url;
use crate::verdict::Verb;

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
    /// The server has it, and will never take it: what is wrong is in the body itself.
    pub refused: bool,
}

impl Failure {
    pub(super) fn new(cause: impl Into<String>, again: bool, sent: bool) -> Failure {
        Failure {
            cause: cause.into(),
            again,
            sent,
            after: Duration::ZERO,
            up: false,
            down: false,
            refused: false,
        }
    }
}

/// What a server said.
#[derive(Debug)]
pub struct ServerResponse {
    /// The body of its answer.
    pub body: String,
    /// From the request's last byte to the answer's first.
    pub waited: Duration,
}

/// One question to one server.
#[derive(Debug)]
pub struct ServerCall<'a> {
    /// What is asked.
    pub request: &'a Request,
    /// Who is asked.
    pub remote: &'a Remote,
    /// How often an attempt is made again.
    pub retries: u32,
    /// When all must be over.
    pub limit: Instant,
    /// What it is told, where nothing is asked: all that counts is that the server has it.
    pub told: Option<&'a [u8]>,
}

impl ServerCall<'_> {
    /// Asks one address after the other until one answers.
    ///
    /// # Errors
    /// The last failure.
    pub fn try_addresses(
        &self,
        attempts: &mut u32,
        endpoint: &mut String,
    ) -> Result<ServerResponse, Failure> {
        let body = match self.told {
            Some(body) => body.to_vec(),
            None => super::request_body(self.request, self.remote),
        };
        let dialect = self.remote.dialect;
        if body.len() > dialect.facts().largest {
            let why = format!("the event is larger than {} KB", dialect.facts().largest / 1000);
            return Err(Failure::new(why, false, false));
        }
        let credentials = Credentials::for_remote(self.remote, self.request, self.limit)
            .map_err(|why| Failure::new(why, false, false))?;
        let mut last = Failure::new("its time is up", true, false);
        // The server is down where nothing else was seen, and it had all the time it may take.
        let mut down = true;
        for url in &self.remote.urls {
            let url =
                &*event_address(self.remote, url, self.request.event.kind, self.told.is_some());
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
                last = match self.attempt_request(url, &credentials, &body, timeout) {
                    Ok(said) => return Ok(said),
                    Err(failure) => failure,
                };
                // Neither a server that was given less than its time is down, nor one whose human
                // does not answer, nor one that says what is wrong.
                let cut = timeout < self.remote.timeout && start.elapsed() >= timeout;
                let asks = self.told.is_none();
                let human = self.remote.human && last.sent && asks;
                let refuses = asks && last.up;
                down &= last.again && !(refuses || cut || human);
                if human {
                    return Err(last);
                }
                let pause = self.remote.delay.max(last.after);
                let time = self.limit.saturating_duration_since(Instant::now());
                // What cannot be waited for ends it here; the next address needs no pause.
                if !last.again || left == 0 || pause >= time {
                    break;
                }
                left -= 1;
                thread::sleep((pause + add_jitter(pause)).min(time));
            }
        }
        last.down = down;
        Err(last)
    }

    /// One request and its answer, checked.
    fn attempt_request(
        &self,
        url: &Url,
        credentials: &Credentials,
        body: &[u8],
        timeout: Duration,
    ) -> Result<ServerResponse, Failure> {
        let home = &self.request.home;
        let mut answer = http::send(self.remote, home, url, credentials, Some(body), timeout)?;
        if self.told.is_some() {
            let said = std::mem::replace(&mut answer.body, Ok(Vec::new())).unwrap_or_default();
            judge_status(self.remote.dialect, &answer)?;
            let body = String::from_utf8_lossy(&said).into_owned();
            return Ok(ServerResponse { body, waited: answer.waited });
        }
        let text = judge_status(self.remote.dialect, &answer)?;
        match super::read_reply(self.remote, self.request, &text) {
            Ok(_) => Ok(ServerResponse { body: text, waited: answer.waited }),
            Err(why) => Err(Failure::new(format!("invalid answer: {why}"), false, true)),
        }
    }
}

/// Sends it a test event, once, where it is asked: the answer's status, and its body.
///
/// # Errors
/// Why it is not there, does not speak this protocol, or takes no questions.
pub fn send_test_event(
    remote: &Remote,
    request: &Request,
    url: &Url,
    limit: Instant,
) -> Result<(u16, String), Failure> {
    let url = event_address(remote, url, request.event.kind, false);
    let credentials = Credentials::for_remote(remote, request, limit)
        .map_err(|why| Failure::new(why, false, false))?;
    let body = super::request_body(request, remote);
    let timeout = remote.timeout.min(limit.saturating_duration_since(Instant::now()));
    let answer = http::send(remote, &request.home, &url, &credentials, Some(&body), timeout)?;
    let text = judge_status(remote.dialect, &answer)?;
    if remote.dialect.facts().decides {
        let invalid = |why| Failure::new(format!("invalid answer: {why}"), false, true);
        let reply = super::read_reply(remote, request, &text).map_err(invalid)?;
        // What nobody is asked about is answered at once.
        let answered = reply.passed_over || !matches!(reply.verb, None | Some(Verb::Ask));
        if remote.dialect.facts().is_human && !answered {
            let why = reply.notes.first().map_or("it has no decision", String::as_str);
            return Err(Failure::new(format!("it takes no questions: {why}"), false, true));
        }
    }
    Ok((answer.status, text))
}

/// Which statuses are an answer, and which are worth another attempt.
pub fn judge_status(dialect: &dyn Dialect, answer: &HttpAnswer) -> Result<String, Failure> {
    let status = answer.status;
    let hint = dialect.facts().hints.iter().find(|(of, _)| *of == status).map(|(_, hint)| hint);
    let cause = match hint {
        Some(hint) => format!("HTTP {status} ({hint})"),
        None => format!("HTTP {status}"),
    };
    match status {
        200..=299 => String::from_utf8(answer.body.clone()?)
            .map_err(|_| Failure::new("invalid answer: it is not UTF-8", false, true)),
        300..=399 => Err(Failure::new(format!("redirect (HTTP {status})"), false, true)),
        408 | 425 | 429 | 500..=599 => Err(Failure {
            after: answer.after,
            // An error about this one event: else one call that upsets a server, or one too many, would
            // keep it from seeing the next ones.
            up: hint.is_some() || matches!(status, 429 | 500),
            ..Failure::new(cause, true, true)
        }),
        400 | 413 | 415 | 422 => Err(Failure { refused: true, ..Failure::new(cause, false, true) }),
        _ => Err(Failure::new(cause, false, true)),
    }
}

/// Up to a tenth more: many clients that failed together must not come back together.
fn add_jitter(pause: Duration) -> Duration {
    // The standard library's hash keys are the system's randomness.
    pause / 1000 * (RandomState::new().hash_one(pause) % 101) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s1_29_a_pause_is_a_little_longer_but_never_shorter() {
        let pause = Duration::from_secs(1);
        let found: Vec<Duration> = (0..200).map(|_| add_jitter(pause)).collect();
        assert!(found.iter().all(|more| *more <= pause / 10));
        assert!(found.iter().any(|more| *more != found[0]));
        assert_eq!(add_jitter(Duration::ZERO), Duration::ZERO);
    }

    #[test]
    fn s1_24_s1_25_which_statuses_are_tried_again() {
        let of = |status| {
            judge_status(
                crate::dialect::default_dialect(),
                &HttpAnswer {
                    status,
                    after: Duration::ZERO,
                    waited: Duration::ZERO,
                    body: Ok(Vec::new()),
                },
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
