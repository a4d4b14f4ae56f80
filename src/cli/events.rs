//! `hookctl events`: which events each agent tells hookctl of; single ones on and off.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use serde::Serialize;
use serde_json::{Value, json};

use super::args::{EventNames, EventsArgs, EventsCommand, SettingsScope};
use super::install::{
    confirm_losses, describe_uptake, edit_as_json, loosening_refusal, unified_diff,
};
use super::others::noted_elsewhere;
use super::report::{Level, Report};
use super::{BOLD, Context, Exit, YELLOW, human, lasting, make_visible, scope};
use crate::agent::{Agent, EventSpec};
use crate::event::KindSet;
use crate::rule::file::server::Typed;
use crate::settings::hooks::{WantedEntries, WantedEvent};
use crate::settings::place::SettingsFile;
use crate::settings::survey::Own;
use crate::settings::{self, EditMode, EditOutcome, Error};

/// hookctl as it is registered with one agent, in one scope.
struct Registration {
    agent: &'static dyn Agent,
    places: Vec<SettingsFile>,
    /// Our entries that the agent sees.
    own: Vec<Own>,
    /// The events that a person switched off.
    off: Vec<String>,
}

/// Which way an event is switched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Switch {
    On,
    Off,
}

impl Switch {
    /// As it is typed.
    fn name(self) -> &'static str {
        match self {
            Switch::On => "enable",
            Switch::Off => "disable",
        }
    }
}

/// How an event stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum EventState {
    /// hookctl is told of it.
    On,
    /// A person switched it off.
    Off,
    /// Not registered: neither usual nor asked for.
    Unregistered,
}

/// Lists them, or switches them.
///
/// # Errors
/// Where hookctl is not installed, an event is unknown, or a file cannot be edited; it is then untouched.
pub(super) fn run(context: &Context, args: &EventsArgs, report: &mut Report) -> Result<Exit> {
    report.set("agents", json!([]));
    let registered = registrations(context, args)?;
    match &args.command {
        None | Some(EventsCommand::List(_)) => list_events(context, &registered, report),
        Some(EventsCommand::Enable(EventNames { events })) => {
            switch_events(context, args, &registered, Switch::On, events, report)
        }
        Some(EventsCommand::Disable(EventNames { events })) => {
            switch_events(context, args, &registered, Switch::Off, events, report)
        }
    }
}

/// Where hookctl is installed, of what is asked for.
fn registrations(context: &Context, args: &EventsArgs) -> Result<Vec<Registration>> {
    let mut agents: Vec<&'static dyn Agent> = Vec::new();
    for id in &args.agent {
        agents.push(scope::find_agent(id)?);
    }
    if agents.is_empty() {
        agents = scope::wired_agents().map(|(agent, _)| agent).collect();
    }
    let all = [SettingsScope::User, SettingsScope::Project, SettingsScope::Local];
    let scopes = all.into_iter().filter(|scope| args.scope.is_none_or(|asked| asked == *scope));
    let mut found = Vec::new();
    for agent in agents {
        let here = scopes.clone().filter_map(|scope| Registration::find(context, agent, scope));
        found.extend(here);
    }
    if found.is_empty() {
        if let Some(why) = args.agent.iter().find_map(|id| served_by(context, id)) {
            bail!("{why}");
        }
        let whom = args.agent.join(",");
        let whom = if whom.is_empty() { String::new() } else { format!(" --agent {whom}") };
        bail!("hookctl is not installed there: run `hookctl install{whom}` first");
    }
    Ok(found)
}

/// That an agent has no entries of its own, and whose serve it.
fn served_by(context: &Context, id: &str) -> Option<String> {
    let agent = scope::find_agent(id).ok()?;
    let serving = scope::serving_agents(context, agent);
    let (other, place) = serving.first()?;
    Some(format!(
        "{} has no entries of its own: it reads those of {} in {}, and its events are those.\n\
         `hookctl events --agent {}` switches them, for both.",
        agent.title(),
        other.title(),
        place.file.display(),
        other.id()
    ))
}

