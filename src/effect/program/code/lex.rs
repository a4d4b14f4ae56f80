//! One tokenizer for the general languages: comments and literals told apart from code.
//!
//! Interpolated text becomes a concatenation in brackets (`"a${x}b"` reads as `("a" + (x) + "b")`), and
//! text that a shell runs becomes a call, so that what reads the tokens knows neither. Every byte is
//! looked at a fixed number of times.

use std::borrow::Cow;

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
pub enum Kind {
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
    pub kind: Kind,
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
/// Operators of more than one byte, longest first.
const OPS: &[&str] = &[
    "===", "!==", "**=", "...", "<=>", "&&=", "||=", "??=", "?->", "<<-", "->>", "//=", "==", "!=",
    "<=", ">=", "=>", "->", "<-", "::", ":=", "+=", "-=", "*=", "/=", ".=", "%=", "|=", "&=", "^=",
    "&&", "||", "??", "?.", "&.", "..", "//", "**", "<<", ">>", "++", "--", "=~", "!~", "|>",
];

/// The tokens of a program; false = the text is unbalanced or hides code where none is looked for.
pub fn tokens(lang: Lang, source: &str) -> (Vec<Token<'_>>, bool) {
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
    lexer.code(false);
    (lexer.out, lexer.good)
}

/// How text interpolates.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Style {
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

fn word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// The partner of an opening bracket, or the byte itself.
fn partner(byte: u8) -> u8 {
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

    fn starts(&self, text: &str) -> bool {
        self.bytes[self.at..self.end].starts_with(text.as_bytes())
    }

    fn push(&mut self, kind: Kind, text: impl Into<Cow<'a, str>>) {
        let space = std::mem::replace(&mut self.space, false);
        self.fresh = false;
        self.out.push(Token { kind, text: text.into(), space, indent: self.indent });
    }

    fn bad(&mut self) {
        self.good = false;
        self.at = self.end;
    }

    /// Would a value make no sense here, so that `/` divides and `<<` shifts?
    fn after_value(&self) -> bool {
        let Some(last) = self.out.last() else { return false };
        match last.kind {
            Kind::Number | Kind::Text | Kind::Close | Kind::Lost => true,
            Kind::Name => match self.lang {
                Lang::Perl => last.text.starts_with(['$', '@', '%']),
                _ => !matches!(
                    last.text.as_ref(),
                    "return"
                        | "typeof"
                        | "case"
                        | "in"
                        | "of"
                        | "if"
                        | "unless"
                        | "and"
                        | "or"
                        | "not"
                        | "when"
                        | "else"
                        | "await"
                        | "while"
                        | "until"
                        | "then"
                        | "do"
                        | "puts"
                        | "yield"
                ),
            },
            _ => false,
        }
    }

    /// Code up to the end, or to the brace that closes what was opened before.
    fn code(&mut self, closes: bool) {
        let mut open = 0_u32;
        while self.at < self.end {
            let byte = self.bytes[self.at];
            match byte {
                b'\n' => {
                    self.at += 1;
                    if self.resume > self.at {
                        self.at = self.resume.min(self.end);
                    }
                    self.push(Kind::End, "\n");
                    self.line();
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
                    self.push(Kind::End, ";");
                    continue;
                }
                b'(' | b'[' | b'{' => {
                    if self.lang == Lang::Lua && byte == b'[' && self.long_bracket() {
                        continue;
                    }
                    open += u32::from(byte == b'{');
                    let text = &self.source[self.at..=self.at];
                    self.at += 1;
                    self.push(Kind::Open, text);
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
                    let text = &self.source[self.at..=self.at];
                    self.at += 1;
                    self.push(Kind::Close, text);
                    continue;
                }
                _ => {}
            }
            if self.comment() || self.literal(byte) {
                continue;
            }
            if byte.is_ascii_digit() {
                let from = self.at;
                while word(self.peek(0)) || self.peek(0) == b'.' && self.peek(1).is_ascii_digit() {
                    self.at += 1;
                }
                self.push(Kind::Number, &self.source[from..self.at]);
            } else if !self.name(byte) {
                self.operator();
            }
        }
        if closes {
            self.good = false;
        }
    }

    /// The begin of a line.
    fn line(&mut self) {
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
            None => self.bad(),
        }
    }

