//! What our entries in a Claude Code settings file should say, and the edits that get there.
//!
//! Own entries are known by their command alone (its base name is `hookctl`), never by a marker
//! that a client could one day refuse.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::edit::Doc;
use super::survey::{Own, Role, survey_hooks};
use crate::event::Kind;
use crate::json::{JsonFault, Node};
use crate::rule::file::server::{self, Typed};

pub use crate::script::line::PROGRAM;

/// Where `onFailure` has an effect (contracts: Stop and its kin ignore it).
pub const FAIL_CLOSED: &[Kind] =
    &[Kind::PreToolUse, Kind::PermissionRequest, Kind::UserPromptSubmit, Kind::PostToolUse];

/// What the entries of one file should be.
#[derive(Debug, Clone)]
pub struct WantedEntries {
    /// The program: absolute, or the bare name in a project's file.
    pub command: String,
    /// The agent's id.
    pub agent: &'static str,
    /// `--config DIR --state DIR`, or nothing.
    pub places: Vec<String>,
    /// The events with their timeouts in seconds.
    pub events: Vec<(Kind, u32)>,
    /// What the command line says of the user's server; nothing = as entries have it now.
    pub server: Typed,
    /// Write `onFailure: block` where it works; none = as it is now, for `status`.
    pub fail_closed: Option<bool>,
    /// The whole command line of entries for a bridge, for which nothing but program and events above
    /// counts; none = these are the guard's.
    pub bridge: Option<Vec<String>>,
}

impl WantedEntries {
    /// What the entries are for.
    pub fn role(&self) -> Role {
        if self.bridge.is_some() { Role::Bridge } else { Role::Guard }
    }

    /// The arguments of the entry for that event.
    fn entry_arguments(&self, kind: Kind, timeout: u32) -> Vec<String> {
        if let Some(args) = &self.bridge {
            return args.clone();
        }
        let mut args: Vec<String> =
            ["hook", "--agent", self.agent, "--event", kind.name()].map(String::from).to_vec();
        args.extend(self.places.iter().cloned());
        args.extend(["--timeout".to_string(), timeout.to_string()]);
        let server = self.server.iter();
        args.extend(
            server.flat_map(|(setting, value)| [server::flag_name(setting), value.clone()]),
        );
        args
    }

    /// The entry for that event.
    pub fn wanted_entry(&self, kind: Kind, timeout: u32) -> Value {
        let mut entry = Map::new();
        entry.insert("type".into(), "command".into());
        entry.insert("command".into(), self.command.as_str().into());
        entry.insert("args".into(), self.entry_arguments(kind, timeout).into());
        entry.insert("timeout".into(), timeout.into());
        if self.fail_closed == Some(true) && FAIL_CLOSED.contains(&kind) {
            entry.insert("onFailure".into(), "block".into());
        }
        Value::Object(entry)
    }

    /// The whole group for that event: without a matcher, so that it holds for every tool. A bridge's has
    /// the one that says so, as its own hooks have it.
    fn wanted_group(&self, kind: Kind, timeout: u32) -> Value {
        let entry = self.wanted_entry(kind, timeout);
        match self.role() {
            Role::Guard => json!({ "hooks": [entry] }),
            Role::Bridge => json!({ "matcher": "*", "hooks": [entry] }),
        }
    }

    /// The timeout for that event's name, where it is wanted.
    fn event_timeout(&self, event: &str) -> Option<(Kind, u32)> {
        self.events.iter().copied().find(|(kind, _)| kind.name() == event)
    }

