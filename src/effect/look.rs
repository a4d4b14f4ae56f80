//! Bounded looks into directories: what a glob names there, and what lies below a directory.
//!
//! A look settles what would otherwise be only possible. What it cannot see whole (too much, a link
//! that leads elsewhere, no such directory) it leaves unsettled.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::fs;
use std::io::ErrorKind;
use std::rc::Rc;

use super::{Extent, Target, Word, path};
use crate::files;
use crate::glob;
use crate::limits;
use crate::names::installed;

/// The files that a glob names now; None where that cannot be told.
pub fn expand_glob(target: &Target) -> Option<Vec<Target>> {
    expand_up_to(target, limits::GLOB_NAMES)
}

/// Could what the glob names lie behind a link that the glob does not show? `last` = a link by the last name is followed, too.
pub fn may_follow_links(target: &Target, last: bool) -> bool {
    match target.extent {
        // At any depth no link to a directory is followed.
        Extent::Glob if target.lexical.split('/').any(|part| part == "**") => false,
        Extent::Glob if last => true,
        Extent::Glob => glob::has_active(path::split(&target.lexical).0),
        Extent::Children => last,
        _ => false,
    }
}

/// What such a target names now, as [`expand_glob`], of a directory that is not there nothing.
pub fn list_named(target: &Target) -> Option<Vec<Target>> {
    if target.extent == Extent::Children {
        return list_entries(target);
    }
    let head = target.resolved.split('/').take_while(|part| !glob::has_active(part));
    let head = head.collect::<Vec<_>>().join("/");
    match is_gone(&head) {
        true => Some(Vec::new()),
        false => expand_up_to(target, limits::DIR_ENTRIES),
    }
}

/// What lies in a directory by a name that is not hidden.
fn list_entries(dir: &Target) -> Option<Vec<Target>> {
    if is_gone(&dir.resolved) {
        return Some(Vec::new());
    }
    let at = |dir: &str, name: &str| path::normalise_path(&format!("{dir}/{name}"));
    let one = |name: &String| Target {
        lexical: at(&dir.lexical, name),
        resolved: at(&dir.resolved, name),
        extent: Extent::Exact,
    };
    Some(matching_names(&dir.resolved, "*")?.iter().map(one).collect())
}

/// Is nothing there?
fn is_gone(path: &str) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == ErrorKind::NotFound)
}

fn expand_up_to(target: &Target, names: usize) -> Option<Vec<Target>> {
    let lexical: Vec<&str> = target.lexical.split('/').collect();
    let resolved: Vec<&str> = target.resolved.split('/').collect();
    let first = lexical.iter().position(|part| glob::has_active(part))?;
    // Behind the glob both forms must say the same, before it they may be any.
    let rest = &lexical[first..];
    if !resolved.ends_with(rest)
        || glob::has_active(&resolved[..resolved.len() - rest.len()].join("/"))
        || rest.last() == Some(&"**")
    {
        return None;
    }
    let mut found =
        vec![(lexical[..first].join("/"), resolved[..resolved.len() - rest.len()].join("/"))];
    for (at, part) in rest.iter().enumerate() {
        let mut next = Vec::new();
        for (lexical, resolved) in &found {
            let below = |name: &str| (format!("{lexical}/{name}"), format!("{resolved}/{name}"));
            if *part == "**" {
                // find goes into hidden ones as well; of a name that is told, the shell's few more say little.
                let told = rest.get(at + 1).is_some_and(|name| !name.starts_with(['*', '?', '[']));
                next.extend(directories_below(lexical, resolved, told)?);
            } else if glob::has_active(part) {
                next.extend(matching_names(resolved, part)?.iter().map(|name| below(name)));
            } else if !limits::spend_look() {
                return None;
            } else if fs::symlink_metadata(format!("{resolved}/{part}")).is_ok() {
                next.push(below(part));
            }
        }
        if next.len() > names {
            return None;
        }
        found = next;
    }
    let exact = |(lexical, resolved): &(String, String)| Target {
        lexical: path::normalise_path(lexical),
        resolved: path::normalise_path(resolved),
        extent: Extent::Exact,
    };
    Some(found.iter().map(exact).collect())
}

