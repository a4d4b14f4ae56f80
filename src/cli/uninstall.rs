//! `hookctl uninstall`: our entries out of an agent's settings, with `--purge` our own state too.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::args::UninstallArgs;
use super::install::{
    by_program, count_removed, edit_as_json, left_out, loosening_refusal, unified_diff,
};
use super::managed::Managed;
use super::others::noted_elsewhere;
use super::report::{Level, Report};
use super::{Context, Exit, human, make_visible, scope};
use crate::agent::{self, Agent};
use crate::files;
use crate::glob;
use crate::names::state::OWN_STATE;
use crate::settings::beside::uninstall_command;
use crate::settings::consent;
use crate::settings::file::SettingsTarget;
use crate::settings::hooks::Going;
use crate::settings::place::{SettingsFile, recorded_file};
use crate::settings::program::Roots;
use crate::settings::record::Records;
use crate::settings::{self, EditMode, Error};

/// Does it and says what was done.
///
/// # Errors
/// Where a file cannot be edited; it is then untouched.
pub(super) fn run(context: &Context, args: &UninstallArgs, report: &mut Report) -> Result<Exit> {
    if args.managed {
        let (agents, root) = (&args.agent[..], args.root.as_deref());
        let managed = Managed { agents, root, dry_run: args.dry_run, fail_closed: false };
        return managed.uninstall(context, report);
    }
    report.set("files", json!([]));
    report.set("purged", json!([]));
    let agents = chosen_agents(context, args)?;
    let mark = human::detect_agent();
    let mode = EditMode { dry_run: args.dry_run, may_loosen: mark.is_none() || args.dry_run };
    if args.purge && !mode.may_loosen {
        let what = "--purge takes journal, backups and trust";
        return Ok(report.refuse(loosening_refusal(&what, mark.as_deref())));
    }
    let mut places: Vec<SettingsFile> = Vec::new();
    for agent in agents {
        let all = scope::agent_files(context, agent);
        let scope = match args.scope {
            Some(scope) => Some(scope::existing_scope(context, agent, scope)?),
            None => None,
        };
        let asked = |one: &SettingsFile| scope.is_none_or(|scope| one.name == scope);
        let mut found: Vec<SettingsFile> =
            all.into_iter().filter(|one| one.is_ours_to_edit() && asked(one)).collect();
        // Two agents may read one file.
        found.retain(|one| places.iter().all(|other| other.file != one.file));
        places.extend(found);
    }
    if args.agent.is_empty() && args.scope.is_none() {
        places.extend(super::bridge::own_files(context));
    }
    if !args.dry_run && !confirm_losses(context, args, &places)? {
        return Ok(report.refuse_silently(human::DECLINED));
    }
    let mut text = String::new();
    let (mut failed, mut found) = (false, false);
    let mut spared_any = false;
    for place in &places {
        if let Some(why) = noted_elsewhere(context, place) {
            report.say(Level::Error, why);
            failed = true;
            continue;
        }
        match take_out(context, args, place, mode, &mut text) {
            Ok(done) => {
                let stays = describe_spared(context, args, place);
                spared_any |= stays.is_some();
                if let Some(stays) = stays {
                    report.say(Level::Note, stays);
                }
                if done.is_some() && !args.dry_run {
                    for warning in describe_unguarded(context, args, place) {
                        report.say(Level::Warning, warning);
                    }
                }
                found |= done.is_some();
                if let Some(done) = done {
                    report.push("files", done);
                }
                if let Err(error) = withdraw_consent(context, place, mode) {
                    report.say(Level::Error, error.to_string());
                    failed = true;
                }
            }
            Err(error @ Error::Loosens(_)) => {
                return Ok(report.refuse(loosening_refusal(&error, mark.as_deref())));
            }
            // Other people's file, which has nothing of ours, is no failure.
            Err(error) if args.agent.is_empty() && is_foreign(context, place) => {
                report.say(
                    Level::Warning,
                    format!("{error}\nNothing in it names hookctl: it was left alone."),
                );
            }
            // One broken file must not keep the guard in the others.
            Err(error) => {
                report.say(Level::Error, error.to_string());
                failed = true;
            }
        }
    }
    if !found && !failed && !spared_any {
        let mut files: Vec<String> = places.iter().map(described_place).collect();
        files.dedup();
        let _ = writeln!(text, "Nothing of hookctl in {}", files.join(", "));
    }
    let without = elsewhere(context, &places, &mut text);
    report.tell(&text)?;
    if failed {
        return Ok(Exit::Failed);
    }
    if args.purge && !without.is_empty() {
        bail!(
            "nothing is purged: `install --replace` took entries of other programs out of {}; \
             run `hookctl uninstall` there first, which needs the state to bring them back",
            without.join(", ")
        );
    }
    if args.purge {
        purge(context, args.dry_run, report)?;
    }
    Ok(Exit::Ok)
}

