//! Settings and variables of git that name programs or move trust.

use super::BYPASS;
use super::alias::{expand_alias, is_risky};
use crate::effect::emitter::Emitter;
use crate::effect::program::effects::{Call, Next};
use crate::effect::program::table::mark;
use crate::effect::value::Value;
use crate::effect::{Grade, Source, Word, secret};
use crate::names::git_settings::{CONNECTION, CORE, HOOKS, TAILS, TAME, WIDENING};

const PROGRAM: Word = Word::Named("git.program");

/// Could this setting start a program, or lead git elsewhere? `value` None = not known.
fn starts_program(key: &str, value: Option<&str>) -> bool {
    let key = key.to_ascii_lowercase();
    let tail = key.rsplit('.').next().unwrap_or_default();
    let Some(value) = value else { return true };
    let section = key.split_once('.').map_or("", |(section, _)| section);
    match section {
        // An empty value names none.
        "core" | "diff" | "difftool" | "merge" | "mergetool" | "gpg" if value.is_empty() => false,
        _ if value.starts_with('!') => true,
        // git's own watcher, or none.
        _ if key == "core.fsmonitor" && matches!(value, "true" | "false" | "1" | "0" | "") => false,
        _ if key.ends_with("editor") || key.ends_with("pager") => !is_tame(value),
        "pager" => !is_tame(value),
        // A plain name is git's own `git credential-NAME`.
        _ if tail == "helper" => !value.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-'),
        // A name is looked for among git's own tools, a path is one from elsewhere.
        _ if matches!(tail, "tool" | "guitool") => value.contains('/'),
        "protocol" => !matches!(key.as_str(), "protocol.version" | "protocol.file.allow"),
        "core" => !CORE.contains(&tail),
        "url" => true,
        _ => key.starts_with("include") || TAILS.iter().any(|end| tail.ends_with(end)),
    }
}

/// Is it a pager or an editor that does nothing else, without words of its own?
fn is_tame(value: &str) -> bool {
    let word = value.split(' ').next().unwrap_or_default();
    let plain = value.bytes().all(|b| b.is_ascii_alphanumeric() || b" -=:".contains(&b));
    TAME.contains(&word) && plain && (!value.contains([':', '=']) || value == ":")
}

/// Settings that skip hooks or signatures.
fn bypasses_checks(key: &str, value: &str) -> bool {
    match key.to_ascii_lowercase().as_str() {
        "core.hookspath" => matches!(value, "" | "/dev/null"),
        "commit.gpgsign" | "tag.gpgsign" => matches!(value, "false" | "no" | "off" | "0"),
        _ => false,
    }
}

/// Could a setting of that name start a program, whatever its value is?
pub fn key_runs(key: &str) -> bool {
    starts_program(key, Some("x y")) || key.to_ascii_lowercase().starts_with("alias.")
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
pub fn redirects_git(variable: &str, value: Option<&str>) -> bool {
    variable.starts_with("GIT_CONFIG_KEY_") && value.is_none_or(key_runs)
}

/// A setting that holds for this call only; None = not known.
pub struct GitSetting {
    /// Its name.
    pub key: Option<String>,
    /// Its value.
    pub value: Option<String>,
    /// Where it stands.
    pub span: std::ops::Range<usize>,
}

/// Those of `GIT_CONFIG_COUNT` and its kin, then those of `-c`, which come later for git as well.
pub fn given_settings(out: &Emitter, call: &Call) -> Vec<GitSetting> {
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
            list.push(GitSetting { key: key.clone(), value, span: call.span.clone() });
        }
    }
    for option in &call.parsed.options {
        let Some(value) = &option.value else { continue };
        if !matches!(option.name.as_str(), "-c" | "--config" | "--config-env")
            || option.spec.is_none_or(|s| s.marks & mark::SPARE == 0)
        {
            continue;
        }
        let known = value.plain_text().is_some() && option.name != "--config-env";
        let (key, set) = match value.known_start().split_once('=') {
            Some((key, set)) => (Some(key), set),
            None => (known.then_some(value.known_start()), "true"),
        };
        list.push(GitSetting {
            key: key.map(str::to_string),
            value: known.then(|| set.to_string()),
            span: value.span.clone(),
        });
    }
    list
}

