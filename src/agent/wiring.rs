//! How an agent is told to run hookctl: which files, in which form, and how its presence shows.
//!
//! Each agent's own file ends with its `Wiring`; `settings` reads it and knows no agent by name.

use std::path::{Path, PathBuf};

use crate::env;
use crate::event::Kind;

/// All that is known of an agent's settings.
#[derive(Debug)]
pub struct Wiring {
    /// Its programs, by the names that PATH has them under.
    pub programs: &'static [&'static str],
    /// Paths below HOME that are there where the agent is.
    pub traces: &'static [&'static str],
    /// The directory of the user's settings.
    pub directory: Directory,
    /// Its settings files. Of several of one scope the first that is in use counts, or the first.
    pub files: &'static [SettingsPlace],
    /// Whose settings it reads beside its own.
    pub reads: &'static [Reads],
    /// How its program runs without a person; none = no such way is known.
    pub headless: Option<Headless>,
    /// Whether hooks count only once a person has approved each of them.
    pub consent: Option<Consent>,
    /// The keys of its settings that keep hooks from running.
    pub switches: &'static [Switch],
    /// Does a session that runs take in what changes in its settings? None = that is not known.
    pub rereads: Option<bool>,
    /// What else people must know, in sentences.
    pub notes: &'static [&'static str],
}

impl Wiring {
    /// An agent of which nothing is known.
    pub const UNKNOWN: Wiring = Wiring {
        programs: &[],
        traces: &[],
        directory: Directory { variable: None, home: "" },
        files: &[],
        reads: &[],
        headless: None,
        consent: None,
        switches: &[],
        rereads: None,
        notes: &[],
    };

    /// Where the user's settings are; a variable is taken from `cwd`.
    pub fn user_directory(&self, home: &Path, cwd: &Path) -> PathBuf {
        let moved = self.directory.variable.and_then(env::get_path);
        moved.map_or_else(|| home.join(self.directory.home), |dir| cwd.join(dir))
    }

    /// Where one of its files is, for a session in `cwd` of the project at `root`.
    pub fn resolve(&self, place: &SettingsPlace, home: &Path, cwd: &Path, root: &Path) -> PathBuf {
        self.resolve_path(place.scope, place.path, home, cwd, root)
    }

    /// The same of a path in a scope.
    pub fn resolve_path(
        &self,
        scope: Scope,
        path: &str,
        home: &Path,
        cwd: &Path,
        root: &Path,
    ) -> PathBuf {
        let path = match scope {
            Scope::Managed => PathBuf::from(path),
            Scope::User => self.user_directory(home, cwd).join(path),
            Scope::Project | Scope::Local => root.join(path),
        };
        // Its own separators where this system has others.
        if cfg!(windows) { path.components().collect() } else { path }
    }
}

/// A run of an agent's program without a person: it does what one prompt says, and ends.
#[derive(Debug, Clone, Copy)]
pub struct Headless {
    /// The arguments. In these and in the variables `{prompt}` is the prompt and `{command}` the one shell command that
    /// the run may make unasked: nothing here may permit more than the client lets one say, or switch hooks off.
    pub args: &'static [&'static str],
    /// Variables for it.
    pub env: &'static [(&'static str, &'static str)],
    /// The tool that starts a subagent, by the name that the journal has for it; none = it has none.
    pub subagent: Option<&'static str>,
}

/// A directory below HOME that a variable may move.
#[derive(Debug, Clone, Copy)]
pub struct Directory {
    /// The variable that names another.
    pub variable: Option<&'static str>,
    /// Where it is otherwise, below HOME; empty = HOME itself.
    pub home: &'static str,
}

/// Whose settings a file holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// The administrator's: never written.
    Managed,
    /// The user's, for every session.
    User,
    /// Everybody's who works on the project.
    Project,
    /// The user's own in that project.
    Local,
}

impl Scope {
    /// As `--scope` has it.
    pub const fn name(self) -> &'static str {
        match self {
            Scope::Managed => "managed",
            Scope::User => "user",
            Scope::Project => "project",
            Scope::Local => "local",
        }
    }
}

