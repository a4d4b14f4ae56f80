//! `within`: where a command runs, and whether all that it names lies there.

use crate::effect::path::Resolver;
use crate::effect::value::BLANK;
use crate::effect::{Effect, Extent, Source, SubCommand, Target};
use crate::rule::Truth;
use crate::rule::path::{self, PathPattern};

use super::Subject;

/// Does the effect's command run there? For deny and ask.
pub fn hits(patterns: &[PathPattern], s: &Subject<'_>, effect: &Effect) -> Truth {
    let Some(command) = command(s, effect) else { return Truth::No };
    match place(command) {
        Some(dir) => path::any_hits(patterns, &dir, s.bases),
        None => Truth::Maybe,
    }
}

/// Does the effect's command run there for certain, with all that it is given? For allow and unless.
///
/// Redirections are the shell's: they are judged as effects of their own.
pub fn covers(patterns: &[PathPattern], s: &Subject<'_>, effect: &Effect) -> bool {
    let Some(at) = effect.command else { return false };
    let Some(command) = s.analysis.commands.get(at) else { return false };
    let lies = |target: &Target| path::any_covers(patterns, target, s.bases);
    let Some(dir) = place(command).filter(lies) else { return false };
    // `cd /elsewhere; cd ./gone; make`: a `cd` that fails leaves the shell where it was.
    let start = resolved(&s.event.cwd);
    let before = s.analysis.commands.iter().take(at);
    let stayed = lies(&start) && before.clone().all(|c| place(c).is_some_and(|dir| lies(&dir)));
    let mut own = s.analysis.effects.iter().filter(|e| e.command == Some(at));
    (stayed || std::path::Path::new(&dir.lexical).is_dir())
        && own.all(|e| e.source == Source::Redirect || e.path.as_ref().is_none_or(&lies))
}

fn command<'a>(s: &Subject<'a>, effect: &Effect) -> Option<&'a SubCommand> {
    s.analysis.commands.get(effect.command?)
}

/// The directory that the command runs in, if it is known.
fn place(command: &SubCommand) -> Option<Target> {
    let dir = command.dir.as_deref().filter(|dir| !dir.contains(BLANK))?;
    Some(resolved(dir))
}

fn resolved(dir: &str) -> Target {
    Target {
        lexical: dir.to_string(),
        resolved: Resolver::default().resolve(dir, dir),
        extent: Extent::Exact,
    }
}
