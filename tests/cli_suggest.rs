//! `hookctl suggest`, `allow` and `deny` as processes.

#![cfg(unix)]

mod cli;

use std::fs;

use cli::World;
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
