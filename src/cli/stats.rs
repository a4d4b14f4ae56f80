//! `hookctl stats`: what the journal tells of decisions, counted. The page of `hookctl report` shows the same.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::args::StatsArgs;
use super::history::Sources;
use super::{
    BOLD, Context, Exit, FAINT, GREEN, RED, YELLOW, display_path, one_line, print, print_json,
    print_stderr,
};
use crate::agent;
use crate::event::Kind;
use crate::journal::Line;
use crate::paths;

/// So many rows of each table are shown.
pub(super) const SHOWN: usize = 15;
/// So many days have a place in a sparkline; those before are not drawn.
const DAYS: usize = 60;
/// Where a bucket of latency ends, in milliseconds.
pub(super) const BUCKETS: [f64; 9] = [0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 50.0, 1000.0, f64::INFINITY];

/// How a decision came out. `Passed` would have been stopped, but for `observe` or a pause. `Failed` could not be judged.
pub(super) const OUTCOMES: [&str; 6] = ["allow", "silent", "passed", "ask", "deny", "failed"];
/// The colours of people's terminals for them.
const COLOURS: [u8; 6] = [GREEN, FAINT, YELLOW, YELLOW, RED, RED];

/// How often each outcome was.
pub(super) type Outcomes = [usize; OUTCOMES.len()];

/// What is counted.
#[derive(Debug, Default)]
pub(super) struct Figures {
    pub(super) events: usize,
    pub(super) sessions: BTreeSet<String>,
    pub(super) first: String,
    pub(super) last: String,
    pub(super) all: Outcomes,
    /// By day.
    pub(super) days: BTreeMap<String, Outcomes>,
    /// Rules that stopped, or would have.
    pub(super) rules: BTreeMap<String, (Outcomes, String)>,
    pub(super) programs: BTreeMap<String, Outcomes>,
    pub(super) projects: BTreeMap<String, Outcomes>,
    /// Dialogs of the agent's own.
    pub(super) dialogs: usize,
    pub(super) times: Vec<f64>,
}

/// Counts and prints.
///
/// # Errors
/// On a wrong `--since`, or where stdout cannot be written.
pub(super) fn run(context: &Context, args: &StatsArgs) -> Result<Exit> {
    let figures = Figures::read(context, args.since.as_deref())?;
    if args.json {
        print_json(&figures.to_json())?;
    } else if figures.events > 0 {
        print(&figures.render_text(context))?;
    }
    if figures.events == 0 {
        print_stderr(&format!("nothing found in {}", context.paths.journal().display()));
        return Ok(Exit::Found);
    }
    Ok(Exit::Ok)
}

impl Figures {
    /// Counts the journal's lines.
    ///
    /// # Errors
    /// On a wrong `since`.
    pub(super) fn read(context: &Context, since: Option<&str>) -> Result<Figures> {
        let mut figures = Figures::default();
        let mut roots: HashMap<String, String> = HashMap::new();
        let sources = Sources::of_journal(context, since)?;
        let tally = sources.read_journal(|line| {
            let project = roots.entry(line.cwd.clone()).or_insert_with(|| {
                let root = paths::project_above(Path::new(&line.cwd), &context.paths.home);
                display_path(context, &root)
            });
            figures.add_line(&line, project);
        });
        tally.tell_faults();
        figures.times.sort_by(f64::total_cmp);
        Ok(figures)
    }

