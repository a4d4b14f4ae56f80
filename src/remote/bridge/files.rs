//! The files of the event bridge: what its listener did not get, and why. Each is one JSON array, written anew
//! for every entry, under one lock for both.

use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use crate::dialect::bridge::json::Json;
use crate::files::{self, Refusal};

/// How much of what was not sent is kept, in bytes.
const ROOM: usize = 10 << 20;
/// How many errors are kept.
const ERRORS: usize = 200;
/// The largest file that is read: another program may have written it, which knows no bound.
const LARGEST: u64 = 64 << 20;

/// The right to write the files of one agent in one directory.
pub(super) struct Files {
    fallback: PathBuf,
    errors: PathBuf,
    _lock: File,
}

impl Files {
    /// Waits for it so long.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub(super) fn lock_directory(
        dir: &Path,
        route: &str,
        patience: Duration,
    ) -> Result<Files, String> {
        let fallback = dir.join(fallback_name(route));
        let path = dir.join(format!("{route}-events.json.lock"));
        let failed = |error: io::Error| format!("{}: {error}", path.display());
        let lock = files::open_to_edit(&path).map_err(failed)?;
        let end = Instant::now() + patience;
        loop {
            match lock.try_lock() {
                Ok(()) => break,
                Err(TryLockError::Error(error)) => return Err(failed(error)),
                Err(TryLockError::WouldBlock) if Instant::now() >= end => {
                    return Err(format!("{}: another process has it", path.display()));
                }
                Err(TryLockError::WouldBlock) => thread::sleep(Duration::from_millis(5)),
            }
        }
        let errors = dir.join(format!("{route}-events-errors.json"));
        Ok(Files { fallback, errors, _lock: lock })
    }

    /// The file of what was not sent.
    pub(super) fn fallback_file(&self) -> &Path {
        &self.fallback
    }

    /// What was not sent, oldest first. What cannot be read is set aside and None.
    ///
    /// # Errors
    /// Why it can neither be read nor set aside.
    pub(super) fn read_events(&self) -> Result<Option<Vec<Json>>, String> {
        read_elements(&self.fallback)
    }

    /// Writes what was not sent: of too much the newest, and at least one; nothing at all is no file.
    ///
    /// # Errors
    /// Why it is as it was.
    pub(super) fn write_events(&self, events: &[Json]) -> Result<(), String> {
        if events.is_empty() {
            return match fs::remove_file(&self.fallback) {
                Err(error) if error.kind() != ErrorKind::NotFound => {
                    Err(format!("{}: {error}", self.fallback.display()))
                }
                _ => Ok(()),
            };
        }
        write_elements(&self.fallback, events)
    }

    /// Adds an error; the newest stay.
    ///
    /// # Errors
    /// Why it is not noted.
    pub(super) fn add_error(&self, error: Json) -> Result<(), String> {
        let mut all = read_elements(&self.errors)?.unwrap_or_default();
        all.push(error);
        write_elements(&self.errors, &all[all.len().saturating_sub(ERRORS)..])
    }
}

/// The elements of the file, none where it is not there; what is no array is one element.
fn read_elements(path: &Path) -> Result<Option<Vec<Json>>, String> {
    let text = match files::plain_text(path, LARGEST) {
        Err(Refusal::Absent) => return Ok(Some(Vec::new())),
        text => text,
    };
    match text.ok().as_deref().and_then(Json::parse) {
        Some(Json::Array(all)) => Ok(Some(all)),
        Some(other) => Ok(Some(vec![other])),
        None => {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let aside =
                path.with_file_name(format!("{name}.corrupt-{}", super::unix_milliseconds()));
            let failed = |error| format!("{}: {error}", path.display());
            fs::rename(path, aside).map_err(failed).map(|()| None)
        }
    }
}

fn write_elements(path: &Path, all: &[Json]) -> Result<(), String> {
    let mut texts: Vec<String> = all.iter().map(|one| one.to_pretty(1)).collect();
    let mut room = texts.iter().map(|text| text.len() + 4).sum::<usize>();
    let oldest = texts.iter().take(texts.len() - 1);
    let gone = oldest.take_while(|text| {
        let over = room > ROOM;
        room -= if over { text.len() + 4 } else { 0 };
        over
    });
    let gone = gone.count();
    texts.drain(..gone);
    let text = format!("[\n  {}\n]", texts.join(",\n  "));
    files::replace_file(path, text.as_bytes())
        .map_err(|error| format!("{}: {error}", path.display()))
}

/// What the file of what was not sent is called.
pub(super) fn fallback_name(route: &str) -> String {
    format!("{route}-events.json")
}

/// A directory that the files may be in.
pub(super) struct CandidateDirectory {
    pub(super) dir: PathBuf,
    /// Everybody may write beside it, and could have made it first.
    pub(super) shared: bool,
}

impl CandidateDirectory {
    fn try_out(&self) -> io::Result<()> {
        files::private_dir(&self.dir)?;
        if !self.is_safe() {
            return Err(io::Error::other("others can read or write it"));
        }
        let probe = self.dir.join(format!(".write-test-{}", std::process::id()));
        // A full disk still makes empty files.
        let written = files::replace_file(&probe, b"test");
        let removed = fs::remove_file(probe);
        written?;
        match removed {
            // Of the sender's threads another was faster.
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Can nobody else have put anything there?
    pub(super) fn is_safe(&self) -> bool {
        if !self.shared {
            return true;
        }
        let meta = fs::symlink_metadata(&self.dir);
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            let own = rustix::process::geteuid().as_raw();
            meta.is_ok_and(|meta| meta.is_dir() && meta.uid() == own && meta.mode() & 0o077 == 0)
        }
        #[cfg(not(unix))]
        meta.is_ok_and(|meta| meta.is_dir())
    }
}

/// The first of these that can be written.
///
/// # Errors
/// Why none can.
pub(super) fn first_writable(places: &[CandidateDirectory]) -> Result<&Path, String> {
    let mut causes = Vec::new();
    for place in places {
        match place.try_out() {
            Ok(()) => return Ok(&place.dir),
            Err(error) => causes.push(format!("{}: {error}", place.dir.display())),
        }
    }
    Err(causes.join("; "))
}
