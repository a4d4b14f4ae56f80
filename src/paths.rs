//! Every file and directory that hookctl uses, in one place.
//!
//! On Linux they come from HOME, never from XDG variables: a repository's settings can set those
//! for hooks. Elsewhere the platform's own places are used.

use std::path::{Component, Path, PathBuf};

use crate::env;
use crate::names::roots::{OWN, SHARED, SYSTEM};

/// The managed layer: rules of the machine's administrator.
pub const MANAGED_CONFIG: &str = if cfg!(windows) {
    // Where only administrators write; a name without a drive would be one on whichever drive is current.
    "C:/Program Files/hookctl/config.toml"
} else {
    "/etc/hookctl/config.toml"
};
/// Where the machine's managed rules come from, beside it.
pub const FLEET_FILE: &str = if cfg!(windows) {
    "C:/Program Files/hookctl/managed.toml"
} else {
    "/etc/hookctl/managed.toml"
};
/// The user's file inside the config directory.
pub const CONFIG_FILE: &str = "config.toml";
/// The settings of the server protocol, beside it.
pub const SERVER_FILE: &str = "server.json";
/// The project's file at its root.
pub const PROJECT_FILE: &str = ".hookctl.toml";
/// The user's own file at the project's root, not committed.
pub const LOCAL_FILE: &str = ".hookctl.local.toml";

/// The longest path that the system looks up, in bytes.
const LONGEST: usize = 4096;

/// Where this run's files are.
#[derive(Debug, Clone)]
pub struct Paths {
    /// The user's home, absolute.
    pub home: PathBuf,
    /// The managed config file.
    pub managed: PathBuf,
    /// Where managed rules come from.
    pub fleet: PathBuf,
    /// The directory of the user's config file.
    pub config: PathBuf,
    /// The directory of journal, trust, backups and the like.
    pub state: PathBuf,
}

impl Paths {
    /// The places of this user, with the directories of `--config` and `--state` where given. A state of no
    /// name, as of a variable that is not set, is none; such a config is told by `check_config_directory`.
    ///
    /// # Errors
    /// A sentence for people when no home directory can be found.
    pub fn discover(config: Option<PathBuf>, state: Option<PathBuf>) -> Result<Paths, String> {
        let home = std::env::home_dir()
            .filter(|home| home.is_absolute())
            .ok_or("no home directory: set HOME to an absolute path")?;
        let (own_config, own_state) = platform_directories(&home);
        let state = state.filter(|state| !state.as_os_str().is_empty());
        Ok(Paths {
            managed: PathBuf::from(MANAGED_CONFIG),
            fleet: PathBuf::from(FLEET_FILE),
            config: config.map_or(own_config, to_absolute),
            state: state.map_or(own_state, to_absolute),
            home,
        })
    }

    /// The places below a home, whatever this user's are: a world for tests.
    pub fn below_home(home: PathBuf) -> Paths {
        Paths {
            managed: home.join("managed.toml"),
            fleet: home.join("fleet.toml"),
            config: home.join(".config/hookctl"),
            state: home.join(".local/state/hookctl"),
            home,
        }
    }

    /// Is the state where this platform has it?
    pub fn is_own_state(&self) -> bool {
        self.state == platform_directories(&self.home).1
    }

    /// Is the home what HOME says, and not what the system knows of the account?
    pub fn home_is_set(&self) -> bool {
        env::get_path(env::HOME).is_some_and(|home| home == self.home)
    }

    /// Why nothing can be read from the directory that `--config` names. The default one need not be there:
    /// registered entries name it whether there are rules or not.
    pub fn check_config_directory(&self, config: Option<&Path>) -> Option<String> {
        let named = config?;
        if self.config == platform_directories(&self.home).0 || self.config.is_dir() && named != ""
        {
            return None;
        }
        let shown = named.display();
        Some(match (named.as_os_str().is_empty(), self.config.exists()) {
            (true, _) => "--config names no directory".into(),
            (_, true) => format!("--config {shown} is a file: name the directory of {CONFIG_FILE}"),
            (_, false) => format!("--config {shown}: there is no such directory"),
        })
    }
}