    fn add_line(&mut self, line: &Line, project: &str) {
        self.events += 1;
        // An event that nobody could read is of no session.
        if !line.session.is_empty() {
            self.sessions.insert(line.session.clone());
        }
        self.times.push(line.ms);
        if self.first.is_empty() || line.time < self.first {
            self.first.clone_from(&line.time);
        }
        if line.time > self.last {
            self.last.clone_from(&line.time);
        }
        let kind = agent::kind_of_name(&line.event);
        let outcome = outcome(line);
        if kind == Kind::PermissionRequest && outcome == 1 {
            // The call itself has a line of its own.
            self.dialogs += 1;
            return;
        }
        if outcome >= 2 {
            let observed = line.rules.iter().find_map(|spoke| spoke.strip_suffix(" (observed)"));
            let observed = observed.and_then(|spoke| spoke.split(' ').next());
            let rule = if line.rule.is_empty() { observed.unwrap_or("?") } else { &line.rule };
            let (outcomes, last) = self.rules.entry(one_line(rule, 80)).or_default();
            outcomes[outcome] += 1;
            if line.time > *last {
                last.clone_from(&line.time);
            }
        }
        if !kind.is_gate() {
            return;
        }
        self.all[outcome] += 1;
        let day = one_line(line.time.get(..10).unwrap_or("?"), 10);
        self.days.entry(day).or_default()[outcome] += 1;
        self.programs.entry(program(line)).or_default()[outcome] += 1;
        if !line.cwd.is_empty() {
            self.projects.entry(one_line(project, 80)).or_default()[outcome] += 1;
        }
    }

    pub(super) fn calls(&self) -> usize {
        self.all.iter().sum()
    }

    /// The time that so many of a hundred events took at most.
    pub(super) fn time(&self, part: usize) -> f64 {
        let at = (self.times.len() * part / 100).min(self.times.len().saturating_sub(1));
        self.times.get(at).copied().unwrap_or_default()
    }

    /// How many events took how long.
    pub(super) fn buckets(&self) -> [usize; BUCKETS.len()] {
        let mut out = [0; BUCKETS.len()];
        for time in &self.times {
            let at = BUCKETS.iter().position(|end| time <= end).unwrap_or(BUCKETS.len() - 1);
            out[at] += 1;
        }
        out
    }

    fn render_text(&self, context: &Context) -> String {
        let day = |time: &str| one_line(time.get(..10).unwrap_or(time), 10);
        let counted = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let mut out = format!(
            "{} in {} of {}, {} to {}\n\n",
            context.paint(BOLD, &counted(self.events, "event")),
            counted(self.sessions.len(), "session"),
            counted(self.projects.len(), "project"),
            day(&self.first),
            day(&self.last),
        );
        let days = self.drawn_days();
        for (at, name) in OUTCOMES.iter().enumerate().filter(|(at, _)| self.all[*at] > 0) {
            let share = 100.0 * self.all[at] as f64 / self.calls().max(1) as f64;
            let line: Vec<usize> = days.iter().map(|day| day[at]).collect();
            let name = context.paint(COLOURS[at], &format!("{name:<6}"));
            let _ =
                writeln!(out, "  {name} {:>8}  {share:>5.1} %{}", self.all[at], sparkline(&line));
        }
        let _ = writeln!(
            out,
            "\nprompts  saved {} at most, asked {} by rules, {} by the agent itself",
            self.all[0], self.all[3], self.dialogs
        );
        let total: f64 = self.times.iter().sum();
        let _ = writeln!(
            out,
            "time     {:.1} ms half of all, {:.1} ms 95 of 100, {:.1} ms longest, {:.1} s together",
            self.time(50),
            self.time(95),
            self.times.last().copied().unwrap_or_default(),
            total / 1000.0
        );
        let mut rules: Vec<_> = self.rules.iter().collect();
        crate::order::sort_by_key(&mut rules, |(_, (outcomes, _))| {
            std::cmp::Reverse(outcomes.iter().sum::<usize>())
        });
        heading(&mut out, "what rules stopped", rules.len());
        for (rule, (outcomes, last)) in rules.into_iter().take(SHOWN) {
            let _ = writeln!(
                out,
                "  {:>8}  {rule}  {}",
                outcomes.iter().sum::<usize>(),
                context.paint(FAINT, &format!("{}, last {}", describe(outcomes), day(last)))
            );
        }
        for (title, table) in [("by program", &self.programs), ("by project", &self.projects)] {
            heading(&mut out, title, table.len());
            for (name, outcomes) in largest(table).into_iter().take(SHOWN) {
                let calls: usize = outcomes.iter().sum();
                let said = context.paint(FAINT, &describe(outcomes));
                let _ = writeln!(out, "  {calls:>8}  {name}  {said}");
            }
        }
        out
    }

