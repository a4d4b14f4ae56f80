//! The agents that are here or have hookctl in their settings: one row each.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::Serialize;

use super::file::{FileReport, inspect_file};
use super::verify::run_command;
use super::{expected, gates};
use crate::agent::wiring::{Scope, Wiring};
use crate::agent::{Agent, default_agent};
use crate::cli::{Context, one_line, scope};
use crate::order::to_set;
use crate::settings::hooks::PROGRAM;
use crate::settings::place::{self, SettingsFile};
use crate::settings::program;
use crate::settings::record::Records;
use crate::settings::survey::Own;
use crate::settings::{self, Error};

/// One agent; the keys are stable.
#[derive(Debug, Serialize)]
pub(super) struct AgentRow {
    pub(super) agent: &'static str,
    pub(super) title: &'static str,
    /// What shows that it is here.
    pub(super) found: Option<PathBuf>,
    /// What it says of its version; only with `--verify`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) version: Option<String>,
    /// The scopes whose settings have entries of ours.
    pub(super) scopes: Vec<&'static str>,
    pub(super) files: Vec<PathBuf>,
    /// The events that are guarded.
    pub(super) events: Vec<String>,
    /// The other agent whose entries it runs.
    pub(super) through: Option<&'static str>,
    pub(super) in_effect: bool,
    /// Why not.
    pub(super) problems: Vec<String>,
    /// What else there is to know.
    pub(super) notes: Vec<String>,
}

impl AgentRow {
    /// Has it entries of ours?
    pub(super) fn is_installed(&self) -> bool {
        !self.files.is_empty()
    }
}

/// Every agent that is here or has entries of ours; `version`: ask its program for its own.
pub(super) fn agent_rows(context: &Context, records: &Records, version: bool) -> Vec<AgentRow> {
    let rows = scope::wired_agents().map(|(agent, wiring)| {
        let mut row = inspect_agent(context, agent, wiring, records);
        if version && row.found.is_some() {
            row.version = agent_version(wiring);
        }
        row
    });
    let counts =
        |row: &AgentRow| row.found.is_some() || row.is_installed() || !row.problems.is_empty();
    rows.filter(counts).collect()
}

fn inspect_agent(
    context: &Context,
    agent: &'static dyn Agent,
    wiring: &Wiring,
    records: &Records,
) -> AgentRow {
    let mut row = AgentRow {
        agent: agent.id(),
        title: agent.title(),
        found: place::presence(wiring, &context.paths.home, &context.cwd),
        version: None,
        scopes: Vec::new(),
        files: Vec::new(),
        events: Vec::new(),
        through: None,
        in_effect: false,
        problems: Vec::new(),
        notes: Vec::new(),
    };
    let files = scope::agent_files(context, agent);
    let (ours, rest): (Vec<&SettingsFile>, Vec<&SettingsFile>) =
        files.iter().partition(|one| scope::has_own_entry(one));
    let reports: Vec<(&SettingsFile, FileReport)> =
        ours.iter().map(|place| (*place, inspect_file(context, place, records))).collect();
    let covered = to_set(reports.iter().flat_map(|(_, report)| report.guarded.clone()));
    for (place, report) in &reports {
        // Of files that stand alone, none helps another.
        let alone = place::stands_alone(place);
        take_file(&mut row, place, report, if alone { &report.guarded } else { &covered });
    }
    if row.is_installed() {
        let told = expected::tell_lacking(context, &rest, &reports, records, &mut row);
        row.problems.extend(ours.iter().filter_map(|place| scope::lacking_consent(context, place)));
        tell_switches(context, agent, &reports, &mut row);
        for (place, report) in &reports {
            let alone = place::stands_alone(place);
            let together: Vec<&FileReport> = match alone {
                true => vec![report],
                false => reports.iter().map(|(_, report)| report).collect(),
            };
            let gates = gates::check_gates(agent, &together, &told);
            gates.tell(&mut row.problems, &mut row.notes);
        }
    }
    tell_unread(&rest, records, &mut row);
    of_others(context, agent, &mut row);
    let through_all = row.through.is_some() && !row.is_installed();
    row.in_effect = (row.is_installed() || through_all) && row.problems.is_empty();
    row
}

