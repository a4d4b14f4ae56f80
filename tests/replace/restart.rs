//! A program that takes its entries out when it stops and installs them again when it starts: what is said
//! while both are there, and what comes back in the end.

use super::*;

/// A cdev of that home: its scripts, which are gone after a stop.
struct Server<'w> {
    world: &'w World,
}

impl<'w> Server<'w> {
    /// One that was started, and whose place hookctl took.
    fn replaced(world: &'w World) -> Server<'w> {
        let server = Server { world };
        server.start();
        world.ok(&["install", "--replace"]);
        server
    }

    fn dir(&self) -> PathBuf {
        self.world.home().join(".cdev/hooks")
    }

    fn hooks(&self) -> Value {
        let text = cdev().to_string();
        let home = system::text(self.world.home());
        serde_json::from_str(&text.replace("/home/dev", &home)).unwrap()
    }

    fn edit(&self, change: &dyn Fn(&mut Value)) {
        let file = self.world.settings();
        let text = fs::read_to_string(&file).unwrap_or_else(|_| "{}".into());
        let mut settings: Value = serde_json::from_str(&text).unwrap();
        change(&mut settings);
        self.world.write(&file, &serde_json::to_string_pretty(&settings).unwrap());
    }

    /// Its entries behind what is there, unless its marker says that they are.
    fn start(&self) {
        if self.dir().join(".installed").exists() {
            return;
        }
        for script in ["forward.sh", "permission.sh", ".installed"] {
            self.world.write(&self.dir().join(script), "#!/bin/sh\n");
        }
        self.edit(&|settings| {
            for (event, groups) in self.hooks().as_object().unwrap() {
                let list = &mut settings["hooks"][event];
                let mut all = list.as_array().cloned().unwrap_or_default();
                all.extend(groups.as_array().unwrap().iter().cloned());
                *list = all.into();
            }
        });
    }

    /// A clean stop: its groups, its scripts and its marker go.
    fn stop(&self) {
        self.edit(&|settings| {
            let Some(hooks) = settings["hooks"].as_object_mut() else { return };
            for groups in hooks.values_mut() {
                let own = |group: &Value| group["_cdev_managed"] == true;
                groups.as_array_mut().unwrap().retain(|group| !own(group));
            }
            hooks.retain(|_, groups| !groups.as_array().unwrap().is_empty());
        });
        fs::remove_dir_all(self.dir()).unwrap();
    }

    fn left(&self) -> usize {
        self.world.read(&self.world.settings()).matches(".cdev/hooks/").count()
    }
}

#[test]
fn what_installs_itself_again_is_a_problem_until_it_is_replaced_again() {
    let world = World::with(PHONE);
    let server = Server::replaced(&world);
    assert_eq!(world.run(&["status", "--offline"]).code, 0);
    server.stop();
    server.start();
    assert_eq!(server.left(), 4);
    let done = world.run(&["status", "--offline", "--json"]);
    let report = done.json();
    assert_eq!((done.code, &report["in_effect"]), (1, &json!(false)), "{}", done.out);
    assert_eq!(report["conflicts"][0]["program"], "cdev");
    let problems = report["problems"].to_string();
    assert!(problems.contains("the phone would be asked twice"), "{problems}");
    assert!(problems.contains("hookctl install --replace"), "{problems}");
    assert!(!report["notes"].to_string().contains("asked twice"), "said once");
    let done = world.run(&["status", "--offline"]);
    assert_eq!(done.code, 1);
    let problem = done.out.lines().find(|line| line.starts_with("problem"));
    assert!(problem.is_some_and(|line| line.contains("cdev")), "{}", done.out);

    // Again and again, and nothing is kept twice.
    for _ in 0..3 {
        world.ok(&["install", "--replace"]);
        assert_eq!((server.left(), world.run(&["status", "--offline"]).code), (0, 0));
        server.stop();
        server.start();
    }
    world.ok(&["install", "--replace"]);
    world.ok(&["uninstall"]);
    assert_eq!(server.left(), 4);
    assert_eq!(count(&world.read(&world.settings()), "hookctl"), 0);
}

/// Whichever file has them: user, project or local.
#[test]
fn both_registered_is_a_problem_in_every_scope() {
    for file in ["settings.json", "settings.local.json"] {
        for dir in ["home", "project"] {
            let world = World::with(PHONE);
            world.ok(&["install"]);
            let dir = if dir == "home" { world.home() } else { world.project() };
            let path = dir.join(".claude").join(file);
            if path == world.home().join(".claude/settings.local.json") {
                continue; // no file that the client reads
            }
            for event in ["PreToolUse", "PermissionRequest", "PostToolUse"] {
                let before = fs::read_to_string(&path).unwrap_or_else(|_| "{}".into());
                let mut settings: Value = serde_json::from_str(&before).unwrap();
                let mut groups = settings["hooks"][event].as_array().cloned().unwrap_or_default();
                groups.push(cdev()["PreToolUse"][0].clone());
                settings["hooks"][event] = groups.into();
                world.write(&path, &settings.to_string());
                let report = world.report();
                let conflict = &report["conflicts"][0];
                assert_eq!(conflict["events"], json!([event]), "{}", path.display());
                assert_eq!(report["in_effect"], false, "{}", path.display());
                let told = json!(path.to_str().unwrap()).to_string();
                let told = told.trim_matches('"');
                assert!(report["problems"].to_string().contains(told), "{report}");
                world.write(&path, &before);
                assert_eq!(world.report()["in_effect"], true);
            }
        }
    }
}

/// What a client says when a settings file changes.
fn changed(world: &World, scope: &str, file: &Path) -> Value {
    let event = json!({
        "hook_event_name": "ConfigChange", "session_id": "s-1", "cwd": world.project(),
        "source": scope, "file_path": file,
    });
    let done = world.feed(
        &["hook", "--agent", "claude", "--event", "ConfigChange"],
        event.to_string().as_bytes(),
    );
    assert_eq!((done.code, done.err.as_str()), (0, ""), "{}", done.out);
    serde_json::from_str(&done.out).unwrap_or_default()
}

#[test]
fn a_session_is_told_when_it_comes_back() {
    let world = World::with(PHONE);
    let server = Server::replaced(&world);
    let file = world.settings();
    assert_eq!(changed(&world, "user_settings", &file), Value::Null);
    server.stop();
    assert_eq!(changed(&world, "user_settings", &file), Value::Null);
    for _ in 0..2 {
        server.start();
        let said = changed(&world, "user_settings", &file);
        let notice = said["systemMessage"].as_str().unwrap_or_default();
        for part in ["cdev", file.to_str().unwrap(), "asked twice", "hookctl install --replace"] {
            assert!(notice.contains(part), "{part}: {said}");
        }
        server.stop();
        assert_eq!(changed(&world, "user_settings", &file), Value::Null);
    }
    // Another file, and one that names no path.
    let local = world.project().join(".claude/settings.local.json");
    world.write(&local, &text(&cdev()));
    assert!(changed(&world, "local_settings", &local).to_string().contains("asked twice"));
    let mut event =
        json!({"hook_event_name": "ConfigChange", "session_id": "s-1", "cwd": world.project()});
    event["source"] = "local_settings".into();
    let said = world.feed(&["hook"], event.to_string().as_bytes()).out;
    assert!(said.contains("asked twice"), "{said}");
    // A file that is broken has no effect, and one without a server of ours is nobody's business.
    world.write(&local, "{");
    assert_eq!(changed(&world, "local_settings", &local), Value::Null);
    world.write(&local, &text(&cdev()));
    world.write(&world.user(), "");
    assert_eq!(changed(&world, "local_settings", &local), Value::Null);
}

#[test]
fn after_a_stop_nothing_comes_back_whose_program_is_gone() {
    let world = World::with(PHONE);
    let server = Server { world: &world };
    world.write(&world.settings(), "{\"model\": \"opus\"}\n");
    server.start();
    world.ok(&["install", "--replace"]);
    server.stop();
    let shown = world.ok(&["uninstall", "--dry-run"]).out;
    assert!(!shown.contains("_cdev_managed"), "{shown}");
    let done = world.ok(&["uninstall"]);
    assert!(!done.out.contains("  brought back"), "{}", done.out);
    for part in ["not brought back", "cdev", "permission.sh", "forward.sh session", "is gone"] {
        assert!(done.out.contains(part), "{part}: {}", done.out);
    }
    assert_eq!(server.left(), 0);
    let now: Value = serde_json::from_str(&world.read(&world.settings())).unwrap();
    assert!(now == json!({"model": "opus"}) || now["hooks"] == json!({}), "{now}");
    // It is all told, and nothing waits for it any more.
    assert!(world.ok(&["uninstall", "--purge"]).out.contains("Removing"));
}

/// A restart between: what it wrote itself stays as it is.
#[test]
fn after_a_restart_its_own_entries_stay() {
    let world = World::with(PHONE);
    let server = Server::replaced(&world);
    server.stop();
    server.start();
    let done = world.ok(&["uninstall"]);
    assert!(!done.out.contains("not brought back"), "{}", done.out);
    assert_eq!(server.left(), 4);
    let now: Value = serde_json::from_str(&world.read(&world.settings())).unwrap();
    assert_eq!(now["hooks"], server.hooks());
}

/// What stands in an entry's place: the command, how its program goes, and whether the entry is
/// brought back then.
#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn gone_is_what_was_there_and_is_not_any_more() {
    type Go = fn(&World);
    let delete: Go = |world| fs::remove_file(world.home().join(".cdev/hooks/p.sh")).unwrap();
    let directory: Go = |world| fs::remove_dir_all(world.home().join(".cdev")).unwrap();
    let nothing: Go = |_| ();
    let dangle: Go = |world| fs::remove_file(world.home().join("real.sh")).unwrap();
    let other: Go = |world| fs::remove_file(world.home().join("conf.json")).unwrap();
    let node: Go = |world| fs::remove_file(world.home().join("bin/node")).unwrap();
    let moved: Go = |world| {
        fs::create_dir_all(world.home().join("other")).unwrap();
        fs::rename(world.home().join("bin/node"), world.home().join("other/node")).unwrap();
    };
    let blocked: Go = |world| {
        fs::remove_dir_all(world.home().join(".cdev")).unwrap();
        world.write(&world.home().join(".cdev"), "");
    };
    let unreadable: Go = |world| {
        let file = world.home().join(".cdev/hooks/p.sh");
        system::set_mode(file, 0o000);
    };
    let cases: &[(&str, Go, bool)] = &[
        // As it is written, and what goes.
        ("{H}/.cdev/hooks/p.sh", delete, false),
        ("{H}/.cdev/hooks/p.sh session", directory, false),
        ("{H}/.cdev/hooks/p.sh", blocked, false),
        ("~/.cdev/hooks/p.sh", delete, false),
        ("$HOME/.cdev/hooks/p.sh", delete, false),
        ("\"${HOME}/.cdev/hooks/p.sh\" x", delete, false),
        ("'{H}/.cdev/hooks/p.sh'", delete, false),
        ("\"$HOME\"/.cdev/hooks/p.sh", delete, false),
        ("X=1 exec {H}/.cdev/hooks/p.sh", delete, false),
        ("bash {H}/.cdev/hooks/p.sh", delete, false),
        ("bash -c '{H}/.cdev/hooks/p.sh session'", delete, false),
        ("test -x ~/.cdev/hooks/p.sh && ~/.cdev/hooks/p.sh; true", delete, false),
        ("node {H}/.cdev/hooks/p.sh", node, false),
        ("{H}/bin/node {H}/.cdev/hooks/p.sh", node, false),
        ("{H}/.cdev/hooks/link.sh", dangle, false),
        (
            "{P}/.cdev/hooks/q.sh",
            |world| {
                fs::remove_file(world.project().join(".cdev/hooks/q.sh")).unwrap();
            },
            false,
        ),
        // Near misses: its program is there, or never was.
        ("{H}/.cdev/hooks/p.sh", nothing, true),
        ("{H}/.cdev/hooks/p.sh", unreadable, true),
        ("{H}/.cdev/hooks/link.sh", delete, true),
        ("{H}/.cdev/hooks/p.sh --config {H}/conf.json", other, true),
        ("{H}/.cdev/hooks/never.sh", directory, true),
        ("$NOWHERE/.cdev/hooks/p.sh", directory, true),
        ("node {H}/.cdev/hooks/p.sh", moved, true),
        ("bash -c '. {H}/.cdev/hooks/p.sh'", nothing, true),
        ("/bin/sh -c 'curl -s http://127.0.0.1:1/.cdev/hooks/x'", directory, true),
    ];
    for (at, (command, go, back)) in cases.iter().enumerate() {
        for form in ["shell", "args"] {
            let world = World::with(PHONE);
            let home = world.home();
            for file in
                [".cdev/hooks/p.sh", "real.sh", "bin/node", "conf.json", "project/.cdev/hooks/q.sh"]
            {
                world.write(&home.join(file), "#!/bin/sh\n");
                system::set_mode(home.join(file), 0o755);
            }
            system::symlink(home.join("real.sh"), home.join(".cdev/hooks/link.sh")).unwrap();
            let command = command.replace("{H}", home.to_str().unwrap());
            let command = command.replace("{P}", world.project().to_str().unwrap());
            let mut entry = json!({"type": "command", "command": command});
            if form == "args" {
                if command.contains(['\'', '"', '$', '~', '=', '&']) {
                    continue;
                }
                let mut words = command.split(' ');
                entry["command"] = words.next().into();
                entry["args"] = words.collect::<Vec<_>>().into();
            }
            let group = json!({"_cdev_managed": true, "matcher": "*", "hooks": [entry]});
            let before = text(&json!({"PreToolUse": [group]}));
            world.write(&world.settings(), &before);
            let path = |dirs: &[&str]| {
                let own = dirs.iter().map(|dir| home.join(dir).display().to_string());
                own.collect::<Vec<_>>().join(":")
            };
            let run = |args: &[&str], dirs: &[&str]| -> Done {
                let done: Done = world.start(args).env("PATH", path(dirs)).output().unwrap().into();
                assert_eq!(done.code, 0, "{command}: {}", done.err);
                done
            };
            // For `node`, only ours counts.
            run(&["install", "--replace"], &["bin"]);
            go(&world);
            // A shell of another kind, where nothing of it is in PATH, but for what was moved.
            let done =
                run(&["uninstall"], if command.starts_with("node") { &["other"] } else { &[] });
            let now = world.read(&world.settings());
            assert_eq!(now.contains("_cdev_managed"), *back, "{at} {form} {command}: {now}");
            assert_eq!(done.out.contains("  not brought back"), !back, "{command}: {}", done.out);
            if *back {
                assert_eq!(now, before, "{command}");
            }
        }
    }
}

