//! The sender: takes what waits in the spools to its servers, in a process of its own that no agent
//! waits for.
//!
//! A message is taken away when it was delivered, or when the server says that it will never take
//! it. Whatever else fails may pass: the message and all behind it stay, and the breaker opens.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Map;

use super::breaker::{Breaker, BreakerState};
use super::bridge::Flags;
use super::spool::{Message, Spool};
use super::told::bare_event;
use super::transport::{Failure, ServerCall, ServerResponse};
use super::{bridge, first_address, read_reply};
use crate::agent;
use crate::config::Config;
use crate::dialect::Request;
use crate::dialect::bridge::known_agent;
use crate::event::Event;
use crate::journal;
use crate::paths::Paths;
use crate::rule::Layer;
use crate::rule::file::{JournalConfig, Remote};

/// How long a human's sender waits for one that is at work already.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long it may take to tell what is of use only at once.
const LIVE: Duration = Duration::from_secs(2);
/// When that is of no use any more.
const STALE: Duration = Duration::from_secs(30);

/// What came of one spool.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct SpoolReport {
    /// The server's name.
    pub remote: String,
    /// How many messages were delivered.
    pub sent: usize,
    /// How many a bridge's files have now in its place.
    pub filed: usize,
    /// What the server will never take, and why: no longer there.
    pub dropped: Vec<String>,
    /// How many files were no messages: set aside.
    pub aside: usize,
    /// How many still wait.
    pub kept: usize,
    /// Why they do.
    pub why: String,
}

/// Starts a sender that outlives this process and has none of its pipes.
///
/// # Errors
/// Why there is none.
pub fn start_sender(paths: &Paths) -> io::Result<()> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["flush", "--quiet", "--config"]).arg(&paths.config);
    command.arg("--state").arg(&paths.state);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    spawn_detached(&mut command)
}

/// It leaves its group itself, in [`detach`].
#[cfg(unix)]
fn spawn_detached(command: &mut Command) -> io::Result<()> {
    command.spawn().map(drop)
}

/// In no console and no group of the agent's, and not in its job, which may end with all that is in it: where the job
/// lets it go.
#[cfg(windows)]
fn spawn_detached(command: &mut Command) -> io::Result<()> {
    use std::os::windows::process::CommandExt as _;
    /// `DETACHED_PROCESS | CREATE_NEW_PROCESS_GROUP`
    const DETACHED: u32 = 0x0000_0208;
    /// `CREATE_BREAKAWAY_FROM_JOB`
    const BREAKAWAY: u32 = 0x0100_0000;
    let mut spawn = |flags| command.creation_flags(flags).spawn().map(drop);
    spawn(DETACHED | BREAKAWAY).or_else(|_| spawn(DETACHED))
}

/// Becomes independent of whoever started this process: what ends its group or its terminal does
/// not end the sender.
pub fn detach() {
    // Where it leads a group already, nobody else's end is meant for it.
    #[cfg(unix)]
    let _ = rustix::process::setsid();
}

/// Sends what waits in these spools, all at the same time. A human is not put off by servers that
/// were down a moment ago.
pub fn flush_spools(paths: &Paths, spools: Vec<Spool>, human: bool) -> Vec<SpoolReport> {
    thread::scope(|scope| {
        let start = |spool| scope.spawn(move || SpoolRun::new(paths, spool, human).send_spool());
        let threads: Vec<_> = spools.into_iter().map(start).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect()
    })
}

/// Takes the message of a bridge's own hook there, or into its file, here and now: it can wait nowhere.
///
/// # Errors
/// Why neither has it.
pub fn deliver_message(message: &Message, flags: &Flags, paths: &Paths) -> Result<bool, String> {
    let remote = Remote { deadline: LIVE, ..flags.to_remote(&message.agent) };
    bridge::deliver_message(
        message,
        &message_request(message, &remote, paths),
        &remote,
        paths,
        false,
    )
}

