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

/// Bytes that a template may become, which is as much as a payload may have. What a substitution makes longer
/// stays as it was, and nothing is added behind a longer text.
pub const FILLED: usize = 16 << 20;

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

    /// Entries of directories read, stats and links read.
    const fn looks(self) -> u32 {
        match self {
            Stage::Idle => u32::MAX,
            Stage::Analysis | Stage::Rules => 20_000,
            Stage::Project => 5000,
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

/// What a stage has left.
#[derive(Clone, Copy)]
struct Share {
    steps: usize,
    looks: u32,
    time: Duration,
    spent: Option<Spent>,
}

impl Share {
    const fn of(stage: Stage) -> Share {
        Share { steps: stage.steps(), looks: stage.looks(), time: stage.time(), spent: None }
    }
}

/// The budget of the event that a thread judges.
struct Budget {
    stage: Cell<Stage>,
    /// Steps until the share is looked at, and the clock.
    slice: Cell<usize>,
    /// The stage's share, with this slice taken out.
    share: Cell<Share>,
    /// The shares of all stages; that of the stage at hand is out of date.
    shares: Cell<[Share; STAGES.len()]>,
    /// The processor's time when the clock was last looked at in this stage.
    seen: Cell<Option<Duration>>,
}

const STAGES: [Stage; 4] = [Stage::Idle, Stage::Analysis, Stage::Rules, Stage::Project];
const SHARES: [Share; STAGES.len()] =
    [Share::of(STAGES[0]), Share::of(STAGES[1]), Share::of(STAGES[2]), Share::of(STAGES[3])];

thread_local! {
    static BUDGET: Budget = const {
        Budget {
            stage: Cell::new(Stage::Idle),
            slice: Cell::new(usize::MAX),
            share: Cell::new(Share::of(Stage::Idle)),
            shares: Cell::new(SHARES),
            seen: Cell::new(None),
        }
    };
}

impl Budget {
    fn enter(&self, stage: Stage) {
        let mut shares = self.shares.get();
        let mut share = self.share.get();
        share.steps = share.steps.saturating_add(self.slice.get());
        shares[self.stage.get() as usize] = share;
        self.shares.set(shares);
        self.load(shares[stage as usize], stage);
    }

    fn load(&self, share: Share, stage: Stage) {
        self.stage.set(stage);
        self.share.set(share);
        self.slice.set(0);
        self.seen.set(None);
        if share.spent.is_none() {
            self.cut(0);
        }
    }

    /// The next slice, behind work of that cost.
    fn cut(&self, cost: usize) -> bool {
        let share = self.share.get();
        let size = if self.stage.get() == Stage::Idle { usize::MAX } else { SLICE };
        match share.steps.checked_sub(cost) {
            None => self.end(Spent::Steps),
            Some(left) => {
                let slice = left.min(size);
                self.slice.set(slice);
                self.share.set(Share { steps: left - slice, ..share });
                true
            }
        }
    }

    /// A slice does not reach: is there another?
    #[cold]
    fn settle(&self, cost: usize) -> bool {
        let mut share = self.share.get();
        if self.stage.get() == Stage::Idle {
            self.load(Share::of(Stage::Idle), Stage::Idle);
            return true;
        }
        if share.spent.is_some() {
            return false;
        }
        let now = processor_time();
        let used = now.saturating_sub(self.seen.replace(Some(now)).unwrap_or(now));
        share.time = share.time.saturating_sub(used);
        share.steps += self.slice.replace(0);
        self.share.set(share);
        if share.time.is_zero() { self.end(Spent::Time) } else { self.cut(cost) }
    }

    fn end(&self, what: Spent) -> bool {
        self.share.set(Share { spent: Some(what), ..self.share.get() });
        self.slice.set(0);
        false
    }
}

/// An event begins, with its analysis.
pub fn begin() {
    BUDGET.with(|budget| {
        budget.shares.set(SHARES);
        budget.load(Share::of(Stage::Analysis), Stage::Analysis);
    });
}

/// The next part of the event's work, or one before it again: each has a share of its own.
pub fn enter(stage: Stage) {
    BUDGET.with(|budget| budget.enter(stage));
}

/// May so much work be done, or have been done? False = the share of this stage is spent.
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
        let share = budget.share.get();
        if share.spent.is_some() {
            return false;
        }
        if share.looks == 0 {
            return budget.end(Spent::Looks);
        }
        if budget.stage.get() != Stage::Idle {
            budget.share.set(Share { looks: share.looks - 1, ..share });
        }
        // The disk may take its time: some hundred looks are a look at the clock.
        step(SLICE / 256)
    })
}

/// May a regular expression of so many states be held against so many bytes? Nobody can stop it half-way.
///
/// Text and pattern are only both a repository's where its own rules are judged: there every state may be
/// alive at every byte. Other people write patterns that are not.
pub fn search(bytes: usize, states: usize) -> bool {
    const USUAL: usize = 4;
    let hostile = BUDGET.with(|budget| budget.stage.get()) == Stage::Project;
    step(bytes.saturating_mul(if hostile { states } else { states.min(USUAL) }))
}

/// What ran out in this stage, if anything has.
pub fn spent() -> Option<Spent> {
    BUDGET.with(|budget| budget.share.get().spent)
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
        assert!((0..=Stage::Rules.looks()).any(|_| !look()));
        assert_eq!(spent(), Some(Spent::Looks));
        enter(Stage::Analysis);
        assert_eq!(spent(), Some(Spent::Steps), "what was spent is not given twice");
        enter(Stage::Idle);
        assert!(step(usize::MAX) && step(usize::MAX));
        begin();
        assert!(step(1000));
        enter(Stage::Idle);
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
