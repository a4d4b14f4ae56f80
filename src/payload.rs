//! The payload: the bytes on stdin as a JSON object, or a sentence that says why not.
//!
//! A model controls many of the strings in a payload, and every client goes on with the tool when
//! its hook fails. So whatever a client can be made to write is read, repaired where the meaning is
//! plain: observed with Claude Code 2.1.329, an unpaired surrogate in a tool's input arrives as a
//! `\ud800` escape, which serde_json rejects. What is still unreadable is told apart by kind.

use serde_json::error::Category;
use serde_json::{Map, Value};
use std::borrow::Cow;
use thiserror::Error;

/// The most values that a payload may have.
pub const MOST: usize = 200_000;
/// How many fields of a broken payload are looked at.
const OUTLINED: usize = 64;
/// So many levels are too many.
const DEEPEST: usize = 128;
/// The largest text that is read once it is repaired, in bytes.
const REPAIRED: usize = 24 << 20;

/// Why bytes are no payload, each with a sentence for people.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PayloadError {
    /// Nothing, or nothing but blanks.
    #[error("the payload is empty: the agent wrote nothing to hookctl's stdin")]
    Empty,
    /// The JSON ends before it is complete.
    #[error("the payload is cut off after {at} bytes: the JSON object on stdin is not complete")]
    Truncated {
        /// The byte at which the text ends.
        at: usize,
    },
    /// More levels than are read (127), which no tool needs and a recursion would not survive.
    #[error("the payload is nested too deeply at byte {at}: hookctl reads 127 levels")]
    TooDeep {
        /// The byte at which the limit was reached.
        at: usize,
    },
    /// More values than are judged: each takes many times the memory that it takes in the text.
    #[error("the payload has more than {MOST} values: hookctl judges no more")]
    TooMany,
    /// It would be larger than what is read, with all that has to be repaired in it.
    #[error(
        "the payload is no text that could be repaired: too much in it is not UTF-8, or control characters"
    )]
    Garbled,
    /// JSON, but not an object.
    #[error("the payload is {found}, not a JSON object")]
    NotObject {
        /// What it is, with its article.
        found: &'static str,
    },
    /// Not JSON.
    #[error("the payload is not valid JSON at byte {at}: {what}")]
    Syntax {
        /// The byte at which reading stopped, nearly so where the text had to be repaired.
        at: usize,
        /// The parser's own words.
        what: String,
    },
}

/// Reads a payload: one JSON object, blanks, NULs and a byte order mark around it forgiven.
///
/// Of duplicate keys the last wins, as in the clients. What is not UTF-8, a lone surrogate escape
/// and a raw control character inside a string are replaced or escaped, never an error.
pub fn parse(bytes: &[u8]) -> Result<Map<String, Value>, PayloadError> {
    let bytes = trim_padding(bytes);
    if bytes.len() > MOST && max_value_count(bytes) > MOST {
        return Err(PayloadError::TooMany);
    }
    // What every well-formed event takes; all below is for the others.
    if let Ok(object) = serde_json::from_slice(bytes) {
        return Ok(object);
    }
    if bytes.is_empty() {
        return Err(PayloadError::Empty);
    }
    let text = String::from_utf8_lossy(bytes);
    let text =
        Some(&text).filter(|text| text.len() <= REPAIRED).and_then(|text| repair_strings(text));
    let text = text.ok_or(PayloadError::Garbled)?;
    serde_json::from_slice(&text).map_err(|error| convert_error(&text, &error))
}

/// How many values a text may hold at most: what begins one or stands between two, outside of strings,
/// up to where it is nested too deeply.
fn max_value_count(bytes: &[u8]) -> usize {
    let (mut count, mut depth, mut at) = (0, 0, 0);
    while let Some(byte) = bytes.get(at).filter(|_| depth < DEEPEST) {
        match byte {
            b'"' => {
                at = string_at(bytes, at).map_or(bytes.len(), |(_, end)| end);
                continue;
            }
            b'[' | b'{' => (count, depth) = (count + 1, depth + 1),
            b']' | b'}' => depth = depth.saturating_sub(1),
            b',' | b':' => count += 1,
            _ => {}
        }
        at += 1;
    }
    count
}

/// The value of the top level's `hook_event_name` in bytes that [`parse`] could not read.
pub fn sniff_event(bytes: &[u8]) -> Option<String> {
    let outline = outline(bytes);
    let name = outline.get("hook_event_name").and_then(Value::as_str)?;
    plain_name(name).map(str::to_string)
}

/// The fields of the top level in bytes that [`parse`] could not read: texts as they are written, null for
/// everything else, so that the failure can be answered in the form of the agent and the event.
///
/// Strings and nesting are followed, so nothing that a model put into a tool's input is taken for a field. One pass:
/// input on the hook path is bounded, and a well-formed payload never gets here.
pub fn outline(bytes: &[u8]) -> Map<String, Value> {
    let mut fields = Map::new();
    let mut depth = 0usize;
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            b'"' => {
                let Some((word, end)) = string_at(bytes, at) else { break };
                at = end;
                let rest = skip_blanks(bytes, end);
                if depth == 1 && bytes.get(rest) == Some(&b':') && fields.len() < OUTLINED {
                    let (value, end) = outlined_value(bytes, skip_blanks(bytes, rest + 1));
                    fields.insert(String::from_utf8_lossy(word).into_owned(), value);
                    at = end;
                }
                continue;
            }
            _ => {}
        }
        at += 1;
    }
    fields
}

