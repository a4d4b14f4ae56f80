//! JSON as JavaScript reads and writes it, byte for byte: what `JSON.stringify(JSON.parse(text), null, 2)`
//! gives, lone surrogates, numbers and the order of keys included.
//!
//! serde_json takes neither lone surrogates nor does it write numbers like that.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::ops::Range;
use std::str::Chars;

use crate::json::{self, Data, Member, Node};

/// How deep a value may be: an agent's own events are at most 128 deep, and stand in an array here.
const DEEPEST: usize = 200;
/// The longest text that is kept, in bytes of its escaped form.
const LONGEST: usize = 1 << 20;

/// A value. Texts are kept as they are written: quoted and escaped.
#[derive(Debug, Clone, PartialEq)]
pub enum Json {
    /// A number, a text, true, false or null, as it is written.
    Scalar(String),
    /// An array.
    Array(Vec<Json>),
    /// An object, in the order in which it is written.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// What JavaScript reads from the text; None where it is no JSON, or too deep.
    pub fn parse(text: &str) -> Option<Json> {
        Json::parse_in(text, 0)
    }

    /// What it reads of a text that will stand so deep in a file.
    pub fn parse_in(text: &str, depth: usize) -> Option<Json> {
        rewritten(&json::parse(text).ok()?, text, depth)
    }

    /// A text.
    pub fn text(text: &str) -> Json {
        let mut out = TextWriter::new();
        text.chars().for_each(|char| out.push(char as u32));
        Json::Scalar(out.end())
    }

    /// Sets a key of an object: in its place where it is there, else at the end.
    pub fn set(&mut self, key: &str, value: Json) {
        if let Json::Object(entries) = self {
            let key = format!("\"{key}\"");
            match entries.iter_mut().find(|(known, _)| *known == key) {
                Some((_, old)) => *old = value,
                None => entries.push((key, value)),
            }
        }
    }

    /// The value of an object's key, as it is written.
    pub fn scalar(&self, key: &str) -> Option<&str> {
        let Json::Object(entries) = self else { return None };
        let key = format!("\"{key}\"");
        match entries.iter().find(|(known, _)| *known == key) {
            Some((_, Json::Scalar(text))) => Some(text),
            _ => None,
        }
    }

    /// On one line, without blanks.
    pub fn to_compact(&self) -> String {
        let mut out = String::new();
        self.write(&mut out, None);
        out
    }

    /// With two blanks for each level, this one being `level` deep.
    pub fn to_pretty(&self, level: usize) -> String {
        let mut out = String::new();
        self.write(&mut out, Some(level));
        out
    }

    fn write(&self, out: &mut String, level: Option<usize>) {
        let inner = level.map(|level| level + 1);
        let line = |out: &mut String, level: Option<usize>| {
            if let Some(level) = level {
                out.push('\n');
                (0..level).for_each(|_| out.push_str("  "));
            }
        };
        let (open, close, entries): (_, _, Vec<(Option<&String>, &Json)>) = match self {
            Json::Scalar(text) => return out.push_str(text),
            Json::Array(all) => ('[', ']', all.iter().map(|one| (None, one)).collect()),
            Json::Object(all) => {
                ('{', '}', all.iter().map(|(key, one)| (Some(key), one)).collect())
            }
        };
        out.push(open);
        for (at, (key, one)) in entries.iter().enumerate() {
            out.push_str(if at > 0 { "," } else { "" });
            line(out, inner);
            if let Some(key) = key {
                out.push_str(key);
                out.push_str(if level.is_some() { ": " } else { ":" });
            }
            one.write(out, inner);
        }
        line(out, level.filter(|_| !entries.is_empty()));
        out.push(close);
    }
}

/// The value, which stands so deep; None where it is too deep.
fn rewritten(node: &Node, text: &str, depth: usize) -> Option<Json> {
    let written = |span: &Range<usize>| &text[span.clone()];
    if depth > DEEPEST {
        return None;
    }
    Some(match &node.data {
        Data::String(_) => Json::Scalar(parse_string(written(&node.span))),
        Data::Scalar(_) => {
            let text = written(&node.span);
            // A word is no number.
            Json::Scalar(text.parse().map_or_else(|_| text.into(), format_number))
        }
        Data::Array(items) => {
            let items = items.iter().map(|item| rewritten(item, text, depth + 1));
            Json::Array(items.collect::<Option<_>>()?)
        }
        Data::Object(members) => {
            let member = |one: &Member| {
                let value = rewritten(&one.value, text, depth + 1)?;
                Some((parse_string(written(&one.key_span)), value))
            };
            Json::Object(ordered(members.iter().map(member).collect::<Option<_>>()?))
        }
    })
}

