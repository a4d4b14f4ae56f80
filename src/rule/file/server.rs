//! The server protocol's own settings, under its own names: `server.json` is read as one more
//! `[remote.server]`, and a command line can give the same. Every value goes through the reader of
//! `[remote.NAME]`.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use super::RuleFile;
use super::remote::{self, Remote, read_key};
use crate::dialect;
use crate::event::{Kind, KindSet};
use crate::json::{self, Data, Node};
use crate::rule::fault::Gravity;
use crate::rule::packed::item_from_toml;
use crate::rule::reader::{Item, Reader, Table, TreeValue};

/// The name of the server that these settings are about.
pub const NAME: &str = "server";

/// The settings, and the keys of `[remote.NAME]` that they are.
pub const SETTINGS: &[(&str, &str)] = &[
    ("server_url", "url"),
    ("server_urls", "url"),
    ("timeout_ms", "timeout_ms"),
    ("retry_count", "retry_count"),
    ("retry_delay_ms", "retry_delay_ms"),
    ("deadline_ms", "deadline_ms"),
    ("fail_open", "fail_open"),
];

/// The server's address where `server.json` names none: the one in the protocol's own configuration.
const ADDRESS: &str = "http://localhost:8080/hook";

/// The events that the protocol defines: the server gets them all.
const EVENTS: KindSet = KindSet::from_kinds(&[
    Kind::PreToolUse,
    Kind::PostToolUse,
    Kind::UserPromptSubmit,
    Kind::Notification,
    Kind::Stop,
    Kind::SubagentStop,
    Kind::PreCompact,
]);

/// Settings with their values as they were typed, the last of a name counts.
pub type Typed = Vec<(&'static str, String)>;

/// The setting that a flag is for: `--server-url`.
pub fn of_flag(flag: &str) -> Option<&'static str> {
    let name = flag.strip_prefix("--")?;
    let same = |setting: &&str| {
        *setting != "server_urls"
            && setting.len() == name.len()
            && setting.bytes().zip(name.bytes()).all(|(a, b)| b == if a == b'_' { b'-' } else { a })
    };
    SETTINGS.iter().map(|(setting, _)| *setting).find(same)
}

/// Reads `server.json`.
pub fn read_server_file(text: &str) -> RuleFile {
    let mut r = Reader { private: true, ..Reader::new(text) };
    let remote = read_settings(text, &mut r);
    let mut file = RuleFile { faults: r.faults, ..RuleFile::default() };
    if file.has_errors() {
        // Which events are not asked about now, nobody knows.
        file.broken = KindSet::ALL;
    } else {
        file.remotes.extend(remote);
    }
    file
}

fn read_settings(text: &str, r: &mut Reader<'_>) -> Option<Remote> {
    let node = match json::parse_with_comments(text) {
        Ok(node) => node,
        Err(fault) => {
            let end = text.len().min(fault.offset + 1);
            r.add_error("syntax", fault.message, fault.offset.min(end)..end).with_hint(fault.hint);
            return None;
        }
    };
    let Some(members) = node.members() else {
        let message = format!("expected an object, found {}", node.kind_name());
        r.add_error("wrong-type", message, node.span)
            .with_hint("write { \"server_url\": \"...\" }");
        return None;
    };
    let mut remote = Remote { events: EVENTS, ..Remote::new(NAME, dialect::default_dialect()) };
    let mut seen: Vec<&str> = Vec::new();
    for member in members {
        let span = member.key_span.clone();
        let Some((setting, key)) = SETTINGS.iter().find(|(name, _)| *name == member.key) else {
            add_unknown_key(&member.key, span, r);
            continue;
        };
        if seen.contains(key) {
            let message = format!("`{setting}` says again what stands above it");
            r.add_error("bad-remote", message, span).with_hint("take one of them out");
        }
        seen.push(key);
        match to_toml_value(&member.value, text) {
            Some(value) => read_key(key, &value, &mut remote, r),
            None => {
                let message = format!("`{setting}` cannot be {}", member.value.kind_name());
                r.add_error("wrong-type", message, member.value.span.clone());
            }
        }
    }
    if !seen.contains(&"url") {
        let value = Spanned::new(node.span, TreeValue::String(ADDRESS));
        read_key("url", &value, &mut remote, r);
    }
    Some(remote)
}

