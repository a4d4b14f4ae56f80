//! What programs do: arguments taken apart by the program's table, and the effects that follow.
//!
//! Nothing here knows shell syntax: the input is words that are already expanded, and what has to
//! be run in turn (a wrapper's command, `-c` text) is handed back as [`Next`].

pub mod call;
pub mod code;
pub mod effects;
pub mod options;
pub mod row;
pub mod special;
pub mod spelling;
pub mod table;
pub mod vocabulary;

pub use call::{Call, Next};
pub use options::{Parsed, parse};
pub use special::{names_git, redirects_git};

use self::effects::{elsewhere, maybe_path, opaque, operands, role, says, sends};
use self::table::{Role, Special, mark};
use super::emitter::Emitter;
use super::value::looks_like_path;
use super::{Grade, Source, Word};

/// Emits the effects of a call; what it runs in turn is handed back.
pub fn run(out: &mut Emitter, call: &Call) -> Vec<Next> {
    let from = out.analysis.effects.len();
    let next = emit(out, call);
    special::scope(out, call, from);
    next
}

fn emit(out: &mut Emitter, call: &Call) -> Vec<Next> {
    let mut next = Vec::new();
    if special::common(out, call, &mut next) {
        return next;
    }
    let home = out.cwd.clone();
    goes(out, call);
    special::there(out, call);
    let Some(program) = call.parsed.program else {
        let verb = call.parsed.subs.checked_sub(1).map(|at| &call.args[call.parsed.operands[at]]);
        if let Some(verb) = verb.filter(|verb| verb.text().is_none()) {
            out.unknown("a sub-command known only at run time", verb.span.clone());
        }
        opaque(out, call);
        out.cwd = home;
        return next;
    };
    if call.parsed.has(mark::ONLY) {
        out.cwd = home;
        return next;
    }
    if program.sub
        && let Some(at) = call.parsed.operands.get(call.parsed.subs)
        && call.args[*at].text().is_none()
    {
        out.unknown("a sub-command known only at run time", call.args[*at].span.clone());
    }
    let from = out.analysis.effects.len();
    for word in program.effects {
        if matches!(word, Word::Network | Word::Send) || call.dry() && *word != Word::Execute {
            continue;
        }
        out.push(*word, Grade::Certain, Source::Program, call.span.clone());
    }
    for word in call.parsed.verb.iter().flatten() {
        let said = matches!(word, Word::Network | Word::Send);
        if !said && !call.dry() {
            out.push(*word, Grade::Certain, Source::Program, call.span.clone());
        }
    }
    for (bit, word) in [(mark::PRIVILEGE, Word::Privilege), (mark::SYSTEM, Word::System)] {
        if call.parsed.has(bit) && !call.dry() {
            out.push(word, Grade::Certain, Source::Program, call.span.clone());
        }
    }
    for option in &call.parsed.options {
        if let Some(word) = option.spec.and_then(|spec| spec.effect).filter(|_| !call.dry()) {
            let span = call.args.get(option.at).map_or(call.span.clone(), |a| a.span.clone());
            out.push(word, Grade::Certain, Source::Program, span);
        }
        match (option.spec, &option.value) {
            // Told where the program went there.
            (Some(spec), Some(_)) if spec.role == Role::Runs && spec.marks & mark::CHDIR != 0 => {}
            (Some(spec), Some(value)) => {
                role(out, call, spec.role, value, &mut next);
            }
            // An option that nobody knows: its value may be a path.
            (None, Some(value)) => maybe_path(out, value),
            _ => {}
        }
    }
    for at in &call.parsed.doubtful {
        if !program.free
            && !call.parsed.global.is_some_and(|p| p.free)
            && let Some(value) = call.args.get(*at)
            && value.text().is_some_and(|text| {
                // Nobody names the root where a file is wanted.
                looks_like_path(text) && !text.trim_matches('/').is_empty()
            })
        {
            maybe_path(out, value);
        }
    }
    if !special::run(out, call, program, &mut next) {
        operands(out, call, program, &mut next);
    }
    // A host that is known says more than "some host", which would match every rule on hosts.
    for (word, there) in
        [(Word::Network, says(call, Word::Network)), (Word::Send, !call.dry() && sends(call))]
    {
        if there && !out.analysis.effects[from..].iter().any(|e| e.word == word) {
            out.push(word, Grade::Certain, Source::Program, call.span.clone());
        }
    }
    out.cwd = home;
    next
}

/// Goes where the options say: `make -C DIR`, `npm --prefix DIR`.
fn goes(out: &mut Emitter, call: &Call) {
    // tar names its archive from where it starts: it goes there itself.
    if !call.parsed.has(mark::CHDIR)
        || call.parsed.program.is_some_and(|p| p.special == Some(Special::Tar))
    {
        return;
    }
    for option in &call.parsed.options {
        if let Some(spec) = option.spec
            && spec.marks & mark::CHDIR != 0
            && let Some(value) = &option.value
        {
            if spec.role == Role::Runs {
                out.runs_there(value);
            }
            out.chdir(value);
        }
    }
    let dir = out.cwd.clone();
    if let Some(command) = out.command.and_then(|at| out.analysis.commands.get_mut(at)) {
        command.dir = dir;
    }
    elsewhere(out, call);
}
