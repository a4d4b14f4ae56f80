//! What a server's table names beside itself: files and commands.

use std::path::PathBuf;

use crate::act;
use crate::rule::reader::{Item, Reader};

/// A command; a relative program is meant from the file's directory. A project's file has none: what was
/// read when it was trusted would say nothing of what the command runs later.
pub(super) fn read_command(value: &Item<'_>, r: &mut Reader<'_>) -> Option<String> {
    let (text, span) = r.string(value)?;
    if text.trim().is_empty() {
        r.add_error("empty-command", "the command is empty", span);
        return None;
    }
    match r.directory_of_file() {
        Some(base) => Some(act::with_base(&text, &base)),
        None => {
            let message = "a project's file names no command for a secret".to_string();
            r.add_error("bad-remote", message, span)
                .with_hint("write the server into your own file");
            None
        }
    }
}

/// A path: absolute, below the home directory, or beside the file.
pub(super) fn read_path(value: &Item<'_>, r: &mut Reader<'_>) -> Option<PathBuf> {
    let (text, span) = r.string(value)?;
    let path = PathBuf::from(&text);
    if path.is_absolute() || text.starts_with("~/") {
        return Some(path);
    }
    match r.directory_of_file() {
        Some(base) if !text.is_empty() => Some(base.join(path)),
        _ => {
            let message = format!("`{text}` is no absolute path");
            r.add_error("bad-path", message, span).with_hint("begin it with / or ~/");
            None
        }
    }
}