/// What a key is last set to by this call: None = not at all, Some(None) = nobody knows to what.
pub fn last_setting(out: &Emitter, call: &Call, key: &str) -> Option<Option<String>> {
    let own = |s: &GitSetting| s.key.as_ref().is_some_and(|k| k.eq_ignore_ascii_case(key));
    given_settings(out, call)
        .into_iter()
        .rfind(own)
        .map(|s| s.value.map(|v| v.to_ascii_lowercase()))
}

/// What settings and variables of this call make git start. True where they say what the
/// sub-command is: an alias.
pub fn emit_settings(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) -> bool {
    if let Some(dir) = call.value("--exec-path") {
        out.emit_unknown("git with programs of another directory", dir.span.clone());
    }
    let list = given_settings(out, call);
    let expanded = expand_alias(out, call, &list, next);
    if !expanded {
        emit_variables(out, call);
    }
    for setting in list {
        match setting.key {
            None => out.emit_unknown(NAMES_PROGRAM, setting.span),
            Some(key) if expanded || key.to_ascii_lowercase().starts_with("alias.") => {}
            Some(key) => set(out, call, &key, setting.value, setting.span, next),
        }
    }
    expanded
}

/// Why a setting is not understood.
const NAMES_PROGRAM: &str = "a git setting that can name a program";

/// What one setting makes this call start, skip or believe.
fn set(
    out: &mut Emitter,
    call: &Call,
    key: &str,
    value: Option<String>,
    span: std::ops::Range<usize>,
    next: &mut Vec<Next>,
) {
    let off = |value: &str| matches!(value, "false" | "no" | "off" | "0");
    if value.as_deref().is_some_and(|value| bypasses_checks(key, value)) {
        return out.push(BYPASS, Grade::Certain, Source::Operand, span);
    }
    if key.to_ascii_lowercase().ends_with("sslverify") && value.as_deref().is_some_and(off) {
        if connects_to_remote(call) {
            out.push(PROGRAM, Grade::Certain, Source::Operand, span);
        }
        return;
    }
    let runs = starts_program(key, value.as_deref()) && may_execute(key, value.is_some());
    if !runs || only_connects(key) && !connects_to_remote(call) {
        return;
    }
    out.push(PROGRAM, Grade::Certain, Source::Operand, span.clone());
    match value.filter(|_| is_command(key)) {
        Some(text) => {
            emit_started_program(out, span.clone());
            let text = text.strip_prefix('!').unwrap_or(&text).to_string();
            next.push(Next::script(Value::known(text, span)));
        }
        None => out.emit_unknown(NAMES_PROGRAM, span),
    }
}

/// A program is started that no allow on git speaks of.
fn emit_started_program(out: &mut Emitter, span: std::ops::Range<usize>) {
    let command = out.command.take();
    out.push(Word::Execute, Grade::Certain, Source::Assignment, span);
    out.command = command;
}

/// The variables that name a program for what this call does.
fn emit_variables(out: &mut Emitter, call: &Call) {
    let connects = connects_to_remote(call);
    let diff = sub_command(call) == Some("diff") && !call.has("--no-ext-diff");
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
        call.does(out, PROGRAM);
    }
    let skips = |(name, value): &(String, Option<String>)| match (name.as_str(), value.as_deref()) {
        ("HUSKY" | "LEFTHOOK", value) => matches!(value, Some("0" | "false")),
        (name, value) => HOOKS.contains(&name) && !matches!(value, Some("" | "0" | "false")),
    };
    let hooked = matches!(
        sub_command(call),
        Some("commit" | "push" | "merge" | "rebase" | "pull" | "am" | "cherry-pick" | "revert")
    );
    if hooked && out.variables.iter().any(skips) {
        call.does(out, BYPASS);
    }
}

/// The sub-command.
fn sub_command<'a>(call: &'a Call) -> Option<&'a str> {
    call.parsed.operands.first().and_then(|at| call.args[*at].plain_text())
}

