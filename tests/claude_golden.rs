//! Claude Code: every captured payload as an event, every answer in the client's own form.
//!
//! `tests/agents/claude/NAME.in.json` is a payload (or the file of one) and an answer, `.out.json`
//! beside it what leaves the process. `BLESS=1` writes the latter anew.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hookctl::agent;
use hookctl::agent::claude::{Claude, TEXT_LIMIT};
use hookctl::agent::fingerprint::Fingerprint;
use hookctl::agent::{Agent, EventSpec, Mark, Output};
use hookctl::event::{Event, Kind, KindSet};
use hookctl::payload;
use hookctl::verdict::{Answer, Verb};
use hookctl::watchdog::FailureForm;
use serde_json::{Map, Value, json};

/// The event of a payload's bytes.
fn event(bytes: impl AsRef<[u8]>, named: Option<&str>) -> Event {
    Claude.parse(payload::parse(bytes.as_ref()).expect("a payload"), named)
}

/// The event of a value.
fn event_of(payload: &Value) -> Event {
    event(payload.to_string(), None)
}

/// A file of `tests/payloads`.
fn capture(name: &str) -> Event {
    event(fs::read(Path::new("tests/payloads").join(name)).expect(name), None)
}

/// Every payload file, with the event that its name begins with.
fn captures() -> Vec<(PathBuf, String)> {
    let mut all = Vec::new();
    for folder in ["claude", "claude-handwritten"] {
        for entry in fs::read_dir(Path::new("tests/payloads").join(folder)).expect(folder) {
            let path = entry.expect("entry").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            if name.ends_with(".json") {
                let kind = name.split(['-', '.']).next().unwrap_or_default().to_string();
                all.push((path, kind));
            }
        }
    }
    all.sort();
    assert!(all.len() >= 90, "fixtures are missing: {}", all.len());
    all
}

fn verb(name: &str) -> Verb {
    Verb::ALL.iter().copied().find(|verb| verb.name() == name).expect(name)
}

fn answer(verb: Verb, reason: &str) -> Answer {
    Answer { verb: Some(verb), reason: reason.into(), ..Answer::default() }
}

/// The answer to that event as JSON.
fn reply(event: &Event, answer: &Answer) -> Value {
    let out = Claude.render(event, answer);
    assert_eq!((out.status, out.stderr.as_str()), (0, ""), "{}", event.name);
    serde_json::from_str(&out.stdout).expect("JSON")
}

/// An event of that kind with nothing in it.
fn bare(kind: Kind) -> Event {
    event_of(&json!({ "hook_event_name": kind.name(), "tool_name": "mcp__demo__echo" }))
}

// ---- the payloads ----

#[test]
fn s2_01_every_capture_is_the_event_of_its_name() {
    let mut seen = KindSet::EMPTY;
    for (path, kind) in captures() {
        let event = event(fs::read(&path).expect("bytes"), None);
        assert_eq!(event.kind.name(), kind, "{}", path.display());
        assert_eq!(event.name, kind, "{}", path.display());
        seen.insert(event.kind);
    }
    assert_eq!(seen.iter().count(), Kind::ALL.len(), "an event without a sample");
}

#[test]
fn s2_02_unknown_fields_are_kept_and_missing_ones_tolerated() {
    let event = event_of(&json!({ "hook_event_name": "PreToolUse", "new": { "a": [1, null] } }));
    assert_eq!(event.raw["new"], json!({ "a": [1, null] }));
    assert_eq!((event.tool.as_str(), &event.input), ("", &Value::Null));
    assert_eq!((event.cwd.as_str(), event.session.as_str()), ("", ""));
    assert_eq!(event_of(&json!({})).kind, Kind::Other);
}

#[test]
fn s2_02_wrong_types_count_as_missing() {
    let event = event_of(&json!({
        "hook_event_name": "PreToolUse", "tool_name": ["Bash"], "cwd": 5, "session_id": {},
        "tool_input": { "command": ["rm"], "file_path": 1 }, "stop_hook_active": "yes",
    }));
    assert_eq!((event.tool.as_str(), event.cwd.as_str(), event.session.as_str()), ("", "", ""));
    assert_eq!((event.command(), event.file_path()), (None, None));
    assert!(!event.stop_hook_active());
    for name in [json!(5), json!(null), json!(""), json!(["Stop"])] {
        let text = json!({ "hook_event_name": name }).to_string();
        assert_eq!(self::event(&text, Some("Stop")).kind, Kind::Stop, "{text}");
        assert_eq!(self::event(&text, None).kind, Kind::Other, "{text}");
    }
}

#[test]
fn s2_02_a_relative_cwd_is_none() {
    let cwd = |cwd: &str| event_of(&json!({ "hook_event_name": "Stop", "cwd": cwd })).cwd;
    assert_eq!(cwd("/a b"), "/a b");
    assert_eq!(cwd("C:\\a"), "C:\\a");
    assert_eq!(cwd("\\\\server\\share"), "\\\\server\\share");
    assert_eq!(cwd("a"), "");
    assert_eq!(cwd(""), "");
}

