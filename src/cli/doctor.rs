//! `hookctl doctor`: what `status` knows, as findings with a fix each; the safe ones it makes itself.

use std::fmt::Write as _;

use anyhow::Result;
use serde::Serialize;

use super::args::{Cli, CliCommand, DoctorArgs};
use super::report::Report;
use super::terminal::wrap;
use super::{BOLD, Context, Exit, GREEN, RED, YELLOW, install, print, print_json, scope, status};
use crate::documents::document;

/// One thing that is not as it should be; the keys are stable.
#[derive(Debug, Serialize)]
struct Finding {
    /// Does it keep the guard from being in effect?
    problem: bool,
    text: String,
    /// What mends it.
    fix: Option<String>,
    /// Is that so harmless that `--fix` does it?
    safe: bool,
    /// Was it done now?
    fixed: bool,
}

/// What mends a problem: words of its sentence, the remedy, and whether it only restores what is installed.
const REMEDIES: &[(&str, &str, bool)] = &[
    ("not installed here", "hookctl install", false),
    ("outdated", REINSTALL, true),
    ("no entry for", REINSTALL, true),
    ("is not there", REINSTALL, true),
    ("is not in PATH", "put its directory into PATH, as the agent sees it", false),
    ("cannot be run", REINSTALL, true),
    ("can be changed by every user", "chmod go-w the program, and its directory", false),
    ("paused", "hookctl resume", true),
    ("disableAllHooks", "take `disableAllHooks` out of that file", false),
    (" switches ", "change that key of the file", false),
    ("is not registered", REINSTALL, false),
    ("drops the whole file", "take what it names out of that file", false),
    ("the audit has a gap", "make the journal a file that you can write", false),
    ("rules:", "hookctl check", false),
    ("more than one scope", "hookctl uninstall --scope SCOPE", false),
    ("if hookctl itself fails", "hookctl install --fail-closed", false),
    ("nothing that hookctl kept counts", "chmod go-w the state directory", false),
    ("switch the plugin off", "hookctl install", false),
    ("another hookctl", "keep one of them: `hookctl upgrade` says how this one came", false),
    ("self-protection", "hookctl packs: take out that [override]", false),
];
/// What writes the entries of an agent anew, where it has some.
const REINSTALL: &str = "hookctl install";

/// Prints the findings, and mends what is safe to.
///
/// # Errors
/// Where stdout or settings cannot be written.
pub(super) fn run(context: &Context, args: &DoctorArgs) -> Result<Exit> {
    let mut findings = find(context);
    if args.fix {
        mend(context, &mut findings)?;
        // What is still found was not mended.
        let left = find(context);
        for one in &mut findings {
            one.fixed = !left.iter().any(|other| other.text == one.text);
        }
        let known = |text: &str| findings.iter().any(|one| one.text == text);
        let new: Vec<Finding> = left.into_iter().filter(|one| !known(&one.text)).collect();
        findings.extend(new);
    }
    match args.json {
        true => print_json(&findings)?,
        false => print(&render(context, &findings))?,
    };
    let open = findings.iter().any(|one| one.problem && !one.fixed);
    Ok(if open { Exit::Found } else { Exit::Ok })
}

fn find(context: &Context) -> Vec<Finding> {
    let (problems, notes) = status::problems_and_notes(context);
    let all = problems.into_iter().map(|text| (true, text));
    let all = all.chain(notes.into_iter().map(|text| (false, text)));
    all.map(|(problem, text)| {
        let known = REMEDIES.iter().find(|(words, ..)| text.contains(words));
        let fix = known.map(|(_, fix, _)| of_agent(fix, &text)).or_else(|| named_command(&text));
        Finding {
            problem,
            safe: problem && known.is_some_and(|(.., safe)| *safe),
            text,
            fix,
            fixed: false,
        }
    })
    .collect()
}

/// The remedy, for the agent that the sentence begins with.
fn of_agent(fix: &str, text: &str) -> String {
    let is_of = |title: &str| text.strip_prefix(title).is_some_and(|rest| rest.starts_with(": "));
    let agent = scope::wired_agents().find(|(agent, _)| is_of(agent.title()));
    match agent.filter(|_| fix == REINSTALL) {
        Some((agent, _)) => format!("{REINSTALL} --agent {}", agent.id()),
        None => fix.to_string(),
    }
}

/// The command of ours that a sentence names.
fn named_command(text: &str) -> Option<String> {
    let at = text.find("`hookctl ")?;
    text[at + 1..].split('`').next().map(str::to_string)
}

/// Does what the safe findings want.
fn mend(context: &Context, findings: &mut [Finding]) -> Result<()> {
    let mut done: Vec<String> = Vec::new();
    for one in findings.iter().filter(|one| one.safe) {
        let Some(fix) = one.fix.clone().filter(|fix| !done.contains(fix)) else { continue };
        let mut words = vec!["hookctl".to_string()];
        words.extend(fix.split(' ').skip(1).map(str::to_string));
        // Which file it was says the sentence.
        if fix == REINSTALL {
            let scope = ["project", "local"].into_iter().find(|scope| one.text.starts_with(scope));
            words.extend([
                "--agent".into(),
                "claude".into(),
                "--scope".into(),
                scope.unwrap_or("user").into(),
            ]);
        }
        words.push("--json".into());
        let cli = Cli::try_parse_from(words.into_iter().map(Into::into), document)?;
        let mut quiet = Report::of_command(&cli);
        match cli.command {
            Some(CliCommand::Install(args)) => install::run(context, &args, &mut quiet)?,
            Some(CliCommand::Resume(_)) => super::pause::resume(context, &mut quiet)?,
            _ => Exit::Ok,
        };
        done.push(fix);
    }
    Ok(())
}

fn render(context: &Context, findings: &[Finding]) -> String {
    let mut out = String::new();
    for one in findings {
        let (sgr, word) = match (one.fixed, one.problem) {
            (true, _) => (GREEN, "fixed"),
            (_, true) => (RED, "problem"),
            (_, false) => (YELLOW, "note"),
        };
        let head = context.paint(sgr, &format!("{word:<8}"));
        let _ = writeln!(out, "{}", wrap(&format!("{head} {}", one.text.replace('\n', " ")), 9));
        if let Some(fix) = one.fix.as_ref().filter(|_| !one.fixed) {
            let fix = context.paint(BOLD, fix);
            let safe = if one.safe { "  (or `hookctl doctor --fix`)" } else { "" };
            let _ = writeln!(out, "{}", wrap(&format!("         fix: {fix}{safe}"), 14));
        }
    }
    let open = findings.iter().filter(|one| one.problem && !one.fixed).count();
    let summary = match open {
        0 => context.paint(GREEN, "The guard is in effect."),
        1 => context.paint(RED, "1 problem keeps the guard from being in effect."),
        more => {
            context.paint(RED, &format!("{more} problems keep the guard from being in effect."))
        }
    };
    let _ = writeln!(out, "{summary}");
    out
}
