//! Past calls: Claude Code's transcripts and the journal, read line by line, and each call judged as the hook would.
//!
//! What is read was written by others: lines are bounded, links below a directory are not followed, and what is no
//! call is counted and told.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::File;
use std::hash::{BuildHasher as _, RandomState};
use std::io::{self, BufRead as _, BufReader, IsTerminal as _, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use serde_json::{Map, Value};

use super::log::{check_repeatable, is_sample, parse_since, rotated_journals};
use super::{Context, one_line, print_stderr};
use crate::agent::{self, Agent};
use crate::config::Config;
use crate::dry::{self, Dry};
use crate::effect::{Analysis, Place};
use crate::env;
use crate::event::{Event, Kind};
use crate::files;
use crate::hook;
use crate::journal::Line;
use crate::judge::{Situation, WOULD_ASK};
use crate::moment::Moment;
use crate::paths;
use crate::payload;
use crate::text;
use crate::trial::Ground;
use crate::verdict::Verb;

/// How deep below a directory transcripts are looked for, and how many there may be.
const DEEPEST: usize = 8;
const MOST_FILES: usize = 100_000;
/// So many faults are told one by one.
const MOST_FAULTS: usize = 20;
/// How a result begins of a call that the user rejected, in the words of Claude Code.
const REJECTED: &[&str] = &[
    "The user doesn't want to proceed with this tool use",
    "The user doesn't want to take this action right now",
    "User rejected tool use",
    "[Request interrupted by user for tool use]",
];
/// How one begins of a call that never ran, or of which nobody knows whether it ended.
const NOT_RUN: &[&str] = &[
    "PreToolUse:",
    "Permission to use",
    "Claude requested permission",
    "<tool_use_error>",
    "[Request interrupted by user]",
    "Hook PreToolUse",
];

/// What the user said of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reply {
    /// It is not known.
    Unknown,
    /// It ran.
    Yes,
    /// The user rejected it.
    No,
}

/// A call that was made.
#[derive(Debug, Clone)]
pub(super) struct PastCall {
    pub(super) agent: &'static str,
    pub(super) kind: Kind,
    pub(super) tool: String,
    pub(super) input: Value,
    pub(super) cwd: String,
    pub(super) session: String,
    pub(super) time: String,
    /// The permission mode; empty where nobody knows.
    pub(super) mode: String,
    /// The subagent that made it; empty for none.
    pub(super) subagent: String,
    pub(super) reply: Reply,
    /// Is it known that the user was asked? None where nothing tells.
    pub(super) asked: Option<bool>,
    /// The journal's line: what was said of it.
    pub(super) line: Option<Box<Line>>,
}

impl PastCall {
    /// The call in short.
    pub(super) fn what(&self) -> String {
        let field = |key: &&str| self.input.get(*key).and_then(Value::as_str);
        let known = ["command", "file_path", "notebook_path", "path", "url"];
        known.iter().find_map(field).map_or_else(|| self.input.to_string(), str::to_string)
    }

    /// By what the journal knows it again.
    fn key(&self) -> String {
        format!("{}\0{}\0{}", self.session, self.tool, self.what())
    }
}

/// What was read, beside the calls.
#[derive(Debug, Default)]
pub(super) struct Tally {
    /// Lines that tell of no call that could be judged, by why not.
    pub(super) left: BTreeMap<String, usize>,
    /// Lines that cannot be read: `FILE:LINE: why`.
    pub(super) faults: Vec<String>,
    pub(super) files: usize,
}

/// Where calls are taken from, and how far back.
pub(super) struct Sources {
    transcripts: Vec<PathBuf>,
    journals: Vec<PathBuf>,
    since: Option<Moment>,
    home: PathBuf,
    progress: Progress,
    tally: Tally,
}

impl Sources {
    /// Those named; of none, Claude Code's transcripts and the journal.
    ///
    /// # Errors
    /// Where one that is named cannot be read.
    pub(super) fn find(
        context: &Context,
        named: &[PathBuf],
        since: Option<&str>,
    ) -> Result<Sources> {
        let mut sources = Sources::empty(context, since)?;
        if named.is_empty() {
            let own = env::get_path(env::CLAUDE_CONFIG_DIR);
            let root = own.unwrap_or_else(|| context.paths.home.join(".claude")).join("projects");
            sources.walk(&root, 0);
            sources.add_journal(context.paths.journal());
        }
        for path in named {
            match path.metadata() {
                Ok(meta) if meta.is_dir() => sources.walk(path, 0),
                Ok(meta) if meta.is_file() && is_journal(path) => {
                    sources.add_journal(path.clone());
                }
                Ok(meta) if meta.is_file() => sources.transcripts.push(path.clone()),
                Ok(_) => bail!("{} is no regular file", path.display()),
                Err(error) => bail!("cannot read {}: {error}", path.display()),
            }
        }
        let all = sources.transcripts.iter().chain(&sources.journals);
        sources.progress.total = all.filter_map(|path| Some(path.metadata().ok()?.len())).sum();
        Ok(sources)
    }

