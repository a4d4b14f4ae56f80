//! docs/packs.md is made from config/packs/*.toml, and every shipped rule is written as people are
//! promised.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::{files, read, root};

/// The verdicts that a shipped rule may have; `allow` only in a pack of that name.
const VERDICTS: &[&str] = &["deny", "ask", "allow"];
/// How many examples of each kind are shown of a rule.
const SHOWN: usize = 4;

struct Pack {
    name: String,
    sentence: String,
    rules: Vec<Rule>,
}

#[derive(Default)]
struct Rule {
    id: String,
    table: toml::Table,
    stopped: Vec<String>,
    passed: Vec<String>,
}

impl Rule {
    /// Its verdict and reason.
    fn verdict(&self) -> (&str, &str) {
        let mut found = VERDICTS.iter().filter_map(|verb| Some((*verb, self.text(verb)?)));
        found.next().unwrap_or(("-", ""))
    }

    /// Does it only mark the session, and say nothing of the call?
    fn only_marks(&self) -> bool {
        self.verdict().0 == "-" && self.table.contains_key("mark")
    }

    fn text(&self, key: &str) -> Option<&str> {
        self.table.get(key)?.as_str()
    }
}

fn packs() -> Vec<Pack> {
    let mut paths = files("config/packs", &["toml"]);
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            pack(name, &fs::read_to_string(path).expect("a pack"))
        })
        .collect()
}

fn pack(name: String, text: &str) -> Pack {
    let whole: toml::Table = text.parse().unwrap_or_else(|error| panic!("{name}: {error}"));
    let sentence = text.lines().next().unwrap_or_default().trim_start_matches("# ").to_string();
    let mut rules: Vec<Rule> = Vec::new();
    let mut tests = whole.get("test").and_then(toml::Value::as_array).into_iter().flatten();
    // The order of headers in the file tells which rule a test stands below.
    for header in text.lines().filter(|line| line.starts_with('[')) {
        if let Some(id) =
            header.strip_prefix("[rule.").and_then(|rest| rest.split([']', '.']).next())
        {
            if rules.last().is_none_or(|rule| rule.id != id) {
                let table = whole["rule"][id].as_table().expect("a rule is a table").clone();
                rules.push(Rule { id: id.to_string(), table, ..Rule::default() });
            }
        } else if header.starts_with("[[test]]") {
            let test = tests.next().and_then(toml::Value::as_table).expect("a test is a table");
            let above = rules.last().map(|rule| rule.id.clone());
            let named = test.get("rule").and_then(toml::Value::as_str).map(str::to_string);
            let owner =
                rules.iter_mut().find(|rule| named.as_ref().or(above.as_ref()) == Some(&rule.id));
            if let Some(rule) = owner {
                example(test, rule);
            }
        }
    }
    Pack { name, sentence, rules }
}

/// What a test shows of its rule.
fn example(test: &toml::Table, rule: &mut Rule) {
    let calls = ["command", "read", "write"].iter().flat_map(|key| {
        let values = match test.get(*key) {
            Some(toml::Value::Array(items)) => {
                items.iter().filter_map(|item| item.as_str()).collect()
            }
            value => value.and_then(toml::Value::as_str).into_iter().collect::<Vec<_>>(),
        };
        values.into_iter().map(move |value| match *key {
            "command" => value.to_string(),
            tool => format!("{tool} {value}"),
        })
    });
    // A test of a whole event or of another tool has no short form.
    let calls: Vec<String> = calls.collect();
    let calls = match (calls.is_empty(), test.get("tool").and_then(toml::Value::as_str)) {
        (false, _) => calls,
        (true, tool) => vec![format!("{} ...", tool.unwrap_or("an event"))],
    };
    let verdict = test.get("verdict").and_then(toml::Value::as_str).unwrap_or_default();
    match verdict {
        "allow" if rule.verdict().0 == "allow" => rule.stopped.extend(calls),
        "deny" | "ask" | "halt" | "defer" | "block" | "stopped" | "not silent" | "not passed" => {
            rule.stopped.extend(calls);
        }
        "silent" | "passed" | "allow" | "not stopped" => rule.passed.extend(calls),
        // What holds of several verdicts shows nothing.
        _ => {}
    }
}

