//! Cuts config/default.toml into rules and notes what each could concern.

use std::fmt::Write as _;
use std::path::Path;

/// Writes `shipped.rs` into the output directory.
pub fn generate(out: &Path) {
    let path = "config/default.toml";
    println!("cargo:rerun-if-changed={path}");
    let text = std::fs::read_to_string(path).expect("config/default.toml is part of the source");
    let table: toml::Table = text.parse().expect("config/default.toml is valid TOML");
    let rules = table["rule"].as_table().expect("config/default.toml has rules");
    let mut code =
        String::from("/// Every shipped rule, in file order.\npub static RULES: &[Shipped] = &[\n");
    for chunk in chunks(&text) {
        let header = chunk.lines().find(|line| line.starts_with("[rule.")).unwrap_or_default();
        let id = header.trim_start_matches("[rule.").trim_end_matches(']');
        let rule = rules[id].as_table().expect("a rule is a table");
        let pack = pack_of(&text, chunk);
        let programs: Vec<String> =
            strings(rule.get("command")).iter().flat_map(|pattern| programs(pattern)).collect();
        let plain = programs.iter().all(|p| !p.contains(['*', '?', '[', '(']));
        let effects: Vec<String> = strings(rule.get("effect"))
            .iter()
            .flat_map(|word| match word.as_str() {
                "modify" => vec!["write".to_string(), "delete".into(), "permission".into()],
                _ => vec![word.clone()],
            })
            .collect();
        let on = match rule.get("on") {
            Some(on) => strings(Some(on)).join(","),
            None if rule.contains_key("deny") => "PreToolUse,PermissionRequest".into(),
            None => "PreToolUse".into(),
        };
        let unknown = rule.get("certainty").and_then(toml::Value::as_str) == Some("unknown");
        let needles: Vec<String> = strings(rule.get("path")).iter().map(|p| needle(p)).collect();
        let _ = writeln!(
            code,
            "    Shipped {{ id: {id:?}, pack: {pack:?}, concern: Concern {{ on: {on:?}, tools: \"\", \
             words: {:?}, programs: {:?}, needles: {:?}, kind: {:?} }}, text: {chunk:?} }},",
            unique(effects).join(","),
            if plain { unique(programs).join(",") } else { String::new() },
            unique(needles).join("|"),
            if unknown { "unknown" } else { "shipped" },
        );
    }
    code.push_str("];\n");
    std::fs::write(out.join("shipped.rs"), code).expect("the output directory can be written");
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

/// The program of a command pattern with its first operand, as `CommandPattern::programs` finds
/// them: one for each alternative.
fn programs(pattern: &str) -> Vec<String> {
    let spaced = pattern.replace('(', " ( ").replace(')', " ) ").replace('|', " | ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let program = words[0];
    let operands: Vec<&str> = match words.get(1) {
        Some(&"(") => words[2..]
            .split(|word| *word == ")")
            .next()
            .unwrap_or_default()
            .split(|word| *word == "|")
            .map(|way| way.first().copied().unwrap_or_default())
            .collect(),
        other => other.copied().into_iter().collect(),
    };
    let plain = |word: &&str| !word.starts_with('-') && !word.contains(['*', '?', '[', '$']);
    if operands.is_empty() || !operands.iter().all(plain) {
        return vec![program.to_string()];
    }
    operands.iter().map(|operand| format!("{program} {operand}")).collect()
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

/// The longest literal run of a path pattern, as `PathPattern::needle` finds it.
fn needle(pattern: &str) -> String {
    pattern
        .split('/')
        .filter(|part| !matches!(*part, "" | "." | "~") && !part.contains(['[', '\\']))
        .flat_map(|part| part.split(['*', '?']))
        .max_by_key(|run| run.len())
        .unwrap_or_default()
        .to_string()
}

/// The text from each `[rule.x]` header to the next.
fn chunks(text: &str) -> Vec<&str> {
    let starts: Vec<usize> = text
        .match_indices("[rule.")
        .map(|(at, _)| at)
        .filter(|at| *at == 0 || text.as_bytes()[at - 1] == b'\n')
        .collect();
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| text[*start..end].trim_end()).collect()
}

/// The pack whose `# pack: NAME` line stands last above the rule.
fn pack_of<'t>(text: &'t str, chunk: &str) -> &'t str {
    let at = chunk.as_ptr() as usize - text.as_ptr() as usize;
    text[..at]
        .lines()
        .rev()
        .find_map(|line| line.strip_prefix("# pack: "))
        .expect("a `# pack: NAME` line stands above the rules")
        .trim()
}
