//! The patterns that an answer "for the session" is remembered by: which calls are like which.
//!
//! The shapes are those of cdev's own memory. Where these hold for too much (an interpreter, a
//! wrapper, a program of which nothing is known), only the very same command is alike.

use crate::effect::path::may_leave;
use crate::effect::program::table::{self, Class, Program, Role, Special};
use crate::effect::{Analysis, Arg, Place, SubCommand, Word};
use crate::event::Event;
use crate::names::similar::TEXTS;
use serde_json::Value;

/// Sub-commands behind which anything is run, one a line: a program, a script, what a package brings.
const RUNS: &str = include_str!("runs.txt");
/// Programs that run others by their sub-commands: what they do is in all of their arguments.
const WHOLE: &[&str] = &["docker", "podman", "kubectl", "just", "pipx", "uv"];
/// The tools whose call is on one file.
const FILES: &[&str] = &["Write", "Edit", "Read"];
/// What says nothing of where and as whom a command runs. Anything else may take it out of its sandbox.
const TALK: &[&str] = &["command", "description", "timeout", "run_in_background"];
/// A shell's blanks: no others part its words.
const BLANKS: &[char] = &[' ', '\t'];
/// The longest command that is remembered, in bytes.
const LONGEST: usize = 4_000;

/// What a call is remembered by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Pattern {
    /// As cdev writes it: `Bash(npm test:*)`.
    pub(super) text: String,
    /// That very command and no other.
    pub(super) whole: bool,
}

impl Pattern {
    fn new(text: String) -> Pattern {
        Pattern { text, whole: false }
    }
}

/// Everything that holds for this call, what it would be remembered by first. Nothing where calls like
/// it are neither remembered nor recalled.
pub(super) fn event_patterns(event: &Event, analysis: &Analysis, place: &Place) -> Vec<Pattern> {
    let (tool, input) = (event.tool.as_str(), &event.input);
    let text = |key: &str| input.get(key).and_then(|value| value.as_str()).unwrap_or_default();
    match tool {
        "" => Vec::new(),
        "Bash" => {
            let command = text("command").trim_matches([' ', '\t', '\n']);
            let is_other =
                |(key, value): (&String, &Value)| !TALK.contains(&key.as_str()) && is_set(value);
            if !is_simple(command) || input.as_object().into_iter().flatten().any(is_other) {
                return Vec::new();
            }
            let whole = Pattern { text: format!("Bash({command})"), whole: true };
            command_prefix(command, analysis, place).into_iter().chain([whole]).collect()
        }
        _ if FILES.contains(&tool) => match text("file_path") {
            "" => Vec::new(),
            path => file_patterns(tool, path),
        },
        _ => of_tool(tool, input).into_iter().collect(),
    }
}

/// Of another tool: that very input where some of it is run, else all of its calls.
fn of_tool(tool: &str, input: &Value) -> Option<Pattern> {
    let texts = keyed_values(input);
    if texts.is_empty() {
        return Some(Pattern::new(format!("{tool}(*)")));
    }
    let is_one = |value: &&Value| {
        !value.as_str().map_or_else(|| is_compound(&value.to_string()), is_compound)
    };
    let text = input.to_string();
    let alike = texts.iter().all(is_one) && text.len() <= LONGEST;
    alike.then(|| Pattern { text: format!("{tool}({text})"), whole: true })
}

/// Is it one command, that is not too long?
fn is_simple(command: &str) -> bool {
    !command.is_empty() && !is_compound(command) && command.len() <= LONGEST
}

/// The values under such keys.
fn keyed_values(input: &Value) -> Vec<&Value> {
    let (mut found, mut todo) = (Vec::new(), vec![input]);
    while let Some(value) = todo.pop() {
        match value {
            Value::Object(map) => {
                let named = |key: &str| TEXTS.iter().any(|text| key.eq_ignore_ascii_case(text));
                found.extend(map.iter().filter(|(key, _)| named(key)).map(|(_, value)| value));
                todo.extend(map.values());
            }
            Value::Array(all) => todo.extend(all),
            _ => {}
        }
    }
    found
}

fn is_set(value: &Value) -> bool {
    !matches!(value, serde_json::Value::Null | serde_json::Value::Bool(false))
}

/// Interpreters, wrappers and runners: what they do is in all of their arguments.
fn runs_others(program: &Program) -> bool {
    use Special::{
        Env, FlagC, Make, OwnShell, Runner, ScriptFile, Source, Ssh, WindowsShell, Xargs,
    };
    const BY_CODE: [Special; 10] =
        [Env, FlagC, Make, OwnShell, Runner, ScriptFile, Source, Ssh, WindowsShell, Xargs];
    let starts = |role: &Role| matches!(role, Role::Command | Role::OwnCommand | Role::Joined);
    program.has_class(Class::Interpreter)
        || program.special.is_some_and(|special| BY_CODE.contains(&special))
        || program.before.iter().chain([&program.repeat]).any(starts)
}

