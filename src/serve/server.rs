//! The server: what its parts share, which path leads where, and what happens by the clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, StatusCode};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse as _, Response};
use axum::routing::{any, get, post};
use hookctl::dialect::format_time;
use hookctl::remote::breaker::unix_milliseconds;
use serde_json::json;
use tokio::net::TcpListener;
use tokio::sync::Notify;
use tokio_rustls::TlsAcceptor;

use crate::access::Visitor;
use crate::bridge::{self, Bridge};
use crate::context::{Server, failure, json_response, refuse};
use crate::store::{StoreError, event, memory, question, session};
use crate::{cdev, hooks, listen, page, protocol, rpc};

/// How often it is looked what others did to our questions.
const TICK: Duration = Duration::from_millis(500);
/// How often what is old is taken away.
const SWEEP: Duration = Duration::from_secs(5);
/// How long history is kept, in milliseconds.
const HISTORY: u64 = 30 * 86_400_000;

/// Answers until the process ends: by HTTPS with `tls`.
pub async fn run(server: Arc<Server>, listener: TcpListener, tls: Option<TlsAcceptor>) {
    tokio::spawn(keep_order(Arc::clone(&server)));
    if server.store.is_shared() {
        tokio::spawn(follow(Arc::clone(&server)));
    }
    listen::serve(listener, tls, router(server)).await;
}

fn router(server: Arc<Server>) -> Router {
    let hooks = Router::new()
        .route("/api/hooks/{name}", any(hooks::receive))
        .route("/hook", post(protocol::receive))
        .route("/claude", post(protocol::receive_native));
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
        .route("/api/paired", get(page::paired));
    let open = page::ASSETS.into_iter().fold(open, |open, (path, kind, text)| {
        open.route(path, get(move || async move { page::asset(kind, text) }))
    });
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

/// Answers agent-hooks' hooks, at a port of their own.
pub async fn run_bridge(server: Arc<Server>, listener: TcpListener) {
    let bridge = Arc::new(Bridge::new(Arc::clone(&server)));
    let router = Router::new()
        .route("/health", get(bridge::health))
        .route("/{name}", any(bridge::receive))
        .with_state(bridge)
        .layer(middleware::from_fn_with_state(server, check_caller))
        .layer(middleware::map_response(harden));
    // On this machine alone, and its clients speak nothing else.
    listen::serve(listener, None, router).await;
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

/// What other servers on the same database do: told to those who listen here, and to the hooks that wait here.
async fn follow(server: Arc<Server>) {
    let woken = Arc::new(Notify::new());
    let (store, waker) = (server.store.clone(), Arc::clone(&woken));
    tokio::spawn(async move { store.listen(&waker).await });
    let mut last = None;
    loop {
        match catch_up(&server, last).await {
            Ok(seq) => last = Some(seq),
            Err(error) => tracing::error!("other servers: {error}"),
        }
        // A missed call is made up for by the clock.
        let _ = tokio::time::timeout(TICK, woken.notified()).await;
    }
}

/// Passes on what came since that event, and says which was the last; the first time it only looks.
async fn catch_up(server: &Server, last: Option<u64>) -> Result<u64, StoreError> {
    let Some(last) = last else { return server.store.run(event::last).await };
    let own = server.bus.server().to_string();
    let events = server.store.run(move |tx| event::since(tx, last, &own)).await?;
    let seq = events.last().map_or(last, |event| event.seq);
    if events.iter().any(|event| event.name == cdev::RESOLVED) {
        server.questions.reconcile().await?;
    }
    for event in events {
        server.bus.pass_on(event);
    }
    Ok(seq)
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
        let is_shared = server.store.is_shared();
        let pruned = server.store.run(move |tx| {
            question::prune(tx, before)?;
            session::prune(tx, before)?;
            memory::prune(tx, unix_milliseconds())?;
            if is_shared { event::prune(tx, unix_milliseconds()) } else { Ok(0) }
        });
        if let Err(error) = pruned.await {
            tracing::error!("history: {error}");
        }
        if let Err(error) = server.sessions.sweep().await {
            tracing::error!("sessions: {error}");
        }
    }
}
