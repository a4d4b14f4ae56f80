//! Files: the one way in which anything is read, and the few in which anything is written.
//!
//! Whatever has a name may be a pipe that nobody writes to, a device that never ends, a text that the
//! kernel makes up, or a file of gigabytes without content: whoever waits for it gives no answer. So a
//! file is opened without waiting, what it is and how long is asked of the open file and not of its
//! name, and no more is read than its reader has room for.
//!
//! What hookctl keeps for itself ([`read_state`]) counts only where nobody else could have put it there.

use std::borrow::Cow;
use std::fmt;
use std::fs::{self, File, FileType, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, SystemTime};

#[cfg(windows)]
#[path = "files/identity.rs"]
pub mod identity;
#[cfg(unix)]
#[path = "files/map.rs"]
mod map;

/// The largest small file of our own, in bytes: notes, counts, what is paused or trusted.
pub const SMALL: u64 = 1 << 20;
/// The largest file whose content is looked at as a whole, in bytes: an event is no larger.
pub const LARGE: u64 = 16 << 20;
/// The largest file that is read piece by piece, in bytes: no journal grows to this.
pub const LONG: u64 = 2 << 30;

/// What some editors put in front of a text.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// Why a file is not read.
#[derive(Debug)]
pub enum Refusal {
    /// There is none.
    Absent,
    /// The system does not give it.
    System(io::Error),
    /// It is this, and no regular file.
    Kind(&'static str),
    /// It has more bytes than that.
    Large(u64),
    /// It is no text.
    Text,
    /// Others could have written it: which file or directory, and what to do.
    Others(String),
}

impl Refusal {
    /// The sentence about the file of that name.
    pub fn describe_for(&self, path: &Path) -> String {
        match self {
            Refusal::Others(why) => why.clone(),
            other => format!("{} {other}", path.display()),
        }
    }

    /// What makes it readable, where the sentence does not say so itself.
    pub fn fix(&self) -> Option<&'static str> {
        match self {
            Refusal::Kind(_) => Some("move it away, and put a file there"),
            Refusal::Large(_) => Some("take out of it what is not needed"),
            Refusal::Text => Some("save it as UTF-8"),
            Refusal::System(error) if error.kind() == ErrorKind::PermissionDenied => {
                Some("its owner can let you, by `chmod u+r`")
            }
            Refusal::System(error) if error.kind() == ErrorKind::NotADirectory => {
                Some("one of the directories that lead to it is a file: move that away")
            }
            Refusal::Absent | Refusal::System(_) | Refusal::Others(_) => None,
        }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Refusal::Absent => f.write_str("cannot be read: No such file or directory"),
            Refusal::System(error) => write!(f, "cannot be read: {error}"),
            Refusal::Kind(what) => write!(f, "is {what}, no regular file"),
            Refusal::Large(bound) if *bound < 1 << 20 => {
                write!(f, "is larger than {} KiB", bound >> 10)
            }
            Refusal::Large(bound) => write!(f, "is larger than {} MiB", bound >> 20),
            Refusal::Text => f.write_str("is not UTF-8"),
            Refusal::Others(why) => f.write_str(why),
        }
    }
}

impl std::error::Error for Refusal {}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Refusal {
        match error.kind() {
            ErrorKind::NotFound => Refusal::Absent,
            // How the system refuses what cannot be opened at all.
            #[cfg(unix)]
            _ if error.raw_os_error() == Some(rustix::io::Errno::NXIO.raw_os_error()) => {
                Refusal::Kind("a socket or a device without anything behind it")
            }
            _ => Refusal::System(error),
        }
    }
}

/// What the system said, without the name of a draft beside the file, which nobody knows.
pub fn plain_cause(error: &io::Error) -> String {
    let text = error.to_string();
    match text.split_once(" at path \"") {
        Some((cause, _)) => cause.to_string(),
        None => text,
    }
}

/// The directories in which package managers keep what nothing else may change.
const STORES: [&str; 2] = ["/nix/store", "/gnu/store"];

