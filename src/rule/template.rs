//! Texts with placeholders: `{path} holds secrets.`, `{command|s/^npm/pnpm/}`.
//!
//! In a reason a placeholder becomes its value; in a script it becomes a reference to an
//! environment variable that holds the value, never text, so that no value can become code.

use super::Regex;
use super::later::{FromText, Later};
use crate::limits;

/// What a placeholder stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PlaceholderName {
    /// `{path}`: the path of the matched effect.
    Path,
    /// `{command}`: the matched sub-command.
    Command,
    /// `{tool}`
    Tool,
    /// `{host}`: the host of the matched effect.
    Host,
    /// `{package}`: the package of the matched effect.
    Package,
    /// `{run.output}`: what the rule's `run` printed.
    RunOutput,
    /// `{error}`: why something failed.
    Error,
    /// `{output}`: the text that the tool returned.
    Output,
    /// `{preview}`, `{preview.N}`: so many characters of the prompt.
    Preview(usize),
    /// `{input.FIELD}`
    Input(Vec<String>),
    /// `$PROMPT` and the like, without the dollar.
    Variable(&'static str),
    /// A name of a text that has names of its own.
    Own(&'static str),
}

impl PlaceholderName {
    /// What a reader is told where there is no value.
    fn missing_text(&self) -> String {
        match self {
            PlaceholderName::Path => "a path that is not known".into(),
            PlaceholderName::Host => "a host that is not known".into(),
            PlaceholderName::Package => "a package that is not known".into(),
            PlaceholderName::Command => "this call".into(),
            PlaceholderName::Tool => "(no tool)".into(),
            PlaceholderName::RunOutput => "(no output)".into(),
            PlaceholderName::Error => "(no error)".into(),
            PlaceholderName::Output => "(no output)".into(),
            PlaceholderName::Preview(_) => "(no prompt)".into(),
            PlaceholderName::Input(field) => format!("(no {})", field.join(".")),
            PlaceholderName::Variable(name) | PlaceholderName::Own(name) => {
                format!("(no {})", name.to_lowercase().replace('_', " "))
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Substitution {
    pattern: Regex,
    replacement: String,
    all: bool,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    /// One of the seeds' variables: `$PROMPT` stays what it is in a script.
    Variable(&'static str),
    Value {
        name: PlaceholderName,
        substitutions: Vec<Substitution>,
        quoted: bool,
    },
}

/// A text with its placeholders taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template(Later<Pieces>);

/// What a text is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Pieces(Vec<TemplatePiece>);

impl FromText for Pieces {
    fn from_text(text: &str) -> Result<Pieces, String> {
        take_apart(text, None)
    }
}

/// The names of the placeholders, for hints.
pub const NAMES: &[&str] = &[
    "path",
    "command",
    "tool",
    "host",
    "package",
    "run.output",
    "error",
    "output",
    "preview",
    "input.FIELD",
];

/// How many characters of the prompt `{preview}` is, unless it says so.
const PREVIEW: usize = 80;

/// The seeds' variables that work in every text and script too.
pub const VARIABLES: &[&str] =
    &["$ARGUMENTS", "$PROMPT", "$TRANSCRIPT_PATH", "$CLAUDE_PROJECT_DIR"];

impl Template {
    /// Reads a text. `{{` is a brace; braces that hold no name stay what they are.
    ///
    /// # Errors
    /// The unknown placeholder or the substitution that cannot be read.
    pub fn parse(source: &str) -> Result<Template, String> {
        Later::parse(source).map(Template)
    }

    /// A text that was read before.
    pub fn from_checked(source: &str) -> Template {
        Template(Later::from_checked(source))
    }

    /// Reads a text whose placeholders are these names and no others; a `$` is one.
    ///
    /// # Errors
    /// As for [`Template::parse`].
    pub fn parse_with_names(
        source: &str,
        names: &'static [&'static str],
    ) -> Result<Template, String> {
        Ok(Template(Later::from_known(source, take_apart(source, Some(names))?)))
    }

    fn pieces(&self) -> &[TemplatePiece] {
        self.0.get().map_or(&[], |pieces| &pieces.0)
    }

    /// As written.
    pub fn source(&self) -> &str {
        self.0.text()
    }

    /// Is there nothing in it?
    pub fn is_empty(&self) -> bool {
        self.source().is_empty()
    }

    /// The placeholders in it, in their order.
    pub fn placeholders(&self) -> impl Iterator<Item = &PlaceholderName> {
        self.pieces().iter().filter_map(|piece| match piece {
            TemplatePiece::Value { name, .. } => Some(name),
            _ => None,
        })
    }

    /// Does it use that placeholder?
    pub fn uses_placeholder(&self, wanted: &PlaceholderName) -> bool {
        self.pieces()
            .iter()
            .any(|piece| matches!(piece, TemplatePiece::Value { name, .. } if name == wanted))
    }

    /// Does a placeholder stand inside quotes, where a reference to a variable would break them?
    pub fn has_quoted_placeholder(&self) -> bool {
        self.pieces().iter().any(|piece| matches!(piece, TemplatePiece::Value { quoted: true, .. }))
    }

    /// The regular expressions in it, for checking.
    pub fn regexes(&self) -> impl Iterator<Item = &Regex> {
        self.pieces().iter().flat_map(|piece| match piece {
            TemplatePiece::Value { substitutions, .. } => {
                substitutions.iter().map(|s| &s.pattern).collect::<Vec<_>>()
            }
            TemplatePiece::Text(_) | TemplatePiece::Variable(_) => Vec::new(),
        })
    }

    /// The text with every placeholder replaced by its value; an unknown value is empty.
    pub fn fill(&self, value: &dyn Fn(&PlaceholderName) -> Option<String>) -> String {
        let mut out = String::with_capacity(self.source().len());
        for piece in self.pieces() {
            if out.len() > limits::FILLED {
                break;
            }
            match piece {
                TemplatePiece::Text(text) => out.push_str(text),
                TemplatePiece::Variable(variable) => {
                    let name = PlaceholderName::Variable(&variable[1..]);
                    out.push_str(&value(&name).unwrap_or_default());
                }
                TemplatePiece::Value { name, substitutions, .. } => {
                    out.push_str(&apply_substitutions(
                        value(name).unwrap_or_default(),
                        substitutions,
                    ));
                }
            }
        }
        out
    }

    /// The text for a reader: what is not known is said in words, so that no sentence has a hole.
    pub fn fill_for_reader(&self, value: &dyn Fn(&PlaceholderName) -> Option<String>) -> String {
        let known = |name: &PlaceholderName| value(name).filter(|text| !text.trim().is_empty());
        self.fill(&|name| {
            let by_tool =
                || known(&PlaceholderName::Tool).filter(|_| *name == PlaceholderName::Command);
            known(name).or_else(by_tool).or_else(|| Some(name.missing_text()))
        })
    }

    /// The text as a shell script: `"$HOOKCTL_1"` for each placeholder, and what the variables
    /// hold.
    pub fn to_script(
        &self,
        value: &dyn Fn(&PlaceholderName) -> Option<String>,
    ) -> (String, Vec<(String, String)>) {
        let mut script = String::with_capacity(self.source().len());
        let mut variables = Vec::new();
        for piece in self.pieces() {
            match piece {
                TemplatePiece::Text(text) => script.push_str(text),
                TemplatePiece::Variable(variable) => script.push_str(variable),
                TemplatePiece::Value { name, substitutions, quoted } => {
                    let variable = format!("HOOKCTL_{}", variables.len() + 1);
                    // Inside quotes the reference goes without its own: still never text.
                    if *quoted {
                        script.push_str(&format!("${{{variable}}}"));
                    } else {
                        script.push_str(&format!("\"${variable}\""));
                    }
                    let text = apply_substitutions(value(name).unwrap_or_default(), substitutions);
                    variables.push((variable, text.replace('\0', "")));
                }
            }
        }
        (script, variables)
    }
}

fn take_apart(source: &str, names: Option<&'static [&'static str]>) -> Result<Pieces, String> {
    if !source.bytes().any(|b| matches!(b, b'{' | b'$')) {
        return Ok(Pieces(vec![TemplatePiece::Text(source.to_string())]));
    }
    let mut pieces = Vec::new();
    let mut text = String::new();
    let mut rest = source;
    let mut quote: Option<char> = None;
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix("{{") {
            text.push('{');
            rest = after;
            continue;
        }
        let Some((piece, after)) = piece(rest, names, quote.is_some())? else {
            let (taken, after) = rest.split_at(text_len(rest, &mut quote));
            text.push_str(taken);
            rest = after;
            continue;
        };
        if !text.is_empty() {
            pieces.push(TemplatePiece::Text(std::mem::take(&mut text)));
        }
        pieces.push(piece);
        rest = after;
    }
    if !text.is_empty() {
        pieces.push(TemplatePiece::Text(text));
    }
    Ok(Pieces(pieces))
}

/// The placeholder or variable that the text begins with, and what follows it.
fn piece<'t>(
    text: &'t str,
    names: Option<&'static [&'static str]>,
    quoted: bool,
) -> Result<Option<(TemplatePiece, &'t str)>, String> {
    if let Some((body, after)) = split_placeholder(text, names)? {
        let (name, substitutions) = parse_placeholder(body, names)?;
        return Ok(Some((TemplatePiece::Value { name, substitutions, quoted }, after)));
    }
    let variables = if names.is_none() { VARIABLES } else { &[] };
    let variable = variables.iter().find(|variable| starts_with_word(text, variable));
    Ok(variable.map(|variable| (TemplatePiece::Variable(variable), &text[variable.len()..])))
}

/// How much of a text is text for certain: all up to what may mean more, else a character, or two where one is escaped.
fn text_len(text: &str, quote: &mut Option<char>) -> usize {
    let is_special = |byte: &u8| matches!(byte, b'{' | b'$' | b'\'' | b'"' | b'\\');
    match text.as_bytes().iter().position(is_special) {
        Some(0) => {}
        Some(plain) => return plain,
        None => return text.len(),
    }
    let mut chars = text.chars();
    match (*quote, chars.next()) {
        (None, open @ Some('\'' | '"')) => *quote = open,
        (Some(open), Some(c)) if open == c => *quote = None,
        (Some('\''), _) => {}
        // What is escaped opens no quote.
        (_, Some('\\')) => drop(chars.next()),
        _ => {}
    }
    text.len() - chars.as_str().len()
}

/// Does the text begin with the variable and not with a longer name?
fn starts_with_word(text: &str, variable: &str) -> bool {
    text.strip_prefix(variable)
        .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_'))
}

fn apply_substitutions(value: String, substitutions: &[Substitution]) -> String {
    let mut value = value;
    for one in substitutions {
        let written = one.pattern.replace(&value, one.all, |found, out| {
            found.expand(&one.replacement, out);
        });
        match written {
            Some(written) => value = written,
            // There is no end to it: none of the others are of use.
            None => break,
        }
    }
    value
}

/// The inside of the placeholder that `text` begins with and what follows it, where it is one.
///
/// # Errors
/// Where a name of ours is followed by what is no substitution.
fn split_placeholder<'t>(
    text: &'t str,
    names: Option<&[&'static str]>,
) -> Result<Option<(&'t str, &'t str)>, String> {
    let Some(inside) = text.strip_prefix('{') else { return Ok(None) };
    let of_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '[' | ']');
    let Some(name_len) = inside.find(|c| !of_name(c)) else { return Ok(None) };
    if !inside.starts_with(|c: char| c.is_ascii_alphabetic()) {
        return Ok(None);
    }
    let name = &inside[..name_len];
    match inside.as_bytes()[name_len] {
        b'}' => Ok(Some((name, &inside[name_len + 1..]))),
        b'|' => match substitutions_end(inside, name_len) {
            Some(end) => Ok(Some((&inside[..end], &inside[end + 1..]))),
            None if parse_placeholder(name, names).is_ok() => Err(format!(
                "the substitution of `{{{name}|` is broken: it is written {{{name}|s/regex/new/}}"
            )),
            // A brace of somebody else.
            None => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Where the first `}` behind a complete list of substitutions stands.
fn substitutions_end(inside: &str, name_len: usize) -> Option<usize> {
    let mut at = name_len;
    while inside[at..].starts_with('|') {
        at += 1 + substitution_len(&inside[at + 1..])?;
    }
    inside[at..].starts_with('}').then_some(at)
}

/// The length of `s/regex/new/flags`, any punctuation as the separator.
fn substitution_len(text: &str) -> Option<usize> {
    let (_, _, len) = split_substitution(text)?;
    Some(len + text[len..].bytes().take_while(|b| b.is_ascii_lowercase()).count())
}

/// The regex, the replacement and the length up to behind the last separator.
fn split_substitution(text: &str) -> Option<(String, String, usize)> {
    let rest = text.strip_prefix('s')?;
    let separator = rest.chars().next().filter(char::is_ascii_punctuation)?;
    let mut parts = vec![String::new()];
    let mut chars = rest.char_indices().skip(1);
    while let Some((at, c)) = chars.next() {
        if c == '\\' {
            let (_, next) = chars.next()?;
            if next != separator {
                parts.last_mut()?.push('\\');
            }
            parts.last_mut()?.push(next);
        } else if c == separator {
            if parts.len() == 2 {
                let replacement = parts.pop()?;
                return Some((parts.pop()?, replacement, 1 + at + c.len_utf8()));
            }
            parts.push(String::new());
        } else {
            parts.last_mut()?.push(c);
        }
    }
    None
}

fn parse_placeholder(
    body: &str,
    names: Option<&[&'static str]>,
) -> Result<(PlaceholderName, Vec<Substitution>), String> {
    let (name, mut rest) = body.split_at(body.find('|').unwrap_or(body.len()));
    let name = match names {
        Some(own) => {
            own.iter().find(|known| **known == name).map(|name| PlaceholderName::Own(name))
        }
        None => usual_name(name),
    };
    let Some(name) = name else {
        let (names, other) = (names.unwrap_or(NAMES).join("} {"), &body[..body.len() - rest.len()]);
        return Err(format!(
            "unknown placeholder `{{{other}}}`: there are {{{names}}}; `{{{{` is a brace"
        ));
    };
    let mut substitutions = Vec::new();
    while let Some(text) = rest.strip_prefix('|') {
        let (substitution, after) = substitution(text)?;
        substitutions.push(substitution);
        rest = after;
    }
    Ok((name, substitutions))
}

fn usual_name(name: &str) -> Option<PlaceholderName> {
    Some(match name {
        "path" => PlaceholderName::Path,
        "command" => PlaceholderName::Command,
        "tool" => PlaceholderName::Tool,
        "host" => PlaceholderName::Host,
        "package" => PlaceholderName::Package,
        "run.output" => PlaceholderName::RunOutput,
        "error" => PlaceholderName::Error,
        "output" => PlaceholderName::Output,
        "preview" => PlaceholderName::Preview(PREVIEW),
        other if other.starts_with("preview.") => {
            let digits = &other["preview.".len()..];
            PlaceholderName::Preview(digits.parse().ok().filter(|characters| *characters > 0)?)
        }
        other => {
            let field = other.strip_prefix("input.").filter(|field| !field.is_empty())?;
            PlaceholderName::Input(field.split('.').map(str::to_string).collect())
        }
    })
}

/// The substitution that the text begins with, and what follows it.
fn substitution(text: &str) -> Result<(Substitution, &str), String> {
    let (mut source, replacement, len) = split_substitution(text)
        .ok_or("a substitution is written s/regex/new/ or s/regex/new/g")?;
    let flags = text[len..].bytes().take_while(|b| b.is_ascii_lowercase()).count();
    let mut all = false;
    for flag in text[len..len + flags].chars() {
        match flag {
            'g' => all = true,
            'i' => source.insert_str(0, "(?i)"),
            other => return Err(format!("unknown flag `{other}`: there are g and i")),
        }
    }
    // sed's \1 is the regex crate's ${1}.
    let replacement = convert_groups(&replacement);
    Ok((Substitution { pattern: Regex::new(source), replacement, all }, &text[len + flags..]))
}

fn convert_groups(replacement: &str) -> String {
    let mut out = String::new();
    let mut chars = replacement.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some(digit)) if digit.is_ascii_digit() => {
                out.push_str(&format!("${{{digit}}}"));
                chars.next();
            }
            ('\\', Some(_)) => out.extend(chars.next()),
            // A dollar is text: sed's users do not know the crate's own references.
            ('$', _) => out.push_str("$$"),
            (c, _) => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fill(text: &str) -> String {
        Template::parse(text).unwrap().fill(&|name| match name {
            PlaceholderName::Path => Some("/a/b.rs".into()),
            PlaceholderName::Command => Some("npm install npm".into()),
            PlaceholderName::Input(field) => Some(field.join("+")),
            _ => None,
        })
    }

    #[test]
    fn no_placeholder_leaves_a_hole_in_what_is_told() {
        let mut all: Vec<String> = NAMES.iter().map(|name| format!("{{{name}}}")).collect();
        all.extend(VARIABLES.iter().map(|name| name.to_string()));
        for empty in [None, Some(String::new()), Some(" \n".into())] {
            for name in &all {
                let text = format!("<{name}> lies outside");
                let told = Template::parse(&text).unwrap().fill_for_reader(&|_| empty.clone());
                assert!(!told.contains("<>") && !told.contains("< "), "{text}: {told}");
            }
        }
        let tool = |name: &PlaceholderName| {
            (*name == PlaceholderName::Tool).then(|| "mcp__x__drop".to_string())
        };
        let told = |text: &str| Template::parse(text).unwrap().fill_for_reader(&tool);
        assert_eq!(told("`{command}` deletes."), "`mcp__x__drop` deletes.");
        assert_eq!(told("{path} lies outside."), "a path that is not known lies outside.");
        assert_eq!(told("{input.a.b} and {tool}"), "(no a.b) and mcp__x__drop");
    }

    #[test]
    fn a_name_that_is_none_is_told_without_what_follows_it() {
        let told = Template::parse("{pth|s/a/b/}").unwrap_err();
        assert!(told.contains("`{pth}`"), "{told}");
        let path = Template::parse("x {path} y").unwrap();
        assert!(path.uses_placeholder(&PlaceholderName::Path));
        assert!(!path.uses_placeholder(&PlaceholderName::Command));
    }

    #[test]
    fn values_and_substitutions() {
        assert_eq!(fill("{path} holds secrets."), "/a/b.rs holds secrets.");
        assert_eq!(fill("{command|s/^npm/pnpm/}"), "pnpm install npm");
        assert_eq!(fill("{command|s/npm/pnpm/g}"), "pnpm install pnpm");
        assert_eq!(fill("{path|s#(.*)/#\\1:#}"), "/a:b.rs");
        assert_eq!(fill("{path|s/a/x/|s/b/y/}"), "/x/y.rs");
        assert_eq!(fill("{input.edits.x}"), "edits+x");
        assert_eq!(fill("{{path} {} {\"a\": 1} {a b}"), "{path} {} {\"a\": 1} {a b}");
        assert_eq!(fill("{command|s/npm/a}b/}"), "a}b install npm");
        assert!(Template::parse("{pth}").is_err());
        for broken in [
            "{path|}",
            "{path|s/a/b}",
            "{path|s/a}",
            "{command|s/a/b/|}",
            "{input.x|tr a b}",
            "{path|s/a/b/ }",
            "{host|",
        ] {
            assert!(Template::parse(broken).is_err(), "{broken}");
        }
        assert_eq!(fill("awk {print|\"sort\"} {path x}"), "awk {print|\"sort\"} {path x}");
        const TOLD: &[&str] = &["what", "decision"];
        let told = Template::parse_with_names("{what|s/</&lt;/g} $PROMPT {{what}", TOLD).unwrap();
        let filled =
            told.fill(&|name| (*name == PlaceholderName::Own("what")).then(|| "<a>".into()));
        assert_eq!(filled, "&lt;a> $PROMPT {what}");
        assert!(Template::parse_with_names("{path}", TOLD).unwrap_err().contains("{decision}"));
    }

    #[test]
    fn what_doubles_at_each_step_ends() {
        // In one step each time, or a thousand times as long at once.
        let long =
            format!("{{path|s/a/{}/|s/x/{}/g|s/x/x/g}}", "x".repeat(5000), "$0".repeat(5000));
        let filled = fill(&long);
        assert!(filled.len() <= 2 * limits::FILLED, "{}", filled.len());
        let many = Template::parse(&"{path}".repeat(1000)).unwrap();
        let filled = many.fill(&|_| Some("x".repeat(1 << 20)));
        assert!(filled.len() <= limits::FILLED + (1 << 20));
    }

    #[test]
    fn scripts_hold_no_values() {
        let template = Template::parse("rustfmt {path}").unwrap();
        let (script, variables) = template.to_script(&|_| Some("$(touch x)".into()));
        assert_eq!(script, "rustfmt \"$HOOKCTL_1\"");
        assert_eq!(variables, [("HOOKCTL_1".to_string(), "$(touch x)".to_string())]);
        assert!(!template.has_quoted_placeholder());
        assert!(Template::parse("rustfmt '{path}'").unwrap().has_quoted_placeholder());
    }
}