    fn add_journal(&mut self, journal: PathBuf) {
        let rotated = rotated_journals(&journal).into_iter();
        self.journals.extend(rotated.chain([journal]).filter(|path| path.exists()));
    }

    /// The transcripts below a directory.
    fn walk(&mut self, dir: &Path, depth: usize) {
        let mut entries: Vec<_> = dir.read_dir().into_iter().flatten().flatten().collect();
        crate::order::sort_by_key(&mut entries, |entry| entry.file_name());
        for entry in entries {
            let path = entry.path();
            let Ok(kind) = entry.file_type() else { continue };
            let named = path.extension().is_some_and(|end| end == "jsonl");
            let left = match () {
                () if kind.is_dir() && depth < DEEPEST => {
                    self.walk(&path, depth + 1);
                    continue;
                }
                () if kind.is_dir() => "directories too deep",
                () if !named => continue,
                () if !kind.is_file() => "links and what is no file",
                () if self.transcripts.len() >= MOST_FILES => "files too many",
                () if is_journal(&path) => {
                    self.journals.push(path);
                    continue;
                }
                () => {
                    self.transcripts.push(path);
                    continue;
                }
            };
            *self.tally.left.entry(left.into()).or_default() += 1;
        }
    }

    /// Hands every call on, file by file; of a session with a transcript the journal only adds who was asked.
    ///
    /// # Errors
    /// What `take` fails with.
    pub(super) fn read(mut self, mut take: impl FnMut(PastCall) -> Result<()>) -> Result<Tally> {
        let mut journal = JournalReader::default();
        for path in std::mem::take(&mut self.journals) {
            self.read_file(&path, |line, tally| journal.add_line(line, tally));
        }
        journal.settle();
        let mut asked: HashMap<String, Option<bool>> = HashMap::new();
        for call in &journal.calls {
            let said = asked.entry(call.key()).or_default();
            *said = (*said).max(call.asked);
        }
        let mut sessions = HashSet::new();
        let mut seen = HashSet::new();
        for path in std::mem::take(&mut self.transcripts) {
            let mut transcript = Transcript::new(&mut seen, &self.home);
            self.read_file(&path, |line, tally| transcript.add_line(line, tally));
            for mut call in transcript.calls {
                if !sessions.contains(&call.session) {
                    sessions.insert(call.session.clone());
                }
                if let Some(said) = asked.get(&call.key()) {
                    call.asked = *said;
                }
                self.hand_on(call, &mut take)?;
            }
        }
        for call in journal.calls {
            if !sessions.contains(&call.session) {
                self.hand_on(call, &mut take)?;
            }
        }
        self.progress.clear();
        Ok(self.tally)
    }

    /// The journal alone: every line of it.
    pub(super) fn read_journal(mut self, mut take: impl FnMut(Line)) -> Tally {
        let since = self.since;
        for path in std::mem::take(&mut self.journals) {
            self.read_file(&path, |line, tally| {
                match serde_json::from_value::<Line>(Value::Object(line)) {
                    Ok(line) => {
                        let time = Moment::parse(&line.time);
                        if since.is_none_or(|since| time.is_some_and(|time| time >= since)) {
                            take(line);
                        }
                    }
                    Err(_) => tally.leave("of another form"),
                }
            });
        }
        self.progress.clear();
        self.tally
    }

    /// Only what the journal holds.
    ///
    /// # Errors
    /// On a wrong `since`.
    pub(super) fn of_journal(context: &Context, since: Option<&str>) -> Result<Sources> {
        let mut sources = Sources::empty(context, since)?;
        sources.add_journal(context.paths.journal());
        Ok(sources)
    }

