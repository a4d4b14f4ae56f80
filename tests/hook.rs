//! The hook path as agents spawn it: whole processes, from stdin to exit status.

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

mod home;

struct Home {
    dir: tempfile::TempDir,
}

impl Home {
    fn new(rules: &str) -> Home {
        Home { dir: home::make(rules) }
    }

    fn path(&self) -> &Path {
        self.dir.path()
    }

    fn command(&self, args: &[&str]) -> Command {
        home::command(self.path(), args)
    }

    fn run(&self, args: &[&str], stdin: &[u8]) -> Output {
        let mut child = home::system::start(&mut self.command(args));
        // A hook that does not read is no failure of ours.
        let _ = child.stdin.take().unwrap().write_all(stdin);
        child.wait_with_output().unwrap()
    }

    fn hook(&self, payload: &Value) -> Output {
        self.run(&["hook"], payload.to_string().as_bytes())
    }

    fn journal(&self) -> String {
        fs::read_to_string(self.path().join(".local/state/hookctl/journal.jsonl"))
            .unwrap_or_default()
    }
}

/// The laws of every answer: exit 0 or 2, one JSON object or nothing on stdout (PreCompact's text
/// aside), no panic text.
fn assert_lawful(output: &Output, text_allowed: bool, what: &str) {
    let code = output.status.code();
    assert!(matches!(code, Some(0 | 2)), "{what}: exit {code:?}");
    let stdout = String::from_utf8(output.stdout.clone()).expect(what);
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(!stdout.contains("panicked") && !stderr.contains("panicked"), "{what}: {stderr}");
    if !stdout.is_empty() && !text_allowed {
        let value: Value = serde_json::from_str(stdout.trim_end())
            .unwrap_or_else(|error| panic!("{what}: {error}: {stdout}"));
        assert!(value.is_object(), "{what}: {stdout}");
        assert!(!stdout.contains(":null"), "{what}: {stdout}");
        if let Some(named) = value.pointer("/hookSpecificOutput/hookEventName") {
            assert!(named.is_string(), "{what}");
        }
    }
}

fn payloads() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> = ["tests/payloads/claude", "tests/payloads/claude-handwritten"]
        .iter()
        .flat_map(|dir| fs::read_dir(dir).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "json"))
        .collect();
    files.sort();
    assert!(files.len() > 100, "{}", files.len());
    files
}

const MANY_VERBS: &str = r#"
[rule.everything]
on = "*"
context = "context for every event"
notify = "a word to the human"
[rule.deny]
on = ["PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop", "PostToolUse"]
deny = "no"
"#;

#[test]
fn sx_02_s3_02_every_payload_is_answered_lawfully() {
    let silent = Home::new("");
    let loud = Home::new(MANY_VERBS);
    for path in payloads() {
        let bytes = fs::read(&path).unwrap();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let text = name.starts_with("PreCompact");
        for home in [&silent, &loud] {
            let output = home.run(&["hook", "--agent", "claude"], &bytes);
            assert_lawful(&output, text, &name);
            if !text && let Ok(answer) = serde_json::from_slice::<Value>(&output.stdout) {
                let event = name.split(['-', '.']).next().unwrap();
                if let Some(named) = answer.pointer("/hookSpecificOutput/hookEventName") {
                    assert_eq!(named, event, "{name}");
                }
            }
        }
        if name.starts_with("WorktreeCreate") {
            assert!(loud.run(&["hook"], &bytes).stdout.is_empty(), "stdout is a path there");
        }
    }
}

#[test]
fn s4_16_s4_18_a_thousand_bad_inputs_end_with_0_or_2() {
    let home = Home::new(MANY_VERBS);
    let files = payloads();
    let mut count = 0;
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move |below: usize| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state % below.max(1) as u64) as usize
    };
    for round in 0..10 {
        for path in &files {
            let bytes = fs::read(path).unwrap();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let bad = spoil(&bytes, round, &mut random);
            let event = name.split(['-', '.']).next().unwrap();
            let named = round % 2 == 0;
            let args: &[&str] = if named { &["hook", "--event", event] } else { &["hook"] };
            let output = home.run(args, &bad);
            assert_lawful(
                &output,
                name.starts_with("PreCompact"),
                &format!("{name} round {round}"),
            );
            count += 1;
        }
    }
    assert!(count >= 1000, "{count}");
}

