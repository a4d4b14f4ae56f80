//! Every example through the built binary: its rules are free of faults, its README shows exactly
//! these rules, and each of its cases gets the answer that it names.
//!
//! `cases.toml`: `[programs]` are stand-ins on the PATH (the bodies of shell scripts), `[[case]]` an
//! event, what must come out of it, and what it must have left behind. The cases of a file share
//! one home and one project, in order; what the example has in `home` lies in that home. `/home/dev` in a payload is that home.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use hookctl::rule::Layer;
use hookctl::rule::file;
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

#[path = "common/prose.rs"]
mod prose;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("examples")
}

/// The directories of the examples, in order.
fn examples() -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(root())
        .expect("examples")
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.join("config.toml").is_file())
        .collect();
    all.sort();
    all
}

fn name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// TOML as JSON: the test has no need of another tree.
fn tree(value: &DeValue<'_>) -> Value {
    match value {
        DeValue::String(text) => json!(text),
        DeValue::Boolean(flag) => json!(flag),
        DeValue::Integer(number) => json!(number.as_str().parse::<i64>().expect("a number")),
        DeValue::Array(items) => items.iter().map(|item| tree(item.get_ref())).collect(),
        DeValue::Table(table) => table
            .iter()
            .map(|(key, value)| (key.get_ref().to_string(), tree(value.get_ref())))
            .collect::<serde_json::Map<String, Value>>()
            .into(),
        other => panic!("unexpected {other:?}"),
    }
}

/// A string or a list of them.
fn list(value: &Value) -> Vec<&str> {
    match value {
        Value::Null => Vec::new(),
        Value::String(text) => vec![text],
        Value::Array(items) => items.iter().filter_map(Value::as_str).collect(),
        other => panic!("expected strings, found {other}"),
    }
}

/// A home of its own, with the example as the user's config.
struct Stage {
    /// Removed with the value.
    _dir: tempfile::TempDir,
    home: PathBuf,
    project: PathBuf,
    path: String,
}

impl Stage {
    fn new(example: &Path, programs: &Value) -> Stage {
        let dir = tempfile::tempdir().expect("a directory");
        let real = hookctl::files::real_path(dir.path()).expect("its path");
        let home = real.join("home");
        let project = home.join("project");
        let config = home.join(".config/hookctl");
        let bin = real.join("bin");
        for path in [&project, &config, &bin] {
            fs::create_dir_all(path).expect("a directory");
        }
        copy(example, &config);
        if example.join("home").is_dir() {
            copy(&example.join("home"), &home);
        }
        if let Some(programs) = programs.as_object() {
            for (name, body) in programs {
                let body = body.as_str().expect("a script");
                let file = bin.join(name);
                fs::write(&file, format!("#!/bin/sh\n{body}\n")).expect("a program");
                mode(&file, 0o755);
            }
        }
        let path = format!("{}:/usr/bin:/bin", bin.display());
        Stage { _dir: dir, home, project, path }
    }

    /// Pipes the payload into the hook path: its stdout.
    fn hook(&self, payload: &Value) -> String {
        let text = payload
            .to_string()
            .replace("/home/dev/project", &self.project.to_string_lossy())
            .replace("/home/dev", &self.home.to_string_lossy());
        let mut child = Command::new(env!("CARGO_BIN_EXE_hookctl"))
            .args(["hook", "--agent", "claude"])
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", &self.path)
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .current_dir(&self.project)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("hookctl");
        child.stdin.take().expect("stdin").write_all(text.as_bytes()).expect("written");
        let out = child.wait_with_output().expect("its end");
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        String::from_utf8(out.stdout).expect("UTF-8")
    }
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
}

/// Copies a directory; nobody else may write the copies, or hookctl refuses them.
fn copy(from: &Path, to: &Path) {
    mode(to, 0o700);
    for entry in fs::read_dir(from).expect("a directory") {
        let from = entry.expect("entry").path();
        let to = to.join(from.file_name().expect("a name"));
        if from.is_dir() {
            fs::create_dir(&to).expect("a directory");
            copy(&from, &to);
        } else {
            fs::copy(&from, &to).expect("a copy");
            let executable = fs::metadata(&from).expect("metadata").permissions().mode() & 0o100;
            mode(&to, 0o600 | executable);
        }
    }
}

