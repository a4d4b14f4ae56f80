//! Texts that plain commands make of plain arguments: `echo`, `printf`, `base64 -d`, `xxd -r -p`.

use crate::effect::value::Value;
use crate::limits::Cap;

/// What `echo` prints, if no shell could print it otherwise.
pub fn echo_output(args: &[Value]) -> Option<String> {
    let mut at = 0;
    let (mut newline, mut escapes) = ("\n", false);
    while let Some(flag) = args.get(at).and_then(Value::plain_text) {
        match flag {
            "-n" => newline = "",
            "-E" => {}
            "-e" => escapes = true,
            "-ne" | "-en" => (newline, escapes) = ("", true),
            _ => break,
        }
        at += 1;
    }
    let texts: Option<Vec<&str>> = args[at..].iter().map(Value::sketch_text).collect();
    let text = texts?.join(" ");
    // Some shells' echo reads backslashes, some does not.
    let read = |rest: &str| {
        let next = rest.chars().next();
        next.is_none_or(|c| c.is_ascii_digit() || "abceEfnrtuUvx\\".contains(c))
    };
    if !escapes && text.split('\\').skip(1).any(read) {
        return None;
    }
    let text = if escapes { decode_escapes(&text)? } else { text };
    Some(format!("{text}{newline}"))
}

/// Backslash escapes as `printf` and `echo -e` read them; None = one that is not followed.
pub fn decode_escapes(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let (radix, most, start) = match chars.next()? {
            'n' => (0, 0, '\n'),
            't' => (0, 0, '\t'),
            'r' => (0, 0, '\r'),
            '\\' => (0, 0, '\\'),
            '"' => (0, 0, '"'),
            '\'' => (0, 0, '\''),
            'x' => (16, 2, ' '),
            c @ '0'..='7' => (8, if c == '0' { 3 } else { 2 }, c),
            _ => return None,
        };
        if radix == 0 {
            out.push(start);
            continue;
        }
        let mut code = start.to_digit(8).unwrap_or(0);
        let mut count = 0;
        while count < most
            && let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix))
        {
            code = code * radix + digit;
            chars.next();
            count += 1;
        }
        out.push(char::from_u32(code).filter(char::is_ascii)?);
    }
    Some(out)
}

/// What `printf` prints: `%s`, `%b`, `%d` and `%%`; the format is used again until all arguments are.
pub fn printf_output(args: &[Value]) -> Option<String> {
    let args = match args.first().and_then(Value::plain_text) {
        Some("--") => &args[1..],
        _ => args,
    };
    let format = decode_escapes(args.first()?.sketch_text()?)?;
    let rest: Vec<&str> = args[1..].iter().map(Value::sketch_text).collect::<Option<_>>()?;
    let mut left = rest.as_slice();
    let mut text = String::new();
    loop {
        let before = left.len();
        let mut chars = format.chars();
        while let Some(c) = chars.next() {
            if c != '%' {
                text.push(c);
                continue;
            }
            let kind = chars.next()?;
            if kind == '%' {
                text.push('%');
                continue;
            }
            let one = left.split_first().map_or("", |(first, more)| {
                left = more;
                first
            });
            match kind {
                's' => text.push_str(one),
                'b' => text.push_str(&decode_escapes(one)?),
                'd' | 'i' if one.parse::<i64>().is_ok() => text.push_str(one),
                _ => return None,
            }
        }
        if left.is_empty() || left.len() == before {
            return Some(text);
        }
        if text.len() > Cap::Text.limit() {
            return None;
        }
    }
}

/// Base64 to text, if it is text.
pub fn decode_base64(text: &str) -> Option<String> {
    String::from_utf8(decode_base64_bytes(text)?).ok()
}

/// Base64 to bytes.
pub fn decode_base64_bytes(text: &str) -> Option<Vec<u8>> {
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0_u32);
    for byte in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        let digit = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            b'=' => break,
            _ => return None,
        };
        held = (held << 6 | u32::from(digit)) & 0xff_ffff;
        bits += 6;
        if bits >= 8 {
            bits -= 8;
            bytes.push(u8::try_from(held >> bits & 0xff).ok()?);
        }
    }
    Some(bytes)
}

/// Hexadecimal digits to text, if it is text.
pub fn decode_hex(text: &str) -> Option<String> {
    let digits: Vec<u8> = text
        .chars()
        .filter(|c| !c.is_whitespace())
        .map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok()))
        .collect::<Option<_>>()?;
    String::from_utf8(digits.chunks(2).map(|c| c.iter().fold(0, |a, d| a << 4 | d)).collect()).ok()
}

/// A line as `read` takes it apart for that many variables (0 = an array); the last gets the rest.
pub fn split_fields(line: &str, separators: &str, count: usize) -> Vec<String> {
    let blank = |c: char| c.is_ascii_whitespace() && separators.contains(c);
    let mut rest = line.trim_matches(blank);
    let mut words = Vec::new();
    while words.len() + 1 != count
        && !rest.is_empty()
        && let Some(at) = rest.find(|c| separators.contains(c))
    {
        words.push(rest[..at].to_string());
        let after = rest[at..].trim_start_matches(blank);
        // White space and one other separator end a word together.
        rest = match after.chars().next() {
            Some(c) if separators.contains(c) => after[c.len_utf8()..].trim_start_matches(blank),
            _ => after,
        };
    }
    if !rest.is_empty() {
        words.push(rest.to_string());
    }
    words
}
