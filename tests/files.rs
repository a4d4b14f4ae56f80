//! Files that are none: whatever stands in place of a file that the hook reads or writes, it answers at
//! once, and as strictly as what it could read says.
#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use hookctl::journal::{self, Line};
use hookctl::rule::file::JournalConfig;
use hookctl::trust;
use serde_json::{Value, json};

mod home;

/// How long an answer may take.
const SOON: Duration = Duration::from_secs(1);

const RULES: &str = r#"
[rule.no]
tool = "Read"
path = "secret.txt"
deny = "no"
[rule.ran]
command = "make it"
run = "false"
deny = "ran"
[rule.stop]
on = "Stop"
block = "go on"
repeat = 3
[rule.told]
on = "SessionStart"
context = { file = "told.md" }
env = { A = "b" }
[rule.down]
command = "ask it"
remote = "gone"
otherwise = "ask"
[remote.gone]
url = "http://127.0.0.1:9/"
timeout_ms = 200
retry_count = 0
"#;

/// A way to make something at a path.
type Make = fn(&Path);

/// What may stand where a file is meant to be.
const KINDS: &[(&str, Make)] = &[
    ("a named pipe", |path| {
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    }),
    ("a directory", |path| fs::create_dir(path).unwrap()),
    ("a socket", |path| {
        // Its address has room for a short name only.
        let short = tempfile::tempdir_in("/tmp").unwrap();
        let parent = short.path().join("d");
        symlink(path.parent().unwrap(), &parent).unwrap();
        let socket = parent.join(path.file_name().unwrap());
        drop(std::os::unix::net::UnixListener::bind(socket).unwrap());
    }),
    ("a link to itself", |path| symlink(path, path).unwrap()),
    ("a link to nowhere", |path| symlink("/nonexistent/x", path).unwrap()),
    ("a link to a device without end", |path| symlink("/dev/zero", path).unwrap()),
    ("a link to the terminal", |path| symlink("/dev/tty", path).unwrap()),
    ("a link to what is on stdin", |path| symlink("/dev/stdin", path).unwrap()),
    ("a link to its memory", |path| symlink("/proc/self/mem", path).unwrap()),
    ("a link to the kernel's log", |path| symlink("/proc/kmsg", path).unwrap()),
    ("a link to a text of the kernel's", |path| symlink("/proc/self/environ", path).unwrap()),
    ("four gigabytes of nothing", |path| {
        fs::File::create(path).unwrap().set_len(4 << 30).unwrap();
        mode(path, 0o600);
    }),
    ("no mode to read it", |path| put(path, "x", 0o000)),
    ("zeros", |path| put(path, &"\0".repeat(4096), 0o600)),
    ("what all may write", |path| put(path, "{}", 0o666)),
    ("what another user owns", |path| {
        put(path, "{}", 0o644);
        std::os::unix::fs::chown(path, Some(12_345), Some(12_345)).unwrap();
    }),
];

/// The kinds that who runs the tests can make: only root can give a file away.
fn kinds() -> impl Iterator<Item = &'static (&'static str, Make)> {
    KINDS.iter().filter(|(kind, _)| is_root() || *kind != "what another user owns")
}

fn mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn put(path: &Path, text: &str, bits: u32) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
    mode(path, bits);
}

/// Root reads and owns everything.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

fn remove(path: &Path) {
    if path.is_dir() && !path.is_symlink() {
        fs::remove_dir_all(path).unwrap();
    } else {
        let _ = fs::remove_file(path);
    }
}

/// Puts that kind into the place, and back what was there.
fn in_place_of(path: &Path, make: Make, then: impl FnOnce()) {
    let aside = path.with_extension("aside");
    let was = fs::rename(path, &aside).is_ok();
    make(path);
    then();
    remove(path);
    if was {
        fs::rename(aside, path).unwrap();
    }
}

struct Home(tempfile::TempDir);

impl Home {
    fn new(rules: &str) -> Home {
        Home(home::make(rules))
    }

