//! Dispatch: the command line to one function per subcommand, and what they share.

use std::ffi::OsString;
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::{Context as _, Result};
use clap::Parser;

use crate::env;
use crate::paths::{self, Paths};

pub mod args;
pub mod install;
pub mod scope;
pub mod status;
pub mod uninstall;

use args::{Cli, Color, Command, Global, Shell};

/// How a command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// All is well.
    Ok,
    /// Something was found, or hookctl refused.
    Found,
    /// Wrong usage, or it failed.
    Failed,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit as u8)
    }
}

/// Where a command runs and how it prints.
#[derive(Debug)]
pub struct Context {
    /// Where our own files are.
    pub paths: Paths,
    /// The options of every command, as given.
    pub global: Global,
    /// The current directory.
    pub cwd: PathBuf,
    /// The project's root.
    pub root: PathBuf,
    /// Colours on stdout?
    pub color: bool,
}

impl Context {
    fn find(global: Global) -> Result<Context> {
        let paths =
            Paths::find(global.config.clone(), global.state.clone()).map_err(anyhow::Error::msg)?;
        let cwd = std::env::current_dir().context("cannot tell the current directory")?;
        let root = paths::project_root(&cwd, &paths.home);
        let color = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => io::stdout().is_terminal() && env::get(env::NO_COLOR).is_none(),
        };
        Ok(Context { paths, global, cwd, root, color })
    }

    /// The text in that colour (an SGR number), where colours are on.
    pub fn paint(&self, sgr: u8, text: &str) -> String {
        if self.color { format!("\u{1b}[{sgr}m{text}\u{1b}[0m") } else { text.to_string() }
    }
}

/// Bold.
pub const BOLD: u8 = 1;
/// Red: it is not in effect.
pub const RED: u8 = 31;
/// Green: it is.
pub const GREEN: u8 = 32;
/// Yellow: look at it.
pub const YELLOW: u8 = 33;

/// The whole program but the hook path: argv to exit status.
pub fn main(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    let cli = match Cli::try_parse_from(args) {
        Ok(cli) => cli,
        Err(error) => {
            // Help and version end well, everything else is wrong usage. Nobody may be reading.
            let _ = error.print();
            return if error.use_stderr() { Exit::Failed } else { Exit::Ok }.into();
        }
    };
    match dispatch(cli) {
        Ok(exit) => exit.into(),
        Err(error) => {
            complain(&format!("error: {error:#}"));
            Exit::Failed.into()
        }
    }
}

fn dispatch(cli: Cli) -> Result<Exit> {
    let command = match cli.command {
        Some(Command::Completions(args)) => return print(completions(args.shell)),
        Some(Command::Man) => return print(include_str!(concat!(env!("OUT_DIR"), "/hookctl.1"))),
        other => other.unwrap_or(Command::Status(args::StatusArgs::default())),
    };
    let context = Context::find(cli.global)?;
    match command {
        Command::Install(args) => install::run(&context, &args),
        Command::Uninstall(args) => uninstall::run(&context, &args),
        Command::Status(args) => status::run(&context, &args),
        Command::Check(_) => pending("check"),
        Command::Explain(_) => pending("explain"),
        Command::Trust(_) => pending("trust"),
        Command::Pause(_) => pending("pause"),
        Command::Resume => pending("resume"),
        Command::Log(_) => pending("log"),
        Command::Init(_) => pending("init"),
        Command::Hook(_) => pending("hook"),
        Command::Completions(_) | Command::Man => Ok(Exit::Ok),
    }
}

fn pending(name: &str) -> Result<Exit> {
    anyhow::bail!("`hookctl {name}` is not in this build")
}

fn completions(shell: Shell) -> &'static str {
    match shell {
        Shell::Bash => include_str!(concat!(env!("OUT_DIR"), "/hookctl.bash")),
        Shell::Zsh => include_str!(concat!(env!("OUT_DIR"), "/hookctl.zsh")),
        Shell::Fish => include_str!(concat!(env!("OUT_DIR"), "/hookctl.fish")),
        Shell::Powershell => include_str!(concat!(env!("OUT_DIR"), "/hookctl.ps1")),
        Shell::Elvish => include_str!(concat!(env!("OUT_DIR"), "/hookctl.elv")),
    }
}

/// Prints to stdout. A reader that went away (`| head`) is no failure.
///
/// # Errors
/// Where stdout cannot be written for another reason.
pub fn print(text: &str) -> Result<Exit> {
    let mut out = io::stdout().lock();
    match out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to stdout")
        }
        _ => Ok(Exit::Ok),
    }
}

/// Prints a line to stderr.
pub fn complain(text: &str) {
    // There is no other place to say it.
    let _ = writeln!(io::stderr(), "hookctl: {text}");
}
