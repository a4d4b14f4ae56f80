//! The headers of a server's requests, and the variables that they may name.

use super::Remote;
use crate::rule::reader::{Item, Key, Reader};

/// Headers that are hookctl's own to set.
const OWN_HEADERS: &[&str] =
    &["host", "content-length", "content-type", "transfer-encoding", "connection", "user-agent"];

/// Splits a header's value at its variables: text, and the name of the variable behind it.
pub fn split_variables(value: &str) -> impl Iterator<Item = (&str, Option<&str>)> {
    let mut rest = value;
    std::iter::from_fn(move || {
        let mut from = 0;
        while let Some(at) = rest[from..].find('$').map(|at| at + from) {
            let tail = &rest[at + 1..];
            let braced =
                tail.strip_prefix('{').and_then(|t| t.split_once('}')).map(|(name, _)| name);
            let len = tail.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
            let (name, end) = match braced {
                Some(name) => (name, at + 3 + name.len()),
                None => (&tail[..len], at + 1 + len),
            };
            if !name.is_empty() {
                let text = &rest[..at];
                rest = &rest[end..];
                return Some((text, Some(name)));
            }
            from = at + 1;
        }
        (!rest.is_empty()).then(|| (std::mem::take(&mut rest), None))
    })
}

/// Reads one.
pub(super) fn read_header(name: &Key<'_>, value: &Item<'_>, out: &mut Remote, r: &mut Reader<'_>) {
    let text = name.get_ref().to_string();
    let token = |b: u8| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b);
    let why = if text.is_empty() || !text.bytes().all(token) {
        Some("is no name of a header")
    } else if OWN_HEADERS.contains(&text.to_ascii_lowercase().as_str()) {
        Some("is a header that hookctl sets itself")
    } else {
        None
    };
    if let Some(why) = why {
        r.add_error("bad-header", format!("`{text}` {why}"), name.span());
    }
    let Some((value, span)) = r.string(value) else { return };
    if value.chars().any(char::is_control) {
        let message = format!("the value of `{text}` has a control character");
        r.add_error("bad-header", message, span);
    }
    out.headers.push((text, value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sx_08_variables_of_a_header() {
        let all: Vec<_> = split_variables("Bearer $A-${B_1}$ $$C x").collect();
        let wanted = [("Bearer ", Some("A")), ("-", Some("B_1")), ("$ $", Some("C")), (" x", None)];
        assert_eq!(all, wanted);
    }
}
