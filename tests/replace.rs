//! cdev, agent-hooks and Cupcake beside hookctl: told of, refused, replaced, brought back.

mod cli;
#[path = "replace/restart.rs"]
mod restart;

use std::env::consts::EXE_SUFFIX;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;

use cli::{Done, World, system};
use serde_json::{Value, json};

const PHONE: &str =
    "[remote.phone]\nurl = \"http://127.0.0.1:1\"\ndialect = \"cdev\"\nevents = [\"PreToolUse\"]\n";
const BRIDGE: &str = "[remote.bridge]\ndialect = \"bridge\"\nevents = \"*\"\n";
const NINE: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "Notification",
    "Stop",
    "SubagentStop",
    "UserPromptSubmit",
    "PreCompact",
    "SessionStart",
    "SessionEnd",
];

fn group(command: &str) -> Value {
    json!({"matcher": "*", "hooks": [{"type": "command", "command": command}]})
}

/// What cdev writes; `_cdev_managed` and its scripts.
fn cdev() -> Value {
    let group = |script: &str, matcher: &str| {
        let command = format!("/home/dev/.cdev/hooks/{script}");
        json!({
            "_cdev_managed": true,
            "hooks": [{"command": command, "type": "command"}],
            "matcher": matcher,
        })
    };
    json!({
        "Notification": [group("forward.sh notification", "permission_prompt")],
        "PostToolUse": [group("forward.sh tool-end", "*")],
        "PreToolUse": [group("permission.sh", "*")],
        "SessionStart": [group("forward.sh session", "*")],
    })
}

fn agent_hooks() -> Value {
    let command = "npx @principal-ai/agent-hooks claude-hook --port 3043";
    NINE.iter().map(|event| (event.to_string(), json!([group(command)]))).collect()
}

fn text(hooks: &Value) -> String {
    serde_json::to_string_pretty(&json!({"model": "opus", "hooks": hooks})).unwrap()
}

impl World {
    fn settings(&self) -> PathBuf {
        system::below(&self.home(), ".claude/settings.json")
    }

    fn read(&self, file: &Path) -> String {
        fs::read_to_string(file).unwrap()
    }

    fn ok(&self, args: &[&str]) -> Done {
        let done = self.run(args);
        assert_eq!(done.code, 0, "{args:?}\n{}\n{}", done.out, done.err);
        done
    }

    fn refused(&self, args: &[&str]) -> String {
        let done = self.run(args);
        assert_eq!((done.code, done.out.as_str()), (1, ""), "{args:?}\n{}", done.err);
        done.err
    }

    fn report(&self) -> Value {
        self.run(&["status", "--offline", "--json"]).json()
    }
}

/// How many commands of the file contain that.
fn count(settings: &str, part: &str) -> usize {
    let value: Value = serde_json::from_str(settings).unwrap();
    let groups = value["hooks"].as_object().unwrap().values().flat_map(|list| list.as_array());
    let entries = groups.flatten().flat_map(|group| group["hooks"].as_array().unwrap());
    entries.filter(|entry| entry["command"].as_str().is_some_and(|c| c.contains(part))).count()
}

#[test]
fn s0_29_cdev_without_a_server_of_ours_is_only_told_of() {
    let world = World::new();
    world.write(&world.settings(), &text(&cdev()));
    let done = world.ok(&["install"]);
    for part in [
        "note: cdev is installed as well",
        "Notification, PostToolUse, PreToolUse, SessionStart",
        "/home/dev/.cdev/hooks/permission.sh",
        "dialect = \"cdev\"",
        "hookctl install --replace",
    ] {
        assert!(done.err.contains(part), "{part}: {}", done.err);
    }
    assert!(done.err.contains(&world.user().display().to_string()), "{}", done.err);
    assert_eq!(world.report()["conflicts"], json!([]));
    assert_eq!(world.report()["guards"][0]["known"], "cdev");
    // Nothing is taken out for a server that nobody named.
    world.ok(&["install", "--replace"]);
    assert_eq!(count(&world.read(&world.settings()), ".cdev/hooks/"), 4);
    // The lines of the note are a config that works.
    let lines = done.err.lines().skip_while(|line| !line.contains("[remote.phone]")).take(4);
    world.write(&world.user(), &lines.collect::<Vec<_>>().join("\n"));
    world.ok(&["check"]);
    assert_eq!(world.report()["conflicts"][0]["remote"], "phone");
}

