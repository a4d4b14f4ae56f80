//! Every condition of a rule, one entry each.
//!
//! To add one: its type with an `impl Condition`, and its name in the list at the top. The keys of rule files, `check`,
//! `explain`, the index and the schema (`UPDATE_DOCS=1 cargo test --test docs`) follow from it.

use super::{
    Condition, FieldTest, Key, List, NamePattern, Needs, OptionalWhen, Permission, Scope, Subject,
    Value, Ways, within,
};
use crate::effect::{Effect, Grade, Source, Target, Word, own};
use crate::event::Kind;
use crate::glob;
use crate::rule::command::CommandPattern;
use crate::rule::concern::{ConcernLine, name_of_tool};
use crate::rule::path::PathList;
use crate::rule::reader::{Item, Reader};
use crate::rule::{PatternList, Regex, Truth};

/// The struct of all conditions, and what goes over each of them.
macro_rules! conditions {
    ($($field:ident: $entry:ident,)*) => {
        /// What all conditions of a rule or of its `unless` ask for.
        #[derive(Debug, Clone, Default, PartialEq)]
        pub struct Conditions {
            $(
                #[doc = concat!("What `", stringify!($entry), "` asks for.")]
                pub $field: <$entry as Condition>::Value,
            )*
            /// The rule's `unless` is an allow list: of a command that the rule names it speaks of what is listed.
            pub list: Option<List>,
            /// As an `unless`: `command` speaks of the commands around an effect's own as well.
            pub around: bool,
            /// The rule stops calls: what only may be meant is, and one form of a path suffices.
            pub stops: bool,
        }

        /// The keys of conditions: `check` hints from it, docs are made from it.
        pub const KEYS: &[Key] = &[$(Key { name: $entry::KEY, doc: $entry::DOC, sort: <<$entry as Condition>::Value as Value>::SORT }),*];

        impl Conditions {
            /// Reads one key. False = the key is none of conditions.
            pub fn read_key(&mut self, key: &str, value: &Item<'_>, r: &mut Reader<'_>) -> bool {
                $(
                    if key == $entry::KEY {
                        self.$field = $entry::read(value, r);
                        return true;
                    }
                )*
                false
            }

            /// Is any of these conditions about such a thing?
            #[inline(always)]
            pub(super) fn any_scope(&self, is: impl Fn(Scope) -> bool) -> bool {
                $((is($entry::SCOPE) && $entry::scope(&self.$field).is_some_and(&is)))||*
            }

            /// The keys of all that is asked for, with what each is about and where it can hold.
            pub fn asked_conditions(&self) -> Vec<(&'static str, Scope, Option<Needs>)> {
                let all = [$(($entry::KEY, $entry::scope(&self.$field), $entry::NEEDS)),*];
                all.into_iter().filter_map(|(key, scope, needs)| Some((key, scope?, needs))).collect()
            }

            /// The key of the first condition on the event itself that does not hold (`when.run` is left out).
            #[inline]
            pub fn first_unmet(&self, s: &Subject<'_>) -> Option<&'static str> {
                $(
                    if $entry::scope(&self.$field).is_some() && !$entry::matches_event(&self.$field, self, s) {
                        return Some($entry::KEY);
                    }
                )*
                None
            }

            /// The key of the first condition that none of the call's effects could meet.
            pub fn unmet_by_all(&self, s: &Subject<'_>) -> Option<&'static str> {
                let effects = &s.analysis.effects;
                $(
                    let meets = |effect: &Effect| $entry::match_effect(&self.$field, self, s, effect) != Truth::No;
                    let scope = $entry::scope(&self.$field);
                    if scope.is_some_and(Scope::is_of_effects) && !effects.iter().any(meets) {
                        return Some($entry::KEY);
                    }
                )*
                None
            }

            /// Is this effect one that the conditions speak of? For deny and ask.
            pub fn match_effect(&self, s: &Subject<'_>, effect: &Effect) -> Truth {
                let mut truth = Truth::Yes;
                $(
                    if $entry::SCOPE.is_of_effects() && $entry::scope(&self.$field).is_some() {
                        truth = truth.and($entry::match_effect(&self.$field, self, s, effect));
                        if truth == Truth::No {
                            return truth;
                        }
                    }
                )*
                truth
            }

            /// Does each condition cover the effect? One on operands need not where `own` says that it is the
            /// execute of a command that is named.
            pub(super) fn all_cover(&self, s: &Subject<'_>, effect: &Effect, own: bool) -> bool {
                $((!$entry::SCOPE.is_of_effects()
                    || $entry::scope(&self.$field).is_none_or(|scope| {
                        own && scope == Scope::Operand
                            || $entry::covers(&self.$field, self, s, effect)
                    })))&&*
            }

            /// Does each condition, as one of an `unless`, certainly hold for the effect?
            pub(super) fn all_relax(&self, s: &Subject<'_>, effect: &Effect) -> bool {
                $((!$entry::SCOPE.is_of_effects()
                    || $entry::scope(&self.$field).is_none()
                    || $entry::relaxes(&self.$field, self, s, effect)))&&*
            }

            /// Does each condition ask for nothing, or for what the other's does?
            pub fn is_part_of(&self, other: &Conditions) -> bool {
                $(($entry::scope(&self.$field).is_none() || self.$field == other.$field))&&*
            }

            /// What each makes of the rule's line in the index.
            pub fn add_concerns(&self, line: &mut ConcernLine) {
                $($entry::add_concern(&self.$field, line);)*
            }

            /// Every regular expression.
            pub fn all_regexes(&self) -> Vec<&Regex> {
                let mut out = Vec::new();
                $(self.$field.collect_regexes(&mut out);)*
                out
            }

            /// The event of a rule that names none, where a condition has one of its own.
            pub fn event_meant(&self) -> Option<Kind> {
                $(
                    if let (Some(_), Some(Needs { meant, .. })) = ($entry::scope(&self.$field), $entry::NEEDS)
                        && meant.is_some()
                    {
                        return meant;
                    }
                )*
                None
            }
        }
    };
}

conditions! {
    agent: Agent,
    tool: Tool,
    effect: EffectWord,
    command: Command,
    path: Path,
    recursive: Recursive,
    within: Within,
    private: Private,
    via: Via,
    shown: Shown,
    host: Host,
    package: Package,
    permission: Match,
    prompt: Prompt,
    input: Input,
    response: Response,
    output: Output,
    error: Error,
    when: Circumstances,
}

/// `agent`
pub enum Agent {}

impl Condition for Agent {
    type Value = PatternList<NamePattern>;
    const KEY: &'static str = "agent";
    const DOC: &'static str = "globs over the agent's id";
    const SCOPE: Scope = Scope::Event;

    fn matches_event(asked: &Self::Value, _: &Conditions, s: &Subject<'_>) -> bool {
        asked.matches_name(s.event.agent)
    }
}

/// `tool`
pub enum Tool {}

impl Condition for Tool {
    type Value = PatternList<NamePattern>;
    const KEY: &'static str = "tool";
    const DOC: &'static str = "globs over Claude Code's tool names, whatever the agent calls them";
    const SCOPE: Scope = Scope::Event;
    const NEEDS: Option<Needs> = Some(Needs::A_TOOL);

    fn matches_event(asked: &Self::Value, all: &Conditions, s: &Subject<'_>) -> bool {
        let tool = &s.event.tool;
        !tool.is_empty() && (asked.holds_tool(tool) || all.stops && asked.may_name_tool(s.event))
    }

    /// The tools as events name them, where each is a plain name that stands for itself alone, or of servers.
    fn add_concern(asked: &Self::Value, line: &mut ConcernLine) {
        let plain = |name: &NamePattern| match (name, name_of_tool(name.text())) {
            (NamePattern::Regex(_), _) | (_, "") => None,
            (_, "Task") => Some("Agent".to_string()),
            (_, tools) => (!glob::is_glob(tools)).then(|| tools.to_string()),
        };
        if asked.excluded().is_empty() {
            line.tools = asked.named().iter().map(plain).collect::<Option<_>>().unwrap_or_default();
        }
    }
}

/// `effect`
pub enum EffectWord {}

impl Condition for EffectWord {
    type Value = Vec<Word>;
    const KEY: &'static str = "effect";
    const DOC: &'static str =
        "one of the words; `path`, `host`, `command` and `unless` speak of that same effect";
    const SCOPE: Scope = Scope::Word;

    fn match_effect(
        asked: &Self::Value,
        all: &Conditions,
        s: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        // Without `command`, "execute" leaves out what is transparent.
        let transparent = || {
            all.command.is_empty()
                && effect.word == Word::Execute
                && effect.grade == Grade::Certain
                && asked.contains(&Word::Execute)
                && s.command_of(effect).is_some_and(|command| command.transparent)
        };
        Truth::from(includes_word(asked, effect.word) && !transparent())
    }

    fn covers(asked: &Self::Value, _: &Conditions, _: &Subject<'_>, effect: &Effect) -> bool {
        includes_word(asked, effect.word)
    }

    fn add_concern(asked: &Self::Value, line: &mut ConcernLine) {
        line.words = asked.iter().map(|word| word.text().to_string()).collect();
    }
}

/// Does one of these name this word?
fn includes_word(words: &[Word], word: Word) -> bool {
    words.iter().any(|own| own.includes(word))
}

/// `command`
pub enum Command {}

impl Condition for Command {
    type Value = PatternList<CommandPattern>;
    const KEY: &'static str = "command";
    const DOC: &'static str =
        "command patterns: program, first operands in order, options anywhere";
    const SCOPE: Scope = Scope::Command;

    fn match_effect(
        asked: &Self::Value,
        all: &Conditions,
        s: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        // Without an effect word, the command as such is meant: one effect stands for it.
        if !all.any_scope(|scope| matches!(scope, Scope::Word | Scope::Operand))
            && !all.is_command_effect(s, effect)
        {
            return Truth::No;
        }
        s.command_of(effect).map_or(Truth::No, |command| asked.match_command(command))
    }

    fn covers(asked: &Self::Value, all: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        let own = all.is_own(s, effect);
        let named = is_of_elsewhere(effect);
        let Some(command) = s.command_of(effect).filter(|_| own || named) else {
            return false;
        };
        // What stands for itself may hold what is known only at run time.
        let itself = effect.word == Word::Execute && command.stands_for_itself();
        // The shipped ones say of each program what of it they mean.
        let runner = s.parent_of(command).filter(|_| all.within.is_empty());
        let covers = |pattern: &CommandPattern| {
            if !own {
                return pattern.covers_command(command, s.bases)
                    && pattern.singles_out(command, effect);
            }
            pattern.covers_command(command, s.bases)
                || itself && pattern.surely_means(command, s.bases)
                || runner.is_some_and(|runner| pattern.writes_out(runner, command, s.bases))
        };
        let excluded = |pattern: &CommandPattern| pattern.match_command(command) != Truth::No;
        let placed = !all.within.is_empty() || within::runs_at_home(s, effect);
        placed && asked.named().iter().any(covers) && !asked.excluded().iter().any(excluded)
    }

    fn relaxes(asked: &Self::Value, all: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        let means = |pattern: &CommandPattern, command| pattern.surely_means(command, s.bases);
        let mut command = s.command_of(effect);
        for _ in 0..=s.analysis.commands.len() {
            let Some(own) = command else { return false };
            let among = |named: &[CommandPattern]| named.iter().any(|pattern| means(pattern, own));
            if asked.match_command(own) == Truth::Yes
                && (asked.named().is_empty() || among(asked.named()))
            {
                return true;
            }
            command = s.parent_of(own).filter(|_| all.around);
        }
        false
    }

    fn add_concern(asked: &Self::Value, line: &mut ConcernLine) {
        // What a list excludes beside what it names takes nothing away here.
        let programs = asked.named().iter().map(|pattern| pattern.program_names());
        let programs: Option<Vec<Vec<String>>> = programs.collect();
        line.programs = programs.unwrap_or_default().concat();
    }
}

/// Is it code that lies elsewhere, or another host than the program's own? A pattern has to name it.
pub(super) fn is_of_elsewhere(effect: &Effect) -> bool {
    matches!(effect.word, Word::Read | Word::Network) && effect.source == Source::Code
}

/// `path`
pub enum Path {}

impl Condition for Path {
    type Value = PathList;
    const KEY: &'static str = "path";
    const DOC: &'static str =
        "path patterns: /x, ~/x, ./x, or x at any depth; D/. is the directory itself";
    const SCOPE: Scope = Scope::Operand;

    fn match_effect(
        asked: &Self::Value,
        _: &Conditions,
        s: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        match &effect.path {
            Some(target) => asked.match_target(target, s.bases),
            None if effect.grade == Grade::Unknown => Truth::Maybe,
            // What leaves is what the same command reads, or a wrapper of it hands on.
            None if effect.word == Word::Send && effect.command.is_some() => {
                let own = s.analysis.with_wrappers(effect.command);
                let read = |e: &&Effect| {
                    e.word == Word::Read && e.command.is_some_and(|at| own.contains(&at))
                };
                let targets = s.analysis.effects.iter().filter(read).filter_map(|e| {
                    let truth = asked.match_target(e.path.as_ref()?, s.bases);
                    Some(if e.grade == Grade::Certain { truth } else { truth.and(Truth::Maybe) })
                });
                targets.fold(Truth::No, Truth::or)
            }
            None => Truth::No,
        }
    }

    fn covers(asked: &Self::Value, _: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        effect.path.as_ref().is_some_and(|target| asked.covers_target(target, s.bases))
    }

    fn add_concern(asked: &Self::Value, line: &mut ConcernLine) {
        // A list of exclusions holds for every other path.
        line.needles = asked.named().map(|path| path.common_needle()).collect();
    }
}

/// `recursive`
pub enum Recursive {}

impl Condition for Recursive {
    type Value = Option<bool>;
    const KEY: &'static str = "recursive";
    const DOC: &'static str =
        "true = a directory with what is below it, or a glob; false = one path";
    const SCOPE: Scope = Scope::Operand;

    fn match_effect(
        asked: &Self::Value,
        _: &Conditions,
        _: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        match_target(effect, |target| Some(target.extent.is_wide()) == *asked)
    }
}

/// `within`
pub enum Within {}

impl Condition for Within {
    type Value = PathList;
    const KEY: &'static str = "within";
    const DOC: &'static str = "path patterns: the command runs there; for an allow and unless all that it names lies there";
    const SCOPE: Scope = Scope::Command;

    fn match_effect(
        asked: &Self::Value,
        _: &Conditions,
        s: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        within::match_directory(asked, s, effect)
    }

    fn covers(asked: &Self::Value, _: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        within::covers_directory(asked, s, effect)
    }
}

/// Does something hold for the path of an effect? One that is not known may be any.
fn match_target(effect: &Effect, holds: impl FnOnce(&Target) -> bool) -> Truth {
    match &effect.path {
        Some(target) => Truth::from(holds(target)),
        None if effect.grade == Grade::Unknown => Truth::Maybe,
        None => Truth::No,
    }
}

/// `private`
pub enum Private {}

impl Condition for Private {
    type Value = Option<bool>;
    const KEY: &'static str = "private";
    const DOC: &'static str =
        "true = a file of secrets by its name, or a person's own outside of the project";
    const SCOPE: Scope = Scope::Operand;

    fn match_effect(
        asked: &Self::Value,
        _: &Conditions,
        s: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        match_target(effect, |target| Some(own::is_private(target, s.place)) == *asked)
    }
}

/// `via`
pub enum Via {}

impl Condition for Via {
    type Value = Ways;
    const KEY: &'static str = "via";
    const DOC: &'static str = "true = what stands in files that the call runs, false = what the call itself says; globs over the files and commands on the way: Makefile, make*";
    const SCOPE: Scope = Scope::Command;

    fn match_effect(
        asked: &Self::Value,
        _: &Conditions,
        s: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        Truth::from(asked.hold_for(s.analysis.way_of(effect)))
    }
}

/// `shown`
pub enum Shown {}

impl Condition for Shown {
    type Value = Option<bool>;
    const KEY: &'static str = "shown";
    const DOC: &'static str = "true = what the command reads or prints may get out; false = only variables, logins and silent programs get it";
    const SCOPE: Scope = Scope::Command;

    fn match_effect(
        asked: &Self::Value,
        _: &Conditions,
        s: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        let kept = s.command_of(effect).is_some_and(|command| command.said.kept)
            && effect.word != Word::Send
            && effect.source != Source::Redirect;
        Truth::from(Some(!kept) == *asked)
    }
}

/// `host`
pub enum Host {}

impl Host {
    /// Is it a host of the project's own, and do these name those?
    fn lists_project(names: &[NamePattern], s: &Subject<'_>, effect: &Effect) -> bool {
        names.iter().any(|name| name.text() == own::PROJECT)
            && own::is_project_host(effect, s.analysis, s.place)
    }
}

impl Condition for Host {
    type Value = PatternList<NamePattern>;
    const KEY: &'static str = "host";
    const DOC: &'static str = "globs over host names; *.x.org does not hold for x.org; @project = the project's own remotes and registries";
    const SCOPE: Scope = Scope::Operand;

    fn read(value: &Item<'_>, r: &mut Reader<'_>) -> Self::Value {
        let mut hosts = r.names(value);
        hosts.iter_mut().for_each(NamePattern::ignore_case);
        hosts
    }

    fn match_effect(
        asked: &Self::Value,
        _: &Conditions,
        s: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        if Host::lists_project(asked.excluded(), s, effect) {
            return Truth::No;
        }
        match &effect.host {
            _ if Host::lists_project(asked.named(), s, effect) => Truth::Yes,
            Some(host) => Truth::from(asked.holds_host(host)),
            None if matches!(effect.word, Word::Network | Word::Send | Word::Remote) => {
                Truth::Maybe
            }
            None => Truth::No,
        }
    }

    fn covers(asked: &Self::Value, _: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        !Host::lists_project(asked.excluded(), s, effect)
            && (effect.host.as_ref().is_some_and(|host| asked.lists_host(host))
                || Host::lists_project(asked.named(), s, effect))
    }
}

/// `package`
pub enum Package {}

impl Package {
    /// What it says of the package that the effect adds, or of those that its command adds.
    fn hits<'s>(
        asked: &'s PatternList<NamePattern>,
        s: &'s Subject<'_>,
        effect: &'s Effect,
    ) -> impl Iterator<Item = Truth> + 's {
        let own = effect.word == ADD || effect.package.is_some();
        let among = move |other: &&Effect| match own {
            true => std::ptr::eq(*other, effect),
            false => {
                other.word == ADD && effect.command.is_some() && other.command == effect.command
            }
        };
        s.analysis.effects.iter().filter(among).map(|one| match &one.package {
            Some(package) => Truth::from(asked.holds_package(package)),
            None => Truth::Maybe,
        })
    }
}

