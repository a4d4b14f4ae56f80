//! Values: literals, names, calls, what is in brackets.

use super::*;
use crate::limits;

impl Scan<'_, '_> {
    /// A value with everything that is called on it.
    pub(super) fn primary(&mut self, c: &mut Cursor, params: &Val) -> (Val, Target) {
        let Some(token) = c.peek(0) else { return (Val::Unknown, Target::None) };
        let from = c.at;
        let mut target = Target::None;
        let mut named = false;
        c.at += 1;
        let mut val = match token.kind {
            Kind::Text => Val::text(&token.text),
            Kind::Number => Val::Scalar,
            Kind::Lost if token.text == "/" => Val::Scalar,
            Kind::Open => {
                let open = token.text.as_bytes().first().copied().unwrap_or(b'(');
                let comma = open == b'(';
                let args = self.group(c, Stop::Bracket(open), params);
                target = Target::Group(from, c.at.saturating_sub(1));
                self.collected(open, args, comma && trailing(c))
            }
            Kind::Name => {
                named = true;
                target = Target::Name(token.text.to_string());
                self.resolve(&token.text)
            }
            _ => Val::Unknown,
        };
        let mut called = false;
        // What is called on it goes on for as long as it does.
        while let Some(token) = c.peek(0) {
            match (token.kind, token.text.as_ref()) {
                (Kind::End, "\n") => {
                    // A chain that goes on in the next line.
                    let mut n = 1;
                    while c.is(n, Kind::End, "\n") {
                        n += 1;
                    }
                    let chains =
                        !matches!(self.lang, Lang::Python) && c.is(n, Kind::Op, ".") && n < 8;
                    if !chains {
                        break;
                    }
                    c.at += n;
                }
                (Kind::Op, ".") => {
                    let member = match c.peek(1) {
                        Some(next) if next.kind == Kind::Name => next,
                        Some(next) if next.kind == Kind::Open => {
                            c.at += 1;
                            continue;
                        }
                        _ => break,
                    };
                    c.at += 2;
                    target = match target {
                        Target::Name(name) if !called && name.len() < limits::NAME => {
                            Target::Name(format!("{name}.{}", member.text))
                        }
                        _ => Target::None,
                    };
                    val = self.member(val, &member.text);
                    named = true;
                    called = false;
                }
                (Kind::Open, "(")
                    if !token.space || !matches!(self.lang, Lang::Ruby | Lang::Perl) || named =>
                {
                    if !named
                        && !called
                        && matches!(self.lang, Lang::Ruby | Lang::Perl | Lang::Php)
                        && !matches!(val, Val::Name(_) | Val::Member(_) | Val::Text(_))
                    {
                        break;
                    }
                    c.at += 1;
                    let given = self.given(&val);
                    let args = self.group(c, Stop::Bracket(b'('), &given);
                    val = self.call(val, args);
                    target = Target::None;
                    called = true;
                    named = false;
                    val = self.trailing_block(c, val, &given);
                }
                (Kind::Open, "[")
                    if !(token.space
                        && matches!(self.lang, Lang::Ruby | Lang::Perl | Lang::Js)) =>
                {
                    c.at += 1;
                    let args = self.group(c, Stop::Bracket(b'['), &Val::Unknown);
                    target = match (&target, args.first().map(|a| &a.val)) {
                        (Target::Name(name), Some(Val::Text(key)))
                            if !called && name.len() + key.len() < limits::NAME =>
                        {
                            Target::Name(format!("{name}.{key}"))
                        }
                        _ => Target::None,
                    };
                    val = self.index(val, args);
                }
                (Kind::Open, "{") if self.lang == Lang::Perl && !token.space && named => {
                    c.at += 1;
                    let key = c.word(0).to_string();
                    let bare = c.is(1, Kind::Close, "}").then_some(key);
                    let mut args = self.group(c, Stop::Bracket(b'{'), &Val::Unknown);
                    if let Some(key) = bare {
                        args = vec![Arg { key: None, val: Val::text(&key), block: false }];
                    }
                    val = self.index(val, args);
                    target = Target::None;
                }
                (Kind::Open, "{") if self.lang == Lang::Ruby && (named || called) => {
                    let given = self.given(&val);
                    if named && !called {
                        val = self.call(val, Vec::new());
                        called = true;
                        named = false;
                    }
                    c.at += 1;
                    self.group(c, Stop::Bracket(b'{'), &given);
                    target = Target::None;
                }
                (Kind::Name, "do") if self.lang == Lang::Ruby && (named || called) => {
                    let given = self.given(&val);
                    if named && !called {
                        val = self.call(val, Vec::new());
                    }
                    c.at += 1;
                    if c.op("|") {
                        self.block_params(c, &given);
                    }
                    target = Target::None;
                    break;
                }
                (Kind::Text, _) if self.lang == Lang::Lua && named => {
                    c.at += 1;
                    let arg = Arg { key: None, val: Val::text(&token.text), block: false };
                    val = self.call(val, vec![arg]);
                    called = true;
                    named = false;
                }
                (Kind::Text | Kind::Open, _)
                    if self.lang == Lang::Js
                        && named
                        && matches!(val, Val::Name(_))
                        && token.kind == Kind::Text =>
                {
                    // A tagged template.
                    break;
                }
                _ if named && !called && self.words_call(c, token, &val) => {
                    let given = self.given(&val);
                    let args = self.group(c, Stop::Line, &given);
                    val = self.call(val, args);
                    target = Target::None;
                    called = true;
                    named = false;
                    val = self.trailing_block(c, val, &given);
                }
                _ => break,
            }
        }
        if named && !called {
            val = self.bare(val);
        }
        (val, target)
    }

