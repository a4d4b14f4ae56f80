//! Every kind of condition: its key, its documentation, how it is read and when it holds.
//!
//! To add one: a field in [`Conditions`], a line in [`KEYS`], an arm in [`Conditions::read`] and
//! its test in [`Conditions::event`] or [`Conditions::effect`].

use std::ops::Range;

use toml::Spanned;
use toml::de::DeValue;

use crate::effect::program::row;
use crate::effect::{Analysis, Effect, Extent, Grade, Source, SubCommand, Word, secret};
use crate::event::Event;
use crate::limits;

mod field;
mod name;
mod permission;
mod when;
mod within;

pub use self::field::{FieldTest, ValueTest};
pub use self::name::Name;
pub use self::permission::Permission;
pub use self::when::{WHEN_KEYS, When};

use super::command::CommandPattern;
use super::list::PatternList;
use super::path::{Bases, PathPattern};
use super::reader::Reader;
use super::{Regex, Truth};

/// The keys of conditions and what each means: `check` hints from it, docs are made from it.
pub const KEYS: &[(&str, &str)] = &[
    ("agent", "globs over the agent's id"),
    ("tool", "globs over Claude Code's tool names, whatever the agent calls them"),
    (
        "effect",
        "one of the words; `path`, `host`, `command` and `unless` speak of that same effect",
    ),
    ("command", "command patterns: program, first operands in order, options anywhere"),
    ("path", "path patterns: /x, ~/x, ./x, or x at any depth; D/. is the directory itself"),
    ("recursive", "true = a directory with what is below it, or a glob; false = one path"),
    (
        "within",
        "path patterns: the command runs there; for an allow and unless all that it names lies there",
    ),
    ("host", "globs over host names; *.x.org does not hold for x.org"),
    ("match", "a line of Claude Code's permission syntax: Bash(git push:*), Read(./.env)"),
    ("prompt", "regex over the user's prompt"),
    (
        "input",
        "table of field to value over the tool's input (the payload, where there is no tool)",
    ),
    ("response", "table of field to value over what the tool returned"),
    ("when", "table of circumstances: see the keys of when"),
];

/// What all conditions of a rule or of its `unless` ask for. An empty list asks for nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Conditions {
    /// `agent`
    pub agent: PatternList<Name>,
    /// `tool`
    pub tool: PatternList<Name>,
    /// `effect`
    pub effect: Vec<Word>,
    /// `command`
    pub command: PatternList<CommandPattern>,
    /// `path`
    pub path: PatternList<PathPattern>,
    /// `recursive`
    pub recursive: Option<bool>,
    /// `within`
    pub within: PatternList<PathPattern>,
    /// `host`
    pub host: PatternList<Name>,
    /// `match`
    pub permission: Vec<Permission>,
    /// `prompt`
    pub prompt: Vec<Regex>,
    /// `input`
    pub input: Vec<FieldTest>,
    /// `response`
    pub response: Vec<FieldTest>,
    /// `when`
    pub when: When,
    /// The rule's `unless` is an allow list: of a command that the rule names it speaks of what is listed.
    pub list: Option<List>,
}

/// An `unless` that lists hosts, or paths: what is not known to be on it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum List {
    /// `unless = { host = ... }`
    Hosts,
    /// `unless = { path = ... }`
    Paths,
}

impl List {
    /// Is the effect on what such a list holds?
    fn speaks_of(self, effect: &Effect) -> bool {
        match self {
            List::Hosts => matches!(effect.word, Word::Network | Word::Send),
            List::Paths => {
                matches!(effect.word, Word::Read | Word::Write | Word::Delete | Word::Permission)
            }
        }
    }
}

/// What conditions are tested on.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The event.
    pub event: &'a Event,
    /// What its call would do.
    pub analysis: &'a Analysis,
    /// What paths start from.
    pub bases: &'a Bases,
    /// The project's root.
    pub project: &'a str,
}

