//! The shapes of what a call does: its effects and its sub-commands.

use std::borrow::Cow;
use std::ops::Range;

use super::word::Word;

/// Which of the secrets that a call looks at something may hold: a bit for each (`flow.rs` keeps the list).
pub type Secrets = u64;

/// Programs that may stand beside a command in whose stead its recipe is read: they change nothing of the shell.
const LOOKERS: &[&str] = &[
    "cd", "echo", "printf", "pwd", "true", "cat", "head", "tail", "grep", "rg", "ls", "wc", "sort",
    "uniq", "date",
];

/// How sure the analysis is of an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Grade {
    /// The operand is known, or has a known root.
    Certain,
    /// May happen: recursion from further up, paths handed to an unknown program.
    Possible,
    /// Not understood: parse failure, a cap, a dynamic command word, a value known only at run time.
    Unknown,
}

/// How much of a path's surroundings an effect touches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// That very path.
    Exact,
    /// That path and everything below it (`rm -r D`, `grep -r x D`).
    Tree,
    /// The same without what is hidden: programs that skip it (`rg x D`).
    Visible,
    /// Everything directly in it, the path itself stays (`rm D/*`).
    Children,
    /// Something below it, which is only known at run time (`"$root"/$x`, mktemp).
    Below,
    /// Every path that the glob in `lexical` names; it still holds its `*`, `?`, `[..]`.
    Glob,
}

impl Extent {
    /// The word for it.
    pub const fn name(self) -> &'static str {
        match self {
            Extent::Exact => "exact",
            Extent::Tree => "tree",
            Extent::Visible => "visible",
            Extent::Children => "children",
            Extent::Below => "below",
            Extent::Glob => "glob",
        }
    }

    /// Is more than one path meant?
    pub const fn is_wide(self) -> bool {
        !matches!(self, Extent::Exact)
    }
}

/// A path that an effect touches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Absolute, `.`, `..` and `//` removed without looking at the disk, no trailing slash; of a secret that is no file
    /// its name, as `$GITHUB_TOKEN`.
    pub lexical: String,
    /// The same with every symlink followed that exists now, or that an earlier command of the
    /// same call makes; equal to `lexical` where there is none.
    pub resolved: String,
    /// How much around it is touched.
    pub extent: Extent,
}

impl Target {
    /// The same by the name that every link leads to.
    pub fn by_real_name(self) -> Target {
        Target { lexical: self.resolved.clone(), ..self }
    }
}

/// Where in the call an effect comes from: an allow on a command covers only its own operands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Source {
    /// The tool's own input (Read, Write, WebFetch ...).
    Tool,
    /// Running the program itself.
    Program,
    /// An operand or option value of the program.
    Operand,
    /// The text of an inline program: an allow on its command does not speak of that.
    Code,
    /// The text of an inline program that does nothing but what its other effects tell.
    Plain,
    /// A redirection of the shell.
    Redirect,
    /// The environment: a marked assignment such as `GIT_SSH_COMMAND=`.
    Assignment,
}

/// Where a package comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// The registry that everybody takes it from.
    Registry,
    /// Another registry, which may give it another content.
    Index,
    /// A file at an address.
    Url,
    /// A repository.
    Git,
    /// A repository or a file of whoever has the project's own remotes.
    Own,
    /// A file or a directory of this machine.
    Path,
}

impl Origin {
    /// Each of them.
    pub const ALL: &[Origin] =
        &[Origin::Registry, Origin::Index, Origin::Url, Origin::Git, Origin::Own, Origin::Path];

    /// The word for it in rules: `git:*`.
    pub const fn name(self) -> &'static str {
        match self {
            Origin::Registry => "registry",
            Origin::Index => "index",
            Origin::Url => "url",
            Origin::Git => "git",
            Origin::Own => "own",
            Origin::Path => "path",
        }
    }
}

/// A package that a call installs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Package {
    /// Its name in the registry, or the address or path that it comes from.
    pub name: String,
    /// Which registry the installer asks: `npm`, `pypi`, `crates` ...; empty where that is not told.
    pub registry: &'static str,
    /// Where it comes from.
    pub origin: Origin,
    /// The much-used name that it could be taken for.
    pub model: Option<String>,
}

impl Package {
    /// Does that hold for the name, by itself or with its registry or origin in front: `left-pad`, `npm:left-pad`,
    /// `git:https://host/x`?
    pub fn any_name(&self, holds: impl Fn(&str) -> bool) -> bool {
        let with = |front: &str| format!("{front}:{}", self.name);
        holds(&self.name) || holds(&with(self.registry)) || holds(&with(self.origin.name()))
    }
}

