//! Calls that cost too much to understand: they are denied or asked about, in time.

use serde_json::{Value, json};

use crate::scene::{Expect, FORBIDDEN, Row, Scene, row};

type Make = fn() -> String;

const COMMANDS: &[(&str, Make)] = &[
    ("18 KB of globs", || format!("cat {}x", "**/".repeat(6000))),
    ("60 KB of globs", || format!("cat {}", "*/**/".repeat(12_000))),
    ("globs of stars", || format!("cat {}b", "*a".repeat(20_000))),
    ("globs of classes", || format!("cat {}", "[a-z]".repeat(10_000))),
    ("a class without an end", || format!("cat {}", "[".repeat(50_000))),
    ("extended globs", || {
        format!("shopt -s extglob; rm {}b{}", "+(a|".repeat(5000), ")".repeat(5000))
    }),
    ("hundreds of globs", || format!("rm -rf {}", "*/a* ".repeat(3000))),
    ("braces that multiply", || format!("rm -rf {}", "{a,b}".repeat(60))),
    ("braces that multiply paths", || format!("rm -rf {}", "{a,b}/".repeat(60))),
    ("braces that count", || "rm f{1..1000000000}".into()),
    ("braces that count in braces", || "rm {1..99999}{1..99999}{1..99999}".into()),
    ("braces with a huge number", || "rm {1..99999999999999999999999}".into()),
    ("braces in braces", || format!("rm {}a{}", "{b,".repeat(10_000), "}".repeat(10_000))),
    ("braces that nobody closes", || format!("rm {}", "{a,".repeat(20_000))),
    ("substitutions in substitutions", || {
        format!("{}x{}", "$(".repeat(10_000), ")".repeat(10_000))
    }),
    ("substitutions in quotes in substitutions", || {
        format!("{}x{}", "echo \"$(".repeat(5000), ")\"".repeat(5000))
    }),
    ("substitutions that nobody closes", || "$(".repeat(30_000)),
    ("backticks", || "`".repeat(60_000)),
    ("escaped backticks", || format!("`{}x", "\\\\`".repeat(15_000))),
    ("arithmetic in arithmetic", || format!("echo {}1{}", "$((".repeat(8000), "))".repeat(8000))),
    ("brackets in arithmetic", || {
        format!("echo $(({}1{}))", "(".repeat(20_000), ")".repeat(20_000))
    }),
    ("subshells", || format!("{}rm x{}", "(".repeat(20_000), ")".repeat(20_000))),
    ("groups", || format!("{}rm x;{}", "{ ".repeat(15_000), " }".repeat(15_000))),
    ("process substitutions", || format!("cat {}x{}", "<(cat ".repeat(5000), ")".repeat(5000))),
    ("parameters in parameters", || format!("echo {}x{}", "${a:-".repeat(8000), "}".repeat(8000))),
    ("replacements", || format!("a=x; echo {}", "${a//x/xx}".repeat(5000))),
    ("heredocs", || "cat <<A\n".repeat(5000)),
    ("heredocs with substitutions", || format!("cat <<A\n{}\nA\n", "$(rm x)".repeat(8000))),
    ("40,000 commands", || "a;".repeat(30_000)),
    ("2,000 commands", || "rm x;".repeat(2000)),
    ("20,000 pipes", || format!("a{}", "|a".repeat(20_000))),
    ("20,000 conditions", || format!("a{}", "&&a".repeat(15_000))),
    ("20,000 jobs", || "a&".repeat(20_000)),
    ("negations", || format!("{}rm x", "! ".repeat(30_000))),
    ("a variable that doubles", || format!("a=xx; {}rm $a", "a=$a$a; ".repeat(60))),
    ("a variable that doubles as a word", || {
        format!("a='x x'; {}rm $a", "a=\"$a $a\"; ".repeat(60))
    }),
    ("a list that doubles", || {
        format!("a=(x x); {}rm \"${{a[@]}}\"", "a=(\"${a[@]}\" \"${a[@]}\"); ".repeat(60))
    }),
    ("an evaluation that doubles", || {
        format!("a='rm x'; {}eval \"$a\"", "a=\"$a;$a\"; ".repeat(40))
    }),
    ("loops in loops", || {
        format!("{}rm $a{}", "for a in 1 2 3 4 5 6 7 8 9; do ".repeat(40), "; done".repeat(40))
    }),
    ("3,000 loops in loops", || {
        format!("{}rm x{}", "while a; do ".repeat(2500), "; done".repeat(2500))
    }),
    ("conditions in conditions", || {
        format!("{}rm x{}", "if a; then ".repeat(3000), "; fi".repeat(3000))
    }),
    ("cases in cases", || {
        format!("{}rm x{}", "case a in b) ".repeat(2500), ";; esac".repeat(2500))
    }),
    ("a function that calls itself twice", || "f() { f; f; }; f".into()),
    ("40 functions that call the last one twice", || {
        let steps: String =
            (1..40).map(|i| format!("f{i}() {{ f{}; f{}; }}; ", i - 1, i - 1)).collect();
        format!("f0() {{ rm x; }}; {steps}f39")
    }),
    ("functions that pass on their arguments twice", || {
        let steps: String =
            (1..30).map(|i| format!("f{i}() {{ f{} \"$@\" \"$@\"; }}; ", i - 1)).collect();
        format!("f0() {{ rm \"$@\"; }}; {steps}f29 a b")
    }),
    ("functions in functions", || format!("{}rm x;{}", "f() { ".repeat(4000), "}; ".repeat(4000))),
    ("aliases", || {
        let steps: String =
            (1..40).map(|i| format!("alias a{i}='a{};a{}'\n", i - 1, i - 1)).collect();
        format!("shopt -s expand_aliases\nalias a0='rm x'\n{steps}a39")
    }),
    ("evaluations", || format!("{}rm x", "eval ".repeat(10_000))),
    ("wrappers", || format!("{}rm x", "env ".repeat(15_000))),
    ("wrappers that take a number", || format!("{}rm x", "timeout 1 ".repeat(6000))),
    ("wrappers of several kinds", || {
        format!("{}rm x", "sudo env nice nohup command time ".repeat(1500))
    }),
    ("searches in searches", || format!("{}rm x", "xargs ".repeat(10_000))),
    ("find in find", || format!("{}rm x", "find . -exec ".repeat(4000))),
    ("shells in shells", || {
        let mut text = "rm x".to_string();
        for _ in 0..9 {
            text = format!("bash -c '{}'", text.replace('\'', "'\\''"));
            text.truncate(60_000);
        }
        text
    }),
    ("code in code", || {
        format!("python3 -c '{}'", "import os; os.system(\"python3 -c x\");".repeat(1500))
    }),
    ("Python in brackets", || format!("python3 -c '{}{}'", "(".repeat(25_000), ")".repeat(25_000))),
    ("Python that formats", || {
        format!("python3 -c 'f\"{}{}\"'", "{f\"".repeat(8000), "\"}".repeat(8000))
    }),
    ("JavaScript in brackets", || {
        format!("node -e '{}{}'", "[".repeat(25_000), "]".repeat(25_000))
    }),
    ("JavaScript templates", || {
        format!("node -e '{}x{}'", "`${".repeat(10_000), "}`".repeat(10_000))
    }),
    ("Perl in brackets", || format!("perl -e '{}{}'", "(".repeat(25_000), ")".repeat(25_000))),
    ("sed", || format!("sed -i '{}' x", "s/a/b/;".repeat(8000))),
    ("sed in groups", || format!("sed -i '{}' x", "{".repeat(30_000))),
    ("awk", || format!("awk 'BEGIN{{{}}}'", "print > \"x\";".repeat(4000))),
    ("awk in brackets", || format!("awk '{}'", "(".repeat(30_000))),
    ("jq", || format!("jq '{}' x", "[".repeat(30_000))),
    ("SQL", || format!("sqlite3 x '{}'", "select (".repeat(7000))),
    ("expressions of find", || {
        format!("find . {} -delete {}", "\\( -name a -o ".repeat(3000), "\\)".repeat(3000))
    }),
    ("options", || format!("rm {} x", "-r ".repeat(15_000))),
    ("one option of 60 KB", || format!("rm -{} x", "r".repeat(60_000))),
    ("operands", || format!("rm {}", "x ".repeat(30_000))),
    ("redirections", || format!("a {}", ">x ".repeat(15_000))),
    ("descriptors", || format!("a {}", "9>&8 ".repeat(10_000))),
    ("a path of 60 KB", || format!("cat {}x", "a/".repeat(30_000))),
    ("a path that climbs", || format!("rm -rf {}x", "../".repeat(20_000))),
    ("a path that goes and comes", || format!("cd {}; rm x", "a/../".repeat(12_000))),
    ("directories", || "cd a; rm x; ".repeat(4000)),
    ("directories that climb", || "cd ..; ".repeat(8000)),
    ("a stack of directories", || format!("{}rm x", "pushd a; ".repeat(6000))),
    ("links", || {
        format!(
            "{}cat a",
            (0..2000).map(|i| format!("ln -s l{} l{i}; ", i + 1)).collect::<String>()
        )
    }),
    ("links in a circle", || "ln -s a b; ln -s b a; cat a/b/a/b > a/x".into()),
    ("quotes", || "'\"".repeat(30_000)),
    ("quotes that nobody closes", || format!("rm '{}", "x".repeat(60_000))),
    ("escapes", || format!("rm {}", "\\".repeat(60_000))),
    ("continued lines", || format!("rm {}x", "\\\n".repeat(25_000))),
    ("blanks", || format!("rm{}x", " ".repeat(60_000))),
    ("comments", || format!("{}rm x", "#\n".repeat(30_000))),
    ("control characters", || format!("rm {}", "\u{1}\u{7f}\u{1b}[2J\r".repeat(5000))),
    ("characters of many bytes", || format!("rm {}", "\u{10ffff}\u{202e}\u{0301}".repeat(5000))),
    ("base64", || format!("echo {} | base64 -d | sh", "cm0geA==".repeat(7000))),
    ("numbers that overflow", || {
        "echo $((1<<99999999999)) ${a:99999999999999999999:99} $((9**9**9**9)); rm f$((1/0))".into()
    }),
    ("repeats that overflow", || {
        "printf '%99999999999d' 1 | sh; printf 'x%.0s' {1..999999999}".into()
    }),
    ("git refspecs", || format!("git push origin {}", "+a:b ".repeat(10_000))),
    ("a URL of 60 KB", || {
        format!("curl https://{}.org/{}", "a.".repeat(10_000), "%41".repeat(10_000))
    }),
    ("assignments", || format!("{}rm x", "a=b ".repeat(15_000))),
    ("traps", || format!("{}rm x", "trap 'rm y' EXIT; ".repeat(3000))),
    ("sets", || format!("set -- {}; {}rm \"$1\"", "a ".repeat(5000), "shift; ".repeat(5000))),
    ("arrays", || format!("a[{}0{}]=1; rm x", "a[".repeat(10_000), "]".repeat(10_000))),
    ("reads", || format!("{}rm x", "read a <<< b; ".repeat(4000))),
];

