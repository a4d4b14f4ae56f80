//! Reading stdin on Unix: the system says when there is something.

use std::io;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// With less room than that, in bytes, a read is not worth its call: the buffer grows.
const LEAST: usize = 512;

/// The standard input.
pub(super) struct Stdin;

impl Stdin {
    pub(super) fn open() -> Stdin {
        Stdin
    }

    /// Waits until there is something to read. A stdin that stays open must not hold the agent up.
    pub(super) fn wait_readable(&mut self, limit: Duration) -> bool {
        let timeout =
            Timespec { tv_sec: limit.as_secs() as i64, tv_nsec: limit.subsec_nanos().into() };
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

    /// Appends what one read gives, at least `room` bytes of it if they are there.
    pub(super) fn read_some(&mut self, target: &mut Vec<u8>, room: usize) -> io::Result<usize> {
        if target.capacity() - target.len() < LEAST {
            target.reserve(room);
        }
        Ok(rustix::io::read(io::stdin(), rustix::buffer::spare_capacity(target))?)
    }
}
