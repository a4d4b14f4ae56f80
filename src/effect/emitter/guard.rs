//! What calls do to the files that guard this machine, as far as no path tells it.
//!
//! Rules speak of these files by path. Here stand the other names of the same file, what a search
//! or a directory that goes takes along, and programs that are hookctl by another name. Nothing here
//! decides: it adds effects on the path that rules name. The disk is asked only for what modifies.

use std::fs::{self, Metadata};
use std::path::{Path, PathBuf};

use super::{Emitter, Spot};
use crate::effect::guarded::{
    GuardedFile, Guards, Id, NAME, file_id, is_shared, is_within, link_count,
};
use crate::effect::path::{self, is_below, split};
use crate::effect::value::Value;
use crate::effect::windows::{LIST_SEPARATOR, native_text};
use crate::effect::{Effect, Extent, Grade, Source, SubCommand, Target, Word, look};
use crate::files;
use crate::glob;
use crate::limits::{self, Cap};
use crate::names::guard::{COMMANDS, FINDERS, GRIPS, PROGRAM_DIRS};

impl Emitter<'_> {
    /// A file that a look needs whole: regular, not larger than that, and within what one call may read.
    pub fn read_content(&mut self, path: &str, most: u64) -> Option<Vec<u8>> {
        let bytes = files::read(path.as_ref(), most).ok()?;
        self.read += bytes.len() as u64;
        Cap::Content.admits(self.read as usize).then_some(bytes)
    }

    /// The same, where one that is too large leaves an unknown effect.
    pub fn read_whole(&mut self, path: &str, most: Cap) -> Option<Vec<u8>> {
        let content = self.read_content(path, most.limit() as u64);
        if content.is_none() {
            let large = |meta: Metadata| meta.is_file() && meta.len() > most.limit() as u64;
            most.admits(most.limit() + usize::from(fs::metadata(path).is_ok_and(large)));
        }
        content
    }

    /// The guarded files that are there, looked up once.
    fn guarded_files(&mut self) -> &Guards {
        let place = self.place;
        self.guards.get_or_insert_with(|| place.guarded_files())
    }

    /// Could something guarded lie in that directory?
    pub fn may_guard(&self, dir: &Target) -> bool {
        !self.place.guarded.names.is_empty()
            && (self.place.may_hold(&dir.lexical) || self.place.may_hold(&dir.resolved))
    }

    /// The guarded files that are there, at or below a directory. Where there may be more of them, that is
    /// not understood if they may be changed.
    pub fn guards_below(&mut self, dir: &Target, changes: bool) -> Vec<String> {
        let (lexical, resolved) = (dir.lexical.as_str(), dir.resolved.as_str());
        // Most directories that are deleted are told by their names: the disk is not asked.
        let named = [lexical, resolved].iter().any(|dir| self.place.has_guarded_at(dir));
        if !named || !self.may_guard(dir) {
            return Vec::new();
        }
        let within = |path: &str| [lexical, resolved].iter().any(|dir| is_within(path, dir));
        let guards = self.guarded_files();
        if changes && guards.cut.iter().any(|path| within(path)) {
            Cap::Guards.note_reached();
        }
        let paths = guards.files.iter().map(|found| found.path.clone());
        paths.filter(|path| within(path)).collect()
    }

    /// The files read since then get a second name, by a link or a mount: under that name they can be
    /// changed, so for what guards that is a change.
    pub fn emit_second_names(&mut self, from: usize) {
        if self.place.guarded.names.is_empty() {
            return;
        }
        let guarded = |effect: &&Effect| {
            effect.word == Word::Read
                && effect.path.as_ref().is_some_and(|target| {
                    self.place.is_guarded(&target.lexical)
                        || self.place.is_guarded(&target.resolved)
                })
        };
        let new = self.analysis.effects.get(from..).unwrap_or_default();
        let more: Vec<Effect> = new
            .iter()
            .filter(guarded)
            .map(|effect| Effect { word: Word::Write, ..effect.clone() })
            .collect();
        self.analysis.effects.extend(more);
    }

    /// Something guarded is mounted elsewhere, or mounted over.
    pub fn emit_mount(&mut self, value: &Value) {
        let Some(target) = self.locate_exact(value) else { return };
        if self.place.is_guarded(&target.lexical) || self.place.is_guarded(&target.resolved) {
            let (source, span) = (Source::Operand, value.span.clone());
            self.push_effect(Word::Write, Grade::Certain, Some(target), None, source, span);
        }
    }

    /// Something may write what guards this machine, for nothing tells that it does not: not understood.
    pub fn emit_risked_write(&mut self, value: &Value) {
        if self.place.guarded.names.is_empty() || value.text().is_none() {
            return;
        }
        let value = match value.plain_text().and_then(|text| text.split_once('=')) {
            Some((key, rest)) if !key.contains('/') => Value::known(rest, value.span.clone()),
            _ => value.clone(),
        };
        let Some(target) = self.locate_exact(&value) else { return };
        if self.place.is_guarded(&target.lexical) || self.place.is_guarded(&target.resolved) {
            self.emit_unknown(
                "a program that no table describes is given what guards this machine",
                value.span,
            );
        }
    }

    /// What a directory's content is put over: of the guarded paths those that `from` has as well.
    pub fn emit_overlaid(&mut self, from: &Value, to: &Value) {
        let (Spot::At(from), Spot::At(to)) = (
            self.locate_value(from, Extent::Exact, false),
            self.locate_value(to, Extent::Exact, true),
        ) else {
            return;
        };
        if self.place.guarded.names.is_empty() || to.extent != Extent::Exact {
            return;
        }
        for path in self.place.guarded_paths() {
            let behind = [&to.lexical, &to.resolved].into_iter().find_map(|dir| {
                let rest = path.strip_prefix(dir.trim_end_matches('/'))?;
                rest.starts_with('/').then_some(rest)
            });
            let Some(rest) = behind else { continue };
            let own = format!("{}{rest}", from.resolved.trim_end_matches('/'));
            let made = self.written.keys().any(|made| *made == own || is_below(made, &own));
            if made || fs::symlink_metadata(&own).is_ok() {
                self.guard_changed(Word::Write, &path, 0..0);
            }
        }
    }

    /// What a glob for everything in a directory takes along: what is hidden, or what is not.
    pub fn emit_emptied(&mut self, dir: &Target, hidden: bool, span: &std::ops::Range<usize>) {
        let all = shows_hidden(&self.analysis.commands);
        for path in self.guards_below(dir, true) {
            let is_hidden = [&dir.lexical, &dir.resolved].iter().any(|dir| {
                path.strip_prefix(dir.trim_end_matches('/'))
                    .is_some_and(|rest| rest.starts_with("/."))
            });
            if all || is_hidden == hidden {
                self.guard_changed(Word::Delete, &path, span.clone());
            }
        }
    }

    /// A guarded path is changed for certain.
    pub fn guard_changed(&mut self, word: Word, path: &str, span: std::ops::Range<usize>) {
        let target = self.resolver.resolve_target(path, "/", Extent::Exact);
        self.push_effect(word, Grade::Certain, Some(target), None, Source::Operand, span);
    }

    /// Where hookctl is, as rules have it.
    pub fn own_place(&self) -> String {
        format!("{}/.local/bin/{NAME}", self.place.home)
    }

    /// Is it a program's name where a shell would find it before hookctl?
    fn shadows_hookctl(&self, path: &str) -> bool {
        let (dir, name) = split(path);
        let stem = name.strip_suffix(".exe").or_else(|| name.strip_suffix(".cmd")).unwrap_or(name);
        let is_dir = |one: &str| native_text(Path::new(one)).trim_end_matches('/') == dir;
        let searched = |dirs: String| dirs.split(LIST_SEPARATOR).any(is_dir);
        stem == NAME
            && (PROGRAM_DIRS.iter().any(|own| match own.strip_prefix("~/") {
                Some(rest) => dir
                    .strip_prefix(&self.place.home)
                    .is_some_and(|d| d[..].trim_start_matches('/') == rest),
                None => dir == *own,
            }) || self.place.env.and_then(|env| env("PATH")).is_some_and(searched))
    }

    /// Processes of hookctl are signalled.
    pub fn guard_ended(&mut self, span: std::ops::Range<usize>) {
        let program = self.own_place();
        let target = Target { lexical: program.clone(), resolved: program, extent: Extent::Exact };
        self.push_effect(Word::Process, Grade::Certain, Some(target), None, Source::Operand, span);
    }

    /// A signal to processes that the call looks up by hookctl's name (`kill $(pgrep hookctl)`).
    pub fn settle_signals(&mut self) {
        // What stops, slows or takes a process over is no better than a signal.
        let grips = |effect: &Effect| {
            let command = effect.command.and_then(|at| self.analysis.commands.get(at));
            effect.word == Word::Execute
                && command.is_some_and(|command| GRIPS.contains(&command.name.as_str()))
        };
        let signals = |effect: &&Effect| {
            effect.path.is_none() && (effect.word == Word::Process || grips(effect))
        };
        // One whose processes are all told by number asks nobody.
        let told = |effect: &&Effect| {
            let by = effect.command.and_then(|at| self.analysis.commands.get(at));
            by.is_some_and(|command| {
                !command.args.is_empty()
                    && command.args.iter().all(|arg| arg.text.is_some() && !arg.glob)
            })
        };
        let mut open = self.analysis.effects.iter().filter(signals).filter(|one| !told(one));
        let Some(span) = open.next().map(|signal| signal.span.clone()) else { return };
        let asks = |command: &SubCommand| {
            FINDERS.contains(&command.name.as_str())
                && command.args.iter().any(|arg| {
                    arg.text
                        .as_deref()
                        .is_some_and(|text| text.replace(['[', ']'], "").contains(NAME))
                })
        };
        if self.analysis.commands.iter().any(asks) {
            self.guard_ended(span);
        }
    }

    /// What the effects so far amount to for guarded files that their paths do not tell.
    pub fn settle_guarded(&mut self) {
        if self.place.guarded.names.is_empty() {
            return;
        }
        self.settle_signals();
        let modifies = |word: Word| matches!(word, Word::Write | Word::Delete | Word::Permission);
        let count = self.analysis.effects.len();
        let mut compared = 0;
        let mut more: Vec<Effect> = Vec::new();
        for at in 0..count {
            let effect = &self.analysis.effects[at];
            if !modifies(effect.word) || effect.grade != Grade::Certain {
                continue;
            }
            let Some(target) = effect.path.clone() else { continue };
            let (word, extent) = (effect.word, target.extent);
            compared += usize::from((word, extent) != (Word::Delete, Extent::Exact));
            if !Cap::Compared.admits(compared) {
                break;
            }
            let names = match (word, extent) {
                // Above the home directory the rules' own patterns say it.
                (Word::Delete, Extent::Tree)
                    if !self.spares_tracked(at)
                        && target.resolved != self.place.home
                        && !is_below(&self.place.home, &target.resolved) =>
                {
                    self.guards_below(&target, true)
                }
                (Word::Write | Word::Permission, Extent::Exact) => {
                    self.same_file(&target.resolved).into_iter().collect()
                }
                (_, Extent::Glob) => self.guarded_matches(&target, word == Word::Delete),
                _ => Vec::new(),
            };
            let moved = [&target.resolved, &target.lexical]
                .into_iter()
                .find_map(|path| self.place.own_name(path))
                .or_else(|| self.linked_name(&target));
            let gone = word == Word::Delete && matches!(extent, Extent::Exact | Extent::Tree);
            let program = gone.then(|| self.own_last_name(&target.resolved)).flatten();
            let shadow = [&target.resolved, &target.lexical]
                .into_iter()
                .any(|path| extent == Extent::Exact && self.shadows_hookctl(path))
                .then(|| self.own_place());
            let names: Vec<String> =
                names.into_iter().chain(moved).chain(program).chain(shadow).collect();
            let effect = &self.analysis.effects[at];
            more.extend(names.into_iter().filter(|name| *name != target.lexical).map(|resolved| {
                let path =
                    Target { lexical: target.lexical.clone(), resolved, extent: Extent::Exact };
                Effect { path: Some(path), ..effect.clone() }
            }));
        }
        self.analysis.effects.extend(more);
    }

    /// The guarded files that a glob names: by another name that is there, or where the shell was told
    /// that `*` stands for hidden names as well.
    fn guarded_matches(&mut self, target: &Target, gone: bool) -> Vec<String> {
        let mut names = Vec::new();
        if shows_hidden(&self.analysis.commands) {
            let fits = |path: &String| {
                path.matches('/').count() == target.lexical.matches('/').count()
                    && glob::matches(&target.lexical, path)
            };
            names.extend(self.place.guarded_paths().into_iter().filter(fits));
        }
        if gone {
            return names;
        }
        // Of any depth the nearest is looked at.
        let near = |path: &str| path.replace("/**/", "/");
        let near = Target {
            lexical: near(&target.lexical),
            resolved: near(&target.resolved),
            extent: Extent::Glob,
        };
        let there = match glob::has_active(&near.lexical) {
            true => look::expand_glob(&near).unwrap_or_default(),
            false => vec![near],
        };
        names.extend(there.iter().filter_map(|one| self.same_file(&one.resolved)));
        names
    }

    /// git cleans only what it does not track: it says itself what that is.
    fn spares_tracked(&self, effect: usize) -> bool {
        let command = self.analysis.effects[effect].command;
        command.and_then(|at| self.analysis.commands.get(at)).is_some_and(|c| c.name == "git")
    }

    /// The name in the home directory of a file that is kept elsewhere and linked from there, as people keep their dotfiles:
    /// `~/dotfiles/bashrc` and `~/dotfiles/bash/.bashrc` are `~/.bashrc`, `~/dotfiles/hookctl/config.toml` is
    /// `~/.config/hookctl/config.toml`. It is looked for by the last parts of the file's path.
    fn linked_name(&self, target: &Target) -> Option<String> {
        /// So many of them.
        const PARTS: usize = 4;
        if matches!(target.extent, Extent::Glob | Extent::Children) {
            return None;
        }
        let (path, home) = (target.resolved.as_str(), self.place.home.as_str());
        // Of a file that is new its directory tells.
        let found = find_id(path);
        let own = found.or_else(|| find_id(split(path).0))?;
        let is_same = |name: &str| match found {
            Some(_) => name != path && find_id(name) == Some(own),
            None => {
                let (dir, last) = split(name);
                name != path && last == split(path).1 && find_id(dir) == Some(own)
            }
        };
        let ends = path.rmatch_indices('/').take(PARTS).map(|(at, _)| &path[at + 1..]);
        // Hidden ones alone: what else the home has is no settings.
        let names = ends.flat_map(|end| {
            let dirs: &[&str] = if end.starts_with('.') { &["/"] } else { &["/.", "/.config/"] };
            dirs.iter().map(move |dir| [home, dir, end].concat())
        });
        names.take_while(|_| limits::spend_look()).find(|name| is_same(name))
    }

    /// The guarded file that this one is by another name.
    fn same_file(&mut self, path: &str) -> Option<String> {
        let meta = fs::metadata(path).ok().filter(|meta| is_shared(path, meta))?;
        let own = file_id(path, &meta)?;
        if is_own_program(own) {
            return Some(self.own_place());
        }
        let same = |found: &&GuardedFile| found.id == Some(own);
        let guards = self.guarded_files();
        let found = guards.files.iter().find(same).map(|found| found.path.clone());
        if found.is_none() && !guards.cut.is_empty() && link_count(path, &meta) > 1 {
            Cap::Guards.note_reached();
        }
        found
    }

    /// hookctl's place where this is the only name of the program that runs, wherever it lies.
    fn own_last_name(&self, path: &str) -> Option<String> {
        let meta = fs::symlink_metadata(path).ok().filter(|meta| is_shared(path, meta))?;
        let last = link_count(path, &meta) == 1 && is_own_program(file_id(path, &meta)?);
        last.then(|| self.own_place())
    }

    /// Is that program hookctl: by its name, as a copy or link that the call made, by another name
    /// on the disk, or as a copy of the same content?
    pub fn is_hookctl(&mut self, path: &str) -> bool {
        let named = |path: &str| split(path).1 == NAME;
        if self.place.guarded.names.is_empty() {
            return false;
        }
        let mut at = path.to_string();
        for _ in 0..=self.copies.len() {
            if named(&at) {
                return true;
            }
            match self.copies.get(&at) {
                Some(origin) => at.clone_from(origin),
                None => break,
            }
        }
        self.same_file(&at).is_some_and(|found| named(&found)) || is_copy(&at)
    }

    /// The same for a name that is looked up in PATH, where the first operand is one of hookctl's.
    pub fn is_hookctl_in_path(&mut self, name: &str, args: &[Value]) -> bool {
        let speaks =
            args.first().and_then(Value::plain_text).is_some_and(|arg| COMMANDS.contains(&arg));
        if !speaks || name.is_empty() {
            return false;
        }
        let Some(dirs) = self.place.env.and_then(|env| env("PATH")) else { return false };
        let name = if cfg!(windows) { format!("{name}.exe") } else { name.to_string() };
        let found = std::env::split_paths(&dirs)
            .take_while(|_| limits::spend_look())
            .map(|dir| path::join(&dir.to_string_lossy(), &name))
            .find(|path| fs::metadata(path).is_ok_and(|meta| meta.is_file()));
        found.is_some_and(|path| {
            let real = self.resolver.resolve(&path, "/");
            self.is_hookctl(&real)
        })
    }
}

