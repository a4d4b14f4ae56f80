//! `hookctl install --managed`: the settings of a machine's administrator, which its users cannot change.
//!
//! They hold for every user, so their entries name no directory of one: each user's own rules and journal are beside the
//! machine's. What is noted for the undo lies below `/var/lib/hookctl`, or where `--root` puts that.

#[cfg(unix)]
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};
use toml::de::{DeTable, DeValue};

use super::install::{edit_as_json, unified_diff};
use super::report::{Level, Report};
use super::{Context, Exit, human, scope};
use crate::agent::codex::REQUIREMENTS;
use crate::agent::wiring::{EntryForm, OWN_MARK, Off, Scope, Switch, by_platform};
use crate::agent::{self, Agent};
use crate::paths::Paths;
use crate::script::line::{PROGRAM, split_words};
use crate::settings::hooks::{Going, Shaped, WantedEntries};
use crate::settings::place::{SettingsFile, expand_name};
use crate::settings::program::{is_executable, resolve_program};
use crate::settings::switch;
use crate::settings::{self, EditMode, EditOutcome};

/// Where an agent reads what its users cannot change.
struct ManagedPlace {
    agent: &'static str,
    form: PlaceForm,
}

/// What is written there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PlaceForm {
    /// Entries, in a file of their own.
    OwnFile,
    /// Entries, beside what others have there.
    Entries,
    /// The same, and that hooks are on: Gemini's users may switch them off where the machine does not say.
    EntriesAndSwitch,
    /// Codex's requirements: TOML.
    Requirements,
}

const PLACES: &[ManagedPlace] = &[
    ManagedPlace { agent: "claude", form: PlaceForm::OwnFile },
    ManagedPlace { agent: "codex", form: PlaceForm::Requirements },
    ManagedPlace { agent: "gemini", form: PlaceForm::EntriesAndSwitch },
    ManagedPlace { agent: "cursor", form: PlaceForm::Entries },
];

/// The file of our own in a directory of such files.
const OWN_FILE: &str = "50-hookctl.json";
/// The machine's own notes.
const STATE: &str =
    by_platform("/var/lib/hookctl", "/var/lib/hookctl", "C:/Program Files/hookctl/state");

impl ManagedPlace {
    fn path(&self, root: &Path) -> PathBuf {
        let files =
            agent::by_id(self.agent).and_then(|agent| agent.wiring()).map(|wiring| wiring.files);
        let managed = files.unwrap_or_default().iter().filter(|one| one.scope == Scope::Managed);
        let known = |with: bool| {
            managed.clone().map(|one| one.path).find(|path| path.contains('*') == with)
        };
        let path = match self.form {
            PlaceForm::Requirements => PathBuf::from(REQUIREMENTS),
            PlaceForm::OwnFile => {
                Path::new(known(true).unwrap_or_default()).with_file_name(OWN_FILE)
            }
            _ => PathBuf::from(known(false).unwrap_or_default()),
        };
        below(root, &path)
    }
}

/// A path of the machine whose `/` is that directory.
fn below(root: &Path, path: &Path) -> PathBuf {
    match root == Path::new("/") {
        true => path.to_path_buf(),
        false => {
            let text = path.to_string_lossy();
            root.join(text.trim_start_matches("C:").trim_start_matches('/'))
        }
    }
}

/// What is asked for.
#[derive(Debug)]
pub(super) struct Managed<'a> {
    /// The agents; none = all that have such settings.
    pub(super) agents: &'a [String],
    /// Where `/` is.
    pub(super) root: Option<&'a Path>,
    pub(super) dry_run: bool,
    pub(super) fail_closed: bool,
}

