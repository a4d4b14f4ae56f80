//! Where an agent keeps its settings, and what our entries in them should say.

use std::collections::HashSet;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use super::args::SettingsScope;
use super::{Context, display_path, lasting, make_visible};
use crate::agent::wiring::{Scope, Wiring};
use crate::agent::{self, Agent, EventSpec};
use crate::config::Config;
use crate::event::KindSet;
use crate::files;
use crate::rule::fault::did_you_mean;
use crate::rule::file::server::Typed;
use crate::settings;
use crate::settings::consent;
use crate::settings::hooks::{PROGRAM, WantedEntries, WantedEvent};
use crate::settings::place::{self, SettingsFile};
use crate::settings::record::Records;
use crate::settings::survey::Own;
use crate::settings::switch::{self, SwitchedOff};

impl SettingsScope {
    /// The scope's name.
    pub fn name(self) -> &'static str {
        match self {
            SettingsScope::User => Scope::User,
            SettingsScope::Project => Scope::Project,
            SettingsScope::Local => Scope::Local,
        }
        .name()
    }
}

/// The agents whose settings hookctl writes.
pub fn wired_agents() -> impl Iterator<Item = (&'static dyn Agent, &'static Wiring)> {
    agent::AGENTS.iter().filter_map(|agent| Some((*agent, agent.wiring()?)))
}

/// The agent of that name, whose settings hookctl writes.
///
/// # Errors
/// Where there is none.
pub fn find_agent(id: &str) -> Result<&'static dyn Agent> {
    let id = id.trim();
    let agent = wired_agents().map(|(agent, _)| agent).find(|agent| agent.id() == id);
    agent.with_context(|| {
        let ids: Vec<&str> = wired_agents().map(|(agent, _)| agent.id()).collect();
        let near = did_you_mean(id, ids.iter().copied());
        let near = near.map(|near| format!(", did you mean `{near}`?")).unwrap_or_default();
        format!("unknown agent `{id}`{near}\nhookctl knows {}", ids.join(", "))
    })
}

/// The agents that are here, and what shows it.
pub fn present_agents(context: &Context) -> Vec<(&'static dyn Agent, PathBuf)> {
    let here = |wiring| place::presence(wiring, &context.paths.home, &context.cwd);
    wired_agents().filter_map(|(agent, wiring)| Some((agent, here(wiring)?))).collect()
}

/// The files of a scope of the agent's that entries go into.
///
/// # Errors
/// Where there are none: the project's file is the user's own in the home directory, or nothing can hold them.
pub fn scope_files(
    context: &Context,
    agent: &dyn Agent,
    scope: SettingsScope,
) -> Result<Vec<SettingsFile>> {
    let scope = scope.name();
    let found = place::files_to_write(&agent_files(context, agent), scope);
    if !found.is_empty() {
        return Ok(found);
    }
    let title = agent.title();
    let wiring = agent.wiring().unwrap_or(&Wiring::UNKNOWN);
    let Some(kept) = wiring.files.iter().find(|place| place.scope.name() == scope) else {
        bail!("{title} has no {scope} settings that hookctl writes");
    };
    if kept.path.contains('*') {
        bail!(
            "{title} has hooks in files of its own that people make, and none is there: {}",
            kept.path
        );
    }
    if agent.events().is_empty() {
        bail!("hookctl does not know the events of {title} yet");
    }
    bail!(
        "{} is not a project: its {} is the user's own; go into a project, or use --scope user",
        context.root.display(),
        kept.path
    )
}

/// The name of a scope that the agent has here.
///
/// # Errors
/// As for [`scope_files`].
pub fn existing_scope(
    context: &Context,
    agent: &dyn Agent,
    scope: SettingsScope,
) -> Result<&'static str> {
    scope_files(context, agent, scope).map(|_| scope.name())
}

/// Every file that this agent reads here.
pub fn agent_files(context: &Context, agent: &dyn Agent) -> Vec<SettingsFile> {
    place::settings_files(agent, &context.paths.home, &context.cwd, &context.root)
}

/// The switches of its settings that keep these entries from running here.
pub fn switches_off(context: &Context, agent: &dyn Agent, own: &[Own]) -> Vec<SwitchedOff> {
    let (home, cwd, root) = (&context.paths.home, &context.cwd, &context.root);
    switch::find_off(agent, switch::Bases { home, cwd, root }, own)
}

/// Has it an entry of ours that counts? A broken file cannot speak for itself: `status` reports it.
pub fn has_ours(place: &SettingsFile) -> bool {
    let read = settings::read_settings(place).ok().flatten();
    read.is_some_and(|read| read.survey.own.iter().any(|own| own.seen))
}

