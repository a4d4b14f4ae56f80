//! Secrets on their way out, within one call: what may hold which, and what it means that one leaves for a host.
//!
//! The walk of shell text says what is looked up, printed, kept and handed on; here that is kept, a bit for each
//! origin, and settled in the end, when it is known what leaves for where. What most calls look up is no secret: that is
//! asked only of what reaches a command that sends.

use std::collections::BTreeMap;

use super::analysis::Secrets;
use super::value::{BLANK, Value};
use super::{Analysis, Target, Word};
use crate::limits;
use crate::names::flow::{PLAIN, PRINTERS, USUAL};

mod leave;
mod origin;
mod owner;
mod printer;
mod spot;

pub use leave::{settle, settle_input};
pub use origin::is_secret_name;
use origin::{Origin, file_origin, is_shouted};
use printer::{begins, listed_variables, lists_all, prints_it, prints_loaded, prints_setting};
pub use printer::{is_mute, loads_variables, reads_code, shows_words};

/// The last bit stands for all that no bit was left for.
const LAST: usize = Secrets::BITS as usize - 1;

/// What may hold a secret at this point of the text.
#[derive(Debug, Clone, Default)]
pub struct Flow {
    origins: Vec<Origin>,
    /// In the words at hand.
    pub seen: Secrets,
    /// In what has been printed.
    pub printed: Secrets,
    /// In standard input.
    pub fed: Secrets,
    /// In what substitutions have printed.
    pub substituted: Secrets,
    /// In every variable: files of secrets that the shell has loaded.
    pub loaded: Secrets,
    /// In what an error or a trace shows, whoever else is told.
    pub traced: Secrets,
    /// The shell shows all that it runs.
    pub traces: bool,
    /// In what `set --` was given.
    pub positional: Secrets,
    variables: BTreeMap<String, Secrets>,
    files: BTreeMap<String, Secrets>,
    bodies: Vec<(usize, Secrets)>,
    /// The commands of the pipeline so far.
    pub piped: std::ops::Range<usize>,
    /// The command that was last put into the background.
    pub left: Option<usize>,
    /// The commands inside `>(...)` of the command at hand.
    pub outward: Vec<std::ops::Range<usize>>,
    /// The command that keeps a connection open on a descriptor.
    pub socket: Option<usize>,
    /// Hosts that are told although a secret stands before them in the same word.
    hosts: BTreeMap<usize, String>,
    /// The command that leads all that the shell prints to such a one.
    pub stdout: Option<usize>,
}

impl Flow {
    /// What a second walk begins with: the files that this one has loaded, as a loop may come back to what stood before.
    pub fn behind_loads(&self) -> Option<Flow> {
        let mut next = Flow::default();
        for (bit, origin) in self.origins.iter().enumerate() {
            if self.loaded >> bit & 1 != 0 {
                next.loaded |= next.bit(origin.clone());
            }
        }
        (next.loaded != 0).then_some(next)
    }

    /// The shell reads a file: what it holds are its variables.
    pub fn load(&mut self, path: &Target) {
        let origin = Origin::Loaded(path.lexical.clone());
        if origin.may_be_secret() {
            self.loaded |= self.bit(origin);
        }
    }

    /// Loaded files of which something is printed, or kept in another file.
    pub fn shown_loads(&self) -> impl Iterator<Item = Target> {
        let shown = self.shown() & self.loaded;
        let held = self.origins.iter().enumerate();
        let held = held.filter(move |(bit, one)| shown >> bit & 1 != 0 && one.is_file());
        held.map(|(_, origin)| origin.as_target())
    }

    /// What the output of the call shows, or a file that it leaves behind.
    fn shown(&self) -> Secrets {
        if self.traces {
            return Secrets::MAX;
        }
        self.files.values().fold(self.printed | self.traced, |all, one| all | one)
    }

    /// What nobody knows the variable of.
    fn anything(&mut self) -> Secrets {
        self.held_by_variables() | self.bit(Origin::Environment)
    }

    /// What any variable holds that the call has set.
    fn held_by_variables(&self) -> Secrets {
        self.variables.values().fold(self.loaded, |all, one| all | one)
    }

