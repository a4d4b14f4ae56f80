//! Cline's tools by Claude Code's names and keys, and their input back.
//!
//! The tools of today take lists, of which each item is an operation of its own; those of the extension's
//! version 3 take one thing each. Names and keys were seen live for `run_commands`, `read_files`, `editor`
//! and `search_codebase`; the others stand in the source.

use serde_json::{Map, Value, json};

use crate::agent::fields::{FieldNames, operation, rename_fields, restore_fields, runs_as_line};
use crate::agent::patch::call_operations;
use crate::agent::stranger;
use crate::event::Operation;
use crate::text::quote_for_shell;

/// The names of its own tools.
pub const TOOLS: &[&str] = &[
    "run_commands",
    "read_files",
    "editor",
    "apply_patch",
    "search_codebase",
    "fetch_web_content",
    "skills",
    "ask_question",
    "submit_and_exit",
    "execute_command",
    "read_file",
    "write_to_file",
    "replace_in_file",
    "search_files",
    "list_files",
    "web_fetch",
    "use_mcp_tool",
];

/// What a tool is called that the payload does not name.
pub const UNNAMED: &str = "unnamed_tool";

/// A tool that takes a list.
struct ListTool {
    own: &'static str,
    claude: &'static str,
    /// The list's key.
    list: &'static str,
    /// Other keys that it takes, for one item or many.
    loose: &'static [&'static str],
    /// What an item is that is a text: Claude Code's key.
    text: &'static str,
    /// The keys of an item that is an object: its own and Claude Code's.
    keys: FieldNames,
}

static LIST_TOOLS: &[ListTool] = &[
    ListTool {
        own: "run_commands",
        claude: "Bash",
        list: "commands",
        loose: &["command", "cmd"],
        text: "command",
        keys: &[],
    },
    ListTool {
        own: "read_files",
        claude: "Read",
        list: "files",
        loose: &["paths", "file_paths", "path", "file_path", "filePath"],
        text: "file_path",
        keys: &[("path", "file_path"), ("filePath", "file_path")],
    },
    ListTool {
        own: "search_codebase",
        claude: "Grep",
        list: "queries",
        loose: &["query"],
        text: "pattern",
        keys: &[("query", "pattern")],
    },
    ListTool {
        own: "fetch_web_content",
        claude: "WebFetch",
        list: "requests",
        loose: &["request", "urls", "url"],
        text: "url",
        keys: &[],
    },
];

/// Tools that take one thing: their own name, Claude Code's, and their keys.
static SINGLE_TOOLS: &[(&str, &str, FieldNames)] = &[
    ("execute_command", "Bash", &[]),
    ("read_file", "Read", &[("path", "file_path")]),
    ("write_to_file", "Write", &[("path", "file_path")]),
    ("search_files", "Grep", &[("regex", "pattern"), ("file_pattern", "glob")]),
    ("web_fetch", "WebFetch", &[]),
    ("web_search", "WebSearch", &[]),
];

/// `editor` makes a file, or puts text into one.
const EDITOR_WRITE: FieldNames = &[("path", "file_path"), ("new_text", "content")];
const EDITOR_EDIT: FieldNames =
    &[("path", "file_path"), ("old_text", "old_string"), ("new_text", "new_string")];

fn list_tool(tool: &str) -> Option<&'static ListTool> {
    LIST_TOOLS.iter().find(|one| one.own == tool)
}

/// What the call does, one operation at least. A tool that is not known keeps its name and its keys.
pub fn operations(tool: &str, input: &Value) -> Vec<Operation> {
    if let Some(known) = list_tool(tool) {
        let items = known.items(input);
        return match items.is_empty() {
            true => vec![operation(known.claude, input.clone())],
            false => {
                let lines = known.lines(input).into_iter().map(Value::from);
                items.into_iter().chain(lines).map(|item| known.operation(item)).collect()
            }
        };
    }
    if tool == "apply_patch" {
        return call_operations(tool, input.clone());
    }
    vec![single_operation(tool, input)]
}

