//! What a settings file says about hooks: our entries, those of others, and those that the agent refuses.

use serde_json::{Map, Value, json};

use super::edit::{Doc, NodePath};
use super::others::{self, Program};
use crate::agent::wiring::{CallForm, EntryForm, FailClosed, Nesting};
use crate::dialect::bridge::agent_of;
use crate::event::Kind;
use crate::flags::HookOptions;
use crate::json::{JsonFault, Node};
use crate::rule::file::server::Typed;
use crate::script::line::{is_assignment, is_own_program, shell_tail, split_words};

/// The type of entries that run a command.
const COMMAND: &str = "command";
/// The entry types of the client.
const TYPES: &[&str] = &[COMMAND, "http", "prompt", "agent", "mcp_tool"];

/// What an entry of ours is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It judges.
    Guard,
    /// It hands events to a bridge.
    Bridge,
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
    /// Does it say that the agent blocks when it fails?
    pub fails_closed: bool,
    /// Would a POSIX shell take the backslashes out of its program's path?
    pub mangled: bool,
    /// What a shell is told beside the call.
    pub tail: Option<String>,
    /// The other program whose group it stands in, and with which it would go.
    pub(super) lodger: Option<&'static Program>,
    pub(super) path: NodePath,
}

impl Own {
    /// The value after that option.
    pub fn option_value(&self, name: &str) -> Option<&str> {
        let at = self.args.iter().position(|arg| arg == name)?;
        self.args.get(at + 1).map(String::as_str)
    }

    /// What it says of the user's server.
    pub fn typed_server(&self) -> Typed {
        HookOptions::parse(self.args.iter().skip(1).map(Into::into)).server
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
    /// Whose it is, where that is a program that we know.
    pub known: Option<&'static Program>,
    pub(super) path: NodePath,
}

/// An entry that runs no command: a model judges, a server or a tool is called. It stays as it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Uncommanded {
    /// The event it stands under.
    pub event: String,
    /// Its type: prompt, agent, http, mcp_tool.
    pub sort: String,
}

/// An entry that the client refuses.
#[derive(Debug, Clone)]
pub struct Invalid {
    /// What and where.
    pub fault: JsonFault,
    /// Does the client drop the whole file over it?
    pub fatal: bool,
}

/// All that a file says about hooks.
#[derive(Debug, Clone, Default)]
pub struct Survey {
    /// The guard's entries.
    pub own: Vec<Own>,
    /// Our entries that only hand events to a bridge.
    pub bridge: Vec<Own>,
    /// Commands of others.
    pub foreign: Vec<Foreign>,
    /// Entries of others that run no command.
    pub uncommanded: Vec<Uncommanded>,
    /// Entries that the client refuses.
    pub invalid: Vec<Invalid>,
    /// `allowManagedHooksOnly`.
    pub managed_only: bool,
}

impl Survey {
    /// Is anything of ours there?
    pub fn is_ours(&self) -> bool {
        !(self.own.is_empty() && self.bridge.is_empty())
    }

    /// Our entries of that role.
    pub fn entries_for(&self, role: Role) -> &[Own] {
        match role {
            Role::Guard => &self.own,
            Role::Bridge => &self.bridge,
        }
    }

    /// What our entries say of the user's server: the first that says anything.
    pub fn typed_server(&self) -> Typed {
        let said = self.own.iter().filter(|own| own.seen).map(Own::typed_server);
        said.into_iter().find(|typed| !typed.is_empty()).unwrap_or_default()
    }
}

/// SHA-256 of what our entries say, each below its event.
pub fn entries_sum(own: &[Own]) -> String {
    let said: Vec<Value> =
        own.iter().map(|own| json!([own.event, own.matcher, own.entry])).collect();
    super::file::sha256_hex(Value::from(said).to_string().as_bytes())
}

