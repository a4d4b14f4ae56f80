//! Hooks of Claude Code's settings files, run by a rule for other agents: an unmodified script must not notice who
//! calls it.

mod cli;

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use cli::{World, system};
use serde_json::{Value, json};

const USER: &str = "[rule.old]\non = \"*\"\nhook = { settings = \"~/.claude/settings.json\" }\n";
const PROJECT: &str =
    "[rule.shared]\nhook = { settings = \".claude/settings.json\" }\notherwise = \"ask\"\n";

/// A guard as people write them: it reads the event with Claude Code's names, notes it and speaks by its content.
const GUARD: &str = r#"#!/bin/sh
event=$(cat)
printf '%s\n' "$event" >> "$HOME/seen"
printf '%s %s\n' "$CLAUDE_PROJECT_DIR" "$PWD" >> "$HOME/places"
case $event in
*'"hook_event_name":"PreToolUse"'*'"tool_name":"Bash"'*|*'"tool_name":"Bash"'*'"hook_event_name":"PreToolUse"'*) ;;
*) exit 0 ;;
esac
case $event in
*by-status*) echo "refused by status" >&2; exit 2 ;;
*by-json*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"deny","permissionDecisionReason":"refused by json"}}' ;;
*by-change*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":{"command":"echo changed"}}}' ;;
*by-context*) echo '{"hookSpecificOutput":{"hookEventName":"PreToolUse","additionalContext":"mind the gap"}}' ;;
esac
"#;

struct Stage {
    world: World,
}

impl Stage {
    fn new(rules: &str) -> Stage {
        let world = World::with(rules);
        let guard = world.home().join("guard.sh");
        world.write(&guard, GUARD);
        system::set_mode(&guard, 0o700);
        Stage { world }
    }

    /// With these groups of PreToolUse in the user's settings.
    fn with_groups(groups: Value) -> Stage {
        let stage = Stage::new(USER);
        stage.settings(json!({ "hooks": { "PreToolUse": groups } }));
        stage
    }

    fn settings(&self, settings: Value) {
        let path = self.world.home().join(".claude/settings.json");
        self.world.write(&path, &settings.to_string());
    }

    fn project_settings(&self) -> PathBuf {
        self.world.project().join(".claude/settings.json")
    }

    /// The answer to a call of the shell as that agent sends it, with another command.
    fn feed(&self, payload: &str, agent: &str, command: &str) -> String {
        let path = format!("{}/tests/payloads/{payload}", env!("CARGO_MANIFEST_DIR"));
        let mut event: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        event["cwd"] = self.world.project().to_string_lossy().into();
        assert!(event["tool_input"]["command"].is_string(), "{event}");
        event["tool_input"]["command"] = command.into();
        self.send(agent, &event)
    }

    fn send(&self, agent: &str, event: &Value) -> String {
        let done = self.world.feed(&["hook", "--agent", agent], event.to_string().as_bytes());
        assert!(matches!(done.code, 0 | 2), "{}", done.err);
        format!("{}{}", done.out, done.err)
    }

    /// The answer to a call of Bash in the form that several agents copied from Claude Code.
    fn bash(&self, agent: &str, command: &str) -> String {
        self.send(agent, &self.event("PreToolUse", json!({ "command": command })))
    }

    fn event(&self, name: &str, input: Value) -> Value {
        json!({ "hook_event_name": name, "session_id": "s", "turn_id": "t", "model": "m",
            "cwd": self.world.project(), "tool_name": "Bash", "tool_input": input,
            "tool_use_id": format!("call-{}", fs::read_dir(self.world.home()).unwrap().count()) })
    }

