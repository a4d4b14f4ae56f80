//! One settings file: what is in it, beside what should be.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::super::Context;
use super::super::scope;
use super::guards::is_world_writable;
use crate::agent::wiring::Form;
use crate::event::Kind;
use crate::files;
use crate::rule::file::server::Typed;
use crate::settings::content::content_faults;
use crate::settings::file::sha256_hex;
use crate::settings::hooks::{EDITED, ELSEWISE, Outdated, Shaped, WantedEntries, WantedEvent};
use crate::settings::place::SettingsFile;
use crate::settings::program;
use crate::settings::record::{Record, Records};
use crate::settings::survey::{Own, Survey, entries_sum};
use crate::settings::switch;
use crate::settings::{self, Error, Read};

/// How our entries in one file are.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum EntryState {
    /// Every wanted event, as install would write it.
    Installed,
    /// Some wanted events lack.
    Partial,
    /// No entry of ours.
    #[default]
    Missing,
    /// An entry is not what install would write.
    Outdated,
}

/// One settings file.
#[derive(Debug, Default, Serialize)]
pub(super) struct FileReport {
    pub(super) scope: &'static str,
    pub(super) file: PathBuf,
    pub(super) exists: bool,
    /// Does the client read it? (Not JSON, or one refused entry: no.)
    pub(super) valid: bool,
    pub(super) error: Option<String>,
    pub(super) state: EntryState,
    /// The events with an entry of ours that the client uses.
    pub(super) events: Vec<String>,
    pub(super) missing: Vec<String>,
    /// Those that a person switched off one by one (`hookctl events disable`).
    pub(super) off: Vec<String>,
    /// Those of them without which rules have no effect.
    #[serde(skip)]
    pub(super) off_needed: Vec<String>,
    pub(super) outdated: Vec<OutdatedEntry>,
    /// The program that the entries run.
    pub(super) binary: Option<Binary>,
    /// The events where the client blocks when hookctl fails.
    pub(super) fails_closed: Vec<String>,
    pub(super) disable_all_hooks: bool,
    pub(super) allow_managed_hooks_only: bool,
    /// The events that are handed to a bridge (`hookctl claude-hook`).
    pub(super) bridge: Vec<String>,
    /// Hooks that run no command: a prompt for a model, a server, a tool. hookctl leaves them alone.
    pub(super) other_hooks: Vec<OtherHook>,
    /// What the entries say of the user's server.
    #[serde(skip)]
    pub(super) server: Typed,
    #[serde(skip)]
    pub(super) own: Vec<Own>,
    #[serde(skip)]
    pub(super) guarded: BTreeSet<String>,
}

/// A hook of somebody else that runs no command.
#[derive(Debug, Serialize)]
pub(super) struct OtherHook {
    event: String,
    /// `prompt`, `agent`, `http`, `mcp_tool`.
    #[serde(rename = "type")]
    sort: String,
}

#[derive(Debug, Serialize)]
pub(super) struct OutdatedEntry {
    pub(super) event: String,
    pub(super) why: String,
    /// Does it keep the event from being guarded?
    pub(super) breaks: bool,
}

#[derive(Debug, Serialize)]
pub(super) struct Binary {
    pub(super) path: String,
    pub(super) exists: bool,
    pub(super) executable: bool,
    /// Is it this program?
    pub(super) current: bool,
    pub(super) writable_by_others: bool,
}

