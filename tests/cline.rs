//! Cline's refusals: one that ends the run, and one that does not.

use std::fs;
use std::io::Write as _;

use serde_json::{Value, json};

mod home;

fn call(tool: &str, input: Value) -> Value {
    json!({
        "clineVersion": "",
        "taskId": "conv_1",
        "hookName": "tool_call",
        "agent_id": "agent_1",
        "parent_agent_id": null,
        "workspaceRoots": ["/"],
        "tool_call": { "id": "call_0", "name": tool, "input": input },
    })
}

fn answer(home: &tempfile::TempDir, payload: &Value) -> Value {
    let mut child = home::command(home.path(), &["hook", "--agent", "cline"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

const DENY_ALL: &str =
    "[rule.no]\non = [\"PreToolUse\", \"PostToolUse\"]\ntool = \"*\"\ndeny = \"Not here.\"\n";

#[test]
fn a_soft_deny_leaves_the_run_going_where_that_stops_the_call() {
    let plain = home::make(DENY_ALL);
    let soft = home::make(&format!("soft_deny = true\n{DENY_ALL}"));
    let shell = call("run_commands", json!({ "commands": ["ls"] }));
    let hard = json!({ "cancel": true, "errorMessage": "Not here. [user:no]" });
    assert_eq!(answer(&plain, &shell), hard);
    let wanted = json!({ "overrideInput": {}, "context": "Denied: Not here. [user:no]" });
    assert_eq!(answer(&soft, &shell), wanted);
    assert_eq!(answer(&soft, &call("editor", json!({ "path": "a", "new_text": "x" }))), wanted);
    // These take an empty input, or may.
    for tool in ["my-echo__say_it", "read_files", "another"] {
        assert_eq!(answer(&soft, &call(tool, json!({ "text": "x" }))), hard, "{tool}");
    }
    // VS Code has no other input to give.
    let mut vscode = shell.clone();
    for key in ["agent_id", "parent_agent_id", "tool_call"] {
        vscode.as_object_mut().unwrap().remove(key);
    }
    vscode["hookName"] = "PreToolUse".into();
    vscode["preToolUse"] =
        json!({ "toolName": "run_commands", "parameters": { "commands": "[\"ls\"]" } });
    assert_eq!(answer(&soft, &vscode), hard);
    // What has happened is told.
    let mut after = shell;
    after["hookName"] = "tool_result".into();
    after["tool_result"] = after["tool_call"].take();
    after["tool_result"]["output"] = json!([]);
    assert_eq!(answer(&soft, &after), json!({ "context": "Not here. [user:no]" }));
}

#[test]
fn a_soft_deny_is_silent_where_no_rule_speaks_and_ends_the_run_where_one_says_so() {
    let home = home::make("soft_deny = true\n[rule.end]\ncommand = \"ls\"\nhalt = \"Enough.\"\n");
    let shell = |line: &str| call("run_commands", json!({ "commands": [line] }));
    assert_eq!(answer(&home, &shell("pwd")), Value::Null);
    assert_eq!(answer(&home, &shell("ls"))["cancel"], true);
}

#[test]
fn a_project_cannot_make_refusals_soft() {
    let home = home::make(DENY_ALL);
    let project = home.path().join("project");
    fs::write(project.join(".hookctl.toml"), "soft_deny = true\n").unwrap();
    let mut payload = call("run_commands", json!({ "commands": ["ls"] }));
    payload["workspaceRoots"] = json!([project]);
    assert_eq!(answer(&home, &payload)["cancel"], true);
}
