//! Paths: making them absolute, and following the symlinks that they go through.
//!
//! A target has two forms. The lexical one is what the text says; the resolved one is where it
//! really leads, through links on the disk and links that the same call makes first. Rules look at
//! both. The disk is asked with one `readlink` per component, remembered, and capped, because this
//! runs at every event.

use std::collections::BTreeMap;
use std::io::ErrorKind;

use super::{Extent, Target, windows};
use crate::limits::{self, Cap};
use crate::names::installed::{DIRECTORIES, OUTPUTS};

/// An absolute path without `.`, `..`, `//` and trailing slash, without looking at the disk.
pub fn normalise_path(path: &str) -> String {
    #[cfg(windows)]
    if let Some(path) = windows::canonical_path(path) {
        return path;
    }
    let mut out: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                out.pop();
            }
            other => out.push(other),
        }
    }
    let mut text = String::with_capacity(path.len() + 1);
    for part in out {
        text.push('/');
        text.push_str(part);
    }
    if text.is_empty() {
        text.push('/');
    }
    text
}

/// Does the path begin at a root: where there are drives, at one of them as well?
pub fn is_absolute(path: &str) -> bool {
    path.starts_with('/') || cfg!(windows) && windows::canonical_path(path).is_some()
}

/// The same of a path that any system has.
pub fn is_rooted(path: &str) -> bool {
    path.starts_with('/') || windows::canonical_path(path).is_some()
}

/// `path` against `base` where it is relative; not normalised.
pub fn join(base: &str, path: &str) -> String {
    if is_absolute(path) { path.to_string() } else { format!("{base}/{path}") }
}

/// Is a name of a file the same in any letter case here?
pub const FOLD: bool = cfg!(any(target_os = "macos", windows));
/// What stands between the names of a path.
const SEPARATORS: &[char] = if cfg!(windows) { &['/', '\\'] } else { &['/'] };

/// Is the text more than one name?
pub fn has_separator(text: &str) -> bool {
    text.contains(SEPARATORS)
}

/// Could an argument with that text lead out of the directory that it is read in: from a root or a home on, or up?
pub fn may_leave(text: &str) -> bool {
    text.starts_with('~')
        || text.starts_with(SEPARATORS)
        || cfg!(windows) && windows::begins_on_drive(text)
        || text.split(SEPARATORS).any(|part| part == "..")
}

/// The path that `~` or `~/x` stands for, where the text is one of these.
pub fn in_home(text: &str, home: &str) -> Option<String> {
    let rest = text.strip_prefix('~').filter(|rest| rest.is_empty() || rest.starts_with('/'))?;
    Some(format!("{home}{rest}"))
}

/// The directory of a path, and its last component.
pub fn split(path: &str) -> (&str, &str) {
    match path.rfind('/') {
        Some(0) => ("/", &path[1..]),
        Some(at) => (&path[..at], &path[at + 1..]),
        None => ("", path),
    }
}

/// Does the path lie below that directory?
pub fn is_below(path: &str, dir: &str) -> bool {
    dir == "/" || path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/'))
}

/// Is it a directory below this one that a build or a package manager fills, and fills again?
pub fn is_output(path: &str) -> bool {
    let path = path.trim_end_matches('/');
    let name = split(path).1;
    !path.starts_with(['/', '~'])
        && !path.contains("..")
        && (OUTPUTS.contains(&name) || DIRECTORIES.contains(&name))
}

/// Where the system and its users keep temporary files.
const TEMPORARY: &[&str] =
    &["/tmp", "/var/tmp", "/private/tmp", "/var/folders", "/private/var/folders"];

/// Is it a directory for temporary files, or does it lie in one?
pub fn is_temporary(path: &str) -> bool {
    !path.contains("..") && TEMPORARY.iter().any(|dir| path == *dir || is_below(path, dir))
}

/// What the path has behind that one, if it is that or lies below it: nothing, or it begins with a slash.
pub fn behind<'p>(path: &'p str, dir: &str) -> Option<&'p str> {
    let (head, rest) = path.split_at_checked(dir.len())?;
    let same = if FOLD { head.eq_ignore_ascii_case(dir) } else { head == dir };
    (same && (rest.is_empty() || rest.starts_with('/'))).then_some(rest)
}

