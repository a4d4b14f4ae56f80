//! `hookctl install --managed`: what is written for a whole machine, below a directory of the test's own.

#![cfg(all(unix, not(target_os = "macos")))]

mod cli;

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use cli::World;
use serde_json::Value;

const FILES: &[&str] = &[
    "etc/claude-code/managed-settings.d/50-hookctl.json",
    "etc/codex/requirements.toml",
    "etc/gemini-cli/settings.json",
    "etc/cursor/hooks.json",
];

fn machine() -> (World, PathBuf, String) {
    let world = World::new();
    let root = world.home().join("machine");
    fs::create_dir(&root).unwrap();
    let text = root.to_str().unwrap().to_string();
    (world, root, text)
}

/// All but what is said of where this program lies.
fn warnings(err: &str) -> String {
    err.lines().filter(|line| !line.contains("warning: here ")).collect()
}

fn all_below(dir: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).into_iter().flatten().flatten() {
        match entry.path().is_dir() {
            true => found.extend(all_below(&entry.path())),
            false => found.push(entry.path()),
        }
    }
    found
}

#[test]
fn each_agent_has_entries_for_every_user() {
    let (world, root, text) = machine();
    let install = ["install", "--managed", "--root", &text];
    let done = world.run(&install);
    assert_eq!((done.code, warnings(&done.err)), (0, String::new()), "{}", done.out);
    for file in FILES {
        let path = root.join(file);
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{file}: {error}"));
        assert!(
            text.contains("hook") && !text.contains("--state") && !text.contains("--config"),
            "{text}"
        );
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o444, 0o444, "{file}");
        match file.ends_with("json") {
            true => {
                let value = serde_json::from_str::<Value>(&text).unwrap();
                let switch = value.get("hooksConfig").map(|switch| &switch["enabled"]);
                assert_eq!(switch, file.contains("gemini").then_some(&true.into()), "{file}");
            }
            false => {
                let table: toml::Table = text.parse().unwrap();
                // A user's own file may switch hooks off, but not against this.
                assert_eq!(table["features"]["hooks"].as_bool(), Some(true));
                let entry = &table["hooks"]["PreToolUse"][0]["hooks"][0];
                assert_eq!(entry["type"].as_str(), Some("command"));
                let command = entry["command"].as_str().unwrap();
                assert!(command.contains("hook --agent codex --event PreToolUse"), "{command}");
                assert!(command.starts_with(table["hooks"]["managed_dir"].as_str().unwrap()));
            }
        }
    }
    assert!(!world.home().join(".claude").exists(), "nothing of a user's");
    // Again is nothing new, and all that goes is ours.
    let again = world.run(&install);
    assert!(again.code == 0 && !again.out.contains("written"), "{}", again.out);
    // What is shown first is what is done then.
    let shown = world.run(&["uninstall", "--managed", "--root", &text, "--dry-run"]);
    assert_eq!(shown.out.matches("+++ /dev/null").count(), FILES.len(), "{}", shown.out);
    let gone = world.run(&["uninstall", "--managed", "--root", &text]);
    assert_eq!((gone.code, gone.err.as_str()), (0, ""), "{}", gone.out);
    assert_eq!(gone.out.matches("removed").count(), FILES.len(), "{}", gone.out);
    // The directories that were made for them as well.
    assert!(!root.join("etc").exists(), "{:?}", all_below(&root.join("etc")));
}

