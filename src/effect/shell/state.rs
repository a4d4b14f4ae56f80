//! What the walk knows at a point of the text: variables, functions, directory. Every change goes
//! through an undo log, so that a subshell or a branch costs only what it changes.

use std::collections::BTreeMap;
use std::rc::Rc;

use shuck_ast::Stmt;

use super::word::{Atom, field_value};
use crate::effect::value::Value;
use crate::limits;

/// One possible value of a variable: its words (one for a scalar).
pub type VariableWords = Vec<Vec<Atom>>;

/// A variable: every value that it may have here.
pub type Var = Vec<VariableWords>;

/// A function's body and the text that its spans point into.
#[derive(Debug, Clone)]
pub struct Function {
    /// The body.
    pub body: Rc<Stmt>,
    /// The text.
    pub source: Rc<str>,
    /// Where spans point instead, for nested text.
    pub fixed: Option<std::ops::Range<usize>>,
    /// Called before: its commands stand in the text only once.
    pub defined: std::ops::Range<usize>,
}

/// A named part of the state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StateKey {
    /// A variable.
    Var(String),
    /// A function.
    Function(String),
    /// An alias.
    Alias(String),
    /// The directory.
    Cwd,
    /// The positional parameters.
    Positional,
    /// A marked assignment holds for what follows.
    Tainted,
    /// The directory may be another one: a `cd` whose directory is not there.
    Astray,
    /// The directory that a `cd` did not leave which surely failed.
    Stayed,
    /// `cd` follows links before it goes up.
    Physical,
    /// The variable is handed to programs.
    Exported(String),
    /// The variable is a number: what it is given is evaluated.
    Integer(String),
    /// The variable is constant: whoever sets it is refused, and the rest of that line is not run.
    Constant(String),
    /// A variable that git looks at, set for what follows.
    Git(String),
    /// The shell's own expansion rules were changed (IFS).
    Splitting,
}

/// What a part holds.
#[derive(Debug, Clone)]
pub enum StateValue {
    /// A variable.
    Var(Var),
    /// A function: every body it may have; `false` = it may also not be there.
    Function(Vec<Function>, bool),
    /// An alias, if its text is known.
    Alias(Option<String>),
    /// The directory; None = unknown.
    Cwd(Option<String>),
    /// `$0`, `$1` ...; None = unknown.
    Positional(Option<Rc<Vec<Value>>>),
    /// A text; None = not known.
    Text(Option<String>),
    /// A flag that is set.
    Set,
}

/// The state.
#[derive(Debug, Default)]
pub struct ShellState {
    map: BTreeMap<StateKey, StateValue>,
    undo: Vec<(StateKey, Option<StateValue>)>,
}

/// What a branch changed.
pub type Delta = BTreeMap<StateKey, Option<StateValue>>;

impl ShellState {
    /// What a part holds.
    pub fn get(&self, key: &StateKey) -> Option<&StateValue> {
        self.map.get(key)
    }

    /// Changes a part. What a constant is given it may not get: it has either value then.
    pub fn set(&mut self, key: StateKey, held: Option<StateValue>) {
        let held = match &key {
            StateKey::Var(name) if self.is_constant(name) => {
                merge_held(&key, self.map.get(&key).cloned(), held)
            }
            _ => held,
        };
        let old = match held {
            Some(held) => self.map.insert(key.clone(), held),
            None => self.map.remove(&key),
        };
        self.undo.push((key, old));
    }

    /// A variable's values.
    pub fn find_variable(&self, name: &str) -> Option<&Var> {
        match self.map.get(&StateKey::Var(name.to_string())) {
            Some(StateValue::Var(var)) => Some(var),
            _ => None,
        }
    }

    /// The variables that git looks at, as far as they were set.
    pub fn git_variables(&self) -> Vec<(String, Option<String>)> {
        self.map
            .iter()
            .filter_map(|(key, held)| match (key, held) {
                (StateKey::Git(name), StateValue::Text(text)) => Some((name.clone(), text.clone())),
                (StateKey::Exported(name), _) if !self.is_set(&StateKey::Git(name.clone())) => {
                    let [value] = &self.find_variable(name)?[..] else { return None };
                    let [row] = &value[..] else { return None };
                    let text = field_value(row, 0..0).plain_text().map(str::to_string);
                    let text = text.filter(|text| !text.contains("://"));
                    Some((format!("{name}="), text))
                }
                _ => None,
            })
            .collect()
    }

    /// Is whoever sets the variable refused?
    pub fn is_constant(&self, name: &str) -> bool {
        self.is_set(&StateKey::Constant(name.to_string()))
    }

    /// Does it hold nothing but such parts?
    pub fn has_only(&self, wanted: impl Fn(&StateKey) -> bool) -> bool {
        self.map.keys().all(wanted)
    }

    /// Is a flag set?
    pub fn is_set(&self, key: &StateKey) -> bool {
        self.map.contains_key(key)
    }

