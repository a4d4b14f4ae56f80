//! `hookctl status`: what is in effect, not what was written.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::args::{Scope, StatusArgs};
use super::scope::{self, Place};
use super::{BOLD, Context, Exit, GREEN, RED, YELLOW, print};
use crate::config::Config;
use crate::event::Kind;
use crate::paths::Paths;
use crate::rule::Profile;
use crate::rule::fault::Gravity;
use crate::settings::file::Target;
use crate::settings::record::Records;
use crate::settings::survey::{Own, Survey};
use crate::settings::{self, Error};

mod guards;
mod verify;

use guards::is_world_writable;
pub(super) use guards::{Guard, guards};

/// How much of the journal's end is looked at for its last line.
const TAIL: u64 = 64 * 1024;

/// All that `status` says; the keys are stable.
#[derive(Debug, Serialize)]
struct Report {
    version: &'static str,
    agent: &'static str,
    /// Are all wanted events guarded by a program that works?
    in_effect: bool,
    /// Why not, in sentences.
    problems: Vec<String>,
    /// What else a person may want to know.
    notes: Vec<String>,
    files: Vec<FileReport>,
    guards: Vec<Guard>,
    config_faults: Vec<String>,
    profile: &'static str,
    /// Packs of shipped rules that files switch off.
    packs_off: Vec<&'static str>,
    /// Shipped rules that files switch off one by one.
    rules_off: Vec<&'static str>,
    /// Seconds since 1970; none = nothing was ever judged.
    last_event: Option<LastEvent>,
    /// Seconds since 1970, while a pause lasts.
    paused_until: Option<i64>,
    /// Only with `--verify`.
    #[serde(skip_serializing_if = "Option::is_none")]
    verify: Option<Vec<verify::Probe>>,
}

/// How our entries in one file are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
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
struct FileReport {
    scope: &'static str,
    file: PathBuf,
    exists: bool,
    /// Does the client read it? (Not JSON, or one refused entry: no.)
    valid: bool,
    error: Option<String>,
    state: State,
    /// The events with an entry of ours that the client uses.
    events: Vec<String>,
    missing: Vec<String>,
    outdated: Vec<Outdated>,
    /// The program that the entries run.
    binary: Option<Binary>,
    /// The events where the client blocks when hookctl fails.
    fails_closed: Vec<String>,
    disable_all_hooks: bool,
    allow_managed_hooks_only: bool,
    #[serde(skip)]
    own: Vec<Own>,
    #[serde(skip)]
    guarded: BTreeSet<String>,
}

#[derive(Debug, Serialize)]
struct Outdated {
    event: String,
    why: String,
    /// Does it keep the event from being guarded?
    breaks: bool,
}

#[derive(Debug, Serialize)]
struct Binary {
    path: String,
    exists: bool,
    executable: bool,
    /// Is it this program?
    current: bool,
    writable_by_others: bool,
}

#[derive(Debug, Serialize)]
struct LastEvent {
    time: i64,
    event: Option<String>,
}

/// Faults of the rule files of all layers, one line each. What a repository brings and nobody has
/// trusted breaks nothing.
fn config_faults(config: &Config) -> Vec<String> {
    let refused = config.sources.iter().filter_map(|source| source.refused.clone());
    let faults = config.faults().filter(|(source, fault)| {
        source.trusted && source.refused.is_none() && fault.gravity == Gravity::Error
    });
    let faults = faults.map(|(s, fault)| fault.line(&s.path.display().to_string(), &s.text));
    refused.chain(faults).map(|fault| super::visible(&fault)).collect()
}

