//! `hookctl check`: every fault of the rule files at once, and what cannot work as it was meant.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::args::CheckArgs;
use super::{Context, Exit, FAINT, GREEN, RED, YELLOW, flat, print, print_json, short, visible};
use crate::config::{self, Config, Source};
use crate::files;
use crate::paths;
use crate::rule::Layer;
use crate::rule::case;
use crate::rule::fault::{Fault, Gravity, position};
use crate::trust::Store;

mod lint;

/// How bad a finding is, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum Severity {
    Error,
    Warning,
    Info,
}

/// One finding; the keys are stable.
#[derive(Debug, Serialize)]
struct Finding {
    file: PathBuf,
    /// From 1; 0 = the file as a whole.
    line: usize,
    /// From 1, in characters; 0 = the file as a whole.
    column: usize,
    code: &'static str,
    severity: Severity,
    message: String,
    hint: Option<String>,
    rule: Option<String>,
    /// For people.
    #[serde(skip)]
    report: String,
}

/// Prints the findings.
///
/// # Errors
/// Where stdout cannot be written.
pub fn run(context: &Context, args: &CheckArgs) -> Result<Exit> {
    let mut findings = Vec::new();
    let mut unreadable = false;
    let sources = if args.files.is_empty() {
        Config::load(&context.paths, &context.root, None).sources
    } else {
        let store = Store::load(&context.paths.trust());
        let mut sources = Vec::new();
        for file in &args.files {
            let path = std::path::absolute(file)?;
            match config::read(layer(context, &path), path.clone(), None) {
                Some(mut source) => {
                    source.trusted |= store.approves(&source.path, &source.text);
                    sources.push(source);
                }
                None => {
                    unreadable = true;
                    findings.push(whole(path, "unreadable", "there is no such file".into(), None));
                }
            }
        }
        sources
    };
    let world = lint::World::new(context, &sources);
    for source in &sources {
        if let Some(why) = &source.refused {
            // What cannot even be opened is no fault of its content.
            let opens = files::open(&source.path, u64::MAX).is_ok();
            unreadable |= !opens;
            let code = if opens { "refused" } else { "unreadable" };
            let hint = "until then every tool call is asked about".to_string();
            let hint = (!source.layer.is_project()).then_some(hint);
            findings.push(whole(source.path.clone(), code, why.clone(), hint));
            continue;
        }
        let mut own: Vec<Finding> =
            source.file.faults.iter().map(|fault| finding(context, source, fault, None)).collect();
        if !source.is_settings() {
            let base = source.path.parent().unwrap_or(Path::new("/"));
            let tests = case::read(&source.text, base);
            own.extend(tests.faults.iter().map(|fault| finding(context, source, fault, None)));
        }
        for (fault, severity) in lint::lint(source, &world) {
            own.push(finding(context, source, &fault, Some(severity)));
        }
        crate::order::sort_by_key(&mut own, |finding| {
            (finding.line, finding.column, finding.severity)
        });
        findings.append(&mut own);
    }
    if args.json {
        print_json(&findings)?;
    } else {
        print(&show(context, &sources, &findings))?;
    }
    Ok(match findings.iter().any(|finding| finding.severity == Severity::Error) {
        _ if unreadable => Exit::Failed,
        true => Exit::Found,
        false => Exit::Ok,
    })
}

/// The layer of a file that was named: by its name.
fn layer(context: &Context, path: &Path) -> Layer {
    match path.file_name().and_then(|name| name.to_str()) {
        _ if path == context.paths.managed => Layer::Managed,
        Some(paths::PROJECT_FILE) => Layer::Project,
        Some(paths::LOCAL_FILE) => Layer::Local,
        _ => Layer::User,
    }
}

fn finding(
    context: &Context,
    source: &Source,
    fault: &Fault,
    severity: Option<Severity>,
) -> Finding {
    let at = position(&source.text, fault.span.start);
    let severity = severity.unwrap_or(match fault.gravity {
        Gravity::Error => Severity::Error,
        Gravity::Warning => Severity::Warning,
    });
    let report = fault.report(&short(context, &source.path), &source.text);
    let report = match severity {
        Severity::Info => report.replacen(fault.word(), "info", 1),
        _ => report,
    };
    Finding {
        file: source.path.clone(),
        line: at.line,
        column: at.column,
        code: fault.code,
        severity,
        message: fault.message.clone(),
        hint: fault.hint.clone(),
        rule: fault.rule.clone(),
        report: visible(&report),
    }
}

/// A finding about a file as a whole.
fn whole(file: PathBuf, code: &'static str, message: String, hint: Option<String>) -> Finding {
    let mut report =
        format!("error[{code}]: {message}\n--> {}\n", flat(&file.display().to_string()));
    if let Some(hint) = &hint {
        let _ = writeln!(report, " = help: {hint}");
    }
    Finding {
        report: visible(&report),
        file,
        line: 0,
        column: 0,
        code,
        severity: Severity::Error,
        message,
        hint,
        rule: None,
    }
}

fn show(context: &Context, sources: &[Source], findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let (head, rest) = finding.report.split_once('\n').unwrap_or((&finding.report, ""));
        let sgr = match finding.severity {
            Severity::Error => RED,
            Severity::Warning => YELLOW,
            Severity::Info => FAINT,
        };
        let _ = writeln!(text, "{}\n{rest}", context.paint(sgr, head));
    }
    for source in sources {
        let trust = match (source.layer.is_project(), source.trusted) {
            (true, false) => ", not trusted",
            (true, true) => ", trusted",
            (false, _) => "",
        };
        let (layer, name) = (source.layer.name(), short(context, &source.path));
        let _ = writeln!(text, "{layer:<8} {name}: {}{trust}", source.holds());
    }
    if sources.is_empty() && findings.is_empty() {
        text.push_str("No rule file here: the shipped rules hold. `hookctl init` writes one.\n");
        return text;
    }
    let count = |wanted| findings.iter().filter(|finding| finding.severity == wanted).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    let summary = match (errors, warnings) {
        (0, 0) => context.paint(GREEN, "no fault"),
        (0, _) => context.paint(YELLOW, &counted(warnings, "warning")),
        (_, 0) => context.paint(RED, &counted(errors, "error")),
        _ => context
            .paint(RED, &format!("{}, {}", counted(errors, "error"), counted(warnings, "warning"))),
    };
    let _ = writeln!(text, "{summary}");
    text
}

fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
