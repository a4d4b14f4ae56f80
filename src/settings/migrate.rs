//! Hooks of others from Claude Code's settings into those of the Cline that has the same hooks in a narrower form.
//!
//! There, a matcher must be there and is a name, names with `|` or a glob; a command line is split at blanks with
//! no shell; only commands are known (contract: Cline, section 8).

use serde_json::{Map, Value, json};

use super::place::SettingsFile;
use super::{EditMode, EditOutcome, Error, edit_file, hooks, parse_document, read_text};
use crate::agent::Agent;
use crate::agent::wiring::EntryForm;
use crate::paths::Paths;
use crate::script::line::split_words;
use crate::settings::file::SettingsTarget;
use crate::settings::hooks::Change;

/// After how many seconds it gives up, whatever an entry says.
const PATIENCE: f64 = 60.0;
/// Claude Code's tools that have another name there.
const TOOLS: &[(&str, &str)] = &[("Agent", "Task"), ("MultiEdit", "Edit")];
/// All tools of MCP servers.
const MCP: &str = "UseMcpTool";

/// What becomes of the hooks of one file.
#[derive(Debug, Default)]
pub struct Migration {
    /// The groups that go over, each with its event.
    pub groups: Vec<(String, Value)>,
    /// What does not, or not as it was, in sentences.
    pub notes: Vec<String>,
}

/// The hooks of Claude Code's settings as that agent takes them; hookctl's own stay out.
///
/// # Errors
/// Where the file cannot be read or is not JSON.
pub fn convert_settings(
    from: &SettingsFile,
    form: &EntryForm,
    to: &dyn Agent,
) -> Result<Migration, Error> {
    let target = SettingsTarget::follow_links(&from.file)?;
    let Some(text) = read_text(&target)? else { return Ok(Migration::default()) };
    let value = parse_document(&target, &text, form)?.root().to_value();
    let mut migration = Migration::default();
    for (event, groups) in value["hooks"].as_object().into_iter().flatten() {
        if !to.events().iter().any(|spec| spec.name == event) {
            migration.notes.push(format!("{event}: {} has no such event", to.title()));
            continue;
        }
        for group in groups.as_array().into_iter().flatten() {
            migration.take_group(event, group);
        }
    }
    Ok(migration)
}

impl Migration {
    fn take_group(&mut self, event: &str, group: &Value) {
        let entries = group["hooks"].as_array().into_iter().flatten();
        let entries: Vec<Value> =
            entries.filter_map(|entry| self.convert_entry(event, entry)).collect();
        if entries.is_empty() {
            return;
        }
        let matcher = group["matcher"].as_str().unwrap_or_default();
        let (now, exact) = convert_matcher(matcher);
        if !exact {
            self.notes.push(format!("{event}: the matcher `{matcher}` became `{now}`"));
        }
        self.groups.push((event.to_string(), json!({ "matcher": now, "hooks": entries })));
    }

    fn convert_entry(&mut self, event: &str, entry: &Value) -> Option<Value> {
        if entry["type"] != "command" {
            self.notes.push(format!("{event}: an entry of type {} stays out", entry["type"]));
            return None;
        }
        let command = entry["command"].as_str()?;
        let words: Vec<String> = match entry["args"].as_array() {
            Some(args) => {
                let args = args.iter().filter_map(Value::as_str);
                std::iter::once(command).chain(args).map(String::from).collect()
            }
            None => without_shell(command),
        };
        let name = words.first().and_then(|word| word.rsplit(['/', '\\']).next());
        if name == Some(hooks::PROGRAM) {
            self.notes.push(format!(
                "{event}: hookctl's own entry stays out: `hookctl install --agent cline-fork` writes it"
            ));
            return None;
        }
        let mut new = Map::new();
        new.insert("type".into(), "command".into());
        new.insert("command".into(), words.into());
        if let Some(timeout) = entry.get("timeout") {
            new.insert("timeout".into(), timeout.clone());
            if timeout.as_f64().is_some_and(|seconds| seconds > PATIENCE) {
                self.notes.push(format!("{event}: it gives up after {PATIENCE} s, not {timeout}"));
            }
        }
        Some(new.into())
    }
}

