//! Parts of rule files as they are kept between reading them once and judging: TOML that has been parsed, as a short text.
//!
//! The build packs the shipped rules, the first event after a change those of a user's file (`index.rs`), so that no event
//! parses TOML. What a rule is made of has one reader all the same (`file.rs`), for it is given the same tree. Shared with the
//! build; only ASCII beside the texts themselves, so that it can be cut like any text.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::compiled::{self, Compile};

/// Keys that are common, by their place: others are written out.
const KEYS: &[&str] = &[
    "rule",
    "command",
    "effect",
    "path",
    "severity",
    "unless",
    "deny",
    "ask",
    "allow",
    "on",
    "tool",
    "host",
    "when",
    "always",
    "recursive",
    "certainty",
    "within",
    "match",
    "input",
    "regex",
];

/// How deep tables and lists may stand in each other: a rule has four levels.
const DEEPEST: usize = 32;

/// Where a table stands, as far as it tells which values are patterns.
#[derive(Clone, Copy)]
enum Place {
    File,
    Rules,
    /// A rule, or its `unless`.
    Rule,
    Else,
}

impl Place {
    /// Where the table of that key stands.
    fn below(self, key: &str) -> Place {
        match (self, key) {
            (Place::File, "rule") => Place::Rules,
            (Place::Rules, _) | (Place::Rule, "unless") => Place::Rule,
            _ => Place::Else,
        }
    }

    /// What that key's patterns are compiled by.
    fn patterns(self, key: &str) -> Option<Compile> {
        match (self, key) {
            (Place::Rule, "command") => Some(compiled::command),
            (Place::Rule, "path" | "within") => Some(compiled::path),
            _ => None,
        }
    }
}

/// The text of a table.
pub fn pack(table: &DeTable<'_>) -> String {
    let mut out = String::new();
    pack_table(table, Place::File, &mut out);
    out
}

fn pack_table(table: &DeTable<'_>, place: Place, out: &mut String) {
    number(table.len(), out);
    for (key, value) in table {
        match KEYS.iter().position(|known| known == key.get_ref()) {
            Some(at) => number(at, out),
            None => {
                number(KEYS.len() + key.get_ref().len(), out);
                out.push_str(key.get_ref());
            }
        }
        let (below, compile) = (place.below(key.get_ref()), place.patterns(key.get_ref()));
        pack_value(value.get_ref(), below, compile, out);
    }
}

fn pack_value(value: &DeValue<'_>, place: Place, compile: Option<Compile>, out: &mut String) {
    match value {
        DeValue::String(string) => {
            match compile.and_then(|compile| compiled::compile_item(string, compile)) {
                Some(compiled) => {
                    out.push('c');
                    text(string, out);
                    text(&compiled, out);
                }
                None => {
                    out.push('s');
                    text(string, out);
                }
            }
        }
        DeValue::Array(items) => {
            out.push('a');
            number(items.len(), out);
            items.iter().for_each(|item| pack_value(item.get_ref(), place, compile, out));
        }
        DeValue::Table(table) => {
            out.push('t');
            pack_table(table, place, out);
        }
        DeValue::Boolean(true) => out.push('y'),
        DeValue::Boolean(false) => out.push('n'),
        // Rare in rules: as they are written.
        DeValue::Integer(number) => {
            out.push('v');
            let prefix = match number.radix() {
                2 => "0b",
                8 => "0o",
                16 => "0x",
                _ => "",
            };
            text(&format!("{prefix}{}", number.as_str()), out);
        }
        DeValue::Float(number) => {
            out.push('v');
            text(number.as_str(), out);
        }
        DeValue::Datetime(time) => {
            out.push('v');
            text(&time.to_string(), out);
        }
    }
}

/// Writes a text, its length first.
pub fn text(text: &str, out: &mut String) {
    number(text.len(), out);
    out.push_str(text);
}

/// Writes a number: six bits in each character, the last first; all but the last have a bit more.
pub fn number(mut number: usize, out: &mut String) {
    while number >= 64 {
        out.push(char::from(64 | (number % 64) as u8));
        number /= 64;
    }
    out.push(char::from(number as u8));
}

/// What is taken of a pattern.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Patterns {
    /// As they were written.
    Written,
    /// As `compiled.rs` has them.
    Compiled,
}

