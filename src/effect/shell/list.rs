//! Statements: lists, pipelines and compound commands, walked the way a shell would run them.

use shuck_ast::{
    Assignment, AssignmentValue, BackgroundOperator, BinaryOp, BuiltinCommand, Command,
    CompoundCommand, ConditionalExpr, DeclOperand, Redirect, Stmt, StmtSeq, StmtTerminator, Word,
};

use super::doubt::{holds_more, side_by_side};
use super::marks::has_bare;
use super::state::{Delta, StateKey, StateValue};
use super::word::number_var;
use super::{Feed, Walker, assign};
use crate::effect::Effect;
use crate::effect::program::table::{self, Class};
use crate::effect::value::{Printer, Value};
use crate::limits::Cap;

/// Variables that bash or zsh keeps from being set.
const CONSTANTS: &[&str] =
    &["UID", "EUID", "PPID", "BASHOPTS", "SHELLOPTS", "BASH_VERSINFO", "status", "pipestatus"];
/// What a script asks before `&&`.
const ASKING: &[&str] = &[
    "test", "[", "grep", "command", "type", "which", "hash", "false", "read", "diff", "cmp",
    "pgrep",
];

/// Does a loop start something in the background at every turn, and wait for nothing?
fn is_fork_bomb(body: &StmtSeq) -> bool {
    let background = |stmt: &Stmt| matches!(stmt.terminator, Some(StmtTerminator::Background(_)));
    !body.stmts.is_empty() && body.stmts.iter().all(background)
}

