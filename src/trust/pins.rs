//! What a trusted file's commands run, named so that a change of it is seen: the analysis of calls reads each
//! script, and what it would execute or interpret is pinned. What cannot be named is said.

use std::path::{Path, PathBuf};

use super::{Listing, TrustEntry, hash_of, listing_of};
use crate::act;
use crate::effect::program::table::{self, Class, Special};
use crate::effect::windows::{LIST_SEPARATOR, native_text};
use crate::effect::{self, Extent, Grade, Place, Source, SubCommand, Target, Word};
use crate::env;
use crate::files;
use crate::glob;
use crate::names::pins::{COMPLETED, SYSTEM};
use crate::rule::file::RuleFile;
use crate::rule::{Action, Command, Text};
use crate::text::quote_for_shell;

/// Adds what the file's commands run, as it is now.
pub(super) fn add_pins(root: &Path, file: &RuleFile, entry: &mut TrustEntry) {
    let mut pins = Pins { root: &clean_path(root), entry };
    for rule in &file.rules {
        for command in rule.commands() {
            pins.pin_command(command);
        }
        for action in &rule.actions {
            if let Action::Context(Text::File(path)) = action {
                pins.pin_context(path);
            }
        }
    }
}

/// Adds what these scripts run, each started at the project's root.
pub(super) fn add_script_pins<'s>(
    root: &Path,
    scripts: impl Iterator<Item = &'s str>,
    entry: &mut TrustEntry,
) {
    let root = &clean_path(root);
    let mut pins = Pins { root, entry };
    scripts.for_each(|script| pins.pin_script(script, root));
}

/// Does the path, links followed, lie in the project?
pub fn stays_in(root: &Path, path: &Path) -> bool {
    match (files::real_path(root), files::real_path(path)) {
        (Ok(root), Ok(path)) => path.starts_with(root),
        // What is not there leads nowhere.
        _ => clean_path(path).starts_with(root),
    }
}

/// The path without `.` and `..`, which the disk is not asked about, in the one form that the analysis knows.
pub(super) fn clean_path(path: &Path) -> PathBuf {
    PathBuf::from(effect::path::normalise_path(&native_text(path)))
}

/// What is meant by that text in the directory.
fn path_in(dir: &Path, text: &str) -> PathBuf {
    clean_path(Path::new(&effect::path::join(&native_text(dir), text)))
}

struct Pins<'a> {
    root: &'a Path,
    entry: &'a mut TrustEntry,
}

/// How a file is used.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Use {
    /// It is the program of a command: where names of programs are completed, another file may be meant.
    Called,
    /// It is run or interpreted.
    Run,
    /// A program gets it, and may run it.
    Given,
}

