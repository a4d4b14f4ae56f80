//! Texts in quotes: escapes and what is put in between.

use super::*;
use crate::limits;

impl<'a> Lexer<'a> {
    /// Behind the opening quote, perhaps of a triple one.
    pub(super) fn lex_quoted(&mut self, quote: &[u8; 1], style: QuoteStyle) {
        if self.lang == Lang::Python {
            self.python_text(quote[0], style, false);
        } else {
            self.lex_text(quote[0], 0, style);
        }
    }

    /// Python's text: `self.at` is behind the first quote.
    pub(super) fn python_text(&mut self, quote: u8, style: QuoteStyle, interpolates: bool) {
        let triple = self.peek(0) == quote && self.peek(1) == quote;
        if triple {
            self.at += 2;
        }
        let style = if interpolates { QuoteStyle::Full } else { style };
        self.lex_body(quote, 0, style, triple);
    }

    pub(super) fn lex_text(&mut self, close: u8, open: u8, style: QuoteStyle) {
        self.lex_body(close, open, style, false);
    }

    /// Text up to its end, as one token or, where it interpolates, as a concatenation.
    pub(super) fn lex_body(&mut self, close: u8, open: u8, style: QuoteStyle, triple: bool) {
        let mut text = String::new();
        let mut nested = 0_u32;
        let mut parts = false;
        let raw = style == QuoteStyle::Raw;
        loop {
            if self.at >= self.end {
                if close != 0 {
                    self.good = false;
                }
                break;
            }
            let byte = self.bytes[self.at];
            if byte == close && close != 0 && nested == 0 {
                if !triple {
                    self.at += 1;
                    break;
                }
                if self.peek(1) == close && self.peek(2) == close {
                    self.at += 3;
                    break;
                }
            }
            if byte == b'\n' && !triple && close != 0 && matches!(self.lang, Lang::Python) {
                self.good = false;
                break;
            }
            if open != 0 && byte == open {
                nested += 1;
            } else if open != 0 && byte == close {
                nested -= 1;
            }
            if byte == b'\\' && self.at + 1 < self.end {
                self.lex_escape(&mut text, raw, close);
                continue;
            }
            if style == QuoteStyle::Full && self.lex_interpolation(&mut text, &mut parts) {
                continue;
            }
            // Whole characters: everything up to the next ASCII byte.
            let from = self.at;
            self.at += 1;
            while self.at < self.end && self.bytes[self.at] >= 0x80 {
                self.at += 1;
            }
            match self.source.get(from..self.at) {
                Some(part) => text.push_str(part),
                None => text.push('\u{fffd}'),
            }
        }
        if parts {
            self.push(TokenKind::Text, text);
            self.push(TokenKind::Close, ")");
        } else {
            self.push(TokenKind::Text, text);
        }
    }

    /// The backslash at `self.at` and what it escapes.
    pub(super) fn lex_escape(&mut self, text: &mut String, raw: bool, close: u8) {
        let next = self.bytes[self.at + 1];
        self.at += 1;
        if raw {
            if next == close || next == b'\\' && self.lang != Lang::Python {
                if self.lang == Lang::Python {
                    text.push('\\');
                }
                text.push(char::from(next));
                self.at += 1;
            } else {
                text.push('\\');
            }
            return;
        }
        self.at += 1;
        let plain = match next {
            b'n' => '\n',
            b't' => '\t',
            b'r' => '\r',
            b'0' if !self.peek(0).is_ascii_digit() => '\0',
            b'e' => '\x1b',
            b'a' | b'b' | b'v' | b'f' => '\x0b',
            b'\n' => return,
            b'z' if self.lang == Lang::Lua => {
                while self.at < self.end && self.peek(0).is_ascii_whitespace() {
                    self.at += 1;
                }
                return;
            }
            b'N' if matches!(self.lang, Lang::Python | Lang::Perl) && self.peek(0) == b'{' => {
                self.lex_named_character()
            }
            b'o' if self.lang == Lang::Perl && self.peek(0) == b'{' => self.lex_code_point(8, 3),
            b'x' => self.lex_code_point(16, 2),
            b'u' => self.lex_code_point(16, 4),
            b'U' => self.lex_code_point(16, 8),
            b'0'..=b'9' if self.lang == Lang::Lua => {
                self.at -= 1;
                self.lex_code_point(10, 3)
            }
            b'0'..=b'7' => {
                self.at -= 1;
                self.lex_code_point(8, 3)
            }
            _ if next >= 0x80 => {
                self.at -= 1;
                return;
            }
            b'\\' | b'\'' | b'"' | b'`' | b'/' => char::from(next),
            _ => {
                if matches!(self.lang, Lang::Python | Lang::Php) && next != close {
                    text.push('\\');
                }
                char::from(next)
            }
        };
        text.push(plain);
    }

    /// The character whose number stands here, in so many digits, or in braces in as many as there are.
    fn lex_code_point(&mut self, radix: u32, most: usize) -> char {
        let brace = self.peek(0) == b'{';
        self.at += usize::from(brace);
        let most = if brace { 8 } else { most };
        let from = self.at;
        while self.at - from < most && char::from(self.peek(0)).is_digit(radix) {
            self.at += 1;
        }
        let code = u32::from_str_radix(self.text_between(from, self.at), radix).ok();
        self.at += usize::from(brace && self.peek(0) == b'}');
        code.and_then(char::from_u32).unwrap_or(char::REPLACEMENT_CHARACTER)
    }

