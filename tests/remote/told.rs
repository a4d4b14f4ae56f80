//! Servers that are told, not asked: webhooks, collectors, audits. What they get, that it costs the
//! agent nothing, and that nothing is lost or told twice.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use super::*;

/// One server of that dialect that is told of every event.
fn told(dialect: &str, url: &str, more: &str) -> String {
    format!(
        "[remote.x]\nurl = \"{url}\"\ndialect = \"{dialect}\"\nevents = \"*\"\n\
         timeout_ms = 2000\nretry_count = 0\n{more}\n"
    )
}

fn call(number: usize) -> Value {
    let mut payload = bash(&format!("echo {number}"));
    payload["tool_use_id"] = format!("toolu_{number}").into();
    payload
}

/// Until the server was found down.
fn wait_for_breaker(home: &Home) {
    let end = Instant::now() + Duration::from_secs(20);
    let down = || {
        let files = fs::read_dir(home.state()).unwrap().flatten();
        files.map(|file| file.file_name()).any(|name| name.to_string_lossy().starts_with("remote-"))
    };
    while !down() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(down(), "no breaker opened");
}

/// The ids of the requests, in their order.
fn ids(seen: &[server::Seen]) -> Vec<String> {
    seen.iter().map(|one| one.json()["id"].as_str().unwrap().to_string()).collect()
}

/// A home where these calls wait for a server that is not there.
fn home_with_waiting(count: usize) -> Home {
    let home = Home::new(&told("webhook", &Server::nobody(), ""));
    home.hook(&call(0));
    wait_for_breaker(&home);
    (1..count).for_each(|number| drop(home.hook(&call(number))));
    assert_eq!(home.waiting().len(), count);
    home
}

const DENY: &str = "[rule.no]\ncommand = \"rm\"\ndeny = \"not that\"";