fn document(packs: &[Pack]) -> String {
    let mut out = String::from(
        "# The rules that ship\n\n\
         Made from [config/packs/](../config/packs) by `UPDATE_DOCS=1 cargo test --test docs`; do not edit it by hand.\n\n\
         `hookctl packs` lists the packs as your files have them, `hookctl packs show ID` shows a pack or a rule whole, and how to\n\
         change it: [packs and overrides](rules.md#packs-and-overrides). Rules of severity critical fire on what is only\n\
         [possible](rules.md#grades), too.\n\n\
         | pack | rules | what for |\n|---|---|---|\n",
    );
    for pack in packs {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for rule in &pack.rules {
            let at = VERDICTS.iter().position(|verb| *verb == rule.verdict().0);
            *counts.entry(at.unwrap_or(VERDICTS.len())).or_default() += 1;
        }
        let word = |at: usize| VERDICTS.get(at).unwrap_or(&"mark");
        let counts: Vec<String> =
            counts.iter().map(|(verb, many)| format!("{many} {}", word(*verb))).collect();
        let (name, sentence) = (&pack.name, &pack.sentence);
        let _ = writeln!(out, "| [{name}](#{name}) | {} | {} |", counts.join(", "), cell(sentence));
    }
    for pack in packs {
        let _ = write!(out, "\n## {}\n\n{}\n", pack.name, pack.sentence);
        for rule in &pack.rules {
            let (verb, reason) = rule.verdict();
            let severity = rule.text("severity").unwrap_or("medium");
            if rule.only_marks() {
                let mark = rule.text("mark").unwrap_or_default();
                let _ =
                    write!(out, "\n### {}\n\nSets the mark `{mark}` on the session.\n", rule.id);
            } else {
                let _ = write!(out, "\n### {}\n\n{verb}, {severity}: {}\n", rule.id, plain(reason));
            }
            if rule.text("mode") == Some("strict") {
                out.push_str("\nEnforced in profile strict; in the others the journal has it.\n");
            }
            if let Some(purpose) = rule.text("strict") {
                let _ = write!(
                    out,
                    "\nIn profile strict also on what is possible: {}.\n",
                    plain(purpose)
                );
            }
            let stops = if verb == "allow" { "Lets pass" } else { "Stops" };
            for (what, examples) in [(stops, &rule.stopped), ("Leaves alone", &rule.passed)] {
                let shown: Vec<String> =
                    examples.iter().filter_map(|one| code(one)).take(SHOWN).collect();
                if !shown.is_empty() {
                    let _ = write!(out, "\n{what}: {}\n", shown.join(", "));
                }
            }
        }
    }
    out
}

/// Text as it stands, in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}

