//! Parameters: what `$x`, `"$@"`, `${x:-y}` and `${x%.c}` stand for, as far as the call tells.

use shuck_ast::{BourneParameterExpansion, ParameterOp, Pattern, SubscriptSelector, VarRef, Word};

use super::Walker;
use super::state::{Key, Words};
use super::word::{Atom, Quote, atoms_of, expanded, expanded_keep, number};
use crate::effect::path::normalise;
use crate::effect::value::Value;

impl Walker<'_> {
    pub(super) fn parameter(
        &mut self,
        syntax: &BourneParameterExpansion,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        match syntax {
            BourneParameterExpansion::Access { reference } => self.access(reference, inside, out),
            BourneParameterExpansion::Length { .. } => number(out),
            BourneParameterExpansion::Operation {
                reference, operator, operand_word_ast, ..
            } => {
                self.operation(reference, operator, operand_word_ast.as_deref(), inside, out);
            }
            _ => out.push(Atom::Unknown { one: inside, fed: false }),
        }
    }

    pub(super) fn access(&mut self, reference: &VarRef, inside: bool, out: &mut Vec<Atom>) {
        let name = reference.name.as_str();
        if reference.subscript.is_none() {
            return self.variable(name, inside, out);
        }
        if !reference.has_array_selector() {
            out.push(Atom::Unknown { one: inside, fed: false });
            return;
        }
        let star = reference
            .subscript
            .as_deref()
            .is_some_and(|s| s.selector() == Some(SubscriptSelector::Star));
        match self.words(name) {
            words if star && inside => self.joined(words.as_deref(), out),
            Some(words) => {
                for (i, word) in words.iter().enumerate() {
                    if i > 0 {
                        out.push(Atom::Break);
                    }
                    if word.is_empty() && inside {
                        out.push(Atom::Empty);
                    }
                    expanded(word, inside, out);
                }
            }
            None => out.push(Atom::Unknown { one: false, fed: false }),
        }
    }

    /// `"$*"`: all words as one, with what IFS begins with between them.
    fn joined(&mut self, words: Option<&[Vec<Atom>]>, out: &mut Vec<Atom>) {
        let known = |a: &Atom| matches!(a, Atom::Ch(_, q) if *q != Quote::Pattern);
        match words {
            Some(words)
                if words.iter().flatten().all(known) && !self.state.flag(&Key::Splitting) =>
            {
                for (i, word) in words.iter().enumerate() {
                    if i > 0 {
                        out.push(Atom::Ch(' ', Quote::Quoted));
                    }
                    expanded(word, true, out);
                }
            }
            _ => out.push(Atom::Unknown { one: true, fed: false }),
        }
    }

    /// The value of a variable in the world that is looked at.
    pub fn words(&mut self, name: &str) -> Option<Words> {
        let values = self.state.var(name)?;
        let at = if values.len() > 1 {
            let count = values.len();
            match self.choice.iter().find(|(n, ..)| n == name) {
                Some((_, at, _)) => *at,
                None => {
                    self.choice.push((name.to_string(), 0, count));
                    0
                }
            }
        } else {
            0
        };
        self.state.var(name)?.get(at).cloned()
    }

    pub(super) fn variable(&mut self, name: &str, inside: bool, out: &mut Vec<Atom>) {
        match name {
            "*" if inside => {
                let words = self
                    .positional()
                    .map(|values| values.iter().skip(1).map(atoms_of).collect::<Vec<_>>());
                return self.joined(words.as_deref(), out);
            }
            "@" | "*" => {
                match self.positional() {
                    Some(values) => {
                        for (i, one) in values.iter().skip(1).enumerate() {
                            if i > 0 {
                                out.push(Atom::Break);
                            }
                            if inside && one.plain() == Some("") {
                                out.push(Atom::Empty);
                            }
                            expanded(&atoms_of(one), inside, out);
                        }
                    }
                    None => out.push(Atom::Unknown { one: false, fed: false }),
                }
                return;
            }
            "#" | "?" | "$" | "!" | "RANDOM" | "SECONDS" | "LINENO" | "UID" | "EUID" | "PPID"
            | "BASHPID" | "COLUMNS" | "LINES" => {
                return number(out);
            }
            _ => {}
        }
        if let Ok(index) = name.parse::<usize>() {
            let values = self.positional();
            // Behind a word that becomes any number of them nobody knows which is which.
            let shifted =
                values.as_ref().is_some_and(|v| v.iter().take(index).skip(1).any(Value::several));
            match values.filter(|_| !shifted).map(|p| p.get(index).cloned()) {
                Some(Some(one)) => expanded(&atoms_of(&one), inside, out),
                Some(None) if index > 0 => {}
                _ => out.push(Atom::Unknown { one: inside, fed: false }),
            }
            return;
        }
        if let Some(words) = self.words(name) {
            if let Some(first) = words.first() {
                if first.is_empty() && inside {
                    out.push(Atom::Empty);
                }
                expanded(first, inside, out);
            }
            return;
        }
        let text = match name {
            "HOME" => Some(self.out.place.home.clone()),
            "PWD" => self.cwd(),
            "CLAUDE_PROJECT_DIR" => Some(self.out.place.project.clone()).filter(|p| !p.is_empty()),
            // Agents hand their environment to hooks and to the shell alike.
            "TMPDIR" => {
                std::env::var("TMPDIR").ok().filter(|t| t.starts_with('/')).map(|t| normalise(&t))
            }
            "OSTYPE" => Some("linux".to_string()),
            _ => None,
        };
        match text {
            Some(text) if !text.is_empty() => {
                out.extend(text.chars().map(|c| Atom::Ch(c, Quote::Quoted)));
            }
            _ => out.push(Atom::Unknown { one: inside, fed: false }),
        }
    }

    pub(super) fn operation(
        &mut self,
        reference: &VarRef,
        operator: &ParameterOp,
        operand: Option<&Word>,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        let mut own = Vec::new();
        self.access(reference, inside, &mut own);
        let several = reference.name.as_str() == "@" || reference.has_array_selector();
        let one = inside && !several;
        let known = !own.iter().any(|a| matches!(a, Atom::Unknown { .. }));
        let empty = own.iter().all(|a| matches!(a, Atom::Empty));
        // A shell ends the expansion at the first `}`, the parser at the last.
        let braces = operand.is_some_and(|word| {
            let span = word.span.start.offset()..word.span.end.offset();
            self.source.get(span).is_some_and(|t| t.replace("${", "").contains('{'))
        });
        if braces {
            out.push(Atom::Unknown { one: inside, fed: false });
            return;
        }
        let fallback = |walker: &mut Self, out: &mut Vec<Atom>| {
            if let Some(word) = operand {
                let mut inner =
                    walker.atoms(&word.parts, if inside { Quote::Quoted } else { Quote::Bare });
                inner = walker.tilde(inner, false);
                expanded_keep(&inner, inside, out);
            }
        };
        match operator {
            ParameterOp::UseDefault | ParameterOp::AssignDefault => {
                if known && !empty {
                    out.extend(own);
                } else if known {
                    fallback(self, out);
                } else if reference.name.as_str() == "TMPDIR" {
                    // Unset in the environment that hooks share with the shell.
                    fallback(self, out);
                } else {
                    out.push(Atom::Unknown { one: inside, fed: false });
                }
            }
            ParameterOp::Error => out.extend(own),
            ParameterOp::UseReplacement => {
                if known && !empty {
                    fallback(self, out);
                } else if !known {
                    out.push(Atom::Unknown { one: inside, fed: false });
                }
            }
            ParameterOp::RemoveSuffixShort { pattern }
            | ParameterOp::RemoveSuffixLong { pattern } => {
                let long = matches!(operator, ParameterOp::RemoveSuffixLong { .. });
                self.strip(own, known, pattern, false, long, inside, out);
            }
            ParameterOp::RemovePrefixShort { pattern }
            | ParameterOp::RemovePrefixLong { pattern } => {
                let long = matches!(operator, ParameterOp::RemovePrefixLong { .. });
                self.strip(own, known, pattern, true, long, inside, out);
            }
            ParameterOp::UpperAll | ParameterOp::LowerAll if known => {
                let upper = matches!(operator, ParameterOp::UpperAll);
                out.extend(own.into_iter().map(|atom| match atom {
                    Atom::Ch(c, q) if upper => Atom::Ch(c.to_ascii_uppercase(), q),
                    Atom::Ch(c, q) => Atom::Ch(c.to_ascii_lowercase(), q),
                    other => other,
                }));
            }
            _ => out.push(Atom::Unknown { one, fed: false }),
        }
    }

    #[allow(clippy::too_many_arguments)]
    fn strip(
        &mut self,
        own: Vec<Atom>,
        known: bool,
        pattern: &Pattern,
        front: bool,
        long: bool,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        let pattern = pattern.render(&self.source);
        let plain = own
            .iter()
            .all(|a| matches!(a, Atom::Ch(c, q) if *q != Quote::Pattern || !"*?[".contains(*c)));
        let simple = pattern.len() < 64 && !pattern.contains(['[', '$', '`', '(', '\\', '"', '\'']);
        if !known || !plain || !simple || own.len() > 512 {
            out.push(Atom::Unknown { one: inside, fed: false });
            return;
        }
        let text: Vec<char> = own
            .iter()
            .filter_map(|a| if let Atom::Ch(c, _) = a { Some(*c) } else { None })
            .collect();
        let pattern: Vec<char> = pattern.chars().collect();
        let lengths: Box<dyn Iterator<Item = usize>> =
            if long { Box::new((0..=text.len()).rev()) } else { Box::new(0..=text.len()) };
        for length in lengths {
            let part = if front { &text[..length] } else { &text[text.len() - length..] };
            if matches(&pattern, part) {
                if front {
                    out.extend_from_slice(&own[length..]);
                } else {
                    out.extend_from_slice(&own[..own.len() - length]);
                }
                return;
            }
        }
        out.extend(own);
    }
}

/// A shell pattern of `*` and `?` against a text, without backtracking over more than one star.
fn matches(pattern: &[char], text: &[char]) -> bool {
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while t < text.len() {
        if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, t));
            p += 1;
        } else if p < pattern.len() && (pattern[p] == '?' || pattern[p] == text[t]) {
            p += 1;
            t += 1;
        } else if let Some((sp, st)) = star {
            p = sp + 1;
            t = st + 1;
            star = Some((sp, st + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}
