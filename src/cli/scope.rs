//! Where an agent keeps its settings, and what our entries in them should say.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::Context;
use super::args::Scope;
use crate::agent::{self, Agent, claude};
use crate::config::Config;
use crate::event::{Kind, KindSet};
use crate::rule::file::server::Typed;
use crate::settings::beside::is_same;
use crate::settings::hooks::{PROGRAM, Wanted};

/// One settings file of an agent.
#[derive(Debug, Clone)]
pub struct Place {
    /// Whose it is; none = managed, which hookctl reads and never writes.
    pub scope: Option<Scope>,
    /// The file.
    pub file: PathBuf,
}

impl Place {
    /// The scope's name.
    pub fn name(&self) -> &'static str {
        self.scope.map_or("managed", name)
    }
}

/// The scope's name.
pub fn name(scope: Scope) -> &'static str {
    match scope {
        Scope::User => "user",
        Scope::Project => "project",
        Scope::Local => "local",
    }
}

/// The agent of that name, whose settings hookctl writes.
///
/// # Errors
/// Where there is none.
pub fn agent(context: &Context, id: &str) -> Result<&'static dyn Agent> {
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
pub fn place(context: &Context, scope: Scope) -> Result<Place> {
    let [_, user, project, local] = files(context);
    let is_users = scope != Scope::User && is_same(&project, &user);
    let file = match scope {
        Scope::User => user,
        Scope::Project => project,
        Scope::Local => local,
    };
    if is_users {
        bail!(
            "{} is not a project: its .claude/settings.json is the user's own; go into a project, \
             or use --scope user",
            context.root.display()
        );
    }
    Ok(Place { scope: Some(scope), file })
}

/// Every file that the agent reads here, the managed one first.
pub fn places(context: &Context) -> Vec<Place> {
    let own = [Scope::User, Scope::Project, Scope::Local];
    let [file, ..] = files(context);
    let managed = Place { scope: None, file };
    std::iter::once(managed)
        .chain(own.into_iter().filter_map(|scope| place(context, scope).ok()))
        .collect()
}

fn files(context: &Context) -> [PathBuf; 4] {
    claude::settings_files(&context.paths.home, &context.cwd, &context.root)
}

/// The events that the rules and servers of all layers need registered beyond the usual ones.
///
/// # Errors
/// What is wrong with what is said of the user's server.
pub fn needed_events(context: &Context, server: &Typed) -> Result<KindSet> {
    let mut config = Config::load(&context.paths, &context.root, None);
    config.retype(server).map_err(|why| anyhow::anyhow!(why))?;
    Ok(config.needed_events())
}

/// This program, as a settings file should name it.
///
/// # Errors
/// Where it cannot be told, or has a name that its entries would not be known by.
pub fn program() -> Result<String> {
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

/// What our entries in a file of that scope should be. `events` empty = the usual ones and those
/// that rules and servers need.
///
/// # Errors
/// On an event that the agent does not have, a directory that JSON cannot hold, or settings of a
/// server that cannot be meant.
pub fn wanted(
    context: &Context,
    agent: &'static dyn Agent,
    scope: Scope,
    events: &[String],
    fail_closed: Option<bool>,
    server: Typed,
) -> Result<Wanted> {
    let table = table(agent);
    let mut asked = HashSet::new();
    for name in events.iter().map(|name| name.trim()).filter(|name| !name.is_empty()) {
        if !table.iter().any(|(kind, ..)| kind.name() == name) {
            let mut known = table.iter().map(|(kind, ..)| kind.name());
            let near = known.find(|known| known.eq_ignore_ascii_case(name));
            let hint = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
            bail!("{} has no event `{name}`{hint}", agent.title());
        }
        asked.insert(name.to_string());
    }
    let needed = needed_events(context, &server)?;
    let chosen = |kind: Kind, usual: bool| match asked.is_empty() {
        true => usual || needed.contains(kind),
        false => asked.contains(kind.name()),
    };
    let events = table.into_iter().filter(|&(kind, _, usual)| chosen(kind, usual));
    let (command, places) = match scope {
        Scope::Project => (PROGRAM.to_string(), Vec::new()),
        Scope::User | Scope::Local => {
            let text = |dir: &Path| {
                let text = dir.to_str().map(String::from);
                text.with_context(|| format!("{} is not valid Unicode", dir.display()))
            };
            let config = text(&context.paths.config)?;
            let state = text(&context.paths.state)?;
            (program()?, vec!["--config".into(), config, "--state".into(), state])
        }
    };
    Ok(Wanted {
        command,
        agent: agent.id(),
        places,
        events: events.map(|(kind, timeout, _)| (kind, timeout)).collect(),
        server,
        fail_closed,
        bridge: None,
    })
}

/// Event, timeout, registered by default.
fn table(agent: &dyn Agent) -> Vec<(Kind, u32, bool)> {
    agent.events().iter().map(|spec| (spec.kind, spec.timeout, spec.by_default)).collect()
}
