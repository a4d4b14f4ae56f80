//! Values: what an argument is known to be.

use std::ops::Range;

use super::Arg;
use super::analysis::Secrets;
use crate::glob;
use crate::limits;

/// Stands in computed text for a part that is known only at run time (no shell knows this character).
/// A call whose own text holds it is not understood: see [`is_forged`].
pub const BLANK: char = '\u{10fffe}';
/// In shell text the same is a variable that nobody sets: without quotes it may be several words.
pub const SOME_VARIABLE: &str = "$__hookctl_item";

/// Why such a call is not understood.
pub const FORGED: &str = "a character that stands for what is not known";

/// Does a text that comes from outside hold the mark itself?
pub fn is_forged(text: &str) -> bool {
    text.contains(BLANK)
}

/// Does `holds` of what is written before one of an outline's gaps?
pub fn any_blank(outline: &str, holds: impl Fn(&str) -> bool) -> bool {
    outline.match_indices(BLANK).any(|(at, _)| holds(&outline[..at]))
}

/// Who prints a text that is known only at run time; the least trusted of several counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Printer {
    /// No command: a variable, input.
    #[default]
    Nobody,
    /// A program that prints settings for this very purpose (`ssh-agent -s`, `direnv hook`).
    Settings,
    /// A file that was there before the call, as it is (`cat f`).
    File,
    /// Another program on this machine.
    Local,
    /// The network, or something that decodes: nobody has seen that text.
    Stranger,
}

/// What is known of a text.
#[derive(Debug, Clone, PartialEq)]
pub enum Text {
    /// All of it.
    Known(String),
    /// A pattern with active glob characters; those that are not active are escaped.
    Glob {
        /// The pattern.
        pattern: String,
        /// Where it only stands for numbers: the text with a [`BLANK`] for each.
        outline: Option<String>,
    },
    /// `<(cmd)` or `>(cmd)`: the path of a pipe, and which one that is.
    Pipe(usize),
    /// Known only at run time.
    Unknown(Unknown),
}

/// What is known of a text that is known only at run time.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Unknown {
    /// It is one word that begins so.
    pub prefix: Option<String>,
    /// All of it, with a [`BLANK`] for each part that is not known.
    pub outline: Option<String>,
    /// How a shell may split it.
    pub split: Split,
    /// Who prints it.
    pub by: Printer,
    /// Each part that is not known is a name, a number or a path that was found: it ends no text that stands in quotes.
    pub tame: bool,
}

/// How a shell may split a text that is known only at run time; the most of several counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Split {
    /// Not at all, for it is a name or part of one: it holds no slash and is not `..`.
    Name,
    /// It is what a search for files found: paths below the place that the text begins with.
    Below,
    /// Not at all: surely one word.
    Never,
    /// It may be several words, though most of the time it is one.
    Rarely,
    /// It may be any number of words.
    #[default]
    Freely,
}

/// An argument after expansion: more than an [`Arg`] can say.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    /// What is known of its text.
    pub text: Text,
    /// Its bytes in the text of the call.
    pub span: Range<usize>,
    /// What of secrets it may hold.
    pub secrets: Secrets,
}

impl Value {
    /// A value of that text that holds no secret.
    pub const fn of(text: Text, span: Range<usize>) -> Value {
        Value { text, span, secrets: 0 }
    }

    /// A known text.
    pub fn known(text: impl Into<String>, span: Range<usize>) -> Value {
        Value::of(Text::Known(text.into()), span)
    }

    /// A pattern.
    pub fn glob(pattern: impl Into<String>, span: Range<usize>) -> Value {
        Value::of(Text::Glob { pattern: pattern.into(), outline: None }, span)
    }

    /// Known only at run time.
    pub fn unknown(span: Range<usize>) -> Value {
        Value::of(Text::Unknown(Unknown::default()), span)
    }

    /// One word that begins so, and whose rest is known only at run time.
    pub fn begins(prefix: impl Into<String>, span: Range<usize>) -> Value {
        let prefix = Some(prefix.into()).filter(|prefix| !prefix.is_empty());
        Value::of(Text::Unknown(Unknown { prefix, ..Unknown::default() }), span)
    }

    /// Text with a [`BLANK`] for each part that is not known, told by how it begins.
    pub fn partly(text: &str, span: Range<usize>) -> Value {
        match text.split_once(BLANK) {
            Some((prefix, _)) => Value::begins(prefix, span),
            None => Value::known(text, span),
        }
    }

    /// Known only at run time; somebody prints it.
    pub fn printed(by: Printer, span: Range<usize>) -> Value {
        Value::of(Text::Unknown(Unknown { by, ..Unknown::default() }), span)
    }

    /// Text with a [`BLANK`] for each part that is not known.
    pub fn outlined(outline: String, by: Printer, span: Range<usize>) -> Value {
        let outline = Some(outline);
        Value::of(Text::Unknown(Unknown { outline, by, ..Unknown::default() }), span)
    }

