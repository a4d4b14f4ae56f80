//! What leaves this machine, and how a change of what was not shown comes back.

use super::*;

/// One text for each kind of secret, and what of it must not be seen.
const SECRETS: &[(&str, &str)] = &[
    ("echo ghp_0123456789abcdefghijABCDEFGHIJ", "ghp_0123"),
    ("github_pat_0123456789abcdefghijABCDEFGHIJ", "github_pat_0"),
    ("glpat-0123456789abcdefghij", "glpat-0"),
    ("sk-ant-0123456789abcdefghij", "sk-ant-0"),
    ("sk_live_0123456789abcdefghij", "sk_live_0"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSF"),
    ("xoxb-0123456789-abcdefghij", "xoxb-0"),
    ("AIza0123456789abcdefghijABCDEFGHIJ0123456", "AIza0"),
    ("npm_0123456789abcdefghijABCDEFGHIJ012345", "npm_0"),
    ("pypi-0123456789abcdefghijABCDEFGHIJ0123456789abcdefghij", "pypi-0"),
    ("hf_0123456789abcdefghijABCDEFGHIJ", "hf_0"),
    ("dop_v1_0123456789abcdef0123456789abcdef0123456789abcdef", "dop_v1_0"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJl", "eyJhbGci"),
    ("-----BEGIN PRIVATE KEY-----\nMIIBVgIBADAN\n-----END PRIVATE KEY-----", "MIIBVg"),
    ("git clone https://bob:hunter02@x.org/r", "hunter02"),
    ("curl -H 'Authorization: token hunter03'", "hunter03"),
    ("curl -H \"X: Bearer hunter04hunter\"", "hunter04"),
    ("curl -H 'Cookie: sid=hunter05'", "hunter05"),
    ("API_KEY=hunter06", "hunter06"),
    ("mysql --password hunter07", "hunter07"),
    ("{\"client_secret\": \"hunter08 and more\"}", "and more"),
];

/// Everywhere that an event can hold a secret.
fn places(secret: &str) -> Vec<Value> {
    let tool = |name: &str, input: Value| json!({ "tool_name": name, "tool_input": input });
    let mut mcp = tool(
        "mcp__http__post",
        json!({
            "headers": [{ "name": "X-Api-Key", "value": "hunter09" }],
            "options": { "env": { "DB_PASSWORD": "hunter10" }, "body": [{ "text": secret }] },
        }),
    );
    mcp["tool_response"] = json!({ "content": [{ "type": "text", "text": secret }] });
    vec![
        event("PreToolUse", tool("Bash", json!({ "command": secret }))),
        event("PermissionRequest", tool("Write", json!({ "file_path": "/f", "content": secret }))),
        event("PostToolUse", mcp),
        event("UserPromptSubmit", json!({ "prompt": secret })),
        event("Stop", json!({ "stop_hook_active": false, "last_assistant_message": secret })),
        event("SomethingNew", json!({ "raw": { "deep": [secret] }, "cwd": secret })),
    ]
}

#[test]
fn sx_07_no_secret_of_any_kind_leaves() {
    let all = SECRETS.iter().map(|(text, _)| *text).collect::<Vec<_>>().join("\n");
    let texts: Vec<&str> = SECRETS.iter().map(|(text, _)| *text).chain([all.as_str()]).collect();
    std::thread::scope(|scope| {
        for dialect in [
            "hooks-server",
            "cchd-v1",
            "cloudevents",
            "claude-http",
            "opa",
            "webhook",
            "otlp",
            "bridge",
        ] {
            for send in ["full", "summary", "hash"] {
                let texts = &texts;
                scope.spawn(move || {
                    let server = Server::start(vec![ok("")]);
                    let more = format!("dialect = \"{dialect}\"\nsend = \"{send}\"");
                    // So much at once takes its time: what is late would be sent again.
                    let config = forward(&server.url, &more).replace(TIMES, "timeout_ms = 20000");
                    let home = Home::new(&config);
                    // Each kind once, and all of them at every place.
                    let each = texts.iter().map(|text| bash(text));
                    let events: Vec<Value> = each.chain(places(texts[texts.len() - 1])).collect();
                    for payload in &events {
                        home.hook(payload);
                    }
                    let seen = server.seen_when(events.len());
                    assert_eq!(seen.len(), events.len());
                    for request in seen {
                        let body = String::from_utf8(request.body).unwrap();
                        let gone = SECRETS.iter().map(|(_, gone)| *gone);
                        for gone in gone.chain(["hunter09", "hunter10"]) {
                            assert!(!body.contains(gone), "{dialect} {send}: {gone} in {body}");
                        }
                    }
                });
            }
        }
    });
}

#[test]
fn what_summaries_and_hashes_show() {
    let payload = json!({
        "session_id": "s-1", "transcript_path": "/t.jsonl", "cwd": "/", "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": "Write", "tool_use_id": "toolu_1",
        "tool_input": { "file_path": "/w/a", "content": "text", "lines": 3 },
    });
    let asked = std::cell::Cell::new(0);
    let sent = |send: &str, dialect: &str, home: Option<&Home>| {
        let server = Server::start(vec![ok("")]);
        let more = format!("dialect = \"{dialect}\"\nsend = \"{send}\"");
        let other = Home::new(&forward(&server.url, &more));
        let home = home.unwrap_or(&other);
        let config = home.path().join(".config/hookctl/config.toml");
        std::fs::write(config, forward(&server.url, &more)).unwrap();
        // The same call at once again would be asked about only once.
        asked.set(asked.get() + 1);
        let mut payload = payload.clone();
        payload["tool_use_id"] = json!(format!("toolu_{}", asked.get()));
        home.hook(&payload);
        let mut sent = server.seen()[0].json();
        sent["tool_use_id"] = json!("toolu_1");
        sent
    };
    let mut wanted = payload.clone();
    wanted["tool_input"]["content"] = json!("[4 bytes]");
    assert_eq!(sent("summary", "claude-http", None), wanted);
    let data = sent("summary", "hooks-server", None)["data"].clone();
    assert_eq!(data["tool_input"], wanted["tool_input"]);

    let home = Home::new("");
    let first = sent("hash", "claude-http", Some(&home));
    for text in [&first["cwd"], &first["transcript_path"], &first["tool_input"]["file_path"]] {
        assert!(text.as_str().unwrap().starts_with("sha256:"), "{first}");
    }
    assert_eq!(first["tool_input"]["lines"], 3);
    assert_eq!((&first["session_id"], &first["tool_name"]), (&json!("s-1"), &json!("Write")));
    // The same here and now, another elsewhere.
    let again = sent("hash", "hooks-server", Some(&home))["data"]["tool_input"].clone();
    assert_eq!(again, first["tool_input"]);
    assert_ne!(sent("hash", "hooks-server", None)["data"]["tool_input"], first["tool_input"]);
}

#[test]
fn a_ping_is_a_test_whatever_is_sent() {
    for dialect in ["hooks-server", "claude-http"] {
        for send in ["full", "summary", "hash"] {
            let server = Server::start(vec![ok("")]);
            let more = format!("dialect = \"{dialect}\"\nsend = \"{send}\"");
            Home::new(&forward(&server.url, &more)).run(&["ping", "x"], "");
            let body = server.seen()[0].json();
            let mark = body.get("data").unwrap_or(&body)["hookctl"].clone();
            assert_eq!(mark, json!({ "test": true }), "{dialect} {send}");
        }
    }
}

/// A call whose content holds a secret.
fn write() -> Value {
    json!({
        "session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": { "file_path": "/tmp/x", "content": "a\npassword = \"hunter2\"\n\t\u{e9}" },
        "tool_use_id": "t"
    })
}

/// What the agent is answered when the server changes the input it was shown like that.
fn changed(dialect: &str, more: &str, change: impl Fn(&mut Value)) -> (Value, Home) {
    let more = format!("dialect = \"{dialect}\"\n{more}");
    let first = Server::start(vec![ok("")]);
    Home::new(&forward(&first.url, &more)).hook(&write());
    let shown = first.seen()[0].json();
    let mut input = shown.get("data").unwrap_or(&shown)["tool_input"].clone();
    change(&mut input);
    let answer = match dialect {
        "claude-http" => json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "updatedInput": input } }),
        _ => json!({ "decision": "modify", "modified_data": { "tool_input": input } }),
    };
    let server = Server::start(vec![ok(&answer.to_string())]);
    let home = Home::new(&forward(&server.url, &more));
    (home.hook(&write()), home)
}

