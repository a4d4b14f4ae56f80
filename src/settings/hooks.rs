//! What our entries in a settings file should say, and the edits that get there.
//!
//! Own entries are known by their command alone (its base name is `hookctl`), never by a marker
//! that a client could one day refuse.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::edit::Doc;
use super::survey::{Own, Role, survey_hooks};
use crate::agent::EventSpec;
use crate::agent::wiring::{CallForm, Constant, EntryForm, FailClosed, Matcher, Nesting, Shell};
use crate::event::Kind;
use crate::json::{JsonFault, Node};
use crate::rule::file::server::{self, Typed};
use crate::text::quote_for_shell;

pub use crate::script::line::PROGRAM;

/// One event that entries are wanted for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WantedEvent {
    /// The agent's own name for it.
    pub name: &'static str,
    /// Which event it is.
    pub kind: Kind,
    /// The timeout, in seconds.
    pub timeout: u32,
}

impl WantedEvent {
    /// That event of an agent.
    pub fn of(spec: &EventSpec) -> WantedEvent {
        WantedEvent { name: spec.name, kind: spec.kind, timeout: spec.timeout }
    }
}

/// What the entries of one file should be.
#[derive(Debug, Clone)]
pub struct WantedEntries {
    /// The program: absolute, or the bare name in a project's file.
    pub command: String,
    /// The agent's id.
    pub agent: &'static str,
    /// `--config DIR --state DIR`, or nothing.
    pub places: Vec<String>,
    /// The events.
    pub events: Vec<WantedEvent>,
    /// The events that a person switched off one by one: no install brings them back.
    pub off: Vec<String>,
    /// What the command line says of the user's server; nothing = as entries have it now.
    pub server: Typed,
    /// Say that a failure blocks, where the agent knows that; none = as it is now, for `status`.
    pub fail_closed: Option<bool>,
    /// The whole command line of entries for a bridge, for which nothing but program and events above
    /// counts; none = these are the guard's.
    pub bridge: Option<Vec<String>>,
}

/// What is wanted, in the form of one file.
#[derive(Debug, Clone, Copy)]
pub struct Shaped<'w> {
    /// What is wanted.
    pub wanted: &'w WantedEntries,
    /// The form.
    pub form: &'static EntryForm,
}

/// A constant as JSON.
pub fn constant_value(constant: Constant) -> Value {
    match constant {
        Constant::Text(text) => text.into(),
        Constant::Number(number) => number.into(),
        Constant::Flag(flag) => flag.into(),
    }
}