impl Conditions {
    /// Reads one key. False = the key is none of conditions.
    pub fn read(
        &mut self,
        key: &str,
        value: &Spanned<DeValue<'_>>,
        matcher: bool,
        r: &mut Reader<'_>,
    ) -> bool {
        match key {
            "agent" => self.agent = r.names(value),
            "tool" if matcher => self.tool = r.matchers(value),
            "tool" => self.tool = r.names(value),
            "host" => {
                self.host = r.names(value);
                self.host.iter_mut().for_each(Name::fold);
            }
            "effect" => {
                for (text, span) in r.strings(value) {
                    match text.as_str() {
                        "modify" => {
                            self.effect.extend([Word::Write, Word::Delete, Word::Permission]);
                        }
                        // A name that no shipped table gives may come from another file's
                        // `[program]`; `hookctl check` knows them all.
                        _ => match Word::from_text(&text).or_else(|| named(&text)) {
                            Some(word) => self.effect.push(word),
                            None => r.unknown_word("effect", &text, span, effect_words()),
                        },
                    }
                }
            }
            "command" => self.command = r.commands(value),
            "path" => self.path = r.paths(value),
            "within" => self.within = r.paths(value),
            "recursive" => self.recursive = r.boolean(value),
            "match" => self.permission = r.each(value, "bad-match", Permission::parse),
            "prompt" => self.prompt = r.regexes(value),
            "input" => self.input = r.field_tests(value),
            "response" => self.response = r.field_tests(value),
            "when" => self.when.read(value, r),
            _ => return false,
        }
        true
    }

    /// The tools as events name them, where each is a plain name that stands for itself alone.
    pub fn plain_tools(&self) -> Option<Vec<String>> {
        if !self.tool.excluded().is_empty() {
            return None;
        }
        self.tool
            .named()
            .iter()
            .map(|name| match name.plain()? {
                // Servers' tools go by more names than their own.
                text if text.is_empty() || text.starts_with("mcp__") => None,
                "Task" => Some("Agent".into()),
                text => Some(text.into()),
            })
            .collect()
    }

    /// Do any of these speak of a single effect?
    pub fn speaks_of_effects(&self) -> bool {
        !self.effect.is_empty()
            || !self.command.is_empty()
            || !self.path.is_empty()
            || self.recursive.is_some()
            || !self.within.is_empty()
            || !self.host.is_empty()
            || self.permission.iter().any(|p| !matches!(p, Permission::Tool(_)))
    }

    /// Is the effect on as much as `recursive` asks for?
    fn reaches(&self, effect: &Effect) -> Truth {
        let Some(wanted) = self.recursive else { return Truth::Yes };
        match &effect.path {
            Some(target) => Truth::from(target.extent.is_wide() == wanted),
            None if effect.grade == Grade::Unknown => Truth::Maybe,
            None => Truth::No,
        }
    }

    /// Do any of these look at text that says nothing of what a shell command does?
    pub fn speaks_of_text(&self) -> bool {
        !self.input.is_empty() || !self.response.is_empty() || !self.prompt.is_empty()
    }

    /// Is nothing asked for?
    pub fn is_empty(&self) -> bool {
        *self == Conditions::default()
    }

    /// Do the conditions on the event itself hold (all but `when.run`)?
    pub fn event(&self, s: &Subject<'_>) -> bool {
        let event = s.event;
        (self.agent.is_empty() || self.agent.holds(event.agent))
            && (self.tool.is_empty()
                || (!event.tool.is_empty() && self.tool.holds_tool(&event.tool)))
            && (self.prompt.is_empty()
                || event.prompt().is_some_and(|p| self.prompt.iter().any(|re| re.is_match(p))))
            && self.input.iter().all(|test| {
                if event.kind.is_tool() {
                    test.holds(&event.input)
                } else {
                    test.holds_in(|key| event.raw.get(key))
                }
            })
            && self
                .response
                .iter()
                .all(|test| event.response().is_some_and(|response| test.holds(response)))
            && (self.permission.is_empty()
                || self.speaks_of_effects()
                || self.permission.iter().any(|p| p.tool_holds(&event.tool)))
            && self.when.holds(s)
    }

    /// As an `unless`: is it an allow list?
    pub fn as_list(&self) -> Option<List> {
        match (self.host.is_empty(), self.path.is_empty()) {
            (false, true) => Some(List::Hosts),
            (true, false) => Some(List::Paths),
            _ => None,
        }
    }

