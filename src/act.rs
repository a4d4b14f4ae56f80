//! Commands that rules run: in parallel, each with a limit, killed with their children, their
//! output bounded.

use std::ffi::OsString;
use std::io::{self, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::files;
use crate::text::{quote_for_shell, quote_word};
use crate::threads::{self, Receiver};

/// How much of a stream is kept, in bytes; the rest is read and dropped.
pub const KEPT: usize = 256 << 10;
/// How many run at once.
const AT_ONCE: usize = 64;
/// How long a stream may stay open after its program ended, held by a child in the background.
const GRACE: Duration = Duration::from_millis(150);
/// The limit of a command unless the rule says otherwise.
pub const DEFAULT_LIMIT: Duration = Duration::from_secs(60);

/// One command to run.
#[derive(Debug, Clone)]
pub struct Job {
    /// For `sh -c`.
    pub script: String,
    /// What it has of our own environment; None = all.
    pub environment: Option<Vec<(OsString, OsString)>>,
    /// Set in its environment.
    pub variables: Vec<(String, String)>,
    /// Where it runs.
    pub dir: PathBuf,
    /// Its standard input, shared by all that get the same.
    pub stdin: Arc<[u8]>,
    /// Killed after this time.
    pub limit: Duration,
    /// The file that holds its standard input, of one that is only started: nobody waits for it, hears it or ends it.
    pub background: Option<PathBuf>,
}

impl Job {
    /// The script with the values of its placeholders, as somebody would type it.
    pub fn describe_command(&self) -> String {
        let mut text = self.script.clone();
        // Those with more digits first: none begins with another's name.
        for (name, value) in self.variables.iter().rev() {
            if !name.starts_with("HOOKCTL_") {
                continue;
            }
            text = text.replace(&format!("\"${name}\""), &quote_word(value));
            text = text.replace(&format!("${{{name}}}"), value);
        }
        text
    }
}

/// How a command ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum CommandEnd {
    /// With this exit status.
    Exit(i32),
    /// By a signal.
    Signal,
    /// Killed at its limit, in milliseconds.
    Timeout(u64),
    /// Killed because the event's time was up.
    Deadline,
    /// It could not be started.
    Failed(String),
}

/// What came of a command.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// How it ended.
    pub end: CommandEnd,
    /// What it printed, bounded.
    pub stdout: String,
    /// What it printed on its standard error, bounded.
    pub stderr: String,
    /// How long it took, in milliseconds.
    pub ms: u64,
}

impl Outcome {
    /// Exit status 0?
    pub fn is_success(&self) -> bool {
        self.end == CommandEnd::Exit(0)
    }

    /// Could the command not answer at all: not started, not found, killed?
    pub fn is_error(&self) -> bool {
        !matches!(self.end, CommandEnd::Exit(status) if status != 126 && status != 127)
    }

    /// Both streams for people, without blank ends.
    pub fn combined_output(&self) -> String {
        [self.stdout.trim_end(), self.stderr.trim_end()]
            .into_iter()
            .filter(|text| !text.is_empty())
            .collect::<Vec<_>>()
            .join("\n")
    }

    /// How it ended, for people.
    pub fn describe_end(&self) -> String {
        match &self.end {
            CommandEnd::Exit(126) => "exit status 126: the program cannot be run".into(),
            CommandEnd::Exit(127) => "exit status 127: there is no such program".into(),
            CommandEnd::Exit(status) => format!("exit status {status}"),
            CommandEnd::Signal => "killed by a signal".into(),
            CommandEnd::Timeout(limit) if limit % 1000 == 0 => {
                format!("killed after its limit of {} s", limit / 1000)
            }
            CommandEnd::Timeout(limit) => format!("killed after its limit of {limit} ms"),
            CommandEnd::Deadline => "killed because the event's time was up".into(),
            CommandEnd::Failed(why) => format!("could not be started: {why}"),
        }
    }
}

/// Runs them at once, 64 of them at most, and waits for every one, never past the deadline.
pub fn run_all(jobs: Vec<Job>, deadline: Instant) -> Vec<Outcome> {
    let outcomes: Vec<OnceLock<Outcome>> = jobs.iter().map(|_| OnceLock::new()).collect();
    let next = AtomicUsize::new(0);
    let work = || {
        while let Some((job, outcome)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            jobs.get(at).zip(outcomes.get(at))
        } {
            let _ = outcome.set(run_job(job, deadline));
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.len().min(AT_ONCE) {
            // Where no thread is to be had, those that there are do all of it.
            if threads::thread_builder().spawn_scoped(scope, work).is_err() {
                break;
            }
        }
        work();
    });
    let lost = || failed_outcome(Instant::now(), "its thread ended");
    outcomes.into_iter().map(|outcome| outcome.into_inner().unwrap_or_else(lost)).collect()
}

