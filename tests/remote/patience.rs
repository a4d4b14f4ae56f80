//! How long is waited for a human, and what is said where nobody answered.

use super::*;

const ALLOW: &str = r#"{"decision":"allow","pattern":"","scope":"once"}"#;

/// cdev answers after 60 s by itself: a hook whose command line says nothing of a time waits for that.
#[test]
fn c4_a_hook_without_a_timeout_waits_for_the_servers_own() {
    let home = |url: &str| {
        Home::new(&format!(
            "[remote.x]\nurl = \"{url}\"\ndialect = \"cdev\"\nevents = [\"PreToolUse\"]\n"
        ))
    };
    let server = Server::start(vec![Play::Slow(60_500, ALLOW.into())]);
    let (patient, limited) = (home(&server.url), home(&server.url));
    std::thread::scope(|scope| {
        scope.spawn(|| assert_eq!(verdict(&patient.hook(&bash("ls"))).0, "allow"));
        // What the command line says is what the agent waits.
        scope.spawn(|| {
            let start = Instant::now();
            let output = limited.run(&["hook", "--timeout", "6"], &bash("ls").to_string());
            assert_eq!(answer_of(&output), Value::Null);
            assert!(start.elapsed() < Duration::from_secs(6), "{:?}", start.elapsed());
        });
    });
}

#[test]
fn who_was_left_without_an_answer_is_told_no_reason() {
    for (more, body) in [
        ("dialect = \"cdev\"", r#"{"decision":"ask","message":"timeout"}"#),
        (
            "dialect = \"cdev\"",
            r#"{"decision":"ask","message":"permission_manager_not_configured"}"#,
        ),
        ("human = true", r#"{"decision":"ask"}"#),
        (
            "dialect = \"claude-http\"\nhuman = true",
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"ask"}}"#,
        ),
    ] {
        for asked in ["events = [\"PreToolUse\"]\n", "[rule.r]\ntool = \"Bash\"\nremote = \"x\"\n"]
        {
            let server = Server::start(vec![ok(body)]);
            let home = Home::new(&format!("[remote.x]\nurl = \"{}\"\n{more}\n{asked}", server.url));
            let answer = home.hook(&bash("ls"));
            let wanted = json!({ "hookEventName": "PreToolUse", "permissionDecision": "ask" });
            assert_eq!(answer["hookSpecificOutput"], wanted, "{more}");
            // The log knows whose question it is.
            assert!(home.journal().contains("\"rule\":\"user:r"), "{}", home.journal());
        }
    }
    // Another question's reason stays.
    let server = Server::start(vec![ok(r#"{"decision":"ask","message":"timeout"}"#)]);
    let home = Home::new(&format!(
        "[remote.x]\nurl = \"{}\"\ndialect = \"cdev\"\nevents = [\"PreToolUse\"]\n[rule.q]\ncommand = \"ls\"\nask = \"sure?\"\n",
        server.url
    ));
    assert_eq!(verdict(&home.hook(&bash("ls"))), ("ask", "sure? [user:q]"));
}
