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
enum TableKind {
    File,
    Rules,
    /// A rule, or its `unless`.
    Rule,
    Else,
}

impl TableKind {
    /// Where the table of that key stands.
    fn table_below(self, key: &str) -> TableKind {
        match (self, key) {
            (TableKind::File, "rule") => TableKind::Rules,
            (TableKind::Rules, _) | (TableKind::Rule, "unless") => TableKind::Rule,
            _ => TableKind::Else,
        }
    }

    /// What that key's patterns are compiled by.
    fn pattern_compiler(self, key: &str) -> Option<Compile> {
        match (self, key) {
            (TableKind::Rule, "command") => Some(compiled::compile_command),
            (TableKind::Rule, "path" | "within") => Some(compiled::compile_path),
            _ => None,
        }
    }
}

/// The text of a table.
pub fn pack_document(table: &DeTable<'_>) -> String {
    let mut out = String::new();
    pack_table(table, TableKind::File, &mut out);
    out
}

fn pack_table(table: &DeTable<'_>, place: TableKind, out: &mut String) {
    write_number(table.len(), out);
    for (key, value) in table {
        match KEYS.iter().position(|known| known == key.get_ref()) {
            Some(at) => write_number(at, out),
            None => {
                write_number(KEYS.len() + key.get_ref().len(), out);
                out.push_str(key.get_ref());
            }
        }
        let (below, compile) =
            (place.table_below(key.get_ref()), place.pattern_compiler(key.get_ref()));
        pack_value(value.get_ref(), below, compile, out);
    }
}

fn pack_value(value: &DeValue<'_>, place: TableKind, compile: Option<Compile>, out: &mut String) {
    match value {
        DeValue::String(string) => {
            match compile.and_then(|compile| compiled::compile_item(string, compile)) {
                Some(compiled) => {
                    out.push('c');
                    write_text(string, out);
                    write_text(&compiled, out);
                }
                None => {
                    out.push('s');
                    write_text(string, out);
                }
            }
        }
        DeValue::Array(items) => {
            out.push('a');
            write_number(items.len(), out);
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
            write_text(&format!("{prefix}{}", number.as_str()), out);
        }
        DeValue::Float(number) => {
            out.push('v');
            write_text(number.as_str(), out);
        }
        DeValue::Datetime(time) => {
            out.push('v');
            write_text(&time.to_string(), out);
        }
    }
}

/// Writes a text, its length first.
pub fn write_text(text: &str, out: &mut String) {
    write_number(text.len(), out);
    out.push_str(text);
}

/// Writes a number: six bits in each character, the last first; all but the last have a bit more.
pub fn write_number(mut number: usize, out: &mut String) {
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
pub fn unpack_table(text: &str, patterns: Patterns) -> Option<DeTable<'_>> {
    let mut rest = Rest::from_text(text);
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
    pub fn from_text(text: &'t str) -> Rest<'t> {
        Rest { text, at: 0 }
    }

    /// Is nothing left?
    pub fn is_empty(&self) -> bool {
        self.at == self.text.len()
    }

    /// What is left; None where it would begin within a character.
    pub fn remaining_text(&self) -> Option<&'t str> {
        self.text.get(self.at..)
    }

    /// The next byte.
    pub fn byte(&mut self) -> Option<u8> {
        let byte = *self.text.as_bytes().get(self.at)?;
        self.at += 1;
        Some(byte)
    }

    /// The next number.
    pub fn read_number(&mut self) -> Option<usize> {
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
    pub fn read_text(&mut self) -> Option<&'t str> {
        let length = self.read_number()?;
        self.take_bytes(length)
    }

    fn key(&mut self) -> Option<&'t str> {
        let number = self.read_number()?;
        match KEYS.get(number) {
            Some(known) => Some(known),
            None => self.take_bytes(number - KEYS.len()),
        }
    }

    /// The next so many bytes.
    pub fn take_bytes(&mut self, length: usize) -> Option<&'t str> {
        let text = self.text.get(self.at..self.at + length)?;
        self.at += length;
        Some(text)
    }

    fn table(&mut self, depth: usize, patterns: Patterns) -> Option<DeTable<'t>> {
        let depth = depth.checked_sub(1)?;
        let count = self.read_number()?;
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
            b's' => DeValue::String(self.read_text()?.into()),
            b'c' => {
                let (written, compiled) = (self.read_text()?, self.read_text()?);
                let taken = if patterns == Patterns::Written { written } else { compiled };
                DeValue::String(taken.into())
            }
            b'a' => {
                let depth = depth.checked_sub(1)?;
                let count = self.read_number()?;
                let items = (0..count).map(|_| self.value(depth, patterns));
                DeValue::Array(items.collect::<Option<_>>()?)
            }
            b't' => DeValue::Table(self.table(depth, patterns)?),
            b'y' => DeValue::Boolean(true),
            b'n' => DeValue::Boolean(false),
            b'v' => DeValue::parse(self.read_text()?).ok()?.into_inner(),
            _ => return None,
        };
        Some(Spanned::new(0..0, value))
    }
}

/// The TOML of a table below a header, for people: one line for each key.
pub fn to_toml_lines(table: &DeTable<'_>) -> String {
    let line = |(key, value): (&Spanned<_>, &Spanned<DeValue<'_>>)| {
        format_pair(key, value.get_ref()) + "\n"
    };
    table.iter().map(line).collect()
}

fn format_pair(key: &Spanned<toml::de::DeString<'_>>, value: &DeValue<'_>) -> String {
    let key = key.get_ref();
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let key =
        if key.bytes().all(bare) && !key.is_empty() { key.to_string() } else { quote_string(key) };
    format!("{key} = {}", format_value(value))
}

fn format_value(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => quote_string(text),
        DeValue::Boolean(flag) => flag.to_string(),
        DeValue::Integer(number) => number.as_str().to_string(),
        DeValue::Float(number) => number.as_str().to_string(),
        DeValue::Datetime(time) => time.to_string(),
        DeValue::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| format_value(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        DeValue::Table(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| format_pair(key, value.get_ref())).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A string in the quotes that need the fewest escapes.
fn quote_string(text: &str) -> String {
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
