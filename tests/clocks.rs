//! Clocks that are set: nothing is switched off for longer than it was granted, what is dated in the future does not
//! live for ever, and nothing that reads such a file crashes or waits.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hookctl::files;
use hookctl::marks::{Mark, Marks, Session};

mod home;

const DAY: Duration = Duration::from_secs(86_400);
const RULES: &str = "[rule.no-ls]\ncommand = \"ls\"\ndeny = \"no ls\"\n\
                     [rule.sent]\ncommand = \"git push\"\nwhen = { session = [\"private\"] }\ndeny = \"marked\"\n\
                     [rule.after]\non = \"PostToolUse\"\nrun = \"true\"\n";

fn put_dated(path: &Path, text: &str, time: SystemTime) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
}

fn hook(home: &Path, event: &str, tool: &str, command: &str) -> Output {
    let payload = serde_json::json!({
        "session_id": "s", "cwd": home.join("project"), "hook_event_name": event, "tool_name": tool,
        "tool_input": { "command": command }, "tool_response": {}, "tool_use_id": command,
    });
    let mut child = home::command(home, &["hook"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    child.wait_with_output().unwrap()
}

fn denies(home: &Path, command: &str) -> bool {
    let out = hook(home, "PreToolUse", "Bash", command);
    assert_eq!(out.status.code(), Some(0), "{out:?}");
    String::from_utf8(out.stdout).unwrap().contains("\"deny\"")
}

#[test]
fn what_is_old_goes_and_what_is_dated_in_the_future_begins_to_age() {
    let dir = tempfile::tempdir().unwrap();
    let now = SystemTime::now();
    for (name, time, stays) in [
        ("a.day", now - DAY * 2, false),
        ("b.day", now - DAY / 2, true),
        ("c.day", now + DAY * 4000, true),
        ("d.day", UNIX_EPOCH, false),
        ("e.kept", UNIX_EPOCH, true),
        ("f.kept", now + DAY, true),
        ("g.tmp", now - DAY, false),
        ("h.tmp", now, true),
    ] {
        let path = dir.path().join(name);
        put_dated(&path, "x", time);
        let keep = |name: &str| match name.rsplit_once('.')?.1 {
            "day" => Some(DAY),
            _ => files::draft_keep(name),
        };
        files::sweep_directory(dir.path(), 100, keep);
        assert_eq!(path.exists(), stays, "{name}");
        let aged = |path: &Path| fs::metadata(path).unwrap().modified().unwrap() < now + DAY / 2;
        assert!(!stays || aged(&path) != (name == "f.kept"), "{name}");
    }
}

#[test]
fn what_is_old_goes_behind_any_number_of_young_ones() {
    let dir = tempfile::tempdir().unwrap();
    for number in 0..400 {
        fs::write(dir.path().join(format!("young-{number}")), "").unwrap();
    }
    let old = SystemTime::now() - DAY * 9;
    for number in 0..40 {
        put_dated(&dir.path().join(format!("old-{number}")), "", old);
    }
    for _ in 0..400 {
        files::sweep_directory(dir.path(), 40, |_| Some(DAY));
    }
    let left: Vec<_> =
        fs::read_dir(dir.path()).unwrap().flatten().map(|one| one.file_name()).collect();
    assert_eq!(left.len(), 400, "{left:?}");
    assert!(left.iter().all(|name| name.to_string_lossy().starts_with("young")));
}

#[cfg(unix)]
#[test]
fn a_sweep_follows_no_link_and_opens_no_pipe() {
    let dir = tempfile::tempdir().unwrap();
    let other = dir.path().join("other");
    put_dated(&other, "x", UNIX_EPOCH);
    let swept = dir.path().join("swept");
    fs::create_dir_all(swept.join("directory")).unwrap();
    std::os::unix::fs::symlink(&other, swept.join("link")).unwrap();
    let pipe = std::process::Command::new("mkfifo").arg(swept.join("pipe")).status().unwrap();
    assert!(pipe.success());
    files::sweep_directory(&swept, 100, |_| Some(Duration::ZERO));
    assert!(other.exists() && swept.join("directory").exists() && swept.join("pipe").exists());
}

#[test]
fn marks_of_the_future_stand_and_begin_to_age() {
    let dir = tempfile::tempdir().unwrap();
    let session = |id: &str| Session::new(dir.path(), id, "claude", "/p");
    let private: Marks = [Mark::Private].into_iter().collect();
    session("a").add(private, Vec::new).unwrap();
    let file = fs::read_dir(dir.path().join("marks")).unwrap().next().unwrap().unwrap().path();
    let date = |time| File::options().write(true).open(&file).unwrap().set_modified(time).unwrap();
    // The clock was set back by a year: what was read is not forgotten.
    date(SystemTime::now() + DAY * 365);
    assert_eq!(session("a").standing(), private);
    // Another session's first mark sweeps: from now on it ages.
    session("b").add(private, Vec::new).unwrap();
    assert!(fs::metadata(&file).unwrap().modified().unwrap() <= SystemTime::now() + DAY);
    assert_eq!(session("a").standing(), private);
    date(SystemTime::now() - DAY * 8);
    assert_eq!(session("a").standing(), Marks::NONE);
}

#[test]
fn no_note_of_another_time_switches_anything_off() {
    let dir = home::make(RULES);
    let state = dir.path().join(".local/state/hookctl");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let day = DAY.as_secs();
    for (note, pauses) in [
        // By the machine's own clock it was over long ago, whatever the wall's says.
        (format!("{{\"since\":{},\"until\":{},\"uptime\":0}}", now - 1, now + 1), false),
        (format!("{{\"since\":{},\"until\":{},\"uptime\":{}}}", now - 1, now + 60, u64::MAX), true),
        (format!("{{\"since\":{},\"until\":{}}}", now + day, now + day + 60), false),
        (format!("{{\"since\":{},\"until\":{}}}", now - day * 30, now - day * 30 + 60), false),
        (
            "{\"since\":0,\"until\":18446744073709551615,\"uptime\":18446744073709551615}".into(),
            false,
        ),
        ("{\"since\":0,\"until\":1,\"uptime\":-1}".into(), false),
    ] {
        put_dated(&state.join("pause.json"), &note, SystemTime::now());
        // A machine that has just started knows no longer span.
        if note.contains("\"uptime\":0") && hookctl::moment::uptime().is_none_or(|up| up < 10) {
            continue;
        }
        assert_eq!(denies(dir.path(), "ls"), !pauses, "{note}");
    }
}

#[test]
fn files_of_every_date_keep_no_hook_waiting_and_no_command_from_reading() {
    let dir = home::make(RULES);
    let state = dir.path().join(".local/state/hookctl");
    for time in [UNIX_EPOCH, SystemTime::now() + DAY * 36_500, SystemTime::now()] {
        assert!(denies(dir.path(), "ls"));
        hook(dir.path(), "PostToolUse", "Bash", "make");
        hook(dir.path(), "PostToolUse", "Bash", "make");
        for entry in fs::read_dir(&state).unwrap().flatten() {
            let inner = fs::read_dir(entry.path()).into_iter().flatten().flatten();
            for path in inner.map(|inner| inner.path()).chain([entry.path()]) {
                if path.is_file() {
                    File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
                }
            }
        }
        assert!(denies(dir.path(), "ls"));
    }
    // Lines that are dated so, too.
    let journal = state.join("journal.jsonl");
    let line = fs::read_to_string(&journal).unwrap().lines().next().unwrap().to_string();
    let (head, tail) = line.split_once("\"time\":\"").unwrap();
    let tail = &tail[tail.find('"').unwrap()..];
    for time in
        ["9999-12-31T23:59:59.999Z", "0000-01-01T00:00:00Z", "1969-12-31T23:59:59Z", "", "x"]
    {
        let mut file = File::options().append(true).open(&journal).unwrap();
        writeln!(file, "{head}\"time\":\"{time}{tail}").unwrap();
    }
    for args in [
        &["log"][..],
        &["log", "--since", "1d"],
        &["log", "--json"],
        &["stats"],
        &["stats", "--json"],
        &["suggest"],
        &["replay"],
        &["status"],
        &["report", "--output", "page.html"],
    ] {
        let out =
            home::command(dir.path(), args).stdin(std::process::Stdio::null()).output().unwrap();
        let told = String::from_utf8_lossy(&out.stderr);
        assert!(
            out.status.code().is_some_and(|code| code <= 1) && !told.contains("panicked"),
            "{args:?}: {out:?}"
        );
    }
}

#[test]
fn of_a_clock_that_was_set_back_the_newest_copy_is_kept() {
    let dir = home::make("");
    let settings = dir.path().join(".claude/settings.json");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    let backups = dir.path().join(".local/state/hookctl/backups");
    for turn in 0..8 {
        fs::write(&settings, format!("{{\"turn\": {turn}}}")).unwrap();
        let out = home::command(dir.path(), &["install", "--agent", "claude"]).output().unwrap();
        assert!(out.status.success(), "{out:?}");
        if turn == 3 {
            // They were all made when the clock was ten years ahead.
            for entry in fs::read_dir(&backups).unwrap().flatten() {
                let name = entry.file_name().into_string().unwrap();
                let mut parts: Vec<&str> = name.split('-').collect();
                let later = (parts[1].parse::<u128>().unwrap() + DAY.as_nanos() * 3650).to_string();
                let later = format!("{later:0>20}");
                parts[1] = &later;
                fs::rename(entry.path(), backups.join(parts.join("-"))).unwrap();
            }
        }
    }
    let mut texts: Vec<String> = fs::read_dir(&backups)
        .unwrap()
        .map(|entry| fs::read_to_string(entry.unwrap().path()).unwrap())
        .collect();
    texts.sort();
    assert_eq!(texts, [3, 4, 5, 6, 7].map(|turn| format!("{{\"turn\": {turn}}}")));
}

/// What installers and hooks that were killed leave beside what they wrote goes with the next one, and what the user has
/// there does not.
#[test]
fn what_the_killed_left_goes() {
    let dir = home::make(RULES);
    let (claude, state) = (dir.path().join(".claude"), dir.path().join(".local/state/hookctl"));
    let old = SystemTime::now() - DAY;
    let gone = [
        claude.join(".hookctl-a1B2c3.tmp"),
        state.join("backups/.hookctl-a1B2c3.tmp"),
        state.join("remote-x-00000000.json.99-0.tmp"),
        state.join("notes/count-1.99-0.tmp"),
    ];
    let kept = [claude.join("notes.tmp"), claude.join(".hookctl-notes"), state.join("trust.json")];
    for path in gone.iter().chain(&kept) {
        put_dated(path, "{}", if path.ends_with("count-1.99-0.tmp") { old - DAY * 8 } else { old });
    }
    let fresh = claude.join(".hookctl-d4E5f6.tmp");
    put_dated(&fresh, "{}", SystemTime::now());
    put_dated(&claude.join("settings.json"), "{}", SystemTime::now());
    let out = home::command(dir.path(), &["install", "--agent", "claude"]).output().unwrap();
    assert!(out.status.success(), "{out:?}");
    // Not every event sweeps.
    for number in 0..200 {
        if gone.iter().all(|path| !path.exists()) {
            break;
        }
        hook(dir.path(), "PostToolUse", "Bash", &format!("make {number}"));
    }
    let left: Vec<_> = gone.iter().filter(|path| path.exists()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert!(kept.iter().chain([&fresh]).all(|path| path.exists()));
}
