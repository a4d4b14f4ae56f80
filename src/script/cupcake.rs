//! Cupcake as a hook script: what it cannot read of an event, and its failure told apart from its
//! allow.
//!
//! `cupcake eval` says `{}` where it has no objection, and the same where its policies could not be
//! evaluated. Its parser knows closed lists of values; an event with another one ends it with status
//! 1 after it has decided, and the decision is lost (its versions up to 0.5.2, and later).

use std::borrow::Cow;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value};

use super::{ScriptAnswer, trimmed_stdout};
use crate::act::{self, Outcome};
use crate::event::{Event, Kind, KindSet};

/// The events that it can read.
pub const EVENTS: KindSet = KindSet::from_kinds(&[
    Kind::PreToolUse,
    Kind::PermissionRequest,
    Kind::PostToolUse,
    Kind::UserPromptSubmit,
    Kind::Stop,
    Kind::SubagentStop,
    Kind::SessionStart,
    Kind::SessionEnd,
    Kind::PreCompact,
    Kind::Notification,
]);
/// What it logs where it could not evaluate, whatever its exit status.
const NOT_EVALUATED: &str = "Policy evaluation failed";
/// How much of a line of its log is kept, in characters.
const LONGEST_LINE: usize = 300;

/// Does this script run `cupcake eval`? Both words in one of its commands, behind wrappers or not.
pub fn is_run_by(script: &str) -> bool {
    let is_program = |word: &&str| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        name.strip_suffix(".exe").unwrap_or(name) == "cupcake"
    };
    script.replace("\\\n", " ").split([';', '&', '|', '\n']).any(|command| {
        let said = script_words(command).take_while(|word| !word.starts_with('#'));
        said.skip_while(|word| !is_program(word)).any(|word| word == "eval")
    })
}

/// Does it run it so that a failed evaluation shows in its exit status?
pub fn is_strict(script: &str) -> bool {
    script_words(script).any(|word| word == "--strict")
}

fn script_words(script: &str) -> impl Iterator<Item = &str> {
    script.split_whitespace().map(|word| word.trim_matches(['"', '\'', ';', '(', ')']))
}

/// The event as it can read it: the bytes as they came, unless it would fail over them. Nothing is
/// said in the agent's name: what has no equal there is left out, if it may be.
pub fn stdin_for<'a>(event: &Event, bytes: &'a [u8]) -> Cow<'a, [u8]> {
    let mut raw = event.raw.clone();
    let known = |key: &str, words: &[&str]| {
        event.raw.get(key).is_none_or(|value| value.as_str().is_some_and(|v| words.contains(&v)))
    };
    if !known("permission_mode", &["default", "plan", "acceptEdits", "bypassPermissions"]) {
        raw.shift_remove("permission_mode");
    }
    let types = ["permission_prompt", "idle_prompt", "auth_success", "elicitation_dialog"];
    if event.kind == Kind::Notification && !known("notification_type", &types) {
        raw.shift_remove("notification_type");
    }
    if event.kind == Kind::SessionStart && event.str_field("source") == Some("fork") {
        raw.insert("source".into(), "resume".into());
    }
    if event.kind == Kind::SessionEnd
        && !known("reason", &["clear", "logout", "prompt_input_exit", "other"])
    {
        raw.insert("reason".into(), "other".into());
    }
    if event.kind == Kind::PermissionRequest && event.str_field("tool_use_id").is_none() {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let id = format!("toolu_hookctl_{now:x}_{:x}", std::process::id());
        raw.insert("tool_use_id".into(), id.into());
    }
    if raw == event.raw {
        return Cow::Borrowed(bytes);
    }
    Cow::Owned(Value::Object(raw).to_string().into_bytes())
}

/// Reads its answer. An allow beside a changed input, and that of its older versions, means that it
/// has no objection: only silence leaves the user's own prompt in place.
pub fn read_outcome(event: &Event, outcome: &Outcome) -> ScriptAnswer {
    let mut said = super::read_claude_outcome(event, outcome);
    if matches!(said.verb, Some((verb, _)) if verb.stops_call()) {
        return said;
    }
    if event.kind == Kind::PreCompact {
        said.context.extend(summary_instructions(trimmed_stdout(outcome)));
    }
    if let Some(why) = said.failure.take().or_else(|| describe_failure(event, outcome, &said)) {
        let failure = match log_line(&outcome.stderr) {
            Some(line) => format!("{why}: {line}"),
            None => why,
        };
        return ScriptAnswer::failed(failure);
    }
    said.verb = None;
    said
}

