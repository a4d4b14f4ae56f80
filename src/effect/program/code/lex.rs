//! One tokenizer for the general languages: comments and literals told apart from code.
//!
//! Interpolated text becomes a concatenation in brackets (`"a${x}b"` reads as `("a" + (x) + "b")`), and
//! text that a shell runs becomes a call, so that what reads the tokens knows neither. Every byte is
//! looked at a fixed number of times.

use std::borrow::Cow;

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
/// How deep code stands in text that stands in code.
const MAX_DEPTH: u8 = 16;
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

    /// Behind the opening quote, perhaps of a triple one.
    fn quoted(&mut self, quote: &[u8; 1], style: Style) {
        if self.lang == Lang::Python {
            self.python_text(quote[0], style, false);
        } else {
            self.text(quote[0], 0, style);
        }
    }

    /// Python's text: `self.at` is behind the first quote.
    fn python_text(&mut self, quote: u8, style: Style, interpolates: bool) {
        let triple = self.peek(0) == quote && self.peek(1) == quote;
        if triple {
            self.at += 2;
        }
        let style = if interpolates { Style::Full } else { style };
        self.body(quote, 0, style, triple);
    }

    fn text(&mut self, close: u8, open: u8, style: Style) {
        self.body(close, open, style, false);
    }

    /// Text up to its end, as one token or, where it interpolates, as a concatenation.
    fn body(&mut self, close: u8, open: u8, style: Style, triple: bool) {
        let mut text = String::new();
        let mut nested = 0_u32;
        let mut parts = false;
        let raw = style == Style::Raw;
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
                self.escape(&mut text, raw, close);
                continue;
            }
            if style == Style::Full && self.interpolation(&mut text, &mut parts) {
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
            self.push(Kind::Text, text);
            self.push(Kind::Close, ")");
        } else {
            self.push(Kind::Text, text);
        }
    }

    /// The backslash at `self.at` and what it escapes.
    fn escape(&mut self, text: &mut String, raw: bool, close: u8) {
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
            b'x' | b'u' | b'U' => {
                let brace = self.peek(0) == b'{';
                self.at += usize::from(brace);
                let most = match next {
                    _ if brace => 8,
                    b'x' => 2,
                    b'u' => 4,
                    _ => 8,
                };
                let from = self.at;
                while self.at - from < most && self.peek(0).is_ascii_hexdigit() {
                    self.at += 1;
                }
                let code = u32::from_str_radix(&self.source[from..self.at], 16).ok();
                self.at += usize::from(brace && self.peek(0) == b'}');
                code.and_then(char::from_u32).unwrap_or('\u{fffd}')
            }
            b'0'..=b'7' => {
                let from = self.at - 1;
                while self.at - from < 3 && matches!(self.peek(0), b'0'..=b'7') {
                    self.at += 1;
                }
                u32::from_str_radix(&self.source[from..self.at], 8)
                    .ok()
                    .and_then(char::from_u32)
                    .unwrap_or('\u{fffd}')
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

    /// A part of text that is code, if one begins here.
    fn interpolation(&mut self, text: &mut String, parts: &mut bool) -> bool {
        let (byte, next) = (self.peek(0), self.peek(1));
        let skip = match (self.lang, byte, next) {
            (Lang::Python, b'{', b'{') | (Lang::Python, b'}', b'}') => {
                text.push(char::from(byte));
                self.at += 2;
                return true;
            }
            (Lang::Python, b'{', _) => 1,
            (Lang::Js, b'$', b'{') | (Lang::Ruby, b'#', b'{') => 2,
            (Lang::Php, b'{', b'$') => 1,
            (Lang::Perl, b'@' | b'$', b'{') => 2,
            (Lang::Php, b'$', b'{') => 2,
            (Lang::Perl | Lang::Php, b'$', _) if word(next) || next == b'$' => 0,
            (Lang::Perl, b'@', _) if word(next) && !next.is_ascii_digit() => 0,
            _ => return false,
        };
        if !*parts {
            *parts = true;
            self.push(Kind::Open, "(");
        }
        self.push(Kind::Text, std::mem::take(text));
        self.push(Kind::Op, JOIN);
        if skip == 0 {
            let from = self.at;
            self.at += 1;
            while word(self.peek(0))
                || self.lang == Lang::Perl && self.starts("::") && word(self.peek(2))
            {
                self.at += if self.peek(0) == b':' { 2 } else { 1 };
            }
            if self.at == from + 1 {
                self.at += 1;
            }
            let whole = !(self.peek(0) == b'['
                || self.peek(0) == b'{' && self.lang == Lang::Perl
                || self.starts("->"));
            if whole {
                self.push(Kind::Name, self.source.get(from..self.at).unwrap_or_default());
            } else {
                self.element(from);
            }
        } else {
            let name = matches!((self.lang, byte), (Lang::Perl | Lang::Php, b'$' | b'@'))
                && word(self.peek(2));
            let sigil = &self.source[self.at..=self.at];
            let from = self.at + skip;
            self.at = from;
            if self.depth >= MAX_DEPTH {
                self.bad();
                return true;
            }
            self.depth += 1;
            let outer = std::mem::replace(&mut self.resume, 0);
            let before = self.out.len();
            self.push(Kind::Open, "(");
            self.code(true);
            self.resume = outer;
            self.depth -= 1;
            if name && self.out.len() == before + 2 {
                // `${name}`
                let inner = format!("{sigil}{}", self.out[before + 1].text);
                self.out[before + 1].text = inner.into();
            }
            self.push(Kind::Close, ")");
        }
        self.push(Kind::Op, JOIN);
        true
    }

    /// `$h{x}`, `$l[0]`, `$o->x` inside text: only Perl's environment is looked up.
    fn element(&mut self, from: usize) {
        let key = self.at;
        let close = match self.peek(0) {
            b'[' => b']',
            b'{' => b'}',
            _ => 0,
        };
        if close == 0 {
            self.at += 2;
            while word(self.peek(0)) {
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
            self.push(Kind::Name, "%ENV");
            self.push(Kind::Open, "[");
            self.push(Kind::Text, name.trim_matches(['"', '\'']));
            self.push(Kind::Close, "]");
        } else {
            self.push(Kind::Lost, "");
        }
    }

    /// Text that a shell runs.
    fn shell(&mut self, close: u8, open: u8) {
        self.push(Kind::Name, QX);
        self.push(Kind::Open, "(");
        self.text(close, open, Style::Full);
        self.push(Kind::Close, ")");
    }

    /// A regular expression behind its opening delimiter: skipped, unless it holds code.
    fn pattern(&mut self, close: u8, open: u8) {
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
        self.bad();
    }

    /// The letters behind a pattern.
    fn flags(&mut self) -> &'a str {
        let from = self.at;
        while self.peek(0).is_ascii_alphabetic() {
            self.at += 1;
        }
        &self.source[from..self.at]
    }

    /// `q()`, `%w[]` ... : behind the opening delimiter.
    fn delimited(&mut self, kind: u8, open: u8) {
        let close = partner(open);
        let open = if close == open { 0 } else { open };
        match kind {
            b'q' | b's' => self.text(close, open, Style::Raw),
            b'x' if close == b'\'' => {
                self.push(Kind::Name, QX);
                self.push(Kind::Open, "(");
                self.text(close, open, Style::Raw);
                self.push(Kind::Close, ")");
            }
            b'x' => self.shell(close, open),
            b'r' => {
                self.pattern(close, open);
                self.flags();
                self.push(Kind::Lost, "/");
            }
            b'w' | b'W' | b'i' | b'I' => {
                let (before, space) = (self.out.len(), self.space);
                self.text(close, open, Style::Raw);
                let list = self.out.pop().map(|t| t.text).unwrap_or_default().into_owned();
                self.out.truncate(before);
                self.space = space;
                self.push(Kind::Open, "[");
                for item in list.split_whitespace() {
                    self.push(Kind::Text, item.to_string());
                    self.push(Kind::Op, ",");
                }
                self.push(Kind::Close, "]");
            }
            _ => self.text(close, open, Style::Full),
        }
    }

    /// Perl's quote-like operators, behind their name.
    fn perl_quote(&mut self, name: &str) -> bool {
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
        let close = partner(open);
        let nest = if close == open { 0 } else { open };
        match name {
            "q" => self.delimited(b'q', open),
            "qq" => self.delimited(b'Q', open),
            "qw" => self.delimited(b'w', open),
            "qx" => self.delimited(b'x', open),
            "m" | "qr" => self.delimited(b'r', open),
            "tr" | "y" | "s" => {
                self.pattern(close, nest);
                let mut second = (close, nest);
                if nest != 0 {
                    while matches!(self.peek(0), b' ' | b'\n') {
                        self.at += 1;
                    }
                    let open = self.peek(0);
                    let close = partner(open);
                    second = (close, if close == open { 0 } else { open });
                    self.at += 1;
                }
                let from = self.at;
                if name != "s" {
                    self.pattern(second.0, second.1);
                    self.flags();
                } else {
                    self.substitute(from, second);
                }
                self.push(Kind::Lost, "/");
            }
            _ => {}
        }
        true
    }

    /// The right side of `s///`: code with the flag e, text without it.
    fn substitute(&mut self, from: usize, (close, open): (u8, u8)) {
        let good = self.good;
        self.pattern(close, open);
        self.good = good && (self.good || self.at < self.end || self.bytes.last() == Some(&close));
        let to = self.at.saturating_sub(1).max(from);
        let flags = self.flags();
        let (after, end) = (self.at, self.end);
        self.at = from.min(to);
        self.end = to;
        if self.depth >= MAX_DEPTH {
            self.good = false;
        } else if flags.contains('e') {
            if flags.matches('e').count() > 1 {
                self.good = false;
            }
            self.depth += 1;
            self.push(Kind::Op, "=~");
            self.push(Kind::Open, "(");
            self.code(false);
            self.push(Kind::Close, ")");
            self.depth -= 1;
        } else {
            self.depth += 1;
            self.push(Kind::Op, "=~");
            self.body(0, 0, if close == b'\'' { Style::Raw } else { Style::Full }, false);
            self.depth -= 1;
        }
        self.at = after;
        self.end = end;
        self.push(Kind::Op, "=~");
    }

    /// `<<EOF` and its relatives, Perl's `<FILE>`.
    fn heredoc(&mut self) -> bool {
        let mut n = match self.lang {
            Lang::Php if self.starts("<<<") => 3,
            Lang::Perl | Lang::Ruby if self.starts("<<") => 2,
            Lang::Perl if !self.after_value() => {
                let mut n = 1;
                while word(self.peek(n)) || matches!(self.peek(n), b'$' | b'*' | b'.' | b'/') {
                    n += 1;
                }
                if self.peek(n) != b'>' {
                    return false;
                }
                self.at += n + 1;
                self.push(Kind::Lost, "<>");
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
        while to < self.end && if quoted { self.bytes[to] != quote } else { word(self.bytes[to]) } {
            if self.bytes[to] == b'\n' {
                return false;
            }
            to += 1;
        }
        let mark = &self.source[from..to];
        self.at = (to + usize::from(quoted)).min(self.end);
        let start = if self.resume > self.at {
            self.resume
        } else {
            match self.source[self.at..self.end].find('\n') {
                Some(n) => self.at + n + 1,
                None => {
                    self.bad();
                    return true;
                }
            }
        };
        let mut line = start;
        loop {
            if line > self.end || line >= self.source.len() && !mark.is_empty() {
                self.bad();
                return true;
            }
            let stop = self.source[line..self.end].find('\n').map_or(self.end, |n| line + n);
            let text = self.source[line..stop].trim_start();
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
                    self.push(Kind::Name, QX);
                    self.push(Kind::Open, "(");
                }
                self.body(0, 0, if raw { Style::Raw } else { Style::Full }, false);
                if quote == b'`' {
                    self.push(Kind::Close, ")");
                }
                self.at = after;
                self.end = end;
                self.resume = if self.lang == Lang::Php {
                    // What follows the mark belongs to the statement.
                    let rest =
                        self.source[line..stop].find(mark).map_or(stop, |n| line + n + mark.len());
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
    fn long_bracket(&mut self) -> bool {
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
        self.push(Kind::Text, self.source.get(from..to).unwrap_or_default());
        true
    }

    fn name(&mut self, byte: u8) -> bool {
        let lang = self.lang;
        let from = self.at;
        let sigil = match (lang, byte) {
            (Lang::Perl, b'$' | b'@' | b'%' | b'&') => {
                let next = self.peek(1);
                let name = word(next)
                    || next == b':' && self.peek(2) == b':'
                    || byte == b'$'
                        && matches!(
                            next,
                            b'$' | b'!' | b'&' | b'@' | b'/' | b',' | b'0' | b'.' | b';' | b'\\'
                        );
                if byte == b'%' && self.after_value() || !name {
                    if byte != b'&'
                        && matches!(next, b'{' | b'$')
                        && !(byte == b'%' && self.after_value())
                    {
                        // `@{...}`, `@$x`, `$$x`: the sigil says nothing.
                        self.at += 1;
                        return true;
                    }
                    if byte == b'$' && next == b'#' {
                        self.at += 2;
                        return true;
                    }
                    return false;
                }
                if byte == b'&' {
                    if self.after_value() || self.peek(1) == b'&' {
                        return false;
                    }
                    self.at += 1;
                    return true;
                }
                if !word(next) && next != b':' {
                    self.at += 2;
                    self.push(Kind::Name, &self.source[from..self.at]);
                    return true;
                }
                true
            }
            (Lang::Php, b'$') => {
                if self.peek(1) == b'$' || self.peek(1) == b'{' {
                    // A variable named by a variable.
                    self.at += 1;
                    self.push(Kind::Lost, "$$");
                    return true;
                }
                true
            }
            (Lang::Ruby, b'$' | b'@') => true,
            (Lang::Js, b'$' | b'#') => true,
            (Lang::R, b'.') => word(self.peek(1)),
            _ => false,
        };
        if !sigil && (!word(byte) || byte.is_ascii_digit()) {
            return false;
        }
        self.at += 1;
        if lang == Lang::Ruby && self.peek(0) == b'@' {
            self.at += 1;
        }
        loop {
            let next = self.peek(0);
            let more = word(next)
                || lang == Lang::Js && next == b'$'
                || lang == Lang::R && next == b'.'
                || lang == Lang::Perl && next == b':' && self.peek(1) == b':' && word(self.peek(2));
            if !more {
                break;
            }
            self.at += if next == b':' { 2 } else { 1 };
        }
        if lang == Lang::Ruby && matches!(self.peek(0), b'?' | b'!') && self.peek(1) != b'=' {
            self.at += 1;
        }
        let Some(name) = self.source.get(from..self.at) else {
            self.bad();
            return true;
        };
        let member = self.out.last().is_some_and(|t| t.kind == Kind::Op && t.text == ".");
        let next = self.peek(0);
        match lang {
            Lang::Python if name.len() <= 3 && matches!(next, b'\'' | b'"') => {
                let lower = name.to_ascii_lowercase();
                if lower.bytes().all(|b| b"rbfut".contains(&b)) {
                    self.at += 1;
                    let style = if lower.contains('r') { Style::Raw } else { Style::Plain };
                    self.python_text(next, style, lower.contains(['f', 't']));
                    return true;
                }
            }
            Lang::R
                if matches!(name, "r" | "R")
                    && matches!(next, b'"' | b'\'')
                    && self.peek(1) == b'(' =>
            {
                self.at += 2;
                let from = self.at;
                self.skip_past(if next == b'"' { ")\"" } else { ")'" });
                let to = self.at.saturating_sub(2).max(from);
                self.push(Kind::Text, self.source.get(from..to).unwrap_or_default());
                return true;
            }
            Lang::Perl if matches!(name, "__END__" | "__DATA__") => {
                self.at = self.end;
                return true;
            }
            Lang::Perl
                if !member
                    && matches!(name, "q" | "qq" | "qw" | "qx" | "m" | "qr" | "s" | "tr" | "y")
                    && self.perl_quote(name) =>
            {
                return true;
            }
            _ => {}
        }
        self.push(Kind::Name, name);
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
