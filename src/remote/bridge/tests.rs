use super::*;

const VALUES: &str = include_str!("../../../tests/remote/bridge/values.txt");
const NODE: &str = include_str!("../../../tests/remote/bridge/values.json");

/// tests/remote/bridge/make.js made it, with node.
#[test]
fn s3_11_values_are_written_as_node_writes_them() {
    let lines = VALUES.lines().map(|line| Json::parse(line).expect(line));
    let long = format!("{{\"long\":\"{}\"}}", "é\\n".repeat(5_000));
    let all = Json::Array(lines.chain(Json::parse(&long)).collect());
    for (at, (ours, node)) in all.to_pretty(0).lines().zip(NODE.lines()).enumerate() {
        assert_eq!(ours, node, "line {}", at + 1);
    }
    assert!(all.to_pretty(0) == NODE);
    // What was written once stays as it is.
    assert!(Json::parse(NODE).unwrap().to_pretty(0) == NODE);
    assert!(Json::parse(&all.to_compact()) == Some(all));
}

#[test]
fn what_node_does_not_read_is_no_json() {
    for text in [
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "01",
        "1.",
        ".5",
        "-",
        "+1",
        "1e",
        "nul",
        "'a'",
        "\"\\x\"",
        "\"\\u12\"",
        "\"\\u+123\"",
        "\"a\nb\"",
        "\"",
        "1 2",
        "\u{feff}{}",
        "NaN",
        "[1 2]",
        "{\"a\" 1}",
        "\"\\",
    ] {
        assert_eq!(Json::parse(text), None, "{text}");
    }
    assert_eq!(Json::parse(&"[".repeat(100_000)), None);
}

#[test]
fn what_is_read_can_be_read_again_in_its_file() {
    let deep = |depth: usize| format!("{}1{}", "{\"a\":".repeat(depth), "}".repeat(depth));
    let read = |depth| Json::parse_in(&deep(depth), 1);
    let deepest = (100..300).filter_map(read).next_back().unwrap();
    assert!(Json::parse(&Json::Array(vec![deepest]).to_pretty(0)).is_some());
}

#[test]
fn what_is_too_long_is_cut_once() {
    let text = format!("\"{}\"", "\\u0001é".repeat(300_000));
    let cut = Json::parse(&text).unwrap();
    let Json::Scalar(kept) = &cut else { panic!() };
    assert!(
        kept.len() < (1 << 20) + 2 && kept.ends_with("bytes cut by hookctl]\""),
        "{}",
        kept.len()
    );
    assert_eq!(Json::parse(kept), Some(cut.clone()));
}

#[test]
fn s3_12_a_failure_is_noted_in_the_layout_of_the_files() {
    let about = json!({ "path": "claude-hook", "dataLength": 3 });
    let entry = error_entry(
        "http_send_failed",
        "connect ECONNREFUSED 127.0.0.1:1",
        Some("ECONNREFUSED"),
        Some(about),
    );
    let text = entry.to_pretty(1);
    let time = entry.scalar("timestamp").unwrap();
    let logged = entry.scalar("__hook_error_logged").unwrap();
    let wanted = "{\n    \"timestamp\": @T,\n    \"context\": \"http_send_failed\",\n    \"error\": {\n      \
        \"message\": \"connect ECONNREFUSED 127.0.0.1:1\",\n      \
        \"stack\": \"Error: connect ECONNREFUSED 127.0.0.1:1\",\n      \"name\": \"Error\",\n      \
        \"code\": \"ECONNREFUSED\"\n    },\n    \"additionalData\": {\n      \"path\": \"claude-hook\",\n      \
        \"dataLength\": 3\n    },\n    \"__hook_error_logged\": @M\n  }";
    assert_eq!(text, wanted.replace("@T", time).replace("@M", logged));
    assert_eq!(time.len(), "\"2026-11-20T14:11:28.280Z\"".len());
    assert!(!error_entry("x", "HTTP 404", None, None).to_pretty(0).contains("code"));
}

#[test]
fn s3_13_files_are_called_after_the_route_of_the_agent() {
    assert_eq!(files::fallback_name(agent_route("claude").name), "claude-hook-events.json");
    let url = |text: &str| Url { text: text.into(), loopback: true, private: false };
    for (text, wanted) in [
        ("http://localhost:3043", "http://localhost:3043/claude-hook"),
        ("http://localhost:3043/", "http://localhost:3043/claude-hook"),
        ("http://localhost:3043/own", "http://localhost:3043/own"),
    ] {
        let bridge = Flags::default().to_remote("claude");
        assert_eq!(agent_page(&bridge, &url(text), "claude").text, wanted);
    }
}

#[test]
fn of_too_much_the_newest_stay() {
    let dir = tempfile::tempdir().unwrap();
    let files = Files::lock_directory(dir.path(), "claude-hook", Duration::ZERO).ok().unwrap();
    let event = |n: usize| Json::parse(&format!("{{\"n\":{n},\"t\":\"{}\"}}", "x".repeat(900_000)));
    let all: Vec<Json> = (0..20).filter_map(event).collect();
    files.write_events(&all).unwrap();
    let kept = files.read_events().unwrap().unwrap();
    assert_eq!(kept, all[9..]);
    for n in 0..205 {
        files.add_error(error_entry("x", &n.to_string(), None, None)).unwrap();
    }
    let text = std::fs::read_to_string(dir.path().join("claude-hook-events-errors.json")).unwrap();
    let Some(Json::Array(errors)) = Json::parse(&text) else { panic!("{text}") };
    assert_eq!(errors.len(), 200);
    assert!(
        Files::lock_directory(dir.path(), "claude-hook", Duration::ZERO).is_err(),
        "one at a time"
    );
}
