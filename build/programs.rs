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
            assert!(all.insert(name.clone(), entry).is_none(), "{name} is described twice");
        }
    }
    let names = named_effects();
    let mut out = String::from(
        "/// Every named effect and its meaning.\npub static NAMES: &[(&str, &str)] = &[\n",
    );
    for (name, meaning) in &names {
        let _ = writeln!(out, "({name:?}, {meaning:?}),");
    }
    out.push_str("];\n/// Every program, sorted by name.\npub static PROGRAMS: &[Program] = &[\n");
    let mut specs = BTreeMap::new();
    for (name, own) in &all {
        let mut entry = own.clone();
        if let Some(Value::String(same)) = own.get("same") {
            let base = all.get(same).unwrap_or_else(|| panic!("[{name}] same = {same}?"));
            entry = base.clone();
            for (key, value) in own {
                if key != "same" {
                    entry.insert(key.clone(), value.clone());
                }
            }
        }
        if let Some(extra) = entry.remove("extra") {
            let list = entry.entry("options").or_insert_with(|| Value::Array(Vec::new()));
            if let (Value::Array(list), Value::Array(extra)) = (list, extra) {
                list.extend(extra);
            }
        }
        program(&mut out, name, &entry, &names, &mut specs);
    }
    out.push_str("];\n");
    let mut pool: Vec<(usize, &String)> = specs.iter().map(|(spec, at)| (*at, spec)).collect();
    pool.sort_unstable();
    let _ = writeln!(out, "static OPTIONS: [OptSpec; {}] = [", pool.len());
    for (_, spec) in pool {
        out.push_str(spec);
    }
    out.push_str("];\n");
    let dir = env::var("OUT_DIR").expect("OUT_DIR");
    fs::write(Path::new(&dir).join("programs.rs"), out).expect("OUT_DIR is writable");
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

fn program(
    out: &mut String,
    name: &str,
    entry: &Table,
    names: &BTreeMap<String, String>,
    specs: &mut BTreeMap<String, usize>,
) {
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
    let mut options = String::new();
    for line in list(entry, "options") {
        let option = row::option(line).unwrap_or_else(|why| fail(why));
        let spellings = option.names.join(" ");
        let (arity, kind) = match option.value {
            None => ("None", role("text")),
            Some((kind, false)) => ("Value", role(kind)),
            Some((kind, true)) => ("Optional", role(kind)),
        };
        let marks = option.marks.iter();
        let bits: Vec<String> =
            marks.map(|m| format!("mark::{}", m.to_uppercase().replace('-', "_"))).collect();
        let bits = if bits.is_empty() { "0".into() } else { bits.join("|") };
        let effect = match option.effect {
            Some(effect) => format!("Some(&{})", word(effect)),
            None => "None".into(),
        };
        let spec = format!(
            "OptSpec {{ names: {spellings:?}, arity: Arity::{arity}, role: {kind}, marks: {bits}, \
             effect: {effect} }},"
        );
        // Many programs have the same options: each is there once.
        let next = specs.len();
        let at = *specs.entry(spec).or_insert(next);
        let _ = write!(options, "&OPTIONS[{at}],");
    }
    let _ = writeln!(
        out,
        "Program {{ name: {name:?}, complete: {}, stop: {}, sub: {}, single: {}, assignments: {}, \
         neutral: {}, abbreviate: {}, operands_known: {known}, default: {:?}, special: {:?}, lang: {:?}, \
         effects: &[{effects}], before: &[{before}], repeat: {repeat}, last: {last}, options: &[{options}] }},",
        flag(entry, "complete"),
        flag(entry, "stop"),
        flag(entry, "sub"),
        flag(entry, "single"),
        flag(entry, "assignments"),
        flag(entry, "neutral"),
        flag(entry, "abbreviate"),
        text(entry, "default"),
        text(entry, "special"),
        text(entry, "lang"),
    );
}