    fn at(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn state(&self, name: &str) -> PathBuf {
        let dir = self.at(".local/state/hookctl");
        if name.is_empty() { dir } else { dir.join(name) }
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = home::command(self.0.path(), args);
        command.env("CLAUDE_ENV_FILE", self.at("env.sh"));
        command
    }

    /// What the hook answers, in time and within the law.
    fn hook(&self, payload: &Value, what: &str) -> String {
        self.answer(self.command(&["hook", "--agent", "claude"]), payload, what)
    }

    fn answer(&self, mut command: Command, payload: &Value, what: &str) -> String {
        // A machine that is busy is no hook that waits.
        let mut output = None;
        for _ in 0..3 {
            let (ended, time) = ended(&mut command, &payload.to_string());
            output = ended;
            if time < SOON {
                break;
            }
        }
        let output = output.unwrap_or_else(|| panic!("{what}: no answer"));
        assert!(matches!(output.status.code(), Some(0 | 2)), "{what}: {output:?}");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!stderr.contains("panicked"), "{what}: {stderr}");
        let text = String::from_utf8(output.stdout).expect(what);
        if !text.is_empty() {
            let value: Value = serde_json::from_str(text.trim_end()).expect(what);
            assert!(value.is_object(), "{what}: {text}");
        }
        text
    }

    fn journal(&self) -> String {
        fs::read_to_string(self.state("journal.jsonl")).unwrap_or_default()
    }
}

/// Runs it, and kills it where it waits for something: what came, and after how long.
fn ended(command: &mut Command, stdin: &str) -> (Option<Output>, Duration) {
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    // Who does not read is no failure of ours.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    while start.elapsed() < 4 * SOON {
        if child.try_wait().unwrap().is_some() {
            let time = start.elapsed();
            return (Some(child.wait_with_output().unwrap()), time);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    (None, start.elapsed())
}

fn call(tool: &str, input: Value) -> Value {
    // Without an id, so that each is another event soon.
    json!({"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": tool,
           "tool_input": input, "cwd": ""})
}

/// Events that touch every file, and a part of what they are answered.
fn events(home: &Home) -> Vec<(Value, &'static str)> {
    let project = home.at("project").display().to_string();
    let secret = format!("{project}/secret.txt");
    let of = |event: &str| json!({"hook_event_name": event, "session_id": "s"});
    let mut all = vec![
        (call("Read", json!({"file_path": secret})), "\"deny\""),
        (call("Bash", json!({"command": "make it"})), "\"deny\""),
        (call("Bash", json!({"command": "ask it"})), "\"ask\""),
        (of("Stop"), "\"block\""),
        (of("SessionStart"), ""),
    ];
    for (number, (event, _)) in all.iter_mut().enumerate() {
        event["cwd"] = project.clone().into();
        event["tool_use_id"] = number.into();
    }
    all
}

fn below(dir: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        found.push(entry.path());
        if entry.path().is_dir() {
            below(&entry.path(), found);
        }
    }
}

#[test]
fn whatever_stands_in_the_state_directory_no_answer_is_lost_or_late() {
    let home = Home::new(RULES);
    put(&home.at(".config/hookctl/told.md"), "hello", 0o644);
    let run = |what: &str, place: &Path| {
        // A stop is blocked so often in a row and not for ever.
        for note in fs::read_dir(home.state("notes")).into_iter().flatten().flatten() {
            let (path, name) = (note.path(), note.file_name());
            let other = path != place && path != place.with_extension("aside");
            if other && name.as_encoded_bytes().starts_with(b"count-") {
                remove(&path);
            }
        }
        for (event, wanted) in events(&home) {
            let answer = home.hook(&event, what);
            assert!(answer.contains(wanted), "{what}: {event}: {answer}");
        }
    };
    run("nothing is wrong", Path::new(""));
    let memory = format!("memory/{}.jsonl", &trust::sha256_hex(b"s")[..32]);
    put(&home.state(&memory), "{}\n", 0o600);
    for name in ["trust.json", "pause.json"] {
        put(&home.state(name), "{}", 0o600);
    }
    let mut places = vec![home.state("")];
    below(&home.state(""), &mut places);
    let has = |part: &str| places.iter().any(|path| path.to_string_lossy().contains(part));
    for part in ["once-", "count-", "index/", "remote-gone", "memory/", "journal", "pause"] {
        assert!(has(part), "{part}: {places:?}");
    }
    for path in &places {
        for (kind, make) in kinds() {
            let what = format!("{kind} in place of {}", path.display());
            in_place_of(path, *make, || run(&what, path));
        }
    }
}

