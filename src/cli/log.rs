//! `hookctl log`: the journal for people, rotated files included.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Map, Value};

use super::args::LogArgs;
use super::pause::sum_durations;
use super::status::format_age;
use super::terminal::{self, Pager};
use super::zone::Zone;
use super::{
    Context, Exit, FAINT, GREEN, RED, YELLOW, display_path, flatten_lines, one_line, print_stderr,
    sanitise_output,
};
use crate::files::{self, Refusal};
use crate::glob;
use crate::journal::{By, Line};
use crate::moment::Moment;
use crate::names::journal::TOLD;
use crate::paths;
use crate::rule::fault::did_you_mean;
use crate::verdict::Verb;

mod verify;

/// What a line's decision can be, and what else can be asked for.
pub(super) const DECISIONS: &[&str] =
    &["halt", "deny", "defer", "ask", "allow", "silent", "failed", "passed", "rewritten"];
/// How many are shown where nothing else is said.
const SHOWN: usize = 20;
/// What is longer is no line of the journal, in bytes: its pieces are none either.
const LONGEST_LINE: u64 = 1 << 20;
/// The columns of a time by the clocks, of one ago, of a verdict and of a rule.
const CLOCK: usize = 19;
const RELATIVE: usize = 22;
const VERDICT: usize = 11;
const RULE: usize = 24;
/// From so many columns on a line shows the rule, and the year.
const NARROW: usize = 60;
const WIDE: usize = 100;
/// The columns that a call has at least, before the marks behind it are left out.
const CALL: usize = 12;
/// How much of a call is shown where nobody knows how wide the lines may be.
const LONGEST_CALL: usize = 400;
/// What is narrower is no terminal.
const NARROWEST: usize = 40;
/// The session of the samples of `status --verify`.
pub(super) const SAMPLE_SESSION: &str = "hookctl-verify";
/// How often `-f` looks.
const TICK: Duration = Duration::from_millis(200);

/// What is shown.
struct Filter<'a> {
    since: Option<Moment>,
    decision: Option<&'a str>,
    rule: Option<&'a str>,
    tool: Option<&'a str>,
    project: Option<ProjectFilter<'a>>,
}

/// Which projects are meant.
enum ProjectFilter<'a> {
    /// What is at or below this directory.
    Directory(PathBuf),
    /// Those of that name, whereever they are.
    Name(&'a str),
}

impl ProjectFilter<'_> {
    fn new<'a>(context: &Context, text: &'a str) -> Result<ProjectFilter<'a>> {
        let names_path = text == "." || text.contains(std::path::is_separator);
        if !names_path && !Path::new(text).is_dir() {
            return Ok(ProjectFilter::Name(text));
        }
        let home = context.paths.home.clone();
        let path = match text.strip_prefix("~") {
            Some(rest) if rest.is_empty() || rest.starts_with(std::path::is_separator) => {
                home.join(rest.trim_start_matches(std::path::is_separator))
            }
            _ => std::path::absolute(text)?,
        };
        let path = files::real_path(&path).unwrap_or(path);
        Ok(ProjectFilter::Directory(if text == "." { context.root.clone() } else { path }))
    }

    fn accepts(&self, cwd: &str, project: &Path) -> bool {
        match self {
            ProjectFilter::Directory(directory) => Path::new(cwd).starts_with(directory),
            ProjectFilter::Name(name) => project.file_name().is_some_and(|own| own == *name),
        }
    }
}

