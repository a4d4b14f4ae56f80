//! The hooks of Claude Code's settings files, run for agents that do not run them themselves: which of
//! them the event is for, and what each becomes for `sh -c`.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Judge, is_first_warning};
use crate::act::{self, Job};
use crate::agent;
use crate::event::Kind;
use crate::rule::Rule;
use crate::rule::condition::{NamePattern, Permission};
use crate::script::Dialect;
use crate::script::settings::{self, HookEntry};
use crate::trust::Store;
use crate::trust::hooks::{HookFile, HookFileContent};

/// What settings files have to run for an event.
#[derive(Default)]
pub(super) struct EventHooks {
    pub(super) jobs: Vec<Job>,
    /// Why a file, or a part of it, says nothing although it might.
    pub(super) failures: Vec<String>,
}

impl Judge<'_> {
    /// The hooks of these files for the event, but for those that are among the jobs already. Claude Code runs its own.
    pub(super) fn settings_jobs(
        &mut self,
        rule: &Rule,
        files: &[String],
        limit: Option<Duration>,
        known: &[&Job],
    ) -> EventHooks {
        let mut found = EventHooks::default();
        if self.is_of_claude() || self.event.kind == Kind::Other {
            return found;
        }
        for written in files {
            let home = Path::new(&self.place.home);
            let file =
                HookFile::locate(written, rule.layer(), home, Path::new(&self.place.project));
            match file.read(|| Store::load(&self.world.paths.trust())) {
                Ok(HookFileContent::Text(text)) => {
                    self.add_hooks(rule, &file, &text, limit, known, &mut found);
                }
                Ok(HookFileContent::Absent) => {}
                Ok(HookFileContent::Untrusted) => self.warn_of_untrusted(&file),
                Err(why) => {
                    found.failures.push(format!("{why}; mend it, or take it out of the rule"))
                }
            }
        }
        found
    }

    fn warn_of_untrusted(&mut self, file: &HookFile) {
        let warning = format!(
            "hookctl: nobody has approved the hooks of {} as they are now, so none of them runs. \
             `hookctl trust` shows them.",
            file.path.display()
        );
        if self.is_dry() {
            self.out.notes.push(warning);
        } else if is_first_warning(self.world.paths, self.event, &warning) {
            self.out.answer.notice.push(warning);
        }
    }

    fn add_hooks(
        &mut self,
        rule: &Rule,
        file: &HookFile,
        text: &str,
        limit: Option<Duration>,
        known: &[&Job],
        found: &mut EventHooks,
    ) {
        let path = file.path.display();
        let hooks = match settings::read_hooks(text, &self.place.project) {
            Ok(hooks) => hooks,
            Err(why) => return found.failures.push(format!("{path} {why}; mend it")),
        };
        let event = self.event.kind.name();
        for (_, why) in hooks.broken.iter().filter(|(of, _)| of == event) {
            found.failures.push(format!("{path}, hooks of {event}: {why}; mend it"));
        }
        for (_, why) in hooks.skipped.iter().filter(|(of, _)| of == event) {
            let note = format!("{}: {path}, hooks of {event}: {why}", rule.qualified_name());
            self.out.notes.push(note);
        }
        for entry in hooks.entries.iter().filter(|entry| entry.event == event) {
            if self.is_meant(entry) {
                let job = self.hook_job(entry, file, limit);
                let place =
                    |one: &Job| (one.script.clone(), one.dir.clone(), one.background.clone());
                let same = |one: &Job| place(one) == place(&job);
                // The client runs equal commands once, whatever groups and files they stand in.
                if !known.iter().copied().chain(&found.jobs).any(same) {
                    found.jobs.push(job);
                }
            }
        }
    }

    /// Do matcher and `if` hold for the event?
    fn is_meant(&self, entry: &HookEntry) -> bool {
        let spec = agent::default_agent().event_spec(self.event.kind);
        let matched = spec.and_then(|spec| spec.matched).is_none_or(|field| {
            let value = match (field, self.event.kind) {
                ("tool_name", _) => self.event.tool.as_str(),
                (field, kind) => {
                    let value = self.event.str_field(field).unwrap_or_default();
                    let name = value.rsplit(['/', '\\']).next();
                    name.filter(|_| kind == Kind::FileChanged).unwrap_or(value)
                }
            };
            NamePattern::matcher_holds(&entry.matcher, value)
        });
        let subject = self.rule_context(self.event, self.analysis).subject;
        matched
            && entry.condition.as_ref().is_none_or(|line| Permission::filter_holds(line, &subject))
    }

    fn hook_job(&self, entry: &HookEntry, file: &HookFile, limit: Option<Duration>) -> Job {
        // What a project's commands run was pinned at its root; all others start where the session is.
        let dirs = match file.of_project {
            true => [&self.place.project, &self.place.project],
            false => [&self.place.cwd, &self.place.project],
        };
        let dir = dirs.into_iter().map(PathBuf::from).find(|dir| dir.is_dir());
        let spec = agent::default_agent().event_spec(self.event.kind);
        let usual = spec.map_or(act::DEFAULT_LIMIT, |spec| spec.patience);
        let own = entry.limit.unwrap_or(usual);
        let stdin = self.script_stdin(Dialect::Claude);
        let spilled = || self.spill_value("stdin", &String::from_utf8_lossy(&stdin));
        let background = entry.background.then(spilled).flatten().map(PathBuf::from);
        let project = ("CLAUDE_PROJECT_DIR".to_string(), self.place.project.clone());
        Job {
            script: entry.script.clone(),
            environment: None,
            variables: std::iter::once(project).chain(self.event_variables()).collect(),
            dir: dir.unwrap_or_else(|| PathBuf::from("/")),
            limit: limit.map_or(own, |limit| limit.min(own)),
            background,
            stdin,
        }
    }
}
