//! `hookctl migrate`: the hooks of Claude Code's settings into another agent's.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, bail};

use super::args::{MigrateArgs, SettingsScope};
use super::install::{edit_as_json, unified_diff};
use super::report::Report;
use super::{Context, Exit, make_visible, scope};
use crate::settings::migrate::{append_groups, convert_settings};
use crate::settings::{self, EditMode};

/// The only way that there is.
const FROM: &str = "claude";
/// Cline's hooks of that shape, by the name that people have for it.
const TO: &[(&str, &str)] = &[("cline", "cline-fork"), ("cline-fork", "cline-fork")];

/// Does it, and says what could not be taken over as it was.
///
/// # Errors
/// On other agents, and where a file cannot be read or edited.
pub(super) fn run(context: &Context, args: &MigrateArgs, report: &mut Report) -> Result<Exit> {
    let to = TO.iter().find(|(name, _)| *name == args.to).map(|(_, id)| *id);
    let Some(to) = to.filter(|_| args.from == FROM) else {
        bail!("hookctl takes hooks from {FROM} to cline, and no other way");
    };
    let (from, to) = (scope::find_agent(FROM)?, scope::find_agent(to)?);
    let source = scope::scope_files(context, from, SettingsScope::User)?.remove(0);
    let target = scope::scope_files(context, to, SettingsScope::User)?.remove(0);
    let forms = source.form.entries().zip(target.form.entries());
    let (read, write) = forms.context("these settings have no entries")?;
    let migration = convert_settings(&source, read, to)?;
    let mode = EditMode { dry_run: args.dry_run, may_loosen: true };
    let outcome = append_groups(&context.paths, &target, write, &migration.groups, mode)?;
    report.push("files", edit_as_json(&outcome, args.dry_run));
    let mut text = String::new();
    if args.dry_run {
        text.push_str(&unified_diff(&outcome));
    } else {
        let (from, to) = (source.file.display(), target.file.display());
        let _ = match outcome.changes.len() {
            0 => writeln!(text, "Nothing to take from {from} to {to}"),
            n => writeln!(text, "Taken from {from} to {to}: {n} groups"),
        };
        for change in &outcome.changes {
            let _ = writeln!(text, "  {}", make_visible(&settings::describe_change(change)));
        }
    }
    // For people on standard output, beside what they are about.
    for note in &migration.notes {
        let note = make_visible(note);
        let _ = writeln!(text, "note: {note}");
        report.note_silently(note);
    }
    report.tell(&text)?;
    Ok(Exit::Ok)
}
