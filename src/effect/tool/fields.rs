//! What the fields of a tool that no table knows say: which files it changes, which commands it runs.
//!
//! A writer's verb beside a path is a certain write: in the tool's name, or in a field that says which of
//! its operations is meant. Names of fields tell paths from text.

use serde_json::Value as Json;

use super::{looks_like_path, resolve_location, split_name, tool_path};
use crate::effect::emitter::Emitter;
use crate::effect::guarded;
use crate::effect::host::host_of;
use crate::effect::patch;
use crate::effect::path;
use crate::effect::program::table::find_program;
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Word};
use crate::limits::{self, Cap};
use crate::names::fields::{
    ARGUMENTS, CHANGES, CODE, COMMANDS, DIRECTORIES, ENDS, EVALUATES, FILES, FILLERS, GOALS,
    INTERPRETERS, KINDS, LINE_ENDS, LINES, LINKS, OPERATIONS, PATCHES, PATHS, PLACES, PROCESSES,
    PROGRAMS, REMOVES, SNIPPETS, SOURCES, STATEMENTS, TAKES, TERMINALS, TEXTS, THINGS, TYPED,
    UNGUARDED, VARIABLES,
};

/// What the tool does to the files that its fields name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Deed {
    changes: bool,
    removes: bool,
    takes: bool,
    links: bool,
}

impl Deed {
    fn from_words(words: &[String]) -> Deed {
        let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
        Deed { changes: has(CHANGES), removes: has(REMOVES), takes: has(TAKES), links: has(LINKS) }
    }

    fn or(self, other: Deed) -> Deed {
        Deed {
            changes: self.changes || other.changes,
            removes: self.removes || other.removes,
            takes: self.takes || other.takes,
            links: self.links || other.links,
        }
    }
}

/// One text of the input and the names of the fields that lead to it, the innermost first.
struct Leaf<'j> {
    text: &'j str,
    keys: Vec<&'j str>,
}

/// Every text of the input with its fields' names, as many as are looked at.
fn input_leaves(input: &Json) -> Vec<Leaf<'_>> {
    let mut out = Vec::new();
    let mut todo: Vec<(Vec<&str>, &Json)> = vec![(Vec::new(), input)];
    let mut count = 0;
    while let Some((keys, json)) = todo.pop() {
        count += 1;
        if !Cap::Leaves.admits(count) {
            break;
        }
        match json {
            Json::Array(items) => todo.extend(items.iter().rev().map(|item| (keys.clone(), item))),
            Json::Object(map) => {
                // What maps paths to contents names its files by keys.
                for key in map.keys().filter(|key| key.contains(['/', '.'])) {
                    let mut keys = keys.clone();
                    if looks_like_path(&resolve_location(key, "/~")) {
                        keys.insert(0, "path");
                    }
                    out.push(Leaf { text: key, keys });
                }
                todo.extend(map.iter().rev().map(|(key, value)| {
                    (std::iter::once(key.as_str()).chain(keys.iter().copied()).collect(), value)
                }));
            }
            Json::String(text) => out.push(Leaf { text, keys }),
            _ => {}
        }
    }
    out
}

/// The hosts of all addresses in the input.
pub fn hosts(input: &Json) -> Vec<Option<String>> {
    let leaves = input_leaves(input);
    let addresses = leaves.iter().filter(|leaf| leaf.text.contains("://"));
    addresses.map(|leaf| host_of(&Value::known(leaf.text.trim(), 0..0))).collect()
}

/// Is it an HTTP request that hands something over?
pub fn posts(input: &Json) -> bool {
    let says = |leaf: &Leaf| {
        let key = leaf.keys.first().map(|key| split_name(key)).unwrap_or_default();
        has_affix(&key, OPERATIONS)
            && ["post", "put", "patch"].iter().any(|verb| leaf.text.eq_ignore_ascii_case(verb))
    };
    input_leaves(input).iter().any(says)
}

/// Does the name of a field end in one of the words, or begin so?
fn has_affix(words: &[String], list: &[&str]) -> bool {
    words.last().is_some_and(|word| list.contains(&word.as_str()))
}

