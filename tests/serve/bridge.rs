//! The listener of agent-hooks' bridge: its routes, and hookctl's own hook with its files as the client.

use std::io::Write as _;
use std::net::SocketAddr;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Serve, send};

/// A port that nobody has just now.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

fn server() -> (Serve, SocketAddr) {
    let port = free_port();
    let serve = Serve::new(&["--bridge", &port.to_string()]);
    (serve, SocketAddr::from(([127, 0, 0, 1], port)))
}

fn post(bridge: SocketAddr, path: &str, body: &str) -> (u16, Value) {
    let answer = send(bridge, "POST", path, &[], body);
    (answer.status, serde_json::from_str(&answer.body).unwrap_or_default())
}

fn health(bridge: SocketAddr) -> Value {
    send(bridge, "GET", "/health", &[], "").json()
}

#[test]
fn s3_56_five_routes_take_events_of_their_agents() {
    let (serve, bridge) = server();
    assert_eq!(health(bridge)["processedEvents"], 0);
    let claude = json!({ "hook_event_name": "PreToolUse", "session_id": "c", "cwd": "/x", "tool_name": "Bash",
                         "tool_use_id": "t", "tool_input": { "command": "make" } });
    let gemini = json!({ "hook_event_name": "BeforeTool", "session_id": "g", "cwd": "/x", "timestamp": "2026-11-24T00:00:00Z",
                         "tool_name": "run_shell_command", "tool_input": { "command": "make" } });
    for (route, event) in [
        ("/claude-hook", &claude),
        ("/cline-hook", &claude),
        ("/gemini-hook", &gemini),
        ("/opencode-hook", &claude),
        ("/droid-hook", &claude),
        ("/claude", &claude),
    ] {
        let provider = route.trim_start_matches('/').trim_end_matches("-hook");
        let (status, answer) = post(bridge, route, &event.to_string());
        assert_eq!(status, 200, "{route}: {answer}");
        assert_eq!(
            (&answer["success"], &answer["provider"]),
            (&json!(true), &json!(provider)),
            "{route}"
        );
        let ready = send(bridge, "GET", route, &[], "").json();
        assert_eq!(
            (&ready["status"], &ready["provider"]),
            (&json!("ready"), &json!(provider)),
            "{route}"
        );
    }
    let told = health(bridge);
    assert_eq!((&told["status"], &told["processedEvents"]), (&json!("ok"), &json!(6)), "{told}");
    // Both sessions are on the page, by one vocabulary.
    let sessions = serve.get("/api/state")["sessions"].clone();
    for id in ["c", "g"] {
        let session = sessions.as_array().unwrap().iter().find(|one| one["session_id"] == id);
        assert_eq!(session.expect(id)["tool_history"][0]["tool"], "Bash", "{sessions}");
    }
}

#[test]
fn s3_56_what_is_no_event_is_told_so() {
    let (_serve, bridge) = server();
    let (status, answer) = post(bridge, "/claude-hook", "not json");
    assert_eq!((status, &answer["success"]), (500, &json!(false)));
    assert!(answer["error"].is_string());
    assert_eq!(health(bridge)["errors"], 1);
    assert_eq!(post(bridge, "/windsurf-hook", "{}").0, 404);
    assert_eq!(send(bridge, "PUT", "/claude-hook", &[], "").status, 405);
    // Larger than what is asked of a human, for results of tools are.
    let large = json!({ "hook_event_name": "Stop", "session_id": "c", "x": "y".repeat(2 << 20) });
    assert_eq!(post(bridge, "/claude-hook", &large.to_string()).0, 200);
    for headers in [
        [("X-Forwarded-For", "10.0.0.1")],
        [("Origin", "https://evil.example")],
        [("Host", "evil.example")],
    ] {
        let refused = send(bridge, "POST", "/claude-hook", &headers, "{}");
        assert!([401, 403].contains(&refused.status), "{headers:?}: {}", refused.status);
    }
    // Nothing else of the server is at this port.
    assert_eq!(send(bridge, "GET", "/api/state", &[], "").status, 404);
}

#[test]
fn s3_56_what_was_kept_in_files_is_drained() {
    let home = tempfile::tempdir().unwrap();
    let port = free_port();
    let event = json!({ "hook_event_name": "PreToolUse", "session_id": "kept", "cwd": "/x", "tool_name": "Bash",
                        "tool_use_id": "t", "tool_input": { "command": "make" } });
    let hook = |home: &TempDir, arguments: &[&str]| {
        let mut hook = Command::new(env!("CARGO_BIN_EXE_hookctl"));
        hook.args(arguments).env_clear().env("HOME", home.path()).current_dir(home.path());
        let mut child = hook
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        // A command that reads nothing is fine.
        let _ = child.stdin.take().unwrap().write_all(event.to_string().as_bytes());
        let done = child.wait_with_output().unwrap();
        String::from_utf8_lossy(&[done.stdout, done.stderr].concat()).into_owned()
    };
    let port_text = port.to_string();
    let config = home.path().join(".config/hookctl");
    std::fs::create_dir_all(&config).unwrap();
    let remote =
        format!("[remote.bridge]\nurl = \"http://127.0.0.1:{port}\"\ndialect = \"bridge\"\n");
    std::fs::write(config.join("config.toml"), remote).unwrap();
    let posted = hook(&home, &["claude-hook", "--port", &port_text]);
    assert_eq!(posted, "", "nothing is told to the agent");
    let serve = Serve::new(&["--bridge", &port_text]);
    let bridge = SocketAddr::from(([127, 0, 0, 1], port));
    let told = hook(&home, &["flush"]);
    assert_eq!(health(bridge)["processedEvents"], 1, "{told}");
    assert_eq!(serve.get("/api/state")["sessions"][0]["session_id"], "kept");
    // For a while after a failure nobody is asked: what comes meanwhile is drained as well.
    hook(&home, &["claude-hook", "--port", &port_text]);
    hook(&home, &["flush"]);
    assert_eq!(health(bridge)["processedEvents"], 2);
}
