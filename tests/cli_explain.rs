//! `hookctl explain` as a process.

mod cli;

use cli::{World, system};
use serde_json::{Value, json};

const RULES: &str = "[rule.no-push]\ncommand = \"git push\"\ndeny = \"Not from here.\"\n\
                     [rule.reads]\neffect = \"read\"\npath = \"./\"\nallow = \"reading\"\n\
                     [rule.on-main]\ncommand = \"git commit\"\nwhen = { run = \"touch ran\" }\nask = \"x\"\n\
                     [rule.elsewhere]\ncommand = \"git push\"\nwithin = \"./sub\"\ndeny = \"x\"\n\
                     [rule.trees]\ncommand = \"ls\"\nrecursive = true\ndeny = \"x\"\n\
                     [rule.stop]\non = \"Stop\"\nrun = \"touch ran\"\nblock = \"x\"\n";

#[test]
fn what_is_no_call_is_told_to_a_person() {
    let world = World::new();
    let done = world.feed(&["explain"], b" \n");
    assert!(done.code == 2 && done.err.contains("no call: say"), "{}", done.err);
    // Whoever names the payload is told what the hook makes of it.
    let done = world.feed(&["explain", "-"], b"");
    assert!(done.code == 2 && done.err.contains("the payload is empty"), "{}", done.err);
    let done = world.run(&["explain", "--tool", "Nope", "x"]);
    assert!(done.err.contains("mcp__SERVER__TOOL. For any other,"), "{}", done.err);
}

#[test]
fn s2_32_which_rule_which_source_and_why() {
    let world = World::with(RULES);
    let done = world.run(&["explain", "-v", "ls; git push origin x"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert_eq!(done.out.lines().next(), Some("deny by user:no-push: Not from here."));
    for part in [
        "config.toml:1\n",
        "matched  user:no-push",
        "git push origin x",
        "send       certain",
        "`command`: no effect is one of these",
        "permissionDecision\":\"deny\"",
        "exit    0",
        "profile guard",
    ] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    let report =
        world.run(&["explain", "--json", "--tool", "Bash", "--", "ls; git push origin x"]).json();
    assert_eq!(report["verdict"], "deny");
    assert_eq!(report["rule"], "user:no-push");
    let considered = report["rules"].as_array().unwrap();
    assert!(considered.iter().all(|rule| rule["rule"] != "user:stop"), "another event's rule");
    let why = |name: &str| {
        let rule = considered.iter().find(|rule| rule["rule"] == name);
        rule.unwrap_or_else(|| panic!("{name}"))["why"].clone()
    };
    assert_eq!(why("user:no-push"), Value::Null);
    assert_eq!(why("user:on-main"), "`command`: no effect is one of these");
    assert_eq!(why("user:elsewhere"), "`within`: no effect is one of these");
    assert_eq!(why("user:trees"), "`recursive`: no effect is one of these");
    assert!(report["effects"][0]["grade"] == "certain" && report["commands"][0]["name"] == "ls");
}

#[test]
fn s3_42_the_same_bytes_as_the_hook_from_file_stdin_and_by_name() {
    let world = World::with(RULES);
    for (tool, field, value) in [
        ("Bash", "command", "git push"),
        ("Bash", "command", "cat a | wc -l"),
        ("Bash", "command", "eval \"$x\""),
        ("Read", "file_path", "a.txt"),
        ("WebFetch", "url", "https://x.org/"),
    ] {
        let full = match field {
            "file_path" => world.project().join(value).display().to_string(),
            _ => value.to_string(),
        };
        let payload = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.project(),
            "tool_name": tool, "tool_input": { field: full },
        })
        .to_string();
        let hook = world.feed(&["hook"], payload.as_bytes()).out;
        let file = world.project().join("payload.json");
        world.write(&file, &payload);
        for done in [
            world.run(&["explain", "--json", "payload.json"]),
            world.feed(&["explain", "--json"], payload.as_bytes()),
            world.feed(&["explain", "--json", "-"], payload.as_bytes()),
            world.run(&["explain", "--json", "--tool", tool, "--", value]),
        ] {
            assert_eq!(done.code, 0, "{}", done.err);
            let answer = &done.json()["answer"];
            assert_eq!(answer["stdout"].as_str().unwrap(), hook.trim_end(), "{tool} {value}");
        }
    }
}