/// The directory and all below it, as `**/` means them, with the hidden ones where these are wanted; None where a link leads to one.
fn directories_below(lexical: &str, resolved: &str, hidden: bool) -> Option<Vec<(String, String)>> {
    let mut found = vec![(lexical.to_string(), resolved.to_string())];
    let mut at = 0;
    while let Some((lexical, resolved)) = found.get(at).cloned() {
        for name in names_in(&resolved, |name| hidden || !name.starts_with('.'))? {
            let path = format!("{resolved}/{name}");
            let meta = fs::symlink_metadata(&path).ok()?;
            if meta.is_dir() {
                found.push((format!("{lexical}/{name}"), path));
            } else if meta.is_symlink() && fs::metadata(&path).is_ok_and(|meta| meta.is_dir()) {
                return None;
            }
        }
        if found.len() > limits::GLOB_NAMES {
            return None;
        }
        at += 1;
    }
    Some(found)
}

/// Files below a directory whose names one of the globs holds for, `**/*.py` at any depth: those that lie nearest come
/// first, and what is too much is left out. Nothing that is hidden, no package that was fetched, and nowhere where links lead.
pub fn find_edited(dir: &Target, globs: &[String]) -> Vec<Target> {
    let mut found = Vec::new();
    let mut todo = VecDeque::from([(dir.lexical.clone(), dir.resolved.clone(), true)]);
    let mut left = limits::EDITED_ENTRIES;
    let is_named = |name: &str, first: bool| {
        globs.is_empty()
            || globs.iter().any(|own| match own.strip_prefix("**/") {
                Some(any) => glob::matches(any, name),
                None => first && glob::matches(own, name),
            })
    };
    let deep = globs.is_empty() || globs.iter().any(|own| own.starts_with("**/"));
    while let Some((lexical, resolved, first)) = todo.pop_front() {
        let Ok(entries) = fs::read_dir(&resolved) else { continue };
        let mut names = Vec::new();
        for entry in entries.flatten() {
            if left == 0 || !limits::spend_look() {
                break;
            }
            left -= 1;
            if let (Ok(name), Ok(kind)) = (entry.file_name().into_string(), entry.file_type()) {
                names.push((name, kind.is_dir(), kind.is_file()));
            }
        }
        crate::order::sort(&mut names);
        for (name, is_dir, is_file) in names {
            let below = |dir: &str| format!("{}/{name}", dir.trim_end_matches('/'));
            if name.starts_with('.') {
            } else if is_dir && deep && !installed::DIRECTORIES.contains(&name.as_str()) {
                todo.push_back((below(&lexical), below(&resolved), false));
            } else if is_file && is_named(&name, first) {
                let (lexical, resolved) = (below(&lexical), below(&resolved));
                found.push(Target { lexical, resolved, extent: Extent::Exact });
            }
            if found.len() >= limits::EDITED_FILES {
                return found;
            }
        }
    }
    found
}

/// Is a path that was just made one that the glob names, or a directory that leads there?
pub fn on_the_way(glob: &str, made: &str) -> bool {
    glob.split('/')
        .zip(made.split('/'))
        .all(|(part, name)| part == name || glob::matches(part, name))
}

/// The names in a directory that the glob matches, in order; none where there is no such directory.
fn matching_names(dir: &str, glob: &str) -> Option<Vec<String>> {
    // The shell's `*` names nothing that is hidden.
    names_in(dir, |name| {
        (!name.starts_with('.') || glob.starts_with('.')) && glob::matches(glob, name)
    })
}

fn names_in(dir: &str, wanted: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let dir = if dir.is_empty() { "/" } else { dir };
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotADirectory => return Some(Vec::new()),
        Err(_) => return None,
    };
    let mut names = Vec::new();
    for (count, entry) in entries.enumerate() {
        let name = entry.ok()?.file_name();
        let name = name.to_str()?;
        if count >= limits::DIR_ENTRIES || !limits::spend_look() {
            return None;
        }
        if wanted(name) {
            names.push(name.to_string());
        }
    }
    crate::order::sort(&mut names);
    Some(names)
}

