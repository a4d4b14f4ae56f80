//! What a server is shown of an event: never a secret, and with `send = "summary"` or `"hash"` no
//! contents either.
//!
//! The view is made once for all dialects, before any of them sees the event, and keeps the shape
//! of the payload: only texts differ. `restore` is the way back.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Map, Value};

use super::Request;
use crate::event::Event;
use crate::journal::create_private_dir;
use crate::payload;
use crate::redact;
use crate::rule::file::remote::Send;
use crate::trust;

/// Fields of the payload that stay readable in a summary and beside hashes, with all below them.
const NAMES: &[&str] = &[
    // Which event of which session it is: what a server finds its own record of it by.
    "hook_event_name",
    "session_id",
    "prompt_id",
    "correlation_id",
    "tool_use_id",
    "agent_id",
    "task_id",
    "message_id",
    // Who does what: names and words of the agent's own, which a policy decides by.
    "tool_name",
    "agent_type",
    "permission_mode",
    "command_name",
    "command_source",
    "mcp_server_name",
    "notification_type",
    "expansion_type",
    "memory_type",
    "load_reason",
    "source",
    "trigger",
    "event",
    "mode",
    "action",
    "model",
    "from_model",
    "to_model",
    "requested_model",
    "effort",
];

/// Fields that say where it happens: readable in a summary, a hash beside hashes.
const PLACES: &[&str] = &[
    "cwd",
    "old_cwd",
    "new_cwd",
    "directory",
    "worktree_path",
    "transcript_path",
    "agent_transcript_path",
    "file_path",
    "parent_file_path",
];

/// Fields of a tool's input that say what is called on what ([`Event::what`]): as places.
const WHAT: &[&str] = &["command", "file_path", "notebook_path", "path", "url"];

/// What hookctl itself says of an event: which rule, and that it is a test.
const MARKS: &[&str] = &["verdict", "rule", "test", "paused"];

/// What of the request is shown with this setting; None = all of it, as it came.
pub(super) fn view(request: &Request, send: Send) -> Option<Request> {
    let salt = if send == Send::Hash { salt(&request.salt) } else { String::new() };
    let veil = Veil { send, salt };
    let event = &request.event;
    let mut raw = event.raw.clone();
    let mut differs = veil.payload(&mut raw);
    let input = match event.raw.get("tool_input") == Some(&event.input) {
        true => raw["tool_input"].clone(),
        false => {
            let mut input = event.input.clone();
            differs |= veil.input(&mut input);
            input
        }
    };
    let mut mark = request.mark.clone();
    differs |= mark.as_mut().is_some_and(|mark| veil.mark(mark));
    // What a dialect sends that hands on the bytes; in a test they say so themselves.
    let parsed = payload::parse(&request.bytes).ok();
    let all = parsed.as_ref().is_some_and(|object| is_all(&request.bytes, object));
    let (object, veiled) = match parsed.filter(|object| *object != event.raw) {
        Some(mut object) => {
            let veiled = veil.payload(&mut object);
            (object, veiled)
        }
        None => (raw.clone(), differs),
    };
    let bytes = (veiled || !all).then(|| serde_json::to_vec(&object).unwrap_or_default());
    if !differs && bytes.is_none() {
        return None;
    }
    let shown = |text: &str, place: bool| {
        let mut value = Value::String(text.into());
        if place {
            veil.place(&mut value)
        } else {
            redact::json(&mut value)
        };
        value.as_str().unwrap_or_default().to_string()
    };
    Some(Request {
        event: Event {
            input,
            cwd: shown(&event.cwd, true),
            session: shown(&event.session, false),
            raw,
            ..event.clone()
        },
        bytes: bytes.unwrap_or_else(|| request.bytes.clone()),
        id: request.id.clone(),
        mark,
        home: request.home.clone(),
        salt: request.salt.clone(),
        views: Default::default(),
        ..*request
    })
}

/// What is shown of bytes that are no event.
pub(super) fn text(bytes: &[u8], send: Send) -> String {
    let mut value = Value::String(String::from_utf8_lossy(bytes).into_owned());
    if send == Send::Full {
        redact::json(&mut value)
    } else {
        hide(&mut value)
    };
    value.as_str().unwrap_or_default().to_string()
}

/// A setting applied to the parts of a payload. Each says whether anything differs.
struct Veil {
    send: Send,
    salt: String,
}