#[test]
fn s0_29_install_refuses_beside_an_installed_cdev() {
    let world = World::with(PHONE);
    let before = text(&cdev());
    world.write(&world.settings(), &before);
    for args in [&["install"][..], &["install", "--dry-run"], &["install", "--scope", "local"]] {
        let said = world.refused(args);
        for part in [
            "refused: cdev is installed as well",
            "(user settings: Notification, PostToolUse, PreToolUse, SessionStart)",
            "[remote.phone]",
            "the phone would be asked twice",
            " --replace`",
            "`hookctl uninstall` brings them back",
        ] {
            assert!(said.contains(part), "{part}: {said}");
        }
        assert!(said.contains(&world.settings().display().to_string()), "{said}");
        assert!(said.contains(&format!("out of {}", world.user().display())), "{said}");
        assert_eq!(world.read(&world.settings()), before);
        assert!(!world.state().join("installs.json").exists());
    }
    // A server in a project's file that nobody trusts is asked nothing.
    world.write(&world.user(), "");
    world.project_file(PHONE);
    world.ok(&["install"]);
}

#[test]
fn s0_29_status_repeats_the_warning() {
    let world = World::new();
    world.write(&world.settings(), &text(&cdev()));
    world.ok(&["install"]);
    // The server comes later than the install.
    world.write(&world.user(), PHONE);
    let report = world.report();
    assert_eq!(
        report["conflicts"],
        json!([{
            "program": "cdev",
            "scope": "user",
            "file": world.settings(),
            "events": ["Notification", "PostToolUse", "PreToolUse", "SessionStart"],
            "remote": "phone",
        }])
    );
    assert!(report["problems"].to_string().contains("the phone would be asked twice"));
    let said = world.run(&["status", "--offline"]);
    assert!(said.code == 1 && said.out.contains("the phone would be asked twice"), "{}", said.out);
    assert!(world.refused(&["install"]).contains("refused: cdev"), "a second install as well");

    world.ok(&["install", "--replace"]);
    assert_eq!(world.report()["conflicts"], json!([]));
    // It installs itself again at its start.
    let mut settings: Value = serde_json::from_str(&world.read(&world.settings())).unwrap();
    settings["hooks"]["PreToolUse"].as_array_mut().unwrap().push(cdev()["PreToolUse"][0].clone());
    world.write(&world.settings(), &settings.to_string());
    assert_eq!(world.report()["conflicts"][0]["events"], json!(["PreToolUse"]));

    // Once nobody asks, that is said.
    world.ok(&["install", "--replace"]);
    world.write(&world.user(), "");
    let said = world.run(&["status", "--offline"]).out;
    assert!(
        said.contains("cdev was taken out for a server that the config does not name"),
        "{said}"
    );
}

#[test]
fn s0_27_an_old_cdev_that_asks_nobody_is_outdated() {
    let world = World::new();
    let hooks = json!({"PreToolUse": [group("/home/dev/.cdev/hooks/forward.sh tool-start")]});
    world.write(&world.settings(), &text(&hooks));
    let guard = &world.report()["guards"][0];
    assert_eq!(
        (&guard["known"], &guard["problem"]),
        (&json!("cdev"), &json!("outdated: not blocking"))
    );
}

