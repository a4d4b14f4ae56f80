//! Marks of a session: whether private data was read in it, untrusted content came in, something was sent. Each alone
//! is everyday work; a rule can speak of the combination.
//!
//! One small file for each session in the state directory, one line for each mark. It is read only where a rule asks
//! for it or a call would add to it, and nobody waits for a lock: a line is one write, and the same line twice says no
//! more than once. What cannot be read says that every mark stands, for only rules that stop may ask.

use std::fs::{self, Metadata};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use crate::files::{self, Refusal};
use crate::limits;
use crate::text;

words! {
    /// What is known of a session.
    Mark {
        /// Private data was read.
        Private = "private",
        /// Content came in that a stranger may have written.
        Untrusted = "untrusted",
        /// Something was sent to another machine.
        Sent = "sent",
    }
}

/// The largest file, in bytes: more is nothing that hookctl wrote.
const ROOM: u64 = 16 << 10;
/// How much of a session's id is kept for people, in bytes.
const SHOWN: usize = 200;
/// How many hosts of a project are kept.
const HOSTS: usize = 32;
/// A day.
const DAY: Duration = Duration::from_secs(86_400);
/// For so long after its last use a mark stands.
const KEPT: Duration = Duration::from_secs(7 * 86_400);

/// A set of marks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Marks(u8);

impl Marks {
    /// None of them.
    pub const NONE: Marks = Marks(0);
    /// All of them.
    pub const ALL: Marks = Marks((1 << Mark::NAMES.len()) - 1);

    /// Is none of them there?
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Is the mark among them?
    pub const fn contains(self, mark: Mark) -> bool {
        self.0 & 1 << mark as u8 != 0
    }

    /// These and those.
    #[must_use]
    pub const fn union(self, other: Marks) -> Marks {
        Marks(self.0 | other.0)
    }

    /// These without those.
    #[must_use]
    pub const fn without(self, other: Marks) -> Marks {
        Marks(self.0 & !other.0)
    }

    /// Each of them.
    pub fn iter(self) -> impl Iterator<Item = Mark> {
        Mark::NAMES.iter().map(|(_, mark)| *mark).filter(move |mark| self.contains(*mark))
    }

    /// Their words.
    pub fn names(self) -> Vec<String> {
        self.iter().map(|mark| mark.name().to_string()).collect()
    }
}

impl FromIterator<Mark> for Marks {
    fn from_iter<I: IntoIterator<Item = Mark>>(marks: I) -> Marks {
        marks.into_iter().fold(Marks::NONE, |all, mark| Marks(all.0 | 1 << mark as u8))
    }
}

/// Of words; what is none of them is left out.
impl<'w> FromIterator<&'w str> for Marks {
    fn from_iter<I: IntoIterator<Item = &'w str>>(words: I) -> Marks {
        let known =
            |word| Mark::NAMES.iter().find(|(name, _)| *name == word).map(|(_, mark)| *mark);
        words.into_iter().filter_map(known).collect()
    }
}

/// A mark as it is kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct KeptMark {
    /// Which.
    #[serde(with = "mark_word")]
    pub mark: Mark,
    /// When it was set, in seconds since 1970.
    pub time: u64,
    /// The beginning of the session's id.
    pub session: String,
    /// Beside `untrusted`: the hosts that were the project's own until then. What the content talks an agent into making one
    /// of them is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hosts: Option<Vec<String>>,
}

/// A mark by its word.
mod mark_word {
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    use super::Mark;

