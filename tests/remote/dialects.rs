//! The other envelopes: their bytes as golden texts, and that the answers are the same ones.

use super::*;

/// What was sent, with `ID`, `MS` and `TIME` for what differs each time.
fn golden(sent: &[u8]) -> String {
    let mut text = String::from_utf8(sent.to_vec()).unwrap();
    let json: Value = serde_json::from_str(&text).unwrap();
    let (id, time) = match json.get("specversion") {
        Some(_) => (&json["id"], &json["time"]),
        None => (&json["event"]["id"], &json["event"]["timestamp"]),
    };
    let mark = if time.is_number() { "MS" } else { "TIME" };
    text = text.replace(id.as_str().unwrap_or("-"), "ID");
    text.replace(time.to_string().trim_matches('"'), mark)
}

fn sent(dialect: &str, payload: &str) -> String {
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new(&forward(&server.url, &format!("dialect = \"{dialect}\"")));
    assert_eq!(answer_of(&home.run(&["hook"], payload)), Value::Null, "{payload}");
    let head = server.seen()[0].head.to_lowercase();
    // Express and the servers written for these clients read no other type.
    assert!(head.lines().any(|line| line == "content-type: application/json"), "{head}");
    golden(&server.seen()[0].body)
}

#[test]
fn s1_40_cchd_v1_has_the_bytes_of_the_first_client() {
    let head = |name: &str, more: &str| {
        format!(
            r#"{{"version":"1.0","event":{{"type":"{name}","name":"{name}","timestamp":MS,"id":"ID","session_id":"s"{more}}},"data":"#
        )
    };
    for (name, fields, more, data) in [
        (
            "PreToolUse",
            r#""correlation_id":"c9","tool_use_id":"t","tool_name":"Bash","tool_input":{"command":"deny"}"#,
            r#","correlation_id":"c9""#,
            r#"{"tool_name":"Bash","tool_input":{"command":"deny"}}"#,
        ),
        (
            "PreToolUse",
            r#""tool_use_id":"t1","prompt_id":"p1","tool_name":"Read","tool_input":{"file_path":"/a"}"#,
            r#","correlation_id":"t1""#,
            r#"{"tool_name":"Read","tool_input":{"file_path":"/a"}}"#,
        ),
        // Of any type: the first client left out what is no object.
        (
            "PostToolUse",
            r#""tool_name":"x","tool_input":{},"tool_response":["a",null],"duration_ms":12"#,
            "",
            r#"{"tool_name":"x","tool_input":{},"tool_response":["a",null]}"#,
        ),
        ("UserPromptSubmit", r#""prompt":"fix ü""#, "", r#"{"prompt":"fix ü"}"#),
        ("Notification", r#""message":"m","title":"t""#, "", r#"{"message":"m"}"#),
        ("Stop", r#""stop_hook_active":true"#, "", r#"{"stop_hook_active":true}"#),
        ("SubagentStop", r#""agent_id":"a""#, "", r#"{"stop_hook_active":false}"#),
        ("PreCompact", r#""trigger":"auto""#, "", r#"{"trigger":"auto"}"#),
        ("SessionStart", r#""source":"startup""#, "", "{}"),
        ("PostToolUseFailure", r#""tool_name":"x","tool_input":{},"error":"e""#, "", "{}"),
    ] {
        let payload = format!(
            r#"{{"session_id":"s","cwd":"/","transcript_path":"/t","hook_event_name":"{name}",{fields}}}"#
        );
        let wanted = format!("{}{data}}}", head(name, more));
        assert_eq!(sent("cchd-v1", &payload), wanted);
    }
    let none = r#"{"cwd":"/","hook_event_name":"Stop"}"#;
    let wanted = head("Stop", "").replace("\"s\"", "\"\"") + r#"{"stop_hook_active":false}}"#;
    assert_eq!(sent("cchd-v1", none), wanted);
}

#[test]
fn s1_40_cloudevents_carry_the_payload_as_it_was_sent() {
    let head = |name: &str, more: &str| {
        format!(
            r#"{{"specversion":"1.0","type":"com.claudecode.hook.{name}","source":"/claude-code/hooks","id":"ID","time":"TIME","datacontenttype":"application/json"{more},"data":"#
        )
    };
    for (name, more, payload) in [
        (
            "PreToolUse",
            r#","sessionid":"s","correlationid":"c9""#,
            r#"{"hook_event_name":"PreToolUse","session_id":"s","correlation_id":"c9","tool_name":"Bash","tool_input":{"command":"ls"}}"#,
        ),
        // To the byte: blanks, the order of keys, numbers, the older name.
        (
            "PostToolUse",
            r#","sessionid":"s""#,
            r#"{"tool_result": 1.50e2,  "tool_name":"x", "a":2, "n":123456789012345678901234567890,"hook_event_name":"PostToolUse","session_id":"s"}"#,
        ),
        // An attribute without a text is left out.
        ("Stop", "", r#"{"hook_event_name":"Stop","session_id":"","stop_hook_active":false}"#),
    ] {
        let wanted = format!("{}{payload}}}", head(name, more));
        assert_eq!(sent("cloudevents", &format!("\n{payload}\n")), wanted);
    }
    // What is no JSON before it was repaired must not break the envelope.
    let lone = r#"{"hook_event_name":"Stop","session_id":"s","x":"\ud800"}"#;
    let text = sent("cloudevents", lone);
    assert!(text.ends_with(",\"x\":\"\u{fffd}\"}}"), "{text}");
}

#[test]
fn s1_04_s1_40_every_attempt_sends_the_same_bytes() {
    for dialect in ["hooks-server", "cchd-v1", "cloudevents", "claude-http", "opa"] {
        let other = Server::start(vec![status(503), ok("")]);
        let server = Server::start(vec![status(503), status(429), Play::ResetAfter]);
        let urls = format!("{}\", \"{}", server.url, other.url);
        let config = forward(&urls, &format!("dialect = \"{dialect}\""))
            .replace("url = \"", "url = [\"")
            .replace("\"\nevents", "\"]\nevents");
        let home = Home::new(&config);
        assert_eq!(home.hook(&bash("ls")), Value::Null, "{dialect}");
        let all: Vec<_> = server.seen().into_iter().chain(other.seen()).collect();
        let bodies: Vec<_> = all.iter().map(|one| &one.body).filter(|b| !b.is_empty()).collect();
        assert!(bodies.len() >= 4, "{dialect}: {}", bodies.len());
        assert!(bodies.iter().all(|body| *body == bodies[0]), "{dialect}");
    }
}

#[test]
fn s1_40_the_answers_are_the_same_in_each_envelope() {
    let merged = json!({ "command": "ls -l", "description": "d" });
    for dialect in ["hooks-server", "cchd-v1", "cloudevents"] {
        for (body, verb, input) in [
            ("", "", None),
            ("{}", "", None),
            (r#"{"decision":"allow"}"#, "", None),
            (r#"{"decision":" Block ","reason":"r"}"#, "deny", None),
            (r#"{"version":"1.0","decision":"confirm","reason":"r"}"#, "ask", None),
            (r#"{"continue":false,"stopReason":"r"}"#, "deny", None),
            (r#"{"action":"block"}"#, "deny", None),
            (
                r#"{"decision":"modify","modified_data":{"tool_input":{"command":"ls -l"}}}"#,
                "",
                Some(&merged),
            ),
            (r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#, "allow", None),
            // No answers.
            (r#"{"decision":"maybe"}"#, "deny", None),
            (r#"{"decision":"modify"}"#, "deny", None),
            ("[]", "deny", None),
            ("<html>", "deny", None),
        ] {
            let server = Server::start(vec![ok(body)]);
            let more = format!("dialect = \"{dialect}\"\nfail_open = false");
            let answer = Home::new(&forward(&server.url, &more)).hook(&bash("ls"));
            assert_eq!(verdict(&answer).0, verb, "{dialect}: {body}");
            let found = answer["hookSpecificOutput"].get("updatedInput");
            assert_eq!(found, input, "{dialect}: {body}");
        }
    }
}

/// As the clients of that envelope have it.
#[test]
fn s1_40_cloudevents_have_defaults_of_their_own() {
    let server = Server::start(vec![status(503)]);
    let config = forward(&server.url, "dialect = \"cloudevents\"").replace("retry_count = 2", "");
    let answer = Home::new(&config).hook(&bash("ls"));
    assert_eq!(verdict(&answer), ("deny", &*format!("{CLOSED} [user:remote.x]")));
    assert_eq!(server.seen().len(), 3);
}

#[test]
fn a_test_and_a_local_no_are_told_where_the_body_has_room() {
    let rule = "[rule.no]\ncommand = \"ls\"\ndeny = \"not here\"";
    for (dialect, more, path) in [
        ("hooks-server", "", "/data/hookctl"),
        ("cchd-v1", "", "/data/hookctl"),
        ("cloudevents", "", ""),
        ("opa", "", "/input/hookctl"),
        ("opa", "input = \"raw\"\n", "/input/hookctl"),
        ("claude-http", "", "/hookctl"),
    ] {
        let server = Server::start(vec![ok("{}")]);
        let config = format!("dialect = \"{dialect}\"\naudit = true\n{more}{rule}");
        let home = Home::new(&forward(&server.url, &config));
        assert_eq!(home.run(&["ping", "x"], "").status.code(), Some(0), "{dialect}");
        assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny");
        let seen = server.seen_when(2);
        let [ping, told] = &seen[..] else { panic!("{dialect}: two requests") };
        let (ping, told) = (ping.json(), told.json());
        if dialect == "cloudevents" {
            assert_eq!(ping["hookctltest"], true, "{ping}");
            assert_eq!(
                (&told["hookctlverdict"], &told["hookctlrule"]),
                (&json!("deny"), &json!("user:no"))
            );
            assert_eq!(told["data"], bash("ls"));
            continue;
        }
        assert_eq!(ping.pointer(path), Some(&json!({ "test": true })), "{dialect}: {ping}");
        let mark = json!({ "verdict": "deny", "rule": "user:no", "reason": "not here [user:no]" });
        assert_eq!(told.pointer(path), Some(&mark), "{dialect}: {told}");
    }
}
