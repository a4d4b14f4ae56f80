//! `hookctl serve install`: both ends in one step, and a hook that asks a human by what it wrote.

use std::fs;
use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use super::{Serve, command};

/// hookctl's own hook in that home.
fn hook(serve: &Serve, payload: &Value) -> Value {
    let mut child = Command::new(env!("CARGO_BIN_EXE_hookctl"))
        .arg("hook")
        .env_clear()
        .env("HOME", serve.home.path())
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    serde_json::from_slice(&out.stdout).unwrap_or(Value::Null)
}

#[test]
fn one_step_sets_both_ends() {
    let serve = Serve::new(&[]);
    let port = serve.address.port().to_string();
    let (status, said) = serve.run(&["install", "--port", &port]);
    assert_eq!(status, 0, "{said}");
    let home = serve.home.path();
    let config = fs::read_to_string(home.join(".config/hookctl/config.toml")).unwrap();
    assert!(config.contains(&format!("url = \"http://127.0.0.1:{port}\"")), "{config}");
    if cfg!(target_os = "linux") {
        let unit = home.join(".config/systemd/user/hookctl-serve.service");
        assert!(fs::read_to_string(unit).unwrap().contains(&format!("\"--port\" \"{port}\"")));
    }
    // Where Claude Code would show its dialog, a human elsewhere can answer.
    let payload = json!({
        "session_id": "s1", "transcript_path": "/t.jsonl", "cwd": home, "permission_mode": "default",
        "hook_event_name": "PermissionRequest", "tool_name": "Bash", "tool_input": { "command": "make deploy" },
    });
    let answers = std::thread::scope(|scope| {
        let waits = scope.spawn(|| hook(&serve, &payload));
        let id = serve.pending(1)[0]["tool_use_id"].as_str().unwrap().to_string();
        assert_eq!(serve.answer(&id, "deny", "once", "not on a Friday").status, 200);
        waits.join().unwrap()
    });
    let decision = &answers["hookSpecificOutput"]["decision"];
    assert_eq!(decision["behavior"], "deny", "{answers}");
    assert!(decision["message"].as_str().unwrap().contains("not on a Friday"), "{answers}");
    // Again: nothing is written twice.
    let (status, said) = serve.run(&["install", "--port", &port]);
    assert!(status == 0 && said.contains("names the server already"), "{said}");
    assert_eq!(fs::read_to_string(home.join(".config/hookctl/config.toml")).unwrap(), config);
    assert_eq!(serve.run(&["uninstall"]).0, 0);
}

#[test]
fn a_server_elsewhere_is_named_with_its_token() {
    let home = tempfile::tempdir().unwrap();
    let out = command(&home, &["install", "--at", "https://box.tail.example/"]).output().unwrap();
    let said = String::from_utf8_lossy(&out.stderr);
    assert!(out.status.success(), "{said}");
    assert!(said.contains("serve token --person"), "{said}");
    let config = fs::read_to_string(home.path().join(".config/hookctl/config.toml")).unwrap();
    assert!(config.contains("url = \"https://box.tail.example\""), "{config}");
    assert!(config.contains("serve.token\""), "{config}");
    assert!(!home.path().join(".config/systemd").exists());
    let wrong = command(&home, &["install", "--at", "box"]).output().unwrap();
    assert!(String::from_utf8_lossy(&wrong.stderr).contains("is no address of a server"));
}

#[test]
fn an_agent_connects_nothing() {
    let home = tempfile::tempdir().unwrap();
    let out = command(&home, &["install"]).env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(out.status.code(), Some(2));
    assert!(!home.path().join(".config").exists());
}

#[test]
fn what_others_reach_is_installed_with_a_way_in() {
    let home = tempfile::tempdir().unwrap();
    let all = ["install", "--listen", "192.0.2.7", "--port", "1234"];
    let out = command(&home, &all).output().unwrap();
    let said = String::from_utf8_lossy(&out.stdout);
    assert!(said.contains("Open http://192.0.2.7:1234/pair#"), "{said}");
    let config = fs::read_to_string(home.path().join(".config/hookctl/config.toml")).unwrap();
    assert!(config.contains("url = \"http://192.0.2.7:1234\""), "{config}");
}
