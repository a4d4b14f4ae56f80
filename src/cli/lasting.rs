//! Where the program that entries name stays: a hook whose program is gone judges nothing.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::{Context, human};
use crate::env;
use crate::files;
use crate::script::line::PROGRAM;

/// Where a program lies, as far as its name tells.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stay {
    /// Nothing takes it away but its removal.
    Lasts,
    /// A package runner fetched it to be run once, or its package manager has each version in a directory of its own.
    Fetched,
    /// It goes with something else: why.
    Goes(String),
}

/// Directories of npx, of pnpm's `dlx`, and that in which pnpm keeps each version.
const FETCHED: [&str; 3] = ["_npx", "dlx", ".pnpm"];
/// What such a name begins with: yarn's `dlx`, bunx, uvx.
const FETCHED_PREFIXES: [&str; 4] = ["dlx-", "bunx-", ".bunx-", "archive-v"];
/// Two components that stand behind each other, to the same end.
const FETCHED_BELOW: [(&str, &str); 3] =
    [(".asdf", "installs"), (".cache", "pipx"), ("pipx", ".cache")];
/// Names of directories whose content goes by itself: a build's, and caches.
const PASSING: [&str; 3] = ["target", ".cache", "Caches"];

fn stay_of(program: &Path, root: &Path, home: &Path) -> Stay {
    let parts: Vec<_> = program.iter().map(|part| part.to_string_lossy()).collect();
    let named = |part: &str| {
        FETCHED.contains(&part) || FETCHED_PREFIXES.iter().any(|start| part.starts_with(start))
    };
    let below = |pair: &[Cow<'_, str>]| {
        FETCHED_BELOW.iter().any(|(above, below)| pair[0] == *above && pair[1] == *below)
    };
    if parts.iter().any(|part| named(part)) || parts.windows(2).any(below) {
        return Stay::Fetched;
    }
    let temporary = [std::env::temp_dir(), "/tmp".into(), "/var/tmp".into()];
    if temporary.iter().any(|dir| program.starts_with(dir))
        || parts.iter().any(|part| PASSING.contains(&part.as_ref()))
    {
        return Stay::Goes("lies where builds or cleanups remove it".into());
    }
    let modules =
        |dir: &&Path| dir.ends_with("node_modules") && dir.with_file_name("package.json").is_file();
    let project = program.ancestors().find(modules).and_then(Path::parent);
    let project = project.or_else(|| (root != home && program.starts_with(root)).then_some(root));
    match project {
        Some(dir) => {
            Stay::Goes(format!("belongs to the project {}, and goes with it", dir.display()))
        }
        None => Stay::Lasts,
    }
}

/// Where programs of this user stay.
fn users_place() -> Option<PathBuf> {
    let file = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    let home = std::env::home_dir().filter(|home| home.is_absolute())?;
    Some(match cfg!(windows) {
        true => {
            let local = env::get_path(env::LOCALAPPDATA);
            local.unwrap_or_else(|| home.join("AppData/Local")).join("hookctl/bin").join(file)
        }
        false => home.join(".local/bin").join(file),
    })
}

/// The name by which entries call that program of ours: where it is fetched to be run once, the place that
/// [`keep`] brings it to.
pub(super) fn lasting_name(context: &Context, program: PathBuf) -> PathBuf {
    match stay_of(&program, &context.root, &context.paths.home) {
        Stay::Fetched => users_place().unwrap_or(program),
        Stay::Lasts | Stay::Goes(_) => program,
    }
}

/// Why entries should not name that program.
pub(super) fn why_it_goes(context: &Context, program: &Path) -> Option<String> {
    match stay_of(program, &context.root, &context.paths.home) {
        Stay::Goes(why) => Some(why),
        Stay::Fetched => Some("lies in a package runner's cache".into()),
        Stay::Lasts => None,
    }
}

/// Brings this program to where it stays, before entries name it there; nothing where it stays where it is. A newer one
/// of ours stays. What was done is told.
///
/// # Errors
/// Where what lies there is no hookctl, or is not to be replaced.
pub(super) fn keep(context: &Context) -> Result<Option<String>> {
    let program = std::env::current_exe().and_then(|program| files::real_path(&program))?;
    if stay_of(&program, &context.root, &context.paths.home) != Stay::Fetched {
        return Ok(None);
    }
    let place = users_place().context("HOME is not set: install hookctl where it stays")?;
    let stays = may_replace(&program, &place)?;
    if stays.is_some() {
        return Ok(stays);
    }
    let copied = files::read(&program, files::LONG)
        .map_err(|why| why.describe_for(&program))
        .and_then(|bytes| {
            files::replace_program(&place, &bytes).map_err(|error| files::plain_cause(&error))
        });
    if let Err(why) = copied {
        bail!("cannot copy the program to {}, where it would stay: {why}", place.display());
    }
    Ok(Some(format!(
        "copied to {}, for what was fetched to be run once does not last",
        place.display()
    )))
}

