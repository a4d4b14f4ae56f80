//! Running one command: builtins that change the state, functions, programs and what they run.

use std::ops::Range;
use std::rc::Rc;

use shuck_ast::{
    Assignment, AssignmentValue, DeclClause, DeclOperand, FunctionDef, SimpleCommand, Stmt,
};

use super::state::{Function, Held, Key};
use super::{Feed, Walker};
use crate::effect::path::split;
use crate::effect::program::{self, Call, Next, code, options, table};
use crate::effect::value::{Spot, Value};
use crate::effect::{Extent, Grade, Source, SubCommand, Word};

/// Directories whose programs are the system's own.
const SYSTEM_DIRS: &[&str] = &[
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
];
/// How deep functions call functions.
const MAX_CALLS: usize = 16;
/// How deep wrappers stand in wrappers.
const MAX_WRAPPERS: usize = 24;

impl Walker<'_> {
    /// A simple command, in every world.
    pub(super) fn simple(&mut self, simple: &SimpleCommand, stmt: &Stmt) {
        let _ = stmt;
        for assignment in simple.assignments.iter() {
            self.visit_assignment(assignment);
        }
        self.visit_word(&simple.name);
        for word in &simple.args {
            self.visit_word(word);
        }
        let empty = self
            .source
            .get(simple.name.span.start.offset()..simple.name.span.end.offset())
            .unwrap_or_default()
            .is_empty();
        if empty && simple.args.is_empty() {
            for assignment in simple.assignments.iter() {
                self.assign(assignment);
            }
            return;
        }
        let mut marked = false;
        for assignment in simple.assignments.iter() {
            marked |= self.temporary(assignment);
        }
        self.worlds(|w| {
            let mut words = w.expand(&simple.name);
            for word in &simple.args {
                words.extend(w.expand(word));
            }
            w.call(&words, marked);
        });
    }

    /// An assignment that holds for one command.
    fn temporary(&mut self, assignment: &Assignment) -> bool {
        let name = assignment.target.name.as_str().to_string();
        let value = match &assignment.value {
            AssignmentValue::Scalar(word) => self.quietly(|w| w.expand_one(word, true)),
            AssignmentValue::Compound(_) => Value::default(),
        };
        let span = self.range(assignment.span);
        self.mark_assignment(&name, value.plain(), span, false)
    }

    /// export, declare, local, readonly, typeset.
    pub(super) fn decl(&mut self, decl: &DeclClause) {
        let name = decl.variant.as_str().to_string();
        let mut args = Vec::new();
        let mut marked = false;
        for assignment in decl.assignments.iter() {
            self.visit_assignment(assignment);
            marked |= self.temporary(assignment);
        }
        let mut unknown = None;
        for operand in &decl.operands {
            match operand {
                DeclOperand::Flag(word) => {
                    let value = self.quietly(|w| w.expand_one(word, false));
                    args.push(value);
                }
                DeclOperand::Name(reference) => {
                    self.visit_reference(reference);
                    args.push(Value::known(reference.name.as_str(), self.range(reference.span)));
                }
                DeclOperand::Assignment(assignment) => {
                    self.visit_assignment(assignment);
                    self.assign(assignment);
                    let span = self.range(assignment.span);
                    args.push(Value::known(format!("{}=", assignment.target.name.as_str()), span));
                }
                DeclOperand::Dynamic(word) => {
                    self.visit_word(word);
                    let values = self.quietly(|w| w.expand(word));
                    for value in values {
                        match value.plain().and_then(|t| t.split_once('=')) {
                            Some((key, text)) => {
                                let (key, text) = (key.to_string(), text.to_string());
                                self.mark_assignment(&key, Some(&text), value.span.clone(), true);
                                self.state.set(
                                    Key::Var(key),
                                    Some(Held::Var(vec![vec![super::word::quoted(&text)]])),
                                );
                            }
                            None if value.text.is_none() && !value.start().contains('=') => {
                                unknown = Some(value.span.clone())
                            }
                            None => {
                                if let Some((key, _)) = value.start().split_once('=') {
                                    let key = key.to_string();
                                    self.mark_assignment(&key, None, value.span.clone(), true);
                                    self.forget(&key);
                                }
                            }
                        }
                        args.push(value);
                    }
                }
            }
        }
        let exports = name == "export"
            || args.iter().any(|a| a.start().starts_with('-') && a.start().contains('x'));
        for arg in &args {
            let key = arg.start().split('=').next().unwrap_or_default();
            if exports && !key.is_empty() && !key.starts_with('-') {
                self.state.set(Key::Exported(key.to_string()), Some(Held::Set));
            }
        }
        let span = self.range(decl.span);
        let mut words = vec![Value::known(name, self.range(decl.variant_span))];
        words.extend(args);
        self.command(&words, marked, span.clone(), true);
        if let Some(span) = unknown {
            self.out.unknown("a declaration known only at run time", span);
        }
    }

    /// A function becomes known; its body has run only when it is called.
    pub(super) fn define(&mut self, function: &FunctionDef) {
        let held = Function {
            body: Rc::new((*function.body).clone()),
            source: self.source.clone(),
            fixed: self.fixed.clone(),
            defined: self.range(function.span),
        };
        let mut any = false;
        for entry in &function.header.entries {
            let name = self.quietly(|w| w.expand_one(&entry.word, false));
            if let Some(name) = name.plain() {
                any = true;
                self.state.set(
                    Key::Function(name.to_string()),
                    Some(Held::Function(vec![held.clone()], true)),
                );
            }
        }
        if !any {
            let span = self.range(function.span);
            self.out.command = self.parent;
            self.out.unknown("a function whose name is known only at run time", span);
        }
    }

    /// Words that are a command: function, builtin or program.
    pub(super) fn call(&mut self, words: &[Value], marked: bool) {
        let Some(first) = words.first() else { return };
        let end = words.iter().map(|w| w.span.end).max().unwrap_or(first.span.end);
        let span = first.span.start..end.max(first.span.start);
        self.command(words, marked, span, false);
    }

    fn command(&mut self, words: &[Value], marked: bool, span: Range<usize>, declared: bool) {
        if !self.room() {
            return;
        }
        let Some(word) = words.first() else { return };
        let args = &words[1..];
        let text = word.plain().map(str::to_string);
        let (dir, base) = text.as_deref().map_or(("", ""), split);
        let (dir, name) = (dir.to_string(), base.to_string());
        let tainted = self.state.flag(&Key::Tainted);
        // A wrapper starts programs: functions and aliases are the shell's own.
        let external = std::mem::take(&mut self.external);
        let function = match self.state.get(&Key::Function(name.clone())) {
            Some(Held::Function(list, sure)) if dir.is_empty() && !name.is_empty() && !external => {
                Some((list.clone(), *sure))
            }
            _ => None,
        };
        let alias = match self.state.get(&Key::Alias(name.clone())) {
            Some(Held::Alias(a)) if dir.is_empty() && !external => Some(a.clone()),
            _ => None,
        };
        let system = dir.is_empty() || SYSTEM_DIRS.contains(&dir.as_str());
        let genuine = !name.is_empty()
            && system
            && function.is_none()
            && alias.is_none()
            && !tainted
            && !marked;
        let parsed =
            program::parse(if function.as_ref().is_some_and(|f| f.1) { "" } else { &name }, args);
        let complete = parsed.program.is_some_and(|p| p.complete);
        let command = SubCommand {
            name: name.clone(),
            word: word.arg(),
            args: options::public_args(args),
            options: parsed.public(args),
            operands: parsed.operands.clone(),
            doubtful: parsed.doubtful.clone(),
            span: span.clone(),
            parent: self.parent,
            quoted: self.computed > 0,
            genuine,
            transparent: genuine && complete && parsed.harmless,
            neutral_wrapper: false,
        };
        let Some(index) = self.push(command) else { return };
        self.out.command = Some(index);
        self.out.cwd = self.cwd();
        if name.is_empty() {
            if word.text.as_deref() == Some("") {
                return;
            }
            let why = if word.fed {
                "a program that another command names"
            } else {
                "a program known only at run time"
            };
            self.out.unknown(why, word.span.clone());
            return;
        }
        self.out.push(Word::Execute, Grade::Certain, Source::Program, word.span.clone());
        if let Some((list, sure)) = function {
            for one in list {
                self.function(&name, &one, words, index, &span);
            }
            if sure {
                return;
            }
            self.out.command = Some(index);
            self.out.cwd = self.cwd();
        }
        if let Some(alias) = alias {
            match alias {
                Some(text) => self.nested(&text, span.clone(), Some(index)),
                None => self.out.unknown("an alias known only at run time", span.clone()),
            }
            self.out.command = Some(index);
            self.out.cwd = self.cwd();
        }
        if !dir.is_empty() && !system {
            self.file(word, "", index, true);
            self.out.command = Some(index);
        }
        if declared {
            return;
        }
        if self.state_builtin(&name, args, index, &span) {
            return;
        }
        let call = Call { name: &name, args, parsed: &parsed, span: span.clone() };
        let from = self.out.analysis.effects.len();
        let nexts = program::run(&mut self.out, &call);
        if self.out.analysis.effects[from..]
            .iter()
            .any(|e| e.word == Word::Execute && e.grade == Grade::Unknown)
        {
            self.out.analysis.commands[index].transparent = false;
        }
        let wraps = parsed.program.is_some_and(|p| p.neutral);
        let assigns = parsed.program.is_some_and(|p| p.assignments);
        if wraps && parsed.harmless && !marked && genuine {
            self.out.analysis.commands[index].neutral_wrapper = true;
        }
        self.words_of_options(&parsed, index);
        for next in nexts {
            if self.stopped {
                return;
            }
            self.next(next, index, assigns);
        }
    }

    /// An unknown argument in a place where an option could stand, of a program that could do more
    /// with it.
    fn words_of_options(&mut self, parsed: &options::Parsed, index: usize) {
        let grave = parsed.options.iter().any(|o| {
            o.spec.is_some_and(|s| s.marks & table::mark::UNSAFE != 0)
                && o.value.as_ref().is_some_and(|v| v.text.is_none())
        });
        if grave {
            let span = self.out.analysis.commands[index].span.clone();
            self.out.command = Some(index);
            self.out.unknown("an option that executes, with a value known only at run time", span);
        }
    }

    /// Runs what a program runs in turn.
    fn next(&mut self, next: Next, index: usize, assigns: bool) {
        match next {
            Next::Words { words, cwd, feeds } => {
                let mut words = words;
                let mut marked = false;
                while assigns
                    && let Some((key, rest)) = words.first().and_then(|w| w.start().split_once('='))
                {
                    if key.is_empty()
                        || !key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
                    {
                        break;
                    }
                    let (key, rest) = (key.to_string(), rest.to_string());
                    let first = words.remove(0);
                    let value = first.text.is_some().then_some(rest.as_str());
                    marked |= self.mark_assignment(&key, value, first.span.clone(), false);
                }
                if marked {
                    self.out.analysis.commands[index].neutral_wrapper = false;
                    self.out.analysis.commands[index].transparent = false;
                }
                if words.is_empty() {
                    return;
                }
                if feeds {
                    match self.feed.clone() {
                        Feed::Text(text) => {
                            let span = self.out.analysis.commands[index].span.clone();
                            words.extend(
                                text.split_whitespace()
                                    .take(500)
                                    .map(|w| Value::known(w, span.clone())),
                            );
                        }
                        Feed::Rooted(value) => words.push(value),
                        _ => words
                            .push(Value::unknown(self.out.analysis.commands[index].span.clone())),
                    }
                }
                let mut up = 0;
                let mut at = Some(index);
                while let Some(i) = at {
                    up += 1;
                    at = self.out.analysis.commands.get(i).and_then(|c| c.parent);
                }
                if up > MAX_WRAPPERS {
                    self.out.command = Some(index);
                    self.out.unknown("wrappers nested too deep", 0..0);
                    return;
                }
                let outer = self.parent.replace(index);
                let mark = self.state.mark();
                if let Some(cwd) = cwd {
                    let text = cwd.plain().map(str::to_string);
                    if text != self.cwd() {
                        self.state.set(Key::Cwd, Some(Held::Cwd(text)));
                    }
                }
                let name = self.out.analysis.commands.get(index).map(|c| c.name.clone());
                self.external = true;
                self.call(&words, marked);
                self.external = false;
                if !matches!(name.as_deref(), Some("command" | "builtin")) {
                    // `command cd x` goes there as well; no other wrapper changes this shell.
                    self.state.rollback(mark);
                }
                self.parent = outer;
            }
            Next::Script { text, rest } => self.script(&text, rest, index),
            Next::Stdin { lang } => self.stdin(lang, index),
            Next::File { file, lang } => self.file(&file, lang, index, false),
        }
    }

    /// `bash -c TEXT name args`, `eval TEXT`.
    fn script(&mut self, text: &Value, rest: Vec<Value>, index: usize) {
        let eval = self
            .out
            .analysis
            .commands
            .get(index)
            .is_some_and(|c| matches!(c.name.as_str(), "eval" | "trap"));
        self.out.command = Some(index);
        let Some(known) = text
            .plain()
            .map(str::to_string)
            .or_else(|| text.glob.then(|| text.text.clone()).flatten())
        else {
            if text.fed {
                self.out.push(
                    Word::PipeToInterpreter,
                    Grade::Certain,
                    Source::Program,
                    text.span.clone(),
                );
            } else {
                self.out.unknown("shell text known only at run time", text.span.clone());
            }
            return;
        };
        if eval {
            self.nested(&known, text.span.clone(), Some(index));
            return;
        }
        self.child(rest, |w| w.nested(&known, text.span.clone(), Some(index)));
    }

    /// What `trap` was told runs at the end.
    pub(super) fn traps(&mut self) {
        for (text, index) in std::mem::take(&mut self.traps) {
            self.script(&text, Vec::new(), index);
        }
        self.traps.clear();
    }

    /// Runs something as a new shell sees it.
    fn child(&mut self, positional: Vec<Value>, run: impl FnOnce(&mut Self)) {
        let child = self.state.child();
        let state = std::mem::replace(&mut self.state, child);
        let outer = self.positional.replace(Rc::new(positional));
        let calls = std::mem::take(&mut self.calls);
        run(self);
        self.calls = calls;
        self.positional = outer;
        self.state = state;
    }

    /// An interpreter that reads its program from standard input.
    fn stdin(&mut self, lang: &'static str, index: usize) {
        self.out.command = Some(index);
        let span = self.out.analysis.commands[index].span.clone();
        match self.feed.clone() {
            Feed::None => {}
            Feed::Text(text) if lang == "shell" => {
                let outer = std::mem::replace(&mut self.feed, Feed::None);
                self.child(Vec::new(), |w| w.nested(&text, span, Some(index)));
                self.feed = outer;
            }
            Feed::Text(text) => {
                let value = Value::known(text, span);
                code::emit(&mut self.out, lang, &value, &mut Vec::new());
            }
            Feed::File(file) => self.file(&file, lang, index, false),
            Feed::Rooted(_) | Feed::Stream => {
                self.out.push(Word::PipeToInterpreter, Grade::Certain, Source::Program, span);
            }
        }
    }

    /// A script file runs: opaque, unless the call itself wrote it.
    fn file(&mut self, file: &Value, lang: &str, index: usize, program: bool) {
        self.out.command = Some(index);
        self.out.cwd = self.cwd();
        let caller = self.out.analysis.commands.get(index).map(|c| c.name.clone());
        let sourced = matches!(caller.as_deref(), Some("." | "source"));
        if sourced && (file.pipe || file.fed) {
            self.state.forget_all();
        }
        if file.pipe || file.fed {
            self.out.push(
                Word::PipeToInterpreter,
                Grade::Certain,
                Source::Program,
                file.span.clone(),
            );
            return;
        }
        let source = if program { Source::Program } else { Source::Operand };
        let spot = self.out.spot(file, Extent::Exact, false);
        match spot {
            Spot::Stream => {
                if lang.is_empty() {
                    return;
                }
                self.stdin(if lang == "shell" { "shell" } else { "script" }, index);
            }
            Spot::Unknown => {
                self.out.unknown("a script file known only at run time", file.span.clone())
            }
            Spot::At(target) => {
                let written = self.out.written.get(&target.resolved).cloned();
                self.out.effect(
                    Word::Read,
                    Grade::Certain,
                    Some(target),
                    None,
                    source,
                    file.span.clone(),
                );
                match written {
                    // What a sourced file does to this shell nobody knows.
                    None if sourced => self.state.forget_all(),
                    None => {}
                    Some(Some(text))
                        if matches!(lang, "shell" | "")
                            && (!text.starts_with("#!")
                                || text.lines().next().is_some_and(|l| l.contains("sh"))) =>
                    {
                        if sourced {
                            self.nested(&text, file.span.clone(), Some(index));
                        } else {
                            self.child(Vec::new(), |w| {
                                w.nested(&text, file.span.clone(), Some(index));
                            });
                        }
                    }
                    Some(Some(text)) => {
                        let value = Value::known(text, file.span.clone());
                        code::emit(
                            &mut self.out,
                            if lang.is_empty() { "script" } else { lang },
                            &value,
                            &mut Vec::new(),
                        );
                    }
                    Some(None) => {
                        self.out.push(
                            Word::PipeToInterpreter,
                            Grade::Certain,
                            Source::Program,
                            file.span.clone(),
                        );
                    }
                }
            }
        }
    }

    /// A function of the call.
    fn function(
        &mut self,
        name: &str,
        function: &Function,
        words: &[Value],
        index: usize,
        span: &Range<usize>,
    ) {
        if self.calls.iter().any(|c| c == name) {
            if self.concurrent > self.bomb_base {
                self.fork_bomb(function.defined.clone());
            } else {
                self.out.unknown("a function that calls itself", span.clone());
            }
            return;
        }
        if self.calls.len() >= MAX_CALLS {
            self.out.unknown("functions that call functions too deep", span.clone());
            return;
        }
        let base = self.bomb_base;
        if self.calls.is_empty() {
            self.bomb_base = self.concurrent;
        }
        self.calls.push(name.to_string());
        let positional = self.positional.replace(Rc::new(words.to_vec()));
        let source = std::mem::replace(&mut self.source, function.source.clone());
        let fixed = std::mem::replace(&mut self.fixed, function.fixed.clone());
        let choice = std::mem::take(&mut self.choice);
        let outer = self.parent.replace(index);
        // The body stands in the text once, however often it runs.
        self.computed += 1;
        self.stmt(&function.body);
        self.computed -= 1;
        self.parent = outer;
        self.choice = choice;
        self.fixed = fixed;
        self.source = source;
        self.positional = positional;
        self.calls.pop();
        self.bomb_base = base;
    }

    /// Builtins that change what follows. True = nothing else is to be done.
    fn state_builtin(
        &mut self,
        name: &str,
        args: &[Value],
        index: usize,
        span: &Range<usize>,
    ) -> bool {
        // A subscript in an argument may run a command when it is evaluated.
        if matches!(
            name,
            "let" | "test" | "[" | "printf" | "read" | "unset" | "wait" | "mapfile" | "readarray"
        ) {
            let risky = args.iter().any(|a| {
                let text = a.start();
                (name == "let" || text.contains('['))
                    && (text.contains("$(") || text.contains('`'))
                    && (name != "printf" || args.first().is_some_and(|f| f.plain() == Some("-v")))
            });
            if risky {
                self.out.unknown("a subscript that holds a command", span.clone());
            }
        }
        match name {
            "cd" | "pushd" => {
                let at =
                    args.iter().find(|a| !a.start().starts_with('-') || a.plain() == Some("-"));
                let to = match at {
                    None if name == "cd" => Some(self.out.place.home.clone()),
                    None => None,
                    Some(value) if value.plain() == Some("-") || value.start().starts_with('+') => {
                        None
                    }
                    Some(value) => match self.out.spot(value, Extent::Exact, false) {
                        Spot::At(target) if target.extent == Extent::Exact => Some(target.lexical),
                        _ => None,
                    },
                };
                self.state.set(Key::Cwd, Some(Held::Cwd(to)));
                true
            }
            "popd" => {
                self.state.set(Key::Cwd, Some(Held::Cwd(None)));
                true
            }
            "alias" => {
                for arg in args {
                    if let Some((key, text)) = arg.start().split_once('=') {
                        let text = arg.text.is_some().then(|| text.to_string());
                        self.state.set(Key::Alias(key.to_string()), Some(Held::Alias(text)));
                    }
                }
                true
            }
            "unset" => {
                for arg in args {
                    match arg.plain() {
                        Some(key) if !key.starts_with('-') => {
                            let key = key.to_string();
                            self.state.set(Key::Function(key.clone()), None);
                            self.state.set(Key::Var(key), Some(Held::Var(vec![vec![Vec::new()]])));
                        }
                        Some(_) => {}
                        None => {
                            self.out.unknown("unset of a name known only at run time", span.clone())
                        }
                    }
                }
                true
            }
            "read" | "mapfile" | "readarray" | "getopts" => {
                let mut skip = false;
                for arg in args {
                    let text = arg.start().to_string();
                    if skip {
                        skip = false;
                        continue;
                    }
                    if text.starts_with('-') {
                        skip = matches!(
                            text.as_str(),
                            "-p" | "-d"
                                | "-n"
                                | "-N"
                                | "-t"
                                | "-u"
                                | "-i"
                                | "-C"
                                | "-c"
                                | "-O"
                                | "-s"
                        );
                        skip &= text != "-s";
                        if name != "read" && matches!(text.as_str(), "-C") {
                            self.out.unknown("mapfile runs a callback", span.clone());
                        }
                        continue;
                    }
                    if arg.text.is_none() {
                        self.out.unknown("read into a name known only at run time", span.clone());
                    }
                    if let Feed::Rooted(value) = self.feed.clone()
                        && name == "read"
                    {
                        let atoms = super::word::atoms_of(&value);
                        self.state.set(Key::Var(text.clone()), Some(Held::Var(vec![vec![atoms]])));
                    } else {
                        self.forget(&text);
                    }
                    if super::assign::marked(&text, None) != super::assign::Marked::No {
                        self.state.set(Key::Tainted, Some(Held::Set));
                    }
                }
                true
            }
            "printf" if args.first().and_then(Value::plain) == Some("-v") => {
                if let Some(key) = args.get(1).and_then(Value::plain) {
                    let key = key.to_string();
                    self.forget(&key);
                }
                true
            }
            "let" => {
                for arg in args {
                    for key in super::assign::arithmetic_names(arg.start()) {
                        self.forget(&key);
                    }
                }
                true
            }
            "set" => {
                match args.iter().position(|a| a.plain() == Some("--")) {
                    Some(at) => {
                        let mut values = vec![Value::unknown(span.clone())];
                        values.extend(args[at + 1..].iter().cloned());
                        self.positional = Some(Rc::new(values));
                    }
                    None if args.iter().any(|a| !a.start().starts_with(['-', '+'])) => {
                        self.positional = None
                    }
                    None => {}
                }
                true
            }
            "shift" => {
                let known = args.is_empty();
                self.positional = match (&self.positional, known) {
                    (Some(values), true) if values.len() > 1 => {
                        let mut values = (**values).clone();
                        values.remove(1);
                        Some(Rc::new(values))
                    }
                    _ => None,
                };
                true
            }
            "hash" | "enable" => {
                if args.iter().any(|a| {
                    a.start().starts_with("-p")
                        || a.start().starts_with("-f")
                        || a.start().starts_with("-n")
                }) {
                    self.state.set(Key::Tainted, Some(Held::Set));
                    self.out.unknown("a builtin that redefines programs", span.clone());
                }
                true
            }
            "trap" => {
                let from = usize::from(args.first().and_then(Value::plain) == Some("--"));
                if args.len() > from + 1
                    && !matches!(args[from].plain(), Some("-" | ""))
                    && !args[from].start().starts_with("-l")
                {
                    let text = args[from].clone();
                    self.script(&text, Vec::new(), index);
                    // It runs at the end, with the values of the end.
                    if text.start().contains('$') && self.traps.len() < 20 {
                        self.traps.push((text, index));
                    }
                }
                true
            }
            "eval" => {
                let args: Vec<Value> = if args.first().and_then(Value::plain) == Some("--") {
                    args[1..].to_vec()
                } else {
                    args.to_vec()
                };
                if !args.is_empty()
                    && let Next::Script { text, .. } = program::effects::joined(&args)
                {
                    self.script(&text, Vec::new(), index);
                }
                true
            }
            "bind" | "complete" | "compgen" => {
                if args.iter().any(|a| {
                    a.start().starts_with("-x")
                        || a.start().starts_with("-C")
                        || a.start().starts_with("-F")
                        || a.text.is_none()
                }) {
                    self.out.unknown("a builtin that runs its argument", span.clone());
                }
                true
            }
            _ => false,
        }
    }
}
