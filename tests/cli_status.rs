//! `hookctl status` and `doctor` say that the guard is in effect where it is, and nowhere else: for every agent.

#![cfg(unix)]

mod cli;

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;

use cli::World;
use serde_json::{Value, json};

/// The agents whose settings hookctl writes, and the file that has the event before a tool.
const AGENTS: &[(&str, &str)] = &[
    ("claude", ".claude/settings.json"),
    ("cline", "Documents/Cline/Hooks/PreToolUse"),
    ("cline-fork", ".cline/hooks.json"),
    ("codex", ".codex/hooks.json"),
    ("copilot", ".copilot/hooks/hookctl.json"),
    ("cursor", ".cursor/hooks.json"),
    ("droid", ".factory/hooks.json"),
    ("gemini", ".gemini/settings.json"),
    ("kiro", ".kiro/agents/x.json"),
    ("opencode", ".config/opencode/plugins/hookctl.js"),
    ("qwen", ".qwen/settings.json"),
    ("vscode", ".copilot/hooks/hookctl.json"),
    ("windsurf", ".codeium/windsurf/hooks.json"),
];

/// A home with one agent, whose settings have hookctl.
struct Stage {
    world: World,
    agent: &'static str,
}

impl Stage {
    fn new(agent: &'static str) -> Stage {
        Stage::with(agent, &[], &[])
    }