/// One file: what is in it, beside what should be.
pub(super) fn inspect_file(
    context: &Context,
    place: &SettingsFile,
    records: &Records,
) -> FileReport {
    let (scope, file) = (place.name, place.file.clone());
    let mut report = FileReport { scope, file, exists: true, valid: true, ..FileReport::default() };
    let mut text = String::new();
    match settings::read_settings(place) {
        Ok(Some(read)) => {
            text.clone_from(&read.text);
            report.take(read);
        }
        Ok(None) => report.exists = false,
        Err(error) => {
            report.valid = false;
            report.error = Some(match &error {
                Error::Refused { file, text, fault } => fault.render_for_people(file, text),
                other => other.to_string(),
            });
        }
    }
    let agent = crate::agent::by_id(place.agent);
    report.disable_all_hooks = agent.is_some_and(|agent| switch::is_off_in(agent, &place.file));
    // Only what the administrator says of it counts.
    report.allow_managed_hooks_only &= !place.is_ours_to_edit();
    let seen: Vec<Own> = report.own.iter().filter(|own| own.seen).cloned().collect();
    if let Some(first) = seen.first() {
        report.take_off(context, place, records);
        let record = records.of_file(&place.file);
        let asked = Asked::of(record);
        let mut wanted = asked.wanted_in(context, place, &report.server);
        // The administrator's entries are written by other means: only what breaks counts.
        if let Some(wanted) = wanted.as_mut().filter(|_| !place.is_ours_to_edit()) {
            wanted.command = first.command.clone();
        }
        let written = Written { text: &text, record };
        report.compare(place, &seen, wanted.as_ref(), written);
    }
    report
}

/// The events that a person chose.
#[derive(Debug, Clone, Default)]
pub(super) struct Asked {
    /// Those that were asked for; none = the usual ones.
    events: Vec<String>,
    /// Those that were switched off one by one.
    off: Vec<String>,
}

impl Asked {
    /// What is noted of a file.
    pub(super) fn of(record: Option<&Record>) -> Asked {
        let noted = record.map(|record| (record.events.clone(), record.off.clone()));
        let (events, off) = noted.unwrap_or_default();
        Asked { events, off }
    }

    /// What install would write there today; none where that cannot be told.
    pub(super) fn wanted_in(
        &self,
        context: &Context,
        place: &SettingsFile,
        server: &Typed,
    ) -> Option<WantedEntries> {
        let agent = crate::agent::by_id(place.agent)?;
        let events = &self.events;
        let mut wanted = scope::wanted_entries(context, agent, place, events, None, server.clone())
            .or_else(|_| scope::wanted_entries(context, agent, place, &[], None, Typed::new()))
            .ok()?;
        // A rule may need more by now than was asked for.
        let needed = scope::needed_events(context, server).unwrap_or_default();
        for kind in needed.iter().filter(|_| !events.is_empty()) {
            let has = wanted.events.iter().any(|have| have.kind == kind);
            let spec = agent.event_spec(kind).filter(|_| !has);
            wanted.events.extend(spec.map(WantedEvent::of));
        }
        wanted.switch_off(&self.off);
        Some(wanted)
    }
}

/// A file as it is, beside what is noted of it.
#[derive(Clone, Copy)]
struct Written<'r> {
    text: &'r str,
    record: Option<&'r Record>,
}

impl Written<'_> {
    /// Did nobody change the whole file since install wrote it?
    fn is_whole(self) -> bool {
        let sum = sha256_hex(self.text.as_bytes());
        self.record.is_some_and(|record| record.written_sha256 == sum)
    }

    /// Did nobody change our entries since? Notes of older versions do not tell.
    fn has_same_entries(self, own: &[Own]) -> bool {
        self.record.is_none_or(|record| {
            record.entries_sha256.is_empty() || record.entries_sha256 == entries_sum(own)
        })
    }
}

impl FileReport {
    /// The hooks that run no command, in words.
    pub(super) fn other_hooks_line(&self) -> Option<String> {
        let named = self.other_hooks.iter().map(|one| format!("{} ({})", one.event, one.sort));
        let mut named: Vec<String> = named.collect();
        named.dedup();
        let text = format!(
            "hooks of other types answer beside hookctl, and are left alone: {}",
            named.join(", ")
        );
        (!named.is_empty()).then(|| super::super::make_visible(&text))
    }

    /// What is not as it should be, in words, and whether it breaks something.
    pub(super) fn outdated_lines(&self) -> Vec<(bool, String)> {
        let mut reasons: BTreeMap<(bool, &str), Vec<&str>> = BTreeMap::new();
        for outdated in &self.outdated {
            let key = (outdated.breaks, outdated.why.as_str());
            reasons.entry(key).or_default().push(&outdated.event);
        }
        let line = |((breaks, why), events): ((bool, &str), Vec<&str>)| {
            (breaks, format!("{} outdated: {why}", events.join(", ")))
        };
        reasons.into_iter().map(line).collect()
    }

