//! The approval server as a whole: the real program on a port of its own, hooks and humans as plain clients.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tempfile::TempDir;
use tungstenite::client::IntoClientRequest as _;
use tungstenite::{Message, WebSocket};

#[path = "serve/bridge.rs"]
mod bridge;
#[path = "serve/connect.rs"]
mod connect;
#[path = "serve/conversation.rs"]
mod conversation;
#[path = "serve/protocol.rs"]
mod protocol;
#[path = "serve/quorum.rs"]
mod quorum;
#[cfg(unix)]
#[path = "serve/replicas.rs"]
mod replicas;
#[path = "serve/security.rs"]
mod security;
#[path = "serve/tls.rs"]
mod tls;

/// Whoever waits for another process looks again until then.
const PATIENCE: Duration = Duration::from_secs(10);

/// A server, its home, and the token of a device.
struct Serve {
    home: TempDir,
    child: Child,
    address: SocketAddr,
    token: String,
    code: String,
}

impl Drop for Serve {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Where the tests are to run on PostgreSQL: a schema of its own for each home. `HOOKCTL_TEST_POSTGRES` is an address
/// of a database in which schemas may be made.
fn database(home: &TempDir) -> Option<String> {
    let url = std::env::var("HOOKCTL_TEST_POSTGRES").ok()?;
    let name = home.path().file_name()?.to_str()?.to_ascii_lowercase();
    let schema = format!("t{}_{}", std::process::id(), name.trim_start_matches('.'));
    psql(&url, &format!("CREATE SCHEMA IF NOT EXISTS {schema}"));
    let mark = if url.contains('?') { '&' } else { '?' };
    Some(format!("{url}{mark}options=-c%20search_path%3D{schema}"))
}

fn psql(url: &str, sql: &str) {
    let out = Command::new("psql").args(["-qc", sql, url]).output().expect("psql");
    assert!(out.status.success(), "{sql}: {}", String::from_utf8_lossy(&out.stderr));
}

fn command(home: &TempDir, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_hookctl-serve"));
    if let Some(database) = database(home).filter(|_| !arguments.contains(&"--database")) {
        command.args(["--database", &database]);
    }
    command.args(arguments).env_clear().env("HOME", home.path()).env("PATH", "/usr/bin:/bin");
    command
}

/// Starts it: where it listens, and the code for pairing that it prints.
fn start(home: &TempDir, arguments: &[&str]) -> (Child, SocketAddr, String) {
    let mut all = vec!["--port", "0", "--pair"];
    all.extend(arguments);
    let mut command = command(home, &all);
    let mut child =
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the server");
    let mut log = BufReader::new(child.stderr.take().expect("stderr"));
    let mut line = String::new();
    let address = loop {
        line.clear();
        assert!(log.read_line(&mut line).expect("a log") > 0, "it ended");
        if let Some((_, url)) = line.split_once("://") {
            break url.trim().parse().expect("an address");
        }
    };
    // Its log goes on, and must not fill up.
    thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
    let mut out = BufReader::new(child.stdout.take().expect("stdout"));
    let code = loop {
        line.clear();
        assert!(out.read_line(&mut line).expect("an output") > 0, "no code");
        if let Some((_, code)) = line.trim().split_once("/pair#") {
            break code.to_string();
        }
    };
    thread::spawn(move || std::io::copy(&mut out, &mut std::io::sink()));
    (child, address, code)
}

/// An answer: status, headers, body.
struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body)
            .unwrap_or_else(|_| panic!("no JSON: {} {}", self.status, self.body))
    }
}

/// One request of its own connection.
fn send(
    address: SocketAddr,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Answer {
    let mut stream = TcpStream::connect(address).expect("a connection");
    let mut head = format!(
        "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
        body.len()
    );
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head += &format!("Host: {address}\r\n");
    }
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    // A server that refuses early may not read all of it.
    let _ = stream.write_all(format!("{head}\r\n{body}").as_bytes());
    read_answer(&mut stream)
}

fn read_answer(stream: &mut TcpStream) -> Answer {
    stream.set_read_timeout(Some(Duration::from_secs(90))).unwrap();
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
    Answer { status, head: head.to_ascii_lowercase(), body: body.into() }
}

impl Serve {
    fn new(arguments: &[&str]) -> Serve {
        let home = tempfile::tempdir().unwrap();
        Serve::at(home, arguments)
    }

    fn at(home: TempDir, arguments: &[&str]) -> Serve {
        let (child, address, code) = start(&home, arguments);
        let mut serve = Serve { home, child, address, token: String::new(), code };
        serve.token =
            serve.exchange(&serve.code, "phone").json()["access_token"].as_str().unwrap().into();
        serve
    }

    fn exchange(&self, code: &str, name: &str) -> Answer {
        let body = json!({ "code": code, "name": name }).to_string();
        send(
            self.address,
            "POST",
            "/api/auth/exchange",
            &[("Content-Type", "application/json")],
            &body,
        )
    }

    fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    fn get(&self, path: &str) -> Value {
        let answer = send(self.address, "GET", path, &[("Authorization", &self.bearer())], "");
        assert_eq!(answer.status, 200, "{path}: {}", answer.body);
        answer.json()
    }

    fn hook(&self, name: &str, body: &Value) -> Answer {
        send(self.address, "POST", &format!("/api/hooks/{name}"), &[], &body.to_string())
    }

    /// A hook that waits.
    fn ask(&self, question: Value) -> JoinHandle<Value> {
        let address = self.address;
        thread::spawn(move || {
            send(address, "POST", "/api/hooks/permission-request", &[], &question.to_string())
                .json()
        })
    }

