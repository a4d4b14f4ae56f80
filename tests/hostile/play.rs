//! Playing scenes: what the process is fed, what came of it, and whether that is lawful.

use std::fs;
use std::io::{Read, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::ExitStatusExt as _;
use std::process::{Child, ExitStatus};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::scene::{Expect, In, Late, Out, Row, Scene, Skip, TIMEOUT};

/// How much later a loaded machine may let the test see the end.
const GRACE: Duration = Duration::from_secs(4);

/// A process that is still there is a hang.
const KILLED: Duration = Duration::from_secs(10);

/// What a process may take, whatever it reads.
const MEMORY: u64 = 256 << 10;

/// What came of a process.
#[derive(Debug)]
struct Outcome {
    status: Option<ExitStatus>,
    stdout: Vec<u8>,
    stderr: Vec<u8>,
    elapsed: Duration,
    /// The most memory it had, in kilobytes.
    memory: u64,
}

fn play(scene: &mut Scene) -> Result<Outcome, Skip> {
    let (mut command, held) = scene.command()?;
    let spawned = command.spawn();
    drop(command);
    let mut child = spawned.map_err(|error| Skip(format!("cannot be started: {error}")))?;
    let start = Instant::now();
    if !scene.late.is_empty() {
        wait_for_stdin(&child);
    }
    for late in &scene.late {
        late.act(child.id());
    }
    if scene.lose_cwd {
        let _ = fs::remove_dir_all(&scene.cwd);
    }
    let over = Arc::new(AtomicBool::new(false));
    feed(&mut child, std::mem::replace(&mut scene.stdin, In::Bytes(Vec::new())), over.clone());
    let stdout = collect(child.stdout.take());
    let stderr = collect(child.stderr.take());
    let (status, memory) = wait(&mut child, start);
    let elapsed = start.elapsed();
    over.store(true, Ordering::Relaxed);
    // SAFETY: the process's own group, which it was the first of.
    unsafe { libc::kill(-(child.id() as i32), libc::SIGKILL) };
    let _ = child.wait();
    let outcome = Outcome { status, stdout: stdout(), stderr: stderr(), elapsed, memory };
    drop(held);
    Ok(outcome)
}

/// Until the process has been loaded and waits for its event.
fn wait_for_stdin(child: &Child) {
    let start = Instant::now();
    let mut seen = 0;
    while seen < 3 && start.elapsed() < Duration::from_secs(2) {
        let stat = fs::read_to_string(format!("/proc/{}/stat", child.id())).unwrap_or_default();
        let waits = stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('S'));
        seen = if waits { seen + 1 } else { 0 };
        std::thread::sleep(Duration::from_millis(15));
    }
}

impl Late {
    fn act(self, id: u32) {
        let (which, to) = match self {
            Late::Limit(which, to) => (which, to),
            Late::Memory(more) => {
                let pages = fs::read_to_string(format!("/proc/{id}/statm")).unwrap_or_default();
                let pages = pages.split(' ').next().and_then(|p| p.parse::<u64>().ok());
                (libc::RLIMIT_AS, pages.unwrap_or(0) * 4096 + more)
            }
        };
        let limit = libc::rlimit { rlim_cur: to, rlim_max: to };
        // SAFETY: a process of ours, and a limit that lives here.
        unsafe { libc::prlimit(id as i32, which, &limit, std::ptr::null_mut()) };
    }
}

fn feed(child: &mut Child, stdin: In, over: Arc<AtomicBool>) {
    let Some(mut pipe) = child.stdin.take() else { return };
    std::thread::spawn(move || {
        let open = |over: &AtomicBool| {
            while !over.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(10));
            }
        };
        match stdin {
            In::Bytes(bytes) => {
                let _ = pipe.write_all(&bytes);
            }
            In::Open(bytes) => {
                let _ = pipe.write_all(&bytes);
                open(&over);
            }
            In::Pieces(pieces, pause) => {
                for piece in pieces {
                    if over.load(Ordering::Relaxed) || pipe.write_all(&piece).is_err() {
                        break;
                    }
                    std::thread::sleep(pause);
                }
            }
            In::Endless(bytes, byte) => {
                let more = vec![byte; 64 << 10];
                let mut sent = pipe.write_all(&bytes);
                while sent.is_ok() && !over.load(Ordering::Relaxed) {
                    sent = pipe.write_all(&more);
                }
            }
            In::File(_) | In::WriteOnly => {}
        }
    });
}

/// Reads a stream in the background; what is called afterwards gives what has come. A process in the
/// background that holds the stream holds nobody up.
fn collect<R: Read + Send + 'static>(stream: Option<R>) -> impl FnOnce() -> Vec<u8> {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let into = kept.clone();
    let reader = stream.map(|mut stream| {
        std::thread::spawn(move || {
            let mut room = [0; 8192];
            while let Ok(count @ 1..) = stream.read(&mut room) {
                let mut kept = into.lock().unwrap();
                if kept.len() < 32 << 20 {
                    kept.extend_from_slice(&room[..count]);
                }
            }
        })
    });
    move || {
        let start = Instant::now();
        while reader.as_ref().is_some_and(|r| !r.is_finished())
            && start.elapsed() < Duration::from_millis(500)
        {
            std::thread::sleep(Duration::from_millis(2));
        }
        std::mem::take(&mut *kept.lock().unwrap())
    }
}

