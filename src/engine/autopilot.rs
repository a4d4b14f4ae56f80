//! What shipped allows see beyond effects: secrets of the environment that are printed, and whose reads are whose.

use crate::effect::{Analysis, Arg, Effect, Source, Word, secret};

/// Could the call print secrets that stand in variables? No effect says that: a variable is as good as any text.
pub fn prints_secrets(analysis: &Analysis) -> bool {
    let text = analysis.text.as_str();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        let before = &text[..text.len() - rest.len() + at];
        rest = rest[at + 1..].trim_start_matches(['{', '#']);
        // `${!name}` is the variable that another one names, as `${(P)name}` is of zsh.
        if rest.starts_with('!') && text.contains("${!")
            || rest.starts_with('(') && text.contains("${(")
        {
            return true;
        }
        let end =
            rest.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(rest.len());
        let name = &rest[..end];
        let shown = name == "ENV" || name == "parameters" || secret::is_variable(name);
        if shown && !is_looped(name, before) {
            return true;
        }
    }
    false
}

/// Does an `env` run nothing, so that it prints the environment?
pub fn lists_environment(analysis: &Analysis) -> bool {
    let commands = analysis.own_commands();
    let alone =
        |at: usize| commands[at].name == "env" && !commands.iter().any(|c| c.parent == Some(at));
    (0..commands.len()).any(alone)
}

/// Is it the variable of a loop (`for key in a b; do echo $key`)? Those of the environment are in capitals.
fn is_looped(name: &str, before: &str) -> bool {
    let head = format!("for {name} in ");
    name.bytes().any(|b| b.is_ascii_lowercase())
        && before.rfind(&head).is_some_and(|at| before[at + head.len()..].contains([';', '\n']))
}

/// Does a glob of the call name nothing now, where it would name somebody's secrets? What it names
/// is an effect, what it does not name is none, so that only its text tells.
pub fn has_failed_secret_glob(analysis: &Analysis) -> bool {
    let plain = |text: &str| {
        !text.starts_with(['/', '~'])
            && !text.split('/').any(|part| part.starts_with('.') && part != ".")
    };
    let named =
        |arg: &Arg| analysis.own_effects().iter().any(|e| e.path.is_some() && e.span == arg.span);
    let globs =
        analysis.own_commands().iter().flat_map(|command| &command.args).filter(|arg| arg.glob);
    globs.into_iter().any(|arg| !arg.text.as_deref().is_some_and(plain) && !named(arg))
}

/// Is it something that the program itself reads, by name or on its own?
pub fn reads_its_own(effect: &Effect) -> bool {
    effect.word == Word::Read && matches!(effect.source, Source::Operand | Source::Program)
}
