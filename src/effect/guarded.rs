//! The files that guard this machine: hookctl's own and the agents' settings.
//!
//! Which they are say the shipped rules that protect them; they are handed in with the place.

use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};
use std::fs::{self, Metadata};

use super::Place;
use super::path::{behind, split};
#[cfg(not(unix))]
use crate::files::identity;
use crate::limits::{self, Cap};

/// The program's own name.
pub const NAME: &str = "hookctl";

/// A guarded file that is there.
#[derive(Debug, Clone)]
pub struct GuardedFile {
    /// Its absolute path, as rules name it.
    pub path: String,
    /// What the file system knows it by.
    pub id: Option<Id>,
}

/// Device and inode.
pub type Id = (u64, u64);

/// The guarded files that are there.
#[derive(Debug, Default)]
pub struct Guards {
    /// Those that were found.
    pub files: Vec<GuardedFile>,
    /// Paths below which there are more than were looked at.
    pub cut: Vec<String>,
}

/// How many names the file has.
#[cfg(unix)]
pub fn link_count(_path: &str, meta: &Metadata) -> u64 {
    use std::os::unix::fs::MetadataExt as _;
    meta.nlink()
}

/// The same; one where nothing tells.
#[cfg(not(unix))]
pub fn link_count(path: &str, _meta: &Metadata) -> u64 {
    identity::of_path(path.as_ref()).map_or(1, |file| file.names)
}

/// What the file system knows the file by.
#[cfg(unix)]
pub fn file_id(_path: &str, meta: &Metadata) -> Option<Id> {
    use std::os::unix::fs::MetadataExt as _;
    Some((meta.dev(), meta.ino()))
}

/// The same.
#[cfg(not(unix))]
pub fn file_id(path: &str, _meta: &Metadata) -> Option<Id> {
    identity::of_path(path.as_ref()).map(|file| file.id)
}

/// Could the file have another name, or be a program?
#[cfg(unix)]
pub fn is_shared(_path: &str, meta: &Metadata) -> bool {
    use std::os::unix::fs::MetadataExt as _;
    meta.is_file() && (meta.nlink() > 1 || meta.mode() & 0o111 != 0)
}

/// The same, where no mode tells what may be run, and a shell of Git runs what is called anything.
#[cfg(not(unix))]
pub fn is_shared(path: &str, meta: &Metadata) -> bool {
    let own = || std::env::current_exe().and_then(fs::metadata).map(|own| own.len()).ok();
    meta.is_file() && (own() == Some(meta.len()) || link_count(path, meta) > 1)
}

/// Is it that directory, or does it lie below, in whatever letter case where that does not count?
pub(super) fn is_within(path: &str, dir: &str) -> bool {
    dir == "/" || behind(path, dir).is_some()
}

/// The name without signs of a glob that stand for themselves: `hook[s]`.
fn literal_name(name: &str) -> Option<Cow<'_, str>> {
    let name = name.strip_suffix("/.").unwrap_or(name);
    let sign = name.bytes().find(|byte| matches!(byte, b'*' | b'?' | b'[' | b']'));
    match sign {
        None => Some(name.into()),
        Some(_) if name.contains(['*', '?']) => None,
        Some(_) => Some(name.replace(['[', ']'], "").into()),
    }
}

impl Place {
    /// The guarded paths of this place, there or not.
    pub fn guarded_paths(&self) -> Vec<String> {
        let mut roots = vec![self.project.as_str()];
        if self.cwd != self.project {
            roots.push(&self.cwd);
        }
        let mut out = Vec::new();
        for name in self.guarded.names.iter().filter(|name| !name.ends_with("/.")) {
            let Some(name) = literal_name(name) else { continue };
            match name.strip_prefix("~/") {
                Some(rest) => out.push([&self.home, "/", rest].concat()),
                None if name.starts_with('/') => out.push(name.into_owned()),
                None => out.extend(roots.iter().map(|root| [root, "/", &name].concat())),
            }
        }
        out
    }

    /// Is it a guarded path, or one below a guarded directory?
    pub fn is_guarded(&self, path: &str) -> bool {
        // There are some hundred names: nothing is made of any.
        let home = behind(path, &self.home).and_then(|rest| rest.strip_prefix('/'));
        let ends: Vec<&str> = path.match_indices('/').map(|(at, _)| &path[at + 1..]).collect();
        self.guarded.names.iter().any(|name| {
            let itself = name.ends_with("/.");
            let Some(name) = literal_name(name) else { return false };
            let holds = |path: &str, whole: &str| {
                behind(path, whole).is_some_and(|rest| rest.is_empty() || !itself)
            };
            match name.strip_prefix("~/") {
                Some(rest) => home.is_some_and(|path| holds(path, rest)),
                None if name.starts_with('/') => holds(path, &name),
                None => ends.iter().any(|path| holds(path, &name)),
            }
        })
    }

