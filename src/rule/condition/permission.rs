//! `match`: one line of Claude Code's permission syntax, with its own meaning of paths.

use super::entries::is_of_elsewhere;
use super::name::{NamePattern, may_name_tool};
use super::{Conditions, Subject, within};
use crate::effect::{Effect, Grade, Word};
use crate::event::Event;
use crate::glob;
use crate::names::tool::{EDITING, READING};
use crate::rule::Truth;
use crate::rule::command::CommandPattern;
use crate::rule::path::PathList;

/// One line of Claude Code's permission syntax.
#[derive(Debug, Clone, PartialEq)]
pub enum Permission {
    /// `Bash(git push:*)`
    Command(CommandPattern),
    /// `Read(./.env)` and `Edit(...)`: a path of reads, or of writes.
    Path(Word, PathList),
    /// `WebFetch(domain:x.org)`
    Host(NamePattern),
    /// `WebSearch`, `mcp__server`, `mcp__server__tool`: the whole tool.
    Tool(String),
}

impl Permission {
    pub(super) fn parse(text: &str) -> Result<Permission, String> {
        let text = text.trim();
        let Some((tool, rest)) = text.split_once('(') else {
            return if text.is_empty() {
                Err("the match is empty".into())
            } else if text == "Bash" {
                Ok(Permission::Command(CommandPattern::from_permission("*")?))
            } else {
                Ok(Permission::Tool(text.to_string()))
            };
        };
        let inside = rest.strip_suffix(')').ok_or("`(` without its `)`")?;
        match tool {
            "Bash" => Ok(Permission::Command(CommandPattern::from_permission(inside)?)),
            _ if READING.contains(&tool) => {
                Ok(Permission::Path(Word::Read, permission_path(inside)?))
            }
            _ if EDITING.contains(&tool) => {
                Ok(Permission::Path(Word::Write, permission_path(inside)?))
            }
            "WebFetch" => match inside.strip_prefix("domain:") {
                Some(domain) => Ok(Permission::Host(NamePattern::for_host(domain.trim()))),
                None => Err("WebFetch takes domain:NAME".into()),
            },
            _ => {
                Err(format!("`{tool}` takes nothing in brackets here; name a path or command rule"))
            }
        }
    }

    /// Does a line that filters a hook entry (`if`) hold for the call? Where that cannot be told, it does: the entry
    /// might stop something.
    pub fn filter_holds(line: &str, s: &Subject<'_>) -> bool {
        if !s.event.kind.is_tool() {
            return false;
        }
        let of_shell = line.trim_start().starts_with("Bash");
        let Ok(permission) = Permission::parse(line) else { return true };
        if of_shell && s.event.command().is_none() {
            return false;
        }
        let effects = &s.analysis.effects;
        permission.tool_holds(&s.event.tool)
            || effects.iter().any(|effect| {
                let unknown = effect.grade == Grade::Unknown && of_shell;
                unknown || permission.match_effect(s, effect) != Truth::No
            })
    }

    /// May the line mean this tool of a server that the agent does not name?
    pub(super) fn may_name_tool(&self, event: &Event) -> bool {
        let Permission::Tool(name) = self else { return false };
        may_name_tool(name, event) || may_name_tool(&format!("{name}__*"), event)
    }

    pub(super) fn tool_holds(&self, tool: &str) -> bool {
        match self {
            Permission::Tool(name) => {
                name == tool
                    // As in Claude Code: every tool that reads, or that edits.
                    || (name == "Read" && READING.contains(&tool))
                    || (name == "Edit" && EDITING.contains(&tool))
                    || (tool == "Agent" && name == "Task")
                    || glob::matches(name, tool)
                    // `mcp__server` names every tool of that server.
                    || (name.starts_with("mcp__")
                        && tool.strip_prefix(name.as_str()).is_some_and(|t| t.starts_with("__")))
            }
            _ => false,
        }
    }

    /// Does an allow with this line cover the effect?
    pub(super) fn covers(&self, all: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        match self {
            Permission::Command(pattern) => s.command_of(effect).is_some_and(|command| {
                let writes_out = |runner| pattern.writes_out(runner, command, s.bases);
                let named = is_of_elsewhere(effect) && pattern.singles_out(command, effect);
                (named || all.is_own(s, effect))
                    && within::runs_at_home(s, effect)
                    && (pattern.covers_command(command, s.bases)
                        || s.parent_of(command).is_some_and(writes_out))
            }),
            Permission::Path(word, pattern) => {
                effect.word == *word
                    && effect
                        .path
                        .as_ref()
                        .is_some_and(|target| pattern.covers_target(target, s.bases))
            }
            Permission::Host(name) => {
                effect.word == Word::Network
                    && effect.host.as_ref().is_some_and(|host| name.holds_host(host))
            }
            Permission::Tool(_) => false,
        }
    }

    pub(super) fn match_effect(&self, s: &Subject<'_>, effect: &Effect) -> Truth {
        match self {
            Permission::Command(pattern) => match s.command_of(effect) {
                Some(command) if effect.word == Word::Execute => pattern.match_command(command),
                _ => Truth::No,
            },
            Permission::Path(word, pattern) => match &effect.path {
                // A rule on edits is one on every change.
                Some(target)
                    if effect.word == *word
                        || (*word == Word::Write && effect.word == Word::Delete) =>
                {
                    pattern.match_target(target, s.bases)
                }
                None if effect.grade == Grade::Unknown && effect.word == *word => Truth::Maybe,
                _ => Truth::No,
            },
            Permission::Host(name) => match &effect.host {
                Some(host) if effect.word == Word::Network => Truth::from(name.holds_host(host)),
                _ => Truth::No,
            },
            Permission::Tool(_) => Truth::from(self.tool_holds(&s.event.tool)),
        }
    }
}

/// Claude Code's own path syntax: `//x` is absolute, `/x` starts at the project, a bare name holds
/// at any depth, all else is relative to the project.
fn permission_path(text: &str) -> Result<PathList, String> {
    if let Some(rest) = text.strip_prefix("//") {
        PathList::parse(&format!("/{rest}"))
    } else if text.starts_with('/') {
        PathList::parse(&format!(".{text}"))
    } else if text.starts_with("~/") || text.starts_with("./") || !text.contains('/') {
        PathList::parse(text)
    } else {
        PathList::parse(&format!("./{text}"))
    }
}