/// Of several entries each for itself, in the file's own bytes and in what others wrote since.
#[test]
#[cfg_attr(windows, ignore = "needs a POSIX shell")]
fn what_is_there_comes_back_beside_what_is_gone() {
    for edited in [false, true] {
        for whole_group in [false, true] {
            let world = World::with(PHONE);
            let home = world.home();
            for file in ["a.sh", "b.sh"] {
                world.write(&home.join(".cdev/hooks").join(file), "#!/bin/sh\n");
            }
            let entry = |name: &str| json!({"type": "command", "command": home.join(".cdev/hooks").join(name)});
            let managed = |entries: &[Value]| json!({"_cdev_managed": true, "matcher": "*", "hooks": entries});
            let theirs = json!({"type": "command", "command": "theirs"});
            let groups = match whole_group {
                true => vec![managed(&[entry("a.sh")]), managed(&[entry("b.sh"), theirs.clone()])],
                false => vec![managed(&[entry("a.sh"), entry("b.sh"), theirs.clone()])],
            };
            let other = group("/opt/guard.sh");
            let mut all = groups.clone();
            all.push(other.clone());
            let before = text(&json!({"PreToolUse": all, "Stop": [managed(&[entry("a.sh")])]}));
            world.write(&world.settings(), &before);
            world.ok(&["install", "--replace"]);
            if edited {
                let now = world.read(&world.settings()).replace("opus", "sonnet");
                world.write(&world.settings(), &now);
            }
            fs::remove_file(home.join(".cdev/hooks/a.sh")).unwrap();
            let done = world.ok(&["uninstall"]);
            assert!(done.out.contains("  brought back cdev: PreToolUse"), "{}", done.out);
            assert!(done.out.contains("  not brought back"), "{}", done.out);
            let now: Value = serde_json::from_str(&world.read(&world.settings())).unwrap();
            let want = json!({"PreToolUse": [managed(&[entry("b.sh"), theirs.clone()]), other]});
            let mut hooks = now["hooks"].clone();
            // Of an event that was there an empty list may stay.
            hooks.as_object_mut().unwrap().retain(|_, groups| *groups != json!([]));
            assert_eq!(hooks, want, "{edited} {whole_group}");
            assert_eq!(count(&now.to_string(), "hookctl"), 0);
        }
    }
}