/// Prints the journal.
///
/// # Errors
/// On a wrong option, or where the journal cannot be read.
pub fn run(context: &Context, args: &LogArgs) -> Result<Exit> {
    if args.verify {
        return verify::run(context, args.json);
    }
    let project = args.project.as_deref().map(|text| ProjectFilter::new(context, text));
    let filter = Filter {
        since: args.since.as_deref().map(parse_since).transpose()?,
        decision: args.decision.as_deref().map(parse_decision).transpose()?,
        rule: args.rule.as_deref(),
        tool: args.tool.as_deref(),
        project: project.transpose()?,
    };
    let all = args.json || args.since.is_some();
    let most = match args.lines {
        Some(0) => usize::MAX,
        Some(lines) => usize::try_from(lines).unwrap_or(usize::MAX),
        None if all => usize::MAX,
        None => SHOWN,
    };
    let view = View::new(context, args.relative);
    let text = |line: &str, value: &Value| match args.json {
        true => crate::text::escape_json(line).into_owned(),
        false => sanitise_output(&view.render_line(value)).into_owned(),
    };
    let journal = context.paths.journal();
    // Those that are shown at the end, where only the last are.
    let mut kept: VecDeque<(String, Value)> = VecDeque::new();
    let mut found = 0usize;
    let mut out = io::stdout().lock();
    let mut show = |line: &str| -> io::Result<()> {
        let Ok(value) = serde_json::from_slice::<Value>(line.as_bytes()) else { return Ok(()) };
        if !value.is_object() || !filter.accepts_line(&value, context) {
            return Ok(());
        }
        found += 1;
        if args.json && most == usize::MAX {
            return writeln!(out, "{}", text(line, &value));
        }
        // Most of a long journal is not shown.
        kept.push_back((line.to_string(), value));
        if kept.len() > most {
            kept.pop_front();
        }
        Ok(())
    };
    let shown = read_past(&journal, args.follow, &mut |line| show(line));
    let tail = match shown {
        Ok(tail) => tail,
        Err(stop) => return finish_log(Err(stop), &journal),
    };
    let more = found.saturating_sub(kept.len());
    let mut page: String = kept.iter().map(|(line, value)| text(line, value) + "\n").collect();
    if more > 0 && !args.json && args.lines.is_none() {
        let note = format!("The last {most} of {found}; `-n 0` shows all.\n");
        page = context.paint(FAINT, &note) + &page;
    }
    drop(out);
    let pager = if args.follow || args.json { Pager::Stdout } else { Pager::for_lines(kept.len()) };
    if let Err(error) = pager.show(&page) {
        return finish_log(Err(LogStop::Write(error)), &journal);
    }
    if args.follow {
        let mut out = io::stdout().lock();
        let followed = follow_journal(&journal, tail, &mut |line| {
            let Ok(value) = serde_json::from_slice::<Value>(line.as_bytes()) else { return Ok(()) };
            match value.is_object() && filter.accepts_line(&value, context) {
                true => writeln!(out, "{}", text(line, &value)),
                false => Ok(()),
            }
        });
        return finish_log(followed, &journal);
    }
    if found == 0 {
        let why = match journal.exists() {
            true => format!("nothing found in {}", display_path(context, &journal)),
            false => format!(
                "no decision yet: {} is not there (`hookctl status` says whether the guard is in effect)",
                display_path(context, &journal)
            ),
        };
        print_stderr(&why);
        return Ok(Exit::Found);
    }
    Ok(Exit::Ok)
}

/// What the end of the printing amounts to.
fn finish_log(ended: Result<(), LogStop>, journal: &Path) -> Result<Exit> {
    match ended {
        // The reader went away (`| head`).
        Err(LogStop::Write(error)) if error.kind() == ErrorKind::BrokenPipe => Ok(Exit::Ok),
        Err(LogStop::Write(error)) => Err(error).context("cannot write to stdout"),
        Err(LogStop::Read(error)) => {
            Err(error).with_context(|| format!("cannot read {}", journal.display()))
        }
        Ok(()) => Ok(Exit::Ok),
    }
}

/// Shows the journal's lines, oldest first; the file that those go to which come, where more are wanted.
fn read_past(
    journal: &Path,
    on: bool,
    show: &mut impl FnMut(&str) -> io::Result<()>,
) -> Result<Option<Tail>, LogStop> {
    for path in rotated_journals(journal) {
        // One that went meanwhile was rotated on: its lines come from the next name.
        let Ok((file, _)) = files::open(&path, files::LONG) else { continue };
        Tail::new(file).read_lines(show, true)?;
    }
    let mut tail = open_journal(journal)?;
    if let Some(tail) = &mut tail {
        tail.read_lines(show, !on)?;
    }
    Ok(tail)
}

/// What ended the printing.
pub(super) enum LogStop {
    /// The file could not be read.
    Read(io::Error),
    /// What was read could not be shown.
    Write(io::Error),
}