/// The payload of a case: a file of `payloads/`, a shell command, or the event's own fields.
fn payload(case: &Value, number: usize) -> Value {
    if let Some(file) = case["payload"].as_str() {
        return serde_json::from_str(&read(&root().join("payloads").join(file))).expect(file);
    }
    let mut event = json!({
        "session_id": "0f5c1d2e-0000-4000-8000-000000000001",
        "transcript_path": "/home/dev/.claude/projects/project/session.jsonl",
        "cwd": "/home/dev/project",
        "hook_event_name": "PreToolUse",
        "permission_mode": "default",
    });
    if let Some(command) = case["bash"].as_str() {
        event["tool_name"] = "Bash".into();
        event["tool_input"] = json!({ "command": command, "description": "sample" });
    }
    for (key, value) in case["input"].as_object().into_iter().flatten() {
        event[key] = value.clone();
    }
    if !event["tool_name"].is_null() {
        event["tool_use_id"] = format!("toolu_case_{number}").into();
    }
    event
}

/// What an answer amounts to, in the words of cases.
fn decision(answer: &str) -> &str {
    if answer.trim().is_empty() {
        return "silent";
    }
    let answer: Value = serde_json::from_str(answer).expect("one JSON object");
    if answer["continue"] == json!(false) {
        return "halt";
    }
    let specific = &answer["hookSpecificOutput"];
    let said =
        [&specific["permissionDecision"], &specific["decision"]["behavior"], &answer["decision"]];
    match said.into_iter().find_map(Value::as_str) {
        Some("deny" | "block") => "deny",
        Some("ask") => "ask",
        Some("allow") => "allow",
        Some("defer") => "defer",
        Some(other) => panic!("unknown decision {other}"),
        None => "none",
    }
}

/// The sentences of an answer: reasons and notices.
fn told(answer: &str) -> Vec<String> {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let specific = &answer["hookSpecificOutput"];
    let sentences = [
        &specific["permissionDecisionReason"],
        &specific["decision"]["message"],
        &answer["reason"],
        &answer["stopReason"],
        &answer["systemMessage"],
    ];
    sentences.into_iter().filter_map(Value::as_str).map(str::to_string).collect()
}

/// What is wrong with the outcome of a case.
fn judge(case: &Value, answer: &str, stage: &Stage) -> Vec<String> {
    let mut faults = Vec::new();
    let wanted = case["decision"].as_str().expect("a case has a decision");
    let found = decision(answer);
    if found != wanted {
        faults.push(format!("expected {wanted}, found {found}"));
    }
    // Texts of cases are written as they are, those of answers escaped.
    let texts = |key: &str| -> Vec<String> {
        let escape = |text: &str| text.replace('\n', "\\n");
        list(&case[key]).into_iter().map(escape).collect()
    };
    for text in texts("contains") {
        if !answer.contains(&text) {
            faults.push(format!("`{text}` is missing"));
        }
    }
    for text in texts("lacks") {
        if answer.contains(&text) {
            faults.push(format!("`{text}` should not be there"));
        }
    }
    let call = case.to_string();
    faults.extend(told(answer).iter().filter_map(|text| prose::hole(text, &call)));
    if let Some(file) = case["file"].as_str() {
        let left = fs::read_to_string(stage.project.join(file)).unwrap_or_default();
        let wanted = case["holds"].as_str().unwrap_or_default();
        if !left.contains(wanted) {
            faults.push(format!("{file} holds {left:?}, not {wanted:?}"));
        }
    }
    faults
}

