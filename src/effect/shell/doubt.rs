//! Words that the parser may have read otherwise than a shell does.
//!
//! A `{` at the start of a word makes the parser take everything up to the matching `}` as text,
//! blanks and `;` included, and stop short at what follows it. Such a word is recognised by its own
//! text in the source.

use shuck_ast::{
    BourneParameterExpansion, Command, CommandSubstitutionSyntax, DeclClause, DeclOperand,
    FunctionDef, ParameterExpansionSyntax, Span, Stmt, StmtSeq, SubscriptSelector, Word, WordPart,
    WordPartNode,
};

use super::Walker;
use super::ends::{Ends, compare_ends};
use super::nested::ends_in_backslash;
use super::word::Quote;

impl Walker<'_> {
    /// Says so where a word's text in the source is more, or less, than one word.
    pub(super) fn check_word_end(&mut self, word: &Word) {
        let (start, end) = (word.span.start.offset(), word.span.end.offset());
        let Some(raw) = self.frame.source.get(start..end) else { return };
        if !raw.starts_with('{') && !raw.contains("\\{") {
            return;
        }
        let next = self.frame.source.get(end..).and_then(|rest| rest.bytes().next());
        let cut = raw.ends_with('$') && matches!(next, Some(b'(' | b'{' | b'"' | b'\''))
            || ends_in_backslash(raw);
        if cut || ends_early(raw) {
            self.emit_unseen("a brace at the start of a word that does not close there", word.span);
        }
    }
}

