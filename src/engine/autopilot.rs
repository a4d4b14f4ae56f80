//! What shipped allows see beyond effects: secrets of the environment that are printed, and whose reads are whose.

use crate::effect::{Analysis, Arg, Effect, Source, SubCommand, Word, secret};
use crate::names::plain;

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

/// Does a client of a database run more than a query that only reads? Effects tell of what statements are known to change; a
/// function that nobody knows, or a client's own command, may do anything.
pub fn queries_blindly(analysis: &Analysis) -> bool {
    analysis.own_commands().iter().filter(|c| plain::CLIENTS.contains(&c.name.as_str())).any(|c| {
        let texts = c.args.iter().map(|arg| arg.text.as_deref());
        !texts.into_iter().all(|text| text.is_some_and(only_reads))
    })
}

/// Is the word no statement, or one that only reads?
fn only_reads(text: &str) -> bool {
    let statement = text.trim().trim_end_matches(';').to_ascii_lowercase();
    if !statement.contains([' ', '\n', '\t', '(', '\\', ';']) {
        return true;
    }
    if let Some(command) = statement.strip_prefix('\\') {
        return (command.starts_with('d') || matches!(command, "l" | "l+"))
            && command.bytes().all(|b| b.is_ascii_alphanumeric() || b" +_.*".contains(&b));
    }
    let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let known = |(at, word): (usize, &str)| {
        let called = statement[at + word.len()..].trim_start().starts_with('(');
        !plain::SQL_CHANGES.contains(&word)
            && !word.starts_with("pg_")
            && (!called || plain::SQL_FUNCTIONS.contains(&word))
    };
    let words = statement.split(|c| !letter(c)).filter(|word| !word.is_empty());
    let words = words.map(|word| (word.as_ptr() as usize - statement.as_ptr() as usize, word));
    let first = statement.split(|c| !letter(c)).next().unwrap_or_default();
    plain::SQL_READS.contains(&first)
        && !statement.contains(['\\', ';', '"', '`', '$', '@', '#', '/'])
        && words.into_iter().all(known)
}

/// Does an interpreter run what it reads from its standard input, where that is no text of the call itself?
pub fn runs_input(analysis: &Analysis) -> bool {
    const OTHERWISE: &[&str] = &[
        "-c",
        "-m",
        "-e",
        "-p",
        "-V",
        "-v",
        "-h",
        "--eval",
        "--print",
        "--version",
        "--help",
        "--test",
    ];
    let unseen = |(at, c): (usize, &SubCommand)| {
        matches!(c.name.as_str(), "python" | "python3" | "node")
            && c.operands.first().is_none_or(|at| c.args[*at].text.as_deref() == Some("-"))
            && !c.options.iter().any(|option| OTHERWISE.contains(&option.name.as_str()))
            && !analysis
                .own_effects()
                .iter()
                .any(|e| e.command == Some(at) && e.source == Source::Plain)
    };
    analysis.own_commands().iter().enumerate().any(unseen)
}

/// Does text run of which its effects do not tell all?
pub fn runs_text(effect: &Effect) -> bool {
    effect.word == Word::Code && effect.source != Source::Plain
}

/// Is it something that the program itself reads, by name or on its own?
pub fn reads_its_own(effect: &Effect) -> bool {
    effect.word == Word::Read && matches!(effect.source, Source::Operand | Source::Program)
}
