//! Faults of servers: what is answered, after how many requests, and when.

use super::*;

#[test]
fn an_answer_without_an_end_is_left_at_a_mebibyte() {
    let server = Server::start(vec![Play::Flood("HTTP/1.1 200 OK\r\n\r\n", " ")]);
    let config = forward(&server.url, "").replace("timeout_ms = 400", "timeout_ms = 9000");
    let home = Home::new(&config.replace("1400", "9000"));
    assert_eq!(home.hook(&bash("ls")), Value::Null);
    let remote = home.remote();
    assert_eq!(remote["attempts"], 1, "{remote}");
    assert!(remote["cause"].as_str().unwrap().contains("1024 KiB"), "{remote}");
}

#[test]
fn s1_32_failing_closed_on_every_event_and_never_an_endless_stop() {
    let silent = [
        event("SessionStart", json!({"source": "startup"})),
        event("SessionEnd", json!({"reason": "other"})),
        event("Notification", json!({"message": "m"})),
    ];
    let silent = silent.map(|payload| (payload, Value::Null));
    for (payload, wanted) in blocked(&format!("{CLOSED} [user:remote.x]")).into_iter().chain(silent)
    {
        let server = Server::start(vec![status(400)]);
        let home = Home::new(&forward(&server.url, "fail_open = false"));
        assert_eq!(home.hook(&payload), wanted, "{payload}");
    }
}

#[test]
fn s1_26_s1_28_s1_29_retries_pauses_and_retry_after() {
    let block = r#"{"decision":"block","reason":"third"}"#;
    let server = Server::start(vec![status(503), status(503), ok(block)]);
    let home = Home::new(&forward(&server.url, "").replace("delay_ms = 30", "delay_ms = 100"));
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny");
    let at: Vec<Instant> = server.seen().iter().map(|one| one.at).collect();
    assert_eq!(at.len(), 3);
    for two in at.windows(2) {
        let gap = two[1] - two[0];
        assert!(gap >= Duration::from_millis(100) && gap < Duration::from_millis(1_000), "{gap:?}");
    }
    // A longer Retry-After is waited for, where it fits.
    let busy = Play::Answer(429, "retry-after: 1\r\n", String::new());
    let server = Server::start(vec![busy, ok(block)]);
    let config = forward(&server.url, "").replace("deadline_ms = 1400", "deadline_ms = 3000");
    assert_eq!(verdict(&Home::new(&config).hook(&bash("ls"))).0, "deny");
    let seen = server.seen();
    assert!(seen[1].at - seen[0].at >= Duration::from_secs(1));
    // No retries at all.
    let server = Server::start(vec![status(503)]);
    let config = forward(&server.url, "").replace("retry_count = 2", "retry_count = 0");
    Home::new(&config).hook(&bash("ls"));
    assert_eq!(server.seen().len(), 1);
}

#[test]
fn s1_27_an_attempt_ends_at_its_time_and_a_session_ends_in_its_own() {
    let server = Server::start(vec![Play::Stall]);
    let config = forward(&server.url, "").replace("retry_count = 2", "retry_count = 0");
    // A tenth more, and room for a machine that has other things to do: the best of some counts.
    let mut times = Vec::new();
    while times.len() < 8 && !times.iter().any(|ms| *ms <= 600) {
        let mut payload = bash("ls");
        payload["tool_use_id"] = format!("toolu_{}", times.len()).into();
        let home = Home::new(&config.replace("timeout_ms = 400", "timeout_ms = 500"));
        home.hook(&payload);
        times.push(home.remote()["ms"].as_u64().unwrap());
    }
    let best = times.iter().min().unwrap();
    assert!((500..=600).contains(best), "{times:?}");
    // The agent gives its hooks a second and a half at a session's end, whatever the config says.
    let server = Server::start(vec![Play::Stall]);
    let home = Home::new(&format!("[remote.x]\nurl = \"{}\"\nevents = \"SessionEnd\"", server.url));
    home.hook(&event("SessionEnd", json!({"reason": "other"})));
    let remote = home.remote();
    assert!(remote["ms"].as_u64().unwrap() <= 1450, "{remote}");
    assert_eq!((server.seen().len(), &remote["attempts"]), (1, &json!(1)));
    let told = home.told(&["status", "--offline"]);
    assert!(
        !told.contains("first seen"),
        "a server that had less than its time is not down: {told}"
    );
}

