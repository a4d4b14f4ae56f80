//! cdev: the failure table of its contract, its paths and bodies, and that what it is told costs nothing.

use super::server::Seen;
use super::*;

const ALLOW: &str = r#"{"decision":"allow","pattern":"","scope":"once"}"#;
const OK: &str = r#"{"ok":true}"#;
const QUESTION: &str = "POST /hook/api/hooks/permission-request ";

fn config(url: &str, more: &str) -> String {
    let times = "timeout_ms = 1500\ndeadline_ms = 1800";
    format!("[remote.x]\nurl = \"{url}\"\ndialect = \"cdev\"\nevents = \"*\"\n{times}\n{more}\n")
}

fn home(url: &str) -> Home {
    Home::new(&config(url, ""))
}

/// Where nothing is optimized, a large event takes its time.
fn patient(url: &str) -> Home {
    Home::new(&config(url, "").replace("1500", "20000").replace("1800", "20000"))
}

fn remembered(pattern: &str) -> String {
    json!({ "decision": "allow", "pattern": pattern, "scope": "session" }).to_string()
}

fn result(response: Value) -> Value {
    let mut payload = bash("ls");
    payload["hook_event_name"] = "PostToolUse".into();
    payload["tool_response"] = response;
    payload
}

/// The one that came to that path.
fn at(seen: &[Seen], path: &str) -> Seen {
    let line = format!("POST /hook/api/hooks/{path} ");
    let mut found = seen.iter().filter(|one| one.head.starts_with(&line));
    let one = found.next().expect(path).clone();
    assert!(found.next().is_none(), "{path} came twice");
    one
}

