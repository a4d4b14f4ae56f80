//! What counts as a secret in a text or a JSON value, and how it is taken out.
//!
//! Two tables: what a secret looks like, behind a literal that must be there before its regular
//! expression is even compiled, since most texts hold none of them and most processes live for half
//! a millisecond; and what a key is called whose value is one.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use memchr::memmem;
use serde_json::{Map, Value};

use crate::rule::Regex;

/// What stands in place of a secret.
pub const MASK: &str = "[redacted]";

/// No text that is shorter holds a secret.
const SHORTEST: usize = 6;

struct Secret {
    /// Lower-case literals, one of which every secret of the kind begins with.
    literals: &'static [&'static str],
    /// From there: the secret itself, or what leads to it in group 1 and the secret behind. Anchored,
    /// so that a look costs no more than what it matches.
    pattern: &'static str,
    sort: Sort,
    regex: OnceLock<Regex>,
}

#[derive(Clone, Copy, PartialEq)]
enum Sort {
    Plain,
    /// What looks like one and is a plain word is none: it is said in a sentence.
    Prose,
    /// Where a word fails, no later part of it is one.
    Run,
}

const fn secret(literals: &'static [&'static str], pattern: &'static str) -> Secret {
    sorted(Sort::Plain, literals, pattern)
}

const fn sorted(sort: Sort, literals: &'static [&'static str], pattern: &'static str) -> Secret {
    Secret { literals, pattern, sort, regex: OnceLock::new() }
}

static SECRETS: [Secret; 16] = [
    secret(
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"],
        r"^(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    secret(&["glpat-"], r"^glpat-[A-Za-z0-9_-]{16,}"),
    secret(
        &["sk-", "sk_live", "sk_test", "rk_live", "rk_test"],
        r"^(?:sk-[A-Za-z0-9_-]{16,}|[sr]k_(?:live|test)_[A-Za-z0-9]{10,})",
    ),
    secret(&["akia", "asia"], r"^A(?:KIA|SIA)[A-Z0-9]{16}\b"),
    secret(&["xox"], r"^xox[abeoprs]-[A-Za-z0-9-]{10,}"),
    secret(&["aiza"], r"^AIza[A-Za-z0-9_-]{30,}"),
    secret(&["npm_"], r"^npm_[A-Za-z0-9]{30,}"),
    secret(&["pypi-"], r"^pypi-[A-Za-z0-9_-]{40,}"),
    secret(&["hf_"], r"^hf_[A-Za-z0-9]{20,}"),
    secret(&["dop_v1_"], r"^dop_v1_[a-f0-9]{40,}"),
    sorted(Sort::Run, &["eyj"], r"^eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*"),
    secret(
        &["-----begin"],
        r"^-----BEGIN [A-Z ]*PRIVATE KEY-----(?s:.*?)(?:-----END [A-Z ]*PRIVATE KEY-----|$)",
    ),
    secret(&["://"], r"^(://)[^/\s@'\x22]+@"),
    secret(
        &["authorization"],
        r"^(?i)(authorization[\x22'\\]*\s*[:=]\s*[\x22'\\]*(?:[a-z]+\s+)?)[A-Za-z0-9._~+/=-]{8,}",
    ),
    sorted(Sort::Prose, &["bearer", "basic"], r"^(?i)((?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{8,}"),
    secret(&["cookie"], r"^(?i)(cookie\s*:\s*)[^\x22'\r\n]{4,}"),
];

/// A key that holds one of these, in lower case, has a secret for its value.
const KEYS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "api_key",
    "apikey",
    "api-key",
    "access_key",
    "accesskey",
    "access-key",
    "account_key",
    "accountkey",
    "private_key",
    "privatekey",
    "private-key",
    "credential",
];

/// But not if its last word is one of these: it speaks of the secret and does not hold it.
const ABOUT: &[&str] = &[
    "budget",
    "count",
    "dir",
    "expires",
    "expiry",
    "file",
    "length",
    "limit",
    "name",
    "path",
    "size",
    "stdin",
    "tokenize",
    "tokenizer",
    "ttl",
    "type",
    "uri",
    "url",
    "usage",
];

/// Keys of a JSON object that are too short or too common to be looked for in texts.
const FIELDS: &[&str] =
    &["auth", "authorization", "cookie", "pass", "proxy-authorization", "set-cookie"];

