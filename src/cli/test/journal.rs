//! `hookctl test --journal`: past calls held against today's rules, and which of them would be
//! judged otherwise.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::{choose_profile, render_diff, verdict_text};
use crate::cli::args::TestArgs;
use crate::cli::log::{LogStop, Tail, check_repeatable, parse_since, rotated_journals};
use crate::cli::{Context, Exit, FAINT, display_path, one_line, print, print_stderr};
use crate::config::Config;
use crate::dry;
use crate::effect::Place;
use crate::env;
use crate::event::{Kind, KindSet};
use crate::files::{self, Refusal};
use crate::journal::Line;
use crate::judge::WOULD_ASK;
use crate::marks::{Marks, Session};
use crate::moment::Moment;
use crate::names::journal::TOLD;
use crate::paths;
use crate::rule::condition::{Conditions, NamePattern};
use crate::trial::Ground;
use crate::verdict::Verb;

/// The fields of a tool's input that a journal line holds.
const HELD: &[&str] = &["command", "file_path", "notebook_path", "path", "url"];

/// A call; equal ones are judged once.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct JournalCall {
    kind: Kind,
    tool: String,
    what: String,
    cwd: String,
    /// The marks that stood in its session.
    marks: Marks,
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
    calls: Vec<(JournalCall, Vec<Old>)>,
    seen: HashMap<JournalCall, usize>,
    /// The marks that lines have told of so far, by session.
    marks: HashMap<String, Marks>,
    left: BTreeMap<String, usize>,
}

