//! Walks the tokens of an inline program once for its names and once for its effects.
//!
//! It is no parser: brackets, statements, assignments and calls are told apart, and that much is the
//! same in all these languages. What a call does is said by the rows of [`super::rows`].

use std::collections::HashMap;
use std::ops::Range;

use super::lex::{self, JOIN, Kind, Lang, Token};
use super::val::Val;
use crate::effect::program::Next;
use crate::effect::value::Emitter;

/// How deep brackets stand in brackets.
const MAX_DEPTH: u16 = 60;
/// How deep programs stand in programs (`eval("eval(...)")`).
const MAX_NEST: u8 = 4;

/// An argument of a call, an entry of a list or table.
#[derive(Debug, Clone)]
pub struct Arg {
    /// Its name, where it has one.
    pub key: Option<String>,
    /// Its value.
    pub val: Val,
    /// `&` stands before it (Ruby).
    pub block: bool,
}

/// Where a group of tokens ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stop {
    /// With the program.
    All,
    /// With the statement: a call without brackets.
    Line,
    /// At the bracket that closes this one.
    Bracket(u8),
}

/// What an assignment writes to.
#[derive(Clone)]
enum Target {
    None,
    Name(String),
    /// The names between these tokens.
    Group(usize, usize),
}

/// The tokens and where the walk stands.
struct Cursor<'t> {
    tokens: &'t [Token<'t>],
    at: usize,
}

impl<'t> Cursor<'t> {
    fn peek(&self, n: usize) -> Option<&'t Token<'t>> {
        self.tokens.get(self.at + n)
    }

    fn is(&self, n: usize, kind: Kind, text: &str) -> bool {
        self.peek(n).is_some_and(|t| t.kind == kind && t.text == text)
    }

    fn op(&self, text: &str) -> bool {
        self.is(0, Kind::Op, text)
    }

    fn word(&self, n: usize) -> &'t str {
        self.peek(n).filter(|t| t.kind == Kind::Name).map_or("", |t| t.text.as_ref())
    }
}

/// The state of one expression or statement.
struct Line {
    cur: Option<Val>,
    op: Option<&'static str>,
    alts: Vec<Val>,
    key: Option<String>,
    last: Target,
    noted: Target,
    assign: Vec<Target>,
    append: bool,
    before: Vec<Target>,
    right: Vec<Val>,
    loops: Vec<Target>,
    ternary: u32,
    block: bool,
    guarded: bool,
}

impl Line {
    fn new() -> Line {
        Line {
            cur: None,
            op: None,
            alts: Vec::new(),
            key: None,
            last: Target::None,
            noted: Target::None,
            assign: Vec::new(),
            append: false,
            before: Vec::new(),
            right: Vec::new(),
            loops: Vec::new(),
            ternary: 0,
            block: false,
            guarded: false,
        }
    }

    fn drop(&mut self) {
        self.cur = None;
        self.op = None;
    }

    fn value(&mut self) -> Option<Val> {
        self.op = None;
        let cur = self.cur.take();
        if self.alts.is_empty() {
            return cur;
        }
        let mut all = std::mem::take(&mut self.alts);
        all.extend(cur);
        Some(Val::any(all))
    }
}

/// The walk.
pub struct Scan<'a, 'p> {
    /// Where effects go.
    pub out: &'a mut Emitter<'p>,
    /// What runs in turn.
    pub next: &'a mut Vec<Next>,
    /// The bytes of the program in the call.
    pub span: Range<usize>,
    /// The language.
    pub lang: Lang,
    /// Its rows.
    pub rows: HashMap<&'static str, &'static str>,
    /// What names stand for.
    pub env: HashMap<String, Val>,
    /// The first walk, which only learns names.
    pub silent: bool,
    /// Something was hidden already.
    pub hidden: bool,
    /// The program went to another directory.
    pub moved: bool,
    /// How many effects there are.
    pub count: usize,
    /// What the program's own functions are called with.
    pub calls: HashMap<String, Vec<Val>>,
    /// The class that is being defined.
    class: String,
    depth: u16,
    /// The depth at which this program began.
    base: u16,
    nest: u8,
}

