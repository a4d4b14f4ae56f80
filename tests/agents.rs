//! Every agent: each captured payload as an event with its effects, and the answer to each verdict in that
//! agent's own form.
//!
//! `tests/payloads/AGENT/NAME.json` is a payload, `tests/agents/AGENT/NAME.json` what it must become. `BLESS=1`
//! writes the latter anew.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use hookctl::agent::settled::settle_answer;
use hookctl::agent::{self, Agent, Output};
use hookctl::config::Config;
use hookctl::effect::program::table::{self, Class};
use hookctl::effect::tool::names_line;
use hookctl::effect::{self, Analysis};
use hookctl::event::{Event, Kind};
use hookctl::hook;
use hookctl::judge::{self, JudgeContext, Mode, Situation};
use hookctl::paths::Paths;
use hookctl::payload;
use hookctl::verdict::{Answer, Verb};
use serde_json::{Map, Value, json};

mod common;

/// Agents whose payloads cannot be told from Claude Code's: only the flag says who they are.
const BY_FLAG: &[&str] = &["cline-fork"];
/// Payloads of another agent's folder, by the contracts: nothing in them tells.
const NOT_TOLD_APART: &[&str] = &["droid/SessionStart", "droid/Stop", "droid/UserPromptSubmit"];

/// The payloads of an agent, by name.
fn payloads(agent: &str) -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = fs::read_dir(Path::new("tests/payloads").join(agent))
        .unwrap_or_else(|_| panic!("no payloads of {agent}"))
        .map(|entry| entry.expect("entry").path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| {
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            let text = fs::read_to_string(&path).expect("text");
            (name.trim_end_matches(".json").trim_end_matches(".schema").into(), text)
        })
        .map(|(name, text)| (name, common::nobody::moved(&text)))
        .collect();
    all.sort();
    assert!(!all.is_empty(), "no payloads of {agent}");
    all
}

/// Every agent but Claude Code, which has tests of its own.
fn others() -> impl Iterator<Item = &'static dyn Agent> {
    agent::AGENTS.iter().copied().skip(1)
}

fn parse(agent: &str, text: &str) -> (&'static dyn Agent, Event) {
    let payload = payload::parse(text.as_bytes()).expect("a payload");
    let flag = Some(agent).filter(|agent| BY_FLAG.contains(agent));
    let agent = agent::detect_agent(&payload, flag);
    (agent, agent.parse(payload, None))
}

fn analyse(event: &Event) -> Analysis {
    let cwd = if event.cwd.is_empty() { common::nobody::project() } else { event.cwd.clone() };
    effect::analyse_event(event, &common::place(&cwd))
}

/// The event without what it was made from.
fn shown_event(event: &Event) -> Value {
    let mut shown = json!({ "event": event.name, "kind": event.kind.name() });
    let mut put = |key: &str, value: Value| {
        if !matches!(&value, Value::Null) && value != json!("") && value != json!([]) {
            shown[key] = value;
        }
    };
    put("tool", event.tool.as_str().into());
    put("input", event.input.clone());
    let more = event.more.iter().map(|one| json!({ "tool": one.tool, "input": one.input }));
    put("more", more.collect());
    put("cwd", event.cwd.as_str().into());
    put("session", event.session.as_str().into());
    for key in [
        "prompt",
        "source",
        "trigger",
        "reason",
        "error",
        "tool_response",
        "tool_use_id",
        "agent_id",
    ] {
        put(key, event.raw.get(key).cloned().unwrap_or_default());
    }
    let operations = event.clone().split_operations(usize::MAX);
    let effects = operations.iter().flat_map(|one| common::render(&analyse(one)));
    put("effects", effects.map(Value::from).collect());
    shown
}

/// What leaves the process; null is silence.
fn shown_output(out: &Output) -> Value {
    let stdout = serde_json::from_str(&out.stdout).unwrap_or(Value::from(out.stdout.as_str()));
    match (out.status, out.stderr.is_empty(), out.stdout.is_empty()) {
        (0, true, true) => Value::Null,
        (0, true, false) => stdout,
        (status, _, true) => json!({ "status": status, "stderr": out.stderr }),
        (status, ..) => json!({ "status": status, "stderr": out.stderr, "stdout": stdout }),
    }
}

/// The input with another command, path or text.
fn rewritten(input: &Value) -> Map<String, Value> {
    let mut input = input.as_object().cloned().unwrap_or_default();
    let key =
        ["command", "file_path", "url", "pattern"].into_iter().find(|key| input.contains_key(*key));
    input.insert(key.unwrap_or("new").into(), "rewritten".into());
    input
}

