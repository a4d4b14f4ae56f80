//! What conditions are set to: how each sort of value is read.

use super::{FieldTest, NamePattern, Permission};
use crate::effect::Word;
use crate::effect::program::row;
use crate::rule::command::CommandPattern;
use crate::rule::path::PathList;
use crate::rule::reader::{Item, Reader};
use crate::rule::{PatternList, Regex};

/// Sorts of values, for whoever describes or examines a rule file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sort {
    /// Globs over names.
    Names,
    /// Path patterns.
    Paths,
    /// Other patterns: of commands, of permissions, regular expressions.
    Patterns,
    /// Words of effects.
    Words,
    /// true or false.
    Flag,
    /// true or false, or globs over names.
    Ways,
    /// A table of fields and what they must be.
    Fields,
    /// The table of `when`.
    Circumstances,
    /// A shell command.
    Command,
    /// Marks of a session.
    Marks,
}

/// A value of a condition. The default asks for nothing.
pub trait Value: Default + PartialEq {
    /// What it is.
    const SORT: Sort;
    /// Reads it.
    fn read(value: &Item<'_>, r: &mut Reader<'_>) -> Self;
    /// Is nothing asked for?
    fn is_nothing(&self) -> bool;
    /// Adds its regular expressions.
    fn collect_regexes<'a>(&'a self, _out: &mut Vec<&'a Regex>) {}
}

/// A sort of value that is a list: its type, its sort, its reader, and its regular expressions.
macro_rules! lists {
    ($($list:ty, $sort:ident, |$value:ident, $reader:ident| $read:expr $(, |$own:ident| $regexes:expr)?;)*) => {$(
        impl Value for $list {
            const SORT: Sort = Sort::$sort;

            fn read($value: &Item<'_>, $reader: &mut Reader<'_>) -> Self {
                $read
            }

            #[inline(always)]
            fn is_nothing(&self) -> bool {
                self.is_empty()
            }

            $(fn collect_regexes<'a>(&'a self, out: &mut Vec<&'a Regex>) {
                let $own = self;
                out.extend($regexes);
            })?
        }
    )*};
}

lists! {
    PatternList<NamePattern>, Names, |value, r| r.names(value);
    PathList, Paths, |value, r| r.paths(value);
    PatternList<CommandPattern>, Patterns, |value, r| r.commands(value);
    Vec<Permission>, Patterns, |value, r| r.read_each(value, "bad-match", Permission::parse);
    Vec<Word>, Words, |value, r| read_words(value, r);
    Vec<Regex>, Patterns, |value, r| r.regexes(value), |own| own;
    Vec<FieldTest>, Fields, |value, r| r.field_tests(value), |own| own.iter().flat_map(FieldTest::regexes);
}

impl Value for Option<bool> {
    const SORT: Sort = Sort::Flag;

    fn read(value: &Item<'_>, r: &mut Reader<'_>) -> Self {
        r.boolean(value)
    }

    #[inline(always)]
    fn is_nothing(&self) -> bool {
        self.is_none()
    }
}

fn read_words(value: &Item<'_>, r: &mut Reader<'_>) -> Vec<Word> {
    let mut out = Vec::new();
    for (text, span) in r.strings(value) {
        match text.as_str() {
            "modify" => out.extend([Word::Write, Word::Delete, Word::Permission]),
            // A name that no shipped table gives may come from another file's `[program]`; `hookctl check`
            // knows them all.
            _ => match Word::from_text(&text).or_else(|| named_word(&text)) {
                Some(word) => out.push(word),
                None => r.unknown_word("effect", &text, span, effect_words()),
            },
        }
    }
    out
}

fn named_word(text: &str) -> Option<Word> {
    row::is_named_effect(text).then(|| Word::Named(Box::leak(text.to_string().into_boxed_str())))
}

/// The words of `effect`, composite ones included.
pub fn effect_words() -> impl Iterator<Item = &'static str> {
    let names = crate::effect::program::table::NAMES.iter().map(|(name, _)| *name);
    Word::ALL.iter().map(|word| word.text()).chain(["modify"]).chain(names)
}