/// The text at `at` and where it ends; null where there is none, or one that is cut.
fn outlined_value(bytes: &[u8], at: usize) -> (Value, usize) {
    match bytes.get(at).filter(|byte| **byte == b'"').and_then(|_| string_at(bytes, at)) {
        Some((text, end)) => (String::from_utf8_lossy(text).into_owned().into(), end),
        None => (Value::Null, at),
    }
}

/// The string that opens at `at`, without its quotes, and where the text goes on; none where it
/// does not close.
fn string_at(bytes: &[u8], at: usize) -> Option<(&[u8], usize)> {
    let mut end = at + 1;
    loop {
        end += memchr::memchr2(b'"', b'\\', bytes.get(end..)?)?;
        match bytes[end] {
            b'"' => return Some((&bytes[at + 1..end], end + 1)),
            _ => end += 2,
        }
    }
}

fn skip_blanks(bytes: &[u8], mut at: usize) -> usize {
    while bytes.get(at).is_some_and(u8::is_ascii_whitespace) {
        at += 1;
    }
    at
}

/// Event names are words; anything else is not taken for one.
fn plain_name(name: &str) -> Option<&str> {
    let plain = !name.is_empty() && name.len() <= 64;
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    (plain && name.bytes().all(word)).then_some(name)
}

/// Without byte order mark, and without the blanks and NULs that pipes and shells leave around.
fn trim_padding(bytes: &[u8]) -> &[u8] {
    const BOM: &[u8] = b"\xef\xbb\xbf";
    let noise = |b: &u8| b.is_ascii_whitespace() || *b == 0;
    let bytes = bytes.strip_prefix(BOM).unwrap_or(bytes);
    let start = bytes.iter().position(|b| !noise(b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !noise(b)).map_or(start, |last| last + 1);
    &bytes[start..end]
}

/// Makes strings readable: unpaired surrogate escapes become `\ufffd` (the same length, so that
/// positions stay), raw control characters are escaped. Of what is outside of strings only numbers that no `f64` holds
/// change, to the largest that it does: JSON allows them, and the parser does not.
///
/// None where that would make it much larger than what is read.
fn repair_strings(text: &str) -> Option<Cow<'_, [u8]>> {
    let bytes = text.as_bytes();
    let mut out: Vec<u8> = Vec::new();
    let mut copied = 0; // everything before is in `out`; empty while nothing had to be changed
    let mut replace = |out: &mut Vec<u8>, from: usize, to: usize, with: &[u8]| {
        out.extend_from_slice(&bytes[copied..from]);
        out.extend_from_slice(with);
        copied = to;
    };
    let mut inside = false;
    let mut at = 0;
    while at < bytes.len() {
        if out.len() > REPAIRED {
            return None;
        }
        match bytes[at] {
            b'"' => {
                inside = !inside;
                at += 1;
            }
            b'\\' if inside => match unit_at(bytes, at) {
                Some(0xd800..=0xdbff)
                    if matches!(unit_at(bytes, at + 6), Some(0xdc00..=0xdfff)) =>
                {
                    at += 12;
                }
                Some(0xd800..=0xdfff) => {
                    replace(&mut out, at, at + 6, b"\\ufffd");
                    at += 6;
                }
                // Any other escape: its second byte may be a quote or a backslash.
                _ => at += 2,
            },
            byte if inside && byte < 0x20 => {
                replace(&mut out, at, at + 1, format!("\\u{byte:04x}").as_bytes());
                at += 1;
            }
            b'-' | b'0'..=b'9' if !inside => {
                let rest = bytes[at..].iter();
                let part =
                    |byte: &&u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
                let end = at + rest.take_while(part).count();
                if text[at..end].parse().is_ok_and(f64::is_infinite) {
                    let largest = if bytes[at] == b'-' { f64::MIN } else { f64::MAX };
                    replace(&mut out, at, end, format!("{largest:e}").as_bytes());
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Some(Cow::Borrowed(bytes));
    }
    out.extend_from_slice(&bytes[copied..]);
    Some(Cow::Owned(out))
}

/// The UTF-16 unit that a `\uXXXX` escape at `at` stands for.
fn unit_at(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, digit| {
        let digit = char::from(*digit).to_digit(16)?;
        Some(unit << 4 | digit as u16)
    })
}

/// A parser's error as ours.
fn convert_error(text: &[u8], error: &serde_json::Error) -> PayloadError {
    let at = byte_offset(text, error.line(), error.column());
    match error.classify() {
        Category::Eof => PayloadError::Truncated { at },
        // A map takes any object, so data of the wrong type is a root of the wrong type.
        Category::Data => PayloadError::NotObject {
            found: match text.first() {
                Some(b'[') => "an array",
                Some(b'"') => "a string",
                Some(b'n') => "null",
                Some(b't' | b'f') => "a boolean",
                _ => "a number",
            },
        },
        _ => {
            let words = error.to_string();
            let what = words.split(" at line ").next().unwrap_or_default();
            // serde_json has no kind for it; the test of the depth limit would notice new words.
            if what == "recursion limit exceeded" {
                PayloadError::TooDeep { at }
            } else {
                PayloadError::Syntax { at, what: what.to_string() }
            }
        }
    }
}

/// A line and column, both from 1, as the count of bytes read.
fn byte_offset(text: &[u8], line: usize, column: usize) -> usize {
    let before: usize =
        text.split_inclusive(|b| *b == b'\n').take(line.saturating_sub(1)).map(<[u8]>::len).sum();
    (before + column).min(text.len())
}
