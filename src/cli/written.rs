//! Where the keys of a rule or a server stand in its file: spans for carets, and the text as it was
//! written.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// One rule as written.
#[derive(Clone)]
pub(super) struct Written<'a> {
    header: Range<usize>,
    /// Its keys and values.
    pub(super) body: Option<&'a DeTable<'a>>,
}

impl<'a> Written<'a> {
    /// The rule of that id in a file's table.
    pub(super) fn of(table: &'a DeTable<'a>, id: &str) -> Written<'a> {
        let find = || {
            let (_, rules) = table.iter().find(|(key, _)| key.get_ref() == "rule")?;
            let rules = rules.get_ref().as_table()?;
            let (key, body) = rules.iter().find(|(key, _)| key.get_ref() == id)?;
            Some((key.span(), body.get_ref().as_table()))
        };
        let (header, body) = find().unwrap_or((0..0, None));
        Written { header, body }
    }

    /// Where its id stands.
    pub(super) fn header(&self) -> Range<usize> {
        self.header.clone()
    }

    /// The value of a key.
    pub(super) fn value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.body?.iter().find(|(found, _)| found.get_ref() == key).map(|(_, value)| value)
    }

    /// The key in the rule, or the rule's header.
    pub(super) fn key(&self, key: &str) -> Range<usize> {
        let body = self.body.into_iter().flat_map(|body| body.iter());
        let mut found = body.filter(|(found, _)| found.get_ref() == key);
        found.next().map_or_else(|| self.header(), |(found, _)| found.span())
    }

    /// The text inside the key's value, or all of the value.
    pub(super) fn text(&self, key: &str, text: &str) -> Range<usize> {
        let Some(value) = self.value(key) else { return self.header() };
        let mut span = value.span();
        strings(value, &mut |found, at| {
            if found.trim_start_matches('!') == text || found.contains(text) {
                span = at;
            }
        });
        span
    }
}

/// Where the events of a server stand in a file's table.
pub(super) fn events(table: &DeTable<'_>, name: &str) -> Range<usize> {
    let find = || {
        let (_, remotes) = table.iter().find(|(key, _)| key.get_ref() == "remote")?;
        let remotes = remotes.get_ref().as_table()?;
        let (header, body) = remotes.iter().find(|(key, _)| key.get_ref() == name)?;
        let body = body.get_ref().as_table()?;
        let events = body.iter().find(|(key, _)| key.get_ref() == "events");
        Some(events.map_or(header.span(), |(key, _)| key.span()))
    };
    find().unwrap_or(0..0)
}

/// Every string of a value: itself, or those of its list.
pub(super) fn strings(value: &Spanned<DeValue<'_>>, take: &mut dyn FnMut(&str, Range<usize>)) {
    match value.get_ref() {
        DeValue::String(text) => take(text, value.span()),
        DeValue::Array(items) => items.iter().for_each(|item| strings(item, take)),
        _ => {}
    }
}
