//! Values: literals, names, calls, what is in brackets.

use super::super::apply::ENVIRONMENTS;
use super::*;
use crate::limits;
use crate::names::scan::EACH;

/// A value while what is called on it is read.
struct Chain {
    val: Val,
    target: AssignTarget,
    /// It ends in a name that is not called yet.
    named: bool,
    called: bool,
}

impl Chain {
    /// It was called, and came to that.
    fn returned(&mut self, val: Val) {
        *self = Chain { val, target: AssignTarget::None, named: false, called: true };
    }

    /// What an assignment to a part of that name would write to.
    fn part(&self, key: &str) -> AssignTarget {
        match (&self.val, &self.target) {
            // `env = os.environ.copy()`
            (Val::Name(name), _) if ENVIRONMENTS.contains(&name.as_ref()) => {
                AssignTarget::Name(format!("{name}.{key}"))
            }
            (_, AssignTarget::Name(name))
                if !self.called && name.len() + key.len() < limits::NAME =>
            {
                AssignTarget::Name(format!("{name}.{key}"))
            }
            _ => AssignTarget::None,
        }
    }
}

/// Is the number there the whole of an argument, with a minus before it?
fn is_negative(c: &Cursor, at: usize) -> bool {
    let text = |back: usize| at.checked_sub(back).map_or("", |at| c.tokens[at].text.as_ref());
    text(1) == "-" && matches!(text(2), "(" | "," | "=>" | "=")
}

impl Scan<'_, '_> {
    /// A value with everything that is called on it.
    pub(super) fn scan_primary(&mut self, c: &mut Cursor, params: &Val) -> (Val, AssignTarget) {
        let Some(token) = c.peek(0) else { return (Val::Unknown, AssignTarget::None) };
        let mut chain = self.first(c, token, params);
        // What is called on it goes on for as long as it does.
        while let Some(token) = c.peek(0) {
            if !self.follow(c, token, &mut chain) {
                break;
            }
        }
        if chain.named && !chain.called {
            chain.val = self.resolve_bare(chain.val);
        }
        (chain.val, chain.target)
    }

    /// The value that a token begins.
    fn first(&mut self, c: &mut Cursor, token: &Token, params: &Val) -> Chain {
        let from = c.at;
        c.at += 1;
        let mut target = AssignTarget::None;
        let val = match token.kind {
            TokenKind::Text => Val::text(&token.text),
            // All processes, where a function is given it.
            TokenKind::Number if token.text == "1" && is_negative(c, from) => Val::name("-1"),
            TokenKind::Number => Val::Scalar,
            TokenKind::Lost if token.text == "/" => Val::Scalar,
            TokenKind::Open => {
                let open = token.text.as_bytes().first().copied().unwrap_or(b'(');
                let args = self.scan_group(c, GroupEnd::Bracket(open), params);
                target = AssignTarget::Group(from, c.at.saturating_sub(1));
                // `(f := os.system)("rm x")`
                let named = match &args[..] {
                    [CallArg { key: Some(key), val, .. }]
                        if open == b'(' && self.lang == Lang::Python =>
                    {
                        Some((key.clone(), val.clone()))
                    }
                    _ => None,
                };
                if let Some((key, val)) = named {
                    self.bind_name(&key, val.clone(), false);
                    return Chain { val, target, named: false, called: false };
                }
                self.collect_bracket(open, args)
            }
            TokenKind::Name => {
                target = AssignTarget::Name(token.text.to_string());
                self.resolve_name(&token.text)
            }
            _ => Val::Unknown,
        };
        Chain { val, target, named: token.kind == TokenKind::Name, called: false }
    }

