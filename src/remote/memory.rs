//! What humans at servers said for a whole session, so that they are not asked again about calls that
//! are like the one which they saw.
//!
//! One file for each session in the state directory, one line for each answer. Only a server's answer adds
//! a line; anybody may take them away, as the human is then just asked again.

use std::collections::BTreeSet;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use self::pattern::{Pattern, event_patterns};
use crate::effect::{Analysis, Arg, Effect, Grade, Place, Target, Word, windows};
use crate::event::Event;
use crate::files;
use crate::journal::redact_and_cut;
use crate::limits;
use crate::moment;
use crate::order::to_set;
use crate::redact;
use crate::remote::breaker::unix_milliseconds;
use crate::rule::file::Remote;
use crate::trust;
use crate::verdict::Verb;

mod pattern;

/// How many answers count for one session: the newest.
const MOST: usize = 100;
/// The largest file, in bytes. Past that nothing is added, and humans are asked.
const ROOM: u64 = 1 << 20;
/// Files that nobody wrote for so long are swept away: no answer holds longer.
const OLD: Duration = Duration::from_secs(86_400);

/// One answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RememberedAnswer {
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// Until when it holds.
    pub until: u64,
    /// The machine's uptime when it was kept, in seconds: a clock that is set back makes no answer hold longer.
    #[serde(default)]
    uptime: Option<u64>,
    /// The session.
    pub session: String,
    /// The server's name.
    pub remote: String,
    /// All that the files say of the server, hashed: another server of that name is another human.
    server: String,
    /// Was it a yes?
    pub allow: bool,
    /// What it is for, without secrets: `Bash(npm test:*)`.
    pub pattern: String,
    /// That very command alone.
    whole: bool,
    /// The pattern hashed.
    key: String,
    /// The directory that it was given in.
    pub cwd: String,
    /// What the call was known to do.
    does: BTreeSet<String>,
    /// The rules that asked, or wanted the human to be asked.
    asks: BTreeSet<String>,
}

/// A call that a human is to be asked about.
#[derive(Debug)]
pub struct AskedCall<'c> {
    /// Its event.
    pub event: &'c Event,
    /// What it does.
    pub analysis: &'c Analysis,
    /// Where.
    pub place: &'c Place,
    /// The rules that ask, or want the human to be asked.
    pub asks: BTreeSet<String>,
}

/// What a human said of such a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recall {
    /// Yes or no.
    pub verb: Verb,
    /// What for.
    pub pattern: String,
    /// When, in milliseconds since 1970.
    pub time: u64,
    /// Until when it holds.
    pub until: u64,
}

/// What is remembered of one session.
#[derive(Debug)]
pub struct Memory {
    session: String,
    path: PathBuf,
}

impl Memory {
    /// None where the session has no name.
    pub fn for_session(state: &Path, session: &str) -> Option<Memory> {
        let hash = trust::sha256_hex(session.as_bytes());
        let path = memory_directory(state).join(format!("{}.jsonl", &hash[..32]));
        (!session.is_empty()).then(|| Memory { session: session.to_string(), path })
    }

    /// What the human at that server said of calls like this; None = they are asked. A no comes before a yes.
    pub fn recall_answer(&self, remote: &Remote, call: &AskedCall<'_>) -> Option<Recall> {
        recall_from(read_answers(&self.path), remote, &self.session, call)
    }

    /// Keeps what the human said of this call for the rest of the session. Returns what it is remembered
    /// by; None where such a call is not remembered.
    pub fn keep_answer(
        &self,
        remote: &Remote,
        call: &AskedCall<'_>,
        allow: bool,
    ) -> Option<String> {
        let answer = RememberedAnswer::new(remote, &self.session, call, allow)?;
        let line = serde_json::to_vec(&answer).ok()?;
        append_line(&self.path, &[&line[..], b"\n"].concat(), ROOM).ok()?;
        Some(answer.pattern)
    }

