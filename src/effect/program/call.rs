//! A program call, and what it has to have run in turn.

use std::ops::Range;

use super::options::Parsed;
use super::table::{Language, Role, mark};
use crate::effect::emitter::Emitter;
use crate::effect::value::Value;
use crate::effect::{Grade, Source, Word};

/// What has to be run in turn.
#[derive(Debug, Clone)]
pub enum Next {
    /// These words are a command.
    Words {
        /// The program and its arguments.
        words: Vec<Value>,
        /// The directory, where it is another one.
        cwd: Option<Value>,
        /// Its operands are repeated for what standard input names (xargs, parallel).
        feeds: bool,
    },
    /// These words are a command that runs for every line of standard input, which `token` stands
    /// for; without one they are shell text with parallel's own marks.
    Each {
        /// The program and its arguments.
        words: Vec<Value>,
        /// What is replaced.
        token: Option<String>,
    },
    /// Shell text, with its `$0`, `$1` ... where they are known.
    Script {
        /// The text.
        text: Value,
        /// `$0` and on.
        rest: Vec<Value>,
    },
    /// Shell text whose standard input comes from somebody else: `nc -e sh`, `socat TCP:h:1 EXEC:sh`.
    Fed {
        /// The text.
        text: Value,
    },
    /// An interpreter that reads its program from standard input.
    Stdin {
        /// Its language.
        lang: Language,
    },
    /// A script file that an interpreter runs.
    File {
        /// The file.
        file: Value,
        /// The interpreter's language, none for the file itself.
        lang: Option<Language>,
    },
    /// What may run, or be no command at all.
    Maybe(Box<Next>),
}

impl Next {
    /// A command that runs where the program does, with its standard input.
    pub fn words(words: Vec<Value>) -> Next {
        Next::Words { words, cwd: None, feeds: false }
    }

    /// Shell text without words behind it.
    pub fn script(text: Value) -> Next {
        Next::Script { text, rest: Vec::new() }
    }
}

/// One program call.
#[derive(Debug)]
pub struct Call<'a> {
    /// The basename.
    pub name: &'a str,
    /// The arguments.
    pub args: &'a [Value],
    /// The same taken apart.
    pub parsed: &'a Parsed,
    /// Its bytes.
    pub span: Range<usize>,
    /// Does something come in on its standard input that does not stand in the call?
    pub fed: bool,
}

impl Call<'_> {
    /// Does it only say what it would do?
    pub fn is_dry_run(&self) -> bool {
        self.parsed.has_mark(mark::DRY)
    }

    /// Is that option there, in any of its spellings?
    pub fn has(&self, name: &str) -> bool {
        self.parsed.find_option(name).is_some()
    }

    /// Is one of these options there?
    pub fn has_any(&self, names: &[&str]) -> bool {
        names.iter().any(|name| self.has(name))
    }

    /// The value of that option.
    pub fn value(&self, name: &str) -> Option<&Value> {
        self.parsed.find_option(name)?.value.as_ref()
    }

    /// The row's name: the program and its sub-command.
    pub fn row(&self) -> &'static str {
        self.parsed.program.map_or("", |row| row.name)
    }

    /// An effect of the program itself, for certain.
    pub fn does(&self, out: &mut Emitter, word: Word) {
        out.push(word, Grade::Certain, Source::Program, self.span.clone());
    }

    /// The operands and the options' values that have that role.
    pub fn values_of(&self, role: Role) -> Vec<Value> {
        let options = self.parsed.options.iter();
        let named = options.filter(|option| option.spec.is_some_and(|spec| spec.role == role));
        let mut values: Vec<Value> = named.filter_map(|option| option.value.clone()).collect();
        let Some(row) = self.parsed.program else { return values };
        let operands = self.operands().into_iter().enumerate();
        let own = |at: usize| row.before.get(at).copied().unwrap_or(row.repeat);
        values.extend(operands.filter(|(at, _)| own(*at) == role).map(|(_, value)| value));
        values
    }

    /// The operands behind the sub-command.
    pub fn operands(&self) -> Vec<Value> {
        self.parsed.operands[self.parsed.subs..].iter().map(|i| self.args[*i].clone()).collect()
    }
}