    /// One more thing that is called on a value; false = it ends before this token.
    fn follow(&mut self, c: &mut Cursor, token: &Token, chain: &mut Chain) -> bool {
        let lang = self.lang;
        let open = chain.named || chain.called;
        match (token.kind, token.text.as_ref()) {
            (TokenKind::End, "\n") => self.goes_on(c),
            (TokenKind::Op, ".") => self.follow_member(c, chain),
            (TokenKind::Open, "(") => self.follow_call(c, token, chain),
            (TokenKind::Open, "[") => self.follow_index(c, token, chain),
            (TokenKind::Open, "{") if lang == Lang::Perl && !token.space && chain.named => {
                self.follow_key(c, chain)
            }
            (TokenKind::Open, "{") if lang == Lang::Ruby && open => self.follow_block(c, chain),
            (TokenKind::Name, "do") if lang == Lang::Ruby && open => self.follow_do(c, chain),
            (TokenKind::Op, lex::TAG) => self.follow_template(c, chain),
            (TokenKind::Text, _) if lang == Lang::Lua && chain.named => {
                c.at += 1;
                let arg = CallArg { key: None, val: Val::text(&token.text), block: false };
                let target = std::mem::replace(&mut chain.target, AssignTarget::None);
                let val = self.call_value(chain.val.clone(), vec![arg]);
                chain.returned(val);
                chain.target = target;
                true
            }
            _ => self.follow_words(c, token, chain),
        }
    }

    /// A chain that goes on in the next line.
    fn goes_on(&self, c: &mut Cursor) -> bool {
        let mut n = 1;
        while c.is_token(n, TokenKind::End, "\n") {
            n += 1;
        }
        let chains = self.lang != Lang::Python && c.is_token(n, TokenKind::Op, ".") && n < 8;
        c.at += if chains { n } else { 0 };
        chains
    }

    /// `.name`, or a dot before brackets.
    fn follow_member(&mut self, c: &mut Cursor, chain: &mut Chain) -> bool {
        match c.peek(1) {
            Some(member) if member.kind == TokenKind::Name => {
                c.at += 2;
                chain.target = match &chain.target {
                    AssignTarget::Name(name) if !chain.called && name.len() < limits::NAME => {
                        AssignTarget::Name(format!("{name}.{}", member.text))
                    }
                    _ => AssignTarget::None,
                };
                let val = std::mem::replace(&mut chain.val, Val::Unknown);
                chain.val = self.resolve_member(val, &member.text);
                (chain.named, chain.called) = (true, false);
                true
            }
            Some(next) if next.kind == TokenKind::Open => {
                c.at += 1;
                true
            }
            _ => false,
        }
    }

    /// `(...)`
    fn follow_call(&mut self, c: &mut Cursor, token: &Token, chain: &mut Chain) -> bool {
        if token.space && matches!(self.lang, Lang::Ruby | Lang::Perl) && !chain.named {
            return self.follow_words(c, token, chain);
        }
        let callable = matches!(chain.val, Val::Name(_) | Val::Member(_) | Val::Text(_));
        let open = chain.named || chain.called;
        if !open && !callable && matches!(self.lang, Lang::Ruby | Lang::Perl | Lang::Php) {
            return false;
        }
        c.at += 1;
        self.follow_args(c, GroupEnd::Bracket(b'('), chain);
        true
    }

    /// The arguments of a call, and the block behind them.
    fn follow_args(&mut self, c: &mut Cursor, stop: GroupEnd, chain: &mut Chain) {
        let given = self.callback_argument(&chain.val);
        let args = self.scan_group(c, stop, &given);
        if self.lang == Lang::Python {
            self.grow_list(&chain.target, &args);
        }
        let val = self.call_value(chain.val.clone(), args);
        let val = self.trailing_block(c, val, &given);
        chain.returned(val);
    }

    /// `[...]`
    fn follow_index(&mut self, c: &mut Cursor, token: &Token, chain: &mut Chain) -> bool {
        if token.space && matches!(self.lang, Lang::Ruby | Lang::Perl | Lang::Js) {
            return self.follow_words(c, token, chain);
        }
        c.at += 1;
        let number = c.peek(0).filter(|t| t.kind == TokenKind::Number);
        let number = number.filter(|_| c.is_token(1, TokenKind::Close, "]"));
        let above = number.and_then(|number| self.ancestor(&chain.val, &number.text));
        // `f[:-4]`: without the end of its name.
        let text = |n: usize| c.peek(n).map_or("", |t| t.text.as_ref());
        let short = text(2).parse().is_ok_and(|count: usize| count < 6);
        let cuts = self.lang == Lang::Python && [text(0), text(1), text(3)] == [":", "-", "]"];
        let partly = matches!(chain.val, Val::Glob(_)) || chain.val.known_text().is_none();
        let above = above.or_else(|| (cuts && short && partly).then(|| chain.val.cut_end()));
        let args = self.scan_group(c, GroupEnd::Bracket(b'['), &Val::Unknown);
        if let Some(above) = above {
            chain.val = above;
            chain.target = AssignTarget::None;
            return true;
        }
        chain.target = match (args.first().map(|a| &a.val), &chain.target) {
            (Some(key), AssignTarget::Name(name))
                if self.lang == Lang::Python
                    && matches!(self.env.get(name), Some(Val::Dict(..)))
                    && matches!(chain.val, Val::Dict(..)) =>
            {
                AssignTarget::Entry(name.clone(), key.clone())
            }
            (Some(Val::Text(key)), _) => chain.part(key),
            _ => AssignTarget::None,
        };
        chain.val = self.resolve_index(chain.val.clone(), args);
        true
    }

