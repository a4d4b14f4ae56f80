//! What humans at servers were asked in a session. A server may answer from a memory of its own, with nobody
//! asked, and its answer does not tell that: the human's tap may have come after the hook that asked was
//! gone. So each question is noted before it leaves, with what a server would remember its answer by.
//!
//! One file for each session in the state directory, one line for each question and for each answer.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::breaker::unix_milliseconds;
use super::memory;
use crate::dialect::random_number;
use crate::event::Event;
use crate::files;
use crate::rule::file::Remote;
use crate::trust;

/// Nobody reads a question and answers it in less.
pub const HUMAN: Duration = Duration::from_millis(250);

/// Came an answer after so many milliseconds too soon for a human?
pub fn is_too_soon(waited: u64) -> bool {
    waited < HUMAN.as_millis() as u64
}

/// The largest file, in bytes: some ten thousand questions. Past that none can be noted.
const ROOM: u64 = 1 << 20;
/// Programs whose first two words cdev remembers; of others it is the first.
const TWO_WORDS: &[&str] = &["git", "npm", "yarn", "pnpm", "go"];
/// The tools that it remembers by the file's kind or directory.
const FILES: &[&str] = &["Write", "Edit", "Read"];

/// A question that was noted and answered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// Its number in the file.
    pub id: u64,
    /// How long the answer took from the moment when all of the question had left, in milliseconds.
    pub waited: u64,
}

/// Why an answer for the session is not known to be a human's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// No record of the question could be kept.
    Unrecorded,
    /// No human is so fast.
    Fast,
    /// It is not for what was asked.
    Other,
    /// The same was asked before, and may have been answered for the session.
    Before,
    /// The server says so.
    Recalled,
}

/// The questions of one session.
#[derive(Debug)]
pub struct Questions {
    path: PathBuf,
}

/// A line of the file.
#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct QuestionLine {
    id: u64,
    time: u64,
    /// The server's addresses, hashed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    at: Vec<String>,
    /// What its answer may be remembered by, hashed; none where this says that the answer held once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    key: Option<String>,
}

impl Questions {
    /// None where the session has no name.
    pub fn for_session(state: &Path, session: &str) -> Option<Questions> {
        let name = &trust::sha256_hex(session.as_bytes())[..32];
        let path = state.join("asked").join(format!("{name}.jsonl"));
        (!session.is_empty()).then_some(Questions { path })
    }

    /// Notes a question before it leaves: its number. `kept`: the server may remember the answer for this
    /// session.
    ///
    /// # Errors
    /// Where nothing can be written, or no more.
    pub(super) fn note_question(
        &self,
        remote: &Remote,
        shown: &Event,
        kept: bool,
    ) -> std::io::Result<u64> {
        let id = random_number();
        let at = if kept { server_addresses(remote) } else { Vec::new() };
        self.append_entry(id, at, Some(short_hash(&answer_pattern(shown))))?;
        Ok(id)
    }

    /// The answer to that question was for this one call: nothing is remembered of it.
    pub fn note_single_use(&self, question: &Question) {
        // Not noted, it may have been for the session.
        let _ = self.append_entry(question.id, Vec::new(), None);
    }

    /// Why the answer for the session to that question, remembered by `pattern` where it says so, is not
    /// known to be a human's; None = it is, and noted.
    pub fn distrust_and_note(
        &self,
        remote: &Remote,
        question: Option<&Question>,
        pattern: Option<&str>,
    ) -> Option<Doubt> {
        self.find_distrust(remote, question, pattern)
            .or_else(|| self.note_pattern(remote, question?, pattern))
    }

    /// The same where nothing comes of it.
    pub fn find_distrust(
        &self,
        remote: &Remote,
        question: Option<&Question>,
        pattern: Option<&str>,
    ) -> Option<Doubt> {
        let Some(question) = question else { return Some(Doubt::Unrecorded) };
        let Ok(lines) = self.read_lines() else { return Some(Doubt::Unrecorded) };
        let asked = lines.iter().find(|line| line.id == question.id && line.key.is_some());
        let Some(asked) = asked else { return Some(Doubt::Unrecorded) };
        if is_too_soon(question.waited) {
            return Some(Doubt::Fast);
        }
        let key = pattern.map(short_hash);
        if remote.dialect.facts().remembers && key.is_some() && key != asked.key {
            return Some(Doubt::Other);
        }
        // It was asked as of a session that the server knows nothing of.
        if asked.at.is_empty() {
            return None;
        }
        let here = server_addresses(remote);
        let once = |id: u64| lines.iter().any(|line| line.id == id && line.key.is_none());
        let before = lines.iter().take_while(|line| line.id != question.id).any(|line| {
            line.at.iter().any(|at| here.contains(at))
                && (line.key == asked.key || line.key == key)
                && !once(line.id)
        });
        before.then_some(Doubt::Before)
    }

