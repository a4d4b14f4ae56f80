//! Payloads of agents that this version does not know: a dangerous command line in them is stopped,
//! everyday ones pass.

use std::fs;
use std::io::Write as _;
use std::process::Output;

use serde_json::{Map, Value, json};

mod home;

fn hook(args: &[&str], payload: &str) -> Output {
    let home = home::make("");
    let mut child = home::command(home.path(), args).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

/// Is the call refused, by exit status 2 with a reason or in Claude Code's own form?
fn stops(output: &Output) -> bool {
    let out = String::from_utf8_lossy(&output.stdout);
    match output.status.code() {
        Some(2) => {
            let said = String::from_utf8_lossy(&output.stderr);
            said.contains(" [")
                && (out.is_empty() || out.contains("deny") || out.contains("cancel"))
        }
        Some(0) => ["\"deny\"", "\"ask\""].iter().any(|verb| out.contains(verb)),
        other => panic!("exit {other:?}"),
    }
}

/// The payloads of the agents that are known, without what they are known by.
fn payloads() -> Vec<(String, Value)> {
    let dir = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/payloads");
    let mut all = Vec::new();
    for folder in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
        let agent = folder.file_name().unwrap().to_string_lossy().into_owned();
        if !folder.is_dir() || agent.starts_with("claude") || agent == "cline-fork" {
            continue;
        }
        for file in fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = format!("{agent}-{}", file.file_name().unwrap().to_string_lossy());
            let text = fs::read_to_string(&file).unwrap();
            all.push((name, make_strange(serde_json::from_str(&text).unwrap())));
        }
    }
    all.sort_by(|a, b| a.0.cmp(&b.0));
    assert!(all.len() > 50, "{}", all.len());
    all
}

/// As another agent would send it: no mark of its own, and events by names that nobody has.
fn make_strange(payload: Map<String, Value>) -> Value {
    let marks = [
        "agent",
        "cursor_version",
        "clineVersion",
        "turn_id",
        "timestamp",
        "transcript_path",
        "permission_mode",
        "sessionId",
        "agent_action_name",
        "hookEventName",
    ];
    let mut strange = Map::new();
    for (key, value) in payload {
        match (key.as_str(), value) {
            (mark, _) if marks.contains(&mark) => {}
            ("hook_event_name" | "hookName", Value::String(name)) => {
                strange.insert("event".into(), format!("my_{name}").into());
            }
            ("toolName" | "tool_name", Value::String(name)) => {
                strange.insert("tool".into(), format!("my_{name}").into());
            }
            (_, value) => {
                strange.insert(key, value);
            }
        }
    }
    strange.into()
}

/// Puts the command in place of what is there; how often?
fn put(value: &mut Value, command: &str) -> usize {
    match value {
        Value::Array(items) => items.iter_mut().map(|item| put(item, command)).sum(),
        Value::Object(map) => {
            let mut count = 0;
            for (key, value) in map.iter_mut().filter(|(key, _)| *key != "mcp_context") {
                match (key.as_str(), &value) {
                    ("command" | "command_line", Value::String(_)) => *value = command.into(),
                    ("commands", Value::Array(_)) => *value = json!(["ls", command]),
                    ("commands", Value::String(_)) => {
                        *value = json!(["ls", command]).to_string().into();
                    }
                    _ => {
                        count += put(value, command);
                        continue;
                    }
                }
                count += 1;
            }
            count
        }
        _ => 0,
    }
}

#[test]
fn what_agents_send_that_nobody_knows_is_judged_by_its_command() {
    let mut judged = 0;
    for (name, mut payload) in payloads() {
        // One of them names a file of the system.
        let mut harmless = payload.clone();
        put(&mut harmless, "ls");
        let text = harmless.to_string();
        for args in [&["hook"][..], &["hook", "--agent", "claude"]] {
            let plain = hook(args, &text);
            assert!(!stops(&plain), "{name}: {}", String::from_utf8_lossy(&plain.stderr));
        }
        // What starts a server is not what it is asked to do.
        let happened = ["post", "after", "permission"];
        let lower = name.to_lowercase();
        if lower.contains("mcp") || happened.iter().any(|word| lower.contains(word)) {
            continue;
        }
        if put(&mut payload, "rm -rf /") == 0 {
            continue;
        }
        judged += 1;
        for args in [&["hook"][..], &["hook", "--agent", "claude", "--event", "PreToolUse"]] {
            assert!(stops(&hook(args, &payload.to_string())), "{name} {args:?}");
        }
        put(&mut payload, "git status && npm test");
        assert!(!stops(&hook(&["hook"], &payload.to_string())), "{name}");
    }
    assert!(judged >= 13, "{judged}");
}

