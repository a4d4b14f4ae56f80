//! Every file and directory that hookctl uses, in one place.
//!
//! On Linux they come from HOME, never from XDG variables: a repository's settings can set those
//! for hooks. Elsewhere the platform's own places are used.

use std::path::{Path, PathBuf};

use crate::env;

/// The managed layer: rules of the machine's administrator.
pub const MANAGED_CONFIG: &str = "/etc/hookctl/config.toml";
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
    /// The directory of the user's config file.
    pub config: PathBuf,
    /// The directory of journal, trust, backups and the like.
    pub state: PathBuf,
}

impl Paths {
    /// The places of this user, with the directories of `--config` and `--state` where given.
    ///
    /// # Errors
    /// A sentence for people when no home directory can be found.
    pub fn find(config: Option<PathBuf>, state: Option<PathBuf>) -> Result<Paths, String> {
        let home = std::env::home_dir()
            .filter(|home| home.is_absolute())
            .ok_or("no home directory: set HOME to an absolute path")?;
        let (own_config, own_state) = platform(&home);
        Ok(Paths {
            managed: PathBuf::from(MANAGED_CONFIG),
            config: config.map_or(own_config, absolute),
            state: state.map_or(own_state, absolute),
            home,
        })
    }

    /// Is the home what HOME says, and not what the system knows of the account?
    pub fn home_is_set(&self) -> bool {
        env::path(env::HOME).is_some_and(|home| home == self.home)
    }

    /// Why nothing can be read from the directory that `--config` names. The default one need not be there:
    /// registered entries name it whether there are rules or not.
    pub fn misnamed(&self, config: Option<&Path>) -> Option<String> {
        let named = config?;
        if self.config == platform(&self.home).0 || self.config.is_dir() && named != "" {
            return None;
        }
        let shown = named.display();
        Some(match (named.as_os_str().is_empty(), self.config.exists()) {
            (true, _) => "--config names no directory".into(),
            (_, true) => format!("--config {shown} is a file: name the directory of {CONFIG_FILE}"),
            (_, false) => format!("--config {shown}: there is no such directory"),
        })
    }

    /// The user's config file.
    pub fn user_config(&self) -> PathBuf {
        self.config.join(CONFIG_FILE)
    }

    /// The user's server, as the protocol's own clients are told of it.
    pub fn user_server(&self) -> PathBuf {
        self.config.join(SERVER_FILE)
    }

    /// One line per decision.
    pub fn journal(&self) -> PathBuf {
        self.state.join("journal.jsonl")
    }

    /// What was trusted, by hash.
    pub fn trust(&self) -> PathBuf {
        self.state.join("trust.json")
    }

    /// Until when hookctl is paused.
    pub fn pause(&self) -> PathBuf {
        self.state.join("pause.json")
    }

    /// Copies of settings files from before our edits.
    pub fn backups(&self) -> PathBuf {
        self.state.join("backups")
    }

    /// What was installed where: byte-exact undo.
    pub fn installs(&self) -> PathBuf {
        self.state.join("installs.json")
    }

    /// What makes the hashes that servers are sent this installation's own.
    pub fn salt(&self) -> PathBuf {
        self.state.join("salt")
    }

    /// What servers are still to be told.
    pub fn spool(&self) -> PathBuf {
        self.state.join("spool")
    }

    /// Short-lived notes: first runs of an event, counters of stops, warnings given.
    pub fn notes(&self) -> PathBuf {
        self.state.join("notes")
    }
}

/// Config and state directory of the platform.
#[cfg(any(target_os = "macos", windows))]
fn platform(home: &Path) -> (PathBuf, PathBuf) {
    match directories::ProjectDirs::from("", "", "hookctl") {
        Some(dirs) => (dirs.config_dir().to_path_buf(), dirs.data_local_dir().join("state")),
        None => (home.join(".config/hookctl"), home.join(".local/state/hookctl")),
    }
}

/// Config and state directory of the platform.
#[cfg(not(any(target_os = "macos", windows)))]
fn platform(home: &Path) -> (PathBuf, PathBuf) {
    (home.join(".config/hookctl"), home.join(".local/state/hookctl"))
}

/// Never below the directory that this happens to run in, where no path is named at all.
fn absolute(path: PathBuf) -> PathBuf {
    std::path::absolute(&path).unwrap_or_else(|_| Path::new("/").join(path))
}

/// The project's root for a session in `cwd`: CLAUDE_PROJECT_DIR, else [`project_above`].
pub fn project_root(cwd: &Path, home: &Path) -> PathBuf {
    let named = env::path(env::CLAUDE_PROJECT_DIR).filter(|root| root.is_absolute());
    named.unwrap_or_else(|| project_above(cwd, home))
}

/// The first directory upwards that holds `.hookctl.toml` or `.git`; never home or `/`, and never
/// through what a `.git` file points to. `cwd` itself where nothing is found.
pub fn project_above(cwd: &Path, home: &Path) -> PathBuf {
    // By name: what is there counts, whether it can be read or not.
    let has = |dir: &Path, name: &str| dir.join(name).symlink_metadata().is_ok();
    cwd.ancestors()
        .skip_while(|dir| dir.as_os_str().len() > LONGEST)
        .take_while(|dir| *dir != home && dir.parent().is_some())
        .find(|dir| has(dir, PROJECT_FILE) || has(dir, ".git"))
        .unwrap_or(cwd)
        .to_path_buf()
}
