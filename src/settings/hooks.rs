//! The `hooks` of a Claude Code settings file: which entries are ours, what ours should say, and
//! the edits that get there.
//!
//! Own entries are known by their command alone (its base name is `hookctl`), never by a marker
//! that a client could one day refuse.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use super::edit::{Doc, Path};
use super::json::{Fault, Node};
use crate::event::Kind;

/// The name that own entries are known by.
pub const PROGRAM: &str = "hookctl";

/// Where `onFailure` has an effect (contracts: Stop and its kin ignore it).
pub const FAIL_CLOSED: &[Kind] =
    &[Kind::PreToolUse, Kind::PermissionRequest, Kind::UserPromptSubmit, Kind::PostToolUse];

/// The events whose invalid entries cost the client the whole file.
const FATAL: &[&str] = &["PreToolUse", "PermissionRequest"];

/// The entry types of the client.
const TYPES: &[&str] = &["command", "http", "prompt", "agent", "mcp_tool"];

/// What the entries of one file should be.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The program: absolute, or the bare name in a project's file.
    pub command: String,
    /// The agent's id.
    pub agent: &'static str,
    /// `--config DIR --state DIR`, or nothing.
    pub places: Vec<String>,
    /// The events with their timeouts in seconds.
    pub events: Vec<(Kind, u32)>,
    /// Write `onFailure: block` where it works; none = as it is now, for `status`.
    pub fail_closed: Option<bool>,
}

impl Wanted {
    /// The arguments of the entry for that event.
    fn args(&self, kind: Kind, timeout: u32) -> Vec<String> {
        let mut args: Vec<String> =
            ["hook", "--agent", self.agent, "--event", kind.name()].map(String::from).to_vec();
        args.extend(self.places.iter().cloned());
        args.extend(["--timeout".to_string(), timeout.to_string()]);
        args
    }

    /// The entry for that event.
    pub fn entry(&self, kind: Kind, timeout: u32) -> Value {
        let mut entry = Map::new();
        entry.insert("type".into(), "command".into());
        entry.insert("command".into(), self.command.as_str().into());
        entry.insert("args".into(), self.args(kind, timeout).into());
        entry.insert("timeout".into(), timeout.into());
        if self.fail_closed == Some(true) && FAIL_CLOSED.contains(&kind) {
            entry.insert("onFailure".into(), "block".into());
        }
        Value::Object(entry)
    }

    /// The whole group for that event: no matcher, so that it holds for every tool.
    fn group(&self, kind: Kind, timeout: u32) -> Value {
        json!({ "hooks": [self.entry(kind, timeout)] })
    }

    /// The timeout for that event's name, where it is wanted.
    fn timeout(&self, event: &str) -> Option<(Kind, u32)> {
        self.events.iter().copied().find(|(kind, _)| kind.name() == event)
    }

