//! Is the event before a tool told of at all? Without it every call passes, whatever else is registered.

use std::collections::BTreeSet;

use super::file::FileReport;
use crate::agent::Agent;
use crate::event::Kind;
use crate::order::to_set;

/// What is missing of the events before a tool.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gates {
    /// Nothing, or what is missing was told.
    Complete,
    /// These, and others are there: so a person asked for it.
    Partial(Vec<&'static str>),
    /// All of them.
    None(&'static str),
}

/// The agent's events before a tool that install registers.
fn gate_events(agent: &dyn Agent) -> impl Iterator<Item = &'static str> {
    let gates = agent.events().iter().filter(|spec| spec.kind == Kind::PreToolUse);
    gates.filter(|spec| spec.by_default).map(|spec| spec.name)
}

/// The event that a shell command is told by.
pub(super) fn sample_event(agent: &dyn Agent) -> Option<&'static str> {
    gate_events(agent).next()
}

/// Is one of these an event before a tool?
pub(super) fn is_gate(agent: &dyn Agent, events: &BTreeSet<String>) -> bool {
    events.iter().any(|event| agent.is_gate(event))
}

/// Which events before a tool no entry in these files stands for, whatever was asked for; `told`: what was said of
/// beside them.
pub(super) fn check_gates(agent: &dyn Agent, files: &[&FileReport], told: &[String]) -> Gates {
    let registered = to_set(files.iter().flat_map(|file| file.events.clone()));
    let lacking = files.iter().flat_map(|file| file.missing.iter().chain(&file.off_needed));
    let told = to_set(lacking.chain(told).cloned());
    let is_there = |name: &str| registered.contains(name) || told.contains(name);
    let left_out: Vec<&'static str> = gate_events(agent).filter(|name| !is_there(name)).collect();
    match left_out.first() {
        None => Gates::Complete,
        Some(_) if is_gate(agent, &registered) => Gates::Partial(left_out),
        Some(first) => Gates::None(first),
    }
}

impl Gates {
    /// Says it once.
    pub(super) fn tell(&self, problems: &mut Vec<String>, notes: &mut Vec<String>) {
        let (list, text) = match self {
            Gates::Complete => return,
            Gates::Partial(names) => {
                let names = names.join(", ");
                (
                    notes,
                    format!("not registered, as was asked for: {names}; such calls pass unseen"),
                )
            }
            Gates::None(name) => (
                problems,
                format!(
                    "{name} is not registered: every call passes unseen (`hookctl install --events` left it out)"
                ),
            ),
        };
        if !list.contains(&text) {
            list.push(text);
        }
    }
}
