//! What cdev's server makes of hook posts: which event each path publishes, and with what in it. Source of all
//! field sets: its contract, parts B2 and C2, by experiment with upstream's handlers.

use hookctl::redact;
use hookctl::text;
use serde_json::{Map, Value, json};

/// The five paths below `/api/hooks/`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// A session begins or is taken up again.
    Session,
    /// The agent asks its human on the desktop.
    Notification,
    /// A human is to answer here.
    Question,
    /// A call begins.
    ToolStart,
    /// A call has ended.
    ToolEnd,
}

impl Hook {
    /// By the last part of the path.
    pub fn from_path(name: &str) -> Option<Hook> {
        Some(match name {
            "session" => Hook::Session,
            // What old configurations have.
            "notification" | "permission" => Hook::Notification,
            "permission-request" => Hook::Question,
            "tool-start" => Hook::ToolStart,
            "tool-end" => Hook::ToolEnd,
            _ => return None,
        })
    }

    /// The event that it publishes.
    pub fn event(self) -> &'static str {
        match self {
            Hook::Session => "claude_hook_session",
            Hook::Notification => "claude_hook_permission",
            Hook::Question => QUESTION,
            Hook::ToolStart => "claude_hook_tool_start",
            Hook::ToolEnd => "claude_hook_tool_end",
        }
    }
}

/// A human is asked.
pub const QUESTION: &str = "pty_permission";
/// That is over.
pub const RESOLVED: &str = "pty_permission_resolved";

/// The longest description, preview of a file, preview of an edit, in bytes.
const DESCRIPTION: usize = 80;
const PREVIEW: usize = 500;
const EDIT_PREVIEW: usize = 200;
const PREVIEW_LINES: usize = 5;
/// What is kept of ids and names, in bytes.
const NAME: usize = 256;

/// What an agent posted, with secrets masked in everything that is shown or kept.
#[derive(Debug, Clone)]
pub struct Post {
    /// Its fields as they came.
    pub raw: Map<String, Value>,
    /// The same for humans.
    pub masked: Map<String, Value>,
    /// Who asks, where that is known.
    pub requester: String,
}

impl Post {
    /// Reads a body.
    pub fn new(raw: Map<String, Value>) -> Post {
        let mut masked = raw.clone();
        redact::mask_fields(&mut masked);
        Post { raw, masked, requester: String::new() }
    }

    /// A text of it, by its name; empty where there is none.
    pub fn field(&self, key: &str) -> &str {
        self.raw.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    /// The same for humans: secrets in it are masked.
    pub fn shown(&self, key: &str) -> &str {
        self.masked.get(key).and_then(Value::as_str).unwrap_or_default()
    }

    fn name(&self, key: &str) -> String {
        let text = self.field(key);
        text::make_visible(&text[..text.floor_char_boundary(NAME)])
    }

    /// The session.
    pub fn session(&self) -> String {
        self.name("session_id")
    }

    /// The tool.
    pub fn tool(&self) -> String {
        self.name("tool_name")
    }

    /// The call's id.
    pub fn call(&self) -> String {
        let text = self.field("tool_use_id");
        text[..text.floor_char_boundary(NAME)].to_string()
    }

    /// The directory.
    pub fn cwd(&self) -> String {
        let text = self.field("cwd");
        text::make_visible(&text[..text.floor_char_boundary(4_096)])
    }

    /// The base name of the directory; empty where there is none.
    pub fn workspace(&self) -> String {
        base_name(&self.cwd()).to_string()
    }

    /// The input of the call, for humans.
    pub fn input(&self) -> Value {
        self.masked.get("tool_input").cloned().unwrap_or_default()
    }

    /// Does the session ask nobody?
    pub fn bypasses(&self) -> bool {
        matches!(self.field("permission_mode"), "bypassPermissions" | "dangerouslySkipPermissions")
    }

    /// Has the call failed?
    pub fn is_error(&self) -> bool {
        let result = ["tool_result", "tool_response"].iter().find_map(|key| self.raw.get(*key));
        let is_set =
            |key: &str| result.and_then(|result| result.get(key)) == Some(&Value::Bool(true));
        self.field("hook_event_name") == "PostToolUseFailure"
            || self.raw.get("error").is_some_and(|error| !error.is_null())
            || is_set("is_error")
            || is_set("interrupted")
    }

    /// The result of the call as text, for humans.
    pub fn output(&self, most: usize) -> String {
        let keys = ["tool_result", "tool_response", "error"];
        let result =
            keys.iter().find_map(|key| self.masked.get(*key).filter(|value| !value.is_null()));
        let text = match result {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Object(map)) => match map.get("stdout").and_then(Value::as_str) {
                Some(text) if !text.is_empty() => text.into(),
                _ => Value::Object(map.clone()).to_string(),
            },
            Some(value) => value.to_string(),
            None => String::new(),
        };
        text::make_visible(&text[..text.floor_char_boundary(most)])
    }