/// Everything about hooks in the document.
pub fn survey_hooks(doc: &Doc, form: &'static EntryForm) -> Survey {
    let root = doc.root();
    let flag = |key| root.get(key).is_some_and(|(_, node)| node.to_value() == Value::Bool(true));
    let mut survey = Survey {
        managed_only: flag("allowManagedHooksOnly"),
        invalid: strict_faults(root, form),
        ..Survey::default()
    };
    let Some(key) = form.hooks else {
        survey_events(&mut survey, root, &[], true, form);
        return survey;
    };
    let last = root.get(key).map(|(index, _)| index);
    for (at, hooks) in root.members().unwrap_or_default().iter().enumerate() {
        if hooks.key == key {
            survey_events(&mut survey, &hooks.value, &[at], Some(at) == last, form);
        }
    }
    survey
}

/// The events of one object; `seen`: the agent does not read another in its place.
fn survey_events(
    survey: &mut Survey,
    hooks: &Node,
    path: &[usize],
    seen: bool,
    form: &'static EntryForm,
) {
    for (index, event) in hooks.members().unwrap_or_default().iter().enumerate() {
        let last = hooks.get(&event.key).is_some_and(|(last, _)| last == index);
        let at = Spot { event: &event.key, seen: seen && last, form };
        survey_event(survey, &event.value, &[path, &[index]].concat(), at);
    }
}

/// Where entries are found.
#[derive(Clone, Copy)]
struct Spot<'e> {
    event: &'e str,
    seen: bool,
    form: &'static EntryForm,
}

fn survey_event(survey: &mut Survey, list: &Node, path: &[usize], spot: Spot<'_>) {
    if spot.seen && !spot.form.fatal.is_empty() && Kind::from_name(spot.event) != Kind::Other {
        let fatal = spot.form.fatal.contains(&spot.event);
        let faults = invalid_groups(list);
        survey.invalid.extend(faults.into_iter().map(|fault| Invalid { fault, fatal }));
    }
    for (index, item) in list.items().unwrap_or_default().iter().enumerate() {
        let item_path = [path, &[index]].concat();
        if spot.form.nesting == Nesting::Flat {
            survey_entry(survey, item, item, item_path, spot);
            continue;
        }
        let Some((at, entries)) = item.get("hooks") else { continue };
        for (e, node) in entries.items().unwrap_or_default().iter().enumerate() {
            survey_entry(survey, item, node, [&item_path[..], &[at, e]].concat(), spot);
        }
    }
}

/// One entry, and the group that it stands in (itself, where there are none).
fn survey_entry(survey: &mut Survey, group: &Node, node: &Node, path: NodePath, spot: Spot<'_>) {
    let Value::Object(entry) = node.to_value() else { return };
    let called = called(&entry, spot.form);
    let own = called.as_ref().and_then(|(command, args)| own_call(command, args.as_deref()));
    if let Some(sort) = other_sort(&entry).filter(|_| own.is_none()) {
        // What such an entry says under `command` runs nothing.
        if spot.seen {
            let (event, sort) = (spot.event.to_string(), sort.to_string());
            survey.uncommanded.push(Uncommanded { event, sort });
        }
        return;
    }
    let Some((command, args)) = called else { return };
    let owner = others::group_owner(group);
    let shell = args.is_none();
    match own {
        Some(call) => {
            let own = match detect_role(&call.args) {
                Role::Guard => &mut survey.own,
                Role::Bridge => &mut survey.bridge,
            };
            own.push(Own {
                event: spot.event.to_string(),
                command: call.program,
                args: call.args,
                shell,
                matcher: matcher_of(group),
                seen: spot.seen,
                fails_closed: spot.form.fail_closed.is_some_and(|it| says_closed(it, &entry)),
                mangled: call.mangled,
                tail: call.tail,
                lodger: owner,
                path,
                entry,
            });
        }
        None if spot.seen => {
            let command = command_line(&entry).unwrap_or(command);
            survey.foreign.push(Foreign {
                event: spot.event.to_string(),
                known: others::from_command(&command).or(owner),
                command,
                shell,
                path,
            });
        }
        None => {}
    }
}

