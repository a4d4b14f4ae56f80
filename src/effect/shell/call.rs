//! Running one command: builtins that change the state, functions, programs and what they run.

use std::ops::Range;
use std::rc::Rc;

use shuck_ast::{
    Assignment, AssignmentValue, DeclClause, DeclOperand, FunctionDef, SimpleCommand, Stmt, VarRef,
};

use super::frame::Frame;
use super::state::{Function, StateKey, StateValue};
use super::{Feed, Walker, windows};
use crate::effect::analysis::Said;
use crate::effect::guarded;
use crate::effect::path::{is_absolute, join, normalise_path, split};
use crate::effect::program::options::{self, Parsed};
use crate::effect::program::{self, Call, Next, table};
use crate::effect::value::{Printer, Value};
use crate::effect::{AllowScope, Extent, Grade, Source, SubCommand, Target, Word};
use crate::limits;
use crate::names::shell::SYSTEM_DIRS;

/// `-i`, and what makes a number in zsh: what such a variable is given is evaluated.
const INTEGER: &[char] = &['i', 'E', 'F'];

/// Does one of the flags hold one of these letters? They end at the first word that is surely none.
pub(super) fn flagged(flags: &[Value], letters: &[char]) -> bool {
    let surely_none = |word: &&Value| {
        let text = word.known_start();
        !text.is_empty() && !text.starts_with(['-', '+'])
    };
    flags
        .iter()
        .take_while(|word| !surely_none(word))
        .any(|flag| flag.known_start().starts_with('-') && flag.known_start().contains(letters))
}

/// What a declaration is told.
#[derive(Default)]
struct Declared {
    /// Its arguments so far.
    args: Vec<Value>,
    /// Those that name an element, whose subscript is evaluated.
    subscripts: Vec<Value>,
    /// Nobody knows what is declared there.
    unknown: Option<Range<usize>>,
}

/// How a command is started.
#[derive(Debug, Default)]
pub struct Start {
    /// A marked assignment holds for it.
    pub marked: bool,
    /// A wrapper starts it, which starts programs: functions and aliases are the shell's own.
    pub external: bool,
    /// It declares names, which is known already.
    pub declared: bool,
    /// Those of its words that Windows reads in another way, as they are written.
    pub written: windows::WindowsWords,
}

/// Does the text say yes to all that is asked?
fn says_yes(text: &str) -> bool {
    let mut words = text.split_ascii_whitespace().peekable();
    words.peek().is_some() && words.all(|word| matches!(word, "y" | "Y" | "yes" | "Yes" | "YES"))
}

