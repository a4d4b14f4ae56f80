//! git: settings that name programs, remotes, and what of the work tree is overwritten.

use super::super::effects::{Call, Next, operands, role};
use super::super::table::{Program, Role, mark};
use crate::effect::path::{self, split};
use crate::effect::value::{Emitter, Value};
use crate::effect::{Extent, Grade, Source, Word};

const DISCARD: Word = Word::Named("git.discard");
const BYPASS: Word = Word::Named("git.bypass");

/// The sub-commands of git whose arguments say more than a row can; false = no such code.
pub fn run(
    out: &mut Emitter,
    call: &Call,
    program: &Program,
    values: &[Value],
    dry: bool,
    next: &mut Vec<Next>,
) -> bool {
    match program.special {
        "git-tree" => {
            operands(out, call, program, dry, next);
            if !dry {
                may_write(out, call, ".");
            }
        }
        "git-own" => {
            operands(out, call, program, dry, next);
            if !dry {
                may_write(out, call, ".git");
            }
        }
        "git-refs" => {
            let listed = usize::from(program.name == "git symbolic-ref");
            if call.parsed.has(mark::SPARE) || !call.parsed.has(mark::KEEP) && values.len() > listed
            {
                may_write(out, call, ".git");
            }
        }
        "git-checkout" => checkout(out, call, values),
        "git-restore" => restore(out, call, values),
        "git-reset" => {
            if call.parsed.has(mark::SPARE) && !dry {
                may_write(out, call, ".");
            }
        }
        "git-clean" if !dry => clean(out, call, values),
        "git-clean" => {}
        "git-gc" => gc(out, call),
        "git-push" => push(out, call, values, dry),
        "git-remote-read" => remote(out, values.first(), false),
        "git-pull" => {
            remote(out, values.first(), false);
            if !dry {
                may_write(out, call, ".");
            }
        }
        "git-remote" => {
            if let Some(url) = values.iter().find(|v| v.start().starts_with("ext::")) {
                out.unknown("git's ext transport runs a command", url.span.clone());
            }
            may_write(out, call, ".git");
        }
        "git-diff" => shown(out, call, values, next),
        "git-config" => config(out, call, values),
        "git-clone" => clone(out, values),
        _ => return false,
    }
    true
}

/// What a call may change without naming it.
fn may_write(out: &mut Emitter, call: &Call, dir: &str) {
    out.own_path(Word::Write, dir, Extent::Tree, Grade::Possible, call.span.clone());
}

/// checkout and switch: another branch, a new one, or files overwritten by those of a commit.
fn checkout(out: &mut Emitter, call: &Call, values: &[Value]) {
    let creates = call.parsed.has(mark::SPARE);
    let files: Vec<Value> = match call.args.iter().position(|a| a.plain() == Some("--")) {
        _ if call.parsed.program.is_some_and(|p| p.name == "git switch") => Vec::new(),
        Some(at) => {
            let behind = call.parsed.operands.iter().filter(|i| **i > at);
            behind.map(|i| call.args[*i].clone()).collect()
        }
        // With --track git refuses to take files as well.
        None if creates || call.parsed.option("--track").is_some() => Vec::new(),
        None => match values {
            [only] if names_file(out, only) => vec![only.clone()],
            [first, ..] if values.len() > 1 && names_file(out, first) => values.to_vec(),
            [_, rest @ ..] => rest.to_vec(),
            [] => Vec::new(),
        },
    };
    if !files.is_empty() {
        if call.parsed.option("--patch").is_none() {
            out.push(DISCARD, Grade::Certain, Source::Program, call.span.clone());
        }
        files.iter().for_each(|file| overwrite(out, file));
    } else if !values.is_empty() || call.parsed.option("--force").is_some() {
        may_write(out, call, ".");
    }
}

/// Is the only word behind `git checkout` a file? git asks whether there is such a branch; here the
/// disk is asked, and after that the shape of the word.
fn names_file(out: &mut Emitter, value: &Value) -> bool {
    let Some(text) = &value.text else { return false };
    let shaped = matches!(text.as_str(), "." | "..")
        || ["./", "../", "/", ":/", ":("].iter().any(|start| text.starts_with(start))
        || text.ends_with('/')
        || value.glob;
    shaped
        || out.cwd.clone().is_some_and(|cwd| out.resolver.exists(&path::join(&cwd, text)))
        || split(text).1.rsplit_once('.').is_some_and(|(stem, extension)| {
            // `main.rs`, not `v1.2.x` or `release-1.x`.
            (1..=5).contains(&extension.len())
                && extension.bytes().all(|b| b.is_ascii_alphanumeric())
                && extension.starts_with(|c: char| c.is_ascii_alphabetic())
                && extension != "x"
                && stem.contains(|c: char| c.is_ascii_alphabetic())
                && !stem.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
                && !stem.contains(['@', '~', '^', ':'])
        })
}

