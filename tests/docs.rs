//! The documentation says what the program does: the schema's keys and words are those of the
//! reader, its reference names every key, event, word and fault code, the tables are the
//! program's own.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use hookctl::agent::AGENTS;
use hookctl::agent::claude::Claude;
use hookctl::agent::wiring::{Scope, Wiring};
use hookctl::agent::{Agent as _, EventSpec};
use hookctl::dialect::{self, DIALECTS, Takes};
use hookctl::effect::program::{row, table};
use hookctl::event::Kind;
use hookctl::limits;
use hookctl::rule::Layer;
use hookctl::rule::case;
use hookctl::rule::condition::{self, KEYS, Sort, WHEN_KEYS, effect_words};
use hookctl::rule::file::{self, RULE_KEYS, TOP_KEYS, remote};
use hookctl::rule::template;
use serde_json::{Value, json};

#[path = "common/made.rs"]
mod made;
#[path = "docs/packs.rs"]
mod packs;
#[path = "../build/programs.rs"]
#[allow(dead_code, missing_docs, reason = "the build's own, of which its checks are tested")]
mod tables;
#[path = "../build/variables.rs"]
#[allow(dead_code, missing_docs, reason = "the build's own, of which its checks are tested")]
mod variables;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(name: &str) -> String {
    let path = root().join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// Every file below a directory of the repository.
fn files(dir: &str, ends: &[&str]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut open = vec![root().join(dir)];
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("a directory") {
            let path = entry.expect("entry").path();
            let end = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            // What an example server has installed beside itself is not ours.
            let foreign = path.ends_with(".venv") || path.ends_with("node_modules");
            if path.is_dir() && !foreign {
                open.push(path);
            } else if ends.contains(&end.as_str()) {
                found.push(path);
            }
        }
    }
    found
}

/// The pages that tell of the rule file.
const REFERENCE: &[&str] = &["rules", "scripts", "servers", "history", "limits"];

/// The reference of the rule file, all its pages.
fn reference() -> String {
    REFERENCE.iter().map(|name| read(&format!("docs/{name}.md"))).collect()
}

/// README.md and all pages of the book, by their names.
fn pages() -> Vec<(String, String)> {
    let mut all = vec![root().join("README.md")];
    all.extend(files("docs", &["md"]));
    let own = |path: &PathBuf| path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
    all.iter().map(|path| (own(path), fs::read_to_string(path).expect("a page"))).collect()
}

fn schema() -> Value {
    serde_json::from_str(&read("config/schema.json")).expect("config/schema.json is JSON")
}

type Keys<'a> = Vec<&'a (&'static str, &'static str)>;

/// The object's properties are exactly these keys, described as the reader describes them.
#[track_caller]
fn same_keys(place: &Value, keys: Keys<'_>) {
    assert_eq!(place["additionalProperties"], Value::Bool(false), "the reader is strict");
    let properties = place["properties"].as_object().expect("properties");
    let found: BTreeSet<&str> = properties.keys().map(String::as_str).collect();
    let wanted: BTreeSet<&str> = keys.iter().map(|(key, _)| *key).collect();
    assert_eq!(found, wanted);
    for (key, meaning) in keys {
        assert_eq!(properties[*key]["description"], *meaning, "{key}");
    }
}

fn words(schema: &Value) -> BTreeSet<&str> {
    schema["enum"].as_array().expect("an enum").iter().filter_map(Value::as_str).collect()
}

fn described(keys: &[condition::Key]) -> Vec<(&'static str, &'static str)> {
    keys.iter().map(|key| (key.name, key.doc)).collect()
}

/// A key of conditions as a property of the schema.
fn property(key: &condition::Key) -> Value {
    let definition = match key.sort {
        Sort::Flag => return json!({ "description": key.doc, "type": "boolean" }),
        Sort::Ways => {
            let one_of = json!([{ "type": "boolean" }, { "$ref": "#/definitions/strings" }]);
            return json!({ "description": key.doc, "anyOf": one_of });
        }
        Sort::Names | Sort::Paths | Sort::Patterns => "strings",
        Sort::Words => "effects",
        Sort::Fields => "fieldTests",
        Sort::Circumstances => "when",
        Sort::Command => "command",
        Sort::Marks => "marks",
    };
    let place = format!("#/definitions/{definition}");
    json!({ "description": key.doc, "allOf": [{ "$ref": place }] })
}

