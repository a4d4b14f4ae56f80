//! What is packed says what was written, and damage to it harms nobody.

use std::fs;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use toml::de::DeTable;

use super::command::CommandPattern;
use super::file;
use super::packed::{
    Item, Key, PatternForm, Table, TreeValue, pack_document, pack_rule, to_toml_lines, unpack_table,
};
use super::path::{self, Bases, PathPattern};
use super::{Conditions, Layer, Rule, Truth, compiled};
use crate::effect::SubCommand;

/// The texts of its rules, and of what stands beside them.
fn packed(text: &str) -> (Vec<(String, &'static str)>, &'static str) {
    let parsed = DeTable::parse(text).expect("TOML");
    let table = Table::from_toml(parsed.get_ref());
    let rules = match table.get("rule").map(Item::get_ref) {
        Some(TreeValue::Table(rules)) => {
            let packed = |(id, body): &(Key<'_>, Item<'_>)| {
                (
                    id.get_ref().to_string(),
                    kept(pack_rule(body, PatternForm::Compiled).expect("a table")),
                )
            };
            rules.iter().map(packed).collect()
        }
        _ => Vec::new(),
    };
    (rules, kept(pack_document(&table.keep_keys(|key| key != "rule"))))
}

/// For as long as the process lives, as what is mapped.
fn kept(text: String) -> &'static str {
    text.leak()
}

fn assert_same(text: &str, path: &Path, layer: Layer) -> usize {
    let written = file::read_rules(text, path, layer, None);
    if !written.faults.is_empty() {
        return 0;
    }
    let (rules, rest) = packed(text);
    assert_eq!(rules.len(), written.rules.len(), "{}", path.display());
    for ((id, packed), rule) in rules.iter().zip(&written.rules) {
        let read = file::unpack_rule(id, packed, path, layer, None).flatten().expect("a rule");
        // Wherever it stands.
        assert_eq!(*read, Rule { line: 1, ..(**rule).clone() }, "{}", path.display());
    }
    let read = file::unpack_file(rest, path, layer).expect("a table");
    assert_eq!(
        (read.profile, &read.packs, &read.autopilot, &read.journal),
        (written.profile, &written.packs, &written.autopilot, &written.journal)
    );
    assert_eq!((&read.remotes, &read.programs), (&written.remotes, &written.programs));
    written.rules.len()
}

fn toml_files(dir: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(dir).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            toml_files(&path, out);
        } else if path.extension().is_some_and(|end| end == "toml") {
            out.push(path);
        }
    }
}

/// No event takes globs and command patterns of the shipped rules apart.
#[test]
fn patterns_are_packed_as_events_match_them() {
    let keys = "command = 'rm *'\npath = ['~/a/**', '!~/a/b']\nwithin = './src'\n";
    let (rules, _) = packed(&format!("[rule.x]\n{keys}deny = 'x'\n[rule.x.unless]\n{keys}"));
    let rule = unpack_table(rules[0].1).expect("a table");
    let Some(TreeValue::Table(unless)) = rule.get("unless").map(Item::get_ref) else {
        panic!("no unless")
    };
    for key in ["command", "path", "within"] {
        for table in [&rule, unless] {
            let value = table.get(key).map(Item::get_ref);
            assert!(matches!(value, Some(TreeValue::Patterns(_))), "{key}: {value:?}");
        }
    }
}

#[test]
fn every_rule_in_the_tree_reads_the_same_packed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    for dir in ["config/packs", "examples", "tests"] {
        toml_files(&root.join(dir), &mut files);
    }
    let same = |path: &PathBuf| {
        let text = fs::read_to_string(path).unwrap_or_default();
        let layer = if path.starts_with(root.join("config")) { Layer::Pack } else { Layer::User };
        if DeTable::parse(&text).is_ok() { assert_same(&text, path, layer) } else { 0 }
    };
    let count: usize = files.iter().map(same).sum();
    assert!(count > 150, "{count} rules");
}