    /// `files` are there before.
    fn with(agent: &'static str, files: &[(&str, &str)], more: &[&str]) -> Stage {
        let stage = Stage { world: World::new(), agent };
        if agent == "kiro" {
            stage.put(".kiro/agents/x.json", r#"{"name":"x"}"#);
        }
        for (file, text) in files {
            stage.put(file, text);
        }
        let consent: &[&str] = if agent == "codex" { &["--trust"] } else { &[] };
        let done = stage.world.run(&[&["install", "--agent", agent], consent, more].concat());
        assert_eq!(done.code, 0, "{agent}: {} {}", done.out, done.err);
        stage
    }

    /// A file of the home, or below `project/` of the project.
    fn path(&self, file: &str) -> PathBuf {
        match file.strip_prefix("project/") {
            Some(rest) => self.world.project().join(rest),
            None => self.world.home().join(file),
        }
    }

    fn put(&self, file: &str, text: &str) {
        self.world.write(&self.path(file), text);
    }

    fn own(&self) -> PathBuf {
        let (_, file) = AGENTS.iter().find(|(agent, _)| *agent == self.agent).unwrap();
        self.path(file)
    }

    /// Changes our file.
    fn edit(&self, change: impl Fn(&str) -> String) {
        let text = fs::read_to_string(self.own()).unwrap();
        let new = change(&text);
        assert_ne!(new, text, "{}: nothing to change", self.agent);
        fs::write(self.own(), new).unwrap();
    }

    fn report(&self, more: &[&str]) -> Value {
        let done = self.world.run(&[&["status", "--offline", "--json"], more].concat());
        let report = done.json();
        assert_eq!(done.code == 0, report["in_effect"] == true, "{report:#}");
        report
    }

    #[track_caller]
    fn is_in_effect(&self) {
        let report = self.report(&[]);
        assert_eq!(report["in_effect"], true, "{}: {report:#}", self.agent);
        assert_eq!(self.world.run(&["doctor"]).code, 0, "{}", self.agent);
    }

    #[track_caller]
    fn is_not_in_effect(&self, why: &str) {
        let report = self.report(&[]);
        assert_eq!(report["in_effect"], false, "{}: {report:#}", self.agent);
        let problems = report["problems"].to_string();
        assert!(problems.contains(why), "{} {why}: {problems}", self.agent);
        assert_eq!(self.world.run(&["doctor"]).code, 1, "{}", self.agent);
        let rows = report["agents"].as_array().unwrap();
        let row = rows.iter().find(|row| row["agent"] == self.agent);
        assert!(row.is_none_or(|row| row["in_effect"] == false), "{}: {row:#?}", self.agent);
    }
}

#[test]
fn a_usual_install_of_every_agent_is_in_effect() {
    for (agent, _) in AGENTS {
        let stage = Stage::new(agent);
        stage.is_in_effect();
        let told = stage.report(&[]);
        assert_eq!(told["problems"], json!([]), "{agent}");
    }
}

/// Whatever was asked for: without the event before a tool every call passes.
#[test]
fn without_the_event_before_a_tool_nothing_is_in_effect() {
    for (agent, event, gate) in [
        ("claude", "Stop", "PreToolUse"),
        ("cline", "TaskStart", "PreToolUse"),
        ("cline-fork", "Stop", "PreToolUse"),
        ("codex", "Stop", "PreToolUse"),
        ("copilot", "Stop", "PreToolUse"),
        ("cursor", "stop", "preToolUse"),
        ("droid", "Stop", "PreToolUse"),
        ("gemini", "AfterAgent", "BeforeTool"),
        ("kiro", "stop", "preToolUse"),
        ("qwen", "Stop", "PreToolUse"),
        ("vscode", "Stop", "PreToolUse"),
        ("windsurf", "pre_user_prompt", "pre_run_command"),
    ] {
        let stage = Stage::with(agent, &[], &["--events", event]);
        stage.is_not_in_effect(&format!("{gate} is not registered"));
        let again = stage.world.run(&["install", "--agent", agent, "--events", event]);
        assert!(again.err.contains("calls pass unseen"), "{agent}: {}", again.err);
        let wider =
            stage.world.run(&["install", "--agent", agent, "--events", &[event, gate].join(",")]);
        assert_eq!(wider.code, 0, "{agent}: {}", wider.err);
        if agent == "codex" {
            assert_eq!(stage.world.run(&["install", "--agent", agent, "--trust"]).code, 0);
        }
        stage.is_in_effect();
    }
    // Some of several: a person's choice, and said.
    let some = Stage::with("windsurf", &[], &["--events", "pre_run_command"]);
    some.is_in_effect();
    let notes = some.report(&[])["agents"].to_string();
    assert!(notes.contains("pre_write_code, pre_read_code, pre_mcp_tool_use"), "{notes}");
    // Another file's entries stand for it.
    let both = Stage::with("claude", &[], &["--events", "Stop"]);
    both.world.run(&["install", "--agent", "claude", "--scope", "local", "--also"]);
    both.is_in_effect();
}

/// Each switch of each agent, in each of the files that may have it.
#[test]
fn a_switch_that_is_off_is_told_by_status_and_by_install() {
    let all = r#"{"disableAllHooks":true}"#;
    let gemini = r#"{"hooksConfig":{"enabled":false}}"#;
    let named = r#"{"hooksConfig":{"disabled":["hookctl-BeforeTool"]}}"#;
    let codex = "[features]\nhooks = false\n";
    for (agent, file, text, key) in [
        ("claude", ".claude/settings.json", all, "disableAllHooks"),
        ("claude", "project/.claude/settings.json", all, "disableAllHooks"),
        ("claude", "project/.claude/settings.local.json", all, "disableAllHooks"),
        ("qwen", ".qwen/settings.json", all, "disableAllHooks"),
        ("qwen", "project/.qwen/settings.json", all, "disableAllHooks"),
        ("copilot", ".copilot/settings.json", all, "disableAllHooks"),
        ("copilot", "project/.github/copilot/settings.json", all, "disableAllHooks"),
        ("copilot", "project/.github/copilot/settings.local.json", all, "disableAllHooks"),
        ("gemini", ".gemini/settings.json", gemini, "hooksConfig.enabled"),
        ("gemini", "project/.gemini/settings.json", gemini, "hooksConfig.enabled"),
        ("gemini", ".gemini/settings.json", named, "hooksConfig.disabled"),
        ("codex", ".codex/config.toml", codex, "features.hooks"),
        ("codex", "project/.codex/config.toml", codex, "features.hooks"),
    ] {
        let stage = Stage::with(agent, &[(file, text)], &[]);
        stage.is_not_in_effect(key);
        let again = stage.world.run(&["install", "--agent", agent]);
        assert!(again.err.contains(key), "{agent} {file}: {}", again.err);
    }
    // What says that hooks are on, or names another's, switches nothing off.
    for (agent, files) in [
        ("claude", &[("project/.claude/settings.json", r#"{"disableAllHooks":false}"#)][..]),
        ("gemini", &[(".gemini/settings.json", r#"{"hooksConfig":{"disabled":["theirs"]}}"#)]),
        (
            "gemini",
            &[
                (".gemini/settings.json", gemini),
                ("project/.gemini/settings.json", r#"{"hooksConfig":{"enabled":true}}"#),
            ],
        ),
        ("codex", &[(".codex/config.toml", "[features]\nhooks = true\n")]),
        // Nor does a key that the agent does not have.
        ("gemini", &[(".gemini/settings.json", all)]),
        ("cursor", &[(".cursor/hooks.json", all)]),
        ("windsurf", &[(".codeium/windsurf/hooks.json", all)]),
        ("droid", &[(".factory/hooks.json", all)]),
        ("kiro", &[(".kiro/agents/x.json", all)]),
        ("cline-fork", &[(".cline/hooks.json", all)]),
    ] {
        let stage = Stage::with(agent, files, &[]);
        stage.is_in_effect();
        let again = stage.world.run(&["install", "--agent", agent]);
        assert!(!again.err.contains("switches"), "{agent}: {}", again.err);
    }
}

/// A file that an agent drops for what is broken in it takes our entries with it.
#[test]
fn a_file_that_broke_since_is_told_for_every_agent() {
    for (agent, file) in [
        ("gemini", ".gemini/settings.json"),
        ("codex", ".codex/hooks.json"),
        ("cursor", ".cursor/hooks.json"),
        ("qwen", ".qwen/settings.json"),
    ] {
        let stage = Stage::with(agent, &[], &[]);
        stage.is_in_effect();
        let path = stage.world.home().join(file);
        for broken in ["{broken", ""] {
            fs::write(&path, broken).unwrap();
            let status = stage.report(&[]);
            assert_eq!(status["in_effect"], false, "{agent}: {status}");
            if !broken.is_empty() {
                let problems = status["problems"].to_string();
                let name = path.file_name().unwrap().to_str().unwrap();
                assert!(
                    problems.contains("drops the whole file") && problems.contains(name),
                    "{problems}"
                );
            }
        }
        // One that never had hookctl is no matter of ours.
        let world = World::new();
        world.write(&world.home().join(file), "{broken");
        world.run(&["install", "--agent", "claude"]);
        let status = world.run(&["status", "--json", "--offline"]).json();
        assert_eq!(status["in_effect"], true, "{status}");
    }
}

#[test]
fn a_script_that_is_gone_gutted_linked_or_not_executable_is_missed() {
    type Damage = fn(&Stage);
    let cases: &[(&str, Damage)] = &[
        ("no entry for PreToolUse", |stage| fs::remove_file(stage.own()).unwrap()),
        ("no entry for PreToolUse", |stage| {
            stage.edit(|text| text.lines().take(2).map(|line| format!("{line}\n")).collect());
        }),
        ("edited by hand", |stage| stage.edit(|text| text.replace("exec ", "exit 0\nexec "))),
        ("edited by hand", |stage| stage.edit(|text| format!("{} || true\n", text.trim_end()))),
        ("symbolic link", |stage| {
            let elsewhere = stage.path("elsewhere");
            fs::rename(stage.own(), &elsewhere).unwrap();
            symlink(elsewhere, stage.own()).unwrap();
        }),
        ("not executable", |stage| {
            fs::set_permissions(stage.own(), fs::Permissions::from_mode(0o644)).unwrap();
        }),
    ];
    for (why, damage) in cases {
        let stage = Stage::new("cline");
        damage(&stage);
        stage.is_not_in_effect(why);
    }
    // What was never asked for is not missed.
    Stage::with("cline", &[], &["--events", "PreToolUse,TaskStart"]).is_in_effect();
}

/// A session has one of Kiro's agents: the hooks of another do not help it.
#[test]
fn an_agents_file_without_hooks_is_missed() {
    for place in [".kiro/agents/y.json", "project/.kiro/agents/y.json"] {
        let stage = Stage::new("kiro");
        stage.put(place, r#"{"name":"y"}"#);
        stage.is_not_in_effect("no entry for preToolUse, ");
        assert!(stage.report(&[])["problems"].to_string().contains("y.json"));
    }
    let both = Stage::with("kiro", &[(".kiro/agents/y.json", r#"{"name":"y"}"#)], &[]);
    both.is_in_effect();
    let file = both.path(".kiro/agents/y.json");
    let mut settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    settings["hooks"].as_object_mut().unwrap().remove("preToolUse");
    fs::write(&file, settings.to_string()).unwrap();
    both.is_not_in_effect("no entry for preToolUse in ");
    both.world.run(&["doctor", "--fix"]);
    both.is_in_effect();
}

#[test]
fn a_plugin_that_is_not_what_install_wrote_is_told() {
    type Edit = fn(&str) -> String;
    let cases: &[(&str, Edit)] = &[
        ("edited by hand", |text| text[..900].to_string()),
        ("edited by hand", |text| text.split("import {").next().unwrap().to_string()),
        ("edited by hand", |text| format!("{text}}}}}}}}}\n")),
        ("edited by hand", |text| text.replace("status === 2", "status === 3")),
        ("does not judge", |text| {
            let line = text.lines().find(|line| line.starts_with("const COMMAND = ")).unwrap();
            let program = line.split('"').nth(1).unwrap();
            text.replace(program, "/bin/true")
        }),
    ];
    for (why, edit) in cases {
        let stage = Stage::new("opencode");
        stage.edit(edit);
        stage.is_not_in_effect(why);
        assert_eq!(stage.world.run(&["install", "--agent", "opencode"]).code, 0);
        stage.is_in_effect();
    }
}

/// What a shell is told behind our command decides in its place.
#[test]
fn shell_text_behind_the_command_breaks_an_entry() {
    for (agent, tail) in [
        ("windsurf", "; exit 0"),
        ("kiro", " || true"),
        ("gemini", " > /dev/null"),
        ("droid", " | true"),
    ] {
        let stage = Stage::new(agent);
        stage.edit(|text| {
            let at = text.find(" --timeout ").unwrap();
            let end = at + text[at..].find('"').unwrap();
            format!("{}{tail}{}", &text[..end], &text[end..])
        });
        stage.is_not_in_effect("the shell runs more than hookctl");
    }
    let errors = Stage::new("gemini");
    errors.edit(|text| text.replacen(" --timeout 600", " --timeout 600 2>/dev/null", 1));
    errors.is_in_effect();
}

#[test]
fn who_changed_an_entry_is_said_as_it_is() {
    let stage = Stage::new("claude");
    stage.edit(|text| text.replacen("\"--config\"", "\"--state\"", 1));
    let said = stage.report(&[])["notes"].to_string();
    assert!(said.contains("edited by hand") && !said.contains("another version"), "{said}");
    // What install noted is what stands there: another version wrote it.
    let note = stage.world.state().join("installs.json");
    let mut notes: Value = serde_json::from_slice(&fs::read(&note).unwrap()).unwrap();
    for record in notes["files"].as_object_mut().unwrap().values_mut() {
        record.as_object_mut().unwrap().remove("entries_sha256");
    }
    fs::write(&note, notes.to_string()).unwrap();
    let said = stage.report(&[])["notes"].to_string();
    assert!(said.contains("written by another version"), "{said}");
}

#[test]
fn an_entry_that_reads_other_rules_says_which() {
    let stage = Stage::new("claude");
    let other = stage.path("other");
    fs::create_dir(&other).unwrap();
    let own = stage.world.home().join(".config/hookctl").display().to_string();
    stage.edit(|text| text.replace(&own, &other.display().to_string()));
    let said = stage.report(&[])["notes"].to_string();
    assert!(said.contains("reads its rules from") && said.contains("other status"), "{said}");
    fs::remove_dir(&other).unwrap();
    stage.is_not_in_effect("which is not there: every call is asked about");
}

#[test]
fn what_does_not_begin_as_a_program_is_none() {
    for text in ["", "x", "echo no program names its interpreter\n"] {
        let stage = Stage::new("claude");
        let program = stage.path("bin/hookctl");
        stage.put("bin/hookctl", text);
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        stage.edit(|settings| settings.replace(cli::BIN, &program.display().to_string()));
        stage.is_not_in_effect("cannot be run");
    }
}

#[test]
fn what_costs_the_agent_the_whole_file_is_told() {
    for (agent, text) in [
        ("codex", r#"{"a":1}"#),
        ("codex", r#"{"hooks":{"Stop":[{"hooks":[{"type":"shell","command":"x"}]}]}}"#),
        ("cursor", r#"{"version":1,"hooks":{"Zzz":[]}}"#),
        ("cursor", r#"{"version":"1","hooks":{}}"#),
        ("cursor", r#"{"version":0}"#),
        ("claude", r#"{"hooks":{"PreToolUse":[{"matcher":"x"}]}}"#),
    ] {
        let file = AGENTS.iter().find(|(id, _)| *id == agent).unwrap().1;
        let stage = Stage::with(agent, &[(file, text)], &[]);
        stage.is_not_in_effect("the agent drops the whole file");
        let again = stage.world.run(&["install", "--agent", agent]);
        assert!(again.err.contains("drops this WHOLE file"), "{agent} {text}: {}", again.err);
    }
    for (agent, text) in [
        ("codex", r#"{"description":"x","hooks":{"Zzz":[]}}"#),
        ("cursor", r#"{"version":2,"hooks":{"afterTabFileEdit":[{"command":"x","mark":1}]}}"#),
        ("cursor", r#"{"hooks":{}}"#),
        ("gemini", r#"{"a":1,"hooks":{"Zzz":[]}}"#),
    ] {
        let file = AGENTS.iter().find(|(id, _)| *id == agent).unwrap().1;
        Stage::with(agent, &[(file, text)], &[]).is_in_effect();
    }
}

/// Every name that install writes for Cursor is one that Cursor knows.
#[test]
fn no_agent_is_given_what_it_would_drop() {
    for agent in hookctl::agent::AGENTS.iter() {
        let places = agent.wiring().into_iter().flat_map(|wiring| wiring.files);
        for form in places.filter_map(|place| place.form.entries()) {
            let known = form.strict.events;
            let odd = agent.events().iter().find(|e| !known.is_empty() && !known.contains(&e.name));
            assert!(odd.is_none(), "{}: {:?}", agent.id(), odd.map(|spec| spec.name));
        }
    }
}

#[test]
fn verify_tries_the_command_of_every_agent() {
    for (agent, _) in AGENTS {
        let stage = Stage::new(agent);
        let report = stage.report(&["--verify"]);
        let probes = report["verify"].as_array().unwrap_or_else(|| panic!("{agent}: {report:#}"));
        assert_eq!(probes.len(), 3, "{agent}: {report:#}");
        assert!(probes.iter().all(|probe| probe["ok"] == true), "{agent}: {report:#}");
        let came = probes[2]["came"].as_str().unwrap();
        assert!(came.contains("[delete-root]"), "{agent}: {came}");
    }
    // A program that says what ours says of its version and lets everything pass.
    let stage = Stage::new("cursor");
    let program = stage.path("bin/hookctl");
    let version = concat!("hookctl ", env!("CARGO_PKG_VERSION"));
    stage
        .put("script", &format!("#!/bin/sh\n[ \"$1\" = --version ] && echo '{version}'\nexit 0\n"));
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    let copied = std::process::Command::new("install")
        .args(["-m", "755"])
        .arg(stage.path("script"))
        .arg(&program)
        .status();
    assert!(copied.unwrap().success());
    let real = hookctl::files::real_path(std::path::Path::new(cli::BIN)).unwrap();
    stage.edit(|text| text.replace(real.to_str().unwrap(), program.to_str().unwrap()));
    let report = stage.report(&["--verify"]);
    assert_eq!(report["in_effect"], false);
    assert!(
        report["problems"].to_string().contains("rm -rf /`: silent, expected deny"),
        "{report:#}"
    );
    // Nothing is there to try.
    let empty = World::new();
    let notes =
        empty.run(&["status", "--verify", "--offline", "--json"]).json()["notes"].to_string();
    assert!(notes.contains("nothing to verify"), "{notes}");
}

/// The user's entries judge, whatever a project's cannot find.
#[test]
fn an_entry_that_finds_no_program_beside_a_sound_one_costs_nothing() {
    let stage = Stage::new("claude");
    let project = ["install", "--agent", "claude", "--scope", "project", "--also"];
    assert_eq!(stage.world.run(&project).code, 0);
    stage.is_in_effect();
    assert!(stage.report(&[])["notes"].to_string().contains("`hookctl` is not in PATH"));
    let alone = stage.world.run(&["uninstall", "--agent", "claude", "--scope", "user"]);
    assert_eq!(alone.code, 0, "{}", alone.err);
    stage.is_not_in_effect("`hookctl` is not in PATH");
}

#[test]
fn a_journal_that_cannot_be_written_is_a_gap_of_the_audit() {
    let stage = Stage::new("claude");
    fs::create_dir_all(stage.world.state().join("journal.jsonl")).unwrap();
    stage.is_in_effect();
    let said = stage.report(&[])["notes"].to_string();
    assert!(said.contains("the audit has a gap"), "{said}");
    let told = stage.world.run(&["doctor"]).out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("the audit has a gap"), "{told}");
    let sound = Stage::new("claude");
    assert!(!sound.report(&[])["notes"].to_string().contains("audit"));
    assert!(!sound.world.state().join("journal.jsonl").exists(), "nothing is made");
}