impl Veil {
    fn payload(&self, map: &mut Map<String, Value>) -> bool {
        if self.send == Send::Full {
            return redact::fields(map);
        }
        let mut differs = false;
        for (key, value) in map {
            differs |= match (key.as_str(), value) {
                (key, value) if NAMES.contains(&key) => redact::json(value),
                (key, value) if PLACES.contains(&key) => self.place(value),
                ("tool_input", value) => self.input(value),
                // A batch of calls.
                ("tool_calls", Value::Array(calls)) => {
                    calls.iter_mut().fold(false, |differs, call| {
                        let call = match call {
                            Value::Object(call) => self.payload(call),
                            other => hide(other),
                        };
                        differs | call
                    })
                }
                (_, value) => hide(value),
            };
        }
        differs
    }

    fn input(&self, input: &mut Value) -> bool {
        match input {
            input if self.send == Send::Full => redact::json(input),
            Value::Object(map) => map.iter_mut().fold(false, |differs, (key, value)| {
                let shown = WHAT.contains(&key.as_str());
                differs | if shown { self.place(value) } else { hide(value) }
            }),
            other => hide(other),
        }
    }

    fn place(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) if self.send == Send::Hash && !text.is_empty() => {
                *text =
                    format!("sha256:{}", trust::hash(format!("{}{text}", self.salt).as_bytes()));
                true
            }
            Value::String(_) => redact::json(value),
            _ if self.send == Send::Full => redact::json(value),
            _ => hide(value),
        }
    }

    fn mark(&self, mark: &mut Value) -> bool {
        match mark {
            Value::Object(map) if self.send != Send::Full => {
                map.iter_mut().fold(false, |differs, (key, value)| {
                    let shown = MARKS.contains(&key.as_str());
                    differs | if shown { redact::json(value) } else { hide(value) }
                })
            }
            mark => redact::json(mark),
        }
    }
}

/// Puts its length in place of each text; keys, numbers and the shape stay.
fn hide(value: &mut Value) -> bool {
    match value {
        Value::String(text) if !text.is_empty() => {
            *text = format!("[{} bytes]", text.len());
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| any | hide(item)),
        Value::Object(map) => map.values_mut().fold(false, |any, value| any | hide(value)),
        _ => false,
    }
}

/// Is everything that the bytes say in the object? Of a key that comes twice only one value is, and
/// the other has not been looked at.
fn is_all(bytes: &[u8], object: &Map<String, Value>) -> bool {
    fn texts(value: &Value) -> usize {
        match value {
            Value::String(_) => 1,
            Value::Array(items) => items.iter().map(texts).sum(),
            Value::Object(map) => map.values().map(|value| 1 + texts(value)).sum(),
            _ => 0,
        }
    }
    let mut quotes = 0;
    let mut rest = bytes;
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let escaped = rest[at] == b'\\';
        quotes += usize::from(!escaped);
        rest = rest.get(at + if escaped { 2 } else { 1 }..).unwrap_or_default();
    }
    quotes == 2 * object.values().map(|value| 1 + texts(value)).sum::<usize>()
}

/// What makes hashes of this installation its own: nobody else can tell what `ls` would be. Where
/// it cannot be kept, it is good for this event only.
fn salt(path: &Path) -> String {
    let read = || fs::read_to_string(path).ok().filter(|text| text.len() == 64);
    let make = || {
        let dir = path.parent()?;
        create_private_dir(dir).ok()?;
        // For its owner's eyes only, as the system's temporary files are.
        let mut file = tempfile::NamedTempFile::new_in(dir).ok()?;
        file.write_all(random().as_bytes()).ok()?;
        // Of two that come at once the first stays.
        let _ = file.persist_noclobber(path);
        read()
    };
    read().or_else(make).unwrap_or_else(random)
}

