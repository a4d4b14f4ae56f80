//! The watchdog on Unix: interval timers and the signals of crashes.
//!
//! A timer signal costs two system calls a process; a thread that waits would cost its stack and some
//! thirty microseconds. Whatever the handlers call is safe in a signal handler: they read atomics, write,
//! poll and leave.

#![allow(unsafe_code)]

use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use libc::{c_int, c_void};

/// The signals that end the process, and what is said of each. Text of JSON: nothing here needs an escape.
const FATAL: &[(c_int, &str)] = &[
    (libc::SIGALRM, "its time is up."),
    (libc::SIGPROF, "it would take too much processor time."),
    (libc::SIGXCPU, "the processor time that this process may have is used up."),
    (libc::SIGSEGV, "an error inside hookctl (SIGSEGV)."),
    (libc::SIGBUS, "an error inside hookctl (SIGBUS)."),
    (libc::SIGILL, "an error inside hookctl (SIGILL)."),
    (libc::SIGFPE, "an error inside hookctl (SIGFPE)."),
    (libc::SIGTRAP, "an error inside hookctl (SIGTRAP)."),
    (libc::SIGSYS, "a system call is forbidden here."),
    (libc::SIGABRT, "there is not enough memory, or an error inside hookctl."),
];

/// How long the watchdog waits for somebody to read.
const PATIENCE_MS: c_int = 20;
/// More than any prepared answer, less than a pipe takes in one piece, in bytes.
const LINE: usize = 1 << 10;
/// Enough for a handler on any processor: what is not touched costs nothing.
const STACK: usize = 64 << 10;

#[repr(align(16))]
struct Stack(std::cell::UnsafeCell<[u8; STACK]>);

// SAFETY: only the kernel writes to it, while a handler of the one thread runs that it is given to.
unsafe impl Sync for Stack {}

static ALTERNATE: Stack = Stack(std::cell::UnsafeCell::new([0; STACK]));

/// Installs the handlers, whatever this process was started with: ignored and blocked signals are
/// handed on to children of an agent.
pub(super) fn start_watching() {
    // SAFETY: plain system calls on initialised structures; the alternate stack is static and used by
    // the main thread only, which is the one that calls this.
    unsafe {
        let stack = libc::stack_t { ss_sp: ALTERNATE.0.get().cast(), ss_flags: 0, ss_size: STACK };
        libc::sigaltstack(&raw const stack, ptr::null_mut());
        let mut all = MaybeUninit::<libc::sigset_t>::zeroed().assume_init();
        libc::sigfillset(&raw mut all);
        let mut ours = MaybeUninit::<libc::sigset_t>::zeroed().assume_init();
        libc::sigemptyset(&raw mut ours);
        let mut action = MaybeUninit::<libc::sigaction>::zeroed().assume_init();
        action.sa_flags = libc::SA_ONSTACK;
        action.sa_mask = all;
        for (signal, _) in FATAL {
            action.sa_sigaction = on_fatal as extern "C" fn(c_int) as usize;
            libc::sigaction(*signal, &raw const action, ptr::null_mut());
            libc::sigaddset(&raw mut ours, *signal);
        }
        // A file that may not grow is a failed write, no reason to end; and a handler, unlike a signal
        // that is ignored, is not handed on to what rules run.
        action.sa_sigaction = on_file_limit as extern "C" fn(c_int) as usize;
        libc::sigaction(libc::SIGXFSZ, &raw const action, ptr::null_mut());
        libc::sigaddset(&raw mut ours, libc::SIGXFSZ);
        // Timers of whoever started us go on through an exec.
        for which in [libc::ITIMER_REAL, libc::ITIMER_VIRTUAL, libc::ITIMER_PROF] {
            set_timer(which, Duration::ZERO);
        }
        libc::pthread_sigmask(libc::SIG_UNBLOCK, &raw const ours, ptr::null_mut());
    }
}

extern "C" fn on_file_limit(_: c_int) {}

extern "C" fn on_fatal(signal: c_int) {
    static ENDING: AtomicBool = AtomicBool::new(false);
    if ENDING.swap(true, Ordering::AcqRel) {
        // Another thread is at it: it ends the process as soon as it has written.
        sleep_for(Duration::from_secs(1));
    }
    let cause = FATAL
        .iter()
        .find(|(known, _)| *known == signal)
        .map_or("an error inside hookctl.", |(_, cause)| cause);
    let status = super::last_word(cause);
    // SAFETY: ends the process; nothing is run any more.
    unsafe { libc::_exit(status.into()) }
}

