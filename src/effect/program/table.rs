//! The shape of the program tables, and looking one up.
//!
//! The rows are compiled from `config/programs/*.toml` by `build/programs.rs` and described in
//! `docs/programs.md`.

use super::packed;
use crate::effect::Word;
use crate::glob;

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
    /// A file that is read, and gets a second name.
    Link = "link",
    /// A directory read with everything below it.
    ReadTree = "read-tree",
    /// A path or a glob of git's own, read with everything below it.
    Pathspec = "pathspec",
    /// A directory read with everything below it that is not hidden.
    ReadVisible = "read-visible",
    /// Code or settings that the program runs, read with what is not hidden below it: from outside of
    /// the project it is nothing that an allow on the command speaks of.
    Runs = "runs",
    /// A name, or a glob, by which files are read at any depth.
    ReadNamed = "read-named",
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
    /// A name that is asked for: where it is computed, what it is made of leaves with it.
    Query = "query",
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
    /// A program that the program starts with each of its own files.
    Filter = "filter",
    /// Shell text that is run.
    Script = "script",
    /// Text in the program's own language that is run.
    Code = "code",
    /// The first word of a command; the rest of the words are its arguments.
    Command = "command",
    /// Like `Command`, but the words are joined and read by a shell.
    Joined = "joined",
    /// A URL that is contacted, a path that is read with all below it, or just a name.
    Source = "source",
    /// A file, unless its first characters make it a text of the program's own: `|COMMAND`,
    /// `@FILE`, `\\macro`, `scheme:x`.
    Inline = "inline",
    /// A word that may be a path: read for certain, possibly written, if it looks like one.
    MaybePath = "maybe-path",
    /// A word that may be a path: read with what is not hidden below it, if it looks like one.
    MaybeRead = "maybe-read",
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
    /// Every name of the line is an option of its own, no spelling of the first.
    EACH = "each" 21,
    /// Changes what the program otherwise only reads: an allow on the plain command does not mean it.
    CHANGES = "changes" 22,
    /// Operands that are read get a second name.
    LINKS = "links" 23,
}

/// What an option of a program does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OptSpec {
    /// Does it take a value?
    pub arity: Arity,
    /// What the value is.
    pub role: Role,
    /// What else it does: bits of [`mark`].
    pub marks: u32,
    /// The named effect that it adds.
    pub effect: Option<Word>,
}

/// An option of a program, found in its table.
#[derive(Debug, Clone, Copy)]
pub struct Known {
    /// Its spellings with commas between: `-a,--all`.
    pub names: &'static str,
    /// What it does.
    pub spec: OptSpec,
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
    /// Its options may also stand behind its sub-commands.
    pub global: bool,
    /// Options that no row names are harmless text.
    pub free: bool,
    /// A program of cmd.exe or PowerShell: its words are taken as they are written.
    pub windows: bool,
    /// The program of Windows that the same name stands for there; empty for none.
    pub on_windows: &'static str,
    /// What stands behind `--` is handed on to what it runs: options there are looked up all the same.
    pub through: bool,
    /// The program whose sub-commands are also its own; empty for itself.
    pub family: &'static str,
    /// What the first operands mean: lines of `operand operand|effect effect`.
    pub verbs: &'static str,
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
    /// The options, packed: see [`packed::option`].
    pub options: &'static str,
}

pub use super::packed::NAMES;

/// What is known of the program of that basename, or of the sub-command; `own` comes first.
pub fn program(name: &str, own: &'static [Program]) -> Option<&'static Program> {
    if let Some(found) = own.iter().find(|p| p.name == name) {
        return Some(found);
    }
    packed::find(name)
}

/// Is there a sub-command below that one?
pub fn has_below(name: &str, own: &'static [Program]) -> bool {
    let below = |own: &str| own.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
    packed::has_below(name) || own.iter().any(|p| below(p.name))
}

/// An option that is text and nothing more.
pub const PLAIN: OptSpec = OptSpec { arity: Arity::None, role: Role::Text, marks: 0, effect: None };

impl Program {
    /// What the operands mean by the lines of `verbs`: the first one that fits.
    pub fn verb(&self, operands: &[Option<&str>]) -> Option<Vec<Word>> {
        let here = |pattern: &str, from: usize| {
            pattern.split(' ').enumerate().all(|(i, want)| {
                let word = operands.get(from + i).copied().flatten();
                word.is_some_and(|word| want.split(',').any(|one| glob::matches(one, word)))
            })
        };
        let fits = |pattern: &str| match pattern.strip_prefix("** ") {
            Some(rest) => (0..operands.len()).any(|from| here(rest, from)),
            None => here(pattern, 0),
        };
        let verbs: &'static str = self.verbs;
        let lines = verbs.lines().filter_map(|line| line.split_once('|'));
        let (_, effects) = lines.into_iter().find(|(pattern, _)| fits(pattern))?;
        let word = |text| Word::from_text(text).unwrap_or(Word::Named(text));
        Some(effects.split_whitespace().map(word).collect())
    }

    /// Every option: its spellings with commas between, and what it does, packed.
    pub fn lines(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        let lines = self.options.lines().filter_map(|line| line.split_once('\t'));
        lines.flat_map(|(names, rest)| names.split(' ').map(move |names| (names, rest)))
    }

    /// The option of that exact spelling.
    pub fn option(&self, name: &str) -> Option<Known> {
        self.only(|own| own == name, false)
    }

    /// The first option of which a spelling passes; with `single`, only if no other one does.
    fn only(&self, passes: impl Fn(&str) -> bool, single: bool) -> Option<Known> {
        let mut found = self.lines().filter(|(names, rest)| {
            names.split(',').any(&passes)
                && !(single && packed::option(rest).marks & mark::ONLY != 0)
        });
        let (names, rest) = found.next()?;
        let sole = !single || found.next().is_none();
        sole.then(|| Known { names, spec: packed::option(rest) })
    }

    /// The option that git's `--no-NAME` takes back.
    pub fn taken_back(&self, name: &str) -> Option<Known> {
        let plain = format!("--{}", name.strip_prefix("--no-")?);
        let git = self.name.starts_with("git ");
        self.option(&plain).or_else(|| self.abbreviated(&plain)).filter(|_| git)
    }

    /// The only long option that begins so, where abbreviations are allowed; `--help` is none, so
    /// that it hides no other (`git reset --h`).
    pub fn abbreviated(&self, name: &str) -> Option<Known> {
        let long = |own: &str| own.starts_with("--") && own.starts_with(name);
        if self.abbreviate && name.len() >= 3 { self.only(long, true) } else { None }
    }
}