fn single_operation(tool: &str, input: &Value) -> Operation {
    let Some(map) = input.as_object() else {
        return operation(&unknown_name(tool), input.clone());
    };
    let mut map = map.clone();
    let name = match tool {
        "editor" if is_write(&map) => {
            rename_fields(&mut map, EDITOR_WRITE);
            "Write".into()
        }
        "editor" => {
            rename_fields(&mut map, EDITOR_EDIT);
            map.entry("old_string").or_insert_with(|| "".into());
            "Edit".into()
        }
        "replace_in_file" => {
            rename_fields(&mut map, &[("path", "file_path")]);
            let (old, new) =
                split_diff(map.get("diff").and_then(Value::as_str).unwrap_or_default());
            map.insert("old_string".into(), old.into());
            map.insert("new_string".into(), new.into());
            "Edit".into()
        }
        "list_files" if is_true(map.get("recursive")) => {
            map.insert("pattern".into(), "**/*".into());
            "Glob".into()
        }
        "list_files" => "LS".into(),
        "use_mcp_tool" => return mcp_operation(&map),
        _ => match SINGLE_TOOLS.iter().find(|(own, ..)| *own == tool) {
            Some((_, claude, keys)) => {
                rename_fields(&mut map, keys);
                (*claude).to_string()
            }
            None => {
                map.values_mut().for_each(unpack_json);
                unknown_name(tool)
            }
        },
    };
    operation(&name, Value::Object(map))
}

/// `editor` without a text to replace and a line to insert at.
fn is_write(map: &Map<String, Value>) -> bool {
    let missing = |key| map.get(key).is_none_or(|value| value.is_null() || value == "");
    missing("old_text") && missing("insert_line")
}

fn is_true(value: Option<&Value>) -> bool {
    value.is_some_and(|value| value == true || value == "true")
}

/// The tools of MCP servers are called `server__tool`, whichever part the blanks in between belong to.
fn unknown_name(tool: &str) -> String {
    match tool.contains("__") && !tool.starts_with("mcp__") {
        true => format!("mcp__{tool}"),
        false => stranger::own_tool_name(tool),
    }
}

/// The extension's older form of a call to an MCP server.
fn mcp_operation(map: &Map<String, Value>) -> Operation {
    let text = |key| map.get(key).and_then(Value::as_str).unwrap_or("?");
    let name = format!("mcp__{}__{}", text("server_name"), text("tool_name"));
    let mut input = map.get("arguments").cloned().unwrap_or_else(|| json!({}));
    unpack_json(&mut input);
    operation(&name, input)
}

/// VS Code hands on whatever is no text as JSON inside of one.
fn unpack_json(value: &mut Value) {
    if let Some(inner) = value.as_str().and_then(parse_json) {
        *value = inner;
    }
}

/// The array or object in a text.
fn parse_json(text: &str) -> Option<Value> {
    let json = text.trim_start().starts_with(['{', '[']);
    json.then(|| serde_json::from_slice(text.as_bytes()).ok()).flatten()
}

/// What a diff of SEARCH and REPLACE blocks takes out and puts in; one without such blocks puts all of it in.
fn split_diff(diff: &str) -> (String, String) {
    let (mut old, mut new, mut into_new, mut inside) = (String::new(), String::new(), false, false);
    for line in diff.lines() {
        let mark = line.trim_end();
        match mark {
            "------- SEARCH" | "<<<<<<< SEARCH" => (inside, into_new) = (true, false),
            "=======" if inside && !into_new => into_new = true,
            "+++++++ REPLACE" | ">>>>>>> REPLACE" => inside = false,
            _ if inside => {
                let side = if into_new { &mut new } else { &mut old };
                side.push_str(line);
                side.push('\n');
            }
            _ => {}
        }
    }
    if old.is_empty() && new.is_empty() { (old, diff.into()) } else { (old, new) }
}

impl ListTool {
    /// Its items, whatever form they come in: nothing that it may take is passed over.
    fn items(&self, input: &Value) -> Vec<Value> {
        let mut out = Vec::new();
        match input.as_str().and_then(parse_json).as_ref().unwrap_or(input) {
            Value::Object(map) => {
                let keys = std::iter::once(&self.list).chain(self.loose);
                keys.filter_map(|key| map.get(*key)).for_each(|value| spread(value, &mut out));
            }
            other => spread(other, &mut out),
        }
        out
    }

