//! `hookctl claude-hook --enable`, `--disable`, `--status`: the entries that hand an agent's events to the
//! listener of agent-hooks.

use std::ffi::OsString;

use anyhow::{Result, bail};
use serde_json::json;

use super::args::{BridgeArgs, SettingsScope};
use super::install::{count_removed, left_out, refuse_loosening};
use super::{Context, Exit, human, print, print_stderr, scope};
use crate::agent::Agent;
use crate::config::Config;
use crate::dialect::bridge::{PACKAGE, agent_of};
use crate::event::Kind;
use crate::forward;
use crate::rule::file::server::Typed;
use crate::settings::hooks::{WantedEntries, WantedEvent};
use crate::settings::place::SettingsFile;
use crate::settings::survey::{Foreign, Own, Role};
use crate::settings::{self, EditMode, Error};

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
    if agent_of(&hook).is_some() {
        args.splice(1..3, [hook.into(), action.into()]);
    }
    args
}

/// Does what is asked for and says what is so now.
///
/// # Errors
/// Where the settings of that agent cannot be written by this version, or not edited at all.
pub fn run(context: &Context, agent: &str, args: &BridgeArgs) -> Result<Exit> {
    let Ok(agent) = scope::find_agent(agent) else {
        bail!(
            "this version does not know the settings of {agent}: write `hookctl {agent}-hook` into \
             its hooks yourself"
        );
    };
    let files = scope::scope_files(context, agent, SettingsScope::User)?;
    let file = &files[0];
    match (args.enable, args.disable) {
        (true, _) => enable_bridge(context, agent, args, file),
        (_, true) => disable_bridge(context, agent, args, file),
        _ => {
            let count = report_entries(agent, args, "status", file)?;
            Ok(if count > 0 { Exit::Ok } else { Exit::Found })
        }
    }
}

fn enable_bridge(
    context: &Context,
    agent: &'static dyn Agent,
    args: &BridgeArgs,
    file: &SettingsFile,
) -> Result<Exit> {
    if let Some(name) = told_already(context) {
        print_stderr(&format!(
            "refused: the guard hands every event to the bridge [remote.{name}] already, which would then \
             get each twice.\nTake [remote.{name}] out of the config, or leave it at that."
        ));
        return Ok(Exit::Found);
    }
    let mark = human::detect_agent();
    let mark = mark.as_deref();
    let mode = EditMode { dry_run: false, may_loosen: mark.is_none() };
    let wanted = wanted_entries(context, agent, args)?;
    match settings::install(&context.paths, file, &wanted, mode) {
        Err(error @ Error::Loosens(_)) => return Ok(refuse_loosening(&error, mark)),
        other => other?,
    };
    report_entries(agent, args, "enable", file)?;
    for place in scope::all_scope_files(context) {
        let Ok(Some(read)) = settings::read_settings(&place) else { continue };
        let is_package =
            |other: &&Foreign| other.known.is_some_and(|known| known.name == PACKAGE.name);
        if let Some(other) = read.survey.foreign.iter().find(is_package) {
            print_stderr(&format!(
                "warning: {} has the hook of the npm package as well ({}): both would post every event \
                 twice. Take it out: `npx @principal-ai/agent-hooks claude-hook --disable`.",
                place.file.display(),
                super::one_line(&other.command, 80),
            ));
        }
    }
    Ok(Exit::Ok)
}

/// The bridge that the guard tells of events, where it is installed.
fn told_already(context: &Context) -> Option<String> {
    let guards = |place: &SettingsFile| {
        let read = settings::read_settings(place).ok().flatten();
        read.is_some_and(|read| read.survey.own.iter().any(|own| own.seen))
    };
    if !scope::all_scope_files(context).iter().any(guards) {
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
    agent: &'static dyn Agent,
    args: &BridgeArgs,
) -> Result<WantedEntries> {
    let mut line = vec![format!("{}-hook", agent.id())];
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
    Ok(WantedEntries {
        command: scope::this_program()?,
        agent: agent.id(),
        places: Vec::new(),
        events: EVENTS.iter().filter_map(event).collect(),
        server: Typed::new(),
        fail_closed: None,
        bridge: Some(line),
    })
}

fn disable_bridge(
    context: &Context,
    agent: &dyn Agent,
    args: &BridgeArgs,
    file: &SettingsFile,
) -> Result<Exit> {
    let mark = human::detect_agent();
    let mark = mark.as_deref();
    let mode = EditMode { dry_run: false, may_loosen: mark.is_none() };
    let outcome = match settings::uninstall(&context.paths, file, Some(Role::Bridge), mode) {
        Err(error @ Error::Loosens(_)) => return Ok(refuse_loosening(&error, mark)),
        other => other?,
    };
    left_out(&outcome).iter().for_each(|line| print_stderr(line));
    if !args.json && count_removed(&outcome) == 0 {
        print(&format!("{} hooks: were not enabled\n", agent.id()))?;
        return Ok(Exit::Ok);
    }
    report_entries(agent, args, "disable", file)?;
    Ok(Exit::Ok)
}

/// Says what is in the file now: how many hooks.
fn report_entries(
    agent: &dyn Agent,
    args: &BridgeArgs,
    action: &str,
    file: &SettingsFile,
) -> Result<usize> {
    let read = settings::read_settings(file)?;
    let own = read.map(|read| read.survey.bridge).unwrap_or_default();
    let mut types: Vec<String> = own.into_iter().filter(|o| o.seen).map(|o| o.event).collect();
    types.dedup();
    let count = types.len();
    let text = match count {
        _ if args.json => {
            let said = json!({
                "success": true,
                "agent": agent.id(),
                "action": action,
                "configPath": file.file,
                "hookCount": count,
                "hookTypes": types,
            });
            format!("{said:#}\n")
        }
        0 => format!("{} hooks: not enabled\n", agent.id()),
        _ => format!("{} hooks: enabled ({count} hooks)\n", agent.id()),
    };
    print(&text)?;
    Ok(count)
}

/// What the entries say of their bridges, each once: the agent and the flags.
pub(super) fn enabled_bridges(context: &Context) -> Vec<(&'static str, forward::BridgeOptions)> {
    let mut found: Vec<(&'static str, forward::BridgeOptions)> = Vec::new();
    for place in scope::all_scope_files(context) {
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
