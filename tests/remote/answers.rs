//! What a server's answers become, event by event.

use super::*;

#[test]
fn s1_16_s1_18_s1_22_s1_38_every_spelling_of_a_decision() {
    let deny = |reason: &str| ("deny".to_string(), reason.to_string());
    let silent = || (String::new(), String::new());
    let mut cases: Vec<(String, (String, String))> = Vec::new();
    for word in ["allow", "approve", "approved", "continue", " OK ", "pass", "Yes", ""] {
        cases.push((format!("{{\"decision\":\"{word}\"}}"), silent()));
    }
    for value in ["true", "null"] {
        cases.push((format!("{{\"decision\":{value}}}"), silent()));
    }
    for word in ["block", "deny", "Denied", "reject", "cancel", "no"] {
        let body = format!("{{\"decision\":\"{word}\",\"reason\":\"Dangerous command detected\"}}");
        cases.push((body, deny("Dangerous command detected [user:remote.x]")));
    }
    let default = "Blocked by server [user:remote.x]";
    for body in [
        r#"{"decision":false}"#,
        r#"{"action":"block"}"#,
        r#"{"decision":"allow","hookSpecificOutput":{"permissionDecision":"deny"}}"#,
        r#"{"decision":"block","hookSpecificOutput":{"permissionDecision":"allow"}}"#,
    ] {
        cases.push((body.into(), deny(default)));
    }
    for word in ["ask", "prompt", "confirm"] {
        let reason = "sure? [user:remote.x]".to_string();
        cases.push((
            format!("{{\"decision\":\"{word}\",\"reason\":\"sure?\"}}"),
            ("ask".into(), reason),
        ));
    }
    for (body, wanted) in [
        ("{}", silent()),
        (r#"{"action":"continue"}"#, silent()),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"deny"}}"#,
            silent(),
        ),
        (
            r#"{"hookSpecificOutput":{"permissionDecision":"allow","permissionDecisionReason":"fine"}}"#,
            ("allow".into(), "fine [user:remote.x]".into()),
        ),
    ] {
        cases.push((body.into(), wanted));
    }
    for (body, wanted) in cases {
        let server = Server::start(vec![ok(&body)]);
        let answer = Home::new(&forward(&server.url, "")).hook(&bash("ls"));
        let (verb, reason) = verdict(&answer);
        assert_eq!((verb.to_string(), reason.to_string()), wanted, "{body}");
    }
    for word in ["halt", "stop"] {
        let server = Server::start(vec![ok(&format!("{{\"decision\":\"{word}\"}}"))]);
        let answer = Home::new(&forward(&server.url, "")).hook(&bash("ls"));
        assert_eq!((verdict(&answer).0, &answer["continue"]), ("deny", &json!(false)));
    }
    let server = Server::start(vec![ok(r#"{"decision":"allow"}"#)]);
    let answer = Home::new(&forward(&server.url, "on_allow = \"allow\"")).hook(&bash("ls"));
    assert_eq!(verdict(&answer).0, "allow");
}

/// What an event of Claude Code says beside the fields of every event.
fn fields(name: &str) -> Value {
    match name {
        "PreToolUse" | "PermissionRequest" | "PermissionDenied" => {
            json!({"tool_name": "Bash", "tool_input": {"command": "ls"}})
        }
        "PostToolUse" => json!({"tool_name": "x", "tool_input": {}, "tool_response": 1}),
        "PostToolUseFailure" => json!({"tool_name": "x", "tool_input": {}, "error": "e"}),
        "Stop" | "SubagentStop" => json!({"stop_hook_active": false}),
        "UserPromptSubmit" | "UserPromptExpansion" => json!({"prompt": "p"}),
        _ => json!({}),
    }
}

/// The block column of the protocol's table for Claude Code, for every event that the client has. Where the client
/// does otherwise than the table, the client counts: a call that failed has nothing to block, so the model is told;
/// tasks, idle teammates and changed settings are blocked by exit status 2, where the table only has a notice; what is
/// printed for a new worktree is taken for its path.
#[test]
fn s1_17_a_block_on_every_event() {
    let reason = "no [user:remote.x]";
    let specific = |name: &str, more: Value| {
        let mut told = json!({ "hookEventName": name });
        told.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "hookSpecificOutput": told })
    };
    let block = || json!({ "decision": "block", "reason": reason });
    let denied = || json!({ "permissionDecision": "deny", "permissionDecisionReason": reason });
    for spec in hookctl::agent::default_agent().events() {
        let name = spec.name;
        let (code, wanted) = match name {
            "PreToolUse" | "PreModelSwitch" => (0, specific(name, denied())),
            "PermissionRequest" => {
                let decision = json!({ "behavior": "deny", "message": reason });
                (0, specific(name, json!({ "decision": decision })))
            }
            "PostToolUseFailure" => (0, specific(name, json!({ "additionalContext": reason }))),
            "PostToolUse"
            | "PostToolBatch"
            | "UserPromptSubmit"
            | "UserPromptExpansion"
            | "Stop"
            | "SubagentStop"
            | "PreCompact" => (0, block()),
            "TaskCreated" | "TaskCompleted" | "TeammateIdle" | "ConfigChange" => (2, Value::Null),
            "WorktreeCreate" => (0, Value::Null),
            _ => (0, json!({ "systemMessage": "no" })),
        };
        let server = Server::start(vec![ok(r#"{"decision":"block","reason":"no"}"#)]);
        let home = Home::new(&forward(&server.url, ""));
        let out = home.run(&["hook"], &event(name, fields(name)).to_string());
        assert_eq!(out.status.code(), Some(code), "{name}");
        let told = serde_json::from_slice(&out.stdout).unwrap_or(Value::Null);
        assert_eq!(told, wanted, "{name}: {}", String::from_utf8_lossy(&out.stdout));
        assert_eq!(out.stdout.is_empty(), wanted.is_null(), "{name}");
        if code == 2 {
            assert_eq!(String::from_utf8_lossy(&out.stderr).trim(), reason, "{name}");
        }
        assert_eq!(server.connections(), 1, "{name}: the server was asked");
    }
    // A stop that was blocked already is not blocked again.
    for (payload, wanted) in blocked(reason) {
        let server = Server::start(vec![ok(r#"{"decision":"block","reason":"no"}"#)]);
        assert_eq!(Home::new(&forward(&server.url, "")).hook(&payload), wanted, "{payload}");
    }
}

#[test]
fn s1_19_s1_39_a_modified_input_is_merged_and_carries_no_allow() {
    let write = json!({
        "session_id": "s", "cwd": "/", "hook_event_name": "PreToolUse", "tool_name": "Write",
        "tool_input": {"file_path": "/w/config.json", "content": "{}"}, "tool_use_id": "t"
    });
    let merged = json!({"file_path": "/w/config.local.json", "content": "{}"});
    let modify = |data: &str| format!("{{\"decision\":\"modify\",\"modified_data\":{data}}}");
    for data in [
        r#"{"tool_input":{"file_path":"/w/config.local.json"}}"#,
        r#"{"file_path":"/w/config.local.json","tool_name":"Bash"}"#,
    ] {
        for (setting, verb) in
            [("", ""), ("on_modify = \"allow\"", "allow"), ("on_modify = \"ask\"", "ask")]
        {
            let server = Server::start(vec![ok(&modify(data))]);
            let answer = Home::new(&forward(&server.url, setting)).hook(&write);
            assert_eq!(answer["hookSpecificOutput"]["updatedInput"], merged, "{data} {setting}");
            assert_eq!(verdict(&answer).0, verb, "{setting}");
        }
    }
    // The new input is judged like any other.
    let deny = "[rule.secret]\ntool = \"Write\"\npath = \"*.local.json\"\ndeny = \"not there\"";
    let server = Server::start(vec![ok(&modify(r#"{"file_path":"/w/config.local.json"}"#))]);
    let answer = Home::new(&forward(&server.url, deny)).hook(&write);
    assert_eq!(verdict(&answer), ("deny", "not there [user:secret]"));
    // Nothing changed is no objection.
    let server = Server::start(vec![ok(&modify(r#"{"tool_input":{"content":"{}"}}"#))]);
    assert_eq!(Home::new(&forward(&server.url, "")).hook(&write), Value::Null);
}

#[test]
fn s1_20_s1_21_what_other_events_make_of_a_modification() {
    let modify = |data: &str| {
        format!(
            "{{\"decision\":\"modify\",\"modified_data\":{data},\"metadata\":{{\"rule\":\"r7\"}}}}"
        )
    };
    let post = event(
        "PostToolUse",
        json!({"tool_name": "Bash", "tool_input": {}, "tool_response": {"stdout": "a", "stderr": ""}}),
    );
    let server = Server::start(vec![ok(&modify(r#"{"tool_response":{"stdout":"b"}}"#))]);
    let home = Home::new(&forward(&server.url, ""));
    let answer = home.hook(&post);
    let output = &answer["hookSpecificOutput"]["updatedToolOutput"];
    assert_eq!(*output, json!({"stdout": "b", "stderr": ""}));
    assert!(home.journal().contains("r7") && !answer.to_string().contains("r7"));

    let server = Server::start(vec![ok(&modify(r#"{"prompt":"better"}"#))]);
    let answer = Home::new(&forward(&server.url, ""))
        .hook(&event("UserPromptSubmit", json!({"prompt": "p"})));
    assert_eq!(answer["hookSpecificOutput"]["additionalContext"], "Modified prompt: better");

    let server = Server::start(vec![ok(&modify(r#"{"custom_instructions":"keep names"}"#))]);
    let payload = event("PreCompact", json!({"trigger": "auto"})).to_string();
    let output = Home::new(&forward(&server.url, "")).run(&["hook"], &payload);
    assert_eq!(output.stdout, b"keep names\n");

    for (name, data) in [("Stop", r#"{"a":1}"#), ("Notification", r#"{"message":"x"}"#)] {
        let server = Server::start(vec![ok(&modify(data))]);
        let home = Home::new(&forward(&server.url, ""));
        assert_eq!(home.hook(&event(name, json!({"message": "m"}))), Value::Null);
        assert!(home.journal().contains("can be modified"), "{name}");
    }
}

#[test]
fn s1_23_any_status_of_success_is_an_answer_and_an_empty_one_is_no_objection() {
    for play in [
        Play::Answer(204, "", String::new()),
        ok(""),
        ok(" \n"),
        ok("\u{feff}{}"),
        Play::Answer(201, "", "{}".into()),
    ] {
        let server = Server::start(vec![play]);
        let home = Home::new(&forward(&server.url, "fail_open = false"));
        assert_eq!(home.hook(&bash("ls")), Value::Null);
        assert_eq!(home.remote()["outcome"], "answered");
    }
}

#[test]
fn the_answers_of_claude_http() {
    let of = |specific: &str| {
        format!("{{\"hookSpecificOutput\":{{\"hookEventName\":\"PreToolUse\",{specific}}}}}")
    };
    for (play, verb) in [
        (ok("{}"), ""),
        (ok(&of(r#""permissionDecision":"deny","permissionDecisionReason":"r""#)), "deny"),
        (ok(&of(r#""permissionDecision":"allow""#)), "allow"),
        (ok(&of(r#""permissionDecision":"ask""#)), "ask"),
        (ok(&of(r#""permissionDecision":"defer""#)), "defer"),
        // H4, H6, H8, H9, a wrong type: failures, closed here.
        (Play::Answer(403, "", of(r#""permissionDecision":"allow""#)), "deny"),
        (ok("blocked"), "deny"),
        (ok(&of(r#""permissionDecision":"allow""#).replace("PreToolUse", "Stop")), "deny"),
        (ok(&of(r#""permissionDecision":"maybe""#)), "deny"),
        (ok(&of(r#""permissionDecision":"allow","updatedInput":[]"#)), "deny"),
    ] {
        let server = Server::start(vec![play]);
        let home = Home::new(&forward(&server.url, "dialect = \"claude-http\"\nfail_open = false"));
        assert_eq!(verdict(&home.hook(&bash("ls"))).0, verb);
    }
    // The input is whole here.
    let server = Server::start(vec![ok(&of(r#""updatedInput":{"command":"ls -l"}"#))]);
    let home = Home::new(&forward(&server.url, "dialect = \"claude-http\""));
    let answer = home.hook(&bash("ls"));
    assert_eq!(answer["hookSpecificOutput"]["updatedInput"], json!({"command": "ls -l"}));
    // H10
    let body = of(r#""permissionDecision":"allow""#).replace("PreToolUse", "PermissionRequest");
    let server = Server::start(vec![ok(&body)]);
    let home = Home::new(&forward(&server.url, "dialect = \"claude-http\""));
    let payload =
        event("PermissionRequest", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
    assert_eq!(home.hook(&payload)["hookSpecificOutput"]["decision"]["behavior"], "allow");
}

#[test]
fn an_ask_where_nobody_can_be_asked_and_an_input_where_there_is_none() {
    let post = json!({"tool_name": "x", "tool_input": {}, "tool_response": 1});
    let permission = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
    for (payload, decision) in [
        (event("UserPromptSubmit", json!({"prompt": "p"})), json!("block")),
        (event("PostToolUse", post.clone()), Value::Null),
        (event("Stop", json!({"stop_hook_active": false})), Value::Null),
        (event("PermissionRequest", permission), Value::Null),
    ] {
        let server = Server::start(vec![ok(r#"{"decision":"ask","reason":"?"}"#)]);
        let answer = Home::new(&forward(&server.url, "")).hook(&payload);
        assert_eq!(answer["decision"], decision, "{payload}");
    }
    let body = r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedInput":{"a":1}}}"#;
    let server = Server::start(vec![ok(body)]);
    let home = Home::new(&forward(&server.url, "dialect = \"claude-http\""));
    assert_eq!(home.hook(&event("PostToolUse", post)), Value::Null);
}
