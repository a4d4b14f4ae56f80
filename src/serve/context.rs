//! What every request may need, and the answers that many of them have in common.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::{Body, Bytes, to_bytes};
use axum::extract::Request;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value, json};

use crate::access::{Access, Frames, Peer};
use crate::bus::Bus;
use crate::judge::Judge;
use crate::questions::Questions;
use crate::sessions::Sessions;
use crate::store::{Store, StoreError};

/// The largest body, in bytes (cdev's contract, S3).
const LARGEST: usize = 1 << 20;
/// How long a body may take.
const SLOW: Duration = Duration::from_secs(10);
/// How long things take.
#[derive(Debug, Clone, Copy)]
pub struct Times {
    /// How long a hook waits for a human.
    pub answer: Duration,
    /// After so long without an event a session is forgotten.
    pub stale: Duration,
    /// Between two signs of life to every client.
    pub heartbeat: Duration,
}

/// What every request may need.
#[derive(Debug)]
pub struct Server {
    /// What lasts.
    pub store: Store,
    /// Who may do what.
    pub access: Access,
    /// Events.
    pub bus: Arc<Bus>,
    /// Questions.
    pub questions: Arc<Questions>,
    /// Sessions.
    pub sessions: Arc<Sessions>,
    /// What hookctl sees in calls.
    pub judge: Arc<Judge>,
    /// How long things take.
    pub times: Times,
    /// How many frames came from whom.
    pub frames: Frames,
    /// When it began.
    pub started: Instant,
}

/// Whoever shows no token that is known; too often, and it is not even looked at for a while.
pub fn refuse(server: &Server, request: &Request) -> Response {
    let shows = [header::AUTHORIZATION, header::COOKIE];
    let guesses = shows.iter().any(|name| request.headers().contains_key(name));
    let peer = request.extensions().get::<Peer>();
    if guesses && peer.is_some_and(|peer| !server.access.may_guess(*peer)) {
        return too_many();
    }
    (StatusCode::UNAUTHORIZED, "Unauthorized").into_response()
}

/// Too many guesses.
pub fn too_many() -> Response {
    (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, "60")], "Too many tries").into_response()
}

/// The body of a request, where it is neither too large nor too slow.
///
/// # Errors
/// The answer for one that is.
pub async fn read_body(body: Body) -> Result<Bytes, Response> {
    read_body_up_to(body, LARGEST).await
}

/// The same with another limit, in bytes.
///
/// # Errors
/// As there.
pub async fn read_body_up_to(body: Body, largest: usize) -> Result<Bytes, Response> {
    match tokio::time::timeout(SLOW, to_bytes(body, largest)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        // Whatever else breaks a body breaks its connection, and nobody reads this.
        Ok(Err(_)) => Err((StatusCode::PAYLOAD_TOO_LARGE, "Body too large").into_response()),
        Err(_) => {
            Err((StatusCode::REQUEST_TIMEOUT, [(header::CONNECTION, "close")], "Body too slow")
                .into_response())
        }
    }
}

/// An answer in JSON.
pub fn json_response(status: StatusCode, body: &Value) -> Response {
    (status, [(header::CONTENT_TYPE, "application/json")], body.to_string()).into_response()
}

/// The database did not do its part.
pub fn failure(error: &StoreError) -> Response {
    tracing::error!("{error}");
    json_response(
        StatusCode::SERVICE_UNAVAILABLE,
        &json!({ "error": "the database cannot be used" }),
    )
}
