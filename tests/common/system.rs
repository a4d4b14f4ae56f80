//! What the tests ask of the system, where systems differ.

#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::Command;

/// hookctl for that home, with its own files where Linux has them: elsewhere the command line says so. On Windows no
/// variable moves the known folders.
pub fn hookctl(program: &str, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("HOME", home);
    if !cfg!(target_os = "linux") {
        let config = below(home, ".config/hookctl");
        let state = below(home, ".local/state/hookctl");
        // What the command line names has to be there.
        std::fs::create_dir_all(&config).unwrap();
        std::fs::create_dir_all(&state).unwrap();
        command.env("USERPROFILE", home).arg("--config").arg(config).arg("--state").arg(state);
    }
    command
}

/// The path as hookctl writes it.
pub fn text(path: impl AsRef<Path>) -> String {
    hookctl::files::portable_text(&path.as_ref().to_string_lossy()).into_owned()
}

/// A path below a directory, with this system's separators.
pub fn below(dir: &Path, path: &str) -> PathBuf {
    dir.join(path).components().collect()
}

/// Holds the directory nothing, or is there none?
pub fn is_untouched(dir: &Path) -> bool {
    std::fs::read_dir(dir).map_or(true, |mut entries| entries.next().is_none())
}

/// Gives a file its mode, where there are modes.
pub fn set_mode(path: impl AsRef<Path>, mode: u32) {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    }
    #[cfg(not(unix))]
    let _ = (path.as_ref(), mode);
}

/// The file's mode; none = 0.
pub fn mode(path: &Path) -> u32 {
    #[cfg(unix)]
    return std::os::unix::fs::PermissionsExt::mode(
        &std::fs::metadata(path).unwrap().permissions(),
    ) & 0o777;
    #[cfg(not(unix))]
    return u32::from(!path.exists());
}

/// Which file it is, where that can be told: one that is written anew is another.
pub fn file_number(path: &Path) -> u64 {
    #[cfg(unix)]
    return std::os::unix::fs::MetadataExt::ino(&std::fs::metadata(path).unwrap());
    #[cfg(not(unix))]
    return u64::from(!path.exists());
}

/// Makes a link.
pub fn symlink(target: impl AsRef<Path>, link: impl AsRef<Path>) -> std::io::Result<()> {
    #[cfg(unix)]
    return std::os::unix::fs::symlink(target, link);
    #[cfg(windows)]
    {
        use std::os::windows::fs::{symlink_dir, symlink_file};
        let make = if target.as_ref().is_dir() { symlink_dir } else { symlink_file };
        make(target.as_ref(), link.as_ref())?;
        // Wine says that it has made it, and makes none.
        link.as_ref().symlink_metadata().map(drop)
    }
}
