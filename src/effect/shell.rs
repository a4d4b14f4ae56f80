//! Shell text to effects: the only user of the shell parser.
//!
//! The text is parsed once, then walked the way a shell would run it, with an abstract state
//! (variables, functions, directory). Whatever runs in turn (`bash -c`, `eval`, a wrapper's
//! command, a heredoc fed to a shell) is walked in place. What cannot be followed becomes an
//! unknown effect, never nothing; every loop and recursion has a cap that does the same.

mod assign;
mod brace;
mod builtin;
mod call;
mod doubt;
mod literal;
mod nested;
mod parameter;
mod redirect;
mod state;
mod visit;
mod word;

use std::borrow::Cow;
use std::ops::Range;
use std::rc::Rc;

use shuck_ast::{
    BinaryOp, BuiltinCommand, Command, CompoundCommand, ConditionalExpr, Span, Stmt, StmtSeq,
};
use shuck_parser::parser::Parser;

use self::state::{Delta, Held, Key, State, unknown_var};
use self::word::Atom;
use super::value::{Emitter, Value};
use super::{Analysis, Grade, Place, Source, SubCommand, Word};

/// How much text is looked at.
pub const MAX_TEXT: usize = 64 * 1024;
/// How many program calls are followed.
const MAX_COMMANDS: usize = 2000;
/// How many statements are walked (a function's body counts at every call).
const MAX_STEPS: usize = 20_000;
/// How deep shells in shells go.
const MAX_DEPTH: usize = 32;
/// How many brackets may be open at once before the text is parsed.
const MAX_OPEN: usize = 64;
/// How much stack the walk may use before a nested parse: the parser takes up to 1.5 MiB more,
/// and the smallest stack it runs on (a test's thread) has 2 MiB.
const MAX_STACK: usize = 360 * 1024;
/// How many combinations of loop values are followed for one command.
const MAX_WORLDS: usize = 32;

/// What a command reads from standard input.
#[derive(Debug, Clone)]
enum Feed {
    /// The terminal, or nothing.
    None,
    /// This text.
    Text(String),
    /// Paths below a root, one per line (find).
    Rooted(Value),
    /// This file.
    File(Value),
    /// What a producer prints.
    Stream,
}

/// What this command line would do.
pub fn analyse(text: &str, place: &Place) -> Analysis {
    let mut walker = Walker {
        out: Emitter::new(place),
        source: Rc::from(""),
        fixed: None,
        state: State::default(),
        choice: Vec::new(),
        feed: Feed::None,
        parent: None,
        depth: 0,
        steps: 0,
        anchor: 0,
        stopped: false,
        calls: Vec::new(),
        concurrent: 0,
        bomb_base: 0,
        computed: 0,
        substitutions: 0,
        several: false,
        external: false,
        traps: Vec::new(),
        locals: Vec::new(),
    };
    walker.anchor = here();
    walker.out.analysis.text = text.to_string();
    let cwd = walker.out.cwd.clone();
    walker.state.set(Key::Cwd, Some(Held::Cwd(cwd)));
    let cut = cut(text);
    if cut.len() < text.len() {
        walker.out.unknown("the command is longer than 64 KiB", cut.len()..text.len());
    }
    walker.text(cut);
    walker.traps();
    walker.out.finish()
}

/// The part that is looked at: whole lines, where there are any.
fn cut(text: &str) -> &str {
    if text.len() <= MAX_TEXT {
        return text;
    }
    let mut end = MAX_TEXT;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let head = &text[..end];
    head.rfind('\n').map_or(head, |at| &head[..at])
}

/// About where the stack stands.
#[inline(never)]
fn here() -> usize {
    let mark = 0_u8;
    std::ptr::from_ref(&mark) as usize
}

/// The deepest nesting of brackets, quotes ignored: an upper bound for the parser's recursion.
fn nesting(text: &str) -> usize {
    let (mut open, mut most) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'{' | b'[' => {
                open += 1;
                most = most.max(open);
            }
            b')' | b'}' | b']' => open = open.saturating_sub(1),
            _ => {}
        }
    }
    most
}