#[test]
fn s0_29_replace_takes_cdev_out_and_uninstall_brings_it_back() {
    let world = World::with(PHONE);
    let before = text(&cdev());
    let marker = world.home().join(".cdev/hooks/.installed");
    world.write(&marker, "");
    world.write(&world.settings(), &before);
    let shown = world.ok(&["install", "--replace", "--dry-run"]).out;
    assert!(shown.contains("-        \"_cdev_managed\": true,"), "{shown}");
    assert_eq!(world.read(&world.settings()), before);

    let done = world.ok(&["install", "--replace"]);
    let events = "Notification, PostToolUse, PreToolUse, SessionStart";
    assert!(done.out.contains("replaces cdev in") && done.out.contains(events), "{}", done.out);
    assert!(done.out.contains("brings back what was replaced"), "{}", done.out);
    let written = world.read(&world.settings());
    for sign in ["_cdev_managed", ".cdev/hooks/"] {
        assert!(!written.contains(sign), "{written}");
    }
    assert_eq!(world.report()["in_effect"], true);
    assert!(world.ok(&["install"]).out.starts_with("Already installed"));
    assert!(world.ok(&["install", "--replace"]).out.starts_with("Already installed"));
    assert_eq!(world.read(&world.settings()), written);

    let shown = world.ok(&["uninstall", "--dry-run"]).out;
    assert!(shown.contains("+        \"_cdev_managed\": true,"), "{shown}");
    let done = world.ok(&["uninstall"]);
    assert!(done.out.contains(&format!("brought back cdev: {events}")), "{}", done.out);
    assert_eq!(world.read(&world.settings()), before);
    assert!(marker.exists(), "or cdev would install itself again");
    let own = fs::read_dir(world.home().join(".cdev/hooks")).unwrap().count();
    assert_eq!(own, 1, "nothing else is written there");
    world.ok(&["uninstall"]);
    assert_eq!(world.read(&world.settings()), before, "not twice");
}

#[test]
fn s0_29_what_others_wrote_meanwhile_stays_and_nothing_is_there_twice() {
    let world = World::with(PHONE);
    let edit = |change: &dyn Fn(&mut Value)| {
        let mut settings: Value = serde_json::from_str(&world.read(&world.settings())).unwrap();
        change(&mut settings);
        world.write(&world.settings(), &settings.to_string());
    };
    let same = |want: Value| {
        let now: Value = serde_json::from_str(&world.read(&world.settings())).unwrap();
        assert_eq!(now["hooks"], want);
    };
    let replaced = || {
        world.write(&world.settings(), &text(&cdev()));
        world.ok(&["install", "--replace"]);
    };
    // A key of somebody else.
    replaced();
    edit(&|settings| settings["theirs"] = json!([1]));
    world.ok(&["uninstall"]);
    same(cdev());
    assert!(world.read(&world.settings()).contains("\"theirs\""));
    // cdev is back, in part, under another path.
    replaced();
    edit(&|settings| {
        let mut group = cdev()["PreToolUse"][0].clone();
        group["hooks"][0]["command"] = json!("/new/.cdev/hooks/permission.sh");
        settings["hooks"]["PreToolUse"].as_array_mut().unwrap().push(group);
    });
    world.ok(&["uninstall"]);
    let mut want = cdev();
    want["PreToolUse"][0]["hooks"][0]["command"] = json!("/new/.cdev/hooks/permission.sh");
    same(want);
    // Our entries were taken out by hand.
    replaced();
    edit(&|settings| settings["hooks"] = json!({"Stop": [group("theirs")]}));
    let done = world.ok(&["uninstall"]);
    assert!(done.out.contains("brought back cdev"), "{}", done.out);
    let mut want = cdev();
    want["Stop"] = json!([group("theirs")]);
    same(want);
    // No place for them: refused, and not forgotten.
    replaced();
    edit(&|settings| settings["hooks"]["PreToolUse"] = json!({}));
    let done = world.run(&["uninstall"]);
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(done.err.contains("`hooks.PreToolUse` is an object, not a list"), "{}", done.err);
    edit(&|settings| settings["hooks"]["PreToolUse"] = json!([]));
    world.ok(&["uninstall"]);
    same(cdev());
}

#[test]
fn s0_29_a_lost_note_costs_no_entry_of_others() {
    let world = World::with(PHONE);
    let mut hooks = cdev();
    hooks["Stop"] = json!([group("theirs")]);
    let before = text(&hooks);
    world.write(&world.settings(), &before);
    world.ok(&["install", "--replace"]);
    world.write(&world.state().join("installs.json"), "not json");
    let done = world.ok(&["uninstall"]);
    let backups = world.state().join("backups");
    assert!(done.out.contains(&backups.display().to_string()), "{}", done.out);
    let now = world.read(&world.settings());
    assert_eq!((count(&now, "hookctl"), count(&now, "theirs")), (0, 1));
    let mut kept = fs::read_dir(backups).unwrap().map(|entry| world.read(&entry.unwrap().path()));
    assert!(kept.any(|text| text == before), "the backup has it");
}

