//! Text of others, made harmless where people read it: paths, commands, what servers, models and
//! untrusted rules say.
//!
//! The one owner of what must not be shown as it is. It is applied where text leaves: by the agents'
//! answers, by what is printed, by what is sent to be shown. What is meant for machines (a rewritten
//! input, a result, variables, a context) stays exact.

use std::borrow::Cow;
use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// SHA-256 in hex.
pub fn sha256_hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::with_capacity(64), |mut out, byte| {
        let _ = write!(out, "{byte:02x}");
        out
    })
}

/// Does the character hide, reorder or control what is shown, behind that one?
fn is_hidden_char(c: char, before: char) -> bool {
    match c {
        '\n' | '\t' => false,
        ' '..='~' => false,
        // Control characters, C1 among them, and what is seen as nothing.
        c if c.is_control() => true,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' => {
            true
        }
        '\u{180b}'..='\u{180f}'
        | '\u{2800}'
        | '\u{200b}'
        | '\u{200e}'
        | '\u{200f}'
        | '\u{2028}'..='\u{202e}' => true,
        '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}' => true,
        '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}' => true,
        // Joiners and forms belong to letters of many scripts and to emoji; behind others they only hide.
        '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}' => {
            before.is_ascii()
                || before.is_whitespace()
                || matches!(before, '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0e}')
        }
        _ => false,
    }
}

/// The text with each character that [`is_hidden_char`], but those that `keeps` says the length of, written by
/// `escape`.
fn replace_hidden<'t>(
    text: &'t str,
    keeps: impl Fn(&str) -> usize,
    escape: impl Fn(&mut String, char),
) -> Cow<'t, str> {
    let (mut out, mut done, mut before, mut kept) = (String::new(), 0, ' ', 0);
    // Most texts hold none of them.
    if text.bytes().all(|b| matches!(b, b' '..=b'~' | b'\n' | b'\t')) {
        return Cow::Borrowed(text);
    }
    for (at, c) in text.char_indices() {
        let mut shown = c;
        if at >= kept && is_hidden_char(c, before) {
            kept = at + keeps(&text[at..]);
            if kept == at {
                out.push_str(&text[done..at]);
                escape(&mut out, c);
                done = at + c.len_utf8();
                // What follows stands behind the escape.
                shown = '}';
            }
        }
        before = shown;
    }
    if done == 0 { Cow::Borrowed(text) } else { Cow::Owned(out + &text[done..]) }
}

/// Text of others for people: what hides, reorders or controls is written out, `\u{202e}`.
pub fn make_visible(text: &str) -> String {
    written_out(text).into_owned()
}

/// The same, without a copy of most texts.
pub fn written_out(text: &str) -> Cow<'_, str> {
    replace_hidden(text, |_| 0, |out, c| out.extend(c.escape_unicode()))
}

/// How what is written out begins.
pub const WRITTEN_OUT: &str = "\\u{";

/// The text up to so many bytes, and how many more there are.
pub fn cut(text: &str, most: usize) -> Cow<'_, str> {
    let end = text.floor_char_boundary(most);
    match end < text.len() {
        true => Cow::Owned(format!("{} [{}{MORE}", &text[..end], text.len() - end)),
        false => Cow::Borrowed(text),
    }
}

/// How a text ends that was cut.
pub const MORE: &str = " bytes more]";

/// The same for a whole page that is painted: our own colours stay.
pub fn make_page_visible<'t>(text: &'t str, paints: &[&str]) -> Cow<'t, str> {
    let paint = |rest: &str| {
        let end = rest.strip_prefix("\x1b[").and_then(|rest| rest.find('m'));
        let code = end.map(|end| &rest[2..2 + end]);
        match code.filter(|code| *code == "0" || paints.contains(code)) {
            Some(code) => code.len() + 3,
            None => 0,
        }
    };
    replace_hidden(text, paint, |out, c| out.extend(c.escape_unicode()))
}

/// JSON with them as escapes, so that it means the same and harms no terminal.
pub fn escape_json(text: &str) -> Cow<'_, str> {
    // Whoever wrote it has escaped all other control characters.
    if text.is_ascii() && memchr::memchr2(0x7f, 0x1b, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    replace_hidden(
        text,
        |_| 0,
        |out, c| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

/// A word as somebody would type it for a shell: in quotes where it needs them.
pub fn quote_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:@%+,~^".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_string(),
        false => quote_for_shell(word),
    }
}

/// The text as one word of a POSIX shell.
pub fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_reorders_or_controls_is_written_out() {
        for hidden in [
            '\0',
            '\u{1b}',
            '\r',
            '\u{8}',
            '\u{7f}',
            '\u{85}',
            '\u{9b}',
            '\u{ad}',
            '\u{61c}',
            '\u{200b}',
            '\u{200d}',
            '\u{200e}',
            '\u{200f}',
            '\u{202a}',
            '\u{202e}',
            '\u{2028}',
            '\u{2029}',
            '\u{2060}',
            '\u{2800}',
            '\u{2066}',
            '\u{2069}',
            '\u{feff}',
            '\u{fe0f}',
            '\u{3164}',
            '\u{e0001}',
            '\u{e0041}',
            '\u{e0101}',
        ] {
            let text = format!("a{hidden}b");
            assert_eq!(make_visible(&text), format!("a{}b", hidden.escape_unicode()));
            let value = serde_json::Value::from(text.as_str()).to_string();
            let json = escape_json(&value);
            assert!(!json.contains(hidden), "{json}");
            assert_eq!(serde_json::from_str::<String>(&json).unwrap(), text);
        }
        // Nor does one hide behind what is written out, nor behind a blank.
        assert_eq!(make_visible("a\u{202e}\u{200d}b"), "a\\u{202e}\\u{200d}b");
        assert_eq!(make_visible("\u{a0}\u{fe0f}"), "\u{a0}\\u{fe0f}");
        for plain in [
            "a b\n\tc",
            "ÄÖ→€",
            "日本語",
            "👩\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "क्\u{200d}ष",
            "\u{a0}x",
        ] {
            assert_eq!(make_visible(plain), plain);
            assert!(matches!(make_page_visible(plain, &[]), Cow::Borrowed(_)));
        }
    }

    #[test]
    fn of_a_page_only_our_own_colours_stay() {
        let text = "\u{1b}[31mred\u{1b}[0m \u{1b}[2J \u{1b}]0;x\u{7} \u{1b}[31";
        let shown = make_page_visible(text, &["31"]);
        assert_eq!(shown, "\u{1b}[31mred\u{1b}[0m \\u{1b}[2J \\u{1b}]0;x\\u{7} \\u{1b}[31");
        assert_eq!(make_page_visible(&shown, &["31"]), shown);
    }
}
