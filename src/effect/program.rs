//! What programs do: arguments taken apart by the program's table, and the effects that follow.
//!
//! Nothing here knows shell syntax: the input is words that are already expanded, and what has to
//! be run in turn (a wrapper's command, `-c` text) is handed back as [`Next`].

pub mod call;
pub mod code;
pub mod effects;
pub mod guess;
pub mod listed;
pub mod options;
pub mod recipe;
pub mod row;
pub mod special;
pub mod spelling;
pub mod table;
pub mod twins;
pub mod vocabulary;

pub use call::{Call, Next};
pub use options::{Parsed, parse_arguments};
pub use special::{is_watched, names_git, redirects_git, settle_drops};
pub use twins::with_twins;

use self::effects::{
    emit_elsewhere, emit_globbed_options, emit_opaque, emit_operands, emit_role, emit_writes,
    has_effect, maybe_path, sends_data,
};
use self::options::ParsedOption;
use self::table::{Program, Role, Special, mark};
use super::emitter::Emitter;
use super::value::{Value, looks_like_path};
use super::{Grade, Source, Word};

/// Emits the effects of a call; what it runs in turn is handed back.
pub fn emit_call(out: &mut Emitter, call: &Call) -> Vec<Next> {
    let from = out.analysis.effects.len();
    let next = emit_call_effects(out, call);
    special::note_scope(out, call, from);
    special::settle(out, call, from);
    special::spare_made(out, call, from);
    next
}

fn emit_call_effects(out: &mut Emitter, call: &Call) -> Vec<Next> {
    let mut next = Vec::new();
    if special::emit_common(out, call, &mut next) {
        return next;
    }
    let home = out.cwd.clone();
    emit_globbed_options(out, call);
    change_directory(out, call);
    special::check_location(out, call);
    match call.parsed.program {
        None => {
            open_verb(out, call, call.parsed.subs.checked_sub(1));
            emit_opaque(out, call);
            next.extend(guess::of_call(call, &called(out)));
        }
        Some(_) if call.parsed.has_mark(mark::ONLY) => {}
        Some(program) => emit_row(out, call, program, &mut next),
    }
    out.cwd = home;
    next
}

/// The program of the call as it is written.
fn called(out: &mut Emitter) -> String {
    out.own_command().and_then(|own| own.word.text.clone()).unwrap_or_default()
}

/// A sub-command at that place of the operands that nobody knows.
fn open_verb(out: &mut Emitter, call: &Call, at: Option<usize>) {
    let verb = at.and_then(|at| call.parsed.operands.get(at)).map(|at| &call.args[*at]);
    if let Some(verb) = verb.filter(|verb| verb.text().is_none()) {
        out.emit_unknown("a sub-command known only at run time", verb.span.clone());
    }
}

/// What the row of a program comes to.
fn emit_row(out: &mut Emitter, call: &Call, program: &Program, next: &mut Vec<Next>) {
    if program.sub {
        open_verb(out, call, Some(call.parsed.subs));
    }
    let from = out.analysis.effects.len();
    emit_words(out, call, program);
    for option in &call.parsed.options {
        emit_option(out, call, option, next);
    }
    if !program.free && !call.parsed.global.is_some_and(|p| p.free) {
        for value in call.parsed.doubtful.iter().filter_map(|at| call.args.get(*at)) {
            // Nobody names the root where a file is wanted.
            let rooted = |t: &str| looks_like_path(t) && !t.trim_matches('/').is_empty();
            if value.text().is_some_and(rooted) {
                maybe_path(out, value);
            }
        }
    }
    if !special::emit_special(out, call, program, next) {
        emit_operands(out, call, program, next);
    }
    emit_writes(out, call, program);
    special::emit_added(out, call);
    special::emit_forge(out, call);
    if program.has_class(table::Class::Fetcher) && !call.is_dry_run() {
        note_fetched(out, call, program);
    }
    if program.name.starts_with("git ") {
        special::spare_throwaway(out, from);
    }
    if guess::may_run_more(call, program, next) {
        next.extend(guess::of_call(call, &called(out)));
    }
    // A host that is known says more than "some host", which would match every rule on hosts.
    for (word, there) in [
        (Word::Network, has_effect(call, Word::Network)),
        (Word::Send, !call.is_dry_run() && sends_data(call)),
    ] {
        if there && !out.analysis.effects[from..].iter().any(|e| e.word == word) {
            call.does(out, word);
        }
    }
}

/// What the call fetches lies where an option or operand says, or here. A package of the project's own is no other.
fn note_fetched(out: &mut Emitter, call: &Call, program: &Program) {
    let options = &call.parsed.options;
    let option = options.iter().find(|o| o.spec.is_some_and(|s| s.role == Role::WriteInto));
    let operand = program.before.iter().position(|role| *role == Role::WriteInto);
    let into = option
        .and_then(|option| option.value.clone())
        .or_else(|| call.operands().get(operand?).cloned());
    let here = Value::known(".", call.span.clone());
    let own = |value: &Value| value.known_start().starts_with(['.', '/']);
    let node = ["npm", "pnpm", "yarn"].contains(&call.name);
    if !node || call.row().ends_with(" pack") && !call.operands().iter().all(own) {
        out.fetch_into(&into.unwrap_or(here));
    }
}

/// The effects that a row names, for itself and by what the first operands mean. That it goes anywhere is said behind all.
fn emit_words(out: &mut Emitter, call: &Call, program: &Program) {
    let told = |word: &&Word| !matches!(word, Word::Network | Word::Send) && **word != special::ADD;
    for word in program.effects.iter().filter(told) {
        if !call.is_dry_run() || *word == Word::Execute {
            call.does(out, *word);
        }
    }
    if call.is_dry_run() {
        return;
    }
    for word in call.parsed.verb.iter().flatten().filter(told) {
        call.does(out, *word);
    }
    for (bit, word) in [(mark::PRIVILEGE, Word::Privilege), (mark::SYSTEM, Word::System)] {
        if call.parsed.has_mark(bit) {
            call.does(out, word);
        }
    }
}

/// What one option comes to.
fn emit_option(out: &mut Emitter, call: &Call, option: &ParsedOption, next: &mut Vec<Next>) {
    let word = option.spec.and_then(|spec| spec.effect).filter(|word| *word != special::ADD);
    if let Some(word) = word.filter(|_| !call.is_dry_run()) {
        let span = call.args.get(option.at).map_or(call.span.clone(), |a| a.span.clone());
        out.push(word, Grade::Certain, Source::Program, span);
    }
    match (option.spec, &option.value) {
        // Told where the program went there.
        (Some(spec), Some(_)) if spec.role == Role::Runs && spec.marks & mark::CHDIR != 0 => {}
        (Some(spec), Some(value)) => emit_role(out, call, spec.role, value, next),
        // An option that nobody knows: its value may be a path.
        (None, Some(value)) => maybe_path(out, value),
        _ => {}
    }
}

/// Goes where the options say: `make -C DIR`, `npm --prefix DIR`.
fn change_directory(out: &mut Emitter, call: &Call) {
    // tar names its archive from where it starts: it goes there itself.
    if !call.parsed.has_mark(mark::CHDIR)
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
    if let Some(command) = out.own_command() {
        command.dir = dir;
    }
    emit_elsewhere(out, call);
}
