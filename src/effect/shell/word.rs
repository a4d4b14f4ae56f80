//! Expanding words: quotes, variables, braces, tildes and splitting, as far as the text tells.
//!
//! A word becomes a row of atoms first, each with the way it was quoted; braces, tildes and field
//! splitting then work on the row. What is known only at run time is an atom of its own, so that
//! it can never be mistaken for text.

use std::ops::Range;

use shuck_ast::{
    ArithmeticExpr, BourneParameterExpansion, HeredocBody, HeredocBodyPart, LiteralText,
    ParameterExpansionSyntax, ParameterOp, Pattern, Span, VarRef, Word, WordPart, WordPartNode,
};

use super::Walker;
use super::state::Words;
use crate::effect::path::normalise;
use crate::effect::value::Value;

/// How a character came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quote {
    /// Quoted or escaped: only itself.
    Quoted,
    /// Written bare: braces, tildes and globs are active.
    Bare,
    /// From an unquoted expansion: splits, and globs are active.
    Expanded,
    /// Part of a pattern whose matches the value is (a loop over a glob): a glob, never splits.
    Pattern,
}

/// One character of a word, or something known only at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Atom {
    /// A character.
    Ch(char, Quote),
    /// Unknown text; `one` = surely one word. `fed` = a command prints it.
    Unknown {
        /// Neither splits nor vanishes.
        one: bool,
        /// What a command prints.
        fed: bool,
    },
    /// The end of a field (`"$@"`).
    Break,
    /// `<(cmd)`: the path of a pipe that gives what the command prints.
    Pipe {
        /// `<(cmd)`, not `>(cmd)`.
        input: bool,
    },
    /// An empty quoted string: the field exists.
    Empty,
}

/// How many fields one word may become.
const MAX_FIELDS: usize = 256;

/// The text as quoted atoms.
pub fn quoted(text: &str) -> Vec<Atom> {
    text.chars().map(|c| Atom::Ch(c, Quote::Quoted)).collect()
}

