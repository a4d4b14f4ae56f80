//! The shape of the program tables, and looking one up.
//!
//! The rows are compiled from `config/programs/*.toml` by `build/programs.rs` and described in
//! `docs/programs.md`.

pub mod packed;

use memchr::memmem;

use crate::effect::Word;
use crate::glob;

pub use super::vocabulary::{Class, Language, Role, Special, mark};

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
#[derive(Debug, Clone, Copy, Default, PartialEq)]
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
    /// The code that knows the rest.
    pub special: Option<Special>,
    /// The language of its inline programs.
    pub lang: Option<Language>,
    /// What every call does.
    pub effects: &'static [Word],
    /// The first operands, one role each.
    pub before: &'static [Role],
    /// All operands in between.
    pub repeat: Role,
    /// The last operand, if it differs.
    pub last: Option<Role>,
    /// What it is to others: bits of [`Class`].
    pub classes: u32,
    /// Nothing is said of its calls.
    pub opaque: bool,
    /// The words by which it prints settings for the shell that evaluates them; empty for any.
    pub settings: Option<&'static str>,
    /// The project's files that tell it what to do.
    pub recipes: Option<&'static str>,
    /// The files of the project that a call writes: lines of `FILE FILE|named there`.
    pub writes: &'static str,
    /// The names of the files that it looks for in directories, globs with spaces between; empty for any.
    pub files: &'static str,
    /// Lines of sub-commands that mean the same, with commas between.
    pub synonyms: &'static str,
    /// What else the command is called, with commas between.
    pub means: &'static str,
    /// The options, packed: see [`packed::unpack_option`].
    pub options: &'static str,
}

pub use self::packed::NAMES;

/// All names of a domain.
const DOMAINS: &[&str] = &[
    "content.*",
    "git.*",
    "database.*",
    "cloud.*",
    "container.*",
    "package.*",
    "process.*",
    "forge.*",
    "secret.*",
    "host.*",
];

impl Word {
    /// The word of that name: of the closed list, of the program tables, or `git.*`.
    pub fn from_text(text: &str) -> Option<Word> {
        let named = || {
            let names = NAMES.iter().map(|(name, _)| *name);
            names.chain(DOMAINS.iter().copied()).find(|name| *name == text).map(Word::Named)
        };
        Word::from_closed_list(text).or_else(named)
    }
}

/// What is known of what the program of that basename, or the sub-command, does; `own` comes first.
pub fn find_program(name: &str, own: &'static [Program]) -> Option<&'static Program> {
    find_row(name, own).filter(|program| !program.opaque)
}

/// All that is known of it, be it only what it is to others.
pub fn find_row(name: &str, own: &'static [Program]) -> Option<&'static Program> {
    own.iter().find(|p| p.name == name).or_else(|| packed::find_packed(name)).or_else(|| {
        // `python3.15`, `lua5.4`, `php8.2`, `bash-5.2`
        let bare = name.strip_suffix('t').unwrap_or(name);
        let bare = bare.trim_end_matches(|c: char| c.is_ascii_digit() || "-.".contains(c));
        let versioned = (2..name.len()).contains(&bare.len());
        let row = versioned.then(|| packed::find_packed(bare)).flatten();
        row.filter(|row| row.has_class(Class::Interpreter))
    })
}

/// Is a program of that name of that class? What files say of it takes no class away.
pub fn has_class(name: &str, class: Class, own: &'static [Program]) -> bool {
    let shipped = || find_row(name, &[]).is_some_and(|program| program.has_class(class));
    own.iter().any(|program| program.name == name && program.has_class(class)) || shipped()
}

/// Is there a sub-command below that one?
pub fn has_below(name: &str, own: &'static [Program]) -> bool {
    let below = |own: &str| own.strip_prefix(name).is_some_and(|rest| rest.starts_with(' '));
    packed::has_below(name) || own.iter().any(|p| below(p.name))
}

/// An option that is text and nothing more.
pub const PLAIN: OptSpec = OptSpec { arity: Arity::None, role: Role::Text, marks: 0, effect: None };

/// The options of a line: the spellings of each, and what it does, packed.
fn spellings(line: &'static str) -> impl Iterator<Item = (&'static str, &'static str)> {
    let each = |(names, rest): (&'static str, _)| names.split(' ').map(move |own| (own, rest));
    line.split_once('\t').into_iter().flat_map(each)
}

impl Program {
    /// Is it of that class?
    pub fn has_class(&self, class: Class) -> bool {
        self.classes & class.bit() != 0
    }

    /// The language of its inline programs.
    pub fn language(&self) -> Language {
        self.lang.unwrap_or(Language::Other)
    }

    /// What the operands mean by the lines of `verbs`: the first one that fits.
    pub fn verb_words(&self, operands: &[Option<&str>]) -> Option<Vec<Word>> {
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
    pub fn option_lines(&self) -> impl Iterator<Item = (&'static str, &'static str)> + use<> {
        self.options.lines().flat_map(spellings)
    }

    /// The option of that exact spelling.
    pub fn find_option(&self, name: &str) -> Option<Known> {
        let all = self.options.as_bytes();
        let alone = |at: &usize| {
            let before = at.checked_sub(1).is_none_or(|at| b"\n ,".contains(&all[at]));
            before && all.get(at + name.len()).is_some_and(|byte| b", \t".contains(byte))
        };
        // Where it stands, and not line by line: some programs have hundreds.
        let lines = memmem::find_iter(all, name).filter(alone).map(|at| {
            let (before, behind) = self.options.split_at(at);
            let start = before.rfind('\n').map_or(0, |end| end + 1);
            let end = behind.find('\n').map_or(all.len(), |end| at + end);
            &self.options[start..end]
        });
        let same = |own: &str| own == name;
        let found = lines.flat_map(spellings).find(|(names, _)| names.split(',').any(same));
        found.map(|(names, rest)| Known { names, spec: packed::unpack_option(rest) })
    }

    /// The option of which a spelling passes, if no other one has one that does.
    fn find_only_option(&self, passes: impl Fn(&str) -> bool) -> Option<Known> {
        let mut found = self.option_lines().filter(|(names, rest)| {
            names.split(',').any(&passes) && packed::unpack_option(rest).marks & mark::ONLY == 0
        });
        let (names, rest) = found.next()?;
        found.next().is_none().then(|| Known { names, spec: packed::unpack_option(rest) })
    }

    /// The option that git's `--no-NAME` takes back.
    pub fn taken_back(&self, name: &str) -> Option<Known> {
        let plain = format!("--{}", name.strip_prefix("--no-")?);
        let git = self.name.starts_with("git ");
        self.find_option(&plain).or_else(|| self.find_abbreviated(&plain)).filter(|_| git)
    }

    /// The only long option that begins so, where abbreviations are allowed; `--help` is none, so
    /// that it hides no other (`git reset --h`).
    pub fn find_abbreviated(&self, name: &str) -> Option<Known> {
        let long = |own: &str| own.starts_with("--") && own.starts_with(name);
        if self.abbreviate && name.len() >= 3 { self.find_only_option(long) } else { None }
    }
}
