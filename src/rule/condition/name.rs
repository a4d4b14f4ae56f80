//! Globs over names: tools, agents, hosts, fields of the payload.

use crate::effect::Package;
use crate::effect::host::is_local;
use crate::glob;
use crate::rule::path::FOLD;
use crate::rule::{PatternList, Regex};

/// A pattern over a name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamePattern {
    /// A glob over the whole name.
    Glob(String),
    /// A matcher with other characters than names and globs have: the client's unanchored regex.
    Regex(Regex),
}

impl NamePattern {
    /// A host's name: those have no case.
    pub(super) fn for_host(glob: &str) -> NamePattern {
        NamePattern::Glob(glob.to_ascii_lowercase())
    }

    /// The same without case, for hosts.
    pub(super) fn ignore_case(&mut self) {
        if let NamePattern::Glob(glob) = self {
            glob.make_ascii_lowercase();
        }
    }

    /// Reads a glob, or a list of exact names.
    pub fn parse_globs(text: &str) -> Vec<NamePattern> {
        parse_exact_names(text).unwrap_or_else(|| vec![NamePattern::Glob(text.to_string())])
    }

    /// Reads the matcher of a hook entry: all, a list of exact names, or an unanchored regex.
    pub fn parse_matcher(text: &str) -> Vec<NamePattern> {
        match text {
            "" | "*" => vec![NamePattern::Glob("*".into())],
            _ => parse_exact_names(text)
                .unwrap_or_else(|| vec![NamePattern::Regex(Regex::new(text))]),
        }
    }

    /// Does the matcher of a hook entry hold for the tool, or for what else it is tested on? One that cannot be
    /// compiled here holds: nobody knows for what it was meant.
    pub fn matcher_holds(matcher: &str, name: &str) -> bool {
        let mut list = PatternList::default();
        for one in NamePattern::parse_matcher(matcher) {
            if matches!(&one, NamePattern::Regex(regex) if regex.find_fault().is_some()) {
                return true;
            }
            list.push(false, one);
        }
        list.holds_tool(name)
    }

    /// As written, without the `!`.
    pub fn text(&self) -> &str {
        match self {
            NamePattern::Glob(text) => text,
            NamePattern::Regex(regex) => &regex.source,
        }
    }

    /// Does the glob hold for that host? `localhost` is one by each of its names and addresses.
    pub fn holds_host(&self, host: &str) -> bool {
        self.matches_name(host) || self.text() == "localhost" && is_local(host)
    }

    /// Does the glob hold for that name?
    pub fn matches_name(&self, name: &str) -> bool {
        match self {
            NamePattern::Glob(pattern) => glob::matches(pattern, name),
            NamePattern::Regex(regex) => regex.is_match(name),
        }
    }

    /// The same for the name of a file, where case may not matter.
    pub fn matches_file(&self, name: &str) -> bool {
        match self {
            NamePattern::Glob(pattern) if FOLD => glob::matches_folded(pattern, name, true),
            _ => self.matches_name(name),
        }
    }
}

/// Only letters, digits, `_ - , |` and blanks are a list of exact names.
fn parse_exact_names(text: &str) -> Option<Vec<NamePattern>> {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '|' | ',' | ' ');
    let names = || text.split(['|', ',']).map(|part| NamePattern::Glob(part.trim().to_string()));
    text.chars().all(plain).then(|| names().collect())
}

impl PatternList<NamePattern> {
    /// Does the list hold for the name?
    pub(super) fn matches_name(&self, name: &str) -> bool {
        self.covers_any(
            |named| named.iter().any(|n| n.matches_name(name)),
            |n| n.matches_name(name),
        )
    }

    /// Does it hold for the host?
    pub(super) fn holds_host(&self, host: &str) -> bool {
        self.covers_any(|named| named.iter().any(|n| n.holds_host(host)), |n| n.holds_host(host))
    }

    /// Does it hold for the package, by one of its names?
    pub(super) fn holds_package(&self, package: &Package) -> bool {
        let hits = |n: &NamePattern| package.any_name(|name| n.matches_name(name));
        self.covers_any(|named| named.iter().any(hits), hits)
    }

    /// Is the host surely on the list? What programs make of letters beyond ASCII is another name.
    pub(super) fn lists_host(&self, host: &str) -> bool {
        let written = || self.named().iter().any(|name| name.text() == host);
        self.holds_host(host) && (host.is_ascii() || written())
    }

    /// Does it hold for a tool? `Task` is the old name of `Agent`; `-` and `_` are the same in the names of MCP
    /// servers. What excludes it by one of its names excludes it.
    pub(super) fn holds_tool(&self, tool: &str) -> bool {
        let other = match tool {
            "Agent" => "Task".into(),
            _ if tool.starts_with("mcp__") && tool.contains('-') => tool.replace('-', "_"),
            _ => String::new(),
        };
        let hits =
            |n: &NamePattern| n.matches_name(tool) || !other.is_empty() && n.matches_name(&other);
        self.covers_any(|named| named.iter().any(hits), hits)
    }
}