    /// The session has ended: nothing that was said holds any longer.
    ///
    /// # Errors
    /// Where the file cannot be removed.
    pub fn end_session(&self) -> std::io::Result<()> {
        files::remove_entry(&self.path)
    }
}

/// What those answers say of calls like this; None = the human is asked. A no comes before a yes.
pub fn recall_from(
    mut all: Vec<RememberedAnswer>,
    remote: &Remote,
    session: &str,
    call: &AskedCall<'_>,
) -> Option<Recall> {
    let server = server_key(remote);
    all.retain(|one| one.server == server && one.session == session);
    if all.is_empty() {
        return None;
    }
    let (now, uptime) = (unix_milliseconds(), moment::uptime());
    let (keys, does) = (call_keys(remote, call), effect_kinds(call));
    all.retain(|one| keys.contains(&one.key) && one.is_valid(now, uptime));
    let no = all.iter().find(|one| !one.allow);
    let one = no.or_else(|| all.iter().find(|one| one.covers(call, &does)))?;
    let (verb, pattern) = (one.verb(), one.pattern.clone());
    Some(Recall { verb, pattern, time: one.time, until: one.expiry_time() })
}

impl RememberedAnswer {
    /// An answer of now to that call; None where such a call is not remembered.
    pub fn new(
        remote: &Remote,
        session: &str,
        call: &AskedCall<'_>,
        allow: bool,
    ) -> Option<RememberedAnswer> {
        let cwd = &call.place.cwd;
        let pattern = kept_pattern(remote, call, allow)?;
        let time = unix_milliseconds();
        Some(RememberedAnswer {
            time,
            until: time + remote.remember.as_millis() as u64,
            uptime: moment::uptime(),
            session: session.to_string(),
            remote: remote.name.clone(),
            server: server_key(remote),
            allow,
            pattern: redact_and_cut(&pattern.text),
            whole: pattern.whole,
            key: pattern_key(&pattern, cwd),
            cwd: cwd.clone(),
            does: effect_kinds(call),
            asks: call.asks.clone(),
        })
    }

    /// The same answer, given at that time.
    pub fn given_at(mut self, time: u64) -> RememberedAnswer {
        self.until = time.saturating_add(self.until.saturating_sub(self.time));
        self.time = time;
        self
    }

    /// Does it still hold? Neither a clock that was set back nor a line that somebody changed makes it
    /// hold longer than any may.
    fn is_valid(&self, now: u64, uptime: Option<u64>) -> bool {
        let span = self.time..self.expiry_time();
        let seconds = self.expiry_time().saturating_sub(self.time).div_ceil(1000);
        span.contains(&now) && !moment::is_over(self.uptime, seconds, uptime)
    }

    /// Until when it holds.
    fn expiry_time(&self) -> u64 {
        self.until.min(self.time.saturating_add(OLD.as_millis() as u64))
    }

    /// The answer.
    pub fn verb(&self) -> Verb {
        if self.allow { Verb::Allow } else { Verb::Deny }
    }

    /// Has the human seen a call that did all that this one does?
    fn covers(&self, call: &AskedCall<'_>, does: &BTreeSet<String>) -> bool {
        self.allow
            && does.is_subset(&self.does)
            && call.asks.is_subset(&self.asks)
            && (self.whole || is_below(call.analysis, &self.cwd))
    }
}

/// All answers that still hold, by session, oldest first.
pub fn valid_answers(state: &Path) -> Vec<RememberedAnswer> {
    let (now, uptime) = (unix_milliseconds(), moment::uptime());
    let files = fs::read_dir(memory_directory(state)).into_iter().flatten().flatten();
    let mut all: Vec<RememberedAnswer> =
        files.flat_map(|file| read_answers(&file.path())).collect();
    all.retain(|one| one.is_valid(now, uptime));
    crate::order::sort_by(&mut all, |a, b| (&a.session, a.time).cmp(&(&b.session, b.time)));
    all
}

