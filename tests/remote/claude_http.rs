//! Servers of Claude Code's own `http` hooks: the failure table of their contract, and its settings.

use super::*;

fn of(event: &str, specific: &str) -> String {
    format!("{{\"hookSpecificOutput\":{{\"hookEventName\":\"{event}\",{specific}}}}}")
}

#[test]
fn the_failure_table_h1_to_h11() {
    let deny = of("PreToolUse", r#""permissionDecision":"deny","permissionDecisionReason":"no""#);
    let maybe = of("PreToolUse", r#""permissionDecision":"maybe""#);
    let allow = r#""permissionDecision":"allow""#;
    let redirect = "location: http://127.0.0.1:1/\r\n";
    // What fail_open leaves, what it forbids, and how many requests it takes with two retries.
    for (row, play, open, closed, requests) in [
        ("H1", ok(""), "", "", 1),
        ("H1, 204", Play::Answer(204, "", String::new()), "", "", 1),
        ("H2", ok("{}"), "", "", 1),
        ("H3", ok(&deny), "deny", "deny", 1),
        ("H4", Play::Answer(403, "", deny.clone()), "", "deny", 1),
        ("H5", Play::Answer(500, "", deny.clone()), "", "deny", 3),
        ("H6", ok("blocked"), "", "deny", 1),
        ("H6, a list", ok("[]"), "", "deny", 1),
        ("H6, broken", ok("{\"decision\":"), "", "deny", 1),
        ("H7", Play::Stall, "", "deny", 3),
        ("H8", ok(&of("Stop", allow)), "", "deny", 1),
        (
            "H8, of none",
            ok(r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#),
            "",
            "deny",
            1,
        ),
        ("H9", ok(&maybe), "", "deny", 1),
        ("H11", Play::Answer(302, redirect, deny.clone()), "", "deny", 1),
    ] {
        for (fail_open, verb) in [(true, open), (false, closed)] {
            let server = Server::start(vec![play.clone()]);
            let more = format!("dialect = \"raw\"\nfail_open = {fail_open}");
            let home = Home::new(&forward(&server.url, &more));
            let start = Instant::now();
            let answer = home.hook(&bash("ls"));
            assert!(start.elapsed() < Duration::from_millis(1400 + 1500), "{row}");
            assert_eq!(verdict(&answer).0, verb, "{row}, {fail_open}: {answer}");
            assert_eq!(server.seen().len(), requests, "{row}");
            let failed = open != closed;
            let outcome = if failed { "failed" } else { "answered" };
            assert_eq!(home.remote()["outcome"], outcome, "{row}");
            if failed && !fail_open {
                assert!(verdict(&answer).1.starts_with(CLOSED), "{row}: {answer}");
            }
        }
    }
}

#[test]
fn h10_a_permission_in_the_words_of_the_call() {
    let payload =
        event("PermissionRequest", json!({"tool_name": "Bash", "tool_input": {"command": "ls"}}));
    for (word, decision) in [
        ("allow", json!({"behavior": "allow"})),
        ("deny", json!({"behavior": "deny", "message": "why [user:remote.x]"})),
    ] {
        let specific = format!(r#""permissionDecision":"{word}","permissionDecisionReason":"why""#);
        let server = Server::start(vec![ok(&of("PermissionRequest", &specific))]);
        let home = Home::new(&forward(&server.url, "dialect = \"claude-http\""));
        assert_eq!(home.hook(&payload)["hookSpecificOutput"]["decision"], decision);
    }
}

#[test]
fn text_is_context_where_that_is_agreed() {
    let prompt = event("UserPromptSubmit", json!({"prompt": "p"}));
    let start = event("SessionStart", json!({"source": "startup"}));
    let stop = event("Stop", json!({"stop_hook_active": false}));
    let text = "branch: main\nissues: 3";
    for (payload, body, setting, context) in [
        (&prompt, text, true, Some(text)),
        (&start, text, true, Some(text)),
        (&prompt, "[1]", true, Some("[1]")),
        (&prompt, text, false, None),
        // What begins like an answer must be one; other events never knew text.
        (&prompt, "{\"decision\":", true, None),
        (&stop, text, true, None),
    ] {
        let server = Server::start(vec![ok(body)]);
        let more = format!("dialect = \"claude-http\"\ntext_as_context = {setting}");
        let home = Home::new(&forward(&server.url, &more));
        let answer = home.hook(payload);
        let told = answer["hookSpecificOutput"]["additionalContext"].as_str();
        assert_eq!(told, context, "{payload}: {body}");
        let outcome = if context.is_some() { "answered" } else { "failed" };
        assert_eq!(home.remote()["outcome"], outcome, "{payload}: {body}");
    }
    // An answer is one all the same.
    let server = Server::start(vec![ok(r#"{"decision":"block","reason":"no"}"#)]);
    let more = "dialect = \"claude-http\"\ntext_as_context = true";
    let answer = Home::new(&forward(&server.url, more)).hook(&prompt);
    assert_eq!(answer["decision"], "block");
}

#[test]
fn an_input_is_whole_unless_it_is_agreed_that_it_is_merged() {
    let patch = r#""updatedInput":{"command":"ls -l","description":null}"#;
    for (setting, input) in [
        ("", json!({ "command": "ls -l", "description": null })),
        ("merge_input = true", json!({ "command": "ls -l" })),
    ] {
        let server = Server::start(vec![ok(&of("PreToolUse", patch))]);
        let home = Home::new(&forward(&server.url, &format!("dialect = \"raw\"\n{setting}")));
        let answer = home.hook(&bash("ls"));
        assert_eq!(answer["hookSpecificOutput"]["updatedInput"], input, "{setting}");
    }
    let part = of("PreToolUse", r#""updatedInput":{"command":"ls -l"}"#);
    let server = Server::start(vec![ok(&part)]);
    let home = Home::new(&forward(&server.url, "dialect = \"raw\"\nmerge_input = true"));
    let input = &home.hook(&bash("ls"))["hookSpecificOutput"]["updatedInput"];
    assert_eq!(*input, json!({ "command": "ls -l", "description": "d" }));
}