fn failed_outcome(start: Instant, why: &str) -> Outcome {
    Outcome {
        end: CommandEnd::Failed(why.to_string()),
        stdout: String::new(),
        stderr: String::new(),
        ms: start.elapsed().as_millis() as u64,
    }
}

fn run_job(job: &Job, deadline: Instant) -> Outcome {
    let start = Instant::now();
    let limit = start + job.limit;
    let (end_by, late) = match limit < deadline {
        true => (limit, CommandEnd::Timeout(job.limit.as_millis() as u64)),
        false => (deadline, CommandEnd::Deadline),
    };
    if start >= deadline {
        return failed_outcome(start, "there is no time left");
    }
    if let Some(input) = &job.background {
        return start_in_background(job, input)
            .unwrap_or_else(|error| failed_outcome(start, &error.to_string()));
    }
    let mut command = shell_command(job);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => return failed_outcome(start, &error.to_string()),
    };
    let streams = match serve_streams(&mut child, &job.stdin) {
        Ok(streams) => streams,
        Err(error) => {
            kill_child(&mut child);
            return failed_outcome(start, &error.to_string());
        }
    };
    let end = wait_for_child(&mut child, end_by).unwrap_or(late);
    let read_by = (Instant::now() + GRACE).min(deadline);
    let [stdout, stderr] = streams.map(|stream| drain_stream(&stream, read_by));
    Outcome { end, stdout, stderr, ms: start.elapsed().as_millis() as u64 }
}

/// The job's shell, whose streams are not set yet.
fn shell_command(job: &Job) -> Command {
    let mut command = Command::new(if cfg!(unix) { "/bin/sh" } else { "sh" });
    if let Some(environment) = &job.environment {
        command.env_clear().envs(environment.iter().map(|(name, value)| (name, value)));
    }
    command
        .arg("-c")
        .arg(&job.script)
        .current_dir(&job.dir)
        .envs(job.variables.iter().map(|(name, value)| (name, value)));
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // A group of its own, so that it can be killed with its children, or live on without us.
        command.process_group(0);
    }
    command
}

/// A shell that runs the script of its first argument, and kills its whole group once so many seconds (its second) are
/// over: nobody else is there to do so.
const LIMITED: &str = "(trap 'kill $s; exit' TERM; sleep \"$2\" & s=$!; wait $s; kill -9 0) & w=$!; \
                       /bin/sh -c \"$1\"; kill $w";

/// Starts the job and leaves it alone: to us it has ended well and printed nothing.
///
/// # Errors
/// It cannot be started.
fn start_in_background(job: &Job, input: &Path) -> io::Result<Outcome> {
    let (input, _) = files::open(input, files::LARGE).map_err(io::Error::from)?;
    let seconds = job.limit.as_secs().max(1).to_string();
    let limited = Job { script: LIMITED.into(), ..job.clone() };
    let mut command = shell_command(&limited);
    command.args(["sh", &job.script, &seconds]);
    command.stdin(input).stdout(Stdio::null()).stderr(Stdio::null()).spawn()?;
    let nothing = String::new;
    Ok(Outcome { end: CommandEnd::Exit(0), stdout: nothing(), stderr: nothing(), ms: 0 })
}

/// Writes its input and reads its two streams in the background: a program that does not read, or never
/// closes what it writes to, must not hold us up.
///
/// # Errors
/// No thread is to be had.
fn serve_streams(child: &mut Child, input: &Arc<[u8]>) -> io::Result<[Receiver<Vec<u8>>; 2]> {
    if let Some(mut stdin) = child.stdin.take() {
        let input = Arc::clone(input);
        threads::thread_builder().spawn(move || {
            let _ = stdin.write_all(&input);
        })?;
    }
    Ok([collect_stream(child.stdout.take())?, collect_stream(child.stderr.take())?])
}

