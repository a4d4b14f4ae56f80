//! The host that a value names: a URL's, `user@host:path`, or a bare one.

use std::net::{Ipv4Addr, Ipv6Addr};

use super::value::{BLANK, Value};
use crate::names::host::METADATA;

/// The text behind percent signs: `%2E` is a dot.
pub fn decode_percent(text: &str) -> String {
    let mut out = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let code = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                out.push(byte);
                rest = &tail[2..];
            }
            None => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

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

/// The host in a connection string of PostgreSQL (`host=db.example.com dbname=x`); a path there is a socket's.
pub fn connection_host(text: &str) -> Option<&str> {
    // Blanks may stand around the sign, and of two hosts the one that is no socket is connected to.
    let parts: Vec<&str> = text.split('=').collect();
    let mut pairs = parts.windows(2).enumerate().filter_map(|(at, pair)| {
        let mut words = pair[1].split_whitespace();
        let value = words.next()?;
        // Where one word alone stands before the next sign, it is the next key.
        let empty = words.next().is_none() && at + 2 < parts.len();
        (!empty).then_some((pair[0].split_whitespace().last()?, value))
    });
    pairs.find_map(|(key, host)| {
        let host = host.trim_matches('\'');
        let named =
            matches!(key, "host" | "hostaddr") && !host.is_empty() && !host.starts_with('/');
        named.then_some(host)
    })
}