    /// What another protocol than cdev's remembers the answer by is only known when it is there.
    fn note_pattern(
        &self,
        remote: &Remote,
        asked: &Question,
        pattern: Option<&str>,
    ) -> Option<Doubt> {
        let key = pattern.map(short_hash);
        let lines = self.read_lines().unwrap_or_default();
        let own = lines.iter().find(|line| line.id == asked.id && line.key.is_some());
        let known = key.is_none() || own.is_none_or(|own| own.at.is_empty() || own.key == key);
        let noted =
            known || self.append_entry(random_number(), server_addresses(remote), key).is_ok();
        (!noted).then_some(Doubt::Unrecorded)
    }

    fn append_entry(&self, id: u64, at: Vec<String>, key: Option<String>) -> std::io::Result<()> {
        let line = serde_json::to_vec(&QuestionLine { id, time: unix_milliseconds(), at, key })?;
        memory::append_line(&self.path, &[&line[..], b"\n"].concat(), ROOM)
    }

    /// All lines; one that is none is an error, for it may have been the one that counts.
    fn read_lines(&self) -> std::io::Result<Vec<QuestionLine>> {
        let text = files::state_text(&self.path, 2 * ROOM)?;
        let line = |line: &str| {
            serde_json::from_slice(line.as_bytes()).map_err(|_| ErrorKind::InvalidData.into())
        };
        text.lines().map(line).collect()
    }
}

/// Who answers there, whatever else the files say of the server.
fn server_addresses(remote: &Remote) -> Vec<String> {
    match &remote.socket {
        Some(path) => vec![short_hash(&path.to_string_lossy())],
        None => remote.urls.iter().map(|url| short_hash(&url.host_and_port())).collect(),
    }
}

fn short_hash(text: &str) -> String {
    trust::sha256_hex(text.as_bytes())[..16].to_string()
}

/// What cdev would remember an answer to this question by. Source: contracts of its server, by experiment.
pub fn answer_pattern(shown: &Event) -> String {
    let (tool, text) = (&shown.tool, |key| shown.input.get(key).and_then(|value| value.as_str()));
    let what = match tool.as_str() {
        "Bash" => {
            let mut words = text("command").unwrap_or_default().split_whitespace();
            match (words.next(), words.next()) {
                (None, _) => "*".into(),
                (Some(first), Some(second)) if TWO_WORDS.contains(&first) => {
                    format!("{first} {second}:*")
                }
                (Some(first), _) => format!("{first}:*"),
            }
        }
        name if FILES.contains(&name) => file_pattern(text("file_path").unwrap_or_default()),
        _ => "*".into(),
    };
    format!("{tool}({what})")
}

/// Files of that kind, else those of its directory.
fn file_pattern(path: &str) -> String {
    let path = clean_path(path);
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", &path));
    match name.rfind('.') {
        _ if matches!(name, "" | "." | "..") => "*".into(),
        Some(dot) => format!("*{}", &name[dot..]),
        None if path.starts_with('/') && dir.is_empty() => "//*".into(),
        None if dir.is_empty() => "*".into(),
        None => format!("{dir}/*"),
    }
}

