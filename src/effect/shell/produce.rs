//! What commands print, as far as the text tells: for pipes, `$(...)`, `<(...)` and written files.

use shuck_ast::{BinaryOp, Command, CompoundCommand, RedirectKind, Stmt, StmtSeq};

use super::state::StateKey;
use super::word::{Atom, Blank, Quote, atoms_of, push_unknown_number, quoted_atoms};
use super::{Feed, Walker};
use crate::effect::path::{join, normalise_path, split};
use crate::effect::program::options;
use crate::effect::program::table::{self, Program, Role, Special, mark};
use crate::effect::value::{Printer, Split, Value};
use crate::limits;

mod printer;
mod product;

impl Walker<'_> {
    /// What a pipe of the call gives.
    pub(super) fn pipe_feed(&self, at: usize) -> Feed {
        self.pipes.get(at).cloned().unwrap_or(Feed::Stream(Printer::Stranger))
    }

    /// What a statement puts into a pipe: in zsh its own redirections come on top of that.
    pub(super) fn piped_output(&mut self, stmt: &Stmt) -> Feed {
        if !self.has_room() {
            return Feed::Stream(Printer::Stranger);
        }
        let open = self.descriptors.len();
        let fed = self.open_descriptors(stmt).unwrap_or_else(|| self.feed.clone());
        let printed = self.printed_by(stmt, fed);
        self.descriptors.truncate(open);
        printed
    }

    /// What a statement prints.
    pub(super) fn statement_output(&mut self, stmt: &Stmt) -> Feed {
        let elsewhere = stmt.redirects.iter().any(|r| {
            r.fd_var.is_none()
                && r.fd.is_none_or(|fd| fd == 1)
                && matches!(
                    r.kind,
                    RedirectKind::Output
                        | RedirectKind::Clobber
                        | RedirectKind::Append
                        | RedirectKind::OutputBoth
                        | RedirectKind::DupOutput
                )
        });
        match self.piped_output(stmt) {
            // It prints somewhere else.
            Feed::Text(_) if elsewhere => Feed::Stream(Printer::Nobody),
            feed => feed,
        }
    }

    /// What a statement prints without its own redirections.
    fn printed_by(&mut self, stmt: &Stmt, fed: Feed) -> Feed {
        match &stmt.command {
            Command::Simple(simple) => {
                let words = self.without_choosing(|w| w.words_of(simple));
                let words = skip_wrappers(&words, self.out.place.programs);
                let reads = |r: &shuck_ast::Redirect| r.kind == RedirectKind::Input;
                if words.is_empty() && stmt.redirects.iter().any(reads) {
                    // `$(< FILE)`
                    return self.as_written(fed);
                }
                let several = self.several;
                let product = self.product_of(words, &fed, several);
                self.several = several;
                if several && matches!(product, Some(Feed::Text(_))) {
                    return Feed::Stream(Printer::Stranger);
                }
                product.unwrap_or_else(|| {
                    let before = match fed {
                        Feed::None | Feed::Text(_) => Printer::Nobody,
                        Feed::File(_) => Printer::File,
                        Feed::Stream(by) if by != Printer::Settings => by,
                        _ => Printer::Local,
                    };
                    Feed::Stream(self.find_printer(words).max(before))
                })
            }
            Command::Binary(binary) if matches!(binary.op, BinaryOp::Pipe | BinaryOp::PipeAll) => {
                self.fed_with(fed, |w| {
                    w.feed = w.piped_output(&binary.left);
                    w.statement_output(&binary.right)
                })
            }
            Command::Compound(
                CompoundCommand::BraceGroup(seq) | CompoundCommand::Subshell(seq),
            ) => self.fed_with(fed, |w| w.list_output(seq)),
            Command::Binary(binary) if binary.op == BinaryOp::And => {
                let place = self.place_behind(&binary.left, &binary.right);
                place.unwrap_or(Feed::Stream(Printer::Stranger))
            }
            Command::Decl(_) | Command::Builtin(_) => Feed::Stream(Printer::Nobody),
            _ => Feed::Stream(Printer::Stranger),
        }
    }

    /// `cd DIR && pwd`: where that is.
    fn place_behind(&mut self, left: &Stmt, right: &Stmt) -> Option<Feed> {
        let (Command::Simple(moves), Command::Simple(prints)) = (&left.command, &right.command)
        else {
            return None;
        };
        let words = self.without_choosing(|w| w.words_of(moves));
        let several = self.several;
        let prints = self.without_choosing(|w| w.words_of(prints));
        let flag = |word: &&Value| !matches!(word.plain_text(), Some("--" | "-P" | "-L"));
        let [cd, rest @ ..] = &words[..] else { return None };
        let mut dirs = rest.iter().filter(flag);
        let dir = dirs.next()?.plain_text().filter(|dir| !dir.is_empty() && *dir != "-")?;
        let told = cd.plain_text() == Some("cd")
            && dirs.next().is_none()
            && !several
            && self.state.find_variable("CDPATH").is_none()
            && !left.negated
            && prints.first().and_then(Value::plain_text) == Some("pwd")
            && prints[1..].iter().find(flag).is_none()
            && !["cd", "pwd"]
                .iter()
                .any(|name| self.state.is_set(&StateKey::Function(name.to_string())));
        let place = normalise_path(&join(&self.cwd()?, dir));
        told.then(|| Feed::Text(format!("{place}\n")))
    }

    /// What a file gives that the call itself has written.
    pub(super) fn as_written(&mut self, feed: Feed) -> Feed {
        let text = match &feed {
            Feed::File(file) => self.file_text(file),
            _ => None,
        };
        text.unwrap_or(feed)
    }

    /// What a list prints.
    pub(super) fn list_output(&mut self, body: &StmtSeq) -> Feed {
        if let [stmt] = &body.stmts[..] {
            return self.statement_output(stmt);
        }
        let mut text = Some(String::new());
        let mut by = Printer::Nobody;
        for stmt in &body.stmts {
            match (self.statement_output(stmt), &mut text) {
                (Feed::Text(more), Some(text)) if !self.several => text.push_str(&more),
                (Feed::Stream(more), _) => (text, by) = (None, by.max(more)),
                (Feed::File(_), _) => (text, by) = (None, by.max(Printer::File)),
                _ => (text, by) = (None, by.max(Printer::Local)),
            }
        }
        text.map_or(Feed::Stream(by), Feed::Text)
    }

    /// What a statement prints into its own redirection, if that is known.
    pub(super) fn printed_feed(&mut self, stmt: &Stmt) -> Option<Feed> {
        match &stmt.command {
            Command::Simple(_) => {
                let fed = self.redirect_feed(stmt).unwrap_or_else(|| self.feed.clone());
                let printed = self.printed_by(stmt, fed);
                (!self.several).then_some(printed)
            }
            _ => None,
        }
    }

    /// What `$(...)` becomes.
    pub(super) fn substitution_output(&mut self, body: &StmtSeq) -> Vec<Atom> {
        match self.list_output(body) {
            Feed::Text(text) if !self.several => loose_atoms(text.trim_end_matches('\n')),
            other => {
                match &other {
                    Feed::Found(_, named) => self.found.extend_from_slice(named),
                    Feed::Whole(_, all) => self.found.extend(all.clone()),
                    _ => {}
                }
                known_line(&other)
            }
        }
    }
}

