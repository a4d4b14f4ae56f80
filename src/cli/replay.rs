//! `hookctl replay`: past calls judged by the rules of now, and what another rule file would make of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};

use super::args::ReplayArgs;
use super::history::{Bench, Judged, PastCall, Reply, Sources, Tally, rule_file};
use super::{
    BOLD, Context, Exit, FAINT, GREEN, RED, YELLOW, display_path, one_line, print, print_json,
    print_stderr,
};
use crate::effect::windows;
use crate::verdict::Verb;

/// So many rules and calls are listed without `--verbose`.
const LISTED: usize = 20;

/// A call that is listed, with how often it was made.
struct Listed {
    tool: String,
    what: String,
    cwd: String,
    times: usize,
    now: Judged,
    /// What the other rules say.
    other: Option<Judged>,
}

/// What came of all calls.
#[derive(Default)]
struct Replayed {
    calls: usize,
    open: usize,
    rejected: usize,
    /// What the user is known to have been asked about and to have said yes to, and how much of it would pass unasked.
    prompts: usize,
    saved: usize,
    sessions: BTreeSet<String>,
    projects: BTreeSet<String>,
    first: String,
    last: String,
    verdicts: BTreeMap<Option<Verb>, usize>,
    rules: BTreeMap<(String, Verb), usize>,
    /// Calls that the user rejected and that would be allowed.
    allowed: Vec<Listed>,
    changes: Vec<Listed>,
    /// Every call by itself, where all are wanted.
    list: Option<Vec<Value>>,
}

/// Judges the calls and prints what they come to.
///
/// # Errors
/// Where a file that is named cannot be read.
pub(super) fn run(context: &Context, args: &ReplayArgs) -> Result<Exit> {
    let named = context.global.config.as_deref();
    let user = named.map_or_else(|| Ok(context.paths.user_config()), rule_file)?;
    let mut bench = Bench::new(context, user, "");
    let against = args.against.as_deref().map(rule_file).transpose()?;
    let mut other = against.map(|file| Bench::new(context, file, ""));
    let sources = Sources::find(context, &args.paths, args.since.as_deref())?;
    let list = (args.json && args.verbose).then(Vec::new);
    let mut replayed = Replayed { list, ..Replayed::default() };
    let tally = sources.read(|call| {
        let root = windows::native_text(&bench.root(&call.cwd));
        let now = bench.judge(&call);
        replayed.add_call(&call, root, now, other.as_mut().map(|other| other.judge(&call)));
        Ok(())
    })?;
    for list in [&mut replayed.allowed, &mut replayed.changes] {
        crate::order::sort_by_key(list, |one| std::cmp::Reverse(one.times));
    }
    tally.tell_faults();
    match args.json {
        true => print_json(&replayed.render_json(&tally, args.against.is_some()))?,
        false if replayed.calls == 0 => {
            print_stderr("no call was found: name a transcript, or a directory of them");
            print(&tally.describe_left())?
        }
        false => print(&replayed.render_text(context, args, &tally))?,
    };
    let found = !replayed.allowed.is_empty() || !replayed.changes.is_empty();
    Ok(if found || replayed.calls == 0 { Exit::Found } else { Exit::Ok })
}

impl Replayed {
    fn add_call(&mut self, call: &PastCall, root: String, now: Judged, other: Option<Judged>) {
        self.calls += 1;
        self.open += usize::from(now.open);
        self.rejected += usize::from(call.reply == Reply::No);
        if call.asked == Some(true) && call.reply == Reply::Yes {
            self.prompts += 1;
            self.saved += usize::from(now.verb == Some(Verb::Allow));
        }
        self.sessions.insert(call.session.clone());
        self.projects.insert(root);
        if !call.time.is_empty() {
            if self.first.is_empty() || call.time < self.first {
                self.first.clone_from(&call.time);
            }
            if call.time > self.last {
                self.last.clone_from(&call.time);
            }
        }
        *self.verdicts.entry(now.verb).or_default() += 1;
        if let Some(verb) = now.verb {
            *self.rules.entry((now.rule.clone(), verb)).or_default() += 1;
        }
        if let Some(list) = &mut self.list {
            list.push(json!({
                "tool": call.tool,
                "what": call.what(),
                "cwd": call.cwd,
                "session": call.session,
                "time": call.time,
                "verdict": now.verb.map_or("silent", Verb::name),
                "rule": (!now.rule.is_empty()).then_some(&now.rule),
                "open": now.open,
                "rejected": call.reply == Reply::No,
            }));
        }
        if call.reply == Reply::No && now.verb == Some(Verb::Allow) {
            note(&mut self.allowed, call, &now, None);
        }
        if let Some(other) = other.filter(|other| other.verb != now.verb) {
            note(&mut self.changes, call, &now, Some(other));
        }
    }

