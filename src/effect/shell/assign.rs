//! Assignments: what they make known, and the names that change what later programs do.

use shuck_ast::{ArrayElem, Assignment, AssignmentValue, Span, WordPart, WordPartNode};

use super::Walker;
use super::state::{StateKey, StateValue, VariableWords, unknown_var};
use super::word::{Atom, Quote};
use crate::effect::program;
use crate::effect::value::Value;
use crate::effect::variable::{Marked, PROMPTS, classify_variable, is_harmless};
use crate::effect::{Extent, Grade, Source, Word};
use crate::limits;
use crate::names::carried::OPTIONS;
use crate::names::zsh::{CODE, FILES};

/// Stands for every name where the shell exports all that is set (`set -a`).
pub const ALL: &str = "";

/// The names that arithmetic text assigns to (roughly: every name in it).
pub fn arithmetic_names(text: &str) -> Vec<String> {
    let mut names = Vec::new();
    if !text.contains('=') && !text.contains("++") && !text.contains("--") {
        return names;
    }
    for part in text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')) {
        if part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
            names.push(part.to_string());
        }
    }
    names
}

/// Is it all that one command prints?
fn is_printed(value: &AssignmentValue) -> bool {
    let mut parts = match value {
        AssignmentValue::Scalar(word) => &word.parts[..],
        AssignmentValue::Compound(_) => return false,
    };
    if let [WordPartNode { kind: WordPart::DoubleQuoted { parts: inner, .. }, .. }] = parts {
        parts = inner;
    }
    matches!(parts, [WordPartNode { kind: WordPart::CommandSubstitution { .. }, .. }])
}

/// Where `cd` looks before the current directory.
pub(super) const CDPATH: &str = "CDPATH";