#[test]
fn a_tool_that_is_none_is_told() {
    let world = World::with(RULES);
    for (tool, hint) in [
        ("bash", "did you mean `Bash`?"),
        ("Bsh", "did you mean `Bash`?"),
        ("WebFech", "did you mean `WebFetch`?"),
        ("", "pipe its payload in"),
        ("run_shell_command", "mcp__SERVER__TOOL"),
    ] {
        for more in [&[][..], &["--event", "PostToolUse"], &["--json"]] {
            let done = world.run(&[&["explain", "--tool", tool], more, &["--", "ls"]].concat());
            assert_eq!((done.code, done.out.as_str()), (2, ""), "{tool}");
            assert!(done.err.contains("no tool") && done.err.contains(hint), "{}", done.err);
        }
    }
    for tool in ["Bash", "Task", "Config", "NotebookRead", "mcp__any__tool"] {
        assert_eq!(world.run(&["explain", "--tool", tool, "--", "ls"]).code, 0, "{tool}");
    }
}

#[test]
fn nothing_is_run_and_nothing_written() {
    let world = World::with(RULES);
    let commit = world.run(&["explain", "--tool", "Bash", "--", "git commit -m x"]);
    assert!(commit.out.contains("would run: touch ran"), "{}", commit.out);
    assert!(commit.out.starts_with("asks if `touch ran` succeeds, by user:on-main: x\n"));
    let stop = json!({ "hook_event_name": "Stop", "session_id": "s", "cwd": world.project() });
    let stop = world.feed(&["explain"], stop.to_string().as_bytes());
    assert!(stop.out.contains("would run: touch ran"), "{}", stop.out);
    assert!(stop.out.starts_with("denies if `touch ran` fails, by user:stop: x\n"), "{}", stop.out);
    assert!(!world.project().join("ran").exists());
    assert!(system::is_untouched(&world.state()));
}

#[test]
fn an_allow_that_does_not_hold_says_what_it_lacks() {
    let world = World::with(RULES);
    let done = world.run(&["explain", "--tool", "Bash", "--", "cat a > b"]);
    assert!(done.out.contains("silent"), "{}", done.out);
    assert!(done.out.contains("the allow does not hold, nothing covers write"), "{}", done.out);
    let done = world.run(&["explain", "--tool", "Bash", "--", "cat a"]);
    assert!(done.out.contains("allow by user:reads"), "{}", done.out);
}

#[test]
fn words_after_the_dashes_stay_words() {
    let world = World::with(RULES);
    let one = ["explain", "--json", "--tool", "Bash", "--", "git", "commit", "-m", "a; git push"];
    let report = world.run(&one).json();
    assert_eq!(report["input"]["command"], "git commit -m 'a; git push'");
    assert_ne!(report["rule"], "user:no-push");
}

#[test]
fn other_events_can_be_made_up_too() {
    let world = World::with(
        "[rule.p]\nprompt = \"secret\"\ndeny = \"x\"\n[rule.r]\non = \"PostToolUse\"\ntool = \
         \"Bash\"\ncontext = \"seen\"\n",
    );
    let prompt = world.run(&["explain", "--event", "UserPromptSubmit", "--", "a secret"]);
    assert!(prompt.out.contains("deny by user:p"), "{}{}", prompt.out, prompt.err);
    let after =
        world.run(&["explain", "-v", "--event", "PostToolUse", "--tool", "Bash", "--", "ls"]);
    assert!(after.out.contains("additionalContext\":\"seen\""), "{}", after.out);
    let wrong = world.run(&["explain", "--event", "Stop", "--tool", "Bash", "--", "ls"]);
    assert_eq!(wrong.code, 2);
    assert!(wrong.err.contains("leave --tool out"), "{}", wrong.err);
}

#[test]
fn an_untrusted_rule_is_shown_as_waiting() {
    let world = World::new();
    world.project_file("[rule.x]\ncommand = \"ls\"\nallow = \"x\"\n");
    let done = world.run(&["explain", "-v", "ls"]);
    for part in ["not trusted", "waits for `hookctl trust`", "project:x", "silent"] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
}

