//! Conditions that hold on none of the events that a rule names, and tools that nobody has.

use super::Lint;
use crate::agent::{self, EventSpec};
use crate::event::{Kind, KindSet};
use crate::rule::condition::{NamePattern, Permission};
use crate::rule::fault::did_you_mean;

impl Lint<'_> {
    pub(super) fn never_matches(&mut self) {
        let rule = self.rule;
        let conditions = &rule.conditions;
        let events = join_kind_names(rule.on);
        let on = |kinds: &[Kind]| !rule.on.intersect(KindSet::from_kinds(kinds)).is_empty();
        let never = "never-matches";
        let mut said = Vec::new();
        for (key, _, needs) in conditions.asked_conditions() {
            let Some(needs) = needs.filter(|needs| !rule.on.iter().any(needs.brings)) else {
                continue;
            };
            if !said.contains(&needs.why) {
                said.push(needs.why);
                let message = format!("`{key}` never holds on {events}: {}", needs.why);
                self.add_warning(never, message, needs.hint, self.key_span(key));
            }
        }
        let agent = agent::default_agent();
        for (field, _) in &conditions.when.fields {
            let has = |spec: Option<&EventSpec>| {
                spec.is_none_or(|spec| has_word(spec.input, field))
                    || has_word(agent.facts().common_input, field)
            };
            if !rule.on.iter().any(|kind| has(agent.event_spec(kind))) {
                let message = format!("`when.{field}` never holds on {events}: it has no {field}");
                let hint = "`hookctl explain --event NAME` shows an event's fields";
                self.add_warning(never, message, hint, self.key_span("when"));
            }
        }
        if conditions.when.success.is_some() && !on(&[Kind::PostToolUse, Kind::PostToolUseFailure])
        {
            let message = format!("`when.success` never holds on {events}: nothing has run yet");
            let hint = "on = [\"PostToolUse\", \"PostToolUseFailure\"] says it";
            self.add_warning(never, message, hint, self.key_span("when"));
        }
        if conditions.when.stop_hook_active == Some(true) && !on(&[Kind::Stop, Kind::SubagentStop])
        {
            let message = format!("`when.stop_hook_active` is never true on {events}");
            self.add_warning(
                never,
                message,
                "it is one of Stop and SubagentStop",
                self.key_span("when"),
            );
        }
        self.tool_names();
    }

    fn tool_names(&mut self) {
        let agent = agent::default_agent();
        let tools = agent.facts().tool_names;
        let known = |name: &NamePattern| {
            name.text().starts_with("mcp__")
                || name.text().starts_with('*')
                || tools.iter().any(|tool| name.matches_name(tool))
        };
        let conditions = self.rule.conditions.clone();
        let unknown = conditions.tool.named().iter().filter(|name| !known(name));
        let mut unknown: Vec<(&str, &str)> = unknown.map(|name| ("tool", name.text())).collect();
        for permission in &conditions.permission {
            if let Permission::Tool(name) = permission
                && !name.contains('*')
                && !name.starts_with("mcp__")
                && !tools.contains(&name.as_str())
            {
                unknown.push(("match", name));
            }
        }
        // Other agents bring tools of their own under their own names.
        let agents = &conditions.agent;
        let other_agents = !agents.is_empty()
            && (agents.named().is_empty() || agents.named().iter().any(|n| n.text() != agent.id()));
        for (key, name) in unknown.into_iter().filter(|_| !other_agents) {
            let hint = match did_you_mean(name, tools.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None if key == "tool" && (name.starts_with("mcp_") || name.contains("__")) => {
                    "tools of MCP servers are called mcp__SERVER__TOOL".into()
                }
                None => "tools go by Claude Code's names, whatever the agent calls them".into(),
            };
            let message = format!("`{name}` is no tool of Claude Code");
            self.add_warning("never-matches", message, &hint, self.written.text_span(key, name));
        }
    }
}

/// Is the word in the list of fields, outside of `{}`, where the fields of a field stand?
pub(super) fn has_word(text: &str, word: &str) -> bool {
    let mut depth = 0usize;
    let top: String = text
        .chars()
        .map(|c| {
            match c {
                '{' => depth += 1,
                '}' => depth = depth.saturating_sub(1),
                _ if depth == 0 => return c,
                _ => {}
            }
            ' '
        })
        .collect();
    top.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).any(|found| found == word)
}

pub(super) fn join_kind_names(kinds: KindSet) -> String {
    let all: Vec<&str> = kinds.iter().map(Kind::name).collect();
    if all.len() > 4 { format!("{}, ...", all[..3].join(", ")) } else { all.join(", ") }
}
