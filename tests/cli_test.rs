//! `hookctl test` as a process.

mod cli;

use cli::{World, system};
use serde_json::{Value, json};

const RULES: &str = "[rule.delete-x]\ncommand = \"rm ** x\"\ndeny = \"Not x.\"\n\
                     [rule.on-main]\ncommand = \"git commit\"\nwhen = { run = \"touch ran\" }\nask = \"x\"\n";

fn test(call: &str, expected: &str) -> String {
    format!("[[test]]\n{call}\n{expected}\n")
}

#[test]
fn a_failure_is_a_diff_of_verdicts() {
    let world = World::with(RULES);
    let file = world.project().join("tests.toml");
    let text = [
        test("command = [\"rm -r x\", \"rm -r y\"]", "verdict = \"deny\"\nrule = \"delete-x\""),
        test(
            "name = \"named\"\ncommand = \"rm -f x\"",
            "verdict = \"ask\"\nrule = \"user:delete-x\"",
        ),
        test("read = [\"~/.ssh/id_rsa\", \"./.env\"]", "verdict = \"stopped\""),
        test("write = \"a.txt\"\ncwd = \"~\"", "verdict = \"passed\""),
        test("tool = \"WebFetch\"\ninput = { url = \"https://x.org\" }", "verdict = \"not deny\""),
    ]
    .concat();
    world.write(&file, &text);
    let done = world.run(&["test", "tests.toml"]);
    assert_eq!((done.code, done.err.as_str()), (1, ""));
    assert_eq!(
        done.out,
        "tests.toml:2: rm -r y\n  - deny delete-x\n  + silent\n\
         tests.toml:7: rm -f x (named)\n  - ask user:delete-x\n  + deny user:delete-x\n    \
         Not x. [user:delete-x]\n\
         5 passed, 2 failed\n"
    );
    let all = world.run(&["test", "--verbose", "tests.toml"]).out;
    assert!(all.contains("tests.toml:2: rm -r x: deny user:delete-x\n"), "{all}");
    let lines = world.run(&["test", "--json", "tests.toml"]);
    assert_eq!(lines.code, 1);
    let lines: Vec<Value> =
        lines.out.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    assert_eq!(lines.len(), 7);
    assert_eq!(lines[0]["passed"], true);
    assert_eq!((&lines[1]["verdict"], &lines[1]["line"]), (&json!("silent"), &json!(2)));
    assert_eq!(lines[2]["expected"], json!({ "verdict": "ask", "rule": "user:delete-x" }));
    assert_eq!(lines[5]["cwd"], json!(system::text(world.home())));
}

#[test]
fn without_files_the_tests_of_every_layer_are_judged_by_all_of_them() {
    let world = World::with(&format!(
        "{RULES}{}{}",
        test("command = \"rm x\"", "verdict = \"deny\""),
        test("command = \"npm test\"", "verdict = \"ask\"\nrule = \"project:no-npm\""),
    ));
    world.project_file(&format!(
        "[rule.no-npm]\ncommand = \"npm\"\nask = \"Really?\"\n{}",
        test("command = \"rm -f x\"", "verdict = \"deny\"\nrule = \"user:delete-x\""),
    ));
    let done = world.run(&["test"]);
    assert_eq!((done.code, done.out.as_str(), done.err.as_str()), (0, "3 passed, 0 failed\n", ""));
    assert!(system::is_untouched(&world.state()), "a test leaves nothing behind");
    // By itself, the user's file has no rule on npm.
    let done = world.run(&["test", "../.config/hookctl/config.toml"]);
    assert!(done.code == 1 && done.out.ends_with("1 passed, 1 failed\n"), "{}", done.out);
    // From elsewhere, for that project, with that config.
    let config = world.home().join(".config/hookctl");
    let mut command = world.start(&["test", "--project"]);
    command.arg(world.project()).arg("--config").arg(config).current_dir("/");
    let done = command.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "3 passed, 0 failed\n");
}