/// The words as one line that the shell splits into them again.
pub fn shell_line<'w>(shell: Shell, words: impl IntoIterator<Item = &'w str>) -> String {
    let quoted = |(at, word): (usize, &'w str)| shell.quote_word(word, at == 0);
    words.into_iter().enumerate().map(quoted).collect::<Vec<_>>().join(" ")
}

impl Shell {
    fn quote_word(self, word: &str, is_program: bool) -> String {
        let special = match self {
            Shell::Posix => "_-./:=@%+,",
            // cmd takes what follows a slash in a program's name for an option.
            Shell::Windows if is_program => "_-.:",
            Shell::Windows => "_-./:=@+",
            // A comma makes a list there, `@` begins one.
            Shell::PowerShell => "_-./:=+",
        };
        let plain = |c: char| c.is_ascii_alphanumeric() || special.contains(c);
        if !word.is_empty() && word.chars().all(plain) {
            return word.to_string();
        }
        match self {
            Shell::Posix => quote_for_shell(word),
            // No file name holds a double quote there.
            Shell::Windows => format!("\"{word}\""),
            Shell::PowerShell => {
                let mut text = String::from("'");
                for c in word.chars() {
                    // Typographic quotes end a text as well.
                    let ends = matches!(c, '\'' | '\u{2018}'..='\u{201b}');
                    text.extend(ends.then_some(c));
                    text.push(c);
                }
                text + "'"
            }
        }
    }
}

impl WantedEntries {
    /// What the entries are for.
    pub fn role(&self) -> Role {
        if self.bridge.is_some() { Role::Bridge } else { Role::Guard }
    }

    /// Leaves these events out.
    pub fn switch_off(&mut self, off: &[String]) {
        self.events.retain(|event| off.iter().all(|name| name != event.name));
        self.off = off.to_vec();
    }

    /// The arguments for that event; none = for whatever event the payload names, in the usual time.
    pub fn arguments(&self, event: Option<&WantedEvent>) -> Vec<String> {
        if let Some(args) = &self.bridge {
            return args.clone();
        }
        let mut args: Vec<String> = ["hook", "--agent", self.agent].map(String::from).to_vec();
        args.extend(event.into_iter().flat_map(|event| ["--event".into(), event.name.into()]));
        args.extend(self.places.iter().cloned());
        let timeout = event.map(|event| event.timeout.to_string());
        args.extend(timeout.into_iter().flat_map(|timeout| ["--timeout".to_string(), timeout]));
        let server = self.server.iter();
        args.extend(
            server.flat_map(|(setting, value)| [server::flag_name(setting), value.clone()]),
        );
        args
    }

    /// The whole call for that event as one line for a shell.
    pub fn line(&self, event: &WantedEvent, shell: Shell) -> String {
        let args = self.arguments(Some(event));
        let words = std::iter::once(self.command.as_str()).chain(args.iter().map(String::as_str));
        shell_line(shell, words)
    }

    /// The names of the events.
    pub fn event_names(&self) -> Vec<String> {
        self.events.iter().map(|event| event.name.to_string()).collect()
    }

    /// The wanted event of that name.
    pub(super) fn event_named(&self, name: &str) -> Option<&WantedEvent> {
        self.events.iter().find(|event| event.name == name)
    }
}

impl Shaped<'_> {
    /// The entry for that event.
    pub fn wanted_entry(&self, event: &WantedEvent) -> Value {
        let Shaped { wanted, form } = self;
        let mut entry = Map::new();
        for (key, constant) in form.keys.iter().filter(|(key, _)| *key == "type") {
            entry.insert((*key).into(), constant_value(*constant));
        }
        if form.named {
            entry.insert("name".into(), format!("{PROGRAM}-{}", event.name).into());
        }
        let command = wanted.command.as_str();
        match form.call {
            CallForm::Args => {
                entry.insert("command".into(), command.into());
                entry.insert("args".into(), wanted.arguments(Some(event)).into());
            }
            CallForm::Line => {
                entry.insert("command".into(), wanted.line(event, Shell::LOCAL).into());
            }
            CallForm::List => {
                let all = std::iter::once(command.to_string());
                let all: Vec<String> = all.chain(wanted.arguments(Some(event))).collect();
                entry.insert("command".into(), all.into());
            }
        }
        for (key, constant) in form.keys.iter().filter(|(key, _)| *key != "type") {
            entry.insert((*key).into(), constant_value(*constant));
        }
        if let Some((key, unit)) = form.timeout {
            entry.insert(key.into(), (event.timeout * unit.per_second()).into());
        }
        if let Some(closed) =
            self.closed_form(event.kind).filter(|_| wanted.fail_closed == Some(true))
        {
            entry.insert(closed.key.into(), constant_value(closed.value));
        }
        Value::Object(entry)
    }

    /// How an entry of that event says that its failure blocks, where that has an effect.
    fn closed_form(&self, kind: Kind) -> Option<&'static FailClosed> {
        self.form.fail_closed.filter(|closed| closed.kinds.contains(&kind))
    }

    /// What stands in the event's list: the entry, or a group with it, which holds for every tool. A bridge's group
    /// says so, as its own hooks have it.
    fn wanted_item(&self, event: &WantedEvent) -> Value {
        let entry = self.wanted_entry(event);
        if self.form.nesting == Nesting::Flat {
            return entry;
        }
        let says = match self.form.matcher {
            Matcher::Never => false,
            Matcher::Tools => event.kind.is_tool(),
            Matcher::Always => true,
        };
        match says || self.wanted.role() == Role::Bridge {
            true => json!({ "matcher": "*", "hooks": [entry] }),
            false => json!({ "hooks": [entry] }),
        }
    }

    /// What is not as it should be with an own entry of a wanted event.
    pub fn outdated_parts(&self, own: &Own) -> Vec<Outdated> {
        let wanted = self.wanted;
        let Some(event) = wanted.event_named(&own.event) else { return Vec::new() };
        let fault = |breaks, why: String| Outdated { breaks, why };
        if wanted.role() == Role::Bridge {
            let other =
                own.matcher.is_some() || !is_same_entry(&own.entry, &self.wanted_entry(event));
            return other.then(|| fault(true, "it was another".into())).into_iter().collect();
        }
        let mut faults: Vec<_> = self.wiring(own).map(|why| fault(true, why)).collect();
        if own.command != wanted.command {
            faults.push(fault(false, format!("runs {}", own.command)));
        }
        faults.extend(self.outdated_timeout(own, event));
        let closed = own.fails_closed;
        let blocks = match wanted.fail_closed {
            Some(wanted) => wanted && self.closed_form(event.kind).is_some(),
            None => closed,
        };
        if blocks != closed {
            let now = if closed { "fails closed" } else { "fails open" };
            faults.push(fault(false, now.into()));
        }
        let mut entry = self.wanted_entry(event);
        if let Some(form) = self.form.fail_closed.filter(|_| blocks) {
            entry[form.key] = constant_value(form.value);
        }
        if faults.is_empty() && !is_same_entry(&own.entry, &entry) {
            faults.push(fault(false, ELSEWISE.into()));
        }
        faults
    }

    /// What is wrong with the times of an entry.
    fn outdated_timeout(&self, own: &Own, event: &WantedEvent) -> Vec<Outdated> {
        let Some((key, unit)) = self.form.timeout else { return Vec::new() };
        let mut faults = Vec::new();
        let now = own.entry.get(key).and_then(Value::as_f64);
        let wanted = event.timeout * unit.per_second();
        if now != Some(f64::from(wanted)) {
            let now = own.entry.get(key).map_or("none".into(), Value::to_string);
            faults.push(Outdated {
                breaks: false,
                why: format!("timeout {now} instead of {wanted}"),
            });
        }
        let deadline = own.option_value("--timeout").and_then(|text| text.parse::<f64>().ok());
        let seconds = now.map_or(600.0, |now| now / f64::from(unit.per_second()));
        if deadline.is_some_and(|deadline| deadline > seconds) {
            let why = "would answer after the client's timeout".into();
            faults.push(Outdated { breaks: true, why });
        }
        faults
    }

    /// What keeps an entry of ours from guarding its event.
    fn wiring(&self, own: &Own) -> impl Iterator<Item = String> {
        let event = own.option_value("--event").filter(|event| *event != own.event);
        let agent = own.option_value("--agent").filter(|agent| *agent != self.wanted.agent);
        let is_set = |key: &&str| own.entry.get(*key).is_some_and(|v| *v != Value::Bool(false));
        let keys = ["if", "async", "asyncRewake"].into_iter().filter(is_set);
        let typed = self.form.keys.iter().any(|(key, _)| *key == "type");
        let is_command = own.entry.get("type").and_then(Value::as_str) == Some("command");
        let mut found = Vec::new();
        found.extend(event.map(|event| format!("wired to `--event {event}`")));
        found.extend(agent.map(|agent| format!("wired to agent `{agent}`")));
        found.extend(own.matcher.iter().map(|it| format!("only for what matches `{it}`")));
        found.extend(own.lodger.map(|other| {
            format!("stands in a group of {}, which takes it along when it goes", other.name)
        }));
        found.extend(keys.map(|key| format!("`{key}` keeps it from deciding")));
        found.extend((typed && !is_command).then(|| "`type` is not `command`".to_string()));
        let shell = own.tail.iter().filter(|_| own.shell);
        found.extend(shell.map(|tail| format!("the shell runs more than hookctl: `{tail}`")));
        found.extend(own.mangled.then(|| {
            format!("a POSIX shell takes the backslashes out of {}: write `/`", own.command)
        }));
        found.into_iter()
    }
}

