//! What counts as a secret in a text or a JSON value, and how it is taken out.
//!
//! One pass over the bytes, and no regular expression: a payload may be 16 MiB of short strings, and
//! each is looked at. At a byte that something may begin with it is asked what begins there: a token
//! of some service (`src/tokens.rs`, one table), a key or a header whose value is one, a login in a URL,
//! a private key. Whoever is asked gives up soon or takes what was looked at, so that the whole is
//! linear in the text.

use std::borrow::Cow;
use std::ops::Range;

use memchr::memmem;
use serde_json::{Map, Value};

use crate::names::redact::{ABOUT, FIELDS, KEYS, WORDS};
use crate::rule::Regex;
use crate::tokens::{self, is_start, is_word, run_length};

/// What stands in place of a secret.
pub const MASK: &str = "[redacted]";

/// No text that is shorter holds a secret.
const SHORTEST: usize = 6;

/// How much of a value is looked at to tell whether it is one, in bytes.
const LOOK: usize = 4096;

/// The text with everything that looks like a secret masked; borrowed where nothing does.
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    let mut scan = SecretScan { text, bytes: text.as_bytes(), done: 0, jwt: 0, word: 0 };
    let (mut out, mut at) = (String::new(), 0);
    // What is shorter holds none.
    let bytes = if text.len() >= SHORTEST { scan.bytes } else { &[] };
    while let Some(skipped) = find_start(bytes.get(at..).unwrap_or_default()) {
        at += skipped;
        let Some(found) = scan.find_secret(at, CLASSES[usize::from(bytes[at])]) else {
            at += 1;
            continue;
        };
        // A mask is masked once more, and stays the same.
        if &text[found.clone()] != MASK {
            out.push_str(&text[scan.done..found.start]);
            out.push_str(MASK);
            scan.done = found.end;
        }
        at = found.end.max(at + 1);
    }
    if scan.done == 0 { Cow::Borrowed(text) } else { (out + &text[scan.done..]).into() }
}

/// A token may begin with the byte.
const TOKEN: u8 = 1;
/// A word that tells of a secret may, or a header.
const WORD: u8 = 2;
/// What stands in a secret's middle may.
const MARK: u8 = 4;

static CLASSES: [u8; 256] = {
    let (mut classes, mut byte) = ([0; 256], 0u8);
    loop {
        if tokens::may_begin_token(byte) {
            classes[byte as usize] |= TOKEN;
        }
        if matches!(byte.to_ascii_lowercase(), b'a' | b'b' | b'c' | b'k' | b'p' | b's' | b't') {
            classes[byte as usize] |= WORD;
        }
        if matches!(byte, b':' | b'.' | b'-' | b'Q' | b'N' | b'?' | b'&') {
            classes[byte as usize] |= MARK;
        }
        if byte == 255 {
            break classes;
        }
        byte += 1;
    }
};

/// The first three letters of what tells of a secret, and of headers.
const HEADS: [[u8; 3]; 10] =
    [*b"aut", *b"bas", *b"bea", *b"coo", *b"cre", *b"key", *b"pas", *b"pwd", *b"sec", *b"tok"];

/// The first two letters of what stands in the middle of a secret.
const PAIRS: [[u8; 2]; 8] = [*b":/", *b":A", *b"--", *b"-u", *b"Q~", *b"NR", *b"?s", *b"&s"];

/// For each byte those that may follow where a token or such a word begins, by their last five bits, which
/// are the same for both cases of a letter.
static SECONDS: [u32; 256] = {
    let (mut seconds, mut at) = (tokens::SECONDS, 0);
    while at < HEADS.len() + PAIRS.len() {
        let (first, second) = match at.checked_sub(HEADS.len()) {
            None => (HEADS[at][0], HEADS[at][1]),
            Some(at) => (PAIRS[at][0], PAIRS[at][1]),
        };
        seconds[first as usize] |= 1 << (second & 31);
        seconds[first.to_ascii_uppercase() as usize] |= 1 << (second & 31);
        at += 1;
    }
    // Behind a point anything of a token: no blank, whose five bits are zero.
    seconds[b'.' as usize] = u32::MAX - 1;
    seconds
};

/// The first place where two bytes leave it open that anything of a secret stands there. Most texts have few.
fn find_start(bytes: &[u8]) -> Option<usize> {
    let (first, rest) = bytes.split_first()?;
    let mut seconds = SECONDS[usize::from(*first)];
    rest.iter().position(|second| {
        let starts = seconds >> (second & 31) & 1 != 0;
        seconds = SECONDS[usize::from(*second)];
        starts
    })
}