    /// `{key}` (Perl)
    fn follow_key(&mut self, c: &mut Cursor, chain: &mut Chain) -> bool {
        c.at += 1;
        let key = c.name_at(0).to_string();
        let bare = c.is_token(1, TokenKind::Close, "}").then_some(key);
        let mut args = self.scan_group(c, GroupEnd::Bracket(b'{'), &Val::Unknown);
        if let Some(key) = bare {
            args = vec![CallArg { key: None, val: Val::text(&key), block: false }];
        }
        let target = match args.first().and_then(|arg| arg.val.known_text()) {
            Some(key) if matches!(&chain.val, Val::Name(name) if **name == *"$ENV") => {
                AssignTarget::Name(format!("ENV.{key}"))
            }
            _ => AssignTarget::None,
        };
        chain.val = self.resolve_index(chain.val.clone(), args);
        chain.target = target;
        true
    }

    /// `{ |x| ... }` (Ruby)
    fn follow_block(&mut self, c: &mut Cursor, chain: &mut Chain) -> bool {
        let given = self.callback_argument(&chain.val);
        if chain.named && !chain.called {
            let val = self.call_value(chain.val.clone(), Vec::new());
            chain.returned(val);
        }
        c.at += 1;
        self.scan_group(c, GroupEnd::Bracket(b'{'), &given);
        chain.target = AssignTarget::None;
        true
    }

    /// `do |x|` (Ruby); what follows is no part of the value.
    fn follow_do(&mut self, c: &mut Cursor, chain: &mut Chain) -> bool {
        let given = self.callback_argument(&chain.val);
        if chain.named && !chain.called {
            chain.val = self.call_value(chain.val.clone(), Vec::new());
        }
        c.at += 1;
        if c.is_operator("|") {
            self.block_params(c, &given);
        }
        chain.target = AssignTarget::None;
        false
    }

    /// A tagged template: a call of the tag where a row says what it does, and its text otherwise.
    fn follow_template(&mut self, c: &mut Cursor, chain: &mut Chain) -> bool {
        c.at += 1;
        let Some(token) = c.peek(0) else { return false };
        let text = self.first(c, token, &Val::Unknown).val;
        let written = match (&chain.target, &chain.val) {
            (AssignTarget::Name(name), _) => Some(name.as_str()),
            (_, Val::Member(inner)) => Some(inner.1.as_str()),
            _ => None,
        };
        let known = match &chain.val {
            Val::Name(name) => Some(name.as_ref()),
            _ => None,
        };
        let mut parts = written.into_iter().chain(known).flat_map(|name| name.rsplit('.'));
        let row = parts.find_map(|part| self.rows.get(format!("{part}`").as_str()).copied());
        let args = vec![CallArg { key: None, val: text.clone(), block: false }];
        let val = match row {
            Some(row) => self.apply_row(row, None, args),
            None if known.is_some_and(|name| self.find_row(name).is_some()) => {
                self.call_value(chain.val.clone(), args)
            }
            None => text,
        };
        chain.returned(val);
        true
    }

    /// A call without brackets.
    fn follow_words(&mut self, c: &mut Cursor, token: &Token, chain: &mut Chain) -> bool {
        if !chain.named || chain.called {
            return false;
        }
        let calls = self.words_call(c, token, &chain.val);
        if calls {
            self.follow_args(c, GroupEnd::Line, chain);
        }
        calls
    }

