//! `hookctl install`: our entries into an agent's settings.

use std::collections::BTreeMap;
use std::fmt::{Display, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::args::{InstallArgs, SettingsScope};
use super::others;
use super::{BOLD, Context, Exit, human, make_visible, print, print_stderr, scope};
use crate::config::Config;
use crate::settings::beside::{self, InstalledProgram, SettingsFile, install_command as again};
use crate::settings::hooks::{Change, FAIL_CLOSED};
use crate::settings::others::{Program, claiming_program};
use crate::settings::program;
use crate::settings::{self, EditMode, EditOutcome, Error};

/// Does it, says what was done and what it means.
///
/// # Errors
/// Where the file cannot be edited; it is then untouched.
pub fn run(context: &Context, args: &InstallArgs) -> Result<Exit> {
    let agent = scope::find_agent(context, &args.agent)?;
    let place = scope::scope_file(context, args.scope)?;
    let mark = human::detect_agent();
    let mark = mark.as_deref();
    let mut server = args.server.typed_settings();
    if mark.is_some() && !server.is_empty() && !args.dry_run {
        return Ok(refuse_loosening(&"a server may allow calls", mark));
    }
    if mark.is_some() && context.global.config.is_some() && !args.dry_run {
        return Ok(refuse_loosening(&"another --config may allow calls", mark));
    }
    if mark.is_some() && args.replace && !args.dry_run {
        return Ok(refuse_loosening(&"--replace takes out what may ask a human", mark));
    }
    if let Some(why) = context.paths.check_config_directory(context.global.config.as_deref()) {
        bail!("{why}; `hookctl init --config DIR` makes it");
    }
    if server.is_empty() {
        // What is there stays: without it, events would go unasked.
        let now = settings::read_settings(&place.file).ok().flatten();
        server = now.map(|read| read.survey.typed_server()).unwrap_or_default();
    }
    let closed = Some(args.fail_closed);
    let wanted = scope::wanted_entries(context, agent, &place, &args.events, closed, server)?;
    if let Some(other) = claiming_program(&wanted.command) {
        bail!(
            "{} lies where {} puts its own, which takes every entry that runs something there along \
             when it goes: move hookctl",
            wanted.command,
            other.name
        );
    }

    if !args.also {
        for other in scope::all_scope_files(context).iter().filter(|other| other.name != place.name)
        {
            // A broken other file cannot speak for itself: `status` reports it.
            let Ok(Some(read)) = settings::read_settings(&other.file) else { continue };
            if read.survey.own.iter().any(|own| own.seen) {
                print_stderr(&format!(
                    "refused: {} ({} settings) already has it, every event would be judged twice.\n\
                     Take it out there (`hookctl uninstall --scope {}`), or say --also.",
                    other.file.display(),
                    other.name,
                    other.name,
                ));
                return Ok(Exit::Found);
            }
        }
    }

    let name = place.name;
    let config = Config::load(&context.paths, &context.root, None);
    let found = beside::find_programs(&scope::all_scope_files(context), &config);
    let mut refused = false;
    for other in found.iter().filter(|one| !args.replace || !one.place.is_ours_to_edit()) {
        if let Some(warning) = other.conflict_warning(&again(name)) {
            print_stderr(&format!("refused: {warning}"));
            refused = true;
        }
    }
    if refused {
        return Ok(Exit::Found);
    }

    if let Some(why) = others::noted_elsewhere(context, &place) {
        bail!("{why}");
    }
    let mode = EditMode { dry_run: args.dry_run, may_loosen: mark.is_none() || args.dry_run };
    let take = if args.replace { beside::served_programs(&config) } else { Vec::new() };
    let (paths, file) = (&context.paths, &place.file);
    if !args.dry_run && mark.is_none() {
        let dry = EditMode { dry_run: true, may_loosen: true };
        let planned = settings::replace_entries(paths, file, name, Some(&wanted), &take, dry)?;
        let elsewhere = replace_elsewhere(context, &place, &found, &take, dry)?;
        if !confirm_losses(context, args, std::iter::once(&planned).chain(&elsewhere))? {
            return Ok(Exit::Found);
        }
    }
    let outcome = match settings::replace_entries(paths, file, name, Some(&wanted), &take, mode) {
        Err(error @ Error::Loosens(_)) => return Ok(refuse_loosening(&error, mark)),
        other => other?,
    };
    let elsewhere = replace_elsewhere(context, &place, &found, &take, mode)?;
    if args.dry_run {
        let diffs: Vec<String> =
            std::iter::once(&outcome).chain(&elsewhere).map(unified_diff).collect();
        return print(&diffs.concat());
    }

    let mut text = String::new();
    let done = if outcome.has_changed() { "Installed" } else { "Already installed" };
    let file = place.file.display();
    let head = format!("{done} for {} ({name} settings): {file}", agent.title());
    let _ = writeln!(text, "{}", context.paint(BOLD, &head));
    if outcome.target.real != outcome.target.named {
        let _ = writeln!(text, "  behind   {}", outcome.target.real.display());
    }
    let _ = writeln!(text, "  runs     {} hook", wanted.command);
    let events: Vec<&str> = wanted.events.iter().map(|(kind, _)| kind.name()).collect();
    let _ = writeln!(text, "  events   {}", fold_words(&events, 80, "           "));
    if args.fail_closed {
        let closed = wanted.events.iter().map(|(kind, _)| *kind);
        let closed = closed.filter(|kind| FAIL_CLOSED.contains(kind)).map(|kind| kind.name());
        let closed = closed.collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "  failing  blocks on {closed}");
        text.push_str("           (Claude Code 2.1.197 and older ignore this and go on)\n");
    }
    let is_other = |change: &&Change| matches!(change, Change::TakenOut { .. });
    let changes = outcome.changes.iter().filter(|change| change.loosens() && !is_other(change));
    for change in changes {
        let _ = writeln!(text, "  changed  {}", settings::describe_change(change));
    }
    let mut replaced = false;
    for one in std::iter::once(&outcome).chain(&elsewhere) {
        for (program, events) in by_program(one) {
            let file = one.target.named.display();
            let events = make_visible(&events.join(", "));
            let _ = writeln!(text, "  replaces {program} in {file}: {events}");
            replaced = true;
        }
    }
    if outcome.has_changed() || replaced {
        let back = if replaced { ", which brings back what was replaced" } else { "" };
        let _ = writeln!(
            text,
            "Running sessions usually notice; new sessions pick it up for certain.\n\
             Look: `hookctl status --verify`. Undo: `hookctl uninstall`{back}.",
        );
    }
    print(&text)?;
    print_warnings(context, args, &wanted.command, &place.file)?;
    for other in found.iter().filter(|one| one.conflict().is_none()) {
        print_stderr(&format!(
            "note: {}",
            other.presence_note(&context.paths.user_config(), &again(name))
        ));
    }
    Ok(Exit::Ok)
}