/// The type of an entry, where it is not that of a command.
pub(super) fn other_sort(entry: &Map<String, Value>) -> Option<&str> {
    entry.get("type").and_then(Value::as_str).filter(|sort| *sort != COMMAND)
}

/// The matcher of a group or entry, where it is not "everything".
fn matcher_of(group: &Node) -> Option<String> {
    group.get("matcher").and_then(|(_, node)| match node.as_str() {
        Some("" | "*" | ".*") => None,
        Some(text) => Some(text.to_string()),
        None => Some(node.to_value().to_string()),
    })
}

fn says_closed(form: &FailClosed, entry: &Map<String, Value>) -> bool {
    entry.get(form.key) == Some(&super::hooks::constant_value(form.value))
}

/// The command of an entry; the arguments where they are a list of their own.
fn called(entry: &Map<String, Value>, form: &EntryForm) -> Option<(String, Option<Vec<String>>)> {
    let word = |value: &Value| value.as_str().unwrap_or_default().to_string();
    let words = |list: &Vec<Value>| -> Vec<String> { list.iter().map(word).collect() };
    match entry.get("command")? {
        Value::String(command) => {
            let args = entry.get("args").and_then(Value::as_array).map(words);
            Some((command.clone(), args))
        }
        Value::Array(list) if form.call == CallForm::List => {
            let mut all = words(list);
            let command = (!all.is_empty()).then(|| all.remove(0))?;
            Some((command, Some(all)))
        }
        _ => None,
    }
}

/// The command of an entry with its arguments.
pub(super) fn command_line(entry: &Map<String, Value>) -> Option<String> {
    let args = entry.get("args").and_then(Value::as_array);
    let words = args.into_iter().flatten().filter_map(Value::as_str);
    let command = entry.get("command")?.as_str()?;
    Some(std::iter::once(command).chain(words).collect::<Vec<_>>().join(" "))
}

/// A call of this program.
struct OwnCall {
    program: String,
    args: Vec<String>,
    /// Would a POSIX shell take the backslashes out of its path?
    mangled: bool,
    /// What a shell is told beside it.
    tail: Option<String>,
}

/// Program and arguments, where the command is a call of this program.
fn own_call(command: &str, args: Option<&[String]>) -> Option<OwnCall> {
    let tail = || shell_tail(command).map(String::from);
    let call = |program, args, mangled| OwnCall { program, args, mangled, tail: None };
    if let Some(args) = args {
        let hook = args.first().is_none_or(|first| first == "hook");
        let ours = hook || detect_role(args) == Role::Bridge;
        return (is_own_program(command) && ours)
            .then(|| call(command.to_string(), args.to_vec(), false));
    }
    if let Some((program, args)) = split_program(command) {
        return Some(OwnCall { tail: tail(), ..call(program, args, false) });
    }
    let (_, args) = split_program(&command.replace('\\', "/"))?;
    let written = command.split(char::is_whitespace).find(|word| word.contains('\\'))?;
    Some(call(written.trim_matches('"').to_string(), args, true))
}

/// The same of a command line, whatever its arguments are.
pub(super) fn split_program(command: &str) -> Option<(String, Vec<String>)> {
    let mut words =
        split_words(command).into_iter().skip_while(|word| word == "&" || is_assignment(word));
    let program = words.next().filter(|word| is_own_program(word))?;
    Some((program, words.collect()))
}

/// What a call of this program with these arguments is for.
pub(super) fn detect_role(args: &[String]) -> Role {
    let bridge = args.first().is_some_and(|first| agent_of(first).is_some());
    if bridge { Role::Bridge } else { Role::Guard }
}

