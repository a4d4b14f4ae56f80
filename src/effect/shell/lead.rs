//! What a call leads to: the files that it runs are read and walked as its own text is.
//!
//! Each is walked by itself, on a budget of its own. What is sure or possible in it stands behind the call's own
//! effects, with the way to it; what is not understood is left out, so that a file makes nothing of the call more
//! unknown than it was.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use super::asked::{Asked, Members, asked_of};
use super::frame::{Frame, Room};
use super::state::{StateKey, StateValue};
use super::stead::Closed;
use super::{Walker, cut_to_cap, deep};
use crate::effect::analysis::{Led, Stead};
use crate::effect::emitter::{Kept, is_kept};
use crate::effect::flow;
use crate::effect::git_file::last_value;
use crate::effect::path::{is_absolute, is_below, join, split};
use crate::effect::program::Call;
use crate::effect::program::recipe::{self, RecipeReader, Request, Step};
use crate::effect::program::table::{self, Language, Special};
use crate::effect::value::Value;
use crate::effect::variable::{Marked, classify_variable};
use crate::effect::{Analysis, Effect, Extent, Grade, Source, SubCommand, Target, Word};
use crate::files::Refusal;
use crate::limits;

/// What it costs of the budget to parse a word: some microseconds.
const STEP: usize = 250;

/// The files that a call runs.
#[derive(Debug, Default)]
pub(super) struct Leads {
    /// Their texts, once they were looked at.
    texts: BTreeMap<String, Option<Rc<str>>>,
    /// Bytes of them.
    bytes: usize,
    /// How often one was followed.
    runs: usize,
    /// Those that are being followed.
    open: Vec<String>,
    /// What was changed before they run.
    changed: Vec<Target>,
    /// What they do.
    found: Vec<Found>,
    /// What may stand in the stead of commands of the call's own text.
    steads: Vec<Stead>,
    /// Which of them are not followed, and why.
    notes: Vec<String>,
    /// There is more in the one at hand than was looked at.
    cut: bool,
}

/// Which hooks git starts for which call.
const HOOKS: &[(&str, &str)] = &[
    ("git commit", "pre-commit prepare-commit-msg commit-msg post-commit"),
    ("git merge", "pre-merge-commit prepare-commit-msg commit-msg post-merge"),
    ("git pull", "post-merge"),
    ("git push", "pre-push"),
    ("git checkout", "post-checkout"),
    ("git switch", "post-checkout"),
    ("git rebase", "pre-rebase post-checkout post-rewrite"),
    ("git cherry-pick", "prepare-commit-msg commit-msg post-commit"),
    ("git revert", "prepare-commit-msg commit-msg post-commit"),
    ("git am", "applypatch-msg pre-applypatch post-applypatch"),
    ("git worktree add", "post-checkout"),
];

/// What one file does.
#[derive(Debug)]
struct Found {
    /// The command that runs it.
    index: usize,
    /// Its effects with the way to each. Command 0 is the one that runs the file, the others follow from 1.
    effects: Vec<(Effect, String)>,
    commands: Vec<SubCommand>,
}

/// How a file is run.
struct Running<'r> {
    /// The command that does.
    index: usize,
    /// The file.
    path: &'r str,
    /// For people: `make clean -> Makefile`.
    name: String,
    /// Its text.
    text: Rc<str>,
    /// `$0` and on; None = in this very shell.
    words: Option<Vec<Value>>,
    /// The directory.
    dir: Option<String>,
}

impl Leads {
    fn add_note(&mut self, note: String) {
        if !self.notes.contains(&note) && self.notes.len() < limits::NOTES {
            self.notes.push(note);
        }
    }

    /// Puts what was found behind all that the call's own text does.
    pub(super) fn add_to(self, analysis: &mut Analysis) {
        let room = limits::NOTES.saturating_sub(analysis.notes.len());
        analysis.notes.extend(self.notes.into_iter().take(room));
        let (effects, commands) = (analysis.effects.len(), analysis.commands.len());
        let mut led = Led { effects, commands, ways: Vec::new(), steads: self.steads };
        for found in self.found.into_iter().filter(|found| found.index < commands) {
            let base = analysis.commands.len();
            let span = analysis.commands[found.index].span.clone();
            let place = |at: Option<usize>| Some(moved_place(at, found.index, base));
            for mut command in found.commands {
                command.parent = place(command.parent);
                set_place(&mut command, &span);
                analysis.commands.push(command);
            }
            for (mut effect, way) in found.effects {
                effect.command = place(effect.command);
                effect.span = span.clone();
                analysis.effects.push(effect);
                led.ways.push(way);
            }
        }
        if !led.ways.is_empty() || !led.steads.is_empty() {
            analysis.led = Some(Box::new(led));
        }
    }
}

