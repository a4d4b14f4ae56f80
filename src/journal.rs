//! The journal: one JSON line per decision, appended in one write, redacted, never in the way.
//!
//! Nothing here can change a decision: every failure is swallowed, and it is written after the
//! answer has left.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use self::chain::{Head, Link};
use crate::files;
use crate::limits;
use crate::moment::Moment;
use crate::redact;
use crate::rule::file::JournalConfig;
use crate::text;

pub mod chain;

/// How often a line is written, where each time the journal is rotated away under it.
const TRIES: usize = 5;

/// One decision.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Line {
    /// When, RFC 3339 in UTC.
    pub time: String,
    /// The agent's id.
    pub agent: String,
    /// The event as the agent named it.
    pub event: String,
    /// The session's id.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub session: String,
    /// The session's directory.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cwd: String,
    /// The tool.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tool: String,
    /// The command, path or URL of the call, redacted and cut.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub what: String,
    /// allow, ask, defer, deny, halt, or "silent".
    pub decision: String,
    /// The rule that gave the verdict.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub rule: String,
    /// Its reason, redacted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub reason: String,
    /// Every rule that spoke: `user:x deny`, `user:y ask (observed)`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<String>,
    /// The marks that the call set on its session.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub marks: Vec<String>,
    /// The input or result was changed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub rewritten: bool,
    /// The servers that were asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remotes: Vec<RemoteRecord>,
    /// Version and hash of the bundle that the managed rules are from.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub bundle: String,
    /// What went wrong on the way.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// How long the decision took, in milliseconds.
    pub ms: f64,
}

words! {
    /// Who answered, where a human was asked, as the journal has it.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    By {
        /// A human, now.
        Human = "human",
        /// A human, earlier in the session: that is remembered here.
        HumanEarlier = "human-earlier",
        /// The server itself, from a memory of its own: as far as can be known no human was asked now.
        ServerMemory = "server-memory",
        /// Nobody: it failed, its time was up, it has been down, or nobody looked.
        Nobody = "nobody",
    }
}

impl By {
    /// In words.
    pub const fn describe_source(self) -> &'static str {
        match self {
            By::Human => "a human answered",
            By::HumanEarlier => "a human answered earlier",
            By::ServerMemory => "a server's memory answered",
            By::Nobody => "nobody answered",
        }
    }
}

/// What came of asking a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RemoteRecord {
    /// Its name.
    pub name: String,
    /// The address that was asked last, without its query.
    pub endpoint: String,
    /// How many requests were made.
    pub attempts: u32,
    /// How long it took, in milliseconds.
    pub ms: u64,
    /// answered, refused (a human's no), remembered, failed; queued or dropped where it is only told.
    pub outcome: String,
    /// Who answered, where a human was to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// When the human said it, where that was earlier, RFC 3339 in UTC.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub since: String,
    /// Until when that holds.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub until: String,
    /// Why it failed, or why a human's server decides nothing; redacted.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub cause: String,
}

impl Line {
    /// A line of now.
    pub fn new(agent: &str) -> Line {
        let time = Moment::now().to_millis_text();
        Line { time, agent: agent.into(), ..Line::default() }
    }

    /// Does `what` lack a part of the call: was it cut, or a secret taken out?
    pub fn is_partial(&self) -> bool {
        self.what.ends_with(text::MORE) || self.what.contains(redact::MASK)
    }
}

/// Appends the line. Failures are nobody's business but `status`.
pub fn append(path: &Path, config: &JournalConfig, mut line: Line) {
    if !config.enabled {
        return;
    }
    // All that a client chooses: a line of any length would be one that nobody reads again.
    let Line { event, session, cwd, tool, what, reason, .. } = &mut line;
    for text in [event, session, cwd, tool, what, reason] {
        *text = redact_and_cut(text);
    }
    line.notes.iter_mut().for_each(|note| *note = redact_and_cut(note));
    for remote in &mut line.remotes {
        remote.endpoint = redact_and_cut(&remote.endpoint);
        remote.cause = redact_and_cut(&remote.cause);
    }
    let Ok(json) = serde_json::to_string(&line) else { return };
    // Nor does it harm the terminal of who looks into the file.
    let json = text::escape_json(&json);
    let head = Head::lock(path);
    for _ in 0..TRIES {
        let Ok(mut file) = files::open_to_append(path) else { return };
        let Ok(before) = file.metadata() else { return };
        let (bytes, link) = match &head {
            Some(head) => head.seal(path, before.len(), &json),
            None => ([&*json, "\n"].concat().into_bytes(), Link::default()),
        };
        // One write: lines of processes that run at once do not mix.
        if file.write_all(&bytes).is_err() {
            return;
        }
        let Ok(meta) = file.metadata() else { return };
        // Between the two it was rotated away and dropped, by who had no head: the line goes into the new one.
        if is_gone(&meta) {
            continue;
        }
        let full = meta.len() > config.max_size;
        let oldest = if full { rotate(path, &file, config.keep) } else { None };
        if let Some(head) = head {
            let dropped = oldest.map(|file| chain::first_number(&file).unwrap_or(link.number + 1));
            head.note(&link, if full { 0 } else { meta.len() }, dropped);
        }
        return;
    }
}