/// What a person can do about it; None where nothing general can be said.
pub fn advise(error: &io::Error, path: &Path) -> Option<&'static str> {
    let kind = error.kind();
    let denied = matches!(kind, ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem);
    if denied && STORES.iter().any(|store| path.starts_with(store)) {
        return Some(
            "It lies in a package manager's store, which nothing else may change: put the entries into what \
             makes the file (home-manager, say). `--dry-run` shows them.",
        );
    }
    match kind {
        ErrorKind::ReadOnlyFilesystem => Some(
            "The file system is read-only: mount it for writing, or change the file where it is made. \
             `--dry-run` shows what would be written.",
        ),
        ErrorKind::PermissionDenied => Some(
            "Its owner can do that, or can let you: `ls -ld` of the file and of its directory shows who it is.",
        ),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Some("Make room, then say it again."),
        ErrorKind::NotADirectory => {
            Some("One of the directories that lead to it is a file: move that away.")
        }
        _ => None,
    }
}

impl From<Refusal> for io::Error {
    fn from(refusal: Refusal) -> io::Error {
        match refusal {
            Refusal::Absent => ErrorKind::NotFound.into(),
            Refusal::System(error) => error,
            other => io::Error::new(ErrorKind::InvalidInput, other),
        }
    }
}

/// Reads a file of anybody's, of at most so many bytes.
///
/// # Errors
/// Why it is not read.
pub fn read(path: &Path, bound: u64) -> Result<Vec<u8>, Refusal> {
    let (file, meta) = open_any(path)?;
    read_content(&file, &meta, bound)
}

/// The same as text.
///
/// # Errors
/// Why it is not read.
pub fn read_text(path: &Path, bound: u64) -> Result<String, Refusal> {
    String::from_utf8(read(path, bound)?).map_err(|_| Refusal::Text)
}

