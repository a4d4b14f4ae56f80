//! How a row of the program tables is written: shared by the build, which compiles
//! `config/programs/*.toml`, and by the reader of `[program.NAME]` in rule files.

use super::vocabulary::{Fault, Role, mark};

/// The keys of an entry.
pub const KEYS: &[&str] = &[
    "same",
    "complete",
    "options",
    "operands",
    "effects",
    "stop",
    "sub",
    "single",
    "assignments",
    "neutral",
    "default",
    "special",
    "lang",
    "abbreviate",
    "extra",
    "global",
    "free",
    "verbs",
    "windows",
    "on-windows",
    "through",
    "class",
    "settings",
    "recipes",
    "writes",
    "files",
    "synonyms",
    "means",
];

/// The keys that only shipped tables have.
pub const SHIPPED: &[&str] = &["special", "settings", "recipes"];

/// The keys that say nothing of what calls do: a program with no other is as opaque as one without an entry.
pub const BESIDE: &[&str] = &["class", "settings", "recipes"];

/// The keys that are yes or no, in the order in which the build packs them.
pub const FLAGS: &[&str] = &[
    "complete",
    "stop",
    "sub",
    "single",
    "assignments",
    "neutral",
    "abbreviate",
    "global",
    "free",
    "windows",
    "through",
];

/// Under these prefixes tables may name effects of their own: `cloud.delete`.
pub const DOMAINS: &[&str] = &[
    "git",
    "database",
    "cloud",
    "container",
    "package",
    "process",
    "forge",
    "content",
    "secret",
    "host",
];

/// One option line: `-o --output <write> | mark git.effect`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Option<'t> {
    /// Every spelling, with its dashes.
    pub names: Vec<&'t str>,
    /// The role of its value and whether the value may be missing.
    pub value: std::option::Option<(Role, bool)>,
    /// What else it does: bits of [`mark`].
    pub marks: u32,
    /// The named effect that it adds, or `listen` or `remote`.
    pub effect: std::option::Option<&'t str>,
}

/// The operands' roles: `["text", "read*", "target"]`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Operands {
    /// The first ones, one role each.
    pub before: Vec<Role>,
    /// Those in between.
    pub repeat: std::option::Option<Role>,
    /// The last one.
    pub last: std::option::Option<Role>,
}

/// Takes an option line apart; `<role>` is a value, `[role]` one that may be missing.
pub fn parse_option_line(line: &str) -> Result<Option<'_>, Fault> {
    let (head, tail) = line.split_once('|').unwrap_or((line, ""));
    let mut option = Option::default();
    for item in head.split_whitespace() {
        let role = |open: char, close: char| item.strip_prefix(open)?.strip_suffix(close);
        if let Some(role) = role('<', '>') {
            option.value = Some((Role::from_text(role)?, false));
        } else if let Some(role) = role('[', ']') {
            option.value = Some((Role::from_text(role)?, true));
        } else if item.starts_with(['-', '+', '@']) {
            option.names.push(item);
        } else {
            return Err(Fault::Form(format!("`{item}` in `{line}` begins with no dash")));
        }
    }
    if option.names.is_empty() {
        return Err(Fault::Form(format!("`{line}` names no option")));
    }
    for mark in tail.split_whitespace() {
        if mark.contains('.') || matches!(mark, "listen" | "remote") {
            option.effect = Some(mark);
        } else {
            option.marks |= mark::from_text(mark)?;
        }
    }
    Ok(option)
}

/// Takes a list of operand roles apart.
pub fn parse_operands(items: &[&str]) -> Result<Operands, Fault> {
    let mut operands = Operands::default();
    for item in items {
        let fault = |why: &str| Fault::Form(format!("`{item}`: {why}"));
        let role = Role::from_text(item.strip_suffix('*').unwrap_or(item))?;
        match item.ends_with('*') {
            true if operands.repeat.is_some() => return Err(fault("only one role is repeated")),
            true => operands.repeat = Some(role),
            false if operands.repeat.is_none() => operands.before.push(role),
            false if operands.last.is_none() => operands.last = Some(role),
            false => return Err(fault("one role may follow the repeated one")),
        }
    }
    Ok(operands)
}

/// Takes a line of `verbs` apart: `words of operands | effects`.
pub fn parse_verb_line(line: &str) -> Result<(&str, Vec<&str>), Fault> {
    let (words, effects) = line.split_once('|').unwrap_or((line, ""));
    let words = words.trim();
    if words.is_empty() || words.contains('\n') {
        return Err(Fault::Form(format!("`{line}` is no line of operands")));
    }
    Ok((words, effects.split_whitespace().collect()))
}

