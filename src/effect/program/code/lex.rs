//! One tokenizer for the general languages: comments and literals told apart from code.
//!
//! Interpolated text becomes a concatenation in brackets (`"a${x}b"` reads as `("a" + (x) + "b")`), and
//! text that a shell runs becomes a call, so that what reads the tokens knows neither. Every byte is
//! looked at a fixed number of times.

use std::borrow::Cow;

use crate::names::lex::OPERATORS;

mod name;
mod pattern;
mod quote;

/// The languages with this tokenizer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Lang {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    Js,
    /// Perl.
    Perl,
    /// Ruby.
    Ruby,
    /// PHP.
    Php,
    /// Lua.
    Lua,
    /// R.
    R,
}

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenKind {
    /// An identifier or keyword, with its sigil.
    Name,
    /// A number.
    Number,
    /// A string literal; the token's text is its value.
    Text,
    /// An operator.
    Op,
    /// An opening bracket.
    Open,
    /// A closing bracket.
    Close,
    /// The end of a statement: `;` or a line's end.
    End,
    /// A value that is not looked into: a regular expression, part of an interpolation.
    Lost,
}

/// One token.
#[derive(Debug, Clone)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// Its text.
    pub text: Cow<'a, str>,
    /// Blanks stand before it.
    pub space: bool,
    /// How far its line is indented.
    pub indent: u32,
}

/// The operator that joins text, whatever the language writes.
pub const JOIN: &str = "~+";
/// The name of the call that backquotes stand for.
pub const QX: &str = "`";
/// Stands between a tag and its template (JavaScript).
pub const TAG: &str = "tag`";
/// Operators of more than one byte, longest first.
const OPS: &[&str] = &[
    "===", "!==", "**=", "...", "<=>", "&&=", "||=", "??=", "?->", "<<-", "->>", "//=", "==", "!=",
    "<=", ">=", "=>", "->", "<-", "::", ":=", "+=", "-=", "*=", "/=", ".=", "%=", "|=", "&=", "^=",
    "&&", "||", "??", "?.", "&.", "..", "//", "**", "<<", ">>", "++", "--", "=~", "!~", "|>",
];

/// The tokens of a program; false = the text is unbalanced or hides code where none is looked for.
pub fn read_tokens(lang: Lang, source: &str) -> (Vec<Token<'_>>, bool) {
    let mut lexer = Lexer {
        source,
        bytes: source.as_bytes(),
        lang,
        at: 0,
        end: source.len(),
        out: Vec::new(),
        good: true,
        depth: 0,
        resume: 0,
        indent: 0,
        space: false,
        fresh: true,
    };
    if lang == Lang::Php
        && let Some(at) = source.find("<?")
    {
        lexer.at = at + if source[at..].starts_with("<?php") { 5 } else { 2 };
    }
    lexer.lex_code(false);
    (lexer.out, lexer.good)
}

/// How text interpolates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum QuoteStyle {
    /// Not at all, and only the delimiter can be escaped.
    Raw,
    /// Not at all, with escapes.
    Plain,
    /// As the language's double quotes do.
    Full,
}

struct Lexer<'a> {
    source: &'a str,
    bytes: &'a [u8],
    lang: Lang,
    at: usize,
    end: usize,
    out: Vec<Token<'a>>,
    good: bool,
    depth: u8,
    /// Where to go on at the line's end: behind the bodies of heredocs.
    resume: usize,
    indent: u32,
    space: bool,
    fresh: bool,
}

fn is_word_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The partner of an opening bracket, or the byte itself.
fn bracket_partner(byte: u8) -> u8 {
    match byte {
        b'(' => b')',
        b'[' => b']',
        b'{' => b'}',
        b'<' => b'>',
        other => other,
    }
}

impl<'a> Lexer<'a> {
    fn peek(&self, n: usize) -> u8 {
        let at = self.at + n;
        if at < self.end { self.bytes[at] } else { 0 }
    }