#[test]
fn s2_03_common_data_is_readable_on_every_event() {
    for (path, _) in captures() {
        let event = event(fs::read(&path).expect("bytes"), None);
        assert!(event.cwd.starts_with("/home/dev/project"), "{}", path.display());
        assert_eq!(event.session.len(), 36, "{}", path.display());
        assert!(event.str_field("transcript_path").is_some(), "{}", path.display());
        assert_eq!(event.agent, "claude");
    }
}

#[test]
fn s2_05_accessors_of_tool_calls() {
    let bash = capture("claude/PreToolUse-Bash.json");
    assert!(bash.is_tool("Bash") && !bash.is_tool("Write") && bash.kind.is_tool());
    assert_eq!(bash.command(), Some("echo hi > marker.txt; echo out"));
    assert_eq!(bash.file_path(), None);
    let write = capture("claude/PreToolUse-Write.json");
    assert!(write.file_path().is_some_and(|path| path.starts_with("/home/dev/project/")));
    assert_eq!(write.command(), None);
    assert!(capture("claude/PreToolUse-mcp.json").tool.starts_with("mcp__"));
}

#[test]
fn s2_05_task_is_agent() {
    let old = event_of(&json!({ "hook_event_name": "PreToolUse", "tool_name": "Task" }));
    assert_eq!(old.tool, "Agent");
    assert_eq!(old.str_field("tool_name"), Some("Task"), "the payload itself is kept");
    assert_eq!(capture("claude/PreToolUse-Agent.json").tool, "Agent");
}

#[test]
fn s2_07_success_output_and_error_of_objects_strings_and_bash() {
    let bash = capture("claude/PostToolUse-Bash.json");
    assert_eq!(
        (agent::tool_succeeded(&bash), bash.tool_output().as_deref(), bash.error_text()),
        (Some(true), Some("out"), None)
    );
    let failed = capture("claude/PostToolUseFailure-Bash.json");
    assert_eq!(agent::tool_succeeded(&failed), Some(false));
    assert!(failed.error_text().is_some_and(|error| !error.is_empty()));
    let post = |response: Value| {
        event_of(&json!({ "hook_event_name": "PostToolUse", "tool_response": response }))
    };
    for (response, output) in [
        (json!("done"), Some("done")),
        (json!({ "stdout": "a", "stderr": "b" }), Some("a")),
        (
            json!([{ "type": "text", "text": "a" }, { "type": "image" }, { "type": "text", "text": "b" }]),
            Some("a\nb"),
        ),
        (json!({ "content": [{ "type": "text", "text": "a" }] }), Some("a")),
        (json!({ "type": "text", "file": { "content": "a" } }), Some("a")),
        (json!({ "stdout": 3 }), None),
        (json!(3), None),
        (Value::Null, None),
    ] {
        assert_eq!(post(response.clone()).tool_output().as_deref(), output, "{response}");
    }
    let unsuccessful = post(json!({ "success": false, "error": "no" }));
    assert_eq!(
        (agent::tool_succeeded(&unsuccessful), unsuccessful.error_text()),
        (Some(false), Some("no"))
    );
    for (response, success) in [
        (json!({ "is_error": true }), false),
        (json!({ "isError": false }), true),
        (json!({ "exit_code": 3 }), false),
        (json!({ "exitCode": 0 }), true),
    ] {
        assert_eq!(agent::tool_succeeded(&post(response.clone())), Some(success), "{response}");
    }
    assert_eq!(agent::tool_succeeded(&capture("claude/PreToolUse-Bash.json")), None);
    // Who has no event for failures does not say by its event that there was none.
    let windsurf = json!({ "agent_action_name": "post_run_command", "trajectory_id": "t",
        "tool_info": { "command_line": "ls", "cwd": "/x" } });
    let windsurf = windsurf.as_object().unwrap().clone();
    let windsurf = agent::detect_agent(&windsurf, None).parse(windsurf, None);
    assert_eq!((windsurf.agent, windsurf.kind), ("windsurf", Kind::PostToolUse));
    assert_eq!(agent::tool_succeeded(&windsurf), None);
}

#[test]
fn s2_10_prompt_and_its_preview() {
    let event = event_of(&json!({ "hook_event_name": "UserPromptSubmit", "prompt": "añ☃😀x" }));
    assert_eq!(event.prompt(), Some("añ☃😀x"));
    assert_eq!(
        (event.prompt_preview(4), event.prompt_preview(99)),
        ("añ☃😀".into(), "añ☃😀x".into())
    );
}