/// The text that a glob without active characters stands for.
pub fn unescape_glob(glob: &str) -> String {
    let mut text = String::with_capacity(glob.len());
    let mut chars = glob.chars();
    while let Some(c) = chars.next() {
        text.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    text
}

/// Is it a standard stream, the terminal, or a device that swallows what it gets?
pub fn is_stream(path: &str) -> bool {
    matches!(path, "/dev/null" | "/dev/tty" | "/dev/stdin" | "/dev/stdout" | "/dev/stderr")
        || path.strip_prefix("/dev/fd/").is_some_and(is_number)
        || path.strip_prefix("/proc/self/fd/").is_some_and(is_number)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

/// Follows symlinks, remembering what the disk said.
#[derive(Debug, Default, Clone)]
pub struct Resolver {
    /// Links made or removed earlier in the call: the lexical name, and where it leads.
    made: BTreeMap<String, Option<String>>,
    /// What the disk said: where a link leads, and whether nothing is there.
    seen: BTreeMap<String, (Option<String>, bool)>,
    looks: usize,
}

impl Resolver {
    /// A link that the call makes: later paths go through it.
    pub fn add_link(&mut self, name: &str, target: &str) {
        let (dir, _) = split(name);
        let target = join(dir, target);
        // `ln f` in the directory of f makes nothing.
        if normalise_path(&target) != name {
            self.made.insert(name.to_string(), Some(target));
        }
    }

    /// Did the call make or remove any?
    pub fn made_links(&self) -> bool {
        !self.made.is_empty()
    }

    /// Where a component leads, if it is a link. `missing` is set once nothing below can exist.
    fn read_link(&mut self, path: &str, missing: &mut bool) -> Option<String> {
        // Hashing the path at every component is what costs most of a long one.
        if !self.made.is_empty()
            && let Some(made) = self.made.get(path)
        {
            return made.clone();
        }
        if *missing || matches!(path, "/proc/self" | "/proc/thread-self") {
            // The disk would name hookctl's own process.
            return None;
        }
        if let Some((known, gone)) = self.seen.get(path) {
            *missing = *gone;
            return known.clone();
        }
        if !self.may_look() {
            return None;
        }
        // Not Unicode: the link cannot be followed as text, its own name stays.
        let (answer, gone) = match std::fs::read_link(path) {
            Ok(target) => (target.to_str().map(|_| windows::native_text(&target)), false),
            Err(error) => {
                (None, matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory))
            }
        };
        *missing = gone;
        self.seen.insert(path.to_string(), (answer.clone(), gone));
        answer
    }

    fn may_look(&mut self) -> bool {
        self.looks += 1;
        Cap::LinkLooks.admits(self.looks) && limits::spend_look()
    }

    /// Does the path exist as a directory (links followed)?
    pub fn is_dir(&mut self, path: &str) -> bool {
        self.may_look() && !path.contains('\0') && std::fs::metadata(path).is_ok_and(|m| m.is_dir())
    }

    /// Does the path exist?
    pub fn exists(&mut self, path: &str) -> bool {
        self.may_look() && !path.contains('\0') && std::fs::symlink_metadata(path).is_ok()
    }

    /// Where an absolute path leads: every symlink followed, `..` after them. What does not exist
    /// is kept as it is written. `cwd` is what `/proc/self/cwd` means.
    pub fn resolve(&mut self, path: &str, cwd: &str) -> String {
        let (root, rest) = windows::split_drive(path);
        let mut todo: Vec<String> = rest.split('/').rev().map(str::to_string).collect();
        let mut done = root.to_string();
        let mut links = 0;
        let mut missing = false;
        while let Some(part) = todo.pop() {
            match part.as_str() {
                "" | "." => continue,
                ".." => {
                    remove_last(&mut done);
                    missing = false;
                    continue;
                }
                _ => {}
            }
            done.push('/');
            done.push_str(&part);
            // What is known of it is looked up by all of it.
            if !limits::spend_steps(done.len() / 8) {
                break;
            }
            let target = match resolve_proc_link(&done, cwd) {
                Some(target) => Some(target),
                None => self.read_link(&done, &mut missing),
            };
            if let Some(target) = target {
                links += 1;
                if !Cap::Links.admits(links) {
                    break;
                }
                let (root, rest) = windows::split_drive(&target);
                match root.is_empty() && !target.starts_with('/') {
                    true => remove_last(&mut done),
                    false => done = root.to_string(),
                }
                todo.extend(rest.split('/').rev().map(str::to_string));
            }
        }
        if !done.contains('/') {
            done.push('/');
        }
        #[cfg(windows)]
        if windows::has_short_name(&done)
            && let Some(long) = self.long_names(&done)
        {
            return long;
        }
        done
    }

    /// The path with the names that its directories have, where it was called by their short ones (`PROGRA~1`).
    #[cfg(windows)]
    #[allow(clippy::disallowed_methods)] // Its form is mended here.
    fn long_names(&mut self, path: &str) -> Option<String> {
        let path = std::path::Path::new(path);
        for dir in path.ancestors() {
            if !self.may_look() {
                return None;
            }
            let Ok(real) = std::fs::canonicalize(dir) else { continue };
            let below = path.strip_prefix(dir).ok()?;
            return Some(windows::native_text(&real.join(below)));
        }
        None
    }

    /// Where a path leads that lies on a drive of this system; the disk is not asked about a share or a key of the registry.
    fn resolve_on_drive(&mut self, path: &str, cwd: &str) -> String {
        match windows::split_drive(path).0 {
            "" => path.to_string(),
            _ => self.resolve(path, cwd),
        }
    }

    /// The target of an absolute or relative path text.
    pub fn resolve_target(&mut self, text: &str, cwd: &str, extent: Extent) -> Target {
        #[cfg(windows)]
        let text = &*windows::read_spelling(text, cwd);
        let joined = join(cwd, text);
        // `C:\x` is absolute on Windows and a name in the current directory elsewhere: the first
        // is its lexical form, the second the resolved one. Below a drive there is one reading, and on Windows wherever it is.
        if let Some(lexical) = windows::canonical_path(text) {
            let other = cwd.is_empty() || windows::canonical_path(cwd).is_some();
            let resolved = match other {
                // A key of the registry is no file of any name.
                _ if windows::is_registry(&lexical) => lexical.clone(),
                _ if cfg!(windows) => self.resolve_on_drive(&lexical, cwd),
                true => lexical.clone(),
                false => self.resolve(&joined, cwd),
            };
            return Target { lexical, resolved, extent };
        }
        if let Some(lexical) = windows::canonical_path(&joined) {
            let resolved = self.resolve_on_drive(&lexical, cwd);
            return Target { lexical, resolved, extent };
        }
        let lexical = normalise_path(&joined);
        let resolved =
            if joined.len() > limits::PATH { lexical.clone() } else { self.resolve(&joined, cwd) };
        Target { lexical, resolved, extent }
    }
}

/// Takes the last component off; of a drive, nothing.
fn remove_last(path: &mut String) {
    if let Some(at) = path.rfind('/') {
        path.truncate(at);
    }
}

/// The links of /proc that lead to a root or to the own directory: the disk would answer for
/// hookctl's process, or not at all.
fn resolve_proc_link(path: &str, cwd: &str) -> Option<String> {
    let rest = path.strip_prefix("/proc/")?;
    let mut parts = rest.split('/');
    let process = parts.next()?;
    let mut name = parts.next()?;
    if name == "task" {
        parts.next()?;
        name = parts.next()?;
    }
    if parts.next().is_some() {
        return None;
    }
    match (process, name) {
        // `$$` is the shell's own number.
        ("self" | "thread-self" | crate::glob::SOME_NUMBER, "cwd") => Some(cwd.to_string()),
        (_, "root") => Some("/".to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(windows)]
    fn what_no_directory_is_above_has_one_reading() {
        let resolved =
            |text| Resolver::default().resolve_target(text, "/p", Extent::Exact).resolved;
        assert_eq!(resolved(r"\\server\share\x"), "//server/share/x");
        assert_eq!(resolved(r"q:\x\..\y"), "Q:/y");
        assert_eq!(resolved(r"HKLM:\Software"), "HKLM:/Software");
    }

    #[test]
    fn what_may_leave_a_directory() {
        for text in ["/x", "~/x", "../x", "a/../..", "~"] {
            assert!(may_leave(text), "{text}");
        }
        for text in ["", "a", "./a", "a/b", "a..b", "-C", "a:b", "1:2"] {
            assert!(!may_leave(text) || cfg!(windows) && text == "a:b", "{text}");
        }
        for text in [r"\x", r"..\x", r"a\..\..\x", "D:/x", "d:x", r"C:\x"] {
            assert_eq!(may_leave(text), cfg!(windows), "{text}");
        }
    }

    #[test]
    fn links_of_the_call_are_followed() {
        let mut resolver = Resolver::default();
        resolver.add_link("/nowhere/l", "../etc");
        assert_eq!(resolver.resolve("/nowhere/l/passwd", "/"), "/etc/passwd");
        resolver.add_link("/nowhere/a", "b");
        resolver.add_link("/nowhere/b", "a");
        resolver.resolve("/nowhere/a/x", "/");
        assert_eq!(limits::take_reached(), [Cap::Links]);
    }
}