/// Real time until the watchdog speaks; none = at once.
pub(super) fn set_clock(left: Duration) {
    // Zero would switch the timer off.
    set_timer(libc::ITIMER_REAL, left.max(Duration::from_micros(1)));
}

/// Processor time, of user and system and of all threads, until the watchdog speaks.
pub(super) fn set_processor_timer(left: Duration) {
    set_timer(libc::ITIMER_PROF, left.max(Duration::from_micros(1)));
}

/// Sets a timer; zero switches it off.
fn set_timer(which: c_int, left: Duration) {
    let value = libc::timeval { tv_sec: left.as_secs() as _, tv_usec: left.subsec_micros() as _ };
    let once =
        libc::itimerval { it_interval: libc::timeval { tv_sec: 0, tv_usec: 0 }, it_value: value };
    // SAFETY: a system call on an initialised structure.
    unsafe {
        libc::setitimer(which as _, &raw const once, ptr::null_mut());
    }
}

fn sleep_for(time: Duration) {
    let time = libc::timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos() as _ };
    // SAFETY: a system call on an initialised structure.
    unsafe {
        libc::nanosleep(&raw const time, ptr::null_mut());
    }
}

/// Writes all of it to stdout, however long the reader takes: false where nobody can have read it.
pub(super) fn write_stdout(parts: &[&str]) -> bool {
    !leads_nowhere(libc::STDOUT_FILENO)
        && parts.iter().all(|part| write_all(libc::STDOUT_FILENO, part.as_bytes(), -1))
}

/// Writes it to stderr if somebody reads there soon.
pub(super) fn write_stderr(parts: &[&str]) {
    let _ = parts.iter().all(|part| write_all(libc::STDERR_FILENO, part.as_bytes(), PATIENCE_MS));
}

/// Writes the parts to stdout in one piece if somebody reads there soon: false where it did not leave.
pub(super) fn write_at_once(parts: &[&str]) -> bool {
    let mut line = [0; LINE];
    let mut len = 0;
    for part in parts {
        let Some(room) = line.get_mut(len..len + part.len()) else { return false };
        room.copy_from_slice(part.as_bytes());
        len += part.len();
    }
    !leads_nowhere(libc::STDOUT_FILENO) && write_all(libc::STDOUT_FILENO, &line[..len], PATIENCE_MS)
}

/// Is it the null device? Where a process is started without the descriptor, the runtime opens that in
/// its place, so that what is written there reaches nobody and seems to have been written.
fn leads_nowhere(fd: c_int) -> bool {
    let (mut file, mut null) =
        (MaybeUninit::<libc::stat>::zeroed(), MaybeUninit::<libc::stat>::zeroed());
    // SAFETY: both structures are zeroed, and read only where the call filled them.
    unsafe {
        if libc::fstat(fd, file.as_mut_ptr()) != 0 {
            return true;
        }
        let file = file.assume_init();
        file.st_mode & libc::S_IFMT == libc::S_IFCHR
            && libc::stat(c"/dev/null".as_ptr(), null.as_mut_ptr()) == 0
            && file.st_rdev == null.assume_init().st_rdev
    }
}

/// Writes all of it; `patience` in milliseconds, -1 = for ever (the timers end that).
fn write_all(fd: c_int, mut bytes: &[u8], patience: c_int) -> bool {
    while !bytes.is_empty() {
        let mut one = libc::pollfd { fd, events: libc::POLLOUT, revents: 0 };
        // SAFETY: one initialised entry, and a buffer that is as long as is said.
        let written = unsafe {
            if patience >= 0 && libc::poll(&raw mut one, 1, patience) <= 0 {
                return false;
            }
            // So much never waits once there is room at all.
            let most = if patience >= 0 { libc::PIPE_BUF.min(bytes.len()) } else { bytes.len() };
            libc::write(fd, bytes.as_ptr().cast::<c_void>(), most)
        };
        match usize::try_from(written) {
            Ok(0) => return false,
            Ok(len) => bytes = bytes.get(len..).unwrap_or_default(),
            Err(_) => match std::io::Error::last_os_error().kind() {
                std::io::ErrorKind::Interrupted => {}
                std::io::ErrorKind::WouldBlock if patience < 0 => {
                    // SAFETY: as above.
                    unsafe { libc::poll(&raw mut one, 1, -1) };
                }
                _ => return false,
            },
        }
    }
    true
}
