//! `hookctl test`: the tests that stand beside the rules, each failure as a diff of verdicts.

use std::fmt::Write as _;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow};
use serde_json::{Value, json};

use super::args::{ProfileArg, TestArgs};
use super::{
    Context, Exit, FAINT, GREEN, RED, display_path, make_visible, one_line, print, print_stderr,
};
use crate::config::{Config, LayerFile};
use crate::env;
use crate::files;
use crate::rule::case::{self, Case, Cases};
use crate::rule::fault::{Fault, Gravity};
use crate::rule::{Layer, Profile};
use crate::trial::{CaseOutcome, Ground};
use crate::verdict::Verb;

mod journal;

/// A file with tests, and what they are judged by.
struct Suite {
    /// The file's name for people.
    name: String,
    text: String,
    cases: Cases,
    /// Its own rules, where it has any; else those in force.
    own: Option<Config>,
}

/// What came of all cases so far.
#[derive(Default)]
struct TestReport {
    text: String,
    faults: String,
    passed: usize,
    failed: usize,
    /// Cases whose rules have faults.
    left: usize,
}

/// Runs the tests and prints what does not hold.
///
/// # Errors
/// Where a file cannot be read, or stdout not be written.
pub fn run(context: &Context, args: &TestArgs) -> Result<Exit> {
    if args.journal {
        return journal::run(context, args);
    }
    let project = match &args.project {
        Some(dir) => std::path::absolute(dir)?,
        None => context.root.clone(),
    };
    let mut force = Config::load(&context.paths, &project, None);
    choose_profile(&mut force, args.profile);
    let mut suites = Vec::new();
    if args.files.is_empty() {
        for source in force.sources.iter().filter(|source| !source.is_settings()) {
            let base = source.path.parent().unwrap_or(Path::new("/"));
            suites.push(Suite {
                name: display_path(context, &source.path),
                cases: case::read_cases(&source.text, base),
                text: source.text.to_string(),
                own: None,
            });
        }
    }
    for file in &args.files {
        for file in expand_directory(file)? {
            suites.push(load_suite(context, &file, args.profile)?);
        }
    }
    let mut report = TestReport::default();
    // The rules in force are everybody's: their faults are told once, and only where they count.
    let used = args.files.is_empty() || suites.iter().any(|suite| suite.own.is_none());
    let sound = !used || rules_are_sound(context, &force, &mut report);
    for suite in &suites {
        report_faults(&suite.name, &suite.text, &suite.cases.faults, &mut report);
        let sound = match &suite.own {
            Some(own) => rules_are_sound(context, own, &mut report),
            None => sound,
        };
        if !sound {
            report.left += suite.cases.cases.len();
            continue;
        }
        let config = suite.own.as_ref().unwrap_or(&force);
        let ground = Ground::new(&context.paths, config, &project, Some(env::get));
        for case in &suite.cases.cases {
            let outcome = ground.run_case(case);
            report.add_outcome(context, args, &suite.name, case, &outcome);
        }
    }
    report.print_report(args, &suites)
}

fn choose_profile(config: &mut Config, profile: Option<ProfileArg>) {
    config.profile = match profile {
        Some(ProfileArg::Observe) => Profile::Observe,
        Some(ProfileArg::Guard) => Profile::Guard,
        Some(ProfileArg::Strict) => Profile::Strict,
        None => config.profile,
    };
}

/// The file itself, or the rule files of a directory, by name.
fn expand_directory(file: &Path) -> Result<Vec<PathBuf>> {
    if !file.is_dir() {
        return Ok(vec![file.to_path_buf()]);
    }
    let why = || format!("cannot read {}", file.display());
    let mut found = Vec::new();
    for entry in file.read_dir().with_context(why)? {
        let path = entry.with_context(why)?.path();
        let hidden = path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"."));
        if !hidden && path.extension().is_some_and(|end| end == "toml") && path.is_file() {
            found.push(path);
        }
    }
    crate::order::sort(&mut found);
    Ok(found)
}

fn load_suite(context: &Context, file: &Path, profile: Option<ProfileArg>) -> Result<Suite> {
    let text = if file == Path::new("-") {
        let mut text = String::new();
        io::stdin().read_to_string(&mut text).context("cannot read stdin")?;
        text
    } else {
        files::read_text(file, files::LARGE)
            .map_err(|refusal| anyhow!(refusal.describe_for(file)))?
    };
    let text = text.strip_prefix('\u{feff}').map(str::to_string).unwrap_or(text);
    let path = context.cwd.join(file);
    let cases = case::read_cases(&text, path.parent().unwrap_or(&context.cwd));
    let own = (!cases.alone).then(|| {
        let mut config = Config::from_source(LayerFile::from_text(Layer::User, path, text.clone()));
        choose_profile(&mut config, profile);
        config
    });
    Ok(Suite { name: make_visible(&file.display().to_string()), text, cases, own })
}

