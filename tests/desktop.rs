//! `notify` on the desktop: once for an event, only where a rule asks for it, and never for a call that nobody made.

#![cfg(all(unix, not(target_os = "macos")))]

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::thread;
use std::time::{Duration, Instant};

use hookctl::agent;
use hookctl::config::Config;
use hookctl::hook;
use hookctl::judge::{self, JudgeContext, Mode, Situation};
use hookctl::paths::Paths;
use serde_json::json;

const RULES: &str = "[rule.tell]\ncommand = \"make\"\nnotify = \"made: {command}\"\n";

/// A home with these rules, and a directory with a stand-in that notes what it is told.
struct Stage {
    dir: tempfile::TempDir,
}

impl Stage {
    fn new() -> Stage {
        let stage = Stage { dir: tempfile::tempdir().unwrap() };
        let config = stage.path(".config/hookctl");
        fs::create_dir_all(&config).unwrap();
        fs::write(config.join("config.toml"), RULES).unwrap();
        let program = stage.path("notify-send");
        let body = format!("#!/bin/sh\necho \"$4\" >> '{}'\n", stage.path("seen").display());
        fs::write(&program, body).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn judge(&self, command: &str, mode: Mode) {
        let payload = json!({ "hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.dir.path(),
            "tool_name": "Bash", "tool_input": { "command": command }, "tool_use_id": "t" });
        let bytes = payload.to_string().into_bytes();
        let paths = Paths::below_home(self.dir.path().to_path_buf());
        let claude = agent::default_agent();
        let event = claude.parse(payload.as_object().unwrap().clone(), None);
        let mut place = hook::session_place(&event, &paths);
        let config = Config::load_for(&paths, &place, Some(event.kind));
        config.complete_place(&mut place);
        let directory = self.dir.path().to_str().unwrap();
        let world = JudgeContext {
            paths: &paths,
            stdin: &bytes,
            deadline: Instant::now() + Duration::from_secs(20),
            mode,
            paused: false,
            notifiers: &[directory],
        };
        let judgement =
            judge::judge_event(&Situation::new((claude, event), place), &config, &world);
        assert_eq!(judgement.answer.notice.len(), usize::from(command.contains("make")));
    }

    /// What the stand-in was told, once it was told that last.
    fn seen(&self, last: &str) -> String {
        let start = Instant::now();
        loop {
            let text = fs::read_to_string(self.path("seen")).unwrap_or_default();
            if text.ends_with(last) {
                return text;
            }
            assert!(start.elapsed() < Duration::from_secs(10), "{text}");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

#[test]
fn a_rule_shows_its_text_once() {
    let stage = Stage::new();
    stage.judge("ls", Mode::Live);
    stage.judge("make dry", Mode::Dry);
    stage.judge("make one", Mode::Live);
    // As another registration of hookctl would.
    stage.judge("make one", Mode::Live);
    stage.seen("made: make one\n");
    stage.judge("make two", Mode::Live);
    assert_eq!(stage.seen("made: make two\n"), "made: make one\nmade: make two\n");
}
