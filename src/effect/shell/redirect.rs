//! Redirections: what a command reads from, what it writes to, and what a producer hands on.

use shuck_ast::{Command, RedirectKind, RedirectTarget, SimpleCommand, Stmt, StmtSeq};

use super::word::{Atom, quoted};
use super::{Feed, Walker};
use crate::effect::program::special;
use crate::effect::value::{Spot, Value};
use crate::effect::{Extent, Grade, Source, Word};

impl Walker<'_> {
    /// What standard input is behind the statement's own redirections, if they change it.
    pub(super) fn redirect_feed(&mut self, stmt: &Stmt) -> Option<Feed> {
        let mut feed = None;
        for redirect in stmt.redirects.iter() {
            if redirect.fd.is_some_and(|fd| fd != 0) || redirect.fd_var.is_some() {
                continue;
            }
            match (redirect.kind, &redirect.target) {
                (_, RedirectTarget::Heredoc(heredoc)) => {
                    let text = self.quietly(|w| w.heredoc(&heredoc.body));
                    let one = text.filter(|_| !self.several);
                    feed = Some(one.map_or(Feed::Stream, Feed::Text));
                }
                (RedirectKind::HereString, RedirectTarget::Word(word)) => {
                    let value = self.quietly(|w| w.expand_one(word, true));
                    feed = Some(match value.plain() {
                        Some(text) if !self.several => Feed::Text(format!("{text}\n")),
                        _ => Feed::Stream,
                    });
                }
                (RedirectKind::Input | RedirectKind::ReadWrite, RedirectTarget::Word(word)) => {
                    let value = self.quietly(|w| w.expand_one(word, false));
                    feed = Some(if value.pipe { Feed::Stream } else { Feed::File(value) });
                }
                (RedirectKind::DupInput, _) => feed = Some(Feed::Stream),
                _ => {}
            }
        }
        feed
    }

    /// Evaluates something without choosing a world for good.
    pub(super) fn quietly<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.choice.len();
        let result = run(self);
        // In more than one world the text is not one text.
        self.several = self.choice.len() > length;
        self.choice.truncate(length);
        result
    }

    /// Walks the commands inside redirection targets.
    pub(super) fn visit_redirects(&mut self, stmt: &Stmt) {
        for redirect in stmt.redirects.iter() {
            match &redirect.target {
                RedirectTarget::Word(word) => self.visit_word(word),
                RedirectTarget::Heredoc(heredoc) => self.visit_heredoc(&heredoc.body),
            }
        }
    }

    /// The effects of the redirections themselves.
    pub(super) fn redirect_effects(
        &mut self,
        stmt: &Stmt,
        command: Option<usize>,
        cwd: Option<String>,
    ) {
        let writing = |r: &shuck_ast::Redirect| {
            matches!(r.kind, RedirectKind::Output | RedirectKind::Clobber)
        };
        let content =
            if stmt.redirects.iter().any(writing) { self.printed_text(stmt) } else { None };
        for redirect in stmt.redirects.iter() {
            let RedirectTarget::Word(word) = &redirect.target else { continue };
            let (reads, writes, dup) = match redirect.kind {
                RedirectKind::Output
                | RedirectKind::Clobber
                | RedirectKind::Append
                | RedirectKind::OutputBoth => (false, true, false),
                RedirectKind::Input => (true, false, false),
                RedirectKind::ReadWrite => (true, true, false),
                RedirectKind::DupOutput => (false, true, true),
                RedirectKind::DupInput => (true, false, true),
                RedirectKind::HereDoc | RedirectKind::HereDocStrip | RedirectKind::HereString => {
                    continue;
                }
            };
            let literal = matches!(redirect.kind, RedirectKind::Output | RedirectKind::Clobber);
            let content = if literal { content.clone() } else { None };
            self.worlds(|w| {
                // Braces that leave one word are expanded; more than one are an error.
                let value = match word.has_active_brace_expansion() {
                    true => match &mut w.expand(word)[..] {
                        [one] => std::mem::take(one),
                        _ => return,
                    },
                    false => w.expand_one(word, false),
                };
                w.out.cwd = cwd.clone();
                w.out.command = command;
                if dup && value.text.is_none() && w.slice(word.span).contains('\\') {
                    w.out.unknown("a word behind >& that expands again", value.span.clone());
                }
                w.redirect(&value, reads, writes, dup);
                if writes && let Spot::At(target) = w.out.spot(&value, Extent::Exact, true) {
                    let again = w.out.written.contains_key(&target.resolved);
                    let content = if again { None } else { content.clone() };
                    w.out.written.insert(target.resolved, content);
                }
            });
        }
    }

    fn redirect(&mut self, value: &Value, reads: bool, writes: bool, dup: bool) {
        let text = value.start().to_string();
        if dup && value.text.is_some() {
            let fd = text.trim_end_matches('-');
            if fd.bytes().all(|b| b.is_ascii_digit()) {
                return;
            }
        }
        // bash expands the word behind `>&` twice.
        if dup && writes && value.text.is_some() && text.contains(['$', '`', '\\', '\'', '"']) {
            self.out.unknown("a word behind >& that expands again", value.span.clone());
        }
        if let Some(rest) =
            text.strip_prefix("/dev/tcp/").or_else(|| text.strip_prefix("/dev/udp/"))
        {
            let host = rest
                .split('/')
                .next()
                .filter(|h| !h.is_empty() && (value.text.is_some() || rest.contains('/')))
                .map(str::to_ascii_lowercase);
            let grade = if host.is_some() { Grade::Certain } else { Grade::Unknown };
            let span = value.span.clone();
            self.out.effect(
                Word::Network,
                grade,
                None,
                host.clone(),
                Source::Redirect,
                span.clone(),
            );
            if writes {
                self.out.effect(Word::Send, grade, None, host, Source::Redirect, span);
            }
            return;
        }
        if reads {
            self.out.path(Word::Read, value, Extent::Exact, Grade::Certain, Source::Redirect);
        }
        if writes {
            self.out.path(Word::Write, value, Extent::Exact, Grade::Certain, Source::Redirect);
        }
    }

    /// What a statement hands to the next one in a pipeline.
    pub(super) fn product(&mut self, stmt: &Stmt) -> Feed {
        let Command::Simple(simple) = &stmt.command else { return Feed::Stream };
        let outer = self.redirect_feed(stmt).unwrap_or_else(|| self.feed.clone());
        self.quietly(|w| w.product_of(simple, &outer)).unwrap_or(Feed::Stream)
    }

    fn product_of(&mut self, simple: &SimpleCommand, fed: &Feed) -> Option<Feed> {
        let words = self.words_of(simple);
        let name = words.first()?.plain()?.rsplit('/').next()?.to_string();
        let args = &words[1..];
        match name.as_str() {
            "echo" => {
                let mut at = 0;
                let mut newline = "\n";
                while let Some(flag) = args.get(at).and_then(Value::plain) {
                    match flag {
                        "-n" => newline = "",
                        "-E" => {}
                        "-e" | "-ne" | "-en" => {
                            if args.iter().any(|a| a.start().contains('\\')) {
                                return Some(Feed::Stream);
                            }
                        }
                        _ => break,
                    }
                    at += 1;
                }
                let texts: Option<Vec<&str>> = args[at..].iter().map(Value::plain).collect();
                let text = texts?.join(" ");
                // Some shells' echo reads backslashes, some does not.
                if text.contains('\\') {
                    return Some(Feed::Stream);
                }
                Some(Feed::Text(format!("{text}{newline}")))
            }
            "printf" => {
                let format = args.first()?.plain()?;
                let rest: Option<Vec<&str>> = args[1..].iter().map(Value::plain).collect();
                let rest = rest?;
                let format = format.replace("\\n", "\n");
                if format.contains('\\') {
                    return Some(Feed::Stream);
                }
                // The format is used again until all arguments are; only `%s` is followed.
                let pieces: Vec<&str> = format.split("%s").collect();
                if pieces.iter().any(|p| p.contains('%')) || rest.iter().any(|r| r.contains('%')) {
                    return Some(Feed::Stream);
                }
                let holes = pieces.len() - 1;
                if holes == 0 {
                    return Some(Feed::Text(format));
                }
                let mut text = String::new();
                let mut left = rest.as_slice();
                loop {
                    for (i, piece) in pieces.iter().enumerate() {
                        text.push_str(piece);
                        if i < holes
                            && let Some((first, more)) = left.split_first()
                        {
                            text.push_str(first);
                            left = more;
                        }
                    }
                    if left.is_empty() || text.len() > super::MAX_TEXT {
                        return Some(Feed::Text(text));
                    }
                }
            }
            "cat" | "tee" => {
                let files = args.iter().filter(|a| a.plain() != Some("-")).count();
                if name == "cat" && files > 0 {
                    if files == 1 && args.len() == 1 {
                        return Some(self.file_text(&args[0]));
                    }
                    return Some(Feed::Stream);
                }
                match fed {
                    Feed::None => Some(Feed::Stream),
                    Feed::File(_) => Some(Feed::Stream),
                    other => Some(other.clone()),
                }
            }
            "find" => {
                let starts: Vec<&Value> =
                    args.iter().take_while(|a| !a.start().starts_with(['-', '(', '!'])).collect();
                if args
                    .iter()
                    .any(|a| a.start().starts_with("-printf") || a.start().starts_with("-exec"))
                {
                    return Some(Feed::Stream);
                }
                match starts[..] {
                    [] => Some(Feed::Rooted(special::found(&Value::known(".", 0..0)))),
                    [one] => Some(Feed::Rooted(special::found(one))),
                    _ => Some(Feed::Stream),
                }
            }
            "fd" | "git"
                if name == "fd" || args.first().and_then(Value::plain) == Some("ls-files") =>
            {
                Some(Feed::Rooted(special::found(&Value::known(".", 0..0))))
            }
            "grep" | "rg"
                if args.iter().any(|a| {
                    a.start().starts_with("-")
                        && !a.start().starts_with("--")
                        && a.start().contains('l')
                }) =>
            {
                Some(Feed::Rooted(special::found(&Value::known(".", 0..0)))).filter(|_| {
                    args.iter().skip(1).all(|a| !a.start().starts_with(['/', '~', '.']))
                })
            }
            "sort" | "uniq" | "head" | "tail" | "grep" | "rg" | "shuf" | "tac" => match fed {
                Feed::Rooted(value) => Some(Feed::Rooted(value.clone())),
                _ => Some(Feed::Stream),
            },
            _ => Some(Feed::Stream),
        }
    }

    /// The text of a file that the call wrote itself.
    fn file_text(&mut self, file: &Value) -> Feed {
        if let Spot::At(target) = self.out.spot(file, Extent::Exact, false)
            && let Some(Some(text)) = self.out.written.get(&target.resolved)
        {
            return Feed::Text(text.clone());
        }
        Feed::Stream
    }

    /// The text that a statement prints, if all of it is known.
    pub(super) fn printed_text(&mut self, stmt: &Stmt) -> Option<String> {
        match &stmt.command {
            Command::Simple(_) => match self.product(stmt) {
                Feed::Text(text) if !self.several => Some(text),
                _ => None,
            },
            _ => None,
        }
    }

    /// What `$(...)` becomes, if it is known.
    pub(super) fn printed(&mut self, body: &StmtSeq) -> Option<Vec<Atom>> {
        let [stmt] = &body.stmts[..] else { return None };
        if !self.room() {
            return None;
        }
        let Command::Simple(simple) = &stmt.command else { return None };
        let name = match &simple.name.parts[..] {
            [part] => {
                self.source.get(part.span.start.offset()..part.span.end.offset())?.to_string()
            }
            _ => return None,
        };
        match name.as_str() {
            "echo" | "printf" | "cat" => {
                if stmt.redirects.iter().any(|r| r.heredoc().is_none()) {
                    return None;
                }
                match self.product(stmt) {
                    Feed::Text(text) if !self.several => Some(quoted(text.trim_end_matches('\n'))),
                    _ => None,
                }
            }
            "pwd" => self.cwd().map(|cwd| quoted(&cwd)),
            "mktemp" => {
                let mut dir = std::env::var("TMPDIR")
                    .ok()
                    .filter(|d| d.starts_with('/'))
                    .unwrap_or_else(|| "/tmp".to_string());
                let mut args = Vec::new();
                for word in &simple.args {
                    args.extend(self.quietly(|w| w.expand(word)));
                }
                for (i, arg) in args.iter().enumerate() {
                    let text = arg.plain()?;
                    let after = i > 0 && matches!(args[i - 1].plain(), Some("-p" | "--tmpdir"));
                    if after {
                        dir = text.to_string();
                    } else if !text.starts_with('-') {
                        match text.rsplit_once('/') {
                            Some((d, _)) => dir = d.to_string(),
                            None => {
                                let tmp = args.iter().any(|a| {
                                    matches!(a.plain(), Some("-t" | "--tmpdir"))
                                        || a.start().starts_with("-p")
                                });
                                if !tmp {
                                    dir = ".".to_string();
                                }
                            }
                        }
                    } else if let Some(d) = text.strip_prefix("--tmpdir=") {
                        dir = d.to_string();
                    }
                }
                let mut atoms = quoted(&format!("{}/", dir.trim_end_matches('/')));
                atoms.push(Atom::Unknown { one: true, fed: false });
                Some(atoms)
            }
            "git" => {
                let args: Vec<Value> =
                    simple.args.iter().flat_map(|w| self.quietly(|s| s.expand(w))).collect();
                let plain: Vec<&str> = args.iter().map(Value::plain).collect::<Option<_>>()?;
                let project = self.out.place.project.clone();
                let inside = self
                    .cwd()
                    .is_some_and(|cwd| cwd == project || cwd.starts_with(&format!("{project}/")));
                (plain == ["rev-parse", "--show-toplevel"] && inside && !project.is_empty())
                    .then(|| quoted(&project))
            }
            "which" | "command" => {
                let args: Vec<Value> =
                    simple.args.iter().flat_map(|w| self.quietly(|s| s.expand(w))).collect();
                match args.iter().map(Value::plain).collect::<Option<Vec<_>>>()?[..] {
                    [one] if name == "which" && !one.starts_with('-') => Some(quoted(one)),
                    ["-v", one] if name == "command" => Some(quoted(one)),
                    _ => None,
                }
            }
            "basename" | "dirname" => {
                let args: Vec<Value> =
                    simple.args.iter().flat_map(|w| self.quietly(|s| s.expand(w))).collect();
                let [only] = &args[..] else { return None };
                if self.several {
                    return None;
                }
                let text = match only.plain()? {
                    "" if name == "dirname" => ".",
                    text if !text.is_empty() && text.bytes().all(|b| b == b'/') => {
                        return Some(quoted("/"));
                    }
                    text => text.trim_end_matches('/'),
                };
                let (dir, last) = crate::effect::path::split(text);
                let dir = if dir.is_empty() { "." } else { dir };
                Some(quoted(if name == "basename" { last } else { dir }))
            }
            _ => None,
        }
    }
}