    /// That events were switched off by hand, in words.
    pub(super) fn off_line(&self) -> Option<String> {
        let names = super::super::make_visible(&self.off.join(", "));
        let needed = match self.off_needed.is_empty() {
            true => "",
            false => ", and rules are about them",
        };
        (!self.off.is_empty()).then(|| {
            format!(
                "switched off by hand: {names}{needed} (`hookctl events enable {}` brings them back)",
                super::super::make_visible(&self.off.join(" "))
            )
        })
    }

    /// Has it entries of ours?
    pub(super) fn is_ours(&self) -> bool {
        self.state != EntryState::Missing
    }

    /// Is all that it should guard guarded, by whatever file?
    pub(super) fn is_complete(&self, covered: &BTreeSet<String>) -> bool {
        let breaks = self.outdated.iter().filter(|one| one.breaks).map(|one| &one.event);
        let mut wanted = self.missing.iter().chain(breaks).chain(&self.events);
        self.is_ours() && self.valid && wanted.all(|event| covered.contains(event))
    }

    /// Takes in what the file says.
    fn take(&mut self, read: Read) {
        self.server = read.survey.typed_server();
        let Survey { own, bridge, invalid, managed_only, uncommanded, .. } = read.survey;
        self.other_hooks = uncommanded
            .into_iter()
            .map(|one| OtherHook { event: one.event, sort: one.sort })
            .collect();
        self.allow_managed_hooks_only = managed_only;
        if let Some(fatal) = invalid.iter().find(|invalid| invalid.fatal) {
            self.valid = false;
            self.error = Some(fatal.fault.render_for_people(&self.file, &read.text));
        }
        self.own = own;
        self.bridge = bridge.into_iter().filter(|own| own.seen).map(|own| own.event).collect();
    }

    /// Takes in what a person switched off. The shipped rules are about what comes before a tool.
    fn take_off(&mut self, context: &Context, place: &SettingsFile, records: &Records) {
        let off = records.of_file(&place.file).map(|record| record.off.clone());
        self.off = off.unwrap_or_default();
        let Some(agent) = crate::agent::by_id(place.agent).filter(|_| !self.off.is_empty()) else {
            return;
        };
        let needed = scope::needed_events(context, &self.server).unwrap_or_default();
        let counts = |kind| kind == Kind::PreToolUse || needed.contains(kind);
        let is_needed = |name: &&String| {
            agent.events().iter().any(|spec| spec.name == **name && counts(spec.kind))
        };
        self.off_needed = self.off.iter().filter(is_needed).cloned().collect();
    }

    /// Holds our entries against what they should be.
    fn compare(
        &mut self,
        place: &SettingsFile,
        seen: &[Own],
        wanted: Option<&WantedEntries>,
        written: Written<'_>,
    ) {
        let same = written.has_same_entries(&self.own);
        for own in seen {
            if !self.events.contains(&own.event) {
                self.events.push(own.event.clone());
            }
            if own.fails_closed {
                self.fails_closed.push(own.event.clone());
            }
            let shaped = wanted.zip(place.form.entries());
            let shaped = shaped.map(|(wanted, form)| Shaped { wanted, form });
            let faults = shaped.into_iter().flat_map(|shaped| shaped.outdated_parts(own));
            let faults = faults.chain(wanted.and_then(|wanted| other_rules(own, wanted)));
            let counts = faults.filter(|fault| place.is_ours_to_edit() || fault.breaks);
            self.outdated.extend(counts.map(|fault| OutdatedEntry {
                event: own.event.clone(),
                why: if fault.why == ELSEWISE && !same { EDITED.into() } else { fault.why },
                breaks: fault.breaks,
            }));
        }
        self.outdated.extend(whole_file_faults(place, seen, wanted, written));
        let wanted = wanted.into_iter().flat_map(|wanted| &wanted.events);
        // A file for one event has no other.
        let here = |name: &&str| place.event.is_none_or(|only| only == *name);
        let missing = wanted.map(|event| event.name).filter(here);
        let missing = missing.filter(|name| seen.iter().all(|own| own.event != *name));
        self.missing = missing.map(String::from).collect();
        self.look_at_programs(place, seen);
        self.state = match (self.outdated.is_empty(), self.missing.is_empty()) {
            (false, _) => EntryState::Outdated,
            (true, false) => EntryState::Partial,
            (true, true) => EntryState::Installed,
        };
    }

