//! The payload reader: what is forgiven, what is an error of which kind, and which event a broken
//! payload belonged to.

use hookctl::payload::{PayloadError, parse, sniff_event};
use proptest::prelude::*;
use serde_json::{Value, json};

/// The value at `key` of a payload that can be read.
fn at(bytes: impl AsRef<[u8]>, key: &str) -> Value {
    parse(bytes.as_ref()).expect("readable")[key].clone()
}

#[test]
fn sx_15_bom_blanks_and_nul_around_the_object() {
    for bytes in [
        &b"\xef\xbb\xbf{\"a\":1}"[..],
        b"\xef\xbb\xbf\r\n {\"a\":1}",
        b" \r\n\t{\"a\":1}\r\n",
        b"{\"a\":1}\n\0",
        b"{\"a\":1}\0\0",
    ] {
        assert_eq!(at(bytes, "a"), 1, "{bytes:?}");
    }
}

#[test]
fn sx_15_invalid_utf8_is_replaced() {
    assert_eq!(at(b"{\"a\":\"x\xffy\"}", "a"), "x\u{fffd}y");
    // A lone surrogate in bytes, as WTF-8 has it.
    assert_eq!(at(b"{\"a\":\"\xed\xa0\x80\"}", "a"), "\u{fffd}\u{fffd}\u{fffd}");
    // Cut in the middle of a character.
    assert_eq!(at(b"{\"a\":\"\xe2\x98\"}", "a"), "\u{fffd}");
}