fn begins_with(bytes: &[u8], lower: &str) -> bool {
    let same = |(own, lower): (&u8, u8)| own.eq_ignore_ascii_case(&lower);
    bytes.len() >= lower.len() && bytes.iter().zip(lower.bytes()).all(same)
}

/// A text on its way through.
struct SecretScan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    /// Up to where it is masked.
    done: usize,
    /// Up to where no JWT begins.
    jwt: usize,
    /// Up to where keys were looked at.
    word: usize,
}

impl SecretScan<'_> {
    /// The secret that is seen at this place: there, behind it or around it.
    fn find_secret(&mut self, at: usize, class: u8) -> Option<Range<usize>> {
        let rest = &self.bytes[at..];
        if class & TOKEN != 0 && is_start(self.bytes, at) {
            let token = tokens::token_end(rest).or_else(|| self.jwt_length(at));
            if let Some(length) = token {
                return Some(at..at + length);
            }
        }
        if class & MARK != 0 {
            return match rest {
                [b':', b'/', b'/', ..] => self.find_url_secret(at + 3),
                [b'-', b'-', b'-', ..] => {
                    (at == 0 || self.bytes[at - 1] != b'-').then(|| private_key(self.text, at))?
                }
                [b'?' | b'&', b's', b'i', b'g', b'=', ..] => {
                    let length = run_length(&rest[5..], |b| is_word(b) || b"%+/=-".contains(&b));
                    (length >= 20).then(|| at + 5..at + 5 + length)
                }
                _ => tokens::token_around(self.bytes, self.done, at),
            };
        }
        let [first, second, third, ..] = rest else { return None };
        let head = [first | 0x20, second | 0x20, third | 0x20];
        if class & WORD == 0 || !HEADS.contains(&head) {
            return None;
        }
        let option = self.bytes[..at].ends_with(b"--");
        if is_start(self.bytes, at)
            && let Some(found) = find_header_secret(rest, option)
        {
            return Some(at + found.start..at + found.end);
        }
        self.find_key_value(at)
    }

    /// The length of a JWT: three parts, more where it is encrypted.
    fn jwt_length(&mut self, at: usize) -> Option<usize> {
        let rest = &self.bytes[at..];
        if at < self.jwt || !rest.starts_with(b"eyJ") {
            return None;
        }
        let part = |from: usize| run_length(&rest[from..], |b| is_word(b) || b == b'-');
        let head = part(0);
        let body = if rest.get(head) == Some(&b'.') { part(head + 1) } else { 0 };
        let end = head + 1 + body;
        if head < 11 || body < 8 || rest.get(end) != Some(&b'.') {
            // Where a word fails, no later part of it is one.
            self.jwt = at + head;
            return None;
        }
        Some(end + run_length(&rest[end..], |b| is_word(b) || matches!(b, b'-' | b'.')))
    }

    /// What is secret of a URL behind its `://`.
    fn find_url_secret(&self, at: usize) -> Option<Range<usize>> {
        let rest = &self.bytes[at..];
        let hook = tokens::webhook_secret(rest).map(|hook| at + hook.start..at + hook.end);
        hook.or_else(|| {
            let length = run_length(rest, |b| {
                !b.is_ascii_whitespace() && !matches!(b, b'/' | b'@' | b'\'' | b'"')
            });
            (length > 0 && rest.get(length) == Some(&b'@')).then(|| at..at + length + 1)
        })
    }

    /// The value of the key that holds the word at this place: `API_KEY=x`, `"password": "x y"`,
    /// `--token x`.
    fn find_key_value(&mut self, at: usize) -> Option<Range<usize>> {
        if at < self.word || !tells_at(self.bytes, self.done, at) {
            return None;
        }
        let letter = |b: u8| is_word(b) || b == b'-';
        let from = self.word.max(self.done);
        let mut start = at - self.bytes[from..at].iter().rev().take_while(|b| letter(**b)).count();
        // The letter of an escape belongs to no name.
        if start < at && start > 0 && self.bytes[start - 1] == b'\\' {
            start += 1;
        }
        let end = at + run_length(&self.bytes[at..], letter);
        self.word = end;
        keyed_secret(self.text, start..end)
    }
}

/// Does a word that tells of a secret stand here? What belongs to it begins not before `from`.
fn tells_at(bytes: &[u8], from: usize, at: usize) -> bool {
    let rest = &bytes[at..];
    match rest {
        [b'p' | b'P', b'a' | b'A', ..] | [b's' | b'S' | b't' | b'T' | b'c' | b'C', ..] => {
            WORDS.iter().any(|word| begins_with(rest, word))
        }
        [b'p' | b'P', ..] => {
            // `PWD` alone is where a shell is.
            begins_with(rest, "pwd") && at > from && matches!(bytes[at - 1], b'_' | b';')
        }
        [b'k' | b'K', ..] => {
            let before = &bytes[from..at];
            let before = before.strip_suffix(b"_").or(before.strip_suffix(b"-")).unwrap_or(before);
            begins_with(rest, "key")
                && KEYS.iter().any(|word| {
                    before
                        .len()
                        .checked_sub(word.len())
                        .is_some_and(|start| before[start..].eq_ignore_ascii_case(word.as_bytes()))
                })
        }
        _ => false,
    }
}

