//! Commands and the effects they must have: `tests/effects/**/*.toml`.
//!
//! A case is `run` (a command, or a list of such with the same answer), `path` (a file tool's path), or `tool` with `input`, and lists:
//! `has` must all be there, `not` must not, `only` is the whole list. An effect is written
//! `word[mark] what [extent]`: mark `?` = possible, `!` = unknown; what = a path, a host, or the
//! sub-command's name. Of `any`, one must be there. In `any` and `not` a `*` at the end stands for
//! the rest. `commands` is the list of sub-commands, with `name(option option)`.
//!
//! In a list, a command may stand in a list of its own, with what it alone must have.
//!
//! Each command must have something: an analysis that finds nothing passes no case but those of calls that
//! do nothing, and these say so: `only = []`, or `nothing` beside the command.

mod common;
#[path = "common/elsewhere.rs"]
mod elsewhere;

use common::nobody::{moved, project};
use common::{commands, place, render};
use elsewhere::{Differing, system};
use hookctl::effect::{Analysis, analyse_event, shell, windows};
use hookctl::event::{Event, Kind};
use toml::de::{DeTable, DeValue};

fn text<'a>(case: &'a DeTable, key: &str) -> Option<&'a str> {
    match case.get(key)?.get_ref() {
        DeValue::String(text) => Some(text),
        _ => None,
    }
}

fn strings(case: &DeTable, key: &str) -> Option<Vec<String>> {
    let DeValue::Array(list) = case.get(key)?.get_ref() else { panic!("{key} is no list") };
    Some(
        list.iter()
            .map(|v| match v.get_ref() {
                DeValue::String(text) => native(text),
                _ => panic!("{key} holds no text"),
            })
            .collect(),
    )
}

/// The expectation as this system has it: elsewhere `C:/x` may be a name in the directory as well (`C:/x -> DIRECTORY/C:/x`),
/// on Windows it is no other path than itself.
fn native(want: &str) -> String {
    let other = format!(" -> {}/", project());
    let Some((own, rest)) = want.split_once(&other).filter(|_| cfg!(windows)) else {
        return want.into();
    };
    let extents = ["tree", "visible", "children", "below", "glob"];
    let (rest, extent) = match rest.rsplit_once(' ').filter(|(_, e)| extents.contains(e)) {
        Some((rest, extent)) => (rest, format!(" {extent}")),
        None => (rest, String::new()),
    };
    match windows::canonical_path(rest) {
        Some(_) => format!("{own}{extent}"),
        None => want.into(),
    }
}

/// The keys of a case.
const KEYS: &[&str] = &[
    "run",
    "path",
    "tool",
    "input",
    "cwd",
    "has",
    "not",
    "only",
    "any",
    "commands",
    "transparent",
    "note",
];

/// What a command is followed by that does nothing.
const NOTHING: &str = "nothing";

/// A command, and what it must have beside what its case says.
struct Run {
    text: String,
    has: Vec<String>,
}

/// The commands of a case; none where it is about a tool.
fn runs(case: &DeTable) -> Vec<Run> {
    let run = |value: &DeValue| match value {
        DeValue::String(text) => Run { text: text.to_string(), has: Vec::new() },
        DeValue::Array(list) => {
            let mut texts = list.iter().map(|item| match item.get_ref() {
                DeValue::String(text) => text.to_string(),
                _ => panic!("a command holds no text"),
            });
            let text = texts.next().expect("a command");
            Run { text, has: texts.map(|want| native(&want)).collect() }
        }
        _ => panic!("a command is no text"),
    };
    match case.get("run").map(|value| value.get_ref()) {
        None => Vec::new(),
        Some(DeValue::Array(list)) => list.iter().map(|item| run(item.get_ref())).collect(),
        Some(one) => vec![run(one)],
    }
}

