//! git: settings that name programs, remotes, and what of the work tree is overwritten.

mod alias;
mod scope;
mod settings;
mod tree;

use self::tree::Tree;
pub use scope::scope;
pub use settings::{names_git, redirects, settings};

use super::super::effects::{Call, Next, operands, role};
use super::super::table::{Program, Role, Special, mark};
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::path::{self, split};
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Word, secret};
use crate::glob;

const DISCARD: Word = Word::Named("git.discard");
const BYPASS: Word = Word::Named("git.bypass");

/// The sub-commands of git whose arguments say more than a row can.
pub fn run(
    out: &mut Emitter,
    call: &Call,
    program: &Program,
    special: Special,
    values: &[Value],
    next: &mut Vec<Next>,
) {
    match special {
        Special::GitTree => {
            operands(out, call, program, next);
            if program.name == "git format-patch"
                && values.iter().any(|value| secret::is_file(value.start()))
            {
                out.reveals("what a secret was in the history is printed", call.span.clone());
            }
            if !call.dry() {
                may_write(out, call, ".");
            }
            if program.name.starts_with("git sparse-checkout") {
                sparse(out, values);
            }
            if matches!(program.name, "git stash" | "git stash push" | "git stash save") {
                stashed(out, call, values);
            }
        }
        Special::GitOwn => {
            operands(out, call, program, next);
            if !call.dry() {
                may_write(out, call, ".git");
            }
        }
        Special::GitRefs => {
            let listed = usize::from(program.name == "git symbolic-ref");
            if call.parsed.has(mark::SPARE) || !call.parsed.has(mark::KEEP) && values.len() > listed
            {
                may_write(out, call, ".git");
            }
            // `-M NAME` renames the branch one is on; of two, the second may be there already.
            if call.parsed.option("-M").is_some_and(|o| o.name == "-M") && values.len() > 1 {
                let word = Word::Named("git.delete-branch");
                out.push(word, Grade::Certain, Source::Program, call.span.clone());
            }
        }
        Special::GitCheckout => checkout(out, call, values),
        Special::GitRestore => restore(out, call, values),
        Special::GitReset if call.parsed.has(mark::SPARE) && !call.dry() => {
            may_write(out, call, ".");
            changed(out, call, &[Value::known(".", call.span.clone())]);
        }
        Special::GitClean if !call.dry() => clean(out, call, values),
        Special::GitClean => {}
        Special::GitWorktree => {
            // Without force git leaves alone what was changed.
            let sure = call.parsed.option("--force").is_some();
            let grade = if sure { Grade::Certain } else { Grade::Possible };
            for value in values {
                out.path(Word::Delete, value, Extent::Tree, grade, Source::Operand);
            }
        }
        Special::GitGc => gc(out, call),
        Special::GitPush => push(out, call, values),
        Special::GitRemoteRead => remote(out, values.first(), false),
        Special::GitPull => {
            remote(out, values.first(), false);
            if !call.dry() {
                may_write(out, call, ".");
            }
        }
        Special::GitRemote => {
            if let Some(url) = values.iter().find(|v| v.start().starts_with("ext::")) {
                out.unknown("git's ext transport runs a command", url.span.clone());
            }
            may_write(out, call, ".git");
        }
        Special::GitDiff => shown(out, call, values, next),
        Special::GitContents => contents(out, call, program, values, next),
        Special::GitConfig => settings::config(out, call, values),
        Special::GitClone => clone(out, values),
        Special::GitFill => {
            let here = Value::known(".", call.span.clone());
            filled(out, values.first().unwrap_or(&here));
        }
        _ => {}
    }
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
        changed(out, call, &files);
    } else if !values.is_empty() || call.parsed.option("--force").is_some() {
        may_write(out, call, ".");
    }
}

/// Is the only word behind `git checkout` a file? git asks whether there is such a branch; here the
/// disk is asked, and after that the shape of the word.
fn names_file(out: &mut Emitter, value: &Value) -> bool {
    let Some(text) = value.text() else { return false };
    let shaped = matches!(text, "." | "..")
        || ["./", "../", "/", ":/", ":("].iter().any(|start| text.starts_with(start))
        || text.ends_with('/')
        || value.is_glob();
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
    changed(out, call, values);
}

/// Is `yes` given, and not taken back by a later `no`?
fn last_says(call: &Call, yes: &str, no: &str) -> bool {
    let last = |name: &str| call.parsed.options.iter().rposition(|option| option.is(name));
    last(yes) > last(no)
}