    /// `\N{SPACE}`, `\N{U+20}`: of the names only those that part a command; another is some character.
    fn lex_named_character(&mut self) -> char {
        let from = self.at + 1;
        while self.at < self.end && !matches!(self.peek(0), b'}' | b'\n') {
            self.at += 1;
        }
        let name = self.source.get(from..self.at).unwrap_or_default();
        self.at += usize::from(self.peek(0) == b'}');
        match name.to_ascii_uppercase().as_str() {
            "SPACE" => ' ',
            "HYPHEN-MINUS" => '-',
            "SOLIDUS" => '/',
            name => name
                .strip_prefix("U+")
                .and_then(|code| u32::from_str_radix(code, 16).ok())
                .and_then(char::from_u32)
                .unwrap_or(char::REPLACEMENT_CHARACTER),
        }
    }

    /// A part of text that is code, if one begins here.
    pub(super) fn lex_interpolation(&mut self, text: &mut String, parts: &mut bool) -> bool {
        let (byte, next) = (self.peek(0), self.peek(1));
        let skip = match (self.lang, byte, next) {
            (Lang::Python, b'{', b'{') | (Lang::Python, b'}', b'}') => {
                text.push(char::from(byte));
                self.at += 2;
                return true;
            }
            (Lang::Python, b'{', _) | (Lang::Php, b'{', b'$') => 1,
            (Lang::Js | Lang::Perl | Lang::Php, b'$', b'{') => 2,
            (Lang::Ruby, b'#', b'{') | (Lang::Perl, b'@', b'{') => 2,
            (Lang::Perl | Lang::Php, b'$', _) if is_word_byte(next) || next == b'$' => 0,
            (Lang::Perl, b'@', _) if is_word_byte(next) && !next.is_ascii_digit() => 0,
            _ => return false,
        };
        if !*parts {
            *parts = true;
            self.push(TokenKind::Open, "(");
        }
        self.push(TokenKind::Text, std::mem::take(text));
        self.push(TokenKind::Op, JOIN);
        if skip == 0 {
            let from = self.at;
            self.at += 1;
            while is_word_byte(self.peek(0))
                || self.lang == Lang::Perl && self.starts_with("::") && is_word_byte(self.peek(2))
            {
                self.at += if self.peek(0) == b':' { 2 } else { 1 };
            }
            if self.at == from + 1 {
                self.at += 1;
            }
            let whole = !(self.peek(0) == b'['
                || self.peek(0) == b'{' && self.lang == Lang::Perl
                || self.starts_with("->"));
            if whole {
                self.push(TokenKind::Name, self.source.get(from..self.at).unwrap_or_default());
            } else {
                self.lex_element(from);
            }
        } else {
            let name = matches!((self.lang, byte), (Lang::Perl | Lang::Php, b'$' | b'@'))
                && is_word_byte(self.peek(2));
            let sigil = self.text_between(self.at, self.at + 1);
            let from = self.at + skip;
            self.at = from;
            if self.depth >= limits::QUOTED_CODE {
                self.mark_unbalanced();
                return true;
            }
            self.depth += 1;
            let outer = std::mem::replace(&mut self.resume, 0);
            let before = self.out.len();
            self.push(TokenKind::Open, "(");
            self.lex_code(true);
            self.resume = outer;
            self.depth -= 1;
            if name && self.out.len() == before + 2 {
                // `${name}`
                let inner = format!("{sigil}{}", self.out[before + 1].text);
                self.out[before + 1].text = inner.into();
            }
            self.push(TokenKind::Close, ")");
        }
        self.push(TokenKind::Op, JOIN);
        true
    }

    /// `$h{x}`, `$l[0]`, `$o->x` inside text: only Perl's environment is looked up.
    pub(super) fn lex_element(&mut self, from: usize) {
        let key = self.at;
        let close = match self.peek(0) {
            b'[' => b']',
            b'{' => b'}',
            _ => 0,
        };
        if close == 0 {
            self.at += 2;
            while is_word_byte(self.peek(0)) {
                self.at += 1;
            }
        } else {
            while self.at < self.end && self.bytes[self.at] != close && self.bytes[self.at] != b'\n'
            {
                if matches!(self.bytes[self.at], b'`' | b'(') {
                    self.good = false;
                }
                self.at += 1;
            }
            self.at += usize::from(self.peek(0) == close);
        }
        if self.source.get(from..key) == Some("$ENV") {
            let name = self.source.get(key + 1..self.at.saturating_sub(1)).unwrap_or_default();
            self.push(TokenKind::Name, "%ENV");
            self.push(TokenKind::Open, "[");
            self.push(TokenKind::Text, name.trim_matches(['"', '\'']));
            self.push(TokenKind::Close, "]");
        } else {
            self.push(TokenKind::Lost, "");
        }
    }

    /// Text that a shell runs.
    pub(super) fn lex_shell_text(&mut self, close: u8, open: u8) {
        self.push(TokenKind::Name, QX);
        self.push(TokenKind::Open, "(");
        self.lex_text(close, open, QuoteStyle::Full);
        self.push(TokenKind::Close, ")");
    }
}
