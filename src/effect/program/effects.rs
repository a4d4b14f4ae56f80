//! What operands and options come to by the roles of a row.

use super::table::mark;
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Target, Word, look};

pub use super::call::{Call, Next};

mod manifest;
mod maybe;
mod operand;

pub use manifest::emit_writes;
pub use maybe::emit_opaque;
pub use maybe::{emit_handed, maybe_path};
pub use operand::{
    emit_message, emit_operands, emit_role, is_directory, is_held_address, is_message, join_words,
    keep_words_apart,
};

/// An option that leads out of the project (`make -C /srv`) is not what an allow on the bare program
/// means.
pub fn emit_elsewhere(out: &mut Emitter, call: &Call) {
    let dir = out.cwd.clone().and_then(|dir| out.locate_exact(&Value::known(dir, 0..0)));
    if dir.is_some_and(|dir| !out.is_elsewhere(&dir)) {
        return;
    }
    let Some(command) = out.own_command() else {
        return;
    };
    for (public, found) in command.options.iter_mut().zip(&call.parsed.options) {
        public.harmless &= found.spec.is_none_or(|spec| spec.marks & mark::CHDIR == 0);
    }
}

/// The shell puts names of files where a glob stands, and one may be an option: `npm test *` beside a file
/// `--script-shell=sh`. Whoever allowed the command did not mean that one.
pub fn emit_globbed_options(out: &mut Emitter, call: &Call) {
    let may = |value: &&Value| value.is_glob() && value.known_start().starts_with(['*', '?', '[']);
    for value in call.args.iter().filter(may) {
        // What lies deeper begins with its directory.
        let first = value.known_start().split('/').next().unwrap_or_default().to_string();
        let names = Value::glob(first, value.span.clone());
        let Spot::At(target) = out.locate_value(&names, Extent::Glob, false) else { continue };
        let is_option = |file: &Target| {
            file.lexical.rsplit('/').next().is_some_and(|name| name.starts_with('-'))
        };
        if look::expand_glob(&target).is_some_and(|files| files.iter().any(is_option)) {
            out.emit_uncovered("the name of a file is an option", value.span.clone());
        }
    }
}

/// Does data leave?
pub fn sends_data(call: &Call) -> bool {
    // With -G curl's data is the query of a GET; the content of a file leaves all the same.
    let file = |v: &Value| v.text().is_none_or(|t| t.contains('@'));
    let query = call.name == "curl"
        && call.has("-G")
        && !call.parsed.options.iter().any(|o| o.value.as_ref().is_some_and(file));
    // With nothing on standard input it only shakes hands.
    let silent = !call.fed && call.parsed.program.is_some_and(|p| p.name == "openssl s_client");
    call.parsed.has_mark(mark::SEND) && !query || has_effect(call, Word::Send) && !silent
}

/// Does the row, or what it says of the first operands, name that effect?
pub fn has_effect(call: &Call, word: Word) -> bool {
    call.parsed.program.is_some_and(|p| p.effects.contains(&word))
        || call.parsed.verb.as_ref().is_some_and(|verb| verb.contains(&word))
}

/// A file is written; below `/dev` that is the machine's own state.
pub fn emit_file_write(out: &mut Emitter, value: &Value) {
    let from = out.analysis.effects.len();
    out.operand(Word::Write, value);
    let disk = out.analysis.effects.get(from).and_then(|e| e.path.as_ref());
    let is_device = |path: &str| path.starts_with("/dev/");
    if disk.is_some_and(|t| is_device(&t.resolved) || is_device(&t.lexical)) {
        out.push(Word::System, Grade::Certain, Source::Program, value.span.clone());
    }
}

/// Remembers a file that the call writes with content nobody knows.
pub fn note_written(out: &mut Emitter, value: &Value) {
    if let Some(target) = out.locate_exact(value) {
        out.written.insert(target.resolved, None);
    }
}
