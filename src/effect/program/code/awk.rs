//! awk: `system`, pipes, redirections of print, getline.

use std::ops::Range;

use crate::effect::emitter::Emitter;
use crate::effect::program::Next;
use crate::effect::value::{BLANK, Value};
use crate::effect::{Extent, Grade, Source, Word};
use crate::limits::{self, Cap};

/// A string, a word, or an operator; a regular expression is a word without a name.
enum Token {
    Text(String),
    Word(String),
    Op(&'static str),
}

const OPS: &[&str] = &[
    ">>", "|&", "||", "&&", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "^=", "++", "--",
    "!~", ">", "<", "|", "(", ")", "{", "}", "[", "]", ";", "\n", ",", "+", "-", "*", "%", "^",
    "!", "~", "?", ":", "=", "$", "@", "&",
];

/// The effects of an awk program: none at all, for a plain one.
pub fn emit(out: &mut Emitter, text: &str, span: &Range<usize>, next: &mut Vec<Next>) {
    let Some(tokens) = tokens(text) else {
        code(out, span);
        out.unknown("an awk program whose text does not end", span.clone());
        return;
    };
    let mut marked = false;
    let mut hidden = false;
    let mut mark = |out: &mut Emitter| {
        if !std::mem::replace(&mut marked, true) {
            code(out, span);
        }
    };
    let (mut printing, mut depth) = (false, 0_usize);
    for (at, token) in tokens.iter().enumerate() {
        let op = |n: usize| match tokens.get(n) {
            Some(Token::Op(op)) => *op,
            _ => "",
        };
        match token {
            Token::Word(word) => match word.as_str() {
                "print" | "printf" => (printing, depth) = (true, 0),
                "system" if op(at + 1) == "(" => {
                    mark(out);
                    run(out, next, &joined(&tokens[at + 2..], true), span, &mut hidden);
                }
                "ENVIRON" | "PROCINFO" | "SYMTAB" => {
                    out.reveals("awk prints the environment", span.clone());
                }
                "getline" => {
                    // `getline x < file`; `cmd | getline` is seen at the bar.
                    let n = if matches!(tokens.get(at + 1), Some(Token::Word(_))) { 2 } else { 1 };
                    if op(at + n) == "<" {
                        let text = joined(&tokens[at + n + 1..], false);
                        path(out, Word::Read, &text, span);
                    }
                }
                _ => {}
            },
            Token::Op("@") => {
                mark(out);
                if !std::mem::replace(&mut hidden, true) {
                    out.unknown(
                        "an awk program that loads or calls what is not in it",
                        span.clone(),
                    );
                }
            }
            Token::Op("(") => depth += 1,
            Token::Op(")") => depth = depth.saturating_sub(1),
            Token::Op(";" | "}" | "\n" | "{") => printing = false,
            Token::Op(">" | ">>") if printing && depth == 0 => {
                path(out, Word::Write, &joined(&tokens[at + 1..], false), span);
            }
            Token::Op("|" | "|&") => {
                let reads = matches!(tokens.get(at + 1), Some(Token::Word(w)) if w == "getline");
                mark(out);
                if reads {
                    // What stands before it, back to where its expression begins.
                    let from = tokens[..at]
                        .iter()
                        .rposition(|t| {
                            matches!(
                                t,
                                Token::Op(
                                    "(" | ")"
                                        | "{"
                                        | "}"
                                        | ";"
                                        | "\n"
                                        | ","
                                        | "="
                                        | "&&"
                                        | "||"
                                        | "!"
                                )
                            )
                        })
                        .map_or(0, |n| n + 1);
                    let text = if matches!(
                        from.checked_sub(1).and_then(|n| tokens.get(n)),
                        Some(Token::Op(")"))
                    ) && from == at
                    {
                        BLANK.to_string()
                    } else {
                        joined(&tokens[from..at], false)
                    };
                    run(out, next, &text, span, &mut hidden);
                } else if printing && depth == 0 {
                    let text = joined(&tokens[at + 1..], false);
                    let name = text.split_whitespace().next().unwrap_or_default();
                    if super::apply::interprets(name) {
                        out.push(
                            Word::PipeToInterpreter,
                            Grade::Certain,
                            Source::Program,
                            span.clone(),
                        );
                    }
                    run(out, next, &text, span, &mut hidden);
                } else if !std::mem::replace(&mut hidden, true) {
                    out.unknown("an awk program with a pipe that is not understood", span.clone());
                }
            }
            _ => {}
        }
    }
}

fn code(out: &mut Emitter, span: &Range<usize>) {
    out.push(Word::Code, Grade::Certain, Source::Code, span.clone());
}

fn run(
    out: &mut Emitter,
    next: &mut Vec<Next>,
    text: &str,
    span: &Range<usize>,
    hidden: &mut bool,
) {
    if text.contains(BLANK) && !std::mem::replace(hidden, true) {
        out.unknown("an awk program that runs text known only at run time", span.clone());
    }
    if !text.starts_with(BLANK) && Cap::Scripts.holds(next.len() + 1) {
        let text = text.replace(BLANK, "$__hookctl_item");
        next.push(Next::Script { text: Value::known(text, span.clone()), rest: Vec::new() });
    }
}

fn path(out: &mut Emitter, word: Word, text: &str, span: &Range<usize>) {
    let value = Value::partly(text, span.clone());
    if let Some(host) = text.strip_prefix("/inet/") {
        let host = Value::known(host.split('/').nth(2).unwrap_or_default(), span.clone());
        out.contact(&host, true, Source::Code);
        return;
    }
    out.path(word, &value, Extent::Exact, Grade::Certain, Source::Code);
}

/// A concatenation up to the end of its statement or bracket, with blanks for what is no literal.
fn joined(tokens: &[Token], bracket: bool) -> String {
    let mut text = String::new();
    let mut depth = 0_usize;
    for token in tokens.iter().take_while(|_| limits::step(1)) {
        match token {
            Token::Text(part) => text.push_str(part),
            Token::Op("(" | "[") => depth += 1,
            Token::Op(")" | "]") if depth > 0 => depth -= 1,
            Token::Op(")" | ";" | "}" | "\n" | "]") => break,
            Token::Op("|" | "|&") if !bracket && depth == 0 => break,
            Token::Op(_) | Token::Word(_) => {
                if !text.ends_with(BLANK) {
                    text.push(BLANK);
                }
            }
        }
    }
    text
}

fn tokens(text: &str) -> Option<Vec<Token>> {
    let bytes = text.as_bytes();
    let mut out: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        match byte {
            b' ' | b'\t' | b'\r' => at += 1,
            b'\\' => at += 2,
            b'#' => at += bytes[at..].iter().position(|b| *b == b'\n').unwrap_or(bytes.len() - at),
            b'"' => {
                let mut inner = Vec::new();
                at += 1;
                loop {
                    match *bytes.get(at)? {
                        b'"' => break,
                        b'\\' => {
                            at += 1;
                            match *bytes.get(at)? {
                                b'n' => inner.push(b'\n'),
                                b't' => inner.push(b'\t'),
                                b'x' | b'0'..=b'7' => inner.push(1),
                                other => inner.push(other),
                            }
                        }
                        other => inner.push(other),
                    }
                    at += 1;
                }
                at += 1;
                out.push(Token::Text(String::from_utf8_lossy(&inner).into_owned()));
            }
            b'/' if !value(&out) => {
                at += 1;
                let mut class = false;
                loop {
                    match *bytes.get(at)? {
                        b'/' if !class => break,
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
                at += 1;
                out.push(Token::Word(String::new()));
            }
            b'/' => {
                at += 1;
                out.push(Token::Op("*"));
            }
            _ if byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.') || byte >= 0x80 => {
                let from = at;
                while at < bytes.len()
                    && (bytes[at].is_ascii_alphanumeric()
                        || matches!(bytes[at], b'_' | b'.')
                        || bytes[at] >= 0x80)
                {
                    at += 1;
                }
                out.push(Token::Word(text.get(from..at)?.to_string()));
            }
            _ => match OPS.iter().find(|op| bytes[at..].starts_with(op.as_bytes())) {
                Some(op) => {
                    out.push(Token::Op(op));
                    at += op.len();
                }
                None => at += 1,
            },
        }
    }
    Some(out)
}

/// Does a value end here, so that a slash divides?
fn value(out: &[Token]) -> bool {
    match out.last() {
        Some(Token::Text(_) | Token::Op(")" | "]" | "$" | "++" | "--")) => true,
        Some(Token::Word(word)) => {
            !matches!(word.as_str(), "print" | "printf" | "return" | "in" | "case" | "else" | "do")
        }
        _ => false,
    }
}
