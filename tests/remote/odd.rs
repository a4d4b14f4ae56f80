//! `hookctl claude-hook` where its command line, its environment or its directories are odd.

use std::fs;

use super::bridge::{EVENT, TAKEN, default_dir, elements, file};
use super::claude_hook::{port, silent};
use super::*;

#[test]
fn s3_08_no_directory_is_the_default_and_any_name_is_one() {
    let home = Home::new("");
    silent(&home.run(&["claude-hook", "--port", "1", "--dir", ""], "{}"));
    elements(&file(&default_dir(&home)), 1);
    assert_eq!(fs::read_dir(home.path().join("project")).unwrap().count(), 0);
    #[cfg(unix)]
    {
        use std::os::unix::ffi::OsStrExt as _;
        let dir = home.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
        let mut command = home.command(&["claude-hook", "--port", "1", "--dir"]);
        silent(&finish(command.arg(&dir).spawn().unwrap(), "{}"));
        elements(&file(&dir), 1);
        // A repository's own directory: what its links point to is left alone.
        let dir = home.path().join("project/hooks");
        fs::create_dir(&dir).unwrap();
        fs::write(home.path().join("precious"), "p").unwrap();
        for name in ["claude-hook-events.json.lock", "claude-hook-events-errors.json"] {
            std::os::unix::fs::symlink(home.path().join("precious"), dir.join(name)).unwrap();
        }
        silent(&home.run(&["claude-hook", "--port", "1", "--dir", "hooks"], "{}"));
        let end = Instant::now() + Duration::from_secs(20);
        while !home.journal().contains("events.json.lock") && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(home.waiting().len(), 1, "it is not lost: {}", home.journal());
        assert_eq!(fs::read_to_string(home.path().join("precious")).unwrap(), "p");
    }
}

/// The options of every command may stand before it, and it is still the hook.
#[test]
fn s3_08_options_before_the_command_change_nothing() {
    let server = Server::start(vec![ok(TAKEN)]);
    let home = Home::new("");
    let state = home.path().join("s");
    let state = ["--state", state.to_str().unwrap(), "--config=c"];
    let run = |more: &[&str], text: &str| home.run(&[&state[..], more].concat(), text);
    silent(&run(&["claude-hook", "--port", &port(&server.url)], EVENT));
    assert!(server.seen_when(1)[0].body == EVENT.as_bytes());
    // Without a command it is the guard's, as nobody types there.
    for more in [&["hook"][..], &["--color", "never", "hook"], &[]] {
        let output = run(more, &bash("rm -rf /").to_string());
        assert_eq!(verdict(&answer_of(&output)).0, "deny", "{more:?}");
        assert!(output.stderr.is_empty(), "{output:?}");
    }
    assert!(home.path().join("s/journal.jsonl").exists());
}

#[test]
fn s3_08_what_a_full_spool_loses_is_in_the_journal() {
    let home = Home::new("");
    silent(&home.run(&["claude-hook", "--port", "1"], "{}"));
    elements(&file(&default_dir(&home)), 1);
    let spool = fs::read_dir(home.state().join("spool")).unwrap().flatten().next().unwrap().path();
    // Somebody sends, and takes long.
    let lock = fs::File::open(spool.join("lock")).unwrap();
    lock.lock().unwrap();
    (0..1000).for_each(|n| fs::write(spool.join(format!("{n:04}.json")), "").unwrap());
    silent(&home.run(&["claude-hook", "--port", "1"], "{}"));
    assert!(home.journal().contains("oldest were dropped: 1"), "{}", home.journal());
}

#[test]
fn s3_08_what_one_directory_does_not_take_keeps_no_other_waiting() {
    let home = Home::new("");
    fs::write(home.path().join("f"), "").unwrap();
    for (count, dir) in [(1, "~/f"), (1, "~/good")] {
        silent(&home.run(&["claude-hook", "--port", "1", "--dir", dir], "{}"));
        let end = Instant::now() + Duration::from_secs(20);
        while !home.journal().contains("/f: ") && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(home.waiting().len() >= count, "{}", home.journal());
    }
    elements(&file(&home.path().join("good")), 1);
    assert_eq!(home.waiting().len(), 1);
    let (code, said) = home.flush();
    assert!(code == 1 && said.starts_with("@claude-hook: 1 kept: "), "{said}");
}

/// A repository's settings can set variables for hooks.
#[cfg(unix)]
#[test]
fn no_name_of_the_temporary_directory_leads_into_the_project() {
    for name in ["project/tmp", "link/tmp", "o/../project/tmp", "/proc/self/cwd/tmp", "none", ""] {
        let home = Home::new("");
        fs::write(home.path().join(".a24z"), "").unwrap();
        let project = home.path().join("project");
        fs::create_dir_all(project.join("tmp")).unwrap();
        fs::create_dir(home.path().join("o")).unwrap();
        std::os::unix::fs::symlink(&project, home.path().join("link")).unwrap();
        let mut command = home.command(&["claude-hook", "--port", "1"]);
        command.env("TMPDIR", home.path().join(name)).env("CLAUDE_PROJECT_DIR", &project);
        silent(&finish(command.current_dir(&project).spawn().unwrap(), "{}"));
        let end = Instant::now() + Duration::from_secs(20);
        while home.journal().is_empty() && !home.path().join(".a24z-hooks").exists() {
            assert!(Instant::now() < end, "{name}");
            std::thread::sleep(Duration::from_millis(5));
        }
        let inside = |dir: &std::path::Path| fs::read_dir(dir).unwrap().flatten().count();
        assert_eq!((inside(&project), inside(&project.join("tmp"))), (1, 0), "{name}");
        assert!(!home.path().join("none").exists());
        // Where there is none it waits; what is in its file is gone from the spool a moment later.
        let wanted = usize::from(!name.is_empty());
        while home.waiting().len() > wanted && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert_eq!(home.waiting().len(), wanted, "{name}");
    }
}
