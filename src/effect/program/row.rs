//! How a row of the program tables is written: shared by the build, which compiles
//! `config/programs/*.toml`, and by the reader of `[program.NAME]` in rule files.

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
];

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
pub const DOMAINS: &[&str] = &["git", "database", "cloud", "container"];

/// One option line: `-o --output <write> | mark git.effect`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Option<'t> {
    /// Every spelling, with its dashes.
    pub names: Vec<&'t str>,
    /// The role of its value and whether the value may be missing.
    pub value: std::option::Option<(&'t str, bool)>,
    /// What else it does.
    pub marks: Vec<&'t str>,
    /// The named effect that it adds, or `listen` or `remote`.
    pub effect: std::option::Option<&'t str>,
}

/// The operands' roles: `["text", "read*", "target"]`.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Operands<'t> {
    /// The first ones, one role each.
    pub before: Vec<&'t str>,
    /// Those in between.
    pub repeat: std::option::Option<&'t str>,
    /// The last one.
    pub last: std::option::Option<&'t str>,
}

/// Takes an option line apart; `<role>` is a value, `[role]` one that may be missing.
pub fn option(line: &str) -> Result<Option<'_>, String> {
    let (head, tail) = line.split_once('|').unwrap_or((line, ""));
    let mut option = Option::default();
    for item in head.split_whitespace() {
        let role = |open: char, close: char| item.strip_prefix(open)?.strip_suffix(close);
        if let Some(role) = role('<', '>') {
            option.value = Some((role, false));
        } else if let Some(role) = role('[', ']') {
            option.value = Some((role, true));
        } else if item.starts_with(['-', '+', '@']) {
            option.names.push(item);
        } else {
            return Err(format!("`{item}` in `{line}` begins with no dash"));
        }
    }
    if option.names.is_empty() {
        return Err(format!("`{line}` names no option"));
    }
    for mark in tail.split_whitespace() {
        if mark.contains('.') || matches!(mark, "listen" | "remote") {
            option.effect = Some(mark);
        } else {
            option.marks.push(mark);
        }
    }
    Ok(option)
}

/// Takes a list of operand roles apart.
pub fn operands<'t>(items: &[&'t str]) -> Result<Operands<'t>, String> {
    let mut operands = Operands::default();
    for item in items {
        match item.strip_suffix('*') {
            Some(_) if operands.repeat.is_some() => {
                return Err(format!("`{item}`: only one role is repeated"));
            }
            Some(role) => operands.repeat = Some(role),
            None if operands.repeat.is_none() => operands.before.push(item),
            None if operands.last.is_none() => operands.last = Some(item),
            None => return Err(format!("`{item}`: one role may follow the repeated one")),
        }
    }
    Ok(operands)
}

/// Takes a line of `verbs` apart: `words of operands | effects`.
pub fn verb(line: &str) -> Result<(&str, Vec<&str>), String> {
    let (words, effects) = line.split_once('|').unwrap_or((line, ""));
    if words.trim().is_empty() {
        return Err(format!("`{line}` names no operand"));
    }
    Ok((words.trim(), effects.split_whitespace().collect()))
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
/// then with tabs between the value's role behind `<` or `[`, the marks, and the effect.
pub fn pack<'t>(options: impl IntoIterator<Item = Option<'t>>) -> String {
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut seen: Vec<&str> = Vec::new();
    for option in options {
        let value = match option.value {
            None => String::new(),
            Some((role, false)) => format!("<{role}"),
            Some((role, true)) => format!("[{role}"),
        };
        let marks: Vec<&str> = option.marks.iter().copied().filter(|m| *m != "each").collect();
        let rest = format!("{value}\t{}\t{}", marks.join(" "), option.effect.unwrap_or_default());
        // Of a name that stands twice, the first counts.
        let mut own = option.names;
        own.retain(|name| !seen.contains(name));
        if own.is_empty() {
            continue;
        }
        seen.extend(&own);
        let own = own.join(if option.marks.contains(&"each") { " " } else { "," });
        match lines.iter_mut().find(|(_, other)| *other == rest) {
            Some((names, _)) => *names = format!("{names} {own}"),
            None => lines.push((own, rest)),
        }
    }
    let lines: Vec<String> = lines.iter().map(|(own, rest)| format!("{own}\t{rest}")).collect();
    lines.join("\n")
}