    /// Waits until so many questions are open.
    fn pending(&self, count: usize) -> Vec<Value> {
        let end = Instant::now() + PATIENCE;
        loop {
            let pending = self.get("/api/state")["pending"].as_array().unwrap().clone();
            if pending.len() == count {
                return pending;
            }
            assert!(Instant::now() < end, "{count} wanted: {pending:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn answer(&self, id: &str, decision: &str, scope: &str, reason: &str) -> Answer {
        let body =
            json!({ "tool_use_id": id, "decision": decision, "scope": scope, "reason": reason });
        let headers =
            [("Authorization", self.bearer()), ("Content-Type", "application/json".into())];
        let headers: Vec<(&str, &str)> =
            headers.iter().map(|(name, value)| (*name, value.as_str())).collect();
        send(self.address, "POST", "/api/answer", &headers, &body.to_string())
    }

    fn connect(&self) -> App {
        let mut request = format!("ws://{}/ws", self.address).into_client_request().unwrap();
        request.headers_mut().insert("Authorization", self.bearer().parse().unwrap());
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let (socket, _) = tungstenite::client(request, stream).expect("a socket");
        App { socket, next: 0, events: Vec::new() }
    }

    fn run(&self, arguments: &[&str]) -> (i32, String) {
        let out = command(&self.home, arguments).output().unwrap();
        let text = [out.stdout, out.stderr].concat();
        (out.status.code().unwrap_or(-1), String::from_utf8_lossy(&text).into_owned())
    }
}

/// An app on the socket.
struct App {
    socket: WebSocket<TcpStream>,
    next: u64,
    events: Vec<Value>,
}

impl App {
    fn read(&mut self) -> Value {
        loop {
            match self.socket.read().expect("a frame") {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                Message::Ping(_) | Message::Pong(_) => {}
                other => panic!("{other:?}"),
            }
        }
    }

    /// The next event of that name.
    fn event(&mut self, name: &str) -> Value {
        let method = format!("event/{name}");
        if let Some(at) = self.events.iter().position(|event| event["method"] == method) {
            return self.events.remove(at)["params"].take();
        }
        loop {
            let mut frame = self.read();
            if frame["method"] == method {
                return frame["params"].take();
            }
            self.events.push(frame);
        }
    }

    fn call(&mut self, method: &str, params: Value) -> Value {
        self.next += 1;
        let own = self.next.to_string();
        let frame = json!({ "jsonrpc": "2.0", "id": own, "method": method, "params": params });
        self.socket.send(Message::text(frame.to_string())).unwrap();
        loop {
            let frame = self.read();
            if frame["id"] == own {
                assert_eq!(frame["jsonrpc"], "2.0");
                return frame;
            }
            self.events.push(frame);
        }
    }
}

fn bash(session: &str, id: &str, command: &str) -> Value {
    json!({
        "session_id": session, "transcript_path": "/t.jsonl", "cwd": "/home/dev/project", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_use_id": id,
        "tool_input": { "command": command, "description": "Run it" },
    })
}

#[track_caller]
fn has_keys(value: &Value, keys: &[&str]) {
    for key in keys {
        assert!(value.get(key).is_some(), "{key} is missing in {value}");
    }
}

#[test]
fn s0_31_five_paths_answer_as_cdev_does() {
    let serve = Serve::new(&["--answer-within", "1"]);
    for name in ["session", "notification", "permission", "tool-start", "tool-end", "anything"] {
        let answer = serve.hook(name, &json!({ "session_id": "s" }));
        assert_eq!((answer.status, answer.body.as_str()), (200, "{\"ok\":true}"), "{name}");
    }
    let asked = serve.hook("permission-request", &bash("s", "t1", "npm test"));
    assert_eq!(asked.json(), json!({ "decision": "ask", "message": "timeout" }));
    let get = send(serve.address, "GET", "/api/hooks/session", &[], "");
    assert_eq!((get.status, get.body.as_str()), (405, "Method not allowed"));
    let bad = send(serve.address, "POST", "/api/hooks/permission-request", &[], "no JSON");
    assert_eq!(bad.json(), json!({ "decision": "ask", "message": "invalid_request" }));
    let bad = send(serve.address, "POST", "/api/hooks/session", &[], "no JSON");
    assert_eq!(bad.body, "{\"ok\":true}");
    let mut bypass = bash("s", "t2", "npm test");
    bypass["permission_mode"] = "bypassPermissions".into();
    let bypass = serve.hook("permission-request", &bypass).json();
    assert_eq!(
        (&bypass["decision"], &bypass["message"]),
        (&json!("allow"), &json!("bypass_permissions"))
    );
    let health = send(serve.address, "GET", "/health", &[("Host", "anything")], "");
    assert_eq!(health.json()["status"], "ok");
}

#[test]
fn s0_32_s0_33_each_path_publishes_its_event_with_its_fields() {
    let serve = Serve::new(&[]);
    let mut apps = [serve.connect(), serve.connect()];
    let common = json!({
        "session_id": "s", "cwd": "/home/dev/project", "transcript_path": "/t", "permission_mode": "default",
        "hook_event_name": "X", "message": "m", "notification_type": "permission_prompt", "tool_name": "Bash",
        "tool_input": { "command": "ls" }, "tool_response": { "stdout": "a" }, "tool_use_id": "t", "own": 7,
    });
    for (path, event, keys) in [
        (
            "session",
            "claude_hook_session",
            &["session_id", "cwd", "transcript_path", "permission_mode", "source", "tool"][..],
        ),
        (
            "notification",
            "claude_hook_permission",
            &[
                "session_id",
                "cwd",
                "message",
                "notification_type",
                "transcript_path",
                "hook_event_name",
            ],
        ),
        (
            "tool-start",
            "claude_hook_tool_start",
            &[
                "session_id",
                "cwd",
                "tool_name",
                "tool_input",
                "tool_use_id",
                "transcript_path",
                "permission_mode",
                "hook_event_name",
            ],
        ),
        (
            "tool-end",
            "claude_hook_tool_end",
            &[
                "session_id",
                "cwd",
                "tool_name",
                "tool_result",
                "tool_use_id",
                "transcript_path",
                "hook_event_name",
                "tool_input",
                "tool_response",
            ],
        ),
    ] {
        assert_eq!(serve.hook(path, &common).status, 200);
        for app in &mut apps {
            let payload = app.event(event);
            has_keys(&payload, keys);
            assert_eq!((&payload["own"], &payload["workspace_id"]), (&json!(7), &json!("project")));
            assert!(payload["timestamp"].as_u64().unwrap() > 1_000_000_000_000_000_000);
            if event == "claude_hook_session" {
                assert_eq!(
                    (&payload["source"], &payload["tool"]),
                    (&json!("external"), &json!("claude_code"))
                );
            }
            if event == "claude_hook_tool_end" {
                assert_eq!(payload["tool_result"], json!({ "stdout": "a" }));
            }
        }
    }
}

#[test]
fn s0_34_s0_35_s0_36_s0_37_a_question_is_told_whole_and_answered_once() {
    let serve = Serve::new(&[]);
    let mut app = serve.connect();
    let asking = serve.ask(bash("s", "t1", "npm test"));
    let told = app.event("pty_permission");
    for (key, value) in [
        ("tool_use_id", "t1"),
        ("type", "bash_command"),
        ("target", "npm test"),
        ("description", "Run it"),
        ("preview", ""),
        ("session_id", "s"),
        ("workspace_id", "project"),
        ("cwd", "/home/dev/project"),
        ("tool_name", "Bash"),
        ("session_pattern", "Bash(npm test:*)"),
    ] {
        assert_eq!(told[key], value, "{key}");
    }
    let options = json!([
        { "key": "allow_once", "label": "Allow Once", "description": "Allow this one request", "selected": false },
        { "key": "allow_session", "label": "Allow for Session", "description": "Allow similar requests for this session", "selected": false },
        { "key": "deny", "label": "Deny", "description": "Deny this request", "selected": false },
    ]);
    assert_eq!(told["options"], options);
    assert!(told["effects"].as_str().unwrap().contains("npm"), "{told}");
    for (params, code, message) in [
        (json!({}), -32602, "tool_use_id is required"),
        (json!({ "tool_use_id": "t1" }), -32602, "decision is required"),
        (
            json!({ "tool_use_id": "t1", "decision": "maybe" }),
            -32602,
            "decision must be 'allow' or 'deny'",
        ),
        (
            json!({ "tool_use_id": "other", "decision": "allow" }),
            -32603,
            "Request not found or already responded",
        ),
    ] {
        let error = &app.call("permission/respond", params)["error"];
        assert_eq!((&error["code"], &error["message"]), (&json!(code), &json!(message)));
    }
    let answered =
        app.call("permission/respond", json!({ "tool_use_id": "t1", "decision": "allow" }));
    assert_eq!(
        answered["result"],
        json!({ "success": true, "decision": "allow", "scope": "once", "pattern": "" })
    );
    assert_eq!(
        asking.join().unwrap(),
        json!({ "decision": "allow", "pattern": "", "scope": "once" })
    );
    assert_eq!(app.call("no/such", json!({}))["error"]["code"], -32601);
}

#[test]
fn s0_38_the_first_answer_wins_and_both_are_told() {
    let serve = Serve::new(&[]);
    let mut apps = [serve.connect(), serve.connect()];
    let asking = serve.ask(bash("s", "t1", "npm test"));
    apps.iter_mut().for_each(|app| drop(app.event("pty_permission")));
    let params = |decision: &str| json!({ "tool_use_id": "t1", "decision": decision });
    let first = apps[0].call("permission/respond", params("deny"));
    let second = apps[1].call("permission/respond", params("allow"));
    assert_eq!(first["result"]["success"], true);
    assert_eq!(second["error"]["code"], -32603);
    for app in &mut apps {
        let over = app.event("pty_permission_resolved");
        assert_eq!(
            (&over["tool_use_id"], &over["input"], &over["decision"]),
            (&json!("t1"), &json!("deny"), &json!("deny"))
        );
        assert_eq!((&over["session_id"], &over["workspace_id"]), (&json!("s"), &json!("project")));
    }
    assert_eq!(asking.join().unwrap()["decision"], "deny");
    assert_eq!(serve.answer("t1", "allow", "once", "").status, 409);
}

#[test]
fn s0_38_of_many_answers_at_once_one_is_taken() {
    let serve = Serve::new(&[]);
    for round in 0..10 {
        let id = format!("t{round}");
        let asking = serve.ask(bash("s", &id, "npm test; x"));
        serve.pending(1);
        let taken: Vec<u16> = thread::scope(|scope| {
            let all: Vec<_> = (0..8)
                .map(|n| {
                    scope.spawn({
                        let (serve, id) = (&serve, &id);
                        move || serve.answer(id, ["allow", "deny"][n % 2], "once", "").status
                    })
                })
                .collect();
            all.into_iter().map(|one| one.join().unwrap()).collect()
        });
        assert_eq!(taken.iter().filter(|status| **status == 200).count(), 1, "{taken:?}");
        assert!(taken.iter().all(|status| [200, 409].contains(status)));
        asking.join().unwrap();
    }
}

#[test]
fn s0_39_who_comes_back_learns_what_is_open() {
    let serve = Serve::new(&["--answer-within", "5"]);
    let asking = [serve.ask(bash("a", "t1", "npm test")), serve.ask(bash("b", "t2", "ls"))];
    serve.pending(2);
    let mut app = serve.connect();
    let all = app.call("permission/pending", json!({}));
    assert_eq!(all["result"]["count"], 2);
    let one =
        &app.call("permission/pending", json!({ "session_id": "b" }))["result"]["requests"][0];
    has_keys(
        one,
        &["tool_use_id", "session_id", "workspace_id", "tool_name", "tool_input", "created_at"],
    );
    assert_eq!((&one["tool_use_id"], &one["tool_input"]["command"]), (&json!("t2"), &json!("ls")));
    let state = app.call("session/state", json!({ "session_id": "b" }));
    assert_eq!(
        (&state["result"]["claude_state"], &state["result"]["pending_tool_use_id"]),
        (&json!("waiting"), &json!("t2"))
    );
    assert_eq!(
        app.call("session/state", json!({ "session_id": "none" }))["error"]["message"],
        "session not found"
    );
    let stats = app.call("permission/stats", json!({}));
    assert_eq!(stats["result"]["pending_requests"], 2);
    // Two sessions, and each hook gets its own answer (S0-48).
    assert_eq!(serve.answer("t2", "deny", "once", "not now").status, 200);
    assert_eq!(serve.answer("t1", "allow", "once", "").status, 200);
    let answers = asking.map(|one| one.join().unwrap());
    assert_eq!(answers[0]["decision"], "allow");
    assert_eq!(
        answers[1],
        json!({ "decision": "deny", "pattern": "", "scope": "once", "message": "not now" })
    );
}

#[test]
fn s0_40_the_socket_has_a_heartbeat_and_cdevs_methods() {
    let serve = Serve::new(&["--heartbeat", "1"]);
    let mut app = serve.connect();
    let hello = app.call(
        "initialize",
        json!({ "protocolVersion": "1.0", "clientInfo": { "name": "x", "version": "1" } }),
    );
    has_keys(&hello["result"], &["protocolVersion", "serverInfo", "capabilities", "clientId"]);
    let beat = loop {
        let frame = app.read();
        if frame["event"] == "heartbeat" {
            break frame;
        }
    };
    has_keys(&beat["payload"], &["server_time", "sequence", "claude_status", "uptime_seconds"]);
    // What is no request is passed over, and what has no id is carried out.
    for frame in ["no JSON", "[]", "null", "{\"id\":1,\"method\":\"status/get\"}"] {
        app.socket.send(Message::text(frame)).unwrap();
    }
    assert_eq!(app.call("status/get", json!({}))["result"]["status"], "ok");
    assert_eq!(
        app.call("workspace/subscribe", json!({ "workspace_id": "other" }))["result"]["filtering"],
        true
    );
    // Of other workspaces it hears what waits for a human, and nothing else.
    serve.hook("session", &json!({ "session_id": "s", "cwd": "/x/project" }));
    let asking = serve.ask(bash("s", "t1", "npm test"));
    let told = loop {
        let frame = app.read();
        assert_ne!(frame["method"], "event/claude_hook_session");
        if frame["method"] == "event/pty_permission" {
            break frame;
        }
    };
    assert_eq!(told["params"]["tool_use_id"], "t1");
    let quiet = json!({ "jsonrpc": "2.0", "method": "permission/respond", "params": { "tool_use_id": "t1", "decision": "allow" } });
    app.socket.send(Message::text(quiet.to_string())).unwrap();
    assert_eq!(asking.join().unwrap()["decision"], "allow");
}

#[test]
fn s0_40_too_many_frames_close_the_socket() {
    let serve = Serve::new(&[]);
    let mut app = serve.connect();
    let frame = json!({ "jsonrpc": "2.0", "method": "initialized" }).to_string();
    let sent =
        (0..2_000).take_while(|_| app.socket.send(Message::text(frame.clone())).is_ok()).count();
    let closed = (0..3).any(|_| app.socket.read().is_err() || sent < 2_000);
    assert!(closed, "{sent}");
    assert_eq!(serve.get("/api/state")["pending"], json!([]));
}

#[test]
fn s0_41_without_an_answer_it_is_a_question_again() {
    let serve = Serve::new(&["--answer-within", "1"]);
    let start = Instant::now();
    let asked = serve.ask(bash("s", "t1", "npm test")).join().unwrap();
    assert_eq!(asked, json!({ "decision": "ask", "message": "timeout" }));
    assert!((900..4_000).contains(&start.elapsed().as_millis()), "{:?}", start.elapsed());
    serve.pending(0);
    let late = serve.answer("t1", "allow", "session", "");
    assert_eq!(late.status, 409);
    // Nothing of the late answer is remembered.
    assert_eq!(serve.ask(bash("s", "t2", "npm test")).join().unwrap()["decision"], "ask");
}

#[test]
fn s0_42_s0_43_s0_44_s0_45_s0_46_the_table_of_sessions_follows_the_events() {
    let serve = Serve::new(&[]);
    let session = || {
        let all = serve.get("/api/state")["sessions"].clone();
        assert_eq!(all.as_array().unwrap().len(), 1, "no session twice: {all}");
        all[0].clone()
    };
    let post = |path: &str, mut more: Value| {
        more["session_id"] = "s".into();
        more["cwd"] = "/home/dev/project".into();
        assert_eq!(serve.hook(path, &more).status, 200);
    };
    post("session", json!({}));
    let first = session();
    has_keys(
        &first,
        &[
            "session_id",
            "cwd",
            "start_time",
            "last_activity",
            "current_tool",
            "tool_history",
            "has_pending_permission",
        ],
    );
    assert_eq!((&first["state"], &first["kind"]), (&json!("start"), &json!("external")));
    post("session", json!({}));
    let call =
        json!({ "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_use_id": "t1" });
    post("tool-start", call.clone());
    assert_eq!(
        (&session()["current_tool"], &session()["state"]),
        (&json!("Bash"), &json!("tool_running"))
    );
    assert_eq!(session()["tool_history"][0]["end"], Value::Null);
    let mut ended = call.clone();
    ended["tool_response"] = json!({ "stdout": "a.txt", "interrupted": false });
    post("tool-end", ended);
    let entry = session()["tool_history"][0].clone();
    assert_eq!(
        (&entry["tool"], &entry["input"], &entry["output"], &entry["is_error"]),
        (&json!("Bash"), &json!("ls"), &json!("a.txt"), &json!(false))
    );
    assert!(entry["end"].as_u64().unwrap() >= entry["start"].as_u64().unwrap());
    assert_eq!((&session()["current_tool"], &session()["state"]), (&Value::Null, &json!("active")));
    let mut failed = json!({ "tool_name": "Bash", "tool_use_id": "t2", "hook_event_name": "PostToolUseFailure", "error": "no" });
    post("tool-end", failed.take());
    assert!(
        session()["tool_history"].as_array().unwrap().iter().any(|one| one["is_error"] == true)
    );
    // The agent asks on the desktop, until its tool has run.
    post(
        "notification",
        json!({ "message": "Claude needs you", "notification_type": "permission_prompt" }),
    );
    assert_eq!(
        (&session()["has_pending_permission"], &session()["answer_on_desktop"]),
        (&json!(true), &json!(true))
    );
    post("tool-end", call);
    assert_eq!(session()["has_pending_permission"], false);
    // A human is asked here, until the answer.
    let asking = serve.ask(bash("s", "t3", "npm test"));
    serve.pending(1);
    assert_eq!(
        (&session()["state"], &session()["current_tool"]),
        (&json!("permission_pending"), &json!("Bash"))
    );
    serve.answer("t3", "deny", "once", "");
    asking.join().unwrap();
    assert_eq!(session()["has_pending_permission"], false);
}

#[test]
fn s0_47_a_stale_session_goes_and_comes_back() {
    let serve = Serve::new(&["--stale-after", "1"]);
    let count = || serve.get("/api/state")["sessions"].as_array().unwrap().len();
    let event = json!({ "session_id": "s", "cwd": "/x" });
    serve.hook("session", &event);
    assert_eq!(count(), 1);
    thread::sleep(Duration::from_millis(1_200));
    assert_eq!(count(), 0);
    serve.hook("session", &event);
    assert_eq!(count(), 1);
}

#[test]
fn s0_48_sessions_never_mix() {
    let serve = Serve::new(&[]);
    for (session, cwd) in [("a", "/x/one"), ("b", "/x/two")] {
        let call = json!({ "session_id": session, "cwd": cwd, "tool_name": "Bash", "tool_input": { "command": session }, "tool_use_id": "same" });
        serve.hook("tool-start", &call);
    }
    let sessions = serve.get("/api/state")["sessions"].clone();
    for one in sessions.as_array().unwrap() {
        assert_eq!(one["tool_history"].as_array().unwrap().len(), 1);
        assert_eq!(one["tool_history"][0]["input"], one["session_id"]);
    }
    // The same id for another call is no leave for it.
    let asking = serve.ask(bash("a", "t1", "npm test"));
    serve.pending(1);
    let other = serve.hook("permission-request", &bash("b", "t1", "rm -rf x")).json();
    assert_eq!(other, json!({ "decision": "ask", "message": "duplicate_tool_use_id" }));
    serve.answer("t1", "allow", "once", "");
    assert_eq!(asking.join().unwrap()["decision"], "allow");
    let other = serve.hook("permission-request", &bash("a", "t1", "rm -rf x")).json();
    assert_eq!(other["message"], "duplicate_tool_use_id", "an answer is for its own call");
}

#[test]
fn s0_53_a_human_who_does_not_look_is_told() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/topic", listener.local_addr().unwrap());
    let serve = Serve::new(&["--ntfy", &url, "--answer-within", "2"]);
    let asking = serve.ask(bash("s", "t1", "secret-command"));
    let (mut stream, _) = listener.accept().unwrap();
    stream.set_read_timeout(Some(Duration::from_millis(500))).unwrap();
    let (mut all, mut piece) = (String::new(), [0; 4096]);
    while let Ok(count @ 1..) = stream.read(&mut piece) {
        all += &String::from_utf8_lossy(&piece[..count]);
    }
    let _ = stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    assert!(
        all.to_lowercase().contains("title: hookctl")
            && all.ends_with("Bash in project needs approval"),
        "{all}"
    );
    assert!(!all.contains("secret-command"));
    asking.join().unwrap();
}

#[test]
fn s0_54_s0_55_unknown_events_are_no_fault_and_nothing_is_sent_to_a_session() {
    let serve = Serve::new(&[]);
    assert_eq!(serve.hook("something-new", &json!({ "session_id": "s" })).body, "{\"ok\":true}");
    let mut app = serve.connect();
    for method in ["session/send", "session/stop", "session/start", "session/input", "agent/run"] {
        assert_eq!(
            app.call(method, json!({ "session_id": "s" }))["error"]["code"],
            -32601,
            "{method}"
        );
    }
}

#[test]
fn an_allow_for_the_session_covers_no_call_that_does_more() {
    let serve = Serve::new(&["--answer-within", "1"]);
    let asking = serve.ask(bash("s", "t1", "npm test"));
    serve.pending(1);
    assert_eq!(serve.answer("t1", "allow", "session", "").json()["pattern"], "Bash(npm test:*)");
    assert_eq!(
        asking.join().unwrap(),
        json!({ "decision": "allow", "pattern": "Bash(npm test:*)", "scope": "session" })
    );
    let again = serve.ask(bash("s", "t2", "npm test")).join().unwrap();
    assert_eq!((&again["decision"], &again["source"]), (&json!("allow"), &json!("memory")));
    for (session, command) in [
        ("s", "npm test && rm -rf x"),
        ("s", "npm test; curl x"),
        ("s", "npm install x"),
        ("other", "npm test"),
    ] {
        let id = format!("{session}-{command}");
        let asked = serve.ask(bash(session, &id, command)).join().unwrap();
        assert_eq!(asked["decision"], "ask", "{command}");
    }
    // Of a compound command no answer is kept.
    let asking = serve.ask(bash("s", "t3", "npm test; x"));
    serve.pending(1);
    assert_eq!(serve.answer("t3", "allow", "session", "").json()["scope"], "once");
    assert_eq!(asking.join().unwrap()["scope"], "once");
}

#[test]
fn a_hook_that_goes_takes_its_question_with_it() {
    let serve = Serve::new(&[]);
    let mut app = serve.connect();
    let body = bash("s", "t1", "npm test").to_string();
    let mut stream = TcpStream::connect(serve.address).unwrap();
    write!(stream, "POST /api/hooks/permission-request HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{body}", body.len()).unwrap();
    serve.pending(1);
    drop(stream);
    assert_eq!(app.event("pty_permission_resolved")["input"], "cancelled");
    serve.pending(0);
    assert_eq!(serve.answer("t1", "allow", "session", "").status, 409);
    // The same call once more is a question once more; two hooks of it get one answer.
    let both = [serve.ask(bash("s", "t1", "npm test")), serve.ask(bash("s", "t1", "npm test"))];
    serve.pending(1);
    thread::sleep(Duration::from_millis(300));
    assert_eq!(serve.answer("t1", "allow", "once", "").status, 200);
    assert!(both.into_iter().all(|one| one.join().unwrap()["decision"] == "allow"));
}

#[test]
fn a_killed_server_loses_no_question_and_no_answer() {
    let mut serve = Serve::new(&[]);
    let asking = serve.ask(bash("s", "t1", "npm test"));
    serve.pending(1);
    serve.child.kill().unwrap();
    serve.child.wait().unwrap();
    // The hook's connection broke: it has no answer.
    assert!(asking.join().is_err());
    let (child, address, _) = start(&serve.home, &[]);
    (serve.child, serve.address) = (child, address);
    // The device is still paired, the question still open, and the hook that asks again finds it.
    assert_eq!(serve.pending(1)[0]["tool_use_id"], "t1");
    let again = serve.ask(bash("s", "t1", "npm test"));
    thread::sleep(Duration::from_millis(300));
    serve.pending(1);
    assert_eq!(serve.answer("t1", "deny", "once", "no").status, 200);
    assert_eq!(again.join().unwrap()["message"], "no");
    // An answer that was taken and not heard is heard by who asks again.
    let heard = serve.ask(bash("s", "t1", "npm test")).join().unwrap();
    assert_eq!(heard["decision"], "deny");
    assert_eq!(serve.run(&["audit", "verify"]).0, 0);
}

#[test]
fn nobody_without_a_token_sees_answers_or_asks() {
    let serve = Serve::new(&[]);
    let json = ("Content-Type", "application/json");
    for wrong in [None, Some("Bearer wrong"), Some("Bearer "), Some("Basic x")] {
        let headers: Vec<(&str, &str)> =
            wrong.map(|value| ("Authorization", value)).into_iter().chain([json]).collect();
        for (method, path) in [
            ("GET", "/api/state"),
            ("GET", "/api/history"),
            ("GET", "/api/counts"),
            ("POST", "/api/answer"),
            ("POST", "/api/logout"),
            ("GET", "/ws"),
        ] {
            let answer = send(serve.address, method, path, &headers, "{}");
            assert!([401, 429].contains(&answer.status), "{path} {wrong:?}: {}", answer.status);
            assert!(!answer.body.contains("session"));
        }
    }
    // From behind a proxy it is nobody of this machine.
    let body = bash("s", "t", "ls").to_string();
    for header in ["X-Forwarded-For", "Forwarded", "X-Real-IP", "Via"] {
        let answer = send(
            serve.address,
            "POST",
            "/api/hooks/permission-request",
            &[(header, "1.2.3.4")],
            &body,
        );
        assert_eq!(answer.status, 401, "{header}");
    }
    let token =
        std::fs::read_to_string(serve.home.path().join(".local/state/hookctl/serve/hook-token"))
            .unwrap();
    let right = format!("Bearer {}", token.trim());
    let answer = send(
        serve.address,
        "POST",
        "/api/hooks/session",
        &[("Via", "x"), ("Authorization", &right)],
        &body,
    );
    assert_eq!(answer.status, 200);
    // A hook's token answers nothing.
    assert_eq!(
        send(serve.address, "GET", "/api/state", &[("Authorization", &right)], "").status,
        401
    );
}

#[test]
fn other_pages_and_other_names_are_refused() {
    let serve = Serve::new(&[]);
    let bearer = serve.bearer();
    let body = bash("s", "t", "ls").to_string();
    for (name, value) in [
        ("Origin", "http://evil.example"),
        ("Origin", "null"),
        ("Origin", "http://localhost:3000"),
        ("Host", "evil.example"),
        ("Host", "evil.example:80"),
    ] {
        for (method, path) in [
            ("POST", "/api/hooks/permission-request"),
            ("GET", "/api/state"),
            ("POST", "/api/answer"),
            ("POST", "/api/pair"),
            ("GET", "/"),
        ] {
            let headers = [
                (name, value),
                ("Authorization", bearer.as_str()),
                ("Content-Type", "application/json"),
            ];
            assert_eq!(
                send(serve.address, method, path, &headers, &body).status,
                403,
                "{name}: {value} {path}"
            );
        }
    }
    serve.pending(0);
}

#[test]
fn a_cookie_needs_the_own_page_and_is_gone_after_logout() {
    let serve = Serve::new(&[]);
    let (_, text) = serve.run(&["pair"]);
    let code = text.split("/pair#").nth(1).unwrap().split_whitespace().next().unwrap();
    let json = ("Content-Type", "application/json");
    let paired =
        send(serve.address, "POST", "/api/pair", &[json], &json!({ "code": code }).to_string());
    assert_eq!(paired.status, 200, "{}", paired.body);
    let cookie =
        paired.head.lines().find_map(|line| line.strip_prefix("set-cookie: ")).unwrap().to_string();
    assert!(cookie.contains("httponly") && cookie.contains("samesite=strict"), "{cookie}");
    let cookie = cookie.split(';').next().unwrap().to_string();
    let key = paired.json()["key"].as_str().unwrap().to_string();
    let own = format!("http://{}", serve.address);
    let with = |method: &str, path: &str, origin: Option<&str>| {
        let mut headers = vec![("Cookie", cookie.as_str()), ("X-Hookctl-Key", &key), json];
        headers.extend(origin.map(|origin| ("Origin", origin)));
        send(serve.address, method, path, &headers, "{}").status
    };
    assert_eq!(with("GET", "/api/state", None), 200);
    assert_eq!(with("POST", "/api/answer", None), 403, "a browser always says whose page asks");
    assert_eq!(with("POST", "/api/answer", Some("http://localhost:1")), 403);
    assert_eq!(with("GET", "/ws", None), 403);
    assert_eq!(
        with("POST", "/api/answer", Some(&own)),
        400,
        "it comes through, and names no question"
    );
    assert_eq!(with("POST", "/api/logout", Some(&own)), 200);
    assert_eq!(with("GET", "/api/state", None), 401);
}

#[test]
fn a_code_pairs_once_and_guesses_run_out() {
    let serve = Serve::new(&[]);
    assert_eq!(serve.exchange(&serve.code, "thief").status, 401, "it is used");
    let tried: Vec<u16> =
        (0..300).map(|n| serve.exchange(&format!("AAAA{n:04}"), "x").status).collect();
    let looked_at = tried.iter().filter(|status| **status == 401).count();
    assert!(looked_at < 20 && tried.ends_with(&[429, 429]), "{looked_at}");
    // Who has a token is not held up by that.
    serve.get("/api/state");
    let (_, devices) = serve.run(&["devices"]);
    assert_eq!(devices.lines().count(), 1, "{devices}");
    let id = devices.split_whitespace().next().unwrap();
    assert_eq!(serve.run(&["devices", "revoke", id]).0, 0);
    let gone = send(serve.address, "GET", "/api/state", &[("Authorization", &serve.bearer())], "");
    assert_ne!(gone.status, 200);
}

#[test]
fn an_agent_pairs_nobody() {
    let home = tempfile::tempdir().unwrap();
    for arguments in [&["pair"][..], &["--pair", "--port", "0"], &["--open", "--port", "0"]] {
        let out = command(&home, arguments).env("CLAUDECODE", "1").output().unwrap();
        assert!(
            !out.status.success()
                && String::from_utf8_lossy(&out.stderr).contains("is for humans to say")
        );
        assert!(out.stdout.is_empty());
    }
}

#[test]
fn what_others_reach_is_refused_without_a_device() {
    let home = tempfile::tempdir().unwrap();
    let out = command(&home, &["--listen", "0.0.0.0", "--port", "0"]).output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("no device is paired"));
}

