//! Trust: a project's file may loosen only after a human has approved its exact content, and that
//! of the project's own programs that it names.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::rule::Rule;
use crate::files::{self, Refusal};
use crate::rule::file::RuleFile;

/// The largest program that is pinned, in bytes.
const LARGEST: u64 = 64 << 20;

/// What was approved: the content of `trust.json`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Store {
    /// The approved files by absolute path.
    #[serde(default)]
    pub files: BTreeMap<String, Entry>,
}

/// One approved file.
#[derive(Debug, Clone, Serialize, Deserialize, PartialEq, Eq)]
pub struct Entry {
    /// SHA-256 of its content, in hex.
    pub hash: String,
    /// The programs that it names: path and SHA-256.
    #[serde(default)]
    pub programs: BTreeMap<String, String>,
    /// When, RFC 3339.
    #[serde(default)]
    pub since: String,
}

impl Store {
    /// What was approved so far. A store that cannot be read approves nothing.
    pub fn load(path: &Path) -> Store {
        Store::read(path).unwrap_or_default()
    }

    /// What was approved so far; nothing where there is no store.
    ///
    /// # Errors
    /// Why the store that is there is not believed.
    pub fn read(path: &Path) -> Result<Store, String> {
        match files::state(path, files::LARGE) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| format!("nothing is trusted: {}: {error}", path.display())),
            Err(Refusal::Absent) => Ok(Store::default()),
            Err(refusal) => Err(format!("nothing is trusted: {}", refusal.about(path))),
        }
    }

    /// Was any content of the file approved?
    pub fn knows(&self, file: &Path) -> bool {
        file.to_str().is_some_and(|name| self.files.contains_key(name))
    }

    /// Is this exact content of the file approved, with the programs it names as they were?
    pub fn approves(&self, file: &Path, text: &str) -> bool {
        let Some(entry) = file.to_str().and_then(|name| self.files.get(name)) else { return false };
        entry.hash == hash(text.as_bytes())
            && entry
                .programs
                .iter()
                .all(|(path, known)| pinned(Path::new(path)).is_ok_and(|now| now == *known))
    }
}

/// The entry that approves the file as it is now.
pub fn entry(root: &Path, text: &str, file: &RuleFile, since: String) -> Entry {
    let programs = file
        .rules
        .iter()
        .flat_map(|rule| programs(rule, root))
        .filter_map(|path| {
            let hash = pinned(&path).ok()?;
            Some((path.to_str()?.to_string(), hash))
        })
        .collect();
    Entry { hash: hash(text.as_bytes()), programs, since }
}

/// The project's own files that the rule's commands name.
fn programs(rule: &Rule, root: &Path) -> Vec<PathBuf> {
    let breaks = |c: char| c.is_whitespace() || ";|&()<>\"'`".contains(c);
    rule.commands()
        .flat_map(|command| command.script.source().split(breaks))
        .filter(|word| !word.is_empty())
        .map(|word| root.join(word))
        .filter(|path| path.starts_with(root) && path.is_file())
        .collect()
}

/// What a program is known by.
fn pinned(path: &Path) -> Result<String, Refusal> {
    files::read(path, LARGEST).map(|bytes| hash(&bytes))
}

/// SHA-256 in hex.
pub fn hash(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::rule::Layer;
    use crate::rule::file;

    #[test]
    fn a_changed_file_or_program_is_not_trusted() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir(root.join("hooks")).unwrap();
        fs::write(root.join("hooks/check.sh"), "exit 0").unwrap();
        let path = root.join(".hookctl.toml");
        let text = "[rule.x]\nhook = \"sh hooks/check.sh\"\n";
        let read = file::read(text, &path, Layer::Project, None);
        assert!(read.faults.is_empty(), "{:?}", read.faults);
        let entry = entry(root, text, &read, String::new());
        assert_eq!(entry.programs.len(), 1);
        let mut store = Store::default();
        assert!(!store.approves(&path, text));
        store.files.insert(path.to_str().unwrap().into(), entry);
        assert!(store.approves(&path, text));
        assert!(!store.approves(&path, "[rule.x]\nhook = \"true\"\n"));
        fs::write(root.join("hooks/check.sh"), "exit 1").unwrap();
        assert!(!store.approves(&path, text));
    }
}