    /// Is an allow list held against all that a command has to do with it, whatever the effect?
    pub fn lists_for_commands(&self) -> bool {
        self.list.is_some() && self.effect.is_empty()
    }

    /// Without a word for it, is this effect what a rule on that command speaks of? One stands for the
    /// command; beside an allow list it is each that could be on the list.
    fn stands(&self, s: &Subject<'_>, effect: &Effect) -> bool {
        let execute = effect.word == Word::Execute;
        match self.list {
            None => execute,
            Some(list) => {
                list.speaks_of(effect) || execute && !is_told(list, s.analysis, effect.command)
            }
        }
    }

    /// Does it name commands?
    pub fn names_commands(&self) -> bool {
        let command = |p: &Permission| matches!(p, Permission::Command(_));
        !self.command.is_empty() || self.permission.iter().any(command)
    }

    /// Does `effect` name this word?
    fn says(&self, word: Word) -> bool {
        self.effect.iter().any(|own| own.holds(word))
    }

    /// Is this effect one that the conditions speak of? For deny and ask.
    pub fn effect(&self, s: &Subject<'_>, effect: &Effect) -> Truth {
        let mut truth = Truth::Yes;
        if !self.effect.is_empty() && !self.says(effect.word) {
            return Truth::No;
        }
        let command = effect.command.and_then(|at| s.analysis.commands.get(at));
        if self.command.is_empty()
            && self.effect.contains(&Word::Execute)
            && effect.word == Word::Execute
            && effect.grade == Grade::Certain
            && command.is_some_and(|c| c.transparent)
        {
            return Truth::No;
        }
        if !self.command.is_empty() {
            // Without an effect word, the command as such is meant: one effect stands for it.
            if self.effect.is_empty()
                && self.path.is_empty()
                && self.recursive.is_none()
                && self.host.is_empty()
                && !self.stands(s, effect)
            {
                return Truth::No;
            }
            truth = truth.and(command.map_or(Truth::No, |c| self.command.hit(c)));
        }
        if !self.path.is_empty() {
            truth = truth.and(match &effect.path {
                Some(target) => self.path.hit(target, s.bases),
                None if effect.grade == Grade::Unknown => Truth::Maybe,
                // What leaves is what the same command reads, or a wrapper of it hands on.
                None if effect.word == Word::Send && effect.command.is_some() => {
                    let own = s.analysis.with_wrappers(effect.command);
                    let read = |e: &&Effect| {
                        e.word == Word::Read && e.command.is_some_and(|at| own.contains(&at))
                    };
                    let targets = s.analysis.effects.iter().filter(read).filter_map(|e| {
                        let truth = self.path.hit(e.path.as_ref()?, s.bases);
                        Some(if e.grade == Grade::Certain {
                            truth
                        } else {
                            truth.and(Truth::Maybe)
                        })
                    });
                    targets.fold(Truth::No, Truth::or)
                }
                None => Truth::No,
            });
        }
        truth = truth.and(self.reaches(effect));
        if !self.within.is_empty() {
            truth = truth.and(within::hits(&self.within, s, effect));
        }
        if !self.host.is_empty() {
            truth = truth.and(match &effect.host {
                Some(host) => Truth::from(self.host.holds_host(host)),
                None if matches!(effect.word, Word::Network | Word::Send | Word::Remote) => {
                    Truth::Maybe
                }
                None => Truth::No,
            });
        }
        if self.permission.iter().any(|p| !matches!(p, Permission::Tool(_))) {
            let hits = |p: &Permission| match (p, command) {
                (Permission::Command(pattern), Some(command)) if self.list.is_some() => {
                    Truth::from(self.stands(s, effect)).and(pattern.hits(command))
                }
                _ => p.hits(s, effect),
            };
            let any = self.permission.iter().fold(Truth::No, |t, p| t.or(hits(p)));
            truth = truth.and(any);
        }
        truth
    }