/// When a line of `writes` holds.
pub const WRITES: &[&str] = &["named", "bare", "there"];

/// Takes a line of `writes` apart: `package.json package-lock.json | named there`.
pub fn parse_write_line(line: &str) -> Result<(Vec<&str>, Vec<&str>), Fault> {
    let (files, when) = line.split_once('|').unwrap_or((line, ""));
    let (files, when): (Vec<&str>, Vec<&str>) =
        (files.split_whitespace().collect(), when.split_whitespace().collect());
    if files.is_empty() {
        return Err(Fault::Form(format!("`{line}` names no file")));
    }
    match when.iter().find(|word| !WRITES.contains(word)) {
        Some(word) => Err(Fault::Unknown {
            what: "condition of `writes`",
            word: (*word).to_string(),
            known: WRITES.to_vec(),
        }),
        None => Ok((files, when)),
    }
}

/// Packs such lines.
pub fn pack_writes<'t>(lines: impl IntoIterator<Item = (Vec<&'t str>, Vec<&'t str>)>) -> String {
    let lines =
        lines.into_iter().map(|(files, when)| format!("{}|{}", files.join(" "), when.join(" ")));
    lines.collect::<Vec<_>>().join("\n")
}

/// Takes a line of names that mean the same apart: `install,i` of a program, `docker compose,docker-compose` of any.
pub fn parse_synonyms(line: &str) -> Result<String, Fault> {
    let names: Vec<String> =
        line.split(',').map(|name| name.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    if names.len() < 2 || names.iter().any(String::is_empty) {
        return Err(Fault::Form(format!("`{line}` names no two that are the same")));
    }
    Ok(names.join(","))
}

/// A name of `files`: `*.py`.
pub fn parse_file_glob(text: &str) -> Result<&str, Fault> {
    match text.is_empty() || text.contains(char::is_whitespace) {
        true => Err(Fault::Form(format!("`{text}` is no glob of a file"))),
        false => Ok(text),
    }
}

/// A command of `means`: `docker compose`.
pub fn parse_meaning(text: &str) -> Result<String, Fault> {
    let words: Vec<&str> = text.split_whitespace().collect();
    match words.is_empty() || text.contains(',') {
        true => Err(Fault::Form(format!("`{text}` names no command"))),
        false => Ok(words.join(" ")),
    }
}

/// Is that a well-formed effect name of a domain: `cloud.delete`?
pub fn is_named_effect(text: &str) -> bool {
    text.split_once('.').is_some_and(|(domain, name)| {
        DOMAINS.contains(&domain)
            && !name.is_empty()
            && name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    })
}

/// Packs option lines: those that differ in nothing but their names share one line, `-a,--all -b`,
/// then with tabs between the sign of the value's role behind `<` or `[`, those of the marks, and the effect.
pub fn pack_options<'t>(options: impl IntoIterator<Item = Option<'t>>) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for option in options {
        let value = option.value.map_or(String::new(), |(role, optional)| {
            format!("{}{}", if optional { '[' } else { '<' }, role.sign())
        });
        let marks = mark::signs(option.marks & !mark::EACH);
        let rest = format!("{value}\t{marks}\t{}", option.effect.unwrap_or_default());
        // Of a name that stands twice, the first counts.
        let mut own = option.names;
        own.retain(|name| !seen.contains(name));
        if own.is_empty() {
            continue;
        }
        seen.extend(&own);
        let own = own.join(if option.marks & mark::EACH != 0 { " " } else { "," });
        match lines.iter_mut().find(|(_, other)| *other == rest) {
            Some((names, _)) => *names = format!("{names} {own}"),
            None => lines.push((own, rest)),
        }
    }
    let lines: Vec<String> = lines.iter().map(|(own, rest)| format!("{own}\t{rest}")).collect();
    lines.join("\n")
}

/// Packs the operands' roles: the signs of the first ones, of the repeated one, of the last one.
pub fn pack_operands(operands: &Operands) -> String {
    let signs = |roles: &[Role]| roles.iter().map(|role| role.sign()).collect::<String>();
    let one = |role: &std::option::Option<Role>| signs(role.as_slice());
    format!("{} {} {}", signs(&operands.before), one(&operands.repeat), one(&operands.last))
}
