//! Trust: a project's file may loosen only after a human has approved its exact content, and that
//! of the project's own programs that it names.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::effect::windows;
use crate::files::{self, Refusal};
use crate::glob;
use crate::limits;
use crate::rule::file::RuleFile;

pub mod hooks;
mod pins;

pub use crate::text::sha256_hex;
pub use pins::stays_in;

/// What the entries hold. One of another number says too little of what its commands run: it approves
/// nothing any more. On Windows a program by its path was not pinned by the one before.
const FORMAT: u32 = if cfg!(windows) { 3 } else { 2 };

/// What was approved: the content of `trust.json`.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Store {
    /// The approved files by absolute path.
    #[serde(default)]
    pub files: BTreeMap<String, TrustEntry>,
}

/// One approved file, and what its commands ran when it was.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct TrustEntry {
    /// What the entry holds; 0 where it does not say.
    #[serde(default)]
    pub format: u32,
    /// SHA-256 of its content, in hex.
    pub hash: String,
    /// The programs that it names: path and SHA-256.
    #[serde(default)]
    pub programs: BTreeMap<String, String>,
    /// Programs that it names and that were not there.
    #[serde(default)]
    pub absent: BTreeSet<String>,
    /// Names that are links, or lie behind some, and where they led.
    #[serde(default)]
    pub links: BTreeMap<String, String>,
    /// Directories that it runs programs from.
    #[serde(default)]
    pub listings: Vec<Listing>,
    /// What it runs and nobody could name; the human was told.
    #[serde(default)]
    pub unpinned: BTreeSet<String>,
    /// When, RFC 3339.
    #[serde(default)]
    pub since: String,
    /// Links out of the project: what has one is not approved.
    #[serde(skip)]
    pub leads_out: Vec<String>,
}

/// A directory, with the names in it that count and what they held.
#[derive(Debug, Clone, Default, Serialize, Deserialize, PartialEq, Eq)]
pub struct Listing {
    /// The directory.
    pub dir: String,
    /// A glob over the names in it; None = all that is in it and below.
    #[serde(default)]
    pub names: Option<String>,
    /// SHA-256 over names and contents.
    pub hash: String,
}

/// Why a file is not trusted, or that it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// Nobody has approved it.
    Unknown,
    /// It and all that it runs are as they were approved.
    Approved,
    /// Its content, or something that it runs, has changed.
    Changed,
    /// It was approved by a version that pinned less.
    Outdated,
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
        match files::read_state(path, files::LARGE) {
            Ok(bytes) => serde_json::from_slice(&bytes)
                .map_err(|error| format!("nothing is trusted: {}: {error}", path.display())),
            Err(Refusal::Absent) => Ok(Store::default()),
            Err(refusal) => Err(format!("nothing is trusted: {}", refusal.describe_for(path))),
        }
    }

    /// Was any content of the file approved?
    pub fn has_file(&self, file: &Path) -> bool {
        file_key(file).is_some_and(|name| self.files.contains_key(&*name))
    }

    /// Is this exact content of the file approved, with all that it runs as it was?
    pub fn is_approved(&self, file: &Path, text: &str) -> bool {
        self.approval_state(file, text) == TrustState::Approved
    }

    /// The same, and why not.
    pub fn approval_state(&self, file: &Path, text: &str) -> TrustState {
        let Some(entry) = file_key(file).and_then(|name| self.files.get(&*name)) else {
            return TrustState::Unknown;
        };
        if entry.hash != sha256_hex(text.as_bytes()) {
            TrustState::Changed
        } else if entry.format != FORMAT {
            TrustState::Outdated
        } else if entry.pins_are_unchanged() {
            TrustState::Approved
        } else {
            TrustState::Changed
        }
    }
}

/// What a file is noted as.
pub fn file_key(file: &Path) -> Option<Cow<'_, str>> {
    file.to_str().map(|text| match cfg!(windows) {
        // However the letter of its drive is written.
        true => windows::native_text(file).into(),
        false => text.into(),
    })
}

impl TrustEntry {
    /// Is everything that the file's commands run as it was?
    fn pins_are_unchanged(&self) -> bool {
        let gone = |path: &String| {
            let found = fs::symlink_metadata(path);
            found.is_err_and(|e| matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
        };
        let leads = |(name, real): (&String, &String)| {
            files::real_path(Path::new(name)).is_ok_and(|now| now == Path::new(real))
        };
        let same =
            |(path, known): (&String, &String)| hash_of(Path::new(path)).as_ref() == Some(known);
        let listed = |one: &Listing| {
            listing_of(Path::new(&one.dir), one.names.as_deref()).as_ref() == Some(&one.hash)
        };
        self.absent.iter().all(gone)
            && self.links.iter().all(leads)
            && self.programs.iter().all(same)
            && self.listings.iter().all(listed)
    }
}

/// The entry that approves the file as it is now.
pub fn approval_entry(root: &Path, text: &str, file: &RuleFile, since: String) -> TrustEntry {
    let hash = sha256_hex(text.as_bytes());
    let mut entry = TrustEntry { format: FORMAT, hash, since, ..TrustEntry::default() };
    pins::add_pins(root, file, &mut entry);
    entry
}

/// The hash of a regular file's content; None where it is none, cannot be read, or is too large.
fn hash_of(path: &Path) -> Option<String> {
    files::read(path, limits::PINNED).ok().map(|bytes| sha256_hex(&bytes))
}

/// The hash of a directory: its names, where links lead, what files hold; that there is none is one too.
/// None where it cannot be read or is too large.
fn listing_of(dir: &Path, names: Option<&str>) -> Option<String> {
    let mut text = String::new();
    let mut left = vec![(dir.to_path_buf(), String::new())];
    let (mut seen, mut size) = (0, 0);
    while let Some((dir, prefix)) = left.pop() {
        let entries = match fs::read_dir(&dir) {
            Ok(entries) => entries,
            Err(error) if prefix.is_empty() && error.kind() == ErrorKind::NotFound => continue,
            Err(_) => return None,
        };
        let mut found = Vec::new();
        for entry in entries {
            found.push(entry.ok()?.file_name().into_string().ok()?);
            if found.len() + seen > limits::PINNED_ENTRIES {
                return None;
            }
        }
        found.retain(|name| names.is_none_or(|names| glob::matches(names, name)));
        crate::order::sort(&mut found);
        seen += found.len();
        for name in found {
            let path = dir.join(&name);
            let meta = fs::symlink_metadata(&path).ok()?;
            let held = if meta.is_dir() {
                if names.is_none() {
                    left.push((path, format!("{prefix}{name}/")));
                }
                "a directory".into()
            } else if meta.is_symlink() {
                link_of(&path)
            } else {
                size += meta.len();
                if size > limits::PINNED {
                    return None;
                }
                hash_of(&path)?
            };
            text.push_str(&format!("{prefix}{name}\0{held}\n"));
        }
    }
    Some(sha256_hex(text.as_bytes()))
}

/// Where a link leads, and what is there.
fn link_of(path: &Path) -> String {
    let real = files::real_path(path).unwrap_or_else(|_| PathBuf::from("nowhere"));
    format!("{}\0{}", real.display(), hash_of(&real).unwrap_or_default())
}

#[cfg(test)]
mod tests;
