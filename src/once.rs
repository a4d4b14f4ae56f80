//! Once only: two registrations of hookctl for one event must not run, notify or send twice.
//!
//! The client starts both at the same time. The first to claim the event runs the commands and
//! leaves what came of them; the second waits for that and answers the same.

use std::fs::{self, File, TryLockError};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant, SystemTime};

use crate::files;
use crate::limits;

/// Notes older than this are swept away.
const OLD: Duration = Duration::from_secs(3600);
/// What a note ends with when all of it is there.
const END: u8 = b'\n';
/// How often a note is looked at that another process holds.
const TICK: Duration = Duration::from_millis(2);
/// The largest note, in bytes: what all commands of an event printed, with room for their quotes.
const LARGEST: u64 = 64 << 20;

/// The claim on one event.
pub enum Claim {
    /// We are the first (or cannot know): run, then [`Claim::finish`]. The note, and since when.
    First(Option<(File, SystemTime)>),
    /// Another process ran already: this is what it left.
    Done(Vec<u8>),
}

/// Claims `key`, a name for the event and what is to be run for it. A claim older than `window`
/// is another event that looks the same.
///
/// Who runs holds a lock on its note, which ends with its process: of one that was killed nothing is
/// waited for.
pub fn claim(notes: &Path, key: &str, window: Duration, deadline: Instant) -> Claim {
    let path = notes.join(format!("once-{key}"));
    loop {
        let Ok(mut file) = files::open_to_edit(&path) else { return Claim::First(None) };
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) if Instant::now() < deadline => {
                thread::sleep(TICK);
                continue;
            }
            Err(_) => return Claim::First(None),
        }
        // Between opening and locking it was swept away: it is nobody's claim any more.
        if path.symlink_metadata().is_err() {
            continue;
        }
        if let Some(bytes) = read_finished_note(&path, &mut file, window) {
            return Claim::Done(bytes);
        }
        let since = SystemTime::now();
        let anew = file.rewind().and_then(|()| file.set_len(0));
        if anew.and_then(|()| file.set_modified(since)).is_err() {
            return Claim::First(None);
        }
        // Every note is looked at, so not each time: keys end with a digit of a hash.
        if key.ends_with('0') {
            sweep_old_notes(notes);
        }
        return Claim::First(Some((file, since)));
    }
}

/// What another process left in its note for this very event, all of it.
fn read_finished_note(path: &Path, file: &mut File, window: Duration) -> Option<Vec<u8>> {
    let meta = file.metadata().ok()?;
    files::check_protected(path, &meta).ok()?;
    if file_age(&meta)? > window || meta.len() > LARGEST {
        return None;
    }
    let mut bytes = Vec::new();
    file.take(LARGEST).read_to_end(&mut bytes).ok()?;
    (bytes.pop() == Some(END)).then_some(bytes)
}

impl Claim {
    /// Leaves what came of it for the second.
    pub fn finish(self, bytes: &[u8]) {
        if let Claim::First(Some((mut file, since))) = self {
            let _ = file.write_all(&[bytes, &[END]].concat());
            // Its age is that of the claim.
            let _ = file.set_modified(since);
        }
    }
}

/// Takes the note away: the next claim is the first.
pub fn forget(notes: &Path, key: &str) {
    let _ = fs::remove_file(notes.join(format!("once-{key}")));
}

/// Says something once for each `key`: true the first time, and where that cannot be noted.
pub fn first_time(notes: &Path, key: &str) -> bool {
    let made = files::create_private(&notes.join(format!("said-{key}")));
    !made.is_err_and(|error| error.kind() == ErrorKind::AlreadyExists)
}

/// How often in a row `key` was counted; `count` adds one or sets it back.
pub fn read_count(notes: &Path, key: &str) -> u32 {
    let text = files::state_text(&notes.join(format!("count-{key}")), files::SMALL);
    text.unwrap_or_default().trim().parse().unwrap_or(0)
}

/// Stores the count.
pub fn store_count(notes: &Path, key: &str, number: u32) {
    let path = notes.join(format!("count-{key}"));
    if number == 0 {
        let _ = fs::remove_file(path);
    } else {
        let _ = files::replace_file(&path, number.to_string().as_bytes());
    }
}