/// The effect of a package that is installed.
const ADD: Word = Word::Named("package.add");

impl Condition for Package {
    type Value = PatternList<NamePattern>;
    const KEY: &'static str = "package";
    const DOC: &'static str = "globs over packages that are installed: a name, REGISTRY:name, or where it comes from (git:*)";
    const SCOPE: Scope = Scope::Operand;

    fn match_effect(
        asked: &Self::Value,
        _: &Conditions,
        s: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        Package::hits(asked, s, effect).fold(Truth::No, Truth::or)
    }

    fn covers(asked: &Self::Value, _: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        let mut hits = Package::hits(asked, s, effect).peekable();
        hits.peek().is_some() && hits.all(|hit| hit == Truth::Yes)
    }
}

/// `match`
pub enum Match {}

impl Match {
    /// The lines that speak of single effects.
    fn of_effects(asked: &[Permission]) -> impl Iterator<Item = &Permission> {
        asked.iter().filter(|permission| !matches!(permission, Permission::Tool(_)))
    }
}

impl Condition for Match {
    type Value = Vec<Permission>;
    const KEY: &'static str = "match";
    const DOC: &'static str =
        "a line of Claude Code's permission syntax: Bash(git push:*), Read(./.env)";
    const SCOPE: Scope = Scope::Command;