impl Walker<'_> {
    /// An assignment that holds for one command.
    pub(super) fn assign_temporarily(&mut self, assignment: &Assignment) -> bool {
        let name = assignment.target.name.as_str().to_string();
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => self.without_choosing(|w| w.expand_one(word, true)),
            AssignmentValue::Compound(_) => Value::unknown(0..0),
        };
        let span = self.source_range(assignment.span);
        if name == CDPATH {
            self.assign_variable(assignment);
        }
        self.flow.keep(&name, value.secrets);
        self.override_variable(&name);
        self.evaluates_integer(&name, &value);
        self.put_into_environment(&name, value.plain_text());
        if !is_looked_at(&name) {
            let given = value.plain_text().filter(|text| !text.contains("://"));
            let given = StateValue::Text(given.map(str::to_string));
            self.state.set(given_key(&name), Some(given));
        }
        self.mark_assignment(&name, value.plain_text(), span, false)
    }

    /// What the assignments of one command held before it, of what git and `cd` look at.
    pub(super) fn values_before(
        &self,
        assignments: &[Assignment],
    ) -> Vec<(StateKey, Option<StateValue>)> {
        let names = assignments.iter().map(|a| a.target.name.as_str());
        let keys = names.flat_map(|name| {
            let other = match name {
                CDPATH => Some(StateKey::Var(name.to_string())),
                _ => is_looked_at(name).then(|| StateKey::Git(name.to_string())),
            };
            other.into_iter().chain([given_key(name)])
        });
        keys.map(|key| (key.clone(), self.state.get(&key).cloned())).collect()
    }

    /// A program may start git, whose settings then name programs.
    pub(super) fn may_start_git(&mut self, span: &std::ops::Range<usize>) {
        let redirects = |(name, value): &(String, Option<String>)| {
            program::redirects_git(name, value.as_deref())
        };
        if self.state.git_variables().iter().any(redirects) {
            let why = "an assignment that leads programs to code or settings";
            self.out.emit_unknown(why, span.clone());
        }
    }

    /// What runs gets that variable.
    pub(super) fn put_into_environment(&mut self, name: &str, value: Option<&str>) {
        if !is_harmless(name, value) {
            self.out.analysis.environment.push(name.to_string());
        }
    }

    /// Do programs get the shell's variable of that name?
    fn is_exported(&self, name: &str) -> bool {
        self.state.is_set(&StateKey::Exported(name.to_string()))
            || self.state.is_set(&StateKey::Exported(ALL.to_string()))
    }

    /// A variable lasts from here on, and programs get it.
    pub(super) fn export_variable(&mut self, name: &str) {
        let value = self.without_choosing(|w| w.text_of(name));
        let value = value.as_deref();
        self.put_into_environment(name, value);
        if classify_variable(name, value) == Marked::Exported {
            self.state.set(StateKey::Tainted, Some(StateValue::Set));
        }
        self.state.set(StateKey::Exported(name.to_string()), Some(StateValue::Set));
    }

    /// A variable gets a value that is known only at run time.
    pub(super) fn taint_by(&mut self, name: &str) {
        let changes = match classify_variable(name, None) {
            Marked::No => false,
            Marked::Exported => self.is_exported(name),
            _ => true,
        };
        if changes {
            self.state.set(StateKey::Tainted, Some(StateValue::Set));
        }
    }

    /// A shell that the command starts sees another value than this one's.
    pub(super) fn override_variable(&mut self, name: &str) {
        if self.state.is_set(&StateKey::Exported(name.to_string())) {
            self.forget_variable(name);
        }
    }

    /// The value of an assignment, array elements apart.
    fn assigned_rows(&mut self, assignment: &Assignment) -> Vec<Vec<Atom>> {
        match &assignment.value {
            AssignmentValue::Scalar(word) => vec![self.expand_row(word, true)],
            AssignmentValue::Compound(array) => {
                let mut words = Vec::new();
                let plain = array.elements.iter().filter_map(|e| match e {
                    ArrayElem::Sequential(word) => Some(&word.word),
                    _ => None,
                });
                if super::doubt::side_by_side(plain).iter().any(|group| group.len() > 1) {
                    return vec![vec![Atom::unknown_text(false)]];
                }
                for element in &array.elements {
                    match element {
                        ArrayElem::Sequential(word) => {
                            for field in self.expand_word(word) {
                                words.push(super::word::atoms_of(&field));
                            }
                        }
                        ArrayElem::Keyed { value, .. } | ArrayElem::KeyedAppend { value, .. } => {
                            // Which it is nobody follows; what it holds of secrets the array does.
                            self.expand_word(&value.word);
                            words.push(vec![Atom::unknown_text(false)])
                        }
                    }
                }
                words
            }
        }
    }

    /// An assignment that lasts.
    pub fn assign_variable(&mut self, assignment: &Assignment) {
        let name = assignment.target.name.as_str().to_string();
        let outer = std::mem::take(&mut self.flow.seen);
        let mut values = Vec::new();
        let mut alone = true;
        self.for_each_world(|w| {
            w.found.clear();
            let one = w.assigned_rows(assignment);
            alone &= one.iter().all(|row| !row.contains(&Atom::Break));
            // `f=$(find . -name x)`: any of them.
            let found = w.found.drain(..).filter(|_| is_printed(&assignment.value));
            let found = found.map(|value| vec![super::word::atoms_of(&value)]);
            for one in std::iter::once(one).chain(found) {
                if !values.contains(&one) {
                    values.push(one);
                }
            }
        });
        let seen = std::mem::replace(&mut self.flow.seen, outer);
        self.flow.keep(&name, seen);
        self.define_by_parameter(&name, &values, assignment.span);
        self.note_hooks(&name, &values);
        if assignment.target.subscript.is_some() || !alone {
            values = unknown_var();
        }
        if assignment.append {
            let scalar = matches!(assignment.value, AssignmentValue::Scalar(_));
            let unset = unknown_var();
            values = match self.state.find_variable(&name).map_or(&unset[..], Vec::as_slice) {
                [old] if values.len() == 1 => {
                    let mut old = old.clone();
                    if scalar {
                        match old.first_mut() {
                            Some(first) => first.extend(values.remove(0).into_iter().flatten()),
                            None => old = values.remove(0),
                        }
                    } else {
                        old.extend(values.remove(0));
                    }
                    vec![old]
                }
                _ => unknown_var(),
            };
        }
        if values.iter().flatten().map(Vec::len).sum::<usize>() > limits::VALUE {
            values = unknown_var();
        }
        let plain =
            values.first().and_then(|v| v.first()).map(|row| super::word::field_value(row, 0..0));
        let text = plain.as_ref().and_then(Value::plain_text).map(str::to_string);
        if let Some(value) = &plain {
            let span = self.source_range(assignment.span);
            self.evaluates_integer(&name, &Value { span, ..value.clone() });
        }
        self.mark_assignment(&name, text.as_deref(), self.source_range(assignment.span), true);
        if self.state.is_set(&StateKey::Exported(ALL.to_string())) {
            self.put_into_environment(&name, text.as_deref());
        }
        if name == "IFS" {
            self.state.set(StateKey::Splitting, Some(StateValue::Set));
        }
        let values =
            values.into_iter().map(|words| words.into_iter().map(quote_atoms).collect()).collect();
        self.state.set(StateKey::Var(name), Some(StateValue::Var(values)));
    }

    /// `functions[x]='rm -rf y'`, `aliases+=(x 'rm -rf y')`: to zsh that is what `x` runs, as `commands[x]=/bin/rm` is.
    fn define_by_parameter(&mut self, name: &str, values: &[VariableWords], span: Span) {
        let code = CODE.contains(&name);
        if !code && !FILES.contains(&name) {
            return;
        }
        let rows = values.iter().flatten().map(|row| super::word::field_value(row, 0..0));
        let texts: Vec<String> =
            rows.filter_map(|value| Some(value.plain_text()?.to_string())).collect();
        let range = self.source_range(span);
        if !code {
            let key = self.slice(span).split_once('[').and_then(|(_, rest)| rest.split_once(']'));
            let named = key.map(|(key, _)| key.trim_matches(['"', '\'']).to_string());
            // `commands=(x /bin/rm)` has the names among the values.
            let pairs = named.iter().chain(&texts).zip(named.iter().chain(&texts).skip(1));
            return pairs.for_each(|(name, file)| self.hold_program(name, file));
        }
        texts.iter().for_each(|text| self.try_definition(text, range.clone()));
    }

    /// What a marked name does; `lasting` = for all commands that follow. True if it is marked.
    pub fn mark_assignment(
        &mut self,
        name: &str,
        value: Option<&str>,
        span: std::ops::Range<usize>,
        lasting: bool,
    ) -> bool {
        self.special_parameter(name, value, span.clone());
        if let (Some(options), Some((_, program))) =
            (value, OPTIONS.iter().find(|(own, _)| *own == name))
        {
            self.try_definition(&format!("{} {options}", program.join(" ")), span.clone());
        }
        if stops_history(name, value) {
            self.out.command = None;
            self.out.emit_history_end(span.clone());
        }
        if let Some(proxy) = value.filter(|v| !v.is_empty())
            && matches!(
                name.to_ascii_lowercase().as_str(),
                "http_proxy" | "https_proxy" | "all_proxy" | "ftp_proxy"
            )
        {
            // What programs fetch goes through that host.
            self.out.command = None;
            self.out.emit_contact(&Value::known(proxy, span), false, Source::Assignment);
            return false;
        }
        if is_looked_at(name) {
            let text = value.map(str::to_string);
            self.state.set(StateKey::Git(name.to_string()), Some(StateValue::Text(text)));
        }
        let whole = span.clone();
        let mark = classify_variable(name, value);
        let told = is_looked_at(name) || mark == Marked::Runs;
        let tried = value.filter(|value| value.contains(char::is_whitespace) && !told);
        match mark {
            Marked::No => return false,
            Marked::Hides => {
                self.out.command = None;
                self.out
                    .emit_unknown("an assignment that leads programs to code or settings", span);
            }
            Marked::Exported if lasting && !self.is_exported(name) => return false,
            Marked::Yes | Marked::Exported => {}
            Marked::Writes => {
                self.out.command = None;
                let path = Value::known(value.unwrap_or_default(), span);
                let source = Source::Assignment;
                self.out.emit_path(Word::Write, &path, Extent::Exact, Grade::Certain, source);
                return false;
            }
            Marked::Runs => {
                self.out.command = None;
                let grade = if value.is_some() { Grade::Certain } else { Grade::Unknown };
                self.out.push(Word::Execute, grade, Source::Assignment, span.clone());
                if let Some(text) = value {
                    // Prompts are expanded, the others are commands.
                    let text = match PROMPTS.contains(&name) {
                        true => format!(": \"{}\"", text.replace('"', "\\\"")),
                        false => text.to_string(),
                    };
                    let mark = self.state.mark();
                    self.walk_nested(&text, span, self.frame.parent);
                    self.state.rollback(mark);
                }
            }
        }
        if let Some(value) = tried {
            self.try_value(&Value::known(value, whole));
        }
        if lasting {
            self.state.set(StateKey::Tainted, Some(StateValue::Set));
        }
        true
    }
}

/// Is nothing kept of what is typed from here on?
fn stops_history(name: &str, value: Option<&str>) -> bool {
    match name {
        "HISTFILE" => matches!(value, Some("" | "/dev/null")),
        "HISTSIZE" | "HISTFILESIZE" | "SAVEHIST" => value == Some("0"),
        "HISTIGNORE" => value == Some("*"),
        _ => false,
    }
}

/// What an inline program finds in its environment: under the name with a sign that no name holds, as no program of the tables
/// looks at it.
fn given_key(name: &str) -> StateKey {
    StateKey::Git(format!("{name}="))
}

/// Do programs look at the variable whose effects then differ?
fn is_looked_at(name: &str) -> bool {
    program::names_git(name) || program::is_watched(name)
}

/// A stored value: its characters are no longer bare.
fn quote_atoms(row: Vec<Atom>) -> Vec<Atom> {
    row.into_iter()
        .map(|atom| match atom {
            Atom::Ch(c, Quote::Bare) => Atom::Ch(c, Quote::Quoted),
            other => other,
        })
        .collect()
}
