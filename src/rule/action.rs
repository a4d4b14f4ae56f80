//! What a rule does where it holds: its verdict, and what it does beside that.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::{Regex, Template};
use crate::glob;
use crate::marks::Marks;
use crate::script::Dialect;
use crate::verdict::Verb;

/// What a rule says.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// Nothing itself.
    None {
        /// A command whose failure is fed back: `run`.
        run: Option<Command>,
    },
    /// Deny, ask, defer or halt.
    Stop {
        /// Which of them.
        verb: Verb,
        /// Why.
        reason: Template,
        /// It holds only where this command fails: `run`.
        run: Option<Command>,
    },
    /// The shipped rule on what was not understood.
    NotUnderstood {
        /// Ask, unless a file of the user says otherwise.
        verb: Verb,
        /// Why.
        reason: Template,
        /// Words that turn it into a deny.
        danger: Vec<String>,
    },
    /// Do not ask the user.
    Allow {
        /// Why.
        reason: Template,
        /// A shipped one beside which no program stands for itself: each must be named by one.
        closed: bool,
    },
}

impl Default for Verdict {
    fn default() -> Verdict {
        Verdict::None { run: None }
    }
}

impl Verdict {
    /// Which one it is.
    pub fn verb(&self) -> Option<Verb> {
        match self {
            Verdict::None { .. } => None,
            Verdict::Stop { verb, .. } | Verdict::NotUnderstood { verb, .. } => Some(*verb),
            Verdict::Allow { .. } => Some(Verb::Allow),
        }
    }

    /// Its reason.
    pub fn reason(&self) -> Option<&Template> {
        match self {
            Verdict::None { .. } => None,
            Verdict::Stop { reason, .. }
            | Verdict::NotUnderstood { reason, .. }
            | Verdict::Allow { reason, .. } => Some(reason),
        }
    }

    /// The same with another reason, if there is one at all.
    pub fn replace_reason(&mut self, to: &Template) {
        match self {
            Verdict::None { .. } => {}
            Verdict::Stop { reason, .. }
            | Verdict::NotUnderstood { reason, .. }
            | Verdict::Allow { reason, .. } => reason.clone_from(to),
        }
    }

    /// The command that it waits for.
    pub fn awaited_command(&self) -> Option<&Command> {
        match self {
            Verdict::None { run } | Verdict::Stop { run, .. } => run.as_ref(),
            Verdict::NotUnderstood { .. } | Verdict::Allow { .. } => None,
        }
    }

    /// The same with another verb, if there is one at all.
    pub fn replace_verb(&mut self, to: Verb) {
        match self {
            Verdict::Stop { verb, .. } | Verdict::NotUnderstood { verb, .. } => *verb = to,
            Verdict::Allow { reason, .. } => {
                *self = Verdict::Stop { verb: to, reason: reason.clone(), run: None };
            }
            Verdict::None { .. } => {}
        }
    }
}

/// Fields and their new values.
pub type Fields = Vec<(Vec<String>, Template)>;

/// Something that a rule does beside its verdict.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Changes fields of the tool's input.
    Rewrite(Fields),
    /// Changes fields of what the tool returned.
    Replace(Fields),
    /// Takes something out of what the tool returned.
    Redact(Redact),
    /// Tells the model.
    Context(Text),
    /// Tells the human.
    Notify(Text),
    /// Sets marks on the session, where the call goes on.
    Mark(Marks),
    /// Keeps the answer out of the agent's transcript.
    Suppress,
    /// Sets variables for the agent's later commands.
    Env(Vec<(String, Template)>),
    /// Has an existing hook script judge as well.
    Hook {
        /// The script.
        command: Command,
        /// How it answers.
        dialect: Dialect,
        /// What its failure amounts to.
        otherwise: Otherwise,
    },
    /// Has the hooks of Claude Code's settings files judge as well, for agents that do not run them themselves.
    HookSettings {
        /// The files, as written: `~/...`, absolute, or from the project's root on.
        files: Vec<String>,
        /// The most time for each of their commands; None = what they say themselves.
        limit: Option<Duration>,
        /// What the failure of one, or of a file, amounts to.
        otherwise: Otherwise,
    },
    /// Asks or tells a server.
    Remote {
        /// Its name.
        server: String,
        /// What it amounts to that the server cannot be asked.
        otherwise: Otherwise,
    },
}

impl Action {
    /// Does it change what a tool returned?
    pub fn is_of_the_response(&self) -> bool {
        matches!(self, Action::Replace(_) | Action::Redact(_))
    }

    /// The command that it runs.
    pub fn command(&self) -> Option<&Command> {
        match self {
            Action::Hook { command, .. }
            | Action::Context(Text::Run(command))
            | Action::Notify(Text::Run(command)) => Some(command),
            _ => None,
        }
    }

    /// Its texts with placeholders, but for its command's.
    pub fn templates(&self) -> Vec<&Template> {
        match self {
            Action::Rewrite(fields) | Action::Replace(fields) => {
                fields.iter().map(|(_, template)| template).collect()
            }
            Action::Env(variables) => variables.iter().map(|(_, template)| template).collect(),
            Action::Context(Text::Plain(text)) | Action::Notify(Text::Plain(text)) => vec![text],
            _ => Vec::new(),
        }
    }
}

/// A text from one of three places.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Text {
    /// Written in the rule.
    Plain(Template),
    /// The content of a file.
    File(PathBuf),
    /// What a command prints.
    Run(Command),
}

/// A shell command that a rule runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Command {
    /// The script for `sh -c`, placeholders replaced by references to variables.
    pub script: Template,
    /// Killed after this time; None = 60 s or the event's deadline less a second.
    pub limit: Option<Duration>,
    /// The directory a relative program is meant from; None = the project's root.
    pub base: Option<PathBuf>,
    /// The variables that it keeps of our own environment: globs over their names; None = all.
    pub keeps: Option<Vec<String>>,
    /// Where it runs, as written: `./x` in the project, `~/x`, `/x`; None = the project's root.
    pub dir: Option<String>,
}

impl Command {
    /// Where it runs.
    pub fn directory(&self, project: &Path, home: &Path) -> PathBuf {
        match self.dir.as_deref() {
            None => project.to_path_buf(),
            Some(dir) => match dir.strip_prefix("~/") {
                Some(below) => home.join(below),
                None => project.join(dir.trim_start_matches("./")),
            },
        }
    }

    /// Does it keep the variable of that name?
    pub fn keeps_variable(&self, name: &str) -> bool {
        self.keeps.as_ref().is_none_or(|kept| kept.iter().any(|glob| glob::matches(glob, name)))
    }
}

/// What an existing hook script's failure, or a server's, amounts to: a later one is stricter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Otherwise {
    /// Nothing is said.
    #[default]
    Silent,
    /// The user is asked.
    Ask,
    /// The call is refused.
    Deny,
}

/// What to take out of a tool's result.
#[derive(Debug, Clone, PartialEq)]
pub enum Redact {
    /// What the journal takes for secrets.
    Secrets,
    /// What these match.
    Patterns(Vec<Regex>),
}