/// What install would write otherwise today.
pub const ELSEWISE: &str = "written by another version";
/// The same where it was changed since install wrote it.
pub const EDITED: &str = "edited by hand";

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
    /// What the file must have at its top.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub top: Vec<String>,
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
    wanted: Shaped<'_>,
    created: &Created,
) -> Result<Vec<Change>, JsonFault> {
    check_shape(doc, wanted.form, wanted.wanted.events.iter().map(|event| event.name))?;
    let mut changes = Vec::new();
    for (key, constant) in wanted.form.top {
        if doc.root().get(key).is_none() {
            doc.append(&[], Some(key), &constant_value(*constant))?;
            changes.push(Change::Added((*key).to_string()));
        }
    }
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
    form: &EntryForm,
    events: impl Iterator<Item = &'a str>,
) -> Result<(), JsonFault> {
    let refuse = |node: &Node, what: &str, want: &str| {
        let message = format!("{what} is {}, not {want}", node.kind_name());
        Err(JsonFault::new(node.span.start, message, format!("make it {want}, or remove it")))
    };
    if doc.root().members().is_none() {
        return refuse(doc.root(), "the whole file", "an object");
    }
    let hooks = match form.hooks {
        None => doc.root(),
        Some(key) => match doc.root().get(key) {
            None => return Ok(()),
            Some((_, hooks)) if hooks.members().is_none() => {
                return refuse(hooks, &format!("`{key}`"), "an object");
            }
            Some((_, hooks)) => hooks,
        },
    };
    let within = form.hooks.map(|key| format!("{key}.")).unwrap_or_default();
    for event in events {
        if let Some((_, groups)) = hooks.get(event)
            && groups.items().is_none()
        {
            return refuse(groups, &format!("`{within}{event}`"), "a list");
        }
    }
    Ok(())
}