impl<'a, 'p> Scan<'a, 'p> {
    /// A walk that has seen nothing yet.
    pub fn new(
        lang: Lang,
        out: &'a mut Emitter<'p>,
        next: &'a mut Vec<Next>,
        span: Range<usize>,
    ) -> Scan<'a, 'p> {
        Scan {
            out,
            next,
            span,
            lang,
            rows: super::rows::read(lang),
            env: HashMap::new(),
            silent: false,
            hidden: false,
            moved: false,
            count: 0,
            calls: HashMap::new(),
            class: String::new(),
            depth: 0,
            base: 0,
            nest: 0,
        }
    }

    /// The effects of a program text.
    pub fn program(&mut self, text: &str) {
        if self.silent {
            return;
        }
        if self.nest >= MAX_NEST {
            self.hide("programs in programs, nested too deep");
            return;
        }
        self.nest += 1;
        let (tokens, good) = lex::tokens(self.lang, text);
        let base = std::mem::replace(&mut self.base, self.depth);
        self.silent = true;
        let env = self.env.clone();
        self.group(&mut Cursor { tokens: &tokens, at: 0 }, Stop::All, &Val::Unknown);
        if !self.calls.is_empty() {
            // Once more, now that it is known what the program's own functions are called with.
            self.env = env;
            self.group(&mut Cursor { tokens: &tokens, at: 0 }, Stop::All, &Val::Unknown);
        }
        self.silent = false;
        self.group(&mut Cursor { tokens: &tokens, at: 0 }, Stop::All, &Val::Unknown);
        self.base = base;
        if !good {
            self.hide("an inline program whose text is not understood");
        }
        self.nest -= 1;
    }

    /// Something that hides what it does: an unknown execute, once.
    pub fn hide(&mut self, why: &str) {
        if !self.silent && !self.hidden {
            self.hidden = true;
            let span = self.span.clone();
            self.out.unknown(why, span);
        }
    }

    fn bind(&mut self, name: &str, val: Val, merge: bool) {
        let val = match self.env.get(name) {
            Some(old) if merge && *old != val => Val::any(vec![old.clone(), val]),
            _ => val,
        };
        self.env.insert(name.to_string(), val);
    }