/// The entries of an object as JavaScript has them: the last of two with one key counts, where the first was, and
/// keys that could be an array's come first, in their order.
fn ordered(entries: Vec<(String, Json)>) -> Vec<(String, Json)> {
    let mut out: Vec<(String, Json)> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    for (key, value) in entries {
        match known.get(&key) {
            Some(at) => out[*at].1 = value,
            None => {
                known.insert(key.clone(), out.len());
                out.push((key, value));
            }
        }
    }
    crate::order::sort_by_key(&mut out, |(key, _)| array_index(key).unwrap_or(u32::MAX));
    out
}

/// A text of valid JSON, quotes included, as JavaScript escapes it.
fn parse_string(quoted: &str) -> String {
    let mut out = TextWriter::new();
    // The first half of a pair, which may be one or not.
    let mut high: Option<u32> = None;
    let mut chars = quoted[1..quoted.len() - 1].chars();
    while let Some(char) = chars.next() {
        let mut unit = if char == '\\' { parse_escape(&mut chars) } else { char as u32 };
        if let Some(first) = high.take() {
            if (0xdc00..0xe000).contains(&unit) {
                unit = 0x10000 + ((first - 0xd800) << 10) + (unit - 0xdc00);
            } else {
                out.push(first);
            }
        }
        match unit {
            0xd800..0xdc00 => high = Some(unit),
            unit => out.push(unit),
        }
    }
    high.into_iter().for_each(|high| out.push(high));
    out.end()
}

/// What is behind a backslash.
fn parse_escape(chars: &mut Chars<'_>) -> u32 {
    match chars.next().unwrap_or_default() {
        'b' => 8,
        'f' => 12,
        'n' => 10,
        'r' => 13,
        't' => 9,
        'u' => {
            let digits: String = chars.by_ref().take(4).collect();
            u32::from_str_radix(&digits, 16).unwrap_or_default()
        }
        own => own as u32,
    }
}

/// A text that is being written.
struct TextWriter {
    text: String,
    /// Where it is cut, should it become too long.
    cut: Option<usize>,
}

impl TextWriter {
    fn new() -> TextWriter {
        TextWriter { text: "\"".into(), cut: None }
    }

    /// A character, or a surrogate that has no other half.
    fn push(&mut self, unit: u32) {
        // There is room for the note, so that what was cut is not cut again.
        if self.cut.is_none() && self.text.len() >= LONGEST - 64 {
            self.cut = Some(self.text.len());
        }
        let short = match unit {
            0x22 => "\\\"",
            0x5c => "\\\\",
            0x08 => "\\b",
            0x0c => "\\f",
            0x0a => "\\n",
            0x0d => "\\r",
            0x09 => "\\t",
            _ => "",
        };
        match char::from_u32(unit) {
            _ if !short.is_empty() => self.text.push_str(short),
            Some(char) if unit >= 0x20 => self.text.push(char),
            _ => drop(write!(self.text, "\\u{unit:04x}")),
        }
    }

    fn end(mut self) -> String {
        let length = self.text.len();
        if let Some(cut) = self.cut.filter(|_| length > LONGEST) {
            self.text.truncate(cut);
            let _ = write!(self.text, " [{} bytes cut by hookctl]", length - cut);
        }
        self.text.push('"');
        self.text
    }
}

/// The index that a key is.
fn array_index(key: &str) -> Option<u32> {
    let digits = key.trim_matches('"');
    let plain = digits == "0" || !digits.starts_with('0');
    let plain = plain && !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit());
    digits.parse().ok().filter(|index| plain && *index < u32::MAX)
}

/// A number as JavaScript writes it: the shortest digits that mean it.
fn format_number(number: f64) -> String {
    if !number.is_finite() {
        return "null".into();
    }
    if number == 0.0 {
        return "0".into();
    }
    let short = format!("{:e}", number.abs());
    let (digits, exponent) = short.split_once('e').unwrap_or((&short, "0"));
    let digits = digits.replace('.', "");
    // Where the point is, counted from the first digit.
    let (count, point) = (digits.len() as i32, exponent.parse::<i32>().unwrap_or(0) + 1);
    let sign = if number < 0.0 { "-" } else { "" };
    let zeros = |count: i32| "0".repeat(count.max(0) as usize);
    match point {
        -5..=0 => format!("{sign}0.{}{digits}", zeros(-point)),
        1..=21 if count <= point => format!("{sign}{digits}{}", zeros(point - count)),
        1..=21 => {
            let (whole, part) = digits.split_at(point as usize);
            format!("{sign}{whole}.{part}")
        }
        _ => {
            let (first, rest) = digits.split_at(1);
            let dot = if rest.is_empty() { "" } else { "." };
            format!("{sign}{first}{dot}{rest}e{:+}", point - 1)
        }
    }
}
