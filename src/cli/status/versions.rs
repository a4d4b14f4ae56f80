//! Which hookctl runs: one of several programs, or the one that a plugin finds.

use std::path::PathBuf;

use serde_json::Value;

use super::agents::program_version;
use super::file::FileReport;
use crate::cli::{Context, display_path};
use crate::env;
use crate::files;
use crate::settings::hooks::PROGRAM;
use crate::settings::program::is_executable;

/// Other programs of our name, in PATH or in settings, that are not the same as this one. `ask`: for their versions.
pub(super) fn other_programs(context: &Context, all: &[FileReport], ask: bool) -> Vec<String> {
    let Ok(this) = std::env::current_exe().and_then(|this| files::real_path(&this)) else {
        return Vec::new();
    };
    let dirs = env::get_path(env::PATH).unwrap_or_default();
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let found = std::env::split_paths(&dirs).map(|dir| dir.join(&name));
    let registered = all.iter().filter_map(|file| file.binary.as_ref()).map(|one| &one.path);
    let mut others: Vec<PathBuf> = Vec::new();
    for other in found.chain(registered.map(PathBuf::from)).filter(|file| is_executable(file)) {
        let Ok(other) = files::real_path(&other) else { continue };
        let same = || match (files::read(&this, files::LONG), files::read(&other, files::LONG)) {
            (Ok(a), Ok(b)) => a == b,
            _ => false,
        };
        if other != this && !others.contains(&other) && !same() {
            others.push(other);
        }
    }
    let version = |path: &PathBuf| path.to_str().filter(|_| ask).and_then(program_version);
    let tell = |path: &PathBuf| {
        let version = version(path).map(|says| format!(" ({says})")).unwrap_or_default();
        format!(
            "another hookctl{version} is {}; this one ({}) is {}",
            display_path(context, path),
            env!("CARGO_PKG_VERSION"),
            display_path(context, &this)
        )
    };
    others.iter().map(tell).collect()
}

/// The plugin of Claude Code's that the user or the administrator switched on, and the scope that switches it off again:
/// the client lets a project do that.
pub(super) fn enabled_plugin(all: &[FileReport]) -> Option<(String, Option<&'static str>)> {
    let mut state: Option<(String, Option<&'static str>)> = None;
    for file in all.iter().filter(|file| file.exists) {
        let text = files::read_text(&file.file, files::LARGE).unwrap_or_default();
        let settings: Value = serde_json::from_str(&text).unwrap_or_default();
        let plugins = settings.get("enabledPlugins").and_then(Value::as_object);
        for (name, on) in plugins.into_iter().flatten() {
            let ours = name.starts_with("hookctl@");
            match (&mut state, *on == Value::Bool(true)) {
                (None, true) if ours && matches!(file.scope, "managed" | "user") => {
                    state = Some((name.clone(), None));
                    if file.scope == "managed" {
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
