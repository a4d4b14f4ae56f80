//! Redirections: what a command reads from and what it writes to.

use shuck_ast::{Command, Redirect, RedirectKind, RedirectTarget, Stmt, Word};

use super::marks::has_bare;
use super::nested::is_feeder;
use super::state::{Delta, StateKey};
use super::{Feed, Walker, filter};
use crate::effect::emitter::Spot;
use crate::effect::path::{join, normalise_path};
use crate::effect::program::effects::is_directory;
use crate::effect::value::Value;
use crate::effect::{Effect, Extent, Grade, Source, Word as Kind, windows};

/// May what a redirection names be impossible to open?
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fails {
    /// A descriptor, a device, a pipe.
    Never,
    /// A file that the text names.
    Hardly,
    /// Whatever a variable holds.
    Perhaps,
}

impl Walker<'_> {
    /// Evaluates something without choosing a world for good.
    pub(super) fn without_choosing<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let length = self.frame.choice.len();
        let result = run(self);
        // In more than one world the text is not one text.
        self.several = self.frame.choice.len() > length;
        self.frame.choice.truncate(length);
        result
    }

    /// Walks the commands inside redirection targets.
    pub(super) fn visit_redirects(&mut self, stmt: &Stmt) {
        for redirect in stmt.redirects.iter() {
            match &redirect.target {
                RedirectTarget::Word(word) => {
                    if has_bare(self.slice(word.span), b"\n;") {
                        self.emit_unseen("a word that may end elsewhere", word.span);
                    }
                    self.visit_word(word);
                }
                RedirectTarget::Heredoc(heredoc) => {
                    self.doubt_heredoc(heredoc);
                    match self.expands_after_all(heredoc) {
                        Some(text) => self.visit_reread(&text, heredoc.body.span),
                        None => self.visit_heredoc(&heredoc.body),
                    }
                }
            }
        }
    }

    /// Where a redirection fails, nothing of the command has run: what it changed since the mark holds only perhaps.
    pub(super) fn make_uncertain(&mut self, stmt: &Stmt, mark: usize) {
        if stmt.redirects.is_empty() || self.state.mark() == mark {
            return;
        }
        let delta = self.state.rollback(mark);
        let fails =
            stmt.redirects.iter().map(|r| self.redirect_failure(r)).max().unwrap_or(Fails::Never);
        let (sure, open): (Delta, Delta) = delta.into_iter().partition(|(key, _)| match fails {
            Fails::Never => true,
            // As with `cd x &&`; and what the text says nothing else of is believed.
            Fails::Hardly => *key == StateKey::Cwd || self.state.get(key).is_none(),
            Fails::Perhaps => false,
        });
        for (key, held) in sure {
            self.state.set(key, held);
        }
        if !open.is_empty() {
            self.state.join_branches(vec![open, Delta::new()]);
        }
    }

    fn redirect_failure(&mut self, redirect: &Redirect) -> Fails {
        let RedirectTarget::Word(word) = &redirect.target else { return Fails::Never };
        if redirect.kind == RedirectKind::HereString {
            return Fails::Never;
        }
        let dup = matches!(redirect.kind, RedirectKind::DupOutput | RedirectKind::DupInput);
        let value = self.without_choosing(|w| w.expand_one(word, false));
        match value.plain_text() {
            _ if value.is_pipe() => Fails::Never,
            Some(text) if text.starts_with("/dev/") => Fails::Never,
            Some(text) if dup && text.bytes().all(|b| b.is_ascii_digit() || b == b'-') => {
                Fails::Never
            }
            Some(text) if !text.is_empty() && !self.several && !self.is_directory(text) => {
                Fails::Hardly
            }
            _ => Fails::Perhaps,
        }
    }

    /// Is there a directory, which nothing can be written to?
    fn is_directory(&mut self, text: &str) -> bool {
        let Some(cwd) = self.cwd() else { return false };
        let path = normalise_path(&join(&cwd, text));
        let place = self.out.place;
        // A `~` that is still there is a name.
        text != "~" && is_directory(text)
            || [&cwd, &place.home, &place.project].contains(&&path)
            || self.out.resolver.is_dir(&path)
    }

    /// The effects of the redirections themselves, for each of the commands that the statement may be.
    pub(super) fn redirect_effects(
        &mut self,
        stmt: &Stmt,
        commands: &[Option<usize>],
        cwd: Option<String>,
    ) {
        let writing = |r: &shuck_ast::Redirect| {
            matches!(r.kind, RedirectKind::Output | RedirectKind::Clobber)
        };
        let content =
            if stmt.redirects.iter().any(writing) { self.printed_feed(stmt) } else { None };
        for redirect in stmt.redirects.iter() {
            let RedirectTarget::Word(word) = &redirect.target else { continue };
            if let Some(name) = &redirect.fd_var {
                self.set_unknown_number(name.as_str());
            }
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
            // zsh: `>! file` overwrites; what follows is the file.
            let word = match word_behind_bang(stmt, redirect, &self.frame.source) {
                Some(next) if writes => {
                    self.emit_uncovered("a redirection that zsh reads as another", redirect.span);
                    next
                }
                _ => word,
            };
            let literal = matches!(redirect.kind, RedirectKind::Output | RedirectKind::Clobber);
            let content = if literal { content.clone() } else { None };
            self.for_each_world(|w| {
                // Several words are an error in bash; zsh opens each of them.
                let text = w.slice(word.span);
                let several = word.has_active_brace_expansion()
                    || text.contains("$(")
                    || text.starts_with('`');
                let values = match several {
                    true => w.expand_word(word),
                    false => vec![w.expand_one(word, false)],
                };
                for value in &values {
                    w.out.cwd = cwd.clone();
                    for command in commands {
                        w.out.command = w.inherits(*command, reads);
                        w.emit_redirect_target(value, word, (reads, writes, dup));
                    }
                    if literal {
                        w.out.emit_emptying(value);
                    }
                    if writes {
                        w.note_written(value, &content);
                    }
                }
            });
        }
    }

    /// The program that a redirection is for: what wrappers start has their streams, but what runs through items
    /// reads none of them.
    fn inherits(&self, command: Option<usize>, reads: bool) -> Option<usize> {
        let commands = &self.out.analysis.commands;
        let sole = |at: &usize| {
            let feeds = reads && is_feeder(&commands[*at].name, self.out.place.programs);
            let mut run = (at + 1..commands.len()).filter(|one| commands[*one].parent == Some(*at));
            run.next().filter(|_| !feeds && run.next().is_none())
        };
        std::iter::successors(command, sole).last()
    }

    /// The effects of one target.
    fn emit_redirect_target(
        &mut self,
        value: &Value,
        word: &Word,
        (reads, writes, dup): (bool, bool, bool),
    ) {
        if dup && self.slice(word.span).len() > 1 && self.slice(word.span).starts_with('-') {
            // `>& -x` is `>&-`, and `x` another word.
            self.out.emit_unknown("a word behind >& that begins with -", value.span.clone());
        }
        let numbers = self.slice(word.span);
        if reads
            && self.source_behind(word.span).starts_with('>')
            && numbers.bytes().all(|b| b == b'-' || b.is_ascii_digit())
        {
            self.emit_uncovered("numbers that zsh takes for a pattern", value.span.clone());
        }
        if dup && writes && value.text().is_none() {
            let why = "a word behind >& that expands again";
            match self.slice(word.span).contains('\\') {
                true => self.out.emit_unknown(why, value.span.clone()),
                false => self.emit_uncovered(why, value.span.clone()),
            }
        }
        self.emit_redirect(value, reads, writes, dup);
        // As Windows reads it: `echo x > C:\x`.
        if let Some([raw]) = super::windows::written_words(self.slice(word.span), value).as_deref()
            && windows::is_path(raw)
        {
            let path = windows::word_value(raw, &self.out.place.home, value.span.clone());
            self.emit_redirect(&path, reads, writes, false);
        }
    }

    /// Remembers what a file holds from here on.
    fn note_written(&mut self, value: &Value, content: &Option<Feed>) {
        if let Spot::At(target) = self.out.locate_value(value, Extent::Exact, true) {
            let again = self.out.written.contains_key(&target.resolved);
            let content = if again { None } else { content.clone() };
            self.listed.remove(&target.resolved);
            let text = match content {
                Some(Feed::Text(text)) => Some(text),
                Some(list)
                    if target.extent == Extent::Exact && filter::some_of(&list).is_some() =>
                {
                    let now = self.out.analysis.effects.len();
                    self.listed.insert(target.resolved.clone(), (list, now));
                    None
                }
                _ => None,
            };
            self.out.written.insert(target.resolved, text);
        }
    }

    /// The list that the call has written into that file, if nothing else has changed it since.
    pub(super) fn list_in(&self, path: &str) -> Option<Feed> {
        let (list, from) = self.listed.get(path)?;
        let later = self.out.analysis.effects.get(*from..)?;
        let changes = |effect: &Effect| {
            let changed = effect.path.as_ref().is_some_and(|target| target.resolved == path);
            changed && effect.word != Kind::Read
        };
        let kept = self.out.written.get(path) == Some(&None) && !later.iter().any(changes);
        kept.then(|| list.clone())
    }

    fn emit_redirect(&mut self, value: &Value, reads: bool, writes: bool, dup: bool) {
        let text = value.known_start().to_string();
        if dup && value.text().is_some() {
            let fd = text.trim_end_matches('-');
            // `>&$fd`, which `{fd}>file` gave a number.
            if value.is_glob() && fd == crate::glob::SOME_NUMBER
                || fd.bytes().all(|b| b.is_ascii_digit())
            {
                return;
            }
        }
        // bash expands the word behind `>&` twice.
        if dup && writes && value.text().is_some() && text.contains(['$', '`', '\\', '\'', '"']) {
            self.out.emit_unknown("a word behind >& that expands again", value.span.clone());
        }
        if let Some(rest) = CONNECTIONS.iter().find_map(|start| text.strip_prefix(start)) {
            let host = rest
                .split('/')
                .next()
                .filter(|h| !h.is_empty() && (value.text().is_some() || rest.contains('/')))
                .map(str::to_ascii_lowercase);
            let grade = if host.is_some() { Grade::Certain } else { Grade::Unknown };
            let span = value.span.clone();
            self.out.push_effect(
                Kind::Network,
                grade,
                None,
                host.clone(),
                Source::Redirect,
                span.clone(),
            );
            if writes {
                self.out.push_effect(Kind::Send, grade, None, host, Source::Redirect, span);
            }
            return;
        }
        if reads {
            self.out.emit_path(Kind::Read, value, Extent::Exact, Grade::Certain, Source::Redirect);
        }
        if writes {
            self.out.emit_path(Kind::Write, value, Extent::Exact, Grade::Certain, Source::Redirect);
        }
    }
}

/// How the paths begin that bash takes for hosts.
const CONNECTIONS: [&str; 2] = ["/dev/tcp/", "/dev/udp/"];

/// Is it a host that the shell itself contacts?
pub(super) fn is_connection(path: &str) -> bool {
    CONNECTIONS.iter().any(|start| path.starts_with(start))
}

/// The word behind `>!`, where the redirection's own word is that `!`.
fn word_behind_bang<'a>(stmt: &'a Stmt, redirect: &Redirect, source: &str) -> Option<&'a Word> {
    let own = redirect.word_target()?.span;
    let Command::Simple(simple) = &stmt.command else { return None };
    let at = own.end.offset();
    (source.get(own.start.offset()..at) == Some("!"))
        .then(|| simple.args.iter().find(|word| word.span.start.offset() >= at))?
}