    /// What is a list in JSON and yet may be run as a line: the contract has both for one field.
    fn lines<'v>(&self, input: &'v Value) -> Vec<&'v str> {
        let values =
            std::iter::once(input).chain(input.as_object().into_iter().flat_map(Map::values));
        let lines = values.filter_map(Value::as_str).filter(|_| self.own == "run_commands");
        lines.filter(|text| parse_json(text).is_some() && runs_as_line(text)).collect()
    }

    fn operation(&self, item: Value) -> Operation {
        let input = match item {
            Value::Object(map) if self.own == "run_commands" => match command_line(&map) {
                Some(line) => json!({ "command": line }),
                None => Value::Object(map),
            },
            Value::Object(mut map) => {
                rename_fields(&mut map, self.keys);
                if self.own == "read_files" {
                    lines_to_range(&mut map);
                }
                Value::Object(map)
            }
            other => json!({ self.text: other }),
        };
        operation(self.claude, input)
    }

    /// The item of that input.
    fn restore_item(&self, old: &Value, mut new: Map<String, Value>) -> Value {
        if self.own == "run_commands" || old.is_string() && new.len() == 1 {
            return new.remove(self.text).unwrap_or_else(|| Value::Object(new));
        }
        restore_fields(&mut new, &self.keys[..self.keys.len().min(1)]);
        range_to_lines(&mut new);
        Value::Object(new)
    }
}

/// The items in a list, in a text that holds one, or the value itself.
fn spread(value: &Value, out: &mut Vec<Value>) {
    let inner = value.as_str().and_then(parse_json);
    match inner.as_ref().unwrap_or(value) {
        Value::Null => {}
        Value::Array(items) => out.extend(items.iter().filter(|item| !item.is_null()).cloned()),
        other => out.push(other.clone()),
    }
}

/// A command with its arguments apart, as a line of a shell: a command that is no plain word is read as the
/// line that it may be, and as the word that it may be.
fn command_line(map: &Map<String, Value>) -> Option<String> {
    let command = ["command", "cmd"].iter().find_map(|key| map.get(*key)?.as_str())?;
    if let Some(args) = map.get("args").and_then(Value::as_str) {
        return Some(format!("{command} {args}"));
    }
    let args = map.get("args").map_or(Some(&[][..]), |args| args.as_array().map(Vec::as_slice))?;
    let args = args.iter().map(|arg| match arg {
        Value::String(text) => format!(" {}", quote_for_shell(text)),
        other => format!(" {}", quote_for_shell(&other.to_string())),
    });
    let args: String = args.collect();
    Some(match has_two_readings(map) {
        true => format!("{command}{args}\n{}{args}", quote_for_shell(command)),
        false => format!("{command}{args}"),
    })
}

/// Has it arguments behind a command that is more than one plain word?
fn has_two_readings(map: &Map<String, Value>) -> bool {
    let args = map.get("args").and_then(Value::as_array).is_some_and(|args| !args.is_empty());
    let plain = |text: &str| {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"./_-+:".contains(&byte))
    };
    args && !map.get("command").and_then(Value::as_str).is_some_and(plain)
}

/// First and last line become where Claude Code begins, and how many lines it reads.
fn lines_to_range(map: &mut Map<String, Value>) {
    let number = |key| map.get(key).and_then(Value::as_i64);
    let (start, end) = (number("start_line"), number("end_line"));
    if let Some(start) = start {
        map.insert("offset".into(), start.into());
    }
    if let Some(end) = end {
        map.insert(
            "limit".into(),
            (end.saturating_sub(start.unwrap_or(1)).saturating_add(1)).into(),
        );
    }
    map.remove("start_line");
    map.remove("end_line");
}

fn range_to_lines(map: &mut Map<String, Value>) {
    let number = |value: Option<Value>| value.as_ref().and_then(Value::as_i64);
    let (offset, limit) = (number(map.remove("offset")), number(map.remove("limit")));
    if let Some(start) = offset {
        map.insert("start_line".into(), start.into());
    }
    if let Some(limit) = limit {
        let end = offset.unwrap_or(1).saturating_add(limit).saturating_sub(1);
        map.insert("end_line".into(), end.into());
    }
}