/// The text with everything that looks like a secret masked; borrowed where nothing does.
pub fn secrets(text: &str) -> Cow<'_, str> {
    if text.len() < SHORTEST {
        return Cow::Borrowed(text);
    }
    let mut lower = text.to_ascii_lowercase();
    let mut out = Cow::Borrowed(text);
    for secret in &SECRETS {
        if let Some(masked) = secret.mask(&out, &lower) {
            lower = masked.to_ascii_lowercase();
            out = masked.into();
        }
    }
    if KEYS.iter().any(|key| lower.contains(key))
        && let Some(masked) = values(&out, &lower)
    {
        out = masked.into();
    }
    match out {
        // A mask was masked.
        Cow::Owned(same) if same == text => Cow::Borrowed(text),
        out => out,
    }
}

impl Secret {
    /// The text with these masked; None where there is none. `lower`: the same text.
    fn mask(&self, text: &str, lower: &str) -> Option<String> {
        if !self.literals.iter().any(|literal| lower.contains(literal)) {
            return None;
        }
        let regex = self.regex.get_or_init(|| Regex::new(self.pattern)).get()?;
        let word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
        let mut out = String::new();
        let (mut done, mut past) = (0, 0);
        for hit in hits(lower, self.literals) {
            let bytes = &text.as_bytes()[hit..];
            let within = word(&bytes[0]) && hit > 0 && word(&text.as_bytes()[hit - 1]);
            if hit < past || within {
                continue;
            }
            let found = regex.captures(&text[hit..]).map(|found| {
                (found.get(1).map_or(0, |lead| lead.end()), found.get(0).map_or(0, |all| all.end()))
            });
            match found {
                Some((start, end))
                    if self.sort != Sort::Prose
                        || !bytes[start..end].iter().all(u8::is_ascii_lowercase) =>
                {
                    out.push_str(&text[done..hit + start]);
                    out.push_str(MASK);
                    (done, past) = (hit + end, hit + end);
                }
                None if self.sort == Sort::Run => {
                    past = hit + bytes.iter().take_while(|b| word(b) || **b == b'-').count();
                }
                _ => {}
            }
        }
        (done > 0).then(|| out + &text[done..])
    }
}

/// Where one of the literals begins, from left to right.
fn hits(lower: &str, literals: &[&str]) -> Vec<usize> {
    let all = literals.iter().flat_map(|word| memmem::find_iter(lower.as_bytes(), word.as_bytes()));
    let mut all: Vec<usize> = all.collect();
    all.sort_unstable();
    all
}
/// Masks every secret in the texts of a JSON value, and whole texts under a key that tells of one.
/// Keys stay. Was there any?
pub fn json(value: &mut Value) -> bool {
    walk(value, false)
}

/// The same for the fields of an object.
pub fn fields(map: &mut Map<String, Value>) -> bool {
    object(map, false)
}

fn walk(value: &mut Value, told: bool) -> bool {
    let mut any = false;
    match value {
        Value::String(text) if told => {
            any = !text.is_empty() && text != MASK;
            if any {
                *text = MASK.into();
            }
        }
        Value::String(text) => {
            if let Cow::Owned(masked) = secrets(text) {
                *text = masked;
                any = true;
            }
        }
        Value::Array(items) => {
            // ["--password", "x"]
            let mut flag = false;
            for item in items {
                let text = item.as_str();
                let next = text.is_some_and(|text| {
                    text.starts_with('-') && !text.contains('=') && tells(text, "")
                });
                any |= walk(item, told || flag);
                flag = next;
            }
        }
        Value::Object(map) => any = object(map, told),
        _ => {}
    }
    any
}

fn object(map: &mut Map<String, Value>, told: bool) -> bool {
    let field = |key: &str, value: &str| {
        tells(key, value) || FIELDS.iter().any(|field| field.eq_ignore_ascii_case(key))
    };
    // {"name": "API_KEY", "value": "x"}
    let named = ["name", "key", "header"]
        .iter()
        .any(|key| map.get(*key).and_then(Value::as_str).is_some_and(|name| field(name, "")));
    let mut any = false;
    for (key, value) in map {
        // What is not one text counts as a number would: `tokens` are more often counted.
        let text = value.as_str().unwrap_or("0");
        let told = told || field(key, text) || named && key == "value";
        any |= walk(value, told);
    }
    any
}

