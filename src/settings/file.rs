//! One settings file on disk: found through its links, locked, backed up and replaced at once.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::Error;
use crate::files::{self, Refusal};
use crate::paths::Paths;

/// The largest settings file, in bytes.
const LARGEST: u64 = 64 << 20;
/// How many backups of one file are kept.
const BACKUPS: usize = 5;
/// What the names of temporary files begin with.
const PREFIX: &str = ".hookctl-";
/// How long a chain of symbolic links may be.
const MAX_LINKS: usize = 40;

/// A settings file by its name and by where that leads.
#[derive(Debug, Clone)]
pub struct SettingsTarget {
    /// As people know it.
    pub named: PathBuf,
    /// Behind all links; need not exist.
    pub real: PathBuf,
}

impl SettingsTarget {
    /// What the notes of installs know it by.
    pub fn record_key(&self) -> String {
        self.real.display().to_string()
    }

    /// Follows the links of a file that need not exist yet.
    ///
    /// # Errors
    /// On a loop of links, or where something other than a file is there.
    pub fn follow_links(named: &Path) -> Result<SettingsTarget, Error> {
        let mut real = named.to_path_buf();
        for _ in 0..MAX_LINKS {
            match fs::read_link(&real) {
                Ok(link) => real = real.parent().unwrap_or(Path::new("/")).join(link),
                Err(_) => {
                    let real = canonical_path(&real);
                    if fs::metadata(&real).is_ok_and(|meta| !meta.is_file()) {
                        return Err(Error::NotAFile(named.to_path_buf()));
                    }
                    return Ok(SettingsTarget { named: named.to_path_buf(), real });
                }
            }
        }
        Err(Error::NotAFile(named.to_path_buf()))
    }

    /// The bytes, none where there is no file.
    ///
    /// # Errors
    /// Where the file is there and cannot be read.
    pub fn read(&self) -> Result<Option<Vec<u8>>, Error> {
        match files::read(&self.real, LARGEST) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(Refusal::Absent) => Ok(None),
            Err(Refusal::System(error)) => {
                Err(Error::io_error("read", &self.real, error).known_as(self))
            }
            Err(refusal) => Err(Error::Unfit {
                path: self.named.clone(),
                behind: self.behind(),
                why: refusal.to_string(),
            }),
        }
    }

    /// Where it leads, if that is not where its name lies: a link of the file's own, or of a directory on the way.
    pub(super) fn behind(&self) -> Option<PathBuf> {
        (self.real != self.named).then(|| self.real.clone())
    }

    /// The directory that holds it.
    pub fn dir(&self) -> &Path {
        self.real.parent().unwrap_or(Path::new("/"))
    }

    /// The name of its backups, before the time.
    fn backup_key(&self) -> String {
        sha256_hex(self.real.as_os_str().as_encoded_bytes())[..16].to_string()
    }
}

/// The path with the links of its existing part resolved.
fn canonical_path(path: &Path) -> PathBuf {
    if let Ok(real) = files::real_path(path) {
        return real;
    }
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => canonical_path(parent).join(name),
        _ => path.to_path_buf(),
    }
}

/// SHA-256 in hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Held while a file is edited: no second hookctl comes between reading and writing.
///
/// Two locks: one in the state directory, for what is noted there, and one on the file's own
/// directory, which also holds between runs with different state directories.
pub struct Lock {
    _state: File,
    _dir: Option<File>,
}

impl Lock {
    /// Waits for the locks.
    ///
    /// # Errors
    /// Where the state directory cannot be written.
    pub fn acquire(paths: &Paths, target: &SettingsTarget) -> Result<Lock, Error> {
        private_dir(&paths.state)?;
        let file = paths.state.join("installs.lock");
        let state =
            files::open_to_edit(&file).map_err(|error| Error::io_error("open", &file, error))?;
        state.lock().map_err(|error| Error::io_error("lock", &file, error))?;
        // Not every file system can lock a directory; the state's lock is there in any case.
        let dir = files::open_dir(target.dir()).ok().filter(|dir| dir.lock().is_ok());
        Ok(Lock { _state: state, _dir: dir })
    }
}

/// Makes a directory that is the user's alone.
pub(super) fn private_dir(dir: &Path) -> Result<(), Error> {
    files::private_dir(dir).map_err(|error| Error::io_error("create", dir, error))
}

