//! The text of PowerShell without what has two spellings, and which of it is code.

/// A text as the reader takes it apart.
#[derive(Default)]
pub(super) struct Plain {
    /// Texts over lines stand in common quotes, comments and ends of lines that are none are gone, quotes and dashes
    /// are plain.
    pub(super) text: String,
    /// The same, and as long: what is no code but text in quotes is `_`.
    pub(super) code: String,
}

/// What the reader stands in.
#[derive(Clone, Copy, PartialEq)]
enum Within {
    /// A text in quotes.
    Quote(char),
    /// A text over lines, `@'...'@`.
    Lines(char),
    /// What is computed in a text, or brackets.
    Bracket,
}

/// The plain one of the quotes that PowerShell takes for the same.
fn plain_quote(c: char) -> Option<char> {
    match c {
        '\'' | '‘' | '’' | '‚' | '‛' => Some('\''),
        '"' | '“' | '”' | '„' | '‟' => Some('"'),
        _ => None,
    }
}

impl Plain {
    pub(super) fn new(text: &str) -> Plain {
        let (mut out, mut within) = (Plain::default(), Vec::new());
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let behind = rest.as_str();
            match within.last() {
                Some(Within::Lines(quote)) => {
                    if c == '\n' && ends_lines(behind, *quote) {
                        out.push(*quote);
                        rest.nth(1);
                        within.pop();
                    } else if plain_quote(c) == Some(*quote) {
                        out.hide(*quote);
                        out.hide(*quote);
                    } else if *quote == '\'' || !out.push_computed(c, &mut rest, &mut within) {
                        out.hide(c);
                    }
                }
                Some(Within::Quote(quote)) if plain_quote(c) == Some(*quote) => {
                    if behind.chars().next().and_then(plain_quote) == Some(*quote) {
                        rest.next();
                        out.hide(*quote);
                        out.hide(*quote);
                    } else {
                        out.push(*quote);
                        within.pop();
                    }
                }
                Some(Within::Quote('\'')) => out.hide(c),
                Some(Within::Quote(_)) => {
                    if !out.push_computed(c, &mut rest, &mut within) {
                        out.hide(c);
                    }
                }
                Some(Within::Bracket) | None => match c {
                    '#' if out.begins_word() => rest = skip_until(behind, "\n"),
                    '<' if behind.starts_with('#') => {
                        rest = skip_until(behind, "#>");
                        rest.nth(1);
                        out.push(' ');
                    }
                    '`' if behind.starts_with(['\n', '\r']) => {
                        rest = behind.strip_prefix('\r').unwrap_or(behind).chars();
                        rest.next();
                        out.push(' ');
                    }
                    '`' => {
                        out.push(c);
                        rest.next().into_iter().for_each(|c| out.push(c));
                    }
                    '@' => match text_over_lines(behind) {
                        Some((quote, behind)) => {
                            out.push(quote);
                            within.push(Within::Lines(quote));
                            rest = behind.chars();
                            // Its first end of a line is the last one if it is empty.
                            if !ends_lines(&behind[1..], quote) {
                                rest.next();
                            }
                        }
                        None => out.push(c),
                    },
                    '–' | '—' | '―' => out.push('-'),
                    '(' => {
                        out.push(c);
                        within.push(Within::Bracket);
                    }
                    ')' => {
                        out.push(c);
                        within.pop();
                    }
                    c => match plain_quote(c) {
                        Some(quote) => {
                            out.push(quote);
                            within.push(Within::Quote(quote));
                        }
                        None => out.push(c),
                    },
                },
            }
        }
        out
    }

    fn push(&mut self, c: char) {
        self.text.push(c);
        self.code.push(c);
    }

    /// A sign of a text in quotes.
    fn hide(&mut self, c: char) {
        self.text.push(c);
        self.code.extend(std::iter::repeat_n('_', c.len_utf8()));
    }

    /// Takes what stands for something else in double quotes; false = it stands for itself.
    fn push_computed(
        &mut self,
        c: char,
        rest: &mut std::str::Chars,
        within: &mut Vec<Within>,
    ) -> bool {
        let behind = rest.as_str();
        match c {
            '`' if behind.starts_with("u{") => {
                rest.nth(1);
                "`u{".chars().for_each(|c| self.push(c));
            }
            '`' => {
                self.hide(c);
                rest.next().into_iter().for_each(|c| self.hide(c));
            }
            '$' if behind.starts_with('(') => {
                rest.next();
                "$(".chars().for_each(|c| self.push(c));
                within.push(Within::Bracket);
            }
            _ => return false,
        }
        true
    }

    /// Does a word begin here?
    fn begins_word(&self) -> bool {
        self.text.chars().next_back().is_none_or(|c| c.is_whitespace() || ";{}()|&,".contains(c))
    }
}

/// What stands from that sign on.
fn skip_until<'t>(text: &'t str, sign: &str) -> std::str::Chars<'t> {
    text.find(sign).map_or("", |at| &text[at..]).chars()
}

fn ends_lines(text: &str, quote: char) -> bool {
    let mut signs = text.chars();
    signs.next().and_then(plain_quote) == Some(quote) && signs.next() == Some('@')
}

/// The quote behind the `@` of a text over lines, and its lines, the end of a line before them.
fn text_over_lines(behind: &str) -> Option<(char, &str)> {
    let quote = behind.chars().next().and_then(plain_quote)?;
    let mut rest = behind.chars();
    rest.next();
    let lines = rest.as_str().trim_start_matches([' ', '\t', '\r']);
    lines.starts_with('\n').then_some((quote, lines))
}
