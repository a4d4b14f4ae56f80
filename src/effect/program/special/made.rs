//! What a call makes and takes away again: of that nobody misses anything.

use super::super::effects::Call;
use crate::effect::emitter::Emitter;
use crate::effect::path::{is_below, is_output};
use crate::effect::{Arg, Effect, Extent, Grade, SubCommand, Word};
use crate::names::made::{AGAIN, LOST, MAKERS};

/// Takes back what the call loses where an earlier command of it has made that.
pub fn spare_made(out: &mut Emitter, call: &Call, from: usize) {
    let lost = |effect: &Effect| match effect.word {
        Word::Named(name) => LOST.contains(&name),
        Word::Delete => effect.path.as_ref().is_some_and(|path| path.extent != Extent::Children),
        _ => false,
    };
    let cleans = cleans_output(out);
    let found = cleans || out.analysis.effects[from..].iter().any(lost);
    let Some(own) = out.command.filter(|_| found) else { return };
    let named = is_made(out, own);
    let mut kept = out.analysis.effects.split_off(from);
    kept.retain(|effect| {
        let mut made = || match &effect.path {
            None => named,
            // The disk is asked last.
            Some(path) => {
                (named && call.name == "git" || is_new(out, &path.resolved, from))
                    && !out.resolver.exists(&path.resolved)
            }
        };
        !(cleans && effect.word == Word::Named("git.discard") || lost(effect) && made())
    });
    out.analysis.effects.append(&mut kept);
}

/// `git clean -fd build/`: what a build or a package manager makes anew?
fn cleans_output(out: &Emitter) -> bool {
    let Some(own) = out.command.and_then(|own| out.analysis.commands.get(own)) else {
        return false;
    };
    if own.name != "git" {
        return false;
    }
    let words = words_of(&out.analysis.text, own);
    let places = names(&words, "git clean");
    begins(&words, "git clean") && !places.is_empty() && places.iter().all(|at| is_output(at))
}

/// Is the directory one that the call itself makes, and that gets nothing that was elsewhere before?
fn is_new(out: &Emitter, path: &str, from: usize) -> bool {
    let commands = &out.analysis.commands;
    let makes = |effect: &Effect| {
        let by = effect.command.and_then(|at| commands.get(at));
        effect.word == Word::Write
            && effect.grade == Grade::Certain
            && effect
                .path
                .as_ref()
                .is_some_and(|made| made.resolved == path && made.extent == Extent::Exact)
            && by.is_some_and(|by| matches!(by.name.as_str(), "mkdir" | "git"))
    };
    let moved = |effect: &Effect| {
        effect.word == Word::Delete
            && effect.path.as_ref().is_some_and(|gone| !is_below(&gone.resolved, path))
            || effect.word == Word::Write && effect.path.is_none()
    };
    let reads = |effect: &Effect| {
        let at = effect.path.as_ref().map(|read| read.resolved.as_str());
        effect.word == Word::Read && at.is_some_and(|at| at == path || is_below(at, path))
    };
    let before = &out.analysis.effects[..from];
    let Some(made) = before.iter().position(makes) else { return false };
    // What the call stands in was there, and so was what it read before.
    let place = out.place;
    let stands = [&place.cwd, &place.project, &place.home];
    let mut stands = stands.into_iter().chain(&place.other_roots).chain(&out.cwd);
    !stands.any(|at| at == path || is_below(at, path))
        && !before[..made].iter().any(reads)
        && !before.iter().any(moved)
        && !commands.iter().any(|c| matches!(c.name.as_str(), "mv" | "mount" | "move-item"))
}

/// Has an earlier command made what this one names, and has nothing of it left or been kept since?
fn is_made(out: &Emitter, own: usize) -> bool {
    let (commands, text) = (&out.analysis.commands, out.analysis.text.as_str());
    let call = words_of(text, &commands[own]);
    let Some((key, makers)) = MAKERS.iter().find(|(key, _)| begins(&call, key)) else {
        return false;
    };
    let wanted = names(&call, key);
    let makes = |command: &SubCommand| {
        let words = words_of(text, command);
        let again = |word: &String| AGAIN.contains(&word.as_str());
        makers.split(", ").any(|maker| {
            begins(&words, maker) && !words.iter().any(again) && {
                let made = names(&words, maker);
                match wanted.is_empty() {
                    _ if *key == "git commit" => true,
                    true => made.is_empty(),
                    false => wanted.iter().all(|one| made.contains(one)),
                }
            }
        })
    };
    let Some(at) = commands[..own].iter().rposition(makes) else { return false };
    // Where it could not be made, it was there before.
    let behind = text.get(commands[at].span.end..).unwrap_or_default();
    let sure = behind.split([';', '\n', '|']).next().is_some_and(|rest| rest.contains("&&"));
    let keeps = |command: &SubCommand| {
        let words = words_of(text, command);
        // What is moved into it goes with it.
        command.name == "mv"
            || begins(&words, "git push")
            || *key == "git branch" && begins(&words, "git commit")
    };
    (sure || *key == "git worktree remove") && !commands[at + 1..own].iter().any(keeps)
}

/// The words of a command, as they are or, where a variable stands in one, as they are written.
fn words_of(text: &str, command: &SubCommand) -> Vec<String> {
    let word = |arg: &Arg| match &arg.text {
        Some(text) => text.clone(),
        None => text.get(arg.span.clone()).unwrap_or_default().trim_matches('"').to_string(),
    };
    std::iter::once(command.name.clone()).chain(command.args.iter().map(word)).collect()
}

fn begins(words: &[String], start: &str) -> bool {
    let mut words = words.iter();
    start.split(' ').all(|own| words.next().is_some_and(|word| word == own))
}

/// What a command names behind its verb.
fn names<'w>(words: &'w [String], verb: &str) -> Vec<&'w String> {
    let rest = words.iter().skip(verb.split(' ').count());
    rest.filter(|word| !word.starts_with('-')).collect()
}
