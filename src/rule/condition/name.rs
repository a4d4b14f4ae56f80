//! Globs over names: tools, agents, hosts, fields of the payload.

use crate::agent;
use crate::effect::host::is_local;
use crate::effect::{Origin, Package};
use crate::event::Event;
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

/// May the pattern mean this tool of a server that the agent does not name? Some agents call a tool by its own name, some
/// by its server's and its own, with a sign between them that either may hold.
pub(super) fn may_name_tool(pattern: &str, event: &Event) -> bool {
    let Some(own) = event.tool.strip_prefix(UNKNOWN_SERVER) else { return false };
    let Some((server, wanted)) =
        pattern.strip_prefix("mcp__").and_then(|rest| rest.split_once("__"))
    else {
        return false;
    };
    let plain = |text: &str| text.replace('-', "_");
    let (server, wanted, own) = (plain(server), plain(wanted), plain(own));
    let bare = own.strip_prefix("mcp_").unwrap_or(&own);
    // Of `*` nothing is left to tell it by but the server, if the agent names it at all.
    let alone = wanted.bytes().any(|byte| byte.is_ascii_alphanumeric())
        || !agent::from_event(event).tells_servers();
    alone && glob::matches(&wanted, bare) || glob::matches(&format!("{server}_{wanted}"), bare)
}

/// How the tools of servers begin that an agent does not name.
const UNKNOWN_SERVER: &str = "mcp__?__";

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
        // PyPI's names know no case, and one mark between words is as good as another.
        let loose = package.registry == "pypi"
            && matches!(package.origin, Origin::Registry | Origin::Index);
        let plain = |text: &str| text.replace(['_', '.'], "-");
        let same = |n: &NamePattern, name: &str| {
            loose && glob::matches_folded(&plain(n.text()), &plain(name), true)
        };
        let hits = |n: &NamePattern| package.any_name(|name| n.matches_name(name) || same(n, name));
        self.covers_any(|named| named.iter().any(hits), hits)
    }

    /// Is the host surely on the list? What programs make of letters beyond ASCII is another name.
    pub(super) fn lists_host(&self, host: &str) -> bool {
        let written = || self.named().iter().any(|name| name.text() == host);
        self.holds_host(host) && (host.is_ascii() || written())
    }

    /// May it mean that tool of a server that is not told? What is excluded is never meant.
    pub(super) fn may_name_tool(&self, event: &Event) -> bool {
        self.named().iter().any(|name| may_name_tool(name.text(), event))
            && !self.excluded().iter().any(|name| may_name_tool(name.text(), event))
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

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_tool_of_an_unknown_server_may_be_the_one_that_is_meant() {
        let event = |agent: &'static str, tool: &str| Event {
            agent,
            tool: format!("mcp__?__{tool}"),
            kind: crate::event::Kind::PreToolUse,
            name: String::new(),
            input: json!({}),
            cwd: String::new(),
            session: String::new(),
            more: Vec::new(),
            raw: serde_json::Map::new(),
            native: json!(null),
        };
        for (pattern, agent, tool, meant) in [
            ("mcp__github__create_issue", "cursor", "create_issue", true),
            ("mcp__github__create*", "cursor", "create_issue", true),
            ("mcp__github__*", "cursor", "create_issue", true),
            ("mcp__github__create_issue", "cursor", "list", false),
            ("mcp__github__create_issue", "copilot", "github-create_issue", true),
            ("mcp__github__*", "copilot", "github-create_issue", true),
            ("mcp__github__*", "copilot", "jira-create_issue", false),
            ("mcp__my-server__*", "opencode", "my_server_say", true),
            ("mcp__github__create_issue", "gemini", "mcp_github_create_issue", true),
            ("mcp__github__*", "gemini", "mcp_jira_create_issue", false),
            ("mcp__*", "cursor", "create_issue", false),
            ("create_issue", "cursor", "create_issue", false),
        ] {
            assert_eq!(may_name_tool(pattern, &event(agent, tool)), meant, "{pattern}: {tool}");
        }
    }
}
