//! What a server's table names beside itself: files and commands.

use std::path::PathBuf;

use toml::Spanned;
use toml::de::DeValue;

use crate::act;
use crate::rule::reader::Reader;

/// A command. A relative program is meant from the file's directory; a project's file has to say where.
pub(super) fn command(value: &Spanned<DeValue<'_>>, r: &mut Reader<'_>) -> Option<String> {
    let (text, span) = r.string(value)?;
    if text.trim().is_empty() {
        r.fault("empty-command", "the command is empty".into(), None, span);
        return None;
    }
    match &r.base {
        Some(base) => Some(act::with_base(&text, base)),
        None if text.starts_with('.') => {
            let message = format!("`{text}` is no absolute path");
            r.fault("bad-path", message, Some("begin it with / or ~/".into()), span);
            None
        }
        None => Some(text),
    }
}

/// A path: absolute, below the home directory, or beside the file.
pub(super) fn path(value: &Spanned<DeValue<'_>>, r: &mut Reader<'_>) -> Option<PathBuf> {
    let (text, span) = r.string(value)?;
    let path = PathBuf::from(&text);
    if path.is_absolute() || text.starts_with("~/") {
        return Some(path);
    }
    match &r.base {
        Some(base) if !text.is_empty() => Some(base.join(path)),
        _ => {
            let message = format!("`{text}` is no absolute path");
            r.fault("bad-path", message, Some("begin it with / or ~/".into()), span);
            None
        }
    }
}
