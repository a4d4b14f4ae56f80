//! `hookctl check` as a process.

mod cli;

use std::fs;

use cli::{World, system};
use serde_json::Value;

/// The codes with their lines, as `--json` prints them.
fn codes(world: &World, args: &[&str]) -> Vec<(String, u64)> {
    let done = world.run(&[&["check", "--json"], args].concat());
    let code = |finding: &Value| finding["code"].as_str().unwrap().to_string();
    let line = |finding: &Value| finding["line"].as_u64().unwrap();
    done.json().as_array().unwrap().iter().map(|f| (code(f), line(f))).collect()
}

#[test]
fn s3_21_every_fault_is_named_with_line_caret_and_remedy() {
    let world = World::with(
        "profle = \"strict\"\n[rule.a]\ncomand = \"ls\"\ndeny = \"x\"\n\n[rule.b]\neffect = \
         \"reed\"\npath = \"x\"\nask = \"{pth}\"\n",
    );
    let done = world.run(&["check"]);
    assert_eq!(done.code, 1, "{}", done.err);
    for part in [
        "error[unknown-key]: unknown key `profle`",
        "did you mean `profile`?",
        "config.toml:3:1",
        "3 | comand = \"ls\"\n  | ^^^^^^\n  = help: did you mean `command`?",
        "config.toml:7:10",
        "did you mean `read`?",
        "error[bad-template]",
        "4 errors",
    ] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    assert!(!done.out.contains('\u{1b}'), "no colours off a terminal");
}

#[test]
fn a_key_of_a_rule_above_all_rules_is_told_where_it_belongs() {
    for (key, belongs) in [("deny = 'x'", true), ("command = 'ls'", true), ("zzz = 1", false)] {
        let done = World::with(&format!("{key}\n")).run(&["check", "--json"]);
        let fault = &done.json()[0];
        assert_eq!(fault["code"], "unknown-key", "{key}: {}", done.out);
        assert_eq!(
            fault.to_string().contains("belongs into a rule"),
            belongs,
            "{key}: {}",
            done.out
        );
    }
}

#[test]
fn a_broken_script_is_a_fault_of_its_rule_wherever_it_stands() {
    let script = "run = \"echo $(foo\"";
    for (rule, code) in [
        (script.to_string(), "bad-script"),
        ("hook = \"./x ${y\"".to_string(), "bad-script"),
        (format!("context = {{ {script} }}"), "bad-script"),
        (format!("notify = {{ {script} }}"), "bad-script"),
        (format!("when = {{ {script} }}\ndeny = \"x\""), "bad-script"),
        (format!("unless = {{ when = {{ {script} }} }}\ndeny = \"x\""), "bad-script"),
        ("notify = { file = 'x' }".into(), "unknown-key"),
        ("run = \"cat ${path}\"".into(), "bad-script"),
        ("run = \"cat ${{path\"".into(), "bad-script"),
        ("run = 'cat {path|s/a/b}'".into(), "bad-template"),
        ("run = 'cat {path|s/(/x/}'".into(), "bad-regex"),
        ("unless = { when = { run = 'cat {path|s/(/x/}' } }\ndeny = 'x'".into(), "bad-regex"),
        ("deny = '{path|s/[/x/}'".into(), "bad-regex"),
        ("context = '{path|s/[/x/}'".into(), "bad-regex"),
        ("env = { A = '{path|s/[/x/}' }".into(), "bad-regex"),
        ("unless = { when = { run = 'cat \"{path}\"' } }\ndeny = 'x'".into(), "quoted-placeholder"),
    ] {
        let world = World::with(&format!("[rule.x]\neffect = \"read\"\n{rule}\n"));
        let done = world.run(&["check", "--json"]);
        assert_eq!(done.code, 1, "{rule}: {}", done.out);
        assert_eq!(done.json()[0]["code"], code, "{rule}: {}", done.out);
    }
    for rule in ["run = 'test \"$(git branch)\" = main'", "run = 'cat {path|s/(a)/b/} \"$HOME\"'"] {
        let world = World::with(&format!("[rule.x]\neffect = \"read\"\n{rule}\n"));
        let done = world.run(&["check", "--json"]);
        assert_eq!(done.out.trim(), "[]", "{rule}");
    }
}

