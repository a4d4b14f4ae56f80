//! What a command prints of its own, told by its name and words.

use super::super::secret::is_setting;
use super::super::{Opt, SubCommand};
use super::origin::is_shouted;
use crate::names::flow::{CODES, ECHOING, LISTERS, LOADERS, LOUD, MUTES, SENDERS};

/// `env`, `export -p`: are all variables printed?
pub(super) fn lists_all(command: &SubCommand) -> bool {
    if !LISTERS.contains(&command.name.as_str()) {
        return false;
    }
    match command.name.as_str() {
        "env" | "printenv" => command.operands.iter().all(|at| {
            command.args.get(*at).and_then(|a| a.text.as_deref()).is_some_and(|t| t.contains('='))
        }),
        "set" => command.args.is_empty(),
        _ => {
            let mut flags = command.args.iter().map(|a| a.text.as_deref().unwrap_or_default());
            flags.all(|flag| flag.starts_with('-') && flag.contains(['p', 'x']))
        }
    }
}

/// `envsubst`, `ps eww`: does it print what variables hold, whichever they are?
pub(super) fn prints_loaded(command: &SubCommand) -> bool {
    let text = |at: usize| command.args.get(at).and_then(|arg| arg.text.as_deref());
    let shows = |text: &str| text.starts_with("-E") || !text.starts_with('-') && text.contains('e');
    command.name == "envsubst"
        || command.name == "ps" && (0..command.args.len()).filter_map(text).any(shows)
}

/// `printenv NAME`, `declare -p NAME`, `docker build --build-arg NAME`: which variables does it show by name?
pub(super) fn listed_variables(command: &SubCommand) -> Option<Vec<String>> {
    let plain = |at: &usize| command.args.get(*at)?.text.clone();
    match command.name.as_str() {
        "printenv" | "declare" | "typeset" if !command.operands.is_empty() => {
            let shows = command.name == "printenv"
                || command.options.iter().any(|o| o.name == "-p")
                || command.args.first()?.text.as_deref() == Some("-p");
            shows.then(|| command.operands.iter().filter_map(plain).collect())
        }
        "docker" | "podman" | "buildah" | "nerdctl" => {
            let named = |o: &&Opt| matches!(o.name.as_str(), "--build-arg");
            let value = |o: &Opt| o.value.as_ref()?.text.clone();
            let names: Vec<String> =
                command.options.iter().filter(named).filter_map(value).collect();
            let names: Vec<String> = names.into_iter().filter(|name| is_shouted(name)).collect();
            (!names.is_empty()).then_some(names)
        }
        _ => None,
    }
}

/// The row of a list whose words a command begins with: its program and its first operands.
pub(super) fn begins(command: &SubCommand, list: &[&'static str]) -> Option<&'static str> {
    let operand = |at: usize| command.args.get(*command.operands.get(at)?)?.text.as_deref();
    let option =
        |name: &str| command.options.iter().any(|o| o.name == name || o.aliases.contains(&name));
    list.iter().copied().filter(|row| row.starts_with(&command.name)).find(|row| {
        let mut words = row.split(' ');
        let mut at = 0;
        words.next() == Some(command.name.as_str())
            && words.all(|word| match word.starts_with('-') {
                true => option(word),
                false => {
                    at += 1;
                    operand(at - 1) == Some(word)
                }
            })
    })
}

/// `git config --get http.x.extraheader`, `npm config get //x/:_authToken`
pub(super) fn prints_setting(command: &SubCommand) -> bool {
    let mut operands =
        command.operands.iter().filter_map(|at| command.args.get(*at)?.text.as_deref());
    matches!(command.name.as_str(), "git" | "npm" | "pnpm" | "yarn")
        && operands.next() == Some("config")
        && operands.any(is_setting)
}

/// `docker inspect -f '{{.State.Status}}'` prints no variables.
pub(super) fn prints_it(row: &str, command: &SubCommand) -> bool {
    let form = |o: &&Opt| matches!(o.name.as_str(), "-f" | "--format");
    let value = |o: &Opt| o.value.as_ref()?.text.clone();
    let told = command.options.iter().find(form).and_then(value);
    !row.ends_with("inspect")
        || told.is_none_or(|told| told.contains("Env") || told.contains("json ."))
}

/// Does the program print nothing of what it is given?
pub fn is_mute(name: &str) -> bool {
    MUTES.contains(&name)
}

/// Does it show its words all the same: in an error, or since it is told to show what it sends (`curl -sv`)?
pub fn shows_words<'a>(name: &str, mut words: impl Iterator<Item = &'a str>) -> bool {
    let loud = |word: &str| {
        let letters = word.strip_prefix('-').unwrap_or_default();
        LOUD.contains(&word)
            || letters.contains('v') && letters.bytes().all(|b| b.is_ascii_alphabetic())
    };
    ECHOING.contains(&name) || SENDERS.contains(&name) && words.any(loud)
}

/// Does a program make variables of what a file holds, of its own or of what it runs?
pub fn loads_variables(name: &str) -> bool {
    LOADERS.contains(&name)
}

/// Does a program read the text of another one among its words?
pub fn reads_code(name: &str) -> bool {
    CODES.contains(&name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.'))
}
