//! Walks the tokens of an inline program once for its names and once for its effects.
//!
//! It is no parser: brackets, statements, assignments and calls are told apart, and that much is the
//! same in all these languages. What a call does is said by the rows of [`super::rows`].

use std::collections::BTreeMap;
use std::ops::Range;

use super::lex::{self, JOIN, Lang, Token, TokenKind};
use super::rows::Rows;
use super::val::Val;
use crate::effect::emitter::Emitter;
use crate::effect::program::Next;
use crate::effect::value::{BLANK, Value};
use crate::limits;

mod assign;
mod cursor;
mod keys;
mod keyword;
mod primary;
mod statement;

use assign::part_at;
use cursor::{Cursor, skip_bracket};

/// An argument of a call, an entry of a list or table.
#[derive(Debug, Clone)]
pub struct CallArg {
    /// Its name, where it has one.
    pub key: Option<String>,
    /// Its value.
    pub val: Val,
    /// `&` stands before it (Ruby).
    pub block: bool,
}

/// Where a group of tokens ends.
#[derive(Clone, Copy, PartialEq, Eq)]
enum GroupEnd {
    /// With the program.
    All,
    /// With the statement: a call without brackets.
    Line,
    /// At the bracket that closes this one.
    Bracket(u8),
    /// Where the loops begin of a comprehension in these brackets.
    Part(u8),
}

/// What an assignment writes to.
#[derive(Clone)]
enum AssignTarget {
    None,
    Name(String),
    /// The names between these tokens.
    Group(usize, usize),
    /// An entry of the table of that name.
    Entry(String, Val),
}

/// The state of one expression or statement.
struct StatementState {
    cur: Option<Val>,
    op: Option<&'static str>,
    alts: Vec<Val>,
    key: Option<String>,
    last: AssignTarget,
    noted: AssignTarget,
    assign: Vec<AssignTarget>,
    append: bool,
    before: Vec<AssignTarget>,
    right: Vec<Val>,
    loops: Vec<AssignTarget>,
    ternary: u32,
    block: bool,
    guarded: bool,
    /// The value is put in as the values that it holds: `f(*list)`, `f(**pairs)`, `f(...list)`.
    spread: bool,
}

impl StatementState {
    fn new() -> StatementState {
        StatementState {
            cur: None,
            op: None,
            alts: Vec::new(),
            key: None,
            last: AssignTarget::None,
            noted: AssignTarget::None,
            assign: Vec::new(),
            append: false,
            before: Vec::new(),
            right: Vec::new(),
            loops: Vec::new(),
            ternary: 0,
            block: false,
            guarded: false,
            spread: false,
        }
    }

    fn drop_value(&mut self) {
        self.cur = None;
        self.op = None;
    }

    /// What stands so far is one of several values.
    fn or(&mut self) {
        self.alts.extend(self.cur.take());
    }

    fn take_value(&mut self) -> Option<Val> {
        self.op = None;
        let cur = self.cur.take();
        if self.alts.is_empty() {
            return cur;
        }
        let mut all = std::mem::take(&mut self.alts);
        all.extend(cur);
        // `process.env.OUT || "out.txt"`
        if !all.iter().all(Val::is_unset) {
            all.retain(|one| !one.is_unset());
        }
        Some(Val::any_of(all))
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
    pub rows: Rows,
    /// What names stand for.
    pub env: BTreeMap<String, Val>,
    /// The first walk, which only learns names.
    pub silent: bool,
    /// Something was hidden already.
    pub hidden: bool,
    /// The program went to another directory.
    pub moved: bool,
    /// How many effects there are.
    pub count: usize,
    /// What the program is given, where the call says it.
    pub arguments: Vec<Val>,
    /// It is surely given nothing.
    pub bare: bool,
    /// What the program's own functions are called with.
    pub calls: BTreeMap<String, Vec<Val>>,
    /// Where the list of a loop ends of whose lines only the names are used.
    pub keys_until: usize,
    /// The class that is being defined.
    class: String,
    depth: u16,
    /// The depth at which this program began.
    base: u16,
    nest: u8,
}

/// An operand of the call as the program sees it.
pub fn given(operand: &Value) -> Val {
    match (operand.is_glob(), operand.text(), operand.plain_text()) {
        (true, Some(pattern), _) => Val::Glob(pattern.into()),
        (_, _, Some(text)) => Val::text(text),
        _ => Val::text(&format!("{}{BLANK}", operand.known_start())),
    }
}

impl<'a, 'p> Scan<'a, 'p> {
    /// A walk that has seen nothing yet.
    pub fn new(
        lang: Lang,
        out: &'a mut Emitter<'p>,
        next: &'a mut Vec<Next>,
        span: Range<usize>,
    ) -> Scan<'a, 'p> {
        let arguments = out.arguments.iter().map(given).collect();
        Scan {
            arguments,
            bare: out.bare,
            out,
            next,
            span,
            lang,
            rows: super::rows::read_rows(lang),
            env: BTreeMap::new(),
            silent: false,
            hidden: false,
            moved: false,
            count: 0,
            calls: BTreeMap::new(),
            keys_until: 0,
            class: String::new(),
            depth: 0,
            base: 0,
            nest: 0,
        }
    }