impl Registration {
    /// None = there is no entry of ours.
    fn find(
        context: &Context,
        agent: &'static dyn Agent,
        scope: SettingsScope,
    ) -> Option<Registration> {
        let places = scope::scope_files(context, agent, scope).ok()?;
        let read = places.iter().filter_map(|place| settings::read_settings(place).ok().flatten());
        let own = read.flat_map(|read| read.survey.own);
        let is_its = |own: &Own| own.seen && own.option_value("--agent") == Some(agent.id());
        let own: Vec<Own> = own.filter(is_its).collect();
        let off = scope::events_off(context, &places);
        (!own.is_empty()).then_some(Registration { agent, places, own, off })
    }

    /// The scope's name.
    fn scope(&self) -> &'static str {
        self.places[0].name
    }

    /// What the entries say of the user's server.
    fn server(&self) -> Typed {
        let said = self.own.iter().map(Own::typed_server);
        said.into_iter().find(|typed| !typed.is_empty()).unwrap_or_default()
    }

    fn state_of(&self, name: &str) -> EventState {
        if self.own.iter().any(|own| own.event == name) {
            EventState::On
        } else if self.off.iter().any(|off| off == name) {
            EventState::Off
        } else {
            EventState::Unregistered
        }
    }

    /// The agent's own names for what is typed: one of these, or Claude Code's name, which may stand for several.
    /// Of several that can be switched on, those that install would take.
    fn names_of(&self, typed: &str, switch: Switch) -> Vec<&'static str> {
        let all = self.agent.events();
        if let Some(spec) = all.iter().find(|spec| spec.name == typed) {
            return vec![spec.name];
        }
        let alike: Vec<&EventSpec> = all.iter().filter(|spec| spec.kind.name() == typed).collect();
        let usual =
            |spec: &&&EventSpec| spec.by_default || self.state_of(spec.name) == EventState::Off;
        let mut chosen: Vec<&EventSpec> = match switch {
            Switch::On => alike.iter().filter(usual).copied().collect(),
            Switch::Off => alike.clone(),
        };
        if chosen.is_empty() {
            chosen = alike.into_iter().take(1).collect();
        }
        let mut names: Vec<&'static str> = chosen.into_iter().map(|spec| spec.name).collect();
        names.dedup();
        names
    }

    /// What its entries should be, once these are switched.
    fn wanted(
        &self,
        context: &Context,
        names: &[&'static str],
        switch: Switch,
    ) -> Result<WantedEntries> {
        let closed = Some(self.own.iter().any(|own| own.fails_closed));
        let place = &self.places[0];
        let mut wanted =
            scope::wanted_entries(context, self.agent, place, &[], closed, self.server())?;
        let on = |name: &str| match names.contains(&name) {
            true => switch == Switch::On,
            false => self.own.iter().any(|own| own.event == name),
        };
        wanted.events.clear();
        for spec in self.agent.events().iter().filter(|spec| on(spec.name)) {
            // One name may stand for several kinds.
            if wanted.events.iter().all(|event| event.name != spec.name) {
                wanted.events.push(WantedEvent::of(spec));
            }
        }
        let mut off = self.off.clone();
        off.retain(|name| !names.contains(&name.as_str()));
        if switch == Switch::Off {
            off.extend(names.iter().map(|name| (*name).to_string()));
        }
        wanted.off = off;
        Ok(wanted)
    }

    /// Edits its files.
    fn edit(
        &self,
        context: &Context,
        wanted: &WantedEntries,
        mode: EditMode,
    ) -> Result<Vec<EditOutcome>, Error> {
        let edit = |place| settings::install(&context.paths, place, wanted, mode);
        self.places.iter().map(edit).collect()
    }

    /// Its events for programs; the keys are stable.
    fn as_json(&self, context: &Context) -> Value {
        let needed = self.needed(context);
        let mut seen: Vec<&str> = Vec::new();
        let mut events = Vec::new();
        for spec in self.agent.events() {
            if seen.contains(&spec.name) {
                continue;
            }
            seen.push(spec.name);
            events.push(json!({
                "name": spec.name,
                "kinds": self.kinds_of(spec.name),
                "state": self.state_of(spec.name),
                "default": spec.by_default,
                "needed": needed.contains(spec.kind),
            }));
        }
        let files: Vec<String> =
            self.places.iter().map(|place| place.file.display().to_string()).collect();
        json!({ "agent": self.agent.id(), "scope": self.scope(), "files": files, "events": events })
    }

    /// The events that rules and servers ask for beyond the usual ones.
    fn needed(&self, context: &Context) -> KindSet {
        scope::needed_events(context, &self.server()).unwrap_or_default()
    }

    /// What Claude Code calls the event of that name.
    fn kinds_of(&self, name: &str) -> Vec<&'static str> {
        let specs = self.agent.events().iter().filter(|spec| spec.name == name);
        let mut kinds: Vec<&'static str> = specs.map(|spec| spec.kind.name()).collect();
        kinds.dedup();
        kinds
    }
}

