//! Days of ordinary work in eight kinds of projects (`tests/day/`), held against what the shipped rules may cost: whom they stop
//! although nothing is wrong, how often profile `strict` asks, and how much the autopilot lets pass. Nothing is run.
//!
//! `SHOWN=guard`, `strict` or `autopilot` lists the calls that count against that figure:
//! `SHOWN=autopilot cargo test --test day -- --nocapture`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hookctl::config::{Config, LayerFile};
use hookctl::dry;
use hookctl::event::Kind;
use hookctl::paths::Paths;
use hookctl::rule::Layer;
use hookctl::trial::Ground;
use hookctl::verdict::Verb;
use serde::Deserialize;
use serde_json::{Value, json};

#[path = "common/index.rs"]
mod index;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The project's files.
    files: BTreeMap<String, String>,
    day: Day,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Day {
    calls: Vec<Call>,
    /// What profile `guard` asks about, and why that is right.
    #[serde(default)]
    asks: BTreeMap<String, String>,
}

/// A call of the shell is harmless, and the autopilot should let it pass, unless it says why it is a human's to answer.
#[derive(Deserialize)]
#[serde(untagged)]
enum Call {
    Bash(String),
    Human { human: Class, bash: String },
    Tool(BTreeMap<String, toml::Value>),
}

impl Call {
    /// The command line, where it is one.
    fn command(&self) -> Option<&str> {
        match self {
            Call::Bash(command) | Call::Human { bash: command, .. } => Some(command),
            Call::Tool(_) => None,
        }
    }
}

/// Why a call is a human's to answer, however ordinary it is.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Class {
    /// It fetches packages or other people's programs, and installs or runs them.
    Install,
    /// It changes git's history, branches or work tree.
    Commit,
    /// It sends work to others: pushes, requests, comments, images, workflow runs.
    Publish,
    /// It migrates, fills or empties a database.
    Database,
    /// It builds, starts, stops, enters or changes containers, clusters, simulators or devices.
    Machine,
    /// It asks a machine or a service elsewhere, by name or with somebody's credentials, or changes what a local one holds.
    Remote,
    /// It stops processes or looks into them.
    Process,
    /// It writes, moves or removes files outside of the temporary directories, which the agent's tools are for.
    Edit,
    /// It runs the project's own program or a script.
    Run,
    /// It prints what may be secret.
    Secret,
}

/// Of 100 harmless calls of the shell, how many the autopilot lets pass at least: on each day, and over all.
const EACH: usize = 70;
const OVERALL: usize = 75;

/// What a day came to.
#[derive(Default)]
struct Tally {
    calls: usize,
    shell: usize,
    denied: usize,
    asked: usize,
    strict: usize,
    harmless: usize,
    allowed: usize,
}

impl Tally {
    fn add(&mut self, other: &Tally) {
        self.calls += other.calls;
        self.shell += other.shell;
        self.denied += other.denied;
        self.asked += other.asked;
        self.strict += other.strict;
        self.harmless += other.harmless;
        self.allowed += other.allowed;
    }

    /// What is wrong with it. One ask is no fault of a single day.
    fn faults(&self, name: &str, asks: usize, autopilot: usize) -> Vec<String> {
        println!(
            "{name:>8}: {} calls, {} of the shell; guard denies {}, asks {}; strict stops {} ({}); autopilot allows {}: {} of {} harmless, {} of all",
            self.calls,
            self.shell,
            self.denied,
            self.asked,
            self.strict,
            share(self.strict, self.calls),
            self.allowed,
            share(self.allowed, self.harmless),
            self.harmless,
            share(self.allowed, self.shell),
        );
        let holds = [
            (self.denied == 0, "guard denies ordinary work"),
            (self.asked <= asks, "guard asks too often"),
            (self.strict * 10 <= self.calls, "strict stops more than 10 of 100"),
            (
                self.allowed * 100 >= self.harmless * autopilot,
                "autopilot allows too little of what is harmless",
            ),
        ];
        holds.iter().filter(|(holds, _)| !holds).map(|(_, why)| format!("{name}: {why}")).collect()
    }
}

fn share(part: usize, whole: usize) -> String {
    format!("{:.1} %", part as f64 * 100.0 / whole.max(1) as f64)
}

/// What shells find in their environment, on no machine's account.
fn environment(name: &str) -> Option<String> {
    let value = match name {
        "USER" | "LOGNAME" => "dev",
        "SHELL" => "/bin/bash",
        "LANG" => "C.UTF-8",
        "PATH" => "/usr/local/bin:/usr/bin:/bin",
        _ => return None,
    };
    Some(value.into())
}