impl Pins<'_> {
    fn pin_command(&mut self, command: &Command) {
        let (script, _) = command.script.to_script(&|_| None);
        let dir = command.directory(self.root, Path::new(&home_text()));
        if !stays_in(self.root, &dir) {
            self.entry.leads_out.push(dir.display().to_string());
        }
        self.pin_script(&act::with_base(&script, self.root), &dir);
    }

    fn pin_script(&mut self, script: &str, dir: &Path) {
        let (cwd, root) = (native_text(dir), native_text(self.root));
        let text = format!("CLAUDE_PROJECT_DIR={}\n{script}", quote_for_shell(&root));
        let place = Place { home: home_text(), cwd, project: root, ..Place::default() };
        let analysis = effect::shell::analyse_command(&text, &place);
        // A shell that reads its commands from elsewhere runs what the others read.
        let fed = analysis.commands.iter().any(|one| one.name == "eval" || is_fed(one));
        for effect in &analysis.effects {
            let command = effect.command.and_then(|at| analysis.commands.get(at));
            match (effect.word, &effect.path, effect.grade) {
                (Word::Read, Some(target), grade) if grade != Grade::Unknown => {
                    if let Some(usage) = effect_usage(effect, command, fed) {
                        self.pin_target(target, usage);
                    }
                }
                (Word::PipeToInterpreter, ..) | (Word::Execute | Word::Code, _, Grade::Unknown) => {
                    let part = text.get(effect.span.clone()).filter(|part| !part.is_empty());
                    self.note_unpinned(format!(
                        "`{}`: what it runs is known only then",
                        part.unwrap_or(script)
                    ));
                }
                _ => {}
            }
        }
        for one in &analysis.commands {
            self.pin_recipe(one);
            self.pin_module(one);
            self.pin_globs(one);
            self.pin_bare_name(one, is_of_cmd(one, &analysis.commands), script);
            if one.word.text.is_none() && !one.name.is_empty() {
                self.note_unpinned(format!("`{}`: where it lies is known only then", one.name));
            }
        }
    }

    fn note_unpinned(&mut self, what: String) {
        self.entry.unpinned.insert(what);
    }

    fn pin_target(&mut self, target: &Target, mut usage: Use) {
        let path = PathBuf::from(&target.lexical);
        if is_system(&path) {
            return;
        }
        if usage == Use::Called {
            self.pin_completed(&path);
            usage = Use::Run;
        }
        match target.extent {
            Extent::Exact if path.is_dir() && usage == Use::Run => self.pin_listing(&path, None),
            Extent::Exact if !path.is_dir() => self.pin_file(&path, usage),
            Extent::Glob if usage == Use::Run => match (path.parent(), path.file_name()) {
                (Some(dir), Some(name)) if !glob::is_glob(&dir.to_string_lossy()) => {
                    self.pin_listing(dir, Some(name.to_string_lossy().into_owned()));
                }
                _ => self.note_unpinned(format!(
                    "{}: its directories are found only then",
                    path.display()
                )),
            },
            Extent::Exact | Extent::Glob => {}
            _ if usage == Use::Run => self.pin_listing(&path, None),
            _ => {}
        }
    }

    /// Windows starts `tool.exe` or `tool.cmd` for `tool`, and some shells do so only where there is no `tool`.
    fn pin_completed(&mut self, path: &Path) {
        if !cfg!(windows) || path.extension().is_some() && path.exists() {
            return;
        }
        for suffix in COMPLETED {
            self.pin_file(Path::new(&format!("{}{suffix}", path.display())), Use::Run);
        }
    }

    /// A file, and where it leads; that there is none is as much as its content.
    fn pin_file(&mut self, path: &Path, usage: Use) {
        let Some(name) = path.to_str() else {
            return self
                .note_unpinned(format!("{}: its name is not valid Unicode", path.display()));
        };
        let Ok(real) = files::real_path(path) else {
            if usage == Use::Run {
                self.entry.absent.insert(name.to_string());
            }
            return;
        };
        let inner = path.starts_with(self.root);
        let root = files::real_path(self.root).unwrap_or_else(|_| self.root.to_path_buf());
        let expected =
            path.strip_prefix(self.root).map_or(path.to_path_buf(), |rest| root.join(rest));
        if real != expected {
            self.entry.links.insert(name.to_string(), real.to_string_lossy().into_owned());
            if inner && !real.starts_with(&root) && !is_system(&real) {
                self.entry.leads_out.push(format!("{name} -> {}", real.display()));
            }
        }
        if is_system(&real) {
            return;
        }
        match hash_of(&real) {
            Some(hash) => drop(self.entry.programs.insert(name.to_string(), hash)),
            None => self.note_unpinned(format!("{name}: it cannot be read, or is too large")),
        }
    }

    fn pin_listing(&mut self, dir: &Path, names: Option<String>) {
        let (Some(path), false) = (dir.to_str(), dir == self.root && names.is_none()) else {
            return self.note_unpinned(format!("{}: all that is in it", dir.display()));
        };
        match listing_of(dir, names.as_deref()) {
            Some(hash) => {
                let one = Listing { dir: path.to_string(), names, hash };
                if !self.entry.listings.contains(&one) {
                    self.entry.listings.push(one);
                }
            }
            None => {
                self.note_unpinned(format!("{path}: what is in it cannot be read, or is too much"))
            }
        }
    }

    /// The files that tell a build what to do; what they name in turn is not pinned.
    fn pin_recipe(&mut self, command: &SubCommand) {
        let row = table::find_row(&command.name, &[]);
        let Some(files) = row.and_then(|row| row.recipes) else { return };
        let dir = command.dir.as_ref().map_or(self.root.to_path_buf(), PathBuf::from);
        let named = command.options.iter().any(|opt| matches!(opt.name.as_str(), "-f" | "--file"));
        for file in files.split_whitespace().filter(|_| !named && !is_system(&dir)) {
            self.pin_file(&path_in(&dir, file), Use::Run);
        }
        self.note_unpinned(format!("`{}`: what the project's files make it run", command.name));
    }

    /// What a glob names is another file as soon as somebody adds one.
    fn pin_globs(&mut self, command: &SubCommand) {
        let first = command.operands.first().and_then(|at| command.args.get(*at));
        let first = first.filter(|_| is_runner(&command.name));
        for arg in std::iter::once(&command.word).chain(first).filter(|arg| arg.glob) {
            let (Some(text), Some(dir)) = (&arg.text, &command.dir) else { continue };
            let lexical = effect::path::join(dir, text);
            let target = Target { resolved: lexical.clone(), lexical, extent: Extent::Glob };
            self.pin_target(&target, Use::Run);
        }
    }

    /// `python -m x` takes the project's own module before any other.
    fn pin_module(&mut self, command: &SubCommand) {
        let python = base_name(&command.name) == "python" || base_name(&command.name) == "pypy";
        if python
            && command
                .args
                .iter()
                .any(|arg| arg.text.as_deref().is_some_and(|t| t.starts_with("-m")))
        {
            self.note_unpinned(format!(
                "`{} -m`: a module that the project may bring along",
                command.name
            ));
        }
        let first = command.operands.first().and_then(|at| command.args.get(*at));
        if is_runner(&command.name) && first.is_some_and(|arg| arg.text.is_none()) {
            self.note_unpinned(format!(
                "`{}`: the file that it runs is known only then",
                command.name
            ));
        }
    }

    /// A bare name is looked for in the project where PATH leads there, and by cmd.exe where it runs before all else.
    fn pin_bare_name(&mut self, command: &SubCommand, of_cmd: bool, script: &str) {
        let is_bare = |word: &&str| !word.is_empty() && !effect::path::has_separator(word);
        let Some(name) = command.word.text.as_deref().filter(is_bare) else { return };
        let dir = command.dir.as_ref().map_or(self.root.to_path_buf(), PathBuf::from);
        let mut dirs = Vec::from_iter(of_cmd.then(|| dir.clone()));
        for value in values_of_path(script) {
            self.search_directories(&value, &dir, &mut dirs);
        }
        let inherited = env::get(env::PATH).unwrap_or_default();
        let inherited = inherited.split(LIST_SEPARATOR).map(|one| path_in(&dir, one));
        dirs.extend(inherited.filter(|one| stays_in(self.root, one)));
        for dir in dirs {
            let path = path_in(&dir, name);
            self.pin_completed(&path);
            self.pin_file(&path, Use::Run);
            if path.is_file() {
                break;
            }
        }
    }

    /// The directories of a PATH that a script sets.
    fn search_directories(&mut self, value: &str, dir: &Path, out: &mut Vec<PathBuf>) {
        let home = home_text();
        for part in value.split(':') {
            if matches!(part, "$PATH" | "${PATH}" | "${PATH-}") {
                continue;
            }
            let mut text = part
                .replace("${CLAUDE_PROJECT_DIR}", "$CLAUDE_PROJECT_DIR")
                .replace("${PWD}", "$PWD")
                .replace("${HOME}", "$HOME");
            text = text.replace("$CLAUDE_PROJECT_DIR", &self.root.to_string_lossy());
            text = text.replace("$PWD", &native_text(dir)).replace("$HOME", &home);
            if let Some(rest) = text.strip_prefix('~') {
                text = format!("{home}{rest}");
            }
            // A drive has lost what follows its letter.
            let drive = cfg!(windows) && part.len() == 1 && part.is_ascii();
            if drive || text.contains(['$', '`', '*', '%']) {
                self.note_unpinned(format!("PATH={value}: where it leads is known only then"));
            } else if !is_system(Path::new(&text)) {
                out.push(path_in(dir, &text));
            }
        }
    }

    /// A file that is told to the model: its content may change, but it is the project's.
    fn pin_context(&mut self, path: &Path) {
        let path = self.root.join(path);
        if !stays_in(self.root, &path) {
            self.entry.leads_out.push(path.display().to_string());
        }
    }
}

