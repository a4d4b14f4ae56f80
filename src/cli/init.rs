//! `hookctl init`: the commented starter config, written where there is none.

use std::fs;
use std::io::{ErrorKind, Write as _};

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::args::InitArgs;
use super::report::{Level, Report};
use super::{Context, Exit, display_path, human};
use crate::documents::document;
use crate::files;
use crate::paths;

/// Where the part begins and ends that only the user's own file may say.
const OWN: [&str; 2] = ["# --- For you alone", "# --- Commands"];

/// What a project's file starts with: what a project may say.
fn starter_text(project: bool) -> String {
    let all = document("starter.toml");
    match (project, OWN.map(|mark| all.find(mark))) {
        (true, [Some(start), Some(end)]) => format!("{}{}", &all[..start], &all[end..]),
        _ => all.into(),
    }
}

/// Writes it and says what next.
///
/// # Errors
/// Where the file or its directory cannot be written.
pub(super) fn run(context: &Context, args: &InitArgs, report: &mut Report) -> Result<Exit> {
    let path = match args.project {
        true => context.root.join(paths::PROJECT_FILE),
        false => context.paths.user_config(),
    };
    let name = display_path(context, &path);
    report.set("file", path.display().to_string());
    report.set("kept", Value::Null);
    let mut kept = None;
    if path.symlink_metadata().is_ok() {
        if !args.force {
            return Ok(report.refuse(format!(
                "{name} is there already. Edit it, or replace it with --force (the old \
                 one is kept beside it)."
            )));
        }
        if let Some(mark) = human::detect_agent() {
            return Ok(report.refuse(format!(
                "this would take the rules of {name} away, and {mark} says that an agent \
                 started it. Loosening is for humans: run it in a terminal of your own."
            )));
        }
        let lost = format!("The rules of {name} no longer hold; the file is kept beside it.");
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let words = format!("replace {}", human::make_typeable(&file));
        if !human::confirms_if_attended(context, &lost, &words)? {
            return Ok(report.refuse_silently(human::DECLINED));
        }
        // The rules that were kept the last time stay as well.
        let names = std::iter::once("toml.old".into());
        let mut names = names.chain((2_u32..).map(|number| format!("toml.old-{number}")));
        let old = names.find_map(|name| {
            let old = path.with_extension(name);
            old.symlink_metadata().is_err().then_some(old)
        });
        let old = old.context("there are too many old files")?;
        fs::rename(&path, &old)
            .with_context(|| format!("cannot rename {name} to {}", old.display()))?;
        let text = format!("the old file is now {}", display_path(context, &old));
        report.say(Level::Note, text);
        report.set("kept", old.display().to_string());
        kept = Some(old);
    }
    let dir = path.parent().unwrap_or(&path);
    if !args.project {
        files::private_dir(dir).with_context(|| format!("cannot make {}", dir.display()))?;
    }
    let made = match files::create_private(&path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {
            return Ok(report.refuse(format!("{name} came into being meanwhile")));
        }
        made => made,
    };
    let is_made = made.is_ok();
    let written = made.and_then(|mut file| {
        file.write_all(starter_text(args.project).as_bytes())?;
        file.sync_all()
    });
    if let Err(error) = written {
        // Half a file would be no config, and would be in the way of the next try.
        if is_made {
            let _ = fs::remove_file(&path);
        }
        if let Some(old) = kept {
            let _ = fs::rename(old, &path);
        }
        let mend = files::advise(&error, &path);
        let mend = mend.map(|mend| format!("\n{mend}")).unwrap_or_default();
        bail!("cannot write {name}: {}{mend}", files::plain_cause(&error));
    }
    let next = match args.project {
        true => {
            "Its rules that only deny or ask hold at once; for the others: `hookctl trust`.\n\
             Then: `hookctl check`, `hookctl explain 'git push --force'`.\n"
        }
        false => {
            "Take the # away from what you want. Then: `hookctl check`,\n\
             `hookctl explain 'git push --force'`, `hookctl install`.\n"
        }
    };
    report.tell(&format!("Wrote {name}\n{next}"))?;
    Ok(Exit::Ok)
}
