//! Compiles `config/programs/*.toml` into one sorted static table: knowledge of programs costs
//! nothing at start-up. The format is described in `docs/programs.md`; every fault stops the build.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use toml::{Table, Value};

#[path = "../src/effect/program/row.rs"]
mod row;

/// Reads the tables and writes `programs.rs` into OUT_DIR.
pub fn generate() {
    println!("cargo:rerun-if-changed=config/programs");
    println!("cargo:rerun-if-changed=build/programs.rs");
    let mut all: BTreeMap<String, Table> = BTreeMap::new();
    let mut files: Vec<_> = fs::read_dir("config/programs")
        .expect("config/programs")
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    files.sort();
    for file in &files {
        println!("cargo:rerun-if-changed={}", file.display());
        let text = fs::read_to_string(file).expect("a readable table");
        let table: Table =
            toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        for (name, value) in table {
            let Value::Table(entry) = value else { panic!("{}: {name}", file.display()) };
            for key in entry.keys() {
                assert!(row::KEYS.contains(&key.as_str()), "{}: [{name}] {key}?", file.display());
            }
            for name in spelled(&name) {
                assert!(all.insert(name.clone(), entry.clone()).is_none(), "{name} stands twice");
            }
        }
    }
    let names = named_effects();
    let mut out = String::from(
        "/// Every named effect and its meaning.\npub static NAMES: &[(&str, &str)] = &[\n",
    );
    for (name, meaning) in &names {
        let _ = writeln!(out, "({name:?}, {meaning:?}),");
    }
    out.push_str(
        "];\n/// Every program, sorted by name.\npub static PROGRAMS: &[(&str, &Program)] = &[\n",
    );
    // What several programs share is stored once.
    let mut shared = Shared::default();
    let mut rows = BTreeMap::new();
    for (name, own) in &all {
        let mut entry = whole(&all, own);
        if let Some(extra) = entry.remove("extra") {
            let list = entry.entry("options").or_insert_with(|| Value::Array(Vec::new()));
            if let (Value::Array(list), Value::Array(extra)) = (list, extra) {
                list.extend(extra);
            }
        }
        // What git reads of its options holds for its sub-commands.
        let parent = name.split_once(' ').and_then(|(parent, _)| all.get(parent));
        if parent.is_some_and(|p| flag(p, "abbreviate")) {
            entry.insert("abbreviate".into(), Value::Boolean(true));
        }
        let body = program(&mut shared, name, &entry, &names);
        let next = rows.len();
        let row = rows.entry(body).or_insert((next, name)).0;
        let _ = writeln!(out, "({name:?}, &ROW_{row}),");
    }
    out.push_str("];\n");
    for (body, (at, name)) in &rows {
        let _ = writeln!(out, "static ROW_{at}: Program = Program {{ name: {name:?}, {body} }};");
    }
    for (option, at) in &shared.options {
        let _ = writeln!(out, "static OPTION_{at}: OptSpec = OptSpec {{ {option} }};");
    }
    for (list, at) in &shared.lists {
        let _ = writeln!(out, "static OPTIONS_{at}: &[&OptSpec] = &[{list}];");
    }
    let dir = env::var("OUT_DIR").expect("OUT_DIR");
    fs::write(Path::new(&dir).join("programs.rs"), out).expect("OUT_DIR is writable");
}

/// `gh pr {list,view}` is a name for each.
fn spelled(name: &str) -> Vec<String> {
    let Some((before, rest)) = name.split_once('{') else { return vec![name.to_string()] };
    let (list, after) = rest.split_once('}').unwrap_or_else(|| panic!("[{name}] lacks a brace"));
    list.split(',').flat_map(|verb| spelled(&format!("{before}{verb}{after}"))).collect()
}

/// An entry with what it takes from others by `same`.
fn whole(all: &BTreeMap<String, Table>, own: &Table) -> Table {
    let Some(Value::String(same)) = own.get("same") else { return own.clone() };
    let base = all.get(same).unwrap_or_else(|| panic!("same = {same}?"));
    let mut entry = whole(all, base);
    // A program under another name has the other's sub-commands.
    if flag(&entry, "sub") && !own.contains_key("sub") && !entry.contains_key("family") {
        entry.insert("family".into(), Value::String(same.clone()));
    }
    if own.contains_key("options") {
        entry.remove("extra");
    }
    for (key, value) in own.iter().filter(|(key, _)| *key != "same") {
        match (entry.get_mut(key), value) {
            (Some(Value::Array(base)), Value::Array(more)) if key == "extra" => {
                base.extend(more.iter().cloned());
            }
            _ => drop(entry.insert(key.clone(), value.clone())),
        }
    }
    entry
}

fn flag(entry: &Table, key: &str) -> bool {
    entry.get(key).and_then(Value::as_bool).unwrap_or(false)
}