    fn scope(asked: &Self::Value) -> Option<Scope> {
        let effects = Match::of_effects(asked).next().map(|_| Self::SCOPE);
        effects.or((!asked.is_nothing()).then_some(Scope::Event))
    }

    fn matches_event(asked: &Self::Value, all: &Conditions, s: &Subject<'_>) -> bool {
        all.speaks_of_effects()
            || asked.iter().any(|permission| {
                let tool = &s.event.tool;
                permission.tool_holds(tool) || all.stops && permission.may_name_tool(s.event)
            })
    }

    fn match_effect(
        asked: &Self::Value,
        all: &Conditions,
        s: &Subject<'_>,
        effect: &Effect,
    ) -> Truth {
        let hits = |permission: &Permission| match (permission, s.command_of(effect)) {
            (Permission::Command(pattern), Some(command)) if all.list.is_some() => {
                Truth::from(all.is_command_effect(s, effect)).and(pattern.match_command(command))
            }
            (Permission::Tool(_), _) if all.stops && permission.may_name_tool(s.event) => {
                Truth::Yes
            }
            _ => permission.match_effect(s, effect),
        };
        match Match::of_effects(asked).next() {
            Some(_) => asked.iter().fold(Truth::No, |truth, permission| truth.or(hits(permission))),
            None => Truth::Yes,
        }
    }