/// The directory and everything below it, each by itself; None where that cannot be told, nothing
/// where there is nothing.
pub fn list_below(target: &Target) -> Option<Vec<Target>> {
    let mut found: Vec<Target> = Vec::new();
    if target.extent != Extent::Glob && is_gone(&target.resolved) {
        return Some(found);
    }
    // A name at any depth, hidden directories included.
    let any_depth = |text: &str| {
        let (dir, name) = text.split_once("/**/")?;
        let told = !glob::has_active(dir) && !name.contains('/');
        told.then(|| (dir.to_string(), name.to_string()))
    };
    if target.extent == Extent::Glob
        && let Some((lexical, name)) = any_depth(&target.lexical)
        && let Some((resolved, _)) = any_depth(&target.resolved)
    {
        let tree = Target { lexical, resolved, extent: Extent::Tree };
        let fits = |one: &Target| glob::matches(&name, path::split(&one.lexical).1);
        return Some(list_below(&tree)?.into_iter().filter(fits).collect());
    }
    if target.extent == Extent::Glob {
        return expand_glob(target)?.iter().try_fold(found, |mut all, one| {
            all.extend(list_below(&Target { extent: Extent::Tree, ..one.clone() })?);
            (all.len() <= limits::BELOW).then_some(all)
        });
    }
    let exact =
        |lexical: String, resolved: String| Target { lexical, resolved, extent: Extent::Exact };
    let mut todo = vec![(target.lexical.clone(), target.resolved.clone(), 0)];
    while let Some((lexical, resolved, depth)) = todo.pop() {
        let meta = fs::symlink_metadata(&resolved).ok()?;
        if found.len() >= limits::BELOW || depth > limits::BELOW_DEPTH || !limits::spend_look() {
            return None;
        }
        if meta.is_symlink() {
            // Whether links are followed is up to the program: one that leads within the directory
            // shows nothing new, one that leads nowhere shows nothing.
            match files::real_path(resolved.as_ref()) {
                Ok(real) if real.starts_with(&target.resolved) => {}
                Ok(_) => return None,
                Err(_) => continue,
            }
        }
        if meta.is_dir() {
            for entry in fs::read_dir(&resolved).ok()? {
                if todo.len() >= limits::BELOW || !limits::spend_look() {
                    return None;
                }
                let name = entry.ok()?.file_name();
                let name = name.to_str()?;
                if target.extent != Extent::Visible || !name.starts_with('.') {
                    todo.push((
                        format!("{lexical}/{name}"),
                        format!("{resolved}/{name}"),
                        depth + 1,
                    ));
                }
            }
        }
        found.push(exact(lexical, resolved));
    }
    Some(found)
}

/// Each path that such a change of the target touches for certain, as the disk has it now: all of a tree that goes or whose
/// modes change, and what a glob of the shell names. None where that cannot be told.
fn list_touched(word: Word, target: &Target) -> Option<Vec<Target>> {
    match (word, target.extent) {
        (Word::Delete | Word::Permission, Extent::Tree | Extent::Glob) => list_below(target),
        (Word::Delete | Word::Permission, Extent::Children) => {
            let mut found = list_below(target)?;
            found.retain(|one| one.lexical != target.lexical);
            Some(found)
        }
        (Word::Write, Extent::Glob) => expand_glob(target),
        (Word::Write, Extent::Children) => list_entries(target),
        _ => None,
    }
}

/// Such a list, and what it is of.
type TouchedList = (Word, Target, Option<Rc<[Target]>>);

/// What the changes of one event touch, listed once: each rule asks for it.
#[derive(Debug, Clone, Default)]
pub struct TouchedLists {
    lists: RefCell<Vec<TouchedList>>,
    /// Paths that were handed out.
    asked: Cell<usize>,
}