impl Managed<'_> {
    fn root(&self) -> &Path {
        self.root.unwrap_or(Path::new("/"))
    }

    fn places(&self) -> Result<Vec<&'static ManagedPlace>> {
        if let Some(odd) =
            self.agents.iter().find(|id| PLACES.iter().all(|place| place.agent != **id))
        {
            let known: Vec<&str> = PLACES.iter().map(|place| place.agent).collect();
            bail!(
                "`{odd}` has no managed settings that hookctl writes: there are {}",
                known.join(", ")
            );
        }
        let wanted = |place: &&ManagedPlace| {
            self.agents.is_empty() || self.agents.iter().any(|id| id == place.agent)
        };
        Ok(PLACES.iter().filter(wanted).collect())
    }

    /// The machine's own notes.
    fn paths(&self, context: &Context) -> Paths {
        Paths { state: below(self.root(), Path::new(STATE)), ..context.paths.clone() }
    }

    /// Writes them.
    ///
    /// # Errors
    /// Where one of the files cannot be edited; it is then untouched.
    pub(super) fn install(&self, context: &Context, report: &mut Report) -> Result<Exit> {
        let program = scope::this_program(context)?;
        let path = Path::new(&program);
        let writable = find_writable(path, Owner::Root)
            .map(|place| format!("{} can be changed by others than root", place.display()));
        let closed = find_closed(path, 0o005)
            .map(|place| format!("{} is closed to other users", place.display()));
        for why in writable.into_iter().chain(closed) {
            match self.root {
                None => bail!("{why}, and with it {program}: put the program into /usr/local/bin"),
                // Of an image somebody else sees to it that the program lies there.
                Some(_) => report.say(Level::Warning, format!("here {why}")),
            }
        }
        self.each(report, |place, agent, file, mode| {
            let paths = self.paths(context);
            let settings = settings_file(place, agent, file);
            let mut wanted = scope::wanted_entries(
                context,
                agent,
                &settings,
                &[],
                Some(self.fail_closed),
                Default::default(),
            )?;
            wanted.places.clear();
            if place.form == PlaceForm::Requirements {
                let ours = requirements(&wanted, agent)?;
                return edit_requirements(&paths, agent, file, Some(&ours), mode);
            }
            let done = settings::install(&paths, &settings, &wanted, mode)?;
            if place.form != PlaceForm::EntriesAndSwitch || mode.dry_run {
                return Ok(done);
            }
            let Some((key, on)) = pinned_switch(agent) else { return Ok(done) };
            let pinned = settings::pin_member(&paths, file, (key, &on), mode)?;
            Ok(EditOutcome { before: done.before, ..pinned })
        })
    }

    /// Takes them out again.
    ///
    /// # Errors
    /// As for [`Managed::install`].
    pub(super) fn uninstall(&self, context: &Context, report: &mut Report) -> Result<Exit> {
        if let Some(mark) = human::detect_agent().filter(|_| !self.dry_run) {
            return Ok(report.refuse(format!(
                "{mark} says that an agent started this, and loosening is for humans"
            )));
        }
        self.each(report, |place, agent, file, mode| {
            let paths = self.paths(context);
            if place.form == PlaceForm::Requirements {
                return edit_requirements(&paths, agent, file, None, mode);
            }
            let switch = pinned_switch(agent).filter(|_| place.form == PlaceForm::EntriesAndSwitch);
            let pinned = switch.as_ref().map(|(key, on)| (*key, on));
            let going = Going { pinned, ..Going::default() };
            let settings = settings_file(place, agent, file);
            Ok(settings::uninstall_going(&paths, &settings, going, mode)?)
        })
    }

    fn each(
        &self,
        report: &mut Report,
        edit: impl Fn(&ManagedPlace, &'static dyn Agent, &Path, EditMode) -> Result<EditOutcome>,
    ) -> Result<Exit> {
        let mode = EditMode { dry_run: self.dry_run, may_loosen: human::detect_agent().is_none() };
        let mut exit = Exit::Ok;
        for place in self.places()? {
            let file = place.path(self.root());
            let Some(agent) = agent::by_id(place.agent) else { continue };
            let made = missing_ancestors(&file);
            // One that cannot be done keeps no other from being.
            match edit(place, agent, &file, mode) {
                Ok(done) => {
                    report.push("files", edit_as_json(&done, self.dry_run));
                    report.tell(&self.describe(agent, &file, &done))?;
                    open_to_read(&made)?;
                    let after = done.after.as_ref().filter(|after| after.contains(PROGRAM));
                    for why in
                        after.into_iter().flat_map(|text| self.weaknesses(agent, &file, text))
                    {
                        report.say(Level::Warning, format!("{}: {why}", file.display()));
                    }
                }
                Err(error) => {
                    report.say(Level::Error, format!("{}: {error:#}", agent.title()));
                    exit = Exit::Failed;
                }
            }
        }
        Ok(exit)
    }

    /// Why what the file says does not hold for every user.
    fn weaknesses(&self, agent: &dyn Agent, file: &Path, text: &str) -> Vec<String> {
        let mut found: Vec<String> = find_weakness(agent, file, text).into_iter().collect();
        found.extend(self.find_off(agent));
        if self.dry_run {
            return found;
        }
        // Of an image somebody else says who owns it.
        let owner = if self.root.is_none() { Owner::Root } else { Owner::Anybody };
        let inside =
            |place: &PathBuf| self.root.is_none_or(|root| place.starts_with(root) && place != root);
        let writable = find_writable(file, owner).filter(inside);
        found.extend(writable.map(|place| {
            format!(
                "others than root can change {}: `chmod go-w` it, and let root own it",
                place.display()
            )
        }));
        let closed = find_closed(file, 0o004).filter(inside);
        found.extend(
            closed.map(|place| {
                format!("other users cannot read it: `chmod o+rX {}`", place.display())
            }),
        );
        found
    }

    /// The administrator's file that switches all hooks of the agent off, where one does.
    fn find_off(&self, agent: &dyn Agent) -> Option<String> {
        let switches = agent.wiring().map(|wiring| wiring.switches).unwrap_or_default();
        let off = |switch: &Switch| {
            let managed = switch.places.iter().filter(|(scope, _)| *scope == Scope::Managed);
            let mut files =
                managed.flat_map(|(_, path)| expand_name(below(self.root(), Path::new(path))));
            let file = files.find(|file| switch::is_off_in(agent, file))?;
            let key = switch.keys.join(".");
            Some(format!("`{key}` in {} switches all hooks off", file.display()))
        };
        switches.iter().find_map(off)
    }

    fn describe(&self, agent: &dyn Agent, file: &Path, done: &EditOutcome) -> String {
        if self.dry_run {
            return unified_diff(done);
        }
        let what = match (done.has_changed(), done.after.is_some()) {
            (false, _) => "unchanged",
            (true, true) => "written",
            (true, false) => "removed",
        };
        format!("{} (managed settings): {} {what}\n", agent.title(), file.display())
    }
}

