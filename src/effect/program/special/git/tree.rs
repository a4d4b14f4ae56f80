//! What git knows of a file of its work tree, by a bounded look into its index.

use std::fs;
use std::io::ErrorKind;
use std::time::UNIX_EPOCH;

use crate::effect::emitter::Emitter;
use crate::effect::path::join;
use crate::glob;
use crate::limits::{self, Cap};

/// How long the head of an entry is, and where in it the time and the size stand.
const HEAD: usize = 62;
const MODIFIED: usize = 8;
const SIZE: usize = 36;
/// What stands before the entries, and how long the checksum behind all is.
const HEADER: usize = 12;
const BASE: usize = 20;
/// Flags of an entry: more of them follow, and the length of its name, where all bits mean "or longer".
const EXTENDED: usize = 0x4000;
const LONG: usize = 0xfff;

/// What git knows of a project's files.
pub struct Tree {
    project: String,
    index: Vec<u8>,
    ignored: Vec<String>,
}

impl Tree {
    /// The tree of the project; None where there is none.
    pub fn read(out: &mut Emitter) -> Option<Tree> {
        match Tree::find(out) {
            Some(tree) => tree,
            None => {
                let why = "a git index that is not read, is cut, or whose names stand elsewhere";
                out.emit_unknown(why, 0..0);
                None
            }
        }
    }

    /// The same; None outside where its index cannot be read.
    pub fn find(out: &mut Emitter) -> Option<Option<Tree>> {
        let project = out.place.project.clone();
        let own = format!("{project}/.git");
        // Of a linked work tree the directory is told by the file `.git`.
        let git = match out.read_whole(&own, Cap::Ignored) {
            Some(text) => {
                let text = String::from_utf8(text).unwrap_or_default();
                let Some(dir) = text.strip_prefix("gitdir:") else { return Some(None) };
                join(&project, dir.trim())
            }
            None if out.resolver.is_dir(&own) => own,
            None => return Some(None),
        };
        let path = format!("{git}/index");
        let index = match out.read_whole(&path, Cap::Index) {
            Some(index) if is_told(&index) == Some(true) => index,
            // One that is not there tracks nothing.
            None if fs::symlink_metadata(&path).is_err_and(|e| e.kind() == ErrorKind::NotFound) => {
                Vec::new()
            }
            _ => return None,
        };
        let lists = [format!("{git}/info/exclude"), format!("{project}/.gitignore")];
        let ignored = lists.iter().filter_map(|list| {
            Some(String::from_utf8_lossy(&out.read_whole(list, Cap::Ignored)?).into_owned())
        });
        let ignored = ignored.collect();
        Some(Some(Tree { project, index, ignored }))
    }

    /// What is tracked below a directory and hidden, each as far as the name that hides it; None where that is much.
    pub fn hidden_below(&self, dir: &str) -> Option<Vec<String>> {
        let mut found: Vec<String> = Vec::new();
        for name in entry_names(&self.index) {
            let name = String::from_utf8_lossy(name);
            let path = join(&self.project, &name);
            let Some(rest) = path.strip_prefix(dir).and_then(|rest| rest.strip_prefix('/')) else {
                continue;
            };
            let Some(at) = rest.split('/').position(|part| part.starts_with('.')) else { continue };
            let parts: Vec<&str> = rest.split('/').take(at + 1).collect();
            let hidden = join(dir, &parts.join("/"));
            if found.last() != Some(&hidden) && !found.contains(&hidden) {
                found.push(hidden);
            }
            if found.len() > limits::HIDDEN_NAMES {
                return None;
            }
        }
        Some(found)
    }

    /// Is the file one that git does not track, and, unless `all`, does not ignore?
    pub fn is_untracked(&self, file: &str, all: bool) -> bool {
        self.relative_name(file).is_some_and(|name| {
            find_entry(&self.index, name).is_none() && (all || !self.is_ignored(name))
        })
    }

    /// Is the file tracked, and other than when git last looked at it?
    pub fn is_changed(&self, file: &str) -> bool {
        let head = self.relative_name(file).and_then(|name| find_entry(&self.index, name));
        let (Some(head), Ok(meta)) = (head, fs::metadata(file)) else { return false };
        let number = |at: usize| {
            let bytes = head.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
            bytes.map_or(0, u32::from_be_bytes)
        };
        let modified = meta.modified().ok();
        let modified = modified.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
        let modified = modified.unwrap_or_default();
        (number(MODIFIED), number(MODIFIED + 4), number(SIZE))
            != (modified.as_secs() as u32, modified.subsec_nanos(), meta.len() as u32)
    }

