//! Settings files of every hand: what install writes into them, and that undo gives them back.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hookctl::agent::claude::ENTRIES;
use hookctl::agent::wiring::Form;
use hookctl::agent::{self, AGENTS, Agent};
use hookctl::event::Kind;
use hookctl::json;
use hookctl::paths::Paths;
use hookctl::settings::edit::Doc;
use hookctl::settings::hooks::{self, Shaped, WantedEntries, WantedEvent};
use hookctl::settings::others::{self, Program};
use hookctl::settings::place::{self, SettingsFile};
use hookctl::settings::survey;
use hookctl::settings::{self, EditMode, EditOutcome, Error};
use proptest::prelude::*;

#[path = "common/system.rs"]
mod system;

const MODE: EditMode = EditMode { dry_run: false, may_loosen: true };

fn wanted(events: &[Kind]) -> WantedEntries {
    WantedEntries {
        command: "/usr/local/bin/hookctl".into(),
        agent: "claude",
        places: ["--config", "/home/é/c", "--state", "/home/é/s"].map(String::from).to_vec(),
        events: events
            .iter()
            .map(|kind| WantedEvent { name: kind.name(), kind: *kind, timeout: 60 })
            .collect(),
        off: Vec::new(),
        server: Vec::new(),
        fail_closed: Some(true),
        bridge: None,
    }
}

const EVENTS: &[Kind] =
    &[Kind::PreToolUse, Kind::PermissionRequest, Kind::PostToolUse, Kind::Stop, Kind::SessionEnd];

struct Place {
    _dir: tempfile::TempDir,
    paths: Paths,
    file: PathBuf,
}

impl Place {
    /// As Claude Code's file of the user.
    fn settings(&self) -> SettingsFile {
        SettingsFile {
            name: "user",
            file: self.file.clone(),
            agent: "claude",
            form: Form::Entries(&ENTRIES),
            own: false,
            event: None,
        }
    }
}

fn shaped(wanted: &WantedEntries) -> Shaped<'_> {
    Shaped { wanted, form: &ENTRIES }
}

fn place() -> Place {
    let dir = tempfile::tempdir().unwrap();
    let home = hookctl::files::real_path(dir.path()).unwrap();
    let paths = Paths::below_home(home.clone());
    Place { _dir: dir, paths, file: home.join(".claude/settings.json") }
}

fn put(file: &Path, text: &str) {
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(file, text).unwrap();
}

/// JSON as a text has it: literals raw, duplicate keys possible.
#[derive(Debug, Clone)]
enum Json {
    Raw(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// How a text is laid out.
#[derive(Debug, Clone)]
struct Layout {
    bom: bool,
    newline: &'static str,
    /// None = one line.
    indent: Option<&'static str>,
    colon: &'static str,
    comma: &'static str,
    end: &'static str,
    /// White space inside empty containers.
    hollow: &'static str,
}

fn layout() -> impl Strategy<Value = Layout> {
    (
        any::<bool>(),
        prop::sample::select(vec!["\n", "\r\n"]),
        prop::sample::select(vec![Some("  "), Some("    "), Some("\t"), Some(""), None, None]),
        prop::sample::select(vec![":", ": ", " : ", ":\t"]),
        prop::sample::select(vec![",", ", ", " , "]),
        prop::sample::select(vec!["", "\n", "\r\n", "\n\n", "  "]),
        prop::sample::select(vec!["", "", " ", "\n  "]),
    )
        .prop_map(|(bom, newline, indent, colon, comma, end, hollow)| Layout {
            bom,
            newline,
            indent,
            colon,
            comma,
            end,
            hollow,
        })
}

fn render(json: &Json, layout: &Layout) -> String {
    let mut text = String::new();
    if layout.bom {
        text.push('\u{feff}');
    }
    node(json, layout, 0, &mut text);
    text + layout.end
}

fn node(json: &Json, layout: &Layout, depth: usize, text: &mut String) {
    let children: Vec<(Option<&str>, &Json)> = match json {
        Json::Raw(raw) => return text.push_str(raw),
        Json::List(items) => items.iter().map(|item| (None, item)).collect(),
        Json::Object(members) => {
            members.iter().map(|(key, value)| (Some(key.as_str()), value)).collect()
        }
    };
    let (open, close) = if matches!(json, Json::List(_)) { ('[', ']') } else { ('{', '}') };
    text.push(open);
    if children.is_empty() {
        text.push_str(layout.hollow);
    }
    let line = |depth: usize| match layout.indent {
        Some(indent) => format!("{}{}", layout.newline, indent.repeat(depth)),
        None => String::new(),
    };
    for (index, (key, value)) in children.iter().enumerate() {
        if index > 0 {
            text.push_str(if layout.indent.is_some() { "," } else { layout.comma });
        }
        text.push_str(&line(depth + 1));
        if let Some(key) = key {
            text.push_str(key);
            text.push_str(layout.colon);
        }
        node(value, layout, depth + 1, text);
    }
    if !children.is_empty() {
        text.push_str(&line(depth));
    }
    text.push(close);
}

fn raw(text: &str) -> Json {
    Json::Raw(text.to_string())
}

fn key() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        r#""model""#,
        r#""permissions""#,
        r#""env""#,
        r#""é😀""#,
        r#""a\u00e9\"b""#,
        r#""""#,
        r#""matcher""#,
        r#""x""#,
    ])
    .prop_map(String::from)
}

