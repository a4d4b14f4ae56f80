//! A JSON text that is edited by splicing: every byte that an edit does not speak of stays.
//!
//! What is added follows the file's own hand: its indentation, its line ends, its spaces after
//! colons and commas, or one line where the container is one line. Each edit parses the result
//! again, so no edit ever works on stale positions, and none can leave invalid JSON behind.

use std::ops::Range;

use serde_json::Value;

use crate::json::{self, JsonFault, Node};

/// The way to a value: the index of the child at each level, from the root.
pub type NodePath = Vec<usize>;

const BOM: char = '\u{feff}';

/// A file's text and its parse.
#[derive(Debug, Clone)]
pub struct Doc {
    bom: bool,
    comments: bool,
    text: String,
    root: Node,
}

/// How the file is laid out.
#[derive(Debug)]
struct TextLayout {
    newline: &'static str,
    /// One level of indentation; none where the file is one line.
    unit: Option<String>,
    colon: &'static str,
    comma: &'static str,
}

impl Doc {
    /// The document of a file's text. A text of nothing but white space counts as `{}`, as the
    /// client has it.
    ///
    /// # Errors
    /// Where it is not JSON. The offset is one of the text without its byte order mark.
    pub fn new(text: &str) -> Result<Doc, JsonFault> {
        Doc::parse(text, false)
    }

    /// The same of a file that may have comments.
    ///
    /// # Errors
    /// As for [`Doc::new`].
    pub fn with_comments(text: &str) -> Result<Doc, JsonFault> {
        Doc::parse(text, true)
    }