#[test]
fn s2_31_a_verb_that_the_event_cannot_express_names_rule_event_and_verbs() {
    let world = World::with("[rule.late]\non = \"Stop\"\nallow = \"x\"\n");
    let done = world.run(&["check", "--json"]);
    assert_eq!(done.code, 1);
    let finding = &done.json()[0];
    assert_eq!(finding["rule"], "late");
    assert_eq!(finding["code"], "verb-not-for-event");
    assert!(finding["message"].as_str().unwrap().contains("Stop"));
    assert_eq!(finding["hint"], "it takes halt, deny");
    for key in ["file", "line", "column", "severity"] {
        assert!(!finding[key].is_null(), "{key}");
    }
}

#[test]
fn s2_21_neither_ask_nor_context_on_a_permission_request() {
    for (rule, code) in [
        ("ask = \"x\"", "verb-not-for-event"),
        ("context = \"x\"", "key-not-for-event"),
        ("context = { run = \"date\" }", "key-not-for-event"),
    ] {
        let world = World::with(&format!("[rule.x]\non = \"PermissionRequest\"\n{rule}\n"));
        let done = world.run(&["check", "--json"]);
        assert_eq!(done.code, 1, "{rule}");
        assert_eq!(done.json()[0]["code"], code, "{rule}");
    }
}

#[test]
fn what_can_never_work_is_a_warning() {
    for (rules, code, line) in [
        ("[rule.x]\non = \"Stop\"\npath = \"a\"\nblock = \"x\"", "never-matches", 3),
        ("[rule.x]\non = \"Stop\"\ntool = \"Bash\"\nblock = \"x\"", "never-matches", 3),
        ("[rule.x]\non = \"PreToolUse\"\nprompt = \"a\"\ndeny = \"x\"", "never-matches", 3),
        (
            "[rule.x]\non = \"PreToolUse\"\nresponse = { stdout = \"*\" }\ndeny = \"x\"",
            "never-matches",
            3,
        ),
        ("[rule.x]\ntool = [\"Read\", \"bash\"]\ndeny = \"x\"", "never-matches", 2),
        ("[rule.x]\nmatch = \"Wrte\"\ndeny = \"x\"", "never-matches", 2),
        ("[rule.x]\nwhen = { source = \"startup\" }\ndeny = \"x\"", "never-matches", 2),
        ("[rule.x]\nwhen = { success = true }\ndeny = \"x\"", "never-matches", 2),
        ("[rule.x]\npath = \"*.{ts,tsx}\"\ndeny = \"x\"", "brace-in-glob", 2),
        ("[rule.x]\nwithin = \"src/{a,b}\"\ndeny = \"x\"", "brace-in-glob", 2),
        ("[rule.x]\ntool = \"[z-a]*\"\ndeny = \"x\"", "bad-glob", 2),
        (
            "[rule.x]\non = \"PostToolUse\"\nrun = \"true\"\nlimit = \"90s\"",
            "limit-over-deadline",
            4,
        ),
        ("[rule.x]\nremote = \"nobody\"", "unknown-remote", 2),
        ("[rule.x]\ncommand = \"git push\"\nallow = \"x\"", "allow-leaves-room", 2),
        ("[rule.x]\ncommand = \"git push origin *\"\nallow = \"x\"", "allow-leaves-room", 2),
        ("[rule.x]\nmatch = \"Bash(git push:*)\"\nallow = \"x\"", "allow-leaves-room", 2),
        ("[rule.x]\ncommand = [\"ls\", \"sort --*\"]\nallow = \"x\"", "allow-leaves-room", 2),
        ("[rule.x]\nhook = \"cupcake eval --harness claude\"", "cupcake-not-strict", 2),
        (
            "[rule.x]\non = [\"Stop\", \"SubagentStart\"]\nhook = \"./policies.sh\"\ndialect = \
             \"cupcake\"",
            "cupcake-event",
            2,
        ),
        (
            "[rule.y]\ncommand = \"git push\"\ndeny = \"y\"\n[rule.x]\ncommand = \"git \
             push\"\nask = \"x\"",
            "shadowed",
            6,
        ),
        (
            "[rule.y]\neffect = \"delete\"\nrecursive = true\ndeny = \"y\"\n[rule.x]\neffect = \
             \"delete\"\nrecursive = true\nask = \"x\"",
            "shadowed",
            8,
        ),
        (
            "[rule.y]\neffect = \"read\"\ndeny = \"y\"\n[rule.x]\neffect = \"read\"\npath = \
             \"a\"\nallow = \"x\"",
            "shadowed",
            7,
        ),
    ] {
        let world = World::with(rules);
        let found = codes(&world, &[]);
        assert!(found.contains(&(code.to_string(), line)), "{rules}: {found:?}");
        if code != "bad-glob" {
            assert_eq!(world.run(&["check"]).code, 0, "{rules}");
        }
    }
    let world = World::with("[rule.x]\ntool = \"bash\"\ndeny = \"x\"");
    assert!(world.run(&["check"]).out.contains("did you mean `Bash`?"));
}

