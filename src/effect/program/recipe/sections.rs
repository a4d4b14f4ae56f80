//! Tasks that stand in sections: tox.ini, mise.toml. Their plain subset, line by line.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Request, Step, UNKNOWN, lines_of};

/// One key of a section.
struct Entry<'t> {
    section: &'t str,
    key: &'t str,
    value: String,
    span: Range<usize>,
}

/// The keys of all sections, with the lines that belong to each.
fn read_entries(text: &str) -> Vec<Entry<'_>> {
    let mut all: Vec<Entry> = Vec::new();
    let mut section = "";
    let mut quoted = false;
    for (at, line) in lines_of(text) {
        let told = line.trim();
        let inside = quoted || line.starts_with([' ', '\t']) || told.starts_with(']');
        quoted ^= (told.matches("\"\"\"").count() + told.matches("'''").count()) % 2 == 1;
        if told.is_empty() || told.starts_with(['#', ';']) {
            continue;
        }
        if let Some(entry) = all.last_mut().filter(|entry| inside && entry.section == section) {
            entry.value.push('\n');
            entry.value.push_str(told);
        } else if let Some(name) = told.strip_prefix('[').and_then(|name| name.strip_suffix(']')) {
            section = name;
        } else if let Some((key, value)) = told.split_once('=') {
            let (key, value, span) = (bare(key), value.trim().to_string(), at..at + line.len());
            all.push(Entry { section, key, value, span });
        }
    }
    all
}

fn bare(text: &str) -> &str {
    text.trim().trim_matches(['"', '\''])
}

/// tox: the commands of the environments that are asked for.
pub(super) fn read_tox(text: &str, asked: &mut Request) -> Vec<Step> {
    let entries = read_entries(text);
    let find = |section: &str, keys: &[&str]| {
        let one = |entry: &&Entry| entry.section == section && keys.contains(&entry.key);
        entries.iter().find(one)
    };
    let listed = find("tox", &["envlist", "env_list"]).map_or("", |entry| entry.value.as_str());
    let goals = if asked.goals.is_empty() { listed.to_string() } else { asked.goals.join(",") };
    let mut steps = Vec::new();
    for goal in goals.split([',', '\n']).map(str::trim).filter(|goal| !goal.is_empty()) {
        if !asked.has_room(0, &steps, 64 + 8 * entries.len()) {
            break;
        }
        let own = format!("testenv:{goal}");
        for key in ["commands_pre", "commands", "commands_post"] {
            let Some(entry) = find(&own, &[key]).or_else(|| find("testenv", &[key])) else {
                continue;
            };
            for line in entry.value.replace("\\\n", " ").lines() {
                if !asked.has_room(0, &steps, 64 + line.len()) {
                    return steps;
                }
                let line = line.trim_start_matches(['-', '!', ' ']);
                let (text, takes_words) = fill_tox(line);
                steps.push(Step { text, span: entry.span.clone(), unsure: false, takes_words });
            }
        }
    }
    steps
}

/// `{posargs:standard}` and what else stands in braces; true = what the call hands on stands there.
fn fill_tox(line: &str) -> (String, bool) {
    let (mut out, mut rest, mut takes) = (String::new(), line, false);
    while let Some((before, behind)) = rest.split_once('{') {
        let Some((name, after)) = behind.split_once('}') else { break };
        out.push_str(before);
        match name.split_once(':').map_or((name, ""), |(name, standard)| (name, standard)) {
            ("posargs", _) => takes = true,
            ("toxinidir" | "tox_root", _) => out.push('.'),
            _ => out.push_str(UNKNOWN),
        }
        rest = after;
    }
    (out + rest, takes)
}

/// mise: the tasks that are asked for, and those that they need.
pub(super) fn read_mise(text: &str, asked: &mut Request) -> Vec<Step> {
    let entries = read_entries(text);
    let mut steps = Vec::new();
    let mut seen = BTreeSet::new();
    for goal in asked.goals {
        add_task(&entries, goal, 0, &mut seen, asked, &mut steps);
    }
    steps
}

/// A task runs once, however many need it.
fn add_task<'e>(
    entries: &'e [Entry],
    name: &'e str,
    depth: usize,
    seen: &mut BTreeSet<&'e str>,
    asked: &mut Request,
    steps: &mut Vec<Step>,
) {
    if seen.contains(name) || !asked.has_room(depth, steps, 64 + entries.len()) {
        return;
    }
    seen.insert(name);
    for entry in entries {
        let own = entry.section.strip_prefix("tasks.").is_some_and(|task| bare(task) == name);
        if !own && entry.section != "tasks" || !asked.has_room(0, steps, entry.value.len()) {
            continue;
        }
        match entry.key {
            "depends" | "depends_post" | "wait_for" if own => {
                for need in strings_of(&entry.value) {
                    add_task(entries, need.trim(), depth + 1, seen, asked, steps);
                }
            }
            _ if own && entry.key == "run" || entry.section == "tasks" && entry.key == name => {
                for text in strings_of(&entry.value) {
                    if asked.has_room(0, steps, 64) {
                        let (text, span) = (text.to_string(), entry.span.clone());
                        steps.push(Step { text, span, unsure: false, takes_words: true });
                    }
                }
            }
            _ => {}
        }
    }
}

/// The texts that stand in quotes.
fn strings_of(value: &str) -> Vec<&str> {
    let mut all = Vec::new();
    let mut rest = value;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = &rest[at..=at];
        let long = quote.repeat(3);
        let mark = if rest[at..].starts_with(&long) { long.as_str() } else { quote };
        let Some((text, behind)) = rest[at + mark.len()..].split_once(mark) else { break };
        all.push(text);
        rest = behind;
    }
    all
}

/// nox: what the sessions run, where it is written as plain texts.
pub(super) fn read_nox(text: &str, asked: &mut Request) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut inside = false;
    for (at, line) in lines_of(text) {
        if let Some(head) = line.strip_prefix("def ") {
            let name = head.split('(').next().unwrap_or_default().trim();
            let named = |goal: &String| goal == name || goal.replace('-', "_") == name;
            inside = asked.goals.is_empty() || asked.goals.iter().any(named);
        }
        let call = line.trim_start().strip_prefix("session.run");
        let Some((_, head)) = call.and_then(|call| call.split_once('(')).filter(|_| inside) else {
            continue;
        };
        let from = at + line.len() - head.len();
        let args = text[from..].split(')').next().unwrap_or_default();
        if !asked.has_room(0, &steps, 64 + args.len()) {
            break;
        }
        // `env={...}`, `external=True` come last.
        let words = args.split('=').next().unwrap_or_default();
        let words = strings_of(words).into_iter().filter(|word| !word.contains('\''));
        let text = words.map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
        let takes_words = args.contains("posargs");
        steps.push(Step { text, span: at..at + line.len(), unsure: false, takes_words });
    }
    steps
}