fn text<'a>(entry: &'a Table, key: &str) -> &'a str {
    entry.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(entry: &'a Table, key: &str) -> Vec<&'a str> {
    match entry.get(key) {
        Some(Value::Array(items)) => items.iter().filter_map(Value::as_str).collect(),
        Some(Value::String(one)) => vec![one.as_str()],
        _ => Vec::new(),
    }
}

/// The names of `config/effects.toml`, with what each means.
fn named_effects() -> BTreeMap<String, String> {
    let path = "config/effects.toml";
    println!("cargo:rerun-if-changed={path}");
    let text = fs::read_to_string(path).expect("config/effects.toml is part of the source");
    let table: Table = toml::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"));
    let mut names = BTreeMap::new();
    for (domain, entries) in &table {
        for (name, meaning) in entries.as_table().expect("a table of names") {
            let full = format!("{domain}.{name}");
            assert!(row::is_named_effect(&full), "{path}: {full}?");
            names.insert(full, meaning.as_str().expect("a meaning").to_string());
        }
    }
    names
}

/// `write-into` to `WriteInto`: a name that does not exist fails where the table is compiled.
fn camel(name: &str) -> String {
    name.split('-').map(|part| part[..1].to_uppercase() + &part[1..]).collect()
}

/// Options and lists of options by their text: rows that say the same share one.
#[derive(Default)]
struct Shared {
    options: BTreeMap<String, usize>,
    lists: BTreeMap<String, usize>,
}

fn program(
    shared: &mut Shared,
    name: &str,
    entry: &Table,
    names: &BTreeMap<String, String>,
) -> String {
    let fail = |why: String| -> ! { panic!("[{name}] {why}") };
    let word = |word: &str| {
        if !word.contains('.') {
            return format!("Word::{}", camel(word));
        }
        if !names.contains_key(word) {
            fail(format!("{word} does not stand in config/effects.toml"));
        }
        format!("Word::Named({word:?})")
    };
    let role = |role: &str| format!("Role::{}", camel(role));
    let effects: String = list(entry, "effects").iter().map(|w| word(w) + ",").collect();
    let operands = row::operands(&list(entry, "operands")).unwrap_or_else(|why| fail(why));
    let before: String = operands.before.iter().map(|r| role(r) + ",").collect();
    let repeat = role(operands.repeat.unwrap_or("text"));
    let last = match operands.last {
        Some(last) => format!("Some({})", role(last)),
        None => "None".into(),
    };
    let known = entry.contains_key("operands");
    // The lines stay text, which is small; they are read when the program is called.
    let mut verbs = String::new();
    for line in list(entry, "verbs") {
        let (words, effects) = row::verb(line).unwrap_or_else(|why| fail(why));
        for effect in &effects {
            if effect.contains('.') && !names.contains_key(*effect) {
                fail(format!("{effect} does not stand in config/effects.toml"));
            }
        }
        let _ = writeln!(verbs, "{words}|{}", effects.join(" "));
    }
    // Options that differ in nothing but their names share one entry: `-a,--all -b`.
    let mut specs: Vec<(String, String)> = Vec::new();
    let mut seen = std::collections::BTreeSet::new();
    for line in list(entry, "options") {
        let option = row::option(line).unwrap_or_else(|why| fail(why));
        let (arity, kind) = match option.value {
            None => ("None", role("text")),
            Some((kind, false)) => ("Value", role(kind)),
            Some((kind, true)) => ("Optional", role(kind)),
        };
        let each = option.marks.contains(&"each");
        let marks = option.marks.iter().filter(|m| **m != "each");
        let bits: Vec<String> =
            marks.map(|m| format!("mark::{}", m.to_uppercase().replace('-', "_"))).collect();
        let bits = if bits.is_empty() { "0".into() } else { bits.join("|") };
        let effect = match option.effect {
            Some(effect) => format!("Some(&{})", word(effect)),
            None => "None".into(),
        };
        let rest = format!("arity: Arity::{arity}, role: {kind}, marks: {bits}, effect: {effect}");
        // Of a name that stands twice, the first counts.
        let mut own: Vec<String> = option.names.iter().map(|name| name.to_string()).collect();
        own.retain(|name| seen.insert(name.clone()));
        if own.is_empty() {
            continue;
        }
        let own = own.join(if each { " " } else { "," });
        match specs.iter_mut().find(|(_, other)| *other == rest) {
            Some((names, _)) => *names = format!("{names} {own}"),
            None => specs.push((own, rest)),
        }
    }
    let mut options = String::new();
    for (names, rest) in specs {
        let next = shared.options.len();
        let option = format!("names: {names:?}, {rest}");
        let at = shared.options.entry(option).or_insert(next);
        let _ = write!(options, "&OPTION_{at},");
    }
    let next = shared.lists.len();
    let options = shared.lists.entry(options).or_insert(next);
    format!(
        "complete: {}, stop: {}, sub: {}, single: {}, assignments: {}, \
         neutral: {}, abbreviate: {}, global: {}, free: {}, family: {:?}, verbs: {verbs:?}, operands_known: {known}, default: {:?}, special: {:?}, lang: {:?}, \
         effects: &[{effects}], before: &[{before}], repeat: {repeat}, last: {last}, options: OPTIONS_{options}",
        flag(entry, "complete"),
        flag(entry, "stop"),
        flag(entry, "sub"),
        flag(entry, "single"),
        flag(entry, "assignments"),
        flag(entry, "neutral"),
        flag(entry, "abbreviate"),
        flag(entry, "global"),
        flag(entry, "free"),
        text(entry, "family"),
        text(entry, "default"),
        text(entry, "special"),
        text(entry, "lang"),
    )
}