    /// The outcomes of each day, those without a call as well.
    fn drawn_days(&self) -> Vec<&Outcomes> {
        let days: Vec<&Outcomes> = self.days.values().collect();
        days[days.len().saturating_sub(DAYS)..].to_vec()
    }

    fn to_json(&self) -> Value {
        let named = |outcomes: &Outcomes| {
            let pairs = OUTCOMES.iter().zip(outcomes);
            Value::Object(pairs.map(|(name, count)| (name.to_string(), json!(count))).collect())
        };
        let table = |table: &BTreeMap<String, Outcomes>| {
            Value::Object(table.iter().map(|(name, all)| (name.clone(), named(all))).collect())
        };
        let rules = self.rules.iter().map(|(rule, (outcomes, last))| {
            let mut own = named(outcomes);
            own["last"] = json!(last);
            (rule.clone(), own)
        });
        json!({
            "events": self.events,
            "calls": self.calls(),
            "sessions": self.sessions.len(),
            "first": self.first,
            "last": self.last,
            "verdicts": named(&self.all),
            "dialogs": self.dialogs,
            "ms": { "median": self.time(50), "p95": self.time(95), "longest": self.times.last(),
                "total": self.times.iter().sum::<f64>() },
            "days": table(&self.days),
            "rules": Value::Object(rules.collect()),
            "programs": table(&self.programs),
            "projects": table(&self.projects),
        })
    }
}

/// How a line's decision came out: a place in `OUTCOMES`.
fn outcome(line: &Line) -> usize {
    let observed = || {
        line.rules.iter().any(|spoke| {
            spoke.strip_suffix(" (observed)").is_some_and(|spoke| !spoke.ends_with(" allow"))
        })
    };
    match line.decision.as_str() {
        "allow" => 0,
        "ask" | "defer" => 3,
        "deny" | "halt" => 4,
        "failed" => 5,
        _ if observed() => 2,
        _ => 1,
    }
}

/// The program of a shell command, else the tool.
fn program(line: &Line) -> String {
    if line.tool != "Bash" {
        return one_line(&line.tool, 40);
    }
    let behind = match line.what.split_once("&&") {
        Some((first, rest)) if first.trim_start().starts_with("cd ") => rest,
        _ => &line.what,
    };
    let word = behind.split_whitespace().find(|word| !word.contains('='));
    let name = word.unwrap_or_default().rsplit('/').next().unwrap_or_default();
    let plain = |c: char| c.is_ascii_alphanumeric() || "._+-".contains(c);
    match !name.is_empty() && name.chars().all(plain) {
        true => one_line(name, 40),
        false => "(other)".into(),
    }
}

/// The rows of a table, the largest first.
pub(super) fn largest(table: &BTreeMap<String, Outcomes>) -> Vec<(&String, &Outcomes)> {
    let mut all: Vec<_> = table.iter().collect();
    crate::order::sort_by_key(&mut all, |(_, outcomes)| {
        std::cmp::Reverse(outcomes.iter().sum::<usize>())
    });
    all
}

fn heading(out: &mut String, title: &str, rows: usize) {
    if rows > 0 {
        let more = rows.checked_sub(SHOWN).filter(|more| *more > 0);
        let more = more.map(|more| format!(" ({SHOWN} of {})", more + SHOWN)).unwrap_or_default();
        let _ = writeln!(out, "\n{title}{more}");
    }
}

/// `ask 3, deny 9`
pub(super) fn describe(outcomes: &Outcomes) -> String {
    let pairs = OUTCOMES.iter().zip(outcomes).filter(|(_, count)| **count > 0);
    pairs.map(|(name, count)| format!("{name} {count}")).collect::<Vec<_>>().join(", ")
}

/// Bars of one line, one for each number, where there are several to compare.
fn sparkline(numbers: &[usize]) -> String {
    if numbers.len() < 2 {
        return String::new();
    }
    let most = numbers.iter().copied().max().unwrap_or_default().max(1);
    let bar = |number: usize| match number {
        0 => ' ',
        number => char::from_u32(0x2581 + (number * 7 / most) as u32).unwrap_or(' '),
    };
    format!("  {}", numbers.iter().map(|number| bar(*number)).collect::<String>())
}