#[test]
fn sx_07_a_change_beside_a_secret_keeps_the_secret() {
    for dialect in ["hooks-server", "claude-http"] {
        for send in ["full", "summary"] {
            let more = format!("send = \"{send}\"\nfail_open = false");
            let (answer, _) = changed(dialect, &more, |input| {
                let path = input["file_path"].as_str().unwrap().replace("/tmp/", "/safe/tmp/");
                input["file_path"] = json!(path);
            });
            let mut wanted = write()["tool_input"].clone();
            wanted["file_path"] = json!("/safe/tmp/x");
            assert_eq!(answer["hookSpecificOutput"]["updatedInput"], wanted, "{dialect} {send}");
            let (answer, _) = changed(dialect, &more, |_| {});
            assert_eq!(answer, Value::Null, "unchanged: {dialect} {send}");
        }
    }
}

#[test]
fn sx_07_a_mask_is_never_written() {
    for dialect in ["hooks-server", "claude-http"] {
        for (send, why) in [
            ("full", "it changes a text from which a secret was taken out"),
            ("summary", "it changes a text that it was not shown"),
            ("hash", "it changes a text that it was not shown"),
        ] {
            let edit = |input: &mut Value| {
                let text = input["content"].as_str().unwrap();
                input["content"] = json!(format!("# {text}"));
            };
            for (open, verb) in [("true", ""), ("false", "deny")] {
                let more = format!("send = \"{send}\"\nfail_open = {open}");
                let (answer, home) = changed(dialect, &more, edit);
                assert_eq!(verdict(&answer).0, verb, "{dialect} {send}");
                assert!(!answer.to_string().contains("updatedInput"), "{answer}");
                let remote = home.remote();
                assert_eq!(remote["cause"], format!("invalid answer: {why}"));
                assert_eq!(
                    (&remote["outcome"], &remote["attempts"]),
                    (&json!("failed"), &json!(1))
                );
            }
        }
        // Its own text in place of what it has not seen is its own affair.
        let (answer, _) = changed(dialect, "", |input| input["content"] = json!("none"));
        assert_eq!(answer["hookSpecificOutput"]["updatedInput"]["content"], "none");
    }
}