    fn parse(text: &str, comments: bool) -> Result<Doc, JsonFault> {
        let (bom, text) = match text.strip_prefix(BOM) {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let text = if text.trim().is_empty() { "{}\n".to_string() } else { text.to_string() };
        let root = parse_node(&text, comments)?;
        Ok(Doc { bom, comments, text, root })
    }

    /// The whole text, byte order mark included.
    pub fn text(&self) -> String {
        if self.bom { format!("{BOM}{}", self.text) } else { self.text.clone() }
    }

    /// The text that offsets of nodes and faults count in.
    pub fn body(&self) -> &str {
        &self.text
    }

    /// The parse.
    pub fn root(&self) -> &Node {
        &self.root
    }

    /// The value at the end of that way.
    pub fn node_at(&self, path: &[usize]) -> Option<&Node> {
        path.iter().try_fold(&self.root, |node, &index| Some(node.child_at(index)?.1))
    }

    /// Puts an item, or with a key a member, at the end of the container at `path`.
    ///
    /// # Errors
    /// Never for a path that names a container; a fault where the result would not parse.
    pub fn append(
        &mut self,
        path: &[usize],
        key: Option<&str>,
        value: &Value,
    ) -> Result<(), JsonFault> {
        let style = self.detect_style();
        let Some(node) = self.node_at(path) else { return Err(stale_path_fault()) };
        let count = node.len();
        if count > 0 {
            let Some((last, _)) = node.child_at(count - 1) else { return Err(stale_path_fault()) };
            let lead = self.space_before(last.start);
            let added = match lead.rfind('\n') {
                Some(at) => {
                    let indent = lead[at + 1..].to_string();
                    let item = render_item(&style, key, value, Some(&indent));
                    format!(",{}{indent}{item}", style.newline)
                }
                None => {
                    let gap = if count > 1 { lead } else { &style.comma[1..] };
                    format!(",{gap}{}", render_item(&style, key, value, None))
                }
            };
            return self.splice_text(last.end..last.end, &added);
        }
        let mut inner = node.span.start + 1..node.span.end - 1;
        // What is no white space there is a comment, which stays.
        let kept = self.text[inner.clone()].trim_end().len();
        inner.start += if self.text[inner.clone()].trim().is_empty() { 0 } else { kept };
        let added = match &style.unit {
            Some(unit) => {
                let outer = self.indent_of(node.span.start);
                let indent = format!("{outer}{unit}");
                let item = render_item(&style, key, value, Some(&indent));
                format!("{0}{indent}{item}{0}{outer}", style.newline)
            }
            None => render_item(&style, key, value, None),
        };
        self.splice_text(inner, &added)
    }

    /// Puts an item before the one that is number `at` of the list at `path`, or at its end.
    ///
    /// # Errors
    /// As for [`Doc::append`].
    pub fn insert(&mut self, path: &[usize], at: usize, value: &Value) -> Result<(), JsonFault> {
        let Some(node) = self.node_at(path) else { return Err(stale_path_fault()) };
        let Some((next, _)) = node.child_at(at) else { return self.append(path, None, value) };
        let style = self.detect_style();
        let lead = self.space_before(next.start);
        let indent = lead.rfind('\n').map(|newline| lead[newline + 1..].to_string());
        let added = render_item(&style, None, value, indent.as_deref());
        let gap = match &indent {
            Some(indent) => format!("{}{indent}", style.newline),
            None => style.comma[1..].to_string(),
        };
        self.splice_text(next.start..next.start, &format!("{added},{gap}"))
    }

    /// Puts another value in the place of the one at `path`.
    ///
    /// # Errors
    /// As for [`Doc::append`].
    pub fn replace(&mut self, path: &[usize], value: &Value) -> Result<(), JsonFault> {
        let style = self.detect_style();
        let Some(node) = self.node_at(path) else { return Err(stale_path_fault()) };
        let span = node.span.clone();
        let lines = self.text[span.clone()].contains('\n');
        let indent = lines.then(|| self.indent_of(span.start).to_string());
        let added = render_item(&style, None, value, indent.as_deref());
        self.splice_text(span, &added)
    }

    /// Takes out the item or member at `path`, with the comma that belonged to it.
    ///
    /// # Errors
    /// As for [`Doc::append`].
    pub fn remove(&mut self, path: &[usize]) -> Result<(), JsonFault> {
        let Some((&index, above)) = path.split_last() else { return Err(stale_path_fault()) };
        let span = |node: &Node, index| node.child_at(index).map(|(span, _)| span);
        let Some(parent) = self.node_at(above) else { return Err(stale_path_fault()) };
        let Some(own) = span(parent, index) else { return Err(stale_path_fault()) };
        let cut = if let Some(before) = index.checked_sub(1).and_then(|i| span(parent, i)) {
            before.end..own.end
        } else if let Some(after) = span(parent, index + 1) {
            own.start..after.start
        } else {
            parent.span.start + 1..parent.span.end - 1
        };
        self.splice_text(cut, "")
    }

    fn splice_text(&mut self, range: Range<usize>, with: &str) -> Result<(), JsonFault> {
        let mut text = self.text.clone();
        text.replace_range(range, with);
        self.root = parse_node(&text, self.comments)?;
        self.text = text;
        Ok(())
    }

    /// The white space that ends at `at`.
    fn space_before(&self, at: usize) -> &str {
        let before = &self.text[..at];
        let kept = before.trim_end_matches([' ', '\t', '\n', '\r']).len();
        &before[kept..]
    }

    /// The white space that the line of `at` begins with.
    fn indent_of(&self, at: usize) -> &str {
        let start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = &self.text[start..];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }

    fn detect_style(&self) -> TextLayout {
        let newline = match self.text.find('\n') {
            Some(at) if self.text[..at].ends_with('\r') => "\r\n",
            _ => "\n",
        };
        let members = self.root.members().unwrap_or_default();
        let Some(first) = members.first() else {
            return TextLayout { newline, unit: Some("  ".into()), colon: ": ", comma: ", " };
        };
        let between = &self.text[first.key_span.end..first.value.span.start];
        let colon = if between.ends_with(':') { ":" } else { ": " };
        let lead = self.space_before(first.key_span.start);
        let unit = lead.rfind('\n').map(|at| match &lead[at + 1..] {
            "" => "  ".to_string(),
            unit => unit.to_string(),
        });
        let spaced = match members.get(1) {
            Some(second) => !self.space_before(second.key_span.start).is_empty(),
            None => colon == ": ",
        };
        TextLayout { newline, unit, colon, comma: if spaced { ", " } else { "," } }
    }
}

fn parse_node(text: &str, comments: bool) -> Result<Node, JsonFault> {
    match comments {
        true => json::parse_with_comments(text),
        false => json::parse(text),
    }
}

/// A path that does not lead anywhere: a fault of this program, not of the file.
fn stale_path_fault() -> JsonFault {
    JsonFault::new(
        0,
        "hookctl lost its place in this file",
        "please report this; nothing was changed",
    )
}

/// A value, or `"key": value`; on lines of its own below `indent` where there is one.
fn render_item(
    style: &TextLayout,
    key: Option<&str>,
    value: &Value,
    indent: Option<&str>,
) -> String {
    let mut out = String::new();
    if let Some(key) = key {
        out.push_str(&Value::from(key).to_string());
        out.push_str(style.colon);
    }
    render_value(style, value, indent, &mut out);
    out
}

fn render_value(style: &TextLayout, value: &Value, indent: Option<&str>, out: &mut String) {
    let (open, close, entries): (_, _, Vec<(Option<&String>, &Value)>) = match value {
        Value::Array(items) => ('[', ']', items.iter().map(|item| (None, item)).collect()),
        Value::Object(map) => ('{', '}', map.iter().map(|(key, one)| (Some(key), one)).collect()),
        _ => return out.push_str(&value.to_string()),
    };
    let unit = style.unit.as_deref().unwrap_or("  ");
    let deeper = indent.map(|indent| format!("{indent}{unit}"));
    out.push(open);
    for (at, (key, one)) in entries.iter().enumerate() {
        match (&deeper, at) {
            (Some(deeper), 0) => out.extend([style.newline, deeper]),
            (Some(deeper), _) => out.extend([",", style.newline, deeper]),
            (None, 0) => {}
            (None, _) => out.push_str(style.comma),
        }
        out.push_str(&render_item(style, key.map(String::as_str), one, deeper.as_deref()));
    }
    if let Some(indent) = indent.filter(|_| !entries.is_empty()) {
        out.extend([style.newline, indent]);
    }
    out.push(close);
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn follows_the_hand_of_the_file() {
        for (before, after) in [
            ("{}", "{\n  \"k\": [\n    1\n  ]\n}"),
            ("{ }\r\n", "{\r\n  \"k\": [\r\n    1\r\n  ]\r\n}\r\n"),
            ("{\"a\":1}", "{\"a\":1,\"k\":[1]}"),
            ("{ \"a\": 1, \"b\": 2 }", "{ \"a\": 1, \"b\": 2, \"k\": [1] }"),
            ("{\n\t\"a\": 1\n}", "{\n\t\"a\": 1,\n\t\"k\": [\n\t\t1\n\t]\n}"),
            ("{\n    \"a\" : 1}", "{\n    \"a\" : 1,\n    \"k\": [\n        1\n    ]}"),
            ("\u{feff}{\"a\": 1}\n", "\u{feff}{\"a\": 1, \"k\": [1]}\n"),
            ("", "{\n  \"k\": [\n    1\n  ]\n}\n"),
        ] {
            let mut doc = Doc::new(before).unwrap();
            doc.append(&[], Some("k"), &json!([1])).unwrap();
            assert_eq!(doc.text(), after);
        }
    }

    #[test]
    fn an_item_goes_before_another() {
        for (before, at, after) in [
            ("{\"a\": [1]}", 0, "{\"a\": [2, 1]}"),
            ("{\"a\":[1,3]}", 1, "{\"a\":[1,2,3]}"),
            ("{\"a\":[1,3]}", 9, "{\"a\":[1,3,2]}"),
            ("{\"a\":[]}", 0, "{\"a\":[2]}"),
            ("{\r\n \"a\": [\r\n  1\r\n ]\r\n}", 0, "{\r\n \"a\": [\r\n  2,\r\n  1\r\n ]\r\n}"),
        ] {
            let mut doc = Doc::new(before).unwrap();
            doc.insert(&[0], at, &json!(2)).unwrap();
            assert_eq!(doc.text(), after);
        }
    }

    #[test]
    fn a_removal_takes_its_own_comma() {
        for (path, after) in [(vec![0], "[ 2,\n 3]"), (vec![1], "[ 1,\n 3]"), (vec![2], "[ 1 , 2]")]
        {
            let mut doc = Doc::new("[ 1 , 2,\n 3]").unwrap();
            doc.remove(&path).unwrap();
            assert_eq!(doc.text(), after);
        }
        let mut doc = Doc::new("{\"a\": [ 1 ]}").unwrap();
        doc.remove(&[0, 0]).unwrap();
        assert_eq!(doc.text(), "{\"a\": []}");
    }

    #[test]
    fn replaces_in_place() {
        let mut doc = Doc::new("{\n  \"a\": [\n    {\n      \"x\": 1\n    }\n  ]\n}\n").unwrap();
        doc.replace(&[0, 0], &json!({"y": 2})).unwrap();
        assert_eq!(doc.text(), "{\n  \"a\": [\n    {\n      \"y\": 2\n    }\n  ]\n}\n");
    }
}
