//! What the analysis needs to know of the world, handed in as data.

use std::path::Path;
use std::sync::Arc;

use super::program::table::Program;
use crate::env;
use crate::files;
use crate::marks::{Marks, Session};

/// What guards, as the place has it.
#[derive(Debug, Clone, Default)]
pub struct Guarded {
    /// Their names as rules write them: `~/x`, `/x`, or `x` in a project.
    pub names: &'static [&'static str],
    /// Directories that lie elsewhere than rules say, and where rules have them.
    pub moved: Vec<(String, String)>,
}

/// What the analysis needs to know of the world.
#[derive(Debug, Clone, Default)]
pub struct Place {
    /// The session's directory, absolute.
    pub cwd: String,
    /// The project's root, absolute.
    pub project: String,
    /// The other roots that have rule files, the nearest first: a deny or an ask means them as well.
    pub other_roots: Vec<String>,
    /// The user's home, absolute.
    pub home: String,
    /// What managed and user files say of programs, the highest authority first; it comes before
    /// the shipped tables.
    pub programs: &'static [Program],
    /// The files that guard this machine.
    pub guarded: Guarded,
    /// The variables that the agent's shell will have as well; None = none of them is set.
    pub env: Option<fn(&str) -> Option<String>>,
    /// Reads a file that the call runs, of at most so many bytes; None = such files are not looked at.
    pub read: Option<ReadFile>,
    /// The session, with its marks; None = nothing is known of one.
    pub session: Option<Arc<Session>>,
}

/// Reads a file of anybody's, of at most so many bytes.
pub type ReadFile = fn(&Path, u64) -> Result<Vec<u8>, files::Refusal>;

impl Place {
    /// Does the session run on a machine of its provider (Claude Code on the web), as that says in its environment?
    /// A repository's settings can say the same, so nothing may be allowed for it.
    pub fn is_remote(&self) -> bool {
        self.env.and_then(|get| get(env::CLAUDE_CODE_REMOTE)).is_some_and(|value| value == "true")
    }

    /// The marks that stand in the session.
    pub fn standing_marks(&self) -> Marks {
        self.session.as_ref().map_or(Marks::NONE, |session| session.standing())
    }

    /// A variable that holds an absolute path.
    pub fn directory_variable(&self, name: &str) -> Option<String> {
        (self.env?)(name)
            .filter(|dir| dir.starts_with('/') || cfg!(windows) && Path::new(dir).is_absolute())
    }
}