/// One way of spoiling a payload for each round.
fn spoil(bytes: &[u8], round: usize, random: &mut impl FnMut(usize) -> usize) -> Vec<u8> {
    let mut value: Value = serde_json::from_slice(bytes).unwrap_or(json!({}));
    let pick = |value: &Value, at: usize| {
        value.as_object().and_then(|map| map.keys().nth(at % map.len().max(1)).cloned())
    };
    match round {
        // Cut anywhere.
        0 | 1 => bytes[..random(bytes.len())].to_vec(),
        // Another type in place of a field.
        2 | 3 => {
            let wrong =
                [json!(null), json!(7), json!([]), json!({"a": []}), json!(true), json!("x")];
            if let Some(key) = pick(&value, random(64)) {
                value[key] = wrong[random(wrong.len())].clone();
            }
            if let Some(input) = value.get_mut("tool_input")
                && let Some(key) = pick(input, random(8))
            {
                input[key] = wrong[random(wrong.len())].clone();
            }
            value.to_string().into_bytes()
        }
        // Nested past every limit.
        4 => {
            let depth = 200 + random(20_000);
            let deep = format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
            format!("{{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{deep}}}")
                .into_bytes()
        }
        // A huge string.
        5 => {
            value["tool_input"] = json!({"command": "x".repeat(200_000 + random(200_000))});
            value.to_string().into_bytes()
        }
        // NULs and control characters.
        6 => {
            value["cwd"] = json!("/a\0b");
            value["tool_input"] =
                json!({"command": "cat \0 \u{1}", "file_path": "/x\0y", "url": "http://\0"});
            value.to_string().into_bytes()
        }
        // Bytes flipped.
        7 => {
            let mut bytes = bytes.to_vec();
            for _ in 0..8 {
                let at = random(bytes.len());
                bytes[at] = random(256) as u8;
            }
            bytes
        }
        // Twice, and with rubbish around.
        8 => [bytes, b"\n{}", bytes].concat(),
        // Not an object.
        _ => {
            let rubbish: [&[u8]; 6] = [b"", b"null", b"[]", b"\"x\"", b"\xff\xfe\x00", b"{"];
            rubbish[random(rubbish.len())].to_vec()
        }
    }
}

fn bash(command: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
           "tool_input": {"command": command}, "tool_use_id": "t", "cwd": "/tmp"})
}

fn read(path: &str) -> Value {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read",
           "tool_input": {"file_path": path}, "tool_use_id": "t", "cwd": "/tmp"})
}

#[test]
fn law_3_silence_when_no_rule_speaks() {
    let output = Home::new("").hook(&bash("ls"));
    assert!(output.stdout.is_empty() && output.stderr.is_empty() && output.status.success());
}

#[test]
fn s3_49_without_any_config_it_is_silent() {
    let dir = tempfile::tempdir().unwrap();
    let home = Home { dir };
    fs::create_dir_all(home.path().join("project")).unwrap();
    let output = home.hook(&bash("ls"));
    assert!(output.stdout.is_empty() && output.status.success());
}

#[test]
fn plain_hookctl_with_a_pipe_is_the_hook() {
    let home = Home::new("[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n");
    let output = home.run(&[], read("/x").to_string().as_bytes());
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""));
}

#[test]
fn s4_03_the_event_by_flag() {
    let home = Home::new("[rule.no]\ntool = \"Write\"\ndeny = \"no\"\n");
    let bare = br#"{"tool_name":"Write","tool_input":{"file_path":"/x","content":""}}"#;
    let output = home.run(&["hook", "--event", "PreToolUse"], bare);
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"PreToolUse\""));
}

#[test]
fn an_event_with_a_new_name_is_the_one_that_was_registered() {
    let home = Home::new("");
    let input = json!({ "command": "rm -rf ~" });
    let usual = |name: &str, tool: &str| {
        json!({ "hook_event_name": name, "session_id": "s", "cwd": "/tmp", "tool_name": tool,
            "tool_input": input })
    };
    let mut opencode = usual("PreToolUseV2", "bash");
    opencode["agent"] = "opencode".into();
    let cursor = json!({ "hook_event_name": "Foo", "cursor_version": "2", "conversation_id": "s",
        "workspace_roots": ["/tmp"], "command": "rm -rf ~", "cwd": "/tmp" });
    let windsurf = json!({ "agent_action_name": "pre_run_command_v2", "trajectory_id": "s",
        "tool_info": { "command_line": "rm -rf ~", "cwd": "/tmp" } });
    let old = json!({ "hookEventName": "PreToolUseV2", "sessionId": "s", "cwd": "/tmp",
        "tool_name": "run_in_terminal", "tool_input": input });
    for (agent, event, payload) in [
        ("opencode", "PreToolUse", opencode),
        ("cursor", "beforeShellExecution", cursor),
        ("windsurf", "pre_run_command", windsurf),
        ("vscode", "PreToolUse", old),
        ("claude", "PreToolUse", usual("PreToolUseV2", "Bash")),
        ("codex", "PreToolUse", usual("tool/before", "shell")),
        ("gemini", "BeforeTool", usual("OnTool", "run_shell_command")),
        ("droid", "PreToolUse", usual("Foo", "Execute")),
    ] {
        let args = ["hook", "--agent", agent, "--event", event];
        let output = home.run(&args, payload.to_string().as_bytes());
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let stopped =
            output.status.code() == Some(2) || text.contains("deny") || text.contains("block");
        assert!(stopped, "{agent}: {:?} {text}", output.status);
        assert!(
            home.journal().lines().last().unwrap().contains("\"decision\":\"deny\""),
            "{agent}"
        );
    }
    // One that is known is what the payload says that it is.
    let args = ["hook", "--agent", "claude", "--event", "PreToolUse"];
    home.run(&args, usual("PostToolUse", "Bash").to_string().as_bytes());
    assert!(home.journal().lines().last().unwrap().contains("\"event\":\"PostToolUse\""));
}