/// A relative program is meant from the directory of the file that names it.
pub fn with_base(script: &str, base: &Path) -> String {
    let word_len = script.find(char::is_whitespace).unwrap_or(script.len());
    let word = &script[..word_len];
    let plain = word.bytes().all(|b| b.is_ascii_alphanumeric() || b"./_-+".contains(&b));
    if plain && word.contains('/') && !word.starts_with('/') {
        // In the shell's spelling, and so in that of who asks what it runs.
        let base = base.to_string_lossy();
        let base = files::portable_text(&base);
        let path = format!("{}/{}", base.trim_end_matches('/'), word.trim_start_matches("./"));
        return format!("{}{}", quote_for_shell(&path), &script[word_len..]);
    }
    script.to_string()
}

/// How the child ended; none where it had to be killed.
fn wait_for_child(child: &mut Child, end_by: Instant) -> Option<CommandEnd> {
    let mut pause = Duration::from_micros(200);
    loop {
        match child.try_wait() {
            Ok(Some(status)) => {
                return Some(status.code().map_or(CommandEnd::Signal, CommandEnd::Exit));
            }
            Err(error) => return Some(CommandEnd::Failed(error.to_string())),
            Ok(None) if Instant::now() >= end_by => {
                kill_child(child);
                return None;
            }
            Ok(None) => {
                thread::sleep(pause.min(end_by.saturating_duration_since(Instant::now())));
                pause = (pause * 2).min(Duration::from_millis(5));
            }
        }
    }
}

fn kill_child(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = rustix::process::Pid::from_raw(child.id() as i32) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Reads a stream to its end in the background and hands on the first part of it.
fn collect_stream(stream: Option<impl Read + Send + 'static>) -> io::Result<Receiver<Vec<u8>>> {
    let (sender, receiver) = threads::channel();
    threads::thread_builder().spawn(move || {
        let Some(mut stream) = stream else { return };
        let mut chunk = vec![0; 16 << 10];
        let mut kept = 0;
        while let Ok(len @ 1..) = stream.read(&mut chunk) {
            let keep = len.min(KEPT - kept);
            kept += keep;
            if keep > 0 && !sender.send(chunk[..keep].to_vec()) {
                break;
            }
        }
    })?;
    Ok(receiver)
}

fn drain_stream(stream: &Receiver<Vec<u8>>, read_by: Instant) -> String {
    let mut bytes = Vec::new();
    while let Ok(chunk) = stream.recv_timeout(read_by.saturating_duration_since(Instant::now())) {
        bytes.extend(chunk);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn test_job(script: &str, limit_ms: u64) -> Job {
        Job {
            script: script.into(),
            environment: None,
            variables: vec![("X".into(), "a b".into())],
            dir: std::env::temp_dir(),
            stdin: Arc::from(&b"hello"[..]),
            limit: Duration::from_millis(limit_ms),
            background: None,
        }
    }

    fn far_deadline() -> Instant {
        Instant::now() + Duration::from_secs(30)
    }

    #[test]
    fn output_status_and_variables() {
        let out =
            run_job(&test_job("cat; printf \"$X\"; echo e >&2; exit 3", 5000), far_deadline());
        assert_eq!(
            (out.end, out.stdout.as_str(), out.stderr.as_str()),
            (CommandEnd::Exit(3), "helloa b", "e\n")
        );
    }

    #[test]
    fn s3_23_a_command_is_killed_at_its_limit_with_its_children() {
        let dir = tempfile::tempdir().unwrap();
        let mark = dir.path().join("mark");
        let script = format!("(sleep 2; touch '{}') & sleep 30", mark.display());
        let start = Instant::now();
        let out = run_job(&test_job(&script, 200), far_deadline());
        assert_eq!(out.end, CommandEnd::Timeout(200));
        assert_eq!(out.describe_end(), "killed after its limit of 200 ms");
        assert!(start.elapsed() < Duration::from_secs(2));
        thread::sleep(Duration::from_millis(2300));
        assert!(!mark.exists(), "the child went on");
    }

    #[test]
    fn s3_24_the_default_limit_is_a_minute() {
        assert_eq!(DEFAULT_LIMIT, Duration::from_secs(60));
    }

    #[test]
    fn s3_26_commands_run_in_parallel() {
        let start = Instant::now();
        let out =
            run_all(vec![test_job("sleep 1", 5000), test_job("sleep 1", 5000)], far_deadline());
        assert!(out.iter().all(Outcome::is_success));
        assert!(start.elapsed() < Duration::from_millis(1500));
    }

    #[test]
    fn output_is_bounded_and_a_background_child_does_not_hold_us() {
        let out = run_job(&test_job("yes | head -c 3000000; sleep 20 &", 5000), far_deadline());
        assert!(out.is_success() && out.stdout.len() == KEPT && out.ms < 3000, "{}", out.ms);
    }
}