impl Walker<'_> {
    fn slice(&self, span: Span) -> &str {
        self.source.get(span.start.offset()..span.end.offset()).unwrap_or_default()
    }

    /// The fields that a word becomes.
    pub fn expand(&mut self, word: &Word) -> Vec<Value> {
        let span = self.range(word.span);
        let atoms = self.atoms(&word.parts, Quote::Bare);
        let rows =
            if word.has_active_brace_expansion() || atoms.contains(&Atom::Ch('{', Quote::Bare)) {
                braces(&atoms)
            } else {
                Some(vec![atoms])
            };
        let Some(rows) = rows else { return vec![Value::unknown(span)] };
        let mut fields = Vec::new();
        for row in rows {
            let row = self.tilde(row, false);
            self.fields(&row, &span, &mut fields);
            if fields.len() > MAX_FIELDS {
                return vec![Value::unknown(span)];
            }
        }
        fields
    }

    /// The one value that a word is where nothing splits: assignments, redirections, `case`.
    pub fn expand_one(&mut self, word: &Word, assignment: bool) -> Value {
        let span = self.range(word.span);
        let atoms = self.row(word, assignment);
        value(&atoms, span)
    }

    /// The unsplit row of a word.
    pub fn row(&mut self, word: &Word, assignment: bool) -> Vec<Atom> {
        let atoms = self.atoms(&word.parts, Quote::Bare);
        let row = self.tilde(atoms, assignment);
        row.into_iter()
            .map(|atom| match atom {
                // Nothing splits here, so an expansion is one word; globs stay inactive in an
                // assignment, and so they do in a redirection of a script.
                Atom::Ch(c, Quote::Expanded | Quote::Bare) if assignment => {
                    Atom::Ch(c, Quote::Quoted)
                }
                Atom::Ch(c, Quote::Expanded) => Atom::Ch(c, Quote::Bare),
                other => other,
            })
            .collect()
    }

    fn atoms(&mut self, parts: &[WordPartNode], quote: Quote) -> Vec<Atom> {
        let mut out = Vec::new();
        for part in parts {
            self.part(part, quote, &mut out);
            if out.len() > super::MAX_TEXT * 2 {
                return vec![Atom::Unknown { one: false, fed: false }];
            }
        }
        out
    }

    fn part(&mut self, part: &WordPartNode, quote: Quote, out: &mut Vec<Atom>) {
        let inside = quote == Quote::Quoted;
        match &part.kind {
            WordPart::Literal(LiteralText::Owned(text)) => {
                out.extend(text.chars().map(|c| Atom::Ch(c, quote)));
            }
            WordPart::Literal(_) => literal(self.slice(part.span), quote, out),
            WordPart::SingleQuoted { value, .. } => {
                let text = value.slice(&self.source);
                if text.is_empty() {
                    out.push(Atom::Empty);
                }
                out.extend(text.chars().map(|c| Atom::Ch(c, Quote::Quoted)));
            }
            WordPart::DoubleQuoted { parts, .. } => {
                let inner = self.atoms(parts, Quote::Quoted);
                // `"$@"` of nothing is nothing.
                if inner.is_empty() && parts.is_empty() {
                    out.push(Atom::Empty);
                }
                out.extend(inner);
            }
            WordPart::Variable(name) => self.variable(name.as_str(), inside, out),
            WordPart::CommandSubstitution { body, .. } => match self.printed(body) {
                Some(atoms) => expanded(&atoms, inside, out),
                None => out.push(Atom::Unknown { one: inside, fed: true }),
            },
            WordPart::ArithmeticExpansion { expression_ast, .. } => {
                match expression_ast.as_deref().map(|e| &e.kind) {
                    Some(ArithmeticExpr::Number(text)) => {
                        let text = text.slice(&self.source).to_string();
                        out.extend(quoted(&text));
                    }
                    _ => number(out),
                }
            }
            WordPart::ProcessSubstitution { is_input, .. } => {
                out.push(Atom::Pipe { input: *is_input })
            }
            WordPart::Parameter(parameter) => match &parameter.syntax {
                ParameterExpansionSyntax::Bourne(syntax) => self.parameter(syntax, inside, out),
                ParameterExpansionSyntax::Zsh(_) => {
                    out.push(Atom::Unknown { one: inside, fed: false })
                }
            },
            WordPart::Length(_) | WordPart::ArrayLength(_) => number(out),
            WordPart::ArrayAccess(reference) => self.access(reference, inside, out),
            WordPart::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                self.operation(reference, operator, operand_word_ast.as_deref(), inside, out);
            }
            _ => out.push(Atom::Unknown { one: inside, fed: false }),
        }
    }

    fn parameter(&mut self, syntax: &BourneParameterExpansion, inside: bool, out: &mut Vec<Atom>) {
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

    fn access(&mut self, reference: &VarRef, inside: bool, out: &mut Vec<Atom>) {
        let name = reference.name.as_str();
        if reference.subscript.is_none() {
            return self.variable(name, inside, out);
        }
        if !reference.has_array_selector() {
            out.push(Atom::Unknown { one: inside, fed: false });
            return;
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
            None => out.push(Atom::Unknown { one: false, fed: false }),
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

    fn variable(&mut self, name: &str, inside: bool, out: &mut Vec<Atom>) {
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
            match self.positional.as_ref().map(|p| p.get(index).cloned()) {
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

    fn operation(
        &mut self,
        reference: &VarRef,
        operator: &ParameterOp,
        operand: Option<&Word>,
        inside: bool,
        out: &mut Vec<Atom>,
    ) {
        let mut own = Vec::new();
        self.access(reference, inside, &mut own);
        let known = !own.iter().any(|a| matches!(a, Atom::Unknown { .. }));
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
            _ => out.push(Atom::Unknown { one: inside, fed: false }),
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

    /// `~`, `~user`, at the start of a word, and behind `:` and `=` in an assignment.
    fn tilde(&mut self, row: Vec<Atom>, assignment: bool) -> Vec<Atom> {
        if !row.contains(&Atom::Ch('~', Quote::Bare)) {
            return row;
        }
        let mut out = Vec::with_capacity(row.len() + 16);
        let mut at = 0;
        while at < row.len() {
            let start =
                at == 0 || assignment && matches!(row[at - 1], Atom::Ch(':' | '=', Quote::Bare));
            if !(start && row[at] == Atom::Ch('~', Quote::Bare)) {
                out.push(row[at]);
                at += 1;
                continue;
            }
            let mut name = String::new();
            let mut end = at + 1;
            let mut plain = true;
            while let Some(atom) = row.get(end) {
                match atom {
                    Atom::Ch('/', _) => break,
                    Atom::Ch(':', Quote::Bare) if assignment => break,
                    Atom::Ch(c, Quote::Bare) => name.push(*c),
                    _ => {
                        plain = false;
                        break;
                    }
                }
                end += 1;
            }
            if !plain {
                out.push(row[at]);
                at += 1;
                continue;
            }
            let home = self.out.place.home.clone();
            let own = home.rsplit('/').next() == Some(name.as_str()) && !name.is_empty();
            match name.as_str() {
                "" => {
                    // `HOME=/x; cd ~` goes to /x.
                    let mut atoms = Vec::new();
                    self.variable("HOME", true, &mut atoms);
                    out.extend(atoms);
                }
                _ if own => out.extend(quoted(&home)),
                "+" => match self.cwd() {
                    Some(cwd) => out.extend(quoted(&cwd)),
                    None => out.push(Atom::Unknown { one: true, fed: false }),
                },
                "root" => out.extend(quoted("/root")),
                _ => out.push(Atom::Unknown { one: true, fed: false }),
            }
            at = end;
        }
        out
    }

    /// Splits a row into fields.
    fn fields(&mut self, row: &[Atom], span: &Range<usize>, out: &mut Vec<Value>) {
        let strange = self.state.flag(&super::state::Key::Splitting);
        let mut field: Vec<Atom> = Vec::new();
        let mut open = false;
        for atom in row {
            match atom {
                Atom::Break => {
                    if open {
                        out.push(value(&field, span.clone()));
                    }
                    field.clear();
                    open = false;
                }
                Atom::Ch(c, Quote::Expanded) if c.is_whitespace() => {
                    if open {
                        out.push(value(&field, span.clone()));
                    }
                    field.clear();
                    open = false;
                }
                Atom::Ch(_, Quote::Expanded) if strange => {
                    field.push(Atom::Unknown { one: false, fed: false });
                    open = true;
                }
                Atom::Empty => open = true,
                other => {
                    field.push(*other);
                    open = true;
                }
            }
        }
        if open {
            out.push(value(&field, span.clone()));
        }
    }

    /// The text of a heredoc, if all of it is known.
    pub fn heredoc(&mut self, body: &HeredocBody) -> Option<String> {
        let mut atoms = Vec::new();
        for part in &body.parts {
            match &part.kind {
                HeredocBodyPart::Literal(text) => {
                    let text = text.as_str(&self.source, part.span).to_string();
                    atoms.extend(quoted(&text));
                }
                HeredocBodyPart::Variable(name) => self.variable(name.as_str(), true, &mut atoms),
                HeredocBodyPart::CommandSubstitution { body, .. } => {
                    atoms.extend(self.printed(body)?)
                }
                HeredocBodyPart::ArithmeticExpansion { .. } => return None,
                HeredocBodyPart::Parameter(parameter) => match &parameter.syntax {
                    ParameterExpansionSyntax::Bourne(syntax) => {
                        self.parameter(syntax, true, &mut atoms)
                    }
                    ParameterExpansionSyntax::Zsh(_) => return None,
                },
            }
        }
        value(&atoms, 0..0).plain().map(str::to_string)
    }
}

/// A value as atoms again (positional parameters).
pub fn atoms_of(value: &Value) -> Vec<Atom> {
    match (&value.text, &value.prefix) {
        (Some(text), _) if value.glob => {
            text.chars().map(|c| Atom::Ch(c, Quote::Pattern)).collect()
        }
        (Some(text), _) => quoted(text),
        (None, Some(prefix)) => {
            let mut atoms = quoted(prefix);
            atoms.push(Atom::Unknown { one: true, fed: value.fed });
            atoms
        }
        (None, None) if value.pipe => vec![Atom::Pipe { input: value.fed }],
        (None, None) => vec![Atom::Unknown { one: false, fed: value.fed }],
    }
}

/// A variable's atoms as they come out of an expansion.
fn expanded(atoms: &[Atom], inside: bool, out: &mut Vec<Atom>) {
    out.extend(atoms.iter().map(|atom| match atom {
        Atom::Ch(c, Quote::Pattern) => Atom::Ch(*c, Quote::Pattern),
        Atom::Ch(c, _) if inside => Atom::Ch(*c, Quote::Quoted),
        Atom::Ch(c, _) => Atom::Ch(*c, Quote::Expanded),
        Atom::Unknown { one, fed } => Atom::Unknown { one: *one || inside, fed: *fed },
        other => *other,
    }));
}

/// The same for text that was written in place: quoted stays quoted.
fn expanded_keep(atoms: &[Atom], inside: bool, out: &mut Vec<Atom>) {
    out.extend(atoms.iter().map(|atom| match atom {
        Atom::Ch(c, Quote::Bare) if inside => Atom::Ch(*c, Quote::Quoted),
        Atom::Ch(c, Quote::Bare) => Atom::Ch(*c, Quote::Expanded),
        other => *other,
    }));
}

/// A number that is known only at run time.
fn number(out: &mut Vec<Atom>) {
    out.extend("[-0-9]*".chars().map(|c| Atom::Ch(c, Quote::Pattern)));
}

/// A variable that holds some number.
pub fn number_var() -> super::state::Var {
    let mut atoms = Vec::new();
    number(&mut atoms);
    vec![vec![atoms]]
}

/// Literal text as written: backslashes are taken away here.
fn literal(text: &str, quote: Quote, out: &mut Vec<Atom>) {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(Atom::Ch(c, quote));
            continue;
        }
        match chars.next() {
            Some('\n') => {}
            Some(next) if quote == Quote::Quoted && !matches!(next, '$' | '`' | '"' | '\\') => {
                out.push(Atom::Ch('\\', quote));
                out.push(Atom::Ch(next, quote));
            }
            Some(next) => out.push(Atom::Ch(next, Quote::Quoted)),
            None => out.push(Atom::Ch('\\', quote)),
        }
    }
}

/// One field as a value.
pub fn value(atoms: &[Atom], span: Range<usize>) -> Value {
    let special = |c: char| matches!(c, '*' | '?' | '[');
    let mut glob = false;
    let mut escaped = false;
    let mut unknown = false;
    let mut one = true;
    let mut fed = false;
    let mut pipe = false;
    let mut bracket = false;
    for atom in atoms {
        match atom {
            Atom::Ch(c, Quote::Quoted) => escaped |= special(*c) || *c == '\\',
            // An extended glob or a zsh qualifier: not followed.
            Atom::Ch('(', Quote::Bare) => {
                unknown = true;
                one = false;
            }
            // A bracket without its other half is text (`[`, the program).
            Atom::Ch('[', _) => bracket = true,
            Atom::Ch(']', _) => glob |= bracket,
            Atom::Ch(c, _) => glob |= special(*c),
            Atom::Unknown { one: o, fed: f } => {
                unknown = true;
                one &= *o;
                fed |= *f;
            }
            Atom::Pipe { input } => {
                pipe = true;
                fed |= *input;
            }
            Atom::Break => {
                unknown = true;
                one = false;
            }
            Atom::Empty => {}
        }
    }
    if pipe {
        return Value { fed, pipe: atoms.len() == 1, span, ..Value::default() };
    }
    let mut text = String::new();
    for atom in atoms {
        match atom {
            Atom::Ch(c, Quote::Quoted) => {
                if glob && !unknown && escaped && (special(*c) || *c == '\\') {
                    text.push('\\');
                }
                text.push(*c);
            }
            Atom::Ch(c, _) => text.push(*c),
            Atom::Unknown { .. } => break,
            Atom::Break | Atom::Pipe { .. } | Atom::Empty => {}
        }
    }
    if !unknown {
        return Value { text: Some(text), glob, span, ..Value::default() };
    }
    let prefix = (one && !text.is_empty() && !glob).then_some(text);
    Value { text: None, prefix, fed, span, ..Value::default() }
}

/// Brace expansion; None = too many.
fn braces(row: &[Atom]) -> Option<Vec<Vec<Atom>>> {
    // Where each bare `{` closes, found in one pass.
    let mut close = vec![usize::MAX; row.len()];
    let mut stack = Vec::new();
    for (i, atom) in row.iter().enumerate() {
        match atom {
            Atom::Ch('{', Quote::Bare) => stack.push(i),
            Atom::Ch('}', Quote::Bare) => {
                if let Some(open) = stack.pop() {
                    close[open] = i;
                }
            }
            _ => {}
        }
    }
    let mut budget = MAX_FIELDS;
    product(row, &close, 0, row.len(), &mut budget, 0)
}

fn product(
    row: &[Atom],
    close: &[usize],
    from: usize,
    to: usize,
    budget: &mut usize,
    depth: usize,
) -> Option<Vec<Vec<Atom>>> {
    if depth > 16 {
        return None;
    }
    let mut done: Vec<Vec<Atom>> = vec![Vec::new()];
    let mut at = from;
    while at < to {
        if row[at] == Atom::Ch('{', Quote::Bare) && close[at] < to {
            let end = close[at];
            if let Some(choices) = choices(row, close, at + 1, end, budget, depth)? {
                let mut more = Vec::new();
                for head in &done {
                    for choice in &choices {
                        *budget = budget.checked_sub(1)?;
                        let mut whole = head.clone();
                        whole.extend_from_slice(choice);
                        more.push(whole);
                    }
                }
                done = more;
                at = end + 1;
                continue;
            }
        }
        for one in &mut done {
            one.push(row[at]);
        }
        at += 1;
    }
    Some(done)
}

/// The alternatives between two braces; `Some(None)` = the braces are only text.
#[allow(clippy::type_complexity)]
fn choices(
    row: &[Atom],
    close: &[usize],
    from: usize,
    to: usize,
    budget: &mut usize,
    depth: usize,
) -> Option<Option<Vec<Vec<Atom>>>> {
    let mut parts = Vec::new();
    let mut start = from;
    let mut at = from;
    while at < to {
        match row[at] {
            Atom::Ch('{', Quote::Bare) if close[at] < to => at = close[at],
            Atom::Ch(',', Quote::Bare) => {
                parts.push((start, at));
                start = at + 1;
            }
            _ => {}
        }
        at += 1;
    }
    if parts.is_empty() {
        let text: String = row[from..to]
            .iter()
            .filter_map(|a| if let Atom::Ch(c, Quote::Bare) = a { Some(*c) } else { None })
            .collect();
        if text.chars().count() != to - from {
            return Some(None);
        }
        return sequence(&text).map_or(Some(None), |s| s.map(Some));
    }
    parts.push((start, to));
    let mut all = Vec::new();
    for (a, b) in parts {
        all.extend(product(row, close, a, b, budget, depth + 1)?);
    }
    Some(Some(all))
}

/// `1..5`, `a..e`; `Some(None)` = too long.
fn sequence(text: &str) -> Option<Option<Vec<Vec<Atom>>>> {
    let mut parts = text.split("..");
    let (a, b) = (parts.next()?, parts.next()?);
    let step: i64 = match parts.next() {
        Some(step) => step.parse().ok()?,
        None => 1,
    };
    let (from, to, letters) = match (a.parse::<i64>(), b.parse::<i64>()) {
        (Ok(x), Ok(y)) => (x, y, false),
        _ => {
            let mut x = a.chars();
            let mut y = b.chars();
            let (Some(p), None, Some(q), None) = (x.next(), x.next(), y.next(), y.next()) else {
                return None;
            };
            (i64::from(u32::from(p)), i64::from(u32::from(q)), true)
        }
    };
    let step = step.unsigned_abs().max(1);
    if from.abs_diff(to) / step > 200 {
        return Some(None);
    }
    let width = if letters {
        0
    } else {
        [a, b]
            .iter()
            .filter(|t| t.trim_start_matches('-').starts_with('0'))
            .map(|t| t.len())
            .max()
            .unwrap_or(0)
    };
    let mut out = Vec::new();
    let mut now = from;
    loop {
        let one = if letters {
            char::from_u32(u32::try_from(now).unwrap_or(0)).unwrap_or(' ').to_string()
        } else {
            format!("{now:0width$}")
        };
        out.push(quoted(&one));
        let step = i64::try_from(step).unwrap_or(i64::MAX);
        now = if from <= to { now.saturating_add(step) } else { now.saturating_sub(step) };
        if (from <= to && now > to) || (from > to && now < to) {
            break;
        }
    }
    Some(Some(out))
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