    /// What the event of that path says.
    pub fn payload(&self, hook: Hook) -> Map<String, Value> {
        let mut out = self.masked.clone();
        match hook {
            Hook::Session => {
                // Upstream says so, the seed's own event has it under `tool`.
                out.insert("source".into(), "external".into());
                out.insert("tool".into(), "claude_code".into());
            }
            Hook::ToolEnd => {
                let result =
                    ["tool_result", "tool_response", "error"].iter().find_map(|key| out.get(*key));
                let result = result.cloned().unwrap_or_default();
                out.entry("tool_result").or_insert(result);
            }
            _ => {}
        }
        out
    }
}

/// The last part of a path; empty where there is none.
fn base_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// What a human is shown of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Description {
    /// Which sort of call.
    pub kind: &'static str,
    /// What it is called on.
    pub target: String,
    /// What it is for, in a line.
    pub description: String,
    /// The beginning of what it writes.
    pub preview: String,
}

/// Says what a call is: of the input as humans see it.
pub fn describe(tool: &str, input: &Value) -> Description {
    let field = |key: &str| input.get(key).and_then(Value::as_str);
    let text = |key: &str| field(key).unwrap_or_default();
    let path = text("file_path");
    let file = |verb: &str| format!("{verb} {}", base_name(path));
    let (kind, target, description, preview) = match tool {
        "Bash" => {
            let description = match (field("description"), field("command")) {
                (Some(own), _) if !own.is_empty() => own,
                (_, Some(command)) => command,
                _ => "Execute shell command",
            };
            (
                "bash_command",
                text("command").into(),
                shorten(description, DESCRIPTION),
                String::new(),
            )
        }
        "Write" => (
            "write_file",
            path.into(),
            file("Write to"),
            shorten(&first_lines(text("content")), PREVIEW),
        ),
        "Edit" => {
            ("edit_file", path.into(), file("Edit"), shorten(text("new_string"), EDIT_PREVIEW))
        }
        "Read" => ("read_file", path.into(), file("Read"), String::new()),
        _ => match tool.strip_prefix("mcp__").and_then(|name| name.split_once("__")) {
            Some((server, name)) => {
                let keys = ["url", "path", "file_path", "selector", "command", "query"];
                let named = keys.iter().find_map(|key| field(key).filter(|text| !text.is_empty()));
                let description = match named {
                    Some(target) => format!("Use MCP {server}/{name}: {target}"),
                    None => format!("Use MCP tool: {server}/{name}"),
                };
                let target = named.map_or_else(|| format!("{server}/{name}"), String::from);
                ("mcp_tool", target, description, String::new())
            }
            None => ("tool_use", String::new(), format!("Use {tool} tool"), String::new()),
        },
    };
    let seen = |text: String| text::make_visible(&text);
    Description {
        kind,
        target: seen(target),
        description: seen(description),
        preview: seen(preview),
    }
}

/// At most so many bytes, the last three of which are dots where something is missing.
fn shorten(text: &str, most: usize) -> String {
    match text.len() > most {
        true => format!("{}...", &text[..text.floor_char_boundary(most - 3)]),
        false => text.into(),
    }
}

