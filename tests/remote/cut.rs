//! What is too large for cdev: cut in time that grows with its size, with its ids and what is called on
//! what, or not sent.

use super::*;

const OK: &str = r#"{"ok":true}"#;

fn home(url: &str) -> Home {
    Home::new(&format!(
        "[remote.x]\nurl = \"{url}\"\ndialect = \"cdev\"\nevents = \"*\"\ntimeout_ms = 20000\ndeadline_ms = 20000\n"
    ))
}

fn ended(response: Value) -> Value {
    let mut payload = bash("ls");
    payload["hook_event_name"] = "PostToolUse".into();
    payload["prompt_id"] = "p-1".into();
    payload["agent_id"] = "a-1".into();
    payload["tool_response"] = response;
    payload
}

/// The body that came of a result, with all that says which call it was.
fn told(payload: &Value) -> Value {
    let server = Server::start(vec![ok(OK)]);
    let home = home(&server.url);
    let what = payload["tool_response"].to_string().chars().take(60).collect::<String>();
    assert_eq!(home.hook(payload), Value::Null, "{what}");
    home.flush();
    let seen = server.seen();
    assert_eq!(seen.len(), 1, "{}", home.journal().chars().take(600).collect::<String>());
    assert!(seen[0].body.len() < 1_000_000, "{}", seen[0].body.len());
    let body = seen[0].json();
    for key in ["session_id", "tool_use_id", "tool_name", "cwd", "prompt_id", "agent_id"] {
        assert_eq!(body[key], payload[key], "{key}");
    }
    assert_eq!(body["tool_input"]["command"], payload["tool_input"]["command"]);
    assert_eq!(body["tool_result"], body["tool_response"]);
    body
}

#[test]
fn a_result_of_many_small_values_arrives_in_part() {
    let text = |n: usize| format!("item {n}, twenty letters");
    let list = |count| json!({ "items": (0..count).map(text).collect::<Vec<_>>() });
    let body = told(&ended(list(60_000)));
    let items = body["tool_result"]["items"].as_array().unwrap();
    let (last, kept) = items.split_last().unwrap();
    assert!(kept.len() > 1_000, "{}", kept.len());
    assert!(kept.iter().enumerate().all(|(n, item)| *item == text(n)));
    let left = 60_000 - kept.len();
    assert_eq!(*last, format!("… [truncated {left} items]"));
    // As a map.
    let map: serde_json::Map<String, Value> =
        (0..60_000).map(|n| (format!("key {n}"), json!(n))).collect();
    let body = told(&ended(map.into()));
    let map = body["tool_result"].as_object().unwrap();
    assert_eq!(map["key 0"], 0);
    assert_eq!(map["… [truncated]"], format!("… [truncated {} items]", 60_001 - map.len()));
    // A long text beside them does not take their place.
    let mut both = list(60_000);
    both["text"] = "ä\"".repeat(300_000).into();
    let body = told(&ended(both));
    assert!(body["tool_result"]["items"].as_array().unwrap().len() > 1_000);
}

#[test]
fn s0_10_s0_12_a_tool_that_failed_has_ended() {
    let mut payload = ended(Value::Null);
    payload["hook_event_name"] = "PostToolUseFailure".into();
    payload.as_object_mut().unwrap().remove("tool_response");
    payload["error"] = "Exit code 3\nbad".into();
    payload["is_interrupt"] = false.into();
    for error in ["Exit code 3\nbad".to_string(), "x\"".repeat(400_000)] {
        payload["error"] = error.into();
        let body = told(&payload);
        assert_eq!(body["hook_event_name"], "PostToolUseFailure");
        assert_eq!(body["is_interrupt"], false);
        let (told, error) = (body["tool_result"].as_str(), payload["error"].as_str());
        let kept = told.unwrap().split("… [truncated ").next().unwrap();
        assert!(kept.len() > 10 && error.unwrap().starts_with(kept));
    }
    // A result of its own is one.
    payload["error"] = "e".into();
    payload["tool_response"] = "r".into();
    assert_eq!(told(&payload)["tool_result"], "r");
}

/// Whatever it is that is too large.
#[test]
fn what_is_cut_keeps_its_ids_or_is_not_sent() {
    let mut deep = json!("x".repeat(1_000));
    for level in 0..100 {
        deep = json!([deep, { format!("level {level}"): "ä\u{1}\"\\\u{1f600}".repeat(1_000) }]);
    }
    let ids: Vec<Value> = (0..25_000)
        .map(|n| json!({ "tool_use_id": format!("toolu_{n}"), "session_id": "s" }))
        .collect();
    for (what, response) in [
        ("one text", json!("€".repeat(400_000))),
        ("control characters", json!("\u{1}".repeat(300_000))),
        ("deep", deep),
        ("ids", json!({ "tool_use_id": "toolu_9", "all": ids })),
        ("keys", json!({ "a": 1, "k".repeat(1_200_000): 2, "b": 3 })),
        ("short texts", json!(vec!["\u{1}".repeat(200); 3_000])),
        ("small lists", json!(vec![json!([[], "ten letters"]); 40_000])),
        ("numbers", json!((0..90_000).map(|n| f64::from(n) / 7.0).collect::<Vec<_>>())),
    ] {
        let body = told(&ended(response));
        assert!(body.to_string().contains("… [truncated "), "{what}");
    }
    // What is called on what is never cut, nor what nobody knows: then it is not sent, and the log says so.
    for (key, value) in [
        ("tool_input", json!({ "command": "x\n".repeat(600_000) })),
        ("cwd", json!("/x".repeat(600_000))),
        ("tool_use_id", json!("t".repeat(1_200_000))),
        ("new_field", json!(vec!["twenty letters, each"; 60_000])),
    ] {
        for name in ["PreToolUse", "PostToolUse"] {
            let mut payload = ended(json!(vec!["y"; 80_000]));
            payload["hook_event_name"] = name.into();
            payload[key] = value.clone();
            let server = Server::start(vec![ok(r#"{"decision":"allow"}"#)]);
            let home = home(&server.url);
            assert_ne!(verdict(&home.hook(&payload)).0, "allow", "{key}");
            home.flush();
            assert_eq!(server.connections(), 0, "{key}, {name}");
            // A line of the journal with such a directory is too large as well. Who is told later is found too large later.
            let end = Instant::now() + Duration::from_secs(60);
            let said = || key == "cwd" || home.told(&["log"]).contains("larger than");
            while !said() {
                assert!(Instant::now() < end, "{key}, {name}: {:.2000}", home.told(&["log"]));
                std::thread::sleep(Duration::from_millis(20));
            }
        }
    }
}