    /// What is not as it should be with an own entry of a wanted event.
    pub fn faults(&self, own: &Own) -> Vec<Outdated> {
        let Some((kind, timeout)) = self.timeout(&own.event) else { return Vec::new() };
        let mut faults = Vec::new();
        let mut fault = |breaks, why: String| faults.push(Outdated { breaks, why });
        match own.option("--event") {
            Some(event) if event != own.event => {
                fault(true, format!("wired to `--event {event}`"));
            }
            _ => {}
        }
        match own.option("--agent") {
            Some(agent) if agent != self.agent => fault(true, format!("wired to agent `{agent}`")),
            _ => {}
        }
        if let Some(matcher) = &own.matcher {
            fault(true, format!("only for what matches `{matcher}`"));
        }
        for key in ["if", "async", "asyncRewake"] {
            if own.entry.get(key).is_some_and(|value| *value != Value::Bool(false)) {
                fault(true, format!("`{key}` keeps it from deciding"));
            }
        }
        if own.entry.get("type").and_then(Value::as_str) != Some("command") {
            fault(true, "`type` is not `command`".into());
        }
        if own.command != self.command {
            fault(false, format!("runs {}", own.command));
        }
        let seconds = own.entry.get("timeout").and_then(Value::as_f64);
        if seconds != Some(f64::from(timeout)) {
            let now = own.entry.get("timeout").map_or("none".into(), Value::to_string);
            fault(false, format!("timeout {now} instead of {timeout}"));
        }
        let deadline = own.option("--timeout").and_then(|text| text.parse::<f64>().ok());
        if deadline.is_some_and(|deadline| deadline > seconds.unwrap_or(600.0)) {
            fault(true, "would answer after the client's timeout".into());
        }
        let closed = own.entry.get("onFailure").and_then(Value::as_str) == Some("block");
        let blocks = match self.fail_closed {
            Some(wanted) => wanted && FAIL_CLOSED.contains(&kind),
            None => closed,
        };
        if blocks != closed {
            let now = if closed { "fails closed" } else { "fails open" };
            fault(false, now.into());
        }
        let mut wanted = self.entry(kind, timeout);
        if blocks {
            wanted["onFailure"] = "block".into();
        }
        if faults.is_empty() && !same(&own.entry, &wanted) {
            faults.push(Outdated { breaks: false, why: "written by another version".into() });
        }
        faults
    }
}

/// Is the entry the wanted one, a status message of the user's own aside?
fn same(entry: &Map<String, Value>, wanted: &Value) -> bool {
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

/// One entry of ours in a file.
#[derive(Debug, Clone)]
pub struct Own {
    /// The event it stands under.
    pub event: String,
    /// The program.
    pub command: String,
    /// Its arguments, in the shell form split at white space.
    pub args: Vec<String>,
    /// Is it a command line for a shell?
    pub shell: bool,
    /// The group's matcher, where it is not "everything".
    pub matcher: Option<String>,
    /// The entry itself.
    pub entry: Map<String, Value>,
    /// Does the client see it? Of duplicate keys only the last counts.
    pub seen: bool,
    path: Path,
}

impl Own {
    /// The value after that option.
    pub fn option(&self, name: &str) -> Option<&str> {
        let at = self.args.iter().position(|arg| arg == name)?;
        self.args.get(at + 1).map(String::as_str)
    }

    /// Does the client block when this entry fails?
    pub fn fails_closed(&self) -> bool {
        self.entry.get("onFailure").and_then(Value::as_str) == Some("block")
    }
}

/// One command of somebody else.
#[derive(Debug, Clone)]
pub struct Foreign {
    /// The event it stands under.
    pub event: String,
    /// The program or command line.
    pub command: String,
    /// Is it a command line for a shell?
    pub shell: bool,
}

/// An entry that the client refuses.
#[derive(Debug, Clone)]
pub struct Invalid {
    /// What and where.
    pub fault: Fault,
    /// Does the client drop the whole file over it?
    pub fatal: bool,
}

/// All that a file says about hooks.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// Our entries.
    pub own: Vec<Own>,
    /// Commands of others.
    pub foreign: Vec<Foreign>,
    /// Entries that the client refuses.
    pub invalid: Vec<Invalid>,
    /// `disableAllHooks`.
    pub disabled: bool,
    /// `allowManagedHooksOnly`.
    pub managed_only: bool,
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
}

impl Change {
    /// Could it weaken the guard? Anything but adding could.
    pub fn loosens(&self) -> bool {
        !matches!(self, Change::Added(_))
    }
}

