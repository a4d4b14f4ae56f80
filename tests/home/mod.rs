//! hookctl as agents start it: a home of its own, with or without files of the user's.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

#[path = "../common/system.rs"]
pub mod system;

/// A home with an empty project and that `config.toml`.
pub fn make(config: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("project")).unwrap();
    put(dir.path(), "config.toml", config);
    dir
}

/// Writes a file of the user's config directory.
pub fn put(home: &Path, name: &str, text: &str) {
    let dir = home.join(".config/hookctl");
    fs::create_dir_all(&dir).unwrap();
    let file = dir.join(name);
    fs::write(&file, text).unwrap();
    system::set_mode(&file, 0o600);
}

/// hookctl in that home's project, its streams piped.
pub fn command(home: &Path, args: &[&str]) -> Command {
    let mut command = system::hookctl(env!("CARGO_BIN_EXE_hookctl"), home);
    command
        .args(args)
        .env_remove("CLAUDE_PROJECT_DIR")
        .current_dir(home.join("project"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}