    /// The effects of a program text.
    pub fn scan_program(&mut self, text: &str) {
        if self.silent {
            return;
        }
        if self.nest >= limits::CODE_NEST {
            self.emit_hidden("programs in programs, nested too deep");
            return;
        }
        self.nest += 1;
        let (tokens, good) = lex::read_tokens(self.lang, text);
        let base = std::mem::replace(&mut self.base, self.depth);
        self.silent = true;
        let env = self.env.clone();
        self.scan_group(&mut Cursor { tokens: &tokens, at: 0 }, GroupEnd::All, &Val::Unknown);
        if !self.calls.is_empty() {
            // Once more, now that it is known what the program's own functions are called with.
            self.env = env;
            self.scan_group(&mut Cursor { tokens: &tokens, at: 0 }, GroupEnd::All, &Val::Unknown);
        }
        self.silent = false;
        self.scan_group(&mut Cursor { tokens: &tokens, at: 0 }, GroupEnd::All, &Val::Unknown);
        self.base = base;
        if !good {
            self.emit_hidden("an inline program whose text is not understood");
        }
        self.nest -= 1;
    }

    /// Something that hides what it does: an unknown execute, once.
    pub fn emit_hidden(&mut self, why: &str) {
        if !self.silent && !self.hidden {
            self.hidden = true;
            let span = self.span.clone();
            self.out.emit_unknown(why, span);
        }
    }

    /// Tokens up to where the group ends; `params` is what a function among them is called with.
    fn scan_group(&mut self, c: &mut Cursor, stop: GroupEnd, params: &Val) -> Vec<CallArg> {
        match stop {
            GroupEnd::Bracket(open) if self.lang == Lang::Python => match loops_in(c) {
                Some(loops) => self.comprehension(c, open, loops, params),
                None => self.scan_tokens(c, stop, params),
            },
            _ => self.scan_tokens(c, stop, params),
        }
    }

    /// `[p for p in x if y]`: what the loops run over is told first, then what is made of it.
    fn comprehension(
        &mut self,
        c: &mut Cursor,
        open: u8,
        loops: usize,
        params: &Val,
    ) -> Vec<CallArg> {
        let from = std::mem::replace(&mut c.at, loops);
        self.scan_tokens(c, GroupEnd::Bracket(open), params);
        let end = loops - usize::from(c.tokens[loops - 1].text == "async");
        let mut made = Cursor { tokens: &c.tokens[..end], at: from };
        let mut args = self.scan_tokens(&mut made, GroupEnd::Part(open), params);
        if let (b'(', [one]) = (open, &mut args[..]) {
            // A generator: whoever takes it runs over what it makes.
            one.val = Val::list(vec![one.val.clone()]);
        }
        args
    }