/// Does a key of this name hold a secret, if this is its value?
fn tells(key: &str, value: &str) -> bool {
    let lower = key.to_ascii_lowercase();
    let number = |b: u8| b.is_ascii_digit() || b"._,".contains(&b);
    KEYS.iter().any(|word| lower.contains(word))
        && !ABOUT.contains(&last_word(key).as_str())
        && !(lower.ends_with("tokens") && !value.is_empty() && value.bytes().all(number))
}

/// `tokenFile`, `token_file` and `token-file` all end in `file`.
fn last_word(key: &str) -> String {
    let bytes = key.as_bytes();
    let begins = |at: &usize| {
        let before = at.checked_sub(1).map_or(b'_', |before| bytes[before]);
        matches!(before, b'_' | b'-')
            || bytes[*at].is_ascii_uppercase() && before.is_ascii_lowercase()
    };
    let start = (0..bytes.len()).rev().find(begins).unwrap_or(0);
    key.get(start..).unwrap_or(key).to_ascii_lowercase()
}

/// The text with the value behind each key that tells of a secret masked: `API_KEY=x`,
/// `"password": "x y"`, `--token x`. None where there is none.
fn values(text: &str, lower: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut done, mut past) = (0, 0);
    for hit in hits(lower, KEYS) {
        if hit < past {
            continue;
        }
        let letter = |b: &&u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-');
        let start = hit - bytes[past..hit].iter().rev().take_while(letter).count();
        let end = hit + bytes[hit..].iter().take_while(letter).count();
        past = end;
        if let Some(value) = value(text, start..end) {
            out.push_str(&text[done..value.start]);
            out.push_str(MASK);
            (done, past) = (value.end, value.end);
        }
    }
    (done > 0).then(|| out + &text[done..])
}

/// Where the secret is that the key at this place tells of.
fn value(text: &str, key: Range<usize>) -> Option<Range<usize>> {
    let name = &text[key.clone()];
    // Before its value is looked at, which may be long.
    if ABOUT.contains(&last_word(name).as_str()) {
        return None;
    }
    let bytes = text.as_bytes();
    let over =
        |at: usize, set: &[u8]| at + bytes[at..].iter().take_while(|b| set.contains(b)).count();
    // JSON inside of JSON has backslashes before its quotes.
    let quote = |at: usize| {
        let sign = over(at, b"\\");
        bytes.get(sign).filter(|b| matches!(b, b'"' | b'\'')).map(|quote| (sign + 1, *quote))
    };
    let closed = quote(key.end).map_or(key.end, |(at, _)| at);
    let blank = over(closed, b" \t");
    let sign = over(blank, b":=>");
    let assigned = sign > blank;
    let opening = over(sign, b" \t");
    if opening == closed {
        return None;
    }
    let (start, end) = match quote(opening) {
        Some((start, quote)) => {
            let escaped = start > opening + 1;
            let mut at = start;
            while let Some(b) = bytes.get(at).filter(|b| **b != b'\n' && **b != quote) {
                let inner = *b == b'\\' && bytes.get(at + 1) == Some(&quote);
                if inner && escaped {
                    break;
                }
                at += if inner { 2 } else { 1 };
            }
            (start, at)
        }
        None => {
            let inside = |at: &usize| {
                let b = bytes[*at];
                let escape = b == b'\\' && matches!(bytes.get(at + 1), Some(b'"' | b'\''));
                !b.is_ascii_whitespace() && !b"\"',;&|)".contains(&b) && !escape
            };
            (opening, (opening..bytes.len()).find(|at| !inside(at)).unwrap_or(bytes.len()))
        }
    };
    let value = &text[start..end];
    if value.len() < 4 || value == MASK || !tells(name, value) {
        return None;
    }
    if !assigned && !name.starts_with('-') {
        // A sentence, or a path: what follows a password may well be one, all else has a digit.
        let path = key.start > 0 && matches!(bytes[key.start - 1], b'/' | b'.' | b'\\');
        let word = name.to_ascii_lowercase().starts_with("pass");
        if path || !(word || value.bytes().any(|b| b.is_ascii_digit())) {
            return None;
        }
    }
    Some(start..end)
}