impl Walker<'_> {
    /// A simple command, in every world. `before` = its standard input before its own redirections, which
    /// is what its words substitute.
    pub(super) fn walk_simple_command(
        &mut self,
        simple: &SimpleCommand,
        stmt: &Stmt,
        before: Option<Feed>,
    ) {
        self.with_input_before(&before, |w| w.visit_simple(simple, stmt));
        if self.slice(simple.name.span).is_empty() && simple.args.is_empty() {
            return self.with_input_before(&before, |w| {
                simple.assignments.iter().for_each(|a| w.assign_variable(a))
            });
        }
        let held = self.values_before(&simple.assignments);
        let (marked, separators) =
            self.with_input_before(&before, |w| w.assign_temporaries(&simple.assignments));
        // In several worlds the state goes on from all of them (`cd "$x"`).
        let mut deltas = Vec::new();
        let last = simple.args.last().unwrap_or(&simple.name).span;
        let statement = simple.name.span.start.offset()..last.end.offset();
        self.for_each_world(|w| {
            let mark = w.state.mark();
            let (words, written) = w.with_input_before(&before, |w| w.words_written(simple));
            // They hold for the command, not for its own words.
            w.in_frame(
                |frame| {
                    frame.separators.clone_from(&separators);
                    frame.statement = statement.clone();
                },
                |w| w.call_words(&words, Start { marked, written, ..Start::default() }),
            );
            deltas.push(w.state.rollback(mark));
        });
        self.state.join_branches(deltas);
        held.into_iter().for_each(|(key, held)| self.state.set(key, held));
        self.walk_brackets(simple.name.span, last);
    }

    /// Walks something with the standard input of before, where there was another one.
    fn with_input_before<T>(
        &mut self,
        before: &Option<Feed>,
        run: impl FnOnce(&mut Self) -> T,
    ) -> T {
        match before {
            Some(feed) => self.fed_with(feed.clone(), run),
            None => run(self),
        }
    }

    /// Walks what the words of a simple command run.
    fn visit_simple(&mut self, simple: &SimpleCommand, stmt: &Stmt) {
        // `> a<(cmd)` and `<<< >(cmd)x` are one word each, which the parser cuts.
        let ends: Vec<usize> = stmt.redirects.iter().map(|r| r.span.end.offset()).collect();
        if simple.args.iter().any(|word| ends.contains(&word.span.start.offset())) {
            self.emit_unseen("a redirection that goes on behind its word", stmt.span);
        }
        for assignment in simple.assignments.iter() {
            self.visit_assignment(assignment);
        }
        if opens_subscript(self.slice(simple.name.span)) {
            self.emit_unseen("a subscript that may end elsewhere", simple.name.span);
        }
        self.visit_whole_word(&simple.name);
        for word in &simple.args {
            self.visit_whole_word(word);
            self.zsh_group(word);
            self.goes_on(word, stmt);
        }
    }

    /// The assignments in front of a command: is one of them marked, and how do they split?
    fn assign_temporaries(&mut self, assignments: &[Assignment]) -> (bool, Option<Value>) {
        let (mut marked, mut separators) = (false, None);
        for assignment in assignments {
            marked |= self.assign_temporarily(assignment);
            if assignment.target.name.as_str() == "IFS"
                && let AssignmentValue::Scalar(word) = &assignment.value
            {
                separators = Some(self.without_choosing(|w| w.expand_one(word, true)));
            }
        }
        (marked, separators)
    }

    /// export, declare, local, readonly, typeset.
    pub(super) fn walk_declaration(&mut self, decl: &DeclClause) {
        self.doubt_declaration(decl);
        let name = decl.variant.as_str().to_string();
        let mut marked = false;
        for assignment in decl.assignments.iter() {
            self.visit_assignment(assignment);
            marked |= self.assign_temporarily(assignment);
        }
        let mut made = Declared::default();
        for operand in &decl.operands {
            match operand {
                DeclOperand::Flag(word) => {
                    let value = self.without_choosing(|w| w.expand_one(word, false));
                    made.args.push(value);
                }
                DeclOperand::Name(reference) => self.declare_name(&name, reference, &mut made),
                DeclOperand::Assignment(assignment) => {
                    self.declare_assignment(assignment, &mut made)
                }
                DeclOperand::Dynamic(word) => {
                    self.visit_whole_word(word);
                    for value in self.without_choosing(|w| w.expand_word(word)) {
                        self.declare_value(value, &mut made);
                    }
                }
            }
        }
        let Declared { args, unknown, subscripts } = made;
        let named = || args.iter().filter_map(|a| a.known_start().split('=').next());
        if name == "export" || flagged(&args, &['x']) {
            for key in named().filter(|key| !key.is_empty() && !key.starts_with('-')) {
                self.export_variable(key);
            }
        }
        self.declare_constants(&name, &args);
        // In a function these are its own, unless it says otherwise; behind it the old value is back.
        if !self.frame.calls.is_empty() && name != "export" && name != "readonly" {
            self.locals.extend(named().filter(|n| !n.starts_with('-')).map(String::from));
        }
        let mut words = vec![Value::known(name, self.source_range(decl.variant_span))];
        words.extend(args);
        let start = Start { marked, declared: true, ..Start::default() };
        self.call_command(&words, start, self.source_range(decl.span));
        if let Some(index) = self.out.command {
            for subscript in &subscripts {
                self.evaluate_argument(subscript, index);
            }
        }
        if let Some(span) = unknown {
            self.out.emit_unknown("a declaration known only at run time", span);
        }
    }

    /// `declare x`
    fn declare_name(&mut self, declares: &str, reference: &VarRef, made: &mut Declared) {
        let name = reference.name.as_str();
        self.visit_reference(reference);
        // A function's own path is an empty one.
        if name == "PATH" && !matches!(declares, "export" | "readonly") {
            self.taint_by("PATH");
        }
        if flagged(&made.args, INTEGER) {
            self.declare_integer(name);
        }
        made.args.push(Value::known(name, self.source_range(reference.span)));
    }

    /// `declare x=1`
    fn declare_assignment(&mut self, assignment: &Assignment, made: &mut Declared) {
        let name = assignment.target.name.as_str();
        self.visit_assignment(assignment);
        if flagged(&made.args, INTEGER) {
            self.declare_integer(name);
        }
        self.assign_variable(assignment);
        self.names_element(&made.args, assignment);
        if let AssignmentValue::Scalar(word) = &assignment.value {
            let value = self.without_choosing(|w| w.expand_one(word, false));
            self.evaluates_array(&made.args, &value);
        }
        if flagged(&made.args, &['n']) {
            // A reference: both names are one variable, which is not followed.
            if let Some(other) = self.text_of(name) {
                self.keep_other(name, &other);
                self.forget_variable(&other);
            }
            self.forget_variable(name);
        }
        // Here braces are expanded, as in every argument: the last one stays.
        if let AssignmentValue::Scalar(word) = &assignment.value
            && word.has_active_brace_expansion()
        {
            self.forget_variable(name);
        }
        made.args.push(Value::known(format!("{name}="), self.source_range(assignment.span)));
    }

    /// `declare "$x"`
    fn declare_value(&mut self, value: Value, made: &mut Declared) {
        let text = value.known_start();
        let (key, set) = text.split_once('=').map_or((text, None), |(k, v)| (k, Some(v)));
        if key.contains('[') {
            made.subscripts.push(value.clone());
            if let Some(subscript) = super::builtin::bracket_subscript(&value)
                && !text.contains(['$', '`'])
            {
                self.evaluates_value(&subscript);
            }
        }
        if set.is_some() {
            self.evaluates_array(&made.args, &value.skip_bytes(key.len() + 1));
        }
        match set {
            Some(_) => self.flow.keep(key, value.secrets),
            // Nobody knows the names either: `export $(cat .env)`.
            None => self.flow.loaded |= value.secrets,
        }
        match (value.plain_text().and(set), set) {
            (Some(text), _) => {
                self.mark_assignment(key, Some(text), value.span.clone(), true);
                self.remember(key, text);
            }
            // `export $(grep -v '#' .env)`: as much as `source .env`.
            _ if matches!(value.by(), Printer::File | Printer::Settings) => {
                self.state.forget_all();
            }
            (None, Some(_)) => {
                self.mark_assignment(key, None, value.span.clone(), true);
                self.forget_variable(key);
            }
            (None, None) if value.text().is_none() => made.unknown = Some(value.span.clone()),
            (None, None) => {}
        }
        made.args.push(value);
    }

    /// A reference to an element, or a number: its subscript is evaluated, now or at each use.
    fn names_element(&mut self, flags: &[Value], assignment: &Assignment) {
        if !flagged(flags, &['n', 'F', 'E']) {
            return;
        }
        let text = self.without_choosing(|w| w.text_of(assignment.target.name.as_str()));
        if text.is_none_or(|text| text.contains('[')) {
            self.emit_uncovered("a name known only at run time", assignment.span);
        }
    }

    /// A function becomes known; its body has run only when it is called.
    pub(super) fn define_function(&mut self, function: &FunctionDef) {
        let held = Function {
            body: Rc::new((*function.body).clone()),
            source: self.frame.source.clone(),
            fixed: self.frame.fixed.clone(),
            defined: self.source_range(function.span),
        };
        self.doubt_function(function);
        let mut any = false;
        let span = self.source_range(function.span);
        for entry in &function.header.entries {
            // zsh: `f{1,2}() { ...; }` are two.
            let names = self.without_choosing(|w| w.expand_word(&entry.word));
            for name in names.iter().filter_map(Value::plain_text) {
                any = true;
                if matches!(name, "command_not_found_handle" | "command_not_found_handler") {
                    self.emit_unseen("a function that runs for unknown commands", span.clone());
                }
                let hook = self.is_hooked(name);
                self.state.set(
                    StateKey::Function(name.to_string()),
                    Some(StateValue::Function(vec![held.clone()], true)),
                );
                if hook {
                    // zsh calls it by itself.
                    self.emit_uncovered("a function that zsh calls by itself", span.clone());
                    self.in_subshell(|w| w.walk_statement(&function.body));
                }
            }
        }
        if !any {
            self.emit_unseen("a function whose name is known only at run time", span);
        }
    }

    /// Words that are a command: function, builtin or program.
    pub(super) fn call_words(&mut self, words: &[Value], start: Start) {
        let Some(first) = words.first() else { return };
        let end = words.iter().map(|w| w.span.end).max().unwrap_or(first.span.end);
        let span = first.span.start..end.max(first.span.start);
        self.call_command(words, start, span);
    }

    /// Calls a command, and keeps what its words may hold of secrets and where it leaves them.
    fn call_command(&mut self, words: &[Value], start: Start, span: Range<usize>) {
        let (index, from) = (self.out.analysis.commands.len(), self.out.analysis.effects.len());
        let mut stained: Vec<Value>;
        let mut words = words;
        if self.frame.secrets != 0 && words.iter().any(Value::is_open) {
            stained = words.to_vec();
            let open = stained.iter_mut().filter(|word| word.is_open());
            open.for_each(|word| word.secrets |= self.frame.secrets);
            words = &stained;
        }
        let code = self.code_secrets(words);
        let (printed, secrets) = (self.flow.printed, self.frame.secrets);
        self.flow.printed = 0;
        self.frame.secrets |= code;
        self.call_inner(words, start, span);
        self.frame.secrets = secrets;
        self.note_leaving(words, index, from, code);
        self.flow.printed |= printed;
    }

    fn call_inner(&mut self, words: &[Value], start: Start, span: Range<usize>) {
        let Start { marked, external, declared, written } = start;
        if !self.has_room() {
            return;
        }
        let Some(word) = words.first() else { return };
        let args = &words[1..];
        // zsh: `=rm` is the path of rm. Nushell: `^rm` is no command of its own.
        let text = word.plain_text().map(|t| match t.strip_prefix(['=', '^']) {
            Some(name) if name.starts_with(|c: char| c.is_ascii_alphabetic()) => name.to_string(),
            _ => t.to_string(),
        });
        let text = text.or_else(|| self.known_program(word));
        // What is left of a backslash was quoted: a program by its path.
        #[cfg(windows)]
        let text = text.map(|t| t.replace('\\', "/"));
        let (dir, base) = text.as_deref().map_or(("", ""), split);
        let (dir, name) = (dir.to_string(), base.to_string());
        let tainted = self.state.is_set(&StateKey::Tainted);
        // A function's name may hold slashes.
        let whole = text.unwrap_or_default();
        let function = match self.state.get(&StateKey::Function(whole.clone())) {
            Some(StateValue::Function(list, sure)) if !name.is_empty() && !external => {
                Some((list.clone(), *sure))
            }
            _ => None,
        };
        // Inside its own text an alias is the program again.
        let alias = match self.state.get(&StateKey::Alias(whole.clone())) {
            Some(StateValue::Alias(a)) if !external && !self.frame.aliases.contains(&whole) => {
                Some(a.clone())
            }
            _ => None,
        };
        let system = dir.is_empty() || SYSTEM_DIRS.contains(&dir.as_str());
        let genuine = !name.is_empty()
            && system
            && function.is_none()
            && alias.is_none()
            && !tainted
            && !marked;
        let redefined = function.is_some() || alias.is_some() || tainted || marked;
        let file = if system || redefined { None } else { self.called_file(word) };
        let row = file.as_ref().and_then(|file| self.row_of_file(file));
        let known = if function.as_ref().is_some_and(|f| f.1) { "" } else { row.unwrap_or(&name) };
        let parsed = program::parse_arguments(known, args, self.out.place.programs);
        let windows = if function.is_none() && alias.is_none() && !known.is_empty() {
            self.on_windows(words, &written, &parsed, &dir)
        } else {
            windows::Reading::default()
        };
        let own;
        let (mut name, mut dir, mut args, mut parsed, mut genuine) =
            (name, dir, args, parsed, genuine);
        if let Some((program, taken)) = windows.instead {
            genuine &= program == name;
            (name, dir, own) = (program, String::new(), taken);
            args = &own;
            parsed = program::parse_arguments(&name, args, self.out.place.programs);
        }
        // Only what people say of that very file speaks for it.
        let told = genuine || row.is_some();
        let command = SubCommand {
            name: name.clone(),
            word: word.to_arg(),
            args: options::public_args(args),
            options: parsed.public_options(args),
            operands: parsed.operands.clone(),
            doubtful: parsed.doubtful.clone(),
            span: span.clone(),
            parent: self.frame.parent,
            quoted: self.frame.computed,
            genuine,
            file,
            transparent: told
                && is_complete(&parsed)
                && parsed.harmless
                && !lists_variables(&name, &parsed),
            only_help: parsed.has_mark(table::mark::ONLY),
            neutral_wrapper: false,
            scope: AllowScope::default(),
            dir: self.cwd(),
            said: Said {
                sent: words.iter().fold(self.flow.fed, |all, word| all | word.secrets),
                ..Said::default()
            },
            connects: false,
            twins: Vec::new(),
        };
        let command = program::with_twins(command, &parsed, self.out.place.programs);
        let Some(index) = self.push_command(command) else { return };
        self.resume_command(index);
        if name.is_empty() {
            return self.unnamed(word);
        }
        self.out.push(Word::Execute, Grade::Certain, Source::Program, word.span.clone());
        if let Some((list, sure)) = function {
            // Its body tells all that the call does, unless an alias or a path is in between.
            self.out.analysis.commands[index].transparent =
                sure && alias.is_none() && !tainted && !marked;
            for one in list {
                self.call_function(&name, &one, words, index, &span);
            }
            if sure {
                return;
            }
            self.resume_command(index);
        }
        if let Some(alias) = alias {
            match alias {
                Some(text) => {
                    // The text and the arguments behind it are the command.
                    let text = format!("{text} \"$@\"");
                    self.with_positionals(words.to_vec(), |w| {
                        w.in_frame(
                            |frame| frame.aliases.push(whole),
                            |w| w.walk_nested(&text, span.clone(), Some(index)),
                        );
                    });
                    if parsed.program.is_none() {
                        return;
                    }
                }
                None => self.out.emit_unknown("an alias known only at run time", span.clone()),
            }
            self.resume_command(index);
        }
        if !dir.is_empty() && !system {
            self.run_file(word, None, index, words.to_vec());
            self.out.command = Some(index);
        }
        if dir.is_empty()
            && let Some(here) = self.downloaded_here(word, index)
        {
            self.run_file(&here, None, index, words.to_vec());
            self.out.command = Some(index);
        }
        if declared {
            return;
        }
        self.other_home(&name, args, index, &span);
        if parsed.program.is_none()
            && let Some(next) = self.handed_to(args)
        {
            self.run_next(next, index, false);
            self.resume_command(index);
        }
        if self.is_hookctl(word, &name, args, parsed.program.is_some()) {
            let own = Value::known(guarded::NAME, word.span.clone());
            let words = std::iter::once(own).chain(args.iter().cloned()).collect();
            self.run_next(Next::Words { words, cwd: None, feeds: false }, index, false);
            self.resume_command(index);
        }
        if parsed.program.is_none()
            && let Some((words, assigns)) = meant(word, &name, args)
        {
            let words = words.to_vec();
            return self.run_next(Next::Words { words, cwd: None, feeds: false }, index, assigns);
        }
        if !self.state_builtin(&name, args, index, &span) {
            self.program(&name, args, &parsed, index, genuine && !marked);
            self.walk_other_readings(windows.also, index);
        }
    }

    /// `$JAVA_HOME/bin/java`: a program of the tables in a directory that is known only at run time. It is read as that
    /// program, and no allow means it.
    pub(super) fn known_program(&self, word: &Value) -> Option<String> {
        let raw = self.frame.source.get(word.span.clone()).unwrap_or_default();
        // The shell that the user has.
        if matches!(raw.trim_matches('"'), "$SHELL" | "${SHELL}")
            && self.state.find_variable("SHELL").is_none()
        {
            return Some("$/sh".into());
        }
        let written = word.outline().filter(|_| !word.is_fed())?;
        let (dir, name) = split(written);
        let known = |name| table::find_program(name, self.out.place.programs).is_some();
        (!dir.is_empty() && known(name)).then(|| written.to_string())
    }

    /// A word that names no program.
    fn unnamed(&mut self, word: &Value) {
        if word.text() == Some("") || self.script_of_the_project(word) {
            return;
        }
        let why = match word.is_fed() {
            true => "a program that another command names",
            false => "a program known only at run time",
        };
        self.out.emit_unknown(why, word.span.clone());
    }

    /// Runs a program, and what it runs in turn; `plain` = it is what its name says, and no assignment changes it.
    fn program(&mut self, name: &str, args: &[Value], parsed: &Parsed, index: usize, plain: bool) {
        let span = self.out.analysis.commands[index].span.clone();
        let complete = is_complete(parsed);
        let fed = !matches!(self.feed, Feed::None | Feed::Text(_));
        let call = Call { name, args, parsed, span: span.clone(), fed };
        self.out.variables = self.state.git_variables();
        self.out.unread = matches!(&self.feed, Feed::Stream(Printer::Stranger));
        self.out.lines = match &self.feed {
            Feed::Found(one, named) => std::iter::once(one).chain(named).cloned().collect(),
            Feed::Lines(one) if one.is_found() => vec![one.clone()],
            Feed::Tree(start) => vec![start.unknown_below()],
            _ => Vec::new(),
        };
        self.out.input = match &self.feed {
            Feed::Text(text) => Some(text.clone()),
            _ => None,
        };
        self.out.answered = matches!(&self.feed, Feed::Text(text) if says_yes(text));
        let from = self.out.analysis.effects.len();
        let nexts = program::emit_call(&mut self.out, &call);
        self.note_signals(index, from);
        self.note_copies(name, &call, from);
        self.made_executable(name, &call);
        self.emit_unread_build(name, &call, from);
        self.note_compiled(name, &call, from);
        self.emit_piped_files(&call, index);
        self.emit_patched_files(&call);
        if self.out.analysis.effects[from..]
            .iter()
            .any(|e| e.word == Word::Execute && e.grade == Grade::Unknown)
        {
            self.out.analysis.commands[index].transparent = false;
        }
        if nexts.is_empty() && name != "git" && !complete {
            self.may_start_git(&span);
        }
        let called = self.out.analysis.commands[index].word.text.clone().unwrap_or_default();
        if let Feed::Text(text) = &self.feed
            && program::guess::may_be_fed(&called, parsed, text)
        {
            // A prompt that nobody knows is fed its lines.
            let tried = program::guess::of_program(text, &span);
            tried.into_iter().for_each(|next| self.run_next(next, index, false));
        }
        let wraps = parsed.program.is_some_and(|p| p.neutral);
        let assigns = parsed.program.is_some_and(|p| p.assignments);
        if wraps && parsed.harmless && plain {
            self.out.analysis.commands[index].neutral_wrapper = true;
        }
        self.words_of_options(parsed, index);
        if assigns {
            self.load_settings(args);
        }
        for next in nexts {
            if self.room.stopped {
                return;
            }
            self.run_next(next, index, assigns);
        }
        self.out.command = Some(index);
        program::settle_drops(&mut self.out, &call, from);
        if !complete || name == "xargs" {
            self.lead_into_recipe(&call, index);
        }
        if name == "git" {
            self.lead_into_hooks(&call, index);
        }
        let commands = &mut self.out.analysis.commands;
        // A wrapper of nothing tells of what it would hand on: `env`.
        if wraps
            && assigns
            && !parsed.has_mark(table::mark::ONLY)
            && !commands[index + 1..].iter().any(|one| one.parent == Some(index))
        {
            commands[index].transparent = false;
            commands[index].neutral_wrapper = false;
        }
    }

    /// Spans of nested text do not tell how it names the processes that it signals.
    fn note_signals(&mut self, index: usize, from: usize) {
        let signals = self.out.analysis.effects[from..].iter().any(|e| e.word == Word::Process);
        if signals && self.frame.fixed.is_some() {
            let written = self.frame.source.get(self.frame.statement.clone()).unwrap_or_default();
            self.out.signals.push((index, written.to_string()));
        }
    }

    /// What follows is the command's own doing, where it runs.
    pub(super) fn resume_command(&mut self, index: usize) {
        self.out.command = Some(index);
        self.out.cwd = self.cwd();
    }

    /// The file that a word with a slash calls, where its place is sure.
    fn called_file(&mut self, word: &Value) -> Option<Target> {
        if !is_absolute(word.known_start()) && self.state.is_set(&StateKey::Astray) {
            return None;
        }
        self.out.cwd = self.cwd();
        self.out.locate_exact(word).filter(|target| target.extent == Extent::Exact)
    }

    /// The name of the entry that people wrote for that very file: `[program."./x"]`.
    fn row_of_file(&self, file: &Target) -> Option<&'static str> {
        let place = self.out.place;
        let path = |name: &str| match name.strip_prefix("~/") {
            Some(rest) => join(&place.home, rest),
            None => join(&place.project, name),
        };
        let mut names = place.programs.iter().map(|program| program.name);
        names.find(|name| name.contains('/') && normalise_path(&path(name)) == file.lexical)
    }

    /// A program that a loop over a glob names (`./"$t"`): one of the project's own, whichever it is.
    fn script_of_the_project(&mut self, word: &Value) -> bool {
        // Without a slash it is sought among the system's programs.
        if !word.known_start().contains('/') {
            return false;
        }
        let Some(target) = self.out.locate_exact(word) else {
            return false;
        };
        let project = &self.out.place.project;
        let own = |path: &str| {
            path.strip_prefix(project.as_str()).is_some_and(|rest| rest.starts_with('/'))
        };
        if !own(&target.lexical) || !own(&target.resolved) {
            return false;
        }
        self.out.push(Word::Execute, Grade::Certain, Source::Program, word.span.clone());
        self.out.emit_path(Word::Read, word, Extent::Exact, Grade::Certain, Source::Program);
        true
    }

    /// A function of the call.
    fn call_function(
        &mut self,
        name: &str,
        function: &Function,
        words: &[Value],
        index: usize,
        span: &Range<usize>,
    ) {
        if self.frame.calls.iter().any(|c| c == name) {
            if self.frame.concurrent > self.frame.bomb_base {
                self.fork_bomb(function.defined.clone());
            } else {
                self.out.emit_unknown("a function that calls itself", span.clone());
            }
            return;
        }
        if self.frame.calls.len() >= limits::CALLS {
            self.out.emit_unknown("functions that call functions too deep", span.clone());
            return;
        }
        let positional = self.positional_parameters();
        // `$0` stays the shell's.
        let mut own = words.to_vec();
        if let Some(first) = own.first_mut() {
            *first = positional
                .as_ref()
                .and_then(|p| p.first().cloned())
                .unwrap_or_else(|| Value::unknown(span.clone()));
        }
        let enter = |frame: &mut Frame| {
            if frame.calls.is_empty() {
                frame.bomb_base = frame.concurrent;
            }
            frame.calls.push(name.to_string());
            frame.source = function.source.clone();
            frame.fixed = function.fixed.clone();
            frame.choice.clear();
            frame.parent = Some(index);
            // The body stands in the text once, however often it runs.
            frame.computed = true;
        };
        self.with_positionals(own, |w| {
            w.in_frame(enter, |w| {
                let own = w.locals.len();
                w.walk_statement(&function.body);
                for name in w.locals.split_off(own) {
                    w.forget_variable(&name);
                }
            });
        });
    }
}

