//! `hookctl claude-hook --enable`, `--disable`, `--status`: the entries that hand an agent's events to the
//! listener of agent-hooks.

use std::ffi::OsString;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::args::{BridgeArgs, SettingsScope};
use super::install::{count_removed, left_out, loosening_refusal};
use super::{Context, Exit, human, lasting, print, print_json, print_stderr, scope};
use crate::agent::wiring::Form;
use crate::agent::{self, Agent};
use crate::config::Config;
use crate::dialect::bridge::{PACKAGE, agent_of};
use crate::event::Kind;
use crate::forward;
use crate::rule::file::server::Typed;
use crate::settings::hooks::{WantedEntries, WantedEvent};
use crate::settings::place::SettingsFile;
use crate::settings::survey::{Foreign, Own, Role};
use crate::settings::{self, EditMode, Error};

/// The agents that have a bridge.
const AGENTS: &[&str] = &[DEFAULT, "cline", "gemini", "opencode", "droid"];
/// The one whose project and local settings count as well.
const DEFAULT: &str = "claude";
/// The events that the bridge's own hooks are registered for.
const EVENTS: &[Kind] = &[
    Kind::PreToolUse,
    Kind::PostToolUse,
    Kind::Notification,
    Kind::Stop,
    Kind::SubagentStop,
    Kind::UserPromptSubmit,
    Kind::PreCompact,
    Kind::SessionStart,
    Kind::SessionEnd,
];
/// How long the agent waits for one of them at most, in seconds.
const TIMEOUT: u32 = 30;

/// `hookctl claude enable`, the later spelling, as `hookctl claude-hook --enable`.
pub fn expand_spelling(args: impl IntoIterator<Item = OsString>) -> Vec<OsString> {
    let mut args: Vec<OsString> = args.into_iter().collect();
    let action = match args.get(2).and_then(|action| action.to_str()) {
        Some(action @ ("enable" | "disable" | "status")) => format!("--{action}"),
        Some("list") => "--status".into(),
        _ => return args,
    };
    let hook = format!("{}-hook", args[1].to_string_lossy());
    if agent_of(&hook).is_some() || hook == "all-hook" {
        args.splice(1..3, [hook.into(), action.into()]);
    }
    args
}

/// The settings that hand an agent's events to its bridge: whose form they have, and the file of the user's.
struct BridgePlace {
    /// The agent as the bridge knows it.
    name: &'static str,
    /// The agent whose settings these are.
    agent: &'static dyn Agent,
    file: SettingsFile,
}

/// Cline's bridge was made for the Cline that has Claude Code's hooks.
const STANDS_FOR: &[(&str, &str)] = &[("cline", "cline-fork")];
/// A plugin for the bridge stands beside the guard's.
const PLUGIN: &str = "hookctl-bridge.js";

/// Where the events of that agent are handed on.
fn bridge_place(context: &Context, name: &'static str) -> Result<BridgePlace> {
    let id = STANDS_FOR.iter().find(|(bridge, _)| *bridge == name).map_or(name, |(_, id)| id);
    let agent = scope::find_agent(id)?;
    let mut files = scope::scope_files(context, agent, SettingsScope::User)?;
    let mut file = files.remove(0);
    if let Form::Plugin(_) = file.form {
        file.file.set_file_name(PLUGIN);
    }
    Ok(BridgePlace { name, agent, file })
}

/// The files of bridges' own, which uninstall takes away as well.
pub(super) fn own_files(context: &Context) -> Vec<SettingsFile> {
    let places = AGENTS.iter().filter_map(|name| bridge_place(context, name).ok());
    let own = places.map(|place| place.file).filter(|file| matches!(file.form, Form::Plugin(_)));
    own.filter(|file| file.file.exists()).collect()
}

/// Does what is asked for and says what is so now.
///
/// # Errors
/// Where the settings of that agent cannot be edited.
pub fn run(context: &Context, name: &'static str, args: &BridgeArgs) -> Result<Exit> {
    let place = bridge_place(context, name)?;
    match (args.enable, args.disable) {
        (true, _) => enable_bridge(context, &place, args),
        (_, true) => disable_bridge(context, &place, args),
        _ => {
            let count = report_entries(&place, args, "status")?;
            Ok(if count > 0 { Exit::Ok } else { Exit::Found })
        }
    }
}

