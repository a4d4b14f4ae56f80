//! The circuit breaker: a server that was down for one event is not waited for at the next.
//!
//! One small file per server in the state directory. While it is there, events get the failure
//! answer at once; every half minute one of them tries the server again. A server that is asked has a
//! second one for what it is told: that it does not take that says nothing about questions.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::{Deserialize, Serialize};

use crate::files;
use crate::rule::file::Remote;
use crate::trust;

/// How long a server is left alone, in milliseconds.
const PAUSE: u64 = 30_000;

/// What the file holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct BreakerNote {
    /// Since when the server is down, in milliseconds since 1970.
    pub since: u64,
    /// When it was last tried.
    pub tried: u64,
    /// What was wrong.
    pub cause: String,
}

/// What is to be done with an event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BreakerState {
    /// Ask.
    Closed,
    /// Ask once: it is time to look again.
    Probe,
    /// Do not ask, for this reason.
    Open(String),
}

/// The breaker of one server.
#[derive(Debug)]
pub struct Breaker {
    path: PathBuf,
}

impl Breaker {
    /// Of that server, wherever it was configured: the same name may mean another elsewhere.
    pub fn for_questions(state: &Path, remote: &Remote) -> Breaker {
        Breaker::with_suffix(state, remote, "")
    }

    /// The one for what it is told.
    pub fn for_messages(state: &Path, remote: &Remote) -> Breaker {
        Breaker::with_suffix(
            state,
            remote,
            if remote.dialect.facts().decides { "-told" } else { "" },
        )
    }

    fn with_suffix(state: &Path, remote: &Remote, end: &str) -> Breaker {
        let urls: Vec<&str> = remote.urls.iter().map(|url| url.text.as_str()).collect();
        let hash = &trust::sha256_hex(urls.join(" ").as_bytes())[..8];
        Breaker { path: state.join(format!("remote-{}-{hash}{end}.json", remote.name)) }
    }

    /// What is known of it; None = nothing is wrong. A file that cannot be read says nothing.
    pub fn read_note(&self) -> Option<BreakerNote> {
        serde_json::from_slice(&files::read_state(&self.path, files::SMALL).ok()?).ok()
    }

    /// Is it too early to try the server again? Notes nothing.
    pub fn is_pausing(&self) -> bool {
        self.read_note().is_some_and(|note| unix_milliseconds().abs_diff(note.tried) < PAUSE)
    }

    /// May it be asked? Notes that it is tried.
    pub fn check_state(&self) -> BreakerState {
        let Some(note) = self.read_note() else { return BreakerState::Closed };
        let now = unix_milliseconds();
        // A clock that was set back must not keep it open.
        if now.abs_diff(note.tried) < PAUSE {
            return BreakerState::Open(note.cause);
        }
        self.write_note(&BreakerNote { tried: now, ..note });
        BreakerState::Probe
    }

    /// It was down for a whole event.
    pub fn open(&self, cause: &str) {
        let now = unix_milliseconds();
        let since = self.read_note().map_or(now, |note| note.since);
        self.write_note(&BreakerNote { since, tried: now, cause: cause.into() });
    }

    /// It answered: had it been down?
    pub fn close(&self) -> bool {
        fs::remove_file(&self.path).is_ok()
    }

    fn write_note(&self, note: &BreakerNote) {
        // Lost, the server is asked once more.
        let _ = files::replace_file(&self.path, &serde_json::to_vec(note).unwrap_or_default());
    }
}

/// Milliseconds since 1970.
pub fn unix_milliseconds() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.as_millis() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_waits_probes_and_closes() {
        let dir = tempfile::tempdir().unwrap();
        let breaker = Breaker { path: dir.path().join("state/remote-x-0.json") };
        assert_eq!(breaker.check_state(), BreakerState::Closed);
        breaker.open("connection refused");
        assert_eq!(breaker.check_state(), BreakerState::Open("connection refused".into()));
        assert!(breaker.is_pausing());
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = fs::metadata(&breaker.path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        }
        let mut note = breaker.read_note().unwrap();
        note.tried -= PAUSE;
        breaker.write_note(&note);
        assert!(!breaker.is_pausing());
        assert_eq!(breaker.check_state(), BreakerState::Probe);
        assert!(
            matches!(breaker.check_state(), BreakerState::Open(_)),
            "one probe, then it waits again"
        );
        let since = note.since;
        breaker.open("HTTP 503");
        assert_eq!(breaker.read_note().unwrap().since, since);
        assert!(breaker.close() && !breaker.close());
        assert_eq!(breaker.check_state(), BreakerState::Closed);
    }
}
