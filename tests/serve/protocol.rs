//! The Hooks Server Protocol 1.0 at `/hook`: by the server's own rules, by humans, and with hookctl itself as its client.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::thread;

use serde_json::{Value, json};

use super::{Answer, Serve, send};

const RULES: &str = r#"
[rule.no-push]
command = "git push"
deny = "Nobody pushes from here."

[rule.deploys]
command = "make deploy"
ask = "A human deploys."

[rule.ends]
command = "make end"
halt = "That is enough."

[rule.quiet]
command = "npm test"
rewrite = { command = "npm test --silent" }

[rule.told]
command = "make docs"
context = "The docs are in docs/."
"#;

fn server(arguments: &[&str]) -> Serve {
    let home = tempfile::tempdir().unwrap();
    let rules = home.path().join("rules.toml");
    std::fs::write(&rules, RULES).unwrap();
    let mut all = vec!["--rules", rules.to_str().unwrap()];
    all.extend(arguments);
    let all: Vec<String> = all.iter().map(|argument| argument.to_string()).collect();
    let all: Vec<&str> = all.iter().map(String::as_str).collect();
    Serve::at(home, &all)
}

fn envelope(kind: &str, id: &str, data: Value) -> Value {
    json!({
        "version": "1.0",
        "event": { "id": format!("evt-{id}"), "type": kind, "name": kind, "timestamp": 1_795_183_819_000_u64,
                   "session_id": "s", "correlation_id": id },
        "data": data,
    })
}

fn call(id: &str, command: &str) -> Value {
    envelope("PreToolUse", id, json!({ "tool_name": "Bash", "tool_input": { "command": command } }))
}

fn post(serve: &Serve, body: &str, headers: &[(&str, &str)]) -> Answer {
    send(serve.address, "POST", "/hook", headers, body)
}

#[test]
fn s1_01_the_servers_rules_decide() {
    let serve = server(&[]);
    for (command, wanted) in [
        ("ls", json!({ "version": "1.0", "decision": "allow" })),
        (
            "cd x && git push",
            json!({ "version": "1.0", "decision": "block", "reason": "Nobody pushes from here. [user:no-push]" }),
        ),
        (
            "make end",
            json!({ "version": "1.0", "decision": "halt", "reason": "That is enough. [user:ends]" }),
        ),
        (
            "npm test",
            json!({ "version": "1.0", "decision": "modify",
                    "modified_data": { "tool_input": { "command": "npm test --silent" } } }),
        ),
        (
            "make docs",
            json!({ "version": "1.0", "decision": "allow",
                    "hookSpecificOutput": { "hookEventName": "PreToolUse", "additionalContext": "The docs are in docs/." } }),
        ),
    ] {
        let answer = post(&serve, &call(command, command).to_string(), &[]);
        assert_eq!((answer.status, answer.json()), (200, wanted), "{command}");
    }
    // The shipped rules hold as well.
    let root = post(&serve, &call("r", "rm -rf /").to_string(), &[]).json();
    assert_eq!(root["decision"], "block", "{root}");
    assert!(root["reason"].as_str().unwrap().contains("[delete-root]"), "{root}");
    // And what was called is in the session's timeline.
    let sessions = serve.get("/api/state")["sessions"].clone();
    assert_eq!(sessions[0]["session_id"], "s", "{sessions}");
    assert!(sessions[0]["tool_history"].as_array().is_some_and(|all| all.len() > 3), "{sessions}");
}

#[test]
fn s1_01_a_human_decides_where_a_rule_asks() {
    let serve = server(&["--answer-within", "2"]);
    for (id, decision, reason, wanted) in [
        ("a", "allow", "", json!({ "version": "1.0", "decision": "allow" })),
        (
            "b",
            "deny",
            "not today",
            json!({ "version": "1.0", "decision": "block", "reason": "not today" }),
        ),
        (
            "c",
            "deny",
            "",
            json!({ "version": "1.0", "decision": "block", "reason": "A human said no" }),
        ),
    ] {
        // The client's retry of the same event joins the first.
        let (address, body) = (serve.address, call(id, "make deploy").to_string());
        let asking: Vec<_> = (0..2)
            .map(|_| {
                let body = body.clone();
                thread::spawn(move || send(address, "POST", "/hook", &[], &body).json())
            })
            .collect();
        assert_eq!(serve.pending(1)[0]["rule"], "user:deploys");
        assert_eq!(serve.answer(id, decision, "once", reason).status, 200);
        for answer in asking {
            assert_eq!(answer.join().unwrap(), wanted, "{id}");
        }
    }
    let nobody = post(&serve, &call("d", "make deploy").to_string(), &[]).json();
    assert_eq!(nobody["decision"], "ask", "{nobody}");
}