/// Text that Markdown would take for more.
fn plain(text: &str) -> String {
    let mut out = String::new();
    let mut within = false;
    for c in text.chars() {
        within ^= c == '`';
        if !within && matches!(c, '*' | '_' | '<' | '[') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// An example as code; none where it does not fit on a line.
fn code(text: &str) -> Option<String> {
    if text.contains('\n') || text.chars().count() > 100 {
        return None;
    }
    Some(match text.contains('`') {
        true => format!("`` {text} ``"),
        false => format!("`{text}`"),
    })
}

#[test]
fn the_packs_are_documented_as_they_are() {
    let wanted = document(&packs());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(root().join("docs/packs.md"), &wanted).expect("docs/packs.md can be written");
    }
    let same = read("docs/packs.md") == wanted;
    assert!(same, "docs/packs.md is out of date: UPDATE_DOCS=1 cargo test --test docs");
}

#[test]
fn every_shipped_rule_is_written_as_promised() {
    let mut wrong = Vec::new();
    let mut seen: BTreeMap<String, String> = BTreeMap::new();
    let packs = packs();
    for pack in &packs {
        if !pack.sentence.ends_with('.') {
            wrong.push(format!("{}: its first line is no sentence", pack.name));
        }
        for rule in &pack.rules {
            let mut say = |what: &str| wrong.push(format!("{}: {} {what}", pack.name, rule.id));
            if let Some(other) = seen.insert(rule.id.clone(), pack.name.clone()) {
                say(&format!("stands in {other} as well"));
            }
            if packs.iter().any(|pack| pack.name == rule.id) {
                say("has the name of a pack");
            }
            if rule.only_marks() {
                continue;
            }
            if rule.text("severity").is_none() {
                say("has no severity");
            }
            let verbs = ["deny", "ask", "allow", "halt", "defer", "block"];
            let found: Vec<&str> =
                verbs.into_iter().filter(|verb| rule.table.contains_key(*verb)).collect();
            let good = match found.as_slice() {
                ["deny" | "ask"] => true,
                ["allow"] => pack.name == "autopilot",
                _ => false,
            };
            if !good {
                say(&format!("has the verdicts {found:?}"));
            }
            let reason = rule.verdict().1;
            if !reason.ends_with('.') || reason.chars().count() > 200 {
                say("has a reason of more than 200 characters, or without a full stop");
            }
            if found == ["ask"] && !is_for_humans(reason) {
                say("asks a human in words that are meant for the model");
            }
        }
    }
    assert!(seen.len() > 50, "the rules are not found any more: {}", seen.len());
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An ask is read by the human who is to decide: it says what would happen, and tells nobody what to do.
fn is_for_humans(reason: &str) -> bool {
    const ORDERS: &[&str] = &[
        "add", "ask", "change", "check", "delete", "do", "keep", "let", "look", "make", "mend",
        "move", "name", "never", "prefer", "put", "read", "run", "say", "show", "tell", "use",
        "wait", "write",
    ];
    let text = reason.to_lowercase();
    let begins = |part: &str| {
        let word = part.trim_start().split(|c: char| !c.is_alphabetic()).next().unwrap_or_default();
        ORDERS.contains(&word)
    };
    let words = text.split(|c: char| !c.is_alphabetic());
    let person = words.clone().any(|word| matches!(word, "you" | "your" | "user" | "user's"));
    !person && !text.split(['.', ';', ':', ',']).any(begins)
}

#[test]
fn what_is_meant_for_the_model_is_told_apart() {
    for good in ["This deletes a tag.", "{path} may be a private key; 644 is what is meant."] {
        assert!(is_for_humans(good), "{good}");
    }
    for bad in [
        "This deletes a tag. Ask the user.",
        "It is sent to {host}. Say what leaves, and let the user decide.",
        "{path} decides that: use another.",
        "Only you may do this.",
    ] {
        assert!(!is_for_humans(bad), "{bad}");
    }
}

#[test]
fn every_shipped_rule_has_examples() {
    let packs = packs();
    let without: Vec<&str> = packs
        .iter()
        // What it allows and what not stands in tests/packs/autopilot.toml.
        .filter(|pack| pack.name != "autopilot")
        .flat_map(|pack| &pack.rules)
        // What a rule marks stands in tests/marks.toml, and no example of a pack is judged in profile strict.
        .filter(|rule| !rule.only_marks() && rule.text("mode") != Some("strict"))
        .filter(|rule| rule.stopped.is_empty() || rule.passed.is_empty())
        .map(|rule| rule.id.as_str())
        .collect();
    assert!(without.is_empty(), "without a stopped and a passed example: {}", without.join(", "));
}

/// Examples belong to the rule that they name, or below which they stand.
#[test]
fn examples_find_their_rules() {
    let found = pack(
        "x".into(),
        "# A pack.\n[rule.a]\nseverity = \"high\"\ndeny = \"A.\"\n\
         [[test]]\ncommand = [\"one\", \"two\"]\nverdict = \"stopped\"\n\
         [[test]]\nread = \"notes\"\nverdict = \"silent\"\n\
         [rule.b]\nseverity = \"high\"\nask = \"B.\"\n\
         [[test]]\nwrite = \"x\"\nverdict = \"ask\"\n\
         [[test]]\ncommand = \"three\"\nverdict = \"deny\"\nrule = \"a\"\n",
    );
    assert_eq!(found.rules[0].stopped, ["one", "two", "three"]);
    assert_eq!(found.rules[0].passed, ["read notes"]);
    assert_eq!(found.rules[1].stopped, ["write x"]);
    let text = document(&[found]);
    assert!(text.contains("### a\n\ndeny, high: A.\n\nStops: `one`, `two`, `three`\n\nLeaves alone: `read notes`\n"), "{text}");
}
