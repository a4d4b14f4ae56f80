//! Hostile rule files and hostile calls: an answer within the budget, whatever they hold.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

mod home;

/// What a slow machine and a build without optimisation may take; without a budget it is minutes.
const LIMIT: Duration = Duration::from_secs(20);

/// The verdict and what is told, of a call beside these files.
fn judge(user: &str, project: &str, tool: &str, input: Value) -> (String, String) {
    let home = home::make(user);
    let dir = home.path().join("p");
    fs::create_dir_all(dir.join(".git")).unwrap();
    fs::write(dir.join(".hookctl.toml"), project).unwrap();
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": dir, "tool_name": tool, "tool_input": input,
    });
    let start = Instant::now();
    let mut child = home::command(home.path(), &["hook"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(start.elapsed() < LIMIT, "{:?}: {project:.80} {payload:.80}", start.elapsed());
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(
        matches!(output.status.code(), Some(0 | 2)),
        "{:?} {project:.80} {payload:.80}",
        output.status
    );
    let answer: Value =
        if text.is_empty() { json!({}) } else { serde_json::from_str(&text).unwrap() };
    let verdict = answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str);
    (verdict.unwrap_or("-").to_string(), text)
}

fn bash(user: &str, project: &str, command: &str) -> (String, String) {
    judge(user, project, "Bash", json!({ "command": command }))
}

#[test]
fn a_few_bytes_of_a_repository_hang_nothing() {
    let words = "a ".repeat(200);
    let deep = "/a".repeat(60);
    for (rule, call) in [
        ("command = 'echo ** a ** a ** a ** a ** a ** a ** a ** a ** z'", format!("echo {words}")),
        ("path = '/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/z'", format!("cat {deep}")),
        ("path = '**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/a/**/z'", format!("cat {deep}")),
        ("path = '/x'", format!("cat {}", "**/".repeat(6000))),
        ("path = '/x'", format!("cat {}", "*/".repeat(9000))),
    ] {
        let (verdict, text) = bash("", &format!("[rule.x]\n{rule}\ndeny = 'no'\n"), &call);
        assert_ne!(verdict, "deny", "{rule}: {text}");
    }
}

#[test]
fn too_much_in_a_file_is_a_fault_and_the_rest_holds() {
    let (_, text) = bash(
        "",
        &format!("[rule.x]\ncommand = 'echo {}'\ndeny = 'no'\n", "** ".repeat(50_000)),
        "echo a",
    );
    assert!(text.contains(".hookctl.toml:2:11") && text.contains("more than 64 words"), "{text}");
    let many: String =
        (0..600).map(|i| format!("[rule.x{i}]\ncommand = 'p{i}'\ndeny = 'no'\n")).collect();
    let (verdict, text) = bash("", &many, "p600");
    assert!(verdict == "-" && text.contains(":1501:") && text.contains("too-many"), "{text}");
    assert_eq!(bash("", &many, "p499").0, "deny", "what stands before it holds");
    assert_eq!(bash("", &many, "p500").0, "-");
    assert!(
        bash("", &format!("{many}#{}", "x".repeat(300_000)), "p1")
            .1
            .contains("larger than 256 KiB")
    );
    let list = format!("[rule.x]\ncommand = [{}]\ndeny = 'no'\n", "'p',".repeat(1001));
    assert!(bash("", &list, "p").1.contains("too-many"));
    // In an own file it asks, and its sound rules hold.
    let (verdict, text) = bash(&format!("{list}[rule.y]\ncommand = 'q'\ndeny = 'no'\n"), "", "ls");
    assert!(verdict == "ask" && text.contains("too-many"), "{text}");
    assert_eq!(bash(&format!("{list}[rule.y]\ncommand = 'q'\ndeny = 'no'\n"), "", "q").0, "deny");
}

