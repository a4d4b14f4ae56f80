//! Placeholders that none of a rule's events brings a value for.

use super::Lint;
use super::never::{has_word, join_kind_names};
use crate::agent;
use crate::event::{Kind, KindSet};
use crate::rule::template::PlaceholderName;

impl Lint<'_> {
    pub(super) fn missing_values(&mut self) {
        let rule = self.rule;
        if rule.on == KindSet::ALL {
            return;
        }
        let runs = rule.verdict.awaited_command().is_some();
        let mut said: Vec<String> = Vec::new();
        for name in rule.templates().flat_map(|template| template.placeholders()) {
            let (text, fields): (String, &[&str]) = match name {
                PlaceholderName::Tool => ("tool".into(), &[]),
                PlaceholderName::Command => ("command".into(), &[]),
                PlaceholderName::Host => ("host".into(), &[]),
                PlaceholderName::Path => ("path".into(), &["file_path"]),
                PlaceholderName::Preview(_) => ("preview".into(), &["prompt"]),
                PlaceholderName::Output => ("output".into(), &["tool_response"]),
                PlaceholderName::Error if !runs => ("error".into(), &["error"]),
                PlaceholderName::RunOutput if !runs => ("run.output".into(), &[]),
                PlaceholderName::Input(field) => (format!("input.{}", field.join(".")), &[]),
                _ => continue,
            };
            let brings = |kind: Kind| match name {
                PlaceholderName::RunOutput => false,
                PlaceholderName::Input(_) if kind.is_tool() => true,
                PlaceholderName::Input(field) => has_field(kind, &field[0]),
                PlaceholderName::Preview(_) | PlaceholderName::Output | PlaceholderName::Error => {
                    fields.iter().any(|field| has_field(kind, field))
                }
                _ => kind.is_tool() || fields.iter().any(|field| has_field(kind, field)),
            };
            if said.contains(&text) || rule.on.iter().any(brings) {
                continue;
            }
            let message = match name {
                PlaceholderName::RunOutput => {
                    format!("`{{{text}}}` has no value: the rule's verdict waits for no `run`")
                }
                _ => format!("`{{{text}}}` has no value on {}", join_kind_names(rule.on)),
            };
            let hint = "`hookctl explain --event NAME` shows an event's fields";
            let span = self.placeholder_span(&text);
            self.add_warning("no-value", message, hint, span);
            said.push(text);
        }
    }

    /// The text of the rule that holds the placeholder.
    fn placeholder_span(&self, name: &str) -> std::ops::Range<usize> {
        let open = format!("{{{name}");
        let mut span = None;
        for (_, value) in self.written.body.into_iter().flatten() {
            crate::cli::written::for_each_string(value, &mut |text, at| {
                if span.is_none() && text.contains(&open) {
                    span = Some(at);
                }
            });
        }
        span.unwrap_or_else(|| self.header_span())
    }
}

/// Does the event bring a field of that name? Of one that nobody knows, anything may come.
fn has_field(kind: Kind, field: &str) -> bool {
    let agent = agent::default_agent();
    agent.event_spec(kind).is_none_or(|spec| has_word(spec.input, field))
        || has_word(agent.facts().common_input, field)
}
