//! Compiles `config/programs/*.toml` into one sorted static table: knowledge of programs costs
//! nothing at start-up. The format is described in `docs/programs.md`; every fault stops the build.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry::{Occupied, Vacant};
use std::fmt::Write as _;
use std::path::Path;
use std::{env, fs};

use toml::{Table, Value};

#[path = "phrases.rs"]
mod phrases;
#[path = "../src/effect/program/row.rs"]
#[allow(dead_code, reason = "the program reads what people write of their own programs")]
mod row;
#[path = "../src/effect/program/vocabulary.rs"]
#[allow(dead_code, reason = "the program reads what the build writes")]
mod vocabulary;
#[path = "../src/effect/word.rs"]
#[allow(dead_code, reason = "the build only asks whether there is such a word")]
mod word;

use vocabulary::{Class, Fault, Language, Special, mark};
use word::Word;

/// Reads the tables and writes `programs.rs` into OUT_DIR.
pub fn generate() {
    let sources = ["program/row.rs", "program/vocabulary.rs", "word.rs"];
    for path in ["config/programs", "config/effects.toml", "build/programs.rs", "build/phrases.rs"]
    {
        println!("cargo:rerun-if-changed={path}");
    }
    sources.iter().for_each(|path| println!("cargo:rerun-if-changed=src/effect/{path}"));
    let read = |path: &Path| fs::read_to_string(path).expect("a readable table");
    let mut files: Vec<_> = fs::read_dir("config/programs")
        .expect("config/programs")
        .filter_map(|entry| entry.ok().map(|e| e.path()))
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .map(|path| (path.display().to_string(), read(&path)))
        .collect();
    files.sort();
    let source = compile(&files, &read(Path::new("config/effects.toml")));
    let dir = env::var("OUT_DIR").expect("OUT_DIR");
    fs::write(Path::new(&dir).join("programs.rs"), source.unwrap_or_else(|why| panic!("{why}")))
        .expect("OUT_DIR is writable");
}

/// One entry, and the file that it stands in.
#[derive(Clone)]
struct Entry {
    file: String,
    keys: Table,
}

/// The tables, each with its path, as the source of static data. `effects` = the text of `config/effects.toml`.
pub fn compile(files: &[(String, String)], effects: &str) -> Result<String, String> {
    let mut all: BTreeMap<String, Entry> = BTreeMap::new();
    let mut more = Vec::new();
    for (file, text) in files {
        let table: Table = toml::from_str(text).map_err(|e| format!("{file}: {e}"))?;
        for (name, value) in table {
            let Value::Table(keys) = value else { return Err(format!("{file}: {name}")) };
            for name in spelled(&name)? {
                let entry = Entry { file: file.clone(), keys: keys.clone() };
                if says_nothing(&keys) {
                    more.push((name, entry));
                } else if all.insert(name.clone(), entry).is_some() {
                    return Err(format!("{file}: [{name}] stands twice"));
                }
            }
        }
    }
    for (name, entry) in more {
        add(&mut all, name, entry);
    }
    let names = named_effects(effects)?;
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
        let row = packed(&all, name, own, &mut lists, &names);
        let row = rows.place(row.map_err(|why| format!("{}: [{name}] {why}", own.file))?);
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
    Ok(out)
}

/// Does the entry say nothing of what calls do?
fn says_nothing(keys: &Table) -> bool {
    keys.keys().all(|key| row::BESIDE.contains(&key.as_str()))
}

/// Adds an entry to what another says of the same program.
fn add(all: &mut BTreeMap<String, Entry>, name: String, more: Entry) {
    let entry = match all.entry(name) {
        Vacant(place) => {
            place.insert(more);
            return;
        }
        Occupied(place) => place.into_mut(),
    };
    for key in more.keys.keys() {
        let mut items = list(&entry.keys, key);
        items.extend(list(&more.keys, key));
        let items: Vec<Value> = items.into_iter().map(Value::from).collect();
        entry.keys.insert(key.clone(), items.into());
    }
}

/// One entry, with what follows from others, as a line of fields.
fn packed(
    all: &BTreeMap<String, Entry>,
    name: &str,
    own: &Entry,
    lists: &mut Pool,
    names: &BTreeMap<String, String>,
) -> Result<String, String> {
    let mut entry = whole(all, &own.keys)?;
    // They are the program's, whatever its sub-commands take from it; another name for a command is its own.
    if name.contains(' ') {
        entry.remove("synonyms");
    }
    if !own.keys.contains_key("means") {
        entry.remove("means");
    }
    if let Some(extra) = entry.remove("extra") {
        let list = entry.entry("options").or_insert_with(|| Value::Array(Vec::new()));
        if let (Value::Array(list), Value::Array(extra)) = (list, extra) {
            // Of a name that stands twice, the first counts.
            list.splice(..0, extra);
        }
    }
    // What git reads of its options holds for its sub-commands.
    let parent = name.split_once(' ').and_then(|(parent, _)| all.get(parent));
    let above = |key: &str| parent.is_some_and(|parent| flag(&parent.keys, key));
    if above("abbreviate") {
        entry.insert("abbreviate".into(), Value::Boolean(true));
    }
    // Programs of Windows have long options with one sign, in whatever letter case.
    if flag(&entry, "windows") || above("windows") {
        entry.insert("windows".into(), Value::Boolean(true));
        entry.insert("single".into(), Value::Boolean(true));
    }
    program(lists, &entry, names).map_err(|fault| fault.to_string())
}

