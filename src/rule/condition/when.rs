//! `when`: the circumstances of a call, its keys, how they are read and when they hold.

use std::ops::Deref;
use std::path::Path;

use super::name::NamePattern;
use super::{Key, Sort, Subject, Value};
use crate::agent;
use crate::files;
use crate::marks::{Mark, Marks};
use crate::rule::path::{self, PathList};
use crate::rule::reader::{Item, Reader};
use crate::rule::{Command, PatternList, Truth};

/// The keys of `when`. Those that are set to names are fields of the payload.
pub const WHEN_KEYS: &[Key] = &[
    make_key("cwd", Sort::Paths, "path patterns over the session's directory"),
    make_key("project", Sort::Paths, "path patterns over the project's root"),
    make_key(
        "permission_mode",
        Sort::Names,
        "globs: default, plan, acceptEdits, bypassPermissions, dontAsk, auto",
    ),
    make_key("source", Sort::Names, "globs over SessionStart's and ConfigChange's source"),
    make_key("subagent", Sort::Flag, "true = called inside a subagent"),
    make_key("agent_type", Sort::Names, "globs over the subagent's type"),
    make_key("trigger", Sort::Names, "globs: manual, auto, init, maintenance"),
    make_key("notification_type", Sort::Names, "globs over the notification's type"),
    make_key(
        "success",
        Sort::Flag,
        "true = the tool succeeded, false = it failed; neither where nothing tells",
    ),
    make_key(
        "stop_hook_active",
        Sort::Flag,
        "true = the agent goes on because of a stop hook already",
    ),
    make_key("remote", Sort::Flag, "true = the agent says that it runs on its provider's machine"),
    make_key(
        "session",
        Sort::Marks,
        "marks of the session that all stand: private, untrusted, sent",
    ),
    make_key("run", Sort::Command, "a command: holds on exit 0; asked once per call"),
];

const fn make_key(name: &'static str, sort: Sort, doc: &'static str) -> Key {
    Key { name, doc, sort }
}

/// The circumstances of `when`, which few rules name: they are half as long as all else of a rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct OptionalWhen(Option<Box<When>>);

impl Deref for OptionalWhen {
    type Target = When;

    fn deref(&self) -> &When {
        self.0.as_deref().unwrap_or(&UNSAID)
    }
}

static UNSAID: When = When {
    cwd: PathList::EMPTY,
    project: PathList::EMPTY,
    fields: Vec::new(),
    subagent: None,
    success: None,
    stop_hook_active: None,
    remote: None,
    session: Marks::NONE,
    run: None,
};

/// The circumstances themselves.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct When {
    /// Over the session's directory.
    pub cwd: PathList,
    /// Over the project's root.
    pub project: PathList,
    /// Globs over string fields of the payload: the field's name and its globs.
    pub fields: Vec<(&'static str, PatternList<NamePattern>)>,
    /// Called inside a subagent?
    pub subagent: Option<bool>,
    /// Did the tool succeed?
    pub success: Option<bool>,
    /// Going on because of a stop hook already?
    pub stop_hook_active: Option<bool>,
    /// On a machine of the agent's provider?
    pub remote: Option<bool>,
    /// These marks of the session all stand.
    pub session: Marks,
    /// Holds when this exits 0: the caller asks it.
    pub run: Option<Command>,
}

impl Value for OptionalWhen {
    const SORT: Sort = Sort::Circumstances;

    fn read(value: &Item<'_>, r: &mut Reader<'_>) -> OptionalWhen {
        let mut when = Box::<When>::default();
        let Some(table) = r.table(value, "when") else { return OptionalWhen(None) };
        for (key, value) in table {
            let name = key.get_ref();
            match (name, WHEN_KEYS.iter().find(|known| known.name == name)) {
                ("cwd", _) => when.cwd = r.paths(value),
                ("project", _) => when.project = r.paths(value),
                ("subagent", _) => when.subagent = r.boolean(value),
                ("success", _) => when.success = r.boolean(value),
                ("stop_hook_active", _) => when.stop_hook_active = r.boolean(value),
                ("remote", _) => when.remote = r.boolean(value),
                ("session", _) => when.session = read_marks(value, r),
                ("run", _) => when.run = r.command(value),
                (_, Some(field)) => when.fields.push((field.name, r.names(value))),
                (_, None) => r.unknown_key(name, key.span(), WHEN_KEYS.iter().map(|key| key.name)),
            }
        }
        OptionalWhen((*when != UNSAID).then_some(when))
    }

    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.0.is_none()
    }
}

/// Reads words of marks.
pub fn read_marks(value: &Item<'_>, r: &mut Reader<'_>) -> Marks {
    let mut marks = Vec::new();
    for (text, span) in r.strings(value) {
        match Mark::NAMES.iter().find(|(name, _)| *name == text) {
            Some((_, mark)) => marks.push(*mark),
            None => r.unknown_word("mark", &text, span, Mark::NAMES.iter().map(|(name, _)| *name)),
        }
    }
    marks.into_iter().collect()
}

impl When {
    /// `stops`: for a rule that stops calls a directory counts under its real name as well.
    pub(super) fn is_met(&self, s: &Subject<'_>, stops: bool) -> bool {
        let event = s.event;
        let place = |patterns: &PathList, dir: &str| {
            let holds =
                |dir: &str| patterns.match_target(&path::exact_target(dir), s.bases) == Truth::Yes;
            let real = || files::real_path(Path::new(dir)).ok();
            patterns.is_empty()
                || holds(dir)
                || stops && real().is_some_and(|dir| dir.to_str().is_some_and(holds))
        };
        place(&self.cwd, &event.cwd)
            && place(&self.project, &s.place.project)
            && self.fields.iter().all(|(field, names)| {
                event.str_field(field).is_some_and(|text| names.matches_name(text))
            })
            && self.subagent.is_none_or(|inside| event.str_field("agent_id").is_some() == inside)
            && self.success.is_none_or(|wanted| agent::tool_succeeded(event) == Some(wanted))
            && self.stop_hook_active.is_none_or(|wanted| event.stop_hook_active() == wanted)
            && self.remote.is_none_or(|wanted| s.place.is_remote() == wanted)
            // A file is read for it.
            && (self.session.is_empty() || self.session.without(s.place.standing_marks()).is_empty())
    }
}
