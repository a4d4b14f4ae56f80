//! What a process inherits: masks, timers, environment, arguments, directories, disks and their clocks.

use std::ffi::CString;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::time::{Duration, SystemTime};

use crate::scene::{Expect, In, Pre, Row, Scene, Skip, attempt, mounts, row};

pub fn rows() -> Vec<Row> {
    let mut rows = signals();
    rows.extend(environment());
    rows.extend(arguments());
    rows.extend(directories());
    rows.extend(disks());
    rows.extend(clocks());
    rows
}

fn c(path: &Path) -> CString {
    CString::new(path.as_os_str().as_bytes()).unwrap()
}

fn signals() -> Vec<Row> {
    let mut rows = Vec::new();
    let signals = [
        ("SIGALRM", libc::SIGALRM),
        ("SIGPROF", libc::SIGPROF),
        ("SIGVTALRM", libc::SIGVTALRM),
        ("SIGPIPE", libc::SIGPIPE),
        ("SIGXCPU", libc::SIGXCPU),
        ("SIGCHLD", libc::SIGCHLD),
        ("SIGSEGV", libc::SIGSEGV),
        ("SIGABRT", libc::SIGABRT),
        ("SIGUSR1", libc::SIGUSR1),
        ("the first real-time signal", libc::SIGRTMIN()),
    ];
    for (name, signal) in signals {
        for (how, pre) in [("ignored", Pre::Ignore(signal)), ("blocked", Pre::Block(signal))] {
            let first = pre.clone();
            rows.push(row(format!("{name} is {how}"), Expect::Deny, move |s| {
                s.pre.push(first.clone());
            }));
            let second = pre.clone();
            rows.push(row(format!("{name} is {how}, stdin silent"), Expect::Strict, move |s| {
                s.stdin = In::Open(Vec::new());
                s.pre.push(second.clone());
            }));
            rows.push(row(format!("{name} is {how}, a rule's command"), Expect::Deny, move |s| {
                s.rules("[rule.check]\ntool = \"Bash\"\nrun = \"false\"\ndeny = \"no\"\n");
                s.call("ls");
                s.pre.push(pre.clone());
            }));
        }
    }
    rows.push(row("all signals are blocked", Expect::Deny, |s| s.pre.push(Pre::BlockAll)));
    rows.push(row("all signals are blocked, stdin silent", Expect::Strict, |s| {
        s.stdin = In::Open(Vec::new());
        s.pre.push(Pre::BlockAll);
    }));
    rows.push(row("all signals are blocked, a rule's command hangs", Expect::Deny, |s| {
        s.rules("[rule.check]\ntool = \"Bash\"\nrun = \"sleep 8\"\ndeny = \"no\"\nlimit = 1\n");
        s.call("ls");
        s.pre.push(Pre::BlockAll);
    }));
    // A timer outlives exec, and its signal ends a process that does not expect it.
    let timers = [
        ("real", libc::ITIMER_REAL, 50),
        ("real", libc::ITIMER_REAL, 300),
        ("virtual", libc::ITIMER_VIRTUAL, 50),
        ("profiling", libc::ITIMER_PROF, 50),
    ];
    for (name, which, after) in timers {
        rows.push(row(
            format!("a {name} timer of {after} ms is left over"),
            Expect::Deny,
            move |s| {
                let bytes = s.forbidden();
                let (one, two) = bytes.split_at(20);
                let pieces = vec![one.to_vec(), two.to_vec()];
                s.stdin = In::Pieces(pieces, Duration::from_millis(600));
                s.pre.push(Pre::Timer(which, after));
            },
        ));
    }
    rows
}

/// The directories stand on the command line, as install writes them.
fn named(scene: &mut Scene) {
    for (option, place) in [("config", ".config"), ("state", ".local/state")] {
        let place = scene.at("home").join(place).join("hookctl");
        scene.args.push(format!("--{option}={}", place.display()));
    }
}