/// A file of a repository's that is nothing but faults is read in time that grows with its length, not with its square.
#[test]
#[cfg(unix)]
fn a_file_of_faults_is_read_in_time() {
    use hookctl::rule::{Layer, file};
    let whole = hookctl::limits::PROJECT_FILE as usize;
    for line in [
        "a\n",
        "'\n",
        "\"\n",
        "a = [\n",
        "a = 'x' 'y'\n",
        "  'x' 'y',\n",
        "a = 1\n",
        "[a]\n",
        "[rule.a]\ndeny = 'x'\n",
        "a = {b = 1}\n",
        "a.b = 1\na = 1\n",
        "= 1\n",
        "[[\n",
        "\u{1}\n",
        "[rule.x]\ncomand = 'x'\n",
        "x = \"\\q\"\n",
    ] {
        let text = line.repeat(whole / line.len());
        let start = processor_time();
        let read =
            file::read_rules(&text, std::path::Path::new("/p/.hookctl.toml"), Layer::Project, None);
        // As `hookctl check` does.
        assert!(read.faults.iter().all(|fault| !fault.to_report("x", &text).is_empty()));
        let took = processor_time().saturating_sub(start);
        assert!(
            !read.faults.is_empty() && took < std::time::Duration::from_secs(8),
            "{line:?}: {took:?}"
        );
    }
}

/// What this thread has used: a machine that is busy is no reason.
#[cfg(unix)]
fn processor_time() -> std::time::Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    std::time::Duration::new(
        time.tv_sec.unsigned_abs(),
        u32::try_from(time.tv_nsec).unwrap_or_default(),
    )
}

#[test]
fn a_spent_budget_asks_and_takes_nothing_from_others() {
    let hard: String = (0..499)
        .map(|i| format!("[rule.x{i}]\npath = '**/*aa*/**/*aa*/**/*aa*/**/x'\ndeny = 'no'\n"))
        .collect();
    let call: String = (0..250).map(|i| format!(" {}/{i}", "/aa".repeat(80))).collect();
    let user =
        "[rule.own]\ncommand = 'rm'\ndeny = 'own'\n[rule.all]\neffect = 'read'\nallow = 'x'\n";
    let (verdict, text) = bash(user, &hard, &format!("cat{call}"));
    assert!(verdict == "ask" && text.contains("to judge than one call may"), "{text}");
    let (verdict, text) = bash(user, &hard, &format!("rm{call}"));
    assert!(verdict == "deny" && text.contains("own"), "{text}");
    // A search that could take minutes.
    let input = json!({ "file_path": "/tmp/x", "content": "a".repeat(8 << 20) });
    let rule = "[rule.x]\ninput.content = { regex = 'a*a*a*a*a*a*[bc]' }\ndeny = 'no'\n";
    assert_eq!(judge("", rule, "Write", input).0, "ask");
    // A reason that doubles sixty times.
    let rule =
        format!("[rule.x]\ncommand = 'echo'\ndeny = '{{command{}}}'\n", "|s/./$0$0/g".repeat(60));
    assert_eq!(bash("", &rule, "echo a").0, "deny");
}

#[test]
fn what_overflowed_the_parsers_stack_is_asked_about() {
    for one in ["time ", "coproc ", "time a|", "f()\n", "function f\n"] {
        assert_eq!(bash("", "", &format!("{}a", one.repeat(3000))).0, "ask", "{one:?}");
    }
    bash("", "", &"(a)".repeat(20_000));
    assert_eq!(bash("", "", "time ls").0, "-");
}

