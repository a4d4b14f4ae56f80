//! One run of an agent's program, bounded in time, of which no process is left.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Read as _, Seek as _, SeekFrom};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::env;
#[cfg(target_os = "linux")]
use crate::files;

/// How often is looked whether it has ended.
const TICK: Duration = Duration::from_millis(20);
/// The most of a process's environment that is looked at, in bytes: Linux gives a process no more by itself.
#[cfg(target_os = "linux")]
const ENVIRONMENT: u64 = 6 << 20;
/// How much of the end of its output is read, in bytes.
const TAIL: u64 = 4096;
/// How many of its last lines are kept.
const LAST_LINES: usize = 3;

/// Set by a signal that would end this process.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// What is run.
pub(super) struct ClientRun<'a> {
    pub(super) program: &'a Path,
    pub(super) args: Vec<String>,
    pub(super) env: Vec<(&'static str, String)>,
    /// Where.
    pub(super) dir: &'a Path,
    /// What its processes are known by.
    pub(super) token: &'a str,
    pub(super) limit: Duration,
}

/// How it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ClientEnd {
    /// By itself.
    Exit(i32),
    /// Somebody killed it.
    Signal,
    /// At the limit.
    TimedOut,
    /// This process was told to end.
    Interrupted,
}

/// What came of it.
pub(super) struct ClientOutcome {
    pub(super) end: ClientEnd,
    /// Its last lines on stderr; on stdout where there are none.
    pub(super) last_words: String,
    pub(super) took: Duration,
}

/// Runs it to its end, or to the limit; then nothing that it started is left.
///
/// # Errors
/// It cannot be started.
pub(super) fn run_client(run: &ClientRun<'_>) -> io::Result<ClientOutcome> {
    // Files, not pipes: what it leaves running may keep these open.
    let (mut stdout, mut stderr) = (tempfile::tempfile()?, tempfile::tempfile()?);
    let mut command = client_command(run);
    command.stdin(Stdio::null()).stdout(stdout.try_clone()?).stderr(stderr.try_clone()?);
    let start = Instant::now();
    let mut child = command.spawn()?;
    let end = wait_for_client(&mut child, start + run.limit);
    end_processes(&mut child, run.token);
    let mut last_words = last_lines(&mut stderr);
    if last_words.is_empty() {
        last_words = last_lines(&mut stdout);
    }
    Ok(ClientOutcome { end: end?, last_words, took: start.elapsed() })
}

fn client_command(run: &ClientRun<'_>) -> Command {
    let mut command = Command::new(run.program);
    command
        .args(&run.args)
        .current_dir(run.dir)
        // Without what names another project; taken out by name, it would cost 5 KB of code.
        .env_clear()
        .envs(env::variables(|name| name != env::CLAUDE_PROJECT_DIR))
        // Some believe it before the system.
        .env("PWD", run.dir)
        .env(env::LIVE_CHECK, run.token)
        .envs(run.env.iter().map(|(name, value)| (*name, OsStr::new(value))));
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // A group of its own, so that it can be killed with its children.
        command.process_group(0);
    }
    command
}

fn wait_for_client(child: &mut Child, deadline: Instant) -> io::Result<ClientEnd> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(end_of(status));
        }
        if INTERRUPTED.load(Ordering::Relaxed) {
            return Ok(ClientEnd::Interrupted);
        }
        if Instant::now() >= deadline {
            return Ok(ClientEnd::TimedOut);
        }
        thread::sleep(TICK);
    }
}

fn end_of(status: ExitStatus) -> ClientEnd {
    status.code().map_or(ClientEnd::Signal, ClientEnd::Exit)
}

/// Ends the client with its children, and what has left their group.
fn end_processes(child: &mut Child, token: &str) {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    // It may have ended by itself; either way it is gone.
    let _ = child.kill();
    let _ = child.wait();
    #[cfg(target_os = "linux")]
    end_marked(token);
    #[cfg(not(target_os = "linux"))]
    let _ = token;
}