fn settings_file(place: &ManagedPlace, agent: &'static dyn Agent, file: &Path) -> SettingsFile {
    let files = agent.wiring().map(|wiring| wiring.files).unwrap_or_default();
    let form = files.iter().find(|one| one.scope == Scope::User).map(|one| one.form);
    SettingsFile {
        name: Scope::Managed.name(),
        file: file.to_path_buf(),
        agent: agent.id(),
        form: form.unwrap_or(crate::agent::wiring::Form::Entries(&EntryForm::GROUPS)),
        own: place.form == PlaceForm::OwnFile,
        event: None,
    }
}

/// What of the path is not there yet: the file, and directories that are made for it.
fn missing_ancestors(file: &Path) -> Vec<PathBuf> {
    let missing = file.ancestors().take_while(|path| path.symlink_metadata().is_err());
    missing.map(Path::to_path_buf).collect()
}

/// Every user's agent reads what was made, whatever the mask of who made it. What was there has the mode that it had.
#[cfg(unix)]
fn open_to_read(made: &[PathBuf]) -> Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    for path in made {
        let Ok(meta) = fs::metadata(path) else { continue };
        let more = if meta.is_dir() { 0o555 } else { 0o444 };
        let mode = fs::Permissions::from_mode(meta.permissions().mode() | more);
        fs::set_permissions(path, mode).with_context(|| path.display().to_string())?;
    }
    Ok(())
}

