//! awk: `system`, pipes, redirections of print, getline.

use std::ops::Range;

use crate::effect::emitter::Emitter;
use crate::effect::program::Next;
use crate::effect::value::{BLANK, SOME_VARIABLE, Value};
use crate::effect::{Grade, Source, Word};
use crate::limits::{self, Cap};

/// A string, a word, or an operator; a regular expression is a word without a name.
enum AwkToken {
    Text(String),
    Word(String),
    Op(&'static str),
}

const OPS: &[&str] = &[
    ">>", "|&", "||", "&&", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "^=", "++", "--",
    "!~", ">", "<", "|", "(", ")", "{", "}", "[", "]", ";", "\n", ",", "+", "-", "*", "%", "^",
    "!", "~", "?", ":", "=", "$", "@", "&",
];

/// A walk through an awk program.
struct Program<'t, 'o, 'e> {
    out: &'o mut Emitter<'e>,
    next: &'o mut Vec<Next>,
    span: &'o Range<usize>,
    tokens: &'t [AwkToken],
    /// It is known to be code.
    marked: bool,
    /// It is known to hide what it does.
    hidden: bool,
    /// A `print` goes on, and how many brackets are open in it.
    printing: bool,
    depth: usize,
}

/// The effects of an awk program: none at all, for a plain one.
pub fn emit(out: &mut Emitter, text: &str, span: &Range<usize>, next: &mut Vec<Next>) {
    let Some(tokens) = read_tokens(text) else {
        emit_code(out, span);
        out.emit_unknown("an awk program whose text does not end", span.clone());
        return;
    };
    let mut program = Program {
        out,
        next,
        span,
        tokens: &tokens,
        marked: false,
        hidden: false,
        printing: false,
        depth: 0,
    };
    for (at, token) in tokens.iter().enumerate() {
        match token {
            AwkToken::Word(word) => program.word(at, word),
            AwkToken::Op(op) => program.operator(at, op),
            AwkToken::Text(_) => {}
        }
    }
}