/// Numbers in the analysis and in judging that are no caps: text of the line, and why.
const NO_CAPS: &[(&str, &str)] = &[
    ("const SUM: usize", "the format of an index"),
    ("const PREVIEW: usize", "what a placeholder prints unless it says so"),
    ("const PRIORITY: u8", "what a rule has that names none"),
    ("const HIGHEST: u8", "the scale of priorities"),
    ("const ALL: u64", "a set of bits"),
    ("pub const LENGTH: usize", "the format of an index"),
    ("const SIGNS: usize", "how many printable signs there are"),
    ("const BLOCK: usize = 512", "tar's format"),
    ("const LONGEST: usize = 64", "the format of the lists of packages"),
    ("(step - bias).min(26)", "the encoding of names of hosts, RFC 3492"),
    ("text.lines().take(2)", "the lines that Python looks for an encoding in"),
    ("const HEAD: usize = 62", "the format of git's index"),
    ("const SIZE: usize = 36", "the format of git's index"),
    ("const BASE: usize = 20", "the format of git's index"),
    ("const STEP: usize", "what a step costs"),
    ("const LONGEST_WORD: usize", "what a message names, and what is longer it leaves out"),
    ("const STEPS: usize = 1 << 12", "steps until the budget is asked"),
    ("const RULE: usize = 32", "what a rule costs"),
    ("const EFFECT: usize = 16", "what an effect costs"),
    ("const BRIDGE: u16 = 3043", "a port"),
    ("const REMEMBER: u64", "seconds, a default"),
    ("const LONGEST_REMEMBERED: u64", "seconds that a key admits"),
    ("const SUM: usize = 17", "the index's own format"),
    ("const CLIENT_CAP: u32 = 8", "the client's"),
    ("const DEEPEST: usize = 32", "the packed form of a rule: what is deeper is damaged"),
    ("const MOST: usize = limits::", "another name"),
    ("args.iter().take(4).any(|arg| is_agent", "where a runner's package stands"),
    ("mode.bytes().rev().take(3)", "the digits of a mode"),
    ("files.iter().take(1)", "scp's first operand"),
    ("self.place(name)? + 1..].iter().take(2)", "what stands right behind a keyword"),
    (".rev().take(3).find(|t| t.kind == TokenKind::Name)", "what stands right before a default"),
    ("const NO_NAME: usize = 40", "what base64 looks like"),
    ("for round in 0..3", "a loop's body is forgotten in the last round"),
    ("chars().take(200)", "what is shown of a line"),
    ("chars().take(64)", "what is compared for a suggestion"),
];

/// Does a line hold a number where caps have theirs: behind a comparison, `take`, `truncate`, in a constant?
fn caps(line: &str) -> bool {
    let number = |rest: &str| {
        let rest = rest.trim_start_matches(['=', ' ']);
        let digits: String = rest
            .chars()
            .take_while(|c| c.is_ascii_digit() || *c == '_')
            .filter(|c| *c != '_')
            .collect();
        let behind = rest
            [rest.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(rest.len())..]
            .trim_start();
        digits.parse::<u64>().is_ok_and(|n| n > 1 && !(n < 4 && behind.is_empty()))
    };
    let constant = line.trim_start().trim_start_matches("pub ").starts_with("const ")
        && ["usize = ", "u8 = ", "u16 = ", "u32 = ", "u64 = "].iter().any(|kind| {
            line.split_once(kind).is_some_and(|(_, rest)| {
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                rest.contains("<<")
                    || digits.parse::<u64>().is_ok_and(|n| n > 12)
                    || rest.contains('_')
            })
        });
    let counted = ["len()", "count()", "depth", "count", "nest"].iter().any(|what| {
        line.match_indices(what).any(|(at, _)| {
            let rest = line[at + what.len()..].trim_start();
            let large = |rest: &str| {
                let rest = rest.trim_start_matches(['=', ' ']);
                let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
                digits.len() > 1
            };
            rest.strip_prefix(['<', '>']).is_some_and(large)
        })
    });
    let taken = ["take(", "truncate(", ".min(", "in 0.."]
        .iter()
        .any(|call| line.match_indices(call).any(|(at, _)| number(&line[at + call.len()..])));
    constant || counted || taken
}

