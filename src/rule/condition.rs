//! Conditions: what must hold for a rule to have its say.
//!
//! `entries.rs` holds each of them with all that is known of it; here is what an entry consists of, and what they
//! amount to together.

use std::ops::Range;

use crate::effect::{
    Analysis, Effect, Extent, Grade, Place, Source, SubCommand, Target, Word, secret,
};
use crate::event::{Event, Kind};
use crate::limits;

mod entries;
mod field;
mod name;
mod permission;
mod value;
mod via;
mod when;
mod within;

pub use self::entries::{Conditions, KEYS};
pub use self::field::{FieldTest, ValueTest};
pub use self::name::NamePattern;
pub use self::permission::Permission;
pub use self::value::{Sort, Value, effect_words};
pub use self::via::Ways;
pub use self::when::{OptionalWhen, WHEN_KEYS, read_marks};
pub use self::within::is_led_elsewhere;

use super::Truth;
use super::concern::ConcernLine;
use super::path::{Bases, PathList};
use super::reader::{Item, Reader};

/// A key of a rule file.
#[derive(Debug, Clone, Copy)]
pub struct Key {
    /// As it is written.
    pub name: &'static str,
    /// What it means.
    pub doc: &'static str,
    /// What it is set to.
    pub sort: Sort,
}

/// What a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The event: who calls which tool, and when.
    Event,
    /// A text, which says nothing of what a shell command does.
    Text,
    /// The command that an effect is of: where nothing names the effect, its execute stands for it.
    Command,
    /// The word of an effect.
    Word,
    /// What an effect is on. An allow on a command covers that command's own execute as well.
    Operand,
}

impl Scope {
    /// Is it single effects that such a condition speaks of?
    pub const fn is_of_effects(self) -> bool {
        matches!(self, Scope::Command | Scope::Word | Scope::Operand)
    }
}

/// On which events alone a condition can hold.
#[derive(Debug, Clone, Copy)]
pub struct Needs {
    /// The events that bring what it looks at.
    pub brings: fn(Kind) -> bool,
    /// The event of a rule with it that names none.
    pub meant: Option<Kind>,
    /// Why it never holds on another.
    pub why: &'static str,
    /// What to do about that.
    pub hint: &'static str,
}

impl Needs {
    /// A tool call, which alone has effects.
    pub const A_TOOL: Needs = Needs {
        brings: Kind::is_tool,
        meant: None,
        why: "there is no tool call",
        hint: "name an event with a tool, or test a field of the payload with `input`",
    };
}

/// An entry: one kind of condition. Its tests are only asked where it asks for something.
pub trait Condition {
    /// What a rule sets it to.
    type Value: Value;
    /// Its key.
    const KEY: &'static str;
    /// What that means.
    const DOC: &'static str;
    /// What it is about.
    const SCOPE: Scope;
    /// On which events alone it can hold.
    const NEEDS: Option<Needs> = match Self::SCOPE {
        Scope::Event | Scope::Text => None,
        Scope::Command | Scope::Word | Scope::Operand => Some(Needs::A_TOOL),
    };

    /// Reads what a rule asks for.
    fn read(value: &Item<'_>, r: &mut Reader<'_>) -> Self::Value {
        Self::Value::read(value, r)
    }

    /// What is asked for here is about; None where nothing is.
    #[inline(always)]
    fn scope(asked: &Self::Value) -> Option<Scope> {
        (!asked.is_nothing()).then_some(Self::SCOPE)
    }

    /// Does it hold for the event itself?
    #[inline(always)]
    fn matches_event(_asked: &Self::Value, _all: &Conditions, _s: &Subject<'_>) -> bool {
        true
    }

    /// Does it speak of the effect? For deny and ask.
    #[inline(always)]
    fn match_effect(
        _asked: &Self::Value,
        _all: &Conditions,
        _s: &Subject<'_>,
        _effect: &Effect,
    ) -> Truth {
        Truth::Yes
    }

    /// Does it hold for the effect whole, and certainly? For allow.
    #[inline(always)]
    fn covers(asked: &Self::Value, all: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        Self::match_effect(asked, all, s, effect) == Truth::Yes
    }

    /// The same as one of the `unless` of a deny or an ask.
    #[inline(always)]
    fn relaxes(asked: &Self::Value, all: &Conditions, s: &Subject<'_>, effect: &Effect) -> bool {
        Self::covers(asked, all, s, effect)
    }

    /// Writes what calls it could hold for into the rule's line of the index: nothing = any.
    fn add_concern(_asked: &Self::Value, _line: &mut ConcernLine) {}
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
    /// Where the session is.
    pub place: &'a Place,
}

impl<'a> Subject<'a> {
    /// The command that the effect is of.
    pub(crate) fn command_of(&self, effect: &Effect) -> Option<&'a SubCommand> {
        self.analysis.commands.get(effect.command?)
    }

    /// The command that runs this one.
    fn parent_of(&self, command: &SubCommand) -> Option<&'a SubCommand> {
        self.analysis.commands.get(command.parent?)
    }
}

impl Conditions {
    /// The lists of paths that it asks for.
    fn path_lists(&self) -> impl Iterator<Item = &PathList> {
        let lists = self.permission.iter().filter_map(|permission| match permission {
            Permission::Path(_, list) => Some(list),
            _ => None,
        });
        std::iter::once(&self.path).chain(lists).filter(|list| !list.is_empty())
    }

