//! OpenCode's tools by Claude Code's names and keys.
//!
//! `bash`, `read`, `write`, `edit`, `grep`, `glob` and the tools of MCP servers were observed; the others
//! stand in OpenCode's source.

use serde_json::{Map, Value};

use crate::agent::fields::{FieldNames, operation, rename_fields};
use crate::agent::patch::patch_operations;
use crate::agent::stranger;
use crate::event::Operation;
use crate::text::quote_for_shell;

/// The names of its own tools.
pub const TOOLS: &[&str] = &[
    "bash",
    "read",
    "write",
    "edit",
    "grep",
    "glob",
    "list",
    "webfetch",
    "websearch",
    "task",
    "todowrite",
    "todoread",
    "skill",
    "question",
    "patch",
    "apply_patch",
    "batch",
    "lsp",
    "codesearch",
];

/// What a tool is called that the payload does not name.
pub const UNNAMED: &str = "unnamed_tool";

/// Its tools, Claude Code's, and the keys of its own that have other names there.
static KNOWN: &[(&str, &str, FieldNames)] = &[
    ("bash", "Bash", &[]),
    ("read", "Read", &[("filePath", "file_path")]),
    ("write", "Write", &[("filePath", "file_path")]),
    (
        "edit",
        "Edit",
        &[
            ("filePath", "file_path"),
            ("oldString", "old_string"),
            ("newString", "new_string"),
            ("replaceAll", "replace_all"),
        ],
    ),
    ("grep", "Grep", &[("include", "glob")]),
    ("glob", "Glob", &[]),
    ("list", "LS", &[]),
    ("webfetch", "WebFetch", &[]),
    ("websearch", "WebSearch", &[]),
    ("task", "Agent", &[]),
    ("todowrite", "TodoWrite", &[]),
    ("todoread", "TodoRead", &[]),
    ("skill", "Skill", &[("name", "skill")]),
    ("question", "AskUserQuestion", &[]),
];

/// The keys of the tool and what Claude Code calls them.
pub fn keys(tool: &str) -> FieldNames {
    KNOWN.iter().find(|(own, ..)| *own == tool).map_or(&[], |(_, _, keys)| keys)
}

/// Can its arguments be written anew, from those of its first operation?
pub fn can_rebuild(tool: &str) -> bool {
    !matches!(tool, "patch" | "apply_patch" | "batch")
}

/// What the call does, one operation at least; `server` is the MCP server whose tool it is, where that is
/// known. A tool that is not known keeps its name and its keys.
pub fn operations(tool: &str, input: &Value, server: Option<&str>) -> Vec<Operation> {
    match (tool, input.as_object()) {
        ("patch" | "apply_patch", Some(map)) => {
            let text = map.get("patchText").and_then(Value::as_str).unwrap_or_default();
            let found = patch_operations(text);
            return if found.is_empty() { vec![operation(tool, input.clone())] } else { found };
        }
        ("batch", Some(map)) => {
            let calls = map.get("tool_calls").and_then(Value::as_array);
            let calls = calls.into_iter().flatten().filter_map(|call| {
                let name = call.get("tool")?.as_str().filter(|name| *name != "batch")?;
                Some(operations(name, call.get("parameters")?, None))
            });
            let found: Vec<Operation> = calls.flatten().collect();
            // Whatever of it was not read is judged by its fields.
            return found.into_iter().chain([operation(tool, input.clone())]).collect();
        }
        ("bash", Some(map)) => return shell_operations(map),
        _ => {}
    }
    let known = KNOWN.iter().find(|(own, ..)| *own == tool);
    let name = known.map_or_else(|| unknown_name(tool, server), |(_, claude, _)| (*claude).into());
    let mut input = input.clone();
    if let Value::Object(map) = &mut input {
        rename_fields(map, keys(tool));
    }
    vec![operation(&name, input)]
}

/// A command, and once more in the directory that it names itself.
fn shell_operations(map: &Map<String, Value>) -> Vec<Operation> {
    let mut all = vec![operation("Bash", Value::Object(map.clone()))];
    let text = |key| map.get(key).and_then(Value::as_str).filter(|text| !text.is_empty());
    if let (Some(command), Some(dir)) = (text("command"), text("workdir")) {
        let mut there = map.clone();
        there.remove("workdir");
        there.insert("command".into(), format!("cd {} && {command}", quote_for_shell(dir)).into());
        all.push(operation("Bash", Value::Object(there)));
    }
    all
}

/// Tools of MCP servers are called `server_tool`; which `_` it is that parts them only the server's name
/// tells.
fn unknown_name(tool: &str, server: Option<&str>) -> String {
    let of_server = server.and_then(|server| {
        Some(format!("mcp__{server}__{}", tool.strip_prefix(server)?.strip_prefix('_')?))
    });
    of_server.unwrap_or_else(|| match tool.contains('_') && !TOOLS.contains(&tool) {
        true => format!("mcp__?__{tool}"),
        false => stranger::own_tool_name(tool),
    })
}
