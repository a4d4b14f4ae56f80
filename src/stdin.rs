//! What an agent writes to a hook's stdin: read in time, whatever the agent does.

use std::io;
#[cfg(unix)]
use std::time::Duration;
use std::time::Instant;

/// An agent that says nothing more for this long has said everything.
#[cfg(unix)]
const IDLE: Duration = Duration::from_secs(5);

/// What came in on stdin.
#[derive(Debug, Default)]
pub struct Input {
    /// The bytes, so many at most as were asked for.
    pub bytes: Vec<u8>,
    /// There were more.
    pub oversized: bool,
    /// How it ended.
    pub end: InputEnd,
}

/// How stdin ended.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub enum InputEnd {
    /// Whoever wrote to it closed it.
    #[default]
    Closed,
    /// It was still open when its time was up.
    Open,
    /// Reading failed.
    Failed(String),
}

/// Reads stdin to its end, the deadline, or until nothing has come for a while; `largest` bytes of it.
pub fn read(deadline: Instant, largest: usize) -> Input {
    let mut input = Input::default();
    // Past the limit, what comes is read and dropped: the agent's write must not fail.
    let mut dropped = Vec::new();
    loop {
        if !wait_readable(deadline) {
            input.end = InputEnd::Open;
            break;
        }
        let full = input.bytes.len() >= largest;
        let target = if full { &mut dropped } else { &mut input.bytes };
        if full {
            target.clear();
        }
        // Every page that is touched costs two microseconds, so the room grows with the payload.
        let room = if target.len() < 4 << 10 { 4 << 10 } else { 64 << 10 };
        match read_some(target, room) {
            Ok(0) => break,
            Ok(_) => input.oversized |= full,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                input.end = InputEnd::Failed(error.to_string());
                break;
            }
        }
    }
    input.oversized |= input.bytes.len() > largest;
    input.bytes.truncate(largest);
    input
}

/// With less room than that, in bytes, a read is not worth its call: the buffer grows.
#[cfg(unix)]
const LEAST: usize = 512;

/// Appends what one read gives, at least `room` bytes of it if they are there.
#[cfg(unix)]
fn read_some(target: &mut Vec<u8>, room: usize) -> io::Result<usize> {
    if target.capacity() - target.len() < LEAST {
        target.reserve(room);
    }
    Ok(rustix::io::read(io::stdin(), rustix::buffer::spare_capacity(target))?)
}

#[cfg(not(unix))]
fn read_some(target: &mut Vec<u8>, room: usize) -> io::Result<usize> {
    use io::Read as _;
    let start = target.len();
    target.resize(start + room, 0);
    let read = io::stdin().lock().read(&mut target[start..]);
    target.truncate(start + read.as_ref().copied().unwrap_or(0));
    read
}

/// Waits until there is something to read. A stdin that stays open must not hold the agent up.
#[cfg(unix)]
fn wait_readable(deadline: Instant) -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let left = deadline.saturating_duration_since(Instant::now()).min(IDLE);
    let timeout = Timespec { tv_sec: left.as_secs() as i64, tv_nsec: left.subsec_nanos().into() };
    let stdin = io::stdin();
    let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
    loop {
        match poll(&mut fds, Some(&timeout)) {
            Ok(ready) => return ready > 0,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return true,
        }
    }
}

#[cfg(not(unix))]
fn wait_readable(deadline: Instant) -> bool {
    Instant::now() < deadline
}