/// The beginning of a file of anybody's, so many bytes at most.
///
/// # Errors
/// Why it is not read.
pub fn read_head(path: &Path, bound: u64) -> Result<Vec<u8>, Refusal> {
    let (file, _) = open_any(path)?;
    let mut bytes = Vec::new();
    file.take(bound).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A file that is open to be read.
#[derive(Debug)]
pub struct OpenFile {
    file: File,
    meta: Metadata,
    bound: u64,
}

impl OpenFile {
    /// A file of anybody's, of which at most so many bytes are read.
    ///
    /// # Errors
    /// Why it is not read.
    pub fn any(path: &Path, bound: u64) -> Result<OpenFile, Refusal> {
        let (file, meta) = open_any(path)?;
        Ok(OpenFile { file, meta, bound })
    }

    /// A file whose word counts as that of the user or of root: nobody else can have written it.
    ///
    /// # Errors
    /// Why it is not read.
    pub fn protected(path: &Path, bound: u64) -> Result<OpenFile, Refusal> {
        let open = OpenFile::any(path, bound)?;
        check_protected(path, &open.meta)?;
        Ok(open)
    }

    /// Is that its text, whether or not a byte order mark stands in front of it? Asked before [`OpenFile::read`]. No memory is
    /// taken for its own: a page that nobody had before costs as much as copying ten.
    pub fn holds_text(&self, mut text: &[u8]) -> bool {
        let mut piece = [0; 16 << 10];
        let mut mark = BYTE_ORDER_MARK.as_bytes();
        while let Ok(length @ 1..) = (&self.file).read(&mut piece) {
            let piece = &piece[..length];
            let piece = piece.strip_prefix(std::mem::take(&mut mark)).unwrap_or(piece);
            let Some(rest) = text.strip_prefix(piece) else { return false };
            text = rest;
        }
        text.is_empty()
    }

    /// Its bytes.
    ///
    /// # Errors
    /// Why it is not read.
    pub fn read(&self) -> Result<Vec<u8>, Refusal> {
        (&self.file).rewind()?;
        read_content(&self.file, &self.meta, self.bound)
    }
}

/// Reads what hookctl wrote itself: as [`OpenFile::protected`], and no link leads to it.
///
/// # Errors
/// Why it is not read.
pub fn read_state(path: &Path, bound: u64) -> Result<Vec<u8>, Refusal> {
    read_state_with_meta(path, bound).map(|(bytes, _)| bytes)
}

/// The same, with what the system says of the file.
///
/// # Errors
/// Why it is not read.
pub fn read_state_with_meta(path: &Path, bound: u64) -> Result<(Vec<u8>, Metadata), Refusal> {
    let (file, meta) = open_regular(path, OpenOptions::new().read(true), false)?;
    check_protected(path, &meta)?;
    Ok((read_content(&file, &meta, bound)?, meta))
}

/// Why no file of that name can have been made, where that is so: the directory for it is closed, or the first above it
/// that is there.
#[cfg(unix)]
pub fn find_lost_directory(path: &Path) -> Option<io::Error> {
    use rustix::fs::{Access, access};
    for dir in path.ancestors().skip(1) {
        match access(dir, Access::WRITE_OK | Access::EXEC_OK) {
            Ok(()) => return None,
            Err(rustix::io::Errno::NOENT) if !is_link(dir) => {}
            Err(rustix::io::Errno::NOENT) => {
                let why = format!("{} is a link that leads nowhere", dir.display());
                return Some(io::Error::new(ErrorKind::NotFound, why));
            }
            Err(error) => return Some(error.into()),
        }
    }
    None
}

/// The same where nothing tells.
#[cfg(not(unix))]
pub fn find_lost_directory(_: &Path) -> Option<io::Error> {
    None
}

/// Where the path leads once all links are followed, as people and other programs write it.
///
/// # Errors
/// Where nothing is there, or the system does not say.
#[allow(clippy::disallowed_methods)]
pub fn real_path(path: &Path) -> io::Result<PathBuf> {
    let real = fs::canonicalize(path)?;
    Ok(if cfg!(windows) { plain_path(real) } else { real })
}

/// Windows resolves a path to its verbatim form, `\\?\C:\x`, which many programs do not know, and which
/// equals no other spelling of the same file.
fn plain_path(path: PathBuf) -> PathBuf {
    let Some(rest) = path.to_str().and_then(|text| text.strip_prefix(r"\\?\")) else { return path };
    match (rest.as_bytes(), rest.strip_prefix(r"UNC\")) {
        (_, Some(share)) => format!(r"\\{share}").into(),
        ([_, b':', b'\\', ..], _) => rest.into(),
        // A volume without a letter has no other name.
        _ => path,
    }
}

/// A path as it is written for people and for every shell of this system: a POSIX shell on Windows would take its
/// backslashes out.
pub fn portable_text(path: &str) -> Cow<'_, str> {
    if cfg!(windows) { path.replace('\\', "/").into() } else { path.into() }
}

/// Takes away what has that name, whatever it is.
///
/// # Errors
/// Where it is there and the system refuses.
pub fn remove_entry(path: &Path) -> io::Result<()> {
    let removed = match path.is_dir() && !is_link(path) {
        true => fs::remove_dir_all(path),
        false => fs::remove_file(path),
    };
    match removed {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// The bytes of what hookctl wrote itself, for as long as the process lives, and only those that are looked at are read.
/// What is written whole and replaced whole can be read so: nobody changes it where it stands, and whoever cuts it short
/// ends the process as a crash does, with an answer.
///
/// # Errors
/// Why it is not read.
pub fn map_state(path: &Path, bound: u64) -> Result<&'static [u8], Refusal> {
    #[cfg(unix)]
    {
        let (file, meta) = open_regular(path, OpenOptions::new().read(true), false)?;
        check_protected(path, &meta)?;
        if meta.len() > bound {
            return Err(Refusal::Large(bound));
        }
        Ok(map::map_file(&file, meta.len() as usize)?)
    }
    #[cfg(not(unix))]
    read_state(path, bound).map(|bytes| &*bytes.leak())
}

/// Reads text of anybody's to which no link leads: what is read is what lies there.
///
/// # Errors
/// Why it is not read.
pub fn plain_text(path: &Path, bound: u64) -> Result<String, Refusal> {
    let (file, meta) = open_regular(path, OpenOptions::new().read(true), false)?;
    String::from_utf8(read_content(&file, &meta, bound)?).map_err(|_| Refusal::Text)
}

/// Reads a table that the kernel makes up, and that is known to end.
///
/// # Errors
/// Why it is not read.
#[cfg(target_os = "linux")]
pub fn kernel_text(path: &Path, bound: u64) -> io::Result<String> {
    let bytes = kernel_bytes(path, bound)?;
    String::from_utf8(bytes).map_err(|_| ErrorKind::InvalidData.into())
}

/// The same, of a table that may hold any bytes.
///
/// # Errors
/// Why it is not read.
#[cfg(target_os = "linux")]
pub fn kernel_bytes(path: &Path, bound: u64) -> io::Result<Vec<u8>> {
    let mut options = OpenOptions::new();
    set_open_flags(options.read(true), rustix::fs::OFlags::NOFOLLOW);
    let mut bytes = Vec::new();
    options.open(path)?.take(bound).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What [`read_state`] reads, as text.
///
/// # Errors
/// Why it is not read.
pub fn state_text(path: &Path, bound: u64) -> Result<String, Refusal> {
    String::from_utf8(read_state(path, bound)?).map_err(|_| Refusal::Text)
}

/// Opens a file of anybody's, of at most so many bytes, for whoever reads it piece by piece.
///
/// # Errors
/// Why it is not read.
pub fn open(path: &Path, bound: u64) -> Result<(File, Metadata), Refusal> {
    let (file, meta) = open_any(path)?;
    if meta.len() > bound { Err(Refusal::Large(bound)) } else { Ok((file, meta)) }
}

/// Is it a link, wherever it leads?
pub fn is_link(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_symlink())
}

/// Is what there is of an absent path a link that leads nowhere: the file's own, or its directory's?
pub fn leads_nowhere(path: &Path) -> bool {
    let there = path.ancestors().find(|above| above.symlink_metadata().is_ok());
    there.is_some_and(|above| is_link(above) && above.metadata().is_err())
}

/// Opens a file of our own to add to its end; it and its directory are made where they are not there.
///
/// # Errors
/// Where the system refuses, or something else is there.
pub fn open_to_append(path: &Path) -> io::Result<File> {
    open_or_create(path, OpenOptions::new().append(true))
}

/// Why [`open_to_append`] would fail, as far as can be told without making anything; None where nothing is known to.
pub fn find_append_obstacle(path: &Path) -> Option<Refusal> {
    match path.symlink_metadata() {
        Ok(_) => open_regular(path, OpenOptions::new().append(true), false).err(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            find_lost_directory(path).map(Refusal::System)
        }
        Err(error) => Some(Refusal::System(error)),
    }
}

/// Opens a file of our own to read, write and lock; it and its directory are made where they are not
/// there. What it holds stays.
///
/// # Errors
/// Where the system refuses, or something else is there.
pub fn open_to_edit(path: &Path) -> io::Result<File> {
    open_or_create(path, OpenOptions::new().read(true).write(true))
}

/// Makes a file of our own that is not there yet.
///
/// # Errors
/// Where the system refuses, or anything has that name.
pub fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    restrict_to_owner(&mut options);
    with_dir(path, || options.open(path))
}

/// Puts a file of our own in the place of what has that name: whole, or not at all.
///
/// # Errors
/// Where the system refuses.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    replace_with(path, |file| file.write_all(bytes))
}

/// The same for a program that anybody may run, and that is on the disk before it has that name: half of one would guard
/// nobody.
///
/// # Errors
/// Where the system refuses.
pub fn replace_program(path: &Path, bytes: &[u8]) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)?;
    replace_with(path, |file| {
        file.write_all(bytes)?;
        #[cfg(unix)]
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        file.sync_all()
    })
}