fn list_events(
    context: &Context,
    registered: &[Registration],
    report: &mut Report,
) -> Result<Exit> {
    let mut text = String::new();
    for one in registered {
        let files = scope::describe_files(context, &one.places);
        let head = format!(
            "{} ({}, {} settings): {files}",
            one.agent.title(),
            one.agent.id(),
            one.scope()
        );
        let _ = writeln!(text, "{}", context.paint(BOLD, &head));
        let mut seen: Vec<&str> = Vec::new();
        for spec in one.agent.events() {
            if seen.contains(&spec.name) {
                continue;
            }
            seen.push(spec.name);
            let kinds = one.kinds_of(spec.name);
            let kinds = match kinds[..] == [spec.name] {
                true => String::new(),
                false => format!("  ({})", kinds.join(", ")),
            };
            let state = match one.state_of(spec.name) {
                EventState::On => "on ".to_string(),
                EventState::Off => context.paint(YELLOW, "off"),
                EventState::Unregistered => "-  ".to_string(),
            };
            let _ = writeln!(text, "  {state}  {}{kinds}", spec.name);
        }
        report.push("agents", one.as_json(context));
    }
    text.push_str("off = by hand; - = not registered, for no rule needs it\n");
    report.tell(&text)?;
    Ok(Exit::Ok)
}

/// What is to become of one registration.
struct Plan<'r> {
    registered: &'r Registration,
    names: Vec<&'static str>,
    wanted: WantedEntries,
    outcomes: Vec<EditOutcome>,
}

fn switch_events(
    context: &Context,
    args: &EventsArgs,
    registered: &[Registration],
    switch: Switch,
    typed: &[String],
    report: &mut Report,
) -> Result<Exit> {
    check_names(args, registered, switch, typed)?;
    let mark = human::detect_agent();
    let mark = mark.as_deref();
    let mut plans = Vec::new();
    for one in registered {
        if let Some(why) = one.places.iter().find_map(|place| noted_elsewhere(context, place)) {
            bail!("{why}");
        }
        let mut names: Vec<&'static str> = Vec::new();
        for name in typed.iter().flat_map(|typed| one.names_of(typed, switch)) {
            names.extend((!names.contains(&name)).then_some(name));
        }
        let wanted = one.wanted(context, &names, switch)?;
        if wanted.events.is_empty() {
            return Ok(report.refuse(format!(
                "{} would tell hookctl nothing any more: `hookctl uninstall --agent {} --scope {}` does that",
                one.agent.title(),
                one.agent.id(),
                one.scope()
            )));
        }
        // Before anything is written it is known whether all can be, and what goes.
        let outcomes = one.edit(context, &wanted, EditMode { dry_run: true, may_loosen: true })?;
        plans.push(Plan { registered: one, names, wanted, outcomes });
    }
    if args.dry_run {
        for plan in &plans {
            report.tell(&plan.outcomes.iter().map(unified_diff).collect::<String>())?;
            report.push("agents", switched_as_json(plan, true));
        }
        return Ok(Exit::Ok);
    }
    if mark.is_some() && switch == Switch::Off {
        let what = format!("{} no longer told", typed.join(", "));
        return Ok(report.refuse(loosening_refusal(&what, mark)));
    }
    let words = format!("events {} {}", switch.name(), human::make_typeable(&typed.join(" ")));
    let all = plans.iter().flat_map(|plan| &plan.outcomes);
    if mark.is_none() && !confirm_losses(context, &words, all)? {
        return Ok(report.refuse_silently(human::DECLINED));
    }
    if let Some(told) = lasting::keep(context)? {
        report.say(Level::Note, told);
    }
    let mode = EditMode { dry_run: false, may_loosen: mark.is_none() };
    for plan in &mut plans {
        match plan.registered.edit(context, &plan.wanted, mode) {
            Ok(outcomes) => plan.outcomes = outcomes,
            Err(error @ Error::Loosens(_)) => {
                return Ok(report.refuse(loosening_refusal(&error, mark)));
            }
            Err(error) => return Err(error.into()),
        }
        tell_switched(context, plan, switch, report)?;
        report.push("agents", switched_as_json(plan, false));
    }
    Ok(Exit::Ok)
}

