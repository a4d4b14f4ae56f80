//! What hooks post: told to everybody, or asked of a human. A hook always gets an answer, and soon where no human
//! is to give it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::extract::{Path, Request, State};
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse as _, Response};
use hookctl::payload;
use serde_json::{Map, json};

use crate::access::{Peer, new_token};
use crate::cdev::{Hook, Post};
use crate::context::{Server, json_response, read_body, refuse};
use crate::store::question::Answer;

/// How long a post that is only told may take.
const TELL: Duration = Duration::from_secs(2);
/// How long an answer may be held up by what is noted of it.
const NOTE: Duration = Duration::from_millis(500);

/// One post.
pub async fn receive(
    State(server): State<Arc<Server>>,
    Path(name): Path<String>,
    request: Request,
) -> Response {
    let Some(requester) = sender(&server, &request) else { return refuse(&server, &request) };
    if request.method() != Method::POST {
        return (StatusCode::METHOD_NOT_ALLOWED, "Method not allowed").into_response();
    }
    let bytes = match read_body(request.into_body()).await {
        Ok(bytes) => bytes,
        Err(refused) => return refused,
    };
    let Some(hook) = Hook::from_path(&name) else {
        tracing::warn!("a post to an unknown path: {}", hookctl::cli::one_line(&name, 60));
        return told();
    };
    let post = payload::parse(&bytes).map(Post::new);
    if hook == Hook::Question {
        let answer = match post {
            Ok(mut post) => {
                post.requester = requester;
                ask(&server, &mut post).await
            }
            Err(_) => Answer::ask("invalid_request"),
        };
        return json_response(StatusCode::OK, &answer.to_hook_json());
    }
    // Of what cannot be read, upstream publishes an event without fields.
    let post = post.unwrap_or_else(|_| Post::new(Map::new()));
    tell(&server, hook, &post).await;
    told()
}

/// Who asks, where it may.
pub fn sender(server: &Server, request: &Request) -> Option<String> {
    let peer = request.extensions().get::<Peer>().copied()?;
    server.access.hook_sender(peer, request.headers())
}

fn told() -> Response {
    json_response(StatusCode::OK, &json!({ "ok": true }))
}

/// Tells everybody. What cannot be kept is told all the same.
pub async fn tell(server: &Server, hook: Hook, post: &Post) {
    note(server, hook, post).await;
    server.bus.publish(hook.event(), &post.session(), &post.workspace(), post.payload(hook));
    if hook == Hook::ToolEnd && !post.call().is_empty() {
        // The call was made: nobody waits for leave any more.
        use crate::store::question::State;
        let call = post.call();
        let dropped = server.questions.drop_question(&call, State::Cancelled, "cancelled");
        let _ = tokio::time::timeout(TELL, dropped).await;
    }
}

async fn note(server: &Server, hook: Hook, post: &Post) {
    match tokio::time::timeout(TELL, server.sessions.note(hook, post)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!("an event is not kept: {error}"),
        Err(_) => tracing::error!("an event is not kept: the database takes too long"),
    }
}

/// Asks a human, unless the agent asks nobody at all.
async fn ask(server: &Server, post: &mut Post) -> Answer {
    if post.bypasses() {
        let text = |text: &str| text.to_string();
        return Answer {
            decision: text("allow"),
            scope: text("session"),
            reason: text("bypass_permissions"),
            source: text("server"),
            ..Answer::default()
        };
    }
    ask_human(server, post).await
}

/// Asks a human.
pub async fn ask_human(server: &Server, post: &mut Post) -> Answer {
    // PermissionRequest has none (cdev's contract, C1), and questions are known by it.
    if post.call().is_empty() {
        let id = format!("serve-{}", &new_token()[..32]);
        post.raw.insert("tool_use_id".into(), id.clone().into());
        post.masked.insert("tool_use_id".into(), id.into());
    }
    let begun = Instant::now();
    note(server, Hook::Question, post).await;
    let left = server.times.answer.saturating_sub(begun.elapsed());
    let answer = server.questions.ask(post, left).await;
    let goes_ahead = answer.decision == "allow";
    // The hook waits for its answer, and not for this.
    match tokio::time::timeout(NOTE, server.sessions.note_answer(post, goes_ahead)).await {
        Ok(Ok(())) => {}
        Ok(Err(error)) => tracing::error!("an answer is not noted in its session: {error}"),
        Err(_) => {
            tracing::error!("an answer is not noted in its session: the database takes too long")
        }
    }
    answer
}
