//! Hook programs of others beside ours: which do what a server in hookctl's config does as well,
//! and how to end that.

use std::fmt::Write as _;
use std::path::Path;

use serde::Serialize;

use super::others::{Program, known_programs};
use super::place::SettingsFile;
use crate::config::{Config, LayerFile};
use crate::rule::file::Remote;
use crate::text::make_visible;

/// The entries of one known program in one file.
#[derive(Debug)]
pub struct InstalledProgram {
    /// The file.
    pub place: SettingsFile,
    /// The program.
    pub program: &'static Program,
    /// The events in the file's order.
    events: Vec<String>,
    commands: Vec<String>,
    /// The server of ours that does the same, and the file that names it.
    server: Option<(String, String)>,
}

/// The same thing done twice; the keys are stable.
#[derive(Debug, Serialize)]
pub struct Conflict {
    program: &'static str,
    scope: &'static str,
    file: String,
    events: Vec<String>,
    remote: String,
}

/// The programs whose work a server in the config does.
pub fn served_programs(config: &Config) -> Vec<&'static Program> {
    known_programs().filter(|program| serving_remote(config, program).is_some()).collect()
}

/// The server that does a program's work, and the file that names it.
pub fn serving_remote(config: &Config, program: &Program) -> Option<(String, String)> {
    let is_it = |remote: &&Remote| {
        remote.dialect.facts().rival.is_some_and(|rival| rival.name == program.name)
    };
    let remote = config.remotes().map(|(_, remote)| remote).find(is_it)?;
    let has = |source: &&LayerFile| source.file.remotes.iter().any(|one| std::ptr::eq(one, remote));
    let source = config.sources.iter().find(has)?;
    Some((remote.name.clone(), source.path.display().to_string()))
}

/// The known programs in each of these files.
pub fn find_programs(places: &[SettingsFile], config: &Config) -> Vec<InstalledProgram> {
    let mut all: Vec<InstalledProgram> = Vec::new();
    for place in places {
        // A broken file has no effect; `status` reports it.
        let Ok(Some(read)) = super::read_settings(place) else { continue };
        let first = all.len();
        for foreign in read.survey.foreign {
            let Some(program) = foreign.known else { continue };
            let known = all[first..].iter().position(|one| one.program.name == program.name);
            let at = known.map_or(all.len(), |at| first + at);
            if at == all.len() {
                all.push(InstalledProgram {
                    place: place.clone(),
                    program,
                    events: Vec::new(),
                    commands: Vec::new(),
                    server: serving_remote(config, program),
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

/// What is done twice in these files, for who works there.
pub fn duplicate_warnings(places: &[SettingsFile], config: &Config) -> Vec<String> {
    if served_programs(config).is_empty() {
        return Vec::new();
    }
    let ours = |place: &&SettingsFile| {
        let read = super::read_settings(place).ok().flatten();
        place.is_ours_to_edit() && read.is_some_and(|read| !read.survey.own.is_empty())
    };
    let again = install_command(places.iter().find(ours).map_or("user", |place| place.name));
    find_programs(places, config).iter().filter_map(|one| one.conflict_warning(&again)).collect()
}

/// The command line that a hint begins with.
pub fn install_command(scope: &str) -> String {
    match scope {
        "user" => "hookctl install".to_string(),
        "managed" => "hookctl install --managed".to_string(),
        scope => format!("hookctl install --scope {scope}"),
    }
}

/// The command line that takes out what is there.
pub fn uninstall_command(scope: &str) -> String {
    match scope {
        // The administrator's is no scope of a user's.
        "managed" => "hookctl uninstall --managed".to_string(),
        scope => format!("hookctl uninstall --scope {scope}"),
    }
}

impl InstalledProgram {
    /// What is done twice, where something is.
    pub fn conflict(&self) -> Option<Conflict> {
        let (remote, _) = self.server.as_ref()?;
        Some(Conflict {
            program: self.program.name,
            scope: self.place.name,
            file: self.place.file.display().to_string(),
            events: self.events.clone(),
            remote: remote.clone(),
        })
    }

    /// Who and where.
    fn describe_program(&self) -> String {
        let InstalledProgram { program, place, events, commands, .. } = self;
        let mut text = format!(
            "{} is installed as well, in {} ({} settings: {})",
            program.name,
            place.file.display(),
            place.name,
            events.join(", ")
        );
        for command in commands {
            let _ = write!(text, "\n  runs {command}");
        }
        make_visible(&text)
    }

    /// What is done twice, and the ways out.
    pub fn conflict_warning(&self, install: &str) -> Option<String> {
        let (remote, file) = self.server.as_ref()?;
        let name = self.program.name;
        let out = format!("take [remote.{remote}] out of {file}");
        let ways = match self.place.is_ours_to_edit() {
            true => format!(
                "Let hookctl do it alone: `{install} --replace` takes the entries of {name} out, and\n\
                 `hookctl uninstall` brings them back. Or leave it to {name}: {out}."
            ),
            false => format!("hookctl never writes these settings: {out}."),
        };
        Some(format!(
            "{}\nand [remote.{remote}] does the same: {}.\n{ways}",
            self.describe_program(),
            self.program.twice
        ))
    }

    /// That it is there, and what would let hookctl take its place.
    pub fn presence_note(&self, config: &Path, install: &str) -> String {
        let instead = match self.program.remote {
            Some(remote) if self.place.is_ours_to_edit() => {
                let remote = remote.trim_end().replace('\n', "\n    ");
                format!(
                    "To let hookctl do its work instead, write into {}\n    {remote}\nand run \
                     `{install} --replace`.",
                    config.display()
                )
            }
            Some(_) => "hookctl never writes these settings.".to_string(),
            None => format!("hookctl leaves it: {}.", self.program.twice),
        };
        format!("{}\n{instead}", self.describe_program())
    }
}
