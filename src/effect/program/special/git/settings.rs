//! Settings and variables of git that name programs or move trust.

use super::super::super::effects::{Call, Next};
use super::super::super::table::mark;
use super::BYPASS;
use super::alias::{expand, risky};
use crate::effect::emitter::Emitter;
use crate::effect::names::git_settings::{CONNECTION, CORE, HOOKS, TAILS, TAME};
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Word, secret};

const PROGRAM: Word = Word::Named("git.program");

/// Could this setting start a program, or lead git elsewhere? `value` None = not known.
fn executes(key: &str, value: Option<&str>) -> bool {
    let key = key.to_ascii_lowercase();
    let tail = key.rsplit('.').next().unwrap_or_default();
    let Some(value) = value else { return true };
    if value.starts_with('!') {
        return true;
    }
    if key == "core.fsmonitor" && matches!(value, "true" | "false" | "1" | "0" | "") {
        // git's own watcher, or none.
        return false;
    }
    if key.ends_with("editor") || key.ends_with("pager") || key.starts_with("pager.") {
        let word = value.split(' ').next().unwrap_or_default();
        return !TAME.contains(&word)
            || !value.bytes().all(|b| b.is_ascii_alphanumeric() || b" -=:".contains(&b))
            || value.contains([':', '=']) && value != ":";
    }
    if tail == "helper" {
        // A plain name is git's own `git credential-NAME`.
        return !value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-');
    }
    if matches!(tail, "tool" | "guitool") {
        // A name is looked for among git's own tools, a path is one from elsewhere.
        return value.contains('/');
    }
    if key.starts_with("protocol.") {
        return !(key == "protocol.version" || key == "protocol.file.allow");
    }
    if key.starts_with("core.") {
        return !CORE.contains(&tail);
    }
    key.starts_with("include")
        || key.starts_with("url.")
        || TAILS.iter().any(|end| tail.ends_with(end))
}

/// Settings that skip hooks or signatures.
fn bypasses(key: &str, value: &str) -> bool {
    match key.to_ascii_lowercase().as_str() {
        "core.hookspath" => matches!(value, "" | "/dev/null"),
        "commit.gpgsign" | "tag.gpgsign" => matches!(value, "false" | "no" | "off" | "0"),
        _ => false,
    }
}

/// Could a setting of that name start a program, whatever its value is?
pub fn key_runs(key: &str) -> bool {
    executes(key, Some("x y")) || key.to_ascii_lowercase().starts_with("alias.")
}

/// Does git look at that variable for a program, a setting, or for whether hooks run?
pub fn names_git(variable: &str) -> bool {
    CONNECTION.contains(&variable)
        || HOOKS.contains(&variable)
        || variable == "GIT_EXTERNAL_DIFF"
        || variable == "GIT_CONFIG_COUNT"
        || ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"].iter().any(|p| variable.starts_with(p))
}

/// Does that variable hand git a setting that starts a program, whoever calls git?
pub fn redirects(variable: &str, value: Option<&str>) -> bool {
    variable.starts_with("GIT_CONFIG_KEY_") && value.is_none_or(key_runs)
}

/// A setting that holds for this call only; None = not known.
pub struct Setting {
    /// Its name.
    pub key: Option<String>,
    /// Its value.
    pub value: Option<String>,
    /// Where it stands.
    pub span: std::ops::Range<usize>,
}

/// Those of `GIT_CONFIG_COUNT` and its kin, then those of `-c`, which come later for git as well.
pub fn given(out: &Emitter, call: &Call) -> Vec<Setting> {
    let mut list = Vec::new();
    let variable = |name: &str| out.variables.iter().find(|(own, _)| own == name).map(|v| &v.1);
    let count = variable("GIT_CONFIG_COUNT")
        .and_then(|count| count.as_deref())
        .and_then(|count| count.parse::<usize>().ok())
        .unwrap_or(usize::MAX);
    for (name, key) in &out.variables {
        let Some(at) = name.strip_prefix("GIT_CONFIG_KEY_") else { continue };
        if at.parse::<usize>().is_ok_and(|at| at < count) {
            let value = variable(&format!("GIT_CONFIG_VALUE_{at}")).cloned().flatten();
            list.push(Setting { key: key.clone(), value, span: call.span.clone() });
        }
    }
    for option in &call.parsed.options {
        let Some(value) = &option.value else { continue };
        if !matches!(option.name.as_str(), "-c" | "--config" | "--config-env")
            || option.spec.is_none_or(|s| s.marks & mark::SPARE == 0)
        {
            continue;
        }
        let known = value.plain().is_some() && option.name != "--config-env";
        let (key, set) = match value.start().split_once('=') {
            Some((key, set)) => (Some(key), set),
            None => (known.then_some(value.start()), "true"),
        };
        list.push(Setting {
            key: key.map(str::to_string),
            value: known.then(|| set.to_string()),
            span: value.span.clone(),
        });
    }
    list
}