/// Says of each agent whether its events are handed on.
///
/// # Errors
/// On anything but a question.
pub fn run_all(context: &Context, args: &BridgeArgs) -> Result<Exit> {
    if args.enable || args.disable {
        bail!("`all` only tells: enable or disable one agent after the other");
    }
    let mut said = Vec::new();
    for name in AGENTS {
        let place = bridge_place(context, name)?;
        match args.json {
            true => said.push(entries_as_json(&place, "status", &enabled_events(&place)?)),
            false => drop(report_entries(&place, args, "status")?),
        }
    }
    if args.json { print_json(&said) } else { Ok(Exit::Ok) }
}

fn enable_bridge(context: &Context, place: &BridgePlace, args: &BridgeArgs) -> Result<Exit> {
    if let Some(name) = told_already(context, place) {
        print_stderr(&format!(
            "refused: the guard hands every event to the bridge [remote.{name}] already, which would then \
             get each twice.\nTake [remote.{name}] out of the config, or leave it at that."
        ));
        return Ok(Exit::Found);
    }
    let mark = human::detect_agent();
    let mark = mark.as_deref();
    let mode = EditMode { dry_run: false, may_loosen: mark.is_none() };
    let wanted = wanted_entries(context, place, args)?;
    if let Some(told) = lasting::keep(context)? {
        print_stderr(&format!("note: {told}"));
    }
    match settings::install(&context.paths, &place.file, &wanted, mode) {
        Err(error @ Error::Loosens(_)) => {
            print_stderr(&format!("refused: {}", loosening_refusal(&error, mark)));
            return Ok(Exit::Found);
        }
        other => other?,
    };
    report_entries(place, args, "enable")?;
    for place in scope::agent_files(context, place.agent) {
        let Ok(Some(read)) = settings::read_settings(&place) else { continue };
        let is_package =
            |other: &&Foreign| other.known.is_some_and(|known| known.name == PACKAGE.name);
        if let Some(other) = read.survey.foreign.iter().find(is_package) {
            print_stderr(&format!(
                "warning: {} has the hook of the npm package as well ({}): both would post every event \
                 twice. Take it out: `npx @principal-ai/agent-hooks {}-hook --disable`.",
                place.file.display(),
                super::one_line(&other.command, 80),
                place.agent,
            ));
        }
    }
    Ok(Exit::Ok)
}

/// The bridge that the agent's guard tells of events, where it is installed.
fn told_already(context: &Context, place: &BridgePlace) -> Option<String> {
    let guarded = [place.name, place.agent.id()].into_iter().filter_map(agent::by_id);
    let mut files = guarded.flat_map(|agent| scope::agent_files(context, agent));
    if !files.any(|file| scope::has_ours(&file)) {
        return None;
    }
    bridge_server(&Config::load(&context.paths, &context.root, None))
}

/// The bridge that the guard tells of events.
pub(super) fn bridge_server(config: &Config) -> Option<String> {
    let mut remotes = config.remotes().map(|(_, remote)| remote);
    let bridge = remotes.find(|r| r.dialect.facts().keeps_files && !r.events.is_empty());
    bridge.map(|remote| remote.name.clone())
}

