//! Patterns, the quotes of Perl and Ruby, and heredocs.

use super::*;
use crate::limits;

impl<'a> Lexer<'a> {
    /// A regular expression behind its opening delimiter: skipped, unless it holds code.
    pub(super) fn lex_pattern(&mut self, close: u8, open: u8) {
        let from = self.at;
        let mut class = false;
        let mut nested = 0_u32;
        while self.at < self.end {
            let byte = self.bytes[self.at];
            match byte {
                b'\\' => self.at += 1,
                b'\n' if self.lang == Lang::Js => break,
                b'[' if open == 0 && self.lang == Lang::Js => class = true,
                b']' if open == 0 => class = false,
                _ if byte == close && nested == 0 && !class => {
                    let inner = &self.source.as_bytes()[from..self.at];
                    let holds = |mark: &[u8]| inner.windows(mark.len()).any(|w| w == mark);
                    if self.lang == Lang::Perl
                        && [&b"(?{"[..], b"(??{", b"@{", b"${"].iter().any(|m| holds(m))
                        || self.lang == Lang::Ruby && holds(b"#{")
                    {
                        // Code in a pattern is rare enough not to be read.
                        self.good = false;
                    }
                    self.at += 1;
                    return;
                }
                _ if open != 0 && byte == open => nested += 1,
                _ if open != 0 && byte == close => nested -= 1,
                _ => {}
            }
            self.at += 1;
        }
        self.mark_unbalanced();
    }

