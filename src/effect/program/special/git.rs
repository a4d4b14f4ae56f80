//! git: settings that name programs, remotes, and what of the work tree is overwritten.

mod alias;
mod scope;
mod settings;
mod tree;

use self::tree::Tree;
pub use scope::note_scope;
pub use settings::{emit_config, emit_settings, names_git, redirects_git};

use super::Invocation;
use crate::effect::emitter::Emitter;
use crate::effect::path::{self, is_absolute, split};
use crate::effect::program::effects::{Call, Next, emit_role};
use crate::effect::program::table::{Role, mark};
use crate::effect::value::Value;
use crate::effect::{Effect, Extent, Grade, Source, SubCommand, Target, Word, secret};
use crate::glob;
use crate::names::git_restore::LOCKS;

const DISCARD: Word = Word::Named("git.discard");
/// Why a URL of that transport is not understood.
const EXT: &str = "git's ext transport runs a command";
const BYPASS: Word = Word::Named("git.bypass");

/// What changes the work tree as a whole: merge, stash, sparse-checkout ...
pub(super) fn tree(i: &mut Invocation) {
    i.operands();
    let Invocation { out, call, program, values, .. } = i;
    if program.name == "git format-patch" && values.iter().any(|v| secret::is_file(v.known_start()))
    {
        out.emit_disclosure("what a secret was in the history is printed", call.span.clone());
    }
    if !call.is_dry_run() {
        may_write(out, call, ".");
    }
    if program.name.starts_with("git sparse-checkout") {
        emit_sparse_patterns(out, values);
    }
    if matches!(program.name, "git stash" | "git stash push" | "git stash save") {
        emit_stash(out, call, values);
    }
}

/// What changes only what is git's own.
pub(super) fn own(i: &mut Invocation) {
    i.operands();
    if !i.call.is_dry_run() {
        may_write(i.out, i.call, ".git");
    }
}

/// branch, tag and their kin.
pub fn refs(out: &mut Emitter, call: &Call, values: &[Value]) {
    let listed = usize::from(call.row() == "git symbolic-ref");
    if call.parsed.has_mark(mark::SPARE)
        || !call.parsed.has_mark(mark::KEEP) && values.len() > listed
    {
        may_write(out, call, ".git");
    }
    // `-M NAME` renames the branch one is on; of two, the second may be there already.
    if call.parsed.find_option("-M").is_some_and(|o| o.name == "-M") && values.len() > 1 {
        call.does(out, Word::Named("git.delete-branch"));
    }
}

/// `reset --hard`
pub fn reset(out: &mut Emitter, call: &Call) {
    if call.parsed.has_mark(mark::SPARE) && !call.is_dry_run() {
        may_write(out, call, ".");
        emit_reverted(out, call, &[here(call)]);
    }
}

/// `worktree remove`: without force git leaves alone what was changed.
pub fn worktree(out: &mut Emitter, call: &Call, values: &[Value]) {
    let grade = if call.has("--force") { Grade::Certain } else { Grade::Possible };
    for value in values {
        out.emit_path(Word::Delete, value, Extent::Tree, grade, Source::Operand);
    }
}

/// `pull`: a remote is asked, and the work tree may change.
pub fn pull(out: &mut Emitter, call: &Call, values: &[Value]) {
    emit_remote(out, values.first(), false);
    if !call.is_dry_run() {
        may_write(out, call, ".");
    }
}

/// `remote add` and `set-url`.
pub fn remotes(out: &mut Emitter, call: &Call, values: &[Value]) {
    if let Some(url) = values.iter().find(|v| v.known_start().starts_with("ext::")) {
        out.emit_unknown(EXT, url.span.clone());
    }
    may_write(out, call, ".git");
}

/// The directory that the call works in.
fn here(call: &Call) -> Value {
    Value::known(".", call.span.clone())
}

/// What a call may change without naming it.
fn may_write(out: &mut Emitter, call: &Call, dir: &str) {
    out.own_path(Word::Write, dir, Extent::Tree, Grade::Possible, call.span.clone());
}

