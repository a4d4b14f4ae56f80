//! One judgement of an event for which both a plugin of the agent's and its settings start hookctl.
//!
//! Whoever comes first judges; the other waits and answers the same where that decides something, and nothing otherwise. Neither
//! looks at settings: nothing that a repository writes there, and no variable, can make one of them silent.

use std::fs;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::agent::Output;
use crate::files;
use crate::flags::HookOptions;
use crate::once::{self, Claim};
use crate::paths::Paths;
use crate::trust;

/// A plugin that did not run for so long is gone.
const WEEK: Duration = Duration::from_secs(7 * 24 * 3600);
/// As long as either may take for an event, a human at a server asked.
const WINDOW: Duration = Duration::from_secs(24 * 3600);
/// The longest time between one's answer and the other's start, in milliseconds: what comes later is an event of its own.
const APART: u128 = 2_000;
/// What stands between the parts of an answer; no text that is printed holds one.
const BETWEEN: char = '\0';

/// Who judges this event.
pub enum Turn {
    /// No plugin runs beside us.
    Alone,
    /// We do, for the other as well: in whose name it is claimed.
    First(Claim, char),
    /// The other did: this is what to answer.
    Second(Output),
}

impl Turn {
    /// Takes the turn, or waits for who has it. Different configs, servers or versions are different judges.
    pub fn take(options: &HookOptions, paths: &Paths, input: &[u8], deadline: Instant) -> Turn {
        let agent = options.agent_or_default().id();
        let mark = paths.state.join(format!("plugin-{agent}"));
        let side = if options.plugin {
            let _ = files::replace_file(&mark, b"");
            'p'
        } else if is_recent(&mark) {
            's'
        } else {
            return Turn::Alone;
        };
        let HookOptions { event, server, .. } = options;
        let judge = (env!("CARGO_PKG_VERSION"), agent, event, server, &paths.home, &paths.config);
        let mut identity = format!("{judge:?}").into_bytes();
        identity.extend_from_slice(input);
        let key = format!("turn-{}", &trust::sha256_hex(&identity)[..32]);
        let notes = paths.notes();
        match once::claim(&notes, &key, WINDOW, deadline) {
            Claim::Done(bytes) => match read_answer(&bytes, side) {
                // Once only: the next event may look the same.
                Some(output) => {
                    once::forget(&notes, &key);
                    Turn::Second(output)
                }
                // Of an event before that looked the same.
                None => Turn::First(once::claim(&notes, &key, Duration::ZERO, deadline), side),
            },
            claim => Turn::First(claim, side),
        }
    }

    /// Leaves the answer for the other. What decides nothing is told once.
    pub fn finish(self, output: &Output, decides: bool) {
        let Turn::First(claim, side) = self else { return };
        let Output { stdout, stderr, status, refusal } = output;
        // Some clients take no answer at all for a failure.
        let stdout = match decides {
            true => stdout,
            false if stdout.starts_with('{') => "{}",
            false => "",
        };
        let refusal = refusal.as_deref().unwrap_or_default();
        let numbers = format!("{side}{}{BETWEEN}{status}", now());
        let parts = [&numbers, stdout, stderr, refusal];
        claim.finish(parts.join(&BETWEEN.to_string()).as_bytes());
    }
}

/// Does a plugin run in these days?
fn is_recent(mark: &std::path::Path) -> bool {
    let written = fs::symlink_metadata(mark).and_then(|meta| meta.modified());
    written.is_ok_and(|time| time.elapsed().unwrap_or_default() < WEEK)
}

/// What the other side left, just now.
fn read_answer(bytes: &[u8], side: char) -> Option<Output> {
    let text = std::str::from_utf8(bytes).ok()?;
    let mut parts = text.splitn(5, BETWEEN);
    let mut first = parts.next()?.chars();
    let of = first.next()?;
    let then: u128 = first.as_str().parse().ok()?;
    if of == side || now().abs_diff(then) > APART {
        return None;
    }
    Some(Output {
        status: parts.next()?.parse().ok()?,
        stdout: parts.next()?.to_string(),
        stderr: parts.next()?.to_string(),
        refusal: parts.next().filter(|text| !text.is_empty()).map(str::to_string),
    })
}

/// Milliseconds since 1970.
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis()
}