    fn scan_tokens(&mut self, c: &mut Cursor, stop: GroupEnd, params: &Val) -> Vec<CallArg> {
        let mut args = Vec::new();
        let mut line = StatementState::new();
        if self.depth >= limits::CODE_DEPTH {
            self.emit_hidden("brackets nested deeper than 60");
            if let GroupEnd::Bracket(_) = stop {
                skip_bracket(c);
            }
            return args;
        }
        self.depth += 1;
        let mut params = params.clone();
        // In a script what stands in a body or a branch may not run.
        let outer = self.out.unsure;
        let body = outer || stop == GroupEnd::Bracket(b'{');
        while let Some(token) = c.peek(0) {
            self.keys_until = if c.at < self.keys_until { self.keys_until } else { 0 };
            self.out.unsure = self.out.in_script && (body || token.indent > 0 || line.guarded);
            match token.kind {
                TokenKind::Close | TokenKind::End if stop == GroupEnd::Line => break,
                TokenKind::Close => {
                    c.at += 1;
                    if stop == GroupEnd::All {
                        self.emit_hidden("an inline program with a bracket too many");
                        continue;
                    }
                    self.out.unsure = outer;
                    return self.complete(c, line, args, stop);
                }
                TokenKind::End => self.end(c, token, &mut line, &mut args, stop),
                TokenKind::Op => {
                    self.scan_operator(c, &token.text, &mut line, &mut args, stop, &params)
                }
                TokenKind::Name if stop == GroupEnd::Line && self.ends_line(c, token) => break,
                TokenKind::Name
                    if !follows_dot(c)
                        && self.scan_keyword(c, &token.text, &mut line, &mut args, &mut params) => {
                }
                _ => self.operand(c, token, &mut line, &params),
            }
        }
        if let GroupEnd::Bracket(_) = stop {
            self.emit_hidden("an inline program with a bracket too few");
        }
        self.out.unsure = outer;
        self.complete(c, line, args, stop)
    }

    /// A group is complete.
    fn complete(
        &mut self,
        c: &Cursor,
        mut line: StatementState,
        mut args: Vec<CallArg>,
        stop: GroupEnd,
    ) -> Vec<CallArg> {
        self.finish_value(c, &mut line, &mut args, stop);
        self.finish_statement(c, &mut line);
        self.depth -= 1;
        args
    }

    /// The end of a statement, where it is one.
    fn end(
        &mut self,
        c: &mut Cursor,
        token: &Token,
        line: &mut StatementState,
        args: &mut Vec<CallArg>,
        stop: GroupEnd,
    ) {
        let inside = match stop {
            GroupEnd::Bracket(b'{') => matches!(self.lang, Lang::Python | Lang::Lua),
            GroupEnd::Bracket(_) | GroupEnd::Part(_) => true,
            _ => false,
        };
        let folds = inside || line.op.is_some() || matches!(self.lang, Lang::Perl | Lang::Php);
        c.at += 1;
        if token.text == "\n" && folds {
            return;
        }
        self.finish_value(c, line, args, stop);
        self.finish_statement(c, line);
        if token.text == "\n" || self.lang != Lang::Python {
            line.guarded = false;
        }
        if stop == GroupEnd::All {
            args.clear();
        }
    }

    /// Does a call without brackets end before this name?
    fn ends_line(&self, c: &Cursor, token: &Token) -> bool {
        !follows_dot(c) && ends_call(self.lang, &token.text)
    }

    /// A value, joined with the one before it.
    fn operand(&mut self, c: &mut Cursor, token: &Token, line: &mut StatementState, params: &Val) {
        let from = c.at;
        line.guarded |= token.indent > 0;
        let (val, target) = self.scan_primary(c, params);
        if c.at == from {
            c.at += 1;
        }
        line.last = target;
        line.cur = Some(match (line.cur.take(), line.op.take()) {
            (Some(left), Some(JOIN)) => left.join(&val, ""),
            (Some(Val::Path(left)), Some("/")) => Val::path(left.join(&val, "/")),
            (Some(left @ Val::Any(..)), Some("/")) => Val::path(left.join(&val, "/")),
            (Some(_), Some(_)) => Val::Unknown,
            (Some(left @ Val::Text(_)), None)
                if token.kind == TokenKind::Text && self.lang == Lang::Python =>
            {
                left.join(&val, "")
            }
            _ => val,
        });
    }