    fn empty(context: &Context, since: Option<&str>) -> Result<Sources> {
        Ok(Sources {
            transcripts: Vec::new(),
            journals: Vec::new(),
            since: since.map(parse_since).transpose()?,
            home: context.paths.home.clone(),
            progress: Progress::default(),
            tally: Tally::default(),
        })
    }

    fn hand_on(
        &mut self,
        call: PastCall,
        take: &mut impl FnMut(PastCall) -> Result<()>,
    ) -> Result<()> {
        self.progress.calls += 1;
        self.progress.show();
        let late = |since| Moment::parse(&call.time).is_some_and(|time| time >= since);
        if self.since.is_none_or(late) { take(call) } else { Ok(()) }
    }

    /// Every line that is a JSON object; the others are told.
    fn read_file(&mut self, path: &Path, mut take: impl FnMut(Map<String, Value>, &mut Tally)) {
        let file = match files::open(path, files::LONG) {
            Ok((file, _)) => file,
            Err(refusal) => {
                self.tally.add_fault(refusal.describe_for(path));
                return;
            }
        };
        self.tally.files += 1;
        let mut lines = Lines { reader: BufReader::new(file), number: 0, bytes: Vec::new() };
        loop {
            let read = lines.next();
            self.progress.bytes += lines.bytes.len() as u64;
            self.progress.show();
            let fault = |why: &str| format!("{}:{}: {why}", path.display(), lines.number);
            match read {
                Ok(LineRead::End) => return,
                Ok(LineRead::TooLong(size)) => {
                    self.progress.bytes += size;
                    let why = format!("longer than {} MiB", hook::LARGEST >> 20);
                    self.tally.add_fault(fault(&why));
                }
                Ok(LineRead::Whole) if lines.bytes.trim_ascii().is_empty() => {}
                Ok(LineRead::Whole) => match payload::parse(&lines.bytes) {
                    // Nobody made that call.
                    Ok(object) if is_sample(&object) => {}
                    Ok(object) => take(object, &mut self.tally),
                    Err(_) => self.tally.add_fault(fault("no JSON object")),
                },
                Err(error) => {
                    self.tally.add_fault(fault(&error.to_string()));
                    return;
                }
            }
        }
    }
}

/// A journal is known by its name, as `journal.jsonl` or `journal.jsonl.2`.
fn is_journal(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.contains("journal.jsonl"))
}

impl Tally {
    fn add_fault(&mut self, fault: String) {
        self.faults.push(text::make_visible(&fault).replace('\n', " "));
    }

    fn leave(&mut self, why: impl Into<String>) {
        *self.left.entry(why.into()).or_default() += 1;
    }

    /// Tells what could not be read, on standard error.
    pub(super) fn tell_faults(&self) {
        for fault in self.faults.iter().take(MOST_FAULTS) {
            print_stderr(&format!("skipped: {fault}"));
        }
        if let Some(more @ 1..) = self.faults.len().checked_sub(MOST_FAULTS) {
            print_stderr(&format!("skipped: {more} more lines"));
        }
    }

    /// `Not judged: 3 cut or redacted, 12 of PostToolUse`; empty where nothing was left out.
    pub(super) fn describe_left(&self) -> String {
        if self.left.is_empty() {
            return String::new();
        }
        let parts: Vec<String> =
            self.left.iter().map(|(why, n)| format!("{n} {}", one_line(why, 80))).collect();
        format!("Not judged: {}\n", parts.join(", "))
    }
}

/// What the next line is.
enum LineRead {
    Whole,
    /// It was passed over: so many bytes.
    TooLong(u64),
    End,
}

struct Lines {
    reader: BufReader<File>,
    number: usize,
    bytes: Vec<u8>,
}

impl Lines {
    fn next(&mut self) -> io::Result<LineRead> {
        self.bytes.clear();
        self.number += 1;
        let most = hook::LARGEST as u64;
        let read = self.reader.by_ref().take(most).read_until(b'\n', &mut self.bytes)?;
        if read == 0 {
            return Ok(LineRead::End);
        }
        if self.bytes.ends_with(b"\n") || (read as u64) < most {
            return Ok(LineRead::Whole);
        }
        self.bytes = Vec::new();
        let mut size = most;
        loop {
            let part = self.reader.fill_buf()?;
            let end = memchr::memchr(b'\n', part);
            let used = end.map_or(part.len(), |end| end + 1);
            size += used as u64;
            let over = end.is_some() || part.is_empty();
            self.reader.consume(used);
            if over {
                return Ok(LineRead::TooLong(size));
            }
        }
    }
}