    /// What is not as it should be with an own entry of a wanted event.
    pub fn outdated_parts(&self, own: &Own) -> Vec<Outdated> {
        let Some((kind, timeout)) = self.event_timeout(&own.event) else { return Vec::new() };
        let fault = |breaks, why: String| Outdated { breaks, why };
        if self.role() == Role::Bridge {
            let other = own.matcher.is_some()
                || !is_same_entry(&own.entry, &self.wanted_entry(kind, timeout));
            return other.then(|| fault(true, "it was another".into())).into_iter().collect();
        }
        let mut faults: Vec<_> = self.wiring(own).map(|why| fault(true, why)).collect();
        if own.command != self.command {
            faults.push(fault(false, format!("runs {}", own.command)));
        }
        let seconds = own.entry.get("timeout").and_then(Value::as_f64);
        if seconds != Some(f64::from(timeout)) {
            let now = own.entry.get("timeout").map_or("none".into(), Value::to_string);
            faults.push(fault(false, format!("timeout {now} instead of {timeout}")));
        }
        let deadline = own.option_value("--timeout").and_then(|text| text.parse::<f64>().ok());
        if deadline.is_some_and(|deadline| deadline > seconds.unwrap_or(600.0)) {
            faults.push(fault(true, "would answer after the client's timeout".into()));
        }
        let closed = own.fails_closed();
        let blocks = match self.fail_closed {
            Some(wanted) => wanted && FAIL_CLOSED.contains(&kind),
            None => closed,
        };
        if blocks != closed {
            let now = if closed { "fails closed" } else { "fails open" };
            faults.push(fault(false, now.into()));
        }
        let mut wanted = self.wanted_entry(kind, timeout);
        if blocks {
            wanted["onFailure"] = "block".into();
        }
        if faults.is_empty() && !is_same_entry(&own.entry, &wanted) {
            faults.push(fault(false, "written by another version".into()));
        }
        faults
    }

    /// What keeps an entry of ours from guarding its event.
    fn wiring(&self, own: &Own) -> impl Iterator<Item = String> {
        let event = own.option_value("--event").filter(|event| *event != own.event);
        let agent = own.option_value("--agent").filter(|agent| *agent != self.agent);
        let is_set = |key: &&str| own.entry.get(*key).is_some_and(|v| *v != Value::Bool(false));
        let keys = ["if", "async", "asyncRewake"].into_iter().filter(is_set);
        let is_command = own.entry.get("type").and_then(Value::as_str) == Some("command");
        let mut found = Vec::new();
        found.extend(event.map(|event| format!("wired to `--event {event}`")));
        found.extend(agent.map(|agent| format!("wired to agent `{agent}`")));
        found.extend(own.matcher.iter().map(|it| format!("only for what matches `{it}`")));
        found.extend(own.lodger.map(|other| {
            format!("stands in a group of {}, which takes it along when it goes", other.name)
        }));
        found.extend(keys.map(|key| format!("`{key}` keeps it from deciding")));
        found.extend((!is_command).then(|| "`type` is not `command`".to_string()));
        found.into_iter()
    }
}

/// Is the entry the wanted one, a status message of the user's own aside?
fn is_same_entry(entry: &Map<String, Value>, wanted: &Value) -> bool {
    let Some(wanted) = wanted.as_object() else { return false };
    let equal = |key: &str, value: &Value| match (entry.get(key), value) {
        (Some(a), b) if a.is_number() && b.is_number() => a.as_f64() == b.as_f64(),
        (a, b) => a == Some(b),
    };
    wanted.iter().all(|(key, value)| equal(key, value))
        && entry.keys().all(|key| wanted.contains_key(key) || key == "statusMessage")
}

/// Why an entry of ours is not what install would write.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outdated {
    /// Does it keep the event from being guarded?
    pub breaks: bool,
    /// In a few words.
    pub why: String,
}

/// What install created and uninstall may therefore drop when it becomes empty.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// The `hooks` object itself.
    #[serde(default)]
    pub hooks: bool,
    /// The lists of these events.
    #[serde(default)]
    pub events: Vec<String>,
}

/// One thing that an edit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// An entry for an event that had none.
    Added(String),
    /// Another entry in the place of an old one.
    Replaced {
        /// The event.
        event: String,
        /// What was wrong with the old one.
        why: String,
    },
    /// An entry is gone.
    Removed(String),
    /// An entry of another program is gone.
    TakenOut {
        /// The event.
        event: String,
        /// The program's name.
        program: String,
    },
    /// An entry of another program is there again.
    PutBack {
        /// The event.
        event: String,
        /// The program's name.
        program: String,
    },
    /// An entry of another program stays out: what it runs is gone.
    LeftOut {
        /// The event.
        event: String,
        /// The program's name.
        program: String,
        /// Its command line.
        command: String,
    },
}