/// How far its time is from now: a clock that was set back makes no note a new one.
fn file_age(meta: &fs::Metadata) -> Option<Duration> {
    let modified = meta.modified().ok()?;
    Some(SystemTime::now().duration_since(modified).unwrap_or_else(|error| error.duration()))
}

/// What is old goes, and beside the notes what those left that were killed while they wrote.
fn sweep_old_notes(notes: &Path) {
    let keep = |name: &str| Some(if name.starts_with("once-") { OLD } else { OLD * 24 * 7 });
    files::sweep_directory(notes, limits::SWEPT, keep);
    let state = notes.parent().unwrap_or(notes);
    for dir in [state, &state.join("managed")] {
        files::sweep_directory(dir, limits::SWEPT, files::draft_keep);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(unix)]
    fn a_note_that_cannot_be_taken_away_ends_it() {
        // A directory in its place can be neither read nor replaced; what is old stays old.
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("once-k");
        fs::create_dir(&path).unwrap();
        let soon = Instant::now() + Duration::from_secs(5);
        let claimed = claim(dir.path(), "k", Duration::ZERO, soon);
        assert!(matches!(claimed, Claim::First(_)));
        assert!(Instant::now() < soon);
    }

    #[test]
    fn what_is_forgotten_is_claimed_anew() {
        let dir = tempfile::tempdir().unwrap();
        let window = Duration::from_secs(60);
        let soon = || Instant::now() + Duration::from_secs(5);
        claim(dir.path(), "k", window, soon()).finish(b"answer");
        assert!(matches!(claim(dir.path(), "k", window, soon()), Claim::Done(_)));
        forget(dir.path(), "k");
        assert!(matches!(claim(dir.path(), "k", window, soon()), Claim::First(Some(_))));
    }

    #[test]
    fn the_second_gets_what_the_first_left() {
        let dir = tempfile::tempdir().unwrap();
        let window = Duration::from_secs(5);
        let deadline = Instant::now() + Duration::from_secs(5);
        let first = claim(dir.path(), "k", window, deadline);
        assert!(matches!(first, Claim::First(Some(_))));
        let notes = dir.path().to_path_buf();
        let second = thread::spawn(move || claim(&notes, "k", window, deadline));
        thread::sleep(Duration::from_millis(30));
        first.finish(b"answer");
        assert!(matches!(second.join().unwrap(), Claim::Done(bytes) if bytes == b"answer"));
        assert!(matches!(
            claim(dir.path(), "k", Duration::ZERO, deadline),
            Claim::First(Some(_)) | Claim::Done(_)
        ));
    }

    #[test]
    fn half_a_note_is_no_answer_and_a_note_is_as_old_as_its_claim() {
        let dir = tempfile::tempdir().unwrap();
        let window = Duration::from_millis(400);
        let soon = || Instant::now() + Duration::from_millis(20);
        let Claim::First(Some((mut file, since))) = claim(dir.path(), "k", window, soon()) else {
            panic!("not the first");
        };
        file.write_all(b"ans").unwrap();
        assert!(matches!(claim(dir.path(), "k", window, soon()), Claim::First(None)));
        thread::sleep(window);
        Claim::First(Some((file, since))).finish(b"wer");
        // Another event that looks the same.
        assert!(matches!(claim(dir.path(), "k", window, soon()), Claim::First(Some(_))));
    }

    #[test]
    fn what_is_old_is_swept_away() {
        let dir = tempfile::tempdir().unwrap();
        let old = dir.path().join("once-old");
        let file = fs::File::create(&old).unwrap();
        file.set_modified(SystemTime::now() - OLD - OLD).unwrap();
        drop(file);
        for key in ["a1", "a0"] {
            assert!(old.exists());
            claim(dir.path(), key, OLD, Instant::now());
        }
        assert!(!old.exists());
    }

    #[test]
    fn counts_and_first_times() {
        let dir = tempfile::tempdir().unwrap();
        assert!(first_time(dir.path(), "a") && !first_time(dir.path(), "a"));
        assert_eq!(read_count(dir.path(), "x"), 0);
        store_count(dir.path(), "x", 3);
        assert_eq!(read_count(dir.path(), "x"), 3);
        store_count(dir.path(), "x", 0);
        assert_eq!(read_count(dir.path(), "x"), 0);
    }
}