fn environment() -> Vec<Row> {
    let mut rows = vec![
        row("HOME is not set", Expect::Deny, |s| {
            named(s);
            s.home = None;
        }),
        row("HOME is empty", Expect::Deny, |s| {
            named(s);
            s.home = Some(String::new());
        }),
        row("HOME is relative", Expect::Strict, |s| s.home = Some("../home".into())),
        row("HOME is longer than a path can be", Expect::Strict, |s| {
            s.home = Some(format!("/{}", "x/".repeat(5000)));
        }),
        row("HOME holds a line break", Expect::Deny, |s| {
            let home = s.at("ho\nme");
            fs::rename(s.at("home"), &home).unwrap();
            s.home = Some(home.to_string_lossy().into());
        }),
        row("HOME is a link to itself", Expect::Strict, |s| {
            let home = s.at("loop");
            symlink(&home, &home).unwrap();
            s.home = Some(home.to_string_lossy().into());
        }),
        row("HOME is the project", Expect::Deny, |s| {
            s.put("project/.config/hookctl/config.toml", crate::scene::RULE);
            s.home = Some(s.at("project").to_string_lossy().into());
        }),
        row("HOME is /proc/self/root and back", Expect::Deny, |s| {
            s.home = Some(format!("/proc/self/root{}", s.at("home").display()));
        }),
        row("2 MB of environment", Expect::Deny, |s| {
            for i in 0..15 {
                s.env(&format!("LARGE_{i}"), "x".repeat(120_000));
            }
        }),
        row("20,000 variables", Expect::Deny, |s| {
            for i in 0..20_000 {
                s.env(&format!("V{i}"), "x");
            }
        }),
        row("a project directory of 100 KB", Expect::Deny, |s| {
            s.env("CLAUDE_PROJECT_DIR", format!("/{}", "x/".repeat(50_000)));
        }),
        row("a project directory that climbs", Expect::Deny, |s| {
            s.env("CLAUDE_PROJECT_DIR", "/proc/self/cwd/../../../../../../../..");
        }),
    ];
    let variables = [
        ("RUST_MIN_STACK", "18446744073709551615"),
        ("RUST_MIN_STACK", "1"),
        ("RUST_MIN_STACK", "1099511627776"),
        ("RUST_BACKTRACE", "full"),
        ("TZ", ":/dev/zero"),
        ("TZ", ":/dev/stdin"),
        ("TZ", "\u{1}"),
        ("TZDIR", "/dev/zero"),
        ("TMPDIR", "/nonexistent"),
        ("TMPDIR", "/proc/self"),
        ("PATH", ""),
        ("PATH", "."),
        ("IFS", "/"),
        ("ENV", "/dev/zero"),
        ("BASH_ENV", "/dev/zero"),
        ("COLUMNS", "99999999999999999999"),
        ("LC_ALL", "\u{1b}[2J"),
        ("CLAUDE_PROJECT_DIR", ""),
        ("CLAUDE_PROJECT_DIR", "relative"),
        ("CLAUDE_PROJECT_DIR", "/"),
        ("CLAUDE_PROJECT_DIR", "/proc/self/fd"),
        ("CLAUDE_PROJECT_DIR", "/dev/zero"),
        ("XDG_CONFIG_HOME", "/nonexistent"),
        ("XDG_STATE_HOME", "/dev/zero"),
        ("MALLOC_ARENA_MAX", "0"),
        ("LD_BIND_NOW", "1"),
    ];
    for (name, value) in variables {
        rows.push(row(format!("{name}={value:?}"), Expect::Deny, move |s| s.env(name, value)));
        rows.push(row(format!("{name}={value:?}, a rule's command and a server"), Expect::Deny, {
            move |s| {
                s.rules(
                    "[remote.x]\nurl = \"http://127.0.0.1:9/\"\n\n\
                     [rule.r]\ntool = \"Bash\"\nremote = \"x\"\notherwise = \"deny\"\n\n\
                     [rule.check]\ntool = \"Bash\"\nrun = \"/bin/true\"\n",
                );
                s.call("ls");
                s.env(name, value);
            }
        }));
    }
    rows
}