/// How far it is, on the terminal's standard error.
struct Progress {
    shown: Option<Instant>,
    on: bool,
    bytes: u64,
    total: u64,
    calls: usize,
}

impl Default for Progress {
    fn default() -> Progress {
        Progress { shown: None, on: io::stderr().is_terminal(), bytes: 0, total: 0, calls: 0 }
    }
}

impl Progress {
    fn show(&mut self) {
        let due = || self.shown.is_none_or(|at| at.elapsed() > Duration::from_millis(100));
        if !self.on || !due() {
            return;
        }
        self.shown = Some(Instant::now());
        let part = self.bytes.saturating_mul(30) / self.total.max(1);
        let full = "\u{2588}".repeat(part.min(30) as usize);
        let _ = write!(io::stderr(), "\r\u{1b}[K{full:\u{2591}<30} {} calls", self.calls);
    }

    fn clear(&self) {
        if self.shown.is_some() {
            let _ = write!(io::stderr(), "\r\u{1b}[K");
        }
    }
}

/// One transcript as it is read.
struct Transcript<'s> {
    calls: Vec<PastCall>,
    by_id: HashMap<String, usize>,
    seen: &'s mut HashSet<String>,
    home: PathBuf,
    mode: String,
    cwd: String,
}

impl<'s> Transcript<'s> {
    fn new(seen: &'s mut HashSet<String>, home: &Path) -> Transcript<'s> {
        Transcript {
            home: home.to_path_buf(),
            calls: Vec::new(),
            by_id: HashMap::new(),
            seen,
            mode: String::new(),
            cwd: String::new(),
        }
    }

    fn add_line(&mut self, line: Map<String, Value>, tally: &mut Tally) {
        let field = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        for (key, own) in [("permissionMode", &mut self.mode), ("cwd", &mut self.cwd)] {
            if !field(key).is_empty() {
                *own = field(key).to_string();
            }
        }
        let content = line.get("message").and_then(|message| message.get("content"));
        for item in content.and_then(Value::as_array).into_iter().flatten() {
            match item.get("type").and_then(Value::as_str) {
                Some("tool_use") => self.add_call(&line, item, tally),
                Some("tool_result") => self.add_result(item),
                _ => {}
            }
        }
    }

    fn add_call(&mut self, line: &Map<String, Value>, item: &Value, tally: &mut Tally) {
        let field = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        let own = |key: &str| item.get(key).and_then(Value::as_str).unwrap_or_default();
        let (id, tool) = (own("id"), own("name"));
        if tool.is_empty() || self.cwd.is_empty() {
            return tally.leave("without a tool or a directory");
        }
        // A session that was resumed has the lines of the one before it as well.
        if !id.is_empty() && !self.seen.insert(id.to_string()) {
            return;
        }
        let sidechain = line.get("isSidechain").and_then(Value::as_bool).unwrap_or_default();
        let subagent = match field("agentId") {
            "" if sidechain => "subagent",
            id => id,
        };
        self.by_id.insert(id.to_string(), self.calls.len());
        self.calls.push(PastCall {
            agent: agent::default_agent().id(),
            kind: Kind::PreToolUse,
            tool: tool.to_string(),
            input: self.handed_on(item),
            cwd: self.cwd.clone(),
            session: field("sessionId").to_string(),
            time: field("timestamp").to_string(),
            mode: self.mode.clone(),
            subagent: subagent.to_string(),
            reply: Reply::Unknown,
            asked: None,
            line: None,
        });
    }

    /// The input of a call, with paths as the client hands them on to its hooks.
    fn handed_on(&self, item: &Value) -> Value {
        let mut input = item.get("input").cloned().unwrap_or_default();
        for key in ["file_path", "notebook_path"] {
            if let Some(Value::String(path)) = input.get_mut(key) {
                *path = dry::absolute_path(path, Path::new(&self.cwd), &self.home);
            }
        }
        input
    }

    fn add_result(&mut self, item: &Value) {
        let id = item.get("tool_use_id").and_then(Value::as_str).unwrap_or_default();
        let Some(call) = self.by_id.get(id).and_then(|at| self.calls.get_mut(*at)) else { return };
        let first = |parts: &Vec<Value>| {
            let mut texts = parts.iter().filter_map(|part| part.get("text")?.as_str());
            texts.next().unwrap_or_default().to_string()
        };
        let content = item.get("content");
        let said = match content {
            Some(Value::String(text)) => text.clone(),
            Some(Value::Array(parts)) => first(parts),
            _ => String::new(),
        };
        let failed = item.get("is_error").and_then(Value::as_bool).unwrap_or_default();
        let begins = |list: &[&str]| list.iter().any(|start| said.trim_start().starts_with(start));
        call.reply = match () {
            () if failed && begins(REJECTED) => Reply::No,
            () if failed && begins(NOT_RUN) => Reply::Unknown,
            () => Reply::Yes,
        };
    }
}

/// The journal as it is read.
#[derive(Default)]
struct JournalReader {
    calls: Vec<PastCall>,
    latest: HashMap<String, usize>,
    /// Sessions that tell of calls that ran.
    telling: HashSet<String>,
    asks: bool,
}

impl JournalReader {
    fn add_line(&mut self, line: Map<String, Value>, tally: &mut Tally) {
        let Ok(line) = serde_json::from_value::<Line>(Value::Object(line)) else {
            return tally.leave("of another form");
        };
        let kind = agent::kind_of_name(&line.event);
        if matches!(kind, Kind::PostToolUse | Kind::PostToolUseFailure) {
            self.telling.insert(line.session.clone());
        }
        self.asks |= kind == Kind::PermissionRequest;
        match past_call(line, kind) {
            Ok(call) => self.add_call(call),
            Err(why) => tally.leave(why),
        }
    }