/// The first words of a command that is like all others which begin so.
fn command_prefix(command: &str, analysis: &Analysis, place: &Place) -> Option<Pattern> {
    let words: Vec<&str> = command.split(BLANKS).filter(|word| !word.is_empty()).collect();
    let [call] = analysis.own_commands() else { return None };
    let program = table::find_program(&call.name, place.programs)?;
    let runs = |word| matches!(word, Word::Code | Word::Privilege | Word::Remote);
    if call.word.text.as_deref() != words.first().copied()
        || !is_plain(call, &place.cwd)
        || WHOLE.contains(&call.name.as_str())
        || runs_others(program)
        || analysis.effects.iter().any(|effect| runs(effect.word))
    {
        return None;
    }
    let names = |count: usize| {
        let below = words[1..count].iter().map(|word| format!(" {word}")).collect::<String>();
        [call.name.as_str(), program.family].map(|name| format!("{name}{below}"))
    };
    let is_known = |count: &usize| {
        names(*count).iter().any(|name| table::find_program(name, place.programs).is_some())
    };
    let has_below =
        |count: usize| names(count).iter().any(|name| table::has_below(name, place.programs));
    let sends = analysis.effects.iter().any(|effect| effect.word == Word::Send);
    let known = match (has_below(1), program.verbs.is_empty()) {
        // What it sends is in all of its arguments.
        (false, true) if sends => return None,
        (false, true) => return Some(Pattern::new(format!("Bash({}:*)", words[0]))),
        (false, false) => 2.min(words.len()),
        (true, verbs) => match (1..=words.len()).take_while(is_known).last()? {
            1 if !verbs && call.transparent => 2.min(words.len()),
            known => known,
        },
    };
    // A sub-command that no table knows is an alias, a script, anybody's program.
    let next = words.get(known).filter(|word| !word.starts_with('-'));
    let unknown = known < 2 || words[1].starts_with('-') || next.is_some() && has_below(known);
    // Of git, what runs anything has an effect that says so.
    let runs = |word: &&&str| RUNS.lines().any(|runs| runs == **word) && call.name != "git";
    if unknown || words[known - 1..known].iter().chain(next).any(|word| runs(&word)) {
        return None;
    }
    let text = words[..known].join(" ");
    (text == "git push" || !sends).then(|| Pattern::new(format!("Bash({text}:*)")))
}

/// Is it what it seems, in that directory, and known to the last word?
fn is_plain(call: &SubCommand, cwd: &str) -> bool {
    call.genuine
        // What is known at run time alone may be another word each time.
        && call.args.iter().all(|arg| arg.text.is_some())
        && call.dir.as_deref() == Some(cwd)
        && (call.transparent || !call.args.iter().any(|arg| is_outside(arg, cwd)))
        // An option that nobody knows may run or write anything.
        && call.options.iter().all(|option| option.harmless)
}

/// Does it name what lies outside of that directory?
fn is_outside(arg: &Arg, cwd: &str) -> bool {
    let below = |part: &str| {
        part.strip_prefix(cwd).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let up = |part: &str| part.split(['/', '\\']).any(|name| name == "..");
    arg.text
        .iter()
        .flat_map(|text| text.split('='))
        .any(|part| may_leave(part) && (!below(part) || up(part)))
}

/// Files of that kind, else those of its directory; and of every directory above.
fn file_patterns(tool: &str, path: &str) -> Vec<Pattern> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let kind = name.rfind('.').map(|dot| &name[dot..]).filter(|kind| kind.len() > 1);
    let above = path.match_indices('/').rev().map(|(at, _)| format!("{tool}({}/*)", &path[..at]));
    let kind = kind.map(|kind| format!("{tool}(*{kind})"));
    kind.into_iter().chain(above).map(Pattern::new).collect()
}

