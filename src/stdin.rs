//! What an agent writes to a hook's stdin: read in time, whatever the agent does.

use std::io;
use std::time::{Duration, Instant};

#[cfg(unix)]
#[path = "stdin/poll.rs"]
mod platform;
#[cfg(not(unix))]
#[path = "stdin/thread.rs"]
mod platform;

/// An agent that says nothing more for this long has said everything.
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
    let mut stdin = platform::Stdin::open();
    loop {
        if !stdin.wait_readable(deadline.saturating_duration_since(Instant::now()).min(IDLE)) {
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
        match stdin.read_some(target, room) {
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