/// Where a command of a file stands behind others, from `base` on: its first is the one that runs the file.
fn moved_place(at: Option<usize>, runner: usize, base: usize) -> usize {
    match at {
        None | Some(0) => runner,
        Some(at) => base + at - 1,
    }
}

/// The command stands in a file: nothing of it can be replaced where the call's text stands.
fn set_place(command: &mut SubCommand, span: &Range<usize>) {
    command.quoted = true;
    command.span = span.clone();
    command.word.span = span.clone();
    command.args.iter_mut().for_each(|arg| arg.span = span.clone());
    for option in &mut command.options {
        option.span = span.clone();
        option.value.iter_mut().for_each(|value| value.span = span.clone());
    }
}

/// The language that a text names in its first line; without one a shell reads it.
fn language_of(text: &str) -> Option<Language> {
    let Some(line) = text.strip_prefix("#!") else { return Some(Language::Shell) };
    let line = line.lines().next().unwrap_or_default();
    let words = line.split_whitespace().map(|word| split(word).1);
    let name = words.into_iter().find(|word| *word != "env" && !word.starts_with('-'))?;
    let name = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let program = table::find_program(name, &[])?;
    match program.special {
        Some(Special::Shell) => Some(Language::Shell),
        _ => program.lang,
    }
}

impl Walker<'_> {
    /// Follows a script that a command runs; `own` = in this very shell.
    pub(super) fn lead_into(
        &mut self,
        file: &Value,
        lang: Option<Language>,
        index: usize,
        own: bool,
        words: Vec<Value>,
    ) {
        if self.out.place.read.is_none() {
            return;
        }
        let Some(target) = self.out.locate_exact(file).filter(|t| t.extent == Extent::Exact) else {
            return;
        };
        if self.leads.open.contains(&target.resolved) {
            return;
        }
        let Some(text) = self.read_script(&target, index) else { return };
        let Some(lang) = lang.or_else(|| language_of(&text)) else { return };
        // `$TCLSH x.tcl`: that the variable is empty, so that a shell reads the file, is not meant.
        let perhaps = self.out.unsure || !self.frame.choice.is_empty();
        if perhaps && lang == Language::Shell && !text.starts_with("#!") {
            let named = split(&target.lexical).1.rsplit_once('.').map_or("sh", |(_, end)| end);
            if !named.ends_with("sh") {
                return;
            }
        }
        if matches!(lang, Language::Other | Language::Make) {
            return;
        }
        let words = match own {
            // `source FILE a b`: its own words while it runs; without any it sees this shell's.
            true if words.len() < 2 => None,
            _ => Some(words),
        };
        let name = self.shown_path(&target.lexical);
        let running = Running { index, path: &target.resolved, name, text, words, dir: self.cwd() };
        self.follow_text(running, own, lang);
    }

    fn follow_text(&mut self, running: Running, own: bool, lang: Language) {
        self.follow(running, own, &mut |w, text| match lang {
            Language::Shell => {
                let end = text.floor_char_boundary(limits::SCRIPT_TEXT);
                let start = cut_to_cap(&text[..end]);
                w.leads.cut |= start.len() < text.len();
                w.walk_text(start);
                w.run_traps();
            }
            lang => w.run_inline(lang, &Value::known(text, 0..text.len()), 0),
        });
    }

    /// `xargs -a FILE`: the items that stand in the file.
    fn lead_into_list(&mut self, call: &Call, index: usize) {
        let Some(file) = call.value("-a") else { return };
        let words = call.parsed.operands.iter().map(|at| call.args[*at].plain_text());
        let Some(words) = words.collect::<Option<Vec<_>>>().filter(|words| !words.is_empty())
        else {
            return;
        };
        let Some(target) = self.out.locate_exact(file).filter(|t| t.extent == Extent::Exact) else {
            return;
        };
        let Some(text) = self.read_script(&target, index) else { return };
        // Quotes and backslashes are xargs' own.
        let items = text.split_whitespace().filter(|item| !item.contains(['\'', '"', '\\']));
        let quoted = words.into_iter().chain(items).map(|word| format!("'{word}'"));
        let line = quoted.collect::<Vec<_>>().join(" ");
        let name = format!("xargs -> {}", self.shown_path(&target.lexical));
        if cut_to_cap(&line).len() < line.len() {
            return self.leads.add_note(format!("{name} does more than is looked at"));
        }
        let (words, dir) = (Some(Vec::new()), self.cwd());
        let running = Running { index, path: &target.resolved, name, text, words, dir };
        self.follow(running, false, &mut |w, text| {
            w.walk_nested(&line, 0..text.len(), Some(0));
        });
    }

    /// Follows the hooks that git starts for that call.
    pub(super) fn lead_into_hooks(&mut self, call: &Call, index: usize) {
        let row = call.row();
        let Some((_, hooks)) = HOOKS.iter().find(|(name, _)| *name == row) else { return };
        let known = self.out.place.read.is_some() && !call.is_dry_run();
        let dir = self.out.analysis.commands[index].dir.clone();
        let Some(dir) = dir.filter(|dir| known && is_absolute(dir)) else { return };
        let Some((root, place)) = self.find_hooks(call, &dir, index) else { return };
        for hook in hooks.split_whitespace() {
            let skipped = hook.starts_with("pre-") || matches!(hook, "commit-msg");
            if skipped && call.has("--no-verify") {
                continue;
            }
            // husky's own files only start those above them.
            let place =
                place.strip_suffix(".husky/_").map_or(&*place, |_| &place[..place.len() - 2]);
            // Most are not there: that costs less to see than where they would lead.
            if !self.lies_at(place, hook) {
                continue;
            }
            let target = self.out.resolver.resolve_target(hook, place, Extent::Exact);
            if !self.out.resolver.exists(&target.resolved) {
                continue;
            }
            let Some(text) = self.read_script(&target, index) else { continue };
            let name = format!("{row} -> {}", self.shown_path(&target.lexical));
            let (path, dir) = (target.resolved.as_str(), Some(root.clone()));
            let words = Some(vec![Value::known(hook, 0..0)]);
            if text.contains("generated by pre-commit") {
                let running = Running { index, path, name, text, words, dir };
                self.follow(running, false, &mut |w, text| {
                    w.walk_nested("pre-commit run", 0..text.len(), Some(0));
                });
            } else if let Some(lang) = language_of(&text) {
                self.follow_text(Running { index, path, name, text, words, dir }, false, lang);
            }
        }
    }

    /// The top of git's work tree, and where its hooks lie.
    fn find_hooks(&mut self, call: &Call, dir: &str, index: usize) -> Option<(String, String)> {
        let mut root = dir;
        while !self.lies_at(root, ".git") {
            root = split(root).0.trim_end_matches('/');
            if root.is_empty() {
                return None;
            }
        }
        let mut read = |at: &str, name: &str| {
            if !self.lies_at(at, name) {
                return None;
            }
            let target = self.out.resolver.resolve_target(name, at, Extent::Exact);
            let room = self.out.resolver.exists(&target.resolved);
            room.then(|| self.read_script(&target, index)).flatten()
        };
        let mut git = join(root, ".git");
        if !Path::new(&git).is_dir() {
            let text = read(root, ".git")?;
            let named = join(root, text.strip_prefix("gitdir:")?.trim());
            git = named.split("/worktrees/").next().unwrap_or_default().to_string();
        }
        let settings = call.parsed.options.iter().filter(|option| option.is_option("-c"));
        let mut of_call =
            settings.filter_map(|option| hooks_path(option.value.as_ref()?.plain_text()?));
        let named = match of_call.next_back() {
            Some(path) => Some(path.to_string()),
            None => read(&git, "config").and_then(|text| last_value(&text, "core", "hookspath")),
        };
        let named = named.map(|path| match path.strip_prefix("~/") {
            Some(rest) => join(&self.out.place.home, rest),
            None => join(root, &path),
        });
        Some((root.to_string(), named.unwrap_or_else(|| join(&git, "hooks"))))
    }

    /// Follows what the project's files tell a program to do, where it is one of those that ask them.
    pub(super) fn lead_into_recipe(&mut self, call: &Call, index: usize) {
        // What the call itself wrote is known without a look at the disk.
        let blind = self.out.place.read.is_none() && self.out.written.is_empty();
        if blind || call.is_dry_run() {
            return;
        }
        let files = match call.name {
            // Of what they run otherwise package.json says nothing.
            "node" if call.has("--run") => Some("package.json"),
            "turbo" | "lerna" => Some("package.json"),
            "xargs" => return self.lead_into_list(call, index),
            name => table::find_row(name, &[]).and_then(|row| row.recipes),
        };
        let Some(files) = files else { return };
        let Some(first) = files.split_whitespace().next() else { return };
        let Some(reader) = recipe::reader_of(first) else { return };
        let Some(asked) = asked_of(call) else { return };
        let dir = self.out.analysis.commands[index].dir.clone();
        let Some(dir) = dir.filter(|dir| is_absolute(dir)) else { return };
        if asked.file.as_ref().is_some_and(|file| file.plain_text().is_none()) {
            return;
        }
        if asked.members == Members::Nearest {
            return self.follow_recipe(call, index, (files, reader), &asked, dir);
        }
        for member in self.member_dirs(&asked.members, &dir, index) {
            self.follow_recipe(call, index, (files, reader), &asked, member);
        }
    }

    /// Follows what is asked of the recipe that holds for that directory.
    fn follow_recipe(
        &mut self,
        call: &Call,
        index: usize,
        (files, reader): (&str, RecipeReader),
        asked: &Asked,
        dir: String,
    ) {
        let named = asked.file.as_ref();
        let Some((target, text)) = self.find_recipe(files, named, &dir, index) else { return };
        let (steps, cut, closed) = self.read_recipe(reader, &text, asked, &dir, index);
        let shown = std::iter::once(call.name.to_string())
            .chain(asked.shown.iter().cloned())
            .collect::<Vec<_>>()
            .join(" ");
        let shown = crate::text::cut(&shown, limits::TOLD_EFFECT).into_owned();
        let name = format!("{shown} -> {}", self.shown_path(&target.lexical));
        if cut {
            self.leads.add_note(format!("{name} does more than is looked at"));
        }
        if steps.is_empty() {
            return;
        }
        let words = &asked.words;
        // Nothing is allowed by what the call itself wrote there.
        let own = self.out.written.contains_key(&target.resolved);
        if closed && asked.whole && named.is_none() && !own {
            let closed = Closed { target: &target, name: &name, steps: &steps, words };
            let stead = self.stead_of(call, index, &closed);
            self.leads.steads.extend(stead);
        }
        let home = if call.name == "make" || named.is_some() {
            dir
        } else {
            split(&target.lexical).0.trim_end_matches('/').to_string()
        };
        let running = Running {
            index,
            path: &target.resolved,
            name,
            text,
            words: Some(Vec::new()),
            dir: Some(home),
        };
        self.follow(running, false, &mut |w, _| {
            for step in &steps {
                w.run_step(step, words);
            }
        });
    }

    fn run_step(&mut self, step: &Step, words: &[Value]) {
        if self.room.stopped {
            return;
        }
        let given = step.takes_words && !words.is_empty();
        let text = if given { format!("{} \"$@\"", step.text) } else { step.text.clone() };
        let mut positional = vec![Value::unknown(0..0)];
        positional.extend(words.iter().filter(|_| given).cloned());
        let unsure = self.out.unsure;
        self.out.unsure |= step.unsure;
        self.in_child_shell(positional, |w| w.walk_nested(&text, step.span.clone(), Some(0)));
        self.out.unsure = unsure;
    }

    /// The commands of what is asked for, whether there are more, and whether nothing else can come of it.
    fn read_recipe(
        &mut self,
        reader: RecipeReader,
        text: &str,
        asked: &Asked,
        dir: &str,
        index: usize,
    ) -> (Vec<Step>, bool, bool) {
        let place = self.out.place;
        let env = |name: &str| place.env.and_then(|get| get(name));
        let this = RefCell::new(self);
        let mut exists = |name: &str| this.borrow_mut().lies_at(dir, name);
        let mut other = |name: &str| {
            let mut this = this.borrow_mut();
            let target = this.out.resolver.resolve_target(name, dir, Extent::Exact);
            this.out.resolver.exists(&target.resolved).then(|| this.read_script(&target, index))?
        };
        let mut request = Request {
            goals: &asked.goals,
            given: &asked.given,
            dir,
            exists: &mut exists,
            other: &mut other,
            env: &env,
            steers: &|name| env(name).is_some() || classify_variable(name, None) != Marked::No,
            alone: asked.alone,
            cut: false,
            closed: false,
        };
        let steps = limits::follow_script(|| reader(text, &mut request));
        (steps, request.cut, request.closed && !request.cut)
    }

    /// The file that tells a program what to do: as it is named, or the first one from its directory up.
    fn find_recipe(
        &mut self,
        files: &str,
        named: Option<&Value>,
        dir: &str,
        index: usize,
    ) -> Option<(Target, Rc<str>)> {
        let names: Vec<&str> = match named {
            Some(file) => vec![file.plain_text()?],
            None => files.split_whitespace().collect(),
        };
        let up = named.is_none() && !names.contains(&"Makefile");
        let mut at = dir;
        loop {
            for name in &names {
                if let Some(found) = self.find_written(name, at) {
                    return Some(found);
                }
                let blind = self.out.place.read.is_none();
                if blind || named.is_none() && !self.lies_at(at, name) {
                    continue;
                }
                let target = self.out.resolver.resolve_target(name, at, Extent::Exact);
                if self.out.resolver.exists(&target.resolved) {
                    let text = self.read_script(&target, index)?;
                    return Some((target, text));
                }
            }
            at = self.above_in_project(at).filter(|_| up)?;
        }
    }

    /// The directory above, where that lies in the project as well.
    pub(super) fn above_in_project<'d>(&self, dir: &'d str) -> Option<&'d str> {
        let above = split(dir.trim_end_matches('/')).0.trim_end_matches('/');
        let project = &self.out.place.project;
        (!above.is_empty() && (above == project || is_below(above, project))).then_some(above)
    }

    /// A file that this very call wrote, with its text.
    fn find_written(&mut self, name: &str, dir: &str) -> Option<(Target, Rc<str>)> {
        if self.out.written.is_empty() {
            return None;
        }
        let target = self.out.resolver.resolve_target(name, dir, Extent::Exact);
        let text = self.out.written.get(&target.resolved)?.as_deref()?;
        let text = Rc::from(text);
        Some((target, text))
    }

    /// The part of a file's text that there is time to parse: that takes longer than all that is done with it.
    pub(super) fn cut_to_share<'t>(&mut self, text: &'t str) -> &'t str {
        if self.leads.open.is_empty() {
            return text;
        }
        let (end, words) = deep::first_words(text, limits::SCRIPT_WORDS);
        let room = limits::spend_steps(words * STEP);
        self.leads.cut |= !room || end < text.len();
        if room { &text[..end] } else { "" }
    }

    /// The text of a file that runs, where it can be told what that will be.
    pub(super) fn read_script(&mut self, target: &Target, index: usize) -> Option<Rc<str>> {
        let read = self.out.place.read?;
        if self.frame.probing || self.is_changed_before(target, index) {
            return None;
        }
        let path = target.resolved.as_str();
        let shown = self.shown_path(&target.lexical);
        let leads = &mut self.leads;
        let left = limits::SCRIPT_BYTES.saturating_sub(leads.bytes);
        let many = leads.open.len() >= limits::SCRIPT_DEPTH || leads.runs >= limits::SCRIPT_RUNS;
        if let Some(known) = leads.texts.get(path).filter(|_| !many) {
            return known.clone();
        }
        if many || leads.texts.len() >= limits::SCRIPT_FILES || left == 0 {
            leads.add_note(format!("{shown} runs, and is not looked at: there is too much"));
            return None;
        }
        let text = match read(Path::new(path), left as u64) {
            Ok(bytes) => match String::from_utf8(bytes) {
                Ok(text) if !text.contains('\0') => Some(text),
                _ => {
                    leads.add_note(format!("{shown} runs, and is no text"));
                    None
                }
            },
            Err(Refusal::Absent) => None,
            Err(why) => {
                leads.add_note(format!("{shown} runs, and {why}"));
                None
            }
        };
        leads.bytes += text.as_ref().map_or(0, String::len);
        let text: Option<Rc<str>> = text.map(Rc::from);
        leads.texts.insert(path.to_string(), text.clone());
        text
    }

    /// Was the file, or what leads to it, changed before it runs?
    fn is_changed_before(&self, target: &Target, index: usize) -> bool {
        let own = self.out.analysis.effects.iter().filter(|effect| changes(effect, &self.out.kept));
        let own = own.filter(|effect| effect.command != Some(index));
        let changed = own.filter_map(|effect| effect.path.as_ref()).chain(&self.leads.changed);
        let hits = |made: &Target| {
            [(&made.lexical, &target.lexical), (&made.resolved, &target.resolved)].iter().any(
                |(made_at, file)| match made.extent {
                    Extent::Exact => made_at == file,
                    Extent::Glob => crate::effect::look::on_the_way(made_at, file),
                    _ => made_at == file || is_below(file, made_at),
                },
            )
        };
        changed.into_iter().any(hits) || self.out.written.contains_key(&target.resolved)
    }

    /// As people would write it.
    fn shown_path(&self, path: &str) -> String {
        let below = |dir: &str| path.strip_prefix(dir.trim_end_matches('/'))?.strip_prefix('/');
        let place = self.out.place;
        let shown = below(&place.cwd).or_else(|| below(&place.project)).unwrap_or(path);
        crate::text::make_visible(shown)
    }

    /// Walks a file that a command runs, by itself.
    fn follow(&mut self, running: Running, own: bool, walk: &mut dyn FnMut(&mut Walker, &str)) {
        let Running { index, path, name, text, words, dir } = running;
        let Some(mut runner) = self.out.analysis.commands.get(index).cloned() else { return };
        // What stands around it is not there.
        runner.parent = None;
        let state = if own { self.state.copy() } else { self.state.child_state() };
        let mut leads = std::mem::take(&mut self.leads);
        let outer = std::mem::take(&mut leads.found);
        let cut = std::mem::take(&mut leads.cut);
        leads.runs += 1;
        leads.open.push(path.to_string());
        let all = self.out.analysis.effects.iter();
        let changed = all.filter(|effect| changes(effect, &self.out.kept));
        leads.changed.extend(changed.filter_map(|effect| effect.path.clone()));
        let mut inner = Walker {
            out: self.out.for_script(dir.clone()),
            state,
            frame: Frame {
                parent: Some(0),
                depth: self.frame.depth + 1,
                computed: true,
                ..Frame::new("")
            },
            room: Room::within(&self.room),
            feed: self.feed.clone(),
            flow: self.flow.clone(),
            leads,
            ..Walker::new(self.out.place)
        };
        inner.out.analysis.text = text.to_string();
        inner.out.analysis.commands.push(runner);
        inner.out.command = Some(0);
        inner.state.set(StateKey::Cwd, Some(StateValue::Cwd(dir)));
        if let Some(words) = words {
            inner.set_positional(Some(Rc::new(words)));
        }
        limits::follow_script(|| walk(&mut inner, &text));
        if std::mem::replace(&mut inner.leads.cut, cut) || inner.room.stopped {
            inner.leads.add_note(format!("{name} does more than is looked at"));
        }
        let Walker { mut out, leads, flow, .. } = inner;
        flow::settle(&mut out.analysis, &flow);
        self.leads = leads;
        self.leads.open.pop();
        let kept = std::mem::take(&mut out.kept);
        let analysis = limits::follow_script(|| out.end_script(&mut self.out));
        let inside = std::mem::replace(&mut self.leads.found, outer);
        let found = self.collect(index, &name, analysis, &kept, inside);
        self.leads.found.push(found);
    }

    /// What is known of a file's doing, with the way to it.
    fn collect(
        &mut self,
        index: usize,
        name: &str,
        analysis: Analysis,
        kept: &[Kept],
        inside: Vec<Found>,
    ) -> Found {
        let Analysis { text, effects, mut commands, .. } = analysis;
        // Most stand where the one before stands, or behind it.
        let last = Cell::new((0, 1));
        let way = |span: &Range<usize>| match *span == (0..text.len()) {
            true => name.to_string(),
            false => {
                let (from, line) = if last.get().0 > span.start { (0, 1) } else { last.get() };
                let between = text.as_bytes().get(from..span.start).unwrap_or_default();
                let line = line + memchr::memchr_iter(b'\n', between).count();
                last.set((from + between.len(), line));
                format!("{name}:{line}")
            }
        };
        let changed = effects.iter().filter(|effect| changes(effect, kept));
        self.leads.changed.extend(changed.filter_map(|effect| effect.path.clone()));
        let line_of = |span: &Range<usize>| {
            let before = text.as_bytes().get(..span.start).unwrap_or_default();
            memchr::memrchr(b'\n', before)
        };
        let contacts = effects.iter().filter(|effect| effect.word == Word::Network);
        let fetched: Vec<Option<usize>> = contacts.map(|effect| line_of(&effect.span)).collect();
        let mut all: Vec<(Effect, String)> = Vec::new();
        for mut effect in effects {
            if !counts(&effect) || is_its_own(&effect, &commands) {
                continue;
            }
            // What a script computes and runs is its own affair, what it fetches and runs is not.
            if effect.word == Word::PipeToInterpreter && !fetched.contains(&line_of(&effect.span)) {
                continue;
            }
            // What a program of which no table tells may do somewhere below is no news of a file.
            let wide = effect.path.as_ref().is_some_and(|target| target.extent.is_wide());
            let command = effect.command.and_then(|at| commands.get(at));
            let strange = |one: &SubCommand| table::find_program(&one.name, &[]).is_none();
            // The shell itself opens what a redirection names.
            let perhaps = effect.source != Source::Redirect
                && (effect.word == Word::Read || effect.grade == Grade::Possible);
            if wide && perhaps && command.is_some_and(strange) {
                continue;
            }
            // What a file of the project names is named by the project; what it unpacks without fetching lay there.
            if effect.word == Word::Named("package.foreign")
                || effect.word == Word::Named("package.unread") && fetched.is_empty()
            {
                effect.grade = Grade::Possible;
            }
            // Which files a glob names there is not known.
            if wide && effect.word == Word::Read {
                effect.grade = Grade::Possible;
            }
            let way = way(&effect.span);
            all.push((effect, way));
        }
        for found in inside {
            let Some(runner) = commands.get(found.index).map(|command| way(&command.span)) else {
                continue;
            };
            let base = commands.len();
            let place = |at: Option<usize>| Some(moved_place(at, found.index, base));
            commands.extend(found.commands.into_iter().map(|mut command| {
                command.parent = place(command.parent);
                command
            }));
            all.extend(found.effects.into_iter().map(|(mut effect, way)| {
                effect.command = place(effect.command);
                (effect, format!("{runner} -> {way}"))
            }));
        }
        if all.len() > limits::SCRIPT_EFFECTS || commands.len() > limits::SCRIPT_EFFECTS {
            self.leads.add_note(format!("{name} does more than is looked at"));
            all.truncate(limits::SCRIPT_EFFECTS);
            all.retain(|(effect, _)| effect.command.is_none_or(|at| at < limits::SCRIPT_EFFECTS));
            commands.truncate(limits::SCRIPT_EFFECTS);
        }
        commands.remove(0);
        Found { index, effects: all, commands }
    }
}