impl Change {
    /// Could it weaken the guard? Anything but adding could.
    pub fn loosens(&self) -> bool {
        !matches!(self, Change::Added(_))
    }
}

/// Makes the document's entries of ours the wanted ones.
///
/// # Errors
/// Where the file's shape leaves no place for them.
pub fn install_hooks(
    doc: &mut Doc,
    wanted: &WantedEntries,
    created: &Created,
) -> Result<Vec<Change>, JsonFault> {
    check_shape(doc, wanted.events.iter().map(|(kind, _)| kind.name()))?;
    let mut changes = Vec::new();
    // One edit at a time: each one moves what comes after it.
    while let Some(change) = install_step(doc, wanted, created)? {
        changes.push(change);
    }
    // An entry that moved is one change, not two.
    let moved: Vec<String> = changes
        .iter()
        .filter_map(|change| match change {
            Change::Added(event) => Some(event.clone()),
            _ => None,
        })
        .collect();
    for event in moved {
        let removed = Change::Removed(event.clone());
        if let Some(at) = changes.iter().position(|change| *change == removed) {
            changes.remove(at);
            changes.retain(|change| *change != Change::Added(event.clone()));
            let why = "stood in a group that is not its own".into();
            changes.push(Change::Replaced { event, why });
        }
    }
    Ok(changes)
}

/// Is there a place for entries of these events?
pub(super) fn check_shape<'a>(
    doc: &Doc,
    events: impl Iterator<Item = &'a str>,
) -> Result<(), JsonFault> {
    let refuse = |node: &Node, what: &str, want: &str| {
        let message = format!("{what} is {}, not {want}", node.kind_name());
        Err(JsonFault::new(node.span.start, message, format!("make it {want}, or remove it")))
    };
    if doc.root().members().is_none() {
        return refuse(doc.root(), "the whole file", "an object");
    }
    let Some((_, hooks)) = doc.root().get("hooks") else { return Ok(()) };
    if hooks.members().is_none() {
        return refuse(hooks, "`hooks`", "an object");
    }
    for event in events {
        if let Some((_, groups)) = hooks.get(event)
            && groups.items().is_none()
        {
            return refuse(groups, &format!("`hooks.{event}`"), "a list");
        }
    }
    Ok(())
}

fn install_step(
    doc: &mut Doc,
    wanted: &WantedEntries,
    created: &Created,
) -> Result<Option<Change>, JsonFault> {
    let survey = survey_hooks(doc);
    let own = survey.entries_for(wanted.role());
    for (index, one) in own.iter().enumerate() {
        let first = own.iter().position(|other| other.seen && other.event == one.event);
        let keep = wanted.event_timeout(&one.event).filter(|_| first == Some(index));
        if let (Some((kind, timeout)), Some(_), true) = (keep, &one.matcher, is_alone(doc, one)) {
            doc.replace(&one.path[..3], &wanted.wanted_group(kind, timeout))?;
            let faults = wanted.outdated_parts(one).into_iter().map(|fault| fault.why);
            let why = faults.collect::<Vec<_>>().join(", ");
            return Ok(Some(Change::Replaced { event: one.event.clone(), why }));
        }
        if keep.is_none() || one.matcher.is_some() || one.lodger.is_some() {
            remove_own(doc, one, Some(created))?;
            // A second entry for the same event is no loss.
            return Ok(Some(if first == Some(index) || !one.seen {
                Change::Removed(one.event.clone())
            } else {
                Change::Replaced { event: one.event.clone(), why: "there twice".into() }
            }));
        }
        let faults = wanted.outdated_parts(one);
        if let (false, Some((kind, timeout))) =
            (faults.is_empty(), wanted.event_timeout(&one.event))
        {
            doc.replace(&one.path, &wanted.wanted_entry(kind, timeout))?;
            let why = faults.into_iter().map(|fault| fault.why).collect::<Vec<_>>().join(", ");
            return Ok(Some(Change::Replaced { event: one.event.clone(), why }));
        }
    }
    for &(kind, timeout) in &wanted.events {
        if own.iter().any(|one| one.event == kind.name()) {
            continue;
        }
        insert_group(doc, kind.name(), usize::MAX, &wanted.wanted_group(kind, timeout))?;
        return Ok(Some(Change::Added(kind.name().to_string())));
    }
    Ok(None)
}