/// The rotated journals, oldest first.
pub(super) fn rotated_journals(journal: &Path) -> Vec<PathBuf> {
    let dir = journal.parent().unwrap_or(Path::new("/"));
    let prefix = format!("{}.", journal.file_name().unwrap_or_default().to_string_lossy());
    let mut found: Vec<(u32, PathBuf)> = std::fs::read_dir(dir)
        .into_iter()
        .flatten()
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name();
            let number = name.to_str()?.strip_prefix(&prefix)?.parse().ok()?;
            Some((number, entry.path()))
        })
        .collect();
    crate::order::sort_by_key(&mut found, |(number, _)| std::cmp::Reverse(*number));
    found.into_iter().map(|(_, path)| path).collect()
}

fn open_journal(journal: &Path) -> Result<Option<Tail>, LogStop> {
    match files::open(journal, files::LONG) {
        Ok((file, _)) => Ok(Some(Tail::new(file))),
        Err(Refusal::Absent) => Ok(None),
        Err(refusal) => Err(LogStop::Read(refusal.into())),
    }
}

/// A file that may still grow, and the beginning of a line that is not complete.
pub(super) struct Tail {
    reader: BufReader<File>,
    part: Vec<u8>,
}

impl Tail {
    pub(super) fn new(file: File) -> Tail {
        Tail { reader: BufReader::new(file), part: Vec::new() }
    }

    /// Every complete line that is there; at the end of a file also one without its line end.
    pub(super) fn read_lines(
        &mut self,
        show: &mut impl FnMut(&str) -> io::Result<()>,
        ended: bool,
    ) -> Result<(), LogStop> {
        loop {
            let room = LONGEST_LINE - self.part.len() as u64;
            let mut reader = self.reader.by_ref().take(room);
            let read = reader.read_until(b'\n', &mut self.part).map_err(LogStop::Read)?;
            if read == 0 && (!ended || self.part.is_empty()) {
                return Ok(());
            }
            let full = self.part.len() as u64 >= LONGEST_LINE;
            if self.part.ends_with(b"\n") || ended || full {
                let line = String::from_utf8_lossy(&self.part).into_owned();
                self.part.clear();
                show(line.trim()).map_err(LogStop::Write)?;
            }
        }
    }

    /// Has another file come into its place, or was it cut?
    fn is_over(&mut self, journal: &Path) -> bool {
        use std::io::Seek as _;
        let own = self.reader.get_ref().metadata();
        let (Ok(own), Ok(now)) = (own, journal.metadata()) else { return false };
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt as _;
            if (own.dev(), own.ino()) != (now.dev(), now.ino()) {
                return true;
            }
        }
        #[cfg(windows)]
        {
            use crate::files::identity::{of_file, of_path};
            let told = of_file(self.reader.get_ref()).zip(of_path(journal));
            if told.is_some_and(|(own, now)| own.id != now.id) {
                return true;
            }
        }
        let read = self.reader.stream_position().unwrap_or(0);
        now.len() < read || own.len() < read
    }
}

fn follow_journal(
    journal: &Path,
    mut tail: Option<Tail>,
    show: &mut impl FnMut(&str) -> io::Result<()>,
) -> Result<(), LogStop> {
    loop {
        if reader_is_gone() {
            return Err(LogStop::Write(ErrorKind::BrokenPipe.into()));
        }
        thread::sleep(TICK);
        let over = match &mut tail {
            Some(tail) => {
                let over = tail.is_over(journal);
                // What was written before the rotation is still in the old file.
                tail.read_lines(show, over)?;
                over
            }
            None => true,
        };
        if over && let Some(mut new) = open_journal(journal)? {
            new.read_lines(show, false)?;
            tail = Some(new);
        }
    }
}

