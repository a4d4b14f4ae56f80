//! Patterns in the spelling of something else: a shell's variables, Claude Code's `:*`, regular expressions. They are
//! read as they stand, and hold for nothing.

use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

use super::Lint;
use super::breadth::analyse_call;
use crate::agent;
use crate::effect::own::PROJECT;
use crate::effect::program::table;
use crate::effect::{Origin, Word};
use crate::glob;
use crate::names::added::{HOSTED, LOCAL, REGISTRIES};
use crate::rule::Truth;
use crate::rule::command::CommandPattern;
use crate::rule::condition::{KEYS, NamePattern, Sort};
use crate::rule::fault::did_you_mean;

/// What is wrong with a text, and what to write instead.
type Misread = Option<(String, String)>;

/// Variables of shells and agents that people write into paths, and what stands for them in a pattern.
const VARIABLES: &[(&str, &str)] =
    &[("HOME", "~"), ("USERPROFILE", "~"), ("PWD", "."), ("CLAUDE_PROJECT_DIR", ".")];

/// Claude Code's modes of permission.
const MODES: &[&str] = &["default", "plan", "acceptEdits", "bypassPermissions", "dontAsk", "auto"];

/// Programs that take a word which is no sub-command of theirs for a script of the project: `yarn test:unit`.
const SCRIPTED: &[&str] = &["yarn", "pnpm", "bun"];

impl Lint<'_> {
    pub(super) fn foreign_spellings(&mut self) {
        let mut found: Vec<(String, String, Range<usize>)> = Vec::new();
        let mut note = |misread: Misread, span| {
            found.extend(misread.map(|(why, hint)| (why, hint, span)));
        };
        for key in KEYS {
            let judge: fn(&str) -> Misread = match (key.name, key.sort) {
                (_, Sort::Paths) => misread_path,
                ("command", _) => misread_command,
                ("match", _) => misread_permission,
                ("host", _) => misread_host,
                ("agent", _) => misread_agent,
                ("package", _) => misread_package,
                _ => continue,
            };
            self.for_each_pattern(key.name, &mut |text, span| {
                note(judge(text.strip_prefix('!').unwrap_or(text)), span);
            });
        }
        let when = self.written.find_value("when").and_then(|value| value.get_ref().as_table());
        if let Some(modes) = when.and_then(|when| when.get("permission_mode")) {
            super::for_each_string(modes, &mut |text, span| {
                note(misread_mode(text.strip_prefix('!').unwrap_or(text)), span);
            });
        }
        for (why, hint, span) in found {
            self.add_warning("never-matches", why, &hint, span);
        }
        self.hosts_of_files();
    }

    /// What happens to files happens on no host.
    fn hosts_of_files(&mut self) {
        let conditions = &self.rule.conditions;
        let of_files = |word: &Word| {
            matches!(word, Word::Read | Word::Write | Word::Delete | Word::Permission)
        };
        if !conditions.host.is_empty()
            && !conditions.effect.is_empty()
            && conditions.effect.iter().all(of_files)
        {
            let message = "`host` never holds: an effect on files has none".to_string();
            let hint = "say `network` or `send`, or leave the host out";
            self.add_warning("never-matches", message, hint, self.key_span("host"));
        }
    }

    /// A hook script by its whole path, which is not there. One of the project may be there elsewhere.
    pub(super) fn missing_script(&mut self, home: &Path) {
        let Some((hook, _)) = self.rule.hook_script() else { return };
        let word = hook.script.source().split_whitespace().next().unwrap_or_default();
        let plain = |c: char| c.is_ascii_alphanumeric() || "/._-~".contains(c);
        let file = match word.strip_prefix("~/") {
            _ if !word.chars().all(plain) => return,
            Some(rest) => home.join(rest),
            None if word.starts_with('/') => Path::new(word).to_path_buf(),
            None => return,
        };
        if !file.exists() {
            let message = format!("there is no `{word}`: the script cannot be started");
            let hint = "name the file that is there; until then `otherwise` answers";
            self.add_warning("never-matches", message, hint, self.key_span("hook"));
        }
    }
}

fn misread(why: String, hint: impl Display) -> Misread {
    Some((why, format!("write `{hint}`")))
}

fn misread_path(text: &str) -> Misread {
    if text.trim() != text {
        return misread(format!("the blanks around `{text}` are part of the name"), text.trim());
    }
    if let Some(rest) = text.strip_prefix("file://") {
        return misread(format!("`{text}` is an address, and no path"), rest);
    }
    for (name, instead) in VARIABLES {
        for form in [format!("${name}"), format!("${{{name}}}"), format!("%{name}%")] {
            let rest = text.strip_prefix(&form);
            if let Some(rest) = rest.filter(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
            {
                let right =
                    format!("{instead}/{}", rest.replace('\\', "/").trim_start_matches('/'));
                return misread(format!("`{form}` is taken as it stands, as a name"), right);
            }
        }
    }
    // In front of what a glob means something by, it escapes that.
    let name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '~');
    let parts: Vec<&str> = text.split('\\').collect();
    (parts.len() > 1 && parts[1..].iter().all(|part| part.starts_with(name)))
        .then(|| {
            misread(format!("`\\` escapes in `{text}`, and parts nothing"), text.replace('\\', "/"))
        })
        .flatten()
}