/// The secret in a header, or what is written like one; `option`: dashes stand before it.
fn find_header_secret(rest: &[u8], option: bool) -> Option<Range<usize>> {
    if begins_with(rest, "authorization") {
        authorization_secret(rest)
    } else if begins_with(rest, "cookie") {
        cookie_secret(rest, option)
    } else if begins_with(rest, "bearer") || begins_with(rest, "basic") {
        let word = run_length(rest, |b| b.is_ascii_alphabetic());
        let start = word + run_length(&rest[word..], |b| b.is_ascii_whitespace());
        if start > word && matches!(word, 5 | 6) { find_credentials(rest, start) } else { None }
    } else {
        None
    }
}

fn skip_blanks(rest: &[u8], at: usize) -> usize {
    at + run_length(&rest[at..], |b| matches!(b, b' ' | b'\t'))
}

/// JSON inside of JSON has backslashes before its quotes.
fn skip_quotes(rest: &[u8], at: usize) -> usize {
    at + run_length(&rest[at..], |b| matches!(b, b'"' | b'\'' | b'\\'))
}

/// How far the line goes, or what quotes it; no further than `most`.
fn line_end(rest: &[u8], at: usize, most: usize) -> usize {
    let most = rest.len().min(at + most);
    at + run_length(&rest[at..most], |b| !matches!(b, b'"' | b'\'' | b'\\' | b'\r' | b'\n'))
}

/// What stands there, if it is no word: a sentence speaks of all of these as well.
fn find_credentials(rest: &[u8], start: usize) -> Option<Range<usize>> {
    let end = start
        + run_length(&rest[start..], |b| b.is_ascii_alphanumeric() || b"._~+/=-".contains(&b));
    (end >= start + 8 && !is_prose(&rest[start..end])).then_some(start..end)
}

fn authorization_secret(rest: &[u8]) -> Option<Range<usize>> {
    let sign = skip_blanks(rest, skip_quotes(rest, "authorization".len()));
    if !matches!(rest.get(sign), Some(b':' | b'=')) {
        return None;
    }
    let start = skip_quotes(rest, skip_blanks(rest, sign + 1));
    let scheme = start + run_length(&rest[start..], |b| is_word(b) || b == b'-');
    let behind = skip_blanks(rest, scheme);
    let found = if behind > scheme { find_credentials(rest, behind) } else { None };
    let found = found.or_else(|| find_credentials(rest, start))?;
    // A scheme with parameters holds its secret in one of them.
    let end = line_end(rest, found.end, 512);
    let parameters = rest[found.end..end].contains(&b',');
    Some(found.start..if parameters { end } else { found.end })
}

fn cookie_secret(rest: &[u8], option: bool) -> Option<Range<usize>> {
    let word = "cookie".len();
    let sign = skip_blanks(rest, skip_quotes(rest, word));
    let start = match rest.get(sign) {
        Some(b':') => skip_quotes(rest, skip_blanks(rest, sign + 1)),
        Some(b'=') if option => skip_quotes(rest, sign + 1),
        Some(_) if option && sign > word => skip_quotes(rest, sign),
        _ => return None,
    };
    // A cookie has a name.
    let name = run_length(&rest[start..line_end(rest, start, 256)], |b| !b" ;,&=".contains(&b));
    let named = rest.get(start + name) == Some(&b'=');
    let end = if named { line_end(rest, start, usize::MAX - start) } else { start };
    (end >= start + 4).then_some(start..end)
}

/// Words, and nothing drawn by chance.
fn is_prose(text: &[u8]) -> bool {
    let camel = text.windows(2).any(|w| w[0].is_ascii_lowercase() && w[1].is_ascii_uppercase());
    !camel && !text.iter().any(|b| b.is_ascii_digit() || matches!(b, b'=' | b'+' | b'~' | b'_'))
}