#[test]
fn s3_46_every_example_answers_as_its_cases_say() {
    let mut faults = Vec::new();
    let mut count = 0;
    for example in examples() {
        let text = read(&example.join("cases.toml"));
        let table = DeTable::parse(&text).unwrap_or_else(|e| panic!("{}: {e}", name(&example)));
        let cases = tree(&DeValue::Table(table.into_inner()));
        let stage = Stage::new(&example, &cases["programs"]);
        let all = cases["case"].as_array().expect("cases");
        assert!(all.len() >= 2, "{}: too few cases", name(&example));
        for (number, case) in all.iter().enumerate() {
            for (file, content) in case["files"].as_object().into_iter().flatten() {
                let content = content.as_str().expect("a text");
                fs::write(stage.project.join(file), content).expect("a file");
            }
            let answer = stage.hook(&payload(case, number));
            count += 1;
            for fault in judge(case, &answer, &stage) {
                faults.push(format!(
                    "{}: {}: {fault}\n    {}",
                    name(&example),
                    case["name"].as_str().unwrap_or_default(),
                    answer.trim()
                ));
            }
        }
    }
    assert!(faults.is_empty(), "{} of {count} cases:\n{}", faults.len(), faults.join("\n"));
}

#[test]
fn s3_46_every_example_is_free_of_faults() {
    let all = examples();
    assert!(all.len() >= 10, "{all:?}");
    for example in all {
        let path = example.join("config.toml");
        let text = read(&path);
        for layer in [Layer::User, Layer::Project] {
            let file = file::read_rules(&text, &path, layer, None);
            let faults: Vec<String> =
                file.faults.iter().map(|fault| fault.to_report("config.toml", &text)).collect();
            assert!(faults.is_empty(), "{}:\n{}", name(&example), faults.join("\n"));
            assert!(!file.rules.is_empty(), "{}: no rules", name(&example));
        }
    }
}

/// The `[[test]]`s of the examples hold where they are run as `hookctl test FILE` runs them.
#[test]
fn the_tests_beside_the_rules_hold() {
    let mut count = 0;
    for example in examples() {
        let path = example.join("config.toml");
        let done = Command::new(env!("CARGO_BIN_EXE_hookctl"))
            .args(["test", "--json", "--project", "/home/dev/project"])
            .arg(&path)
            .env("HOME", "/home/dev")
            .output()
            .expect("hookctl");
        let out = String::from_utf8(done.stdout).expect("UTF-8");
        count += out.lines().count();
        let faults = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(0), "{}: {out}{faults}", name(&example));
    }
    assert!(count >= 10, "{count}");
}

#[test]
fn s3_46_every_readme_shows_its_rules() {
    let index = read(&root().join("README.md"));
    for example in examples() {
        let name = name(&example);
        let readme = read(&example.join("README.md"));
        let rules = read(&example.join("config.toml"));
        let block = readme.split_once("```toml\n").and_then(|(_, rest)| rest.split_once("```"));
        assert_eq!(block.map(|(block, _)| block), Some(rules.as_str()), "{name}/README.md");
        assert!(index.contains(&format!("({name}/)")), "examples/README.md does not name {name}");
    }
}

/// `tests/e2e/servers.py` runs them; here, what belongs to them is sound and shown.
#[test]
fn s1_37_every_example_server_has_its_config() {
    let index = read(&root().join("servers/README.md"));
    for server in ["flask", "express", "claude-http", "opa"] {
        let dir = root().join("servers").join(server);
        let path = dir.join("config.toml");
        let text = read(&path);
        let file = file::read_rules(&text, &path, Layer::User, None);
        let faults: Vec<String> =
            file.faults.iter().map(|fault| fault.to_report("config.toml", &text)).collect();
        assert!(faults.is_empty(), "{server}:\n{}", faults.join("\n"));
        assert_eq!(file.remotes.len(), 1, "{server}");
        assert!(read(&dir.join("README.md")).contains(&text), "{server}/README.md");
        assert!(index.contains(&format!("({server}/)")), "servers/README.md: {server}");
    }
}

#[test]
fn s4_01_every_sample_payload_is_an_event() {
    let payloads = root().join("payloads");
    let stage = Stage::new(&root().join("01-stay-inside"), &Value::Null);
    let mut count = 0;
    for entry in fs::read_dir(&payloads).expect("payloads") {
        let path = entry.expect("entry").path();
        if path.extension().is_some_and(|end| end == "json") {
            let value: Value = serde_json::from_str(&read(&path)).expect("JSON");
            let kind = value["hook_event_name"].as_str().expect("an event");
            assert_ne!(hookctl::event::Kind::from_name(kind), hookctl::event::Kind::Other);
            decision(&stage.hook(&value));
            count += 1;
        }
    }
    assert!(count >= 10, "{count}");
}
