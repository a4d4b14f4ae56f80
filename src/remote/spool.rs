//! The spool: what servers are still to be told, one file for each message, one directory for each
//! server.
//!
//! A file appears whole and under its own name, so that any number of hooks may add while one sender
//! takes away: nobody rewrites what another wrote, and whoever is killed leaves at most the message
//! that it was about.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use super::bridge::{Flags, InputFault};
use crate::files::{self, Refusal};
use crate::limits;
use crate::rule::Layer;
use crate::trust;

/// How many messages wait for one server at most.
const MOST: usize = 1_000;
/// How much they may take together, in bytes.
const ROOM: u64 = 4 << 20;
/// The largest message, unless its server gets all of an event.
const LARGEST: usize = 1 << 20;
/// The largest that is read: an event is 16 MiB at most, and its quotes are escaped here.
const ANY: u64 = 64 << 20;
/// What is not yet complete after this long was left by somebody who was killed.
const ABANDONED: Duration = Duration::from_secs(60);
/// So long what cannot be read is kept for people to look at.
const UNREADABLE: Duration = Duration::from_secs(7 * 86_400);

/// What a server is to be told: all but headers, tokens and signatures, which come from the config
/// when it is sent.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// The event's id.
    pub id: String,
    /// When it was, in milliseconds since 1970.
    pub time: u64,
    /// The server's name.
    pub remote: String,
    /// The project whose files say what the server is.
    pub root: String,
    /// It is the project's own, not the user's or the administrator's.
    pub project: bool,
    /// How much of an event it was to get, as a number: more is less.
    pub send: u8,
    /// The event's name.
    pub event: String,
    /// Whose event it is.
    #[serde(default)]
    pub agent: String,
    /// The request's body.
    pub body: String,
    /// Why there is nothing to send: a bridge only notes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fault: Option<InputFault>,
    /// The bridge of the message, where its own hook says what it is, and no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bridge: Option<Flags>,
}

/// What waits for one server.
#[derive(Debug)]
pub struct Spool {
    dir: PathBuf,
    /// The largest message that it takes, in bytes.
    largest: usize,
}

impl Spool {
    /// In that directory, the spool of a server of one project's files, or of the user's and the administrator's.
    pub fn for_server(spools: &Path, layer: Layer, remote: &str, root: &Path) -> Spool {
        let spool = Spool { dir: spools.join(remote), largest: LARGEST };
        match layer.is_project() {
            true => spool.for_other_server(&root.to_string_lossy()),
            false => spool,
        }
    }

    /// The one of another server with that name: what one does not take keeps no other waiting.
    pub fn for_other_server(self, by: &str) -> Spool {
        // No name has a dot.
        let dir = self.dir.with_extension(&trust::sha256_hex(by.as_bytes())[..8]);
        Spool { dir, ..self }
    }

    /// The same for whole events, however large.
    pub fn for_events(self) -> Spool {
        Spool { largest: ANY as usize, ..self }
    }

    /// Every spool there that was ever used.
    pub fn all_spools(spools: &Path) -> Vec<Spool> {
        let entries = fs::read_dir(spools).into_iter().flatten().flatten();
        let dirs = entries.map(|entry| entry.path()).filter(|path| path.is_dir());
        let mut dirs: Vec<PathBuf> = dirs.collect();
        crate::order::sort(&mut dirs);
        dirs.into_iter().map(|dir| Spool { dir, largest: LARGEST }).collect()
    }

    /// The server's name.
    pub fn remote_name(&self) -> String {
        let name = self.dir.file_name().unwrap_or_default().to_string_lossy();
        name.split('.').next().unwrap_or_default().to_string()
    }

    /// Where it is.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Adds a message; of a full spool the oldest make room: how many. A server that takes none of
    /// them shall not be a reason to lose all that come later.
    ///
    /// # Errors
    /// Why it is not kept.
    pub fn put(&self, message: &Message) -> Result<usize, String> {
        let bytes = serde_json::to_vec(message).map_err(|why| format!("no message: {why}"))?;
        if bytes.len() > self.largest {
            return Err(format!("it is larger than {} MiB", self.largest >> 20));
        }
        let draft = self.dir.join(format!("{}.tmp", message.id));
        let written = files::create_private(&draft)
            .and_then(|mut file| file.write_all(&bytes))
            .and_then(|()| fs::rename(&draft, draft.with_extension("json")));
        if let Err(error) = written {
            let _ = fs::remove_file(draft);
            return Err(format!("{}: {error}", self.dir.display()));
        }
        Ok(self.make_room())
    }

    fn make_room(&self) -> usize {
        let sized = |path: PathBuf| (fs::metadata(&path).map_or(0, |meta| meta.len()), path);
        let all: Vec<(u64, PathBuf)> = self.waiting_messages().into_iter().map(sized).collect();
        let (mut count, mut room) = (all.len(), all.iter().map(|(size, _)| size).sum::<u64>());
        let mut gone = 0;
        for (size, path) in all {
            if count <= MOST && room <= ROOM.max(self.largest as u64) {
                break;
            }
            (count, room) = (count - 1, room - size);
            // Where it is gone already it was sent, or another made room.
            gone += usize::from(fs::remove_file(path).is_ok());
        }
        gone
    }