/// Text as atoms; what is not known of it may be several words.
pub(super) fn loose_atoms(text: &str) -> Vec<Atom> {
    quoted_atoms(text)
        .into_iter()
        .map(|a| if matches!(a, Atom::Unknown(_)) { Atom::unknown_text(false) } else { a })
        .collect()
}

/// What is known of a line that is fed.
pub(super) fn known_line(feed: &Feed) -> Vec<Atom> {
    let by = match feed {
        Feed::File(_) => Printer::File,
        Feed::Stream(by) => *by,
        _ => Printer::Nobody,
    };
    line_shape(feed).unwrap_or_else(|| vec![Atom::Unknown(Blank { split: Split::Freely, by })])
}

/// The same, and what of it is known by name: each may be a line.
pub(super) fn lines_of(feed: &Feed) -> Vec<Vec<Atom>> {
    let named = match feed {
        Feed::Found(_, named) => &named[..],
        Feed::Whole(_, Some(all)) => std::slice::from_ref(all),
        _ => &[],
    };
    std::iter::once(known_line(feed)).chain(named.iter().map(atoms_of)).collect()
}

/// The shape of every line that is fed, where it has one.
pub(super) fn line_shape(feed: &Feed) -> Option<Vec<Atom>> {
    match feed {
        Feed::Lines(value) | Feed::Found(value, _) | Feed::Whole(value, _)
            if value.text().or(value.prefix()).is_some() =>
        {
            Some(atoms_of(value))
        }
        Feed::Tree(start) => Some(atoms_of(&start.unknown_below())),
        // One by one they are all that is there.
        Feed::Here => Some(vec![Atom::Ch('*', Quote::Pattern)]),
        Feed::Names => Some(vec![Atom::unknown_name()]),
        // The first, the last, and one that touches neither end.
        Feed::Words => {
            let (name, blank) = (Atom::unknown_name(), Atom::Ch(' ', Quote::Quoted));
            Some(vec![name, blank, name, blank, name])
        }
        Feed::Numbers => {
            let mut atoms = Vec::new();
            push_unknown_number(&mut atoms);
            Some(atoms)
        }
        _ => None,
    }
}

