//! The shape of the program tables, and looking one up.
//!
//! The rows are compiled from `config/programs/*.toml` by `build/programs.rs` and described in
//! `docs/programs.md`.

use crate::effect::Word;

/// What an operand or an option's value is to its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// Text: no effect.
    Text,
    /// A file that is read.
    Read,
    /// A directory read with everything below it.
    ReadTree,
    /// A file that is written.
    Write,
    /// A directory in which something is written.
    WriteInto,
    /// A file that is read and written.
    Edit,
    /// A file that is deleted.
    Delete,
    /// A directory deleted with everything below it.
    DeleteTree,
    /// A path that is moved away: read and deleted with everything below it.
    Move,
    /// Where cp, mv and install put things: the path, or a name inside it.
    Target,
    /// What a link points to.
    LinkSource,
    /// The name of a link.
    LinkName,
    /// A path whose mode or owner changes.
    Permission,
    /// A block device that is written or formatted.
    Device,
    /// A host, `user@host`, `host:port`.
    Host,
    /// A URL that is contacted.
    Url,
    /// `host:path` (scp, rsync) or a local path that is read, the last one written.
    RemotePath,
    /// A request's body: data leaves; `@file` is read.
    Body,
    /// A file that is sent.
    Upload,
    /// A script file that the program runs.
    Run,
    /// A program, by name or path, that the program starts.
    Program,
    /// Shell text that is run.
    Script,
    /// Text in the program's own language that is run.
    Code,
    /// The first word of a command; the rest of the words are its arguments.
    Command,
    /// Like `Command`, but the words are joined and read by a shell.
    Joined,
    /// A word that may be a path: read for certain, possibly written, if it looks like one.
    MaybePath,
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

/// What an option does besides taking a value: a set of bits.
pub mod mark {
    /// The operands are meant with everything below them.
    pub const TREE: u32 = 1;
    /// Nothing is written, deleted or sent.
    pub const DRY: u32 = 1 << 1;
    /// May execute or write what no effect speaks of.
    pub const UNSAFE: u32 = 1 << 2;
    /// Operands that are read are also written.
    pub const INPLACE: u32 = 1 << 3;
    /// The first operand of its own (a pattern, a program text) is then not there.
    pub const NO_FIRST: u32 = 1 << 4;
    /// Names the target, so that every operand is a source.
    pub const TARGET: u32 = 1 << 5;
    /// Operands are kept where they would be deleted.
    pub const KEEP: u32 = 1 << 6;
    /// Results go to standard output: nothing is written.
    pub const STDOUT: u32 = 1 << 7;
    /// The first operand is shell text (`bash -c`).
    pub const SCRIPT: u32 = 1 << 8;
    /// What runs is named by the value (`python -m`), standard input is not a program.
    pub const MODULE: u32 = 1 << 9;
    /// Makes links instead of copies.
    pub const LINK: u32 = 1 << 10;
    /// The program text comes from standard input whatever the operands (`bash -s`).
    pub const STDIN: u32 = 1 << 11;
    /// Data leaves.
    pub const SEND: u32 = 1 << 12;
    /// What follows are operands.
    pub const END: u32 = 1 << 13;
    /// The environment is emptied.
    pub const CLEAR: u32 = 1 << 14;
    /// The value is the directory that the program then works in.
    pub const CHDIR: u32 = 1 << 15;
    /// The value is split into words that stand in front of the operands (`env -S`).
    pub const SPLITS: u32 = 1 << 16;
    /// Runs as somebody else.
    pub const PRIVILEGE: u32 = 1 << 17;
    /// A mark for the program's own code.
    pub const SPARE: u32 = 1 << 18;
    /// Only tells something (`--help`): none of the program's effects happens.
    pub const ONLY: u32 = 1 << 19;
    /// Changes the machine's state.
    pub const SYSTEM: u32 = 1 << 20;
}

/// One option of a program.
#[derive(Debug)]
pub struct OptSpec {
    /// Every spelling, with its dashes.
    pub names: &'static [&'static str],
    /// Does it take a value?
    pub arity: Arity,
    /// What the value is.
    pub role: Role,
    /// What else it does: bits of [`mark`].
    pub marks: u32,
}

/// What is known of one program, or of one sub-command (`git push`).
#[derive(Debug)]
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
    pub options: &'static [OptSpec],
}

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

/// What is known of the program of that basename.
pub fn program(name: &str) -> Option<&'static Program> {
    PROGRAMS.binary_search_by(|p| p.name.cmp(name)).ok().map(|i| &PROGRAMS[i])
}

impl Program {
    /// The option of that exact spelling.
    pub fn option(&self, name: &str) -> Option<&'static OptSpec> {
        // `options` is 'static itself, so the reference outlives `self`.
        let options: &'static [OptSpec] = self.options;
        options.iter().find(|o| o.names.contains(&name))
    }

    /// The only long option that begins so, where abbreviations are allowed.
    pub fn abbreviated(&self, name: &str) -> Option<&'static OptSpec> {
        let options: &'static [OptSpec] = self.options;
        if !self.abbreviate || name.len() < 3 {
            return None;
        }
        let mut found = options
            .iter()
            .filter(|o| o.names.iter().any(|n| n.starts_with("--") && n.starts_with(name)));
        let first = found.next()?;
        found.next().is_none().then_some(first)
    }
}
