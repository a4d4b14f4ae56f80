//! install, uninstall and status as processes, each with a home of its own.

#![cfg(unix)]

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use serde_json::{Value, json};

const BIN: &str = env!("CARGO_BIN_EXE_hookctl");

const USUAL: &[&str] = &[
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PostToolUseFailure",
    "UserPromptSubmit",
    "SessionStart",
    "SessionEnd",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "Notification",
    "ConfigChange",
];

/// A home and a project of its own; nothing of the real user's is read or written.
struct World {
    dir: tempfile::TempDir,
}

struct Done {
    code: i32,
    out: String,
    err: String,
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl World {
    fn new() -> World {
        let world = World { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.home()).unwrap();
        fs::create_dir_all(world.project().join(".git")).unwrap();
        world
    }

    fn root(&self) -> PathBuf {
        hookctl::files::real_path(self.dir.path()).unwrap()
    }

    fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    fn project(&self) -> PathBuf {
        self.root().join("project")
    }

    fn user(&self) -> PathBuf {
        self.home().join(".claude/settings.json")
    }

    fn state(&self) -> PathBuf {
        self.home().join(".local/state/hookctl")
    }

    fn command(&self, args: &[&str]) -> Command {
        self.command_of(Path::new(BIN), args)
    }

    fn command_of(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command
            .args(args)
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", self.home())
            .current_dir(self.project());
        command
    }

    fn run(&self, args: &[&str]) -> Done {
        self.command(args).output().unwrap().into()
    }

    fn ok(&self, args: &[&str]) -> Done {
        let done = self.run(args);
        assert_eq!(done.code, 0, "{args:?}\n{}\n{}", done.out, done.err);
        done
    }

    fn put(&self, file: &Path, text: &str) {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }

    fn json(&self, file: &Path) -> Value {
        serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
    }

    /// Every file of the home but hookctl's own, with its text.
    fn home_texts(&self) -> BTreeMap<String, String> {
        let read = |file: String| {
            let text = fs::read_to_string(self.home().join(&file)).unwrap();
            (file, text)
        };
        self.home_files().into_iter().map(read).collect()
    }

    /// `status --json`, with its exit code.
    fn status(&self) -> (i32, Value) {
        let done = self.run(&["status", "--json"]);
        (done.code, serde_json::from_str(&done.out).unwrap())
    }

    /// What status says of the user's file.
    fn user_status(&self) -> Value {
        let (_, report) = self.status();
        let files = report["files"].as_array().unwrap();
        files.iter().find(|file| file["scope"] == "user").unwrap().clone()
    }
}

/// Every entry below an event, ours or not.
fn entries<'a>(settings: &'a Value, event: &str) -> Vec<&'a Value> {
    let groups = settings["hooks"][event].as_array().into_iter().flatten();
    groups.flat_map(|group| group["hooks"].as_array().unwrap()).collect()
}

/// Copies a program through another process: a descriptor of ours that is open for writing could
/// live on in a child of another test, and a program that is written to cannot be run.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    let status = Command::new("cp").args(["-p", "--remove-destination"]).arg(from).arg(to).status();
    assert!(status.unwrap().success());
}

#[test]
fn s0_01_sessions_in_any_directory_produce_events() {
    let world = World::new();
    world.ok(&["install"]);
    let settings = world.json(&world.user());
    let elsewhere = world.root().join("else where/é");
    fs::create_dir_all(&elsewhere).unwrap();
    let gone = world.root().join("gone");
    let places =
        [world.home(), world.project(), elsewhere.clone(), PathBuf::from("/"), gone.clone()];
    let mut sessions = Vec::new();
    for (number, place) in places.iter().enumerate() {
        let events = [("PreToolUse", true), ("PreToolUse", false), ("Stop", false)];
        for (event, dangerous) in events {
            let entry = entries(&settings, event)[0];
            let args = entry["args"].as_array().unwrap().iter().map(|arg| arg.as_str().unwrap());
            fs::create_dir_all(&gone).unwrap();
            let mut command = Command::new("sh");
            // The session's directory may be gone by the time that the hook runs.
            let script = "[ \"$PWD\" != \"$GONE\" ] || rmdir \"$GONE\"; exec \"$@\"";
            command.args(["-c", script, "sh", entry["command"].as_str().unwrap()]).args(args);
            command.env_clear().env("PATH", "/usr/bin:/bin").env("HOME", world.home());
            command.env("GONE", &gone).current_dir(place);
            command.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped());
            let mut child = command.spawn().unwrap();
            let session = format!("{event}-{dangerous}-{number}");
            let payload = json!({
                "hook_event_name": event,
                "session_id": session,
                // Not where the hook runs.
                "cwd": places[(number + 1) % places.len()],
                "tool_name": "Bash",
                "tool_input": {"command": if dangerous { "rm -rf /" } else { "true" }},
            });
            let mut stdin = child.stdin.take().unwrap();
            std::io::Write::write_all(&mut stdin, payload.to_string().as_bytes()).unwrap();
            drop(stdin);
            let done = Done::from(child.wait_with_output().unwrap());
            assert_eq!(done.code, 0, "{session} {}", done.err);
            assert_eq!(done.out.contains("\"deny\""), dangerous, "{session}: {}", done.out);
            sessions.push(session);
        }
    }
    let journal = fs::read_to_string(world.state().join("journal.jsonl")).unwrap();
    let lines: Vec<Value> =
        journal.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), sessions.len(), "{journal}");
    for session in &sessions {
        assert!(lines.iter().any(|line| line["session"] == **session), "{session}: {journal}");
    }
}

#[test]
fn s0_22_second_install_changes_no_byte() {
    let world = World::new();
    world.put(&world.user(), "{\"model\": \"opus\"}\n");
    world.ok(&["install"]);
    let (bytes, meta) = (fs::read(world.user()).unwrap(), fs::metadata(world.user()).unwrap());
    let done = world.ok(&["install"]);
    assert!(done.out.starts_with("Already installed"), "{}", done.out);
    assert_eq!(fs::read(world.user()).unwrap(), bytes);
    let again = fs::metadata(world.user()).unwrap();
    assert_eq!((again.ino(), again.mtime_nsec()), (meta.ino(), meta.mtime_nsec()));
}

#[test]
fn s0_23_uninstall_gives_the_original_bytes() {
    for before in ["{}", "", " \n", "{\n  \"a\": 1\n}", "\u{feff}{ \"a\" : [ ] }\r\n"] {
        let world = World::new();
        world.put(&world.user(), before);
        world.ok(&["install"]);
        assert_ne!(fs::read_to_string(world.user()).unwrap(), before);
        let done = world.ok(&["uninstall"]);
        assert!(done.out.contains("Taken out of"), "{}", done.out);
        assert_eq!(fs::read_to_string(world.user()).unwrap(), before);
    }
}

#[test]
fn s0_23_another_file_of_the_agent_keeps_its_bytes_as_well() {
    for before in ["", "\n", "{ }"] {
        let world = World::new();
        let other = world.home().join(".factory/settings.json");
        world.put(&other, before);
        world.ok(&["install", "--agent", "droid"]);
        world.ok(&["uninstall", "--agent", "droid"]);
        assert_eq!(fs::read_to_string(&other).unwrap(), before);
    }
}

#[test]
fn s0_23_uninstall_removes_a_file_and_directory_that_install_made() {
    let world = World::new();
    world.ok(&["install"]);
    assert!(world.user().exists());
    world.ok(&["uninstall"]);
    assert!(!world.home().join(".claude").exists());

    // A directory that somebody uses stays, a file that somebody wrote to as well.
    world.ok(&["install"]);
    world.put(&world.home().join(".claude/theirs"), "x");
    let mut settings = world.json(&world.user());
    settings["theirs"] = json!(1);
    world.put(&world.user(), &settings.to_string());
    world.ok(&["uninstall"]);
    assert_eq!(fs::read_to_string(world.user()).unwrap(), "{\"theirs\":1}");
    assert!(world.home().join(".claude/theirs").exists());
}

#[test]
fn s0_24_other_entries_stay_as_they_are() {
    let world = World::new();
    let before = "{\n    \"z\": 1,\n    \"hooks\": {\n        \"PreToolUse\": [\n            { \"matcher\": \"Bash\",\n              \"hooks\": [ {\"type\": \"command\", \"command\": \"/opt/g\", \"timeout\": 5} ] }\n        ]\n    },\n    \"a\": \"\\u00e9\"\n}\n";
    world.put(&world.user(), before);
    world.ok(&["install"]);
    let after = fs::read_to_string(world.user()).unwrap();
    let mut lines = after.lines();
    for line in before.lines() {
        let comma = format!("{line},");
        assert!(lines.any(|other| other == line || other == comma), "{line} is lost in {after}");
    }
    let settings = world.json(&world.user());
    assert_eq!(entries(&settings, "PreToolUse")[0]["command"], "/opt/g");
    assert!(settings.as_object().unwrap().keys().eq(["z", "hooks", "a"].iter()));
}

#[test]
fn s0_25_entries_carry_no_foreign_marker() {
    let world = World::new();
    world.ok(&["install", "--fail-closed"]);
    let settings = world.json(&world.user());
    for event in USUAL {
        for entry in entries(&settings, event) {
            for key in entry.as_object().unwrap().keys() {
                let known = ["type", "command", "args", "timeout", "onFailure"];
                assert!(known.contains(&key.as_str()), "{key}");
            }
        }
    }
}

#[test]
fn s0_26_status_tells_installed_partial_and_missing() {
    let world = World::new();
    let (code, report) = world.status();
    assert_eq!((code, &report["in_effect"]), (1, &json!(false)));
    assert_eq!(world.user_status()["state"], "missing");
    assert!(world.run(&["status"]).out.contains("NOT in effect"));

    world.ok(&["install"]);
    let (code, report) = world.status();
    assert_eq!((code, &report["in_effect"]), (0, &json!(true)), "{report:#}");
    assert_eq!(world.user_status()["state"], "installed");
    assert_eq!(world.user_status()["events"], json!(USUAL));
    assert!(world.ok(&["status"]).out.contains("installed"));

    let mut settings = world.json(&world.user());
    settings["hooks"].as_object_mut().unwrap().remove("PreToolUse");
    settings["hooks"].as_object_mut().unwrap().remove("Stop");
    world.put(&world.user(), &settings.to_string());
    let (code, report) = world.status();
    assert_eq!((code, &report["in_effect"]), (1, &json!(false)));
    let user = world.user_status();
    assert_eq!(user["state"], "partial");
    assert_eq!(user["missing"], json!(["PreToolUse", "Stop"]));
    let text = world.run(&["status"]).out;
    assert!(text.contains("partial") && text.contains("no entry for PreToolUse, Stop"), "{text}");
}

