//! Literal text as atoms: backslashes, quotes that the parser left in, and text whose place in the
//! source is wrong.

use shuck_ast::{LiteralText, Span, Word, WordPart, WordPartNode};

use super::Walker;
use super::word::{Atom, Quote, make_atom, quoted_atoms};
use crate::effect::decode;
use crate::effect::value::BLANK;

impl Walker<'_> {
    /// The text between double quotes.
    pub(super) fn between_quotes(&self, span: Span) -> Option<&str> {
        let text = self.slice(span);
        text.strip_prefix('$').unwrap_or(text).strip_prefix('"')?.strip_suffix('"')
    }

    /// Literal text from which the parser took all escapes or some. Behind an escaped `$` and a
    /// continued line its place is off: then the text is read the way that begins like what stands
    /// there.
    pub(super) fn push_cooked(&self, written: &str, text: &str, quote: Quote, out: &mut Vec<Atom>) {
        let read = |text: &str| {
            let mut atoms = Vec::new();
            push_literal(text, quote, &mut atoms);
            atoms
        };
        let alike = |a: &[Atom], b: &[Atom]| {
            a.iter().zip(b).take_while(|(a, b)| a.letter() == b.letter()).count()
        };
        let (atoms, all, some) = (read(written), quoted_atoms(text), read(text));
        let (as_all, as_some) = (alike(&atoms, &all), alike(&atoms, &some));
        let whole = |n: usize, other: &[Atom]| n == atoms.len() && n == other.len();
        let inside = quote == Quote::Quoted;
        out.extend(match () {
            () if whole(as_all, &all) || whole(as_some, &some) => atoms,
            () if inside && as_all > as_some || all == some => all,
            // Its place is wrong, and how many escapes are left in it nobody knows.
            () => vec![Atom::unknown_text(inside)],
        });
    }

    /// The text of a double-quoted string whose parts' places in the source are wrong: the parser
    /// counts them in the text without its escapes.
    pub(super) fn reread_quoted(
        &mut self,
        parts: &[WordPartNode],
        span: Span,
    ) -> Option<Vec<Atom>> {
        let raw = self.slice(span);
        if !raw.contains('\\') || super::doubt::in_place(parts, span) {
            return None;
        }
        let inner = raw.trim_start_matches('$').strip_prefix('"')?.strip_suffix('"')?;
        if parts.iter().all(|p| matches!(p.kind, WordPart::Literal(_))) {
            let mut out = Vec::new();
            push_literal(inner, Quote::Quoted, &mut out);
            return Some(out);
        }
        let mut out = Vec::new();
        for part in parts {
            match &part.kind {
                WordPart::Literal(LiteralText::CookedSource(text)) if !text.contains('\\') => {
                    out.extend(quoted_atoms(text));
                }
                WordPart::Literal(_) => out.push(Atom::unknown_text(true)),
                _ => self.expand_part(part, Quote::Quoted, &mut out),
            }
        }
        Some(out)
    }
}

impl Walker<'_> {
    /// A word without expansions, read from the source: the parser counts the places of its parts
    /// wrong behind an escaped `$`. None = not such a word, or its own place is wrong as well.
    pub(super) fn reread_word(&self, word: &Word) -> Option<Vec<Atom>> {
        let mut text = String::new();
        let mut cooked = false;
        for part in &word.parts {
            match &part.kind {
                WordPart::Literal(LiteralText::CookedSource(own)) => {
                    cooked = true;
                    text.push_str(own);
                }
                WordPart::Literal(_) | WordPart::DoubleQuoted { .. } => {
                    text.push_str(self.slice(part.span));
                }
                WordPart::SingleQuoted { value, .. } => {
                    text.push_str(value.slice(&self.frame.source))
                }
                _ => return None,
            }
        }
        let next = self.frame.source.get(word.span.end.offset()..)?.chars().next();
        if !cooked || !next.is_none_or(|c| c.is_whitespace() || ";&|<>()`".contains(c)) {
            return None;
        }
        let atoms = whole_word(self.slice(word.span))?;
        let letters = |text: &mut dyn Iterator<Item = char>| {
            text.filter(|c| !matches!(c, '\\' | '"' | '\n')).collect::<String>()
        };
        let blank = |a: &Atom| matches!(a, Atom::Unknown(_)).then_some(BLANK);
        let own = letters(&mut atoms.iter().filter_map(|a| a.letter().or_else(|| blank(a))));
        (own == letters(&mut text.chars())).then_some(atoms)
    }
}

