//! Compiles `config/programs/*.toml` into one sorted static table: knowledge of programs costs
//! nothing at start-up. The format is described in `docs/programs.md`; every fault stops the build.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use toml::{Table, Value};

/// What an operand or an option's value can be; the same names as `table::Role`.
const ROLES: &[(&str, &str)] = &[
    ("text", "Text"),
    ("read", "Read"),
    ("read-tree", "ReadTree"),
    ("write", "Write"),
    ("write-into", "WriteInto"),
    ("edit", "Edit"),
    ("delete", "Delete"),
    ("delete-tree", "DeleteTree"),
    ("move", "Move"),
    ("target", "Target"),
    ("link-source", "LinkSource"),
    ("link-name", "LinkName"),
    ("permission", "Permission"),
    ("device", "Device"),
    ("host", "Host"),
    ("url", "Url"),
    ("remote-path", "RemotePath"),
    ("body", "Body"),
    ("upload", "Upload"),
    ("run", "Run"),
    ("program", "Program"),
    ("script", "Script"),
    ("code", "Code"),
    ("command", "Command"),
    ("joined", "Joined"),
    ("maybe-path", "MaybePath"),
];

/// What an option does besides taking a value; the same names as the `MARK_*` constants.
const MARKS: &[&str] = &[
    "tree",
    "dry",
    "unsafe",
    "inplace",
    "no-first",
    "target",
    "keep",
    "stdout",
    "script",
    "module",
    "link",
    "stdin",
    "send",
    "end",
    "clear",
    "chdir",
    "splits",
    "privilege",
    "spare",
    "only",
    "system",
];

const WORDS: &[(&str, &str)] = &[
    ("execute", "Execute"),
    ("read", "Read"),
    ("write", "Write"),
    ("delete", "Delete"),
    ("network", "Network"),
    ("send", "Send"),
    ("listen", "Listen"),
    ("process", "Process"),
    ("permission", "Permission"),
    ("privilege", "Privilege"),
    ("system", "System"),
    ("remote", "Remote"),
    ("code", "Code"),
];

const KEYS: &[&str] = &[
    "same",
    "complete",
    "options",
    "operands",
    "effects",
    "stop",
    "sub",
    "single",
    "assignments",
    "neutral",
    "default",
    "special",
    "lang",
    "abbreviate",
    "implies",
    "extra",
];

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
                assert!(KEYS.contains(&key.as_str()), "{}: [{name}] {key}?", file.display());
            }
            assert!(all.insert(name.clone(), entry).is_none(), "{name} is described twice");
        }
    }
    let mut out =
        String::from("/// Every program, sorted by name.\npub static PROGRAMS: &[Program] = &[\n");
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
        program(&mut out, name, &entry);
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

fn role(name: &str, place: &str) -> &'static str {
    ROLES
        .iter()
        .find(|(text, _)| *text == name)
        .unwrap_or_else(|| panic!("[{place}] no such role: {name}"))
        .1
}

fn program(out: &mut String, name: &str, entry: &Table) {
    let words = |key: &str| -> String {
        list(entry, key)
            .iter()
            .map(|word| {
                let found = WORDS.iter().find(|(text, _)| text == word);
                format!("Word::{},", found.unwrap_or_else(|| panic!("[{name}] {word}?")).1)
            })
            .collect()
    };
    let mut before = String::new();
    let mut repeat = "Role::Text".to_string();
    let mut last = "None".to_string();
    let mut starred = false;
    let operands = list(entry, "operands");
    let known = entry.contains_key("operands");
    for (i, item) in operands.iter().enumerate() {
        if let Some(item) = item.strip_suffix('*') {
            repeat = format!("Role::{}", role(item, name));
            starred = true;
        } else if starred {
            assert!(i + 1 == operands.len(), "[{name}] one role may follow the starred one");
            last = format!("Some(Role::{})", role(item, name));
        } else {
            let _ = write!(before, "Role::{},", role(item, name));
        }
    }
    let mut options = String::new();
    for line in list(entry, "options") {
        options.push_str(&option(line, name));
    }
    let _ = writeln!(
        out,
        "Program {{ name: {name:?}, complete: {}, stop: {}, sub: {}, single: {}, assignments: {}, \
         neutral: {}, abbreviate: {}, operands_known: {known}, default: {:?}, special: {:?}, lang: {:?}, \
         effects: &[{}], before: &[{before}], repeat: {repeat}, last: {last}, options: &[{options}] }},",
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
        words("effects"),
    );
}

/// One line: `-o --output <write> | mark mark`; `[role]` is an optional value.
fn option(line: &str, place: &str) -> String {
    let (head, marks) = line.split_once('|').unwrap_or((line, ""));
    let mut names = String::new();
    let mut arity = "None";
    let mut kind = "Text";
    for item in head.split_whitespace() {
        if let Some(inner) = item.strip_prefix('<').and_then(|i| i.strip_suffix('>')) {
            arity = "Value";
            kind = role(inner, place);
        } else if let Some(inner) = item.strip_prefix('[').and_then(|i| i.strip_suffix(']')) {
            arity = "Optional";
            kind = role(inner, place);
        } else {
            assert!(item.starts_with(['-', '+']), "[{place}] option {item}?");
            let _ = write!(names, "{item:?},");
        }
    }
    let mut bits = String::new();
    for mark in marks.split_whitespace() {
        assert!(MARKS.contains(&mark), "[{place}] mark {mark}?");
        let bar = if bits.is_empty() { "" } else { "|" };
        let _ = write!(bits, "{bar}mark::{}", mark.to_uppercase().replace('-', "_"));
    }
    if bits.is_empty() {
        bits.push('0');
    }
    format!(
        "OptSpec {{ names: &[{names}], arity: Arity::{arity}, role: Role::{kind}, marks: {bits} }},"
    )
}