/// Can [`rebuild`] write that input anew?
pub fn can_rebuild(tool: &str, input: &Value) -> bool {
    match list_tool(tool) {
        Some(known) if known.own == "run_commands" => {
            let items = known.items(input);
            !items.is_empty()
                && known.lines(input).is_empty()
                && !items.iter().any(|item| item.as_object().is_some_and(has_two_readings))
        }
        Some(known) => !known.items(input).is_empty(),
        None => !matches!(tool, "apply_patch" | "replace_in_file" | "list_files" | "use_mcp_tool"),
    }
}

/// The complete input by Cline's keys, with the operations of these numbers changed.
pub fn rebuild(
    tool: &str,
    input: &Value,
    changes: Vec<(usize, Map<String, Value>)>,
) -> Map<String, Value> {
    let mut whole = input.as_object().cloned().unwrap_or_default();
    if let Some(known) = list_tool(tool) {
        let mut items = known.items(input);
        for (at, new) in changes {
            if let Some(item) = items.get_mut(at) {
                *item = known.restore_item(item, new);
            }
        }
        known.loose.iter().for_each(|key| drop(whole.remove(*key)));
        whole.insert(known.list.into(), items.into());
        return whole;
    }
    let Some((_, mut new)) = changes.into_iter().next() else { return whole };
    match SINGLE_TOOLS.iter().find(|(own, ..)| *own == tool) {
        Some((_, _, keys)) => restore_fields(&mut new, keys),
        None if tool == "editor" && is_write(&whole) => restore_fields(&mut new, EDITOR_WRITE),
        None if tool == "editor" => {
            restore_fields(&mut new, EDITOR_EDIT);
            if !whole.contains_key("old_text") {
                new.remove("old_text");
            }
        }
        None => {}
    }
    new
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(tool: &str, input: Value) -> Vec<(String, Value)> {
        operations(tool, &input).into_iter().map(|one| (one.tool, one.input)).collect()
    }

    #[test]
    fn each_item_is_an_operation_whatever_form_the_list_has() {
        let bash = |line: &str| ("Bash".to_string(), json!({ "command": line }));
        for (input, lines) in [
            (json!({ "commands": ["ls", "rm x"] }), vec!["ls", "rm x"]),
            (json!({ "commands": "[\"ls\",\"rm x\"]" }), vec!["ls", "rm x"]),
            (json!({ "commands": "ls; [ -f x ]" }), vec!["ls; [ -f x ]"]),
            (json!({ "command": "ls", "cmd": "rm x" }), vec!["ls", "rm x"]),
            (json!("rm x"), vec!["rm x"]),
            (json!(["ls", "rm x"]), vec!["ls", "rm x"]),
            (
                json!({ "commands": [{ "command": "rm", "args": ["-rf", "a b"] }] }),
                vec!["rm '-rf' 'a b'"],
            ),
            (
                json!({ "commands": [{ "command": "a b", "args": ["c"] }] }),
                vec!["a b 'c'\n'a b' 'c'"],
            ),
            (json!({ "commands": { "command": "rm x" } }), vec!["rm x"]),
        ] {
            let wanted: Vec<_> = lines.into_iter().map(bash).collect();
            assert_eq!(found("run_commands", input.clone()), wanted, "{input}");
        }
        assert_eq!(found("run_commands", json!({})), [("Bash".into(), json!({}))]);
        let read = |path: &str| ("Read".to_string(), json!({ "file_path": path }));
        for input in [
            json!({ "files": [{ "path": "a" }, "b"] }),
            json!({ "paths": ["a"], "filePath": "b" }),
            json!({ "files": "[{\"path\":\"a\"},{\"path\":\"b\"}]" }),
        ] {
            assert_eq!(found("read_files", input.clone()), [read("a"), read("b")], "{input}");
        }
    }

    #[test]
    fn other_tools_keep_what_they_mean() {
        for (tool, input, name, wanted) in [
            (
                "editor",
                json!({ "path": "a", "new_text": "x" }),
                "Write",
                json!({ "file_path": "a", "content": "x" }),
            ),
            (
                "editor",
                json!({ "path": "a", "new_text": "x", "insert_line": 3 }),
                "Edit",
                json!({ "file_path": "a", "old_string": "", "new_string": "x", "insert_line": 3 }),
            ),
            (
                "replace_in_file",
                json!({ "path": "a", "diff": "------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n" }),
                "Edit",
                json!({
                    "file_path": "a",
                    "diff": "------- SEARCH\nold\n=======\nnew\n+++++++ REPLACE\n",
                    "old_string": "old\n",
                    "new_string": "new\n",
                }),
            ),
            (
                "my-echo__say_it",
                json!({ "text": "x" }),
                "mcp__my-echo__say_it",
                json!({ "text": "x" }),
            ),
            (
                "use_mcp_tool",
                json!({ "server_name": "s", "tool_name": "t", "arguments": "{\"a\":1}" }),
                "mcp__s__t",
                json!({ "a": 1 }),
            ),
            (
                "attempt_completion",
                json!({ "command": "ls" }),
                "attempt_completion",
                json!({ "command": "ls" }),
            ),
            // The name of another tool of Claude Code's says nothing of Cline's.
            ("TodoWrite", json!({ "command": "ls" }), "todowrite", json!({ "command": "ls" })),
            ("execute_command", json!({ "command": "ls" }), "Bash", json!({ "command": "ls" })),
        ] {
            assert_eq!(found(tool, input), [(name.to_string(), wanted)], "{tool}");
        }
        let patch = json!({ "input": "*** Begin Patch\n*** Add File: a\n+x\n*** Delete File: b\n*** End Patch" });
        let names: Vec<_> = found("apply_patch", patch).into_iter().map(|one| one.0).collect();
        assert_eq!(names, ["Write", "Delete"]);
    }

    #[test]
    fn what_is_rewritten_goes_back_whole() {
        let change = |value: Value| value.as_object().cloned().unwrap_or_default();
        for (tool, input, at, new, wanted) in [
            (
                "run_commands",
                json!({ "commands": ["ls", { "command": "rm", "args": ["x"] }, "pwd"] }),
                1,
                json!({ "command": "trash x" }),
                json!({ "commands": ["ls", "trash x", "pwd"] }),
            ),
            (
                "run_commands",
                json!({ "command": "ls", "timeout": 5 }),
                0,
                json!({ "command": "pwd" }),
                json!({ "commands": ["pwd"], "timeout": 5 }),
            ),
            (
                "read_files",
                json!({ "files": [{ "path": "a", "start_line": 2, "end_line": 4 }, { "path": "b" }] }),
                0,
                json!({ "file_path": "c", "offset": 2, "limit": 3 }),
                json!({ "files": [{ "path": "c", "start_line": 2, "end_line": 4 }, { "path": "b" }] }),
            ),
            (
                "search_codebase",
                json!({ "queries": ["a"] }),
                0,
                json!({ "pattern": "b" }),
                json!({ "queries": ["b"] }),
            ),
            (
                "editor",
                json!({ "path": "a", "new_text": "x", "insert_line": 3 }),
                0,
                json!({ "file_path": "b", "old_string": "", "new_string": "x", "insert_line": 3 }),
                json!({ "path": "b", "new_text": "x", "insert_line": 3 }),
            ),
            ("s__t", json!({ "text": "x" }), 0, json!({ "text": "y" }), json!({ "text": "y" })),
        ] {
            assert!(can_rebuild(tool, &input), "{tool}");
            let rebuilt = rebuild(tool, &input, vec![(at, change(new))]);
            assert_eq!(Value::Object(rebuilt), wanted, "{tool}");
        }
        for (tool, input) in [
            ("apply_patch", json!({ "input": "x" })),
            ("run_commands", json!({ "commands": [{ "command": "a b", "args": ["c"] }] })),
            ("run_commands", json!({ "script": "ls" })),
        ] {
            assert!(!can_rebuild(tool, &input), "{tool}");
        }
    }
}