    fn covers(asked: &Self::Value, all: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        let mut lines = Match::of_effects(asked).peekable();
        lines.peek().is_none() || lines.any(|permission| permission.covers(all, s, effect))
    }

    fn relaxes(asked: &Self::Value, _: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        Match::of_effects(asked).next().is_none()
            || asked.iter().any(|permission| permission.match_effect(s, effect) == Truth::Yes)
    }
}

/// `prompt`
pub enum Prompt {}

impl Condition for Prompt {
    type Value = Vec<Regex>;
    const KEY: &'static str = "prompt";
    const DOC: &'static str = "regex over the user's prompt";
    const SCOPE: Scope = Scope::Text;
    const NEEDS: Option<Needs> = Some(Needs {
        brings: |kind| matches!(kind, Kind::UserPromptSubmit | Kind::UserPromptExpansion),
        meant: Some(Kind::UserPromptSubmit),
        why: "it brings no prompt",
        hint: "on = \"UserPromptSubmit\" does",
    });

    fn matches_event(asked: &Self::Value, _: &Conditions, s: &Subject<'_>) -> bool {
        s.event.prompt().is_some_and(|prompt| asked.iter().any(|regex| regex.is_match(prompt)))
    }
}

/// `input`
pub enum Input {}

impl Condition for Input {
    type Value = Vec<FieldTest>;
    const KEY: &'static str = "input";
    const DOC: &'static str =
        "table of field to value over the tool's input (the payload, where there is no tool)";
    const SCOPE: Scope = Scope::Text;

