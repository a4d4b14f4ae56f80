//! What the checklist asks of agents beside Claude Code, row by row: payloads, and rules that speak of them.

use std::fs;
use std::io::Write as _;

use hookctl::agent;
use hookctl::event::{Event, Kind};
use hookctl::payload;
use serde_json::{Value, json};

mod home;

fn text_of(name: &str) -> String {
    fs::read_to_string(format!("tests/payloads/{name}.json")).unwrap_or_else(|_| panic!("{name}"))
}

fn event_of(name: &str) -> Event {
    let payload = payload::parse(text_of(name).as_bytes()).expect("a payload");
    let flag = name.starts_with("cline-fork").then_some("cline-fork");
    agent::detect_agent(&payload, flag).parse(payload, None)
}

/// Exit status and stdout of the hook on that payload under those rules.
fn hook(rules: &str, args: &[&str], payload: &str) -> (i32, Value) {
    let home = home::make(rules);
    let mut child = home::command(home.path(), &[&["hook"], args].concat()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let stdout = match output.stdout.is_empty() {
        true => Value::Null,
        false => serde_json::from_slice(&output.stdout).expect("one JSON object"),
    };
    (output.status.code().unwrap(), stdout)
}

#[test]
fn s3_04_a_task_has_claude_codes_base_fields() {
    let event = event_of("cline/PreToolUse-run_commands");
    assert_eq!(event.session, "1795183519904_pjcmt");
    assert_eq!(event.cwd, "/home/dev/project");
    assert_eq!(
        (event.kind, event.str_field("hook_event_name")),
        (Kind::PreToolUse, Some("PreToolUse"))
    );
}

#[test]
fn s3_03_s3_28_a_hooks_file_of_claude_codes_shape_serves_cline() {
    let deny = "[rule.a]\ncommand = \"npm publish\"\ndeny = \"not from here\"\n";
    let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/tmp",
                          "tool_name": "Bash", "tool_input": { "command": "npm publish" } });
    let (code, told) = hook(deny, &["--agent", "cline-fork"], &payload.to_string());
    assert_eq!((code, &told["approve"]), (0, &json!(false)), "{told}");
    assert!(told["message"].as_str().is_some_and(|text| text.contains("not from here")), "{told}");
    let allow = "[rule.a]\ncommand = \"npm publish\"\nallow = \"fine\"\n";
    let (_, told) = hook(
        &format!("{allow}[override.publish]\nenabled = false\n"),
        &["--agent", "cline-fork"],
        &payload.to_string(),
    );
    assert_eq!(told["approve"], json!(true), "{told}");
}

#[test]
fn s3_22_s3_28_a_call_of_cline_is_judged_and_answered_in_its_words() {
    let deny = "[rule.a]\ninput = { command = \"echo *\" }\ndeny = \"no echo\"\n";
    let (code, told) = hook(deny, &[], &text_of("cline/PreToolUse-run_commands"));
    assert_eq!((code, &told["cancel"]), (0, &json!(true)), "{told}");
    assert!(told["errorMessage"].as_str().is_some_and(|text| text.contains("no echo")), "{told}");
}

/// Claude Code and who blocks by it: 2; the agents that read JSON alone: 0.
#[test]
fn s3_32_exit_statuses_are_those_of_the_dialect() {
    let deny =
        "[rule.a]\neffect = \"execute\"\ndeny = \"no\"\n[rule.b]\ntool = \"Bash\"\ndeny = \"no\"\n";
    for (name, code) in [
        ("claude/PreToolUse-Bash", 0),
        ("cline/PreToolUse-run_commands", 0),
        ("cline-fork/PreToolUse-Bash.schema", 0),
        ("gemini/BeforeTool-run_shell_command", 0),
        ("windsurf/pre_run_command.schema", 2),
        ("kiro/preToolUse-execute_bash.schema", 2),
    ] {
        let args: &[&str] =
            if name.starts_with("cline-fork") { &["--agent", "cline-fork"] } else { &[] };
        let (got, told) = hook(deny, args, &text_of(name));
        assert_eq!(got, code, "{name}: {told}");
        assert_eq!(told.is_null(), code == 2, "{name}: {told}");
    }
}