/// Does this call speak with a remote? A sub-command that nobody knows may.
pub fn connects_to_remote(call: &Call) -> bool {
    let has = |name: &str| call.has(name);
    let second = call.parsed.operands.get(1).and_then(|at| call.args[*at].plain_text());
    if call.parsed.operands.is_empty() || call.parsed.has_mark(mark::ONLY) {
        return false;
    }
    match (sub_command(call), second) {
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
    known || starts_program(key, Some("x y"))
}

/// Settings that start nothing, and still make git trust others or send its data elsewhere.
fn widens_trust(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    let tail = key.rsplit('.').next().unwrap_or_default();
    WIDENING.contains(&tail)
        || matches!(key.as_str(), "safe.directory" | "safe.barerepository" | "core.worktree")
        || key.starts_with("protocol.") && key != "protocol.version"
        || key.starts_with("include")
}

/// `git config`: which file is written, and whether the key can name a program.
pub fn emit_config(out: &mut Emitter, call: &Call, values: &[Value]) {
    let verb = values.first().and_then(Value::plain_text);
    let changes = call.parsed.has_mark(mark::SPARE)
        || matches!(verb, Some("set" | "unset" | "rename-section" | "remove-section"));
    let asks = matches!(verb, Some("get" | "list"));
    let file = call.value("--file");
    file.iter().for_each(|file| out.operand(Word::Read, file));
    if call.parsed.has_mark(mark::KEEP) || !changes && (values.len() < 2 || asks) {
        let mut keys = values.iter().skip(usize::from(asks));
        if verb == Some("list") || keys.any(|key| secret::is_setting(key.known_start())) {
            out.emit_disclosure("settings that may hold secrets are printed", call.span.clone());
        }
        return;
    }
    let file = file.cloned().unwrap_or_else(|| own_file(out, call));
    out.operand(Word::Write, &file);
    call.does(out, Word::Named("git.config"));
    let removes = matches!(verb, Some("unset" | "rename-section" | "remove-section"));
    if removes || call.has_any(&["--unset", "--rename-section"]) {
        return;
    }
    let from = usize::from(verb == Some("set"));
    let value = values.get(from + 1).and_then(Value::plain_text);
    written(out, call, values.get(from).and_then(Value::plain_text), value);
}

/// The file that holds the settings of which a call speaks.
fn own_file(out: &Emitter, call: &Call) -> Value {
    let dir = out.cwd.as_ref().filter(|_| call.has("-C")).unwrap_or(&out.place.project);
    let path = match () {
        () if call.has("--system") => "/etc/gitconfig".to_string(),
        () if call.has("--global") => format!("{}/.gitconfig", out.place.home),
        () => format!("{dir}/.git/config"),
    };
    Value::known(path, call.span.clone())
}

/// A key is set from now on.
fn written(out: &mut Emitter, call: &Call, key: Option<&str>, set: Option<&str>) {
    let Some(key) = key else { return emit_named_program(out, call, true) };
    if set.is_some_and(|set| bypasses_checks(key, set)) {
        return out.push(BYPASS, Grade::Certain, Source::Operand, call.span.clone());
    }
    let alias = key.to_ascii_lowercase().starts_with("alias.");
    let runs = starts_program(key, set) && (set.is_some() || may_execute(key, false));
    match () {
        () if alias && set.is_some_and(|set| !is_risky(out, set)) => {}
        () if alias => emit_named_program(out, call, set.is_none_or(|set| set.starts_with('!'))),
        () if runs => emit_named_program(out, call, true),
        () if widens_trust(key) => emit_named_program(out, call, false),
        () => {}
    }
}

/// From now on git starts or trusts that; `unknown` = nobody knows what it will do.
fn emit_named_program(out: &mut Emitter, call: &Call, unknown: bool) {
    out.push(PROGRAM, Grade::Certain, Source::Operand, call.span.clone());
    if unknown {
        out.emit_unknown(NAMES_PROGRAM, call.span.clone());
    }
}