    /// The bit of an origin.
    fn bit(&mut self, origin: Origin) -> Secrets {
        let known = self.origins.iter().position(|own| *own == origin);
        let at = known.unwrap_or(self.origins.len());
        if known.is_none() {
            if at >= limits::PLAIN_NAMES && !origin.may_be_secret() {
                return 0;
            }
            if at < LAST + 1 {
                self.origins.push(origin);
            }
        }
        1 << at.min(LAST)
    }

    /// The bit of an origin; none where it has not come up.
    fn known_bit(&self, origin: &Origin) -> Secrets {
        let at = self.origins.iter().position(|own| own == origin);
        at.map_or(0, |at| 1 << at)
    }

    /// All that stands for files, and for what no bit was left for.
    fn of_files(&self) -> Secrets {
        let files = self.origins.iter().enumerate().filter(|(_, origin)| origin.is_file());
        files.fold(1 << LAST, |all, (at, _)| all | 1 << at)
    }

    /// A variable is looked up; `told` = the call says all that it holds.
    pub fn look_up(&mut self, name: &str, told: bool) {
        let kept = self.kept_in(name);
        let outside = !told && is_shouted(name) && !USUAL.contains(&name);
        let own = if outside { self.bit(Origin::Variable(name.to_string())) } else { 0 };
        // What a program is told of where it runs is no secret, wherever it is kept.
        let plain =
            USUAL.contains(&name) || PLAIN.contains(&name.rsplit('_').next().unwrap_or_default());
        let loaded = if told || plain { 0 } else { self.loaded };
        self.seen |= kept | own | loaded;
    }

    /// Whatever variable: nobody knows which is looked up.
    pub fn look_up_any(&mut self) {
        self.seen |= self.anything();
    }

    /// What a variable holds that the call has set.
    fn kept_in(&self, name: &str) -> Secrets {
        self.variables.get(name).copied().unwrap_or_default()
    }

    /// A variable gets what holds those.
    pub fn keep(&mut self, name: &str, secrets: Secrets) {
        if secrets != 0 {
            *self.variables.entry(name.to_string()).or_default() |= secrets;
        }
    }

    /// A file gets what holds those.
    pub fn write(&mut self, path: &Target, secrets: Secrets) {
        if secrets != 0 {
            *self.files.entry(path.resolved.clone()).or_default() |= secrets;
        }
    }

    /// What reading a file gives.
    pub fn read(&mut self, path: &Target) -> Secrets {
        let written = self.files.get(&path.resolved).copied().unwrap_or_default();
        match file_origin(path) {
            Origin::Environment => written | self.anything(),
            origin => written | self.bit(origin),
        }
    }

    /// What the call has written into a file, or below a directory.
    fn written_at(&self, path: &Target) -> Secrets {
        let below = |own: &str| {
            let rest = own.strip_prefix(path.resolved.as_str());
            rest.is_some_and(|rest| {
                rest.is_empty() || path.extent.is_wide() && rest.starts_with('/')
            })
        };
        self.files.iter().filter(|(own, _)| below(own)).fold(0, |all, (_, one)| all | one)
    }

    /// What a file holds that a command hands on.
    fn held_by(&self, path: &Target) -> Secrets {
        let written = self.written_at(path);
        let own = Origin::File(path.lexical.clone());
        let bit = self.origins.iter().position(|origin| *origin == own);
        written | bit.map_or(0, |bit| 1 << bit)
    }

    /// The same with what was written into those files, be it after they were read: a pipe with a name.
    fn with_files(&self, secrets: Secrets) -> Secrets {
        let written = |origin: &Origin| match origin {
            Origin::File(path) => self.files.get(path).copied().unwrap_or_default(),
            _ => 0,
        };
        let held = self.origins.iter().enumerate().filter(|(bit, _)| secrets >> bit & 1 != 0);
        held.fold(secrets, |all, (_, origin)| all | written(origin))
    }