    /// The text between two places, without the characters that one of them stands inside of.
    fn text_between(&self, from: usize, to: usize) -> &'a str {
        let from = self.source.ceil_char_boundary(from);
        self.source.get(from..self.source.floor_char_boundary(to)).unwrap_or_default()
    }

    fn starts_with(&self, text: &str) -> bool {
        self.bytes[self.at..self.end].starts_with(text.as_bytes())
    }

    fn push(&mut self, kind: TokenKind, text: impl Into<Cow<'a, str>>) {
        let space = std::mem::replace(&mut self.space, false);
        self.fresh = false;
        self.out.push(Token { kind, text: text.into(), space, indent: self.indent });
    }

    fn mark_unbalanced(&mut self) {
        self.good = false;
        self.at = self.end;
    }

    /// Would a value make no sense here, so that `/` divides and `<<` shifts?
    fn after_value(&self) -> bool {
        let Some(last) = self.out.last() else { return false };
        match last.kind {
            TokenKind::Number | TokenKind::Text | TokenKind::Close | TokenKind::Lost => true,
            TokenKind::Name => match self.lang {
                Lang::Perl => last.text.starts_with(['$', '@', '%']),
                _ => !OPERATORS.contains(&last.text.as_ref()),
            },
            _ => false,
        }
    }

    /// Code up to the end, or to the brace that closes what was opened before.
    fn lex_code(&mut self, closes: bool) {
        let mut open = 0_u32;
        while self.at < self.end {
            let byte = self.bytes[self.at];
            match byte {
                b'\n' => {
                    self.at += 1;
                    if self.resume > self.at {
                        self.at = self.resume.min(self.end);
                    }
                    self.push(TokenKind::End, "\n");
                    self.lex_line_start();
                    continue;
                }
                b' ' | b'\t' | b'\r' | 0x0c => {
                    self.at += 1;
                    self.space = true;
                    continue;
                }
                b'\\' => {
                    // A continued line; PHP's root namespace; a reference in Perl.
                    self.at += 1 + usize::from(self.peek(1) == b'\n');
                    self.space = true;
                    continue;
                }
                b';' => {
                    self.at += 1;
                    self.push(TokenKind::End, ";");
                    continue;
                }
                b'(' | b'[' | b'{' => {
                    if self.lang == Lang::Lua && byte == b'[' && self.long_bracket() {
                        continue;
                    }
                    open += u32::from(byte == b'{');
                    let text = self.text_between(self.at, self.at + 1);
                    self.at += 1;
                    self.push(TokenKind::Open, text);
                    continue;
                }
                b')' | b']' | b'}' => {
                    if byte == b'}' {
                        if open == 0 && closes {
                            self.at += 1;
                            return;
                        }
                        open = open.saturating_sub(1);
                    }
                    let text = self.text_between(self.at, self.at + 1);
                    self.at += 1;
                    self.push(TokenKind::Close, text);
                    continue;
                }
                _ => {}
            }
            if self.lex_comment() || self.lex_literal(byte) {
                continue;
            }
            if byte.is_ascii_digit() {
                let from = self.at;
                while is_word_byte(self.peek(0))
                    || self.peek(0) == b'.' && self.peek(1).is_ascii_digit()
                {
                    self.at += 1;
                }
                self.push(TokenKind::Number, self.text_between(from, self.at));
            } else if !self.lex_name(byte) {
                self.lex_operator();
            }
        }
        if closes {
            self.good = false;
        }
    }

    /// The begin of a line.
    fn lex_line_start(&mut self) {
        self.fresh = true;
        let from = self.at;
        while matches!(self.peek(0), b' ' | b'\t') {
            self.at += 1;
        }
        self.indent = u32::try_from(self.at - from).unwrap_or(u32::MAX);
    }

    fn skip_line(&mut self) {
        while self.at < self.end && self.bytes[self.at] != b'\n' {
            self.at += 1;
        }
    }

    fn skip_past(&mut self, text: &str) {
        match self.source.get(self.at..self.end).and_then(|rest| rest.find(text)) {
            Some(n) => self.at += n + text.len(),
            None => self.mark_unbalanced(),
        }
    }

    fn lex_comment(&mut self) -> bool {
        let lang = self.lang;
        let first = self.fresh && self.indent == 0;
        if self.starts_with("#") && !matches!(lang, Lang::Js | Lang::Lua) {
            if lang == Lang::Php && self.peek(1) == b'[' {
                return false;
            }
            self.skip_line();
        } else if matches!(lang, Lang::Js | Lang::Php) && self.starts_with("//")
            || self.starts_with("#!") && self.at == 0
        {
            self.skip_line();
        } else if matches!(lang, Lang::Js | Lang::Php) && self.starts_with("/*") {
            self.at += 2;
            self.skip_past("*/");
        } else if lang == Lang::Lua && self.starts_with("--") {
            self.at += 2;
            let before = self.out.len();
            if self.peek(0) == b'[' && self.long_bracket() {
                self.out.truncate(before);
            } else {
                self.skip_line();
            }
        } else if lang == Lang::Ruby && first && self.starts_with("=begin") {
            self.skip_past("\n=end");
            self.skip_line();
        } else if lang == Lang::Perl
            && first
            && self.starts_with("=")
            && self.peek(1).is_ascii_lowercase()
        {
            match self.text_between(self.at, self.end).find("\n=cut") {
                Some(n) => self.at += n + 5,
                None => self.at = self.end,
            }
        } else {
            return false;
        }
        true
    }

    /// A literal that begins here, if one does.
    fn lex_literal(&mut self, byte: u8) -> bool {
        let lang = self.lang;
        match byte {
            b'\'' => {
                self.at += 1;
                let style = match lang {
                    Lang::Perl | Lang::Ruby | Lang::Php => QuoteStyle::Raw,
                    _ => QuoteStyle::Plain,
                };
                self.lex_quoted(b"'", style);
            }
            b'"' => {
                self.at += 1;
                let full = matches!(lang, Lang::Perl | Lang::Ruby | Lang::Php);
                self.lex_quoted(b"\"", if full { QuoteStyle::Full } else { QuoteStyle::Plain });
            }
            b'`' => {
                self.at += 1;
                match lang {
                    Lang::Js => {
                        let tagged = |last: &Token| {
                            last.kind == TokenKind::Name || last.kind == TokenKind::Close
                        };
                        if self.after_value() && self.out.last().is_some_and(tagged) {
                            self.push(TokenKind::Op, TAG);
                        }
                        self.lex_text(b'`', 0, QuoteStyle::Full);
                    }
                    Lang::Perl | Lang::Ruby | Lang::Php => self.lex_shell_text(b'`', 0),
                    Lang::R => self.lex_text(b'`', 0, QuoteStyle::Raw),
                    _ => self.push(TokenKind::Lost, "`"),
                }
            }
            b'/' if matches!(lang, Lang::Js | Lang::Perl | Lang::Ruby) => {
                let spaced = lang == Lang::Ruby
                    && self.space
                    && !matches!(self.peek(1), b' ' | b'=')
                    && self.out.last().is_some_and(|t| t.kind == TokenKind::Name);
                if self.after_value() && !spaced
                    || lang == Lang::Perl && self.starts_with("//") && !self.out.is_empty()
                {
                    return false;
                }
                self.at += 1;
                self.lex_pattern(b'/', 0);
                self.lex_flags();
                self.push(TokenKind::Lost, "/");
            }
            b'<' => return self.lex_heredoc(),
            b'%' if lang == Lang::Ruby => {
                let next = self.peek(1);
                if self.after_value() && !(self.space && next != b' ' && next != b'=') {
                    return false;
                }
                let (kind, skip) = if next.is_ascii_alphabetic() { (next, 2) } else { (b'Q', 1) };
                let open = self.peek(skip);
                if !open.is_ascii_punctuation() || !b"qQwWiIxrs".contains(&kind) {
                    return false;
                }
                self.at += skip + 1;
                self.lex_delimited(kind, open);
            }
            b':' if lang == Lang::Ruby => {
                if self.peek(1) == b':' || self.bytes.get(self.at.wrapping_sub(1)) == Some(&b':') {
                    return false;
                }
                if self.peek(1) == b'"' {
                    self.at += 2;
                    self.lex_text(b'"', 0, QuoteStyle::Full);
                } else if is_word_byte(self.peek(1)) && (self.space || !self.after_value()) {
                    self.at += 1;
                    let from = self.at;
                    while is_word_byte(self.peek(0)) || matches!(self.peek(0), b'?' | b'!') {
                        self.at += 1;
                    }
                    self.push(TokenKind::Text, self.text_between(from, self.at));
                } else {
                    return false;
                }
            }
            _ => return false,
        }
        true
    }

    fn lex_operator(&mut self) {
        let mut text = OPS.iter().find(|op| self.starts_with(op)).copied();
        if self.starts_with("?.") && self.peek(2).is_ascii_digit() {
            text = None;
        }
        let from = self.at;
        self.at += text.map_or(1, str::len);
        let Some(text) = text.or_else(|| self.source.get(from..self.at)) else {
            return;
        };
        let next = self.peek(0);
        let text = match (self.lang, text) {
            (Lang::Js, "?.") | (Lang::Ruby, "::" | "&.") => ".",
            (Lang::Perl, "->") | (Lang::Php, "->" | "?->" | "::") => ".",
            (Lang::R, "::") => ".",
            (Lang::Lua, ":") if is_word_byte(next) => ".",
            (Lang::Perl | Lang::Php, ".") | (Lang::Lua, "..") => JOIN,
            (Lang::Perl | Lang::Php, ".=") => "+=",
            (Lang::Python | Lang::Js | Lang::Ruby, "+") => JOIN,
            (Lang::Ruby, "<<") => JOIN,
            (Lang::R, "<-" | "<<-") => "=",
            (_, ":=") => "=",
            (_, "||=" | "??=" | "//=") if self.lang != Lang::Python => "=",
            (_, text) => text,
        };
        self.push(TokenKind::Op, text);
    }
}
