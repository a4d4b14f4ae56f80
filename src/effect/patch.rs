//! Which files a patch changes, by its headers: unified diffs, git's, and those of apply_patch.

use std::collections::BTreeSet;

use super::Word;
use super::path::split;
use crate::limits;

/// What a line of apply_patch's own form says.
pub enum Line<'t> {
    /// A new file.
    Add(&'t str),
    /// A file that changes.
    Update(&'t str),
    /// A file that goes.
    Delete(&'t str),
    /// Where the file that changes goes.
    Move(&'t str),
    /// Anything else.
    Text(&'t str),
}

impl Line<'_> {
    /// The line of that text.
    pub fn read(line: &str) -> Line<'_> {
        let start = line.trim_start();
        let after = |head| start.strip_prefix(head).map(str::trim);
        let read = after("*** Add File: ").map(Line::Add);
        let read = read.or_else(|| after("*** Update File: ").map(Line::Update));
        let read = read.or_else(|| after("*** Delete File: ").map(Line::Delete));
        let read = read.or_else(|| after("*** Move to: ").map(Line::Move));
        read.unwrap_or(Line::Text(line))
    }
}

/// What apply_patch does to which files; a file that only another form of patch names is changed.
pub fn applied_changes(text: &str) -> Vec<(Word, String)> {
    let mut all: Vec<(Word, &str)> = Vec::new();
    let mut updated = None;
    for line in text.lines() {
        match Line::read(line) {
            Line::Add(path) => all.push((Word::Write, path)),
            Line::Update(path) => {
                all.extend([(Word::Read, path), (Word::Write, path)]);
                updated = Some(path);
            }
            Line::Delete(path) => all.push((Word::Delete, path)),
            Line::Move(path) => {
                all.push((Word::Write, path));
                all.extend(updated.take().map(|from| (Word::Delete, from)));
            }
            Line::Text(_) => {}
        }
        if !limits::spend_steps(1) {
            break;
        }
    }
    let mut all: Vec<(Word, String)> =
        all.into_iter().map(|(word, path)| (word, path.to_string())).collect();
    let known: BTreeSet<String> = all.iter().map(|(_, path)| path.clone()).collect();
    let others = patched_files(text, None).into_iter().filter(|path| !known.contains(path));
    all.extend(others.map(|path| (Word::Write, path)));
    all
}

/// The files that the text names, each once; `strip` = how many leading directories go, None = what
/// either reading gives.
pub fn patched_files(text: &str, strip: Option<usize>) -> Vec<String> {
    let (mut out, mut known) = (Vec::new(), BTreeSet::new());
    let mut add = |path: &str| {
        if !path.is_empty()
            && path != "/dev/null"
            && limits::spend_steps(path.len())
            && known.insert(path.to_string())
        {
            out.push(path.to_string());
        }
    };
    for line in text.lines() {
        if let Line::Add(path) | Line::Update(path) | Line::Delete(path) | Line::Move(path) =
            Line::read(line)
        {
            add(path);
            continue;
        }
        let moved = ["rename from ", "rename to ", "copy to ", "Index: "];
        if let Some(path) = moved.iter().find_map(|start| line.strip_prefix(start)) {
            add(&unquote_path(path));
            continue;
        }
        let header = ["--- ", "+++ "].iter().find_map(|start| line.strip_prefix(start));
        if let Some(rest) = header {
            // A time may stand behind a tab.
            let path = unquote_path(rest.split('\t').next().unwrap_or(rest).trim_end());
            add_header_path(&path, strip, &mut add);
        } else if let Some(rest) = line.strip_prefix("diff --git ")
            && let Some((_, second)) = rest.rsplit_once(" b/")
        {
            add(&unquote_path(second));
        }
    }
    out
}

/// A header's path without as many leading directories.
fn add_header_path(path: &str, strip: Option<usize>, add: &mut impl FnMut(&str)) {
    let cut = |count: usize| path.splitn(count + 1, '/').nth(count);
    match strip {
        Some(count) => add(cut(count).unwrap_or_else(|| split(path).1)),
        None => {
            add(path);
            if let Some(rest) = cut(1).filter(|_| path.starts_with("a/") || path.starts_with("b/"))
            {
                add(rest);
            }
        }
    }
}

/// git puts quotes around names with unusual characters.
fn unquote_path(path: &str) -> String {
    path.trim().trim_matches('"').to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_every_kind() {
        let git = "diff --git a/x/y b/x/y\n--- a/x/y\n+++ b/x/y\n@@ -1 +1 @@\n-+++ no\n";
        assert_eq!(patched_files(git, Some(1)), ["x/y"]);
        assert_eq!(patched_files("--- a/x\t2020\n+++ /dev/null\n", None), ["a/x", "x"]);
        assert_eq!(patched_files("--- .x.orig\n+++ .x\n", Some(0)), [".x.orig", ".x"]);
        assert_eq!(patched_files("rename from a b\nrename to c\n", Some(1)), ["a b", "c"]);
        let own = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n*** End Patch";
        assert_eq!(patched_files(own, None), ["a.rs", "b.rs", "Begin Patch", "End Patch"][..2]);
    }

    #[test]
    fn a_move_takes_the_file_away() {
        let own = "*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n*** Delete File: c\n*** End Patch";
        let found = applied_changes(own);
        let found: Vec<(Word, &str)> =
            found.iter().map(|(word, path)| (*word, path.as_str())).collect();
        use Word::{Delete, Read, Write};
        let expected =
            [(Read, "a.rs"), (Write, "a.rs"), (Write, "b.rs"), (Delete, "a.rs"), (Delete, "c")];
        assert_eq!(found, expected);
    }
}