/// What the file system knows the file by, links followed.
fn find_id(path: &str) -> Option<Id> {
    fs::metadata(path).ok().and_then(|meta| file_id(path, &meta))
}

/// This very program: where the system has it, and what it is.
fn own_program() -> Option<(PathBuf, Metadata)> {
    let path = match cfg!(target_os = "linux") {
        true => PathBuf::from("/proc/self/exe"),
        false => std::env::current_exe().ok()?,
    };
    let meta = fs::metadata(&path).ok()?;
    Some((path, meta))
}

/// Is it what the file system knows this very program by?
fn is_own_program(id: Id) -> bool {
    own_program().is_some_and(|(at, meta)| file_id(&at.to_string_lossy(), &meta) == Some(id))
}

/// Has the file the size and the beginning of this very program?
fn is_copy(path: &str) -> bool {
    let size = |meta: Metadata| (meta.is_file() && is_shared(path, &meta)).then_some(meta.len());
    let Some(len) = fs::metadata(path).ok().and_then(size) else { return false };
    if own_program().is_none_or(|(_, own)| own.len() != len) {
        return false;
    }
    let head = |path: &std::path::Path| files::read_head(path, limits::HEAD).ok();
    let own = std::env::current_exe().ok().and_then(|own| head(&own));
    own.is_some() && own == head(path.as_ref())
}

/// Is the command one that lists what is hidden as well where a glob stands (`shopt -s dotglob`)?
fn shows_hidden(commands: &[SubCommand]) -> bool {
    let says = |command: &SubCommand| {
        matches!(command.name.as_str(), "shopt" | "setopt")
            && command.args.iter().any(|arg| {
                matches!(
                    arg.text.as_deref(),
                    Some("dotglob" | "globdots" | "GLOB_DOTS" | "glob_dots")
                )
            })
    };
    commands.iter().any(says)
}
