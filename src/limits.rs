//! What one event may cost: caps on what is read of files and calls, and one budget that all work draws on.
//!
//! Nothing here is a way to say nothing. Over a cap in a file there is a fault with its line; what a
//! call has too much of is an unknown effect with its reason; and a budget that is spent leaves
//! whatever was not judged unknown, so that it is asked about and never allowed.

use std::cell::Cell;
use std::time::Duration;

/// Bytes of a user's or an administrator's rule file. A larger one is refused: every call is asked about.
pub const OWN_FILE: u64 = 4 << 20;
/// Bytes of a project's rule file. A larger one is not used, with a warning; where it is trusted, every call is asked about.
pub const PROJECT_FILE: u64 = 256 << 10;
/// Rules of a user's or an administrator's file. One more is a fault; those before it hold.
pub const OWN_RULES: usize = 10_000;
/// Rules of a project's file. One more is a fault; those before it hold.
pub const PROJECT_RULES: usize = 500;
/// Items of one list in a rule. A longer list is a fault of its rule.
pub const LIST: usize = 1000;
/// Components of a path pattern. A longer one is a fault of its rule.
pub const PATH_PARTS: usize = 64;
/// Words of a command pattern, in each of its alternatives. A longer one is a fault of its rule.
pub const COMMAND_WORDS: usize = 64;
/// Concrete patterns that the alternatives of one command pattern may make. More are a fault of its rule.
pub const ALTERNATIVES: usize = 256;
/// Bytes of a glob, or of any other pattern but a regular expression. A longer one is a fault of its rule.
pub const PATTERN: usize = 4096;
/// Bytes of a regular expression. A longer one is a fault of its rule.
pub const REGEX: usize = 16 << 10;
/// Bytes of memory that a compiled regular expression may take. A larger one is a fault of its rule.
pub const REGEX_MEMORY: usize = 128 << 10;

/// Effects of one call. More are one unknown effect.
pub const EFFECTS: usize = 4000;
/// Bytes of all the paths of a call's effects. More are one unknown effect.
pub const EFFECT_BYTES: usize = 4 << 20;

/// Symlinks that one path may go through. More are an unknown effect.
pub const LINKS: usize = 40;
/// Bytes of a path whose symlinks are followed: a longer one the system refuses (PATH_MAX), it leads nowhere.
pub const PATH: usize = 8192;
/// Times the disk is asked about symlinks in one analysis. More are an unknown effect.
pub const LINK_LOOKS: usize = 1500;
/// Entries of one directory that are compared with a glob. Of a larger one it stays open what the glob names.
pub const DIR_ENTRIES: usize = 512;
/// Names that a glob may stand for. Where there are more, the glob stands for itself.
pub const GLOB_NAMES: usize = 64;
/// Files and directories that a look below a directory may meet. Below a larger one it stays open what there is.
pub const BELOW: usize = 2000;
/// How deep that look goes.
pub const BELOW_DEPTH: usize = 24;

/// Entries read, stats and links read in one event. More spend its budget.
pub const LOOKS: u32 = 40_000;
/// Steps between two looks at the clock, some nanoseconds each.
const SLICE: usize = 1 << 16;

/// The parts of an event's work, each with its own share of the budget: what a repository's rules spend is not
/// taken from the user's, and what the analysis spends is not taken from the rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// No event is at hand: nothing is counted.
    Idle,
    /// What would the call do?
    Analysis,
    /// The rules of the user, the administrator and the program.
    Rules,
    /// The rules of the project's files.
    Project,
}

impl Stage {
    /// Steps, each the work of comparing two characters or the like.
    const fn steps(self) -> usize {
        match self {
            Stage::Idle => usize::MAX,
            Stage::Analysis | Stage::Rules => 100_000_000,
            Stage::Project => 50_000_000,
        }
    }

    /// Processor time of the thread. All of them together are one second.
    const fn time(self) -> Duration {
        match self {
            Stage::Idle => Duration::MAX,
            Stage::Analysis => Duration::from_millis(450),
            Stage::Rules => Duration::from_millis(350),
            Stage::Project => Duration::from_millis(200),
        }
    }
}

/// What ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spent {
    /// Steps of matching and following.
    Steps,
    /// Looks at the disk.
    Looks,
    /// Processor time.
    Time,
}

impl Spent {
    /// For people.
    pub const fn why(self) -> &'static str {
        match self {
            Spent::Steps => "it takes more steps to judge than one call may",
            Spent::Looks => "it takes more looks at the disk to judge than one call may",
            Spent::Time => "it takes more time to judge than one call may",
        }
    }
}