    fn add_call(&mut self, call: PastCall) {
        let key = call.key();
        let known = self.latest.get(&key).and_then(|at| self.calls.get_mut(*at));
        match (call.kind, known) {
            (Kind::PostToolUse | Kind::PostToolUseFailure, known) => {
                if let Some(known) = known {
                    known.reply = Reply::Yes;
                }
            }
            // The dialog of a call that is known already.
            (Kind::PermissionRequest, Some(known)) if known.reply == Reply::Unknown => {
                known.asked = Some(true);
            }
            (kind, _) => {
                let said = call.line.as_ref().is_some_and(|line| line.decision == "ask");
                let asked = (kind == Kind::PermissionRequest || said).then_some(true);
                self.latest.insert(key, self.calls.len());
                self.calls.push(PastCall { asked, ..call });
            }
        }
    }

    /// Of a session that tells of what ran, what was asked about and did not run was rejected. Who is told of
    /// dialogs at all knows where there was none.
    fn settle(&mut self) {
        for call in &mut self.calls {
            let telling = self.telling.contains(&call.session);
            let stopped = call
                .line
                .as_ref()
                .is_some_and(|line| matches!(line.decision.as_str(), "deny" | "halt" | "defer"));
            if call.asked == Some(true) && telling && call.reply == Reply::Unknown && !stopped {
                call.reply = Reply::No;
            }
            if self.asks {
                call.asked = call.asked.or(Some(false));
            }
        }
    }
}

/// The call of a journal's line.
///
/// # Errors
/// Why it cannot be judged again.
fn past_call(line: Line, kind: Kind) -> Result<PastCall, String> {
    check_repeatable(&line, kind.is_tool() && kind != Kind::PermissionDenied)?;
    Ok(PastCall {
        agent: agent::by_id(&line.agent).unwrap_or(agent::default_agent()).id(),
        kind,
        tool: line.tool.clone(),
        input: dry::tool_input(&line.tool, &line.what, &str::to_string),
        cwd: line.cwd.clone(),
        session: line.session.clone(),
        time: line.time.clone(),
        mode: String::new(),
        subagent: String::new(),
        reply: Reply::Unknown,
        asked: None,
        line: Some(Box::new(line)),
    })
}

/// What a call came to.
#[derive(Debug, Clone, Default)]
pub(super) struct Judged {
    pub(super) verb: Option<Verb>,
    pub(super) rule: String,
    pub(super) reason: String,
    /// Would a rule run a command, or ask a server? Then it is only what holds before that.
    pub(super) open: bool,
    /// The rules that spoke: `user:x allow`.
    pub(super) spoke: Vec<String>,
}

impl Judged {
    /// The verdict with its rule.
    pub(super) fn describe(&self) -> String {
        let verb = self.verb.map_or("silent", Verb::name);
        format!("{verb} {}", self.rule).trim_end().to_string()
    }
}

/// Judges past calls, each by the rules of its project; equal ones once.
pub(super) struct Bench<'c> {
    context: &'c Context,
    user: PathBuf,
    extra: String,
    grounds: HashMap<PathBuf, (Rc<Config>, Place)>,
    roots: HashMap<String, PathBuf>,
    /// By a hash of the call: inputs may be large.
    judged: HashMap<u64, Judged>,
    hasher: RandomState,
}

