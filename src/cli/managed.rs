//! `hookctl install --managed`: the settings of a machine's administrator, which its users cannot change.
//!
//! They hold for every user, so their entries name no directory of one: each user's own rules and journal are beside the
//! machine's. What is noted for the undo lies below `/var/lib/hookctl`, or where `--root` puts that.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use serde_json::{Value, json};
use toml::de::DeTable;

use super::install::{edit_as_json, unified_diff};
use super::report::{Level, Report};
use super::{Context, Exit, human, scope};
use crate::agent::wiring::{EntryForm, OWN_MARK, Scope};
use crate::agent::{self, Agent};
use crate::json::JsonFault;
use crate::paths::Paths;
use crate::settings::edit::Doc;
use crate::settings::hooks::{Shaped, WantedEntries};
use crate::settings::place::SettingsFile;
use crate::settings::{self, EditMode, EditOutcome};

/// Where an agent reads what its users cannot change.
struct ManagedPlace {
    agent: &'static str,
    /// By platform: Linux, macOS, Windows.
    paths: [&'static str; 3],
    /// Nothing else stands in the file.
    own: bool,
}

const PLACES: &[ManagedPlace] = &[
    ManagedPlace {
        agent: "claude",
        paths: [
            "/etc/claude-code/managed-settings.d/50-hookctl.json",
            "/Library/Application Support/ClaudeCode/managed-settings.d/50-hookctl.json",
            "C:/Program Files/ClaudeCode/managed-settings.d/50-hookctl.json",
        ],
        own: true,
    },
    ManagedPlace {
        agent: "codex",
        paths: [
            "/etc/codex/requirements.toml",
            "/etc/codex/requirements.toml",
            "C:/ProgramData/OpenAI/Codex/requirements.toml",
        ],
        own: false,
    },
    ManagedPlace {
        agent: "gemini",
        paths: [
            "/etc/gemini-cli/settings.json",
            "/Library/Application Support/GeminiCli/settings.json",
            "C:/ProgramData/gemini-cli/settings.json",
        ],
        own: false,
    },
    ManagedPlace {
        agent: "cursor",
        paths: [
            "/etc/cursor/hooks.json",
            "/Library/Application Support/Cursor/hooks.json",
            "C:/ProgramData/Cursor/hooks.json",
        ],
        own: false,
    },
];

impl ManagedPlace {
    fn path(&self, root: &Path) -> PathBuf {
        let own = self.paths[if cfg!(target_os = "macos") {
            1
        } else if cfg!(windows) {
            2
        } else {
            0
        }];
        match root == Path::new("/") {
            true => PathBuf::from(own),
            false => root.join(own.trim_start_matches("C:").trim_start_matches('/')),
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
        Paths { state: self.root().join("var/lib/hookctl"), ..context.paths.clone() }
    }

    /// Writes them.
    ///
    /// # Errors
    /// Where one of the files cannot be edited; it is then untouched.
    pub(super) fn install(&self, context: &Context, report: &mut Report) -> Result<Exit> {
        let program = scope::this_program()?;
        if self.root.is_none() && Path::new(&program).starts_with(&context.paths.home) {
            bail!(
                "{program} lies in a home directory, where its user can replace it: put it into /usr/local/bin"
            );
        }
        self.each(context, report, |place, agent, file, mode| {
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
            match place.agent {
                "codex" => {
                    edit_requirements(&paths, file, Some(&requirements(&wanted, agent)?), mode)
                }
                "gemini" => {
                    let done = settings::install(&paths, &settings, &wanted, mode)?;
                    let pinned = edit_pin(&paths, file, done.after.as_deref(), pin_switch, mode)?;
                    Ok(EditOutcome { after: pinned, ..done })
                }
                _ => Ok(settings::install(&paths, &settings, &wanted, mode)?),
            }
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
        self.each(context, report, |place, agent, file, mode| {
            let paths = self.paths(context);
            match place.agent {
                "codex" => return edit_requirements(&paths, file, None, mode),
                "gemini" => {
                    let now = crate::files::read_text(file, crate::files::LARGE).ok();
                    edit_pin(&paths, file, now.as_deref(), unpin_switch, mode)?;
                }
                _ => {}
            }
            Ok(settings::uninstall(&paths, &settings_file(place, agent, file), None, mode)?)
        })
    }

    fn each(
        &self,
        context: &Context,
        report: &mut Report,
        edit: impl Fn(&ManagedPlace, &'static dyn Agent, &Path, EditMode) -> Result<EditOutcome>,
    ) -> Result<Exit> {
        let mode = EditMode { dry_run: self.dry_run, may_loosen: human::detect_agent().is_none() };
        let mut exit = Exit::Ok;
        for place in self.places()? {
            let file = place.path(self.root());
            let Some(agent) = agent::by_id(place.agent) else { continue };
            // One that cannot be done keeps no other from being.
            match edit(place, agent, &file, mode) {
                Ok(done) => {
                    report.push("files", edit_as_json(&done, self.dry_run));
                    report.tell(&self.describe(context, agent, &file, &done))?;
                    if !self.dry_run {
                        open_to_read(&file)?;
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

    fn describe(&self, _: &Context, agent: &dyn Agent, file: &Path, done: &EditOutcome) -> String {
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
        own: place.own,
        event: None,
    }
}

/// Every user's agent reads it, whatever the mask of who wrote it.
fn open_to_read(file: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let open = |path: &Path, more: u32| -> std::io::Result<()> {
            let Ok(meta) = fs::metadata(path) else { return Ok(()) };
            let mode = meta.permissions().mode();
            match mode & more == more {
                true => Ok(()),
                false => fs::set_permissions(path, fs::Permissions::from_mode(mode | more)),
            }
        };
        let opened = open(file, 0o444).and_then(|()| open(file.parent().unwrap_or(file), 0o555));
        opened.with_context(|| file.display().to_string())?;
    }
    #[cfg(not(unix))]
    let _ = fs::metadata(file);
    Ok(())
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

/// Gemini's switch of all hooks: a user's file may set it, but not against the machine's.
const SWITCH: &str = "hooksConfig";

/// The machine's settings with that switch on, where they say nothing of it.
fn pin_switch(text: &str) -> Result<String, JsonFault> {
    let mut doc = Doc::with_comments(text)?;
    if doc.root().get(SWITCH).is_none() {
        doc.append(&[], Some(SWITCH), &json!({ "enabled": true }))?;
    }
    Ok(doc.text())
}

/// The same without what [`pin_switch`] put in.
fn unpin_switch(text: &str) -> Result<String, JsonFault> {
    let mut doc = Doc::with_comments(text)?;
    let found = doc.root().get(SWITCH);
    let own = found.filter(|(_, value)| value.to_value() == json!({ "enabled": true }));
    if let Some((at, _)) = own {
        doc.remove(&[at])?;
    }
    Ok(doc.text())
}

/// Edits what the machine's settings say of the switch: what stands there then, or would.
fn edit_pin(
    paths: &Paths,
    file: &Path,
    text: Option<&str>,
    edit: fn(&str) -> Result<String, JsonFault>,
    mode: EditMode,
) -> Result<Option<String>> {
    let Some(text) = text else { return Ok(None) };
    let fault = |fault: JsonFault| anyhow!("{}: {}", file.display(), fault.message);
    let planned = edit(text).map_err(fault)?;
    if !mode.dry_run {
        settings::replace_text(paths, file, mode, &|now| edit(now).unwrap_or_else(|_| now.into()))?;
    }
    Ok(Some(planned))
}

/// Puts our lines at the end of the file, between marks, in place of those that are there.
fn edit_requirements(
    paths: &Paths,
    file: &Path,
    ours: Option<&str>,
    mode: EditMode,
) -> Result<EditOutcome> {
    let (begin, end) = (format!("# {OWN_MARK} (begin)"), format!("# {OWN_MARK} (end)"));
    // A user's file may switch hooks off, unless the machine's says that they are on.
    let pin = |rest: &str| {
        let table = DeTable::parse(rest).map(|table| table.into_inner());
        match table.is_ok_and(|table| table.contains_key("features")) {
            true => "",
            false => "\n[features]\nhooks = true\n",
        }
    };
    let plan = |before: &str| {
        let without = match (before.find(&begin), before.find(&end)) {
            (Some(from), Some(to)) if from < to => {
                let rest = before[to + end.len()..].trim_start_matches('\n');
                format!("{}{rest}", &before[..from])
            }
            _ => before.to_string(),
        };
        let Some(ours) = ours else { return without };
        let gap = if without.is_empty() || without.ends_with('\n') { "" } else { "\n" };
        format!("{without}{gap}{begin}{}{ours}{end}\n", pin(&without))
    };
    let planned = settings::replace_text(paths, file, EditMode { dry_run: true, ..mode }, &plan)?;
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

/// The managed settings of this machine that have entries of ours, for `status`.
pub(super) fn present_files() -> Vec<PathBuf> {
    let files = PLACES.iter().map(|place| place.path(Path::new("/")));
    let ours = |file: &PathBuf| {
        let text = crate::files::read_text(file, crate::files::LARGE).unwrap_or_default();
        text.contains("hookctl") && text.contains("--agent")
    };
    files.filter(ours).collect()
}