impl std::fmt::Display for Package {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.model {
            Some(model) => write!(f, "{} (looks like {model})", self.name),
            None => f.write_str(&self.name),
        }
    }
}

/// One thing that a call would do.
#[derive(Debug, Clone, PartialEq)]
pub struct Effect {
    /// What kind of thing.
    pub word: Word,
    /// How sure.
    pub grade: Grade,
    /// The path it touches, where there is one. None with `Grade::Unknown` = any path.
    pub path: Option<Target>,
    /// The host it contacts, lower case, no port. None with word Network = any host.
    pub host: Option<String>,
    /// The package that it adds.
    pub package: Option<Box<Package>>,
    /// Where it comes from.
    pub source: Source,
    /// The sub-command it belongs to: an index into [`Analysis::commands`].
    pub command: Option<usize>,
    /// The bytes of [`Analysis::text`] that cause it.
    pub span: Range<usize>,
}

impl Effect {
    /// What it is on: a path with how much around it, or a host.
    pub fn object_text(&self) -> Option<String> {
        let path = self.path.as_ref().map(|target| match target.extent {
            Extent::Exact => target.lexical.clone(),
            other => format!("{} ({})", target.lexical, other.name()),
        });
        let package = || self.package.as_ref().map(|package| package.to_string());
        path.or_else(|| self.host.clone()).or_else(package)
    }
}

/// An argument of a sub-command, after expansion as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Arg {
    /// The value; None when it is known only at run time.
    pub text: Option<String>,
    /// Holds active glob characters (`rm *`), which stand unescaped in `text`.
    pub glob: bool,
    /// Known only at run time, and an option for all that is known (`$FLAGS`).
    pub open: bool,
    /// Its bytes in [`Analysis::text`].
    pub span: Range<usize>,
}

/// An option of a sub-command, separated from its bundle and its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opt {
    /// As spelled, with its dashes, without the value: `-f`, `--force`.
    pub name: String,
    /// The other spellings of the same option, from the program's table.
    pub aliases: Vec<&'static str>,
    /// Its value, in whichever form it was given.
    pub value: Option<Arg>,
    /// Its place among the arguments.
    pub at: usize,
    /// Known by the program's table to neither execute nor write anything that is not an effect of
    /// its own.
    pub harmless: bool,
    /// Its bytes in [`Analysis::text`].
    pub span: Range<usize>,
}

/// One program call inside a shell command: also those inside `$(...)`, `bash -c`, `sudo`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SubCommand {
    /// The basename of the program, empty when it is known only at run time.
    pub name: String,
    /// The command word as expanded (`/usr/bin/git`, `git`, `./x.sh`).
    pub word: Arg,
    /// Every argument in order, options included.
    pub args: Vec<Arg>,
    /// The options, in order, bundles taken apart.
    pub options: Vec<Opt>,
    /// The operands, in order: indexes into `args`.
    pub operands: Vec<usize>,
    /// Operands that may be the value of an option whose arity nobody knows: indexes into `args`.
    pub doubtful: Vec<usize>,
    /// The program word to the last argument: no assignments, wrappers or redirections.
    pub span: Range<usize>,
    /// The command that runs this one (`sudo`, `bash -c`, `xargs`): an index into `commands`.
    pub parent: Option<usize>,
    /// True when the text stands in [`Analysis::text`] inside quotes (`bash -c '...'`) or was
    /// computed, so that it cannot be replaced in place byte by byte.
    pub quoted: bool,
    /// The program is called by its bare name or from a system directory, and no function, alias
    /// or PATH change in the call redefines it.
    pub genuine: bool,
    /// The file that it is called by, where a path outside of the system's directories names it and
    /// nothing in the call redefines, marks or changes that file.
    pub file: Option<Target>,
    /// The program's table entry is complete, all options are known and harmless, it is
    /// `genuine`, and no marked assignment precedes it: its other effects stand for it.
    pub transparent: bool,
    /// It only tells of itself (`--help`, `--version`), whatever else it names.
    pub only_help: bool,
    /// A wrapper that changes neither who, where nor what runs (timeout, nice, env).
    pub neutral_wrapper: bool,
    /// What an allow on its program has to name to mean it.
    pub scope: AllowScope,
    /// The directory it runs in, `cd` and `-C` followed; None where nobody knows.
    pub dir: Option<String>,
    /// What its words may hold of secrets, and its standard input.
    pub said: Said,
    /// One of its redirections is a connection to a host.
    pub connects: bool,
    /// The same in other words: rules that are written so mean it as well.
    pub twins: Vec<Twin>,
}