/// What a key is last set to by this call: None = not at all, Some(None) = nobody knows to what.
pub fn last(out: &Emitter, call: &Call, key: &str) -> Option<Option<String>> {
    let own = |s: &Setting| s.key.as_ref().is_some_and(|k| k.eq_ignore_ascii_case(key));
    given(out, call).into_iter().rfind(own).map(|s| s.value.map(|v| v.to_ascii_lowercase()))
}

/// What settings and variables of this call make git start. True where they say what the
/// sub-command is: an alias.
pub fn settings(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) -> bool {
    if let Some(dir) = call.parsed.option("--exec-path").and_then(|o| o.value.as_ref()) {
        out.unknown("git with programs of another directory", dir.span.clone());
    }
    let list = given(out, call);
    let expanded = expand(out, call, &list, next);
    if !expanded {
        variables(out, call);
    }
    for Setting { key, value, span } in list {
        let Some(key) = key else {
            out.unknown("a git setting that can name a program", span);
            continue;
        };
        if expanded || key.to_ascii_lowercase().starts_with("alias.") {
            continue;
        }
        let known = value.is_some();
        if value.as_deref().is_some_and(|value| bypasses(&key, value)) {
            out.push(BYPASS, Grade::Certain, Source::Operand, span);
        } else if key.to_ascii_lowercase().ends_with("sslverify")
            && matches!(value.as_deref(), Some("false" | "no" | "off" | "0"))
        {
            if connects(call) {
                out.push(PROGRAM, Grade::Certain, Source::Operand, span);
            }
        } else if executes(&key, value.as_deref())
            && may_execute(&key, known)
            && (!only_connects(&key) || connects(call))
        {
            out.push(PROGRAM, Grade::Certain, Source::Operand, span.clone());
            match value.filter(|_| is_command(&key)) {
                Some(text) => {
                    started(out, span.clone());
                    let text = text.strip_prefix('!').unwrap_or(&text).to_string();
                    next.push(Next::Script { text: Value::known(text, span), rest: Vec::new() });
                }
                None => out.unknown("a git setting that can name a program", span),
            }
        }
    }
    expanded
}

/// A program is started that no allow on git speaks of.
fn started(out: &mut Emitter, span: std::ops::Range<usize>) {
    let command = out.command.take();
    out.push(Word::Execute, Grade::Certain, Source::Assignment, span);
    out.command = command;
}

/// The variables that name a program for what this call does.
fn variables(out: &mut Emitter, call: &Call) {
    let connects = connects(call);
    let diff = sub(call) == Some("diff") && call.parsed.option("--no-ext-diff").is_none();
    let names = |(name, value): &(String, Option<String>)| {
        let there = match name.as_str() {
            "GIT_EXTERNAL_DIFF" => diff,
            own => connects && CONNECTION.contains(&own),
        };
        let text = value.as_deref().unwrap_or("x");
        let first = text.split_whitespace().next().unwrap_or_default();
        let tame = match name.as_str() {
            // What git starts anyway; its own options are read where the variable is set.
            "GIT_SSH" | "GIT_SSH_COMMAND" => matches!(first, "" | "ssh" | "/usr/bin/ssh"),
            "GIT_SSL_NO_VERIFY" => matches!(text, "" | "0" | "false"),
            _ => matches!(text, "" | "true" | "/bin/true" | "false" | "/bin/false" | "echo" | ":"),
        };
        there && !tame
    };
    if out.variables.iter().any(names) {
        out.push(PROGRAM, Grade::Certain, Source::Program, call.span.clone());
    }
    let skips = |(name, value): &(String, Option<String>)| match (name.as_str(), value.as_deref()) {
        ("HUSKY" | "LEFTHOOK", value) => matches!(value, Some("0" | "false")),
        (name, value) => HOOKS.contains(&name) && !matches!(value, Some("" | "0" | "false")),
    };
    let hooked = matches!(
        sub(call),
        Some("commit" | "push" | "merge" | "rebase" | "pull" | "am" | "cherry-pick" | "revert")
    );
    if hooked && out.variables.iter().any(skips) {
        out.push(BYPASS, Grade::Certain, Source::Program, call.span.clone());
    }
}

/// The sub-command.
fn sub<'a>(call: &'a Call) -> Option<&'a str> {
    call.parsed.operands.first().and_then(|at| call.args[*at].plain())
}

/// Does this call speak with a remote? A sub-command that nobody knows may.
pub fn connects(call: &Call) -> bool {
    let has = |name: &str| call.parsed.option(name).is_some();
    let second = call.parsed.operands.get(1).and_then(|at| call.args[*at].plain());
    if call.parsed.operands.is_empty() || call.parsed.has(mark::ONLY) {
        return false;
    }
    match (sub(call), second) {
        (Some("clone" | "lfs" | "svn" | "p4" | "fetch-pack" | "maintenance"), _) => true,
        (Some("archive"), _) => has("--remote"),
        (Some("remote"), Some("add")) => has("--fetch"),
        (Some("remote"), Some("set-head")) => has("--auto"),
        _ => call.parsed.program.is_none_or(|p| p.effects.contains(&Word::Network)),
    }
}

