//! `hookctl replay` as a process: past calls are judged as the hook judges them.

mod cli;

use std::fs;
use std::path::{Path, PathBuf};

use cli::{World, system};
use serde_json::{Value, json};

const RULES: &str = "[rule.no-main]\ncommand = \"git push origin main\"\ndeny = \"Not main.\"\n\
    [rule.test]\ncommand = \"cargo test\"\nwithin = \"./\"\nallow = \"tests\"\n\
    [rule.plan]\ntool = \"Write\"\nwhen = { permission_mode = \"plan\" }\nask = \"planning\"\n\
    [rule.sub]\ncommand = \"make\"\nwhen = { subagent = true }\nask = \"in a subagent\"\n";

/// The lines of a transcript for one call, and what came of it.
fn call(id: &str, cwd: &Path, tool: &str, input: &Value, result: Option<(&str, bool)>) -> String {
    let base = json!({ "sessionId": "s1", "cwd": cwd, "timestamp": "2026-11-01T10:00:00.000Z" });
    let line = |kind: &str, item: Value| {
        let mut line = base.clone();
        line["type"] = json!(kind);
        line["message"] = json!({ "role": kind, "content": [item] });
        format!("{line}\n")
    };
    let used = json!({ "type": "tool_use", "id": id, "name": tool, "input": input });
    let mut out = line("assistant", used);
    if let Some((text, failed)) = result {
        let item = json!({ "type": "tool_result", "tool_use_id": id, "content": text, "is_error": failed });
        out.push_str(&line("user", item));
    }
    out
}

fn bash(id: &str, cwd: &Path, command: &str, result: Option<(&str, bool)>) -> String {
    call(id, cwd, "Bash", &json!({ "command": command }), result)
}

const REJECTED: (&str, bool) = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit)",
    true,
);

fn transcript(world: &World, text: &str) -> PathBuf {
    let path = system::below(&world.home(), ".claude/projects/-home-project/s1.jsonl");
    world.write(&path, text);
    path
}

fn hook_verdict(world: &World, payload: &Value) -> Value {
    let done = world.feed(&["hook"], payload.to_string().as_bytes());
    let answer: Value = serde_json::from_str(&done.out).unwrap_or_default();
    let verdict = &answer["hookSpecificOutput"]["permissionDecision"];
    if verdict.is_null() { json!("silent") } else { verdict.clone() }
}

#[test]
fn replay_says_of_each_call_what_the_hook_says() {
    let world = World::with(RULES);
    let project = world.project();
    let mut payloads: Vec<Value> = fs::read_dir("examples/payloads")
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .map(|text| serde_json::from_str(&text).unwrap())
        .filter(|payload: &Value| payload["hook_event_name"] == "PreToolUse")
        .collect();
    assert!(payloads.len() > 8);
    for command in [
        "cargo test --all",
        "cargo test && rm -rf ~",
        "git push origin main",
        "cd .. && cat .ssh/id_rsa",
        "make",
        "echo \u{1b}[2J; eval \"$x\"",
        "cat <<E | sh\nrm -rf /\nE",
    ] {
        payloads.push(json!({ "tool_name": "Bash", "tool_input": { "command": command } }));
    }
    for (tool, input) in [
        ("Write", json!({ "file_path": "~/.bashrc", "content": "x" })),
        ("Read", json!({ "file_path": ".env" })),
        ("WebFetch", json!({ "url": "http://169.254.169.254/x", "prompt": "" })),
        ("mcp__db__query", json!({ "sql": "drop table users" })),
        ("Edit", json!({ "file_path": "src/a.rs", "old_string": "a", "new_string": "b" })),
    ] {
        payloads.push(json!({ "tool_name": tool, "tool_input": input }));
    }
    let mut text = String::new();
    let mut expected = Vec::new();
    for (at, payload) in payloads.iter_mut().enumerate() {
        let (tool, input) = (payload["tool_name"].as_str().unwrap(), payload["tool_input"].clone());
        text.push_str(&call(&format!("toolu_{at}"), &project, tool, &input, Some(("ok", false))));
        payload["cwd"] = json!(project);
        payload["session_id"] = json!(format!("s{at}"));
        payload["hook_event_name"] = json!("PreToolUse");
        payload["permission_mode"] = json!("default");
        // As the client hands paths on.
        if let Some(path) = payload["tool_input"]["file_path"].as_str() {
            let full = match path.strip_prefix("~/") {
                Some(rest) => world.home().join(rest),
                None => project.join(path),
            };
            payload["tool_input"]["file_path"] = json!(full);
        }
        expected.push(hook_verdict(&world, payload));
    }
    let path = transcript(&world, &text);
    let done = world.run(&["replay", "--json", "--verbose", path.to_str().unwrap()]);
    let list = done.json()["list"].as_array().unwrap().clone();
    assert_eq!(list.len(), expected.len());
    for (one, expected) in list.iter().zip(&expected) {
        assert_eq!(&one["verdict"], expected, "{one}");
    }
    let kinds: std::collections::BTreeSet<&str> =
        expected.iter().filter_map(Value::as_str).collect();
    assert_eq!(kinds.len(), 4, "{kinds:?}");
    // The journal that the hook left tells the same, of what it holds.
    let journal = world.run(&["replay", "--json", "--verbose", "--since", "1d"]).json();
    let of_journal = journal["list"].as_array().unwrap();
    assert!(of_journal.len() > 10, "{journal}");
    for one in of_journal {
        let what = |one: &Value| one["what"].as_str().map(system::text);
        let alike = list.iter().find(|other| what(other) == what(one));
        assert_eq!(alike.map(|other| &other["verdict"]), Some(&one["verdict"]), "{one}");
    }
}

