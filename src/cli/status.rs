//! `hookctl status`: what is in effect, not what was written.

use std::collections::BTreeSet;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use serde::Serialize;
use serde_json::Value;

use super::args::StatusArgs;
use super::log;
use super::others;
use super::{Context, Exit, print, print_json, scope};
use crate::agent::wiring::Scope;
use crate::config::standing::Standing;
use crate::config::{Config, LayerFile};
use crate::files;
use crate::journal;
use crate::moment::Moment;
use crate::order::to_set;
use crate::paths::Paths;
use crate::pause;
use crate::remote::heartbeat::State;
use crate::rule::fault::{Fault, Gravity};
use crate::settings::beside::{self, Conflict, InstalledProgram};
use crate::settings::record::Records;
use crate::trust;

mod agents;
mod expected;
mod file;
mod gates;
mod guards;
mod health;
mod live;
mod plugin;
mod servers;
mod show;
mod verify;
mod versions;

pub(super) use show::format_age;

use agents::AgentRow;
use file::FileReport;
use guards::{Guard, foreign_guards};

/// How much of the journal's end is looked at for its last line.
const TAIL: u64 = 64 * 1024;

/// All that `status` says; the keys are stable.
#[derive(Debug, Serialize)]
struct StatusReport {
    version: &'static str,
    agent: &'static str,
    /// Are all wanted events guarded by a program that works?
    in_effect: bool,
    /// The agents that are guarded, by their ids.
    guarded: Vec<&'static str>,
    /// Why not, in sentences.
    problems: Vec<String>,
    /// What else a person may want to know.
    notes: Vec<String>,
    files: Vec<FileReport>,
    /// Every agent that is here or has hookctl in its settings.
    agents: Vec<AgentRow>,
    guards: Vec<Guard>,
    /// Other programs that do what a server does as well.
    conflicts: Vec<Conflict>,
    config_faults: Vec<String>,
    profile: &'static str,
    /// Version and hash of the bundle that the managed rules are from.
    bundle: String,
    /// Packs of shipped rules that files switch off.
    packs_off: Vec<&'static str>,
    /// Shipped rules that files switch off one by one.
    rules_off: Vec<&'static str>,
    servers: Vec<servers::Server>,
    /// Seconds since 1970; none = nothing was ever judged.
    last_event: Option<LastEvent>,
    /// Seconds since 1970, while a pause lasts.
    paused_until: Option<i64>,
    /// Only with `--verify`.
    #[serde(skip_serializing_if = "Option::is_none")]
    verify: Option<Vec<verify::Probe>>,
    /// Only with `--live`.
    #[serde(skip_serializing_if = "Option::is_none")]
    live: Option<Vec<live::LiveCheck>>,
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
    let refused = refused.map(|why| super::make_visible(&why));
    refused.chain(faults.map(|(source, fault)| fault_line(source, fault))).collect()
}

/// A fault of a rule file in a line.
fn fault_line(source: &LayerFile, fault: &Fault) -> String {
    let file = super::flatten_lines(&source.path.display().to_string());
    super::make_visible(&fault.to_line(&file, &source.text))
}

/// Prints the report.
///
/// # Errors
/// Where stdout cannot be written, or the live check cannot be made.
pub fn run(context: &Context, args: &StatusArgs) -> Result<Exit> {
    let mut report = gather_report(context, args);
    if args.verify {
        verify(context, &mut report);
    }
    if args.live {
        live::check_agents(context, args, &mut report)?;
    }
    match args.json {
        true => print_json(&report)?,
        false => print(&show::render_report(context, &report))?,
    };
    Ok(if report.in_effect { Exit::Ok } else { Exit::Found })
}

/// What keeps the guard from being in effect, and what else there is to say, in sentences. No server is asked.
pub(super) fn problems_and_notes(context: &Context) -> (Vec<String>, Vec<String>) {
    let args = StatusArgs { offline: true, ..StatusArgs::default() };
    let report = gather_report(context, &args);
    (report.problems, report.notes)
}

