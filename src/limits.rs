//! What one event may cost: caps on what is read of files and calls, and one budget that all work draws on.
//!
//! Nothing here is a way to say nothing. Over a cap in a file there is a fault with its line; what a
//! call has too much of is an unknown effect with its reason; and a budget that is spent leaves
//! whatever was not judged unknown, so that it is asked about and never allowed.

use std::cell::Cell;
use std::time::Duration;

/// What is counted, as many as there may be, and what happens beyond.
pub type Row = (&'static str, u64, &'static str);

/// Bounds whose own result says that they were reached: a fault, a value that nobody knows, an effect that is
/// only possible or unknown. The first line of each says what is counted, the second what happens beyond.
macro_rules! bounds {
    ($(#[doc = $what:literal] #[doc = $beyond:literal] $name:ident: $kind:ty = $most:expr;)+) => {
        $(
            #[doc = $what]
            ///
            #[doc = $beyond]
            pub const $name: $kind = $most;
        )+

        /// The bounds as a table, for the documentation.
        pub const BOUNDS: &[Row] = &[$(($what, $most as u64, $beyond),)+];
    };
}

/// Caps beyond which something of the call would go unseen: one that is reached is noted in the thread and
/// leaves an unknown effect at the analysis' end, so that nobody has to remember it.
macro_rules! caps {
    ($(#[doc = $what:literal] $name:ident = $most:expr;)+) => {
        /// How many of something one analysis looks at.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Cap {
            $(#[doc = $what] $name,)+
        }

        impl Cap {
            /// All of them.
            pub const ALL: &'static [Cap] = &[$(Cap::$name,)+];

            /// As many are looked at.
            pub const fn limit(self) -> usize {
                match self { $(Cap::$name => $most,)+ }
            }

            /// What is counted, for people.
            pub const fn counted_things(self) -> &'static str {
                match self { $(Cap::$name => $what,)+ }
            }
        }
    };
}

bounds! {
    /// bytes of a user's or an administrator's rule file
    /// refused like a broken file: every call is asked about
    OWN_FILE: u64 = 4 << 20;
    /// bytes of a project's rule file
    /// not used, with a warning; where it is trusted, every call is asked about
    PROJECT_FILE: u64 = 256 << 10;
    /// directories beside a project's root whose rule files are read
    /// those farther up are not used, with a warning
    OTHER_ROOTS: usize = 8;
    /// rules of a user's or an administrator's file
    /// `too-many`; those before it hold
    OWN_RULES: usize = 10_000;
    /// rules of a project's file
    /// `too-many`; those before it hold
    PROJECT_RULES: usize = 500;
    /// items of a list in a rule
    /// `too-many`
    LIST: usize = 1000;
    /// bytes of a bundle of managed rules
    /// not fetched, and the last good one holds
    BUNDLE: usize = 1 << 20;
    /// files in a bundle
    /// the bundle is refused
    BUNDLE_FILES: usize = 64;
    /// bytes of a file's name in a bundle
    /// the bundle is refused
    BUNDLE_NAME: usize = 63;
    /// hidden files of git's index that are told one by one
    /// the search reads the whole tree
    HIDDEN_NAMES: usize = 60;
    /// times in a row that a rule may block a stop: Claude Code overrides the ninth
    /// `out-of-range`
    REPEAT: u64 = 8;
    /// components of a path pattern
    /// `bad-path`
    PATH_PARTS: usize = 64;
    /// words of a command pattern, in each of its alternatives
    /// `bad-command`
    COMMAND_WORDS: usize = 64;
    /// patterns that the alternatives of a command pattern make
    /// `bad-command`
    ALTERNATIVES: usize = 256;
    /// bytes of a glob, or of any other pattern but a regular expression
    /// `bad-glob`, `bad-path`, `bad-command`
    PATTERN: usize = 4096;
    /// bytes of a regular expression
    /// `bad-regex`
    REGEX: usize = 16 << 10;
    /// bytes of a compiled regular expression
    /// `bad-regex`
    REGEX_MEMORY: usize = 128 << 10;
    /// bytes that a template becomes, which is as much as a payload may have
    /// a substitution that makes more of it is left out, and nothing is added behind a longer text
    FILLED: usize = 16 << 20;
    /// bytes of a program that `hookctl trust` pins
    /// counts as changed
    PINNED: u64 = 8 << 20;
    /// entries of a directory that `hookctl trust` pins
    /// not pinned, and said so
    PINNED_ENTRIES: usize = 512;
    /// rules of files whose reasons are told together
    /// the others stand in the journal
    REASONS: usize = 16;
    /// operations of one call that are judged, such as the files of a patch or the commands of a list
    /// what is beyond is unknown
    OPERATIONS: usize = 256;
    /// bytes that all operations of one call may keep of the payload beside their own inputs
    /// larger fields stand in the first operation alone
    SHARED: usize = 16 << 20;
    /// bytes of an address in free text
    /// the rest of its path is not looked at
    ADDRESS: usize = 8192;
    /// values of `{path}`, `{command}` or `{host}` that one `when.run` is asked about
    /// what is beyond is unknown
    ASKED: usize = 32;
    /// bytes of a value in a variable
    /// the variable holds the path of a file
    VARIABLE: usize = 100 << 10;
    /// bytes of `context.file`
    /// cut
    CONTEXT: usize = 256 << 10;
    /// addresses of a server
    /// a fault
    ADDRESSES: usize = 10;
    /// faults of a file's grammar: each is told with its line
    /// not told; the file is broken in any case
    SYNTAX_FAULTS: usize = 100;
    /// characters of a line with a fault that the fault's report shows
    /// cut
    FAULTY_LINE: usize = 200;
    /// characters of a key that are compared with those there are, for a hint
    /// the rest is not compared
    HINTED: usize = 64;
    /// short-lived notes that one event looks at to remove what is old
    /// a later event looks at others
    SWEPT: usize = 200;
    /// bytes of a text in the journal
    /// cut
    JOURNAL_TEXT: usize = 2_000;
    /// effects that a question to a human names
    /// counted
    TOLD_EFFECTS: usize = 12;
    /// bytes of each of them
    /// cut, and said so
    TOLD_EFFECT: usize = 160;
    /// bytes of a path whose symlinks are followed
    /// it leads nowhere: the system refuses it as well
    PATH: usize = 8192;
    /// entries of a directory that are compared with a glob
    /// the glob stands for all that it may name
    DIR_ENTRIES: usize = 512;
    /// names that a glob may stand for
    /// the glob stands for all that it may name
    GLOB_NAMES: usize = 64;
    /// entries below a directory among which a formatter's files are sought
    /// the others count as left alone
    EDITED_ENTRIES: usize = 400;
    /// files that a formatter finds there
    /// the others count as left alone
    EDITED_FILES: usize = 64;
    /// files and directories below a directory that are looked at
    /// anything may be there
    BELOW: usize = 2000;
    /// names of a sub-command that rules may call it by: the first ones of a line of `synonyms`
    /// a call by any other name is one by these, a rule by another name means that name alone
    SYNONYMS: usize = 4;
    /// paths that a change of much is compared with, for all rules of one's own together
    /// what lies there is only possible
    TOUCHED: usize = 10_000;
    /// levels of directories below one that are looked at
    /// anything may be there
    BELOW_DEPTH: usize = 24;
    /// levels of directories below one that guards this machine
    /// what changes a directory above them is unknown
    GUARD_DEPTH: usize = 3;
    /// bytes of two programs that are compared
    /// they are taken for the same
    HEAD: u64 = 64 << 10;
    /// reasons why a call is not understood that are told
    /// it stays unknown, with the first ones
    NOTES: usize = 20;
    /// bytes of a command that is no bash and is read as zsh's
    /// not understood
    RETRY: usize = 8 << 10;
    /// bytes of stack that the walk of a command takes
    /// unknown: nested too deep
    STACK: usize = 360 << 10;
    /// brackets that are open at once in a command
    /// unknown
    OPEN: usize = 64;
    /// words in a row that each put what follows into a command of their own (`time`, `coproc`, `f()`)
    /// unknown
    RUN: usize = 64;
    /// such words in one command behind others
    /// unknown
    RUNS: usize = 256;
    /// brackets that follow each other within one word
    /// unknown
    CHAIN: usize = 200;
    /// steps that the parser would take for expansions that stand in each other (`${x/$(a ${y/$(b`)
    /// unknown
    EXPANSION_STEPS: usize = 2_000_000;
    /// values that one variable is followed with
    /// its value is unknown
    VALUES: usize = 16;
    /// combinations of values that one command is followed with
    /// the values are unknown
    WORLDS: usize = 32;
    /// characters of a variable's values
    /// its value is unknown
    VALUE: usize = 8192;
    /// characters of a word of a command
    /// it is unknown
    WORD: usize = 128 << 10;
    /// words that one word of a command becomes by its braces
    /// they are unknown
    FIELDS: usize = 256;
    /// characters that braces make of one word
    /// the words are unknown
    BRACED: usize = 512 << 10;
    /// fish's substitutions in substitutions
    /// they are unknown
    SUBSTITUTED: usize = 12;
    /// addresses of socat, which takes two
    /// they are unknown
    SOCKETS: usize = 4;
    /// numbers of a range in braces
    /// they are unknown
    RANGE: usize = 200;
    /// braces in braces
    /// they are unknown
    BRACES: usize = 16;
    /// characters that a pattern is taken off from
    /// the value is unknown
    STRIPPED: usize = 512;
    /// characters in which `*` is replaced, and of a pattern that is followed
    /// the value is unknown
    REPLACED: usize = 64;
    /// characters in which a text is replaced
    /// the value is unknown
    REPLACED_TEXT: usize = 4096;
    /// bytes of a directory that `cd` goes to
    /// the directory is unknown
    DIRECTORY: usize = 1024;
    /// directories that `pushd` keeps
    /// where `popd` leads is unknown
    PUSHED: usize = 64;
    /// wrappers in front of a command whose output is followed
    /// what it prints is unknown
    WRAPPED: usize = 8;
    /// functions that call functions
    /// unknown
    CALLS: usize = 16;
    /// programs that run programs (`env env env`)
    /// unknown
    WRAPPERS: usize = 24;
    /// items of a list that a command is run for one by one (`xargs -I`)
    /// the item is unknown
    ITEMS: usize = 32;
    /// bytes of a path
    /// it is no path: the system refuses it as well
    PATH_MAX: usize = 4096;
    /// bytes of a name
    /// it is no file's name: the system refuses it as well
    NAME_MAX: usize = 256;
    /// bytes of a text in an inline program
    /// the rest of it is unknown
    TEXT: usize = 2048;
    /// bytes of a form of a script (`(delete-file ...)`)
    /// what does not end in it is unknown
    LINE: usize = 1000;
    /// values that an expression of an inline program may have
    /// it is unknown
    ANY: usize = 16;
    /// bytes of a repository's configuration that is asked for its remotes
    /// none of the hosts is the project's own
    REPOSITORY_CONFIG: u64 = 256 << 10;
    /// bytes of a manifest or lock file that is asked for the packages that a project has
    /// a package counts as new to the project
    MANIFEST: u64 = 1 << 20;
    /// names of a call that are followed as if each were a secret's
    /// only those are followed that may be one
    PLAIN_NAMES: usize = 40;
    /// elements of a list in an inline program
    /// the rest of them is unknown
    ELEMENTS: usize = 256;
    /// lists in lists of an inline program
    /// they are unknown
    NESTED_LISTS: u8 = 4;
    /// bytes of a name in an inline program
    /// it is unknown
    NAME: usize = 160;
    /// texts with code in texts with code
    /// the program is unknown
    QUOTED_CODE: u8 = 16;
    /// brackets in brackets of an inline program
    /// the program is unknown
    CODE_DEPTH: u16 = 60;
    /// inline programs in inline programs
    /// the program is unknown
    CODE_NEST: u8 = 4;
    /// bytes of a tool's field `command` that may name one of its operations (`create`, `delete`)
    /// it is a command line, and read as such
    OPERATION: usize = 32;
    /// globs of the Grep tool
    /// the whole tree is read; what the globs name anywhere below
    GREP_GLOBS: usize = 64;
    /// bytes of the Grep tool's globs
    /// the whole tree is read
    GREP_BYTES: usize = 1 << 10;
    /// files that the Grep tool's globs name
    /// the whole tree is read; what the globs name anywhere below
    GREP_FILES: usize = 500;
    /// bytes of a compiled regular expression of a search (`find -regex`, fd)
    /// it may match anything
    EXPRESSION: usize = 1 << 18;
    /// bytes of an archive that is looked into
    /// it may hold anything: a possible write of the directory
    ARCHIVE: u64 = 4 << 20;
    /// bytes that an archive becomes
    /// it may hold anything: a possible write of the directory
    ARCHIVE_CONTENT: usize = 8 << 20;
    /// names in an archive
    /// it may hold anything: a possible write of the directory
    ARCHIVE_NAMES: usize = 20_000;
    /// files that a call runs which are read: scripts, and what tells `make` or `npm` what to do
    /// they are opaque, with a note
    SCRIPT_FILES: usize = 8;
    /// bytes of all these files together
    /// they are opaque, with a note
    SCRIPT_BYTES: usize = 256 << 10;
    /// bytes of a shell script that are looked at
    /// the rest is not seen, with a note
    SCRIPT_TEXT: usize = 32 << 10;
    /// words of a shell script or recipe line that are parsed; a command counts as three more, a comment's as a quarter
    /// the rest is not seen, with a note
    SCRIPT_WORDS: usize = 3500;
    /// scripts that scripts run
    /// they are opaque, with a note
    SCRIPT_DEPTH: usize = 4;
    /// times that scripts and recipes are followed in one call
    /// they are opaque, with a note
    SCRIPT_RUNS: usize = 32;
    /// effects of one call's scripts, and commands in them
    /// the others are not seen, with a note
    SCRIPT_EFFECTS: usize = 200;
    /// commands of one recipe, those of what it needs first among them
    /// the others are not seen, with a note
    RECIPE_STEPS: usize = 200;
    /// levels of what a recipe needs first
    /// those below are not seen, with a note
    RECIPE_DEPTH: usize = 64;
    /// levels of variables in variables of a makefile
    /// the value is unknown
    RECIPE_VALUES: usize = 12;
}

caps! {
    /// effects of one call
    Effects = 4000;
    /// bytes of the paths of a call's effects
    EffectBytes = 4 << 20;
    /// symlinks that one path goes through
    Links = 40;
    /// looks at symlinks
    LinkLooks = 1500;
    /// bytes of a command, or of a text that it runs
    Text = 64 << 10;
    /// separators and redirections in a command
    Marks = 6000;
    /// program calls in one call
    Commands = 1000;
    /// statements in one call; those of a function count each time
    Steps = 6000;
    /// redirections of one command
    Redirects = 200;
    /// levels of shells in shells
    Depth = 32;
    /// values of one list that a loop runs for
    Loop = 256;
    /// names in arithmetic
    Names = 64;
    /// items on standard input
    Fed = 500;
    /// rows of items for parallel
    Rows = 32;
    /// lists of items for parallel
    Lists = 8;
    /// decoded texts
    Decoded = 64;
    /// effects of one inline program
    CodeEffects = 400;
    /// paths in a program text that is only searched for them
    Literals = 200;
    /// values of an operand in an inline program
    CodeValues = 300;
    /// keys of one table in an inline program
    Keys = 256;
    /// texts that the lines of a script run
    Scripts = 200;
    /// values in a tool's input
    Leaves = 2000;
    /// changes that are compared with what guards this machine
    Compared = 500;
    /// files that guard this machine
    Guards = 256;
    /// bytes of files that settle what a call does
    Content = 16 << 20;
    /// bytes of a patch
    Patch = 1 << 20;
    /// bytes of git's index
    Index = 8 << 20;
    /// bytes of a list of what git ignores
    Ignored = 64 << 10;
    /// bytes of a file of git's settings
    Settings = 256 << 10;
    /// links in a directory that a search follows
    Linked = 512;
    /// names that one search asks for
    Asked = 64;
}

impl Cap {
    /// Are so many within it? If not, that is noted: the analysis ends with an unknown effect.
    pub fn admits(self, count: usize) -> bool {
        let holds = count <= self.limit();
        if !holds {
            self.note_reached();
        }
        holds
    }

    /// There is more than it admits.
    #[cold]
    pub fn note_reached(self) {
        BUDGET.with(|budget| budget.reached.set(budget.reached.get() | 1 << self as u32));
    }

    /// The first ones of a list, as many as it admits.
    pub fn first_admitted<T>(self, items: &[T]) -> &[T] {
        if self.admits(items.len()) { items } else { &items[..self.limit()] }
    }

    /// Why something is unknown, for people.
    pub fn describe_unknown(self) -> String {
        format!("more than {} {}", group_thousands(self.limit() as u64), self.counted_things())
    }
}

/// The caps that were reached since the event began, or since they were last asked for.
pub fn take_reached() -> Vec<Cap> {
    let bits = BUDGET.with(|budget| budget.reached.replace(0));
    if bits == 0 {
        return Vec::new();
    }
    Cap::ALL.iter().copied().filter(|cap| bits >> *cap as u32 & 1 == 1).collect()
}

/// What one analysis looks at, as a table for the documentation.
pub fn limits_table() -> Vec<Row> {
    const BEYOND: &str = "unknown, with this as its reason: asked about, never allowed";
    let caps = Cap::ALL.iter().map(|cap| (cap.counted_things(), cap.limit() as u64, BEYOND));
    BOUNDS.iter().copied().chain(caps).collect()
}

/// `4,000`, for people.
pub fn group_thousands(number: u64) -> String {
    let digits = number.to_string();
    let mut out = String::new();
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

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
    /// What would the files do that it runs? What this does not reach for stays as opaque as it was.
    Scripts,
    /// The rules of the user, the administrator and the program.
    Rules,
    /// The rules of the project's files.
    Project,
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
    pub const fn describe_shortage(self) -> &'static str {
        match self {
            Spent::Steps => "it takes more steps to judge than one call may",
            Spent::Looks => "it takes more looks at the disk to judge than one call may",
            Spent::Time => "it takes more time to judge than one call may",
        }
    }
}