    /// Does this allow cover the effect whole? Unknown is never covered.
    pub fn covers(&self, s: &Subject<'_>, effect: &Effect) -> bool {
        if effect.grade == Grade::Unknown {
            return false;
        }
        if !self.speaks_of_effects() {
            return s.analysis.commands.is_empty() || !self.speaks_of_text();
        }
        if !self.effect.is_empty() && !self.says(effect.word) {
            return false;
        }
        let command = effect.command.and_then(|at| s.analysis.commands.get(at));
        let own = matches!(effect.source, Source::Program | Source::Operand);
        // An allow on a command is about what that program itself does to its own operands.
        let plain = match effect.word {
            Word::Execute
            | Word::Read
            | Word::Network
            | Word::Send
            | Word::Listen
            | Word::Named(_) => own,
            // What an option writes is not what its operands name: `sort -o FILE`.
            Word::Write | Word::Delete => {
                own && !command.is_some_and(|c| of_an_option(c, &effect.span))
            }
            Word::Permission | Word::Process | Word::System => own && !self.effect.is_empty(),
            Word::Privilege | Word::Remote | Word::Code | Word::PipeToInterpreter => {
                self.effect.contains(&effect.word) && (own || effect.source == Source::Code)
            }
        };
        if !self.command.is_empty() {
            let covered = command.is_some_and(|c| {
                // What stands for itself may hold what is known only at run time.
                let itself = effect.word == Word::Execute && c.stands_for_itself();
                let runner = c.parent.and_then(|at| s.analysis.commands.get(at));
                // The shipped ones say of each program what of it they mean.
                let runner = runner.filter(|_| self.within.is_empty());
                let written =
                    |p: &CommandPattern| runner.is_some_and(|r| p.writes_out(r, c, s.bases));
                let covers = |p: &CommandPattern| {
                    p.covers(c, s.bases) || itself && p.means(c, s.bases) || written(p)
                };
                let excluded = |p: &CommandPattern| p.hits(c) != Truth::No;
                self.command.named().iter().any(covers)
                    && !self.command.excluded().iter().any(excluded)
            });
            if !covered || !plain {
                return false;
            }
        }
        if !self.within.is_empty() && !within::covers(&self.within, s, effect) {
            return false;
        }
        if !self.names_commands() && self.leaves_out(s, effect) {
            return false;
        }
        let reaches = self.reaches(effect) == Truth::Yes;
        if !reaches
            || !self.path.is_empty()
                && !effect.path.as_ref().is_some_and(|t| self.path.cover(t, s.bases))
        {
            // An allow on a command and paths covers the execute of that command as well.
            let execute = effect.word == Word::Execute && !self.command.is_empty();
            if !execute {
                return false;
            }
        }
        if !self.host.is_empty()
            && !effect.host.as_ref().is_some_and(|host| self.host.lists_host(host))
            && (effect.word != Word::Execute || self.command.is_empty())
        {
            return false;
        }
        let mut permissions =
            self.permission.iter().filter(|p| !matches!(p, Permission::Tool(_))).peekable();
        if permissions.peek().is_some() {
            return permissions.any(|p| match p {
                Permission::Command(pattern) => {
                    plain
                        && command.is_some_and(|c| {
                            let runner = c.parent.and_then(|at| s.analysis.commands.get(at));
                            pattern.covers(c, s.bases)
                                || runner.is_some_and(|r| pattern.writes_out(r, c, s.bases))
                        })
                }
                Permission::Path(word, pattern) => {
                    effect.word == *word
                        && effect.path.as_ref().is_some_and(|t| pattern.covers(t, s.bases))
                }
                Permission::Host(name) => {
                    effect.word == Word::Network
                        && effect.host.as_ref().is_some_and(|host| name.holds_host(host))
                }
                Permission::Tool(_) => false,
            });
        }
        true
    }

