//! Threads: with a stack of our own size, for that of the environment (`RUST_MIN_STACK`) is a repository's to set.

use std::thread::Builder;

/// Enough for a TLS handshake, in bytes; what is not touched costs nothing.
const STACK: usize = 2 << 20;

/// What starts a thread. Where none is to be had, that is an error and no panic.
pub fn thread_builder() -> Builder {
    Builder::new().stack_size(STACK)
}