/// Tells the faults of the rules. False = some rules cannot be used, and what they would have said
/// nobody knows.
fn rules_are_sound(context: &Context, config: &Config, report: &mut TestReport) -> bool {
    for source in &config.sources {
        let name = display_path(context, &source.path);
        if let Some(why) = &source.refused {
            let _ = writeln!(report.faults, "error: {}", make_visible(why));
        }
        report_faults(&name, &source.text, &source.file.faults, report);
    }
    config.broken.iter().all(|(kinds, _)| kinds.is_empty())
}

fn report_faults(name: &str, text: &str, faults: &[Fault], report: &mut TestReport) {
    for fault in faults.iter().filter(|fault| fault.gravity == Gravity::Error) {
        let _ = writeln!(report.faults, "{}", make_visible(&fault.to_report(name, text)));
    }
}

impl TestReport {
    fn add_outcome(
        &mut self,
        context: &Context,
        args: &TestArgs,
        file: &str,
        case: &Case,
        outcome: &CaseOutcome,
    ) {
        match outcome.passed {
            true => self.passed += 1,
            false => self.failed += 1,
        }
        if args.json {
            let _ = writeln!(self.text, "{}", outcome_json(file, case, outcome));
            return;
        }
        if outcome.passed && !args.verbose {
            return;
        }
        let mut head = format!("{file}:{}: {}", case.line, one_line(&outcome.what, 200));
        if !case.name.is_empty() {
            head.push_str(&context.paint(FAINT, &format!(" ({})", one_line(&case.name, 80))));
        }
        if outcome.passed {
            let found = verdict_text(outcome.verb, &outcome.rule);
            let _ = writeln!(self.text, "{head}: {}", context.paint(GREEN, &found));
            return;
        }
        let wanted = match &case.rule {
            Some(rule) => format!("{} {rule}", case.wanted.text),
            None => case.wanted.text.clone(),
        };
        let _ = writeln!(self.text, "{head}");
        let found = verdict_text(outcome.verb, &outcome.rule);
        render_diff(context, &wanted, &found, &mut self.text);
        for line in outcome.reason.lines().chain(outcome.notes.iter().map(String::as_str)) {
            let _ = writeln!(self.text, "    {}", one_line(line, 400));
        }
    }

    fn print_report(self, args: &TestArgs, suites: &[Suite]) -> Result<Exit> {
        let none = self.passed + self.failed + self.left == 0;
        let mut out = String::new();
        if args.json {
            if !self.faults.is_empty() {
                print_stderr(&self.faults);
            }
            out.push_str(&self.text);
        } else {
            out.push_str(&self.faults);
            out.push_str(&self.text);
            if none && self.faults.is_empty() {
                let names: Vec<&str> = suites.iter().map(|suite| suite.name.as_str()).collect();
                let _ = match names.is_empty() {
                    true => writeln!(out, "No test: there is no rule file here."),
                    false => writeln!(out, "No [[test]] in {}.", names.join(", ")),
                };
            }
            let _ = write!(out, "{} passed, {} failed", self.passed, self.failed);
            if self.left > 0 {
                let _ = write!(out, ", {} not run", self.left);
            }
            out.push('\n');
        }
        print(&out)?;
        Ok(if self.failed > 0 || !self.faults.is_empty() { Exit::Found } else { Exit::Ok })
    }
}

/// What was expected, or once was, above what came of it.
fn render_diff(context: &Context, wanted: &str, found: &str, out: &mut String) {
    for (sgr, sign, text) in [(RED, '-', wanted), (GREEN, '+', found)] {
        let line = format!("{sign} {}", one_line(text, 200));
        let _ = writeln!(out, "  {}", context.paint(sgr, &line));
    }
}

/// A verdict with its rule.
fn verdict_text(verb: Option<Verb>, rule: &str) -> String {
    let verb = verb.map_or("silent", Verb::name);
    format!("{verb} {rule}").trim_end().to_string()
}

fn outcome_json(file: &str, case: &Case, outcome: &CaseOutcome) -> Value {
    json!({
        "file": file,
        "line": case.line,
        "name": case.name,
        "what": outcome.what,
        "event": outcome.event.name,
        "tool": outcome.event.tool,
        "cwd": outcome.event.cwd,
        "expected": { "verdict": case.wanted.text, "rule": case.rule },
        "verdict": outcome.verb.map_or("silent", Verb::name),
        "rule": (!outcome.rule.is_empty()).then_some(&outcome.rule),
        "reason": outcome.verb.map(|_| &outcome.reason),
        "notes": outcome.notes,
        "passed": outcome.passed,
    })
}
