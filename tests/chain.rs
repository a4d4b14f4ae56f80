//! The journal's chain: what `hookctl log --verify` says of a journal as it was written, of one that somebody changed, and of one
//! whose writers were killed.

#![cfg(unix)]

mod cli;

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;
use std::thread;

use cli::World;
use hookctl::journal::{self, Line};
use hookctl::rule::file::JournalConfig;
use serde_json::json;

fn path(world: &World) -> PathBuf {
    world.state().join("journal.jsonl")
}

fn head(world: &World) -> PathBuf {
    world.state().join("journal.head")
}

fn add(world: &World, from: usize, to: usize, config: &JournalConfig) {
    for number in from..=to {
        let what = format!("call {number}");
        let line = Line { what, decision: "deny".into(), ..Line::new("claude") };
        journal::append(&path(world), config, line);
    }
}

/// A journal of ten lines.
fn ten() -> World {
    let world = World::new();
    add(&world, 1, 10, &JournalConfig::default());
    world
}

fn verify(world: &World) -> (i32, String) {
    let done = world.run(&["log", "--verify"]);
    (done.code, format!("{}{}", done.out, done.err))
}

/// What is found after the lines were changed so.
fn after(change: impl Fn(&mut Vec<String>)) -> (i32, String) {
    let world = ten();
    let text = fs::read_to_string(path(&world)).unwrap();
    let mut lines: Vec<String> = text.split_inclusive('\n').map(str::to_string).collect();
    change(&mut lines);
    fs::write(path(&world), lines.concat()).unwrap();
    verify(&world)
}

#[test]
fn what_was_written_is_whole() {
    assert_eq!(
        verify(&ten()),
        (0, "lines in the chain: 10; every line is as it was written\n".into())
    );
    let world = World::new();
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("no decision yet"), "{said}");
    assert!(!head(&world).exists());
    // The hook itself.
    let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s",
        "cwd": world.project(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
    for _ in 0..3 {
        world.feed(&["hook"], payload.to_string().as_bytes());
    }
    assert_eq!(
        verify(&world),
        (0, "lines in the chain: 3; every line is as it was written\n".into())
    );
}

#[test]
fn each_hostile_edit_is_found_and_placed() {
    let found = |change: &dyn Fn(&mut Vec<String>), wanted: &[&str]| {
        let (code, said) = after(change);
        assert_eq!(code, 1, "{wanted:?}: {said}");
        for part in wanted {
            assert!(said.contains(part), "{part}: {said}");
        }
    };
    let edit = |lines: &mut Vec<String>, at: usize| lines[at] = lines[at].replace("deny", "allow");
    found(&|lines| edit(lines, 4), &["journal.jsonl:5: this line was edited"]);
    found(&|lines| edit(lines, 0), &["journal.jsonl:1: this line was edited"]);
    found(&|lines| edit(lines, 9), &["journal.jsonl:10: this line was edited"]);
    found(&|lines| drop(lines.remove(4)), &["journal.jsonl:5: missing before this line: 1"]);
    found(&|lines| drop(lines.drain(3..6)), &["journal.jsonl:4: missing before this line: 3"]);
    found(
        &|lines| drop(lines.drain(..2)),
        &["journal.jsonl:1: missing before this line: 2", "has not dropped"],
    );
    found(&|lines| lines.truncate(7), &["journal.jsonl: missing at the end: 3"]);
    found(&|lines| lines.truncate(0), &["journal.jsonl: missing at the end: 10"]);
    found(
        &|lines| lines.swap(3, 4),
        &["journal.jsonl:4: missing before this line: 1", "comes behind number"],
    );
    found(&|lines| lines.insert(5, lines[2].clone()), &["journal.jsonl:6: number 3 comes behind"]);
    found(
        &|lines| lines.insert(5, "{\"decision\":\"deny\"}\n".into()),
        &["journal.jsonl:6: this line has no"],
    );
    found(&|lines| lines.insert(5, "nothing\n".into()), &["journal.jsonl:6: this is no line"]);
    // Its place was taken out, so that it looks as old lines do.
    found(
        &|lines| lines[4] = format!("{}}}\n", lines[4].split(",\"n\":").next().unwrap()),
        &[
            "journal.jsonl:5: this line has no place",
            "journal.jsonl:6: missing before this line: 1",
        ],
    );
    // Cut off, the rest with it.
    found(
        &|lines| {
            lines.truncate(8);
            let half = lines[7].len() / 2;
            lines[7].truncate(half);
        },
        &["journal.jsonl:8: half a line", "missing at the end: 3"],
    );
    // One within made half a line: the chain knows that it was whole.
    found(
        &|lines| lines[4] = "{\"time\":\n".into(),
        &["journal.jsonl:6: missing before this line: 1"],
    );
    // A line and its hash made anew, from one written elsewhere.
    let other = World::new();
    add(&other, 91, 100, &JournalConfig::default());
    let forged = fs::read_to_string(path(&other)).unwrap();
    let forged: Vec<&str> = forged.split_inclusive('\n').collect();
    found(
        &|lines| lines[4] = forged[4].into(),
        &["journal.jsonl:5: the line before", "journal.jsonl:6: the line before"],
    );
    found(&|lines| lines[9] = forged[9].into(), &["its last line was replaced"]);
    found(
        &|lines| *lines = forged.iter().map(|line| line.to_string()).collect(),
        &["its last line was replaced"],
    );
    found(
        &|lines| lines.push(lines[9].replace("\"n\":10,", "\"n\":18446744073709551615,")),
        &["journal.jsonl:11: this line was edited"],
    );
}

