//! Patterns that no sub-command can have, and allows that cover more operands than their words say.

use std::path::Path;

use super::{FindingSeverity, Lint};
use crate::dry;
use crate::effect::{self, Analysis, Effect, Place, Source};
use crate::event::Kind;
use crate::rule::command::CommandPattern;
use crate::rule::path::Bases;
use crate::verdict::Verb;

/// The operand that an allow is tried with, beyond those that it names.
const OTHER: &str = "another-operand";

impl Lint<'_> {
    /// Command patterns are held against one sub-command: what joins several, redirects or assigns is no part of it.
    pub(super) fn impossible_patterns(&mut self) {
        let mut found = Vec::new();
        for key in ["command", "match"] {
            self.for_each_pattern(key, &mut |text, span| {
                let text = text.trim_start_matches('!');
                let inner = text.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(')'));
                if let Some(inner) = inner.or((key == "command").then_some(text))
                    && let Some(why) = impossible_part(inner)
                {
                    found.push((why, span));
                }
            });
        }
        for ((part, hint), span) in found {
            let message = format!("`{part}` stands in no sub-command: the pattern never matches");
            self.add_warning("never-matches", message, hint, span);
        }
    }

    /// `command` beside tools that run none.
    pub(super) fn tools_without_commands(&mut self) {
        let conditions = &self.rule.conditions;
        let tools = conditions.tool.named();
        if conditions.command.is_empty() || tools.is_empty() {
            return;
        }
        let plain = |text: &str| !text.starts_with("mcp__") && !text.contains(['*', '?', '[', '/']);
        let silent = |text: &str| plain(text) && analyse_call(text, "ls").commands.is_empty();
        if tools.iter().all(|tool| silent(tool.text())) {
            let names: Vec<&str> = tools.iter().map(|tool| tool.text()).collect();
            let message = format!("`command` never holds: {} runs no command", names.join(", "));
            let hint = "say `tool = \"Bash\"`, or what the tool does: `effect`, `path`";
            self.add_warning("never-matches", message, hint, self.key_span("command"));
        }
    }

    /// A host is a name alone.
    pub(super) fn impossible_hosts(&mut self) {
        let mut found = Vec::new();
        self.for_each_pattern("host", &mut |text, span| {
            let host = text.trim_start_matches('!');
            let port = host.rsplit_once(':').filter(|(name, port)| {
                !name.contains(':')
                    && !port.is_empty()
                    && port.bytes().all(|b| b.is_ascii_digit() || b == b'*')
            });
            let (part, bare) = match (host.split_once("://"), port) {
                (Some((_, rest)), _) => ("scheme", rest.split(['/', ':']).next().unwrap_or(rest)),
                (None, _) if host.contains('/') => ("path", host.split('/').next().unwrap_or(host)),
                (None, Some((name, _))) => ("port", name),
                (None, None) => return,
            };
            found.push((
                format!("`{host}` never holds: a host has no {part}"),
                format!("write `{bare}`"),
                span,
            ));
        });
        for (message, hint, span) in found {
            self.add_warning("never-matches", message, &hint, span);
        }
    }

    /// An allow whose last word names something, and that covers one thing more behind it. It is tried, not guessed.
    pub(super) fn check_more_operands(&mut self) {
        if self.rule.verb() != Some(Verb::Allow) {
            return;
        }
        let mut found = Vec::new();
        self.for_each_pattern("command", &mut |text, span| {
            if let Some(call) = call_with_more(text) {
                found.push((text.to_string(), call, span));
            }
        });
        for (pattern, call, span) in found {
            let message = format!("`{pattern}` allows further operands: `{call}`, too");
            let hint = format!("write `{pattern} $` where nothing may follow");
            self.add_finding(FindingSeverity::Info, "allow-leaves-room", message, Some(hint), span);
        }
    }
}

/// The call with one operand more than the pattern names, where the pattern covers it.
fn call_with_more(pattern: &str) -> Option<String> {
    let plain = !pattern.contains(['(', '|', '$', '{', '"', '\'', '\\', '<', '[', '?']);
    let words: Vec<&str> = pattern.split_whitespace().collect();
    let named = |word: &&str| !word.starts_with('-');
    let (program, rest) = words.split_first()?;
    let last = rest.iter().copied().rfind(named)?;
    if !plain
        || pattern.starts_with('!')
        || program.contains('*')
        || matches!(last, "*" | "**" | "...")
    {
        return None;
    }
    let call = words.join(" ").replace("**", "x").replace('*', "x");
    let analysis = analyse_call("Bash", &call);
    let command = analysis.commands.first()?;
    // A word that only says what the program is to do is no thing that others could stand beside.
    let operand = command.operands.last().and_then(|at| command.args.get(*at))?;
    let touched = |effect: &Effect| effect.source == Source::Operand && effect.span == operand.span;
    if !last.contains(['*', '/', '.']) && !analysis.effects.iter().any(touched) {
        return None;
    }
    let more = format!("{call} {OTHER}");
    let analysis = analyse_call("Bash", &more);
    let own = CommandPattern::parse(pattern).ok()?;
    let place = Place::default();
    let bases = Bases::of_place(&place);
    let covered =
        analysis.commands.first().is_some_and(|command| own.covers_command(command, &bases));
    covered.then_some(more)
}

/// What the call would do, somewhere that nothing is known of.
pub(super) fn analyse_call(tool: &str, value: &str) -> Analysis {
    let input = dry::tool_input(tool, value, &|path| {
        dry::absolute_path(path, Path::new("/nowhere"), Path::new("/"))
    });
    let payload = dry::tool_call_payload(Kind::PreToolUse, tool, input, "/nowhere");
    let (_, event) = dry::parse_event(payload, None);
    let place = Place {
        cwd: "/nowhere".into(),
        project: "/nowhere".into(),
        home: "/nohome".into(),
        ..Place::default()
    };
    effect::analyse_event(&event, &place)
}

/// The first part of a pattern that no sub-command has, and what to write instead.
fn impossible_part(pattern: &str) -> Option<(String, &'static str)> {
    const JOINED: &str =
        "each sub-command of a line is judged by itself: name one, or write a list of patterns";
    const REDIRECTED: &str = "a redirection is an effect: `effect = \"write\"` with `path`";
    const ASSIGNED: &str =
        "leave it out: a pattern begins with the program, whatever is assigned before it";
    const INNER: &str = "a substitution is a sub-command of its own: name its program";
    if pattern.contains(['"', '\'', '\\']) {
        return None;
    }
    let words = pattern.split_whitespace();
    for (at, word) in words.enumerate() {
        let digits = word.trim_start_matches(|c: char| c.is_ascii_digit() || c == '&');
        if matches!(word, "&&" | "||" | ";" | "&" | ";;" | "|&")
            || word.ends_with(';')
            || word.ends_with("&&")
        {
            return Some((word.into(), JOINED));
        }
        if digits.starts_with('>')
            || digits.starts_with("<<")
            || word == "<"
            || word.starts_with("< ")
        {
            return Some((word.into(), REDIRECTED));
        }
        if word.contains("$(") || word.contains('`') {
            return Some((word.into(), INNER));
        }
        let name = word.split_once('=').map(|(name, _)| name);
        let assigned = name.is_some_and(|name| {
            !name.is_empty()
                && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                && !name.as_bytes()[0].is_ascii_digit()
        });
        if at == 0 && assigned {
            return Some((word.into(), ASSIGNED));
        }
    }
    None
}