#[test]
fn shapes_that_no_agent_has_yet() {
    for shape in [
        json!({ "event": "tool.before", "tool": "sh", "args": { "cmd": "X" } }),
        json!({ "event": "tool.before", "tool": "sh", "args": { "cmd": ["bash", "-c", "X"] } }),
        json!({ "hook": "pre_exec", "argv": ["sh", "-c", "X"] }),
        json!({ "type": "exec", "params": { "commandLine": "X", "cwd": "/tmp" } }),
        json!({ "hook_event_name": "BeforeShell", "tool_input": "{\"shell_command\":\"X\"}" }),
        json!({ "hook_event_name": "PreToolUse", "toolName": "Task", "toolArgs": { "command": "X" } }),
        json!({ "hook_event_name": "PreToolUse", "tool_name": "Shell", "tool_input": "{\"command\":\"X\"}" }),
        json!({ "toolName": "Read", "toolArgs": "{\"script\": \"X\"}" }),
        json!({ "calls": [{ "tool": "run", "input": { "command": "ls" } }, { "tool": "run", "input": { "command": "X" } }] }),
        json!({ "tool": { "name": "terminal", "arguments": { "program": "sh", "args": ["-c", "X"] } } }),
        json!({ "data": { "deep": { "down": { "command": "X" } } } }),
        json!({ "toolName": "a", "toolInput": { "options": { "runCommand": "X" } } }),
    ] {
        let of = |command: &str| shape.to_string().replace('X', command);
        let args = &["hook", "--agent", "claude"];
        assert!(stops(&hook(args, &of("rm -rf /"))), "{shape}");
        let plain = hook(args, &of("ls -la"));
        assert!(!stops(&plain), "{shape} {}", String::from_utf8_lossy(&plain.stderr));
    }
}

#[test]
fn what_is_no_call_of_a_shell_stays_silent() {
    for payload in [
        json!({ "hook_event_name": "BeforeModel", "llm_request": { "messages": [{ "content": "rm -rf /" }] } }),
        json!({ "hook_event_name": "UserPromptSubmit", "prompt": "rm -rf /", "command": "rm -rf /" }),
        json!({ "hook_event_name": "AfterTool", "tool_input": { "command": "rm -rf /" }, "tool_response": "" }),
        json!({ "toolName": "bash", "toolArgs": { "command": "rm -rf /" }, "toolResult": { "x": 1 } }),
        json!({ "toolName": "write", "toolArgs": { "path": "a.json", "content": "{\"command\":\"rm -rf /\"}" } }),
        json!({ "hook_event_name": "beforeMCPExecution", "tool_input": "{\"sql\":\"select 1\"}", "command": "rm -rf /" }),
    ] {
        let output = hook(&["hook"], &payload.to_string());
        assert!(!stops(&output), "{payload} {}", String::from_utf8_lossy(&output.stderr));
    }
}

/// What nobody can be told otherwise: an ask and a rewrite stop, an allow is silence.
#[test]
fn verdicts_degrade_and_never_upward() {
    let answer = |rules: &str, command: &str| {
        let home = home::make(rules);
        let payload = json!({ "toolName": "bash", "toolArgs": { "command": command } });
        let mut child = home::command(home.path(), &["hook"]).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let journal = home.path().join(".local/state/hookctl/journal.jsonl");
        (output, fs::read_to_string(journal).unwrap_or_default())
    };
    let (ask, journal) = answer("[rule.a]\ncommand = \"ls\"\nask = \"sure?\"\n", "ls");
    assert_eq!(ask.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&ask.stderr).contains("sure? [user:a]"));
    assert!(
        journal.contains("\"agent\":\"unknown\"") && journal.contains("not known"),
        "{journal}"
    );
    let change = "[rule.a]\ncommand = \"npm install\"\nrewrite = { command = \"pnpm install\" }\n";
    assert_eq!(answer(change, "npm install").0.status.code(), Some(2));
    let allow = answer("[rule.a]\ncommand = \"ls\"\nallow = \"yes\"\n", "ls").0;
    assert!(allow.status.success() && allow.stdout.is_empty());
}