impl Walker<'_> {
    /// Walks a word of a command, as against one inside of an expansion: it holds no mark of the grammar unless it is quoted.
    pub(super) fn visit_whole_word(&mut self, word: &Word) {
        self.doubt_literals(word);
        self.visit_word(word);
    }

    fn doubt_literals(&mut self, word: &Word) {
        let marked = |part: &WordPartNode| {
            matches!(part.kind, WordPart::Literal(_)) && ends_word(self.slice(part.span))
        };
        // `eval x=(a`: an array, or a fault.
        let array =
            self.slice(word.span).ends_with('=') && self.source_behind(word.span).starts_with('(');
        // `let x = (ls | length)` of Nushell: one word to the parser, and to no other shell a command.
        let nushell = self.slice(word.span).starts_with("= (");
        if array || !nushell && word.parts.iter().any(marked) {
            self.emit_unseen("a word that may end elsewhere", word.span);
        }
    }

    /// `declare x=({a b); cmd`: the brace takes all that is behind it, and the array is lost.
    pub(super) fn doubt_declaration(&mut self, decl: &DeclClause) {
        let ends = decl.operands.iter().map(|operand| match operand {
            DeclOperand::Flag(word) | DeclOperand::Dynamic(word) => word.span.end.offset(),
            DeclOperand::Name(reference) => reference.span.end.offset(),
            DeclOperand::Assignment(assignment) => assignment.span.end.offset(),
        });
        let rest = ends.max().and_then(|end| self.frame.source.get(end..decl.span.end.offset()));
        if rest.is_some_and(|rest| rest.starts_with('(')) {
            self.emit_unseen("an array that is not understood", decl.span);
        }
    }

    /// bash writes a substitution in an array down anew, and where a heredoc stands in it the text
    /// becomes another one.
    pub(super) fn doubt_array(&mut self, word: &Word) {
        let heredoc = |p: &WordPartNode| {
            let raw = self.frame.source.get(p.span.start.offset()..p.span.end.offset());
            matches!(p.kind, WordPart::CommandSubstitution { .. })
                && raw.is_some_and(|raw| raw.replace("<<<", "").contains("<<"))
        };
        if word.parts.iter().any(heredoc) {
            self.emit_unseen("a heredoc inside an array", word.span);
        }
    }

    /// `f() cmd`, `function` and its name in the next line: to bash a fault, to zsh a function of one command, or one without a
    /// name.
    pub(super) fn doubt_function(&mut self, function: &FunctionDef) {
        let entries = &function.header.entries;
        let start = function.span.start.offset();
        let before = entries.first().map_or(start, |entry| entry.word.span.start.offset());
        let odd = ['<', '>', '&', '[', '|', '(', '`', '"', '\''];
        let sound = matches!(function.body.command, Command::Compound(_))
            && !self.frame.source.get(start..before).unwrap_or_default().contains('\n')
            && !entries.iter().any(|entry| self.slice(entry.word.span).contains(odd));
        if !sound {
            self.emit_unseen("a function without braces", function.span);
        }
        self.doubt_heredocs_in(function);
    }

    /// A fault inside `$(...)` or `<(...)` is not told by the parser: what it did not take is left.
    pub(super) fn doubt_body(&mut self, body: &StmtSeq, span: Span) {
        let (start, end) = (span.start.offset(), span.end.offset());
        let raw = self.slice(span);
        let head = if raw.starts_with('`') { 1 } else { 2 };
        let from = body.stmts.last().map_or(start + head, |last| {
            let ends = last.redirects.iter().map(|r| r.span.end.offset());
            ends.chain([last.span.end.offset()]).max().unwrap_or_default()
        });
        // In a string with escapes the place may be wrong.
        let whole = (raw.starts_with("$(") || raw.starts_with("<(") || raw.starts_with(">("))
            && raw.ends_with(')')
            || raw.starts_with('`') && raw.ends_with('`');
        let whole = whole
            && body.stmts.first().is_none_or(|first| first.span.start.offset() >= start + head)
            && from < end;
        let missed = match self.frame.source.get(from..end.saturating_sub(1)) {
            // Behind a heredoc's command stands its text.
            _ if raw.contains("<<") && !body.stmts.is_empty() => false,
            Some(rest) if whole => holds_more(rest),
            _ => body.stmts.is_empty(),
        };
        if missed && raw != "``" {
            self.emit_unseen("a substitution that is not understood", span);
        }
    }

    /// The parser may stop at a fault that a shell goes on behind, and tell none: what is left of the text.
    pub(super) fn doubt_rest(&mut self, body: &StmtSeq) {
        let ends = |stmt: &Stmt| {
            let redirects = stmt.redirects.iter().map(|r| r.span.end.offset());
            redirects.chain([stmt.span.end.offset()]).max().unwrap_or_default()
        };
        let starts = body.stmts.iter().skip(1).map(|next| next.span.start.offset());
        let starts = starts.chain([self.frame.source.len()]);
        let mut missed = body.stmts.is_empty() && holds_more(&self.frame.source);
        for (stmt, next) in body.stmts.iter().zip(starts) {
            let between = self.frame.source.get(ends(stmt)..next);
            // Behind a heredoc's command stands its text.
            let opens = |rest: &str| holds_more(&rest.replace(['(', '{', '!'], " "));
            missed |= !self.slice(stmt.span).contains("<<") && between.is_some_and(opens);
        }
        // What is not arithmetic is walked again from its text.
        if missed && !self.frame.source.contains("$((") {
            let span = self.frame.fixed.clone().unwrap_or(0..self.frame.source.len());
            self.emit_unseen("a part that is not understood", span);
        }
    }

    /// `${x:-<(cmd)}` runs the command, and so does `"${x+$'`cmd`'}"`; the parser sees text.
    pub(super) fn doubt_operand(&mut self, word: &Word) {
        let raw = self.slice(word.span);
        // In a string the quotes around `'$(cmd)'` are text.
        let quoted = raw.contains('\'') && (raw.contains("$(") || raw.contains('`'));
        // `"${x+'a"b'}"`: the string ends within what the parser takes for quotes of their own.
        let ends = raw.find('"').is_some_and(|at| raw[..at].contains('\''));
        if quoted || ends || raw.contains("<(") || raw.contains(">(") || raw.contains("$'") {
            self.emit_unseen("a parameter whose operand runs something", word.span);
        }
    }

    /// `"${x-{}"; cmd; "}"`: the parser ends the parameter, and so the string, elsewhere than a shell does.
    pub(super) fn doubt_parameter_end(&mut self, span: Span, quote: Quote) {
        let raw = self.slice(span);
        let in_string = quote == Quote::Quoted;
        let Some(operand) = raw.strip_prefix("${") else { return };
        let odd = operand.contains('{') || in_string && operand.contains('\'');
        if !odd {
            return;
        }
        let text = &self.frame.source[span.start.offset()..];
        let ends = compare_ends(text, raw.len(), in_string);
        match ends {
            Ends::There => {}
            Ends::BesideBrace => self.emit_uncovered("a brace beside a parameter", span),
            Ends::Elsewhere => self.emit_unseen("a parameter that may end elsewhere", span),
        }
    }

    /// A quote in the text of a string ended it: `"${#x+{}"; cmd "}"`.
    pub(super) fn doubt_string_end(&mut self, parts: &[WordPartNode], span: Span) {
        let quote = |part: &WordPartNode| {
            matches!(part.kind, WordPart::Literal(_)) && has_unescaped(self.slice(part.span), b"\"")
        };
        if parts.iter().any(quote) {
            self.emit_unseen("a string that may end elsewhere", span);
        }
    }

    /// A word that goes on where the parser sees its end: behind `<(cmd)` and a continued line. zsh also takes `{fd} > file`
    /// for one redirection.
    pub(super) fn goes_on(&mut self, word: &Word, stmt: &Stmt) {
        let (end, rest) = (word.span.end.offset(), self.source_behind(word.span));
        let raw = self.slice(word.span);
        let continued = rest.strip_prefix("\\\n").is_some_and(|next| {
            next.starts_with(|c: char| !c.is_whitespace() && !";&|)".contains(c))
        });
        let next = end + rest.len() - rest.trim_start_matches([' ', '\t']).len();
        let name = raw.strip_prefix('{').and_then(|raw| raw.strip_suffix('}'));
        let named = name.is_some_and(super::parameter::is_name)
            && stmt.redirects.iter().any(|r| r.span.start.offset() == next);
        if continued && raw.ends_with(')') {
            self.emit_unseen("a word that goes on behind its end", word.span);
        }
        if named {
            self.emit_uncovered("a redirection that zsh reads as another", word.span);
        }
    }

    /// Backticks whose place in the source is wrong cannot be read again.
    pub(super) fn doubt_backticks(&mut self, parts: &[WordPartNode], span: Span) {
        let backtick = |p: &WordPartNode| {
            matches!(
                p.kind,
                WordPart::CommandSubstitution { syntax: CommandSubstitutionSyntax::Backtick, .. }
            )
        };
        let raw = self.slice(span);
        if raw.contains('\\') && parts.iter().any(backtick) && !in_place(parts, span) {
            self.emit_unseen("backticks in a string with escapes", span);
        }
    }

    /// `$x{a,b}` is `$xa $xb`, and `{a,$x}b` is `ab $xb`: braces come first.
    pub(super) fn is_brace_glued(&self, parts: &[WordPartNode], at: usize) -> bool {
        let text = |p: &WordPartNode| self.slice(p.span);
        let literal = |p: &WordPartNode| matches!(p.kind, WordPart::Literal(_));
        let (Some(part), Some(next)) = (parts.get(at), parts.get(at + 1)) else { return false };
        if !matches!(part.kind, WordPart::Variable(_))
            || text(part).starts_with("${")
            || !literal(next)
        {
            return false;
        }
        let inside = || parts[..at].iter().any(|p| literal(p) && text(p).contains('{'));
        let open = || !parts.last().is_some_and(|p| literal(p) && text(p).ends_with('}'));
        // `{a,$x}{b,c}`: the name goes on behind the brace.
        let on = || text(next).trim_end_matches('}').contains('}');
        let on = || on() || text(next).starts_with("}{");
        text(next).starts_with('{')
            || text(next).starts_with(['}', ',']) && inside() && (open() || on())
    }
}

