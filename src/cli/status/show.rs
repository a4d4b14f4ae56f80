//! The report for people.

use std::fmt::Write as _;

use super::super::{
    BOLD, Context, GREEN, RED, YELLOW, flatten_lines, indent_following_lines, install, make_visible,
};
use super::agents::{self, AgentRow};
use super::file::{EntryState, FileReport};
use super::live::Weight;
use super::{StatusReport, unix_now};
use crate::rule::Profile;

/// The report for people.
pub(super) fn render_report(context: &Context, report: &StatusReport) -> String {
    let mut text = String::new();
    let mut line = |name: &str, value: &str| {
        let value = indent_following_lines(value, 12);
        let _ = writeln!(text, "{} {value}", context.paint(BOLD, &format!("{name:<11}")));
    };
    let title = |id: &&str| crate::agent::by_id(id).map(|agent| agent.title());
    let guarded: Vec<&str> = report.guarded.iter().filter_map(title).collect();
    let verdict = match report.in_effect {
        true => format!("{} for {}", context.paint(GREEN, "in effect"), guarded.join(", ")),
        false => context.paint(RED, "NOT in effect"),
    };
    line("guard", &format!("{verdict} (hookctl {})", report.version));
    for file in report.files.iter().filter(|file| file.scope != "managed" || file.exists) {
        for (name, value) in of_file(context, file) {
            line(name, &value);
        }
    }
    for row in report.agents.iter().filter(|row| row.agent != report.agent) {
        line(row.agent, &of_agent(context, row));
    }
    for guard in &report.guards {
        let known = guard.known.map(|name| format!(" [{name}]")).unwrap_or_default();
        let problem =
            guard.problem.as_ref().map(|p| format!(": {}", flatten_lines(p))).unwrap_or_default();
        let problem = context.paint(YELLOW, &problem);
        let who = format!("{} ({}){known}", flatten_lines(&guard.event), guard.scope);
        line("also runs", &format!("{who}: {}{problem}", flatten_lines(&guard.command)));
    }
    let observes = report.profile == Profile::Observe.name();
    let profile = format!("{} (no shipped rule is enforced)", report.profile);
    line("profile", if observes { &profile } else { report.profile });
    if !report.bundle.is_empty() {
        line("rules of", &format!("bundle {}", report.bundle));
    }
    for (what, off) in [("packs off", &report.packs_off), ("rules off", &report.rules_off)] {
        if !off.is_empty() {
            line(what, &install::fold_words(off, 70, &" ".repeat(12)));
        }
    }
    for server in &report.servers {
        line("server", &server.summary_line());
    }
    let last = match &report.last_event {
        None => "none yet".to_string(),
        Some(last) => {
            let name = last.event.as_deref().unwrap_or("an event without a name");
            format!("{}, {}", make_visible(name), format_age(unix_now() - last.time))
        }
    };
    line("last event", &last);
    if let Some(until) = report.paused_until {
        line("paused", &context.paint(RED, &format!("for another {} s", until - unix_now())));
    }
    for probe in report.verify.iter().flatten() {
        let (sgr, word) = if probe.ok { (GREEN, "ok  ") } else { (RED, "FAIL") };
        line("verify", &format!("{} {}", context.paint(sgr, word), probe.describe_probe()));
    }
    for check in report.live.iter().flatten() {
        let (sgr, word) = match check.outcome.weight() {
            Weight::Good => (GREEN, "ok  "),
            Weight::Bad => (RED, "FAIL"),
            Weight::Unknown => (YELLOW, "??  "),
            Weight::NotTried => (YELLOW, "-   "),
        };
        line("live", &format!("{} {}", context.paint(sgr, word), check.describe()));
    }
    for (name, sgr, sentences) in
        [("problem", RED, &report.problems), ("note", YELLOW, &report.notes)]
    {
        for sentence in sentences {
            let name = context.paint(sgr, &format!("{name:<11}"));
            let _ = writeln!(text, "{name} {}", sentence.replace('\n', "\n            "));
        }
    }
    text
}

/// What there is to see of one agent.
fn of_agent(context: &Context, row: &AgentRow) -> String {
    let (sgr, word) = match (row.in_effect, row.is_installed()) {
        (true, _) => (GREEN, "in effect"),
        (false, true) => (RED, "NOT in effect"),
        (false, false) => (YELLOW, "not installed"),
    };
    let mut text = context.paint(sgr, word);
    let version = row.version.iter().map(|version| format!(" ({version})"));
    text.extend(version);
    if row.is_installed() {
        let files = agents::shown_files(context, &row.files);
        let events = row.events.len();
        let _ = write!(text, ", {} settings {files}, {events} events", row.scopes.join(" and "));
    }
    for note in &row.notes {
        let _ = write!(text, "\n{note}");
    }
    text
}

/// What there is to see of one settings file.
fn of_file(context: &Context, file: &FileReport) -> Vec<(&'static str, String)> {
    let (sgr, word) = match file.state {
        _ if !file.valid => (RED, "broken"),
        EntryState::Installed => (GREEN, "installed"),
        EntryState::Partial => (YELLOW, "partial"),
        EntryState::Outdated => (YELLOW, "outdated"),
        EntryState::Missing if !file.exists => (0, "no file"),
        EntryState::Missing => (0, "missing"),
    };
    let word = format!("{word:<10}");
    let word = if sgr == 0 { word } else { context.paint(sgr, &word) };
    let mut lines =
        vec![(file.scope, format!("{word} {}", flatten_lines(&file.file.display().to_string())))];
    if let Some(binary) = &file.binary {
        let current = match (binary.exists, binary.current) {
            (false, _) => " (not there)",
            (true, false) => " (another build than this one)",
            (true, true) => "",
        };
        lines.push(("", format!("runs       {}{current}", flatten_lines(&binary.path))));
        let events: Vec<&str> = file.events.iter().map(String::as_str).collect();
        let events = install::fold_words(&events, 70, &" ".repeat(23));
        lines.push(("", format!("events     {events}")));
    }
    if !file.bridge.is_empty() {
        let count = file.bridge.len();
        let text = format!("bridge     {count} hooks hand events on (`hookctl claude-hook`)");
        lines.push(("", text));
    }
    lines
}

pub(in crate::cli) fn format_age(seconds: i64) -> String {
    match seconds {
        ..60 => "less than a minute ago".into(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..172_800 => format!("{} h ago", seconds / 3600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}