/// Does nobody read what is printed any more? Else `-f` would wait for the next line to find out.
#[cfg(unix)]
fn reader_is_gone() -> bool {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    let stdout = io::stdout();
    let mut fds = [PollFd::new(&stdout, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    poll(&mut fds, Some(&now)).is_ok()
        && fds[0].revents().intersects(PollFlags::ERR | PollFlags::HUP)
}

#[cfg(not(unix))]
fn reader_is_gone() -> bool {
    false
}

/// Can the call of a journal's line be judged again? `counts` = its event is one of those that are.
///
/// # Errors
/// Why not.
pub(super) fn check_repeatable(line: &Line, counts: bool) -> Result<(), String> {
    if line.decision == "failed" {
        return Err("that failed".into());
    }
    if !counts {
        return Err(format!("of {}", one_line(&line.event, 40)));
    }
    if !TOLD.contains(&line.tool.as_str()) || line.what.is_empty() {
        return Err(format!("of {}", one_line(&line.tool, 60)));
    }
    if line.is_partial() {
        return Err("cut or redacted".into());
    }
    if line.cwd.is_empty() {
        return Err("without a directory".into());
    }
    if line.notes.iter().any(|note| note == "paused") {
        return Err("from a pause".into());
    }
    Ok(())
}

pub(super) fn parse_since(text: &str) -> Result<Moment> {
    let Some(back) = sum_durations(text) else {
        bail!("`{text}` is no duration: write 30m, 2h or 7d");
    };
    Moment::now().checked_sub(back).with_context(|| format!("`{text}` is too long ago"))
}

fn parse_decision(text: &str) -> Result<&'static str> {
    let wanted = match text {
        "none" => "silent",
        "block" => "deny",
        other => other,
    };
    if let Some(known) = DECISIONS.iter().find(|known| **known == wanted) {
        return Ok(known);
    }
    let hint = did_you_mean(text, DECISIONS.iter().copied());
    let hint = hint.map(|hint| format!(", did you mean `{hint}`?")).unwrap_or_default();
    bail!("`{text}` is no decision{hint}: there are {}", DECISIONS.join(", "))
}

impl Filter<'_> {
    fn accepts_line(&self, line: &Value, context: &Context) -> bool {
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        let named = |name: &str, wanted: &str| {
            name == wanted || name.split_once(':').is_some_and(|(_, id)| id == wanted)
        };
        let tool = |pattern: &str| {
            let (pattern, name) = (pattern.to_lowercase(), text("tool").to_lowercase());
            glob::matches(&pattern, &name)
        };
        let project = || project_of(context, text("cwd"));
        self.decision.is_none_or(|wanted| is_decision(line, wanted))
            && self.tool.is_none_or(tool)
            && self.project.as_ref().is_none_or(|wanted| wanted.accepts(text("cwd"), &project()))
            && self.rule.is_none_or(|wanted| {
                let spoke = line.get("rules").and_then(Value::as_array).into_iter().flatten();
                named(text("rule"), wanted)
                    || spoke
                        .filter_map(Value::as_str)
                        .filter_map(|spoke| spoke.split(' ').next())
                        .any(|name| named(name, wanted))
            })
            && self
                .since
                .is_none_or(|since| Moment::parse(text("time")).is_some_and(|time| time >= since))
    }
}

/// The root of the project that a session's directory is in.
fn project_of(context: &Context, cwd: &str) -> PathBuf {
    paths::project_above(Path::new(cwd), &context.paths.home)
}

/// Is the line one of those that are asked for by that word? What was only observed counts as its verdict.
fn is_decision(line: &Value, wanted: &str) -> bool {
    let observed = observed_verdict(line);
    let decision = line.get("decision").and_then(Value::as_str).unwrap_or_default();
    match wanted {
        "passed" => decision == "silent" && observed.is_some(),
        "rewritten" => is_rewritten(line),
        "silent" => decision == "silent" && observed.is_none(),
        _ => decision == wanted || observed.is_some_and(|(_, verb)| verb.name() == wanted),
    }
}

fn is_rewritten(line: &Value) -> bool {
    line.get("rewritten").and_then(Value::as_bool).unwrap_or_default()
}

/// Is it a sample of `status --verify`, which no agent asked for?
pub(super) fn is_sample(line: &Map<String, Value>) -> bool {
    let is = |key: &str, wanted: &str| line.get(key).and_then(Value::as_str) == Some(wanted);
    is("session", SAMPLE_SESSION) || is("rule", "project:live-check")
}

