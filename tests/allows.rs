//! What an allow must not cover: `tests/allows/*.toml`, one file for each class of hole.
//!
//! A dangerous line is never *explicitly allowed* under any of the configs below, alone or together, with the shipped
//! rules and without them. Its harmless twins are: `harmless.NAME` is allowed under the config of that name, and nothing
//! harmless is ever denied. In a line `{{X}}` stands for each of `DANGERS` in turn. Nothing is run.
//!
//! Keys of a file: `dangerous`, `stored` and `unrun` in every shell, `zsh` where only zsh does it; `secret` are reads that
//! the shipped rules deny; `stopped` must be
//! denied or asked about; `long` and `deep` are lines that grow; `feature` and `plain` hold lines for an allow on that
//! program. `rules` is a config of the file's own, called `class`; `under` says which configs count.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use elsewhere::Differing;
use hookctl::config::{Config, LayerFile};
use hookctl::dry::{self, Dry};
use hookctl::effect::Word;
use hookctl::effect::program::table::{Arity, OptSpec, Program, Role, mark, packed};
use hookctl::event::Kind;
use hookctl::paths::Paths;
use hookctl::rule::Layer;
use hookctl::trial::Ground;
use hookctl::verdict::Verb;
use serde::Deserialize;

#[path = "common/elsewhere.rs"]
#[allow(dead_code)] // Which lines are idle is told of all files alone.
mod elsewhere;
#[path = "common/nobody.rs"]
#[allow(dead_code)]
mod nobody;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// Rules of a config that is called `class`.
    #[serde(default)]
    rules: String,
    /// The configs that count; all of `CONFIGS` unless said.
    #[serde(default)]
    under: Vec<String>,
    #[serde(default)]
    dangerous: Vec<String>,
    #[serde(default)]
    stored: Vec<String>,
    #[serde(default)]
    unrun: Vec<String>,
    #[serde(default)]
    zsh: Vec<String>,
    /// The shipped rules say what is secret: judged with them only.
    #[serde(default)]
    secret: Vec<String>,
    #[serde(default)]
    stopped: Vec<String>,
    #[serde(default)]
    long: Vec<Grown>,
    #[serde(default)]
    deep: Vec<Grown>,
    #[serde(default)]
    feature: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    plain: BTreeMap<String, String>,
    #[serde(default)]
    harmless: BTreeMap<String, Vec<String>>,
}

/// A line that grows: its start, what is repeated, its end.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Grown {
    line: [String; 3],
}

/// The allows that people write, each alone and all of them together.
const CONFIGS: &[(&str, &str)] = &[
    ("autopilot", "autopilot = true"),
    ("read", "[rule.read]\neffect = \"read\"\npath = \"./\"\nallow = \"reading the project\""),
    ("git", "[rule.git]\ncommand = \"git *\"\nallow = \"git\""),
    ("npm", "[rule.npm]\ncommand = \"npm *\"\nallow = \"npm\""),
    ("docker", "[rule.docker]\ncommand = \"docker *\"\nallow = \"docker\""),
    ("ls", "[rule.ls]\nmatch = \"Bash(ls:*)\"\nallow = \"ls\""),
];

/// What stands for `{{X}}`.
const DANGERS: &[&str] = &["rm -rf src", "./x.sh", "touch src/x"];

/// How long the lines grow, and how deep.
const LONG: &[usize] = &[60, 201, 1_100, 5_000];
const DEEP: &[usize] = &[5, 17, 40, 120];

struct Configs(Vec<(String, Config)>);

impl Configs {
    fn of(file: &File) -> Configs {
        let named = |name: &str| file.under.is_empty() || file.under.iter().any(|u| u == name);
        let mut texts: Vec<(String, String)> = CONFIGS
            .iter()
            .filter(|(name, _)| named(name))
            .map(|(name, text)| (name.to_string(), text.to_string()))
            .collect();
        if texts.len() > 1 {
            let all = texts.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("\n");
            texts.push(("all".into(), all));
        }
        if !file.rules.is_empty() {
            texts.push(("class".into(), file.rules.clone()));
        }
        Configs(texts.into_iter().map(|(name, text)| (name, config(&text))).collect())
    }
}

fn config(text: &str) -> Config {
    let config = Config::from_source(LayerFile::from_text(
        Layer::User,
        PathBuf::from("config.toml"),
        text.to_string(),
    ));
    assert!(config.broken.is_empty(), "{:?}", config.broken);
    assert_eq!(
        config.faults().count(),
        0,
        "{text}: {:?}",
        config.faults().map(|f| f.1).collect::<Vec<_>>()
    );
    config
}