    /// Does it ask for a path?
    pub fn names_paths(&self) -> bool {
        self.path_lists().next().is_some()
    }

    /// The places below a directory that its paths name.
    pub fn places_in(&self, target: &Target, bases: &Bases) -> Vec<Target> {
        self.path_lists().flat_map(|list| list.places_in(target, bases)).collect()
    }

    /// Do any of these speak of a single effect?
    #[inline]
    pub fn speaks_of_effects(&self) -> bool {
        self.any_scope(Scope::is_of_effects)
    }

    /// Is there no condition at all?
    pub fn ask_nothing(&self) -> bool {
        !self.any_scope(|_| true)
    }

    /// Do the conditions on the event itself hold (all but `when.run`)?
    pub fn matches_event(&self, s: &Subject<'_>) -> bool {
        self.first_unmet(s).is_none()
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
    fn is_command_effect(&self, s: &Subject<'_>, effect: &Effect) -> bool {
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

    /// Does this allow cover the effect whole? Unknown is never covered.
    pub fn covers(&self, s: &Subject<'_>, effect: &Effect) -> bool {
        if effect.grade == Grade::Unknown {
            return false;
        }
        if !self.speaks_of_effects() {
            return s.analysis.commands.is_empty() || !self.any_scope(|scope| scope == Scope::Text);
        }
        let execute = effect.word == Word::Execute && !self.command.is_empty();
        // Of many rules most are on other paths: that is told before what a name tells.
        self.all_cover(s, effect, execute) && (self.names_commands() || !self.leaves_out(s, effect))
    }

    /// Is it what a program itself does to its own operands? An allow on a command is about that.
    fn is_own(&self, s: &Subject<'_>, effect: &Effect) -> bool {
        let own = matches!(effect.source, Source::Program | Source::Operand);
        match effect.word {
            Word::Execute
            | Word::Read
            | Word::Network
            | Word::Send
            | Word::Listen
            | Word::Named(_) => own,
            // What an option writes is not what its operands name: `sort -o FILE`.
            Word::Write | Word::Delete => {
                own && !s.command_of(effect).is_some_and(|c| of_an_option(c, &effect.span))
            }
            Word::Permission | Word::Process | Word::System => own && !self.effect.is_empty(),
            Word::Privilege | Word::Remote | Word::Code | Word::PipeToInterpreter => {
                self.effect.contains(&effect.word)
                    && (own || matches!(effect.source, Source::Code | Source::Plain))
            }
        }
    }

    /// Is a file read whose name tells of secrets, and which no pattern names? An allow on a place does not speak of it.
    fn leaves_out(&self, s: &Subject<'_>, effect: &Effect) -> bool {
        let Some(target) = effect.path.as_ref().filter(|_| effect.word == Word::Read) else {
            return false;
        };
        let files = self.permission.iter().filter_map(|one| match one {
            Permission::Path(_, list) => Some(list.named()),
            _ => None,
        });
        let mut patterns = self.path.named().chain(files.flatten());
        // Most have but one form.
        let forms = 1 + usize::from(target.lexical != target.resolved);
        let mut paths = [&target.lexical, &target.resolved].into_iter().take(forms);
        let secret = match target.extent {
            Extent::Exact | Extent::Glob => paths.any(|path| secret::is_file(path)),
            Extent::Tree | Extent::Visible | Extent::Children => {
                paths.any(|path| secret::is_told(path))
            }
            // Whoever lists what is read was asked for it by name.
            Extent::Below => {
                let mut args = s.analysis.own_commands().iter().flat_map(|command| &command.args);
                args.any(|arg| {
                    !limits::spend_steps(64) || arg.text.as_deref().is_some_and(secret::is_told)
                })
            }
        };
        secret && !patterns.any(|pattern| pattern.singles_out(&target.lexical))
    }

    /// As an `unless`: does it relax a deny or ask on this effect? Only what is certain does. Its
    /// command is not asked here.
    pub fn relaxes(&self, s: &Subject<'_>, effect: Option<&Effect>) -> bool {
        let certain = |effect: &&Effect| effect.grade != Grade::Unknown;
        self.matches_event(s)
            && (!self.speaks_of_effects()
                || effect.filter(certain).is_some_and(|effect| self.all_relax(s, effect)))
    }

    /// As an `unless` of an allow: could it hold for this effect? Then nothing is allowed. Its command
    /// is not asked here.
    pub fn could_hold(&self, s: &Subject<'_>, effect: Option<&Effect>) -> bool {
        self.matches_event(s)
            && (!self.speaks_of_effects()
                || effect.is_none_or(|effect| self.match_effect(s, effect) != Truth::No))
    }

    /// Does this hold wherever the other does? A yes is certain, a no is not.
    pub fn holds_with(&self, other: &Conditions) -> bool {
        // Without `command`, effect = "execute" leaves out what is transparent.
        let opaque_only = self.effect.contains(&Word::Execute) && self.command.is_empty();
        self.is_part_of(other) && (!opaque_only || other.command.is_empty())
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
    let listed = || analysis.own_effects().iter().filter(|e| list.speaks_of(e));
    let harmless = || command.options.iter().all(|opt| opt.harmless);
    (command.transparent || harmless() && listed().any(|e| e.command == at))
        // A proxy in a variable is another host.
        && !listed().any(|e| e.source == Source::Assignment)
}
