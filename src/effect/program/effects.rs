//! From a program's row and its arguments to effects.

use std::ops::Range;

use super::options::Parsed;
use super::special;
use super::table::{Language, Role, Special, mark};
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::path::is_below;
use crate::effect::value::{Value, looks_like_path};
use crate::effect::{Extent, Grade, Source, Word};

mod maybe;
mod operand;

pub use maybe::maybe_path;
use maybe::opaque;
pub use operand::{is_directory, joined, operands, role};

/// What has to be run in turn.
#[derive(Debug, Clone)]
pub enum Next {
    /// These words are a command.
    Words {
        /// The program and its arguments.
        words: Vec<Value>,
        /// The directory, where it is another one.
        cwd: Option<Value>,
        /// Its operands are repeated for what standard input names (xargs, parallel).
        feeds: bool,
    },
    /// These words are a command that runs for every line of standard input, which `token` stands
    /// for; without one they are shell text with parallel's own marks.
    Each {
        /// The program and its arguments.
        words: Vec<Value>,
        /// What is replaced.
        token: Option<String>,
    },
    /// Shell text, with its `$0`, `$1` ... where they are known.
    Script {
        /// The text.
        text: Value,
        /// `$0` and on.
        rest: Vec<Value>,
    },
    /// Shell text whose standard input comes from somebody else: `nc -e sh`, `socat TCP:h:1 EXEC:sh`.
    Fed {
        /// The text.
        text: Value,
    },
    /// An interpreter that reads its program from standard input.
    Stdin {
        /// Its language.
        lang: Language,
    },
    /// A script file that an interpreter runs.
    File {
        /// The file.
        file: Value,
        /// The interpreter's language, none for the file itself.
        lang: Option<Language>,
    },
}

/// One program call.
#[derive(Debug)]
pub struct Call<'a> {
    /// The basename.
    pub name: &'a str,
    /// The arguments.
    pub args: &'a [Value],
    /// The same taken apart.
    pub parsed: &'a Parsed,
    /// Its bytes.
    pub span: Range<usize>,
    /// Does something come in on its standard input that does not stand in the call?
    pub fed: bool,
}

impl Call<'_> {
    /// Does it only say what it would do?
    pub fn dry(&self) -> bool {
        self.parsed.has(mark::DRY)
    }

    /// The operands behind the sub-command.
    pub fn operands(&self) -> Vec<Value> {
        self.parsed.operands[self.parsed.subs..].iter().map(|i| self.args[*i].clone()).collect()
    }
}

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
        if let Some(verb) = verb.filter(|verb| verb.text.is_none()) {
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
        && call.args[*at].text.is_none()
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
            && value.text.as_deref().is_some_and(|text| {
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
            chdir(out, value);
        }
    }
    let dir = out.cwd.clone();
    if let Some(command) = out.command.and_then(|at| out.analysis.commands.get_mut(at)) {
        command.dir = dir;
    }
    elsewhere(out, call);
}

/// An option that leads out of the project (`make -C /srv`) is not what an allow on the bare program
/// means.
pub fn elsewhere(out: &mut Emitter, call: &Call) {
    let project = out.place.project.clone();
    if out.cwd.as_ref().is_some_and(|dir| *dir == project || is_below(dir, &project)) {
        return;
    }
    let Some(command) = out.command.and_then(|at| out.analysis.commands.get_mut(at)) else {
        return;
    };
    for (public, found) in command.options.iter_mut().zip(&call.parsed.options) {
        public.harmless &= found.spec.is_none_or(|spec| spec.marks & mark::CHDIR == 0);
    }
}

/// Does data leave?
pub fn sends(call: &Call) -> bool {
    // With -G curl's data is the query of a GET; the content of a file leaves all the same.
    let file = |v: &Value| v.text.as_deref().is_none_or(|t| t.contains('@'));
    let query = call.name == "curl"
        && call.parsed.option("-G").is_some()
        && !call.parsed.options.iter().any(|o| o.value.as_ref().is_some_and(file));
    // With nothing on standard input it only shakes hands.
    let silent = !call.fed && call.parsed.program.is_some_and(|p| p.name == "openssl s_client");
    call.parsed.has(mark::SEND) && !query || says(call, Word::Send) && !silent
}

/// Does the row, or what it says of the first operands, name that effect?
pub fn says(call: &Call, word: Word) -> bool {
    call.parsed.program.is_some_and(|p| p.effects.contains(&word))
        || call.parsed.verb.as_ref().is_some_and(|verb| verb.contains(&word))
}

/// Goes to a directory, if it is known.
pub fn chdir(out: &mut Emitter, value: &Value) {
    out.cwd = match out.spot(value, Extent::Exact, false) {
        Spot::At(target) if target.extent == Extent::Exact => Some(target.lexical),
        _ => None,
    };
}

/// A file is written; below `/dev` that is the machine's own state.
pub fn device(out: &mut Emitter, value: &Value) {
    let from = out.analysis.effects.len();
    out.path(Word::Write, value, Extent::Exact, Grade::Certain, Source::Operand);
    let disk = out.analysis.effects.get(from).and_then(|e| e.path.as_ref());
    let is_device = |path: &str| path.starts_with("/dev/");
    if disk.is_some_and(|t| is_device(&t.resolved) || is_device(&t.lexical)) {
        out.push(Word::System, Grade::Certain, Source::Program, value.span.clone());
    }
}

/// Remembers a file that the call writes with content nobody knows.
pub fn written(out: &mut Emitter, value: &Value) {
    if let Spot::At(target) = out.spot(value, Extent::Exact, false) {
        out.written.insert(target.resolved, None);
    }
}
