//! Strict JSON with positions: exactly what `JSON.parse` accepts, and where every part of it lies.
//!
//! The clients read their settings strictly and drop the whole file over one comment, so a lenient
//! parser would call files good that are not in effect. Nothing here is ever printed back: edits
//! splice the original text, so what is not understood (escapes, number forms, duplicate keys) is
//! kept as it is.

use std::ops::Range;

use serde_json::Value;

mod fault;

pub use self::fault::JsonFault;

/// Deeper nesting than this is refused; no settings file comes near.
const MAX_DEPTH: usize = 256;

/// One value and its place.
#[derive(Debug, Clone)]
pub struct Node {
    /// The bytes it takes.
    pub span: Range<usize>,
    /// What it is.
    pub data: Data,
}

/// What a value is.
#[derive(Debug, Clone)]
pub enum Data {
    /// `null`, `true`, `false` or a number.
    Scalar(Value),
    /// A string; lone surrogates have become U+FFFD.
    String(String),
    /// An array.
    Array(Vec<Node>),
    /// An object, duplicate keys included, in order.
    Object(Vec<Member>),
}

/// One `"key": value` of an object.
#[derive(Debug, Clone)]
pub struct Member {
    /// The key, decoded.
    pub key: String,
    /// The bytes of the key, quotes included.
    pub key_span: Range<usize>,
    /// The value.
    pub value: Node,
}