fn arguments() -> Vec<Row> {
    vec![
        row("20,000 arguments that nobody knows", Expect::Deny, |s| {
            s.args.extend((0..20_000).map(|i| format!("--x{i}")));
        }),
        row("an argument of 120 KB", Expect::Deny, |s| s.args.push("x".repeat(120_000))),
        row("--timeout is nonsense", Expect::Deny, |s| s.args.extend(["--timeout=x".into()])),
        row("--timeout is a thousandth", Expect::Strict, |s| {
            s.args.extend(["--timeout=0.001".into()])
        }),
        row("--timeout is endless", Expect::Deny, |s| s.args.extend(["--timeout=inf".into()])),
        row("--timeout is 1e300", Expect::Deny, |s| s.args.extend(["--timeout=1e300".into()])),
        row("--config is a device", Expect::Strict, |s| {
            s.call("ls");
            s.args.extend(["--config=/dev/zero".into()]);
        }),
        row("--state is a device", Expect::Deny, |s| s.args.extend(["--state=/dev/zero".into()])),
        row("--state is below /proc", Expect::Deny, |s| {
            s.args.extend(["--state=/proc/self/fd".into()]);
        }),
        row("--event is nonsense beside a good event", Expect::Deny, |s| {
            s.args[4] = "No\u{1b}Event".into();
        }),
        row("--agent is nonsense", Expect::Deny, |s| s.args[2] = "nobody".into()),
    ]
}

fn directories() -> Vec<Row> {
    vec![
        row("the directory that it starts in is gone", Expect::Deny, |s| {
            let gone = s.at("gone");
            fs::create_dir(&gone).unwrap();
            s.cwd = gone;
            s.stdin = In::Pieces(vec![Vec::new(), s.forbidden()], Duration::from_millis(100));
            s.lose_cwd = true;
        }),
        row("the project is gone, directory and all", Expect::Deny, |s| {
            s.lose_cwd = true;
            s.stdin = In::Pieces(vec![Vec::new(), s.forbidden()], Duration::from_millis(100));
        }),
        row("the project is 1,500 directories down", Expect::Deny, |s| {
            let mut deep = s.at("project");
            for _ in 0..1500 {
                deep.push("d");
                if fs::create_dir(&deep).is_err() {
                    break;
                }
            }
            let text = String::from_utf8(s.forbidden()).unwrap();
            let project = s.at("project");
            let below = format!("{}{}", project.display(), "/d".repeat(1500));
            let text = text.replace(&*project.to_string_lossy(), &below);
            s.stdin = In::Bytes(text.into_bytes());
        }),
        row("the session's directory has 100,000 parts", Expect::Deny, |s| {
            let text = String::from_utf8(s.forbidden()).unwrap();
            let project = s.at("project");
            let below = format!("{}{}", project.display(), "/d".repeat(100_000));
            s.stdin = In::Bytes(text.replace(&*project.to_string_lossy(), &below).into_bytes());
        }),
        row("20 links to itself in each directory that a glob looks at", Expect::Deny, |s| {
            links(s);
            s.call("cat */*/*/*/*/*/*/*/*; forbidden-thing");
        }),
        row("the same, as much as globs cross", Expect::Deny, |s| {
            links(s);
            s.call("cat **/**/**/x; ls **/*/**/*; forbidden-thing");
        }),
        row("the same, by the Glob tool", Expect::Lawful, |s| {
            links(s);
            s.tool("Glob", &serde_json::json!({ "pattern": "**/*/**/*/**/*.x" }));
        }),
        row("the same, under rules that look", Expect::Deny, |s| {
            links(s);
            s.rules("[rule.look]\neffect = \"read\"\npath = \"./**/*/**/secret\"\ndeny = \"no\"\n[rule.quiet]\neffect = \"read\"\npath = \"./\"\nallow = \"x\"\n");
            s.call("grep -r x . && cat */*/*/*/*/*; forbidden-thing");
        }),
        row("20,000 files", Expect::Deny, |s| {
            for i in 0..20_000 {
                File::create(s.at(&format!("project/f{i:05}"))).unwrap();
            }
            s.call("cat * f* ?????? [f]*; rm -- *; forbidden-thing");
        }),
        row("names with line breaks and escapes", Expect::Deny, |s| {
            for name in ["a\nb", "\u{1b}[2J", "\u{202e}x", "-rf", "$(x)", "\u{7f}"] {
                s.put(&format!("project/{name}"), "x");
            }
            s.call("cat *; forbidden-thing");
        }),
    ]
}