/// The host of a URL, of `user@host:path`, or of a bare host, lower case and without port.
pub fn host_of(value: &Value) -> Option<String> {
    let (text, whole) = match (value.text(), value.outline()) {
        (Some(text), _) => (text, true),
        (None, Some(outline)) => (outline.split(BLANK).next().unwrap_or_default(), false),
        (None, None) => (value.prefix()?, false),
    };
    // URL parsers take `\\` for `/`, need no slash behind the scheme, and know other dots.
    let web = text.get(..6).is_some_and(|t| t.to_ascii_lowercase().starts_with("http"));
    let slashes = text.split_once(':').filter(|(scheme, rest)| {
        ["http", "https"].iter().any(|name| scheme.eq_ignore_ascii_case(name)) && !rest.is_empty()
    });
    let unified = slashes.map(|(_, rest)| rest.trim_start_matches(['/', '\\']).replace('\\', "/"));
    // What stands behind `?` may hold a URL as well.
    let scheme = |s: &str| s.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b));
    let named = text.split_once("://").filter(|(name, _)| scheme(name));
    let rest = unified.as_deref().or(named.map(|(_, rest)| rest)).unwrap_or(text);
    let end = rest.find(['/', '?', '#']);
    // `https://user:$PASSWORD@host/`
    let login = || {
        let behind = value.outline().and_then(|outline| outline.split_once(BLANK));
        let authority = behind.and_then(|(_, behind)| behind.split(['/', '?', '#']).next());
        authority.is_some_and(|authority| authority.contains('@'))
    };
    if end.is_none() && !whole && (!only_port_open(rest) || login()) {
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
    let host = decode_percent(host.split(':').next().unwrap_or_default());
    let host = host.replace(['\u{3002}', '\u{ff0e}', '\u{ff61}'], ".");
    let host = host.trim_end_matches('.');
    // What a name cannot hold may end it for one program, and belong to it for another.
    let odd =
        |c: char| c.is_ascii() && !(c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_'));
    if host.is_empty() || host.contains(odd) {
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

/// An address of version 6, of version 4 where it is one of those: mapped, or behind a translator.
fn normalise_ipv6(host: &str) -> String {
    let address = host.split('%').next().unwrap_or_default().parse::<Ipv6Addr>().ok();
    let inner = |a: Ipv6Addr| match a.segments() {
        [first, second, 0, 0, 0, 0, high, low]
            if (first, second) == (0x64, 0xff9b) || first == 0 && second == 0 && high > 0 =>
        {
            Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)))
        }
        _ => a.to_ipv4_mapped(),
    };
    match address.map(|a| (a, inner(a))) {
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

/// Is it an address at which a cloud gives a machine its credentials, or a name that holds one?
pub fn gives_credentials(host: &str) -> bool {
    let part = |name: &str, sign: char| {
        memchr::memmem::find(host.as_bytes(), name.as_bytes()).is_some_and(|at| {
            let before = host[..at].chars().next_back();
            let behind = host[at + name.len()..].chars().next();
            [before, behind].iter().flatten().all(|c| !c.is_ascii_digit())
                && (behind == Some('.') || before == Some('.') || before == Some(sign))
        })
    };
    METADATA.iter().any(|name| {
        let address = name.starts_with(|c: char| c.is_ascii_digit());
        host == *name
            || !address && host.strip_suffix(name).is_some_and(|rest| rest.ends_with('.'))
            || address && !name.contains(':') && {
                part(name, '.') && host.parse::<Ipv4Addr>().is_err()
                    || part(&name.replace('.', "-"), '-')
                    || hex_name(name).is_some_and(|hex| host.split(['.', '-']).any(|l| l == hex))
            }
    })
}

/// The address as eight digits, as some name services take it.
fn hex_name(address: &str) -> Option<String> {
    address.parse::<Ipv4Addr>().ok().map(|four| format!("{:08x}", u32::from(four)))
}

/// Does a name mix scripts, or stand wholly in letters that look like Latin ones?
pub fn is_disguised(host: &str) -> bool {
    host.split('.').any(|label| match label.strip_prefix("xn--") {
        Some(code) => decode_punycode(code).is_some_and(|label| is_mixed(&label)),
        None => !label.is_ascii() && is_mixed(label),
    })
}

fn is_mixed(label: &str) -> bool {
    let latin = label.bytes().any(|b| b.is_ascii_alphabetic());
    let other = |c: char| matches!(c, '\u{370}'..='\u{58f}' | '\u{13a0}'..='\u{13ff}' | '\u{1c80}'..='\u{1c8f}' | '\u{1f00}'..='\u{1fff}' | '\u{2de0}'..='\u{2dff}' | '\u{a640}'..='\u{a69f}');
    let forged = |c: char| matches!(c, '\u{2460}'..='\u{24ff}' | '\u{ff01}'..='\u{ff5e}' | '\u{1d400}'..='\u{1d7ff}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}' | '\u{ad}' | '\u{2044}' | '\u{2215}');
    label.chars().any(forged)
        || latin && label.chars().any(other)
        || label.chars().all(|c| c == '-' || c.is_ascii_digit() || LOOKALIKES.contains(c))
            && !label.is_ascii()
}

/// Letters of other scripts that are seen as Latin ones.
const LOOKALIKES: &str = "аеорсухіјѕһԁԛԝӏүкмтвнгпαονρτυικωγ";

/// The label that an ASCII form stands for (RFC 3492).
fn decode_punycode(code: &str) -> Option<String> {
    let (basic, rest) = code.rsplit_once('-').unwrap_or(("", code));
    let mut out: Vec<char> = basic.chars().collect();
    let (mut point, mut at, mut bias) = (128_u32, 0_u32, 72_u32);
    let mut digits = rest.bytes().map(|b| match b {
        b'a'..=b'z' => Some(u32::from(b - b'a')),
        b'0'..=b'9' => Some(u32::from(b - b'0') + 26),
        _ => None,
    });
    while let Some(first) = digits.next() {
        let (start, mut weight, mut step, mut digit) = (at, 1_u32, 36, first?);
        loop {
            at = at.checked_add(digit.checked_mul(weight)?)?;
            let limit = if step <= bias { 1 } else { (step - bias).min(26) };
            if digit < limit {
                break;
            }
            weight = weight.checked_mul(36 - limit)?;
            step += 36;
            digit = digits.next()??;
        }
        let count = u32::try_from(out.len()).ok()? + 1;
        let mut delta = (at - start) / if start == 0 { 700 } else { 2 };
        delta += delta / count;
        bias = 0;
        while delta > 455 {
            delta /= 35;
            bias += 36;
        }
        bias += 36 * delta / (delta + 38);
        point = point.checked_add(at / count)?;
        at %= count;
        out.insert(usize::try_from(at).ok()?, char::from_u32(point)?);
        at += 1;
    }
    Some(out.into_iter().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_connection_string_names_its_host() {
        for (text, host) in [
            ("host=db.example dbname=x", Some("db.example")),
            ("dbname=x hostaddr=10.0.0.1", Some("10.0.0.1")),
            ("host='db.example'", Some("db.example")),
            ("host = db.example dbname = x", Some("db.example")),
            ("host=/tmp hostaddr=10.0.0.1", Some("10.0.0.1")),
            ("host='' hostaddr=10.0.0.1", Some("10.0.0.1")),
            ("host=/var/run/postgresql dbname=x", None),
            ("host= dbname=x", None),
            ("dbname=x", None),
            ("localhost", None),
        ] {
            assert_eq!(connection_host(text), host, "{text}");
        }
    }

    #[test]
    fn hosts() {
        for (text, host) in [
            ("https://a.example/?u=https://b.example", Some("a.example")),
            ("a.example/x/https://b.example", Some("a.example")),
            ("https://b.example@a.example:1/x", Some("a.example")),
            ("https://b.example\\@a.example/", None),
            ("https://a.example%2f.b.example", None),
            ("http://169%2E254.169.254/", Some("169.254.169.254")),
            ("http://169。254。169。254/", Some("169.254.169.254")),
            ("https:a.example/x", Some("a.example")),
            ("https://a.example%23.b.example", None),
            ("https://a.example%20.b.example", None),
            ("httpd:a/x", Some("httpd")),
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
        for host in [
            "169.254.169.254",
            "169.254.169.254.nip.io",
            "x.169-254-169-254.sslip.io",
            "a9fea9fe.nip.io",
            "fd00:ec2::254",
            "metadata.google.internal",
        ] {
            assert!(gives_credentials(host), "{host}");
        }
        for host in ["169.254.1.1", "1169.254.169.254.nip.io", "metadata.example.org"] {
            assert!(!gives_credentials(host), "{host}");
        }
        for host in ["gіthub.com", "xn--gthub-n2e.com", "xn--80ak6aa92e.com", "gοοgle.com"] {
            assert!(is_disguised(host), "{host}");
        }
        for host in ["github.com", "münchen.de", "xn--mnchen-3ya.de", "яндекс.рф", "例え.jp"]
        {
            assert!(!is_disguised(host), "{host}");
        }
        assert!(is_local("127.0.0.1") && is_local("x.localhost"));
        assert!(!is_local("127.example.org") && !is_local("localhost.example.org"));
    }
}
