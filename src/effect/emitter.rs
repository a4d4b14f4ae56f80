//! Values become effects on paths and hosts: the one place where effects are made.

mod contained;
mod guard;
mod signals;

use std::ops::Range;

use super::guarded::Guards;
use super::host::{gives_credentials, host_of, is_disguised};
use super::look;
use super::path::{self, Resolver};
use super::value::{BLANK, FORGED, Value, is_forged};
use super::{
    Analysis, Effect, Extent, Grade, Package, Place, Source, SubCommand, Target, Word, windows,
};
use crate::glob;
use crate::limits::{self, Cap};
use crate::names::guard::INSTRUCTIONS;

/// Why no allow on a directory covers a path of which only the beginning is known.
const PARTLY_KNOWN: &str = "a path whose end is known only at run time";
/// Links in the directories of a glob are not all seen.
const UNSEEN_LINKS: &str = "a glob that may name what links lead to";

/// The file that the text of a program stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ScriptFile {
    /// In none: it is an argument or an input (`node -e`).
    Inline,
    /// In that one, as resolved.
    At(String),
    /// In one whose place nobody knows.
    Unknown,
}

/// Where a value leads.
#[derive(Debug, Clone, PartialEq)]
pub enum Spot {
    /// There.
    At(Target),
    /// A standard stream or a pipe: no effect.
    Stream,
    /// Nobody knows.
    Unknown,
}

/// Collects effects: the one place where they are made.
#[derive(Debug)]
pub struct Emitter<'a> {
    /// What is found so far.
    pub analysis: Analysis,
    /// Follows links.
    pub resolver: Resolver,
    /// The world.
    pub place: &'a Place,
    /// The directory the next effect is relative to; None when it is not known.
    pub cwd: Option<String>,
    /// The sub-command the next effect belongs to.
    pub command: Option<usize>,
    /// Files that are written in the call (as resolved), with their text where it is literal.
    pub written: std::collections::BTreeMap<String, Option<String>>,
    /// Directories that the call fills with what it fetches.
    pub fetched: Vec<String>,
    /// Files that a command keeps in order, by its number: a manifest, what a formatter finds. What they say stays what it was.
    pub kept: Vec<Kept>,
    /// Variables that the next program looks at, where they were set in the call.
    pub variables: Vec<(String, Option<String>)>,
    /// What the next text of a program is given: the operands of whoever runs it.
    pub arguments: Vec<Value>,
    /// It is surely given nothing.
    pub bare: bool,
    /// Where its text stands.
    pub script: ScriptFile,
    /// Standard input of the next program is what somebody prints whose text nobody knows.
    pub unread: bool,
    /// The lines of its standard input, where they name files that were found.
    pub lines: Vec<Value>,
    /// Standard input of the next program, where its text is known.
    pub input: Option<String>,
    /// Standard input of the next program says yes to whatever it asks.
    pub answered: bool,
    /// Inline programs, and which effects are theirs: what they name may tell what these are worth.
    pub programs: Vec<(std::ops::Range<usize>, String)>,
    /// Copies and new names that the call makes of files: where the new one is, and the old.
    pub copies: std::collections::BTreeMap<String, String>,
    /// Commands of nested text that signal processes, as they are written there.
    pub signals: Vec<(usize, String)>,
    /// What is walked is a file that the call runs.
    pub in_script: bool,
    /// What comes next may not run: a branch of a script.
    pub unsure: bool,
    /// How much of files was read to settle what the call does.
    read: u64,
    /// The guarded files that are there, once they were looked up.
    guards: Option<Guards>,
    /// Bytes of the paths of all effects.
    bytes: usize,
    /// There were more effects than are listed.
    full: bool,
}

/// The directory that a target is, with a [`BLANK`] where it only is known to lie below another.
pub fn directory_at(target: Target) -> Option<String> {
    match target.extent {
        Extent::Exact => Some(target.lexical),
        Extent::Below => Some(format!("{}/{BLANK}", target.lexical)),
        _ => None,
    }
}

