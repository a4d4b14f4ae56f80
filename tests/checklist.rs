//! The checklist of what was promised, row by row: each row that is demanded is proven by a file of cases that
//! names it (`ids`), by a test whose name holds it (`s1_04_...`), or by a gate. A word in a comment proves nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// The groups: a remote human, servers, rules, bridge and agents, decisions, what crosses all of them; and the
/// number of their rows.
const GROUPS: &[(&str, u32)] =
    &[("S0", 56), ("S1", 40), ("S2", 33), ("S3", 61), ("S4", 25), ("SX", 17), ("law", 5)];

/// What is proven by a section of `.ci/run` alone: by a real server, a real compiler, a binary as it ships.
const GATES: &[(&str, &str)] = &[
    ("S0-49", "browser"),
    ("S0-50", "browser"),
    ("S0-51", "browser"),
    ("S0-52", "browser"),
    ("S1-01", "servers"),
    ("S3-48", "instructions"),
    ("S3-51", "release"),
    ("S3-55", "coverage"),
    ("SX-14", "foreign"),
];

/// What is not demanded yet.
const LATER: &[(&str, &str)] =
    &[("S0-56", "all of it against that server"), ("S3-60", "an editor for configurations")];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The files below a folder whose names end so.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for path in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == end) {
                found.push(path);
            }
        }
    }
    found
}

/// The rows that files of cases name.
fn of_cases() -> Vec<String> {
    let mut rows = Vec::new();
    for file in files(&root().join("tests/cases"), "toml") {
        let table: toml::Table = toml::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let ids = table.get("ids").and_then(|ids| ids.as_array()).into_iter().flatten();
        let ids: Vec<String> = ids.map(|id| id.as_str().expect("an id").to_string()).collect();
        let cases = table.get("case").and_then(|case| case.as_array()).map_or(0, Vec::len);
        assert!(ids.is_empty() || cases > 0, "{}: no case", file.display());
        rows.extend(ids);
    }
    rows
}

/// The rows that names of tests hold.
fn of_names() -> Vec<String> {
    let mut rows = Vec::new();
    for file in ["tests", "src"].iter().flat_map(|folder| files(&root().join(folder), "rs")) {
        let mut test = false;
        for line in fs::read_to_string(file).unwrap().lines().map(str::trim_start) {
            test |= line.starts_with("#[test]");
            let Some(name) = line.strip_prefix("fn ").filter(|_| test) else { continue };
            test = false;
            let words: Vec<&str> = name.split('(').next().unwrap_or_default().split('_').collect();
            rows.extend(words.windows(2).filter_map(|two| {
                let (group, _) = GROUPS.iter().find(|(group, _)| group.to_lowercase() == two[0])?;
                two[1].parse::<u32>().ok().map(|_| format!("{group}-{}", two[1]))
            }));
        }
    }
    rows
}

#[test]
fn every_row_is_proven_or_named_as_not_demanded_yet() {
    let ci = fs::read_to_string(root().join(".ci/run")).unwrap();
    for (row, gate) in GATES {
        let is_gate = |line: &str| line.starts_with(&format!("{gate}() {{"));
        assert!(ci.lines().any(is_gate), "{row}: no gate {gate}");
    }
    let all: BTreeSet<String> = GROUPS
        .iter()
        .flat_map(|(group, count)| {
            (1..=*count).map(move |number| match *group {
                "law" => format!("law-{number}"),
                _ => format!("{group}-{number:02}"),
            })
        })
        .collect();
    let gates = GATES.iter().map(|(row, _)| row.to_string());
    let proven: BTreeSet<String> = of_cases().into_iter().chain(of_names()).chain(gates).collect();
    let later: BTreeSet<String> = LATER.iter().map(|(row, _)| row.to_string()).collect();
    let unknown: Vec<_> = proven.union(&later).filter(|row| !all.contains(*row)).collect();
    assert!(unknown.is_empty(), "no such rows: {unknown:?}");
    let both: Vec<_> = proven.intersection(&later).collect();
    assert!(both.is_empty(), "proven, and named as not demanded yet: {both:?}");
    let missing: Vec<_> =
        all.iter().filter(|row| !proven.contains(*row) && !later.contains(*row)).collect();
    assert!(missing.is_empty(), "nothing proves {missing:?}");
}