fn install_step(
    doc: &mut Doc,
    shaped: Shaped<'_>,
    created: &Created,
) -> Result<Option<Change>, JsonFault> {
    let Shaped { wanted, form } = shaped;
    let survey = survey_hooks(doc, form);
    let own = survey.entries_for(wanted.role());
    for (index, one) in own.iter().enumerate() {
        let first = own.iter().position(|other| other.seen && other.event == one.event);
        let keep = wanted.event_named(&one.event).filter(|_| first == Some(index));
        if let (Some(event), Some(_), true) = (keep, &one.matcher, is_alone(doc, one, form)) {
            doc.replace(&one.path[..form.item_depth()], &shaped.wanted_item(event))?;
            let faults = shaped.outdated_parts(one).into_iter().map(|fault| fault.why);
            let why = faults.collect::<Vec<_>>().join(", ");
            return Ok(Some(Change::Replaced { event: one.event.clone(), why }));
        }
        if keep.is_none() || one.matcher.is_some() || one.lodger.is_some() {
            remove_own(doc, one, Some(created), form)?;
            // A second entry for the same event is no loss.
            return Ok(Some(if first == Some(index) || !one.seen {
                Change::Removed(one.event.clone())
            } else {
                Change::Replaced { event: one.event.clone(), why: "there twice".into() }
            }));
        }
        let faults = shaped.outdated_parts(one);
        if let (false, Some(event)) = (faults.is_empty(), keep) {
            doc.replace(&one.path, &shaped.wanted_entry(event))?;
            let why = faults.into_iter().map(|fault| fault.why).collect::<Vec<_>>().join(", ");
            return Ok(Some(Change::Replaced { event: one.event.clone(), why }));
        }
    }
    for event in &wanted.events {
        if own.iter().any(|one| one.event == event.name) {
            continue;
        }
        insert_item(doc, form, event.name, usize::MAX, &shaped.wanted_item(event))?;
        return Ok(Some(Change::Added(event.name.to_string())));
    }
    Ok(None)
}

/// Puts a group, or an entry without one, into the list of an event: before number `at`, or at the end.
pub(super) fn insert_item(
    doc: &mut Doc,
    form: &EntryForm,
    event: &str,
    at: usize,
    item: &Value,
) -> Result<(), JsonFault> {
    let (above, hooks) = match form.hooks {
        None => (Vec::new(), doc.root()),
        Some(key) => match doc.root().get(key) {
            None => return doc.append(&[], Some(key), &json!({ event: [item] })),
            Some((index, hooks)) => (vec![index], hooks),
        },
    };
    match hooks.get(event) {
        None => doc.append(&above, Some(event), &json!([item])),
        Some((index, _)) => doc.insert(&[&above[..], &[index]].concat(), at, item),
    }
}

/// What install creates, or has created earlier, given the document without our entries.
pub fn created_by_install(bare: &Doc, doc: &Doc, wanted: Shaped<'_>) -> Created {
    let form = wanted.form;
    let hooks = match form.hooks {
        None => Some(bare.root()),
        Some(key) => bare.root().get(key).map(|(_, node)| node),
    };
    let survey = survey_hooks(doc, form);
    let present = survey.own.into_iter().chain(survey.bridge).map(|own| own.event);
    let wanted = wanted.wanted.events.iter().map(|event| event.name.to_string());
    let mut events: Vec<String> = wanted.chain(present).collect();
    events.retain(|event| hooks.is_none_or(|hooks| hooks.get(event).is_none()));
    crate::order::sort(&mut events);
    events.dedup();
    let top = form.top.iter().filter(|(key, _)| bare.root().get(key).is_none());
    Created { hooks: hooks.is_none(), events, top: top.map(|(key, _)| (*key).into()).collect() }
}

