//! A server that has had enough of what it is told, or asked, is there all the same: no question is
//! silenced for that.

use super::server::asked_or;
use super::*;

/// Every server at which a human answers: settings, an allow, where it is asked.
const HUMANS: &[(&str, &str)] = &[
    ("dialect = \"cdev\"", r#"{"decision":"allow","pattern":"","scope":"once"}"#),
    (
        "dialect = \"hooks-server\"\nhuman = true\non_allow = \"allow\"\naudit = true",
        r#"{"decision":"allow"}"#,
    ),
    (
        "dialect = \"cchd-v1\"\nhuman = true\non_allow = \"allow\"\naudit = true",
        r#"{"decision":"allow"}"#,
    ),
    (
        "dialect = \"claude-http\"\nhuman = true\naudit = true",
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#,
    ),
];

const DENY: &str = "[rule.no]\ncommand = \"rm\"\ndeny = \"no\"\n";

fn home(url: &str, more: &str) -> Home {
    // Of a result only cdev is told: others would be asked.
    let events =
        if more.contains("cdev") { "[\"PreToolUse\", \"PostToolUse\"]" } else { "\"PreToolUse\"" };
    Home::new(&format!(
        "[remote.x]\nurl = \"{url}\"\nevents = {events}\ntimeout_ms = 1000\nretry_delay_ms = 10\n{more}\n{DENY}"
    ))
}

fn numbered(id: usize, command: &str) -> Value {
    let mut payload = bash(command);
    payload["tool_use_id"] = format!("toolu_{id}").into();
    payload
}

/// An event of which the server is told.
fn tell(home: &Home, id: usize) {
    let mut ended = numbered(id, "rm x");
    // Denied by a rule here, of which an audit is told.
    home.hook(&ended);
    ended["hook_event_name"] = "PostToolUse".into();
    ended["tool_response"] = "r".into();
    home.hook(&ended);
}

#[test]
fn what_a_server_is_told_silences_no_question() {
    for (more, allow) in HUMANS {
        for told in [
            Play::Answer(429, "", String::new()),
            Play::Answer(429, "retry-after: 60\r\n", String::new()),
            status(500),
            status(503),
            status(401),
            Play::ResetAfter,
            Play::Stall,
        ] {
            // Slow, and the same for all that are no cdev.
            if matches!(told, Play::Stall) && more.contains("cchd") {
                continue;
            }
            let server = Server::start(vec![asked_or(ok(allow), told)]);
            let home = home(&server.url, more);
            tell(&home, 1);
            home.flush();
            assert!(!server.seen().is_empty(), "{more}");
            for id in 2..4 {
                let answer = home.hook(&numbered(id, "ls"));
                assert_eq!(verdict(&answer).0, "allow", "{more}: {answer} {}", home.remote());
                assert_eq!(home.remote()["attempts"], 1, "{more}");
            }
        }
    }
}

/// The rest of what a rate limit leaves is for questions.
#[test]
fn who_has_had_enough_is_told_nothing_for_a_while() {
    let (more, allow) = HUMANS[0];
    let enough = Play::Answer(429, "retry-after: 60\r\n", String::new());
    let server = Server::start(vec![asked_or(ok(allow), enough)]);
    let home = home(&server.url, more);
    for id in 1..5 {
        tell(&home, id);
        server.seen_when(id);
        assert_eq!(verdict(&home.hook(&numbered(id + 10, "ls"))).0, "allow");
        home.flush();
    }
    let told = server.seen().iter().filter(|one| one.head.contains("/tool-end ")).count();
    assert_eq!(told, 1);
    assert!(home.told(&["status", "--offline"]).contains("told"), "{}", home.journal());
}

#[test]
fn a_question_too_many_silences_not_the_next() {
    for (more, allow) in
        HUMANS.iter().chain([&("on_allow = \"allow\"\nretry_count = 0", r#"{"decision":"allow"}"#)])
    {
        for after in ["", "retry-after: 60\r\n"] {
            let server = Server::start(vec![Play::Answer(429, after, String::new()), ok(allow)]);
            let home = Home::new(&format!(
                "[remote.x]\nurl = \"{}\"\nevents = [\"PreToolUse\"]\ntimeout_ms = 3000\n{more}\n",
                server.url
            ));
            assert_eq!(home.hook(&numbered(1, "ls")), Value::Null, "{more}");
            assert_eq!(home.remote()["cause"], "HTTP 429", "{more}");
            assert_eq!(verdict(&home.hook(&numbered(2, "ls"))).0, "allow", "{more}");
            assert!(!home.told(&["status", "--offline"]).contains("first seen"));
        }
    }
}

/// A server that is not there when it is told is none that is asked in vain afterwards, nor the contrary.
#[test]
fn nobody_there_to_be_told_silences_no_question() {
    for (more, allow) in HUMANS {
        let url = Server::nobody();
        let home = home(&url, more);
        tell(&home, 1);
        home.flush();
        let server = Server::come_to(&url, vec![asked_or(ok(allow), ok(r#"{"ok":true}"#))]);
        assert_eq!(verdict(&home.hook(&numbered(2, "ls"))).0, "allow", "{more}: {}", home.remote());
        drop(server);
    }
}
