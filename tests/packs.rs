//! The shipped rules held against `[[test]]` tables: one test per file, through what `hookctl test`
//! runs. For `/home/dev` and `/home/dev/project` a home stands that no machine has, and no variable of
//! this process counts, so that no verdict depends on the machine. No reason has a hole where a
//! placeholder had no value. What stops a call names the rule that does, and with which verdict.

use std::fs;
use std::path::{Path, PathBuf};

use hookctl::config::{Config, LayerFile};
use hookctl::paths::Paths;
use hookctl::rule::Layer;
use hookctl::rule::case::{self, Case};
use hookctl::trial::Ground;
use hookctl::verdict::Verb;

#[path = "common/nobody.rs"]
#[allow(dead_code)]
mod nobody;
#[path = "common/prose.rs"]
mod prose;

/// A file below tests/packs: what it says of profile and packs counts, as `hookctl test FILE` has it.
fn tests(path: &Path) -> datatest_stable::Result<()> {
    run(path, false)
}

/// A file that ships: its rules are there already.
fn ships(path: &Path) -> datatest_stable::Result<()> {
    run(path, true)
}

fn run(path: &Path, ships: bool) -> datatest_stable::Result<()> {
    let text = nobody::moved(&fs::read_to_string(path)?);
    let name = path.display().to_string();
    let read = case::read_cases(&text, path.parent().unwrap_or(Path::new(".")));
    let mut wrong: Vec<String> =
        read.faults.iter().map(|fault| fault.to_report(&name, &text)).collect();
    let config = match ships || read.alone {
        true => Config::default(),
        false => {
            Config::from_source(LayerFile::from_text(Layer::User, path.to_path_buf(), text.clone()))
        }
    };
    wrong.extend(config.broken.iter().map(|(_, why)| why.clone()));
    let paths = Paths::below_home(PathBuf::from(nobody::HOME));
    let ground = Ground::new(&paths, &config, &paths.home.join("project"), None);
    for case in &read.cases {
        let found = ground.run_case(case);
        let call = serde_json::Value::Object(found.event.raw.clone()).to_string();
        if let Some(hole) = prose::hole(&found.reason, &call) {
            wrong
                .push(format!("{name}:{}: {}\n    {hole} [{}]", case.line, found.what, found.rule));
        }
        let verb = found.verb.map_or("silent", Verb::name);
        // An example that ships belongs to the rule above it.
        if let Some(why) = vague(case).filter(|_| !ships) {
            let given = format!("verdict = \"{verb}\", rule = \"{}\"", found.rule);
            wrong.push(format!("{name}:{}: {}\n    {why}; today {given}", case.line, found.what));
        }
        if !found.passed {
            wrong.push(format!(
                "{name}:{}: {}\n  - {} {}\n  + {} {}\n    {}",
                case.line,
                found.what,
                case.wanted.text,
                case.rule.as_deref().unwrap_or_default(),
                verb,
                found.rule,
                found.reason,
            ));
        }
    }
    if read.cases.is_empty() && !ships {
        wrong.push(format!("{name} holds no test"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// What a case does not say of a call that it wants to see stopped.
fn vague(case: &Case) -> Option<&'static str> {
    match case.wanted.text.as_str() {
        "passed" | "silent" | "allow" => None,
        other if other.starts_with("not ") => None,
        "stopped" => Some("stopped is no verdict"),
        _ if case.rule.is_none() => Some("no rule is named"),
        _ => None,
    }
}

datatest_stable::harness! {
    { test = tests, root = "tests/packs", pattern = r".*\.toml$" },
    { test = ships, root = "config/packs", pattern = r".*\.toml$" },
    { test = tests, root = "tests", pattern = r"^(.*/)?tests/ledger\.toml$|^ledger\.toml$" },
}