#[test]
fn sx_15_empty_broken_and_unknown_input() {
    let home = Home::new("");
    let empty = home.run(&["hook"], b"");
    assert!(empty.status.success() && empty.stdout.is_empty() && !empty.stderr.is_empty());
    let empty = home.run(&["hook", "--event", "PreToolUse"], b"");
    assert!(String::from_utf8_lossy(&empty.stdout).contains("\"ask\""));
    let garbage = home.run(&["hook"], b"garbage");
    assert_eq!(garbage.status.code(), Some(2));
    assert!(!garbage.stderr.is_empty());
    let cut = home.run(&["hook"], br#"{"hook_event_name":"PreToolUse","tool_input":{"#);
    assert!(String::from_utf8_lossy(&cut.stdout).contains("\"ask\""));
    let request = home.run(&["hook"], br#"{"hook_event_name":"PermissionRequest","tool_input":{"#);
    assert!(request.stdout.is_empty() && request.status.success());
    let unknown = home.run(&["hook"], br#"{"hook_event_name":"BrandNew","x":1}"#);
    assert!(unknown.stdout.is_empty() && unknown.status.success());
}

#[test]
fn sx_15_an_oversized_payload_is_drained_then_asked_about() {
    let home = Home::new("");
    let mut child = home.command(&["hook"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let writer = std::thread::spawn(move || {
        let start =
            br#"{"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":""#;
        stdin.write_all(start)?;
        let chunk = vec![b'x'; 1 << 20];
        for _ in 0..40 {
            stdin.write_all(&chunk)?;
        }
        stdin.write_all(br#""}}"#)
    });
    let output = child.wait_with_output().unwrap();
    assert!(writer.join().unwrap().is_ok(), "the agent's write must not fail");
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"ask\""), "{output:?}");
}

#[test]
fn sx_15_a_stdin_that_never_ends_is_answered_before_the_timeout() {
    let home = Home::new("[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n");
    let start = Instant::now();
    let mut child = home.command(&["hook", "--timeout", "5"]).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(read("/x").to_string().as_bytes()).unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    home::system::is_in_time(start, Duration::from_secs(5), "an answer before the timeout");
    assert!(out.contains("\"deny\""), "{out}");
    drop(stdin);
    child.wait().unwrap();
}

#[test]
fn s4_05_session_end_is_quick_and_prints_nothing() {
    let home = Home::new("");
    let start = Instant::now();
    let payload = json!({"hook_event_name": "SessionEnd", "reason": "other", "session_id": "s"});
    let output = home.run(&["hook", "--timeout", "5"], payload.to_string().as_bytes());
    home::system::is_in_time(start, Duration::from_millis(1500), "a session's end");
    assert!(output.stdout.is_empty() && output.status.success());
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn s4_05_session_end_is_quick_whatever_its_rules_run() {
    let rules = ["hook = \"sleep 20\"", "when = { run = \"sleep 20\" }\nnotify = \"x\""];
    let rules: Vec<String> = rules
        .iter()
        .enumerate()
        .map(|(at, key)| format!("[rule.r{at}]\non = \"SessionEnd\"\n{key}\n"))
        .collect();
    let home = Home::new(&rules.concat());
    let payload = json!({"hook_event_name": "SessionEnd", "reason": "other", "session_id": "s"});
    let start = Instant::now();
    let output = home.run(&["hook", "--timeout", "5"], payload.to_string().as_bytes());
    // The process ends 1.2 s after its start; starting it takes a moment on a busy machine.
    home::system::is_in_time(start, Duration::from_millis(2500), "a session's end with rules");
    assert!(output.status.success(), "{output:?}");
    assert!(home.journal().contains("the event's time was up"), "{}", home.journal());
}

/// Nobody waits for what runs at a session's end; it ends by itself, at the latest at its limit.
#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn s4_05_what_runs_at_a_sessions_end_is_not_waited_for() {
    let home = Home::new(
        "[rule.slow]\non = \"SessionEnd\"\nrun = \"sleep 1.5; cat > ../done\"\n\
         [rule.told]\non = \"SessionEnd\"\nnotify = { run = \"sleep 1.5; touch ../rang\" }\n\
         [rule.endless]\non = \"SessionEnd\"\nlimit = 1\nrun = \"touch ../began; sleep 3; touch ../never\"\n",
    );
    let payload = json!({"hook_event_name": "SessionEnd", "reason": "other", "session_id": "s"});
    let payload = payload.to_string();
    let start = Instant::now();
    let output = home.run(&["hook", "--timeout", "5"], payload.as_bytes());
    let in_time = home::system::is_in_time(start, Duration::from_secs(1), "nothing waited for");
    let there = |name: &str| home.path().join(name).exists();
    assert!(!in_time || !there("done") && !there("rang"));
    assert!(output.stdout.is_empty() && output.status.success(), "{output:?}");
    while !(there("done") && there("rang") && there("began")) {
        assert!(start.elapsed() < Duration::from_secs(20), "it never ended");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(Duration::from_millis(3_500).saturating_sub(start.elapsed()));
    assert!(!there("never"), "it outlived its limit");
    assert_eq!(fs::read_to_string(home.path().join("done")).unwrap(), payload);
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn law_5_a_command_of_a_rule_ends_before_the_deadline() {
    let home = Home::new("[rule.slow]\ntool = \"Read\"\nrun = \"sleep 20\"\ndeny = \"slow\"\n");
    let start = Instant::now();
    let output = home.run(&["hook", "--timeout", "5"], read("/x").to_string().as_bytes());
    home::system::is_in_time(start, Duration::from_secs(5), "an answer before the deadline");
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""));
}

#[test]
fn s3_41_debug_goes_to_stderr_never_to_stdout() {
    let home = Home::new("[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n");
    let output = home.run(&["hook", "--debug"], read("/x").to_string().as_bytes());
    assert_lawful(&output, false, "debug");
    assert!(String::from_utf8_lossy(&output.stderr).contains("\"decision\":\"deny\""));
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn sx_11_a_second_registration_repeats_no_side_effect() {
    let home = Home::new(
        "[rule.run]\ntool = \"Read\"\nrun = \"echo x >> ../count; sleep 0.3; false\"\ndeny = \"ran\"\n",
    );
    let mut payload = read("/x");
    payload["cwd"] = home.path().join("project").to_str().into();
    let payload = payload.to_string();
    let children: Vec<_> = (0..3)
        .map(|_| {
            let mut child = home.command(&["hook"]).spawn().unwrap();
            child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
            child
        })
        .collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""), "{output:?}");
    }
    assert_eq!(fs::read_to_string(home.path().join("count")).unwrap(), "x\n");
}

#[test]
fn sx_09_one_redacted_line_for_each_decision() {
    let home = Home::new("");
    home.hook(&bash("curl -H 'Authorization: Bearer abcdefgh12345678' https://x.org"));
    home.hook(&bash("ls"));
    let journal = home.journal();
    assert_eq!(journal.lines().count(), 2, "{journal}");
    assert!(!journal.contains("abcdefgh12345678"), "{journal}");
    for line in journal.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert!(line["ms"].is_number() && line["decision"].is_string(), "{line}");
    }
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn what_a_command_was_not_asked_is_in_the_journal() {
    let home = Home::new(
        "[rule.no]\neffect = \"delete\"\npath = \"./\"\nunless = { when = { run = \"test {path} != x\" } }\ndeny = \"no\"\n",
    );
    for (files, denied) in [(32, false), (33, true)] {
        let names: String = (0..files).map(|n| format!(" f{n}")).collect();
        let mut call = bash(&format!("rm{names}"));
        call["cwd"] = home.path().join("project").to_str().into();
        let output = home.hook(&call);
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(out.contains("\"deny\""), denied, "{files}: {out}");
        let journal = home.journal();
        assert_eq!(journal.contains("asked 32 questions"), denied, "{journal}");
    }
}

#[test]
fn the_journal_never_changes_a_decision() {
    let home = Home::new("[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n");
    let output = home.run(&["hook", "--state", "/proc/nowhere"], read("/x").to_string().as_bytes());
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""));
}