/// Does nothing in that file speak of hookctl, and no install that is on record?
fn is_foreign(context: &Context, place: &SettingsFile) -> bool {
    let text = files::read_text(&place.file, files::LARGE);
    !is_noted(&Records::load(&context.paths), place)
        && text.is_ok_and(|text| !text.contains("hookctl"))
}

/// Is an install into that file on record?
fn is_noted(records: &Records, place: &SettingsFile) -> bool {
    let target = SettingsTarget::follow_links(&place.file);
    target.is_ok_and(|target| records.files.contains_key(&target.record_key()))
}

/// Takes back the approval that `install --trust` noted.
fn withdraw_consent(context: &Context, place: &SettingsFile, mode: EditMode) -> Result<(), Error> {
    match consent::consent_file(place, &context.paths.home, &context.cwd) {
        Some(file) => consent::withdraw(&context.paths, &file, mode).map(drop),
        None => Ok(()),
    }
}

/// The agents that are asked for: those that are named, or all that have anything of ours, the default one
/// first, where people look for it.
fn chosen_agents(context: &Context, args: &UninstallArgs) -> Result<Vec<&'static dyn Agent>> {
    if !args.agent.is_empty() {
        return args.agent.iter().map(|id| scope::find_agent(id)).collect();
    }
    let records = Records::load(&context.paths);
    let ours = |one: &SettingsFile| {
        let read = settings::read_settings(one).ok().flatten();
        is_noted(&records, one) || read.is_some_and(|read| read.survey.is_ours())
    };
    let has = |agent: &&'static dyn Agent| {
        agent.id() == agent::default_agent().id()
            || scope::agent_files(context, *agent).iter().any(ours)
    };
    Ok(scope::wired_agents().map(|(agent, _)| agent).filter(has).collect())
}

/// The agents whose entries stay where that file is theirs as well: only those of agents that are named go.
fn spared_agents(
    context: &Context,
    args: &UninstallArgs,
    place: &SettingsFile,
) -> Vec<&'static str> {
    if args.agent.is_empty() {
        return Vec::new();
    }
    let sharing = scope::sharing_agents(context, place).map(|agent| agent.id());
    sharing.filter(|id| !is_named(args, id)).collect()
}

fn is_named(args: &UninstallArgs, id: &str) -> bool {
    args.agent.iter().any(|named| named.trim() == id)
}

/// Whose entries stay in the file, and whom they guard.
fn describe_spared(
    context: &Context,
    args: &UninstallArgs,
    place: &SettingsFile,
) -> Option<String> {
    let spared = spared_agents(context, args, place);
    let owners = scope::sharing_owners(context, place).into_iter();
    let owner = owners.clone().find(|owner| spared.contains(&owner.id()))?;
    let title = agent::by_id(place.agent).map_or(place.agent, |agent| agent.title());
    Some(format!(
        "The entries in {} are those of {}: they stay (`hookctl uninstall --agent {}` takes them out).\n\
         {title} reads them as well: its calls are judged by them.",
        place.file.display(),
        owner.title(),
        owner.id(),
    ))
}

