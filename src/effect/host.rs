//! The host that a value names: a URL's, `user@host:path`, or a bare one.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::value::{BLANK, Value};

/// Is the host written out, and what is not known its port? (`localhost:$PORT`)
fn only_port_open(rest: &str) -> bool {
    rest.strip_suffix(':').is_some_and(|host| !host.is_empty() && !host.contains(['@', ':', '[']))
}

/// The file of this machine that a `file:` URL names: `file:///x`, `file://localhost/x`.
pub fn file_of(url: &str) -> Option<&str> {
    let rest =
        url.get(..7).filter(|scheme| scheme.eq_ignore_ascii_case("file://")).map(|_| &url[7..])?;
    let local = ["localhost", "127.0.0.1", "[::1]"].iter().find_map(|host| {
        let here = rest.get(..host.len())?.eq_ignore_ascii_case(host);
        here.then(|| &rest[host.len()..]).filter(|path| path.starts_with('/'))
    });
    Some(local.unwrap_or(rest))
}

/// The host of a URL, of `user@host:path`, or of a bare host, lower case and without port.
pub fn host_of(value: &Value) -> Option<String> {
    let (text, whole) = match (value.text(), value.outline()) {
        (Some(text), _) => (text, true),
        (None, Some(outline)) => (outline.split(BLANK).next().unwrap_or_default(), false),
        (None, None) => (value.prefix()?, false),
    };
    // URL parsers take `\\` for `/`, and need no slash behind the scheme.
    let web = text.get(..6).is_some_and(|t| t.to_ascii_lowercase().starts_with("http"));
    let slashes = text.split_once(':').filter(|(scheme, rest)| {
        web && matches!(scheme.len(), 4 | 5) && rest.starts_with(['/', '\\'])
    });
    let unified = slashes.map(|(_, rest)| rest.trim_start_matches(['/', '\\']).replace('\\', "/"));
    // What stands behind `?` may hold a URL as well.
    let scheme = |s: &str| s.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let named = text.split_once("://").filter(|(name, _)| scheme(name));
    let rest = unified.as_deref().or(named.map(|(_, rest)| rest)).unwrap_or(text);
    let end = rest.find(['/', '?', '#']);
    if end.is_none() && !whole && !only_port_open(rest) {
        return None;
    }
    let authority = &rest[..end.unwrap_or(rest.len())];
    let host = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    // Some parsers end the host at the first of these, others at the last.
    if web && text.contains('\\') && text.contains('@') {
        return None;
    }
    if let Some(v6) = host.strip_prefix('[') {
        return v6.split(']').next().filter(|v6| !v6.is_empty()).map(normalise_ipv6);
    }
    if host.split(':').count() > 2 && host.parse::<Ipv6Addr>().is_ok() {
        return Some(normalise_ipv6(host));
    }
    let host = host.split(':').next().unwrap_or_default().trim_end_matches('.');
    if host.is_empty() || host.contains(['*', '{', '$', '%', '\\']) {
        return None;
    }
    let host = host.to_ascii_lowercase();
    Some(parse_ipv4(&host).unwrap_or(host))
}

/// The address as the C library reads it, in its usual form: `127.1`, `0x7f000001`, `0177.0.0.1`.
fn parse_ipv4(host: &str) -> Option<String> {
    let mut parts = host.split('.').rev();
    let number = |text: &str| match text.strip_prefix("0x") {
        Some("") => Some(0),
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None if text.len() > 1 && text.starts_with('0') => u32::from_str_radix(text, 8).ok(),
        None => text.parse().ok(),
    };
    // The last part fills what the others leave.
    let mut address = number(parts.next()?)?;
    let others: Vec<&str> = parts.rev().collect();
    if others.len() > 3 || u64::from(address) >= 1 << (32 - 8 * others.len()) {
        return None;
    }
    for (at, part) in others.iter().enumerate() {
        address |= number(part).filter(|n| *n < 256)? << (24 - 8 * at);
    }
    Some(Ipv4Addr::from(address).to_string())
}

/// An address of version 6, of version 4 where it is one of those.
fn normalise_ipv6(host: &str) -> String {
    let address = host.split('%').next().unwrap_or_default().parse::<Ipv6Addr>().ok();
    match address.map(|a| (a, a.to_ipv4_mapped())) {
        Some((_, Some(four))) => four.to_string(),
        Some((six, None)) => six.to_string(),
        None => host.to_ascii_lowercase(),
    }
}

/// Is it this machine, by any of its names and addresses?
pub fn is_local(host: &str) -> bool {
    let number = |rest: &str| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    matches!(host, "localhost" | "0.0.0.0" | "::1" | "::")
        || host.ends_with(".localhost")
        || host.strip_prefix("127.").is_some_and(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts() {
        for (text, host) in [
            ("https://a.example/?u=https://b.example", Some("a.example")),
            ("a.example/x/https://b.example", Some("a.example")),
            ("https://b.example@a.example:1/x", Some("a.example")),
            ("https://b.example\\@a.example/", None),
            ("https://a.example%2f.b.example", None),
            ("http://0x7f.1", Some("127.0.0.1")),
            ("http://2130706433", Some("127.0.0.1")),
            ("http://0177.0.0.1", Some("127.0.0.1")),
            ("http://256.1.1.1", Some("256.1.1.1")),
            ("http://127.example.org", Some("127.example.org")),
            ("http://[0:0::1]:80/", Some("::1")),
            ("http://[::ffff:10.0.0.1]", Some("10.0.0.1")),
            ("::1", Some("::1")),
            ("a.example:x/y", Some("a.example")),
            ("http://1.2.3.4.5", Some("1.2.3.4.5")),
        ] {
            assert_eq!(host_of(&Value::known(text, 0..0)).as_deref(), host, "{text}");
        }
        assert!(is_local("127.0.0.1") && is_local("x.localhost"));
        assert!(!is_local("127.example.org") && !is_local("localhost.example.org"));
    }
}
