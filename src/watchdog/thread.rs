//! The watchdog where there are no signals: a thread that looks at the time. A crash is not seen.

#![allow(unsafe_code)]

use std::io::{self, Write as _};
use std::sync::Mutex;
use std::thread;
use std::time::{Duration, Instant};

/// When it speaks.
static END: Mutex<Option<Instant>> = Mutex::new(None);
/// How often it looks.
const PULSE: Duration = Duration::from_millis(20);

pub(super) fn start_watching() {
    #[cfg(windows)]
    keep_streams();
    let _ = crate::threads::thread_builder().spawn(|| {
        loop {
            thread::sleep(PULSE);
            let end = END.lock().map_or(None, |end| *end);
            if end.is_some_and(|end| Instant::now() >= end) {
                let status = super::last_word("its time is up.");
                std::process::exit(status.into());
            }
        }
    });
}

/// Whatever is started from here on has none of the agent's pipes: Windows hands on every handle that may be
/// inherited, named or not, and an agent waits until the last process has closed its end.
#[cfg(windows)]
fn keep_streams() {
    use std::ffi::c_void;
    use std::os::windows::io::AsRawHandle as _;
    /// `HANDLE_FLAG_INHERIT`
    const INHERIT: u32 = 1;
    unsafe extern "system" {
        fn SetHandleInformation(handle: *mut c_void, mask: u32, flags: u32) -> i32;
    }
    let streams =
        [io::stdin().as_raw_handle(), io::stdout().as_raw_handle(), io::stderr().as_raw_handle()];
    for stream in streams {
        // SAFETY: a system call on a handle of this process; one that is none is refused.
        unsafe { SetHandleInformation(stream, INHERIT, 0) };
    }
}

pub(super) fn set_clock(left: Duration) {
    if let Ok(mut end) = END.lock() {
        *end = Some(Instant::now() + left);
    }
}

/// Nothing here tells the processor's time: the clock's limits hold.
pub(super) fn set_processor_timer(_: Duration) {}

/// Writes all of it to stdout: false where it cannot be written.
pub(super) fn write_stdout(parts: &[&str]) -> bool {
    let mut out = io::stdout().lock();
    parts.iter().all(|part| out.write_all(part.as_bytes()).is_ok()) && out.flush().is_ok()
}

/// Writes it to stderr.
pub(super) fn write_stderr(parts: &[&str]) {
    let mut out = io::stderr().lock();
    let _ = parts.iter().all(|part| out.write_all(part.as_bytes()).is_ok());
}

/// As [`write_stdout`]: nothing else writes there before an answer is claimed.
pub(super) fn write_at_once(parts: &[&str]) -> bool {
    write_stdout(parts)
}