#[test]
fn the_schema_has_the_readers_keys_and_words() {
    let schema = schema();
    let definitions = &schema["definitions"];
    same_keys(&schema, TOP_KEYS.iter().collect());
    let (conditions, when) = (described(KEYS), described(WHEN_KEYS));
    same_keys(&definitions["rule"], RULE_KEYS.iter().chain(&conditions).collect());
    same_keys(&definitions["conditions"], conditions.iter().collect());
    same_keys(&definitions["when"], when.iter().collect());
    let remote: Vec<_> = remote::remote_keys().collect();
    same_keys(&definitions["remote"], remote.iter().collect());
    same_keys(&definitions["test"], case::KEYS.iter().collect());
    let events: BTreeSet<&str> = Kind::ALL.iter().map(|kind| kind.name()).chain(["*"]).collect();
    assert_eq!(words(&definitions["event"]), events);
    let closed = effect_words().filter(|word| !word.contains('.')).collect();
    assert_eq!(words(&definitions["word"]), closed);
    let entry = definitions["program"]["properties"].as_object().expect("properties");
    let keys: BTreeSet<&str> = entry.keys().map(String::as_str).collect();
    let own = row::KEYS.iter().copied().filter(|key| !row::SHIPPED.contains(key));
    assert_eq!(keys, own.collect());
}

/// What a protocol's own key takes, as the schema has it.
fn schema_of(key: &dialect::SettingKey) -> Value {
    let mut out = json!({ "description": key.doc });
    match key.takes {
        Takes::Flag(_) => out["type"] = "boolean".into(),
        Takes::Word(words) => out["enum"] = json!(words),
        Takes::Path => out["type"] = "string".into(),
        Takes::Form(_) => out["type"] = json!(["string", "object"]),
    }
    out
}

/// What the schema says of conditions, of protocols and of their own keys is made from their entries.
#[test]
fn the_schema_has_each_condition_and_dialect() {
    let mut schema = schema();
    for (place, keys) in [("rule", KEYS), ("conditions", KEYS), ("when", WHEN_KEYS)] {
        let properties = &mut schema["definitions"][place]["properties"];
        for key in keys {
            properties[key.name] = property(key);
        }
    }
    let place = &mut schema["definitions"]["remote"]["properties"];
    place["dialect"]["enum"] = dialect::dialect_names().map(|(name, _)| name).collect();
    for key in DIALECTS.iter().flat_map(|one| one.facts().keys) {
        place[key.name] = schema_of(key);
    }
    let wanted = serde_json::to_string_pretty(&schema).expect("JSON") + "\n";
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(root().join("config/schema.json"), &wanted).expect("the schema can be written");
    }
    let same = read("config/schema.json") == wanted;
    assert!(same, "config/schema.json is out of date: UPDATE_DOCS=1 cargo test --test docs");
}

/// Every `$ref` of the schema leads somewhere, and no definition is left over.
#[test]
fn the_schema_holds_together() {
    fn refs(value: &Value, out: &mut BTreeSet<String>) {
        match value {
            Value::Object(map) => {
                if let Some(target) = map.get("$ref").and_then(Value::as_str) {
                    out.insert(target.trim_start_matches("#/definitions/").to_string());
                }
                map.values().for_each(|value| refs(value, out));
            }
            Value::Array(items) => items.iter().for_each(|value| refs(value, out)),
            _ => {}
        }
    }
    let schema = schema();
    let mut used = BTreeSet::new();
    refs(&schema, &mut used);
    let defined: BTreeSet<String> =
        schema["definitions"].as_object().expect("definitions").keys().cloned().collect();
    assert_eq!(used, defined);
}