impl<'c> Bench<'c> {
    /// By the rules of now, with that file as the user's and with more rules of the user's.
    pub(super) fn new(context: &'c Context, user: PathBuf, extra: &str) -> Bench<'c> {
        Bench {
            context,
            user,
            extra: extra.to_string(),
            grounds: HashMap::new(),
            roots: HashMap::new(),
            judged: HashMap::new(),
            hasher: RandomState::new(),
        }
    }

    /// The project of that directory. CLAUDE_PROJECT_DIR is of the present session, not of past ones.
    pub(super) fn root(&mut self, cwd: &str) -> PathBuf {
        let home = &self.context.paths.home;
        let find = || paths::project_above(Path::new(cwd), home);
        self.roots.entry(cwd.to_string()).or_insert_with(find).clone()
    }

    fn ground(&mut self, cwd: &str) -> (Rc<Config>, Place) {
        let root = self.root(cwd);
        if !self.grounds.contains_key(&root) {
            let paths = &self.context.paths;
            let mut config = Config::load_with(paths, &self.user, (&root, &root), None);
            if !self.extra.is_empty() {
                config.add_user_text(self.user.clone(), self.extra.clone());
            }
            let place = Ground::new(paths, &config, &root, Some(env::get)).place_at(cwd);
            self.grounds.insert(root.clone(), (Rc::new(config), place));
        }
        let (config, place) = &self.grounds[&root];
        (Rc::clone(config), Place { cwd: cwd.to_string(), ..place.clone() })
    }

    /// Judges it without doing anything.
    pub(super) fn judge(&mut self, call: &PastCall) -> Judged {
        let PastCall { kind, tool, input, cwd, mode, subagent, agent, .. } = call;
        let key = format!("{agent}\0{kind:?}\0{tool}\0{cwd}\0{mode}\0{subagent}\0{input}");
        let key = self.hasher.hash_one(key);
        if let Some(known) = self.judged.get(&key) {
            return known.clone();
        }
        let dry = self.judge_anew(call);
        let notes = &dry.judgement.notes;
        let judged = Judged {
            verb: dry.judgement.answer.verb,
            rule: dry.judgement.rule.clone(),
            reason: dry.judgement.answer.reason.clone(),
            open: notes.iter().any(|n| n.starts_with("would run") || n.starts_with(WOULD_ASK)),
            spoke: dry.judgement.spoke.clone(),
        };
        self.judged.insert(key, judged.clone());
        judged
    }

    /// What the call does.
    pub(super) fn analyse(&mut self, call: &PastCall) -> Analysis {
        let (_, place) = self.ground(&call.cwd);
        Situation::new(replayed_event(call), place).analysis
    }

    fn judge_anew(&mut self, call: &PastCall) -> Dry {
        let (config, place) = self.ground(&call.cwd);
        Dry::judge(replayed_event(call), place, &config, &self.context.paths, false)
    }
}

/// The event that the hook saw, or would have seen.
fn replayed_event(call: &PastCall) -> (&'static dyn Agent, Event) {
    let payload = replayed_payload(call);
    let own = agent::by_id(call.agent).unwrap_or(agent::default_agent());
    match own.id() == agent::default_agent().id() {
        true => (own, own.parse(payload, None)),
        false => dry::synthetic_event(payload, own, None),
    }
}

/// The payload that the hook got, or would have got.
fn replayed_payload(call: &PastCall) -> Map<String, Value> {
    let input = call.input.clone();
    let mut payload = dry::tool_call_payload(call.kind, &call.tool, input, &call.cwd);
    for (key, value) in [("permission_mode", &call.mode), ("agent_id", &call.subagent)] {
        if !value.is_empty() {
            payload.insert(key.to_string(), value.as_str().into());
        }
    }
    payload
}

/// The user's rule file that a path names: itself, or the one in that directory.
///
/// # Errors
/// Where there is none.
pub(super) fn rule_file(path: &Path) -> Result<PathBuf> {
    let path = std::path::absolute(path)?;
    let file = if path.is_dir() { path.join(paths::CONFIG_FILE) } else { path };
    if !file.is_file() {
        bail!("{}: there is no such rule file", file.display());
    }
    Ok(file)
}
