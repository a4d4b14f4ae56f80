//! `ping` and `status` say "up" of what takes questions, and of nothing else: they ask one by POST. Where a
//! human answers, it is one that reaches nobody.

use super::*;

const BYPASS: &str = r#"{"decision":"allow","scope":"session","message":"bypass_permissions"}"#;
const HEALTHY: &str = r#"{"status":"ok","time":"2026-11-20T14:00:00Z"}"#;

/// cdev's server: asks nobody in a session that bypasses permissions, and its health is open to all. All
/// other posts get the play.
fn cdev(hooks: Play) -> Server {
    Server::start(vec![Play::By(std::sync::Arc::new(move |head: &str, _: &Value| {
        match head.starts_with("GET /hook/health ") {
            true => ok(HEALTHY),
            false => hooks.clone(),
        }
    }))])
}

/// The human is asked in any other mode, and has not answered yet.
fn asks_in_other_modes() -> Play {
    Play::Think(std::sync::Arc::new(|asked: &Value| {
        (asked["permission_mode"] == "bypassPermissions").then(|| BYPASS.to_string())
    }))
}

fn home(url: &str, more: &str) -> Home {
    Home::new(&format!("[remote.x]\nurl = \"{url}\"\nevents = [\"PreToolUse\"]\n{more}\n"))
}

fn health(home: &Home) -> String {
    let report: Value = serde_json::from_str(&home.told(&["status", "--json"])).unwrap();
    report["servers"][0]["health"].as_str().unwrap().to_string()
}

fn ping(home: &Home) -> (i32, String) {
    let output = home.run(&["ping", "x"], "");
    (output.status.code().unwrap(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn s0_16_cdev_is_up_where_a_question_would_be_taken() {
    let no = r#"{"decision":"ask","message":"permission_manager_not_configured"}"#;
    let later = |status, header| Play::Answer(status, header, String::new());
    for (play, up, why) in [
        (asks_in_other_modes(), true, ""),
        (status(401), false, "HTTP 401 (it wants a token, see token_file)"),
        (status(403), false, "HTTP 403"),
        (status(404), false, "HTTP 404"),
        (status(405), false, "HTTP 405"),
        (status(426), false, "HTTP 426 (it wants https)"),
        (later(429, "retry-after: 60\r\n"), false, "HTTP 429"),
        (status(500), false, "HTTP 500"),
        (status(503), false, "HTTP 503"),
        (later(302, "location: /health\r\n"), false, "redirect"),
        (ok(HEALTHY), false, "it has no decision"),
        (ok(r#"{"ok":true}"#), false, "not blocking"),
        (ok(no), false, "permission_manager_not_configured"),
        (ok(r#"{"decision":"ask","message":"timeout"}"#), false, "timeout"),
        (ok(""), false, "it has no decision"),
        (ok("<html>"), false, "invalid answer"),
        (Play::Raw(b"SSH-2.0-x\r\n\r\n"), false, "no HTTP"),
        (Play::Stall, false, "no answer within"),
    ] {
        let server = cdev(play);
        let home = home(&server.url, "dialect = \"cdev\"");
        let (code, told) = ping(&home);
        assert_eq!((code, told.contains("up, HTTP 200")), (i32::from(!up), up), "{told}");
        assert!(told.contains(why) && told.contains("down after") != up, "{told}");
        assert_eq!(health(&home) == "up", up, "{why}");
        let told = home.told(&["status"]);
        assert_eq!(told.contains("up, "), up, "{told}");
        // Asked where questions are asked, and nobody is: never the same id twice.
        let seen = server.seen();
        assert_eq!(seen.len(), 3);
        let mut ids = std::collections::BTreeSet::new();
        for one in &seen {
            let line = "POST /hook/api/hooks/permission-request ";
            assert!(one.head.starts_with(line), "{}", one.head);
            let body = one.json();
            assert_eq!(body["permission_mode"], "bypassPermissions");
            assert_eq!(body["hook_event_name"], "PreToolUse");
            ids.insert(body["tool_use_id"].as_str().unwrap().to_string());
        }
        assert_eq!(ids.len(), 3, "{ids:?}");
    }
    let home = home(&Server::nobody(), "dialect = \"cdev\"");
    assert!(ping(&home).1.contains("connection refused"));
    assert_eq!(health(&home), "down");
}

/// The token that questions have is the one that is tried.
#[test]
fn a_token_that_is_wrong_is_found_out() {
    let server =
        Server::start(vec![Play::By(std::sync::Arc::new(|head: &str, _: &Value| {
            match head.to_lowercase().contains("authorization: bearer t-1") {
                true => ok(BYPASS),
                false => status(401),
            }
        }))]);
    let home = home(&server.url, "dialect = \"cdev\"\ntoken_file = \"token\"");
    for (token, up) in [("t-1\n", true), ("t-0\n", false)] {
        home.put("token", token);
        assert_eq!(ping(&home).0, i32::from(!up));
        assert_eq!(health(&home) == "up", up);
    }
    std::fs::remove_file(home.path().join(".config/hookctl/token")).unwrap();
    assert_ne!(health(&home), "up");
}

#[test]
fn other_servers_are_asked_by_post_as_well() {
    let allow = r#"{"decision":"allow"}"#;
    let http =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
    for (more, said) in [
        ("", allow),
        ("human = true", allow),
        ("dialect = \"cchd-v1\"\nhuman = true", allow),
        ("dialect = \"cloudevents\"\nhuman = true", allow),
        ("dialect = \"claude-http\"\nhuman = true", http),
        ("dialect = \"claude-http\"", http),
        ("dialect = \"webhook\"", ""),
    ] {
        let plays = [200, 401, 403, 404, 405, 429, 500].map(|status| {
            let body = if status == 200 { said } else { allow };
            (status, Play::Answer(status, "", body.to_string()))
        });
        for (status, play) in plays {
            // Whatever a GET there is answered.
            let server = cdev(play);
            let home = home(&server.url, more);
            let told = ping(&home).1;
            assert_eq!(told.contains("up, HTTP 200"), status == 200, "{more}: {told}");
            assert!(server.seen().iter().all(|one| one.head.starts_with("POST ")));
            // Nobody is bothered by `status`; then that is no proof, and not called one.
            let bothers = more.contains("human") || more.contains("webhook");
            let found = health(&home);
            match bothers {
                true => assert_eq!(found, "connects", "{more}, {status}"),
                false => assert_eq!(found == "up", status == 200, "{more}, {status}"),
            }
            let posts = server.seen().iter().filter(|one| !one.head.is_empty()).count();
            assert_eq!(posts, if bothers { 1 } else { 2 }, "{more}");
        }
    }
    let server = cdev(ok(allow));
    let told = home(&server.url, "human = true").told(&["status"]);
    assert!(told.contains("takes connections") && told.contains("hookctl ping x"), "{told}");
    assert!(!told.contains("up, "), "{told}");
}
