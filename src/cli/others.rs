//! Hook programs of others beside ours: which do what a server in hookctl's config does as well,
//! and how to end that.

use std::fmt::Write as _;
use std::path::PathBuf;

use serde::Serialize;

use super::scope::{self, Place};
use super::{Context, visible};
use crate::config::{Config, Source};
use crate::paths::Paths;
use crate::rule::file::Remote;
use crate::settings;
use crate::settings::file::Target;
use crate::settings::others::{KNOWN, Program};
use crate::settings::record::Records;

/// The entries of one known program in one file.
pub(super) struct Found {
    pub(super) place: Place,
    pub(super) program: &'static Program,
    /// The events in the file's order.
    events: Vec<String>,
    commands: Vec<String>,
    /// The server of ours that does the same, and the file that names it.
    server: Option<(String, String)>,
}

/// The same thing done twice; the keys are stable.
#[derive(Debug, Serialize)]
pub(super) struct Conflict {
    program: &'static str,
    scope: &'static str,
    file: String,
    events: Vec<String>,
    remote: String,
}

/// The programs whose work a server in the config does.
pub(super) fn served(config: &Config) -> Vec<&'static Program> {
    KNOWN.iter().filter(|program| server(config, program).is_some()).collect()
}

/// The server that does a program's work, and the file that names it.
fn server(config: &Config, program: &Program) -> Option<(String, String)> {
    let is_it = |remote: &&Remote| Some(remote.dialect) == program.dialect;
    let remote = config.remotes().map(|(_, remote)| remote).find(is_it)?;
    let has = |source: &&Source| source.file.remotes.iter().any(|one| std::ptr::eq(one, remote));
    let source = config.sources.iter().find(has)?;
    Some((remote.name.clone(), source.path.display().to_string()))
}

/// The known programs in every file that the agent reads here.
pub(super) fn found(context: &Context, config: &Config) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for place in scope::places(context) {
        // A broken file has no effect; `status` reports it.
        let Ok(Some(read)) = settings::read(&place.file) else { continue };
        let first = all.len();
        for foreign in read.survey.foreign {
            let Some(program) = foreign.known else { continue };
            let known = all[first..].iter().position(|one| one.program.name == program.name);
            let at = known.map_or(all.len(), |at| first + at);
            if at == all.len() {
                all.push(Found {
                    place: place.clone(),
                    program,
                    events: Vec::new(),
                    commands: Vec::new(),
                    server: server(config, program),
                });
            }
            let found = &mut all[at];
            for (list, text) in
                [(&mut found.events, foreign.event), (&mut found.commands, foreign.command)]
            {
                if !list.contains(&text) {
                    list.push(text);
                }
            }
        }
    }
    all
}

impl Found {
    /// What is done twice, where something is.
    pub(super) fn conflict(&self) -> Option<Conflict> {
        let (remote, _) = self.server.as_ref()?;
        Some(Conflict {
            program: self.program.name,
            scope: self.place.name(),
            file: self.place.file.display().to_string(),
            events: self.events.clone(),
            remote: remote.clone(),
        })
    }

    /// Can its entries be taken out? What the administrator wrote stays.
    pub(super) fn is_ours_to_edit(&self) -> bool {
        self.place.scope.is_some()
    }

    /// Who and where.
    fn who(&self) -> String {
        let Found { program, place, events, commands, .. } = self;
        let mut text = format!(
            "{} is installed as well, in {} ({} settings: {})",
            program.name,
            place.file.display(),
            place.name(),
            events.join(", ")
        );
        for command in commands {
            let _ = write!(text, "\n  runs {command}");
        }
        visible(&text)
    }

    /// What is done twice, and the ways out.
    pub(super) fn warning(&self, install: &str) -> Option<String> {
        let (remote, file) = self.server.as_ref()?;
        let name = self.program.name;
        let out = format!("take [remote.{remote}] out of {file}");
        let ways = match self.is_ours_to_edit() {
            true => format!(
                "Let hookctl do it alone: `{install} --replace` takes the entries of {name} out, and\n\
                 `hookctl uninstall` brings them back. Or leave it to {name}: {out}."
            ),
            false => format!("hookctl never writes these settings: {out}."),
        };
        Some(format!(
            "{}\nand [remote.{remote}] does the same: {}.\n{ways}",
            self.who(),
            self.program.twice
        ))
    }

    /// That it is there, and what would let hookctl take its place.
    pub(super) fn note(&self, context: &Context, install: &str) -> String {
        let instead = match self.program.dialect {
            Some(_) if self.is_ours_to_edit() => {
                let remote = self.program.remote.trim_end().replace('\n', "\n    ");
                format!(
                    "To let hookctl do its work instead, write into {}\n    {remote}\nand run \
                     `{install} --replace`.",
                    context.paths.user_config().display()
                )
            }
            Some(_) => "hookctl never writes these settings.".to_string(),
            None => format!("hookctl leaves it: {}.", self.program.twice),
        };
        format!("{}\n{instead}", self.who())
    }
}

/// The refusal to edit a file whose entries were written with another state directory, which alone knows
/// what to bring back.
pub(super) fn noted_elsewhere(context: &Context, place: &Place) -> Option<String> {
    let survey = settings::read(&place.file).ok().flatten()?.survey;
    let key = Target::find(&place.file).ok()?.record_key();
    let knows = |dir: &&str| {
        let paths = Paths { state: PathBuf::from(dir), ..context.paths.clone() };
        let has = |records: &Records| records.files.get(&key).is_some_and(|r| !r.taken.is_empty());
        paths.state != context.paths.state && has(&Records::load(&paths))
    };
    let dir = survey.own.iter().filter_map(|own| own.option("--state")).find(knows)?;
    Some(format!(
        "{} was installed with `--state {dir}`, which knows what `install --replace` took out: say \
         that again. The file was left as it is.",
        place.file.display()
    ))
}

/// What was taken out here for a server that the config no longer names: nobody does it now.
pub(super) fn unserved(context: &Context, config: &Config, records: &Records) -> Vec<String> {
    let mut notes = Vec::new();
    for place in scope::places(context) {
        let Ok(target) = Target::find(&place.file) else { continue };
        let Some(record) = records.files.get(&target.record_key()) else { continue };
        for program in KNOWN.iter().filter(|program| server(config, program).is_none()) {
            if record.taken.iter().any(|taken| taken.program == program.name) {
                let name = program.name;
                notes.push(format!(
                    "{} settings: {name} was taken out for a server that the config does not name: \
                     `hookctl uninstall` brings {name} back",
                    place.name()
                ));
            }
        }
    }
    notes
}
