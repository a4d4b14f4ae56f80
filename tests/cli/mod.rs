//! A home and a project of its own for each test of a command, with or without a terminal.

#![allow(dead_code)]

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

#[path = "../common/system.rs"]
pub mod system;

pub const BIN: &str = env!("CARGO_BIN_EXE_hookctl");

/// Runs what follows without parents: an agent that runs these tests is not behind what they run.
pub const ORPHAN: &str = "
import os, subprocess, sys
r, w = os.pipe()
if os.fork():
    os.close(w)
    sys.exit(int(os.read(r, 16) or b'99'))
os.setsid()
if os.fork():
    os._exit(0)
code = subprocess.run(sys.argv[1:]).returncode
os.write(w, str(code).encode())
os._exit(0)
";

/// Runs what follows on a terminal of its own, with this process's stdin typed in.
pub const PTY: &str =
    "import os,pty,sys\nsys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";

pub struct World {
    dir: tempfile::TempDir,
}

pub struct Done {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Done {
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out)
            .unwrap_or_else(|error| panic!("{error}: {}\n{}", self.out, self.err))
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Done {
        Done {
            code: output.status.code().unwrap_or(-1),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl World {
    pub fn new() -> World {
        let world = World { dir: tempfile::tempdir().unwrap() };
        fs::create_dir_all(world.project().join(".git")).unwrap();
        world
    }

    /// With the files of the user's own that a command line names where no variable does: there `check` misses a
    /// config.toml, which nobody has to have.
    pub fn with_named_files() -> World {
        if cfg!(target_os = "linux") { World::new() } else { World::with("") }
    }

    /// With the user's rules.
    pub fn with(rules: &str) -> World {
        let world = World::new();
        world.write(&world.user(), rules);
        world
    }

    pub fn home(&self) -> PathBuf {
        hookctl::files::real_path(self.dir.path()).unwrap()
    }

    pub fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    pub fn user(&self) -> PathBuf {
        system::below(&self.home(), ".config/hookctl/config.toml")
    }

    pub fn state(&self) -> PathBuf {
        system::below(&self.home(), ".local/state/hookctl")
    }

    pub fn write(&self, path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
        system::set_mode(path, 0o600);
    }

    pub fn project_file(&self, text: &str) -> PathBuf {
        let path = self.project().join(".hookctl.toml");
        self.write(&path, text);
        path
    }

    pub fn command(&self, program: &str) -> Command {
        self.in_world(match program {
            BIN => system::hookctl(program, &self.home()),
            _ => Command::new(program),
        })
    }

    fn in_world(&self, mut command: Command) -> Command {
        command.current_dir(self.project()).env("HOME", self.home());
        for name in hookctl::env::AGENT_MARKS {
            command.env_remove(name);
        }
        command.env_remove("CLAUDE_PROJECT_DIR").env_remove("CLAUDE_CONFIG_DIR");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn start(&self, args: &[&str]) -> Command {
        let mut command = self.in_world(system::hookctl_unless(BIN, &self.home(), args));
        command.args(args);
        command
    }

    pub fn run(&self, args: &[&str]) -> Done {
        self.feed(args, b"")
    }

    /// With that on stdin.
    pub fn feed(&self, args: &[&str], stdin: &[u8]) -> Done {
        finish(self.start(args), stdin)
    }

    /// On a terminal, where that is typed.
    pub fn on_terminal(&self, args: &[&str], typed: &str) -> Done {
        self.on_terminal_with(args, typed, &[])
    }

    pub fn on_terminal_with(&self, args: &[&str], typed: &str, env: &[(&str, &str)]) -> Done {
        let mut command = self.command("python3");
        command
            .args(["-c", ORPHAN, "python3", "-c", PTY, BIN])
            .args(args)
            .envs(env.iter().copied());
        finish(command, typed.as_bytes())
    }
}

pub fn finish(mut command: Command, stdin: &[u8]) -> Done {
    let mut child = system::start(&mut command);
    // Who does not read is no failure of ours.
    let _ = child.stdin.take().unwrap().write_all(stdin);
    child.wait_with_output().unwrap().into()
}