fn contains_any(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

/// The statements in the input; of a `database`, also those in fields that hold any text.
pub fn statements(input: &Json, database: bool) -> Vec<String> {
    let says = |leaf: &&Leaf| {
        let key = split_name(leaf.keys.first().copied().unwrap_or_default());
        contains_any(&key, STATEMENTS)
            || database && has_affix(&key, &["query", "queries", "q", "text", "command"])
    };
    input_leaves(input).iter().filter(says).map(|leaf| leaf.text.to_string()).collect()
}

/// The certain writes and deletes of a tool, and what it reads by a path without a root, where such are `local`.
pub fn emit_changes(out: &mut Emitter, name: &str, input: &Json, reads: bool, local: bool) {
    let leaves = input_leaves(input);
    let own_words = split_name(name.rsplit("__").next().unwrap_or(name));
    let mut deed = Deed::from_words(&own_words);
    // The tools of editors show a file as well.
    let shows = has_affix(&own_words, &["editor", "tool"])
        && leaves.iter().any(|leaf| leaf.keys == ["command"] && leaf.text == "view");
    for leaf in &leaves {
        let key = leaf.keys.first().map(|key| key.to_ascii_lowercase()).unwrap_or_default();
        let line = key == "command" && leaf.text.len() > limits::OPERATION;
        if OPERATIONS.contains(&key.as_str()) && !line {
            deed = deed.or(Deed::from_words(&split_name(leaf.text)));
        }
    }
    if !out.place.cwd.is_empty()
        && let Some(place) =
            leaves.iter().find(|leaf| is_place(leaf) && path::is_absolute(leaf.text))
    {
        out.cwd = Some(path::normalise_path(place.text));
    }
    for leaf in leaves.iter().filter(|_| !shows) {
        let key = split_name(leaf.keys.first().copied().unwrap_or_default());
        if is_place(leaf) {
            continue;
        }
        let patched = deed.changes && PATCHES.contains(&key.join("_").as_str());
        if patched {
            for file in patch::patched_files(leaf.text, None) {
                emit_change(out, Word::Write, &file, Extent::Exact);
            }
        }
        let Some(file) = file_of(out, leaf, &key) else { continue };
        let file = file.as_str();
        let goal = contains_any(&key, GOALS);
        let source = contains_any(&key, SOURCES) && !goal;
        // Where output goes is written, whatever the tool is called.
        let written = deed.changes || contains_any(&key, &["output", "out", "dest", "destination"]);
        if deed.removes && (!reads || deed.changes) {
            emit_change(out, Word::Delete, file, Extent::Tree);
        }
        let kept = deed.takes && (source || !goal && leaves.iter().any(|l| is_goal(l)));
        if written && (!kept || deed.links) {
            let deep = has_affix(&key, &["dir", "directory", "folder"]) || deed.takes && goal;
            emit_change(out, Word::Write, file, if deep { Extent::Tree } else { Extent::Exact });
        }
        if local && (source || !written) && !looks_like_path(file) {
            emit_change(out, Word::Read, file, Extent::Exact);
        }
    }
}

fn is_place(leaf: &Leaf<'_>) -> bool {
    let key = split_name(leaf.keys.first().copied().unwrap_or_default());
    contains_any(&key[..key.len().min(1)], PLACES)
}

fn is_goal(leaf: &Leaf<'_>) -> bool {
    contains_any(&split_name(leaf.keys.first().copied().unwrap_or_default()), GOALS)
}

/// The path in a text, where the field's name says that it holds one, or what it holds is a file that
/// guards this machine.
fn file_of(out: &Emitter, leaf: &Leaf<'_>, key: &[String]) -> Option<String> {
    let text = resolve_location(leaf.text, &out.place.home);
    let mut key = key;
    // `fileName`, `pathInProject`
    while let [rest @ .., last] = key
        && !rest.is_empty()
        && FILLERS.contains(&last.as_str())
    {
        key = rest;
    }
    let plain = !text.is_empty() && text.len() < limits::PATH_MAX && !text.contains(['\n', '\0']);
    if !plain {
        return None;
    }
    let rooted = looks_like_path(&text);
    let strong = has_affix(key, FILES);
    let named = strong
        || [PATHS, GOALS, SOURCES].iter().any(|list| has_affix(key, list))
        || rooted && has_affix(key, THINGS);
    let fits = rooted
        || !text.contains("://") && (strong || !text.contains(' ') && text.contains(['.', '/']));
    let guarded = || {
        let here = out.cwd.as_deref().unwrap_or("/");
        let own = tool_path(out, &text);
        !has_affix(key, TEXTS)
            && out.place.is_guarded(&path::normalise_path(&path::join(here, own.known_start())))
    };
    (fits && (named || guarded())).then_some(text)
}

/// A name of hookctl's where a process is ended.
pub fn ends_guard(name: &str, input: &Json) -> bool {
    let words = split_name(&name.replace("__", "_"));
    contains_any(&words, ENDS)
        && contains_any(&words, PROCESSES)
        && input_leaves(input).iter().any(|leaf| leaf.text.contains(guarded::NAME))
}

/// The field that says where a command runs.
pub fn directory_field(input: &Json) -> Option<&Json> {
    let map = input.as_object()?;
    let holds = |key: &str| DIRECTORIES.contains(&key.to_ascii_lowercase().as_str());
    map.iter().find(|(key, value)| holds(key) && value.is_string()).map(|(_, value)| value)
}

fn emit_change(out: &mut Emitter, word: Word, file: &str, extent: Extent) {
    let value = tool_path(out, file);
    out.emit_path(word, &value, extent, Grade::Certain, Source::Tool);
}

/// What the fields of a tool hold that a shell may read.
#[derive(Debug, Default)]
pub struct Told {
    /// Command lines.
    pub lines: Vec<String>,
    /// What is typed into a process that may be a shell.
    pub typed: Vec<String>,
    /// Program texts as command lines, each in a language that it may be written in.
    pub guessed: Vec<String>,
}

/// The command lines in the fields of a tool that runs some: each as shell text.
/// What a tool that only reads is given beside them is text.
pub fn command_lines(name: &str, input: &Json, runs: bool, guards: &[&str]) -> Told {
    let mut lines = Vec::new();
    let mut typed = Vec::new();
    let mut guessed = Vec::new();
    let mut first = Vec::new();
    let mut todo: Vec<&Json> = vec![input];
    let mut count = 0;
    let tool = split_name(&name.replace("__", "_"));
    while let Some(json) = todo.pop() {
        count += 1;
        if !Cap::Leaves.admits(count) {
            break;
        }
        match json {
            Json::Array(items) => todo.extend(items.iter().rev()),
            Json::Object(map) => {
                for (key, value) in map {
                    let line = names_line(key);
                    let key = key.to_ascii_lowercase();
                    if disables_guards(&key, value) {
                        lines.push("claude --dangerously-skip-permissions".to_string());
                    }
                    if VARIABLES.contains(&key.as_str()) {
                        first.extend(variable_lines(value));
                    }
                    if line {
                        lines.extend(lines_of(value, key.ends_with('s')));
                    }
                    if runs && TYPED.contains(&key.as_str()) {
                        for text in lines_of(value, false) {
                            let text = text.replace("\\n", "\n");
                            match contains_any(&tool, TERMINALS) {
                                true => lines.push(text),
                                // What another process reads need be no shell text.
                                false if contains_any(&tool, PROCESSES) => {
                                    let told =
                                        text.lines().filter(|line| mentions_guard(line, guards));
                                    lines.extend(told.map(str::to_string));
                                    typed.push(text);
                                }
                                false => {}
                            }
                        }
                    }
                    if runs
                        && (CODE.contains(&key.as_str())
                            || SNIPPETS.contains(&key.as_str()) && contains_any(&tool, EVALUATES))
                        && let Json::String(text) = value
                    {
                        match interpreter_of(&tool, &key, map) {
                            Some("") => lines.push(text.clone()),
                            Some(program) => {
                                lines.push(format!("{program} {}", quote_words([text.as_str()])));
                            }
                            None if contains_any(&tool, TERMINALS) => lines.push(text.clone()),
                            None if contains_any(&tool, EVALUATES) => {
                                let guess =
                                    |p: &str| format!("{p} {}", quote_words([text.as_str()]));
                                guessed.extend(["ipython -c", "node -e"].map(guess));
                                // What begins with no program is no line of a shell.
                                let first = text.split_whitespace().next().unwrap_or_default();
                                typed.extend(
                                    find_program(first, &[]).is_some().then(|| text.clone()),
                                );
                            }
                            None => {}
                        }
                    }
                }
                lines.extend(words_of(map));
                todo.extend(map.values());
            }
            _ => {}
        }
    }
    if !lines.is_empty() {
        first.append(&mut lines);
    }
    Told { lines: first, typed, guessed }
}

/// Does a field of that name hold a command line?
pub fn names_line(key: &str) -> bool {
    let parts = split_name(key);
    LINES.contains(&key.to_ascii_lowercase().as_str())
        || has_affix(&parts, LINE_ENDS)
        || parts.concat().ends_with("commandline")
}

/// Does one of the object's own fields hold a command line, or a program beside its arguments?
pub fn holds_line(map: &serde_json::Map<String, Json>) -> bool {
    map.iter().any(|(key, value)| names_line(key) && !lines_of(value, true).is_empty())
        || words_of(map).is_some()
}

/// Does a line name something that guards this machine?
fn mentions_guard(line: &str, guards: &[&str]) -> bool {
    let named = |name: &&str| line.contains(name.trim_start_matches("~/").trim_end_matches("/."));
    line.contains(guarded::NAME) || guards.iter().any(named)
}

/// The letters and digits of a field's name: `skip-permissions` is `skip_permissions`.
pub fn bare_name(key: &str) -> String {
    key.chars().filter(char::is_ascii_alphanumeric).collect()
}

/// Does the field start an agent without its guards?
fn disables_guards(key: &str, value: &Json) -> bool {
    let key = bare_name(key);
    match value {
        Json::Bool(true) => UNGUARDED.contains(&key.as_str()),
        Json::String(text) => {
            ["mode", "sandbox", "policy"].iter().any(|end| key.ends_with(end))
                && matches!(text.as_str(), "bypassPermissions" | "dontAsk" | "danger-full-access")
                || key == "approvalpolicy" && text == "never"
        }
        _ => false,
    }
}

/// `{ NAME: value }` or `["NAME=value"]`, as the lines that would set them.
fn variable_lines(value: &Json) -> Vec<String> {
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    };
    let pairs: Vec<(&str, &str)> = match value {
        Json::Object(map) => {
            map.iter().map(|(k, v)| (k.as_str(), v.as_str().unwrap_or("1"))).collect()
        }
        Json::Array(items) => {
            items.iter().filter_map(|item| item.as_str()?.split_once('=')).collect()
        }
        _ => Vec::new(),
    };
    let pairs = pairs.into_iter().filter(|(name, _)| is_name(name));
    pairs.map(|(name, text)| format!("export {name}={}", quote_words([text]))).collect()
}