#[test]
fn s2_15_pre_compact_null_and_absent_instructions_are_equal() {
    for instructions in [json!({}), json!({ "custom_instructions": null })] {
        let mut payload = json!({ "hook_event_name": "PreCompact", "trigger": "auto" });
        payload.as_object_mut().expect("object").extend(instructions.as_object().cloned().unwrap());
        let event = event_of(&payload);
        assert_eq!(
            (event.str_field("trigger"), event.str_field("custom_instructions")),
            (Some("auto"), None)
        );
    }
    let manual = event_of(&json!({
        "hook_event_name": "PreCompact", "trigger": "manual", "custom_instructions": "keep x",
    }));
    assert_eq!(manual.str_field("custom_instructions"), Some("keep x"));
}

#[test]
fn s2_22_a_permission_request_needs_no_id() {
    let event = capture("claude/PermissionRequest-Bash.json");
    assert!(!event.raw.contains_key("tool_use_id"));
    assert_eq!((event.kind, event.tool.as_str()), (Kind::PermissionRequest, "Bash"));
}

#[test]
fn s3_54_an_unknown_event_passes_with_its_name() {
    let event = event_of(&json!({ "hook_event_name": "BrandNew", "x": 1 }));
    assert_eq!((event.kind, event.name.as_str()), (Kind::Other, "BrandNew"));
    assert_eq!(event.raw["x"], 1);
    for &verb in Verb::ALL {
        assert_eq!(Claude.render(&event, &answer(verb, "no")), Output::default());
    }
}

