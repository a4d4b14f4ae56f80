//! One event judged from end to end, with files of its own.

use std::cell::RefCell;
use std::fs;
use std::path::{Path, PathBuf};

use hookctl::config::Config;
use hookctl::dry::{self, Dry};
use hookctl::effect::Place;
use hookctl::event::Kind;
use hookctl::paths::{PROJECT_FILE, Paths};

/// How many names of a tree are made: each costs two calls of the system.
const NAMES: usize = 64;

thread_local! {
    /// Where trees are made, and the last one, which need not be made again.
    static ROOM: RefCell<(tempfile::TempDir, String)> =
        RefCell::new((tempfile::tempdir().expect("a directory"), String::new()));
}

/// The part of the input behind `--NAME`, up to the next.
fn part<'t>(text: &'t str, name: &str) -> &'t str {
    let mark = format!("--{name}\n");
    let Some(at) = text.find(&mark) else { return "" };
    let rest = &text[at + mark.len()..];
    let end = ["\n--project\n", "\n--user\n", "\n--tree\n", "\n--call\n"]
        .iter()
        .filter_map(|mark| rest.find(mark))
        .min();
    &rest[..end.unwrap_or(rest.len())]
}

/// A name below the directory, and nowhere else.
fn inside(dir: &Path, name: &str) -> Option<PathBuf> {
    let fits = !name.is_empty() && name.len() < 200 && !name.contains('\0');
    (fits && name.split('/').all(|part| !matches!(part, "" | "." | ".."))).then(|| dir.join(name))
}

fn grow(dir: &Path, tree: &str) {
    let _ = fs::remove_dir_all(dir);
    let _ = fs::create_dir_all(dir.join(".git"));
    for line in tree.lines().take(NAMES) {
        let (name, link) =
            line.split_once(" -> ").map_or((line, None), |(name, to)| (name, Some(to)));
        let Some(path) = inside(dir, name.trim_end_matches('/')) else { continue };
        // Through a link that leads elsewhere nothing is made.
        let parent = path.parent().unwrap_or(dir);
        let linked = |at: &Path| fs::symlink_metadata(at).is_ok_and(|meta| meta.is_symlink());
        if parent.ancestors().take_while(|at| at.starts_with(dir)).any(linked) {
            continue;
        }
        let _ = fs::create_dir_all(parent);
        let _ = match link {
            Some(to) if !to.contains('\0') => std::os::unix::fs::symlink(to, &path),
            _ if name.ends_with('/') => fs::create_dir_all(&path),
            _ => fs::write(&path, ""),
        };
    }
}

/// Judges it and checks the answer.
///
/// # Panics
/// When the answer breaks a law.
pub fn judge(text: &str) {
    ROOM.with(|room| {
        let (dir, grown) = &mut *room.borrow_mut();
        let (home, project) = (dir.path().join("home"), dir.path().join("project"));
        let tree = part(text, "tree");
        if grown.as_str() != tree || !project.is_dir() {
            grow(&project, tree);
            *grown = tree.to_string();
        }
        let paths = Paths {
            managed: home.join("managed.toml"),
            fleet: PathBuf::from("/nowhere"),
            config: home.join("config"),
            state: home.join("state"),
            home: home.clone(),
        };
        let _ = fs::create_dir_all(&paths.config);
        // The state is no part of the input.
        let _ = fs::remove_dir_all(&paths.state);
        fs::write(paths.user_config(), part(text, "user")).expect("the user's file");
        // A tree may have a directory or a link there.
        let _ = fs::remove_file(project.join(PROJECT_FILE));
        let _ = fs::write(project.join(PROJECT_FILE), part(text, "project"));
        let config = Config::load(&paths, &project, Some(Kind::PreToolUse));
        let call = part(text, "call");
        let (tool, input) =
            match call.split_once(' ').map(|(tool, json)| (tool, serde_json::from_str(json))) {
                Some((tool, Ok(input))) => (tool, input),
                _ => ("Bash", serde_json::json!({ "command": call })),
            };
        let cwd = project.to_string_lossy().into_owned();
        let event =
            dry::parse_event(dry::tool_call_payload(Kind::PreToolUse, tool, input, &cwd), None);
        let mut place = Place {
            cwd: cwd.clone(),
            project: cwd,
            home: home.to_string_lossy().into_owned(),
            guarded: hookctl::rule::shipped::guarded_files(&paths),
            read: Some(hookctl::files::read),
            ..Place::default()
        };
        config.complete_place(&mut place);
        let judged = Dry::judge(event, place, &config, &paths, false);
        crate::check(&judged.analysis);
        let answer = judged.agent.render(&judged.event, &judged.judgement.answer);
        assert!(matches!(answer.status, 0 | 2), "status {}", answer.status);
        assert!(
            answer.stdout.is_empty()
                || serde_json::from_str::<serde_json::Value>(&answer.stdout).is_ok(),
            "{:?}",
            answer.stdout
        );
    });
}