#[test]
fn what_was_cut_stays_missing_whatever_comes_after() {
    let world = ten();
    let text = fs::read_to_string(path(&world)).unwrap();
    let kept: String = text.split_inclusive('\n').take(6).collect();
    fs::write(path(&world), kept).unwrap();
    add(&world, 11, 12, &JournalConfig::default());
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("journal.jsonl:7: missing before this line: 4"), "{said}");
    // The same of a journal that was deleted.
    fs::remove_file(path(&world)).unwrap();
    add(&world, 13, 13, &JournalConfig::default());
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("journal.jsonl:1: missing before this line: 12"), "{said}");
    // Without its head nobody can say.
    let world = ten();
    fs::remove_file(head(&world)).unwrap();
    let (code, said) = verify(&world);
    assert!(
        code == 1 && said.contains("whether the last lines are there nobody can say"),
        "{said}"
    );
    // It goes on from the last line that is there, and says that it did.
    add(&world, 11, 13, &JournalConfig::default());
    let (code, said) = verify(&world);
    assert!(
        code == 1 && said.contains("journal.jsonl:11: the head of the journal was gone"),
        "{said}"
    );
    assert!(!said.contains("journal.jsonl:12"), "{said}");
    // So the end cannot be cut off and the rest be healed by the next event.
    let world = ten();
    let text = fs::read_to_string(path(&world)).unwrap();
    let kept: String = text.split_inclusive('\n').take(6).collect();
    fs::write(path(&world), kept).unwrap();
    fs::remove_file(head(&world)).unwrap();
    add(&world, 11, 12, &JournalConfig::default());
    let (code, said) = verify(&world);
    assert!(
        code == 1 && said.contains("journal.jsonl:7: the head of the journal was gone"),
        "{said}"
    );
}

