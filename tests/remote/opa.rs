//! Open Policy Agent: what its policies are sent, what each of their values is, and the failure table.

use super::*;

fn opa(url: &str, more: &str) -> String {
    forward(url, &format!("dialect = \"opa\"\n{more}"))
}

/// A server that answers so, and what hookctl makes of it.
fn asked(play: Play, more: &str, payload: &Value) -> (Value, Home, Server) {
    let server = Server::start(vec![play]);
    let home = Home::new(&opa(&server.url, more));
    (home.hook(payload), home, server)
}

fn result(value: &str) -> Play {
    ok(&format!("{{\"result\":{value}}}"))
}

#[test]
fn the_input_of_a_policy() {
    let raw = bash("npm test").to_string();
    let input = format!(
        r#"{{"input":{{"agent":"claude-code","event":"PreToolUse","session_id":"s-1","cwd":"/","tool":{{"name":"Bash","input":{{"command":"npm test","description":"d"}}}},"raw":{raw}}}}}"#
    );
    let (_, _, server) = asked(ok("{}"), "", &bash("npm test"));
    assert_eq!(String::from_utf8_lossy(&server.seen()[0].body), input);
    let head = server.seen()[0].head.to_lowercase();
    assert!(head.starts_with("post /hook ") && head.contains("content-type: application/json"));
    let (_, _, server) = asked(ok("{}"), "input = \"raw\"", &bash("npm test"));
    let body = format!("{{\"input\":{raw}}}");
    assert_eq!(String::from_utf8_lossy(&server.seen()[0].body), body);
    // Without a tool there is none; a prompt has its place.
    let prompt = event("UserPromptSubmit", json!({"prompt": "p"}));
    let (_, _, server) = asked(ok("{}"), "", &prompt);
    let body = format!(
        r#"{{"input":{{"agent":"claude-code","event":"UserPromptSubmit","session_id":"s-1","cwd":"/","prompt":"p","raw":{prompt}}}}}"#
    );
    assert_eq!(String::from_utf8_lossy(&server.seen()[0].body), body);
}