/// The budget of the event that a thread judges.
struct Budget {
    stage: Cell<Stage>,
    /// Steps until the clock is looked at.
    slice: Cell<usize>,
    /// Steps left behind that slice.
    steps: Cell<usize>,
    looks: Cell<u32>,
    /// The processor's time when the clock was first looked at in this stage.
    start: Cell<Option<Duration>>,
    spent: Cell<Option<Spent>>,
}

thread_local! {
    static BUDGET: Budget = const {
        Budget {
            stage: Cell::new(Stage::Idle),
            slice: Cell::new(usize::MAX),
            steps: Cell::new(usize::MAX),
            looks: Cell::new(0),
            start: Cell::new(None),
            spent: Cell::new(None),
        }
    };
}

impl Budget {
    fn enter(&self, stage: Stage) {
        self.stage.set(stage);
        self.slice.set(SLICE);
        self.steps.set(stage.steps());
        self.start.set(None);
        self.spent.set(None);
    }

    /// A slice is used up: is there another?
    #[cold]
    fn settle(&self, cost: usize) -> bool {
        if self.stage.get() == Stage::Idle {
            self.slice.set(usize::MAX);
            return true;
        }
        if self.spent.get().is_some() {
            return false;
        }
        let now = processor_time();
        let start = self.start.get().unwrap_or(now);
        self.start.set(Some(start));
        let used = SLICE - self.slice.get() + cost;
        match self.steps.get().checked_sub(used) {
            _ if now.saturating_sub(start) > self.stage.get().time() => self.end(Spent::Time),
            None => self.end(Spent::Steps),
            Some(left) => {
                self.steps.set(left);
                self.slice.set(SLICE);
                true
            }
        }
    }

    fn end(&self, what: Spent) -> bool {
        self.spent.set(Some(what));
        self.slice.set(0);
        false
    }
}

/// An event begins, with its analysis.
pub fn begin() {
    BUDGET.with(|budget| {
        budget.looks.set(LOOKS);
        budget.enter(Stage::Analysis);
    });
}

/// The next part of the event's work: it has a share of its own, except of looks at the disk.
pub fn enter(stage: Stage) {
    BUDGET.with(|budget| budget.enter(stage));
}

/// May so much work be done? Asked before or after it; false = the budget of this stage is spent.
pub fn step(cost: usize) -> bool {
    BUDGET.with(|budget| {
        let left = budget.slice.get();
        if cost < left {
            budget.slice.set(left - cost);
            return true;
        }
        budget.settle(cost)
    })
}

/// May the disk be asked once more?
pub fn look() -> bool {
    BUDGET.with(|budget| {
        if budget.stage.get() == Stage::Idle {
            return true;
        }
        let left = budget.looks.get();
        if left == 0 {
            return budget.end(Spent::Looks);
        }
        budget.looks.set(left - 1);
        // The disk may take its time: some hundred looks are a look at the clock.
        step(SLICE / 256)
    })
}

/// What ran out in this stage, if anything has.
pub fn spent() -> Option<Spent> {
    BUDGET.with(|budget| budget.spent.get())
}

/// The processor's time that this thread has used.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or_default())
}

/// Where no clock tells that, the wall's.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    thread_local!(static START: std::time::Instant = std::time::Instant::now());
    START.with(std::time::Instant::elapsed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spent_stays_spent_until_the_next_stage() {
        assert!(step(usize::MAX - 1) && step(usize::MAX) && look(), "nothing is counted");
        begin();
        assert!(step(1000) && spent().is_none());
        assert!(!step(Stage::Analysis.steps()) && !step(0));
        assert_eq!(spent(), Some(Spent::Steps));
        enter(Stage::Rules);
        assert!(step(1000) && spent().is_none());
        assert!((0..=LOOKS).any(|_| !look()));
        assert_eq!(spent(), Some(Spent::Looks));
        enter(Stage::Idle);
        assert!(step(usize::MAX));
    }

    #[test]
    fn the_clock_is_looked_at() {
        begin();
        let mut n: u64 = 0;
        while step(SLICE / 8) {
            // Far more than its steps say.
            for i in 0..100_000 {
                n = std::hint::black_box(n.wrapping_mul(31) ^ i);
            }
        }
        assert_eq!(spent(), Some(Spent::Time));
        enter(Stage::Idle);
    }
}