#[test]
fn large_and_slow_bodies_are_refused() {
    let serve = Serve::new(&["--answer-within", "1"]);
    let of_size = |size: usize| {
        let (head, tail) = ("{\"session_id\":\"s\",\"x\":\"", "\"}");
        format!("{head}{}{tail}", "y".repeat(size - head.len() - tail.len()))
    };
    assert_eq!(
        send(serve.address, "POST", "/api/hooks/session", &[], &of_size(1 << 20)).status,
        200
    );
    for path in ["session", "permission-request"] {
        let path = format!("/api/hooks/{path}");
        let answer = send(serve.address, "POST", &path, &[], &of_size((1 << 20) + 1));
        assert_eq!(answer.status, 413);
    }
    // One that never comes.
    let mut slow = TcpStream::connect(serve.address).unwrap();
    write!(slow, "POST /api/hooks/permission-request HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{{").unwrap();
    let mut headless = TcpStream::connect(serve.address).unwrap();
    write!(headless, "POST /api/hooks/session HTTP/1.1\r\nHost: lo").unwrap();
    let start = Instant::now();
    assert_eq!(read_answer(&mut slow).status, 408);
    let _ = read_answer(&mut headless);
    assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
}

#[test]
fn text_of_agents_is_data_and_the_page_runs_only_its_own_script() {
    let serve = Serve::new(&["--answer-within", "2"]);
    let page = send(serve.address, "GET", "/", &[], "");
    assert!(
        page.head.contains("default-src 'none'")
            && page.head.contains("x-content-type-options: nosniff")
    );
    assert!(
        !page.body.contains("<script>") && !page.body.contains("http"),
        "nothing inline, nothing from outside"
    );
    // What is asked of browsers is met by the files themselves.
    for path in ["/app.js", "/view.js", "/style.css", "/pair"] {
        let asset = send(serve.address, "GET", path, &[], "");
        assert_eq!(asset.status, 200, "{path}");
        for never in
            ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "https://"]
        {
            assert!(!asset.body.contains(never), "{path}: {never}");
        }
    }
    let paired = |headers: &[(&str, &str)]| send(serve.address, "GET", "/api/paired", headers, "");
    assert_eq!(paired(&[]).json(), json!({ "paired": false }));
    assert_eq!(paired(&[("Authorization", &serve.bearer())]).json(), json!({ "paired": true }));
    let guesses: Vec<u16> =
        (0..40).map(|_| paired(&[("Cookie", "hookctl_session=a.b")]).status).collect();
    assert!(guesses.starts_with(&[200]) && guesses.ends_with(&[429]), "{guesses:?}");
    let asking = serve.ask(bash("<img src=x>", "t1", "echo '<script>alert(1)</script>\u{202e}'"));
    let pending = serve.pending(1);
    assert_eq!(pending[0]["target"], "echo '<script>alert(1)</script>\\u{202e}'");
    let state = send(serve.address, "GET", "/api/state", &[("Authorization", &serve.bearer())], "");
    assert!(state.head.contains("content-type: application/json"));
    asking.join().unwrap();
}