/// What a heartbeat tells: the agents that have hookctl, and what `status --verify` finds wrong. No server is asked.
pub(super) fn describe_state(context: &Context) -> State {
    let args = StatusArgs { offline: true, verify: true, ..StatusArgs::default() };
    let mut report = gather_report(context, &args);
    verify(context, &mut report);
    let has = |row: &&AgentRow| row.is_installed();
    let mut agents: Vec<String> =
        report.agents.iter().filter(has).map(|row| row.agent.to_string()).collect();
    // The plugin, and Codex's requirements, are no entries of settings.
    let more = report.guarded.iter().map(|id| id.to_string());
    agents.extend(more.filter(|id| !agents.contains(id)).collect::<Vec<_>>());
    // For a person that is a note: the rules hold. Who gave them wants to know.
    report.problems.extend(crate::bundle::describe_expiry(&context.paths));
    State { agents, problems: report.problems }
}

/// Runs the registered command of every agent on samples.
fn verify(context: &Context, report: &mut StatusReport) {
    let mut probes = Vec::new();
    for row in report.agents.iter().filter(|row| row.is_installed()) {
        let Some(agent) = crate::agent::by_id(row.agent) else { continue };
        let canaries = verify::find_canaries(context, agent);
        if canaries.is_empty() {
            let event = gates::sample_event(agent).unwrap_or_default();
            let text = format!("{}: nothing to verify: no {event} entry", row.title);
            let chosen = gates::is_gate(agent, &to_set(row.events.iter().cloned()));
            let list = if chosen { &mut report.notes } else { &mut report.problems };
            list.push(text);
        }
        let run = canaries.iter().flat_map(|canary| verify::run_probes(context, canary));
        probes.extend(run);
    }
    if probes.is_empty() && report.agents.iter().all(|row| !row.is_installed()) {
        report.notes.push("nothing to verify: no agent's settings have an entry".into());
    }
    let failed = probes.iter().filter(|probe| !probe.ok);
    report.problems.extend(failed.map(verify::Probe::describe_probe));
    report.verify = (!probes.is_empty()).then_some(probes);
    report.in_effect &= report.problems.is_empty();
}

/// What there is to say, in sentences.
#[derive(Default)]
struct Said {
    /// Why the guard is not in effect.
    problems: Vec<String>,
    notes: Vec<String>,
}

impl Said {
    fn problem(&mut self, text: impl Into<String>) {
        self.problems.push(text.into());
    }

    fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// A problem where it breaks something.
    fn say(&mut self, breaks: bool, text: String) {
        if breaks { self.problem(text) } else { self.note(text) }
    }
}