/// An answer of each sort to the event.
fn answers(event: &Event) -> Vec<(&'static str, Answer)> {
    let say = |verb, reason: &str| Answer {
        verb: Some(verb),
        reason: reason.into(),
        ..Answer::default()
    };
    let mut rewrite = Answer::default();
    match event.more.is_empty() {
        true => rewrite.input = Some(rewritten(&event.input)),
        false => rewrite.elements = vec![(0, rewritten(&event.input))],
    }
    let mut all = vec![
        ("silence", Answer::default()),
        ("allow", say(Verb::Allow, "Harmless. [user:a]")),
        ("ask", say(Verb::Ask, "Sure? [user:a]")),
        ("deny", say(Verb::Deny, "Not here. [user:a]")),
        ("halt", say(Verb::Halt, "Stop it all. [user:a]")),
        ("context", Answer { context: vec!["Use tabs.".into()], ..Answer::default() }),
        ("notice", Answer { notice: vec!["Told a human.".into()], ..Answer::default() }),
    ];
    if event.kind.is_gate() {
        all.push(("rewrite", rewrite));
    }
    if event.kind == Kind::PostToolUse {
        all.push(("replace", Answer { response: Some("withheld".into()), ..Answer::default() }));
    }
    all
}

#[test]
fn sx_03_each_payload_and_each_answer() {
    let mut wrong = Vec::new();
    for expected in others() {
        for (name, text) in payloads(expected.id()) {
            let place = format!("{}/{name}", expected.id());
            let (found, event) = parse(expected.id(), &text);
            let told_apart = !NOT_TOLD_APART.contains(&place.as_str());
            if told_apart && found.id() != expected.id() {
                wrong.push(format!("{place} is taken for {}", found.id()));
                continue;
            }
            let event = match told_apart {
                true => event,
                false => expected.parse(payload::parse(text.as_bytes()).expect("a payload"), None),
            };
            let mut shown = shown_event(&event);
            shown["answers"] = json!({});
            for (what, answer) in answers(&event) {
                shown["answers"][what] = shown_output(&expected.render(&event, &answer));
            }
            let golden = Path::new("tests/agents").join(format!("{place}.json"));
            if std::env::var_os("BLESS").is_some() {
                fs::create_dir_all(golden.parent().expect("a folder")).expect("made");
                fs::write(&golden, format!("{shown:#}\n")).expect("written");
            }
            let kept = fs::read(&golden).ok();
            let kept: Option<Value> = kept.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            if kept.as_ref() != Some(&shown) {
                wrong.push(format!("{place}: {shown:#}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

// ---- what is written of it ----

/// The clients whose real programs run in tests/e2e.
const RUN: &[&str] = &["claude", "codex", "gemini", "copilot", "qwen", "cline", "opencode"];

/// What a rule of tests/e2e/agents/rules comes to before or after a tool.
fn outcome(agent: &dyn Agent, kind: Kind, answer: &Answer) -> String {
    let Some(spec) = agent.event_spec(kind) else { return "–".into() };
    let told = settle_answer(spec, answer);
    let word = match (told.verb, &told.input, answer) {
        (Some(Verb::Deny | Verb::Halt), _, Answer { verb: Some(Verb::Deny), .. }) => "denied",
        (Some(Verb::Deny | Verb::Halt), ..) => "denied instead",
        (Some(Verb::Ask), ..) => "asked",
        (Some(Verb::Allow), ..) => "allowed",
        (_, Some(_), _) => "rewritten",
        (None, None, _) if !told.context.is_empty() => "told",
        (None, None, _) if spec.holds_context && !answer.context.is_empty() => {
            "told after the tool"
        }
        _ => "silence: its own permissions decide",
    };
    word.into()
}

#[test]
fn one_rule_file_in_every_client() {
    let say = |verb| Answer { verb: Some(verb), reason: "Why.".into(), ..Answer::default() };
    let input = json!({ "command": "ls" }).as_object().cloned();
    let rows = [
        ("a command is denied", Kind::PreToolUse, say(Verb::Deny)),
        ("a file is protected by effect", Kind::PreToolUse, say(Verb::Deny)),
        ("a command is asked about", Kind::PreToolUse, say(Verb::Ask)),
        ("a command is rewritten", Kind::PreToolUse, Answer { input, ..Answer::default() }),
        ("a call is allowed", Kind::PreToolUse, say(Verb::Allow)),
        (
            "the model is told, before the tool",
            Kind::PreToolUse,
            Answer { context: vec!["x".into()], ..Answer::default() },
        ),
        (
            "the model is told, after the tool",
            Kind::PostToolUse,
            Answer { context: vec!["x".into()], ..Answer::default() },
        ),
        ("a prompt is refused", Kind::UserPromptSubmit, say(Verb::Deny)),
        ("the end of a turn is refused", Kind::Stop, say(Verb::Deny)),
    ];
    let agents: Vec<&dyn Agent> = RUN.iter().map(|id| agent::by_id(id).expect(id)).collect();
    let mut text = String::from("| rule |");
    for agent in &agents {
        text.push_str(&format!(" {} |", agent.title()));
    }
    text.push_str(&format!("\n|---|{}\n", "---|".repeat(agents.len())));
    for (rule, kind, answer) in rows {
        text.push_str(&format!("| {rule} |"));
        for agent in &agents {
            text.push_str(&format!(" {} |", outcome(*agent, kind, &answer)));
        }
        text.push('\n');
    }
    common::made::check_part("docs/agents.md", "verdicts", &text);
}

/// Puts the command where the payload has one, and says in how many places. A key that holds a line is one that the
/// program itself takes for that.
fn put_command(value: &mut Value, command: &str) -> usize {
    let Value::Object(map) = value else {
        return match value {
            Value::Array(items) => items.iter_mut().map(|item| put_command(item, command)).sum(),
            _ => 0,
        };
    };
    let mut count = 0;
    for (key, value) in map.iter_mut().filter(|(key, _)| *key != "mcp_context") {
        match (key.as_str(), &value) {
            (key, Value::String(_)) if names_line(key) => *value = command.into(),
            ("commands", Value::Array(_)) => *value = json!(["ls", command]),
            ("commands", Value::String(_)) => *value = json!(["ls", command]).to_string().into(),
            ("toolArgs", Value::String(_)) => {
                *value = json!({ "command": command }).to_string().into()
            }
            _ => {
                count += put_command(value, command);
                continue;
            }
        }
        count += 1;
    }
    count
}

/// The verdict of the shipped rules on the call, and what the agent is told.
fn judged(agent: &str, payload: &Value) -> (Option<Verb>, Output) {
    let home = tempfile::tempdir().expect("a directory");
    let paths = Paths {
        home: common::nobody::HOME.into(),
        managed: PathBuf::from("/nowhere"),
        fleet: PathBuf::from("/nowhere"),
        config: home.path().join("config"),
        state: home.path().join("state"),
    };
    let (agent, event) = parse(agent, &payload.to_string());
    let mut place = hook::session_place(&event, &paths);
    let config = Config::load_for(&paths, &place, Some(event.kind));
    config.complete_place(&mut place);
    let world = JudgeContext {
        paths: &paths,
        stdin: &[],
        deadline: Instant::now() + std::time::Duration::from_secs(60),
        mode: Mode::Dry,
        paused: false,
        notifiers: &[],
    };
    let shown = event.clone();
    let situations = Situation::of_operations((agent, event), place);
    let (_, judgement) = judge::judge_operations(&situations, &config, &world);
    (judgement.answer.verb, agent.render(&shown, &judgement.answer))
}

#[test]
fn a_dangerous_command_is_stopped_in_every_agents_words() {
    for expected in others() {
        let mut stopped = 0;
        for (name, text) in payloads(expected.id()) {
            let place = format!("{}/{name}", expected.id());
            let mut payload: Value = serde_json::from_str(&text).expect("JSON");
            let (_, event) = parse(expected.id(), &text);
            if !event.kind.is_gate()
                || event.tool.starts_with("mcp__")
                || put_command(&mut payload, "rm -rf /") == 0
            {
                continue;
            }
            let (verb, told) = judged(expected.id(), &payload);
            assert!(verb.is_some_and(Verb::stops_call), "{place}: {verb:?}");
            assert!(told.status == 2 || !told.stdout.is_empty(), "{place}: nothing is said");
            put_command(&mut payload, "git status && npm test");
            assert_eq!(judged(expected.id(), &payload).0, None, "{place}");
            stopped += 1;
        }
        assert!(
            stopped > 0,
            "{}: no payload with a command that `put_command` finds",
            expected.id()
        );
    }
}

/// What only agents with fields of their own send beside their calls makes no other agent's call theirs.
#[test]
fn a_foreign_field_hides_no_call() {
    let call = json!({ "session_id": "s", "cwd": "/w", "hook_event_name": "PreToolUse", "tool_name": "Bash",
        "tool_input": { "command": "rm -rf /" } });
    for foreign in [
        json!({ "clineVersion": "3", "taskId": "x" }),
        json!({ "agent_action_name": "pre_run_command", "tool_info": { "command_line": "ls" } }),
        json!({ "agent_action_name": "post_run_command", "tool_info": { "command_line": "ls" } }),
        json!({ "sessionId": "x", "hookEventName": "PostToolUse" }),
        json!({ "sessionId": "x", "timestamp": 1, "toolName": "view", "toolArgs": "{}" }),
        json!({ "sessionId": "x", "hookName": "permissionRequest" }),
    ] {
        let mut payload = call.clone();
        payload.as_object_mut().unwrap().extend(foreign.as_object().unwrap().clone());
        for agent in ["claude", "droid", "qwen"] {
            let (verb, told) = judged(agent, &payload);
            assert!(verb.is_some_and(Verb::stops_call), "{agent}: {foreign}: {verb:?}");
            assert!(
                told.stdout.contains("hookSpecificOutput"),
                "{agent}: {foreign}: {}",
                told.stdout
            );
        }
    }
}

#[test]
fn no_call_changes_an_agents_settings() {
    let (home, project) =
        (PathBuf::from(common::nobody::HOME), PathBuf::from(common::nobody::project()));
    let mut files = 0;
    for agent in agent::AGENTS {
        let wiring = agent.wiring().expect("its settings");
        for place in wiring.files {
            let path = wiring.resolve(place, &home, &project, &project);
            let path = path.to_str().expect("text").replace('*', "any");
            for payload in [
                json!({ "tool_name": "Write", "tool_input": { "file_path": path, "content": "x" } }),
                json!({ "tool_name": "Bash", "tool_input": { "command": format!("rm '{path}'") } }),
            ] {
                let mut payload = payload;
                payload["hook_event_name"] = "PreToolUse".into();
                payload["cwd"] = common::nobody::project().into();
                let (verb, _) = judged("claude", &payload);
                let title = agent.title();
                assert_eq!(
                    verb,
                    Some(Verb::Deny),
                    "{title}: config/packs/self-protection.toml: {payload}"
                );
                files += 1;
            }
        }
        // Humans type into the terminal of an editor: what runs there is not an agent's for that.
        for program in wiring.programs.iter().filter(|name| !name.starts_with("code")) {
            let known = table::has_class(program, Class::Agent, &[]);
            assert!(known, "config/programs/classes.toml: `{program}` is no agent");
        }
    }
    assert!(files > 40, "{files}");
}

#[test]
fn no_payload_makes_an_agent_fail() {
    let values = [json!(null), json!(5), json!([]), json!({}), json!("x"), json!([[{}]])];
    for agent in agent::AGENTS {
        for (_, text) in payloads(match agent.id() {
            "claude" => "claude-handwritten",
            id => id,
        }) {
            let Ok(whole) = serde_json::from_str::<Map<String, Value>>(&text) else { continue };
            for (key, old) in &whole {
                for value in &values {
                    let mut payload = whole.clone();
                    payload.insert(key.clone(), value.clone());
                    try_payload(*agent, payload);
                    for inner in old.as_object().into_iter().flat_map(Map::keys) {
                        let mut payload = whole.clone();
                        payload[key][inner] = value.clone();
                        try_payload(*agent, payload);
                    }
                }
            }
        }
    }
}

/// Whatever it says, it is an event, and every answer to it is one object or nothing.
fn try_payload(agent: &dyn Agent, payload: Map<String, Value>) {
    let event = agent.parse(payload, None);
    for (what, answer) in answers(&event) {
        let out = agent.render(&event, &answer);
        let object = serde_json::from_str::<Map<String, Value>>(&out.stdout).is_ok();
        // Kiro takes text for the model as it is.
        let text = event.kind == Kind::PreCompact || agent.id() == "kiro";
        assert!(out.stdout.is_empty() || object || text, "{} {what}: {}", agent.id(), out.stdout);
        assert!(out.status == 0 || out.status == 2, "{} {what}", agent.id());
    }
}

/// Newer clients have events that nobody knows: who was registered says whose they are.
#[test]
fn an_event_of_an_unknown_name_is_its_whose_entry_ran() {
    for (name, flag, wanted) in [
        ("preToolUse", Some("claude"), "kiro"),
        ("foo", Some("claude"), "claude"),
        ("foo", None, "kiro"),
    ] {
        let payload = json!({ "hook_event_name": name, "tool_name": "x", "cwd": "/" });
        let agent = agent::detect_agent(payload.as_object().unwrap(), flag);
        assert_eq!(agent.id(), wanted, "{name} {flag:?}");
    }
}