#[test]
fn xdg_variables_loosen_nothing() {
    let home = Home::new("[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n");
    let mut child = home
        .command(&["hook"])
        .env("XDG_CONFIG_HOME", "/nowhere")
        .env("XDG_STATE_HOME", "/nowhere")
        .env("HOOKCTL_DISABLE", "1")
        .env("HOOKCTL_CONFIG", "/nowhere")
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(read("/x").to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""));
}

#[cfg(unix)]
#[test]
fn a_file_that_others_can_write_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new("[rule.yes]\ntool = \"Read\"\nallow = \"yes\"\n");
    let file = home.path().join(".config/hookctl/config.toml");
    fs::set_permissions(&file, fs::Permissions::from_mode(0o666)).unwrap();
    let output = home.hook(&read("/x"));
    let out = String::from_utf8_lossy(&output.stdout);
    assert!(out.contains("\"ask\"") && out.contains("chmod go-w"), "{out}");
}

/// `$ARGUMENTS` is the payload, the others are what they are called: in texts as values, in scripts as variables, on
/// every event.
#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn s4_20_placeholders_of_prompts_in_texts_and_scripts() {
    let names = ["ARGUMENTS", "PROMPT", "TRANSCRIPT_PATH", "CLAUDE_PROJECT_DIR"];
    let text = names.map(|name| format!("{name}=<${name}>")).join(" ");
    // Not through the templates' own names: what the shell makes of them.
    let script = names.map(|name| format!("{name}=<${name}>")).join(" ");
    let rules = format!(
        "[rule.text]\non = [\"UserPromptSubmit\", \"SessionStart\"]\ncontext = \"TEXT {text}\"\n\
         [rule.script]\non = [\"UserPromptSubmit\", \"SessionStart\"]\n\
         context = {{ run = 'echo \"SCRIPT {script}\"' }}\n\
         [rule.reason]\ntool = \"Bash\"\ndeny = \"$TRANSCRIPT_PATH of $CLAUDE_PROJECT_DIR: $ARGUMENTS\"\n"
    );
    let home = Home::new(&rules);
    let project = hookctl::files::real_path(&home.path().join("project")).unwrap();
    fs::create_dir_all(project.join(".git")).unwrap();
    let project = project.to_str().unwrap();
    let transcript = "/t/$(touch x) 'é'.jsonl";
    for (name, own) in [
        ("UserPromptSubmit", json!({"prompt": "do `it` \"now\""})),
        ("SessionStart", json!({"source": "startup"})),
    ] {
        let mut payload = json!({"hook_event_name": name, "session_id": "s", "cwd": project,
            "transcript_path": transcript});
        payload.as_object_mut().unwrap().extend(own.as_object().unwrap().clone());
        let output = home.hook(&payload);
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        let context = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap();
        for which in ["TEXT", "SCRIPT"] {
            let line = context.lines().find(|line| line.starts_with(which)).expect(context);
            let value = |name: &str| {
                let start = line.find(&format!("{name}=<")).expect(line) + name.len() + 2;
                let rest = &line[start..];
                rest[..rest.find("> ").unwrap_or(rest.rfind('>').unwrap())].to_string()
            };
            let whole: Value = serde_json::from_str(&value("ARGUMENTS")).unwrap();
            assert_eq!(whole, payload, "{name} {which}");
            assert_eq!(value("TRANSCRIPT_PATH"), transcript, "{name} {which}");
            assert_eq!(value("CLAUDE_PROJECT_DIR"), project, "{name} {which}");
            if let Some(prompt) = own["prompt"].as_str() {
                assert_eq!(value("PROMPT"), prompt, "{name} {which}");
            }
        }
    }
    let mut call = bash("ls");
    call["transcript_path"] = "/t/x.jsonl".into();
    call["cwd"] = project.into();
    let output = home.hook(&call);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reason = told["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.starts_with(&format!("/t/x.jsonl of {project}: {{")), "{reason}");
    assert!(reason.contains("\"command\":\"ls\""), "{reason}");
    assert!(!home.path().join("project/x").exists(), "what a value says is not run");
}

/// What the client sets for its hooks reaches what rules run.
#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn s4_21_the_clients_variables_reach_commands_of_rules() {
    let rules = "[rule.env]\non = \"SessionStart\"\ncontext = { run = 'echo \"plugin=$CLAUDE_PLUGIN_ROOT \
                 remote=$CLAUDE_CODE_REMOTE env=$CLAUDE_ENV_FILE project=$CLAUDE_PROJECT_DIR\"' }\n";
    let home = Home::new(rules);
    let project = hookctl::files::real_path(&home.path().join("project")).unwrap();
    fs::create_dir_all(project.join(".git")).unwrap();
    let payload = json!({"hook_event_name": "SessionStart", "session_id": "s", "source": "startup",
        "cwd": project});
    let run = |session: &str, set: &[(&str, &str)]| {
        let mut payload = payload.clone();
        // The same event again would be a second registration of this one.
        payload["session_id"] = session.into();
        let mut command = home.command(&["hook"]);
        for name in ["CLAUDE_PLUGIN_ROOT", "CLAUDE_CODE_REMOTE", "CLAUDE_ENV_FILE"] {
            command.env_remove(name);
        }
        let mut child = command.envs(set.iter().copied()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let told: Value = serde_json::from_slice(&output.stdout).unwrap();
        told["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_string()
    };
    let project = project.display();
    let set = [
        ("CLAUDE_PLUGIN_ROOT", "/opt/a plugin"),
        ("CLAUDE_CODE_REMOTE", "true"),
        ("CLAUDE_ENV_FILE", "/tmp/e"),
    ];
    let all = format!("plugin=/opt/a plugin remote=true env=/tmp/e project={project}");
    assert_eq!(run("s1", &set), all);
    assert_eq!(run("s2", &[]), format!("plugin= remote= env= project={project}"));
}

#[test]
fn s4_22_the_env_file_gets_quoted_exports_only_where_there_is_one() {
    let home = Home::new(
        "[rule.env]\non = \"SessionStart\"\nenv = { GREETING = \"it's {tool}$(touch x)\" }\n",
    );
    let payload = json!({"hook_event_name": "SessionStart", "source": "startup"}).to_string();
    let output = home.run(&["hook"], payload.as_bytes());
    assert!(output.stdout.is_empty() && output.status.success());
    let file = home.path().join("env");
    let mut child = home.command(&["hook"]).env("CLAUDE_ENV_FILE", &file).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    child.wait_with_output().unwrap();
    assert_eq!(fs::read_to_string(file).unwrap(), "export GREETING='it'\\''s $(touch x)'\n");
}

#[test]
fn s4_17_exit_status_2_is_the_last_resort_and_never_on_a_permission_request() {
    let home = Home::new("[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n");
    let mut payload = read("/x");
    payload["hook_event_name"] = "PermissionRequest".into();
    let output = home.hook(&payload);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"behavior\":\"deny\""));
}

#[test]
fn a_lone_surrogate_does_not_disarm_a_rule() {
    let home = Home::new("[rule.no]\ntool = \"Write\"\npath = \"s.txt\"\ndeny = \"no\"\n");
    let bytes = fs::read("tests/payloads/claude/PreToolUse-Write-lone_surrogate.raw.json").unwrap();
    let output = home.run(&["hook"], &bytes);
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""), "{output:?}");
}