#[test]
fn an_own_file_that_cannot_be_read_asks_and_a_project_s_warns() {
    // Zeros are a fault of its content; what all may write is sound in a project.
    let sound = |kind: &str| {
        kind.starts_with("what ") || kind == "zeros" || kind.contains("no mode") && is_root()
    };
    for (kind, make) in kinds() {
        let home = Home::new(RULES);
        let at_project = |name: &str| home.at("project").join(name);
        let ls = |session: &str| {
            json!({"hook_event_name": "PreToolUse", "session_id": session, "tool_name": "Bash",
                   "tool_input": {"command": "ls"}, "cwd": home.at("project")})
        };
        for name in ["config.toml", "server.json"] {
            let path = home.at(".config/hookctl").join(name);
            in_place_of(&path, *make, || {
                let what = format!("{kind} in place of {name}");
                let answer = home.hook(&ls(name), &what);
                assert!(answer.contains("\"ask\"") || answer.contains("\"deny\""), "{what}");
            });
        }
        for name in [".hookctl.toml", ".hookctl.local.toml"] {
            let path = at_project(name);
            in_place_of(&path, *make, || {
                let what = format!("{kind} in place of {name}");
                for (event, wanted) in events(&home) {
                    let answer = home.hook(&event, &what);
                    assert!(answer.contains(wanted), "{what}: {event}: {answer}");
                }
                let answer = home.hook(&ls(name), &what);
                let silent = kind.contains("nowhere") || sound(kind);
                assert!(silent || answer.contains(name), "{what}: {answer}");
                assert!(!answer.contains("permissionDecision"), "{what}: {answer}");
            });
        }
        for path in [home.at(".config/hookctl/told.md"), home.at("env.sh")] {
            in_place_of(&path, *make, || {
                let what = format!("{kind} in place of {}", path.display());
                home.hook(&events(&home)[4].0, &what);
                // What is long can still be added to, and its beginning be told.
                if !sound(kind) && !kind.starts_with("four") {
                    assert!(home.journal().contains("SessionStart"), "{what}");
                    let told = home.journal().lines().last().unwrap().to_string();
                    let name = path.file_name().unwrap().to_str().unwrap();
                    assert!(told.contains(name) || told.contains("env file"), "{what}: {told}");
                }
            });
        }
    }
}

/// The project's own file, and the note that a human trusted it.
fn put_trusted(home: &Home, text: &str) {
    let path = home.at("project/.hookctl.toml");
    put(&path, text, 0o644);
    let entry = json!({"format": 2, "hash": trust::sha256_hex(text.as_bytes()), "programs": {}});
    let store = json!({"files": {path.to_str().unwrap(): entry}});
    put(&home.state("trust.json"), &store.to_string(), 0o600);
}

/// A project whose own file allows what nothing else does, and the note that a human trusted it.
fn trusted(home: &Home) -> Value {
    put_trusted(home, "[rule.yes]\ntool = \"Read\"\nallow = \"yes\"\n");
    let mut event = call("Read", json!({"file_path": home.at("project/a.txt")}));
    event["cwd"] = json!(home.at("project"));
    event
}

#[test]
fn a_trusted_file_that_cannot_be_read_any_more_asks() {
    for (kind, make) in KINDS.iter().take(12) {
        let home = Home::new("");
        let event = trusted(&home);
        assert!(home.hook(&event, "trusted").contains("\"allow\""));
        in_place_of(&home.at("project/.hookctl.toml"), *make, || {
            assert!(home.hook(&event, kind).contains("\"ask\""), "{kind}");
        });
    }
}

