//! The socket of apps and of the page: JSON-RPC 2.0, one message a frame. What it may and must say is cdev's
//! contract, parts B1, B3, C2 and C3.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Extension;
use axum::extract::State;
use axum::extract::ws::{Message, WebSocket, WebSocketUpgrade};
use axum::response::Response;
use futures_util::stream::SplitSink;
use futures_util::{SinkExt as _, StreamExt as _};
use hookctl::dialect::format_time;
use hookctl::remote::breaker::unix_milliseconds;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;

use crate::access::{PROTOCOL, Peer, Visitor, new_token};
use crate::bus::{Event, Listener};
use crate::cdev::{self, Post};
use crate::context::Server;
use crate::questions::{Given, Refused};
use crate::store::question;

/// The largest message, in bytes.
const LARGEST: usize = 12 << 20;
/// The server asks whether somebody is there, and does not wait for ever.
const PING: Duration = Duration::from_secs(81);
const SILENCE: Duration = Duration::from_secs(90);
/// How long a frame may take to leave.
const WRITE: Duration = Duration::from_secs(15);
/// How often it is looked meanwhile what the client holds up.
const PIECE: Duration = Duration::from_millis(100);
/// How long a device hears on that was shut out.
const LOOK: Duration = Duration::from_secs(1);
/// Answers that wait to be sent: who reads none gets no more.
const QUEUE: usize = 256;
/// How long a question over the socket waits.
const REQUEST: Duration = Duration::from_secs(300);

const PARAMS: i64 = -32602;
const INTERNAL: i64 = -32603;

/// A client connects.
pub async fn connect(
    State(server): State<Arc<Server>>,
    Extension(peer): Extension<Peer>,
    Extension(visitor): Extension<Visitor>,
    upgrade: WebSocketUpgrade,
) -> Response {
    let upgrade = upgrade.protocols([PROTOCOL]).max_message_size(LARGEST).max_frame_size(LARGEST);
    // From before the client is told that it is there: what comes right after is not missed.
    let listener = server.bus.listen();
    upgrade.on_upgrade(move |socket| async move {
        let (answers, queue) = mpsc::channel(QUEUE);
        let client = Client {
            server,
            peer,
            visitor,
            id: new_token()[..16].into(),
            answers,
            workspaces: BTreeSet::new(),
            looked: Instant::now(),
        };
        client.run(socket, queue, listener).await;
    })
}

/// One socket.
struct Client {
    server: Arc<Server>,
    peer: Peer,
    visitor: Visitor,
    id: String,
    answers: mpsc::Sender<String>,
    /// Those that it wants to hear of; none = all.
    workspaces: BTreeSet<String>,
    /// When it was last seen to be let in.
    looked: Instant,
}

/// What an error says.
struct RpcError(i64, String);

type Outcome = Result<Value, RpcError>;

fn wrong(message: &str) -> RpcError {
    RpcError(PARAMS, message.into())
}

impl Client {
    async fn run(
        mut self,
        socket: WebSocket,
        mut queue: mpsc::Receiver<String>,
        mut listener: Listener,
    ) {
        let (mut out, mut input) = socket.split();
        let mut heartbeat = tokio::time::interval(self.server.times.heartbeat);
        heartbeat.tick().await;
        let mut ping = tokio::time::interval(PING);
        ping.tick().await;
        let (mut sequence, mut heard) = (0_u64, Instant::now());
        loop {
            let alive = tokio::select! {
                event = listener.next() => match event {
                    Some(event) if !self.wants(&event) => true,
                    // A device that was shut out hears nothing more.
                    Some(event) => self.is_still_admitted().await && send(&mut out, &listener, Message::text(&*event.frame)).await,
                    // Too far behind: the socket is closed, and the client asks what is open when it comes back.
                    None => false,
                },
                Some(answer) = queue.recv() => send(&mut out, &listener, Message::text(answer)).await,
                _ = heartbeat.tick() => {
                    sequence += 1;
                    self.is_admitted().await && send(&mut out, &listener, Message::text(self.heartbeat(sequence))).await
                }
                _ = ping.tick() => {
                    heard.elapsed() < PING + SILENCE && send(&mut out, &listener, Message::Ping("".into())).await
                }
                message = input.next() => {
                    heard = Instant::now();
                    match message {
                        Some(Ok(Message::Text(text))) => self.take(text.as_str()).await,
                        Some(Ok(Message::Close(_)) | Err(_)) | None => false,
                        Some(Ok(_)) => self.server.frames.take(self.peer.0),
                    }
                }
            };
            if !alive {
                break;
            }
        }
        // What it has not heard is kept for it no longer.
        drop(listener);
        let _ = tokio::time::timeout(WRITE, out.close()).await;
    }