fn put(project: &Path, files: &BTreeMap<String, String>) {
    let ignored = |name: &str| {
        files.get(".gitignore").is_some_and(|text| {
            text.lines().any(|line| name.split('/').any(|part| part == line.trim_end_matches('/')))
        })
    };
    for (name, text) in files {
        let path = project.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
    }
    let tracked: Vec<String> = files.keys().filter(|name| !ignored(name)).cloned().collect();
    fs::create_dir_all(project.join(".git/objects")).unwrap();
    fs::create_dir_all(project.join(".git/refs")).unwrap();
    fs::write(project.join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(project.join(".git/index"), index::index(project, &tracked)).unwrap();
}

/// The tool and its input.
fn input(call: &Call, project: &Path, moved: &dyn Fn(&str) -> String) -> (String, Value) {
    let fields = match call {
        Call::Bash(command) | Call::Human { bash: command, .. } => {
            return ("Bash".into(), json!({ "command": moved(command) }));
        }
        Call::Tool(fields) => fields,
    };
    let text = |key: &str| fields.get(key).and_then(|v| v.as_str()).unwrap_or_default();
    let tool = ["Read", "Write", "Edit", "Glob", "Grep", "WebFetch"]
        .into_iter()
        .find(|tool| fields.contains_key(*tool))
        .expect("a tool");
    let path = project.join(moved(text(tool)));
    let within = project.join(text("path"));
    let input = match tool {
        "Read" => json!({ "file_path": path }),
        "Write" => json!({ "file_path": path, "content": text("text") }),
        "Edit" => {
            json!({ "file_path": path, "old_string": text("old"), "new_string": text("new") })
        }
        "Glob" => json!({ "pattern": text(tool) }),
        "Grep" => json!({ "pattern": text(tool), "path": within }),
        _ => json!({ "url": text(tool), "prompt": "What does it say?" }),
    };
    (tool.into(), input)
}

fn judge(path: &Path, faults: &mut Vec<String>) -> Tally {
    let name = path.file_stem().unwrap().to_string_lossy().into_owned();
    let file: File = toml::from_str(&fs::read_to_string(path).unwrap())
        .unwrap_or_else(|error| panic!("{name}: {error}"));
    let root = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let home = hookctl::files::real_path(root.path()).unwrap().join("home");
    let project = home.join("project");
    put(&project, &file.files);
    let moved = |text: &str| text.replace("/home/dev", &home.to_string_lossy());
    let paths = Paths::below_home(home.clone());
    let shown = std::env::var("SHOWN").unwrap_or_default();
    let mut tally = Tally { calls: file.day.calls.len(), ..Tally::default() };
    let mut asks = file.day.asks.clone();
    for (profile, text) in
        [("guard", ""), ("strict", "profile = \"strict\""), ("autopilot", "autopilot = true")]
    {
        let layer = LayerFile::from_text(Layer::User, PathBuf::from("config.toml"), text.into());
        let config = Config::from_source(layer);
        assert!(config.broken.is_empty(), "{:?}", config.broken);
        let ground = Ground::new(&paths, &config, &project, Some(environment));
        for call in &file.day.calls {
            let (tool, input) = input(call, &project, &moved);
            let told =
                call.command().map_or_else(|| format!("{tool} {input}"), ToString::to_string);
            let cwd = project.to_string_lossy().into_owned();
            let payload = dry::tool_call_payload(Kind::PreToolUse, &tool, input, &cwd);
            let parsed = dry::parse_event(payload, None);
            let found = ground.judge_event(parsed, ground.place_at(&cwd));
            let verb = found.judgement.answer.verb;
            let stopped = verb.is_some_and(|verb| verb != Verb::Allow);
            let counts = match profile {
                "guard" => {
                    tally.shell += usize::from(call.command().is_some());
                    tally.harmless += usize::from(matches!(call, Call::Bash(_)));
                    let defended = asks.remove(&told).is_some();
                    tally.denied += usize::from(stopped && verb != Some(Verb::Ask));
                    tally.asked += usize::from(verb == Some(Verb::Ask));
                    if stopped != defended {
                        let rule = &found.judgement.rule;
                        faults.push(format!(
                            "{name}: {verb:?} by {rule:?}, defended: {defended}: {told}"
                        ));
                    }
                    stopped
                }
                "strict" => {
                    tally.strict += usize::from(stopped);
                    stopped
                }
                _ => {
                    let harmless = matches!(call, Call::Bash(_));
                    let allowed = verb == Some(Verb::Allow);
                    tally.allowed += usize::from(harmless && allowed);
                    if let Call::Human { human, .. } = call
                        && allowed
                    {
                        faults.push(format!("{name}: allowed, though {human:?}: {told}"));
                    }
                    harmless && !allowed
                }
            };
            if counts && shown == profile {
                println!("{name} {verb:?} [{}] {told}", found.judgement.rule);
            }
        }
    }
    faults.extend(asks.keys().map(|call| format!("{name}: defended without need: {call}")));
    tally
}

#[test]
fn ordinary_days_pass() {
    let mut days: Vec<PathBuf> = fs::read_dir("tests/day")
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "toml"))
        .collect();
    days.sort();
    assert!(days.len() >= 8, "eight kinds of projects");
    let (mut all, mut faults) = (Tally::default(), Vec::new());
    for path in &days {
        let day = judge(path, &mut faults);
        let name = path.file_stem().unwrap().to_string_lossy();
        assert!(day.calls >= 150, "{name} has {} calls", day.calls);
        // One of 150 is already more than 0.5 of 100: that bound holds for all days together.
        faults.extend(day.faults(&name, 2, EACH));
        all.add(&day);
    }
    let bound = all.calls / 200;
    faults.extend(all.faults("all", bound, OVERALL));
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}