impl Program<'_, '_, '_> {
    /// The operator at that place, if one stands there.
    fn op(&self, at: usize) -> &'static str {
        match self.tokens.get(at) {
            Some(AwkToken::Op(op)) => op,
            _ => "",
        }
    }

    fn is_word(&self, at: usize) -> bool {
        matches!(self.tokens.get(at), Some(AwkToken::Word(_)))
    }

    fn mark(&mut self) {
        if !std::mem::replace(&mut self.marked, true) {
            emit_code(self.out, self.span);
        }
    }

    fn hide(&mut self, why: &str) {
        if !std::mem::replace(&mut self.hidden, true) {
            self.out.emit_unknown(why, self.span.clone());
        }
    }

    fn word(&mut self, at: usize, word: &str) {
        match word {
            "print" | "printf" => (self.printing, self.depth) = (true, 0),
            "system" if self.op(at + 1) == "(" => {
                self.mark();
                self.run_shell_text(&join_tokens(&self.tokens[at + 2..], true));
            }
            "ENVIRON" | "PROCINFO" | "SYMTAB" => {
                self.out.emit_disclosure("awk prints the environment", self.span.clone());
            }
            "ARGV" => self.own_files(at),
            "getline" => {
                // `getline x < file`; `cmd | getline` is seen at the bar.
                let behind = at + if self.is_word(at + 1) { 2 } else { 1 };
                if self.op(behind) == "<" {
                    let text = join_tokens(&self.tokens[behind + 1..], false);
                    emit_path(self.out, Word::Read, &text, self.span);
                }
            }
            _ => {}
        }
    }

    /// `ARGV[1] = "file"`: the files that it reads are its own choice.
    fn own_files(&mut self, at: usize) {
        const CHANGING: &[&str] = &["sub", "gsub", "split", "getline"];
        let end = (at..self.tokens.len()).find(|n| self.op(*n) == "]").unwrap_or(at);
        let assigned = self.op(at + 1) == "[" && self.op(end + 1) == "=";
        let changing =
            |token: &AwkToken| matches!(token, AwkToken::Word(w) if CHANGING.contains(&&w[..]));
        if assigned {
            let text = join_tokens(&self.tokens[end + 2..], false);
            emit_path(self.out, Word::Read, &text, self.span);
        } else if self.op(at + 1) != "["
            || self.op(end + 1).ends_with('=')
                && !matches!(self.op(end + 1), "==" | "!=" | "<=" | ">=")
            || self.tokens.iter().any(changing)
        {
            self.hide("an awk program that chooses the files that it reads");
        }
    }

    fn operator(&mut self, at: usize, op: &str) {
        match op {
            "@" => {
                self.mark();
                self.hide("an awk program that loads or calls what is not in it");
            }
            "(" => self.depth += 1,
            ")" => self.depth = self.depth.saturating_sub(1),
            ";" | "}" | "\n" | "{" => self.printing = false,
            ">" | ">>" if self.printing && self.depth == 0 => {
                let text = join_tokens(&self.tokens[at + 1..], false);
                let text = self.given_value(at + 1).unwrap_or(text);
                emit_path(self.out, Word::Write, &text, self.span);
            }
            "|" | "|&" => self.pipe(at),
            _ => {}
        }
    }

    /// The value of a variable that stands alone, where the call alone gives it one (`-v out=x`, `out=x`).
    fn given_value(&mut self, at: usize) -> Option<String> {
        let Some(AwkToken::Word(name)) = self.tokens.get(at) else { return None };
        let set = |(n, token): (usize, &AwkToken)| {
            matches!(token, AwkToken::Word(word) if word == name) && n != at
        };
        if !matches!(self.op(at + 1), "" | ";" | "}" | "\n")
            || self.is_word(at + 1)
            || self.tokens.iter().enumerate().any(set)
        {
            return None;
        }
        let command = self.out.own_command()?;
        let value = |arg: &crate::effect::Arg| {
            let text = arg.text.as_deref()?;
            let text = text.strip_prefix("-v").unwrap_or(text);
            text.strip_prefix(name.as_str())?.strip_prefix('=').map(str::to_string)
        };
        let mut values = command.args.iter().filter_map(value);
        // Of two, nobody says which counts.
        values.next().filter(|_| values.next().is_none())
    }

    fn pipe(&mut self, at: usize) {
        self.mark();
        if matches!(self.tokens.get(at + 1), Some(AwkToken::Word(w)) if w == "getline") {
            let text = self.before(at);
            self.run_shell_text(&text);
        } else if self.printing && self.depth == 0 {
            let text = join_tokens(&self.tokens[at + 1..], false);
            let name = text.split_whitespace().next().unwrap_or_default();
            if super::apply::runs_stdin(name) {
                let (word, span) = (Word::PipeToInterpreter, self.span.clone());
                self.out.push(word, Grade::Certain, Source::Program, span);
            }
            self.run_shell_text(&text);
        } else {
            self.hide("an awk program with a pipe that is not understood");
        }
    }

    /// What stands before a pipe, back to where its expression begins.
    fn before(&self, at: usize) -> String {
        const BEGINS: &[&str] = &["(", ")", "{", "}", ";", "\n", ",", "=", "&&", "||", "!"];
        let begins = |token: &AwkToken| matches!(token, AwkToken::Op(op) if BEGINS.contains(op));
        let from = self.tokens[..at].iter().rposition(begins).map_or(0, |n| n + 1);
        match from == at && from > 0 && self.op(from - 1) == ")" {
            true => BLANK.to_string(),
            false => join_tokens(&self.tokens[from..at], false),
        }
    }

    fn run_shell_text(&mut self, text: &str) {
        if text.contains(BLANK) {
            self.hide("an awk program that runs text known only at run time");
        }
        if !text.starts_with(BLANK) && Cap::Scripts.admits(self.next.len() + 1) {
            let text = text.replace(BLANK, SOME_VARIABLE);
            self.next.push(Next::script(Value::known(text, self.span.clone())));
        }
    }
}

fn emit_code(out: &mut Emitter, span: &Range<usize>) {
    out.push(Word::Code, Grade::Certain, Source::Code, span.clone());
}

fn emit_path(out: &mut Emitter, word: Word, text: &str, span: &Range<usize>) {
    let value = Value::partly(text, span.clone());
    if let Some(host) = text.strip_prefix("/inet/") {
        let host = Value::known(host.split('/').nth(2).unwrap_or_default(), span.clone());
        out.emit_contact(&host, true, Source::Code);
        return;
    }
    out.code_path(word, &value);
}

/// A concatenation up to the end of its statement or bracket, with blanks for what is no literal.
fn join_tokens(tokens: &[AwkToken], bracket: bool) -> String {
    let mut text = String::new();
    let mut depth = 0_usize;
    for token in tokens.iter().take_while(|_| limits::spend_steps(1)) {
        match token {
            AwkToken::Text(part) => text.push_str(part),
            AwkToken::Op("(" | "[") => depth += 1,
            AwkToken::Op(")" | "]") if depth > 0 => depth -= 1,
            AwkToken::Op(")" | ";" | "}" | "\n" | "]") => break,
            AwkToken::Op("|" | "|&") if !bracket && depth == 0 => break,
            AwkToken::Op(_) | AwkToken::Word(_) => {
                if !text.ends_with(BLANK) {
                    text.push(BLANK);
                }
            }
        }
    }
    text
}