    /// Is a file read whose name tells of secrets, and which no pattern names? An allow on a place does not speak of it.
    fn leaves_out(&self, s: &Subject<'_>, effect: &Effect) -> bool {
        let Some(target) = effect.path.as_ref().filter(|_| effect.word == Word::Read) else {
            return false;
        };
        let files = self.permission.iter().filter_map(|one| match one {
            Permission::Path(_, pattern) => Some(pattern),
            _ => None,
        });
        let mut patterns = self.path.named().iter().chain(files);
        let mut paths = [&target.lexical, &target.resolved].into_iter();
        let secret = match target.extent {
            Extent::Exact | Extent::Glob => paths.any(|path| secret::is_file(path)),
            Extent::Tree | Extent::Visible | Extent::Children => {
                paths.any(|path| secret::is_told(path))
            }
            // Whoever lists what is read was asked for it by name.
            Extent::Below => {
                let mut args = s.analysis.commands.iter().flat_map(|command| &command.args);
                args.any(|arg| {
                    !limits::step(64) || arg.text.as_deref().is_some_and(secret::is_told)
                })
            }
        };
        secret && !patterns.any(|pattern| pattern.singles_out(&target.lexical))
    }

    /// As an `unless`: does it relax a deny or ask on this effect? Only what is certain does. Its
    /// command is not asked here.
    ///
    /// `around` = a command that wraps the effect's own counts as well.
    pub fn relaxes(&self, s: &Subject<'_>, effect: Option<&Effect>, around: bool) -> bool {
        if !self.event(s) {
            return false;
        }
        if !self.speaks_of_effects() {
            return true;
        }
        let Some(effect) = effect.filter(|effect| effect.grade != Grade::Unknown) else {
            return false;
        };
        if !self.effect.is_empty() && !self.says(effect.word) {
            return false;
        }
        let commands = &s.analysis.commands;
        let command_holds = self.command.is_empty() || {
            let mut at = effect.command;
            let mut steps = 0;
            loop {
                let Some(command) = at.and_then(|at| commands.get(at)) else { break false };
                let named = self.command.named();
                if self.command.hit(command) == Truth::Yes
                    && (named.is_empty() || named.iter().any(|p| p.means(command, s.bases)))
                {
                    break true;
                }
                at = command.parent;
                steps += 1;
                if !around || steps > commands.len() {
                    break false;
                }
            }
        };
        command_holds
            && self.reaches(effect) == Truth::Yes
            && (self.within.is_empty() || within::covers(&self.within, s, effect))
            && (self.path.is_empty()
                || effect.path.as_ref().is_some_and(|t| self.path.cover(t, s.bases)))
            && (self.host.is_empty()
                || effect.host.as_ref().is_some_and(|host| self.host.lists_host(host)))
            && self
                .permission
                .iter()
                .filter(|p| !matches!(p, Permission::Tool(_)))
                .all(|p| p.hits(s, effect) == Truth::Yes)
    }

    /// As an `unless` of an allow: could it hold for this effect? Then nothing is allowed. Its command
    /// is not asked here.
    pub fn could_hold(&self, s: &Subject<'_>, effect: Option<&Effect>) -> bool {
        self.event(s)
            && (!self.speaks_of_effects()
                || effect.is_none_or(|effect| self.effect(s, effect) != Truth::No))
    }
}

/// Does an option of the command, or its value, stand at that place?
fn of_an_option(command: &SubCommand, span: &Range<usize>) -> bool {
    let holds = |outer: &Range<usize>| outer.start <= span.start && span.end <= outer.end;
    command
        .options
        .iter()
        .any(|opt| holds(&opt.span) || opt.value.as_ref().is_some_and(|value| holds(&value.span)))
}

/// Do its effects tell all that the command could have to do with such a list?
fn is_told(list: List, analysis: &Analysis, at: Option<usize>) -> bool {
    let Some(command) = at.and_then(|at| analysis.commands.get(at)) else { return false };
    let listed = || analysis.effects.iter().filter(|e| list.speaks_of(e));
    let harmless = || command.options.iter().all(|opt| opt.harmless);
    (command.transparent || harmless() && listed().any(|e| e.command == at))
        // A proxy in a variable is another host.
        && !listed().any(|e| e.source == Source::Assignment)
}

fn named(text: &str) -> Option<Word> {
    row::is_named_effect(text).then(|| Word::Named(Box::leak(text.to_string().into_boxed_str())))
}

/// The words of `effect`, composite ones included.
pub fn effect_words() -> impl Iterator<Item = &'static str> {
    let names = crate::effect::program::table::NAMES.iter().map(|(name, _)| *name);
    Word::ALL.iter().map(|word| word.text()).chain(["modify"]).chain(names)
}
