//! Where the keys of a rule or a server stand in its file: spans for carets, and the text as it was
//! written.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Where the key at the end of that way stands, and its value.
pub(super) fn find<'a>(
    table: &'a DeTable<'a>,
    way: &[&str],
) -> Option<(Range<usize>, &'a Spanned<DeValue<'a>>)> {
    let (last, above) = way.split_last()?;
    let below = |table: &'a DeTable<'a>, name: &&str| table.get(*name)?.get_ref().as_table();
    let (key, value) = above.iter().try_fold(table, below)?.get_key_value(*last)?;
    Some((key.span(), value))
}

/// One rule as written.
#[derive(Clone)]
pub(super) struct WrittenRule<'a> {
    header: Range<usize>,
    /// Its keys and values.
    pub(super) body: Option<&'a DeTable<'a>>,
}

impl<'a> WrittenRule<'a> {
    /// The rule of that id in a file's table.
    pub(super) fn find_rule(table: &'a DeTable<'a>, id: &str) -> WrittenRule<'a> {
        let found = find(table, &["rule", id]);
        let body = found.as_ref().and_then(|(_, body)| body.get_ref().as_table());
        WrittenRule { body, header: found.map_or(0..0, |(header, _)| header) }
    }

    /// Where its id stands.
    pub(super) fn header_span(&self) -> Range<usize> {
        self.header.clone()
    }

    /// The value of a key.
    pub(super) fn find_value(&self, key: &str) -> Option<&'a Spanned<DeValue<'a>>> {
        self.body?.get(key)
    }

    /// The key in the rule, or the rule's header.
    pub(super) fn key_span(&self, key: &str) -> Range<usize> {
        let found = self.body.and_then(|body| find(body, &[key]));
        found.map_or_else(|| self.header_span(), |(span, _)| span)
    }

    /// The text inside the key's value, or all of the value.
    pub(super) fn text_span(&self, key: &str, text: &str) -> Range<usize> {
        let Some(value) = self.find_value(key) else { return self.header_span() };
        let mut span = value.span();
        for_each_string(value, &mut |found, at| {
            if found.trim_start_matches('!') == text || found.contains(text) {
                span = at;
            }
        });
        span
    }
}

/// Where the events of a server stand in a file's table.
pub(super) fn server_events_span<'a>(table: &'a DeTable<'a>, name: &str) -> Range<usize> {
    let events = find(table, &["remote", name, "events"]);
    events.or_else(|| find(table, &["remote", name])).map_or(0..0, |(span, _)| span)
}

/// Every string of a value: itself, or those of its list.
pub(super) fn for_each_string(
    value: &Spanned<DeValue<'_>>,
    take: &mut dyn FnMut(&str, Range<usize>),
) {
    match value.get_ref() {
        DeValue::String(text) => take(text, value.span()),
        DeValue::Array(items) => items.iter().for_each(|item| for_each_string(item, take)),
        _ => {}
    }
}
