//! Finding the commands inside words: substitutions in quotes, parameters, patterns, arithmetic.

use shuck_ast::{
    ArrayElem, ArrayExpr, Assignment, AssignmentValue, CommandSubstitutionSyntax, HeredocBody,
    HeredocBodyPart, Pattern, PatternPart, Span, StmtSeq, Subscript, VarRef, Word, WordPart,
    WordPartNode,
};

use super::group::expand_groups;
use super::marks::has_bare;
use super::word::{Atom, Quote};
use super::{Feed, Walker};
use crate::effect::value::{Printer, Value};

mod arithmetic;
mod parameter;

impl Walker<'_> {
    /// Walks what a word runs.
    pub fn visit_word(&mut self, word: &Word) {
        self.check_word_end(word);
        if self.source_behind(word.span).starts_with("(#") {
            self.emit_unseen("a glob of zsh that may run a command", word.span);
        }
        self.zsh_text(&word.parts, false);
        self.visit_parts(&word.parts, Quote::Bare);
        let raw = self.frame.source.get(word.span.start.offset()..word.span.end.offset());
        let Some(raw) = raw.filter(|r| r.contains('(') && (r.starts_with('=') || r.ends_with(')')))
        else {
            return;
        };
        let range = self.source_range(word.span);
        if let Some(inner) = raw.strip_prefix("=(").and_then(|r| r.strip_suffix(')')) {
            // zsh: the name of a file that holds what the command prints.
            let inner = inner.to_string();
            let mark = self.state.mark();
            self.walk_nested(&inner, range, self.frame.parent);
            self.state.rollback(mark);
            return;
        }
        if !raw.starts_with(['$', '"', '\'', '<', '>', '`']) {
            let mut runs = Vec::new();
            let atoms = self.without_choosing(|w| w.expand_parts(&word.parts, Quote::Bare));
            expand_groups(atoms, &mut runs);
            for text in runs {
                self.walk_nested(&text, range.clone(), self.frame.parent);
            }
        }
    }

    fn visit_parts(&mut self, parts: &[WordPartNode], quote: Quote) {
        for (at, part) in parts.iter().enumerate() {
            if !self.has_room() {
                return;
            }
            if let WordPart::Variable(name) = &part.kind {
                self.whole_array(name.as_str(), parts.get(at + 1), part.span);
            }
            let before = self.substitutions;
            self.doubt_parameter_end(part.span, quote);
            self.visit_part(&part.kind, part.span);
            self.doubt_expansion(part.span, before);
        }
    }

    /// An expansion whose commands were not walked: nothing of it has run since so many substitutions.
    fn doubt_expansion(&mut self, span: Span, before: usize) {
        let raw = self.slice(span);
        if !raw.starts_with("${") {
            return;
        }
        if self.substitutions == before && runs_in_operand(raw) {
            self.emit_unseen("an expansion that no table knows", span);
        } else if raw[2..].contains("${(") {
            // zsh: flags in an expansion of an expansion, of which one evaluates.
            self.emit_unseen("a zsh parameter expansion", span);
        }
    }

    /// zsh: `$a` is all elements of an array, and `$a[x]` the one that arithmetic names.
    pub(super) fn whole_array(&mut self, name: &str, next: Option<&WordPartNode>, span: Span) {
        let several = self
            .state
            .find_variable(name)
            .is_some_and(|values| values.iter().any(|words| words.len() > 1));
        if several {
            self.emit_uncovered("an array that zsh takes as a whole", span);
            self.as_zsh = true;
        }
        let subscript = next.map_or("", |next| self.slice(next.span));
        if let Some((text, _)) = subscript.strip_prefix('[').and_then(|text| text.split_once(']')) {
            let value = Value::known(text, self.source_range(span));
            self.evaluates_value(&value);
            self.special_element(name, self.source_range(span));
        }
    }

    /// Walks `${ command; }`; is it one?
    fn visit_braces(&mut self, span: Span) -> bool {
        let text = command_in_braces(self.slice(span)).map(str::to_string);
        if let Some(text) = &text {
            let range = self.source_range(span);
            self.walk_nested(text, range, self.frame.parent);
        }
        text.is_some()
    }

    fn visit_part(&mut self, part: &WordPart, span: Span) {
        if self.visit_braces(span) {
            return;
        }
        match part {
            // What is nested too deep the parser hands on as it is written.
            WordPart::Literal(_) if has_substitution(self.slice(span)) => {
                self.emit_unseen("a substitution nested too deep", span);
            }
            WordPart::Variable(name)
                if name.as_str() == "OLDPWD" && self.state.is_set(&super::StateKey::Astray) =>
            {
                self.emit_uncovered("a directory that `cd` may not have left", span);
            }
            // The command of such a glob, if it has one, is found with the word's groups.
            WordPart::ZshQualifiedGlob(_)
            | WordPart::Literal(_)
            | WordPart::SingleQuoted { .. }
            | WordPart::Variable(_)
            | WordPart::PrefixMatch { .. } => {}
            WordPart::DoubleQuoted { parts, .. } => {
                self.doubt_backticks(parts, span);
                self.doubt_string_end(parts, span);
                self.zsh_text(parts, true);
                self.visit_parts(parts, Quote::Quoted);
            }
            WordPart::CommandSubstitution { body, syntax } => {
                self.walk_substitution(body, *syntax, span)
            }
            WordPart::ProcessSubstitution { body, is_input } => {
                self.doubt_body(body, span);
                let feed = match is_input {
                    true => self.feed.clone(),
                    false => Feed::Stream(Printer::Stranger),
                };
                let first = self.out.analysis.commands.len();
                self.printing_apart(body, |w| {
                    w.fed_with(feed, |w| {
                        w.in_background(|w| w.in_subshell(|w| w.walk_list(body)));
                    })
                });
                if !*is_input {
                    self.flow.outward.push(first..self.out.analysis.commands.len());
                }
            }
            WordPart::ArithmeticExpansion { expression_ast, expression_word_ast, .. } => {
                let raw = self.slice(span);
                // Tried as arithmetic first, where quotes keep nothing from running.
                if raw.contains('\'') && raw.get(1..).is_some_and(|raw| raw.contains("$(")) {
                    self.emit_unseen("arithmetic with a quoted command", span);
                }
                if let Some(text) = self.disguised_subshell(span) {
                    return self.walk_in_subshell(&text, span);
                }
                let raw = self.slice(span);
                let runs = raw.contains("<(") || raw.contains(">(");
                let lines = raw.contains('\n') && expression_ast.is_none();
                if raw.contains(';') || lines || runs && raw.contains('"') {
                    // Its end, and so what it is, the parser gets wrong.
                    self.emit_unseen("arithmetic that may be a subshell", span);
                }
                self.walk_arithmetic(expression_ast.as_deref(), Some(expression_word_ast), span);
            }
            WordPart::Parameter(parameter) => self.visit_parameter(parameter, span),
            WordPart::ParameterExpansion { reference, operator, operand_word_ast, .. } => {
                self.visit_reference(reference);
                self.visit_operation(Some(operator), operand_word_ast.as_deref());
            }
            WordPart::Length(r)
            | WordPart::ArrayAccess(r)
            | WordPart::ArrayLength(r)
            | WordPart::ArrayIndices(r) => self.visit_reference(r),
            WordPart::Transformation { reference, operator } => {
                self.visit_reference(reference);
                self.walk_transformation(reference, *operator, span);
            }
            WordPart::Substring {
                reference,
                offset_word_ast,
                length_word_ast,
                offset_ast,
                length_ast,
                ..
            }
            | WordPart::ArraySlice {
                reference,
                offset_word_ast,
                length_word_ast,
                offset_ast,
                length_ast,
                ..
            } => {
                self.visit_slice(
                    reference,
                    (offset_ast.as_deref(), offset_word_ast),
                    (length_ast.as_deref(), length_word_ast.as_deref()),
                    span,
                );
            }
            WordPart::IndirectExpansion { reference, operator, operand_word_ast, .. } => {
                self.visit_reference(reference);
                self.named_element(reference, span);
                self.visit_operation(operator.as_deref(), operand_word_ast.as_deref());
            }
        }
    }

    /// `$(...)`, or backticks, whose own escapes the parser takes away from the text it points to.
    fn walk_substitution(&mut self, body: &StmtSeq, syntax: CommandSubstitutionSyntax, span: Span) {
        self.printing_apart(body, |w| w.walk_substituted(body, syntax, span));
    }

    fn walk_substituted(&mut self, body: &StmtSeq, syntax: CommandSubstitutionSyntax, span: Span) {
        self.substitutions += 1;
        let raw = self.slice(span);
        if syntax == CommandSubstitutionSyntax::Backtick && raw.contains('\\') {
            let mut text = String::new();
            let inner = raw.trim_start_matches('`');
            let inner = inner.strip_suffix('`').unwrap_or(inner);
            let mut chars = inner.chars().peekable();
            while let Some(c) = chars.next() {
                if c == '\\' && chars.peek().is_some_and(|n| matches!(n, '$' | '`' | '\\' | '"')) {
                    continue_with(&mut text, chars.next());
                } else {
                    text.push(c);
                }
            }
            return self.walk_in_subshell(&text, span);
        }
        if body.stmts.is_empty()
            && let Some(text) = raw.strip_prefix("$(").and_then(|t| t.strip_suffix(')'))
            && !text.trim().is_empty()
        {
            // The parser gave up on it without a word.
            let text = text.to_string();
            return self.walk_in_subshell(&text, span);
        }
        self.doubt_body(body, span);
        self.in_subshell(|w| w.walk_list(body));
    }

    /// Walks text that a subshell runs, as the shell reads it.
    pub(super) fn walk_in_subshell(&mut self, text: &str, span: Span) {
        let range = self.source_range(span);
        let mark = self.state.mark();
        self.walk_nested(text, range, self.frame.parent);
        self.state.rollback(mark);
    }

    /// `$((a); b)`: looks like arithmetic, but its brackets are those of a subshell inside `$(...)`,
    /// whose text this is.
    pub(super) fn disguised_subshell(&self, span: Span) -> Option<String> {
        let raw = self.frame.source.get(span.start.offset()..span.end.offset())?;
        hidden_subshells(raw.strip_prefix('$')?)
    }

    /// `((a); b)`: the same where it is a command, from the first bracket on.
    pub(super) fn disguised_command(&self, start: usize) -> Option<String> {
        let rest = self.frame.source.get(start..)?;
        let inner = rest.strip_prefix("((")?;
        let at = closing_parenthesis(inner, true);
        let arithmetic = at == closing_parenthesis(inner, false)
            && at.is_some_and(|at| inner[at + 1..].starts_with(')'));
        if arithmetic {
            return None;
        }
        let body = &rest[1..];
        let end = closing_parenthesis(body, true).map_or(body.len(), |end| end + 1);
        Some(format!("( {}", &body[..end]))
    }

    /// Walks what a pattern runs.
    pub fn visit_pattern(&mut self, pattern: &Pattern) {
        for part in &pattern.parts {
            if !self.has_room() {
                return;
            }
            match &part.kind {
                PatternPart::Group { patterns, .. } => {
                    for pattern in patterns {
                        self.visit_pattern(pattern);
                    }
                }
                PatternPart::Word(word) => self.visit_word(word),
                _ => {}
            }
        }
    }

    /// `${!r}`: the text names a variable, or an element of one.
    pub(super) fn named_element(&mut self, reference: &VarRef, span: Span) {
        let named = self.state.find_variable(reference.name.as_str());
        let element = named.is_some_and(|values| {
            values.iter().flatten().any(|row| row.iter().any(|a| matches!(a, Atom::Ch('[', _))))
        });
        if element {
            let span = self.source_range(span);
            self.evaluate_name(reference.name.as_str(), &span);
        }
    }

    /// Walks what a subscript runs.
    pub fn visit_reference(&mut self, reference: &VarRef) {
        if let Some(subscript) = &reference.subscript {
            self.special_element(reference.name.as_str(), self.source_range(reference.span));
            self.visit_subscript(subscript);
        }
    }

    fn visit_subscript(&mut self, subscript: &Subscript) {
        if subscript.is_array_selector() {
            return;
        }
        match (&subscript.arithmetic_ast, &subscript.word_ast) {
            (_, Some(word)) => {
                self.visit_word(word);
                self.evaluates_word(word);
            }
            (Some(node), None) => self.visit_arithmetic(node),
            (None, None) => {
                let text = subscript.syntax_text(&self.frame.source);
                if text.contains("$(") || text.contains('`') {
                    self.emit_unseen("a command inside a subscript", subscript.span());
                }
            }
        }
    }

    /// Walks what an assignment's value runs.
    pub fn visit_assignment(&mut self, assignment: &Assignment) {
        let target = &assignment.target;
        let raw = self.slice(target.span);
        let ends = |(_, rest): (&str, &str)| !has_bare(rest, b" \t\n\r;&|<>#()");
        if target.subscript.is_some() && !raw.split_once('[').is_some_and(ends) {
            self.emit_unseen("a subscript that may end elsewhere", target.span);
        }
        self.visit_reference(target);
        match &assignment.value {
            AssignmentValue::Scalar(word) => {
                let array =
                    |at| self.frame.source.get(at..).is_some_and(|text| text.starts_with('('));
                if array(word.span.start.offset()) {
                    self.emit_unseen("an array that may end elsewhere", assignment.span);
                }
                self.visit_whole_word(word);
            }
            AssignmentValue::Compound(array) => {
                self.doubt_end(array, assignment.span);
                for element in &array.elements {
                    match element {
                        ArrayElem::Sequential(word) => {
                            self.doubt_array(word);
                            self.visit_whole_word(word);
                        }
                        ArrayElem::Keyed { key, value } | ArrayElem::KeyedAppend { key, value } => {
                            self.visit_subscript(key);
                            self.visit_whole_word(value);
                        }
                    }
                }
            }
        }
    }

    /// `x=(>({a)); cmd }`: inside of the substitution the brace takes what stands behind the array.
    fn doubt_end(&mut self, array: &ArrayExpr, span: Span) {
        let raw = self.slice(span);
        let inner = raw.split_once('(').and_then(|(_, rest)| rest.strip_suffix(')'));
        let next = self.source_behind(span).bytes().next();
        let inner = inner.filter(|_| next.is_none_or(|next| b" \t\r\n;&|)<>`}".contains(&next)));
        if inner.is_none_or(|inner| has_bare(inner, b";&|<>()")) {
            // The parser takes what follows for the array's, where a shell tells a fault and goes on in the next line.
            return self.emit_unseen("an array that may end elsewhere", span);
        }
        let ends = array.elements.iter().map(|element| match element {
            ArrayElem::Sequential(word) => word.span.end.offset(),
            ArrayElem::Keyed { value, .. } | ArrayElem::KeyedAppend { value, .. } => {
                value.span.end.offset()
            }
        });
        let start = span.start.offset();
        let Some(raw) = ends.max().and_then(|end| self.frame.source.get(start..end)) else {
            return;
        };
        let Some((_, inner)) = raw.split_once('(') else { return };
        let nests = inner.contains('{') && (inner.contains(">(") || inner.contains("<("));
        if nests && closing_parenthesis(inner, true).is_some() {
            self.emit_unseen("an array that is not understood", span);
        }
    }

    /// Walks what a heredoc that expands runs.
    pub fn visit_heredoc(&mut self, body: &HeredocBody) {
        if !body.mode.expands() {
            return;
        }
        for part in &body.parts {
            if !self.has_room() {
                return;
            }
            if self.visit_braces(part.span) {
                continue;
            }
            let before = self.substitutions;
            match &part.kind {
                HeredocBodyPart::Literal(_) | HeredocBodyPart::Variable(_) => {}
                HeredocBodyPart::CommandSubstitution { body, syntax } => {
                    self.walk_substitution(body, *syntax, part.span)
                }
                HeredocBodyPart::ArithmeticExpansion {
                    expression_ast,
                    expression_word_ast,
                    ..
                } => match self.disguised_subshell(part.span) {
                    Some(text) => self.walk_in_subshell(&text, part.span),
                    None => self.walk_arithmetic(
                        expression_ast.as_deref(),
                        Some(expression_word_ast),
                        part.span,
                    ),
                },
                HeredocBodyPart::Parameter(parameter) => self.visit_parameter(parameter, part.span),
            }
            self.doubt_expansion(part.span, before);
        }
    }
}