    fn matches_event(asked: &Self::Value, _: &Conditions, s: &Subject<'_>) -> bool {
        asked.iter().all(|test| match s.event.kind.is_tool() {
            true => test.is_satisfied_by(&s.event.input),
            false => test.holds_in(|key| s.event.raw.get(key)),
        })
    }
}

/// `response`
pub enum Response {}

impl Condition for Response {
    type Value = Vec<FieldTest>;
    const KEY: &'static str = "response";
    const DOC: &'static str = "table of field to value over what the tool returned";
    const SCOPE: Scope = Scope::Text;
    const NEEDS: Option<Needs> = Some(Needs {
        brings: |kind| kind == Kind::PostToolUse,
        meant: Some(Kind::PostToolUse),
        why: "no tool has returned yet",
        hint: "on = \"PostToolUse\" has it",
    });

    fn matches_event(asked: &Self::Value, _: &Conditions, s: &Subject<'_>) -> bool {
        asked.iter().all(|test| {
            s.event.tool_response().is_some_and(|response| test.is_satisfied_by(response))
        })
    }
}

/// What a tool returned is there once it has ended.
const AN_ENDED_TOOL: Needs = Needs {
    brings: |kind| matches!(kind, Kind::PostToolUse | Kind::PostToolUseFailure),
    meant: Some(Kind::PostToolUse),
    why: "no tool has returned yet",
    hint: "on = \"PostToolUse\" or \"PostToolUseFailure\" has it",
};