impl Node {
    /// The members, where it is an object.
    pub fn members(&self) -> Option<&[Member]> {
        match &self.data {
            Data::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The items, where it is an array.
    pub fn items(&self) -> Option<&[Node]> {
        match &self.data {
            Data::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The text, where it is a string.
    pub fn as_str(&self) -> Option<&str> {
        match &self.data {
            Data::String(text) => Some(text),
            _ => None,
        }
    }

    /// The member of that key and its index; of duplicates the last, as `JSON.parse` has it.
    pub fn get(&self, key: &str) -> Option<(usize, &Node)> {
        let (index, member) =
            self.members()?.iter().enumerate().rev().find(|(_, m)| m.key == key)?;
        Some((index, &member.value))
    }

    /// The value alone, for comparing: of duplicate keys the last.
    pub fn to_value(&self) -> Value {
        match &self.data {
            Data::Scalar(value) => value.clone(),
            Data::String(text) => Value::String(text.clone()),
            Data::Array(items) => Value::Array(items.iter().map(Node::to_value).collect()),
            Data::Object(members) => {
                Value::Object(members.iter().map(|m| (m.key.clone(), m.value.to_value())).collect())
            }
        }
    }

    /// Child `index` and the bytes it takes in its container (a member's key included).
    pub fn child_at(&self, index: usize) -> Option<(Range<usize>, &Node)> {
        match &self.data {
            Data::Array(items) => items.get(index).map(|node| (node.span.clone(), node)),
            Data::Object(members) => {
                members.get(index).map(|m| (m.key_span.start..m.value.span.end, &m.value))
            }
            _ => None,
        }
    }

    /// How many children it has.
    pub fn len(&self) -> usize {
        match &self.data {
            Data::Array(items) => items.len(),
            Data::Object(members) => members.len(),
            _ => 0,
        }
    }

    /// Has it no children?
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The kind of value, for messages.
    pub fn kind_name(&self) -> &'static str {
        match &self.data {
            Data::Scalar(Value::Null) => "null",
            Data::Scalar(Value::Bool(_)) => "true or false",
            Data::Scalar(_) => "a number",
            Data::String(_) => "a string",
            Data::Array(_) => "a list",
            Data::Object(_) => "an object",
        }
    }
}

/// The whole text as one value.
///
/// # Errors
/// The first place where it is not JSON.
pub fn parse(text: &str) -> Result<Node, JsonFault> {
    parse_as(text, false)
}

/// The same of a file that is hookctl's own: `//` and `/* */` comments are skipped.
///
/// # Errors
/// The first place where it is neither JSON nor a comment.
pub fn parse_with_comments(text: &str) -> Result<Node, JsonFault> {
    parse_as(text, true)
}

/// The same of a project's own file (`package.json`, `deno.json`), as package managers read it: a byte order mark and comments
/// are passed over.
pub fn parse_manifest(text: &str) -> Option<Node> {
    parse_with_comments(text.trim_start_matches('\u{feff}')).ok()
}

fn parse_as(text: &str, comments: bool) -> Result<Node, JsonFault> {
    let mut parser = Parser { text, bytes: text.as_bytes(), at: 0, comments };
    let node = parser.parse_value(0)?;
    parser.skip_whitespace();
    if parser.at < text.len() {
        return Err(parser.unexpected_fault("text after the end of the value"));
    }
    Ok(node)
}

struct Parser<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    comments: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn skip_whitespace(&mut self) {
        loop {
            while let Some(b' ' | b'\t' | b'\n' | b'\r') = self.peek() {
                self.at += 1;
            }
            let rest = &self.text[self.at..];
            let length = match () {
                () if !self.comments => None,
                () if rest.starts_with("//") => Some(rest.find('\n').unwrap_or(rest.len())),
                () if rest.starts_with("/*") => rest.find("*/").map(|end| end + 2),
                () => None,
            };
            match length {
                Some(length) => self.at += length,
                None => return,
            }
        }
    }

    /// The fault for what stands here although `what` was wanted.
    fn unexpected_fault(&self, what: &str) -> JsonFault {
        let rest = &self.text[self.at..];
        let (message, hint) = match rest.chars().next() {
            None => ("the file ends too early", "close what is still open"),
            Some('/') if self.comments && rest.starts_with("/*") => {
                ("this comment is never closed", "add the `*/`")
            }
            Some('/') if rest.starts_with("//") || rest.starts_with("/*") => (
                "comments are not JSON",
                "remove the comment: the client ignores the whole file over it",
            ),
            Some('\'') => ("strings take double quotes", "write \"...\""),
            Some(c) => {
                let message = format!("{what}, found `{}`", c.escape_debug());
                return JsonFault::new(self.at, message, "mend the JSON here");
            }
        };
        JsonFault::new(self.at, message, hint)
    }

    fn parse_value(&mut self, depth: usize) -> Result<Node, JsonFault> {
        self.skip_whitespace();
        let start = self.at;
        if depth > MAX_DEPTH {
            return Err(JsonFault::new(start, "nested too deeply", "flatten the file"));
        }
        let data = match self.peek() {
            Some(b'{') => self.parse_object(depth)?,
            Some(b'[') => self.parse_array(depth)?,
            Some(b'"') => Data::String(self.parse_string()?),
            Some(b'-' | b'0'..=b'9') => self.parse_number()?,
            _ => self.parse_literal()?,
        };
        Ok(Node { span: start..self.at, data })
    }

    fn parse_literal(&mut self) -> Result<Data, JsonFault> {
        for (word, value) in
            [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
        {
            if self.text[self.at..].starts_with(word) {
                self.at += word.len();
                return Ok(Data::Scalar(value));
            }
        }
        Err(self.unexpected_fault("expected a value"))
    }

    fn parse_object(&mut self, depth: usize) -> Result<Data, JsonFault> {
        let mut members = Vec::new();
        let mut done = self.opens(b'}');
        while !done {
            members.push(self.member(depth)?);
            done = self.next_or_end(b'}')?;
        }
        Ok(Data::Object(members))
    }

    fn member(&mut self, depth: usize) -> Result<Member, JsonFault> {
        self.skip_whitespace();
        let start = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected_fault("expected a key in double quotes"));
        }
        let key = self.parse_string()?;
        let key_span = start..self.at;
        self.skip_whitespace();
        if self.peek() != Some(b':') {
            return Err(self.unexpected_fault("expected `:` after the key"));
        }
        self.at += 1;
        Ok(Member { key, key_span, value: self.parse_value(depth + 1)? })
    }

    fn parse_array(&mut self, depth: usize) -> Result<Data, JsonFault> {
        let mut items = Vec::new();
        let mut done = self.opens(b']');
        while !done {
            items.push(self.parse_value(depth + 1)?);
            done = self.next_or_end(b']')?;
        }
        Ok(Data::Array(items))
    }

    /// Behind the sign that opens a container: true where that is empty.
    fn opens(&mut self, end: u8) -> bool {
        self.at += 1;
        self.skip_whitespace();
        let empty = self.peek() == Some(end);
        self.at += usize::from(empty);
        empty
    }

    /// After a child: true at the end of the container, false after a comma.
    fn next_or_end(&mut self, end: u8) -> Result<bool, JsonFault> {
        self.skip_whitespace();
        match self.peek() {
            Some(b',') => {
                let comma = self.at;
                self.at += 1;
                self.skip_whitespace();
                if let Some(close @ (b'}' | b']')) = self.peek() {
                    let message = format!("a comma before `{}` is not JSON", close as char);
                    let hint = match self.comments {
                        true => "remove the comma",
                        false => "remove the comma: the client ignores the whole file over it",
                    };
                    return Err(JsonFault::new(comma, message, hint));
                }
                Ok(false)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(true)
            }
            _ => Err(self.unexpected_fault(&format!("expected `,` or `{}`", end as char))),
        }
    }

    fn parse_number(&mut self) -> Result<Data, JsonFault> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'0') => self.at += 1,
            Some(b'1'..=b'9') => self.skip_digits(),
            _ => return Err(self.unexpected_fault("expected a digit")),
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.some_digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.some_digits()?;
        }
        let text = &self.text[start..self.at];
        let number = match text.parse::<u64>() {
            Ok(whole) => Value::from(whole),
            // 1e999 is Infinity in JSON.parse and null here: neither is a timeout.
            Err(_) => text.parse::<f64>().map_or(Value::Null, Value::from),
        };
        Ok(Data::Scalar(number))
    }

    fn skip_digits(&mut self) {
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    fn some_digits(&mut self) -> Result<(), JsonFault> {
        let start = self.at;
        self.skip_digits();
        if self.at == start { Err(self.unexpected_fault("expected a digit")) } else { Ok(()) }
    }

    fn parse_string(&mut self) -> Result<String, JsonFault> {
        let open = self.at;
        self.at += 1;
        let mut out = String::new();
        loop {
            let start = self.at;
            while self.peek().is_some_and(|b| b != b'"' && b != b'\\' && b >= 0x20) {
                self.at += 1;
            }
            out.push_str(&self.text[start..self.at]);
            match self.peek() {
                None => {
                    return Err(JsonFault::new(
                        open,
                        "this string is never closed",
                        "add the `\"`",
                    ));
                }
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => out.push(self.parse_escape()?),
                Some(_) => {
                    let message = "a line break or control character inside a string";
                    return Err(JsonFault::new(self.at, message, "close the string, or write \\n"));
                }
            }
        }
    }

    fn parse_escape(&mut self) -> Result<char, JsonFault> {
        const SIMPLE: &[(u8, char)] = &[
            (b'"', '"'),
            (b'\\', '\\'),
            (b'/', '/'),
            (b'b', '\u{8}'),
            (b'f', '\u{c}'),
            (b'n', '\n'),
            (b'r', '\r'),
            (b't', '\t'),
        ];
        let start = self.at;
        let sign = self.bytes.get(start + 1);
        self.at += 2;
        if sign == Some(&b'u') {
            return self.unit(start);
        }
        let found = SIMPLE.iter().find(|(known, _)| Some(known) == sign);
        let fault = || JsonFault::new(start, "not an escape of JSON", "write \\\\ for a backslash");
        found.map(|(_, c)| *c).ok_or_else(fault)
    }

    /// The character that begins with the four digits here.
    fn unit(&mut self, start: usize) -> Result<char, JsonFault> {
        let mut code = self.parse_hex(start)?;
        if (0xd800..0xdc00).contains(&code) && self.text[self.at..].starts_with("\\u") {
            let back = self.at;
            self.at += 2;
            let low = self.parse_hex(back)?;
            if (0xdc00..0xe000).contains(&low) {
                code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
            } else {
                self.at = back;
            }
        }
        Ok(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER))
    }

    fn parse_hex(&mut self, start: usize) -> Result<u32, JsonFault> {
        let digits = self.bytes.get(self.at..self.at + 4);
        let code = digits
            .filter(|digits| digits.iter().all(u8::is_ascii_hexdigit))
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok())
            .ok_or_else(|| JsonFault::new(start, "\\u takes four hex digits", "write \\u00e9"))?;
        self.at += 4;
        Ok(code)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    #[test]
    fn accepts_what_json_parse_accepts() {
        for text in [
            "{}",
            " [1, -0, 0.5e+3, true, false, null] ",
            r#"{"a":"\ud83d\ude00\u00e9\n","a":2}"#,
            r#"["\ud800", "\udc00x", "\ud800\u0041"]"#,
            "\"\u{7f}\"",
        ] {
            assert!(parse(text).is_ok(), "{text}");
        }
        let node = parse(r#"{"a":1,"a":"\ud83d\ude00"}"#).unwrap();
        assert_eq!(node.get("a").unwrap().1.as_str(), Some("😀"));
    }

    #[test]
    fn refuses_what_json_parse_refuses_with_the_position() {
        for (text, line, column, message) in [
            ("{\n  // no\n}", 2, 3, "comments"),
            ("{\n  \"a\": 1,\n}", 2, 9, "comma before `}`"),
            ("[1,]", 1, 3, "comma before `]`"),
            ("{'a': 1}", 1, 2, "double quotes"),
            ("{a: 1}", 1, 2, "key in double quotes"),
            ("[01]", 1, 3, "expected `,` or `]`"),
            ("[1 2]", 1, 4, "expected `,` or `]`"),
            ("[\"é\" x]", 1, 6, "expected `,` or `]`"),
            ("{\"a\"", 1, 5, "ends too early"),
            ("\"a\nb\"", 1, 3, "line break"),
            ("\"abc", 1, 1, "never closed"),
            ("{} {}", 1, 4, "text after"),
            ("", 1, 1, "ends too early"),
            ("nul", 1, 1, "expected a value"),
            ("[1.]", 1, 4, "digit"),
            ("[\"\\x\"]", 1, 3, "escape"),
            ("[\"\\u12\"]", 1, 3, "four hex"),
        ] {
            let fault = parse(text).unwrap_err();
            assert_eq!(fault.position(text), (line, column), "{text}");
            assert!(fault.message.contains(message), "{text}: {}", fault.message);
        }
        assert!(parse(&"[".repeat(100_000)).is_err());
    }

    #[test]
    fn comments_are_skipped_where_they_are_allowed() {
        let text = "// a\n{ /* b */ \"a\": 1, // c\n  \"b\": \"// no\" } // d";
        let node = parse_with_comments(text).unwrap();
        assert_eq!(node.to_value(), serde_json::json!({ "a": 1, "b": "// no" }));
        for (text, message) in [("{} /* x", "never closed"), ("{} / x", "text after")] {
            let fault = parse_with_comments(text).unwrap_err();
            assert!(fault.message.contains(message), "{}", fault.message);
        }
    }

    #[test]
    fn a_fault_shows_a_caret() {
        let text = "{\n  \"a\": 1,\n}";
        let shown = parse(text).unwrap_err().render_for_people(Path::new("/x/settings.json"), text);
        let want = "/x/settings.json:2:9: a comma before `}` is not JSON\n  |\n2 |   \"a\": 1,\n  |         ^\nhint: remove the comma: the client ignores the whole file over it";
        assert_eq!(shown, want);
    }
}