/// Keeps a copy of the bytes, and of all copies of this file the last five.
///
/// # Errors
/// Where the state directory cannot be written: then nothing is edited either.
pub fn back_up(paths: &Paths, target: &SettingsTarget, bytes: &[u8]) -> Result<(), Error> {
    let dir = paths.backups();
    private_dir(&dir)?;
    let key = target.backup_key();
    let name = target.real.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let now = std::time::SystemTime::now()
        .duration_since(std::time::UNIX_EPOCH)
        .map_or(0, |since| since.as_nanos());
    let prefix = format!("{key}-");
    let entries = fs::read_dir(&dir).map_err(|error| Error::io_error("read", &dir, error))?;
    let mut copies: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix))
        .map(|entry| entry.path())
        .collect();
    crate::order::sort(&mut copies);
    // Behind them all, also where a clock was set back: the oldest ones go.
    let time_of = |copy: &PathBuf| {
        let name = copy.file_name()?.to_str()?.strip_prefix(&prefix)?.split('-').next()?;
        name.parse::<u128>().ok()
    };
    let last = copies.last().and_then(time_of).unwrap_or_default();
    let number = now.max(last.saturating_add(1));
    write_file(&dir.join(format!("{prefix}{number:020}-{name}")), bytes, None)?;
    for old in copies.iter().rev().skip(BACKUPS - 1) {
        // A backup too many harms nobody.
        let _ = fs::remove_file(old);
    }
    Ok(())
}

/// Puts `new` in the place of `old`, unless the file no longer holds `old`: then false.
///
/// # Errors
/// Where the file or its directory cannot be written.
pub fn exchange_content(
    target: &SettingsTarget,
    old: Option<&[u8]>,
    new: Option<&[u8]>,
) -> Result<bool, Error> {
    let unchanged = || Ok::<bool, Error>(target.read()?.as_deref() == old);
    match new {
        Some(bytes) => {
            let like = fs::metadata(&target.real).ok();
            let temporary = prepare_temporary(&target.real, bytes, Some(like.as_ref()))
                .map_err(|error| error.known_as(target))?;
            if !unchanged()? {
                return Ok(false);
            }
            persist_temporary(temporary, &target.real).map_err(|error| error.known_as(target))?;
        }
        None => {
            if !unchanged()? {
                return Ok(false);
            }
            fs::remove_file(&target.real)
                .map_err(|error| Error::io_error("remove", &target.real, error).known_as(target))?;
        }
    }
    Ok(true)
}

/// Writes a file of our own, 0600 unless `like` says otherwise, so that it is there whole or not.
pub(super) fn write_file(
    path: &Path,
    bytes: &[u8],
    like: Option<Option<&fs::Metadata>>,
) -> Result<(), Error> {
    persist_temporary(prepare_temporary(path, bytes, like)?, path)
}

/// A complete temporary file beside `path`. `like`: none = the user's alone; else the owner and
/// mode of the file that is replaced, or the usual mode of a new one.
fn prepare_temporary(
    path: &Path,
    bytes: &[u8],
    like: Option<Option<&fs::Metadata>>,
) -> Result<tempfile::NamedTempFile, Error> {
    let dir = path.parent().unwrap_or(Path::new("/"));
    let fail = |error| Error::io_error("write", path, error);
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(".tmp");
    #[cfg(unix)]
    if let Some(None) = like {
        use std::os::unix::fs::PermissionsExt;
        // A script is there to be run.
        let mode = if bytes.starts_with(b"#!") { 0o777 } else { 0o666 };
        builder.permissions(fs::Permissions::from_mode(mode));
    }
    // What those left that were killed.
    let keep = |name: &str| name.strip_prefix(PREFIX).and_then(files::draft_keep);
    files::sweep_directory(dir, usize::MAX, keep);
    let mut temporary = builder.tempfile_in(dir).map_err(fail)?;
    temporary.write_all(bytes).map_err(fail)?;
    if let Some(Some(meta)) = like {
        #[cfg(unix)]
        {
            use std::os::unix::fs::{MetadataExt, fchown};
            // Only root can keep another's ownership; the content matters more.
            let _ = fchown(temporary.as_file(), Some(meta.uid()), Some(meta.gid()));
        }
        temporary.as_file().set_permissions(meta.permissions()).map_err(fail)?;
    }
    temporary.as_file().sync_all().map_err(fail)?;
    Ok(temporary)
}

fn persist_temporary(temporary: tempfile::NamedTempFile, path: &Path) -> Result<(), Error> {
    temporary.persist(path).map_err(|error| Error::io_error("replace", path, error.error))?;
    #[cfg(unix)]
    if let Some(dir) = path.parent().and_then(|dir| files::open_dir(dir).ok()) {
        // The rename is done; this only makes it survive a power cut.
        let _ = dir.sync_all();
    }
    Ok(())
}
