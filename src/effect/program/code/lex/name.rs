//! Names and numbers.

use super::*;

/// What a sigil before a name comes to.
enum Sigil {
    /// It is part of the name.
    Named,
    /// There is none: the name begins here, if one does.
    None,
    /// It is read.
    Read,
    /// It is an operator.
    Operator,
}

impl<'a> Lexer<'a> {
    pub(super) fn lex_name(&mut self, byte: u8) -> bool {
        let from = self.at;
        let named = match self.sigil(byte) {
            Sigil::Read => return true,
            Sigil::Operator => return false,
            Sigil::Named => true,
            Sigil::None => is_word_byte(byte) && !byte.is_ascii_digit(),
        };
        if !named {
            return false;
        }
        self.at += 1;
        self.letters();
        let Some(name) = self.source.get(from..self.at) else {
            self.mark_unbalanced();
            return true;
        };
        if !self.begins_literal(name) {
            self.push(TokenKind::Name, name);
        }
        true
    }

    /// A sign before a name.
    fn sigil(&mut self, byte: u8) -> Sigil {
        match (self.lang, byte) {
            (Lang::Perl, b'$' | b'@' | b'%' | b'&') => self.perl_sigil(byte),
            (Lang::Php, b'$') if matches!(self.peek(1), b'$' | b'{') => {
                // A variable named by a variable.
                self.at += 1;
                self.push(TokenKind::Lost, "$$");
                Sigil::Read
            }
            (Lang::Php, b'$') | (Lang::Ruby, b'$' | b'@') | (Lang::Js, b'$' | b'#') => Sigil::Named,
            (Lang::R, b'.') if is_word_byte(self.peek(1)) => Sigil::Named,
            _ => Sigil::None,
        }
    }

    /// `$x`, `@x`, `%x`, `&x`, `$!`
    fn perl_sigil(&mut self, byte: u8) -> Sigil {
        let next = self.peek(1);
        let special = byte == b'$' && b"$!&@/,0.;\\".contains(&next);
        let name = is_word_byte(next) || next == b':' && self.peek(2) == b':' || special;
        let hash = byte == b'%' && self.after_value();
        if hash || !name {
            return self.bare_sigil(byte, next, hash);
        }
        if byte == b'&' {
            if self.after_value() || next == b'&' {
                return Sigil::Operator;
            }
            self.at += 1;
            return Sigil::Read;
        }
        if !is_word_byte(next) && next != b':' {
            let from = self.at;
            self.at += 2;
            self.push(TokenKind::Name, self.text_between(from, self.at));
            return Sigil::Read;
        }
        Sigil::Named
    }

    /// One that no name follows: `@{...}`, `@$x`, `$$x` say nothing, `$#x` is a number.
    fn bare_sigil(&mut self, byte: u8, next: u8, hash: bool) -> Sigil {
        if byte != b'&' && matches!(next, b'{' | b'$') && !hash {
            self.at += 1;
            return Sigil::Read;
        }
        if byte == b'$' && next == b'#' {
            self.at += 2;
            return Sigil::Read;
        }
        Sigil::Operator
    }

    /// The rest of a name.
    fn letters(&mut self) {
        let lang = self.lang;
        if lang == Lang::Ruby && self.peek(0) == b'@' {
            self.at += 1;
        }
        loop {
            let next = self.peek(0);
            let part = match lang {
                Lang::Js => next == b'$',
                Lang::R => next == b'.',
                Lang::Perl => next == b':' && self.peek(1) == b':' && is_word_byte(self.peek(2)),
                _ => false,
            };
            if !part && !is_word_byte(next) {
                break;
            }
            self.at += if next == b':' { 2 } else { 1 };
        }
        if lang == Lang::Ruby && matches!(self.peek(0), b'?' | b'!') && self.peek(1) != b'=' {
            self.at += 1;
        }
    }

    /// Does the name stand before a literal, or end the program? Then that is read.
    fn begins_literal(&mut self, name: &str) -> bool {
        const QUOTES: &[&str] = &["q", "qq", "qw", "qx", "m", "qr", "s", "tr", "y"];
        let next = self.peek(0);
        let quote = matches!(next, b'\'' | b'"');
        match self.lang {
            Lang::Python if name.len() <= 3 && quote => self.python_prefix(name, next),
            Lang::R if matches!(name, "r" | "R") && quote && self.peek(1) == b'(' => {
                self.r_raw(next);
                true
            }
            Lang::Perl if matches!(name, "__END__" | "__DATA__") => {
                self.at = self.end;
                true
            }
            Lang::Perl if QUOTES.contains(&name) => {
                let member =
                    self.out.last().is_some_and(|t| t.kind == TokenKind::Op && t.text == ".");
                !member && self.perl_quote(name)
            }
            _ => false,
        }
    }

    /// `rb'...'`
    fn python_prefix(&mut self, name: &str, quote: u8) -> bool {
        let lower = name.to_ascii_lowercase();
        if !lower.bytes().all(|b| b"rbfut".contains(&b)) {
            return false;
        }
        self.at += 1;
        let style = if lower.contains('r') { QuoteStyle::Raw } else { QuoteStyle::Plain };
        self.python_text(quote, style, lower.contains(['f', 't']));
        true
    }

    /// `r"(...)"`
    fn r_raw(&mut self, quote: u8) {
        self.at += 2;
        let from = self.at;
        self.skip_past(if quote == b'"' { ")\"" } else { ")'" });
        let to = self.at.saturating_sub(2).max(from);
        self.push(TokenKind::Text, self.source.get(from..to).unwrap_or_default());
    }
}
