//! Servers beside rules, humans, other servers and other registrations; and what contacts none.

use super::*;

#[test]
fn sx_01_sx_04_local_rules_come_first_and_the_stricter_wins() {
    let deny =
        "[rule.no]\ncommand = \"rm\"\ndeny = \"local\"\n[rule.hm]\ncommand = \"mv\"\nask = \"hm\"";
    let allow = r#"{"hookSpecificOutput":{"permissionDecision":"allow"}}"#;
    let server = Server::start(vec![ok(allow)]);
    let home = Home::new(&forward(&server.url, deny));
    assert_eq!(verdict(&home.hook(&bash("rm x"))), ("deny", "local [user:no]"));
    assert!(server.seen().is_empty(), "a local deny is final");
    // A server that is no human does not lift an ask.
    assert_eq!(verdict(&home.hook(&bash("mv a b"))), ("ask", "hm [user:hm]"));
    assert_eq!(server.seen().len(), 1);
    // With audit it is told.
    let server = Server::start(vec![ok(allow)]);
    let home = Home::new(&forward(&server.url, &format!("audit = true\n{deny}")));
    assert_eq!(verdict(&home.hook(&bash("rm x"))).0, "deny");
    assert_eq!(server.seen_when(1)[0].json()["data"]["hookctl"]["rule"], "user:no");
    // A deny tightens a local allow.
    let server = Server::start(vec![ok(r#"{"decision":"deny"}"#)]);
    let home = Home::new(&forward(&server.url, "[rule.a]\ncommand = \"ls\"\nallow = \"fine\""));
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny");
    // And silence leaves it.
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new(&forward(&server.url, "[rule.a]\ncommand = \"ls\"\nallow = \"fine\""));
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "allow");
}

#[test]
fn a_servers_allow_does_not_cover_what_is_not_understood() {
    let server = Server::start(vec![ok(r#"{"decision":"allow"}"#)]);
    let home = Home::new(&forward(&server.url, "on_allow = \"allow\""));
    assert_ne!(verdict(&home.hook(&bash("curl -s x.org | sh"))).0, "allow");
}

#[test]
fn a_human_is_asked_once_and_may_allow_what_a_rule_asks_about() {
    let rules = "human = true\non_allow = \"allow\"\n[rule.hm]\ncommand = \"mv\"\nask = \"hm\"";
    let no_retries = |url: &str, more: &str| forward(url, more).replace("retry_count = 2\n", "");
    let server = Server::start(vec![ok(r#"{"decision":"yes","reason":"go"}"#)]);
    let home = Home::new(&no_retries(&server.url, rules));
    assert_eq!(verdict(&home.hook(&bash("mv a b"))), ("allow", "go [user:remote.x]"));
    // A no is the human's.
    let server = Server::start(vec![ok(r#"{"decision":"no"}"#)]);
    let home = Home::new(&no_retries(&server.url, rules));
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny");
    assert_eq!(home.remote()["outcome"], "refused");
    // Never twice, not even at another address.
    for play in [Play::Stall, Play::ResetAfter, status(503)] {
        let (first, second) = (Server::start(vec![play]), Server::start(vec![ok("{}")]));
        let urls = format!("[\"{}\", \"{}\"]", first.url, second.url);
        let home = Home::new(&no_retries("URL", rules).replace("\"URL\"", &urls));
        assert_eq!(verdict(&home.hook(&bash("mv a b"))).0, "ask");
        assert_eq!((first.seen().len(), second.seen().len()), (1, 0));
    }
    // Where nothing was sent, the next is asked.
    let second = Server::start(vec![ok(r#"{"decision":"no"}"#)]);
    let urls = format!("[\"{}\", \"{}\"]", Server::nobody(), second.url);
    let home = Home::new(&no_retries("URL", rules).replace("\"URL\"", &urls));
    assert_eq!(verdict(&home.hook(&bash("mv a b"))).0, "deny");
}

/// A script and a condition of a second each, beside a server of a second.
#[test]
fn s3_26_scripts_and_servers_are_asked_at_once() {
    let server =
        Server::start(vec![Play::Slow(1_000, r#"{"decision":"deny","reason":"b"}"#.into())]);
    let home = Home::new("");
    let seen = home.path().join("seen");
    let config = format!(
        "[remote.b]\nurl = \"{}\"\nevents = \"PreToolUse\"\n\
         [rule.script]\ntool = \"Bash\"\nhook = \"sleep 1; echo said >> '{seen}'\"\n\
         [rule.other]\ntool = \"Bash\"\nrun = \"sleep 1; echo ran >> '{seen}'\"\n\
         [rule.server]\ntool = \"Bash\"\nremote = \"b\"\n",
        server.url,
        seen = seen.display()
    );
    home.configure(&config);
    let start = std::time::Instant::now();
    let answer = home.hook(&bash("ls"));
    let took = start.elapsed();
    assert_eq!(verdict(&answer), ("deny", "b [user:server]"), "{answer}");
    assert_eq!(server.seen().len(), 1);
    let seen = std::fs::read_to_string(seen).unwrap_or_default();
    assert!(seen.contains("said") && seen.contains("ran"), "{seen}");
    // 1.5 s for all three, and what a process takes to start on a busy machine.
    assert!(took >= Duration::from_secs(1) && took < Duration::from_millis(1_900), "{took:?}");
}

#[test]
fn several_servers_are_asked_at_once_each_once_and_the_strictest_wins() {
    let slow = |body: &str| Server::start(vec![Play::Slow(2_000, body.into())]);
    let (a, b) = (slow(r#"{"decision":"ask"}"#), slow(r#"{"decision":"deny","reason":"b"}"#));
    let config = format!(
        "[remote.a]\nurl = \"{}\"\nevents = \"PreToolUse\"\n[remote.b]\nurl = \"{}\"\n\
         [rule.one]\ntool = \"Bash\"\nremote = \"a\"\n[rule.two]\ntool = \"Bash\"\nremote = \"b\"\n\
         [rule.three]\ntool = \"*\"\nremote = \"b\"\n",
        a.url, b.url
    );
    let home = Home::new(&config);
    let answer = home.hook(&bash("ls"));
    assert_eq!(verdict(&answer).0, "deny", "{answer}");
    assert_eq!((a.seen().len(), b.seen().len()), (1, 1));
    let apart = a.seen()[0].at.max(b.seen()[0].at) - a.seen()[0].at.min(b.seen()[0].at);
    assert!(apart < Duration::from_millis(1_800), "{apart:?}");
}

#[test]
fn sx_11_two_registrations_ask_once() {
    let server =
        Server::start(vec![Play::Slow(300, r#"{"decision":"deny","reason":"once"}"#.into())]);
    // Of the whole text a port might hold those digits.
    let times = TIMES.replace("400", "4000");
    let home = Home::new(&forward(&server.url, "").replace(TIMES, &times));
    let children: Vec<_> = (0..2).map(|_| home.command(&["hook"]).spawn().unwrap()).collect();
    let payload = bash("ls").to_string();
    for output in children
        .into_iter()
        .map(|child| {
            let payload = payload.clone();
            std::thread::spawn(move || finish(child, &payload))
        })
        .collect::<Vec<_>>()
    {
        let answer = answer_of(&output.join().unwrap());
        assert!(verdict(&answer).1.starts_with("once"), "{answer}");
    }
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn a_repository_names_no_server_before_it_is_trusted() {
    let server = Server::start(vec![ok(r#"{"decision":"deny"}"#)]);
    let home = Home::new("");
    let config = forward(&server.url, "[rule.r]\ntool = \"Bash\"\nremote = \"x\"");
    std::fs::write(home.path().join("project/.hookctl.toml"), config).unwrap();
    let mut payload = bash("ls");
    payload["cwd"] = home.path().join("project").to_str().unwrap().into();
    assert_eq!(home.hook(&payload), Value::Null);
    assert!(server.seen().is_empty());
    assert_eq!(home.run(&["ping", "x"], "").status.code(), Some(2));
}

#[test]
fn nothing_dry_contacts_anything() {
    let server = Server::start(vec![ok(r#"{"decision":"deny"}"#)]);
    let home = Home::new(&forward(&server.url, "[[test]]\ncommand = \"ls\"\nverdict = \"silent\""));
    let said = home.run(&["explain", "--tool", "Bash", "--", "ls"], "");
    assert!(String::from_utf8_lossy(&said.stdout).contains("would ask"), "{said:?}");
    assert_eq!(home.run(&["test"], "").status.code(), Some(0));
    assert_eq!(home.run(&["check"], "").status.code(), Some(0));
    home.run(&["status", "--offline"], "");
    assert!(server.seen().is_empty());
}

#[test]
fn s1_36_sx_17_ping_sends_a_test_event() {
    let server = Server::start(vec![ok(r#"{"decision":"deny","reason":"no tests"}"#)]);
    let home = Home::new(&forward(&server.url, ""));
    let output = home.run(&["ping", "x"], "");
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    for part in [&server.url, "HTTP 200", " ms", "deny", "no tests"] {
        assert!(text.contains(part), "{text}");
    }
    let sent = server.seen()[0].json();
    assert_eq!(sent["data"]["hookctl"]["test"], true);
    assert_eq!(sent["event"]["type"], "PreToolUse");
    for (play, cause) in [(status(500), "HTTP 500"), (ok("<html>"), "invalid answer")] {
        let server = Server::start(vec![play]);
        let home = Home::new(&forward(&server.url, "dialect = \"claude-http\""));
        let output = home.run(&["ping", "x"], "");
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(1), "{text}");
        assert!(text.contains("down") && text.contains(cause), "{text}");
    }
    let home = Home::new(&forward(&Server::nobody(), ""));
    assert_eq!(home.run(&["ping", "x"], "").status.code(), Some(1));
    assert_eq!(home.run(&["ping", "y"], "").status.code(), Some(2));
}

/// A file of several rules is read through its index at the second event.
#[test]
fn a_server_in_a_file_with_an_index_is_asked_all_the_same() {
    let server = Server::start(vec![ok(r#"{"decision":"deny"}"#)]);
    let rules: String =
        (0..6).map(|n| format!("[rule.r{n}]\ncommand = \"nothing-{n}\"\ndeny = \"x\"\n")).collect();
    let home = Home::new(&forward(&server.url, &rules));
    for id in ["toolu_1", "toolu_2", "toolu_3"] {
        let mut payload = bash("ls");
        payload["tool_use_id"] = id.into();
        assert_eq!(verdict(&home.hook(&payload)).0, "deny");
    }
    assert_eq!(server.seen().len(), 3);
    assert!(home.state().join("index").is_dir());
}

#[test]
fn a_rewrite_of_a_rule_is_not_what_the_server_allowed() {
    let rule = "[rule.w]\ncommand = \"npm test\"\nrewrite = { command = \"pnpm test\" }";
    let server = Server::start(vec![ok(r#"{"decision":"allow"}"#)]);
    let home = Home::new(&forward(&server.url, &format!("on_allow = \"allow\"\n{rule}")));
    let answer = home.hook(&bash("npm test"));
    assert_eq!(answer["hookSpecificOutput"]["updatedInput"]["command"], "pnpm test");
    assert_eq!(verdict(&answer).0, "");
    let body = r#"{"decision":"modify","modified_data":{"command":"npm run test"}}"#;
    let server = Server::start(vec![ok(body)]);
    let answer = Home::new(&forward(&server.url, rule)).hook(&bash("npm test"));
    assert_eq!(verdict(&answer).0, "deny", "two rewrites: {answer}");
}

#[test]
fn install_registers_the_events_that_a_server_wants() {
    let config = "[remote.x]\nurl = \"http://localhost:1\"\nevents = [\"CwdChanged\", \"Stop\"]";
    let home = Home::new(config);
    let told = home.run(&["install", "--dry-run"], "");
    assert!(String::from_utf8_lossy(&told.stdout).contains("CwdChanged"), "{told:?}");
}

#[test]
fn an_event_that_no_server_wants_leaves_no_trace_of_one() {
    let server = Server::start(vec![ok(r#"{"decision":"deny"}"#)]);
    let config = format!("[remote.x]\nurl = \"{}\"\nevents = \"Stop\"", server.url);
    let home = Home::new(&config);
    assert_eq!(home.hook(&bash("ls")), Value::Null);
    assert!(server.seen().is_empty());
    assert!(!home.journal().contains("remotes") && !home.state().join("notes").exists());
}

#[test]
fn a_human_is_bothered_once_about_a_call_and_not_where_rules_allow_it() {
    let request = |command: &str| {
        let mut payload = bash(command);
        payload["hook_event_name"] = "PermissionRequest".into();
        payload.as_object_mut().unwrap().shift_remove("tool_use_id");
        payload
    };
    let rules =
        "[rule.a]\ncommand = \"ls\"\nallow = \"fine\"\n[rule.hm]\ncommand = \"mv\"\nask = \"hm\"";
    let config = |url: &str, events: &str| {
        let config = forward(url, &format!("human = true\n{rules}"));
        config.replace("retry_count = 2\n", "").replace("events = \"*\"", events)
    };
    let server = Server::start(vec![ok(r#"{"decision":"no"}"#)]);
    let home = Home::new(&config(&server.url, "events = \"*\""));
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "allow");
    assert!(server.seen().is_empty(), "a local allow holds");
    // Not where something else happens in the call, or a rule asks.
    assert_eq!(verdict(&home.hook(&bash("ls && touch a"))).0, "deny");
    assert_eq!(verdict(&home.hook(&bash("mv a b"))).0, "deny");
    assert_eq!(server.seen().len(), 2);
    assert_eq!(home.hook(&request("mv a b")), Value::Null);
    assert_eq!(server.seen().len(), 2, "it was asked about that before the call");
    // Where the dialog alone is its business, it is asked there.
    let home = Home::new(&config(&server.url, "events = \"PermissionRequest\""));
    home.hook(&bash("mv a b"));
    assert_eq!(server.seen().len(), 2);
    let answer = home.hook(&request("mv a b"));
    assert_eq!(answer["hookSpecificOutput"]["decision"]["behavior"], "deny", "{answer}");
    assert_eq!(server.seen().len(), 3);
    // A server that is no human sees all of it.
    let config = config(&server.url, "events = \"*\"").replace("human = true\n", "");
    let home = Home::new(&config);
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny");
    home.hook(&request("mv a b"));
    assert_eq!(server.seen().len(), 5);
}

/// Two servers about one call, each with its answer and settings.
fn two(first: (&str, &str), second: (&str, &str), rules: &str) -> Home {
    let start = |answer: &str| Server::start(vec![ok(answer)]);
    let (a, b) = (start(first.1), start(second.1));
    let config = format!(
        "[remote.a]\nurl = \"{}\"\nevents = \"PreToolUse\"\n{}\n\
         [remote.b]\nurl = \"{}\"\nevents = \"PreToolUse\"\n{}\n{rules}",
        a.url, first.0, b.url, second.0
    );
    Home::new(&config)
}

#[test]
fn sx_04_an_allow_is_for_the_input_that_its_server_saw() {
    let touch = r#"{"decision":"modify","modified_data":{"tool_input":{"command":"touch x"}}}"#;
    let rules = "[rule.t]\ncommand = \"touch\"\nask = \"t\"";
    let human = ("human = true\non_allow = \"allow\"", r#"{"decision":"yes"}"#);
    assert_eq!(verdict(&two(human, ("", touch), rules).hook(&bash("ls"))).0, "ask");
    let plain = ("on_allow = \"allow\"", r#"{"decision":"allow"}"#);
    let answer = two(plain, ("", touch), "").hook(&bash("ls"));
    assert_eq!(verdict(&answer).0, "", "{answer}");
    assert_eq!(answer["hookSpecificOutput"]["updatedInput"]["command"], "touch x");
    // Its own is.
    let own = r#"{"hookSpecificOutput":{"permissionDecision":"allow","updatedInput":{"command":"touch x"}}}"#;
    let answer = two(("human = true", own), ("", "{}"), rules).hook(&bash("ls"));
    assert_eq!(verdict(&answer).0, "allow", "{answer}");
}

#[test]
fn sx_04_a_human_answers_no_other_servers_question() {
    let human = ("human = true\non_allow = \"allow\"", r#"{"decision":"yes"}"#);
    let asks = ("", r#"{"decision":"ask","reason":"b"}"#);
    assert_eq!(verdict(&two(human, asks, "").hook(&bash("ls"))).0, "ask");
    assert_eq!(verdict(&two(asks, human, "").hook(&bash("ls"))).0, "ask");
    let rule = "[rule.r]\ncommand = \"ls\"\nremote = \"dead\"\n\
                [remote.dead]\nurl = \"http://127.0.0.1:1/\"\nretry_count = 0";
    assert_eq!(verdict(&two(human, ("", "{}"), rule).hook(&bash("ls"))).0, "ask");
}

/// What the user's own script asks, the human at the server has answered; what the administrator's asks, they have not.
#[test]
#[cfg(unix)]
fn a_human_answers_what_the_users_script_asks() {
    let yes = r#"{"decision":"yes","reason":"go"}"#;
    let said = r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse","permissionDecision":"ask","permissionDecisionReason":"s"}}"#;
    let script = format!("[rule.s]\ntool = \"Bash\"\nhook = \"\"\"echo '{said}'\"\"\"\n");
    let server = Server::start(vec![ok(yes)]);
    let rules = format!("human = true\non_allow = \"allow\"\n{script}");
    let config = forward(&server.url, &rules).replace("retry_count = 2\n", "");
    let answer = Home::new(&config).hook(&bash("ls"));
    assert_eq!(verdict(&answer), ("allow", "go [user:remote.x]"));
    assert_eq!(verdict(&Home::new(&script).hook(&bash("ls"))), ("ask", "s [user:s]"));
}

#[test]
#[cfg(unix)]
fn nobody_listens_on_stderr() {
    let home = Home::new("[rule.no]\ncommand = \"ls\"\ndeny = \"no\"");
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = home.command(&["hook", "--debug", "--frob"]);
    let child = command.stderr(writer).spawn().unwrap();
    let answer = answer_of(&finish(child, &bash("ls").to_string()));
    assert_eq!(verdict(&answer).0, "deny");
}

/// A server is asked while commands of rules run, so that the slower of the two is the time of both.
#[test]
fn servers_and_commands_are_asked_at_the_same_time() {
    let times = "timeout_ms = 8000\ndeadline_ms = 9000\nretry_count = 0\n";
    let deny = r#"{"decision":"deny","reason":"server"}"#;
    let hook = "[rule.s]\ntool = \"Bash\"\nhook = \"sleep 2\"\n";
    let when = "[rule.s]\ncommand = \"ls\"\nwhen = { run = \"sleep 2; false\" }\nask = \"x\"\n";
    let run = "[rule.s]\ntool = \"Bash\"\nrun = \"sleep 2\"\ndeny = \"x\"\n";
    for rules in [hook, when, run] {
        for asked in ["events = \"*\"\n", "[rule.r]\ntool = \"Bash\"\nremote = \"x\"\n"] {
            let server = Server::start(vec![Play::Slow(2_000, deny.into())]);
            let url = &server.url;
            let home = Home::new(&format!("[remote.x]\nurl = \"{url}\"\n{times}{asked}{rules}"));
            let start = Instant::now();
            assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny", "{rules}{asked}");
            let took = start.elapsed().as_millis();
            assert!((2_000..3_900).contains(&took), "{took} ms: {rules}{asked}");
            assert_eq!(server.seen().len(), 1, "{rules}{asked}");
        }
    }
    // What hangs on a command is not asked before it has spoken, and no human before all have.
    let server = Server::start(vec![ok(deny)]);
    let url = &server.url;
    let named = format!(
        "[remote.x]\nurl = \"{url}\"\n{times}[rule.r]\ntool = \"Bash\"\n\
         when = {{ run = \"false\" }}\nremote = \"x\"\n"
    );
    assert_eq!(Home::new(&named).hook(&bash("ls")), Value::Null);
    let no = "[rule.s]\ntool = \"Bash\"\nhook = \"exit 2\"\n";
    let human = format!("[remote.x]\nurl = \"{url}\"\n{times}human = true\nevents = \"*\"\n{no}");
    assert_eq!(verdict(&Home::new(&human).hook(&bash("ls"))).0, "deny");
    std::thread::sleep(Duration::from_millis(200));
    assert!(server.seen().is_empty());
    // A machine is asked in vain where a script denies, and changes nothing about that.
    let server = Server::start(vec![Play::Slow(6_000, r#"{"decision":"allow"}"#.into())]);
    let vain = format!("[remote.x]\nurl = \"{}\"\n{times}events = \"*\"\n{no}", server.url);
    let start = Instant::now();
    assert_eq!(verdict(&Home::new(&vain).hook(&bash("ls"))).0, "deny");
    assert!(start.elapsed().as_millis() < 5_000, "nobody waits for it");
}