/// `gh pr {list,view}` is a name for each.
fn spelled(name: &str) -> Result<Vec<String>, String> {
    let Some((before, rest)) = name.split_once('{') else { return Ok(vec![name.to_string()]) };
    let (list, after) = rest.split_once('}').ok_or_else(|| format!("[{name}] lacks a brace"))?;
    let mut all = Vec::new();
    for verb in list.split(',') {
        all.extend(spelled(&format!("{before}{verb}{after}"))?);
    }
    Ok(all)
}

/// An entry with what it takes from others by `same`.
fn whole(all: &BTreeMap<String, Entry>, own: &Table) -> Result<Table, String> {
    for key in own.keys() {
        if !row::KEYS.contains(&key.as_str()) {
            return Err(format!("no such key: `{key}`; there are {}", row::KEYS.join(", ")));
        }
    }
    let Some(Value::String(same)) = own.get("same") else { return Ok(own.clone()) };
    let base = all.get(same).ok_or_else(|| format!("no such program: `{same}`"))?;
    let mut entry = whole(all, &base.keys)?;
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
    Ok(entry)
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

/// The lines of a list, each as it reads.
fn read_list<'a, T>(
    entry: &'a Table,
    key: &str,
    parse: impl Fn(&'a str) -> Result<T, Fault>,
) -> Result<Vec<T>, Fault> {
    list(entry, key).into_iter().map(parse).collect()
}

/// The names of `config/effects.toml`, with what each means.
fn named_effects(text: &str) -> Result<BTreeMap<String, String>, String> {
    let table: Table = toml::from_str(text).map_err(|e| format!("config/effects.toml: {e}"))?;
    let mut names = BTreeMap::new();
    for (domain, entries) in &table {
        for (name, meaning) in entries.as_table().into_iter().flatten() {
            let full = format!("{domain}.{name}");
            let meaning = meaning.as_str().filter(|_| row::is_named_effect(&full));
            let meaning = meaning.ok_or_else(|| format!("config/effects.toml: {full}?"))?;
            names.insert(full, meaning.to_string());
        }
    }
    Ok(names)
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

/// A list binds closer than a space: `remove,env remove` is `remove remove` and `env remove`, which nobody means.
fn verb_list(words: &str) -> Result<(), Fault> {
    let words: Vec<&str> = words.split(' ').collect();
    let twice = |pair: &&[&str]| pair[0].contains(',') && pair[0].split(',').any(|w| w == pair[1]);
    match words.windows(2).find(twice) {
        Some(pair) => Err(Fault::Form(format!("`{} {}` names a word twice", pair[0], pair[1]))),
        None => Ok(()),
    }
}

/// One entry as a line of fields with tabs between: `src/effect/program/table/packed.rs` reads it.
fn program(
    lists: &mut Pool,
    entry: &Table,
    names: &BTreeMap<String, String>,
) -> Result<String, Fault> {
    let known = |effect: &str| match names.contains_key(effect)
        || Word::from_closed_list(effect).is_some()
    {
        true => Ok(()),
        false => Err(Fault::Unknown {
            what: "effect",
            word: effect.into(),
            known: Word::ALL
                .iter()
                .map(|word| word.text())
                .chain(["names of config/effects.toml"])
                .collect(),
        }),
    };
    let effects = list(entry, "effects");
    effects.iter().try_for_each(|effect| known(effect))?;
    // No list is not the same as an empty one.
    let operands = match entry.contains_key("operands") {
        true => row::pack_operands(&row::parse_operands(&list(entry, "operands"))?),
        false => String::new(),
    };
    let mut verbs = String::new();
    for line in list(entry, "verbs") {
        let (words, effects) = row::parse_verb_line(line)?;
        verb_list(words)?;
        effects.iter().try_for_each(|effect| known(effect))?;
        let _ = writeln!(verbs, "{words}|{}", effects.join(" "));
    }
    let mut options = Vec::new();
    for line in list(entry, "options") {
        let option = row::parse_option_line(line)?;
        option.effect.into_iter().try_for_each(known)?;
        options.push(option);
    }
    let mut classes = 0;
    for class in list(entry, "class") {
        classes |= Class::from_text(class)?.bit();
    }
    let mut signs = String::new();
    // An empty one takes away what `same` brought.
    if let Some(special) = entry.get("special").and_then(Value::as_str).filter(|s| !s.is_empty()) {
        let special = Special::from_text(special)?;
        classes |= Class::from_special(special).map_or(0, Class::bit);
        signs.push(special.sign());
    }
    signs.push(' ');
    if let Some(lang) = entry.get("lang").and_then(Value::as_str) {
        signs.push(Language::from_text(lang)?.sign());
    }
    let set = row::FLAGS.iter().map(|key| flag(entry, key)).chain([says_nothing(entry)]);
    let flags = set.enumerate().fold(0, |bits, (at, set)| bits | u32::from(set) << at);
    let flags = format!("{} {}", mark::signs(flags), mark::signs(classes));
    let fields = [
        &flags,
        text(entry, "family"),
        text(entry, "default"),
        &signs,
        text(entry, "on-windows"),
        &effects.join(" "),
        &operands,
        &lists.place(row::pack_options(options)).to_string(),
        &verbs,
    ];
    // Where nothing is said of these, they are not there.
    let stated = |key: &str| match entry.contains_key(key) {
        true => format!("={}", list(entry, key).join(" ")),
        false => String::new(),
    };
    let beside = [
        &stated("settings"),
        &stated("recipes"),
        &row::pack_writes(read_list(entry, "writes", row::parse_write_line)?),
        &read_list(entry, "files", row::parse_file_glob)?.join(" "),
        &read_list(entry, "synonyms", row::parse_synonyms)?.join("\n"),
        &read_list(entry, "means", row::parse_meaning)?.join(","),
    ];
    let beside = beside.map(|field| format!("\t{field}")).concat();
    Ok(format!("{}{}", fields.join("\t"), beside.trim_end()))
}