#[test]
fn modes_and_subagents_of_a_transcript_count() {
    let world = World::with(RULES);
    let project = world.project();
    let write = json!({ "file_path": "a", "content": "" });
    let planning = format!(
        "{}\n{}",
        json!({ "type": "user", "permissionMode": "plan", "cwd": project, "message": { "content": "go" } }),
        call("1", &project, "Write", &write, None)
    );
    let sub = bash("2", &project, "make", None).replacen('{', "{\"isSidechain\":true,", 1);
    transcript(&world, &format!("{planning}{sub}{}", bash("3", &project, "make", None)));
    let list = world.run(&["replay", "--json", "-v"]).json()["list"].clone();
    let verdicts: Vec<&Value> =
        list.as_array().unwrap().iter().map(|one| &one["verdict"]).collect();
    assert_eq!(verdicts, ["ask", "ask", "silent"]);
}

#[test]
fn what_is_told() {
    let world = World::with(RULES);
    let project = world.project();
    let text = [
        bash("1", &project, "cargo test", Some(REJECTED)),
        bash("2", &project, "cargo test", Some(("ok", false))),
        bash(
            "3",
            &project,
            "git push origin main",
            Some(("PreToolUse:Bash hook error: Not main.", true)),
        ),
        bash("4", &project, "ls", Some(("a", false))),
        "{\"type\": \"user\", \"message\": \n".into(),
        bash("4", &project, "ls", None),
    ]
    .concat();
    let path = transcript(&world, &text);
    let other = world.home().join("other.toml");
    world.write(&other, "[rule.main]\ncommand = \"git push origin main\"\nask = \"Main?\"\n");
    let done = world.run(&["replay", "--against", other.to_str().unwrap()]);
    assert_eq!(done.code, 1);
    assert_eq!(
        done.out,
        "4 calls in 1 session of 1 project, 2026-11-01 to 2026-11-01\n\n  \
         deny          1   25.0 %\n  allow         2   50.0 %\n  \
         silent        1   25.0 %  the agent's own permissions decide\n\n\
         by rule\n         2  allow  user:test\n         1  deny   user:no-main\n\n\
         You rejected 1 call; allowed of them:\n  \
         Bash: cargo test (~/project)\n    allow user:test\n\n\
         With ~/other.toml 3 calls would come out otherwise:\n  \
         Bash: cargo test (~/project, 2 times)\n    - allow user:test\n    + silent\n  \
         Bash: git push origin main (~/project)\n    - deny user:no-main\n    + ask user:main\n"
    );
    assert_eq!(done.err, format!("hookctl: skipped: {}:9: no JSON object\n", path.display()));
    if !cfg!(target_os = "linux") {
        return; // There the tests name a directory already.
    }
    // Another file as the user's, in both spellings.
    for config in [other.clone(), other.with_file_name("dir")] {
        if config.extension().is_none() {
            world.write(&config.join("config.toml"), &fs::read_to_string(&other).unwrap());
        }
        let done = world.run(&["--config", config.to_str().unwrap(), "replay", "--json"]).json();
        assert_eq!(done["verdicts"], json!({ "ask": 1, "silent": 3 }));
    }
    let none = world.run(&["--config", "/nowhere.toml", "replay"]);
    assert_eq!((none.code, none.err.contains("no such rule file")), (2, true), "{}", none.err);
}

