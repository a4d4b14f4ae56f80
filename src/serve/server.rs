//! The server: what its parts share, which path leads where, and what happens by the clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use hookctl::dialect::format_time;
use hookctl::remote::breaker::unix_milliseconds;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::access::{Access, Peer, Visitor};
use crate::bus::Bus;
use crate::judge::Judge;
use crate::questions::Questions;
use crate::rpc::Frames;
use crate::sessions::Sessions;
use crate::store::{Store, question, session};
use crate::{hooks, listen, page, rpc};

/// The largest body, in bytes (cdev's contract, S3).
const LARGEST: usize = 1 << 20;
/// How long a body may take.
const SLOW: Duration = Duration::from_secs(10);
/// How often it is looked what others did to our questions.
const TICK: Duration = Duration::from_millis(500);
/// How often what is old is taken away.
const SWEEP: Duration = Duration::from_secs(5);
/// How long history is kept, in milliseconds.
const HISTORY: u64 = 30 * 86_400_000;

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

/// Answers until the process ends.
pub async fn run(server: Arc<Server>, listener: TcpListener) {
    tokio::spawn(keep_order(Arc::clone(&server)));
    listen::serve(listener, router(server)).await;
}

fn router(server: Arc<Server>) -> Router {
    let hooks = Router::new().route("/api/hooks/{name}", any(hooks::receive));
    let devices = Router::new()
        .route("/api/state", get(page::state))
        .route("/api/history", get(page::history))
        .route("/api/counts", get(page::counts))
        .route("/api/answer", post(page::answer))
        .route("/api/logout", post(page::logout))
        .route("/ws", get(rpc::connect))
        .layer(middleware::from_fn_with_state(Arc::clone(&server), admit_device));
    let open = Router::new()
        .route("/api/pair", post(page::pair))
        .route("/api/auth/exchange", post(page::exchange))
        .route("/api/auth/refresh", post(page::refresh))
        .route("/api/auth/revoke", post(page::revoke))
        .route("/", get(page::index))
        .route("/pair", get(page::index))
        .route("/app.js", get(page::script))
        .route("/style.css", get(page::style));
    Router::new()
        .merge(hooks)
        .merge(devices)
        .merge(open)
        .layer(middleware::from_fn_with_state(Arc::clone(&server), check_caller))
        // Nothing is behind it, so nothing can keep it waiting.
        .route("/health", get(health))
        .layer(middleware::map_response(harden))
        .with_state(server)
}

async fn health() -> Response {
    let now = format_time(unix_milliseconds());
    let time = now.split_once('.').map_or(now.as_str(), |(seconds, _)| seconds);
    json_response(StatusCode::OK, &json!({ "status": "ok", "time": format!("{time}Z") }))
}

/// Refuses what was sent to another name, or by another's page.
async fn check_caller(State(server): State<Arc<Server>>, request: Request, next: Next) -> Response {
    if !server.access.knows_host(request.headers()) {
        return (StatusCode::FORBIDDEN, "Host not allowed").into_response();
    }
    if !server.access.knows_origin(request.headers()) {
        return (StatusCode::FORBIDDEN, "Origin not allowed").into_response();
    }
    next.run(request).await
}

/// Lets devices through that are paired, and says who it is.
async fn admit_device(
    State(server): State<Arc<Server>>,
    mut request: Request,
    next: Next,
) -> Response {
    let visitor = match server.access.visitor(request.headers()).await {
        Ok(Some(visitor)) => visitor,
        Ok(None) => return refuse(&server, &request),
        Err(error) => return failure(&error),
    };
    // A browser sends its cookie along with whatever a page of others asks it to.
    let changes = request.method() != axum::http::Method::GET || request.uri().path() == "/ws";
    if visitor.by_cookie && changes && !server.access.is_same_origin(request.headers()) {
        return (StatusCode::FORBIDDEN, "Origin not allowed").into_response();
    }
    request.extensions_mut().insert::<Visitor>(visitor);
    next.run(request).await
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

/// What every answer says to browsers: nothing of others, nothing kept, in no frame.
async fn harden(mut response: Response) -> Response {
    const ALL: [(&str, &str); 7] = [
        (
            "content-security-policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
             manifest-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
        ),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
        ("referrer-policy", "no-referrer"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("cache-control", "no-store"),
    ];
    for (name, value) in ALL {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    response
}

/// The body of a request, where it is neither too large nor too slow.
///
/// # Errors
/// The answer for one that is.
pub async fn read_body(body: Body) -> Result<Bytes, Response> {
    match tokio::time::timeout(SLOW, to_bytes(body, LARGEST)).await {
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
pub fn failure(error: &crate::store::StoreError) -> Response {
    tracing::error!("{error}");
    json_response(
        StatusCode::SERVICE_UNAVAILABLE,
        &json!({ "error": "the database cannot be used" }),
    )
}

/// What happens by the clock.
async fn keep_order(server: Arc<Server>) {
    let mut swept = Instant::now();
    loop {
        tokio::time::sleep(TICK).await;
        if let Err(error) = server.questions.reconcile().await {
            tracing::error!("questions: {error}");
        }
        if swept.elapsed() < SWEEP.min(server.times.stale) {
            continue;
        }
        swept = Instant::now();
        let before = unix_milliseconds().saturating_sub(HISTORY);
        let pruned = server.store.run(move |tx| {
            question::prune(tx, before)?;
            session::prune(tx, before)
        });
        if let Err(error) = pruned.await {
            tracing::error!("history: {error}");
        }
        if let Err(error) = server.sessions.sweep().await {
            tracing::error!("sessions: {error}");
        }
    }
}
