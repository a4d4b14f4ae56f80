//! Tools of servers that are known: `config/servers.toml` says what their fields do, and which command
//! line would do the same.

use serde_json::{Map, Value as Json};

use super::fields::quote_words;
use super::{contact, split_name, tool_path};
use crate::effect::emitter::Emitter;
use crate::effect::program::{code, table};
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Word};
use crate::names::fields::TEXTS;

/// Those of `config/servers.toml`: the words of servers, and the rows of their tools.
static SERVERS: &[(&str, &[&str])] = include!(concat!(env!("OUT_DIR"), "/servers.rs"));

/// What a row says of a tool.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    parts: &'static str,
    line: &'static str,
}

/// The row of a tool: of a server that is known by its name, else of any that has a tool of that name.
pub fn find_row(name: &str) -> Option<Row> {
    let (server, tool) =
        name.strip_prefix("mcp__").and_then(|n| n.split_once("__")).unwrap_or(("", name));
    let tool = split_name(tool);
    // Of a name that nobody could take apart the first words are the server's.
    let server = if matches!(server, "" | "?") { tool.clone() } else { split_name(server) };
    let tool = tool.join("_");
    let named = |words: &str| words.split(' ').any(|word| server.iter().any(|own| own == word));
    let own = || SERVERS.iter().filter(|(words, _)| named(words));
    let of = |rows: &'static [&'static str]| rows.iter().find_map(|row| row_for(row, &tool));
    let any = |row: &'static str| row.strip_prefix("* = ").map(split_row);
    own()
        .find_map(|(_, rows)| of(rows))
        .or_else(|| own().find_map(|(_, rows)| rows.iter().find_map(|row| any(row))))
        .or_else(|| {
            let any = SERVERS.iter().filter(|_| tool.contains('_')).find_map(|(_, rows)| of(rows));
            any.filter(|row| !row.is_whole() && !row.line.contains("{!"))
        })
}

impl Row {
    /// Does it say all that the tool does, so that no field names a file of this machine but those it says?
    fn is_whole(self) -> bool {
        self.parts.contains("none")
            || self.parts.contains('@') && !self.parts.starts_with("network@")
    }

    /// Is what the tool works on elsewhere, so that its paths without a root are none of this machine's?
    pub fn is_remote(self) -> bool {
        ["network", "send"].iter().any(|word| self.parts.contains(word))
    }
}

fn split_row(parts: &'static str) -> Row {
    let (parts, line) = parts.split_once("$ ").unwrap_or((parts, ""));
    Row { parts, line }
}

/// The row, if it speaks of that tool: by its name, or by that with the server's in front.
fn row_for(row: &'static str, tool: &str) -> Option<Row> {
    let (names, parts) = row.split_once(" = ")?;
    let is = |name: &str| {
        tool.strip_suffix(name).is_some_and(|before| {
            before.is_empty() || before.ends_with('_') && before.len() > 1 && name.contains('_')
        })
    };
    names.split(' ').any(is).then(|| split_row(parts))
}

/// Does one of the words name a database, or a server for them?
pub fn names_database(words: &[String]) -> bool {
    let named = |names: &str| names.split(' ').any(|name| words.iter().any(|word| word == name));
    let speaks = |rows: &[&str]| rows.iter().any(|row| row.contains(":sql"));
    SERVERS.iter().any(|(names, rows)| named(names) && speaks(rows))
}

/// The effects of what the row's fields hold; what is left of the input is told by the names of its fields.
pub fn emit_row(out: &mut Emitter, row: Row, input: &Json) -> Json {
    let empty = Map::new();
    let map = input.as_object().unwrap_or(&empty);
    for part in row.parts.split_whitespace() {
        match part.split_once(':') {
            Some((field, role)) => {
                for text in map.get(field).map(texts_of).unwrap_or_default() {
                    emit_role(out, role, &text);
                }
            }
            None => emit_word(out, part),
        }
    }
    if row.is_whole() {
        return Json::Null;
    }
    let told = |key: &str| {
        let names = |part: &str| part.split_once(':').is_some_and(|(field, _)| field == key);
        TEXTS.contains(&key)
            || row.parts.split_whitespace().any(names)
            || placeholders(row.line).any(|field| field == key)
    };
    let left = map.iter().filter(|(key, _)| !told(key)).map(|(k, v)| (k.clone(), v.clone()));
    Json::Object(left.collect())
}