fn gather_report(context: &Context, args: &StatusArgs) -> StatusReport {
    let records = Records::load(&context.paths);
    let mut files: Vec<FileReport> = scope::all_scope_files(context)
        .iter()
        .map(|place| file::inspect_file(context, place, &records))
        .collect();
    let mut said = Said::default();
    let installed = files.iter().any(FileReport::is_ours);
    let agents = agents::agent_rows(context, &records, args.verify);
    let is_other = |row: &&AgentRow| row.agent != crate::agent::default_agent().id();
    let elsewhere = agents.iter().filter(is_other).any(AgentRow::is_installed);
    said.problems.extend(agents::problems_of_others(&agents));
    let requirements = super::managed::requirements_state();
    match &requirements {
        Some(Ok(file)) => {
            let file = file.display();
            said.note(format!("Codex's requirements have hookctl for every user: {file}"));
        }
        Some(Err(why)) => said.problem(why),
        None => {}
    }
    let plugin = plugin::find(context, &files);
    let off = switched_off(&mut files);
    let covered = to_set(files.iter().flat_map(|f| f.guarded.clone()));
    let complete = files.iter().any(|file| file.is_complete(&covered));
    // What the administrator registered outlives what others switch off.
    off.into_iter().for_each(|text| said.say(!complete, text));
    match &plugin {
        Some(plugin) => tell_plugin(plugin, installed, &mut said),
        None if !installed && !elsewhere && requirements.is_none() => {
            said.problem("hookctl is not installed here: run `hookctl install`");
        }
        None => {}
    }
    let loaded = matches!(&plugin, Some(plugin) if plugin.state == plugin::State::Loaded);
    for file in &files {
        of_file(file, &covered, &mut said);
    }
    if installed && !loaded {
        let ours: Vec<&FileReport> = files.iter().filter(|file| file.is_ours()).collect();
        let gates = gates::check_gates(crate::agent::default_agent(), &ours, &[]);
        gates.tell(&mut said.problems, &mut said.notes);
    }
    if files.iter().filter(|file| file.is_ours() && file.valid).count() > 1 {
        said.note("more than one scope has hookctl: differing entries each judge");
    }
    said.notes.extend(versions::other_programs(context, &files, args.verify));
    let mut config = Config::load(&context.paths, &context.root, None);
    said.problems.extend(apply_registered(&mut config, &files));
    said.notes.extend(crate::bundle::describe_staleness(&context.paths));
    let config_faults = config_faults(&config);
    said.problems.extend(config_faults.iter().map(|fault| format!("rules: {fault}")));
    of_config(&config, installed && files.iter().any(|file| !file.bridge.is_empty()), &mut said);
    let paused_until = of_state(context, &config, &mut said);
    said.notes.extend(servers::privacy_warnings(&config));
    let mut here = files.iter().filter(|file| file.is_ours()).map(|file| file.scope);
    let again = beside::install_command(here.find(|scope| *scope != "managed").unwrap_or("user"));
    let mut others = beside::find_programs(&scope::all_scope_files(context), &config);
    others.retain(|_| installed);
    said.problems.extend(others.iter().filter_map(|other| other.conflict_warning(&again)));
    said.notes.extend(others::unserved_programs(context, &config, &records));
    let (packs_off, rules_off) = super::packs::switched_off(&config);
    let mut guarded: Vec<&str> = Vec::new();
    guarded.extend((complete || !installed && loaded).then(|| crate::agent::default_agent().id()));
    guarded.extend(agents.iter().filter(|row| is_other(row) && row.in_effect).map(|row| row.agent));
    guarded.extend(matches!(requirements, Some(Ok(_))).then_some("codex"));
    guarded.dedup();
    StatusReport {
        version: env!("CARGO_PKG_VERSION"),
        agent: crate::agent::default_agent().id(),
        in_effect: (complete || !installed) && !guarded.is_empty() && said.problems.is_empty(),
        guarded,
        agents,
        problems: said.problems,
        notes: said.notes,
        guards: foreign_guards(context),
        conflicts: others.iter().filter_map(InstalledProgram::conflict).collect(),
        config_faults,
        profile: config.profile.name(),
        bundle: std::mem::take(&mut config.bundle),
        packs_off,
        rules_off,
        servers: servers::server_reports(context, &config, args.offline),
        last_event: last_event(&context.paths),
        paused_until: paused_until.and_then(|until| i64::try_from(until).ok()),
        files,
        verify: None,
        live: None,
    }
}

/// What of the settings switches hooks off, in sentences: what is in such files guards nothing.
fn switched_off(files: &mut [FileReport]) -> Vec<String> {
    let is_managed = |file: &FileReport| file.scope == Scope::Managed.name();
    let find = |fits: &dyn Fn(&FileReport) -> bool| {
        files.iter().find(|file| fits(file)).map(|file| file.file.display().to_string())
    };
    let all = find(&|file| is_managed(file) && file.disable_all_hooks);
    let others = find(&|file| !is_managed(file) && file.disable_all_hooks);
    let only = find(&|file| is_managed(file) && file.allow_managed_hooks_only);
    let others_off = others.is_some() || only.is_some();
    for file in files {
        if all.is_some() || (!is_managed(file) && others_off) || !file.valid {
            file.guarded.clear();
        }
    }
    let mut told = Vec::new();
    match (all, others) {
        (Some(file), _) => told.push(format!("`disableAllHooks` in {file}: no hook runs at all")),
        (None, Some(file)) => told.push(format!(
            "`disableAllHooks` in {file}: no user's, project's or local hook runs; remove it"
        )),
        (None, None) => {}
    }
    told.extend(only.map(|file| format!("`allowManagedHooksOnly` in {file}: only those run")));
    told
}

