//! What an allow on git must name to mean a call: other places to push to, settings that lead there,
//! files from outside, sub-commands that start or send something of their own.

use super::super::super::effects::Call;
use super::settings::{connects, given};
use crate::effect::emitter::Emitter;
use crate::effect::names::git_scope::{APART, LEADS, STRATEGIES, TEMPORARY, WIDER};
use crate::effect::{Scope, Word};

/// Sub-commands of two words that do, or that say where others go.
const BELOW: &[(&str, &[&str])] = &[
    ("remote", &["add", "set-url", "remove", "rm", "rename", "set-head", "set-branches"]),
    ("submodule", &["add", "foreach", "set-url", "set-branch"]),
    ("maintenance", &["register", "unregister", "start", "stop"]),
    ("lfs", &["install", "uninstall", "update"]),
];
/// Notes it with the command. `from` = its first effect.
pub fn scope(out: &mut Emitter, call: &Call, from: usize) {
    let Some(at) = out.command else { return };
    let words: Vec<Option<&str>> =
        call.parsed.operands.iter().map(|at| call.args[*at].plain()).collect();
    let word = |at: usize| words.get(at).copied().flatten().unwrap_or_default();
    let (sub, second) = (word(0), word(1));
    let below = |(own, list): &(&str, &[&str])| *own == sub && list.contains(&second);
    let mut named = match call.parsed.program {
        _ if words.is_empty() => 0,
        None => 1,
        Some(_) if APART.contains(&sub) => 1,
        Some(_) if BELOW.iter().any(below) => 2,
        Some(_) => 0,
    };
    let remote = match (sub, second) {
        ("lfs", "push") => 2,
        ("push" | "send-pack" | "fetch" | "pull" | "ls-remote", _) => 1,
        _ => usize::MAX,
    };
    // A place, not a remote that has a name.
    if words.get(remote).is_some()
        && (word(remote).contains([':', '/', '\\']) || word(remote) == ".")
    {
        named = named.max(remote + 1);
    }
    let pushes = matches!(sub, "push" | "send-pack");
    for (at, text) in words.iter().enumerate().skip(2).filter(|_| pushes) {
        if text.is_some_and(|text| text.starts_with(['+', ':'])) {
            named = named.max(at + 1);
        }
    }
    let leads = |key: &str| {
        let key = key.to_ascii_lowercase();
        LEADS.iter().any(|start| key.starts_with(start))
    };
    let mut whole = false;
    if sub == "config" {
        let verb = matches!(second, "set" | "unset");
        let key = 1 + usize::from(verb);
        let own = &out.analysis.effects[from..];
        let has = |name| own.iter().any(|e| e.word == Word::Named(name));
        let (writes, starts) = (has("git.config"), has("git.program"));
        whole = matches!(second, "edit" | "rename-section" | "remove-section")
            || ["--rename-section", "--remove-section"]
                .iter()
                .any(|name| call.parsed.option(name).is_some());
        if whole {
            named = usize::MAX;
        } else if starts || writes && leads(word(key)) {
            named = key + 1;
        }
    }
    let set = |setting: &super::settings::Setting| setting.key.as_deref().is_none_or(leads);
    let merges = matches!(sub, "merge" | "pull" | "rebase" | "cherry-pick" | "revert");
    let strategy = merges.then(|| call.parsed.option("--strategy")).flatten();
    let strange = strategy.is_some_and(|option| {
        option.value.as_ref().is_none_or(|v| !STRATEGIES.contains(&v.plain().unwrap_or("?")))
    });
    let project = out.place.project.clone();
    let inside = |path: &str| {
        let below = path.strip_prefix(project.as_str());
        below.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
            || TEMPORARY.iter().any(|start| path.starts_with(start))
    };
    let moved = ["-C", "--work-tree"].iter().any(|name| call.parsed.option(name).is_some());
    let dir = out.analysis.commands.get(at).and_then(|command| command.dir.clone());
    let elsewhere = moved && !dir.as_deref().is_some_and(inside);
    let takes = out.analysis.effects[from..].iter().any(|e| {
        e.word == Word::Read
            && e.path.as_ref().is_some_and(|t| !inside(&t.lexical) || !inside(&t.resolved))
    });
    if elsewhere || takes || strange || connects(call) && given(out, call).iter().any(set) {
        named = usize::MAX;
    }
    let wider = WIDER.iter().copied().find(|name| call.parsed.option(name).is_some());
    let Some(command) = out.analysis.commands.get_mut(at) else { return };
    command.transparent &= !elsewhere && !whole;
    command.scope = Scope { named, list: pushes.then_some(2), wider: wider.filter(|_| pushes) };
}
