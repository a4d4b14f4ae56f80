//! Threads: with a stack of our own size, for that of the environment (`RUST_MIN_STACK`) is a repository's to set. And
//! what they hand to each other.

use std::collections::VecDeque;
pub use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Builder;
use std::time::Duration;

/// Enough for a TLS handshake, in bytes; what is not touched costs nothing.
const STACK: usize = 2 << 20;

/// What starts a thread. Where none is to be had, that is an error and no panic.
pub fn thread_builder() -> Builder {
    Builder::new().stack_size(STACK)
}

/// A channel. The standard library's brings three kinds of channels for each type that it carries, 4 KB of code.
pub fn channel<T>() -> (Sender<T>, Receiver<T>) {
    let state = State { values: VecDeque::new(), senders: 1, read: true };
    let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
    (Sender(Arc::clone(&shared)), Receiver(shared))
}

#[derive(Debug)]
struct Shared<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    values: VecDeque<T>,
    senders: usize,
    /// Is the receiver still there?
    read: bool,
}

impl<T> Shared<T> {
    fn state(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Where values go in.
#[derive(Debug)]
pub struct Sender<T>(Arc<Shared<T>>);

impl<T> Sender<T> {
    /// Is the receiver still there? Else the value is lost.
    pub fn send(&self, value: T) -> bool {
        let mut state = self.0.state();
        state.values.push_back(value);
        self.0.changed.notify_one();
        state.read
    }
}

impl<T> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        self.0.state().senders += 1;
        Sender(Arc::clone(&self.0))
    }
}

impl<T> Drop for Sender<T> {
    fn drop(&mut self) {
        self.0.state().senders -= 1;
        self.0.changed.notify_one();
    }
}

/// Where values come out.
#[derive(Debug)]
pub struct Receiver<T>(Arc<Shared<T>>);

impl<T> Receiver<T> {
    /// Waits that long for the next value.
    ///
    /// # Errors
    /// The time is up, or nobody is left to send one.
    pub fn recv_timeout(&self, limit: Duration) -> Result<T, RecvTimeoutError> {
        let idle = |state: &mut State<T>| state.values.is_empty() && state.senders > 0;
        let waited = self.0.changed.wait_timeout_while(self.0.state(), limit, idle);
        let (mut state, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let error = match state.senders {
            0 => RecvTimeoutError::Disconnected,
            _ => RecvTimeoutError::Timeout,
        };
        state.values.pop_front().ok_or(error)
    }
}

impl<T> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.0.state().read = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_millis(5);
    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn values_come_in_order_then_the_end() {
        let (sender, receiver) = channel();
        assert_eq!(receiver.recv_timeout(SHORT), Err(RecvTimeoutError::Timeout));
        let other = sender.clone();
        assert!(sender.send(1) && other.send(2));
        drop((sender, other));
        assert_eq!(receiver.recv_timeout(SHORT), Ok(1));
        assert_eq!(receiver.recv_timeout(Duration::ZERO), Ok(2));
        assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
    }

    #[test]
    fn a_receiver_is_woken_by_a_value_and_by_the_last_sender() {
        let (sender, receiver) = channel();
        let thread = thread_builder().spawn(move || {
            std::thread::sleep(SHORT);
            sender.send("came")
        });
        assert_eq!(receiver.recv_timeout(LONG), Ok("came"));
        assert_eq!(receiver.recv_timeout(LONG), Err(RecvTimeoutError::Disconnected));
        assert!(thread.expect("a thread").join().is_ok());
    }

    #[test]
    fn a_sender_learns_that_nobody_listens() {
        let (sender, receiver) = channel();
        drop(receiver);
        assert!(!sender.send(1));
    }
}