#[test]
fn history_counts_and_audit_say_what_was() {
    let serve = Serve::new(&[]);
    for (id, command, decision) in [("t1", "npm test 100%", "allow"), ("t2", "git push", "deny")] {
        let asking = serve.ask(bash("s", id, command));
        serve.pending(1);
        assert_eq!(serve.answer(id, decision, "once", "=because").status, 200);
        asking.join().unwrap();
    }
    let entries = |query: &str| {
        serve.get(&format!("/api/history{query}"))["entries"].as_array().unwrap().clone()
    };
    assert_eq!(entries("").len(), 2);
    assert_eq!(entries("")[0]["tool_use_id"], "t2", "newest first");
    assert_eq!(entries("?search=NPM%20test")[0]["tool_use_id"], "t1");
    assert_eq!(entries("?search=100%25").len(), 1);
    assert_eq!(entries("?search=_").len(), 0, "no name of a field, and no wildcard");
    assert_eq!(entries("?search=because").len(), 2);
    assert_eq!(entries("?search=nothing").len(), 0);
    assert_eq!(entries("?limit=1").len(), 1);
    assert!(entries("")[0]["by"].as_str().unwrap().starts_with("phone ("));
    let counts = serve.get("/api/counts");
    assert_eq!((&counts["verdicts"]["allow"], &counts["verdicts"]["deny"]), (&json!(1), &json!(1)));
    assert_eq!(serve.run(&["audit", "verify"]).0, 0);
    let (_, lines) = serve.run(&["audit", "export"]);
    let lines: Vec<Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let kinds: Vec<&str> = lines.iter().map(|line| line["kind"].as_str().unwrap()).collect();
    assert_eq!(kinds, ["paired", "asked", "answered", "asked", "answered"]);
    assert_eq!(lines[2]["body"]["decision"], "allow");
    let (_, csv) = serve.run(&["audit", "export", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 6);
    assert!(csv.contains(",'=because,"), "{csv}");
}

#[test]
fn one_session_floods_and_the_others_are_still_answered() {
    let serve = Serve::new(&["--answer-within", "55"]);
    let flood: Vec<_> =
        (0..230).map(|n| serve.ask(bash("flood", &format!("f{n}"), "npm test; x"))).collect();
    serve.pending(200);
    // Whoever comes late would find a place that an answer has left.
    let end = Instant::now() + PATIENCE;
    while flood.iter().filter(|one| one.is_finished()).count() < 30 {
        assert!(Instant::now() < end, "nobody is turned away");
        thread::sleep(Duration::from_millis(20));
    }
    let asking = serve.ask(bash("quiet", "q", "npm test"));
    serve.pending(201);
    assert_eq!(serve.answer("q", "allow", "once", "").status, 200);
    assert_eq!(asking.join().unwrap()["decision"], "allow");
    for n in 0..230 {
        serve.answer(&format!("f{n}"), "deny", "once", "");
    }
    let answers: Vec<Value> = flood.into_iter().map(|one| one.join().unwrap()).collect();
    assert_eq!(answers.iter().filter(|one| one["message"] == "too_many_questions").count(), 30);
    assert_eq!(answers.iter().filter(|one| one["decision"] == "deny").count(), 200);
}