#[test]
fn s0_29_notes_that_cannot_be_read_are_not_thrown_away() {
    let world = World::with(PHONE);
    world.write(&world.settings(), &text(&cdev()));
    world.ok(&["install", "--replace"]);
    let notes = world.state().join("installs.json");
    let cut = world.read(&notes);
    let cut = &cut[..cut.len() - 20];
    world.write(&notes, cut);
    world.ok(&["install", "--scope", "local", "--also"]);
    assert!(world.read(&notes).contains("settings.local.json"));
    let backups = fs::read_dir(world.state().join("backups")).unwrap();
    let mut kept = backups.map(|entry| world.read(&entry.unwrap().path()));
    assert!(kept.any(|text| text == cut), "what was taken out is in them");
}

#[test]
fn s0_29_s3_06_disabling_the_bridge_brings_nothing_back_that_the_guard_took_out() {
    let world = World::with(PHONE);
    let before = text(&cdev());
    world.write(&world.settings(), &before);
    // The guard is the project's, cdev was the user's.
    world.ok(&["install", "--scope", "local", "--replace"]);
    let without = world.read(&world.settings());
    assert!(!without.contains(".cdev/hooks/"), "{without}");
    world.ok(&["claude-hook", "--disable"]);
    assert_eq!(world.read(&world.settings()), without);
    world.ok(&["claude-hook", "--enable"]);
    world.ok(&["claude-hook", "--disable"]);
    let now = world.read(&world.settings());
    assert_eq!((count(&now, ".cdev/hooks/"), count(&now, "hookctl")), (0, 0), "{now}");
    // Without the guard there, its place is still empty: said, with the way out, which works.
    let done = world.ok(&["uninstall", "--scope", "local"]);
    let file = world.settings().display().to_string();
    let said = format!("Still without cdev: {file}; `hookctl uninstall --scope user` there");
    assert!(done.out.contains(&said) && !done.out.contains("Still installed"), "{}", done.out);
    world.ok(&["uninstall", "--scope", "user"]);
    assert_eq!(world.read(&world.settings()), before);
}

#[test]
fn s0_29_only_the_state_that_knows_the_way_back_takes_it() {
    let world = World::with(PHONE);
    let before = text(&cdev());
    world.write(&world.settings(), &before);
    let state = system::text(world.home().join("other"));
    let state = state.as_str();
    world.ok(&["install", "--replace", "--state", state]);
    let written = world.read(&world.settings());
    for args in [&["uninstall"][..], &["install"], &["install", "--replace"]] {
        let done = world.run(args);
        assert_eq!(done.code, 2, "{args:?}: {}", done.out);
        assert!(done.err.contains(&format!("with `--state {state}`")), "{}", done.err);
        assert_eq!(world.read(&world.settings()), written);
    }
    // Without it, there is nothing to wait for.
    world.ok(&["uninstall", "--state", state]);
    assert_eq!(world.read(&world.settings()), before);
    world.ok(&["install", "--replace", "--state", state]);
    fs::remove_dir_all(state).unwrap();
    assert!(world.ok(&["uninstall"]).out.contains("the note of this install is lost"));
}

#[test]
fn s0_29_what_was_taken_out_of_a_file_goes_with_it() {
    let world = World::with(PHONE);
    world.write(&world.settings(), &text(&cdev()));
    world.ok(&["install", "--replace"]);
    fs::remove_file(world.settings()).unwrap();
    world.ok(&["install"]);
    let done = world.ok(&["uninstall"]);
    assert!(!done.out.contains("brought back"), "{}", done.out);
    assert!(!world.settings().exists());
}