    /// The events that the guard got.
    fn seen(&self) -> Vec<Value> {
        let text = fs::read_to_string(self.world.home().join("seen")).unwrap_or_default();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

fn guard() -> Value {
    json!([{ "matcher": "Bash", "hooks": [{ "type": "command", "command": "~/guard.sh", "timeout": 5 }] }])
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn a_script_judges_the_calls_of_other_agents() {
    for (agent, payload) in [
        ("codex", "codex/PreToolUse-Bash.json"),
        ("gemini", "gemini/BeforeTool-run_shell_command.json"),
        ("cursor", "cursor/preToolUse-Shell.schema.json"),
    ] {
        let stage = Stage::with_groups(guard());
        let answer = |text: &str| stage.feed(payload, agent, text);
        for (text, reason) in [
            ("echo by-status", "refused by status"),
            ("echo by-json", "refused by json"),
            ("echo by-change", "echo changed"),
        ] {
            assert!(answer(text).contains(reason), "{agent} {text}: {}", answer(text));
        }
        assert!(!answer("echo nothing").contains("refused"), "{agent}");
        let event = &stage.seen()[0];
        assert_eq!(event["hook_event_name"], "PreToolUse", "{agent}");
        assert_eq!(event["tool_name"], "Bash", "{agent}");
        assert_eq!(event["tool_input"]["command"], "echo by-status", "{agent}");
        for key in ["session_id", "cwd", "transcript_path"] {
            assert!(event[key].is_string(), "{agent}: {key}");
        }
    }
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn context_reaches_the_model_and_the_place_is_that_of_claude_code() {
    let stage = Stage::with_groups(guard());
    assert!(stage.bash("codex", "echo by-context").contains("mind the gap"));
    let places = fs::read_to_string(stage.world.home().join("places")).unwrap();
    let project = stage.world.project().display().to_string();
    assert_eq!(places, format!("{project} {project}\n"));
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn claude_code_runs_its_own_hooks() {
    let stage = Stage::with_groups(guard());
    let mut event = stage.event("PreToolUse", json!({ "command": "echo by-status" }));
    event.as_object_mut().unwrap().remove("turn_id");
    assert_eq!(stage.send("claude", &event), "");
    assert_eq!(stage.seen().len(), 0);
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn matchers_and_filters_have_the_clients_meaning() {
    for (group, command, wanted) in [
        (json!({}), "ls", true),
        (json!({ "matcher": "" }), "ls", true),
        (json!({ "matcher": "*" }), "ls", true),
        (json!({ "matcher": "Write, Bash" }), "ls", true),
        (json!({ "matcher": "bash" }), "ls", false),
        (json!({ "matcher": "Bas" }), "ls", false),
        (json!({ "matcher": "^B" }), "ls", true),
        (json!({ "matcher": "^W" }), "ls", false),
        (json!({ "if": "Bash(git *)" }), "git status", true),
        (json!({ "if": "Bash(git *)" }), "ls", false),
        (json!({ "if": "Bash(rm *)" }), "true $(rm -f z)", true),
        (json!({ "if": "Write" }), "ls", false),
        (json!({ "if": "Nobody(knows)" }), "ls", true),
    ] {
        let mut hook = json!({ "type": "command", "command": "~/guard.sh" });
        if let Some(filter) = group.get("if") {
            hook["if"] = filter.clone();
        }
        let mut whole = json!({ "hooks": [hook] });
        if let Some(matcher) = group.get("matcher") {
            whole["matcher"] = matcher.clone();
        }
        let stage = Stage::with_groups(json!([whole]));
        stage.bash("codex", command);
        assert_eq!(stage.seen().len(), usize::from(wanted), "{group} {command}");
    }
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn other_events_are_matched_by_their_own_field() {
    let stage = Stage::new(USER);
    let group = |matcher: &str| {
        json!({ "matcher": matcher, "hooks": [{ "type": "command",
            "command": format!("cat >/dev/null; echo of {matcher}") }] })
    };
    stage.settings(json!({ "hooks": { "SessionStart": [group("startup"), group("resume")] } }));
    let event = json!({ "hook_event_name": "SessionStart", "session_id": "s", "source": "startup",
        "model": "m", "cwd": stage.world.project(), "transcript_path": "/x/rollout-1.jsonl" });
    let answer = stage.send("codex", &event);
    assert!(answer.contains("of startup") && !answer.contains("of resume"), "{answer}");
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn equal_commands_run_once_and_own_entries_never() {
    let hook = |command: &str| json!({ "type": "command", "command": command });
    let stage = Stage::with_groups(json!([
        { "matcher": "Bash", "hooks": [hook("~/guard.sh"), hook("hookctl hook"), hook("exec /x/hookctl")] },
        { "hooks": [hook("~/guard.sh"), { "type": "command", "command": "/x/hookctl", "args": ["hook"] }] },
        { "hooks": [{ "type": "command", "command": format!("{}", "cat >> $HOME/seen"), "timeout": 3 }] },
    ]));
    stage.bash("codex", "ls");
    assert_eq!(stage.seen().len(), 2);
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn programs_with_arguments_need_no_shell() {
    let stage = Stage::with_groups(json!([{ "hooks": [{ "type": "command", "command": "/bin/sh",
        "args": ["-c", "echo \"$0 $1\" >&2; exit 2", "${CLAUDE_PROJECT_DIR}", "$HOME"] }] }]));
    let answer = stage.bash("codex", "ls");
    assert!(answer.contains(&format!("{} $HOME", stage.world.project().display())), "{answer}");
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn what_is_only_started_decides_nothing() {
    let stage = Stage::with_groups(json!([{ "hooks": [{ "type": "command", "async": true,
        "command": "sleep 1; cat >> $HOME/seen; exit 2" }] }]));
    let start = Instant::now();
    assert!(!stage.bash("codex", "ls").contains("deny"));
    system::is_in_time(start, Duration::from_millis(900), "nothing waited for");
    let ended = || stage.seen().len() == 1;
    while !ended() && start.elapsed() < Duration::from_secs(10) {
        thread::sleep(Duration::from_millis(50));
    }
    assert_eq!(stage.seen()[0]["tool_input"]["command"], "ls");
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn a_file_that_cannot_be_used_is_what_the_rule_says() {
    let rules = USER.to_string() + "otherwise = \"deny\"\n";
    let stage = Stage::new(&rules);
    assert!(stage.bash("codex", "ls").contains("No such file"));
    for text in ["{", "[]", r#"{"hooks":[]}"#, r#"{"hooks":{"PreToolUse":{}}}"#] {
        stage.world.write(&stage.world.home().join(".claude/settings.json"), text);
        let answer = stage.bash("codex", "ls");
        assert!(answer.contains(".claude/settings.json") && answer.contains("deny"), "{answer}");
    }
    stage.settings(json!({ "disableAllHooks": true, "hooks": { "PreToolUse": guard() } }));
    assert!(!stage.bash("codex", "echo by-status").contains("deny"));
    let path = stage.world.home().join(".claude/settings.json");
    system::set_mode(path, 0o666);
    assert!(stage.bash("codex", "ls").contains("written by others"));
    stage.settings(
        json!({ "hooks": { "PreToolUse": [{ "hooks": [{ "type": "http", "url": "x" }] }] } }),
    );
    assert!(!stage.bash("codex", "ls").contains("deny"));
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn a_projects_hooks_wait_for_a_human() {
    let stage = Stage::new(PROJECT);
    let world = &stage.world;
    assert!(!stage.bash("codex", "echo none").contains("approved"), "most projects have none");
    world.write(&world.project().join("check.sh"), "echo no of project >&2; exit 2\n");
    let hooks = json!([{ "hooks": [{ "type": "command", "command": "sh check.sh" }] }]);
    let settings = json!({ "hooks": { "PreToolUse": hooks } });
    world.write(&stage.project_settings(), &settings.to_string());

    let first = stage.bash("codex", "echo one");
    assert!(!first.contains("no of project"), "{first}");
    assert!(first.contains("hookctl trust"), "{first}");
    assert!(!stage.bash("codex", "echo two").contains("hookctl trust"), "once in a session");

    let no = world.on_terminal(&["trust"], "y\n");
    assert!(no.code == 1 && no.out.contains("sh check.sh"), "{}", no.out);
    assert!(!stage.bash("codex", "echo three").contains("no of project"));
    let yes = world.on_terminal(&["trust"], "trust project\n");
    assert_eq!(yes.code, 0, "{}{}", yes.out, yes.err);
    assert!(stage.bash("codex", "echo four").contains("no of project"));
    assert!(world.on_terminal(&["trust"], "").out.contains("trusted already"));
    assert_eq!(world.run(&["trust", "--list", "--json"]).json()[0]["state"], "trusted");

    world.write(&world.project().join("check.sh"), "echo no of another >&2; exit 2\n");
    assert!(!stage.bash("codex", "echo five").contains("no of"), "its program has changed");
    world.write(&world.project().join("check.sh"), "echo no of project >&2; exit 2\n");
    assert!(stage.bash("codex", "echo six").contains("no of project"));
    world.write(&stage.project_settings(), &(settings.to_string() + " "));
    assert!(!stage.bash("codex", "echo seven").contains("no of project"), "it has changed");
    assert_eq!(world.run(&["trust", "--revoke"]).code, 0);
    assert_eq!(world.run(&["trust", "--list", "--json"]).json(), json!([]));
}

#[test]
#[cfg_attr(windows, ignore = "needs a terminal")]
fn a_projects_rule_and_its_hooks_are_approved_one_by_one() {
    let stage = Stage::new("");
    let world = &stage.world;
    world.project_file(PROJECT);
    let hooks = json!([{ "hooks": [{ "type": "command", "command": "echo no >&2; exit 2" }] }]);
    let settings = json!({ "hooks": { "PreToolUse": hooks } });
    world.write(&stage.project_settings(), &settings.to_string());
    assert!(!stage.bash("codex", "echo one").contains("[project:shared]"));
    let yes = world.on_terminal(&["trust"], "trust project\ntrust project\n");
    assert_eq!(yes.code, 0, "{}{}", yes.out, yes.err);
    assert!(stage.bash("codex", "echo two").contains("[project:shared]"));
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn a_hook_script_of_a_rule_gets_claude_codes_form_too() {
    let stage = Stage::new("[rule.x]\ntool = \"Bash\"\nhook = \"~/guard.sh\"\n");
    let payload = "gemini/BeforeTool-run_shell_command.json";
    let answer = stage.feed(payload, "gemini", "echo by-json");
    assert!(answer.contains("refused by json"), "{answer}");
    assert_eq!(stage.seen()[0]["hook_event_name"], "PreToolUse");
    assert_eq!(stage.seen()[0]["tool_name"], "Bash");
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn claude_codes_own_event_stays_as_it_came() {
    let stage = Stage::new("[rule.x]\nhook = \"cat > $HOME/bytes\"\n");
    let event = format!(
        "{{ \"hook_event_name\": \"PreToolUse\",\"x\":1e3, \"tool_name\":\"Task\",  \"tool_input\":{{}},\"cwd\":{} }}\n",
        json!(stage.world.project())
    );
    stage.world.feed(&["hook", "--agent", "claude"], event.as_bytes());
    assert_eq!(fs::read_to_string(stage.world.home().join("bytes")).unwrap(), event);
}

#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn each_operation_of_one_call_is_judged_for_itself() {
    let stage = Stage::new(
        "[rule.x]\ntool = \"Write|Edit\"\nhook = \"grep -q '\\\"file_path\\\":[^,]*two' && { echo not two >&2; exit 2; }; exit 0\"\n",
    );
    let patch =
        "*** Begin Patch\n*** Add File: one.txt\n+a\n*** Add File: two.txt\n+b\n*** End Patch\n";
    let mut event = stage.event("PreToolUse", json!({ "command": patch }));
    event["tool_name"] = "apply_patch".into();
    let answer = stage.send("codex", &event);
    assert!(answer.contains("not two"), "{answer}");
}
