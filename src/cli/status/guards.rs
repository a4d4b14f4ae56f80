//! Other commands at the same events: who else answers, and what is wrong with their programs.

use std::path::Path;

use serde::Serialize;

use crate::cli::{Context, scope};
use crate::event::Kind;
use crate::settings;
use crate::settings::others::Program;
use crate::settings::program::{self, Lead, Roots};

/// A command of somebody else on an event that decides.
#[derive(Debug, Serialize)]
pub(super) struct Guard {
    pub(super) scope: &'static str,
    pub(super) event: String,
    pub(super) command: String,
    /// Whose it is, where that is a program that we know.
    pub(super) known: Option<&'static str>,
    /// What is wrong with its program.
    pub(super) problem: Option<String>,
}

/// Commands of others on the events that decide.
pub(super) fn foreign_guards(context: &Context) -> Vec<Guard> {
    let mut guards = Vec::new();
    for place in scope::all_scope_files(context) {
        let Ok(Some(read)) = settings::read_settings(&place) else { continue };
        for foreign in read.survey.foreign {
            let decides = Kind::from_name(&foreign.event).is_gate();
            let is_old = |known: &Program| known.is_old(&foreign.event, &foreign.command);
            let problem = match foreign.known.is_some_and(is_old) {
                true => Some("outdated: not blocking".to_string()),
                false => command_problem(context, &foreign.command, foreign.shell),
            };
            if !decides && problem.is_none() {
                continue;
            }
            guards.push(Guard {
                scope: place.name,
                event: foreign.event,
                command: foreign.command,
                known: foreign.known.map(|program| program.name),
                problem,
            });
        }
    }
    guards
}

/// What is wrong with the program or script of a foreign command, where that can be told without
/// running it: what is written as a path must exist, and not be everybody's to change.
fn command_problem(context: &Context, command: &str, shell: bool) -> Option<String> {
    let roots = Roots { home: context.paths.home.clone(), project: context.root.clone() };
    for (at, word) in program::needed_files(command, &[]).iter().enumerate() {
        match roots.find_lead(word) {
            Lead::Unknown if !shell && at == 0 && !word.contains('/') => {
                return Some(format!("{word} is not in PATH"));
            }
            Lead::Nothing(file) => return Some(format!("{} is not there", file.display())),
            Lead::File(file) if word.contains('/') => {
                if is_world_writable(&file) {
                    return Some(format!("{} can be changed by every user", file.display()));
                }
                if at == 0 && !program::is_executable(&file) {
                    return Some(format!("{} cannot be run", file.display()));
                }
            }
            Lead::File(_) | Lead::Unknown => {}
        }
    }
    None
}

/// Can every user of the machine change the file, or put another in its place?
pub(super) fn is_world_writable(file: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = |path: &Path| path.metadata().map_or(0, |meta| meta.permissions().mode());
        let dir = file.parent().map_or(0, mode);
        mode(file) & 0o002 != 0 || (dir & 0o002 != 0 && dir & 0o1000 == 0)
    }
    #[cfg(not(unix))]
    {
        let _ = file;
        false
    }
}