/// Does the text begin as a name in the directory? `x$y` leads out only where there is a directory whose name begins with `x`.
fn begins_name(text: &str) -> bool {
    text.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

/// A file, and the command that keeps it in order.
pub type Kept = (Option<usize>, String);

/// Is the effect of those on such files?
pub fn is_kept(kept: &[Kept], effect: &Effect) -> bool {
    let same = |(by, file): &Kept| {
        *by == effect.command && effect.path.as_ref().is_some_and(|at| at.resolved == *file)
    };
    effect.word == Word::Write && kept.iter().any(same)
}

impl<'a> Emitter<'a> {
    /// An empty one.
    pub fn new(place: &'a Place) -> Emitter<'a> {
        let mut resolver = Resolver::default();
        let mut cwd = |text: &str| match windows::canonical_path(text) {
            Some(path) => path,
            // The system was there already: behind a link `..` is where the link leads to.
            None if text.split('/').any(|part| part == "..") => resolver.resolve(text, ""),
            None => path::normalise_path(text),
        };
        let cwd = (!place.cwd.is_empty()).then(|| cwd(&place.cwd));
        Emitter {
            analysis: Analysis::default(),
            resolver,
            place,
            cwd,
            command: None,
            written: std::collections::BTreeMap::new(),
            fetched: Vec::new(),
            kept: Vec::new(),
            variables: Vec::new(),
            arguments: Vec::new(),
            bare: false,
            script: ScriptFile::Inline,
            unread: false,
            lines: Vec::new(),
            input: None,
            answered: false,
            programs: Vec::new(),
            copies: std::collections::BTreeMap::new(),
            signals: Vec::new(),
            in_script: false,
            unsure: false,
            read: 0,
            guards: None,
            bytes: 0,
            full: false,
        }
    }

    /// One for a file that the call runs, which sees what the call has made so far; the guarded files are lent to it.
    pub fn for_script(&mut self, cwd: Option<String>) -> Emitter<'a> {
        Emitter {
            resolver: self.resolver.clone(),
            cwd,
            written: self.written.clone(),
            fetched: self.fetched.clone(),
            copies: self.copies.clone(),
            in_script: true,
            unsure: self.unsure,
            read: self.read,
            guards: self.guards.take(),
            ..Emitter::new(self.place)
        }
    }

    /// What the file would do.
    pub fn end_script(mut self, outer: &mut Emitter) -> Analysis {
        self.settle_guarded();
        outer.guards = self.guards;
        outer.read = self.read;
        self.analysis
    }

    /// Is the path what the call fetched, or does it lie in that?
    pub fn is_fetched(&self, path: &str) -> bool {
        let holds = |place: &String| {
            path.strip_prefix(place.as_str()).is_some_and(|r| r.is_empty() || r.starts_with('/'))
        };
        self.fetched.iter().any(holds)
    }

    /// That directory gets what the call fetches.
    pub fn fetch_into(&mut self, dir: &Value) {
        if let Spot::At(target) = self.locate_value(dir, Extent::Tree, true)
            && !self.fetched.contains(&target.resolved)
        {
            self.fetched.push(target.resolved);
        }
    }

    /// A bare effect.
    pub fn push(&mut self, word: Word, grade: Grade, source: Source, span: Range<usize>) {
        self.push_effect(word, grade, None, None, source, span);
    }

    /// Any effect.
    pub fn push_effect(
        &mut self,
        word: Word,
        grade: Grade,
        path: Option<Target>,
        host: Option<String>,
        source: Source,
        span: Range<usize>,
    ) {
        let command = self.command;
        let grade = if self.unsure { grade.max(Grade::Possible) } else { grade };
        self.bytes +=
            path.as_ref().map_or(0, |target| target.lexical.len() + target.resolved.len());
        let room = Cap::Effects.admits(self.analysis.effects.len() + 1);
        if !room || !Cap::EffectBytes.admits(self.bytes) {
            self.full = true;
            return;
        }
        let told = host.as_deref().filter(|_| word == Word::Network);
        let read = told.is_some_and(gives_credentials).then_some(Word::Named("secret.read"));
        let hidden = told.is_some_and(is_disguised).then_some(Word::Named("host.disguised"));
        let effect = Effect { word, grade, path, host, package: None, source, command, span };
        let more = read.into_iter().chain(hidden);
        let more: Vec<Effect> = more.map(|word| Effect { word, ..effect.clone() }).collect();
        self.analysis.effects.push(effect);
        self.analysis.effects.extend(more);
    }

    /// A package is installed.
    pub fn push_package(&mut self, word: Word, package: Package, span: Range<usize>) {
        let at = self.analysis.effects.len();
        self.push(word, Grade::Certain, Source::Operand, span);
        if let Some(effect) = self.analysis.effects.get_mut(at) {
            effect.package = Some(Box::new(package));
        }
    }

    /// Something is not understood: an unknown execute, and why.
    pub fn emit_unknown(&mut self, why: &str, span: Range<usize>) {
        self.push(Word::Execute, Grade::Unknown, Source::Program, span);
        self.add_note(why);
    }

    /// Nobody can tell all that the text does, and hardly ever is that a danger: no allow covers it, and why.
    pub fn emit_uncovered(&mut self, why: &str, span: Range<usize>) {
        self.push(Word::Read, Grade::Unknown, Source::Program, span);
        self.add_note(why);
    }

    /// What is shown may hold secrets, and no path tells of them: the history, settings, the environment.
    pub fn emit_disclosure(&mut self, what: &str, span: Range<usize>) {
        self.emit_uncovered(what, span);
    }

    /// Tells people why, once.
    pub fn add_note(&mut self, why: &str) {
        if !self.analysis.notes.iter().any(|n| n == why)
            && self.analysis.notes.len() < limits::NOTES
        {
            self.analysis.notes.push(why.to_string());
        }
    }

    /// What a cap or a spent budget has kept from being seen is not understood.
    pub fn finish(mut self) -> Analysis {
        self.settle_guarded();
        self.settle_found_processes();
        self.settle_contained();
        self.settle_called();
        self.settle_instructions();
        self.fit_spans();
        self.command = None;
        let caps = limits::take_reached().into_iter().map(Cap::describe_unknown);
        let why: Vec<String> = caps
            .chain(limits::spent_resource().map(|s| s.describe_shortage().to_string()))
            .collect();
        // The last ones make room.
        self.analysis.effects.truncate(Cap::Effects.limit().saturating_sub(why.len()));
        (self.full, self.bytes) = (false, 0);
        for why in why {
            self.emit_unknown(&why, 0..0);
        }
        self.analysis
    }

    /// What agents go by, and the call fetches: by the program that writes it, by one before it in its pipe, or as a copy.
    fn settle_instructions(&mut self) {
        let Analysis { text, effects, commands, .. } = &self.analysis;
        let contacts = || effects.iter().filter(|effect| effect.word == Word::Network);
        let pipes = |between: &str| {
            between.contains('|') && !between.contains([';', '\n']) && !between.contains("&&")
        };
        let came = |write: &Effect| {
            let by = self.analysis.with_wrappers(write.command);
            // `echo "$(curl URL)" > FILE`
            let own = write.command.and_then(|at| commands.get(at)).map(|one| one.span.clone());
            let inside = |net: &Effect| {
                let holds =
                    |own: &Range<usize>| own.start < net.span.start && net.span.end <= own.end;
                own.as_ref().is_some_and(holds)
            };
            let unpacked = write.path.as_ref().is_some_and(|p| self.fetched.contains(&p.resolved));
            unpacked
                || contacts().any(|net| {
                    net.command.is_some_and(|at| by.contains(&at))
                        || inside(net)
                        || text.get(net.span.end..write.span.start).is_some_and(pipes)
                        // Where each stands in a text of a text is not known.
                        || net.span.start < write.span.end && write.span.start < net.span.end
                })
        };
        let writes = || effects.iter().filter(|effect| effect.word == Word::Write);
        let path = |effect: &Effect| effect.path.as_ref().map(|target| target.resolved.clone());
        let copied = |to: &Effect| {
            let from = path(to).and_then(|to| self.copies.get(&to));
            from.is_some_and(|from| writes().any(|e| path(e).as_ref() == Some(from) && came(e)))
        };
        let tells = |effect: &&Effect| {
            let place = path(effect).map(|path| format!("{}/", path.to_lowercase()));
            place.is_some_and(|path| {
                INSTRUCTIONS.iter().any(|name| path.contains(&format!("/{name}/")))
            })
        };
        if contacts().next().is_none() {
            return;
        }
        let mut found: Vec<Effect> =
            writes().filter(tells).filter(|e| came(e) || copied(e)).cloned().collect();
        found.iter_mut().for_each(|e| e.word = Word::Named("content.instructions"));
        self.analysis.effects.append(&mut found);
    }

    /// A file that the call changes, or whose way it changes, is not the one that people allowed.
    fn settle_called(&mut self) {
        for at in 0..self.analysis.commands.len() {
            let Some(file) = self.analysis.commands[at].file.clone() else { continue };
            let changed = self.resolver.resolve(&file.lexical, "/") != file.resolved
                || Resolver::default().resolve(&file.lexical, "/") != file.resolved
                || self.is_changed_by_others(&file, at);
            if changed {
                let command = &mut self.analysis.commands[at];
                command.file = None;
                command.transparent &= command.genuine;
            }
        }
    }

    /// Does anything but the command itself, and what it runs, write or remove the file?
    fn is_changed_by_others(&mut self, file: &Target, own: usize) -> bool {
        let Emitter { analysis, resolver, .. } = self;
        let mut touches = |made: &str, extent: Extent, file: &str| {
            let (made, file) = (made.to_lowercase(), file.to_lowercase());
            match file.strip_prefix(made.trim_end_matches('/')) {
                Some("") => true,
                // What is put into a directory that is there leaves it the one it was.
                Some(rest) if rest.starts_with('/') => extent.is_wide() || !resolver.is_dir(&made),
                _ => extent == Extent::Glob && look::on_the_way(&made, &file),
            }
        };
        analysis.effects.iter().any(|effect| {
            let Some(made) = &effect.path else { return false };
            matches!(effect.word, Word::Write | Word::Delete)
                && limits::spend_steps(16)
                && !analysis.with_wrappers(effect.command).contains(&own)
                && [&made.lexical, &made.resolved].iter().any(|made_at| {
                    touches(made_at, made.extent, &file.lexical)
                        || touches(made_at, made.extent, &file.resolved)
                })
        })
    }

    /// The parser's spans of broken text can end behind it, or within a character.
    fn fit_spans(&mut self) {
        let Analysis { text, effects, commands, .. } = &mut self.analysis;
        let fit = |span: &mut Range<usize>| {
            if text.get(span.clone()).is_none() {
                span.end = text.floor_char_boundary(span.end);
                span.start = text.floor_char_boundary(span.start.min(span.end));
            }
        };
        effects.iter_mut().for_each(|effect| fit(&mut effect.span));
        for command in commands {
            fit(&mut command.span);
            fit(&mut command.word.span);
            command.args.iter_mut().for_each(|arg| fit(&mut arg.span));
            for option in &mut command.options {
                fit(&mut option.span);
                option.value.iter_mut().for_each(|value| fit(&mut value.span));
            }
        }
    }

    /// Where a value leads as it stands, if that is known, and is no stream.
    pub fn locate_exact(&mut self, value: &Value) -> Option<Target> {
        match self.locate_value(value, Extent::Exact, false) {
            Spot::At(target) => Some(target),
            Spot::Stream | Spot::Unknown => None,
        }
    }

    /// Where a value leads, and how much is touched there.
    pub fn locate_value(&mut self, value: &Value, extent: Extent, changes: bool) -> Spot {
        if value.is_pipe() {
            return Spot::Stream;
        }
        let computed = value.text().filter(|t| t.contains(BLANK));
        let Some(text) = value.text().filter(|_| computed.is_none()) else {
            let cut = computed.and_then(|t| t.split(BLANK).next());
            let prefix = cut.or(value.prefix());
            // Behind what is not known, `..` leads out again.
            let outline = value.outline().filter(|o| value.known_start().len() < o.len());
            if outline.is_some_and(|o| o.split('/').any(|part| part == ".."))
                || computed.is_some_and(|t| t.split('/').any(|part| part == ".."))
            {
                return Spot::Unknown;
            }
            let (prefix, slash) = match prefix.map(|p| (p, p.rfind('/'))) {
                Some((prefix, Some(slash))) => (prefix, slash),
                // A name without a directory lies in this one, and so does what begins as a name of a file does.
                _ if value.is_name() || prefix.is_some_and(begins_name) => ("./", 1),
                _ => return Spot::Unknown,
            };
            let root = if slash == 0 { "/" } else { &prefix[..slash] };
            if root.split('/').any(|part| part == "..") || glob::has_active(root) {
                return Spot::Unknown;
            }
            return match self.base_directory(root) {
                Some(cwd) => self.locate_below(root, &cwd, Extent::Below),
                None => Spot::Unknown,
            };
        };
        let Some(cwd) = self.base_directory(text) else { return Spot::Unknown };
        if value.is_glob() {
            let (dir, last) = path::split(text.trim_end_matches('/'));
            let everything = matches!(last, "*" | ".*" | ".[!.]*" | "**" | "?*");
            if everything && changes && !glob::has_active(dir) {
                let dir = if dir.is_empty() { "." } else { dir };
                // Without active characters the escapes mean nothing any more.
                return self.locate_below(&path::unescape_glob(dir), &cwd, Extent::Children);
            }
            return self.locate_below(text, &cwd, Extent::Glob);
        }
        match self.locate_below(text, &cwd, extent) {
            Spot::At(target) if path::is_stream(&target.lexical) => Spot::Stream,
            spot => spot,
        }
    }

    /// The target, or what is known of it where the directory itself is only known to lie below
    /// another (`cd "$(mktemp -d)"`).
    fn locate_below(&mut self, text: &str, cwd: &str, extent: Extent) -> Spot {
        let Some(at) = cwd
            .find(BLANK)
            .filter(|_| !text.starts_with('/') && windows::canonical_path(text).is_none())
        else {
            return Spot::At(self.resolver.resolve_target(text, cwd, extent));
        };
        if text.split('/').any(|part| part == "..") {
            return Spot::Unknown;
        }
        let root = cwd[..at].rfind('/').map_or("", |slash| &cwd[..slash]);
        let root = if root.is_empty() { "/" } else { root };
        Spot::At(self.resolver.resolve_target(root, "/", Extent::Below))
    }

    /// Goes to a directory, if it is known.
    pub fn chdir(&mut self, value: &Value) {
        let target = self.locate_exact(value).map(|target| self.follow_up(target));
        self.cwd = target.and_then(directory_at);
    }

    /// A directory as the system goes there: `..` behind a link leads to where the link does.
    pub fn follow_up(&mut self, target: Target) -> Target {
        let cwd = self.cwd.clone().unwrap_or_default();
        match self.resolver.resolve(&target.lexical, &cwd) == target.resolved {
            true => target,
            false => target.by_real_name(),
        }
    }

    fn base_directory(&self, text: &str) -> Option<String> {
        if text.starts_with('/') || windows::canonical_path(text).is_some() {
            return Some(self.cwd.clone().unwrap_or_else(|| "/".to_string()));
        }
        self.cwd.clone()
    }

    /// An effect on the path that a value names.
    pub fn emit_path(
        &mut self,
        word: Word,
        value: &Value,
        extent: Extent,
        grade: Grade,
        source: Source,
    ) {
        if value.text() == Some("") {
            return;
        }
        let changes = !matches!(word, Word::Read);
        if self.full {
            return;
        }
        match self.locate_value(value, extent, changes) {
            // What stands for a number is no glob of the shell's.
            Spot::At(target)
                if word == Word::Read
                    && target.extent == Extent::Glob
                    && !target.lexical.contains(glob::SOME_NUMBER) =>
            {
                self.read_glob(target, extent, grade, source, value.span.clone());
            }
            Spot::At(target)
                if word == Word::Write && self.written.contains_key(&target.resolved) =>
            {
                // Its text is no longer what the call wrote first.
                self.written.insert(target.resolved.clone(), None);
                self.push_effect(word, grade, Some(target), None, source, value.span.clone());
            }
            Spot::At(target) => {
                if word == Word::Delete && target.extent == Extent::Children {
                    let hidden = path::split(value.known_start()).1.starts_with('.');
                    self.emit_emptied(&target, hidden, &value.span);
                }
                if word == Word::Write && source == Source::Code {
                    self.emit_emptying(value);
                }
                if word != Word::Read {
                    self.follow_glob(word, &target, grade, source, &value.span);
                }
                self.push_effect(word, grade, Some(target), None, source, value.span.clone());
                // A program's own text is put together of names; a word of the shell may be anything.
                if value.may_lead_out() && source == Source::Operand {
                    self.emit_uncovered(PARTLY_KNOWN, value.span.clone());
                }
            }
            Spot::Stream => {}
            Spot::Unknown => {
                if source == Source::Tool && value.text().is_some_and(is_forged) {
                    self.emit_unknown(FORGED, value.span.clone());
                }
                self.push_effect(word, Grade::Unknown, None, None, source, value.span.clone());
            }
        }
    }

    /// A certain effect on exactly what an operand names.
    pub fn operand(&mut self, word: Word, value: &Value) {
        self.emit_path(word, value, Extent::Exact, Grade::Certain, Source::Operand);
    }

    /// A certain effect on what an operand names and all that lies below it.
    pub fn operand_tree(&mut self, word: Word, value: &Value) {
        self.emit_path(word, value, Extent::Tree, Grade::Certain, Source::Operand);
    }

    /// A certain effect on exactly what code names.
    pub fn code_path(&mut self, word: Word, value: &Value) {
        self.emit_path(word, value, Extent::Exact, Grade::Certain, Source::Code);
    }

    /// The effects from there on are on files that stay what they were.
    pub fn keep(&mut self, from: usize) {
        let written = self.analysis.effects[from..].iter().filter(|e| e.word == Word::Write);
        let kept = written.filter_map(|e| Some((e.command, e.path.as_ref()?.resolved.clone())));
        self.kept.extend(kept);
    }

    /// The sub-command that the next effect belongs to, as rules see it.
    pub fn own_command(&mut self) -> Option<&mut SubCommand> {
        self.command.and_then(|at| self.analysis.commands.get_mut(at))
    }

    /// No allow means that call, whatever it names.
    pub fn disown(&mut self) {
        if let Some(command) = self.own_command() {
            command.transparent = false;
            command.genuine = false;
        }
    }

    /// Deleting what a value names: of a link that is the link, not what it leads to, unless the
    /// text goes on behind it (`link/`, `link/.`).
    pub fn emit_deletion(&mut self, value: &Value, extent: Extent) {
        let from = self.analysis.effects.len();
        self.emit_path(Word::Delete, value, extent, Grade::Certain, Source::Operand);
        let Some(text) = value.plain_text() else { return };
        let (_, last) = path::split(text);
        let Some(Effect { path: Some(target), .. }) = self.analysis.effects.get_mut(from) else {
            return;
        };
        if target.lexical == target.resolved
            || matches!(last, "" | "." | "..")
            || windows::canonical_path(&target.lexical).is_some()
            || matches!(target.extent, Extent::Below | Extent::Children | Extent::Glob)
        {
            return;
        }
        // `..` behind a link leads to where the link does.
        let cwd = self.cwd.clone().unwrap_or_default();
        let joined = path::join(&cwd, text);
        let (dir, name) = path::split(&joined);
        let dir = self.resolver.resolve(dir, &cwd);
        target.resolved = path::normalise_path(&format!("{dir}/{name}"));
    }

    /// All files of a directory are opened anew, one by one (`for f in *; do > $f; done`): what they held is gone.
    pub fn emit_emptying(&mut self, value: &Value) {
        if let Spot::At(target) = self.locate_value(value, Extent::Exact, true)
            && target.extent == Extent::Children
        {
            let span = value.span.clone();
            self.push_effect(
                Word::Delete,
                Grade::Certain,
                Some(target),
                None,
                Source::Redirect,
                span,
            );
        }
    }

    /// Reading what a glob names: the files that are there, unless the call may have made more.
    fn read_glob(
        &mut self,
        target: Target,
        extent: Extent,
        grade: Grade,
        source: Source,
        span: Range<usize>,
    ) {
        let changed = self.analysis.effects.iter().any(|e| match (&e.path, e.word) {
            _ if e.grade == Grade::Unknown => true,
            (Some(made), Word::Write) => {
                made.extent != Extent::Exact
                    || look::on_the_way(&target.lexical, &made.lexical)
                    || look::on_the_way(&target.resolved, &made.resolved)
            }
            (_, word) => matches!(word, Word::Write | Word::Remote | Word::Code),
        });
        let named = if changed { None } else { look::expand_glob(&target) };
        for mut one in named.unwrap_or_else(|| vec![target]) {
            if one.extent == Extent::Exact {
                // A link in the directory leads on.
                one = self.resolver.resolve_target(&one.lexical, "/", extent);
            }
            self.push_effect(Word::Read, grade, Some(one), None, source, span.clone());
        }
    }

    /// A change of what a glob names through links, each by itself: the glob's own text tells nothing of where these lead.
    fn follow_glob(
        &mut self,
        word: Word,
        target: &Target,
        grade: Grade,
        source: Source,
        span: &Range<usize>,
    ) {
        // What is deleted is the link itself.
        let last = word != Word::Delete;
        if !look::may_follow_links(target, last) {
            return;
        }
        let made = self.analysis.effects.iter().any(|e| {
            e.grade == Grade::Unknown && e.word.is_grave()
                || matches!(e.word, Word::Remote | Word::Code)
        });
        let found = match made || self.resolver.made_links() {
            true => None,
            false => look::list_named(target),
        };
        let Some(found) = found else { return self.emit_uncovered(UNSEEN_LINKS, span.clone()) };
        for one in found {
            let (dir, name) = path::split(&one.lexical);
            let resolved = match last {
                true => self.resolver.resolve(&one.lexical, "/"),
                false => {
                    format!("{}/{name}", self.resolver.resolve(dir, "/").trim_end_matches('/'))
                }
            };
            if resolved != one.resolved {
                let led = Target { resolved, ..one };
                self.push_effect(word, grade, Some(led), None, source, span.clone());
            }
        }
    }

    /// The effects from there on are on code that runs: what lies outside of the project, or on a host, was not
    /// meant by an allow on the command.
    pub fn code_from_elsewhere(&mut self, from: usize) {
        for at in from..self.analysis.effects.len() {
            let effect = &self.analysis.effects[at];
            let (target, talks) = (effect.path.clone(), effect.word == Word::Network);
            if talks || target.is_some_and(|target| self.is_elsewhere(&target)) {
                self.analysis.effects[at].source = Source::Code;
            }
        }
    }

    /// The program runs what it finds in that directory.
    pub fn runs_there(&mut self, dir: &Value) {
        if let Some(target) = self.locate_exact(dir)
            && self.is_elsewhere(&target)
        {
            let span = dir.span.clone();
            self.push_effect(Word::Read, Grade::Certain, Some(target), None, Source::Code, span);
        }
    }

    /// Does it lie, or lead, outside of the project?
    pub fn is_elsewhere(&mut self, target: &Target) -> bool {
        let root = self.place.project.trim_end_matches('/');
        let real = self.resolver.resolve(root, "/");
        let below = |path: &str| {
            [root, real.trim_end_matches('/')].iter().any(|root| {
                path.strip_prefix(root).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            })
        };
        !below(&target.lexical) || !below(&target.resolved)
    }

    /// An effect on a path in the current directory that is computed, not written.
    pub fn own_path(
        &mut self,
        word: Word,
        text: &str,
        extent: Extent,
        grade: Grade,
        span: Range<usize>,
    ) {
        self.emit_path(word, &Value::known(text, span), extent, grade, Source::Program);
    }

    /// Contacting what a value names; `send` = data leaves as well.
    pub fn emit_contact(&mut self, value: &Value, send: bool, source: Source) {
        let known = host_of(value);
        let open = |outline: &str| outline.split(BLANK).next().is_some_and(|t| t.ends_with(':'));
        let grade = match (&known, value.plain_text()) {
            // What stands for a port could say more.
            (Some(_), None) if value.outline().is_some_and(open) => Grade::Possible,
            (Some(_), _) | (None, Some(_)) => Grade::Certain,
            (None, None) => Grade::Unknown,
        };
        self.push_effect(Word::Network, grade, None, known.clone(), source, value.span.clone());
        if send {
            self.push_effect(Word::Send, grade, None, known, source, value.span.clone());
        }
    }
}