/// Prints the report.
///
/// # Errors
/// Where stdout cannot be written.
pub fn run(context: &Context, args: &StatusArgs) -> Result<Exit> {
    let mut report = gather(context);
    if args.verify {
        let own = report.files.iter().filter(|file| file.valid).flat_map(|file| &file.own);
        let entry = own.into_iter().find(|own| own.seen && own.event == Kind::PreToolUse.name());
        match entry {
            Some(entry) => {
                let probes = verify::run(context, entry);
                let failed = probes.iter().filter(|probe| !probe.ok);
                report.problems.extend(failed.map(verify::Probe::sentence));
                report.verify = Some(probes);
            }
            None => report.problems.push("nothing to verify: no PreToolUse entry".into()),
        }
        report.in_effect &= report.problems.is_empty();
    }
    if args.json {
        print(&format!("{}\n", serde_json::to_string_pretty(&report)?))?;
    } else {
        print(&show(context, &report))?;
    }
    Ok(if report.in_effect { Exit::Ok } else { Exit::Found })
}

fn gather(context: &Context) -> Report {
    let records = Records::load(&context.paths);
    let mut files: Vec<FileReport> =
        scope::places(context).iter().map(|place| look(context, place, &records)).collect();
    let mut problems = Vec::new();
    let mut notes = Vec::new();

    let managed_off = files.iter().any(|f| f.scope == "managed" && f.disable_all_hooks);
    let managed_only = files.iter().any(|f| f.scope == "managed" && f.allow_managed_hooks_only);
    let off = files.iter().find(|f| f.scope != "managed" && f.disable_all_hooks);
    let off = off.map(|file| file.file.display().to_string());
    for file in &mut files {
        let managed = file.scope == "managed";
        if managed_off || (!managed && (managed_only || off.is_some())) || !file.valid {
            file.guarded.clear();
        }
    }
    let covered: BTreeSet<String> = files.iter().flat_map(|f| f.guarded.clone()).collect();
    let ours = || files.iter().filter(|file| file.state != State::Missing);
    let complete = ours().any(|file| {
        let breaks = file.outdated.iter().filter(|o| o.breaks).map(|o| &o.event);
        file.valid
            && file.missing.iter().chain(breaks).all(|event| covered.contains(event))
            && file.events.iter().all(|event| covered.contains(event))
    });

    if ours().next().is_none() {
        problems.push("hookctl is not installed here: run `hookctl install`".into());
    }
    if managed_off {
        problems.push("`disableAllHooks` in the managed settings: no hook runs at all".into());
    } else if let Some(file) = &off {
        problems.push(format!(
            "`disableAllHooks` in {file}: no user's, project's or local hook runs; remove it"
        ));
    }
    if managed_only {
        problems.push("`allowManagedHooksOnly` in the managed settings: only those run".into());
    }
    for file in &files {
        let name = file.scope;
        if let Some(error) = &file.error {
            let cost = if file.valid { "" } else { "the agent drops the whole file: " };
            problems.push(format!("{name} settings: {cost}{error}"));
        }
        if file.state == State::Missing {
            continue;
        }
        if !file.missing.is_empty() {
            let missing = file.missing.join(", ");
            let text = format!("{name} settings: no entry for {missing}; run `hookctl install`");
            let elsewhere = file.missing.iter().all(|event| covered.contains(event));
            if elsewhere { notes.push(text) } else { problems.push(text) }
        }
        let mut reasons: BTreeMap<(bool, &str), Vec<&str>> = BTreeMap::new();
        for outdated in &file.outdated {
            let key = (outdated.breaks, outdated.why.as_str());
            reasons.entry(key).or_default().push(&outdated.event);
        }
        for ((breaks, why), events) in reasons {
            let text = format!("{name} settings: {} outdated: {why}", events.join(", "));
            if breaks { problems.push(text) } else { notes.push(text) }
        }
        if let Some(binary) = &file.binary {
            if !binary.exists {
                problems.push(format!("{name} settings: {} is not there", binary.path));
            } else if !binary.executable {
                problems.push(format!("{name} settings: {} cannot be run", binary.path));
            }
            if binary.writable_by_others {
                problems.push(format!("{} can be changed by every user", binary.path));
            }
        }
        if file.fails_closed.is_empty() {
            notes.push(format!(
                "{name} settings: if hookctl itself fails, the agent goes on (`hookctl install \
                 --fail-closed` blocks instead, with Claude Code after 2.1.197)"
            ));
        } else {
            notes.push(format!(
                "{name} settings: fails closed on {} (Claude Code 2.1.197 and older go on)",
                file.fails_closed.join(", ")
            ));
        }
    }
    let twice = ours().filter(|file| file.valid).count() > 1;
    if twice {
        notes.push("more than one scope has hookctl: differing entries each judge".into());
    }
    let config = Config::load(&context.paths, &context.root, None);
    let config_faults = config_faults(&config);
    problems.extend(config_faults.iter().map(|fault| format!("rules: {fault}")));
    let paused_until = paused(&context.paths);
    if paused_until.is_some() {
        problems.push("paused: everything passes (`hookctl resume` ends it)".into());
    }
    let (packs_off, rules_off) = super::packs::switched_off(&config);
    Report {
        version: env!("CARGO_PKG_VERSION"),
        agent: "claude",
        in_effect: complete && problems.is_empty(),
        problems,
        notes,
        guards: guards(context),
        config_faults,
        profile: config.profile.name(),
        packs_off,
        rules_off,
        last_event: last_event(&context.paths),
        paused_until,
        files,
        verify: None,
    }
}

