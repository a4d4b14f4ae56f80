//! What single keys of rules do in the process itself: what they see of its environment, and what is refused of them.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use hookctl::rule::Layer;
use hookctl::rule::fault::Gravity;
use hookctl::rule::file;
use serde_json::{Value, json};

mod home;

/// The codes of a file's faults, warnings included.
fn faults(rules: &str) -> Vec<&'static str> {
    let file = file::read_rules(rules, Path::new("/x/config.toml"), Layer::User, None);
    file.faults.iter().map(|fault| fault.code).collect()
}

/// The hook on that payload, with these variables.
fn hook(home: &Path, variables: &[(&str, &str)], payload: &Value) -> Output {
    let mut command = home::command(home, &["hook"]);
    command.env_remove("CLAUDE_CODE_REMOTE").envs(variables.iter().copied());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn json_of(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

fn bash(command: &str) -> Value {
    json!({ "hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash",
            "tool_input": { "command": command } })
}

/// The four placeholders of the reference, and its variables, in a command as in a text.
#[test]
fn s4_20_s4_21_what_a_rule_sees_of_the_payload_and_of_the_environment() {
    let script = "printf '%s\\n' \"$ARGUMENTS\" \"$PROMPT\" \"$TRANSCRIPT_PATH\" \
                  \"$CLAUDE_PROJECT_DIR\" \"$CLAUDE_PLUGIN_ROOT\" \"$CLAUDE_ENV_FILE\" \
                  \"$CLAUDE_CODE_REMOTE\" > ../seen";
    let rules = format!(
        "[rule.seen]\non = \"UserPromptSubmit\"\nrun = '''{script}'''\n\
         context = \"$ARGUMENTS|$PROMPT|$TRANSCRIPT_PATH|$CLAUDE_PROJECT_DIR\"\n"
    );
    let home = home::make(&rules);
    fs::create_dir(home.path().join("project/.git")).unwrap();
    let project = home.path().join("project").canonicalize().unwrap();
    let payload = json!({ "hook_event_name": "UserPromptSubmit", "session_id": "s", "cwd": project,
                          "transcript_path": "/t.jsonl", "prompt": "it's $(touch x) \"so\"" });
    let variables = [
        ("CLAUDE_PLUGIN_ROOT", "/plugins/mine"),
        ("CLAUDE_ENV_FILE", "/nowhere/env"),
        ("CLAUDE_CODE_REMOTE", "true"),
    ];
    let output = hook(home.path(), &variables, &payload);
    let told = json_of(&output);
    let wanted = [
        payload.to_string(),
        "it's $(touch x) \"so\"".into(),
        "/t.jsonl".into(),
        project.to_string_lossy().into_owned(),
    ];
    assert_eq!(told["hookSpecificOutput"]["additionalContext"], wanted.join("|"));
    let seen = fs::read_to_string(home.path().join("seen")).unwrap();
    let own = ["/plugins/mine", "/nowhere/env", "true"].map(str::to_string);
    let seen: Vec<&str> = seen.lines().collect();
    assert_eq!(seen, [&wanted[..], &own[..]].concat());
    assert!(!project.join("x").exists());
}

#[test]
fn s4_21_a_rule_can_ask_whether_the_session_is_remote() {
    let home = home::make(
        "[rule.a]\ncommand = \"ls\"\nwhen = { remote = true }\ndeny = \"not there\"\n\
         [rule.b]\ncommand = \"pwd\"\nunless = { when = { remote = false } }\ndeny = \"nor this\"\n\
         [rule.c]\ncommand = \"date\"\nwhen = { remote = false }\nallow = \"at home\"\n",
    );
    let verdict = |command: &str, value: &str| {
        let variables = [("CLAUDE_CODE_REMOTE", value)];
        let told = json_of(&hook(home.path(), &variables, &bash(command)));
        told["hookSpecificOutput"]["permissionDecision"].as_str().unwrap_or("silent").to_string()
    };
    for (command, remote, here) in
        [("ls", "deny", "silent"), ("pwd", "deny", "silent"), ("date", "silent", "allow")]
    {
        assert_eq!(verdict(command, "true"), remote, "{command}");
        for value in ["", "false", "1", "TRUE"] {
            assert_eq!(verdict(command, value), here, "{command}, {value:?}");
        }
    }
}

/// A repository's settings can set the variable: that must never let more pass.
#[test]
fn s4_21_the_variable_of_a_remote_session_cannot_loosen() {
    for (keys, loosens) in [
        ("when = { remote = true }\ndeny = \"x\"", false),
        ("when = { remote = false }\ndeny = \"x\"", true),
        ("unless = { when = { remote = true } }\nask = \"x\"", true),
        ("unless = { when = { remote = false } }\nask = \"x\"", false),
        ("when = { remote = true }\nallow = \"x\"", true),
        ("when = { remote = false }\nallow = \"x\"", false),
        ("unless = { when = { remote = false } }\nallow = \"x\"", true),
        ("unless = { when = { remote = true } }\nallow = \"x\"", false),
        ("when = { remote = false }\nhook = \"./x.sh\"", true),
        ("when = { remote = false }\nrewrite = { command = \"x\" }", true),
        ("when = { remote = false }\ncontext = \"x\"", false),
        ("when = { remote = false }\nrun = \"make\"", false),
    ] {
        let found = faults(&format!("[rule.x]\ncommand = \"ls\"\n{keys}\n"));
        assert_eq!(found.contains(&"remote-loosens"), loosens, "{keys}: {found:?}");
        assert_eq!(found.len(), usize::from(loosens), "{keys}: {found:?}");
    }
}

/// Each fault has its code and says what to do.
#[test]
fn s3_21_what_is_refused_says_what_to_write() {
    for (keys, code, hint) in [
        ("output = 3\ncontext = \"x\"", "wrong-type", ""),
        ("output = \"(\"\ncontext = \"x\"", "bad-regex", ""),
        ("when = { remote = \"yes\" }\ndeny = \"x\"", "wrong-type", ""),
        ("tool = \"Bash\"\ndeny = \"{preview.0}\"", "bad-template", ""),
        ("tool = \"Bash\"\ndeny = \"{outptu}\"", "bad-template", ""),
    ] {
        let text = format!("[rule.x]\n{keys}\n");
        let file = file::read_rules(&text, Path::new("/x/config.toml"), Layer::User, None);
        let found = file.faults.iter().find(|fault| fault.code == code);
        let found = found.unwrap_or_else(|| panic!("{keys}: {:?}", file.faults));
        assert_eq!(found.gravity, Gravity::Error, "{keys}");
        let told = found.hint.clone().unwrap_or_default();
        assert!(told.contains(hint), "{keys}: {told}");
        assert!(!file.broken.is_empty(), "{keys}");
    }
}