#[test]
fn nothing_to_read_is_said() {
    let world = World::with("");
    let done = world.run(&["replay"]);
    assert_eq!((done.code, done.out.as_str()), (1, ""));
    assert!(done.err.contains("no call was found"), "{}", done.err);
    let missing = world.run(&["replay", "/nowhere"]);
    assert_eq!(missing.code, 2, "{}", missing.err);
    let json = world.run(&["replay", "--json"]).json();
    assert_eq!((&json["calls"], &json["list"]), (&json!(0), &Value::Null));
}

#[test]
#[cfg_attr(windows, ignore = "needs symbolic links")]
fn hostile_transcripts_do_no_harm() {
    let world = World::new();
    let dir = world.home().join(".claude/projects/x");
    let good = bash("1", &world.project(), "rm -rf \u{1b}]0;x\u{7} ~", None);
    let huge = format!("{{\"x\": \"{}\"}}\n", "a".repeat(17 << 20));
    world.write(&dir.join("a.jsonl"), &format!("{huge}\n\0\u{1b}[2J\n[]\n{good}"));
    let lone = good.replace("\"1\"", "\"2\"").replace("rm -rf", "\\ud800 rm -rf");
    world.write(&dir.join("b.jsonl"), &format!("\u{feff}{lone}"));
    world.write(&dir.join("\u{1b}[31mc.jsonl"), "nothing\n");
    system::symlink("/", dir.join("root")).unwrap();
    system::symlink(dir.join("a.jsonl"), dir.join("link.jsonl")).unwrap();
    let fifo = dir.join("fifo.jsonl");
    assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let done = world.run(&["replay", "-v"]);
    assert!(
        !done.out.contains('\u{1b}') && !done.err.contains('\u{1b}'),
        "{}{}",
        done.out,
        done.err
    );
    assert!(done.out.starts_with("2 calls"), "{}{}", done.out, done.err);
    assert!(done.err.contains("a.jsonl:1: longer than 16 MiB"), "{}", done.err);
    assert_eq!(done.err.lines().count(), 4, "{}", done.err);
    assert!(done.out.contains("Not judged: 2 links and what is no file"), "{}", done.out);
    let named = world.run(&["replay", fifo.to_str().unwrap()]);
    assert_eq!(named.code, 2, "{}", named.err);
}

#[test]
fn a_long_journal_is_read_whole() {
    let world = World::with(RULES);
    let cwd = world.project();
    let line = |at: usize, event: &str, what: &str| {
        let session = format!("s{}", at / 100);
        format!(
            "{}\n",
            json!({ "time": "2026-11-01T10:00:00.000Z", "agent": "claude", "event": event, "session": session,
                "cwd": cwd, "tool": "Bash", "what": what, "decision": "silent", "ms": 0.5 })
        )
    };
    let text: String = (0..100_000)
        .map(|at| match at % 4 {
            0 => line(at, "PreToolUse", &format!("ls d{}", at % 10)),
            1 => line(at, "PreToolUse", "cargo test"),
            2 => line(at, "PostToolUse", "cargo test"),
            _ => line(at, "Stop", ""),
        })
        .collect();
    world.write(&world.state().join("journal.jsonl"), &text);
    let json = world.run(&["replay", "--json"]).json();
    assert_eq!(json["verdicts"], json!({ "allow": 25_000, "silent": 25_000 }));
    assert_eq!(json["left"], json!({ "of Stop": 25_000 }));
}