    /// What a program that is started gets of it: exported variables, the directory, the taint.
    pub fn child_state(&self) -> ShellState {
        let mut child = ShellState::default();
        for (key, held) in &self.map {
            match key {
                StateKey::Exported(name) => {
                    if let Some(var) = self.find_variable(name) {
                        child.map.insert(StateKey::Var(name.clone()), StateValue::Var(var.clone()));
                    }
                    // `export -f`
                    let function = StateKey::Function(name.clone());
                    if let Some(held) = self.map.get(&function) {
                        child.map.insert(function, held.clone());
                    }
                    child.map.insert(key.clone(), StateValue::Set);
                }
                StateKey::Cwd
                | StateKey::Tainted
                | StateKey::Astray
                | StateKey::Stayed
                | StateKey::Git(_) => {
                    child.map.insert(key.clone(), held.clone());
                }
                _ => {}
            }
        }
        child
    }

    /// The same state, for what must not change this one.
    pub fn copy(&self) -> ShellState {
        ShellState { map: self.map.clone(), undo: Vec::new() }
    }

    /// Forgets every value: something unknown ran in this very shell.
    pub fn forget_all(&mut self) {
        let keys: Vec<StateKey> =
            self.map.keys().filter(|k| matches!(k, StateKey::Var(_))).cloned().collect();
        for key in keys {
            self.set(key, Some(StateValue::Var(unknown_var())));
        }
        self.set(StateKey::Positional, Some(StateValue::Positional(None)));
        self.set(StateKey::Tainted, Some(StateValue::Set));
    }

    /// A point to come back to.
    pub fn mark(&self) -> usize {
        self.undo.len()
    }

    /// Goes back to a point, and tells what had changed since.
    pub fn rollback(&mut self, mark: usize) -> Delta {
        let mut delta = Delta::new();
        while self.undo.len() > mark {
            let Some((key, old)) = self.undo.pop() else { break };
            let new = match old {
                Some(old) => self.map.insert(key.clone(), old),
                None => self.map.remove(&key),
            };
            // Popped last to first: the first one seen is the newest value.
            delta.entry(key).or_insert(new);
        }
        delta
    }

    /// Does what a part may be here already allow for that?
    pub fn already_allows(&self, key: &StateKey, held: Option<&StateValue>) -> bool {
        match (self.map.get(key), held) {
            (Some(StateValue::Var(have)), Some(StateValue::Var(new))) => {
                have == &unknown_var() || new.iter().all(|n| have.contains(n))
            }
            (None, Some(StateValue::Var(new))) => *new == unknown_var(),
            (Some(StateValue::Cwd(have)), Some(StateValue::Cwd(new)))
            | (Some(StateValue::Text(have)), Some(StateValue::Text(new))) => {
                have.is_none() || have == new
            }
            (Some(StateValue::Positional(have)), Some(StateValue::Positional(new))) => {
                have.is_none() || have == new
            }
            (None, Some(StateValue::Positional(_))) => true,
            (have, _) => have.is_some(),
        }
    }

    /// Goes on from several branches of which exactly one ran.
    pub fn join_branches(&mut self, deltas: Vec<Delta>) {
        let mut keys: Vec<StateKey> = deltas.iter().flat_map(|d| d.keys().cloned()).collect();
        crate::order::sort(&mut keys);
        keys.dedup();
        for key in keys {
            let base = self.map.get(&key).cloned();
            let mut merged: Option<Option<StateValue>> = None;
            for delta in &deltas {
                let one = delta.get(&key).cloned().unwrap_or_else(|| base.clone());
                merged = Some(match merged {
                    None => one,
                    Some(sofar) => merge_held(&key, sofar, one),
                });
            }
            if let Some(held) = merged {
                self.set(key, held);
            }
        }
    }
}

/// A value that nobody knows.
pub fn unknown_var() -> Var {
    vec![vec![vec![Atom::unknown_text(false)]]]
}

fn merge_held(key: &StateKey, a: Option<StateValue>, b: Option<StateValue>) -> Option<StateValue> {
    match key {
        StateKey::Var(_) => {
            let mut values = match a {
                Some(StateValue::Var(v)) => v,
                _ => unknown_var(),
            };
            let more = match b {
                Some(StateValue::Var(v)) => v,
                _ => unknown_var(),
            };
            for words in more {
                if !values.contains(&words) {
                    values.push(words);
                }
            }
            if values.len() > limits::VALUES {
                values = unknown_var();
            }
            Some(StateValue::Var(values))
        }
        StateKey::Cwd => match (&a, &b) {
            (Some(StateValue::Cwd(x)), Some(StateValue::Cwd(y))) if x == y => a,
            _ => Some(StateValue::Cwd(None)),
        },
        StateKey::Git(_) => match (&a, &b) {
            (Some(StateValue::Text(x)), Some(StateValue::Text(y))) if x != y => {
                Some(StateValue::Text(None))
            }
            _ => a.or(b),
        },
        StateKey::Positional => match (&a, &b) {
            (Some(StateValue::Positional(x)), Some(StateValue::Positional(y))) if x == y => a,
            _ => Some(StateValue::Positional(None)),
        },
        StateKey::Function(_) => match (a, b) {
            (Some(StateValue::Function(mut x, p)), Some(StateValue::Function(y, q))) => {
                for one in y {
                    if !x.iter().any(|f| Rc::ptr_eq(&f.body, &one.body)) {
                        x.push(one);
                    }
                }
                Some(StateValue::Function(x, p && q))
            }
            (Some(StateValue::Function(x, _)), _) | (_, Some(StateValue::Function(x, _))) => {
                Some(StateValue::Function(x, false))
            }
            _ => None,
        },
        // A flag that may be set counts as set.
        _ => a.or(b),
    }
}
