//! Parameters: what `$x`, `"$@"`, `${x:-y}` and `${x%.c}` stand for, as far as the call tells.

use shuck_ast::{BourneParameterExpansion as Bourne, ParameterOp, SubscriptSelector, VarRef, Word};

use super::Walker;
use super::pattern::{change_case, replace_pattern};
use super::state::{StateKey, StateValue, VariableWords, unknown_var};
use super::word::{Atom, Quote, atoms_of, expanded_keep, push_expanded, push_unknown_number};
use crate::effect::path::{is_output, normalise_path};
use crate::effect::value::Value;
use crate::limits;

impl Walker<'_> {
    pub(super) fn expand_parameter(&mut self, syntax: &Bourne, inside: bool, out: &mut Vec<Atom>) {
        match syntax {
            Bourne::Access { reference } => self.expand_reference(reference, inside, out),
            Bourne::Length { .. } => push_unknown_number(out),
            Bourne::Operation { reference, operator, operand_word_ast, .. } => {
                let operand = operand_word_ast.as_deref();
                self.expand_operation(reference, operator, operand, inside, out);
            }
            Bourne::Slice { reference, offset_word_ast, length_word_ast, .. } => {
                self.slice_of(reference, offset_word_ast, length_word_ast.as_deref(), inside, out)
            }
            Bourne::Indirect { reference, operator: None, .. } => {
                self.expand_indirect(reference, inside, out)
            }
            Bourne::Indices { reference } => self.expand_indices(reference, inside, out),
            Bourne::Transformation { reference, operator } => {
                self.expand_transformed(reference, *operator, inside, out);
            }
            _ => out.push(Atom::unknown_text(inside)),
        }
    }

    /// `${x:1:2}`, `${a[@]:1}`.
    pub(super) fn slice_of(
        &mut self,
        reference: &VarRef,
        offset: &Word,
        length: Option<&Word>,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        let number = |w: &mut Self, word: &Word| {
            w.expand_one(word, true).plain_text().and_then(|t| t.trim().parse::<i64>().ok())
        };
        let offset = number(self, offset);
        let length = length.map(|word| number(self, word));
        let mut own = Vec::new();
        self.expand_reference(reference, inside, &mut own);
        // `$@` counts from `$0`, an array from its first element, a text from its first character.
        let list = reference.has_array_selector() || matches!(reference.name.as_str(), "@" | "*");
        // A pattern's letters are not those of what it stands for.
        let pattern = own.iter().any(|a| matches!(a, Atom::Ch(_, Quote::Pattern)));
        let known = !pattern && !own.iter().any(|a| matches!(a, Atom::Unknown(_)));
        let length = match length {
            None => Some(i64::MAX),
            Some(Some(length)) => Some(length),
            Some(None) => None,
        };
        let (Some(offset), Some(length), true) = (offset, length, known || list) else {
            // A part of a text without a slash has none either.
            let plain = known && !own.iter().any(|a| matches!(a, Atom::Ch('/' | '.', _)));
            out.push(if plain && inside {
                Atom::unknown_name()
            } else {
                Atom::unknown_text(inside)
            });
            return;
        };
        let pieces: Vec<&[Atom]> = if list {
            own.split(|a| *a == Atom::Break).collect()
        } else {
            own.iter().filter(|a| **a != Atom::Empty).map(std::slice::from_ref).collect()
        };
        let count = i64::try_from(pieces.len()).unwrap_or(i64::MAX);
        let counted = i64::from(matches!(reference.name.as_str(), "@" | "*"));
        if counted == 1 && offset < 1
            || pattern
            || own.iter().any(|a| list && *a == Atom::unknown_text(false))
        {
            out.push(Atom::unknown_text(false));
            return;
        }
        if offset < 0 && count + offset < 0 {
            // Before the beginning there is nothing.
            return;
        }
        let from = if offset < 0 { count + offset } else { offset - counted };
        let to = if length < 0 { count + length } else { from.saturating_add(length).min(count) };
        let mut first = true;
        for at in from..to {
            let Some(piece) = usize::try_from(at).ok().and_then(|at| pieces.get(at)) else { break };
            if list && !std::mem::take(&mut first) {
                out.push(Atom::Break);
            }
            out.extend_from_slice(piece);
        }
    }

    /// `${!x}`: the variable that `x` names.
    pub(super) fn expand_indirect(
        &mut self,
        reference: &VarRef,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        let mut own = Vec::new();
        self.expand_reference(reference, true, &mut own);
        match super::word::field_value(&own, 0..0).plain_text() {
            Some(name) if is_name(name) => self.expand_variable(name, inside, out),
            _ => {
                self.flow.look_up_any();
                out.push(Atom::unknown_text(inside))
            }
        }
    }

    /// `${!a[@]}`: numbers, where the array is a plain one.
    pub(super) fn expand_indices(&mut self, reference: &VarRef, inside: bool, out: &mut Vec<Atom>) {
        match self.variable_words(reference.name.as_str()) {
            Some(words) => {
                for at in 0..words.len() {
                    if at > 0 {
                        out.push(Atom::Break);
                    }
                    out.extend(super::word::quoted_atoms(&at.to_string()));
                }
            }
            None => out.push(Atom::unknown_text(inside)),
        }
    }

    /// `${x@Q}` and its like.
    pub(super) fn expand_transformed(
        &mut self,
        reference: &VarRef,
        operator: char,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        let mut own = Vec::new();
        self.expand_reference(reference, inside, &mut own);
        let quiet = |c: char| c.is_ascii_alphanumeric() || "-_./+:,@% ".contains(c);
        let plain = own.iter().all(|a| matches!(a, Atom::Ch(c, _) if quiet(*c)));
        match operator {
            'U' | 'L' | 'u' => change_case(own, operator, out),
            'E' | 'P' if plain => out.extend(own),
            // Of a name that is not set it is no word.
            'Q' if plain && !own.is_empty() => {
                let mark = if inside { Quote::Quoted } else { Quote::Expanded };
                out.push(Atom::Ch('\'', mark));
                out.extend(own);
                out.push(Atom::Ch('\'', mark));
            }
            _ => out.push(Atom::unknown_text(inside)),
        }
    }

    /// The text of a variable, where it is one and known.
    pub(super) fn text_of(&mut self, name: &str) -> Option<String> {
        let mut own = Vec::new();
        self.expand_variable(name, true, &mut own);
        super::word::field_value(&own, 0..0).plain_text().map(str::to_string)
    }

    pub(super) fn expand_reference(
        &mut self,
        reference: &VarRef,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        let name = reference.name.as_str();
        if reference.subscript.is_none() {
            return self.expand_variable(name, inside, out);
        }
        self.flow.look_up(name, true);
        if !reference.has_array_selector() {
            return self.expand_element(reference, inside, out);
        }
        let star = reference
            .subscript
            .as_deref()
            .is_some_and(|s| s.selector() == Some(SubscriptSelector::Star));
        match self.variable_words(name) {
            words if star && inside => self.join_words(words.as_deref(), out),
            words => apart(words, inside, out),
        }
    }

    /// `"$*"`: all words as one, with what IFS begins with between them.
    fn join_words(&mut self, words: Option<&[Vec<Atom>]>, out: &mut Vec<Atom>) {
        let between = self.field_separators().and_then(|s| s.chars().next());
        match (words, between) {
            // A glob's matches are several words of their own.
            (Some(words), Some(between))
                if words.len() < 2
                    || words.iter().flatten().all(|a| {
                        matches!(a, Atom::Ch(_, q) if *q != Quote::Pattern) || *a == Atom::Empty
                    }) =>
            {
                for (i, word) in words.iter().enumerate() {
                    if i > 0 {
                        out.push(Atom::Ch(between, Quote::Quoted));
                    }
                    push_expanded(word, true, out);
                }
            }
            _ => out.push(Atom::unknown_text(true)),
        }
    }

    /// `${a[1]}`.
    fn expand_element(&mut self, reference: &VarRef, inside: bool, out: &mut Vec<Atom>) {
        let index = reference.subscript.as_ref().and_then(|s| s.word_ast.as_ref()).cloned();
        let index = match (index, &reference.subscript) {
            (Some(word), _) => self.expand_one(&word, true).plain_text().map(str::to_string),
            (None, Some(subscript)) => {
                let text = subscript.syntax_text(&self.frame.source).to_string();
                match text.strip_prefix('$') {
                    Some(name) if is_name(name) => self.text_of(name),
                    _ => Some(text),
                }
            }
            _ => None,
        };
        let words = self.variable_words(reference.name.as_str());
        let number = index.and_then(|text| text.trim().parse::<i64>().ok());
        let (Some(words), Some(number)) = (words, number) else {
            out.push(Atom::unknown_text(inside));
            return;
        };
        let count = i64::try_from(words.len()).unwrap_or(0);
        let mut at = if number < 0 { count + number } else { number };
        // zsh counts from one.
        if number > 0 && number <= count && self.choose_world("[]", 2) == 1 {
            at = number - 1;
        }
        match usize::try_from(at).ok().and_then(|at| words.get(at)) {
            Some(word) => push_expanded(word, inside, out),
            None if inside => out.push(Atom::Empty),
            None => {}
        }
    }

    /// The value of a variable in the world that is looked at.
    pub fn variable_words(&mut self, name: &str) -> Option<VariableWords> {
        let count = self.state.find_variable(name)?.len();
        if count > 1 && self.frame.blurred && !self.frame.choice.iter().any(|(own, ..)| own == name)
        {
            return unknown_var().pop();
        }
        let at = if count > 1 { self.choose_world(name, count) } else { 0 };
        self.state.find_variable(name)?.get(at).cloned()
    }

    /// `$1`, `$2` ...
    fn arguments_given(&self) -> Option<VariableWords> {
        self.positional_parameters().map(|values| values.iter().skip(1).map(atoms_of).collect())
    }

    /// Which of `count` ways is taken in the world that is looked at.
    fn choose_world(&mut self, name: &str, count: usize) -> usize {
        match self.frame.choice.iter().find(|(n, ..)| n == name) {
            Some((_, at, _)) => *at,
            None => {
                self.frame.choice.push((name.to_string(), 0, count));
                0
            }
        }
    }

    pub(super) fn expand_variable(&mut self, name: &str, inside: bool, out: &mut Vec<Atom>) {
        match name {
            "*" if inside => {
                self.see_positionals();
                let words = self.arguments_given();
                return self.join_words(words.as_deref(), out);
            }
            "@" | "*" => {
                self.see_positionals();
                return apart(self.arguments_given(), inside, out);
            }
            "#" | "?" | "$" | "!" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID"
            | "BASHPID" | "COLUMNS" | "LINES" => {
                return push_unknown_number(out);
            }
            _ => {}
        }
        if let Ok(index) = name.parse::<usize>() {
            let values = self.positional_parameters();
            // Behind a word that becomes any number of them nobody knows which is which.
            let shifted = values
                .as_ref()
                .is_some_and(|v| !v.iter().take(index).skip(1).all(Value::counts_once));
            match values.filter(|_| !shifted).map(|p| p.get(index).cloned()) {
                Some(Some(one)) => {
                    self.flow.seen |= one.secrets;
                    push_expanded(&atoms_of(&one), inside, out)
                }
                Some(None) if index > 0 => {}
                _ => {
                    self.see_positionals();
                    out.push(Atom::unknown_text(inside))
                }
            }
            return;
        }
        if let Some(words) = self.variable_words(name) {
            let told = words.iter().flatten().all(|atom| !matches!(atom, Atom::Unknown(_)));
            self.flow.look_up(name, told);
            if self.frame.zsh && !inside && words.len() > 1 {
                // All elements of an array.
                for (at, word) in words.iter().enumerate() {
                    out.extend((at > 0).then_some(Atom::Break));
                    push_expanded(word, inside, out);
                }
                return;
            }
            if let Some(first) = words.first() {
                if first.is_empty() && inside {
                    out.push(Atom::Empty);
                }
                push_expanded(first, inside, out);
            }
            return;
        }
        self.flow.look_up(name, false);
        let text = match name {
            "HOME" => Some(self.out.place.home.clone()),
            "PWD" => self.cwd(),
            "CLAUDE_PROJECT_DIR" => Some(self.out.place.project.clone()).filter(|p| !p.is_empty()),
            // Agents hand their environment to hooks and to the shell alike; where it is not set,
            // it is the system's own place for such files.
            "TMPDIR" => match self.out.place.directory_variable("TMPDIR") {
                Some(dir) => Some(normalise_path(&dir)),
                None => {
                    out.extend(super::word::quoted_atoms("/tmp/"));
                    return out.push(Atom::unknown_name());
                }
            },
            "USER" | "LOGNAME" => {
                let name = self.out.place.home.rsplit('/').next().map(str::to_string);
                match name.filter(|n| !n.is_empty()) {
                    Some(name) => Some(name),
                    None => return out.push(Atom::unknown_name()),
                }
            }
            "NVM_DIR" => {
                let place = self.out.place;
                Some(
                    place
                        .directory_variable("NVM_DIR")
                        .unwrap_or_else(|| format!("{}/.nvm", place.home)),
                )
            }
            "HOSTNAME" | "HOSTTYPE" | "MACHTYPE" | "EPOCHSECONDS" => {
                return out.push(Atom::unknown_name());
            }
            "OSTYPE" => Some("linux".to_string()),
            _ => None,
        };
        match text {
            Some(text) if !text.is_empty() => {
                // The usual separators do not stand in them.
                let split = !inside && self.state.is_set(&StateKey::Splitting);
                let quote = if split { Quote::Expanded } else { Quote::Quoted };
                out.extend(text.chars().map(|c| Atom::Ch(c, quote)));
            }
            _ => out.push(Atom::unknown_text(inside)),
        }
    }

    /// `${PYTHON:-python3}`: is the default a program that projects name so, and the variable nothing that the call sets?
    fn names_usual_program(&mut self, reference: &VarRef, default: &[Atom]) -> bool {
        let name = reference.name.as_str();
        let sign = |atom: &Atom| match atom {
            Atom::Ch(sign, _) => Some(*sign),
            _ => None,
        };
        let Some(text) = default.iter().map(sign).collect::<Option<String>>() else { return false };
        name.starts_with(|c: char| c.is_ascii_uppercase())
            && self.state.find_variable(name).is_none()
            && crate::effect::variable::is_tool(&text)
    }

    /// Is it a variable that neither the call nor the environment of the hook sets, which is the agent's?
    fn is_never_set(&self, name: &str) -> bool {
        let set = self.out.place.env.is_some_and(|get| get(name).is_some());
        !set && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && self.state.get(&StateKey::Var(name.to_string())).is_none()
            && !self.state.is_set(&StateKey::Tainted)
    }

    pub(super) fn expand_operation(
        &mut self,
        reference: &VarRef,
        operator: &ParameterOp,
        operand: Option<&Word>,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        let mut own = Vec::new();
        self.expand_reference(reference, inside, &mut own);
        let known = !own.iter().any(|a| matches!(a, Atom::Unknown(_)));
        let empty = own.iter().all(|a| matches!(a, Atom::Empty));
        // A shell ends the expansion at the first `}`, the parser at the last.
        let braces = operand.is_some_and(|word| {
            let span = word.span.start.offset()..word.span.end.offset();
            self.frame.source.get(span).is_some_and(|t| t.replace("${", "").contains('{'))
        });
        if braces {
            out.push(Atom::unknown_text(inside));
            return;
        }
        let fallback = |walker: &mut Self, out: &mut Vec<Atom>| {
            if let Some(word) = operand {
                let mut inner = walker
                    .expand_parts(&word.parts, if inside { Quote::Quoted } else { Quote::Bare });
                inner = walker.expand_tilde(inner, false);
                expanded_keep(&inner, inside, out);
            }
        };
        match operator {
            ParameterOp::UseDefault | ParameterOp::AssignDefault => {
                // Unset in the environment that hooks share with the shell.
                let unset = known && empty || !known && reference.name.as_str() == "TMPDIR";
                if known && !empty {
                    return out.extend(own);
                }
                let mut other = Vec::new();
                fallback(self, &mut other);
                if matches!(operator, ParameterOp::AssignDefault) {
                    self.flow.keep(reference.name.as_str(), self.flow.seen);
                }
                let mut unset = unset;
                if !known && operand.is_some() && self.names_usual_program(reference, &other) {
                    // The user's own environment may name another one, which no allow means.
                    let why = "a program that a variable of the environment may name";
                    self.emit_uncovered(why, operand.map_or(reference.span, |word| word.span));
                    unset = true;
                }
                let told = other.iter().any(|a| matches!(a, Atom::Ch(..)));
                // `rm -rf "${BUILD:-build}"`: by its default it is for what a build makes.
                let letters: String = other.iter().filter_map(Atom::letter).collect();
                if !known && is_output(&letters) && self.is_never_set(reference.name.as_str()) {
                    unset = true;
                }
                if matches!(operator, ParameterOp::AssignDefault) && (unset || told) {
                    let mut values = vec![vec![other.clone()]];
                    if !unset {
                        values.extend(unknown_var());
                    }
                    let name = reference.name.as_str().to_string();
                    self.taint_by(&name);
                    self.state.set(StateKey::Var(name), Some(StateValue::Var(values)));
                }
                // All that is not set has its default in one world, and nothing is known in the other.
                if unset || told && self.choose_world(":-", 2) == 0 {
                    out.extend(other);
                } else {
                    out.push(Atom::unknown_text(inside));
                }
            }
            ParameterOp::Error => {
                if let Some(word) = operand {
                    self.show_error(word);
                }
                out.extend(own);
            }
            ParameterOp::UseReplacement => {
                if known && !empty {
                    fallback(self, out);
                } else if !known {
                    out.push(Atom::unknown_text(inside));
                }
            }
            ParameterOp::RemoveSuffixShort { pattern }
            | ParameterOp::RemoveSuffixLong { pattern } => {
                let long = matches!(operator, ParameterOp::RemoveSuffixLong { .. });
                self.strip_pattern(own, known, pattern, false, long, inside, out);
            }
            ParameterOp::RemovePrefixShort { pattern }
            | ParameterOp::RemovePrefixLong { pattern } => {
                let long = matches!(operator, ParameterOp::RemovePrefixLong { .. });
                self.strip_pattern(own, known, pattern, true, long, inside, out);
            }
            ParameterOp::UpperAll => change_case(own, 'U', out),
            ParameterOp::LowerAll => change_case(own, 'L', out),
            ParameterOp::UpperFirst => change_case(own, 'u', out),
            ParameterOp::LowerFirst => change_case(own, 'l', out),
            ParameterOp::ReplaceFirst { pattern, replacement_word_ast, .. }
            | ParameterOp::ReplaceAll { pattern, replacement_word_ast, .. } => {
                let all = matches!(operator, ParameterOp::ReplaceAll { .. });
                let pattern = self.plain_pattern(pattern);
                let mark = if inside { Quote::Quoted } else { Quote::Bare };
                let mut with = Vec::new();
                expanded_keep(
                    &self.expand_parts(&replacement_word_ast.parts, mark),
                    inside,
                    &mut with,
                );
                let most = |p: &String| {
                    if p.contains('*') { limits::REPLACED } else { limits::REPLACED_TEXT }
                };
                match pattern.filter(|p| known && own.len() <= most(p)) {
                    Some(pattern) => replace_pattern(&own, &pattern, &with, all, out),
                    None => out.push(Atom::unknown_text(inside)),
                }
            }
        }
    }
}

/// Words that stay words of their own.
fn apart(words: Option<VariableWords>, inside: bool, out: &mut Vec<Atom>) {
    let Some(words) = words else { return out.push(Atom::unknown_text(false)) };
    for (i, word) in words.iter().enumerate() {
        if i > 0 {
            out.push(Atom::Break);
        }
        if word.is_empty() && inside {
            out.push(Atom::Empty);
        }
        push_expanded(word, inside, out);
    }
}

/// Is it a variable's name?
pub fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}