/// The ten samples of the reference, as they stand there.
const REFERENCE: &[(&str, &str)] = &[
    (
        "PreToolUse",
        r#"{"tool_name":"Write","tool_input":{"file_path":"/path/to/file.txt","content":"file contents..."}}"#,
    ),
    (
        "PostToolUse",
        r#"{"tool_name":"Write","tool_input":{"file_path":"/path/to/file.txt","content":"file contents..."},"tool_result":"File written successfully"}"#,
    ),
    ("UserPromptSubmit", r#"{"prompt":"User's message text"}"#),
    ("Stop", r#"{"stop_reason":"task_complete"}"#),
    (
        "SubagentStart",
        r#"{"agent_name":"code-reviewer","task_description":"Review the authentication module"}"#,
    ),
    ("SessionStart", r#"{"project_dir":"/path/to/project","session_type":"cli"}"#),
    ("SessionEnd", r#"{"duration_seconds":3600,"tools_used":["Read","Write","Bash"]}"#),
    ("PreCompact", r#"{"context_tokens":150000,"compact_reason":"token_limit"}"#),
    (
        "Notification",
        r#"{"notification_type":"user_input_request","message":"Notification content"}"#,
    ),
    (
        "PermissionRequest",
        r#"{"tool_name":"Bash","tool_input":{"command":"rm -rf ./temp"},"permission_type":"tool_execution"}"#,
    ),
];

#[test]
fn s4_01_the_samples_of_the_reference_are_accepted() {
    for (name, sample) in REFERENCE {
        // As they stand, with the reference's common fields, and with the event's name in them.
        let mut common = payload::parse(sample.as_bytes()).expect("a payload");
        common.insert("session_id".into(), "abc123".into());
        common.insert("timestamp".into(), "2024-01-15T10:30:00Z".into());
        let mut whole = common.clone();
        whole.insert("hook_event_name".into(), (*name).into());
        for (payload, flag) in [
            (payload::parse(sample.as_bytes()).expect("a payload"), Some(*name)),
            (common, Some(*name)),
            (whole, None),
        ] {
            let event = Claude.parse(payload, flag);
            assert_eq!((event.kind.name(), event.name.as_str()), (*name, *name));
            assert_eq!(Claude.render(&event, &Answer::default()), Output::default());
        }
    }
}

#[test]
fn s4_02_names_of_older_writers_are_read() {
    let of = |index: usize| event(REFERENCE[index].1, Some(REFERENCE[index].0));
    assert_eq!(of(1).tool_response(), Some(&json!("File written successfully")));
    assert_eq!(of(1).raw["tool_response"], of(1).raw["tool_result"]);
    assert_eq!(of(4).str_field("agent_type"), Some("code-reviewer"));
    assert_eq!(of(4).str_field("task_description"), Some("Review the authentication module"));
    assert_eq!(of(5).cwd, "/path/to/project");
    // Today's name wins.
    let both = event_of(&json!({
        "hook_event_name": "PostToolUse", "tool_result": "old", "tool_response": "new",
        "agent_name": "old", "agent_type": "new", "project_dir": "/old", "cwd": "/new",
    }));
    assert_eq!(both.tool_response(), Some(&json!("new")));
    assert_eq!((both.str_field("agent_type"), both.cwd.as_str()), (Some("new"), "/new"));
}

#[test]
fn s4_03_the_event_is_named_by_the_flag_or_by_plain_shape() {
    let (_, sample) = REFERENCE[0];
    let named = event(sample, Some("PreToolUse"));
    assert_eq!((named.kind, named.tool.as_str()), (Kind::PreToolUse, "Write"));
    assert_eq!(named.raw["hook_event_name"], "PreToolUse", "for what runs with the payload");
    // What the payload says wins.
    let text = json!({ "hook_event_name": "Stop" }).to_string();
    assert_eq!(event(text, Some("PreToolUse")).kind, Kind::Stop);
    let plain = ["PreToolUse", "PostToolUse", "UserPromptSubmit", "PermissionRequest"];
    for (name, sample) in REFERENCE {
        let expected = if plain.contains(name) { *name } else { "" };
        assert_eq!(event(sample, None).name, expected, "{sample}");
    }
}

#[test]
fn s4_04_subagent_start_has_its_type() {
    let event = capture("claude/SubagentStart.json");
    assert!(event.str_field("agent_type").is_some_and(|kind| !kind.is_empty()));
}

#[test]
fn s4_06_notification_types_are_an_open_set() {
    for kind in ["elicitation_dialog", "help_requested", "never heard of"] {
        let event = event_of(&json!({
            "hook_event_name": "Notification", "notification_type": kind, "message": "m",
        }));
        assert_eq!(
            (event.kind, event.str_field("notification_type")),
            (Kind::Notification, Some(kind))
        );
    }
}

#[test]
fn s2_02_the_lone_surrogate_that_the_client_sends_is_read() {
    let event = capture("claude/PreToolUse-Write-lone_surrogate.raw.json");
    assert!(event.is_tool("Write"));
    let content = event.input["content"].as_str().expect("a text");
    assert_eq!(content, "héllo ☃ 😀 lone:\u{fffd}: nul:\0 ctl:\u{1}\u{1b} end");
}

#[test]
fn s3_01_a_payload_that_names_an_event_and_no_time_is_claude_codes() {
    for (path, _) in captures() {
        let object = payload::parse(&fs::read(&path).expect("bytes")).expect("a payload");
        let mark = Claude.detect(&Fingerprint::of(&object));
        assert_eq!(mark, Some(Mark::Default), "{}", path.display());
    }
    let mark =
        |value: Value| Claude.detect(&Fingerprint::of(value.as_object().expect("an object")));
    assert_eq!(mark(json!({ "hook_event_name": "Stop", "timestamp": "2026-01-01" })), None);
    assert_eq!(mark(json!({ "tool_name": "Bash" })), None);
}

// ---- the answers ----

fn read_answer(value: &Value) -> Answer {
    let object = |key: &str| value.get(key).and_then(Value::as_object).cloned();
    let list = |key: &str| {
        let all = value.get(key).and_then(Value::as_array).cloned().unwrap_or_default();
        all.iter().map(|text| text.as_str().expect("a text").to_string()).collect()
    };
    for key in value.as_object().expect("an answer").keys() {
        let known = ["verb", "reason", "input", "response", "context", "notice"];
        assert!(known.contains(&key.as_str()), "no such field of an answer: {key}");
    }
    Answer {
        verb: value.get("verb").and_then(Value::as_str).map(verb),
        reason: value.get("reason").and_then(Value::as_str).unwrap_or_default().into(),
        input: object("input"),
        response: value.get("response").cloned(),
        context: list("context"),
        notice: list("notice"),
        ..Answer::default()
    }
}

#[test]
fn sx_03_golden_answers() {
    let mut wrong = Vec::new();
    let mut count = 0;
    for entry in fs::read_dir("tests/agents/claude").expect("the folder") {
        let path = entry.expect("entry").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name").to_string();
        let Some(stem) = name.strip_suffix(".in.json") else { continue };
        count += 1;
        let case: Value =
            serde_json::from_slice(&fs::read(&path).expect("bytes")).expect("valid JSON");
        let event = match &case["payload"] {
            Value::String(file) => capture(file),
            payload => event_of(payload),
        };
        let out = Claude.render(&event, &read_answer(&case["answer"]));
        check(&event, &out);
        // Silence is `{"status": 0}`.
        let mut shown = Map::from_iter([("status".to_string(), out.status.into())]);
        if !out.stdout.is_empty() {
            let stdout = serde_json::from_str(&out.stdout).unwrap_or(out.stdout.into());
            shown.insert("stdout".into(), stdout);
        }
        if !out.stderr.is_empty() {
            shown.insert("stderr".into(), out.stderr.into());
        }
        let shown = Value::Object(shown);
        let golden = path.with_file_name(format!("{stem}.out.json"));
        if std::env::var_os("BLESS").is_some() {
            fs::write(&golden, format!("{shown:#}\n")).expect("written");
        }
        let expected = fs::read(&golden).ok().and_then(|text| serde_json::from_slice(&text).ok());
        if expected.as_ref() != Some(&shown) {
            wrong.push(format!("{stem}: {shown:#}\nbut expected: {expected:#?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(count > 40, "{count}");
}

/// The types that the client checks, by path; anything else is not written by hookctl.
fn honoured(kind: Kind) -> BTreeMap<&'static str, &'static str> {
    use Kind::*;
    let mut keys = BTreeMap::from([("systemMessage", "text")]);
    let context = [
        PreToolUse,
        PostToolUse,
        PostToolUseFailure,
        PostToolBatch,
        UserPromptSubmit,
        UserPromptExpansion,
        SessionStart,
        Setup,
        Stop,
        SubagentStop,
        SubagentStart,
        Notification,
        PostModelSwitch,
    ];
    let block = [
        PostToolUse,
        PostToolBatch,
        UserPromptSubmit,
        UserPromptExpansion,
        Stop,
        SubagentStop,
        PreCompact,
    ];
    let end = [PreToolUse, PostToolUse, PostToolBatch, UserPromptSubmit, Stop, SubagentStop];
    if context.contains(&kind) {
        keys.insert("hso.additionalContext", "text");
    }
    if block.contains(&kind) {
        keys.extend([("decision", "block"), ("reason", "text")]);
    }
    if end.contains(&kind) {
        keys.extend([("continue", "false"), ("stopReason", "text")]);
    }
    match kind {
        PreToolUse => keys.extend([
            ("hso.permissionDecision", "allow deny ask defer"),
            ("hso.permissionDecisionReason", "text"),
            ("hso.updatedInput", "object"),
        ]),
        PreModelSwitch => keys.extend([
            ("hso.permissionDecision", "allow deny ask"),
            ("hso.permissionDecisionReason", "text"),
        ]),
        PermissionRequest => keys.extend([("hso.decision", "dialog")]),
        PostToolUse => {
            keys.extend([("hso.updatedToolOutput", "any"), ("hso.updatedMCPToolOutput", "any")]);
        }
        _ => {}
    }
    keys
}

/// Is the value of that type, by the client's own check?
fn fits(value: &Value, wanted: &str) -> bool {
    let text = |value: &Value| {
        value.as_str().is_some_and(|text| {
            !text.trim().is_empty() && text.encode_utf16().count() <= TEXT_LIMIT
        })
    };
    match wanted {
        "text" => text(value),
        "false" => value == &json!(false),
        "object" => value.is_object(),
        "any" => !value.is_null(),
        "dialog" => {
            let object = value.as_object().expect("a decision");
            let keys: Vec<&str> = object.keys().map(String::as_str).collect();
            match value["behavior"].as_str() {
                Some("allow") => {
                    keys == ["behavior"]
                        || keys == ["behavior", "updatedInput"] && value["updatedInput"].is_object()
                }
                Some("deny") => {
                    text(&value["message"])
                        && (keys == ["behavior", "message"]
                            || keys == ["behavior", "message", "interrupt"]
                                && value["interrupt"] == true)
                }
                _ => false,
            }
        }
        words => value.as_str().is_some_and(|word| words.split(' ').any(|known| known == word)),
    }
}

/// Would the client take this answer, all of it?
fn check(event: &Event, out: &Output) {
    let kind = event.kind;
    let shown = format!("{}: {out:?}", event.name);
    assert!(out.status == 0 || out.status == 2, "{shown}");
    assert_eq!(out.status == 2, !out.stderr.is_empty(), "{shown}");
    if out.status == 2 {
        use Kind::*;
        assert!(
            [TaskCreated, TaskCompleted, TeammateIdle, ConfigChange].contains(&kind),
            "{shown}"
        );
        assert!(out.stdout.is_empty(), "{shown}");
        assert!(fits(&Value::from(out.stderr.as_str()), "text"), "{shown}");
    }
    if out.stdout.is_empty() {
        return;
    }
    assert_ne!(kind, Kind::WorktreeCreate, "{shown}");
    if kind == Kind::PreCompact && !out.stdout.starts_with('{') {
        assert!(out.stdout.encode_utf16().count() <= TEXT_LIMIT, "{shown}");
        return;
    }
    let object: Map<String, Value> = serde_json::from_str(&out.stdout).expect("one JSON object");
    assert_eq!(out.stdout, Value::Object(object.clone()).to_string(), "compact");
    assert!(!object.is_empty(), "{shown}");
    let honoured = honoured(kind);
    for (key, value) in &object {
        if key == "hookSpecificOutput" {
            let specific = value.as_object().expect("an object");
            assert_eq!(specific.get("hookEventName"), Some(&json!(event.name)), "{shown}");
            assert!(specific.len() > 1, "{shown}");
            for (key, value) in specific.iter().filter(|(key, _)| *key != "hookEventName") {
                let wanted = honoured.get(format!("hso.{key}").as_str());
                assert!(wanted.is_some_and(|wanted| fits(value, wanted)), "{key} in {shown}");
            }
        } else {
            let wanted = honoured.get(key.as_str());
            assert!(wanted.is_some_and(|wanted| fits(value, wanted)), "{key} in {shown}");
        }
    }
    assert_eq!(object.contains_key("decision"), object.contains_key("reason"), "{shown}");
    assert_eq!(object.contains_key("continue"), object.contains_key("stopReason"), "{shown}");
}

/// Every kind, the unknown one included.
fn kinds() -> impl Iterator<Item = Kind> {
    Kind::ALL.iter().copied().chain([Kind::Other])
}

/// Every combination of what an answer can hold.
fn answers() -> Vec<Answer> {
    let mut all = Vec::new();
    let verbs = Verb::ALL.iter().copied().map(Some).chain([None]);
    for verb in verbs {
        for bits in 0..32 {
            let on = |bit: u32| bits & (1 << bit) != 0;
            let input =
                Map::from_iter([("command".to_string(), json!("x")), ("n".into(), json!(null))]);
            all.push(Answer {
                verb,
                reason: if on(0) { "why [user:x]".into() } else { " ".into() },
                input: on(1).then_some(input),
                response: on(2).then(|| json!({ "stdout": "x" })),
                context: if on(3) { vec!["one".into(), " ".into(), "two".into()] } else { vec![] },
                notice: if on(4) { vec!["told".into(), String::new()] } else { vec![] },
                ..Answer::default()
            });
        }
    }
    all
}

#[test]
fn sx_02_sx_03_every_answer_to_every_event_is_one_the_client_takes() {
    for kind in kinds() {
        for answer in answers() {
            check(&bare(kind), &Claude.render(&bare(kind), &answer));
        }
    }
}

#[test]
fn sx_02_blank_texts_and_null_results_say_nothing() {
    let blank = Answer {
        response: Some(Value::Null),
        context: vec![" \n".into()],
        notice: vec![String::new()],
        ..Answer::default()
    };
    for kind in kinds() {
        assert_eq!(Claude.render(&bare(kind), &blank), Output::default(), "{kind:?}");
        assert_eq!(Claude.render(&bare(kind), &Answer::default()), Output::default());
    }
}

#[test]
fn s2_29_what_stops_never_becomes_weaker() {
    for spec in Claude.facts().events {
        for &verb in Verb::ALL {
            let out = Claude.render(&bare(spec.kind), &answer(verb, "why"));
            let stopped = out.status == 2
                || ["\"deny\"", "\"block\"", "\"continue\":false"]
                    .iter()
                    .any(|mark| out.stdout.contains(mark));
            let asked = out.stdout.contains("\"ask\"") || out.stdout.contains("\"defer\"");
            let allowed = out.stdout.contains("\"allow\"");
            let label = format!("{verb:?} on {:?}: {out:?}", spec.kind);
            assert_eq!(allowed, verb == Verb::Allow && spec.verbs.contains(&verb), "{label}");
            if verb == Verb::Allow {
                assert!(!stopped && !asked, "{label}");
            } else if spec.verbs.contains(&Verb::Deny) {
                let dialog = spec.kind == Kind::PermissionRequest && verb == Verb::Ask;
                assert!(stopped || asked && spec.verbs.contains(&verb) || dialog, "{label}");
            } else {
                assert!(!stopped && !asked, "{label}");
            }
        }
    }
}

#[test]
fn s2_29_a_rewrite_that_cannot_be_expressed_is_a_deny() {
    let rewrite = Answer { input: Some(Map::new()), ..Answer::default() };
    let out = reply(&bare(Kind::UserPromptSubmit), &rewrite);
    assert_eq!(out["decision"], "block");
    assert_eq!(out["reason"], "A rule rewrites the input, which UserPromptSubmit cannot do.");
    let out = Claude.render(&bare(Kind::TaskCreated), &rewrite);
    assert_eq!(out.status, 2);
    // The reason of the verdict that was there stays.
    let denied = Answer { verb: Some(Verb::Deny), reason: "why".into(), ..rewrite.clone() };
    assert_eq!(reply(&bare(Kind::UserPromptSubmit), &denied)["reason"], "why");
    // Between an allow and silence lies no rewrite of a permission request.
    assert_eq!(Claude.render(&bare(Kind::PermissionRequest), &rewrite), Output::default());
}

#[test]
fn s2_16_pre_compact_is_plain_text_joined_by_a_blank_line() {
    let told = Answer { context: vec!["a".into(), "b".into()], ..Answer::default() };
    assert_eq!(Claude.render(&bare(Kind::PreCompact), &told).stdout, "a\n\nb");
    // Nothing that the client would read as an answer, or as a broken one.
    for text in ["{\"decision\":\"block\"}", " \u{feff}{x", "[1]"] {
        let told = Answer { context: vec![text.into()], ..Answer::default() };
        let out = Claude.render(&bare(Kind::PreCompact), &told).stdout;
        assert_eq!(out, format!("Note:\n{text}"));
    }
}

#[test]
fn s2_17_pre_compact_block() {
    let blocked = Answer { context: vec!["a".into()], ..answer(Verb::Deny, "not now") };
    let out = reply(&bare(Kind::PreCompact), &blocked);
    assert_eq!(out, json!({ "decision": "block", "reason": "not now" }));
}

#[test]
fn s2_18_s2_19_permission_request_allow_with_the_whole_input() {
    let event = bare(Kind::PermissionRequest);
    let decision =
        |answer: &Answer| reply(&event, answer)["hookSpecificOutput"]["decision"].clone();
    assert_eq!(decision(&answer(Verb::Allow, "ok")), json!({ "behavior": "allow" }));
    let input = Map::from_iter([("command".to_string(), json!("ls"))]);
    let rewritten = Answer { input: Some(input), ..answer(Verb::Allow, "ok") };
    let expected = json!({ "behavior": "allow", "updatedInput": { "command": "ls" } });
    assert_eq!(decision(&rewritten), expected);
}

#[test]
fn s2_20_permission_request_deny_and_interrupt() {
    let event = bare(Kind::PermissionRequest);
    let decision =
        |answer: &Answer| reply(&event, answer)["hookSpecificOutput"]["decision"].clone();
    let denied = json!({ "behavior": "deny", "message": "no" });
    assert_eq!(decision(&answer(Verb::Deny, "no")), denied);
    let halted = json!({ "behavior": "deny", "message": "no", "interrupt": true });
    assert_eq!(decision(&answer(Verb::Halt, "no")), halted);
}

#[test]
fn s2_23_s4_10_stop_block_and_allow_is_silence() {
    for kind in [Kind::Stop, Kind::SubagentStop] {
        let out = reply(&bare(kind), &answer(Verb::Deny, "go on"));
        assert_eq!(out, json!({ "decision": "block", "reason": "go on" }));
        assert_eq!(Claude.render(&bare(kind), &answer(Verb::Allow, "ok")), Output::default());
    }
}

#[test]
fn s4_07_halt_gives_continue_and_stop_reason() {
    for spec in Claude.facts().events.iter().filter(|spec| spec.verbs.contains(&Verb::Halt)) {
        if spec.kind == Kind::PermissionRequest {
            continue; // has `interrupt` for it
        }
        let out = reply(&bare(spec.kind), &answer(Verb::Halt, "enough"));
        assert_eq!((&out["continue"], &out["stopReason"]), (&json!(false), &json!("enough")));
        // Alone it would let the tool run.
        let denies = out["hookSpecificOutput"]["permissionDecision"] == "deny";
        assert_eq!(denies, spec.kind == Kind::PreToolUse);
    }
}

#[test]
fn s4_08_notices_are_the_system_message() {
    let told = Answer { notice: vec!["a".into(), "b".into()], ..Answer::default() };
    for kind in kinds() {
        let out = Claude.render(&bare(kind), &told);
        if kind == Kind::WorktreeCreate {
            assert_eq!(out, Output::default());
        } else {
            assert_eq!(out.stdout, "{\"systemMessage\":\"a\\nb\"}", "{kind:?}");
        }
    }
}

#[test]
fn s4_11_s4_13_pre_tool_use_decisions_with_reason_and_context() {
    for verb in [Verb::Allow, Verb::Deny, Verb::Ask, Verb::Defer] {
        let told = Answer { context: vec!["a".into(), "b".into()], ..answer(verb, "why") };
        let out = reply(&bare(Kind::PreToolUse), &told);
        let expected = json!({ "hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": verb.name(),
            "permissionDecisionReason": "why", "additionalContext": "a\nb",
        }});
        assert_eq!(out, expected);
    }
}

#[test]
fn s4_16_s4_17_exit_2_only_where_nothing_else_blocks() {
    for kind in kinds() {
        for answer in answers() {
            let out = Claude.render(&bare(kind), &answer);
            // `check` knows the four events, PermissionRequest not among them.
            check(&bare(kind), &out);
        }
        let denied = Claude.render(&bare(kind), &answer(Verb::Deny, "no"));
        let last_resort = matches!(
            kind,
            Kind::TaskCreated | Kind::TaskCompleted | Kind::TeammateIdle | Kind::ConfigChange
        );
        assert_eq!(denied.status == 2, last_resort, "{kind:?}");
        assert_eq!(denied.stderr == "no", last_resort, "{kind:?}");
    }
}

#[test]
fn sx_02_long_texts_are_cut_with_a_note() {
    let context = |text: String| {
        let told = Answer { context: vec![text], ..Answer::default() };
        let out = reply(&bare(Kind::PreToolUse), &told);
        out["hookSpecificOutput"]["additionalContext"].as_str().expect("a text").to_string()
    };
    // Exactly the limit passes, whatever its bytes.
    for full in ["a".repeat(10_000), "é".repeat(10_000), "😀".repeat(5_000)] {
        assert_eq!(context(full.clone()), full);
    }
    for (unit, count) in [("a", 10_001), ("é", 10_001), ("😀", 5_001), ("a😀", 999_999)] {
        let text = unit.repeat(count);
        let cut = context(text.clone());
        let units = cut.encode_utf16().count();
        assert!((9_990..=10_000).contains(&units), "{units}");
        let (kept, note) = cut.split_once("\n[cut by hookctl: ").expect("a note");
        let missing = text.chars().count() - kept.chars().count();
        assert!(text.starts_with(kept));
        assert_eq!(note, format!("{missing} characters more]"));
    }
    // Everywhere that a text goes.
    let long = "x".repeat(20_000);
    for kind in kinds() {
        for &verb in Verb::ALL {
            let told = Answer {
                context: vec![long.clone(), long.clone()],
                notice: vec![long.clone()],
                ..answer(verb, &long)
            };
            check(&bare(kind), &Claude.render(&bare(kind), &told));
        }
    }
}

// ---- failure, and the table ----

#[test]
fn sx_15_when_hookctl_cannot_judge() {
    const SAID: &str = "hookctl cannot judge this: rules.toml:3: no such key";
    for kind in kinds() {
        let out = agent::default_agent().failure_output(kind, "rules.toml:3: no such key");
        check(&bare(kind), &out);
        match kind {
            Kind::PreToolUse => {
                let object: Value = serde_json::from_str(&out.stdout).expect("JSON");
                let specific = &object["hookSpecificOutput"];
                assert_eq!(specific["permissionDecision"], "ask");
                assert_eq!(specific["permissionDecisionReason"], SAID);
            }
            Kind::PermissionRequest | Kind::WorktreeCreate | Kind::MessageDisplay => {
                assert_eq!(out, Output::default(), "{kind:?}");
            }
            _ => assert_eq!(out.stdout, format!("{{\"systemMessage\":\"{SAID}\"}}")),
        }
    }
}

#[test]
fn a_failure_is_a_verdict_in_the_forms_that_render_writes() {
    let cause = "a \"cause\"\n\u{1} with all that needs an escape";
    let message = format!("hookctl cannot judge this: {cause}");
    for kind in kinds() {
        let answer = match Claude.failure_form(kind) {
            FailureForm::Silence => Answer::default(),
            FailureForm::Stop(..) => answer(Verb::Ask, &message),
            _ => Answer { notice: vec![message.clone()], ..Answer::default() },
        };
        assert_eq!(
            agent::default_agent().failure_output(kind, cause),
            Claude.render(&bare(kind), &answer),
            "{kind:?}"
        );
    }
}

#[test]
fn s3_20_the_table_has_every_event_once_and_agrees_with_the_answers() {
    let kinds: Vec<Kind> = Claude.facts().events.iter().map(|spec| spec.kind).collect();
    assert_eq!(kinds, Kind::ALL, "in the order of the kinds");
    for spec in Claude.facts().events {
        let EventSpec { kind, verbs, rewrite, replace, context, timeout, .. } = *spec;
        assert!(verbs.windows(2).all(|pair| pair[0] > pair[1]), "{kind:?}: strongest first");
        let allowed = honoured(kind);
        let has = |key: &str| allowed.contains_key(key);
        assert_eq!(context, has("hso.additionalContext") || kind == Kind::PreCompact, "{kind:?}");
        assert_eq!(replace, has("hso.updatedToolOutput"), "{kind:?}");
        assert_eq!(rewrite, kind.is_gate(), "{kind:?}");
        let expected = match kind {
            Kind::PreToolUse | Kind::PermissionRequest | Kind::Stop | Kind::SubagentStop => 600,
            Kind::UserPromptSubmit => 30,
            Kind::SessionEnd => 5,
            _ => 60,
        };
        assert_eq!(timeout, expected, "{kind:?}");
        assert!(!spec.output.is_empty() && !spec.input.is_empty(), "{kind:?}");
    }
    let default = Claude.facts().events.iter().filter(|spec| spec.by_default).count();
    assert_eq!(default, 12);
}

#[test]
fn s3_20_the_fields_of_the_table_are_those_of_the_captures() {
    for (path, kind) in captures() {
        let event = event(fs::read(&path).expect("bytes"), None);
        let spec = Claude.facts().event_spec(event.kind).expect("known");
        let known =
            format!("{} {}", spec.input, hookctl::agent::default_agent().facts().common_input);
        let known: Vec<&str> = known
            .split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .filter(|word| !word.is_empty())
            .collect();
        for key in event.raw.keys() {
            assert!(known.contains(&key.as_str()), "{kind} has {key} ({})", path.display());
        }
        if let Some(field) = spec.matched {
            let optional = ["to_model", "mcp_server_name"];
            assert!(
                event.raw.contains_key(field) || optional.contains(&field),
                "{kind} has no {field} to match on ({})",
                path.display()
            );
        }
    }
}

#[test]
fn s2_04_s2_21_only_marked_events_accept_context() {
    let told = Answer { context: vec!["x".into()], ..Answer::default() };
    for spec in Claude.facts().events {
        let out = Claude.render(&bare(spec.kind), &told);
        assert_eq!(spec.context, out != Output::default(), "{:?}", spec.kind);
    }
    let dialog = Claude.facts().event_spec(Kind::PermissionRequest).expect("known");
    assert!(!dialog.context && !dialog.verbs.contains(&Verb::Ask));
}