    /// A block behind a call's arguments (Ruby).
    pub(super) fn trailing_block(&mut self, c: &mut Cursor, val: Val, given: &Val) -> Val {
        if self.lang != Lang::Ruby {
            return val;
        }
        if c.is(0, Kind::Open, "{") {
            let inner = if *given == Val::Unknown { val.element() } else { given.clone() };
            c.at += 1;
            self.group(c, Stop::Bracket(b'{'), &inner);
        } else if c.word(0) == "do" {
            c.at += 1;
            let inner = if *given == Val::Unknown { val.element() } else { given.clone() };
            if c.op("|") {
                self.block_params(c, &inner);
            }
        }
        val
    }

    /// Does a call without brackets begin at this token?
    pub(super) fn words_call(&self, c: &Cursor, token: &Token, val: &Val) -> bool {
        let name = match val {
            Val::Name(name) => name.clone(),
            Val::Member(inner) => inner.1.as_str().into(),
            _ => return false,
        };
        let first = name.chars().next().unwrap_or('$');
        let keyword = matches!(token.kind, Kind::Name)
            && (ends_call(self.lang, &token.text)
                || matches!(
                    token.text.as_ref(),
                    "x" | "eq"
                        | "ne"
                        | "lt"
                        | "gt"
                        | "le"
                        | "ge"
                        | "cmp"
                        | "in"
                        | "as"
                        | "instanceof"
                ));
        let starts = match token.kind {
            Kind::Text | Kind::Number | Kind::Lost => true,
            Kind::Name => !keyword,
            Kind::Open => token.text == "(" || token.text == "[" && token.space,
            Kind::Op => {
                matches!(token.text.as_ref(), "-" | "&" | "*" | "!")
                    && token.space
                    && c.peek(1).is_some_and(|n| !n.space && n.kind != Kind::End)
            }
            _ => false,
        };
        if !starts {
            return false;
        }
        match self.lang {
            Lang::Perl => {
                !matches!(first, '$' | '@' | '%')
                    && (token.kind != Kind::Op || self.rows.contains_key(name.as_ref()))
            }
            Lang::Ruby => {
                token.space
                    && !matches!(first, '$' | '@')
                    && (first.is_lowercase() || matches!(val, Val::Member(_)) || name.contains('.'))
            }
            Lang::Php => self
                .rows
                .get(name.to_ascii_lowercase().as_str())
                .is_some_and(|r| r.starts_with("~")),
            _ => false,
        }
    }

    /// What a bracket holds, as a value.
    pub(super) fn collected(&mut self, open: u8, mut args: Vec<Arg>, _trailing: bool) -> Val {
        match open {
            b'(' if args.len() == 1 && args[0].key.is_none() => args.remove(0).val,
            b'(' if args.is_empty() => Val::list(Vec::new()),
            b'{' if args.iter().all(|a| a.key.is_none()) => match self.lang {
                Lang::Python | Lang::Lua if !args.is_empty() => {
                    Val::list(args.into_iter().map(|a| a.val).collect())
                }
                _ => Val::Scalar,
            },
            _ if args.iter().any(|a| a.key.is_some()) => {
                Val::dict(args.into_iter().map(|a| (a.key.unwrap_or_default(), a.val)).collect())
            }
            _ => Val::list(args.into_iter().map(|a| a.val).collect()),
        }
    }

    /// What the function in a call's arguments will be called with.
    pub(super) fn given(&self, val: &Val) -> Val {
        match val {
            Val::Member(inner) => match inner.1.as_str() {
                "then" | "tap" | "pipe" => inner.0.clone(),
                "forEach" | "map" | "each" | "filter" | "select" | "reject" | "collect"
                | "flatMap" | "some" | "every" | "find" | "each_with_index" | "each_entry"
                | "flat_map" | "reduce" => inner.0.element(),
                _ => Val::Unknown,
            },
            Val::Name(name) => match name.as_ref() {
                "Dir.each_child" | "Dir.foreach" => Val::Unknown,
                "map" | "filter" | "File.open" => Val::Unknown,
                _ => Val::Unknown,
            },
            _ => Val::Unknown,
        }
    }
}
