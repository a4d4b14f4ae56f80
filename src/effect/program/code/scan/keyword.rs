//! Keywords, definitions and imports.

use super::*;
use crate::names::keywords::{JS, LUA, PERL, PHP, PYTHON, R, RUBY, SOFT};
use crate::names::scan::{BEFORE, BRANCHES};

/// Goes behind a declaration that only says what the names of others are.
fn used(c: &mut Cursor) {
    while c.peek(0).is_some_and(|t| t.kind != TokenKind::End) {
        if c.is_token(0, TokenKind::Open, "{") || c.is_token(0, TokenKind::Name, "lib") {
            break;
        }
        c.at += 1;
    }
}

/// Does the keyword part two values, of which the first says nothing of the second?
fn parts(lang: Lang, text: &str) -> bool {
    use Lang::{Js, Lua, Perl, Php, Python, R, Ruby};
    match text {
        "and" => matches!(lang, Python | Ruby | Perl | Lua | Php),
        "else" => matches!(lang, Python | Ruby | Lua | Js | Php | R),
        "in" | "is" | "not" => lang == Python,
        "instanceof" => lang == Js,
        _ => false,
    }
}

/// The keywords of a language.
fn keywords_of(lang: Lang) -> &'static [&'static str] {
    match lang {
        Lang::Python => PYTHON,
        Lang::Js => JS,
        Lang::Ruby => RUBY,
        Lang::Perl => PERL,
        Lang::Php => PHP,
        Lang::Lua => LUA,
        Lang::R => R,
    }
}

impl Scan<'_, '_> {
    pub(super) fn primary_or_none(&mut self, c: &mut Cursor, params: &Val) -> (Val, AssignTarget) {
        match c.peek(0) {
            Some(t) if !matches!(t.kind, TokenKind::Close | TokenKind::End | TokenKind::Op) => {
                self.scan_primary(c, params)
            }
            _ => (Val::Unknown, AssignTarget::None),
        }
    }

    /// Is the word at the cursor a keyword of this language, and no name that the program gave a value?
    fn is_keyword(&self, c: &Cursor, text: &str) -> bool {
        let named = || c.is_token(1, TokenKind::Op, "=") || self.env.contains_key(text);
        keywords_of(self.lang).contains(&text) && !(SOFT.contains(&text) && named())
    }