/// Has it an entry that is that agent's, by what it says itself?
pub fn has_own_entry(place: &SettingsFile) -> bool {
    let read = settings::read_settings(place).ok().flatten();
    let is_its = |own: &Own| own.option_value("--agent") == Some(place.agent);
    read.is_some_and(|read| read.survey.own.iter().any(is_its))
}

/// The files of other agents that this one reads as well and that have entries of those.
pub fn read_files(context: &Context, agent: &dyn Agent) -> Vec<(&'static dyn Agent, SettingsFile)> {
    let mut found = Vec::new();
    for reads in agent.wiring().map(|wiring| wiring.reads).unwrap_or_default() {
        let Some(other) = agent::by_id(reads.agent) else { continue };
        let mut files = agent_files(context, other);
        files.retain(|file| {
            reads.scopes.iter().any(|scope| scope.name() == file.name) && has_own_entry(file)
        });
        found.extend(files.into_iter().map(|file| (other, file)));
    }
    found
}

/// The other agents that have that file for one of their own: they run whatever stands in it.
pub fn sharing_agents(
    context: &Context,
    place: &SettingsFile,
) -> impl Iterator<Item = &'static dyn Agent> {
    let has = |agent: &dyn Agent| {
        agent.id() != place.agent
            && agent_files(context, agent).iter().any(|one| one.file == place.file)
    };
    wired_agents().map(|(agent, _)| agent).filter(move |agent| has(*agent))
}

/// Of those, the agents that entries in the file are wired to.
pub fn sharing_owners(context: &Context, place: &SettingsFile) -> Vec<&'static dyn Agent> {
    let has =
        |agent: &&dyn Agent| has_own_entry(&SettingsFile { agent: agent.id(), ..place.clone() });
    sharing_agents(context, place).filter(has).collect()
}

/// The agents whose entries serve this one, which has none of its own, with their files.
pub fn serving_agents(
    context: &Context,
    agent: &dyn Agent,
) -> Vec<(&'static dyn Agent, SettingsFile)> {
    let mut found = read_files(context, agent);
    for place in agent_files(context, agent) {
        for other in sharing_owners(context, &place) {
            let known = |(one, file): &(&'static dyn Agent, SettingsFile)| {
                one.id() == other.id() && file.file == place.file
            };
            if !found.iter().any(known) {
                found.push((other, SettingsFile { agent: other.id(), ..place.clone() }));
            }
        }
    }
    found
}

/// These files in a few words.
pub fn describe_files(context: &Context, files: &[SettingsFile]) -> String {
    let Some(first) = files.first() else { return String::new() };
    // A script of an event that nobody wants is none.
    let there = files.iter().filter(|one| one.file.symlink_metadata().is_ok()).count();
    match (files.len(), first.file.parent()) {
        (1, _) | (_, None) => display_path(context, &first.file),
        (_, Some(dir)) if there == 0 => display_path(context, dir),
        (_, Some(dir)) if there == 1 => format!("{} (1 file)", display_path(context, dir)),
        (_, Some(dir)) => format!("{} ({there} files)", display_path(context, dir)),
    }
}