#[test]
fn a_file_with_rules_is_judged_by_itself() {
    let world = World::with("[rule.all]\ntool = \"*\"\ndeny = \"Nothing.\"\n");
    let file = world.project().join("own.toml");
    world.write(
        &file,
        &format!(
            "[rule.ls]\ncommand = \"ls\"\nask = \"x\"\n{}{}",
            test("command = \"ls\"", "verdict = \"ask\"\nrule = \"ls\""),
            test("command = \"id\"", "verdict = \"silent\"")
        ),
    );
    assert_eq!(world.run(&["test", "own.toml"]).out, "2 passed, 0 failed\n");
    let alone = test("command = \"id\"", "verdict = \"deny\"\nrule = \"user:all\"");
    let done = world.feed(&["test", "-"], alone.as_bytes());
    assert_eq!((done.code, done.out.as_str()), (0, "1 passed, 0 failed\n"));
    // A directory is its *.toml files; what only switches a profile stands for itself, too.
    let strict = test("command = \"cat \\\"$f\\\"\"", "verdict = \"stopped\"");
    let dir = world.project().join("dir");
    world.write(&dir.join("a.toml"), &format!("profile = \"strict\"\n{strict}"));
    world.write(&dir.join("b.toml"), &alone);
    world.write(&dir.join("c.txt"), "frob");
    let done = world.run(&["test", "dir"]);
    assert_eq!((done.code, done.out.as_str()), (0, "2 passed, 0 failed\n"), "{}", done.err);
    let done = world.run(&["test", "--profile", "guard", "dir/a.toml"]);
    assert!(done.code == 1 && done.out.ends_with("0 passed, 1 failed\n"), "{}", done.out);
}

#[test]
fn nothing_is_run() {
    let world = World::with(&format!(
        "{RULES}[rule.stop]\non = \"Stop\"\nrun = \"touch ran\"\nblock = \"x\"\n{}{}",
        test("command = \"git commit\"", "verdict = \"ask\""),
        test("payload = \"stop.json\"", "verdict = \"silent\""),
    ));
    let payload = world.user().with_file_name("stop.json");
    world.write(&payload, "{\"hook_event_name\": \"Stop\", \"session_id\": \"s\"}");
    let done = world.run(&["test"]);
    assert_eq!((done.code, done.out.as_str()), (0, "2 passed, 0 failed\n"));
    assert!(!world.project().join("ran").exists() && !world.home().join("ran").exists());
}

#[test]
fn faults_are_told_and_cost_no_rule() {
    let bad = "[[test]]\ncomand = \"ls\"\nverdict = \"dney\"\n";
    let world =
        World::with(&format!("{RULES}{bad}{}", test("command = \"rm x\"", "verdict = \"deny\"")));
    let done = world.run(&["test"]);
    assert_eq!(done.code, 1);
    for part in [
        "error[unknown-key]",
        "did you mean `command`?",
        "error[unknown-word]",
        "1 passed, 0 failed\n",
    ] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    let check = world.run(&["check", "--json"]);
    let codes: Vec<Value> =
        check.json().as_array().unwrap().iter().map(|one| one["code"].clone()).collect();
    for code in ["unknown-key", "bad-test", "unknown-word"] {
        assert!(codes.contains(&json!(code)), "{code}: {codes:?}");
    }
    assert_eq!(check.code, 1);
    // The hook path does not even notice.
    let call = |command: &str| {
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.project(),
            "tool_name": "Bash", "tool_input": { "command": command } })
        .to_string()
    };
    assert_eq!(world.feed(&["hook"], call("ls").as_bytes()).out, "");
    assert!(world.feed(&["hook"], call("rm x").as_bytes()).out.contains("user:delete-x"));
    // Where a rule cannot be read, nobody knows what it would have said.
    let world = World::with(&format!(
        "[rule.x]\nfrob = 1\ndeny = \"x\"\n{}",
        test("command = \"ls\"", "verdict = \"ask\"")
    ));
    let done = world.run(&["test"]);
    assert!(
        done.code == 1 && done.out.ends_with("0 passed, 0 failed, 1 not run\n"),
        "{}",
        done.out
    );
}

