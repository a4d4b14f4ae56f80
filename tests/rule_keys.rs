//! What single keys of rules do in the process itself: what they see of its environment, and what is refused of them.
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Output;

use home::system;
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
    let mut child = home::system::start(&mut command);
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
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
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
    let project = hookctl::files::real_path(&home.path().join("project")).unwrap();
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
        ("tool = \"Bash\"\nrun = { env = [] }", "empty-command", "command = "),
        ("tool = \"Bash\"\nrun = { command = \" \" }", "empty-command", ""),
        ("tool = \"Bash\"\nrun = { command = \"x\", dir = \"/x\" }", "unknown-key", ""),
        ("tool = \"Bash\"\nrun = { command = \"x\", cwd = \"x\" }", "bad-directory", "./"),
        ("tool = \"Bash\"\nrun = { command = \"x\", cwd = \"~/a/../..\" }", "bad-directory", "./"),
        ("tool = \"Bash\"\nrun = { command = \"x\", cwd = 3 }", "wrong-type", ""),
        ("tool = \"Bash\"\nrun = { command = \"x\", env = [3] }", "wrong-type", ""),
        ("tool = \"Bash\"\nrun = { command = \"x\", env = [\"[\"] }", "bad-glob", ""),
        ("tool = \"Bash\"\nrun = { command = \"x '{path}'\" }", "quoted-placeholder", ""),
        ("tool = \"Bash\"\nhook = { settings = \"x\", env = [] }", "unknown-key", ""),
        ("tool = \"Bash\"\ndeny = \"x\"\npriority = 101", "out-of-range", ""),
        ("tool = \"Bash\"\ndeny = \"x\"\npriority = -1", "out-of-range", ""),
        ("tool = \"Bash\"\ndeny = \"x\"\npriority = \"high\"", "wrong-type", ""),
        ("tool = \"Bash\"\ncontext = \"x\"\ncontinue = false", "continue-alone", "halt = "),
        ("tool = \"Bash\"\nask = \"x\"\ncontinue = false", "continue-alone", "halt = "),
        ("tool = \"Bash\"\ndeny = \"x\"\ncontinue = \"no\"", "wrong-type", ""),
        ("tool = \"Bash\"\nask = \"x\"\nquestion = \"{what}\"", "bad-template", ""),
        ("on = \"SessionStart\"\nsuppress_output = 1\ncontext = \"x\"", "wrong-type", ""),
        ("output = 3\ncontext = \"x\"", "wrong-type", ""),
        ("output = \"(\"\ncontext = \"x\"", "bad-regex", ""),
        ("when = { remote = \"yes\" }\ndeny = \"x\"", "wrong-type", ""),
        ("tool = \"Bash\"\ndeny = \"{preview.0}\"", "bad-template", ""),
        ("tool = \"Bash\"\ndeny = \"{outptu}\"", "bad-template", ""),
        ("on = \"SessionStart\"\nenv = { \"\" = \"x\" }", "bad-name", ""),
        ("on = \"SessionStart\"\nenv = { 1A = \"x\" }", "bad-name", ""),
        ("on = \"SessionStart\"\nenv = { A-B = \"x\" }", "bad-name", ""),
        ("on = \"SessionStart\"\nenv = { \"A=B\" = \"x\" }", "bad-name", ""),
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

/// A rule that cannot be read is not also said to do nothing; another one in the file that does nothing is.
#[test]
fn a_rule_with_a_fault_of_its_own_is_not_said_to_do_nothing() {
    for (rules, wanted) in [
        ("[rule.a]\ntool = \"Bash\"\n", &["no-effect"][..]),
        ("[rule.a]\ntool = \"Bash\"\ndeny = 3\n", &["wrong-type"]),
        (
            "[rule.a]\ntool = \"Bash\"\ndeny = 3\n[rule.b]\ntool = \"Bash\"\n",
            &["wrong-type", "no-effect"],
        ),
        ("[rule.a]\ntool = \"Bash\"\ndeny = \"x\"\n[rule.b]\ntool = \"Bash\"\n", &["no-effect"]),
    ] {
        assert_eq!(faults(rules), wanted, "{rules}");
    }
}

