//! A pause: the note until when everything passes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::files::{self, Refusal};
use crate::moment;
use crate::paths::Paths;

/// The longest pause.
pub const LONGEST: Duration = Duration::from_secs(24 * 3600);

/// The content of `pause.json`, in seconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseNote {
    /// Until when.
    pub until: u64,
    /// Since when.
    pub since: u64,
    /// The machine's uptime then: a clock that is set back makes no pause longer.
    #[serde(default)]
    pub uptime: Option<u64>,
}

impl PauseNote {
    /// A pause from now on.
    pub fn for_duration(duration: Duration) -> PauseNote {
        let since = unix_now();
        PauseNote { until: since + duration.as_secs().max(1), since, uptime: moment::uptime() }
    }

    /// Does it hold? Not before it was made, as a clock says that was set back, nor for longer than it was made for
    /// or any pause may be.
    fn is_in_force(self, now: u64, uptime: Option<u64>) -> bool {
        (self.since..self.until).contains(&now)
            && self.until - self.since <= LONGEST.as_secs()
            && !moment::is_over(self.uptime, self.until - self.since, uptime)
    }

    /// Has it ended? By the one clock or the other.
    fn is_over(self, now: u64, uptime: Option<u64>) -> bool {
        self.until <= now
            || moment::is_over(self.uptime, self.until.saturating_sub(self.since), uptime)
    }
}

/// Until when a human has paused hookctl; None where it is not paused.
///
/// # Errors
/// Why the note that is there is not believed: it pauses nothing.
pub fn paused_until(paths: &Paths) -> Result<Option<u64>, String> {
    let path = paths.pause();
    let bytes = match files::read_state(&path, files::SMALL) {
        Ok(bytes) => bytes,
        Err(Refusal::Absent) => return Ok(None),
        Err(refusal) => return Err(format!("no pause: {}", refusal.describe_for(&path))),
    };
    let Ok(note) = serde_json::from_slice::<PauseNote>(&bytes) else {
        return Err(format!("no pause: {} is no note of one", path.display()));
    };
    let (now, uptime) = (unix_now(), moment::uptime());
    let (over, holds) = (note.is_over(now, uptime), note.is_in_force(now, uptime));
    match over || holds {
        true => Ok(holds.then_some(note.until)),
        false => {
            Err(format!("no pause: {} is of another time, or for longer than 24 h", path.display()))
        }
    }
}

fn unix_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_pause_outlasts_a_day_or_begins_later() {
        let day = LONGEST.as_secs();
        for (since, until, now, holds) in [
            (100, 200, 100, true),
            (100, 200, 199, true),
            (100, 200, 200, false),
            (100, 200, 99, false),
            (100, 100 + day, 50 + day, true),
            (100, 101 + day, 150, false),
            (0, u64::MAX, 150, false),
            (u64::MAX, u64::MAX, u64::MAX, false),
            (200, 100, 150, false),
        ] {
            let note = PauseNote { until, since, uptime: None };
            assert_eq!(note.is_in_force(now, None), holds, "{since} {until} {now}");
            // Whatever the machine's clock says of one without its time.
            assert_eq!(note.is_in_force(now, Some(u64::MAX)), holds, "{since} {until} {now}");
        }
    }

    #[test]
    fn a_clock_that_is_set_makes_no_pause_longer() {
        const YEAR: u64 = 365 * 86_400;
        // Made at the wall's 10,000 and after 500 s of the machine, for 100 s.
        let note = PauseNote { since: 10_000, until: 10_100, uptime: Some(500) };
        for (now, uptime, holds, over) in [
            (10_000, Some(500), true, false),
            (10_099, Some(599), true, false),
            (10_100, Some(600), false, true),
            // Set back within the pause, and again and again.
            (10_000, Some(599), true, false),
            (10_000, Some(600), false, true),
            (10_099, Some(500 + YEAR), false, true),
            // Set back before it, and there again a year later.
            (1, Some(501), false, false),
            (10_050, Some(501 + YEAR), false, true),
            // Set forward: it is over.
            (10_000 + YEAR, Some(501), false, true),
            // The machine has started again: only the wall's clock can tell.
            (10_050, Some(3), true, false),
            (10_100, Some(3), false, true),
            (10_050, None, true, false),
        ] {
            let said = (note.is_in_force(now, uptime), note.is_over(now, uptime));
            assert_eq!(said, (holds, over), "{now} {uptime:?}");
        }
    }
}