#[test]
fn no_cap_stands_outside_of_the_limits() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut open: Vec<_> =
        ["effect", "rule", "judge", "trust", "engine", "config"].map(|dir| root.join(dir)).into();
    open.extend(
        ["effect.rs", "rule.rs", "judge.rs", "trust.rs", "journal.rs", "engine.rs", "config.rs"]
            .map(|file| root.join(file)),
    );
    let mut wrong = Vec::new();
    let mut seen = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        let name = path.to_string_lossy().into_owned();
        if !path.is_file()
            || !name.ends_with(".rs")
            || name.ends_with("tests.rs")
            || name.ends_with("oracle.rs")
        {
            continue;
        }
        seen += 1;
        let text = fs::read_to_string(&path).unwrap();
        let own = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (at, line) in own.lines().enumerate() {
            let told = NO_CAPS.iter().any(|(part, _)| line.contains(part));
            if !line.trim_start().starts_with("//") && caps(line) && !told {
                wrong.push(format!("{name}:{}: {}", at + 1, line.trim()));
            }
        }
    }
    assert!(seen > 120, "{seen} files");
    assert!(wrong.is_empty(), "caps belong into src/limits.rs:\n{}", wrong.join("\n"));
    for line in [
        "items.truncate(16)",
        "if next.len() > 200 {",
        "x.iter().take(8)",
        "const MAX_X: usize = 32;",
        "for _ in 0..8 {",
    ] {
        assert!(caps(line), "{line}");
    }
    for line in [
        "let Some([a, b]) = x.get(..2)",
        "if names.len() > 1 {",
        "const NAME: &str = \"x\";",
        "own.take(at)",
    ] {
        assert!(!caps(line), "{line}");
    }
}

/// The verdict on a command in a project whose files are these.
fn beside(files: &[(&str, &[u8])], tool: &str, input: Value) -> String {
    let home = home::make("");
    let dir = home.path().join("p");
    fs::create_dir_all(dir.join(".git")).unwrap();
    fs::write(dir.join(".hookctl.toml"), "").unwrap();
    for (name, content) in files {
        fs::create_dir_all(dir.join(name).parent().unwrap()).unwrap();
        fs::write(dir.join(name), content).unwrap();
    }
    let payload = json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": dir, "tool_name": tool, "tool_input": input,
    });
    let mut child = home::command(home.path(), &["hook"]).spawn().unwrap();
    child.stdin.take().unwrap().write_all(payload.to_string().as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
    let verdict = answer.pointer("/hookSpecificOutput/permissionDecision").and_then(Value::as_str);
    verdict.unwrap_or("-").to_string()
}

#[test]
fn a_search_that_cannot_be_told_may_find_what_guards() {
    let many = |count: usize| (0..count).map(|n| format!("a{n} ")).collect::<String>();
    let names: String = (0..60).map(|n| format!("-name a{n} -o ")).collect();
    for search in [
        "find . -readable -name .hookctl.toml -delete".to_string(),
        "find . -writable -name '*.toml' -delete".into(),
        "find . -newermt 2000-01-01 -name '*ctl.toml' -delete".into(),
        "find . ! -user nobody -name '*ctl.toml' -delete".into(),
        "find . -links 1 -name '*ctl.toml' -exec rm {} +".into(),
        "find . -perm /600 -name '*ctl.toml' -delete".into(),
        "find . ! -perm 000 -name '*ctl.toml' -delete".into(),
        "find . -exec true {} \\; -name '*ctl.toml' -delete".into(),
        "find . ! -exec false {} \\; -name '*ctl.toml' -delete".into(),
        "find . -newermt 2000-01-01 -prune -o -name '*ctl.toml' -delete".into(),
        "find . -regex '.*((((t{90}){90}){90})?|hook.*)' -delete".into(),
        "fd -H '((((t{90}){90}){90})?|hook)' -x rm".into(),
        format!("find {} . -name '*ctl.toml' -delete", many(20)),
        format!("find {} . -name '*ctl.toml' -exec rm {{}} +", many(20)),
        format!("fd -H hook {} . -x rm", many(20)),
        format!("find . {names} -name '*ctl.toml' | xargs rm"),
    ] {
        let verdict = beside(&[], "Bash", json!({ "command": search }));
        assert!(verdict == "deny" || verdict == "ask", "{search}: {verdict}");
    }
    for search in [
        "find . -type d -readable -name '*ctl.toml' -delete",
        "find . -readable -name '*.log' -delete",
        "find . -perm 000 -name '*ctl.toml' -delete",
        "find . -name '*ctl.toml' -prune -o -readable -name '*.log' -delete",
        "find . -perm -111 -name '*.sh'",
        "find . -newermt 2000-01-01 -name '*.tmp' -exec rm {} +",
    ] {
        assert_ne!(beside(&[], "Bash", json!({ "command": search })), "deny", "{search}");
    }
}