/// Does whoever is there agree to what the edits drop?
fn confirm_losses<'o>(
    context: &Context,
    args: &InstallArgs,
    outcomes: impl Iterator<Item = &'o EditOutcome>,
) -> Result<bool> {
    let dropped: Vec<String> = outcomes
        .flat_map(|outcome| outcome.changes.iter().map(move |change| (outcome, change)))
        .filter(|(_, change)| change.loosens())
        .map(|(outcome, change)| {
            format!("{}: {}", outcome.target.named.display(), settings::describe_change(change))
        })
        .collect();
    if dropped.is_empty() {
        return Ok(true);
    }
    let replace = if args.replace { " --replace" } else { "" };
    let lost = format!("This changes or takes away what guards:\n{}", dropped.join("\n"));
    human::confirms_if_attended(context, &lost, &format!("install{replace}"))
}

/// Says on stderr what may keep the guard from working.
fn print_warnings(context: &Context, args: &InstallArgs, command: &str, file: &Path) -> Result<()> {
    let Some(read) = settings::read_settings(file)? else {
        print_stderr(&format!(
            "warning: {} is gone again: somebody else took it away",
            file.display()
        ));
        return Ok(());
    };
    for invalid in read.survey.invalid {
        let cost = match invalid.fatal {
            true => "the agent drops this WHOLE file over an entry of somebody else",
            false => "the agent drops this entry of somebody else",
        };
        print_stderr(&format!(
            "warning: {cost}:\n{}",
            invalid.fault.render_for_people(file, &read.text)
        ));
    }
    if read.survey.disabled {
        print_stderr("warning: `disableAllHooks` in this file keeps every hook from running");
    }
    if args.scope == SettingsScope::Project {
        if program::resolve_program(command).is_none() {
            print_stderr(
                "warning: `hookctl` is not in PATH, where the project's entries look for it",
            );
        }
        if context.global.config.is_some() || context.global.state.is_some() {
            print_stderr(
                "note: a project's entries carry no --config and --state: each user's own",
            );
        }
    } else if is_passing(Path::new(command)) {
        print_stderr(&format!(
            "warning: {command} lies where builds or cleanups remove it: every call would then \
             pass unjudged. Install the program first (./install.sh)."
        ));
    }
    Ok(())
}