#[test]
fn s0_29_s3_57_user_and_project_files_are_both_replaced() {
    let world = World::with(&format!("{PHONE}{BRIDGE}"));
    let project = world.project().join(".claude/settings.json");
    let (user_before, project_before) = (text(&cdev()), text(&agent_hooks()) + "\n\n");
    world.write(&world.settings(), &user_before);
    world.write(&project, &project_before);
    let said = world.refused(&["install"]);
    assert!(said.contains("refused: cdev") && said.contains("refused: agent-hooks"), "{said}");
    assert!(said.contains("every event would be posted twice"), "{said}");
    let shown = world.ok(&["install", "--replace", "--dry-run"]).out;
    assert!(shown.contains("_cdev_managed") && shown.contains("agent-hooks"), "{shown}");
    assert_eq!(world.read(&project), project_before);

    let done = world.ok(&["install", "--replace"]);
    assert!(done.out.contains("replaces cdev in") && done.out.contains("replaces agent-hooks in"));
    assert_eq!(world.read(&project), "{\n  \"model\": \"opus\"\n}\n\n", "nothing of ours there");
    assert_eq!(world.report()["conflicts"], json!([]));

    // The state holds the way back: it stays while a file elsewhere waits for it.
    let elsewhere = world.start(&["uninstall", "--purge"]).current_dir("/").output().unwrap();
    let done = Done::from(elsewhere);
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(done.err.contains("nothing is purged"), "{}", done.err);
    assert_eq!(world.read(&world.settings()), user_before);
    let done = world.ok(&["uninstall", "--purge"]);
    assert!(done.out.contains("Put right") && !done.out.contains("0 entries"), "{}", done.out);
    assert_eq!(world.read(&project), project_before);
    assert!(!world.state().exists());
}

#[test]
fn s0_29_replacing_is_for_humans() {
    let world = World::with(PHONE);
    let before = text(&cdev());
    world.write(&world.settings(), &before);
    let agent = |args: &[&str]| -> Done {
        world.start(args).env("CLAUDECODE", "1").output().unwrap().into()
    };
    let done = agent(&["install", "--replace"]);
    assert_eq!(done.code, 1);
    assert!(done.err.contains("Loosening is for humans"), "{}", done.err);
    assert_eq!(world.read(&world.settings()), before);
    assert_eq!(agent(&["install", "--replace", "--dry-run"]).code, 0, "looking is for all");
    assert_eq!(agent(&["install"]).code, 1);
    assert_eq!(world.read(&world.settings()), before);
}

#[test]
fn s0_29_settings_that_are_no_json_stay_untouched() {
    let world = World::with(PHONE);
    for bad in ["{\n  // cdev\n  \"hooks\": {}\n}", "{\"hooks\": {\"PreToolUse\": [}}"] {
        world.write(&world.settings(), bad);
        let done = world.run(&["install", "--replace"]);
        assert_eq!(done.code, 2);
        assert!(done.err.contains("^") && done.err.contains("settings.json"), "{}", done.err);
        assert_eq!(world.read(&world.settings()), bad);
    }
}

#[test]
fn s0_29_a_program_below_cdevs_hooks_is_not_installed() {
    let world = World::new();
    let program = world.home().join(".cdev/hooks").join(format!("hookctl{EXE_SUFFIX}"));
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    // By another process: a program that is open for writing cannot be run.
    if cfg!(windows) {
        fs::copy(cli::BIN, &program).unwrap();
    } else {
        let copied = std::process::Command::new("cp").arg(cli::BIN).arg(&program).status();
        assert!(copied.unwrap().success());
    }
    let mut command = system::hookctl(program.to_str().unwrap(), &world.home());
    command.arg("install").current_dir(world.project());
    let done = Done::from(command.output().unwrap());
    assert_eq!(done.code, 2, "{}", done.out);
    assert!(done.err.contains("takes every entry"), "{}", done.err);
    assert!(!world.settings().exists());
}

