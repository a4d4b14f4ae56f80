//! Asking one server, in a thread of its own, which is left alone when its time is up: whatever a server, a
//! resolver or a proxy does, the agent has its answer before the deadline.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::breaker::{self, Breaker};
use super::questions::{Question, Questions};
use super::transport::{Failure, ServerCall};
use super::{claim_key, first_address, is_asked_at_once, secret};
use crate::dialect::{Note, Request};
use crate::event::Kind;
use crate::once::{self, Claim};
use crate::paths::Paths;
use crate::rule::file::Remote;
use crate::threads::{self, Receiver, RecvTimeoutError};

/// How long a thread may need to say that its time is up.
const GRACE: Duration = Duration::from_millis(35);

/// What came of asking one server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AskOutcome {
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

impl AskOutcome {
    /// There is no answer: nobody was asked.
    fn not(remote: &Remote, request: &Request, why: String) -> AskOutcome {
        let endpoint = first_address(remote, request.event.kind, false);
        AskOutcome { endpoint, attempts: 0, ms: 0, question: None, outcome: Err(why) }
    }
}

/// A server that is being asked.
pub struct Asking<'a> {
    /// Which one.
    pub remote: &'a Remote,
    /// What it is asked.
    pub request: Arc<Request>,
    start: Instant,
    limit: Instant,
    answer: Receiver<AskOutcome>,
}

/// Begins to ask it.
pub fn begin_asking<'a>(request: &Arc<Request>, remote: &'a Remote, paths: &Paths) -> Asking<'a> {
    let (sender, answer) = threads::channel();
    let (start, limit) = (Instant::now(), request.ask_deadline(remote));
    let (asked, owned, paths) = (Arc::clone(request), remote.clone(), paths.clone());
    // Where no thread is to be had, the sender is gone at once.
    let _ = threads::thread_builder().spawn(move || {
        sender.send(ask_one(&asked, &owned, &paths, limit));
    });
    Asking { remote, request: Arc::clone(request), start, limit, answer }
}

impl Asking<'_> {
    /// Waits until its time is up.
    pub fn wait_for_answer(&self) -> AskOutcome {
        let left = (self.limit + GRACE).saturating_duration_since(Instant::now());
        let came = self.answer.recv_timeout(left);
        secret::wait_for_commands();
        let failed = |attempts, why: &str| AskOutcome {
            attempts,
            ms: self.start.elapsed().as_millis() as u64,
            ..AskOutcome::not(self.remote, &self.request, why.into())
        };
        came.unwrap_or_else(|error| match error {
            RecvTimeoutError::Timeout => failed(1, "its time is up"),
            RecvTimeoutError::Disconnected => failed(0, "no thread is to be had"),
        })
    }
}

/// Asks one server, unless another registration of hookctl does so for the same event, or the
/// server has been down.
fn ask_one(request: &Request, remote: &Remote, paths: &Paths, limit: Instant) -> AskOutcome {
    let start = Instant::now();
    // Without a call's id, the same payload may soon come again and mean another event.
    let named = request.event.call_id().is_some();
    let window = Duration::from_millis(if named { 5_000 } else { 700 });
    // All that is said of the server counts: what another registration was answered elsewhere is
    // not its answer.
    let key = claim_key(&request.event.name, &request.bytes, &format!("ask {remote:?}"));
    // And what a human says of one call is no answer for its like.
    let claim = match named || !remote.human {
        true => once::claim(&paths.notes(), &key, window, limit),
        false => Claim::First(None),
    };
    if let Claim::Done(bytes) = &claim
        && let Ok(asked) = serde_json::from_slice(bytes)
    {
        // The answer is read against it: here, where the time is watched.
        request.server_view(remote);
        return asked;
    }
    let breaker = Breaker::for_questions(&paths.state, remote);
    let probe = match breaker.check_state() {
        breaker::BreakerState::Closed => false,
        breaker::BreakerState::Probe => true,
        breaker::BreakerState::Open(why) if is_asked_at_once(remote, &why) => false,
        breaker::BreakerState::Open(why) => {
            let asked = AskOutcome::not(remote, request, format!("it has been down: {why}"));
            claim.finish(&serde_json::to_vec(&asked).unwrap_or_default());
            return asked;
        }
    };
    let short = probe || request.event.kind == Kind::SessionEnd;
    let retries = if short { 0 } else { remote.retries };
    let call = ServerCall { request, remote, retries, limit, told: None };
    let mut attempts = 0;
    let mut endpoint = first_address(remote, request.event.kind, false);
    let noted = note_question(request, remote, paths);
    let mut question = None;
    let (outcome, down) = match call.try_addresses(&mut attempts, &mut endpoint) {
        Ok(said) => {
            // Who is there again is told again as well.
            if breaker.close() {
                Breaker::for_messages(&paths.state, remote).close();
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
    let asked = AskOutcome { endpoint, attempts, ms, question, outcome };
    claim.finish(&serde_json::to_vec(&asked).unwrap_or_default());
    asked
}

/// Notes a question to a human before it leaves: its number, where that can be.
fn note_question(request: &Request, remote: &Remote, paths: &Paths) -> Option<u64> {
    let event = &request.event;
    let asks = remote.human && event.kind.is_gate() && request.note == Note::Nothing;
    let questions = asks.then(|| Questions::for_session(&paths.state, &event.session)).flatten()?;
    questions.note_question(remote, &request.server_view(remote).event, !request.anew).ok()
}

/// Asks once more, as of a session that the server has no memory of and in which nobody is passed over.
/// None where its protocol has no such way.
pub fn ask_again(
    request: &Request,
    remote: &Remote,
    paths: &Paths,
    before: &AskOutcome,
) -> Option<(AskOutcome, Arc<Request>)> {
    // The same number in each registration of hookctl, so that they ask once.
    let number = before.question.as_ref().map_or(0, |question| question.id);
    let event = remote.dialect.in_new_session(&request.event, number)?;
    let bytes = serde_json::to_vec(&event.raw).ok()?;
    let again = Request::new(event, bytes, request.deadline, paths);
    let again = Arc::new(Request { anew: true, effects: request.effects.clone(), ..again });
    let mut asked = begin_asking(&again, remote, paths).wait_for_answer();
    asked.attempts += before.attempts;
    Some((asked, again))
}
