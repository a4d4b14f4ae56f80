//! An answer in time whatever happens to the process: whole processes, stalled, starved and killed.
#![cfg(unix)]

use std::fs;
use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

mod home;

const DENY: &str = "[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n";

fn read_call() -> Vec<u8> {
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Read",
           "tool_input": {"file_path": "/x"}, "tool_use_id": "t", "cwd": "/tmp"})
    .to_string()
    .into_bytes()
}

fn run(mut command: Command, stdin: &[u8]) -> Output {
    let mut child = home::system::start(&mut command);
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child.wait_with_output().unwrap()
}

fn verdict(output: &Output) -> String {
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let verdict = answer.pointer("/hookSpecificOutput/permissionDecision");
    verdict.and_then(Value::as_str).unwrap_or_default().to_string()
}

/// A shell that starts hookctl with its descriptors and limits changed by `setup`.
fn under(home: &Path, setup: &str, args: &str) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .arg("-c")
        .arg(format!("{setup} exec \"$HOOKCTL\" hook {args}"))
        .env("HOOKCTL", env!("CARGO_BIN_EXE_hookctl"))
        .env("HOME", home)
        .current_dir(home.join("project"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

/// A hook that waits for the rest of its input.
fn waiting(home: &Path, args: &[&str]) -> Child {
    let mut child = home::command(home, args).spawn().unwrap();
    child.stdin.as_mut().unwrap().write_all(b"{").unwrap();
    wait_for_handlers(&child);
    child
}

/// Until the process has been loaded, has its handlers, and waits for its input.
fn wait_for_handlers(child: &Child) {
    let file = |name: &str| fs::read_to_string(format!("/proc/{}/{name}", child.id()));
    if file("status").is_err() {
        return std::thread::sleep(Duration::from_secs(2));
    }
    let end = Instant::now() + Duration::from_secs(20);
    let mut seen = 0;
    while seen < 3 && Instant::now() < end {
        let status = file("status").unwrap_or_default();
        let field = |name: &str| status.lines().find_map(|line| line.strip_prefix(name));
        let caught = field("SigCgt:").and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        let caught = caught.is_some_and(|mask| mask & (1 << (Signal::ALARM.as_raw() - 1)) != 0);
        let waits = field("State:").is_some_and(|state| state.trim().starts_with('S'));
        seen = if caught && waits { seen + 1 } else { 0 };
        std::thread::sleep(Duration::from_millis(5));
    }
}

const FATAL: &[Signal] = &[
    Signal::ALARM,
    Signal::PROF,
    Signal::XCPU,
    Signal::SEGV,
    Signal::BUS,
    Signal::ILL,
    Signal::FPE,
    Signal::TRAP,
    Signal::SYS,
    Signal::ABORT,
];

#[test]
fn a_crash_ends_in_the_answer_for_the_event() {
    let home = home::make(DENY);
    for signal in FATAL {
        for (event, said) in [
            ("PreToolUse", "\"permissionDecision\":\"ask\""),
            ("PostToolUse", "\"systemMessage\":\"hookctl cannot judge this: "),
            ("PermissionRequest", ""),
        ] {
            let child = waiting(home.path(), &["hook", "--event", event]);
            kill_process(Pid::from_child(&child), *signal).unwrap();
            let output = child.wait_with_output().unwrap();
            let text = String::from_utf8(output.stdout.clone()).unwrap();
            assert_eq!(output.status.code(), Some(0), "{signal:?} {event}: {output:?}");
            assert!(
                text.contains(said) && text.is_empty() == said.is_empty(),
                "{signal:?}: {text}"
            );
            assert!(text.is_empty() || serde_json::from_str::<Value>(&text).is_ok(), "{text}");
        }
        let child = waiting(home.path(), &["hook"]);
        kill_process(Pid::from_child(&child), *signal).unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{signal:?}, of an event that nobody knows");
        assert!(!output.stderr.is_empty() && output.stdout.is_empty());
    }
}

#[test]
fn signals_that_a_parent_blocks_or_ignores_are_heard_all_the_same() {
    let home = home::make(DENY);
    let ignoring = "trap '' ALRM PROF XCPU SEGV BUS ILL FPE ABRT XFSZ PIPE;";
    let mut child = under(home.path(), ignoring, "--event PreToolUse").spawn().unwrap();
    wait_for_handlers(&child);
    kill_process(Pid::from_child(&child), Signal::ALARM).unwrap();
    let mut text = String::new();
    child.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(text.contains("\"ask\""), "{text}");
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[test]
fn a_deny_that_nobody_can_read_is_exit_status_2() {
    let home = home::make(DENY);
    for setup in ["exec >&-;", "exec >/dev/full;", "exec >/dev/null;", "exec >&- 2>&-;"] {
        if setup.contains("full") && !Path::new("/dev/full").exists() {
            continue;
        }
        let output = run(under(home.path(), setup, ""), &read_call());
        assert_eq!(output.status.code(), Some(2), "{setup} {output:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(setup.contains("2>&-") || said.contains("no [user:no]"), "{setup} {said}");
    }
    // What allows, or only tells, blocks nothing.
    for rules in [
        "[rule.yes]\ntool = \"Read\"\nallow = \"yes\"\n",
        "[rule.tell]\ntool = \"Read\"\nnotify = \"x\"\n",
    ] {
        let home = home::make(rules);
        let output = run(under(home.path(), "exec >&-;", ""), &read_call());
        assert_eq!(output.status.code(), Some(0), "{rules} {output:?}");
    }
    // An answer that cannot be judged stops as well.
    let output = run(under(home.path(), "exec >&-;", "--event PreToolUse"), b"garbage");
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[test]
fn a_pipe_that_is_full_and_never_read_ends_with_2_at_the_deadline() {
    let home = home::make(DENY);
    // `yes` fills the pipe first; nobody reads it before the hook has ended.
    let mut child = under(home.path(), "timeout 0.3 yes;", "--timeout 2").spawn().unwrap();
    let start = Instant::now();
    child.stdin.take().unwrap().write_all(&read_call()).unwrap();
    let status = child.wait().unwrap();
    assert_eq!(status.code(), Some(2));
    // Without a deadline it would stay for ever; starting it takes a moment on a busy machine.
    home::system::is_in_time(start, Duration::from_secs(5), "the end with a pipe that is full");
}

#[test]
fn a_trickle_on_stdin_does_not_outlast_the_deadline() {
    let home = home::make(DENY);
    let args = ["hook", "--timeout", "5", "--event", "PreToolUse"];
    let mut child = home::command(home.path(), &args).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let start = Instant::now();
    let writer = std::thread::spawn(move || {
        while start.elapsed() < Duration::from_secs(20) && stdin.write_all(b" ").is_ok() {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let output = child.wait_with_output().unwrap();
    home::system::is_in_time(start, Duration::from_secs(5), "the answer to a trickle");
    assert_eq!(verdict(&output), "ask");
    writer.join().unwrap();
}

#[test]
fn limits_of_the_system_end_in_an_answer() {
    let home = home::make(DENY);
    for (setup, wanted) in [
        ("ulimit -f 0;", &["deny"][..]),
        ("ulimit -c unlimited;", &["deny"]),
        ("ulimit -n 3;", &["deny", "ask", "2"]),
        ("ulimit -n 5;", &["deny", "ask", "2"]),
        ("ulimit -s 64;", &["deny", "ask"]),
        ("ulimit -v 20000;", &["deny", "ask", "2"]),
        ("ulimit -v 80000;", &["deny", "ask", "2"]),
        ("ulimit -v 160000;", &["deny", "ask", "2"]),
        ("ulimit -d 600;", &["deny", "ask", "2"]),
        ("ulimit -t 1;", &["deny"]),
    ] {
        let output = run(under(home.path(), setup, "--event PreToolUse --timeout 3"), &read_call());
        let code = output.status.code();
        let found: String = if code == Some(2) { "2".into() } else { verdict(&output) };
        // A system that lets no such process start is none where an agent's hook could.
        // Where the system does not even load the program there is nothing of ours to answer.
        let unborn = || {
            let mut other = under(home.path(), setup, "--help");
            !other.stdin(Stdio::null()).output().is_ok_and(|output| output.status.success())
        };
        assert!(wanted.contains(&found.as_str()) || unborn(), "{setup} {output:?}");
    }
}

#[test]
fn no_thread_to_be_had_is_the_failure_of_that_rule() {
    // Root has no limit of processes.
    if rustix::process::geteuid().is_root() {
        return;
    }
    let rules = "[rule.run]\ntool = \"Read\"\nrun = \"true\"\ndeny = \"failed\"\n";
    let home = home::make(rules);
    // dash calls that limit by another name.
    let limit = "(ulimit -u 1) 2>/dev/null && ulimit -u 1 || ulimit -p 1;";
    let output = run(under(home.path(), limit, "--event PreToolUse"), &read_call());
    assert_eq!(verdict(&output), "deny", "{output:?}");
}

#[test]
fn a_script_that_was_killed_has_allowed_nothing() {
    let allow =
        r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"allow"}}"#;
    let deny = allow.replace("allow", "deny");
    for (answer, end, wanted) in [
        (allow, "exit 0", "allow"),
        (allow, "kill -9 $$", "ask"),
        (allow, "sleep 30", "ask"),
        (deny.as_str(), "kill -9 $$", "deny"),
        (deny.as_str(), "sleep 30", "deny"),
    ] {
        let rules =
            "[rule.old]\ntool = \"Read\"\nhook = \"sh ./old.sh\"\nlimit = 3\notherwise = \"ask\"\n";
        let home = home::make(rules);
        let script = format!("cat >/dev/null\necho '{answer}'\n{end}\n");
        fs::write(home.path().join("project/old.sh"), &script).unwrap();
        fs::write(home.path().join(".config/hookctl/old.sh"), &script).unwrap();
        let mut call: Value = serde_json::from_slice(&read_call()).unwrap();
        call["cwd"] = home.path().join("project").to_str().unwrap().into();
        let output = run(home::command(home.path(), &["hook"]), call.to_string().as_bytes());
        assert_eq!(verdict(&output), wanted, "{end} {output:?}");
    }
}