/// One file: what is in it, beside what should be.
fn look(context: &Context, place: &Place, records: &Records) -> FileReport {
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
    let Survey { own, invalid, disabled, managed_only, .. } = read.survey;
    report.disable_all_hooks = disabled;
    report.allow_managed_hooks_only = managed_only && place.scope.is_none();
    if let Some(fatal) = invalid.iter().find(|invalid| invalid.fatal) {
        report.valid = false;
        report.error = Some(fatal.fault.show(&place.file, &read.text));
    }
    report.own = own;
    let seen: Vec<&Own> = report.own.iter().filter(|own| own.seen).collect();
    let Some(first) = seen.first() else { return report };

    let real = Target::find(&place.file).map(|target| target.real.display().to_string());
    let asked = real.ok().and_then(|real| records.files.get(&real)).map(|r| r.events.clone());
    let asked = asked.unwrap_or_default();
    let agent = crate::agent::by_id("claude").unwrap_or(crate::agent::AGENTS[0]);
    let scope = place.scope.unwrap_or(Scope::User);
    let mut wanted = scope::wanted(context, agent, scope, &asked, None)
        .or_else(|_| scope::wanted(context, agent, scope, &[], None))
        .ok();
    if let Some(wanted) = &mut wanted {
        // A rule may need more by now than was asked for.
        let needed = scope::needed_events(context);
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
    binaries.sort_by_key(|binary| (binary.executable, binary.current));
    report.binary = binaries.into_iter().next();
    report.state = match (report.outdated.is_empty(), report.missing.is_empty()) {
        (false, _) => State::Outdated,
        (true, false) => State::Partial,
        (true, true) => State::Installed,
    };
    report
}

fn binary(command: &str) -> Binary {
    let file = scope::resolve(command);
    let this = std::env::current_exe().and_then(|exe| exe.canonicalize()).ok();
    Binary {
        path: command.to_string(),
        exists: file.is_some(),
        executable: file.as_deref().is_some_and(scope::is_executable),
        current: file.as_deref().and_then(|file| file.canonicalize().ok()) == this,
        writable_by_others: file.as_deref().is_some_and(is_world_writable),
    }
}

fn paused(paths: &Paths) -> Option<i64> {
    let bytes = fs::read(paths.pause()).ok()?;
    let until = serde_json::from_slice::<Value>(&bytes).ok()?.get("until")?.as_f64()? as i64;
    (until > now()).then_some(until)
}

fn now() -> i64 {
    seconds(SystemTime::now())
}

fn seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// When the journal was last written and, where its last line says so, for which event.
fn last_event(paths: &Paths) -> Option<LastEvent> {
    use std::io::{Read, Seek, SeekFrom};
    let mut file = fs::File::open(paths.journal()).ok()?;
    let meta = file.metadata().ok()?;
    file.seek(SeekFrom::Start(meta.len().saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let line = tail.split(|byte| *byte == b'\n').rfind(|line| !line.is_empty())?;
    let event = serde_json::from_slice::<Value>(line).ok();
    let event = event.and_then(|line| Some(line.get("event")?.as_str()?.to_string()));
    Some(LastEvent { time: seconds(meta.modified().ok()?), event })
}

/// The report for people.
fn show(context: &Context, report: &Report) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(text, "{} {value}", context.paint(BOLD, &format!("{name:<11}")));
    };
    let verdict = match report.in_effect {
        true => context.paint(GREEN, "in effect"),
        false => context.paint(RED, "NOT in effect"),
    };
    line("guard", &format!("{verdict} (hookctl {}, Claude Code)", report.version));
    for file in &report.files {
        let managed_absent = file.scope == "managed" && !file.exists;
        let (sgr, word) = match file.state {
            _ if !file.valid => (RED, "broken"),
            State::Installed => (GREEN, "installed"),
            State::Partial => (YELLOW, "partial"),
            State::Outdated => (YELLOW, "outdated"),
            State::Missing if !file.exists => (0, "no file"),
            State::Missing => (0, "missing"),
        };
        if managed_absent {
            continue;
        }
        let word = format!("{word:<10}");
        let word = if sgr == 0 { word } else { context.paint(sgr, &word) };
        line(file.scope, &format!("{word} {}", file.file.display()));
        if let Some(binary) = &file.binary {
            let current = match (binary.exists, binary.current) {
                (false, _) => " (not there)",
                (true, false) => " (another build than this one)",
                (true, true) => "",
            };
            line("", &format!("runs       {}{current}", binary.path));
            let events: Vec<&str> = file.events.iter().map(String::as_str).collect();
            let events = super::install::fold(&events, 70, &" ".repeat(23));
            line("", &format!("events     {events}"));
        }
    }
    for guard in &report.guards {
        let known = guard.known.map(|name| format!(" [{name}]")).unwrap_or_default();
        let problem = guard.problem.as_ref().map(|p| format!(": {p}")).unwrap_or_default();
        let problem = context.paint(YELLOW, &problem);
        let who = format!("{} ({}){known}", guard.event, guard.scope);
        line("also runs", &format!("{who}: {}{problem}", guard.command));
    }
    let observes = report.profile == Profile::Observe.name();
    let profile = format!("{} (no shipped rule is enforced)", report.profile);
    line("profile", if observes { &profile } else { report.profile });
    for (what, off) in [("packs off", &report.packs_off), ("rules off", &report.rules_off)] {
        if !off.is_empty() {
            line(what, &super::install::fold(off, 70, &" ".repeat(12)));
        }
    }
    let last = match &report.last_event {
        None => "none yet".to_string(),
        Some(last) => {
            let name = last.event.as_deref().unwrap_or("an event");
            format!("{name}, {}", ago(now() - last.time))
        }
    };
    line("last event", &last);
    if let Some(until) = report.paused_until {
        line("paused", &context.paint(RED, &format!("for another {} s", until - now())));
    }
    for probe in report.verify.iter().flatten() {
        let (sgr, word) = if probe.ok { (GREEN, "ok  ") } else { (RED, "FAIL") };
        line("verify", &format!("{} {}", context.paint(sgr, word), probe.sentence()));
    }
    for (name, sgr, sentences) in
        [("problem", RED, &report.problems), ("note", YELLOW, &report.notes)]
    {
        for sentence in sentences {
            let name = context.paint(sgr, &format!("{name:<11}"));
            let _ = writeln!(text, "{name} {}", sentence.replace('\n', "\n            "));
        }
    }
    text
}

fn ago(seconds: i64) -> String {
    match seconds {
        ..60 => "less than a minute ago".into(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