/// An `unless` that holds everywhere, and an allow of everything: nobody means either by what is not there.
#[test]
fn conditions_that_are_not_there_are_faults() {
    for (keys, wanted) in [
        ("command = 'rm'\nunless = {}\ndeny = 'x'", &["empty-table"][..]),
        ("command = 'rm'\nunless = { when = {} }\ndeny = 'x'", &["empty-table"]),
        ("command = 'rm'\nunless = { input = {} }\nask = 'x'", &["empty-table"]),
        ("command = 'rm'\nunless = { pth = 'x' }\ndeny = 'x'", &["unknown-key"]),
        ("command = 'rm'\nunless = { when = {}, path = 'x' }\ndeny = 'x'", &[]),
        ("allow = 'x'", &["no-condition"]),
        ("when = {}\nallow = 'x'", &["no-condition"]),
        ("on = 'PermissionRequest'\nallow = 'x'", &["no-condition"]),
        ("tool = '*'\nallow = 'x'", &[]),
        ("when = { permission_mode = 'plan' }\nallow = 'x'", &[]),
        ("unless = { command = 'rm' }\nallow = 'x'", &[]),
        ("deny = 'x'", &[]),
        ("ask = 'x'", &[]),
    ] {
        assert_eq!(faults(&format!("[rule.a]\n{keys}\n")), wanted, "{keys}");
    }
}

/// What is no table costs every rule of the file: all calls are asked about, and a session's start tells.
#[test]
fn a_list_of_rules_is_told_at_every_event_with_the_right_header() {
    for (text, hint) in [
        ("[[rule]]\nid = 'x'\ncommand = 'rm'\ndeny = 'x'\n", "[rule.NAME]"),
        ("rule = 5\n", "[rule.NAME]"),
        ("rule = []\n", "[rule.NAME]"),
        ("[[rule.a]]\ncommand = 'rm'\ndeny = 'x'\n", "[rule.NAME]"),
        ("[[pack]]\nsecrets = false\n", "[pack]"),
        ("pack = true\n", "[pack]"),
        ("[[override]]\nid = 'x'\n", "[override.RULE]"),
        ("override = 1\n", "[override.RULE]"),
        ("[[remote]]\nurl = 'https://x.org'\n", "[remote.NAME]"),
        ("[[program]]\nsame = 'ls'\n", "[program.NAME]"),
        ("journal = true\n", "[journal]"),
    ] {
        let home = home::make(text);
        let told = json_of(&hook(home.path(), &[], &bash("ls")));
        let told = &told["hookSpecificOutput"];
        assert_eq!(told["permissionDecision"], "ask", "{text}: {told}");
        let reason = told["permissionDecisionReason"].as_str().unwrap_or_default();
        for part in ["config.toml:1:", "error[wrong-type]", hint] {
            assert!(reason.contains(part), "{text}: {reason}");
        }
        // A rule by itself costs the events that it could be about.
        let start =
            json!({ "hook_event_name": "SessionStart", "session_id": "s", "source": "startup" });
        let told = json_of(&hook(home.path(), &[], &start)).to_string();
        assert_eq!(told.contains(hint), !text.starts_with("[[rule.a"), "{text}: {told}");
    }
}

