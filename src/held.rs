//! Text for the model that an event could not tell: kept for the session's next event that can.
//!
//! Several clients take text only after a tool, not before it (contracts: verbs). What a rule said before
//! the call is then told with its result. A process lives for one event, so it lies in a note between them.

use std::fs;
use std::path::{Path, PathBuf};

use crate::files;
use crate::limits;
use crate::trust::sha256_hex;

/// Keeps the texts for the session's next event behind those that wait already; more than a context may have is
/// dropped, with a line that says so. A failure is the caller's to note: the text is then not told.
///
/// # Errors
/// Where the note cannot be written.
pub fn keep_context(notes: &Path, session: &str, texts: &[String]) -> std::io::Result<()> {
    let path = note_of(notes, session);
    let mut all = waiting(&path);
    all.extend(texts.iter().cloned());
    let mut room = limits::CONTEXT;
    let total = all.len();
    all.retain(|text| {
        room = room.saturating_sub(text.len());
        room > 0
    });
    if all.len() < total {
        all.push("[hookctl: more was to be told here]".into());
    }
    let bytes = serde_json::to_vec(&all)?;
    files::replace_file(&path, &bytes)
}

/// Takes what waits for the session, if anything does.
pub fn take_context(notes: &Path, session: &str) -> Vec<String> {
    let path = note_of(notes, session);
    let all = waiting(&path);
    if !all.is_empty() {
        let _ = fs::remove_file(&path);
    }
    all
}

fn waiting(path: &Path) -> Vec<String> {
    let bytes = files::read_state(path, 2 * limits::CONTEXT as u64).unwrap_or_default();
    serde_json::from_slice(&bytes).unwrap_or_default()
}

fn note_of(notes: &Path, session: &str) -> PathBuf {
    notes.join(format!("held-{}", &sha256_hex(session.as_bytes())[..32]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_kept_is_told_once_and_to_its_session() {
        let dir = tempfile::tempdir().unwrap();
        let notes = dir.path().join("notes");
        files::private_dir(&notes).unwrap();
        keep_context(&notes, "a", &["one".into()]).unwrap();
        keep_context(&notes, "a", &["two".into()]).unwrap();
        assert_eq!(take_context(&notes, "b"), [""; 0]);
        assert_eq!(take_context(&notes, "a"), ["one", "two"]);
        assert_eq!(take_context(&notes, "a"), [""; 0]);
    }

    #[test]
    fn too_much_is_not_kept_and_that_is_said() {
        let dir = tempfile::tempdir().unwrap();
        files::private_dir(dir.path()).unwrap();
        keep_context(dir.path(), "a", &["short".into(), "x".repeat(limits::CONTEXT)]).unwrap();
        let told = take_context(dir.path(), "a");
        assert_eq!(told.len(), 2);
        assert!(told[0] == "short" && told[1].contains("more was to be told"), "{told:?}");
    }
}