/// A call that came out otherwise, or did not.
struct RejudgedCall<'a> {
    call: &'a JournalCall,
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
    past.read_journal(context, args.since.as_deref().map(parse_since).transpose()?)?;
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
        choose_profile(&mut config, args.profile);
        let unseen = unseen_rules(&config);
        let ground = Ground::new(&context.paths, &config, &root, Some(env::get));
        for at in calls {
            let (call, olds) = &past.calls[at];
            let value = dry::tool_input(&call.tool, &call.what, &str::to_string);
            let payload = dry::tool_call_payload(call.kind, &call.tool, value, &call.cwd);
            let session = Some(Arc::new(Session::assumed(call.marks)));
            let place = Place { session, ..ground.place_at(&call.cwd) };
            let new = ground.judge_event(dry::parse_event(payload, None), place).judgement;
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
                    held.push(RejudgedCall {
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
    let changed = held.iter().any(RejudgedCall::has_changed);
    match args.json {
        true => print(&held.iter().map(|one| format!("{}\n", one.to_json())).collect::<String>())?,
        false => print(&render_text(context, args, &held, &past.left, &blind))?,
    };
    if args.json && !past.left.is_empty() {
        print_stderr(&describe_not_judged(&past.left));
    }
    Ok(if changed { Exit::Found } else { Exit::Ok })
}

impl Past {
    fn read_journal(&mut self, context: &Context, since: Option<Moment>) -> Result<()> {
        let journal = context.paths.journal();
        for path in rotated_journals(&journal).into_iter().chain([journal]) {
            let file = match files::open(&path, files::LONG) {
                Ok((file, _)) => file,
                // One that went meanwhile was rotated on.
                Err(Refusal::Absent) => continue,
                Err(refusal) => bail!(refusal.describe_for(&path)),
            };
            let mut read = |text: &str| {
                self.read_line(text, since);
                Ok(())
            };
            if let Err(LogStop::Read(error) | LogStop::Write(error)) =
                Tail::new(file).read_lines(&mut read, true)
            {
                bail!("{} cannot be read: {error}", path.display());
            }
        }
        Ok(())
    }

    fn read_line(&mut self, text: &str, since: Option<Moment>) {
        let Ok(line) = serde_json::from_slice::<Line>(text.as_bytes()) else {
            *self.left.entry("unreadable".into()).or_default() += 1;
            return;
        };
        let set = line.marks.iter().map(String::as_str).collect();
        let marks = self.marks.entry(line.session.clone()).or_default();
        let before = std::mem::replace(marks, marks.union(set));
        let late = |since| Moment::parse(&line.time).is_some_and(|time| time >= since);
        if since.is_none_or(late)
            && let Err(why) = self.add_line(line, before)
        {
            *self.left.entry(why).or_default() += 1;
        }
    }

    /// Notes the call of a line, or says why it cannot be judged again.
    fn add_line(&mut self, line: Line, marks: Marks) -> Result<(), String> {
        let kind = Kind::from_name(&line.event);
        check_repeatable(&line, kind.is_gate())?;
        let verb = Verb::ALL.iter().copied().find(|verb| verb.name() == line.decision);
        let call = JournalCall { kind, tool: line.tool, what: line.what, cwd: line.cwd, marks };
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
fn unseen_rules(config: &Config) -> Vec<String> {
    let blind = |c: &Conditions| {
        c.input.iter().any(|test| !HELD.contains(&test.field.as_str()))
            || !c.when.fields.is_empty()
            || c.when.subagent.is_some()
    };
    let gates = KindSet::from_kinds(&[Kind::PreToolUse, Kind::PermissionRequest]);
    let rules = config.rules.iter().cloned().chain(config.shipped_rules(None));
    rules
        .filter(|rule| !rule.on.intersect(gates).is_empty())
        .filter(|rule| {
            let told = |name: &NamePattern| TOLD.iter().any(|tool| name.matches_name(tool));
            let tools = &rule.conditions.tool;
            tools.named().is_empty()
                || !tools.excluded().is_empty()
                || tools.named().iter().any(told)
        })
        .filter(|rule| blind(&rule.conditions) || rule.unless.as_deref().is_some_and(blind))
        .map(|rule| rule.qualified_name())
        .collect()
}

impl RejudgedCall<'_> {
    fn has_changed(&self) -> bool {
        self.verb != self.old.verb
    }

    fn to_json(&self) -> Value {
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
            "changed": self.has_changed(),
        })
    }
}

fn render_text(
    context: &Context,
    args: &TestArgs,
    held: &[RejudgedCall<'_>],
    not_judged: &BTreeMap<String, usize>,
    blind: &[String],
) -> String {
    let mut out = String::new();
    for one in held.iter().filter(|one| args.verbose || one.has_changed()) {
        let JournalCall { kind, tool, what, cwd, .. } = one.call;
        let event = match kind {
            Kind::PreToolUse => String::new(),
            kind => format!("{} ", kind.name()),
        };
        let times = match one.old.times {
            1 => String::new(),
            times => format!(", {times} times"),
        };
        let place = format!("({}{times})", display_path(context, Path::new(cwd)));
        let head = format!("{event}{tool}: {}", one_line(what, 200));
        let _ = write!(out, "{head} {}", context.paint(FAINT, &place));
        let (old, new) =
            (verdict_text(one.old.verb, &one.old.rule), verdict_text(one.verb, &one.rule));
        if !one.has_changed() {
            let _ = writeln!(out, ": {new}");
            continue;
        }
        out.push('\n');
        render_diff(context, &old, &new, &mut out);
        if one.verb.is_some() {
            for line in one.reason.lines() {
                let _ = writeln!(out, "    {}", one_line(line, 400));
            }
        }
    }
    if !not_judged.is_empty() {
        let _ = writeln!(out, "{}", describe_not_judged(not_judged));
    }
    if !blind.is_empty() {
        let _ = writeln!(
            out,
            "Not seen as they were, for they look at more than the journal holds: {}",
            blind.join(", ")
        );
    }
    let count = |changed: bool| -> usize {
        held.iter().filter(|one| !changed || one.has_changed()).map(|one| one.old.times).sum()
    };
    let _ = writeln!(out, "{} judged, {} would change", count(false), count(true));
    out
}

/// `Not judged: 3 cut or redacted, 12 of PostToolUse`.
fn describe_not_judged(not_judged: &BTreeMap<String, usize>) -> String {
    let parts: Vec<String> = not_judged.iter().map(|(why, n)| format!("{n} {why}")).collect();
    format!("Not judged: {}", parts.join(", "))
}