/// What is spelled as elsewhere holds for nothing here, and the hint says how it is spelled.
#[test]
fn patterns_in_another_spelling_are_told_with_the_right_one() {
    for (keys, hint) in [
        ("path = '$HOME/notes'", "write `~/notes`"),
        ("path = '${HOME}/notes'", "write `~/notes`"),
        ("path = '!$HOME'", "write `~/`"),
        ("path = '$CLAUDE_PROJECT_DIR/src'", "write `./src`"),
        ("path = '%USERPROFILE%\\notes'", "write `~/notes`"),
        ("path = ['./x', ' ./src']", "write `./src`"),
        ("path = './src '", "write `./src`"),
        ("path = 'src\\main.rs'", "write `src/main.rs`"),
        ("path = 'file:///srv/x'", "write `/srv/x`"),
        ("within = '$PWD/x'", "write `./x`"),
        ("match = 'Edit($HOME/x)'", "write `~/x`"),
        ("match = 'Bash(curl:* | sh)'", "write `Bash(curl:*)`"),
        ("command = 'git push:*'", "write `git push`"),
        ("command = 'Bash(git push:*)'", "write `match = \"Bash(git push:*)\"`"),
        ("command = 'git push, git pull'", "write a list: command = [\"...\", \"...\"]"),
        ("command = 'git.*push'", "write `git push`"),
        ("command = '^git push'", "write `git push`"),
        ("command = '^git push.*$'", "write `git push`"),
        ("command = 'git push .+'", "write `git push`"),
        ("command = 'git {push,pull} x'", "write `git (push | pull) x`"),
        ("command = 'git \"push\"'", "write `git push`"),
        ("command = 'git push # never'", "write `git push`"),
        ("command = 'psql -h prod*'", "write `-h=prod*`"),
        ("command = 'helm (upgrade | install) ** -n staging'", "write `-n=staging`"),
        ("command = 'docker run --name='", "write `--name=*`"),
        ("host = '@projet'", "write `@project`"),
        ("host = '.github.com'", "write `*.github.com`"),
        ("host = ' github.com'", "write `github.com`"),
        ("host = 'a.com, b.com'", "write a list: host = [\"...\", \"...\"]"),
        ("command = 'rm'\nunless = { path = '$HOME/x' }", "write `~/x`"),
        ("command = 'rm'\nagent = 'claud'", "did you mean `claude`?"),
        (
            "command = 'rm'\nwhen = { permission_mode = 'bypass' }",
            "did you mean `bypassPermissions`?",
        ),
        ("package = 'lodash@4'", "write `lodash`"),
        ("package = 'npm:@evil/x@^1.2'", "write `npm:@evil/x`"),
        ("package = 'npmm:lodash'", "did you mean `npm:lodash`?"),
        ("effect = 'delete'\nhost = 'x.org'", "say `network` or `send`, or leave the host out"),
    ] {
        let done =
            World::with(&format!("[rule.x]\n{keys}\ndeny = 'x'\n")).run(&["check", "--json"]);
        let found = done.json();
        assert_eq!(found[0]["code"], "never-matches", "{keys}: {found}");
        assert_eq!(found[0]["hint"], hint, "{keys}: {found}");
        assert_eq!(done.code, 0, "{keys}");
    }
    let script = World::with("[rule.x]\ntool = 'Bash'\nhook = '/nowhere/check.sh --strict'\n");
    assert_eq!(codes(&script, &[]), [("never-matches".to_string(), 3)]);
}