/// Puts a group into the list of an event: before number `at`, or at the end.
pub(super) fn insert_group(
    doc: &mut Doc,
    event: &str,
    at: usize,
    group: &Value,
) -> Result<(), JsonFault> {
    match doc.root().get("hooks") {
        None => doc.append(&[], Some("hooks"), &json!({ event: [group] })),
        Some((hooks, node)) => match node.get(event) {
            None => doc.append(&[hooks], Some(event), &json!([group])),
            Some((index, _)) => doc.insert(&[hooks, index], at, group),
        },
    }
}

/// What install creates, or has created earlier, given the document without our entries.
pub fn created_by_install(bare: &Doc, doc: &Doc, wanted: &WantedEntries) -> Created {
    let hooks = bare.root().get("hooks").map(|(_, node)| node);
    let survey = survey_hooks(doc);
    let present = survey.own.into_iter().chain(survey.bridge).map(|own| own.event);
    let mut events: Vec<String> =
        wanted.events.iter().map(|(kind, _)| kind.name().to_string()).chain(present).collect();
    events.retain(|event| hooks.is_none_or(|hooks| hooks.get(event).is_none()));
    crate::order::sort(&mut events);
    events.dedup();
    Created { hooks: hooks.is_none(), events }
}

/// Takes every entry of ours out, of that role if one is named, and nothing else. Without a record of what we created,
/// containers that become empty go as well: an empty list of hooks says nothing.
///
/// # Errors
/// Only where the document's own edits fail.
pub fn strip_hooks(
    doc: &mut Doc,
    role: Option<Role>,
    created: Option<&Created>,
) -> Result<Vec<Change>, JsonFault> {
    let mut changes = Vec::new();
    let next = |doc: &Doc| {
        let survey = survey_hooks(doc);
        let roles = [Role::Guard, Role::Bridge].into_iter();
        let roles = roles.filter(|one| role.is_none_or(|role| role == *one));
        roles.flat_map(|role| survey.entries_for(role)).next().cloned()
    };
    while let Some(own) = next(doc) {
        remove_own(doc, &own, created)?;
        changes.push(Change::Removed(own.event));
    }
    Ok(changes)
}

/// Does the group hold nothing but our entry (and at most a matcher)?
fn is_alone(doc: &Doc, own: &Own) -> bool {
    let known = |key: &str| matches!(key, "hooks" | "matcher");
    let group = doc.node_at(&own.path[..3]).and_then(Node::members).unwrap_or_default();
    group.iter().all(|member| known(&member.key))
        && doc.node_at(&own.path[..4]).is_some_and(|list| list.len() == 1)
}

