//! Rule files that cost too much: a project's that nobody has trusted, and the user's own. The user's plain deny
//! holds beside all of them.

use crate::scene::{Expect, FORBIDDEN, Row, row};

type Make = fn() -> String;

/// Command patterns with many gaps.
pub fn costly_commands() -> String {
    format!("[rule.a]\ncommand = \"x {} y\"\ndeny = \"a\"\n", "** a ".repeat(12))
}

fn rule(conditions: &str) -> String {
    format!("[rule.a]\n{conditions}\ndeny = \"a\"\n")
}

fn rules(count: usize, conditions: &str) -> String {
    (0..count).map(|i| format!("[rule.a{i}]\n{conditions}\ndeny = \"a\"\n")).collect()
}

/// What it is, the file, and a call that meets it.
type Costly = (&'static str, Make, Make);

const FILES: &[Costly] = &[
    ("a pattern with 12 gaps", costly_commands, words),
    (
        "a pattern with 30 gaps in 69 bytes",
        || rule(&format!("command = \"x{}b\"", " **".repeat(30))),
        words,
    ),
    (
        "a pattern with 12 gaps between globs",
        || rule(&format!("command = \"x {} y\"", "** *a* ".repeat(12))),
        words,
    ),
    (
        "a pattern with 50,000 gaps",
        || rule(&format!("command = \"x {}\"", "** ".repeat(50_000))),
        words,
    ),
    (
        "a pattern with 50,000 gaps and words",
        || rule(&format!("command = \"x {}\"", "** a ".repeat(25_000))),
        words,
    ),
    (
        "a pattern of 100,000 words",
        || rule(&format!("command = \"x {}\"", "a ".repeat(100_000))),
        words,
    ),
    (
        "a pattern of 10,000 options",
        || rule(&format!("command = \"x {}\"", "-a ".repeat(10_000))),
        words,
    ),
    (
        "alternatives of alternatives",
        || rule(&format!("command = \"x {}\"", "( a | b ) ".repeat(40))),
        words,
    ),
    (
        "100,000 alternatives",
        || rule(&format!("command = \"x ( {} b )\"", "a | ".repeat(100_000))),
        words,
    ),
    ("100,000 brackets", || rule(&format!("command = \"x {}\"", "( ".repeat(100_000))), words),
    (
        "a path with 12 gaps",
        || rule(&format!("effect = \"read\"\npath = \"./{}b\"", "**/a/".repeat(12))),
        path,
    ),
    (
        "a path with 40 gaps",
        || rule(&format!("effect = \"read\"\npath = \"./{}b\"", "**/".repeat(40))),
        path,
    ),
    (
        "a path with 40 gaps and stars",
        || rule(&format!("effect = \"read\"\npath = \"./{}b\"", "**/*/".repeat(40))),
        path,
    ),
    (
        "a path with 50,000 gaps",
        || rule(&format!("effect = \"read\"\npath = \"{}b\"", "**/".repeat(50_000))),
        path,
    ),
    (
        "a path of stars",
        || rule(&format!("effect = \"read\"\npath = \"{}b\"", "*a".repeat(5_000))),
        path,
    ),
    (
        "a path of classes",
        || rule(&format!("effect = \"read\"\npath = \"{}b\"", "[a-z]*".repeat(5_000))),
        path,
    ),
    (
        "a class of 500 KB",
        || rule(&format!("effect = \"read\"\npath = \"[{}]\"", "a".repeat(500_000))),
        path,
    ),
    (
        "a class without an end",
        || rule(&format!("effect = \"read\"\npath = \"{}\"", "[".repeat(100_000))),
        path,
    ),
    (
        "a directory with gaps",
        || rule(&format!("command = \"x\"\nwithin = \"{}b/\"", "**/a/".repeat(12))),
        words,
    ),
    (
        "a glob of stars over long text",
        || rule(&format!("tool = \"Bash\"\ninput = {{ command = \"{}b\" }}", "*a".repeat(2000))),
        text,
    ),
    (
        "a glob of questions and stars",
        || rule(&format!("tool = \"Bash\"\ninput = {{ command = \"{}b\" }}", "?*".repeat(5000))),
        text,
    ),
    ("a tool of stars", || rule(&format!("tool = \"{}b\"", "*a".repeat(20_000))), text),
    (
        "a regex that doubts",
        || rule("tool = \"Bash\"\ninput = { command = { regex = '(a|a|aa)*(a|aa)*b$' } }"),
        text,
    ),
    (
        "a regex of repeats",
        || rule("tool = \"Bash\"\ninput = { command = { regex = '((a{1,200}){1,200}){1,200}' } }"),
        text,
    ),
    (
        "a regex at its bound",
        || rule("tool = \"Bash\"\ninput = { command = { regex = '[a-z]{1,900}b[a-z]{1,900}c' } }"),
        text,
    ),
    (
        "a regex of 500 KB",
        || {
            rule(&format!(
                "tool = \"Bash\"\ninput = {{ command = {{ regex = '{}' }} }}",
                "(a|b)".repeat(100_000)
            ))
        },
        text,
    ),
    (
        "a regex of brackets",
        || {
            rule(&format!(
                "tool = \"Bash\"\ninput = {{ command = {{ regex = '{}' }} }}",
                "(".repeat(100_000)
            ))
        },
        text,
    ),
    (
        "3,000 regexes",
        || rules(3000, "tool = \"Bash\"\ninput = { command = { regex = '(a|a|aa)*(a|aa)*b$' } }"),
        text,
    ),
    (
        "300 regexes at their bound",
        || {
            rules(
                300,
                "tool = \"Bash\"\ninput = { command = { regex = '[a-z]{1,900}b[a-z]{1,900}c' } }",
            )
        },
        text,
    ),
    (
        "a field path of 100,000 parts",
        || rule(&format!("tool = \"Bash\"\ninput = {{ \"{}\" = \"x\" }}", "a.".repeat(100_000))),
        text,
    ),
    (
        "a field path of lists",
        || rule(&format!("tool = \"Bash\"\ninput = {{ \"{}\" = \"x\" }}", "[]".repeat(100_000))),
        text,
    ),
    (
        "exceptions with gaps",
        || rule(&format!("effect = \"read\"\nunless = {{ path = \"./{}b\" }}", "**/a/".repeat(12))),
        path,
    ),
    (
        "nested exceptions",
        || rule(&format!("tool = \"Bash\"\n{}", nested("unless = ", 3000))),
        words,
    ),
    ("a match of stars", || rule(&format!("match = \"Bash({}b)\"", "*a".repeat(5000))), words),
    ("a match with gaps", || rule(&format!("match = \"Read(./{}b)\"", "**/a/".repeat(12))), path),
    (
        "a host of stars",
        || rule(&format!("effect = \"network\"\nhost = \"{}b\"", "*a".repeat(5000))),
        host,
    ),
    ("10,000 rules", || rules(10_000, "command = \"x ** a ** a ** y\""), words),
    ("100,000 rules", || rules(100_000, "command = \"x\""), words),
    (
        "3,000 rules with gaps in paths",
        || rules(3000, "effect = \"read\"\npath = \"./**/a/**/a/**/a/**/a/**/b\""),
        path,
    ),
    (
        "one rule of 100,000 paths",
        || rule(&format!("effect = \"read\"\npath = [{}]", "\"a/**/b\",".repeat(100_000))),
        path,
    ),
    (
        "one rule of 100,000 commands",
        || rule(&format!("command = [{}]", "\"y ** a\",".repeat(100_000))),
        words,
    ),
    ("lists in lists", || format!("x = {}{}", "[".repeat(100_000), "]".repeat(100_000)), words),
    ("lists that nobody closes", || format!("x = {}", "[".repeat(1_000_000)), words),
    (
        "tables in tables",
        || format!("x = {}1{}", "{a=".repeat(100_000), "}".repeat(100_000)),
        words,
    ),
    ("a dotted key", || format!("{}a = 1", "a.".repeat(100_000)), words),
    ("a dotted table", || format!("[{}a]", "a.".repeat(100_000)), words),
    (
        "a rule below a dotted table",
        || format!("[rule.a]\n{}a = 1\n", "input.".repeat(100_000)),
        words,
    ),
    (
        "3 MB of comment",
        || format!("# {}\n{}", "x".repeat(3 << 20), rule("command = \"y\"")),
        words,
    ),
    ("5 MB", || format!("# {}\n{}", "x".repeat(5 << 20), rule("command = \"y\"")), words),
    (
        "a string of 1 MB",
        || format!("[rule.a]\ncommand = \"x\"\ndeny = \"{}\"\n", "r".repeat(1 << 20)),
        words,
    ),
    ("a string without an end", || format!("x = \"{}", "a".repeat(1 << 20)), words),
    ("1 MB of zeros", || "\0".repeat(1 << 20), words),
    ("1 MB of line breaks", || "\n".repeat(1 << 20), words),
    ("1 MB of faults", || "x\n".repeat(1 << 19), words),
    ("50,000 rules with a fault each", || rules(50_000, "comand = \"x\""), words),
    (
        "50,000 unknown keys in one rule",
        || format!("[rule.a]\n{}", (0..50_000).map(|i| format!("k{i} = 1\n")).collect::<String>()),
        words,
    ),
    ("50,000 tests", || "[[test]]\ncommand = \"x\"\nverdict = \"deny\"\n".repeat(50_000), words),
    (
        "a reason of 10,000 placeholders",
        || format!("[rule.a]\ncommand = \"x\"\ndeny = \"{}\"\n", "{command}".repeat(10_000)),
        words,
    ),
    (
        "a reason of 1,000 substitutions",
        || {
            format!(
                "[rule.a]\ncommand = \"x\"\ndeny = \"{}\"\n",
                "{command|s/(a|aa)*b/cc/g}".repeat(1000)
            )
        },
        words,
    ),
    (
        "a substitution that doubles, 60 times",
        || format!("[rule.a]\ncommand = \"x\"\ndeny = \"{{command{}}}\"\n", "|s/a/aa/g".repeat(60)),
        words,
    ),
    (
        "a certain and possible rule with gaps",
        || {
            rule(
                "effect = \"read\"\ncertainty = \"possible\"\npath = \"./**/a/**/a/**/a/**/a/**/a/**/a/**/b\"",
            )
        },
        path,
    ),
    (
        "programs with gaps",
        || format!("[program.x]\noperands = \"{}\"\n", "path* ".repeat(10_000)),
        words,
    ),
];

fn nested(key: &str, count: usize) -> String {
    format!("{key}{}{}{}", "{ unless = ".repeat(count), "{ tool = \"x\" }", " }".repeat(count))
}

fn words() -> String {
    format!("x {}", "a ".repeat(3000))
}

fn path() -> String {
    format!("cat {}x {}x", "a/".repeat(2000), "a/b/".repeat(1000))
}

fn text() -> String {
    format!("echo {}", "a".repeat(60_000))
}

fn host() -> String {
    format!("curl https://{}.example.org/", "a.".repeat(20_000))
}

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for &(name, file, call) in FILES {
        rows.push(row(format!("{name}, in a project's file"), Expect::Strict, move |s| {
            s.project(file());
            s.call(&format!("{FORBIDDEN}; {}", call()));
        }));
        rows.push(row(format!("{name}, in the user's file"), Expect::Strict, move |s| {
            s.rules(&file());
            s.call(&format!("{FORBIDDEN}; {}", call()));
        }));
        // The strict answer is one of the user's own rules, whatever the project's ones cost.
        rows.push(row(format!("{name}, beside a plain call"), Expect::Deny, move |s| {
            s.project(file());
        }));
    }
    for &(name, file, call) in FILES.iter().step_by(6) {
        rows.push(row(format!("{name}, in the local file"), Expect::Strict, move |s| {
            s.put("project/.hookctl.local.toml", file());
            s.call(&format!("{FORBIDDEN}; {}", call()));
        }));
        rows.push(row(format!("{name}, beside a denied tool"), Expect::Deny, move |s| {
            s.project(file());
            let path = "a/".repeat(2000);
            s.tool("mcp__evil__do", &serde_json::json!({ "command": call(), "path": path }));
        }));
        rows.push(row(format!("{name}, and a harmless call"), Expect::Lawful, move |s| {
            s.project(file());
            s.call(&call());
        }));
    }
    rows
}