/// Forgets what was said in the sessions whose names begin so.
///
/// # Errors
/// Where a file cannot be removed.
pub fn clear_sessions(state: &Path, session: &str) -> std::io::Result<()> {
    let files = match fs::read_dir(memory_directory(state)) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        files => files?,
    };
    for path in files.flatten().map(|file| file.path()) {
        if session.is_empty()
            || read_answers(&path).iter().any(|one| one.session.starts_with(session))
        {
            files::remove_entry(&path)?;
        }
    }
    Ok(())
}

fn memory_directory(state: &Path) -> PathBuf {
    state.join("memory")
}

/// The newest answers of a file; a line that is none counts for nothing.
fn read_answers(path: &Path) -> Vec<RememberedAnswer> {
    let Ok(text) = files::state_text(path, 2 * ROOM) else { return Vec::new() };
    let answers =
        text.lines().rev().filter_map(|line| serde_json::from_slice(line.as_bytes()).ok());
    let mut answers: Vec<RememberedAnswer> = answers.take(MOST).collect();
    answers.reverse();
    answers
}

/// Adds a line to a session's file, which is no larger than `room` then. One write: what comes at once does
/// not mix.
pub(super) fn append_line(path: &Path, line: &[u8], room: u64) -> std::io::Result<()> {
    let dir = path.parent().unwrap_or(path);
    // What sessions left that never ended.
    files::sweep_directory(dir, limits::SWEPT, |_| Some(OLD));
    let mut file = files::open_to_append(path)?;
    if file.metadata()?.len() + line.len() as u64 > room {
        return Err(ErrorKind::StorageFull.into());
    }
    file.write_all(line)
}

/// Which server: whatever of its settings changes, it is asked anew.
fn server_key(remote: &Remote) -> String {
    trust::sha256_hex(format!("{remote:?}").as_bytes())[..32].to_string()
}

/// What answers for this call are known by; nothing where they are not remembered: the server is not
/// to be, or not all of the call is understood.
fn call_keys(remote: &Remote, call: &AskedCall<'_>) -> Vec<String> {
    call_patterns(remote, call).iter().map(|one| pattern_key(one, &call.place.cwd)).collect()
}

fn call_patterns(remote: &Remote, call: &AskedCall<'_>) -> Vec<Pattern> {
    let understood = call.analysis.effects.iter().all(|one| one.grade != Grade::Unknown);
    match understood && !remote.remember.is_zero() {
        true => event_patterns(call.event, call.analysis, call.place),
        false => Vec::new(),
    }
}

/// What an answer for the session would be remembered by.
fn kept_pattern(remote: &Remote, call: &AskedCall<'_>, allow: bool) -> Option<Pattern> {
    let mut known = call_patterns(remote, call);
    // What lies elsewhere is like nothing else.
    if allow && !is_below(call.analysis, &call.place.cwd) {
        known.retain(|one| one.whole);
    }
    known.into_iter().next()
}

/// What an allow for the session would be remembered by, for the human who is asked; None where only this
/// one call would be allowed.
pub fn session_pattern(remote: &Remote, call: &AskedCall<'_>) -> Option<String> {
    kept_pattern(remote, call, true).map(|pattern| redact_and_cut(&pattern.text))
}

/// A command is another one in another directory.
fn pattern_key(pattern: &Pattern, cwd: &str) -> String {
    let place = if pattern.whole || pattern.text.starts_with("Bash(") { cwd } else { "" };
    let text = format!("{}\0{}\0{place}", pattern.whole, pattern.text);
    trust::sha256_hex(text.as_bytes())[..32].to_string()
}