    fn render_text(&self, context: &Context, args: &ReplayArgs, tally: &Tally) -> String {
        let day = |time: &str| one_line(time.get(..10).unwrap_or(time), 10);
        let count = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let mut out = format!(
            "{} in {} of {}",
            context.paint(BOLD, &count(self.calls, "call")),
            count(self.sessions.len(), "session"),
            count(self.projects.len(), "project"),
        );
        if !self.first.is_empty() {
            let _ = write!(out, ", {} to {}", day(&self.first), day(&self.last));
        }
        out.push_str("\n\n");
        for verb in Verb::ALL.iter().map(|verb| Some(*verb)).chain([None]) {
            let Some(calls) = self.verdicts.get(&verb) else { continue };
            let name = verb.map_or("silent", Verb::name);
            let share = 100.0 * *calls as f64 / self.calls as f64;
            let _ = write!(out, "  {} {calls:>8}  {share:>5.1} %", paint_verb(context, verb, name));
            out.push_str(if verb.is_none() {
                "  the agent's own permissions decide\n"
            } else {
                "\n"
            });
        }
        if self.prompts > 0 {
            let _ = writeln!(
                out,
                "  {} of {} that you said yes to would not come",
                self.saved,
                count(self.prompts, "prompt")
            );
        }
        if self.open > 0 {
            let _ = writeln!(
                out,
                "  {} would have a rule run a command or ask a server: that is not counted",
                count(self.open, "call")
            );
        }
        let most = if args.verbose { usize::MAX } else { LISTED };
        let mut rules: Vec<_> = self.rules.iter().collect();
        crate::order::sort_by_key(&mut rules, |(_, calls)| std::cmp::Reverse(**calls));
        if !rules.is_empty() {
            out.push_str("\nby rule\n");
        }
        for ((rule, verb), calls) in rules.iter().take(most) {
            let shown = paint_verb(context, Some(*verb), verb.name());
            let _ = writeln!(out, "  {calls:>8}  {shown} {}", one_line(rule, 80));
        }
        more(&mut out, rules.len(), most);
        if self.rejected > 0 {
            let _ =
                writeln!(out, "\nYou rejected {}; allowed of them:", count(self.rejected, "call"));
            list(context, &mut out, &self.allowed, most);
        }
        if let Some(file) = &args.against {
            let calls: usize = self.changes.iter().map(|one| one.times).sum();
            let name = display_path(context, file);
            let _ =
                writeln!(out, "\nWith {name} {} would come out otherwise:", count(calls, "call"));
            list(context, &mut out, &self.changes, most);
        }
        let left = tally.describe_left();
        if !left.is_empty() {
            let _ = write!(out, "\n{left}");
        }
        out
    }

    fn render_json(&self, tally: &Tally, against: bool) -> Value {
        let verdicts: BTreeMap<&str, usize> = self
            .verdicts
            .iter()
            .map(|(verb, calls)| (verb.map_or("silent", Verb::name), *calls))
            .collect();
        let rules: Vec<Value> = self
            .rules
            .iter()
            .map(|((rule, verb), calls)| json!({ "rule": rule, "verdict": verb.name(), "calls": calls }))
            .collect();
        let all = |list: &[Listed]| list.iter().map(Listed::to_json).collect::<Vec<_>>();
        json!({
            "calls": self.calls,
            "files": tally.files,
            "sessions": self.sessions.len(),
            "projects": self.projects,
            "first": self.first,
            "last": self.last,
            "verdicts": verdicts,
            "rules": rules,
            "open": self.open,
            "rejected": self.rejected,
            "prompts": self.prompts,
            "saved": self.saved,
            "rejected_and_allowed": all(&self.allowed),
            "changes": against.then(|| all(&self.changes)),
            "list": self.list,
            "left": tally.left,
            "skipped": tally.faults,
        })
    }
}

/// Counts it where it is listed already.
fn note(list: &mut Vec<Listed>, call: &PastCall, now: &Judged, other: Option<Judged>) {
    let what = call.what();
    let same = |one: &&mut Listed| one.what == what && one.tool == call.tool && one.cwd == call.cwd;
    match list.iter_mut().find(same) {
        Some(one) => one.times += 1,
        None => list.push(Listed {
            tool: call.tool.clone(),
            what,
            cwd: call.cwd.clone(),
            times: 1,
            now: now.clone(),
            other,
        }),
    }
}

fn list(context: &Context, out: &mut String, calls: &[Listed], most: usize) {
    if calls.is_empty() {
        out.push_str("  none\n");
    }
    for one in calls.iter().take(most) {
        let times = if one.times == 1 { String::new() } else { format!(", {} times", one.times) };
        let place = format!("({}{times})", display_path(context, Path::new(&one.cwd)));
        let head = format!("{}: {}", one_line(&one.tool, 60), one_line(&one.what, 160));
        let _ = writeln!(out, "  {head} {}", context.paint(FAINT, &place));
        match &one.other {
            None => {
                let _ = writeln!(out, "    {}", one_line(&one.now.describe(), 200));
            }
            Some(other) => {
                for (sgr, sign, judged) in [(RED, '-', &one.now), (GREEN, '+', other)] {
                    let line = format!("{sign} {}", one_line(&judged.describe(), 200));
                    let _ = writeln!(out, "    {}", context.paint(sgr, &line));
                }
            }
        }
    }
    more(out, calls.len(), most);
}

fn more(out: &mut String, all: usize, most: usize) {
    if let Some(rest @ 1..) = all.checked_sub(most) {
        let _ = writeln!(out, "  and {rest} more: --verbose lists all");
    }
}

/// A verdict in its colour, padded.
pub(super) fn paint_verb(context: &Context, verb: Option<Verb>, name: &str) -> String {
    let sgr = match verb {
        Some(Verb::Halt | Verb::Deny) => RED,
        Some(Verb::Ask | Verb::Defer) => YELLOW,
        Some(Verb::Allow) => GREEN,
        None => FAINT,
    };
    context.paint(sgr, &format!("{name:<6}"))
}

impl Listed {
    fn to_json(&self) -> Value {
        let side = |judged: &Judged| {
            json!({
                "verdict": judged.verb.map_or("silent", Verb::name),
                "rule": (!judged.rule.is_empty()).then_some(&judged.rule),
                "reason": judged.verb.map(|_| &judged.reason),
            })
        };
        json!({
            "tool": self.tool,
            "what": self.what,
            "cwd": self.cwd,
            "times": self.times,
            "now": side(&self.now),
            "then": self.other.as_ref().map(side),
        })
    }
}