fn add_unknown_key(key: &str, span: Range<usize>, r: &mut Reader<'_>) {
    if remote::remote_keys().any(|(known, _)| known == key) {
        let hint =
            format!("it belongs into config.toml, under a [remote.{NAME}] in this file's place");
        r.add_error("unknown-key", format!("unknown key `{key}`"), span).with_hint(hint);
    } else {
        r.unknown_key(key, span, SETTINGS.iter().map(|(setting, _)| *setting));
    }
}

/// A JSON value as the same in TOML; None where there is no such thing.
fn to_toml_value<'t>(node: &'t Node, text: &'t str) -> Option<Item<'t>> {
    let value = match &node.data {
        Data::String(text) => TreeValue::String(text),
        Data::Array(items) => TreeValue::Array(
            items.iter().map(|item| to_toml_value(item, text)).collect::<Option<_>>()?,
        ),
        Data::Object(_) => TreeValue::Table(Table::default()),
        Data::Scalar(serde_json::Value::Bool(flag)) => TreeValue::Boolean(*flag),
        // Numbers are written alike.
        Data::Scalar(_) => {
            TreeValue::Other(Box::new(DeValue::parse(&text[node.span.clone()]).ok()?.into_inner()))
        }
    };
    Some(Spanned::new(node.span.clone(), value))
}

/// What was typed takes the place of what `known` says; without a `known`, it is a server of its
/// own.
///
/// # Errors
/// What is wrong with it, with its flag.
pub fn override_remote(known: Option<&Remote>, typed: &Typed) -> Result<Remote, String> {
    let new = || Remote { events: EVENTS, ..Remote::new(NAME, dialect::default_dialect()) };
    let mut remote = known.cloned().unwrap_or_else(new);
    for (setting, text) in typed {
        let Some((_, key)) = SETTINGS.iter().find(|(name, _)| name == setting) else { continue };
        let mut r = Reader::new(text);
        // Addresses are texts in TOML, and all else is written alike.
        let parsed = DeValue::parse(text).ok().filter(|_| *key != "url");
        let written = || Spanned::new(0..text.len(), TreeValue::String(text));
        let value = parsed.as_ref().map_or_else(written, item_from_toml);
        read_key(key, &value, &mut remote, &mut r);
        if let Some(fault) = r.faults.iter().find(|fault| fault.gravity == Gravity::Error) {
            return Err(format!("{setting}: {}", fault.message));
        }
    }
    let keyed = |remote: &Remote| {
        let secrets = remote.token.is_some() || remote.hmac.is_some() || remote.identity.is_some();
        secrets || !remote.headers.is_empty()
    };
    if known.is_some_and(|known| keyed(known) && known.urls != remote.urls) {
        return Err(format!(
            "server_url: what [remote.{NAME}] signs in with is for its own address"
        ));
    }
    if remote.urls.is_empty() {
        return Err(format!(
            "a server has an address: add {} or a server.json",
            flag_name("server_url")
        ));
    }
    Ok(remote)
}