/// How lines are shown to people.
struct View<'a> {
    context: &'a Context,
    zone: Zone,
    relative: bool,
    now: i64,
    columns: usize,
}

impl View<'_> {
    fn new(context: &Context, relative: bool) -> View<'_> {
        let columns = terminal::columns().unwrap_or(usize::MAX).max(NARROWEST);
        View { context, zone: Zone::local(), relative, now: Moment::now().to_seconds(), columns }
    }

    /// A time for people, by the local clocks.
    fn format_moment(&self, text: &str) -> String {
        match Moment::parse(text) {
            Some(time) if self.relative => format_age(self.now - time.to_seconds()),
            Some(time) => self.zone.clock_text(time),
            None => one_line(text, 19),
        }
    }

    /// One line for people: time, verdict, rule, call, project; below it one for each server.
    fn render_line(&self, line: &Value) -> String {
        let field = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        let mut time = self.format_moment(field("time"));
        let narrow = self.columns < WIDE;
        if narrow && !self.relative && time.len() == CLOCK {
            // Which year it is everybody knows.
            time.drain(..5);
        }
        let width = match (self.relative, narrow) {
            (true, _) => RELATIVE,
            (false, true) => CLOCK - 5,
            (false, false) => CLOCK,
        };
        let (verdict, rule, sgr) = describe_verdict(line);
        let rule = match self.columns {
            ..NARROW => String::new(),
            NARROW..WIDE => terminal::pad(&terminal::cut(&rule, RULE - 6), RULE - 6) + "  ",
            _ => terminal::pad(&rule, RULE) + "  ",
        };
        let verdict = self.context.paint(sgr, &terminal::pad(&verdict, VERDICT));
        let time = self.context.paint(FAINT, &terminal::pad(&time, width));
        let head = format!("{time}  {verdict}  {rule}");
        let room = self.columns.saturating_sub(terminal::text_columns(&head)).max(1);
        let call = describe_call(line);
        let mut place = self.describe_place(line);
        if !place.is_empty() {
            place.insert_str(0, "  ");
        }
        let left = room.saturating_sub(terminal::text_columns(&place));
        let (call, place) = match left >= CALL {
            true => (terminal::cut(&call, left.min(LONGEST_CALL)), place),
            false => (terminal::cut(&call, room), String::new()),
        };
        let mut out = format!("{head}{call}");
        out.truncate(out.trim_end().len());
        if !place.is_empty() {
            out.push_str(&self.context.paint(FAINT, &place));
        }
        for asked in line.get("remotes").and_then(Value::as_array).into_iter().flatten() {
            out.push_str("\n    ");
            out.push_str(&self.context.paint(FAINT, &self.describe_server(asked)));
        }
        out
    }

    /// The project's name; the agent where it is not the usual one, and what is no call at all.
    fn describe_place(&self, line: &Value) -> String {
        if line.as_object().is_some_and(is_sample) {
            return "(verify sample)".into();
        }
        let field = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        let project = match field("cwd") {
            "" => PathBuf::new(),
            cwd => project_of(self.context, cwd),
        };
        let name = project.file_name().unwrap_or_default().to_string_lossy();
        let name = one_line(&name, 24);
        let usual = crate::agent::default_agent().id();
        let agent = Some(field("agent")).filter(|agent| !agent.is_empty() && *agent != usual);
        let session = line.get("marks").and_then(Value::as_array).into_iter().flatten();
        let session: Vec<&str> = session.filter_map(Value::as_str).collect();
        let said = [agent, is_paused(line).then_some("paused")];
        let mut said: Vec<String> =
            said.into_iter().flatten().map(|word| one_line(word, 12)).collect();
        if !session.is_empty() {
            said.push(one_line(&format!("marks {}", session.join(", ")), 60));
        }
        match said.is_empty() {
            true => name,
            false => format!("{name} ({})", said.join(", ")).trim_start().to_string(),
        }
    }
}