/// Does one of these bytes stand in the text without a backslash?
fn has_unescaped(text: &str, wanted: &[u8]) -> bool {
    let mut bytes = text.bytes();
    std::iter::from_fn(|| match bytes.next()? {
        b'\\' => bytes.next().map(|_| b'\\'),
        byte => Some(byte),
    })
    .any(|byte| wanted.contains(&byte))
}

/// Does a bare text hold what ends a word? In brackets, as in a group of patterns, only marks that stand in none.
fn ends_word(text: &str) -> bool {
    let mut open = 0_usize;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'\\' => drop(bytes.next()),
            b'(' => open += 1,
            b')' => open = open.saturating_sub(1),
            b'\n' | b';' | b'&' => return true,
            b' ' | b'\t' | b'|' | b'<' | b'>' if open == 0 => return true,
            _ => {}
        }
    }
    false
}

/// Is there more in it than marks and comments?
pub(super) fn holds_more(rest: &str) -> bool {
    rest.lines()
        .map(|line| line.trim_start_matches([' ', '\t', ';', '&', '\r', ')', '}']))
        .any(|line| !line.is_empty() && !line.starts_with('#') && line != "\\")
}

/// Do the parts of a double-quoted string stand where their places say?
pub(super) fn in_place(parts: &[WordPartNode], span: Span) -> bool {
    let mut at = None;
    for part in parts {
        if at.is_some_and(|at| at != part.span.start.offset()) {
            return false;
        }
        at = Some(part.span.end.offset());
    }
    at.is_none_or(|at| at + 1 == span.end.offset())
}