#[test]
fn s1_30_the_agents_own_limit_comes_before_the_servers() {
    let server = Server::start(vec![Play::Stall]);
    let config = forward(&server.url, "fail_open = false").replace("1400", "20000");
    let home = Home::new(&config.replace("timeout_ms = 400", "timeout_ms = 9000"));
    let start = Instant::now();
    let output = home.run(&["hook", "--timeout", "5"], &bash("ls").to_string());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
    assert_eq!(verdict(&answer_of(&output)).0, "deny");
}

#[test]
fn s1_34_failover_in_order() {
    let second = Server::start(vec![ok(r#"{"decision":"block","reason":"second"}"#)]);
    let third = Server::start(vec![ok("{}")]);
    for first in [Server::nobody(), Server::start(vec![status(400)]).url] {
        let urls = format!("{first}\", \"{}\", \"{}", second.url, third.url);
        let config = forward("URL", "").replace("\"URL\"", &format!("[\"{urls}\"]"));
        let home = Home::new(&config);
        assert!(verdict(&home.hook(&bash("ls"))).1.starts_with("second"));
        assert_eq!(home.remote()["endpoint"], second.url);
    }
    assert!(third.seen().is_empty());
}

#[test]
fn a_server_that_was_down_is_not_waited_for_again() {
    let server = Server::start(vec![status(503), status(503), status(503), ok("{}")]);
    let home = Home::new(&forward(&server.url, "fail_open = false"));
    let call = |id: &str| {
        let mut payload = bash("ls");
        payload["tool_use_id"] = id.into();
        verdict(&home.hook(&payload)).0.to_string()
    };
    assert_eq!(call("1"), "deny");
    assert_eq!(server.seen().len(), 3);
    assert_eq!(call("2"), "deny");
    assert_eq!(server.seen().len(), 3, "it is left alone");
    assert_eq!(home.remote()["attempts"], 0);
    let file = std::fs::read_dir(home.state()).unwrap().flatten();
    let file = file.map(|entry| entry.path()).find(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("remote-x-"))
    });
    let file = file.expect("the breaker's note");
    let told = home.told(&["status", "--offline"]);
    assert!(told.contains("first seen") && told.contains("HTTP 503"), "{told}");
    // Half a minute later one event looks again.
    let mut note: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    note["tried"] = (note["tried"].as_u64().unwrap() - 31_000).into();
    std::fs::write(&file, note.to_string()).unwrap();
    assert_eq!(call("3"), "");
    assert_eq!(server.seen().len(), 4);
    assert!(!file.exists());
    // What a server refuses does not mean that it is down.
    let server = Server::start(vec![status(400)]);
    let home = Home::new(&forward(&server.url, ""));
    home.hook(&bash("ls"));
    let told = home.told(&["status", "--offline"]);
    assert!(!told.contains("first seen"), "{told}");
}

#[test]
#[cfg(feature = "tls")]
fn sx_06_tls_errors_are_not_tried_again() {
    let server = Server::start(vec![Play::Blurt(b"HTTP/1.1 400 Bad Request\r\n\r\n")]);
    let url = server.url.replace("http:", "https:");
    let home = Home::new(&forward(&url, "fail_open = false"));
    assert_eq!(verdict(&home.hook(&bash("ls"))).0, "deny");
    let remote = home.remote();
    assert_eq!(remote["attempts"], 1, "{remote}");
    assert!(remote["cause"].as_str().unwrap().starts_with("TLS"), "{remote}");
}
