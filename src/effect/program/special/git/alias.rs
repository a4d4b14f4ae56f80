//! Aliases of git: those that a call brings along, and those that are written down.

use std::path::Path;

use super::settings::GitSetting;
use crate::effect::Word;
use crate::effect::emitter::Emitter;
use crate::effect::git_file::last_value;
use crate::effect::path::join;
use crate::effect::program::effects::{Call, Next};
use crate::effect::program::options::parse_arguments;
use crate::effect::program::table::{OptSpec, Special, mark};
use crate::effect::value::Value;
use crate::limits::Cap;

/// An alias that this call itself brings along, or that is written down: git's own sub-commands cannot be aliases.
pub fn expand_alias(
    out: &mut Emitter,
    call: &Call,
    list: &[GitSetting],
    next: &mut Vec<Next>,
) -> bool {
    let (None, Some(at)) = (call.parsed.program, call.parsed.operands.first()) else {
        return false;
    };
    let Some(name) = call.args[*at].plain_text() else { return false };
    let own = |setting: &&GitSetting| {
        let key = setting.key.as_deref().unwrap_or_default().to_ascii_lowercase();
        key.strip_prefix("alias.")
            .is_some_and(|key| key.trim_end_matches(".command").eq_ignore_ascii_case(name))
    };
    let (text, span) = match list.iter().rfind(own) {
        Some(setting) => (setting.value.clone(), setting.span.clone()),
        None => match written_alias(out, name) {
            Some(text) => (Some(text), call.span.clone()),
            None => return false,
        },
    };
    let Some(text) = text else {
        out.emit_unknown("an alias of git known only at run time", span);
        return true;
    };
    let rest = &call.args[at + 1..];
    if let Some(script) = text.strip_prefix('!') {
        let text = Value::known(format!("{script} \"$@\""), span.clone());
        let mut words = vec![Value::known("sh", span)];
        words.extend(rest.iter().cloned());
        next.push(Next::Script { text, rest: words });
        return true;
    }
    let Some(own) = split_alias(&text) else {
        out.emit_unknown("an alias of git with open quotes", span);
        return true;
    };
    let mut words = vec![Value::known(call.name, call.span.clone())];
    words.extend(call.args[..*at].iter().cloned());
    words.extend(own.into_iter().map(|word| Value::known(word, span.clone())));
    words.extend(rest.iter().cloned());
    next.push(Next::words(words));
    true
}

/// What the settings of the repository or the user say that the sub-command is; those of the repository have the last word.
fn written_alias(out: &mut Emitter, name: &str) -> Option<String> {
    let home = &out.place.home;
    let own = [format!("{home}/.gitconfig"), format!("{home}/.config/git/config")];
    repository_settings(out).into_iter().chain(own).find_map(|file| {
        let text = out.read_whole(&file, Cap::Settings)?;
        last_value(&String::from_utf8_lossy(&text), "alias", name)
    })
}

/// The settings of the repository that the command runs in.
fn repository_settings(out: &mut Emitter) -> Option<String> {
    let cwd = out.cwd.clone()?;
    for dir in Path::new(&cwd).ancestors() {
        let dir = dir.to_string_lossy();
        let own = join(&dir, ".git");
        if out.resolver.is_dir(&own) {
            return Some(join(&own, "config"));
        }
        // Of a linked work tree the directory is told by the file `.git`.
        if let Some(text) = out.read_whole(&own, Cap::Settings) {
            let text = String::from_utf8(text).ok()?;
            let named = join(&dir, text.strip_prefix("gitdir:")?.trim());
            let common = named.split("/worktrees/").next().unwrap_or_default();
            return Some(join(common, "config"));
        }
    }
    None
}

/// An alias taken apart as git does it: blanks, quotes, backslashes. None = a quote is left open.
fn split_alias(text: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            _ if quote == Some(letter) => quote = None,
            '\'' | '"' if quote.is_none() => {
                quote = Some(letter);
                word.get_or_insert_default();
            }
            '\\' if quote != Some('\'') => word.get_or_insert_default().push(letters.next()?),
            _ if quote.is_none() && letter.is_whitespace() => words.extend(word.take()),
            _ => word.get_or_insert_default().push(letter),
        }
    }
    words.extend(word);
    quote.is_none().then_some(words)
}

/// Would the alias lose or force something? What git only shows or records, it may be called.
pub fn is_risky(out: &Emitter, value: &str) -> bool {
    let words = if value.starts_with('!') { None } else { split_alias(value) };
    let Some(words) = words else { return true };
    let args: Vec<Value> = words.into_iter().map(|word| Value::known(word, 0..0)).collect();
    let parsed = parse_arguments("git", &args, out.place.programs);
    let Some(program) = parsed.program else { return true };
    let loses = |word: &Word| matches!(word, Word::Named(name) if *name != "git.push");
    let forces = |spec: OptSpec| spec.effect.is_some() || spec.marks & mark::UNSAFE != 0;
    let discards = match program.special {
        Some(Special::GitClean) => true,
        Some(Special::GitCheckout) => args.iter().any(|arg| arg.plain_text() == Some("--")),
        _ => false,
    };
    parsed.options.iter().any(|option| option.spec.is_some_and(forces))
        || program.effects.iter().any(loses)
        || discards
        || parsed.find_option("-c").is_some()
}