/// A command under another name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Twin {
    /// The command.
    pub command: SubCommand,
    /// It is the very same (`npm i`, `npm install`): an allow on one means the other. Else only what stops does
    /// (`pip3`, `pip`; `bash deploy.sh`, `deploy.sh`).
    pub same: bool,
}

/// What is told by a command: by the words that say who asks, and by all others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Said {
    /// In a header or option that a host knows its callers by.
    pub login: Secrets,
    /// Anywhere else.
    pub sent: Secrets,
    /// By redirections to a host, its own and those of what it runs (`bash -c '{ true; env; } > /dev/tcp/...'`).
    pub redirected: Secrets,
    /// What it looks up itself: what is in the files that it reads, a secret that it prints.
    pub own: Secrets,
    /// Nothing of that reaches the output of the call, a file, or a host that it does not belong to.
    pub kept: bool,
}

/// How closely an allow has to name a command, beyond its program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AllowScope {
    /// So many of its first operands (`git remote add`), each by more than `*`.
    pub named: usize,
    /// From here on operands are a list: an allow that names one of them means no other.
    pub list: Option<usize>,
    /// The option that adds to that list (`git push --tags`).
    pub wider: Option<&'static str>,
}

impl SubCommand {
    /// It, and what else it is called; `any` = also what is only as good as the same. What an allow has to know of the
    /// command may have been learnt since: see [`SubCommand::same_readings`].
    pub fn readings(&self, any: bool) -> impl Iterator<Item = &SubCommand> + Clone {
        let twins = self.twins.iter().filter(move |twin| any || twin.same);
        std::iter::once(self).chain(twins.map(|twin| &twin.command))
    }

    /// It, and the same in other words, with all that is known of it.
    pub fn same_readings(&self) -> impl Iterator<Item = Cow<'_, SubCommand>> {
        let twins = self.twins.iter().filter(|twin| twin.same).map(|twin| {
            let SubCommand { name, args, operands, .. } = twin.command.clone();
            let mut scope = self.scope;
            // So many words more, or fewer, name it.
            if scope.named > 0
                && let Some(named) = scope.named.checked_add(operands.len())
            {
                scope.named = named.saturating_sub(self.operands.len());
            }
            let own = SubCommand { twins: Vec::new(), ..self.clone() };
            Cow::Owned(SubCommand { name, args, operands, scope, ..own })
        });
        std::iter::once(Cow::Borrowed(self)).chain(twins)
    }

    /// The same with other words in the place of its name and of its first operands.
    pub fn in_words(&self, name: &str, operands: usize, words: &[&str]) -> SubCommand {
        let mut twin = SubCommand { twins: Vec::new(), ..self.clone() };
        twin.name = name.to_string();
        let span = match operands.checked_sub(1).and_then(|last| self.operands.get(last)) {
            Some(last) => self.args.get(*last).map_or(0..0, |arg| arg.span.clone()),
            None => self.word.span.clone(),
        };
        // What is new stands behind all: options know their place among the arguments.
        let from = twin.args.len();
        let arg = |word: &&str| Arg {
            text: Some((*word).to_string()),
            glob: false,
            open: false,
            span: span.clone(),
        };
        twin.args.extend(words.iter().map(arg));
        let rest = self.operands.iter().skip(operands).copied();
        twin.operands = (from..from + words.len()).chain(rest).collect();
        twin
    }

    /// May the argument at that place be the value of an option?
    pub fn is_doubtful(&self, at: usize) -> bool {
        // They are noted as they come.
        self.doubtful.binary_search(&at).is_ok()
    }

    /// Does it need no allow of its own: its other effects, or those of what it runs, say all.
    pub fn stands_for_itself(&self) -> bool {
        self.transparent || self.neutral_wrapper && self.genuine
    }

    /// Is it a function of the call, whose body has told all that it does?
    pub fn is_told_function(&self) -> bool {
        self.transparent && !self.genuine && self.file.is_none()
    }
}

/// Everything a call would do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Analysis {
    /// The shell text that spans point into; empty for other tools.
    pub text: String,
    /// The effects, in the order of their cause.
    pub effects: Vec<Effect>,
    /// The sub-commands, outer before inner.
    pub commands: Vec<SubCommand>,
    /// Names that the call puts into the environment of what it runs, where they may change what it does.
    pub environment: Vec<String>,
    /// Why something is unknown, for people: "parse error at byte 12", "nested deeper than 32".
    pub notes: Vec<String>,
    /// What the files do that it runs, behind all that its own text does.
    pub led: Option<Box<Led>>,
}