#[test]
fn s3_43_s0_26_a_chosen_subset_is_installed_not_partial() {
    let world = World::new();
    world.ok(&["install", "--events", "PreToolUse, FileChanged"]);
    assert_eq!(world.user_status()["state"], "installed");
    assert_eq!(world.status().0, 0);
    let done = world.run(&["install", "--events", "pretooluse"]);
    assert_eq!(done.code, 2);
    assert!(done.err.contains("did you mean `PreToolUse`?"), "{}", done.err);
}

/// What `hookctl events --json` says of an agent's event.
fn event_state(world: &World, agent: &str, name: &str) -> String {
    let told: Value =
        serde_json::from_str(&world.ok(&["events", "--json", "--agent", agent]).out).unwrap();
    let events = told["agents"][0]["events"].as_array().unwrap();
    let event = events.iter().find(|event| event["name"] == name);
    event.unwrap_or_else(|| panic!("{agent} {name}: {told:#}"))["state"].as_str().unwrap().into()
}

/// An event of each agent beside the one before a tool, and of which kind it is.
const SWITCHED: &[(&str, &str, &str)] = &[
    ("claude", "Stop", "Stop"),
    ("codex", "Stop", "Stop"),
    ("gemini", "AfterAgent", "Stop"),
    ("copilot", "Stop", "Stop"),
    ("vscode", "Stop", "Stop"),
    ("cursor", "stop", "Stop"),
    ("qwen", "Stop", "Stop"),
    ("cline", "TaskComplete", "Stop"),
    ("cline-fork", "Stop", "Stop"),
    ("opencode", "Stop", "Stop"),
    ("windsurf", "pre_user_prompt", "UserPromptSubmit"),
    ("droid", "Stop", "Stop"),
    ("kiro", "stop", "Stop"),
];

#[test]
fn s3_43_single_events_of_every_agent_are_listed_and_switched() {
    let all: Vec<&str> = hookctl::agent::AGENTS.iter().map(|agent| agent.id()).collect();
    for agent in &all {
        assert!(SWITCHED.iter().any(|(id, ..)| id == agent), "no event of {agent}");
    }
    for (agent, name, kind) in SWITCHED {
        let world = World::new();
        if *agent == "kiro" {
            world.put(&world.home().join(".kiro/agents/dev.json"), "{\"name\": \"dev\"}\n");
        }
        let empty = world.home_texts();
        world.ok(&["install", "--agent", agent]);
        let full = world.home_texts();
        assert_eq!(event_state(&world, agent, name), "on", "{agent}");
        let list = world.ok(&["events", "--agent", agent]).out;
        assert!(list.lines().any(|line| line.starts_with(&format!("  on   {name}"))), "{list}");

        let plan = world.ok(&["events", "disable", kind, "--agent", agent, "--dry-run"]);
        assert!(plan.out.contains("@@"), "{agent}: {}", plan.out);
        assert_eq!(world.home_texts(), full, "{agent}: nothing is written");
        // By Claude Code's name or the agent's own.
        world.ok(&["events", "disable", kind, "--agent", agent]);
        let without = world.home_texts();
        assert_ne!(without, full, "{agent}");
        assert_eq!(event_state(&world, agent, name), "off", "{agent}");
        let done = world.ok(&["events", "disable", name]);
        assert!(done.out.starts_with("Already off"), "{agent}: {}", done.out);
        // No install brings it back unasked, and status says so.
        let again = world.ok(&["install", "--agent", agent]);
        assert!(again.out.contains("Already installed"), "{agent}: {}", again.out);
        assert!(again.out.contains(&format!("off      {name}")), "{agent}: {}", again.out);
        assert_eq!(world.home_texts(), without, "{agent}");
        let status = world.run(&["status"]).out;
        assert!(status.contains(&format!("switched off by hand: {name}")), "{agent}: {status}");

        world.ok(&["events", "enable", name, "--agent", agent]);
        assert_eq!(event_state(&world, agent, name), "on", "{agent}");
        assert!(!world.run(&["status"]).out.contains("switched off"), "{agent}");
        assert_eq!(world.home_texts().keys().collect::<Vec<_>>(), full.keys().collect::<Vec<_>>());
        world.ok(&["events", "disable", name, "--agent", agent]);
        world.ok(&["uninstall"]);
        assert_eq!(world.home_texts(), empty, "{agent}: byte for byte as it was");
        // Forgotten with the rest.
        world.ok(&["install", "--agent", agent]);
        assert_eq!(world.home_texts(), full, "{agent}");
    }
}

#[test]
fn s3_43_switching_touches_nothing_else_and_says_what_is_lost() {
    let world = World::new();
    let theirs = "{\n    \"z\": 1,\n    \"hooks\": {\n        \"Stop\": [ {\"hooks\": [ {\"type\": \"command\", \"command\": \"/opt/g\"} ] } ]\n    }\n}\n";
    world.put(&world.user(), theirs);
    assert_eq!(world.run(&["events"]).code, 2, "not installed");
    world.ok(&["install", "--fail-closed"]);
    world.ok(&["events", "disable", "Stop", "PreToolUse"]);
    let settings = world.json(&world.user());
    assert_eq!(entries(&settings, "Stop").len(), 1);
    assert_eq!(entries(&settings, "Stop")[0]["command"], "/opt/g");
    assert!(entries(&settings, "PreToolUse").is_empty());
    // Nothing that ships judges without it.
    let (code, report) = world.status();
    assert_eq!((code, &report["in_effect"]), (1, &json!(false)));
    assert_eq!(world.user_status()["off"], json!(["Stop", "PreToolUse"]));
    assert_eq!(world.user_status()["missing"], json!([]), "{report:#}");
    let problems = report["problems"].to_string();
    assert!(problems.contains("switched off by hand: Stop, PreToolUse"), "{problems}");
    world.ok(&["events", "enable", "PreToolUse"]);
    let entry = entries(&world.json(&world.user()), "PreToolUse")[0].clone();
    assert_eq!(entry["onFailure"], "block", "as the others have it");
    assert_eq!(world.status().0, 0);
    // A rule of the user's about it: switched off is then a problem, and said at once.
    world.put(
        &world.home().join(".config/hookctl/config.toml"),
        "[rule.end]\non = \"Stop\"\nblock = \"no\"\n",
    );
    assert_eq!(world.status().0, 1);
    world.ok(&["events", "enable", "Stop"]);
    let done = world.ok(&["events", "disable", "Stop"]);
    assert!(done.err.contains("rules of yours are about Stop"), "{}", done.err);
    // Named outright, it is meant.
    world.ok(&["install", "--fail-closed", "--events", "PreToolUse,Stop"]);
    assert_eq!(event_state(&world, "claude", "Stop"), "on");
    // What is not usual can be switched on as well.
    world.ok(&["events", "enable", "FileChanged"]);
    assert_eq!(event_state(&world, "claude", "FileChanged"), "on");

    for (args, code, why) in [
        (&["events", "disable", "stop"][..], 2, "did you mean `Stop`?"),
        (&["events", "disable", "Nothing"], 2, "has no event `Nothing`"),
        (&["events", "disable", "Stop", "--scope", "project"], 2, "not installed there"),
        (&["events", "disable", "Stop", "--agent", "codex"], 2, "not installed there"),
        (&["events", "disable", "Stop", "PreToolUse", "FileChanged"], 1, "hookctl uninstall"),
        (&["events", "disable"], 2, "EVENT"),
    ] {
        let before = fs::read_to_string(world.user()).unwrap();
        let done = world.run(args);
        assert_eq!(done.code, code, "{args:?} {}", done.err);
        assert!(done.err.contains(why), "{args:?} {}", done.err);
        assert_eq!(fs::read_to_string(world.user()).unwrap(), before);
    }
    // Less guard is for humans; more is for everybody.
    let as_agent = |args: &[&str]| -> Done {
        world.command(args).env("CLAUDECODE", "1").output().unwrap().into()
    };
    let done = as_agent(&["events", "disable", "Stop"]);
    assert!(done.code == 1 && done.err.contains("CLAUDECODE"), "{}", done.err);
    assert_eq!(event_state(&world, "claude", "Stop"), "on");
    assert_eq!(as_agent(&["events", "enable", "SessionStart"]).code, 0);
    assert_eq!(event_state(&world, "claude", "SessionStart"), "on");
}

#[test]
fn s0_27_wrong_and_old_wiring_is_outdated_until_installed_again() {
    let world = World::new();
    world.ok(&["install"]);
    let good = fs::read_to_string(world.user()).unwrap();
    type Break = fn(&mut Value);
    let cases: &[(&str, bool, Break)] = &[
        ("tool-start", true, |entry| entry["args"][4] = json!("tool-start")),
        ("async", true, |entry| entry["async"] = json!(true)),
        ("if", true, |entry| entry["if"] = json!("Bash(git *)")),
        ("timeout 7", true, |entry| entry["timeout"] = json!(7)),
        ("is not there", true, |entry| entry["command"] = json!("/nowhere/hookctl")),
        ("/elsewhere, which is not there", true, |entry| entry["args"][6] = json!("/elsewhere")),
        ("runs hookctl", true, |entry| {
            entry.as_object_mut().unwrap().remove("args");
            entry["command"] = json!("hookctl hook");
        }),
    ];
    for (why, breaks, damage) in cases {
        let mut settings = world.json(&world.user());
        damage(&mut settings["hooks"]["PreToolUse"][0]["hooks"][0]);
        world.put(&world.user(), &serde_json::to_string_pretty(&settings).unwrap());
        assert_eq!(world.user_status()["state"], "outdated", "{why}");
        let (code, report) = world.status();
        assert_eq!(code, i32::from(*breaks), "{why}: {report:#}");
        assert!(report.to_string().contains(why), "{why}: {report:#}");
        let done = world.ok(&["install"]);
        assert!(done.out.contains("PreToolUse replaced"), "{}", done.out);
        assert_eq!(world.user_status()["state"], "installed", "{why}");
        assert_eq!(world.json(&world.user()), serde_json::from_str::<Value>(&good).unwrap());
    }
    let text = good.replacen("\"hooks\": [", "\"matcher\": \"Bash\", \"hooks\": [", 1);
    world.put(&world.user(), &text);
    assert!(world.run(&["status"]).out.contains("only for what matches `Bash`"));
    world.ok(&["install"]);
    assert_eq!(fs::read_to_string(world.user()).unwrap(), good);
}