fn misread_permission(text: &str) -> Misread {
    let (tool, rest) = text.split_once('(')?;
    let inside = rest.strip_suffix(')')?;
    match tool {
        "WebFetch" => None,
        // Claude Code's own reader takes it for a letter there, too.
        "Bash" => {
            let (first, _) = inside.trim().split_once(' ')?;
            let program = first.strip_suffix(":*")?;
            let why = format!("`:*` stands at the end only: `{first}` is one word");
            misread(why, format!("Bash({program}:*)"))
        }
        _ => misread_path(inside),
    }
}

fn misread_command(text: &str) -> Misread {
    let text = text.trim();
    let tools = agent::default_agent().facts().tool_names;
    if text.split_once('(').is_some_and(|(tool, _)| tools.contains(&tool)) && text.ends_with(')') {
        return misread(
            format!("`{text}` is a line of permissions, and no command"),
            format!("match = \"{text}\""),
        );
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let (first, last) = (words.first()?, words.last()?);
    if text.starts_with('^') || words.len() > 1 && *last == ".+" {
        let plain = text.trim_start_matches('^').trim_end_matches(['$', '*', '+', '.']);
        return misread(
            format!("`{text}` is a regular expression, and patterns are words with globs"),
            plain.trim_end(),
        );
    }
    let braces = |word: &&&str| word.starts_with('{') && word.ends_with('}') && word.contains(',');
    if let Some(word) = words.iter().find(braces) {
        let ways = word.trim_matches(['{', '}']).replace(',', " | ");
        return misread(
            format!("the braces of `{word}` are no alternatives here"),
            text.replace(word, &format!("({ways})")),
        );
    }
    let quoted = |word: &&&str| {
        let inside = |quote| word.strip_prefix(quote).is_some_and(|rest| rest.ends_with(quote));
        inside('"') || inside('\'')
    };
    if let Some(word) = words.iter().find(quoted) {
        let plain = word.trim_matches(['"', '\'']);
        return misread(
            format!("the quotes of `{word}` are part of the word"),
            text.replace(word, plain),
        );
    }
    if let Some((before, _)) = text.split_once(" #").filter(|_| words.contains(&"#")) {
        return misread(
            "what stands behind `#` is part of the pattern".to_string(),
            before.trim_end(),
        );
    }
    if let Some((before, behind)) = first.split_once(".*")
        && behind.starts_with(|c: char| c.is_ascii_alphabetic())
    {
        return misread(
            format!("`{first}` is a regular expression, and patterns are words with globs"),
            format!("{before} {behind}"),
        );
    }
    let listed = words.windows(2).find(|pair| {
        let program = pair[1] == *first || table::find_row(pair[1], &[]).is_some();
        pair[0].ends_with(',') && !pair[0].starts_with('-') && program
    });
    if let Some(pair) = listed {
        return Some((
            format!("the comma of `{}` is part of the word", pair[0]),
            "write a list: command = [\"...\", \"...\"]".into(),
        ));
    }
    if let Some(word) = last.strip_suffix(":*")
        && let [before @ .., _] = words.as_slice()
        && !SCRIPTED.contains(first)
    {
        let row = [before, &[word]].concat().join(" ");
        if table::find_row(&row, &[]).is_some() {
            return misread(format!("`:*` means no more words here: `{last}` is one word"), row);
        }
    }
    if let Some(option) = words.iter().find(|word| word.starts_with('-') && word.ends_with('=')) {
        return misread(
            format!("`{option}` is the option with an empty value"),
            format!("{option}*"),
        );
    }
    separate_value(text)
}

/// An option whose value the pattern has behind a blank, where it stands for an operand. It is tried, not guessed.
fn separate_value(pattern: &str) -> Misread {
    if pattern.contains(['"', '\'', '\\', '$', '`', '<', '>', '&', ';', '[', '?', '{']) {
        return None;
    }
    // Of alternatives the first.
    let mut plain = String::new();
    let mut rest = pattern;
    while let Some((before, group)) = rest.split_once('(') {
        let (inside, behind) = group.split_once(')')?;
        plain.push_str(before);
        plain.push_str(inside.split('|').next().unwrap_or_default());
        rest = behind;
    }
    plain.push_str(rest);
    let words: Vec<&str> = plain.split_whitespace().filter(|word| *word != "**").collect();
    let option = |word: &str| word.starts_with('-') && word.len() > 1 && !word.contains(['=', '*']);
    let pair = words.windows(2).find(|pair| option(pair[0]) && !pair[1].starts_with(['-', '*']))?;
    let call = words.join(" ").replace('*', "x");
    let analysis = analyse_call("Bash", &call);
    let command = analysis.commands.first()?;
    let value = pair[1].replace('*', "x");
    let takes = command.options.iter().any(|option| {
        let behind = |value: &crate::effect::Arg| value.span.start > option.span.end;
        option.name == pair[0]
            && option
                .value
                .as_ref()
                .is_some_and(|own| behind(own) && own.text.as_deref() == Some(value.as_str()))
    });
    let own = CommandPattern::parse(pattern).ok()?;
    (takes && own.match_command(command) == Truth::No)
        .then(|| {
            let (option, value) = (pair[0], pair[1]);
            misread(
                format!("`{option}` takes `{value}`, which is no operand then"),
                format!("{option}={value}"),
            )
        })
        .flatten()
}

fn misread_host(text: &str) -> Misread {
    let bare = text.trim();
    if text.starts_with('@') && text != PROJECT {
        return misread(format!("`{text}` is no name for hosts"), PROJECT);
    }
    if text.starts_with('.') {
        return misread(format!("no host begins with a dot, as `{text}` does"), format!("*{text}"));
    }
    // What has only letters and dashes is a list of names.
    let [NamePattern::Glob(_)] = NamePattern::parse_globs(text).as_slice() else { return None };
    if bare.contains([',', '|', ' ']) {
        return Some((
            format!("`{bare}` is one host"),
            "write a list: host = [\"...\", \"...\"]".into(),
        ));
    }
    if bare != text && bare.contains('.') {
        return misread(format!("the blanks around `{text}` are part of the name"), bare);
    }
    None
}

fn misread_agent(text: &str) -> Misread {
    let ids = || agent::AGENTS.iter().map(|agent| agent.id()).chain([agent::UNKNOWN]);
    let unknown = NamePattern::parse_globs(text)
        .into_iter()
        .find(|name| !ids().any(|id| name.matches_name(id)))?;
    let unknown = unknown.text().to_string();
    let hint = did_you_mean(&unknown, ids()).map_or_else(
        || format!("there are {}", ids().collect::<Vec<_>>().join(", ")),
        |near| format!("did you mean `{near}`?"),
    );
    Some((format!("`{unknown}` is no agent"), hint))
}

/// Other agents have modes of other names, so that only what is close to one is taken for it.
fn misread_mode(text: &str) -> Misread {
    let unknown = NamePattern::parse_globs(text)
        .into_iter()
        .find(|name| !MODES.iter().any(|mode| name.matches_name(mode)))?;
    let unknown = Some(unknown.text()).filter(|text| !glob::is_glob(text))?;
    let longer = MODES.iter().copied().find(|mode| unknown.len() > 3 && mode.starts_with(unknown));
    let near = longer.or_else(|| did_you_mean(unknown, MODES.iter().copied()))?;
    Some((format!("`{unknown}` is no mode of permission"), format!("did you mean `{near}`?")))
}

fn misread_package(text: &str) -> Misread {
    let origins = || Origin::ALL.iter().map(|origin| origin.name());
    let registries = || REGISTRIES.iter().map(|(name, _)| *name);
    let starts = || HOSTED.iter().map(|(start, _)| *start).chain(LOCAL.iter().copied());
    let mut name = text;
    let front = text.split_once(':').filter(|(front, rest)| {
        front.bytes().all(|b| b.is_ascii_lowercase())
            && !front.is_empty()
            && !rest.starts_with([':', '/'])
    });
    if let Some((front, rest)) = front {
        if registries().any(|one| one == front) || matches!(front, "registry" | "index") {
            name = rest;
        } else if !origins().any(|one| one == front) && !starts().any(|one| text.starts_with(one)) {
            let known: Vec<&str> = registries().chain(origins()).collect();
            let hint = did_you_mean(front, known.iter().copied()).map_or_else(
                || format!("there are {}", known.join(", ")),
                |near| format!("did you mean `{near}:{rest}`?"),
            );
            return Some((format!("`{front}` is no registry and no origin"), hint));
        } else {
            return None;
        }
    }
    let scope = usize::from(name.starts_with('@'));
    let at = name[scope..].find(['@', '=', '<', '>', '~', '^'])? + scope;
    let version = name[at..].trim_start_matches(['@', '=', '<', '>', '~', '^', 'v']);
    let right = &text[..text.len() - name.len() + at];
    (version.starts_with(|c: char| c.is_ascii_digit() || c == '*') && !name.contains("://"))
        .then(|| misread(format!("`{text}` names a version, which is no part of the name"), right))
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_modes_are_those_that_the_key_tells_of() {
        let doc =
            crate::rule::condition::WHEN_KEYS.iter().find(|key| key.name == "permission_mode");
        assert!(doc.unwrap().doc.ends_with(&MODES.join(", ")));
    }
}