/// The kinds of effects: on one path, and also on many or on what is hidden; at which host. A host that
/// is not known is any.
fn effect_kinds(call: &AskedCall<'_>) -> BTreeSet<String> {
    let kinds = |one: &Effect| {
        let kind = format!("{} {}", one.word.text(), one.host.as_deref().unwrap_or_default());
        let path = one.path.as_ref();
        // What takes directories as well does no more than others to a file.
        let is_wide = |path: &&Target| {
            path.extent.is_wide() && !fs::metadata(&path.resolved).is_ok_and(|meta| meta.is_file())
        };
        let wide = if path.filter(is_wide).is_some() { " many" } else { "" };
        let is_hidden = |path: &&Target| {
            [&path.lexical, &path.resolved]
                .iter()
                .any(|path| path.strip_prefix(&call.place.cwd).unwrap_or(path).contains("/."))
        };
        let hidden = if path.filter(is_hidden).is_some() { " hidden" } else { "" };
        [format!("{kind}{wide}{hidden}"), kind]
    };
    let toward =
        (0..call.analysis.commands.len()).filter_map(|at| command_recipient(call.analysis, at));
    to_set(call.analysis.effects.iter().flat_map(kinds).chain(toward).map(without_secrets))
}

/// As it is kept: a secret in it is not, but two that differ in one stay two.
fn without_secrets(kind: String) -> String {
    match redact::mask_secrets(&kind) {
        masked if *masked == kind => kind,
        masked => format!("{masked} {}", &trust::sha256_hex(kind.as_bytes())[..32]),
    }
}

/// Options of commands that send which change nothing of what is sent, nor where.
const TALK: &[&str] = &["-u", "--set-upstream", "-v", "--verbose", "-q", "--quiet", "--progress"];

/// Whom a command that leaves this machine is for, in its own words: the remote and its branch, a
/// context, a registry. None where it stays here.
fn command_recipient(analysis: &Analysis, at: usize) -> Option<String> {
    let away = |word: &Word| match word {
        Word::Network | Word::Send | Word::Remote | Word::System => true,
        Word::Named(name) => {
            ["cloud.", "container.", "database."].iter().any(|d| name.starts_with(d))
        }
        _ => false,
    };
    let own = || analysis.effects.iter().filter(|effect| effect.command == Some(at));
    let command = &analysis.commands[at];
    let is_url = |arg: &Arg| arg.text.as_ref().is_some_and(|text| text.contains("://"));
    if !own().any(|effect| away(&effect.word)) && !command.args.iter().any(is_url) {
        return None;
    }
    let sends = own().any(|effect| effect.word == Word::Send);
    let known = own().any(|effect| effect.host.is_some());
    // What is fetched counts by its host.
    let counts = |text: &&str| sends || !(known && text.contains("://"));
    let text = |arg: &Arg| arg.text.clone().unwrap_or_else(|| "?".into());
    let operands = command.operands.iter().map(|at| text(&command.args[*at]));
    let mut words: Vec<String> = operands.filter(|text| counts(&text.as_str())).collect();
    for option in &command.options {
        let value = option.value.as_ref().map(text).unwrap_or_default();
        let number = !value.is_empty() && value.bytes().all(|b| b.is_ascii_digit());
        let plain = value.is_empty() && (!sends || TALK.contains(&option.name.as_str()));
        if !plain && !number && counts(&value.as_str()) {
            words.push(format!("{}={value}", option.name));
        }
    }
    Some(format!("toward {}", words.join(" ")))
}