/// The words of a command line where no shell is needed, else the shell with the line.
fn without_shell(line: &str) -> Vec<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || " _-./:=@%+,".contains(c);
    let words = split_words(line);
    match line.chars().all(plain) && words.first().is_some_and(|word| !word.contains('=')) {
        true => words,
        false => ["/bin/sh", "-c", line].map(String::from).to_vec(),
    }
}

/// A matcher there, and whether it says the same.
fn convert_matcher(matcher: &str) -> (String, bool) {
    if matches!(matcher, "" | "*" | ".*") {
        return ("*".into(), true);
    }
    let known = |c: char| c.is_ascii_alphanumeric() || "_|*-".contains(c);
    let globs = matcher.trim_matches(['^', '$']).replace(".*", "*");
    if !globs.chars().all(known) {
        return ("*".into(), false);
    }
    let mut exact = true;
    let mut names: Vec<String> = Vec::new();
    for name in globs.split('|') {
        let now = TOOLS.iter().find(|(claude, _)| *claude == name).map_or(name, |(_, now)| now);
        // Every server's tools have one name there.
        let now = if now.starts_with("mcp__") { MCP } else { now };
        exact &= now == name;
        if !names.iter().any(|other| other == now) {
            names.push(now.to_string());
        }
    }
    (names.join("|"), exact)
}

/// Puts the groups behind those that are there, unless they are there already.
///
/// # Errors
/// See [`Error`]; the file is then untouched.
pub fn append_groups(
    paths: &Paths,
    to: &SettingsFile,
    form: &EntryForm,
    groups: &[(String, Value)],
    mode: EditMode,
) -> Result<EditOutcome, Error> {
    edit_file(paths, &to.file, mode, |target, before, _| {
        let mut doc = parse_document(target, before.unwrap_or("{}\n"), form)?;
        let refused = |text: &str, fault| Error::refused(target, text, fault);
        let body = doc.body().to_string();
        hooks::check_shape(&doc, form, groups.iter().map(|(event, _)| event.as_str()))
            .map_err(|fault| refused(&body, fault))?;
        let now = doc.root().to_value();
        let mut changes = Vec::new();
        for (event, group) in groups {
            let there = now["hooks"][event].as_array().into_iter().flatten();
            if there.into_iter().any(|other| other == group) {
                continue;
            }
            hooks::insert_item(&mut doc, form, event, usize::MAX, group)
                .map_err(|fault| refused(&body, fault))?;
            changes.push(Change::Added(event.clone()));
        }
        let after = if changes.is_empty() { before.map(String::from) } else { Some(doc.text()) };
        Ok((after, changes))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s3_52_matchers_say_the_same_or_more() {
        for (claude, cline, exact) in [
            ("", "*", true),
            ("*", "*", true),
            ("Bash", "Bash", true),
            ("Edit|Write", "Edit|Write", true),
            ("Edit|MultiEdit", "Edit", false),
            ("Agent", "Task", false),
            ("mcp__.*", "UseMcpTool", false),
            ("^Web.*$", "Web*", true),
            ("(?i)bash", "*", false),
        ] {
            assert_eq!(convert_matcher(claude), (cline.to_string(), exact), "{claude}");
        }
    }

    #[test]
    fn s3_52_a_line_for_a_shell_keeps_its_shell() {
        assert_eq!(without_shell("/x/guard.sh --deny rm"), ["/x/guard.sh", "--deny", "rm"]);
        for line in ["~/guard.sh", "\"$CLAUDE_PROJECT_DIR\"/x", "A=1 x", "a; b"] {
            assert_eq!(without_shell(line), ["/bin/sh", "-c", line]);
        }
    }
}
