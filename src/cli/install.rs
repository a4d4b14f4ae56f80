//! `hookctl install`: our entries into an agent's settings.

use std::fmt::{Display, Write as _};
use std::path::Path;

use anyhow::{Context as _, Result};

use super::args::{InstallArgs, Scope};
use super::{BOLD, Context, Exit, complain, print, scope};
use crate::env;
use crate::settings::hooks::{Change, FAIL_CLOSED};
use crate::settings::{self, Error, Mode, Outcome};

/// Does it, says what was done and what it means.
///
/// # Errors
/// Where the file cannot be edited; it is then untouched.
pub fn run(context: &Context, args: &InstallArgs) -> Result<Exit> {
    let agent = scope::agent(&args.agent)?;
    let place = scope::place(context, args.scope)?;
    let mark = env::agent_mark();
    let mut server = args.server.typed();
    if mark.is_some() && !server.is_empty() && !args.dry_run {
        return Ok(refuse(&"a server may allow calls", mark));
    }
    if server.is_empty() {
        // What is there stays: without it, events would go unasked.
        let now = settings::read(&place.file).ok().flatten();
        server = now.map(|read| read.survey.server()).unwrap_or_default();
    }
    let closed = Some(args.fail_closed);
    let wanted = scope::wanted(context, agent, args.scope, &args.events, closed, server)?;

    if !args.also {
        for other in scope::places(context).iter().filter(|other| other.scope != place.scope) {
            // A broken other file cannot speak for itself: `status` reports it.
            let Ok(Some(read)) = settings::read(&other.file) else { continue };
            if read.survey.own.iter().any(|own| own.seen) {
                complain(&format!(
                    "refused: {} ({} settings) already has it, every event would be judged twice.\n\
                     Take it out there (`hookctl uninstall --scope {}`), or say --also.",
                    other.file.display(),
                    other.name(),
                    other.name(),
                ));
                return Ok(Exit::Found);
            }
        }
    }

    let mode = Mode { dry_run: args.dry_run, may_loosen: mark.is_none() || args.dry_run };
    let name = scope::name(args.scope);
    let outcome = match settings::install(&context.paths, &place.file, name, &wanted, mode) {
        Err(error @ Error::Loosens(_)) => return Ok(refuse(&error, mark)),
        other => other?,
    };
    if args.dry_run {
        return print(&diff(&outcome));
    }

    let mut text = String::new();
    let done = if outcome.changed() { "Installed" } else { "Already installed" };
    let file = place.file.display();
    let head = format!("{done} for {} ({name} settings): {file}", agent.title());
    let _ = writeln!(text, "{}", context.paint(BOLD, &head));
    if outcome.target.real != outcome.target.named {
        let _ = writeln!(text, "  behind   {}", outcome.target.real.display());
    }
    let _ = writeln!(text, "  runs     {} hook", wanted.command);
    let events: Vec<&str> = wanted.events.iter().map(|(kind, _)| kind.name()).collect();
    let _ = writeln!(text, "  events   {}", fold(&events, 80, "           "));
    if args.fail_closed {
        let closed = wanted.events.iter().map(|(kind, _)| *kind);
        let closed = closed.filter(|kind| FAIL_CLOSED.contains(kind)).map(|kind| kind.name());
        let closed = closed.collect::<Vec<_>>().join(" ");
        let _ = writeln!(text, "  failing  blocks on {closed}");
        text.push_str("           (Claude Code 2.1.197 and older ignore this and go on)\n");
    }
    for change in outcome.changes.iter().filter(|change| change.loosens()) {
        let _ = writeln!(text, "  changed  {}", settings::describe(change));
    }
    if outcome.changed() {
        text.push_str(
            "Running sessions usually notice; new sessions pick it up for certain.\n\
             Look: `hookctl status --verify`. Undo: `hookctl uninstall`.\n",
        );
    }
    print(&text)?;
    warn(context, args, &wanted.command, &place.file)?;
    Ok(Exit::Ok)
}

/// Says on stderr what may keep the guard from working.
fn warn(context: &Context, args: &InstallArgs, command: &str, file: &Path) -> Result<()> {
    let read = settings::read(file)?.context("the file is gone again")?;
    for invalid in read.survey.invalid {
        let cost = match invalid.fatal {
            true => "the agent drops this WHOLE file over an entry of somebody else",
            false => "the agent drops this entry of somebody else",
        };
        complain(&format!("warning: {cost}:\n{}", invalid.fault.show(file, &read.text)));
    }
    if read.survey.disabled {
        complain("warning: `disableAllHooks` in this file keeps every hook from running");
    }
    if args.scope == Scope::Project {
        if scope::resolve(command).is_none() {
            complain("warning: `hookctl` is not in PATH, where the project's entries look for it");
        }
        if context.global.config.is_some() || context.global.state.is_some() {
            complain("note: a project's entries carry no --config and --state: each user's own");
        }
    } else if is_passing(Path::new(command)) {
        complain(&format!(
            "warning: {command} lies where builds or cleanups remove it: every call would then \
             pass unjudged. Install the program first (./install.sh)."
        ));
    }
    let guards = super::status::guards(context);
    for guard in guards.iter().filter(|guard| guard.known.is_some()) {
        complain(&format!(
            "note: another guard also answers {} ({}): {}",
            guard.event, guard.scope, guard.command
        ));
    }
    Ok(())
}

/// Is it in a build or temporary directory?
fn is_passing(program: &Path) -> bool {
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    temporary.iter().any(|dir| program.starts_with(dir))
        || program.components().any(|part| part.as_os_str() == "target")
}

/// The refusal of an edit that loosens, to an agent.
pub(super) fn refuse(error: &dyn Display, mark: Option<&str>) -> Exit {
    complain(&format!(
        "refused: this would change or take away what guards: {error}.\n\
         Loosening is for humans, and {} says that an agent started this. Run it in a terminal of \
         your own.",
        mark.unwrap_or("the environment")
    ));
    Exit::Found
}

/// The edit as a unified diff; one line where there is nothing to do.
pub(super) fn diff(outcome: &Outcome) -> String {
    let name = outcome.target.named.display().to_string();
    if !outcome.changed() {
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
pub(super) fn removed(outcome: &Outcome) -> usize {
    outcome.changes.iter().filter(|change| matches!(change, Change::Removed(_))).count()
}

/// Words in lines of that width.
pub(super) fn fold(words: &[&str], width: usize, indent: &str) -> String {
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