fn read_tokens(text: &str) -> Option<Vec<AwkToken>> {
    let bytes = text.as_bytes();
    let part =
        |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || *byte >= 0x80;
    let mut out: Vec<AwkToken> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b' ' | b'\t' | b'\r' => at += 1,
            b'\\' => at += 2,
            b'#' => at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at),
            b'"' => {
                let (inner, end) = string(bytes, at + 1)?;
                out.push(AwkToken::Text(inner));
                at = end;
            }
            // What one awk reads as a pattern behind `length` is a division to another.
            b'/' if is_length(out.last()) && line_has_slash(&bytes[at + 1..]) => return None,
            b'/' if !ends_in_value(&out) => {
                out.push(AwkToken::Word(String::new()));
                at = expression(bytes, at + 1)?;
            }
            b'/' => {
                at += 1;
                out.push(AwkToken::Op("*"));
            }
            _ if part(&byte) => {
                let from = at;
                // A name may stand behind a number with nothing between: `1system("x")`.
                at += match number_length(&bytes[at..]) {
                    0 => bytes[at..].iter().take_while(|byte| part(byte)).count(),
                    length => length,
                };
                out.push(AwkToken::Word(text.get(from..at)?.to_string()));
            }
            _ => {
                let op = OPS.iter().find(|op| bytes[at..].starts_with(op.as_bytes()));
                out.extend(op.map(|op| AwkToken::Op(op)));
                at += op.map_or(1, |op| op.len());
            }
        }
    }
    Some(out)
}

fn is_length(token: Option<&AwkToken>) -> bool {
    matches!(token, Some(AwkToken::Word(word)) if word == "length")
}

fn line_has_slash(rest: &[u8]) -> bool {
    rest.iter().take_while(|byte| **byte != b'\n').any(|byte| *byte == b'/')
}

/// How many bytes of a number stand at the begin: `1`, `.5`, `1e5`, `0x1f`.
fn number_length(bytes: &[u8]) -> usize {
    let count = |from: usize, is: fn(&u8) -> bool| {
        bytes.get(from..).unwrap_or_default().iter().take_while(|byte| is(byte)).count()
    };
    if bytes.starts_with(b"0x") || bytes.starts_with(b"0X") {
        let digits = count(2, u8::is_ascii_hexdigit);
        return if digits > 0 { digits + 2 } else { 1 };
    }
    let whole = count(0, u8::is_ascii_digit);
    let point = usize::from(bytes.get(whole) == Some(&b'.'));
    let part = count(whole + point, u8::is_ascii_digit) * point;
    if whole + part == 0 {
        return 0;
    }
    let end = whole + point + part;
    let power = usize::from(matches!(bytes.get(end), Some(b'e' | b'E')));
    let sign = usize::from(power == 1 && matches!(bytes.get(end + 1), Some(b'+' | b'-')));
    match power * count(end + power + sign, u8::is_ascii_digit) {
        0 => end,
        digits => end + power + sign + digits,
    }
}

/// A string up to its quote, and where what is behind it stands.
fn string(bytes: &[u8], from: usize) -> Option<(String, usize)> {
    let mut inner = Vec::new();
    let mut at = from;
    loop {
        match *bytes.get(at)? {
            b'"' => return Some((String::from_utf8_lossy(&inner).into_owned(), at + 1)),
            b'\\' => {
                let escape = *bytes.get(at + 1)?;
                let (radix, most) = match escape {
                    b'x' => (16, 2),
                    b'0'..=b'7' => (8, 3),
                    _ => (0, 0),
                };
                if most > 0 {
                    at += 1 + usize::from(radix == 16);
                    let digits = bytes[at..].iter().take(most);
                    let count = digits.take_while(|d| char::from(**d).is_digit(radix)).count();
                    let text = std::str::from_utf8(&bytes[at..at + count]).ok()?;
                    // Above 255 a byte wraps, in every awk. `\x` without a digit is an x.
                    let code = u32::from_str_radix(text, radix).unwrap_or(u32::from(b'x'));
                    inner.push((code % 256) as u8);
                    at += count;
                    continue;
                }
                at += 1;
                match escape {
                    b'n' => inner.push(b'\n'),
                    b't' => inner.push(b'\t'),
                    // A line goes on.
                    b'\n' => {}
                    other => inner.push(other),
                }
            }
            other => inner.push(other),
        }
        at += 1;
    }
}

/// Where what is behind a regular expression stands.
fn expression(bytes: &[u8], from: usize) -> Option<usize> {
    let mut class = false;
    let mut at = from;
    loop {
        match *bytes.get(at)? {
            b'/' if !class => return Some(at + 1),
            b'\\' => at += 1,
            b'[' if !class => {
                class = true;
                // `[]...]`, `[^]...]`
                at += usize::from(bytes.get(at + 1) == Some(&b'^'));
                at += usize::from(bytes.get(at + 1) == Some(&b']'));
            }
            b']' => class = false,
            b'\n' => return None,
            _ => {}
        }
        at += 1;
    }
}

/// Does a value end here, so that a slash divides?
fn ends_in_value(out: &[AwkToken]) -> bool {
    match out.last() {
        Some(AwkToken::Text(_) | AwkToken::Op(")" | "]" | "$" | "++" | "--")) => true,
        Some(AwkToken::Word(word)) => {
            !matches!(word.as_str(), "print" | "printf" | "return" | "in" | "case" | "else" | "do")
        }
        _ => false,
    }
}