/// A setting as a flag.
pub fn flag_name(setting: &str) -> String {
    format!("--{}", setting.replace('_', "-"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    const SEED: &str = "{\n  \"server_url\": \"http://localhost:8080/hook\",\n  \"timeout_ms\": 700,\n  \
        \"retry_count\": 2,\n  \"retry_delay_ms\": 10,\n  \
        \"fail_open\": false  // If true, allow on server failure\n}\n";

    #[test]
    fn s1_35_the_five_settings_under_these_names() {
        let file = read_server_file(SEED);
        assert!(file.faults.is_empty(), "{:?}", file.faults);
        let remote = &file.remotes[0];
        assert_eq!((remote.name.as_str(), remote.retries, remote.fail_open), ("server", 2, false));
        assert_eq!(remote.urls[0].text, "http://localhost:8080/hook");
        assert_eq!(remote.timeout, Duration::from_millis(700));
        assert_eq!(remote.delay, Duration::from_millis(10));
        assert_eq!(remote.dialect.scope_name(), "hooks-server");
        assert_eq!(remote.events.iter().count(), 7);
        let more =
            r#"{"server_urls": ["http://localhost:1/a", "http://[::1]:2/b"], "deadline_ms": 900}"#;
        let remote = &read_server_file(more).remotes[0];
        assert_eq!((remote.urls.len(), remote.deadline), (2, Duration::from_millis(900)));
        assert!(remote.fail_open && remote.retries == 3);
    }

    #[test]
    fn s1_35_without_an_address_it_is_the_protocols_own() {
        for text in ["{}", r#"{ "timeout_ms": 700, "fail_open": false }"#, "{ /* ours */ }"] {
            let file = read_server_file(text);
            assert!(file.faults.is_empty(), "{text}: {:?}", file.faults);
            let urls: Vec<&str> =
                file.remotes[0].urls.iter().map(|url| url.text.as_str()).collect();
            assert_eq!(urls, ["http://localhost:8080/hook"], "{text}");
        }
    }

    #[test]
    fn s1_35_every_fault_has_its_place() {
        let url = r#""server_url": "http://localhost:1""#;
        for (text, code, at) in [
            ("".to_string(), "syntax", ""),
            (format!("{{ {url}, }}"), "syntax", ","),
            ("[]".into(), "wrong-type", "[]"),
            (r#"{ "server_url": null }"#.into(), "wrong-type", "null"),
            (r#"{ "server_urls": [] }"#.into(), "empty-list", "[]"),
            (format!("{{ {url}, \"retries\": 3 }}"), "unknown-key", "\"retries\""),
            (format!("{{ {url}, \"token_file\": \"x\" }}"), "unknown-key", "\"token_file\""),
            (format!("{{ {url}, \"timeout_ms\": \"5 s\" }}"), "wrong-type", "\"5 s\""),
            (format!("{{ {url}, \"timeout_ms\": 1.5 }}"), "wrong-type", "1.5"),
            (format!("{{ {url}, \"timeout_ms\": null }}"), "wrong-type", "null"),
            (format!("{{ {url}, \"fail_open\": {{}} }}"), "wrong-type", "{}"),
            (format!("{{ {url}, \"retry_count\": -1 }}"), "out-of-range", "-1"),
            (
                format!("{{ {url}, \"retry_count\": 1, \"retry_count\": 2 }}"),
                "bad-remote",
                "\"retry_count\"",
            ),
            (
                format!("{{ {url}, \"server_urls\": [\"http://x\"] }}"),
                "bad-remote",
                "\"server_urls\"",
            ),
            (r#"{ "server_url": "ftp://x" }"#.into(), "bad-url", "\"ftp://x\""),
        ] {
            let file = read_server_file(&text);
            let fault = file.faults.iter().find(|fault| fault.gravity == Gravity::Error).unwrap();
            assert_eq!((fault.code, &text[fault.span.clone()]), (code, at), "{text}");
            assert!(file.remotes.is_empty() && file.broken == KindSet::ALL, "{text}");
        }
    }

    #[test]
    fn s1_35_what_is_typed_overrides() {
        let known = read_server_file(SEED).remotes.remove(0);
        let typed = |list: &[(&'static str, &str)]| -> Typed {
            list.iter().map(|(name, value)| (*name, (*value).to_string())).collect()
        };
        let mixed = typed(&[("fail_open", "true"), ("timeout_ms", "30"), ("timeout_ms", "40")]);
        let remote = override_remote(Some(&known), &mixed).unwrap();
        assert!(remote.fail_open && remote.retries == 2);
        assert_eq!(remote.timeout, Duration::from_millis(40));
        let alone = override_remote(None, &typed(&[("server_url", "http://localhost:1")])).unwrap();
        assert_eq!((alone.urls.len(), alone.retries, alone.events), (1, 3, EVENTS));
        for (list, part) in [
            (&[("fail_open", "false")][..], "--server-url"),
            (&[("fail_open", "no")], "fail_open: expected true"),
            (&[("retry_count", "99")], "from 0 to 10"),
            (&[("server_url", "localhost:8080")], "http"),
        ] {
            let why = override_remote(None, &typed(list)).unwrap_err();
            assert!(why.contains(part), "{why}");
        }
    }

    #[test]
    fn sx_07_a_key_is_not_sent_to_an_address_that_was_typed() {
        let mut known = read_server_file(SEED).remotes.remove(0);
        known.headers.push(("X-Key".into(), "k".into()));
        let url = vec![("server_url", "http://localhost:1".to_string())];
        assert!(override_remote(Some(&known), &url).unwrap_err().contains("its own address"));
        assert!(override_remote(Some(&known), &vec![("timeout_ms", "30".to_string())]).is_ok());
    }

    #[test]
    fn flags_are_the_settings() {
        assert_eq!(of_flag("--retry-delay-ms"), Some("retry_delay_ms"));
        for other in ["--retry_count", "--server-urls", "--timeout", "fail-open"] {
            assert_eq!(of_flag(other), None, "{other}");
        }
    }
}