#[test]
fn s3_33_tools_have_claude_codes_names_and_rules_on_these_hold() {
    for (name, tool) in [
        ("cline/PreToolUse-run_commands", "Bash"),
        ("cline/PreToolUse-read_files", "Read"),
        ("cline/PreToolUse-editor-create", "Write"),
        ("cline/PreToolUse-editor-edit", "Edit"),
        ("cline/PreToolUse-search_codebase", "Grep"),
        ("cline/PreToolUse-fetch_web_content.schema", "WebFetch"),
        ("cline/PreToolUse-write_to_file-legacy.schema", "Write"),
        ("cline/PreToolUse-replace_in_file-legacy.schema", "Edit"),
        ("cline/PreToolUse-execute_command-legacy.schema", "Bash"),
    ] {
        assert_eq!(event_of(name).tool, tool, "{name}");
        let deny = format!("[rule.a]\ntool = \"{tool}\"\ndeny = \"not this tool\"\n");
        let (_, told) = hook(&deny, &[], &text_of(name));
        assert_eq!(told["cancel"], json!(true), "{name}: {told}");
    }
}

#[test]
fn s3_34_s3_36_s3_37_s3_38_s3_40_events_of_a_task() {
    for (name, kind, field) in [
        ("cline/UserPromptSubmit.schema", Kind::UserPromptSubmit, None),
        ("cline/TaskStart", Kind::SessionStart, Some(("source", "startup"))),
        ("cline/TaskResume.schema", Kind::SessionStart, Some(("source", "resume"))),
        ("cline/TaskComplete", Kind::Stop, None),
        ("cline/TaskComplete-subagent.schema", Kind::SubagentStop, None),
    ] {
        let event = event_of(name);
        assert_eq!(event.kind, kind, "{name}");
        if let Some((key, value)) = field {
            assert_eq!(event.str_field(key), Some(value), "{name}");
        }
    }
    assert!(
        event_of("cline/UserPromptSubmit.schema").prompt().is_some_and(|text| !text.is_empty())
    );
    let mut compacts: Value = serde_json::from_str(&text_of("cline/TaskStart")).unwrap();
    compacts["hookName"] = "PreCompact".into();
    compacts.as_object_mut().unwrap().remove("taskStart");
    let payload = payload::parse(compacts.to_string().as_bytes()).unwrap();
    let event = agent::detect_agent(&payload, None).parse(payload, None);
    assert_eq!((event.agent, event.kind), ("cline", Kind::PreCompact));
}

/// Text for the model goes with a prompt that cannot be changed.
#[test]
fn s3_35_a_prompt_gets_a_context_where_it_cannot_be_changed() {
    let rule = "[rule.a]\non = \"UserPromptSubmit\"\ncontext = \"use tabs\"\n";
    let (_, told) = hook(rule, &[], &text_of("cline/UserPromptSubmit-vscode.schema"));
    assert_eq!(told["contextModification"], json!("use tabs"), "{told}");
    let (_, told) = hook(rule, &[], &text_of("gemini/BeforeAgent"));
    assert_eq!(told["hookSpecificOutput"]["additionalContext"], json!("use tabs"), "{told}");
}

#[test]
fn sx_16_gemini_opencode_and_droid_have_their_own_names_units_and_answers() {
    for (name, kind, own) in [
        ("gemini/BeforeTool-run_shell_command", Kind::PreToolUse, "BeforeTool"),
        ("gemini/AfterTool-run_shell_command", Kind::PostToolUse, "AfterTool"),
        ("gemini/BeforeAgent", Kind::UserPromptSubmit, "BeforeAgent"),
        ("gemini/AfterAgent", Kind::Stop, "AfterAgent"),
        ("gemini/PreCompress", Kind::PreCompact, "PreCompress"),
        ("opencode/PreToolUse-bash-shim", Kind::PreToolUse, "PreToolUse"),
        ("droid/PreToolUse-Execute.schema", Kind::PreToolUse, "PreToolUse"),
    ] {
        let event = event_of(name);
        assert_eq!((event.kind, event.name.as_str()), (kind, own), "{name}");
    }
    let deny = "[rule.a]\ntool = \"Bash\"\ndeny = \"no shell\"\n";
    let (_, gemini) = hook(deny, &[], &text_of("gemini/BeforeTool-run_shell_command"));
    assert_eq!(gemini["decision"], json!("deny"));
    let (_, opencode) = hook(deny, &[], &text_of("opencode/PreToolUse-bash-shim"));
    assert!(opencode.to_string().contains("no shell"), "{opencode}");
    let (_, droid) = hook(deny, &[], &text_of("droid/PreToolUse-Execute.schema"));
    assert_eq!(droid["hookSpecificOutput"]["permissionDecision"], json!("deny"));
    let unit = |id: &str| {
        let form = agent::by_id(id)?.wiring()?.files.first()?.form.entries()?;
        form.timeout.map(|(_, unit)| format!("{unit:?}"))
    };
    assert_eq!(unit("gemini").as_deref(), Some("Milliseconds"));
    assert_eq!(unit("droid").as_deref(), Some("Seconds"));
}

