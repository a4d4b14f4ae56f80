//! The findings as SARIF 2.1.0, which code hosts and editors show beside the lines.

use std::path::Path;

use serde_json::{Value, json};

use super::{Finding, FindingSeverity};

/// Where the format is described.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// One run of `check`.
pub(super) fn render(findings: &[Finding], root: &Path) -> Value {
    let mut codes: Vec<&str> = findings.iter().map(|finding| finding.code).collect();
    codes.sort_unstable();
    codes.dedup();
    let rules: Vec<Value> = codes.iter().map(|code| json!({ "id": code })).collect();
    let results: Vec<Value> =
        findings.iter().map(|finding| render_result(finding, root, &codes)).collect();
    json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "hookctl",
                "version": env!("CARGO_PKG_VERSION"),
                "rules": rules,
            } },
            // Columns are counted so.
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    })
}

fn render_result(finding: &Finding, root: &Path, codes: &[&str]) -> Value {
    let level = match finding.severity {
        FindingSeverity::Error => "error",
        FindingSeverity::Warning => "warning",
        FindingSeverity::Info => "note",
    };
    let text = match &finding.hint {
        Some(hint) => format!("{} ({hint})", finding.message),
        None => finding.message.clone(),
    };
    let mut place = json!({ "artifactLocation": { "uri": file_uri(&finding.file, root) } });
    if finding.line > 0 {
        place["region"] =
            json!({ "startLine": finding.line, "startColumn": finding.column.max(1) });
    }
    json!({
        "ruleId": finding.code,
        "ruleIndex": codes.iter().position(|code| *code == finding.code),
        "level": level,
        "message": { "text": text },
        "locations": [{ "physicalLocation": place }],
    })
}

/// A file below the project's root by its way from there, as code hosts want it; others by their full address.
fn file_uri(file: &Path, root: &Path) -> String {
    let (start, path) = match file.strip_prefix(root) {
        Ok(below) => ("", below),
        Err(_) => ("file://", file),
    };
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~/".contains(byte);
    let path = path.to_string_lossy();
    let escaped = path.as_bytes().iter().map(|byte| match plain(byte) {
        true => char::from(*byte).to_string(),
        false => format!("%{byte:02X}"),
    });
    format!("{start}{}", escaped.collect::<String>())
}