#[test]
fn a_crash_is_called_a_crash() {
    // Between the line and the head.
    let world = World::new();
    add(&world, 1, 9, &JournalConfig::default());
    let before = fs::read(head(&world)).unwrap();
    add(&world, 10, 10, &JournalConfig::default());
    fs::write(head(&world), before).unwrap();
    let (code, said) = verify(&world);
    assert!(code == 0 && said.contains("the head is one line behind"), "{said}");
    add(&world, 11, 11, &JournalConfig::default());
    assert_eq!(
        verify(&world),
        (0, "lines in the chain: 11; every line is as it was written\n".into())
    );
    // Within a line.
    for part in ["{", "{\"time\":\"2026", "{\"time\":\"2026\",\"agent\":\"claude\"}"] {
        let world = ten();
        let mut text = fs::read_to_string(path(&world)).unwrap();
        text.push_str(part);
        fs::write(path(&world), text).unwrap();
        add(&world, 11, 12, &JournalConfig::default());
        let (code, said) = verify(&world);
        let torn = !part.ends_with('}');
        assert_eq!(code, i32::from(!torn), "{part}: {said}");
        assert!(
            said.contains("journal.jsonl:11: ") && said.contains("lines in the chain: 12"),
            "{said}"
        );
        assert!(!said.contains("missing before") && !said.contains("edited:"), "{said}");
    }
    // Of a head nothing is left.
    let world = ten();
    fs::write(head(&world), "").unwrap();
    add(&world, 11, 11, &JournalConfig::default());
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("the head of the journal was gone"), "{said}");
    // What stands there is no text of a line's.
    let text = format!("{:020} {:020} \",\"decision\":\"allow\",\"x\":\"AAAAAA {:020}\n", 0, 11, 1);
    fs::write(head(&world), text).unwrap();
    add(&world, 12, 12, &JournalConfig::default());
    assert!(!fs::read_to_string(path(&world)).unwrap().contains("AAAAAA"));
}

#[test]
fn the_chain_goes_on_through_rotated_files() {
    let world = World::new();
    let config = JournalConfig { max_size: 1_000, keep: 3, ..JournalConfig::default() };
    add(&world, 1, 8, &config);
    let all = || path(&world).parent().unwrap().read_dir().unwrap().count();
    assert!(all() >= 3, "{}", all());
    let (code, said) = verify(&world);
    assert_eq!(
        (code, said.as_str()),
        (0, "lines in the chain: 8; every line is as it was written\n")
    );
    add(&world, 9, 40, &config);
    let (code, said) = verify(&world);
    assert!(code == 0 && said.contains("every line is as it was written"), "{said}");
    // What rotation has left is known, whatever the user's settings say.
    let oldest = path(&world).with_extension("jsonl.3");
    let whole = fs::read_to_string(&oldest).unwrap();
    world.write(&world.home().join(".config/hookctl/config.toml"), "[journal]\nkeep = 0\n");
    fs::write(&oldest, whole.split_once('\n').unwrap().1).unwrap();
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("which rotation has not dropped"), "{said}");
    fs::write(&oldest, whole).unwrap();
    assert_eq!(verify(&world).0, 0);
    // A file within is gone.
    fs::remove_file(path(&world).with_extension("jsonl.2")).unwrap();
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("missing before this line"), "{said}");
    // What nobody keeps has its place all the same.
    let world = World::new();
    add(&world, 1, 9, &JournalConfig { max_size: 1_000, keep: 0, ..JournalConfig::default() });
    assert!(!said.contains("edited"), "{said}");
}