/// A word without expansions; None = anything else.
fn whole_word(text: &str) -> Option<Vec<Atom>> {
    let mut out = Vec::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, chars.peek()) {
            ('\\', Some('\n')) => drop(chars.next()),
            ('\\', _) => out.push(make_atom(chars.next()?, Quote::Quoted)),
            ('\'', _) => {
                out.push(Atom::Empty);
                let inner: String = chars.by_ref().take_while(|c| *c != '\'').collect();
                out.extend(quoted_atoms(&inner));
            }
            ('"', _) => double_quoted(&mut chars, &mut out)?,
            ('$', Some('"')) => {
                chars.next();
                double_quoted(&mut chars, &mut out)?;
            }
            ('$', Some('\'')) => {
                chars.next();
                let mut inner = String::new();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        '\\' => inner.extend(['\\', chars.next()?]),
                        c => inner.push(c),
                    }
                }
                out.push(Atom::Empty);
                out.extend(quoted_atoms(&decode::decode_escapes(&inner)?));
            }
            ('$', next) if next.is_some_and(|c| !c.is_whitespace()) => return None,
            ('`' | '<' | '>' | '(' | ')' | ';' | '&' | '|', _) => return None,
            (c, _) if c.is_whitespace() => return None,
            (c, _) => out.push(make_atom(c, Quote::Bare)),
        }
    }
    Some(out)
}

/// The rest of a double-quoted string without expansions.
fn double_quoted(
    chars: &mut std::iter::Peekable<std::str::Chars>,
    out: &mut Vec<Atom>,
) -> Option<()> {
    out.push(Atom::Empty);
    loop {
        match chars.next()? {
            '"' => return Some(()),
            '$' if chars.peek().is_some_and(|c| *c != '"' && !c.is_whitespace()) => return None,
            '`' => return None,
            '\\' => escaped(chars.next()?, out),
            c => out.push(make_atom(c, Quote::Quoted)),
        }
    }
}

/// What a backslash and the character behind it are between double quotes.
fn escaped(next: char, out: &mut Vec<Atom>) {
    if !matches!(next, '$' | '`' | '"' | '\\' | '\n') {
        out.push(Atom::Ch('\\', Quote::Quoted));
    }
    if next != '\n' {
        out.push(make_atom(next, Quote::Quoted));
    }
}

/// Literal text as written: backslashes are taken away here.
pub(super) fn push_literal(text: &str, quote: Quote, out: &mut Vec<Atom>) {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        // Quotes inside braces are left in the text.
        if matches!(c, '\'' | '"') && quote == Quote::Bare {
            push_quoted(c, &mut chars, out);
            continue;
        }
        if c == '$' && quote == Quote::Bare && chars.as_str().starts_with(['\'', '"']) {
            let mark = chars.next().unwrap_or_default();
            out.push(Atom::unknown_text(true));
            push_quoted(mark, &mut chars, &mut Vec::new());
            continue;
        }
        if c != '\\' {
            out.push(make_atom(c, quote));
            continue;
        }
        match chars.next() {
            Some('\n') => {}
            Some(next) if quote == Quote::Quoted => escaped(next, out),
            Some(next) => out.push(make_atom(next, Quote::Quoted)),
            None => out.push(Atom::Ch('\\', quote)),
        }
    }
}

/// A quoted string inside a literal, up to its closing quote.
fn push_quoted(quote: char, chars: &mut std::str::Chars, out: &mut Vec<Atom>) {
    out.push(Atom::Empty);
    while let Some(c) = chars.next() {
        match c {
            _ if c == quote => return,
            '$' | '`' if quote == '"' => out.push(Atom::unknown_text(true)),
            '\\' if quote == '"' => match chars.next() {
                Some(next) => escaped(next, out),
                None => return,
            },
            _ => out.push(make_atom(c, Quote::Quoted)),
        }
    }
}