/// The text with every match of these masked; what a first group matched stays.
pub fn patterns(text: &str, patterns: &[Regex]) -> String {
    patterns.iter().fold(text.to_string(), |text, regex| {
        if regex.get().is_none() {
            return text;
        }
        let masked = regex.replace(&text, true, |found, out| {
            out.push_str(found.get(1).map_or("", |kept| kept.as_str()));
            out.push_str(MASK);
        });
        // What cannot be searched to its end is not shown.
        masked.unwrap_or_else(|| MASK.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn sx_07_secrets_are_masked() {
        for (text, gone) in [
            ("git clone https://bob:hunter2@x.org/r", "hunter2"),
            ("curl -H 'Authorization: Bearer abcdef123456'", "abcdef123456"),
            (r#"{"Authorization": "abcdef123456"}"#, "abcdef123456"),
            (r#"{\"authorization\": \"Basic abcdef123456\"}"#, "abcdef123456"),
            ("curl -H 'Set-Cookie: sid=abcdef; b=ghijkl'", "ghijkl"),
            ("eyJ-eyJhbGciOiJI.eyJhbGciOiJI.x a eyJhbGciOiJIUzI.eyJhbGciOiJI.x", "eyJhb"),
            ("ASIA asiatic sk-x rk_test_0123456789 AKIAIOSFODNN7EXAMPLE.", "0123"),
            ("export API_KEY=abcd1234", "abcd1234"),
            ("echo ghp_0123456789abcdefghijABCDEFGHIJ", "ghp_0"),
            ("aws AKIAIOSFODNN7EXAMPLE", "AKIAIO"),
            ("mysql --password=hunter2", "hunter2"),
            ("mysql --password hunter", "hunter"),
            ("machine x login bob password hunter", "hunter"),
            ("vault token hunter2", "hunter2"),
            ("{\"password\": \"hunter2\"}", "hunter2"),
            (r#"{\"password\": \"hun ter2\", \"a\": 1}"#, "ter2"),
            (r#"password = "correct \"horse\" battery""#, "battery"),
            ("password: 'correct horse battery'", "battery"),
            ("token_file=x token=hunter2", "hunter2"),
            ("token_url=https://x.org/?token=hunter2", "hunter2"),
            ("-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----", "abc"),
        ] {
            let masked = secrets(text);
            assert!(masked.contains(MASK) && !masked.contains(gone), "{text} -> {masked}");
            assert_eq!(secrets(&masked), masked, "twice");
        }
    }

    #[test]
    fn what_is_no_secret_stays() {
        for text in [
            "cargo build --release",
            "see https://x.org/a@b",
            "{\"input_tokens\": 123456, \"max_tokens\": \"4096\"}",
            "token_file = \"~/.config/policy.token\"",
            "docker login --password-stdin registry.example.org",
            "fix the token parser of the tokenizer: gpt-4o-mini",
            "a basic calculator in bearer bonds",
            "cat /run/secrets/token file1234",
            "tokenType: bearer",
            "password=[redacted]",
            "Cookie: [redacted]",
        ] {
            assert!(matches!(secrets(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn sx_07_values_under_a_telling_key_are_masked_whole() {
        let mut value = json!({
            "password": "x", "env": {"API_KEY": "y z"}, "credentials": {"user": "b", "pin": ["q"]},
            "headers": [{"name": "X-Auth-Token", "value": "v"}, {"name": "Accept", "value": "text"}],
            "args": ["--password", "w", "--verbose", "yes"], "Authorization": "k", "note": "token=abcd1234",
            "usage": {"output_tokens": 5000, "tokens": {"total": "12"}}, "file_path": "/a/b", "token_file": "/t"
        });
        assert!(json(&mut value));
        assert_eq!(
            value,
            json!({
                "password": MASK, "env": {"API_KEY": MASK},
                "credentials": {"user": MASK, "pin": [MASK]},
                "headers": [{"name": "X-Auth-Token", "value": MASK}, {"name": "Accept", "value": "text"}],
                "args": ["--password", MASK, "--verbose", "yes"], "Authorization": MASK,
                "note": "token=[redacted]",
                "usage": {"output_tokens": 5000, "tokens": {"total": "12"}}, "file_path": "/a/b", "token_file": "/t"
            })
        );
        assert!(!json(&mut value), "twice");
    }
}
