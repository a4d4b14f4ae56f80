//! fish's text as the same text of a POSIX shell: its blocks, substitutions, variables and quotes. What cannot be told
//! is left as it stands, so that the reader says that it does not understand it.

use crate::limits;

/// A part of a command line.
#[derive(Debug, PartialEq, Eq)]
enum Token<'t> {
    /// A word, as it is written.
    Word(&'t str),
    /// What ends a command: `;`, a line's end, `&`, `|`, `&&`, `||`.
    End(&'t str),
}

/// A block that is open.
#[derive(Debug, PartialEq, Eq)]
enum Block {
    /// The condition of `if` or `while`, and the word that goes behind it.
    Condition(&'static str),
    If,
    Loop,
    Group,
    /// A function, and whether fish calls it by itself.
    Function(String, bool),
    /// `switch`; whether a case of it is open.
    Switch(bool),
}

/// The text as a POSIX shell would have it.
pub(super) fn as_posix(text: &str) -> String {
    translate(text, 0)
}

fn translate(text: &str, depth: usize) -> String {
    if depth > limits::SUBSTITUTED {
        // As it is written it is no text of a POSIX shell.
        return text.to_string();
    }
    let out = String::with_capacity(text.len());
    Translation { out, blocks: Vec::new(), depth }.translate(text)
}

/// Where the word or mark that begins the text ends.
fn word_end(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut open, mut quote) = (0, 0_usize, None);
    while let Some(byte) = bytes.get(at) {
        match (quote, byte) {
            (_, b'\\') => at += 1,
            (Some(own), byte) if own == *byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(*byte),
            (None, b'(') => open += 1,
            (None, b')') => open = open.saturating_sub(1),
            (None, b' ' | b'\t' | b'\n' | b';' | b'&' | b'|') if open == 0 => break,
            _ => {}
        }
        at += 1;
    }
    at.min(text.len())
}

/// Where the substitution whose bracket is open before the text is closed.
fn substitution_end(text: &str) -> usize {
    let end = word_end(&format!("({text}")).saturating_sub(1);
    let (mut open, mut quote, mut escaped) = (1_usize, None, false);
    for (at, byte) in text.bytes().enumerate().take(end.max(1)) {
        match (quote, byte) {
            _ if escaped => escaped = false,
            (_, b'\\') => escaped = true,
            (Some(own), byte) if own == byte => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'') => quote = Some(byte),
            (None, b'(') => open += 1,
            (None, b')') if open == 1 => return at,
            (None, b')') => open -= 1,
            _ => {}
        }
    }
    text.len()
}

fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t', '\r']);
        if rest.starts_with('#') {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        }
        if rest.is_empty() {
            return found;
        }
        let mark = ["&&", "||", "&|", ";", "\n", "|", "&"].iter().find(|m| rest.starts_with(**m));
        // `&>` and `2>&1` belong to words.
        let word = if rest.starts_with("&>") { 1 + word_end(&rest[1..]) } else { word_end(rest) };
        let word = match rest.as_bytes().get(word.wrapping_sub(1)..=word) {
            Some(b">&") => word + 1 + word_end(&rest[word + 1..]),
            _ => word,
        };
        match mark.filter(|_| !rest.starts_with("&>")) {
            Some(mark) => {
                found.push(Token::End(&rest[..mark.len()]));
                rest = &rest[mark.len()..];
            }
            None => {
                found.push(Token::Word(&rest[..word]));
                rest = &rest[word..];
            }
        }
    }
}

/// A word that a POSIX shell expands as fish expands the other.
fn word(text: &str, depth: usize) -> String {
    let mut out = String::new();
    let mut rest = text;
    let mut double = false;
    while let Some(c) = rest.chars().next() {
        let mut taken = c.len_utf8();
        match c {
            '\\' => {
                taken += rest[1..].chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..taken]);
            }
            '"' => {
                double = !double;
                out.push('"');
            }
            '`' => out.push_str("\\`"),
            '\'' if !double => {
                let (text, end) = single_quoted(&rest[1..]);
                out.push_str(&format!("'{}'", text.replace('\'', "'\\''")));
                taken = 1 + end;
            }
            '$' if rest[1..].starts_with('(') => {
                let end = substitution_end(&rest[2..]);
                out.push_str(&substitution(&rest[2..2 + end], depth));
                taken = (3 + end).min(rest.len());
            }
            '(' if !double => {
                let end = substitution_end(&rest[1..]);
                out.push_str(&substitution(&rest[1..1 + end], depth));
                taken = (2 + end).min(rest.len());
            }
            // `$$x`: what is in the variable that it names.
            '$' if rest[1..].starts_with('$') => {
                let name = rest.trim_start_matches('$');
                let rest_of_it = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
                let name = &name[..name.len() - rest_of_it.len()];
                out.push_str(&format!("${{!{name}}}"));
                taken = rest.len() - rest_of_it.len();
            }
            '$' => {
                let name = rest[1..].trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
                let end = rest.len() - name.len();
                let index =
                    name.strip_prefix('[').and_then(|n| n.find(']').map(|at| (&n[..at], at)));
                out.push_str(&variable(&rest[1..end], index.map(|(index, _)| index), double));
                taken = end + index.map_or(0, |(_, at)| at + 2);
            }
            c => out.push(c),
        }
        rest = &rest[taken..];
    }
    out
}