    /// Several programs in one file: the one that does not work is the one to show.
    fn look_at_programs(&mut self, place: &SettingsFile, seen: &[Own]) {
        let whole = matches!(place.form, Form::Plugin(_));
        let mut binaries: Vec<Binary> = Vec::new();
        for own in seen {
            if binaries.iter().all(|binary| binary.path != own.command) {
                binaries.push(inspect_binary(&own.command));
            }
            let works = binaries.iter().any(|b| b.path == own.command && b.executable);
            let breaks = |outdated: &OutdatedEntry| {
                outdated.breaks && (whole || outdated.event == own.event)
            };
            if works && !self.outdated.iter().any(breaks) {
                self.guarded.insert(own.event.clone());
            }
        }
        crate::order::sort_by_key(&mut binaries, |binary| (binary.executable, binary.current));
        self.binary = binaries.into_iter().next();
    }
}

/// What is not as it should be with a file that is wholly ours.
fn whole_file_faults(
    place: &SettingsFile,
    seen: &[Own],
    wanted: Option<&WantedEntries>,
    written: Written<'_>,
) -> Vec<OutdatedEntry> {
    let (Some(own), Some(wanted)) = (seen.first(), wanted) else { return Vec::new() };
    if place.form.entries().is_some() {
        return Vec::new();
    }
    let mut faults = content_faults(place, written.text, wanted, own, written.is_whole());
    faults.extend(script_faults(place));
    let event = place.event.unwrap_or("plugin");
    let entry = |fault: Outdated| OutdatedEntry {
        event: event.to_string(),
        why: fault.why,
        breaks: fault.breaks,
    };
    faults.into_iter().map(entry).collect()
}

/// That an entry reads other rules than those of which `status` tells.
fn other_rules(own: &Own, wanted: &WantedEntries) -> Option<Outdated> {
    let named = own.option_value("--config")?;
    let mut places = wanted.places.iter().skip_while(|word| *word != "--config");
    if places.nth(1).is_some_and(|wanted| wanted == named) {
        return None;
    }
    let breaks = !Path::new(named).is_dir();
    let why = match breaks {
        true => {
            format!("reads its rules from {named}, which is not there: every call is asked about")
        }
        false => {
            format!("reads its rules from {named}: `hookctl --config {named} status` tells of them")
        }
    };
    Some(Outdated { breaks, why })
}

/// Why a script is not run, whatever is in it.
#[cfg(unix)]
fn script_faults(place: &SettingsFile) -> Option<Outdated> {
    let is_script = matches!(place.form, Form::Scripts(_));
    let is_link = place.file.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
    let why = match (is_link, program::is_executable(&place.file)) {
        (true, _) => "a symbolic link, which the agent does not run",
        (false, false) => "not executable",
        (false, true) => return None,
    };
    is_script.then(|| Outdated { breaks: true, why: why.into() })
}

#[cfg(not(unix))]
fn script_faults(_: &SettingsFile) -> Option<Outdated> {
    None
}

fn inspect_binary(command: &str) -> Binary {
    let file = program::resolve_program(command);
    let this = std::env::current_exe().and_then(|exe| files::real_path(&exe)).ok();
    Binary {
        path: command.to_string(),
        exists: file.is_some(),
        executable: file
            .as_deref()
            .is_some_and(|file| program::is_executable(file) && program::begins_as_program(file)),
        current: file.as_deref().and_then(|file| files::real_path(file).ok()) == this,
        writable_by_others: file.as_deref().is_some_and(is_world_writable),
    }
}