/// What a command sees of our own environment, and where it runs.
#[test]
#[cfg_attr(windows, ignore = "needs symbolic links")]
fn s3_58_a_command_keeps_what_it_is_told_to_keep_and_runs_where_it_is_told() {
    const SHOWN: &str = "echo \\\"$SECRET_TOKEN|$KEEP_ME|${HOME+home}|$HOOKCTL_TOOL|$PWD\\\"";
    let seen = |table: &str, more: &str| {
        let rules = format!(
            "[rule.a]\ntool = \"Bash\"\n{more}deny = \"{{run.output}}\"\nrun = {{ command = \"{SHOWN}; exit 1\"{table} }}\n"
        );
        let home = home::make(&rules);
        for dir in ["project/.git", "project/sub", "elsewhere"] {
            fs::create_dir(home.path().join(dir)).unwrap();
        }
        system::symlink("../elsewhere", home.path().join("project/link")).unwrap();
        let mut call = bash("ls");
        call["cwd"] = json!(home.path().join("project"));
        let variables = [("SECRET_TOKEN", "s3cr3t"), ("KEEP_ME", "kept"), ("KEEP_TOO", "x")];
        let told = json_of(&hook(home.path(), &variables, &call));
        let told = told["hookSpecificOutput"]["permissionDecisionReason"].as_str().unwrap_or("-");
        let root = hookctl::files::real_path(home.path()).unwrap();
        told.replace(root.to_str().unwrap(), "").replace(home.path().to_str().unwrap(), "")
    };
    for (table, wanted) in [
        ("", "s3cr3t|kept|home|Bash|/project [user:a]"),
        (", env = []", "|||Bash|/project [user:a]"),
        (", env = \"KEEP_*\"", "|kept||Bash|/project [user:a]"),
        (", env = [\"HOME\", \"KEEP_ME\"]", "|kept|home|Bash|/project [user:a]"),
        (", env = \"*\"", "s3cr3t|kept|home|Bash|/project [user:a]"),
        (", cwd = \"./sub\"", "s3cr3t|kept|home|Bash|/project/sub [user:a]"),
        (", cwd = \".\"", "s3cr3t|kept|home|Bash|/project [user:a]"),
        (", cwd = \"~/elsewhere\", env = []", "|||Bash|/elsewhere [user:a]"),
        (", cwd = \"/\"", "s3cr3t|kept|home|Bash|/ [user:a]"),
    ] {
        assert_eq!(seen(table, ""), wanted, "{table}");
    }
    // What cannot be started has failed.
    let told = seen(", cwd = \"./nowhere\"", "");
    assert!(told.contains("could not be started"), "{told}");
    // So it is with conditions: another directory is another question.
    let when = "when = { run = { command = \"test \\\"${PWD##*/}\\\" = sub\", cwd = \"./sub\", env = [] } }\n";
    assert!(seen("", when).ends_with("/project [user:a]"));
    assert_eq!(seen("", &when.replace("./sub", ".")), "-");
}

/// A hook script, a context and a notice take such a table as well.
#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn s3_58_every_command_may_be_such_a_table() {
    let rules = "[rule.a]\ntool = \"Bash\"\n\
        hook = { command = \"echo \\\"${{TOKEN-none}\\\" >&2; exit 2\", env = [] }\n\
        [rule.b]\non = \"SessionStart\"\n\
        context = { run = { command = \"echo \\\"${{TOKEN-none} $PWD\\\"\", env = \"PATH\", cwd = \"/\" } }\n";
    assert_eq!(faults(rules), Vec::<&str>::new());
    let home = home::make(rules);
    let told = json_of(&hook(home.path(), &[("TOKEN", "x")], &bash("ls")));
    assert_eq!(told["hookSpecificOutput"]["permissionDecisionReason"], "none [user:a]");
    let start =
        json!({ "hook_event_name": "SessionStart", "session_id": "s", "source": "startup" });
    let told = json_of(&hook(home.path(), &[("TOKEN", "x")], &start));
    assert_eq!(told["hookSpecificOutput"]["additionalContext"], "none /");
}

/// As long as a pattern may be, and one byte more.
#[test]
fn a_glob_of_a_value_is_as_long_as_a_pattern_may_be() {
    let rule = |length: usize| {
        let glob = "x".repeat(length);
        format!(
            "[rule.x]\ntool = \"Bash\"\ninput = {{ command = {{ glob = \"{glob}\" }} }}\ndeny = \"x\"\n"
        )
    };
    assert_eq!(faults(&rule(hookctl::limits::PATTERN)), [""; 0]);
    assert_eq!(faults(&rule(hookctl::limits::PATTERN + 1)), ["bad-glob"]);
}

/// The name of a server stands in file names, in the journal and in what people are told.
#[test]
fn a_server_has_a_plain_name() {
    for (name, wanted) in [
        ("x", true),
        ("my-server_2", true),
        ("\"\"", false),
        ("\"a b\"", false),
        ("\"../x\"", false),
        ("\"é\"", false),
    ] {
        let rules = format!("[remote.{name}]\nurl = \"http://127.0.0.1:9\"\nevents = \"Stop\"\n");
        assert_eq!(!faults(&rules).contains(&"bad-name"), wanted, "{name}: {:?}", faults(&rules));
    }
}