/// Takes in what one file says; `covered`: the events that are guarded where it counts.
fn take_file(
    row: &mut AgentRow,
    place: &SettingsFile,
    report: &FileReport,
    covered: &BTreeSet<String>,
) {
    if !row.scopes.contains(&place.name) {
        row.scopes.push(place.name);
    }
    row.files.push(place.file.clone());
    for event in &report.guarded {
        if !row.events.contains(event) {
            row.events.push(event.clone());
        }
    }
    let cost = if report.valid { "" } else { "the agent drops the whole file: " };
    row.problems.extend(report.error.as_ref().map(|error| format!("{cost}{error}")));
    row.notes.extend(report.other_hooks_line());
    if let Some(line) = report.off_line() {
        push_new(
            if report.off_needed.is_empty() { &mut row.notes } else { &mut row.problems },
            line,
        );
    }
    for (breaks, line) in report.outdated_lines() {
        push_new(if breaks { &mut row.problems } else { &mut row.notes }, line);
    }
    let lacking = report.missing.iter().filter(|event| !covered.contains(*event));
    let lacking: Vec<&str> = lacking.map(String::as_str).collect();
    if !lacking.is_empty() {
        let text = expected::lacking_line(place, &lacking);
        push_new(&mut row.problems, text);
    }
    let binary = report.binary.as_ref().filter(|binary| !binary.executable);
    if let Some(line) = binary.map(|binary| format!("{} cannot be run", binary.path)) {
        let spared = report.events.iter().all(|event| covered.contains(event));
        push_new(if spared { &mut row.notes } else { &mut row.problems }, line);
    }
}

/// Files that cannot be read, which the agent does not read either: where they have hookctl, or may have, for nobody can
/// tell. A broken file of somebody's that never had it is none of ours.
fn tell_unread(files: &[&SettingsFile], records: &Records, row: &mut AgentRow) {
    for place in files {
        let Err(error) = settings::read_settings(place) else { continue };
        let text = crate::files::read_text(&place.file, crate::files::LARGE);
        let ours = records.of_file(&place.file).is_some()
            || text.as_ref().map_or(!place.is_ours_to_edit(), |text| text.contains(PROGRAM));
        if ours {
            let file = place.file.display();
            let why = match error {
                Error::Refused { file, text, fault } => fault.render_for_people(&file, &text),
                other => other.to_string(),
            };
            push_new(&mut row.problems, format!("the agent drops the whole file {file}: {why}"));
        }
    }
}

/// Adds a sentence that is not there yet.
fn push_new(list: &mut Vec<String>, line: String) {
    if !list.contains(&line) {
        list.push(line);
    }
}

/// What of the agent's settings switches its hooks off: all of them, or those that it names.
fn tell_switches(
    context: &Context,
    agent: &dyn Agent,
    reports: &[(&SettingsFile, FileReport)],
    row: &mut AgentRow,
) {
    let own: Vec<Own> = reports.iter().flat_map(|(_, report)| report.own.clone()).collect();
    let managed = reports.iter().filter(|(place, _)| !place.is_ours_to_edit());
    let managed = to_set(managed.flat_map(|(_, report)| report.guarded.clone()));
    for off in scope::switches_off(context, agent, &own) {
        let named = to_set(off.events(&own));
        let lasts = |event: &String| match off.names.is_empty() {
            true => off.scope != Scope::Managed && managed.contains(event),
            false => !named.contains(event),
        };
        let gone = to_set(row.events.iter().filter(|event| !lasts(event)).cloned());
        row.events.retain(|event| !gone.contains(event));
        let breaks = gates::is_gate(agent, &gone) || row.events.is_empty();
        push_new(if breaks { &mut row.problems } else { &mut row.notes }, off.to_string());
    }
}

/// What it runs of others' entries.
fn of_others(context: &Context, agent: &'static dyn Agent, row: &mut AgentRow) {
    for (other, file) in scope::read_files(context, agent) {
        // Two agents' files may be one.
        if row.files.contains(&file.file) {
            continue;
        }
        let name = file.file.display();
        row.through = Some(other.id());
        row.notes.push(match row.is_installed() {
            true => format!("runs {}'s hooks of {name} as well: twice each", other.title()),
            false => format!("runs {}'s hooks of {name}", other.title()),
        });
    }
}

/// What an agent's program says of its version.
pub(super) fn agent_version(wiring: &Wiring) -> Option<String> {
    wiring.programs.iter().find_map(|name| program_version(name))
}

/// The first line that a program says of its version.
pub(super) fn program_version(name: &str) -> Option<String> {
    let mut command = Command::new(program::resolve_program(name)?);
    command.arg("--version");
    let answer = run_command(command, String::new()).ok()?;
    let line = answer.stdout.lines().next()?.trim().to_string();
    (answer.status == Some(0) && !line.is_empty()).then(|| one_line(&line, 60))
}

/// What is wrong with the other agents' hooks, in sentences.
pub(super) fn problems_of_others(rows: &[AgentRow]) -> impl Iterator<Item = String> {
    let others = rows.iter().filter(|row| row.agent != default_agent().id());
    others.flat_map(|row| row.problems.iter().map(|why| format!("{}: {why}", row.title)))
}

/// The file as people know it.
pub(super) fn shown_files(context: &Context, files: &[PathBuf]) -> String {
    let show = |path: &Path| crate::cli::display_path(context, path);
    match files {
        [] => String::new(),
        [one] => show(one),
        [first, ..] => format!("{} ({} files)", show(first.parent().unwrap_or(first)), files.len()),
    }
}