/// Everything about hooks in the document.
pub fn survey(doc: &Doc) -> Survey {
    let root = doc.root();
    let flag = |key| root.get(key).is_some_and(|(_, node)| node.value() == Value::Bool(true));
    let mut survey = Survey {
        disabled: flag("disableAllHooks"),
        managed_only: flag("allowManagedHooksOnly"),
        ..Survey::default()
    };
    let last = root.get("hooks").map(|(index, _)| index);
    for (at, hooks) in root.members().unwrap_or_default().iter().enumerate() {
        if hooks.key != "hooks" {
            continue;
        }
        for (index, event) in hooks.value.members().unwrap_or_default().iter().enumerate() {
            let seen = Some(at) == last
                && hooks.value.get(&event.key).is_some_and(|(last, _)| last == index);
            survey_event(&mut survey, &event.key, &event.value, &[at, index], seen);
        }
    }
    survey
}

fn survey_event(survey: &mut Survey, event: &str, groups: &Node, path: &[usize], seen: bool) {
    if seen && Kind::from_name(event) != Kind::Other {
        let fatal = FATAL.contains(&event);
        let faults = invalid(groups);
        survey.invalid.extend(faults.into_iter().map(|fault| Invalid { fault, fatal }));
    }
    for (g, group) in groups.items().unwrap_or_default().iter().enumerate() {
        let Some((at, entries)) = group.get("hooks") else { continue };
        let matcher = group.get("matcher").and_then(|(_, node)| match node.str() {
            Some("" | "*") => None,
            Some(text) => Some(text.to_string()),
            None => Some(node.value().to_string()),
        });
        for (e, node) in entries.items().unwrap_or_default().iter().enumerate() {
            let Value::Object(entry) = node.value() else { continue };
            let Some(command) = entry.get("command").and_then(Value::as_str) else { continue };
            let args = entry.get("args").and_then(Value::as_array);
            let shell = args.is_none();
            match own_call(command, args) {
                Some((command, args)) => survey.own.push(Own {
                    event: event.to_string(),
                    command,
                    args,
                    shell,
                    matcher: matcher.clone(),
                    seen,
                    path: [path, &[g, at, e]].concat(),
                    entry,
                }),
                None if seen => {
                    let mut command = command.to_string();
                    for arg in args.into_iter().flatten().filter_map(Value::as_str) {
                        command = format!("{command} {arg}");
                    }
                    survey.foreign.push(Foreign { event: event.to_string(), command, shell });
                }
                None => {}
            }
        }
    }
}

/// Program and arguments, where the command is a call of this program.
fn own_call(command: &str, args: Option<&Vec<Value>>) -> Option<(String, Vec<String>)> {
    match args {
        Some(args) => {
            let args: Vec<String> =
                args.iter().map(|arg| arg.as_str().unwrap_or_default().to_string()).collect();
            let hook = args.first().is_none_or(|first| first == "hook");
            (is_program(command) && hook).then(|| (command.to_string(), args))
        }
        None => {
            let mut words = words(command).into_iter().skip_while(|word| is_assignment(word));
            let program = words.next().filter(|word| is_program(word))?;
            Some((program, words.collect()))
        }
    }
}

fn is_assignment(word: &str) -> bool {
    let name = word.split_once('=').map(|(name, _)| name);
    word == "exec"
        || name.is_some_and(|name| {
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
        })
}

fn is_program(command: &str) -> bool {
    let name = command.rsplit(['/', '\\']).next().unwrap_or_default();
    name == PROGRAM || name.eq_ignore_ascii_case("hookctl.exe")
}

/// The words of a simple command line, quotes taken off.
pub fn words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some('"') | None, '\\') => {
                word.get_or_insert_default().extend(chars.next());
            }
            (None, '"' | '\'') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// What the client refuses in the groups of one event (contracts: section 0, item 10).