/// checkout and switch: another branch, a new one, or files overwritten by those of a commit.
pub fn emit_checkout(out: &mut Emitter, call: &Call, values: &[Value]) {
    let files = checked_out(out, call, values);
    if !files.is_empty() {
        if !call.has("--patch") && !takes_side(call) && !files.iter().all(is_made_anew) {
            call.does(out, DISCARD);
        }
        files.iter().for_each(|file| emit_overwrite(out, file));
        emit_reverted(out, call, &files);
    } else if !values.is_empty() || call.has("--force") {
        may_write(out, call, ".");
    }
}

/// The files that are overwritten by those of a commit.
fn checked_out(out: &mut Emitter, call: &Call, values: &[Value]) -> Vec<Value> {
    if call.row() == "git switch" {
        return Vec::new();
    }
    if let Some(at) = call.args.iter().position(|a| a.plain_text() == Some("--")) {
        let behind = call.parsed.operands.iter().filter(|i| **i > at);
        return behind.map(|i| call.args[*i].clone()).collect();
    }
    // With --track git refuses to take files as well.
    if call.parsed.has_mark(mark::SPARE) || call.has("--track") {
        return Vec::new();
    }
    match values {
        [first, ..] if names_file(out, first) => values.to_vec(),
        [_, rest @ ..] => rest.to_vec(),
        [] => Vec::new(),
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
        || has_extension(split(text).1)
}

/// `main.rs`, not `v1.2.x` or `release-1.x`.
fn has_extension(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else { return false };
    let letters = (1..=5).contains(&extension.len())
        && extension.bytes().all(|b| b.is_ascii_alphanumeric())
        && extension.starts_with(|c: char| c.is_ascii_alphabetic())
        && extension != "x";
    letters
        && stem.contains(|c: char| c.is_ascii_alphabetic())
        && !stem.trim_start_matches('v').starts_with(|c: char| c.is_ascii_digit())
        && !stem.contains(['@', '~', '^', ':'])
}

/// A file, or what below a directory is tracked, is overwritten.
fn emit_overwrite(out: &mut Emitter, value: &Value) {
    let text = value.plain_text().unwrap_or("x");
    let (value, grade) = match text.strip_prefix(':') {
        Some(_) => (Value::known(".", value.span.clone()), Grade::Possible),
        None if matches!(text, "." | "..") || text.ends_with('/') => {
            (value.clone(), Grade::Possible)
        }
        None => (value.clone(), Grade::Certain),
    };
    out.emit_path(Word::Write, &value, Extent::Tree, grade, Source::Operand);
}

/// As soon as one of `--staged` and `--worktree` stands there, with or without `no-`, the files are
/// left alone unless the last word on `--worktree` is yes. `--patch` asks, without anybody there to
/// be asked.
pub fn emit_restore(out: &mut Emitter, call: &Call, values: &[Value]) {
    let has = |name: &str| call.has(name);
    let named = ["--staged", "--no-staged", "--worktree", "--no-worktree"];
    if named.iter().any(|name| has(name)) && !last_says(call, "--worktree", "--no-worktree") {
        may_write(out, call, ".git");
        return;
    }
    let listed = has("--pathspec-from-file");
    let kept = !takes_side(call) && !values.iter().all(is_made_anew);
    if listed || kept || last_says(call, "--patch", "--no-patch") {
        call.does(out, DISCARD);
    }
    if listed {
        may_write(out, call, ".");
    }
    values.iter().for_each(|value| emit_overwrite(out, value));
    emit_reverted(out, call, values);
}

/// Of a conflict one side is taken: both are committed.
fn takes_side(call: &Call) -> bool {
    call.has_any(&["--ours", "--theirs"])
}

/// What a repository loses that lies among temporary files, and is there or is made by the call, nobody misses. Of another's
/// work tree that is what was not committed, and of one that stands by itself all.
pub fn spare_throwaway(out: &mut Emitter, from: usize) {
    const KEPT: &[&str] = &["git.discard"];
    const OWN: &[&str] =
        &["git.amend", "git.bypass", "git.delete-branch", "git.drop-stash", "git.rewrite"];
    let names = |list: &[&str], word: Word| matches!(word, Word::Named(own) if list.contains(&own));
    let loses = |effect: &Effect| names(KEPT, effect.word) || names(OWN, effect.word);
    if !out.analysis.effects[from..].iter().any(loses) {
        return;
    }
    let Some(cwd) = out.cwd.clone().filter(|cwd| path::is_temporary(cwd)) else { return };
    let real = out.resolver.resolve(&cwd, "");
    let project = &out.place.project;
    if !path::is_temporary(&real) || [&cwd, &real].iter().any(|at| is_within(at, project)) {
        return;
    }
    let made = out.analysis.commands.iter().any(begins_repository);
    let top = std::iter::successors(Some(real.as_str()), |at| Some(split(at).0))
        .take_while(|at| path::is_temporary(at))
        .map(|at| path::join(at, ".git"))
        .find(|git| out.resolver.exists(git));
    if !made && top.is_none() {
        return;
    }
    let stands_alone = made || top.is_some_and(|git| out.resolver.is_dir(&git));
    let mut at = 0;
    out.analysis.effects.retain(|effect| {
        at += 1;
        let spared = names(KEPT, effect.word) || stands_alone && names(OWN, effect.word);
        at <= from || !spared
    });
}

/// `git init`, `git clone`
fn begins_repository(command: &SubCommand) -> bool {
    let verb = command.operands.first().and_then(|at| command.args[*at].text.as_deref());
    command.name == "git" && matches!(verb, Some("init" | "clone"))
}

/// A lock file, which a package manager makes anew from what it belongs to.
fn is_made_anew(file: &Value) -> bool {
    let text = file.plain_text().unwrap_or_default();
    LOCKS.contains(&text.rsplit('/').next().unwrap_or_default()) && !file.is_glob()
}

/// Is `yes` given, and not taken back by a later `no`?
fn last_says(call: &Call, yes: &str, no: &str) -> bool {
    let last = |name: &str| call.parsed.options.iter().rposition(|option| option.is_option(name));
    last(yes) > last(no)
}

/// Without `-f` git refuses, unless a setting says otherwise.
pub fn emit_clean(out: &mut Emitter, call: &Call, values: &[Value]) {
    if call.is_dry_run() {
        return;
    }
    let lax = settings::last_setting(out, call, "clean.requireforce").is_some_and(|value| {
        value.is_none_or(|v| !matches!(v.as_str(), "true" | "yes" | "on" | "1"))
    });
    let sure = lax || call.has_any(&["-f", "-i"]);
    let grade = if sure { Grade::Certain } else { Grade::Possible };
    if lax {
        call.does(out, DISCARD);
    }
    if values.is_empty() {
        out.own_path(Word::Delete, ".", Extent::Tree, grade, call.span.clone());
    }
    for value in values {
        out.emit_path(Word::Delete, value, Extent::Tree, grade, Source::Operand);
    }
    if sure {
        let here = here(call);
        emit_untracked(
            out,
            call,
            if values.is_empty() { std::slice::from_ref(&here) } else { values },
        );
    }
}

/// The guarded files of which git's index says that they are changed by this.
fn emit_guarded_changes(
    out: &mut Emitter,
    call: &Call,
    places: &[Value],
    word: Word,
    holds: impl Fn(&Tree, &str) -> bool,
) {
    let mut tree = None;
    for place in places {
        let Some(target) = out.locate_exact(place) else { continue };
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
fn emit_untracked(out: &mut Emitter, call: &Call, places: &[Value]) {
    let all = call.has_any(&["-x", "-X", "-a"]);
    emit_guarded_changes(out, call, places, Word::Delete, |tree, path| {
        tree.is_untracked(path, all)
    });
}

/// `git stash -u`: what is not tracked is put away with the rest.
fn emit_stash(out: &mut Emitter, call: &Call, values: &[Value]) {
    let here = here(call);
    let named = if values.is_empty() { std::slice::from_ref(&here) } else { values };
    if call.has_any(&["-u", "-a"]) {
        emit_untracked(out, call, named);
    }
    emit_reverted(out, call, named);
    if call.parsed.program.is_some_and(|row| row.name != "git stash save") {
        for value in values {
            out.operand_tree(Word::Write, value);
        }
    }
}

/// What git tracks goes back to what it was: guarded files that were changed since.
fn emit_reverted(out: &mut Emitter, call: &Call, places: &[Value]) {
    emit_guarded_changes(out, call, places, Word::Write, Tree::is_changed);
}

/// `--prune=now` takes what the default of two weeks still keeps.
pub fn emit_gc(out: &mut Emitter, call: &Call) {
    let soon = |date: Option<&str>| {
        date.is_none_or(|date| {
            matches!(date, "now" | "all" | "0" | "today")
                || date.contains("second")
                || date.contains("minute")
        })
    };
    let option = call.value("--prune");
    let kept = call.parsed.options.iter().any(|o| o.name == "--no-prune");
    let keys: &[&str] = match option {
        None if !kept => &["gc.pruneexpire", "gc.reflogexpire", "gc.reflogexpireunreachable"],
        _ => &["gc.reflogexpire", "gc.reflogexpireunreachable"],
    };
    let set = keys.iter().any(|key| {
        settings::last_setting(out, call, key).is_some_and(|value| soon(value.as_deref()))
    });
    if set || option.is_some_and(|value| soon(value.plain_text())) {
        let word = Word::Named("git.expire");
        call.does(out, word);
    }
}

/// push: `+REF` forces, `:REF` deletes; a URL names its host.
pub fn emit_push(out: &mut Emitter, call: &Call, values: &[Value]) {
    emit_remote(out, values.first(), !call.is_dry_run());
    if call.is_dry_run() {
        return;
    }
    let named = call.value("--repo").or(values.first());
    let added = |at: &Value| adds_remote(out, at.known_start());
    if named.is_some_and(|at| is_far(at.known_start()) || added(at))
        || named.is_none() && adds_remote(out, "")
    {
        call.does(out, Word::Named("git.foreign-push"));
    }
    let mut named = |word, span| out.push(Word::Named(word), Grade::Certain, Source::Operand, span);
    for reference in values.iter().skip(1) {
        let text = reference.known_start();
        if text.starts_with('+') {
            named("git.force-push", reference.span.clone());
        }
        if text.trim_start_matches('+').starts_with(':') && !matches!(text, ":" | "+:") {
            named("git.delete-remote", reference.span.clone());
        }
    }
    if call.has("--mirror") {
        named("git.delete-remote", call.span.clone());
    }
}

/// Does it name a place on another machine?
fn is_far(text: &str) -> bool {
    text.contains("://") || is_scp(text)
}

/// Does the call itself say where that remote is, and that it is not on this machine? `""`: where the usual one is.
fn adds_remote(out: &Emitter, name: &str) -> bool {
    out.analysis.commands.iter().any(|command| {
        let mut words =
            command.operands.iter().map(|at| command.args[*at].text.as_deref().unwrap_or_default());
        // `jj git remote add`, `git config remote.x.url`
        let ours = match command.name.as_str() {
            "jj" => words.next() == Some("git"),
            own => own == "git",
        };
        let first = words.next();
        if ours && first == Some("config") {
            let key = words.find_map(|word| {
                let (own, key) = word.strip_prefix("remote.")?.rsplit_once('.')?;
                matches!(key, "url" | "pushurl").then_some(own)
            });
            return key.is_some_and(|own| name.is_empty() || own == name)
                && words.next_back().is_some_and(|at| at.is_empty() || is_far(at));
        }
        let adds = ours && first == Some("remote");
        let verb = words.next();
        let own = words.next();
        // What nobody knows may be anywhere.
        let far = words.next_back().is_none_or(|at| at.is_empty() || is_far(at));
        let sets = verb == Some("set-url") && (name.is_empty() || own == Some(name));
        adds && far && (sets || verb == Some("add") && !name.is_empty() && own == Some(name))
    })
}

/// A remote by URL: its host. By name: some host, which the row says.
pub fn emit_remote(out: &mut Emitter, value: Option<&Value>, send: bool) {
    let Some(value) = value else { return };
    let text = value.known_start();
    if text.starts_with("ext::") {
        out.emit_unknown(EXT, value.span.clone());
    } else if is_far(text) {
        out.emit_contact(value, send, Source::Operand);
    }
}

/// `host:path`, `user@host:path`.
fn is_scp(text: &str) -> bool {
    text.split_once(':').is_some_and(|(host, _)| host.len() > 1 && !host.contains('/'))
}

/// What is shown: `--no-index` reads files, `REV:FILE` a file as it was. What names a secret in a history is not to be
/// looked up on the disk.
pub fn emit_shown(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
    let project = &out.place.project;
    // Another repository is none of the project.
    if out.cwd.as_ref().is_none_or(|cwd| !is_within(cwd, project)) {
        out.own_path(Word::Read, ".", Extent::Exact, Grade::Possible, call.span.clone());
    }
    narrow_to_named_files(out, call);
    for value in values {
        shows(out, call, value, next);
    }
}

/// What one operand shows.
fn shows(out: &mut Emitter, call: &Call, value: &Value, next: &mut Vec<Next>) {
    const CONTENTS: &[&str] =
        &["git diff", "git show", "git range-diff", "git cat-file", "git difftool"];
    if CONTENTS.contains(&call.row()) && tells(value) {
        out.emit_disclosure("what a secret was in the history is printed", value.span.clone());
    }
    // Outside a repository git compares any two files.
    let text = value.known_start();
    let outside = call.row() == "git diff" && (is_absolute(text) || text.starts_with("../"));
    if outside && !text.starts_with(&out.place.project) {
        out.emit_disclosure("files outside the repository are compared", value.span.clone());
    }
    if call.parsed.has_mark(mark::SPARE) || outside {
        emit_role(out, call, Role::Read, value, next);
    } else if let Some(file) = value.plain_text().and_then(of_revision) {
        let file = format!("{}/{file}", out.place.project);
        out.own_path(Word::Read, &file, Extent::Exact, Grade::Certain, value.span.clone());
    }
}

/// The file of `REV:FILE`.
fn of_revision(text: &str) -> Option<&str> {
    let (rev, file) = text.split_once(':')?;
    let plain = !rev.contains(['/', '{', ' ']) && !file.contains([':', ' ', '}']);
    (plain && !file.is_empty() && !file.starts_with(['!', '(', '/', '^'])).then_some(file)
}

/// Does the word, or the file of `REV:FILE`, tell of a secret?
fn tells(value: &Value) -> bool {
    secret::is_file(value.known_start().rsplit([':', ')']).next().unwrap_or_default())
}

/// Is it that directory, or does it lie below it?
fn is_within(path: &str, dir: &str) -> bool {
    path.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// What prints files as they are, or were: no allow means the whole of a commit, or a file whose name tells of a secret.
pub(super) fn emit_contents(i: &mut Invocation) {
    let from = i.out.analysis.effects.len();
    i.operands();
    let Invocation { out, call, program, values, .. } = i;
    if program.name == "git grep" && !call.has_any(&["--untracked", "--no-index"]) {
        narrow_to_tracked_files(out, from);
    }
    // The pattern of grep is no name.
    let pattern = !program.before.is_empty() && !call.parsed.has_mark(mark::NO_FIRST);
    let named = &values[usize::from(pattern).min(values.len())..];
    let whole = match program.name {
        "git archive" => values.len() == 1 && !call.has("--list"),
        "git bundle create" => values.first().is_some_and(|value| value.plain_text() == Some("-")),
        _ => false,
    };
    if whole || named.iter().any(tells) {
        out.disown();
    }
}

/// May the call make git track what it did not? A file that is added first may be any.
fn changes_index(out: &Emitter) -> bool {
    const LOOKING: &[&str] =
        &["grep", "status", "log", "diff", "show", "branch", "rev-parse", "ls-files"];
    let looks = |command: &SubCommand| {
        let first = command.operands.first().and_then(|at| command.args[*at].text.as_deref());
        first.is_some_and(|verb| LOOKING.contains(&verb))
    };
    out.analysis.commands.iter().any(|command| command.name == "git" && !looks(command))
}

/// Of a tree it reads what git tracks: nothing that is hidden, but for what is tracked and told one by one.
fn narrow_to_tracked_files(out: &mut Emitter, from: usize) {
    let trees: Vec<usize> = (from..out.analysis.effects.len())
        .filter(|at| {
            let effect = &out.analysis.effects[*at];
            let tree = |target: &Target| {
                target.extent == Extent::Tree && target.lexical == target.resolved
            };
            effect.word == Word::Read && effect.path.as_ref().is_some_and(tree)
        })
        .collect();
    if trees.is_empty() || changes_index(out) {
        return;
    }
    let Some(Some(tree)) = Tree::find(out) else { return };
    for at in trees {
        let Some(target) = out.analysis.effects[at].path.clone() else { continue };
        let inside = target.lexical == out.place.project
            || path::is_below(&target.lexical, &out.place.project);
        let own = path::split(&target.lexical).1.starts_with('.');
        let Some(hidden) = tree.hidden_below(&target.lexical).filter(|_| inside && !own) else {
            continue;
        };
        let span = out.analysis.effects[at].span.clone();
        if let Some(path) = &mut out.analysis.effects[at].path {
            path.extent = Extent::Visible;
        }
        for path in hidden {
            let target = Target { lexical: path.clone(), resolved: path, extent: Extent::Tree };
            out.push_effect(
                Word::Read,
                Grade::Possible,
                Some(target),
                None,
                Source::Operand,
                span.clone(),
            );
        }
    }
}

/// A patch of files that are named, none of which tells of a secret, shows no other.
fn narrow_to_named_files(out: &mut Emitter, call: &Call) {
    const PATCH: &[&str] = &["-p", "-U", "--cc", "-c", "-m", "-W", "--word-diff", "--color-words"];
    // With these it is not only those that are named.
    const WIDER: &[&str] = &["--full-diff", "--stdin"];
    if call.has_any(WIDER) {
        return;
    }
    let Some(end) = call.args.iter().position(|arg| arg.plain_text() == Some("--")) else { return };
    let paths = &call.args[end + 1..];
    if paths.is_empty() || !paths.iter().all(|arg| arg.plain_text().is_some_and(names_no_secret)) {
        return;
    }
    let Some(command) = out.own_command() else {
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

/// A plain path without a part that tells of a secret.
fn names_no_secret(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !text.contains(['*', '?', '[', ':'])
        && !text.split('/').any(|part| part == ".." || secret::is_file(part))
}

/// A directory that git fills with what is its own already: inside of the project that is as little anybody's affair as a checkout.
pub fn fill(out: &mut Emitter, call: &Call, values: &[Value]) {
    let here = here(call);
    let value = values.first().unwrap_or(&here);
    let project = out.place.project.clone();
    let plain = |path: &String| is_within(path, &project) && !path[project.len()..].contains("/.");
    let inside = match out.locate_exact(value) {
        Some(target) => [&target.lexical, &target.resolved].into_iter().all(plain),
        _ => false,
    };
    let extent = if inside { Extent::Exact } else { Extent::Tree };
    out.emit_path(Word::Write, value, extent, Grade::Certain, Source::Operand);
    if inside {
        out.emit_path(Word::Write, value, Extent::Tree, Grade::Possible, Source::Program);
    }
}

/// clone and submodule add: where from, and which directory is written.
pub fn emit_clone(out: &mut Emitter, values: &[Value]) {
    let Some(url) = values.first() else { return };
    let text = url.known_start();
    if text.starts_with("ext::") {
        out.emit_unknown(EXT, url.span.clone());
    }
    let far = text.contains("://") || text.contains('@') || is_scp(text) || url.text().is_none();
    if far {
        out.emit_contact(url, false, Source::Operand);
    } else {
        out.operand_tree(Word::Read, url);
    }
    let name = url.plain_text().map(|text| {
        let last = split(text.trim_end_matches('/')).1.trim_end_matches(".git");
        last.rsplit(':').next().unwrap_or_default()
    });
    let target = values.get(1).cloned().unwrap_or_else(|| named_after(url, name));
    out.operand_tree(Word::Write, &target);
    if far {
        out.fetch_into(&target);
    }
}

/// What is put here under that name; without one, under some name.
pub(super) fn named_after(source: &Value, name: Option<&str>) -> Value {
    match name {
        Some(name) => Value::known(name, source.span.clone()),
        None => Value::begins("./", source.span.clone()),
    }
}

/// Patterns of a sparse checkout that leave out what guards: those files go.
fn emit_sparse_patterns(out: &mut Emitter, values: &[Value]) {
    for value in values {
        let Some(left) = value.plain_text().and_then(|text| text.strip_prefix('!')) else {
            continue;
        };
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
