//! What was installed where (`installs.json` in the state directory): byte-exact undo.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Error;
use super::file::{self, SettingsTarget};
use super::hooks::Created;
use super::others::Taken;
use crate::files;
use crate::paths::Paths;

/// The largest notes, in bytes: they hold copies of settings.
const LARGEST: u64 = 256 << 20;

/// The whole file. Fields that another version wrote and this one does not know are dropped, what
/// this one misses has a default: old and new versions read each other's.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Records {
    /// The version of the form.
    #[serde(default)]
    pub version: u32,
    /// By real path.
    #[serde(default)]
    pub files: BTreeMap<String, Record>,
}

/// One settings file that install wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Record {
    /// The text without our entries; none where there was no file.
    #[serde(default)]
    pub original: Option<String>,
    /// SHA-256 of that text.
    #[serde(default)]
    pub original_sha256: Option<String>,
    /// SHA-256 of what install wrote.
    #[serde(default)]
    pub written_sha256: String,
    /// SHA-256 of our entries as install wrote them: what else is in the file, its agent may write anew.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub entries_sha256: String,
    /// The directories that install made for it, outermost first.
    #[serde(default)]
    pub directories: Vec<String>,
    /// What install created inside the file.
    #[serde(default)]
    pub created: Created,
    /// Did install put in, beside its entries, that hooks are on?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pinned: bool,
    /// Entries of other programs that install took out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<Taken>,
    /// The events that were asked for.
    #[serde(default)]
    pub events: Vec<String>,
    /// The events that a person switched off one by one (`hookctl events disable`).
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub off: Vec<String>,
    /// user, project or local.
    #[serde(default)]
    pub scope: String,
    /// Whose settings it is; empty = Claude Code's, as older versions noted it.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub agent: String,
}

impl Record {
    /// The original, unless somebody changed this record by hand.
    pub fn intact_original(&self) -> Option<Option<&str>> {
        match (&self.original, &self.original_sha256) {
            (Some(text), Some(sum)) if *sum == file::sha256_hex(text.as_bytes()) => {
                Some(Some(text))
            }
            (None, None) => Some(None),
            _ => None,
        }
    }
}

impl Records {
    /// What is noted of that file.
    pub fn of_file(&self, file: &Path) -> Option<&Record> {
        let target = SettingsTarget::follow_links(file).ok()?;
        self.files.get(&target.record_key())
    }

    /// Reads the notes; lost or unreadable ones are as good as none.
    pub fn load(paths: &Paths) -> Records {
        files::read_state(&paths.installs(), LARGEST)
            .ok()
            .and_then(|bytes| serde_json::from_slice(&bytes).ok())
            .unwrap_or_default()
    }

    /// Writes the notes, 0600: settings can hold keys.
    ///
    /// # Errors
    /// Where the state directory cannot be written, or older notes there cannot be kept.
    pub fn save(&mut self, paths: &Paths) -> Result<(), Error> {
        self.version = 1;
        file::private_dir(&paths.state)?;
        let old = SettingsTarget { named: paths.installs(), real: paths.installs() };
        if let Some(bytes) = old.read()?
            && serde_json::from_slice::<Records>(&bytes).is_err()
        {
            // It may be all that is left of what was taken out somewhere.
            file::back_up(paths, &old, &bytes)?;
        }
        let text = serde_json::to_vec_pretty(self)
            .map_err(|error| Error::io_error("write", &paths.installs(), error.into()))?;
        file::write_file(&paths.installs(), &text, None)
    }
}