/// The path without `.`, `..` and doubled slashes, by its text.
fn clean_path(path: &str) -> String {
    let root = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !matches!(*part, "" | ".")) {
        match (part, parts.last()) {
            ("..", None) if root => {}
            ("..", Some(last)) if *last != ".." => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    format!("{}{}", if root { "/" } else { "" }, parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dry;
    use crate::event::Kind;
    use serde_json::{Value, json};

    fn of(tool: &str, input: Value) -> String {
        answer_pattern(
            &dry::parse_event(dry::tool_call_payload(Kind::PreToolUse, tool, input, "/p"), None).1,
        )
    }

    /// People are told "in less than 250 ms".
    #[test]
    fn what_takes_a_human_the_least_time_is_a_humans() {
        assert!([0, 249].into_iter().all(is_too_soon));
        assert!(![250, 251, u64::MAX].into_iter().any(is_too_soon));
    }

    #[test]
    fn the_patterns_are_those_of_cdevs_server() {
        for (command, pattern) in [
            ("git push origin main", "Bash(git push:*)"),
            ("git", "Bash(git:*)"),
            (" npm\u{a0}test x", "Bash(npm test:*)"),
            ("go\u{3000}build", "Bash(go build:*)"),
            ("cargo test", "Bash(cargo:*)"),
            ("npm\ntest && rm -rf x", "Bash(npm test:*)"),
            ("rm -rf x", "Bash(rm:*)"),
            ("", "Bash(*)"),
            (" \t", "Bash(*)"),
        ] {
            assert_eq!(of("Bash", json!({ "command": command })), pattern, "{command}");
        }
        assert_eq!(of("Bash", json!({ "command": ["rm", "x"] })), "Bash(*)");
        for (path, pattern) in [
            ("/home/dev/a.py", "Write(*.py)"),
            ("/home/dev/project/Makefile", "Write(/home/dev/project/*)"),
            ("/Makefile", "Write(//*)"),
            ("./x", "Write(*)"),
            ("/p//b/c", "Write(/p/b/*)"),
            ("/p/../q/f", "Write(/q/*)"),
            ("/p/.gitignore", "Write(*.gitignore)"),
            ("", "Write(*)"),
            ("..", "Write(*)"),
            ("../..", "Write(*)"),
        ] {
            assert_eq!(of("Write", json!({ "file_path": path })), pattern, "{path}");
        }
        assert_eq!(of("mcp__x__y", json!({ "a": 1 })), "mcp__x__y(*)");
        assert_eq!(of("WebFetch", json!({})), "WebFetch(*)");
    }

    /// A server that remembers, a human, and a session of questions, as the judge asks them.
    struct Play<'c> {
        dir: tempfile::TempDir,
        remotes: &'c [Remote],
        remote: usize,
        calls: &'c [memory::AskedCall<'c>],
        /// What the server remembers of the session: pattern, answer, and after how many milliseconds it says that.
        known: Vec<(String, bool, u64)>,
        /// What the human said for the session while we listened: call, until when.
        heard: Vec<(usize, u64)>,
        /// Questions whose hook is gone.
        open: Vec<usize>,
    }

    /// What a human does.
    #[derive(Debug, Clone, Copy)]
    enum Tap {
        Once(bool),
        Session(bool),
        Never,
    }

    impl Play<'_> {
        fn words(&self, call: usize) -> &str {
            self.calls[call].event.input["command"].as_str().unwrap()
        }

        /// Is the call allowed in the end? And did the human say so to this very call?
        fn ask(&mut self, call: usize, taps: [Tap; 2]) -> (bool, bool) {
            let (remote, one) = (&self.remotes[self.remote], &self.calls[call]);
            let state = self.dir.path();
            let store = memory::Memory::for_session(state, "s").unwrap();
            if let Some(said) = store.recall_answer(remote, one) {
                return (said.verb == crate::verdict::Verb::Allow, false);
            }
            let questions = Questions::for_session(state, "s").unwrap();
            for (tap, anew) in taps.into_iter().zip([false, true]) {
                let id = questions.note_question(remote, one.event, !anew).ok();
                let own = answer_pattern(one.event);
                let words = |known: &str| known[5..known.len() - 3].to_string();
                let begins = |known: &str| {
                    let text = self.words(call);
                    let words = words(known);
                    text.split_whitespace().take(words.split(' ').count()).eq(words.split(' '))
                };
                let mut known = self.known.iter().rev();
                let known = known.find(|(known, ..)| !anew && begins(known));
                // From its memory, or from the human: yes, for the session, under what, after how long.
                let (yes, session, under, waited, human) = match (known, tap) {
                    (Some((known, yes, ms)), _) => (*yes, true, known.clone(), *ms, false),
                    (None, Tap::Never) => {
                        if !anew {
                            self.open.push(call);
                        }
                        return (false, false);
                    }
                    (None, Tap::Once(yes)) => (yes, false, String::new(), 900, true),
                    (None, Tap::Session(yes)) => (yes, true, own.clone(), 900, true),
                };
                if human && session && !anew {
                    self.known.push((own, yes, 3));
                }
                let question = id.map(|id| Question { id, waited });
                if let (false, Some(question)) = (session, &question) {
                    questions.note_single_use(question);
                }
                if !yes || !session {
                    return (yes, human);
                }
                if questions.distrust_and_note(remote, question.as_ref(), Some(&under)).is_none() {
                    if store.keep_answer(remote, one, true).is_some() {
                        // Read after the store's own clock: it forgets no later than this.
                        let until = unix_milliseconds() + remote.remember.as_millis() as u64;
                        self.heard.push((call, until));
                    }
                    return (true, human);
                }
            }
            (false, false)
        }
    }

    /// Whatever happens in a session, no call is allowed unless the human said yes to it, or to one like it
    /// while we listened and not too long ago.
    #[test]
    fn no_call_is_allowed_that_nobody_allowed() {
        use crate::config::{Config, LayerFile};
        use crate::effect::{self, Place};
        let remote = |remember: &str| {
            let text = format!(
                "[remote.x]\nurl = \"http://127.0.0.1:1\"\ndialect = \"cdev\"\n{remember}\n"
            );
            let source = LayerFile::from_text(crate::rule::Layer::User, "config.toml".into(), text);
            Config::from_source(source).remotes().next().unwrap().1.clone()
        };
        let mut brief = remote("");
        brief.remember = Duration::from_millis(4);
        let remotes = [remote(""), remote("remember_s = 0"), remote("timeout_ms = 900"), brief];
        let cwd = "/home/dev/project".to_string();
        let place =
            Place { project: cwd.clone(), cwd, home: "/home/dev".into(), ..Place::default() };
        let commands = [
            "npm test",
            "npm test e2e",
            "rm a.txt",
            "rm -rf /srv/x",
            "git push",
            "git push && rm b",
        ];
        let events: Vec<Event> = commands
            .iter()
            .map(|command| {
                let input = json!({ "command": command });
                dry::parse_event(
                    dry::tool_call_payload(Kind::PreToolUse, "Bash", input, &place.cwd),
                    None,
                )
                .1
            })
            .collect();
        let analyses: Vec<_> =
            events.iter().map(|event| effect::analyse_event(event, &place)).collect();
        let calls: Vec<memory::AskedCall<'_>> = events
            .iter()
            .zip(&analyses)
            .map(|(event, analysis)| memory::AskedCall {
                event,
                analysis,
                place: &place,
                asks: Default::default(),
            })
            .collect();
        let mut draw = 0x9e37_79b9_7f4a_7c15_u64;
        let mut next = |most: u64| {
            draw ^= draw << 13;
            draw ^= draw >> 7;
            draw ^= draw << 17;
            (draw % most) as usize
        };
        // More by hand: each takes some milliseconds.
        let sequences = std::env::var("SEQUENCES").map_or(1_000, |text| text.parse().unwrap());
        let (mut allowed, mut recalled) = (0, 0);
        for _ in 0..sequences {
            let dir = tempfile::tempdir().unwrap();
            let (known, heard, open) = (Vec::new(), Vec::new(), Vec::new());
            let mut play =
                Play { dir, remotes: &remotes, remote: 0, calls: &calls, known, heard, open };
            for step in 0..8 {
                let mut tap = || match next(6) {
                    0 => Tap::Once(true),
                    1 => Tap::Once(false),
                    2 | 3 => Tap::Session(true),
                    4 => Tap::Session(false),
                    _ => Tap::Never,
                };
                let taps = [tap(), tap()];
                match next(12) {
                    // A tap after the hook has gone.
                    0 => {
                        if let Some(call) = play.open.pop() {
                            // Even of a server that stalls.
                            play.known.push((answer_pattern(calls[call].event), true, 900));
                        }
                    }
                    // The same by another program.
                    1 => play.known.push((answer_pattern(calls[next(6)].event), true, 3)),
                    2 => play.remote = next(4),
                    3 => memory::clear_sessions(play.dir.path(), "").unwrap(),
                    4 => memory::Memory::for_session(play.dir.path(), "s")
                        .unwrap()
                        .end_session()
                        .unwrap(),
                    5 => play.known.clear(),
                    6 => std::thread::sleep(Duration::from_millis(5)),
                    _ => {
                        let (call, start) = (next(6), unix_milliseconds());
                        let (allow, tapped) = play.ask(call, taps);
                        let like = |(seen, until): &(usize, u64)| {
                            let (seen, own) = (commands[*seen], commands[call]);
                            let first = |text: &str| text.split(' ').next().map(str::to_string);
                            first(seen) == first(own) && *until >= start
                        };
                        let earlier = play.heard.iter().any(like);
                        assert!(!allow || tapped || earlier, "step {step}: {}", commands[call]);
                        allowed += usize::from(allow);
                        recalled += usize::from(allow && !tapped);
                    }
                }
            }
        }
        assert!(allowed > sequences && recalled > sequences / 20, "{allowed} {recalled}");
    }
}