/// Keys that matter only to what speaks with a remote.
fn only_connects(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    matches!(key.as_str(), "core.sshcommand" | "core.gitproxy" | "core.askpass")
        || ["credential.", "http.", "https.", "protocol.", "remote.", "url.", "ssh."]
            .iter()
            .any(|start| key.starts_with(start))
}

/// Keys whose value is a command line, as against a path or a rule.
fn is_command(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let tail = key.rsplit('.').next().unwrap_or_default();
    key.starts_with("pager.")
        || key == "core.fsmonitor"
        || ["askpass", "clean", "cmd", "command", "driver", "editor", "external", "helper"]
            .iter()
            .chain(&["pager", "process", "program", "smudge", "textconv"])
            .any(|end| tail.ends_with(end))
}

/// A value known only at run time matters only where the key does.
fn may_execute(key: &str, known: bool) -> bool {
    known || executes(key, Some("x y"))
}

/// Settings that start nothing, and still make git trust others or send its data elsewhere.
fn trusts(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let tail = key.rsplit('.').next().unwrap_or_default();
    matches!(
        tail,
        "helper"
            | "sslcainfo"
            | "sslcapath"
            | "sslverify"
            | "proxy"
            | "insteadof"
            | "pushinsteadof"
    ) || matches!(key.as_str(), "safe.directory" | "safe.barerepository" | "core.worktree")
        || key.starts_with("protocol.") && key != "protocol.version"
        || key.starts_with("include")
}

/// `git config`: which file is written, and whether the key can name a program.
pub fn config(out: &mut Emitter, call: &Call, values: &[Value]) {
    let has = |name: &str| call.parsed.option(name).is_some();
    let verb = values.first().and_then(Value::plain);
    let changes = call.parsed.has(mark::SPARE)
        || matches!(verb, Some("set" | "unset" | "rename-section" | "remove-section"));
    let reads = call.parsed.has(mark::KEEP)
        || !changes && (values.len() < 2 || matches!(verb, Some("get" | "list")));
    let file = call.parsed.option("--file").and_then(|o| o.value.clone());
    if let Some(file) = &file {
        out.path(Word::Read, file, Extent::Exact, Grade::Certain, Source::Operand);
    }
    if reads {
        let keys = usize::from(matches!(verb, Some("get" | "list")));
        let mut keys = values.iter().skip(keys);
        if verb == Some("list") || keys.any(|key| secret::is_setting(key.start())) {
            out.reveals("settings that may hold secrets are printed", call.span.clone());
        }
        return;
    }
    let file = file.unwrap_or_else(|| {
        let dir = match &out.cwd {
            Some(cwd) if call.parsed.option("-C").is_some() => cwd.clone(),
            _ => out.place.project.clone(),
        };
        let path = if has("--system") {
            "/etc/gitconfig".to_string()
        } else if has("--global") {
            format!("{}/.gitconfig", out.place.home)
        } else {
            format!("{dir}/.git/config")
        };
        Value::known(path, call.span.clone())
    });
    out.path(Word::Write, &file, Extent::Exact, Grade::Certain, Source::Operand);
    out.push(Word::Named("git.config"), Grade::Certain, Source::Program, call.span.clone());
    let removes = has("--unset")
        || has("--rename-section")
        || matches!(verb, Some("unset" | "rename-section" | "remove-section"));
    let from = usize::from(changes && matches!(verb, Some("set")));
    let key = values.get(from).and_then(Value::plain);
    let set = values.get(from + 1).and_then(Value::plain);
    match key {
        _ if removes => {}
        Some(key) if set.is_some_and(|set| bypasses(key, set)) => {
            out.push(BYPASS, Grade::Certain, Source::Operand, call.span.clone());
        }
        Some(key) if key.to_ascii_lowercase().starts_with("alias.") => {
            if set.is_none_or(|set| risky(out, set)) {
                named(out, call, set.is_none_or(|set| set.starts_with('!')));
            }
        }
        Some(key) if !executes(key, set) || set.is_none() && !may_execute(key, false) => {
            if trusts(key) {
                named(out, call, false);
            }
        }
        _ => named(out, call, true),
    }
}

/// From now on git starts or trusts that; `unknown` = nobody knows what it will do.
fn named(out: &mut Emitter, call: &Call, unknown: bool) {
    out.push(PROGRAM, Grade::Certain, Source::Operand, call.span.clone());
    if unknown {
        out.unknown("a git setting that can name a program", call.span.clone());
    }
}