    /// The messages that wait, oldest first: their names begin with the time.
    pub fn waiting_messages(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(&self.dir).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let mut found: Vec<PathBuf> =
            paths.filter(|path| path.extension().is_some_and(|end| end == "json")).collect();
        crate::order::sort(&mut found);
        found
    }

    /// Reads a message; None where there is none any more.
    ///
    /// # Errors
    /// Why it cannot be used.
    pub fn read_message(path: &Path) -> Result<Option<Message>, String> {
        match files::read_state(path, ANY) {
            Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|why| why.to_string()),
            Err(Refusal::Absent) => Ok(None),
            Err(refusal) => Err(format!("it {refusal}")),
        }
    }

    /// Keeps what cannot be read out of the way.
    ///
    /// # Errors
    /// Where the directory cannot be written.
    pub fn set_aside(path: &Path) -> io::Result<()> {
        fs::rename(path, path.with_extension("bad"))
    }

    /// Does nobody send?
    pub fn is_idle(&self) -> bool {
        matches!(self.try_lock(), Ok(Some(_)))
    }

    /// The right to send, which ends with the file or its process; None where another has it and
    /// keeps it for so long.
    ///
    /// # Errors
    /// Where the directory cannot be written: what was sent could not be taken away.
    pub fn lock(&self, patience: Duration) -> io::Result<Option<File>> {
        let end = Instant::now() + patience;
        loop {
            if let Some(lock) = self.try_lock()? {
                let probe = self.dir.join("probe");
                files::replace_file(&probe, b"").and_then(|()| fs::remove_file(&probe))?;
                self.sweep_abandoned();
                return Ok(Some(lock));
            }
            if Instant::now() >= end {
                return Ok(None);
            }
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn try_lock(&self) -> io::Result<Option<File>> {
        let file = files::open_to_edit(&self.dir.join("lock"))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }

    /// Takes away what the killed left, and what could not be read for long.
    fn sweep_abandoned(&self) {
        files::sweep_directory(&self.dir, limits::SWEPT, |name| match name.rsplit_once('.')?.1 {
            "tmp" => Some(ABANDONED),
            "bad" => Some(UNREADABLE),
            _ => None,
        });
    }
}

/// How many messages wait for servers of that name.
pub fn count_waiting(spools: &Path, remote: &str) -> usize {
    let spools =
        Spool::all_spools(spools).into_iter().filter(|spool| spool.remote_name() == remote);
    spools.map(|spool| spool.waiting_messages().len()).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(id: usize, size: usize) -> Message {
        Message {
            id: format!("{id:06}"),
            time: 1,
            remote: "x".into(),
            root: "/p".into(),
            project: false,
            send: 0,
            event: "Stop".into(),
            agent: "claude".into(),
            body: "b".repeat(size),
            ..Message::default()
        }
    }

    #[test]
    fn a_full_spool_loses_its_oldest() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::for_server(dir.path(), Layer::User, "x", Path::new("/p"));
        let gone: usize = (0..MOST + 3).map(|id| spool.put(&message(id, 10)).unwrap()).sum();
        assert_eq!((gone, count_waiting(dir.path(), "x")), (3, MOST));
        assert_eq!(
            Spool::read_message(&spool.waiting_messages()[0]).unwrap(),
            Some(message(3, 10))
        );
        // By size: four of these and nothing else.
        let spool = Spool::for_server(dir.path(), Layer::Local, "x", Path::new("/p"));
        let size = LARGEST - 200;
        let gone: usize = (0..6).map(|id| spool.put(&message(id, size)).unwrap()).sum();
        assert_eq!((gone, spool.waiting_messages().len()), (2, 4));
        assert!(spool.put(&message(7, LARGEST)).unwrap_err().contains("larger than 1 MiB"));
        assert_eq!(count_waiting(dir.path(), "x"), MOST + 4, "of the user and of the project");
    }

    #[test]
    fn one_sends_and_what_the_killed_left_goes() {
        let dir = tempfile::tempdir().unwrap();
        let spool = Spool::for_server(dir.path(), Layer::User, "x", Path::new("/p"));
        spool.put(&message(1, 10)).unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
            assert_eq!((mode(&spool.dir), mode(&spool.waiting_messages()[0])), (0o700, 0o600));
        }
        let draft = spool.dir.join("old.tmp");
        let file = File::create(&draft).unwrap();
        file.set_modified(std::time::SystemTime::now() - ABANDONED * 2).unwrap();
        drop(file);
        assert!(spool.is_idle());
        let lock = spool.lock(Duration::ZERO).unwrap().expect("nobody has it");
        assert!(!spool.is_idle() && !draft.exists());
        assert!(spool.lock(Duration::ZERO).unwrap().is_none());
        drop(lock);
        assert!(spool.is_idle());
        assert_eq!((spool.waiting_messages().len(), spool.remote_name().as_str()), (1, "x"));
    }
}