    /// What waits for an answer is heard of whatever a client listens to.
    fn wants(&self, event: &Event) -> bool {
        self.workspaces.is_empty()
            || event.workspace.is_empty()
            || matches!(&*event.name, cdev::QUESTION | cdev::RESOLVED)
            || self.workspaces.contains(&event.workspace)
    }

    /// The same, looked at now and then: events are many.
    async fn is_still_admitted(&mut self) -> bool {
        if self.looked.elapsed() < LOOK {
            return true;
        }
        self.looked = Instant::now();
        self.is_admitted().await
    }

    async fn is_admitted(&self) -> bool {
        let (id, now) = (self.visitor.device.id.clone(), unix_milliseconds());
        if id.is_empty() {
            // Whom a proxy lets in it also shuts out: the socket is its own.
            return true;
        }
        let device =
            self.server.store.run(move |tx| crate::store::device::by_id(tx, &id, now)).await;
        // A database that is gone is no reason to shut anybody out: nothing can be answered anyway.
        device.map_or(true, |device| device.is_some())
    }

    fn heartbeat(&self, sequence: u64) -> String {
        let now = format_time(unix_milliseconds());
        let uptime = self.server.started.elapsed().as_secs();
        // Not JSON-RPC: so cdev's apps know it.
        json!({ "event": "heartbeat", "timestamp": now, "payload": {
            "server_time": now, "sequence": sequence, "claude_status": "idle", "uptime_seconds": uptime,
        } })
        .to_string()
    }

    /// One frame; false = the client is let go.
    async fn take(&mut self, text: &str) -> bool {
        if !self.server.frames.take(self.peer.0) {
            return false;
        }
        // What is no request is passed over in silence, as upstream does.
        let Ok(Value::Object(frame)) = serde_json::from_str::<Value>(text) else { return true };
        if frame.get("jsonrpc") != Some(&Value::from("2.0")) {
            return true;
        }
        let Some(method) = frame.get("method").and_then(Value::as_str) else { return true };
        let id = frame.get("id").cloned();
        let empty = Map::new();
        let params = frame.get("params").and_then(Value::as_object).unwrap_or(&empty);
        // Whoever was let in when the socket was opened may have been shut out since.
        if !self.is_admitted().await {
            return false;
        }
        if method == "permission/request" {
            self.request(id, params);
            return true;
        }
        let outcome = self.call(method, params).await;
        match id {
            Some(id) => self.answers.try_send(response(&id, outcome)).is_ok(),
            None => true,
        }
    }

