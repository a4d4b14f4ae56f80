//! Rules, events and the answers expected of them: one test per file of tests/cases.
//!
//! Everything but the process itself is real: layers on a disk, trust, commands that rules run.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use hookctl::agent;
use hookctl::config::{self, Config};
use hookctl::effect::windows;
use hookctl::hook;
use hookctl::judge::{self, JudgeContext, Mode, Situation};
use hookctl::paths::Paths;
use hookctl::rule::Layer;
use hookctl::trust;
use serde::Deserialize;
use serde_json::{Map, Value, json};

#[path = "common/index.rs"]
mod index;
#[path = "common/prose.rs"]
mod prose;
#[path = "common/system.rs"]
mod system;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// The rows of the checklist that these cases prove: `tests/checklist.rs` reads them.
    #[serde(default)]
    #[allow(dead_code)]
    ids: Vec<String>,
    /// The user's rules.
    #[serde(default)]
    rules: String,
    /// The managed file.
    managed: Option<String>,
    /// The project's file.
    project: Option<String>,
    /// The project's local file.
    local: Option<String>,
    /// A human trusted the project's files.
    #[serde(default)]
    trusted: bool,
    /// Files below the temporary root: `project/a.txt`, `home/.ssh/id_rsa`.
    #[serde(default)]
    files: std::collections::BTreeMap<String, String>,
    /// Symlinks below the temporary root: name and what it points to.
    #[serde(default)]
    links: std::collections::BTreeMap<String, String>,
    /// Hard links below the temporary root: name and the file that it is.
    #[serde(default)]
    hard: std::collections::BTreeMap<String, String>,
    /// Archives (tar) below the temporary root, and the names in them.
    #[serde(default)]
    tars: std::collections::BTreeMap<String, Vec<String>>,
    /// What the project's git tracks, as it is.
    #[serde(default)]
    tracked: Vec<String>,
    /// The shipped rules count too.
    #[serde(default)]
    shipped: bool,
    /// What a system needs for all of them, where not all have it.
    needs: Option<String>,
    case: Vec<Case>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
struct Case {
    #[serde(default)]
    name: String,
    /// What a system needs for it, where not all have it.
    needs: Option<String>,
    #[serde(default = "pre_tool_use")]
    event: String,
    #[serde(default)]
    tool: Option<String>,
    /// For `Bash`.
    command: Option<String>,
    /// Of several, each is a case.
    #[serde(default)]
    commands: Vec<String>,
    #[serde(default)]
    input: Option<toml::Table>,
    /// Further fields of the payload.
    #[serde(default)]
    payload: toml::Table,
    cwd: Option<String>,
    /// The payload comes this often; the last answer counts.
    #[serde(default = "once")]
    times: usize,
    #[serde(default)]
    paused: bool,
    /// What is expected; "not allow" leaves open which.
    verdict: String,
    rule: Option<String>,
    /// Part of the reason.
    reason: Option<String>,
    /// Part of what the model is told.
    context: Option<String>,
    /// Part of what the human is told.
    notice: Option<String>,
    /// The whole new input.
    new_input: Option<toml::Table>,
    /// Part of the new result, as JSON text.
    new_response: Option<String>,
    /// What leaves on stdout, exactly.
    stdout: Option<String>,
    /// Must not stand in stdout.
    without: Option<String>,
    /// A file below the root that must hold a text, or not exist where that is empty.
    #[serde(default)]
    left: std::collections::BTreeMap<String, String>,
}

fn pre_tool_use() -> String {
    "PreToolUse".into()
}

fn once() -> usize {
    1
}