#[test]
fn no_tests_and_wrong_usage() {
    let world = World::new();
    let done = world.run(&["test"]);
    assert_eq!(done.code, 0);
    assert_eq!(done.out, "No test: there is no rule file here.\n0 passed, 0 failed\n");
    world.write(&world.user(), RULES);
    let done = world.run(&["test"]);
    assert_eq!(done.out, "No [[test]] in ~/.config/hookctl/config.toml.\n0 passed, 0 failed\n");
    for args in [
        &["test", "nope.toml"][..],
        &["test", "--since", "1d"],
        &["test", "--journal", "x.toml"],
        &["test", "--profile", "lax"],
        &["test", "--journal", "--since", "soon"],
    ] {
        let done = world.run(args);
        assert_eq!((done.code, done.out.as_str()), (2, ""), "{args:?}");
    }
}

fn line(event: &str, tool: &str, what: &str, cwd: &std::path::Path, decision: &str) -> String {
    let time = if what.contains("old") {
        "2001-01-01T00:00:00Z".to_string()
    } else {
        format!("{:.3}", jiff::Timestamp::now())
    };
    json!({ "time": time, "agent": "claude", "event": event, "cwd": cwd, "tool": tool,
        "what": what, "decision": decision, "rule": "", "ms": 1.0 })
    .to_string()
        + "\n"
}

#[test]
fn the_journal_is_held_against_todays_rules() {
    let world = World::with(&format!(
        "{RULES}[rule.plan]\ntool = \"WebFetch\"\nwhen = {{ permission_mode = \"plan\" }}\ndeny = \"x\"\n"
    ));
    let here = world.project();
    let journal = world.state().join("journal.jsonl");
    let pre = |what: &str, decision: &str| line("PreToolUse", "Bash", what, &here, decision);
    let rotated = [pre("rm x", "silent"), pre("ls", "silent")].concat();
    world.write(&journal.with_extension("jsonl.1"), &rotated);
    let lines = [
        pre("rm x", "silent"),
        pre("rm x", "deny"),
        pre("rm old", "deny"),
        pre("git commit", "ask"),
        pre("echo [redacted]", "silent"),
        pre("echo xx [9 bytes more]", "silent"),
        line("PostToolUse", "Bash", "ls", &here, "silent"),
        line("PreToolUse", "Grep", "src", &here, "silent"),
        line("PreToolUse", "Read", "/w/.env", &here, "deny"),
        "torn{\n".to_string(),
    ];
    world.write(&journal, &lines.concat());
    let done = world.run(&["test", "--journal"]);
    assert_eq!((done.code, done.err.as_str()), (1, ""));
    assert_eq!(
        done.out,
        "Bash: rm x (~/project, 2 times)\n  - silent\n  + deny user:delete-x\n    Not x. [user:delete-x]\n\
         Bash: rm old (~/project)\n  - deny\n  + silent\n\
         Not judged: 2 cut or redacted, 1 of Grep, 1 of PostToolUse, 1 unreadable, 1 where a rule runs a command or asks a server\n\
         Not seen as they were, for they look at more than the journal holds: user:plan, editor-tasks-written, editor-tasks-edited, agent-unasked-written, agent-unasked-edited, hooks-disabled, hooks-disabled-by-edit\n\
         6 judged, 3 would change\n"
    );
    let done = world.run(&["test", "--journal", "--since", "1d", "--json"]);
    assert_eq!(done.code, 1);
    let all: Vec<Value> =
        done.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((all.len(), &all[0]["times"], &all[0]["changed"]), (4, &json!(2), &json!(true)));
    assert!(all.iter().all(|one| one["what"] != "rm old"));
    assert!(!world.project().join("ran").exists());
    world.write(&journal, &pre("ls", "silent"));
    std::fs::remove_file(journal.with_extension("jsonl.1")).unwrap();
    let done = world.run(&["test", "--journal"]);
    assert_eq!(done.code, 0);
    assert!(done.out.ends_with("1 judged, 0 would change\n"), "{}", done.out);
}
