//! The watchdog: an answer leaves in time, whatever happens to this process.
//!
//! Nearly every agent runs the tool when its hook is late, crashes or hangs. So from its first
//! instant on the process has an answer prepared, "cannot judge this", in the form of the event as far
//! as that is known; a timer, a limit of the processor's time or a crash writes it and ends the
//! process. Nothing is rendered or allocated then: the form is static text with room for a cause.
//!
//! An answer leaves once: [`write_answer`] and the watchdog claim the same word. A word that has been
//! claimed and cannot be written whole (nobody reads) ends with exit status 2 where it was to stop
//! something.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

#[cfg(unix)]
#[path = "watchdog/signals.rs"]
mod platform;
#[cfg(not(unix))]
#[path = "watchdog/thread.rs"]
mod platform;

/// How much processor time one phase (reading and analysis, or what follows commands and servers)
/// may take. Even a long command takes a few milliseconds; a build for tests is slower.
pub const PROCESSOR: Duration =
    if cfg!(debug_assertions) { Duration::from_secs(20) } else { Duration::from_secs(2) };
/// How long the analysis may take by the clock: a file system that does not answer ends it.
const ANALYSIS: Duration = Duration::from_secs(10);
/// How long the process may live on after its answer has left: the journal is written then.
const AFTERWARDS: Duration = Duration::from_secs(2);

/// How an agent is told, for one event, that hookctl cannot judge: everything but the cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureForm {
    /// Nothing is said, exit status 0: the agent's own question follows, or nothing waits for us.
    Silence,
    /// JSON around the cause that only tells: the agent goes on.
    Notice(&'static str, &'static str),
    /// JSON around the cause that makes the agent ask or refuse.
    Stop(&'static str, &'static str),
    /// Exit status 2, the cause on stderr: for agents and events that know nothing else.
    Block,
}

/// The forms of the prepared answer, the last of them in force: more is known of the event with each.
/// Read without a lock, so that a signal handler can.
static FORMS: [OnceLock<FailureForm>; 3] = [const { OnceLock::new() }; 3];

/// How every sentence begins that says so.
pub const CANNOT_JUDGE: &str = "hookctl cannot judge this: ";

/// What is known of the one answer.
#[repr(u8)]
enum AnswerState {
    /// Nobody has begun to answer.
    Open = 0,
    /// It is being written, and lets the agent go on.
    Going = 1,
    /// It is being written, and stops something.
    Stopping = 2,
    /// It has left; its exit status is 0.
    Left = 3,
    /// It has left; its exit status is 2.
    LeftBlocking = 4,
    /// The watchdog writes it.
    Taken = 5,
}

static WORD: AtomicU8 = AtomicU8::new(AnswerState::Open as u8);

/// Claims the answer: true for the first only.
fn claim_answer(word: AnswerState) -> bool {
    WORD.compare_exchange(AnswerState::Open as u8, word as u8, Ordering::AcqRel, Ordering::Acquire)
        .is_ok()
}

/// Arms the watchdog: until more is known, with exit status 2 for its answer.
pub fn arm() {
    platform::start_watching();
}

/// From now on, that is how the event is answered that cannot be judged. It is told by the command
/// line, by the payload's bytes, and by the payload.
pub fn expect_form(form: FailureForm) {
    let _ = FORMS.iter().any(|place| place.set(form).is_ok());
}

/// The form in force. Where not even the event is known, it cannot be told what would happen: blocked.
fn current_form() -> FailureForm {
    FORMS.iter().rev().find_map(OnceLock::get).copied().unwrap_or(FailureForm::Block)
}

/// When the process must have answered; unset where nobody waits for an answer: in commands for people.
static END: OnceLock<Instant> = OnceLock::new();

/// The same moment, once it is known which event it is and which servers are asked.
static RATHER: OnceLock<Instant> = OnceLock::new();

/// The process must have answered by then, whatever it waits for.
pub fn set_deadline(end: Instant) {
    let _ = END.set(end);
    begin_waiting();
}

/// It has until then instead, from what is waited for next.
pub fn until_rather(end: Instant) {
    let _ = RATHER.set(end);
}