/// What was said, the rule, and its colour: what only would have been stopped says so.
fn describe_verdict(line: &Value) -> (String, String, u8) {
    let field = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
    let decision = one_line(field("decision"), VERDICT);
    let rule = one_line(field("rule"), 48);
    let sgr = match decision.as_str() {
        "halt" | "deny" | "failed" => RED,
        "ask" | "defer" => YELLOW,
        "allow" => GREEN,
        _ => FAINT,
    };
    if decision == "silent"
        && let Some((rule, verb)) = observed_verdict(line)
    {
        return (format!("would {}", verb.name()), one_line(rule, 48), YELLOW);
    }
    if decision == "silent" && is_rewritten(line) {
        let spoke = line.get("rules").and_then(Value::as_array).into_iter().flatten();
        let acts = spoke.filter_map(Value::as_str).find_map(|spoke| spoke.strip_suffix(" -"));
        return ("rewritten".into(), one_line(acts.unwrap_or_default(), 48), GREEN);
    }
    (decision, rule, sgr)
}

/// What was called: a command as it is, all else by its tool, and an event that is no call by its name.
fn describe_call(line: &Value) -> String {
    let field = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
    let event = Some(field("event")).filter(|event| !matches!(*event, "" | "PreToolUse"));
    let tool = Some(field("tool")).filter(|tool| !matches!(*tool, "" | "Bash"));
    let parts = [event, tool, Some(field("what")), Some(failure_note(line))];
    let parts: Vec<String> =
        parts.into_iter().flatten().filter(|part| !part.is_empty()).map(flatten_lines).collect();
    parts.join(" ")
}

/// The strongest verdict that would have stopped the call, and its rule: only observed, or paused.
fn observed_verdict(line: &Value) -> Option<(&str, Verb)> {
    let spoke = line.get("rules").and_then(Value::as_array)?.iter().filter_map(Value::as_str);
    let would = spoke.filter_map(|spoke| {
        let (rule, verb) = spoke.strip_suffix(" (observed)")?.split_once(' ')?;
        let verb = Verb::ALL.iter().copied().find(|known| known.name() == verb)?;
        verb.stops_call().then_some((rule, verb))
    });
    would.max_by_key(|(_, verb)| *verb)
}

fn is_paused(line: &Value) -> bool {
    let notes = line.get("notes").and_then(Value::as_array).into_iter().flatten();
    notes.into_iter().any(|note| note == "paused")
}

impl View<'_> {
    /// What came of asking a server: `policy  https://x.org/hook  failed, 4 attempts, 812 ms: HTTP 503`.
    fn describe_server(&self, asked: &Value) -> String {
        let field =
            |key: &str| one_line(asked.get(key).and_then(Value::as_str).unwrap_or_default(), 200);
        let number = |key: &str| asked.get(key).and_then(Value::as_u64).unwrap_or_default();
        let (attempts, ms) = (number("attempts"), number("ms"));
        let plural = if attempts == 1 { "" } else { "s" };
        let (name, endpoint, outcome, cause) =
            (field("name"), field("endpoint"), field("outcome"), field("cause"));
        let by = By::NAMES.iter().find(|(name, _)| *name == field("by")).map(|(_, by)| by);
        if outcome == "remembered" {
            let (since, until) =
                (self.format_moment(&field("since")), self.format_moment(&field("until")));
            // Lines of earlier versions do not say it.
            return match by {
                None => format!("{name}  {outcome}: nobody was asked"),
                Some(by) => {
                    format!(
                        "{name}  {outcome}: {}, {since}, which holds until {until}",
                        by.describe_source()
                    )
                }
            };
        }
        let mut out = format!("{name}  {endpoint}  {outcome}, {attempts} attempt{plural}, {ms} ms");
        if let Some(by) = by {
            out.push_str(&format!(", {}", by.describe_source()));
        }
        if by == Some(&By::HumanEarlier) {
            out.push_str(&format!(", {}", self.format_moment(&field("since"))));
        }
        if !cause.is_empty() {
            out.push_str(&format!(": {cause}"));
        }
        out
    }
}

/// Why a judgement failed: the one thing that has no other place on the line.
fn failure_note(line: &Value) -> &str {
    let failed = line.get("decision").and_then(Value::as_str) == Some("failed");
    let first = line.get("notes").and_then(Value::as_array).and_then(|notes| notes.first());
    first.and_then(Value::as_str).filter(|_| failed).unwrap_or_default()
}