#[test]
fn old_lines_are_counted_and_links_are_refused() {
    let world = World::new();
    world.write(&path(&world), "{\"time\":\"2026-01-01T00:00:00Z\",\"decision\":\"deny\"}\n");
    add(&world, 1, 2, &JournalConfig::default());
    let (code, said) = verify(&world);
    assert!(code == 0 && said.contains("from before the chain"), "{said}");
    // They are bound from then on: none is edited, none comes to them, none goes.
    let whole = fs::read_to_string(path(&world)).unwrap();
    for changed in [
        whole.replacen("deny", "allow", 1),
        format!("{{\"decision\":\"deny\"}}\n{whole}"),
        whole.split_once('\n').unwrap().1.to_string(),
    ] {
        fs::write(path(&world), changed).unwrap();
        let (code, said) = verify(&world);
        assert!(code == 1 && said.contains("is not what was there"), "{said}");
    }
    // Behind half a line of an earlier version.
    let world = World::new();
    world.write(
        &path(&world),
        "{\"time\":\"2026-01-01T00:00:00Z\",\"decision\":\"deny\"}\n{\"time\":",
    );
    add(&world, 1, 2, &JournalConfig::default());
    let (code, said) = verify(&world);
    assert!(code == 0 && said.contains("half a line"), "{said}");
    // Of files that were rotated by an earlier version nothing is known, and that is said.
    let world = World::new();
    let old = path(&world).with_extension("jsonl.1");
    world.write(&old, "{\"time\":\"2026-01-01T00:00:00Z\",\"decision\":\"deny\"}\n");
    add(&world, 1, 2, &JournalConfig::default());
    let (code, said) = verify(&world);
    assert!(code == 0 && said.contains("from before the chain"), "{said}");
    // Where the head cannot be had a line is written all the same.
    let world = ten();
    fs::remove_file(head(&world)).unwrap();
    fs::create_dir(head(&world)).unwrap();
    add(&world, 11, 11, &JournalConfig::default());
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("journal.jsonl:11: this line has no place"), "{said}");
    fs::remove_dir(head(&world)).unwrap();
    std::os::unix::fs::symlink("/dev/null", head(&world)).unwrap();
    add(&world, 12, 12, &JournalConfig::default());
    assert!(fs::read_to_string(path(&world)).unwrap().contains("call 12"));
}

#[test]
fn before_the_first_line_of_all_nothing_can_be_put() {
    let forged = "{\"time\":\"2026-01-01T00:00:00Z\",\"decision\":\"allow\"}\n";
    let (code, said) = after(|lines| lines.insert(0, forged.into()));
    assert!(code == 1 && said.contains("journal.jsonl:2: lines before this one"), "{said}");
    // Nor in a file that looks rotated.
    let world = ten();
    world.write(&path(&world).with_extension("jsonl.7"), forged);
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("journal.jsonl:1: lines before this one"), "{said}");
}

#[test]
fn a_journal_that_cannot_be_read_is_not_accused() {
    let world = ten();
    fs::remove_file(path(&world)).unwrap();
    fs::create_dir(path(&world)).unwrap();
    let (code, said) = verify(&world);
    assert!(code == 2 && said.contains("is a directory"), "{said}");
    assert!(!said.contains("missing"), "{said}");
    fs::remove_dir(path(&world)).unwrap();
    std::os::unix::fs::symlink(path(&world), path(&world)).unwrap();
    let (code, said) = verify(&world);
    assert!(code == 2 && said.contains("cannot be read"), "{said}");
    fs::remove_file(path(&world)).unwrap();
    // Somebody has the head: what it says counts all the same.
    let world = ten();
    let held = fs::File::open(head(&world)).unwrap();
    held.lock().unwrap();
    assert_eq!(verify(&world).0, 0);
    drop(held);
    // One that is gone is missing.
    fs::remove_file(path(&world)).unwrap();
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("missing at the end: 10"), "{said}");
}

#[test]
fn an_endless_line_is_one_line() {
    let long = "x".repeat(5 << 20) + "\n";
    let (code, said) = after(|lines| {
        lines.insert(2, long.clone());
        lines.insert(7, "nothing\n".into());
    });
    assert_eq!(code, 1, "{said}");
    assert!(said.contains("journal.jsonl:3: this is no line"), "{said}");
    assert!(said.contains("journal.jsonl:8: this is no line"), "{said}");
    assert!(said.contains("faults: 2\n"), "{said}");
}