#[test]
fn an_index_of_git_that_is_not_read_is_unknown() {
    let clean = || json!({ "command": "git clean -fd" });
    let back = || json!({ "command": "git stash" });
    let index =
        |version: u8, rest: &[u8]| [b"DIRC\0\0\0", &[version][..], b"\0\0\0\0", rest].concat();
    let split = index(2, &[&b"link\0\0\0\x14"[..], &[7; 40]].concat());
    for bytes in [index(4, &[0; 20]), split, vec![0; 9 << 20]] {
        let files: &[(&str, &[u8])] = &[(".git/index", &bytes)];
        assert_ne!(beside(files, "Bash", clean()), "-");
        assert_ne!(beside(files, "Bash", back()), "-");
    }
    // An entry as git writes it, in the second version and, with more flags, in the third.
    let entry = |name: &str, more: &[u8]| {
        let flags = name.len() as u16 | if more.is_empty() { 0 } else { 0x4000 };
        let entry = [&[0; 60][..], &flags.to_be_bytes(), more, name.as_bytes()].concat();
        let end = 8 - entry.len() % 8;
        [entry, vec![0; end]].concat()
    };
    let of = |version: u8, entries: &[Vec<u8>], rest: &[u8]| {
        let count = (entries.len() as u32).to_be_bytes();
        [b"DIRC\0\0\0", &[version][..], &count, &entries.concat(), rest].concat()
    };
    let own = [entry("a.txt", b""), entry(".hookctl.toml", b""), entry("link", b"")];
    let third = [entry(&"d/".repeat(3000), b""), entry(".hookctl.toml", &[0x40, 0])];
    let whole = of(2, &own, &[0; 20]);
    let sha256 = {
        let entry = [&[0; 72][..], &[0, 13], b".hookctl.toml", &[0; 9]].concat();
        of(2, &[entry], &[0; 32])
    };
    let mut long = entry(&"d/".repeat(3000), b"");
    long[60..62].copy_from_slice(&[0x0f, 0xff]);
    let third = [vec![long], third[1..].to_vec()].concat();
    let split = of(2, &own, &[&b"TREE\0\0\0\x02ablink\0\0\0\x14"[..], &[7; 40]].concat());
    let mut unread =
        vec![split, sha256, Vec::new(), b"DIRC".to_vec(), of(5, &own, &[0; 20]), vec![7; 400]];
    // Cut wherever one may be cut.
    unread.extend((1..whole.len()).step_by(9).map(|len| whole[..len].to_vec()));
    unread.push(whole[..whole.len() - 1].to_vec());
    for bytes in &unread {
        let files: &[(&str, &[u8])] = &[(".git/index", bytes)];
        assert_ne!(beside(files, "Bash", clean()), "-", "{} bytes", bytes.len());
        assert_ne!(beside(files, "Bash", back()), "-", "{} bytes", bytes.len());
    }
    // What stands in the place of an index is none.
    let files: &[(&str, &[u8])] = &[(".git/index/x", b"")];
    assert_ne!(beside(files, "Bash", back()), "-", "a directory");
    // These are read: the guarded file is tracked, and not as it was.
    for bytes in [
        whole,
        of(3, &third, &[0; 20]),
        of(2, &own, &[&b"TREE\0\0\0\x04link"[..], &[0; 20]].concat()),
    ] {
        let files: &[(&str, &[u8])] = &[(".git/index", &bytes)];
        // It is asked about anyway, as any clean with force.
        assert_eq!(beside(files, "Bash", clean()), "ask", "it is tracked");
        assert_eq!(beside(files, "Bash", back()), "deny", "it was changed");
    }
    let files: &[(&str, &[u8])] = &[(".git/index", &index(2, &[0; 20]))];
    assert_eq!(beside(files, "Bash", clean()), "deny", "it is not tracked");
    assert_eq!(beside(files, "Bash", back()), "-", "nothing is tracked");
}