#[test]
fn unknown_flags_are_no_way_past_the_rules() {
    let home = Home::new("[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n");
    let args = ["hook", "--agent", "nobody", "--frob", "--timeout", "soon", "--state"];
    let output = home.run(&args, read("/x").to_string().as_bytes());
    assert!(String::from_utf8_lossy(&output.stdout).contains("\"deny\""));
}

#[test]
fn a_config_that_names_nothing_is_told_and_asked_about() {
    let home = Home::new("[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n");
    let file = home.path().join(".config/hookctl/config.toml");
    let file = file.to_str().unwrap();
    let start =
        json!({ "hook_event_name": "SessionStart", "session_id": "s", "source": "startup" });
    for args in [
        &["hook", "--config", "/nowhere/at/all"][..],
        &["hook", "--config", file],
        &["hook", "--config", ""],
        &["hook", "--config="],
        &["hook", "--config", "relative/nowhere"],
        &["--config", "/nowhere", "hook"],
        &["hook", "--config"],
    ] {
        let said = |payload: &Value| {
            let output = home.run(args, payload.to_string().as_bytes());
            assert_eq!(output.status.code(), Some(0), "{args:?}");
            serde_json::from_slice::<Value>(&output.stdout).unwrap_or_default()
        };
        let answer = said(&bash("ls"));
        let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask", "{args:?}");
        assert!(reason.is_some_and(|reason| reason.contains("--config")), "{args:?}: {reason:?}");
        // Not the default directory's rule, and the shipped ones hold.
        assert_eq!(said(&bash("rm -rf /"))["hookSpecificOutput"]["permissionDecision"], "deny");
        let told = said(&start);
        assert!(told["systemMessage"].as_str().is_some_and(|t| t.contains("--config")), "{args:?}");
    }
    // One that is there and holds no rules; the default one, which registered entries name, is there or not.
    let default = home.path().join("other/.config/hookctl");
    // No variable moves the default one of Windows.
    for (args, own) in [
        (vec!["hook", "--config", home.path().to_str().unwrap()], home.path()),
        (vec!["hook", "--config", default.to_str().unwrap()], &home.path().join("other")),
    ]
    .into_iter()
    .take(if cfg!(windows) { 1 } else { 2 })
    {
        let mut command = home.command(&args);
        let mut child = command.env("HOME", own).spawn().unwrap();
        child.stdin.take().unwrap().write_all(bash("ls").to_string().as_bytes()).unwrap();
        assert!(child.wait_with_output().unwrap().stdout.is_empty(), "{args:?}");
    }
}