/// Puts a file out of the hands that alone may write it.
const LOOSE: &[(&str, Make)] = &[
    ("all may write it", |path| mode(path, 0o666)),
    ("its group may write it", |path| mode(path, 0o620)),
    ("another user's", |path| {
        std::os::unix::fs::chown(path, Some(12_345), Some(12_345)).unwrap();
    }),
    ("a link", |path| {
        let other = path.with_extension("other");
        fs::rename(path, &other).unwrap();
        symlink(other, path).unwrap();
    }),
    ("in a directory that all may write", |path| mode(path.parent().unwrap(), 0o777)),
];

/// Those that can be made here: root's group is its own, and only root gives files away.
fn loose() -> impl Iterator<Item = (&'static str, Make)> {
    let here = |what: &str| match what {
        "another user's" => is_root(),
        "its group may write it" => {
            !is_root() && rustix::process::getegid().as_raw() != rustix::process::geteuid().as_raw()
        }
        _ => true,
    };
    LOOSE.iter().copied().filter(move |(what, _)| here(what))
}

#[test]
fn trust_is_believed_only_where_nobody_else_could_have_said_it() {
    for (what, make) in loose() {
        let home = Home::new("");
        let event = trusted(&home);
        make(&home.state("trust.json"));
        let answer = home.hook(&event, what);
        assert!(!answer.contains("\"allow\""), "{what}: {answer}");
        assert!(home.journal().contains("nothing is trusted"), "{what}: {}", home.journal());
    }
}

#[test]
fn a_pause_is_believed_only_where_nobody_else_could_have_said_it_and_for_a_day() {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let note = |since: u64, until: u64| json!({"until": until, "since": since}).to_string();
    let denied = |home: &Home, what: &str| home.hook(&events(home)[0].0, what).contains("\"deny\"");
    let good = note(now - 10, now + 600);
    let home = Home::new(RULES);
    put(&home.state("pause.json"), &good, 0o600);
    assert!(!denied(&home, "a pause"));
    for (what, make) in loose() {
        let home = Home::new(RULES);
        put(&home.state("pause.json"), &good, 0o600);
        make(&home.state("pause.json"));
        assert!(denied(&home, what), "{what}");
        assert!(home.journal().contains("no pause"), "{what}: {}", home.journal());
        let (status, _) = ended(&mut home.command(&["status", "--offline"]), "");
        let status = String::from_utf8(status.expect(what).stdout).unwrap();
        assert!(status.contains("no pause"), "{what}: {status}");
    }
    let day = 86_400;
    for (what, text) in [
        ("longer than a day", note(now - 10, now + day)),
        ("for ever", note(now - 10, u64::MAX)),
        ("for ever, from then on", note(u64::MAX - 5, u64::MAX)),
        ("of tomorrow: the clock was set back", note(now + day, now + day + 600)),
        ("without a beginning", json!({"until": now + 600}).to_string()),
        ("no number", json!({"until": "tomorrow", "since": 0}).to_string()),
        ("of a broken number", json!({"until": 1e300, "since": 0}).to_string()),
        ("over", note(now - 600, now - 10)),
    ] {
        put(&home.state("pause.json"), &text, 0o600);
        assert!(denied(&home, what), "{what}");
    }
}

#[test]
fn who_was_killed_over_a_claim_is_not_waited_for() {
    let home = Home::new(
        "[rule.run]\ntool = \"Read\"\nrun = \"test -e ../second || sleep 5; false\"\n\
         deny = \"ran\"\n",
    );
    let mut event = events(&home)[0].0.clone();
    event["tool_use_id"] = "toolu_1".into();
    let mut first = home.command(&["hook"]).spawn().unwrap();
    first.stdin.take().unwrap().write_all(event.to_string().as_bytes()).unwrap();
    let claimed = || {
        let mut found = Vec::new();
        below(&home.state("notes"), &mut found);
        found.iter().any(|path| path.to_string_lossy().contains("once-"))
    };
    let start = Instant::now();
    while !claimed() {
        assert!(start.elapsed() < 10 * SOON, "no claim");
        std::thread::sleep(Duration::from_millis(5));
    }
    first.kill().unwrap();
    first.wait().unwrap();
    put(&home.at("second"), "", 0o600);
    // Once only: what is waited for here is over after a few seconds.
    let (output, time) = ended(&mut home.command(&["hook"]), &event.to_string());
    let answer = String::from_utf8(output.expect("no answer").stdout).unwrap();
    assert!(answer.contains("\"deny\"") && time < 3 * SOON, "{time:?}: {answer}");
}

