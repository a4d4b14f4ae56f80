//! Each kind of file at each path that the hook reads, writes or looks at.

use std::fs::{self, File};
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};

use sha2::Digest as _;

use crate::scene::{Expect, Pre, Row, Scene, Skip, attempt, can_start, fifo, writer};

/// What stands where a regular file should.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Fifo,
    FifoStalled,
    FifoPartial,
    Directory,
    Socket,
    Link(&'static str),
    Loop,
    Sparse,
    Unreadable,
    Dangling,
}

const KINDS: &[(&str, Kind)] = &[
    ("a FIFO without a writer", Kind::Fifo),
    ("a FIFO whose writer says nothing", Kind::FifoStalled),
    ("a FIFO whose writer stalls in the middle", Kind::FifoPartial),
    ("a directory", Kind::Directory),
    ("a socket", Kind::Socket),
    ("a link to /dev/zero", Kind::Link("/dev/zero")),
    ("a link to /dev/urandom", Kind::Link("/dev/urandom")),
    ("a link to /dev/full", Kind::Link("/dev/full")),
    ("a link to /dev/ptmx", Kind::Link("/dev/ptmx")),
    ("a link to /dev/kmsg", Kind::Link("/dev/kmsg")),
    ("a link to /proc/self/mem", Kind::Link("/proc/self/mem")),
    ("a link to /dev/stdin", Kind::Link("/dev/stdin")),
    ("a link to itself", Kind::Loop),
    ("8 GB of nothing", Kind::Sparse),
    ("a file of mode 000", Kind::Unreadable),
    ("a dangling link", Kind::Dangling),
];

impl Kind {
    fn make(self, scene: &mut Scene, path: &Path) -> Result<(), Skip> {
        clear(path)?;
        fs::create_dir_all(path.parent().unwrap())?;
        match self {
            Kind::Fifo => fifo(path)?,
            Kind::FifoStalled => {
                fifo(path)?;
                scene.keep.push(Box::new(writer(path)?));
            }
            Kind::FifoPartial => {
                fifo(path)?;
                let mut writer = writer(path)?;
                writer.write_all(b"[rule.x]\n")?;
                scene.keep.push(Box::new(writer));
            }
            Kind::Directory => fs::create_dir(path)?,
            Kind::Socket => scene.keep.push(Box::new(UnixListener::bind(path)?)),
            Kind::Link(to) if !Path::new(to).exists() && to != "/dev/stdin" => {
                return Err(Skip(format!("no {to}")));
            }
            Kind::Link(to) => symlink(to, path)?,
            Kind::Loop => symlink(path, path)?,
            Kind::Sparse => {
                let file = File::create(path)?;
                file.set_permissions(fs::Permissions::from_mode(0o700))?;
                file.set_len(8 << 30)?;
            }
            Kind::Unreadable => {
                fs::write(path, "[rule.x]\n")?;
                fs::set_permissions(path, fs::Permissions::from_mode(0o000))?;
                // SAFETY: no arguments.
                if unsafe { libc::geteuid() } == 0 {
                    can_start(&[Pre::Nobody])?;
                    scene.pre.push(Pre::Nobody);
                }
            }
            Kind::Dangling => symlink("/nonexistent/thing", path)?,
        }
        Ok(())
    }
}

fn clear(path: &Path) -> Result<(), Skip> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path)?,
        Ok(_) => fs::remove_file(path)?,
        Err(_) => {}
    }
    Ok(())
}

