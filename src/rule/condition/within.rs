//! `within`: where a command runs, and whether all that it names lies there.

use crate::effect::path::{Resolver, may_leave};
use crate::effect::value::BLANK;
use crate::effect::{Arg, Effect, Extent, Grade, Source, SubCommand, Target, Word};
use crate::names::place::HERE;
use crate::rule::Truth;
use crate::rule::path::PathList;

use super::Subject;

/// Does the effect's command run there? For deny and ask.
pub fn match_directory(patterns: &PathList, s: &Subject<'_>, effect: &Effect) -> Truth {
    let Some(command) = s.command_of(effect) else { return Truth::No };
    match command_directory(command) {
        Some(dir) => patterns.match_target(&dir, s.bases),
        None => Truth::Maybe,
    }
}

/// Does the effect's command run there for certain, with all that it is given? For allow and unless.
///
/// Redirections are the shell's: they are judged as effects of their own.
pub fn covers_directory(patterns: &PathList, s: &Subject<'_>, effect: &Effect) -> bool {
    let Some(at) = effect.command else { return false };
    let Some(command) = s.analysis.commands.get(at) else { return false };
    let lies = |target: &Target| patterns.covers_target(target, s.bases);
    let Some(dir) = surely_runs(s, at, lies) else { return false };
    let mut own = s.analysis.own_effects().iter().filter(|e| e.command == Some(at));
    // A program of which a table tells all has no other paths than those of its effects.
    let told = |arg: &&Arg| !own_outputs(s, at).any(|output| output.span == arg.span);
    let mut texts = command.args.iter().filter(told).filter_map(|arg| arg.text.as_deref());
    let leads_out = |text: &str| paths_in(text, &dir.lexical).iter().any(|target| !lies(target));
    (command.transparent || !texts.any(leads_out))
        && own.all(|e| {
            e.source == Source::Redirect
                || own_outputs(s, at).any(|output| std::ptr::eq(output, e))
                || e.path.as_ref().is_none_or(&lies)
        })
}

/// May an allow that names no place speak of where the command runs? What no table tells of it may be the code or the settings of
/// that directory: of the project's, or of where the session is, not of another one that the call goes to.
pub fn runs_at_home(s: &Subject<'_>, effect: &Effect) -> bool {
    let told = |at: usize| {
        s.analysis.commands.get(at).is_some_and(|one| one.transparent && !takes_settings(one))
    };
    // `make -C /srv` says so by an effect of its own, which needs an allow for the place.
    let said = |at: usize| {
        let dir = s.analysis.commands.get(at).and_then(|command| command.dir.as_ref());
        s.analysis.own_effects().iter().any(|e| {
            e.command == Some(at)
                && e.source == Source::Code
                && dir.is_some_and(|dir| e.path.as_ref().is_some_and(|path| path.lexical == *dir))
        })
    };
    effect.command.is_some_and(|at| told(at) || said(at) || runs_here(s, at))
}

fn takes_settings(command: &SubCommand) -> bool {
    HERE.contains(&command.name.as_str()) && !command.only_help
}

/// Does the command run in the project, or where the session is?
fn runs_here(s: &Subject<'_>, at: usize) -> bool {
    let here = |dir: &Target| dir.lexical == s.event.cwd || s.bases.holds_in_project(dir);
    surely_runs(s, at, here).is_some()
}

/// May the command take settings from a place that is not the project's?
pub fn is_led_elsewhere(s: &Subject<'_>, at: usize) -> bool {
    s.analysis.commands.get(at).is_some_and(takes_settings) && !runs_here(s, at)
}

/// The directory that the command runs in, if it surely is one of those.
fn surely_runs(s: &Subject<'_>, at: usize, lies: impl Fn(&Target) -> bool) -> Option<Target> {
    let commands = &s.analysis.commands;
    let dir = command_directory(commands.get(at)?).filter(&lies)?;
    // `cd /elsewhere; cd ./gone; make`: a `cd` that fails leaves the shell where it was.
    let all_lie = || commands[..at].iter().all(|c| command_directory(c).is_some_and(|d| lies(&d)));
    let stayed = || lies(&resolve_directory(&s.event.cwd)) && all_lie();
    // One look at the disk costs less than to follow the links of all of them.
    (std::path::Path::new(&dir.lexical).is_dir() || stayed()).then_some(dir)
}

/// What options of the command write (`-o FILE`): no allow on a command covers that, so that another must speak of the place.
fn own_outputs<'s>(s: &Subject<'s>, at: usize) -> impl Iterator<Item = &'s Effect> {
    let command = &s.analysis.commands[at];
    let certain = |e: &&Effect| e.word == Word::Write && e.grade == Grade::Certain;
    let effects = s.analysis.own_effects().iter().filter(certain);
    effects.filter(move |e| e.command == Some(at) && super::of_an_option(command, &e.span))
}

/// What in an argument could be a path that leads elsewhere, however an option spells it: `-I/x`, `--opt=/x`,
/// `-logger:X,/x`, `a=../x`, `https://x`.
fn paths_in(text: &str, dir: &str) -> Vec<Target> {
    let glued = text.strip_prefix('-').and_then(|rest| rest.get(1..));
    let glued = glued.filter(|rest| !rest.starts_with('-'));
    let pieces = text.split(['=', ':', ',', ';', ' ']);
    // A drive's colon parts nothing.
    let whole = cfg!(windows).then(|| text.split(['=', ',', ';', ' ']).chain(glued));
    let pieces =
        pieces.chain(whole.into_iter().flatten()).map(|piece| piece.trim_matches(['"', '\'']));
    let found = pieces.chain(glued).filter(|piece| may_leave(piece));
    // A program may know `~` where the shell did not.
    let from = |piece: &str| if piece.starts_with('~') { "/" } else { dir };
    found
        .map(|piece| Resolver::default().resolve_target(piece, from(piece), Extent::Exact))
        .collect()
}

/// The directory that the command runs in, if it is known.
fn command_directory(command: &SubCommand) -> Option<Target> {
    let dir = command.dir.as_deref().filter(|dir| !dir.contains(BLANK))?;
    Some(resolve_directory(dir))
}

fn resolve_directory(dir: &str) -> Target {
    Target {
        lexical: dir.to_string(),
        resolved: Resolver::default().resolve(dir, dir),
        extent: Extent::Exact,
    }
}

#[cfg(all(test, windows))]
mod tests {
    use super::paths_in;

    /// Another drive is another place, however its path is handed over.
    #[test]
    fn what_an_argument_names_on_another_drive_is_seen() {
        for (text, path) in [
            ("Q:/p/x", "Q:/p/x"),
            (r"Q:\p\x", "Q:/p/x"),
            ("--out=Q:/p/x", "Q:/p/x"),
            ("-IQ:/p/x", "Q:/p/x"),
            ("a=Q:x", "Q:/x"),
            (r"..\x", "C:/x"),
            (r"--out=a\..\..\x", "C:/x"),
            (r"\x", "C:/x"),
        ] {
            let found = paths_in(text, "C:/p");
            assert!(found.iter().any(|target| target.lexical == path), "{text}: {found:?}");
        }
        for text in ["test:unit", "a/b", "-x", r"a\b"] {
            assert!(paths_in(text, "C:/p").is_empty(), "{text}");
        }
    }
}