/// Whom else the entries that went were for, where nothing guards it now.
fn describe_unguarded(
    context: &Context,
    args: &UninstallArgs,
    place: &SettingsFile,
) -> Vec<String> {
    if args.agent.is_empty() {
        return Vec::new();
    }
    let present = scope::present_agents(context);
    let is_present = |agent: &dyn Agent| present.iter().any(|(one, _)| one.id() == agent.id());
    let read_it = |agent: &&'static dyn Agent| {
        let reads = agent.wiring().map(|wiring| wiring.reads).unwrap_or_default();
        let reads = reads.iter().any(|reads| {
            reads.agent == place.agent && reads.scopes.iter().any(|one| one.name() == place.name)
        });
        let shares = scope::sharing_agents(context, place).any(|one| one.id() == agent.id());
        shares || reads && is_present(*agent)
    };
    let bare = |agent: &&'static dyn Agent| {
        scope::serving_agents(context, *agent).is_empty()
            && !scope::agent_files(context, *agent).iter().any(scope::has_ours)
    };
    let others = scope::wired_agents().map(|(agent, _)| agent);
    let others = others.filter(|agent| !is_named(args, agent.id())).filter(read_it).filter(bare);
    let line = |agent: &'static dyn Agent| {
        format!(
            "{} read these entries as well, and nothing guards it now: `hookctl install --agent {}` does",
            agent.title(),
            agent.id()
        )
    };
    others.map(line).collect()
}

/// A file, or the directory of those that stand for one event each.
fn described_place(place: &SettingsFile) -> String {
    let dir = place.event.and(place.file.parent());
    dir.unwrap_or(&place.file).display().to_string()
}

/// Takes our entries out of one file and tells it, for people and for programs; none = nothing was there.
fn take_out(
    context: &Context,
    args: &UninstallArgs,
    place: &SettingsFile,
    mode: EditMode,
    text: &mut String,
) -> Result<Option<Value>, Error> {
    let read = settings::read_settings(place).ok().flatten();
    let bridges = read.map_or(0, |read| read.survey.bridge.len());
    let spared = spared_agents(context, args, place);
    let going = Going { spared: &spared, ..Going::default() };
    let outcome = settings::uninstall_going(&context.paths, place, going, mode)?;
    if outcome.changes.is_empty() {
        return Ok(None);
    }
    let mut done = edit_as_json(&outcome, args.dry_run);
    done["agent"] = place.agent.into();
    done["scope"] = place.name.into();
    done["removed"] = count_removed(&outcome).into();
    if args.dry_run {
        text.push_str(&unified_diff(&outcome));
        return Ok(Some(done));
    }
    let bridge = match bridges {
        0 => String::new(),
        _ => format!(", {bridges} of them for the event bridge"),
    };
    let now = match outcome.after {
        Some(_) => "",
        None => ", the file is gone (install had made it)",
    };
    let (file, name) = (place.file.display(), place.name);
    let _ = match count_removed(&outcome) {
        _ if place.form.entries().is_none() => writeln!(text, "Removed {file} ({name} settings)"),
        0 => writeln!(text, "Put right: {file} ({name} settings)"),
        n => writeln!(text, "Taken out of {file} ({name} settings): {n} entries{bridge}{now}"),
    };
    for (program, events) in by_program(&outcome) {
        let events = make_visible(&events.join(", "));
        let _ = writeln!(text, "  brought back {program}: {events}");
    }
    for line in left_out(&outcome) {
        let _ = writeln!(text, "  {line}");
    }
    if outcome.unrecorded {
        let _ = writeln!(
            text,
            "  the note of this install is lost: what `install --replace` took out, if it did, \
             is in {}",
            context.paths.backups().display()
        );
    }
    Ok(Some(done))
}

