//! The whole judgement: a repository's file, a user's file, a call and a directory tree, with the clock as the
//! oracle. The parts are lines of text apart: `--project`, `--user`, `--tree` (one name in each line, `a -> b` a
//! link), `--call` (a shell command, or `TOOL JSON`).
#![no_main]

use std::time::{Duration, Instant};

use hookctl_fuzz::{MOST, judgement};

/// When the answer must be there, and by how much a busy machine may miss it.
const LIMIT: Duration = Duration::from_millis(2050);

libfuzzer_sys::fuzz_target!(|text: &str| {
    if text.len() > MOST {
        return;
    }
    let start = Instant::now();
    judgement::judge(text);
    let first = start.elapsed();
    if first > LIMIT {
        // The wall's clock counts what other processes do: twice in a row is no accident.
        let start = Instant::now();
        let processor = hookctl_fuzz::now();
        judgement::judge(text);
        let (second, used) = (start.elapsed(), hookctl_fuzz::now().saturating_sub(processor));
        assert!(
            second <= LIMIT || used <= LIMIT / 2,
            "slow: {first:?}, then {second:?}, {used:?} of the processor"
        );
    }
});
