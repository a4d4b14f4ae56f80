//! A base command line taken apart into words, so that rewrites can change one of them.

use hookctl::effect::program::table;

/// The home directory of the tests.
pub use super::common::nobody::HOME;

/// Numbers that look random and are the same for the same seed.
pub struct Rng(pub u64);

impl Rng {
    /// A number below `n`.
    pub fn below(&mut self, n: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap() % n.max(1)
    }

    /// One of them.
    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len())]
    }
}

/// A word of the line.
#[derive(Clone, Debug)]
pub struct Word {
    /// What it is after expansion.
    pub value: String,
    /// How it is written now.
    pub text: String,
    /// Its value is known here and it is still written as in the base: it may be respelled.
    pub literal: bool,
    /// It was quoted in the base: its slashes are no path.
    pub quoted: bool,
}

impl Word {
    fn new(text: &str) -> Word {
        let quoted = text.contains('\'');
        let mut value = text.replace('\'', "");
        if let Some(rest) = text.strip_prefix('~')
            && (rest.is_empty() || rest.starts_with('/'))
        {
            value = format!("{HOME}{rest}");
        }
        // What the shell expands outside of the quotes; `=~` and `:~` are homes in some places.
        let bare: String = text.split('\'').step_by(2).collect();
        let home = if text == "~" { "" } else { bare.strip_prefix("~/").unwrap_or(&bare) };
        let literal = text == "{}" || !home.contains(['*', '?', '[', '$', '"', '\\', '{', '~']);
        Word { value, text: text.into(), literal, quoted }
    }

    /// Writes it another way, which is final.
    pub fn respell(&mut self, text: String) {
        self.text = text;
        self.literal = false;
    }

    /// Gives it another value that means the same; it may still be respelled.
    pub fn revalue(&mut self, value: String) {
        self.text = if is_plain(&value) { value.clone() } else { single(&value) };
        self.value = value;
    }
}

/// One command of a pipeline.
#[derive(Clone, Debug, Default)]
pub struct Stage {
    /// Programs that start it, outermost first, as text.
    pub wrappers: Vec<String>,
    /// The command and its arguments.
    pub words: Vec<Word>,
    /// Redirections: the operator and its word.
    pub redirects: Vec<(String, Word)>,
}

impl Stage {
    /// The program's name.
    pub fn name(&self) -> String {
        self.words[0].value.clone()
    }
}

/// A pipeline with what has to run before it.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// Assignments and `cd`, each with its separator.
    pub before: String,
    /// The pipeline.
    pub stages: Vec<Stage>,
}

impl Line {
    /// Reads a base; None where it is more than a pipeline of words and redirections, so that only
    /// the line as a whole can be rewritten.
    pub fn parse(text: &str) -> Option<Line> {
        if !is_pipeline(text) {
            return None;
        }
        let mut stages = vec![Stage::default()];
        let mut operator: Option<String> = None;
        for word in split(text) {
            let stage = stages.last_mut().unwrap();
            match word.as_str() {
                "|" => stages.push(Stage::default()),
                "<" | ">" | ">>" => operator = Some(word),
                _ => match operator.take() {
                    Some(operator) => stage.redirects.push((operator, Word::new(&word))),
                    None => stage.words.push(Word::new(&word)),
                },
            }
        }
        for stage in &mut stages {
            let switches = stage.words.first().is_some_and(|w| has_switches(&w.value));
            stage.words.iter_mut().for_each(|w| w.quoted |= switches && w.value.starts_with('/'));
        }
        let whole = operator.is_none() && stages.iter().all(|stage| !stage.words.is_empty());
        whole.then(|| Line { before: String::new(), stages })
    }

    /// Every word with its stage's number, redirections' words too.
    pub fn words(&mut self) -> Vec<(usize, &mut Word)> {
        self.stages
            .iter_mut()
            .enumerate()
            .flat_map(|(at, stage)| {
                let words =
                    stage.words.iter_mut().chain(stage.redirects.iter_mut().map(|r| &mut r.1));
                words.map(move |word| (at, word))
            })
            .collect()
    }

    /// The text.
    pub fn render(&self) -> String {
        let stages: Vec<String> = self
            .stages
            .iter()
            .map(|stage| {
                let mut parts = stage.wrappers.clone();
                parts.extend(stage.words.iter().map(|w| w.text.clone()));
                for (operator, word) in &stage.redirects {
                    parts.push(operator.clone());
                    parts.push(word.text.clone());
                }
                parts.join(" ")
            })
            .collect();
        format!("{}{}", self.before, stages.join(" | "))
    }
}

/// Is it a program of Windows, whose options begin with a slash?
fn has_switches(program: &str) -> bool {
    let name = program.to_ascii_lowercase();
    let name = name.strip_suffix(".exe").unwrap_or(&name);
    table::find_program(name, &[]).is_some_and(|p| p.windows)
}

/// Is it nothing but words between single blanks, `|`, `<`, `>` and `>>`, each pipeline's part a
/// program and not a word of the shell's grammar?
fn is_pipeline(text: &str) -> bool {
    const GRAMMAR: &[&str] = &["!", "[[", "time", "coproc", "function", "for", "if", "while", "{"];
    let mut first = true;
    split(text).iter().all(|word| {
        let quotes = word.matches('\'').count();
        let bare: String = word.split('\'').step_by(2).collect();
        let program = std::mem::replace(&mut first, word == "|");
        if matches!(word.as_str(), "|" | "<" | ">" | ">>") {
            return !program;
        }
        let doubles = bare.matches('"').count();
        let odd = word.is_empty() || !quotes.is_multiple_of(2) || !doubles.is_multiple_of(2);
        let mixed = quotes > 0 && doubles > 0;
        let more = [';', '&', '|', '<', '>', '(', ')', '`', '\n', '\t'];
        let comment = word.starts_with('#');
        !(odd || mixed || comment || bare.contains(more) || bare.ends_with('\\'))
            && !(program && (bare.contains('=') || GRAMMAR.contains(&word.as_str())))
    })
}

/// Words between blanks; single quotes keep blanks.
fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for c in text.chars() {
        match c {
            ' ' if !quoted => words.push(String::new()),
            _ => {
                quoted ^= c == '\'';
                words.last_mut().unwrap().push(c);
            }
        }
    }
    words
}

/// Needs no quotes in any place.
pub fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "/._-+:@%=,".contains(c))
}

/// In single quotes.
pub fn single(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// In double quotes.
pub fn double(text: &str) -> String {
    let mut out = String::from("\"");
    for c in text.chars() {
        if matches!(c, '"' | '\\' | '$' | '`') {
            out.push('\\');
        }
        out.push(c);
    }
    out + "\""
}

/// In `$'...'`, `how` says which characters are escaped by number.
pub fn ansi(text: &str, mut how: impl FnMut(char) -> Option<String>) -> String {
    let mut out = String::from("$'");
    for c in text.chars() {
        match (how(c), c) {
            (Some(number), _) => out.push_str(&number),
            (None, '\'' | '\\') => out.extend(['\\', c]),
            (None, '\n') => out.push_str("\\n"),
            (None, _) => out.push(c),
        }
    }
    out + "'"
}
