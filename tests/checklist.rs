//! Every row of the mission checklist that this version covers is named by a test or a gate.

use std::fs;
use std::path::Path;

/// The rows of groups S0 (cdev and install), S1 (servers), S2, S3, S4 and SX that are about decisions, Claude
/// Code and managing it. The others come with further dialects and agents.
fn rows() -> Vec<String> {
    let mut rows: Vec<String> = Vec::new();
    let mut group = |name: &str, numbers: &[u32]| {
        rows.extend(numbers.iter().map(|number| format!("{name}-{number:02}")));
    };
    group(
        "S0",
        &[
            1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24,
            25, 26, 27, 28, 29, 30,
        ],
    );
    group("S1", &(1..=40).collect::<Vec<_>>());
    group("S2", &(1..=33).collect::<Vec<_>>());
    group(
        "S3",
        &[
            2, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 20, 21, 23, 24, 25, 26, 27, 29, 30, 31,
            41, 42, 43, 44, 45, 46, 47, 48, 49, 50, 51, 53, 54, 57, 58, 59,
        ],
    );
    group("S4", &(1..=25).collect::<Vec<_>>());
    group("SX", &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 17]);
    rows
}

fn collect(dir: &Path, text: &mut String) {
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.is_dir() {
            collect(&path, text);
        } else if path.file_name().is_some_and(|name| name != "checklist.rs") {
            text.push_str(&fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

#[test]
fn every_row_is_named_by_a_test() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut text = String::new();
    for dir in ["tests", "src", ".ci", "benches"] {
        collect(&root.join(dir), &mut text);
    }
    let missing: Vec<String> = rows()
        .into_iter()
        .filter(|row| {
            let name = row.to_lowercase().replace('-', "_");
            !text.contains(row.as_str()) && !text.contains(&name)
        })
        .collect();
    assert!(missing.is_empty(), "no test names {missing:?}");
}
