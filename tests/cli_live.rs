//! `hookctl status --verify --live` with a script in the client's place; tests/e2e has the real clients.

#![cfg(unix)]

mod cli;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cli::{BIN, Done, World, finish, system};
use serde_json::{Value, json};

/// What Claude Code would do, as `~/does` has it. `ask TOOL COMMAND` has hookctl judge a call.
const CLIENT: &str = r#"#!/bin/sh
[ "$1" = --version ] && { echo '9.9.9 (stand-in)'; exit; }
call=$(printf '%s' "$2" | grep -o 'mkdir hookctl-canary-[0-9a-f]*' | head -n 1)
[ "$4" = "Bash($call)" ] || { echo "not understood: $*" >&2; exit 9; }
ask() {
    printf '{"hook_event_name":"PreToolUse","session_id":"s","cwd":"%s","tool_name":"%s","tool_input":{"%s":"%s"}}' \
        "$PWD" "$1" "$2" "$3" | "$HOOKCTL" hook --agent claude | grep -q '"deny"'
}
case $2 in *'Start one subagent'*) sub=1 ;; *) sub= ;; esac
. "$HOME/does"
"#;

/// It spawns a subagent where it is asked to, and does what its hook says.
const OBEYS: &str = r#"[ -z "$sub" ] || ask Agent prompt x; ask Bash command "$call" || $call"#;

struct Live {
    world: World,
}

impl Live {
    /// With hookctl in Claude Code's settings.
    fn new(does: &str) -> Live {
        let live = Live { world: World::new() };
        for dir in [live.bin(), live.tmp()] {
            fs::create_dir_all(dir).unwrap();
        }
        let client = live.bin().join("claude");
        live.world.write(&client, CLIENT);
        system::set_mode(&client, 0o755);
        live.does(does);
        // What a project's entries name.
        symlink(BIN, live.bin().join("hookctl")).unwrap();
        let done = live.run(&["install", "--agent", "claude"]);
        assert_eq!(done.code, 0, "{}", done.err);
        live
    }

    fn bin(&self) -> PathBuf {
        self.world.home().join("bin")
    }

    fn tmp(&self) -> PathBuf {
        self.world.home().join("tmp")
    }

    fn does(&self, script: &str) {
        self.world.write(&self.world.home().join("does"), script);
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.world.start(args);
        command.env("PATH", format!("{}:/usr/bin:/bin", self.bin().display()));
        command.env("TMPDIR", self.tmp()).env("HOOKCTL", BIN);
        command
    }

    fn run(&self, args: &[&str]) -> Done {
        finish(self.command(args), b"")
    }

    /// The exit status and the checks, with these options more.
    fn check(&self, more: &[&str]) -> (i32, Vec<Value>) {
        let done = self.run(&[&["status", "--verify", "--live", "--json"], more].concat());
        assert_eq!(self.left(), 0, "directories are left behind");
        assert!(!done.out.is_empty(), "{}", done.err);
        (done.code, done.json()["live"].as_array().cloned().unwrap_or_default())
    }

    /// How many directories of checks there are.
    fn left(&self) -> usize {
        fs::read_dir(self.tmp()).unwrap().count()
    }
}

fn outcomes(checks: &[Value]) -> Vec<(&str, &str)> {
    checks
        .iter()
        .map(|check| (check["thread"].as_str().unwrap(), check["outcome"].as_str().unwrap()))
        .collect()
}