#[test]
fn s1_02_what_cannot_be_read_is_no_allow() {
    let serve = server(&[]);
    let good = call("x", "ls");
    let without = |key: &str| {
        let mut body = good.clone();
        body.as_object_mut().unwrap().remove(key);
        body.to_string()
    };
    let mut nameless = good.clone();
    nameless["event"] = json!({ "session_id": "s" });
    let mut newer = good.clone();
    newer["version"] = "2.0".into();
    for body in [
        String::new(),
        "[]".into(),
        "{".into(),
        "null".into(),
        without("version"),
        without("event"),
        without("data"),
        nameless.to_string(),
        newer.to_string(),
    ] {
        let answer = post(&serve, &body, &[]);
        assert_eq!(answer.status, 400, "{body}: {}", answer.body);
        assert!(answer.json()["error"].is_string() && answer.json()["decision"].is_null());
    }
    assert_eq!(send(serve.address, "GET", "/hook", &[], "").status, 405);
    // The data cannot say that the event is another.
    let mut lies = call("y", "git push");
    lies["data"]["hook_event_name"] = "SessionEnd".into();
    assert_eq!(post(&serve, &lies.to_string(), &[]).json()["decision"], "block");
    // Nor can those ask who may not.
    let proxied = [("X-Forwarded-For", "10.0.0.1")];
    assert_eq!(post(&serve, &good.to_string(), &proxied).status, 401);
    let foreign = [("Origin", "https://evil.example")];
    assert_eq!(post(&serve, &good.to_string(), &foreign).status, 403);
    let rebound = [("Host", "evil.example")];
    assert_eq!(post(&serve, &good.to_string(), &rebound).status, 403);
}

#[test]
fn s1_01_hookctl_is_a_client_of_it() {
    let serve = server(&[]);
    let home = tempfile::tempdir().unwrap();
    let config = home.path().join(".config/hookctl");
    std::fs::create_dir_all(&config).unwrap();
    let url = format!("http://{}/hook", serve.address);
    std::fs::write(
        config.join("config.toml"),
        format!("[remote.server]\nurl = \"{url}\"\nevents = [\"PreToolUse\"]\n"),
    )
    .unwrap();
    for (command, wanted) in
        [("git push", "Nobody pushes from here"), ("npm test", "npm test --silent")]
    {
        let mut hook = Command::new(env!("CARGO_BIN_EXE_hookctl"));
        hook.arg("hook").env_clear().env("HOME", home.path()).current_dir(home.path());
        let mut child = hook.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": "c", "cwd": home.path(), "tool_use_id": command,
            "tool_name": "Bash", "tool_input": { "command": command },
        });
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let out = String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap();
        assert!(out.contains(wanted), "{command}: {out}");
    }
}

fn native(id: &str, command: &str) -> Value {
    json!({ "hook_event_name": "PreToolUse", "session_id": "n", "cwd": "/x", "permission_mode": "default",
            "tool_use_id": id, "tool_name": "Bash", "tool_input": { "command": command } })
}

#[test]
fn http_hooks_of_claude_code_are_answered_in_its_words() {
    let serve = server(&["--answer-within", "2"]);
    let ask = |body: String| send(serve.address, "POST", "/claude", &[], &body);
    let silent = ask(native("a", "ls").to_string());
    assert_eq!((silent.status, silent.body.as_str()), (200, ""));
    let denied = ask(native("b", "git push").to_string()).json();
    assert_eq!(denied["hookSpecificOutput"]["permissionDecision"], "deny", "{denied}");
    let changed = ask(native("c", "npm test").to_string()).json();
    assert_eq!(
        changed["hookSpecificOutput"]["updatedInput"]["command"], "npm test --silent",
        "{changed}"
    );
    for (id, decision, reason, wanted) in
        [("d", "allow", "", "allow"), ("e", "deny", "not today", "deny"), ("f", "", "", "ask")]
    {
        let (address, body) = (serve.address, native(id, "make deploy").to_string());
        let asking = thread::spawn(move || send(address, "POST", "/claude", &[], &body).json());
        serve.pending(1);
        if !decision.is_empty() {
            assert_eq!(serve.answer(id, decision, "once", reason).status, 200);
        }
        let told = asking.join().unwrap()["hookSpecificOutput"].clone();
        assert_eq!(told["permissionDecision"], wanted, "{id}: {told}");
        assert!(
            told["permissionDecisionReason"].as_str().unwrap_or_default().contains(reason),
            "{told}"
        );
    }
    // Whoever could not be read may be anything: no status says yes.
    assert_eq!(ask("not json".into()).status, 400);
    let foreign = [("X-Forwarded-For", "10.0.0.1")];
    assert_eq!(send(serve.address, "POST", "/claude", &foreign, "{}").status, 401);
}
