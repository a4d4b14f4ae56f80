//! The tokens of a program and where the walk stands.

use super::super::lex::{Token, TokenKind};

/// The tokens and where the walk stands.
pub(super) struct Cursor<'t> {
    pub(super) tokens: &'t [Token<'t>],
    pub(super) at: usize,
}

impl<'t> Cursor<'t> {
    pub(super) fn peek(&self, n: usize) -> Option<&'t Token<'t>> {
        self.tokens.get(self.at + n)
    }

    pub(super) fn is_token(&self, n: usize, kind: TokenKind, text: &str) -> bool {
        self.peek(n).is_some_and(|t| t.kind == kind && t.text == text)
    }

    pub(super) fn is_operator(&self, text: &str) -> bool {
        self.is_token(0, TokenKind::Op, text)
    }

    pub(super) fn name_at(&self, n: usize) -> &'t str {
        self.peek(n).filter(|t| t.kind == TokenKind::Name).map_or("", |t| t.text.as_ref())
    }
}

/// Goes behind the bracket that is open.
pub(super) fn skip_bracket(c: &mut Cursor) {
    let mut depth = 1;
    while let Some(token) = c.peek(0) {
        c.at += 1;
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close => {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
            _ => {}
        }
    }
}