/// Where the bridge's hooks are the last of ours, their end says so as well.
#[test]
fn the_end_of_the_bridge_says_what_is_gone() {
    let world = World::with(PHONE);
    let server = Server { world: &world };
    server.start();
    world.ok(&["claude-hook", "--enable"]);
    world.ok(&["install", "--replace"]);
    server.edit(&|settings| {
        for groups in settings["hooks"].as_object_mut().unwrap().values_mut() {
            groups.as_array_mut().unwrap().retain(|group| group["matcher"] == "*");
        }
    });
    fs::remove_dir_all(server.dir()).unwrap();
    let done = world.ok(&["claude-hook", "--disable"]);
    assert!(done.err.contains("not brought back cdev: PreToolUse"), "{}", done.err);
    assert_eq!(server.left(), 0);
}

/// Notes of an earlier version do not say which programs were there: then nothing is called gone.
#[test]
fn notes_without_programs_bring_all_back() {
    let world = World::with(PHONE);
    let server = Server { world: &world };
    server.start();
    let before = world.read(&world.settings());
    world.ok(&["install", "--replace"]);
    let notes = world.state().join("installs.json");
    let mut read: Value = serde_json::from_str(&world.read(&notes)).unwrap();
    for file in read["files"].as_object_mut().unwrap().values_mut() {
        for taken in file["taken"].as_array_mut().unwrap() {
            assert!(taken.as_object_mut().unwrap().remove("files").is_some());
        }
    }
    world.write(&notes, &read.to_string());
    fs::remove_dir_all(server.dir()).unwrap();
    world.ok(&["uninstall"]);
    assert_eq!(world.read(&world.settings()), before);
}

/// A file elsewhere that only waits for what is gone waits for nothing.
#[test]
fn what_is_gone_elsewhere_keeps_no_state() {
    let world = World::with(PHONE);
    let project = world.project().join(".claude/settings.json");
    let server = Server { world: &world };
    server.start();
    world.write(&project, &text(&server.hooks()));
    world.ok(&["install", "--replace"]);
    assert_eq!(world.read(&project).matches(".cdev/hooks/").count(), 0);
    fs::remove_dir_all(server.dir()).unwrap();
    let elsewhere = world.start(&["uninstall", "--purge"]).current_dir("/").output().unwrap();
    let done = Done::from(elsewhere);
    assert_eq!(done.code, 0, "{}\n{}", done.out, done.err);
    assert!(!done.out.contains("Still without"), "{}", done.out);
}