/// One settings file.
#[derive(Debug)]
pub struct SettingsPlace {
    /// Whose it is.
    pub scope: Scope,
    /// Below the user's directory or the project's root; absolute where it is managed. A last component with a
    /// `*` stands for every file of that name that is there.
    pub path: &'static str,
    /// How it is written.
    pub form: Form,
    /// Is it hookctl's alone? Then it goes with the last entry, and what others put there stays untouched.
    pub own: bool,
}

impl SettingsPlace {
    /// A file that holds more than hooks.
    pub const fn shared(scope: Scope, path: &'static str, form: Form) -> SettingsPlace {
        SettingsPlace { scope, path, form, own: false }
    }

    /// A file of hookctl's own.
    pub const fn own(scope: Scope, path: &'static str, form: Form) -> SettingsPlace {
        SettingsPlace { scope, path, form, own: true }
    }
}

/// Where something is on this platform: on Linux and others, on macOS, on Windows.
pub const fn by_platform(
    other: &'static str,
    macos: &'static str,
    windows: &'static str,
) -> &'static str {
    if cfg!(target_os = "macos") {
        macos
    } else if cfg!(windows) {
        windows
    } else {
        other
    }
}

/// Settings of another agent that are read as well.
#[derive(Debug, Clone, Copy)]
pub struct Reads {
    /// The other agent's id.
    pub agent: &'static str,
    /// Which of its files.
    pub scopes: &'static [Scope],
}

/// A review that an agent demands of its user before a hook runs.
#[derive(Debug, Clone, Copy)]
pub struct Consent {
    /// The file that notes what was approved, below the user's directory.
    pub file: &'static str,
    /// How a person approves.
    pub review: &'static str,
}

/// A key of an agent's settings that keeps its hooks from running.
#[derive(Debug)]
pub struct Switch {
    /// The files that may have it, the weakest first: their paths are those of a [`SettingsPlace`]. What ends in
    /// `.toml` is TOML, all else JSON that may have comments.
    pub places: &'static [(Scope, &'static str)],
    /// The way to it.
    pub keys: &'static [&'static str],
    /// When hooks are off.
    pub off: Off,
}

/// When a switch is off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Off {
    /// One of the files says that.
    Anywhere(bool),
    /// The last of the files that says anything says that.
    Last(bool),
    /// One of the files has a list, and it names the entry.
    Named,
}

/// How a settings file is written.
#[derive(Debug, Clone, Copy)]
pub enum Form {
    /// JSON with entries by event.
    Entries(&'static EntryForm),
    /// A directory with one script for each event, by the event's name.
    Scripts(&'static ScriptForm),
    /// One program file of the agent's own language, which runs hookctl.
    Plugin(&'static PluginForm),
}

impl Form {
    /// The form of its entries, where it has any.
    pub fn entries(self) -> Option<&'static EntryForm> {
        match self {
            Form::Entries(form) => Some(form),
            Form::Scripts(_) | Form::Plugin(_) => None,
        }
    }
}

/// How entries stand in a JSON file.
#[derive(Debug)]
pub struct EntryForm {
    /// The key of the object that has the events; none = the file itself is that object.
    pub hooks: Option<&'static str>,
    /// How entries stand below their event.
    pub nesting: Nesting,
    /// What the file must have at its top.
    pub top: &'static [(&'static str, Constant)],
    /// How an entry names the program and its arguments.
    pub call: CallForm,
    /// The key of an entry's timeout, and what it counts.
    pub timeout: Option<(&'static str, Unit)>,
    /// What every entry has beside that.
    pub keys: &'static [(&'static str, Constant)],
    /// Has an entry a name of its own (`name`), by which people switch it off?
    pub named: bool,
    /// Which groups need the matcher `*` for all tools; elsewhere none means all.
    pub matcher: Matcher,
    /// May the file have comments?
    pub comments: bool,
    /// Does the agent take `//` for the beginning of a comment even within a string?
    pub cuts_slashes: bool,
    /// Does the agent know an entry by its place among others? Then none is moved.
    pub positional: bool,
    /// How an entry says that its failure blocks.
    pub fail_closed: Option<&'static FailClosed>,
    /// The events whose invalid entries cost the agent the whole file.
    pub fatal: &'static [&'static str],
    /// What else costs it the whole file.
    pub strict: Strict,
}

