//! Parameters: what `$x`, `"$@"`, `${x:-y}` and `${x%.c}` stand for, as far as the call tells.

use shuck_ast::{BourneParameterExpansion, ParameterOp, Pattern, VarRef, Word};

use super::Walker;
use super::state::{Held, Key, Words, unknown_var};
use super::word::{Atom, Quote, atoms_of, expanded, expanded_keep, number};
use crate::effect::path::normalise;

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
            BourneParameterExpansion::Slice {
                reference, offset_word_ast, length_word_ast, ..
            } => self.slice_of(reference, offset_word_ast, length_word_ast.as_deref(), inside, out),
            BourneParameterExpansion::Indirect { reference, operator: None, .. } => {
                self.indirect(reference, inside, out)
            }
            BourneParameterExpansion::Indices { reference } => self.indices(reference, inside, out),
            BourneParameterExpansion::Transformation { reference, operator } => {
                self.transformed(reference, *operator, inside, out);
            }
            _ => out.push(Atom::blank(inside)),
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
            w.expand_one(word, true).plain().and_then(|t| t.trim().parse::<i64>().ok())
        };
        let offset = number(self, offset);
        let length = length.map(|word| number(self, word));
        let mut own = Vec::new();
        self.access(reference, inside, &mut own);
        // `$@` counts from `$0`, an array from its first element, a text from its first character.
        let list = reference.has_array_selector() || matches!(reference.name.as_str(), "@" | "*");
        let known = !own.iter().any(|a| matches!(a, Atom::Unknown(_)));
        let length = match length {
            None => Some(i64::MAX),
            Some(Some(length)) => Some(length),
            Some(None) => None,
        };
        let (Some(offset), Some(length), true) = (offset, length, known || list) else {
            // A part of a text without a slash has none either.
            let plain = known && !own.iter().any(|a| matches!(a, Atom::Ch('/' | '.', _)));
            out.push(if plain && inside { Atom::name() } else { Atom::blank(inside) });
            return;
        };
        let pieces: Vec<&[Atom]> = if list {
            own.split(|a| *a == Atom::Break).collect()
        } else {
            own.iter().filter(|a| **a != Atom::Empty).map(std::slice::from_ref).collect()
        };
        let count = i64::try_from(pieces.len()).unwrap_or(i64::MAX);
        let counted = i64::from(matches!(reference.name.as_str(), "@" | "*"));
        if counted == 1 && offset < 1 || own.iter().any(|a| list && *a == Atom::blank(false)) {
            out.push(Atom::blank(false));
            return;
        }
        let from = if offset < 0 { (count + offset).max(0) } else { offset - counted };
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
    pub(super) fn indirect(&mut self, reference: &VarRef, inside: bool, out: &mut Vec<Atom>) {
        let mut own = Vec::new();
        self.access(reference, true, &mut own);
        match super::word::value(&own, 0..0).plain() {
            Some(name) if is_name(name) => self.variable(&name.to_string(), inside, out),
            _ => out.push(Atom::blank(inside)),
        }
    }

    /// `${!a[@]}`: numbers, where the array is a plain one.
    pub(super) fn indices(&mut self, reference: &VarRef, inside: bool, out: &mut Vec<Atom>) {
        match self.words(reference.name.as_str()) {
            Some(words) => {
                for at in 0..words.len() {
                    if at > 0 {
                        out.push(Atom::Break);
                    }
                    out.extend(super::word::quoted(&at.to_string()));
                }
            }
            None => out.push(Atom::blank(inside)),
        }
    }

    /// `${x@Q}` and its like.
    pub(super) fn transformed(
        &mut self,
        reference: &VarRef,
        operator: char,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        let mut own = Vec::new();
        self.access(reference, inside, &mut own);
        let quiet = |c: char| c.is_ascii_alphanumeric() || "-_./+:,@% ".contains(c);
        let plain = own.iter().all(|a| matches!(a, Atom::Ch(c, _) if quiet(*c)));
        match operator {
            'U' | 'L' | 'u' => cased(own, operator, out),
            'E' | 'P' if plain => out.extend(own),
            'Q' if plain => {
                let mark = if inside { Quote::Quoted } else { Quote::Expanded };
                out.push(Atom::Ch('\'', mark));
                out.extend(own);
                out.push(Atom::Ch('\'', mark));
            }
            _ => out.push(Atom::blank(inside)),
        }
    }

    pub(super) fn access(&mut self, reference: &VarRef, inside: bool, out: &mut Vec<Atom>) {
        let name = reference.name.as_str();
        if reference.subscript.is_none() {
            return self.variable(name, inside, out);
        }
        if !reference.has_array_selector() {
            return self.element(reference, inside, out);
        }
        match self.words(name) {
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
            None => out.push(Atom::blank(false)),
        }
    }

    /// `${a[1]}`.
    fn element(&mut self, reference: &VarRef, inside: bool, out: &mut Vec<Atom>) {
        let index = reference.subscript.as_ref().and_then(|s| s.word_ast.as_ref()).cloned();
        let index = match (index, &reference.subscript) {
            (Some(word), _) => self.expand_one(&word, true).plain().map(str::to_string),
            (None, Some(subscript)) => {
                let text = subscript.syntax_text(&self.source).to_string();
                match text.strip_prefix('$') {
                    Some(name) if is_name(name) => {
                        let mut atoms = Vec::new();
                        self.variable(name, true, &mut atoms);
                        super::word::value(&atoms, 0..0).plain().map(str::to_string)
                    }
                    _ => Some(text),
                }
            }
            _ => None,
        };
        let words = self.words(reference.name.as_str());
        let number = index.and_then(|text| text.trim().parse::<i64>().ok());
        let (Some(words), Some(number)) = (words, number) else {
            out.push(Atom::blank(inside));
            return;
        };
        let count = i64::try_from(words.len()).unwrap_or(0);
        let at = if number < 0 { count + number } else { number };
        match usize::try_from(at).ok().and_then(|at| words.get(at)) {
            Some(word) => expanded(word, inside, out),
            None if inside => out.push(Atom::Empty),
            None => {}
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
            "@" | "*" => {
                match self.positional.clone() {
                    Some(values) => {
                        for (i, one) in values.iter().skip(1).enumerate() {
                            if i > 0 {
                                out.push(Atom::Break);
                            }
                            expanded(&atoms_of(one), inside, out);
                        }
                    }
                    None => out.push(Atom::blank(false)),
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
            match self.positional.as_ref().map(|p| p.get(index).cloned()) {
                Some(Some(one)) => expanded(&atoms_of(&one), inside, out),
                Some(None) if index > 0 => {}
                _ => out.push(Atom::blank(inside)),
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
            // Agents hand their environment to hooks and to the shell alike; where it is not set,
            // it is the system's own place for such files.
            "TMPDIR" => match std::env::var("TMPDIR").ok().filter(|t| t.starts_with('/')) {
                Some(dir) => Some(normalise(&dir)),
                None => {
                    out.extend(super::word::quoted("/tmp/"));
                    return out.push(Atom::name());
                }
            },
            "USER" | "LOGNAME" => {
                let name = self.out.place.home.rsplit('/').next().map(str::to_string);
                match name.filter(|n| !n.is_empty()) {
                    Some(name) => Some(name),
                    None => return out.push(Atom::name()),
                }
            }
            "NVM_DIR" => Some(
                std::env::var("NVM_DIR")
                    .ok()
                    .filter(|t| t.starts_with('/'))
                    .unwrap_or_else(|| format!("{}/.nvm", self.out.place.home)),
            ),
            "HOSTNAME" | "HOSTTYPE" | "MACHTYPE" | "EPOCHSECONDS" => return out.push(Atom::name()),
            "OSTYPE" => Some("linux".to_string()),
            _ => None,
        };
        match text {
            Some(text) if !text.is_empty() => {
                out.extend(text.chars().map(|c| Atom::Ch(c, Quote::Quoted)));
            }
            _ => out.push(Atom::blank(inside)),
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
        let known = !own.iter().any(|a| matches!(a, Atom::Unknown(_)));
        let empty = own.iter().all(|a| matches!(a, Atom::Empty));
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
                // Unset in the environment that hooks share with the shell.
                let unset = known && empty || !known && reference.name.as_str() == "TMPDIR";
                if known && !empty {
                    return out.extend(own);
                }
                let mut other = Vec::new();
                fallback(self, &mut other);
                let path = matches!(other.first(), Some(Atom::Ch('/', _)));
                if matches!(operator, ParameterOp::AssignDefault) && (unset || path) {
                    let mut values = vec![vec![other.clone()]];
                    if !unset {
                        values.extend(unknown_var());
                    }
                    let name = reference.name.as_str().to_string();
                    self.state.set(Key::Var(name), Some(Held::Var(values)));
                }
                if unset || path && self.alternative(reference) {
                    out.extend(other);
                } else {
                    out.push(Atom::blank(inside));
                }
            }
            ParameterOp::Error => out.extend(own),
            ParameterOp::UseReplacement => {
                if known && !empty {
                    fallback(self, out);
                } else if !known {
                    out.push(Atom::blank(inside));
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
            ParameterOp::UpperAll => cased(own, 'U', out),
            ParameterOp::LowerAll => cased(own, 'L', out),
            ParameterOp::UpperFirst => cased(own, 'u', out),
            ParameterOp::LowerFirst => cased(own, 'l', out),
            ParameterOp::ReplaceFirst { pattern, replacement_word_ast, .. }
            | ParameterOp::ReplaceAll { pattern, replacement_word_ast, .. } => {
                let all = matches!(operator, ParameterOp::ReplaceAll { .. });
                let pattern = self.plain_pattern(pattern);
                let with = self.atoms(&replacement_word_ast.parts, Quote::Quoted);
                let most = |p: &String| if p.contains('*') { 64 } else { 4096 };
                match pattern.filter(|p| known && own.len() <= most(p)) {
                    Some(pattern) => replaced(&own, &pattern, &with, all, out),
                    None => out.push(Atom::blank(inside)),
                }
            }
        }
    }

    /// A variable that may be set or not: both are looked at; true = it is not.
    fn alternative(&mut self, reference: &VarRef) -> bool {
        let name = format!("{} or not", reference.name.as_str());
        match self.choice.iter().find(|(n, ..)| *n == name) {
            Some((_, at, _)) => *at == 1,
            None => {
                self.choice.push((name, 0, 2));
                false
            }
        }
    }

    /// A pattern of characters, `*` and `?`, if it is no more than that.
    fn plain_pattern(&mut self, pattern: &Pattern) -> Option<String> {
        let text = pattern.render(&self.source);
        // One variable in it may be known.
        if let Some(name) = text.trim_matches('"').strip_prefix('$')
            && is_name(name.trim_matches(['{', '}']))
        {
            let mut atoms = Vec::new();
            self.variable(name.trim_matches(['{', '}']), true, &mut atoms);
            let text = super::word::value(&atoms, 0..0).plain()?.to_string();
            return (!text.contains(['*', '?', '[', '\\']) && text.len() < 64).then_some(text);
        }
        let text = if text.len() > 1 && text.starts_with('"') && text.ends_with('"') {
            let inner = text[1..text.len() - 1].to_string();
            Some(inner).filter(|t| !t.contains(['*', '?']))?
        } else {
            text.to_string()
        };
        let simple = text.len() < 64 && !text.contains(['[', '$', '`', '(', '\\', '"', '\'']);
        simple.then_some(text)
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
        let plain = own
            .iter()
            .all(|a| matches!(a, Atom::Ch(c, q) if *q != Quote::Pattern || !"*?[".contains(*c)));
        let whole = self.plain_pattern(pattern);
        // A literal end may be taken off a glob or off what is known of a path.
        let literal = whole.as_ref().filter(|p| !p.contains(['*', '?']));
        if let Some(literal) = literal
            && !front
            && (!known || !plain)
        {
            let end: Vec<char> = literal.chars().collect();
            let tail = own.len().checked_sub(end.len()).map(|at| &own[at..]);
            let same = tail.is_some_and(|tail| {
                tail.iter().zip(&end).all(|(a, c)| matches!(a, Atom::Ch(d, _) if d == c))
            });
            if same {
                let mut rest = own[..own.len() - end.len()].to_vec();
                let star = Atom::Ch('*', Quote::Pattern);
                let whole = rest.last() == Some(&star)
                    && rest.iter().rev().nth(1).is_none_or(|a| matches!(a, Atom::Ch('/', _)));
                if whole && literal != "/" {
                    // `${f%.x}` of `*.x` is one name and not everything.
                    rest.pop();
                    rest.extend("[!.]*".chars().map(|c| Atom::Ch(c, Quote::Pattern)));
                }
                out.extend(rest);
                return;
            }
            // `${f%.x}` of something below a directory is something below it, or the same.
            if own.last().is_some_and(|a| matches!(a, Atom::Unknown(b) if b.one)) {
                out.extend(own);
                return;
            }
        }
        if front
            && whole.as_deref() == Some("*/")
            && own.iter().any(|a| matches!(a, Atom::Unknown(_)))
        {
            // `${f##*/}`: a name.
            out.push(if long && inside { Atom::name() } else { Atom::blank(inside) });
            return;
        }
        let Some(pattern) = whole.filter(|_| known && plain && own.len() <= 512) else {
            out.push(Atom::blank(inside));
            return;
        };
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

/// Is it a variable's name?
fn is_name(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(|c: char| c.is_ascii_digit())
        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

/// Upper (`U`, first only `u`) or lower (`L`, `l`) case.
fn cased(own: Vec<Atom>, kind: char, out: &mut Vec<Atom>) {
    let mut first = true;
    out.extend(own.into_iter().map(|atom| match atom {
        Atom::Ch(c, q) => {
            let change = kind.is_ascii_uppercase() || std::mem::take(&mut first);
            match kind {
                'U' | 'u' if change => Atom::Ch(c.to_ascii_uppercase(), q),
                'L' | 'l' if change => Atom::Ch(c.to_ascii_lowercase(), q),
                _ => Atom::Ch(c, q),
            }
        }
        other => other,
    }));
}

/// `${x/pattern/with}`: the longest match at the first place, or at every one.
fn replaced(own: &[Atom], pattern: &str, with: &[Atom], all: bool, out: &mut Vec<Atom>) {
    let text: Vec<char> =
        own.iter().filter_map(|a| if let Atom::Ch(c, _) = a { Some(*c) } else { None }).collect();
    let (front, back) = (pattern.starts_with('#'), pattern.starts_with('%'));
    let pattern: Vec<char> = pattern.chars().skip(usize::from(!all && (front || back))).collect();
    let own: Vec<Atom> = own.iter().filter(|a| matches!(a, Atom::Ch(..))).copied().collect();
    let mut at = 0;
    while at < text.len() {
        let fits = |end: &usize| {
            (!back || all || *end == text.len()) && matches(&pattern, &text[at..*end])
        };
        let found = match pattern.contains(&'*') {
            true => (at + 1..=text.len()).rev().find(fits),
            false => Some(at + pattern.len()).filter(|end| *end <= text.len()).filter(fits),
        };
        match found.filter(|_| !pattern.is_empty() && (!front || all || at == 0)) {
            Some(end) => {
                out.extend_from_slice(with);
                at = end;
                if !all {
                    break;
                }
            }
            None => {
                out.push(own[at]);
                at += 1;
            }
        }
    }
    out.extend_from_slice(&own[at..]);
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
