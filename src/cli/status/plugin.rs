//! The plugin of Claude Code's that runs hookctl: is it on, and does the client find it?
//!
//! Where the client keeps its plugins was seen with version 2.1.329: `plugins/installed_plugins.json` names their directories, and
//! `plugins/known_marketplaces.json` the lists that they are from. A list that is a directory is read there at every start, and with
//! it the plugin; where it is gone, the client loads nothing and says so only in its log.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::file::FileReport;
use crate::agent::wiring::Scope;
use crate::cli::{Context, display_path};
use crate::files;

/// A plugin of ours that settings switch on.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Plugin {
    /// Its name and its list's: `hookctl@hookctl`.
    pub(super) name: String,
    pub(super) state: State,
}

/// Does its guard hold?
#[derive(Debug, PartialEq, Eq)]
pub(super) enum State {
    Loaded,
    /// That scope's settings switch it off again: the client lets a project do so.
    SwitchedOff(&'static str),
    /// The client does not load it: why.
    Gone(String),
}

/// The plugin that the user or the administrator switched on.
pub(super) fn find(context: &Context, all: &[FileReport]) -> Option<Plugin> {
    let (name, off) = enabled(all)?;
    let state = match off {
        Some(scope) => State::SwitchedOff(scope),
        None => {
            let user = all.iter().find(|file| file.scope == Scope::User.name())?;
            let plugins = user.file.with_file_name("plugins");
            match why_not_loaded(context, &plugins, &name) {
                Some(why) => State::Gone(why),
                None => State::Loaded,
            }
        }
    };
    Some(Plugin { name, state })
}

/// Its name, and the scope that switches it off again.
fn enabled(all: &[FileReport]) -> Option<(String, Option<&'static str>)> {
    let mut state: Option<(String, Option<&'static str>)> = None;
    for file in all.iter().filter(|file| file.exists) {
        let settings = read(&file.file);
        let plugins = settings.get("enabledPlugins").and_then(Value::as_object);
        for (name, on) in plugins.into_iter().flatten() {
            let ours = name.starts_with("hookctl@");
            match (&mut state, *on == Value::Bool(true)) {
                (None, true) if ours && matches!(file.scope, "managed" | "user") => {
                    state = Some((name.clone(), None));
                    if file.scope == Scope::Managed.name() {
                        return state;
                    }
                }
                (Some((known, off)), on) if known == name => *off = (!on).then_some(file.scope),
                _ => {}
            }
        }
    }
    state
}

/// What keeps the client from loading it.
fn why_not_loaded(context: &Context, plugins: &Path, name: &str) -> Option<String> {
    let (plugin, list) = name.split_once('@')?;
    let shown = |path: &Path| display_path(context, path);
    let installed = read(&plugins.join("installed_plugins.json"));
    let places = installed.pointer("/plugins").and_then(|all| all.get(name));
    let place = places.and_then(Value::as_array).and_then(|all| all.first());
    let Some(place) = place.and_then(|one| path_in(one, "installPath")) else {
        return Some(format!("it is not installed: `claude plugin install {name}`"));
    };
    let lists = read(&plugins.join("known_marketplaces.json"));
    let Some(known) = lists.get(list) else {
        return Some(format!("its list {list} is not known: `claude plugin marketplace add DIR`"));
    };
    let Some(from) = path_in(known, "installLocation").filter(|from| from.is_dir()) else {
        let from = path_in(known, "installLocation").unwrap_or_default();
        return Some(format!("its list {list} is not where it was: {}", shown(&from)));
    };
    let listed = read(&from.join(".claude-plugin/marketplace.json"));
    let all = listed.get("plugins").and_then(Value::as_array).into_iter().flatten();
    let Some(entry) = all.into_iter().find(|one| one.get("name") == Some(&plugin.into())) else {
        return Some(format!("its list {} does not name it", shown(&from)));
    };
    let live = known.pointer("/source/source") == Some(&"directory".into());
    let source = entry.get("source").and_then(Value::as_str).filter(|_| live);
    let hooks = source.map_or(place, |source| from.join(source)).join("hooks/hooks.json");
    let text = files::read_text(&hooks, files::LARGE).unwrap_or_default();
    (!text.contains("hook --agent claude --event PreToolUse"))
        .then(|| format!("{} has no hooks of hookctl's", shown(&hooks)))
}

fn path_in(object: &Value, key: &str) -> Option<PathBuf> {
    object.get(key)?.as_str().map(PathBuf::from)
}

/// JSON of the client's own; null where there is none.
fn read(file: &Path) -> Value {
    let text = files::read_text(file, files::LARGE).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}
