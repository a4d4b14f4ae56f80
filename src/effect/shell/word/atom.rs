//! The atoms of a word: one character each, or something known only at run time; and rows of them as values.

use std::ops::Range;

use super::super::state::Var;
use crate::effect::value::{BLANK, Printer, Split, Text, Unknown, Value};

/// How a character came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// Quoted or escaped: only itself.
    Quoted,
    /// Written bare: braces, tildes and globs are active.
    Bare,
    /// From an unquoted expansion: splits, and globs are active.
    Expanded,
    /// Part of a pattern whose matches the value is (a loop over a glob): a glob, never splits.
    Pattern,
}

/// Text that is known only at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Blank {
    /// How it may be split.
    pub split: Split,
    /// Who prints it.
    pub by: Printer,
}

/// One character of a word, or something known only at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atom {
    /// A character.
    Ch(char, Quote),
    /// Unknown text.
    Unknown(Blank),
    /// The end of a field (`"$@"`).
    Break,
    /// `<(cmd)`: the path of a pipe; an index into the walker's pipes.
    Pipe(usize),
    /// An empty quoted string: the field exists.
    Empty,
}

impl Atom {
    /// The character that it is.
    pub const fn letter(&self) -> Option<char> {
        if let Atom::Ch(c, _) = self { Some(*c) } else { None }
    }

    /// Unknown text that no command prints; `one` = surely one word.
    pub const fn unknown_text(one: bool) -> Atom {
        let split = if one { Split::Never } else { Split::Freely };
        Atom::Unknown(Blank { split, by: Printer::Nobody })
    }

    /// An unknown name: one word without a slash.
    pub const fn unknown_name() -> Atom {
        Atom::Unknown(Blank { split: Split::Name, by: Printer::Nobody })
    }
}

/// A character of a text; the mark of an unknown part is no character.
pub(in super::super) fn make_atom(c: char, quote: Quote) -> Atom {
    if c == BLANK { Atom::unknown_text(true) } else { Atom::Ch(c, quote) }
}

/// The text as quoted atoms.
pub fn quoted_atoms(text: &str) -> Vec<Atom> {
    text.chars().map(|c| make_atom(c, Quote::Quoted)).collect()
}

/// A value as atoms again (positional parameters).
pub fn atoms_of(value: &Value) -> Vec<Atom> {
    match &value.text {
        Text::Glob { pattern, .. } => {
            // A pattern's own blanks split, those of what it fits nobody knows.
            let quote = |c: char| if c.is_whitespace() { Quote::Quoted } else { Quote::Pattern };
            pattern.chars().map(|c| Atom::Ch(c, quote(c))).collect()
        }
        Text::Known(text) => quoted_atoms(text),
        Text::Pipe(at) => vec![Atom::Pipe(*at)],
        Text::Unknown(Unknown { prefix, split, by, .. }) => {
            let mut atoms = quoted_atoms(prefix.as_deref().unwrap_or_default());
            let split = match (split, prefix) {
                (Split::Freely, None) => Split::Freely,
                (split, _) => Split::Never.min(*split),
            };
            atoms.push(Atom::Unknown(Blank { split, by: *by }));
            atoms
        }
    }
}

/// A variable's atoms as they come out of an expansion.
pub fn push_expanded(atoms: &[Atom], inside: bool, out: &mut Vec<Atom>) {
    // Nothing, unquoted, is no word.
    let shown = atoms.iter().filter(|atom| inside || **atom != Atom::Empty);
    out.extend(shown.map(|atom| match atom {
        Atom::Ch(c, Quote::Pattern) => Atom::Ch(*c, Quote::Pattern),
        Atom::Ch(c, _) if inside => Atom::Ch(*c, Quote::Quoted),
        Atom::Ch(c, _) => Atom::Ch(*c, Quote::Expanded),
        Atom::Unknown(blank) => {
            let split = match blank.split {
                Split::Name | Split::Below => blank.split,
                _ if inside => Split::Never,
                split => split.max(Split::Rarely),
            };
            Atom::Unknown(Blank { split, ..*blank })
        }
        other => *other,
    }));
}

/// The same for text that was written in place: quoted stays quoted.
pub fn expanded_keep(atoms: &[Atom], inside: bool, out: &mut Vec<Atom>) {
    out.extend(atoms.iter().map(|atom| match atom {
        Atom::Ch(c, Quote::Bare) if inside => Atom::Ch(*c, Quote::Quoted),
        Atom::Ch(c, Quote::Bare) => Atom::Ch(*c, Quote::Expanded),
        other => *other,
    }));
}

