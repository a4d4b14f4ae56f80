//! What assignments make names stand for.

use super::super::lex::{Token, TokenKind};
use super::super::val::Val;
use super::{AssignTarget, Scan};
use crate::effect::value::BLANK;

impl Scan<'_, '_> {
    pub(super) fn bind_name(&mut self, name: &str, val: Val, merge: bool) {
        let val = match self.env.get(name) {
            Some(old) if merge && *old != val => Val::any_of(vec![old.clone(), val]),
            _ => val,
        };
        self.env.insert(name.to_string(), val);
    }

    pub(super) fn assign_target(
        &mut self,
        tokens: &[Token],
        target: &AssignTarget,
        val: &Val,
        merge: bool,
    ) {
        match target {
            AssignTarget::None => {}
            AssignTarget::Name(name) => self.bind_name(name, val.clone(), merge),
            AssignTarget::Group(from, to) => {
                // `{a, b: c} = x`, `[a, b] = x`, `($a, $b) = x`.
                let (mut key, mut depth, mut index) = (None, 0, 0);
                let braces = tokens.get(*from).is_some_and(|t| t.text == "{");
                for at in *from + 1..*to {
                    let token = &tokens[at];
                    match token.kind {
                        TokenKind::Open => depth += 1,
                        TokenKind::Close => depth -= 1,
                        TokenKind::Op if depth == 0 && token.text == "," => {
                            key = None;
                            index += 1;
                        }
                        TokenKind::Name if depth == 0 => {
                            let next = tokens.get(at + 1);
                            if next.is_some_and(|t| t.kind == TokenKind::Op && t.text == ":")
                                && braces
                            {
                                key = Some(token.text.to_string());
                                continue;
                            }
                            let inner = if braces {
                                let key = key.take().unwrap_or_else(|| token.text.to_string());
                                self.resolve_member(val.clone(), &key)
                            } else {
                                part_at(val, index)
                            };
                            self.bind_name(&token.text, inner, merge);
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

/// A part of what is assigned to several names.
pub(super) fn part_at(val: &Val, index: usize) -> Val {
    match val {
        Val::List(_, items) => items.get(index).cloned().unwrap_or(Val::Unknown),
        Val::Name(_) | Val::Fed => val.clone(),
        Val::Text(text) if index == 0 && text.ends_with(BLANK) => val.clone(),
        Val::Any(_, items) => Val::any_of(items.iter().map(|i| part_at(i, index)).collect()),
        _ => Val::Unknown,
    }
}