impl Walker<'_> {
    /// The text of a loop's condition, if it is one command.
    fn condition_text(&self, condition: &StmtSeq) -> &str {
        let [stmt] = &condition.stmts[..] else { return "" };
        self.slice(stmt.span).trim_end_matches([';', '\n', ' '])
    }

    pub(super) fn walk_list(&mut self, seq: &StmtSeq) {
        let mut before: Option<&Stmt> = None;
        for stmt in &seq.stmts {
            if self.room.stopped {
                return;
            }
            if let Some(before) = before.filter(|before| self.is_adjacent(before, stmt)) {
                let (words, body) = (self.slice(before.span), self.slice(stmt.span));
                if words.ends_with("()") || body.starts_with("()") {
                    self.emit_unseen("a function of several names", stmt.span);
                } else {
                    self.emit_uncovered("a group that zsh takes for a pattern", stmt.span);
                }
            }
            self.walk_statement(stmt);
            before = Some(stmt);
        }
    }

    /// Does nothing but blanks stand between them: `cat (a|b).txt`? A shell ends a command by a mark. Of `f g() {` the parser
    /// takes a bracket for both.
    fn is_adjacent(&self, before: &Stmt, next: &Stmt) -> bool {
        let (end, start) = (before.span.end.offset(), next.span.start.offset());
        before.terminator.is_none()
            && !self.slice(before.span).ends_with(['\n', ';', '&'])
            && self
                .frame
                .source
                .get(end.min(start)..start)
                .is_some_and(|between| between.bytes().all(|b| b == b' ' || b == b'\t'))
    }

    /// Runs something whose changes to the state do not last.
    pub(super) fn in_subshell(&mut self, run: impl FnOnce(&mut Self)) -> Delta {
        let mark = self.state.mark();
        let (fed, open) = (self.refed, self.descriptors.len());
        run(self);
        self.run_hooks();
        self.descriptors.truncate(open);
        if self.refed > fed {
            // It may have been a branch of this very shell.
            self.feed = Feed::Stream(Printer::Stranger);
        }
        self.state.rollback(mark)
    }

    /// Do the statement's redirections last: `exec < file`?
    fn is_exec(&self, stmt: &Stmt) -> bool {
        let Command::Simple(simple) = &stmt.command else { return false };
        let mut words = std::iter::once(&simple.name).chain(&simple.args);
        let word = words.find_map(|word| {
            let text = word.try_static_text(&self.frame.source).map(|text| text.to_string());
            (!matches!(text.as_deref(), Some("command" | "builtin" | "--"))).then_some(text)
        });
        word.flatten().is_some_and(|word| word == "exec")
    }

    pub(super) fn walk_statement(&mut self, stmt: &Stmt) {
        if !self.has_room() {
            return;
        }
        if let Some(StmtTerminator::Background(operator)) = stmt.terminator {
            let left = self.out.analysis.commands.len();
            self.in_background(|w| w.in_subshell(|w| w.stmt_here(stmt)));
            self.flow.left = Some(left);
            // zsh's `&!` and `&|` do both.
            if operator != BackgroundOperator::Plain {
                self.leave_behind(left);
            }
        } else {
            self.stmt_here(stmt);
        }
    }

    pub(super) fn stmt_here(&mut self, stmt: &Stmt) {
        if !Cap::Redirects.admits(stmt.redirects.len()) {
            return;
        }
        self.doubt_directory(stmt);
        self.walk_where_it_stayed(stmt);
        let looked = std::mem::take(&mut self.flow.seen);
        let open = self.descriptors.len();
        let feed = self.open_descriptors(stmt);
        let seen = std::mem::replace(&mut self.flow.seen, looked);
        let fed = self.flow.fed;
        let printed = std::mem::take(&mut self.flow.printed);
        if let Some(feed) = &feed {
            self.flow.fed = seen | self.fed_secrets(feed);
        }
        let outer = feed.map(|feed| std::mem::replace(&mut self.feed, feed));
        // The shell opens what it redirects to before the command runs.
        let before = self.cwd();
        let mark = self.state.mark();
        if !matches!(stmt.command, Command::Function(_) | Command::AnonymousFunction(_)) {
            let before = std::mem::take(&mut self.flow.substituted);
            self.visit_redirects(stmt);
            if outer.is_some() {
                self.flow.fed |= self.flow.substituted;
            }
            self.flow.substituted |= before;
        }
        // What runs inside of the redirections is none of its commands.
        let first = self.out.analysis.commands.len();
        match &stmt.command {
            Command::Simple(simple) => {
                if self.slice(simple.name.span).is_empty() {
                    // `$(< file)`
                    self.flow.printed |= self.flow.fed;
                }
                self.walk_simple_command(simple, stmt, outer.clone())
            }
            Command::Decl(decl) => self.walk_declaration(decl),
            Command::Builtin(builtin) => self.walk_builtin(builtin),
            Command::Binary(binary) => self.walk_binary(binary),
            Command::Compound(compound) => self.walk_compound(compound),
            Command::Function(function) => self.define_function(function),
            Command::AnonymousFunction(function) => {
                let mut values = vec![Value::unknown(self.source_range(stmt.span))];
                for word in &function.args {
                    self.visit_whole_word(word);
                    values.extend(self.without_choosing(|w| w.expand_word(word)));
                }
                self.with_positionals(values, |w| w.walk_statement(&function.body));
            }
        }
        self.make_uncertain(stmt, mark);
        // `cd x < file`: where the file cannot be opened, `cd` has not run.
        let opens = |one: &Redirect| self.slice(one.span).contains('<');
        if stmt.redirects.iter().any(opens) && self.changes_directory(stmt) {
            self.set_astray(true);
        }
        if !stmt.redirects.is_empty() {
            let commands = self.redirected_commands(stmt, first);
            let from = self.out.analysis.effects.len();
            self.redirect_effects(stmt, &commands, before);
            self.note_redirects(stmt, commands.last().copied().flatten(), from);
        }
        self.flow.printed |= printed;
        self.flow.fed = fed;
        let lasts = !stmt.redirects.is_empty() && self.is_exec(stmt);
        if !lasts {
            self.descriptors.truncate(open);
        }
        match outer {
            // What reads the shell's own standard input from here on reads that.
            Some(_) if lasts => self.refed += 1,
            Some(outer) => self.feed = outer,
            None => {}
        }
    }

    /// The commands that the redirections are of: several where the statement may be one or another.
    fn redirected_commands(&self, stmt: &Stmt, first: usize) -> Vec<Option<usize>> {
        let commands = &self.out.analysis.commands;
        let simple =
            matches!(stmt.command, Command::Simple(_) | Command::Decl(_) | Command::Builtin(_));
        let own = (first..commands.len()).filter(|at| commands[*at].parent == self.frame.parent);
        let mut own: Vec<_> = own.collect();
        if simple {
            // Its substitutions came before it: they end before it does.
            let last = own.iter().map(|at| commands[*at].span.end).max();
            own.retain(|at| Some(commands[*at].span.end) == last);
        } else if own.len() > 1 {
            // A group of one command is that command.
            own.clear();
        }
        match own.is_empty() {
            true => vec![self.frame.parent],
            false => own.into_iter().map(Some).collect(),
        }
    }

    pub(super) fn walk_builtin(&mut self, builtin: &BuiltinCommand) {
        // break, continue, return, exit: what follows may still run in another branch.
        let (word, more, assignments) = match builtin {
            BuiltinCommand::Break(c) => (&c.depth, &c.extra_args, &c.assignments),
            BuiltinCommand::Continue(c) => (&c.depth, &c.extra_args, &c.assignments),
            BuiltinCommand::Return(c) => (&c.code, &c.extra_args, &c.assignments),
            BuiltinCommand::Exit(c) => (&c.code, &c.extra_args, &c.assignments),
        };
        for word in word.iter().chain(more) {
            self.visit_whole_word(word);
            self.evaluates_word(word);
        }
        for assignment in assignments.iter() {
            self.visit_assignment(assignment);
        }
    }

    /// `a && b`, `a || b`, `a | b`: the left side nests, so it is unrolled.
    pub(super) fn walk_binary(&mut self, binary: &shuck_ast::BinaryCommand) {
        let mut links = Vec::new();
        let mut at = binary;
        let first = loop {
            links.push((at.op, &*at.right));
            match &at.left.command {
                Command::Binary(left)
                    if at.left.redirects.is_empty() && is_same_kind(left.op, binary.op) =>
                {
                    at = left
                }
                _ => break &*at.left,
            }
        };
        links.reverse();
        if !matches!(binary.op, BinaryOp::Pipe | BinaryOp::PipeAll) {
            // What the left side of an `||` found: the directory, and the one before it.
            let place = |w: &Self| {
                let back = StateKey::Var("OLDPWD".to_string());
                [StateKey::Cwd, back].map(|key| (w.state.get(&key).cloned(), key))
            };
            let mut before = place(self);
            let mut left = first;
            // Is it another directory, even if all of the `&&` so far has succeeded?
            let mut held = self.astray();
            let mark = self.state.mark();
            let mut sure = self.always_succeeds(first);
            self.walk_statement(first);
            // `cd x` that has succeeded leads there from where it was, or to a place that is surely there.
            held = self.astray() && (held || !self.changes_directory(first));
            let failed = matches!(first.command, Command::Compound(_))
                && !first.redirects.is_empty()
                && matches!(links.first(), Some((BinaryOp::Or, _)));
            if failed {
                // Where the file cannot be opened, nothing of the group has run.
                let delta = self.state.rollback(mark);
                self.state.join_branches(vec![delta, Delta::new()]);
            }
            for (op, stmt) in links {
                let mark = self.state.mark();
                let here = place(self);
                // What stands behind `cd x ||` runs where `cd` did not leave.
                let stayed = matches!(op, BinaryOp::Or) && self.changes_directory(left);
                if stayed {
                    for (held, key) in before {
                        self.state.set(key, held);
                    }
                }
                // Behind `cd x &&` the directory is sure, for what the `&&` leads to.
                let now = self.astray();
                if op == BinaryOp::And || stayed {
                    self.set_astray(held);
                }
                let goes_on = self.always_succeeds(stmt);
                match self.is_sure_behind(op, left) {
                    true => self.walk_statement(stmt),
                    false => self.perhaps(|w| w.walk_statement(stmt)),
                }
                let after = self.astray();
                // `cd x || exit`: whoever goes on is there.
                let arrived = stayed && self.ends_here(stmt);
                let outer = now || after;
                held = match op {
                    _ if arrived => held,
                    BinaryOp::And => after && (held || !self.changes_directory(stmt)),
                    _ => outer,
                };
                // What stands behind an assignment and `&&` runs.
                sure &= op == BinaryOp::And;
                if sure {
                    sure = goes_on;
                    (before, left) = (here, stmt);
                    self.set_astray(outer);
                    continue;
                }
                // Both "ran" and "did not run" stay open, save that `cd x &&` is believed.
                let mut delta = self.state.rollback(mark);
                let cwd = delta.remove(&StateKey::Cwd).filter(|_| !stayed);
                (before, left) = (here, stmt);
                self.state.join_branches(vec![delta, Delta::new()]);
                // What comes behind all of this may find itself where it was.
                self.set_astray(if arrived { held } else { outer || cwd.is_some() });
                if let Some(cwd) = cwd {
                    let unsure = matches!(op, BinaryOp::Or);
                    self.state
                        .set(StateKey::Cwd, if unsure { Some(StateValue::Cwd(None)) } else { cwd });
                }
            }
            return;
        }
        let stages = std::iter::once(first).chain(links.iter().map(|(_, stmt)| *stmt)).collect();
        let (fed, piped) = (self.flow.fed, self.flow.piped.clone());
        self.fed_with(self.feed.clone(), |w| w.in_background(|w| w.walk_pipeline(stages)));
        (self.flow.fed, self.flow.piped) = (fed, piped);
    }

    /// Runs something beside what goes on: a stage of a pipeline, a job in the background.
    pub(super) fn in_background<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        self.in_frame(|frame| frame.concurrent += 1, run)
    }

    /// The stages of a pipeline, each fed with what the one before it prints.
    fn walk_pipeline(&mut self, stages: Vec<&Stmt>) {
        let last = stages.len() - 1;
        let first = self.out.analysis.commands.len();
        let looking =
            stages.len() - stages.iter().rev().take_while(|stage| self.only_looks(stage)).count();
        for (i, stage) in stages.into_iter().enumerate() {
            if i > 0 && self.redirect_feed(stage).is_some() {
                // zsh gives it both: what the pipe brings, and what the redirection names.
                self.emit_uncovered(
                    "a pipe and a file that zsh reads one after the other",
                    stage.span,
                );
            }
            let printed = std::mem::take(&mut self.flow.printed);
            self.flow.piped = first..self.out.analysis.commands.len();
            let changed = self.in_subshell(|w| w.walk_statement(stage));
            if i == last && holds_more(self.source_behind(stage.span)) {
                self.keep_last_stage(changed);
            }
            if self.room.stopped {
                break;
            }
            if i < last {
                self.flow.fed = std::mem::replace(&mut self.flow.printed, printed);
                self.feed = self.looking_past(|w| {
                    w.in_frame(
                        |frame| frame.only_looked_at = i + 1 >= looking,
                        |w| w.piped_output(stage),
                    )
                });
            } else {
                self.flow.printed |= printed;
            }
        }
    }

    /// zsh runs the last stage of a pipeline in the shell itself: what it changed stays.
    fn keep_last_stage(&mut self, changed: Delta) {
        if self.frame.zsh {
            return self.state.join_branches(vec![changed]);
        }
        let differs = |key: &StateKey| match key {
            StateKey::Cwd | StateKey::Function(_) | StateKey::Alias(_) | StateKey::Positional => {
                true
            }
            // Of one that was not set nobody knows more than that it may be.
            StateKey::Var(_) => self.state.is_set(key),
            _ => false,
        };
        self.as_zsh |= changed.keys().any(differs);
    }

    /// Does that stage of a pipeline plainly no more than look at what it is fed?
    fn only_looks(&self, stmt: &Stmt) -> bool {
        let Command::Simple(simple) = &stmt.command else { return false };
        let text =
            |word: &Word| word.try_static_text(&self.frame.source).map(|text| text.to_string());
        let Some(mut name) = text(&simple.name) else { return false };
        if name == "xargs" {
            let plain = |word: &Option<String>| {
                let word = word.as_deref().unwrap_or_default();
                matches!(word, "-0" | "-r" | "-0r" | "-r0" | "-t" | "--null")
            };
            let Some(Some(word)) = simple.args.iter().map(text).find(|word| !plain(word)) else {
                return false;
            };
            name = word;
        }
        table::has_class(&name, Class::Looker, self.out.place.programs)
            && self.state.get(&StateKey::Function(name.clone())).is_none()
            && self.state.get(&StateKey::Alias(name)).is_none()
    }

    /// Runs one of several branches of a script: it may be another one.
    fn in_branch(&mut self, seq: &StmtSeq) -> Delta {
        self.in_subshell(|w| w.perhaps(|w| w.walk_list(seq)))
    }

    /// Runs what may not run, where a script is walked: in the call's own text it counts all the same.
    fn perhaps(&mut self, run: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.out.unsure, self.out.in_script);
        run(self);
        self.out.unsure = outer;
    }

    /// Does what stands behind `&&` run in the ordinary course of a script? Not where the left side only asks.
    fn is_sure_behind(&self, op: BinaryOp, left: &Stmt) -> bool {
        let asks = match &left.command {
            Command::Simple(simple) => {
                let name = simple.name.try_static_text(&self.frame.source);
                name.is_none_or(|name| ASKING.contains(&name.as_ref()))
            }
            Command::Compound(_) | Command::Builtin(_) | Command::Binary(_) => true,
            _ => false,
        };
        !self.out.in_script || op == BinaryOp::And && !asks
    }

    /// Is it nothing but assignments of plain texts to variables that take them?
    fn always_succeeds(&self, stmt: &Stmt) -> bool {
        let is_plain = |one: &Assignment| {
            let name = one.target.name.as_str();
            let text = match &one.value {
                AssignmentValue::Scalar(word) => word.try_static_text(&self.frame.source),
                AssignmentValue::Compound(_) => None,
            };
            let refused = CONSTANTS.contains(&name) || self.state.is_constant(name);
            text.is_some() && one.target.subscript.is_none() && !refused
        };
        let assigns = match &stmt.command {
            Command::Simple(simple) => {
                self.slice(simple.name.span).is_empty()
                    && simple.args.is_empty()
                    && !simple.assignments.is_empty()
                    && simple.assignments.iter().all(is_plain)
            }
            Command::Decl(decl) => {
                matches!(decl.variant.as_str(), "export" | "readonly" | "declare" | "typeset")
                    && decl
                        .operands
                        .iter()
                        .all(|one| matches!(one, DeclOperand::Assignment(set) if is_plain(set)))
            }
            _ => false,
        };
        assigns && stmt.redirects.is_empty() && !stmt.negated
    }

    /// Is it a plain `cd`, whose success says that it is done? That of `! cd x` says that it is not.
    fn changes_directory(&self, stmt: &Stmt) -> bool {
        let Command::Simple(simple) = &stmt.command else { return false };
        if stmt.negated {
            return false;
        }
        let name = simple.name.try_static_text(&self.frame.source);
        name.is_some_and(|name| matches!(name.as_ref(), "cd" | "pushd"))
    }

    /// May the directory be another one?
    fn astray(&self) -> bool {
        self.state.is_set(&StateKey::Astray)
    }

    fn set_astray(&mut self, astray: bool) {
        if astray != self.astray() {
            self.state.set(StateKey::Astray, astray.then_some(StateValue::Set));
        }
    }

    /// Does the shell end there: `exit 1`, `{ echo no; exit; }`? Behind `return` whoever called goes on.
    fn ends_here(&self, stmt: &Stmt) -> bool {
        match &stmt.command {
            Command::Builtin(builtin) => {
                let function = StateKey::Function("exit".to_string());
                matches!(builtin, BuiltinCommand::Exit(_)) && self.state.get(&function).is_none()
            }
            Command::Compound(CompoundCommand::BraceGroup(seq)) => {
                seq.stmts.last().is_some_and(|last| self.ends_here(last))
            }
            _ => false,
        }
    }

    /// What a `cd` that may have failed leaves nobody sure of: where a plain command works.
    fn doubt_directory(&mut self, stmt: &Stmt) {
        // Where no directory is known, no path is.
        if self.astray()
            && self.cwd().is_some()
            && matches!(stmt.command, Command::Simple(_))
            && !self.changes_directory(stmt)
        {
            self.emit_uncovered("a directory that `cd` may not have reached", stmt.span);
        }
    }

    /// Behind a `cd` that surely failed a plain command runs where the shell was: what it does there counts as well.
    fn walk_where_it_stayed(&mut self, stmt: &Stmt) {
        let Some(StateValue::Cwd(Some(dir))) = self.state.get(&StateKey::Stayed).cloned() else {
            return;
        };
        let moved = self.cwd().is_none_or(|now| now != dir);
        if !self.astray() || !matches!(stmt.command, Command::Simple(_)) {
            return;
        }
        let before = self.found_so_far();
        let mark = self.state.mark();
        self.state.set(StateKey::Stayed, None);
        self.set_astray(false);
        self.state.set(StateKey::Cwd, Some(StateValue::Cwd(Some(dir))));
        self.stmt_here(stmt);
        let now = self.cwd();
        self.state.rollback(mark);
        let meets = |effect: &Effect| effect.path.is_some();
        if !moved || !self.out.analysis.effects[before.effects..].iter().any(meets) {
            self.take_back(before);
        }
        self.state.set(StateKey::Stayed, Some(StateValue::Cwd(now)));
    }

    /// Runs each branch from the same state and goes on from all of them.
    pub(super) fn join_branches(&mut self, mut deltas: Vec<Delta>, open: bool) {
        if open {
            deltas.push(Delta::new());
        }
        self.state.join_branches(deltas);
    }

    pub(super) fn walk_compound(&mut self, compound: &CompoundCommand) {
        match compound {
            CompoundCommand::Subshell(seq) => {
                self.in_subshell(|w| w.walk_list(seq));
            }
            CompoundCommand::BraceGroup(seq) => self.walk_list(seq),
            CompoundCommand::If(command) => {
                self.walk_list(&command.condition);
                let mut deltas = vec![self.in_branch(&command.then_branch)];
                for (condition, body) in &command.elif_branches {
                    self.perhaps(|w| w.walk_list(condition));
                    deltas.push(self.in_branch(body));
                }
                if let Some(body) = &command.else_branch {
                    deltas.push(self.in_branch(body));
                }
                self.join_branches(deltas, command.else_branch.is_none());
            }
            CompoundCommand::For(command) => {
                let mut words = Vec::new();
                for word in command.words.iter().flatten() {
                    self.visit_whole_word(word);
                }
                for group in side_by_side(command.words.iter().flatten()) {
                    words.extend(self.expand_every(&group));
                }
                if command.words.is_none() {
                    match self.positional_parameters() {
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
                self.walk_for_loop(&names, &words, &command.body);
            }
            CompoundCommand::Foreach(c) => {
                self.walk_named_loop(c.variable.as_str(), &c.words, &c.body)
            }
            CompoundCommand::Select(c) => {
                self.walk_named_loop(c.variable.as_str(), &c.words, &c.body);
                self.show_variable(c.variable.as_str());
            }
            CompoundCommand::Repeat(command) => {
                self.visit_word(&command.count);
                self.walk_loop(&[], |w| w.walk_list(&command.body));
            }
            CompoundCommand::ArithmeticFor(command) => {
                let before = self.substitutions;
                let parts = [
                    (&command.init_ast, command.init_span),
                    (&command.condition_ast, command.condition_span),
                    (&command.step_ast, command.step_span),
                ];
                for (node, span) in parts {
                    if let Some(node) = node {
                        self.visit_arithmetic(node);
                    }
                    let Some(span) = span else { continue };
                    self.visit_raw(span, before);
                    for name in assign::arithmetic_names(self.slice(span)) {
                        self.set_unknown_number(&name);
                    }
                }
                if is_fork_bomb(&command.body) && command.condition_span.is_none() {
                    self.fork_bomb(self.source_range(command.span));
                }
                self.walk_loop(&[], |w| w.walk_list(&command.body));
            }
            CompoundCommand::While(command) => {
                let always = ["true", ":", "((1))", "(( 1 ))", "[ 1 ]", "[[ 1 ]]"];
                if is_fork_bomb(&command.body)
                    && always.contains(&self.condition_text(&command.condition))
                {
                    self.fork_bomb(self.source_range(command.span));
                }
                self.walk_loop(&[], |w| {
                    w.walk_list(&command.condition);
                    w.perhaps(|w| w.walk_list(&command.body));
                });
            }
            CompoundCommand::Until(command) => {
                if is_fork_bomb(&command.body) && self.condition_text(&command.condition) == "false"
                {
                    self.fork_bomb(self.source_range(command.span));
                }
                self.walk_loop(&[], |w| {
                    w.walk_list(&command.condition);
                    w.perhaps(|w| w.walk_list(&command.body));
                });
            }
            CompoundCommand::Case(command) => {
                self.visit_whole_word(&command.word);
                let mut deltas = Vec::new();
                for item in &command.cases {
                    for pattern in &item.patterns {
                        self.visit_pattern(pattern);
                    }
                    deltas.push(self.in_branch(&item.body));
                }
                self.join_branches(deltas, true);
            }
            CompoundCommand::Arithmetic(command) => {
                let open = command.left_paren_span;
                if let Some(text) = self.disguised_command(open.start.offset()) {
                    // Where the parser goes on behind it is not sure.
                    self.emit_uncovered("subshells that begin like arithmetic", open);
                    return self.walk_in_subshell(&text, open);
                }
                let raw = self.slice(command.span);
                let inner =
                    raw.strip_prefix("((").and_then(|raw| raw.trim_end().strip_suffix("))"));
                let read = command.expr_ast.is_some()
                    || inner.is_some_and(|inner| inner.trim().is_empty());
                if !read || inner.is_none_or(|inner| has_bare(inner, b";\n")) {
                    self.emit_unseen("arithmetic that may end elsewhere", command.span);
                }
                let before = self.substitutions;
                if let Some(node) = &command.expr_ast {
                    self.visit_arithmetic(node);
                }
                if let Some(span) = command.expr_span {
                    self.visit_raw(span, before);
                    let text = self.slice(span);
                    for name in assign::arithmetic_names(text) {
                        self.set_unknown_number(&name);
                    }
                }
            }
            CompoundCommand::Time(command) => {
                if let Some(stmt) = &command.command {
                    self.walk_statement(stmt);
                }
            }
            CompoundCommand::Conditional(command) => self.walk_conditional(&command.expression),
            CompoundCommand::Coproc(command) => {
                // What it reads comes from whoever writes to its descriptor.
                self.fed_with(Feed::Stream(Printer::Stranger), |w| {
                    w.in_background(|w| w.in_subshell(|w| w.walk_statement(&command.body)));
                });
                // Its two descriptors.
                let mut pair = number_var();
                pair[0].extend(number_var().remove(0));
                let name = command.name.as_str().to_string();
                self.state.set(StateKey::Var(name), Some(StateValue::Var(pair)));
            }
            CompoundCommand::Always(command) => {
                self.walk_list(&command.body);
                self.walk_list(&command.always_body);
            }
        }
    }

    /// `select x in WORDS`, and zsh's `foreach x (WORDS)`.
    fn walk_named_loop(&mut self, name: &str, words: &[Word], body: &StmtSeq) {
        let mut values = Vec::new();
        for word in words {
            self.visit_whole_word(word);
            values.extend(self.expand_every(&[word]));
        }
        self.walk_for_loop(&[name.to_string()], &values, body);
    }

    /// A side of `-eq`, a name after `-v`: arithmetic, whose subscripts run commands.
    fn arithmetic_side(&mut self, side: &ConditionalExpr) {
        let ConditionalExpr::Word(word) = side else { return };
        self.evaluates_word(word);
    }

    pub(super) fn walk_conditional(&mut self, expression: &ConditionalExpr) {
        match expression {
            ConditionalExpr::Binary(binary) => {
                self.walk_conditional(&binary.left);
                self.walk_conditional(&binary.right);
                use shuck_ast::ConditionalBinaryOp as Op;
                if let (Op::RegexMatch, ConditionalExpr::Word(word)) = (binary.op, &*binary.left) {
                    self.keep_match(word);
                }
                if matches!(
                    binary.op,
                    Op::ArithmeticEq
                        | Op::ArithmeticNe
                        | Op::ArithmeticLe
                        | Op::ArithmeticGe
                        | Op::ArithmeticLt
                        | Op::ArithmeticGt
                ) {
                    self.arithmetic_side(&binary.left);
                    self.arithmetic_side(&binary.right);
                }
            }
            ConditionalExpr::Unary(unary) => {
                self.walk_conditional(&unary.expr);
                if unary.op == shuck_ast::ConditionalUnaryOp::VariableSet {
                    self.arithmetic_side(&unary.expr);
                }
            }
            ConditionalExpr::Parenthesized(inner) => self.walk_conditional(&inner.expr),
            ConditionalExpr::Word(word) | ConditionalExpr::Regex(word) => self.visit_word(word),
            ConditionalExpr::Pattern(pattern) => self.visit_pattern(pattern),
            ConditionalExpr::VarRef(reference) => self.visit_reference(reference),
        }
    }
}

fn is_same_kind(a: BinaryOp, b: BinaryOp) -> bool {
    let pipe = |op| matches!(op, BinaryOp::Pipe | BinaryOp::PipeAll);
    pipe(a) == pipe(b)
}