#[test]
fn a_reader_that_is_gone_is_no_panic() {
    let home = Home::new("[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n");
    let mut child = home.command(&["hook"]).spawn().unwrap();
    drop(child.stdout.take());
    child.stdin.take().unwrap().write_all(read("/x").to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 2)));
}

#[test]
fn an_index_of_rules_changes_no_answer_and_follows_every_change() {
    let many: String = (0..6)
        .map(|i| {
            format!("[rule.r{i}]\ntool = \"Read\"\npath = \"secret-{i}.txt\"\ndeny = \"no {i}\"\n")
        })
        .collect();
    let home = Home::new(&many);
    let call =
        |n: u32| String::from_utf8(home.hook(&read(&format!("/x/secret-{n}.txt"))).stdout).unwrap();
    let first = call(3);
    assert!(first.contains("no 3 [user:r3]"), "{first}");
    let index = home.path().join(".local/state/hookctl/index");
    assert_eq!(fs::read_dir(&index).unwrap().count(), 1);
    assert_eq!(call(3), first);
    assert!(call(9).is_empty());
    // A change of one byte is another file, and a spoiled index is none.
    let file = home.path().join(".config/hookctl/config.toml");
    fs::write(&file, many.replace("no 3", "NO 3")).unwrap();
    assert!(call(3).contains("NO 3"));
    for entry in fs::read_dir(&index).unwrap().flatten() {
        let bytes = fs::read(entry.path()).unwrap();
        fs::write(entry.path(), &bytes[..bytes.len() / 2]).unwrap();
    }
    assert!(call(3).contains("NO 3"));
    fs::write(&file, format!("{many}frob = 1\n")).unwrap();
    assert!(call(9).contains("\"ask\""), "a fault is not hidden by an old index");
}

