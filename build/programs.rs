//! Compiles `config/programs/*.toml` into one sorted static table: knowledge of programs costs
//! nothing at start-up. The format is described in `docs/programs.md`; every fault stops the build.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use toml::{Table, Value};

#[path = "phrases.rs"]
mod phrases;
#[path = "../src/effect/program/row.rs"]
mod row;

/// Reads the tables and writes `programs.rs` into OUT_DIR.
pub fn generate() {
    println!("cargo:rerun-if-changed=config/programs");
    println!("cargo:rerun-if-changed=build/programs.rs");
    println!("cargo:rerun-if-changed=build/phrases.rs");
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
    out.push_str("];\n");
    // What several programs share is stored once.
    let mut lists = Pool::default();
    let mut rows = Pool::default();
    let mut text = String::new();
    let mut index = String::new();
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
        // Programs of Windows have long options with one sign, in whatever letter case.
        if flag(&entry, "windows") || parent.is_some_and(|p| flag(p, "windows")) {
            entry.insert("windows".into(), Value::Boolean(true));
            entry.insert("single".into(), Value::Boolean(true));
        }
        let row = rows.place(program(&mut lists, name, &entry, &names));
        let _ = write!(index, "({}, {row}),", text.len());
        text.push_str(name);
    }
    let _ = writeln!(out, "/// The names of all programs, sorted, one behind the other.");
    let _ = writeln!(out, "static TEXT: &str = {text:?};");
    let _ = writeln!(out, "/// Where each name begins, and the program's row.");
    let _ = writeln!(out, "static INDEX: &[(u16, u16)] = &[{index}];");
    // Rows, then lists of options, one option a line.
    let packed = phrases::pack(&[rows.items(), lists.items()].concat());
    let mut ends = vec![0];
    for text in &packed.texts {
        ends.push(ends[ends.len() - 1] + text.len());
    }
    let _ = writeln!(out, "/// Where the lists of options begin among the packed texts.");
    let _ = writeln!(out, "const LISTS: usize = {};", rows.0.len());
    let _ = writeln!(out, "/// What is known of programs, packed: see `packed.rs`.");
    let _ = writeln!(out, "static PACKED: &[u8] = &{:?};", packed.texts.concat());
    let _ = writeln!(out, "/// Where each packed text begins, and the last one ends.");
    let _ = writeln!(out, "static STARTS: &[u32] = &{ends:?};");
    let _ = writeln!(out, "/// What packed texts are made of.");
    let _ = writeln!(out, "static DICTIONARY: &[u8] = b{:?};", packed.dictionary);
    let _ = writeln!(out, "/// No phrase is longer.");
    let _ = writeln!(out, "const LONGEST: usize = {};", phrases::LONGEST);
    let _ = writeln!(out, "/// Where each phrase begins in it, and its length.");
    let _ = writeln!(out, "static PHRASES: &[(u16, u8)] = &{:?};", packed.phrases);
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

/// Texts that are stored once.
#[derive(Default)]
struct Pool(BTreeMap<String, usize>);

impl Pool {
    fn place(&mut self, text: String) -> usize {
        let next = self.0.len();
        *self.0.entry(text).or_insert(next)
    }

    fn items(&self) -> Vec<&str> {
        let mut items = vec![""; self.0.len()];
        for (text, at) in &self.0 {
            items[*at] = text;
        }
        items
    }
}

/// One entry as a line of fields with tabs between: `src/effect/program/packed.rs` reads it.
fn program(
    lists: &mut Pool,
    name: &str,
    entry: &Table,
    names: &BTreeMap<String, String>,
) -> String {
    let fail = |why: String| -> ! { panic!("[{name}] {why}") };
    let known = |effect: &str| {
        if effect.contains('.') && !names.contains_key(effect) {
            fail(format!("{effect} does not stand in config/effects.toml"));
        }
    };
    let effects = list(entry, "effects");
    effects.iter().copied().for_each(known);
    let operands = list(entry, "operands");
    row::operands(&operands).unwrap_or_else(|why| fail(why));
    let mut verbs = String::new();
    for line in list(entry, "verbs") {
        let (words, effects) = row::verb(line).unwrap_or_else(|why| fail(why));
        effects.iter().copied().for_each(known);
        let _ = writeln!(verbs, "{words}|{}", effects.join(" "));
    }
    let options = list(entry, "options").into_iter().map(|line| {
        let option = row::option(line).unwrap_or_else(|why| fail(why));
        option.effect.into_iter().for_each(known);
        option
    });
    let options = row::pack(options);
    let flags: String =
        row::FLAGS.iter().map(|key| if flag(entry, key) { '1' } else { '0' }).collect();
    let fields = [
        &flags,
        text(entry, "family"),
        text(entry, "default"),
        text(entry, "special"),
        text(entry, "lang"),
        text(entry, "on-windows"),
        &effects.join(" "),
        // No list is not the same as an empty one.
        &if entry.contains_key("operands") { operands.join(" ") } else { "?".into() },
        &lists.place(options).to_string(),
        &verbs,
    ];
    fields.join("\t")
}