#[test]
fn the_failure_table_c1_to_c14_s0_13_s0_14_s0_16() {
    const UNKNOWN: &str = r#"{"decision":"maybe"}"#;
    let nobody = (Server::nobody(), None);
    let played = |play: Play| {
        let server = Server::start(vec![play]);
        (server.url.clone(), Some(server))
    };
    let mut rows = vec![("C1", nobody, "", "deny", 0)];
    for status in [401, 403, 405, 426, 500, 503, 504] {
        rows.push(("C3", played(Play::Answer(status, "", ALLOW.into())), "", "deny", 1));
    }
    rows.extend([
        ("C4", played(Play::Slow(700, ALLOW.into())), "allow", "allow", 1),
        ("C5", played(Play::Stall), "", "deny", 1),
        ("C6", played(Play::ResetAfter), "", "deny", 1),
        ("C6, in the answer", played(Play::Cut("HTTP/1.1 200 OK\r\n")), "", "deny", 1),
        ("C9", played(ok(r#"{"decision":"ask"}"#)), "ask", "ask", 1),
        ("C9, another word", played(ok(UNKNOWN)), "ask", "ask", 1),
        ("C10", played(ok(OK)), "", "deny", 1),
        ("no JSON", played(ok("<html>")), "", "deny", 1),
        ("no decision", played(ok("{}")), "", "deny", 1),
        ("nothing", played(ok("")), "", "", 1),
    ]);
    for (row, (url, server), open, closed, requests) in rows {
        for (fail_open, verb) in [(true, open), (false, closed)] {
            let home = Home::new(&config(&url, &format!("fail_open = {fail_open}")));
            let before = server.as_ref().map_or(0, |server| server.seen().len());
            let start = Instant::now();
            let answer = home.hook(&bash("ls"));
            assert!(start.elapsed() < Duration::from_millis(1800 + 1500), "{row}");
            assert_eq!(verdict(&answer).0, verb, "{row}, {fail_open}: {answer}");
            let seen = server.as_ref().map_or(0, |server| server.seen().len());
            assert_eq!(seen - before, requests, "{row}");
            assert_eq!(home.remote()["attempts"], 1, "{row}");
            if open != closed {
                assert_eq!(home.remote()["outcome"], "failed", "{row}");
                // C14
                let closing = verdict(&answer).1.starts_with("cdev unavailable, failing closed");
                assert_eq!(closing, !fail_open, "{row}: {answer}");
            }
        }
    }
    let server = Server::start(vec![ok(OK)]);
    let home = home(&server.url);
    assert_eq!(home.hook(&bash("ls")), Value::Null);
    assert!(home.remote()["cause"].as_str().unwrap().contains("not blocking"));
}

/// A connection that is not made has half a second, whatever an answer has.
#[cfg(target_os = "linux")]
#[test]
fn c2_who_lets_nobody_in_is_not_waited_for() {
    let (url, _held) = matrix::full::tcp();
    let home = patient(&url);
    let start = Instant::now();
    assert_eq!(home.hook(&bash("ls")), Value::Null);
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(home.remote()["cause"], "no answer within 500 ms");
}

/// Nothing has left then, so that another connection may be made: by the next address.
#[test]
fn c7_a_refused_connection_is_no_question() {
    let server = Server::start(vec![ok(ALLOW)]);
    let urls = format!("\"{}\", \"{}\"", Server::nobody(), server.url);
    let home = Home::new(&config("", "").replace("\"\"", &format!("[{urls}]")));
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "allow");
    assert_eq!(server.seen().len(), 1);
    // But none when it has.
    let (first, second) = (Server::start(vec![Play::ResetAfter]), Server::start(vec![ok(ALLOW)]));
    let urls = format!("[\"{}\", \"{}\"]", first.url, second.url);
    let home = Home::new(&config("", "").replace("\"\"", &urls));
    assert_eq!(home.hook(&bash("ls")), Value::Null);
    assert_eq!((first.seen().len(), second.connections()), (1, 0));
}

/// Who starts it is asked at once, although every event before found it down, those it is told of too.
#[test]
fn c7_s0_14_a_server_that_came_up_is_asked_at_once() {
    let url = Server::nobody();
    let home = home(&url);
    let call = |id: &str| {
        let mut payload = bash("ls");
        payload["tool_use_id"] = id.into();
        home.hook(&payload)
    };
    home.hook(&event("SessionStart", json!({ "source": "startup" })));
    home.flush();
    // Within 600 ms: the best of some, for a machine may have other things to do.
    let mut times = Vec::new();
    while times.len() < 2
        || times.len() < 8 && times.iter().min() > Some(&Duration::from_millis(600))
    {
        let start = Instant::now();
        assert_eq!(call(&format!("before {}", times.len())), Value::Null);
        times.push(start.elapsed());
        let noted = home.remote();
        assert_eq!(
            (&noted["attempts"], &noted["cause"]),
            (&1.into(), &"connection refused".into())
        );
    }
    assert!(times.iter().min() < Some(&Duration::from_millis(600)), "{times:?}");
    let told = home.told(&["status", "--offline"]);
    assert!(told.contains("connection refused; tried with every question"), "{told}");
    let server = Server::come_to(&url, vec![ok(ALLOW), status(503)]);
    assert_eq!(verdict(&call("3")).0, "allow");
    at(&server.seen(), "permission-request");
    assert!(!home.told(&["status", "--offline"]).contains("tried"));
    // And is told again.
    home.hook(&result(json!("r")));
    at(&server.seen_when(2), "tool-end");
    // Where no human waits, or the refusal is not the end of it, it is left alone as any other is.
    for more in ["retry_count = 0", "human = true\nretry_delay_ms = 20"] {
        let url = Server::nobody();
        let home = Home::new(&format!("[remote.x]\nurl = \"{url}\"\nevents = \"*\"\n{more}\n"));
        home.hook(&bash("ls"));
        home.hook(&bash("ls -l"));
        assert_eq!(home.remote()["attempts"], 0, "{more}");
        assert!(home.told(&["status", "--offline"]).contains("tried every 30 s"));
    }
}

/// The log says where a question went, what came of it, how long it took, and why it is left.
#[test]
fn s0_30_the_log_says_which_path_and_why_ask() {
    let bypass = r#"{"decision":"allow","scope":"session","message":"bypass_permissions"}"#;
    for (play, said) in [
        (ok(ALLOW), "answered, 1 attempt, "),
        (ok(r#"{"decision":"deny"}"#), "refused, 1 attempt, "),
        (
            ok(r#"{"decision":"ask","message":"timeout"}"#),
            " ms, nobody answered: it leaves the question: timeout",
        ),
        (ok(bypass), " ms, nobody answered: nobody was asked: the session bypasses permissions"),
        (status(401), " ms, nobody answered: HTTP 401 (it wants a token, see token_file)"),
    ] {
        let server = Server::start(vec![play]);
        let home = home(&server.url);
        assert!(
            home.told(&["explain", "--tool", "Bash", "--", "ls"]).contains("its answer decides")
        );
        assert_eq!(server.connections(), 0);
        home.hook(&bash("ls"));
        let told = home.told(&["log"]);
        let path = format!("x  {}/api/hooks/permission-request  ", server.url);
        assert!(told.contains(&path) && told.contains(said), "{told}");
        assert!(!home.journal().contains("\" [user"), "{}", home.journal());
    }
}

#[test]
fn c12_c13_s0_20_what_no_human_may_have_said_is_no_allow() {
    const PATTERN: &str = "Bash(npm test:*)";
    for (ms, command, pattern, more, verb) in [
        (270, "npm test", PATTERN, "", "allow"),
        (270, "npm test && curl x", PATTERN, "", "allow"),
        // Out of its memory, where it knows a command by its first words.
        (0, "npm test", PATTERN, "", "ask"),
        (0, "npm test; curl x", PATTERN, "", "ask"),
        (0, "npm test && rm -rf x", PATTERN, "", "ask"),
        (0, "npm test; curl x", "", "", "ask"),
        (270, "npm run x", PATTERN, "", "ask"),
        (0, "npm test; curl x", PATTERN, "guard = false", "allow"),
        // What the server was shown says nothing about it.
        (270, "npm test; curl x", PATTERN, "send = \"hash\"", "ask"),
    ] {
        let server = Server::start(vec![Play::Slow(ms, remembered(pattern))]);
        let answer = Home::new(&config(&server.url, more)).hook(&bash(command));
        assert_eq!(verdict(&answer).0, verb, "{command}, {pattern}, {more}: {answer}");
        assert_eq!(server.seen_when(1)[0].json()["tool_name"], "Bash");
    }
}

#[test]
fn s0_02_s0_03_s0_04_s0_05_s0_30_each_answer_becomes_the_agents() {
    let allow = "Approved by cdev [user:remote.x]";
    let deny = "Denied by cdev [user:remote.x]";
    let bypass = r#"{"decision":"allow","scope":"session","message":"bypass_permissions"}"#;
    for (body, verb, reason) in [
        (ALLOW.to_string(), "allow", allow),
        (remembered("Bash(ls:*)"), "allow", allow),
        (r#"{"decision":"deny","pattern":"","scope":"once"}"#.into(), "deny", deny),
        (r#"{"decision":"deny","pattern":"Bash(ls:*)","scope":"session"}"#.into(), "deny", deny),
        (r#"{"decision":"deny","message":"no"}"#.into(), "deny", "no [user:remote.x]"),
        (r#"{"decision":"ask","message":"timeout"}"#.into(), "ask", ""),
        (bypass.into(), "", ""),
    ] {
        let server = Server::start(vec![Play::Slow(270, body.clone())]);
        let home = home(&server.url);
        let answer = home.hook(&bash("ls"));
        assert_eq!(verdict(&answer), (verb, reason), "{body}");
        assert!(server.seen()[0].head.starts_with(QUESTION), "{}", server.seen()[0].head);
        let noted = home.remote();
        let endpoint = format!("{}/api/hooks/permission-request", server.url);
        assert_eq!((&noted["endpoint"], &noted["attempts"]), (&json!(endpoint), &json!(1)));
        // A human at a phone lifts the question of a rule, nobody at one does not.
        let rule = "[rule.q]\ncommand = \"ls\"\nask = \"sure?\"\n";
        let home = Home::new(&format!("{}{rule}", config(&server.url, "")));
        let verb = if verb.is_empty() { "ask" } else { verb };
        assert_eq!(verdict(&home.hook(&bash("ls"))).0, verb, "{body}");
    }
    let server = Server::start(vec![ok(r#"{"decision":"deny","interrupt":true}"#)]);
    let answer = home(&server.url).hook(&bash("ls"));
    assert_eq!((verdict(&answer).0, &answer["continue"]), ("deny", &json!(false)));
    let new = r#"{"decision":"allow","updated_input":{"command":"ls -l"}}"#;
    let server = Server::start(vec![ok(new)]);
    let answer = home(&server.url).hook(&bash("ls"));
    let input = &answer["hookSpecificOutput"]["updatedInput"];
    assert_eq!(*input, json!({ "command": "ls -l", "description": "d" }));
}

#[test]
fn a_permission_request_is_asked_about_where_it_alone_is_wanted() {
    let mut payload = bash("ls");
    payload["hook_event_name"] = "PermissionRequest".into();
    payload.as_object_mut().unwrap().remove("tool_use_id");
    let allow = json!({ "behavior": "allow" });
    let deny = json!({ "behavior": "deny", "message": "Denied by cdev [user:remote.x]" });
    let mut ids = Vec::new();
    for (body, decision) in [
        (ALLOW, allow.clone()),
        (ALLOW, allow),
        (r#"{"decision":"deny"}"#, deny),
        (r#"{"decision":"ask"}"#, Value::Null),
    ] {
        let server = Server::start(vec![ok(body)]);
        let more = config(&server.url, "").replace("\"*\"", "\"PermissionRequest\"");
        let answer = Home::new(&more).hook(&payload);
        assert_eq!(answer["hookSpecificOutput"]["decision"], decision, "{body}");
        // s0_11: an id of its own, and never the same.
        ids.push(at(&server.seen(), "permission-request").json()["tool_use_id"].to_string());
    }
    let fits = |id: &String| id.starts_with("\"hookctl-") && id.len() == 2 + 8 + 16 + 1 + 8;
    assert!(ids.iter().all(fits), "{ids:?}");
    assert!(ids[0] != ids[1] && ids[0][..25] == ids[1][..25], "{ids:?}");
    // On both, a human is asked once, and that is before.
    let server = Server::start(vec![ok(ALLOW)]);
    assert_eq!(home(&server.url).hook(&payload), Value::Null);
    assert_eq!(server.connections(), 0);
}

#[test]
fn s0_07_s0_08_s0_10_s0_11_s0_12_each_event_has_its_path_and_the_agents_own_object() {
    let session = event("SessionStart", json!({ "source": "startup", "x": [1] }));
    let prompt = json!({ "message": "m", "notification_type": "permission_prompt",
        "transcript_path": "/t.jsonl" });
    let prompt = event("Notification", prompt);
    let ended = result(json!({ "stdout": "a" }));
    for (payload, path) in [
        (&session, "session"),
        (&prompt, "notification"),
        (&ended, "tool-end"),
        (&bash("ls"), "permission-request"),
    ] {
        let server = Server::start(vec![ok(OK)]);
        let home = home(&server.url);
        assert_eq!(home.hook(payload), Value::Null, "{path}");
        let seen = at(&server.seen_when(1), path);
        let mut wanted = payload.clone();
        if path == "tool-end" {
            wanted["tool_result"] = wanted["tool_response"].clone();
        }
        if path == "permission-request" {
            wanted["tool_input"]["description"] = "[read /; execute ls] d".into();
        }
        assert_eq!(seen.json(), wanted);
        let head = seen.head.to_lowercase();
        assert!(head.contains("content-type: application/json") && !head.contains("origin:"));
    }
    // Nothing else is its business.
    let server = Server::start(vec![ok(ALLOW)]);
    let home = home(&server.url);
    for payload in [
        event("Notification", json!({ "message": "m", "notification_type": "idle_prompt" })),
        event("Stop", json!({ "stop_hook_active": false })),
        event("UserPromptSubmit", json!({ "prompt": "p" })),
    ] {
        assert_eq!(home.hook(&payload), Value::Null);
    }
    home.flush();
    assert_eq!(server.connections(), 0);
    // A rule that names it there has a server that cannot be asked.
    let rule = "[rule.p]\non = \"UserPromptSubmit\"\nremote = \"x\"\notherwise = \"deny\"\n";
    let home = Home::new(&format!("{}{rule}", config(&server.url, "")));
    let answer = home.hook(&event("UserPromptSubmit", json!({ "prompt": "p" })));
    assert_eq!(answer["decision"], "block", "{answer}");
    assert!(home.told(&["check"]).contains("key-not-for-event"), "{}", home.told(&["check"]));
    assert_eq!(server.connections(), 0);
}

#[test]
fn s0_09_a_call_that_goes_ahead_is_told_of_where_that_is_wanted() {
    let fields = [
        "session_id",
        "cwd",
        "tool_name",
        "tool_input",
        "tool_use_id",
        "transcript_path",
        "permission_mode",
        "hook_event_name",
    ];
    for (body, told) in [(ALLOW, true), (r#"{"decision":"deny"}"#, false)] {
        let server = Server::start(vec![ok(body)]);
        let home = Home::new(&config(&server.url, "tool_start = true"));
        home.hook(&bash("ls"));
        server.seen_when(1 + usize::from(told));
        home.flush();
        let seen = server.seen();
        assert_eq!(seen.len(), 1 + usize::from(told));
        if told {
            let start = at(&seen, "tool-start").json();
            fields.iter().for_each(|key| assert!(start.get(key).is_some(), "{key}"));
        }
    }
}

#[test]
fn c11_s0_06_s0_13_what_it_is_told_delays_nothing_and_is_not_kept() {
    for play in [Play::Stall, Play::Deaf, status(500), status(401), Play::ResetAfter] {
        let server = Server::start(vec![play]);
        let home = home(&server.url);
        let start = Instant::now();
        assert_eq!(home.hook(&result(json!("r"))), Value::Null);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
        server.seen_when(1);
        home.flush();
        assert!(home.waiting().is_empty());
        assert_eq!(server.seen().len(), 1);
        let journal = home.journal();
        assert!(journal.contains("\"dropped\""), "{journal}");
    }
    // Nobody there: one is lost, and for half a minute no process is started for another.
    let home = home(&Server::nobody());
    home.hook(&result(json!("r")));
    home.flush();
    assert_eq!(home.hook(&result(json!("s"))), Value::Null);
    assert!(home.waiting().is_empty());
    let lines = home.journal().lines().count();
    home.flush();
    assert_eq!(home.journal().lines().count(), lines);
}

#[test]
fn c8_s0_21_what_is_too_large_arrives_trimmed_and_valid() {
    // Every quote of it takes more room on its way.
    let long = "line \"x\"\n".repeat((5 << 20) / 9);
    let server = Server::start(vec![ok(OK)]);
    let told = patient(&server.url);
    told.hook(&result(json!({ "stdout": long, "stderr": "", "interrupted": false })));
    let seen = at(&server.seen_when(1), "tool-end");
    assert!(seen.body.len() < 1_000_000, "{}", seen.body.len());
    let body = seen.json();
    for key in ["session_id", "tool_use_id", "tool_name", "tool_input", "cwd"] {
        assert_eq!(body[key], bash("ls")[key], "{key}");
    }
    assert_eq!(body["tool_result"], body["tool_response"]);
    let text = body["tool_result"]["stdout"].as_str().unwrap();
    let (kept, rest) = text.split_once("… [truncated ").unwrap();
    assert_eq!(rest, format!("{} bytes]", long.len() - kept.len()));
    // A question as well.
    let mut write = bash("x");
    write["tool_name"] = "Write".into();
    write["tool_input"] = json!({ "file_path": "/a.txt", "content": "y\n".repeat(600_000) });
    let server = Server::start(vec![ok(ALLOW)]);
    assert_eq!(verdict(&patient(&server.url).hook(&write)).0, "allow");
    let seen = at(&server.seen(), "permission-request");
    assert!(seen.body.len() < 1_000_000, "{}", seen.body.len());
    assert_eq!(seen.json()["tool_input"]["file_path"], "/a.txt");
    // An input that comes back from there would lose what was not shown.
    let lost = json!({ "decision": "allow", "updated_input": seen.json()["tool_input"] });
    let server = Server::start(vec![ok(&lost.to_string())]);
    assert_eq!(patient(&server.url).hook(&write), Value::Null);
    // What has no long texts cannot be cut: nobody is asked, and what the rules say holds.
    let server = Server::start(vec![ok(ALLOW)]);
    let home = patient(&server.url);
    let mut call = bash("x");
    call["tool_name"] = "mcp__x__run".into();
    call["tool_input"] = json!({ "items": vec!["twenty letters, each"; 50_000] });
    assert_eq!(verdict(&home.hook(&call)).0, "ask");
    assert_eq!(server.connections(), 0);
    assert_eq!(home.remote()["cause"], "the event is larger than 1000 KB");
}

#[test]
fn s0_16_two_registrations_ask_once() {
    let server = Server::start(vec![Play::Slow(400, ALLOW.into())]);
    let home = home(&server.url);
    let payload = bash("ls").to_string();
    let children: Vec<_> = (0..2).map(|_| home.command(&["hook"]).spawn().unwrap()).collect();
    let ask = |child| {
        let payload = payload.clone();
        std::thread::spawn(move || answer_of(&finish(child, &payload)))
    };
    let answers: Vec<_> = children.into_iter().map(ask).collect();
    for answer in answers {
        assert_eq!(verdict(&answer.join().unwrap()).0, "allow");
    }
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn its_token_is_sent_and_no_secret_of_an_event_is() {
    let server = Server::start(vec![ok(ALLOW)]);
    let home = Home::new(&config(&server.url, "token_file = \"token\""));
    home.put("token", "t-1\n");
    home.hook(&bash("GITHUB_TOKEN=ghp_0123456789abcdefghijABCDEFGHIJ012345 gh pr list"));
    let seen = at(&server.seen(), "permission-request");
    assert!(seen.head.to_lowercase().contains("authorization: bearer t-1"), "{}", seen.head);
    assert!(!String::from_utf8_lossy(&seen.body).contains("ghp_"));
    home.hook(&result(json!({ "stdout": "ghp_0123456789abcdefghijABCDEFGHIJ012345" })));
    let seen = at(&server.seen_when(2), "tool-end");
    assert!(seen.head.to_lowercase().contains("authorization: bearer t-1"), "{}", seen.head);
    assert!(!String::from_utf8_lossy(&seen.body).contains("ghp_"));
    assert!(!(home.journal() + &home.kept()).contains("t-1"));
}

#[cfg(feature = "tls")]
#[test]
fn it_is_asked_under_tls() {
    let server = Server::start(vec![server::tls(server::Cert::Good, ALLOW)]);
    let url = server.url.replace("http://127.0.0.1", "https://localhost");
    let ca = format!("ca = \"{}/tests/remote/tls/ca.pem\"", env!("CARGO_MANIFEST_DIR"));
    let home = Home::new(&config(&url, &ca));
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "allow", "{}", home.journal());
}
