//! A terminal's text, with its colours, as an SVG.

use std::fmt::Write as _;

/// Columns of the picture, and the size of one character.
const WIDTH: usize = 100;
const CELL: (usize, usize) = (8, 19);

/// A run of text and its SGR codes.
struct Run {
    text: String,
    codes: Vec<u8>,
}

/// The commands and what they print.
pub fn draw(shown: &[(&str, String)]) -> String {
    let mut lines: Vec<Vec<Run>> = Vec::new();
    for (command, output) in shown {
        if !lines.is_empty() {
            lines.push(Vec::new());
        }
        lines.push(vec![Run { text: format!("$ {command}"), codes: vec![1] }]);
        lines.extend(output.lines().flat_map(|line| wrapped(runs(line))));
    }
    let (width, height) = (WIDTH * CELL.0 + 40, lines.len() * CELL.1 + 50);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" role=\"img\">\n\
         <title>What hookctl says of three commands</title>\n\
         <rect width=\"{width}\" height=\"{height}\" rx=\"8\" fill=\"#1c1f24\"/>\n\
         <g font-family=\"ui-monospace, SFMono-Regular, Menlo, Consolas, monospace\" font-size=\"13\" fill=\"#d6d9de\" style=\"white-space: pre\">\n"
    );
    for (at, line) in lines.iter().enumerate() {
        let y = 35 + at * CELL.1;
        let mut column = 0;
        for run in line {
            // Browsers drop blanks at the ends of a text: they are a place of the next one.
            let blanks = run.text.chars().take_while(|c| *c == ' ').count();
            let text = run.text.trim();
            let (length, shown) = (run.text.chars().count(), text.chars().count());
            if shown > 0 {
                let _ = writeln!(
                    out,
                    "<text x=\"{}\" y=\"{y}\" textLength=\"{}\"{}>{}</text>",
                    20 + (column + blanks) * CELL.0,
                    shown * CELL.0,
                    style(&run.codes),
                    escaped(text)
                );
            }
            column += length;
        }
    }
    out.push_str("</g>\n</svg>\n");
    out
}

/// A line's runs, by its escapes.
fn runs(line: &str) -> Vec<Run> {
    let mut found = Vec::new();
    let mut codes = Vec::new();
    for (at, part) in line.split("\u{1b}[").enumerate() {
        let (sgr, text) =
            if at == 0 { ("", part) } else { part.split_once('m').expect("a colour") };
        for code in sgr.split(';').filter_map(|code| code.parse().ok()) {
            if code == 0 { codes.clear() } else { codes.push(code) }
        }
        if !text.is_empty() {
            found.push(Run { text: text.to_string(), codes: codes.clone() });
        }
    }
    found
}

/// A line that is too wide goes on below, at a blank.
fn wrapped(line: Vec<Run>) -> Vec<Vec<Run>> {
    let mut lines = vec![Vec::new()];
    let mut column = 0;
    for run in line {
        let mut text = String::new();
        for word in run.text.split_inclusive(' ') {
            let length = word.chars().count();
            if column + word.trim_end().chars().count() > WIDTH && column > 0 {
                let before = std::mem::take(&mut text);
                lines
                    .last_mut()
                    .expect("a line")
                    .push(Run { text: before, codes: run.codes.clone() });
                lines.push(Vec::new());
                column = 0;
            }
            text.push_str(word);
            column += length;
        }
        lines.last_mut().expect("a line").push(Run { text, codes: run.codes });
    }
    lines.iter_mut().for_each(|line| line.retain(|run| !run.text.is_empty()));
    lines
}

fn style(codes: &[u8]) -> String {
    let mut out = String::new();
    for code in codes {
        match code {
            1 => out.push_str(" font-weight=\"bold\""),
            2 => out.push_str(" opacity=\"0.65\""),
            31 | 91 => out.push_str(" fill=\"#ff7b72\""),
            32 | 92 => out.push_str(" fill=\"#7ee787\""),
            33 | 93 => out.push_str(" fill=\"#e3b341\""),
            34 | 94 => out.push_str(" fill=\"#79c0ff\""),
            35 | 95 => out.push_str(" fill=\"#d2a8ff\""),
            36 | 96 => out.push_str(" fill=\"#76e3ea\""),
            _ => {}
        }
    }
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