    /// `https://$TOKEN@host/x`, `$TOKEN.host`: whatever the secret is, the host stands behind it.
    pub fn note_hosts(&mut self, index: usize, name: &str, args: &[Value]) {
        for arg in args.iter().filter(|arg| arg.secrets != 0) {
            let text = arg.text().or(arg.outline()).unwrap_or_default();
            if reads_code(name) {
                // What is known of such a program only in part nobody reads.
                let behind = text.split_once("://").map_or("", |(_, rest)| rest);
                let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || "-.".contains(c)));
                let host = &behind[..end.unwrap_or(behind.len())];
                if host.contains('.') || host == "localhost" {
                    self.hosts.insert(index, host.to_ascii_lowercase());
                }
                continue;
            }
            let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let sign = if authority.contains('@') { '@' } else { BLANK };
            let Some((before, host)) = authority.rsplit_once(sign) else { continue };
            let host = host.trim_start_matches('.').split(':').next().unwrap_or_default();
            let named =
                host.contains('.') && !host.contains(BLANK) && !host.contains([' ', '@', '=']);
            if named && (sign == BLANK || before.contains(BLANK)) {
                self.hosts.insert(index, host.to_ascii_lowercase());
            }
        }
    }

    /// The command hands over what it prints to that host.
    pub fn note_host(&mut self, index: usize, host: &str) {
        self.hosts.insert(index, host.to_string());
    }

    /// What the body of a substitution printed.
    pub fn note_body(&mut self, body: usize, printed: Secrets) {
        self.bodies.retain(|(own, _)| *own != body);
        if printed != 0 {
            self.bodies.push((body, printed));
            self.substituted |= printed;
        }
    }

    /// The same, when it is asked.
    pub fn body(&self, body: usize) -> Secrets {
        self.bodies.iter().find(|(own, _)| *own == body).map_or(0, |(_, printed)| *printed)
    }

    /// What a command prints of its own: a token, all variables.
    pub fn printed_by(&mut self, analysis: &Analysis, index: usize) -> Secrets {
        let Some(command) = analysis.commands.get(index) else { return 0 };
        if let Some(names) = listed_variables(command) {
            let kept = names.iter().fold(self.loaded, |all, name| all | self.kept_in(name));
            return names
                .into_iter()
                .fold(kept, |all, name| all | self.bit(Origin::Variable(name)));
        }
        let stored = || {
            let own = analysis.effects.iter().rev().take_while(|e| e.command == Some(index));
            own.into_iter().any(|effect| effect.word == Word::Named("cloud.secret"))
        };
        if prints_loaded(command) {
            self.held_by_variables()
        } else if lists_all(command) {
            self.anything()
        } else if begins(command, PRINTERS).is_some_and(|row| prints_it(row, command))
            || prints_setting(command)
            || stored()
        {
            self.bit(Origin::Command(command.name.clone()))
        } else {
            0
        }
    }

    /// What a text looks up in its environment; `code` = it is an inline program, no name of a file or option.
    pub fn looked_up_by(&mut self, text: &str, code: bool) -> Secrets {
        let lower = text.to_ascii_lowercase();
        let mut all = if code { self.loaded } else { 0 };
        let mut from = 0;
        while let Some(at) = lower[from..].find("env").map(|at| at + from) {
            from = at + 3;
            let more = ["ironb", "iron"].iter().find(|more| lower[from..].starts_with(**more));
            let rest = &text[from + more.map_or(0, |more| more.len())..];
            let behind =
                rest.trim_start_matches(|c: char| "([{'\".?:)\\ ".contains(c) || c == BLANK);
            let call = ["get", "fetch"].iter().find_map(|call| behind.strip_prefix(call));
            let behind = call
                .map_or(behind, |get| get.trim_start_matches(|c: char| "([{'\"\\ ".contains(c)));
            let end = behind.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
            let name = &behind[..end.unwrap_or(behind.len())];
            let boundary = text[..at].chars().next_back();
            let whole = boundary.is_none_or(|c| !c.is_alphanumeric() && c != '_')
                || text[..at].ends_with("get");
            let kept = self.kept_in(name);
            if (is_shouted(name) || kept != 0) && behind.len() < rest.len() {
                let own = is_shouted(name) && kept == 0;
                all |= kept;
                all |= if own { self.bit(Origin::Variable(name.to_string())) } else { 0 };
            } else if whole && takes_all(rest) {
                all |= if code { self.anything() } else { self.bit(Origin::Environment) };
            }
        }
        all
    }
}

/// Is the whole environment meant: `dict(os.environ)`, `JSON.stringify(process.env)`, `%ENV`?
fn takes_all(behind: &str) -> bool {
    let behind = behind.trim_start_matches('S');
    behind.is_empty() || behind.starts_with([')', ',', '}', ';', '\n', ' ']) || {
        [".items", ".copy", ".to_", ".toObject", ".inspect", ".map", ".each", ".values", ".to_h"]
            .iter()
            .any(|call| behind.starts_with(call))
    }
}