fn tool(name: &str, input: serde_json::Value, cwd: &str) -> Analysis {
    let event = Event {
        agent: "claude",
        kind: Kind::PreToolUse,
        name: "PreToolUse".into(),
        tool: name.into(),
        input,
        cwd: cwd.into(),
        session: String::new(),
        more: Vec::new(),
        raw: serde_json::Map::new(),
        native: serde_json::Value::Null,
    };
    analyse_event(&event, &place(cwd))
}

/// The `*.toml` files below a folder, its sub-folders included, in a fixed order.
fn files(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|e| e == "toml") {
            found.push(path);
        }
    }
    found.sort();
    found
}

/// Calls `visit` with every case of every file, once for each of its commands.
fn each(mut visit: impl FnMut(&std::path::Path, &DeTable, Option<&Run>)) {
    for file in files("tests/effects".as_ref()) {
        let source = moved(&std::fs::read_to_string(&file).unwrap());
        let table = DeTable::parse(&source).unwrap_or_else(|e| panic!("{}: {e}", file.display()));
        let Some(DeValue::Array(list)) = table.get_ref().get("case").map(|v| v.get_ref()) else {
            panic!("no cases")
        };
        for case in list.iter() {
            let DeValue::Table(case) = case.get_ref() else { panic!("no table") };
            if !case.contains_key("run") {
                visit(&file, case, None);
            }
            runs(case).iter().for_each(|run| visit(&file, case, Some(run)));
        }
    }
}

/// What is wrong with a case as it is written.
fn unsound(case: &DeTable, run: Option<&Run>) -> Vec<String> {
    let keys = case.keys().map(|key| key.get_ref().as_ref());
    let mut faults: Vec<String> =
        keys.filter(|key| !KEYS.contains(key)).map(|key| format!("no such key: {key}")).collect();
    let lists = ["has", "only", "any", "commands"];
    let of_case = lists.iter().any(|key| strings(case, key).is_some_and(|list| !list.is_empty()));
    let says_nothing = strings(case, "only").is_some_and(|only| only.is_empty());
    if !of_case && !says_nothing && run.is_none_or(|run| run.has.is_empty()) {
        faults.push("nothing must be there: `only = []` if it does nothing".into());
    }
    faults
}

/// What is wrong with the answer to a case: empty if nothing is.
fn judge(case: &DeTable, run: Option<&Run>) -> String {
    // Each case is an event of its own, with the time of one.
    hookctl::limits::begin_event();
    let project = project();
    let cwd = text(case, "cwd").unwrap_or(&project);
    let (title, analysis) = if let Some(run) = run {
        (run.text.as_str(), shell::analyse_command(&run.text, &place(cwd)))
    } else if let Some(path) = text(case, "path") {
        (path, tool("Read", serde_json::json!({ "file_path": path }), cwd))
    } else {
        let json = text(case, "input").unwrap_or("{}");
        (json, tool(text(case, "tool").unwrap(), serde_json::from_str(json).unwrap(), cwd))
    };
    let got = render(&analysis);
    let has = |want: &String| {
        got.iter().any(|g| g == want)
            || want.strip_suffix('*').is_some_and(|start| got.iter().any(|g| g.starts_with(start)))
    };
    let mut faults = unsound(case, run);
    let is_there = |at: usize| at < analysis.commands.len();
    if !analysis.effects.iter().all(|effect| effect.command.is_none_or(is_there)) {
        faults.push("an effect of a command that is not there".into());
    }
    let (nothing, own): (Vec<String>, Vec<String>) =
        run.map(|run| run.has.clone()).unwrap_or_default().into_iter().partition(|t| t == NOTHING);
    if !nothing.is_empty() && !got.is_empty() {
        faults.push("expected nothing".into());
    }
    if let Some(only) = strings(case, "only")
        && only != got
    {
        faults.push(format!("expected only {only:?}"));
    }
    for want in strings(case, "has").unwrap_or_default().into_iter().chain(own) {
        if !got.contains(&want) {
            faults.push(format!("misses {want:?}"));
        }
    }
    if let Some(any) = strings(case, "any")
        && !any.iter().any(has)
    {
        faults.push(format!("has none of {any:?}"));
    }
    for bad in strings(case, "not").unwrap_or_default() {
        if has(&bad) {
            faults.push(format!("must not have {bad:?}"));
        }
    }
    if let Some(want) = strings(case, "commands")
        && want != commands(&analysis)
    {
        faults.push(format!("expected commands {want:?}"));
    }
    if let Some(want) = text(case, "transparent").map(|v| v == "yes")
        && want != analysis.commands.iter().all(|c| c.transparent)
    {
        faults.push(format!("transparent is not {want}"));
    }
    if let Some(want) = text(case, "note")
        && !analysis.notes.iter().any(|n| n.contains(want))
    {
        faults.push(format!("no note {want:?}"));
    }
    if faults.is_empty() {
        return String::new();
    }
    let (faults, commands) = (faults.join("\n  "), commands(&analysis));
    format!("{title}\n  {faults}\n  got {got:?}\n  {commands:?}\n  {:?}", analysis.notes)
}

