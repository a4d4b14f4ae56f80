//! Parts of rule files as they are kept between reading them once and judging: TOML that has been parsed, as a short text.
//!
//! The build packs the shipped rules, the first event after a change those of a user's file (`index.rs`), so that no event
//! parses TOML. What a rule is made of has one reader all the same (`file.rs`), for it is given the same tree. Shared with the
//! build; only ASCII beside the texts themselves, so that it can be cut like any text.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

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

/// The text of a table.
pub fn pack(table: &DeTable<'_>) -> String {
    let mut out = String::new();
    pack_table(table, &mut out);
    out
}

fn pack_table(table: &DeTable<'_>, out: &mut String) {
    number(table.len(), out);
    for (key, value) in table {
        match KEYS.iter().position(|known| known == key.get_ref()) {
            Some(at) => number(at, out),
            None => {
                number(KEYS.len() + key.get_ref().len(), out);
                out.push_str(key.get_ref());
            }
        }
        pack_value(value.get_ref(), out);
    }
}

fn pack_value(value: &DeValue<'_>, out: &mut String) {
    match value {
        DeValue::String(string) => {
            out.push('s');
            text(string, out);
        }
        DeValue::Array(items) => {
            out.push('a');
            number(items.len(), out);
            items.iter().for_each(|item| pack_value(item.get_ref(), out));
        }
        DeValue::Table(table) => {
            out.push('t');
            pack_table(table, out);
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

fn text(text: &str, out: &mut String) {
    number(text.len(), out);
    out.push_str(text);
}

/// Six bits in each character, the last first: all but the last have a bit more.
fn number(mut number: usize, out: &mut String) {
    while number >= 64 {
        out.push(char::from(64 | (number % 64) as u8));
        number /= 64;
    }
    out.push(char::from(number as u8));
}

/// The table that a text was made of; None where it is damaged.
pub fn unpack(text: &str) -> Option<DeTable<'_>> {
    let mut rest = Rest(text);
    let table = rest.table(DEEPEST)?;
    rest.0.is_empty().then_some(table)
}

/// What is not read yet.
struct Rest<'t>(&'t str);

impl<'t> Rest<'t> {
    fn byte(&mut self) -> Option<u8> {
        let byte = *self.0.as_bytes().first()?;
        self.0 = self.0.get(1..)?;
        Some(byte)
    }

    fn number(&mut self) -> Option<usize> {
        let mut number = 0;
        for shift in [0, 6, 12, 18, 24] {
            let byte = self.byte()?;
            number |= usize::from(byte & 63) << shift;
            if byte & 64 == 0 {
                return Some(number);
            }
        }
        None
    }

    fn text(&mut self) -> Option<&'t str> {
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

    fn cut(&mut self, length: usize) -> Option<&'t str> {
        let (text, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(text)
    }

    fn table(&mut self, depth: usize) -> Option<DeTable<'t>> {
        let depth = depth.checked_sub(1)?;
        let count = self.number()?;
        let mut table = DeTable::new();
        for _ in 0..count {
            let key = Spanned::new(0..0, self.key()?.into());
            table.insert(key, self.value(depth)?);
        }
        Some(table)
    }

    fn value(&mut self, depth: usize) -> Option<Spanned<DeValue<'t>>> {
        let value = match self.byte()? {
            b's' => DeValue::String(self.text()?.into()),
            b'a' => {
                let depth = depth.checked_sub(1)?;
                let count = self.number()?;
                DeValue::Array((0..count).map(|_| self.value(depth)).collect::<Option<_>>()?)
            }
            b't' => DeValue::Table(self.table(depth)?),
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
