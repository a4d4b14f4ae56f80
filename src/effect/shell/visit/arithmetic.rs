//! Commands inside arithmetic, and what arithmetic does to variables.

use shuck_ast::{
    ArithmeticExpr, ArithmeticExprNode, ArithmeticLvalue, ArithmeticUnaryOp, Span, VarRef, Word,
};

use super::super::Walker;

impl Walker<'_> {
    /// Arithmetic both as an expression and as a word: what one view misses, the other may show.
    pub(super) fn walk_arithmetic(
        &mut self,
        node: Option<&ArithmeticExprNode>,
        word: Option<&Word>,
        span: Span,
    ) {
        self.slice_parts([(node, word), (None, None)], span);
    }

    /// `${x:1:2}`.
    pub(super) fn visit_slice(
        &mut self,
        reference: &VarRef,
        offset: (Option<&ArithmeticExprNode>, &Word),
        length: (Option<&ArithmeticExprNode>, Option<&Word>),
        span: Span,
    ) {
        self.visit_reference(reference);
        self.slice_parts([(offset.0, Some(offset.1)), length], span);
    }

    fn slice_parts(
        &mut self,
        parts: [(Option<&ArithmeticExprNode>, Option<&Word>); 2],
        span: Span,
    ) {
        let before = self.substitutions;
        for part in parts {
            match part {
                (Some(node), _) => self.visit_arithmetic(node),
                (None, Some(word)) => self.visit_word(word),
                (None, None) => {}
            }
        }
        self.visit_raw(span, before);
    }

    /// Text in which the walk found no command must not hold one.
    pub fn visit_raw(&mut self, span: Span, before: usize) {
        let raw = self.slice(span);
        let inner = raw.strip_prefix("$((").unwrap_or(raw).replace("$((", "");
        if (inner.contains("$(") || inner.contains('`')) && self.substitutions == before {
            self.emit_unseen("a command inside arithmetic", span);
        }
    }

    /// Walks what an arithmetic expression runs.
    pub fn visit_arithmetic(&mut self, node: &ArithmeticExprNode) {
        if !self.has_room() {
            return;
        }
        match &node.kind {
            ArithmeticExpr::Number(_) => {}
            ArithmeticExpr::Variable(name) => {
                let span = self.source_range(node.span);
                self.evaluate_name(name.as_str(), &span);
            }
            ArithmeticExpr::Indexed { name, index } => {
                let span = self.source_range(node.span);
                self.evaluate_name(name.as_str(), &span);
                self.visit_arithmetic(index);
            }
            ArithmeticExpr::ShellWord(word) => {
                self.visit_word(word);
                self.evaluates_word(word);
            }
            ArithmeticExpr::Parenthesized { expression } => self.visit_arithmetic(expression),
            ArithmeticExpr::Unary { expr, op } => {
                self.visit_arithmetic(expr);
                let steps =
                    matches!(op, ArithmeticUnaryOp::PreIncrement | ArithmeticUnaryOp::PreDecrement);
                if let (ArithmeticExpr::Variable(name), true) = (&expr.kind, steps) {
                    self.maybe_number(name.as_str());
                }
            }
            ArithmeticExpr::Postfix { expr, .. } => {
                self.visit_arithmetic(expr);
                if let ArithmeticExpr::Variable(name) = &expr.kind {
                    self.maybe_number(name.as_str());
                }
            }
            ArithmeticExpr::Binary { left, right, .. } => {
                self.visit_arithmetic(left);
                self.visit_arithmetic(right);
            }
            ArithmeticExpr::Conditional { condition, then_expr, else_expr } => {
                self.visit_arithmetic(condition);
                self.visit_arithmetic(then_expr);
                self.visit_arithmetic(else_expr);
            }
            ArithmeticExpr::Assignment { target, value, .. } => {
                match target {
                    ArithmeticLvalue::Indexed { name, index, .. } => {
                        self.visit_arithmetic(index);
                        let name = name.as_str().to_string();
                        self.taint_by(&name);
                    }
                    ArithmeticLvalue::Variable(name) => {
                        let name = name.as_str().to_string();
                        self.maybe_number(&name);
                    }
                }
                self.visit_arithmetic(value);
            }
        }
    }
}