#[test]
fn where_no_path_is_named_it_is_the_documented_one() {
    for (path, asked_for) in [
        ("", "/v1/data/hookctl/decision"),
        ("/", "/v1/data/hookctl/decision"),
        ("?metrics", "/v1/data/hookctl/decision?metrics"),
        ("/v1/data/org/agents", "/v1/data/org/agents"),
        ("/opa/v1/data/a%20b?pretty", "/opa/v1/data/a%20b?pretty"),
    ] {
        let server = Server::start(vec![result("false")]);
        let url = server.url.replace("/hook", path);
        let home = Home::new(&opa(&url, ""));
        assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny", "{path}");
        assert!(server.seen()[0].head.starts_with(&format!("POST {asked_for} ")), "{path}");
        // Other dialects have no such path.
        let server = Server::start(vec![ok(r#"{"decision":"deny"}"#)]);
        Home::new(&forward(&server.url.replace("/hook", ""), "")).hook(&bash("ls"));
        assert!(server.seen()[0].head.starts_with("POST / "), "{path}");
    }
}

#[test]
fn every_value_of_a_rule() {
    let denied = "Denied by policy";
    let server_failed = CLOSED;
    for (value, verb, reason) in [
        ("true", "", ""),
        ("false", "deny", denied),
        ("\"allow\"", "", ""),
        ("\"Deny\"", "deny", denied),
        ("\"ask\"", "ask", ""),
        ("\"halt\"", "deny", denied),
        ("[]", "", ""),
        (r#"["outside","a key"]"#, "deny", "outside; a key"),
        // By its keys, the strictest of several.
        (
            r#"{"decision":"deny","reason":"force push to main","rule":"git"}"#,
            "deny",
            "force push to main",
        ),
        (r#"{"decision":"allow"}"#, "", ""),
        (r#"{"allow":true}"#, "", ""),
        (r#"{"allow":false,"message":"m"}"#, "deny", "m"),
        (r#"{"deny":true,"reasons":["a","b"]}"#, "deny", "a; b"),
        (r#"{"deny":["a","b"],"reason":"c"}"#, "deny", "a; b"),
        (r#"{"deny":[],"ask":[]}"#, "", ""),
        (r#"{"deny":false,"allow":false}"#, "deny", denied),
        (r#"{"allow":true,"deny":["a"]}"#, "deny", "a"),
        (r#"{"ask":"sure?","allow":true}"#, "ask", "sure?"),
        (r#"{"ask":true,"reason":"r"}"#, "ask", "r"),
        (r#"{"ask":true,"deny":"a"}"#, "deny", "a"),
        (r#"{"halt":"now","deny":["a"]}"#, "deny", "now"),
        (r#"{"halt":false,"ask":false}"#, "", ""),
        (r#"{"context":["a"],"helper":3}"#, "", ""),
        // A no counts whatever is wrong beside it.
        (r#"{"deny":["a"],"ask":3,"decision":"maybe","updated_input":1}"#, "deny", "a"),
        // Verb sets.
        (
            r#"{"deny":[{"rule_id":"r1","reason":"low","severity":"LOW"},{"rule_id":"r2","reason":"high","severity":"HIGH"}],"halt":[],"add_context":[]}"#,
            "deny",
            "high; low",
        ),
        (r#"{"block":[{"rule_id":"r1"}]}"#, "deny", "r1"),
        (r#"{"ask":[{"reason":"r"}],"modify":[{"updated_input":{"command":"x"}}]}"#, "ask", "r"),
        (r#"{"halt":[{"reason":"h"}],"deny":[{"reason":"d"}]}"#, "deny", "h"),
        // Native.
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"n"}}"#,
            "ask",
            "n",
        ),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow","permissionDecisionReason":"n"}}"#,
            "allow",
            "n",
        ),
        (
            r#"{"deny":["a"],"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
            "deny",
            "a",
        ),
        // No answers.
        ("null", "deny", server_failed),
        ("3", "deny", server_failed),
        ("\"maybe\"", "deny", server_failed),
        ("\"modify\"", "deny", server_failed),
        ("[3]", "deny", server_failed),
        (r#"{"verdict":"fine","reason":"r"}"#, "deny", server_failed),
        (r#"{"decision":"maybe"}"#, "deny", server_failed),
        (r#"{"allow":"yes","ask":7}"#, "deny", server_failed),
        (r#"{"deny":{"a":true}}"#, "deny", server_failed),
        (r#"{"decision":"modify"}"#, "deny", server_failed),
        (r#"{"decision":"modify","updated_input":"x"}"#, "deny", server_failed),
        (r#"{"decision":"modify","modified_data":[1]}"#, "deny", server_failed),
        (r#"{"modify":[{"reason":"r"}]}"#, "deny", server_failed),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"Stop","permissionDecision":"allow"}}"#,
            "deny",
            server_failed,
        ),
    ] {
        let (answer, ..) = asked(result(value), "fail_open = false", &bash("ls"));
        let (found, why) = verdict(&answer);
        assert_eq!(found, verb, "{value}: {answer}");
        let why = why.strip_suffix("[user:remote.x]").unwrap_or(why).trim_end();
        if !reason.is_empty() {
            assert_eq!(why, reason, "{value}");
        }
        let halts = value.contains("\"halt\":\"") || value.contains("\"h\"") || value == "\"halt\"";
        assert_eq!(answer.get("continue"), halts.then_some(&json!(false)), "{value}");
    }
    let (answer, ..) = asked(result("true"), "on_allow = \"allow\"", &bash("ls"));
    assert_eq!(verdict(&answer).0, "allow");
    let more = r#"{"allow":true,"context":["a","b"],"system_message":"told"}"#;
    let (answer, ..) = asked(result(more), "", &bash("ls"));
    assert_eq!(answer["hookSpecificOutput"]["additionalContext"], "a\nb");
    assert_eq!(answer["systemMessage"], "told");
}

#[test]
fn a_policy_changes_a_call() {
    let merged = |command: &str| json!({ "command": command, "description": "d" });
    for (value, input) in [
        (r#"{"decision":"modify","updated_input":{"command":"npm ci"}}"#, merged("npm ci")),
        (r#"{"updated_input":{"command":"npm ci"},"allow":true}"#, merged("npm ci")),
        (r#"{"modified_data":{"tool_input":{"command":"npm ci"}}}"#, merged("npm ci")),
        (r#"{"modified_data":{"command":"npm ci"}}"#, merged("npm ci")),
        (r#"{"updated_input":{"command":"a","description":null}}"#, json!({ "command": "a" })),
        // The higher priority wins a key, of equal ones the first.
        (
            r#"{"modify":[{"updated_input":{"command":"high"},"priority":90},
                {"updated_input":{"command":"low","description":"e"}},
                {"updated_input":{"description":"f"}}]}"#,
            json!({ "command": "high", "description": "e" }),
        ),
        (
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"a"}}}"#,
            json!({ "command": "a" }),
        ),
    ] {
        for (setting, verb) in [("", ""), ("on_modify = \"ask\"", "ask")] {
            let (answer, ..) = asked(result(value), setting, &bash("npm test"));
            assert_eq!(answer["hookSpecificOutput"]["updatedInput"], input, "{value}");
            assert_eq!(verdict(&answer).0, verb, "{value}");
        }
    }
    // Nothing of it beside a no, and the journal knows.
    let value = r#"{"deny":["a"],"updated_input":{"command":"x"}}"#;
    let (answer, home, _) = asked(result(value), "", &bash("ls"));
    assert_eq!(verdict(&answer), ("deny", "a [user:remote.x]"));
    assert!(answer["hookSpecificOutput"].get("updatedInput").is_none());
    assert!(home.journal().contains("dropped"), "{}", home.journal());
    let post = json!({"tool_name": "x", "tool_input": {}, "tool_response": {"a": 1, "b": 2}});
    let value = r#"{"modified_data":{"tool_response":{"a":"-"}}}"#;
    let (answer, ..) = asked(result(value), "", &event("PostToolUse", post));
    let output = &answer["hookSpecificOutput"]["updatedToolOutput"];
    assert_eq!(*output, json!({ "a": "-", "b": 2 }));
}

#[test]
fn o2_o7_undefined_is_what_the_setting_says() {
    for body in [
        "{}",
        r#"{"result":{}}"#,
        r#"{"decision_id":"id-1","warning":{"code":"api_usage_warning"},"metrics":{}}"#,
    ] {
        for (setting, verb, reason, outcome) in [
            ("", "", "", "answered"),
            ("undefined = \"no_opinion\"", "", "", "answered"),
            (
                "undefined = \"deny\"",
                "deny",
                "The policy has no answer [user:remote.x]",
                "answered",
            ),
            ("undefined = \"fail\"", "", "", "failed"),
            ("undefined = \"fail\"\nfail_open = false", "deny", "", "failed"),
        ] {
            let (answer, home, server) = asked(ok(body), setting, &bash("ls"));
            assert_eq!(verdict(&answer).0, verb, "{body}, {setting}");
            assert!(verdict(&answer).1.starts_with(reason), "{body}, {setting}: {answer}");
            assert_eq!(home.remote()["outcome"], outcome, "{body}, {setting}");
            assert!(home.journal().contains("undefined: no such rule"), "{body}, {setting}");
            assert_eq!(server.seen().len(), 1);
        }
    }
    // It is worth a word where somebody looks.
    let server = Server::start(vec![ok("{}")]);
    let said = Home::new(&opa(&server.url, "")).run(&["ping", "x"], "");
    let text = String::from_utf8(said.stdout).unwrap();
    assert!(text.contains("undefined: no such rule, or nothing to say"), "{text}");
    assert_eq!(said.status.code(), Some(0), "{text}");
}

#[test]
fn status_says_where_the_input_may_go_on_to() {
    let home = Home::new(&opa("http://127.0.0.1:1", ""));
    let told = String::from_utf8(home.run(&["status"], "").stdout).unwrap();
    assert!(told.contains("decision logs"), "{told}");
    assert!(told.contains("http://127.0.0.1:1/v1/data/hookctl/decision"), "{told}");
}

#[test]
fn a_decision_id_is_in_the_journal_and_in_a_reason_on_demand() {
    let id = "4ca636c1-55e4-417a-b1d8-4aceb67960d1";
    for (setting, result, reason) in [
        ("", "[\"a\"]", "a [user:remote.x]".to_string()),
        ("show_decision_id = true", "[\"a\"]", format!("a (decision {id}) [user:remote.x]")),
        ("show_decision_id = true", "\"ask\"", format!("(decision {id}) [user:remote.x]")),
        ("show_decision_id = true", "true", String::new()),
    ] {
        let body = format!("{{\"result\":{result},\"decision_id\":\"{id}\"}}");
        let (answer, home, _) = asked(ok(&body), setting, &bash("ls"));
        assert_eq!(verdict(&answer).1, reason);
        assert!(home.journal().contains(&format!("decision_id: {id}")), "{}", home.journal());
    }
}

#[test]
fn the_failure_table_o1_to_o10() {
    let unauthorized = r#"{"code":"unauthorized","message":"request rejected"}"#;
    let conflict = r#"{"code":"internal_error","errors":[{"code":"eval_conflict_error"}]}"#;
    let large = format!("{{\"result\":[\"{}\"]}}", "x".repeat(2 << 20));
    for (row, play, requests, cause) in [
        ("O1", Play::ResetBefore, 3, "connection reset"),
        ("O4", Play::Answer(500, "", conflict.into()), 3, "HTTP 500 (rules that contradict"),
        ("O5", result("null"), 1, "invalid answer"),
        ("O6", Play::Answer(401, "", unauthorized.into()), 1, "(token or system.authz)"),
        ("O8", ok(&large), 1, "1024 KiB"),
        ("O9", result(r#"{"decision":"modify","updated_input":3}"#), 1, "invalid answer"),
        ("400", Play::Answer(400, "", r#"{"code":"invalid_parameter"}"#.into()), 1, "HTTP 400"),
        ("404", Play::Answer(404, "", "{}".into()), 1, "is this OPA's Data API?"),
        ("405", status(405), 1, "HTTP 405"),
        ("nothing", ok(""), 1, "invalid answer"),
        // Of another protocol: to take it for undefined would let a no pass.
        ("another", ok(r#"{"decision":"deny"}"#), 1, "no `result`"),
    ] {
        for (fail_open, verb) in [(true, ""), (false, "deny")] {
            let more = format!("fail_open = {fail_open}");
            let (answer, home, server) = asked(play.clone(), &more, &bash("ls"));
            assert_eq!(verdict(&answer).0, verb, "{row}: {answer}");
            assert_eq!(server.seen().len(), requests, "{row}");
            let remote = home.remote();
            assert!(remote["cause"].as_str().unwrap().contains(cause), "{row}: {remote}");
        }
    }
    for (fail_open, verb) in [(true, ""), (false, "deny")] {
        let home = Home::new(&opa(&Server::nobody(), &format!("fail_open = {fail_open}")));
        assert_eq!(verdict(&home.hook(&bash("ls"))).0, verb, "O1");
    }
    // O10: the bare input of the older API.
    let home = Home::new(&opa("http://127.0.0.1:1/v0/data/hookctl/decision", ""));
    let said = home.run(&["check"], "");
    let text =
        String::from_utf8_lossy(&said.stdout).into_owned() + &String::from_utf8_lossy(&said.stderr);
    assert!(said.status.code() != Some(0) && text.contains("/v0 takes no `input`"), "{text}");
}

/// A policy that contradicts itself about one call has an opinion about the next.
#[test]
fn o4_an_error_of_a_policy_does_not_silence_it() {
    let server = Server::start(vec![status(500), status(500), result("false")]);
    let home = Home::new(&opa(&server.url, "").replace("retry_count = 2", ""));
    assert_eq!(home.hook(&bash("ls")), Value::Null);
    assert_eq!(home.remote()["attempts"], 2, "retried once, unless a file says otherwise");
    assert_eq!(verdict(&home.hook(&bash("pwd"))).0, "deny");
}

/// The example's request is what is sent about the sample payload.
#[test]
fn the_example_shows_what_is_sent() {
    let read = |path: &str| {
        let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("examples");
        std::fs::read_to_string(root.join(path)).unwrap()
    };
    let config = read("servers/opa/config.toml");
    let readme = read("servers/opa/README.md");
    assert!(readme.contains(&format!("```toml\n{config}```")), "the config in README.md");
    let server = Server::start(vec![result(r#"{"ask":[],"deny":["no"]}"#)]);
    let config = config.replace("http://127.0.0.1:8181", server.url.trim_end_matches("/hook"));
    let home = Home::new(&config);
    assert_eq!(home.run(&["check"], "").status.code(), Some(0));
    let payload = read("payloads/bash-force-push.json");
    let answer = answer_of(&home.run(&["hook"], &payload));
    assert_eq!(verdict(&answer), ("deny", "no [user:policy]"));
    let [seen] = &server.seen()[..] else { panic!("one request") };
    assert!(seen.head.starts_with("POST /v1/data/hookctl/decision "), "{}", seen.head);
    let sent = serde_json::to_string_pretty(&seen.json()).unwrap() + "\n";
    assert_eq!(sent, read("servers/opa/request.json"));
}