#[test]
fn what_works_is_no_finding() {
    for rules in [
        // Letters that mean something elsewhere, where they are letters.
        "[rule.x]\npath = ['$RECYCLE.BIN', '*.md', 'a\\*b', './50%', 'C:/x', '~/x']\ndeny = \"x\"",
        "[rule.x]\ncommand = ['npm run test:*', 'yarn test:*', 'git push ** *:main', 'docker push me:*', 'rm .*']\ndeny = \"x\"",
        "[rule.x]\ncommand = ['python3.*', 'git log --format=%h,%s', 'kubectl --context=prod*', 'rm -r *', 'git commit -m']\ndeny = \"x\"",
        "[rule.x]\nhost = ['@project', '*.github.com', 'localhost', 'a, b', '10.*']\ndeny = \"x\"",
        "[rule.x]\npackage = ['left-pad', 'npm:@evil/*', 'git:*', '@evil/*', 'github:evil/*', 'Foo::Bar', 'com.x:y', 'registry:x', 'url:https://x/*']\ndeny = \"x\"",
        "[rule.x]\nagent = ['c*', 'gemini, qwen', '!unknown']\ncommand = 'rm'\ndeny = \"x\"",
        "[rule.x]\nwhen = { permission_mode = ['acceptEdits', 'yolo', 'auto-*'] }\ncommand = 'rm'\ndeny = \"x\"",
        "[rule.x]\neffect = ['delete', 'network']\nhost = 'x.org'\ndeny = \"x\"",
        "[rule.x]\nmatch = ['Bash(npm run test:*)', 'Bash(git push:*)', 'Edit(//etc/**)']\ndeny = \"x\"",
        "[rule.x]\ntool = [\"mcp__github__*\", \"Agent\", \"*\"]\ndeny = \"x\"",
        "[rule.x]\non = \"*\"\nhook = \"cupcake eval --harness claude --strict\"",
        "[rule.x]\nhook = \"./policies.sh\"\ndialect = \"cupcake\"",
        // The client's matcher, and no glob.
        "[rule.x]\ntool = \"mcp__[a-z]{1,9}__.*\"\nhook = \"./policies.sh\"",
        "[rule.x]\ntool = \"mcp__[a-z]{1,9}__.*\"\nhook = { settings = \"~/.claude/settings.json\" }",
        // What these leave open is harmless, or stays asked.
        "[rule.x]\ncommand = [\"git push origin main\", \"git push origin feature/*\", \"git *\", \"npm *\", \"sort\"]\nallow = \"x\"",
        "[rule.x]\nmatch = [\"Bash(npm test:*)\", \"Bash(ls:*)\", \"Bash(git push origin main)\"]\nallow = \"x\"",
        "[rule.x]\ncommand = \"git push *\"\nask = \"x\"",
        "[rule.x]\nhook = \"cupcake eval\"\ndialect = \"claude\"",
        "[rule.x]\nagent = \"gemini\"\ntool = \"own_tool\"\ndeny = \"x\"",
        "[rule.x]\non = [\"PreToolUse\", \"Stop\"]\npath = \"a\"\ndeny = \"x\"",
        "[rule.x]\non = \"Stop\"\nwhen = { agent_type = \"x\" }\nrun = \"true\"\nlimit = \"9m\"",
        "[rule.x]\non = \"SessionStart\"\nwhen = { source = \"startup\" }\ncontext = \"x\"",
        // A condition, an `unless` or another effect: the weaker rule still has its say.
        "[rule.y]\neffect = \"read\"\npath = \"a\"\ndeny = \"y\"\n[rule.x]\neffect = \
         \"read\"\nask = \"x\"",
        "[rule.y]\neffect = \"read\"\nunless = { path = \"b\" }\ndeny = \"y\"\n[rule.x]\neffect = \
         \"read\"\nallow = \"x\"",
        "[rule.y]\neffect = \"execute\"\ndeny = \"y\"\n[rule.x]\neffect = \"execute\"\ncommand = \
         \"ls\"\nask = \"x\"",
        "[rule.y]\ncommand = \"git push\"\nwithin = \"./sub\"\ndeny = \"y\"\n[rule.x]\ncommand = \
         \"git push\"\nask = \"x\"",
        "[rule.y]\neffect = \"delete\"\nrecursive = true\ndeny = \"y\"\n[rule.x]\neffect = \
         \"delete\"\nask = \"x\"",
        "[rule.y]\ncommand = \"git push\"\nmode = \"observe\"\ndeny = \"y\"\n[rule.x]\ncommand = \
         \"git push\"\nask = \"x\"",
    ] {
        assert_eq!(codes(&World::with(rules), &[]), [], "{rules}");
    }
}