/// How the command uses what it reads; None = as data.
fn effect_usage(effect: &effect::Effect, command: Option<&SubCommand>, fed: bool) -> Option<Use> {
    if effect.source == Source::Program {
        return Some(Use::Called);
    }
    if fed {
        return Some(Use::Run);
    }
    let command = command?;
    if is_runner(&command.name) {
        let span = |at: &usize| command.args.get(*at).map(|arg| arg.span.clone());
        let place = command.operands.iter().position(|at| {
            span(at).is_some_and(|span| {
                span.contains(&effect.span.start) && effect.span.end <= span.end
            })
        });
        return Some(if place.unwrap_or(0) == 0 { Use::Run } else { Use::Given });
    }
    (!command.transparent).then_some(Use::Given)
}

/// Does it run what it reads from its standard input?
fn is_fed(command: &SubCommand) -> bool {
    is_runner(&command.name)
        && command.operands.is_empty()
        && !command.options.iter().any(|opt| matches!(opt.name.as_str(), "-c" | "-e" | "-m" | "-f"))
}

/// Does it run the file that it is given first?
fn is_runner(name: &str) -> bool {
    use Special::{Make, Script, ScriptFile, Source, WindowsShell};
    const BY_CODE: [Special; 5] = [Make, Script, ScriptFile, Source, WindowsShell];
    let row = table::find_row(name, &[]).or_else(|| table::find_row(base_name(name), &[]));
    row.is_some_and(|row| {
        row.has_class(Class::Interpreter)
            || row.has_class(Class::Runner)
            || row.special.is_some_and(|special| BY_CODE.contains(&special))
    })
}

