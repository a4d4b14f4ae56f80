//! The page, and the JSON that it is made of. docs/serve.md has the shapes.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::Extension;
use axum::extract::{Query, Request, State};
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use hookctl::remote::breaker::unix_milliseconds;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::access::{Paired, Peer, Visitor};
use crate::context::{Server, failure, json_response, read_body, refuse, too_many};
use crate::questions::{Given, Refused};
use crate::store::question::{self, State as Stands};

/// How many entries of history there are at once.
const MOST: usize = 200;
/// The longest search, in bytes.
const SEARCH: usize = 200;

/// The files of the page, by their paths. Nothing in them is anybody's.
pub const ASSETS: [(&str, &str, &str); 5] = [
    ("/", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/pair", "text/html; charset=utf-8", include_str!("page/index.html")),
    ("/app.js", "text/javascript; charset=utf-8", include_str!("page/app.js")),
    ("/view.js", "text/javascript; charset=utf-8", include_str!("page/view.js")),
    ("/style.css", "text/css; charset=utf-8", include_str!("page/style.css")),
];

/// One of them.
pub fn asset(kind: &'static str, text: &'static str) -> Response {
    ([(header::CONTENT_TYPE, kind)], text).into_response()
}

/// `GET /api/paired`: is this browser let in? Unlike where a device is needed it is no fault if not, but a guess.
pub async fn paired(State(server): State<Arc<Server>>, request: Request) -> Response {
    let found = match server.access.visitor(request.headers()).await {
        Ok(found) => found,
        Err(error) => return failure(&error),
    };
    let shows = request.headers().contains_key(header::COOKIE)
        || request.headers().contains_key(header::AUTHORIZATION);
    if found.is_none()
        && shows
        && let Some(refused) = refuse_guess(&server, &request)
    {
        return refused;
    }
    json_response(StatusCode::OK, &json!({ "paired": found.is_some() }))
}

/// `GET /api/state`: sessions, what waits, who is asking.
pub async fn state(
    State(server): State<Arc<Server>>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    let now = unix_milliseconds();
    let open = server.store.run(move |tx| question::open(tx, None, now)).await;
    let sessions = server.sessions.list().await;
    match (sessions, open) {
        (Ok(sessions), Ok(open)) => {
            let pending: Vec<Value> = open.iter().map(question::Question::to_json).collect();
            json_response(
                StatusCode::OK,
                &json!({
                    "now": now,
                    "version": env!("CARGO_PKG_VERSION"),
                    "device": { "id": visitor.device.id, "name": visitor.device.name },
                    "answer_seconds": server.times.answer.as_secs(),
                    "sessions": sessions,
                    "pending": pending,
                }),
            )
        }
        (Err(error), _) | (_, Err(error)) => failure(&error),
    }
}

/// What of history is wanted.
#[derive(Debug, Deserialize)]
pub struct HistoryQuery {
    #[serde(default)]
    search: String,
    before: Option<u64>,
    limit: Option<usize>,
}

/// `GET /api/history`: questions that are over, newest first.
pub async fn history(
    State(server): State<Arc<Server>>,
    Query(query): Query<HistoryQuery>,
) -> Response {
    let search = query.search[..query.search.floor_char_boundary(SEARCH)].to_string();
    let before = query.before.unwrap_or(u64::MAX);
    let limit = query.limit.unwrap_or(50).clamp(1, MOST);
    let found = server.store.run(move |tx| question::history(tx, &search, before, limit)).await;
    match found {
        Ok(found) => {
            let entries: Vec<Value> = found.iter().map(question::Question::to_json).collect();
            // Where the page was full there may be more.
            let next = found.last().filter(|_| found.len() == limit).map(|one| one.created);
            json_response(StatusCode::OK, &json!({ "entries": entries, "next_before": next }))
        }
        Err(error) => failure(&error),
    }
}

/// Since when is counted.
#[derive(Debug, Deserialize)]
pub struct CountsQuery {
    since: Option<u64>,
}

/// `GET /api/counts`: answers by verdict and by rule; of the last 24 hours, where no time is named.
pub async fn counts(
    State(server): State<Arc<Server>>,
    Query(query): Query<CountsQuery>,
) -> Response {
    let since = query.since.unwrap_or_else(|| unix_milliseconds().saturating_sub(86_400_000));
    let all = match server.store.run(move |tx| question::since(tx, since)).await {
        Ok(all) => all,
        Err(error) => return failure(&error),
    };
    let mut verdicts: BTreeMap<&str, u64> = ["allow", "deny", "timeout", "cancelled", "open"]
        .into_iter()
        .map(|name| (name, 0))
        .collect();
    let (mut rules, mut memory) = (BTreeMap::<String, u64>::new(), 0_u64);
    for (answer, stands, shown) in &all {
        let verdict = match stands {
            Stands::Open => "open",
            Stands::Cancelled => "cancelled",
            Stands::Expired => "timeout",
            Stands::Answered if answer.decision == "allow" => "allow",
            Stands::Answered => "deny",
        };
        *verdicts.entry(verdict).or_default() += 1;
        memory += u64::from(answer.source == "memory");
        if let Some(rule) = shown["rule"].as_str().filter(|rule| !rule.is_empty()) {
            *rules.entry(rule.into()).or_default() += 1;
        }
    }
    let mut rules: Vec<(String, u64)> = rules.into_iter().collect();
    rules.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    let rules: Vec<Value> =
        rules.into_iter().map(|(rule, count)| json!({ "rule": rule, "count": count })).collect();
    json_response(
        StatusCode::OK,
        &json!({ "since": since, "total": all.len(), "verdicts": verdicts, "from_memory": memory, "rules": rules }),
    )
}

/// `POST /api/answer`: a human's answer.
pub async fn answer(
    State(server): State<Arc<Server>>,
    Extension(visitor): Extension<Visitor>,
    request: Request,
) -> Response {
    let params = match read_object(request).await {
        Ok(params) => params,
        Err(refused) => return refused,
    };
    let given = match Given::read(&params, &visitor) {
        Ok(given) => given,
        Err(why) => return json_response(StatusCode::BAD_REQUEST, &json!({ "error": why })),
    };
    let id = params.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
    match server.questions.answer(id, given).await {
        Ok(taken) => json_response(StatusCode::OK, &taken.to_json()),
        Err(Refused::Store(error)) => failure(&error),
        Err(refused) => json_response(StatusCode::CONFLICT, &json!({ "error": refused.message() })),
    }
}

/// `POST /api/pair`: a browser comes in by a code, and gets a cookie.
pub async fn pair(State(server): State<Arc<Server>>, request: Request) -> Response {
    match let_in(&server, request).await {
        Ok((paired, _)) => {
            let key = server.access.page_key(&paired.id);
            let body = json!({ "success": true, "device": paired.id, "key": key });
            let mut response = json_response(StatusCode::OK, &body);
            if let Ok(cookie) = HeaderValue::from_str(&server.access.cookie_for(&paired.id)) {
                response.headers_mut().insert(header::SET_COOKIE, cookie);
            }
            response
        }
        Err(refused) => refused,
    }
}

/// `POST /api/auth/exchange`: an app comes in by a code, and gets tokens (cdev's contract, B1 and C3).
pub async fn exchange(State(server): State<Arc<Server>>, request: Request) -> Response {
    match let_in(&server, request).await {
        Ok((paired, _)) => json_response(StatusCode::OK, &tokens(&paired)),
        Err(refused) => refused,
    }
}

async fn let_in(server: &Server, request: Request) -> Result<(Paired, String), Response> {
    if let Some(refused) = refuse_guess(server, &request) {
        return Err(refused);
    }
    let peer = request.extensions().get::<Peer>().copied();
    let is_here = peer.is_some_and(|peer| server.access.is_here(peer, request.headers()));
    let params = read_object(request).await?;
    let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default();
    let code =
        ["code", "pairing_token", "token"].into_iter().map(text).find(|code| !code.is_empty());
    let name = ["name", "device_name"].into_iter().map(text).find(|name| !name.is_empty());
    let code = code.unwrap_or_default();
    match server.access.pair(code, name.unwrap_or_default(), is_here).await {
        Ok(Some(paired)) => {
            tracing::info!("a device is paired: {}", paired.id);
            Ok((paired, code.into()))
        }
        Ok(None) => Err(json_response(
            StatusCode::UNAUTHORIZED,
            &json!({ "error": "unknown or used code" }),
        )),
        Err(error) => Err(failure(&error)),
    }
}

/// `POST /api/auth/refresh`: a new token for an old one.
pub async fn refresh(State(server): State<Arc<Server>>, request: Request) -> Response {
    if let Some(refused) = refuse_guess(&server, &request) {
        return refused;
    }
    let params = match read_object(request).await {
        Ok(params) => params,
        Err(refused) => return refused,
    };
    let token = params.get("refresh_token").and_then(Value::as_str).unwrap_or_default();
    match server.access.renew(token).await {
        Ok(Some(paired)) => json_response(StatusCode::OK, &tokens(&paired)),
        Ok(None) => {
            json_response(StatusCode::UNAUTHORIZED, &json!({ "error": "invalid refresh token" }))
        }
        Err(error) => failure(&error),
    }
}

/// `POST /api/auth/revoke`: the device of a bearer token shuts itself out.
pub async fn revoke(State(server): State<Arc<Server>>, request: Request) -> Response {
    match server.access.visitor(request.headers()).await {
        Ok(Some(visitor)) if !visitor.by_cookie => shut_out(&server, &visitor).await,
        Ok(_) => refuse(&server, &request),
        Err(error) => failure(&error),
    }
}

/// `POST /api/logout`: the same for a browser.
pub async fn logout(
    State(server): State<Arc<Server>>,
    Extension(visitor): Extension<Visitor>,
) -> Response {
    shut_out(&server, &visitor).await
}

async fn shut_out(server: &Server, visitor: &Visitor) -> Response {
    match server.access.revoke(&visitor.device.id).await {
        Ok(_) => json_response(StatusCode::OK, &json!({ "success": true })),
        Err(error) => failure(&error),
    }
}

/// What is said to whoever guesses too often.
fn refuse_guess(server: &Server, request: &Request) -> Option<Response> {
    let peer = request.extensions().get::<Peer>();
    let may = peer.is_some_and(|peer| server.access.may_guess(*peer));
    (!may).then(too_many)
}

fn tokens(paired: &Paired) -> Value {
    let expires = hookctl::dialect::format_time(paired.expires);
    let left = paired.expires.saturating_sub(unix_milliseconds()) / 1_000;
    json!({
        "access_token": paired.token,
        "access_token_expires_at": expires,
        "refresh_token": paired.token,
        "refresh_token_expires_at": expires,
        "token_type": "Bearer",
        "expires_in": left,
    })
}

async fn read_object(request: Request) -> Result<Map<String, Value>, Response> {
    // A form of another page cannot send this type.
    let is_json = request.headers().get(header::CONTENT_TYPE).is_some_and(|kind| {
        kind.to_str().is_ok_and(|kind| {
            kind.split(';').next().unwrap_or_default().trim() == "application/json"
        })
    });
    if !is_json {
        let body = json!({ "error": "send application/json" });
        return Err(json_response(StatusCode::UNSUPPORTED_MEDIA_TYPE, &body));
    }
    let bytes = read_body(request.into_body()).await?;
    serde_json::from_slice(&bytes)
        .map_err(|_| json_response(StatusCode::BAD_REQUEST, &json!({ "error": "no JSON object" })))
}
