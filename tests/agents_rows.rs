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

/// A patch is judged file by file; the model hears what is said of each, and what is said of all of them once.
#[test]
fn what_is_said_of_each_file_of_a_patch_is_told_once() {
    let rules = "
[rule.each]
effect = \"write\"
context = \"write plainly\"
[rule.docs]
effect = \"write\"
path = \"*.md\"
context = \"wrap the lines\"
[rule.code]
effect = \"write\"
path = \"*.rs\"
context = \"comment the code\"
notify = \"code was written\"
";
    let mut payload: Value =
        serde_json::from_str(&text_of("codex/PreToolUse-apply_patch")).expect("JSON");
    let add = |name: &str| format!("*** Add File: {name}\n+x\n");
    let files = ["a.md", "b.rs", "c.txt"].map(add).concat();
    payload["tool_input"]["command"] = format!("*** Begin Patch\n{files}*** End Patch\n").into();
    let (code, told) = hook(rules, &[], &payload.to_string());
    let context = told["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default();
    let mut lines: Vec<&str> = context.lines().collect();
    lines.sort_unstable();
    assert_eq!(
        (code, lines),
        (0, vec!["comment the code", "wrap the lines", "write plainly"]),
        "{told}"
    );
    assert_eq!(told["systemMessage"], "code was written [user:code]", "{told}");
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

/// There and back: a call of Cline's is a neutral event, and what a rule makes of that is a call of Cline's.
#[test]
fn s3_22_a_call_of_cline_becomes_an_event_and_an_event_a_call_of_cline() {
    let event = event_of("cline/PreToolUse-editor-create");
    assert_eq!((event.kind, event.tool.as_str()), (Kind::PreToolUse, "Write"));
    assert_eq!(event.file_path(), Some("/home/dev/project/new.txt"));
    assert!(event.input.get("content").is_some() && event.input.get("new_text").is_none());
    let rule = "[rule.a]\non = \"PreToolUse\"\ntool = \"Write\"\nrewrite = { file_path = \"/home/dev/project/b.txt\" }\n";
    let (_, told) = hook(rule, &[], &text_of("cline/PreToolUse-editor-create"));
    let own: Value = serde_json::from_str(&text_of("cline/PreToolUse-editor-create")).unwrap();
    let mut wanted = own["tool_call"]["input"].clone();
    wanted["path"] = "/home/dev/project/b.txt".into();
    wanted.as_object_mut().unwrap().remove("command");
    let mut input = told["overrideInput"].clone();
    input.as_object_mut().unwrap_or(&mut Default::default()).remove("command");
    assert_eq!(input, wanted, "{told}");
}

/// The value at that place.
fn at<'v>(told: &'v Value, place: &str) -> &'v Value {
    told.pointer(place).unwrap_or(&Value::Null)
}

/// After a tool and with a prompt, in each agent's own field; who has none for it says nothing.
#[test]
fn s3_29_text_for_the_model_goes_into_each_agents_own_field() {
    const SPECIFIC: &str = "/hookSpecificOutput/additionalContext";
    let rule = "[rule.a]\non = [\"PostToolUse\", \"UserPromptSubmit\"]\ncontext = \"use tabs\"\n";
    for (name, place) in [
        ("claude/PostToolUse-Bash", SPECIFIC),
        ("cline/PostToolUse-run_commands", "/context"),
        ("cline/UserPromptSubmit-vscode.schema", "/contextModification"),
        ("cline-fork/PostToolUse-Bash.schema", "/additionalContext"),
        ("codex/PostToolUse-Bash", SPECIFIC),
        ("codex/UserPromptSubmit", SPECIFIC),
        ("copilot/PostToolUse-Bash-pascal", SPECIFIC),
        ("copilot/PostToolUse-Bash-pascal", "/additionalContext"),
        ("copilot/postToolUse-bash-camel", "/additionalContext"),
        ("cursor/postToolUse-Shell.schema", "/additional_context"),
        ("cursor/beforeSubmitPrompt.schema", "/additional_context"),
        ("droid/PostToolUse-Execute.schema", SPECIFIC),
        ("gemini/AfterTool-run_shell_command", SPECIFIC),
        ("gemini/BeforeAgent", SPECIFIC),
        ("opencode/PostToolUse-bash-shim", "/additionalContext"),
        ("opencode/UserPromptSubmit-shim.schema", "/additionalContext"),
        ("qwen/PostToolUse-run_shell_command", SPECIFIC),
    ] {
        let args: &[&str] =
            if name.starts_with("cline-fork") { &["--agent", "cline-fork"] } else { &[] };
        let (code, told) = hook(rule, args, &text_of(name));
        assert_eq!((code, at(&told, place)), (0, &json!("use tabs")), "{name}: {told}");
    }
    for name in [
        "windsurf/post_run_command.schema",
        "vscode/UserPromptSubmit.schema",
        "cline/UserPromptSubmit.schema",
    ] {
        assert_eq!(hook(rule, &[], &text_of(name)), (0, Value::Null), "{name}");
    }
}