/// A directory from which every name leads back to it.
fn links(scene: &Scene) {
    for i in 0..20 {
        symlink(".", scene.at(&format!("project/l{i}"))).unwrap();
    }
}

fn disks() -> Vec<Row> {
    let state = "home/.local/state/hookctl";
    vec![
        attempt("the disk is full", Expect::Deny, move |s| full(s, state, "size=4k,nr_inodes=2")),
        attempt("the disk is full, before a harmless call", Expect::Passed, move |s| {
            s.call("ls");
            full(s, state, "size=4k,nr_inodes=2")
        }),
        attempt("the disk holds a page", Expect::Deny, move |s| {
            s.project("x = [");
            full(s, state, "size=4k")
        }),
        attempt("the temporary directory is full, a long value", Expect::Deny, |s| {
            s.rules("[rule.check]\ntool = \"Bash\"\nrun = \"test -n {command}; false\"\ndeny = \"no\"\n");
            s.call(&format!("echo {}", "x".repeat(200_000)));
            s.env("TMPDIR", s.at("small").to_string_lossy());
            full(s, "small", "size=4k,nr_inodes=2")
        }),
        attempt("the state cannot be written", Expect::Deny, move |s| read_only(s, state)),
        attempt("the home cannot be written", Expect::Deny, |s| read_only(s, "home")),
        attempt("nothing can be written", Expect::Deny, |s| read_only(s, "")),
        attempt("nothing can be written, before a harmless call", Expect::Passed, |s| {
            s.call("ls");
            read_only(s, "")
        }),
        attempt("nothing can be written, a long value for a command", Expect::Deny, |s| {
            s.rules("[rule.check]\ntool = \"Bash\"\nrun = \"test -n {command}; false\"\ndeny = \"no\"\n");
            s.call(&format!("echo {}", "x".repeat(200_000)));
            s.env("TMPDIR", s.at("project").to_string_lossy());
            read_only(s, "")
        }),
    ]
}

fn full(scene: &mut Scene, place: &str, options: &str) -> Result<(), Skip> {
    mounts()?;
    let place = scene.at(place);
    fs::create_dir_all(&place)?;
    scene.pre.push(Pre::Tmpfs(c(&place), CString::new(options).unwrap()));
    Ok(())
}

fn read_only(scene: &mut Scene, place: &str) -> Result<(), Skip> {
    mounts()?;
    let small = scene.at("own");
    fs::create_dir_all(&small)?;
    let place = scene.at(place);
    fs::create_dir_all(&place)?;
    // The first makes the mounts this process's own.
    scene.pre.push(Pre::Tmpfs(c(&small), CString::new("size=4k").unwrap()));
    scene.pre.push(Pre::ReadOnly(c(&place)));
    Ok(())
}

fn clocks() -> Vec<Row> {
    let far = SystemTime::UNIX_EPOCH + Duration::from_secs(1 << 33);
    let times = [("in 2242", far), ("in 1970", SystemTime::UNIX_EPOCH)];
    let mut rows = Vec::new();
    for (name, time) in times {
        rows.push(row(format!("every file was written {name}"), Expect::Deny, move |s| {
            s.project("x = [");
            s.put("home/.local/state/hookctl/journal.jsonl", "{}\n");
            s.put("home/.local/state/hookctl/pause.json", "{\"until\":1}");
            for dir in ["notes", "index", "spool"] {
                fs::create_dir_all(s.at(&format!("home/.local/state/hookctl/{dir}"))).unwrap();
            }
            age(s.dir.path(), time);
        }));
    }
    for (name, until) in [
        ("the end of time", "18446744073709551615"),
        ("more than the end of time", "1e400"),
        ("a time before the first", "-1"),
        ("a text", "\"9999999999\""),
    ] {
        // Nobody pauses for longer than a day, so nobody wrote that.
        rows.push(row(format!("a pause until {name}"), Expect::Deny, move |s| {
            s.put("home/.local/state/hookctl/pause.json", format!("{{\"until\":{until}}}"));
        }));
    }
    rows
}

fn age(path: &Path, time: SystemTime) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            age(&entry.unwrap().path(), time);
        }
    }
    let _ = File::open(path).and_then(|file| file.set_modified(time));
}