/// Why no line can be added to the journal, in a sentence that names the file; None where nothing is known to be in the way, or
/// where no journal is wanted. Nothing is made or written for it.
pub fn find_obstacle(path: &Path, config: &JournalConfig) -> Option<String> {
    if !config.enabled {
        return None;
    }
    let say = |file: &Path, refusal: files::Refusal, cost: &str| {
        let why = match &refusal {
            files::Refusal::System(error) => {
                format!("cannot be written: {}", files::plain_cause(error))
            }
            other => other.to_string(),
        };
        format!("{} {why}: {cost}", file.display())
    };
    if let Some(refusal) = files::find_append_obstacle(path) {
        return Some(say(path, refusal, "no decision is noted in the journal"));
    }
    let head = Head::path(path);
    let refusal = files::find_append_obstacle(&head)?;
    Some(say(&head, refusal, "lines of the journal get no place in its chain"))
}

#[cfg(unix)]
fn is_gone(meta: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(meta) == 0
}

#[cfg(not(unix))]
fn is_gone(_: &fs::Metadata) -> bool {
    false
}

/// Moves the journal aside. Only who holds the lock on the file that has the name now may: of two that
/// find it full the second would move what the first has just begun, over what it has just moved. The oldest file then.
fn rotate(path: &Path, file: &File, keep: u32) -> Option<PathBuf> {
    if file.try_lock().is_err() || !is_still(path, file) {
        return None;
    }
    let name = |n: u32| path.with_extension(format!("jsonl.{n}"));
    for n in (1..keep).rev() {
        let _ = fs::rename(name(n), name(n + 1));
    }
    // Where more were kept before.
    let surplus = (keep + 1..).map(name);
    surplus.take_while(|file| fs::remove_file(file).is_ok()).for_each(drop);
    // The last step: from here on the name is another file's, with a lock of its own.
    if keep == 0 {
        let _ = fs::remove_file(path);
        return Some(path.to_path_buf());
    }
    let _ = fs::rename(path, name(1));
    (1..=keep).map(name).take_while(|file| file.exists()).last()
}

/// Has the open file still that name?
#[cfg(unix)]
fn is_still(path: &Path, file: &File) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let (Ok(named), Ok(own)) = (path.symlink_metadata(), file.metadata()) else { return false };
    (named.dev(), named.ino()) == (own.dev(), own.ino())
}

/// The same; where nothing tells it has.
#[cfg(not(unix))]
fn is_still(path: &Path, file: &File) -> bool {
    use crate::files::identity::{of_file, of_path};
    of_file(file).zip(of_path(path)).is_none_or(|(own, named)| own.id == named.id)
}

/// The text without secrets, cut to what is kept.
pub fn redact_and_cut(text: &str) -> String {
    let end = text.floor_char_boundary(limits::JOURNAL_TEXT);
    let mut out = redact::mask_secrets(&text[..end]).into_owned();
    if end < text.len() {
        out.push_str(&format!(" [{}{}", text.len() - end, text::MORE));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(what: &str) -> Line {
        Line { what: what.into(), decision: "deny".into(), ..Line::default() }
    }

    #[test]
    fn sx_09_one_private_redacted_line_each_and_rotation() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/journal.jsonl");
        let config = JournalConfig { max_size: 200, keep: 2, ..JournalConfig::default() };
        append(&path, &config, line("curl -u bob https://bob:hunter2@x.org"));
        let text = fs::read_to_string(&path).unwrap();
        assert!(!text.contains("hunter2") && text.ends_with("}\n"), "{text}");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        for _ in 0..9 {
            append(&path, &config, line("ls"));
        }
        let files: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
        assert!(files.len() <= 3, "{files:?}");
    }

    #[test]
    #[cfg(unix)]
    fn what_keeps_the_journal_from_being_written_is_told() {
        let config = JournalConfig::default();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state/journal.jsonl");
        let said = || find_obstacle(&path, &config).unwrap_or_default();
        // Nothing is there yet, and nothing is made.
        assert_eq!((said(), path.parent().unwrap().exists()), (String::new(), false));
        append(&path, &config, line("ls"));
        assert_eq!(said(), "");
        fs::remove_file(&path).unwrap();
        fs::create_dir(&path).unwrap();
        assert!(said().ends_with("no decision is noted in the journal"), "{}", said());
        assert!(said().contains("directory") && said().contains("journal.jsonl"), "{}", said());
        fs::remove_dir(&path).unwrap();
        std::os::unix::fs::symlink("/dev/null", &path).unwrap();
        assert!(said().contains("is a link"), "{}", said());
        let off = JournalConfig { enabled: false, ..JournalConfig::default() };
        assert_eq!(find_obstacle(&path, &off), None);
        fs::remove_file(&path).unwrap();
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert!(said().contains("no decision is noted"), "{}", said());
        fs::remove_file(&path).unwrap();
        // The head alone.
        fs::remove_file(Head::path(&path)).unwrap();
        fs::create_dir(Head::path(&path)).unwrap();
        assert!(said().ends_with("no place in its chain"), "{}", said());
        // A file in the place of the directory.
        fs::remove_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path.parent().unwrap(), "").unwrap();
        assert!(said().contains("Not a directory"), "{}", said());
    }

    #[test]
    fn an_unwritable_place_is_no_error() {
        append(Path::new("/dev/null/x/journal.jsonl"), &JournalConfig::default(), line("ls"));
    }
}
