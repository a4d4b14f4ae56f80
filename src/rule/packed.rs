//! Parts of rule files as they are kept between reading them once and judging: TOML that has been parsed, as a short text.
//!
//! The build packs the shipped rules, the first event after a change those of a user's file (`index.rs`), so that no event
//! parses TOML. What a rule is made of has one reader all the same (`file.rs`), for it is given the same tree. Shared with the
//! build; only ASCII beside the texts themselves, so that it can be cut like any text.

use std::ops::Range;

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

/// What is packed of patterns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatternForm {
    /// As they are written: the table is no rule's, or is for people.
    Written,
    /// As events match them.
    Compiled,
}

/// What that key's patterns are compiled by, in a rule or its `unless`.
fn pattern_compiler(key: &str) -> Option<Compile> {
    match key {
        "command" => Some(compiled::compile_command),
        "path" | "within" => Some(compiled::compile_path),
        _ => None,
    }
}

/// A value with its place in the file.
pub type Item<'t> = Spanned<TreeValue<'t>>;

/// A key with its place in the file.
#[derive(Debug, Clone)]
pub struct Key<'t> {
    name: &'t str,
    span: Range<usize>,
}

/// What a file says: TOML that was parsed, or what was packed of it.
#[derive(Debug, Clone)]
pub enum TreeValue<'t> {
    /// A text.
    String(&'t str),
    /// Patterns that were compiled: what is named, then what is excluded, as `compiled.rs` has them, one behind the other.
    Patterns(&'static str),
    /// true or false.
    Boolean(bool),
    /// A list.
    Array(Vec<Item<'t>>),
    /// Keys and values.
    Table(Table<'t>),
    /// A number or a time: rare in rules.
    Other(Box<DeValue<'t>>),
}

/// Keys and values, in the order of the file.
#[derive(Debug, Clone, Default)]
pub struct Table<'t>(Vec<(Key<'t>, Item<'t>)>);

/// Of a value that was parsed.
pub fn item_from_toml<'t>(value: &'t Spanned<DeValue<'_>>) -> Item<'t> {
    let tree = match value.get_ref() {
        DeValue::String(text) => TreeValue::String(text),
        DeValue::Boolean(flag) => TreeValue::Boolean(*flag),
        DeValue::Array(items) => TreeValue::Array(items.iter().map(item_from_toml).collect()),
        DeValue::Table(table) => TreeValue::Table(Table::from_toml(table)),
        other => TreeValue::Other(Box::new(other.clone())),
    };
    Spanned::new(value.span(), tree)
}

impl<'t> Key<'t> {
    /// Its name.
    #[inline]
    pub fn get_ref(&self) -> &'t str {
        self.name
    }

    /// Where it stands.
    pub fn span(&self) -> Range<usize> {
        self.span.clone()
    }
}

impl<'t> TreeValue<'t> {
    /// What sort of value it is, for people.
    pub fn type_str(&self) -> &'static str {
        match self {
            TreeValue::String(_) => "string",
            TreeValue::Boolean(_) => "boolean",
            TreeValue::Array(_) | TreeValue::Patterns(_) => "array",
            TreeValue::Table(_) => "table",
            TreeValue::Other(other) => other.type_str(),
        }
    }

    /// A text as it is written.
    #[inline]
    pub fn as_str(&self) -> Option<&'t str> {
        match self {
            TreeValue::String(text) => Some(text),
            _ => None,
        }
    }
}

impl<'t> Table<'t> {
    /// Of a table that was parsed.
    pub fn from_toml(table: &'t DeTable<'_>) -> Table<'t> {
        let entries = table.iter().map(|(key, value)| {
            let key = Key { name: key.get_ref(), span: key.span() };
            (key, item_from_toml(value))
        });
        Table(entries.collect())
    }

    /// The value of that key.
    pub fn get(&self, name: &str) -> Option<&Item<'t>> {
        self.iter().find(|(key, _)| key.name == name).map(|(_, value)| value)
    }

    /// The keys.
    pub fn keys(&self) -> impl Iterator<Item = &Key<'t>> {
        self.iter().map(|(key, _)| key)
    }

    /// The part of those keys.
    pub fn keep_keys(&self, keeps: impl Fn(&str) -> bool) -> Table<'t> {
        Table(self.iter().filter(|(key, _)| keeps(key.name)).cloned().collect())
    }
}