/// The text between single quotes, and where behind it the word goes on.
fn single_quoted(text: &str) -> (String, usize) {
    let mut out = String::new();
    let mut chars = text.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        match (c, chars.peek()) {
            ('\'', _) => return (out, at + 1),
            ('\\', Some((_, next @ ('\'' | '\\')))) => {
                out.push(*next);
                chars.next();
            }
            _ => out.push(c),
        }
    }
    (out, text.len())
}

/// `(cmd)`, and `(cmd | psub)`, which is a file.
fn substitution(text: &str, depth: usize) -> String {
    match text.trim_end().strip_suffix("psub").and_then(|text| text.trim_end().strip_suffix('|')) {
        Some(text) => format!("<({})", translate(text, depth + 1)),
        None => format!("$({})", translate(text, depth + 1)),
    }
}

/// A variable is one word or several, and never split.
fn variable(name: &str, index: Option<&str>, double: bool) -> String {
    let quote = if double { "" } else { "\"" };
    match (name, index) {
        ("", _) => "$".to_string(),
        ("argv", Some(n)) if n.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{quote}${{{n}}}{quote}")
        }
        ("argv", _) => format!("{quote}$@{quote}"),
        ("status" | "pipestatus", _) => "$?".to_string(),
        // Those that the machine sets are one word.
        _ if name.bytes().all(|b| b.is_ascii_uppercase() || b == b'_') => {
            format!("{quote}${{{name}}}{quote}")
        }
        _ => format!("{quote}${{{name}[@]}}{quote}"),
    }
}

/// What the word is without its quotes.
fn bare(text: &str) -> String {
    match text.strip_prefix('\'') {
        Some(rest) => single_quoted(rest).0,
        None => text.trim_matches('"').replace("\\\"", "\""),
    }
}

struct Translation {
    out: String,
    blocks: Vec<Block>,
    depth: usize,
}

impl Translation {
    fn translate(mut self, text: &str) -> String {
        let tokens = tokens(text);
        let mut at = 0;
        while at < tokens.len() {
            let words: Vec<&str> = tokens[at..]
                .iter()
                .map_while(|token| if let Token::Word(word) = token { Some(*word) } else { None })
                .collect();
            at += words.len();
            self.command(&words);
            let end = match tokens.get(at) {
                Some(Token::End(end)) => *end,
                _ => "\n",
            };
            at += 1;
            let joins = |token: &&Token| !matches!(token, Token::End("\n" | ";"));
            let next = tokens.get(at..).unwrap_or_default().iter().find(joins);
            self.end(end, words.is_empty(), next);
        }
        self.out
    }

    /// What stands between two commands.
    fn end(&mut self, end: &str, empty: bool, next: Option<&Token>) {
        match (end, next) {
            (";" | "\n", Some(Token::Word(word @ ("and" | "or")))) => {
                self.out.push_str(if *word == "and" { " && " } else { " || " });
            }
            (";" | "\n", _) => {
                if let Some(Block::Condition(word)) = self.blocks.last()
                    && !empty
                {
                    let block = if *word == "then" { Block::If } else { Block::Loop };
                    self.out.push_str(&format!("\n{word}"));
                    self.blocks.pop();
                    self.blocks.push(block);
                }
                self.out.push('\n');
            }
            ("&|", _) => self.out.push_str(" |& "),
            _ => self.out.push_str(&format!(" {end} ")),
        }
    }

    fn push(&mut self, words: &[&str]) {
        for text in words {
            // `>? file` writes where there is none.
            let text =
                text.strip_prefix(">?").map_or((*text).to_string(), |rest| format!(">{rest}"));
            self.out.push_str(&word(&text, self.depth));
            self.out.push(' ');
        }
    }

    /// One command, behind the words that only lead to it.
    fn command(&mut self, words: &[&str]) {
        let mut words = words;
        while let Some((first, rest)) = words.split_first() {
            words = match *first {
                "and" | "or" => rest,
                "else" if rest.first() == Some(&"if") => {
                    self.blocks.pop();
                    self.open(Block::Condition("then"), "elif ");
                    &rest[1..]
                }
                "not" => self.lead("! ", rest),
                "else" => self.lead("else ", rest),
                "begin" => self.open(Block::Group, "{ ").lead("", rest),
                "if" => self.open(Block::Condition("then"), "if ").lead("", rest),
                "while" => self.open(Block::Condition("do"), "while ").lead("", rest),
                _ => return self.plain_command(first, rest, words),
            };
        }
    }

