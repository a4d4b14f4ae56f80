//! What assignments make names stand for.

use super::super::lex::{Kind, Token};
use super::super::val::Val;
use super::{Scan, Target};
use crate::effect::value::BLANK;

impl Scan<'_, '_> {
    pub(super) fn bind(&mut self, name: &str, val: Val, merge: bool) {
        let val = match self.env.get(name) {
            Some(old) if merge && *old != val => Val::any(vec![old.clone(), val]),
            _ => val,
        };
        self.env.insert(name.to_string(), val);
    }

    pub(super) fn assign(&mut self, tokens: &[Token], target: &Target, val: &Val, merge: bool) {
        match target {
            Target::None => {}
            Target::Name(name) => self.bind(name, val.clone(), merge),
            Target::Group(from, to) => {
                // `{a, b: c} = x`, `[a, b] = x`, `($a, $b) = x`.
                let (mut key, mut depth, mut index) = (None, 0, 0);
                let braces = tokens.get(*from).is_some_and(|t| t.text == "{");
                for at in *from + 1..*to {
                    let token = &tokens[at];
                    match token.kind {
                        Kind::Open => depth += 1,
                        Kind::Close => depth -= 1,
                        Kind::Op if depth == 0 && token.text == "," => {
                            key = None;
                            index += 1;
                        }
                        Kind::Name if depth == 0 => {
                            let next = tokens.get(at + 1);
                            if next.is_some_and(|t| t.kind == Kind::Op && t.text == ":") && braces {
                                key = Some(token.text.to_string());
                                continue;
                            }
                            let inner = if braces {
                                let key = key.take().unwrap_or_else(|| token.text.to_string());
                                self.member(val.clone(), &key)
                            } else {
                                part(val, index)
                            };
                            self.bind(&token.text, inner, merge);
                        }
                        _ => {}
                    }
                }
            }
        }
    }
}

/// A part of what is assigned to several names.
pub(super) fn part(val: &Val, index: usize) -> Val {
    match val {
        Val::List(_, items) => items.get(index).cloned().unwrap_or(Val::Unknown),
        Val::Name(_) | Val::Fed => val.clone(),
        Val::Text(text) if index == 0 && text.ends_with(BLANK) => val.clone(),
        Val::Any(_, items) => Val::any(items.iter().map(|i| part(i, index)).collect()),
        _ => Val::Unknown,
    }
}