fn invalid(groups: &Node) -> Vec<Fault> {
    let mut faults = Vec::new();
    let mut fault = |node: &Node, message: &str, hint: &str| {
        faults.push(Fault::new(node.span.start, message, hint));
    };
    let Some(items) = groups.items() else {
        fault(groups, "an event takes a list of groups", "write [{\"hooks\": [...]}]");
        return faults;
    };
    for group in items {
        if group.members().is_none() {
            fault(group, "a group is an object", "write {\"hooks\": [...]}");
            continue;
        }
        if let Some((_, matcher)) = group.get("matcher").filter(|(_, node)| node.str().is_none()) {
            fault(matcher, "`matcher` takes a string", "write it in quotes, or leave it out");
        }
        let Some(entries) = group.get("hooks").and_then(|(_, node)| node.items()) else {
            fault(group, "a group needs a list `hooks`", "write {\"hooks\": [...]}");
            continue;
        };
        for entry in entries {
            let get = |key| entry.get(key).map(|(_, node)| node);
            match get("type").and_then(Node::str) {
                Some(kind) if TYPES.contains(&kind) => {
                    if kind == "command" && get("command").and_then(Node::str).is_none() {
                        fault(entry, "a command entry needs `command`", "add the command line");
                    }
                }
                _ => fault(entry, "unknown `type` of a hook", "write \"type\": \"command\""),
            }
            if let Some(node) = get("timeout")
                && node.value().as_f64().is_none_or(|seconds| seconds <= 0.0)
            {
                fault(node, "`timeout` takes seconds above 0", "write a positive number");
            }
            if let Some(node) = get("onFailure")
                && !matches!(node.str(), Some("continue" | "block"))
            {
                fault(node, "`onFailure` takes continue or block", "write one of the two");
            }
            let is_list = |node: &Node| {
                node.items().is_some_and(|args| args.iter().all(|arg| arg.str().is_some()))
            };
            if let Some(node) = get("args").filter(|node| !is_list(node)) {
                fault(node, "`args` takes a list of strings", "write [\"...\"]");
            }
        }
    }
    faults
}

/// Makes the document's entries of ours the wanted ones.
///
/// # Errors
/// Where the file's shape leaves no place for them.
pub fn install(doc: &mut Doc, wanted: &Wanted, created: &Created) -> Result<Vec<Change>, Fault> {
    check_shape(doc, wanted)?;
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
            let why = "stood where the client does not use it for everything".into();
            changes.push(Change::Replaced { event, why });
        }
    }
    Ok(changes)
}

fn check_shape(doc: &Doc, wanted: &Wanted) -> Result<(), Fault> {
    let refuse = |node: &Node, what: &str, want: &str| {
        let message = format!("{what} is {}, not {want}", node.kind());
        Err(Fault::new(node.span.start, message, format!("make it {want}, or remove it")))
    };
    if doc.root().members().is_none() {
        return refuse(doc.root(), "the whole file", "an object");
    }
    let Some((_, hooks)) = doc.root().get("hooks") else { return Ok(()) };
    if hooks.members().is_none() {
        return refuse(hooks, "`hooks`", "an object");
    }
    for (kind, _) in &wanted.events {
        if let Some((_, groups)) = hooks.get(kind.name())
            && groups.items().is_none()
        {
            return refuse(groups, &format!("`hooks.{}`", kind.name()), "a list");
        }
    }
    Ok(())
}