#[test]
fn what_stands_there_stays() {
    let (world, root, text) = machine();
    let requirements = root.join("etc/codex/requirements.toml");
    let before = "allow_managed_hooks_only = true\n\n[features]\nhooks = false";
    world.write(&requirements, before);
    world.write(&root.join("etc/gemini-cli/settings.json"), "{\n  // ours\n  \"x\": 1\n}\n");
    assert_eq!(world.run(&["install", "--managed", "--root", &text]).code, 0);
    let now = fs::read_to_string(&requirements).unwrap();
    assert!(now.starts_with(before) && now.contains("[[hooks.PreToolUse]]"), "{now}");
    let gemini = fs::read_to_string(root.join("etc/gemini-cli/settings.json")).unwrap();
    assert!(gemini.contains("// ours") && gemini.contains("BeforeTool"), "{gemini}");
    assert_eq!(world.run(&["uninstall", "--managed", "--root", &text]).code, 0);
    assert_eq!(fs::read_to_string(&requirements).unwrap().trim_end(), before);
    let gemini = fs::read_to_string(root.join("etc/gemini-cli/settings.json")).unwrap();
    assert_eq!(gemini, "{\n  // ours\n  \"x\": 1\n}\n");
    // Hooks of another's make one file of two tables: it is left alone, and the others are written.
    world.write(&requirements, "[hooks]\nmanaged_dir = \"/x\"\n");
    let done = world.run(&["install", "--managed", "--root", &text]);
    assert!(done.code == 2 && done.err.contains("requirements.toml"), "{}", done.err);
    assert_eq!(fs::read_to_string(&requirements).unwrap(), "[hooks]\nmanaged_dir = \"/x\"\n");
    assert!(root.join(FILES[0]).exists());
}

#[test]
fn nothing_is_written_where_it_is_only_shown_or_asked_wrongly() {
    let (world, root, text) = machine();
    let shown = world.run(&["install", "--managed", "--root", &text, "--dry-run"]);
    assert!(shown.code == 0 && shown.out.contains("+++"), "{}", shown.out);
    assert!(all_below(&root).is_empty());
    let odd = world.run(&["install", "--managed", "--root", &text, "--agent", "cline"]);
    assert!(odd.code == 2 && odd.err.contains("claude, codex, gemini, cursor"), "{}", odd.err);
    assert_eq!(world.run(&["install", "--root", &text]).code, 2);
    let one = world.run(&["install", "--managed", "--root", &text, "--agent", "cursor"]);
    assert_eq!(one.code, 0, "{}", one.err);
    assert_eq!(all_below(&root.join("etc")), [root.join(FILES[3])]);
}

#[test]
fn what_an_administrator_said_of_hooks_stays_theirs() {
    let (world, root, text) = machine();
    let gemini = root.join("etc/gemini-cli/settings.json");
    let own = "{\"hooksConfig\": {\"enabled\": true}, \"a\": 1}\n";
    world.write(&gemini, own);
    for command in ["install", "uninstall"] {
        let done = world.run(&[command, "--managed", "--root", &text, "--agent", "gemini"]);
        assert_eq!((done.code, done.err.contains("hooksConfig")), (0, false), "{}", done.err);
    }
    assert_eq!(fs::read_to_string(&gemini).unwrap(), own);
    // Where users can switch hooks off all the same, that is said.
    for (weak, file, agent) in [
        ("{\"hooksConfig\": {\"enabled\": false}}\n", &gemini, "gemini"),
        ("{\"hooksConfig\": {\"enabled\": true, \"disabled\": [\"x\"]}}\n", &gemini, "gemini"),
        ("[features]\nhooks = false\n", &root.join("etc/codex/requirements.toml"), "codex"),
        ("[features]\nx = 1\n", &root.join("etc/codex/requirements.toml"), "codex"),
    ] {
        world.write(file, weak);
        let done = world.run(&["install", "--managed", "--root", &text, "--agent", agent]);
        let told = done.err.contains("hooksConfig") || done.err.contains("hooks = true");
        assert!(done.code == 0 && told, "{weak}: {}", done.err);
        world.run(&["uninstall", "--managed", "--root", &text, "--agent", agent]);
        assert_eq!(fs::read_to_string(file).unwrap(), weak);
    }
}