#[test]
fn s4_25_s3_20_every_event_tells_its_fields_and_what_blocks() {
    let world = World::new();
    for spec in hookctl::agent::AGENTS[0].events() {
        let name = spec.kind.name();
        let text = world.run(&["explain", "--event", name]);
        assert_eq!(text.code, 0, "{name}: {}", text.err);
        for part in [name, "input ", "output ", "verdicts ", "blocks ", "session_id"] {
            assert!(text.out.contains(part), "{name}: {part}: {}", text.out);
        }
        let value = world.run(&["explain", "--event", name, "--json"]).json();
        let samples = value["samples"].as_object().unwrap();
        for verb in spec.verbs {
            let sample = &samples[verb.name()];
            let stdout = &sample["stdout"];
            assert!(stdout.is_object() || sample["exit"] == 2, "{name} {verb:?}: {sample}");
            if let Some(named) = stdout.pointer("/hookSpecificOutput/hookEventName") {
                assert_eq!(named, name);
            }
        }
    }
    let all = world.run(&["explain", "--event", ""]);
    assert_eq!(all.code, 0);
    assert!(all.out.lines().count() > 33);
    let unknown = world.run(&["explain", "--event", "PreTolUse"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean `PreToolUse`?"), "{}", unknown.err);
    assert!(unknown.out.contains("PostToolUse"));
}

#[test]
fn s3_47_an_unreadable_payload_names_cause_and_what_the_hook_would_say() {
    let world = World::new();
    let cut = b"{\"hook_event_name\":\"PreToolUse\",\"tool_name\":";
    let done = world.feed(&["explain"], cut);
    assert_eq!((done.code, done.out.as_str()), (2, ""));
    assert!(done.err.contains("cut off after 44 bytes"), "{}", done.err);
    let hook = world.feed(&["hook"], cut);
    assert!(done.err.contains(hook.out.trim_end()), "{}{}", done.err, hook.out);
    for (args, cause) in [
        (&["explain", "nowhere.json"][..], "nowhere.json cannot be read"),
        (&["explain"], "no call: say"),
        (&["explain", "-"], "the payload is empty"),
        (&["explain", "--event", "Stop", "ls"], "has no place for a text"),
        (&["explain", "--tool", "Bash", "--event", "X", "--", "ls"], "no event"),
    ] {
        let done = world.run(args);
        assert_eq!(done.code, 2, "{args:?}");
        assert!(done.err.contains(cause), "{args:?}: {}", done.err);
    }
}

/// The rows of the failure table that a payload alone can bring about, against the hook itself.
#[test]
fn sx_the_failure_table_is_what_happens() {
    let world = World::new();
    let big = vec![b' '; (16 << 20) + 2];
    for (stdin, row) in [
        (&b"{\"x\":"[..], "cut off"),
        (b"[1]", "no JSON object"),
        (&big, "larger than 16 MiB"),
        (b"", "stdin is empty, with"),
    ] {
        assert!(world.run(&["explain", "--failures"]).out.contains(row), "{row}");
        let call = world.feed(&["hook", "--event", "PreToolUse"], stdin);
        assert_eq!(call.code, 0, "{row}");
        assert!(call.out.contains("\"permissionDecision\":\"ask\""), "{row}: {}", call.out);
        let dialog = world.feed(&["hook", "--event", "PermissionRequest"], stdin);
        assert_eq!((dialog.code, dialog.out.as_str()), (0, ""), "{row}");
        let other = world.feed(&["hook", "--event", "PostToolUse"], stdin);
        assert_eq!(other.code, 0, "{row}");
        assert!(other.out.starts_with("{\"systemMessage\":"), "{row}: {}", other.out);
        if !stdin.is_empty() {
            let nameless = world.feed(&["hook"], stdin);
            assert_eq!((nameless.code, nameless.out.as_str()), (2, ""), "{row}");
        }
    }
    let empty = world.feed(&["hook"], b"");
    assert_eq!((empty.code, empty.out.as_str()), (0, ""));
    assert!(empty.err.contains("explain"), "{}", empty.err);
}

/// The rows about rule files, against the hook itself.
#[test]
fn sx_broken_files_as_the_table_says() {
    let call = |world: &World, tool: &str| {
        let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s",
            "cwd": world.project(), "tool_name": tool, "tool_input": { "command": "ls" } });
        world.feed(&["hook"], payload.to_string().as_bytes()).out
    };
    for rules in ["x = = 1", "[rule.x]\ncomand = \"ls\"\ndeny = \"x\"\n"] {
        let out = call(&World::with(rules), "Bash");
        assert!(out.contains("\"ask\"") && out.contains("config.toml:"), "{rules}: {out}");
    }
    let other_event = World::with("[rule.x]\non = \"Stop\"\ncomand = \"ls\"\nblock = \"x\"\n");
    assert_eq!(call(&other_event, "Bash"), "");
    for bytes in [&b"x = = 1"[..], b"\xff"] {
        let world = World::new();
        std::fs::write(world.project().join(".hookctl.toml"), bytes).unwrap();
        let first = call(&world, "Bash");
        assert!(first.starts_with("{\"systemMessage\":"), "{first}");
        assert_eq!(call(&world, "Bash"), "", "once per session");
    }
}