#[test]
fn cases() {
    let mut faults = Vec::new();
    let mut count = 0;
    let mut differing = Differing::of("effects", moved);
    each(|file, case, run| {
        count += 1;
        let fault = judge(case, run);
        let line = run.map(|run| run.text.as_str());
        let line = line.or_else(|| text(case, "path")).or_else(|| text(case, "input"));
        let left_out = differing.leaves_out(line.unwrap_or_default(), !fault.is_empty());
        if !fault.is_empty() && !left_out {
            faults.push(format!("{}: {fault}", file.display()));
        }
    });
    assert!(faults.is_empty(), "{} of {count} cases\n{}", faults.len(), faults.join("\n"));
    assert_eq!(differing.idle(), Vec::<&String>::new(), "tests/windows.toml: not read otherwise");
    println!("{count} cases");
    assert!(count >= 300, "only {count} cases");
}

/// `EFFECTS='rm x' cargo test --test effects show -- --nocapture` prints what is found; an
/// argument that begins with `@` is a file with one command per line.
#[test]
fn show() {
    let Ok(text) = std::env::var("EFFECTS") else { return };
    let lines = match text.strip_prefix('@') {
        Some(file) => {
            std::fs::read_to_string(file).unwrap().lines().map(|l| l.replace("\\n", "\n")).collect()
        }
        None => vec![text],
    };
    for line in lines {
        let start = std::time::Instant::now();
        let analysis = shell::analyse_command(&line, &place(&project()));
        println!(
            "$ {line}\n  {:?}\n  {:?} {:?} {:?}",
            render(&analysis),
            commands(&analysis),
            analysis.notes,
            start.elapsed()
        );
    }
}