/// Does the text end as one word before its end?
fn ends_early(raw: &str) -> bool {
    let bytes = raw.as_bytes();
    let mut at = 0;
    let mut nested = 0_usize;
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'\\' => at += 1,
            b'\'' => at = closing_quote(bytes, at, b'\''),
            b'"' => at = closing_quote(bytes, at, b'"'),
            b'`' => at = closing_quote(bytes, at, b'`'),
            b'$' if matches!(bytes.get(at + 1), Some(b'(' | b'{')) => {
                nested += 1;
                at += 1;
            }
            b'(' if nested > 0 => nested += 1,
            b')' | b'}' if nested > 0 => nested -= 1,
            b' ' | b'\t' | b'\n' | b';' | b'&' | b'|' | b'<' | b'>' | b'(' | b')'
                if nested == 0 =>
            {
                return true;
            }
            _ => {}
        }
        at += 1;
    }
    false
}

/// Where the quote that opens at `at` closes.
fn closing_quote(bytes: &[u8], at: usize, quote: u8) -> usize {
    let mut end = at + 1;
    while end < bytes.len() && bytes[end] != quote {
        end += if bytes[end] == b'\\' && quote != b'\'' { 2 } else { 1 };
    }
    end
}

/// Words that stand side by side without a blank: the parser ends a word behind `}` and around
/// `<(...)`, a shell does not.
pub(super) fn side_by_side<'w>(words: impl Iterator<Item = &'w Word>) -> Vec<Vec<&'w Word>> {
    let mut groups: Vec<Vec<&Word>> = Vec::new();
    for word in words {
        match groups.last_mut() {
            Some(group)
                if group.last().is_some_and(|last| {
                    last.span.end.offset() == word.span.start.offset()
                        && last.span.start.offset() < last.span.end.offset()
                }) =>
            {
                group.push(word)
            }
            _ => groups.push(vec![word]),
        }
    }
    groups
}

/// May it be several words, each of them known: `"$@"`, `${a[@]}`?
pub(super) fn is_list(part: &WordPartNode) -> bool {
    let one = |part: &WordPartNode| match &part.kind {
        WordPart::Variable(name) => matches!(name.as_str(), "@" | "*"),
        WordPart::ArrayAccess(_)
        | WordPart::ParameterExpansion { .. }
        | WordPart::ArraySlice { .. }
        | WordPart::Substring { .. } => may_vanish(part),
        WordPart::Parameter(parameter) => {
            use ParameterExpansionSyntax::Bourne;
            !matches!(&parameter.syntax, Bourne(BourneParameterExpansion::Length { .. }))
                && may_vanish(part)
        }
        _ => false,
    };
    match &part.kind {
        WordPart::DoubleQuoted { parts, .. } => parts.iter().any(one),
        _ => one(part),
    }
}

/// May a quoted string that holds this be no word at all, as `"$@"` of nothing is?
pub(super) fn may_vanish(part: &WordPartNode) -> bool {
    match &part.kind {
        WordPart::Variable(name) => name.as_str() == "@",
        WordPart::Literal(_) | WordPart::CommandSubstitution { .. } => false,
        WordPart::ArrayAccess(reference) => {
            reference.name.as_str() == "@"
                || reference
                    .subscript
                    .as_deref()
                    .is_some_and(|s| s.selector() == Some(SubscriptSelector::At))
        }
        WordPart::ParameterExpansion { reference, .. }
        | WordPart::Substring { reference, .. }
        | WordPart::ArraySlice { reference, .. } => {
            reference.name.as_str() == "@" || reference.has_array_selector()
        }
        WordPart::Parameter(parameter) => match &parameter.syntax {
            ParameterExpansionSyntax::Bourne(
                BourneParameterExpansion::Access { reference }
                | BourneParameterExpansion::Length { reference }
                | BourneParameterExpansion::Slice { reference, .. }
                | BourneParameterExpansion::Operation { reference, .. },
            ) => reference.name.as_str() == "@" || reference.has_array_selector(),
            _ => true,
        },
        _ => true,
    }
}