impl TouchedLists {
    /// The list for that change. None as well where the lists of the event are too long to be compared with rules.
    pub fn list(&self, word: Word, target: &Target) -> Option<Rc<[Target]>> {
        let known = self.lists.borrow();
        let found = known.iter().find(|(own, of, _)| *own == word && of == target);
        let list = match found {
            Some((.., list)) => list.clone(),
            None => {
                drop(known);
                let list = list_touched(word, target).map(Rc::from);
                self.lists.borrow_mut().push((word, target.clone(), list.clone()));
                list
            }
        }?;
        self.asked.set(self.asked.get() + list.len());
        (self.asked.get() <= limits::TOUCHED).then_some(list)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &std::path::Path, extent: Extent) -> Target {
        let text = crate::effect::windows::native_text(path);
        Target { lexical: text.clone(), resolved: text, extent }
    }

    fn names(found: Option<Vec<Target>>) -> Vec<String> {
        let mut names: Vec<String> = found
            .expect("it can be told")
            .iter()
            .map(|t| path::split(&t.lexical).1.to_string())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_there_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        for name in ["a.rs", "b.rs", ".env", "src/c.rs", "src/.git/x"] {
            let file = dir.path().join(name);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        let at = |name: &str, extent| target(&dir.path().join(name), extent);
        assert_eq!(names(expand_glob(&at("*.rs", Extent::Glob))), ["a.rs", "b.rs"]);
        assert_eq!(names(expand_glob(&at("*", Extent::Glob))), ["a.rs", "b.rs", "src"]);
        assert_eq!(names(expand_glob(&at(".e*", Extent::Glob))), [".env"]);
        assert_eq!(names(expand_glob(&at("**/*.rs", Extent::Glob))), ["a.rs", "b.rs", "c.rs"]);
        assert_eq!(names(expand_glob(&at("**/.git/x", Extent::Glob))), ["x"]);
        // find goes into hidden directories: of a name that is told these count.
        assert_eq!(names(expand_glob(&at("**/x", Extent::Glob))), ["x"]);
        assert_eq!(names(expand_glob(&at("**/x*", Extent::Glob))), ["x"]);
        assert_eq!(names(expand_glob(&at("**/*x", Extent::Glob))), [""; 0]);
        assert_eq!(expand_glob(&at("**", Extent::Glob)), None);
        assert_eq!(expand_glob(&at("none/*", Extent::Glob)), None);
        assert_eq!(names(list_below(&at("src", Extent::Visible))), ["c.rs", "src"]);
        assert_eq!(names(list_below(&at("src", Extent::Tree))), [".git", "c.rs", "src", "x"]);
        assert_eq!(list_below(&at("none", Extent::Tree)), Some(Vec::new()));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_elsewhere_is_not_settled() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), "").unwrap();
        std::os::unix::fs::symlink("x", dir.path().join("near")).unwrap();
        std::os::unix::fs::symlink("none", dir.path().join("gone")).unwrap();
        let root = files::real_path(dir.path()).unwrap();
        assert_eq!(list_below(&target(&root, Extent::Tree)).map(|found| found.len()), Some(3));
        std::os::unix::fs::symlink("/etc", dir.path().join("link")).unwrap();
        assert_eq!(list_below(&target(dir.path(), Extent::Tree)), None);
    }

    #[test]
    fn the_rules_of_an_event_look_at_so_much_at_most() {
        let dir = tempfile::tempdir().unwrap();
        for i in 0..99 {
            fs::write(dir.path().join(format!("f{i}")), "").unwrap();
        }
        let (tree, lists) = (target(dir.path(), Extent::Tree), TouchedLists::default());
        let looks = limits::TOUCHED / 100;
        assert!(
            (0..looks).all(|_| lists.list(Word::Delete, &tree).is_some_and(|l| l.len() == 100))
        );
        assert_eq!(lists.list(Word::Delete, &tree), None);
        assert_eq!(lists.list(Word::Write, &tree), None, "what is written below is not told");
    }

    #[test]
    fn too_much_is_not_settled() {
        let dir = tempfile::tempdir().unwrap();
        for i in 0..=limits::GLOB_NAMES {
            fs::write(dir.path().join(format!("f{i}")), "").unwrap();
        }
        assert_eq!(expand_glob(&target(&dir.path().join("*"), Extent::Glob)), None);
    }
}