pub fn quote_words<'w>(words: impl IntoIterator<Item = &'w str>) -> String {
    let quoted = words.into_iter().map(|word| format!("'{}'", word.replace('\'', "'\\''")));
    quoted.collect::<Vec<_>>().join(" ")
}

/// A line, or the words of one; of a field that is called `commands`, several.
fn lines_of(value: &Json, several: bool) -> Vec<String> {
    match value {
        Json::String(text) => vec![text.clone()],
        Json::Array(items) if several => {
            items.iter().flat_map(|item| lines_of(item, false)).collect()
        }
        // One that holds several is a line, and no program's name.
        Json::Array(items) if matches!(&items[..], [Json::String(text)] if text.contains(' ')) => {
            items.iter().flat_map(|item| lines_of(item, false)).collect()
        }
        // `{ "value": "..." }`
        Json::Object(map) if map.len() == 1 => map
            .values()
            .filter(|value| value.is_string())
            .flat_map(|v| lines_of(v, false))
            .collect(),
        Json::Array(items) if items.iter().all(Json::is_string) => {
            vec![quote_words(items.iter().filter_map(Json::as_str))]
        }
        _ => Vec::new(),
    }
}

/// `{ program, args }`, or `argv` alone.
fn words_of(map: &serde_json::Map<String, Json>) -> Option<String> {
    let field = |names: &[&str]| {
        map.iter()
            .find(|(key, _)| names.contains(&key.to_ascii_lowercase().as_str()))
            .map(|(_, v)| v)
    };
    let program = field(PROGRAMS).or_else(|| field(&["command", "cmd"])).and_then(Json::as_str);
    let arguments = match program {
        Some(_) => field(ARGUMENTS)?,
        None => field(&["argv"])?,
    };
    match arguments {
        Json::String(text) => Some(format!("{} {text}", quote_words(program))),
        Json::Array(items) => {
            Some(quote_words(program.into_iter().chain(items.iter().filter_map(Json::as_str))))
        }
        _ => None,
    }
}