/// May there be more than one command in it? Quoted or not: who remembers it does not know either.
fn is_compound(command: &str) -> bool {
    command.contains([';', '&', '|', '`', '<', '>', '\n']) || command.contains("$(")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dry, effect, event::Kind};
    use serde_json::json;

    fn all(tool: &str, input: serde_json::Value) -> Vec<String> {
        let cwd = "/home/dev/project".to_string();
        let (_, event) =
            dry::parse_event(dry::tool_call_payload(Kind::PreToolUse, tool, input, &cwd), None);
        let home = "/home/dev".into();
        let place = Place { project: cwd.clone(), cwd, home, ..Place::default() };
        let analysis = effect::analyse_event(&event, &place);
        event_patterns(&event, &analysis, &place).into_iter().map(|one| one.text).collect()
    }

    /// So long and no longer, for a shell's command as for another tool's.
    #[test]
    fn what_is_too_long_is_like_nothing() {
        let long = |length: usize| format!("ls {}", "x".repeat(length - 3));
        for (more, kept) in [(0, true), (1, false)] {
            let command = long(LONGEST + more);
            let whole = format!("Bash({command})");
            assert_eq!(all("Bash", json!({ "command": command })).contains(&whole), kept);
            let around = json!({ "command": "" }).to_string().len();
            let input = json!({ "command": long(LONGEST + more - around) });
            let whole = format!("mcp__shop__run({input})");
            assert_eq!(whole.len(), LONGEST + more + "mcp__shop__run()".len());
            let found = all("mcp__shop__run", input);
            assert!(found == if kept { vec![whole] } else { Vec::new() }, "{more}");
        }
    }

    #[test]
    fn s0_18_the_patterns_are_those_of_cdev() {
        let bash = |command: &str| all("Bash", json!({ "command": command })).first().cloned();
        for (command, pattern) in [
            ("git push origin main", "Bash(git push:*)"),
            ("npm test", "Bash(npm test:*)"),
            ("npm  test -- --watch", "Bash(npm test:*)"),
            ("go build ./...", "Bash(go build:*)"),
            ("rm a.txt", "Bash(rm:*)"),
            ("ls", "Bash(ls:*)"),
            ("cargo test foo", "Bash(cargo test:*)"),
            ("gh pr list", "Bash(gh pr list:*)"),
            ("npm audit fix", "Bash(npm audit fix:*)"),
            ("helm list -A", "Bash(helm list:*)"),
        ] {
            assert_eq!(bash(command).as_deref(), Some(pattern), "{command}");
        }
        for (tool, input, pattern) in [
            ("Write", json!({ "file_path": "/home/dev/project/b.py" }), "Write(*.py)"),
            (
                "Read",
                json!({ "file_path": "/home/dev/project/Makefile" }),
                "Read(/home/dev/project/*)",
            ),
            ("mcp__x__y", json!({}), "mcp__x__y(*)"),
            ("WebFetch", json!({ "url": "https://x.org" }), "WebFetch(*)"),
            ("mcp__x__eval", json!({ "code": "1" }), "mcp__x__eval({\"code\":\"1\"})"),
        ] {
            assert_eq!(all(tool, input)[0], pattern);
        }
        // Whatever has no extension in that directory or below.
        let below = all("Read", json!({ "file_path": "/home/dev/project/src/a.b/LICENSE" }));
        assert!(below.contains(&"Read(/home/dev/project/*)".into()), "{below:?}");
    }

    /// What is sent is in all of the arguments: another call of that program sends another thing.
    #[test]
    fn what_sends_is_like_no_other_call_of_its_program() {
        let bash = |command: &str| all("Bash", json!({ "command": command }));
        let any = "Bash(curl:*)".to_string();
        assert!(bash("curl https://e.example/a").contains(&any));
        let sent = bash("curl -d a=b https://e.example/a");
        assert!(!sent.is_empty() && !sent.contains(&any), "{sent:?}");
    }

    #[test]
    fn what_could_be_anything_is_only_like_itself() {
        for command in [
            "python x.py",
            "python3.12 x.py",
            "bash x.sh",
            "sudo ls",
            "env ls",
            "xargs ls",
            "ssh h ls",
            "docker ps",
            "make test",
            "node x.js",
            "FOO=1 npm test",
            "npm run build",
            "npm install x",
            "pip install x",
            "poetry run x",
            "yarn deploy staging",
            "git no-such-command",
            "npm te\"s\"t",
            "npm\u{a0}test",
            "npm test\u{2028}x",
            "npm test --prefix /x",
            "npm test $X",
            "pytest /x/a.py",
            "git push ../x main",
            "curl -d a=b https://a.example",
            "osascript a.scpt",
            "npm -g install x",
            "git -C /x push",
            "git",
            "./deploy.sh staging",
            "no-such-program x",
            "timeout 5 rm x",
            "\"npm\" test",
            "command npm test",
            "perl -e 1",
        ] {
            assert_eq!(all("Bash", json!({ "command": command })), [format!("Bash({command})")]);
        }
    }

    #[test]
    fn s0_20_what_is_compound_is_like_nothing() {
        for command in
            ["", "  ", "npm test; x", "npm test && x", "a | b", "a $(b)", "a > b", "a\nb"]
        {
            assert!(all("Bash", json!({ "command": command })).is_empty(), "{command}");
        }
        assert!(all("Bash", json!({})).is_empty());
        assert!(all("shell", json!({ "command": "a; b" })).is_empty());
        assert!(all("shell", json!({ "command": ["sh", "-c", "a; b"] })).is_empty());
        // Not as the human may think that it runs.
        let outside = json!({ "command": "npm test", "dangerouslyDisableSandbox": true });
        assert!(all("Bash", outside).is_empty());
        assert!(all("Write", json!({ "content": "x" })).is_empty());
    }

    #[test]
    fn s0_20_a_compound_command_has_more_than_one_command() {
        for command in
            ["a; b", "a && b", "a|b", "a `b`", "a $(b)", "a <(b)", "a > b", "a\nb", "a 2>&1"]
        {
            assert!(is_compound(command), "{command}");
        }
        for command in ["npm test", "echo $HOME", "git log --format='%H (%s)'"] {
            assert!(!is_compound(command), "{command}");
        }
    }
}