#[test]
fn writers_at_once_make_one_chain() {
    let world = World::new();
    let config = JournalConfig { max_size: 20_000, keep: 9, ..JournalConfig::default() };
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| add(&world, 1, 40, &config));
        }
    });
    assert_eq!(
        verify(&world),
        (0, "lines in the chain: 320; every line is as it was written\n".into())
    );
    // Processes, some of them killed.
    let world = World::new();
    let payload =
        json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": world.project(),
        "tool_name": "Bash", "tool_input": { "command": "git status" } })
        .to_string();
    for round in 0..6_u64 {
        let mut children: Vec<_> = (0..6)
            .map(|_| {
                let mut command = world.start(&["hook"]);
                let mut child =
                    command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
                use std::io::Write as _;
                let _ = child.stdin.take().unwrap().write_all(payload.as_bytes());
                child
            })
            .collect();
        thread::sleep(std::time::Duration::from_millis(4 * round));
        children[0].kill().unwrap();
        for child in &mut children {
            child.wait().unwrap();
        }
    }
    let (code, said) = verify(&world);
    assert_eq!(code, 0, "{said}");
    assert!(said.contains("; every line is as it was written"), "{said}");
}

/// So small that every line fills a file.
fn each_alone(keep: u32) -> JournalConfig {
    JournalConfig { max_size: 1, keep, ..JournalConfig::default() }
}

#[test]
fn once_lines_were_dropped_nothing_can_be_put_before_the_rest() {
    const FORGED: &str = "{\"time\":\"2026-01-01T00:00:00.000Z\",\"agent\":\"claude\",\"what\":\"x\",\"decision\":\"allow\"}\n";
    let world = World::new();
    add(&world, 1, 9, &each_alone(2));
    assert_eq!(verify(&world).0, 0, "{}", verify(&world).1);
    let oldest = path(&world).with_extension("jsonl.2");
    let own = fs::read_to_string(&oldest).unwrap();
    fs::write(&oldest, [FORGED, &own].concat()).unwrap();
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("jsonl.2:1: this line has no place in the chain"), "{said}");
    fs::write(&oldest, own).unwrap();
    fs::write(path(&world).with_extension("jsonl.9"), FORGED).unwrap();
    let (code, said) = verify(&world);
    assert!(code == 1 && said.contains("jsonl.9:1: this line has no place in the chain"), "{said}");
}

#[test]
fn what_is_kept_may_become_less_and_more() {
    let world = World::new();
    for keep in [5, 2, 1, 4, 0, 3] {
        add(&world, 1, 9, &each_alone(keep));
        let (code, said) = verify(&world);
        assert_eq!(code, 0, "{keep}: {said}");
        let files = fs::read_dir(world.state()).unwrap().flatten();
        let rotated = files.filter(|file| file.file_name().to_string_lossy().contains("jsonl."));
        assert!(rotated.count() <= keep as usize, "{keep}");
    }
}

#[test]
fn a_crash_between_rotation_and_the_head_gives_no_number_twice() {
    let world = World::new();
    let usual = JournalConfig::default();
    add(&world, 1, 3, &usual);
    let behind = fs::read(head(&world)).unwrap();
    add(&world, 4, 4, &usual);
    fs::rename(path(&world), path(&world).with_extension("jsonl.1")).unwrap();
    fs::write(head(&world), behind).unwrap();
    add(&world, 5, 6, &usual);
    let (code, said) = verify(&world);
    assert!(code == 0 && said.contains("lines in the chain: 6"), "{said}");
}

#[test]
fn no_line_is_longer_than_what_is_read_again() {
    let world = World::new();
    let long = "x".repeat(2 << 20);
    for field in ["session_id", "tool_name", "cwd", "hook_event_name"] {
        let mut payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s",
            "cwd": world.project(), "tool_name": "Bash", "tool_input": { "command": "ls" } });
        payload[field] = format!("/{long}").into();
        world.feed(&["hook"], payload.to_string().as_bytes());
    }
    let text = fs::read_to_string(path(&world)).unwrap();
    assert!(text.lines().count() == 4 && text.len() < 64 << 10, "{}", text.len());
    assert_eq!(verify(&world).0, 0, "{}", verify(&world).1);
}