/// Rules of all kinds of keys.
pub(super) fn rule_text() -> impl Strategy<Value = String> {
    let lines = prop::sample::subsequence(
        vec![
            "command = ['git push (-f | --force)', '!git push origin', '* --yolo', 'a ** $']",
            "tool = ['Bash', 'mcp__*', '!Read']",
            "effect = ['modify', 'send', 'git.push']",
            "path = ['~/.ssh/*', './a/**/b', '/etc/.', '!*.pem', 'C:/x', '.env']",
            "within = './'",
            "recursive = true",
            "host = ['*.Example.org', '!x.example.org']",
            "match = ['Bash(npm run:*)', 'Read(//etc/**)', 'WebFetch(domain:x.org)', 'mcp__s']",
            "input = { 'edits[].new' = { regex = 'a+' }, n = { equals = [1, -2.5, 0x1f, 1979-05-27] }, e = { exists = false } }",
            "when = { permission_mode = ['plan', '!auto'], subagent = true, run = 'test \"x\" = {path}' }",
            "unless = { path = '/tmp/', command = 'git status', when = { success = false } }",
            "rewrite = { command = '{command|s/^a/b/g}', x.y = 'z' }",
            "run = 'echo {path} é {{'",
            "limit = '90s'",
            "env = { A = '{tool}' }",
            "context = { run = 'date' }",
            "notify = 'he said \"{input.a.b}\"'",
            "severity = 'high'",
            "certainty = 'possible'",
            "mode = 'observe'",
            "repeat = 7",
        ],
        0..10,
    );
    (lines, prop::sample::select(vec!["deny", "ask", "halt"]), "[ -~é\n]{0,12}").prop_map(
        |(lines, verb, reason)| {
            let reason = reason.replace(['{', '\\', '"'], "").replace('\n', "\\n");
            format!("{}\n{verb} = \"{reason}\"\n", lines.join("\n"))
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_reads_the_same_packed(rules in prop::collection::vec(rule_text(), 1..4)) {
        let rules = rules.iter().enumerate().map(|(at, rule)| format!("[rule.r{at}]\n{rule}"));
        assert_same(&rules.collect::<String>(), Path::new("/f.toml"), Layer::User);
    }

    #[test]
    fn any_text_is_a_table_or_none(text in "[ -~\u{0}-\u{7f}é]{0,80}", head in "[\u{1}-\u{5}][\u{1}-\u{5}]") {
        let (text, path) = (kept(head + &text), Path::new("/f.toml"));
        let _ = unpack_table(&text[2..]);
        let _ = file::unpack_file(text, path, Layer::User);
        let _ = file::unpack_rule("a", text, path, Layer::User, None);
    }
}

/// Asks every pattern all that an event may ask it.
fn ask(conditions: &Conditions) {
    let (bases, target) =
        (Bases::new("/home/dev", "/home/dev/project"), path::exact_target("/etc/x"));
    let git = SubCommand { name: "git".into(), ..SubCommand::default() };
    for command in [&git, &SubCommand::default()] {
        for pattern in conditions.command.named().iter().chain(conditions.command.excluded()) {
            let _ = (
                pattern.program_names(),
                pattern.match_command(command),
                pattern.covers_command(command, &bases),
            );
        }
    }
    for pattern in conditions.path.named().chain(conditions.path.excluded()) {
        let _ = (
            pattern.common_needle(),
            pattern.match_target(&target, &bases),
            pattern.covers_target(&target, &bases),
        );
    }
}

#[test]
fn what_is_damaged_hits_everything_and_covers_nothing() {
    let (bases, target) = (Bases::default(), path::exact_target("/etc/x"));
    let git = SubCommand { name: "git".into(), genuine: true, ..SubCommand::default() };
    let whole = compiled::compile_command("git push").expect("a pattern");
    let damaged = CommandPattern::from_compiled(kept(whole[..whole.len() - 2].to_string()));
    assert_eq!(damaged.match_command(&git), Truth::Yes);
    assert!(!damaged.covers_command(&git, &bases) && damaged.program_names().is_none());
    let whole = compiled::compile_path("/etc/y").expect("a pattern");
    for text in ["", "?", &whole[..whole.len() - 1]] {
        let damaged = PathPattern::from_compiled(text);
        assert_eq!(damaged.match_target(&target, &bases), Truth::Yes, "{text:?}");
        assert!(!damaged.covers_target(&target, &bases), "{text:?}");
    }
}

#[test]
fn damage_is_no_panic() {
    let path = Path::new("/f.toml");
    let text = "[rule.a]\ncommand = ['git push (-f | --force)', '!rm']\npath = ['~/.ssh/*', './a']\n\
                deny = 'no {path}'\nrepeat = 3\n[rule.a.unless]\npath = ['/tmp/']\n";
    let (_, whole) = packed(text).0.remove(0);
    for end in 0..whole.len() {
        assert!(unpack_table(&whole[..end]).is_none(), "cut at {end}");
    }
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for _ in 0..10_000 {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let mut bytes = whole.as_bytes().to_vec();
        let at = (random >> 8) as usize % bytes.len();
        bytes[at] ^= 1 << (random % 7);
        let text = String::from_utf8(bytes).expect("ASCII");
        if let Some(Some(rule)) = file::unpack_rule("a", kept(text), path, Layer::User, None) {
            ask(&rule.conditions);
        }
    }
    let deep = format!("\u{1}\u{1}a{}", "a\u{1}".repeat(100_000));
    assert!(unpack_table(kept(deep)).is_none());
}

#[test]
fn lines_for_people_are_the_toml_that_they_were() {
    let text = r#""" = "no name"
a = 0b101
b = 0o17
c = 0x1f
d = -42
e = 1.5
f = 1979-05-27
g = true
h = [1, "x", [false]]
i = { j = "k", "l m" = 2 }
"k.l" = "a key with a dot"
l = 'say "x" or C:\\x'
m = "it's \\"x\\""
n = "a line\\nand the next\\u0001"
o-p_q = ""
"#
    .replace("\\\\", "\\");
    let parsed = DeTable::parse(&text).expect("TOML");
    assert_eq!(to_toml_lines(&Table::from_toml(parsed.get_ref())), text);
}

#[test]
fn a_program_that_no_form_is_of_is_told_by_its_name() {
    let could = |pattern: &str, program: &str| {
        compiled::could_name(&compiled::compile_command(pattern).expect("a pattern"), program)
    };
    for (pattern, program, wanted) in [
        ("git push", "git", true),
        ("git push", "ls", false),
        ("(git | hg) push", "hg", true),
        ("(git | hg) push", "ls", false),
        ("* --yolo", "ls", true),
        ("python*", "python3", true),
    ] {
        assert_eq!(could(pattern, program), wanted, "{pattern}: {program}");
    }
    assert!(compiled::could_name("?", "ls"), "damage could be anything");
}
