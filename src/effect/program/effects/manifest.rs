//! What a program writes of its own accord: the manifest and the lock file of a project (`npm install x`).

use super::Call;
use crate::effect::emitter::Emitter;
use crate::effect::program::table::{Program, mark};
use crate::effect::{Extent, Grade, Word};

/// The files that the lines of `writes` name.
pub fn emit_writes(out: &mut Emitter, call: &Call, program: &Program) {
    if program.writes.is_empty() || call.is_dry_run() || call.parsed.has_mark(mark::KEEP) {
        return;
    }
    let named = call.parsed.operands.len() > call.parsed.subs;
    for (files, when) in program.writes.lines().filter_map(|line| line.split_once('|')) {
        let asks = |word: &str| when.split(' ').any(|own| own == word);
        if asks("named") && !named || asks("bare") && named {
            continue;
        }
        for file in files.split(' ') {
            let found = nearest(out, file);
            let file = match &found {
                Some(path) => path,
                None if asks("there") => continue,
                None => file,
            };
            let from = out.analysis.effects.len();
            // Who says that nobody edits a lock file means the hand, most of the time, and not the program that it belongs to.
            out.own_path(Word::Write, file, Extent::Exact, Grade::Possible, call.span.clone());
            out.keep(from);
        }
    }
}

/// Such a file where the program works, or in the next directory above that has one: not above the project.
fn nearest(out: &mut Emitter, file: &str) -> Option<String> {
    let mut dir = out.cwd.clone()?;
    let project = out.place.project.trim_end_matches('/').to_string();
    let inside = dir == project || dir.starts_with(&format!("{project}/"));
    loop {
        let path = format!("{}/{file}", dir.trim_end_matches('/'));
        if out.resolver.exists(&path) {
            return Some(path);
        }
        match dir.rfind('/').filter(|_| inside && dir != project) {
            Some(at) => dir.truncate(at),
            None => return None,
        }
    }
}