fn replace_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> io::Result<()> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}-{number}.tmp", std::process::id()));
    let draft = path.with_file_name(name);
    // Of a process with the same number that was killed.
    let made = create_private(&draft).or_else(|error| match error.kind() {
        ErrorKind::AlreadyExists => fs::remove_file(&draft).and_then(|()| create_private(&draft)),
        _ => Err(error),
    });
    let written = made.and_then(|mut file| write(&mut file)).and_then(|()| take_name(&draft, path));
    if written.is_err() {
        let _ = fs::remove_file(draft);
    }
    written
}

/// Gives a file the name of another, which is gone then.
#[cfg(not(windows))]
fn take_name(draft: &Path, path: &Path) -> io::Result<()> {
    fs::rename(draft, path)
}

/// The same where nothing takes the name of a file that somebody has open: who reads it is soon done.
#[cfg(windows)]
fn take_name(draft: &Path, path: &Path) -> io::Result<()> {
    const TRIES: u32 = 80;
    for _ in 0..TRIES {
        match fs::rename(draft, path) {
            Err(error) if error.kind() == ErrorKind::PermissionDenied => {
                std::thread::sleep(Duration::from_millis(25));
            }
            renamed => return renamed,
        }
    }
    fs::rename(draft, path)
}

/// For how long a draft lies that nobody may be writing any more: its writer was killed.
const DRAFT: Duration = Duration::from_secs(3600);

/// How long a file of that name is kept where only drafts are to go; None = for ever.
pub fn draft_keep(name: &str) -> Option<Duration> {
    name.ends_with(".tmp").then_some(DRAFT)
}

