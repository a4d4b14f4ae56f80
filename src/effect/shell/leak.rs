//! What words, streams, variables and files may hold of secrets, as the walk goes by.

use shuck_ast::{RedirectKind, RedirectTarget, Stmt, StmtSeq, Word as ShellWord};

use super::word::Atom;
use super::{Feed, Walker};
use crate::effect::analysis::{Said, Secrets};
use crate::effect::flow;
use crate::effect::value::Value;
use crate::effect::{Source, Word};

/// What tells the body of a substitution from others while its text is walked.
fn key_of(body: &StmtSeq) -> usize {
    std::ptr::from_ref(body) as usize
}

impl Walker<'_> {
    /// Evaluates something whose words are not those at hand.
    pub(super) fn looking_past<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let seen = self.flow.seen;
        let result = run(self);
        self.flow.seen = seen;
        result
    }

    /// Evaluates something, and tells what its words may hold of secrets.
    pub(super) fn seeing_apart<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> (T, Secrets) {
        let outer = std::mem::take(&mut self.flow.seen);
        let result = run(self);
        let seen = std::mem::replace(&mut self.flow.seen, outer);
        self.flow.seen |= seen;
        (result, seen)
    }

    /// Walks the body of a substitution, and keeps what it prints.
    pub(super) fn printing_apart(&mut self, body: &StmtSeq, run: impl FnOnce(&mut Self)) {
        let (seen, printed) = (self.flow.seen, std::mem::take(&mut self.flow.printed));
        let outward = std::mem::take(&mut self.flow.outward);
        run(self);
        let own = std::mem::replace(&mut self.flow.printed, printed);
        self.flow.note_body(key_of(body), own);
        self.flow.seen = seen;
        self.flow.outward = outward;
    }

    /// What a substitution printed stands among the words at hand.
    pub(super) fn see_body(&mut self, body: &StmtSeq) {
        self.flow.seen |= self.flow.body(key_of(body));
    }

    /// Of computed text the parts that are not known hold what the text was made of.
    pub(super) fn see_open_text(&mut self, atoms: &[Atom]) {
        if self.frame.secrets != 0 && atoms.iter().any(|a| matches!(a, Atom::Unknown(_))) {
            self.flow.seen |= self.frame.secrets;
        }
    }

    /// `"$@"`, or a parameter of which nobody knows which it is.
    pub(super) fn see_positionals(&mut self) {
        match self.positional_parameters() {
            Some(values) => {
                self.flow.seen |= values.iter().skip(1).fold(0, |all, one| all | one.secrets);
            }
            None => self.flow.seen |= self.frame.secrets | self.flow.positional,
        }
    }

    /// Items of standard input hold what that does.
    pub(super) fn stain_items<'v>(&self, items: impl Iterator<Item = &'v mut Value>) {
        if self.flow.fed != 0 {
            items.filter(|item| item.is_open()).for_each(|item| item.secrets |= self.flow.fed);
        }
    }

    /// What a file that is fed holds.
    pub(super) fn fed_secrets(&mut self, feed: &Feed) -> Secrets {
        match feed {
            Feed::File(file) => {
                let path = self.out.locate_exact(file);
                path.map_or(0, |path| self.flow.read(&path)) | file.secrets
            }
            _ => 0,
        }
    }

    /// `${x:?$y}`, `$((x + $y))`: the error shows it.
    pub(super) fn show_error(&mut self, word: &ShellWord) {
        self.flow.traced |=
            self.looking_past(|w| w.without_choosing(|w| w.expand_one(word, false).secrets));
    }

    /// `env $(cat .env) cmd`: variables whose names nobody knows.
    pub(super) fn load_settings(&mut self, args: &[Value]) {
        let nameless = args.iter().filter(|arg| !arg.written_start().contains('='));
        self.flow.loaded |= nameless.fold(0, |all, arg| all | arg.secrets);
    }

    /// `select x in $y`, `$((x))`: a menu or an error shows what is in the variable.
    pub(super) fn show_variable(&mut self, name: &str) {
        let ((), seen) = self.seeing_apart(|w| w.flow.look_up(name, true));
        self.flow.traced |= seen;
    }

    /// `[[ $x =~ (.*) ]]`: bash and zsh keep what matched.
    pub(super) fn keep_match(&mut self, word: &ShellWord) {
        let seen = self.looking_past(|w| w.without_choosing(|w| w.expand_one(word, false).secrets));
        for name in ["BASH_REMATCH", "MATCH", "match"] {
            self.flow.keep(name, seen);
        }
    }

    /// `declare -n x=NAME`: what the one variable holds the other one does.
    pub(super) fn keep_other(&mut self, name: &str, other: &str) {
        let seen = std::mem::take(&mut self.flow.seen);
        self.flow.look_up(other, false);
        let held = std::mem::replace(&mut self.flow.seen, seen);
        self.flow.keep(name, held);
    }

    /// What a command was told, and what it prints and writes of that.
    pub(super) fn note_leaving(
        &mut self,
        words: &[Value],
        index: usize,
        from: usize,
        code: Secrets,
    ) {
        let outward = std::mem::take(&mut self.flow.outward);
        let analysis = &self.out.analysis;
        let Some(command) = analysis.commands.get(index) else { return };
        let name = command.name.clone();
        let args = words.get(1..).unwrap_or_default();
        let own = self.flow.printed_by(analysis, index);
        // What an inline program starts prints for it.
        let inside = if flow::reads_code(&name) { self.flow.printed } else { 0 };
        let code = code | inside;
        let analysis = &self.out.analysis;
        let (mut contacts, mut read) = (false, 0);
        let sources = flow::loads_variables(&name);
        for effect in analysis.effects.iter().skip(from).filter(|e| e.command == Some(index)) {
            match (effect.word, &effect.path) {
                (Word::Network | Word::Send | Word::Remote, _) => contacts = true,
                (Word::Read, Some(path)) if sources => self.flow.load(path),
                (Word::Read, Some(path)) => read |= self.flow.read(path),
                _ => {}
            }
        }
        self.flow.traces |= traces(&name, args);
        // Where there is no such program, the error names it.
        let told = words.iter().fold(0, |all, arg| all | arg.secrets);
        let held = told | self.flow.fed | own | code | read;
        if held == 0 {
            return;
        }
        if name == "tee" && args.iter().any(|arg| arg.known_start().starts_with("/dev/")) {
            self.flow.traced |= held;
        }
        let starts = analysis.commands.iter().skip(index + 1).any(|c| c.parent == Some(index));
        if matches!(name.as_str(), "." | "source" | "eval") && !starts {
            self.flow.loaded |= told;
            return self.note_said(index, Said { own: own | read, ..Said::default() });
        }
        let printed = match () {
            () if starts => 0,
            () if contacts || flow::is_mute(&name) => own,
            () => held,
        };
        self.flow.printed |= printed;
        self.flow.keep("_", told);
        let mut traced = 0;
        if flow::shows_words(&name, args.iter().map(Value::known_start)) {
            traced |= told | read;
        }
        if starts {
            // `xargs -a .env echo`: what it runs is told.
            traced |= read;
        }
        self.flow.traced |= traced & !self.flow.loaded;
        if !contacts && !starts {
            let writes = self.out.analysis.effects.iter().skip(from);
            for effect in writes.filter(|e| e.command == Some(index) && e.word == Word::Write) {
                effect.path.iter().for_each(|path| self.flow.write(path, held));
            }
        }
        if name == "set" {
            self.flow.positional |= told;
        }
        if name == "printf" && args.first().is_some_and(|a| a.known_start() == "-v") {
            let variable = args.get(1).and_then(Value::plain_text).unwrap_or_default();
            self.flow.keep(variable, told);
        }
        let said = match code {
            0 => self.flow.words_said(&self.out.analysis.commands[index], args),
            _ => {
                let mut args = args.to_vec();
                let longest = args.iter_mut().max_by_key(|arg| arg.known_start().len());
                longest.into_iter().for_each(|arg| arg.secrets |= code);
                let told = self.flow.words_said(&self.out.analysis.commands[index], &args);
                match &self.feed {
                    Feed::Text(text) if names_environment(text) => self.flow.text_said(text, code),
                    _ => told,
                }
            }
        };
        self.flow.note_hosts(index, &name, args);
        self.note_said(index, Said { own: own | read, ..said });
        let commands = &mut self.out.analysis.commands;
        // `docker build --build-arg NAME`
        commands[index].said.sent |= own;
        for range in outward {
            let inside = commands.get_mut(range).unwrap_or_default();
            inside.iter_mut().for_each(|command| command.said.sent |= printed);
        }
        if let Some(out) = self.flow.stdout.and_then(|out| commands.get_mut(out)) {
            out.said.sent |= printed;
        }
    }

    /// What is told by a command's words, which says nothing of its redirections.
    fn note_said(&mut self, index: usize, said: Said) {
        let own = &mut self.out.analysis.commands[index].said;
        *own = Said { redirected: own.redirected, ..said };
    }

    /// What inline programs look up in their environment.
    pub(super) fn code_secrets(&mut self, words: &[Value]) -> Secrets {
        let mut all = 0;
        let Some((name, args)) = words.split_first() else { return 0 };
        if !flow::reads_code(name.known_start().rsplit('/').next().unwrap_or_default()) {
            return 0;
        }
        for arg in args.iter().filter(|arg| is_code(arg)) {
            let text = arg.text().or(arg.outline()).unwrap_or_default().to_string();
            all |= self.flow.looked_up_by(&text, is_no_name(&text));
        }
        if let Feed::Text(text) = &self.feed
            && names_environment(text)
        {
            all |= self.flow.looked_up_by(&text.clone(), true);
        }
        all
    }

    /// Where redirections take what a statement prints.
    pub(super) fn note_redirects(&mut self, stmt: &Stmt, command: Option<usize>, from: usize) {
        let own = self.flow.printed;
        if stmt.redirects.iter().any(|redirect| self.is_error_stream(redirect)) {
            self.flow.traced |= own;
        }
        let out = |redirect: &&shuck_ast::Redirect| {
            redirect.fd.is_none_or(|fd| fd == 1)
                && !matches!(
                    redirect.kind,
                    RedirectKind::Input
                        | RedirectKind::DupInput
                        | RedirectKind::HereDoc
                        | RedirectKind::HereDocStrip
                        | RedirectKind::HereString
                )
        };
        let stdout = stmt.redirects.iter().any(|redirect| out(&redirect));
        for redirect in stmt.redirects.iter().filter(out) {
            // A file's name shows it as well.
            if let RedirectTarget::Word(word) = &redirect.target {
                self.show_error(word);
            }
        }
        let mut writes = false;
        // A wrapper's redirection is told of what it runs (`nice env > /dev/tcp/...`).
        let mut connected: Vec<usize> = Vec::new();
        for effect in self.out.analysis.effects.iter().skip(from) {
            match (effect.source, effect.word, &effect.path) {
                (Source::Redirect, Word::Write, Some(path)) => {
                    writes = true;
                    self.flow.write(path, own);
                }
                (Source::Redirect, Word::Network | Word::Send, _) => {
                    connected.extend(command.into_iter().chain(effect.command));
                    // Of `{ true; env; } > /dev/tcp/...` no single command is told: the last one stands for all.
                    if let (None, Some(host)) = (effect.command.or(command), &effect.host)
                        && own != 0
                        && let Some(last) = self.out.analysis.commands.len().checked_sub(1)
                    {
                        self.flow.note_host(last, host);
                        connected.push(last);
                    }
                }
                _ => {}
            }
        }
        if writes && stdout {
            self.flow.printed = 0;
        }
        for at in connected {
            let Some(told) = self.out.analysis.commands.get_mut(at) else { continue };
            told.connects = true;
            told.said.redirected |= own;
            if command == Some(at) && told.name == "exec" {
                self.flow.socket = Some(at);
                self.flow.stdout = self.flow.stdout.or(Some(at).filter(|_| stdout));
            }
        }
        if let Some(socket) = self.flow.socket
            && own != 0
            && stmt.redirects.iter().any(|r| self.is_descriptor(r))
        {
            let socket = self.out.analysis.commands.get_mut(socket);
            socket.into_iter().for_each(|socket| socket.said.sent |= own);
        }
    }

    /// `>&2`, `> /dev/tty`: no substitution and no pipe gets it.
    fn is_error_stream(&self, redirect: &shuck_ast::Redirect) -> bool {
        let RedirectTarget::Word(word) = &redirect.target else { return false };
        let text = self.slice(word.span);
        text == "2" && redirect.kind == RedirectKind::DupOutput
            || text.starts_with("/dev/") && text != "/dev/null"
            || text.contains("/fd/")
    }

    /// `>&3`
    fn is_descriptor(&self, redirect: &shuck_ast::Redirect) -> bool {
        let RedirectTarget::Word(word) = &redirect.target else { return false };
        redirect.kind == RedirectKind::DupOutput && !matches!(self.slice(word.span), "1" | "2")
    }
}

/// Does a shell show from here on what it runs: `set -x`, `bash -xc`?
fn traces(name: &str, args: &[Value]) -> bool {
    let shell = matches!(name, "set" | "bash" | "sh" | "zsh" | "dash" | "ksh");
    shell
        && args.iter().any(|arg| {
            let text = arg.known_start();
            text.starts_with('-') && !text.starts_with("--") && text.contains(['x', 'v'])
                || matches!(text, "xtrace" | "verbose" | "--verbose")
        })
}

fn is_code(arg: &Value) -> bool {
    names_environment(arg.text().or(arg.outline()).unwrap_or_default())
}

/// Is it more of a program than the name of a file (`check_env.py`) or an option?
fn is_no_name(text: &str) -> bool {
    !text.starts_with("--env")
        && (text.contains(['(', '[', '{', '$', '"', '\'', ' '])
            || text == "env"
            || text.starts_with("env.") && text.ends_with(|c: char| c.is_ascii_uppercase())
            || text.contains("process.env"))
}

/// Does a program's text look at variables?
fn names_environment(text: &str) -> bool {
    ["env", "ENV"]
        .iter()
        .any(|word| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some())
}
