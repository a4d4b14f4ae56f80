//! What `install --replace` took out: with which state directory, and for which server.

use std::path::PathBuf;

use super::Context;
use super::scope;
use crate::config::Config;
use crate::paths::Paths;
use crate::settings;
use crate::settings::beside::{Place, server};
use crate::settings::file::Target;
use crate::settings::others::known;
use crate::settings::program::Roots;
use crate::settings::record::Records;

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
        let roots = Roots::of(&context.paths.home, &place.file);
        for program in known().filter(|program| server(config, program).is_none()) {
            let mut taken = record.taken.iter().filter(|taken| taken.program == program.name);
            if taken.any(|taken| !taken.is_gone(&roots)) {
                let name = program.name;
                notes.push(format!(
                    "{} settings: {name} was taken out for a server that the config does not name: \
                     `hookctl uninstall` brings {name} back",
                    place.name
                ));
            }
        }
    }
    notes
}