/// Takes away files of a directory that are older than `keep` says of their names; None = it stays. At most so many are
/// looked at, each time from another one on: the first ones may be young for ever. What is dated in the future, as by a clock that was wrong, is dated now: else it would stay until then.
pub fn sweep_directory(dir: &Path, most: usize, keep: impl Fn(&str) -> Option<Duration>) {
    let now = SystemTime::now();
    let limit_of =
        |entry: fs::DirEntry| keep(&entry.file_name().to_string_lossy()).zip(Some(entry));
    let entries = fs::read_dir(dir).into_iter().flatten().flatten();
    let all: Vec<(Duration, fs::DirEntry)> = entries.filter_map(limit_of).collect();
    let nanos = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
    let start = (nanos / 1000) as usize % all.len().max(1);
    for (limit, entry) in all.iter().cycle().skip(start).take(most.min(all.len())) {
        let meta = entry.metadata().ok().filter(Metadata::is_file);
        let Some(modified) = meta.and_then(|meta| meta.modified().ok()) else { continue };
        match now.duration_since(modified) {
            Ok(age) if age <= *limit => {}
            Ok(_) => drop(fs::remove_file(entry.path())),
            Err(_) => {
                let opened = open_regular(&entry.path(), OpenOptions::new().write(true), false);
                let _ = opened.map(|(file, _)| file.set_modified(now));
            }
        }
    }
}

/// Makes a directory that only its owner can look into, and those that lead there.
///
/// # Errors
/// Where the file system refuses.
pub fn private_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

/// Opens a directory, to lock it or to see it to the disk.
///
/// # Errors
/// Where the system refuses, or it is none.
pub fn open_dir(dir: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    set_open_flags(&mut options, rustix::fs::OFlags::DIRECTORY);
    options.open(dir)
}

fn open_any(path: &Path) -> Result<(File, Metadata), Refusal> {
    open_regular(path, OpenOptions::new().read(true), true)
}

fn open_or_create(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    options.create(true);
    restrict_to_owner(options);
    Ok(with_dir(path, || open_regular(path, options, false).map_err(io::Error::from))?.0)
}

/// What is made can be read by its owner only.
fn restrict_to_owner(options: &mut OpenOptions) {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    #[cfg(not(unix))]
    let _ = options;
}

/// Once more with the directory, where that was missing.
fn with_dir<T>(path: &Path, mut open: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    match open() {
        Err(error) if error.kind() == ErrorKind::NotFound => {
            private_dir(path.parent().unwrap_or(path))?;
            open()
        }
        opened => opened,
    }
}

/// Opens a regular file without waiting for anybody, and without making it this process's terminal.
fn open_regular(
    path: &Path,
    options: &mut OpenOptions,
    links: bool,
) -> Result<(File, Metadata), Refusal> {
    #[cfg(unix)]
    {
        use rustix::fs::OFlags;
        set_open_flags(options, if links { OFlags::empty() } else { OFlags::NOFOLLOW });
    }
    let file = match options.open(path) {
        // Of a link the system says that there are too many.
        Err(error) if !links && error.kind() != ErrorKind::NotFound && is_link(path) => {
            return Err(Refusal::Kind("a link"));
        }
        opened => opened?,
    };
    let meta = file.metadata()?;
    if !meta.is_file() {
        return Err(Refusal::Kind(file_type_name(meta.file_type())));
    }
    if is_made_up(&file, &meta) {
        return Err(Refusal::Kind("text that the kernel makes up"));
    }
    Ok((file, meta))
}

#[cfg(unix)]
fn set_open_flags(options: &mut OpenOptions, more: rustix::fs::OFlags) {
    use rustix::fs::OFlags;
    use std::os::unix::fs::OpenOptionsExt as _;
    let all = OFlags::NONBLOCK | OFlags::NOCTTY | more;
    options.custom_flags(all.bits() as i32);
}

fn file_type_name(is: FileType) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt as _;
        if is.is_fifo() {
            return "a named pipe";
        }
        if is.is_char_device() || is.is_block_device() {
            return "a device";
        }
        if is.is_socket() {
            return "a socket";
        }
    }
    if is.is_dir() { "a directory" } else { "something else" }
}

/// Does it lie in one of the kernel's own file systems? They call regular what waits, what never ends,
/// and what shows another process. Their files take no room on a disk, so of others nothing is asked.
#[cfg(target_os = "linux")]
fn is_made_up(file: &File, meta: &Metadata) -> bool {
    use std::os::linux::fs::MetadataExt as _;
    // proc, sysfs, debugfs, tracefs, securityfs, configfs, cgroup, cgroup2, bpf.
    const KERNEL: [u32; 9] = [
        0x9fa0,
        0x6265_6572,
        0x6462_6720,
        0x7472_6163,
        0x7363_6673,
        0x6265_6570,
        0x0027_e0eb,
        0x6367_7270,
        0xcafe_4a11,
    ];
    meta.st_blocks() == 0
        && rustix::fs::fstatfs(file).is_ok_and(|system| KERNEL.contains(&(system.f_type as u32)))
}

