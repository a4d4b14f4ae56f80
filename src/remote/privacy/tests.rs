use super::*;
use crate::dialect::Reply;
use crate::event::Kind;
use crate::paths::Paths;
use crate::remote::restore::restore_hidden;
use crate::rule::file::Remote;
use proptest::prelude::*;
use serde_json::json;
use std::time::Instant;

/// A server that is shown so much.
fn server(send: Send) -> Remote {
    Remote { send, ..Remote::new("x", crate::dialect::default_dialect()) }
}

const ALL: [Send; 3] = [Send::Full, Send::Summary, Send::Hash];

fn request(raw: Value, bytes: Option<&[u8]>) -> Request {
    let Value::Object(raw) = raw else { unreachable!() };
    let bytes = bytes.map_or_else(|| serde_json::to_vec(&raw).unwrap(), <[u8]>::to_vec);
    let text = |key: &str| raw.get(key).and_then(Value::as_str).unwrap_or_default().to_string();
    let event = Event {
        agent: "claude",
        kind: Kind::from_name(&text("hook_event_name")),
        name: text("hook_event_name"),
        tool: text("tool_name"),
        input: raw.get("tool_input").cloned().unwrap_or_default(),
        cwd: text("cwd"),
        session: text("session_id"),
        more: Vec::new(),
        raw,
        native: Value::Null,
    };
    let paths = Paths {
        home: "/".into(),
        managed: "/".into(),
        fleet: "/nowhere".into(),
        config: "/".into(),
        // Nothing can be kept there.
        state: "/dev/null/state".into(),
    };
    Request::new(event, bytes, Instant::now(), &paths)
}

fn call(input: Value) -> Value {
    json!({
        "session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": "Write",
        "transcript_path": "/t", "tool_input": input, "unknown": {"deep": ["text"]}
    })
}

#[test]
fn where_nothing_is_taken_out_the_request_is_the_view() {
    let bytes = call(json!({"command": "ls", "n": 1})).to_string().replace(":1", ": \\t1");
    let bytes = bytes.replace("\\t", "\t");
    let raw = serde_json::from_str(&bytes).unwrap();
    assert!(restricted_view(&request(raw, Some(bytes.as_bytes())), Send::Full, false).is_none());
    // Bytes that are no UTF-8 are left alone as well, and what is masked becomes readable.
    let bytes = b"{\"a\":\"\xff\"}";
    assert!(
        restricted_view(&request(json!({"a": "\u{fffd}"}), Some(bytes)), Send::Full, false)
            .is_none()
    );
    let bytes = b"{\"a\":\"\xff\",\"token\":\"x\"}";
    let raw = json!({"a": "\u{fffd}", "token": "x"});
    let shown = restricted_view(&request(raw, Some(bytes)), Send::Full, false).unwrap();
    assert_eq!(shown.bytes, "{\"a\":\"\u{fffd}\",\"token\":\"[redacted]\"}".as_bytes());
    // But all of it must have been looked at.
    let twice = br#"{"a":"token=hunter22","a":"x","b":"\"token=\""}"#;
    let shown = restricted_view(
        &request(json!({"a": "x", "b": "\"token=\""}), Some(twice)),
        Send::Full,
        false,
    );
    assert_eq!(shown.unwrap().bytes, br#"{"a":"x","b":"\"token=\""}"#);
}

#[test]
fn summaries_and_hashes_keep_the_shape() {
    let input =
        json!({"command": "curl -u a https://u:pw@x.org", "env": {"A": "b"}, "n": [1, "é", ""]});
    let request = request(call(input), None);
    let summary = restricted_view(&request, Send::Summary, false).unwrap();
    assert_eq!(summary.event.raw["cwd"], "/w");
    assert_eq!(summary.event.raw["unknown"], json!({"deep": ["[4 bytes]"]}));
    assert_eq!(
        summary.event.input,
        json!({"command": "curl -u a https://[redacted]x.org", "env": {"A": "[1 bytes]"},
            "n": [1, "[2 bytes]", ""]})
    );
    let hash = restricted_view(&request, Send::Hash, false).unwrap();
    assert_eq!(hash.event.raw["tool_name"], "Write");
    for text in [&hash.event.raw["cwd"], &hash.event.input["command"]] {
        let hex = text.as_str().unwrap().strip_prefix("sha256:").unwrap();
        assert_eq!(hex.len(), 64);
    }
    assert_eq!(hash.event.cwd, hash.event.raw["cwd"].as_str().unwrap());
    assert_ne!(hash.event.cwd, format!("sha256:{}", trust::sha256_hex(b"/w")), "salted");
}

#[test]
fn the_salt_stays() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state/salt");
    let first = load_salt(&path);
    assert_eq!((first.len(), load_salt(&path)), (64, first));
    assert_ne!(load_salt(Path::new("/dev/null/x")), load_salt(Path::new("/dev/null/x")));
}