/// Why an answer that stops nothing is no answer.
fn describe_failure(event: &Event, outcome: &Outcome, said: &ScriptAnswer) -> Option<String> {
    let text = trimmed_stdout(outcome);
    let is_json = text.starts_with('{');
    let why = if !outcome.is_success() {
        // With `--strict`, an evaluation that failed: `{}` and status 1.
        outcome.describe_end()
    } else if outcome.stderr.contains(NOT_EVALUATED) {
        "its policies could not be evaluated".into()
    } else if outcome.stderr.len() >= act::KEPT {
        format!(
            "its log, which may tell of a failure, is longer than the {} KiB that are read",
            act::KEPT >> 10
        )
    } else if text.is_empty() {
        "it printed nothing, not even `{}`".into()
    } else if !is_json && event.kind != Kind::PreCompact {
        "it printed text, not JSON".into()
    } else if is_json && *said == ScriptAnswer::default() && !is_empty_object(text) {
        "its answer is none for Claude Code (is `--harness claude` set?)".into()
    } else {
        return None;
    };
    Some(why)
}

fn is_empty_object(text: &str) -> bool {
    serde_json::from_slice::<Map<String, Value>>(text.as_bytes())
        .is_ok_and(|answer| answer.is_empty())
}

/// What is to be minded in a summary, in the JSON form that its documentation has for it.
fn summary_instructions(text: &str) -> Option<String> {
    let answer: Value = serde_json::from_slice(text.as_bytes()).ok()?;
    Some(answer.pointer("/hookSpecificOutput/customInstructions")?.as_str()?.to_string())
}