#[cfg(not(unix))]
fn open_to_read(_: &[PathBuf]) -> Result<()> {
    Ok(())
}

/// Who has to own what nobody else may change.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Owner {
    Root,
    Anybody,
}

/// The first of the file and the directories that lead to it which others than root can change; None where there is none. In
/// a directory like /tmp nobody else can replace what is root's.
#[cfg(unix)]
fn find_writable(file: &Path, owner: Owner) -> Option<PathBuf> {
    use std::os::unix::fs::MetadataExt as _;
    const OTHERS: u32 = 0o022;
    const STICKY: u32 = 0o1000;
    let open = |path: &&Path| {
        fs::metadata(path).is_ok_and(|meta| {
            let sticky = meta.is_dir() && meta.mode() & STICKY != 0;
            (owner == Owner::Root && meta.uid() != 0) || (meta.mode() & OTHERS != 0 && !sticky)
        })
    };
    file.ancestors().find(open).map(Path::to_path_buf)
}

/// The first of the file and the directories that lead to it which other users get nowhere by: the file has to have these
/// bits of mode for them, and each directory lets them pass.
#[cfg(unix)]
fn find_closed(file: &Path, bits: u32) -> Option<PathBuf> {
    use std::os::unix::fs::PermissionsExt as _;
    let closed = |path: &&Path| {
        fs::metadata(path).is_ok_and(|meta| {
            let wanted = if meta.is_dir() { 0o001 } else { bits };
            meta.permissions().mode() & wanted != wanted
        })
    };
    file.ancestors().find(closed).map(Path::to_path_buf)
}

/// Windows has no such modes: its installers put programs where only administrators write.
#[cfg(not(unix))]
fn find_writable(_: &Path, _: Owner) -> Option<PathBuf> {
    None
}

#[cfg(not(unix))]
fn find_closed(_: &Path, _: u32) -> Option<PathBuf> {
    None
}

/// The lines of Codex's requirements that are ours: the same entries as in its hooks.json, as TOML.
fn requirements(wanted: &WantedEntries, agent: &dyn Agent) -> Result<String> {
    let wiring = agent.wiring().context("nothing is known of its settings")?;
    let form =
        wiring.files.iter().find_map(|place| place.form.entries()).context("it has no entries")?;
    let dir = Path::new(&wanted.command).parent().unwrap_or(Path::new("/"));
    let key = if cfg!(windows) { "windows_managed_dir" } else { "managed_dir" };
    let mut text = format!("\n[hooks]\n{key} = {}\n", quote(&dir.display().to_string()));
    for event in &wanted.events {
        let entry = Shaped { wanted, form }.wanted_entry(event);
        text.push_str(&format!("\n[[hooks.{0}]]\n\n[[hooks.{0}.hooks]]\n", event.name));
        for (key, value) in entry.as_object().into_iter().flatten() {
            let value = match value {
                Value::String(text) => quote(text),
                other => other.to_string(),
            };
            text.push_str(&format!("{key} = {value}\n"));
        }
    }
    Ok(text)
}

/// A text of TOML: JSON's escapes are some of its own.
fn quote(text: &str) -> String {
    Value::from(text).to_string()
}

/// The agent's switch of all hooks of which the last file that says anything counts: a user's may set it, but not
/// against the machine's.
fn overruled_switch(agent: &dyn Agent) -> Option<(&'static Switch, bool)> {
    let switches = agent.wiring().map(|wiring| wiring.switches).unwrap_or_default();
    switches.iter().find_map(|switch| match switch.off {
        Off::Last(off) => Some((switch, !off)),
        Off::Anywhere(_) | Off::Named => None,
    })
}