#[cfg(not(target_os = "linux"))]
fn is_made_up(_: &File, _: &Metadata) -> bool {
    false
}

fn read_content(file: &File, meta: &Metadata, bound: u64) -> Result<Vec<u8>, Refusal> {
    if meta.len() > bound {
        return Err(Refusal::Large(bound));
    }
    let mut bytes = Vec::with_capacity(meta.len() as usize + 1);
    // It may grow while it is read.
    file.take(bound + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > bound { Err(Refusal::Large(bound)) } else { Ok(bytes) }
}

/// Refuses a file that others can write, or replace in its directory: sshd's way, with private groups
/// allowed.
///
/// # Errors
/// Who could have written it.
pub fn check_protected(path: &Path, meta: &Metadata) -> Result<(), Refusal> {
    is_ours(path, meta)?;
    path.parent().map_or(Ok(()), guarded_dir)
}

/// Refuses a directory where others can replace a file.
///
/// # Errors
/// Who could.
pub fn guarded_dir(dir: &Path) -> Result<(), Refusal> {
    match fs::metadata(dir) {
        Ok(meta) if !is_sticky(&meta) => is_ours(dir, &meta),
        _ => Ok(()),
    }
}

/// Is this root, in a directory of another user's: what it makes there that user cannot change.
#[cfg(unix)]
pub fn is_root_elsewhere(dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    rustix::process::geteuid().is_root() && fs::metadata(dir).is_ok_and(|meta| meta.uid() != 0)
}

/// The same; there is no root.
#[cfg(not(unix))]
pub fn is_root_elsewhere(_: &Path) -> bool {
    false
}

/// Can nobody but root change that file of the machine's, or put another in its place?
#[cfg(unix)]
pub fn is_roots(path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    let is = |path: &Path| {
        fs::metadata(path).is_ok_and(|meta| meta.uid() == 0 && meta.mode() & 0o022 == 0)
    };
    is(path) && path.parent().is_none_or(is)
}

/// The same; there are no modes.
#[cfg(not(unix))]
pub fn is_roots(_: &Path) -> bool {
    true
}

/// Such as /tmp, where nobody replaces another's file.
#[cfg(unix)]
fn is_sticky(meta: &Metadata) -> bool {
    std::os::unix::fs::MetadataExt::mode(meta) & 0o1000 != 0
}

#[cfg(unix)]
fn is_ours(path: &Path, meta: &Metadata) -> Result<(), Refusal> {
    use std::os::unix::fs::MetadataExt as _;
    let me = rustix::process::geteuid().as_raw();
    let group = rustix::process::getegid().as_raw();
    let name = path.display();
    if meta.uid() != 0 && meta.uid() != me {
        let why = format!("{name} belongs to another user: what it says does not count");
        return Err(Refusal::Others(why));
    }
    // A user's private group has the user's own number.
    let private = meta.gid() == group && group == me;
    if meta.mode() & 0o002 != 0 || (meta.mode() & 0o020 != 0 && !private) {
        let why = format!("{name} can be written by others: run `chmod go-w {name}`");
        return Err(Refusal::Others(why));
    }
    Ok(())
}

#[cfg(not(unix))]
fn is_sticky(_: &Metadata) -> bool {
    false
}

/// Where there are no modes, the platform's own profile directories are the guard.
#[cfg(not(unix))]
fn is_ours(_: &Path, _: &Metadata) -> Result<(), Refusal> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verbatim_path_of_windows_is_written_as_others_write_it() {
        for (path, plain) in [
            (r"\\?\C:\Users\me\hookctl.exe", r"C:\Users\me\hookctl.exe"),
            (r"\\?\Z:\", r"Z:\"),
            (r"\\?\UNC\server\share\x", r"\\server\share\x"),
            (r"\\?\Volume{1-2}\x", r"\\?\Volume{1-2}\x"),
            (r"C:\x", r"C:\x"),
            (r"\\server\share", r"\\server\share"),
            ("/home/me", "/home/me"),
        ] {
            assert_eq!(plain_path(path.into()), Path::new(plain), "{path}");
        }
    }
}