#[test]
fn s0_28_install_says_when_it_takes_effect() {
    let world = World::new();
    assert!(world.ok(&["install"]).out.contains("new sessions pick it up for certain"));
}

#[test]
fn s3_50_missing_and_world_writable_hook_commands_are_found() {
    let world = World::new();
    let script = world.root().join("open.sh");
    world.put(&script, "#!/bin/sh\n");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o777)).unwrap();
    let good = world.root().join("good.sh");
    world.put(&good, "#!/bin/sh\n");
    fs::set_permissions(&good, fs::Permissions::from_mode(0o755)).unwrap();
    let hook = |command: String| json!({"type": "command", "command": command});
    let settings = json!({"hooks": {
        "PostToolUse": [{"hooks": [
            hook(format!("{} x", script.display())),
            hook("bash \"$CLAUDE_PROJECT_DIR\"/hooks/gone.sh".into()),
            hook(format!("{} --flag /not/a/program", good.display())),
            hook("jq -r .x".into()),
            {"type": "command", "command": "no-such-program-anywhere", "args": []},
        ]}],
    }});
    world.put(&world.user(), &settings.to_string());
    let (_, report) = world.status();
    let problems: Vec<&str> = report["guards"]
        .as_array()
        .unwrap()
        .iter()
        .map(|guard| guard["problem"].as_str().unwrap())
        .collect();
    assert_eq!(problems.len(), 3, "{problems:?}");
    assert!(problems[0].contains("open.sh can be changed by every user"));
    assert!(problems[1].contains("project/hooks/gone.sh is not there"), "{problems:?}");
    assert!(problems[2].contains("not in PATH"));
}

#[test]
fn s3_53_records_of_other_versions_load() {
    let world = World::new();
    world.put(&world.user(), "{\"a\": 1}");
    world.ok(&["install"]);
    let file = world.state().join("installs.json");
    let mut records = world.json(&file);
    records.as_object_mut().unwrap().remove("version");
    records["from_the_future"] = json!({"x": 1});
    let record = records["files"].as_object_mut().unwrap().values_mut().next().unwrap();
    record.as_object_mut().unwrap().remove("directories");
    record["more"] = json!(true);
    world.put(&file, &records.to_string());
    world.ok(&["uninstall"]);
    assert_eq!(fs::read_to_string(world.user()).unwrap(), "{\"a\": 1}");

    for lost in ["", "not json", "[]"] {
        world.ok(&["install"]);
        world.put(&file, lost);
        world.ok(&["uninstall"]);
        assert_eq!(fs::read_to_string(world.user()).unwrap(), "{\"a\": 1}");
    }
}

#[test]
fn sx_10_mode_and_symlink_stay() {
    let world = World::new();
    let real = world.root().join("dotfiles/claude.json");
    world.put(&real, "{}");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(world.user().parent().unwrap()).unwrap();
    symlink("../../dotfiles/claude.json", world.user()).unwrap();
    for command in ["install", "uninstall"] {
        world.ok(&[command]);
        assert!(fs::symlink_metadata(world.user()).unwrap().is_symlink());
        assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o7777, 0o640);
    }
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}");

    // A link to a file that is not there yet.
    fs::remove_file(&real).unwrap();
    world.ok(&["install"]);
    assert!(fs::symlink_metadata(world.user()).unwrap().is_symlink());
    assert!(real.exists());
    world.ok(&["uninstall"]);
    assert!(!real.exists());
    assert!(fs::symlink_metadata(world.user()).unwrap().is_symlink());
}

#[test]
fn sx_10_the_last_five_backups_stay_private() {
    let world = World::new();
    for turn in 0..7 {
        world.put(&world.user(), &format!("{{\"turn\": {turn}}}"));
        world.ok(&["install"]);
    }
    let backups: Vec<PathBuf> =
        fs::read_dir(world.state().join("backups")).unwrap().map(|e| e.unwrap().path()).collect();
    assert_eq!(backups.len(), 5, "{backups:?}");
    let mut texts: Vec<String> =
        backups.iter().map(|file| fs::read_to_string(file).unwrap()).collect();
    texts.sort();
    assert_eq!(texts, [2, 3, 4, 5, 6].map(|turn| format!("{{\"turn\": {turn}}}")));
    for file in backups.iter().chain([&world.state().join("installs.json")]) {
        assert_eq!(fs::metadata(file).unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(world.state()).unwrap().permissions().mode() & 0o777, 0o700);
}

#[test]
fn sx_10_invalid_settings_are_refused_untouched_with_the_place() {
    for (bytes, place) in [
        (b"{\n  // mine\n}".as_slice(), ":2:3: comments are not JSON"),
        (b"{\n  \"a\": 1,\n}", ":2:9: a comma before `}`"),
        (b"[]", ":1:1: the whole file is a list"),
        (b"{\"hooks\": []}", ":1:11: `hooks` is a list"),
        (b"{\"hooks\": {\"Stop\": 1}}", ":1:20: `hooks.Stop` is a number"),
        (b"\xff\xfe{\0}\0", ":1:1: not valid UTF-8"),
        (b"{\"a\": \"\xe9\"}", ":1:8: not valid UTF-8"),
    ] {
        let world = World::new();
        world.put(&world.user(), "");
        fs::write(world.user(), bytes).unwrap();
        let done = world.run(&["install"]);
        assert_eq!(done.code, 2, "{place}");
        assert!(done.err.contains(place), "{place}: {}", done.err);
        assert!(done.err.contains("^") && done.err.contains("hint: "), "{}", done.err);
        assert_eq!(fs::read(world.user()).unwrap(), bytes);
        assert!(!world.state().exists(), "nothing was made for a refusal");
        assert_eq!(world.run(&["status"]).code, 1);
    }
}

#[test]
fn sx_10_dry_run_prints_the_edit_and_writes_nothing() {
    let world = World::new();
    world.put(&world.user(), "{\n  \"a\": 1\n}\n");
    let before = fs::metadata(world.user()).unwrap();
    let done = world.ok(&["install", "--dry-run"]);
    assert!(done.out.contains("-  \"a\": 1\n+  \"a\": 1,\n+  \"hooks\": {"), "{}", done.out);
    assert_eq!(fs::metadata(world.user()).unwrap().ino(), before.ino());
    assert!(!world.home().join(".local").exists());
    let head = "1 file would change; nothing was written.\n  Claude Code    ~/.claude/settings.json: 12 entries added\n\n--- ";
    assert!(done.out.starts_with(head), "{}", done.out);
    // What many edits come to stands before the first of them.
    let many = world.ok(&["install", "--dry-run", "--agent", "claude,gemini,codex"]).out;
    assert!(many.starts_with("3 files would change; nothing was written.\n"), "{many}");
    assert_eq!(many.lines().position(|line| line.starts_with("--- ")), Some(5), "{many}");
    assert!(many.contains("~/.gemini/settings.json: new, 7 entries added"), "{many}");
    world.ok(&["install"]);
    let text = fs::read_to_string(world.user()).unwrap();
    assert!(world.ok(&["install", "--dry-run"]).out.contains("nothing to do"));
    let done = world.ok(&["uninstall", "--dry-run", "--purge"]);
    assert!(done.out.contains("-  \"hooks\": {") && done.out.contains("Would remove"));
    assert_eq!(fs::read_to_string(world.user()).unwrap(), text);
    assert!(world.state().join("installs.json").exists());
}

#[test]
fn sx_10_what_cannot_be_written_is_left_alone() {
    // As root nothing is read-only: run as somebody else then.
    let world = World::new();
    world.put(&world.user(), "{\"a\": 1}");
    let program = world.root().join("bin/hookctl");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    copy(Path::new(BIN), &program);
    for dir in [world.root(), world.home(), world.project(), program.parent().unwrap().into()] {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    }
    let state = world.root().join("state");
    fs::create_dir(&state).unwrap();
    fs::set_permissions(&state, fs::Permissions::from_mode(0o777)).unwrap();
    let claude = world.home().join(".claude");
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o555)).unwrap();
    let args = ["install", "--state", state.to_str().unwrap()];
    let mut command = world.command_of(&program, &args);
    if fs::metadata(&claude).unwrap().uid() == 0 {
        command.uid(65534).gid(65534);
    }
    let done = Done::from(command.output().unwrap());
    fs::set_permissions(&claude, fs::Permissions::from_mode(0o755)).unwrap();
    assert_eq!(done.code, 2, "{}", done.err);
    // The file that people know, what the system said, once, and what to do.
    let said =
        format!("cannot write {}: Permission denied (os error 13)\n", world.user().display());
    assert!(done.err.contains(&said), "{}", done.err);
    assert_eq!(done.err.matches("denied").count(), 1, "{}", done.err);
    assert!(!done.err.contains(".hookctl-") && done.err.contains("ls -ld"), "{}", done.err);
    assert_eq!(fs::read_to_string(world.user()).unwrap(), "{\"a\": 1}");
    assert_eq!(fs::read_dir(&claude).unwrap().count(), 1);

    // A state directory that cannot be made: nothing is edited without its way back.
    world.put(&world.root().join("file"), "");
    let done = world.run(&["install", "--state", world.root().join("file/x").to_str().unwrap()]);
    assert_eq!(done.code, 2);
    assert_eq!(fs::read_to_string(world.user()).unwrap(), "{\"a\": 1}");
    // Nor is something that is not a file.
    fs::remove_file(world.user()).unwrap();
    fs::create_dir(world.user()).unwrap();
    assert!(world.run(&["install"]).err.contains("no regular file: move it away"));
    fs::remove_dir(world.user()).unwrap();
    // A directory on the way is a file.
    let world = World::new();
    world.put(&world.home().join(".claude"), "");
    let done = world.run(&["install"]);
    assert_eq!((done.code, done.err.matches("Not a directory").count()), (2, 1), "{}", done.err);
    assert!(done.err.contains("move that away"), "{}", done.err);
    // What a link leads to is told beside the name that people know.
    let world = World::new();
    fs::create_dir(world.home().join(".claude")).unwrap();
    let big = world.root().join("big");
    File::create(&big).unwrap().set_len(65 << 20).unwrap();
    symlink(&big, world.user()).unwrap();
    let done = world.run(&["install"]);
    let said =
        format!("{} is larger than 64 MiB (it leads to {})", world.user().display(), big.display());
    assert!(done.err.contains(&said), "{}", done.err);
}