/// Does the effect change a file, for certain?
fn changes(effect: &Effect, kept: &[Kept]) -> bool {
    matches!(effect.word, Word::Write | Word::Delete)
        && effect.grade == Grade::Certain
        && !is_kept(kept, effect)
}

/// Is the effect one that a file adds to the call? What is not understood in it, and that it is code, is none.
fn counts(effect: &Effect) -> bool {
    effect.grade != Grade::Unknown
        && effect.word != Word::Code
        && (effect.word != Word::Execute || effect.command != Some(0))
}

/// Is something read for the program's own sake, so that nobody sees it: settings that are sourced, what options name?
fn is_its_own(effect: &Effect, commands: &[SubCommand]) -> bool {
    let command = effect.command.and_then(|at| commands.get(at));
    let of_option = |command: &SubCommand| {
        let named = |value: &crate::effect::Arg| value.span == effect.span;
        command.options.iter().any(|option| option.value.as_ref().is_some_and(named))
    };
    effect.word == Word::Read
        && (matches!(effect.source, Source::Program | Source::Assignment)
            || command
                .is_some_and(|one| matches!(one.name.as_str(), "." | "source") || of_option(one)))
}

/// The value of git's setting for where hooks lie.
fn hooks_path(setting: &str) -> Option<&str> {
    let (key, value) = setting.split_once('=')?;
    key.trim().eq_ignore_ascii_case("core.hookspath").then(|| value.trim().trim_matches('"'))
}