#[test]
fn s3_44_failures_as_json_too() {
    let table = World::new().run(&["explain", "--failures", "--json"]).json();
    let rows = table.as_array().unwrap();
    assert!(rows.len() > 20);
    assert!(rows.iter().all(|row| row["what"].is_string() && row["tool_call"].is_string()));
}

#[test]
fn the_program_under_another_name_is_told_by_its_file() {
    if system::is_emulated() {
        return system::leave_out("a native process", "the kernel's word for the program itself");
    }
    let world = World::with("");
    let own = env!("CARGO_BIN_EXE_hookctl");
    let project = world.project();
    let copied = std::fs::copy(own, project.join("copied")).is_ok();
    let soft = system::symlink(own, project.join("soft")).is_ok();
    // Where the file systems differ there is no such link. Wine makes one from drive to drive, where Windows has none.
    let hard = std::fs::hard_link(own, project.join("hard")).is_ok()
        && (!cfg!(windows) || own.get(..2) == project.to_str().and_then(|path| path.get(..2)));
    if !hard {
        system::leave_out("the program on the drive of temporary files", "a hard link to it");
    }
    assert!(copied && (soft || cfg!(windows)));
    if !soft {
        system::leave_out("symbolic links", "a link to the program");
    }
    let other = if cfg!(windows) { r"C:\windows\system32\cmd.exe" } else { "/bin/sh" };
    std::fs::copy(other, project.join("other")).unwrap();
    let verdict = |command: &str| {
        let report = world.run(&["explain", "--json", "--tool", "Bash", "--", command]).json();
        report["verdict"].as_str().unwrap_or("silent").to_string()
    };
    for (name, _) in [("copied", copied), ("soft", soft), ("hard", hard)].iter().filter(|one| one.1)
    {
        assert_eq!(verdict(&format!("./{name} pause")), "deny", "{name}");
        assert_eq!(verdict(&format!("./{name} status")), "silent", "{name}");
    }
    assert_eq!(verdict("./other pause"), "silent");
    if hard {
        assert_eq!(verdict("echo x > hard"), "deny");
    }
    // The only name of the program that runs, behind whatever link.
    for (command, wanted) in
        [("rm copied", "deny"), ("mv copied x", "deny"), ("rm other", "silent")]
    {
        let explain = ["explain", "--json", "--tool", "Bash", "--", command];
        let output = std::process::Command::new(project.join("copied"))
            .args(explain)
            .current_dir(&project)
            .env("HOME", world.home())
            .output()
            .unwrap();
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(report["verdict"].as_str().unwrap_or("silent"), wanted, "{command}");
    }
}

/// `PROGRA~1`: the name that Windows gives a file beside its own.
#[test]
#[cfg(windows)]
fn a_short_name_is_the_file_that_it_names() {
    let world = World::with("");
    std::fs::write(world.project().join(".env"), "A=1\n").unwrap();
    std::fs::write(world.project().join("notes of mine.txt"), "A=1\n").unwrap();
    let mut list = world.command("cmd");
    let list = cli::finish(
        {
            list.args(["/d", "/c", "dir /x /a"]);
            list
        },
        b"",
    )
    .out;
    let short_name = |name: &str| {
        let before = list.lines().find_map(|line| line.trim_end().strip_suffix(name))?;
        before.split_whitespace().last().filter(|word| word.contains('~'))
    };
    let Some(short) = short_name(" .env") else {
        return system::leave_out("short names of files", &list);
    };
    let verdict = |args: &[&str]| {
        let report = world.run(&[&["explain", "--json", "--tool"], args].concat()).json();
        report["verdict"].as_str().unwrap_or("silent").to_string()
    };
    assert_eq!(verdict(&["Read", short]), "deny", "{short}");
    assert_eq!(verdict(&["Read", &short.to_ascii_lowercase()]), "deny", "{short}");
    assert_eq!(verdict(&["Bash", "--", &format!("cat {short}")]), "deny", "{short}");
    let other = short_name(" notes of mine.txt").expect("a short name");
    assert_eq!(verdict(&["Read", other]), "silent", "{other}");
}