    /// A keyword at the cursor: true = it was handled.
    pub(super) fn scan_keyword(
        &mut self,
        c: &mut Cursor,
        text: &str,
        line: &mut StatementState,
        args: &mut Vec<CallArg>,
        params: &mut Val,
    ) -> bool {
        use Lang::{Js, Lua, Perl, Php, Python, Ruby};
        let lang = self.lang;
        if !self.is_keyword(c, text) {
            return false;
        }
        // A key or a member of that name.
        if c.is_token(1, TokenKind::Op, ":") && !matches!(lang, Python)
            || c.is_token(1, TokenKind::Op, "=>") && lang != Js
        {
            return false;
        }
        match (lang, text) {
            (Python, "import" | "from") if line.cur.is_none() && line.op.is_none() => {
                self.python_import(c)
            }
            (Js, "import")
                if !c.is_token(1, TokenKind::Open, "(") && !c.is_token(1, TokenKind::Op, ".") =>
            {
                self.js_import(c)
            }
            (Perl, "use") => {
                let module = c.name_at(1).to_string();
                self.import_all(&module);
                used(c);
            }
            (Perl, "no" | "package") | (Php, "use" | "namespace") => used(c),
            (_, "def" | "function" | "sub" | "fn" | "func")
                if lang != Lang::R || c.is_token(1, TokenKind::Open, "(") =>
            {
                c.at += 1;
                self.scan_definition(c);
                line.drop_value();
            }
            (_, "class") => {
                c.at += 1;
                self.class = c.name_at(0).to_string();
                c.at += usize::from(!self.class.is_empty());
                line.drop_value();
            }
            (Python, "lambda") => self.lambda(c, line, params),
            (Python | Ruby | Lua | Lang::R, "for") => self.for_in(c, line, args),
            (Perl, "for" | "foreach") => self.perl_for(c, line),
            (Js, "of" | "in") if line.cur.is_some() => {
                c.at += 1;
                line.loops = vec![std::mem::replace(&mut line.last, AssignTarget::None)];
                line.drop_value();
            }
            (Php | Python, "as") => self.named_as(c, line),
            (Python, "if") if line.cur.is_some() => {
                c.at += 1;
                self.bind_loop_variables(c, line);
                line.or();
                line.op = None;
            }
            _ if BRANCHES.contains(&text) => {
                c.at += 1;
                self.bind_loop_variables(c, line);
                line.drop_value();
                line.guarded = true;
            }
            (Python | Ruby | Perl | Lua | Php, "or" | "xor") => {
                c.at += 1;
                line.or();
                line.op = None;
            }
            (Ruby | Lua, "do" | "then") => {
                c.at += 1;
                self.bind_loop_variables(c, line);
                line.drop_value();
                if lang == Ruby && c.is_operator("|") {
                    self.block_params(c, params);
                }
                line.guarded = true;
            }
            (Perl, "do" | "eval") if c.is_token(1, TokenKind::Open, "{") => c.at += 1,
            (Ruby | Lua, "end" | "begin" | "ensure" | "rescue" | "repeat") => {
                c.at += 1;
                self.finish_value(c, line, args, GroupEnd::All);
                self.finish_statement(c, line);
            }
            _ if parts(lang, text)
                || BEFORE.contains(&text)
                    && !c.is_token(1, TokenKind::Op, "=")
                    && !c.is_token(1, TokenKind::Op, ".") =>
            {
                c.at += 1;
                line.drop_value();
            }
            _ => return false,
        }
        true
    }

    /// `lambda a, b:`
    fn lambda(&mut self, c: &mut Cursor, line: &mut StatementState, params: &Val) {
        let inside = |token: &Token| {
            !matches!(token.kind, TokenKind::End | TokenKind::Open | TokenKind::Close)
        };
        c.at += 1;
        while c.peek(0).is_some_and(inside) && !c.is_operator(":") {
            let name = c.name_at(0).to_string();
            if !name.is_empty() && !c.is_token(1, TokenKind::Op, ".") {
                self.bind_name(&name, params.clone(), false);
            }
            c.at += 1;
        }
        c.at += usize::from(c.is_operator(":"));
        line.drop_value();
    }

    /// `for a, (b, c) in`
    fn for_in(&mut self, c: &mut Cursor, line: &mut StatementState, args: &mut Vec<CallArg>) {
        if self.lang == Lang::Python {
            self.keys_until = super::keys::keys_only(c).unwrap_or(self.keys_until);
        }
        self.bind_loop_variables(c, line);
        if let Some(val) = line.take_value() {
            args.push(CallArg { key: line.key.take(), val, block: false });
        }
        c.at += 1;
        let mut names = Vec::new();
        let between = |c: &Cursor| {
            c.is_operator(",")
                || c.is_token(0, TokenKind::Open, "(")
                || c.is_token(0, TokenKind::Close, ")")
        };
        while !matches!(c.name_at(0), "in" | "") || between(c) {
            if !c.name_at(0).is_empty() {
                names.push(AssignTarget::Name(c.name_at(0).to_string()));
            }
            c.at += 1;
        }
        if c.name_at(0) == "in" {
            c.at += 1;
            line.loops = names;
        }
        line.guarded = true;
    }

