//! Which files a patch changes, by its headers: unified diffs, git's, and those of apply_patch.

use super::path::split;
use crate::limits;

/// The files that the text names, each once; `strip` = how many leading directories go, None = what
/// either reading gives.
pub fn patched_files(text: &str, strip: Option<usize>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut add = |path: &str| {
        if !path.is_empty()
            && path != "/dev/null"
            && limits::spend_steps(out.len())
            && !out.iter().any(|p| p == path)
        {
            out.push(path.to_string());
        }
    };
    for line in text.lines() {
        let own = ["*** Add File: ", "*** Update File: ", "*** Delete File: ", "*** Move to: "];
        if let Some(path) = own.iter().find_map(|start| line.trim_start().strip_prefix(start)) {
            add(path.trim());
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
}