    fn assign(&mut self, tokens: &[Token], target: &Target, val: &Val, merge: bool) {
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

    /// Tokens up to where the group ends; `params` is what a function among them is called with.
    fn group(&mut self, c: &mut Cursor, stop: Stop, params: &Val) -> Vec<Arg> {
        let mut args = Vec::new();
        let mut line = Line::new();
        if self.depth >= MAX_DEPTH {
            self.hide("brackets nested deeper than 60");
            if let Stop::Bracket(_) = stop {
                skip(c);
            }
            return args;
        }
        self.depth += 1;
        let mut params = params.clone();
        while let Some(token) = c.peek(0) {
            let text = token.text.as_ref();
            match token.kind {
                Kind::Close => {
                    if stop == Stop::Line {
                        break;
                    }
                    c.at += 1;
                    if stop == Stop::All {
                        self.hide("an inline program with a bracket too many");
                        continue;
                    }
                    self.comma(c, &mut line, &mut args, stop);
                    self.statement(c, &mut line);
                    self.depth -= 1;
                    return args;
                }
                Kind::End => {
                    if stop == Stop::Line {
                        break;
                    }
                    let inside = match stop {
                        Stop::Bracket(b'{') => matches!(self.lang, Lang::Python | Lang::Lua),
                        Stop::Bracket(_) => true,
                        _ => false,
                    };
                    if text == "\n"
                        && (inside
                            || line.op.is_some()
                            || self.lang != Lang::Python
                                && self.lang != Lang::Ruby
                                && matches!(self.lang, Lang::Perl | Lang::Php))
                    {
                        c.at += 1;
                        continue;
                    }
                    c.at += 1;
                    self.comma(c, &mut line, &mut args, stop);
                    self.statement(c, &mut line);
                    if text == "\n" || self.lang != Lang::Python {
                        line.guarded = false;
                    }
                    if stop == Stop::All {
                        args.clear();
                    }
                }
                Kind::Op => {
                    if !self.operator(c, text, &mut line, &mut args, stop, &params) {
                        break;
                    }
                }
                _ => {
                    if token.kind == Kind::Name
                        && !matches!(c.at.checked_sub(1).and_then(|n| c.tokens.get(n)), Some(t) if t.kind == Kind::Op && t.text == ".")
                    {
                        if stop == Stop::Line && ends_call(self.lang, text) {
                            break;
                        }
                        if self.keyword(c, text, &mut line, &mut args, &mut params) {
                            continue;
                        }
                    }
                    let from = c.at;
                    let merge = token.indent > 0;
                    line.guarded |= merge;
                    let (val, target) = self.primary(c, &params);
                    if c.at == from {
                        c.at += 1;
                    }
                    line.last = target;
                    line.cur = Some(match (line.cur.take(), line.op.take()) {
                        (Some(left), Some(JOIN)) => left.join(&val, ""),
                        (Some(Val::Path(left)), Some("/")) => {
                            Val::Path(left.join(&val, "/").into())
                        }
                        (Some(left @ Val::Any(..)), Some("/")) => {
                            Val::Path(left.join(&val, "/").into())
                        }
                        (Some(_), Some(_)) => Val::Unknown,
                        (Some(left @ Val::Text(_)), None)
                            if token.kind == Kind::Text && self.lang == Lang::Python =>
                        {
                            left.join(&val, "")
                        }
                        _ => val,
                    });
                }
            }
        }
        if let Stop::Bracket(_) = stop {
            self.hide("an inline program with a bracket too few");
        }
        self.comma(c, &mut line, &mut args, stop);
        self.statement(c, &mut line);
        self.depth -= 1;
        args
    }

    /// One value of a row is complete.
    fn comma(&mut self, c: &Cursor, line: &mut Line, args: &mut Vec<Arg>, stop: Stop) {
        self.looped(c, line);
        let last = std::mem::replace(&mut line.last, Target::None);
        let Some(val) = line.value() else {
            line.key = None;
            return;
        };
        if line.assign.is_empty() {
            line.before.push(last);
        } else {
            line.right.push(val.clone());
            if stop != Stop::All && !matches!(self.lang, Lang::Ruby | Lang::Python)
                || matches!(self.lang, Lang::Js | Lang::Php)
            {
                self.statement(c, line);
            }
        }
        args.push(Arg { key: line.key.take(), val, block: std::mem::take(&mut line.block) });
    }

    /// A statement is complete: what it assigned is bound.
    fn statement(&mut self, c: &Cursor, line: &mut Line) {
        self.looped(c, line);
        let merge = self.depth > self.base + 1 || line.guarded;
        let right = std::mem::take(&mut line.right);
        if !line.assign.is_empty() {
            let targets = std::mem::take(&mut line.assign);
            let val = match right.len() {
                0 => Val::Unknown,
                1 => right[0].clone(),
                _ => Val::list(right),
            };
            if line.before.is_empty() {
                for target in &targets {
                    let val = match target {
                        Target::Name(name) if line.append => {
                            let old = self.env.get(name).cloned().unwrap_or(Val::Unknown);
                            if merge { old.join(&Val::Unknown, "") } else { old.join(&val, "") }
                        }
                        _ => val.clone(),
                    };
                    self.assign(c.tokens, target, &val, merge);
                }
            } else {
                line.before.extend(targets);
                for (i, target) in std::mem::take(&mut line.before).iter().enumerate() {
                    self.assign(c.tokens, target, &part(&val, i), merge);
                }
            }
        }
        line.before.clear();
        line.append = false;
        line.noted = Target::None;
        line.last = Target::None;
        line.ternary = 0;
    }

    /// A loop's list is complete: its variables are bound to what is in it.
    fn looped(&mut self, c: &Cursor, line: &mut Line) {
        if line.loops.is_empty() {
            return;
        }
        let loops = std::mem::take(&mut line.loops);
        let val = line.value().unwrap_or(Val::Unknown).element();
        if let [one] = &loops[..] {
            self.assign(c.tokens, one, &val, false);
        } else {
            for (i, target) in loops.iter().enumerate() {
                self.assign(c.tokens, target, &part(&val, i), false);
            }
        }
    }

    /// An operator; false = the group ends here.
    fn operator(
        &mut self,
        c: &mut Cursor,
        text: &str,
        line: &mut Line,
        args: &mut Vec<Arg>,
        stop: Stop,
        params: &Val,
    ) -> bool {
        let bracket = match stop {
            Stop::Bracket(b) => b,
            _ => 0,
        };
        c.at += 1;
        match text {
            "," => self.comma(c, line, args, stop),
            "=" | "+=" => {
                let keyed = match self.lang {
                    Lang::Python | Lang::R => bracket == b'(',
                    Lang::Lua => bracket == b'{',
                    _ => false,
                } && c.tokens[c.at - 1].text == "=";
                let mut target = std::mem::replace(&mut line.last, Target::None);
                if let Target::None = target {
                    target = std::mem::replace(&mut line.noted, Target::None);
                }
                if keyed {
                    if let Target::Name(name) = target {
                        line.key = Some(name);
                    }
                } else {
                    if bracket != 0 && line.assign.is_empty() && self.lang != Lang::Python {
                        line.before.clear();
                    }
                    line.append = text == "+=";
                    line.assign.push(target);
                }
                line.drop();
                line.alts.clear();
            }
            "&&" => line.drop(),
            "||" | "??" => {
                let left = line.cur.take();
                line.alts.extend(left);
                line.op = None;
            }
            "//" if self.lang == Lang::Perl => {
                let left = line.cur.take();
                line.alts.extend(left);
            }
            "?" => {
                line.drop();
                line.ternary += 1;
            }
            ":" if line.ternary > 0 => {
                line.ternary -= 1;
                let left = line.cur.take();
                line.alts.extend(left);
                line.op = None;
            }
            ":" => {
                self.looped(c, line);
                line.noted = std::mem::replace(&mut line.last, Target::None);
                let cur = line.value();
                if bracket == b'{' || bracket == b'(' {
                    line.key = match (&line.noted, cur) {
                        (_, Some(Val::Text(text))) => Some(text.to_string()),
                        (Target::Name(name), _) => Some(name.clone()),
                        _ => Some(String::new()),
                    };
                }
                if bracket == 0 && self.lang == Lang::Python {
                    line.guarded = true;
                }
            }
            "=>" if self.lang == Lang::Js => {
                let target = std::mem::replace(&mut line.last, Target::None);
                let val = match target {
                    Target::Group(..) => Val::list(vec![params.clone()]),
                    _ => params.clone(),
                };
                self.assign(c.tokens, &target, &val, false);
                line.drop();
            }
            "=>" => {
                let last = std::mem::replace(&mut line.last, Target::None);
                line.key = match (line.value(), last) {
                    (Some(Val::Text(text)), _) => Some(text.to_string()),
                    (_, Target::Name(name)) => Some(name),
                    _ => Some(String::new()),
                };
            }
            "|>" => {}
            "&" if line.cur.is_none() => line.block = true,
            "|" if line.cur.is_none() && self.lang == Lang::Ruby && bracket == b'{' => {
                c.at -= 1;
                self.block_params(c, params);
            }
            JOIN => line.op = Some(JOIN),
            "/" => line.op = Some("/"),
            "." => {
                // `$x->[0]`, `f.()`: the value goes on behind it.
            }
            "=~" if self.lang == Lang::Perl => line.drop(),
            "!" | "-" | "*" | "~" | "..." | "**" | "@" | "+" if line.cur.is_none() => {}
            "%" if line.cur.as_ref().is_some_and(|v| matches!(v, Val::Text(_))) => {
                // `"rm %s" % x`: the text up to its first place holder.
                let left = line.cur.take().unwrap_or(Val::Unknown);
                let (val, _) = self.primary_or_none(c, params);
                let given = match val {
                    Val::List(_, items) => items.to_vec(),
                    one => vec![one],
                };
                line.cur = Some(template(&left, &given));
                line.op = None;
            }
            _ => line.op = Some("?"),
        }
        true
    }

    fn primary_or_none(&mut self, c: &mut Cursor, params: &Val) -> (Val, Target) {
        match c.peek(0) {
            Some(t) if !matches!(t.kind, Kind::Close | Kind::End | Kind::Op) => {
                self.primary(c, params)
            }
            _ => (Val::Unknown, Target::None),
        }
    }

    /// A keyword at the cursor: true = it was handled.
    fn keyword(
        &mut self,
        c: &mut Cursor,
        text: &str,
        line: &mut Line,
        args: &mut Vec<Arg>,
        params: &mut Val,
    ) -> bool {
        use Lang::{Js, Lua, Perl, Php, Python, R, Ruby};
        let lang = self.lang;
        // A key or a member of that name.
        if c.is(1, Kind::Op, ":") && !matches!(lang, Python)
            || c.is(1, Kind::Op, "=>") && lang != Js
        {
            return false;
        }
        match (lang, text) {
            (Python, "import") | (Python, "from") if line.cur.is_none() && line.op.is_none() => {
                self.python_import(c)
            }
            (Js, "import") if !c.is(1, Kind::Open, "(") && !c.is(1, Kind::Op, ".") => {
                self.js_import(c)
            }
            (Perl, "use" | "no" | "package") | (Php, "use" | "namespace") => {
                while c.peek(0).is_some_and(|t| t.kind != Kind::End) {
                    if c.is(0, Kind::Open, "{") || c.is(0, Kind::Name, "lib") {
                        break;
                    }
                    c.at += 1;
                }
            }
            (_, "def" | "function" | "sub" | "fn" | "func")
                if lang != R || c.is(1, Kind::Open, "(") =>
            {
                c.at += 1;
                self.define(c);
                line.drop();
            }
            (_, "class") => {
                c.at += 1;
                self.class = c.word(0).to_string();
                c.at += usize::from(!self.class.is_empty());
                line.drop();
            }
            (Python, "lambda") => {
                c.at += 1;
                while c.peek(0).is_some_and(|t| t.kind != Kind::End) && !c.op(":") {
                    if c.peek(0).is_some_and(|t| matches!(t.kind, Kind::Open | Kind::Close)) {
                        break;
                    }
                    let name = c.word(0).to_string();
                    if !name.is_empty() && !c.is(1, Kind::Op, ".") {
                        self.bind(&name, params.clone(), false);
                    }
                    c.at += 1;
                }
                if c.op(":") {
                    c.at += 1;
                }
                line.drop();
            }
            (Python | Ruby | Lua | R, "for") => {
                self.looped(c, line);
                let val = line.value();
                if let Some(val) = val {
                    args.push(Arg { key: line.key.take(), val, block: false });
                }
                c.at += 1;
                let from = c.at;
                let mut names = Vec::new();
                while c.at - from < 20 && !matches!(c.word(0), "in" | "")
                    || c.op(",")
                    || c.is(0, Kind::Open, "(")
                    || c.is(0, Kind::Close, ")")
                {
                    if c.at - from > 20 {
                        break;
                    }
                    if !c.word(0).is_empty() {
                        names.push(Target::Name(c.word(0).to_string()));
                    }
                    c.at += 1;
                }
                if c.word(0) == "in" {
                    c.at += 1;
                    line.loops = names;
                }
                line.guarded = true;
            }
            (Perl, "for" | "foreach") => {
                // The statement before it is complete; `$_` or the named variable runs over what follows.
                line.drop();
                c.at += 1;
                while matches!(c.word(0), "my" | "our") {
                    c.at += 1;
                }
                let mut name = "$_".to_string();
                if c.word(0).starts_with('$') && c.is(1, Kind::Open, "(") {
                    name = c.word(0).to_string();
                    c.at += 1;
                }
                line.loops = vec![Target::Name(name)];
                line.guarded = true;
                if c.is(0, Kind::Open, "(") {
                    let (val, _) = self.primary(c, &Val::Unknown);
                    line.cur = Some(val);
                    self.looped(c, line);
                }
            }
            (Js, "of") | (Js, "in") if line.cur.is_some() => {
                c.at += 1;
                line.loops = vec![std::mem::replace(&mut line.last, Target::None)];
                line.drop();
            }
            (Php, "as") => {
                c.at += 1;
                let val = line.value().unwrap_or(Val::Unknown).element();
                while c.peek(0).is_some_and(|t| t.kind == Kind::Name || t.kind == Kind::Op) {
                    let name = c.word(0).to_string();
                    if name.starts_with('$') {
                        self.bind(&name, val.clone(), false);
                    }
                    c.at += 1;
                }
            }
            (Python, "as") => {
                c.at += 1;
                let val = line.cur.take().unwrap_or(Val::Unknown);
                let name = c.word(0).to_string();
                if !name.is_empty() {
                    c.at += 1;
                    self.bind(&name, val, false);
                }
            }
            (Python, "if") if line.cur.is_some() => {
                c.at += 1;
                self.looped(c, line);
                let left = line.cur.take();
                line.alts.extend(left);
                line.op = None;
            }
            (Perl | Ruby, "if" | "unless" | "while" | "until")
            | (
                _,
                "if" | "while" | "elif" | "elsif" | "unless" | "until" | "switch" | "case"
                | "catch",
            ) => {
                c.at += 1;
                self.looped(c, line);
                line.drop();
                line.guarded = true;
            }
            (Python | Ruby | Perl | Lua | Php, "or" | "xor") => {
                c.at += 1;
                let left = line.cur.take();
                line.alts.extend(left);
                line.op = None;
            }
            (Python | Ruby | Perl | Lua | Php, "and") => {
                c.at += 1;
                line.drop();
            }
            (Python | Ruby | Lua | Js | Php | R, "else") => {
                c.at += 1;
                line.drop();
            }
            (Ruby, "do") | (Ruby, "then") | (Lua, "do") | (Lua, "then") => {
                c.at += 1;
                self.looped(c, line);
                line.drop();
                if lang == Ruby && c.op("|") {
                    self.block_params(c, params);
                }
                line.guarded = true;
            }
            (Perl, "do" | "eval") if c.is(1, Kind::Open, "{") => c.at += 1,
            (Ruby | Lua, "end" | "begin" | "ensure" | "rescue" | "repeat") => {
                c.at += 1;
                self.comma(c, line, args, Stop::All);
                self.statement(c, line);
            }
            (Python, "in" | "is" | "not") | (Js, "instanceof") => {
                c.at += 1;
                line.drop();
            }
            (
                _,
                "return" | "yield" | "my" | "our" | "local" | "state" | "not" | "new" | "async"
                | "throw" | "raise" | "try" | "finally" | "next" | "last" | "static" | "public"
                | "private" | "export" | "default",
            )
            | (Js, "const" | "let" | "var" | "typeof" | "void" | "delete" | "await")
            | (
                Python,
                "await" | "assert" | "del" | "pass" | "global" | "with" | "except" | "nonlocal",
            )
            | (Ruby, "module" | "when")
            | (Php, "global" | "const")
                if !c.is(1, Kind::Op, "=") && !c.is(1, Kind::Op, ".") =>
            {
                c.at += 1;
                line.drop();
            }
            _ => return false,
        }
        true
    }

    /// `|a, (b, c)|` of a block.
    fn block_params(&mut self, c: &mut Cursor, params: &Val) {
        c.at += 1;
        let mut i = 0;
        while c.at < c.tokens.len() && i < 20 && !c.op("|") {
            let name = c.word(0).to_string();
            if !name.is_empty() {
                self.bind(&name, if i == 0 { params.clone() } else { Val::Unknown }, false);
            }
            i += 1;
            c.at += 1;
        }
        if c.op("|") {
            c.at += 1;
        }
    }

    /// Behind `def` and its like: the name and the parameters.
    fn define(&mut self, c: &mut Cursor) {
        let mut name = String::new();
        while c.peek(0).is_some_and(|t| {
            t.kind == Kind::Name || t.kind == Kind::Op && (t.text == "." || t.text == "*")
        }) {
            name = c.word(0).to_string();
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
            self.bind("@_", Val::list(all), false);
        }
        if !c.is(0, Kind::Open, "(") {
            return;
        }
        c.at += 1;
        let (mut depth, mut i, mut first, mut own) = (0, 0, true, false);
        while let Some(token) = c.peek(0) {
            match token.kind {
                Kind::Open => depth += 1,
                Kind::Close if depth == 0 => {
                    c.at += 1;
                    break;
                }
                Kind::Close => depth -= 1,
                Kind::Op if depth == 0 && token.text == "," => {
                    i += usize::from(!std::mem::take(&mut own));
                    first = true;
                }
                Kind::Name => {
                    let typed = self.lang == Lang::Php && !token.text.starts_with('$');
                    if first && !typed && token.text != "self" && token.text != "cls" {
                        first = false;
                        self.bind(&token.text, param(i), false);
                    } else if first && !typed {
                        // The object itself is no argument of the call.
                        own = true;
                    }
                }
                Kind::Text if depth == 0 && !first => {
                    // A default.
                    if let Some(name) =
                        c.tokens[..c.at].iter().rev().take(3).find(|t| t.kind == Kind::Name)
                    {
                        self.bind(&name.text, Val::text(&token.text), true);
                    }
                }
                _ => {}
            }
            c.at += 1;
        }
    }

    fn python_import(&mut self, c: &mut Cursor) {
        let from = c.word(0) == "from";
        c.at += 1;
        let mut module = String::new();
        if from {
            while c.peek(0).is_some_and(|t| t.kind != Kind::End) && c.word(0) != "import" {
                module.push_str(&c.tokens[c.at].text);
                c.at += 1;
            }
            c.at += usize::from(c.word(0) == "import");
        }
        let mut bracket = false;
        loop {
            let mut name = String::new();
            while let Some(token) = c.peek(0) {
                match token.kind {
                    Kind::Open => bracket = true,
                    Kind::Name if token.text != "as" => name.push_str(&token.text),
                    Kind::Op if token.text == "." => name.push('.'),
                    Kind::Op if token.text == "*" => name.push('*'),
                    Kind::End if bracket => {}
                    _ => break,
                }
                c.at += 1;
            }
            let whole = if from { format!("{module}.{name}") } else { name.clone() };
            if name == "*" {
                self.star(&module);
            } else if c.word(0) == "as" {
                let local = c.word(1).to_string();
                c.at += 2;
                self.bind(&local, Val::name(&whole), false);
            } else if from {
                self.bind(&name, Val::name(&whole), false);
            } else {
                // `import os` unbinds what the name stood for.
                let root = name.split('.').next().unwrap_or_default();
                self.env.remove(root);
            }
            if bracket && c.is(0, Kind::Close, ")") {
                c.at += 1;
                break;
            }
            if !c.op(",") {
                break;
            }
            c.at += 1;
        }
    }

    /// `from os import *`: every row of that module.
    fn star(&mut self, module: &str) {
        let rows: Vec<&'static str> = self.rows.keys().copied().collect();
        for row in rows {
            if let Some(name) = row.strip_prefix(module).and_then(|r| r.strip_prefix('.'))
                && !name.is_empty()
                && !name.contains('.')
            {
                self.bind(name, Val::name(row), false);
            }
        }
    }

    fn js_import(&mut self, c: &mut Cursor) {
        c.at += 1;
        let from = c.at;
        while c.peek(0).is_some_and(|t| t.kind != Kind::Text && t.text != ";") {
            c.at += 1;
        }
        let Some(module) = c.peek(0).filter(|t| t.kind == Kind::Text) else { return };
        let module = module_name(&module.text);
        let mut at = from;
        let mut inside = false;
        while at < c.at {
            let token = &c.tokens[at];
            let renamed = c.tokens.get(at + 1).is_some_and(|t| t.text == "as");
            let local = if renamed { c.tokens.get(at + 2) } else { Some(token) };
            match (&token.kind, local) {
                (Kind::Open, _) => inside = true,
                (Kind::Close, _) => inside = false,
                (Kind::Name, Some(_)) if matches!(token.text.as_ref(), "from" | "type") => {}
                (Kind::Name | Kind::Op, Some(local)) if local.kind == Kind::Name => {
                    let val = if inside && token.text != "default" {
                        Val::name(&format!("{module}.{}", token.text))
                    } else {
                        Val::name(&module)
                    };
                    let local = local.text.to_string();
                    self.bind(&local, val, false);
                    at += if renamed { 2 } else { 0 };
                }
                _ => {}
            }
            at += 1;
        }
        c.at += 1;
    }

    /// A value with everything that is called on it.
    fn primary(&mut self, c: &mut Cursor, params: &Val) -> (Val, Target) {
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
                        Target::Name(name) if !called && name.len() < 160 => {
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
                            if !called && name.len() + key.len() < 150 =>
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
    fn trailing_block(&mut self, c: &mut Cursor, val: Val, given: &Val) -> Val {
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
    fn words_call(&self, c: &Cursor, token: &Token, val: &Val) -> bool {
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
    fn collected(&mut self, open: u8, mut args: Vec<Arg>, _trailing: bool) -> Val {
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
    fn given(&self, val: &Val) -> Val {
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

    /// Remembers what a function of the program is called with.
    pub fn record(&mut self, name: &str, args: &[Arg]) {
        let list = self.calls.entry(name.to_string()).or_default();
        for (i, arg) in args.iter().take(20).enumerate() {
            if let Some(old) = list.get(i) {
                list[i] = Val::any(vec![old.clone(), arg.val.clone()]);
            } else {
                list.push(arg.val.clone());
            }
        }
    }

    /// A function that is handed on: nobody knows what it is called with.
    pub fn escapes(&mut self, name: &str) {
        if !self.calls.contains_key(name) && !self.silent {
            return;
        }
        if let Some(list) = self.calls.get_mut(name) {
            for val in list {
                *val = Val::any(vec![val.clone(), Val::Unknown]);
            }
        }
    }
}

/// A part of what is assigned to several names.
fn part(val: &Val, index: usize) -> Val {
    match val {
        Val::List(_, items) => items.get(index).cloned().unwrap_or(Val::Unknown),
        Val::Name(_) | Val::Fed => val.clone(),
        Val::Text(text) if index == 0 && text.ends_with(super::val::HOLE) => val.clone(),
        Val::Any(_, items) => Val::any(items.iter().map(|i| part(i, index)).collect()),
        _ => Val::Unknown,
    }
}

/// A format with what is put into its places; a hole where that is not known.
pub fn template(val: &Val, given: &[Val]) -> Val {
    let Val::Text(text) = val else { return Val::Unknown };
    let mut given = given.iter();
    let mut out = Val::text("");
    let mut rest = text.as_ref();
    let mut places = 0;
    while let Some(at) = rest.find(['%', '{']) {
        let tail = &rest[at + 1..];
        let end = if rest.as_bytes()[at] == b'{' {
            tail.find('}').map_or(tail.len(), |n| n + 1)
        } else {
            tail.find(|c: char| c.is_ascii_alphabetic()).map_or(tail.len(), |n| n + 1)
        };
        let simple = matches!(&tail[..end], "s" | "}");
        let value = given.next().filter(|_| simple).cloned().unwrap_or(Val::Unknown);
        out = out.join(&Val::text(&rest[..at]), "").join(&value, "");
        rest = &tail[end..];
        places += 1;
        if places > 20 {
            return out.join(&Val::Unknown, "");
        }
    }
    out.join(&Val::text(rest), "")
}

/// A module without what says the same (`node:fs`, `fs/promises`).
pub fn module_name(text: &str) -> String {
    let text = text.strip_prefix("node:").unwrap_or(text);
    match text.strip_suffix("/promises").unwrap_or(text) {
        "fs-extra" | "graceful-fs" | "memfs" => "fs",
        "npm:fs" => "fs",
        other => other,
    }
    .to_string()
}

/// Was the bracket that just closed preceded by a comma?
fn trailing(c: &Cursor) -> bool {
    c.at >= 2 && c.tokens.get(c.at - 2).is_some_and(|t| t.kind == Kind::Op && t.text == ",")
}

/// Goes behind the bracket that is open.
fn skip(c: &mut Cursor) {
    let mut depth = 1;
    while let Some(token) = c.peek(0) {
        c.at += 1;
        match token.kind {
            Kind::Open => depth += 1,
            Kind::Close => {
                depth -= 1;
                if depth == 0 {
                    return;
                }
            }
            _ => {}
        }
    }
}

/// Words that end a call without brackets.
fn ends_call(lang: Lang, text: &str) -> bool {
    matches!(text, "if" | "unless" | "while" | "until" | "and" | "or" | "xor")
        || match lang {
            Lang::Perl => matches!(text, "for" | "foreach"),
            Lang::Ruby => matches!(text, "do" | "then" | "end" | "rescue"),
            _ => false,
        }
}
