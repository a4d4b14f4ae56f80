//! `hookctl claude-hook` and its kin: the hook of an event bridge. What the agent writes goes to the
//! listener or into its files; nothing is judged, no rule is read, and whatever happens, nothing is printed
//! and the exit status is 0.
//!
//! Like the hook path it never goes through clap, and no agent waits for a listener.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::dialect::bridge;
use crate::flags;
use crate::journal;
use crate::paths::Paths;
use crate::remote::bridge::Flags;
use crate::remote::told;
use crate::stdin;

/// How long the agent may take to say everything.
const PATIENCE: Duration = Duration::from_secs(5);
/// The largest event, in bytes: a listener takes no more.
const LARGEST: usize = 50 << 20;
/// What people ask for; then it is a command and no hook.
const COMMANDS: &[&str] = &["--enable", "--disable", "--status", "--help", "-h"];

/// The agent whose hook this command line is.
pub fn bridge_agent(mut args: impl Iterator<Item = OsString>) -> Option<&'static str> {
    let agent = bridge::agent_of(args.next()?.to_str()?)?;
    (!args.any(|arg| COMMANDS.iter().any(|command| arg == *command))).then_some(agent)
}

/// The flags of the hook.
#[derive(Debug, Default, PartialEq)]
pub struct BridgeOptions {
    /// `--port` and `--dir`.
    pub flags: Flags,
    /// `--config`: the directory of the user's file, for the sender.
    pub config: Option<PathBuf>,
    /// `--state`: the directory of the spool.
    pub state: Option<PathBuf>,
}

impl BridgeOptions {
    /// Reads the flags, in either form. What is not known is ignored: nobody reads what a hook says of it.
    pub fn parse(args: impl IntoIterator<Item = OsString>) -> BridgeOptions {
        let mut options = BridgeOptions::default();
        let mut args = args.into_iter();
        while let Some(arg) = args.next() {
            let text = arg.to_string_lossy();
            let (flag, inline) = flags::split(&text);
            let mut value = || inline.clone().or_else(|| args.next());
            match flag {
                "--port" => {
                    options.flags.port = value()
                        .and_then(|port| port.to_str()?.parse().ok())
                        .filter(|port| *port > 0);
                }
                // None at all is the default's, not the directory that this happens to run in.
                "--dir" => {
                    let dir = value().filter(|dir| !dir.is_empty());
                    options.flags.dir = dir.map(|dir| absolute_path(dir.as_ref()));
                }
                "--config" => options.config = value().map(PathBuf::from),
                "--state" => options.state = value().map(PathBuf::from),
                _ => {}
            }
        }
        options
    }
}

/// The path as another process finds it; `~/` stays.
pub fn absolute_path(dir: &Path) -> PathBuf {
    match dir.starts_with("~") {
        true => dir.to_path_buf(),
        false => std::path::absolute(dir).unwrap_or_else(|_| dir.to_path_buf()),
    }
}

/// Hands on what is on stdin.
pub fn main(agent: &'static str, args: impl IntoIterator<Item = OsString>) -> u8 {
    let start = Instant::now();
    std::panic::set_hook(Box::new(|_| std::process::exit(0)));
    let options = BridgeOptions::parse(args);
    let input = stdin::read(start + PATIENCE, LARGEST);
    let Ok(paths) = Paths::discover(options.config, options.state) else { return 0 };
    if let Err(why) = told::forward_input(agent, options.flags, input, &paths) {
        let line = journal::Line {
            decision: "failed".into(),
            notes: vec![why],
            ..journal::Line::new(agent)
        };
        journal::append(&paths.journal(), &Default::default(), line);
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn args(line: &str) -> impl Iterator<Item = OsString> {
        line.split(' ').map(OsString::from)
    }

    #[test]
    fn s3_05_without_a_command_it_is_the_hook() {
        for (line, wanted) in [
            ("claude-hook", Some("claude")),
            ("claude-hook --port 3043 --dir /x", Some("claude")),
            ("cline-hook", Some("cline")),
            ("gemini-hook", Some("gemini")),
            ("opencode-hook", Some("opencode")),
            ("droid-hook --json", Some("droid")),
            ("claude-hook --enable", None),
            ("claude-hook --port 1 --status", None),
            ("claude-hook --help", None),
            ("hook", None),
            ("other-hook", None),
        ] {
            assert_eq!(bridge_agent(args(line)), wanted, "{line}");
        }
    }

    #[test]
    fn s3_08_port_and_directory_are_read_in_either_form() {
        let of = |line| BridgeOptions::parse(args(line)).flags;
        let flags = |port, dir: &str| Flags { port, dir: Some(dir.into()) };
        assert_eq!(of("--port 4000 --dir ~/x"), flags(Some(4000), "~/x"));
        let root = absolute_path(Path::new("/x"));
        assert_eq!(of("--what --port=4000 --dir=/x"), flags(Some(4000), root.to_str().unwrap()));
        assert_eq!(of("--port no --state /s"), Flags::default());
        assert!(of("--dir x").dir.is_some_and(|dir| dir.is_absolute() && dir.ends_with("x")));
        for none in ["--dir", "--dir=", "--dir "] {
            assert_eq!(of(none), Flags::default(), "{none}");
        }
    }
}
