//! What assignments make names stand for.

use super::super::lex::{Token, TokenKind};
use super::super::val::{GAPS, Val};
use super::{AssignTarget, CallArg, Scan};
use crate::effect::value::BLANK;
use crate::limits;

impl Scan<'_, '_> {
    /// `list.append(x)`, `set.add(x)`: what is known of it is in the list from then on.
    pub(super) fn grow_list(&mut self, target: &AssignTarget, args: &[CallArg]) {
        let AssignTarget::Name(name) = target else { return };
        let Some((name, method)) = name.rsplit_once('.') else { return };
        let Some(Val::List(_, items)) = self.env.get(name) else { return };
        let added: Vec<Val> = match (method, args) {
            ("append" | "add" | "appendleft", [one]) | ("insert", [_, one]) => {
                vec![one.val.clone()]
            }
            ("extend" | "update", [one]) => match &one.val {
                Val::List(_, more) => more.to_vec(),
                one => vec![one.loop_element()],
            },
            _ => return,
        };
        // What nobody knows is left out: a list of results is no list of files.
        let told = |val: &&Val| match val {
            Val::Text(text) => !text.starts_with(GAPS),
            Val::Path(inner) => inner.to_text().is_none_or(|text| !text.starts_with(BLANK)),
            Val::Glob(_) | Val::List(..) | Val::Any(..) => true,
            _ => false,
        };
        let new: Vec<Val> =
            added.iter().filter(told).filter(|one| !items.contains(one)).cloned().collect();
        if !new.is_empty() {
            let all = Val::list(items.iter().cloned().chain(new).collect());
            self.env.insert(name.to_string(), all);
        }
    }

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
            AssignTarget::Entry(name, key) => {
                if let Some(key) = key.known_text().filter(|key| key.len() < limits::NAME) {
                    self.bind_name(&format!("{name}.{key}"), val.clone(), merge);
                }
                if let Some(Val::Dict(_, items)) = self.env.get(name) {
                    let entry = (key.as_key(), val.clone());
                    if !items.contains(&entry) {
                        let kept = items.iter().filter(|(own, _)| merge || *own != entry.0);
                        let mut items: Vec<_> = kept.cloned().collect();
                        items.push(entry);
                        self.env.insert(name.clone(), Val::dict(items));
                    }
                }
            }
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
        Val::Text(text) if index == 0 && text.ends_with(GAPS) => val.clone(),
        Val::Any(_, items) => Val::any_of(items.iter().map(|i| part_at(i, index)).collect()),
        _ => Val::Unknown,
    }
}