/// The same as a member of a file, on.
fn pinned_switch(agent: &dyn Agent) -> Option<(&'static str, Value)> {
    let (switch, on) = overruled_switch(agent)?;
    let (first, below) = switch.keys.split_first()?;
    Some((first, below.iter().rev().fold(Value::Bool(on), |value, key| json!({ *key: value }))))
}

/// Why a user can still switch hooks off, or the file itself does; None where nothing is known to.
fn find_weakness(agent: &dyn Agent, file: &Path, text: &str) -> Option<String> {
    let switches = agent.wiring().map(|wiring| wiring.switches).unwrap_or_default();
    switches.iter().find_map(|switch| {
        let said = switch::say(switch, file, text);
        let key = switch.keys.join(".");
        match switch.off {
            Off::Last(off) => (said != Some(Value::Bool(!off))).then(|| {
                format!("it does not say `{key} = {}`: a user can switch hooks off", !off)
            }),
            Off::Named => said
                .and_then(|said| said.as_array().map(Vec::len))
                .filter(|count| *count > 0)
                .map(|_| format!("its `{key}` switches hooks off")),
            Off::Anywhere(_) => None,
        }
    })
}

/// The lines that say that hooks are on, where the file has no such table.
fn pin_lines(agent: &dyn Agent, rest: &str) -> String {
    let pinned = overruled_switch(agent).and_then(|(switch, on)| match switch.keys {
        [table, key] => Some((*table, format!("\n[{table}]\n{key} = {on}\n"))),
        _ => None,
    });
    let has = |table: &str| {
        DeTable::parse(rest).is_ok_and(|parsed| parsed.into_inner().contains_key(table))
    };
    pinned.filter(|(table, _)| !has(table)).map(|(_, lines)| lines).unwrap_or_default()
}

/// Puts our lines at the end of the file, between marks, in place of those that are there.
fn edit_requirements(
    paths: &Paths,
    agent: &dyn Agent,
    file: &Path,
    ours: Option<&str>,
    mode: EditMode,
) -> Result<EditOutcome> {
    let mark = |what: &str| format!("# {OWN_MARK} ({what})");
    // The second where the line before had no end, which ours has to give it.
    let (begin, joined, end) = (mark("begin"), mark("begin, joined"), mark("end"));
    // A user's file may switch hooks off, unless the machine's says that they are on.
    let pin = |rest: &str| pin_lines(agent, rest);
    let without_ours = |before: &str| -> Option<String> {
        let glued = before.find(&format!("\n{joined}"));
        let Some(from) = glued.or_else(|| before.find(&begin)) else {
            return (!before.contains(&end)).then(|| before.to_string());
        };
        let to = from + before[from..].find(&end)? + end.len();
        let rest = before[to..].strip_prefix('\n').unwrap_or(&before[to..]);
        Some(format!("{}{rest}", &before[..from]))
    };
    let plan = |before: &str| {
        // Half of ours is told below.
        let Some(without) = without_ours(before) else { return before.to_string() };
        let Some(ours) = ours else { return without };
        let (gap, begin) = match without.is_empty() || without.ends_with('\n') {
            true => ("", &begin),
            false => ("\n", &joined),
        };
        format!("{without}{gap}{begin}{}{ours}{end}\n", pin(&without))
    };
    let planned = settings::replace_text(paths, file, EditMode { dry_run: true, ..mode }, &plan)?;
    let before = planned.before.as_deref().unwrap_or_default();
    if without_ours(before).is_none() {
        bail!(
            "{}: of the marks of {OWN_MARK} one is gone: take out what is between them by hand",
            file.display()
        );
    }
    let replaces = before.contains(OWN_MARK) && planned.has_changed();
    if replaces && !mode.may_loosen {
        bail!("{}: what hookctl wrote there is changed by humans only", file.display());
    }
    // What does not go together with what stands there would cost Codex the whole file.
    if let Some(after) = &planned.after {
        let parsed = DeTable::parse(after).map(drop);
        parsed.map_err(|error| anyhow!("{}: {}", file.display(), error.message()))?;
    }
    match mode.dry_run {
        true => Ok(planned),
        false => Ok(settings::replace_text(paths, file, mode, &plan)?),
    }
}

