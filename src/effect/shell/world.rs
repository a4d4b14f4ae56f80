//! Worlds: variables with several values, and loops, whose bodies run again behind themselves.

use shuck_ast::StmtSeq;

use super::Walker;
use super::state::{Delta, StateKey, StateValue, unknown_var};
use super::word::{self, Atom};
use crate::effect::value::Value;
use crate::limits::{self, Cap};

impl Walker<'_> {
    /// Every field of words side by side, in every world.
    pub(super) fn expand_every(&mut self, words: &[&shuck_ast::Word]) -> Vec<Value> {
        let mut all = Vec::new();
        self.for_each_world(|w| {
            let fields = w.expand_arguments(words);
            all.extend(fields);
        });
        all
    }

    /// Runs `run` once for every combination of values of the variables it looks at.
    pub(super) fn for_each_world(&mut self, run: impl FnMut(&mut Self)) {
        self.in_frame(|_| (), |w| w.each_world(run));
    }

    fn each_world(&mut self, mut run: impl FnMut(&mut Self)) {
        let fixed = self.frame.choice.len();
        let mut count = 0;
        loop {
            if self.room.stopped {
                break;
            }
            if count == 1 {
                self.frame.computed = true;
            }
            run(self);
            count += 1;
            // The next combination: the last variable counts up first.
            while self.frame.choice.len() > fixed {
                let at = self.frame.choice.len() - 1;
                let (_, now, total) = &mut self.frame.choice[at];
                *now += 1;
                if now < total {
                    break;
                }
                self.frame.choice.pop();
            }
            if self.frame.choice.len() <= fixed {
                break;
            }
            if count >= limits::WORLDS {
                // Of the others none is known.
                self.frame.choice.truncate(fixed);
                self.frame.blurred = true;
                run(self);
                break;
            }
        }
    }

    pub(super) fn walk_for_loop(&mut self, names: &[String], words: &[Value], body: &StmtSeq) {
        let mut values: Vec<Vec<Vec<Atom>>> = Vec::new();
        for word in words {
            let one = vec![word::atoms_of(word)];
            if !values.contains(&one) {
                values.push(one);
            }
            if !Cap::Loop.admits(values.len()) {
                // A glob or a root that all share would be lost, so nothing is known.
                values = common_directory(words).unwrap_or_else(unknown_var);
                break;
            }
        }
        if names.len() > 1 {
            values = unknown_var();
        }
        if values.is_empty() {
            return;
        }
        for name in names {
            self.special_parameter(name, None, 0..0);
            self.taint_by(name);
            self.flow.keep(name, words.iter().fold(0, |all, word| all | word.secrets));
        }
        for values in values.chunks(limits::VALUES) {
            self.walk_loop(names, |w| {
                for name in names {
                    w.state
                        .set(StateKey::Var(name.clone()), Some(StateValue::Var(values.to_vec())));
                }
                w.walk_list(body);
            });
        }
    }

    /// A loop: its body may run again behind itself, so it is walked until what it changes is what
    /// it was walked with: from the state before, then from both states joined, then with all that
    /// it changes forgotten.
    pub(super) fn walk_loop(&mut self, names: &[String], mut run: impl FnMut(&mut Self)) {
        for name in names {
            self.forget_variable(name);
        }
        let before = self.found_so_far();
        for round in 0..3 {
            let inner = self.state.mark();
            run(self);
            let delta = self.state.rollback(inner);
            let settled = delta.iter().all(|(key, held)| {
                self.state.already_allows(key, held.as_ref())
                    || matches!(key, StateKey::Var(name) if names.contains(name))
            });
            if settled || round == 2 || self.room.stopped {
                self.state.join_branches(vec![delta, Delta::new()]);
                return;
            }
            self.take_back(before);
            if round == 0 {
                self.state.join_branches(vec![delta, Delta::new()]);
            } else {
                for (key, _) in delta {
                    match key {
                        StateKey::Var(name) => self.forget_variable(&name),
                        StateKey::Cwd => self.state.set(StateKey::Cwd, Some(StateValue::Cwd(None))),
                        StateKey::Positional => self.set_positional(None),
                        other => {
                            let held = self.state.get(&other).cloned();
                            self.state.set(other, held);
                        }
                    }
                }
            }
        }
    }

    /// Arithmetic gave it a value: some number.
    pub(super) fn set_unknown_number(&mut self, name: &str) {
        self.state.set(StateKey::Var(name.to_string()), Some(StateValue::Var(word::number_var())));
    }

    /// The same inside a word: other words of the command may still see what it was.
    pub(super) fn maybe_number(&mut self, name: &str) {
        self.taint_by(name);
        let values = match self.state.find_variable(name) {
            Some(old) if old.len() < limits::VALUES => {
                let more = word::number_var();
                old.iter().cloned().chain(more.into_iter().filter(|n| !old.contains(n))).collect()
            }
            _ => unknown_var(),
        };
        self.state.set(StateKey::Var(name.to_string()), Some(StateValue::Var(values)));
    }

    /// From here on a variable holds that text.
    pub(super) fn remember(&mut self, name: &str, text: &str) {
        let words = vec![vec![super::word::quoted_atoms(text)]];
        self.state.set(StateKey::Var(name.to_string()), Some(StateValue::Var(words)));
    }

    /// What a variable holds is not known any more.
    pub(super) fn forget_variable(&mut self, name: &str) {
        self.state.set(StateKey::Var(name.to_string()), Some(StateValue::Var(unknown_var())));
    }
}

/// A directory below which all the words lie.
fn common_directory(words: &[Value]) -> Option<Vec<Vec<Vec<Atom>>>> {
    let mut dirs: Vec<&str> = words
        .iter()
        .map(|w| w.plain_text().filter(|t| !t.contains("..") && t.contains('/')))
        .map(|t| t.and_then(|t| t.rsplit_once('/')).map(|(d, _)| d))
        .collect::<Option<_>>()?;
    crate::order::sort(&mut dirs);
    dirs.dedup();
    let [only] = dirs[..] else { return None };
    let mut atoms = word::quoted_atoms(&format!("{only}/"));
    atoms.push(Atom::unknown_text(true));
    Some(vec![vec![atoms]])
}
