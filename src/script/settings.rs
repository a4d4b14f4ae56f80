//! The hooks of a Claude Code settings file, for agents that do not read it themselves (contracts:
//! claude.md, section 2).

use std::time::Duration;

use serde_json::{Map, Value};

use super::line;
use crate::files::BYTE_ORDER_MARK;
use crate::text::quote_for_shell;

/// One command of a settings file.
#[derive(Debug, Clone, PartialEq)]
pub struct HookEntry {
    /// The event that it stands under.
    pub event: String,
    /// What its group is tested on; empty = everything.
    pub matcher: String,
    /// `if`: a line of permission syntax that the call must match.
    pub condition: Option<String>,
    /// For `sh -c`.
    pub script: String,
    /// `timeout`; None = the client's own for the event.
    pub limit: Option<Duration>,
    /// `async`: nobody waits for it, and what it says decides nothing.
    pub background: bool,
}

/// The hooks of a file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct SettingsHooks {
    /// What can be run, in file order, hookctl's own entries left out.
    pub entries: Vec<HookEntry>,
    /// What stands under an event (its name is first) and is not run here, with the reason.
    pub skipped: Vec<(String, String)>,
    /// What stands under an event and cannot be read, with the reason: it might have stopped something.
    pub broken: Vec<(String, String)>,
}

/// Reads the hooks of that text. `project` stands for `${CLAUDE_PROJECT_DIR}`.
///
/// # Errors
/// Why none of it can be used, as the rest of a sentence about the file.
pub fn read_hooks(text: &str, project: &str) -> Result<SettingsHooks, String> {
    let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    let settings: Map<String, Value> = serde_json::from_slice(text.as_bytes())
        .map_err(|error| format!("is no JSON object: {error}"))?;
    let mut found = SettingsHooks::default();
    if settings.get("disableAllHooks") == Some(&Value::Bool(true)) {
        return Ok(found);
    }
    let events = match settings.get("hooks") {
        None => return Ok(found),
        Some(Value::Object(events)) => events,
        Some(_) => return Err("has `hooks` that are no object".into()),
    };
    for (event, groups) in events {
        read_groups(event, groups, project, &mut found);
    }
    Ok(found)
}

fn read_groups(event: &str, groups: &Value, project: &str, found: &mut SettingsHooks) {
    let Some(groups) = groups.as_array() else {
        return found.note_broken(event, "its groups are no list");
    };
    for group in groups {
        let matcher = match group.get("matcher") {
            None => "",
            Some(Value::String(matcher)) => matcher,
            Some(_) => {
                found.note_broken(event, "a matcher is no text");
                continue;
            }
        };
        match group.get("hooks").and_then(Value::as_array) {
            Some(hooks) => {
                hooks.iter().for_each(|hook| read_entry(event, matcher, hook, project, found));
            }
            None => found.note_broken(event, "a group has no list of `hooks`"),
        }
    }
}

fn read_entry(event: &str, matcher: &str, hook: &Value, project: &str, found: &mut SettingsHooks) {
    let text = |key: &str| hook.get(key).and_then(Value::as_str);
    match text("type") {
        Some("command") => {}
        Some(other) => {
            let why = format!("hooks of type `{other}` are not run here");
            return found.skipped.push((event.into(), why));
        }
        None => return found.note_broken(event, "a hook has no `type`"),
    }
    if text("shell") == Some("powershell") {
        let why = "commands for PowerShell are not run here".into();
        return found.skipped.push((event.into(), why));
    }
    let Some(command) = text("command").filter(|command| !command.trim().is_empty()) else {
        return found.note_broken(event, "a hook has no `command`");
    };
    let args = match hook.get("args") {
        None => None,
        Some(args) => match string_list(args) {
            Some(args) => Some(args),
            None => return found.note_broken(event, "`args` is no list of texts"),
        },
    };
    let own = match args {
        Some(_) => line::is_own_program(command),
        None => line::starts_own_program(command),
    };
    let Ok(limit) = read_limit(hook.get("timeout")) else {
        return found.note_broken(event, "a `timeout` is no number of seconds above 0");
    };
    if !own {
        found.entries.push(HookEntry {
            event: event.into(),
            matcher: matcher.into(),
            condition: text("if").filter(|line| !line.is_empty()).map(str::to_string),
            script: to_script(command, args.as_deref(), project),
            limit,
            background: hook.get("async") == Some(&Value::Bool(true)),
        });
    }
}