/// A file, or what below a directory is tracked, is overwritten.
fn overwrite(out: &mut Emitter, value: &Value) {
    let text = value.plain().unwrap_or("x");
    let (value, grade) = match text.strip_prefix(':') {
        Some(_) => (Value::known(".", value.span.clone()), Grade::Possible),
        None if matches!(text, "." | "..") || text.ends_with('/') => {
            (value.clone(), Grade::Possible)
        }
        None => (value.clone(), Grade::Certain),
    };
    out.path(Word::Write, &value, Extent::Tree, grade, Source::Operand);
}

/// As soon as one of `--staged` and `--worktree` stands there, with or without `no-`, the files are
/// left alone unless the last word on `--worktree` is yes. `--patch` asks, without anybody there to
/// be asked.
fn restore(out: &mut Emitter, call: &Call, values: &[Value]) {
    let has = |name: &str| call.parsed.option(name).is_some();
    let named = ["--staged", "--no-staged", "--worktree", "--no-worktree"];
    if named.iter().any(|name| has(name)) && !last_says(call, "--worktree", "--no-worktree") {
        may_write(out, call, ".git");
        return;
    }
    let listed = has("--pathspec-from-file");
    if listed || !values.is_empty() || last_says(call, "--patch", "--no-patch") {
        out.push(DISCARD, Grade::Certain, Source::Program, call.span.clone());
    }
    if listed {
        may_write(out, call, ".");
    }
    values.iter().for_each(|value| overwrite(out, value));
}

/// Is `yes` given, and not taken back by a later `no`?
fn last_says(call: &Call, yes: &str, no: &str) -> bool {
    let last = |name: &str| call.parsed.options.iter().rposition(|option| option.is(name));
    last(yes) > last(no)
}

/// Without `-f` git refuses, unless a setting says otherwise.
fn clean(out: &mut Emitter, call: &Call, values: &[Value]) {
    let lax = call.parsed.options.iter().any(|o| {
        let value = o.value.as_ref().map_or("", Value::start);
        value.to_ascii_lowercase().starts_with("clean.requireforce=")
    });
    let sure = lax || ["-f", "-i"].iter().any(|name| call.parsed.option(name).is_some());
    let grade = if sure { Grade::Certain } else { Grade::Possible };
    if lax {
        out.push(DISCARD, Grade::Certain, Source::Program, call.span.clone());
    }
    if values.is_empty() {
        out.own_path(Word::Delete, ".", Extent::Tree, grade, call.span.clone());
    }
    for value in values {
        out.path(Word::Delete, value, Extent::Tree, grade, Source::Operand);
    }
}

/// `--prune=now` takes what the default of two weeks still keeps.
fn gc(out: &mut Emitter, call: &Call) {
    let Some(value) = call.parsed.option("--prune").and_then(|o| o.value.as_ref()) else { return };
    if value.plain().is_none_or(|date| matches!(date, "now" | "all" | "0")) {
        let word = Word::Named("git.expire");
        out.push(word, Grade::Certain, Source::Program, value.span.clone());
    }
}

/// push: `+REF` forces, `:REF` deletes; a URL names its host.
fn push(out: &mut Emitter, call: &Call, values: &[Value], dry: bool) {
    remote(out, values.first(), !dry);
    if dry {
        return;
    }
    let mut named = |word, span| out.push(Word::Named(word), Grade::Certain, Source::Operand, span);
    for reference in values.iter().skip(1) {
        let text = reference.start();
        if text.starts_with('+') {
            named("git.force-push", reference.span.clone());
        }
        if text.trim_start_matches('+').starts_with(':') && !matches!(text, ":" | "+:") {
            named("git.delete-remote", reference.span.clone());
        }
    }
    if call.parsed.option("--mirror").is_some() {
        named("git.delete-remote", call.span.clone());
    }
}

/// A remote by URL: its host. By name: some host, which the row says.
fn remote(out: &mut Emitter, value: Option<&Value>, send: bool) {
    let Some(value) = value else { return };
    let text = value.start();
    if text.starts_with("ext::") {
        out.unknown("git's ext transport runs a command", value.span.clone());
    } else if text.contains("://") || is_scp(text) {
        out.contact(value, send, Source::Operand);
    }
}

/// `host:path`, `user@host:path`.
fn is_scp(text: &str) -> bool {
    text.split_once(':').is_some_and(|(host, _)| host.len() > 1 && !host.contains('/'))
}

/// What is shown: `--no-index` reads files, `REV:FILE` a file as it was.
fn shown(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
    for value in values {
        if call.parsed.has(mark::SPARE) {
            role(out, call, Role::Read, value, false, next);
        } else if let Some((rev, file)) = value.plain().and_then(|text| text.split_once(':'))
            && !rev.contains(['/', '{', ' '])
            && !file.is_empty()
            && !file.contains([':', ' ', '}'])
            && !file.starts_with(['!', '(', '/', '^'])
        {
            let file = format!("{}/{file}", out.place.project);
            out.own_path(Word::Read, &file, Extent::Exact, Grade::Certain, value.span.clone());
        }
    }
}