/// `output`
pub enum Output {}

impl Condition for Output {
    type Value = Vec<Regex>;
    const KEY: &'static str = "output";
    const DOC: &'static str = "regex over the text that the tool printed or returned";
    const SCOPE: Scope = Scope::Text;
    const NEEDS: Option<Needs> = Some(AN_ENDED_TOOL);

    fn matches_event(asked: &Self::Value, _: &Conditions, s: &Subject<'_>) -> bool {
        s.event.tool_output().is_some_and(|text| asked.iter().any(|regex| regex.is_match(&text)))
    }
}

/// `error`
pub enum Error {}

impl Condition for Error {
    type Value = Vec<Regex>;
    const KEY: &'static str = "error";
    const DOC: &'static str = "regex over what the tool says went wrong";
    const SCOPE: Scope = Scope::Text;
    const NEEDS: Option<Needs> =
        Some(Needs { meant: Some(Kind::PostToolUseFailure), ..AN_ENDED_TOOL });

    fn matches_event(asked: &Self::Value, _: &Conditions, s: &Subject<'_>) -> bool {
        s.event.error_text().is_some_and(|text| asked.iter().any(|regex| regex.is_match(text)))
    }
}

/// `when`
pub enum Circumstances {}

impl Condition for Circumstances {
    type Value = OptionalWhen;
    const KEY: &'static str = "when";
    const DOC: &'static str = "table of circumstances: see the keys of when";
    const SCOPE: Scope = Scope::Event;

    fn matches_event(asked: &Self::Value, all: &Conditions, s: &Subject<'_>) -> bool {
        asked.is_met(s, all.stops)
    }
}
