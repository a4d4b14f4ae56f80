//! Where an agent keeps its settings, and what our entries in them should say.

use std::collections::HashSet;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use super::Context;
use super::args::SettingsScope;
use crate::agent::{self, Agent, EventSpec};
use crate::config::Config;
use crate::event::KindSet;
use crate::rule::file::server::Typed;
use crate::settings::beside::{self, SettingsFile};
use crate::settings::hooks::{PROGRAM, WantedEntries};

/// The scope's name.
fn name(scope: SettingsScope) -> &'static str {
    match scope {
        SettingsScope::User => "user",
        SettingsScope::Project => "project",
        SettingsScope::Local => "local",
    }
}

/// The agent of that name, whose settings hookctl writes.
///
/// # Errors
/// Where there is none.
pub fn find_agent(context: &Context, id: &str) -> Result<&'static dyn Agent> {
    let (home, cwd, root) = (&context.paths.home, &context.cwd, &context.root);
    let written = |agent: &&'static dyn Agent| !agent.settings_files(home, cwd, root).is_empty();
    let known: Vec<_> = agent::AGENTS.iter().copied().filter(written).collect();
    let names = || known.iter().map(|agent| agent.id()).collect::<Vec<_>>().join(", ");
    let agent = known.iter().copied().find(|agent| agent.id() == id);
    agent.with_context(|| format!("unknown agent `{id}`: hookctl knows {}", names()))
}

/// The file of a scope.
///
/// # Errors
/// Where the project's file is the user's own: in the home directory there is no project.
pub fn scope_file(context: &Context, scope: SettingsScope) -> Result<SettingsFile> {
    let found = all_scope_files(context).into_iter().find(|place| place.name == name(scope));
    found.with_context(|| {
        format!(
            "{} is not a project: its .claude/settings.json is the user's own; go into a project, \
             or use --scope user",
            context.root.display()
        )
    })
}

/// Every file that the agent reads here, the managed one first.
pub fn all_scope_files(context: &Context) -> Vec<SettingsFile> {
    beside::settings_files(&context.paths.home, &context.cwd, &context.root)
}

/// The events that the rules and servers of all layers need registered beyond the usual ones.
///
/// # Errors
/// What is wrong with what is said of the user's server.
pub fn needed_events(context: &Context, server: &Typed) -> Result<KindSet> {
    let mut config = Config::load(&context.paths, &context.root, None);
    config.override_server(server).map_err(|why| anyhow::anyhow!(why))?;
    Ok(config.needed_events())
}

/// This program, as a settings file should name it.
///
/// # Errors
/// Where it cannot be told, or has a name that its entries would not be known by.
pub fn this_program() -> Result<String> {
    let exe = std::env::current_exe()
        .and_then(|exe| exe.canonicalize())
        .context("cannot tell where this program is")?;
    let stem = exe.file_stem().and_then(|stem| stem.to_str());
    if stem != Some(PROGRAM) {
        bail!(
            "this program is {}: it must be called {PROGRAM}, its entries are known by that name",
            exe.display()
        );
    }
    exe.into_os_string()
        .into_string()
        .map_err(|exe| anyhow::anyhow!("{} is not valid Unicode: move it", exe.display()))
}

/// What our entries in that file should be. `events` empty = the usual ones and those
/// that rules and servers need.
///
/// # Errors
/// On an event that the agent does not have, a directory that JSON cannot hold, or settings of a
/// server that cannot be meant.
pub fn wanted_entries(
    context: &Context,
    agent: &'static dyn Agent,
    place: &SettingsFile,
    events: &[String],
    fail_closed: Option<bool>,
    server: Typed,
) -> Result<WantedEntries> {
    let asked = asked_events(agent, events)?;
    let needed = needed_events(context, &server)?;
    let chosen = |spec: &&EventSpec| match asked.is_empty() {
        true => spec.by_default || needed.contains(spec.kind),
        false => asked.contains(spec.kind.name()),
    };
    let events = agent.events().iter().filter(chosen);
    let (command, places) = match place.is_shared() {
        true => (PROGRAM.to_string(), Vec::new()),
        false => {
            let config = unicode(&context.paths.config)?;
            let state = unicode(&context.paths.state)?;
            (this_program()?, vec!["--config".into(), config, "--state".into(), state])
        }
    };
    Ok(WantedEntries {
        command,
        agent: agent.id(),
        places,
        events: events.map(|spec| (spec.kind, spec.timeout)).collect(),
        server,
        fail_closed,
        bridge: None,
    })
}

/// The events that a command line names, each one of that agent's.
fn asked_events<'n>(agent: &dyn Agent, names: &'n [String]) -> Result<HashSet<&'n str>> {
    let names = names.iter().map(|name| name.trim()).filter(|name| !name.is_empty());
    let known = |name: &str| {
        let mut all = agent.events().iter().map(|spec| spec.kind.name());
        let near = all.find(|known| known.eq_ignore_ascii_case(name));
        match near {
            Some(near) if near == name => Ok(()),
            Some(near) => Err(format!(", did you mean `{near}`?")),
            None => Err(String::new()),
        }
    };
    let checked = names.map(|name| match known(name) {
        Ok(()) => Ok(name),
        Err(hint) => bail!("{} has no event `{name}`{hint}", agent.title()),
    });
    checked.collect()
}

/// The path as an argument.
///
/// # Errors
/// Where JSON cannot hold it.
pub fn unicode(path: &Path) -> Result<String> {
    let text = path.to_str().map(String::from);
    text.with_context(|| format!("{} is not valid Unicode", path.display()))
}
