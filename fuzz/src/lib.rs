//! What the fuzz targets share: the clock, and what must hold of every analysis.

use std::time::Duration;

use hookctl::effect::{Analysis, Place, shell};
use rustix::time::{ClockId, clock_gettime};

pub mod judgement;

/// Larger inputs are cut by the program itself.
pub const MOST: usize = 64 * 1024;
/// How long one input may take in the shipped program.
const LIMIT: Duration = Duration::from_millis(100);
/// How much slower the code is here: counters at every edge, debug assertions, overflow checks.
const FACTOR: u32 = 4;

/// Where the session of every input is.
pub fn place() -> Place {
    Place {
        cwd: "/home/dev/project".into(),
        project: "/home/dev/project".into(),
        home: "/home/dev".into(),
        ..Place::default()
    }
}

/// The processor time of this thread.
pub fn now() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

/// Runs it; what takes too long twice in a row is a failure. The time is that of this thread on
/// the processor, so that a busy machine is no reason.
///
/// # Panics
/// When it is too slow.
pub fn timed<T>(mut run: impl FnMut() -> T) -> T {
    let limit = LIMIT * FACTOR;
    let start = now();
    let out = run();
    let first = now().saturating_sub(start);
    if first > limit {
        let start = now();
        run();
        let second = now().saturating_sub(start);
        assert!(second <= limit, "slow: {first:?}, then {second:?}, the limit is {limit:?}");
    }
    out
}

/// Analyses a command line and checks the answer.
pub fn shell(text: &str) -> Analysis {
    let analysis = timed(|| shell::analyse_command(text, &place()));
    check(&analysis);
    analysis
}

/// What must hold of every analysis.
///
/// # Panics
/// When it does not.
pub fn check(analysis: &Analysis) {
    let text = &analysis.text;
    for effect in &analysis.effects {
        assert!(effect.command.is_none_or(|i| i < analysis.commands.len()), "{effect:?}");
        assert!(text.get(effect.span.clone()).is_some(), "span of {effect:?}");
        // Where the path of other effects stands, a secret without a file has its name (`$TOKEN`, `$(pass ...)`).
        let named = effect.word.text().starts_with("secret.");
        if let Some(path) = effect.path.as_ref().filter(|p| !(named && p.lexical.starts_with('$')))
        {
            path_is_normal(&path.lexical);
            path_is_normal(&path.resolved);
        }
    }
    for (i, command) in analysis.commands.iter().enumerate() {
        assert!(command.parent.is_none_or(|parent| parent < i), "parent of {command:?}");
        assert!(text.get(command.span.clone()).is_some(), "span of {command:?}");
        assert!(
            command.operands.iter().chain(&command.doubtful).all(|at| *at < command.args.len()),
            "operands of {command:?}"
        );
        for arg in command.args.iter().chain([&command.word]) {
            assert!(text.get(arg.span.clone()).is_some(), "span of {arg:?}");
        }
        for option in &command.options {
            assert!(text.get(option.span.clone()).is_some(), "span of {option:?}");
        }
    }
}

/// Absolute, or as Windows has it (`C:/x`, `//server/share`), without `.`, `..`, `//` and trailing slash.
///
/// # Panics
/// When it is not.
pub fn path_is_normal(path: &str) {
    let drive = path.find(":/").filter(|at| !path[..*at].contains('/'));
    let path = drive.map_or(path, |at| &path[at + 1..]);
    let path = if path.starts_with("//") { &path[1..] } else { path };
    assert!(path.starts_with('/'), "relative: {path:?}");
    assert!(
        path == "/" || path[1..].split('/').all(|part| !matches!(part, "" | "." | "..")),
        "not normal: {path:?}"
    );
}