    /// Could something guarded lie below that directory?
    pub fn may_hold(&self, dir: &str) -> bool {
        let above = |path: &str| is_within(path, dir);
        above(&self.project)
            || above(&self.cwd)
            || above(&self.home)
            || is_within(dir, &self.home)
            || is_within(dir, &self.project)
    }

    /// Does a guarded path of this place lie at or below that directory, or above it?
    pub fn has_guarded_at(&self, dir: &str) -> bool {
        let above = |root: &String| is_within(root, dir);
        let below = |root: &String| behind(dir, root)?.strip_prefix('/');
        let [home, project, cwd] = [&self.home, &self.project, &self.cwd].map(below);
        let meets = |dir: Option<&str>, name: &str| {
            dir.is_some_and(|dir| is_within(name, dir) || is_within(dir, name))
        };
        !self.guarded.moved.is_empty()
            || [&self.project, &self.cwd, &self.home].into_iter().any(above)
            || self.guarded.names.iter().filter_map(|name| literal_name(name)).any(
                |name| match name.strip_prefix("~/") {
                    Some(name) => meets(home, name),
                    None if name.starts_with('/') => meets(Some(dir), &name),
                    None => meets(project, &name) || meets(cwd, &name),
                },
            )
    }

    /// A path in a directory that lies elsewhere than rules say, as they name it.
    pub fn own_name(&self, path: &str) -> Option<String> {
        self.guarded
            .moved
            .iter()
            .find_map(|(dir, own)| behind(path, dir).map(|rest| format!("{own}{rest}")))
    }

    /// The guarded files that are there.
    pub fn guarded_files(&self) -> Guards {
        let mut out: Vec<GuardedFile> = Vec::new();
        let mut cut: Vec<String> = Vec::new();
        let moved = self.guarded.moved.iter().map(|(dir, _)| dir.clone());
        let mut todo: VecDeque<(String, usize)> =
            self.guarded_paths().into_iter().chain(moved).map(|path| (path, 0)).collect();
        // Most agents are not there: one look settles all of their files.
        let mut there: BTreeMap<String, bool> = BTreeMap::new();
        while let Some((path, depth)) = todo.pop_front() {
            if out.len() >= Cap::Guards.limit() {
                cut.push(path);
                continue;
            }
            let dir = split(&path).0;
            let known = there.get(dir).copied();
            let exists = known.unwrap_or_else(|| fs::symlink_metadata(dir).is_ok());
            if known.is_none() {
                there.insert(dir.to_string(), exists);
            }
            if !exists {
                continue;
            }
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            // A link guards by what it leads to.
            let meta = fs::metadata(&path).unwrap_or(meta);
            if meta.is_dir() && depth >= limits::GUARD_DEPTH {
                cut.push(path.clone());
            } else if meta.is_dir() {
                let names = fs::read_dir(&path).into_iter().flatten().flatten();
                let mut names = names.filter_map(|one| one.file_name().into_string().ok());
                let first: Vec<String> = names.by_ref().take(Cap::Guards.limit()).collect();
                if names.next().is_some() {
                    cut.push(path.clone());
                }
                todo.extend(first.into_iter().map(|name| (format!("{path}/{name}"), depth + 1)));
            }
            let id = file_id(&path, &meta).filter(|_| meta.is_file());
            let path = self.own_name(&path).unwrap_or(path);
            if !out.iter().any(|one| one.path == path) {
                out.push(GuardedFile { path, id });
            }
        }
        Guards { files: out, cut }
    }
}

#[cfg(test)]
mod tests {
    use super::super::path::FOLD;
    use super::super::{Guarded, Place};

    /// A link to `.CLAUDE/Settings.json` is one to the agent's settings where that is their name as well.
    #[test]
    fn letter_case_hides_nothing_where_it_does_not_count() {
        let place = Place {
            home: "/home/dev".into(),
            project: "/p".into(),
            cwd: "/p".into(),
            guarded: Guarded {
                names: &["~/.claude/settings.json", ".mcp.json"],
                moved: vec![("/moved/x".into(), "/home/dev/.config/hookctl".into())],
            },
            ..Place::default()
        };
        for path in ["/home/dev/.claude/settings.json", "/p/.mcp.json", "/else/.mcp.json"] {
            assert!(place.is_guarded(path), "{path}");
            assert_eq!(place.is_guarded(&path.to_uppercase()), FOLD, "{path}");
        }
        for path in ["/home/dev/.claude/settings.jsonx", "/home/dev/.claude", "/p/mcp.json"] {
            assert!(!place.is_guarded(path), "{path}");
        }
        let own = |path: &str| place.own_name(path);
        assert_eq!(own("/moved/x/a").as_deref(), Some("/home/dev/.config/hookctl/a"));
        assert_eq!(own("/Moved/X/a").is_some(), FOLD);
        assert_eq!(own("/moved/xy"), None);
    }
}