/// Tells of the other files that install wrote; those where entries of other programs still lack.
fn elsewhere(context: &Context, places: &[SettingsFile], text: &mut String) -> Vec<String> {
    let here = |file: &String| {
        places.iter().any(|place| {
            SettingsTarget::follow_links(&place.file)
                .is_ok_and(|target| target.record_key() == *file)
        })
    };
    let mut without: Vec<String> = Vec::new();
    let records = Records::load(&context.paths).files;
    for (file, record) in records.into_iter().filter(|(file, _)| !here(file)) {
        // One that cannot be read may be.
        let place = recorded_file(Path::new(&file), &record.agent, &record.scope);
        if place.is_some_and(|place| is_ours(&place)) {
            let _ = writeln!(text, "Still installed in {file}");
        }
        let roots = Roots::for_settings(&context.paths.home, Path::new(&file));
        let waits = record.taken.iter().filter(|one| !one.is_gone(&roots));
        let mut names: Vec<&str> = waits.map(|one| one.program.as_str()).collect();
        names.dedup();
        if !names.is_empty() && Path::new(&file).exists() {
            let names = make_visible(&names.join(", "));
            let command = uninstall_command(&record.scope);
            let command = make_visible(&command);
            let _ =
                writeln!(text, "Still without {names}: {file}; `{command}` there brings that back");
            without.push(file);
        }
    }
    without
}

/// Is anything of ours in the file, as far as can be told?
fn is_ours(place: &SettingsFile) -> bool {
    settings::read_settings(place)
        .map_or(true, |read| read.is_some_and(|read| read.survey.is_ours()))
}

/// Does anything of ours go from the file, as far as can be told?
fn loses(context: &Context, args: &UninstallArgs, place: &SettingsFile) -> bool {
    let spared = spared_agents(context, args, place);
    let going = Going { spared: &spared, ..Going::default() };
    match settings::read_settings(place) {
        Ok(None) => false,
        Ok(Some(read)) => {
            let mut all = read.survey.own.iter().chain(&read.survey.bridge);
            all.any(|own| going.takes(own))
        }
        Err(_) => true,
    }
}

/// Does whoever is there agree to lose that?
fn confirm_losses(
    context: &Context,
    args: &UninstallArgs,
    places: &[SettingsFile],
) -> Result<bool> {
    let mut lost: Vec<String> = places
        .iter()
        .filter(|place| loses(context, args, place))
        .map(|place| format!("No call is judged any more by way of {}.", described_place(place)))
        .collect();
    lost.dedup();
    if args.purge {
        let state = context.paths.state.display();
        lost.push(format!("The journal, the backups and what is trusted go: {state}."));
    }
    if lost.is_empty() {
        return Ok(true);
    }
    let purge = if args.purge { " --purge" } else { "" };
    human::confirms_if_attended(context, &lost.join("\n"), &format!("uninstall{purge}"))
}

/// Removes what is ours in the state directory, and the directory where nothing else is in it.
fn purge(context: &Context, dry_run: bool, report: &mut Report) -> Result<()> {
    let dir = &context.paths.state;
    let entries = match fs::read_dir(dir) {
        Ok(entries) => entries,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error).with_context(|| format!("cannot read {}", dir.display())),
    };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    crate::order::sort(&mut names);
    let mut text = String::new();
    let mut left = Vec::new();
    let done = if dry_run { "Would remove" } else { "Removing" };
    for name in names {
        let path = dir.join(&name);
        let name = name.to_string_lossy();
        if !OWN_STATE.iter().any(|own| glob::matches(own, &name)) {
            left.push(name.into_owned());
            continue;
        }
        let _ = writeln!(text, "{done} {}", path.display());
        report.push("purged", path.display().to_string().into());
        if dry_run {
            continue;
        }
        let is_dir = path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        let removed = if is_dir { fs::remove_dir_all(&path) } else { fs::remove_file(&path) };
        removed.with_context(|| format!("cannot remove {}", path.display()))?;
    }
    if left.is_empty() && !dry_run {
        fs::remove_dir(dir).with_context(|| format!("cannot remove {}", dir.display()))?;
    } else if !left.is_empty() {
        let _ = writeln!(text, "Left in {}: {} (not hookctl's)", dir.display(), left.join(", "));
    }
    let _ = writeln!(text, "Your rules stay in {}", context.paths.config.display());
    report.tell(&text)
}