/// A path, what must hold whatever stands there, and what makes the hook look at it.
type Place = (&'static str, Expect, fn(&mut Scene) -> PathBuf);

const PLACES: &[Place] = &[
    ("the user's config", Expect::Strict, |s| {
        s.call("ls");
        s.at("home/.config/hookctl/config.toml")
    }),
    ("the user's config directory", Expect::Strict, |s| {
        s.call("ls");
        s.at("home/.config/hookctl")
    }),
    // Services have /dev/null for a home: there is no config, and nothing is lost.
    ("the home directory", Expect::Lawful, |s| {
        s.call("ls");
        s.at("home")
    }),
    ("server.json", Expect::Deny, |s| s.at("home/.config/hookctl/server.json")),
    ("a server's token", Expect::Deny, |s| {
        let token = s.at("home/.config/hookctl/token");
        s.rules(&format!(
            "[remote.x]\nurl = \"http://127.0.0.1:9/\"\ntoken_file = {token:?}\n\n\
             [rule.remote]\ntool = \"Bash\"\nremote = \"x\"\notherwise = \"deny\"\n"
        ));
        s.call("ls");
        token
    }),
    ("the project's file", Expect::Deny, |s| s.at("project/.hookctl.toml")),
    ("the project's file, before a harmless call", Expect::Passed, |s| {
        s.call("ls");
        s.at("project/.hookctl.toml")
    }),
    ("the local file", Expect::Deny, |s| s.at("project/.hookctl.local.toml")),
    ("the trust store", Expect::Deny, |s| {
        s.project("[rule.x]\ntool = \"Bash\"\nallow = \"x\"\n");
        s.at("home/.local/state/hookctl/trust.json")
    }),
    ("a pinned program", Expect::Deny, |s| {
        trusted(s, "[rule.x]\ntool = \"Bash\"\nrun = \"./prog\"\n", "prog");
        s.at("project/prog")
    }),
    ("the pause", Expect::Deny, |s| s.at("home/.local/state/hookctl/pause.json")),
    ("the journal", Expect::Deny, |s| s.at("home/.local/state/hookctl/journal.jsonl")),
    ("the journal, before a harmless call", Expect::Passed, |s| {
        s.call("ls");
        s.at("home/.local/state/hookctl/journal.jsonl")
    }),
    ("the notes", Expect::Deny, |s| {
        s.project("broken = [");
        s.at("home/.local/state/hookctl/notes")
    }),
    ("the index", Expect::Deny, |s| s.at("home/.local/state/hookctl/index")),
    ("the state directory", Expect::Deny, |s| s.at("home/.local/state/hookctl")),
    ("the directory above it", Expect::Deny, |s| s.at("home/.local")),
    ("a context file", Expect::Lawful, |s| {
        let file = s.at("home/.config/hookctl/notes.md");
        s.rules("[rule.tell]\ntool = \"Bash\"\ncontext = { file = \"notes.md\" }\n");
        s.call("ls");
        file
    }),
    ("a rule's program", Expect::Deny, |s| {
        s.rules("[rule.check]\ncommand = \"checked-thing\"\nrun = \"./prog\"\ndeny = \"no\"\nlimit = 1\n");
        s.call("checked-thing");
        s.at("home/.config/hookctl/prog")
    }),
    ("a hook script", Expect::Deny, |s| {
        s.rules(
            "[rule.old]\ntool = \"Bash\"\nhook = \"./prog\"\notherwise = \"deny\"\nlimit = 1\n",
        );
        s.call("ls");
        s.at("home/.config/hookctl/prog")
    }),
    ("the .git of the project", Expect::Deny, |s| s.at("project/.git")),
    ("the .git of the directory above", Expect::Deny, |s| {
        let _ = fs::remove_dir(s.at("project/.git"));
        s.at(".git")
    }),
    ("git's config", Expect::Deny, |s| {
        s.call("git push; git commit -m x; forbidden-thing");
        s.at("project/.git/config")
    }),
    ("git's HEAD", Expect::Deny, |s| {
        s.call("git push; git status; forbidden-thing");
        s.at("project/.git/HEAD")
    }),
    ("a git hook", Expect::Deny, |s| {
        s.call("git commit -m x; forbidden-thing");
        s.at("project/.git/hooks/pre-commit")
    }),
    ("a script that is run", Expect::Deny, |s| {
        s.call("sh ./x.sh; forbidden-thing");
        s.at("project/x.sh")
    }),
    ("a program that is run by its path", Expect::Deny, |s| {
        s.call("./x; forbidden-thing");
        s.at("project/x")
    }),
    ("a file that is sourced", Expect::Deny, |s| {
        s.call(". ./env.sh; forbidden-thing");
        s.at("project/env.sh")
    }),
    ("a Makefile", Expect::Deny, |s| {
        s.call("make all; forbidden-thing");
        s.at("project/Makefile")
    }),
    ("a package.json", Expect::Deny, |s| {
        s.call("npm test; forbidden-thing");
        s.at("project/package.json")
    }),
    ("a justfile", Expect::Deny, |s| {
        s.call("just all; forbidden-thing");
        s.at("project/justfile")
    }),
    ("what a call reads", Expect::Deny, |s| {
        s.call("cat ./thing th* ./*; grep -r x thing; forbidden-thing");
        s.at("project/thing")
    }),
    ("what a call writes", Expect::Deny, |s| {
        s.call("echo x > thing; cp a thing; rm thing; forbidden-thing");
        s.at("project/thing")
    }),
    ("a directory in the middle of what a call reads", Expect::Deny, |s| {
        s.call("cat thing/a/b thing/*/c; find thing -delete; cd thing && ls; forbidden-thing");
        s.at("project/thing")
    }),
    ("what the Read tool reads", Expect::Lawful, |s| {
        let file = s.at("project/thing");
        s.tool("Read", &serde_json::json!({ "file_path": file }));
        file
    }),
    ("what the Write tool writes", Expect::Lawful, |s| {
        let file = s.at("project/thing");
        s.tool("Write", &serde_json::json!({ "file_path": file, "content": "x" }));
        file
    }),
    ("what TZ names", Expect::Deny, |s| {
        let file = s.at("zone");
        s.env("TZ", format!(":{}", file.display()));
        file
    }),
    ("what TMPDIR names", Expect::Deny, |s| {
        let file = s.at("temporary");
        s.env("TMPDIR", file.to_string_lossy());
        file
    }),
    ("what CLAUDE_PROJECT_DIR names", Expect::Deny, |s| {
        let file = s.at("elsewhere");
        s.env("CLAUDE_PROJECT_DIR", file.to_string_lossy());
        file
    }),
    ("the file for variables at the start of a session", Expect::Lawful, |s| {
        let file = s.at("env-file");
        s.rules("[rule.env]\non = \"SessionStart\"\nenv = { A = \"1\" }\n");
        s.env("CLAUDE_ENV_FILE", file.to_string_lossy());
        let cwd = s.at("project");
        let event = serde_json::json!({
            "hook_event_name": "SessionStart", "session_id": "s", "source": "startup", "cwd": cwd,
        });
        s.args[4] = "SessionStart".into();
        s.stdin = crate::scene::In::Bytes(event.to_string().into_bytes());
        file
    }),
];

/// A project's file that a human has trusted, and the program that it names.
fn trusted(scene: &Scene, text: &str, program: &str) {
    let hash = |bytes: &[u8]| -> String {
        sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    scene.project(text);
    let file = scene.at("project/.hookctl.toml");
    let entry = serde_json::json!({
        "hash": hash(text.as_bytes()), "since": "", "programs": { program: hash(b"x") },
    });
    let store = serde_json::json!({ "files": { file.to_string_lossy(): entry } });
    scene.put("home/.local/state/hookctl/trust.json", store.to_string());
}

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for &(place, expect, path) in PLACES {
        for &(kind_name, kind) in KINDS {
            if ordinary(place, kind) {
                continue;
            }
            // Nothing was ever there, as far as anybody can tell.
            let absent = place == "the user's config directory" && kind == Kind::Dangling;
            let expect = if absent { Expect::Lawful } else { expect };
            rows.push(attempt(format!("{place}: {kind_name}"), expect, move |scene| {
                let path = path(scene);
                kind.make(scene, &path)
            }));
        }
    }
    rows
}

/// A directory where a directory belongs.
fn ordinary(place: &str, kind: Kind) -> bool {
    let directory = place.contains("directory") || place.starts_with("the .git");
    kind == Kind::Directory
        && (directory || matches!(place, "the notes" | "the index") || place.starts_with("what "))
}