/// What there is to say of Claude Code's plugin; `installed`: settings have entries as well.
fn tell_plugin(plugin: &plugin::Plugin, installed: bool, said: &mut Said) {
    let name = super::make_visible(&plugin.name);
    match &plugin.state {
        plugin::State::Loaded => {
            said.note(format!("Claude Code runs hookctl as its plugin {name}"))
        }
        plugin::State::SwitchedOff(scope) => said.say(
            !installed,
            format!("the {scope} settings switch the plugin off: take {name} out of them"),
        ),
        plugin::State::Gone(why) => {
            said.say(!installed, format!("Claude Code does not load the plugin {name}: {why}"));
        }
    }
}

/// What is wrong with one file, and what else there is to say of it.
fn of_file(file: &FileReport, covered: &BTreeSet<String>, said: &mut Said) {
    let name = file.scope;
    if let Some(error) = &file.error {
        let cost = if file.valid { "" } else { "the agent drops the whole file: " };
        said.problem(format!("{name} settings: {cost}{error}"));
    }
    said.notes.extend(file.other_hooks_line().map(|line| format!("{name} settings: {line}")));
    if !file.is_ours() {
        return;
    }
    if !file.missing.is_empty() {
        let missing = file.missing.join(", ");
        let text = format!("{name} settings: no entry for {missing}; run `hookctl install`");
        said.say(!file.missing.iter().all(|event| covered.contains(event)), text);
    }
    if let Some(line) = file.off_line() {
        said.say(!file.off_needed.is_empty(), format!("{name} settings: {line}"));
    }
    for (breaks, line) in file.outdated_lines() {
        said.say(breaks, format!("{name} settings: {line}"));
    }
    if let Some(binary) = &file.binary {
        // Another file's entries judge all the same.
        let breaks = !file.events.iter().all(|event| covered.contains(event));
        let path = &binary.path;
        match (binary.exists, binary.executable) {
            (false, _) if path.contains(['/', '\\']) => {
                said.say(breaks, format!("{name} settings: {path} is not there"))
            }
            (false, _) => said.say(breaks, format!("{name} settings: `{path}` is not in PATH")),
            (_, false) => said.say(breaks, format!("{name} settings: {path} cannot be run")),
            _ => {}
        }
        if binary.writable_by_others {
            said.problem(format!("{} can be changed by every user", binary.path));
        }
    }
    said.note(match file.fails_closed.is_empty() {
        true => format!(
            "{name} settings: if hookctl itself fails, the agent goes on (`hookctl install \
             --fail-closed` blocks instead, with Claude Code after 2.1.197)"
        ),
        false => format!(
            "{name} settings: fails closed on {} (Claude Code 2.1.197 and older go on)",
            file.fails_closed.join(", ")
        ),
    });
}

/// What there is to say of the rules and servers. `bridged`: entries hand events to a bridge beside the guard's.
fn of_config(config: &Config, bridged: bool, said: &mut Said) {
    if config.active_autopilot().is_some() {
        said.note("autopilot: on; harmless read-only, build and test commands pass unasked");
    }
    if let Some(name) = super::bridge::bridge_server(config).filter(|_| bridged) {
        said.note(format!(
            "`hookctl claude-hook` and [remote.{name}] both hand events to a bridge: each comes twice"
        ));
    }
    if !config.journal.enabled {
        said.note("no decision is noted: `[journal] enabled = false`");
    }
    said.notes.extend(weakened_guards(config));
}

/// What there is to say of what hookctl keeps; until when it is paused.
fn of_state(context: &Context, config: &Config, said: &mut Said) -> Option<u64> {
    let paused_until = pause::paused_until(&context.paths).unwrap_or_else(|why| {
        said.note(why);
        None
    });
    said.notes.extend(trust::Store::read(&context.paths.trust()).err());
    if let Err(refusal) = files::guarded_dir(&context.paths.state) {
        said.note(format!("nothing that hookctl kept counts: {refusal}"));
    }
    if let Some(why) = journal::find_obstacle(&context.paths.journal(), &config.journal) {
        said.note(format!("the audit has a gap: {why}"));
    }
    if paused_until.is_some() {
        said.problem(
            "paused: everything passes but what would switch hookctl off (`hookctl resume` ends it)",
        );
    }
    paused_until
}