/// Does a substitution begin in the text that no backslash takes away?
fn has_substitution(raw: &str) -> bool {
    let mut escaped = false;
    raw.bytes().zip(raw.bytes().skip(1)).any(|pair| {
        let was = escaped;
        escaped = pair.0 == b'\\' && !was;
        !was && matches!(pair, (b'$', b'(') | (b'$', b'{'))
    })
}

/// Does a substitution stand in the expansion outside of single quotes?
fn runs_in_operand(raw: &str) -> bool {
    let inner: String = raw.split('\'').step_by(2).collect();
    let runs = |at: usize| !inner[..at].ends_with('\\');
    inner.match_indices("$(").chain(inner.match_indices('`')).any(|(at, _)| runs(at))
}

/// What a shell runs of `((...))` that is no arithmetic: it is that only where the parenthesis that closes the second
/// `(` is followed at once by `)`, with or without a look at quotes.
fn hidden_subshells(raw: &str) -> Option<String> {
    let inner = raw.strip_prefix("((")?.strip_suffix(')')?;
    let last = inner.strip_suffix(')').map(str::len);
    let arithmetic = last.is_some()
        && closing_parenthesis(inner, true) == last
        && closing_parenthesis(inner, false) == last;
    (!arithmetic).then(|| format!("({inner}"))
}

/// Where the parenthesis closes that is open in front of the text.
fn closing_parenthesis(text: &str, quotes: bool) -> Option<usize> {
    let mut open = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        if std::mem::take(&mut escaped) {
            continue;
        }
        match (byte, quote) {
            (b'\\', None | Some(b'"')) if quotes => escaped = true,
            (_, Some(kind)) => quote = (byte != kind).then_some(kind),
            (b'\'' | b'"', None) if quotes => quote = Some(byte),
            (b'(', None) => open += 1,
            (b')', None) if open == 0 => return Some(at),
            (b')', None) => open -= 1,
            _ => {}
        }
    }
    None
}

fn continue_with(text: &mut String, next: Option<char>) {
    if let Some(c) = next {
        text.push(c);
    }
}

/// `${ command; }` and `${| command; }` (Bash 5.3, ksh, zsh): what they run, in this very shell.
fn command_in_braces(raw: &str) -> Option<&str> {
    let inner = raw.strip_prefix("${")?;
    let inner = inner.strip_prefix('|').or_else(|| inner.strip_prefix([' ', '\t', '\n']))?;
    Some(inner.strip_suffix('}').unwrap_or(inner))
}