    pub(super) fn serialize<S: Serializer>(mark: &Mark, out: S) -> Result<S::Ok, S::Error> {
        out.serialize_str(mark.name())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Mark, D::Error> {
        let word = String::deserialize(from)?;
        let found = Mark::NAMES.iter().find(|(name, _)| *name == word);
        found.map(|(_, mark)| *mark).ok_or_else(|| D::Error::custom("no mark"))
    }
}

/// What a session's file says.
#[derive(Debug, Default)]
struct Kept {
    marks: Marks,
    /// The hosts that were the project's own when untrusted content first came in.
    hosts: Option<Vec<String>>,
    /// Why nobody knows: then every mark stands.
    fault: Option<String>,
    /// How long ago it was written or used.
    age: Duration,
}

impl Kept {
    fn unknown(fault: String) -> Kept {
        // Nor which remotes were there before.
        let hosts = Some(Vec::new());
        Kept { marks: Marks::ALL, hosts, fault: Some(fault), ..Kept::default() }
    }
}

/// The session of an event, as far as its marks go.
#[derive(Debug, Default)]
pub struct Session {
    /// Its id, as it is shown.
    id: String,
    /// The state directory, and what its file is named by; None = its marks were assumed.
    place: Option<(PathBuf, String)>,
    /// Where its marks are, which most events need not know.
    path: OnceLock<PathBuf>,
    /// For how long.
    keep: Duration,
    /// What the call at hand itself reads, which it may send.
    own: AtomicU8,
    known: OnceLock<Kept>,
    /// The hosts that are the project's own now.
    hosts: OnceLock<Vec<String>>,
}

impl Session {
    /// The session of that id. One without is the agent's in that project, for a day.
    pub fn new(state: &Path, id: &str, agent: &str, project: &str) -> Session {
        let nameless = format!("\0{agent}\0{project}");
        let (key, keep) = if id.is_empty() { (nameless.as_str(), DAY) } else { (id, KEPT) };
        let place = Some((state.to_path_buf(), key.to_string()));
        let id = id[..id.floor_char_boundary(SHOWN)].to_string();
        Session { id, place, keep, ..Session::default() }
    }

    /// One of which this is assumed.
    pub fn assumed(marks: Marks) -> Session {
        let known = OnceLock::from(Kept { marks, ..Kept::default() });
        Session { known, ..Session::default() }
    }

    /// Is nothing of it kept anywhere?
    pub fn is_assumed(&self) -> bool {
        self.place.is_none()
    }

    fn path(&self) -> Option<&Path> {
        let (state, key) = self.place.as_ref()?;
        let name = || directory(state).join(&text::sha256_hex(key.as_bytes())[..32]);
        Some(self.path.get_or_init(name))
    }

    /// What stands: what is kept, and what the call at hand does itself.
    pub fn standing(&self) -> Marks {
        self.known().marks.union(Marks(self.own.load(Ordering::Relaxed)))
    }

    /// Why nobody knows what stands.
    pub fn fault(&self) -> Option<&str> {
        self.known().fault.as_deref()
    }

    /// The call at hand does that, whatever becomes of it: what it reads it may send.
    pub fn note_own(&self, marks: Marks) {
        self.own.fetch_or(marks.0, Ordering::Relaxed);
    }

    /// The hosts that count as the project's own: those of now, and of those only what was there before untrusted content
    /// came in.
    pub fn project_hosts(&self, read: impl FnOnce() -> Vec<String>) -> (&[String], bool) {
        let now = self.hosts.get_or_init(read);
        match &self.known().hosts {
            None => (now, true),
            Some(before) => (before, now.iter().all(|host| before.contains(host))),
        }
    }

    /// Adds to what is kept, and says what is new of it. `hosts` are the project's own.
    ///
    /// # Errors
    /// Why nothing could be kept.
    pub fn add(&self, marks: Marks, hosts: impl FnOnce() -> Vec<String>) -> Result<Marks, String> {
        let Some(path) = self.path() else { return Ok(Marks::NONE) };
        let kept = self.known();
        // Of a file that is not understood another process may be about to write the first line.
        let before = if kept.fault.is_some() { Marks::NONE } else { kept.marks };
        let new = marks.without(before);
        if new.is_empty() {
            self.keep_alive(path, kept);
            return Ok(new);
        }
        let mut lines = Vec::new();
        let time = now();
        let mut hosts = new.contains(Mark::Untrusted).then(hosts);
        for mark in new.iter() {
            let hosts = if mark == Mark::Untrusted { hosts.take() } else { None };
            let hosts = hosts.map(|hosts| hosts.into_iter().take(HOSTS).collect());
            let line = KeptMark { mark, time, session: self.id.clone(), hosts };
            lines.extend(serde_json::to_vec(&line).unwrap_or_default());
            lines.push(b'\n');
        }
        if before.is_empty() {
            // What sessions left that are out of use.
            let dir = path.parent().unwrap_or(path);
            files::sweep_directory(dir, limits::SWEPT, |_| Some(KEPT));
        }
        append(path, &lines).map(|()| new).map_err(|error| describe(path, &error))
    }

