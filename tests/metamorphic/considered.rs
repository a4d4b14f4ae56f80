//! What `explain` shows as matched is what the verdict comes from, and an allow rule that does not cover the
//! call changes nothing of a deny or an ask.
//!
//! The lines are those of the packs' tests and of `tests/allows`, and programs drawn with operands that look
//! like patterns. `CONSIDERED=1 cargo test --test metamorphic considered` takes every one.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use hookctl::config::{Config, LayerFile};
use hookctl::dry;
use hookctl::engine::{RuleContext, strongest_match};
use hookctl::event::Kind;
use hookctl::paths::Paths;
use hookctl::rule::case::{self, CaseCall};
use hookctl::rule::condition::Subject;
use hookctl::rule::{Layer, Rule, shipped};
use hookctl::trial::Ground;
use hookctl::verdict::Verb;

use super::{HOME, number};

/// Of how many lines of the packs and allows one is taken, unless `CONSIDERED` says otherwise.
const ONE_OF: usize = 9;
/// Files of the user: none, allows that do not cover everything, and one that never speaks.
const FILES: &[&str] = &[
    "",
    "[rule.x]\ncommand = \"no-such-program\"\nallow = \"x\"",
    "[rule.x]\neffect = \"read\"\npath = \"./\"\nallow = \"x\"",
    "[rule.x]\neffect = \"execute\"\nallow = \"x\"",
];
/// Programs that read, write or delete what they are given, alone and with all below it.
const PROGRAMS: &[&str] = &[
    "cat",
    "git grep x",
    "git grep x --",
    "git add",
    "git rm",
    "git diff --no-index /dev/null",
    "grep x",
    "grep -r x",
    "rg x",
    "ls -R",
    "du -a",
    "find",
    "tar c",
    "cp -r /tmp/a",
    "mv /tmp/a",
    "rm",
    "rm -rf",
    "chmod -R 600",
    "chown -R me",
    "rsync -a /tmp/a",
    "tee",
    "sed -i s/a/b/",
    "ln -s /tmp/a",
    "zip -r /tmp/a.zip",
    "unknown-program",
    "sh",
    "scp -r x@h.example:y",
    "truncate -s 0",
    "grep -r x . --include",
];
/// Operands: some are globs to a shell or to git, most are names as they stand.
const OPERANDS: &[&str] = &[
    "'*.env'",
    "*.env",
    "'.env*'",
    ".env",
    "'.env'",
    "'*.pem'",
    "*.pem",
    "'id_*'",
    "'[.]env'",
    "'.en?'",
    "'~/.ssh/*'",
    "~/.ssh/*",
    "~/.ssh/'*'",
    "~/.ssh",
    "'*/.env'",
    "'**/.env'",
    "'a*b/.env'",
    "'a[b]c/.git'",
    "'*'",
    "'?'",
    ".git",
    "'.git*'",
    "'.git/[h]ooks'",
    ".git/hooks",
    "\\*.key",
    "'*/id_rsa'",
    "/etc/'*'",
    "/etc",
    "'/etc/pass*'",
    "/'*'",
    "~/'*'",
    "~",
    "..",
    "'.hookctl*'",
    ".claude",
    "'.claude/*'",
    "'.bash*'",
    "~/.bashrc",
    "~/'.bash*'",
    "'*.tfstate'",
    "'credentials*'",
    "~/.aws/'*'",
    "'*.kdbx'",
    ":/",
    "':(glob)**/.env'",
];

struct Line {
    text: String,
    cwd: Option<String>,
}

fn lines() -> Vec<Line> {
    let mut lines = Vec::new();
    let files = |dir: &str| {
        let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let mut files: Vec<PathBuf> = entries.filter(|path| path.is_file()).collect();
        files.sort();
        files
            .into_iter()
            .map(|path| super::moved(&std::fs::read_to_string(path).unwrap()))
            .collect::<Vec<_>>()
    };
    for dir in ["tests/packs", "config/packs"] {
        for text in files(dir) {
            for case in case::read_cases(&text, Path::new(dir)).cases {
                if let CaseCall::Main(tool, text) = case.call
                    && tool == "Bash"
                {
                    lines.push(Line { text, cwd: case.cwd });
                }
            }
        }
    }
    for text in files("tests/allows") {
        let table: toml::Table = toml::from_str(&text).unwrap();
        let lists = table.values().filter_map(toml::Value::as_array).flatten();
        lines.extend(
            lists
                .filter_map(toml::Value::as_str)
                .map(|text| Line { text: text.replace("{{X}}", "rm -rf src"), cwd: None }),
        );
    }
    let one_of = number("CONSIDERED", ONE_OF);
    let mut lines: Vec<Line> = lines.into_iter().step_by(one_of).collect();
    for program in PROGRAMS {
        for operand in OPERANDS {
            lines.push(Line { text: format!("{program} {operand}"), cwd: None });
        }
    }
    lines
}

#[test]
fn an_allow_changes_no_stop_and_what_matched_is_the_verdict() {
    let paths = Paths::below_home(PathBuf::from(HOME));
    let project = paths.home.join("project");
    let configs: Vec<Config> = FILES
        .iter()
        .map(|text| {
            let path = PathBuf::from("config.toml");
            Config::from_source(LayerFile::from_text(Layer::User, path, (*text).to_string()))
        })
        .collect();
    let rules: Vec<Rc<Rule>> = shipped::RULES
        .iter()
        .filter(|one| !one.is_autopilot())
        .filter_map(shipped::Shipped::rule)
        .collect();
    let mut faults = BTreeSet::new();
    let lines = lines();
    for line in &lines {
        let mut first: Option<(Option<Verb>, String)> = None;
        for (config, file) in configs.iter().zip(FILES) {
            let ground = Ground::new(&paths, config, &project, None);
            let cwd = line.cwd.as_deref().map_or_else(
                || project.display().to_string(),
                |cwd| dry::absolute_path(cwd, &project, &paths.home),
            );
            let input = dry::tool_input("Bash", &line.text, &str::to_string);
            let payload = dry::tool_call_payload(Kind::PreToolUse, "Bash", input, &cwd);
            let judged = ground.judge_event(dry::parse_event(payload, None), ground.place_at(&cwd));
            let answer = &judged.judgement.answer;
            let stops = answer.verb.filter(|verb| verb.stops_call());
            let rule = stops.map(|_| judged.judgement.rule.clone()).unwrap_or_default();
            let said = (stops, rule);
            if let Some(before) = &first {
                if *before != said {
                    let text = format!("{:?}: {before:?}, and {said:?} with {file:?}", line.text);
                    faults.insert(text);
                }
                continue;
            }
            let subject = Subject {
                event: &judged.event,
                analysis: &judged.analysis,
                bases: &judged.bases,
                place: &judged.place,
            };
            let case = RuleContext { subject, profile: config.profile };
            let matched: Vec<_> = rules
                .iter()
                .filter_map(|rule| case.test_rule(rule))
                .filter(|one| !one.observed && one.verb().is_some_and(Verb::stops_call))
                .collect();
            let shown = strongest_match(&matched);
            let shown =
                (shown.and_then(|one| one.verb()), shown.map(|one| one.rule.qualified_name()));
            let shown = (shown.0, shown.1.unwrap_or_default());
            if shown != said {
                faults.insert(format!("{:?}: matched {shown:?}, verdict {said:?}", line.text));
            }
            first = Some(said);
        }
    }
    println!("{} lines", lines.len());
    assert!(
        faults.is_empty(),
        "{} faults\n{}",
        faults.len(),
        faults.into_iter().collect::<Vec<_>>().join("\n")
    );
}
