//! The patterns that an answer "for the session" is remembered by: which calls are like which.
//!
//! The shapes are those of cdev's own memory. Where these hold for too much (an interpreter, a
//! wrapper, a program of which nothing is known), only the very same command is alike.

use crate::effect::program::table;
use crate::effect::{Analysis, Place, Word};
use crate::event::Event;
use crate::remote::cdev::is_compound;

/// Programs whose second word says what they do.
const TWO_WORDS: &[&str] = &["git", "npm", "yarn", "pnpm", "go"];
/// Second words behind which anything is run.
const RUNS: &[&str] = &["run", "run-script", "exec", "x", "dlx", "tool", "generate", "create"];
/// Interpreters, wrappers and runners: what they do is in all of their arguments.
const WHOLE: &[&str] = &[
    "sh",
    "bash",
    "zsh",
    "dash",
    "fish",
    "ksh",
    "pwsh",
    "powershell",
    "cmd",
    "node",
    "deno",
    "bun",
    "ruby",
    "perl",
    "php",
    "lua",
    "env",
    "sudo",
    "doas",
    "su",
    "xargs",
    "parallel",
    "watch",
    "ssh",
    "docker",
    "podman",
    "kubectl",
    "make",
    "just",
    "npx",
    "bunx",
    "uvx",
    "pipx",
    "uv",
];
/// The tools whose call is on one file.
const FILES: &[&str] = &["Write", "Edit", "Read"];
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
pub(super) fn patterns(event: &Event, analysis: &Analysis, place: &Place) -> Vec<Pattern> {
    let tool = event.tool.as_str();
    let text = |key: &str| event.input.get(key).and_then(|value| value.as_str());
    match tool {
        "" => Vec::new(),
        "Bash" => match text("command").map(str::trim) {
            None | Some("") => Vec::new(),
            Some(command) if is_compound(command) || command.len() > LONGEST => Vec::new(),
            Some(command) => {
                let whole = Pattern { text: format!("Bash({command})"), whole: true };
                prefix(command, analysis, place).into_iter().chain([whole]).collect()
            }
        },
        _ if FILES.contains(&tool) => match text("file_path") {
            None | Some("") => Vec::new(),
            Some(path) => files(tool, path),
        },
        _ => vec![Pattern::new(format!("{tool}(*)"))],
    }
}

/// The first words of a command that is like all others which begin so.
fn prefix(command: &str, analysis: &Analysis, place: &Place) -> Option<Pattern> {
    let mut words = command.split_whitespace();
    let first = words.next()?;
    let [call] = analysis.commands.as_slice() else { return None };
    let runs = |word| matches!(word, Word::Code | Word::Privilege | Word::Remote);
    let is_plain = call.genuine
        && call.word.text.as_deref() == Some(first)
        && table::program(&call.name, place.programs).is_some()
        // An option that nobody knows may run or write anything.
        && call.options.iter().all(|option| option.harmless);
    if !is_plain
        || call.name.starts_with("python")
        || WHOLE.contains(&call.name.as_str())
        || analysis.effects.iter().any(|effect| runs(effect.word))
    {
        return None;
    }
    if !TWO_WORDS.contains(&first) {
        return Some(Pattern::new(format!("Bash({first}:*)")));
    }
    let second = words.next().filter(|word| !word.starts_with('-') && !RUNS.contains(word))?;
    Some(Pattern::new(format!("Bash({first} {second}:*)")))
}

/// Files of that kind, else those of its directory; and of every directory above.
fn files(tool: &str, path: &str) -> Vec<Pattern> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let kind = name.rfind('.').map(|dot| &name[dot..]).filter(|kind| kind.len() > 1);
    let above = path.match_indices('/').rev().map(|(at, _)| format!("{tool}({}/*)", &path[..at]));
    let kind = kind.map(|kind| format!("{tool}(*{kind})"));
    kind.into_iter().chain(above).map(Pattern::new).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{dry, effect, event::Kind};
    use serde_json::json;

    fn all(tool: &str, input: serde_json::Value) -> Vec<String> {
        let cwd = "/home/dev/project".to_string();
        let (_, event) = dry::event(dry::call(Kind::PreToolUse, tool, input, &cwd), None);
        let home = "/home/dev".into();
        let place = Place { project: cwd.clone(), cwd, home, ..Place::default() };
        let analysis = effect::analyse(&event, &place);
        patterns(&event, &analysis, &place).into_iter().map(|one| one.text).collect()
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
        ] {
            assert_eq!(all(tool, input)[0], pattern);
        }
        // Whatever has no extension in that directory or below.
        let below = all("Read", json!({ "file_path": "/home/dev/project/src/a.b/LICENSE" }));
        assert!(below.contains(&"Read(/home/dev/project/*)".into()), "{below:?}");
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
        assert!(all("Write", json!({ "content": "x" })).is_empty());
    }
}