    /// The statement before it is complete; `$_` or the named variable runs over what follows.
    fn perl_for(&mut self, c: &mut Cursor, line: &mut StatementState) {
        line.drop_value();
        c.at += 1;
        while matches!(c.name_at(0), "my" | "our") {
            c.at += 1;
        }
        let mut name = "$_".to_string();
        if c.name_at(0).starts_with('$') && c.is_token(1, TokenKind::Open, "(") {
            name = c.name_at(0).to_string();
            c.at += 1;
        }
        line.loops = vec![AssignTarget::Name(name)];
        line.guarded = true;
        if c.is_token(0, TokenKind::Open, "(") {
            let (val, _) = self.scan_primary(c, &Val::Unknown);
            line.cur = Some(val);
            self.bind_loop_variables(c, line);
        }
    }

    /// `foreach ($x as $k => $v)`, `with x as y`
    fn named_as(&mut self, c: &mut Cursor, line: &mut StatementState) {
        c.at += 1;
        if self.lang == Lang::Python {
            let val = line.cur.take().unwrap_or(Val::Unknown);
            let name = c.name_at(0).to_string();
            if !name.is_empty() {
                c.at += 1;
                self.bind_name(&name, val, false);
            }
            return;
        }
        let val = line.take_value().unwrap_or(Val::Unknown).loop_element();
        while c.peek(0).is_some_and(|t| matches!(t.kind, TokenKind::Name | TokenKind::Op)) {
            let name = c.name_at(0).to_string();
            if name.starts_with('$') {
                self.bind_name(&name, val.clone(), false);
            }
            c.at += 1;
        }
    }

    /// `|a, (b, c)|` of a block.
    pub(super) fn block_params(&mut self, c: &mut Cursor, params: &Val) {
        c.at += 1;
        let mut i = 0;
        let mut rest = c.tokens.get(c.at..).unwrap_or_default().iter();
        if !rest.any(|token| token.kind == TokenKind::Op && token.text == "|") {
            return;
        }
        while !c.is_operator("|") {
            let name = c.name_at(0).to_string();
            if !name.is_empty() {
                self.bind_name(&name, if i == 0 { params.clone() } else { Val::Unknown }, false);
            }
            i += 1;
            c.at += 1;
        }
        c.at += 1;
    }

    /// Behind `def` and its like: the name and the parameters.
    pub(super) fn scan_definition(&mut self, c: &mut Cursor) {
        let mut name = String::new();
        while c.peek(0).is_some_and(|t| {
            t.kind == TokenKind::Name || t.kind == TokenKind::Op && (t.text == "." || t.text == "*")
        }) {
            name = c.name_at(0).to_string();
            c.at += 1;
        }
        if name == "__init__" || name == "constructor" || name == "initialize" {
            name = self.class.clone();
        }
        let known = self.calls.get(&name).cloned();
        let param =
            |i: usize| known.as_ref().and_then(|k| k.get(i).cloned()).unwrap_or(Val::Unknown);
        if self.lang == Lang::Perl {
            let all = known.clone().unwrap_or_else(|| vec![Val::Unknown]);
            self.bind_name("@_", Val::list(all), false);
        }
        if !c.is_token(0, TokenKind::Open, "(") {
            return;
        }
        c.at += 1;
        let (mut depth, mut i, mut first, mut own) = (0, 0, true, false);
        while let Some(token) = c.peek(0) {
            match token.kind {
                TokenKind::Open => depth += 1,
                TokenKind::Close if depth == 0 => {
                    c.at += 1;
                    break;
                }
                TokenKind::Close => depth -= 1,
                TokenKind::Op if depth == 0 && token.text == "," => {
                    i += usize::from(!std::mem::take(&mut own));
                    first = true;
                }
                TokenKind::Name => {
                    let typed = self.lang == Lang::Php && !token.text.starts_with('$');
                    if first && !typed && token.text != "self" && token.text != "cls" {
                        first = false;
                        self.bind_name(&token.text, param(i), false);
                    } else if first && !typed {
                        // The object itself is no argument of the call.
                        own = true;
                    }
                }
                TokenKind::Text if depth == 0 && !first => {
                    // A default.
                    if let Some(name) =
                        c.tokens[..c.at].iter().rev().take(3).find(|t| t.kind == TokenKind::Name)
                    {
                        self.bind_name(&name.text, Val::text(&token.text), true);
                    }
                }
                _ => {}
            }
            c.at += 1;
        }
    }

