//! Expanding words: quotes, variables, braces, tildes and splitting, as far as the text tells.
//!
//! A word becomes a row of atoms first, each with the way it was quoted; braces, tildes and field
//! splitting then work on the row. What is known only at run time is an atom of its own, so that
//! it can never be mistaken for text.

use std::iter::Peekable;
use std::ops::Range;
use std::str::Chars;

use shuck_ast::{
    ArithmeticExpr, HeredocBody, HeredocBodyPart, HeredocBodyPartNode, LiteralText,
    ParameterExpansionSyntax, Span, Word, WordPart, WordPartNode,
};

use super::brace::expand_braces;
use super::doubt::{is_list, may_vanish};
use super::group::expand_groups;
use super::literal::push_literal;
use super::{Feed, Walker};
use crate::effect::value::Split;
use crate::effect::value::{Printer, Value};
use crate::limits;

mod atom;

pub(super) use atom::make_atom;
pub use atom::{
    Atom, Blank, Quote, atoms_of, expanded_keep, field_value, number_var, push_expanded,
    push_unknown_number, quoted_atoms,
};

impl Walker<'_> {
    pub(super) fn slice(&self, span: Span) -> &str {
        self.frame.source.get(span.start.offset()..span.end.offset()).unwrap_or_default()
    }

    /// The text behind it, to the end.
    pub(super) fn source_behind(&self, span: Span) -> &str {
        self.frame.source.get(span.end.offset()..).unwrap_or_default()
    }

    /// The fields that a word becomes.
    pub fn expand_word(&mut self, word: &Word) -> Vec<Value> {
        self.expand_all(&[word])
    }

    /// The fields that words side by side become together.
    pub fn expand_all(&mut self, words: &[&Word]) -> Vec<Value> {
        let (Some(first), Some(last)) = (words.first(), words.last()) else { return Vec::new() };
        let span = self.source_range(first.span).start..self.source_range(last.span).end;
        if let Some(text) = self.plain_word(words) {
            return vec![Value::known(text, span)];
        }
        let (mut fields, seen) = self.seeing_apart(|w| w.expand_fields(words, span));
        if seen != 0 {
            fields.iter_mut().for_each(|field| field.secrets |= seen);
        }
        fields
    }

    fn expand_fields(&mut self, words: &[&Word], span: Range<usize>) -> Vec<Value> {
        let atoms: Vec<Atom> = words.iter().flat_map(|w| self.word_atoms(w)).collect();
        let named = atoms.first() == Some(&Atom::Ch('=', Quote::Bare));
        let mut atoms = expand_groups(atoms, &mut Vec::new());
        if named && atoms == [Atom::Empty] {
            // zsh's `=(cmd)` holds what the command prints.
            self.pipes.push(Feed::Stream(Printer::Stranger));
            atoms = vec![Atom::Pipe(self.pipes.len() - 1)];
        }
        if self.frame.zsh && self.extended {
            atoms = super::group::without_exclusions(atoms);
        }
        let rows = if atoms.contains(&Atom::Ch('{', Quote::Bare)) {
            expand_braces(&atoms)
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
            let row = self.expand_tilde(row, assignment);
            self.split_row(&row, &span, &mut fields);
            if fields.len() > limits::FIELDS {
                return vec![Value::unknown(span)];
            }
        }
        fields
    }

    /// The text of a word in which there is nothing to expand, as most words are.
    fn plain_word(&self, words: &[&Word]) -> Option<&str> {
        let [Word { parts, .. }] = words else { return None };
        let [WordPartNode { kind: WordPart::Literal(LiteralText::Source), span }] = &parts[..]
        else {
            return None;
        };
        let plain = |byte| matches!(byte, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'/' | b'_' | b'-');
        let text = self.slice(*span);
        (!text.is_empty() && text.bytes().all(plain)).then_some(text)
    }

    /// The same as arguments: of what a substitution finds by name, the names as well.
    pub fn expand_arguments(&mut self, words: &[&Word]) -> Vec<Value> {
        self.found.clear();
        let mut fields = self.expand_all(words);
        if let Some(span) = fields.last().map(|last| last.span.clone()) {
            let found = self.found.drain(..);
            fields.extend(found.map(|value| Value { span: span.clone(), ..value }));
        }
        fields
    }

    /// The one value that a word is where nothing splits: assignments, redirections, `case`.
    pub fn expand_one(&mut self, word: &Word, assignment: bool) -> Value {
        let span = self.source_range(word.span);
        let (atoms, secrets) = self.seeing_apart(|w| w.expand_row(word, assignment));
        Value { secrets, ..field_value(&atoms, span) }
    }

    /// The unsplit row of a word.
    pub fn expand_row(&mut self, word: &Word, assignment: bool) -> Vec<Atom> {
        let atoms = self.word_atoms(word);
        let row = self.expand_tilde(atoms, assignment);
        row.into_iter()
            .map(|atom| match atom {
                // Nothing splits here, so an expansion is one word; globs stay inactive in an
                // assignment, and so they do in a redirection of a script.
                Atom::Ch(c, Quote::Expanded | Quote::Bare) if assignment => {
                    Atom::Ch(c, Quote::Quoted)
                }
                Atom::Ch(c, Quote::Expanded) => Atom::Ch(c, Quote::Bare),
                // Several words would be an error, and nothing would run.
                Atom::Unknown(blank) if blank.split > Split::Never => {
                    Atom::Unknown(Blank { split: Split::Never, ..blank })
                }
                other => other,
            })
            .collect()
    }

    /// `${${x}}`, in a string or bare; in quotes of its own it is text.
    fn nests_parameters(&self, part: &WordPartNode) -> bool {
        match &part.kind {
            WordPart::DoubleQuoted { parts, .. } => {
                parts.iter().any(|part| self.nests_parameters(part))
            }
            WordPart::Literal(_) | WordPart::SingleQuoted { .. } => false,
            _ => self.slice(part.span).starts_with("${${"),
        }
    }

    fn word_atoms(&mut self, word: &Word) -> Vec<Atom> {
        // What zsh makes of a parameter in a parameter nobody knows, and where it ends the parser does not.
        if word.parts.iter().any(|part| self.nests_parameters(part)) {
            return vec![Atom::unknown_text(false)];
        }
        let atoms =
            self.reread_word(word).unwrap_or_else(|| self.expand_parts(&word.parts, Quote::Bare));
        self.see_open_text(&atoms);
        atoms
    }

    pub(super) fn expand_parts(&mut self, parts: &[WordPartNode], quote: Quote) -> Vec<Atom> {
        let mut out = Vec::new();
        for (i, part) in parts.iter().enumerate() {
            if quote == Quote::Bare && self.is_brace_glued(parts, i) {
                out.push(Atom::unknown_text(false));
                continue;
            }
            // The parser ends a part within an escape: `{a,b}\$`.
            let cut = matches!(part.kind, WordPart::Literal(_)) && i + 1 < parts.len();
            if quote == Quote::Bare
                && cut
                && super::nested::ends_in_backslash(self.slice(part.span))
            {
                return vec![Atom::unknown_text(false)];
            }
            let from = out.len();
            self.expand_part(part, quote, &mut out);
            // `"$@"~/x`: no word begins with that tilde.
            let tilde = |next: &WordPartNode| self.slice(next.span).starts_with('~');
            if i == 0 && out.is_empty() && parts.get(1).is_some_and(tilde) {
                out.push(Atom::Empty);
            }
            let open = |a: &Atom| matches!(a, Atom::Ch(_, Quote::Pattern) | Atom::Unknown(_));
            // `x"$@"y`: only the first word has the x, and only the last the y. Which is it?
            if parts.len() > 1 && is_list(part) && out[from..].iter().any(open) {
                out.truncate(from);
                out.push(Atom::unknown_text(false));
            }
            // `build/$(ls)`: the shell splits what is printed, and only the first word begins with `build/`.
            let split = quote == Quote::Bare
                && parts.len() > 1
                && matches!(part.kind, WordPart::CommandSubstitution { .. });
            let listed = |a: &Atom| matches!(a, Atom::Ch(_, Quote::Pattern));
            let is_number = || out[from..] == number_var()[0][0][..];
            if split && out[from..].iter().any(listed) && !is_number() {
                self.emit_uncovered("words that are put together of a list", part.span);
            }
            if out.len() > limits::WORD {
                return vec![Atom::unknown_text(false)];
            }
        }
        out
    }

    pub(super) fn expand_part(&mut self, part: &WordPartNode, quote: Quote, out: &mut Vec<Atom>) {
        let inside = quote == Quote::Quoted;
        match &part.kind {
            // Inside `$(...)` the parser keeps a copy of the text as it is written.
            WordPart::Literal(LiteralText::Owned(text)) if &**text == self.slice(part.span) => {
                push_literal(text, quote, out)
            }
            // Of what stands behind braces it takes some escapes and leaves others.
            WordPart::Literal(LiteralText::Owned(text)) if text.contains('\\') => {
                self.push_cooked(self.slice(part.span), text, quote, out)
            }
            WordPart::Literal(LiteralText::Owned(text)) => {
                out.extend(text.chars().map(|c| make_atom(c, quote)));
            }
            WordPart::Literal(LiteralText::CookedSource(text)) => {
                self.push_cooked(self.slice(part.span), text, quote, out)
            }
            WordPart::Literal(_) => push_literal(self.slice(part.span), quote, out),
            WordPart::SingleQuoted { value, .. } => {
                let text = value.slice(&self.frame.source);
                // Inside a parameter's operand the escapes of `$'...'` are left in.
                let raw = self.slice(part.span);
                if inside && raw.starts_with('\'') {
                    // In a quoted parameter's operand they are characters.
                    let raw = raw.to_string();
                    return out.extend(quoted_atoms(&raw));
                }
                let inner = raw.strip_prefix("$'").and_then(|r| r.strip_suffix('\''));
                let left_in = |i: &str| {
                    text.contains('\\') && decode_ansi_quoted(i).is_none_or(|own| own != text)
                };
                if inner.is_some_and(left_in) {
                    out.push(Atom::unknown_text(true));
                    return;
                }
                if text.is_empty() {
                    out.push(Atom::Empty);
                }
                out.extend(quoted_atoms(text));
            }
            WordPart::DoubleQuoted { parts, .. } => {
                let inner = match (&parts[..], self.between_quotes(part.span)) {
                    // No expansion in it: nothing but what stands between the quotes.
                    ([WordPartNode { kind: WordPart::Literal(_), .. }], Some(text)) => {
                        let mut atoms = Vec::new();
                        push_literal(text, Quote::Quoted, &mut atoms);
                        atoms
                    }
                    _ => match self.reread_quoted(parts, part.span) {
                        Some(text) => text,
                        None => self.expand_parts(parts, Quote::Quoted),
                    },
                };
                // `"$@"` of nothing is nothing.
                if inner.is_empty() && !parts.iter().any(may_vanish) {
                    out.push(Atom::Empty);
                }
                out.extend(inner);
            }
            WordPart::Variable(name) => self.expand_variable(name.as_str(), inside, out),
            WordPart::CommandSubstitution { body, .. } => {
                let atoms = self.looking_past(|w| w.substitution_output(body));
                self.see_body(body);
                push_expanded(&atoms, inside, out);
            }
            WordPart::ArithmeticExpansion { .. }
                if self.disguised_subshell(part.span).is_some() =>
            {
                out.push(Atom::unknown_text(inside))
            }
            WordPart::ArithmeticExpansion { expression_ast, .. } => {
                match expression_ast.as_deref().map(|e| &e.kind) {
                    Some(ArithmeticExpr::Number(text)) => {
                        let text = text.slice(&self.frame.source).to_string();
                        out.extend(quoted_atoms(&text));
                    }
                    _ => push_unknown_number(out),
                }
            }
            WordPart::ProcessSubstitution { body, is_input } => {
                let feed = match *is_input {
                    true => self.looking_past(|w| w.list_output(body)),
                    false => Feed::None,
                };
                self.see_body(body);
                self.pipes.push(feed);
                out.push(Atom::Pipe(self.pipes.len() - 1));
            }
            WordPart::Parameter(parameter) => match &parameter.syntax {
                ParameterExpansionSyntax::Bourne(syntax) => {
                    self.expand_parameter(syntax, inside, out)
                }
                ParameterExpansionSyntax::Zsh(_) => out.push(Atom::unknown_text(inside)),
            },
            WordPart::ZshQualifiedGlob(_) => push_literal(self.slice(part.span), quote, out),
            WordPart::Length(_) | WordPart::ArrayLength(_) => push_unknown_number(out),
            WordPart::Substring { reference, offset_word_ast, length_word_ast, .. }
            | WordPart::ArraySlice { reference, offset_word_ast, length_word_ast, .. } => {
                self.slice_of(reference, offset_word_ast, length_word_ast.as_deref(), inside, out)
            }
            WordPart::IndirectExpansion { reference, operator: None, .. } => {
                self.expand_indirect(reference, inside, out)
            }
            WordPart::ArrayIndices(reference) => self.expand_indices(reference, inside, out),
            WordPart::Transformation { reference, operator } => {
                self.expand_transformed(reference, *operator, inside, out)
            }
            WordPart::ArrayAccess(reference) => self.expand_reference(reference, inside, out),
            WordPart::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                let operand = operand_word_ast.as_deref();
                self.expand_operation(reference, operator, operand, inside, out);
            }
            _ => out.push(Atom::unknown_text(inside && !may_vanish(part))),
        }
    }

    /// `~`, `~user`, at the start of a word, and behind `:` and `=` in an assignment.
    pub(super) fn expand_tilde(&mut self, row: Vec<Atom>, assignment: bool) -> Vec<Atom> {
        if !row.contains(&Atom::Ch('~', Quote::Bare)) {
            return row;
        }
        let mut out = Vec::with_capacity(row.len() + 16);
        let mut at = row.iter().take_while(|atom| **atom == Atom::Empty).count();
        // zsh: `''~/x`, which is a name like others to bash, and `~"/x"`.
        let tilde = row.get(at) == Some(&Atom::Ch('~', Quote::Bare));
        let behind = row.get(at + 1);
        let quoted = matches!(behind, Some(Atom::Empty | Atom::Ch('/', Quote::Quoted)));
        let only_zsh = tilde && (at > 0 || quoted);
        self.as_zsh |= only_zsh && !self.frame.zsh;
        if !(only_zsh && self.frame.zsh) {
            at = 0;
        }
        let first = at;
        while at < row.len() {
            let start = at == first
                || assignment && matches!(row[at - 1], Atom::Ch(':' | '=', Quote::Bare));
            if !(start && row[at] == Atom::Ch('~', Quote::Bare)) {
                out.push(row[at]);
                at += 1;
                continue;
            }
            let mut name = String::new();
            let mut end = at + 1;
            let mut plain = true;
            // zsh: `~$x`.
            let expands = matches!(row.get(end), Some(Atom::Ch(_, Quote::Expanded)));
            while let Some(atom) = row.get(end) {
                match atom {
                    Atom::Ch('/', Quote::Bare | Quote::Expanded) => break,
                    Atom::Ch('/', Quote::Quoted) if self.frame.zsh => break,
                    Atom::Empty if self.frame.zsh => {}
                    Atom::Ch(':', Quote::Bare) if assignment => break,
                    Atom::Ch(c, Quote::Bare | Quote::Expanded) => name.push(*c),
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
            if expands {
                self.emit_uncovered("a directory that only zsh finds", 0..0);
            }
            let home = self.out.place.home.clone();
            let own = home.rsplit('/').next() == Some(name.as_str()) && !name.is_empty();
            match name.as_str() {
                "" => {
                    // `HOME=/x; cd ~` goes to /x.
                    let mut atoms = Vec::new();
                    self.expand_variable("HOME", true, &mut atoms);
                    out.extend(atoms);
                }
                _ if own => out.extend(quoted_atoms(&home)),
                "+" => match self.cwd() {
                    Some(cwd) => out.extend(quoted_atoms(&cwd)),
                    None => out.push(Atom::unknown_text(true)),
                },
                "-" => self.expand_variable("OLDPWD", true, &mut out),
                "root" => out.extend(quoted_atoms("/root")),
                _ => out.push(Atom::unknown_text(true)),
            }
            at = end;
        }
        out
    }

    /// Splits a row into fields.
    fn split_row(&mut self, row: &[Atom], span: &Range<usize>, out: &mut Vec<Value>) {
        let separators = self.field_separators();
        let splits = |c: char| separators.as_ref().is_some_and(|s| s.contains(c));
        // zsh does not split what a variable holds. By blanks it makes no difference: no path has any.
        let marks = |c: char| !c.is_ascii_whitespace();
        let whole = self.frame.zsh;
        let split_by_mark =
            |atom: &Atom| matches!(atom, Atom::Ch(c, Quote::Expanded) if splits(*c) && marks(*c));
        self.as_zsh |= !whole && row.iter().any(split_by_mark);
        let mut field: Vec<Atom> = Vec::new();
        let mut open = false;
        // Has white space ended the field before? A mark behind it ends the same one.
        let mut ended = false;
        for atom in row {
            match atom {
                Atom::Break => {
                    if open {
                        out.push(field_value(&field, span.clone()));
                    }
                    field.clear();
                    open = false;
                }
                Atom::Ch(c, Quote::Expanded) if splits(*c) && !(whole && marks(*c)) => {
                    // Marks end a field even where there is nothing in it.
                    let mark = marks(*c);
                    if open || mark && !ended {
                        out.push(field_value(&field, span.clone()));
                    }
                    ended = !mark && (open || ended);
                    field.clear();
                    open = false;
                    continue;
                }
                Atom::Ch(_, Quote::Expanded) if separators.is_none() => {
                    field.push(Atom::unknown_text(false));
                    open = true;
                }
                Atom::Empty => open = true,
                other => {
                    field.push(*other);
                    open = true;
                }
            }
            ended = false;
        }
        if open {
            out.push(field_value(&field, span.clone()));
        }
    }

    /// The text of a heredoc, with blanks; None = a stranger prints some of it.
    pub fn heredoc_text(&mut self, body: &HeredocBody) -> Option<String> {
        let literal = |part: &HeredocBodyPartNode| match &part.kind {
            HeredocBodyPart::Literal(text) => {
                Some(text.as_str(&self.frame.source, part.span).to_string())
            }
            _ => None,
        };
        // Nothing in most of them is expanded, and they may be whole files.
        if let Some(text) = body.parts.iter().map(literal).collect() {
            return Some(text);
        }
        let mut atoms = Vec::new();
        for part in &body.parts {
            match &part.kind {
                HeredocBodyPart::Literal(text) => {
                    atoms.extend(quoted_atoms(text.as_str(&self.frame.source, part.span)));
                }
                HeredocBodyPart::Variable(name) => {
                    self.expand_variable(name.as_str(), true, &mut atoms)
                }
                HeredocBodyPart::CommandSubstitution { body, .. } => {
                    let printed = self.looking_past(|w| w.substitution_output(body));
                    push_expanded(&printed, true, &mut atoms);
                }
                HeredocBodyPart::ArithmeticExpansion { .. } => atoms.push(Atom::unknown_name()),
                HeredocBodyPart::Parameter(parameter) => match &parameter.syntax {
                    ParameterExpansionSyntax::Bourne(syntax) => {
                        self.expand_parameter(syntax, true, &mut atoms)
                    }
                    ParameterExpansionSyntax::Zsh(_) => atoms.push(Atom::unknown_text(true)),
                },
            }
        }
        let value = field_value(&atoms, 0..0);
        let text = value.sketch_text()?.to_string();
        self.tame = value.is_tame().then(|| text.clone());
        Some(text)
    }
}

/// What stands between `$'` and `'`, its escapes resolved; `None` where one of them is not the same in every shell.
fn decode_ansi_quoted(inner: &str) -> Option<String> {
    let mut chars = inner.chars().peekable();
    let mut text = String::new();
    while let Some(c) = chars.next() {
        if c != '\\' {
            text.push(c);
            continue;
        }
        text.push(match chars.next()? {
            'a' => '\x07',
            'b' => '\x08',
            'e' => '\x1b',
            'f' => '\x0c',
            'n' => '\n',
            'r' => '\r',
            't' => '\t',
            'v' => '\x0b',
            same @ ('\\' | '\'' | '"') => same,
            'x' => decode_char_code(&mut chars, 0, 2, 16)?,
            'u' => decode_char_code(&mut chars, 0, 4, 16)?,
            'U' => decode_char_code(&mut chars, 0, 8, 16)?,
            digit => decode_char_code(&mut chars, digit.to_digit(8)?, 2, 8)?,
        });
    }
    Some(text)
}

/// A character by its number, of which at most `most` digits follow what was read: ASCII alone, as the shells differ about the rest.
fn decode_char_code(
    chars: &mut Peekable<Chars>,
    read: u32,
    most: usize,
    radix: u32,
) -> Option<char> {
    let mut number = read;
    for _ in 0..most {
        let Some(digit) = chars.peek().and_then(|c| c.to_digit(radix)) else { break };
        number = number * radix + digit;
        chars.next();
    }
    u8::try_from(number).ok().filter(|n| (1..0x80).contains(n)).map(char::from)
}