/// What it is, the tool, its input, and whether the user's rule denies that tool.
type Tool = (&'static str, &'static str, fn() -> Value, bool);

const TOOLS: &[Tool] = &[
    ("a path of 1 MB is read", "Read", || json!({ "file_path": "a/".repeat(500_000) }), false),
    ("a path that climbs is read", "Read", || json!({ "file_path": "../".repeat(300_000) }), false),
    ("a path of zeros is read", "Read", || json!({ "file_path": "\0".repeat(100_000) }), false),
    ("a list where a path belongs", "Read", || json!({ "file_path": [[[{}]]] }), false),
    (
        "100,000 edits",
        "MultiEdit",
        || {
            let edit = json!({ "old_string": "a", "new_string": "b" });
            json!({ "file_path": "a", "edits": vec![edit; 100_000] })
        },
        false,
    ),
    ("a glob of 1 MB", "Glob", || json!({ "pattern": "**/".repeat(300_000) }), false),
    ("a glob of braces", "Glob", || json!({ "pattern": "{a,b}/".repeat(1000) }), false),
    (
        "a search of 1 MB",
        "Grep",
        || json!({ "pattern": "(a|b)*".repeat(150_000), "glob": "**/".repeat(100_000) }),
        false,
    ),
    (
        "a search of doubts",
        "Grep",
        || json!({ "pattern": "((a{1,99}){1,99}){1,99}", "path": "**/".repeat(1000), "glob": "{a,b}".repeat(1000) }),
        false,
    ),
    (
        "an address of 1 MB",
        "WebFetch",
        || json!({ "url": format!("https://{}/", "a.".repeat(500_000)), "prompt": "x" }),
        false,
    ),
    (
        "an address of brackets",
        "WebFetch",
        || json!({ "url": format!("https://[{}", ":".repeat(500_000)), "prompt": "x" }),
        false,
    ),
    (
        "10 MB of prompt",
        "Agent",
        || json!({ "prompt": "rm -rf / ".repeat(1_000_000), "subagent_type": "x" }),
        false,
    ),
    ("120 levels", "mcp__evil__do", || (0..120).fold(json!("x"), |inner, _| json!([inner])), true),
    (
        "100,000 paths",
        "mcp__evil__write",
        || json!({ "paths": vec!["/etc/passwd"; 100_000] }),
        true,
    ),
    (
        "100,000 commands",
        "mcp__evil__run",
        || json!({ "commands": vec!["rm -rf x"; 100_000] }),
        true,
    ),
    ("a command of 1 MB", "mcp__evil__run", || json!({ "command": "$(".repeat(500_000) }), true),
    ("150,000 texts", "mcp__evil__do", || json!({ "x": vec!["a/b"; 150_000] }), true),
    ("2 MB of SQL", "mcp__evil__query", || json!({ "sql": "select (".repeat(250_000) }), true),
    (
        "1 MB of patch",
        "mcp__evil__apply",
        || json!({ "patch": "--- a/x\n+++ b/x\n@@ -1 +1 @@\n".repeat(35_000) }),
        true,
    ),
    (
        "addresses of files",
        "mcp__evil__open",
        || json!({ "uris": vec!["file:///%2e%2e/%2e%2e/a"; 50_000] }),
        true,
    ),
    ("a tool's name of 1 MB", "mcp__evil__LONG", || json!({}), true),
];

