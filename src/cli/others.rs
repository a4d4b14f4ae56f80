//! What `install --replace` took out: with which state directory, and for which server.

use std::path::PathBuf;

use super::Context;
use super::scope;
use crate::config::Config;
use crate::paths::Paths;
use crate::settings;
use crate::settings::beside::serving_remote;
use crate::settings::file::SettingsTarget;
use crate::settings::others::known_programs;
use crate::settings::place::SettingsFile;
use crate::settings::program::Roots;
use crate::settings::record::Records;

/// The refusal to edit a file whose entries were written with another state directory, which alone knows
/// what to bring back.
pub(super) fn noted_elsewhere(context: &Context, place: &SettingsFile) -> Option<String> {
    let survey = settings::read_settings(place).ok().flatten()?.survey;
    let key = SettingsTarget::follow_links(&place.file).ok()?.record_key();
    let knows = |dir: &&str| {
        let paths = Paths { state: PathBuf::from(dir), ..context.paths.clone() };
        let has = |records: &Records| records.files.get(&key).is_some_and(|r| !r.taken.is_empty());
        paths.state != context.paths.state && has(&Records::load(&paths))
    };
    let dir = survey.own.iter().filter_map(|own| own.option_value("--state")).find(knows)?;
    Some(format!(
        "{} was installed with `--state {dir}`, which knows what `install --replace` took out: say \
         that again. The file was left as it is.",
        place.file.display()
    ))
}

/// What was taken out here for a server that the config no longer names: nobody does it now.
pub(super) fn unserved_programs(
    context: &Context,
    config: &Config,
    records: &Records,
) -> Vec<String> {
    let mut notes = Vec::new();
    for place in scope::all_scope_files(context) {
        let Ok(target) = SettingsTarget::follow_links(&place.file) else { continue };
        let Some(record) = records.files.get(&target.record_key()) else { continue };
        let roots = Roots::for_settings(&context.paths.home, &place.file);
        for program in known_programs().filter(|program| serving_remote(config, program).is_none())
        {
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