fn first_lines(text: &str) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    // The end of the last line begins no other.
    if lines.last() == Some(&"") {
        lines.pop();
    }
    if lines.len() <= PREVIEW_LINES {
        return text.into();
    }
    format!("{}\n...", lines[..PREVIEW_LINES].join("\n"))
}

/// The three answers, as cdev's apps have them.
pub fn options() -> Value {
    let option = |key: &str, label: &str, description: &str| json!({ "key": key, "label": label, "description": description, "selected": false });
    json!([
        option("allow_once", "Allow Once", "Allow this one request"),
        option("allow_session", "Allow for Session", "Allow similar requests for this session"),
        option("deny", "Deny", "Deny this request"),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s0_34_type_target_description_and_preview_are_those_of_cdev() {
        let long = "x".repeat(100);
        for (tool, input, kind, target, description, preview) in [
            (
                "Bash",
                json!({ "command": "npm test", "description": "Run tests" }),
                "bash_command",
                "npm test",
                "Run tests",
                "",
            ),
            ("Bash", json!({ "command": "npm test" }), "bash_command", "npm test", "npm test", ""),
            ("Bash", json!({ "command": 7 }), "bash_command", "", "Execute shell command", ""),
            (
                "Bash",
                json!({ "command": long }),
                "bash_command",
                &long,
                &format!("{}...", &long[..77]),
                "",
            ),
            (
                "Write",
                json!({ "file_path": "/a/b.py", "content": "1\n2\n" }),
                "write_file",
                "/a/b.py",
                "Write to b.py",
                "1\n2\n",
            ),
            (
                "Write",
                json!({ "file_path": "/a/b.py", "content": "1\n2\n3\n4\n5\n6" }),
                "write_file",
                "/a/b.py",
                "Write to b.py",
                "1\n2\n3\n4\n5\n...",
            ),
            (
                "Edit",
                json!({ "file_path": "/a/b.py", "new_string": "y" }),
                "edit_file",
                "/a/b.py",
                "Edit b.py",
                "y",
            ),
            ("Read", json!({ "file_path": "/a/b" }), "read_file", "/a/b", "Read b", ""),
            (
                "mcp__s__t",
                json!({ "url": "http://x" }),
                "mcp_tool",
                "http://x",
                "Use MCP s/t: http://x",
                "",
            ),
            ("mcp__s__t", json!({}), "mcp_tool", "s/t", "Use MCP tool: s/t", ""),
            ("Grep", json!({ "pattern": "x" }), "tool_use", "", "Use Grep tool", ""),
        ] {
            let found = describe(tool, &input);
            let wanted = (kind, target, description, preview);
            assert_eq!(
                (found.kind, &*found.target, &*found.description, &*found.preview),
                wanted,
                "{tool} {input}"
            );
        }
        let edit = describe("Edit", &json!({ "file_path": "b", "new_string": "ä".repeat(150) }));
        assert_eq!(edit.preview, format!("{}...", "ä".repeat(98)));
        let hidden = describe("Bash", &json!({ "command": "a\u{202e}b\u{7}" }));
        assert_eq!(hidden.target, "a\\u{202e}b\\u{7}");
    }

    #[test]
    fn s0_36_the_workspace_is_the_base_name() {
        for (cwd, name) in [
            ("/home/dev/project", "project"),
            ("/a/b/", "b"),
            ("", ""),
            ("/", ""),
            ("C:\\x\\y", "y"),
        ] {
            let post = Post::new(json!({ "cwd": cwd }).as_object().unwrap().clone());
            assert_eq!(post.workspace(), name, "{cwd}");
        }
    }

    #[test]
    fn what_is_shown_has_no_secrets_and_what_is_judged_has() {
        let key = "AKIAQ3EGRS7TX2VWZ5NB";
        let post = Post::new(
            json!({ "tool_input": { "command": format!("aws --key {key}") } })
                .as_object()
                .unwrap()
                .clone(),
        );
        assert!(!Value::Object(post.masked.clone()).to_string().contains(key));
        assert!(Value::Object(post.raw).to_string().contains(key));
    }
}