#[test]
#[cfg_attr(windows, ignore = "needs that a file that is open can be replaced, which Wine cannot")]
fn s0_29_s3_57_at_the_same_moment_nothing_is_lost() {
    let world = World::with(&format!("{PHONE}{BRIDGE}"));
    let mut hooks = agent_hooks();
    for (event, groups) in cdev().as_object().unwrap() {
        hooks[event].as_array_mut().unwrap().extend(groups.as_array().unwrap().iter().cloned());
    }
    let before = text(&hooks);
    for _ in 0..3 {
        world.write(&world.settings(), &before);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| world.ok(&["install", "--replace"]));
            }
        });
        let now = world.read(&world.settings());
        assert_eq!(count(&now, ".cdev/hooks/") + count(&now, "agent-hooks claude"), 0, "{now}");
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| world.ok(&["uninstall"]));
            }
        });
        assert_eq!(world.read(&world.settings()), before);
    }
}

#[test]
fn s3_57_agent_hooks_is_replaced_and_comes_back() {
    let world = World::with(BRIDGE);
    let mut hooks = agent_hooks();
    let bundle = json!({"type": "command", "command": "node /opt/claude-hook.cjs", "timeout": 30});
    hooks["Stop"][0]["hooks"].as_array_mut().unwrap().insert(0, bundle);
    let mixed = json!({"type": "command", "command": "say done"});
    hooks["Stop"][0]["hooks"].as_array_mut().unwrap().push(mixed);
    let before = text(&hooks).replace('\n', "\r\n");
    world.write(&world.settings(), &before);
    assert!(world.refused(&["install"]).contains("[remote.bridge]"));

    let done = world.ok(&["install", "--replace"]);
    assert!(done.out.contains(&NINE.join(", ")), "{}", done.out);
    let now = world.read(&world.settings());
    let left = ["agent-hooks claude", "claude-hook.cjs", "say done"].map(|part| count(&now, part));
    assert_eq!(left, [0, 0, 1], "each event is posted once: {now}");
    world.ok(&["uninstall"]);
    assert_eq!(world.read(&world.settings()), before);

    // Events that we do not use go when they become empty, and are there again afterwards.
    world.ok(&["install", "--replace", "--events", "PreToolUse"]);
    let now: Value = serde_json::from_str(&world.read(&world.settings())).unwrap();
    assert!(now["hooks"].as_object().unwrap().keys().eq(["PreToolUse", "Stop"].iter()), "{now}");
    world.write(&world.settings(), &format!("{now}\n"));
    world.ok(&["uninstall"]);
    let now = world.read(&world.settings());
    assert_eq!(
        (count(&now, "agent-hooks claude"), count(&now, "claude-hook.cjs")),
        (9, 1),
        "{now}"
    );
    assert_eq!((count(&now, "say done"), count(&now, "hookctl")), (1, 0), "{now}");
}

#[test]
fn s3_57_names_from_a_file_draw_nothing_on_the_terminal() {
    let world = World::with(BRIDGE);
    let hooks = json!({"Stop\u{1b}[2J": [group("agent-hooks\u{1b}[2J")]});
    world.write(&world.settings(), &text(&hooks));
    assert!(!world.refused(&["install"]).contains('\u{1b}'));
    assert!(!world.ok(&["install", "--replace"]).out.contains('\u{1b}'));
    assert!(!world.ok(&["uninstall"]).out.contains('\u{1b}'));
}

#[test]
fn s3_57_other_programs_of_ours_and_cupcake_are_left() {
    let world = World::with(BRIDGE);
    let hooks = json!({"PreToolUse": [
        group("cupcake eval --harness claude --policy-dir .cupcake"),
        group("/opt/guard.sh"),
    ]});
    let before = text(&hooks);
    world.write(&world.settings(), &before);
    let done = world.ok(&["install", "--replace"]);
    assert!(done.err.contains("note: cupcake is installed as well"), "{}", done.err);
    assert!(done.err.contains("hookctl leaves it"), "{}", done.err);
    let now = world.read(&world.settings());
    assert_eq!((count(&now, "cupcake eval"), count(&now, "guard.sh")), (1, 1));
    world.ok(&["uninstall"]);
    assert_eq!(world.read(&world.settings()), before);
}