fn random() -> String {
    (0..4).map(|_| format!("{:016x}", super::random())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Kind;
    use crate::paths::Paths;
    use crate::remote::reply::Reply;
    use crate::remote::restore::restore;
    use proptest::prelude::*;
    use serde_json::json;
    use std::time::Instant;

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
            raw,
        };
        let paths = Paths {
            home: "/".into(),
            managed: "/".into(),
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
        assert!(view(&request(raw, Some(bytes.as_bytes())), Send::Full).is_none());
        // Bytes that are no UTF-8 are left alone as well, and what is masked becomes readable.
        let bytes = b"{\"a\":\"\xff\"}";
        assert!(view(&request(json!({"a": "\u{fffd}"}), Some(bytes)), Send::Full).is_none());
        let bytes = b"{\"a\":\"\xff\",\"token\":\"x\"}";
        let raw = json!({"a": "\u{fffd}", "token": "x"});
        let shown = view(&request(raw, Some(bytes)), Send::Full).unwrap();
        assert_eq!(shown.bytes, "{\"a\":\"\u{fffd}\",\"token\":\"[redacted]\"}".as_bytes());
        // But all of it must have been looked at.
        let twice = br#"{"a":"token=hunter22","a":"x","b":"\"token=\""}"#;
        let shown = view(&request(json!({"a": "x", "b": "\"token=\""}), Some(twice)), Send::Full);
        assert_eq!(shown.unwrap().bytes, br#"{"a":"x","b":"\"token=\""}"#);
    }

    #[test]
    fn summaries_and_hashes_keep_the_shape() {
        let input = json!({"command": "curl -u a https://u:pw@x.org", "env": {"A": "b"}, "n": [1, "é", ""]});
        let request = request(call(input), None);
        let summary = view(&request, Send::Summary).unwrap();
        assert_eq!(summary.event.raw["cwd"], "/w");
        assert_eq!(summary.event.raw["unknown"], json!({"deep": ["[4 bytes]"]}));
        assert_eq!(
            summary.event.input,
            json!({"command": "curl -u a https://[redacted]x.org", "env": {"A": "[1 bytes]"},
                "n": [1, "[2 bytes]", ""]})
        );
        let hash = view(&request, Send::Hash).unwrap();
        assert_eq!(hash.event.raw["tool_name"], "Write");
        for text in [&hash.event.raw["cwd"], &hash.event.input["command"]] {
            let hex = text.as_str().unwrap().strip_prefix("sha256:").unwrap();
            assert_eq!(hex.len(), 64);
        }
        assert_eq!(hash.event.cwd, hash.event.raw["cwd"].as_str().unwrap());
        assert_ne!(hash.event.cwd, format!("sha256:{}", trust::hash(b"/w")), "salted");
    }

    #[test]
    fn the_salt_stays() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/salt");
        let first = salt(&path);
        assert_eq!((first.len(), salt(&path)), (64, first));
        assert_ne!(salt(Path::new("/dev/null/x")), salt(Path::new("/dev/null/x")));
    }

    /// What comes of it when the server sends that input.
    fn back(request: &Request, send: Send, new: Value) -> Result<Option<Value>, String> {
        let seen = &request.view(send).event;
        let mut reply = Reply { input: new.as_object().cloned(), ..Reply::default() };
        restore(&mut reply, send, seen, &request.event)?;
        Ok(reply.input.map(Value::Object))
    }

    #[test]
    fn what_was_not_shown_comes_back() {
        let own = json!({
            "file_path": "/a", "content": "a = 1\npassword = hunter2\n", "plain": "x [redacted]",
            "list": ["token=aaaa1", "b", "token=cccc2", "token=cccc2"]
        });
        let request = request(call(own.clone()), None);
        let view = request.view(Send::Full).event.input.clone();
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
            (Send::Hash, json!({"other": request.view(Send::Hash).event.input["command"]})),
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
        let word =
            prop_oneof!["[a-z \"\\\\é]{0,9}", Just("token".into()), Just("[redacted]".into())];
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
                let view = request.view(send);
                let told = format!("{:?}", view.event).contains(SECRET);
                prop_assert!(!told);
                prop_assert!(!String::from_utf8_lossy(&view.bytes).contains(SECRET));
                let mut reply = Reply {
                    input: view.event.input.as_object().cloned(),
                    response: view.event.response().cloned(),
                    ..Reply::default()
                };
                prop_assert_eq!(restore(&mut reply, send, &view.event, &request.event), Ok(()));
                // Nothing changed.
                prop_assert_eq!((reply.input, reply.response), (None, None));
                // One field changed: all else is as it was.
                let mut input = view.event.input.as_object().cloned().unwrap();
                input.insert("other".into(), 1.into());
                let mut reply = Reply { input: Some(input), ..Reply::default() };
                prop_assert_eq!(restore(&mut reply, send, &view.event, &request.event), Ok(()));
                let mut wanted = own.as_object().cloned().unwrap();
                wanted.insert("other".into(), 1.into());
                prop_assert_eq!(reply.input, Some(wanted));
            }
        }
    }
}
