//! The shape of the program tables, and looking one up.
//!
//! The rows are compiled from `config/programs/*.toml` by `build/programs.rs` and described in
//! `docs/programs.md`.

use crate::effect::Word;

macro_rules! roles {
    ($($(#[$doc:meta])* $variant:ident = $text:literal),+ $(,)?) => {
        /// What an operand or an option's value is to its program.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Role { $($(#[$doc])* $variant,)+ }

        impl Role {
            /// Every role by the name that tables use.
            pub const ALL: &'static [(&'static str, Role)] = &[$(($text, Role::$variant),)+];
        }
    };
}

roles! {
    /// Text: no effect.
    Text = "text",
    /// A file that is read.
    Read = "read",
    /// A directory read with everything below it.
    ReadTree = "read-tree",
    /// A directory read with everything below it that is not hidden.
    ReadVisible = "read-visible",
    /// A file that is written.
    Write = "write",
    /// A directory in which something is written.
    WriteInto = "write-into",
    /// A file that is read and written.
    Edit = "edit",
    /// A file that is deleted.
    Delete = "delete",
    /// A directory deleted with everything below it.
    DeleteTree = "delete-tree",
    /// A path that is moved away: read and deleted with everything below it.
    Move = "move",
    /// Where cp, mv and install put things: the path, or a name inside it.
    Target = "target",
    /// A path whose mode or owner changes.
    Permission = "permission",
    /// A block device that is written or formatted.
    Device = "device",
    /// A host, `user@host`, `host:port`.
    Host = "host",
    /// A URL that is contacted.
    Url = "url",
    /// A request's body: data leaves; `@file` is read.
    Body = "body",
    /// A file that is sent.
    Upload = "upload",
    /// A script file that the program runs.
    Run = "run",
    /// A program, by name or path, that the program starts.
    Program = "program",
    /// Shell text that is run.
    Script = "script",
    /// Text in the program's own language that is run.
    Code = "code",
    /// The first word of a command; the rest of the words are its arguments.
    Command = "command",
    /// Like `Command`, but the words are joined and read by a shell.
    Joined = "joined",
    /// A word that may be a path: read for certain, possibly written, if it looks like one.
    MaybePath = "maybe-path",
}

/// Does an option take a value?
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arity {
    /// Never.
    None,
    /// Always: glued, after `=`, or the next word.
    Value,
    /// Only glued (`-ofile`) or after `=`.
    Optional,
}

macro_rules! marks {
    ($($(#[$doc:meta])* $name:ident = $text:literal $bit:literal),+ $(,)?) => {
        /// What an option does besides taking a value: a set of bits.
        pub mod mark {
            $($(#[$doc])* pub const $name: u32 = 1 << $bit;)+

            /// Every mark by the name that tables use.
            pub const ALL: &[(&str, u32)] = &[$(($text, $name),)+];
        }
    };
}

marks! {
    /// The operands are meant with everything below them.
    TREE = "tree" 0,
    /// Nothing is written, deleted or sent.
    DRY = "dry" 1,
    /// May execute or write what no effect speaks of.
    UNSAFE = "unsafe" 2,
    /// Operands that are read are also written.
    INPLACE = "inplace" 3,
    /// The first operand of its own (a pattern, a program text) is then not there.
    NO_FIRST = "no-first" 4,
    /// Names the target, so that every operand is a source.
    TARGET = "target" 5,
    /// Operands are kept where they would be deleted.
    KEEP = "keep" 6,
    /// Results go to standard output: nothing is written.
    STDOUT = "stdout" 7,
    /// The first operand is shell text (`bash -c`).
    SCRIPT = "script" 8,
    /// What runs is named by the value (`python -m`), standard input is not a program.
    MODULE = "module" 9,
    /// The program text comes from standard input whatever the operands (`bash -s`).
    STDIN = "stdin" 11,
    /// Data leaves.
    SEND = "send" 12,
    /// What follows are operands.
    END = "end" 13,
    /// The environment is emptied.
    CLEAR = "clear" 14,
    /// The value is the directory that the program then works in.
    CHDIR = "chdir" 15,
    /// The value is split into words that stand in front of the operands (`env -S`).
    SPLITS = "splits" 16,
    /// Runs as somebody else.
    PRIVILEGE = "privilege" 17,
    /// A mark for the program's own code.
    SPARE = "spare" 18,
    /// Only tells something (`--help`): none of the program's effects happens.
    ONLY = "only" 19,
    /// Changes the machine's state.
    SYSTEM = "system" 20,
    /// Changes what the program otherwise only reads: an allow on the plain command does not mean it.
    CHANGES = "changes" 21,
}

/// One option of a program.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptSpec {
    /// Every spelling, with its dashes and blanks between.
    pub names: &'static str,
    /// Does it take a value?
    pub arity: Arity,
    /// What the value is.
    pub role: Role,
    /// What else it does: bits of [`mark`].
    pub marks: u32,
    /// The named effect that it adds.
    pub effect: Option<&'static Word>,
}

/// What is known of one program, or of one sub-command (`git push`).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Program {
    /// Its basename, or the words of the sub-command.
    pub name: &'static str,
    /// Everything it does is said here: it may be transparent.
    pub complete: bool,
    /// Options end at the first operand.
    pub stop: bool,
    /// The first operand is a sub-command.
    pub sub: bool,
    /// Long options have one dash (find, java).
    pub single: bool,
    /// `NAME=value` may stand before the command (env, sudo).
    pub assignments: bool,
    /// A wrapper that changes neither who, where nor what runs.
    pub neutral: bool,
    /// Long options may be abbreviated (GNU getopt_long).
    pub abbreviate: bool,
    /// The table says what operands are.
    pub operands_known: bool,
    /// The operand where there is none.
    pub default: &'static str,
    /// The name of the code that knows the rest.
    pub special: &'static str,
    /// The language of its inline programs.
    pub lang: &'static str,
    /// What every call does.
    pub effects: &'static [Word],
    /// The first operands, one role each.
    pub before: &'static [Role],
    /// All operands in between.
    pub repeat: Role,
    /// The last operand, if it differs.
    pub last: Option<Role>,
    /// The options.
    pub options: &'static [&'static OptSpec],
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// What is known of the program of that basename, or of the sub-command; `own` comes first.
pub fn program(name: &str, own: &'static [Program]) -> Option<&'static Program> {
    if let Some(found) = own.iter().find(|p| p.name == name) {
        return Some(found);
    }
    PROGRAMS.binary_search_by(|p| p.name.cmp(name)).ok().map(|i| &PROGRAMS[i])
}

impl OptSpec {
    /// Every spelling.
    pub fn names(&self) -> impl Iterator<Item = &'static str> {
        self.names.split(' ')
    }

    /// Is that one of its spellings?
    pub fn is(&self, name: &str) -> bool {
        self.names().any(|own| own == name)
    }
}

impl Program {
    /// The option of that exact spelling.
    pub fn option(&self, name: &str) -> Option<&'static OptSpec> {
        // `options` is 'static itself, so the reference outlives `self`.
        let options: &'static [&'static OptSpec] = self.options;
        options.iter().copied().find(|o| o.is(name))
    }

    /// The only long option that begins so, where abbreviations are allowed.
    pub fn abbreviated(&self, name: &str) -> Option<&'static OptSpec> {
        let options: &'static [&'static OptSpec] = self.options;
        if !self.abbreviate || name.len() < 3 {
            return None;
        }
        let mut found = options
            .iter()
            .copied()
            .filter(|o| o.names().any(|n| n.starts_with("--") && n.starts_with(name)));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}
