//! `hookctl log`: the journal for people, rotated files included.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, ErrorKind, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::Value;

use super::args::LogArgs;
use super::pause::sum_durations;
use super::{Context, Exit, FAINT, GREEN, RED, YELLOW, one_line, print_stderr, sanitise_output};
use crate::files::{self, Refusal};
use crate::journal::By;
use crate::moment::Moment;
use crate::rule::fault::did_you_mean;
use crate::verdict::Verb;

/// What a line's decision can be.
const DECISIONS: &[&str] = &["halt", "deny", "defer", "ask", "allow", "silent", "passed", "failed"];
/// What is longer is no line of the journal, in bytes: its pieces are none either.
const LONGEST_LINE: u64 = 1 << 20;
/// How often `-f` looks.
const TICK: Duration = Duration::from_millis(200);

/// What is shown.
struct Filter<'a> {
    since: Option<Moment>,
    decision: Option<&'a str>,
    rule: Option<&'a str>,
}

/// Prints the journal.
///
/// # Errors
/// On a wrong option, or where the journal cannot be read.
pub fn run(context: &Context, args: &LogArgs) -> Result<Exit> {
    let filter = Filter {
        since: args.since.as_deref().map(parse_since).transpose()?,
        decision: args.decision.as_deref().map(parse_decision).transpose()?,
        rule: args.rule.as_deref(),
    };
    let journal = context.paths.journal();
    let mut out = io::stdout().lock();
    let mut found = 0usize;
    let mut show = |line: &str| -> io::Result<()> {
        let Ok(value) = serde_json::from_slice::<Value>(line.as_bytes()) else { return Ok(()) };
        if !value.is_object() || !filter.accepts_line(&value) {
            return Ok(());
        }
        found += 1;
        match args.json {
            true => writeln!(out, "{}", crate::text::escape_json(line)),
            false => writeln!(out, "{}", sanitise_output(&render_line(context, &value))),
        }
    };
    let shown = lines(&journal, args.follow, &mut show);
    match shown.and_then(|()| out.flush().map_err(LogStop::Write)) {
        // The reader went away (`| head`).
        Err(LogStop::Write(error)) if error.kind() == ErrorKind::BrokenPipe => return Ok(Exit::Ok),
        Err(LogStop::Write(error)) => return Err(error).context("cannot write to stdout"),
        Err(LogStop::Read(error)) => {
            return Err(error).with_context(|| format!("cannot read {}", journal.display()));
        }
        Ok(()) => {}
    }
    if found == 0 {
        print_stderr(&format!("nothing found in {}", journal.display()));
        return Ok(Exit::Found);
    }
    Ok(Exit::Ok)
}

/// Shows the journal's lines, oldest first, and with `on` those that come.
fn lines(
    journal: &Path,
    on: bool,
    show: &mut impl FnMut(&str) -> io::Result<()>,
) -> Result<(), LogStop> {
    for path in rotated_journals(journal) {
        // One that went meanwhile was rotated on: its lines come from the next name.
        let Ok((file, _)) = files::open(&path, files::LONG) else { continue };
        Tail::new(file).read_lines(show, true)?;
    }
    let mut tail = open_journal(journal)?;
    if let Some(tail) = &mut tail {
        tail.read_lines(show, !on)?;
    }
    if on { follow_journal(journal, tail, show) } else { Ok(()) }
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
    fn accepts_line(&self, line: &Value) -> bool {
        let text = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
        let named = |name: &str, wanted: &str| {
            name == wanted || name.split_once(':').is_some_and(|(_, id)| id == wanted)
        };
        self.decision.is_none_or(|wanted| decision_name(line) == wanted)
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

/// One line for people: time, decision, event, tool, what, rule; below it one for each server.
fn render_line(context: &Context, line: &Value) -> String {
    let field = |key: &str| line.get(key).and_then(Value::as_str).unwrap_or_default();
    let time = format_moment(field("time"));
    let decision = decision_name(line);
    let sgr = match decision {
        "halt" | "deny" | "failed" => RED,
        "ask" | "defer" | "passed" => YELLOW,
        "allow" => GREEN,
        _ => FAINT,
    };
    let shown = context.paint(sgr, &format!("{:<6}", one_line(decision, 6)));
    let event = one_line(field("event"), 18);
    let tool = one_line(field("tool"), 24);
    let time = context.paint(FAINT, &format!("{time:<20}"));
    let mut out = format!("{time}  {shown}  {event:<18}  {tool:<8}");
    for (text, width) in [(field("what"), 100), (failure_note(line), 200)] {
        if !text.is_empty() {
            out.push_str("  ");
            out.push_str(&one_line(text, width));
        }
    }
    if let Some((rule, verb)) = observed_verdict(line) {
        let why = if is_paused(line) { "paused" } else { "observed" };
        let would = format!("  would {} [{}] ({why})", verb.name(), one_line(rule, 80));
        out.push_str(&context.paint(FAINT, &would));
    }
    let marks = line.get("marks").and_then(Value::as_array).into_iter().flatten();
    let marks: Vec<&str> = marks.filter_map(Value::as_str).collect();
    if !marks.is_empty() {
        let marks = format!("  marks {}", one_line(&marks.join(", "), 60));
        out.push_str(&context.paint(FAINT, &marks));
    }
    if !field("rule").is_empty() {
        out.push_str("  ");
        out.push_str(&context.paint(FAINT, &format!("[{}]", one_line(field("rule"), 80))));
    }
    out.truncate(out.trim_end().len());
    for asked in line.get("remotes").and_then(Value::as_array).into_iter().flatten() {
        out.push_str("\n    ");
        out.push_str(&context.paint(FAINT, &describe_server(asked)));
    }
    out
}

/// A time for people: `2026-11-20 14:00:00Z`.
fn format_moment(text: &str) -> String {
    match Moment::parse(text) {
        Some(time) => time.to_seconds_text().replace('T', " "),
        None => one_line(text, 20),
    }
}

/// The decision for people: what was let pass although a rule would have stopped it, was it enforced, is
/// not the same as what no rule spoke of.
fn decision_name(line: &Value) -> &str {
    match line.get("decision").and_then(Value::as_str).unwrap_or_default() {
        "silent" if observed_verdict(line).is_some() => "passed",
        decision => decision,
    }
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

/// What came of asking a server: `policy  https://x.org/hook  failed, 4 attempts, 812 ms: HTTP 503`.
fn describe_server(asked: &Value) -> String {
    let field =
        |key: &str| one_line(asked.get(key).and_then(Value::as_str).unwrap_or_default(), 200);
    let number = |key: &str| asked.get(key).and_then(Value::as_u64).unwrap_or_default();
    let (attempts, ms) = (number("attempts"), number("ms"));
    let plural = if attempts == 1 { "" } else { "s" };
    let (name, endpoint, outcome, cause) =
        (field("name"), field("endpoint"), field("outcome"), field("cause"));
    let by = By::NAMES.iter().find(|(name, _)| *name == field("by")).map(|(_, by)| by);
    if outcome == "remembered" {
        let (since, until) = (format_moment(&field("since")), format_moment(&field("until")));
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
        out.push_str(&format!(", {}", format_moment(&field("since"))));
    }
    if !cause.is_empty() {
        out.push_str(&format!(": {cause}"));
    }
    out
}

/// Why a judgement failed: the one thing that has no other place on the line.
fn failure_note(line: &Value) -> &str {
    let failed = line.get("decision").and_then(Value::as_str) == Some("failed");
    let first = line.get("notes").and_then(Value::as_array).and_then(|notes| notes.first());
    first.and_then(Value::as_str).filter(|_| failed).unwrap_or_default()
}
