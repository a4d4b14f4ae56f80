//! Words that nothing describes: what looks like a path is one.

use super::Call;
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::host::{connection_host, host_of};
use crate::effect::path::{self, is_below, split};
use crate::effect::value::{Value, looks_like_path};
use crate::effect::{Extent, Grade, Source, Target, Word};
use crate::limits;
use crate::names::handed::{CROWDED, CROWDED_IN};

/// Why no allow covers such a call.
const HANDED: &str = "a directory of the system or a home that a program is handed";

/// A program that no table describes: words that look like paths are read, and maybe written.
pub fn emit_opaque(out: &mut Emitter, call: &Call) {
    for found in &call.parsed.options {
        if let Some(value) = &found.value {
            maybe_path(out, value);
            out.emit_risked_write(value);
        } else if !found.name.starts_with("--")
            && found.name.len() > 2
            && let Some(slash) = found.name.find('/')
            && let Some(arg) = call.args.get(found.at)
        {
            // `-o/etc/x`: the value is glued to an option that nobody knows.
            maybe_path(out, &arg.skip_bytes(slash));
            out.emit_risked_write(&arg.skip_bytes(slash));
        }
    }
    for at in &call.parsed.operands[call.parsed.subs..] {
        maybe_path(out, &call.args[*at]);
        out.emit_risked_write(&call.args[*at]);
    }
}

/// An unknown program may write what it is given.
fn possible_write(out: &mut Emitter, value: &Value, extent: Extent) {
    if let Spot::At(target) = out.locate_value(value, extent, true) {
        let span = value.span.clone();
        out.push_effect(Word::Write, Grade::Possible, Some(target), None, Source::Operand, span);
    }
}

/// Is it such a directory? Whoever is only handed that is told of no file in it.
pub fn emit_handed(out: &mut Emitter, value: &Value) -> bool {
    let target = out.locate_exact(value).filter(|target| is_crowded(out, target));
    if target.is_some() {
        out.operand(Word::Read, value);
        out.emit_uncovered(HANDED, value.span.clone());
    }
    target.is_some()
}

/// Does so much lie in that directory that whoever names it means none of it: the system's own, a home, what holds one or
/// the project?
fn is_crowded(out: &mut Emitter, target: &Target) -> bool {
    let (home, cwd) = (out.place.home.as_str(), out.place.cwd.as_str());
    let crowded = |path: &String| {
        let path = path.strip_prefix("/private").filter(|p| !p.is_empty()).unwrap_or(path);
        let own = path::behind(path, home).map(|own| own.trim_start_matches('/'));
        path.matches('/').count() < 2
            || CROWDED_IN.contains(&split(path).0)
            || path::behind(home, path).is_some()
            || is_below(cwd, path)
            || own.is_some_and(|own| CROWDED.contains(&own))
    };
    target.extent == Extent::Exact
        && [&target.lexical, &target.resolved].into_iter().all(crowded)
        && out.resolver.is_dir(&target.resolved)
}

/// A URL that is contacted, a path that is read, or a name.
pub(super) fn emit_source(out: &mut Emitter, value: &Value) {
    let text = value.known_start();
    if text.contains("://") {
        return out.emit_contact(value, false, Source::Operand);
    }
    if let Some(host) = value.text().and_then(connection_host) {
        let host = Value::known(host, value.span.clone());
        return out.emit_contact(&host, false, Source::Operand);
    }
    let here = text.len() < limits::NAME_MAX
        && !text.is_empty()
        && out.cwd.clone().is_some_and(|cwd| out.resolver.exists(&path::join(&cwd, text)));
    if text != "-" && (looks_like_path(text) || here) {
        out.operand_tree(Word::Read, value);
    }
}

/// The file of which a test runner picks some tests: `a.py::T`, `a.rb:42`, `a.rb:42:50`.
pub(super) fn without_selection(value: &Value) -> Value {
    let lines = |from: &str| from.bytes().all(|b| b.is_ascii_digit() || b == b':');
    let text = value.text().unwrap_or_default();
    let end = text.find("::").or_else(|| text.find(':').filter(|at| lines(&text[*at..])));
    match end {
        Some(end) if end > 0 => value.map(|text| text[..end].to_string()),
        _ => value.clone(),
    }
}

/// Read, if it looks like a path; `key=path` and `--key=path` name it as well.
pub fn maybe_read(out: &mut Emitter, value: &Value) {
    let value = &without_selection(value);
    let path = match value.text() {
        Some(text) if text.contains("://") => return maybe_path(out, value),
        Some(text) => match text.split_once('=') {
            Some((key, rest)) if !key.contains('/') && looks_like_path(rest) => {
                Value::known(rest, value.span.clone())
            }
            // Go's `./...`: everything below.
            _ if looks_like_path(text) => match text.strip_suffix("/...") {
                Some(dir) => Value::known(dir, value.span.clone()),
                None => value.clone(),
            },
            _ => return,
        },
        None => value.clone(),
    };
    if !emit_handed(out, &path) {
        out.emit_path(Word::Read, &path, Extent::Visible, Grade::Certain, Source::Operand);
    }
}

/// Read for certain, written possibly, if it looks like a path or is one.
pub fn maybe_path(out: &mut Emitter, value: &Value) {
    if value.is_pipe() {
        return;
    }
    let Some(text) = value.text() else {
        if value.prefix().is_some_and(|p| p.starts_with('-')) {
            return;
        }
        out.operand(Word::Read, value);
        if value.prefix().is_some() {
            possible_write(out, value, Extent::Below);
        }
        return;
    };
    if text.contains("://") {
        if !text.contains([' ', '\n']) && host_of(value).is_some() {
            out.push_effect(
                Word::Network,
                Grade::Possible,
                None,
                host_of(value),
                Source::Operand,
                value.span.clone(),
            );
        }
        return;
    }
    let shaped = looks_like_path(text)
        || (!text.is_empty()
            && text.len() < limits::NAME_MAX
            && !text.contains([' ', '\n', ':'])
            && out.cwd.clone().is_some_and(|cwd| out.resolver.exists(&path::join(&cwd, text))));
    if shaped {
        // `key=path` names the path as well.
        let value = match text.split_once('=') {
            Some((key, rest)) if !key.contains('/') && looks_like_path(rest) => {
                Value::known(rest, value.span.clone())
            }
            _ => value.clone(),
        };
        if emit_handed(out, &value) {
            return;
        }
        let extent = match out.locate_value(&value, Extent::Exact, false) {
            Spot::At(target)
                if target.extent == Extent::Exact && out.resolver.is_dir(&target.resolved) =>
            {
                Extent::Tree
            }
            _ => Extent::Exact,
        };
        out.emit_path(Word::Read, &value, extent, Grade::Certain, Source::Operand);
        possible_write(out, &value, extent);
    }
}