    fn comment(&mut self) -> bool {
        let lang = self.lang;
        let first = self.fresh && self.indent == 0;
        if self.starts("#") && !matches!(lang, Lang::Js | Lang::Lua) {
            if lang == Lang::Php && self.peek(1) == b'[' {
                return false;
            }
            self.skip_line();
        } else if matches!(lang, Lang::Js | Lang::Php) && self.starts("//")
            || self.starts("#!") && self.at == 0
        {
            self.skip_line();
        } else if matches!(lang, Lang::Js | Lang::Php) && self.starts("/*") {
            self.at += 2;
            self.skip_past("*/");
        } else if lang == Lang::Lua && self.starts("--") {
            self.at += 2;
            let before = self.out.len();
            if self.peek(0) == b'[' && self.long_bracket() {
                self.out.truncate(before);
            } else {
                self.skip_line();
            }
        } else if lang == Lang::Ruby && first && self.starts("=begin") {
            self.skip_past("\n=end");
            self.skip_line();
        } else if lang == Lang::Perl
            && first
            && self.starts("=")
            && self.peek(1).is_ascii_lowercase()
        {
            match self.source[self.at..self.end].find("\n=cut") {
                Some(n) => self.at += n + 5,
                None => self.at = self.end,
            }
        } else {
            return false;
        }
        true
    }

    /// A literal that begins here, if one does.
    fn literal(&mut self, byte: u8) -> bool {
        let lang = self.lang;
        match byte {
            b'\'' => {
                self.at += 1;
                let style = match lang {
                    Lang::Perl | Lang::Ruby | Lang::Php => Style::Raw,
                    _ => Style::Plain,
                };
                self.quoted(b"'", style);
            }
            b'"' => {
                self.at += 1;
                let full = matches!(lang, Lang::Perl | Lang::Ruby | Lang::Php);
                self.quoted(b"\"", if full { Style::Full } else { Style::Plain });
            }
            b'`' => {
                self.at += 1;
                match lang {
                    Lang::Js => self.text(b'`', 0, Style::Full),
                    Lang::Perl | Lang::Ruby | Lang::Php => self.shell(b'`', 0),
                    Lang::R => self.text(b'`', 0, Style::Raw),
                    _ => self.push(Kind::Lost, "`"),
                }
            }
            b'/' if matches!(lang, Lang::Js | Lang::Perl | Lang::Ruby) => {
                let spaced = lang == Lang::Ruby
                    && self.space
                    && !matches!(self.peek(1), b' ' | b'=')
                    && self.out.last().is_some_and(|t| t.kind == Kind::Name);
                if self.after_value() && !spaced
                    || lang == Lang::Perl && self.starts("//") && !self.out.is_empty()
                {
                    return false;
                }
                self.at += 1;
                self.pattern(b'/', 0);
                self.flags();
                self.push(Kind::Lost, "/");
            }
            b'<' => return self.heredoc(),
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
                self.delimited(kind, open);
            }
            b':' if lang == Lang::Ruby => {
                if self.peek(1) == b':' || self.bytes.get(self.at.wrapping_sub(1)) == Some(&b':') {
                    return false;
                }
                if self.peek(1) == b'"' {
                    self.at += 2;
                    self.text(b'"', 0, Style::Full);
                } else if word(self.peek(1)) && (self.space || !self.after_value()) {
                    self.at += 1;
                    let from = self.at;
                    while word(self.peek(0)) || matches!(self.peek(0), b'?' | b'!') {
                        self.at += 1;
                    }
                    self.push(Kind::Text, &self.source[from..self.at]);
                } else {
                    return false;
                }
            }
            _ => return false,
        }
        true
    }

    fn operator(&mut self) {
        let mut text = OPS.iter().find(|op| self.starts(op)).copied();
        if self.starts("?.") && self.peek(2).is_ascii_digit() {
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
            (Lang::Lua, ":") if word(next) => ".",
            (Lang::Perl | Lang::Php, ".") | (Lang::Lua, "..") => JOIN,
            (Lang::Perl | Lang::Php, ".=") => "+=",
            (Lang::Python | Lang::Js | Lang::Ruby, "+") => JOIN,
            (Lang::Ruby, "<<") => JOIN,
            (Lang::R, "<-" | "<<-") => "=",
            (_, ":=") => "=",
            (_, "||=" | "??=" | "//=") if self.lang != Lang::Python => "=",
            (_, text) => text,
        };
        self.push(Kind::Op, text);
    }
}