/// The line of its log that says what went wrong, without colours: the first error, else the last.
fn log_line(stderr: &str) -> Option<String> {
    let is_error = |line: &&str| line.contains("ERROR") || line.starts_with("Error:");
    let lines = || stderr.lines().filter(|line| !line.trim().is_empty());
    let line = lines().find(is_error).or_else(|| lines().next_back())?;
    let mut plain = String::new();
    let mut pieces = line.split('\u{1b}');
    plain.push_str(pieces.next().unwrap_or_default());
    for piece in pieces {
        let end = piece.find(|c: char| c.is_ascii_alphabetic()).map_or(piece.len(), |at| at + 1);
        plain.push_str(&piece[end..]);
    }
    let plain: String = plain.trim().chars().filter(|c| !c.is_control()).collect();
    Some(plain.chars().take(LONGEST_LINE).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::CommandEnd;
    use crate::verdict::Verb;
    use serde_json::json;

    fn event(raw: Value) -> Event {
        let Value::Object(raw) = raw else { panic!("an object") };
        crate::agent::default_agent().parse(raw, None)
    }

    fn sent(raw: Value) -> Value {
        let bytes = raw.to_string().into_bytes();
        serde_json::from_slice(&stdin_for(&event(raw), &bytes)).unwrap()
    }

    #[test]
    fn s2_33_cupcake_is_known_by_its_command() {
        for script in [
            "cupcake eval --harness claude",
            "timeout 5 /opt/bin/cupcake --log-level error eval --strict",
            "cd x && \"$HOME/bin/cupcake\" eval",
            "C:\\bin\\cupcake.exe eval",
            "set -e\nexec cupcake \\\n  eval --strict",
        ] {
            assert!(is_run_by(script), "{script}");
        }
        assert!(is_strict("sh -c 'cupcake eval --strict'") && !is_strict("cupcake eval"));
        for script in [
            "cupcake verify",
            "./cupcakes eval",
            "eval cupcake",
            "./hooks/check.sh",
            "",
            "./hooks/check.sh # beside cupcake eval",
            "command -v cupcake && eval \"$CHECK\"",
            "cupcake verify; ./mine.sh eval",
        ] {
            assert!(!is_run_by(script), "{script}");
        }
    }

    #[test]
    fn s2_33_k1_a_permission_request_gets_an_id_of_its_own() {
        let raw = json!({"hook_event_name": "PermissionRequest", "tool_name": "Bash",
            "tool_input": {"command": "touch x"}, "permission_suggestions": []});
        let (first, second) = (sent(raw.clone()), sent(raw.clone()));
        let id = first["tool_use_id"].as_str().unwrap();
        assert!(id.starts_with("toolu_hookctl_") && second["tool_use_id"] != id, "{id}");
        let mut rest = first.clone();
        rest.as_object_mut().unwrap().shift_remove("tool_use_id");
        assert_eq!(rest, raw);
        // One that has an id, and any other event, keeps its bytes.
        let named = json!({"hook_event_name": "PermissionRequest", "tool_use_id": "toolu_1"});
        for raw in [named, json!({"hook_event_name": "PreToolUse", "permission_mode": "plan"})] {
            let bytes = format!(" {raw}");
            assert_eq!(*stdin_for(&event(raw), bytes.as_bytes()), *bytes.as_bytes());
        }
    }

    #[test]
    fn s2_33_what_its_parser_does_not_know_is_left_out_or_said_in_its_words() {
        for (raw, key, found) in [
            (
                json!({"hook_event_name": "Stop", "permission_mode": "auto"}),
                "permission_mode",
                None,
            ),
            (
                json!({"hook_event_name": "Stop", "permission_mode": "dontAsk"}),
                "permission_mode",
                None,
            ),
            (
                json!({"hook_event_name": "SessionStart", "source": "fork"}),
                "source",
                Some("resume"),
            ),
            (json!({"hook_event_name": "SessionStart", "source": "new"}), "source", Some("new")),
            (json!({"hook_event_name": "SessionEnd", "reason": "resume"}), "reason", Some("other")),
            (json!({"hook_event_name": "SessionEnd", "reason": "clear"}), "reason", Some("clear")),
            (
                json!({"hook_event_name": "Notification", "notification_type": "new"}),
                "notification_type",
                None,
            ),
        ] {
            assert_eq!(sent(raw.clone()).get(key).and_then(Value::as_str), found, "{raw}");
        }
    }

    #[test]
    fn s2_33_the_line_of_its_log() {
        let stderr = "\u{1b}[2m10:00\u{1b}[0m \u{1b}[32m INFO\u{1b}[0m Processing harness\n\
                      \u{1b}[2m10:00\u{1b}[0m \u{1b}[31mERROR\u{1b}[0m Policy evaluation failed: x\n\n";
        assert_eq!(log_line(stderr).unwrap(), "10:00 ERROR Policy evaluation failed: x");
        assert_eq!(log_line("sh: cupcake: not found\n").unwrap(), "sh: cupcake: not found");
        assert_eq!(log_line(" \n"), None);
        assert_eq!(log_line(&"é".repeat(999)).unwrap().chars().count(), LONGEST_LINE);
    }

    #[test]
    fn k12_status_1_is_a_failure_unless_it_comes_with_a_verdict() {
        let event = event(json!({"hook_event_name": "PreToolUse", "tool_name": "Bash"}));
        let ended = |status, stdout: &str| {
            let (stdout, stderr) = (stdout.into(), String::new());
            read_outcome(&event, &Outcome { end: CommandEnd::Exit(status), stdout, stderr, ms: 1 })
        };
        assert_eq!(ended(1, "{}").failure.unwrap(), "exit status 1");
        assert_eq!(ended(1, "").failure.unwrap(), "exit status 1");
        assert_eq!(ended(0, "{ }\n"), ScriptAnswer::default());
        // A log whose end was not read may say the opposite of `{}`.
        let stderr = "x".repeat(act::KEPT);
        let long = Outcome { end: CommandEnd::Exit(0), stdout: "{}".into(), stderr, ms: 1 };
        assert!(read_outcome(&event, &long).failure.unwrap().contains("256 KiB"));
        let deny = r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"no"}}"#;
        assert_eq!(ended(1, deny).verb, Some((Verb::Deny, "no".into())));
    }

    /// What its structs demand of each event, as far as a recorded payload could miss it.
    #[test]
    fn s2_33_k1_every_recorded_payload_comes_in_a_form_that_it_reads() {
        let words = |key: &str| match key {
            "permission_mode" => &["default", "plan", "acceptEdits", "bypassPermissions"][..],
            "source" => &["startup", "resume", "clear", "compact"],
            "reason" => &["clear", "logout", "prompt_input_exit", "other"],
            "trigger" => &["manual", "auto"],
            _ => &["permission_prompt", "idle_prompt", "auth_success", "elicitation_dialog"],
        };
        let (mut count, mut changed) = (0, 0);
        for dir in ["tests/payloads/claude", "tests/payloads/claude-handwritten"] {
            for entry in std::fs::read_dir(dir).unwrap().flatten() {
                let bytes = std::fs::read(entry.path()).unwrap();
                let Ok(raw) = crate::payload::parse(&bytes) else { continue };
                let event = event(Value::Object(raw));
                if !EVENTS.contains(event.kind) {
                    continue;
                }
                let sent = stdin_for(&event, &bytes);
                changed += usize::from(matches!(sent, Cow::Owned(_)));
                let Ok(sent) = crate::payload::parse(&sent) else { panic!("JSON") };
                let (demanded, optional): (&[&str], &[&str]) = match event.kind {
                    Kind::PermissionRequest => (&["tool_name", "tool_use_id"], &[]),
                    Kind::PreToolUse | Kind::PostToolUse => (&["tool_name"], &[]),
                    Kind::SessionStart => (&["source"], &[]),
                    Kind::SessionEnd => (&["reason"], &[]),
                    Kind::PreCompact => (&["trigger"], &[]),
                    Kind::UserPromptSubmit => (&["prompt"], &[]),
                    Kind::Notification => (&["message"], &["notification_type"]),
                    _ => (&[], &[]),
                };
                let name = entry.file_name();
                for key in ["session_id", "transcript_path", "cwd"].iter().chain(demanded) {
                    assert!(sent.get(*key).is_some_and(Value::is_string), "{name:?}: {key}");
                }
                let closed =
                    ["source", "reason", "trigger"].iter().filter(|k| demanded.contains(k));
                for key in optional.iter().chain(&["permission_mode"]).chain(closed) {
                    let fits =
                        |value: &Value| value.as_str().is_some_and(|v| words(key).contains(&v));
                    assert!(
                        sent.get(*key).is_none_or(fits),
                        "{name:?}: {key} {:?}",
                        sent.get(*key)
                    );
                }
                count += 1;
            }
        }
        assert!(count > 50 && changed > 5, "{count} payloads, {changed} changed");
    }
}