    async fn call(&mut self, method: &str, params: &Map<String, Value>) -> Outcome {
        let text = |key: &str| params.get(key).and_then(Value::as_str).unwrap_or_default();
        match method {
            "initialize" => Ok(self.initialize()),
            "initialized" => Ok(Value::Null),
            "permission/respond" => self.respond(params).await,
            "permission/pending" => self.pending(text("session_id")).await,
            "permission/stats" => self.stats().await,
            "status/get" => Ok(json!({
                "status": "ok", "claude_status": "idle", "version": env!("CARGO_PKG_VERSION"),
                "uptime_seconds": self.server.started.elapsed().as_secs(),
                "connected_clients": self.server.bus.clients(),
            })),
            "session/state" => self.session_state(text("session_id")).await,
            "session/active" => {
                let all = self.server.sessions.list().await.map_err(internal)?;
                Ok(json!({ "count": all.len(), "sessions": all }))
            }
            "client/session/focus" => self.focus(text("workspace_id"), text("session_id")),
            "workspace/list" => self.workspaces().await,
            "workspace/subscribe" | "workspace/unsubscribe" if text("workspace_id").is_empty() => {
                Err(wrong("workspace_id is required"))
            }
            "workspace/subscribe" => {
                // Nobody has more workspaces than that.
                if self.workspaces.len() < 1_000 {
                    self.workspaces.insert(text("workspace_id").into());
                }
                Ok(self.subscriptions())
            }
            "workspace/unsubscribe" => {
                self.workspaces.remove(text("workspace_id"));
                Ok(self.subscriptions())
            }
            "workspace/subscribeAll" => {
                self.workspaces.clear();
                Ok(self.subscriptions())
            }
            "workspace/subscriptions" => Ok(self.subscriptions()),
            "workspace/status" => {
                let id = text("workspace_id");
                let all = self.in_workspace(id).await?;
                Ok(
                    json!({ "workspace_id": id, "status": "running", "sessions": all, "is_subscribed":
                    self.workspaces.is_empty() || self.workspaces.contains(id) }),
                )
            }
            "workspace/session/history" => {
                let all = self.in_workspace(text("workspace_id")).await?;
                Ok(json!({ "total": all.len(), "sessions": all }))
            }
            _ => Err(RpcError(
                -32601,
                format!("Method not found: {}", hookctl::cli::one_line(method, 60)),
            )),
        }
    }

    fn initialize(&self) -> Value {
        json!({
            "protocolVersion": "1.0",
            "serverInfo": { "name": "hookctl-serve", "version": env!("CARGO_PKG_VERSION") },
            // Sessions are the agents' own: nothing can be sent to them and nothing stopped.
            "capabilities": {
                "agent": false, "git": false, "file": false, "repository": false,
                "notifications": [
                    "event/claude_hook_session", "event/claude_hook_permission", "event/claude_hook_tool_start",
                    "event/claude_hook_tool_end", "event/pty_permission", "event/pty_permission_resolved",
                ],
                "supportedAgents": ["claude"], "runtimeRegistry": { "runtimes": [] },
            },
            "clientId": self.id,
        })
    }

    async fn respond(&self, params: &Map<String, Value>) -> Outcome {
        let given =
            Given::read(params, &self.visitor).map_err(|why| RpcError(PARAMS, why.into()))?;
        let id = params.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
        match self.server.questions.answer(id, given).await {
            Ok(taken) => Ok(taken.to_json()),
            Err(Refused::Store(error)) => Err(internal(error)),
            Err(refused) => Err(RpcError(INTERNAL, refused.message().into())),
        }
    }

    async fn pending(&self, session: &str) -> Outcome {
        let session = Some(session.to_string()).filter(|session| !session.is_empty());
        let now = unix_milliseconds();
        let open = self.server.store.run(move |tx| question::open(tx, session.as_deref(), now));
        let requests: Vec<Value> = open
            .await
            .map_err(internal)?
            .iter()
            .map(|one| {
                let mut out = one.to_json();
                out["created_at"] = format_time(one.created).into();
                out
            })
            .collect();
        Ok(json!({ "count": requests.len(), "requests": requests }))
    }

    async fn stats(&self) -> Outcome {
        let now = unix_milliseconds();
        let size = self.server.store.run(move |tx| crate::store::memory::size(tx, now)).await;
        let (patterns, sessions) = size.map_err(internal)?;
        let waiting = self.server.questions.waiting_hooks();
        Ok(
            json!({ "active_sessions": sessions, "total_patterns": patterns, "pending_requests": waiting }),
        )
    }

    async fn session_state(&self, id: &str) -> Outcome {
        if id.is_empty() {
            return Err(wrong("session_id is required"));
        }
        let found = self.server.sessions.find(id).await.map_err(internal)?;
        let Some(session) = found else {
            return Err(RpcError(INTERNAL, "session not found".into()));
        };
        let (now, own) = (unix_milliseconds(), id.to_string());
        let open = self.server.store.run(move |tx| question::open(tx, Some(&own), now));
        let open = open.await.map_err(internal)?;
        let first = open.first();
        let time = |key: &str| format_time(session[key].as_u64().unwrap_or_default());
        Ok(json!({
            "session_id": id, "claude_session_id": id, "workspace_id": session["workspace_id"],
            "claude_state": if first.is_some() { "waiting" } else { "running" },
            "status": "running", "is_running": true, "state": session["state"],
            "waiting_for_input": first.is_some(),
            "pending_tool_use_id": first.map(|one| &one.id), "pending_tool_name": first.map(|one| &one.tool),
            "started_at": time("start_time"), "last_active": time("last_activity"),
        }))
    }