/// `send`, `network@HOST`, `database.drop`.
fn emit_word(out: &mut Emitter, part: &str) {
    let (word, host) = match part.split_once('@') {
        Some((word, host)) => (word, Some(host.to_string())),
        None => (part, None),
    };
    let Some(word) = Word::from_text(word) else { return };
    if word == Word::Send {
        let host = host.clone();
        out.push_effect(Word::Network, Grade::Certain, None, host, Source::Tool, 0..0);
    }
    out.push_effect(word, Grade::Certain, None, host, Source::Tool, 0..0);
}

fn emit_role(out: &mut Emitter, role: &str, text: &str) {
    let deep = matches!(role, "tree" | "write-tree" | "delete" | "move");
    let extent = if deep { Extent::Tree } else { Extent::Exact };
    let words: &[Word] = match role {
        "url" | "send" => {
            contact(out, text, role == "send");
            return super::emit_content(out, text, Grade::Certain);
        }
        "sql" => {
            let text = Value::known(text, 0..0);
            return code::emit_inline(out, table::Language::Sql, &text, &mut Vec::new());
        }
        "cwd" | "text" => return,
        "read" | "tree" => &[Word::Read],
        "write" | "write-tree" => &[Word::Write],
        "edit" => &[Word::Read, Word::Write],
        "delete" => &[Word::Delete],
        "move" => &[Word::Read, Word::Delete],
        _ => &[Word::Read, Word::Send],
    };
    let value = tool_path(out, &super::resolve_location(text, &out.place.home));
    for word in words {
        out.emit_path(*word, &value, extent, Grade::Certain, Source::Tool);
    }
}

/// Where the row's command line runs.
pub fn directory_of(row: Row, input: &Json) -> Option<&str> {
    let field = |part: &str| part.strip_suffix(":cwd").and_then(|field| input.get(field)?.as_str());
    row.parts.split_whitespace().find_map(field)
}

/// All texts of a field; of an object its keys.
pub fn texts_of(value: &Json) -> Vec<String> {
    match value {
        Json::String(text) => vec![text.clone()],
        Json::Array(items) => items.iter().flat_map(texts_of).collect(),
        Json::Object(map) => map
            .iter()
            .flat_map(|(key, value)| match value {
                Json::String(_) if matches!(key.as_str(), "path" | "url" | "name" | "file") => {
                    texts_of(value)
                }
                _ => vec![key.clone()],
            })
            .collect(),
        Json::Null => Vec::new(),
        other => vec![other.to_string()],
    }
}

/// What stands beside a name in braces.
const MARKS: [char; 3] = ['!', '$', '?'];

/// The names in braces, and behind `?`.
fn placeholders(line: &'static str) -> impl Iterator<Item = &'static str> {
    let inner = |part: &'static str| part.split_once('}').map(|(name, _)| name);
    let named = line.split('{').skip(1).filter_map(inner);
    let flags = line.split(' ').filter(|t| !t.contains('{')).filter_map(|t| t.split_once('?'));
    named.map(|n| n.trim_matches(MARKS)).chain(flags.map(|(_, field)| field))
}

/// The command line that does what the tool does.
pub fn command_line(row: Row, input: &Json) -> Option<String> {
    if row.line.is_empty() {
        return None;
    }
    let words: Vec<String> = row.line.split(' ').flat_map(|t| fill_token(t, input)).collect();
    Some(words.join(" "))
}

