//! The listener of agent-hooks' event bridge: every agent's events, told and kept like those of cdev's hooks, and never
//! answered with a decision. Its routes, answers and ports: the bridge's contract, section 2.

use std::net::Ipv4Addr;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use axum::extract::{Path, Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hookctl::dialect::bridge::{PORT, ROUTES};
use hookctl::event::Kind;
use hookctl::remote::breaker::unix_milliseconds;
use hookctl::{agent, payload, script};
use serde_json::json;
use tokio::net::TcpListener;

use crate::cdev::{Hook, Post};
use crate::context::{Server, json_response, read_body_up_to, refuse};
use crate::hooks;

/// Where it goes when its own port is taken.
const PORTS: RangeInclusive<u16> = PORT..=PORT + 10;
/// The largest event, in bytes.
const LARGEST: usize = 50 << 20;

/// The listener, and what it has taken.
#[derive(Debug)]
pub struct Bridge {
    /// The server that hears of it.
    pub server: Arc<Server>,
    started: Instant,
    processed: Vec<AtomicU64>,
    errors: AtomicU64,
}

impl Bridge {
    /// One that has taken nothing yet.
    pub fn new(server: Arc<Server>) -> Bridge {
        let processed = ROUTES.iter().map(|_| AtomicU64::new(0)).collect();
        Bridge { server, started: Instant::now(), processed, errors: AtomicU64::new(0) }
    }
}

/// Listens on this machine: at that port alone, or at the first of the bridge's own that is free.
///
/// # Errors
/// Where none is.
pub async fn bind(port: Option<u16>) -> std::io::Result<TcpListener> {
    let ports = port.map_or(PORTS, |port| port..=port);
    let mut last = None;
    for port in ports {
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await {
            Ok(listener) => return Ok(listener),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into()))
}

/// `GET /health`: by this its hooks know the listener where it is not at its own port.
pub async fn health(State(bridge): State<Arc<Bridge>>) -> Response {
    let processed: u64 = bridge.processed.iter().map(|one| one.load(Ordering::Relaxed)).sum();
    json_response(
        StatusCode::OK,
        &json!({
            "status": "ok",
            "timestamp": unix_milliseconds(),
            "message": "hookctl serve listens for agent-hooks",
            "processedEvents": processed,
            "errors": bridge.errors.load(Ordering::Relaxed),
            "uptime": bridge.started.elapsed().as_secs(),
        }),
    )
}

/// `/claude-hook` and its kin, or `/claude`: one event, or whether it is taken.
pub async fn receive(
    State(bridge): State<Arc<Bridge>>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    if hooks::sender(&bridge.server, &request).is_none() {
        return refuse(&bridge.server, &request);
    }
    let Some(at) = ROUTES.iter().position(|route| route.name == name || route.agent == name) else {
        return (StatusCode::NOT_FOUND, "Not found").into_response();
    };
    let (provider, processed) = (ROUTES[at].agent, &bridge.processed[at]);
    match *request.method() {
        Method::GET => {
            let count = processed.load(Ordering::Relaxed);
            let body = json!({ "provider": provider, "status": "ready", "processedEvents": count });
            return json_response(StatusCode::OK, &body);
        }
        Method::POST => {}
        _ => return (StatusCode::METHOD_NOT_ALLOWED, "Method not allowed").into_response(),
    }
    let (began, bytes) = (Instant::now(), read_body_up_to(request.into_body(), LARGEST).await);
    let bytes = match bytes {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    match payload::parse(&bytes) {
        Ok(payload) => take(&bridge.server, provider, payload).await,
        Err(error) => {
            bridge.errors.fetch_add(1, Ordering::Relaxed);
            let body =
                json!({ "success": false, "provider": provider, "error": error.to_string() });
            return json_response(StatusCode::INTERNAL_SERVER_ERROR, &body);
        }
    }
    processed.fetch_add(1, Ordering::Relaxed);
    json_response(
        StatusCode::OK,
        &json!({
            "success": true,
            "provider": provider,
            "duration": began.elapsed().as_millis() as u64,
            "message": "Event processed successfully",
        }),
    )
}

/// Tells what of it cdev has a word for, whatever the agent calls it.
async fn take(
    server: &Server,
    provider: &str,
    payload: serde_json::Map<String, serde_json::Value>,
) {
    let agent = agent::detect_agent(&payload, Some(provider));
    let event = agent.parse(payload, None);
    let hook = match event.kind {
        Kind::PreToolUse => Hook::ToolStart,
        Kind::PostToolUse | Kind::PostToolUseFailure => Hook::ToolEnd,
        Kind::SessionStart => Hook::Session,
        Kind::Notification => Hook::Notification,
        _ => return,
    };
    hooks::tell(server, hook, &Post::new(script::to_claude(&event))).await;
}