    /// The same, surely one word.
    pub fn one(mut self) -> Value {
        if let Text::Unknown(unknown) = &mut self.text {
            unknown.split = Split::Never;
        }
        self
    }

    /// The same, read as a pattern if it is `active`.
    pub fn globbed(self, active: bool) -> Value {
        match self.text {
            Text::Known(pattern) if active => {
                Value { secrets: self.secrets, ..Value::glob(pattern, self.span) }
            }
            _ => self,
        }
    }

    /// The same with its known text changed.
    pub fn map(&self, change: impl FnOnce(&str) -> String) -> Value {
        let text = match &self.text {
            Text::Known(text) => Text::Known(change(text)),
            Text::Glob { pattern, outline } => {
                Text::Glob { pattern: change(pattern), outline: outline.clone() }
            }
            other => other.clone(),
        };
        Value { text, span: self.span.clone(), secrets: self.secrets }
    }

    /// The value as others see it.
    pub fn to_arg(&self) -> Arg {
        let text = self.text().map(str::to_string);
        Arg { text, glob: self.is_glob(), open: self.may_be_option(), span: self.span.clone() }
    }

    /// May what is not known be an option? A quoted variable is no option that anybody means, and neither is what has a
    /// place in a text (`$HOST:/srv`).
    fn may_be_option(&self) -> bool {
        let Text::Unknown(unknown) = &self.text else { return false };
        match unknown.prefix.as_deref().or(unknown.outline.as_deref()) {
            Some(text) if text.starts_with('-') => true,
            Some(text) => text.chars().all(|c| c == BLANK) && unknown.split == Split::Freely,
            None => unknown.split == Split::Freely,
        }
    }

    /// The whole text or pattern, where it is known.
    pub fn text(&self) -> Option<&str> {
        match &self.text {
            Text::Known(text) | Text::Glob { pattern: text, .. } => Some(text),
            Text::Pipe(_) | Text::Unknown(_) => None,
        }
    }

    /// The text, if it is known and no glob.
    pub fn plain_text(&self) -> Option<&str> {
        match &self.text {
            Text::Known(text) => Some(text),
            _ => None,
        }
    }

    /// Is it a pattern?
    pub fn is_glob(&self) -> bool {
        matches!(self.text, Text::Glob { .. })
    }

    /// Is it the path of a pipe?
    pub fn is_pipe(&self) -> bool {
        matches!(self.text, Text::Pipe(_))
    }

    fn open(&self) -> Option<&Unknown> {
        match &self.text {
            Text::Unknown(unknown) => Some(unknown),
            _ => None,
        }
    }

    /// How it begins, where the rest is known only at run time.
    pub fn prefix(&self) -> Option<&str> {
        self.open()?.prefix.as_deref()
    }

    /// How the first of the words begins that it may become.
    pub fn written_start(&self) -> &str {
        let written = self.outline().and_then(|text| text.split(BLANK).next());
        match self.known_start() {
            "" => written.unwrap_or_default(),
            start => start,
        }
    }

    /// All of it with a [`BLANK`] for each part that is not known, where some is not.
    pub fn outline(&self) -> Option<&str> {
        match &self.text {
            Text::Glob { outline, .. } | Text::Unknown(Unknown { outline, .. }) => {
                outline.as_deref()
            }
            _ => None,
        }
    }

    /// Who prints what is not known of it.
    pub fn by(&self) -> Printer {
        self.open().map_or(Printer::Nobody, |unknown| unknown.by)
    }

    /// Does a stranger print it?
    pub fn is_fed(&self) -> bool {
        self.by() == Printer::Stranger
    }

    /// Does a stranger print some of it, where `speaks` holds of its outline? It may be all where that is not known.
    pub fn is_fed_where(&self, speaks: impl Fn(&str) -> bool) -> bool {
        self.is_fed() && self.outline().is_none_or(speaks)
    }

    /// Do the parts that are not known end no text that stands in quotes?
    pub fn is_tame(&self) -> bool {
        self.is_glob() || self.open().is_some_and(|unknown| unknown.tame)
    }

    /// Is what is not known a part of a name?
    pub fn is_name(&self) -> bool {
        self.open().is_some_and(|unknown| unknown.split == Split::Name)
    }

    /// Is it what a search for files found, which begins as it says?
    pub fn is_found(&self) -> bool {
        let found = |unknown: &Unknown| unknown.split == Split::Below && unknown.prefix.is_some();
        self.open().is_some_and(found) && self.by() == Printer::Nobody
    }

    /// May what a program prints, or a file holds, lead anywhere from there, by a slash and `..`?
    pub fn may_lead_out(&self) -> bool {
        self.open().is_some_and(|unknown| !matches!(unknown.split, Split::Name | Split::Below))
            && self.by() >= Printer::File
    }

    /// May it become any number of words?
    pub fn may_be_several(&self) -> bool {
        match &self.text {
            Text::Known(_) | Text::Pipe(_) => false,
            Text::Glob { pattern, .. } => pattern != glob::SOME_NUMBER,
            Text::Unknown(unknown) => unknown.split == Split::Freely && unknown.prefix.is_none(),
        }
    }

