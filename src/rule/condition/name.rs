//! Globs over names: tools, agents, hosts, fields of the payload.

use crate::effect::host::is_local;
use crate::glob;
use crate::rule::Regex;

/// A glob over a name; `!x` in a list excludes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Name {
    kind: NameKind,
    excludes: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum NameKind {
    Glob(String),
    /// A matcher with other characters than names and globs have: the client's unanchored regex.
    Regex(Regex),
}

impl Name {
    /// A host's name: those have no case.
    pub(super) fn host(glob: &str) -> Name {
        Name { kind: NameKind::Glob(glob.to_ascii_lowercase()), excludes: false }
    }

    /// The name, where it stands for itself alone.
    pub(super) fn plain(&self) -> Option<String> {
        match &self.kind {
            NameKind::Glob(text) if !self.excludes && !glob::is_glob(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// The same without case, for hosts.
    pub(super) fn fold(&mut self) {
        if let NameKind::Glob(glob) = &mut self.kind {
            glob.make_ascii_lowercase();
        }
    }

    /// Reads a glob, or a matcher of a hook entry where `matcher` is set: only letters, digits,
    /// `_ - , |` and blanks = a list of exact names, anything else an unanchored regex.
    pub fn parse(text: &str, matcher: bool) -> Vec<Name> {
        let (excludes, text) = match text.strip_prefix('!') {
            Some(rest) if !matcher => (true, rest),
            _ => (false, text),
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '|' | ',' | ' ');
        let name = |kind| Name { kind, excludes };
        if matcher && (text.is_empty() || text == "*") {
            vec![name(NameKind::Glob("*".into()))]
        } else if text.chars().all(plain) {
            text.split(['|', ','])
                .map(|part| name(NameKind::Glob(part.trim().to_string())))
                .collect()
        } else if matcher {
            vec![name(NameKind::Regex(Regex::new(text)))]
        } else {
            vec![name(NameKind::Glob(text.to_string()))]
        }
    }

    /// As written, without the `!`.
    pub fn text(&self) -> &str {
        match &self.kind {
            NameKind::Glob(text) => text,
            NameKind::Regex(regex) => &regex.source,
        }
    }

    /// Was it written with `!`?
    pub fn excludes(&self) -> bool {
        self.excludes
    }

    /// Does the glob hold for that host? `localhost` is one by each of its names and addresses.
    pub fn holds_host(&self, host: &str) -> bool {
        self.holds(host) || self.text() == "localhost" && is_local(host)
    }

    /// Does the glob hold for that name?
    pub fn holds(&self, name: &str) -> bool {
        match &self.kind {
            NameKind::Glob(pattern) => glob::matches(pattern, name),
            NameKind::Regex(regex) => regex.is_match(name),
        }
    }
}

/// Does the list hold for the host?
pub(super) fn hosts_hold(names: &[Name], host: &str) -> bool {
    any_holds(names, |name| name.holds_host(host))
}

/// Is the host surely on the list? What programs make of letters beyond ASCII is another name.
pub(super) fn hosts_list(names: &[Name], host: &str) -> bool {
    hosts_hold(names, host) && (host.is_ascii() || names.iter().any(|name| name.text() == host))
}

/// Does the list hold for the name: some glob does, and no exclusion.
pub(super) fn names_hold(names: &[Name], name: &str) -> bool {
    any_holds(names, |n| n.holds(name))
}

fn any_holds(names: &[Name], holds: impl Fn(&Name) -> bool) -> bool {
    let mut wanted = names.iter().filter(|n| !n.excludes).peekable();
    let any = wanted.peek().is_none() || wanted.any(&holds);
    any && !names.iter().any(|n| n.excludes && holds(n))
}

/// Does the list hold for a tool? `Task` is the old name of `Agent`; `-` and `_` are the same in
/// the names of MCP servers.
pub(super) fn tool_holds(names: &[Name], tool: &str) -> bool {
    if names_hold(names, tool) {
        return true;
    }
    match tool {
        "Agent" => names_hold(names, "Task"),
        _ if tool.starts_with("mcp__") && tool.contains('-') => {
            names_hold(names, &tool.replace('-', "_"))
        }
        _ => false,
    }
}
