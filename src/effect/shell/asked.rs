//! What a call asks of the recipes of a project: of which file, which goals, with which words.

use super::stead::is_goal_or_harmless;
use crate::effect::program::{Call, Parsed};
use crate::effect::value::Value;

/// What package managers run around their own work, where there is such a script.
const INSTALLING: &[&str] = &["preinstall", "install", "postinstall", "prepare"];
const PACKING: &[&str] = &["prepublishOnly", "prepack", "prepare", "postpack", "publish"];
/// What `turbo` does itself. Any other word is a task.
const OF_TURBO: &[&str] = &[
    "bin",
    "config",
    "daemon",
    "generate",
    "gen",
    "info",
    "link",
    "login",
    "logout",
    "ls",
    "prune",
    "query",
    "scan",
    "telemetry",
    "unlink",
    "watch",
];

/// What a call asks of the project's files.
pub(super) struct Asked {
    /// The file, where it is named.
    pub file: Option<Value>,
    /// Whose file it is otherwise.
    pub members: Members,
    pub goals: Vec<String>,
    pub given: Vec<(String, String)>,
    /// What is handed on.
    pub words: Vec<Value>,
    /// What stands around a task is not run.
    pub alone: bool,
    /// The call does what the file says, and nothing beside it.
    pub whole: bool,
    /// The words of the call, for people.
    pub shown: Vec<String>,
}

/// Whose scripts a call runs.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Members {
    /// Those of the nearest file, from the directory up.
    Nearest,
    /// Those of the workspace's own file.
    Root,
    /// Those of the members of the workspace with these names, globs of names or directories.
    Named(Vec<String>),
    /// Those of all members that have them.
    All,
}