/// The codes that the reader of rule files gives its faults.
fn fault_codes() -> BTreeSet<String> {
    let calls = [
        r#"(?:\.|\b)(?:add_error|add_warning)\(\s*"([a-z]+(?:-[a-z]+)*)","#,
        r#"(?:read_each|read_patterns)\(value, "([a-z-]+)""#,
    ];
    let mut codes = BTreeSet::new();
    for path in files("src/rule", &["rs"]) {
        let text = fs::read_to_string(path).expect("source");
        for call in calls {
            let regex = regex_lite::Regex::new(call).expect("a regex");
            codes.extend(regex.captures_iter(&text).map(|found| found[1].to_string()));
        }
    }
    codes
}

#[test]
fn the_reference_of_rules_is_complete() {
    let text = reference();
    let mut missing = Vec::new();
    let mut named = |what: &str, word: &str| {
        if !text.contains(&format!("`{word}`")) {
            missing.push(format!("{what} `{word}`"));
        }
    };
    for (key, _) in RULE_KEYS.iter().chain(&described(KEYS)) {
        named("key", key);
    }
    for key in WHEN_KEYS {
        named("key of when", key.name);
    }
    for (key, _) in TOP_KEYS {
        named("top key", key);
    }
    for (key, _) in remote::remote_keys() {
        named("key of a server", key);
    }
    for (key, _) in case::KEYS {
        named("key of a test", key);
    }
    for kind in Kind::ALL {
        named("event", kind.name());
    }
    for word in effect_words().filter(|word| !word.contains('.')) {
        named("effect", word);
    }
    for name in template::NAMES {
        named("placeholder", &format!("{{{name}}}"));
    }
    for name in template::VARIABLES {
        named("variable", name);
    }
    let codes = fault_codes();
    assert!(codes.len() > 20, "the codes are not found any more: {codes:?}");
    for code in &codes {
        named("fault", code);
    }
    assert!(
        missing.is_empty(),
        "docs/ does not name, in its pages {REFERENCE:?}:\n{}",
        missing.join("\n")
    );
}

#[test]
fn the_reference_of_programs_is_complete() {
    let text = read("docs/programs.md");
    let mut missing: Vec<String> = table::NAMES
        .iter()
        .map(|(name, meaning)| format!("| `{name}` | {meaning} |"))
        .filter(|row| !text.contains(row))
        .collect();
    let roles = table::Role::ALL.iter().map(|(name, _)| *name);
    let marks = table::mark::ALL.iter().map(|(name, _)| *name);
    let languages = table::Language::ALL.iter().map(|(name, _)| *name);
    let classes = table::Class::ALL.iter().map(|(name, _)| *name);
    let words = roles.chain(marks).chain(languages).chain(classes).chain(row::KEYS.iter().copied());
    missing.extend(words.map(|word| format!("`{word}`")).filter(|word| !text.contains(word)));
    assert!(missing.is_empty(), "docs/programs.md does not name:\n{}", missing.join("\n"));
}

/// A name that stands twice in a list of variables stops the build, and so does what is no list.
#[test]
fn the_build_refuses_lists_that_are_none() {
    assert!(variables::compile("a = 'X Y_* *_Z'\nb = 'X'").is_ok());
    for wrong in ["a = 'X Y X'", "a = '*_X *_X'", "a = 1"] {
        assert!(variables::compile(wrong).is_err(), "{wrong}");
    }
}

/// What is wrong with the rules in a text, but that they do nothing.
/// A misspelt word in a table stops the build, which says where, and what there is.
#[test]
fn the_build_refuses_words_that_there_are_not() {
    let check = |entry: &str| {
        let file = ("config/programs/x.toml".to_string(), format!("[pa]\n{entry}\n"));
        tables::compile(&[file], "[git]\npush = 'x'")
    };
    for sound in ["special = 'pager'", "effects = ['read', 'git.push']", "lang = 'sql'"] {
        check(sound).unwrap();
    }
    for (entry, word, known) in [
        ("special = 'pagr'", "special: `pagr`", "pager"),
        ("class = 'agnet'", "class: `agnet`", "agent"),
        ("lang = 'pyton'", "lang: `pyton`", "python"),
        ("operands = ['raed*']", "role: `raed`", "read-tree"),
        ("options = ['-a <raed>']", "role: `raed`", "read-tree"),
        ("options = ['-a | unsaef']", "mark: `unsaef`", "unsafe"),
        ("options = ['-a | git.psuh']", "effect: `git.psuh`", "network"),
        ("effects = ['netwrok']", "effect: `netwrok`", "network"),
        ("verbs = ['a | netwrok']", "effect: `netwrok`", "network"),
        ("optoins = []", "key: `optoins`", "options"),
        ("same = 'pb'", "program: `pb`", ""),
    ] {
        let fault = check(entry).expect_err(entry);
        let names = fault.starts_with(&format!("config/programs/x.toml: [pa] no such {word}"));
        assert!(names && fault.contains(known), "{entry}: {fault}");
    }
    check("verbs = ['x,experimental uninstall', 'a,b b,c']").unwrap();
    let fault = check("verbs = ['remove,env remove | read']").unwrap_err();
    assert!(fault.contains("names a word twice"), "{fault}");
}