/// The walk.
struct Walker<'a> {
    out: Emitter<'a>,
    source: Rc<str>,
    /// Where everything points that stands in nested text.
    fixed: Option<Range<usize>>,
    state: State,
    /// Which of its values each variable with several has: name, index, count.
    choice: Vec<(String, usize, usize)>,
    feed: Feed,
    parent: Option<usize>,
    depth: usize,
    steps: usize,
    anchor: usize,
    stopped: bool,
    /// The functions that are being called.
    calls: Vec<String>,
    /// Inside how many pipelines and background jobs.
    concurrent: usize,
    /// The same where the outermost function was called.
    bomb_base: usize,
    /// Inside text that stands nowhere in the call, or stands there once for several commands.
    computed: usize,
    /// How many substitutions have been walked.
    substitutions: usize,
    /// The next command is started by a wrapper.
    external: bool,
    /// Texts that run at the end.
    traps: Vec<(Value, usize, Option<String>)>,
    /// Names that the functions being called have made their own.
    locals: Vec<String>,
    /// The last thing that was evaluated quietly has several values.
    several: bool,
}

impl Walker<'_> {
    fn range(&self, span: Span) -> Range<usize> {
        self.fixed.clone().unwrap_or_else(|| span.start.offset()..span.end.offset())
    }

    fn cwd(&self) -> Option<String> {
        match self.state.get(&Key::Cwd) {
            Some(Held::Cwd(cwd)) => cwd.clone(),
            _ => None,
        }
    }

    /// `$0`, `$1` ... where they are known.
    fn positional(&self) -> Option<Rc<Vec<Value>>> {
        match self.state.get(&Key::Positional) {
            Some(Held::Positional(values)) => values.clone(),
            _ => None,
        }
    }

    fn set_positional(&mut self, values: Option<Rc<Vec<Value>>>) {
        self.state.set(Key::Positional, Some(Held::Positional(values)));
    }

    fn stop(&mut self, why: &str) {
        if !self.stopped {
            self.stopped = true;
            self.out.command = None;
            self.out.unknown(why, 0..self.out.analysis.text.len());
        }
    }

    /// Is there room to go on?
    fn room(&mut self) -> bool {
        if self.stopped {
            return false;
        }
        self.steps += 1;
        if self.steps > MAX_STEPS {
            self.stop("more than 20,000 steps");
        } else if here().abs_diff(self.anchor) > MAX_STACK {
            self.stop("nested too deep");
        }
        !self.stopped
    }

    /// Parses and walks the text that `self.source` becomes.
    fn text(&mut self, text: &str) {
        if text.contains('\0') {
            self.out.unknown("a NUL byte in the command", 0..0);
        }
        if nesting(text) > MAX_OPEN {
            let span = self.fixed.clone().unwrap_or(0..text.len());
            self.out.unknown("brackets nested deeper than 64", span);
            return;
        }
        // The parser would put aliases in place itself, also those that are never defined: the walk
        // does that, so the word that tells the parser to is kept from it (same length, same spans).
        let parsed = if text.contains("expand_aliases") {
            Cow::Owned(text.replace("expand_aliases", "expand-aliases"))
        } else {
            Cow::Borrowed(text)
        };
        let result = Parser::new(&parsed).parse();
        let before = std::mem::replace(&mut self.source, Rc::from(text));
        self.seq(&result.file.body);
        if !result.is_ok() {
            let at = result.diagnostics.first().map_or(0, |d| d.span.start.offset());
            let span = self.fixed.clone().unwrap_or(at..text.len());
            let why = result.diagnostics.first().map_or("parse error", |d| d.message.as_str());
            self.out.command = self.parent;
            self.out.unknown(&format!("not understood at byte {at}: {why}"), span);
        }
        self.source = before;
    }

    /// Walks shell text that a command runs.
    fn nested(&mut self, text: &str, span: Range<usize>, parent: Option<usize>) {
        if self.depth >= MAX_DEPTH {
            self.out.command = parent;
            self.out.unknown("nested deeper than 32", span);
            return;
        }
        if !self.room() {
            return;
        }
        self.depth += 1;
        let fixed = self.fixed.replace(span);
        let outer = std::mem::replace(&mut self.parent, parent);
        let choice = std::mem::take(&mut self.choice);
        self.computed += 1;
        let part = cut(text);
        if part.len() < text.len() {
            self.out.unknown("nested text longer than 64 KiB", 0..0);
        }
        self.text(part);
        self.computed -= 1;
        self.choice = choice;
        self.parent = outer;
        self.fixed = fixed;
        self.depth -= 1;
    }

    fn seq(&mut self, seq: &StmtSeq) {
        for stmt in &seq.stmts {
            if self.stopped {
                return;
            }
            self.stmt(stmt);
        }
    }

    /// Runs something whose changes to the state do not last.
    fn subshell(&mut self, run: impl FnOnce(&mut Self)) -> Delta {
        let mark = self.state.mark();
        run(self);
        self.state.rollback(mark)
    }

    fn stmt(&mut self, stmt: &Stmt) {
        if !self.room() {
            return;
        }
        if matches!(stmt.terminator, Some(shuck_ast::StmtTerminator::Background(_))) {
            self.concurrent += 1;
            self.subshell(|w| w.stmt_here(stmt));
            self.concurrent -= 1;
        } else {
            self.stmt_here(stmt);
        }
    }

    fn stmt_here(&mut self, stmt: &Stmt) {
        let feed = self.redirect_feed(stmt);
        let outer = feed.map(|feed| std::mem::replace(&mut self.feed, feed));
        let first = self.out.analysis.commands.len();
        // The shell opens what it redirects to before the command runs.
        let before = self.cwd();
        match &stmt.command {
            Command::Simple(simple) => {
                self.visit_redirects(stmt);
                self.simple(simple, stmt);
            }
            Command::Decl(decl) => {
                self.visit_redirects(stmt);
                self.decl(decl);
            }
            Command::Builtin(builtin) => {
                self.visit_redirects(stmt);
                self.builtin(builtin);
            }
            Command::Binary(binary) => {
                self.visit_redirects(stmt);
                self.binary(binary);
            }
            Command::Compound(compound) => {
                self.visit_redirects(stmt);
                self.compound(compound);
            }
            Command::Function(function) => self.define(function),
            Command::AnonymousFunction(function) => {
                for word in &function.args {
                    self.visit_word(word);
                }
                self.stmt(&function.body);
            }
        }
        let simple =
            matches!(stmt.command, Command::Simple(_) | Command::Decl(_) | Command::Builtin(_));
        let command = (simple && self.out.analysis.commands.len() > first).then_some(first);
        self.redirect_effects(stmt, command.or(self.parent), before);
        if let Some(outer) = outer {
            self.feed = outer;
        }
    }

    fn builtin(&mut self, builtin: &BuiltinCommand) {
        // break, continue, return, exit: what follows may still run in another branch.
        let (word, more, assignments) = match builtin {
            BuiltinCommand::Break(c) => (&c.depth, &c.extra_args, &c.assignments),
            BuiltinCommand::Continue(c) => (&c.depth, &c.extra_args, &c.assignments),
            BuiltinCommand::Return(c) => (&c.code, &c.extra_args, &c.assignments),
            BuiltinCommand::Exit(c) => (&c.code, &c.extra_args, &c.assignments),
        };
        for word in word.iter().chain(more) {
            self.visit_word(word);
        }
        for assignment in assignments.iter() {
            self.visit_assignment(assignment);
        }
    }

    /// `a && b`, `a || b`, `a | b`: the left side nests, so it is unrolled.
    fn binary(&mut self, binary: &shuck_ast::BinaryCommand) {
        let mut links = Vec::new();
        let mut at = binary;
        let first = loop {
            links.push((at.op, &*at.right));
            match &at.left.command {
                Command::Binary(left)
                    if at.left.redirects.is_empty() && same(left.op, binary.op) =>
                {
                    at = left
                }
                _ => break &*at.left,
            }
        };
        links.reverse();
        if !matches!(binary.op, BinaryOp::Pipe | BinaryOp::PipeAll) {
            let start = self.state.get(&Key::Cwd).cloned();
            let mut left = first;
            self.stmt(first);
            let mut before = start;
            for (op, stmt) in links {
                let mark = self.state.mark();
                let here = self.state.get(&Key::Cwd).cloned();
                // What stands behind `cd x ||` runs where `cd` did not leave.
                let stayed = matches!(op, BinaryOp::Or) && self.changes_directory(left);
                if stayed {
                    self.state.set(Key::Cwd, before);
                }
                self.stmt(stmt);
                // Both "ran" and "did not run" stay open, save that `cd x &&` is believed.
                let mut delta = self.state.rollback(mark);
                let cwd = delta.remove(&Key::Cwd).filter(|_| !stayed);
                (before, left) = (here, stmt);
                self.state.join(vec![delta, Delta::new()]);
                if let Some(cwd) = cwd {
                    let unsure = matches!(op, BinaryOp::Or);
                    self.state.set(Key::Cwd, if unsure { Some(Held::Cwd(None)) } else { cwd });
                }
            }
            return;
        }
        let outer = self.feed.clone();
        self.concurrent += 1;
        let mut stages = vec![first];
        stages.extend(links.iter().map(|(_, stmt)| *stmt));
        let last = stages.len() - 1;
        for (i, stage) in stages.into_iter().enumerate() {
            self.subshell(|w| w.stmt(stage));
            if self.stopped {
                break;
            }
            if i < last {
                self.feed = self.product(stage);
            }
        }
        self.concurrent -= 1;
        self.feed = outer;
    }

    /// Is it a plain `cd`?
    fn changes_directory(&self, stmt: &Stmt) -> bool {
        let Command::Simple(simple) = &stmt.command else { return false };
        simple.name.try_static_text(&self.source).is_some_and(|name| name == "cd")
    }

    /// Runs each branch from the same state and goes on from all of them.
    fn branches(&mut self, mut deltas: Vec<Delta>, open: bool) {
        if open {
            deltas.push(Delta::new());
        }
        self.state.join(deltas);
    }

    fn compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Subshell(seq) => {
                self.subshell(|w| w.seq(seq));
            }
            CompoundCommand::BraceGroup(seq) => self.seq(seq),
            CompoundCommand::If(command) => {
                self.seq(&command.condition);
                let mut deltas = vec![self.subshell(|w| w.seq(&command.then_branch))];
                for (condition, body) in &command.elif_branches {
                    self.seq(condition);
                    deltas.push(self.subshell(|w| w.seq(body)));
                }
                if let Some(body) = &command.else_branch {
                    deltas.push(self.subshell(|w| w.seq(body)));
                }
                self.branches(deltas, command.else_branch.is_none());
            }
            CompoundCommand::For(command) => {
                let mut words = Vec::new();
                for word in command.words.iter().flatten() {
                    self.visit_word(word);
                }
                for group in doubt::side_by_side(command.words.iter().flatten()) {
                    words.extend(self.every(&group));
                }
                if command.words.is_none() {
                    match self.positional() {
                        Some(values) => {
                            words.extend(values.iter().skip(1).cloned().collect::<Vec<_>>())
                        }
                        None => words.push(Value::unknown(0..0)),
                    }
                }
                let names: Vec<String> = command
                    .targets
                    .iter()
                    .map(|t| t.name.as_ref().map_or_else(String::new, |n| n.as_str().to_string()))
                    .collect();
                self.each(&names, &words, &command.body);
            }
            CompoundCommand::Foreach(command) => {
                let mut words = Vec::new();
                for word in &command.words {
                    self.visit_word(word);
                    words.extend(self.every(&[word]));
                }
                self.each(&[command.variable.as_str().to_string()], &words, &command.body);
            }
            CompoundCommand::Select(command) => {
                let mut words = Vec::new();
                for word in &command.words {
                    self.visit_word(word);
                    words.extend(self.every(&[word]));
                }
                self.each(&[command.variable.as_str().to_string()], &words, &command.body);
            }
            CompoundCommand::Repeat(command) => {
                self.visit_word(&command.count);
                self.looped(&[], |w| w.seq(&command.body));
            }
            CompoundCommand::ArithmeticFor(command) => {
                let before = self.substitutions;
                for node in [&command.init_ast, &command.condition_ast, &command.step_ast]
                    .into_iter()
                    .flatten()
                {
                    self.visit_arithmetic(node);
                }
                for span in [command.init_span, command.condition_span, command.step_span]
                    .into_iter()
                    .flatten()
                {
                    self.visit_raw(span, before);
                }
                let names: Vec<String> = command
                    .init_span
                    .map(|s| {
                        assign::arithmetic_names(
                            self.source.get(s.start.offset()..s.end.offset()).unwrap_or_default(),
                        )
                    })
                    .unwrap_or_default();
                for name in &names {
                    self.number(name);
                }
                self.looped(&[], |w| w.seq(&command.body));
            }
            CompoundCommand::While(command) => {
                self.looped(&[], |w| {
                    w.seq(&command.condition);
                    w.seq(&command.body);
                });
            }
            CompoundCommand::Until(command) => {
                self.looped(&[], |w| {
                    w.seq(&command.condition);
                    w.seq(&command.body);
                });
            }
            CompoundCommand::Case(command) => {
                self.visit_word(&command.word);
                let mut deltas = Vec::new();
                for item in &command.cases {
                    for pattern in &item.patterns {
                        self.visit_pattern(pattern);
                    }
                    deltas.push(self.subshell(|w| w.seq(&item.body)));
                }
                self.branches(deltas, true);
            }
            CompoundCommand::Arithmetic(command) => {
                let before = self.substitutions;
                if let Some(node) = &command.expr_ast {
                    self.visit_arithmetic(node);
                }
                if let Some(span) = command.expr_span {
                    self.visit_raw(span, before);
                    let text =
                        self.source.get(span.start.offset()..span.end.offset()).unwrap_or_default();
                    for name in assign::arithmetic_names(text) {
                        self.number(&name);
                    }
                }
            }
            CompoundCommand::Time(command) => {
                if let Some(stmt) = &command.command {
                    self.stmt(stmt);
                }
            }
            CompoundCommand::Conditional(command) => self.conditional(&command.expression),
            CompoundCommand::Coproc(command) => {
                self.concurrent += 1;
                self.subshell(|w| w.stmt(&command.body));
                self.concurrent -= 1;
            }
            CompoundCommand::Always(command) => {
                self.seq(&command.body);
                self.seq(&command.always_body);
            }
        }
    }

    fn conditional(&mut self, expression: &ConditionalExpr) {
        match expression {
            ConditionalExpr::Binary(binary) => {
                self.conditional(&binary.left);
                self.conditional(&binary.right);
            }
            ConditionalExpr::Unary(unary) => self.conditional(&unary.expr),
            ConditionalExpr::Parenthesized(inner) => self.conditional(&inner.expr),
            ConditionalExpr::Word(word) | ConditionalExpr::Regex(word) => self.visit_word(word),
            ConditionalExpr::Pattern(pattern) => self.visit_pattern(pattern),
            ConditionalExpr::VarRef(reference) => self.visit_reference(reference),
        }
    }

    /// Every field of a word, in every world.
    fn every(&mut self, words: &[&shuck_ast::Word]) -> Vec<Value> {
        let mut all = Vec::new();
        self.worlds(|w| {
            let fields = w.expand_all(words);
            all.extend(fields);
        });
        all
    }

    /// Runs `run` once for every combination of values of the variables it looks at.
    fn worlds(&mut self, mut run: impl FnMut(&mut Self)) {
        let outer = std::mem::take(&mut self.choice);
        self.choice.extend(outer.iter().cloned());
        let fixed = self.choice.len();
        let mut count = 0;
        loop {
            if self.stopped {
                break;
            }
            if count == 1 {
                self.computed += 1;
            }
            run(self);
            count += 1;
            // The next combination: the last variable counts up first.
            while self.choice.len() > fixed {
                let at = self.choice.len() - 1;
                let (_, now, total) = &mut self.choice[at];
                *now += 1;
                if now < total {
                    break;
                }
                self.choice.pop();
            }
            if self.choice.len() <= fixed {
                break;
            }
            if count >= MAX_WORLDS {
                self.out.command = self.parent;
                self.out.unknown("more combinations of loop values than are followed", 0..0);
                break;
            }
        }
        if count > 1 {
            self.computed -= 1;
        }
        self.choice = outer;
    }

    fn each(&mut self, names: &[String], words: &[Value], body: &StmtSeq) {
        let mut values: Vec<Vec<Vec<Atom>>> = Vec::new();
        for word in words {
            let one = vec![word::atoms_of(word)];
            if !values.contains(&one) {
                values.push(one);
            }
            if values.len() > state::MAX_VALUES {
                // A long list: a glob or a root that all share would be lost, so nothing is known.
                values = common(words).unwrap_or_else(unknown_var);
                break;
            }
        }
        if names.len() > 1 {
            values = unknown_var();
        }
        if values.is_empty() {
            return;
        }
        self.looped(names, |w| {
            for name in names {
                w.state.set(Key::Var(name.clone()), Some(Held::Var(values.clone())));
            }
            w.seq(body);
        });
    }

    /// A loop: its body may run again behind itself, so it is walked until what it changes is what
    /// it was walked with: from the state before, then from both states joined, then with all that
    /// it changes forgotten.
    fn looped(&mut self, names: &[String], mut run: impl FnMut(&mut Self)) {
        for name in names {
            self.forget(name);
        }
        let effects = self.out.analysis.effects.len();
        let commands = self.out.analysis.commands.len();
        let traps = self.traps.len();
        for round in 0..3 {
            let inner = self.state.mark();
            run(self);
            let delta = self.state.rollback(inner);
            let settled = delta.iter().all(|(key, held)| {
                self.state.covers(key, held.as_ref())
                    || matches!(key, Key::Var(name) if names.contains(name))
            });
            if settled || round == 2 || self.stopped {
                self.state.join(vec![delta, Delta::new()]);
                return;
            }
            self.out.analysis.effects.truncate(effects);
            self.out.analysis.commands.truncate(commands);
            self.traps.truncate(traps);
            if round == 0 {
                self.state.join(vec![delta, Delta::new()]);
            } else {
                for (key, _) in delta {
                    match key {
                        Key::Var(name) => self.forget(&name),
                        Key::Cwd => self.state.set(Key::Cwd, Some(Held::Cwd(None))),
                        Key::Positional => self.set_positional(None),
                        other => {
                            let held = self.state.get(&other).cloned();
                            self.state.set(other, held);
                        }
                    }
                }
            }
        }
    }

    /// Arithmetic gave it a value: some number.
    fn number(&mut self, name: &str) {
        self.state.set(Key::Var(name.to_string()), Some(Held::Var(word::number_var())));
    }

    /// The same inside a word: other words of the command may still see what it was.
    fn maybe_number(&mut self, name: &str) {
        let values = match self.state.var(name) {
            Some(old) if old.len() < state::MAX_VALUES => {
                let more = word::number_var();
                old.iter().cloned().chain(more.into_iter().filter(|n| !old.contains(n))).collect()
            }
            _ => unknown_var(),
        };
        self.state.set(Key::Var(name.to_string()), Some(Held::Var(values)));
    }

    fn forget(&mut self, name: &str) {
        self.state.set(Key::Var(name.to_string()), Some(Held::Var(unknown_var())));
    }

    /// A new sub-command; None when the cap is reached.
    fn push(&mut self, mut command: SubCommand) -> Option<usize> {
        // Two commands in the same bytes (find -exec from two places): neither can be replaced.
        let twin = self
            .out
            .analysis
            .commands
            .iter_mut()
            .rev()
            .take(8)
            .find(|c| c.span == command.span && c.name == command.name);
        if let Some(twin) = twin {
            twin.quoted = true;
            command.quoted = true;
        }
        if self.out.analysis.commands.len() >= MAX_COMMANDS {
            self.stop("more than 2,000 commands");
            return None;
        }
        self.out.analysis.commands.push(command);
        Some(self.out.analysis.commands.len() - 1)
    }

    fn fork_bomb(&mut self, span: Range<usize>) {
        if self.out.analysis.commands.iter().any(|c| c.name == "fork-bomb") {
            return;
        }
        let command = self.push(SubCommand {
            name: "fork-bomb".to_string(),
            span: span.clone(),
            parent: self.parent,
            quoted: true,
            genuine: true,
            ..SubCommand::default()
        });
        self.out.command = command;
        self.out.push(Word::Process, Grade::Certain, Source::Program, span);
        self.out.note("fork bomb");
    }
}

fn same(a: BinaryOp, b: BinaryOp) -> bool {
    let pipe = |op| matches!(op, BinaryOp::Pipe | BinaryOp::PipeAll);
    pipe(a) == pipe(b)
}

/// A directory below which all the words lie.
fn common(words: &[Value]) -> Option<Vec<Vec<Vec<Atom>>>> {
    let mut dirs: Vec<&str> = words
        .iter()
        .map(|w| w.plain().filter(|t| !t.contains("..") && t.contains('/')))
        .map(|t| t.and_then(|t| t.rsplit_once('/')).map(|(d, _)| d))
        .collect::<Option<_>>()?;
    dirs.sort_unstable();
    dirs.dedup();
    let [only] = dirs[..] else { return None };
    let mut atoms = word::quoted(&format!("{only}/"));
    atoms.push(Atom::Unknown { one: true, fed: false });
    Some(vec![vec![atoms]])
}