/// The user's rule that is not strict enough to settle a call: the shipped ones are asked as well.
const ASKED: &str = "[rule.maybe]\ncommand = \"questioned-thing\"\nask = \"sure?\"\n";

const ON_PATHS: &str =
    "effect = \"modify\"\nunless = { path = [\"./**/a/**/b/**\", \"/tmp/\"] }\nask = \"x\"\n";

/// Directories for globs to look into.
fn tree(scene: &Scene) {
    for i in 0..4 {
        for j in 0..4 {
            scene.put(&format!("project/a{i}/b{j}/a/b/a/b/a/b/x"), "x");
        }
    }
}

pub fn rows() -> Vec<Row> {
    let mut rows = Vec::new();
    for &(name, call) in COMMANDS {
        rows.push(row(format!("behind what is asked about: {name}"), Expect::Strict, move |s| {
            tree(s);
            s.config(ASKED);
            s.call(&format!("questioned-thing; {}", call()));
        }));
        rows.push(row(format!("alone: {name}"), Expect::Lawful, move |s| {
            tree(s);
            s.call(&call());
        }));
    }
    for &(name, call) in COMMANDS.iter().step_by(4) {
        rows.push(row(format!("behind what is denied: {name}"), Expect::Strict, move |s| {
            s.call(&format!("{FORBIDDEN}; {}", call()));
        }));
        rows.push(row(format!("ten times: {name}"), Expect::Strict, move |s| {
            s.config(ASKED);
            s.call(&format!("questioned-thing; {}", format!("{}\n", call()).repeat(10)));
        }));
        rows.push(row(format!("under rules on paths: {name}"), Expect::Strict, move |s| {
            let rules: String = (0..200).map(|i| format!("[rule.p{i}]\n{ON_PATHS}")).collect();
            s.config(&format!("{ASKED}\n{rules}"));
            s.call(&format!("questioned-thing; {}", call()));
        }));
    }
    for &(name, tool, input, denied) in TOOLS {
        let expect = if denied { Expect::Deny } else { Expect::Lawful };
        rows.push(row(name, expect, move |s| {
            s.tool(&tool.replace("LONG", &"x".repeat(1 << 20)), &input());
        }));
        rows.push(row(format!("{name}, as a tool that nobody knows"), Expect::Lawful, move |s| {
            s.tool(&format!("mcp__x__{}", tool.rsplit("__").next().unwrap()), &input());
        }));
        rows.push(row(format!("{name}, under rules on paths"), expect, move |s| {
            s.rules("[rule.p]\neffect = \"modify\"\npath = \"./**/a/**/b/**\"\nask = \"x\"\n[rule.q]\neffect = \"read\"\npath = [\"**/a/**/a/**/a\", \"*.env\"]\nask = \"x\"\n");
            s.tool(&tool.replace("LONG", &"x".repeat(1 << 20)), &input());
        }));
    }
    rows
}