#[cfg(all(test, unix))]
mod tests {
    use std::fs;
    use std::path::Path;
    use std::time::{Duration, Instant};

    use crate::effect::shell::analyse_command;
    use crate::effect::{Analysis, Grade, Place, Word};
    use crate::files;
    use crate::limits;

    fn analyse(dir: &Path, command: &str) -> Analysis {
        let cwd = dir.to_string_lossy().into_owned();
        let home = "/home/dev".to_string();
        let place =
            Place { project: cwd.clone(), cwd, home, read: Some(files::read), ..Place::default() };
        limits::begin_event();
        let analysis = analyse_command(command, &place);
        limits::enter_stage(limits::Stage::Idle);
        analysis
    }

    fn is_understood(analysis: &Analysis) -> bool {
        analysis.effects.iter().all(|effect| effect.grade != Grade::Unknown)
    }

    #[test]
    fn hostile_files_are_as_opaque_as_they_were() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, text: &str| fs::write(dir.path().join(name), text).unwrap();
        fs::File::create(dir.path().join("huge.sh")).unwrap().set_len(100 << 20).unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero.sh")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, dir.path().join("fifo.sh"), 0o700.into()).unwrap();
        fs::write(dir.path().join("binary"), b"\x7fELF\0\xff").unwrap();
        put("a.sh", &". ./b.sh\n. ./a.sh\n./b.sh\n".repeat(20));
        put("b.sh", &". ./a.sh\n./b.sh\n./a.sh\n".repeat(20));
        put("deep.sh", &format!("{}echo{}", "(".repeat(5000), ")".repeat(5000)));
        put("many.sh", &"echo a && echo b || rm x; ".repeat(2000));
        put("wrong.sh", "if then )) fi $(\"\n");
        put("calls.py", &format!("{}{}", "f(".repeat(3000), ")".repeat(3000)));
        put(
            "Makefile",
            &(0..8000).map(|n| format!("t{n}: t{}\n\trm b\n", n + 1)).collect::<String>(),
        );
        put("values.mk", "V = $(V)$(W)$(W)\nW = $(V)$(V)$(V)\nall:\n\techo $(V)\n");
        put("open.mk", &format!("all:\n\techo {}\n", "$(".repeat(9000)));
        put(
            "justfile",
            &(0..90)
                .map(|n| format!("r{n}: {}\n", format!("r{} ", n + 1).repeat(9)))
                .collect::<String>(),
        );
        put("package.json", "{\"scripts\":{\"a\":\"npm run a && npm run a\",\"b\":[");
        put("include.mk", &"include include.mk a.mk\n".repeat(900));
        put("a.mk", &"-include a.mk include.mk fifo.sh zero.sh .\nall: b\n".repeat(900));
        put("tox.ini", &format!("[tox]\nenvlist = {}\n[testenv]\ncommands =\n", "a,".repeat(9000)));
        let task = "[tasks.a]\ndepends = [\"a\", \"a\", \"a\"]\nrun = [\"rm x\", \"";
        put("mise.toml", &task.repeat(900));
        put("noxfile.py", &"def a(session):\n  session.run(\"rm\"".repeat(9000));
        put(".pre-commit-config.yaml", &"- repo: local\n  entry: {\n  args: [[\n".repeat(9000));
        put("list.txt", &"keep/a 'b\n".repeat(9000));
        fs::create_dir_all(dir.path().join(".git/hooks")).unwrap();
        put(".git/config", &"[core\n[core]\nhooksPath\n".repeat(900));
        let hooks = dir.path().join(".git/hooks");
        std::os::unix::fs::symlink("/dev/zero", hooks.join("pre-commit")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, hooks.join("commit-msg"), 0o700.into()).unwrap();
        for command in [
            "bash huge.sh",
            "bash zero.sh",
            "bash fifo.sh",
            "./fifo.sh",
            "./binary",
            "bash a.sh",
            "./a.sh; ./b.sh",
            "bash deep.sh",
            "bash many.sh",
            "bash wrong.sh",
            "python3 calls.py",
            "make t0",
            "make -f values.mk",
            "make -f open.mk",
            "make -f fifo.sh",
            "just r0",
            "npm run a",
            "make -f include.mk",
            "make -f a.mk",
            "tox",
            "mise run a",
            "nox",
            "pre-commit run",
            "git commit -m x",
            "xargs -a zero.sh echo",
            "xargs -a fifo.sh echo",
        ] {
            let start = Instant::now();
            let analysis = analyse(dir.path(), command);
            assert!(is_understood(&analysis), "{command}: {:?}", analysis.notes);
            assert!(start.elapsed() < Duration::from_secs(5), "{command}: {:?}", start.elapsed());
        }
    }

    #[test]
    fn a_file_that_is_not_looked_at_is_told_of() {
        let dir = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink("/dev/zero", dir.path().join("zero.sh")).unwrap();
        fs::write(dir.path().join("binary"), b"\x7fELF\0\xff").unwrap();
        let told = |command: &str| analyse(dir.path(), command).notes.join("; ");
        assert!(told("bash zero.sh").contains("zero.sh runs, and is"), "{}", told("bash zero.sh"));
        assert_eq!(told("./binary"), "binary runs, and is no text");
        assert_eq!(told("bash none.sh"), "");
        let long = format!("all:\n{}", "\t@echo a\n".repeat(limits::RECIPE_STEPS + 1));
        fs::write(dir.path().join("Makefile"), long).unwrap();
        assert_eq!(told("make"), "make -> Makefile does more than is looked at");
        let deep: String =
            (0..=limits::RECIPE_DEPTH).map(|n| format!("r{n}: r{}\n  echo a\n", n + 1)).collect();
        fs::write(dir.path().join("justfile"), deep + "r65:\n  echo a\n").unwrap();
        assert_eq!(told("just r0"), "just r0 -> justfile does more than is looked at");
        let names = ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9"];
        for n in names {
            fs::write(dir.path().join(format!("{n}.sh")), "rm x\n").unwrap();
        }
        let many = names.map(|n| format!("bash {n}.sh")).join("; ");
        let analysis = analyse(dir.path(), &many);
        let deleted = analysis.effects.iter().filter(|effect| effect.word == Word::Delete).count();
        assert_eq!(deleted, limits::SCRIPT_FILES);
        assert_eq!(analysis.way_to(analysis.own_effects().len()), Some("0.sh:1"));
        assert!(told(&many).contains("9.sh runs, and is not looked at: there is too much"));
    }
}