/// Nobody has looked whether the tree holds what a shipped rule keeps: the yes of a script is no yes to that.
#[cfg(unix)]
#[test]
fn the_allow_of_a_script_covers_no_key_that_lies_below() {
    let said =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
    let home = Home::new("[rule.script]\ntool = \"Bash\"\nhook = \"~/yes.sh\"\n");
    let base = hookctl::files::real_path(home.path()).unwrap();
    let project = base.join("project");
    for (file, text) in [
        (base.join("yes.sh"), format!("#!/bin/sh\necho '{said}'\n").as_str()),
        (project.join("notes/a.txt"), "x"),
        (project.join("keys/sub/.env"), "x"),
    ] {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    home::system::set_mode(base.join("yes.sh"), 0o755);
    for (command, allowed) in [
        ("ls", true),
        ("grep -rn x notes", true),
        ("rm -r notes", true),
        ("grep -rn x .", false),
        ("grep -rn x keys", false),
        ("rm -r keys", false),
        ("mv keys old", false),
    ] {
        let mut payload = bash(command);
        payload["cwd"] = project.to_str().unwrap().into();
        let stdout = String::from_utf8(home.hook(&payload).stdout).unwrap();
        assert_eq!(stdout.contains(r#""allow""#), allowed, "{command}: {stdout}");
    }
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn s2_33_k12_a_failure_of_cupcake_is_in_the_journal() {
    let home = Home::new("[rule.x]\nhook = \"cupcake eval --harness claude\"\ntool = \"Bash\"\n");
    let payload = json!({"hook_event_name": "PreToolUse", "cwd": "/tmp", "session_id": "s",
        "tool_name": "Bash", "tool_input": {"command": "true"}, "tool_use_id": "toolu_1"});
    assert!(home.hook(&payload).stdout.is_empty());
    let journal = home.journal();
    assert!(journal.contains("exit status 127: there is no such program"), "{journal}");
}

/// What others wrote reaches nobody's eyes as it is, and what is meant for machines stays exact.
#[test]
fn text_of_others_controls_and_hides_nothing() {
    let hidden = "a\u{202e}b\u{1b}[2Jc\u{9b}d\u{e0041}e\u{2028}f";
    let rules = "[rule.no]\non = \"PreToolUse\"\ntool = \"Read\"\ninput.file_path = \"*secret*\"\ndeny = \"{input.file_path} is no file of yours\"\n[rule.told]\non = \"PreToolUse\"\ntool = \"Read\"\nnotify = \"{input.file_path}\"\n";
    let home = Home::new(rules);
    let is_clean = |text: &str| {
        let bad = |c: char| {
            c.is_control() && c != '\n' || matches!(c, '\u{2028}' | '\u{202e}' | '\u{e0041}')
        };
        assert!(!text.contains(bad), "{text:?}");
    };
    let call = |tool: &str, input: Value| json!({"hook_event_name": "PreToolUse", "session_id": hidden, "cwd": "/", "tool_name": tool, "tool_input": input});
    let output = home.hook(&call("Read", json!({"file_path": format!("/secret/{hidden}")})));
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    is_clean(reason);
    let told = home.hook(&call("Read", json!({"file_path": format!("/public/{hidden}")})));
    let answer: Value = serde_json::from_slice(&told.stdout).unwrap();
    let notice = answer["systemMessage"].as_str().unwrap();
    is_clean(notice);
    assert!(notice.contains("a\\u{202e}b"), "{notice}");
    assert!(reason.contains("a\\u{202e}b\\u{1b}[2Jc"), "{reason}");
    // One of a megabyte is cut, says so, and still names its rule.
    let long =
        home.hook(&call("Read", json!({"file_path": format!("/secret/{}", "x".repeat(1 << 20))})));
    let answer: Value = serde_json::from_slice(&long.stdout).unwrap();
    let reason = answer["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap();
    assert!(reason.len() <= 10_000 && reason.contains("[cut by hookctl: "), "{}", reason.len());
    assert!(reason.ends_with("[user:no]"), "{}", &reason[reason.len() - 100..]);
    // The journal says the same, without harm to who looks into it.
    is_clean(&home.journal());
    let line: Value = serde_json::from_str(home.journal().lines().next().unwrap()).unwrap();
    assert_eq!(line["what"], format!("/secret/{hidden}"));
    for args in [&["log"][..], &["log", "--json"]] {
        is_clean(&String::from_utf8(home.run(args, b"").stdout).unwrap());
    }
}

#[test]
fn two_registrations_judge_once() {
    let rules = "[rule.no]\ncommand = \"rm no\"\ndeny = \"not that\"\n\
                 [rule.word]\ncommand = \"ls word\"\ncontext = \"a word\"\n";
    let home = Home::new(rules);
    let event = |command: &str, id: &str| {
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/", "tool_name": "Bash",
                "tool_input": { "command": command }, "tool_use_id": id })
        .to_string()
    };
    let run = |plugin: bool, payload: &str| {
        let args = ["hook", "--event", "PreToolUse", "--plugin"];
        let output = home.run(&args[..if plugin { 4 } else { 3 }], payload.as_bytes());
        assert_lawful(&output, false, payload);
        String::from_utf8(output.stdout).unwrap()
    };
    let judged = || home.journal().lines().count();
    // Without a plugin nothing is waited for or kept.
    let denied = run(false, &event("rm no", "0"));
    assert!(denied.contains("not that"));
    assert_eq!(run(false, &event("rm no", "0")), denied);
    assert_eq!(judged(), 2);
    for first in [true, false] {
        let payload = event("rm no", &format!("{first}"));
        assert_eq!(run(first, &payload), denied);
        let before = judged();
        assert_eq!(run(!first, &payload), denied, "the second answers the same");
        assert_eq!(judged(), before, "and judges nothing");
        // Another event that looks the same is judged, by whomever.
        assert_eq!(run(first, &payload), denied);
        assert_eq!(judged(), before + 1);
        assert_eq!(run(first, &payload), denied);
        assert_eq!(judged(), before + 2);
    }
    // What decides nothing is told once.
    let word = event("ls word", "w");
    assert!(run(true, &word).contains("a word"));
    assert_eq!(run(false, &word).trim_end(), "{}");
    // Another judge is another guard: with another config, or for other bytes.
    let before = judged();
    run(true, &event("rm no", "x"));
    let other = tempfile::tempdir().unwrap();
    let config = other.path().to_str().unwrap();
    let payload = event("rm no", "x");
    let output =
        home.run(&["hook", "--event", "PreToolUse", "--config", config], payload.as_bytes());
    assert!(output.stdout.is_empty());
    run(false, &event("rm no", "y"));
    assert_eq!(judged(), before + 3);
    // At the same moment, as clients start them.
    let before = judged();
    std::thread::scope(|scope| {
        for number in 0..8 {
            for plugin in [true, false] {
                let (run, event, denied) = (&run, &event, &denied);
                scope.spawn(move || {
                    assert_eq!(run(plugin, &event("rm no", &format!("n{number}"))), *denied);
                });
            }
        }
    });
    assert_eq!(judged(), before + 8);
}