/// Which of our entries go.
#[derive(Debug, Clone, Copy, Default)]
pub struct Going<'g> {
    /// Those of that role; none = of any.
    pub role: Option<Role>,
    /// But not those that are wired to one of these agents, which have the file as well.
    pub spared: &'g [&'static str],
    /// A member that [`super::pin_member`] put beside them goes as well, where it is still the same.
    pub pinned: Option<(&'g str, &'g Value)>,
}

impl Going<'_> {
    /// All of that role.
    pub fn of(role: Option<Role>) -> Going<'static> {
        Going { role, ..Going::default() }
    }

    /// Does this one go?
    pub fn takes(&self, own: &Own) -> bool {
        own.option_value("--agent").is_none_or(|agent| !self.spared.contains(&agent))
    }
}

/// Takes every entry of ours out that goes, and nothing else. Without a record of what we created,
/// containers that become empty go as well: an empty list of hooks says nothing.
///
/// # Errors
/// Only where the document's own edits fail.
pub fn strip_hooks(
    doc: &mut Doc,
    going: Going<'_>,
    created: Option<&Created>,
    form: &'static EntryForm,
) -> Result<Vec<Change>, JsonFault> {
    let mut changes = Vec::new();
    let next = |doc: &Doc| {
        let survey = survey_hooks(doc, form);
        let roles = [Role::Guard, Role::Bridge].into_iter();
        let roles = roles.filter(|one| going.role.is_none_or(|role| role == *one));
        let mut all = roles.flat_map(|role| survey.entries_for(role));
        all.find(|own| going.takes(own)).cloned()
    };
    while let Some(own) = next(doc) {
        remove_own(doc, &own, created, form)?;
        changes.push(Change::Removed(own.event));
    }
    if !changes.is_empty() {
        strip_top(doc, created, form)?;
    }
    Ok(changes)
}

/// Takes out what the file must have for the sake of hooks, where install put it there and nothing else is left.
fn strip_top(doc: &mut Doc, created: Option<&Created>, form: &EntryForm) -> Result<(), JsonFault> {
    let ours = |key: &str, value: &Node| {
        let wanted = form.top.iter().find(|(name, _)| *name == key);
        let by_us = created.is_none_or(|created| created.top.iter().any(|name| name == key));
        by_us && wanted.is_some_and(|(_, it)| constant_value(*it) == value.to_value())
    };
    // An object for hooks that is known to have been there says nothing where it holds none.
    let is_bare = |key: &str, value: &Node| {
        let list = |event: &Node| event.items().is_some_and(<[Node]>::is_empty);
        let events = value.members();
        created.is_some_and(|created| !created.hooks)
            && form.hooks == Some(key)
            && events.is_some_and(|events| events.iter().all(|event| list(&event.value)))
    };
    let members = doc.root().members().unwrap_or_default();
    if members.iter().all(|one| ours(&one.key, &one.value) || is_bare(&one.key, &one.value)) {
        let at: Vec<usize> =
            (0..members.len()).filter(|at| ours(&members[*at].key, &members[*at].value)).collect();
        for at in at.into_iter().rev() {
            doc.remove(&[at])?;
        }
    }
    Ok(())
}

/// Does the group hold nothing but our entry (and at most a matcher)?
fn is_alone(doc: &Doc, own: &Own, form: &EntryForm) -> bool {
    if form.nesting == Nesting::Flat {
        return true;
    }
    let known = |key: &str| matches!(key, "hooks" | "matcher");
    let depth = form.item_depth();
    let group = doc.node_at(&own.path[..depth]).and_then(Node::members).unwrap_or_default();
    group.iter().all(|member| known(&member.key))
        && doc.node_at(&own.path[..=depth]).is_some_and(|list| list.len() == 1)
}