/// Files and directories by name, each in the directory of the config or of the state.
macro_rules! places {
    ($($(#[$doc:meta])* $place:ident: $directory:ident / $name:expr;)+) => {
        impl Paths {
            $($(#[$doc])* pub fn $place(&self) -> PathBuf { self.$directory.join($name) })+
        }
    };
}

places! {
    /// The user's config file.
    user_config: config / CONFIG_FILE;
    /// The user's server, as the protocol's own clients are told of it.
    user_server: config / SERVER_FILE;
    /// One line per decision.
    journal: state / "journal.jsonl";
    /// What was trusted, by hash.
    trust: state / "trust.json";
    /// Until when hookctl is paused.
    pause: state / "pause.json";
    /// Copies of settings files from before our edits.
    backups: state / "backups";
    /// What was installed where: byte-exact undo.
    installs: state / "installs.json";
    /// What makes the hashes that servers are sent this installation's own.
    salt: state / "salt";
    /// What is kept of the managed rules.
    fleet_state: state / "managed";
    /// The bundle of them that holds.
    bundle: state / "managed/bundle";
    /// What came of the last try to fetch one.
    fetched: state / "managed/tried";
    /// Who fetches one holds it.
    fleet_lock: state / "managed/lock";
    /// Who makes heartbeats holds it.
    heartbeat_lock: state / "heartbeat.lock";
    /// What servers are still to be told.
    spool: state / "spool";
    /// Short-lived notes: first runs of an event, counters of stops, warnings given.
    notes: state / "notes";
}

/// Config and state directory of the platform.
#[cfg(any(target_os = "macos", windows))]
fn platform_directories(home: &Path) -> (PathBuf, PathBuf) {
    match directories::ProjectDirs::from("", "", "hookctl") {
        Some(dirs) => (dirs.config_dir().to_path_buf(), dirs.data_local_dir().join("state")),
        None => (home.join(".config/hookctl"), home.join(".local/state/hookctl")),
    }
}

/// Config and state directory of the platform.
#[cfg(not(any(target_os = "macos", windows)))]
fn platform_directories(home: &Path) -> (PathBuf, PathBuf) {
    (home.join(".config/hookctl"), home.join(".local/state/hookctl"))
}

/// Never below the directory that this happens to run in, where no path is named at all.
fn to_absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or_else(|_| Path::new("/").join(path))
}

/// The project's root for a session in `cwd`: CLAUDE_PROJECT_DIR where that is a project, else
/// [`project_above`].
pub fn project_root(cwd: &Path, home: &Path) -> PathBuf {
    let plain = |root: &PathBuf| {
        root.is_absolute()
            && root.as_os_str().len() <= LONGEST
            && !root.components().any(|part| part == Component::ParentDir)
    };
    let named = env::get_path(env::CLAUDE_PROJECT_DIR).filter(plain);
    let named = named.filter(|root| is_marked(root) && may_be_project(root, home));
    let named = named.map(|root| root.components().collect::<PathBuf>());
    named.unwrap_or_else(|| project_above(cwd, home))
}

/// The first directory upwards that holds `.hookctl.toml` or `.git`; never home or `/`, and never
/// through what a `.git` file points to. `cwd` itself where nothing is found.
pub fn project_above(cwd: &Path, home: &Path) -> PathBuf {
    let mut all = dirs_above(cwd, home);
    let root = all.find(|dir| is_marked(dir) && may_be_project(dir, home));
    root.unwrap_or(cwd).to_path_buf()
}

/// The other directories that have a rule file of a project's: above the project's root and at or above the directory where
/// the call is, the nearest first. What they deny holds as well, so that nobody gets out of a project by making one in
/// it, nor by a variable that names another.
pub fn other_roots<'r>(project: &'r Path, cwd: &'r Path, home: &Path) -> Vec<&'r Path> {
    let below = dirs_above(cwd, home).take_while(|dir| !lies_in(project, dir));
    let above = project.parent().into_iter().flat_map(|parent| dirs_above(parent, home));
    // Few have any: the disk is asked first.
    let has_rules = |dir: &Path| holds_any(dir, &[PROJECT_FILE, LOCAL_FILE]);
    below.chain(above).filter(|dir| has_rules(dir) && may_be_project(dir, home)).collect()
}

/// The repositories around a project, up to a home or `/`.
pub fn outer_repositories<'r>(project: &'r Path, home: &Path) -> impl Iterator<Item = &'r Path> {
    let above = project.parent().into_iter().flat_map(|parent| dirs_above(parent, home));
    above.filter(|dir| holds_any(dir, &[".git"]) && may_be_project(dir, home))
}

/// That directory and those above it, up to a home or `/`.
fn dirs_above<'d>(dir: &'d Path, home: &Path) -> impl Iterator<Item = &'d Path> {
    dir.ancestors()
        .skip_while(|dir| dir.as_os_str().len() > LONGEST)
        .take_while(move |dir| dir.as_os_str() != home.as_os_str() && dir.parent().is_some())
}

