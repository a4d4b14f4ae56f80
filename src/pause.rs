//! A pause: the note until when everything passes.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::files::{self, Refusal};
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
}

impl PauseNote {
    /// A pause from now on.
    pub fn for_duration(duration: Duration) -> PauseNote {
        let since = unix_now();
        PauseNote { until: since + duration.as_secs().max(1), since }
    }

    /// Does it hold? Not before it was made, as a clock says that was set back, and not longer than any
    /// pause may.
    fn is_in_force(self, now: u64) -> bool {
        (self.since..self.until).contains(&now) && self.until - self.since <= LONGEST.as_secs()
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
    let now = unix_now();
    let (over, holds) = (note.until <= now, note.is_in_force(now));
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
            assert_eq!(PauseNote { until, since }.is_in_force(now), holds, "{since} {until} {now}");
        }
    }
}
