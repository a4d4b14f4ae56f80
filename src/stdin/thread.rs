//! Reading stdin where the system does not say when there is something: a thread waits in its stead.

use std::io::{self, Read as _};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// How much one read asks for, in bytes.
const PIECE: usize = 64 << 10;

/// The standard input.
pub(super) struct Stdin {
    pieces: Option<Receiver<io::Result<Vec<u8>>>>,
    /// What came and was not taken yet; none = the thread has ended, or never was.
    next: Option<io::Result<Vec<u8>>>,
}

impl Stdin {
    /// The thread ends with its stream, or with the process.
    pub(super) fn open() -> Stdin {
        let (sender, pieces) = mpsc::channel();
        let read = move || {
            let mut stdin = io::stdin().lock();
            loop {
                let mut piece = vec![0; PIECE];
                let came = stdin.read(&mut piece).map(|length| {
                    piece.truncate(length);
                    piece
                });
                let is_last = came
                    .as_ref()
                    .map_or_else(|error| error.kind() != io::ErrorKind::Interrupted, Vec::is_empty);
                if sender.send(came).is_err() || is_last {
                    return;
                }
            }
        };
        match thread::Builder::new().spawn(read) {
            Ok(_) => Stdin { pieces: Some(pieces), next: None },
            Err(error) => Stdin { pieces: None, next: Some(Err(error)) },
        }
    }

    /// Waits until there is something to read. A stdin that stays open must not hold the agent up.
    pub(super) fn wait_readable(&mut self, limit: Duration) -> bool {
        if let (None, Some(pieces)) = (&self.next, &self.pieces) {
            self.next = pieces.recv_timeout(limit).ok();
        }
        self.next.is_some()
    }

    /// Appends what one read gave.
    pub(super) fn read_some(&mut self, target: &mut Vec<u8>, _: usize) -> io::Result<usize> {
        let piece = self.next.take().unwrap_or_else(|| Ok(Vec::new()))?;
        target.extend_from_slice(&piece);
        Ok(piece.len())
    }
}