/// What the call asks for; None = it runs nothing of the project's, or nobody knows what.
pub(super) fn asked_of(call: &Call) -> Option<Asked> {
    let Parsed { operands, .. } = call.parsed;
    let text = |at: &usize| call.args[*at].plain_text().map(str::to_string);
    let texts: Vec<String> = operands.iter().map(text).collect::<Option<_>>()?;
    let mut asked = Asked {
        file: None,
        members: Members::Nearest,
        goals: Vec::new(),
        given: Vec::new(),
        words: Vec::new(),
        alone: call.name == "node",
        whole: false,
        shown: texts.clone(),
    };
    let named = |at: usize, asked: &mut Asked| -> Option<()> {
        asked.goals.push(texts.get(at)?.clone());
        asked.shown.truncate(at + 1);
        let words = call.args.get(operands[at] + 1..)?;
        // What ends the runner's own options is not handed on.
        let skipped = usize::from(words.first().and_then(Value::plain_text) == Some("--"));
        asked.words = words[skipped..].to_vec();
        Some(())
    };
    let first = texts.first().map_or("", String::as_str);
    match (call.name, first) {
        ("make" | "gmake" | "just" | "task", _) => {
            // `make -l 4` is a load, `just -l` a list.
            let lists = ["--dry-run", "--question", "-l", "--list"];
            let is_make = matches!(call.name, "make" | "gmake");
            if call.has_any(&["-n", "-q"]) || !is_make && call.has_any(&lists) {
                return None;
            }
            asked.whole = is_make;
            asked.file = call.value("-f").cloned();
            for text in texts {
                match text.split_once('=') {
                    Some((name, value)) => {
                        let name = name.trim_end_matches([':', '?', '+']);
                        asked.given.push((name.to_string(), value.to_string()));
                    }
                    None => asked.goals.push(text),
                }
            }
        }
        ("deno", "task") => named(1, &mut asked)?,
        ("mise", _) => {
            let at = match first {
                "run" | "r" => 1,
                "tasks" if texts.get(1).is_some_and(|text| text == "run") => 2,
                _ => return None,
            };
            named(at, &mut asked)?;
            let others = texts.iter().zip(&texts[1..]).filter(|(mark, _)| *mark == ":::");
            asked.goals.extend(others.map(|(_, goal)| goal.clone()));
        }
        ("node", _) => {
            asked.goals.push(call.value("--run")?.plain_text()?.to_string());
            asked.words = operands.iter().map(|at| call.args[*at].clone()).collect();
        }
        ("pre-commit", "run") => asked.goals = texts[1..].to_vec(),
        ("tox" | "nox", _) if !call.has_any(&["-l", "--list"]) => {
            let named = ["-e", "-s"].iter().filter_map(|name| call.value(name)?.plain_text());
            asked.goals = named.map(str::to_string).collect();
            let words = call.args.iter().position(|arg| arg.plain_text() == Some("--"));
            asked.words = words.map(|at| call.args[at + 1..].to_vec()).unwrap_or_default();
        }
        ("composer", "run" | "run-script") => named(1, &mut asked)?,
        ("composer", _) if call.parsed.subs == 0 => named(0, &mut asked)?,
        ("turbo" | "lerna", _)
            if first == "run" || call.name == "turbo" && !OF_TURBO.contains(&first) =>
        {
            let goals = texts.iter().skip(usize::from(first == "run"));
            // `web#build` is the task of one of them.
            let task = |goal: &String| goal.rsplit('#').next().unwrap_or_default().to_string();
            asked.goals = goals.map(task).collect();
            asked.members = Members::All;
        }
        ("yarn", "workspace") => {
            let at = 2 + usize::from(texts.get(2).is_some_and(|text| text == "run"));
            named(at, &mut asked)?;
            asked.members = Members::Named(vec![texts[1].clone()]);
        }
        ("yarn", "workspaces") => {
            let behind = texts.iter().skip(1);
            let at =
                1 + behind.take_while(|text| matches!(text.as_str(), "foreach" | "run")).count();
            named(at, &mut asked)?;
            asked.members = Members::All;
        }
        ("npm" | "pnpm" | "yarn" | "bun", _) => {
            asked.members = members_of(call);
            let run = matches!(first, "run" | "run-script" | "rum" | "urn");
            let around: &[&str] = match first {
                "publish" | "pack" => PACKING,
                "version" => &["preversion", "version", "postversion"],
                "install" | "i" | "in" | "ci" | "clean-install" | "install-test" | "it" | "cit"
                    if texts.len() == 1 =>
                {
                    INSTALLING
                }
                "" if call.name == "yarn" => INSTALLING,
                _ => &[],
            };
            match first {
                _ if !around.is_empty() => {
                    if call.has_any(&["--ignore-scripts", "-g"]) {
                        return None;
                    }
                    // Whichever member it installs for, it runs the scripts of the whole.
                    if around == INSTALLING {
                        asked.members = Members::Nearest;
                    }
                    asked.goals.extend(around.iter().map(ToString::to_string));
                }
                _ if run => named(1, &mut asked)?,
                // `bun test` is its own runner of tests, `bun --filter x test` a script.
                "test" | "start" | "stop" | "restart"
                    if call.name != "bun" || asked.members != Members::Nearest =>
                {
                    named(0, &mut asked)?
                }
                "t" | "tst" => {
                    named(0, &mut asked)?;
                    asked.goals = vec!["test".to_string()];
                }
                _ if call.name != "npm" && call.parsed.subs == 0 => named(0, &mut asked)?,
                _ => return None,
            }
            // What stands in front of `--` is npm's own: `-w x` is another file's script.
            let mut own = call.args.iter().take_while(|arg| arg.plain_text() != Some("--"));
            asked.whole = call.name == "npm"
                && around.is_empty()
                && first != "restart"
                && own.all(is_goal_or_harmless);
        }
        _ => return None,
    }
    Some(asked)
}

/// Whose scripts the options of a package manager mean.
fn members_of(call: &Call) -> Members {
    if call.name == "pnpm" && call.has_any(&["-w", "--workspace-root"]) {
        return Members::Root;
    }
    if call.has_any(&["--workspaces", "-ws", "--recursive", "-r"]) {
        return Members::All;
    }
    let named = call.parsed.options.iter().filter(|option| {
        option.is_option("--filter") || call.name == "npm" && option.is_option("--workspace")
    });
    let mut names = Vec::new();
    for option in named {
        match option.value.as_ref().and_then(Value::plain_text).and_then(filter_name) {
            Some(name) => names.push(name.to_string()),
            None => return Members::All,
        }
    }
    if names.is_empty() { Members::Nearest } else { Members::Named(names) }
}

/// The name, glob or directory that a filter says; None where it says more: what depends on it, what is left out, what a
/// commit changed.
fn filter_name(filter: &str) -> Option<&str> {
    let more = filter.contains("...") || filter.starts_with(['!', '[']);
    let bare = filter.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')).unwrap_or(filter);
    (!more && !bare.is_empty()).then_some(bare)
}
