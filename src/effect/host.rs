//! The host that a value names: a URL's, `user@host:path`, or a bare one.

use super::value::{BLANK, Value};

/// Is the host written out, and what is not known its port? (`localhost:$PORT`)
fn only_port_open(rest: &str) -> bool {
    rest.strip_suffix(':').is_some_and(|host| !host.is_empty() && !host.contains(['@', ':', '[']))
}

/// The host of a URL, of `user@host:path`, or of a bare host, lower case and without port.
pub fn host_of(value: &Value) -> Option<String> {
    let (text, whole) = match (&value.text, &value.outline, &value.prefix) {
        (Some(text), ..) => (text.as_str(), true),
        (None, Some(outline), _) => (outline.split(BLANK).next().unwrap_or_default(), false),
        (None, None, Some(prefix)) => (prefix.as_str(), false),
        _ => return None,
    };
    // URL parsers take `\\` for `/`, and need no slash behind the scheme.
    let web = text.get(..6).is_some_and(|t| t.to_ascii_lowercase().starts_with("http"));
    let slashes = text.split_once(':').filter(|(scheme, rest)| {
        web && matches!(scheme.len(), 4 | 5) && rest.starts_with(['/', '\\'])
    });
    let unified = slashes.map(|(_, rest)| rest.trim_start_matches(['/', '\\']).replace('\\', "/"));
    let text = unified.as_deref().unwrap_or(text);
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let end = rest.find(['/', '?', '#']);
    if end.is_none() && !whole && !only_port_open(rest) {
        return None;
    }
    let authority = &rest[..end.unwrap_or(rest.len())];
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    let host = if let Some(v6) = host.strip_prefix('[') {
        v6.split(']').next().unwrap_or_default()
    } else {
        host.split(':').next().unwrap_or_default()
    };
    let host = host.trim_end_matches('.');
    (!host.is_empty() && !host.contains(['*', '{', '$'])).then(|| host.to_ascii_lowercase())
}