fn faults(text: &str) -> Vec<String> {
    let rules = file::read_rules(text, Path::new("x.toml"), Layer::Managed, None).faults;
    let tests = case::read_cases(text, &root().join("examples/payloads")).faults;
    rules
        .iter()
        .chain(&tests)
        // A part of a rule is shown without the rest.
        .filter(|fault| !["no-effect", "no-condition"].contains(&fault.code))
        .map(|fault| fault.to_report("docs", text))
        .collect()
}

#[test]
fn every_rule_that_is_shown_is_free_of_faults() {
    let mut all = Vec::new();
    let mut blocks = 0;
    for (name, text) in pages() {
        for block in text.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()) {
            let headless = !block.contains("[rule.") && !block.contains("[[test]]");
            let found = faults(&format!("{}{block}", if headless { "[rule.x]\n" } else { "" }));
            all.extend(found.iter().map(|fault| format!("{name}: {fault}")));
            blocks += 1;
        }
    }
    // The examples between backquotes: a key of rules and its value.
    let text = reference().replace("\\|", "|");
    for code in text.split('`').skip(1).step_by(2) {
        let Some((key, _)) = code.split_once(" = ") else { continue };
        if !code.contains(" ... ")
            && RULE_KEYS.iter().chain(&described(KEYS)).any(|(known, _)| *known == key)
        {
            all.extend(faults(&format!("[rule.x]\n{code}\n")));
            blocks += 1;
        }
    }
    assert!(blocks > 30, "the examples are not found any more: {blocks}");
    assert!(all.is_empty(), "{}", all.join("\n"));
}

/// A row of a table of events.
fn row(spec: &EventSpec) -> String {
    let verbs: Vec<&str> = spec.verbs.iter().map(|verb| verb.name()).collect();
    let mut also = Vec::new();
    for (can, what) in
        [(spec.rewrite, "rewrite"), (spec.replace, "replace, redact"), (spec.context, "context")]
    {
        if can {
            also.push(what);
        }
    }
    also.extend(spec.holds_context.then_some("context, later"));
    let or_none = |list: Vec<&str>| {
        if list.is_empty() { "–".to_string() } else { list.join(", ") }
    };
    let default = if spec.by_default { "yes" } else { "" };
    let name = match spec.name == spec.kind.name() {
        true => spec.name.to_string(),
        false => format!("{} ({})", spec.name, spec.kind.name()),
    };
    format!("| {name} | {} | {} | {default} |", or_none(verbs), or_none(also))
}

/// Where the agent's settings are, a cell of a table.
fn settings_of(wiring: &Wiring) -> String {
    let mut all = Vec::new();
    for place in wiring.files.iter().filter(|place| place.scope != Scope::Managed) {
        let path = match (place.scope, wiring.directory.home) {
            (Scope::User, "") => format!("~/{}", place.path),
            (Scope::User, home) => format!("~/{home}/{}", place.path),
            _ => place.path.to_string(),
        };
        all.push(format!("`{}`", path.trim_end_matches('/')));
    }
    all.join(", ")
}