    /// A block behind a call's arguments (Ruby).
    pub(super) fn trailing_block(&mut self, c: &mut Cursor, val: Val, given: &Val) -> Val {
        if self.lang != Lang::Ruby {
            return val;
        }
        if c.is_token(0, TokenKind::Open, "{") {
            let inner = if *given == Val::Unknown { val.loop_element() } else { given.clone() };
            c.at += 1;
            self.scan_group(c, GroupEnd::Bracket(b'{'), &inner);
        } else if c.name_at(0) == "do" {
            c.at += 1;
            let inner = if *given == Val::Unknown { val.loop_element() } else { given.clone() };
            if c.is_operator("|") {
                self.block_params(c, &inner);
            }
        }
        val
    }

    /// Does a call without brackets begin at this token?
    pub(super) fn words_call(&self, c: &Cursor, token: &Token, val: &Val) -> bool {
        let name = match val {
            Val::Name(name) => name.as_ref(),
            Val::Member(inner) => inner.1.as_str(),
            _ => return false,
        };
        if !self.begins_words(c, token) {
            return false;
        }
        let first = name.chars().next().unwrap_or('$');
        match self.lang {
            Lang::Perl => {
                !matches!(first, '$' | '@' | '%')
                    && (token.kind != TokenKind::Op || self.rows.contains_key(name))
            }
            Lang::Ruby => {
                let called =
                    first.is_lowercase() || matches!(val, Val::Member(_)) || name.contains('.');
                token.space && !matches!(first, '$' | '@') && called
            }
            Lang::Php => {
                let row = self.rows.get(name.to_ascii_lowercase().as_str());
                row.is_some_and(|row| row.starts_with('~'))
            }
            _ => false,
        }
    }

    /// Could an argument begin at this token?
    fn begins_words(&self, c: &Cursor, token: &Token) -> bool {
        const PERLS: &[&str] = &["x", "eq", "ne", "lt", "gt", "le", "ge", "cmp"];
        const OPERATORS: &[&str] = &["in", "as", "instanceof"];
        let text = token.text.as_ref();
        match token.kind {
            TokenKind::Text | TokenKind::Number | TokenKind::Lost => true,
            TokenKind::Name => {
                let perls = self.lang == Lang::Perl && PERLS.contains(&text);
                !ends_call(self.lang, text) && !perls && !OPERATORS.contains(&text)
            }
            TokenKind::Open => text == "(" || text == "[" && token.space,
            TokenKind::Op => {
                let glued = |next: &Token| !next.space && next.kind != TokenKind::End;
                matches!(text, "-" | "&" | "*" | "!") && token.space && c.peek(1).is_some_and(glued)
            }
            _ => false,
        }
    }

    /// What a bracket holds, as a value.
    fn collect_bracket(&self, open: u8, mut args: Vec<CallArg>) -> Val {
        match open {
            b'(' if args.len() == 1 && args[0].key.is_none() => args.remove(0).val,
            b'(' if args.is_empty() => Val::list(Vec::new()),
            b'{' if args.iter().all(|a| a.key.is_none()) => match self.lang {
                Lang::Python | Lang::Lua if !args.is_empty() => {
                    Val::list(args.into_iter().map(|a| a.val).collect())
                }
                Lang::Python | Lang::Js if args.is_empty() => Val::dict(Vec::new()),
                _ => Val::Scalar,
            },
            _ if args.iter().any(|a| a.key.is_some()) => {
                Val::dict(args.into_iter().map(|a| (a.key.unwrap_or_default(), a.val)).collect())
            }
            _ => Val::list(args.into_iter().map(|a| a.val).collect()),
        }
    }

    /// What the function in a call's arguments will be called with.
    pub(super) fn callback_argument(&self, val: &Val) -> Val {
        let inner = match val {
            Val::Member(inner) => inner,
            // `process.stdin.on("data", f)`, `https.get(url, f)`
            Val::Name(name) if name.starts_with("process.stdin.") => return self.input(),
            Val::Name(name) if self.lang == Lang::Js => {
                let fetches = self.find_row(name).is_some_and(|row| row.ends_with("->fed"));
                return if fetches { Val::Fed } else { Val::Unknown };
            }
            _ => return Val::Unknown,
        };
        match inner.1.as_str() {
            "then" | "tap" | "pipe" | "on" => inner.0.clone(),
            method if EACH.contains(&method) => inner.0.loop_element(),
            _ => Val::Unknown,
        }
    }
}