/// The table that a text was made of; None where it is damaged.
pub fn unpack(text: &str, patterns: Patterns) -> Option<DeTable<'_>> {
    let mut rest = Rest::of(text);
    let table = rest.table(DEEPEST, patterns)?;
    rest.is_empty().then_some(table)
}

/// What of a text is not read yet.
#[derive(Debug)]
pub struct Rest<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Rest<'t> {
    /// All of it.
    pub fn of(text: &'t str) -> Rest<'t> {
        Rest { text, at: 0 }
    }

    /// Is nothing left?
    pub fn is_empty(&self) -> bool {
        self.at == self.text.len()
    }

    /// What is left; None where it would begin within a character.
    pub fn left(&self) -> Option<&'t str> {
        self.text.get(self.at..)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.text.as_bytes().get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// The next number.
    pub fn number(&mut self) -> Option<usize> {
        let (mut number, mut shift) = (0, 0);
        while shift < 30 {
            let byte = self.byte()?;
            number |= usize::from(byte & 63) << shift;
            if byte & 64 == 0 {
                return Some(number);
            }
            shift += 6;
        }
        None
    }

    /// The next text.
    pub fn text(&mut self) -> Option<&'t str> {
        let length = self.number()?;
        self.cut(length)
    }

    fn key(&mut self) -> Option<&'t str> {
        let number = self.number()?;
        match KEYS.get(number) {
            Some(known) => Some(known),
            None => self.cut(number - KEYS.len()),
        }
    }

    /// The next so many bytes.
    pub fn cut(&mut self, length: usize) -> Option<&'t str> {
        let text = self.text.get(self.at..self.at + length)?;
        self.at += length;
        Some(text)
    }

    fn table(&mut self, depth: usize, patterns: Patterns) -> Option<DeTable<'t>> {
        let depth = depth.checked_sub(1)?;
        let count = self.number()?;
        // Damage may say that there are any number.
        let mut table = DeTable::with_capacity(count.min(KEYS.len()));
        for _ in 0..count {
            let key = Spanned::new(0..0, self.key()?.into());
            table.insert(key, self.value(depth, patterns)?);
        }
        Some(table)
    }

    fn value(&mut self, depth: usize, patterns: Patterns) -> Option<Spanned<DeValue<'t>>> {
        let value = match self.byte()? {
            b's' => DeValue::String(self.text()?.into()),
            b'c' => {
                let (written, compiled) = (self.text()?, self.text()?);
                let taken = if patterns == Patterns::Written { written } else { compiled };
                DeValue::String(taken.into())
            }
            b'a' => {
                let depth = depth.checked_sub(1)?;
                let count = self.number()?;
                let items = (0..count).map(|_| self.value(depth, patterns));
                DeValue::Array(items.collect::<Option<_>>()?)
            }
            b't' => DeValue::Table(self.table(depth, patterns)?),
            b'y' => DeValue::Boolean(true),
            b'n' => DeValue::Boolean(false),
            b'v' => DeValue::parse(self.text()?).ok()?.into_inner(),
            _ => return None,
        };
        Some(Spanned::new(0..0, value))
    }
}

/// The TOML of a table below a header, for people: one line for each key.
pub fn lines(table: &DeTable<'_>) -> String {
    let line =
        |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| pair(key, value.get_ref()) + "\n";
    table.iter().map(line).collect()
}

fn pair(key: &Spanned<toml::de::DeString<'_>>, value: &DeValue<'_>) -> String {
    let key = key.get_ref();
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let key = if key.bytes().all(bare) && !key.is_empty() { key.to_string() } else { quoted(key) };
    format!("{key} = {}", written(value))
}

fn written(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quoted(text),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Integer(number) => number.as_str().to_string(),
        DeValue::Float(number) => number.as_str().to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| written(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| pair(key, value.get_ref())).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A string in the quotes that need the fewest escapes.
fn quoted(text: &str) -> String {
    if text.contains(['"', '\\']) && !text.contains(|c: char| c == '\'' || c.is_control()) {
        return format!("'{text}'");
    }
    let mut out = String::from("\"");
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '"' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => out.push(c),
        }
    }
    out + "\""
}