#[test]
fn a_tools_input_is_seen_whole_or_not_understood() {
    let nested = |depth: usize| {
        let inner = json!({ "path": ".hookctl.toml", "content": "x" });
        (0..depth).fold(inner, |inner, _| json!({ "edit": inner }))
    };
    for depth in [3, 15, 16, 40] {
        assert_ne!(beside(&[], "mcp__fs__write_file", nested(depth)), "-", "{depth} levels");
    }
    // A name and an operation are seen however long the text around them is.
    for length in [0, 31, 300, 5000] {
        let text = format!("{}hookctl", "x ".repeat(length));
        let ended = beside(&[], "mcp__os__kill_process", json!({ "name": text }));
        assert_eq!(ended, "deny", "{length} characters before the name");
        let action = format!("delete{}", "_the_file".repeat(length));
        for key in ["operation", "action", "type", "mode"] {
            let input = json!({ key: action, "path": ".hookctl.toml" });
            assert_eq!(beside(&[], "mcp__fs__manage", input), "deny", "{key}: {length} words");
        }
    }
    let input = json!({ "name": "a hook of mine", "action": "list" });
    assert_eq!(beside(&[], "mcp__os__kill_process", input), "-");
    let input = json!({ "type": "the_readings_of_all_the_files_here", "path": ".hookctl.toml" });
    assert_eq!(beside(&[], "mcp__fs__manage", input), "-");
    let patch: String = (0..250).map(|n| format!("--- a/f{n}\n+++ b/f{n}\n")).collect();
    let patch = format!("{patch}--- a/.hookctl.toml\n+++ b/.hookctl.toml\n");
    assert_ne!(beside(&[], "mcp__fs__apply_patch", json!({ "patch": patch })), "-");
    for count in [100, 1990, 2500] {
        let mut paths: Vec<String> = (0..count).map(|n| format!("src/f{n}")).collect();
        paths.push(".hookctl.toml".into());
        let verdict = beside(&[], "mcp__fs__delete_files", json!({ "paths": paths }));
        assert_ne!(verdict, "-", "{count} paths");
    }
}

#[test]
fn long_lists_of_everyday_work_are_followed() {
    let many = |count: usize| (0..count).map(|n| format!("src/a{n} ")).collect::<String>();
    let user = "[rule.inside]\neffect = ['read', 'modify']\npath = './'\nallow = 'x'\n";
    for command in [
        format!("git add {}", many(300)),
        format!("rm {}", many(100)),
        format!("rm {}", many(600)),
        format!("cat {}", many(300)),
        format!("for f in {}; do cat $f; done", many(40)),
        format!("for f in {}; do rm $f; done", many(200)),
        format!("for a in {}; do for b in {}; do cat $a $b; done; done", many(20), many(20)),
        format!("grep -l x {}", many(500)),
    ] {
        let (verdict, text) = bash(user, "", &command);
        assert!(verdict != "ask" && verdict != "deny", "{command:.60}: {text}");
    }
}