/// The command line of a tool that is called like a program with sub-commands, or like one of these: `kubectl` with `args`,
/// `git_push` with `force`, `destroy` of a server `terraform`.
pub fn program_line(name: &str, input: &Json) -> Option<String> {
    let map = input.as_object()?;
    let (server, tool) = super::name_words(name);
    let mut words: Vec<&str> = server.iter().chain(&tool).map(String::as_str).collect();
    let has_verbs = |word: &&str| find_program(word, &[]).is_some_and(|program| program.sub);
    let at = words.iter().rposition(has_verbs)?;
    words.drain(..at);
    let holds = |key: &str, list: &[&str]| list.contains(&key.to_ascii_lowercase().as_str());
    let mut told = false;
    let mut rest = Vec::new();
    for (key, value) in map {
        let given = match value {
            Json::String(text) if holds(key, ARGUMENTS) || holds(key, COMMANDS) => text.clone(),
            Json::Array(_) if holds(key, ARGUMENTS) => lines_of(value, false).concat(),
            _ => continue,
        };
        told = true;
        // The verb comes first, whatever the order of the fields.
        let at = if holds(key, COMMANDS) { 0 } else { rest.len() };
        rest.insert(at, given);
    }
    if told {
        // `run` and `execute` say nothing of what is run.
        words.truncate(1);
    } else {
        rest.extend(map.iter().filter_map(|(key, value)| option_of(key, value)));
    }
    Some(format!("{} {}", quote_words(words), rest.join(" ")))
}