/// Without `-f` git refuses, unless a setting says otherwise.
fn clean(out: &mut Emitter, call: &Call, values: &[Value]) {
    let lax = settings::last(out, call, "clean.requireforce").is_some_and(|value| {
        value.is_none_or(|v| !matches!(v.as_str(), "true" | "yes" | "on" | "1"))
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
    if sure {
        let here = Value::known(".", call.span.clone());
        let places = if values.is_empty() { std::slice::from_ref(&here) } else { values };
        untracked(out, call, places);
    }
}

/// The guarded files of which git's index says that they are changed by this.
fn settled(
    out: &mut Emitter,
    call: &Call,
    places: &[Value],
    word: Word,
    holds: impl Fn(&Tree, &str) -> bool,
) {
    let mut tree = None;
    for place in places {
        let Spot::At(target) = out.spot(place, Extent::Exact, false) else { continue };
        let guards = out.guards_below(&target, true);
        if guards.is_empty() {
            continue;
        }
        let Some(tree) = tree.get_or_insert_with(|| Tree::read(out)) else { return };
        for path in guards.iter().filter(|path| holds(tree, path)) {
            out.guard_changed(word, path, call.span.clone());
        }
    }
}

/// The guarded files that git does not track go; those that it ignores only where that is asked for.
fn untracked(out: &mut Emitter, call: &Call, places: &[Value]) {
    let all = ["-x", "-X", "-a"].iter().any(|name| call.parsed.option(name).is_some());
    settled(out, call, places, Word::Delete, |tree, path| tree.is_untracked(path, all));
}

/// `git stash -u`: what is not tracked is put away with the rest.
fn stashed(out: &mut Emitter, call: &Call, values: &[Value]) {
    let here = Value::known(".", call.span.clone());
    let named = if values.is_empty() { std::slice::from_ref(&here) } else { values };
    if ["-u", "-a"].iter().any(|name| call.parsed.option(name).is_some()) {
        untracked(out, call, named);
    }
    changed(out, call, named);
    if call.parsed.program.is_some_and(|row| row.name != "git stash save") {
        for value in values {
            out.path(Word::Write, value, Extent::Tree, Grade::Certain, Source::Operand);
        }
    }
}

/// What git tracks goes back to what it was: guarded files that were changed since.
fn changed(out: &mut Emitter, call: &Call, places: &[Value]) {
    settled(out, call, places, Word::Write, Tree::is_changed);
}

/// `--prune=now` takes what the default of two weeks still keeps.
fn gc(out: &mut Emitter, call: &Call) {
    let soon = |date: Option<&str>| date.is_none_or(|date| matches!(date, "now" | "all" | "0"));
    let option = call.parsed.option("--prune").and_then(|o| o.value.as_ref());
    let kept = call.parsed.options.iter().any(|o| o.name == "--no-prune");
    let keys: &[&str] = match option {
        None if !kept => &["gc.pruneexpire", "gc.reflogexpire", "gc.reflogexpireunreachable"],
        _ => &["gc.reflogexpire", "gc.reflogexpireunreachable"],
    };
    let set = keys
        .iter()
        .any(|key| settings::last(out, call, key).is_some_and(|value| soon(value.as_deref())));
    if set || option.is_some_and(|value| soon(value.plain())) {
        let word = Word::Named("git.expire");
        out.push(word, Grade::Certain, Source::Program, call.span.clone());
    }
}

/// push: `+REF` forces, `:REF` deletes; a URL names its host.
fn push(out: &mut Emitter, call: &Call, values: &[Value]) {
    remote(out, values.first(), !call.dry());
    if call.dry() {
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

/// What is shown: `--no-index` reads files, `REV:FILE` a file as it was. What names a secret in a history is not to be
/// looked up on the disk.
fn shown(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
    let row = call.parsed.program.map_or("", |row| row.name);
    let contents =
        matches!(row, "git diff" | "git show" | "git range-diff" | "git cat-file" | "git difftool");
    let project = &out.place.project;
    // Another repository is none of the project.
    if out.cwd.as_ref().is_none_or(|cwd| {
        let rest = cwd.strip_prefix(project.as_str());
        rest.is_none_or(|rest| !rest.is_empty() && !rest.starts_with('/'))
    }) {
        out.own_path(Word::Read, ".", Extent::Exact, Grade::Possible, call.span.clone());
    }
    narrowed(out, call);
    for value in values {
        let named = value.start().rsplit([':', ')']).next().unwrap_or_default();
        if contents && secret::is_file(named) {
            out.reveals("what a secret was in the history is printed", value.span.clone());
        }
        // Outside a repository git compares any two files.
        let text = value.start();
        let outside = row == "git diff" && (text.starts_with('/') || text.starts_with("../"));
        if outside && !text.starts_with(&out.place.project) {
            out.reveals("files outside the repository are compared", value.span.clone());
        }
        if call.parsed.has(mark::SPARE) || outside {
            role(out, call, Role::Read, value, next);
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

/// What prints files as they are, or were: no allow means the whole of a commit, or a file whose name tells of a secret.
fn contents(
    out: &mut Emitter,
    call: &Call,
    program: &Program,
    values: &[Value],
    next: &mut Vec<Next>,
) {
    operands(out, call, program, next);
    // The pattern of grep is no name.
    let pattern = !program.before.is_empty() && !call.parsed.has(mark::NO_FIRST);
    let named = &values[usize::from(pattern).min(values.len())..];
    let whole = match program.name {
        "git archive" => values.len() == 1 && call.parsed.option("--list").is_none(),
        "git bundle create" => values.first().is_some_and(|value| value.plain() == Some("-")),
        _ => false,
    };
    let tells = |value: &Value| {
        secret::is_file(value.start().rsplit([':', ')']).next().unwrap_or_default())
    };
    if (whole || named.iter().any(tells))
        && let Some(command) = out.command.and_then(|at| out.analysis.commands.get_mut(at))
    {
        command.transparent = false;
        command.genuine = false;
    }
}

/// A patch of files that are named, none of which tells of a secret, shows no other.
fn narrowed(out: &mut Emitter, call: &Call) {
    const PATCH: &[&str] = &["-p", "-U", "--cc", "-c", "-m", "-W", "--word-diff", "--color-words"];
    // With these it is not only those that are named.
    const WIDER: &[&str] = &["--full-diff", "--stdin"];
    if WIDER.iter().any(|name| call.parsed.option(name).is_some()) {
        return;
    }
    let Some(end) = call.args.iter().position(|arg| arg.plain() == Some("--")) else { return };
    let named = |arg: &Value| {
        arg.plain().is_some_and(|text| {
            text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && !text.contains(['*', '?', '[', ':'])
                && !text.split('/').any(|part| part == ".." || secret::is_file(part))
        })
    };
    let paths = &call.args[end + 1..];
    if paths.is_empty() || !paths.iter().all(named) {
        return;
    }
    let Some(command) = out.command.and_then(|at| out.analysis.commands.get_mut(at)) else {
        return;
    };
    for option in &mut command.options {
        option.harmless |=
            PATCH.iter().any(|name| option.name == *name || option.aliases.contains(name));
    }
    command.transparent = command.genuine
        && call.parsed.program.is_some_and(|row| row.complete)
        && command.options.iter().all(|option| option.harmless)
        && command.args.iter().all(|arg| arg.text.is_some());
}

/// A directory that git fills with what is its own already: inside of the project that is as little anybody's affair as a checkout.
fn filled(out: &mut Emitter, value: &Value) {
    let project = out.place.project.clone();
    let inside = matches!(out.spot(value, Extent::Exact, false),
    Spot::At(target) if [&target.lexical, &target.resolved].iter().all(|path| {
        path.strip_prefix(&project).is_some_and(|rest| {
            !rest.contains("/.") && (rest.is_empty() || rest.starts_with('/'))
        })
    }));
    let extent = if inside { Extent::Exact } else { Extent::Tree };
    out.path(Word::Write, value, extent, Grade::Certain, Source::Operand);
    if inside {
        out.path(Word::Write, value, Extent::Tree, Grade::Possible, Source::Program);
    }
}

/// clone and submodule add: where from, and which directory is written.
fn clone(out: &mut Emitter, values: &[Value]) {
    let Some(url) = values.first() else { return };
    let text = url.start();
    if text.starts_with("ext::") {
        out.unknown("git's ext transport runs a command", url.span.clone());
    }
    let far = text.contains("://") || text.contains('@') || is_scp(text) || url.text().is_none();
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
        (None, None) => Value::begins("./", url.span.clone()),
    };
    out.path(Word::Write, &target, Extent::Tree, Grade::Certain, Source::Operand);
    if far {
        out.fetch_into(&target);
    }
}

/// Patterns of a sparse checkout that leave out what guards: those files go.
fn sparse(out: &mut Emitter, values: &[Value]) {
    for value in values {
        let Some(left) = value.plain().and_then(|text| text.strip_prefix('!')) else { continue };
        let cwd = out.cwd.clone().unwrap_or_default();
        let pattern = format!("{cwd}/{}", left.trim_matches('/'));
        let paths = out.place.guarded_paths().into_iter();
        let gone: Vec<String> = paths
            .filter(|path| {
                glob::matches(&pattern, path)
                    || path.strip_prefix(&pattern).is_some_and(|rest| rest.starts_with('/'))
            })
            .collect();
        for path in gone {
            out.guard_changed(Word::Delete, &path, value.span.clone());
        }
    }
}
