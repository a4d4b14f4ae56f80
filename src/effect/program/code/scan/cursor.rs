//! The tokens of a program and where the walk stands.

use super::super::lex::{Kind, Token};

/// The tokens and where the walk stands.
pub(super) struct Cursor<'t> {
    pub(super) tokens: &'t [Token<'t>],
    pub(super) at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn peek(&self, n: usize) -> Option<&'t Token<'t>> {
        self.tokens.get(self.at + n)
    }

    pub(super) fn is(&self, n: usize, kind: Kind, text: &str) -> bool {
        self.peek(n).is_some_and(|t| t.kind == kind && t.text == text)
    }

    pub(super) fn op(&self, text: &str) -> bool {
        self.is(0, Kind::Op, text)
    }

    pub(super) fn word(&self, n: usize) -> &'t str {
        self.peek(n).filter(|t| t.kind == Kind::Name).map_or("", |t| t.text.as_ref())
    }
}

/// Goes behind the bracket that is open.
pub(super) fn skip(c: &mut Cursor) {
    let mut depth = 1;
    while let Some(token) = c.peek(0) {
        c.at += 1;
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
            _ => {}
        }
    }
}
