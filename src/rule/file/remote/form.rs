//! What a file has a server be sent: a text or a table, with placeholders.

use serde_json::Value;

use crate::rule::reader::{Item, Reader, json};
use crate::rule::template::Template;

/// Reads one whose placeholders are these names.
pub(super) fn read(
    value: &Item<'_>,
    names: &'static [&'static str],
    r: &mut Reader<'_>,
) -> Option<Value> {
    let Some(form) = json(value).filter(|form| form.is_string() || form.is_object()) else {
        r.wrong_type(value, "a text or a table");
        return None;
    };
    let fault = |text: &str| match Template::of(text, names) {
        Ok(template) => template.regexes().find_map(|regex| regex.fault()),
        Err(why) => Some(why),
    };
    if let Some(why) = texts(&form).into_iter().find_map(fault) {
        r.fault("bad-template", why, value.span());
        return None;
    }
    Some(form)
}

/// Every text in it.
fn texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().flat_map(texts).collect(),
        Value::Object(map) => map.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}
