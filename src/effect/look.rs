//! Bounded looks into directories: what a glob names there, and what lies below a directory.
//!
//! A look settles what would otherwise be only possible. What it cannot see whole (too much, a link
//! that leads elsewhere, no such directory) it leaves unsettled.

use std::fs;

use super::{Extent, Target, path};
use crate::rule::glob;

/// How many entries of one directory are compared with a glob.
const MAX_ENTRIES: usize = 512;
/// How many names a glob may stand for.
const MAX_NAMES: usize = 64;
/// How many files and directories a look below a directory may meet.
const MAX_BELOW: usize = 2000;
/// How deep it goes.
const MAX_DEPTH: usize = 24;

/// The files that a glob names now; None where that cannot be told.
pub fn named(target: &Target) -> Option<Vec<Target>> {
    let (dir, last) = path::split(&target.lexical);
    let (resolved, resolved_last) = path::split(&target.resolved);
    if path::has_glob(dir) || path::has_glob(resolved) || last != resolved_last || last == "**" {
        return None;
    }
    let mut found = Vec::new();
    for (count, entry) in fs::read_dir(resolved).ok()?.enumerate() {
        let name = entry.ok()?.file_name();
        let name = name.to_str()?;
        if count >= MAX_ENTRIES {
            return None;
        }
        // The shell's `*` names nothing that is hidden.
        if (!name.starts_with('.') || last.starts_with('.')) && glob::matches(last, name) {
            found.push(name.to_string());
        }
    }
    if found.len() > MAX_NAMES {
        return None;
    }
    found.sort_unstable();
    let below = |dir: &str, name: &str| path::normalise(&format!("{dir}/{name}"));
    Some(
        found
            .iter()
            .map(|name| Target {
                lexical: below(dir, name),
                resolved: below(resolved, name),
                extent: Extent::Exact,
            })
            .collect(),
    )
}

/// The directory and everything below it, each by itself; None where that cannot be told.
pub fn below(target: &Target) -> Option<Vec<Target>> {
    let mut found: Vec<Target> = Vec::new();
    if target.extent == Extent::Glob {
        return named(target)?.iter().try_fold(found, |mut all, one| {
            all.extend(below(&Target { extent: Extent::Tree, ..one.clone() })?);
            (all.len() <= MAX_BELOW).then_some(all)
        });
    }
    let exact =
        |lexical: String, resolved: String| Target { lexical, resolved, extent: Extent::Exact };
    let mut todo = vec![(target.lexical.clone(), target.resolved.clone(), 0)];
    while let Some((lexical, resolved, depth)) = todo.pop() {
        let meta = fs::symlink_metadata(&resolved).ok()?;
        if found.len() >= MAX_BELOW || depth > MAX_DEPTH {
            return None;
        }
        if meta.is_symlink() {
            // Whether links are followed is up to the program: one that leads within the directory
            // shows nothing new, one that leads nowhere shows nothing.
            match fs::canonicalize(&resolved) {
                Ok(real) if real.starts_with(&target.resolved) => {}
                Ok(_) => return None,
                Err(_) => continue,
            }
        }
        if meta.is_dir() {
            for entry in fs::read_dir(&resolved).ok()? {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn target(path: &std::path::Path, extent: Extent) -> Target {
        let text = path.to_str().unwrap().to_string();
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
        assert_eq!(names(named(&at("*.rs", Extent::Glob))), ["a.rs", "b.rs"]);
        assert_eq!(names(named(&at("*", Extent::Glob))), ["a.rs", "b.rs", "src"]);
        assert_eq!(names(named(&at(".e*", Extent::Glob))), [".env"]);
        assert_eq!(named(&at("none/*", Extent::Glob)), None);
        assert_eq!(names(below(&at("src", Extent::Visible))), ["c.rs", "src"]);
        assert_eq!(names(below(&at("src", Extent::Tree))), [".git", "c.rs", "src", "x"]);
        assert_eq!(below(&at("none", Extent::Tree)), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_elsewhere_is_not_settled() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("x"), "").unwrap();
        std::os::unix::fs::symlink("x", dir.path().join("near")).unwrap();
        std::os::unix::fs::symlink("none", dir.path().join("gone")).unwrap();
        let root = fs::canonicalize(dir.path()).unwrap();
        assert_eq!(below(&target(&root, Extent::Tree)).map(|found| found.len()), Some(3));
        std::os::unix::fs::symlink("/etc", dir.path().join("link")).unwrap();
        assert_eq!(below(&target(dir.path(), Extent::Tree)), None);
    }

    #[test]
    fn too_much_is_not_settled() {
        let dir = tempfile::tempdir().unwrap();
        for i in 0..=MAX_NAMES {
            fs::write(dir.path().join(format!("f{i}")), "").unwrap();
        }
        assert_eq!(named(&target(&dir.path().join("*"), Extent::Glob)), None);
    }
}
