//! `hookctl check`: every fault of the rule files at once, and what cannot work as it was meant.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;

use super::args::{CheckArgs, Format};
use super::{
    Context, Exit, FAINT, GREEN, RED, YELLOW, display_path, flatten_lines, make_visible, print,
    print_json,
};
use crate::config::{self, Config, LayerFile};
use crate::files::{self, Refusal};
use crate::paths;
use crate::rule::Layer;
use crate::rule::case;
use crate::rule::fault::{Fault, Gravity, position_at};
use crate::trust::Store;

mod lint;
mod sarif;

/// The code of a file that could not be read.
const UNREADABLE: &str = "unreadable";

/// How bad a finding is, worst first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
enum FindingSeverity {
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
    severity: FindingSeverity,
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
    let (sources, mut findings) = sources(context, &args.files)?;
    let world = lint::LintContext::new(context, &sources);
    for source in &sources {
        findings.extend(match &source.refused {
            Some(why) => vec![refused(source, why, args.files.is_empty())],
            None => of_source(context, source, &world),
        });
    }
    match args.format {
        _ if args.json => print_json(&findings)?,
        Format::Json => print_json(&findings)?,
        Format::Sarif => print_json(&sarif::render(&findings, &context.root))?,
        Format::Human => print(&render_findings(context, &sources, &findings))?,
    };
    Ok(match findings.iter().any(|finding| finding.severity == FindingSeverity::Error) {
        _ if findings.iter().any(|finding| finding.code == UNREADABLE) => Exit::Failed,
        true => Exit::Found,
        false => Exit::Ok,
    })
}

/// The files that are named, or every layer's; and a finding for each that is not there.
fn sources(context: &Context, files: &[PathBuf]) -> Result<(Vec<LayerFile>, Vec<Finding>)> {
    if files.is_empty() {
        let missing = context.missing_config().map(|file| {
            let message = "`--config` names a directory without a config.toml".to_string();
            let hint =
                "without one the shipped rules alone hold: `hookctl init` writes it".to_string();
            file_finding(file, UNREADABLE, message, Some(hint))
        });
        let sources = Config::load(&context.paths, &context.root, None).sources;
        return Ok((sources, missing.into_iter().collect()));
    }
    let store = Store::load(&context.paths.trust());
    let (mut sources, mut findings) = (Vec::new(), Vec::new());
    for file in files {
        let path = std::path::absolute(file)?;
        // Named by mistake, as a rule: it is not to be moved away.
        if let Err(refusal @ Refusal::Kind(_)) = files::open(&path, u64::MAX) {
            let hint = "name a file of rules; without a name the files that hold here are checked";
            let why = refusal.describe_for(&path);
            findings.push(file_finding(path, UNREADABLE, why, Some(hint.into())));
            continue;
        }
        match config::read_source(guess_layer(context, &path), path.clone(), None) {
            Some(mut source) => {
                source.trusted |= store.is_approved(&source.path, &source.text);
                sources.push(source);
            }
            None => {
                findings.push(file_finding(path, UNREADABLE, "there is no such file".into(), None))
            }
        }
    }
    Ok((sources, findings))
}

/// A file that is refused as a whole; `holds` = it is one of those whose rules hold here.
fn refused(source: &LayerFile, why: &str, holds: bool) -> Finding {
    // What cannot even be opened is no fault of its content.
    let opens = files::open(&source.path, u64::MAX).is_ok();
    let code = if opens { "refused" } else { UNREADABLE };
    let hint = "until then every tool call is asked about".to_string();
    let hint = (holds && !source.layer.is_project()).then_some(hint);
    file_finding(source.path.clone(), code, why.to_string(), hint)
}

/// What is found in a file that was read, in its order.
fn of_source(context: &Context, source: &LayerFile, world: &lint::LintContext<'_>) -> Vec<Finding> {
    let base = source.path.parent().unwrap_or(Path::new("/"));
    let tests = (!source.is_settings()).then(|| case::read_cases(&source.text, base).faults);
    let faults = source.file.faults.iter().chain(tests.iter().flatten());
    let mut own: Vec<Finding> =
        faults.map(|fault| fault_finding(context, source, fault, None)).collect();
    for (fault, severity) in lint::lint_source(source, world) {
        own.push(fault_finding(context, source, &fault, Some(severity)));
    }
    crate::order::sort_by_key(&mut own, |finding| (finding.line, finding.column, finding.severity));
    own
}

/// The layer of a file that was named: by its name.
fn guess_layer(context: &Context, path: &Path) -> Layer {
    match path.file_name().and_then(|name| name.to_str()) {
        _ if path == context.paths.managed => Layer::Managed,
        Some(paths::PROJECT_FILE) => Layer::Project,
        Some(paths::LOCAL_FILE) => Layer::Local,
        _ => Layer::User,
    }
}

fn fault_finding(
    context: &Context,
    source: &LayerFile,
    fault: &Fault,
    severity: Option<FindingSeverity>,
) -> Finding {
    let at = position_at(&source.text, fault.span.start);
    let severity = severity.unwrap_or(match fault.gravity {
        Gravity::Error => FindingSeverity::Error,
        Gravity::Warning => FindingSeverity::Warning,
    });
    let report = fault.to_report(&display_path(context, &source.path), &source.text);
    let report = match severity {
        FindingSeverity::Info => report.replacen(fault.gravity_name(), "info", 1),
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
        report: make_visible(&report),
    }
}

/// A finding about a file as a whole.
fn file_finding(
    file: PathBuf,
    code: &'static str,
    message: String,
    hint: Option<String>,
) -> Finding {
    let mut report =
        format!("error[{code}]: {message}\n--> {}\n", flatten_lines(&file.display().to_string()));
    if let Some(hint) = &hint {
        let _ = writeln!(report, " = help: {hint}");
    }
    Finding {
        report: make_visible(&report),
        file,
        line: 0,
        column: 0,
        code,
        severity: FindingSeverity::Error,
        message,
        hint,
        rule: None,
    }
}

fn render_findings(context: &Context, sources: &[LayerFile], findings: &[Finding]) -> String {
    let mut text = String::new();
    for finding in findings {
        let (head, rest) = finding.report.split_once('\n').unwrap_or((&finding.report, ""));
        let sgr = match finding.severity {
            FindingSeverity::Error => RED,
            FindingSeverity::Warning => YELLOW,
            FindingSeverity::Info => FAINT,
        };
        let _ = writeln!(text, "{}\n{rest}", context.paint(sgr, head));
    }
    for source in sources {
        let trust = match source.describe_trust() {
            "" => String::new(),
            trust => format!(", {trust}"),
        };
        let (layer, name) = (source.layer.name(), display_path(context, &source.path));
        let _ = writeln!(text, "{layer:<8} {name}: {}{trust}", source.describe_content());
    }
    if sources.is_empty() && findings.is_empty() {
        text.push_str("No rule file here: the shipped rules hold. `hookctl init` writes one.\n");
        return text;
    }
    let count = |wanted| findings.iter().filter(|finding| finding.severity == wanted).count();
    let (errors, warnings) = (count(FindingSeverity::Error), count(FindingSeverity::Warning));
    let summary = match (errors, warnings) {
        (0, 0) => context.paint(GREEN, "no fault"),
        (0, _) => context.paint(YELLOW, &pluralise(warnings, "warning")),
        (_, 0) => context.paint(RED, &pluralise(errors, "error")),
        _ => context.paint(
            RED,
            &format!("{}, {}", pluralise(errors, "error"), pluralise(warnings, "warning")),
        ),
    };
    let _ = writeln!(text, "{summary}");
    text
}

fn pluralise(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
