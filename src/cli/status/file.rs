//! One settings file: what is in it, beside what should be.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Serialize;

use super::super::Context;
use super::super::args::Scope;
use super::super::scope::{self, Place};
use super::guards::is_world_writable;
use crate::rule::file::server::Typed;
use crate::settings::file::Target;
use crate::settings::program;
use crate::settings::record::Records;
use crate::settings::survey::{Own, Survey};
use crate::settings::{self, Error};

/// How our entries in one file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum State {
    /// Every wanted event, as install would write it.
    Installed,
    /// Some wanted events lack.
    Partial,
    /// No entry of ours.
    Missing,
    /// An entry is not what install would write.
    Outdated,
}

/// One settings file.
#[derive(Debug, Serialize)]
pub(super) struct FileReport {
    pub(super) scope: &'static str,
    pub(super) file: PathBuf,
    pub(super) exists: bool,
    /// Does the client read it? (Not JSON, or one refused entry: no.)
    pub(super) valid: bool,
    pub(super) error: Option<String>,
    pub(super) state: State,
    /// The events with an entry of ours that the client uses.
    pub(super) events: Vec<String>,
    pub(super) missing: Vec<String>,
    pub(super) outdated: Vec<Outdated>,
    /// The program that the entries run.
    pub(super) binary: Option<Binary>,
    /// The events where the client blocks when hookctl fails.
    pub(super) fails_closed: Vec<String>,
    pub(super) disable_all_hooks: bool,
    pub(super) allow_managed_hooks_only: bool,
    /// The events that are handed to a bridge (`hookctl claude-hook`).
    pub(super) bridge: Vec<String>,
    /// What the entries say of the user's server.
    #[serde(skip)]
    pub(super) server: Typed,
    #[serde(skip)]
    pub(super) own: Vec<Own>,
    #[serde(skip)]
    pub(super) guarded: BTreeSet<String>,
}

#[derive(Debug, Serialize)]
pub(super) struct Outdated {
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
pub(super) fn look(context: &Context, place: &Place, records: &Records) -> FileReport {
    let mut report = FileReport {
        scope: place.name(),
        file: place.file.clone(),
        exists: true,
        valid: true,
        error: None,
        state: State::Missing,
        events: Vec::new(),
        missing: Vec::new(),
        outdated: Vec::new(),
        binary: None,
        fails_closed: Vec::new(),
        disable_all_hooks: false,
        allow_managed_hooks_only: false,
        bridge: Vec::new(),
        server: Typed::new(),
        own: Vec::new(),
        guarded: BTreeSet::new(),
    };
    let read = match settings::read(&place.file) {
        Ok(Some(read)) => read,
        Ok(None) => {
            report.exists = false;
            return report;
        }
        Err(error) => {
            report.valid = false;
            report.error = Some(match &error {
                Error::Refused { file, text, fault } => fault.show(file, text),
                other => other.to_string(),
            });
            return report;
        }
    };
    let server = read.survey.server();
    let Survey { own, bridge, invalid, disabled, managed_only, .. } = read.survey;
    report.disable_all_hooks = disabled;
    report.allow_managed_hooks_only = managed_only && place.scope.is_none();
    if let Some(fatal) = invalid.iter().find(|invalid| invalid.fatal) {
        report.valid = false;
        report.error = Some(fatal.fault.show(&place.file, &read.text));
    }
    report.own = own;
    report.bridge = bridge.into_iter().filter(|own| own.seen).map(|own| own.event).collect();
    report.server = server.clone();
    let seen: Vec<&Own> = report.own.iter().filter(|own| own.seen).collect();
    let Some(first) = seen.first() else { return report };

    let real = Target::find(&place.file).map(|target| target.record_key());
    let asked = real.ok().and_then(|real| records.files.get(&real)).map(|r| r.events.clone());
    let asked = asked.unwrap_or_default();
    let agent = crate::agent::usual();
    let scope = place.scope.unwrap_or(Scope::User);
    let mut wanted = scope::wanted(context, agent, scope, &asked, None, server.clone())
        .or_else(|_| scope::wanted(context, agent, scope, &[], None, Typed::new()))
        .ok();
    if let Some(wanted) = &mut wanted {
        // A rule may need more by now than was asked for.
        let needed = scope::needed_events(context, &server).unwrap_or_default();
        for kind in needed.iter().filter(|kind| !asked.is_empty() && agent.spec(*kind).is_some()) {
            if wanted.events.iter().all(|(have, _)| *have != kind) {
                wanted.events.extend(agent.spec(kind).map(|spec| (kind, spec.timeout)));
            }
        }
        // The administrator's entries are written by other means: only what breaks counts.
        if place.scope.is_none() {
            wanted.command = first.command.clone();
        }
    }

    let mut broken = BTreeSet::new();
    for own in &seen {
        if !report.events.contains(&own.event) {
            report.events.push(own.event.clone());
        }
        if own.fails_closed() {
            report.fails_closed.push(own.event.clone());
        }
        for fault in wanted.iter().flat_map(|wanted| wanted.faults(own)) {
            if place.scope.is_none() && !fault.breaks {
                continue;
            }
            if fault.breaks {
                broken.insert(own.event.clone());
            }
            let (event, why, breaks) = (own.event.clone(), fault.why, fault.breaks);
            report.outdated.push(Outdated { event, why, breaks });
        }
    }
    for (kind, _) in wanted.iter().flat_map(|wanted| &wanted.events) {
        if seen.iter().all(|own| own.event != kind.name()) {
            report.missing.push(kind.name().to_string());
        }
    }
    // Several programs in one file: the one that does not work is the one to show.
    let mut binaries: Vec<Binary> = Vec::new();
    for own in &seen {
        if binaries.iter().all(|binary| binary.path != own.command) {
            binaries.push(binary(&own.command));
        }
        let works = binaries.iter().any(|b| b.path == own.command && b.executable);
        if works && !broken.contains(&own.event) {
            report.guarded.insert(own.event.clone());
        }
    }
    crate::order::sort_by_key(&mut binaries, |binary| (binary.executable, binary.current));
    report.binary = binaries.into_iter().next();
    report.state = match (report.outdated.is_empty(), report.missing.is_empty()) {
        (false, _) => State::Outdated,
        (true, false) => State::Partial,
        (true, true) => State::Installed,
    };
    report
}

fn binary(command: &str) -> Binary {
    let file = program::resolve(command);
    let this = std::env::current_exe().and_then(|exe| exe.canonicalize()).ok();
    Binary {
        path: command.to_string(),
        exists: file.is_some(),
        executable: file.as_deref().is_some_and(program::is_executable),
        current: file.as_deref().and_then(|file| file.canonicalize().ok()) == this,
        writable_by_others: file.as_deref().is_some_and(is_world_writable),
    }
}