/// Sends what bridges could not take when it happened, out of their files.
pub fn drain_bridges<'r>(
    bridges: impl Iterator<Item = &'r Remote>,
    paths: &Paths,
    root: &Path,
) -> Vec<SpoolReport> {
    let drained = bridges.map(|remote| {
        let request = |agent: &str| {
            let message = Message { agent: agent.into(), ..Message::default() };
            message_request(&message, remote, paths)
        };
        bridge::drain_files(remote, &paths.home, root, PATIENCE, &request)
    });
    drained.collect()
}

/// One spool on its way.
struct SpoolRun<'a> {
    paths: &'a Paths,
    spool: Spool,
    human: bool,
    /// What is configured, by the project it was read for.
    configs: BTreeMap<String, Config>,
    /// The server's breaker was looked at.
    looked: bool,
    /// One attempt, to see whether the server is there again.
    probe: bool,
    report: SpoolReport,
}

impl<'a> SpoolRun<'a> {
    fn new(paths: &'a Paths, spool: Spool, human: bool) -> SpoolRun<'a> {
        let report = SpoolReport { remote: spool.remote_name(), ..SpoolReport::default() };
        let configs = BTreeMap::new();
        SpoolRun { paths, spool, human, configs, looked: false, probe: false, report }
    }

    fn send_spool(mut self) -> SpoolReport {
        // Who adds a message while the lock is held starts no sender. So after it was given back
        // there is another look: either that finds the message, or its hook finds the lock free.
        while !self.spool.waiting_messages().is_empty() {
            let patience = if self.human { PATIENCE } else { Duration::ZERO };
            match self.spool.lock(patience) {
                Ok(Some(_lock)) => {
                    if let Err(why) = self.drain_spool() {
                        self.report.why = why;
                        break;
                    }
                }
                Ok(None) => {
                    self.report.why = "another sender is at work".into();
                    break;
                }
                Err(error) => {
                    self.report.why = format!("{}: {error}", self.spool.dir().display());
                    break;
                }
            }
        }
        // What came in this moment has a sender of its own.
        if !self.report.why.is_empty() {
            self.report.kept = self.spool.waiting_messages().len();
        }
        self.report
    }

    /// Sends until nothing is left, or the reason why the rest stays.
    fn drain_spool(&mut self) -> Result<(), String> {
        loop {
            let waiting = self.spool.waiting_messages();
            if waiting.is_empty() {
                return Ok(());
            }
            for path in waiting {
                match Spool::read_message(&path) {
                    Ok(Some(message)) => {
                        self.send_message(&message)?;
                        remove_message(&path)?;
                    }
                    // An event made room meanwhile.
                    Ok(None) => {}
                    Err(why) => {
                        let failed = |error| format!("{}: {why}; {error}", path.display());
                        Spool::set_aside(&path).map_err(failed)?;
                        self.report.aside += 1;
                    }
                }
            }
        }
    }

    /// Ok = it is done with: delivered, or dropped.
    fn send_message(&mut self, message: &Message) -> Result<(), String> {
        let (remote, journal) = self.remote(message)?;
        let request = message_request(message, &remote, self.paths);
        let note = |notes: &str, one: Option<journal::RemoteRecord>| {
            let line = journal::Line {
                event: message.event.clone(),
                decision: "failed".into(),
                remotes: one.into_iter().collect(),
                notes: vec![format!("message {} to {}: {notes}", message.id, remote.name)],
                ..journal::Line::new("hookctl")
            };
            journal::append(&self.paths.journal(), &journal, line);
        };
        if remote.dialect.facts().keeps_files {
            let came = bridge::deliver_message(message, &request, &remote, self.paths, self.human);
            let sent = came.inspect_err(|why| note(why, None))?;
            self.report.sent += usize::from(sent);
            self.report.filed += usize::from(!sent);
            return Ok(());
        }
        let breaker = Breaker::for_messages(&self.paths.state, &remote);
        if !self.looked && !self.human {
            match breaker.check_state() {
                BreakerState::Closed => {}
                BreakerState::Probe => self.probe = true,
                BreakerState::Open(why) => return Err(format!("it has been down: {why}")),
            }
        }
        self.looked = true;
        let start = Instant::now();
        let (mut attempts, mut endpoint) = (0, first_address(&remote, request.event.kind, true));
        let outcome = self.tell(message, &request, &remote, &mut attempts, &mut endpoint);
        let note = |outcome: &str, cause: &str| {
            let one = journal::RemoteRecord {
                name: remote.name.clone(),
                endpoint: endpoint.clone(),
                attempts,
                ms: start.elapsed().as_millis() as u64,
                outcome: outcome.into(),
                cause: cause.into(),
                ..journal::RemoteRecord::default()
            };
            note(cause, Some(one));
        };
        let live = remote.dialect.facts().is_live;
        match outcome {
            Ok(answer) => {
                if self.report.sent == 0 {
                    breaker.close();
                }
                self.probe = false;
                self.report.sent += 1;
                // Whatever it says, it has it.
                if !remote.dialect.facts().decides
                    && let Ok(reply) = read_reply(&remote, &request, &answer.body)
                {
                    reply.notes.iter().for_each(|said| note("answered", said));
                }
                Ok(())
            }
            Err(failure) if failure.refused || live => {
                if failure.down && !failure.refused {
                    breaker.open(&failure.cause);
                }
                note("dropped", &failure.cause);
                self.report.dropped.push(failure.cause);
                Ok(())
            }
            Err(failure) => {
                breaker.open(&failure.cause);
                Err(failure.cause)
            }
        }
    }

    /// The server of a message as its files say it today, and the settings of the journal there.
    fn remote(&mut self, message: &Message) -> Result<(Remote, JournalConfig), String> {
        let config = self
            .configs
            .entry(message.root.clone())
            .or_insert_with(|| Config::load(self.paths, Path::new(&message.root), None));
        // Neither a server of somebody else's with the same name, nor one that is to get less now.
        let meant = |(layer, remote): &(Layer, &Remote)| {
            remote.name == message.remote
                && layer.is_project() == message.project
                && remote.send as u8 <= message.send
        };
        let own = message.bridge.as_ref().map(|flags| flags.to_remote(&message.agent));
        let named = || config.remotes().find(meant).map(|(_, remote)| remote.clone());
        let Some(remote) = own.or_else(named) else {
            let (name, dir) = (&message.remote, self.spool.dir().display());
            let gone = || format!("there is no [remote.{name}]; to give them up, delete {dir}");
            return Err(config.broken.first().map_or_else(gone, |(_, why)| why.clone()));
        };
        Ok((remote, config.journal.clone()))
    }

    /// Takes it to a server that is told: what that says.
    fn tell(
        &self,
        message: &Message,
        request: &Request,
        remote: &Remote,
        attempts: &mut u32,
        endpoint: &mut String,
    ) -> Result<ServerResponse, Failure> {
        let live = remote.dialect.facts().is_live;
        let age = Duration::from_millis(super::breaker::unix_milliseconds().abs_diff(message.time));
        if live && age > STALE {
            return Err(Failure::new("it is too old by now", false, false));
        }
        let limit = if live { Instant::now() + LIVE } else { request.deadline };
        let retries = if self.probe || live { 0 } else { remote.retries };
        let told = Some(message.body.as_bytes());
        ServerCall { request, remote, retries, limit, told }.try_addresses(attempts, endpoint)
    }
}

/// What was sent and cannot be taken away would be sent again and again.
fn remove_message(path: &Path) -> Result<(), String> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(format!("{}: {error}", path.display()))
        }
        _ => Ok(()),
    }
}

/// The request of an event that is long over: what is left of it is its message.
fn message_request(message: &Message, remote: &Remote, paths: &Paths) -> Request {
    let whose = agent::by_id(&message.agent).unwrap_or(agent::default_agent()).id();
    let event =
        bare_event(known_agent(&message.agent).unwrap_or(whose), &message.event, Map::new());
    let event = Event { cwd: message.root.clone(), ..event };
    let deadline = Instant::now() + remote.deadline;
    let request = Request::new(event, Vec::new(), deadline, paths);
    Request { id: message.id.clone(), timestamp: message.time, ..request }
}
