//! Faults of a rule file: what is wrong, where, and how to mend it. All of a file at once.

use std::fmt::Write as _;
use std::ops::Range;

use crate::limits;

/// How bad a fault is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Gravity {
    /// Works, but probably not as meant.
    Warning,
    /// The rule (or the file) cannot be used.
    Error,
}

/// One thing that is wrong with a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// A stable code, as documented in docs/rules.md: `unknown-key`.
    pub code: &'static str,
    /// How bad.
    pub gravity: Gravity,
    /// What is wrong, in one sentence.
    pub message: String,
    /// How to mend it, where that is known.
    pub hint: Option<String>,
    /// The bytes of the file that it is about.
    pub span: Range<usize>,
    /// The rule it belongs to; None = the file as a whole.
    pub rule: Option<String>,
    /// Its line may hold a key or a password: the texts on it are not shown.
    pub private: bool,
}

/// A position for people: both count from 1, the column in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Position {
    /// The line.
    pub line: usize,
    /// The column.
    pub column: usize,
}

/// Where a byte of the text stands.
pub fn position_at(text: &str, offset: usize) -> Position {
    let before = &text[..text.floor_char_boundary(offset)];
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    Position { line: before.matches('\n').count() + 1, column: before[start..].chars().count() + 1 }
}

impl Fault {
    /// Says how to mend it.
    pub fn with_hint(&mut self, hint: impl Into<String>) {
        self.hint = Some(hint.into());
    }

    /// `FILE:3:1: error[unknown-key]: ...` on one line, for answers to agents and for journals.
    pub fn to_line(&self, file: &str, text: &str) -> String {
        let Position { line, column } = position_at(text, self.span.start);
        let mut out = format!(
            "{file}:{line}:{column}: {}[{}]: {}",
            self.gravity_name(),
            self.code,
            self.message
        );
        if let Some(hint) = &self.hint {
            let _ = write!(out, " ({hint})");
        }
        out
    }

    /// The whole report with the line of the file and a caret below it.
    pub fn to_report(&self, file: &str, text: &str) -> String {
        let Position { line, column } = position_at(text, self.span.start);
        let source = text.lines().nth(line - 1).unwrap_or_default();
        let hidden = self.private.then(|| hide_texts(source));
        let shown: String =
            hidden.as_deref().unwrap_or(source).chars().take(limits::FAULTY_LINE).collect();
        let width = text
            .get(self.span.clone())
            .map_or(1, |bad| bad.lines().next().unwrap_or_default().chars().count())
            .clamp(1, shown.chars().count().saturating_sub(column - 1).max(1));
        let gutter = " ".repeat(line.to_string().len());
        let pad: String =
            source.chars().take(column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        let mut out = String::new();
        let _ = writeln!(out, "{}[{}]: {}", self.gravity_name(), self.code, self.message);
        let _ = writeln!(out, "{gutter}--> {file}:{line}:{column}");
        let _ = writeln!(out, "{gutter} |");
        let _ = writeln!(out, "{line} | {shown}");
        let _ = writeln!(out, "{gutter} | {pad}{}", "^".repeat(width));
        if let Some(hint) = &self.hint {
            let _ = writeln!(out, "{gutter} = help: {hint}");
        }
        out
    }

    /// `error` or `warning`.
    pub fn gravity_name(&self) -> &'static str {
        match self.gravity {
            Gravity::Error => "error",
            Gravity::Warning => "warning",
        }
    }
}

/// The line with a dot for every character inside of quotes, keys apart.
fn hide_texts(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(open) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[open];
        let inside = open + 1;
        let mut escaped = false;
        let close = rest.bytes().enumerate().skip(inside).find(|&(_, byte)| {
            let ends = byte == quote && !escaped;
            escaped = byte == b'\\' && quote == b'"' && !escaped;
            ends
        });
        let end = close.map_or(rest.len(), |(at, _)| at);
        let text = &rest[inside..end];
        out.push_str(&rest[..inside]);
        rest = &rest[end..];
        let is_key = rest.get(1..).is_some_and(|after| after.trim_start().starts_with([':', '=']));
        match is_key {
            true => out.push_str(text),
            false => text.chars().for_each(|_| out.push('·')),
        }
        let closing = usize::from(!rest.is_empty());
        out.push_str(&rest[..closing]);
        rest = &rest[closing..];
    }
    out + rest
}

/// The question whether the candidate was meant that comes nearest, where one does.
pub fn meant<'a>(word: &str, candidates: impl IntoIterator<Item = &'a str>) -> Option<String> {
    did_you_mean(word, candidates).map(|candidate| format!("did you mean `{candidate}`?"))
}

/// The candidate that was probably meant: at most a third of its letters differ.
pub fn did_you_mean<'a>(
    word: &str,
    candidates: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    candidates
        .into_iter()
        .map(|candidate| (edit_distance(word, candidate), candidate))
        .filter(|(distance, candidate)| *distance <= (candidate.len().max(word.len()) / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, candidate)| candidate)
}

/// Edit distance with neighbours swapped counted once.
fn edit_distance(a: &str, b: &str) -> usize {
    let a: Vec<char> = a.to_lowercase().chars().take(limits::HINTED).collect();
    let b: Vec<char> = b.to_lowercase().chars().take(limits::HINTED).collect();
    let mut rows = vec![vec![0usize; b.len() + 1]; a.len() + 1];
    for (i, row) in rows.iter_mut().enumerate() {
        row[0] = i;
    }
    rows[0] = (0..=b.len()).collect();
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            let cost = usize::from(a[i - 1] != b[j - 1]);
            let mut best =
                (rows[i - 1][j] + 1).min(rows[i][j - 1] + 1).min(rows[i - 1][j - 1] + cost);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            rows[i][j] = best;
        }
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_typo_finds_its_word() {
        assert_eq!(did_you_mean("comand", ["command", "context"]), Some("command"));
        assert_eq!(did_you_mean("dney", ["deny", "defer"]), Some("deny"));
        assert_eq!(did_you_mean("zzz", ["deny", "defer"]), None);
    }

    #[test]
    fn the_caret_stands_below_the_word() {
        let text = "[rule.x]\ncomand = \"ls\"\n";
        let fault = Fault {
            code: "unknown-key",
            gravity: Gravity::Error,
            message: "unknown key `comand`".into(),
            hint: Some("did you mean `command`?".into()),
            span: 9..15,
            rule: Some("x".into()),
            private: false,
        };
        assert_eq!(
            fault.to_report("f.toml", text),
            "error[unknown-key]: unknown key `comand`\n --> f.toml:2:1\n  |\n2 | comand = \"ls\"\n  | ^^^^^^\n  = help: did you mean `command`?\n"
        );
    }
    #[test]
    fn sx_07_texts_of_a_private_line_are_dots() {
        for (line, shown) in [
            (r#"url = "https://x""#, r#"url = "·········""#),
            (r#""token": "a\"b", "n": 3,"#, r#""token": "····", "n": 3,"#),
            (r#"headers = { "X-Key" = 'a"b' } # "c""#, r#"headers = { "X-Key" = '···' } # "·""#),
            (r#"body = """open"#, r#"body = """····"#),
            ("timeout_ms = 3", "timeout_ms = 3"),
        ] {
            assert_eq!(hide_texts(line), shown);
        }
    }
}