/// Processor time for what the files do that a call runs. Without optimisation the same work takes many times as long.
const SCRIPT_TIME: Duration = Duration::from_millis(if cfg!(debug_assertions) { 500 } else { 5 });

/// What a stage has left.
#[derive(Clone, Copy)]
struct Share {
    /// Each the work of comparing two characters or the like.
    steps: usize,
    /// Entries of directories read, stats and links read.
    looks: u32,
    /// Processor time of the thread. All stages together have one second.
    time: Duration,
    spent: Option<Spent>,
}

impl Share {
    const fn from_stage(stage: Stage) -> Share {
        let (steps, looks, time) = match stage {
            Stage::Idle => (usize::MAX, u32::MAX, Duration::MAX),
            Stage::Analysis => (100_000_000, 20_000, Duration::from_millis(450)),
            Stage::Scripts => (4_000_000, 1000, SCRIPT_TIME),
            Stage::Rules => (100_000_000, 20_000, Duration::from_millis(350)),
            Stage::Project => (50_000_000, 5000, Duration::from_millis(200)),
        };
        Share { steps, looks, time, spent: None }
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
    /// The caps that were reached, a bit for each.
    reached: Cell<u128>,
}

const STAGES: [Stage; 5] =
    [Stage::Idle, Stage::Analysis, Stage::Scripts, Stage::Rules, Stage::Project];
const SHARES: [Share; STAGES.len()] = [
    Share::from_stage(STAGES[0]),
    Share::from_stage(STAGES[1]),
    Share::from_stage(STAGES[2]),
    Share::from_stage(STAGES[3]),
    Share::from_stage(STAGES[4]),
];

thread_local! {
    static BUDGET: Budget = const {
        Budget {
            stage: Cell::new(Stage::Idle),
            slice: Cell::new(usize::MAX),
            share: Cell::new(Share::from_stage(Stage::Idle)),
            shares: Cell::new(SHARES),
            seen: Cell::new(None),
            reached: Cell::new(0),
        }
    };
}

impl Budget {
    fn enter_stage(&self, stage: Stage) {
        let mut shares = self.shares.get();
        let mut share = self.share.get();
        share.steps = share.steps.saturating_add(self.slice.get());
        shares[self.stage.get() as usize] = share;
        self.shares.set(shares);
        self.load_share(shares[stage as usize], stage);
    }

