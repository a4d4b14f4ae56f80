//! Literal text as atoms: backslashes, quotes that the parser left in, and text whose place in the
//! source is wrong.

use shuck_ast::{LiteralText, Span, WordPart, WordPartNode};

use super::Walker;
use super::word::{Atom, Quote, atom, quoted};

impl Walker<'_> {
    /// The text of a double-quoted string whose parts' places in the source are wrong: the parser
    /// counts them in the text without its escapes.
    pub(super) fn misplaced(&mut self, parts: &[WordPartNode], span: Span) -> Option<Vec<Atom>> {
        let raw = self.slice(span);
        if !raw.contains('\\') || super::doubt::in_place(parts, span) {
            return None;
        }
        let inner = raw.trim_start_matches('$').strip_prefix('"')?.strip_suffix('"')?;
        if parts.iter().all(|p| matches!(p.kind, WordPart::Literal(_))) {
            let mut out = Vec::new();
            literal(inner, Quote::Quoted, &mut out);
            return Some(out);
        }
        let mut out = Vec::new();
        for part in parts {
            match &part.kind {
                WordPart::Literal(LiteralText::CookedSource(text)) if !text.contains('\\') => {
                    out.extend(quoted(text));
                }
                WordPart::Literal(_) => out.push(Atom::blank(true)),
                _ => self.part(part, Quote::Quoted, &mut out),
            }
        }
        Some(out)
    }
}

/// Literal text as written: backslashes are taken away here.
pub(super) fn literal(text: &str, quote: Quote, out: &mut Vec<Atom>) {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        // Quotes inside braces are left in the text.
        if matches!(c, '\'' | '"') && quote == Quote::Bare {
            within(c, &mut chars, out);
            continue;
        }
        if c == '$' && quote == Quote::Bare && chars.as_str().starts_with(['\'', '"']) {
            let mark = chars.next().unwrap_or_default();
            out.push(Atom::blank(true));
            within(mark, &mut chars, &mut Vec::new());
            continue;
        }
        if c != '\\' {
            out.push(atom(c, quote));
            continue;
        }
        match chars.next() {
            Some('\n') => {}
            Some(next) if quote == Quote::Quoted && !matches!(next, '$' | '`' | '"' | '\\') => {
                out.push(Atom::Ch('\\', quote));
                out.push(Atom::Ch(next, quote));
            }
            Some(next) => out.push(Atom::Ch(next, Quote::Quoted)),
            None => out.push(Atom::Ch('\\', quote)),
        }
    }
}

/// A quoted string inside a literal, up to its closing quote.
fn within(quote: char, chars: &mut std::str::Chars, out: &mut Vec<Atom>) {
    out.push(Atom::Empty);
    while let Some(c) = chars.next() {
        match c {
            _ if c == quote => return,
            '$' | '`' if quote == '"' => out.push(Atom::blank(true)),
            '\\' if quote == '"' => match chars.next() {
                Some('\n') => {}
                Some(next) => {
                    if !matches!(next, '$' | '`' | '"' | '\\') {
                        out.push(Atom::Ch('\\', Quote::Quoted));
                    }
                    out.push(Atom::Ch(next, Quote::Quoted));
                }
                None => return,
            },
            _ => out.push(Atom::Ch(c, Quote::Quoted)),
        }
    }
}