/// Input that is made to hurt is answered soon, and never as if it were understood.
#[test]
fn hostile_sizes() {
    let limit = std::time::Duration::from_secs(if cfg!(debug_assertions) { 4 } else { 1 });
    let cases: Vec<(&str, String)> = vec![
        ("megabyte", format!("echo {}", "a ".repeat(500_000))),
        ("megabyte of quotes", "\"".repeat(1_000_001)),
        ("arithmetic openers", "$((".repeat(5_000)),
        ("openers", "echo $(((((".repeat(2_000)),
        ("parens", "(".repeat(60_000)),
        ("braces", "{ ".repeat(30_000)),
        ("brace words", format!("echo {}", "{a,b}".repeat(2_000))),
        ("open brace words", format!("echo {}", "{a,".repeat(60))),
        ("pipes", "a|".repeat(30_000) + "b"),
        ("ands", "a&&".repeat(20_000) + "b"),
        ("semicolons", "a;".repeat(30_000)),
        ("directories", "cd a;".repeat(12_000)),
        ("subshells", "(x=1;a);".repeat(8_000)),
        ("assignments", (0..5_000).map(|i| format!("v{i}=$v{} ", i / 2)).collect::<String>()),
        ("doubling", "x=a;".to_string() + &"x=$x$x;".repeat(200) + "rm $x"),
        ("backticks", "`".repeat(60_000)),
        ("ifs", "if a; then ".repeat(5_000)),
        ("nested ifs", "if a; then ".repeat(80) + "rm x;" + &"fi;".repeat(80)),
        ("loops", "for i in a b; do ".repeat(40) + "rm $i;" + &"done;".repeat(40)),
        ("whiles", "x=1; while a; do x=$x$y; ".repeat(40) + "rm $x;" + &"done;".repeat(40)),
        ("cases", "case a in a) ".repeat(200)),
        (
            "functions",
            (0..200).map(|i| format!("f{i}(){{ f{0} x; f{0} y; }};", i + 1)).collect::<String>()
                + "f0",
        ),
        ("recursion", "f(){ f x; f y; f z; }; f".into()),
        ("parameters and substitutions", format!("echo {}", "${x/$(a ".repeat(20))),
        ("parameters and documents", format!("cat <<E\n{}\nE", "${x:-<(a ".repeat(20))),
        ("parts of parameters", format!("echo {}{}", "${x:1:a".repeat(50), "}".repeat(50))),
        ("wide parts", format!("echo {}", format!("${{x/a/{}", "b".repeat(3000)).repeat(12))),
        ("lists and parameters", "a=(${x a a a a a ".repeat(500)),
        ("substitutions", "$(".repeat(60) + "rm x" + &")".repeat(60)),
        ("double quotes in substitutions", "\"$(".repeat(30) + "rm x" + &")\"".repeat(30)),
        ("parameters", "${a:-".repeat(60) + "x" + &"}".repeat(60)),
        ("heredocs", (0..2_000).map(|i| format!("cat <<E{i}\n")).collect()),
        ("evals", "eval ".repeat(10_000) + "rm x"),
        ("sudos", "sudo ".repeat(10_000) + "rm x"),
        ("envs", "env ".repeat(10_000) + "rm x"),
        ("redirections", "> a ".repeat(15_000)),
        ("options", "rm -".to_string() + &"r".repeat(60_000)),
        ("slashes", "rm ".to_string() + &"/a".repeat(30_000)),
        ("dots", "rm ".to_string() + &"../".repeat(20_000)),
        ("operands", "rm ".to_string() + &"/q/w/e/r/t ".repeat(5_000)),
        (
            "distinct operands",
            "rm ".to_string() + &(0..6_000).map(|i| format!("/q{i}/w ")).collect::<String>(),
        ),
        ("quotes", "'a' \"b\" ".repeat(5_000)),
        ("nested openers", "$(".repeat(5_000) + &")".repeat(5_000)),
        ("heredocs in a row", "cat <<E\nx\nE\n".repeat(5_000)),
        (
            "variables in a loop",
            "for i in a b; do ".to_string()
                + &(0..3_000).map(|i| format!("v{i}=$v{}x;", i / 2)).collect::<String>()
                + "done",
        ),
        ("here strings", "cat <<< $(".repeat(40) + "a" + &")".repeat(40)),
        ("process substitutions", "cat <(".repeat(40) + "a" + &")".repeat(40)),
        ("lists in substitutions", "x=$(a;".repeat(40) + "a" + &")".repeat(40)),
        ("parallel items", "parallel echo ::: ".to_string() + &"a b c ::: ".repeat(2_000)),
        ("nul", "rm a\0b".into()),
        (
            "worlds",
            (0..10).map(|i| format!("for v{i} in a b c d; do ")).collect::<String>()
                + "rm $v0$v1$v2$v3$v4$v5;"
                + &"done;".repeat(10),
        ),
        ("stars", format!("x={}; echo ${{x%%*a*a*a*a*b}}", "a".repeat(500)).repeat(50)),
    ];
    for (name, text) in cases {
        let start = std::time::Instant::now();
        let analysis = shell::analyse_command(&text, &place(&project()));
        let took = start.elapsed();
        println!(
            "{name}: {took:?} {} effects, {} commands, {:?}",
            analysis.effects.len(),
            analysis.commands.len(),
            analysis.notes
        );
        system::is_in_time(start, limit, name);
    }
}

