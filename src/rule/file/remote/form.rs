//! What a file has a server be sent: a text or a table, with placeholders.

use serde_json::Value;

use crate::rule::reader::{Item, Reader, to_json_value};
use crate::rule::template::Template;

/// Reads one whose placeholders are these names.
pub(super) fn read_form(
    value: &Item<'_>,
    names: &'static [&'static str],
    r: &mut Reader<'_>,
) -> Option<Value> {
    let Some(form) = to_json_value(value).filter(|form| form.is_string() || form.is_object())
    else {
        r.wrong_type(value, "a text or a table");
        return None;
    };
    let fault = |text: &str| match Template::parse_with_names(text, names) {
        Ok(template) => template.regexes().find_map(|regex| regex.find_fault()),
        Err(why) => Some(why),
    };
    if let Some(why) = all_texts(&form).into_iter().find_map(fault) {
        r.add_error("bad-template", why, value.span());
        return None;
    }
    Some(form)
}

/// Every text in it.
fn all_texts(value: &Value) -> Vec<&str> {
    match value {
        Value::String(text) => vec![text],
        Value::Array(all) => all.iter().flat_map(all_texts).collect(),
        Value::Object(map) => map.values().flat_map(all_texts).collect(),
        _ => Vec::new(),
    }
}