/// Ends the daemons that it started: they have its environment.
#[cfg(target_os = "linux")]
fn end_marked(token: &str) {
    use rustix::process::{Pid, Signal, kill_process};
    let mark = format!("{}={token}", env::LIVE_CHECK).into_bytes();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let number = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok());
        let Some(pid) = number.and_then(Pid::from_raw) else { continue };
        // Of other users' processes it cannot be read.
        let environment = files::kernel_bytes(&entry.path().join("environ"), ENVIRONMENT);
        let Ok(variables) = environment else { continue };
        if variables.split(|byte| *byte == 0).any(|variable| variable == mark) {
            let _ = kill_process(pid, Signal::KILL);
        }
    }
}

/// The last lines that say something, on one.
fn last_lines(file: &mut File) -> String {
    let mut bytes = Vec::new();
    let start = file.metadata().map_or(0, |meta| meta.len().saturating_sub(TAIL));
    // What cannot be read was not said.
    if file.seek(SeekFrom::Start(start)).is_ok() {
        let _ = file.take(TAIL).read_to_end(&mut bytes);
    }
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    lines[lines.len().saturating_sub(LAST_LINES)..].join(" / ")
}

/// From now on a signal that would end this process only says so: the client has to go first.
#[cfg(unix)]
#[allow(unsafe_code)]
pub(super) fn watch_for_interrupts() {
    extern "C" fn note(_: libc::c_int) {
        INTERRUPTED.store(true, Ordering::Relaxed);
    }
    let handler: extern "C" fn(libc::c_int) = note;
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // SAFETY: the handler does nothing but store to an atomic.
        unsafe {
            libc::signal(signal, handler as libc::sighandler_t);
        }
    }
}

/// There, what ends this process ends its console's other processes too.
#[cfg(not(unix))]
pub(super) fn watch_for_interrupts() {}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn run_script(script: &str, limit: Duration) -> ClientOutcome {
        let dir = tempfile::tempdir().unwrap();
        run_client(&ClientRun {
            program: Path::new("/bin/sh"),
            args: vec!["-c".into(), script.into()],
            env: vec![("X", "a b".into())],
            dir: dir.path(),
            // Its own: what has it is ended.
            token: &dir.path().display().to_string(),
            limit,
        })
        .unwrap()
    }

    const LONG: Duration = Duration::from_secs(20);

    #[test]
    fn how_it_ended_and_its_last_words() {
        for (script, end, words) in [
            ("echo \"$X\"; pwd >/dev/null", ClientEnd::Exit(0), "a b"),
            ("echo out; echo '  err ' >&2; exit 3", ClientEnd::Exit(3), "err"),
            ("seq 9", ClientEnd::Exit(0), "7 / 8 / 9"),
            ("yes | head -c 100000; echo end; kill -9 $$", ClientEnd::Signal, "y / y / end"),
            ("exit 1", ClientEnd::Exit(1), ""),
        ] {
            let outcome = run_script(script, LONG);
            assert_eq!((outcome.end, outcome.last_words.as_str()), (end, words), "{script}");
        }
    }

    #[test]
    fn at_the_limit_nothing_of_it_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        // One child in its group; where processes can be known by their environment, one outside of it as well.
        let away = if cfg!(target_os = "linux") { "setsid" } else { "" };
        let script = format!(
            "(sleep 1; touch '{0}') & {away} sh -c \"sleep 1; touch '{0}'\" & echo waits >&2; sleep 60",
            mark.display()
        );
        let outcome = run_script(&script, Duration::from_millis(400));
        assert_eq!((outcome.end, outcome.last_words.as_str()), (ClientEnd::TimedOut, "waits"));
        thread::sleep(Duration::from_millis(1500));
        assert!(!mark.exists());
        // Nor after it has ended by itself.
        let script = format!("{away} sh -c \"sleep 1; touch '{}'\" & sleep 0.2", mark.display());
        assert_eq!(run_script(&script, LONG).end, ClientEnd::Exit(0));
        thread::sleep(Duration::from_millis(1500));
        assert!(!mark.exists());
    }
}
