//! `hookctl test --journal`: past calls held against today's rules, and which of them would be
//! judged otherwise.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::{choose, diff, said};
use crate::cli::args::TestArgs;
use crate::cli::log::{Stop, Tail, rotated, since};
use crate::cli::{Context, Exit, FAINT, complain, one_line, print, short};
use crate::config::Config;
use crate::dry;
use crate::env;
use crate::event::{Kind, KindSet};
use crate::files::{self, Refusal};
use crate::journal::Line;
use crate::judge::WOULD_ASK;
use crate::paths;
use crate::rule::condition::{Conditions, Name};
use crate::trial::Ground;
use crate::verdict::Verb;

/// Tools whose effects the one text of a journal line tells.
const TOLD: &[&str] = &[
    "Bash",
    "Read",
    "Write",
    "Edit",
    "MultiEdit",
    "NotebookEdit",
    "NotebookRead",
    "LS",
    "WebFetch",
];
/// The fields of a tool's input that a journal line holds.
const HELD: &[&str] = &["command", "file_path", "notebook_path", "path", "url"];

/// A call; equal ones are judged once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Call {
    kind: Kind,
    tool: String,
    what: String,
    cwd: String,
}

/// What was once said of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Old {
    verb: Option<Verb>,
    rule: String,
    /// The rules that spoke, by name.
    spoke: Vec<String>,
    times: usize,
}

/// The calls, and how many lines tell of none that could be judged, by why not.
#[derive(Default)]
struct Past {
    calls: Vec<(Call, Vec<Old>)>,
    seen: HashMap<Call, usize>,
    left: BTreeMap<String, usize>,
}

/// A call that came out otherwise, or did not.
struct Held<'a> {
    call: &'a Call,
    old: &'a Old,
    verb: Option<Verb>,
    rule: String,
    reason: String,
}

/// Judges the journal again and prints what would change.
///
/// # Errors
/// On a wrong `--since`, or where the journal cannot be read.
pub(super) fn run(context: &Context, args: &TestArgs) -> Result<Exit> {
    let mut past = Past::default();
    past.read(context, args.since.as_deref().map(since).transpose()?)?;
    let mut projects: BTreeMap<PathBuf, Vec<usize>> = BTreeMap::new();
    for (at, (call, _)) in past.calls.iter().enumerate() {
        // CLAUDE_PROJECT_DIR is of the present session, not of the past ones.
        let root = paths::project_above(Path::new(&call.cwd), &context.paths.home);
        projects.entry(root).or_default().push(at);
    }
    let mut held = Vec::new();
    let mut blind: Vec<String> = Vec::new();
    for (root, calls) in projects {
        let mut config = Config::load(&context.paths, &root, None);
        choose(&mut config, args.profile);
        let unseen = unseen(&config);
        let ground = Ground::new(&context.paths, &config, &root, Some(env::get));
        for at in calls {
            let (call, olds) = &past.calls[at];
            let value = dry::input(&call.tool, &call.what, &str::to_string);
            let payload = dry::call(call.kind, &call.tool, value, &call.cwd);
            let new = ground.judge(dry::event(payload, None), ground.at(&call.cwd)).judgement;
            let runs =
                new.notes.iter().any(|n| n.starts_with("would run") || n.starts_with(WOULD_ASK));
            let is_unseen = |spoke: &String| {
                let name = spoke.split(' ').next().unwrap_or_default();
                unseen.iter().any(|rule| rule == name)
            };
            let new_unseen = new.spoke.iter().any(is_unseen);
            for old in olds {
                let why = if runs {
                    "where a rule runs a command or asks a server"
                } else if new_unseen || old.spoke.iter().any(is_unseen) {
                    "where a rule looks at more than the journal holds"
                } else {
                    held.push(Held {
                        call,
                        old,
                        verb: new.answer.verb,
                        rule: new.rule.clone(),
                        reason: new.answer.reason.clone(),
                    });
                    continue;
                };
                *past.left.entry(why.to_string()).or_default() += old.times;
            }
        }
        blind.extend(unseen.into_iter().filter(|rule| !blind.contains(rule)).collect::<Vec<_>>());
    }
    crate::order::sort_by_key(&mut held, |one| std::cmp::Reverse(one.old.times));
    let changed = held.iter().any(Held::changed);
    match args.json {
        true => print(&held.iter().map(|one| format!("{}\n", one.value())).collect::<String>())?,
        false => print(&text(context, args, &held, &past.left, &blind))?,
    };
    if args.json && !past.left.is_empty() {
        complain(&left(&past.left));
    }
    Ok(if changed { Exit::Found } else { Exit::Ok })
}

impl Past {
    fn read(&mut self, context: &Context, since: Option<jiff::Timestamp>) -> Result<()> {
        let journal = context.paths.journal();
        for path in rotated(&journal).into_iter().chain([journal]) {
            let file = match files::open(&path, files::LONG) {
                Ok((file, _)) => file,
                // One that went meanwhile was rotated on.
                Err(Refusal::Absent) => continue,
                Err(refusal) => bail!(refusal.about(&path)),
            };
            let mut read = |text: &str| {
                self.read_line(text, since);
                Ok(())
            };
            if let Err(Stop::Read(error) | Stop::Write(error)) =
                Tail::new(file).lines(&mut read, true)
            {
                bail!("{} cannot be read: {error}", path.display());
            }
        }
        Ok(())
    }