/// What comes of it when the server sends that input.
fn back(request: &Request, send: Send, new: Value) -> Result<Option<Value>, String> {
    let seen = &request.server_view(&server(send)).event;
    let mut reply = Reply { input: new.as_object().cloned(), ..Reply::default() };
    restore_hidden(&mut reply, send, false, seen, &request.event)?;
    Ok(reply.input.map(Value::Object))
}

#[test]
fn what_was_not_shown_comes_back() {
    let own = json!({
        "file_path": "/a", "content": "a = 1\npassword = hunter2\n", "plain": "x [redacted]",
        "list": ["token=aaaa1", "b", "token=cccc2", "token=cccc2"]
    });
    let request = request(call(own.clone()), None);
    let view = request.server_view(&server(Send::Full)).event.input.clone();
    let with = |key: &str, value: Value| {
        let mut new = view.clone();
        new[key] = value;
        back(&request, Send::Full, new)
    };
    let wanted = |key: &str, value: Value| {
        let mut new = own.clone();
        new[key] = value;
        Ok(Some(new))
    };
    assert_eq!(back(&request, Send::Full, view.clone()), Ok(None), "unchanged");
    assert_eq!(with("file_path", json!("/b")), wanted("file_path", json!("/b")));
    assert_eq!(with("content", json!("empty")), wanted("content", json!("empty")));
    assert_eq!(with("plain", json!("y [redacted]")), wanted("plain", json!("y [redacted]")));
    let mask = "token=[redacted]";
    assert_eq!(
        with("list", json!([mask, "c", mask, mask])),
        wanted("list", json!(["token=aaaa1", "c", "token=cccc2", "token=cccc2"]))
    );
    for (key, value) in [
        ("content", json!("a = 2\npassword = [redacted]\n")),
        ("content", json!("PASSWORD = [REDACTED]")),
        ("plain", json!("[redacted] [redacted]")),
        ("file_path", json!("/[redacted]")),
        ("new", json!({"a": ["token=[redacted]"]})),
        // Which one was dropped?
        ("list", json!([mask, "b"])),
        ("list", json!({"0": mask})),
    ] {
        assert!(with(key, value.clone()).is_err(), "{key} {value}");
    }
}

#[test]
fn items_of_a_shorter_list_are_told_by_what_they_are() {
    let own = json!({"list": ["token=aaaa1", "b", {"password": "x", "n": 1}]});
    let request = request(call(own), None);
    let new = json!({"list": [{"password": "[redacted]", "n": 1}, "token=[redacted]"]});
    let wanted = json!({"list": [{"password": "x", "n": 1}, "token=aaaa1"]});
    assert_eq!(back(&request, Send::Full, new), Ok(Some(wanted)));
}

#[test]
fn stand_ins_of_summaries_and_hashes_never_come_back() {
    let request = request(call(json!({"command": "ls", "content": "abc"})), None);
    for (send, new) in [
        (Send::Summary, json!({"content": "x [3 bytes]"})),
        (Send::Summary, json!({"other": "[3 bytes]"})),
        (
            Send::Hash,
            json!({"other": request.server_view(&server(Send::Hash)).event.input["command"]}),
        ),
    ] {
        assert!(back(&request, send, new.clone()).is_err(), "{new}");
    }
    let new = json!({"command": "ls -l", "content": "[3 bytes]"});
    let wanted = json!({"command": "ls -l", "content": "abc"});
    for send in [Send::Summary, Send::Hash] {
        assert_eq!(back(&request, send, new.clone()), Ok(Some(wanted.clone())));
    }
    // Where it was shown all, a text may look like that.
    let new = json!({"command": "docker run x@sha256", "content": "[3 bytes]"});
    assert_eq!(back(&request, Send::Full, new.clone()), Ok(Some(new)));
}

const SECRET: &str = "ghp_0123456789abcdefghijABCDEFGHIJ";