#[test]
fn what_the_client_does_with_the_call() {
    let live = Live::new(OBEYS);
    let cases: &[(&str, i32, &str, &str, &str)] = &[
        (OBEYS, 0, "obeyed", "obeyed", "deny by project:live-check to PreToolUse Bash"),
        // It ends with a failure where a call is refused.
        (&format!("{OBEYS}; exit 1"), 0, "obeyed", "obeyed", "deny"),
        (
            r#"[ -z "$sub" ] || ask Agent prompt x; ask Bash command "$call"; $call"#,
            1,
            "not-stopped",
            "not-stopped",
            "the client ran the command all the same",
        ),
        ("$call", 1, "hook-not-called", "hook-not-called", "the journal has nothing of it"),
        // The call is not the one that the rule denies, and it is not made.
        (r#"ask Bash command "echo $call""#, 1, "not-denied", "not-denied", "said silent"),
        // It does not start a subagent, but asks itself.
        (r#"ask Bash command "$call" || $call"#, 1, "obeyed", "no-call", "deny"),
        (
            r#"[ -z "$sub" ] || exec $call; ask Bash command "$call""#,
            1,
            "obeyed",
            "hook-not-called",
            "deny",
        ),
        ("echo I would rather not", 1, "no-call", "no-call", "ended well: I would rather not"),
    ];
    for (does, code, main, subagent, detail) in cases {
        live.does(does);
        let (status, checks) = live.check(&[]);
        assert_eq!(
            outcomes(&checks),
            [("main", *main), ("subagent", *subagent)],
            "{does}: {checks:?}"
        );
        assert_eq!(status, *code, "{does}: {checks:?}");
        assert!(checks[0]["detail"].as_str().unwrap().contains(detail), "{does}: {checks:?}");
        assert_eq!(checks[0]["version"], "9.9.9 (stand-in)", "{does}");
    }
}

#[test]
fn a_client_that_fails_is_tried_once_and_says_why() {
    let live = Live::new("echo one >&2; echo; echo 'no credits\x1b[31m' >&2; exit 7");
    let (code, checks) = live.check(&[]);
    assert_eq!((code, outcomes(&checks)), (1, vec![("main", "client-failed")]));
    let detail = checks[0]["detail"].as_str().unwrap();
    assert!(detail.starts_with("exit 7: one / no credits"), "{detail}");
    live.does("kill -9 $$");
    let (code, checks) = live.check(&[]);
    assert_eq!((code, outcomes(&checks)), (1, vec![("main", "client-failed")]));
    let done = live.run(&["status", "--verify", "--live"]);
    assert!(
        done.out.contains("??   Claude Code (9.9.9 (stand-in)), main thread: the client failed")
    );
    assert!(!done.out.contains('\x1b'), "{}", done.out);
}

#[test]
fn which_agents_are_tried() {
    let live = Live::new(OBEYS);
    // Named: installed or not.
    let (code, checks) = live.check(&["--agent", "codex,cursor,codex"]);
    let seen: Vec<_> = checks.iter().map(|c| (c["agent"].clone(), c["outcome"].clone())).collect();
    let wanted = [
        (json!("codex"), json!("program-not-found")),
        (json!("cursor"), json!("no-headless-mode")),
    ];
    assert_eq!((code, seen), (0, wanted.to_vec()));
    // With the entries out of the settings the same client goes on: nothing else held it.
    live.does("[ -n \"$HOOKCTL\" ] && $call");
    assert_eq!(live.run(&["uninstall"]).code, 0);
    let (code, checks) = live.check(&["--agent", "claude"]);
    let wanted = [("main", "hook-not-called"), ("subagent", "hook-not-called")];
    assert_eq!((code, outcomes(&checks)), (1, wanted.to_vec()));
    let done = live.run(&["status", "--verify", "--live", "--agent", "claude"]);
    assert!(
        done.out.contains("FAIL Claude Code (9.9.9 (stand-in)), subagent: NOT STOPPED"),
        "{}",
        done.out
    );
    assert!(done.out.contains("problem     Claude Code"), "{}", done.out);
    // Nobody has entries.
    let done = live.run(&["status", "--verify", "--live"]);
    assert!(done.code == 1 && done.out.contains("nothing to try"), "{}", done.out);
    // Entries of a project do not hold where the check runs.
    assert_eq!(live.run(&["install", "--agent", "claude", "--scope", "project"]).code, 0);
    let (code, checks) = live.check(&[]);
    assert_eq!((code, outcomes(&checks)), (0, vec![("main", "project-only")]));
    let done = live.run(&["status", "--verify", "--live", "--agent", "nobody"]);
    assert!(done.code == 2 && done.err.contains("unknown agent `nobody`"), "{}", done.err);
}

#[test]
fn where_nothing_can_be_learnt_nothing_is_started() {
    let live = Live::new("touch \"$HOME/started\"");
    let refused = |change: &dyn Fn(&mut Command), why: &str| {
        let mut command = live.command(&["status", "--verify", "--live"]);
        change(&mut command);
        let done = finish(command, b"");
        assert!(done.code == 2 && done.err.contains(why), "{why}: {}", done.err);
    };
    refused(&|command| _ = command.env("CLAUDECODE", "1"), "CLAUDECODE is set");
    live.world.write(&live.world.user(), "[journal]\nenabled = false\n");
    refused(&|_| (), "looks into the journal");
    live.world.write(&live.world.user(), "");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let note = json!({ "since": now, "until": now + 300 });
    live.world.write(&live.world.state().join("pause.json"), &note.to_string());
    refused(&|_| (), "hookctl is paused");
    for args in [&["status", "--live"][..], &["status", "--verify", "--yes"]] {
        assert_eq!(live.run(args).code, 2, "{args:?}");
    }
    assert!(!live.world.home().join("started").exists());
}

#[test]
fn on_a_terminal_it_asks_first() {
    let live = Live::new("touch \"$HOME/started\"");
    let path = format!("{}:/usr/bin:/bin", live.bin().display());
    let tmp = live.tmp().display().to_string();
    let env = [("PATH", path.as_str()), ("TMPDIR", tmp.as_str()), ("HOOKCTL", BIN)];
    let args = ["status", "--verify", "--live"];
    let started = live.world.home().join("started");
    for typed in ["\n", "n\n", "maybe\n"] {
        let done = live.world.on_terminal_with(&args, typed, &env);
        assert!(done.out.contains("Claude Code in a temporary directory"), "{}", done.out);
        assert!(done.out.contains("nothing was started"), "{}", done.out);
        assert!(!started.exists(), "{typed}");
    }
    let done = live.world.on_terminal_with(&args, "y\n", &env);
    assert!(started.exists() && done.out.contains("no such call"), "{}", done.out);
    fs::remove_file(&started).unwrap();
    let yes = [&args[..], &["--yes"]].concat();
    let done = live.world.on_terminal_with(&yes, "", &env);
    assert!(started.exists() && !done.out.contains("[y/N]"), "{}", done.out);
}

#[test]
fn an_interrupt_leaves_nothing_behind() {
    let live = Live::new("echo $$ >\"$HOME/pid\"; sleep 300");
    let mut child = live.command(&["status", "--verify", "--live"]).spawn().unwrap();
    let pid_file = live.world.home().join("pid");
    let pid = soon(|| fs::read_to_string(&pid_file).ok().filter(|pid| pid.ends_with('\n')));
    assert_eq!(live.left(), 1);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
    assert_eq!(live.left(), 0);
    let alive = || Command::new("kill").args(["-0", pid.trim()]).output().unwrap().status.success();
    soon(|| (!alive()).then_some(()));
}

/// What comes within ten seconds.
fn soon<T>(look: impl Fn() -> Option<T>) -> T {
    let end = Instant::now() + Duration::from_secs(10);
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(Instant::now() < end, "it does not come");
        thread::sleep(Duration::from_millis(20));
    }
}