/// None where the program is to be copied there; else what is said of the one that stays.
fn may_replace(program: &Path, place: &Path) -> Result<Option<String>> {
    if place.symlink_metadata().is_err() {
        return Ok(None);
    }
    let shown = place.display();
    let read = |path: &Path| files::read(path, files::LONG).ok();
    if let (Some(new), Some(old)) = (read(program), read(place))
        && new == old
    {
        return Ok(Some(format!("{shown} is this program already")));
    }
    let said = Command::new(place).arg("--version").stdin(Stdio::null()).output();
    let said = said.map(|said| String::from_utf8_lossy(&said.stdout).trim().to_string());
    let said = said.unwrap_or_default();
    let Some(version) = said.strip_prefix("hookctl ").and_then(numbers) else {
        bail!(
            "{shown} is there, and is no hookctl: move it away, for hookctl is to stay at that place"
        );
    };
    if version > numbers(env!("CARGO_PKG_VERSION")).unwrap_or_default() {
        return Ok(Some(format!("{shown} is {said}, which is newer: it stays")));
    }
    if files::is_link(place) {
        bail!("{shown} is a link to {said}: upgrade that, or take the link away");
    }
    if let Some(mark) = human::detect_agent() {
        bail!(
            "{shown} is {said}, which guards this machine, and {mark} says that an agent started this: replacing it is for humans"
        );
    }
    Ok(None)
}

/// A version's numbers.
fn numbers(version: &str) -> Option<Vec<u64>> {
    let plain = version.split(['-', '+', ' ']).next()?;
    plain.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::{Stay, numbers, stay_of};
    use std::path::Path;

    #[test]
    fn what_was_fetched_and_what_goes_with_a_project_is_known() {
        let stay = |program: &str| stay_of(Path::new(program), Path::new("/h/p"), Path::new("/h"));
        for fetched in [
            "/h/.npm/_npx/1a2b/node_modules/@hookctl/linux-x64/bin/hookctl",
            "/h/.cache/pnpm/dlx/1a/2b/node_modules/@hookctl/linux-x64/bin/hookctl",
            "/tmp/xfs-1/dlx-12/node_modules/@hookctl/linux-x64/bin/hookctl",
            "/h/.bun/install/cache/.bunx-0/hookctl@latest/node_modules/@hookctl/linux-x64/bin/hookctl",
            "/tmp/bunx-0-hookctl@latest/node_modules/@hookctl/linux-x64/bin/hookctl",
            "/h/.cache/uv/archive-v0/x1/bin/hookctl",
            "/h/.cache/pipx/x1/bin/hookctl",
            "/h/.local/share/pnpm/global/5/.pnpm/@hookctl+linux-x64@0.2.0/node_modules/@hookctl/linux-x64/bin/hookctl",
            "/h/.asdf/installs/hookctl/0.2.0/bin/hookctl",
        ] {
            assert_eq!(stay(fetched), Stay::Fetched, "{fetched}");
        }
        for lasts in [
            "/h/.local/bin/hookctl",
            "/usr/lib/node_modules/hookctl/node_modules/@hookctl/linux-x64/bin/hookctl",
            "/h/.local/share/uv/tools/hookctl/bin/hookctl",
            "/h/.local/pipx/venvs/hookctl/bin/hookctl",
            "/h/.local/share/mise/installs/hookctl/latest/bin/hookctl",
        ] {
            assert_eq!(stay(lasts), Stay::Lasts, "{lasts}");
        }
        for goes in ["/h/p/.venv/bin/hookctl", "/h/x/target/release/hookctl", "/tmp/hookctl"] {
            assert!(matches!(stay(goes), Stay::Goes(_)), "{goes}");
        }
    }

    #[test]
    fn versions_are_compared_by_their_numbers() {
        assert!(numbers("0.10.0") > numbers("0.9.12"));
        assert_eq!(numbers("0.2.0-rc1"), numbers("0.2.0"));
        assert_eq!(numbers("x.y"), None);
    }
}
