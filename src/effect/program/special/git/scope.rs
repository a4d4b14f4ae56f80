//! What an allow on git must name to mean a call: other places to push to, settings that lead there,
//! files from outside, sub-commands that start or send something of their own.

use super::is_within;
use super::settings::{GitSetting, connects_to_remote, given_settings};
use crate::effect::emitter::Emitter;
use crate::effect::program::effects::Call;
use crate::effect::value::Value;
use crate::effect::{AllowScope, Target, Word};
use crate::names::git_scope::{APART, BELOW, LEADS, STRATEGIES, TEMPORARY, WIDER};

/// Notes it with the command. `from` = its first effect.
pub fn note_scope(out: &mut Emitter, call: &Call, from: usize) {
    let Some(at) = out.command else { return };
    let words: Vec<Option<&str>> =
        call.parsed.operands.iter().map(|at| call.args[*at].plain_text()).collect();
    let said = Said { words, call };
    let mut named = said.sub_command().max(said.place()).max(said.references());
    let mut whole = false;
    if said.word(0) == "config" {
        whole = said.changes_section();
        named = if whole { usize::MAX } else { named.max(said.setting(out, from)) };
    }
    let dir = out.analysis.commands.get(at).and_then(|command| command.dir.clone());
    let moved = call.has_any(&["-C", "--work-tree"]);
    let dir = dir.and_then(|dir| out.locate_exact(&Value::known(dir, 0..0)));
    let inside = |t: &Target| is_inside(out, &t.lexical) && is_inside(out, &t.resolved);
    let elsewhere = moved && !dir.as_ref().is_some_and(inside);
    let leads = |setting: &GitSetting| setting.key.as_deref().is_none_or(leads);
    if elsewhere
        || takes(out, from)
        || said.merges_strangely()
        || connects_to_remote(call) && given_settings(out, call).iter().any(leads)
    {
        named = usize::MAX;
    }
    let pushes = said.pushes();
    let wider = WIDER.iter().copied().find(|name| call.has(name)).filter(|_| pushes);
    let Some(command) = out.analysis.commands.get_mut(at) else { return };
    command.transparent &= !elsewhere && !whole;
    command.scope = AllowScope { named, list: pushes.then_some(2), wider };
}

/// Does a key of that name say where git goes, what it sends there or what it believes?
fn leads(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    LEADS.iter().any(|start| key.starts_with(start))
}

/// Does the path lie in the project, or where files are nobody's secret?
fn is_inside(out: &Emitter, path: &str) -> bool {
    is_within(path, &out.place.project) || TEMPORARY.iter().any(|start| path.starts_with(start))
}

/// Does the call read what lies elsewhere?
fn takes(out: &Emitter, from: usize) -> bool {
    let inside = |path: &str| is_inside(out, path);
    out.analysis.effects[from..].iter().any(|effect| {
        let path = effect.path.as_ref().filter(|_| effect.word == Word::Read);
        path.is_some_and(|t| !inside(&t.lexical) || !inside(&t.resolved))
    })
}

/// The operands of a call of git.
struct Said<'c, 'a> {
    /// None = known only at run time.
    words: Vec<Option<&'c str>>,
    call: &'c Call<'a>,
}

impl<'c> Said<'c, '_> {
    fn word(&self, at: usize) -> &'c str {
        self.words.get(at).copied().flatten().unwrap_or_default()
    }

    /// How many words of a sub-command an allow names that is more than git's everyday work.
    fn sub_command(&self) -> usize {
        let (sub, second) = (self.word(0), self.word(1));
        let below = |(own, list): &(&str, &[&str])| *own == sub && list.contains(&second);
        match self.call.parsed.program {
            _ if self.words.is_empty() => 0,
            None => 1,
            Some(_) if APART.contains(&sub) => 1,
            Some(_) if BELOW.iter().any(below) => 2,
            Some(_) => 0,
        }
    }

    fn pushes(&self) -> bool {
        matches!(self.word(0), "push" | "send-pack")
    }

    /// The remote, where it is a place and not one that has a name.
    fn place(&self) -> usize {
        let at = match (self.word(0), self.word(1)) {
            ("lfs", "push") => 2,
            ("push" | "send-pack" | "fetch" | "pull" | "ls-remote", _) => 1,
            _ => return 0,
        };
        let place = self.word(at).contains([':', '/', '\\']) || self.word(at) == ".";
        if place { at + 1 } else { 0 }
    }

    /// The last reference of a push that is forced or deleted.
    fn references(&self) -> usize {
        let forced = |text: &Option<&str>| text.is_some_and(|text| text.starts_with(['+', ':']));
        let last = self.words.iter().skip(2).rposition(forced).filter(|_| self.pushes());
        last.map_or(0, |at| at + 3)
    }

    /// `git config` of a whole section, or of the file.
    fn changes_section(&self) -> bool {
        matches!(self.word(1), "edit" | "rename-section" | "remove-section")
            || self.call.has_any(&["--rename-section", "--remove-section"])
    }

    /// The key that `git config` sets, where it starts something or leads elsewhere.
    fn setting(&self, out: &Emitter, from: usize) -> usize {
        let key = 1 + usize::from(matches!(self.word(1), "set" | "unset"));
        let own = &out.analysis.effects[from..];
        let has = |name| own.iter().any(|e| e.word == Word::Named(name));
        let named = has("git.program") || has("git.config") && leads(self.word(key));
        if named { key + 1 } else { 0 }
    }

    /// A strategy of merging that is a program.
    fn merges_strangely(&self) -> bool {
        let merges = matches!(self.word(0), "merge" | "pull" | "rebase" | "cherry-pick" | "revert");
        let strategy = self.call.parsed.find_option("--strategy").filter(|_| merges);
        let own = |value: &Value| STRATEGIES.contains(&value.plain_text().unwrap_or("?"));
        strategy.is_some_and(|option| !option.value.as_ref().is_some_and(own))
    }
}
