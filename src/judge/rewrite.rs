//! Rewrites of a tool's input and of what it returned.

use std::borrow::Cow;
use std::cell::Cell;

use serde_json::{Map, Value};

use super::Judge;
use super::values::{command_text, each_string, set_field};
use crate::engine::Match;
use crate::event::{Kind, describe_new_prompt};
use crate::redact;
use crate::rule::{self, Action, Redact, Rule};
use crate::script::ScriptAnswer;
use crate::verdict::Verb;

impl Judge<'_> {
    /// The complete new input, where rules or scripts change it.
    pub(super) fn rewrite_input(
        &mut self,
        matches: &[Match<'_>],
        said: &[(&Rule, ScriptAnswer)],
    ) -> Option<Map<String, Value>> {
        let changes = matches.iter().any(|one| one.rule.input_changes().is_some())
            || said.iter().any(|(_, said)| said.input.is_some());
        if !changes {
            return None;
        }
        if self.event.kind == Kind::UserPromptSubmit {
            self.rewrite_prompt(matches);
        }
        let old = self.event.input.as_object()?;
        let mut new = old.clone();
        for one in by_authority(matches) {
            for (field, template) in one.rule.input_changes().into_iter().flatten() {
                let in_place = field.as_slice() == ["command"]
                    && !one.rule.conditions.command.is_empty()
                    && self.event.command() == Some(self.analysis.text.as_str());
                if in_place {
                    match self.rewrite_command(one, template, &new) {
                        Ok(Some(text)) => {
                            new.insert("command".into(), Value::String(text));
                        }
                        Ok(None) => {}
                        Err(why) => self.add_voice(one.rule, Verb::Deny, why),
                    }
                } else {
                    let text = template.fill(&self.match_values(one));
                    set_field(&mut new, field, text);
                }
            }
        }
        let mut scripts: Vec<&(&Rule, ScriptAnswer)> = said.iter().rev().collect();
        crate::order::sort_by_key(&mut scripts, |(rule, _)| rule.authority());
        if let Some(input) = scripts.into_iter().rev().find_map(|(_, said)| said.input.as_ref()) {
            new = input.clone();
        }
        (new != *old).then_some(new)
    }

    /// A prompt stays what it is: no agent takes another. The model is told how to read it.
    fn rewrite_prompt(&mut self, matches: &[Match<'_>]) {
        // Only what holds in the end is told.
        let ordered = by_authority(matches);
        let new = ordered.iter().rev().find_map(|one| {
            let changes = one.rule.input_changes()?;
            let (_, template) = changes.iter().find(|(field, _)| field.as_slice() == ["prompt"])?;
            Some(template.fill(&self.match_values(one)))
        });
        if let Some(new) = new.filter(|new| Some(new.as_str()) != self.event.prompt()) {
            self.out.answer.context.push(describe_new_prompt(&new));
        }
    }

    /// Replaces each matched sub-command where it stands.
    fn rewrite_command(
        &self,
        one: &Match<'_>,
        template: &rule::Template,
        input: &Map<String, Value>,
    ) -> Result<Option<String>, String> {
        let text = &self.analysis.text;
        if input.get("command").and_then(Value::as_str) != Some(text) {
            return Err("two rewrites of one command: make them one rule.".into());
        }
        let mut commands: Vec<usize> =
            one.effects.iter().filter_map(|at| self.analysis.effects[*at].command).collect();
        crate::order::sort_by_key(&mut commands, |at| self.analysis.commands[*at].span.start);
        commands.dedup();
        let mut out = String::new();
        let mut done = 0;
        for at in commands {
            let command = &self.analysis.commands[at];
            let new = template.fill(&self.values_at(self.event, self.analysis, one, Some(at)));
            if new == command_text(self.analysis, command) {
                continue;
            }
            if command.quoted || command.span.start < done || command.span.end > text.len() {
                return Err(
                    "The command stands inside quotes, where it cannot be replaced: run it \
                            as a command of its own."
                        .into(),
                );
            }
            out.push_str(&text[done..command.span.start]);
            out.push_str(&new);
            done = command.span.end;
        }
        if done == 0 {
            return Ok(None);
        }
        out.push_str(&text[done..]);
        Ok(Some(out))
    }

    /// Changes to what the tool returned.
    pub(super) fn replace_result(&mut self, matches: &[Match<'_>], said: &[(&Rule, ScriptAnswer)]) {
        let looks_back = |one: &Match<'_>| one.rule.actions.iter().any(Action::is_of_the_response);
        let changes =
            matches.iter().any(looks_back) || said.iter().any(|(_, said)| said.response.is_some());
        let Some(old) = self.event.tool_response().filter(|_| changes) else { return };
        let mut new = old.clone();
        // Where one rule found no secret the next would find none.
        let clean = Cell::new(false);
        for one in by_authority(matches) {
            for (field, template) in one.rule.result_changes().into_iter().flatten() {
                let text = template.fill(&self.match_values(one));
                match &mut new {
                    Value::Object(map) => set_field(map, field, text),
                    other => *other = Value::String(text),
                }
            }
        }
        // Last, so that nothing which a rule put there brings back what another takes out.
        for one in by_authority(matches) {
            for action in &one.rule.actions {
                let Action::Redact(redact) = action else { continue };
                let secrets = *redact == Redact::Secrets;
                if clean.replace(secrets) && secrets {
                    continue;
                }
                each_string(&mut new, &|text| match redact {
                    Redact::Secrets => {
                        let masked = redact::mask_secrets(text);
                        clean.set(clean.get() && matches!(masked, Cow::Borrowed(_)));
                        masked.into_owned()
                    }
                    Redact::Patterns(patterns) => redact::mask_patterns(text, patterns),
                });
            }
        }
        if let Some(response) =
            said.iter().filter_map(|(_, said)| said.response.clone()).next_back()
        {
            new = response;
        }
        if new != *old {
            self.out.answer.response = Some(new);
        }
    }
}

/// The matches that count, those of the least authority first: what the last of them changes holds. Of equal ones
/// that is the first in its file.
fn by_authority<'m, 'r>(matches: &'m [Match<'r>]) -> Vec<&'m Match<'r>> {
    let mut ordered: Vec<&Match<'r>> = matches.iter().rev().filter(|m| !m.observed).collect();
    crate::order::sort_by_key(&mut ordered, |one| one.rule.authority());
    ordered
}