/// JSON of any shape, with secrets here and there.
fn any_json() -> impl Strategy<Value = Value> {
    let word = prop_oneof!["[a-z \"\\\\é]{0,9}", Just("token".into()), Just("[redacted]".into())];
    let text = prop_oneof![
        3 => word.clone().prop_map(Value::String),
        1 => (word.clone(), word.clone()).prop_map(|(a, b)| format!("{a} {SECRET} {b}").into()),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i32>().prop_map(Value::from),
        text
    ];
    let key = prop_oneof![
        "[a-z]{1,4}",
        Just("password".into()),
        Just("name".into()),
        Just("command".into())
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            prop::collection::vec((key.clone(), inner), 0..6)
                .prop_map(|pairs| Value::Object(pairs.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn sx_07_no_view_holds_a_secret_and_what_comes_back_is_the_original(
        fields in prop::collection::vec(("[a-z]{1,4}", any_json()), 0..5),
    ) {
        let own = Value::Object(fields.into_iter().collect());
        let mut raw = call(own.clone());
        raw["tool_response"] = own.clone();
        let request = request(raw, None);
        for send in ALL {
            let view = request.server_view(&server(send));
            let told = format!("{:?}", view.event).contains(SECRET);
            prop_assert!(!told);
            prop_assert!(!String::from_utf8_lossy(&view.bytes).contains(SECRET));
            let mut reply = Reply {
                input: view.event.input.as_object().cloned(),
                response: view.event.tool_response().cloned(),
                ..Reply::default()
            };
            prop_assert_eq!(restore_hidden(&mut reply, send, false, &view.event, &request.event), Ok(()));
            // Nothing changed.
            prop_assert_eq!((reply.input, reply.response), (None, None));
            // One field changed: all else is as it was.
            let mut input = view.event.input.as_object().cloned().unwrap();
            input.insert("other".into(), 1.into());
            let mut reply = Reply { input: Some(input), ..Reply::default() };
            prop_assert_eq!(restore_hidden(&mut reply, send, false, &view.event, &request.event), Ok(()));
            let mut wanted = own.as_object().cloned().unwrap();
            wanted.insert("other".into(), 1.into());
            prop_assert_eq!(reply.input, Some(wanted));
        }
    }
}

/// Text with what hides among it, and with what looks as if that was written out already.
fn hidden_text() -> impl Strategy<Value = String> {
    let parts = vec![
        "a",
        " ",
        "\n",
        "\u{202e}",
        "\u{200b}",
        "\u{1b}[31m",
        "\r",
        "\\u{202e}",
        "é",
        "\u{200d}",
        "👩",
        "\u{e0041}",
        "\u{85}",
        "\u{2028}",
        "\u{2800}",
        "_",
    ];
    prop::collection::vec(prop::sample::select(parts), 0..8).prop_map(|parts| parts.concat())
}

fn hides(value: &Value) -> bool {
    let is_hidden = |text: &str| matches!(text::written_out(text), Cow::Owned(_));
    match value {
        Value::String(text) => is_hidden(text),
        Value::Array(items) => items.iter().any(hides),
        Value::Object(map) => map.iter().any(|(key, value)| is_hidden(key) || hides(value)),
        _ => false,
    }
}

proptest! {
    #[test]
    fn a_humans_view_hides_nothing_and_what_comes_back_is_the_original(
        fields in prop::collection::vec((hidden_text(), hidden_text(), hidden_text()), 0..5),
        command in hidden_text(),
    ) {
        let mut input = Map::new();
        for (key, text, other) in &fields {
            input.insert(key.clone(), json!([text, { other.as_str(): text }]));
        }
        input.insert("command".into(), command.into());
        let count = input.len();
        let request = request(call(Value::Object(input)), None);
        let remote = Remote { human: true, ..server(Send::Full) };
        let view = request.server_view(&remote);
        prop_assert!(!hides(&Value::Object(view.event.raw.clone())), "{:?}", view.event.raw);
        prop_assert_eq!(&view.event.raw["tool_input"], &view.event.input);
        let seen = view.event.input.as_object().cloned().unwrap();
        prop_assert_eq!(seen.len(), count);
        let back = |new: Map<String, Value>| {
            let mut reply = Reply { input: Some(new), ..Reply::default() };
            restore_hidden(&mut reply, Send::Full, true, &view.event, &request.event)?;
            Ok::<_, String>(reply.input)
        };
        prop_assert_eq!(back(seen.clone()), Ok(None));
        // Another field changed: all else is as it was, or it is no answer.
        let mut changed = seen;
        changed.insert("other".into(), 1.into());
        if let Ok(Some(new)) = back(changed) {
            let mut wanted = request.event.input.as_object().cloned().unwrap();
            wanted.insert("other".into(), 1.into());
            prop_assert_eq!(new, wanted);
        }
    }
}