/// The words behind `sudo`, `timeout 5`, `command` and their like, which print nothing of their own.
fn skip_wrappers<'w>(words: &'w [Value], own: &'static [Program]) -> &'w [Value] {
    let mut words = words;
    for _ in 0..limits::WRAPPED {
        match inner_command(words, own) {
            Some(rest) => words = rest,
            None => break,
        }
    }
    match words {
        // `command -v rm` prints the program's name, as `which` does.
        [command, v, ..]
            if command.plain_text() == Some("command") && v.plain_text() == Some("-v") =>
        {
            &words[1..]
        }
        _ => words,
    }
}

/// The command that this one starts, if nothing changes where it runs or what it finds there.
fn inner_command<'w>(words: &'w [Value], own: &'static [Program]) -> Option<&'w [Value]> {
    let (first, args) = words.split_first()?;
    let name = split(first.plain_text()?).1;
    let program = table::find_program(name, own)?;
    let place = match program.special {
        Some(Special::Env) => 0,
        Some(Special::FlagC) => 1,
        None | Some(Special::OwnShell) => {
            program.before.iter().position(|r| *r == Role::Command)?
        }
        _ => return None,
    };
    let parsed = options::parse_arguments(name, args, own);
    let known = parsed.options.iter().all(|o| o.spec.is_some());
    // `chroot DIR`: another root.
    let elsewhere = program.special == Some(Special::OwnShell) && place > 0;
    // With `command -v` nothing is started.
    let starts = !parsed.has_mark(mark::CHDIR | mark::SPLITS | mark::ONLY);
    if !known || elsewhere || parsed.subs > 0 || !starts {
        return None;
    }
    let set = |at: &&usize| args[**at].known_start().contains('=');
    let set = parsed.operands.iter().take_while(|at| program.assignments && set(at));
    // mktemp goes by it.
    if set.clone().any(|at| args[*at].known_start().starts_with("TMPDIR=")) {
        return None;
    }
    let at = *parsed.operands.get(place + set.count())?;
    let rest = args.get(at..)?;
    let word = rest.first()?.plain_text()?;
    (!word.starts_with('-') && !word.contains('=')).then_some(rest)
}
