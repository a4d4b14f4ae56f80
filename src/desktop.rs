//! Notifications on the human's desktop: the system's own program shows them, started and left alone.
//!
//! A repository can set variables for hooks and put programs into PATH, so the program is looked for in fixed
//! directories only, and gets as good as nothing of the environment (on Windows, where PowerShell needs it, all).

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::text;

/// Where the program is looked for.
pub const DIRECTORIES: &[&str] = if cfg!(windows) {
    &[r"C:\Windows\System32\WindowsPowerShell\v1.0"]
} else if cfg!(target_os = "macos") {
    &["/usr/bin"]
} else {
    &["/usr/bin", "/usr/local/bin", "/bin", "/run/current-system/sw/bin"]
};

/// The program that shows notifications.
const PROGRAM: &str = if cfg!(windows) {
    "powershell.exe"
} else if cfg!(target_os = "macos") {
    "osascript"
} else {
    "notify-send"
};

/// Whose notification it is.
const TITLE: &str = "hookctl";
/// How much of a text is shown, in bytes: desktops cut it far earlier.
const LONGEST: usize = 1000;

/// Shows the text on the desktop, with the first program in these directories that can. False = there is none, or it
/// cannot be started. Nobody waits for it.
pub fn show_notification(directories: &[&str], text: &str) -> bool {
    let Some(program) = find_program(directories) else { return false };
    let text = text::cut(text, LONGEST);
    let mut command = notifier(&program, &text::make_visible(&text));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        // What ends the agent's group of processes does not end it.
        command.process_group(0);
    }
    command.spawn().is_ok()
}

fn find_program(directories: &[&str]) -> Option<PathBuf> {
    let mut places = directories.iter().map(|dir| Path::new(dir).join(PROGRAM));
    places.find(|path| path.is_file())
}

/// notify-send reads `\n` and its like in a text, and servers some tags.
#[cfg(not(any(windows, target_os = "macos")))]
fn notifier(program: &Path, text: &str) -> Command {
    let text = text.replace('\\', r"\\").replace('&', "&amp;").replace('<', "&lt;");
    let mut command = Command::new(program);
    command.arg(format!("--app-name={TITLE}")).args(["--", TITLE, &text]).env_clear();
    // Where systemd and its like put the bus of a user's session. A variable could name a bus that runs programs.
    let dir = format!("/run/user/{}", rustix::process::getuid().as_raw());
    command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={dir}/bus"));
    command.env("XDG_RUNTIME_DIR", dir);
    command
}

#[cfg(target_os = "macos")]
use notifier_of_macos as notifier;

/// The text is an argument of the script, never a part of it.
#[cfg(any(test, target_os = "macos"))]
fn notifier_of_macos(program: &Path, text: &str) -> Command {
    let mut command = Command::new(program);
    command.args(["-e", "on run argv"]);
    command.args(["-e", "display notification (item 2 of argv) with title (item 1 of argv)"]);
    command.args(["-e", "end run", TITLE, text]).env_clear();
    command.envs(crate::env::get(crate::env::HOME).map(|home| (crate::env::HOME, home)));
    command
}

/// The text is a variable, never a part of the script.
#[cfg(windows)]
fn notifier(program: &Path, text: &str) -> Command {
    use std::os::windows::process::CommandExt as _;
    /// `CREATE_NO_WINDOW`
    const NO_WINDOW: u32 = 0x0800_0000;
    /// As PowerShell itself: only what the Start menu knows may show a toast.
    const SCRIPT: &str = r"$m = [Windows.UI.Notifications.ToastNotificationManager, Windows.UI.Notifications, ContentType = WindowsRuntime]
$x = $m::GetTemplateContent('ToastText02')
$t = $x.GetElementsByTagName('text')
[void]$t.Item(0).AppendChild($x.CreateTextNode($env:HOOKCTL_TITLE))
[void]$t.Item(1).AppendChild($x.CreateTextNode($env:HOOKCTL_TEXT))
$id = '{1AC14E77-02E7-4E5D-B744-2EB1AE5198B7}\WindowsPowerShell\v1.0\powershell.exe'
$m::CreateToastNotifier($id).Show([Windows.UI.Notifications.ToastNotification]::new($x))";
    let mut command = Command::new(program);
    command.args(["-NoProfile", "-NonInteractive", "-Command", SCRIPT]).creation_flags(NO_WINDOW);
    command.env("HOOKCTL_TITLE", TITLE).env("HOOKCTL_TEXT", text);
    command
}

#[cfg(all(test, unix, not(target_os = "macos")))]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;
    use std::time::{Duration, Instant};

    /// A directory with a `notify-send` that writes down what it was given, and takes its time.
    fn stub() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let (seen, program) = (dir.path().join("seen"), dir.path().join(PROGRAM));
        let body = format!(
            "#!/bin/sh\nprintf '%s|' \"$@\" \"path $LD_PRELOAD\" > '{0}.new'\nmv '{0}.new' '{0}'\nsleep 2\n",
            seen.display()
        );
        fs::write(&program, body).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        dir
    }

    fn seen(dir: &Path) -> String {
        let start = Instant::now();
        loop {
            match fs::read_to_string(dir.join("seen")) {
                Ok(text) => return text,
                Err(_) if start.elapsed() < Duration::from_secs(10) => {
                    std::thread::sleep(Duration::from_millis(10));
                }
                Err(error) => panic!("{error}"),
            }
        }
    }

    #[test]
    fn the_text_is_an_argument_and_nobody_waits() {
        let dir = stub();
        let directories = ["/nowhere", dir.path().to_str().unwrap()];
        let start = Instant::now();
        assert!(show_notification(&directories, "--x; $(touch y) <b>'\"\u{202e} \\n & more"));
        assert!(start.elapsed() < Duration::from_secs(1), "it was waited for");
        let wanted = "--app-name=hookctl|--|hookctl|--x; $(touch y) &lt;b>'\"\\\\u{202e} \\\\n &amp; more|path |";
        assert_eq!(seen(dir.path()), wanted);
    }

    #[test]
    fn where_there_is_no_program_nothing_is_started() {
        let dir = tempfile::tempdir().unwrap();
        assert!(!show_notification(&[dir.path().to_str().unwrap()], "x"));
        assert!(!show_notification(&[], "x"));
    }
}

#[cfg(test)]
mod macos_tests {
    use super::*;

    #[test]
    fn the_text_is_no_part_of_the_script() {
        let text = "-e \" & (do shell script \"x\")";
        let command = notifier_of_macos(Path::new("/usr/bin/osascript"), text);
        let args: Vec<_> = command.get_args().map(|arg| arg.to_string_lossy()).collect();
        // What follows the first argument that is no option is the script's.
        let [.., script, title, last] = &args[..] else { panic!("{args:?}") };
        assert_eq!((&**script, &**title, &**last), ("end run", TITLE, text));
        assert!(args[..args.len() - 2].iter().all(|arg| !arg.contains("shell")));
        let variables: Vec<_> = command.get_envs().map(|(name, _)| name).collect();
        assert!(variables.iter().all(|name| *name == crate::env::HOME), "{variables:?}");
    }
}
