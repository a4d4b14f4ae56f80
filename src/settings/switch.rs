//! What of an agent's settings keeps its hooks from running: which key of which file says `wiring`.

use std::fmt;
use std::path::{Path, PathBuf};

use serde_json::Value;
use toml::de::{DeTable, DeValue};

use super::edit::Doc;
use super::place;
use super::survey::Own;
use crate::agent::Agent;
use crate::agent::wiring::{Off, Scope, Switch, Wiring};
use crate::files;

/// A switch that is off.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwitchedOff {
    /// The key, with the keys above it.
    pub key: String,
    /// The file that says so.
    pub file: PathBuf,
    /// Whose it is. What the administrator registered outlives what a user's or a project's file switches off.
    pub scope: Scope,
    /// The entries that it names; empty = all hooks are off.
    pub names: Vec<String>,
}

impl fmt::Display for SwitchedOff {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SwitchedOff { key, file, names, .. } = self;
        let names = if names.is_empty() { "hooks".into() } else { names.join(", ") };
        write!(f, "`{key}` in {} switches {names} off", file.display())
    }
}

/// The directories that an agent's paths begin at.
#[derive(Debug, Clone, Copy)]
pub struct Bases<'p> {
    /// The user's home.
    pub home: &'p Path,
    /// Where the session is.
    pub cwd: &'p Path,
    /// The project's root.
    pub root: &'p Path,
}

/// The agent's switches that are off there, as far as they concern these entries of ours.
pub fn find_off(agent: &dyn Agent, bases: Bases<'_>, own: &[Own]) -> Vec<SwitchedOff> {
    let Some(wiring) = agent.wiring() else { return Vec::new() };
    let all = wiring.switches.iter().flat_map(|switch| switch_off(switch, wiring, bases));
    all.filter_map(|off| off.narrowed(own)).collect()
}

impl SwitchedOff {
    /// With our names alone; none where it names nothing of ours.
    fn narrowed(mut self, own: &[Own]) -> Option<SwitchedOff> {
        let all = self.names.is_empty();
        self.names.retain(|name| own.iter().any(|own| entry_name(own) == Some(name)));
        (all || !self.names.is_empty()).then_some(self)
    }

    /// The events of those of these entries that it names.
    pub fn events(&self, own: &[Own]) -> Vec<String> {
        let named = |own: &&Own| {
            entry_name(own).is_some_and(|name| self.names.iter().any(|one| one == name))
        };
        own.iter().filter(named).map(|own| own.event.clone()).collect()
    }
}

/// What people switch an entry off by.
fn entry_name(own: &Own) -> Option<&str> {
    own.entry.get("name")?.as_str()
}

/// Does that file of the agent's switch all hooks off, whatever others say?
pub fn is_off_in(agent: &dyn Agent, file: &Path) -> bool {
    let switches = agent.wiring().map(|wiring| wiring.switches).unwrap_or_default();
    let text = files::read_text(file, files::LARGE).unwrap_or_default();
    let off = |switch: &Switch| match switch.off {
        Off::Anywhere(off) => say(switch, file, &text) == Some(Value::Bool(off)),
        Off::Last(_) | Off::Named => false,
    };
    switches.iter().any(off)
}

/// What a file's text says of a switch.
pub fn say(switch: &Switch, file: &Path, text: &str) -> Option<Value> {
    match file.extension().is_some_and(|extension| extension == "toml") {
        true => say_toml(switch.keys, text),
        false => say_json(switch.keys, text),
    }
}

fn say_json(keys: &[&str], text: &str) -> Option<Value> {
    let doc = Doc::with_comments(text).ok()?;
    let mut node = doc.root();
    for key in keys {
        node = node.get(key)?.1;
    }
    Some(node.to_value())
}

fn say_toml(keys: &[&str], text: &str) -> Option<Value> {
    let table = DeTable::parse(text).ok()?.into_inner();
    let (last, above) = keys.split_last()?;
    let mut at = &table;
    for key in above {
        at = at.get(*key)?.get_ref().as_table()?;
    }
    match at.get(*last)?.get_ref() {
        DeValue::Boolean(flag) => Some(Value::Bool(*flag)),
        _ => Some(Value::Null),
    }
}

/// One switch, where it is off; a list of names once for each file.
fn switch_off(switch: &Switch, wiring: &Wiring, bases: Bases<'_>) -> Vec<SwitchedOff> {
    let said = said_by_files(switch, wiring, bases);
    let off = |(scope, file): &(Scope, PathBuf), names: Vec<String>| SwitchedOff {
        key: switch.keys.join("."),
        file: file.clone(),
        scope: *scope,
        names,
    };
    let is = |said: &Value, flag: bool| *said == Value::Bool(flag);
    let found = match switch.off {
        // That of the administrator's says the most.
        Off::Anywhere(flag) => said.iter().rev().find(|(_, said)| is(said, flag)),
        Off::Last(flag) => said.last().filter(|(_, said)| is(said, flag)),
        Off::Named => {
            let named = said.iter().map(|(place, said)| off(place, names_in(said)));
            return named.filter(|off| !off.names.is_empty()).collect();
        }
    };
    found.map(|(place, _)| off(place, Vec::new())).into_iter().collect()
}

fn names_in(list: &Value) -> Vec<String> {
    let names = list.as_array().into_iter().flatten();
    names.filter_map(Value::as_str).map(String::from).collect()
}

/// The files that say anything of it, the weakest first.
fn said_by_files(
    switch: &Switch,
    wiring: &Wiring,
    bases: Bases<'_>,
) -> Vec<((Scope, PathBuf), Value)> {
    let resolve = |(scope, path): &(Scope, &str)| {
        let path = wiring.resolve_path(*scope, path, bases.home, bases.cwd, bases.root);
        let scope = *scope;
        place::expand_name(path).into_iter().map(move |file| (scope, file))
    };
    let files = switch.places.iter().flat_map(resolve);
    let said = |(scope, file): (Scope, PathBuf)| {
        let text = files::read_text(&file, files::LARGE).ok()?;
        let said = say(switch, &file, &text)?;
        Some(((scope, file), said))
    };
    files.filter_map(said).collect()
}