#[test]
fn s3_57_notes_of_installs_without_replaced_entries_load() {
    let world = World::with(BRIDGE);
    let before = text(&agent_hooks());
    world.write(&world.settings(), &before);
    world.ok(&["install", "--replace"]);
    let file = world.state().join("installs.json");
    let mut notes: Value = serde_json::from_str(&world.read(&file)).unwrap();
    let note = notes["files"].as_object_mut().unwrap().values_mut().next().unwrap();
    let taken = note.as_object_mut().unwrap().remove("taken").unwrap();
    assert_eq!(taken.as_array().unwrap().len(), 9);
    assert_eq!(taken[0]["program"], "agent-hooks");
    world.write(&file, &notes.to_string());
    world.ok(&["uninstall"]);
    assert_eq!(world.read(&world.settings()), before);
}

/// The guard and the bridge's own hooks are two kinds of entries in one file: what was replaced comes back with the
/// last of them, whichever that is.
#[test]
fn s0_29_s3_06_what_was_replaced_outlives_either_kind_of_ours() {
    let original = text(&cdev());
    for edited in [false, true] {
        for (enable, last) in [(true, "uninstall"), (true, "disable"), (false, "uninstall")] {
            let world = World::with(PHONE);
            world.write(&world.settings(), &original);
            if enable {
                world.ok(&["claude-hook", "--enable"]);
            }
            world.ok(&["install", "--replace"]);
            assert_eq!(count(&world.read(&world.settings()), ".cdev/hooks/"), 0);
            if edited {
                let now = world.read(&world.settings()).replace("opus", "sonnet");
                world.write(&world.settings(), &now);
            }
            if last == "disable" {
                // By hand, but for the bridge's.
                let mut now: Value = serde_json::from_str(&world.read(&world.settings())).unwrap();
                for groups in now["hooks"].as_object_mut().unwrap().values_mut() {
                    groups.as_array_mut().unwrap().retain(|group| group["matcher"] == "*");
                }
                world.write(&world.settings(), &now.to_string());
                world.ok(&["claude-hook", "--disable"]);
            } else {
                if enable {
                    world.ok(&["claude-hook", "--disable"]);
                    assert_eq!(count(&world.read(&world.settings()), ".cdev/hooks/"), 0);
                }
                world.ok(&["uninstall"]);
            }
            let now = world.read(&world.settings());
            assert_eq!(count(&now, ".cdev/hooks/"), 4, "{edited} {enable} {last}: {now}");
            assert_eq!(count(&now, "hookctl"), 0, "{now}");
            if last == "uninstall" && !edited {
                assert_eq!(now, original);
            }
        }
    }
}

/// cdev takes such a group along when it goes; a prompt for a model in it is the user's own all the same.
#[test]
fn s0_29_a_prompt_in_a_group_of_cdevs_stays() {
    for touched in [false, true] {
        let world = World::with(PHONE);
        let mut hooks = cdev();
        let prompt = json!({"type": "prompt", "prompt": "Is it safe?"});
        hooks["PreToolUse"][0]["hooks"].as_array_mut().unwrap().insert(0, prompt.clone());
        let before = text(&hooks);
        world.write(&world.settings(), &before);
        world.ok(&["install", "--replace"]);
        let settings: Value = serde_json::from_str(&world.read(&world.settings())).unwrap();
        assert_eq!(count(&settings.to_string(), ".cdev/hooks/"), 0, "{settings:#}");
        let left = &settings["hooks"]["PreToolUse"][0];
        assert_eq!(left["hooks"], json!([prompt]), "{settings:#}");
        assert_eq!(left["matcher"], hooks["PreToolUse"][0]["matcher"]);
        assert!(left.get("_cdev_managed").is_none(), "it is no group of cdev's any more");
        assert_eq!(world.report()["files"][1]["other_hooks"][0]["type"], "prompt");
        world.ok(&["install", "--replace"]);
        if touched {
            let mut more = settings.clone();
            more["theirs"] = json!(1);
            world.write(&world.settings(), &more.to_string());
        }
        world.ok(&["uninstall"]);
        let after = world.read(&world.settings());
        assert_eq!(
            after.matches("Is it safe?").count(),
            1,
            "neither lost nor there twice: {after}"
        );
        assert_eq!(count(&after, ".cdev/hooks/"), 4, "{after}");
        assert!(touched || after == before, "{after}");
    }
}