fn paths() -> Paths {
    Paths::below_home(PathBuf::from(nobody::HOME))
}

/// What becomes of the line under that config.
fn verdict(config: &Config, line: &str) -> Option<Verb> {
    let paths = paths();
    // As a path of Windows it would have two kinds of separators, and be no directory that anything is below.
    let cwd = nobody::project();
    let ground = Ground::new(&paths, config, Path::new(&cwd), None);
    let input = serde_json::json!({ "command": line });
    let parsed =
        dry::parse_event(dry::tool_call_payload(Kind::PreToolUse, "Bash", input, &cwd), None);
    let judged: Dry = ground.judge_event(parsed, ground.place_at(&cwd));
    judged.judgement.answer.verb
}

struct Wrong {
    lines: Vec<String>,
    count: usize,
    differing: Differing,
}

impl Wrong {
    fn new() -> Wrong {
        let differing = Differing::of("allows", nobody::moved);
        Wrong { lines: Vec::new(), count: 0, differing }
    }

    /// The line's name, and how it came out under which configs where that is wrong.
    fn take(&mut self, key: &str, line: &str, wrong: Vec<String>) {
        self.count += 1;
        let left_out = self.differing.leaves_out(line, !wrong.is_empty());
        if !wrong.is_empty() && !left_out {
            let mut shown = format!("{line:?}");
            if shown.len() > 300 {
                let end = (0..=200).rev().find(|at| shown.is_char_boundary(*at)).unwrap_or(0);
                shown.truncate(end);
                shown.push_str("...\"");
            }
            self.lines.push(format!("{key}\t{shown}\t{}", wrong.join(", ")));
        }
    }
}

impl Wrong {
    /// Ok where nothing is wrong.
    fn told(&self) -> datatest_stable::Result<()> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let mut text = format!("{} of {} lines are wrong\n", self.lines.len(), self.count);
        for line in &self.lines {
            writeln!(text, "{line}")?;
        }
        Err(text.into())
    }
}

/// Each danger in its place; and with a command behind it, for a call of nothing but assignments has none to allow.
fn spellings(line: &str) -> Vec<String> {
    let lines = spelled(line);
    let followed = lines.iter().filter(|_| line.contains("{{X}}"));
    followed
        .map(|line| format!("{line}\nls"))
        .collect::<Vec<_>>()
        .into_iter()
        .chain(lines)
        .collect()
}

fn spelled(line: &str) -> Vec<String> {
    match line.contains("{{X}}") {
        true => DANGERS.iter().map(|danger| line.replace("{{X}}", danger)).collect(),
        false => vec![line.to_string()],
    }
}

/// Under which configs does the verdict not hold for some spelling of the line?
fn failing(
    configs: &[(String, Config)],
    line: &str,
    holds: fn(Option<Verb>) -> bool,
) -> Vec<String> {
    let mut wrong = Vec::new();
    for (name, config) in configs {
        for spelling in spellings(line) {
            let verb = verdict(config, &spelling);
            if !holds(verb) {
                wrong.push(format!("{name}: {}", verb.map_or("silent", Verb::name)));
                break;
            }
        }
    }
    wrong
}

fn not_allowed(verb: Option<Verb>) -> bool {
    verb != Some(Verb::Allow)
}

fn stopped(verb: Option<Verb>) -> bool {
    matches!(verb, Some(Verb::Deny | Verb::Ask))
}