fn run(path: &Path) -> datatest_stable::Result<()> {
    let text = fs::read_to_string(path)?;
    let file: File =
        toml::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut wrong = Vec::new();
    let each = |case: &Case| match case.commands.is_empty() {
        true => vec![case.clone()],
        false => {
            let one = |command: &String| Case { command: Some(command.clone()), ..case.clone() };
            case.commands.iter().map(one).collect()
        }
    };
    for (at, case) in file.case.iter().flat_map(each).enumerate() {
        let case = &case;
        let name = case.command.as_deref().unwrap_or(&case.name);
        match check(&file, case) {
            Ok(()) => {}
            Err(Miss::Wrong(why)) => wrong.push(format!("case {} ({name}): {why}", at + 1)),
            Err(Miss::LeftOut(why)) => {
                println!("left out: needs {why}: {} case {}", path.display(), at + 1);
            }
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n").into()) }
}

/// An archive of empty files.
fn tar(names: &[String]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for name in names {
        let mut head = [0_u8; 512];
        head[..name.len()].copy_from_slice(name.as_bytes());
        head[124..135].copy_from_slice(b"00000000000");
        head[156] = b'0';
        head[257..262].copy_from_slice(b"ustar");
        bytes.extend(head);
    }
    bytes.extend([0; 1024]);
    bytes
}

/// Why a case does not hold.
enum Miss {
    Wrong(String),
    /// It cannot be told on this system, which lacks that.
    LeftOut(String),
}

impl From<String> for Miss {
    fn from(why: String) -> Miss {
        Miss::Wrong(why)
    }
}

/// Does the case name one of these files below the root, or a directory that they are in?
fn names_any(case: &Case, files: &[&str]) -> bool {
    let told = format!("{:?} {:?} {:?}", case.command, case.input, case.payload);
    let within = |c: char| c.is_alphanumeric() || matches!(c, '.' | '_' | '-');
    told.split(|c| !within(c))
        .any(|word| files.iter().any(|file| file.split('/').skip(1).any(|part| part == word)))
}

/// What Windows lacks of what other systems have.
const NOT_ON_WINDOWS: &[&str] = &[
    "a POSIX shell",
    "recipes that one shell runs",
    "symbolic links",
    "drives of another machine",
];

fn check(file: &File, case: &Case) -> Result<(), Miss> {
    if let Some(needed) = file.needs.as_ref().or(case.needs.as_ref()) {
        assert!(NOT_ON_WINDOWS.contains(&needed.as_str()), "{needed}");
        if cfg!(windows) {
            return Err(Miss::LeftOut(needed.clone()));
        }
    }
    let temp = tempfile::tempdir().map_err(|e| e.to_string())?;
    let root = hookctl::files::real_path(temp.path()).map_err(|e| e.to_string())?;
    let shown = hookctl::files::portable_text(&root.to_string_lossy()).into_owned();
    let subst = |text: &str| text.replace("{{ROOT}}", &shown);
    let put = |name: &str, text: &str| {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, subst(text)).unwrap();
        system::set_mode(&path, if text.starts_with("#!") { 0o755 } else { 0o600 });
    };
    fs::create_dir_all(root.join("project/.git")).unwrap();
    put("home/.config/hookctl/config.toml", &file.rules);
    for (name, text) in [
        ("managed.toml", &file.managed),
        ("project/.hookctl.toml", &file.project),
        ("project/.hookctl.local.toml", &file.local),
    ] {
        if let Some(text) = text {
            put(name, text);
        }
    }
    for (name, text) in &file.files {
        put(name, text);
    }
    let mut unmade = Vec::new();
    for (name, target) in &file.links {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        match system::symlink(subst(target), path) {
            Err(_) if cfg!(windows) => unmade.push(name.as_str()),
            made => made.unwrap(),
        }
    }
    if names_any(case, &unmade) {
        return Err(Miss::LeftOut("symbolic links".into()));
    }
    for (name, target) in &file.hard {
        let path = root.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::hard_link(root.join(target), path).unwrap();
    }
    for (name, names) in &file.tars {
        fs::write(root.join(name), tar(names)).unwrap();
    }
    if !file.tracked.is_empty() {
        let project = root.join("project");
        fs::write(project.join(".git/index"), index::index(&project, &file.tracked)).unwrap();
    }
    let paths = Paths {
        home: root.join("home"),
        managed: root.join("managed.toml"),
        fleet: root.join("fleet.toml"),
        config: root.join("home/.config/hookctl"),
        state: root.join("state"),
    };
    if file.trusted {
        let mut store = trust::Store::default();
        for (layer, name) in
            [(Layer::Project, ".hookctl.toml"), (Layer::Local, ".hookctl.local.toml")]
        {
            let path = root.join("project").join(name);
            if let Some(source) = config::read_source(layer, path.clone(), None) {
                let entry = trust::approval_entry(
                    &root.join("project"),
                    &source.text,
                    &source.file,
                    String::new(),
                );
                store.files.insert(trust::file_key(&path).unwrap().into_owned(), entry);
            }
        }
        fs::create_dir_all(&paths.state).unwrap();
        fs::write(paths.trust(), serde_json::to_vec(&store).unwrap()).unwrap();
    }

    let payload = payload(case, &root, &subst);
    let bytes = serde_json::to_vec(&payload).unwrap();
    let agent = agent::detect_agent(&payload, None);
    let event = agent.parse(payload, None);
    let mut place = hook::session_place(&event, &paths);
    let project = windows::native_text(&root.join("project"));
    if place.project != project && case.cwd.is_none() {
        place.project = project;
    }
    let mut config = Config::load_for(&paths, &place, Some(event.kind));
    config.complete_place(&mut place);
    let situation = Situation::new((agent, event), place);
    if !file.shipped {
        config.without_shipped();
    }
    let judged = |config: &Config| {
        let world = JudgeContext {
            paths: &paths,
            stdin: &bytes,
            deadline: Instant::now() + Duration::from_secs(20),
            mode: Mode::Live,
            paused: case.paused,
            notifiers: &[],
        };
        judge::judge_event(&situation, config, &world)
    };
    let Situation { event, place, .. } = &situation;
    let mut judgement = judge::Judgement::default();
    for _ in 0..case.times {
        judgement = judged(&config);
    }
    // The first event left an index of each file with some rules: the second reads it and must say
    // the same.
    let acts = [Some(&file.rules), file.managed.as_ref(), file.project.as_ref()]
        .into_iter()
        .flatten()
        .any(|text| ["run", "hook", "notify", "env"].iter().any(|word| text.contains(word)));
    if !acts && case.times == 1 {
        let mut config = Config::load_for(&paths, place, Some(event.kind));
        if !file.shipped {
            config.without_shipped();
        }
        let again = judged(&config);
        if again.answer != judgement.answer || again.rule != judgement.rule {
            return Err(format!("with an index: {again:?}, without: {judgement:?}").into());
        }
    }
    let answer = &judgement.answer;
    let output = agent.render(event, answer);
    let call = Value::Object(event.raw.clone()).to_string();
    let mut wrong: Vec<String> = std::iter::once(&answer.reason)
        .chain(&answer.notice)
        .filter_map(|told| prose::hole(told, &call))
        .collect();
    let verdict = answer.verb.map_or("silent", |verb| verb.name());
    let holds = match case.verdict.strip_prefix("not ") {
        Some(other) => verdict != other,
        None => verdict == case.verdict,
    };
    if !holds {
        wrong.push(format!("verdict {verdict}, expected {}", case.verdict));
    }
    if let Some(rule) = &case.rule
        && judgement.rule != *rule
    {
        wrong.push(format!("rule {:?}, expected {rule:?}", judgement.rule));
    }
    let mut part = |what: &str, whole: &str, wanted: &Option<String>| {
        // `Makefile` is found as `makefile` where case does not count.
        let form = |text: &str| match cfg!(any(target_os = "macos", windows)) {
            true => text.to_lowercase(),
            false => text.to_string(),
        };
        if let Some(wanted) = wanted
            && !form(whole).contains(&form(&subst(wanted)))
        {
            wrong.push(format!("{what} {whole:?} lacks {wanted:?}"));
        }
    };
    part("reason", &answer.reason, &case.reason);
    part("context", &answer.context.join("\n"), &case.context);
    part("notice", &answer.notice.join("\n"), &case.notice);
    part(
        "response",
        &answer.response.as_ref().map(Value::to_string).unwrap_or_default(),
        &case.new_response,
    );
    if let Some(wanted) = &case.new_input {
        let wanted = to_json(&toml::Value::Table(wanted.clone()), &subst);
        let found = answer.input.clone().map_or(Value::Null, Value::Object);
        if found != wanted {
            wrong.push(format!("new input {found}, expected {wanted}"));
        }
    } else if answer.input.is_some() {
        wrong.push(format!("unexpected new input {:?}", answer.input));
    }
    if let Some(wanted) = &case.stdout
        && output.stdout != subst(wanted)
    {
        wrong.push(format!("stdout {:?}, expected {wanted:?}", output.stdout));
    }
    if let Some(without) = &case.without
        && output.stdout.contains(&subst(without))
    {
        wrong.push(format!("stdout {:?} holds {without:?}", output.stdout));
    }
    for (name, wanted) in &case.left {
        let found = fs::read_to_string(root.join(name)).unwrap_or_default();
        if wanted.is_empty() && root.join(name).exists() {
            wrong.push(format!("{name} exists"));
        } else if !found.contains(&subst(wanted)) {
            wrong.push(format!("{name} holds {found:?}, not {wanted:?}"));
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    let no_shell = |told: &String| told.contains("could not be started: program not found");
    let mut told = judgement.notes.iter().chain([&answer.reason]).chain(&answer.context);
    if cfg!(windows) && told.any(no_shell) {
        return Err(Miss::LeftOut("a POSIX shell".into()));
    }
    wrong.push(format!("rules: {:?}, notes: {:?}", judgement.spoke, judgement.notes));
    let effects: Vec<String> = situation
        .analysis
        .effects
        .iter()
        .map(|e| format!("{:?} {:?} {:?}", e.grade, e.word, e.path.as_ref().map(|p| &p.lexical)))
        .collect();
    wrong.push(format!("effects: {effects:?}"));
    Err(wrong.join("\n    ").into())
}

fn payload(case: &Case, root: &Path, subst: &dyn Fn(&str) -> String) -> Map<String, Value> {
    let project = root.join("project");
    let mut payload = json!({
        "session_id": "s-1",
        "transcript_path": root.join("home/.claude/t.jsonl"),
        "cwd": case.cwd.as_deref().map_or(project.to_string_lossy().into_owned(), subst),
        "hook_event_name": case.event,
    });
    let map = payload.as_object_mut().unwrap();
    let tool = case.tool.clone().or(case.command.as_ref().map(|_| "Bash".into()));
    if let Some(tool) = tool {
        map.insert("tool_name".into(), tool.into());
        let mut input = match &case.input {
            Some(input) => to_json(&toml::Value::Table(input.clone()), subst),
            None => json!({}),
        };
        if let Some(command) = &case.command {
            input["command"] = subst(command).into();
        }
        map.insert("tool_input".into(), input);
        map.insert("tool_use_id".into(), "toolu_1".into());
    }
    for (key, value) in &case.payload {
        map.insert(key.clone(), to_json(value, subst));
    }
    map.clone()
}

fn to_json(value: &toml::Value, subst: &dyn Fn(&str) -> String) -> Value {
    match value {
        toml::Value::String(text) => subst(text).into(),
        toml::Value::Integer(number) => (*number).into(),
        toml::Value::Float(number) => (*number).into(),
        toml::Value::Boolean(flag) => (*flag).into(),
        toml::Value::Datetime(time) => time.to_string().into(),
        toml::Value::Array(items) => items.iter().map(|item| to_json(item, subst)).collect(),
        toml::Value::Table(table) => Value::Object(
            table.iter().map(|(key, value)| (key.clone(), to_json(value, subst))).collect(),
        ),
    }
}

datatest_stable::harness! {
    { test = run, root = "tests/cases", pattern = r".*\.toml$" },
}