    fn relative_name<'f>(&self, file: &'f str) -> Option<&'f str> {
        file.strip_prefix(self.project.as_str())?.strip_prefix('/')
    }

    /// Do the project's own lists name it? Later lines count more.
    fn is_ignored(&self, name: &str) -> bool {
        let mut ignored = false;
        for line in self.ignored.iter().flat_map(|text| text.lines()) {
            let (not, pattern) = match line.trim().strip_prefix('!') {
                Some(rest) => (true, rest),
                None => (false, line.trim()),
            };
            if !pattern.is_empty() && !pattern.starts_with('#') && is_ignored_by(pattern, name) {
                ignored = !not;
            }
        }
        ignored
    }
}

/// Does the index hold all names as they are? Those of the fourth version are cut, and what a split one
/// shares stands in another file. None = it ends before all that it says it holds, or is another thing.
fn is_told(index: &[u8]) -> Option<bool> {
    let number = |at: usize| {
        let bytes = index.get(at..at.checked_add(4)?)?;
        Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
    };
    if index.get(..4)? != b"DIRC" || !matches!(number(4)?, 2 | 3) {
        return Some(false);
    }
    let mut at = HEADER;
    for _ in 0..number(8)? {
        let flags =
            usize::from(u16::from_be_bytes(index.get(at + 60..at + HEAD)?.try_into().ok()?));
        let more = if flags & EXTENDED != 0 { 2 } else { 0 };
        let name = index.get(at + HEAD + more..)?;
        let len = match flags & LONG {
            LONG => memchr::memchr(0, name)?,
            len => len,
        };
        // Between one and eight bytes of nothing follow.
        at += (HEAD + more + len + 8) & !7;
        if index.get(at - 1) != Some(&0) {
            return None;
        }
    }
    // What follows are extensions, up to the checksum.
    while at + BASE < index.len() {
        if index.get(at..at + 4)? == b"link" {
            return Some(false);
        }
        at = at.checked_add(8)?.checked_add(number(at + 4)?)?;
    }
    (at + BASE == index.len()).then_some(true)
}

/// The names of all entries; the index is told.
fn entry_names(index: &[u8]) -> impl Iterator<Item = &[u8]> {
    let count = index.get(8..HEADER).map_or(0, |n| u32::from_be_bytes([n[0], n[1], n[2], n[3]]));
    let mut at = HEADER;
    (0..count).map_while(move |_| {
        let flags = usize::from(u16::from_be_bytes([*index.get(at + 60)?, *index.get(at + 61)?]));
        let more = if flags & EXTENDED != 0 { 2 } else { 0 };
        let name = index.get(at + HEAD + more..)?;
        let name = name.get(..memchr::memchr(0, name)?)?;
        at += (HEAD + more + name.len() + 8) & !7;
        Some(name)
    })
}

/// The head of a file's entry.
fn find_entry<'a>(index: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let wanted = [name.as_bytes(), b"\0"].concat();
    memchr::memmem::find_iter(index, &wanted).find_map(|at| {
        let head = index.get(at.checked_sub(HEAD)?..at)?;
        let is = |head: &&[u8]| {
            let flags = usize::from(u16::from_be_bytes([head[HEAD - 2], head[HEAD - 1]]));
            flags & LONG == name.len().min(LONG)
        };
        Some(head).filter(is).or_else(|| index.get(at.checked_sub(HEAD + 2)?..at - 2).filter(is))
    })
}

fn is_ignored_by(pattern: &str, name: &str) -> bool {
    let pattern = pattern.trim_end_matches('/');
    let mut above = name.match_indices('/').map(|(at, _)| &name[..at]).chain([name]);
    match pattern.trim_start_matches('/') {
        bare if !bare.contains('/') && !pattern.starts_with('/') => {
            name.split('/').any(|part| glob::matches(bare, part))
        }
        path => above.any(|dir| glob::matches(path.trim_start_matches("**/"), dir)),
    }
}