#[test]
fn an_index_that_is_damaged_is_no_index() {
    let rules: String = (0..8)
        .map(|i| format!("[rule.r{i}]\ntool = \"Read\"\npath = \"x-{i}.txt\"\ndeny = \"no {i}\"\n"))
        .collect();
    let home = Home::new(&rules);
    let event = |i: usize| call("Read", json!({"file_path": format!("/x/x-{i}.txt")}));
    let all = |what: &str| {
        for i in [0, 3, 7] {
            let answer = home.hook(&event(i), what);
            assert!(answer.contains(&format!("no {i}")), "{what}: {answer}");
        }
    };
    all("no index");
    let index = fs::read_dir(home.state("index")).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&index).unwrap();
    let entries = whole.windows(4).position(|part| part == b"\n--\n").unwrap();
    let mut spoiled: Vec<(String, Vec<u8>)> = Vec::new();
    for at in (entries..whole.len()).step_by(7) {
        spoiled.push((format!("cut at {at}"), whole[..at].to_vec()));
        let mut other = whole.clone();
        other[at] ^= 1;
        spoiled.push((format!("another byte at {at}"), other));
        let mut zeros = whole.clone();
        zeros[at..].fill(0);
        spoiled.push((format!("zeros from {at}"), zeros));
    }
    spoiled.push(("a line twice".into(), [&whole[..], b"0\t5\t1\t\n"].concat()));
    let huge = format!("0\t{}\t{}\t\n", usize::MAX, usize::MAX);
    spoiled.push(("numbers that are too large".into(), [&whole[..], huge.as_bytes()].concat()));
    for (what, bytes) in spoiled {
        fs::write(&index, bytes).unwrap();
        all(&what);
        assert_eq!(fs::read(&index).unwrap(), whole, "{what}: it is made anew");
    }
}

#[test]
fn rotations_at_once_lose_no_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("journal.jsonl");
    let (writers, each) = (8, 150);
    let config = JournalConfig { max_size: 300, keep: 5_000, ..JournalConfig::default() };
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let (path, config) = (&path, &config);
            scope.spawn(move || {
                for number in 0..each {
                    let what = format!("{writer}-{number}");
                    journal::append(path, config, Line { what, ..Line::default() });
                }
            });
        }
    });
    let mut found = Vec::new();
    let journals = |entry: &fs::DirEntry| entry.file_name() != "journal.head";
    for entry in fs::read_dir(dir.path()).unwrap().flatten().filter(journals) {
        for line in fs::read_to_string(entry.path()).unwrap().lines() {
            let line: Line = serde_json::from_str(line).expect("a whole line");
            found.push(line.what);
        }
    }
    found.sort();
    found.dedup();
    assert_eq!(found.len(), writers * each);
}