/// Does the call touch nothing outside of that directory?
fn is_below(analysis: &Analysis, dir: &str) -> bool {
    let real = files::real_path(Path::new(dir)).ok();
    let real = real.map_or_else(|| dir.to_string(), |real| windows::native_text(&real));
    let below = |path: &str, dir: &str| {
        let rest = path.strip_prefix(dir.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let paths = analysis.effects.iter().filter_map(|effect| effect.path.as_ref());
    paths.into_iter().all(|path| {
        below(&path.lexical, dir) && (below(&path.resolved, dir) || below(&path.resolved, &real))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_makes_no_answer_hold_longer() {
        const YEAR: u64 = 365 * 86_400_000;
        // Given at the wall's 10,000 ms and after 500 s of the machine, for 100 s.
        let line = serde_json::json!({
            "time": 10_000, "until": 110_000, "uptime": 500, "session": "", "remote": "", "server": "",
            "allow": true, "pattern": "", "whole": false, "key": "", "cwd": "", "does": [], "asks": [],
        });
        let answer: RememberedAnswer = serde_json::from_value(line).unwrap();
        for (now, uptime, holds) in [
            (10_000, Some(500), true),
            (109_999, Some(599), true),
            (9_999, Some(500), false),
            (110_000, Some(599), false),
            // Set back within its time.
            (10_000, Some(600), false),
            (109_999, Some(500 + YEAR), false),
            // The machine has started again, or has no such clock.
            (50_000, Some(3), true),
            (50_000, None, true),
        ] {
            assert_eq!(answer.is_valid(now, uptime), holds, "{now} {uptime:?}");
        }
        // One that somebody changed.
        let endless = RememberedAnswer { until: u64::MAX, uptime: None, ..answer };
        assert!(!endless.is_valid(10_000 + YEAR, None));
    }

    #[test]
    fn a_path_lies_below_a_directory_as_written_and_where_its_links_lead() {
        use crate::effect::{self, Place};
        let root = tempfile::tempdir().unwrap();
        let root = files::real_path(root.path()).unwrap();
        let text = windows::native_text(&root);
        let (dir, home) = (format!("{text}/project"), format!("{text}/home"));
        for made in ["project/sub", "elsewhere", "home"] {
            fs::create_dir_all(root.join(made)).unwrap();
        }
        #[cfg(unix)]
        for (to, link) in [("../elsewhere", "project/out"), ("project/sub", "in")] {
            std::os::unix::fs::symlink(to, root.join(link)).unwrap();
        }
        for (path, below) in [
            ("project/a", true),
            ("project/sub/../a", true),
            ("project/../elsewhere/a", false),
            ("project-too/a", false),
            // As written alone, and where it leads alone.
            #[cfg(unix)]
            ("project/out/a", false),
            #[cfg(unix)]
            ("in/a", false),
        ] {
            let payload = serde_json::json!({
                "hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": dir,
                "tool_input": { "file_path": format!("{text}/{path}"), "content": "" },
            });
            let payload = crate::payload::parse(payload.to_string().as_bytes()).unwrap();
            let event = crate::agent::detect_agent(&payload, None).parse(payload, None);
            let place = Place {
                cwd: dir.clone(),
                project: dir.clone(),
                home: home.clone(),
                ..Place::default()
            };
            let analysis = effect::analyse_event(&event, &place);
            assert_eq!(is_below(&analysis, &dir), below, "{path}");
        }
    }

    #[test]
    fn what_is_away_by_its_effect_alone_is_for_somebody() {
        for (line, known) in [
            ("dropdb shop", true),
            ("redis-cli flushall", true),
            ("docker volume rm data", true),
            ("rm -r out", false),
            ("ls", false),
        ] {
            let analysis = crate::effect::shell::analyse_command(line, &Place::default());
            assert_eq!(command_recipient(&analysis, 0).is_some(), known, "{line}");
        }
    }

    #[test]
    fn a_secret_is_not_kept_and_two_of_them_stay_two() {
        let kept = |key: &str| without_secrets(format!("toward -H=X: {key}"));
        let [one, other] = ["AKIAQ3EGRS7TX2VWZ5NB", "AKIAQ3EGRS7TX2VWZ5NC"].map(kept);
        assert!(!one.contains("AKIAQ") && !other.contains("AKIAQ"), "{one} {other}");
        assert_ne!(one, other);
        assert_eq!(without_secrets("network x.example".into()), "network x.example");
    }
}