/// A field as an option that is on, or as the name of a thing.
fn option_of(key: &str, value: &Json) -> Option<String> {
    match value {
        Json::Bool(true) => Some(format!("--{}", split_name(key).join("-"))),
        Json::String(text) => {
            let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | ':');
            let named = !text.is_empty() && text.chars().all(|c| plain(c) || c == '-');
            (named && text.starts_with(plain)).then(|| quote_words([text.as_str()]))
        }
        _ => None,
    }
}

/// What would run a program's text as a word of a command line: by the field beside it that names its language, else
/// by the names of the field and the tool. Empty = a shell.
fn interpreter_of(
    tool: &[String],
    key: &str,
    map: &serde_json::Map<String, Json>,
) -> Option<&'static str> {
    let language = |word: &str| {
        let word = word.trim_end_matches(char::is_numeric);
        let row = INTERPRETERS.iter().find(|(words, _)| words.split(' ').any(|own| own == word));
        row.map(|(_, program)| *program)
    };
    let kind = map.iter().find(|(key, _)| {
        contains_any(tool, EVALUATES) && KINDS.contains(&key.to_ascii_lowercase().as_str())
    });
    let told = kind.and_then(|(_, value)| value.as_str()).map(split_name).unwrap_or_default();
    // The last word says most: `mcp__shell__run_python`.
    let named = tool.iter().rev().map(String::as_str);
    let mut words = told.iter().map(String::as_str).chain(key.split('_')).chain(named);
    words.find_map(language)
}