/// The whole input by the agent's own key and keys; who cannot change it refuses.
#[test]
fn s3_30_a_changed_input_goes_into_each_agents_own_key() {
    let rule = "[rule.a]\non = \"PreToolUse\"\ntool = \"Bash\"\nrewrite = { command = \"true\" }\nallow = \"so\"\n\
                [rule.b]\non = \"PreToolUse\"\ntool = \"Write\"\nrewrite = { content = \"true\" }\nallow = \"so\"\n";
    const SPECIFIC: &str = "/hookSpecificOutput/updatedInput";
    for (name, place, key) in [
        ("claude/PreToolUse-Bash", SPECIFIC, "/command"),
        ("claude/PreToolUse-Write", SPECIFIC, "/content"),
        ("cline/PreToolUse-run_commands", "/overrideInput", "/commands/0"),
        ("cline/PreToolUse-editor-create", "/overrideInput", "/new_text"),
        ("cline-fork/PreToolUse-Write.schema", "/modifiedInput", "/content"),
        ("codex/PreToolUse-Bash", SPECIFIC, "/command"),
        ("copilot/preToolUse-bash-camel", "/modifiedArgs", "/command"),
        ("copilot/PreToolUse-Write-pascal", "/modifiedArgs", "/file_text"),
        ("copilot/PreToolUse-Write-pascal", SPECIFIC, "/file_text"),
        ("cursor/preToolUse-Shell.schema", "/updated_input", "/command"),
        ("gemini/BeforeTool-run_shell_command", "/hookSpecificOutput/tool_input", "/command"),
        ("gemini/BeforeTool-write_file", "/hookSpecificOutput/tool_input", "/content"),
        ("opencode/PreToolUse-bash-shim", "/updatedInput", "/command"),
        ("opencode/PreToolUse-write.schema", "/updatedInput", "/content"),
        ("vscode/PreToolUse-write.schema", SPECIFIC, "/content"),
    ] {
        let args: &[&str] =
            if name.starts_with("cline-fork") { &["--agent", "cline-fork"] } else { &[] };
        let (code, told) = hook(rule, args, &text_of(name));
        assert_eq!((code, at(at(&told, place), key)), (0, &json!("true")), "{name}: {told}");
    }
    for name in [
        "cline/PreToolUse-write_to_file-legacy.schema",
        "droid/PreToolUse-Execute.schema",
        "kiro/preToolUse-execute_bash.schema",
        "qwen/PreToolUse-run_shell_command",
        "windsurf/pre_run_command.schema",
    ] {
        let answer = hook(rule, &[], &text_of(name));
        assert!(stops(&answer), "{name}: {answer:?}");
    }
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
        ("codex/PreToolUse-Bash", 0),
        ("copilot/preToolUse-bash-camel", 0),
        ("cursor/preToolUse-Shell.schema", 0),
        ("droid/PreToolUse-Execute.schema", 0),
        ("opencode/PreToolUse-bash-shim", 0),
        ("qwen/PreToolUse-run_shell_command", 0),
        ("windsurf/pre_run_command.schema", 2),
        ("kiro/preToolUse-execute_bash.schema", 2),
    ] {
        let args: &[&str] =
            if name.starts_with("cline-fork") { &["--agent", "cline-fork"] } else { &[] };
        let (got, told) = hook(deny, args, &text_of(name));
        assert_eq!(got, code, "{name}: {told}");
        assert_eq!(told.is_null(), code == 2, "{name}: {told}");
        // What is refused is refused in its words, whatever the status.
        assert!(code == 2 || told.to_string().contains("no [user:"), "{name}: {told}");
        // And where nothing is, nothing is said, which no agent takes for a failure.
        let (code, told) = hook("", args, &text_of(name));
        let silent = told.is_null() || told == json!({}) || name.starts_with("cline-fork");
        assert!(code == 0 && silent, "{name}: {code} {told}");
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
        ("cline/PreToolUse-list_files-legacy.schema", "Glob"),
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

/// The seed's table of seven: from Cline's names, and from Claude Code's, which the fork's hooks have.
#[test]
fn s3_33_the_seven_tools_of_the_table_both_ways() {
    for (own, tool) in [
        ("read_file", "Read"),
        ("write_to_file", "Write"),
        ("replace_in_file", "Edit"),
        ("execute_command", "Bash"),
        ("search_files", "Grep"),
        ("list_files", "Glob"),
        ("web_fetch", "WebFetch"),
    ] {
        let cline = json!({ "clineVersion": "3", "hookName": "PreToolUse", "taskId": "t", "workspaceRoots": ["/tmp"],
            "preToolUse": { "toolName": own, "parameters": { "recursive": "true" } } });
        let fork = |name: &str| json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": "/tmp", "tool_name": name, "tool_input": { "recursive": true } });
        let parsed = |payload: &Value, flag: Option<&str>| {
            let payload = payload.as_object().unwrap().clone();
            agent::detect_agent(&payload, flag).parse(payload, None).tool
        };
        assert_eq!(parsed(&cline, None), tool, "{own}");
        assert_eq!(parsed(&fork(tool), Some("cline-fork")), tool, "{own}");
        let deny = format!("[rule.a]\ntool = \"{tool}\"\ndeny = \"not this tool\"\n");
        for (args, payload) in [(&[][..], &cline), (&["--agent", "cline-fork"], &fork(tool))] {
            let (_, told) = hook(&deny, args, &payload.to_string());
            assert!(told.to_string().contains("not this tool [user:a]"), "{own}: {told}");
        }
    }
}

/// Text for the model goes with a prompt that cannot be changed.
#[test]
fn s3_35_a_prompt_gets_a_context_where_it_cannot_be_changed() {
    let rule = "[rule.a]\non = \"UserPromptSubmit\"\ncontext = \"use tabs\"\n";
    let (_, told) = hook(rule, &[], &text_of("cline/UserPromptSubmit-vscode.schema"));
    assert_eq!(told["contextModification"], json!("use tabs"), "{told}");
    let (_, told) = hook(rule, &[], &text_of("gemini/BeforeAgent"));
    assert_eq!(told["hookSpecificOutput"]["additionalContext"], json!("use tabs"), "{told}");
    // A rule that changes it is heard there too, and refuses nothing where nobody can be told.
    let rule = "[rule.a]\non = \"UserPromptSubmit\"\nrewrite = { prompt = \"do more\" }\n";
    for (name, place) in [
        ("claude/UserPromptSubmit", "/hookSpecificOutput/additionalContext"),
        ("cline/UserPromptSubmit-vscode.schema", "/contextModification"),
        ("codex/UserPromptSubmit", "/hookSpecificOutput/additionalContext"),
        ("copilot/userPromptSubmitted-camel", "/additionalContext"),
        ("cursor/beforeSubmitPrompt.schema", "/additional_context"),
        ("gemini/BeforeAgent", "/hookSpecificOutput/additionalContext"),
        ("opencode/UserPromptSubmit-shim.schema", "/additionalContext"),
        ("qwen/UserPromptSubmit", "/hookSpecificOutput/additionalContext"),
    ] {
        let (code, told) = hook(rule, &[], &text_of(name));
        assert_eq!(
            (code, at(&told, place)),
            (0, &json!("Modified prompt: do more")),
            "{name}: {told}"
        );
    }
    for name in ["windsurf/pre_user_prompt.schema", "vscode/UserPromptSubmit.schema"] {
        assert_eq!(hook(rule, &[], &text_of(name)), (0, Value::Null), "{name}");
    }
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