    fn read_line(&mut self, text: &str, since: Option<jiff::Timestamp>) {
        let Ok(line) = serde_json::from_str::<Line>(text) else {
            *self.left.entry("unreadable".into()).or_default() += 1;
            return;
        };
        let late = |since| line.time.parse::<jiff::Timestamp>().is_ok_and(|time| time >= since);
        if since.is_none_or(late)
            && let Err(why) = self.take(line)
        {
            *self.left.entry(why).or_default() += 1;
        }
    }

    /// Notes the call of a line, or says why it cannot be judged again.
    fn take(&mut self, line: Line) -> Result<(), String> {
        let kind = Kind::from_name(&line.event);
        if line.decision == "failed" {
            return Err("that failed".into());
        }
        if !kind.is_gate() {
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
        let verb = Verb::ALL.iter().copied().find(|verb| verb.name() == line.decision);
        let call = Call { kind, tool: line.tool, what: line.what, cwd: line.cwd };
        let at = *self.seen.entry(call.clone()).or_insert_with(|| {
            self.calls.push((call, Vec::new()));
            self.calls.len() - 1
        });
        let olds = &mut self.calls[at].1;
        match olds.iter_mut().find(|old| old.verb == verb && old.rule == line.rule) {
            Some(old) => old.times += 1,
            None => olds.push(Old { verb, rule: line.rule, spoke: line.rules, times: 1 }),
        }
        Ok(())
    }
}

/// The rules on tool calls that look at what the journal does not hold.
fn unseen(config: &Config) -> Vec<String> {
    let blind = |c: &Conditions| {
        c.input.iter().any(|test| !HELD.contains(&test.field.as_str()))
            || !c.when.fields.is_empty()
            || c.when.subagent.is_some()
    };
    let gates = KindSet::of(&[Kind::PreToolUse, Kind::PermissionRequest]);
    let rules = config.rules.iter().cloned().chain(config.shipped(None));
    rules
        .filter(|rule| !rule.on.intersect(gates).is_empty())
        .filter(|rule| {
            let told = |name: &Name| TOLD.iter().any(|tool| name.holds(tool));
            let tools = &rule.conditions.tool;
            tools.named().is_empty()
                || !tools.excluded().is_empty()
                || tools.named().iter().any(told)
        })
        .filter(|rule| blind(&rule.conditions) || rule.unless.as_deref().is_some_and(blind))
        .map(|rule| rule.name())
        .collect()
}

impl Held<'_> {
    fn changed(&self) -> bool {
        self.verb != self.old.verb
    }

    fn value(&self) -> Value {
        let rule = |rule: &str| (!rule.is_empty()).then(|| rule.to_string());
        let verb = |verb: Option<Verb>| verb.map_or("silent", Verb::name);
        json!({
            "event": self.call.kind.name(),
            "tool": self.call.tool,
            "what": self.call.what,
            "cwd": self.call.cwd,
            "times": self.old.times,
            "old": { "verdict": verb(self.old.verb), "rule": rule(&self.old.rule) },
            "verdict": verb(self.verb),
            "rule": rule(&self.rule),
            "reason": self.verb.map(|_| &self.reason),
            "changed": self.changed(),
        })
    }
}

fn text(
    context: &Context,
    args: &TestArgs,
    held: &[Held<'_>],
    not_judged: &BTreeMap<String, usize>,
    blind: &[String],
) -> String {
    let mut out = String::new();
    for one in held.iter().filter(|one| args.verbose || one.changed()) {
        let Call { kind, tool, what, cwd } = one.call;
        let event = match kind {
            Kind::PreToolUse => String::new(),
            kind => format!("{} ", kind.name()),
        };
        let times = match one.old.times {
            1 => String::new(),
            times => format!(", {times} times"),
        };
        let place = format!("({}{times})", short(context, Path::new(cwd)));
        let head = format!("{event}{tool}: {}", one_line(what, 200));
        let _ = write!(out, "{head} {}", context.paint(FAINT, &place));
        let (old, new) = (said(one.old.verb, &one.old.rule), said(one.verb, &one.rule));
        if !one.changed() {
            let _ = writeln!(out, ": {new}");
            continue;
        }
        out.push('\n');
        diff(context, &old, &new, &mut out);
        if one.verb.is_some() {
            for line in one.reason.lines() {
                let _ = writeln!(out, "    {}", one_line(line, 400));
            }
        }
    }
    if !not_judged.is_empty() {
        let _ = writeln!(out, "{}", left(not_judged));
    }
    if !blind.is_empty() {
        let _ = writeln!(
            out,
            "Not seen as they were, for they look at more than the journal holds: {}",
            blind.join(", ")
        );
    }
    let count = |changed: bool| -> usize {
        held.iter().filter(|one| !changed || one.changed()).map(|one| one.old.times).sum()
    };
    let _ = writeln!(out, "{} judged, {} would change", count(false), count(true));
    out
}

/// `Not judged: 3 cut or redacted, 12 of PostToolUse`.
fn left(not_judged: &BTreeMap<String, usize>) -> String {
    let parts: Vec<String> = not_judged.iter().map(|(why, n)| format!("{n} {why}")).collect();
    format!("Not judged: {}", parts.join(", "))
}
