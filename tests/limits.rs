//! Hostile rule files and hostile calls: an answer within the budget, whatever they hold.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

mod home;

/// What a slow machine and a build without optimisation may take; without a budget it is minutes.
const LIMIT: Duration = Duration::from_secs(20);

/// The verdict and what is told, of a call beside these files.
fn judge(user: &str, project: &str, tool: &str, input: Value) -> (String, String) {
    let home = home::make(user);
    let dir = home.path().join("p");
    fs::create_dir_all(dir.join(".git")).unwrap();
    fs::write(dir.join(".hookctl.toml"), project).unwrap();
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": dir, "tool_name": tool, "tool_input": input,
    });
    let start = Instant::now();
    let mut child = home::command(home.path(), &["hook"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < LIMIT, "{:?}: {project:.80} {payload:.80}", start.elapsed());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 2)),
        "{:?} {project:.80} {payload:.80}",
        output.status
    );
    let answer: Value =
        if text.is_empty() { json!({}) } else { serde_json::from_str(&text).unwrap() };
    let verdict = answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str);
    (verdict.unwrap_or("-").to_string(), text)
}

fn bash(user: &str, project: &str, command: &str) -> (String, String) {
    judge(user, project, "Bash", json!({ "command": command }))
}

#[test]
fn a_few_bytes_of_a_repository_hang_nothing() {
    let words = "a ".repeat(200);
    let deep = "/a".repeat(60);
    for (rule, call) in [
        ("command = 'echo ** a ** a ** a ** a ** a ** a ** a ** a ** z'", format!("echo {words}")),
        ("path = '/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/z'", format!("cat {deep}")),
        ("path = '**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/z'", format!("cat {deep}")),
        ("path = '/x'", format!("cat {}", "**/".repeat(6000))),
        ("path = '/x'", format!("cat {}", "*/".repeat(9000))),
    ] {
        let (verdict, text) = bash("", &format!("[rule.x]\n{rule}\ndeny = 'no'\n"), &call);
        assert_ne!(verdict, "deny", "{rule}: {text}");
    }
}

#[test]
fn too_much_in_a_file_is_a_fault_and_the_rest_holds() {
    let (_, text) = bash(
        "",
        &format!("[rule.x]\ncommand = 'echo {}'\ndeny = 'no'\n", "** ".repeat(50_000)),
        "echo a",
    );
    assert!(text.contains(".hookctl.toml:2:11") && text.contains("more than 64 words"), "{text}");
    let many: String =
        (0..600).map(|i| format!("[rule.x{i}]\ncommand = 'p{i}'\ndeny = 'no'\n")).collect();
    let (verdict, text) = bash("", &many, "p600");
    assert!(verdict == "-" && text.contains(":1501:") && text.contains("too-many"), "{text}");
    assert_eq!(bash("", &many, "p499").0, "deny", "what stands before it holds");
    assert_eq!(bash("", &many, "p500").0, "-");
    assert!(
        bash("", &format!("{many}#{}", "x".repeat(300_000)), "p1")
            .1
            .contains("larger than 256 KiB")
    );
    let list = format!("[rule.x]\ncommand = [{}]\ndeny = 'no'\n", "'p',".repeat(1001));
    assert!(bash("", &list, "p").1.contains("too-many"));
    // In an own file it asks, and its sound rules hold.
    let (verdict, text) = bash(&format!("{list}[rule.y]\ncommand = 'q'\ndeny = 'no'\n"), "", "ls");
    assert!(verdict == "ask" && text.contains("too-many"), "{text}");
    assert_eq!(bash(&format!("{list}[rule.y]\ncommand = 'q'\ndeny = 'no'\n"), "", "q").0, "deny");
}

#[test]
fn a_spent_budget_asks_and_takes_nothing_from_others() {
    let hard: String = (0..400)
        .map(|i| format!("[rule.x{i}]\npath = '**/*a*/**/*a*/**/*{i}b'\ndeny = 'no'\n"))
        .collect();
    let call: String = (0..200).map(|i| format!(" {}/{i}", "/aaaaaaaa".repeat(28))).collect();
    let user =
        "[rule.own]\ncommand = 'rm'\ndeny = 'own'\n[rule.all]\neffect = 'read'\nallow = 'x'\n";
    let (verdict, text) = bash(user, &hard, &format!("cat{call}"));
    assert!(verdict == "ask" && text.contains("to judge than one call may"), "{text}");
    let (verdict, text) = bash(user, &hard, &format!("rm{call}"));
    assert!(verdict == "deny" && text.contains("own"), "{text}");
    // A search that could take minutes.
    let input = json!({ "file_path": "/tmp/x", "content": "a".repeat(8 << 20) });
    let rule = "[rule.x]\ninput.content = { regex = 'a*a*a*a*a*a*[bc]' }\ndeny = 'no'\n";
    assert_eq!(judge("", rule, "Write", input).0, "ask");
    // A reason that doubles sixty times.
    let rule =
        format!("[rule.x]\ncommand = 'echo'\ndeny = '{{command{}}}'\n", "|s/./$0$0/g".repeat(60));
    assert_eq!(bash("", &rule, "echo a").0, "deny");
}

#[test]
fn what_overflowed_the_parsers_stack_is_asked_about() {
    for one in ["time ", "coproc ", "time a|", "f()\n", "function f\n"] {
        assert_eq!(bash("", "", &format!("{}a", one.repeat(3000))).0, "ask", "{one:?}");
    }
    bash("", "", &"(a)".repeat(20_000));
    assert_eq!(bash("", "", "time ls").0, "-");
}
