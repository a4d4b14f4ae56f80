//! How the terminal is: its size, lines that fit into it, and the pager for what is longer than it.

use std::io::{self, IsTerminal as _, Write as _};
use std::process::{Child, Command, Stdio};

use crate::env;

/// What is narrower is no width to wrap at, in columns.
pub(super) const NARROWEST: usize = 20;

/// The columns of what is printed: those of the terminal, or what COLUMNS says. None where nobody knows,
/// as in a pipe: then a line is as long as its text.
pub fn columns() -> Option<usize> {
    let told = env::get(env::COLUMNS).and_then(|text| text.parse().ok());
    told.or_else(|| size().map(|(columns, _)| columns)).filter(|columns| *columns > 0)
}

/// The columns and lines of the terminal that stdout is.
#[cfg(unix)]
fn size() -> Option<(usize, usize)> {
    let stdout = io::stdout();
    let size = stdout.is_terminal().then(|| rustix::termios::tcgetwinsize(&stdout).ok())??;
    (size.ws_col > 0).then_some((usize::from(size.ws_col), usize::from(size.ws_row)))
}

#[cfg(not(unix))]
fn size() -> Option<(usize, usize)> {
    None
}

/// The columns that a character takes: two for the wide ones of East Asia and for emoji, none for marks
/// that stand on the one before.
fn char_columns(c: char) -> usize {
    match u32::from(c) {
        0x300..=0x36f | 0x200b..=0x200f | 0xfe00..=0xfe0f => 0,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f300..=0x1faff
        | 0x20000..=0x3fffd => 2,
        _ => 1,
    }
}

/// The columns of a text of one line; colours take none.
pub fn text_columns(text: &str) -> usize {
    let (mut columns, mut escape) = (0, false);
    for c in text.chars() {
        match c {
            '\u{1b}' => escape = true,
            'm' if escape => escape = false,
            _ if escape => {}
            c => columns += char_columns(c),
        }
    }
    columns
}

/// The text with so many columns: blanks behind it.
pub fn pad(text: &str, columns: usize) -> String {
    format!("{text}{:1$}", "", columns.saturating_sub(text_columns(text)))
}

/// The text in at most so many columns, the last of them an ellipsis where it was cut. Without colours.
pub fn cut(text: &str, columns: usize) -> String {
    if text_columns(text) <= columns {
        return text.to_string();
    }
    let (mut out, mut taken) = (String::new(), 1);
    for c in text.chars() {
        taken += char_columns(c);
        if taken > columns {
            break;
        }
        out.push(c);
    }
    out.push('\u{2026}');
    out
}

/// The line broken between its words, where it is wider than the terminal; what follows the first is indented.
pub fn wrap(line: &str, indent: usize) -> String {
    let Some(columns) = columns() else { return line.to_string() };
    let columns = columns.max(indent + NARROWEST);
    let mut out = String::new();
    let mut taken = 0;
    for (at, word) in line.split(' ').enumerate() {
        let width = text_columns(word);
        if taken > indent && taken + 1 + width > columns {
            out.push_str(&format!("\n{:indent$}", ""));
            taken = indent;
        } else if at > 0 {
            out.push(' ');
            taken += 1;
        }
        out.push_str(word);
        taken += width;
    }
    out
}

/// Where lines go: to the pager of a person at a terminal, else to stdout.
pub enum Pager {
    /// Straight to stdout.
    Stdout,
    /// To this program, which shows them.
    Program(Child),
}

impl Pager {
    /// A pager where stdout is a terminal that has fewer lines than that: `PAGER`, or `less -FRX`.
    pub fn for_lines(lines: usize) -> Pager {
        let told = env::get(env::LINES).and_then(|text| text.parse().ok());
        let rows = told.or_else(|| size().map(|(_, rows)| rows));
        let longer = rows.is_some_and(|rows| lines >= rows);
        if !longer || !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Pager::Stdout;
        }
        let named = env::get(env::PAGER);
        let line = named.as_deref().unwrap_or("less -FRX");
        let mut words = line.split_whitespace();
        let program = words.next().filter(|program| *program != "cat");
        let Some(program) = program else { return Pager::Stdout };
        let mut command = Command::new(program);
        command.args(words).stdin(Stdio::piped());
        if env::get("LESS").is_none() {
            command.env("LESS", "FRX");
        }
        // Without one the lines are shown all the same.
        command.spawn().map_or(Pager::Stdout, Pager::Program)
    }

    /// Shows the text.
    ///
    /// # Errors
    /// Where it cannot be written; a reader that has gone away is `BrokenPipe`.
    pub fn show(self, text: &str) -> io::Result<()> {
        match self {
            Pager::Stdout => {
                let mut out = io::stdout().lock();
                out.write_all(text.as_bytes()).and_then(|()| out.flush())
            }
            Pager::Program(mut child) => {
                let written =
                    child.stdin.take().map_or(Ok(()), |mut pipe| pipe.write_all(text.as_bytes()));
                child.wait()?;
                match written {
                    // Who has read enough ends the pager.
                    Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
                    other => other,
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_what_a_terminal_takes() {
        for (text, columns) in
            [("", 0), ("abc", 3), ("日本", 4), ("e\u{301}", 1), ("\u{1b}[31mred\u{1b}[0m", 3)]
        {
            assert_eq!(text_columns(text), columns, "{text:?}");
        }
        assert_eq!(cut("日本語", 5), "日本\u{2026}");
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab\u{2026}");
        assert_eq!(pad("日", 4), "日  ");
    }
}