    fn lead<'w, 't>(&mut self, text: &str, rest: &'w [&'t str]) -> &'w [&'t str] {
        self.out.push_str(text);
        rest
    }

    fn open(&mut self, block: Block, text: &str) -> &mut Self {
        self.blocks.push(block);
        self.out.push_str(text);
        self
    }

    fn plain_command(&mut self, first: &str, rest: &[&str], words: &[&str]) {
        match first {
            "for" => {
                self.open(Block::Loop, "for ").push(rest);
                self.out.push_str("\ndo");
            }
            "switch" => {
                self.open(Block::Switch(false), "case ").push(rest);
                self.out.push_str("in");
            }
            "case" => {
                if let Some(Block::Switch(open)) = self.blocks.last_mut()
                    && std::mem::replace(open, true)
                {
                    self.out.push_str(";;\n");
                }
                let patterns: Vec<String> =
                    rest.iter().map(|text| word(text, self.depth)).collect();
                self.out.push_str(&format!("{})", patterns.join("|")));
            }
            "function" => self.function(rest),
            "end" => self.close(rest),
            "set" => self.set(rest),
            "alias" if rest.len() == 2 && !rest[0].starts_with('-') => {
                let text = format!("{}={}", rest[0], bare(rest[1]));
                self.out.push_str(&format!("alias '{}'", text.replace('\'', "'\\''")));
            }
            "alias" if rest.len() > 1 && matches!(rest[0], "-s" | "--save") => {
                self.push(words);
                self.keep_function(rest[1]);
            }
            "funcsave" => {
                self.out.push_str("true");
                rest.iter().for_each(|name| self.keep_function(name));
            }
            "source" | "." if matches!(rest, [] | ["-"]) => {
                self.out.push_str("source /dev/stdin");
            }
            _ => self.push(words),
        }
    }

    fn function(&mut self, rest: &[&str]) {
        let name = rest.first().map_or_else(String::new, |name| bare(name));
        let hooks = ["-e", "-v", "-s", "-p", "-j"];
        let called = name.starts_with("fish_")
            || rest.iter().any(|text| text.starts_with("--on-") || hooks.contains(text));
        self.out.push_str(&format!("{name}() {{"));
        self.blocks.push(Block::Function(name, called));
    }

    fn close(&mut self, rest: &[&str]) {
        let block = self.blocks.pop();
        self.out.push_str(match &block {
            Some(Block::If) => "fi ",
            Some(Block::Loop) => "done ",
            Some(Block::Switch(true)) => ";;\nesac ",
            Some(Block::Switch(false)) => "esac ",
            _ => "} ",
        });
        self.push(rest);
        if let Some(Block::Function(name, true)) = block {
            self.out.push_str(&format!("\n{name}"));
        }
    }

    /// `set -gx NAME VALUE ...`
    /// What every later fish finds in its settings.
    fn keep(&mut self, file: &str) {
        self.out.push_str(&format!("; : >> ~/.config/fish/{file}"));
    }

    fn keep_function(&mut self, name: &str) {
        let name = bare(name);
        self.keep(&format!("functions/{}.fish", name.split('=').next().unwrap_or_default()));
    }

    fn set(&mut self, rest: &[&str]) {
        let flags: Vec<&str> = rest.iter().copied().take_while(|w| w.starts_with('-')).collect();
        let has = |short: char, long: &str| {
            flags.iter().any(|f| *f == long || !f.starts_with("--") && f.contains(short))
        };
        let (name, values) = match &rest[flags.len()..] {
            [name, values @ ..] => (name.split('[').next().unwrap_or_default(), values),
            [] => return self.out.push_str("true"),
        };
        if has('q', "--query") || has('S', "--show") {
            return self.out.push_str("true");
        }
        if has('e', "--erase") {
            return self.out.push_str(&format!("unset {name}"));
        }
        let more = has('a', "--append") || has('p', "--prepend") || rest[flags.len()].contains('[');
        if has('x', "--export") {
            self.out.push_str("export ");
        }
        match values {
            [one] if !more => self.out.push_str(&format!("{name}={}", word(one, self.depth))),
            _ => {
                self.out.push_str(&format!("{name}{}(", if more { "+=" } else { "=" }));
                self.push(values);
                self.out.push(')');
            }
        }
        let weighs = has('x', "--export") || name.to_ascii_lowercase().contains("path");
        if has('U', "--universal") && weighs {
            self.keep("fish_variables");
        }
    }
}