#[test]
fn the_table_of_agents_is_the_programs() {
    let mut text =
        String::from("| agent | `--agent` | before a tool | settings |\n|---|---|---|---|\n");
    for agent in AGENTS {
        let spec = agent.event_spec(Kind::PreToolUse).expect("a gate");
        let mut can: Vec<&str> = spec.verbs.iter().map(|verb| verb.name()).collect();
        can.extend(spec.rewrite.then_some("rewrite"));
        can.extend(spec.context.then_some("context"));
        can.extend(spec.holds_context.then_some("context, later"));
        let settings = agent.wiring().map(settings_of).unwrap_or_default();
        text.push_str(&format!(
            "| {} | `{}` | {} | {settings} |\n",
            agent.title(),
            agent.id(),
            can.join(", ")
        ));
    }
    made::check_part("docs/agents.md", "overview", &text);
}

#[test]
fn s3_45_the_guide_of_each_agent_is_the_programs() {
    let mut text = String::new();
    for agent in AGENTS {
        text.push_str(&format!("## {}\n\n`--agent {}`. ", agent.title(), agent.id()));
        if let Some(wiring) = agent.wiring() {
            text.push_str(&format!(
                "`hookctl install --agent {}` writes {}",
                agent.id(),
                settings_of(wiring)
            ));
            let moved =
                wiring.directory.variable.map(|name| format!(" (`{name}` moves the user's)"));
            text.push_str(&format!("{}.", moved.unwrap_or_default()));
            for reads in wiring.reads {
                let other = hookctl::agent::by_id(reads.agent).expect("an agent").title();
                let scopes: Vec<&str> = reads.scopes.iter().map(|scope| scope.name()).collect();
                text.push_str(&format!(
                    " It reads {other}'s {} settings too.",
                    scopes.join(" and ")
                ));
            }
            for note in wiring.notes {
                text.push_str(&format!(" {note}"));
            }
            if wiring.rereads == Some(false) {
                text.push_str(" It reads them when it starts: restart it after an install.");
            }
            if let Some(consent) = wiring.consent {
                text.push_str(&format!(
                    " Each hook has to be approved: {}; `--trust` gives it.",
                    consent.review
                ));
            }
        }
        text.push_str("\n\n| event | verdicts | also | default |\n|---|---|---|---|\n");
        for spec in agent.events() {
            text.push_str(&format!("{}\n", row(spec)));
        }
        text.push('\n');
    }
    made::check_part("docs/agents.md", "agents", &text);
}

#[test]
fn s3_20_the_book_says_what_each_event_can_do() {
    let text = read("docs/agents.md");
    assert_eq!(Claude.facts().events.len(), Kind::ALL.len());
    let missing: Vec<String> =
        Claude.facts().events.iter().map(row).filter(|row| !text.contains(row.as_str())).collect();
    assert!(missing.is_empty(), "docs/agents.md lacks these rows:\n{}", missing.join("\n"));
}

/// What is told to others holds no path of the machine that it was written on.
#[test]
fn nothing_names_the_machine_that_it_was_written_on() {
    let mut all = vec![root().join("README.md"), root().join("CHANGELOG.md")];
    for dir in ["docs", "examples", "config"] {
        all.extend(files(dir, &["md", "toml", "json", "sh"]));
    }
    for path in all {
        let text = fs::read_to_string(&path).expect("a text").replace("~/", "");
        for bad in ["/.cargo/registry", "/.rustup/"] {
            assert!(!text.contains(bad), "{} holds {bad}", path.display());
        }
    }
}

/// The names that the headings of a page have in links.
fn anchors(page: &str) -> BTreeSet<String> {
    let mut fenced = false;
    let mut found = BTreeSet::new();
    for line in page.lines() {
        fenced ^= line.starts_with("```");
        if let (false, Some(title)) = (fenced, line.trim_start_matches('#').strip_prefix(' ')) {
            let kept = |c: &char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
            let name: String = title.trim().to_lowercase().chars().filter(kept).collect();
            found.extend(line.starts_with('#').then(|| name.replace(' ', "-")));
        }
    }
    found
}

