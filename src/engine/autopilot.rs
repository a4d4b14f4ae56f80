//! What shipped allows see beyond effects: secrets of the environment that are printed, and whose reads are whose.

use crate::effect::{Analysis, Arg, Effect, Source, Word};

/// Parts of names whose values nobody wants to see printed.
const SECRET: &[&str] = &[
    "TOKEN",
    "SECRET",
    "PASS",
    "PWD_",
    "CREDENTIAL",
    "KEY",
    "PRIVATE",
    "AUTH",
    "COOKIE",
    "DSN",
    "DATABASE_URL",
    "CONNECTION",
    "WEBHOOK",
];

/// Could the call print secrets that stand in the environment? No effect says that: to other
/// allows a variable is as good as any text.
pub fn prints_environment(analysis: &Analysis) -> bool {
    let text = analysis.text.as_str();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        rest = rest[at + 1..].trim_start_matches(['{', '#']);
        // `${!name}` is the variable that another one names.
        if rest.starts_with('!') && text.contains("${!") {
            return true;
        }
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name = rest[..end].to_ascii_uppercase();
        if name == "ENV" || SECRET.iter().any(|part| name.contains(part)) {
            return true;
        }
    }
    // `env`, `env A=1`: without a command it prints everything.
    let commands = &analysis.commands;
    text.contains("ENVIRON")
        || (0..commands.len())
            .any(|at| commands[at].name == "env" && !commands.iter().any(|c| c.parent == Some(at)))
}

/// Does a glob of the call name nothing now, where it would name somebody's secrets? What it names
/// is an effect, what it does not name is none, so that only its text tells.
pub fn gropes(analysis: &Analysis) -> bool {
    let plain = |text: &str| {
        !text.starts_with(['/', '~'])
            && !text.split('/').any(|part| part.starts_with('.') && part != ".")
    };
    let named = |arg: &Arg| analysis.effects.iter().any(|e| e.path.is_some() && e.span == arg.span);
    let globs = analysis.commands.iter().flat_map(|command| &command.args).filter(|arg| arg.glob);
    globs.into_iter().any(|arg| !arg.text.as_deref().is_some_and(plain) && !named(arg))
}

/// Is it something that the program itself reads, by name or on its own?
pub fn reads_its_own(effect: &Effect) -> bool {
    effect.word == Word::Read && matches!(effect.source, Source::Operand | Source::Program)
}