/// Takes the entries of these programs out of the other files that the agent reads here.
fn replace_elsewhere(
    context: &Context,
    place: &SettingsFile,
    found: &[InstalledProgram],
    take: &[&Program],
    mode: EditMode,
) -> Result<Vec<EditOutcome>> {
    let mut files: Vec<&SettingsFile> = found.iter().map(|one| &one.place).collect();
    files.retain(|other| other.is_ours_to_edit() && other.file != place.file && !take.is_empty());
    files.dedup_by(|a, b| a.file == b.file);
    let edit = |other: &&SettingsFile| {
        settings::replace_entries(&context.paths, &other.file, other.name, None, take, mode)
            .with_context(|| {
                format!("{} keeps the entries of other programs", other.file.display())
            })
    };
    files.iter().map(edit).collect()
}

/// The events of other programs that were taken out or put back, by program.
pub(super) fn by_program(outcome: &EditOutcome) -> BTreeMap<&str, Vec<&str>> {
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for change in &outcome.changes {
        if let Change::TakenOut { event, program } | Change::PutBack { event, program } = change {
            let events = all.entry(program).or_default();
            if !events.contains(&event.as_str()) {
                events.push(event);
            }
        }
    }
    all
}

/// The entries of other programs that stay out, in words.
pub(super) fn left_out(outcome: &EditOutcome) -> Vec<String> {
    let left = |change: &Change| match change {
        Change::LeftOut { event, program, command } => {
            let text = format!("not brought back {program}: {event}: {command}, which is gone");
            Some(make_visible(&text))
        }
        _ => None,
    };
    outcome.changes.iter().filter_map(left).collect()
}

/// Is it in a build or temporary directory?
fn is_passing(program: &Path) -> bool {
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    temporary.iter().any(|dir| program.starts_with(dir))
        || program.components().any(|part| part.as_os_str() == "target")
}

/// The refusal of an edit that loosens, to an agent.
pub(super) fn refuse_loosening(error: &dyn Display, mark: Option<&str>) -> Exit {
    print_stderr(&format!(
        "refused: this would change or take away what guards: {error}.\n\
         Loosening is for humans, and {} says that an agent started this. Run it in a terminal of \
         your own.",
        mark.unwrap_or("the environment")
    ));
    Exit::Found
}

/// The edit as a unified diff; one line where there is nothing to do.
pub(super) fn unified_diff(outcome: &EditOutcome) -> String {
    let name = outcome.target.named.display().to_string();
    if !outcome.has_changed() {
        return format!("{name}: nothing to do\n");
    }
    let side = |text: &Option<String>| match text {
        Some(_) => name.clone(),
        None => "/dev/null".to_string(),
    };
    let before = outcome.before.as_deref().unwrap_or_default();
    let after = outcome.after.as_deref().unwrap_or_default();
    diffy::DiffOptions::new()
        .set_original_filename(side(&outcome.before))
        .set_modified_filename(side(&outcome.after))
        .create_patch(before, after)
        .to_string()
}

/// Were entries of ours taken out?
pub(super) fn count_removed(outcome: &EditOutcome) -> usize {
    outcome.changes.iter().filter(|change| matches!(change, Change::Removed(_))).count()
}

/// Words in lines of that width.
pub(super) fn fold_words(words: &[&str], width: usize, indent: &str) -> String {
    let mut text = String::new();
    let mut column = 0;
    for word in words {
        if column > 0 && column + word.len() > width {
            text.push('\n');
            text.push_str(indent);
            column = 0;
        } else if column > 0 {
            text.push(' ');
        }
        text.push_str(word);
        column += word.len() + 1;
    }
    text
}