fn junk() -> impl Strategy<Value = Json> {
    let leaf = prop::sample::select(vec![
        "null",
        "true",
        "false",
        "0",
        "-1.5e+3",
        "1E5",
        r#""""#,
        r#""text""#,
        r#""é \\ \/ \n""#,
        r#""hooks""#,
        r#""日本語""#,
        r#""{[,]}:""#,
    ])
    .prop_map(raw);
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::List),
            prop::collection::vec((key(), inner), 0..4).prop_map(Json::Object),
        ]
    })
}

fn group() -> impl Strategy<Value = Json> {
    let entry = prop::sample::select(vec![
        r#"{"type":"command","command":"echo hookctl"}"#,
        r#"{ "type": "command", "command": "~/guard.sh", "timeout": 5.0 }"#,
        r#"{"type":"http","url":"https://x.org/","x-mark":1}"#,
        "{\"type\":\"command\",\n\t\"command\":\"x\",\"args\":[]}",
        r#"{"type":"command","command":"npx @principal-ai/agent-hooks claude-hook --port 3043"}"#,
        r#"{ "type" : "command", "command": "~/.cdev/hooks/permission.sh" }"#,
        r#"{"type":"command","command":"cupcake eval --harness claude"}"#,
    ])
    .prop_map(raw);
    let managed = prop::bool::weighted(0.2);
    let matcher = prop::option::of(prop::sample::select(vec![r#""Bash""#, r#""*""#, r#""""#]));
    (matcher, managed, prop::collection::vec(entry, 0..3)).prop_map(
        |(matcher, managed, entries)| {
            let mut members = Vec::new();
            members.extend(managed.then(|| (r#""_cdev_managed""#.to_string(), raw("true"))));
            members.extend(matcher.map(|matcher| (r#""matcher""#.to_string(), raw(matcher))));
            members.push((r#""hooks""#.to_string(), Json::List(entries)));
            Json::Object(members)
        },
    )
}

fn hooks_object() -> impl Strategy<Value = Json> {
    let event = prop::sample::select(vec![
        r#""PreToolUse""#,
        r#""Stop""#,
        r#""PostToolUse""#,
        r#""SessionStart""#,
        r#""Unheard""#,
    ])
    .prop_map(String::from);
    prop::collection::vec((event, prop::collection::vec(group(), 0..3)), 0..4).prop_map(|events| {
        Json::Object(events.into_iter().map(|(event, list)| (event, Json::List(list))).collect())
    })
}

fn settings_json() -> impl Strategy<Value = Json> {
    let hooks = hooks_object().prop_map(|hooks| (r#""hooks""#.to_string(), hooks));
    let member = prop_oneof![3 => (key(), junk()), 1 => hooks];
    prop::collection::vec(member, 0..5).prop_map(Json::Object)
}

/// Every program whose work hookctl can do.
fn programs() -> Vec<&'static Program> {
    others::known_programs().filter(|known| known.remote.is_some()).collect()
}

/// Installs in the place of all of them.
fn replace(place: &Place, events: &[Kind]) -> EditOutcome {
    let wanted = wanted(events);
    settings::replace_entries(&place.paths, &place.settings(), Some(&wanted), &programs(), MODE)
        .unwrap()
}

fn value(text: &str) -> serde_json::Value {
    serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
}

/// One thing that is done to a settings file.
#[derive(Debug, Clone)]
enum Step {
    /// The guard for these events, in the place of others or not.
    Install(Vec<Kind>, bool),
    /// The others out of a file that is not the guard's.
    Elsewhere,
    /// The bridge's hooks with that port.
    Enable(u16),
    Disable,
    Uninstall,
    /// By somebody else.
    Edit,
}

fn step() -> impl Strategy<Value = Step> {
    let events = prop::sample::subsequence(EVENTS, 1..=EVENTS.len());
    prop_oneof![
        3 => (events, any::<bool>()).prop_map(|(events, replace)| Step::Install(events, replace)),
        1 => Just(Step::Elsewhere),
        3 => (1u16..3).prop_map(Step::Enable),
        3 => Just(Step::Disable),
        1 => Just(Step::Uninstall),
        1 => Just(Step::Edit),
    ]
}

/// What `claude-hook --enable` wants.
fn bridge_wanted(port: u16) -> WantedEntries {
    let line = ["claude-hook".to_string(), "--port".to_string(), port.to_string()];
    WantedEntries {
        places: Vec::new(),
        fail_closed: None,
        bridge: Some(line.to_vec()),
        ..wanted(&[Kind::PreToolUse, Kind::Notification])
    }
}

/// What the client makes of a file's hooks: each entry with its event and its group's other keys, in any
/// order, for they run at once. And what else is in the file.
fn meaning(text: &str) -> (Vec<String>, serde_json::Value) {
    let mut value = value(text);
    let mut rows = Vec::new();
    let hooks = value.as_object_mut().and_then(|root| root.remove("hooks")).unwrap_or_default();
    for (event, groups) in hooks.as_object().into_iter().flatten() {
        for group in groups.as_array().unwrap() {
            let mut group = group.clone();
            let entries = group.as_object_mut().unwrap().remove("hooks").unwrap();
            for entry in entries.as_array().unwrap() {
                let mut group = group.clone();
                // What runs no command is not cdev's: its mark goes from it when cdev's part is taken out.
                if entry["type"].as_str().is_some_and(|kind| kind != "command") {
                    group.as_object_mut().unwrap().remove("_cdev_managed");
                }
                rows.push(format!("{event} {group} {entry}"));
            }
        }
    }
    rows.sort();
    (rows, value)
}

/// PROPTEST_CASES for a long run.
fn cases() -> u32 {
    std::env::var("PROPTEST_CASES").ok().and_then(|n| n.parse().ok()).unwrap_or(64)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases()) })]

    #[test]
    fn s0_22_s0_23_install_is_idempotent_and_uninstall_gives_the_bytes_back(
        json in settings_json(),
        layout in layout(),
    ) {
        let before = render(&json, &layout);
        let place = place();
        put(&place.file, &before);
        let wanted = wanted(EVENTS);

        let outcome = settings::install(&place.paths, &place.settings(), &wanted, MODE).unwrap();
        let written = fs::read_to_string(&place.file).unwrap();
        prop_assert_eq!(outcome.after.as_deref(), Some(written.as_str()));
        let read = settings::read_settings(&place.settings()).unwrap().unwrap();
        prop_assert_eq!(read.survey.own.iter().filter(|own| own.seen).count(), EVENTS.len());
        // The client parses it as serde_json does, and finds our entries.
        let value: serde_json::Value =
            serde_json::from_str(written.trim_start_matches('\u{feff}')).unwrap();
        for kind in EVENTS {
            prop_assert!(value["hooks"][kind.name()].to_string().contains("/bin/hookctl"));
        }

        let inode = system::file_number(&place.file);
        let again = settings::install(&place.paths, &place.settings(), &wanted, MODE).unwrap();
        prop_assert!(!again.has_changed() && again.changes.is_empty());
        prop_assert_eq!(system::file_number(&place.file), inode, "not even rewritten");

        settings::uninstall(&place.paths, &place.settings(), None, MODE).unwrap();
        prop_assert_eq!(fs::read_to_string(&place.file).unwrap(), before);
    }

    #[test]
    fn s0_24_taking_entries_out_one_by_one_leaves_every_other_byte(
        json in settings_json(),
        mut layout in layout(),
        prefix in any::<bool>(),
    ) {
        // What was inside an empty container that we filled cannot be known without the record.
        layout.hollow = "";
        let before = render(&json, &layout);
        let wanted = wanted(EVENTS);
        let mut doc = Doc::new(&before).unwrap();
        let created = hooks::created_by_install(&doc, &doc, shaped(&wanted));
        hooks::install_hooks(&mut doc, shaped(&wanted), &created).unwrap();

        // A foreign edit in between stays.
        let (mut now, mut want) = (doc.text(), before.clone());
        if prefix && !matches!(&json, Json::Object(members) if members.is_empty()) {
            now = now.replacen('{', "{ \"zz\":\t[1, 2 ] ,", 1);
            want = want.replacen('{', "{ \"zz\":\t[1, 2 ] ,", 1);
        }
        let mut doc = Doc::new(&now).unwrap();
        hooks::strip_hooks(&mut doc, hooks::Going::default(), Some(&created), &ENTRIES).unwrap();
        prop_assert_eq!(doc.text(), want);
    }

    #[test]
    fn s0_24_a_foreign_edit_between_install_and_uninstall_stays(
        json in settings_json(),
        layout in layout(),
    ) {
        let before = render(&json, &layout);
        let place = place();
        put(&place.file, &before);
        let wanted = wanted(EVENTS);
        settings::install(&place.paths, &place.settings(), &wanted, MODE).unwrap();
        let written = fs::read_to_string(&place.file).unwrap();
        let mut doc = Doc::new(&written).unwrap();
        doc.append(&[], Some("theirs"), &serde_json::json!({"deep": ["x"]})).unwrap();
        put(&place.file, &doc.text());
        settings::uninstall(&place.paths, &place.settings(), None, MODE).unwrap();

        let after = fs::read_to_string(&place.file).unwrap();
        let value = |text: &str| -> serde_json::Value {
            serde_json::from_str(text.trim_start_matches('\u{feff}')).unwrap()
        };
        let mut want = value(&before);
        want["theirs"] = serde_json::json!({"deep": ["x"]});
        prop_assert_eq!(value(&after), want);
    }

    #[test]
    fn s0_29_s3_57_what_was_replaced_comes_back(
        json in settings_json(),
        layout in layout(),
        steps in prop::collection::vec(
            (any::<bool>(), any::<bool>(), prop::sample::subsequence(EVENTS, 1..=EVENTS.len())),
            1..4,
        ),
    ) {
        let before = render(&json, &layout);
        let place = place();
        put(&place.file, &before);
        let mut want = meaning(&before);
        let mut edited = false;
        for (number, (all, edit, events)) in steps.iter().enumerate() {
            match *all || number == 0 {
                true => {
                    replace(&place, events);
                    let read = settings::read_settings(&place.settings()).unwrap().unwrap();
                    let left = read.survey.foreign.iter().filter_map(|foreign| foreign.known);
                    prop_assert!(left.into_iter().all(|known| known.remote.is_none()));
                    prop_assert!(!replace(&place, events).has_changed(), "twice is once");
                }
                false => {
                    let wanted = wanted(events);
                    settings::install(&place.paths, &place.settings(), &wanted, MODE).unwrap();
                }
            }
            if *edit {
                edited = true;
                let mut doc = Doc::new(&fs::read_to_string(&place.file).unwrap()).unwrap();
                let key = format!("theirs{number}");
                doc.append(&[], Some(&key), &serde_json::json!(["x"])).unwrap();
                put(&place.file, &doc.text());
                want.1[key] = serde_json::json!(["x"]);
            }
        }
        settings::uninstall(&place.paths, &place.settings(), None, MODE).unwrap();
        let after = fs::read_to_string(&place.file).unwrap();
        match edited {
            true => prop_assert_eq!(meaning(&after), want),
            false => prop_assert_eq!(after, before),
        }
    }

    #[test]
    fn s0_22_s3_57_commands_in_any_order_keep_what_is_not_ours(
        json in settings_json(),
        layout in layout(),
        steps in prop::collection::vec(step(), 1..8),
    ) {
        let before = render(&json, &layout);
        let place = place();
        put(&place.file, &before);
        let programs = programs();
        let name = |known: &Program| programs.iter().any(|one| one.name == known.name);
        let known = |text: &str| {
            let found = survey::survey_hooks(&Doc::new(text).unwrap(), &ENTRIES).foreign;
            found.into_iter().filter(|one| one.known.is_some_and(name)).count()
        };
        let (mut guard, mut bridge, mut replaced, mut edited) = (0, 0, false, 0);
        let mut want = meaning(&before);
        for step in steps {
            let key = format!("theirs{edited}");
            let run = || match &step {
                Step::Install(events, replace) => {
                    let (wanted, take) = (wanted(events), if *replace { &programs[..] } else { &[] });
                    settings::replace_entries(&place.paths, &place.settings(), Some(&wanted), take, MODE)
                }
                Step::Elsewhere => {
                    settings::replace_entries(&place.paths, &place.settings(), None, &programs, MODE)
                }
                Step::Enable(port) => {
                    let wanted = bridge_wanted(*port);
                    settings::install(&place.paths, &place.settings(), &wanted, MODE)
                }
                Step::Disable => {
                    let role = Some(survey::Role::Bridge);
                    settings::uninstall(&place.paths, &place.settings(), role, MODE)
                }
                Step::Uninstall => settings::uninstall(&place.paths, &place.settings(), None, MODE),
                Step::Edit => {
                    let mut doc = Doc::new(&fs::read_to_string(&place.file).unwrap()).unwrap();
                    let value = serde_json::json!(["x"]);
                    doc.append(&[], Some(&key), &value).unwrap();
                    put(&place.file, &doc.text());
                    settings::uninstall(&place.paths, &place.settings(), None, EditMode { dry_run: true, ..MODE })
                }
            };
            run().unwrap();
            match &step {
                Step::Install(events, replace) => {
                    (guard, replaced) = (events.len(), replaced || *replace);
                }
                Step::Elsewhere => replaced = true,
                Step::Enable(_) => bridge = 2,
                Step::Disable => bridge = 0,
                Step::Uninstall => (guard, bridge, replaced) = (0, 0, false),
                Step::Edit => {
                    want.1[&key] = serde_json::json!(["x"]);
                    edited += 1;
                }
            }
            let now = fs::read_to_string(&place.file).unwrap();
            let found = survey::survey_hooks(&Doc::new(&now).unwrap(), &ENTRIES);
            prop_assert_eq!((found.own.len(), found.bridge.len()), (guard, bridge), "{:?}", &step);
            prop_assert_eq!(known(&now), if replaced { 0 } else { known(&before) }, "{:?}", &step);
            if !matches!(step, Step::Edit) {
                prop_assert!(!run().unwrap().has_changed(), "twice is once: {:?}", &step);
            }
        }
        settings::uninstall(&place.paths, &place.settings(), None, MODE).unwrap();
        let after = fs::read_to_string(&place.file).unwrap();
        match edited {
            0 => prop_assert_eq!(after, before),
            _ => prop_assert_eq!(meaning(&after), want),
        }
        let records = settings::record::Records::load(&place.paths);
        prop_assert!(records.files.is_empty(), "{records:?}");
    }

    #[test]
    fn an_install_of_other_events_keeps_the_way_back(
        json in settings_json(),
        layout in layout(),
        first in prop::sample::subsequence(EVENTS, 1..=EVENTS.len()),
        second in prop::sample::subsequence(EVENTS, 1..=EVENTS.len()),
    ) {
        let before = render(&json, &layout);
        let place = place();
        put(&place.file, &before);
        for events in [&first, &second] {
            let wanted = wanted(events);
            settings::install(&place.paths, &place.settings(), &wanted, MODE).unwrap();
            let own = settings::read_settings(&place.settings()).unwrap().unwrap().survey.own;
            let mut names: Vec<&str> = own.iter().map(|own| own.event.as_str()).collect();
            names.sort_unstable();
            let mut want: Vec<&str> = events.iter().map(|kind| kind.name()).collect();
            want.sort_unstable();
            prop_assert_eq!(names, want);
        }
        settings::uninstall(&place.paths, &place.settings(), None, MODE).unwrap();
        prop_assert_eq!(fs::read_to_string(&place.file).unwrap(), before);
    }

    #[test]
    fn s0_23_uninstall_gives_every_agents_bytes_back(
        jsons in prop::collection::vec((settings_json(), layout(), any::<bool>()), AGENTS.len()),
        order in Just((0..AGENTS.len()).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let place = place();
        let home = place.paths.home.clone();
        let root = home.join("project");
        fs::create_dir_all(home.join(".kiro/agents")).unwrap();
        fs::write(home.join(".kiro/agents/mine.json"), "{}").unwrap();
        fs::write(home.join(".kiro/agents/other.json"), "{\"hooks\": {}}").unwrap();
        for (agent, (json, layout, comment)) in AGENTS.iter().zip(&jsons) {
            for file in user_files(*agent, &home, &root) {
                let Some(form) = file.form.entries().filter(|_| !file.own) else { continue };
                let text = render(json, layout);
                let names: Vec<&str> = agent.events().iter().map(|spec| spec.name).collect();
                let text = text
                    .replace("PreToolUse", names[0])
                    .replace("PostToolUse", names[1])
                    .replace("\"Stop\"", &format!("\"{}\"", names[names.len() - 1]));
                let text = match form.comments && *comment {
                    true => text.replacen('{', "{ // mine\n/* and */", 1),
                    false => text,
                };
                put(&file.file, &text);
            }
        }
        let before = tree(&home);
        for agent in AGENTS {
            let wanted = wanted_of(*agent);
            for file in user_files(*agent, &home, &root) {
                settings::install(&place.paths, &file, &wanted, MODE).unwrap();
                let read = settings::read_settings(&file).unwrap().unwrap();
                prop_assert!(!read.survey.own.is_empty(), "{}", file.file.display());
                let again = settings::install(&place.paths, &file, &wanted, MODE).unwrap();
                prop_assert!(!again.has_changed(), "twice is once: {:?}", again.changes);
                prop_assert!(again.changes.is_empty(), "and says so: {:?}", again.changes);
            }
        }
        prop_assert!(tree(&home).len() > before.len());
        for at in order {
            for file in user_files(AGENTS[at], &home, &root) {
                settings::uninstall(&place.paths, &file, None, MODE).unwrap();
            }
        }
        prop_assert_eq!(tree(&home), before);
        prop_assert!(settings::record::Records::load(&place.paths).files.is_empty());
    }

    #[test]
    fn the_parser_is_as_strict_as_serde_json(
        json in settings_json(),
        layout in layout(),
        at in any::<prop::sample::Index>(),
        with in prop::sample::select(vec!["", "", ",", "}", "{", "]", "[", "\"", ":", "\\", "/", "//", "0", "-", ".", "\u{1}", "e", "\u{a0}"]),
    ) {
        let mut text = render(&json, &Layout { bom: false, ..layout });
        let chars: Vec<(usize, char)> = text.char_indices().collect();
        let (start, c) = chars[at.index(chars.len())];
        let end = if with.is_empty() { start + c.len_utf8() } else { start };
        text.replace_range(start..end, with);
        let theirs = serde_json::from_str::<serde_json::Value>(&text);
        let ours = json::parse(&text);
        prop_assert_eq!(ours.is_ok(), theirs.is_ok(), "{:?}", text);
        match (ours, theirs) {
            (Ok(node), Ok(value)) => prop_assert_eq!(node.to_value().to_string(), value.to_string()),
            (Err(fault), _) => {
                let (line, column) = fault.position(&text);
                prop_assert!(line >= 1 && column >= 1);
                prop_assert!(fault.render_for_people(Path::new("x"), &text).contains("^"));
            }
            _ => {}
        }
    }
}

#[test]
fn what_only_install_put_there_goes_with_it_however_it_is_written_now() {
    let place = place();
    let home = place.paths.home.clone();
    let root = home.join("project");
    for agent in AGENTS {
        for file in user_files(*agent, &home, &root) {
            let Some(form) = file.form.entries().filter(|form| !file.own && !form.top.is_empty())
            else {
                continue;
            };
            settings::install(&place.paths, &file, &wanted_of(*agent), MODE).unwrap();
            let written = fs::read_to_string(&file.file).unwrap();
            let value = serde_json::from_str::<serde_json::Value>(&written).unwrap();
            assert!(form.top.iter().all(|(key, _)| value.get(key).is_some()), "{written}");
            put(&file.file, &value.to_string());
            settings::uninstall(&place.paths, &file, None, MODE).unwrap();
            let left = fs::read_to_string(&file.file).unwrap_or_default();
            assert!(["", "{}"].contains(&left.trim()), "{}: {left}", file.file.display());
        }
    }
}

/// Every file below a directory but hookctl's own notes.
fn tree(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(dir).unwrap().flatten() {
        let path = entry.path();
        if path.ends_with(".local") {
            continue;
        }
        match path.is_dir() {
            true => found.extend(tree(&path)),
            false => drop(found.insert(path.clone(), fs::read(&path).unwrap())),
        }
    }
    found
}

/// The files that install writes for a user of that agent. VS Code's are Copilot's.
fn user_files(agent: &dyn Agent, home: &Path, root: &Path) -> Vec<SettingsFile> {
    let mut files = place::settings_files(agent, home, root, root);
    // A variable of this machine may name another directory.
    files.retain(|file| file.file.starts_with(home) && agent.id() != "vscode");
    place::files_to_write(&files, "user")
}

/// All that the agent can be wired for.
fn wanted_of(agent: &'static dyn Agent) -> WantedEntries {
    let mut events: Vec<WantedEvent> = Vec::new();
    for event in agent.events().iter().map(WantedEvent::of) {
        if events.iter().all(|other| other.name != event.name) {
            events.push(event);
        }
    }
    WantedEntries {
        command: "/opt/a b/hookctl".into(),
        agent: agent.id(),
        events,
        fail_closed: Some(false),
        ..wanted(&[])
    }
}

#[test]
fn removal_moves_no_hook_that_is_known_by_its_place() {
    let place = place();
    let codex = agent::by_id("codex").unwrap();
    let file = SettingsFile {
        file: place.paths.home.join("hooks.json"),
        agent: "codex",
        form: codex.wiring().unwrap().files[0].form,
        ..place.settings()
    };
    let theirs = r#"{"hooks":[{"type":"command","command":"theirs"}]}"#;
    settings::install(&place.paths, &file, &wanted_of(codex), MODE).unwrap();
    let mut doc = Doc::new(&fs::read_to_string(&file.file).unwrap()).unwrap();
    doc.append(&[0, 0], None, &serde_json::from_str(theirs).unwrap()).unwrap();
    put(&file.file, &doc.text());
    settings::uninstall(&place.paths, &file, None, MODE).unwrap();
    let after = value(&fs::read_to_string(&file.file).unwrap());
    let hooks = after["hooks"].as_object().unwrap();
    assert_eq!(hooks.len(), 1, "{after}");
    let list = hooks.values().next().unwrap();
    assert_eq!(list[0]["hooks"], serde_json::json!([]), "{after}");
    assert_eq!(list[1]["hooks"][0]["command"], "theirs", "{after}");
}

/// The examples of that directory.
fn inputs(dir: &str) -> Vec<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join(dir);
    let files = fs::read_dir(&dir).unwrap().flatten().map(|entry| entry.path());
    files.filter(|path| path.extension().is_some_and(|end| end == "in")).collect()
}

#[test]
fn the_examples_become_what_is_written_beside_them() {
    let inputs = inputs("tests/settings");
    for input in &inputs {
        let before = fs::read_to_string(input).unwrap();
        let mut doc = Doc::new(&before).unwrap();
        let wanted = wanted(&[Kind::PreToolUse, Kind::Stop]);
        let created = hooks::created_by_install(&doc, &doc, shaped(&wanted));
        hooks::install_hooks(&mut doc, shaped(&wanted), &created).unwrap();
        let output = input.with_extension("out");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&output, doc.text()).unwrap();
        }
        assert_eq!(doc.text(), fs::read_to_string(&output).unwrap(), "{}", input.display());
        hooks::strip_hooks(&mut doc, hooks::Going::default(), Some(&created), &ENTRIES).unwrap();
        assert_eq!(doc.text(), before, "{}", input.display());
    }
    assert!(inputs.len() >= 8, "{}", inputs.len());
}

#[test]
fn s0_29_s3_57_the_examples_of_other_programs_are_replaced_and_come_back() {
    let inputs = inputs("tests/settings/replace");
    for input in &inputs {
        let name = input.display();
        let before = fs::read_to_string(input).unwrap();
        let place = place();
        put(&place.file, &before);
        let outcome = replace(&place, &[Kind::PreToolUse, Kind::Stop]);
        let written = outcome.after.unwrap();
        let output = input.with_extension("out");
        if std::env::var_os("BLESS").is_some() {
            fs::write(&output, &written).unwrap();
        }
        assert_eq!(written, fs::read_to_string(&output).unwrap(), "{name}");
        let own = settings::read_settings(&place.settings()).unwrap().unwrap().survey.own;
        assert!(own.iter().all(|own| !own.command.contains(".cdev/hooks/")), "{name}");

        // To the byte where nobody wrote meanwhile; all of it where somebody did.
        let lodger = name.to_string().contains("own-lodger");
        settings::uninstall(&place.paths, &place.settings(), None, MODE).unwrap();
        let after = fs::read_to_string(&place.file).unwrap();
        if !lodger {
            assert_eq!(after, before, "{name}");
        }
        let bare = meaning(&after);
        assert!(!bare.0.iter().any(|row| row.contains("/hookctl\"")), "{name}: {bare:?}");
        replace(&place, &[Kind::PreToolUse, Kind::Stop]);
        put(&place.file, &format!("{} ", fs::read_to_string(&place.file).unwrap()));
        settings::uninstall(&place.paths, &place.settings(), None, MODE).unwrap();
        assert_eq!(meaning(&fs::read_to_string(&place.file).unwrap()), bare, "{name}");
    }
    assert!(inputs.len() >= 7, "{}", inputs.len());
}

#[test]
fn sx_10_a_file_that_changed_meanwhile_is_not_replaced() {
    let place = place();
    put(&place.file, "{\"theirs\": 1}");
    let target = settings::file::SettingsTarget::follow_links(&place.file).unwrap();
    let old = b"{}".as_slice();
    assert!(!settings::file::exchange_content(&target, Some(old), Some(b"{\"ours\": 1}")).unwrap());
    assert!(!settings::file::exchange_content(&target, Some(old), None).unwrap());
    assert!(!settings::file::exchange_content(&target, None, Some(b"{}")).unwrap());
    assert_eq!(fs::read_to_string(&place.file).unwrap(), "{\"theirs\": 1}");
    let left: Vec<_> = fs::read_dir(place.file.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "no temporary file stays: {left:?}");
}

#[test]
fn what_others_created_stays_even_when_empty() {
    let place = place();
    let before = "{\"hooks\": {\"Stop\": []}}";
    put(&place.file, before);
    settings::install(&place.paths, &place.settings(), &wanted(EVENTS), MODE).unwrap();
    let text = fs::read_to_string(&place.file).unwrap();
    put(&place.file, &format!("{text}\n"));
    settings::uninstall(&place.paths, &place.settings(), None, MODE).unwrap();
    assert_eq!(fs::read_to_string(&place.file).unwrap(), format!("{before}\n"));
}

#[test]
fn a_lost_record_does_not_keep_the_entries_in() {
    let place = place();
    put(&place.file, "{\n  \"model\": \"opus\"\n}\n");
    settings::install(&place.paths, &place.settings(), &wanted(EVENTS), MODE).unwrap();
    fs::remove_dir_all(&place.paths.state).unwrap();
    settings::uninstall(&place.paths, &place.settings(), None, MODE).unwrap();
    assert_eq!(fs::read_to_string(&place.file).unwrap(), "{\n  \"model\": \"opus\"\n}\n");
}

#[test]
fn what_may_not_loosen_does_not() {
    let place = place();
    put(&place.file, "{}");
    let strict = EditMode { dry_run: false, may_loosen: false };
    let install = |events: &[Kind]| {
        settings::install(&place.paths, &place.settings(), &wanted(events), strict)
    };
    install(&[Kind::Stop]).unwrap();
    install(EVENTS).unwrap();
    install(EVENTS).unwrap();
    let text = fs::read_to_string(&place.file).unwrap();
    assert!(matches!(install(&[Kind::Stop]), Err(Error::Loosens(_))));
    let mut open = wanted(EVENTS);
    open.fail_closed = Some(false);
    let opened = settings::install(&place.paths, &place.settings(), &open, strict);
    assert!(matches!(opened, Err(Error::Loosens(_))));
    let gone = settings::uninstall(&place.paths, &place.settings(), None, strict);
    assert!(matches!(gone, Err(Error::Loosens(_))));
    assert_eq!(fs::read_to_string(&place.file).unwrap(), text);
}