/// What costs the agent the whole file, beside the groups of Claude Code's.
fn strict_faults(root: &Node, form: &EntryForm) -> Vec<Invalid> {
    let strict = &form.strict;
    let mut faults = Vec::new();
    let members = root.members().unwrap_or_default();
    for member in members.iter().filter(|one| is_unknown(strict.top, &one.key)) {
        let message = format!("`{}` is no key of this file", member.key);
        let hint = format!("only {} may stand there", strict.top.join(", "));
        faults.push(JsonFault::new(member.value.span.start, message, hint));
    }
    faults.extend(strict.version.and_then(|key| version_fault(root, key)));
    let hooks = form.hooks.and_then(|key| root.get(key)).map(|(_, hooks)| hooks);
    for event in hooks.and_then(Node::members).unwrap_or_default() {
        if is_unknown(strict.events, &event.key) {
            let message = format!("`{}` is no event of this agent", event.key);
            faults.push(JsonFault::new(event.value.span.start, message, "take it out"));
        }
        let entries = event.value.items().unwrap_or_default().iter();
        faults.extend(entries.flat_map(|item| strict_entries(item, form)));
    }
    faults.into_iter().map(|fault| Invalid { fault, fatal: true }).collect()
}

/// Is the name none of these, where they are all that there are?
fn is_unknown(known: &[&str], name: &str) -> bool {
    !known.is_empty() && !known.contains(&name)
}

fn version_fault(root: &Node, key: &str) -> Option<JsonFault> {
    let said = root.get(key).map(|(_, node)| node);
    let is_number = said.is_some_and(|node| node.to_value().as_u64().is_some_and(|n| n > 0));
    // Without hooks there is nothing to lose, and install writes it.
    let counts = said.is_some() || root.get("hooks").is_some();
    let at = said.unwrap_or(root).span.start;
    (counts && !is_number)
        .then(|| JsonFault::new(at, format!("`{key}` takes a whole number"), "write 1"))
}

/// The entries of a type that the agent does not know.
fn strict_entries(item: &Node, form: &EntryForm) -> Vec<JsonFault> {
    let nested = item.get("hooks").and_then(|(_, list)| list.items());
    let entries = match form.nesting {
        Nesting::Flat => std::slice::from_ref(item),
        Nesting::Groups => nested.unwrap_or_default(),
    };
    let sort =
        |entry: &Node| entry.get("type").and_then(|(_, node)| node.as_str()).map(String::from);
    let unknown = entries.iter().filter_map(|entry| Some((entry, sort(entry)?)));
    let unknown = unknown.filter(|(_, sort)| is_unknown(form.strict.types, sort));
    let fault = |(entry, sort): (&Node, String)| {
        JsonFault::new(entry.span.start, format!("`{sort}` is no type of a hook"), "take it out")
    };
    unknown.map(fault).collect()
}

/// What the client refuses in the groups of one event (contracts: section 0, item 10).
fn invalid_groups(groups: &Node) -> Vec<JsonFault> {
    let fault =
        |node: &Node, message: &str, hint: &str| JsonFault::new(node.span.start, message, hint);
    let Some(items) = groups.items() else {
        let hint = "write [{\"hooks\": [...]}]";
        return vec![fault(groups, "an event takes a list of groups", hint)];
    };
    let mut faults = Vec::new();
    for group in items {
        if group.members().is_none() {
            faults.push(fault(group, "a group is an object", "write {\"hooks\": [...]}"));
            continue;
        }
        if let Some((_, matcher)) = group.get("matcher").filter(|(_, node)| node.as_str().is_none())
        {
            let hint = "write it in quotes, or leave it out";
            faults.push(fault(matcher, "`matcher` takes a string", hint));
        }
        match group.get("hooks").and_then(|(_, node)| node.items()) {
            Some(entries) => faults.extend(entries.iter().flat_map(invalid_entry)),
            None => {
                let hint = "write {\"hooks\": [...]}";
                faults.push(fault(group, "a group needs a list `hooks`", hint));
            }
        }
    }
    faults
}