#[test]
fn requirements_come_back_byte_for_byte() {
    let (world, root, text) = machine();
    let file = root.join("etc/codex/requirements.toml");
    let run = |command| world.run(&[command, "--managed", "--root", &text, "--agent", "codex"]);
    for before in ["a = 1", "a = 1\n", "a = 1\n\n", "\n", "# x\r\na = 1\r\n"] {
        world.write(&file, before);
        for _ in 0..2 {
            assert_eq!(run("install").code, 0);
        }
        assert_eq!(run("uninstall").code, 0);
        assert_eq!(fs::read_to_string(&file).unwrap(), before, "{before:?}");
        // And what was added behind ours stays as well.
        assert_eq!(run("install").code, 0);
        let more = "\n\n[x]\ny = 1\n";
        fs::write(&file, fs::read_to_string(&file).unwrap() + more).unwrap();
        assert_eq!(run("uninstall").code, 0);
        assert_eq!(fs::read_to_string(&file).unwrap(), format!("{before}{more}"), "{before:?}");
    }
    // Of half of ours nobody knows where it ends.
    world.write(&file, "");
    assert_eq!(run("install").code, 0);
    let whole = fs::read_to_string(&file).unwrap();
    let half = whole.replace("(end)", "(e)");
    world.write(&file, &half);
    for command in ["install", "uninstall"] {
        let done = run(command);
        assert!(done.code == 2 && done.err.contains("one is gone"), "{}", done.err);
    }
    assert_eq!(fs::read_to_string(&file).unwrap(), half);
}

#[test]
fn whatever_the_mask_all_users_can_read_it() {
    let (world, root, text) = machine();
    let program = env!("CARGO_BIN_EXE_hookctl");
    let line = format!("umask 077; exec {program} install --managed --root {text} --agent claude");
    let mut command = std::process::Command::new("sh");
    let done = command.args(["-c", &line]).env("HOME", world.home()).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let file = root.join(FILES[0]);
    for path in file.ancestors().take_while(|path| *path != root) {
        let mode = fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode & 0o444, 0o444, "{}: {mode:o}", path.display());
    }
    // What was there keeps its mode, and what keeps it from others or leaves it to them is told.
    let gemini = root.join("etc/gemini-cli/settings.json");
    world.write(&gemini, "{}\n");
    fs::set_permissions(&gemini, fs::Permissions::from_mode(0o600)).unwrap();
    for command in ["install", "uninstall"] {
        world.run(&[command, "--managed", "--root", &text, "--agent", "gemini"]);
        assert_eq!(fs::metadata(&gemini).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn what_does_not_hold_for_every_user_is_told() {
    let (world, root, text) = machine();
    let run = |agent| world.run(&["install", "--managed", "--root", &text, "--agent", agent]);
    let mode =
        |path: &Path, mode| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    let gemini = root.join("etc/gemini-cli/settings.json");
    world.write(&gemini, "{}\n");
    mode(&gemini, 0o644);
    assert_eq!(warnings(&run("gemini").err), "");
    for (path, odd, usual, words) in [
        (gemini.as_path(), 0o666, 0o644, "others than root can change"),
        (gemini.as_path(), 0o600, 0o644, "other users cannot read it"),
        (gemini.parent().unwrap(), 0o777, 0o755, "others than root can change"),
        (gemini.parent().unwrap(), 0o700, 0o755, "other users cannot read it"),
        (&root.join("etc"), 0o750, 0o755, "other users cannot read it"),
    ] {
        mode(path, odd);
        let done = run("gemini");
        assert_eq!(done.code, 0, "{}", done.err);
        let told = warnings(&done.err);
        let named = told.contains(&format!("{}", path.display()));
        assert!(told.contains(words) && named && told.contains("chmod"), "{odd:o}: {told}");
        mode(path, usual);
    }
    // Another file of the administrator's switches all of it off.
    for (file, off) in [("managed-settings.d/60-x.json", true), ("managed-settings.json", false)] {
        let file = root.join("etc/claude-code").join(file);
        world.write(&file, &format!("{{\"disableAllHooks\": {off}}}"));
        let told = warnings(&run("claude").err);
        assert_eq!(told.contains("`disableAllHooks` in "), off, "{told}");
        assert_eq!(told.contains("60-x.json switches all hooks off"), off, "{told}");
        fs::remove_file(&file).unwrap();
    }
}