#[test]
fn every_layer_is_checked_and_files_by_name() {
    let world = World::with("[rule.a]\nask = 1\n");
    let project = world.project_file("[rule.b]\nrun = \"date\"\n[rule.c]\ndeny = \"x\"\n");
    let found = codes(&world, &[]);
    let found: Vec<&str> = found.iter().map(|(code, _)| code.as_str()).collect();
    assert_eq!(found, ["wrong-type", "waits-for-trust"]);
    let done = world.run(&["check", ".hookctl.toml"]);
    assert_eq!(done.code, 0, "{}", done.out);
    assert!(done.out.contains("info[waits-for-trust]") && done.out.contains("not trusted"));
    // As a user's file the same rules wait for nobody.
    let copy = world.project().join("copy.toml");
    fs::copy(project, &copy).unwrap();
    assert_eq!(codes(&world, &["copy.toml"]), []);
}

#[test]
#[cfg_attr(windows, ignore = "needs modes of files")]
fn s3_47_what_cannot_be_read_or_trusted_names_cause_and_remedy() {
    let world = World::with("");
    let done = world.run(&["check", "nowhere.toml"]);
    assert_eq!(done.code, 2);
    assert!(done.out.contains("there is no such file"), "{}", done.out);
    system::set_mode(world.user(), 0o666);
    let done = world.run(&["check"]);
    assert_eq!(done.code, 1);
    assert!(done.out.contains("chmod go-w"), "{}", done.out);
    let status = world.run(&["status", "--json"]).json();
    assert_eq!(status["config_faults"].as_array().unwrap().len(), 1, "{status}");
    system::set_mode(world.user(), 0o600);
    fs::write(world.user(), b"# \xff\n").unwrap();
    let done = world.run(&["check"]);
    assert_eq!(done.code, 1);
    assert!(done.out.contains("not UTF-8"), "{}", done.out);
}