#[test]
fn a_bare_text_is_a_bash_command_and_a_file_is_a_payload() {
    let world = World::with(RULES);
    let command = |args: &[&str]| {
        let report = world.run(&[&["explain", "--json"], args].concat()).json();
        report["input"]["command"].as_str().unwrap_or_default().to_string()
    };
    assert_eq!(command(&["git push -f"]), "git push -f");
    assert_eq!(command(&["git", "push"]), "git push");
    assert_eq!(command(&["--", "git", "push", "-f"]), "git push -f");
    assert_eq!(command(&["--tool", "Bash", "git push"]), "git push");
    // A script of that name is a command, a payload is one whatever its name.
    world.write(&world.project().join("x.sh"), "ls\n");
    assert_eq!(command(&["./x.sh"]), "./x.sh");
    let payload = r#" {"hook_event_name":"PreToolUse","tool_name":"Bash","tool_input":{"command":"from a file"}}"#;
    world.write(&world.project().join("payload"), payload);
    assert_eq!(command(&["payload"]), "from a file");
    let read = world.run(&["explain", "--tool", "Read", ".env"]);
    assert!(read.out.starts_with("deny by env-read: "), "{}", read.out);
}

#[test]
fn the_exit_status_tells_the_verdict_where_it_is_asked_to() {
    let world = World::with(RULES);
    for (call, status) in
        [("ls", 0), ("cat a", 0), ("eval \"$x\"", 3), ("git commit", 3), ("git push", 4)]
    {
        assert_eq!(world.run(&["explain", "--exit-code", call]).code, status, "{call}");
        assert_eq!(world.run(&["explain", "--exit-code", "--json", call]).code, status, "{call}");
        assert_eq!(world.run(&["explain", call]).code, 0, "{call}");
    }
}

#[test]
fn the_word_that_was_not_understood_is_named() {
    let world = World::new();
    for (call, word) in [
        ("rm -rf $DIR", "(its value is not known: `$DIR`)"),
        ("ls; eval \"$x\"", "(shell text known only at run time: `\"$x\"`)"),
        ("ls | $TOOL -x", "(a program known only at run time: `$TOOL`)"),
    ] {
        let done = world.run(&["explain", call]);
        let first = done.out.lines().next().unwrap_or_default();
        assert!(first.starts_with("ask by not-understood: ") && first.ends_with(word), "{first}");
    }
}

#[test]
fn a_rule_that_may_match_below_a_directory_is_named_with_its_file() {
    let world = World::with(
        "[rule.reads]\neffect = \"read\"\npath = \"./\"\nallow = \"reading\"\n\n\
         [rule.no-keys]\neffect = \"read\"\npath = \"*.key\"\ndeny = \"x\"\n",
    );
    world.write(&world.project().join("below/a.key"), "");
    let done = world.run(&["explain", "grep -r x ."]);
    for part in [
        "silent: the allow does not hold: read ",
        "user:no-keys (",
        "config.toml:6",
        "would deny at",
        "below/a.key",
    ] {
        assert!(done.out.lines().next().unwrap().contains(part), "{part}: {}", done.out);
    }
}

#[test]
fn what_would_run_is_shown_with_its_values() {
    let world = World::with(
        "[rule.fmt]\non = \"PostToolUse\"\ntool = \"Write\"\nrun = \"rustfmt --check {path} {tool}\"\n",
    );
    let done = world.run(&["explain", "--event", "PostToolUse", "--tool", "Write", "src/a b.rs"]);
    let path = world.project().join("src/a b.rs");
    let run = format!("rustfmt --check '{}' Write", system::text(path));
    assert!(
        done.out.starts_with(&format!("silent: user:fmt runs `{run}` and tells the model")),
        "{}",
        done.out
    );
    assert!(done.out.contains(&format!("would run: {run}\n")), "{}", done.out);
}

/// What a reason says of a command that nobody runs now: that it comes, and not that there was no error.
#[test]
fn a_reason_with_what_a_command_is_yet_to_say() {
    let rules = "[rule.made]\ncommand = \"make\"\nwhen = { run = \"touch ran\" }\n\
                 deny = \"a {error} b {run.output} c\"\n";
    let world = World::with(rules);
    let done = world.run(&["explain", "--", "make"]);
    assert!(done.out.contains("a (how it ends) b (what it prints) c"), "{}", done.out);
}
