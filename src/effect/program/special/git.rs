//! Settings of git: some name programs, or shell text.

use super::super::effects::Call;
use super::super::table::mark;
use crate::effect::value::{Emitter, Value};
use crate::effect::{Extent, Grade, Word};

/// Settings of git that name programs, or shell text.
pub fn executes(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.starts_with("core.")
        && !matches!(
            key.as_str(),
            "core.quotepath"
                | "core.autocrlf"
                | "core.filemode"
                | "core.ignorecase"
                | "core.bare"
                | "core.abbrev"
                | "core.eol"
                | "core.safecrlf"
                | "core.longpaths"
        )
        || key.starts_with("alias.")
        || key.starts_with("include")
        || key.starts_with("protocol.")
        || key.starts_with("url.")
        || [
            "command",
            "cmd",
            "helper",
            "program",
            "editor",
            "pager",
            "driver",
            "textconv",
            "clean",
            "smudge",
            "process",
            "path",
            "proxy",
            "hookspath",
            "external",
            "askpass",
            "uploadpack",
            "receivepack",
            "vcs",
            "tool",
        ]
        .iter()
        .any(|tail| key.ends_with(tail))
        || key.starts_with("pager.")
}

/// `git -c key=value` and `git clone -c`: some keys name programs.
pub fn git_settings(out: &mut Emitter, call: &Call) {
    for option in &call.parsed.options {
        if !(option.name == "-c" || option.name == "--config" || option.name == "--config-env")
            || option.spec.is_none_or(|s| s.marks & mark::SPARE == 0)
        {
            continue;
        }
        let Some(value) = &option.value else { continue };
        let harmless = value.plain().is_some_and(|text| {
            let (key, set) = text.split_once('=').unwrap_or((text, "true"));
            !executes(key)
                || key.eq_ignore_ascii_case("core.pager") && matches!(set, "cat" | "" | "less")
                || key.to_ascii_lowercase().starts_with("pager.") && matches!(set, "false" | "cat")
        });
        if !harmless {
            out.unknown("a git setting that can name a program", value.span.clone());
        }
    }
}

/// `git config`: which file is written, and whether the key can name a program.
pub fn git_config(out: &mut Emitter, call: &Call, values: &[Value]) {
    let global = call.parsed.option("--global").is_some();
    let reading = ["--get", "--get-all", "--get-regexp", "--list", "-l"]
        .iter()
        .any(|n| call.parsed.option(n).is_some())
        || values.len() < 2 && call.parsed.option("--unset").is_none()
        || values.first().and_then(Value::plain).is_some_and(|v| matches!(v, "get" | "list"));
    if reading {
        return;
    }
    let home = out.place.home.clone();
    let project = out.place.project.clone();
    let file = if call.parsed.option("--system").is_some() {
        "/etc/gitconfig".to_string()
    } else if global {
        format!("{home}/.gitconfig")
    } else {
        format!("{project}/.git/config")
    };
    out.own_path(Word::Write, &file, Extent::Exact, Grade::Certain, call.span.clone());
    match values.iter().find(|v| v.plain() != Some("set")).map(Value::plain) {
        Some(Some(key)) if !executes(key) => {}
        _ => out.unknown("a git setting that can name a program", call.span.clone()),
    }
}