/// Every relative link of the documentation leads to a file, and to a heading where it names one.
#[test]
fn every_link_leads_somewhere() {
    let mut all = vec![root().join("README.md"), root().join("CHANGELOG.md")];
    for dir in ["docs", "examples"] {
        all.extend(files(dir, &["md"]));
    }
    for path in all {
        let text = fs::read_to_string(&path).expect("a text");
        let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
        for target in targets {
            let (file, anchor) = target.split_once('#').unwrap_or((target, ""));
            if target.contains("://") || target.contains(' ') {
                continue;
            }
            let to = match file {
                "" => path.clone(),
                _ => path.parent().expect("a directory").join(file),
            };
            assert!(to.exists(), "{}: {target} leads nowhere", path.display());
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(&to).expect("a page"));
                assert!(there.contains(anchor), "{}: no heading for {target}", path.display());
            }
        }
    }
}

#[test]
fn s3_45_the_readme_names_each_agent() {
    let readme = read("README.md");
    for agent in AGENTS {
        // "Cline with Claude Code's hooks" is Cline to whoever has two minutes.
        let name = agent.title().split(" with ").next().unwrap_or_default();
        assert!(readme.contains(name), "README.md does not speak of {name}");
    }
    assert!(readme.contains("hookctl install") && readme.contains("hookctl uninstall"));
}

#[test]
fn s3_58_the_limits_of_commands_are_documented() {
    let rules = read("docs/scripts.md");
    for word in ["bwrap", "env -i", "process group", "256 KiB"] {
        assert!(rules.contains(word), "docs/scripts.md does not speak of {word}");
    }
}

/// A number of bytes or of anything else, for people.
fn shown(what: &str, most: u64) -> String {
    match most {
        _ if !what.starts_with("bytes") || !most.is_multiple_of(1024) => {
            limits::group_thousands(most)
        }
        _ if most.is_multiple_of(1 << 20) => format!("{} MiB", most >> 20),
        _ => format!("{} KiB", most >> 10),
    }
}

#[test]
fn the_table_of_limits_is_the_programs() {
    const START: &str =
        "<!-- made from src/limits.rs by `UPDATE_DOCS=1 cargo test --test docs` -->\n";
    const END: &str = "<!-- end -->";
    let mut table = "| what | limit | beyond it |\n|---|---|---|\n".to_string();
    for (what, most, beyond) in limits::limits_table() {
        let (what, beyond) = (what.trim(), beyond.trim());
        writeln!(table, "| {what} | {} | {beyond} |", shown(what, most)).unwrap();
    }
    let rules = read("docs/limits.md");
    let at = rules.find(START).expect("the table's start") + START.len();
    let end = at + rules[at..].find(END).expect("the table's end");
    if std::env::var_os("UPDATE_DOCS").is_some() {
        let whole = [&rules[..at], &table, &rules[end..]].concat();
        fs::write(root().join("docs/limits.md"), whole).expect("docs/limits.md");
    } else {
        let same = rules[at..end] == table;
        assert!(same, "docs/limits.md is out of date: UPDATE_DOCS=1 cargo test --test docs");
    }
}

#[test]
fn s3_59_ci_runs_unit_process_and_client_tests() {
    let ci = read(".ci/run");
    for word in ["cargo test", "tests/e2e", "cargo llvm-cov"] {
        assert!(ci.contains(word), ".ci/run lacks {word}");
    }
}

/// A module's way from the crate's root.
type Way = Vec<String>;

/// The ways that a tree of `use` names, from its first word on: `a::{b, c::d}`.
fn tree(text: &str, from: &[String], out: &mut Vec<Way>) {
    let text = text.trim();
    let (word, rest) = text.split_once("::").unwrap_or((text, ""));
    match text.strip_prefix('{') {
        Some(list) => {
            let mut depth = 0;
            for part in list.split(|c: char| {
                depth += i32::from(c == '{') - i32::from(c == '}');
                depth < 0 || depth == 0 && c == ','
            }) {
                tree(part, from, out);
            }
        }
        None if text.is_empty() => {}
        None if text.starts_with('*') => out.push(from.to_vec()),
        None => {
            let name = word.split(" as ").next().unwrap_or_default().trim();
            let way = [from, &[name.to_string()][..]].concat();
            if rest.is_empty() { out.push(way) } else { tree(rest, &way, out) }
        }
    }
}