impl<'t> std::ops::Deref for Table<'t> {
    type Target = [(Key<'t>, Item<'t>)];

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl<'v, 't> IntoIterator for &'v Table<'t> {
    type Item = &'v (Key<'t>, Item<'t>);
    type IntoIter = std::slice::Iter<'v, (Key<'t>, Item<'t>)>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// The text of what a file holds beside its rules.
pub fn pack_document(table: &Table<'_>) -> String {
    let mut out = String::new();
    pack_table(table, PatternForm::Written, &mut out);
    out
}

/// The text of a rule.
pub fn pack_rule(rule: &Item<'_>, form: PatternForm) -> Option<String> {
    let TreeValue::Table(table) = rule.get_ref() else { return None };
    let mut out = String::new();
    pack_table(table, form, &mut out);
    Some(out)
}

/// The patterns of a rule as they are written, which [`PatternForm::Compiled`] leaves out, one behind the other.
pub fn pack_patterns(rule: &TreeValue<'_>, out: &mut String) {
    match rule {
        TreeValue::Array(items) => items.iter().for_each(|item| pack_patterns(item.get_ref(), out)),
        TreeValue::Table(table) => {
            for (key, value) in table {
                match key.get_ref() {
                    "unless" => pack_patterns(value.get_ref(), out),
                    name if pattern_compiler(name).is_some() => {
                        pack_value(value.get_ref(), PatternForm::Written, out);
                    }
                    _ => {}
                }
            }
        }
        _ => {}
    }
}

fn pack_table(table: &Table<'_>, form: PatternForm, out: &mut String) {
    write_number(table.len(), out);
    for (key, value) in table {
        let name = key.get_ref();
        match KEYS.iter().position(|known| *known == name) {
            Some(at) => write_number(at, out),
            None => {
                write_number(KEYS.len() + name.len(), out);
                out.push_str(name);
            }
        }
        let below = if name == "unless" { form } else { PatternForm::Written };
        let compiler = if form == PatternForm::Written { None } else { pattern_compiler(name) };
        match compiler.and_then(|compile| compile_patterns(value, compile)) {
            Some(compiled) => {
                out.push('p');
                write_text(&compiled, out);
            }
            None => pack_value(value.get_ref(), below, out),
        }
    }
}

/// One pattern or a list of them; None where one cannot be meant.
fn compile_patterns(value: &Item<'_>, compile: Compile) -> Option<String> {
    let items = match value.get_ref() {
        TreeValue::Array(items) => &items[..],
        _ => std::slice::from_ref(value),
    };
    let compiled = items.iter().map(|item| {
        let (excludes, pattern) = compiled::split_exclusion(item.get_ref().as_str()?);
        Some((excludes, compile(pattern).ok()?))
    });
    let compiled: Vec<(bool, String)> = compiled.collect::<Option<_>>()?;
    let mut out = String::new();
    for wanted in [false, true] {
        let mut list = String::new();
        let some = compiled.iter().filter(|(excludes, _)| *excludes == wanted);
        some.for_each(|(_, pattern)| write_text(pattern, &mut list));
        write_text(&list, &mut out);
    }
    Some(out)
}

fn pack_value(value: &TreeValue<'_>, form: PatternForm, out: &mut String) {
    match value {
        TreeValue::String(string) => {
            out.push('s');
            write_text(string, out);
        }
        TreeValue::Patterns(compiled) => {
            out.push('p');
            write_text(compiled, out);
        }
        TreeValue::Array(items) => {
            out.push('a');
            write_number(items.len(), out);
            items.iter().for_each(|item| pack_value(item.get_ref(), form, out));
        }
        TreeValue::Table(table) => {
            out.push('t');
            pack_table(table, form, out);
        }
        TreeValue::Boolean(true) => out.push('y'),
        TreeValue::Boolean(false) => out.push('n'),
        // As they are written.
        TreeValue::Other(other) => {
            out.push('v');
            write_text(&format_other(other), out);
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

/// The table that a text was made of; None where it is damaged.
pub fn unpack_table(text: &'static str) -> Option<Table<'static>> {
    let mut rest = Rest::from_text(text);
    let table = rest.table(DEEPEST)?;
    rest.is_empty().then_some(table)
}

/// A rule that was packed as events match it, with its patterns as they are written.
pub fn unpack_written(rule: &'static str, patterns: &'static str) -> Option<Table<'static>> {
    let mut table = unpack_table(rule)?;
    let mut rest = Rest::from_text(patterns);
    table.0.iter_mut().try_for_each(|(_, value)| rest.fill_patterns(value.get_mut()))?;
    rest.is_empty().then_some(table)
}

/// What of a text is not read yet.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest<'t> {
    text: &'t str,
    at: usize,
}

impl<'t> Rest<'t> {
    /// All of it.
    pub const fn from_text(text: &'t str) -> Rest<'t> {
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
    #[inline(always)]
    pub fn read_number(&mut self) -> Option<usize> {
        // Most fit into one character.
        let byte = *self.text.as_bytes().get(self.at)?;
        if byte & 64 != 0 {
            return self.read_long_number();
        }
        self.at += 1;
        Some(usize::from(byte & 63))
    }

    fn read_long_number(&mut self) -> Option<usize> {
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

    /// The bytes of the next text, which may be of no interest.
    #[inline(always)]
    pub fn text_bytes(&mut self) -> Option<&'t [u8]> {
        let length = self.read_number()?;
        let bytes = self.text.as_bytes().get(self.at..self.at + length)?;
        self.at += length;
        Some(bytes)
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
}

impl Rest<'static> {
    fn fill_patterns(&mut self, value: &mut TreeValue<'static>) -> Option<()> {
        match value {
            TreeValue::Patterns(_) => *value = self.value(DEEPEST)?.into_inner(),
            TreeValue::Array(items) => {
                items.iter_mut().try_for_each(|item| self.fill_patterns(item.get_mut()))?;
            }
            TreeValue::Table(table) => {
                table
                    .0
                    .iter_mut()
                    .try_for_each(|(_, value)| self.fill_patterns(value.get_mut()))?;
            }
            _ => {}
        }
        Some(())
    }

    fn table(&mut self, depth: usize) -> Option<Table<'static>> {
        let depth = depth.checked_sub(1)?;
        let count = self.read_number()?;
        // Damage may say that there are any number.
        let mut table = Vec::with_capacity(count.min(KEYS.len()));
        for _ in 0..count {
            let key = Key { name: self.key()?, span: 0..0 };
            table.push((key, self.value(depth)?));
        }
        Some(Table(table))
    }

    fn value(&mut self, depth: usize) -> Option<Item<'static>> {
        let value = match self.byte()? {
            b's' => TreeValue::String(self.read_text()?),
            b'p' => TreeValue::Patterns(self.read_text()?),
            b'a' => {
                let depth = depth.checked_sub(1)?;
                let count = self.read_number()?;
                let mut items = Vec::with_capacity(count.min(KEYS.len()));
                for _ in 0..count {
                    items.push(self.value(depth)?);
                }
                TreeValue::Array(items)
            }
            b't' => TreeValue::Table(self.table(depth)?),
            b'y' => TreeValue::Boolean(true),
            b'n' => TreeValue::Boolean(false),
            b'v' => {
                TreeValue::Other(Box::new(DeValue::parse(self.read_text()?).ok()?.into_inner()))
            }
            _ => return None,
        };
        Some(Spanned::new(0..0, value))
    }
}

/// The TOML of a table below a header, for people: one line for each key.
pub fn to_toml_lines(table: &Table<'_>) -> String {
    table.iter().map(|(key, value)| format_pair(key, value.get_ref()) + "\n").collect()
}

fn format_pair(key: &Key<'_>, value: &TreeValue<'_>) -> String {
    let key = key.get_ref();
    let bare = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let key =
        if key.bytes().all(bare) && !key.is_empty() { key.to_string() } else { quote_string(key) };
    format!("{key} = {}", format_value(value))
}

fn format_value(value: &TreeValue<'_>) -> String {
    match value {
        TreeValue::String(text) => quote_string(text),
        // Nobody is shown those.
        TreeValue::Patterns(_) => String::new(),
        TreeValue::Boolean(flag) => flag.to_string(),
        TreeValue::Other(other) => format_other(other),
        TreeValue::Array(items) => {
            let items: Vec<String> =
                items.iter().map(|item| format_value(item.get_ref())).collect();
            format!("[{}]", items.join(", "))
        }
        TreeValue::Table(table) => {
            let pairs: Vec<String> =
                table.iter().map(|(key, value)| format_pair(key, value.get_ref())).collect();
            format!("{{ {} }}", pairs.join(", "))
        }
    }
}

/// A number with its radix, or a time.
fn format_other(value: &DeValue<'_>) -> String {
    match value {
        DeValue::Integer(number) => {
            let prefix = match number.radix() {
                2 => "0b",
                8 => "0o",
                16 => "0x",
                _ => "",
            };
            format!("{prefix}{}", number.as_str())
        }
        DeValue::Float(number) => number.as_str().to_string(),
        DeValue::Datetime(time) => time.to_string(),
        _ => String::new(),
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