fn remove_own(doc: &mut Doc, own: &Own, created: Option<&Created>) -> Result<(), JsonFault> {
    let mut path = own.path.as_slice();
    let only = |path: &[usize]| doc.node_at(path).is_some_and(|node| node.len() == 1);
    if is_alone(doc, own) {
        path = &path[..3];
        let event = created.is_none_or(|created| created.events.contains(&own.event));
        if event && only(&path[..2]) {
            path = &path[..2];
            if created.is_none_or(|created| created.hooks) && only(&path[..1]) {
                path = &path[..1];
            }
        }
    }
    let path = path.to_vec();
    doc.remove(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wanted() -> WantedEntries {
        WantedEntries {
            command: "/usr/bin/hookctl".into(),
            agent: "claude",
            places: vec!["--config".into(), "/c".into(), "--state".into(), "/s".into()],
            events: vec![(Kind::PreToolUse, 600), (Kind::Stop, 600)],
            server: Typed::new(),
            fail_closed: Some(false),
            bridge: None,
        }
    }

    fn installed(text: &str) -> (String, Vec<Change>) {
        let mut doc = Doc::new(text).unwrap();
        let created = created_by_install(&doc, &doc, &wanted());
        let changes = install_hooks(&mut doc, &wanted(), &created).unwrap();
        (doc.text(), changes)
    }

    #[test]
    fn s0_27_wrong_wiring_is_outdated_and_replaced_in_place() {
        let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/usr/bin/hookctl","args":["hook","--event","tool-start"],"timeout":600},{"type":"command","command":"x"}]}]}}"#;
        let doc = Doc::new(text).unwrap();
        let faults = wanted().outdated_parts(&survey_hooks(&doc).own[0]);
        assert!(faults[0].breaks && faults[0].why.contains("tool-start"), "{faults:?}");
        let (after, changes) = installed(text);
        assert!(matches!(&changes[0], Change::Replaced { event, .. } if event == "PreToolUse"));
        let value: Value = serde_json::from_str(&after).unwrap();
        assert_eq!(value["hooks"]["PreToolUse"][0]["hooks"][0]["args"][4], "PreToolUse");
        assert_eq!(value["hooks"]["PreToolUse"][0]["hooks"][1]["command"], "x");
    }

    #[test]
    fn a_narrow_matcher_is_widened_and_doubles_go() {
        let text = r#"{"hooks":{"PreToolUse":[{"matcher":"Bash","hooks":[{"type":"command","command":"hookctl hook"}]},{"hooks":[{"type":"command","command":"hookctl hook"}]}]}}"#;
        let (after, changes) = installed(text);
        let survey = survey_hooks(&Doc::new(&after).unwrap());
        assert_eq!(survey.own.len(), 2, "{after}");
        assert!(survey.own.iter().all(|own| own.matcher.is_none()));
        assert_eq!(changes.len(), 3, "{changes:?}");
    }

    #[test]
    fn of_duplicate_keys_the_last_is_edited_and_all_are_cleaned() {
        let text = r#"{"hooks":{"Stop":[]},"hooks":{"Stop":[],"PreToolUse":[],"PreToolUse":[]}}"#;
        let (after, _) = installed(text);
        assert!(after.starts_with(r#"{"hooks":{"Stop":[]},"hooks":{"Stop":[{"#), "{after}");
        assert!(after.contains(r#""PreToolUse":[],"PreToolUse":[{"#), "{after}");
        let mut doc = Doc::new(&after).unwrap();
        strip_hooks(&mut doc, None, Some(&Created::default())).unwrap();
        assert_eq!(doc.text(), text);
    }

    #[test]
    fn shapes_without_a_place_are_refused() {
        for text in
            ["[]", "3", r#"{"hooks": []}"#, r#"{"hooks": null}"#, r#"{"hooks":{"Stop":{}}}"#]
        {
            let mut doc = Doc::new(text).unwrap();
            assert!(install_hooks(&mut doc, &wanted(), &Created::default()).is_err(), "{text}");
            assert_eq!(doc.text(), text);
        }
    }

    #[test]
    fn what_is_written_is_what_the_client_accepts() {
        for (kind, _) in &wanted().events {
            let (text, _) = installed(r#"{"a":1}"#);
            assert!(text.contains(kind.name()));
            assert!(survey_hooks(&Doc::new(&text).unwrap()).invalid.is_empty());
        }
    }

    #[test]
    fn s0_25_entries_have_no_foreign_marker() {
        let (text, _) = installed("{}");
        let keys = ["type", "command", "args", "timeout"];
        let value: Value = serde_json::from_str(&text).unwrap();
        let entry = value["hooks"]["PreToolUse"][0]["hooks"][0].as_object().unwrap();
        assert!(entry.keys().eq(keys.iter()), "no foreign marker: {entry:?}");
    }
}