/// The end of the tree of `use`, or of the path in code, that the text begins with.
fn end(text: &str) -> usize {
    let mut depth = 0;
    let inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == ':';
    let stop = |c: char| {
        depth += i32::from(c == '{') - i32::from(c == '}');
        depth < 0 || depth == 0 && c != '}' && !inner(c)
    };
    text.find(stop).unwrap_or(text.len())
}

/// The modules of the crate, each with the ways that its text names, and the names that it hands on.
struct Tree {
    named: BTreeMap<Way, BTreeSet<Way>>,
    handed_on: BTreeMap<(Way, String), Way>,
}

impl Tree {
    fn new(sources: &[(Way, String)]) -> Tree {
        let modules: BTreeSet<&Way> = sources.iter().map(|(way, _)| way).collect();
        let mut tree = Tree { named: BTreeMap::new(), handed_on: BTreeMap::new() };
        for (own, text) in sources {
            let lines = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            let code: String = lines.flat_map(|line| [line, "\n"]).collect();
            let mut at = 0;
            while let Some(next) = code[at..].find("::").map(|found| at + found) {
                let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let start = code[..next].rfind(|c| !word(c)).map_or(0, |start| start + 1);
                let first = &code[start..next];
                let child = [&own[..], &[first.to_string()][..]].concat();
                // What stands behind another name, or names a type, is no way of its own.
                let known = matches!(first, "crate" | "super" | "self") || modules.contains(&child);
                if !known || code[..start].ends_with("::") {
                    at = next + 2;
                    continue;
                }
                at = start + end(&code[start..]).max(first.len() + 2);
                let mut ways = Vec::new();
                self::tree(&code[start..at], &[], &mut ways);
                let public = code[..start].ends_with("pub use ");
                for way in ways {
                    let way = absolute(own, &way);
                    if public && let Some(name) = way.last() {
                        tree.handed_on.insert((own.clone(), name.clone()), way.clone());
                    }
                    tree.named.entry(own.clone()).or_default().insert(way);
                }
            }
            tree.named.entry(own.clone()).or_default();
        }
        tree
    }

    /// The module that a way leads to, through what others hand on.
    fn module(&self, way: &[String]) -> Way {
        let mut way = way.to_vec();
        for _ in 0..8 {
            let long = (0..=way.len()).rev().find(|n| self.named.contains_key(&way[..*n]));
            let long = long.unwrap_or_default();
            let Some(name) = way.get(long) else { break };
            match self.handed_on.get(&(way[..long].to_vec(), name.clone())) {
                Some(other) if *other != way => {
                    way = [&other[..], &way[long + 1..]].concat();
                }
                _ => return way[..long].to_vec(),
            }
        }
        way
    }
}

/// A way as it is from the crate's root.
fn absolute(own: &[String], way: &[String]) -> Way {
    let mut from = own.to_vec();
    for word in way {
        match &**word {
            "crate" => from.clear(),
            "super" => drop(from.pop()),
            "self" => {}
            _ => from.push(word.clone()),
        }
    }
    from
}

/// A module, without what it only tests: its way, and its text.
fn module_of(path: &Path) -> (Way, String) {
    let inside = path.strip_prefix(root().join("src")).unwrap().with_extension("");
    let way: Way = inside.iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    (way, flattened(text))
}

/// What stands in a module of the same file belongs to the file.
fn flattened(text: &str) -> String {
    let mut inner: Option<usize> = None;
    let mut flat = String::new();
    for line in text.lines() {
        let indent = line.len() - line.trim_start().len();
        let (start, end) = (line.trim_start(), line.ends_with('{'));
        if inner == Some(indent) && start == "}" {
            inner = None;
        } else if inner.is_none()
            && end
            && (start.starts_with("mod ") || start.contains("pub mod "))
        {
            inner = Some(indent);
        }
        let line =
            if inner.is_some() { line.replacen("super::", "self::", 1) } else { line.into() };
        flat.push_str(&line);
        flat.push('\n');
    }
    flat
}