/// Each name is an event of some of the agents, or of each that is named.
fn check_names(
    args: &EventsArgs,
    registered: &[Registration],
    switch: Switch,
    typed: &[String],
) -> Result<()> {
    for name in typed {
        let lacks: Vec<&Registration> =
            registered.iter().filter(|one| one.names_of(name, switch).is_empty()).collect();
        let Some(first) = lacks.first() else { continue };
        if lacks.len() < registered.len() && args.agent.is_empty() {
            continue;
        }
        return Err(scope::no_event(first.agent, name));
    }
    Ok(())
}

/// What was done, for people.
fn tell_switched(
    context: &Context,
    plan: &Plan<'_>,
    switch: Switch,
    report: &mut Report,
) -> Result<()> {
    let one = plan.registered;
    if plan.names.is_empty() {
        report.say(Level::Note, format!("{} has no such event", one.agent.title()));
        return Ok(());
    }
    let changed = plan.outcomes.iter().any(EditOutcome::has_changed);
    let verb = match (changed, switch) {
        (true, Switch::On) => "Switched on",
        (true, Switch::Off) => "Switched off",
        (false, Switch::On) => "Already on",
        (false, Switch::Off) => "Already off",
    };
    let names = plan.names.join(", ");
    let files = scope::describe_files(context, &one.places);
    report.tell(&format!("{verb} for {} ({files}): {names}\n", one.agent.title()))?;
    // One name may stand for several of Claude Code's.
    for name in &plan.names {
        let kinds = one.kinds_of(name);
        if kinds.len() > 1 {
            report.say(Level::Note, format!("{name} is {}", kinds.join(" and ")));
        }
    }
    let needed = one.needed(context);
    let is_needed = |name: &str| {
        one.agent.events().iter().any(|spec| spec.name == name && needed.contains(spec.kind))
    };
    let lost: Vec<&str> = plan.names.iter().copied().filter(|name| is_needed(name)).collect();
    if switch == Switch::Off && !lost.is_empty() {
        let text =
            format!("rules of yours are about {}: they have no effect there", lost.join(", "));
        report.say(Level::Warning, make_visible(&text));
    }
    let mut waits = false;
    for place in &one.places {
        if let Some(why) = scope::lacking_consent(context, place) {
            report.say(Level::Warning, why);
            waits = true;
        }
    }
    if changed && !waits {
        report.tell(&describe_uptake(one.agent))?;
    }
    Ok(())
}

/// The same for programs; the keys are stable.
fn switched_as_json(plan: &Plan<'_>, planned: bool) -> Value {
    let one = plan.registered;
    let files: Vec<Value> =
        plan.outcomes.iter().map(|outcome| edit_as_json(outcome, planned)).collect();
    let on: Vec<&str> = plan.wanted.events.iter().map(|event| event.name).collect();
    json!({
        "agent": one.agent.id(),
        "scope": one.scope(),
        "switched": plan.names,
        "on": on,
        "off": plan.wanted.off,
        "files": files,
    })
}