/// A number that is known only at run time.
pub fn push_unknown_number(out: &mut Vec<Atom>) {
    out.extend(crate::glob::SOME_NUMBER.chars().map(|c| Atom::Ch(c, Quote::Pattern)));
}

/// A variable that holds some number.
pub fn number_var() -> Var {
    let mut atoms = Vec::new();
    push_unknown_number(&mut atoms);
    vec![vec![atoms]]
}

/// A text whose only globs are numbers, with a [`BLANK`] for each.
fn number_sketch(atoms: &[Atom]) -> Option<String> {
    let mut text = String::new();
    let mut at = 0;
    let mut number = Vec::new();
    self::push_unknown_number(&mut number);
    while let Some(atom) = atoms.get(at) {
        if atoms[at..].starts_with(&number) {
            text.push(BLANK);
            at += number.len();
            continue;
        }
        match atom {
            Atom::Ch(c, q) if *q == Quote::Quoted || !"*?[".contains(*c) => text.push(*c),
            Atom::Empty => {}
            _ => return None,
        }
        at += 1;
    }
    Some(text)
}

/// One field as a value.
pub fn field_value(atoms: &[Atom], span: Range<usize>) -> Value {
    let special = |c: char| matches!(c, '*' | '?' | '[');
    let (mut glob, mut escaped, mut bracket) = (false, false, false);
    let (mut unknown, mut split) = (false, Split::Name);
    let (mut by, mut tame) = (Printer::Nobody, true);
    if let [Atom::Pipe(at)] = atoms {
        return Value::of(Text::Pipe(*at), span);
    }
    for atom in atoms {
        match atom {
            Atom::Ch(c, Quote::Quoted) => escaped |= special(*c) || *c == '\\',
            // A group that is no extended glob: not followed.
            Atom::Ch('(', Quote::Bare) => (unknown, split, tame) = (true, Split::Freely, false),
            // A bracket without its other half is text (`[`, the program).
            Atom::Ch('[', _) => bracket = true,
            Atom::Ch(']', _) => glob |= bracket,
            Atom::Ch(c, _) => glob |= special(*c),
            Atom::Unknown(blank) => {
                unknown = true;
                split = split.max(blank.split);
                by = by.max(blank.by);
                tame &= blank.split <= Split::Below;
            }
            // The path of a pipe with something around it.
            Atom::Pipe(_) => return Value::unknown(span),
            Atom::Break => (unknown, split, tame) = (true, Split::Freely, false),
            Atom::Empty => {}
        }
    }
    let mut text = String::new();
    let mut first = split;
    for atom in atoms {
        match atom {
            Atom::Ch(c, Quote::Quoted) => {
                if glob && !unknown && escaped && (special(*c) || *c == '\\') {
                    text.push('\\');
                }
                text.push(*c);
            }
            Atom::Ch(c, _) => text.push(*c),
            Atom::Unknown(blank) => {
                first = blank.split;
                break;
            }
            Atom::Break | Atom::Pipe(_) | Atom::Empty => {}
        }
    }
    if !unknown && glob {
        return Value::of(Text::Glob { pattern: text, outline: number_sketch(atoms) }, span);
    }
    if !unknown {
        return Value::known(text, span);
    }
    let split = match split {
        Split::Freely => split,
        // Each of the files that a pattern fits begins as it does.
        _ if glob => Split::Rarely,
        // Up to the next slash it is a name.
        Split::Never => first,
        split => split,
    };
    // What climbs behind the unknown part may leave the place in front of it: `..`, and `.*` that fits it.
    let climbs = atoms.windows(2).skip(text.chars().count()).any(|pair| {
        matches!(pair, [Atom::Ch('.', _), Atom::Ch(next, _)] if *next == '.' || special(*next))
    });
    let prefix = (split < Split::Freely && !text.is_empty() && !climbs).then_some(text);
    let letter = |atom: &Atom| match atom {
        Atom::Ch(c, _) => *c,
        Atom::Break => ' ',
        _ => BLANK,
    };
    let outline = Some(atoms.iter().filter(|a| **a != Atom::Empty).map(letter).collect());
    let tame = tame && by == Printer::Nobody;
    Value::of(Text::Unknown(Unknown { prefix, outline, split, by, tame }), span)
}
