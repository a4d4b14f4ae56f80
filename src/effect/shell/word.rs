//! Expanding words: quotes, variables, braces, tildes and splitting, as far as the text tells.
//!
//! A word becomes a row of atoms first, each with the way it was quoted; braces, tildes and field
//! splitting then work on the row. What is known only at run time is an atom of its own, so that
//! it can never be mistaken for text.

use std::ops::Range;

use shuck_ast::{
    ArithmeticExpr, BourneParameterExpansion, HeredocBody, HeredocBodyPart, LiteralText,
    ParameterExpansionSyntax, Span, Word, WordPart, WordPartNode,
};

use super::Walker;
use super::brace::braces;
use super::literal::literal;
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
pub const MAX_FIELDS: usize = 256;

/// The text as quoted atoms.
pub fn quoted(text: &str) -> Vec<Atom> {
    text.chars().map(|c| Atom::Ch(c, Quote::Quoted)).collect()
}

impl Walker<'_> {
    pub(super) fn slice(&self, span: Span) -> &str {
        self.source.get(span.start.offset()..span.end.offset()).unwrap_or_default()
    }

    /// The fields that a word becomes.
    pub fn expand(&mut self, word: &Word) -> Vec<Value> {
        self.expand_all(&[word])
    }

    /// The fields that words side by side become together.
    pub fn expand_all(&mut self, words: &[&Word]) -> Vec<Value> {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return Vec::new() };
        let span = self.range(first.span).start..self.range(last.span).end;
        let atoms: Vec<Atom> =
            words.iter().flat_map(|w| self.atoms(&w.parts, Quote::Bare)).collect();
        let rows = if atoms.contains(&Atom::Ch('{', Quote::Bare)) {
            braces(&atoms)
        } else {
            Some(vec![atoms])
        };
        let Some(rows) = rows else { return vec![Value::unknown(span)] };
        let mut fields = Vec::new();
        for row in rows {
            // `dd of=~/x`: what looks like an assignment has its tilde expanded too.
            let name = row.iter().take_while(|a| **a != Atom::Ch('=', Quote::Bare));
            let assignment = name.clone().count() < row.len()
                && name.clone().all(|a| {
                    matches!(a, Atom::Ch(c, Quote::Bare) if c.is_ascii_alphanumeric() || *c == '_')
                });
            let row = self.tilde(row, assignment);
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

    pub(super) fn atoms(&mut self, parts: &[WordPartNode], quote: Quote) -> Vec<Atom> {
        let mut out = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            if quote == Quote::Bare && self.glued(parts, i) {
                out.push(Atom::Unknown { one: false, fed: false });
                continue;
            }
            self.part(part, quote, &mut out);
            if out.len() > super::MAX_TEXT * 2 {
                return vec![Atom::Unknown { one: false, fed: false }];
            }
        }
        out
    }

    pub(super) fn part(&mut self, part: &WordPartNode, quote: Quote, out: &mut Vec<Atom>) {
        let inside = quote == Quote::Quoted;
        match &part.kind {
            // In a nested command the text is a copy of the source, escapes and all.
            WordPart::Literal(LiteralText::Owned(text)) if self.slice(part.span) != &**text => {
                out.extend(text.chars().map(|c| Atom::Ch(c, quote)));
            }
            WordPart::Literal(LiteralText::CookedSource(text)) if quote == Quote::Bare => {
                self.cooked(text, part.span, out);
            }
            WordPart::Literal(_) => literal(self.slice(part.span), quote, out),
            WordPart::SingleQuoted { value, .. } => {
                let text = value.slice(&self.source);
                // Inside a parameter's operand the escapes of `$'...'` are left in.
                let raw = self.slice(part.span);
                let inner = raw.strip_prefix("$'").and_then(|r| r.strip_suffix('\''));
                if inner.is_some_and(|i| i.contains('\\') && text.contains('\\') && i != "\\\\") {
                    out.push(Atom::Unknown { one: true, fed: false });
                    return;
                }
                if text.is_empty() {
                    out.push(Atom::Empty);
                }
                out.extend(text.chars().map(|c| Atom::Ch(c, Quote::Quoted)));
            }
            WordPart::DoubleQuoted { parts, .. } => {
                let inner = match self.misplaced(parts, part.span) {
                    Some(text) => text,
                    None => self.atoms(parts, Quote::Quoted),
                };
                // `"$@"` of nothing is nothing.
                if inner.is_empty() && !parts.iter().any(super::doubt::vanishes) {
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
                ParameterExpansionSyntax::Bourne(BourneParameterExpansion::Slice { .. }) => {
                    let one = inside && !super::doubt::vanishes(part);
                    out.push(Atom::Unknown { one, fed: false });
                }
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
            _ => {
                let one = inside && !super::doubt::vanishes(part);
                out.push(Atom::Unknown { one, fed: false });
            }
        }
    }

    /// `~`, `~user`, at the start of a word, and behind `:` and `=` in an assignment.
    pub(super) fn tilde(&mut self, row: Vec<Atom>, assignment: bool) -> Vec<Atom> {
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
                    Atom::Ch('/', Quote::Bare) => break,
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
        (None, None) => vec![Atom::Unknown { one: value.one, fed: value.fed }],
    }
}

/// A variable's atoms as they come out of an expansion.
pub fn expanded(atoms: &[Atom], inside: bool, out: &mut Vec<Atom>) {
    // Nothing, unquoted, is no word.
    let shown = atoms.iter().filter(|atom| inside || **atom != Atom::Empty);
    out.extend(shown.map(|atom| match atom {
        Atom::Ch(c, Quote::Pattern) => Atom::Ch(*c, Quote::Pattern),
        Atom::Ch(c, _) if inside => Atom::Ch(*c, Quote::Quoted),
        Atom::Ch(c, _) => Atom::Ch(*c, Quote::Expanded),
        Atom::Unknown { one, fed } => Atom::Unknown { one: *one || inside, fed: *fed },
        other => *other,
    }));
}

/// The same for text that was written in place: quoted stays quoted.
pub fn expanded_keep(atoms: &[Atom], inside: bool, out: &mut Vec<Atom>) {
    out.extend(atoms.iter().map(|atom| match atom {
        Atom::Ch(c, Quote::Bare) if inside => Atom::Ch(*c, Quote::Quoted),
        Atom::Ch(c, Quote::Bare) => Atom::Ch(*c, Quote::Expanded),
        other => *other,
    }));
}

/// A number that is known only at run time.
pub fn number(out: &mut Vec<Atom>) {
    out.extend("[-0-9]*".chars().map(|c| Atom::Ch(c, Quote::Pattern)));
}

/// A variable that holds some number.
pub fn number_var() -> super::state::Var {
    let mut atoms = Vec::new();
    number(&mut atoms);
    vec![vec![atoms]]
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
    Value { text: None, prefix, fed, one: one && !glob, span, ..Value::default() }
}
