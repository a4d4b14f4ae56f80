//! The members of a workspace: where the packages of one project lie, of which each has scripts of its own.

use std::rc::Rc;

use super::Walker;
use super::asked::Members;
use crate::effect::path::{join, split};
use crate::effect::{Extent, look};
use crate::glob;
use crate::json::{self, Node};
use crate::limits;

/// A workspace: its directory, and where its members lie below it, as directories or globs.
struct Workspace {
    root: String,
    globs: Vec<String>,
}

impl Walker<'_> {
    /// The directories whose scripts are meant; what cannot be found is left out.
    pub(super) fn member_dirs(
        &mut self,
        members: &Members,
        dir: &str,
        index: usize,
    ) -> Vec<String> {
        let Some(workspace) = self.find_workspace(dir, index) else { return Vec::new() };
        let names = match members {
            Members::Nearest => return vec![dir.to_string()],
            Members::Root => return vec![workspace.root],
            Members::All => return self.all_members(&workspace),
            Members::Named(names) => names,
        };
        let mut found: Vec<String> = Vec::new();
        let mut all = None;
        for name in names {
            let near = [dir, &workspace.root].map(|at| join(at, name.trim_start_matches("./")));
            if let Some(at) = near.into_iter().find(|at| self.lies_at(at, "package.json")) {
                found.push(at);
                continue;
            }
            let all = all.get_or_insert_with(|| self.all_members(&workspace)).clone();
            found.extend(self.members_named(name, &workspace.root, all, index));
        }
        found.sort();
        found.dedup();
        found
    }

    /// Those of them that have this name, or lie where this glob says. Most lie in a directory of their name.
    fn members_named(
        &mut self,
        name: &str,
        root: &str,
        mut all: Vec<String>,
        index: usize,
    ) -> Vec<String> {
        let last = split(name).1;
        if let Some(place) = name.strip_prefix("./") {
            all.retain(|at| glob::matches(&join(root, place), at));
            return all;
        }
        all.sort_by_key(|at| !glob::matches(last, split(at).1));
        let mut found = Vec::new();
        for at in all {
            let file = self.read_near(&at, "package.json", index);
            let has_name = file.as_deref().and_then(json::parse_manifest).is_some_and(|file| {
                let named = file.get("name").and_then(|(_, own)| own.as_str());
                // pnpm takes `web` for `@scope/web`, too.
                named.is_some_and(|own| {
                    glob::matches(name, own) || glob::matches(name, split(own).1)
                })
            });
            if has_name {
                found.push(at);
                if !glob::has_active(name) {
                    break;
                }
            }
        }
        found
    }

    /// Where all of them lie that have scripts.
    fn all_members(&mut self, workspace: &Workspace) -> Vec<String> {
        let mut found = Vec::new();
        for place in &workspace.globs {
            let place = format!("{}/package.json", place.trim_end_matches('/'));
            let is_glob = glob::has_active(&place);
            let extent = if is_glob { Extent::Glob } else { Extent::Exact };
            let target = self.out.resolver.resolve_target(&place, &workspace.root, extent);
            let files = match is_glob {
                true => look::expand_glob(&target).unwrap_or_default(),
                false => vec![target],
            };
            for file in files {
                let at = split(&file.lexical).0.trim_end_matches('/').to_string();
                let known = found.contains(&at) || at.contains("/node_modules/");
                if found.len() < limits::GLOB_NAMES && !known && self.lies_at(&at, "package.json") {
                    found.push(at);
                }
            }
        }
        found
    }

    /// The workspace that the directory belongs to.
    fn find_workspace(&mut self, dir: &str, index: usize) -> Option<Workspace> {
        let mut at = dir;
        loop {
            if let Some(globs) = self.workspace_globs(at, index) {
                return Some(Workspace { root: at.to_string(), globs });
            }
            at = self.above_in_project(at)?;
        }
    }

    /// What the files of a directory say of members.
    fn workspace_globs(&mut self, at: &str, index: usize) -> Option<Vec<String>> {
        if let Some(text) = self.read_near(at, "pnpm-workspace.yaml", index) {
            return Some(yaml_packages(&text));
        }
        let file = self.read_near(at, "package.json", index)?;
        let file = json::parse_manifest(&file)?;
        if let Some((_, list)) = file.get("workspaces") {
            return Some(texts(list.get("packages").map_or(list, |(_, list)| list)));
        }
        let file = self.read_near(at, "lerna.json", index)?;
        json::parse_manifest(&file)?.get("packages").map(|(_, list)| texts(list))
    }

    /// A file of that directory, where it is there.
    fn read_near(&mut self, at: &str, name: &str, index: usize) -> Option<Rc<str>> {
        if !self.lies_at(at, name) {
            return None;
        }
        let target = self.out.resolver.resolve_target(name, at, Extent::Exact);
        self.read_script(&target, index)
    }
}

/// The texts of a list, without what it leaves out (`!x`).
fn texts(list: &Node) -> Vec<String> {
    let items = list.items().into_iter().flatten().filter_map(Node::as_str);
    items.filter(|text| !text.starts_with('!')).map(str::to_string).collect()
}

/// The list below `packages:` of pnpm's file.
fn yaml_packages(text: &str) -> Vec<String> {
    let lines = text.lines().skip_while(|line| line.trim_end() != "packages:").skip(1);
    let items = lines.take_while(|line| {
        let line = line.trim_start();
        line.is_empty() || line.starts_with(['-', '#'])
    });
    let plain = |line: &str| {
        let item = line.trim_start().strip_prefix('-')?.split(" #").next()?.trim();
        let item = item.trim_matches(['"', '\'']);
        (!item.is_empty() && !item.starts_with('!')).then(|| item.to_string())
    };
    items.filter_map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_packages_is_read() {
        let text = "# x\ncatalog:\n  a: 1\npackages:\n  - 'apps/*' # all\n\n  - \"libs/**\"\n  - tools\n  - '!**/test'\nother:\n  - no\n";
        assert_eq!(yaml_packages(text), ["apps/*", "libs/**", "tools"]);
        assert!(yaml_packages("catalog:\n  - x\n").is_empty());
        assert_eq!(yaml_packages("packages:\n- a"), ["a"]);
    }
}
