//! `hookctl agents`: what each agent can be told and what hookctl knows of its settings.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::args::AgentsArgs;
use super::{BOLD, Context, Exit, print, print_json, scope};
use crate::agent::wiring::{Form, Wiring};
use crate::agent::{AGENTS, Agent, EventSpec};
use crate::settings::place;

/// One agent; the keys are stable.
#[derive(Debug, Serialize)]
struct AgentFacts {
    agent: &'static str,
    title: &'static str,
    present: bool,
    /// Where install writes for the user.
    settings: Vec<String>,
    form: &'static str,
    reads: Vec<&'static str>,
    /// Must its user approve each hook?
    consent: bool,
    events: Vec<EventFacts>,
    notes: &'static [&'static str],
}

/// One event.
#[derive(Debug, Serialize)]
struct EventFacts {
    name: &'static str,
    kind: &'static str,
    verbs: Vec<&'static str>,
    rewrite: bool,
    replace: bool,
    context: bool,
    default: bool,
}

impl EventFacts {
    fn of(spec: &EventSpec) -> EventFacts {
        EventFacts {
            name: spec.name,
            kind: spec.kind.name(),
            verbs: spec.verbs.iter().map(|verb| verb.name()).collect(),
            rewrite: spec.rewrite,
            replace: spec.replace,
            context: spec.context,
            default: spec.by_default,
        }
    }
}

/// Prints the table.
///
/// # Errors
/// Where an agent is not known, or stdout cannot be written.
pub fn run(context: &Context, args: &AgentsArgs) -> Result<Exit> {
    let named = args.names.iter().map(|id| scope::find_agent(id));
    let named = named.collect::<Result<Vec<&'static dyn Agent>>>()?;
    let asked = if named.is_empty() { AGENTS } else { &named[..] };
    let all: Vec<AgentFacts> = asked.iter().map(|agent| facts_of(context, *agent)).collect();
    if args.json {
        return print_json(&all);
    }
    let mut text = String::new();
    for one in &all {
        let here = if one.present { ", here" } else { "" };
        let head = format!("{} ({}{here})", one.title, one.agent);
        let _ = writeln!(text, "{}", context.paint(BOLD, &head));
        let _ = writeln!(text, "  settings  {} ({})", one.settings.join(", "), one.form);
        for event in &one.events {
            let _ = writeln!(text, "  {:<28} {}", event.name, describe_event(event));
        }
        if one.consent {
            text.push_str("  its user must approve each hook\n");
        }
        if !one.reads.is_empty() {
            let _ = writeln!(text, "  reads the hooks of {} as well", one.reads.join(", "));
        }
        for note in one.notes {
            let _ = writeln!(text, "  {note}");
        }
    }
    print(&text)
}

fn facts_of(context: &Context, agent: &'static dyn Agent) -> AgentFacts {
    let wiring = agent.wiring().unwrap_or(&Wiring::UNKNOWN);
    let user = wiring.files.iter().filter(|place| place.scope.name() == "user");
    let shown = user.map(|place| {
        let file = wiring.resolve(place, &context.paths.home, &context.cwd, &context.root);
        super::display_path(context, &file)
    });
    let mut reads: Vec<&'static str> = wiring.reads.iter().map(|reads| reads.agent).collect();
    reads.dedup();
    AgentFacts {
        agent: agent.id(),
        title: agent.title(),
        present: place::presence(wiring, &context.paths.home, &context.cwd).is_some(),
        settings: shown.collect(),
        form: match wiring.files.first().map(|place| place.form) {
            Some(Form::Entries(_)) => "entries",
            Some(Form::Scripts(_)) => "a script for each event",
            Some(Form::Plugin(_)) => "a plugin",
            None => "not known",
        },
        reads,
        consent: wiring.consent.is_some(),
        events: agent.events().iter().map(EventFacts::of).collect(),
        notes: wiring.notes,
    }
}

/// What an event can do, in a line.
fn describe_event(event: &EventFacts) -> String {
    let also = [(event.rewrite, "rewrite"), (event.replace, "replace"), (event.context, "context")];
    let also = also.into_iter().filter(|(can, _)| *can).map(|(_, what)| what);
    let can: Vec<&str> = event.verbs.iter().copied().chain(also).collect();
    let can = if can.is_empty() { "only watches".to_string() } else { can.join(", ") };
    match event.name == event.kind {
        true => can,
        false => format!("{can} ({})", event.kind),
    }
}