    fn focus(&self, workspace: &str, session: &str) -> Outcome {
        if session.is_empty() {
            return Err(wrong("session_id is required"));
        }
        let mut payload = Map::new();
        payload.insert("client_id".into(), self.id.clone().into());
        self.server.bus.publish("session_joined", session, workspace, payload);
        Ok(json!({ "success": true, "workspace_id": workspace, "session_id": session }))
    }

    fn subscriptions(&self) -> Value {
        let all = &self.workspaces;
        json!({ "success": true, "workspaces": all, "count": all.len(), "filtering": !all.is_empty() })
    }

    async fn workspaces(&self) -> Outcome {
        let sessions = self.server.sessions.list().await.map_err(internal)?;
        let mut all: HashMap<String, (Value, Vec<Value>)> = HashMap::new();
        for session in sessions {
            let name = session["workspace_id"].as_str().unwrap_or_default().to_string();
            all.entry(name).or_insert_with(|| (session["cwd"].clone(), Vec::new())).1.push(session);
        }
        let mut out: Vec<Value> = all
            .into_iter()
            .map(|(id, (path, sessions))| json!({ "id": id, "name": id, "path": path, "sessions": sessions }))
            .collect();
        out.sort_by_key(|one| one["id"].as_str().map(String::from));
        Ok(json!({ "workspaces": out }))
    }

    async fn in_workspace(&self, id: &str) -> Result<Vec<Value>, RpcError> {
        let all = self.server.sessions.list().await.map_err(internal)?;
        Ok(all.into_iter().filter(|one| one["workspace_id"] == id).collect())
    }

    /// The question of a hook that speaks over the socket. It fails closed.
    fn request(&self, id: Option<Value>, params: &Map<String, Value>) {
        let (server, answers) = (Arc::clone(&self.server), self.answers.clone());
        let mut raw = params.clone();
        raw.insert("hook_event_name".into(), "PreToolUse".into());
        let mut post = Post::new(raw);
        post.requester.clone_from(&self.visitor.device.person);
        let missing = ["session_id", "tool_name", "tool_use_id"]
            .into_iter()
            .find(|key| post.field(key).is_empty());
        tokio::spawn(async move {
            let outcome = match missing {
                Some(key) => Err(wrong(&format!("{key} is required"))),
                None => {
                    // The socket that asks is dropped with its question.
                    let answer = tokio::select! {
                        answer = server.questions.ask(&post, REQUEST) => answer,
                        () = answers.closed() => return,
                    };
                    let mut out = answer.to_hook_json();
                    if answer.decision == "ask" {
                        out["decision"] = "deny".into();
                    }
                    Ok(out)
                }
            };
            if let Some(id) = id {
                // Whoever asked may be gone.
                let _ = answers.try_send(response(&id, outcome));
            }
        });
    }
}

fn internal(error: crate::store::StoreError) -> RpcError {
    tracing::error!("{error}");
    RpcError(INTERNAL, "the database cannot be used".into())
}

fn response(id: &Value, outcome: Outcome) -> String {
    match outcome {
        Ok(result) => json!({ "jsonrpc": "2.0", "id": id, "result": result }),
        Err(RpcError(code, message)) => {
            json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": message } })
        }
    }
    .to_string()
}

/// False where the client does not take it in time, or holds up too much meanwhile.
async fn send(
    out: &mut SplitSink<WebSocket, Message>,
    listener: &Listener,
    message: Message,
) -> bool {
    let sent = out.send(message);
    tokio::pin!(sent);
    let begun = Instant::now();
    loop {
        match tokio::time::timeout(PIECE, &mut sent).await {
            Ok(sent) => return sent.is_ok(),
            Err(_) if begun.elapsed() > WRITE || listener.is_behind() => return false,
            Err(_) => {}
        }
    }
}