    fn load_share(&self, share: Share, stage: Stage) {
        self.stage.set(stage);
        self.share.set(share);
        self.slice.set(0);
        self.seen.set(None);
        if share.spent.is_none() {
            self.cut_slice(0);
        }
    }

    /// The next slice, behind work of that cost.
    fn cut_slice(&self, cost: usize) -> bool {
        let share = self.share.get();
        let size = if self.stage.get() == Stage::Idle { usize::MAX } else { SLICE };
        match share.steps.checked_sub(cost) {
            None => self.mark_spent(Spent::Steps),
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
    fn check_slice(&self, cost: usize) -> bool {
        let mut share = self.share.get();
        if self.stage.get() == Stage::Idle {
            self.load_share(Share::from_stage(Stage::Idle), Stage::Idle);
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
        if share.time.is_zero() { self.mark_spent(Spent::Time) } else { self.cut_slice(cost) }
    }

    fn mark_spent(&self, what: Spent) -> bool {
        self.share.set(Share { spent: Some(what), ..self.share.get() });
        self.slice.set(0);
        false
    }
}

/// An event begins, with its analysis.
pub fn begin_event() {
    BUDGET.with(|budget| {
        budget.shares.set(SHARES);
        budget.reached.set(0);
        budget.load_share(Share::from_stage(Stage::Analysis), Stage::Analysis);
    });
}

/// The next part of the event's work, or one before it again: each has a share of its own.
pub fn enter_stage(stage: Stage) {
    BUDGET.with(|budget| budget.enter_stage(stage));
}

/// Follows a file that the call runs, on a share of its own: what it spends, and the caps that it reaches, make
/// nothing of the call unknown.
pub fn follow_script<T>(run: impl FnOnce() -> T) -> T {
    let (stage, reached) = BUDGET.with(|budget| (budget.stage.get(), budget.reached.get()));
    if stage == Stage::Analysis {
        enter_stage(Stage::Scripts);
    }
    let result = run();
    if stage == Stage::Analysis {
        enter_stage(stage);
    }
    BUDGET.with(|budget| budget.reached.set(reached));
    result
}

/// May so much work be done, or have been done? False = the share of this stage is spent.
pub fn spend_steps(cost: usize) -> bool {
    BUDGET.with(|budget| {
        let left = budget.slice.get();
        if cost < left {
            budget.slice.set(left - cost);
            return true;
        }
        budget.check_slice(cost)
    })
}

/// May the disk be asked once more?
pub fn spend_look() -> bool {
    BUDGET.with(|budget| {
        let share = budget.share.get();
        if share.spent.is_some() {
            return false;
        }
        if share.looks == 0 {
            return budget.mark_spent(Spent::Looks);
        }
        if budget.stage.get() != Stage::Idle {
            budget.share.set(Share { looks: share.looks - 1, ..share });
        }
        // The disk may take its time: some hundred looks are a look at the clock.
        spend_steps(SLICE / 256)
    })
}

/// May a regular expression of so many states be held against so many bytes? Nobody can stop it half-way.
///
/// Text and pattern are only both a repository's where its own rules are judged: there every state may be
/// alive at every byte. Other people write patterns that are not.
pub fn may_search(bytes: usize, states: usize) -> bool {
    const USUAL: usize = 4;
    let hostile = BUDGET.with(|budget| budget.stage.get()) == Stage::Project;
    spend_steps(bytes.saturating_mul(if hostile { states } else { states.min(USUAL) }))
}

/// What ran out in this stage, if anything has.
pub fn spent_resource() -> Option<Spent> {
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
        assert!(
            spend_steps(usize::MAX - 1) && spend_steps(usize::MAX) && spend_look(),
            "nothing is counted"
        );
        begin_event();
        assert!(spend_steps(1000) && spent_resource().is_none());
        assert!(!spend_steps(Share::from_stage(Stage::Analysis).steps) && !spend_steps(0));
        assert_eq!(spent_resource(), Some(Spent::Steps));
        enter_stage(Stage::Rules);
        assert!(spend_steps(1000) && spent_resource().is_none());
        assert!((0..=Share::from_stage(Stage::Rules).looks).any(|_| !spend_look()));
        assert_eq!(spent_resource(), Some(Spent::Looks));
        enter_stage(Stage::Analysis);
        assert_eq!(spent_resource(), Some(Spent::Steps), "what was spent is not given twice");
        enter_stage(Stage::Idle);
        assert!(spend_steps(usize::MAX) && spend_steps(usize::MAX));
        begin_event();
        assert!(spend_steps(1000));
        enter_stage(Stage::Idle);
    }

    #[test]
    fn the_clock_is_looked_at() {
        begin_event();
        let mut n: u64 = 0;
        while spend_steps(SLICE / 8) {
            // Far more than its steps say.
            for i in 0..100_000 {
                n = std::hint::black_box(n.wrapping_mul(31) ^ i);
            }
        }
        assert_eq!(spent_resource(), Some(Spent::Time));
        enter_stage(Stage::Idle);
    }
}