fn remove_own(
    doc: &mut Doc,
    own: &Own,
    created: Option<&Created>,
    form: &EntryForm,
) -> Result<(), JsonFault> {
    let mut path = own.path.as_slice();
    let (item, event, hooks) = (form.item_depth(), form.depth() + 1, form.depth());
    let count = |path: &[usize]| doc.node_at(path).map_or(0, Node::len);
    if is_alone(doc, own, form) {
        path = &path[..item];
        if form.positional && path[item - 1] + 1 < count(&path[..event]) {
            // Those behind it are known by their place.
            let path = path.to_vec();
            return doc.replace(&path, &json!({ "hooks": [] }));
        }
        let made = created.is_none_or(|created| created.events.contains(&own.event));
        if made && count(&path[..event]) == 1 {
            path = &path[..event];
            let made = created.is_none_or(|created| created.hooks);
            if made && hooks > 0 && count(&path[..hooks]) == 1 {
                path = &path[..hooks];
            }
        }
    }
    let path = path.to_vec();
    doc.remove(&path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::claude::ENTRIES;

    fn wanted() -> WantedEntries {
        WantedEntries {
            command: "/usr/bin/hookctl".into(),
            agent: "claude",
            places: vec!["--config".into(), "/c".into(), "--state".into(), "/s".into()],
            events: [Kind::PreToolUse, Kind::Stop]
                .map(|kind| WantedEvent { name: kind.name(), kind, timeout: 600 })
                .to_vec(),
            server: Typed::new(),
            off: Vec::new(),
            fail_closed: Some(false),
            bridge: None,
        }
    }

    fn shaped(wanted: &WantedEntries) -> Shaped<'_> {
        Shaped { wanted, form: &ENTRIES }
    }

    fn installed(text: &str) -> (String, Vec<Change>) {
        let mut doc = Doc::new(text).unwrap();
        let created = created_by_install(&doc, &doc, shaped(&wanted()));
        let changes = install_hooks(&mut doc, shaped(&wanted()), &created).unwrap();
        (doc.text(), changes)
    }

    #[test]
    fn each_shell_reads_the_words_that_were_meant() {
        let words = ["C:/Program Files/it's/hookctl.exe", "hook", "--state", "C:/a,b", ""];
        let line = |shell| shell_line(shell, words);
        assert_eq!(
            line(Shell::Posix),
            r"'C:/Program Files/it'\''s/hookctl.exe' hook --state C:/a,b ''"
        );
        assert_eq!(
            line(Shell::Windows),
            r#""C:/Program Files/it's/hookctl.exe" hook --state "C:/a,b" """#
        );
        assert_eq!(
            line(Shell::PowerShell),
            "'C:/Program Files/it''s/hookctl.exe' hook --state 'C:/a,b' ''"
        );
        for (shell, word, quoted) in [
            // A program's name in cmd ends at a slash.
            (Shell::Windows, "C:/x/hookctl.exe", "\"C:/x/hookctl.exe\""),
            (Shell::Windows, "C:/a&b", "\"C:/a&b\""),
            (Shell::Windows, "C:/a^b", "\"C:/a^b\""),
            (Shell::PowerShell, "C:/x/hookctl.exe", "C:/x/hookctl.exe"),
            (Shell::PowerShell, "C:/$x/`y", "'C:/$x/`y'"),
            (Shell::PowerShell, "C:/a\u{2019};b", "'C:/a\u{2019}\u{2019};b'"),
            (Shell::PowerShell, "@x", "'@x'"),
            (Shell::PowerShell, "(x)", "'(x)'"),
        ] {
            assert_eq!(shell_line(shell, [word]), quoted, "{shell:?}");
        }
    }

    #[test]
    fn s0_27_wrong_wiring_is_outdated_and_replaced_in_place() {
        let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/usr/bin/hookctl","args":["hook","--event","tool-start"],"timeout":600},{"type":"command","command":"x"}]}]}}"#;
        let doc = Doc::new(text).unwrap();
        let faults = shaped(&wanted()).outdated_parts(&survey_hooks(&doc, &ENTRIES).own[0]);
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
        let survey = survey_hooks(&Doc::new(&after).unwrap(), &ENTRIES);
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
        strip_hooks(&mut doc, Going::default(), Some(&Created::default()), &ENTRIES).unwrap();
        assert_eq!(doc.text(), text);
    }

    #[test]
    fn shapes_without_a_place_are_refused() {
        for text in
            ["[]", "3", r#"{"hooks": []}"#, r#"{"hooks": null}"#, r#"{"hooks":{"Stop":{}}}"#]
        {
            let mut doc = Doc::new(text).unwrap();
            assert!(
                install_hooks(&mut doc, shaped(&wanted()), &Created::default()).is_err(),
                "{text}"
            );
            assert_eq!(doc.text(), text);
        }
    }

    #[test]
    fn what_is_written_is_what_the_client_accepts() {
        for event in &wanted().events {
            let (text, _) = installed(r#"{"a":1}"#);
            assert!(text.contains(event.name));
            assert!(survey_hooks(&Doc::new(&text).unwrap(), &ENTRIES).invalid.is_empty());
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
