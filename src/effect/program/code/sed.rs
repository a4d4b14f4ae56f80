//! sed: the commands that read, write and execute.

use std::ops::Range;

use crate::effect::emitter::Emitter;
use crate::effect::program::Next;
use crate::effect::value::Value;
use crate::effect::{Grade, Source, Word};
use crate::limits::Cap;

/// The effects of a sed program.
pub fn emit(out: &mut Emitter, text: &str, span: &Range<usize>, next: &mut Vec<Next>) {
    if !scan_commands(out, text.as_bytes(), span, next) {
        out.push(Word::Code, Grade::Certain, Source::Code, span.clone());
        out.emit_unknown("a sed program that may execute or is not understood", span.clone());
    }
}

/// Behind a delimited part that begins at `at`.
fn skip_delimited(bytes: &[u8], mut at: usize, delimiter: u8) -> Option<usize> {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte == delimiter => return Some(at + 1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Behind a regular expression that begins at `at`: in brackets its delimiter is a character like any other.
fn skip_pattern(bytes: &[u8], mut at: usize, delimiter: u8) -> Option<usize> {
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            byte if byte == delimiter => return Some(at + 1),
            b'[' => at = bracket_end(bytes, at + 1)?,
            _ => {}
        }
        at += 1;
    }
    None
}

/// The bracket that closes the list which begins at `at`.
fn bracket_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    at += usize::from(bytes.get(at) == Some(&b'^'));
    at += usize::from(bytes.get(at) == Some(&b']'));
    while *bytes.get(at)? != b']' {
        at += match (bytes[at], bytes.get(at + 1)) {
            (b'[', Some(class @ (b':' | b'.' | b'='))) => {
                let end = [*class, b']'];
                memchr::memmem::find(&bytes[at + 2..], &end)? + 4
            }
            _ => 1,
        };
    }
    Some(at)
}

fn scan_commands(
    out: &mut Emitter,
    bytes: &[u8],
    span: &Range<usize>,
    next: &mut Vec<Next>,
) -> bool {
    let line =
        |at: usize| bytes[at..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| at + n);
    let text =
        |from: usize, to: usize| String::from_utf8_lossy(&bytes[from..to]).trim().to_string();
    let mut file = |word: Word, name: String| {
        let value = Value::known(name, span.clone());
        out.code_path(word, &value);
    };
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b if b.is_ascii_digit() || b" \t\n;{},!$+~".contains(&b) => at += 1,
            b'/' => {
                let Some(end) = skip_pattern(bytes, at + 1, b'/') else { return false };
                at = end;
                while matches!(bytes.get(at), Some(b'I' | b'M')) {
                    at += 1;
                }
            }
            b'\\' => {
                let Some(delimiter) = bytes.get(at + 1) else { return false };
                let Some(end) = skip_pattern(bytes, at + 2, *delimiter) else { return false };
                at = end;
            }
            b's' | b'y' => {
                let Some(&delimiter) = bytes.get(at + 1) else { return false };
                let Some(end) = skip_pattern(bytes, at + 2, delimiter)
                    .and_then(|m| skip_delimited(bytes, m, delimiter))
                else {
                    return false;
                };
                at = end;
                while at < bytes.len() && !matches!(bytes[at], b';' | b'\n' | b'}' | b' ' | b'#') {
                    if bytes[at] == b'w' {
                        let end = line(at);
                        file(Word::Write, text(at + 1, end));
                        at = end;
                        break;
                    }
                    if !matches!(bytes[at], b'g' | b'p' | b'i' | b'I' | b'm' | b'M' | b'0'..=b'9') {
                        return false;
                    }
                    at += 1;
                }
            }
            b'p' | b'd' | b'n' | b'N' | b'=' | b'g' | b'G' | b'h' | b'H' | b'x' | b'P' | b'D'
            | b'l' | b'L' | b'F' | b'z' | b'q' | b'Q' => {
                at += 1;
            }
            b'a' | b'i' | b'c' | b'#' => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
            }
            b'b' | b't' | b'T' | b':' | b'v' => {
                while at < bytes.len() && !matches!(bytes[at], b';' | b'\n' | b'}') {
                    at += 1;
                }
            }
            byte @ (b'r' | b'R' | b'w' | b'W') => {
                let end = line(at);
                let word = if matches!(byte, b'r' | b'R') { Word::Read } else { Word::Write };
                file(word, text(at + 1, end));
                at = end;
            }
            b'e' => {
                let end = line(at);
                let command = text(at + 1, end);
                let room = Cap::Scripts.admits(next.len() + 1);
                if command.is_empty() || command.starts_with([';', '}']) || !room {
                    return false;
                }
                next.push(Next::script(Value::known(command, span.clone())));
                at = end;
            }
            _ => return false,
        }
    }
    true
}