#[test]
fn odd_homes_and_directories_change_no_answer_that_could_be_given() {
    let home = Home::new(RULES);
    let (event, _) = events(&home).swap_remove(0);
    let hook = |what: &str, args: &[&str], set: &[(&str, &str)]| {
        let mut command = home.command(&[&["hook"], args].concat());
        command.envs(set.iter().copied());
        home.answer(command, &event, what)
    };
    let file = home.at("a-file");
    put(&file, "x", 0o600);
    let pipe = home.at("a-pipe");
    KINDS[0].1(&pipe);
    let (file, pipe) = (file.to_str().unwrap(), pipe.to_str().unwrap());
    let long = format!("/{}", "x".repeat(5_000));
    let config = home.at(".config/hookctl/config.toml");
    for state in
        [file, pipe, "/dev/null", "/proc", "/proc/self/fd", "", ".", "/sys", &long, "\u{1}"]
    {
        let answer = hook(state, &["--state", state], &[]);
        assert!(answer.contains("\"deny\""), "--state {state}: {answer}");
    }
    for dir in [file, pipe, "/dev/null", &long, config.to_str().unwrap()] {
        let answer = hook(dir, &["--config", dir], &[]);
        assert!(answer.contains("\"ask\""), "--config {dir}: {answer}");
    }
    for dir in ["/nonexistent", "/proc", "."] {
        hook(dir, &["--config", dir], &[]);
    }
    hook("an empty HOME is the system's", &[], &[("HOME", "")]);
    for other in [".", "relative/dir", file, pipe, &long] {
        let answer = hook(other, &[], &[("HOME", other)]);
        assert!(answer.contains("\"ask\""), "HOME={other}: {answer}");
    }
    hook("no such home", &[], &[("HOME", "/proc/nonexistent")]);
    for root in [file, pipe, "/dev/null", "relative", &long, "/proc/self", "/nonexistent"] {
        let answer = hook(root, &[], &[("CLAUDE_PROJECT_DIR", root)]);
        assert!(answer.contains("\"deny\""), "CLAUDE_PROJECT_DIR={root}: {answer}");
    }
}

#[test]
fn a_directory_of_megabytes_is_no_long_way_up() {
    let home = Home::new(RULES);
    for part in ["/x", "/", "/..", "/./", "/\u{e9}"] {
        let mut event = events(&home).swap_remove(0).0;
        event["cwd"] = part.repeat((4 << 20) / part.len()).into();
        let answer = home.hook(&event, part);
        assert!(answer.contains("\"deny\"") || answer.contains("\"ask\""), "{part}: {answer}");
    }
}

#[test]
fn a_project_s_root_is_where_its_file_has_its_name() {
    let home = Home::new("");
    put(&home.at("project/.hookctl.toml"), "[rule.no]\ntool = \"Read\"\ndeny = \"no\"\n", 0o644);
    let mut event = call("Read", json!({"file_path": "/x"}));
    event["cwd"] = json!(home.at("project/sub"));
    fs::create_dir(home.at("project/sub")).unwrap();
    assert!(home.hook(&event, "below").contains("\"deny\""));
    // What lies there and cannot be read is told, not passed over.
    symlink(".hookctl.toml", home.at("project/sub/.hookctl.toml")).unwrap();
    assert!(home.hook(&event, "a loop below").contains(".hookctl.toml cannot be read"));
}