/// A word of a line, or several, or none.
fn fill_token(token: &str, input: &Json) -> Vec<String> {
    if token.starts_with("{!") {
        return fill_text(token, input);
    }
    if token.contains('{') {
        let words = fill_text(token, input);
        // A text is for a shell there.
        let field = token.strip_prefix("{$").and_then(|rest| rest.strip_suffix('}'));
        if field.is_some_and(|field| input.get(field).is_some_and(Json::is_string)) {
            let text = words.iter().map(String::as_str);
            return vec![quote_words(["sh", "-c"].into_iter().chain(text))];
        }
        return words.iter().map(|word| quote_words([word.as_str()])).collect();
    }
    let given = |field: &str| {
        let value = input.get(field);
        value.is_some_and(|v| !matches!(v, Json::Null | Json::Bool(false)))
    };
    match token.split_once('?') {
        Some((flag, field)) if given(field) => vec![flag.to_string()],
        Some(_) => Vec::new(),
        None => vec![token.to_string()],
    }
}

/// Every text that a word with names in braces stands for; none where a field is not there.
fn fill_text(text: &str, input: &Json) -> Vec<String> {
    let Some((before, rest)) = text.split_once('{') else { return vec![text.to_string()] };
    let Some((name, behind)) = rest.split_once('}') else { return Vec::new() };
    let optional = name.ends_with('?');
    let values = match input.get(name.trim_matches(MARKS)) {
        None | Some(Json::Null) if optional => vec![String::new()],
        None | Some(Json::Null) => Vec::new(),
        Some(value @ Json::Object(_)) if optional => vec![value.to_string()],
        Some(value) => texts_of(value),
    };
    let ends = fill_text(behind, input);
    let with = |value: &String| -> Vec<String> {
        ends.iter().map(|end| format!("{before}{value}{end}")).collect()
    };
    values.iter().flat_map(with).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_tools_have_rows() {
        let text = include_str!("../../../tests/servers.toml");
        let servers: toml::Table = toml::from_str(text).unwrap();
        let tools = |list: &toml::Value| {
            let list = list.as_str().unwrap().split_whitespace();
            list.map(str::to_string).collect::<Vec<_>>()
        };
        for (server, list) in servers.iter().filter(|(_, list)| list.is_str()) {
            for tool in tools(list) {
                let name = format!("mcp__{server}__{tool}");
                assert!(find_row(&name).is_some(), "{name}");
            }
        }
        for (server, list) in servers["by-fields"].as_table().unwrap() {
            for tool in tools(list) {
                let name = format!("mcp__{server}__{tool}");
                assert!(find_row(&name).is_none(), "{name}");
            }
        }
    }

    #[test]
    fn lines() {
        let line = |tool: &str, input: serde_json::Value| {
            command_line(find_row(tool).unwrap(), &input).unwrap()
        };
        let force = serde_json::json!({ "remote": "origin", "branch": "a b", "force": true });
        assert_eq!(line("mcp__git__git_push", force), "git push --force 'origin' 'a b'");
        let plain = serde_json::json!({ "force": false });
        assert_eq!(line("mcp__git__git_push", plain), "git push");
        let repo = serde_json::json!({ "owner": "o", "repo": "r" });
        assert_eq!(line("mcp__github__delete_repository", repo), "gh repo delete 'o/r'");
        let missing = serde_json::json!({ "owner": "o" });
        assert_eq!(line("mcp__github__delete_repository", missing), "gh repo delete");
        let all = serde_json::json!({ "filter": {} });
        assert_eq!(line("mcp__mongodb__delete-many", all), "mongosh --eval 'db.c.deleteMany({})'");
        let pod = serde_json::json!({ "name": "p", "command": ["ls", "/a b"] });
        assert_eq!(line("mcp__k8s__pods_exec", pod), "kubectl exec 'p' -- 'ls' '/a b'");
    }

    #[test]
    fn names() {
        for name in [
            "mcp__claude_ai_Notion__notion-search",
            "mcp__?__github_create_issue",
            "mcp__plugin_x_playwright__browser_navigate",
            "mcp__DesktopCommander__readFile",
            "mcp__any__browser_navigate",
            "write_file",
        ] {
            assert!(find_row(name).is_some(), "{name}");
        }
        for name in ["mcp__any__query", "mcp__any__run_command", "mcp__any__get_config", "shell"] {
            assert!(find_row(name).is_none(), "{name}");
        }
    }
}
