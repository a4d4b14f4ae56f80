//! What rules tell beside their verdicts: texts for the model and the human, variables for the
//! agent's later commands.

use std::path::Path;

use super::Judge;
use crate::desktop;
use crate::engine::Match;
use crate::files;
use crate::limits;
use crate::once::Claim;
use crate::rule::{Action, Template, Text};
use crate::text::quote_for_shell;
use crate::trust;

impl Judge<'_> {
    /// Plain texts for the model and the human, and variables for later commands.
    pub(super) fn add_messages(&mut self, matches: &[Match<'_>]) {
        for one in matches.iter().filter(|one| !one.observed) {
            for action in &one.rule.actions {
                self.tell_one(one, action);
            }
        }
    }

    fn tell_one(&mut self, one: &Match<'_>, action: &Action) {
        match action {
            Action::Context(Text::Plain(text)) => {
                let text = text.fill_for_reader(&self.match_values(one));
                self.out.answer.context.push(text);
            }
            Action::Context(Text::File(path)) => {
                let path = Path::new(&self.place.project).join(path);
                let root = Path::new(&self.place.project);
                // What a project names must be its own, links followed.
                let own = !one.rule.layer().is_project() || trust::stays_in(root, &path);
                let read = match own {
                    true => files::read_head(&path, limits::CONTEXT as u64)
                        .map_err(|refusal| refusal.describe_for(&path)),
                    false => Err(format!("{} leads out of the project", path.display())),
                };
                match read {
                    Ok(bytes) => {
                        let text = String::from_utf8_lossy(&bytes).into_owned();
                        self.out.answer.context.push(text);
                    }
                    Err(why) => {
                        self.out.notes.push(format!("{}: {why}", one.rule.qualified_name()));
                    }
                }
            }
            Action::Notify(Text::Plain(text)) => {
                let text = text.fill_for_reader(&self.match_values(one));
                self.show_on_desktop(&text);
                self.out.answer.notice.push(format!("{text} [{}]", one.rule.qualified_name()));
            }
            Action::Suppress => self.out.answer.suppress = true,
            Action::Env(variables) if !self.is_dry() => self.write_env(one, variables),
            _ => {}
        }
    }

    /// Shows the text on the human's desktop, once for all registrations of hookctl and all operations of a call.
    fn show_on_desktop(&self, text: &str) {
        if self.is_dry() || self.world.notifiers.is_empty() {
            return;
        }
        let claim = self.claim_once("desktop", &[text]);
        if let Claim::First(_) = claim {
            desktop::show_notification(self.world.notifiers, text);
            claim.finish(&[]);
        }
    }

    fn write_env(&mut self, one: &Match<'_>, variables: &[(String, Template)]) {
        use std::io::Write as _;
        let Some(path) = crate::env::get_path(crate::env::CLAUDE_ENV_FILE) else { return };
        let mut lines = String::new();
        for (name, value) in variables {
            let value = value.fill(&self.match_values(one));
            lines.push_str(&format!("export {name}={}\n", quote_for_shell(&value)));
        }
        let written =
            files::open_to_append(&path).and_then(|mut file| file.write_all(lines.as_bytes()));
        if let Err(error) = written {
            self.out.notes.push(format!("{}: env file: {error}", one.rule.qualified_name()));
        }
    }
}