    /// One value of a row is complete.
    fn finish_value(
        &mut self,
        c: &Cursor,
        line: &mut StatementState,
        args: &mut Vec<CallArg>,
        stop: GroupEnd,
    ) {
        self.bind_loop_variables(c, line);
        let last = std::mem::replace(&mut line.last, AssignTarget::None);
        let Some(val) = line.take_value() else {
            line.key = None;
            return;
        };
        if line.assign.is_empty() {
            line.before.push(last);
        } else {
            line.right.push(val.clone());
            if stop != GroupEnd::All && !matches!(self.lang, Lang::Ruby | Lang::Python)
                || matches!(self.lang, Lang::Js | Lang::Php)
            {
                self.finish_statement(c, line);
            }
        }
        let (key, block) = (line.key.take(), std::mem::take(&mut line.block));
        match (std::mem::take(&mut line.spread), val) {
            (true, Val::List(_, items)) => {
                let plain = |val: &Val| CallArg { key: None, val: val.clone(), block: false };
                args.extend(items.iter().map(plain));
            }
            (true, Val::Dict(_, items)) => {
                let keyed = |(key, val): &(String, Val)| CallArg {
                    key: Some(key.clone()),
                    val: val.clone(),
                    block: false,
                };
                args.extend(items.iter().map(keyed));
            }
            (_, val) => args.push(CallArg { key, val, block }),
        }
    }

    /// Remembers what a function of the program is called with.
    pub fn record_call(&mut self, name: &str, args: &[CallArg]) {
        let list = self.calls.entry(name.to_string()).or_default();
        for (i, arg) in args.iter().enumerate() {
            if let Some(old) = list.get(i) {
                list[i] = Val::any_of(vec![old.clone(), arg.val.clone()]);
            } else {
                list.push(arg.val.clone());
            }
        }
    }

    /// A function that is handed on: nobody knows what it is called with.
    pub fn record_escape(&mut self, name: &str) {
        if !self.calls.contains_key(name) && !self.silent {
            return;
        }
        if let Some(list) = self.calls.get_mut(name) {
            for val in list {
                *val = Val::any_of(vec![val.clone(), Val::Unknown]);
            }
        }
    }
}

/// Where the loops begin, if the bracket at whose start the cursor stands holds a comprehension.
fn loops_in(c: &Cursor) -> Option<usize> {
    let mut depth = 0;
    for (at, token) in c.tokens.iter().enumerate().skip(c.at) {
        match token.kind {
            TokenKind::Open => depth += 1,
            TokenKind::Close if depth == 0 => return None,
            TokenKind::Close => depth -= 1,
            TokenKind::Name if depth == 0 && token.text == "for" && at > c.at => return Some(at),
            _ => {}
        }
    }
    None
}

/// Does a dot stand before the cursor?
fn follows_dot(c: &Cursor) -> bool {
    let before = c.at.checked_sub(1).and_then(|at| c.tokens.get(at));
    before.is_some_and(|token| token.kind == TokenKind::Op && token.text == ".")
}

/// A format with what is put into its places; a hole where that is not known.
pub fn fill_template(val: &Val, given: &[Val]) -> Val {
    let Val::Text(text) = val else { return Val::Unknown };
    let mut given = given.iter();
    let mut out = Val::text("");
    let mut rest = text.as_ref();
    while let Some(at) = rest.find(['%', '{']) {
        let tail = &rest[at + 1..];
        let end = if rest.as_bytes()[at] == b'{' {
            tail.find('}').map_or(tail.len(), |n| n + 1)
        } else {
            tail.find(|c: char| c.is_ascii_alphabetic()).map_or(tail.len(), |n| n + 1)
        };
        let value = match (given.next(), &tail[..end]) {
            (Some(value), "s" | "}") => value.clone(),
            (_, format) if rest[at..].starts_with('%') && format.ends_with(['d', 'x', 'f']) => {
                Val::Scalar
            }
            _ => Val::Unknown,
        };
        out = out.join(&Val::text(&rest[..at]), "").join(&value, "");
        rest = &tail[end..];
    }
    out.join(&Val::text(rest), "")
}

/// A module without what says the same (`node:fs`, `fs/promises`).
pub fn module_name(text: &str) -> String {
    let origin = ["node:", "npm:", "jsr:"].iter().find_map(|origin| text.strip_prefix(origin));
    let text = origin.unwrap_or(text);
    match text.strip_suffix("/promises").unwrap_or(text) {
        "fs-extra" | "graceful-fs" | "memfs" => "fs",
        other => other,
    }
    .to_string()
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