/// Is it that directory, or one in it, by its letters? A path that is spelled otherwise only makes a longer search.
fn lies_in(path: &Path, dir: &Path) -> bool {
    let [path, dir] = [path, dir].map(|one| one.as_os_str().as_encoded_bytes());
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}

/// Does the directory hold what only a project's root holds?
fn is_marked(dir: &Path) -> bool {
    holds_any(dir, &[PROJECT_FILE, ".git"])
}

/// Is one of these names in the directory, whether what has it can be read or not?
fn holds_any(dir: &Path, names: &[&str]) -> bool {
    names.iter().any(|name| dir.join(name).symlink_metadata().is_ok())
}

/// Is it that directory, or one above it? Where names are the same in any letter case, the agent's spelling of them tells nothing.
fn is_above(dir: &Path, path: &Path) -> bool {
    let lower = |path: &Path| PathBuf::from(path.to_string_lossy().to_lowercase());
    match cfg!(any(target_os = "macos", windows)) {
        true => lower(path).starts_with(lower(dir)),
        false => path.starts_with(dir),
    }
}

/// May an allow, or an exception from a rule, speak of all that lies below this root? Not below `/`, a
/// home or a directory above one, nor below one of the system's that no project marks.
pub fn may_be_project(root: &Path, home: &Path) -> bool {
    if is_above(root, home) {
        return false;
    }
    let text = root.to_string_lossy();
    let separator = |c: char| matches!(c, '/' | '\\');
    // Behind a drive's letter.
    let rest = match text.as_bytes() {
        [_, b':', ..] => &text[2..],
        _ => &*text,
    };
    let mut parts = rest.split(separator).filter(|part| !part.is_empty());
    let is = |part: &str, list: &[&str]| list.iter().any(|own| own.eq_ignore_ascii_case(part));
    let mut top = parts.next().unwrap_or_default();
    // Where macOS keeps `/etc`, `/tmp` and `/var`.
    if is(top, &["private"]) {
        top = parts.next().unwrap_or_default();
    }
    let (second, third, fourth) = (parts.next(), parts.next(), parts.next());
    match (second, third) {
        (None, _) => !is(top, &["", "root"]) && !is(top, SHARED) && !is(top, SYSTEM),
        (Some(_), None) if is(top, &["home", "users"]) => false,
        _ if is(top, SYSTEM) => {
            let below = |own: &&str| {
                let mut all = [Some(top), second, third, fourth].into_iter().flatten();
                let mut own = own.split_terminator('/');
                own.all(|part| all.next().is_some_and(|one| one.eq_ignore_ascii_case(part)))
                    && all.next().is_some()
            };
            OWN.iter().any(below) || is_marked(root)
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_home_and_no_directory_of_the_system_is_a_project() {
        let may = |root: &str| may_be_project(Path::new(root), Path::new("/home/dev"));
        for root in [
            "/",
            "//",
            "/home",
            "/home/",
            "/home/dev",
            "/home/dev/",
            "/home/other",
            "/root",
            "/Users",
            "/Users/me",
            "/var",
            "/var/",
            "/VAR",
            "/private/var",
            "/private/etc",
            "/private",
            "/etc",
            "/etc/nginx",
            "/var/log",
            "/var/lib/x",
            "/usr",
            "/usr/bin",
            "/usr/src",
            "/var/www",
            "/opt",
            "/srv",
            "/tmp",
            "/private/tmp",
            "/dev",
            "/dev/null",
            "/dev/shm",
            "/proc/self",
            "/mnt",
            "/System/x",
            "C:/",
            "C:\\",
            "C:/Windows",
            "C:\\Windows\\x",
            "C:/Users/me",
            "C:/Users",
        ] {
            assert!(!may(root), "{root}");
        }
        for root in [
            "/home/dev/project",
            "/home/dev/a/b",
            "/home/other/x",
            "/root/x",
            "/work",
            "/workspace/x",
            "/app",
            "/opt/x",
            "/srv/x",
            "/usr/src/app",
            "/var/www/html",
            "/tmp/x",
            "/private/tmp/x",
            "/var/folders/a/b/T/x",
            "/mnt/c/x",
            "/Users/me/x",
            "/home/developer/x",
            "/data",
            "C:/x",
            "C:/Users/me/x",
            "D:\\x",
        ] {
            assert!(may(root), "{root}");
        }
        assert!(!may_be_project(Path::new("/tmp/a"), Path::new("/tmp/a/home")));
        assert!(!may_be_project(Path::new("/data/me"), Path::new("/data/me")));
        assert!(may_be_project(Path::new("/data/me/x"), Path::new("/data/me")));
    }
}
