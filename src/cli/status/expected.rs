//! The files that should have entries of ours and have none.

use super::agents::AgentRow;
use super::file::{Asked, FileReport};
use crate::cli::Context;
use crate::rule::file::server::Typed;
use crate::settings;
use crate::settings::place::{self, SettingsFile};
use crate::settings::record::Records;

/// Says which of the files that have nothing of ours should have something. A script of its own for each event is
/// wanted where others of its scope are ours; a file that stands alone is wanted wherever the agent is installed. The
/// events of such scripts.
pub(super) fn tell_lacking(
    context: &Context,
    rest: &[&SettingsFile],
    ours: &[(&SettingsFile, FileReport)],
    records: &Records,
    row: &mut AgentRow,
) -> Vec<String> {
    let mut scripts: Vec<&str> = Vec::new();
    for place in rest.iter().filter(|place| place.is_ours_to_edit()) {
        let alone = place::stands_alone(place);
        let fellow = ours.iter().map(|(fellow, _)| fellow);
        let fellow = fellow
            .clone()
            .find(|fellow| fellow.name == place.name)
            .or_else(|| fellow.clone().next().filter(|_| alone));
        let Some(fellow) = fellow.filter(|_| alone || place.event.is_some()) else { continue };
        if alone && !is_readable(place) {
            row.notes.push(format!("{} cannot be read", place.file.display()));
            continue;
        }
        let asked = Asked::of(records.of_file(&fellow.file));
        let Some(wanted) = asked.wanted_in(context, place, &Typed::new()) else { continue };
        let names = wanted.events.iter().map(|event| event.name);
        let lacking: Vec<&str> =
            names.filter(|name| place.event.is_none_or(|only| only == *name)).collect();
        match (alone, lacking.is_empty()) {
            (_, true) => {}
            (true, _) => row.problems.push(lacking_line(place, &lacking)),
            (false, _) => scripts.extend(lacking),
        }
    }
    if !scripts.is_empty() {
        row.problems.push(format!("no entry for {}", scripts.join(", ")));
    }
    scripts.into_iter().map(String::from).collect()
}

/// Can the agent read it? What it cannot read, it does not run.
fn is_readable(place: &SettingsFile) -> bool {
    settings::read_settings(place).is_ok_and(|read| read.is_some())
}

/// That events have no entry in a file.
pub(super) fn lacking_line(place: &SettingsFile, events: &[&str]) -> String {
    let file = match place::stands_alone(place) {
        true => format!(" in {}", place.file.display()),
        false => String::new(),
    };
    format!("no entry for {}{file}", events.join(", "))
}