/// Where among effects and commands those begin that stand in files which the call runs. They add to what rules
/// stop: for an allow, and for a rewrite, only the call's own text counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Led {
    /// The first of the effects.
    pub effects: usize,
    /// The first of the commands.
    pub commands: usize,
    /// The way to each of the effects: `make clean -> Makefile:12`.
    pub ways: Vec<String>,
    /// What may stand in the stead of commands that do nothing else.
    pub steads: Vec<Stead>,
}

/// What a command does, as shell text, where that is all that can come of it.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stead {
    /// The command, whose text stands in the call.
    pub command: usize,
    /// The text.
    pub text: String,
    /// The file that says so.
    pub file: String,
    /// For people: `make clean -> Makefile`.
    pub way: String,
}

impl Analysis {
    /// The effects of the call's own text.
    pub fn own_effects(&self) -> &[Effect] {
        let end = self.led.as_ref().map_or(self.effects.len(), |led| led.effects);
        self.effects.get(..end).unwrap_or_default()
    }

    /// The commands of the call's own text.
    pub fn own_commands(&self) -> &[SubCommand] {
        let end = self.led.as_ref().map_or(self.commands.len(), |led| led.commands);
        self.commands.get(..end).unwrap_or_default()
    }

    /// The way to an effect that stands in a file which the call runs.
    pub fn way_to(&self, effect: usize) -> Option<&str> {
        let led = self.led.as_ref()?;
        led.ways.get(effect.checked_sub(led.effects)?).map(String::as_str)
    }

    /// The same for one that is among the effects, or is narrowed from one.
    pub fn way_of(&self, effect: &Effect) -> Option<&str> {
        let led = self.led.as_ref()?;
        let start = self.effects.as_ptr_range().start.addr();
        let place = (&raw const *effect).addr().wrapping_sub(start) / size_of::<Effect>();
        let narrowed = |one: &Effect| {
            (one.word, one.command, &one.span) == (effect.word, effect.command, &effect.span)
        };
        let place = match place < self.effects.len() {
            true => place,
            false => led.effects + self.effects.get(led.effects..)?.iter().position(narrowed)?,
        };
        self.way_to(place)
    }

    /// What may stand in the stead of commands.
    pub fn steads(&self) -> &[Stead] {
        self.led.as_ref().map_or(&[], |led| &led.steads)
    }

    /// The call's text with what stands in a command's stead: where it is but one, and beside it nothing happens but
    /// what only looks, and keeps to the shell that it is in.
    pub fn in_stead(&self) -> Option<(Stead, String)> {
        let [stead] = self.steads() else { return None };
        let looks = |(at, command): (usize, &SubCommand)| {
            at == stead.command
                || command.transparent
                    && command.genuine
                    && LOOKERS.contains(&command.name.as_str())
        };
        let commands = self.own_commands();
        if self.text.contains("<<") || !commands.iter().enumerate().all(looks) {
            return None;
        }
        let span = commands.get(stead.command)?.span.clone();
        let (before, after) = (self.text.get(..span.start)?, self.text.get(span.end..)?);
        Some((stead.clone(), format!("{before}{}{after}", stead.text)))
    }

    /// Could the call write the file, or one beside it that is asked as well?
    pub fn may_change_recipe(&self, file: &str) -> bool {
        let Some((dir, _)) = file.rsplit_once('/') else { return true };
        let changes = |e: &&Effect| matches!(e.word, Word::Write | Word::Delete | Word::Permission);
        let is_there = |path: &str| match path.rsplit_once('/') {
            // What stands beside it is a recipe, a setting, or what a recipe is made of, by its name.
            Some((above, name)) if above == dir => {
                let name = name.to_ascii_lowercase();
                let asked = [
                    "makefile",
                    "gnumakefile",
                    "package.json",
                    "s.",
                    "rcs",
                    "sccs",
                    "node_modules",
                ];
                name.starts_with('.') || asked.iter().any(|asked| name.starts_with(asked))
            }
            _ => path.contains("/node_modules"),
        };
        let above = |path: &str| {
            dir == path || dir.starts_with(&format!("{}/", path.trim_end_matches('/')))
        };
        self.own_effects().iter().filter(changes).any(|effect| match &effect.path {
            None => true,
            Some(target) => [&target.lexical, &target.resolved].iter().any(|path| {
                let wide = target.extent == Extent::Glob || path.contains(['*', '?', '[']);
                wide || is_there(path) || above(path)
            }),
        })
    }

    /// A sub-command and those that run it, the innermost first.
    pub fn with_wrappers(&self, command: Option<usize>) -> Vec<usize> {
        let parent = |at: &usize| self.commands.get(*at).and_then(|command| command.parent);
        // A command comes behind the one that runs it.
        std::iter::successors(command, |at| parent(at).filter(|up| up < at)).collect()
    }
}