    /// The marks of a session that is in use do not age.
    fn keep_alive(&self, path: &Path, kept: &Kept) {
        if self.keep > DAY && kept.age > DAY {
            let file = files::open_to_edit(path);
            let _ = file.and_then(|file| file.set_modified(SystemTime::now()));
        }
    }

    fn known(&self) -> &Kept {
        self.known.get_or_init(|| match self.path() {
            Some(path) => read_file(path, self.keep),
            None => Kept::default(),
        })
    }
}

fn directory(state: &Path) -> PathBuf {
    state.join("marks")
}

fn describe(path: &Path, why: &dyn std::fmt::Display) -> String {
    format!("the marks of the session in {}: {why}", path.display())
}

fn read_file(path: &Path, keep: Duration) -> Kept {
    let (bytes, meta) = match files::read_state_with_meta(path, ROOM) {
        Ok(read) => read,
        Err(Refusal::Absent) => {
            // Where none could have been kept, nobody knows.
            let lost = files::find_lost_directory(path);
            return lost.map_or_else(Kept::default, |why| Kept::unknown(describe(path, &why)));
        }
        Err(refusal) => return Kept::unknown(refusal.describe_for(path)),
    };
    let age = age_of(&meta);
    let Some(mut lines) = read_lines(&bytes) else {
        return Kept::unknown(describe(path, &"not understood"));
    };
    // What has no name begins anew each day, whatever is added.
    let now = now();
    lines.retain(|line| {
        age <= keep && (keep > DAY || now.saturating_sub(line.time) <= keep.as_secs())
    });
    let marks = lines.iter().map(|line| line.mark).collect();
    let hosts = lines.into_iter().find_map(|line| line.hosts);
    Kept { marks, hosts, age, ..Kept::default() }
}

/// In seconds since 1970.
fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Adds lines in one write. Nobody adds without end to what is not understood.
fn append(path: &Path, lines: &[u8]) -> std::io::Result<()> {
    let mut file = files::open_to_append(path)?;
    if file.metadata()?.len() + lines.len() as u64 > ROOM {
        return Err(ErrorKind::StorageFull.into());
    }
    file.write_all(lines)
}

/// Every line; None where one is none, or there is none at all: who makes the file writes it.
fn read_lines(bytes: &[u8]) -> Option<Vec<KeptMark>> {
    let whole = bytes.strip_suffix(b"\n")?;
    whole.split(|byte| *byte == b'\n').map(|line| serde_json::from_slice(line).ok()).collect()
}

/// A time that is yet to come is now.
fn age_of(meta: &Metadata) -> Duration {
    let modified = meta.modified().ok();
    modified.and_then(|time| SystemTime::now().duration_since(time).ok()).unwrap_or_default()
}

/// All marks that are kept, for people: of the sessions whose ids begin so. What is not understood is left out.
pub fn all_marks(state: &Path, session: &str) -> Vec<KeptMark> {
    let files = fs::read_dir(directory(state)).into_iter().flatten().flatten();
    let read = |file: fs::DirEntry| {
        let (bytes, meta) = files::read_state_with_meta(&file.path(), ROOM).ok()?;
        (age_of(&meta) <= KEPT).then(|| read_lines(&bytes)).flatten()
    };
    let mut all: Vec<KeptMark> = files.filter_map(read).flatten().collect();
    all.retain(|one| one.session.starts_with(session));
    crate::order::sort_by(&mut all, |a, b| (&a.session, a.time).cmp(&(&b.session, b.time)));
    all.dedup_by(|a, b| (&a.session, a.mark) == (&b.session, b.mark));
    all
}

/// Forgets the marks of the sessions whose ids begin so; of all of them also what is not understood.
///
/// # Errors
/// Where a file cannot be removed.
pub fn clear_marks(state: &Path, session: &str) -> std::io::Result<()> {
    let files = match fs::read_dir(directory(state)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        files => files?,
    };
    for path in files.flatten().map(|file| file.path()) {
        let lines = || {
            files::read_state(&path, ROOM)
                .ok()
                .and_then(|bytes| read_lines(&bytes))
                .unwrap_or_default()
        };
        if session.is_empty() || lines().iter().any(|one| one.session.starts_with(session)) {
            files::remove_entry(&path)?;
        }
    }
    Ok(())
}