fn install_step(
    doc: &mut Doc,
    wanted: &Wanted,
    created: &Created,
) -> Result<Option<Change>, Fault> {
    let own = survey(doc).own;
    for (index, one) in own.iter().enumerate() {
        let first = own.iter().position(|other| other.seen && other.event == one.event);
        let keep = wanted.timeout(&one.event).filter(|_| first == Some(index));
        if let (Some((kind, timeout)), Some(_), true) = (keep, &one.matcher, is_alone(doc, one)) {
            doc.replace(&one.path[..3], &wanted.group(kind, timeout))?;
            let faults = wanted.faults(one).into_iter().map(|fault| fault.why);
            let why = faults.collect::<Vec<_>>().join(", ");
            return Ok(Some(Change::Replaced { event: one.event.clone(), why }));
        }
        if keep.is_none() || one.matcher.is_some() {
            remove_own(doc, one, Some(created))?;
            // A second entry for the same event is no loss.
            return Ok(Some(if first == Some(index) || !one.seen {
                Change::Removed(one.event.clone())
            } else {
                Change::Replaced { event: one.event.clone(), why: "there twice".into() }
            }));
        }
        let faults = wanted.faults(one);
        if let (false, Some((kind, timeout))) = (faults.is_empty(), wanted.timeout(&one.event)) {
            doc.replace(&one.path, &wanted.entry(kind, timeout))?;
            let why = faults.into_iter().map(|fault| fault.why).collect::<Vec<_>>().join(", ");
            return Ok(Some(Change::Replaced { event: one.event.clone(), why }));
        }
    }
    for &(kind, timeout) in &wanted.events {
        if own.iter().any(|one| one.event == kind.name()) {
            continue;
        }
        let group = wanted.group(kind, timeout);
        match doc.root().get("hooks") {
            None => {
                let hooks = json!({ kind.name(): [group] });
                doc.append(&[], Some("hooks"), &hooks)?;
            }
            Some((at, hooks)) => match hooks.get(kind.name()) {
                None => doc.append(&[at], Some(kind.name()), &json!([group]))?,
                Some((index, _)) => doc.append(&[at, index], None, &group)?,
            },
        }
        return Ok(Some(Change::Added(kind.name().to_string())));
    }
    Ok(None)
}

/// What install creates, or has created earlier, given the document without our entries.
pub fn creates(bare: &Doc, doc: &Doc, wanted: &Wanted) -> Created {
    let hooks = bare.root().get("hooks").map(|(_, node)| node);
    let present = survey(doc).own.into_iter().map(|own| own.event);
    let mut events: Vec<String> =
        wanted.events.iter().map(|(kind, _)| kind.name().to_string()).chain(present).collect();
    events.retain(|event| hooks.is_none_or(|hooks| hooks.get(event).is_none()));
    events.sort();
    events.dedup();
    Created { hooks: hooks.is_none(), events }
}

/// Takes every entry of ours out and nothing else. Without a record of what we created,
/// containers that become empty go as well: an empty list of hooks says nothing.
///
/// # Errors
/// Only where the document's own edits fail.
pub fn strip(doc: &mut Doc, created: Option<&Created>) -> Result<Vec<Change>, Fault> {
    let mut changes = Vec::new();
    while let Some(own) = survey(doc).own.into_iter().next() {
        remove_own(doc, &own, created)?;
        changes.push(Change::Removed(own.event));
    }
    Ok(changes)
}

/// Does the group hold nothing but our entry (and at most a matcher)?
fn is_alone(doc: &Doc, own: &Own) -> bool {
    let known = |key: &str| matches!(key, "hooks" | "matcher");
    let group = doc.node(&own.path[..3]).and_then(Node::members).unwrap_or_default();
    group.iter().all(|member| known(&member.key))
        && doc.node(&own.path[..4]).is_some_and(|list| list.len() == 1)
}