#[test]
fn nobody_gets_out_of_a_project_by_making_one_in_it() {
    let home = Home::new("[rule.own]\ntool = \"Write\"\npath = \"./**\"\nallow = \"own\"\n");
    let rules = "[rule.kept]\neffect = \"read\"\npath = \"./kept/**\"\ndeny = \"kept\"\n\
                 [rule.run]\ncommand = \"cargo test\"\nallow = \"test\"\n\
                 [rule.main]\ncommand = \"./main.sh\"\ndeny = \"main\"\n";
    put_trusted(&home, rules);
    fs::create_dir_all(home.at("project/sub/deep")).unwrap();
    let ask = |what: &str, tool: &str, input: Value| {
        let mut event = call(tool, input);
        event["cwd"] = json!(home.at("project/sub/deep"));
        home.hook(&event, what)
    };
    let read = |path: &str| {
        (format!("read {path}"), "Read", json!({ "file_path": home.at("project").join(path) }))
    };
    let run = |line: &str| (line.to_string(), "Bash", json!({ "command": line }));
    let write = |path: &str| {
        let input = json!({ "file_path": home.at("project").join(path), "content": "x" });
        (format!("write {path}"), "Write", input)
    };
    for (git, inside) in [(false, false), (true, true)] {
        if git {
            fs::create_dir(home.at("project/sub/.git")).unwrap();
        }
        for (what, tool, input) in [read("kept/x"), run("cat ../../kept/x"), run("../../main.sh")] {
            let answer = ask(&what, tool, input);
            assert!(answer.contains("\"deny\""), "{git}: {what}: {answer}");
        }
        // Only what it tightens holds within, and an allow of the user's own names the nearest alone.
        for (what, tool, input) in [run("cargo test"), write("a.txt")] {
            let answer = ask(&what, tool, input);
            assert_eq!(answer.contains("\"allow\""), !inside, "{git}: {what}: {answer}");
        }
        let (what, tool, input) = write("sub/a.txt");
        assert!(ask(&what, tool, input).contains("\"allow\""), "{git}");
    }
    // One of the inner project's own adds to it, and takes nothing away; the outer one's name means both.
    put(
        &home.at("project/sub/.hookctl.toml"),
        "[rule.no]\neffect = \"read\"\npath = \"./no/**\"\ndeny = \"no\"\n",
        0o644,
    );
    for (what, tool, input) in [read("kept/x"), read("sub/kept/x"), read("sub/no/x"), read("no/x")]
    {
        let answer = ask(&what, tool, input);
        assert!(answer.contains("\"deny\""), "{what}: {answer}");
    }
    let (what, tool, input) = read("sub/deep/x");
    assert_eq!(ask(&what, tool, input), "", "{what}");
    // A variable that names the outer one, or another, takes nothing away either.
    fs::create_dir_all(home.at("other/.git")).unwrap();
    for named in ["project", "other"] {
        for path in ["kept/x", "sub/no/x"] {
            let (what, tool, input) = read(path);
            let mut event = call(tool, input);
            event["cwd"] = json!(home.at("project/sub/deep"));
            let mut command = home.command(&["hook", "--agent", "claude"]);
            command.env("CLAUDE_PROJECT_DIR", home.at(named));
            let answer = home.answer(command, &event, &what);
            assert!(answer.contains("\"deny\""), "{named}: {what}: {answer}");
        }
    }
}

#[test]
fn rule_files_farther_up_than_the_bound_are_told() {
    let home = Home::new("");
    let mut dir = "project".to_string();
    for at in 0..12 {
        put(&home.at(&dir).join(".hookctl.toml"), "", 0o644);
        dir.push_str(&format!("/{at}"));
        fs::create_dir_all(home.at(&dir)).unwrap();
    }
    let mut event = call("Read", json!({ "file_path": "/x" }));
    event["cwd"] = json!(home.at(&dir));
    let answer = home.hook(&event, "deep");
    assert!(answer.contains("more than 8 directories around"), "{answer}");
}

#[test]
fn commands_for_people_wait_for_no_file_either() {
    for (kind, make) in KINDS.iter().filter(|(kind, _)| !kind.contains("own") && *kind != "zeros") {
        let home = Home::new(RULES);
        let path = home.at("odd.toml");
        make(&path);
        let name = path.to_str().unwrap();
        let check = |args: &[&str]| {
            let (output, _) = ended(&mut home.command(args), "");
            let output = output.unwrap_or_else(|| panic!("{kind}: {args:?} waits"));
            let code = output.status.code();
            assert!(matches!(code, Some(0..=2)), "{kind}: {args:?}: {output:?}");
            code
        };
        for command in ["check", "test", "explain"] {
            let code = check(&[command, name]);
            let readable = kind.starts_with("what ") || kind.contains("no mode") && is_root();
            let is_dir = *kind == "a directory";
            assert!(readable || is_dir || code != Some(0), "{kind}: {command}");
        }
        for state in ["journal.jsonl", "trust.json", "pause.json", "installs.json"] {
            let path = home.state(state);
            fs::create_dir_all(home.state("")).unwrap();
            in_place_of(&path, *make, || {
                for args in [
                    &["status", "--offline"][..],
                    &["log"],
                    &["test", "--journal"],
                    &["trust", "--list"],
                    &["check"],
                    &["resume"],
                ] {
                    check(args);
                }
                remove(&path);
                make(&path);
            });
        }
    }
}

/// What opens files, what asks Windows which one it is, and the server's database, which SQLite opens after.
const OWNERS: &[&str] = &["src/files.rs", "src/files/identity.rs", "src/serve/store.rs"];
/// The only ones beside them that may open anything: a terminal is no file.
const TERMINALS: &[&str] = &["/dev/tty", "CONOUT$", "CONIN$"];