/// The layers of a list in the documentation, each with the ways of its modules.
fn layers(list: &str) -> Vec<BTreeSet<Way>> {
    let way = |name: &str| name.split("::").map(String::from).collect();
    list.lines()
        .filter(|line| line.starts_with(|c: char| c.is_ascii_digit()))
        .map(|line| line.split('`').skip(1).step_by(2).map(way).collect())
        .collect()
}

/// What modules below `base` use though it does not stand above them.
fn against_layers(tree: &Tree, base: &[String], layers: &[BTreeSet<Way>]) -> Vec<String> {
    // The longest way that a layer names.
    let place = |way: &[String]| {
        let below = way.strip_prefix(base)?;
        (1..=below.len()).rev().find_map(|n| {
            let at = layers.iter().position(|layer| layer.contains(&below[..n]))?;
            Some((at, below[..n].to_vec()))
        })
    };
    let mut wrong = Vec::new();
    for (own, named) in &tree.named {
        if !own.starts_with(base) || own == base || own.iter().any(|part| part == "lib") {
            continue;
        }
        let Some((layer, name)) = place(own) else {
            wrong.push(format!("{} stands in no layer", own.join("::")));
            continue;
        };
        for way in named {
            let module = tree.module(way);
            match place(&module) {
                Some((other, module)) if module != name && other >= layer => {
                    wrong.push(format!("{} uses {}", own.join("::"), module.join("::")));
                }
                None if !base.is_empty() && module == base => {
                    wrong.push(format!("{} uses {}", own.join("::"), way.join("::")));
                }
                _ => {}
            }
        }
    }
    wrong
}

#[test]
fn modules_use_only_layers_above_them() {
    let way = |text: &str| -> Way { text.split("::").map(String::from).collect() };
    let source = |name: &str, text: &str| (way(name), text.to_string());
    let tree = Tree::new(&[
        source("a", "pub use b::{C, d::E};\nuse crate::{f, g::{self, h}};\n// crate::i"),
        source("a::b", "x(super::super::j::k); super::E; Y::z; crate::g::h::C"),
        source("a::b::d", ""),
        source("f", ""),
        source("g", ""),
        source("j", ""),
    ]);
    let used = |name: &str| -> Vec<String> {
        tree.named[&way(name)].iter().map(|way| tree.module(way).join("::")).collect()
    };
    assert_eq!(used("a"), ["a::b", "a::b::d", "f", "g", "g"]);
    assert_eq!(used("a::b"), ["a::b::d", "g", "j"]);
    let text = read("docs/architecture.md");
    let section = text.split("\n## Layers\n").nth(1).and_then(|text| text.split("\n## ").next());
    let (all, effect) = section
        .and_then(|section| section.split_once("\n### Inside `effect`\n"))
        .expect("the sections `Layers` and `Inside effect`");
    let (effect, serve) = effect.split_once("\n### Inside `serve`\n").expect("`Inside serve`");
    let (all, effect, serve) = (layers(all), layers(effect), layers(serve));
    let own = |path: &PathBuf| {
        let inside = path.strip_prefix(root().join("src")).unwrap();
        // The server is a crate of its own.
        !inside.ends_with("tests.rs")
            && !inside.iter().any(|part| part == "tests")
            && !inside.starts_with("serve")
    };
    let sources: Vec<_> =
        files("src", &["rs"]).iter().filter(|path| own(path)).map(|path| module_of(path)).collect();
    let tree = Tree::new(&sources);
    let mut wrong = against_layers(&tree, &[], &all);
    wrong.extend(against_layers(&tree, &way("effect"), &effect));
    let server: Vec<_> = files("src/serve", &["rs"]).iter().map(|path| module_of(path)).collect();
    let server: Vec<_> = server.into_iter().map(|(way, text)| (way[1..].to_vec(), text)).collect();
    wrong.extend(against_layers(&Tree::new(&server), &[], &serve));
    let mut longest =
        sources.iter().map(|(way, _)| way).filter(|way| way.ends_with(&["mod".into()]));
    assert_eq!(longest.next(), None, "x.rs beside x/, as everywhere, not x/mod.rs");
    assert!(
        all.len() > 8 && effect.len() > 8 && wrong.is_empty(),
        "{} and {} layers: {wrong:#?}",
        all.len(),
        effect.len()
    );
}