fn run(path: &Path) -> datatest_stable::Result<()> {
    let file: File = toml::from_str(&nobody::moved(&fs::read_to_string(path)?))?;
    let mut wrong = Wrong::new();
    let configs = Configs::of(&file).0;
    let mut bare = Configs::of(&file).0;
    bare.retain(|(name, _)| name != "autopilot");
    for (_, config) in &mut bare {
        config.without_shipped();
    }
    for (key, lines) in [
        ("dangerous", &file.dangerous),
        ("stored", &file.stored),
        ("unrun", &file.unrun),
        ("zsh", &file.zsh),
    ] {
        for line in lines {
            let mut found = failing(&configs, line, not_allowed);
            let without = failing(&bare, line, not_allowed);
            found.extend(without.into_iter().map(|why| format!("without shipped {why}")));
            wrong.take(key, line, found);
        }
    }
    for line in &file.secret {
        wrong.take("secret", line, failing(&configs, line, not_allowed));
    }
    for line in &file.stopped {
        wrong.take("stopped", line, failing(&configs, line, stopped));
    }
    // Their danger is one that the shipped rules deny: what is not seen is at least asked about.
    for (key, list, sizes) in [("long", &file.long, LONG), ("deep", &file.deep, DEEP)] {
        for Grown { line: [start, item, end] } in list {
            for &size in sizes {
                let line = grow(key, start, item, end, size);
                let found = failing(&configs, &line, stopped);
                wrong.take(key, &format!("{size} of {start}{item}{end}"), found);
            }
        }
    }
    features(&file, &mut wrong);
    for (name, lines) in &file.harmless {
        let mine: Vec<(String, Config)> =
            Configs::of(&file).0.into_iter().filter(|(n, _)| n == name || n == "all").collect();
        assert!(name == "quiet" || !mine.is_empty(), "no config {name}");
        for line in lines {
            let found = match name.as_str() {
                "quiet" => failing(&configs, line, |verb| verb != Some(Verb::Deny)),
                _ => failing(&mine, line, |verb| verb == Some(Verb::Allow)),
            };
            wrong.take(&format!("harmless.{name}"), line, found);
        }
    }
    wrong.told()
}

fn grow(key: &str, start: &str, item: &str, end: &str, size: usize) -> String {
    if key == "deep" {
        return format!("{}{item}{}", start.repeat(size), end.repeat(size));
    }
    let items: String = (0..size).map(|n| item.replace("{n}", &n.to_string())).collect();
    format!("{start}{items}{end}")
}

/// An allow on the program, as a pattern or as a line of Claude Code's settings, and on its plain call.
fn features(file: &File, wrong: &mut Wrong) {
    let programs: BTreeSet<&String> = file.feature.keys().chain(file.plain.keys()).collect();
    for program in programs {
        let mut configs = Vec::new();
        for (name, rule) in [
            ("command", format!("command = {program:?}")),
            ("match", format!("match = \"Bash({program}:*)\"")),
        ] {
            let mut config = config(&format!("[rule.x]\n{rule}\nallow = \"x\""));
            configs.push((name.to_string(), config.clone()));
            config.without_shipped();
            configs.push((format!("{name} without shipped"), config));
        }
        for line in file.feature.get(program).into_iter().flatten() {
            wrong.take(&format!("feature.{program}"), line, failing(&configs, line, not_allowed));
        }
        if let Some(line) = file.plain.get(program) {
            let found = failing(&configs, line, |verb| verb == Some(Verb::Allow));
            wrong.take(&format!("plain.{program}"), line, found);
        }
    }
}

/// Powers of options: what runs, writes, sends, goes elsewhere or says so by an effect of its own. None for an option that an
/// allow on the bare program means: it only reads, or is text.
fn power(program: &Program, spec: &OptSpec) -> Option<&'static str> {
    const POWERS: u32 = mark::UNSAFE
        | mark::SCRIPT
        | mark::MODULE
        | mark::STDIN
        | mark::SEND
        | mark::INPLACE
        | mark::CHANGES
        | mark::SYSTEM
        | mark::PRIVILEGE;
    let valued = spec.arity != Arity::None;
    let value = match spec.role {
        Role::Run | Role::Program | Role::Filter | Role::Script => Some("./x.sh"),
        Role::Code | Role::Command | Role::OwnCommand | Role::Joined => Some("x"),
        Role::Write | Role::WriteInto | Role::Edit | Role::Target => Some("src/x"),
        Role::Delete | Role::DeleteTree | Role::Move | Role::Permission => Some("src/x"),
        Role::Device => Some("/dev/sdx"),
        Role::Upload => Some("a"),
        Role::Body => Some("@a"),
        Role::Source => Some("https://h.example/x"),
        Role::MaybeRead if spec.marks & mark::CHANGES != 0 => Some("./x.sh"),
        // A row that says all of itself tells what it does there.
        _ if spec.marks & mark::CHDIR != 0 && !program.complete => Some("/srv"),
        _ => None,
    };
    match value.filter(|_| valued) {
        Some(value) => Some(value),
        None => (spec.marks & POWERS != 0 || spec.effect.is_some()).then_some("x"),
    }
}