#[test]
fn what_is_said_of_sessions_is_true_of_the_agent() {
    for (agent, says, never) in [
        ("claude", "Running sessions usually notice", "restart"),
        ("gemini", "running ones may not", "usually notice"),
        ("opencode", "when it starts, and only then: restart it", "usually notice"),
        // Its user has to approve the hooks first.
        ("codex", "NOT yet in effect", "pick it up"),
    ] {
        let world = World::new();
        let done = world.ok(&["install", "--agent", agent]);
        assert!(done.out.contains(says) && !done.out.contains(never), "{agent}: {}", done.out);
    }
    let world = World::new();
    let done = world.ok(&["install", "--agent", "codex", "--trust"]);
    assert!(done.out.contains("running ones may not"), "{}", done.out);
    world.ok(&["install", "--agent", "opencode"]);
    let done = world.ok(&["events", "disable", "Stop", "--agent", "opencode"]);
    assert!(!done.out.contains("usually notice"), "{}", done.out);
}

#[test]
fn sx_10_two_hundred_at_once_lose_no_key() {
    const PROCESSES: usize = 200;
    const WRITERS: usize = 40;
    let world = World::new();
    world.put(&world.user(), "{\n  \"start\": true\n}\n");
    let states: Vec<String> =
        (0..3).map(|i| world.root().join(format!("s{i}")).display().to_string()).collect();
    let next = AtomicUsize::new(0);
    let foreign = |i: usize| {
        // Another writer that keeps to the lock on the directory.
        let dir = world.user().parent().unwrap().to_path_buf();
        let lock = File::open(&dir).unwrap();
        lock.lock().unwrap();
        let mut settings = world.json(&world.user());
        settings[format!("key{i}")] = json!(i);
        let temporary = dir.join(format!("foreign{i}"));
        fs::write(&temporary, serde_json::to_string_pretty(&settings).unwrap()).unwrap();
        fs::rename(temporary, world.user()).unwrap();
    };
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                loop {
                    let i = next.fetch_add(1, Ordering::Relaxed);
                    if i >= PROCESSES {
                        return;
                    }
                    if i.is_multiple_of(PROCESSES / WRITERS) {
                        foreign(i / (PROCESSES / WRITERS));
                    }
                    let state = states[i % 3].as_str();
                    let done = match i % 4 {
                        0 => world.run(&["uninstall", "--state", state]),
                        1 => world.run(&["install", "--state", state, "--events", "Stop"]),
                        _ => world.run(&["install", "--state", state]),
                    };
                    assert_eq!(done.code, 0, "{}", done.err);
                }
            });
        }
    });
    world.ok(&["install"]);
    let settings = world.json(&world.user());
    for event in USUAL {
        assert_eq!(entries(&settings, event).len(), 1, "{event}");
    }
    world.ok(&["uninstall"]);
    let settings = world.json(&world.user());
    assert_eq!(settings["start"], json!(true));
    for i in 0..WRITERS {
        assert_eq!(settings[format!("key{i}")], json!(i), "{settings:#}");
    }
    // Empty lists in `hooks` may stay: which of the three state directories knows that it was ours is
    // a matter of the order they came in.
    let hooks = settings.get("hooks").map_or(0, |hooks| {
        assert!(hooks.as_object().unwrap().values().all(|list| *list == json!([])), "{hooks}");
        1
    });
    assert_eq!(settings.as_object().unwrap().len(), WRITERS + 1 + hooks);
    assert_eq!(fs::read_dir(world.home().join(".claude")).unwrap().count(), 1, "no litter");
}

#[test]
fn sx_11_scopes_and_their_entries() {
    let world = World::new();
    let project = world.project().join(".claude/settings.json");
    let local = world.project().join(".claude/settings.local.json");
    let inside = world.project().join("deep/er");
    fs::create_dir_all(&inside).unwrap();

    let done: Done = world
        .command(&["install", "--scope", "project"])
        .current_dir(inside)
        .output()
        .unwrap()
        .into();
    assert_eq!(done.code, 0, "{}", done.err);
    let settings = world.json(&project);
    let entry = entries(&settings, "PreToolUse")[0];
    assert_eq!(
        *entry,
        json!({
            "type": "command",
            "command": "hookctl",
            "args": ["hook", "--agent", "claude", "--event", "PreToolUse", "--timeout", "600"],
            "timeout": 600,
        })
    );
    assert!(settings["hooks"]["PreToolUse"][0].get("matcher").is_none());
    assert!(done.err.contains("not in PATH"), "{}", done.err);

    for other in ["user", "local"] {
        let done = world.run(&["install", "--scope", other]);
        assert_eq!(done.code, 1, "{}", done.out);
        assert!(done.err.contains("--also") && done.err.contains("project"), "{}", done.err);
    }
    assert!(!local.exists() && !world.user().exists());

    world.ok(&["install", "--scope", "local", "--also"]);
    let settings = world.json(&local);
    let args = entries(&settings, "Stop")[0]["args"].clone();
    let config = world.home().join(".config/hookctl").display().to_string();
    let state = world.state().display().to_string();
    assert_eq!(
        args,
        json!([
            "hook",
            "--agent",
            "claude",
            "--event",
            "Stop",
            "--config",
            config,
            "--state",
            state,
            "--timeout",
            "600"
        ])
    );
    let program = entries(&settings, "Stop")[0]["command"].as_str().unwrap().to_string();
    assert_eq!(Path::new(&program), hookctl::files::real_path(Path::new(BIN)).unwrap());

    world.ok(&["uninstall"]);
    assert!(!world.project().join(".claude").exists());
}

#[test]
fn sx_11_places_follow_the_environment() {
    let world = World::new();
    let dir = world.root().join("elsewhere");
    let done: Done =
        world.command(&["install"]).env("CLAUDE_CONFIG_DIR", &dir).output().unwrap().into();
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(dir.join("settings.json").exists() && !world.user().exists());

    // At home the project's file would be the user's own.
    let done: Done = world
        .command(&["install", "--scope", "project"])
        .current_dir(world.home())
        .output()
        .unwrap()
        .into();
    assert_eq!(done.code, 2);
    assert!(done.err.contains("is not a project"), "{}", done.err);
}

#[test]
fn sx_12_timeouts_are_explicit_and_in_seconds() {
    let world = World::new();
    world.ok(&["install"]);
    let settings = world.json(&world.user());
    for event in USUAL {
        let want = match *event {
            "PreToolUse" | "PermissionRequest" | "Stop" | "SubagentStop" => 600,
            "UserPromptSubmit" => 30,
            "SessionEnd" => 5,
            _ => 60,
        };
        let entry = entries(&settings, event)[0];
        assert_eq!(entry["timeout"], want, "{event}");
        let args = entry["args"].as_array().unwrap();
        assert_eq!(args[args.len() - 2..], [json!("--timeout"), json!(want.to_string())]);
    }
    assert!(settings["hooks"].as_object().unwrap().keys().len() == USUAL.len());
}

/// In each agent's own unit, and the same time for hookctl itself, which counts in seconds.
#[test]
fn sx_12_timeouts_are_in_the_unit_of_the_agent() {
    for (agent, file, event, key, unit) in [
        ("gemini", ".gemini/settings.json", "BeforeTool", "timeout", 1000),
        ("qwen", ".qwen/settings.json", "PreToolUse", "timeout", 1000),
        ("droid", ".factory/hooks.json", "PreToolUse", "timeout", 1),
        ("cursor", ".cursor/hooks.json", "preToolUse", "timeout", 1),
        ("codex", ".codex/hooks.json", "PreToolUse", "timeout", 1),
    ] {
        let world = World::new();
        world.ok(&["install", "--agent", agent]);
        let settings = world.json(&world.home().join(file)).to_string();
        let _ = (event, key);
        let seconds = settings.split("--timeout ").nth(1).expect(agent);
        let seconds: u64 =
            seconds.split(|c: char| !c.is_ascii_digit()).next().unwrap().parse().unwrap();
        let wanted = format!("\"{key}\":{}", seconds * unit);
        assert!(settings.contains(&wanted), "{agent}: no {wanted} in {settings}");
    }
}