#[test]
fn events_that_nobody_registered_are_told_and_install_registers_them() {
    let world = World::with("[rule.x]\non = \"CwdChanged\"\nrun = \"true\"\n");
    assert_eq!(codes(&world, &[]), [], "not installed: nothing to compare with");
    assert_eq!(world.run(&["install", "--events", "PreToolUse"]).code, 0);
    assert_eq!(codes(&world, &[]), [("event-not-registered".to_string(), 2)]);
    let status = world.run(&["status", "--json"]).json();
    assert!(status["files"].to_string().contains("CwdChanged"), "{status}");
    assert_eq!(world.run(&["install"]).code, 0);
    assert_eq!(codes(&world, &[]), []);
}

#[test]
fn events_that_a_server_wants_and_nobody_registered_are_told_as_well() {
    let url = "url = \"http://localhost:1\"";
    let world = World::with(&format!("[remote.x]\n{url}\nevents = [\"Stop\", \"PreToolUse\"]\n"));
    assert_eq!(codes(&world, &[]), []);
    assert_eq!(world.run(&["install", "--events", "PreToolUse"]).code, 0);
    assert_eq!(codes(&world, &[]), [("event-not-registered".to_string(), 3)]);
    let told = world.run(&["check"]).out;
    assert!(told.contains("[remote.x]") && told.contains("for Stop"), "{told}");
    // The server of a server.json wants seven.
    fs::write(world.user(), "").unwrap();
    let settings = world.user().with_file_name("server.json");
    fs::write(settings, "{ \"server_url\": \"http://localhost:1\" }").unwrap();
    assert_eq!(codes(&world, &[]), [("event-not-registered".to_string(), 1)]);
    assert_eq!(world.run(&["install"]).code, 0);
    assert_eq!(codes(&world, &[]), []);
}