/// Do the tables tell all that the program does here?
fn is_complete(parsed: &Parsed) -> bool {
    parsed.program.is_some_and(|p| p.complete || parsed.has_mark(table::mark::ONLY))
}

/// The words that were meant as the command where the first one is none, and whether they may assign.
fn meant<'w>(word: &Value, name: &str, args: &'w [Value]) -> Option<(&'w [Value], bool)> {
    // `time -v rm x`: bash runs `-v`, other shells have no such keyword and run rm.
    if name.starts_with('-')
        && let Some(at) = args.iter().position(|a| !a.known_start().starts_with('-'))
    {
        return Some((&args[at..], false));
    }
    // `1A=2 git reset`: no assignment, but meant as one.
    let (key, _) = word.known_start().split_once('=')?;
    (!key.contains('/') && !args.is_empty()).then_some((args, true))
}

/// `export`, `declare -x`, `set`: every variable is listed with its value.
fn lists_variables(name: &str, parsed: &Parsed) -> bool {
    parsed.operands.is_empty()
        && match name {
            "set" => parsed.options.is_empty(),
            "export" | "declare" | "typeset" | "readonly" | "local" => {
                !parsed.has_mark(table::mark::ONLY)
            }
            _ => false,
        }
}

/// `x[a`: a shell that sets an element takes what follows, up to the bracket, for its subscript.
fn opens_subscript(raw: &str) -> bool {
    let Some((name, rest)) = raw.split_once('[') else { return false };
    super::parameter::is_name(name) && !rest.contains(']')
}
