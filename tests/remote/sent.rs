//! What a server is sent, and how it is reached.

use super::*;

#[test]
fn s1_02_s1_03_s1_05_s1_06_s1_07_s1_08_s1_09_what_is_sent() {
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new(&forward(&server.url, "headers = { X-Team = \"blue\" }"));
    assert_eq!(home.hook(&bash("ls")), Value::Null);
    let seen = server.seen();
    assert_eq!(seen.len(), 1);
    let head = seen[0].head.to_lowercase();
    assert!(head.starts_with("post /hook http/1.1"), "{head}");
    for line in ["content-type: application/json", "user-agent: hookctl/", "x-team: blue"] {
        assert!(head.contains(line), "{head}");
    }
    let body = seen[0].json();
    assert_eq!(body["version"], "1.0");
    let event = &body["event"];
    assert_eq!((&event["type"], &event["name"]), (&json!("PreToolUse"), &json!("PreToolUse")));
    assert_eq!(event["timestamp"].as_u64().unwrap().to_string().len(), 13);
    assert_eq!(event["session_id"], "s-1");
    assert_eq!(event["correlation_id"], "toolu_1");
    assert_eq!(body["data"]["tool_name"], "Bash");
    assert_eq!(body["data"]["tool_input"]["command"], "ls");
    // S1-15: the superset.
    assert_eq!(body["data"]["permission_mode"], "default");
    assert!(body["data"].get("session_id").is_none());
}

#[test]
fn s1_10_s1_11_s1_12_s1_13_s1_14_s1_15_the_data_of_each_event() {
    for (payload, data) in [
        (
            bash("ls"),
            json!({"tool_name": "Bash", "tool_input": {"command": "ls", "description": "d"}}),
        ),
        (
            event("PostToolUse", json!({"tool_name": "x", "tool_input": {}, "tool_response": [1]})),
            json!({"tool_name": "x", "tool_input": {}, "tool_response": [1]}),
        ),
        (
            event("PostToolUse", json!({"tool_name": "x", "tool_input": {}, "tool_result": "t"})),
            json!({"tool_name": "x", "tool_input": {}, "tool_response": "t"}),
        ),
        (event("UserPromptSubmit", json!({"prompt": "p"})), json!({"prompt": "p"})),
        (event("Notification", json!({"message": "m", "title": "t"})), json!({"message": "m"})),
        (event("Stop", json!({"stop_hook_active": false})), json!({"stop_hook_active": false})),
        (event("SubagentStop", json!({})), json!({"stop_hook_active": false})),
        (
            event("PreCompact", json!({"trigger": "auto", "custom_instructions": null})),
            json!({"trigger": "auto"}),
        ),
        (
            event("PreCompact", json!({"trigger": "manual", "custom_instructions": ""})),
            json!({"trigger": "manual", "custom_instructions": ""}),
        ),
        (event("SessionStart", json!({"source": "startup"})), json!({"source": "startup"})),
    ] {
        let server = Server::start(vec![ok("{}")]);
        Home::new(&forward(&server.url, "strict_data = true")).hook(&payload);
        let sent = server.seen()[0].json();
        assert_eq!(sent["data"], data, "{payload}");
        if payload.get("tool_use_id").is_none() {
            assert!(sent["event"].get("correlation_id").is_none());
        }
    }
    let server = Server::start(vec![ok("{}")]);
    Home::new(&forward(&server.url, "")).hook(&event("UserPromptSubmit", json!({"prompt": "p"})));
    assert_eq!(server.seen()[0].json()["data"]["current_working_directory"], "/");
}

#[test]
fn the_other_dialect_sends_the_agents_own_bytes() {
    let server = Server::start(vec![ok("")]);
    let home = Home::new(&forward(&server.url, "dialect = \"claude-http\""));
    let bytes = bash("ls").to_string().replace("\"s-1\"", "  \"s-1\"");
    home.run(&["hook"], &bytes);
    assert_eq!(server.seen()[0].body, bytes.as_bytes());
}

#[test]
fn sx_08_variables_and_tokens() {
    let server = Server::start(vec![ok("{}")]);
    let more = "headers = { X-A = \"<${GOOD}>\", X-B = \"<$BAD>\" }\nallow_vars = \"GOOD\"\n\
                token_file = \"token\"";
    let home = Home::new(&forward(&server.url, more));
    std::fs::write(home.path().join(".config/hookctl/token"), "tok-123\n").unwrap();
    let child = home.command(&["hook"]).env("GOOD", "g").env("BAD", "b").spawn().unwrap();
    finish(child, &bash("ls").to_string());
    let head = server.seen()[0].head.to_lowercase();
    for line in ["x-a: <g>", "x-b: <>", "authorization: bearer tok-123"] {
        assert!(head.contains(line), "{head}");
    }
    // H12: and status warns of it.
    let told = String::from_utf8(home.run(&["status"], "").stdout).unwrap();
    assert!(told.contains("allow_vars"), "{told}");
    // Without its token nothing is sent.
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new(&forward(&server.url, "token_env = \"NOT_SET\"\nfail_open = false"));
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny");
    assert!(server.seen().is_empty());
}

#[test]
fn sx_06_localhost_is_this_machine_and_no_proxy_comes_from_the_environment() {
    let server = Server::start(vec![ok(r#"{"decision":"deny"}"#)]);
    let url = server.url.replace("127.0.0.1", "localhost");
    let home = Home::new(&forward(&url, ""));
    let mut command = home.command(&["hook"]);
    for name in ["http_proxy", "HTTP_PROXY", "ALL_PROXY", "all_proxy"] {
        command.env(name, "http://127.0.0.1:1");
    }
    let output = finish(command.spawn().unwrap(), &bash("ls").to_string());
    assert_eq!(verdict(&answer_of(&output)).0, "deny");
    assert!(server.seen()[0].head.to_lowercase().contains("host: localhost"));
}

#[test]
fn a_configured_proxy_is_used_but_not_for_this_machine() {
    let proxy = Server::start(vec![Play::Proxy(r#"{"decision":"deny"}"#.into())]);
    let address = proxy.url.trim_end_matches("/hook");
    let home =
        Home::new(&forward("http://hooks.example.org/hook", &format!("proxy = \"{address}\"")));
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny", "{}", home.journal());
    assert!(proxy.seen()[0].head.starts_with("CONNECT hooks.example.org:80"));
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new(&forward(&server.url, &format!("proxy = \"{address}\"")));
    home.hook(&bash("ls"));
    assert_eq!((server.seen().len(), proxy.seen().len()), (1, 1));
}