/// A human at a phone has 60 s, and hookctl must be there for the answer.
#[test]
fn s0_15_install_leaves_a_human_time_to_answer() {
    let world = World::new();
    world.ok(&["install"]);
    let settings = world.json(&world.user());
    for event in ["PreToolUse", "PermissionRequest"] {
        let entry = entries(&settings, event)[0];
        assert!(entry["timeout"].as_u64().is_some_and(|seconds| seconds >= 70), "{entry}");
        let args: Vec<&str> =
            entry["args"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let own = args.iter().position(|arg| *arg == "--timeout").map(|at| args[at + 1]);
        assert!(own.is_some_and(|own| own.parse::<u64>().unwrap() >= 70), "{args:?}");
    }
}

#[test]
fn sx_13_fail_closed_where_the_client_knows_it() {
    let world = World::new();
    let done = world.ok(&["install", "--fail-closed"]);
    assert!(done.out.contains("2.1.197 and older ignore"), "{}", done.out);
    let settings = world.json(&world.user());
    let closed = ["PreToolUse", "PermissionRequest", "UserPromptSubmit", "PostToolUse"];
    for event in USUAL {
        let entry = entries(&settings, event)[0];
        assert_eq!(entry.get("onFailure").is_some(), closed.contains(event), "{event}");
    }
    assert_eq!(world.user_status()["state"], "installed");
    assert_eq!(world.user_status()["fails_closed"].as_array().unwrap().len(), 4);
    assert!(world.ok(&["status"]).out.contains("fails closed on PreToolUse"));
    let done = world.ok(&["install"]);
    assert!(done.out.contains("PreToolUse replaced (fails closed)"), "{}", done.out);
    assert!(world.ok(&["status"]).out.contains("the agent goes on"));
}

#[test]
fn s1_35_flags_of_a_server_are_written_kept_and_taken_out_again() {
    let world = World::new();
    let before = "{\n\t\"model\": \"x\" }";
    world.put(&world.user(), before);
    let url = "http://localhost:1/hook";
    world.ok(&["install", "--server-url", url, "--fail-open", "false"]);
    let args = |event: &str| {
        let settings = world.json(&world.user());
        let entry = entries(&settings, event)[0].clone();
        entry["args"]
            .as_array()
            .unwrap()
            .iter()
            .map(|arg| arg.as_str().unwrap().to_string())
            .collect()
    };
    // The protocol's events are registered with it.
    for event in ["PreToolUse", "Notification"] {
        let args: Vec<String> = args(event);
        assert!(args.ends_with(&["--server-url", url, "--fail-open", "false"].map(String::from)));
    }
    let text = fs::read_to_string(world.user()).unwrap();
    assert_eq!(world.user_status()["state"], "installed");
    let (_, report) = world.status();
    assert_eq!(report["servers"][0]["urls"][0], url);
    assert_eq!(report["servers"][0]["health"], "down");
    // Another install keeps them, one with others writes those.
    world.ok(&["install"]);
    assert_eq!(fs::read_to_string(world.user()).unwrap(), text);
    world.ok(&["install", "--server-url", "http://localhost:2/hook"]);
    let args: Vec<String> = args("PreToolUse");
    assert!(args.ends_with(&["--server-url", "http://localhost:2/hook"].map(String::from)));
    assert_eq!(world.run(&["install", "--server-url", "localhost"]).code, 2);
    assert_eq!(world.run(&["install", "--fail-open", "no"]).code, 2);
    world.ok(&["uninstall"]);
    assert_eq!(fs::read_to_string(world.user()).unwrap(), before);
}

#[test]
fn loosening_is_for_humans() {
    let world = World::new();
    let as_agent = |args: &[&str]| -> Done {
        world.command(args).env("CLAUDECODE", "1").output().unwrap().into()
    };
    assert_eq!(as_agent(&["install", "--events", "PreToolUse"]).code, 0);
    assert_eq!(as_agent(&["install", "--events", "PreToolUse,Stop"]).code, 0, "adding is fine");
    let text = fs::read_to_string(world.user()).unwrap();
    assert_eq!(as_agent(&["install", "--scope", "local", "--also", "--server-url", "x"]).code, 1);
    // Entries of another scope would only be added, and could allow.
    let done = as_agent(&["install", "--scope", "local", "--also", "--config", "/tmp/evil"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("another --config may allow calls"), "{}", done.err);
    assert!(as_agent(&["uninstall", "--purge"]).err.contains("--purge takes"));
    for args in [
        &["uninstall"][..],
        &["uninstall", "--purge"],
        &["uninstall", "--scope", "local", "--purge"],
        &["install", "--events", "Stop"],
        &["install", "--events", "PreToolUse,Stop", "--server-url", "http://localhost:1"],
        &["install", "--config", "/tmp/evil", "--events", "PreToolUse,Stop"],
    ] {
        let done = as_agent(args);
        assert_eq!(done.code, 1, "{args:?} {}", done.err);
        assert!(done.err.contains("CLAUDECODE"), "{}", done.err);
        assert_eq!(fs::read_to_string(world.user()).unwrap(), text);
        assert!(world.state().join("installs.json").exists());
    }
}

#[test]
fn purge_removes_our_state_and_nothing_else() {
    let world = World::new();
    world.put(&world.user(), "{}");
    world.put(&world.home().join(".config/hookctl/config.toml"), "");
    world.ok(&["install"]);
    world.put(&world.state().join("journal.jsonl"), "{}\n");
    for own in ["marks/s", "asked/s.jsonl", "salt", "plugin-claude", "managed/tried"] {
        world.put(&world.state().join(own), "x");
    }
    // Names that begin as ours do are not ours.
    let theirs = ["backups-2024/x", "journal-2025.txt", "notes-thesis/x", "theirs.txt"];
    for name in theirs {
        world.put(&world.state().join(name), "x");
    }
    let done = world.ok(&["uninstall", "--purge"]);
    assert!(done.out.contains("journal.jsonl") && done.out.contains("theirs.txt (not hookctl's)"));
    let mut left: Vec<_> =
        fs::read_dir(world.state()).unwrap().map(|e| e.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, theirs.map(|name| name.trim_end_matches("/x")));
    assert!(theirs.iter().all(|name| world.state().join(name).exists()));
    assert!(world.home().join(".config/hookctl/config.toml").exists());
    fs::remove_dir_all(world.state()).unwrap();
    world.put(&world.state().join("journal.jsonl"), "{}\n");
    world.ok(&["uninstall", "--purge"]);
    assert!(!world.state().exists());
}

#[test]
fn status_says_what_switches_the_guard_off() {
    let world = World::new();
    world.ok(&["install"]);
    let installed = fs::read_to_string(world.user()).unwrap();
    let project = world.project().join(".claude/settings.json");
    let not_in_effect = |why: &str| {
        let (code, report) = world.status();
        assert_eq!((code, &report["in_effect"]), (1, &json!(false)), "{why}");
        assert!(report["problems"].to_string().contains(why), "{why}: {}", report["problems"]);
    };

    world.put(&project, "{\"disableAllHooks\": true}");
    not_in_effect("disableAllHooks");
    world.put(&project, "{\"allowManagedHooksOnly\": true}");
    assert_eq!(world.status().0, 0, "of no effect outside managed settings");
    fs::remove_file(&project).unwrap();

    // One bad entry of somebody else costs the whole file.
    let bad = r#""PreToolUse": [ {"hooks": [{"type": "command", "command": "x", "timeout": 0}]},"#;
    world.put(&world.user(), &installed.replacen("\"PreToolUse\": [", bad, 1));
    not_in_effect("the agent drops the whole file");
    let done = world.ok(&["install"]);
    assert!(done.err.contains("drops this WHOLE file"), "{}", done.err);
    world.put(&world.user(), &installed);

    let now = std::time::SystemTime::UNIX_EPOCH.elapsed().unwrap().as_secs();
    let pause = |until: u64| {
        let note = json!({"until": until, "since": until - 600}).to_string();
        world.put(&world.state().join("pause.json"), &note)
    };
    for not_now in [now - 1, now + 99_999] {
        pause(not_now);
        assert_eq!(world.status().0, 0);
    }
    pause(now + 300);
    not_in_effect("paused");
    fs::remove_file(world.state().join("pause.json")).unwrap();

    world.put(
        &world.state().join("journal.jsonl"),
        "{\"event\":\"Stop\"}\n{\"event\":\"PreToolUse\"}\n",
    );
    let (code, report) = world.status();
    assert_eq!((code, &report["last_event"]["event"]), (0, &json!("PreToolUse")));
}

#[test]
fn verify_runs_the_registered_command_line() {
    let world = World::new();
    world.ok(&["install"]);
    let program = world.root().join("bin/hookctl");
    let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no [pack:x]"}}"#;
    let version = concat!("hookctl ", env!("CARGO_PKG_VERSION"));
    let script = |body: &str| {
        let text =
            format!("#!/bin/sh\n[ \"$1\" = --version ] && {{ echo '{version}'; exit; }}\n{body}\n");
        let source = world.root().join("script");
        world.put(&source, &text);
        fs::set_permissions(&source, fs::Permissions::from_mode(0o755)).unwrap();
        copy(&source, &program);
    };
    let text = fs::read_to_string(world.user()).unwrap();
    let this = hookctl::files::real_path(Path::new(BIN)).unwrap().display().to_string();
    world.put(&world.user(), &text.replace(&this, &program.display().to_string()));
    let verify = || {
        let done = world.run(&["status", "--verify", "--json"]);
        let report: Value = serde_json::from_str(&done.out).unwrap();
        (done.code, report["verify"].as_array().unwrap().clone())
    };

    script(&format!("read x; case \"$x\" in *'rm -rf /'*) echo '{deny}';; esac"));
    let (code, probes) = verify();
    assert_eq!(code, 0, "{probes:?}");
    assert_eq!(probes.len(), 3);
    assert_eq!(probes[2]["came"], "deny: no [pack:x]");

    for (body, came) in [
        ("exit 1", "exit 1"),
        ("echo hello", "not JSON"),
        ("read x; exit 0", "silent"),
        ("sleep 30", "no answer within 5 s"),
    ] {
        script(body);
        let (code, probes) = verify();
        assert_eq!(code, 1, "{body}: {probes:?}");
        assert!(probes[2]["came"].as_str().unwrap().contains(came), "{body}: {probes:?}");
    }
}

#[test]
fn help_completions_and_man_page_are_there() {
    let world = World::new();
    assert!(world.ok(&["--help"]).out.contains("Examples:"));
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(world.ok(&["completions", shell]).out.contains(" complete -- "), "{shell}");
    }
    let page = world.ok(&["man"]).out;
    assert!(page.starts_with(".ie") && page.contains("HOOKCTL INSTALL"), "{page}");
    assert_eq!(world.run(&["bogus"]).code, 2);
    assert_eq!(world.run(&["completions", "bogus"]).code, 2);
    let colored = world.ok_colored();
    assert!(colored.contains("\u{1b}["));
    assert!(!world.run(&["status"]).out.contains('\u{1b}'), "no terminal, no colours");
}

impl World {
    fn ok_colored(&self) -> String {
        self.run(&["status", "--color", "always"]).out
    }
}

impl World {
    /// Every file in the home but hookctl's own notes.
    fn home_files(&self) -> Vec<String> {
        fn walk(dir: &Path, all: &mut Vec<PathBuf>) {
            for entry in fs::read_dir(dir).unwrap().flatten() {
                match entry.path() {
                    path if path.is_dir() => walk(&path, all),
                    path => all.push(path),
                }
            }
        }
        let mut all = Vec::new();
        walk(&self.home(), &mut all);
        all.retain(|path| !path.starts_with(self.state()));
        let mut names: Vec<String> = all
            .iter()
            .map(|path| path.strip_prefix(self.home()).unwrap().display().to_string())
            .collect();
        names.sort();
        names
    }

    /// A program of that name is in PATH.
    fn with_program(&self, name: &str) -> String {
        let file = self.root().join("bin").join(name);
        self.put(&file, "#!/bin/sh\necho 1.2.3\n");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        format!("{}:/usr/bin:/bin", self.root().join("bin").display())
    }
}

/// What one agent's file holds after an install.
struct Wired {
    agent: &'static str,
    /// Below the home.
    file: &'static str,
    /// The way to one entry.
    entry: &'static str,
    keys: &'static [&'static str],
    /// Its key and how many of its units are a second.
    timeout: Option<(&'static str, u32)>,
}

const WIRED: &[Wired] = &[
    Wired {
        agent: "codex",
        file: ".codex/hooks.json",
        entry: "/hooks/PreToolUse/0/hooks/0",
        keys: &["type", "command", "timeout"],
        timeout: Some(("timeout", 1)),
    },
    Wired {
        agent: "gemini",
        file: ".gemini/settings.json",
        entry: "/hooks/BeforeTool/0/hooks/0",
        keys: &["type", "name", "command", "timeout"],
        timeout: Some(("timeout", 1000)),
    },
    Wired {
        agent: "qwen",
        file: ".qwen/settings.json",
        entry: "/hooks/PreToolUse/0/hooks/0",
        keys: &["type", "name", "command", "timeout"],
        timeout: Some(("timeout", 1000)),
    },
    Wired {
        agent: "droid",
        file: ".factory/hooks.json",
        entry: "/PreToolUse/0/hooks/0",
        keys: &["type", "command", "timeout"],
        timeout: Some(("timeout", 1)),
    },
    Wired {
        agent: "cursor",
        file: ".cursor/hooks.json",
        entry: "/hooks/preToolUse/0",
        keys: &["command", "timeout"],
        timeout: Some(("timeout", 1)),
    },
    Wired {
        agent: "copilot",
        file: ".copilot/hooks/hookctl.json",
        entry: "/hooks/PreToolUse/0",
        keys: &["type", "command", "timeoutSec"],
        timeout: Some(("timeoutSec", 1)),
    },
    Wired {
        agent: "windsurf",
        file: ".codeium/windsurf/hooks.json",
        entry: "/hooks/pre_run_command/0",
        keys: &["command", "show_output"],
        timeout: None,
    },
    Wired {
        agent: "cline-fork",
        file: ".cline/hooks.json",
        entry: "/hooks/PreToolUse/0/hooks/0",
        keys: &["type", "command", "timeout"],
        timeout: Some(("timeout", 1)),
    },
    Wired {
        agent: "vscode",
        file: ".copilot/hooks/hookctl.json",
        entry: "/hooks/PreToolUse/0",
        keys: &["type", "command", "timeoutSec"],
        timeout: Some(("timeoutSec", 1)),
    },
];

#[test]
fn s3_18_each_agent_gets_entries_in_its_own_form() {
    for Wired { agent, file, entry, keys, timeout } in WIRED {
        let world = World::new();
        world.ok(&["install", "--agent", agent]);
        assert_eq!(world.home_files(), [*file], "{agent}");
        let settings = world.json(&world.home().join(file));
        let entry = settings.pointer(entry).unwrap_or_else(|| panic!("{agent}: {settings:#}"));
        let has: Vec<&str> = entry.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(has, *keys, "{agent}");
        let line = match &entry["command"] {
            Value::String(line) => line.clone(),
            list => {
                let words = list.as_array().unwrap().iter().map(|word| word.as_str().unwrap());
                words.collect::<Vec<_>>().join(" ")
            }
        };
        let program = hookctl::files::real_path(Path::new(BIN)).unwrap().display().to_string();
        assert!(line.starts_with(&format!("{program} hook --agent {agent} --event ")), "{line}");
        assert!(line.contains(" --config /") && line.contains(" --state /"), "{line}");
        if let Some((key, unit)) = timeout {
            let seconds: u64 = line.rsplit_once("--timeout ").unwrap().1.parse().unwrap();
            assert_eq!(entry[key], seconds * u64::from(*unit), "{agent}");
        }
        let text = fs::read_to_string(world.home().join(file)).unwrap();
        assert!(world.ok(&["install", "--agent", agent]).out.starts_with("Already installed"));
        assert_eq!(fs::read_to_string(world.home().join(file)).unwrap(), text);
        world.ok(&["uninstall"]);
        assert!(world.home_files().is_empty(), "{agent}: {:?}", world.home_files());
    }
}

#[test]
fn s3_19_s3_61_scripts_and_plugins_are_whole_files() {
    let world = World::new();
    world.ok(&["install", "--agent", "cline,opencode"]);
    let script = world.home().join("Documents/Cline/Hooks/PreToolUse");
    let text = fs::read_to_string(&script).unwrap();
    assert!(text.starts_with("#!/bin/sh\n# managed-by: hookctl"), "{text}");
    assert!(text.contains("/hookctl hook --agent cline --event PreToolUse "), "{text}");
    assert_eq!(fs::metadata(&script).unwrap().permissions().mode() & 0o111, 0o111);
    let plugin = world.home().join(".config/opencode/plugins/hookctl.js");
    let text = fs::read_to_string(&plugin).unwrap();
    let line = text.lines().find_map(|line| line.strip_prefix("const COMMAND = ")).unwrap();
    let command: Vec<String> = serde_json::from_str(line).unwrap();
    assert_eq!(command[1..4], ["hook", "--agent", "opencode"]);
    assert!(command.contains(&"--state".to_string()));
    assert_eq!(world.status().0, 0);
    world.ok(&["uninstall"]);
    assert!(world.home_files().is_empty(), "{:?}", world.home_files());
    assert!(!world.home().join("Documents").exists());
}

#[test]
fn what_others_have_in_the_place_of_a_file_of_ours_stays() {
    for (agent, file) in [
        ("cline", "Documents/Cline/Hooks/PreToolUse"),
        ("opencode", ".config/opencode/plugins/hookctl.js"),
        ("copilot", ".copilot/hooks/hookctl.json"),
    ] {
        let world = World::new();
        let theirs = "{\"version\": 1, \"hooks\": {}}";
        world.put(&world.home().join(file), theirs);
        let done = world.run(&["install", "--agent", agent]);
        assert_eq!(done.code, 2, "{agent}: {}", done.out);
        assert!(done.err.contains("is not hookctl's"), "{}", done.err);
        world.ok(&["uninstall", "--agent", agent]);
        assert_eq!(world.home_files(), [file], "nothing was written before the refusal");
        assert_eq!(fs::read_to_string(world.home().join(file)).unwrap(), theirs);
    }
}

#[test]
fn s3_17_without_a_name_only_one_agent_is_meant() {
    let world = World::new();
    fs::create_dir_all(world.home().join(".cursor")).unwrap();
    let path = world.with_program("codex");
    let with =
        |args: &[&str]| -> Done { world.command(args).env("PATH", &path).output().unwrap().into() };
    let done = with(&["install"]);
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(
        done.err.contains("--agent cursor,codex") && done.err.contains("--all"),
        "{}",
        done.err
    );
    assert!(world.home_files().is_empty());

    // One that cannot be done keeps no other from being.
    world.put(&world.home().join(".cursor/hooks.json"), "// broken");
    let done = with(&["install", "--all"]);
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(done.err.contains("Cursor") && done.out.contains("Codex CLI"), "{}", done.err);
    assert!(world.home().join(".codex/hooks.json").exists());
    assert_eq!(with(&["install", "--agent", "nobody"]).code, 2);

    let report: Value = serde_json::from_str(&with(&["status", "--json", "--verify"]).out).unwrap();
    let rows = report["agents"].as_array().unwrap();
    let row = |id: &str| rows.iter().find(|row| row["agent"] == id).unwrap();
    assert_eq!(row("codex")["version"], "1.2.3");
    assert_eq!(row("codex")["scopes"], json!(["user"]));
    assert_eq!(row("codex")["in_effect"], false);
    assert!(row("codex")["problems"].to_string().contains("not approved"), "{rows:#?}");
    assert_eq!(row("cursor")["in_effect"], false);
    assert_eq!(row("cursor")["files"], json!([]));

    // What is guarded stands at the head, and no other agent does.
    let head = |out: &str| out.lines().next().unwrap_or_default().to_string();
    let alone = World::new();
    alone.ok(&["install", "--agent", "gemini"]);
    let told = head(&alone.ok(&["status"]).out);
    assert!(told.contains("in effect for Gemini CLI (hookctl"), "{told}");

    let named = alone.ok(&["agents", "gemini", "codex", "--json"]).out;
    let named: Value = serde_json::from_str(&named).unwrap();
    let ids: Vec<&Value> = named.as_array().unwrap().iter().map(|one| &one["agent"]).collect();
    assert_eq!(ids, ["gemini", "codex"]);
    let unknown = alone.run(&["agents", "gemin"]);
    assert_eq!(unknown.code, 2, "{}", unknown.out);
    assert!(unknown.err.contains("did you mean `gemini`?"), "{}", unknown.err);
}

#[test]
fn consent_is_given_by_humans_and_taken_back() {
    let world = World::new();
    let config = world.home().join(".codex/config.toml");
    let before = "# mine\nmodel = \"x\"\n\n[features]\napps = false";
    world.put(&config, before);
    let done = world.ok(&["install", "--agent", "codex"]);
    assert!(done.out.contains("NOT yet in effect") && done.out.contains("--trust"), "{}", done.out);
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
    let asked: Done = world
        .command(&["install", "--agent", "codex", "--trust"])
        .env("CODEX_THREAD_ID", "x")
        .output()
        .unwrap()
        .into();
    assert_eq!(asked.code, 1, "{}", asked.err);
    assert_eq!(fs::read_to_string(&config).unwrap(), before);

    let done = world.ok(&["install", "--agent", "codex", "--trust"]);
    assert!(done.out.contains("Approved in your name"), "{}", done.out);
    let text = fs::read_to_string(&config).unwrap();
    assert!(text.starts_with(before), "{text}");
    let hooks = world.home().join(".codex/hooks.json");
    let key =
        format!("[hooks.state.\"{}:pre_tool_use:0:0\"]\ntrusted_hash = \"sha256:", hooks.display());
    assert!(text.contains(&key), "{text}");
    assert_eq!(world.status().0, 0, "{}", world.run(&["status"]).out);
    world.ok(&["install", "--agent", "codex", "--trust"]);
    assert_eq!(fs::read_to_string(&config).unwrap(), text);
    world.ok(&["uninstall"]);
    assert_eq!(fs::read_to_string(&config).unwrap(), before);
    assert!(!hooks.exists());

    // What was written meanwhile stays.
    world.ok(&["install", "--agent", "codex", "--trust"]);
    let more = format!("{}[more]\na = 1\n", fs::read_to_string(&config).unwrap());
    world.put(&config, &more);
    world.ok(&["uninstall"]);
    assert_eq!(fs::read_to_string(&config).unwrap(), format!("{before}\n[more]\na = 1\n"));
}

#[test]
fn an_agent_that_reads_anothers_hooks_is_not_told_twice() {
    let world = World::new();
    world.ok(&["install"]);
    let done = world.ok(&["install", "--agent", "vscode"]);
    assert!(done.out.contains("reads the hooks of Claude Code"), "{}", done.out);
    assert_eq!(world.home_files(), [".claude/settings.json"]);
    world.ok(&["install", "--scope", "project", "--also"]);
    let done = world.ok(&["install", "--agent", "cursor"]);
    assert!(done.err.contains("judged twice"), "{}", done.err);
}

#[test]
fn of_two_agents_that_share_a_file_each_ones_entries_go_alone() {
    for (has, named, title) in
        [("copilot", "vscode", "GitHub Copilot CLI"), ("vscode", "copilot", "VS Code")]
    {
        for scope in ["user", "project"] {
            let world = World::new();
            world.ok(&["install", "--agent", has, "--scope", scope]);
            let file = match scope {
                "user" => world.home().join(".copilot/hooks/hookctl.json"),
                _ => world.project().join(".github/hooks/hookctl.json"),
            };
            let before = fs::read_to_string(&file).unwrap();
            let done = world.ok(&["uninstall", "--agent", named, "--scope", scope]);
            assert_eq!(fs::read_to_string(&file).unwrap(), before, "{has} {named} {scope}");
            assert!(done.err.contains(&format!("are those of {title}: they stay")), "{}", done.err);
            assert!(done.err.contains("its calls are judged by them"), "{}", done.err);
            assert!(!done.out.contains("Nothing of hookctl"), "{}", done.out);
            // Events are switched where the entries are.
            let done = world.run(&["events", "disable", "PreToolUse", "--agent", named]);
            assert_eq!(done.code, 2, "{}", done.out);
            assert!(done.err.contains(&format!("hookctl events --agent {has}")), "{}", done.err);
            let done = world.ok(&["uninstall", "--agent", has, "--scope", scope]);
            assert!(!file.exists(), "{}", done.out);
            let mend = format!("nothing guards it now: `hookctl install --agent {named}`");
            assert!(done.err.contains(&mend), "{}", done.err);
        }
        // Both are named, or none: all go.
        for args in [&["uninstall", "--agent", "vscode,copilot"][..], &["uninstall"]] {
            let world = World::new();
            world.ok(&["install", "--agent", has]);
            let done = world.ok(args);
            assert!(world.home_files().is_empty(), "{}", done.out);
            assert!(!done.err.contains("guards it now"), "{}", done.err);
        }
    }
}

#[test]
fn in_one_file_the_entries_of_one_agent_serve_both() {
    for scope in ["user", "project"] {
        for more in [&[][..], &["--also"]] {
            let world = World::new();
            world.ok(&["install", "--agent", "copilot", "--scope", scope]);
            let file = match scope {
                "user" => world.home().join(".copilot/hooks/hookctl.json"),
                _ => world.project().join(".github/hooks/hookctl.json"),
            };
            let before = fs::read_to_string(&file).unwrap();
            let args = [&["install", "--agent", "vscode", "--scope", scope], more].concat();
            let done = world.ok(&args);
            assert!(done.out.contains("reads the hooks of GitHub Copilot CLI"), "{}", done.out);
            assert_eq!(fs::read_to_string(&file).unwrap(), before, "{scope}");
        }
        // In whatever order they are named.
        for named in ["vscode,copilot", "copilot,vscode"] {
            let world = World::new();
            let args = ["install", "--agent", named, "--scope", scope, "--json"];
            let done: Value = serde_json::from_str(&world.ok(&args).out).unwrap();
            let outcome = |id: &str| {
                let rows = done["agents"].as_array().unwrap();
                rows.iter().find(|row| row["agent"] == id).unwrap()["outcome"].clone()
            };
            assert_eq!(outcome("copilot"), "installed", "{done:#}");
            assert_eq!(outcome("vscode"), "through", "{done:#}");
        }
        // Those that serve more take the place of those that serve one, and it is said.
        let world = World::new();
        world.ok(&["install", "--agent", "vscode", "--scope", scope]);
        let done = world.ok(&["install", "--agent", "copilot", "--scope", scope]);
        assert!(done.err.contains("VS Code reads this file as well"), "{}", done.err);
    }
}

#[test]
fn the_installer_ends_with_the_word_of_status() {
    for (settings, guarded) in [
        (None, true),
        (Some(r#"{"disableAllHooks": true}"#), false),
        // Claude Code drops the whole file for this entry of somebody else.
        (Some(r#"{"hooks":{"PreToolUse":[{"matcher":"x"}]}}"#), false),
    ] {
        let world = World::new();
        // As an archive that was unpacked: the program lies beside the script.
        let unpacked = world.root().join("unpacked");
        fs::create_dir(&unpacked).unwrap();
        fs::copy(concat!(env!("CARGO_MANIFEST_DIR"), "/install.sh"), unpacked.join("install.sh"))
            .unwrap();
        symlink(BIN, unpacked.join("hookctl")).unwrap();
        if let Some(text) = settings {
            world.put(&world.user(), text);
        }
        let mut command = world.command_of(Path::new("/bin/sh"), &[]);
        command.arg(unpacked.join("install.sh")).stdin(std::process::Stdio::null());
        let done: Done = command.output().unwrap().into();
        assert_eq!(done.code, if guarded { 0 } else { 1 }, "{}\n{}", done.out, done.err);
        assert_eq!(done.out.contains("is on guard"), guarded, "{}", done.out);
        assert_eq!(done.err.contains("NOT on guard yet"), !guarded, "{}", done.err);
        assert_eq!(done.out.contains("NOT in effect"), !guarded, "{}", done.out);
        let status = world.command_of(&world.home().join(".local/bin/hookctl"), &["status"]);
        assert_eq!({ status }.output().unwrap().status.success(), guarded, "{settings:?}");
    }
}

#[test]
fn no_double_slash_comes_into_the_settings_of_an_agent_that_cuts_them() {
    let world = World::new();
    let done = world.run(&["install", "--agent", "cursor", "--server-url", "http://127.0.0.1:9/x"]);
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(done.err.contains("~/.config/hookctl/server.json"), "{}", done.err);
    assert!(world.home_files().is_empty(), "{:?}", world.home_files());
    // Others have it there.
    world.ok(&["install", "--agent", "gemini", "--server-url", "http://127.0.0.1:9/x"]);
    // A home with one in it is the same home without.
    let world = World::new();
    let home = format!("{}//home/", world.root().display());
    let mut command = world.command(&["install", "--agent", "cursor"]);
    let done: Done = command.env("HOME", home).output().unwrap().into();
    assert_eq!(done.code, 0, "{}", done.err);
    let text = fs::read_to_string(world.home().join(".cursor/hooks.json")).unwrap();
    assert!(!text.contains("//") && text.contains("/home/.config/hookctl"), "{text}");
    assert!(world.ok(&["install", "--agent", "cursor"]).out.starts_with("Already"), "the same");
}

#[test]
fn what_install_put_at_the_top_of_a_file_goes_with_its_entries() {
    for (before, after) in [
        ("{\"hooks\":{}}", "{\"hooks\":{}}"),
        ("{\"hooks\":{\"stop\":[]}}", "{\"hooks\":{\"stop\":[]}}"),
        ("{\"version\":1,\"hooks\":{}}", "{\"version\":1,\"hooks\":{}}"),
        // Those of others want it.
        (
            "{\"hooks\":{\"stop\":[{\"command\":\"x\"}]}}",
            "{\"hooks\":{\"stop\":[{\"command\":\"x\"}]},\"version\":1}",
        ),
    ] {
        let world = World::new();
        let file = world.home().join(".cursor/hooks.json");
        world.put(&file, before);
        world.ok(&["install", "--agent", "cursor"]);
        // Somebody writes to it meanwhile.
        let text = fs::read_to_string(&file).unwrap();
        world.put(&file, &format!("{text}\n"));
        world.ok(&["uninstall", "--agent", "cursor"]);
        let now = fs::read_to_string(&file).unwrap();
        assert_eq!(now.replace([' ', '\n'], ""), after, "{before}");
    }
}

#[test]
fn only_files_that_are_there_are_counted() {
    let world = World::new();
    let told: Value =
        serde_json::from_str(&world.ok(&["install", "--agent", "cline", "--json"]).out).unwrap();
    let files = told["agents"][0]["files"].as_array().unwrap();
    let dir = world.home().join("Documents/Cline/Hooks");
    let there = fs::read_dir(&dir).unwrap().count();
    assert_eq!(files.len(), there, "{told:#}");
    let said = format!("({there} files)");
    assert!(world.ok(&["install", "--agent", "cline"]).out.contains(&said));
    assert!(world.ok(&["events", "--agent", "cline"]).out.contains(&said));
}

#[test]
fn a_plugin_tells_of_the_events_that_are_asked_for() {
    let world = World::new();
    world.ok(&["install", "--agent", "opencode"]);
    world.ok(&["install", "--agent", "opencode", "--events", "PreToolUse,Stop"]);
    let states = |world: &World| -> Vec<String> {
        let told: Value =
            serde_json::from_str(&world.ok(&["events", "--json", "--agent", "opencode"]).out)
                .unwrap();
        let on = told["agents"][0]["events"].as_array().unwrap().iter();
        let on = on.filter(|event| event["state"] == "on");
        on.map(|event| event["name"].as_str().unwrap().to_string()).collect()
    };
    assert_eq!(states(&world), ["PreToolUse", "Stop"]);
    world.ok(&["install", "--agent", "opencode"]);
    assert!(states(&world).len() > 2);
    world.ok(&["uninstall"]);
    assert!(world.home_files().is_empty());
}

#[test]
fn a_directory_that_is_gone_is_told_with_what_to_do() {
    let world = World::new();
    let gone = world.root().join("gone");
    fs::create_dir(&gone).unwrap();
    let mut command = world.command_of(Path::new("/bin/sh"), &[]);
    command.args(["-c", "rmdir \"$PWD\" && exec \"$0\" status", BIN]).current_dir(&gone);
    let done: Done = command.output().unwrap().into();
    assert_eq!(done.code, 2);
    assert!(done.err.contains("`cd` to one that is there"), "{}", done.err);
}

#[test]
fn s3_17_the_agents_are_listed_with_what_they_can() {
    let world = World::new();
    let all: Value = serde_json::from_str(&world.ok(&["agents", "--json"]).out).unwrap();
    let all = all.as_array().unwrap();
    assert_eq!(all.len(), hookctl::agent::AGENTS.len());
    for one in all {
        assert!(!one["events"].as_array().unwrap().is_empty(), "{one:#}");
        assert!(!one["settings"].as_array().unwrap().is_empty(), "{one:#}");
    }
    assert!(world.ok(&["agents"]).out.contains("pre_run_command"));
}

#[test]
fn s3_05_s3_06_s3_07_s3_61_bridges_of_other_agents() {
    for (agent, file, mark) in [
        ("gemini", ".gemini/settings.json", "\"timeout\": 30000"),
        ("droid", ".factory/hooks.json", "\"timeout\": 30"),
        ("cline", ".cline/hooks.json", "\"matcher\": \"*\""),
        ("opencode", ".config/opencode/plugins/hookctl-bridge.js", "managed-by: hookctl"),
    ] {
        let world = World::new();
        let hook = format!("{agent}-hook");
        assert_eq!(world.run(&[&hook, "--status"]).code, 1);
        let done = world.ok(&[&hook, "--enable", "--port", "3050"]);
        assert!(done.out.starts_with(&format!("{agent} hooks: enabled (")), "{}", done.out);
        assert_eq!(world.home_files(), [file]);
        let text = fs::read_to_string(world.home().join(file)).unwrap();
        assert!(text.contains(mark) && text.contains(&hook) && text.contains("3050"), "{text}");
        world.ok(&[&hook, "--status"]);
        let all: Value = serde_json::from_str(&world.ok(&["all", "status", "--json"]).out).unwrap();
        let on = all.as_array().unwrap().iter().filter(|one| one["hookCount"] != 0);
        assert_eq!(on.map(|one| one["agent"].clone()).collect::<Vec<_>>(), [agent]);
        world.ok(&[&hook, "--disable"]);
        assert!(world.home_files().is_empty(), "{:?}", world.home_files());
        world.ok(&[&hook, "--enable"]);
        world.ok(&["uninstall"]);
        assert!(world.home_files().is_empty(), "{:?}", world.home_files());
    }
}

/// Entries of type `prompt` (a model judges) and the like are nobody's command.
#[test]
fn hooks_that_run_no_command_are_told_and_left_alone() {
    let world = World::new();
    let before = json!({"hooks": {
        "Stop": [{"hooks": [
            {"type": "prompt", "prompt": "Is all done? $ARGUMENTS"},
            {"type": "command", "command": "/opt/g"},
        ]}],
        "PreToolUse": [{"matcher": "Bash", "hooks": [
            {"type": "prompt", "prompt": "Is it safe?", "command": "npx @principal-ai/agent-hooks claude-hook"},
            {"type": "agent", "prompt": "look"},
        ]}],
    }});
    let text = serde_json::to_string_pretty(&before).unwrap();
    world.put(&world.user(), &text);
    let done = world.ok(&["install", "--replace"]);
    assert!(!done.out.contains("replaces"), "{}", done.out);
    let after = world.json(&world.user());
    for event in ["Stop", "PreToolUse"] {
        assert_eq!(after["hooks"][event][0], before["hooks"][event][0]);
        assert_eq!(entries(&after, event).len(), 3);
    }
    let note = "left alone: Stop (prompt), PreToolUse (prompt), PreToolUse (agent)";
    assert!(world.ok(&["status"]).out.contains(note), "{}", world.ok(&["status"]).out);
    let sorts = world.user_status()["other_hooks"].clone();
    assert_eq!(sorts[0], json!({"event": "Stop", "type": "prompt"}));
    assert_eq!(sorts.as_array().unwrap().len(), 3);
    let (_, report) = world.status();
    assert!(!report["guards"].to_string().contains("agent-hooks"), "{report:#}");
    world.ok(&["uninstall"]);
    assert_eq!(fs::read_to_string(world.user()).unwrap(), text);
}

#[test]
fn s3_52_hooks_of_claude_code_are_taken_to_cline() {
    let world = World::new();
    let settings = json!({"hooks": {
        "PreToolUse": [
            {"matcher": "Agent|Bash", "hooks": [
                {"type": "command", "command": "/x/guard.sh --strict", "timeout": 90},
                {"type": "http", "url": "https://x.org"},
            ]},
            {"hooks": [{"type": "command", "command": "echo \"$HOME\""}]},
        ],
        "ConfigChange": [{"hooks": [{"type": "command", "command": "x"}]}],
    }});
    world.put(&world.user(), &settings.to_string());
    world.ok(&["install"]);
    let dry = world.ok(&["migrate", "claude", "cline", "--dry-run"]);
    assert!(dry.out.contains("+++ ") && !world.home().join(".cline").exists(), "{}", dry.out);
    let told = world.ok(&["migrate", "claude", "cline", "--dry-run", "--json"]).out;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert!(told["files"][0]["diff"].as_str().unwrap().contains("+++ "), "{told:#}");
    assert!(told["messages"].to_string().contains("ConfigChange"), "{told:#}");
    let done = world.ok(&["migrate", "claude", "cline"]);
    for note in ["type \"http\"", "ConfigChange", "became `Task|Bash`", "60 s", "own entry"] {
        assert!(done.out.contains(note), "{note}: {}", done.out);
    }
    let file = world.home().join(".cline/hooks.json");
    let wanted = json!({"hooks": {"PreToolUse": [
        {"matcher": "Task|Bash", "hooks": [
            {"type": "command", "command": ["/x/guard.sh", "--strict"], "timeout": 90},
        ]},
        {"matcher": "*", "hooks": [
            {"type": "command", "command": ["/bin/sh", "-c", "echo \"$HOME\""]},
        ]},
    ]}});
    assert_eq!(world.json(&file), wanted);
    assert!(world.ok(&["migrate", "claude", "cline"]).out.contains("Nothing to take"));
    assert_eq!(world.json(&file), wanted);
    let wrong = world.run(&["migrate", "cline", "claude", "--json"]);
    let told: Value = serde_json::from_str(&wrong.out).unwrap();
    assert_eq!((wrong.code, &told["ok"], wrong.err.as_str()), (2, &json!(false), ""));
}

/// Homebrew, Scoop and mise keep each version in a directory of its own, which goes with the next upgrade.
#[test]
fn entries_name_a_program_where_the_next_version_will_be() {
    for (version, link) in [
        ("brew/Cellar/hookctl/0.1.0", "brew/opt/hookctl"),
        ("scoop/apps/hookctl/0.1.0", "scoop/apps/hookctl/current"),
        ("mise/installs/hookctl/0.1.0", "mise/installs/hookctl/latest"),
    ] {
        let world = World::new();
        let (version, link) = (world.root().join(version), world.root().join(link));
        let registered = |program: &Path| {
            assert!(world.command_of(program, &["install"]).output().unwrap().status.success());
            let settings = world.json(&world.user());
            PathBuf::from(entries(&settings, "PreToolUse")[0]["command"].as_str().unwrap())
        };
        let program = version.join("bin/hookctl");
        copy(Path::new(BIN), &program);
        // No such name, and one of another version.
        assert_eq!(registered(&program), program);
        let other = version.with_file_name("0.0.9");
        copy(Path::new(BIN), &other.join("bin/hookctl"));
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(&other, &link).unwrap();
        assert_eq!(registered(&program), program);
        fs::remove_file(&link).unwrap();
        symlink(&version, &link).unwrap();
        assert_eq!(registered(&program), link.join("bin/hookctl"));
        // The next version: nothing is to be done.
        let before = fs::read(world.user()).unwrap();
        let next = version.with_file_name("0.2.0");
        fs::rename(&version, &next).unwrap();
        fs::remove_file(&link).unwrap();
        symlink(&next, &link).unwrap();
        let verify = world.command_of(&link.join("bin/hookctl"), &["status", "--verify"]);
        let done = Done::from({ verify }.output().unwrap());
        assert_eq!(done.code, 0, "{}", done.out);
        assert_eq!(registered(&next.join("bin/hookctl")), link.join("bin/hookctl"));
        assert_eq!(fs::read(world.user()).unwrap(), before);
    }
}