fn remove_own(doc: &mut Doc, own: &Own, created: Option<&Created>) -> Result<(), Fault> {
    let mut path = own.path.as_slice();
    let only = |path: &[usize]| doc.node(path).is_some_and(|node| node.len() == 1);
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

    fn wanted() -> Wanted {
        Wanted {
            command: "/usr/bin/hookctl".into(),
            agent: "claude",
            places: vec!["--config".into(), "/c".into(), "--state".into(), "/s".into()],
            events: vec![(Kind::PreToolUse, 600), (Kind::Stop, 600)],
            fail_closed: Some(false),
        }
    }

    fn installed(text: &str) -> (String, Vec<Change>) {
        let mut doc = Doc::new(text).unwrap();
        let created = creates(&doc, &doc, &wanted());
        let changes = install(&mut doc, &wanted(), &created).unwrap();
        (doc.text(), changes)
    }

    #[test]
    fn s0_25_own_entries_are_known_by_their_command() {
        for (command, args, ours) in [
            ("/usr/local/bin/hookctl", Some(json!(["hook", "--event", "Stop"])), true),
            ("hookctl", Some(json!([])), true),
            ("C:\\x\\hookctl.exe", Some(json!(["hook"])), true),
            ("hookctl", Some(json!(["status"])), false),
            ("hookctl hook --agent claude", None, true),
            ("\"/a b/hookctl\" hook", None, true),
            ("X=1 exec /a/hookctl hook", None, true),
            ("/a/hookctl-demo hook", None, false),
            ("myhookctl hook", None, false),
            ("echo hookctl", None, false),
            ("", None, false),
        ] {
            let args = args.as_ref().and_then(Value::as_array);
            assert_eq!(own_call(command, args).is_some(), ours, "{command}");
        }
        let (text, _) = installed("{}");
        let keys = ["type", "command", "args", "timeout"];
        let value: Value = serde_json::from_str(&text).unwrap();
        let entry = value["hooks"]["PreToolUse"][0]["hooks"][0].as_object().unwrap();
        assert!(entry.keys().eq(keys.iter()), "no foreign marker: {entry:?}");
    }

    #[test]
    fn s0_27_wrong_wiring_is_outdated_and_replaced_in_place() {
        let text = r#"{"hooks":{"PreToolUse":[{"hooks":[{"type":"command","command":"/usr/bin/hookctl","args":["hook","--event","tool-start"],"timeout":600},{"type":"command","command":"x"}]}]}}"#;
        let doc = Doc::new(text).unwrap();
        let faults = wanted().faults(&survey(&doc).own[0]);
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
        let survey = survey(&Doc::new(&after).unwrap());
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
        strip(&mut doc, Some(&Created::default())).unwrap();
        assert_eq!(doc.text(), text);
    }

    #[test]
    fn shapes_without_a_place_are_refused() {
        for text in
            ["[]", "3", r#"{"hooks": []}"#, r#"{"hooks": null}"#, r#"{"hooks":{"Stop":{}}}"#]
        {
            let mut doc = Doc::new(text).unwrap();
            assert!(install(&mut doc, &wanted(), &Created::default()).is_err(), "{text}");
            assert_eq!(doc.text(), text);
        }
    }

    #[test]
    fn what_the_client_refuses_is_found() {
        for (entry, fatal) in [
            (r#"{"type":"command","command":"x","timeout":0}"#, true),
            (r#"{"type":"command","command":"x","timeout":"5"}"#, true),
            (r#"{"type":"cmd","command":"x"}"#, true),
            (r#"{"command":"x"}"#, true),
            (r#"{"type":"command"}"#, true),
            (r#"{"type":"command","command":"x","onFailure":"deny"}"#, true),
            (r#"{"type":"command","command":"x","args":[1]}"#, true),
            (r#"{"type":"command","command":"x","x-y":1,"onFailure":"block"}"#, false),
            (r#"{"type":"http","url":"https://x"}"#, false),
        ] {
            let text = format!(r#"{{"hooks":{{"PreToolUse":[{{"hooks":[{entry}]}}]}}}}"#);
            let found = survey(&Doc::new(&text).unwrap()).invalid;
            assert_eq!(found.iter().any(|fault| fault.fatal), fatal, "{entry}");
        }
        let text = r#"{"hooks":{"Stop":[{"matcher":3,"hooks":[]}],"Nonsense":3}}"#;
        let found = survey(&Doc::new(text).unwrap()).invalid;
        assert_eq!(found.len(), 1);
        assert!(!found[0].fatal);
        for (kind, _) in &wanted().events {
            let (text, _) = installed(r#"{"a":1}"#);
            assert!(text.contains(kind.name()));
            assert!(survey(&Doc::new(&text).unwrap()).invalid.is_empty());
        }
    }
}