/// The rules that guard hookctl itself, where a file of the user's has switched one off or weakened it.
fn weakened_guards(config: &Config) -> Option<String> {
    let weak = |one: &Standing<'_>| {
        one.own.stays
            && (!one.enabled || one.rule.mode < one.own.mode || one.rule.verb() < one.own.verb())
    };
    let all = config.standing_rules();
    let names: Vec<&str> = all.iter().filter(|one| weak(one)).map(|one| one.shipped.id).collect();
    (!names.is_empty()).then(|| {
        format!("self-protection: a file of yours weakens {}: agents may do that", names.join(", "))
    })
}

/// Takes in what the entries that are registered say of the user's server; what is wrong with it.
fn apply_registered(config: &mut Config, files: &[FileReport]) -> Option<String> {
    let said = files.iter().filter(|file| file.valid).map(|file| &file.server);
    let typed = said.into_iter().find(|typed| !typed.is_empty())?;
    config.override_server(typed).err().map(|why| format!("the registered command line: {why}"))
}

fn unix_now() -> i64 {
    unix_seconds(SystemTime::now())
}

fn unix_seconds(time: SystemTime) -> i64 {
    time.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs() as i64)
}

/// The last event that an agent told of: samples of our own are none.
fn last_event(paths: &Paths) -> Option<LastEvent> {
    use std::io::{Read, Seek, SeekFrom};
    let (mut file, meta) = files::open(&paths.journal(), files::LONG).ok()?;
    file.seek(SeekFrom::Start(meta.len().saturating_sub(TAIL))).ok()?;
    let mut tail = Vec::new();
    file.take(TAIL).read_to_end(&mut tail).ok()?;
    let lines = tail.split(|byte| *byte == b'\n').rev();
    let mut lines = lines.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let line = lines.find(|line| line.as_object().is_some_and(|line| !log::is_sample(line)))?;
    let text = |key: &str| line.get(key).and_then(Value::as_str);
    let told = text("time").and_then(Moment::parse).map(Moment::to_seconds);
    let time = told.unwrap_or_else(|| meta.modified().map_or(0, unix_seconds));
    let event = text("event").filter(|event| !event.is_empty()).map(str::to_string);
    Some(LastEvent { time, event })
}

#[cfg(test)]
mod tests {
    use super::file::{EntryState, FileReport};
    use super::switched_off;

    /// A file with an entry of ours, in that scope.
    fn report(scope: &'static str) -> FileReport {
        FileReport {
            scope,
            file: format!("/{scope}").into(),
            exists: true,
            valid: true,
            state: EntryState::Installed,
            events: vec!["PreToolUse".into()],
            guarded: ["PreToolUse".to_string()].into(),
            ..FileReport::default()
        }
    }

    #[test]
    fn any_of_the_administrators_files_switches_all_off_and_no_other_does() {
        let off = |scope| FileReport { disable_all_hooks: true, ..report(scope) };
        let only = |scope| FileReport { allow_managed_hooks_only: true, ..report(scope) };
        let guarded = |mut files: Vec<FileReport>| {
            let told = switched_off(&mut files).join("; ");
            let scopes = files.iter().filter(|file| !file.guarded.is_empty());
            (scopes.map(|file| file.scope).collect::<Vec<_>>().join(" "), told)
        };
        let (left, told) = guarded(vec![report("managed"), off("managed"), report("user")]);
        assert_eq!(left, "");
        assert!(told.contains("`disableAllHooks` in /managed: no hook runs at all"), "{told}");
        let (left, told) = guarded(vec![report("managed"), off("user"), report("project")]);
        assert_eq!(left, "managed");
        assert!(told.contains("`disableAllHooks` in /user"), "{told}");
        let (left, told) = guarded(vec![report("managed"), only("managed"), report("user")]);
        assert_eq!(left, "managed managed");
        assert!(told.contains("`allowManagedHooksOnly` in /managed"), "{told}");
        let (left, told) = guarded(vec![report("managed"), report("user")]);
        assert_eq!((left.as_str(), told.as_str()), ("managed user", ""));
    }
}
