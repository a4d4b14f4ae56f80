//! The shipped program tables: packed as text by the build, read when a program is called.
//!
//! A command runs two or three programs of three thousand, so reading their rows costs less than
//! the pages that all rows would take as data.

use std::cell::RefCell;
use std::mem::ManuallyDrop;

use super::{Arity, Language, OptSpec, Program, Role, Special, mark};
use crate::effect::Word;

include!(concat!(env!("OUT_DIR"), "/programs.rs"));

thread_local! {
    /// The rows that were read, by their place in the index. For what is dropped at a thread's end, the C library
    /// would make a list first: six system calls.
    static READ: RefCell<ManuallyDrop<Vec<(usize, &'static Program)>>> =
        const { RefCell::new(ManuallyDrop::new(Vec::new())) };
}

/// The name at that place of the index.
fn name_at(at: usize) -> &'static str {
    let start = usize::from(INDEX[at].0);
    let end = INDEX.get(at + 1).map_or(TEXT.len(), |next| usize::from(next.0));
    &TEXT[start..end]
}

/// The first place of the index whose name is not before that one.
fn lower_bound(wanted: &str) -> usize {
    let (mut low, mut high) = (0, INDEX.len());
    while low < high {
        let middle = (low + high) / 2;
        if name_at(middle) < wanted { low = middle + 1 } else { high = middle }
    }
    low
}

/// Every name, sorted.
pub fn program_names() -> impl Iterator<Item = &'static str> {
    (0..INDEX.len()).map(name_at)
}

/// The program of that name.
pub fn find_packed(wanted: &str) -> Option<&'static Program> {
    let at = lower_bound(wanted);
    if at >= INDEX.len() || name_at(at) != wanted {
        return None;
    }
    READ.with_borrow_mut(|read| {
        if let Some((_, program)) = read.iter().find(|(own, _)| *own == at) {
            return Some(*program);
        }
        // Rows live as long as the process: it reads each once.
        let program: &'static Program =
            Box::leak(Box::new(unpack_program(name_at(at), unpack_text(usize::from(INDEX[at].1)))));
        read.push((at, program));
        Some(program)
    })
}

/// The first program whose name begins so.
pub fn find_beginning(wanted: &str) -> Option<&'static Program> {
    let at = lower_bound(wanted);
    (at < INDEX.len() && name_at(at).starts_with(wanted)).then(|| find_packed(name_at(at)))?
}

/// Is there a name that goes on behind that one: `git push` behind `git`?
pub fn has_below(wanted: &str) -> bool {
    // Between `a b` and `a b c` only names that begin with `a b` and a smaller sign can stand.
    (lower_bound(wanted)..INDEX.len())
        .map(name_at)
        .take_while(|own| own.starts_with(wanted))
        .any(|own| own[wanted.len()..].starts_with(' '))
}

/// A packed text: its length in two bytes, then ASCII and bytes that name phrases of the dictionary
/// (`build/phrases.rs`).
fn unpack_text(at: usize) -> &'static str {
    let mut bytes = PACKED[STARTS[at] as usize..].iter().map(|byte| usize::from(*byte));
    let mut next = || bytes.next().unwrap_or_default();
    let length = next() | next() << 8;
    let mut text = vec![0; length + LONGEST];
    let mut at = 0;
    while at < length {
        let phrase = match next() {
            byte @ 0..=0x7f => {
                text[at] = byte as u8;
                at += 1;
                continue;
            }
            byte @ 0x80..=0xdf => byte - 0x80,
            byte => 0x60 + ((byte - 0xe0) << 8 | next()),
        };
        let (start, length) = PHRASES[phrase];
        // A copy of a fixed size costs two instructions; what is too much is written over.
        let from = DICTIONARY.get(usize::from(start)..).and_then(<[u8]>::first_chunk::<LONGEST>);
        let to = text.get_mut(at..).and_then(<[u8]>::first_chunk_mut);
        if let (Some(to), Some(from)) = (to, from) {
            *to = *from;
        }
        at += usize::from(length);
    }
    text.truncate(length);
    String::from_utf8(text).unwrap_or_default().leak()
}

fn unpack_program(name: &'static str, text: &'static str) -> Program {
    let mut fields = text.splitn(15, '\t');
    let mut field = || fields.next().unwrap_or_default();
    let (flags, classes) = field().split_once(' ').unwrap_or_default();
    let flags = mark::from_signs(flags);
    let flag = |at: u32| flags >> at & 1 == 1;
    let (family, default, signs, on_windows) = (field(), field(), field(), field());
    let (special, lang) = signs.split_once(' ').unwrap_or_default();
    let effects: Vec<Word> = field().split_whitespace().map(unpack_word).collect();
    // No list is not the same as an empty one.
    let operands = field();
    let mut groups = operands.split(' ').map(|signs| signs.bytes().filter_map(Role::from_sign));
    let mut roles = || groups.next().into_iter().flatten();
    let before: Vec<Role> = roles().collect();
    let list = field().parse().map_or("", |at: usize| unpack_text(LISTS + at));
    Program {
        name,
        complete: flag(0),
        stop: flag(1),
        sub: flag(2),
        single: flag(3),
        assignments: flag(4),
        neutral: flag(5),
        abbreviate: flag(6),
        global: flag(7),
        free: flag(8),
        windows: flag(9),
        on_windows,
        through: flag(10),
        opaque: flag(11),
        classes: mark::from_signs(classes),
        family,
        verbs: field(),
        // Most rows end before these.
        settings: field().strip_prefix('='),
        recipes: field().strip_prefix('='),
        writes: field(),
        files: field(),
        synonyms: field(),
        means: field(),
        operands_known: !operands.is_empty(),
        default,
        special: special.bytes().next().and_then(Special::from_sign),
        lang: lang.bytes().next().and_then(Language::from_sign),
        effects: effects.leak(),
        before: before.leak(),
        repeat: roles().next().unwrap_or(Role::Text),
        last: roles().next(),
        options: list,
    }
}

/// What an option does, behind its names: `<` or `[` with the sign of a value's role, those of marks, an effect.
pub fn unpack_option(packed: &'static str) -> OptSpec {
    let mut fields = packed.split('\t');
    let mut field = || fields.next().unwrap_or_default();
    let (value, marks, effect) = (field(), field(), field());
    let arity = match value.as_bytes().first() {
        None => Arity::None,
        Some(b'<') => Arity::Value,
        Some(_) => Arity::Optional,
    };
    OptSpec {
        arity,
        role: value.as_bytes().get(1).and_then(|sign| Role::from_sign(*sign)).unwrap_or(Role::Text),
        marks: mark::from_signs(marks),
        effect: (!effect.is_empty()).then(|| unpack_word(effect)),
    }
}

fn unpack_word(text: &'static str) -> Word {
    Word::from_closed_list(text).unwrap_or(Word::Named(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_row_reads() {
        let mut last = "";
        for name in program_names() {
            assert!(name > last, "{name} behind {last}");
            last = name;
            let program = find_packed(name).expect(name);
            assert_eq!(program.name, name);
            let of_options =
                program.option_lines().filter_map(|(_, rest)| unpack_option(rest).effect);
            for word in program.effects.iter().copied().chain(of_options) {
                assert!(Word::from_text(word.text()).is_some(), "[{name}] {}", word.text());
            }
        }
        assert!(find_packed("no such program").is_none() && find_packed("").is_none());
        assert!(has_below("git") && !has_below("git push") && !has_below("zz"));
    }
}