    pub(super) fn python_import(&mut self, c: &mut Cursor) {
        let from = c.name_at(0) == "from";
        c.at += 1;
        let mut module = String::new();
        if from {
            while c.peek(0).is_some_and(|t| t.kind != TokenKind::End) && c.name_at(0) != "import" {
                module.push_str(&c.tokens[c.at].text);
                c.at += 1;
            }
            c.at += usize::from(c.name_at(0) == "import");
        }
        let mut bracket = false;
        loop {
            let mut name = String::new();
            while let Some(token) = c.peek(0) {
                match token.kind {
                    TokenKind::Open => bracket = true,
                    TokenKind::Name if token.text != "as" => name.push_str(&token.text),
                    TokenKind::Op if token.text == "." => name.push('.'),
                    TokenKind::Op if token.text == "*" => name.push('*'),
                    TokenKind::End if bracket => {}
                    _ => break,
                }
                c.at += 1;
            }
            let whole = if from { format!("{module}.{name}") } else { name.clone() };
            let module = if from { &module } else { &name };
            self.runs_module(&format!("./{}", module.replace('.', "/")));
            if name == "*" {
                self.import_all(module);
            } else if c.name_at(0) == "as" {
                let local = c.name_at(1).to_string();
                c.at += 2;
                self.bind_name(&local, Val::name(&whole), false);
            } else if from {
                self.bind_name(&name, Val::name(&whole), false);
            } else {
                // `import os` unbinds what the name stood for.
                let root = name.split('.').next().unwrap_or_default();
                self.env.remove(root);
            }
            if bracket && c.is_token(0, TokenKind::Close, ")") {
                c.at += 1;
                break;
            }
            if !c.is_operator(",") {
                break;
            }
            c.at += 1;
        }
    }

    /// `from os import *`, `use IPC::Run`: every row of that module.
    pub fn import_all(&mut self, module: &str) {
        let rows: Vec<&'static str> = self.rows.keys().copied().collect();
        for row in rows {
            let sign = if self.lang == Lang::Perl { "::" } else { "." };
            if let Some(name) = row.strip_prefix(module).and_then(|r| r.strip_prefix(sign))
                && !name.is_empty()
                && !name.contains(sign)
            {
                self.bind_name(name, Val::name(row), false);
            }
        }
    }

    pub(super) fn js_import(&mut self, c: &mut Cursor) {
        c.at += 1;
        let from = c.at;
        while c.peek(0).is_some_and(|t| t.kind != TokenKind::Text && t.text != ";") {
            c.at += 1;
        }
        let Some(module) = c.peek(0).filter(|t| t.kind == TokenKind::Text) else { return };
        self.imports(&module.text);
        let module = module_name(&module.text);
        let mut at = from;
        let mut inside = false;
        while at < c.at {
            let token = &c.tokens[at];
            let renamed = c.tokens.get(at + 1).is_some_and(|t| t.text == "as");
            let local = if renamed { c.tokens.get(at + 2) } else { Some(token) };
            match (&token.kind, local) {
                (TokenKind::Open, _) => inside = true,
                (TokenKind::Close, _) => inside = false,
                (TokenKind::Name, Some(_)) if matches!(token.text.as_ref(), "from" | "type") => {}
                (TokenKind::Name | TokenKind::Op, Some(local)) if local.kind == TokenKind::Name => {
                    let val = if inside && token.text != "default" {
                        Val::name(&format!("{module}.{}", token.text))
                    } else {
                        Val::name(&module)
                    };
                    let local = local.text.to_string();
                    self.bind_name(&local, val, false);
                    at += if renamed { 2 } else { 0 };
                }
                _ => {}
            }
            at += 1;
        }
        c.at += 1;
    }
}
