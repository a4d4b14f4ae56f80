//! What is wrong with a JSON file: where, and how to mend it.

use std::path::Path;

/// So many characters of a line are shown, and so many of them before the place.
const SHOWN: usize = 80;
const BEFORE: usize = 50;

/// Something wrong at one place of a file, with the fix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JsonFault {
    /// The byte where it is.
    pub offset: usize,
    /// What is wrong.
    pub message: String,
    /// How to mend it.
    pub hint: String,
}

impl JsonFault {
    /// A fault at that byte.
    pub fn new(offset: usize, message: impl Into<String>, hint: impl Into<String>) -> JsonFault {
        JsonFault { offset, message: message.into(), hint: hint.into() }
    }

    /// Line and column, both from 1, columns in characters.
    pub fn position(&self, text: &str) -> (usize, usize) {
        let before = &text[..text.floor_char_boundary(self.offset)];
        let start = before.rfind('\n').map_or(0, |at| at + 1);
        (before.matches('\n').count() + 1, before[start..].chars().count() + 1)
    }

    /// For people: file, line and column, the line with a caret below, and the hint.
    pub fn render_for_people(&self, file: &Path, text: &str) -> String {
        let (line, column) = self.position(text);
        let whole = text.lines().nth(line - 1).unwrap_or_default();
        // A minified file is one line: show what is around the place.
        let skip = column.saturating_sub(BEFORE);
        let shown: String = whole
            .chars()
            .skip(skip)
            .take(SHOWN)
            .map(|c| if c.is_control() { ' ' } else { c })
            .collect();
        let margin = " ".repeat(line.to_string().len());
        format!(
            "{}:{line}:{column}: {}\n{margin} |\n{line} | {shown}\n{margin} | {}^\nhint: {}",
            file.display(),
            self.message,
            " ".repeat(column - 1 - skip),
            self.hint
        )
    }
}