/// The status, unless it had to be killed, and the most memory that was seen.
fn wait(child: &mut Child, start: Instant) -> (Option<ExitStatus>, u64) {
    let mut memory = 0;
    let path = format!("/proc/{}/status", child.id());
    let mut pause = Duration::from_millis(1);
    loop {
        let text = fs::read_to_string(&path).unwrap_or_default();
        let most = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let most = most.and_then(|l| l.trim().trim_end_matches(" kB").parse().ok());
        memory = memory.max(most.unwrap_or(0));
        if let Ok(Some(status)) = child.try_wait() {
            return (Some(status), memory);
        }
        if start.elapsed() > KILLED {
            let _ = child.kill();
            return (None, memory);
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// The laws of every answer, and what this row expects beyond them.
fn judge(expect: Expect, answered: bool, outcome: &Outcome) -> Result<(), String> {
    let Some(status) = outcome.status else { return Err("hang: killed after 10 s".into()) };
    let stderr = String::from_utf8_lossy(&outcome.stderr);
    let tail: String = stderr.chars().take(200).collect();
    if let Some(signal) = status.signal() {
        return Err(format!("ended by signal {signal}; stderr: {tail}"));
    }
    let code = status.code().unwrap_or(-1);
    if !matches!(code, 0 | 2) {
        return Err(format!("exit status {code}; stderr: {tail}"));
    }
    if outcome.elapsed > Duration::from_secs(TIMEOUT) + GRACE {
        return Err(format!("late: {:.1} s", outcome.elapsed.as_secs_f32()));
    }
    if outcome.memory > MEMORY {
        return Err(format!("{} MB of memory", outcome.memory >> 10));
    }
    let text = String::from_utf8(outcome.stdout.clone()).map_err(|e| e.to_string())?;
    let answer: Value = match text.trim() {
        "" => Value::Null,
        text => serde_json::from_str(text).map_err(|error| {
            let head: String = text.chars().take(100).collect();
            format!("stdout is no JSON: {error}: {head}")
        })?,
    };
    if !answer.is_null() && !answer.is_object() {
        return Err(format!("stdout is no object: {text}"));
    }
    let said = answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str);
    let found = match (code, said) {
        (2, _) => "exit status 2",
        (_, Some(said)) => said,
        _ => "silence",
    };
    let holds = match expect {
        Expect::Deny => code == 2 || said == Some("deny"),
        Expect::Strict => code == 2 || matches!(said, Some("deny" | "ask")),
        Expect::Status2 => code == 2,
        Expect::NotAllowed => said != Some("allow"),
        Expect::Passed => code == 0 && !matches!(said, Some("deny" | "ask")),
        Expect::Lawful => true,
    };
    // An answer that nobody can read is none.
    let holds = holds && (answered || expect != Expect::Deny || code == 2);
    match holds {
        true => Ok(()),
        false => Err(format!("{found}, expected {expect:?}; stderr: {tail}")),
    }
}

fn one(row: &Row) -> Result<Result<(), String>, Skip> {
    let mut scene = Scene::new();
    (row.set)(&mut scene)?;
    let answered = matches!(scene.stdout, Out::Read);
    let outcome = play(&mut scene)?;
    // What nobody may search could not be removed.
    let _ = fs::set_permissions(scene.dir.path(), fs::Permissions::from_mode(0o755));
    Ok(judge(row.expect, answered, &outcome))
}

/// Plays all rows, a few at a time, and names each that does not hold.
pub fn run(rows: Vec<Row>) {
    // A build that counts what it runs is larger than the limits here, and writes files as it ends.
    if std::env::var_os("LLVM_PROFILE_FILE").is_some() {
        eprintln!("SKIPPED: {} rows, under a build that measures coverage", rows.len());
        return;
    }
    let wanted = std::env::var("ROWS").unwrap_or_default();
    let rows: Vec<Row> = rows.into_iter().filter(|row| row.name.contains(&wanted)).collect();
    let next = AtomicUsize::new(0);
    let wrong = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    match one(row) {
                        Ok(Ok(())) => {}
                        Ok(Err(_)) => wrong.lock().unwrap().push(row),
                        Err(Skip(why)) => eprintln!("SKIPPED {}: {why}", row.name),
                    }
                }
            });
        }
    });
    // Once more, alone: others on the machine can make one late, and one that was looked at between fork
    // and exec has this process's memory.
    let again = wrong.into_inner().unwrap();
    let again = again.into_iter().filter_map(|row: &Row| {
        let why = one(row).ok()?.err()?;
        Some(format!("{}: {why}", row.name))
    });
    let mut wrong: Vec<String> = again.collect();
    wrong.sort();
    assert!(wrong.is_empty(), "{} of {} rows:\n{}", wrong.len(), rows.len(), wrong.join("\n"));
}
