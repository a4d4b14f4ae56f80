//! `hookctl import`, `stats` and `report` as processes.

mod cli;

use std::fs;

use cli::{World, system};
use serde_json::json;

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn permissions_become_rules_on_effects() {
    let world = World::new();
    let settings = json!({
        "permissions": {
            "deny": ["Bash(git push --force:*)", "Read(./.env)", "Bash(a (b:*)", "WebFetch(domain:evil.example)"],
            "ask": ["Bash(make deploy)"],
            "allow": ["Bash(cargo test:*)", "Bash(git push --dry-run:*)", "mcp__x__look", "Edit(/src/**)"],
            "defaultMode": "acceptEdits",
        },
    });
    world.write(&world.home().join(".claude/settings.json"), &settings.to_string());
    let done = world.run(&["import"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(done.out.contains("# stricter: on every road"), "{}", done.out);
    assert!(done.err.contains("permissions.defaultMode"), "{}", done.err);
    world.write(&world.user(), &done.out);
    let check = world.run(&["check"]);
    assert_eq!(check.code, 0, "{}{}", check.out, done.out);
    for (command, verdict) in [
        ("git push origin x --force", "deny"),
        ("cat .env", "deny"),
        ("make deploy", "ask"),
        ("cargo test foo", "allow"),
        ("curl https://evil.example", "deny"),
    ] {
        let said = world.run(&["explain", "--json", "--tool", "Bash", "--", command]).json();
        assert_eq!(said["verdict"], verdict, "{command}: {}", done.out);
    }
    assert_eq!(world.run(&["import", "--write"]).code, 1);
    let written = world.on_terminal(&["import", "--write"], "import rules\n");
    assert_eq!(written.code, 0, "{}", written.out);
    // Ids that are taken are not used again.
    assert!(fs::read_to_string(world.user()).unwrap().contains("-2]"), "{}", written.out);
    assert_eq!(world.run(&["check"]).code, 0);
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn scripts_and_other_guards() {
    let world = World::new();
    let script = world.project().join("guard.sh");
    world.write(
        &script,
        "#!/bin/bash\ncmd=$(jq -r .tool_input.command)\n\
         if echo \"$cmd\" | grep -qE 'git\\s+push\\s+--force|npm publish'; then exit 2; fi\n\
         if [[ \"$file\" == *\"package-lock.json\"* && \"$x\" =~ \"package-lock.json\" ]]; then exit 2; fi\n\
         if echo \"$cmd\" | grep -qE 'rm -rf (/|~)[^x]+'; then exit 2; fi\n",
    );
    let net = world.project().join("net.json");
    let rules = json!({ "version": 1, "rules": [
        { "name": "block-git-add-all", "command": "git", "subcommand": "add", "block_args": ["-A", "--all", "."], "reason": "Name files." },
        { "name": "odd", "command": "(", "block_args": ["x"] },
    ] });
    world.write(&net, &rules.to_string());
    let done = world.run(&["import", "guard.sh", "net.json"]);
    assert_eq!(done.code, 0, "{}{}", done.out, done.err);
    world.write(&world.user(), &done.out);
    assert_eq!(world.run(&["check"]).code, 0, "{}", done.out);
    assert!(done.err.contains("guard.sh:5: rm -rf"), "{}", done.err);
    assert!(done.err.contains("\"odd\""), "{}", done.err);
    for command in [
        "npm publish",
        "git push --force",
        "git add x .",
        "git add --all",
        "echo x > package-lock.json",
    ] {
        let said = world.run(&["explain", "--json", "--tool", "Bash", "--", command]).json();
        assert_eq!(said["verdict"], "deny", "{command}: {}", done.out);
    }
    let none = world.run(&["import"]);
    assert_eq!(none.code, 1, "{}", none.out);
}

fn journal(world: &World) {
    let mut text = String::new();
    for at in 0..12 {
        let decision = ["allow", "silent", "deny", "ask"][at % 4];
        let line = json!({
            "time": format!("2026-11-{:02}T10:00:00.000Z", 1 + at / 3), "agent": "claude", "event": "PreToolUse",
            "session": format!("s{}", at % 2), "cwd": world.project(), "tool": if at == 5 { "Read" } else { "Bash" },
            "what": format!("A=1 /usr/bin/git{} x", at % 3), "decision": decision, "ms": at,
            "rule": if at % 4 > 1 { "user:no" } else { "" },
            "rules": if at == 1 { json!(["pack-rule deny (observed)"]) } else { json!([]) },
        });
        text.push_str(&format!("{line}\n"));
    }
    text.push_str("{\"event\": 3}\nbroken\n");
    world.write(&world.state().join("journal.jsonl"), &text);
}

#[test]
fn stats_count() {
    let world = World::new();
    assert_eq!(world.run(&["stats"]).code, 1);
    journal(&world);
    let done = world.run(&["stats"]);
    assert_eq!(
        done.out,
        "12 events in 2 sessions of 1 project, 2026-11-01 to 2026-11-04\n\n  \
         allow         3   25.0 %  \u{2588}\u{2588}\u{2588} \n  \
         silent        2   16.7 %   \u{2588} \u{2588}\n  \
         passed        1    8.3 %  \u{2588}   \n  \
         ask           3   25.0 %   \u{2588}\u{2588}\u{2588}\n  \
         deny          3   25.0 %  \u{2588} \u{2588}\u{2588}\n\n\
         prompts  saved 3 at most, asked 3 by rules, 0 by the agent itself\n\
         time     6.0 ms half of all, 11.0 ms 95 of 100, 11.0 ms longest, 0.1 s together\n\n\
         what rules stopped\n         6  user:no  ask 3, deny 3, last 2026-11-04\n         \
         1  pack-rule  passed 1, last 2026-11-01\n\n\
         by program\n         4  git0  allow 1, silent 1, ask 1, deny 1\n         \
         4  git1  allow 1, passed 1, ask 1, deny 1\n         3  git2  allow 1, ask 1, deny 1\n         \
         1  Read  silent 1\n\n\
         by project\n        12  ~/project  allow 3, silent 2, passed 1, ask 3, deny 3\n"
    );
    assert!(done.err.contains("journal.jsonl:14: no JSON object"), "{}", done.err);
    let json = world.run(&["stats", "--json"]).json();
    assert_eq!(json["rules"]["user:no"]["deny"], 3);
}

#[test]
#[cfg_attr(windows, ignore = "needs symbolic links")]
fn the_page_replaces_only_its_own() {
    let world = World::new();
    journal(&world);
    let page = world.project().join("r.html");
    for _ in 0..2 {
        let done = world.run(&["report", "-o", "r.html"]);
        assert_eq!((done.code, done.err.lines().count()), (0, 1), "{}", done.err);
        assert!(fs::read_to_string(&page).unwrap().contains("<svg"));
    }
    world.write(&page, "mine");
    let kept = world.run(&["report", "-o", "r.html"]);
    assert_eq!(
        (kept.code, fs::read_to_string(&page).unwrap().as_str()),
        (2, "mine"),
        "{}",
        kept.err
    );
    system::symlink(world.user(), world.project().join("link.html")).unwrap();
    world.write(&world.user(), "profile = \"guard\"\n");
    assert_eq!(world.run(&["report", "-o", "link.html"]).code, 2);
    assert_eq!(world.run(&["report", "-o", "/dev/null/x.html"]).code, 2);
}