#[test]
fn s2_02_lone_surrogates_become_the_replacement_character() {
    for (text, expected) in [
        (r#"{"a":"\ud800"}"#, "\u{fffd}"),
        (r#"{"a":"\uD800"}"#, "\u{fffd}"),
        (r#"{"a":"\uDfFf"}"#, "\u{fffd}"),
        (r#"{"a":"x\udc00y"}"#, "x\u{fffd}y"),
        (r#"{"a":"\ud800\ud800"}"#, "\u{fffd}\u{fffd}"),
        // The second of the two has its pair.
        (r#"{"a":"\ud83d\ud83d\ude00"}"#, "\u{fffd}😀"),
        (r#"{"a":"\ude00\ud83d"}"#, "\u{fffd}\u{fffd}"),
        (r#"{"a":"\ud800\u0041"}"#, "\u{fffd}A"),
        (r#"{"a":"\ud800\\ud800"}"#, "\u{fffd}\\ud800"),
        // An escaped backslash before `ud800` is no escape of a unit ...
        (r#"{"a":"\\ud800\udc00"}"#, "\\ud800\u{fffd}"),
        // ... and an escaped backslash before an escape is none of its business.
        (r#"{"a":"\\\ud800"}"#, "\\\u{fffd}"),
        (r#"{"a":"\"\ud800\""}"#, "\"\u{fffd}\""),
        (r#"{"a":"\uD83D\uDE00\ud800"}"#, "😀\u{fffd}"),
    ] {
        assert_eq!(at(text, "a"), expected, "{text}");
    }
    assert_eq!(at(r#"{"\ud800":1}"#, "\u{fffd}"), 1);
}

#[test]
fn s2_02_raw_control_characters_in_strings_are_read() {
    // What `echo` of some shells makes of `\n` in a sample.
    assert_eq!(at("{\"a\":\"x\ny\tz\u{1}\"}", "a"), "x\ny\tz\u{1}");
    assert_eq!(at("{\n\"a\":\t\"x\ny\"\n}", "a"), "x\ny");
}

#[test]
fn s2_02_of_duplicate_keys_the_last_wins() {
    assert_eq!(at(r#"{"a":1,"b":2,"a":{"c":3}}"#, "a"), json!({ "c": 3 }));
    assert_eq!(at(r#"{"a":{"x":1,"x":2}}"#, "a"), json!({ "x": 2 }));
}

#[test]
fn sx_15_each_failure_has_its_kind_and_sentence() {
    let fails = |bytes: &[u8]| parse(bytes).expect_err("unreadable");
    for empty in [&b""[..], b" \n\t", b"\xef\xbb\xbf", b"\0"] {
        assert_eq!(fails(empty), PayloadError::Empty);
    }
    assert_eq!(fails(b"{"), PayloadError::Truncated { at: 1 });
    let cut = br#"{"tool_input":{"command":"rm -rf"#;
    assert_eq!(fails(cut), PayloadError::Truncated { at: cut.len() });
    for (text, found) in [
        ("[1]", "an array"),
        ("\"x\"", "a string"),
        ("null", "null"),
        ("true", "a boolean"),
        ("false", "a boolean"),
        ("-1.5", "a number"),
    ] {
        let error = fails(text.as_bytes());
        assert_eq!(error, PayloadError::NotObject { found });
        assert_eq!(error.to_string(), format!("the payload is {found}, not a JSON object"));
    }
    for text in ["{\"a\":1}{\"a\":2}", "{a:1}", "not json", "{\"a\":NaN}"] {
        assert!(matches!(fails(text.as_bytes()), PayloadError::Syntax { .. }), "{text}");
    }
    let error = fails(b"{\n  \"a\": 1,\n  b\n}");
    assert!(matches!(error, PayloadError::Syntax { at: 15, .. }), "{error:?}");
    assert_eq!(error.to_string(), "the payload is not valid JSON at byte 15: key must be a string");
}

#[test]
fn sx_15_deep_nesting_is_an_error_of_its_own() {
    let nested = |levels: usize| {
        format!("{{\"a\":{}{}}}", "[".repeat(levels), "]".repeat(levels)).into_bytes()
    };
    // One level is the object's own.
    assert!(parse(&nested(126)).is_ok());
    let error = parse(&nested(127)).unwrap_err();
    assert!(error.to_string().contains("reads 127 levels"), "{error}");
    assert!(matches!(parse(&nested(128)), Err(PayloadError::TooDeep { at }) if at > 100));
    assert!(matches!(parse(&nested(1_000_000)), Err(PayloadError::TooDeep { .. })));
}

#[test]
fn a_number_that_no_double_holds_is_json_all_the_same() {
    let digits = "9".repeat(400);
    for (number, positive) in
        [("1e999", true), ("-1E+999", false), (digits.as_str(), true), ("-1.5e400", false)]
    {
        for text in [
            format!(r#"{{"n":{number},"command":"rm -rf ~ 1e999"}}"#),
            format!(r#"{{"x":[1, {number} ,2],"command":"rm -rf ~ 1e999"}}"#),
        ] {
            let object = parse(text.as_bytes()).unwrap_or_else(|error| panic!("{text}: {error}"));
            // Nothing in a text is a number.
            assert_eq!(object["command"], "rm -rf ~ 1e999");
            let found = object.get("n").or_else(|| object["x"].get(1)).unwrap();
            assert_eq!(found.as_f64(), Some(if positive { f64::MAX } else { f64::MIN }), "{text}");
        }
    }
    // What is no number stays none.
    for text in [r#"{"n":1e}"#, r#"{"n":+1}"#, r#"{"n":1e999e}"#, r#"{"n":--1}"#, r#"{"n":-}"#] {
        assert!(parse(text.as_bytes()).is_err(), "{text}");
    }
}

#[test]
fn sx_15_every_truncation_of_a_capture_is_an_error() {
    let whole = std::fs::read("tests/payloads/claude/PreToolUse-Write-lone_surrogate.raw.json")
        .expect("fixture");
    let whole = whole.trim_ascii_end();
    assert!(parse(whole).is_ok());
    for end in 0..whole.len() {
        let error = parse(&whole[..end]).expect_err("cut off");
        assert!(
            matches!(error, PayloadError::Empty | PayloadError::Truncated { .. }),
            "{end}: {error}"
        );
    }
}

#[test]
fn sx_15_the_event_of_a_broken_payload_is_found() {
    for (text, event) in [
        (
            r#"{"session_id":"x","hook_event_name":"PreToolUse","tool_input":{"a":"cut"#,
            "PreToolUse",
        ),
        ("\u{feff}{ \"hook_event_name\" :\n \"Stop\" , \u{1} }", "Stop"),
        (
            r#"{"tool_input":{"a":[1,{"b":"}\\\"{"}]},"hook_event_name":"PostToolUse""#,
            "PostToolUse",
        ),
    ] {
        assert_eq!(sniff_event(text.as_bytes()).as_deref(), Some(event), "{text}");
    }
    let (open, close) = ("[".repeat(9999), "]".repeat(9999));
    let deep = format!("{{\"a\":{open}{close},\"hook_event_name\":\"PreToolUse\"}}");
    assert_eq!(sniff_event(deep.as_bytes()).as_deref(), Some("PreToolUse"));
}

#[test]
fn sx_15_what_a_model_wrote_is_not_taken_for_the_event() {
    for text in [
        "",
        "hook_event_name",
        r#"{"tool_input":{"hook_event_name":"Notification"},"x":"#,
        r#"{"tool_input":{"a":"\",\"hook_event_name\":\"Notification\""#,
        r#"{"tool_input":{"a":"},\"hook_event_name\":\"Notification\",{"#,
        r#"{"a":"hook_event_name","b":"Notification"#,
        r#"{"hook_event_name":5,"b":"#,
        r#"{"hook_event_name":"Pre Tool","b":"#,
        r#"{"hook_event_name":"Pre"#,
        r#"["hook_event_name","Stop"]"#,
    ] {
        assert_eq!(sniff_event(text.as_bytes()), None, "{text}");
    }
}

proptest! {
    #[test]
    fn sx_15_no_bytes_make_it_panic(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let _ = parse(&bytes);
        let _ = sniff_event(&bytes);
    }

    #[test]
    fn sx_15_no_escapes_make_it_panic(text in r#"\{"a":"(\\|u|d8|dc|00|[0-9a-f"{},:]){0,60}"\}"#) {
        let _ = parse(text.as_bytes());
        let _ = sniff_event(text.as_bytes());
    }

    /// A string of any UTF-16 units, written as a client writes it, comes out as it is read anywhere.
    #[test]
    fn s2_02_any_units_are_read(units in proptest::collection::vec(
        prop_oneof![any::<u16>(), 0xd7ff_u16..0xe001, Just(u16::from(b'\\')), Just(u16::from(b'"'))], 0..40))
    {
        let escaped: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let object = parse(format!("{{\"a\":\"{escaped}\"}}").as_bytes()).expect("readable");
        prop_assert_eq!(&object["a"], &Value::from(String::from_utf16_lossy(&units)));
    }

    #[test]
    fn s2_02_what_is_valid_is_not_changed(text in any::<String>(), key in any::<String>()) {
        let value = json!({ &key: text, "n": [1, { "x": null }] });
        let object = parse(value.to_string().as_bytes()).expect("readable");
        prop_assert_eq!(Value::Object(object), value);
    }
}

#[test]
fn what_would_take_much_memory_is_not_read() {
    let most = hookctl::payload::MOST;
    for (open, part, close) in [
        ("[0", ",0", "]"),
        ("[[]", ",[]", "]"),
        ("[{}", ",{}", "]"),
        ("[\"\"", ",\"\"", "]"),
        ("[{\"a\":{}}", ",{\"a\":{}}", "]"),
        ("{\"a\":0", ",\"a\":0", "}"),
    ] {
        let text = |count| format!("{{\"a\":{open}{}{close}}}", part.repeat(count));
        assert_eq!(parse(text(most).as_bytes()), Err(PayloadError::TooMany), "{part}");
        assert!(parse(text(most / 8).as_bytes()).is_ok(), "{part}");
        // Cut off, it would take as much.
        let whole = text(most);
        let cut = &whole[..whole.len() - 1];
        assert_eq!(parse(cut.as_bytes()), Err(PayloadError::TooMany), "{part}");
    }
    // Within strings nothing is a value.
    let text = format!("{{\"a\":\"{}\\\"{}\"}}", ",[{".repeat(most), "[,".repeat(most));
    assert!(parse(text.as_bytes()).is_ok());
    // What is repaired grows.
    for byte in [b'\x01', b'\xff'] {
        let text = |count| [&b"{\"a\":\""[..], &vec![byte; count], b"\"}"].concat();
        assert_eq!(parse(&text(12 << 20)), Err(PayloadError::Garbled), "{byte}");
        assert!(parse(&text(1 << 20)).is_ok(), "{byte}");
    }
}