/// What costs an agent a whole file, whoever wrote it.
#[derive(Debug)]
pub struct Strict {
    /// The only keys at its top; empty = any.
    pub top: &'static [&'static str],
    /// A key that must have a whole number above 0.
    pub version: Option<&'static str>,
    /// The only events; empty = any.
    pub events: &'static [&'static str],
    /// The only types of an entry; empty = any.
    pub types: &'static [&'static str],
}

impl Strict {
    /// Nothing that is known.
    pub const NOTHING: Strict = Strict { top: &[], version: None, events: &[], types: &[] };
}

impl EntryForm {
    /// Claude Code's groups with a shell line, which most have taken over.
    pub const GROUPS: EntryForm = EntryForm {
        hooks: Some("hooks"),
        nesting: Nesting::Groups,
        top: &[],
        call: CallForm::Line,
        timeout: Some(("timeout", Unit::Seconds)),
        keys: &[("type", Constant::Text("command"))],
        named: false,
        matcher: Matcher::Never,
        comments: false,
        cuts_slashes: false,
        positional: false,
        fail_closed: None,
        fatal: &[],
        strict: Strict::NOTHING,
    };

    /// A list of entries below each event.
    pub const FLAT: EntryForm =
        EntryForm { nesting: Nesting::Flat, keys: &[], ..EntryForm::GROUPS };

    /// How deep the object with the events lies: 1 below a key, else 0.
    pub fn depth(&self) -> usize {
        usize::from(self.hooks.is_some())
    }

    /// How long the way to a group, or to an entry without one, is.
    pub fn item_depth(&self) -> usize {
        self.depth() + 2
    }
}

/// How entries stand below their event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nesting {
    /// `EVENT: [{matcher?, hooks: [entry]}]`.
    Groups,
    /// `EVENT: [entry]`.
    Flat,
}

/// How an entry names the program and its arguments.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallForm {
    /// `command` is the program, `args` a list.
    Args,
    /// `command` is a line for a shell.
    Line,
    /// `command` is a list of the program and its arguments.
    List,
}

/// What a timeout counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// Seconds.
    Seconds,
    /// Thousandths of them.
    Milliseconds,
}

impl Unit {
    /// How many of it are a second.
    pub const fn per_second(self) -> u32 {
        match self {
            Unit::Seconds => 1,
            Unit::Milliseconds => 1000,
        }
    }
}

/// Which groups have the matcher `*`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Matcher {
    /// None.
    Never,
    /// Those of events around a tool.
    Tools,
    /// All.
    Always,
}

/// How an entry says that its failure blocks, and for which events that has an effect.
#[derive(Debug)]
pub struct FailClosed {
    /// The key.
    pub key: &'static str,
    /// Its value.
    pub value: Constant,
    /// The events.
    pub kinds: &'static [Kind],
}

/// A value that never changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constant {
    /// A string.
    Text(&'static str),
    /// A number.
    Number(u32),
    /// True or false.
    Flag(bool),
}

/// What splits a command line into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shell {
    /// A POSIX shell.
    Posix,
    /// What an agent on Windows has: cmd, or the POSIX shell that comes with Git.
    Windows,
    /// PowerShell, behind its `&`.
    PowerShell,
}

impl Shell {
    /// That of agents on this system.
    pub const LOCAL: Shell = if cfg!(windows) { Shell::Windows } else { Shell::Posix };
}

/// How the scripts of a directory are written.
#[derive(Debug)]
pub struct ScriptForm {
    /// What follows the event in a file's name.
    pub extension: &'static str,
    /// The script: `{uninstall}` is how to remove it, `{command}` the command line.
    pub template: &'static str,
    /// What reads it.
    pub shell: Shell,
}

/// How a plugin is written.
#[derive(Debug)]
pub struct PluginForm {
    /// The document that is the program.
    pub template: &'static str,
    /// How its line begins that says what it starts: a JSON array follows.
    pub line: &'static str,
}

/// What files that are wholly hookctl's say in one of their first lines.
pub const OWN_MARK: &str = "managed-by: hookctl";