/// A private key from its first line on, to its last one.
fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    let dashes = run_length(&text.as_bytes()[at..], |b| b == b'-');
    let label = text[at + dashes..].trim_start_matches(' ').strip_prefix("BEGIN ")?;
    let line = label.get(
        ..run_length(label.as_bytes(), |b| {
            b.is_ascii_uppercase() || b.is_ascii_digit() || b == b' '
        }),
    )?;
    if !line.contains("PRIVATE KEY") {
        return None;
    }
    let end = match memmem::find(label.as_bytes(), b"PRIVATE KEY") {
        None => text.len(),
        Some(first) => {
            let start = text.len() - label.len() + first + 11;
            memmem::find(&text.as_bytes()[start..], b"PRIVATE KEY").map_or(text.len(), |found| {
                let end = start + found + 11;
                end + run_length(&text.as_bytes()[end..], |b| {
                    b == b'-' || b == b' ' || b.is_ascii_uppercase()
                })
            })
        }
    };
    Some(at..end)
}

/// Masks every secret in the texts of a JSON value, and whole texts under a key that tells of one.
/// Keys stay. Was there any?
pub fn mask_json(value: &mut Value) -> bool {
    mask_json_value(value, false)
}

/// The same for the fields of an object.
pub fn mask_fields(map: &mut Map<String, Value>) -> bool {
    mask_object(map, false)
}

fn mask_json_value(value: &mut Value, told: bool) -> bool {
    let mut any = false;
    match value {
        Value::String(text) if told => {
            any = !text.is_empty() && text != MASK;
            if any {
                *text = MASK.into();
            }
        }
        Value::String(text) => {
            if let Cow::Owned(masked) = mask_secrets(text) {
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
                    text.starts_with('-') && !text.contains('=') && names_secret(text, "")
                });
                any |= mask_json_value(item, told || flag);
                flag = next;
            }
        }
        Value::Object(map) => any = mask_object(map, told),
        _ => {}
    }
    any
}

fn mask_object(map: &mut Map<String, Value>, told: bool) -> bool {
    let field = |key: &str, value: &str| {
        names_secret(key, value) || FIELDS.iter().any(|field| field.eq_ignore_ascii_case(key))
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
        any |= mask_json_value(value, told);
    }
    any
}

/// Does a key of this name hold a secret, if this is its value?
fn names_secret(key: &str, value: &str) -> bool {
    (0..key.len()).any(|at| tells_at(key.as_bytes(), 0, at))
        && !ABOUT.contains(&last_word(key).as_str())
        && !is_count(key, value)
}

/// `max_tokens = 4096`.
fn is_count(key: &str, value: &str) -> bool {
    let start = key.len().saturating_sub("tokens".len());
    let number = run_length(value.as_bytes(), |b| b.is_ascii_digit() || b"._,".contains(&b));
    let ends = value.as_bytes().get(number).is_none_or(|b| !is_word(*b));
    key.as_bytes()[start..].eq_ignore_ascii_case(b"tokens") && number > 0 && ends
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

/// Where the secret is that the key at this place tells of.
fn keyed_secret(text: &str, key: Range<usize>) -> Option<Range<usize>> {
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
    // What is not assigned may be a sentence, whose end is not looked for.
    let limit = if assigned { bytes.len() } else { bytes.len().min(opening + LOOK) };
    let (start, end) = match quote(opening) {
        Some((start, quote)) => {
            let escaped = start > opening + 1;
            let mut at = start;
            while let Some(b) = bytes[..limit].get(at).filter(|b| **b != b'\n' && **b != quote) {
                let inner = *b == b'\\' && bytes.get(at + 1) == Some(&quote);
                if inner && escaped {
                    break;
                }
                at += if inner { 2 } else { 1 };
            }
            // Never within a character, nor past the end.
            (start, text.floor_char_boundary(at.min(limit)))
        }
        None => {
            if begins_with(&bytes[opening..], "bearer ") || begins_with(&bytes[opening..], "basic ")
            {
                // The secret stands behind the word.
                return None;
            }
            let inside = |at: &usize| {
                let b = bytes[*at];
                let escape = b == b'\\' && matches!(bytes.get(at + 1), Some(b'"' | b'\''));
                !b.is_ascii_whitespace() && !b"\"',;&|)".contains(&b) && !escape
            };
            (
                opening,
                text.floor_char_boundary((opening..limit).find(|at| !inside(at)).unwrap_or(limit)),
            )
        }
    };
    let value = &text[start..end];
    if value.len() < 4 || value == MASK || is_count(name, value) {
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
pub fn mask_patterns(text: &str, patterns: &[Regex]) -> String {
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
            let masked = mask_secrets(text);
            assert!(masked.contains(MASK) && !masked.contains(gone), "{text} -> {masked}");
            assert_eq!(mask_secrets(&masked), masked, "twice");
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
            assert!(matches!(mask_secrets(text), Cow::Borrowed(same) if same == text), "{text}");
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
        assert!(mask_json(&mut value));
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
        assert!(!mask_json(&mut value), "twice");
    }
}
