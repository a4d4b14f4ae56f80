//! Which hookctl runs, where there are several programs.

use std::path::{Path, PathBuf};

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
    let runs = |file: &PathBuf| is_executable(file) && !is_launcher(file);
    for other in found.chain(registered.map(PathBuf::from)).filter(runs) {
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

/// Is it the launcher of our own npm package, or what pnpm puts before that? The program that it starts is another file.
fn is_launcher(file: &Path) -> bool {
    const LAUNCHER: &str = "hookctl/bin/hookctl.js";
    let Ok(real) = files::real_path(file) else { return false };
    real.ends_with(LAUNCHER)
        || files::read_head(&real, files::SMALL).is_ok_and(|head| {
            head.starts_with(b"#!") && String::from_utf8_lossy(&head).contains(LAUNCHER)
        })
}