/// What it refuses in one entry.
fn invalid_entry(entry: &Node) -> Vec<JsonFault> {
    let get = |key| entry.get(key).map(|(_, node)| node);
    let kind = get("type").and_then(Node::as_str);
    let unknown = kind.is_none_or(|kind| !TYPES.contains(&kind));
    let lacks = kind == Some("command") && get("command").and_then(Node::as_str).is_none();
    let is_no_time = |node: &&Node| node.to_value().as_f64().is_none_or(|seconds| seconds <= 0.0);
    let is_no_word = |node: &&Node| !matches!(node.as_str(), Some("continue" | "block"));
    let is_no_list = |node: &&Node| {
        !node.items().is_some_and(|args| args.iter().all(|arg| arg.as_str().is_some()))
    };
    let checks = [
        (unknown.then_some(entry), "unknown `type` of a hook", "write \"type\": \"command\""),
        (lacks.then_some(entry), "a command entry needs `command`", "add the command line"),
        (
            get("timeout").filter(is_no_time),
            "`timeout` takes seconds above 0",
            "write a positive number",
        ),
        (
            get("onFailure").filter(is_no_word),
            "`onFailure` takes continue or block",
            "write one of the two",
        ),
        (get("args").filter(is_no_list), "`args` takes a list of strings", "write [\"...\"]"),
    ];
    let found = checks.into_iter();
    found
        .filter_map(|(node, what, hint)| Some(JsonFault::new(node?.span.start, what, hint)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::claude::ENTRIES;
    use serde_json::json;

    #[test]
    fn s0_25_own_entries_are_known_by_their_command() {
        for (command, args, ours) in [
            ("/usr/local/bin/hookctl", Some(json!(["hook", "--event", "Stop"])), true),
            ("hookctl", Some(json!([])), true),
            ("C:\\x\\hookctl.exe", Some(json!(["hook"])), true),
            ("hookctl", Some(json!(["status"])), false),
            ("hookctl", Some(json!(["claude-hook", "--port", "3043"])), true),
            ("hookctl hook --agent claude", None, true),
            ("\"/a b/hookctl\" hook", None, true),
            ("X=1 exec /a/hookctl hook", None, true),
            ("/a/hookctl-demo hook", None, false),
            ("myhookctl hook", None, false),
            ("C:\\x\\hookctl.exe hook --agent codex", None, true),
            ("& \"C:/x y/hookctl.exe\" hook", None, true),
            ("echo hookctl", None, false),
            ("", None, false),
        ] {
            let args: Option<Vec<String>> = args.map(|args| serde_json::from_value(args).unwrap());
            assert_eq!(own_call(command, args.as_deref()).is_some(), ours, "{command}");
        }
    }

    #[test]
    fn s3_05_the_bridge_has_entries_of_its_own() {
        for (entry, guard, bridge) in [
            (r#""command":"/a/hookctl","args":["hook"]"#, 1, 0),
            (r#""command":"/a/hookctl","args":["claude-hook","--port","1"]"#, 0, 1),
            (r#""command":"hookctl cline-hook --dir ~/x""#, 0, 1),
            (r#""command":"npx @principal-ai/agent-hooks claude-hook""#, 0, 0),
        ] {
            let text =
                format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{{"type":"command",{entry}}}]}}]}}}}"#);
            let found = survey_hooks(&Doc::new(&text).unwrap(), &ENTRIES);
            assert_eq!((found.own.len(), found.bridge.len()), (guard, bridge), "{entry}");
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
            let found = survey_hooks(&Doc::new(&text).unwrap(), &ENTRIES).invalid;
            assert_eq!(found.iter().any(|fault| fault.fatal), fatal, "{entry}");
        }
        let text = r#"{"hooks":{"Stop":[{"matcher":3,"hooks":[]}],"Nonsense":3}}"#;
        let found = survey_hooks(&Doc::new(text).unwrap(), &ENTRIES).invalid;
        assert_eq!(found.len(), 1);
        assert!(!found[0].fatal);
    }
}