/// `python3.12` is python.
fn base_name(name: &str) -> &str {
    name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
}

/// Is it a line of cmd.exe, which starts what lies in its directory before what PATH has?
fn is_of_cmd(command: &SubCommand, all: &[SubCommand]) -> bool {
    let shell = command.parent.and_then(|at| all.get(at));
    cfg!(windows) && shell.is_some_and(|shell| shell.name == "cmd")
}

/// What `~` is to a shell. Windows sets no variable for it by itself.
fn home_text() -> String {
    let home = env::get_path(env::HOME).or_else(std::env::home_dir);
    native_text(&home.unwrap_or_default())
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|dir| path.starts_with(dir))
}

/// What a script sets PATH to, without quotes.
fn values_of_path(script: &str) -> Vec<String> {
    let mut out = Vec::new();
    for (at, name) in script.match_indices("PATH") {
        let before = script[..at].chars().next_back();
        let after = &script[at + name.len()..];
        let more = after.strip_prefix('+');
        let Some(given) = more.unwrap_or(after).strip_prefix('=') else { continue };
        if before.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_') {
            continue;
        }
        let mut value = String::new();
        let mut quote = None;
        for c in given.chars() {
            match (quote, c) {
                (None, '"' | '\'') => quote = Some(c),
                (Some(open), c) if open == c => quote = None,
                (None, c) if c.is_whitespace() || ";&|)".contains(c) => break,
                _ => value.push(c),
            }
        }
        // What is put behind the rest begins with the colon between.
        let value = if more.is_some() { value.trim_start_matches(':').to_string() } else { value };
        out.push(value);
    }
    out
}