#[test]
fn a_webhook_is_told_of_every_verdict_and_decides_nothing() {
    let server = Server::start(vec![ok(r#"{"decision":"deny","continue":false}"#)]);
    let home = Home::new(&told("webhook", &server.url, DENY));
    assert_eq!(home.hook(&bash("ls")), Value::Null);
    assert_eq!(home.remote()["outcome"], "queued");
    assert_eq!(verdict(&home.hook(&bash("rm x"))), ("deny", "not that [user:no]"));
    let seen = server.seen_when(2);
    let silent = seen[0].json();
    assert_eq!(silent["decision"], "silent");
    assert!(silent.get("rule").is_none(), "{silent}");
    let deny = seen[1].json();
    for (key, value) in [
        ("agent", "claude"),
        ("event", "PreToolUse"),
        ("session", "s-1"),
        ("cwd", "/"),
        ("tool", "Bash"),
        ("what", "rm x"),
        ("decision", "deny"),
        ("rule", "user:no"),
        ("reason", "not that [user:no]"),
    ] {
        assert_eq!(deny[key], value, "{deny}");
    }
    assert!(deny["time"].as_str().unwrap().ends_with('Z'));
    assert!(seen[0].head.to_lowercase().contains("content-type: application/json"));
    assert_eq!(home.flush(), (0, "nothing waits\n".into()));
}

#[test]
fn a_webhook_sends_text_or_json_of_its_own() {
    let server = Server::start(vec![ok("")]);
    let text = "body = \"{decision}: {what|s/ .*//} $PROMPT\"\nheaders = { Title = \"hookctl\" }";
    let home = Home::new(&told("webhook", &server.url, text));
    home.hook(&bash("ls -l"));
    let seen = &server.seen_when(1)[0];
    assert_eq!(String::from_utf8_lossy(&seen.body), "silent: ls $PROMPT");
    let head = seen.head.to_lowercase();
    assert!(head.contains("content-type: text/plain; charset=utf-8"), "{head}");
    assert!(head.contains("title: hookctl"), "{head}");
    let server = Server::start(vec![ok("")]);
    let table = "body = { text = \"{tool} \\\"{what}\\\"\", n = 3, all = [\"{event}\"] }";
    let home = Home::new(&told("webhook", &server.url, table));
    home.hook(&bash("echo \"a\nb\""));
    let body = server.seen_when(1)[0].json();
    assert_eq!(body, json!({"text": "Bash \"echo \"a\nb\"\"", "n": 3, "all": ["PreToolUse"]}));
}

#[test]
fn verdicts_choose_and_a_rule_that_names_it_always_tells() {
    let server = Server::start(vec![ok("")]);
    let more = format!(
        "verdicts = [\"deny\", \"halt\"]\n{DENY}\n[rule.push]\ncommand = \"git push\"\nremote = \"x\"\n"
    );
    let home = Home::new(&told("webhook", &server.url, &more));
    assert_eq!(home.hook(&bash("ls")), Value::Null);
    assert!(!home.state().join("spool").exists(), "nobody wants to know");
    // Neither `otherwise` nor anything else speaks for a server that is not asked.
    assert_ne!(verdict(&home.hook(&bash("git push origin main"))).0, "deny");
    home.hook(&bash("rm x"));
    let told: Vec<Value> = server.seen_when(2).iter().map(server::Seen::json).collect();
    assert_eq!(told[0]["what"], "git push origin main");
    assert_eq!(told[1]["decision"], "deny");
    home.flush();
    assert_eq!(server.seen().len(), 2);
}

/// A deny that tells somebody is as final as any other: nothing is run for a call that will not be.
#[test]
fn a_rule_that_denies_may_tell() {
    let server = Server::start(vec![ok("")]);
    let rules = "[rule.no]\ncommand = \"rm\"\ndeny = \"no\"\nremote = \"x\"\n\
                 [rule.run]\ntool = \"Bash\"\nrun = \"echo ran > $HOME/ran\"\n";
    let home = Home::new(&told("webhook", &server.url, rules).replace("events = \"*\"", ""));
    assert_eq!(verdict(&home.hook(&bash("rm x"))).0, "deny");
    assert_eq!(server.seen_when(1)[0].json()["rule"], "user:no");
    assert!(!home.path().join("ran").exists());
}

#[test]
fn a_pause_is_told_of() {
    let server = Server::start(vec![ok("")]);
    let home = Home::new(&told("webhook", &server.url, DENY));
    fs::create_dir_all(home.state()).unwrap();
    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let note = json!({"until": now + 600, "since": now}).to_string();
    fs::write(home.state().join("pause.json"), note).unwrap();
    assert_eq!(home.hook(&bash("rm x")), Value::Null);
    let told = server.seen_when(1)[0].json();
    assert_eq!((&told["decision"], &told["paused"]), (&json!("silent"), &json!(true)));
}

#[test]
fn otlp_gets_log_records() {
    let server = Server::start(vec![ok("{}")]);
    let url = server.url.trim_end_matches("/hook");
    let home = Home::new(&told("otlp", url, DENY));
    home.hook(&bash("rm x"));
    home.flush();
    home.hook(&bash("ls"));
    let seen = server.seen_when(2);
    assert!(seen[0].head.starts_with("POST /v1/logs "), "{}", seen[0].head);
    let logs = &seen[0].json()["resourceLogs"][0];
    let map = |all: &Value| -> BTreeMap<String, Value> {
        let all = all.as_array().unwrap().iter();
        all.map(|one| (one["key"].as_str().unwrap().into(), one["value"].clone())).collect()
    };
    let text = |text: &str| json!({ "stringValue": text });
    let resource = map(&logs["resource"]["attributes"]);
    assert_eq!(resource["service.name"], text("hookctl"));
    assert_eq!(resource["service.version"], text(env!("CARGO_PKG_VERSION")));
    let record = &logs["scopeLogs"][0]["logRecords"][0];
    let time = record["timeUnixNano"].as_str().unwrap();
    assert_eq!(time.len(), 19);
    assert_eq!((&record["severityNumber"], &record["severityText"]), (&json!(13), &json!("WARN")));
    assert_eq!(record["body"], text("deny PreToolUse Bash rm x"));
    let attributes = map(&record["attributes"]);
    assert_eq!(attributes["session.id"], text("s-1"));
    assert_eq!(attributes["hookctl.rule"], text("user:no"));
    assert_eq!(attributes["hookctl.decision"], text("deny"));
    assert!(attributes.contains_key("log.record.uid") && record.get("traceId").is_none());
    let second = &seen[1].json()["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0].clone();
    assert_eq!(second["severityNumber"], 9);
}

/// The attributes of one of OTLP's lists.
fn attributes(all: &Value) -> BTreeMap<String, Value> {
    let all = all.as_array().unwrap().iter();
    all.map(|one| (one["key"].as_str().unwrap().into(), one["value"].clone())).collect()
}

fn text_value(text: &str) -> Value {
    json!({ "stringValue": text })
}

#[test]
fn otlp_speaks_the_conventions_of_the_version_that_is_asked_for() {
    let server = Server::start(vec![ok("{}")]);
    for (more, spoken) in [("gen_ai = \"1.41\"", true), ("", false), ("gen_ai = \"off\"", false)] {
        let home = Home::new(&told("otlp", &server.url, more));
        let before = server.seen_when(0).len();
        home.hook(&call(1));
        let seen = server.seen_when(before + 1);
        let logs = seen[before].json()["resourceLogs"][0].clone();
        let scope = &logs["scopeLogs"][0];
        let record = attributes(&scope["logRecords"][0]["attributes"]);
        let resource = attributes(&logs["resource"]["attributes"]);
        assert_eq!(scope.get("schemaUrl").is_some(), spoken, "{more}: {scope}");
        assert_eq!(resource.contains_key("host.name"), spoken, "{more}");
        let user = home.path().file_name().unwrap().to_string_lossy().into_owned();
        for (key, value) in [
            ("gen_ai.operation.name", "execute_tool"),
            ("gen_ai.tool.name", "Bash"),
            ("gen_ai.tool.call.id", "toolu_1"),
            ("gen_ai.conversation.id", "s-1"),
            ("gen_ai.agent.name", "claude"),
            ("enduser.id", &user),
        ] {
            let wanted = spoken.then(|| text_value(value));
            assert_eq!(record.get(key), wanted.as_ref(), "{more} {key}");
        }
    }
    // An event that is no call of a tool executes none.
    let home = Home::new(&told("otlp", &server.url, "gen_ai = \"1.41\""));
    let before = server.seen_when(0).len();
    home.hook(&session_start("s-1"));
    let seen = server.seen_when(before + 1);
    let record = seen[before].json()["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0].clone();
    let record = attributes(&record["attributes"]);
    assert!(record.contains_key("gen_ai.conversation.id"), "{record:?}");
    assert!(!record.contains_key("gen_ai.operation.name"), "{record:?}");
}

fn session_start(session: &str) -> Value {
    json!({ "hook_event_name": "SessionStart", "session_id": session, "cwd": "/", "source": "startup" })
}

/// A collector that is told of no event.
fn heartbeat_only(url: &str, more: &str) -> String {
    format!(
        "[remote.x]\nurl = \"{url}\"\ndialect = \"otlp\"\nheartbeat = true\nretry_count = 0\n{more}\n"
    )
}

/// What keeps a machine from being guarded is of no call: who gets no content reads it all the same.
#[test]
fn a_heartbeats_problems_are_hidden_by_hashes_alone() {
    for (send, said) in [("full", true), ("summary", true), ("hash", false)] {
        let server = Server::start(vec![ok("{}")]);
        let home = Home::new(&heartbeat_only(&server.url, &format!("send = \"{send}\"")));
        home.hook(&session_start("s-1"));
        let logs = server.seen_when(1)[0].json()["resourceLogs"][0].clone();
        let first = attributes(&logs["scopeLogs"][0]["logRecords"][0]["attributes"]);
        let problems = first["hookctl.problems"].to_string();
        assert_eq!(problems.contains("hookctl is not installed here"), said, "{send}: {problems}");
    }
}

#[test]
fn a_collector_gets_one_heartbeat_a_session() {
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new(&heartbeat_only(&server.url, ""));
    home.hook(&bash("ls"));
    home.hook(&session_start("s-1"));
    let seen = server.seen_when(1);
    let logs = seen[0].json()["resourceLogs"][0].clone();
    let record = &logs["scopeLogs"][0]["logRecords"][0];
    assert_eq!(record["eventName"], "hookctl.heartbeat");
    let resource = attributes(&logs["resource"]["attributes"]);
    assert_eq!(resource["service.version"], text_value(env!("CARGO_PKG_VERSION")));
    assert!(resource.contains_key("host.name"), "{resource:?}");
    let first = attributes(&record["attributes"]);
    assert_eq!(first["session.id"], text_value("s-1"));
    assert_eq!(first["hookctl.agent"], text_value("claude"));
    // Nothing is installed in this home: that is what it says.
    assert_eq!(first["hookctl.verify"], text_value("failed"));
    assert_eq!(first["hookctl.agents"], json!({ "arrayValue": { "values": [] } }));
    let problems = first["hookctl.problems"].to_string();
    assert!(problems.contains("hookctl is not installed here"), "{problems}");
    // Resumed and compacted it is the same session; another has another.
    home.hook(&session_start("s-1"));
    home.hook(&session_start("s-2"));
    home.hook(&session_start("s-2"));
    server.seen_when(2);
    home.flush();
    let seen = server.seen_when(2);
    assert_eq!(seen.len(), 2);
    let second = &seen[1].json()["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0].clone();
    let second = attributes(&second["attributes"]);
    assert_eq!(second["session.id"], text_value("s-2"));
    assert_ne!(first["log.record.uid"], second["log.record.uid"]);
}

#[test]
fn sessions_that_begin_at_once_are_each_told_once() {
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new(&heartbeat_only(&server.url, ""));
    std::thread::scope(|scope| {
        for number in 0..16 {
            let home = &home;
            // Each is registered twice.
            scope.spawn(move || home.hook(&session_start(&format!("s-{}", number / 2))));
        }
    });
    server.seen_when(8);
    home.flush();
    let sessions: Vec<String> = server
        .seen_when(8)
        .iter()
        .map(|one| {
            let record = one.json()["resourceLogs"][0]["scopeLogs"][0]["logRecords"][0].clone();
            attributes(&record["attributes"])["session.id"].to_string()
        })
        .collect();
    let once: BTreeSet<&String> = sessions.iter().collect();
    assert_eq!((sessions.len(), once.len()), (8, 8), "{sessions:?}");
}

#[test]
fn what_a_machine_is_called_is_hidden_with_the_rest() {
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new(&heartbeat_only(&server.url, "send = \"hash\""));
    home.hook(&session_start("s-1"));
    let seen = server.seen_when(1);
    let text = seen[0].json().to_string();
    let user = home.path().file_name().unwrap().to_string_lossy().into_owned();
    assert!(!text.contains(&user) && !text.contains("not installed"), "{text}");
}

#[test]
fn a_summary_tells_machines_apart() {
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new(&heartbeat_only(&server.url, "send = \"summary\""));
    home.hook(&session_start("s-1"));
    let logs = server.seen_when(1)[0].json()["resourceLogs"][0].clone();
    let host = attributes(&logs["resource"]["attributes"])["host.name"].clone();
    assert_eq!(host, text_value(&hookctl::env::host_name()));
    let record = attributes(&logs["scopeLogs"][0]["logRecords"][0]["attributes"]);
    let user = home.path().file_name().unwrap().to_string_lossy().into_owned();
    assert_eq!(record["enduser.id"], text_value(&user));
}

#[test]
fn a_human_sends_what_waits_and_no_draft_of_it() {
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new(&heartbeat_only(&server.url, ""));
    let notes = home.state().join("notes");
    fs::create_dir_all(&notes).unwrap();
    let note = r#"{"agent":"claude","session":"s-7","time":1,"told":[]}"#;
    let name = "heartbeat-0123456789abcdef0123456789abcdef";
    for name in [format!("{name}.12-0.tmp"), name.into()] {
        fs::write(notes.join(name), note).unwrap();
    }
    home.flush();
    let seen = server.seen_when(1);
    assert_eq!(seen.len(), 1);
    assert!(seen[0].json().to_string().contains("s-7"));
    assert!(notes.join(format!("{name}.told")).exists() && !notes.join(name).exists());
    // One of which a collector was told already is told to the others only.
    fs::write(notes.join(name), r#"{"agent":"claude","session":"s-7","time":1,"told":["x"]}"#)
        .unwrap();
    home.flush();
    assert_eq!(server.seen_when(1).len(), 1);
    assert!(!notes.join(name).exists());
}

#[test]
fn a_repository_is_told_nothing_of_the_machine() {
    let server = Server::start(vec![ok("{}")]);
    let home = Home::new("");
    let project = home.path().join("project");
    fs::create_dir_all(project.join(".git")).unwrap();
    fs::write(project.join(".hookctl.toml"), heartbeat_only(&server.url, "")).unwrap();
    let mut payload = session_start("s-1");
    payload["cwd"] = project.to_string_lossy().into_owned().into();
    home.hook(&payload);
    home.flush();
    std::thread::sleep(Duration::from_millis(300));
    assert!(server.seen_when(0).is_empty());
}

#[test]
fn what_a_collector_did_not_take_is_in_the_journal() {
    let body = r#"{"partialSuccess":{"rejectedLogRecords":"1","errorMessage":"too old"}}"#;
    let server = Server::start(vec![ok(body)]);
    let home = Home::new(&told("otlp", &server.url, ""));
    home.hook(&bash("ls"));
    server.seen_when(1);
    home.flush();
    assert!(home.journal().contains("rejected 1 records: too old"), "{}", home.journal());
    assert!(home.waiting().is_empty(), "a collector that answers 200 has it");
}

#[test]
fn sx_05_one_decides_and_others_are_told() {
    let decides = Server::start(vec![ok(r#"{"decision":"deny","reason":"no"}"#)]);
    let hook = Server::start(vec![ok("")]);
    let audit = Server::start(vec![ok(r#"{"decision":"deny"}"#)]);
    let config = format!(
        "[remote.a]\nurl = \"{}\"\nevents = \"PreToolUse\"\n\
         [remote.b]\nurl = \"{}\"\ndialect = \"webhook\"\nevents = \"*\"\n\
         [remote.c]\nurl = \"{}\"\ndialect = \"claude-http\"\nevents = \"*\"\naudit = true\n{DENY}",
        decides.url, hook.url, audit.url
    );
    let home = Home::new(&config);
    // A local deny is final: nobody is asked, who audits is told with what it was.
    assert_eq!(verdict(&home.hook(&bash("rm x"))).0, "deny");
    let mark = audit.seen_when(1)[0].json();
    assert_eq!(mark["tool_input"]["command"], "rm x");
    assert_eq!(mark["hookctl"]["verdict"], "deny");
    assert_eq!(mark["hookctl"]["rule"], "user:no");
    assert!(decides.seen().is_empty());
    // A server's deny is told of as well.
    assert_eq!(verdict(&home.hook(&bash("ls"))), ("deny", "no [user:remote.a]"));
    let told = hook.seen_when(2);
    assert_eq!(told[1].json()["rule"], "user:remote.a");
    home.flush();
    assert_eq!(audit.seen().len(), 2, "told once, asked once");
}

#[test]
fn telling_takes_no_time_of_the_agent() {
    let server = Server::start(vec![Play::Slow(4000, String::new()), ok("")]);
    let home = Home::new(&told("webhook", &server.url, "").replace("2000", "15000"));
    let start = Instant::now();
    for number in 0..5 {
        // Both pipes are closed when this returns.
        assert_eq!(home.hook(&call(number)), Value::Null);
    }
    // Each would have waited.
    assert!(start.elapsed() < Duration::from_secs(12), "{:?}", start.elapsed());
    server.seen_when(1);
    assert_eq!(home.flush().0, 0);
    let unique: BTreeSet<String> = ids(&server.seen()).into_iter().collect();
    assert_eq!((server.seen().len(), unique.len()), (5, 5), "one sender at a time");
}

#[test]
fn a_server_that_was_down_is_left_alone() {
    let server = Server::start(vec![status(503)]);
    let home = Home::new(&told("webhook", &server.url, ""));
    home.hook(&call(0));
    wait_for_breaker(&home);
    (1..20).for_each(|number| drop(home.hook(&call(number))));
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(server.seen().len(), 1);
    assert_eq!(home.waiting().len(), 20);
    let status = home.run(&["status", "--offline"], "");
    let status = String::from_utf8_lossy(&status.stdout);
    assert!(status.contains("HTTP 503") && status.contains("20 messages wait"), "{status}");
    // A human is not put off.
    let (code, said) = home.flush();
    assert_eq!((code, said.as_str()), (1, "x: 20 kept: HTTP 503\n"));
    assert_eq!(server.seen().len(), 2);
}

#[test]
fn nothing_is_lost_or_told_twice() {
    // Every second request fails.
    let plays = (0..400).map(|at| if at % 2 == 0 { status(503) } else { ok("") }).collect();
    let server = Server::start(plays);
    let home = Home::new(&told("webhook", &server.url, ""));
    let children: Vec<_> = (0..50).map(|_| home.command(&["hook"]).spawn().unwrap()).collect();
    let threads: Vec<_> = children
        .into_iter()
        .enumerate()
        .map(|(number, child)| {
            let payload = call(number).to_string();
            std::thread::spawn(move || answer_of(&finish(child, &payload)))
        })
        .collect();
    threads.into_iter().for_each(|thread| assert_eq!(thread.join().unwrap(), Value::Null));
    // Two humans at once.
    let pair = || {
        let children = [home.command(&["flush"]).spawn(), home.command(&["flush"]).spawn()];
        children.map(|child| finish(child.unwrap(), "").status.code())
    };
    assert!((0..150).any(|_| pair().contains(&Some(0)) && home.waiting().is_empty()));
    let seen = server.seen();
    let accepted: Vec<server::Seen> = seen.iter().skip(1).step_by(2).cloned().collect();
    let whats: BTreeSet<String> =
        accepted.iter().map(|one| one.json()["what"].to_string()).collect();
    let unique: BTreeSet<String> = ids(&accepted).into_iter().collect();
    assert_eq!((accepted.len(), unique.len(), whats.len()), (50, 50, 50));
}

#[test]
fn what_waits_goes_out_when_the_server_is_there_again() {
    let home = home_with_waiting(3);
    let server = Server::start(vec![ok("")]);
    home.configure(&told("webhook", &server.url, ""));
    home.hook(&call(3));
    let seen = server.seen_when(4);
    let whats: Vec<Value> = seen.iter().map(|one| one.json()["what"].clone()).collect();
    assert_eq!(whats, ["echo 0", "echo 1", "echo 2", "echo 3"]);
}

/// A message that arrived must not be sent again for what the server then says.
#[test]
fn any_answer_of_200_is_enough() {
    let home = home_with_waiting(4);
    let short = b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort";
    let garbage = b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n\xff\xfe";
    let server = Server::start(vec![
        Play::Flood("HTTP/1.1 200 OK\r\n\r\n", " "),
        Play::Raw(short),
        Play::Raw(garbage),
        status(204),
    ]);
    home.configure(&told("webhook", &server.url, ""));
    assert_eq!(home.flush(), (0, "x: 4 sent\n".into()));
    assert_eq!(server.seen().len(), 4);
}

#[test]
fn a_projects_server_is_that_of_the_project() {
    let server = Server::start(vec![ok("")]);
    let home = Home::new("");
    let (project, config) = (home.path().join("project"), told("webhook", &server.url, ""));
    fs::write(project.join(".hookctl.toml"), &config).unwrap();
    let mut payload = bash("ls");
    payload["cwd"] = project.to_str().unwrap().into();
    home.hook(&payload);
    assert!(!home.state().join("spool").exists(), "nobody trusts it");
    let entry = json!({ "format": 2, "hash": hookctl::trust::sha256_hex(config.as_bytes()) });
    let file = project.join(".hookctl.toml").to_str().unwrap().to_string();
    let store = json!({ "files": { file: entry } });
    fs::write(home.state().join("trust.json"), store.to_string()).unwrap();
    payload["tool_use_id"] = "toolu_2".into();
    home.hook(&payload);
    // The sender runs elsewhere and finds it all the same.
    assert_eq!(server.seen_when(1)[0].json()["what"], "ls");
    home.flush();
    assert!(home.waiting().is_empty());
}

#[test]
fn a_killed_sender_sends_one_message_again_at_most() {
    let home = home_with_waiting(5);
    let server = Server::start(vec![ok(""), Play::Stall, ok("")]);
    home.configure(&told("webhook", &server.url, "").replace("2000", "15000"));
    let mut child = home.command(&["flush"]).spawn().unwrap();
    server.seen_when(2);
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(home.flush(), (0, "x: 4 sent\n".into()));
    let seen = ids(&server.seen());
    assert_eq!(seen.len(), 6);
    assert_eq!(seen[1], seen[2], "the same id");
    let unique: BTreeSet<&String> = seen.iter().collect();
    assert_eq!(unique.len(), 5);
    let mut sorted = seen.clone();
    sorted.sort();
    assert_eq!(seen, sorted, "in their order");
}

#[test]
fn what_a_server_refuses_is_dropped_and_the_rest_waits() {
    let home = home_with_waiting(3);
    let server = Server::start(vec![status(400), ok(""), status(401)]);
    home.configure(&told("webhook", &server.url, ""));
    assert_eq!(home.flush(), (1, "x: 1 sent, 1 dropped (HTTP 400), 1 kept: HTTP 401\n".into()));
    assert!(home.journal().contains("HTTP 400"), "{}", home.journal());
    assert_eq!(home.waiting().len(), 1);
    // Without its server nobody knows where it should go.
    home.configure("");
    let (code, said) = home.flush();
    assert!(code == 1 && said.contains("there is no [remote.x]"), "{said}");
    assert_eq!(home.run(&["flush", "y"], "").status.code(), Some(2));
}

#[test]
fn what_cannot_be_read_is_set_aside() {
    let home = home_with_waiting(2);
    let dir = home.state().join("spool/x");
    for (name, bytes) in [("0.json", &b"{"[..]), ("1.json", b"\xff\xfe"), ("2.json", b"[]")] {
        fs::write(dir.join(name), bytes).unwrap();
    }
    fs::create_dir(dir.join("3.json")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("nowhere", dir.join("4.json")).unwrap();
    let server = Server::start(vec![ok("")]);
    home.configure(&told("webhook", &server.url, ""));
    assert_eq!(home.flush(), (0, "x: 2 sent, 5 set aside, unreadable\n".into()));
    assert!(dir.join("0.bad").exists() && home.waiting().is_empty());
}

#[test]
fn a_spool_that_cannot_be_written_changes_no_decision() {
    let server = Server::start(vec![ok("")]);
    let home = Home::new(&told("webhook", &server.url, DENY));
    fs::create_dir_all(home.state()).unwrap();
    fs::write(home.state().join("spool"), "").unwrap();
    assert_eq!(verdict(&home.hook(&bash("rm x"))).0, "deny");
    let remote = home.remote();
    assert_eq!(remote["outcome"], "failed");
    assert!(remote["cause"].as_str().unwrap().starts_with("not told"), "{remote}");
    assert!(server.seen().is_empty());
}

#[test]
fn sx_11_two_registrations_tell_once() {
    let server = Server::start(vec![ok("")]);
    let home = Home::new(&told("webhook", &server.url, ""));
    let children: Vec<_> = (0..2).map(|_| home.command(&["hook"]).spawn().unwrap()).collect();
    let payload = bash("ls").to_string();
    for child in children {
        assert_eq!(answer_of(&finish(child, &payload)), Value::Null);
    }
    server.seen_when(1);
    home.flush();
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn sx_07_no_secret_is_spooled_or_told() {
    let home = Home::new(&told(
        "webhook",
        &Server::nobody(),
        "token_env = \"TOKEN\"\nheaders = { X-Key = \"$KEY\" }\nallow_vars = \"KEY\"",
    ));
    let payload = bash("curl -H 'Authorization: Bearer abcdef123456' x.org").to_string();
    let mut command = home.command(&["hook"]);
    command.env("TOKEN", "hunter2hunter2").env("KEY", "sesame");
    answer_of(&finish(command.spawn().unwrap(), &payload));
    let text = fs::read_to_string(&home.waiting()[0]).unwrap();
    for secret in ["hunter2", "sesame", "abcdef123456"] {
        assert!(!text.contains(secret) && !home.journal().contains(secret), "{text}");
    }
    assert!(text.contains("[redacted]"), "{text}");
}

#[test]
fn nothing_dry_tells_and_check_knows_what_is_not_asked() {
    let server = Server::start(vec![ok("")]);
    let rule = "[rule.r]\ntool = \"Bash\"\nremote = \"x\"\notherwise = \"deny\"\n";
    let home = Home::new(&told("webhook", &server.url, rule));
    let said = home.run(&["explain", "--tool", "Bash", "--", "ls"], "");
    assert!(String::from_utf8_lossy(&said.stdout).contains("would tell: [remote.x]"), "{said:?}");
    let said = home.run(&["check"], "");
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    assert!(text.contains("is told, not asked"), "{said:?}");
    assert!(server.seen().is_empty() && !home.state().join("spool").exists());
    let said = home.run(&["ping", "x"], "");
    assert!(String::from_utf8_lossy(&said.stdout).contains("only told"), "{said:?}");
    assert_eq!(server.seen()[0].json()["decision"], "test");
}

#[test]
fn a_slow_human_who_is_told_does_not_hold_up_the_rest() {
    let server = Server::start(vec![Play::Stall]);
    let rule = "[rule.no]\ncommand = \"echo\"\ndeny = \"no\"";
    let config = format!(
        "[remote.x]\nurl = \"{}\"\nevents = \"*\"\nhuman = true\naudit = true\ntimeout_ms = 900\n\
         deadline_ms = 1200\n{rule}",
        server.url
    );
    let home = Home::new(&config);
    home.hook(&call(0));
    wait_for_breaker(&home);
    home.hook(&call(1));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(server.seen().len(), 1, "it is left alone for a while");
}

#[test]
fn a_message_goes_to_no_other_server_of_that_name() {
    let home = home_with_waiting(2);
    let server = Server::start(vec![ok("")]);
    // It is to get less than what waits holds.
    home.configure(&told("webhook", &server.url, "send = \"hash\""));
    let (code, said) = home.flush();
    assert_eq!(code, 1, "{said}");
    assert!(server.seen().is_empty(), "{said}");
    home.configure(&told("webhook", &server.url, ""));
    assert_eq!(home.flush(), (0, "x: 2 sent\n".into()));
}

#[test]
fn sx_07_the_path_of_a_webhook_is_its_key() {
    let server = Server::start(vec![ok("")]);
    let url = format!("{}/T0/B0/s3cretpath", server.url);
    let home = Home::new(&told("webhook", &url, ""));
    home.hook(&call(0));
    server.seen_when(1);
    assert!(server.seen()[0].head.contains("/T0/B0/s3cretpath"));
    let shown = ["status", "log", "ping"].map(|word| {
        let args = if word == "ping" { vec!["ping", "x"] } else { vec![word] };
        String::from_utf8(home.run(&args, "").stdout).unwrap()
    });
    for text in shown.iter().chain([&home.journal()]) {
        assert!(!text.contains("s3cretpath"), "{text}");
    }
}

/// The client's own event, through the script that install wrote: whoever is told gets it, and the human is told.
#[cfg(unix)]
#[test]
fn s3_38_the_end_of_a_task_is_forwarded_by_clines_own_script() {
    let server = Server::start(vec![ok("{}")]);
    let rule = "[rule.done]\non = \"Stop\"\nnotify = { run = \"cat > ~/done.json\" }\n";
    let home = Home::new(&told("webhook", &server.url, rule));
    let output = finish(home.command(&["install", "--agent", "cline"]).spawn().unwrap(), "");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let script = home.path().join("Documents/Cline/Hooks/TaskComplete");
    let payload = include_str!("../payloads/cline/TaskComplete.json");
    let mut command = std::process::Command::new(script);
    command.env("HOME", home.path()).current_dir(home.path());
    for stream in [std::process::Command::stdin, std::process::Command::stdout] {
        stream(&mut command, std::process::Stdio::piped());
    }
    let output = finish(command.spawn().unwrap(), payload);
    assert_eq!(output.status.code(), Some(0));
    let seen = server.seen_when(1);
    let told = seen[0].json();
    for (key, value) in
        [("agent", "cline"), ("event", "TaskComplete"), ("session", "1795183519904_pjcmt")]
    {
        assert_eq!(told[key], value, "{told}");
    }
    let end = Instant::now() + Duration::from_secs(20);
    let done = home.path().join("done.json");
    let noted = || fs::read_to_string(&done).ok().filter(|text| !text.is_empty());
    while noted().is_none() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    let noted: Value = serde_json::from_str(&noted().expect("the human was told")).unwrap();
    assert_eq!(noted["turn"]["outputText"], "All done.");
}