/// clone and submodule add: where from, and which directory is written.
fn clone(out: &mut Emitter, values: &[Value]) {
    let Some(url) = values.first() else { return };
    let text = url.start();
    if text.starts_with("ext::") {
        out.unknown("git's ext transport runs a command", url.span.clone());
    }
    let far = text.contains("://") || text.contains('@') || is_scp(text) || url.text.is_none();
    if far {
        out.contact(url, false, Source::Operand);
    } else {
        out.path(Word::Read, url, Extent::Tree, Grade::Certain, Source::Operand);
    }
    let name = url.plain().map(|text| {
        let last = split(text.trim_end_matches('/')).1.trim_end_matches(".git");
        last.rsplit(':').next().unwrap_or_default().to_string()
    });
    let target = match (values.get(1), name) {
        (Some(dir), _) => dir.clone(),
        (None, Some(name)) => Value::known(name, url.span.clone()),
        (None, None) => {
            Value { prefix: Some("./".to_string()), ..Value::unknown(url.span.clone()) }
        }
    };
    out.path(Word::Write, &target, Extent::Tree, Grade::Certain, Source::Operand);
    if far {
        out.fetch_into(&target);
    }
}

/// Keys of `core.` that neither name a program nor move anything.
const CORE: &[&str] = &[
    "abbrev",
    "autocrlf",
    "bare",
    "bigfilethreshold",
    "checkstat",
    "commentchar",
    "commitgraph",
    "compression",
    "eol",
    "excludesfile",
    "filemode",
    "fscache",
    "fsync",
    "ignorecase",
    "logallrefupdates",
    "longpaths",
    "loosecompression",
    "multipackindex",
    "packedgitlimit",
    "precomposeunicode",
    "preloadindex",
    "protecthfs",
    "protectntfs",
    "quotepath",
    "safecrlf",
    "sharedrepository",
    "sparsecheckout",
    "sparsecheckoutcone",
    "splitindex",
    "symlinks",
    "trustctime",
    "untrackedcache",
    "warnambiguousrefs",
    "whitespace",
];
/// Ends of keys that name programs, or lead git elsewhere.
const TAILS: &[&str] = &[
    "askpass",
    "browser",
    "clean",
    "cmd",
    "command",
    "difffilter",
    "driver",
    "editor",
    "external",
    "helper",
    "hook",
    "hookspath",
    "pager",
    "path",
    "process",
    "program",
    "proxy",
    "receivepack",
    "smtpserver",
    "smudge",
    "templatedir",
    "textconv",
    "uploadpack",
    "vcs",
];
/// Pagers and editors that do nothing else when they stand without words of their own.
const TAME: &[&str] = &[
    "",
    ":",
    "bat",
    "cat",
    "code",
    "delta",
    "diff-so-fancy",
    "emacs",
    "false",
    "less",
    "more",
    "nano",
    "nvim",
    "true",
    "vi",
    "vim",
];

/// Could this setting start a program, or lead git elsewhere? `value` None = not known.
fn executes(key: &str, value: Option<&str>) -> bool {
    let key = key.to_ascii_lowercase();
    let tail = key.rsplit('.').next().unwrap_or_default();
    let Some(value) = value else { return true };
    if value.starts_with('!') {
        return true;
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

/// `git -c key=value` and `git clone -c`.
pub fn settings(out: &mut Emitter, call: &Call) {
    for option in &call.parsed.options {
        let Some(value) = &option.value else { continue };
        if option.name == "--exec-path" {
            out.unknown("git with programs of another directory", value.span.clone());
        }
        if !matches!(option.name.as_str(), "-c" | "--config" | "--config-env")
            || option.spec.is_none_or(|s| s.marks & mark::SPARE == 0)
        {
            continue;
        }
        let pair = value.start().split_once('=');
        let (key, set) = pair.unwrap_or((value.start(), "true"));
        let known = value.plain().is_some() && option.name != "--config-env";
        if known && bypasses(key, set) {
            out.push(BYPASS, Grade::Certain, Source::Operand, value.span.clone());
        } else if pair.is_none() && !known
            || executes(key, known.then_some(set)) && may_execute(key, known)
            || key.to_ascii_lowercase().starts_with("alias.")
        {
            out.unknown("a git setting that can name a program", value.span.clone());
        }
    }
}

/// A value known only at run time matters only where the key does.
fn may_execute(key: &str, known: bool) -> bool {
    known || executes(key, Some("x y"))
}

/// `git config`: which file is written, and whether the key can name a program.
fn config(out: &mut Emitter, call: &Call, values: &[Value]) {
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
        Some(key) if !executes(key, set) || set.is_none() && !may_execute(key, false) => {}
        _ => out.unknown("a git setting that can name a program", call.span.clone()),
    }
}
