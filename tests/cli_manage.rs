//! `hookctl trust`, `pause`, `resume`, `log` and `init` as processes, on terminals where humans
//! are asked for.

mod cli;

use std::fs;
use std::io::Read as _;
use std::path::Path;
use std::time::{Duration, Instant};

#[cfg(unix)]
use cli::finish;
use cli::{World, system};
use serde_json::{Value, json};

const PROJECT: &str = "[rule.no-push]\ncommand = \"git push\"\ndeny = \"x\"\n\
                       [rule.listing]\ncommand = \"ls\"\nallow = \"listing\"\n\
                       [rule.fmt]\non = \"PostToolUse\"\nrun = \"sh tools/fmt.sh\"\n";

fn mode(path: &Path) -> u32 {
    system::mode(path)
}

fn ls(world: &World) -> String {
    let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s",
        "cwd": world.project(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
    world.feed(&["hook"], payload.to_string().as_bytes()).out
}

fn project() -> World {
    let world = World::new();
    world.project_file(PROJECT);
    world.write(&world.project().join("tools/fmt.sh"), "exit 0\n");
    world
}

#[test]
#[cfg(unix)]
fn what_is_trusted_is_not_written_over_where_it_cannot_be_believed() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = project();
    let store = world.state().join("trust.json");
    let entry = json!({"format": 2, "hash": "0", "programs": {}});
    let text = json!({ "files": { "/elsewhere/.hookctl.toml": entry } }).to_string();
    world.write(&store, &text);
    let mode = |bits| fs::set_permissions(&store, fs::Permissions::from_mode(bits)).unwrap();
    for (what, broken, bits) in
        [("others may write it", text.as_str(), 0o666), ("broken", "{", 0o600)]
    {
        world.write(&store, broken);
        mode(bits);
        for args in [&["trust"][..], &["trust", "--list"], &["trust", "--revoke"]] {
            let done = world.on_terminal(args, "trust project\n");
            assert_eq!(done.code, 2, "{what} {args:?}: {}", done.out);
            assert!(done.out.contains("nothing is trusted"), "{what} {args:?}: {}", done.out);
            assert_eq!(fs::read_to_string(&store).unwrap(), broken, "{what} {args:?}");
        }
    }
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn trust_shows_asks_and_holds_until_the_content_changes() {
    let world = project();
    assert_eq!(ls(&world), "");
    let no = world.on_terminal(&["trust"], "y\n");
    assert_eq!(no.code, 1, "{}", no.out);
    for part in [
        "[rule.listing]",
        "command = \"ls\"",
        "without a question",
        "sh tools/fmt.sh",
        "1 more only deny",
    ] {
        assert!(no.out.contains(part), "{part}: {}", no.out);
    }
    assert_eq!(ls(&world), "");
    let yes = world.on_terminal(&["trust"], "trust project\n");
    assert_eq!(yes.code, 0, "{}", yes.out);
    assert!(ls(&world).contains("\"allow\""));
    assert_eq!(mode(&world.state().join("trust.json")), 0o600);
    let list = world.run(&["trust", "--list", "--json"]).json();
    assert_eq!(list[0]["state"], "trusted");
    assert_eq!(list[0]["programs"].as_object().unwrap().len(), 1);
    assert!(world.run(&["check"]).out.contains("3 rules, trusted"));

    world.write(&world.project().join("tools/fmt.sh"), "exit 1\n");
    assert_eq!(ls(&world), "", "a program that it names has changed");
    assert_eq!(world.run(&["trust", "--list", "--json"]).json()[0]["state"], "changed");
    world.write(&world.project().join("tools/fmt.sh"), "exit 0\n");
    assert!(ls(&world).contains("\"allow\""));
    // To take it back needs no human.
    let revoked = world.run(&["trust", "--revoke"]);
    assert_eq!(revoked.code, 0, "{}", revoked.err);
    assert_eq!(ls(&world), "");
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn trust_and_pause_are_for_humans() {
    let world = project();
    for args in [&["trust"][..], &["pause"], &["pause", "1m"]] {
        let piped = world.feed(args, b"y\n");
        assert_eq!(piped.code, 1, "{args:?}: {}", piped.out);
        assert!(piped.err.contains("run it in a terminal"), "{}", piped.err);
        let agent = world.on_terminal_with(args, "trust project\n", &[("CLAUDECODE", "1")]);
        assert_eq!(agent.code, 1, "{args:?}: {}", agent.out);
        assert!(agent.out.contains("CLAUDECODE says that an agent"), "{}", agent.out);
    }
    assert!(!world.state().join("trust.json").exists());
    assert!(!world.state().join("pause.json").exists());
}

/// A process tree above hookctl, as a script of each kind builds it; `$@` is the command.
#[cfg(target_os = "linux")]
fn below(world: &World, tree: &str, args: &[&str], typed: &str) -> cli::Done {
    let script = world.home().join("bin/claude");
    world.write(&script, tree);
    system::set_mode(&script, 0o755);
    let mut command = world.command("python3");
    command.args(["-c", cli::ORPHAN, script.to_str().unwrap(), cli::BIN]).args(args);
    command.env("PTY", cli::PTY).env("HOLDER", HOLDER);
    cli::finish(command, typed.as_bytes())
}

/// Holds a terminal, on which an orphan in a session of its own runs what follows.
#[cfg(target_os = "linux")]
const HOLDER: &str = "
import os, pty, sys
m, s = pty.openpty()
name = os.ttyname(s)
r, w = os.pipe()
if not os.fork():
    if os.fork():
        os._exit(0)
    os.setsid()
    os.close(s); os.close(m)
    t = os.open(name, os.O_RDWR)
    if not os.fork():
        for n in (0, 1, 2): os.dup2(t, n)
        os.execv(sys.argv[1], sys.argv[1:])
    os.write(w, str(os.waitstatus_to_exitcode(os.wait()[1])).encode())
    os._exit(0)
os.write(m, sys.stdin.buffer.readline())
code = int(os.read(r, 16))
import fcntl
fcntl.fcntl(m, fcntl.F_SETFL, os.O_NONBLOCK)
try:
    sys.stdout.write(os.read(m, 65536).decode())
except OSError:
    pass
sys.exit(code)
";

#[cfg(target_os = "linux")]
#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn no_agent_may_stand_behind_what_loosens() {
    let spawned = "python3 -c \"$PTY\" \"$@\"; exit $?\n";
    for (tree, why) in [
        // A script that is called like an agent, and what stands between it and hookctl.
        (format!("#!/bin/sh\n{spawned}"), "claude"),
        ("#!/bin/sh\nsh -c 'python3 -c \"$PTY\" \"$@\"; exit $?' x \"$@\"; exit $?\n".to_string(), "claude"),
        ("#!/bin/sh\nnohup setsid -w python3 -c \"$PTY\" \"$@\"; exit $?\n".into(), "claude"),
        ("#!/bin/sh\nenv -i PTY=\"$PTY\" HOME=\"$HOME\" python3 -c \"$PTY\" \"$@\"; exit $?\n".into(), "claude"),
        // One that has an agent's mark, which its child has not.
        (
            "#!/bin/sh\nexport CLAUDECODE=1\nexec -a x bash -c 'env -u CLAUDECODE python3 -c \"$PTY\" \"$@\"; exit $?' x \"$@\"\n"
                .replace("#!/bin/sh", "#!/bin/bash"),
            "CLAUDECODE",
        ),
        // No parent at all, but the terminal is the agent's.
        ("#!/bin/sh\nenv -i HOME=\"$HOME\" python3 -c \"$HOLDER\" \"$@\"; exit $?\n".into(), "claude"),
    ] {
        // An emulator makes up what the kernel says of the process itself, and knows of no terminal.
        if tree.contains("$HOLDER") && system::is_emulated() {
            system::leave_out("a native process", "an agent that is known by the terminal alone");
            continue;
        }
        for args in [&["trust"][..], &["pause"]] {
            let world = project();
            let typed = if args[0] == "trust" { "trust project\n" } else { "pause 10m\n" };
            let done = below(&world, &tree, args, typed);
            assert_eq!(done.code, 1, "{tree}{args:?}: {}{}", done.out, done.err);
            assert!(done.out.contains(why), "{tree}{args:?}: {}{}", done.out, done.err);
            assert!(done.out.contains("an agent started this"), "{tree}{args:?}: {}", done.out);
            assert!(!world.state().join("pause.json").exists());
            assert!(!world.state().join("trust.json").exists());
        }
    }
    // Without a terminal: what takes the guard away asks for no human, but for no agent.
    let world = World::with("[rule.x]\ncommand = \"ls\"\ndeny = \"x\"\n");
    let done = below(&world, "#!/bin/sh\n\"$@\"; exit $?\n", &["init", "--force"], "");
    assert!(done.code == 1 && done.err.contains("claude"), "{}{}", done.out, done.err);
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn a_human_types_what_is_lost() {
    let world = World::with("[rule.x]\ncommand = \"ls\"\ndeny = \"x\"\n");
    for typed in ["y\n", "yes\n", "\n", "pause\n", "pause 11m\n", "PAUSE 10m\n"] {
        let done = world.on_terminal(&["pause"], typed);
        assert_eq!(done.code, 1, "{typed}: {}", done.out);
        assert!(!world.state().join("pause.json").exists(), "{typed}");
    }
    let done = world.on_terminal(&["pause"], "y\n");
    for part in ["who started this cannot be told", "every call passes", "Type `pause 10m`"] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    let no = world.on_terminal(&["init", "--force"], "y\n");
    assert_eq!(no.code, 1, "{}", no.out);
    assert!(fs::read_to_string(world.user()).unwrap().contains("rule.x"));
    let yes = world.on_terminal(&["init", "--force"], "replace config.toml\n");
    assert_eq!(yes.code, 0, "{}", yes.out);
    assert!(!fs::read_to_string(world.user()).unwrap().contains("[rule.x]"));
    assert_eq!(world.run(&["install"]).code, 0);
    let no = world.on_terminal(&["uninstall"], "y\n");
    assert!(no.code == 1 && no.out.contains("Type `uninstall`"), "{}", no.out);
    assert!(world.run(&["uninstall", "--dry-run"]).out.contains("hookctl"));
    let yes = world.on_terminal(&["uninstall"], "uninstall\n");
    assert!(yes.code == 0 && yes.out.contains("Taken out"), "{}", yes.out);
}

#[test]
fn a_pause_that_nobody_could_have_made_pauses_nothing() {
    let world = World::with("[rule.no-ls]\ncommand = \"ls\"\ndeny = \"x\"\n");
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    for (note, pauses) in [
        (format!("{{\"until\":{},\"since\":{now}}}", now + 600), true),
        (format!("{{\"until\":{},\"since\":{now}}}", now + 86_400), true),
        (format!("{{\"until\":{},\"since\":{now}}}", now + 90_000), false),
        (format!("{{\"until\":{}}}", u64::MAX), false),
        (format!("{{\"until\":{},\"since\":{}}}", now + 1000, now + 900), false),
        (format!("{{\"until\":{},\"since\":{}}}", now - 1, now - 600), false),
        ("{\"until\":\"9999999999\"}".into(), false),
    ] {
        world.write(&world.state().join("pause.json"), &note);
        assert_eq!(ls(&world).is_empty(), pauses, "{note}");
    }
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn trust_shows_all_that_will_hold() {
    let world = World::new();
    world.write(&world.project().join("tools/fmt.sh"), "exit 0\n");
    world.project_file(
        "profile = \"strict\"\n\
         [program.git]\nsame = \"git\"\n\
         [program.our-tool]\neffects = [\"read\"]\n\
         [remote.here]\nurl = \"http://127.0.0.1:1\"\n[remote.here.headers]\nX-Key = \"told\"\n\
         [rule.run]\non = \"Stop\"\nrun = \"./later.sh; cd tools && ./fmt.sh; sh {path}\"\n\
         [rule.run.when]\npermission_mode = \"plan\"\n\
         [rule.run.unless]\nwhen = { run = \"./check.sh\" }\n\
         [rule.env]\non = \"SessionStart\"\nenv = { PATH = \"./bin\" }\n\
         [rule.no]\ncommand = \"ls\"\ndeny = \"no ls\"\n",
    );
    let done = world.on_terminal(&["trust"], "trust project\n");
    assert_eq!(done.code, 1, "what is not pinned is named as well: {}", done.out);
    for part in [
        "[program.our-tool]",
        "effects = [\"read\"]",
        "replaces what ships",
        "headers.X-Key = \"told\"",
        "profile = \"strict\"",
        "PATH=./bin",
        "when.permission_mode = \"plan\"",
        "./check.sh",
        "with the program ~/project/tools/fmt.sh",
        "as long as there is no ~/project/later.sh",
        "as long as there is no ~/project/check.sh",
        "NOT PINNED",
        "no ls",
        "Type `trust project unpinned`",
    ] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    let yes = world.on_terminal(&["trust"], "trust project unpinned\n");
    assert_eq!(yes.code, 0, "{}", yes.out);
    assert_eq!(world.run(&["trust", "--list", "--json"]).json()[0]["state"], "trusted");
    world.write(&world.project().join("later.sh"), "");
    assert_eq!(world.run(&["trust", "--list", "--json"]).json()[0]["state"], "changed");
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn nothing_that_is_trusted_leaves_the_project_by_links() {
    let world = World::new();
    world.write(&world.home().join("else/x.sh"), "exit 0\n");
    system::symlink("../else", world.project().join("out")).unwrap();
    for rule in [
        "run = \"./out/x.sh\"",
        "context = { file = \"out/x.sh\" }",
        "context = { file = \"../else/x.sh\" }",
    ] {
        world.project_file(&format!("[rule.x]\non = \"SessionStart\"\n{rule}\n"));
        let done = world.on_terminal(&["trust"], "trust project\n");
        assert!(
            done.code == 1 && done.out.contains("leads out of the project"),
            "{rule}: {}",
            done.out
        );
    }
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn faults_are_not_trusted_and_escapes_are_shown_as_such() {
    let world = World::new();
    world.project_file("[rule.x]\ncomand = \"ls\"\nallow = \"x\"\n");
    let done = world.on_terminal(&["trust"], "y\n");
    assert_eq!(done.code, 1);
    assert!(done.out.contains("did you mean `command`?"), "{}", done.out);
    world.project_file("[rule.x]\non = \"Stop\"\nrun = \"evil #\\u001b[2K\\u202e\\r\"\n");
    let done = world.on_terminal(&["trust"], "n\n");
    assert!(done.out.contains("evil #\\u{1b}[2K\\u{202e}\\u{d}"), "{}", done.out);
    assert_eq!(World::new().on_terminal(&["trust"], "y\n").code, 2, "no file");
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn pause_lets_pass_and_resume_ends_it() {
    let world = World::with("[rule.no-ls]\ncommand = \"ls\"\ndeny = \"x\"\n");
    assert!(ls(&world).contains("\"deny\""));
    let no = world.on_terminal(&["pause"], "y\n");
    assert_eq!(no.code, 1, "{}", no.out);
    assert!(!world.state().join("pause.json").exists());
    let paused = world.on_terminal(&["pause"], "pause 10m\n");
    assert_eq!(paused.code, 0, "{}", paused.out);
    assert!(paused.out.contains("Paused until 20") && paused.out.contains("UTC"));
    assert_eq!(ls(&world), "");
    let note = world.state().join("pause.json");
    assert_eq!(mode(&note), 0o600);
    let note: Value = serde_json::from_slice(&fs::read(note).unwrap()).unwrap();
    assert_eq!(note["until"].as_u64().unwrap() - note["since"].as_u64().unwrap(), 600);
    assert!(world.run(&["explain", "--tool", "Bash", "--", "ls"]).out.contains("paused"));
    let resumed = world.run(&["resume"]);
    assert_eq!((resumed.code, resumed.err.as_str()), (0, ""));
    assert!(ls(&world).contains("\"deny\""));
    assert!(world.run(&["resume"]).out.contains("Not paused"));
    for (bad, cause) in [("25h", "24h at most"), ("soon", "no duration"), ("0", "no duration")] {
        let done = world.on_terminal(&["pause", bad], "");
        assert_eq!(done.code, 2, "{bad}");
        assert!(done.out.contains(cause), "{bad}: {}", done.out);
    }
}

fn line(minutes: i64, decision: &str, rule: &str, what: &str) -> String {
    let time = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes);
    json!({ "time": format!("{time:.3}"), "agent": "claude", "event": "PreToolUse",
        "tool": "Bash", "what": what, "decision": decision, "rule": rule,
        "rules": [format!("{rule} {decision}"), "user:watch - (observed)"], "ms": 1.0 })
    .to_string()
        + "\n"
}

#[test]
fn log_reads_rotated_files_and_filters() {
    let world = World::new();
    let journal = world.state().join("journal.jsonl");
    world.write(&journal.with_extension("jsonl.10"), &line(200, "deny", "user:a", "one"));
    world.write(&journal.with_extension("jsonl.2"), &line(100, "ask", "user:b", "two"));
    let rest = [&line(50, "silent", "", "three\u{1b}[2J"), "no json\n", "[1]\n"].concat();
    world.write(&journal, &(rest + line(1, "deny", "force-push", "four").trim_end()));
    let whats = |args: &[&str]| {
        let done = world.run(&[&["log", "--json"], args].concat());
        let lines = done.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        lines.map(|line| line["what"].as_str().unwrap()[..3].to_string()).collect::<Vec<_>>()
    };
    assert_eq!(whats(&[]), ["one", "two", "thr", "fou"]);
    assert_eq!(whats(&["--decision", "deny"]), ["one", "fou"]);
    assert_eq!(whats(&["--decision", "none"]), ["thr"]);
    assert_eq!(whats(&["--rule", "a"]), ["one"]);
    assert_eq!(whats(&["--rule", "user:b"]), ["two"]);
    assert_eq!(whats(&["--rule", "watch"]).len(), 4, "rules that spoke count too");
    assert_eq!(whats(&["--since", "1h"]), ["thr", "fou"]);
    assert_eq!(whats(&["--since", "1h30m", "--decision", "deny"]), ["fou"]);
    let text = world.run(&["log"]);
    assert!(!text.out.contains('\u{1b}'), "{}", text.out);
    assert!(text.out.contains("deny         user:a                    one\n"), "{}", text.out);
    // What would have been stopped is not silence, and is not called that.
    let mut passed: Value = serde_json::from_str(&line(0, "silent", "", "five")).unwrap();
    passed["rules"] =
        json!(["user:b ask (observed)", "pack:x deny (observed)", "user:c - (observed)"]);
    world.write(&journal, &format!("{passed}\n"));
    assert_eq!(whats(&["--decision", "passed"]), ["fiv"]);
    assert_eq!(whats(&["--decision", "deny"]), ["one", "fiv"], "observed verdicts are found");
    assert!(whats(&["--decision", "none"]).is_empty());
    let text = world.run(&["log", "--decision", "passed"]).out;
    assert!(text.contains("would deny   pack:x                    five\n"), "{text}");
    passed["notes"] = json!(["paused"]);
    world.write(&journal, &format!("{passed}\n"));
    assert!(
        world.run(&["log"]).out.contains("would deny   pack:x                    five  (paused)\n")
    );
    let none = world.run(&["log", "--rule", "nobody"]);
    assert_eq!((none.code, none.out.as_str()), (1, ""));
    for (args, cause) in [
        (["log", "--decision", "dney"], "did you mean `deny`?"),
        (["log", "--since", "soon"], "write 30m"),
    ] {
        let done = world.run(&args);
        assert_eq!(done.code, 2);
        assert!(done.err.contains(cause), "{}", done.err);
    }
}

#[test]
fn log_shows_the_last_and_says_that_there_are_more() {
    let world = World::new();
    let journal = world.state().join("journal.jsonl");
    let all: String =
        (0..30).map(|at| line(30 - at, "deny", "user:a", &format!("call-{at}"))).collect();
    world.write(&journal, &all);
    let count = |args: &[&str]| {
        let done = world.run(&[&["log"], args].concat());
        let calls: Vec<&str> = done.out.lines().filter(|line| line.contains("call-")).collect();
        assert!(calls.last().is_some_and(|last| last.ends_with("call-29")), "{}", done.out);
        (calls.len(), done.out.contains("The last 20 of 30; `-n 0` shows all."))
    };
    assert_eq!(count(&[]), (20, true));
    assert_eq!(count(&["-n", "3"]), (3, false));
    assert_eq!(count(&["-n", "0"]), (30, false));
    assert_eq!(count(&["--since", "1w"]), (30, false));
    assert_eq!(world.run(&["log", "--json"]).out.lines().count(), 30);
    assert_eq!(world.run(&["log", "--json", "-n", "2"]).out.lines().count(), 2);
    let ago = world.run(&["log", "-n", "1", "--relative"]).out;
    assert!(ago.starts_with("1 min ago ") || ago.starts_with("less than a minute ago "), "{ago}");
}

#[test]
fn log_finds_tools_projects_and_rewrites_and_marks_samples() {
    let world = World::new();
    let project = world.project();
    let elsewhere = system::below(&world.home(), "elsewhere");
    let one = |more: Value| {
        let mut one: Value = serde_json::from_str(&line(1, "silent", "", "x")).unwrap();
        one.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        format!("{one}\n")
    };
    let lines = [
        one(json!({ "what": "below", "cwd": project.join("src") })),
        one(
            json!({ "what": "other", "cwd": elsewhere.join("lib"), "tool": "mcp__git__push", "agent": "codex" }),
        ),
        one(
            json!({ "what": "npm i", "cwd": project, "rewritten": true, "rules": ["user:pnpm -"] }),
        ),
        one(
            json!({ "what": "rm -rf /", "session": "hookctl-verify", "decision": "deny", "rule": "delete-root" }),
        ),
    ];
    world.write(&world.state().join("journal.jsonl"), &lines.concat());
    let found = |args: &[&str]| world.run(&[&["log"], args].concat()).out;
    let whats = |args: &[&str]| {
        let out = found(args);
        ["below", "other", "npm i", "rm -rf /"]
            .into_iter()
            .filter(|what| out.contains(what))
            .collect::<Vec<_>>()
    };
    assert_eq!(whats(&["--tool", "mcp__*"]), ["other"]);
    assert_eq!(whats(&["--tool", "bash"]), ["below", "npm i", "rm -rf /"]);
    assert_eq!(whats(&["--project", "project"]), ["below", "npm i"]);
    assert_eq!(whats(&["--project", "."]), ["below", "npm i"]);
    assert_eq!(whats(&["--project", elsewhere.to_str().unwrap()]), ["other"]);
    assert_eq!(whats(&["--project", "lib"]), ["other"]);
    assert_eq!(whats(&["--decision", "rewritten"]), ["npm i"]);
    let all = found(&[]);
    for part in [
        "rewritten    user:pnpm                 npm i  project\n",
        "mcp__git__push other  lib (codex)\n",
        "rm -rf /  (verify sample)\n",
    ] {
        assert!(all.contains(part), "{part}: {all}");
    }
    let last = world.run(&["status", "--json", "--offline"]).json();
    assert_eq!(last["last_event"]["event"], "PreToolUse");
    let samples: String = lines[3..].concat();
    world.write(&world.state().join("journal.jsonl"), &samples);
    let last = world.run(&["status", "--json", "--offline"]).json();
    assert_eq!(last["last_event"], Value::Null, "a sample is no event of an agent's");
}

#[test]
fn log_tells_the_time_of_the_local_clocks() {
    let world = World::new();
    let mut one: Value = serde_json::from_str(&line(0, "deny", "user:a", "x")).unwrap();
    one["time"] = "2026-07-01T22:30:00.123Z".into();
    world.write(&world.state().join("journal.jsonl"), &format!("{one}\n"));
    for (zone, shown) in [
        ("UTC0", "2026-07-01 22:30:00"),
        ("CET-1CEST,M3.5.0,M10.5.0/3", "2026-07-02 00:30:00"),
        ("<+0530>-5:30", "2026-07-02 04:00:00"),
        ("no zone at all", "2026-07-01 22:30:00"),
    ] {
        let mut command = world.start(&["log"]);
        command.env("TZ", zone);
        let done = cli::finish(command, b"");
        assert!(done.out.starts_with(shown), "{zone}: {}", done.out);
    }
    assert!(world.run(&["log", "--json"]).out.contains("22:30:00.123Z"));
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn a_long_log_goes_to_the_pager_of_a_terminal_alone() {
    let world = World::new();
    let all: String =
        (0..200).map(|at| line(200 - at, "deny", "user:a", &format!("call-{at}"))).collect();
    world.write(&world.state().join("journal.jsonl"), &all);
    let pager = world.home().join("pager");
    world.write(&pager, "#!/bin/sh\nprintf 'PAGED '; wc -l\n");
    system::set_mode(&pager, 0o700);
    let env = [("PAGER", pager.to_str().unwrap()), ("LINES", "24")];
    let paged = world.on_terminal_with(&["log", "-n", "0"], "", &env).out;
    assert!(paged.contains("PAGED 200"), "{paged}");
    let mut piped = world.start(&["log", "-n", "0"]);
    piped.env("PAGER", &pager);
    assert_eq!(cli::finish(piped, b"").out.lines().count(), 200);
    // One that is not there is none.
    let none = world
        .on_terminal_with(&["log", "-n", "0"], "", &[("PAGER", "/nowhere/pager"), ("LINES", "24")])
        .out;
    assert!(none.contains("call-199"), "{none}");
}

#[test]
fn log_follows_through_a_rotation_and_ends_with_its_reader() {
    let world = World::new();
    let journal = world.state().join("journal.jsonl");
    world.write(&journal, &line(9, "deny", "user:a", "one"));
    let mut child = world.start(&["log", "-f", "--json"]).spawn().unwrap();
    let mut out = child.stdout.take().unwrap();
    let mut wait_for = |word: &str| {
        let mut seen = String::new();
        while !seen.contains(word) {
            let mut byte = [0];
            assert_eq!(out.read(&mut byte).unwrap(), 1, "ended before {word}: {seen}");
            seen.push(char::from(byte[0]));
        }
    };
    wait_for("one");
    let append = |path: &Path, text: &str| {
        use std::io::Write as _;
        let file = fs::OpenOptions::new().create(true).append(true).open(path);
        file.unwrap().write_all(text.as_bytes()).unwrap();
    };
    append(&journal, &line(0, "deny", "user:a", "two"));
    wait_for("two");
    append(&journal, &line(0, "deny", "user:a", "three"));
    fs::rename(&journal, journal.with_extension("jsonl.1")).unwrap();
    append(&journal, &line(0, "deny", "user:a", "four"));
    wait_for("three");
    wait_for("four");
    drop(out);
    // Windows tells who writes that nobody reads, and no other.
    if cfg!(windows) {
        append(&journal, &line(0, "deny", "user:a", "five"));
    }
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(start.elapsed() < Duration::from_secs(20), "it goes on without a reader");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
}

#[test]
#[cfg_attr(windows, ignore = "needs modes of files")]
fn init_writes_a_starter_that_check_finds_sound() {
    let world = World::new();
    let done = world.run(&["init"]);
    assert_eq!((done.code, done.err.as_str()), (0, ""));
    assert_eq!(mode(&world.user()), 0o600);
    assert_eq!(mode(world.user().parent().unwrap()), 0o700);
    assert!(world.run(&["check"]).out.contains("no fault"));
    examples_are_sound(&world, &world.user());
}

#[test]
fn init_writes_a_project_what_a_project_may_say() {
    let world = World::with_named_files();
    assert_eq!(world.run(&["init", "--project"]).code, 0);
    assert!(world.run(&["check"]).out.contains("no fault"));
    examples_are_sound(&world, &world.project().join(".hookctl.toml"));
}

/// Every example of the file is sound, each alone and all together: none is a fault, or ignored there.
fn examples_are_sound(world: &World, file: &Path) {
    let text = fs::read_to_string(file).unwrap();
    let example = |line: &str| line.starts_with('#') && !line.starts_with("# ");
    let shown = |part: &str| {
        let lines = part.lines().map(|line| if example(line) { &line[1..] } else { line });
        lines.collect::<Vec<_>>().join("\n") + "\n"
    };
    let alone = text.split("\n\n").filter(|part| part.lines().any(example));
    let alone: Vec<String> = alone.map(shown).collect();
    assert!(alone.len() > 8, "{}", alone.len());
    for part in alone.into_iter().chain([shown(&text)]) {
        world.write(file, &part);
        let done = world.run(&["check"]);
        let wrong = ["error", "warning"].iter().any(|word| done.out.contains(word));
        assert!(done.code == 0 && !wrong, "{part}\n{}", done.out);
        assert_eq!(world.run(&["test"]).code, 0, "{part}");
    }
}

#[test]
fn init_replaces_nothing_unasked_and_for_no_agent() {
    let world = World::with("[rule.x]\ncommand = \"ls\"\ndeny = \"x\"\n");
    let done = world.run(&["init"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("--force"), "{}", done.err);
    let mut agent = world.start(&["init", "--force"]);
    let agent = agent.env("CLAUDECODE", "1").output().unwrap();
    assert_eq!(agent.status.code(), Some(1));
    assert!(fs::read_to_string(world.user()).unwrap().starts_with("[rule.x]"));
    assert_eq!(world.run(&["init", "--force"]).code, 0);
    let old = world.user().with_extension("toml.old");
    assert_eq!(world.run(&["init", "--force"]).code, 0);
    assert!(fs::read_to_string(old).unwrap().starts_with("[rule.x]"));
    assert!(world.user().with_extension("toml.old-2").exists());
    let done = world.run(&["init", "--project"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert!(world.project().join(".hookctl.toml").exists());
}

#[test]
fn a_config_that_names_nothing_is_told() {
    let world = World::with("");
    let file = world.user();
    for dir in ["/nowhere/at/all", "", file.to_str().unwrap()] {
        for command in [
            &["status"][..],
            &["check"],
            &["explain", "--tool", "Bash", "--", "ls"],
            &["test"],
            &["packs"],
            &["log"],
            &["install", "--dry-run"],
        ] {
            let done = world.run(&[&["--config", dir], command].concat());
            assert_eq!(done.code, 2, "{command:?} {dir:?} {}", done.out);
            assert!(done.err.contains("--config"), "{command:?} {}", done.err);
        }
    }
    let new = world.home().join("new");
    let new = new.to_str().unwrap();
    assert_eq!(world.run(&["init", "--config", new]).code, 0);
    assert_eq!(world.run(&["check", "--config", new]).code, 0);
}

/// As install.sh does: the account's own home is not taken where HOME says nothing.
#[test]
#[cfg_attr(windows, ignore = "needs a variable that moves the user's files")]
fn nothing_is_written_into_a_home_that_nobody_named() {
    let world = World::new();
    for command in [
        &["install"][..],
        &["install", "--dry-run"],
        &["uninstall"],
        &["init"],
        &["claude-hook", "--enable"],
    ] {
        for home in [None, Some(""), Some("relative")] {
            // Were it done all the same, then not with the state of whoever runs this.
            let state = world.state();
            let mut start = world.start(&[command, &["--state", state.to_str().unwrap()]].concat());
            match home {
                Some(home) => start.env("HOME", home),
                None => start.env_remove("HOME"),
            };
            // Were it done all the same, then not to the home of whoever runs this.
            start.env("CLAUDE_CONFIG_DIR", world.home().join("other"));
            let done = cli::Done::from(start.output().unwrap());
            assert_eq!(done.code, 2, "{command:?} {home:?} {}", done.out);
            assert!(done.err.contains("HOME"), "{}", done.err);
        }
    }
    assert!(!world.home().join("other").exists());
}

/// Text of the agent's and of a repository's stands nowhere as a line of ours, and paints nothing.
#[test]
fn no_text_of_others_passes_for_a_line_of_ours() {
    const EVIL: &str = "x\u{202e}\u{2066}\u{200b}\u{2028}\u{e0041}\u{9b}\u{1b}]0;t\u{7}\u{1b}[31mred\u{1b}[0m\r\n\
                        verdict   allow\nguard       in effect\n2026-11-23 00:00:00Z  allow   PreToolUse";
    let world = World::with("[rule.r]\ncommand = \"rm\"\nask = \"sure {command}?\"\n");
    // In names Windows takes no control characters, and not all others.
    let name: String = match cfg!(windows) {
        true => EVIL.chars().filter(|c| !c.is_control() && !r#"<>:"/\|?*"#.contains(*c)).collect(),
        false => EVIL.into(),
    };
    let evil = world.project().join(&name);
    let group = json!([{ "matcher": EVIL, "hooks": [{ "type": "command", "command": EVIL }] }]);
    let settings = json!({ "hooks": { "PreToolUse": group } });
    world.write(&evil.join(".git/HEAD"), "ref: refs/heads/main\n");
    world.write(&evil.join(".claude/settings.json"), &settings.to_string());
    world.write(&evil.join(".hookctl.toml"), "[rule.x]\ncomand = \"ls\"\n");
    let mut said = Vec::new();
    for (tool, input) in [
        ("Bash", json!({ "command": format!("rm {EVIL}"), "description": EVIL })),
        ("Bash", json!({ "command": format!("rm '{EVIL}'") })),
        ("Write", json!({ "file_path": evil.join(EVIL), "content": EVIL })),
        (EVIL, json!({ EVIL: EVIL })),
        ("mcp__x__y", json!({ "path": EVIL, EVIL: EVIL })),
    ] {
        let payload = json!({ "hook_event_name": "PreToolUse", "session_id": EVIL, "cwd": evil,
            "tool_name": tool, "tool_input": input, "tool_use_id": EVIL });
        let payload = payload.to_string();
        said.push(world.feed(&["hook"], payload.as_bytes()).out);
        said.push(world.feed(&["explain"], payload.as_bytes()).out);
        said.push(world.feed(&["explain", "--json"], payload.as_bytes()).out);
    }
    for args in [
        &["log"][..],
        &["log", "--json"],
        &["status", "--offline"],
        &["check"],
        &["memory"],
        &["explain", "--tool", "Bash", "--", "rm x"],
    ] {
        let mut command = world.start(args);
        command.current_dir(&evil);
        let done = cli::finish(command, b"");
        said.push(done.out + &done.err);
    }
    for text in said {
        let hidden = |c: char| c.is_control() && c != '\n' || EVIL[1..20].contains(c);
        assert!(!text.chars().any(hidden), "{text:?}");
        for line in text.lines() {
            let ours = ["verdict   allow", "guard       in", "2026-11-23 00:00:00Z"];
            assert!(!ours.iter().any(|ours| line.starts_with(ours)), "{line}: {text}");
        }
    }
}

/// The one object of a command: it agrees with the exit status, and nothing else is said anywhere.
#[track_caller]
fn told(world: &World, args: &[&str]) -> Value {
    let done = world.run(&[args, &["--json"]].concat());
    let told = done.json();
    assert_eq!(done.err, "", "{args:?}");
    assert_eq!(told["command"], args[0], "{told}");
    assert_eq!(told["exit_status"], done.code, "{told}");
    assert_eq!(told["ok"], done.code == 0, "{told}");
    assert_eq!(told["dry_run"], args.contains(&"--dry-run"), "{told}");
    let guide = include_str!("../docs/json.md");
    for key in told.as_object().unwrap().keys() {
        assert!(guide.contains(&format!("`{key}`")), "docs/json.md has no `{key}`");
    }
    told
}

/// Its first message: level and text.
#[track_caller]
fn message(told: &Value) -> (&str, &str) {
    let messages = told["messages"].as_array().unwrap();
    assert!(!messages.is_empty(), "{told}");
    (messages[0]["level"].as_str().unwrap(), messages[0]["text"].as_str().unwrap())
}

#[test]
fn s3_44_what_edits_settings_tells_it_as_one_object() {
    let world = World::new();
    let file = system::below(&world.home(), ".claude/settings.json");
    let before = "{\n  \"model\": \"opus\"\n}\n";
    world.write(&file, before);
    let install = ["install", "--agent", "claude"];

    let plan = told(&world, &["install", "--agent", "claude", "--dry-run"]);
    let row = &plan["agents"][0];
    assert_eq!((&row["outcome"], &row["scope"]), (&json!("planned"), &json!("user")), "{plan}");
    let planned = &row["files"][0];
    assert_eq!(planned["changed"], true);
    assert!(planned["diff"].as_str().unwrap().contains("+  \"hooks\": {"), "{planned}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);

    let done = told(&world, &install);
    let row = &done["agents"][0];
    assert_eq!((&row["agent"], &row["outcome"]), (&json!("claude"), &json!("installed")));
    assert!(row["events"].as_array().unwrap().contains(&json!("PreToolUse")), "{row}");
    assert_eq!(row["files"][0]["file"], file.display().to_string());
    assert_eq!(row["files"][0]["diff"], Value::Null);
    assert!(row["files"][0]["changes"].to_string().contains("PreToolUse added"), "{row}");
    assert_eq!(told(&world, &install)["agents"][0]["outcome"], "unchanged");

    // Refused: another scope has it.
    let twice = told(&world, &["install", "--agent", "claude", "--scope", "project"]);
    assert_eq!(twice["agents"][0]["outcome"], "refused");
    assert_eq!(message(&twice).0, "refused");
    assert!(message(&twice).1.contains("judged twice"), "{twice}");
    // Failed: one agent's settings are no JSON; the other's are written all the same.
    world.write(&world.home().join(".codex/hooks.json"), "{");
    let mixed = told(&world, &["install", "--agent", "codex,cursor"]);
    let outcomes: Vec<_> =
        mixed["agents"].as_array().unwrap().iter().map(|a| &a["outcome"]).collect();
    assert_eq!(outcomes, ["failed", "installed"], "{mixed}");
    assert_eq!(message(&mixed).0, "error");
    assert!(message(&mixed).1.starts_with("Codex CLI: "), "{mixed}");
    // Nobody is asked which agents are meant.
    assert!(message(&told(&world, &["install"])).1.contains("nobody to ask"));
    assert!(message(&told(&world, &["install", "--agent", "nobody"])).1.contains("unknown agent"));

    fs::remove_file(world.home().join(".codex/hooks.json")).unwrap();
    let plan = told(&world, &["uninstall", "--agent", "claude", "--dry-run"]);
    assert!(plan["files"][0]["diff"].as_str().unwrap().contains("-  \"hooks\": {"), "{plan}");
    let out = told(&world, &["uninstall"]);
    let files = out["files"].as_array().unwrap();
    assert_eq!(files.len(), 2, "{out}");
    let claude = files.iter().find(|file| file["agent"] == "claude").unwrap();
    assert_eq!((&claude["scope"], &claude["removed"]), (&json!("user"), &json!(12)), "{out}");
    assert_eq!(fs::read_to_string(&file).unwrap(), before);
    assert_eq!(told(&world, &["uninstall"])["files"], json!([]));
    let purged = told(&world, &["uninstall", "--purge"]);
    let state = world.state().display().to_string();
    let gone = purged["purged"].as_array().unwrap();
    assert!(gone.iter().all(|path| path.as_str().unwrap().starts_with(&state)), "{purged}");
    assert!(!gone.is_empty() && !world.state().exists(), "{purged}");
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn s3_44_what_does_something_else_tells_it_as_one_object() {
    let world = World::new();
    let made = told(&world, &["init"]);
    assert_eq!(made["file"], world.user().display().to_string());
    assert_eq!((&made["kept"], &made["messages"]), (&Value::Null, &json!([])));
    let again = told(&world, &["init"]);
    assert_eq!((message(&again).0, &again["exit_status"]), ("refused", &json!(1)));
    let forced = told(&world, &["init", "--force"]);
    let old = world.user().with_extension("toml.old");
    assert_eq!(forced["kept"], old.display().to_string(), "{forced}");
    assert!(old.exists());

    // A pause is for humans at a terminal.
    let pause = told(&world, &["pause", "10m"]);
    assert_eq!((message(&pause).0, &pause["paused_until"]), ("refused", &Value::Null));
    assert_eq!(message(&told(&world, &["pause", "soon"])).0, "error");
    assert_eq!(told(&world, &["resume"])["was_paused"], false);
    let done = world.on_terminal(&["pause", "10m", "--json"], "pause 10m\n");
    let object = &done.out[done.out.find('{').expect(&done.out)..];
    let paused: Value = serde_json::from_str(object).unwrap();
    assert!(paused["paused_until"].as_u64().unwrap() > 1_000_000_000, "{paused}");
    assert_eq!(told(&world, &["resume"])["was_paused"], true);

    // Of a build in its checkout.
    let newer = told(&world, &["upgrade"]);
    assert_eq!(
        (&newer["by"], &newer["run"]),
        (&json!("checkout"), &json!("git pull && ./install.sh"))
    );
    assert!(newer["program"].as_str().unwrap().ends_with("hookctl"), "{newer}");

    assert_eq!(message(&told(&world, &["ping"])).0, "error");
    assert_eq!(message(&told(&world, &["flush", "nobody"])).0, "error");
    assert_eq!(told(&world, &["flush"])["servers"], json!([]));
    // An address where nobody listens.
    let url = "http://127.0.0.1:9/hook";
    world.write(&world.user(), &format!("[remote.server]\nurl = \"{url}\"\n"));
    let down = told(&world, &["ping"]);
    let address = &down["addresses"][0];
    assert_eq!((&address["url"], &address["up"]), (&json!(url), &json!(false)), "{down}");
    assert_eq!((&address["status"], &down["exit_status"]), (&Value::Null, &json!(1)));
    assert!(!address["said"].as_str().unwrap().is_empty() && address["ms"].is_u64(), "{down}");

    // What is said before any command begins.
    let mut homeless = world.start(&["install", "--json"]);
    homeless.env_remove("HOME");
    let done = cli::finish(homeless, b"");
    assert_eq!((done.code, done.err.as_str()), (2, ""));
    assert!(message(&done.json()).1.contains("HOME is not set"), "{}", done.out);
}

#[test]
fn doctor_names_a_fix_for_each_finding_and_makes_the_safe_ones() {
    let world = World::new();
    let settings = world.home().join(".claude/settings.json");
    let first = world.run(&["doctor", "--json"]);
    assert_eq!(first.code, 1);
    assert_eq!(first.json()[0]["fix"], "hookctl install");
    assert_eq!(
        world.run(&["doctor", "--fix"]).code,
        1,
        "which agents are meant is for a human to say"
    );
    assert!(!settings.exists());
    let installed = world.run(&["install", "--agent", "claude"]);
    assert_eq!(installed.code, 0, "{}{}", installed.out, installed.err);
    assert_eq!(world.run(&["doctor"]).code, 0);
    let mut value: Value = serde_json::from_slice(&std::fs::read(&settings).unwrap()).unwrap();
    value["hooks"].as_object_mut().unwrap().remove("PreToolUse");
    std::fs::write(&settings, value.to_string()).unwrap();
    let broken = world.run(&["doctor"]);
    assert_eq!(broken.code, 1);
    assert!(
        broken.out.contains("fix: hookctl install  (or `hookctl doctor --fix`)"),
        "{}",
        broken.out
    );
    let fixed = world.run(&["doctor", "--fix", "--json"]);
    assert_eq!(fixed.code, 0, "{}{}", fixed.out, fixed.err);
    let fixed = fixed.json();
    let fixed = fixed.as_array().unwrap().iter().find(|one| one["fixed"] == true);
    assert!(fixed.unwrap()["text"].as_str().unwrap().contains("PreToolUse"));
    assert_eq!(world.run(&["doctor"]).code, 0);
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn without_a_command_it_says_what_to_do_next() {
    let world = World::new();
    let shown = world.on_terminal(&[], "").out;
    for part in ["NOT in effect", "Next:", "hookctl install", "hookctl doctor"] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[test]
#[cfg(unix)]
fn another_hookctl_and_a_plugin_are_told() {
    let world = World::new();
    let other = world.home().join("other/hookctl");
    world.write(&other, "#!/bin/sh\necho hookctl 0.0.9\n");
    system::set_mode(&other, 0o755);
    let path = format!("{}:/usr/bin:/bin", other.parent().unwrap().display());
    let status = |more: &[&str]| {
        let mut command = world.start(&["status", "--json", "--offline"]);
        command.args(more).env("PATH", &path);
        finish(command, b"").json()
    };
    let told = |status: &Value, words: &str| {
        let notes = status["notes"].as_array().unwrap();
        notes.iter().any(|note| note.as_str().unwrap().contains(words))
    };
    assert!(told(&status(&[]), "another hookctl is ~/other/hookctl"), "{}", status(&[]));
    assert!(told(&status(&["--verify"]), "another hookctl (hookctl 0.0.9) is"));
    // Nor is the launcher of our own package, whatever a package manager makes of it.
    let launcher = world.home().join("lib/node_modules/hookctl/bin/hookctl.js");
    world.write(&launcher, "#!/usr/bin/env node\n");
    system::set_mode(&launcher, 0o755);
    fs::remove_file(&other).unwrap();
    std::os::unix::fs::symlink(&launcher, &other).unwrap();
    assert!(!told(&status(&[]), "another hookctl"));
    fs::remove_file(&other).unwrap();
    world.write(
        &other,
        "#!/bin/sh\nexec node \"$basedir/global/5/node_modules/hookctl/bin/hookctl.js\" \"$@\"\n",
    );
    system::set_mode(&other, 0o755);
    assert!(!told(&status(&[]), "another hookctl"));
    fs::remove_file(&other).unwrap();
    // A copy is no other.
    fs::copy(env!("CARGO_BIN_EXE_hookctl"), &other).unwrap();
    assert!(!told(&status(&[]), "another hookctl"));
}

/// What Claude Code 2.1.329 keeps of a plugin that was installed from a directory.
fn put_plugin(world: &World, list: &str) {
    let hooks = include_str!("../plugins/claude/hooks/hooks.json");
    let checkout = world.home().join(format!("checkout-{list}"));
    let market =
        json!({ "name": list, "plugins": [{ "name": "hookctl", "source": "./plugins/claude" }] });
    world.write(&checkout.join(".claude-plugin/marketplace.json"), &market.to_string());
    world.write(&checkout.join("plugins/claude/hooks/hooks.json"), hooks);
    let plugins = world.home().join(".claude/plugins");
    let cache = plugins.join("cache/hookctl/hookctl/0.2.0");
    world.write(&cache.join("hooks/hooks.json"), hooks);
    let name = format!("hookctl@{list}");
    let installed =
        json!({ "version": 2, "plugins": { name: [{ "scope": "user", "installPath": cache }] } });
    world.write(&plugins.join("installed_plugins.json"), &installed.to_string());
    let known = json!({ list: {
        "source": { "source": "directory", "path": checkout }, "installLocation": checkout,
    } });
    world.write(&plugins.join("known_marketplaces.json"), &known.to_string());
}

fn has_note(status: &Value, words: &str) -> bool {
    status["notes"].as_array().unwrap().iter().any(|note| note.as_str().unwrap().contains(words))
}

#[test]
fn a_plugin_that_settings_switch_is_told() {
    let world = World::new();
    let status = || world.run(&["status", "--json", "--offline"]).json();
    let settings = world.home().join(".claude/settings.json");
    put_plugin(&world, "x");
    // What a project says switches nothing on, and may switch it off.
    let project = world.project().join(".claude/settings.json");
    world.write(&project, &json!({ "enabledPlugins": { "hookctl@x": true } }).to_string());
    assert!(!has_note(&status(), "its plugin"));
    world.write(&settings, &json!({ "enabledPlugins": { "hookctl@x": true } }).to_string());
    let on = status();
    assert!(has_note(&on, "its plugin hookctl@x"), "{on}");
    assert_eq!((&on["in_effect"], &on["guarded"]), (&true.into(), &json!(["claude"])), "{on}");
    let shown = world.run(&["status", "--offline"]).out;
    assert!(shown.contains("in effect for Claude Code ("), "{shown}");
    world.write(&project, &json!({ "enabledPlugins": { "hookctl@x": false } }).to_string());
    let off = status();
    assert_eq!(off["in_effect"], false, "{off}");
    assert!(
        off["problems"][0].as_str().unwrap().contains("project settings switch the plugin off")
    );
    fs::remove_file(&project).unwrap();
    for (plugins, on) in [
        (json!({ "hookctl@x": true }), true),
        (json!({ "hookctl@x": false }), false),
        (json!({ "other@x": true }), false),
    ] {
        world.write(&settings, &json!({ "enabledPlugins": plugins }).to_string());
        let status = status();
        assert_eq!(status["in_effect"], on, "{status}");
        assert_eq!(has_note(&status, "its plugin hookctl@x"), on, "{status}");
    }
}

#[test]
fn a_plugin_that_the_client_does_not_load_guards_nothing() {
    type Break = fn(&Path);
    let breaks: [(Break, &str); 7] = [
        (|home| fs::remove_dir_all(home.join(".claude/plugins")).unwrap(), "it is not installed"),
        (
            |home| fs::write(home.join(".claude/plugins/installed_plugins.json"), "{").unwrap(),
            "it is not installed",
        ),
        (
            |home| fs::remove_file(home.join(".claude/plugins/known_marketplaces.json")).unwrap(),
            "its list hookctl is not known",
        ),
        (
            |home| fs::rename(home.join("checkout-hookctl"), home.join("moved")).unwrap(),
            "is not where it was: ~/checkout-hookctl",
        ),
        (
            |home| {
                fs::write(
                    home.join("checkout-hookctl/.claude-plugin/marketplace.json"),
                    "{\"plugins\": []}",
                )
                .unwrap()
            },
            "does not name it",
        ),
        (
            |home| {
                fs::remove_file(home.join("checkout-hookctl/plugins/claude/hooks/hooks.json"))
                    .unwrap()
            },
            "has no hooks of hookctl's",
        ),
        (
            |home| {
                fs::write(home.join("checkout-hookctl/plugins/claude/hooks/hooks.json"), "{}")
                    .unwrap()
            },
            "has no hooks of hookctl's",
        ),
    ];
    for (brk, why) in breaks {
        let world = World::new();
        put_plugin(&world, "hookctl");
        let settings = world.home().join(".claude/settings.json");
        world.write(
            &settings,
            &json!({ "enabledPlugins": { "hookctl@hookctl": true } }).to_string(),
        );
        brk(&world.home());
        let done = world.run(&["status", "--json", "--offline"]);
        let status = done.json();
        assert_eq!(
            (done.code, &status["in_effect"], &status["guarded"]),
            (1, &false.into(), &json!([])),
            "{status}"
        );
        let problems = status["problems"].to_string();
        assert!(
            problems.contains("does not load the plugin hookctl@hookctl") && problems.contains(why),
            "{why}: {problems}"
        );
        // Where settings have entries as well, it is only told.
        assert_eq!(world.run(&["install", "--agent", "claude"]).code, 0);
        let both = world.run(&["status", "--json", "--offline"]);
        assert!(both.code == 0 && has_note(&both.json(), why), "{}", both.out);
    }
}

#[test]
fn options_of_every_command_stand_in_one_help() {
    let world = World::new();
    let whole = world.run(&["--help"]).out;
    assert_eq!(whole.matches("--state <DIR>").count(), 1, "{whole}");
    let commands = whole.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names: Vec<&str> = commands
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_whitespace().next())
        .collect();
    assert!(names.len() > 25 && !names.contains(&"complete"), "{names:?}");
    for name in names.iter().filter(|name| **name != "help") {
        let help = world.run(&[name, "--help"]);
        assert_eq!(help.code, 0, "{name}");
        assert!(
            !help.out.contains("--state <DIR>") && !help.out.contains("--color <WHEN>"),
            "{name}"
        );
        assert_eq!(
            help.out.matches("`hookctl --help` tells of them").count(),
            1,
            "{name}: {}",
            help.out
        );
    }
    for (args, holds) in [
        (&["packs", "show", "--help"][..], "tells of them"),
        (&["hook", "--help"], "tells of them"),
        (&["help", "log"], "tells of them"),
    ] {
        let help = world.run(args).out;
        assert!(help.contains(holds) && !help.contains("--config <DIR>"), "{args:?}: {help}");
    }
    // They hold there all the same, before and behind.
    let state = world.home();
    let state = state.to_str().unwrap();
    for args in [
        &["--state", state, "log", "--json"][..],
        &["log", "--json", "--state", state],
        &["packs", "--color", "never", "show", "git", "--state", state],
        &["packs", "show", "git", "--color=always"],
    ] {
        let done = world.run(args);
        assert!(done.code < 2, "{args:?}: {}", done.err);
    }
    assert_eq!(world.run(&["packs", "show", "git", "--color=loud"]).code, 2);
}

/// What the shells are told at the end of those words.
fn completed(world: &World, words: &[&str]) -> Vec<String> {
    let done = world.run(&[&["complete", "--"], words].concat());
    assert_eq!((done.code, &*done.err), (0, ""), "{words:?}");
    done.out.lines().map(|line| line.split('\t').next().unwrap().to_string()).collect()
}

#[test]
fn completions_know_ids() {
    let world = World::with(
        "[rule.my-own]\ncommand = \"x\"\ndeny = \"x\"\n[remote.approvals]\nurl = \"http://127.0.0.1:9\"\n",
    );
    world.project_file("[rule.of-project]\ncommand = \"x\"\ndeny = \"x\"\n");
    let other = world.home().join("other");
    world.write(&other.join("config.toml"), "[rule.elsewhere]\ncommand = \"x\"\ndeny = \"x\"\n");
    let other = other.to_str().unwrap();
    let user = world.user();
    let dir = user.parent().unwrap().to_str().unwrap();
    for (words, holds, lacks) in [
        (
            &[""][..],
            &["status", "log", "serve", "completions"][..],
            &["cline-hook", "complete", "--json"][..],
        ),
        (&["sta"], &["status", "stats"], &["log"]),
        (
            &["log", "--rule", ""],
            &["my-own", "of-project", "force-push-anywhere"],
            &["elsewhere", "git"],
        ),
        (&["log", "--rule", "my"], &["my-own"], &["of-project"]),
        (&["log", "--rule=m"], &["--rule=my-own"], &["--rule=of-project"]),
        (&["log", "--rule", "=", "my"], &["my-own"], &["of-project"]),
        (&["log", "--rule", "="], &["my-own", "of-project"], &[]),
        (&["--config", other, "log", "--rule", ""], &["elsewhere", "of-project"], &["my-own"]),
        (&["log", "--config", dir, "-n", "3", "--rule", "\"\""], &["my-own"], &["elsewhere"]),
        (&["packs", "show", ""], &["git", "force-push-anywhere"], &["my-own", "list"]),
        (&["packs", ""], &["list", "show"], &["git"]),
        (&["ping", ""], &["approvals"], &["server"]),
        (&["flush", "app"], &["approvals"], &[]),
        (&["install", "--agent", ""], &["claude", "codex", "gemini"], &[]),
        (&["install", "--agent", "claude,ge"], &["claude,gemini"], &["gemini", "claude,codex"]),
        (&["install", "--scope", ""], &["user", "project", "local"], &[]),
        (&["events", "enable", "Pre"], &["PreToolUse", "PreCompact"], &["Stop"]),
        (&["events", "disable", "Stop", "--agent", "ge"], &["gemini"], &[]),
        (&["explain", "--event", "St"], &["Stop"], &["PreToolUse"]),
        (&["log", "--decision", ""], &["deny", "passed", "rewritten"], &[]),
        (&["log", "-"], &["--since", "--help", "--state", "--color"], &["--all"]),
        (&["hook", "--"], &["--timeout-ms", "--debug"], &["--json"]),
        (&["flush", "--"], &["--json"], &["--quiet"]),
        (&["agents", ""], &["claude", "qwen"], &[]),
        (&["completions", ""], &["bash", "zsh", "fish", "powershell", "elvish"], &[]),
        (&["status", ""], &["--verify", "--json"], &[]),
        (&["status", "--color", ""], &["auto", "always", "never"], &[]),
        (&["help", "sta"], &["status"], &[]),
        // Files, which shells know better.
        (&["check", ""], &[], &["--json"]),
        (&["log", "--state", ""], &[], &["log"]),
        (&["explain", "--", "-"], &[], &["--json"]),
        (&["bogus", "--bogus", "x"], &[], &["log"]),
    ] {
        let found = completed(&world, words);
        for one in holds {
            assert!(found.contains(&one.to_string()), "{words:?} lacks {one}: {found:?}");
        }
        for one in lacks.iter().filter(|one| !holds.contains(one)) {
            assert!(!found.contains(&one.to_string()), "{words:?} has {one}: {found:?}");
        }
        assert!(!holds.is_empty() || found.is_empty(), "{words:?}: {found:?}");
    }
    // What cannot be read costs nothing but its ids.
    world.write(&world.user(), "[rule.\u{1b}[2J");
    assert!(completed(&world, &["log", "--rule", ""]).contains(&"force-push-anywhere".to_string()));
    assert!(completed(&world, &["--config", "/nowhere", "log", "--rule", "f"]).len() > 1);
}

/// A shell with hookctl in its PATH runs that.
fn in_shell(world: &World, shell: &str, args: &[&str], script: &str) -> Option<String> {
    let path =
        format!("{}:/usr/local/bin:/usr/bin:/bin", Path::new(cli::BIN).parent().unwrap().display());
    let mut command = world.command(shell);
    command.args(args).arg(script).env("PATH", path);
    let Ok(output) = command.output() else {
        eprintln!("no {shell} here: not checked");
        return None;
    };
    Some(
        String::from_utf8_lossy(&output.stdout).into_owned()
            + &String::from_utf8_lossy(&output.stderr),
    )
}

#[test]
fn completions_work_in_real_shells() {
    let world = World::with("[rule.my-own]\ncommand = \"x\"\ndeny = \"x\"\n");
    let ask = "source <(hookctl completions bash); ask() { COMP_WORDS=(hookctl \"$@\"); COMP_CWORD=$#; \
               COMPREPLY=(); _hookctl; printf '<%s>' \"${COMPREPLY[@]}\"; echo; }\n";
    let said = in_shell(
        &world,
        "bash",
        &["--norc", "-c"],
        &format!(
            "{ask} ask sta; ask log --rule my; ask log --rule = my; ask install --agent claude,ge; ask check ''"
        ),
    );
    if let Some(said) = said {
        assert_eq!(said, "<status><stats>\n<my-own>\n<my-own>\n<claude,gemini>\n<>\n");
    }
    let zsh = "autoload -Uz compinit; compinit -u -D; source <(hookctl completions zsh)\n\
               _describe() { print -r -- ${(P)2}; }; _files() { print FILES; }\n\
               ask() { words=(hookctl \"$@\"); CURRENT=$#words; _hookctl; }\n\
               ask log --rule my; ask log --since 1; ask check ''";
    if let Some(said) = in_shell(&world, "zsh", &["-f", "-c"], zsh) {
        assert_eq!(said, "my-own:user rule\n1d: 1w:\nFILES\n");
    }
    let fish = "hookctl completions fish | source; complete -C 'hookctl log --rule my'; complete -C 'hookctl stat'";
    if let Some(said) = in_shell(&world, "fish", &["-c"], fish) {
        assert!(said.starts_with("my-own\tuser rule\n") && said.contains("status\t"), "{said}");
    }
}

#[test]
fn a_state_or_a_config_that_is_not_there_is_told_with_what_mends_it() {
    let world = World::new();
    let file = world.home().join("file");
    world.write(&file, "x");
    let file = file.to_str().unwrap();
    let absent = "/nowhere/at-all";
    for command in [
        &["log"][..],
        &["status"],
        &["doctor"],
        &["stats"],
        &["memory"],
        &["check"],
        &["packs"],
        &["explain", "ls"],
        &["test"],
        &["replay"],
        &["suggest"],
        &["trust", "--list"],
        &["agents"],
        &["events"],
        &["resume"],
        &["report", "-o", "x.html"],
        &["allow", "--last"],
    ] {
        for (option, path, told) in [
            ("--state", absent, "there is no such directory. Name the one"),
            ("--state", file, "is a file: name the directory of the journal"),
            (
                "--config",
                absent,
                "there is no such directory. `hookctl init --config DIR` makes one",
            ),
            ("--config", file, "is a file: name the directory of config.toml"),
        ] {
            if command[0] == "replay" && option == "--config" {
                continue;
            }
            let done = world.run(&[command, &[option, path]].concat());
            assert_eq!(done.code, 2, "{command:?} {option} {path}: {}{}", done.out, done.err);
            let wanted = format!("{option} {path}");
            assert!(
                done.err.contains(&wanted) && done.err.contains(told),
                "{command:?}: {}",
                done.err
            );
        }
    }
    // The default one comes with the first event, whether it is named or not.
    let state = world.state();
    let own = ["--state", state.to_str().unwrap()];
    for command in [&["check"][..], &["explain", "ls"], &["packs"], &["stats"]] {
        assert_eq!(
            world.run(&[command, &own].concat()).code,
            world.run(command).code,
            "{command:?}"
        );
    }
    // The hook answers whatever is wrong with them; it makes a state that is not there.
    let absent = world.home().join("absent");
    let absent = absent.to_str().unwrap();
    let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.project(),
        "tool_name": "Bash", "tool_input": { "command": "rm -rf ~" } });
    for (option, path) in
        [("--state", absent), ("--state", file), ("--config", absent), ("--config", file)]
    {
        let done = world.feed(&["hook", option, path], payload.to_string().as_bytes());
        assert!(done.code == 0 || done.code == 2, "{option} {path}");
        assert!(done.out.contains("\"deny\""), "{option} {path}: {}", done.out);
    }
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn a_revoked_trust_tells_programs_what_it_did() {
    let world = project();
    world.on_terminal(&["trust"], "trust project\n");
    let done = world.run(&["trust", "--revoke", "--json"]);
    assert_eq!(done.code, 0, "{}", done.err);
    assert_eq!(done.json()["revoked"][0], json!(world.project().join(".hookctl.toml")));
    assert_eq!(world.run(&["trust", "--revoke", "--json"]).json()["revoked"], json!([]));
    let done = world.run(&["trust", "--json"]);
    assert_eq!((done.code, done.json()["ok"].clone(), &*done.err), (2, json!(false), ""));
}

#[test]
fn what_edits_tells_programs_what_it_did() {
    let world = project();
    let cleared = world.run(&["memory", "clear", "--json"]).json();
    assert_eq!((&cleared["command"], &cleared["removed"]), (&json!("memory"), &json!(0)));
    let page = world.home().join("report.html");
    let args = ["report", "--json", "-o", page.to_str().unwrap()];
    world.write(&world.state().join("journal.jsonl"), "");
    let none = world.run(&args);
    assert_eq!((none.code, none.json()["messages"][0]["level"].clone()), (1, json!("note")));
    ls(&world);
    let done = world.run(&args).json();
    assert_eq!(
        (&done["file"], &done["events"], &done["ok"]),
        (&json!(page), &json!(1), &json!(true))
    );
}

#[test]
fn samples_of_verify_are_nobodys_calls() {
    let world = World::with_named_files();
    let line = |session: &str, what: &str| {
        let line = json!({ "time": "2026-11-10T10:00:00.000Z", "agent": "claude", "event": "PreToolUse", "session": session,
            "cwd": world.project(), "tool": "Bash", "what": what, "decision": "deny", "rule": "delete-root", "ms": 0.5 });
        format!("{line}\n")
    };
    let both = line("s", "rm -rf /usr") + &line("hookctl-verify", "rm -rf /");
    world.write(&world.state().join("journal.jsonl"), &both);
    assert_eq!(world.run(&["stats", "--json"]).json()["events"], 1);
    assert_eq!(world.run(&["replay", "--json"]).json()["calls"], 1);
    if cfg!(windows) {
        system::leave_out("a terminal", "what `deny --last` shows");
    } else {
        let last = world.on_terminal(&["deny", "--last"], "no\n");
        assert!(last.out.contains("Bash rm -rf /usr in"), "{}", last.out);
    }
    // The log has them, marked.
    assert!(world.run(&["log"]).out.contains("rm -rf /  (verify sample)"));
}

#[test]
fn an_event_that_nobody_could_read_is_of_no_session() {
    let world = World::new();
    for _ in 0..2 {
        let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s",
            "cwd": world.project(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
        world.feed(&["hook", "--agent", "claude"], payload.to_string().as_bytes());
    }
    world.feed(&["hook", "--agent", "claude", "--event", "PreToolUse"], b"");
    let told = world.run(&["stats"]).out;
    assert!(told.contains("3 events in 1 session of"), "{told}");
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn a_pause_warns_of_what_it_does() {
    let world = World::new();
    let done = world.on_terminal(&["pause", "10m"], "no\n");
    assert!(done.out.contains("but for what guards"), "{}", done.out);
}

#[test]
#[cfg(unix)]
fn a_starter_that_cannot_be_written_whole_is_not_written() {
    let world = World::new();
    let file = world.home().join(".config/hookctl/config.toml");
    let run = |args: &[&str]| {
        let mut command = world.command("/bin/sh");
        // No file may grow: as on a disk that is full.
        let line = "trap '' XFSZ; ulimit -f 0; exec \"$0\" \"$@\"";
        command.args(["-c", line, env!("CARGO_BIN_EXE_hookctl")]).args(args);
        cli::finish(command, b"")
    };
    let done = run(&["init"]);
    assert!(done.code == 2 && done.err.contains("cannot write"), "{}", done.err);
    assert!(!file.exists());
    assert_eq!(world.run(&["init"]).code, 0);
    // What was to be replaced is back.
    world.write(&file, "# mine\n");
    let done = run(&["init", "--force"]);
    assert!(done.code == 2 && done.err.contains("cannot write"), "{}", done.err);
    assert_eq!(std::fs::read_to_string(&file).unwrap(), "# mine\n");
}

/// What npx and its kind fetched goes some day: entries name a copy that stays, and nobody's file goes for it.
#[test]
#[cfg(unix)]
fn what_was_fetched_to_be_run_once_is_copied_to_where_it_stays() {
    use std::os::unix::fs::{PermissionsExt as _, symlink};
    const FETCHED: [&str; 3] = [
        ".npm/_npx/1a/node_modules/@hookctl/os-cpu/bin/hookctl",
        ".bun/install/cache/.bunx-0/hookctl@latest/node_modules/@hookctl/os-cpu/bin/hookctl",
        "pnpm/global/5/.pnpm/@hookctl+os-cpu@0.2.0/node_modules/@hookctl/os-cpu/bin/hookctl",
    ];
    let make = |program: &str| {
        let world = World::new();
        let fetched = world.home().join(program);
        fs::create_dir_all(fetched.parent().unwrap()).unwrap();
        fs::copy(env!("CARGO_BIN_EXE_hookctl"), &fetched).unwrap();
        fs::create_dir_all(world.home().join(".claude")).unwrap();
        (world, fetched)
    };
    let run = |world: &World, program: &Path, args: &[&str], agent: bool| {
        let mut command = std::process::Command::new(program);
        command.args(args).env_clear().env("HOME", world.home()).env("PATH", "/usr/bin:/bin");
        command.current_dir(world.project()).stdin(std::process::Stdio::null());
        if agent {
            command.env("CLAUDECODE", "1");
        }
        let done = command.output().unwrap();
        (done.status.code(), String::from_utf8_lossy(&done.stderr).into_owned())
    };
    let entries = |world: &World| {
        fs::read_to_string(world.home().join(".claude/settings.json")).unwrap_or_default()
    };
    let install = &["install", "--agent", "claude"][..];
    for program in FETCHED {
        let (world, fetched) = make(program);
        let stays = world.home().join(".local/bin/hookctl");
        for (args, code) in [
            (&["install", "--agent", "claude", "--dry-run"][..], Some(0)),
            (&["install", "--agnet", "claude"], Some(2)),
            (&["install", "--agent", "claude", "--dry-run=x"], Some(2)),
            (&["status"], Some(1)),
        ] {
            assert_eq!(run(&world, &fetched, args, false).0, code, "{args:?}");
            assert!(!stays.exists(), "{args:?}");
        }
        let (code, err) = run(&world, &fetched, install, false);
        assert!(code == Some(0) && err.contains("copied to"), "{err}");
        assert!(
            entries(&world).contains(stays.to_str().unwrap())
                && !entries(&world).contains("os-cpu")
        );
        assert_eq!(fs::read(&stays).unwrap(), fs::read(&fetched).unwrap());
        assert_eq!(fs::metadata(&stays).unwrap().permissions().mode() & 0o777, 0o755);
        // Whatever writes entries names the same.
        let (code, err) = run(&world, &fetched, &["events", "enable", "FileChanged"], false);
        assert!(code == Some(0), "{err}");
        assert!(!entries(&world).contains("os-cpu"), "{}", entries(&world));
        assert_eq!(fs::read_dir(stays.parent().unwrap()).unwrap().count(), 1);
    }
    let says = |version: &str| format!("#!/bin/sh\necho {version}\n");
    for (there, agent, code, words, stands) in [
        (says("something else"), false, 2, "is there, and is no hookctl", true),
        (String::new(), false, 2, "is there, and is no hookctl", true),
        (says("hookctl 99.0.0"), false, 0, "which is newer: it stays", true),
        (says("hookctl 0.0.1"), true, 2, "replacing it is for humans", true),
        (says("hookctl 0.0.1"), false, 0, "copied to", false),
    ] {
        let (world, fetched) = make(FETCHED[0]);
        let stays = world.home().join(".local/bin/hookctl");
        world.write(&stays, &there);
        fs::set_permissions(&stays, fs::Permissions::from_mode(0o755)).unwrap();
        let (done, err) = run(&world, &fetched, install, agent);
        assert!(done == Some(code) && err.contains(words), "{there}: {done:?} {err}");
        assert_eq!(fs::read(&stays).unwrap() == there.as_bytes(), stands, "{there}");
        assert_eq!(entries(&world).is_empty(), code != 0, "{there}");
    }
    let (world, fetched) = make(FETCHED[0]);
    let (other, stays) = (world.home().join("other"), world.home().join(".local/bin/hookctl"));
    world.write(&other, &says("hookctl 0.0.1"));
    fs::set_permissions(&other, fs::Permissions::from_mode(0o755)).unwrap();
    fs::create_dir_all(stays.parent().unwrap()).unwrap();
    symlink(&other, &stays).unwrap();
    let (code, err) = run(&world, &fetched, install, false);
    assert!(code == Some(2) && err.contains("is a link to hookctl 0.0.1"), "{err}");
    assert!(fs::symlink_metadata(&stays).unwrap().is_symlink());
}

/// A program in a project's directories goes with them, and with it the guard of every session.
#[test]
fn a_program_of_a_project_is_warned_of() {
    let world = World::new();
    let program = world.project().join("node_modules/@hookctl/os-cpu/bin/hookctl");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    world.write(&world.project().join("package.json"), "{}");
    fs::copy(env!("CARGO_BIN_EXE_hookctl"), &program).unwrap();
    let done = std::process::Command::new(&program)
        .args(["install", "--agent", "claude"])
        .env("HOME", world.home())
        .env("TMPDIR", world.home().join("elsewhere"))
        .current_dir(world.home())
        .output()
        .unwrap();
    let err = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success() && err.contains("warning"), "{err}");
    // The test's own directory is a temporary one, too.
    assert!(err.contains("belongs to the project") || err.contains("builds or cleanups"), "{err}");
}

/// `sudo hookctl install`, where that keeps HOME.
#[test]
#[cfg(unix)]
fn root_in_a_users_home_is_warned() {
    let world = World::new();
    let warned =
        |world: &World| world.run(&["install", "--agent", "claude"]).err.contains("you are root");
    assert!(!warned(&world));
    // Only root can give a directory away.
    if std::os::unix::fs::chown(world.home(), Some(12345), None).is_ok() {
        assert!(warned(&world));
        std::os::unix::fs::chown(world.home(), Some(0), None).unwrap();
    }
}