#[test]
fn a_result_and_a_prompt_with_secrets_come_back() {
    let post = event(
        "PostToolUse",
        json!({ "tool_name": "Bash", "tool_input": {},
            "tool_response": { "stdout": "token=hunter2", "stderr": "noise" } }),
    );
    let body = r#"{"decision":"modify","modified_data":{"tool_response":
        {"stdout":"token=[redacted]","stderr":""}}}"#;
    let server = Server::start(vec![ok(body)]);
    let answer = Home::new(&forward(&server.url, "")).hook(&post);
    let wanted = json!({ "stdout": "token=hunter2", "stderr": "" });
    assert_eq!(answer["hookSpecificOutput"]["updatedToolOutput"], wanted);

    let body = r#"{"decision":"modify","modified_data":{"prompt":"token=[redacted]"}}"#;
    let server = Server::start(vec![ok(body)]);
    let prompt = event("UserPromptSubmit", json!({ "prompt": "token=hunter2" }));
    assert_eq!(Home::new(&forward(&server.url, "")).hook(&prompt), Value::Null);
}

#[test]
fn sx_15_a_payload_of_many_megabytes_is_looked_over_in_time() {
    let text = "let token = \"x\"; // see https://x.org for basic things\n".repeat(60_000);
    let payload = json!({
        "session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": { "file_path": "/x", "content": format!("{text}password=hunter2") },
        "tool_use_id": "t"
    });
    let server = Server::start(vec![ok(r#"{"decision":"deny","reason":"seen"}"#)]);
    let home = Home::new(&format!("[remote.x]\nurl = \"{}\"\nevents = \"*\"", server.url));
    let start = Instant::now();
    let answer = home.hook(&payload);
    // Done, or given up: never later than the server's time.
    assert!(start.elapsed() < Duration::from_secs(40), "{:?}", start.elapsed());
    for request in server.seen() {
        assert!(!String::from_utf8_lossy(&request.body).contains("hunter2"));
        assert_eq!(verdict(&answer).1, "seen [user:remote.x]");
    }
}

#[test]
fn sx_07_half_a_mask_is_a_mask() {
    for (piece, what) in [("[redact", "its beginning"), ("dacted]", "its end")] {
        let (answer, home) = changed("hooks-server", "fail_open = false", |input| {
            let text = input["content"].as_str().unwrap().replace("[redacted]", piece);
            input["content"] = json!(text);
        });
        assert_eq!(verdict(&answer).0, "deny", "{what}: {answer}");
        assert!(home.remote()["cause"].as_str().unwrap().contains("secret"), "{what}");
    }
}

#[test]
fn sx_07_a_summary_shows_no_reason() {
    let server = Server::start(vec![ok("")]);
    let rule = "[rule.no]\ntool = \"Write\"\ndeny = \"not this: {input.content}\"";
    let more = format!("send = \"summary\"\naudit = true\n{rule}");
    let home = Home::new(&forward(&server.url, &more));
    assert_eq!(verdict(&home.hook(&write())).0, "deny");
    let body = String::from_utf8(server.seen_when(1)[0].body.clone()).unwrap();
    assert!(!body.contains("not this") && body.contains("user:no"), "{body}");
}
