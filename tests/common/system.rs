//! What the tests ask of the system, where systems differ.

#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// hookctl for that home, with its own files where Linux has them: elsewhere the command line says so. On Windows no
/// variable moves the known folders.
pub fn hookctl(program: &str, home: &Path) -> Command {
    hookctl_unless(program, home, &[])
}

/// The same, but for the directories that these arguments name themselves: none is named twice.
pub fn hookctl_unless(program: &str, home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program);
    command.env("HOME", home);
    if !cfg!(target_os = "linux") {
        command.env("USERPROFILE", home);
        for (option, dir) in [("--config", ".config/hookctl"), ("--state", ".local/state/hookctl")]
        {
            let dir = below(home, dir);
            // What the command line names has to be there.
            std::fs::create_dir_all(&dir).unwrap();
            // What stands behind `--` is text of a call.
            let mut own = args.iter().take_while(|arg| **arg != "--");
            if !own.any(|arg| {
                arg.strip_prefix(option).is_some_and(|r| r.is_empty() || r.starts_with('='))
            }) {
                command.arg(option).arg(dir);
            }
        }
    }
    command
}

/// Starts it. Wine now and then loses a new process before its program begins, and calls that an internal error: of
/// hookctl nothing has run then. No other failure is tried again.
pub fn start(command: &mut Command) -> Child {
    const LOST: i32 = 1359;
    for _ in 0..4 {
        match command.spawn() {
            Err(error) if cfg!(windows) && error.raw_os_error() == Some(LOST) => {}
            started => return started.unwrap(),
        }
    }
    command.spawn().unwrap()
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

/// Says what a test leaves out here, and what it needs for that. Straight to where it is seen: what a test prints that passes
/// is shown to nobody.
pub fn leave_out(needs: &str, what: &str) {
    use std::io::Write as _;
    let _ = writeln!(std::io::stderr(), "left out: needs {needs}: {what}");
}

/// Does an emulator run this process, as qemu does? The kernel knows the emulator as its program, where the process is told of
/// its own.
pub fn is_emulated() -> bool {
    #[cfg(target_os = "linux")]
    {
        use std::os::linux::fs::MetadataExt as _;
        let number =
            |path: &Path| std::fs::metadata(path).map(|meta| (meta.st_dev(), meta.st_ino())).ok();
        let own = std::env::current_exe().ok().and_then(|own| number(&own));
        own != number("/proc/self/exe".as_ref())
    }
    #[cfg(not(target_os = "linux"))]
    false
}

/// Has it taken no longer since then? That is a promise of native processes: where an emulated one does not keep it, this is
/// left out, and what the test proves beside the clock holds all the same.
#[track_caller]
pub fn is_in_time(start: Instant, most: Duration, what: &str) -> bool {
    let took = start.elapsed();
    if took < most {
        return true;
    }
    assert!(is_emulated(), "{what}: {took:?}, more than {most:?}");
    leave_out("a native process", &format!("{what} in {most:?}, here {took:?}"));
    false
}