    /// Is it sure that what stands behind it is counted from the next word on?
    pub fn counts_once(&self) -> bool {
        !self.may_be_several() && self.open().is_none_or(|unknown| unknown.split != Split::Rarely)
    }

    /// The text with a [`BLANK`] for each unknown part, unless a stranger prints some of it.
    pub fn sketch_text(&self) -> Option<&str> {
        // Of globs only numbers: what any other becomes nobody knows.
        self.plain_text().or(self.outline()).filter(|_| !self.is_fed())
    }

    /// The part behind the first `n` bytes (an option's glued value).
    pub fn skip_bytes(&self, n: usize) -> Value {
        let cut = |t: &str| t.get(n..).map(str::to_string);
        let text = match &self.text {
            Text::Known(text) => cut(text).map(Text::Known),
            Text::Glob { pattern, outline } => {
                cut(pattern).map(|pattern| Text::Glob { pattern, outline: outline.clone() })
            }
            Text::Pipe(at) => Some(Text::Pipe(*at)),
            Text::Unknown(unknown) => {
                let prefix = unknown.prefix.as_deref().and_then(cut);
                Some(Text::Unknown(Unknown { prefix, ..unknown.clone() }))
            }
        };
        let text = text.unwrap_or_else(|| Text::Unknown(Unknown::default()));
        Value { text, span: self.span.clone(), secrets: self.secrets }
    }

    /// Something below the directory that it names.
    pub fn unknown_below(&self) -> Value {
        match self.plain_text() {
            Some(text) => {
                let prefix = Some(format!("{}/", text.trim_end_matches('/')));
                let unknown = Unknown { prefix, split: Split::Below, ..Unknown::default() };
                Value::of(Text::Unknown(unknown), self.span.clone())
            }
            None => Value::unknown(self.span.clone()),
        }
    }

    /// Files of that name at any depth below the directory. Only a name that is told by how it begins
    /// (`.env*`) counts: `*.json` says little of what is there.
    pub fn at_any_depth(&self, dir: &str) -> Option<Value> {
        let text = self.text()?;
        let told = !text.starts_with(['*', '?', '[', '{', '!', '\\']) && !text.contains('/');
        let dir = dir.trim_end_matches('/');
        told.then(|| Value::glob(format!("{dir}/**/{text}"), self.span.clone()))
    }

    /// The same with `item` for each `token` in it.
    pub fn replace_token(&self, token: &str, item: &Value) -> Value {
        let Some(text) = self.text().filter(|t| t.contains(token)) else {
            return self.clone();
        };
        if text == token {
            return Value { span: self.span.clone(), ..item.clone() };
        }
        // As `"dir/$(cmd)"` is: who prints the item stays known. Text with blanks is a command's.
        if item.may_lead_out() && !text.contains(char::is_whitespace) {
            let outline = text.replace(token, &format!("{}{BLANK}", item.known_start()));
            let prefix = outline.split(BLANK).next().filter(|prefix| !prefix.is_empty());
            let unknown = Unknown {
                prefix: prefix.map(str::to_string),
                outline: Some(outline.clone()),
                split: Split::Never,
                by: item.by(),
                tame: false,
            };
            let secrets = self.secrets | item.secrets;
            return Value { text: Text::Unknown(unknown), span: self.span.clone(), secrets };
        }
        let open = if item.text().is_some() { String::new() } else { BLANK.to_string() };
        let mut filled =
            self.map(|text| text.replace(token, &format!("{}{open}", item.known_start())));
        filled.secrets |= item.secrets;
        filled.globbed(item.is_glob())
    }

    /// Is part of it not known?
    pub fn is_open(&self) -> bool {
        self.text().is_none_or(|text| text.contains(BLANK))
    }

    /// The known beginning.
    pub fn known_start(&self) -> &str {
        self.text().or(self.prefix()).unwrap_or_default()
    }
}

/// Does a word look like a path? Used for programs that no table describes.
pub fn looks_like_path(text: &str) -> bool {
    if text.is_empty()
        || text.contains("://")
        || text.len() > limits::PATH_MAX
        || text.contains('\n')
    {
        return false;
    }
    if text.contains('/') || text.starts_with('~') || text == "." || text == ".." {
        return !text.contains([' ', '(', ';', '|', '<']) || text.starts_with(['/', '~', '.']);
    }
    if text.starts_with('.') && text.len() > 1 {
        return true;
    }
    // A name with an extension: `notes.txt`, not `1.2.3`, `x = 1.5`.
    text.rsplit_once('.').is_some_and(|(stem, ext)| {
        !stem.is_empty()
            && (1..=8).contains(&ext.len())
            && ext.bytes().all(|b| b.is_ascii_alphanumeric())
            && ext.bytes().any(|b| b.is_ascii_alphabetic())
            && stem.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.+@*?[]".contains(&b))
    })
}