#[test]
#[cfg_attr(windows, ignore = "needs a variable that moves the user's files")]
fn without_any_file_there_is_nothing_wrong() {
    let world = World::new();
    let done = world.run(&["check"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert!(done.out.contains("hookctl init"), "{}", done.out);
    assert_eq!(world.run(&["check", "--json"]).json(), Value::Array(Vec::new()));
}

#[test]
fn s3_53_a_file_of_a_newer_version_is_told_with_its_line_and_what_to_do() {
    for (version, code) in [
        ("1", None),
        ("2", Some("newer-version")),
        ("18446744073709551615", Some("newer-version")),
        ("0", Some("out-of-range")),
        ("-1", Some("out-of-range")),
        ("\"1\"", Some("wrong-type")),
        ("1.0", Some("wrong-type")),
    ] {
        let world = World::with(&format!("# mine\nversion = {version}\n"));
        let found = world.run(&["check", "--json"]).json();
        let found: Vec<&str> =
            found.as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
        assert_eq!(found, Vec::from_iter(code), "version = {version}");
    }
    for (wanted, code) in [
        ("\">=0.1\"", None),
        ("\">= 0.0.9\"", None),
        ("\"0\"", None),
        // This very one.
        ("\"OWN\"", None),
        ("\">=OWN\"", None),
        ("\">=99.1\"", Some("newer-version")),
        ("\"99\"", Some("newer-version")),
        ("\"0.1.0.0\"", Some("newer-version")),
        ("\"~1\"", Some("newer-version")),
        ("\"\"", Some("newer-version")),
        ("99", Some("wrong-type")),
    ] {
        let wanted = wanted.replace("OWN", env!("CARGO_PKG_VERSION"));
        let world = World::with(&format!("requires = {wanted}\n"));
        let found = world.run(&["check", "--json"]).json();
        let found: Vec<&str> =
            found.as_array().unwrap().iter().map(|one| one["code"].as_str().unwrap()).collect();
        assert_eq!(found, Vec::from_iter(code), "requires = {wanted}");
    }
    let world = World::with("requires = \">=99\"\nnew_key = 1\n");
    let done = world.run(&["check"]);
    let text = done.out + &done.err;
    let (wants, key) = (text.find("wants hookctl >=99"), text.find("unknown key `new_key`"));
    assert!(wants.is_some() && wants < key, "{text}");
    let world = World::with("# mine\nversion = 2\n");
    let done = world.run(&["check"]);
    assert_eq!(done.code, 1);
    let text = done.out + &done.err;
    for part in ["config.toml:2:11", "install a newer hookctl", "write the file in version 1"] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn a_rule_that_stands_twice_is_told_with_both_places() {
    for (rules, places) in [
        (
            "[rule.a]\ncommand = \"x\"\ndeny = \"x\"\n\n[rule.b]\ncommand = \"x\"\ndeny = \"x\"\n\n[rule.a]\n\
             command = \"y\"\ndeny = \"y\"\n",
            &[(9, Some(1))][..],
        ),
        // In one table a key stands twice, in the next it does not.
        (
            "[rule.a]\ndeny = \"x\"\ncommand = \"x\"\ndeny = \"y\"\n\n[rule.b]\ndeny = \"y\"\n",
            &[(4, Some(2))],
        ),
        (
            "[rule.a]\ndeny = \"x\"\n[rule.a]\ndeny = \"y\"\n[rule.b]\nask = \"x\"\nask = \"y\"\n[rule.a]\n",
            &[(3, Some(1)), (7, Some(6)), (8, Some(3))],
        ),
        ("[rule]\na = { deny = \"x\" }\n[rule.b]\n[rule]\n", &[(4, Some(1))]),
    ] {
        let world = World::with(rules);
        let told = world.run(&["check"]);
        assert_eq!(told.code, 1, "{}", told.out);
        let found = world.run(&["check", "--json"]).json();
        let found = found.as_array().unwrap();
        assert_eq!(found.len(), places.len(), "{rules}: {}", told.out);
        for (finding, (line, first)) in found.iter().zip(places) {
            assert_eq!(finding["line"], *line, "{}", told.out);
            let first = first.map(|first| format!("stands at config.toml:{first} already"));
            let hint = finding["hint"].as_str().unwrap_or_default();
            assert!(first.is_none_or(|first| hint.contains(&first)), "{hint}");
        }
    }
}

/// What `init` writes, with the `#` taken away from each line that is no prose.
fn uncommented(text: &str) -> Vec<String> {
    let plain = |line: &str| match line.strip_prefix('#') {
        Some(rest) if !rest.starts_with(' ') && !rest.is_empty() => format!("{rest}\n"),
        _ => String::new(),
    };
    text.split("\n\n").map(|block| block.lines().map(plain).collect::<String>()).collect()
}

#[test]
fn what_init_writes_holds_when_it_is_uncommented() {
    for args in [&["init"][..], &["init", "--project"]] {
        // A directory that the command line names has to hold a file.
        let named = cfg!(windows) && args.len() > 1;
        let world = if named { World::with("") } else { World::new() };
        assert_eq!(world.run(args).code, 0);
        let file = match args.len() {
            1 => world.user(),
            _ => world.project().join(".hookctl.toml"),
        };
        let text = std::fs::read_to_string(&file).unwrap();
        assert_eq!(world.run(&["check", "--json"]).out.trim(), "[]", "as it is written");
        // What an example runs is the user's own.
        for dir in [world.project(), world.user().parent().unwrap().into()] {
            world.write(&dir.join("hooks/check.sh"), "exit 0\n");
        }
        let mut blocks = uncommented(&text);
        blocks.retain(|block| !block.is_empty());
        assert!(blocks.len() > 12, "{blocks:?}");
        for block in blocks.iter().chain([&blocks.join("\n")]) {
            world.write(&file, block);
            let done = world.run(&["check", "--json"]);
            let found = done.json();
            let mut found = found.as_array().unwrap().iter();
            // That a project's rules wait for trust is no fault.
            let fault = found.find(|one| one["severity"] != "info");
            assert_eq!((done.code, fault), (0, None), "{block}: {}", done.err);
        }
        let tests = world.run(&["test"]);
        assert_eq!(tests.code, 0, "{}{}", tests.out, tests.err);
    }
}
