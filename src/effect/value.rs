//! Values: what an argument is known to be.

use std::ops::Range;

use super::Arg;
use crate::limits;

/// Stands in computed text for a part that is known only at run time (no shell knows this character).
pub const BLANK: char = '\u{10fffe}';

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

/// An argument after expansion: more than an [`Arg`] can say.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Value {
    /// The whole text, where it is known; glob characters that are not active are escaped if
    /// `glob` is set.
    pub text: Option<String>,
    /// `text` holds active glob characters.
    pub glob: bool,
    /// Where `text` is None: one word that begins so and whose rest is known only at run time.
    pub prefix: Option<String>,
    /// Where `text` is None: surely one word.
    pub one: bool,
    /// Where `text` is None: a shell may make several words of it, though most of the time it is one.
    pub splits: bool,
    /// What is not known is, up to the next slash, part of a name.
    pub name: bool,
    /// Where `text` is None, or a glob that only stands for numbers: all of it, with a [`BLANK`] for each part that is not known.
    pub outline: Option<String>,
    /// A stranger prints it.
    pub fed: bool,
    /// Who prints it, where it is not known.
    pub by: Printer,
    /// `<(cmd)` or `>(cmd)`: the path of a pipe.
    pub pipe: bool,
    /// Which pipe that is.
    pub feed: usize,
    /// Its bytes in the text.
    pub span: Range<usize>,
}

impl Value {
    /// A known text.
    pub fn known(text: impl Into<String>, span: Range<usize>) -> Value {
        Value { text: Some(text.into()), span, ..Value::default() }
    }

    /// Known only at run time.
    pub fn unknown(span: Range<usize>) -> Value {
        Value { span, ..Value::default() }
    }

    /// The value as others see it.
    pub fn arg(&self) -> Arg {
        Arg { text: self.text.clone(), glob: self.glob, span: self.span.clone() }
    }

    /// The text, if it is known and no glob.
    pub fn plain(&self) -> Option<&str> {
        if self.glob { None } else { self.text.as_deref() }
    }

    /// May it become any number of words?
    pub fn several(&self) -> bool {
        match &self.text {
            Some(text) => self.glob && text != "[-0-9]*",
            None => !self.one && !self.name && !self.pipe && self.prefix.is_none(),
        }
    }

    /// Is it sure that what stands behind it is counted from the next word on?
    pub fn counts_once(&self) -> bool {
        !self.several() && !self.splits
    }

    /// The text with a [`BLANK`] for each unknown part, unless a stranger prints some of it.
    pub fn sketch(&self) -> Option<&str> {
        match (&self.text, &self.outline) {
            _ if self.fed || self.pipe => None,
            // Numbers; what any other glob becomes nobody knows.
            (Some(_), outline) if self.glob => outline.as_deref(),
            (Some(text), _) => Some(text),
            (None, outline) => outline.as_deref(),
        }
    }

    /// The part behind the first `n` bytes (an option's glued value).
    pub fn rest(&self, n: usize) -> Value {
        let cut = |t: &String| t.get(n..).map(str::to_string);
        Value {
            text: self.text.as_ref().and_then(cut),
            prefix: self.prefix.as_ref().and_then(cut),
            ..self.clone()
        }
    }

    /// Something below the directory that it names.
    pub fn below(&self) -> Value {
        match self.plain() {
            Some(text) => Value {
                prefix: Some(format!("{}/", text.trim_end_matches('/'))),
                span: self.span.clone(),
                ..Value::default()
            },
            None => Value::unknown(self.span.clone()),
        }
    }

    /// Files of that name at any depth below the directory. Only a name that is told by how it begins
    /// (`.env*`) counts: `*.json` says little of what is there.
    pub fn at_any_depth(&self, dir: &str) -> Option<Value> {
        let text = self.text.as_deref()?;
        let told = !text.starts_with(['*', '?', '[', '{', '!', '\\']) && !text.contains('/');
        told.then(|| Value {
            text: Some(format!("{}/**/{text}", dir.trim_end_matches('/'))),
            glob: true,
            span: self.span.clone(),
            ..Value::default()
        })
    }

    /// The same with `item` for each `token` in it.
    pub fn with(&self, token: &str, item: &Value) -> Value {
        let Some(text) = self.text.as_ref().filter(|t| t.contains(token)) else {
            return self.clone();
        };
        if text == token {
            return Value { span: self.span.clone(), ..item.clone() };
        }
        let inner = match (&item.text, &item.prefix) {
            (Some(known), _) => known.clone(),
            (None, Some(prefix)) => format!("{prefix}{BLANK}"),
            (None, None) => BLANK.to_string(),
        };
        Value {
            text: Some(text.replace(token, &inner)),
            glob: self.glob || item.glob,
            ..self.clone()
        }
    }

    /// The known beginning.
    pub fn start(&self) -> &str {
        self.text.as_deref().or(self.prefix.as_deref()).unwrap_or_default()
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