#[test]
fn nothing_else_opens_a_file() {
    const ROADS: &[&str] = &[
        "fs::read(",
        "fs::read_to_string(",
        "fs::write(",
        "fs::copy(",
        "File::open(",
        "File::create(",
        "File::create_new(",
        "File::options(",
        "OpenOptions::new(",
    ];
    let mut sources = Vec::new();
    below(Path::new("src"), &mut sources);
    let mut seen = 0;
    for path in sources.iter().filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let name = path.to_str().unwrap();
        if OWNERS.contains(&name) || name.ends_with("/tests.rs") || name.contains("/tests/") {
            continue;
        }
        seen += 1;
        let text = fs::read_to_string(path).unwrap();
        // Tests stand at the end of a file.
        let code = text.split("\nmod tests {").next().unwrap();
        for (number, line) in code.lines().enumerate() {
            let opens = ROADS.iter().any(|road| line.contains(road));
            let terminal = TERMINALS.iter().any(|name| line.contains(name));
            assert!(!opens || terminal, "{name}:{}: by src/files.rs: {line}", number + 1);
        }
    }
    assert!(seen > 100, "{seen}");
}

#[test]
fn no_variable_makes_a_project_of_what_is_none() {
    let home = Home::new("");
    fs::create_dir_all(home.at("project/.git")).unwrap();
    fs::create_dir_all(home.at("plain/below")).unwrap();
    fs::create_dir_all(home.at("marked/.git")).unwrap();
    put(&home.at("a-file"), "x", 0o600);
    std::os::unix::fs::symlink("/var", home.at("link")).unwrap();
    std::os::unix::fs::symlink(home.at("marked"), home.at("good-link")).unwrap();
    let text = |path: &Path| path.to_str().unwrap().to_string();
    let project = text(&home.at("project"));
    let own = text(&home.at("")).trim_end_matches('/').to_string();
    let ask = |root: &str, cwd: &str, delete: &str| {
        let mut event = events(&home).swap_remove(0).0;
        event["cwd"] = cwd.into();
        event["tool_name"] = "Bash".into();
        event["tool_input"] = serde_json::json!({ "command": format!("rm -rf {delete}") });
        let mut command = home.command(&["hook"]);
        command.env("CLAUDE_PROJECT_DIR", root);
        home.answer(command, &event, root)
    };
    let roots = [
        "/var",
        "/var/",
        "//var",
        "/var/.",
        "/",
        "/home",
        "/home/dev/..",
        "/home/other",
        "/root",
        "/etc",
        "/usr",
        "/opt",
        "",
        "relative",
        ".",
        "..",
        "/nonexistent",
        "/proc/self/root",
    ];
    let more = [
        own.clone(),
        format!("{own}/"),
        format!("{own}/project/.."),
        text(&home.at("plain")),
        text(&home.at("link")),
        text(&home.at("a-file")),
        format!("{own}/marked/../.."),
    ];
    for root in roots.into_iter().map(String::from).chain(more) {
        for outside in ["/var/x", "/data/x"] {
            let answer = ask(&root, &project, outside);
            assert!(answer.contains("\"ask\""), "CLAUDE_PROJECT_DIR={root}: {outside}: {answer}");
        }
        let answer = ask(&root, &project, "out");
        assert_eq!(answer, "", "CLAUDE_PROJECT_DIR={root}");
    }
    // Another project is one, by a link as well.
    for root in ["marked", "marked/", "good-link"] {
        let answer = ask(&text(&home.at(root)), &project, "../marked/out");
        assert_eq!(answer, "", "{root}");
    }
    // Without a mark the directory itself counts, unless it is a home or the system's.
    assert_eq!(ask("", &text(&home.at("plain")), "below"), "");
    for (cwd, delete) in [("/var", "x"), ("/var/log", "x"), ("/", "data/x"), ("/home", "x/y")] {
        let answer = ask("", cwd, delete);
        assert!(answer.contains("\"ask\""), "{cwd}: {delete}: {answer}");
    }
}
