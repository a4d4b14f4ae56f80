//! `hookctl serve`: a program of its own, so that the hook need not carry a server.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, bail};

use super::args::ServeArgs;
use super::report::{Level, Report};
use super::{Context, Exit};

/// The server's program.
const PROGRAM: &str = if cfg!(windows) { "hookctl-serve.exe" } else { "hookctl-serve" };

/// Becomes the server.
///
/// # Errors
/// Where its program is not there or cannot be run.
pub fn run(context: &Context, args: &ServeArgs) -> Result<Exit> {
    let mut command = server_command(context)?;
    command.args(&args.rest);
    become_program(command).context("cannot run the server")
}

/// Has the server installed for this user, and named to the hooks: at that address of this machine, or that URL elsewhere.
///
/// # Errors
/// Where its program is not there or cannot be run.
pub(super) fn install(context: &Context, at: &str, report: &mut Report) -> Result<Exit> {
    let mut command = server_command(context)?;
    let flag = if at.contains("://") { "--at" } else { "--listen" };
    let done = command.args(["install", flag, at]).output().context("cannot run the server")?;
    report.tell(&String::from_utf8_lossy(&done.stdout))?;
    let (level, exit) = match done.status.success() {
        true => (Level::Note, Exit::Ok),
        false => (Level::Error, Exit::Failed),
    };
    for line in String::from_utf8_lossy(&done.stderr).lines() {
        let said = line.trim_start_matches("hookctl: ");
        report.say(level, said.trim_start_matches("note: ").trim_start_matches("error: "));
    }
    Ok(exit)
}

/// The server's program with the directories that hold here.
fn server_command(context: &Context) -> Result<Command> {
    let own = std::env::current_exe().ok();
    let Some(program) = find_program(own.as_deref(), crate::env::get_path(crate::env::PATH)) else {
        bail!(
            "{PROGRAM} is not here: it comes with hookctl as a program of its own, and belongs beside it{}",
            own.and_then(|own| Some(format!(" ({})", own.parent()?.display()))).unwrap_or_default()
        );
    };
    let mut command = Command::new(&program);
    for (flag, directory) in
        [("--config", &context.global.config), ("--state", &context.global.state)]
    {
        if let Some(directory) = directory {
            command.arg(flag).arg(directory);
        }
    }
    Ok(command)
}

/// Beside this program, else where PATH says; never in the directory that this happens to run in.
fn find_program(own: Option<&Path>, path: Option<PathBuf>) -> Option<PathBuf> {
    let beside = own.and_then(Path::parent).map(Path::to_path_buf);
    let path = path.unwrap_or_default();
    let directories = beside.into_iter().chain(std::env::split_paths(&path));
    directories
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(PROGRAM))
        .find(|program| program.is_file())
}

#[cfg(unix)]
fn become_program(mut command: Command) -> Result<Exit> {
    use std::os::unix::process::CommandExt as _;
    Err(command.exec().into())
}

#[cfg(not(unix))]
fn become_program(mut command: Command) -> Result<Exit> {
    Ok(if command.status()?.success() { Exit::Ok } else { Exit::Failed })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_beside_comes_first_and_the_current_directory_never() {
        let (beside, path) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let own = beside.path().join("hookctl");
        let both = std::env::join_paths([Path::new(""), Path::new("."), path.path()]).unwrap();
        let find = || find_program(Some(&own), Some(both.clone().into()));
        assert_eq!(find(), None);
        std::fs::write(path.path().join(PROGRAM), "").unwrap();
        assert_eq!(find(), Some(path.path().join(PROGRAM)));
        std::fs::write(beside.path().join(PROGRAM), "").unwrap();
        assert_eq!(find(), Some(beside.path().join(PROGRAM)));
    }
}