/// Codex's requirements, where they have entries of ours: the file, or why they guard nothing. Nothing else reads that form.
pub(super) fn requirements_state() -> Option<Result<PathBuf, String>> {
    let file = PathBuf::from(REQUIREMENTS);
    let fault = match crate::files::read_text(&file, crate::files::LARGE) {
        Ok(text) if text.contains(OWN_MARK) && text.contains("--agent codex") => {
            requirements_fault(&text, &|program| {
                resolve_program(program).is_some_and(|file| is_executable(&file))
            })
        }
        Ok(_) => return None,
        Err(crate::files::Refusal::Absent) => return None,
        Err(why) => Some(format!("nobody who cannot read it is guarded by it: {why}")),
    };
    Some(match fault {
        None => Ok(file),
        Some(why) => Err(format!("Codex's requirements {}: {why}", file.display())),
    })
}

/// Why requirements with entries of ours guard nothing; `runs`: can that program be run?
fn requirements_fault(text: &str, runs: &dyn Fn(&str) -> bool) -> Option<String> {
    let table = match DeTable::parse(text) {
        Ok(table) => table.into_inner(),
        Err(error) => return Some(format!("the agent drops the whole file: {}", error.message())),
    };
    let find = |above: &str, key: &str| Some(table.get(above)?.get_ref().get(key)?.get_ref());
    if matches!(find("features", "hooks"), Some(DeValue::Boolean(false))) {
        return Some("`features.hooks = false` switches hooks off".into());
    }
    let groups = find("hooks", "PreToolUse").and_then(DeValue::as_array).into_iter().flatten();
    let hooks = groups.filter_map(|group| group.get_ref().get("hooks")?.get_ref().as_array());
    let mut ours = hooks
        .flatten()
        .filter_map(|entry| Some(split_words(entry.get_ref().get("command")?.get_ref().as_str()?)));
    let Some(ours) = ours.find(|words| words.iter().any(|word| word == "codex")) else {
        return Some("no entry for PreToolUse: run `hookctl install --managed`".into());
    };
    let program = ours.first().map(String::as_str).unwrap_or_default();
    (!runs(program)).then(|| format!("{program} cannot be run"))
}

#[cfg(test)]
mod tests {
    use super::requirements_fault;

    const OURS: &str = "[hooks]\nmanaged_dir = \"/x\"\n[[hooks.PreToolUse]]\n[[hooks.PreToolUse.hooks]]\n\
        type = \"command\"\ncommand = \"'/x y/hookctl' hook --agent codex --event PreToolUse\"\n";

    #[test]
    fn requirements_that_guard_nothing_are_told() {
        let fault = |text: &str| requirements_fault(text, &|program| program == "/x y/hookctl");
        assert_eq!(fault(OURS), None);
        assert_eq!(fault(&format!("[features]\nhooks = true\n{OURS}")), None);
        for (text, why) in [
            (format!("[features]\nhooks = false\n{OURS}"), "switches hooks off"),
            (format!("{OURS}\n[half"), "drops the whole file"),
            (OURS.replace("PreToolUse", "Stop"), "no entry for PreToolUse"),
            (OURS.replace("codex", "gemini"), "no entry for PreToolUse"),
            (OURS.replace("x y", "gone"), "/gone/hookctl cannot be run"),
            (String::new(), "no entry for PreToolUse"),
        ] {
            let said = fault(&text);
            assert!(said.as_ref().is_some_and(|said| said.contains(why)), "{why}: {said:?}");
        }
    }
}
