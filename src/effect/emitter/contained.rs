//! What runs in a container: its configuration, logs and processes are not this machine's.

use super::Emitter;
use crate::effect::{Effect, Extent, Grade, SubCommand, Word};
use crate::names::containers::{CACHES, ENGINES, INNER};

impl Emitter<'_> {
    /// Effects in a container on what a container has of its own are only possible ones on this machine: nobody
    /// knows what else is mounted there, and what is, was judged when it was.
    pub(super) fn settle_contained(&mut self) {
        let analysis = &self.analysis;
        let contained = |effect: &Effect| {
            let above = analysis.with_wrappers(effect.command);
            above.iter().skip(1).any(|at| is_apart(&analysis.commands[*at]))
        };
        let own: Vec<usize> = (0..analysis.effects.len())
            .filter(|at| is_inner(&analysis.effects[*at]) && contained(&analysis.effects[*at]))
            .collect();
        for at in own {
            let grade = &mut self.analysis.effects[at].grade;
            *grade = (*grade).max(Grade::Possible);
        }
    }
}

/// Does it run a container that is given nothing of this machine?
fn is_apart(command: &SubCommand) -> bool {
    let given = ["-v", "--volume", "--mount", "--volumes-from", "--privileged", "--pid"];
    command.genuine
        && ENGINES.contains(&command.name.as_str())
        && !command.options.iter().any(|option| {
            given.contains(&option.name.as_str())
                || option.aliases.iter().any(|own| given.contains(own))
        })
}

/// Is it on what every container has of its own?
fn is_inner(effect: &Effect) -> bool {
    let below = |path: &str| {
        INNER.iter().any(|dir| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/')))
    };
    match effect.word {
        Word::Process | Word::Named("process.runtime" | "process.all") => effect.path.is_none(),
        Word::Write | Word::Permission => effect.path.as_ref().is_some_and(|path| {
            below(&path.lexical)
                || path.extent == Extent::Tree && below(&format!("{}/", path.lexical))
        }),
        Word::Delete => effect
            .path
            .as_ref()
            .is_some_and(|path| CACHES.iter().any(|start| path.lexical.starts_with(start))),
        _ => false,
    }
}