/// The option in each form that the program takes, with that value.
fn forms(program: &Program, name: &str, arity: Arity, value: &str) -> Vec<String> {
    let long = name.starts_with("--") || program.single || name.len() > 2;
    let joined = match long {
        true => format!("{name}={value}"),
        false => format!("{name}{value}"),
    };
    match arity {
        Arity::None => vec![name.to_string()],
        Arity::Optional => vec![joined],
        Arity::Value if program.windows => vec![format!("{name} {value}")],
        Arity::Value => vec![format!("{name} {value}"), joined],
    }
}

/// The calls of a row that do more than an allow on its words means: one for each spelling and form of each option with a
/// power, one for each operand that is run, one for each verb and for the row itself if its effects are none of the covered.
/// Those are reads, writes and deletions of what operands name, network, sends and listening, and named effects (`git.push`,
/// `cloud.write`): they are what the program is for.
fn calls(program: &Program) -> Vec<String> {
    let mut calls = Vec::new();
    let mut seen = HashSet::new();
    for (names, rest) in program.option_lines() {
        let spec = packed::unpack_option(rest);
        let Some(value) =
            power(program, &spec).filter(|_| spec.marks & (mark::ONLY | mark::DRY) == 0)
        else {
            continue;
        };
        for name in names.split(',').filter(|name| name.starts_with('-') && seen.insert(*name)) {
            for form in forms(program, name, spec.arity, value) {
                calls.push(format!("{} {form} a b", program.name));
            }
        }
    }
    let runs = |role: &Role| {
        matches!(role, Role::Command | Role::Joined | Role::Script | Role::Program | Role::Filter)
    };
    let roles = program.before.iter().chain([&program.repeat]).chain(&program.last);
    if let Some(at) = roles.clone().position(runs).filter(|_| program.operands_known) {
        calls.push(format!("{} {}./x.sh", program.name, "5 ".repeat(at)));
    }
    if program.effects.iter().any(grave) {
        calls.push(format!("{} a b", program.name));
    }
    for (words, effects) in program.verbs.lines().filter_map(|line| line.split_once('|')) {
        if effects.split(' ').filter_map(Word::from_closed_list).any(|word| grave(&word)) {
            let words = words.trim_start_matches("** ");
            let words: Vec<&str> =
                words.split(' ').map(|word| word.split(',').next().unwrap_or(word)).collect();
            calls.push(format!(
                "{} {}",
                program.name,
                words.join(" ").replace("[0-9]", "1").replace('*', "a")
            ));
        }
    }
    calls
}

/// Is it an effect that no allow on a command covers?
fn grave(word: &Word) -> bool {
    use Word::{Code, Permission, PipeToInterpreter, Privilege, Process, Remote, System};
    let grave = [Code, Permission, PipeToInterpreter, Privilege, Process, Remote, System];
    grave.contains(word)
}

/// Every row of a table against an allow on its program, and on its own words: none covers what has a power. The tables say
/// what has one, `features.toml` is what people know of the programs.
fn tables(path: &Path) -> datatest_stable::Result<()> {
    let table: toml::Table = fs::read_to_string(path)?.parse()?;
    let mut wrong = Wrong::new();
    for name in table.keys().flat_map(|name| spelled_names(name)).filter(|name| name != "[") {
        let program = packed::find_packed(&name).ok_or_else(|| format!("no row for {name}"))?;
        let word = name.split(' ').next().unwrap_or_default();
        let mut config = config(&format!(
            "[rule.x]\ncommand = [{word:?}, {name:?}]\nallow = \"x\"\n\
             [rule.y]\nmatch = [\"Bash({word}:*)\", \"Bash({name}:*)\"]\nallow = \"x\""
        ));
        config.without_shipped();
        for line in calls(program) {
            let found = match verdict(&config, &line) {
                Some(Verb::Allow) => vec!["allow".to_string()],
                _ => Vec::new(),
            };
            wrong.take(&name, &line, found);
        }
    }
    wrong.told()
}

/// `gh pr {list,view}` is a name for each.
fn spelled_names(name: &str) -> Vec<String> {
    let parts =
        name.split_once('{').and_then(|(before, rest)| Some((before, rest.split_once('}')?)));
    let Some((before, (list, after))) = parts else { return vec![name.to_string()] };
    list.split(',').flat_map(|verb| spelled_names(&format!("{before}{verb}{after}"))).collect()
}

datatest_stable::harness! {
    { test = tables, root = "config/programs", pattern = r".*\.toml$" },
    { test = run, root = "tests/allows", pattern = r".*\.toml$" },
}