impl SettingsHooks {
    fn note_broken(&mut self, event: &str, why: &str) {
        self.broken.push((event.into(), why.into()));
    }
}

/// The command for `sh -c`: that of a shell as it stands, a program with its arguments as words of their own.
fn to_script(command: &str, args: Option<&[&str]>, project: &str) -> String {
    let Some(args) = args else { return command.to_string() };
    let word = |text: &str| quote_for_shell(&text.replace("${CLAUDE_PROJECT_DIR}", project));
    let words: Vec<String> =
        std::iter::once(command).chain(args.iter().copied()).map(word).collect();
    format!("exec {}", words.join(" "))
}

fn string_list(value: &Value) -> Option<Vec<&str>> {
    value.as_array()?.iter().map(Value::as_str).collect()
}

/// Seconds, with a fraction or without; none where nothing is said.
fn read_limit(value: Option<&Value>) -> Result<Option<Duration>, ()> {
    let Some(value) = value else { return Ok(None) };
    let limit = value.as_f64().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    limit.filter(|limit| !limit.is_zero()).map(Some).ok_or(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(settings: &Value) -> SettingsHooks {
        read_hooks(&settings.to_string(), "/p").unwrap()
    }

    fn one(hook: Value) -> SettingsHooks {
        read(&json!({ "hooks": { "PreToolUse": [{ "matcher": "Bash", "hooks": [hook] }] } }))
    }

    #[test]
    fn a_command_with_all_that_belongs_to_it() {
        let found = one(json!({ "type": "command", "command": "a.sh | b", "timeout": 1.5,
            "if": "Bash(git *)", "async": true, "_managed": 1 }));
        assert_eq!(
            found.entries,
            [HookEntry {
                event: "PreToolUse".into(),
                matcher: "Bash".into(),
                condition: Some("Bash(git *)".into()),
                script: "a.sh | b".into(),
                limit: Some(Duration::from_millis(1500)),
                background: true,
            }]
        );
    }

    #[test]
    fn arguments_are_words_of_their_own() {
        let found = one(json!({ "type": "command", "command": "${CLAUDE_PROJECT_DIR}/x y",
            "args": ["it's", "$HOME"] }));
        assert_eq!(found.entries[0].script, r"exec '/p/x y' 'it'\''s' '$HOME'");
    }

    #[test]
    fn own_entries_are_left_out() {
        for command in [
            "hookctl",
            "/opt/bin/hookctl hook",
            "X=1 exec 'hookctl' hook",
            "& C:\\x\\hookctl.exe hook",
            "hookctl.exe",
        ] {
            let found = one(json!({ "type": "command", "command": command }));
            assert_eq!(found, SettingsHooks::default(), "{command}");
        }
        let args = one(json!({ "type": "command", "command": "/x/hookctl", "args": ["hook"] }));
        assert_eq!(args, SettingsHooks::default());
        let other = one(json!({ "type": "command", "command": "echo hookctl" }));
        assert_eq!(other.entries.len(), 1);
    }

    #[test]
    fn what_is_not_run_is_said() {
        assert_eq!(one(json!({ "type": "http", "url": "x" })).skipped.len(), 1);
        let pwsh = json!({ "type": "command", "command": "x", "shell": "powershell" });
        assert_eq!(one(pwsh).skipped.len(), 1);
        for bad in [
            json!({ "command": "x" }),
            json!({ "type": "command" }),
            json!({ "type": "command", "command": "x", "timeout": 0 }),
            json!({ "type": "command", "command": "x", "args": [1] }),
        ] {
            let found = one(bad.clone());
            assert_eq!((found.broken.len(), found.entries.len()), (1, 0), "{bad}");
        }
    }

    #[test]
    fn files_without_hooks_and_broken_ones() {
        assert_eq!(read(&json!({ "model": "x" })), SettingsHooks::default());
        let hooks = json!({ "Stop": [{ "hooks": [{ "type": "command", "command": "x" }] }] });
        assert_eq!(read(&json!({ "hooks": hooks })).entries.len(), 1);
        let off = json!({ "disableAllHooks": true, "hooks": hooks });
        assert_eq!(read(&off), SettingsHooks::default());
        for text in ["", "[]", "{} // x", r#"{"hooks": []}"#] {
            assert!(read_hooks(text, "/p").is_err(), "{text}");
        }
        assert_eq!(read(&json!({ "hooks": { "Stop": {} } })).broken.len(), 1);
    }
}