fn current_deadline() -> Option<&'static Instant> {
    RATHER.get().or(END.get())
}

/// The analysis begins: it is done with in seconds, or a file system hangs.
pub fn begin_analysis() {
    if let Some(end) = current_deadline() {
        platform::set_clock(time_left(*end).min(ANALYSIS));
    }
}

/// Commands, servers or people are waited for, which may take all the time that there is; what follows
/// them has processor time of its own.
pub fn begin_waiting() {
    if let Some(end) = current_deadline() {
        platform::set_clock(time_left(*end));
        platform::set_processor_timer(PROCESSOR);
    }
}

fn time_left(end: Instant) -> Duration {
    end.saturating_duration_since(Instant::now())
}

/// The status of the answer that another thread gives, once it has left.
fn wait_for_the_other() -> u8 {
    loop {
        match WORD.load(Ordering::Acquire) {
            word if word == AnswerState::Left as u8 => return 0,
            word if word == AnswerState::LeftBlocking as u8 => return 2,
            // The watchdog's clock ends this, if nothing else does.
            _ => std::thread::sleep(Duration::from_millis(1)),
        }
    }
}

/// Writes the one answer of this process and returns its exit status: 0, or 2 where `status` says so
/// or where an answer that stops something (`refusal`, its reason) reaches nobody on stdout.
///
/// Of a second answer nothing is written; the first's status holds.
pub fn write_answer(stdout: &str, stderr: &str, status: u8, refusal: Option<&str>) -> u8 {
    let stops = refusal.is_some() || status == 2;
    if !claim_answer(if stops { AnswerState::Stopping } else { AnswerState::Going }) {
        return wait_for_the_other();
    }
    let heard = stdout.is_empty() || platform::write_stdout(&[stdout, "\n"]);
    let (status, reason) = match refusal {
        Some(reason) if !heard => (2, reason),
        _ => (status, stderr),
    };
    let word = if status == 2 { AnswerState::LeftBlocking } else { AnswerState::Left };
    // The verdict stands from here on; a stderr that nobody reads only costs the reason.
    WORD.store(word as u8, Ordering::Release);
    platform::set_clock(AFTERWARDS);
    if !reason.is_empty() {
        platform::write_stderr(&[reason.trim_end(), "\n"]);
    }
    status
}

/// Says it on stderr, where somebody listens: nobody waits for that.
pub fn print_stderr(text: &str) {
    platform::write_stderr(&[text, "\n"]);
}

/// Ends the process with the prepared answer, for a cause that is not known before; escaped here, for the
/// forms are JSON.
pub fn give_up(cause: &str) -> ! {
    let plain: String =
        cause.chars().filter(|c| !c.is_control() && !matches!(c, '"' | '\\')).collect();
    let status = match claim_answer(AnswerState::Taken) {
        true => write_failure(current_form(), &plain),
        // Another thread's answer is not cut short.
        false => wait_for_the_other(),
    };
    std::process::exit(status.into())
}

/// The exit status of a process that ends now by the watchdog's hand, once all that can be said of
/// `cause` is said. Called from signal handlers: nothing here allocates or locks.
fn last_word(cause: &str) -> u8 {
    const GOING: u8 = AnswerState::Going as u8;
    const LEFT: u8 = AnswerState::Left as u8;
    if claim_answer(AnswerState::Taken) {
        return write_failure(current_form(), cause);
    }
    match WORD.load(Ordering::Acquire) {
        GOING | LEFT => 0,
        _ => 2,
    }
}

/// Writes the prepared answer: its exit status.
fn write_failure(form: FailureForm, cause: &str) -> u8 {
    let line = |before, after| [before, CANNOT_JUDGE, cause, after, "\n"];
    match form {
        FailureForm::Silence => 0,
        FailureForm::Notice(before, after) => {
            platform::write_at_once(&line(before, after));
            0
        }
        FailureForm::Stop(before, after) if platform::write_at_once(&line(before, after)) => 0,
        FailureForm::Stop(..) | FailureForm::Block => {
            platform::write_stderr(&[CANNOT_JUDGE, cause, "\n"]);
            2
        }
    }
}