/// Every file that the default agent reads here, the managed one first.
pub fn all_scope_files(context: &Context) -> Vec<SettingsFile> {
    agent_files(context, agent::default_agent())
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
pub fn this_program(context: &Context) -> Result<String> {
    let exe = std::env::current_exe()
        .and_then(|exe| files::real_path(&exe))
        .context("cannot tell where this program is")?;
    let stem = exe.file_stem().and_then(|stem| stem.to_str());
    if stem != Some(PROGRAM) {
        bail!(
            "this program is {}: it must be called {PROGRAM}, its entries are known by that name",
            exe.display()
        );
    }
    lasting::lasting_name(context, lasting_place(exe))
        .into_os_string()
        .into_string()
        .map(|exe| files::portable_text(&exe).into_owned())
        .map_err(|exe| anyhow::anyhow!("{} is not valid Unicode: move it", exe.display()))
}

/// Below which directory package managers keep each version in one of its own, and where the one in use can be had
/// whatever its version: Homebrew, Scoop, mise (and Nix, by its profiles). `*` is the package's name.
const VERSIONED: [(&str, &str); 3] =
    [("Cellar", "opt/*"), ("apps", "apps/*/current"), ("installs", "installs/*/latest")];

/// The same program, whose links are followed, by a name that outlives the next upgrade, where its package manager keeps one.
fn lasting_place(exe: PathBuf) -> PathBuf {
    let parts: Vec<Component> = exe.components().collect();
    let versioned = VERSIONED.iter().filter_map(|(parent, link)| {
        let at = parts.iter().rposition(|part| part.as_os_str() == *parent)?;
        let [package, _version, rest @ ..] = &parts[at + 1..] else { return None };
        let mut place: PathBuf = parts[..at].iter().collect();
        place.push(link.replace('*', package.as_os_str().to_str()?));
        place.extend(rest);
        Some(place)
    });
    let own = std::env::home_dir().map(|home| home.join(".nix-profile/bin/hookctl"));
    let profiles = own.into_iter().chain([PathBuf::from("/run/current-system/sw/bin/hookctl")]);
    let profiles = profiles.filter(|_| exe.starts_with("/nix/store"));
    let same = |place: &PathBuf| files::real_path(place).is_ok_and(|real| real == exe);
    let found = versioned.chain(profiles).find(same);
    found.unwrap_or(exe)
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
    let all = agent.events();
    // Of several events of one kind, one is enough where a rule needs it: each would be judged.
    let stands_for_kind = |spec: &EventSpec| {
        let mut alike = all.iter().filter(|other| other.kind == spec.kind);
        !alike.clone().any(|other| other.by_default)
            && alike.next().is_some_and(|first| first.name == spec.name)
    };
    let chosen = |spec: &&EventSpec| match asked.is_empty() {
        true => spec.by_default || needed.contains(spec.kind) && stands_for_kind(spec),
        false => asked.contains(spec.name),
    };
    let mut events: Vec<WantedEvent> = Vec::new();
    for event in all.iter().filter(chosen).map(WantedEvent::of) {
        // One name may stand for several kinds.
        if events.iter().all(|other| other.name != event.name) {
            events.push(event);
        }
    }
    let (command, places) = match place.is_shared() {
        true => (PROGRAM.to_string(), Vec::new()),
        false => {
            let config = unicode(&context.paths.config)?;
            let state = unicode(&context.paths.state)?;
            (this_program(context)?, vec!["--config".into(), config, "--state".into(), state])
        }
    };
    Ok(WantedEntries {
        command,
        agent: agent.id(),
        places,
        events,
        off: Vec::new(),
        server,
        fail_closed,
        bridge: None,
    })
}

/// That hooks wait for their user's approval.
pub fn lacking_consent(context: &Context, place: &SettingsFile) -> Option<String> {
    let file = consent::consent_file(place, &context.paths.home, &context.cwd)?;
    let review = agent::by_id(place.agent)?.wiring()?.consent.as_ref()?.review;
    let wanted = consent::wanted_approvals(place).ok()?;
    let missing = consent::missing_approvals(&file, &wanted).len();
    (missing > 0).then(|| format!("{missing} of {} hooks are not approved: {review}", wanted.len()))
}

/// The events of these files that a person switched off one by one.
pub fn events_off(context: &Context, places: &[SettingsFile]) -> Vec<String> {
    let records = Records::load(&context.paths);
    let noted = places.iter().filter_map(|place| records.of_file(&place.file));
    let mut off: Vec<String> = noted.flat_map(|record| record.off.clone()).collect();
    crate::order::sort(&mut off);
    off.dedup();
    off
}

/// The events that a command line names, each one of that agent's.
fn asked_events<'n>(agent: &dyn Agent, names: &'n [String]) -> Result<HashSet<&'n str>> {
    let checked = names.iter().map(|name| match name.trim() {
        name if agent.events().iter().any(|spec| spec.name == name) => Ok(name),
        name => Err(no_event(agent, name)),
    });
    checked.collect()
}

/// That an agent has no such event, and which may be meant.
pub fn no_event(agent: &dyn Agent, name: &str) -> anyhow::Error {
    let names = agent.events().iter().map(|spec| spec.name);
    let hint = did_you_mean(name, names).map_or_else(
        || format!(": `hookctl events --agent {}` lists them", agent.id()),
        |near| format!(", did you mean `{near}`?"),
    );
    anyhow::anyhow!("{} has no event `{}`{hint}", agent.title(), make_visible(name))
}

/// The path as an argument.
///
/// # Errors
/// Where JSON cannot hold it.
pub fn unicode(path: &Path) -> Result<String> {
    // As it is written elsewhere: `a//b` is `a/b`, and some agents take `//` for the beginning of a comment.
    let plain: PathBuf = path.components().collect();
    let text = plain.to_str().map(|path| files::portable_text(path).into_owned());
    text.with_context(|| format!("{} is not valid Unicode", path.display()))
}