/// A character of several bytes, wherever it stands: no reader cuts it. Every 16th place of each case; STRIDE=1 for all.
#[test]
fn wide_characters() {
    let stride = std::env::var("STRIDE").ok().and_then(|s| s.parse().ok()).unwrap_or(16);
    let mut count = 0_usize;
    each(|_, _, run| {
        let Some(text) = run.map(|run| run.text.clone()).filter(|text| text.len() < 400) else {
            return;
        };
        for (at, old) in text.char_indices() {
            count += 1;
            if count.is_multiple_of(stride) {
                let line = format!("{}é{}", &text[..at], &text[at + old.len_utf8()..]);
                shell::analyse_command(&line, &place(&project()));
            }
        }
    });
    assert!(count > 100_000);
}

/// Whatever is thrown at it: an answer, soon, and no panic. The pieces are the cases of this test,
/// cut and joined by a fixed row of numbers.
#[test]
fn mutations() {
    let mut pieces = Vec::new();
    each(|_, _, run| {
        pieces.extend(run.map(|run| run.text.clone()).filter(|text| text.len() < 400));
    });
    pieces.sort();
    pieces.extend(
        [
            "$(",
            ")",
            "`",
            "\"",
            "'",
            "{",
            "}",
            "${x",
            "<<EOF\n",
            "\nEOF\n",
            "|",
            "&&",
            ";",
            "é",
            "\\",
            "$((",
            "))",
            "\0",
            "~",
            "*",
            "[",
            "((",
            "case x in",
            "esac",
            "do",
            "done",
        ]
        .map(str::to_string),
    );
    let mut seed: u64 = std::env::var("SEED").ok().and_then(|s| s.parse().ok()).unwrap_or(1);
    let mut next = |n: usize| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap() % n.max(1)
    };
    let rounds = std::env::var("ROUNDS").ok().and_then(|s| s.parse().ok()).unwrap_or(3_000);
    for _ in 0..rounds {
        let mut line = String::new();
        for _ in 0..=next(4) {
            let piece: Vec<char> = pieces[next(pieces.len())].chars().collect();
            let (a, b) = (next(piece.len() + 1), next(piece.len() + 1));
            let (a, b) = if next(3) == 0 { (a.min(b), a.max(b)) } else { (0, piece.len()) };
            line.extend(&piece[a..b]);
            if next(2) == 0 {
                line.push(' ');
            }
        }
        let start = std::time::Instant::now();
        let analysis = shell::analyse_command(&line, &place(&project()));
        system::is_in_time(start, std::time::Duration::from_secs(2), &line);
        for effect in &analysis.effects {
            assert!(effect.command.is_none_or(|i| i < analysis.commands.len()), "{line:?}");
            let absolute = |p: &str| {
                p.starts_with(['/', '$'])
                    || windows::canonical_path(p).is_some_and(|form| form == p)
            };
            assert!(
                effect.path.as_ref().is_none_or(|p| absolute(&p.lexical) && absolute(&p.resolved)),
                "{line:?}: {:?}",
                effect.path
            );
            assert!(line.get(effect.span.clone()).is_some(), "span {:?} of {line:?}", effect.span);
        }
        for (i, command) in analysis.commands.iter().enumerate() {
            assert!(command.parent.is_none_or(|p| p < i), "{line:?}");
            assert!(
                command.operands.iter().chain(&command.doubtful).all(|o| *o < command.args.len()),
                "{line:?}"
            );
            assert!(
                line.get(command.span.clone()).is_some(),
                "span {:?} of {line:?}",
                command.span
            );
        }
    }
}