fn wanted_entries(
    context: &Context,
    place: &BridgePlace,
    args: &BridgeArgs,
) -> Result<WantedEntries> {
    let agent = place.agent;
    let mut line = vec![format!("{}-hook", place.name)];
    if let Some(port) = args.port {
        line.extend(["--port".into(), port.to_string()]);
    }
    if let Some(dir) = &args.dir {
        line.extend(["--dir".into(), scope::unicode(&forward::absolute_path(dir))?]);
    }
    // Where these are is the caller's choice, and then the hook's as well.
    let global = &context.global;
    for (flag, given, dir) in [
        ("--config", &global.config, &context.paths.config),
        ("--state", &global.state, &context.paths.state),
    ] {
        if given.is_some() {
            line.extend([flag.into(), scope::unicode(dir)?]);
        }
    }
    let event = |kind: &Kind| {
        let spec = agent.event_spec(*kind)?;
        let event = WantedEvent::of(spec);
        Some(WantedEvent { timeout: event.timeout.min(TIMEOUT), ..event })
    };
    let mut events: Vec<WantedEvent> = Vec::new();
    for event in EVENTS.iter().filter_map(event) {
        if events.iter().all(|other| other.name != event.name) {
            events.push(event);
        }
    }
    Ok(WantedEntries {
        command: scope::this_program(context)?,
        agent: agent.id(),
        places: Vec::new(),
        events,
        off: Vec::new(),
        server: Typed::new(),
        fail_closed: None,
        bridge: Some(line),
    })
}

fn disable_bridge(context: &Context, place: &BridgePlace, args: &BridgeArgs) -> Result<Exit> {
    let mark = human::detect_agent();
    let mark = mark.as_deref();
    let mode = EditMode { dry_run: false, may_loosen: mark.is_none() };
    let outcome = match settings::uninstall(&context.paths, &place.file, Some(Role::Bridge), mode) {
        Err(error @ Error::Loosens(_)) => {
            print_stderr(&format!("refused: {}", loosening_refusal(&error, mark)));
            return Ok(Exit::Found);
        }
        other => other?,
    };
    left_out(&outcome).iter().for_each(|line| print_stderr(line));
    if !args.json && count_removed(&outcome) == 0 {
        print(&format!("{} hooks: were not enabled\n", place.name))?;
        return Ok(Exit::Ok);
    }
    report_entries(place, args, "disable")?;
    Ok(Exit::Ok)
}

/// The events that are handed on now.
fn enabled_events(place: &BridgePlace) -> Result<Vec<String>> {
    let read = settings::read_settings(&place.file)?;
    let own = read.map(|read| read.survey.bridge).unwrap_or_default();
    let mut types: Vec<String> = own.into_iter().filter(|o| o.seen).map(|o| o.event).collect();
    types.dedup();
    Ok(types)
}

fn entries_as_json(place: &BridgePlace, action: &str, types: &[String]) -> Value {
    json!({
        "success": true,
        "agent": place.name,
        "action": action,
        "configPath": place.file.file,
        "hookCount": types.len(),
        "hookTypes": types,
    })
}

/// Says what is in the file now: how many hooks.
fn report_entries(place: &BridgePlace, args: &BridgeArgs, action: &str) -> Result<usize> {
    let types = enabled_events(place)?;
    let text = match types.len() {
        _ if args.json => format!("{:#}\n", entries_as_json(place, action, &types)),
        0 => format!("{} hooks: not enabled\n", place.name),
        count => format!("{} hooks: enabled ({count} hooks)\n", place.name),
    };
    print(&text)?;
    Ok(types.len())
}

/// What the entries say of their bridges, each once: the agent and the flags.
pub(super) fn enabled_bridges(context: &Context) -> Vec<(&'static str, forward::BridgeOptions)> {
    let mut found: Vec<(&'static str, forward::BridgeOptions)> = Vec::new();
    let places = AGENTS.iter().filter_map(|name| bridge_place(context, name).ok());
    let files = places.map(|place| place.file).filter(|file| file.agent != DEFAULT);
    for place in scope::all_scope_files(context).into_iter().chain(files) {
        let Ok(Some(read)) = settings::read_settings(&place) else { continue };
        for own in read.survey.bridge.iter().filter(|own| own.seen) {
            let one = bridge_flags(own).filter(|one| !found.contains(one));
            found.extend(one);
        }
    }
    found
}

fn bridge_flags(own: &Own) -> Option<(&'static str, forward::BridgeOptions)> {
    let (hook, flags) = own.args.split_first()?;
    let agent = agent_of(hook)?;
    Some((agent, forward::BridgeOptions::parse(flags.iter().map(OsString::from))))
}
