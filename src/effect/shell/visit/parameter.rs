//! Commands inside parameter expansions.

use shuck_ast::{
    BourneParameterExpansion as Bourne, ParameterExpansion, ParameterExpansionSyntax, ParameterOp,
    Span, VarRef, Word,
};

use super::super::Walker;
use super::super::word::field_value;

impl Walker<'_> {
    pub(super) fn walk_transformation(&mut self, reference: &VarRef, operator: char, span: Span) {
        if operator == 'P' {
            let mut own = Vec::new();
            self.without_choosing(|w| w.expand_reference(reference, true, &mut own));
            let value = field_value(&own, self.source_range(span));
            if let Some(text) = value.plain_text() {
                let text = text.replace('"', "\\\"");
                if text.contains(['$', '`']) {
                    self.walk_nested(
                        &format!(": \"{text}\""),
                        value.span.clone(),
                        self.frame.parent,
                    );
                }
                return;
            }
            self.emit_unseen("${x@P} runs what the value holds", span);
        }
    }

    pub(super) fn visit_parameter(&mut self, parameter: &ParameterExpansion, span: Span) {
        match &parameter.syntax {
            ParameterExpansionSyntax::Zsh(_) => {
                let raw = parameter.raw_body.slice(&self.frame.source);
                let raw = behind_flags(raw);
                // `${(f)"$(git ls-files)"}`
                if let Some(text) = raw.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'))
                    && text.starts_with("$(")
                    && !text.contains('"')
                {
                    let text = format!(": {raw}");
                    let span = self.source_range(span);
                    self.walk_nested(&text, span, self.frame.parent);
                } else if raw.contains('(') || raw.contains('`') {
                    self.emit_unseen("a zsh parameter expansion", span);
                }
            }
            ParameterExpansionSyntax::Bourne(syntax) => match syntax {
                Bourne::Access { reference } => {
                    if reference.subscript.is_none() {
                        self.whole_array(reference.name.as_str(), None, span);
                    }
                    self.visit_reference(reference);
                }
                Bourne::Length { reference } | Bourne::Indices { reference } => {
                    self.visit_reference(reference)
                }
                Bourne::Indirect { reference, operator, operand_word_ast, .. } => {
                    self.visit_reference(reference);
                    self.named_element(reference, span);
                    self.visit_operation(operator.as_deref(), operand_word_ast.as_deref());
                }
                Bourne::PrefixMatch { .. } => {}
                Bourne::Slice {
                    reference,
                    offset_ast,
                    offset_word_ast,
                    length_ast,
                    length_word_ast,
                    ..
                } => {
                    self.visit_slice(
                        reference,
                        (offset_ast.as_deref(), offset_word_ast),
                        (length_ast.as_deref(), length_word_ast.as_deref()),
                        span,
                    );
                }
                Bourne::Operation { reference, operator, operand_word_ast, .. } => {
                    self.visit_reference(reference);
                    self.visit_operation(Some(operator), operand_word_ast.as_deref());
                }
                Bourne::Transformation { reference, operator } => {
                    self.visit_reference(reference);
                    self.walk_transformation(reference, *operator, span);
                }
            },
        }
    }

    /// What the operator of an expansion and the word behind it run.
    pub(super) fn visit_operation(&mut self, operator: Option<&ParameterOp>, word: Option<&Word>) {
        if let Some(operator) = operator {
            self.visit_operator(operator);
        }
        if let Some(word) = word {
            self.doubt_operand(word);
            self.visit_word(word);
        }
    }

    fn visit_operator(&mut self, operator: &ParameterOp) {
        match operator {
            ParameterOp::RemovePrefixShort { pattern }
            | ParameterOp::RemovePrefixLong { pattern }
            | ParameterOp::RemoveSuffixShort { pattern }
            | ParameterOp::RemoveSuffixLong { pattern } => self.visit_pattern(pattern),
            ParameterOp::ReplaceFirst { pattern, replacement_word_ast, .. }
            | ParameterOp::ReplaceAll { pattern, replacement_word_ast, .. } => {
                if !is_whole(self.slice(pattern.span)) {
                    // The parser ends it at a slash that stands inside of it: `${x/$(rm -r /y)/z}`.
                    self.emit_unseen("a pattern that may end elsewhere", pattern.span);
                }
                self.visit_pattern(pattern);
                self.visit_word(replacement_word_ast);
            }
            _ => {}
        }
    }
}

/// Does every bracket, quote and backtick in the text end there?
fn is_whole(text: &str) -> bool {
    let count = |sign: u8| text.bytes().filter(|byte| *byte == sign).count();
    count(b'(') == count(b')') && [b'`', b'"'].iter().all(|sign| count(*sign).is_multiple_of(2))
}

/// What zsh expands behind flags that only say how its value is split, ordered or written; with others, all.
fn behind_flags(raw: &str) -> &str {
    const FORMS: &str = "@aACcFfikLnoOqQtuUvwWz0";
    let flags = raw.strip_prefix('(').and_then(|rest| rest.split_once(')'));
    let plain = |flags: &str| {
        let joins = ["s", "j", "ps", "pj"].iter().find_map(|form| flags.strip_prefix(form));
        let joined = joins.filter(|rest| {
            let sign = rest.bytes().next();
            sign.is_some_and(|sign| sign.is_ascii_punctuation())
                && rest.len() > 1
                && rest.bytes().last() == sign
                && !rest.contains(['$', '`', '('])
        });
        joined.is_some() || flags.chars().all(|flag| FORMS.contains(flag))
    };
    match flags {
        Some((flags, rest)) if plain(flags) => rest,
        // A prompt's own signs: `${(%):-%n}`.
        Some(("%", rest)) if rest.starts_with(":-%") && rest.len() == 4 => "",
        _ => raw,
    }
}
