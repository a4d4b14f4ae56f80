//! What can be read from the descriptors that a text opens: `3<<< text`, `exec 3< file`, `<&3`, `/dev/fd/3`.

use shuck_ast::{Redirect, RedirectKind, RedirectTarget, Stmt, Word};

use super::{Feed, Walker};
use crate::effect::value::{Printer, Text, Value};

/// Standard input, as a descriptor is named.
const INPUT: &str = "0";

/// The descriptor that a path stands for.
fn named_by_path(path: &str) -> Option<&str> {
    match path {
        "/dev/stdin" => Some(INPUT),
        _ => ["/dev/fd/", "/proc/self/fd/"].iter().find_map(|dir| path.strip_prefix(dir)),
    }
}

impl Walker<'_> {
    /// Is the word the descriptor of the here-document behind it, which the parser takes for an argument: `3<<< x`?
    pub(super) fn is_descriptor_word(&self, word: &Word) -> bool {
        self.source_behind(word.span).starts_with("<<") && names_descriptor(self.slice(word.span))
    }

    /// The descriptor that a redirection opens, by its number or its variable.
    fn descriptor_of(&self, redirect: &Redirect) -> String {
        if let Some(name) = &redirect.fd_var {
            return name.as_str().to_string();
        }
        let before = self.frame.source.get(..redirect.span.start.offset()).unwrap_or_default();
        let word = before.rsplit([' ', '\t', '\n', ';', '&', '|', '(']).next().unwrap_or_default();
        match redirect.fd {
            Some(number) => number.to_string(),
            None if self.slice(redirect.span).starts_with("<<") && names_descriptor(word) => {
                word.trim_matches(['{', '}']).to_string()
            }
            None => INPUT.to_string(),
        }
    }

    /// What standard input is behind the statement's own redirections, if they change it.
    pub(super) fn redirect_feed(&mut self, stmt: &Stmt) -> Option<Feed> {
        let held = self.descriptors.len();
        let feed = self.open_descriptors(stmt);
        self.descriptors.truncate(held);
        feed
    }

    /// The same; what the statement's other descriptors give is kept.
    pub(super) fn open_descriptors(&mut self, stmt: &Stmt) -> Option<Feed> {
        let mut feed = None;
        for redirect in stmt.redirects.iter() {
            let name = self.descriptor_of(redirect);
            if name == INPUT {
                feed = self.opened_feed(redirect, feed, true);
            } else if let Some(other) = self.opened_feed(redirect, None, false) {
                self.descriptors.push((name, other));
            }
        }
        feed
    }

    /// What the descriptor of that name gives.
    pub(super) fn descriptor_feed(&self, name: &str) -> Option<Feed> {
        let name = name.trim_end_matches('-');
        self.descriptors.iter().rev().find(|(own, _)| own == name).map(|(_, feed)| feed.clone())
    }

    /// What a path gives that stands for a descriptor; `input` = what standard input gives.
    pub(super) fn path_feed(&self, file: &Value, input: &Feed) -> Option<Feed> {
        match named_by_path(file.plain_text()?)? {
            INPUT => Some(input.clone()),
            name => self.descriptor_feed(name),
        }
    }

    /// What a redirection lets read, where it opens something for reading; `feed` = what stood there before.
    fn opened_feed(
        &mut self,
        redirect: &Redirect,
        feed: Option<Feed>,
        input: bool,
    ) -> Option<Feed> {
        match (redirect.kind, &redirect.target) {
            (_, RedirectTarget::Heredoc(heredoc)) => {
                let text = self.without_choosing(|w| w.heredoc_text(&heredoc.body));
                // The text of one world is not that of the others; zsh hands over what stood before as well.
                let text = text.filter(|_| !self.several && feed.is_none());
                Some(text.map_or(Feed::Stream(Printer::Stranger), Feed::Text))
            }
            (RedirectKind::HereString, RedirectTarget::Word(word)) => {
                let value = self.without_choosing(|w| w.expand_one(word, true));
                Some(match value.sketch_text() {
                    _ if self.several || feed.is_some() => Feed::Stream(Printer::Stranger),
                    Some(text) => Feed::Text(format!("{text}\n")),
                    None => Feed::Stream(value.by()),
                })
            }
            (RedirectKind::Input | RedirectKind::ReadWrite, RedirectTarget::Word(word)) => {
                let value = self.without_choosing(|w| w.expand_one(word, false));
                let several = word.has_active_brace_expansion() || feed.is_some();
                match value.plain_text() {
                    // zsh hands over all of them, one behind the other.
                    _ if several => Some(Feed::Stream(Printer::Stranger)),
                    _ if let Text::Pipe(at) = value.text => Some(self.pipe_feed(at)),
                    _ if self.several => Some(Feed::Stream(Printer::Stranger)),
                    Some("/dev/null") => Some(Feed::Text(String::new())),
                    // The shell itself asks that host.
                    Some(path) if super::redirect::is_connection(path) => {
                        Some(Feed::Stream(Printer::Stranger))
                    }
                    // What is fed already goes on.
                    Some("/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0") => feed,
                    Some(path) if named_by_path(path).is_some() => {
                        let feed = self.path_feed(&value, &Feed::Stream(Printer::Stranger));
                        Some(feed.unwrap_or(Feed::Stream(Printer::Stranger)))
                    }
                    _ => Some(self.listed_in(&value).unwrap_or(Feed::File(value))),
                }
            }
            (RedirectKind::DupInput, target) => {
                let name = match target {
                    RedirectTarget::Word(word) => self.slice(word.span),
                    RedirectTarget::Heredoc(_) => "",
                };
                let name = name.trim_matches(['"', '$', '{', '}']);
                // zsh hands over what stood before as well.
                let known = self.descriptor_feed(name).filter(|_| feed.is_none());
                Some(known.unwrap_or(Feed::Stream(Printer::Stranger)))
            }
            // `0>&1`: standard input is what standard output is connected to.
            (RedirectKind::DupOutput, _) if input && redirect.fd == Some(0) => {
                Some(Feed::Stream(Printer::Stranger))
            }
            _ => feed,
        }
    }
}

/// Is that a number, or a variable that is given one: `3`, `{fd}`?
fn names_descriptor(text: &str) -> bool {
    let name = text.strip_prefix('{').and_then(|text| text.strip_suffix('}'));
    let number = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    number || name.is_some_and(super::parameter::is_name)
}
