//! Cuts config/packs/*.toml into rules and notes what each could concern.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

#[allow(dead_code)]
#[path = "../src/rule/compiled.rs"]
mod compiled;
#[allow(dead_code)]
#[path = "../src/rule/needle.rs"]
mod needle;
#[allow(dead_code)]
#[path = "../src/rule/packed.rs"]
mod packed;
#[allow(dead_code)]
#[path = "../src/rule/signature.rs"]
mod signature;

use needle::{pack_needles, path_needle};
use packed::PatternForm;
use signature::Signature;

/// The pack whose reasons are given first, where several rules say the same.
const FIRST: &str = "filesystem";
/// The pack whose rules come last: it answers where no other rule does.
const LAST: &str = "core";

/// Writes `shipped.rs` into the output directory.
pub fn generate(out: &Path) {
    println!("cargo:rerun-if-changed=config/packs");
    let shared =
        ["rule/packed", "rule/compiled", "rule/needle", "rule/signature", "glob", "limits"];
    for file in shared {
        println!("cargo:rerun-if-changed=src/{file}.rs");
    }
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets it"));
    let mut files: Vec<PathBuf> = fs::read_dir(root.join("config/packs"))
        .expect("config/packs is part of the source")
        .filter_map(|entry| entry.ok().map(|entry| entry.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .collect();
    let is = |path: &PathBuf, name: &str| path.file_stem().is_some_and(|stem| stem == name);
    files.sort_by_key(|path| (is(path, LAST), !is(path, FIRST), path.clone()));
    let mut packs = String::from(
        "/// Every pack with the sentence that says what it is for.\n\
         pub static PACKS: &[(&str, &str)] = &[\n",
    );
    let mut rules = String::from(
        "/// Every shipped rule, in file order.\n#[allow(clippy::octal_escapes)]\npub static RULES: &[Shipped] = &[\n",
    );
    let mut called: Vec<(String, usize)> = Vec::new();
    let mut guarded: Vec<String> = Vec::new();
    let mut written = String::new();
    let mut count = 0;
    for path in &files {
        println!("cargo:rerun-if-changed={}", path.display());
        let name = path.file_stem().and_then(|stem| stem.to_str()).expect("a pack has a name");
        let text = fs::read_to_string(path).expect("a pack can be read");
        let first = text.lines().next().and_then(|line| line.strip_prefix("# "));
        let sentence =
            first.unwrap_or_else(|| panic!("{name}: the first line says what it is for"));
        let _ = writeln!(packs, "    ({name:?}, {sentence:?}),");
        rule_lines(name, &text, &mut rules, &mut called, &mut written, &mut count);
        guarded.extend(guarded_paths(&text));
    }
    packs.push_str("];\n");
    rules.push_str("];\n");
    called.sort();
    let mut names = String::new();
    let mut places = String::new();
    for (name, rule) in &called {
        let _ = write!(places, "({}, {rule}), ", names.len());
        names.push_str(name);
    }
    let called = format!(
        "/// The programs of the rules' commands, sorted, one behind the other.\n\
         static NAMES: &str = {names:?};\n\
         /// Where each begins, and the place of its rule.\n\
         static CALLED: &[(u16, u8)] = &[{places}];\n"
    );
    let guarded = format!(
        "/// What the rules protect that always hold, as they name it.\n\
         pub static GUARDED: &[&str] = &{:?};\n",
        unique(guarded)
    );
    let written = miniz_oxide::deflate::compress_to_vec(written.as_bytes(), 10);
    fs::write(out.join("shipped.written"), written).expect("the output directory can be written");
    fs::write(out.join("shipped.rs"), packs + &rules + &called + &guarded)
        .expect("the output directory can be written");
}

/// The paths of the rules that always hold.
fn guarded_paths(text: &str) -> Vec<String> {
    let table: toml::Table = text.parse().expect("a pack is TOML");
    let rules = table["rule"].as_table().expect("a pack has rules");
    let always = |rule: &&toml::Value| {
        rule.get("always").and_then(toml::Value::as_bool) == Some(true)
            && strings(rule.get("effect")).iter().any(|word| word == "modify")
    };
    rules.values().filter(always).flat_map(|rule| strings(rule.get("path"))).collect()
}

/// One line for each rule of a pack.
fn rule_lines(
    pack: &str,
    text: &str,
    code: &mut String,
    called: &mut Vec<(String, usize)>,
    written: &mut String,
    count: &mut usize,
) {
    let table: toml::Table = text.parse().unwrap_or_else(|fault| panic!("{pack}: {fault}"));
    let rules = table["rule"].as_table().expect("a pack has rules");
    for chunk in chunks(text) {
        let header = chunk.lines().next().unwrap_or_default();
        let id = header.trim_start_matches("[rule.").trim_end_matches(']');
        let rule = rules[id].as_table().expect("a rule is a table");
        let commands = strings(rule.get("command"));
        let named = commands.iter().filter(|pattern| !pattern.starts_with('!'));
        let programs = |pattern: &String| {
            compiled::programs(&compiled::compile_command(pattern).expect("a pattern of commands"))
        };
        let programs: Option<Vec<Vec<String>>> = named.map(programs).collect();
        let programs = unique(programs.unwrap_or_default().concat());
        let effects: Vec<String> = strings(rule.get("effect"))
            .iter()
            .flat_map(|word| match word.as_str() {
                "modify" => vec!["write".to_string(), "delete".into(), "permission".into()],
                _ => vec![word.clone()],
            })
            .collect();
        let on = match rule.get("on") {
            Some(on) => strings(Some(on)).join(","),
            None if ["deny", "allow"].iter().any(|verb| rule.contains_key(*verb)) => {
                "PreToolUse,PermissionRequest".into()
            }
            None => "PreToolUse".into(),
        };
        let unknown = rule.get("certainty").and_then(toml::Value::as_str) == Some("unknown");
        // A list of exclusions holds for every other path.
        let named: Vec<String> = strings(rule.get("path"))
            .into_iter()
            .filter(|pattern| !pattern.starts_with('!'))
            .map(|pattern| path_needle(&pattern))
            .collect();
        let by_program = !programs.is_empty();
        called.extend(programs.into_iter().map(|program| (program, *count)));
        *count += 1;
        let kind = match rule.get("severity").and_then(toml::Value::as_str) {
            _ if unknown => "unknown",
            Some("critical") => "keen",
            _ if rule.get("certainty").is_some() => "keen",
            _ => "shipped",
        };
        // Tools of servers go by more names than their own: all of them are one here.
        let of_servers =
            |tool: String| if tool.starts_with("mcp__") { "mcp__".into() } else { tool };
        let tools: Vec<String> = strings(rule.get("tool")).into_iter().map(of_servers).collect();
        let (tools, words) = (tools.join(","), unique(effects).join(","));
        // What is not understood could be any effect.
        let about = if unknown { "" } else { &words };
        let Signature(bits) = Signature::of_lists([&on, &tools, about, ""]);
        let parsed = toml::de::DeTable::parse(&chunk).expect("a rule is TOML");
        let parsed = packed::Table::from_toml(parsed.get_ref());
        let Some(packed::TreeValue::Table(rules)) = parsed.get("rule").map(packed::Item::get_ref)
        else {
            panic!("{id}: a rule has its table");
        };
        let mut patterns = String::new();
        packed::pack_patterns(rules[0].1.get_ref(), &mut patterns);
        packed::write_text(&patterns, written);
        let packed =
            packed::pack_rule(&rules[0].1, PatternForm::Compiled).expect("a rule is a table");
        let _ = writeln!(
            code,
            "    Shipped {{ id: {id:?}, pack: {pack:?}, by_program: {by_program}, concern: Concern \
             {{ on: {on:?}, tools: {tools:?}, words: {words:?}, programs: \"\", needles: {:?}, kind: {kind:?} }}, \
             signature: Signature({bits:?}), packed: {packed:?} }},",
            pack_needles(unique(named).iter().map(String::as_str)),
        );
    }
}

fn strings(value: Option<&toml::Value>) -> Vec<String> {
    match value {
        Some(toml::Value::String(text)) => vec![text.clone()],
        Some(toml::Value::Array(items)) => {
            items.iter().filter_map(|item| item.as_str().map(str::to_string)).collect()
        }
        _ => Vec::new(),
    }
}

fn unique(items: Vec<String>) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    for item in items {
        if !out.contains(&item) {
            out.push(item);
        }
    }
    out
}

/// The text from each `[rule.x]` header to the next header, without its comments.
fn chunks(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let mut within = false;
    for line in text.lines() {
        if line.starts_with('[') {
            within = line.starts_with("[rule.");
            if within {
                out.push(String::new());
            }
        }
        if let Some(chunk) =
            out.last_mut().filter(|_| within && !line.is_empty() && !line.starts_with('#'))
        {
            if !chunk.is_empty() {
                chunk.push('\n');
            }
            chunk.push_str(line);
        }
    }
    out
}