// ---- what hides behind something harmless ----

/// Is the call stopped, in whatever words?
fn stops((code, told): &(i32, Value)) -> bool {
    let text = told.to_string();
    let words = ["\"deny\"", "\"ask\"", "\"cancel\":true", "\"approve\":false"];
    *code == 2 || words.iter().any(|word| text.contains(word))
}

#[test]
fn nothing_beside_it_hides_what_a_call_does() {
    let cline = |input: Value| {
        json!({ "clineVersion": "", "hookName": "tool_call", "taskId": "t", "agent_id": "a",
                "workspaceRoots": ["/tmp"], "tool_call": { "id": "c", "name": "run_commands", "input": input } })
    };
    let opencode = |tool: &str, input: Value| {
        json!({ "agent": "opencode", "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/tmp",
                "tool_name": tool, "tool_input": input })
    };
    let copilot = |tool: &str, input: Value| json!({ "sessionId": "s", "timestamp": 1, "cwd": "/tmp", "toolName": tool, "toolArgs": input });
    let patch = "*** Begin Patch\n*** Update File: /etc/passwd\n@@\n+x\n*** End Patch\n";
    for (args, payload) in [
        // JSON that a shell runs all the same.
        (&[][..], cline(json!({ "commands": "{\"command\":\"ls\",\"x\":\"$(rm -rf /)\"}" }))),
        (&[], cline(json!({ "commands": "[\"ls\",{\"command\":\"pwd\",\"e\":\"`rm -rf /`\"}]" }))),
        (&[], cline(json!({ "commands": [{ "command": "rm", "args": "-rf /" }] }))),
        (
            &[],
            json!({ "event": "beforeTool", "tool": "shell", "input": { "command": "[\"$(rm -rf /)\"]" } }),
        ),
        // A key of Claude Code's beside the tool's own.
        (
            &[],
            opencode(
                "write",
                json!({ "filePath": "/etc/passwd", "file_path": "README.md", "content": "x" }),
            ),
        ),
        (
            &[],
            opencode(
                "edit",
                json!({ "file_path": "README.md", "filePath": "/etc/passwd", "oldString": "a", "newString": "b" }),
            ),
        ),
        (
            &[],
            json!({ "hook_event_name": "preToolUse", "cwd": "/tmp", "tool_name": "fs_read", "tool_input":
              { "operations": [{ "mode": "Line", "path": "/root/.ssh/id_rsa", "image_paths": ["a.png"] }] } }),
        ),
        // Patches in other fields, and deeper.
        (&[], copilot("edit", json!({ "path": "ok", "input": "x", "patch": patch }))),
        (&[], copilot("apply_patch", json!({ "path": "ok", "patchText": patch }))),
        (
            &[],
            json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/tmp", "tool_name": "ApplyPatch",
              "transcript_path": "/home/x/.factory/sessions/a.jsonl", "tool_input": { "input": [patch], "x": "*** Begin Patch\n*** Add File: ok\n+x\n*** End Patch\n" } }),
        ),
        // A flag that cannot be right.
        (
            &["--agent", "cline"],
            json!({ "session_id": "s", "cwd": "/tmp", "hook_event_name": "PreToolUse", "tool_name": "Bash",
              "tool_input": { "command": "rm -rf /" }, "permission_mode": "default" }),
        ),
        // More than is judged one by one.
        (&[], cline(json!({ "commands": vec!["ls"; 9_000] }))),
    ] {
        let text = payload.to_string();
        let told = hook("", args, &text);
        assert!(stops(&told), "{} {args:?}: {told:?}", &text[..text.len().min(300)]);
    }
}

/// The fields that can be made out tell whose form it is, whatever wired the hook.
#[test]
fn what_cannot_be_read_is_answered_in_its_agents_form() {
    let deep = format!("{}{}", "[".repeat(140), "]".repeat(140));
    let cursor = format!(
        r#"{{"cursor_version":"2.0","hook_event_name":"preToolUse","tool_name":"Shell","tool_input":{{"command":"rm","deep":{deep}}}}}"#
    );
    let (code, told) = hook("", &["--agent", "claude", "--event", "PreToolUse"], &cursor);
    assert_eq!((code, &told["permission"]), (0, &json!("deny")), "{told}");
    let cline = format!(
        r#"{{"clineVersion":"","hookName":"tool_call","taskId":"t","tool_call":{{"name":"run_commands","deep":{deep}}}}}"#
    );
    let (code, told) = hook("", &["--agent", "cline"], &cline);
    assert_eq!((code, &told["cancel"]), (0, &json!(true)), "{told}");
}
