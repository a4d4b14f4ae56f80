//! `when`: the circumstances of a call, its keys, how they are read and when they hold.

use toml::Spanned;
use toml::de::DeValue;

use super::Subject;
use super::name::Name;
use crate::rule::path::{self, PathPattern};
use crate::rule::reader::Reader;
use crate::rule::{Command, PatternList, Truth};

/// The keys of `when` and what each means.
pub const WHEN_KEYS: &[(&str, &str)] = &[
    ("cwd", "path patterns over the session's directory"),
    ("project", "path patterns over the project's root"),
    ("permission_mode", "globs: default, plan, acceptEdits, bypassPermissions, dontAsk, auto"),
    ("source", "globs over SessionStart's and ConfigChange's source"),
    ("subagent", "true = called inside a subagent"),
    ("agent_type", "globs over the subagent's type"),
    ("trigger", "globs: manual, auto, init, maintenance"),
    ("notification_type", "globs over the notification's type"),
    ("success", "true = the tool succeeded"),
    ("stop_hook_active", "true = the agent goes on because of a stop hook already"),
    ("run", "a command: holds on exit 0; asked once per call"),
];

/// The circumstances of `when`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct When {
    /// Over the session's directory.
    pub cwd: PatternList<PathPattern>,
    /// Over the project's root.
    pub project: PatternList<PathPattern>,
    /// Globs over string fields of the payload: the field's name and its globs.
    pub fields: Vec<(&'static str, PatternList<Name>)>,
    /// Called inside a subagent?
    pub subagent: Option<bool>,
    /// Did the tool succeed?
    pub success: Option<bool>,
    /// Going on because of a stop hook already?
    pub stop_hook_active: Option<bool>,
    /// Holds when this exits 0: the caller asks it.
    pub run: Option<Command>,
}

impl When {
    pub(super) fn read(&mut self, value: &Spanned<DeValue<'_>>, r: &mut Reader<'_>) {
        let Some(table) = r.table(value, "when") else { return };
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "cwd" => self.cwd = r.paths(value),
                "project" => self.project = r.paths(value),
                "permission_mode" => self.field("permission_mode", value, r),
                "source" => self.field("source", value, r),
                "agent_type" => self.field("agent_type", value, r),
                "trigger" => self.field("trigger", value, r),
                "notification_type" => self.field("notification_type", value, r),
                "subagent" => self.subagent = r.boolean(value),
                "success" => self.success = r.boolean(value),
                "stop_hook_active" => self.stop_hook_active = r.boolean(value),
                "run" => self.run = r.command(value),
                other => r.unknown_key(other, key.span(), WHEN_KEYS.iter().map(|(k, _)| *k)),
            }
        }
    }

    fn field(&mut self, name: &'static str, value: &Spanned<DeValue<'_>>, r: &mut Reader<'_>) {
        let names = r.names(value);
        self.fields.push((name, names));
    }

    pub(super) fn holds(&self, s: &Subject<'_>) -> bool {
        let event = s.event;
        let place = |patterns: &PatternList<PathPattern>, dir: &str| {
            patterns.is_empty() || {
                let target = path::exact(dir);
                patterns.hit(&target, s.bases) == Truth::Yes
            }
        };
        place(&self.cwd, &event.cwd)
            && place(&self.project, s.project)
            && self
                .fields
                .iter()
                .all(|(field, names)| event.str(field).is_some_and(|text| names.holds(text)))
            && self.subagent.is_none_or(|inside| event.str("agent_id").is_some() == inside)
            && self.success.is_none_or(|wanted| event.success() == Some(wanted))
            && self.stop_hook_active.is_none_or(|wanted| event.stop_hook_active() == wanted)
    }
}
