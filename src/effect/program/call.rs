//! A program call, and what it has to have run in turn.

use std::ops::Range;

use super::options::Parsed;
use super::table::{Language, mark};
use crate::effect::value::Value;

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
    pub fn dry(&self) -> bool {
        self.parsed.has(mark::DRY)
    }

    /// The operands behind the sub-command.
    pub fn operands(&self) -> Vec<Value> {
        self.parsed.operands[self.parsed.subs..].iter().map(|i| self.args[*i].clone()).collect()
    }
}