    /// The letters behind a pattern.
    pub(super) fn lex_flags(&mut self) -> &'a str {
        let from = self.at;
        while self.peek(0).is_ascii_alphabetic() {
            self.at += 1;
        }
        self.text_between(from, self.at)
    }

    /// `q()`, `%w[]` ... : behind the opening delimiter.
    pub(super) fn lex_delimited(&mut self, kind: u8, open: u8) {
        let close = bracket_partner(open);
        let open = if close == open { 0 } else { open };
        match kind {
            b'q' | b's' => self.lex_text(close, open, QuoteStyle::Raw),
            b'x' if close == b'\'' => {
                self.push(TokenKind::Name, QX);
                self.push(TokenKind::Open, "(");
                self.lex_text(close, open, QuoteStyle::Raw);
                self.push(TokenKind::Close, ")");
            }
            b'x' => self.lex_shell_text(close, open),
            b'r' => {
                self.lex_pattern(close, open);
                self.lex_flags();
                self.push(TokenKind::Lost, "/");
            }
            b'w' | b'W' | b'i' | b'I' => {
                let (before, space) = (self.out.len(), self.space);
                self.lex_text(close, open, QuoteStyle::Raw);
                let list = self.out.pop().map(|t| t.text).unwrap_or_default().into_owned();
                self.out.truncate(before);
                self.space = space;
                self.push(TokenKind::Open, "[");
                for item in list.split_whitespace() {
                    self.push(TokenKind::Text, item.to_string());
                    self.push(TokenKind::Op, ",");
                }
                self.push(TokenKind::Close, "]");
            }
            _ => self.lex_text(close, open, QuoteStyle::Full),
        }
    }

    /// Perl's quote-like operators, behind their name.
    pub(super) fn perl_quote(&mut self, name: &str) -> bool {
        let from = self.at;
        while matches!(self.peek(0), b' ' | b'\n') {
            self.at += 1;
        }
        let open = self.peek(0);
        let blank = self.at > from;
        let fits = open.is_ascii_punctuation()
            && !matches!(open, b',' | b';' | b')' | b'_' | b'$')
            && !(open == b'=' && (blank || matches!(self.peek(1), b'>' | b'=' | b'~' | b' ')))
            && !(open == b'}' || open == b'#' && blank)
            && !(open == b'-' && self.peek(1) == b'>');
        if !fits {
            self.at = from;
            return false;
        }
        self.at += 1;
        let close = bracket_partner(open);
        let nest = if close == open { 0 } else { open };
        match name {
            "q" => self.lex_delimited(b'q', open),
            "qq" => self.lex_delimited(b'Q', open),
            "qw" => self.lex_delimited(b'w', open),
            "qx" => self.lex_delimited(b'x', open),
            "m" | "qr" => self.lex_delimited(b'r', open),
            "tr" | "y" | "s" => {
                self.lex_pattern(close, nest);
                let mut second = (close, nest);
                if nest != 0 {
                    while matches!(self.peek(0), b' ' | b'\n') {
                        self.at += 1;
                    }
                    let open = self.peek(0);
                    self.good &= open.is_ascii();
                    let close = bracket_partner(open);
                    second = (close, if close == open { 0 } else { open });
                    self.at += 1;
                }
                let from = self.at;
                if name != "s" {
                    self.lex_pattern(second.0, second.1);
                    self.lex_flags();
                } else {
                    self.lex_substitution(from, second);
                }
                self.push(TokenKind::Lost, "/");
            }
            _ => {}
        }
        true
    }

    /// The right side of `s///`: code with the flag e, text without it.
    pub(super) fn lex_substitution(&mut self, from: usize, (close, open): (u8, u8)) {
        let good = self.good;
        self.lex_pattern(close, open);
        self.good = good && (self.good || self.at < self.end || self.bytes.last() == Some(&close));
        let to = self.at.saturating_sub(1).max(from);
        let flags = self.lex_flags();
        let (after, end) = (self.at, self.end);
        self.at = from.min(to);
        self.end = to;
        if self.depth >= limits::QUOTED_CODE {
            self.good = false;
        } else if flags.contains('e') {
            if flags.matches('e').count() > 1 {
                self.good = false;
            }
            self.depth += 1;
            self.push(TokenKind::Op, "=~");
            self.push(TokenKind::Open, "(");
            self.lex_code(false);
            self.push(TokenKind::Close, ")");
            self.depth -= 1;
        } else {
            self.depth += 1;
            self.push(TokenKind::Op, "=~");
            self.lex_body(
                0,
                0,
                if close == b'\'' { QuoteStyle::Raw } else { QuoteStyle::Full },
                false,
            );
            self.depth -= 1;
        }
        self.at = after;
        self.end = end;
        self.push(TokenKind::Op, "=~");
    }

    /// `<<EOF` and its relatives, Perl's `<FILE>`.
    pub(super) fn lex_heredoc(&mut self) -> bool {
        let mut n = match self.lang {
            Lang::Php if self.starts_with("<<<") => 3,
            Lang::Perl | Lang::Ruby if self.starts_with("<<") => 2,
            Lang::Perl if !self.after_value() => {
                let mut n = 1;
                while is_word_byte(self.peek(n))
                    || matches!(self.peek(n), b'$' | b'*' | b'.' | b'/')
                {
                    n += 1;
                }
                if self.peek(n) != b'>' {
                    return false;
                }
                self.at += n + 1;
                self.push(TokenKind::Lost, "<>");
                return true;
            }
            _ => return false,
        };
        let indented = matches!(self.peek(n), b'~' | b'-');
        n += usize::from(indented);
        if self.lang == Lang::Php {
            while self.peek(n) == b' ' {
                n += 1;
            }
        }
        let quote = self.peek(n);
        let quoted = matches!(quote, b'\'' | b'"' | b'`');
        if !(quoted || quote.is_ascii_alphabetic() || quote == b'_')
            || !quoted && !indented && self.after_value() && self.lang != Lang::Php
        {
            return false;
        }
        n += usize::from(quoted);
        let from = self.at + n;
        let mut to = from;
        while to < self.end
            && if quoted { self.bytes[to] != quote } else { is_word_byte(self.bytes[to]) }
        {
            if self.bytes[to] == b'\n' {
                return false;
            }
            to += 1;
        }
        let mark = self.text_between(from, to);
        self.at = (to + usize::from(quoted)).min(self.end);
        let start = if self.resume > self.at {
            self.resume
        } else {
            match self.text_between(self.at, self.end).find('\n') {
                Some(n) => self.at + n + 1,
                None => {
                    self.mark_unbalanced();
                    return true;
                }
            }
        };
        let mut line = start;
        loop {
            if line > self.end || line >= self.source.len() && !mark.is_empty() {
                self.mark_unbalanced();
                return true;
            }
            let stop = self.text_between(line, self.end).find('\n').map_or(self.end, |n| line + n);
            let text = self.text_between(line, stop).trim_start();
            let text = if self.lang == Lang::Php {
                text.get(..mark.len()).unwrap_or(text)
            } else {
                text.trim_end()
            };
            if text == mark {
                let (after, end) = (self.at, self.end);
                self.at = start;
                self.end = line.saturating_sub(1).max(start);
                let raw = quote == b'\'';
                if quote == b'`' {
                    self.push(TokenKind::Name, QX);
                    self.push(TokenKind::Open, "(");
                }
                self.lex_body(0, 0, if raw { QuoteStyle::Raw } else { QuoteStyle::Full }, false);
                if quote == b'`' {
                    self.push(TokenKind::Close, ")");
                }
                self.at = after;
                self.end = end;
                self.resume = if self.lang == Lang::Php {
                    // What follows the mark belongs to the statement.
                    let rest = self
                        .text_between(line, stop)
                        .find(mark)
                        .map_or(stop, |n| line + n + mark.len());
                    self.at = rest;
                    0
                } else {
                    (stop + 1).min(self.end)
                };
                return true;
            }
            line = stop + 1;
        }
    }

    /// Lua's `[[ ]]`, `[==[ ]==]`.
    pub(super) fn long_bracket(&mut self) -> bool {
        let mut level = 0;
        while self.peek(1 + level) == b'=' {
            level += 1;
        }
        if self.peek(1 + level) != b'[' {
            return false;
        }
        let close = format!("]{}]", "=".repeat(level));
        self.at += level + 2;
        let from = self.at;
        self.skip_past(&close);
        let to = self.at.saturating_sub(close.len()).max(from);
        self.push(TokenKind::Text, self.source.get(from..to).unwrap_or_default());
        true
    }
}
