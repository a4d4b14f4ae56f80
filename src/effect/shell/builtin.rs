//! The shell's own commands that change what follows.

use std::ops::Range;
use std::rc::Rc;

use super::assign::{ALL, CDPATH};
use super::call::flagged;
use super::state::{StateKey, StateValue};
use super::word::{Atom, field_value, quoted_atoms};
use super::zsh::is_hook;
use super::{Trap, Walker};
use crate::effect::decode;
use crate::effect::emitter::{Spot, directory_at};
use crate::effect::path::{is_below, join, normalise_path};
use crate::effect::program::table::{self, Special};
use crate::effect::program::{self, Next};
use crate::effect::value::{BLANK, Printer, Value};
use crate::effect::{Effect, Extent, Grade, SubCommand, Word};
use crate::limits;

/// Builtins that evaluate the subscripts of names that they are given.
const SUBSCRIPTS: &[&str] =
    &["let", "test", "[", "printf", "read", "unset", "wait", "mapfile", "readarray", "getopts"];

/// What makes `test` compare numbers or look up a name: comparing texts, and asking for what is not empty,
/// evaluates nothing.
const NUMERIC: &[&str] = &["-v", "-R", "-t", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Walker<'_> {
    /// Where a declaration says so, its variables stay as they are from here on.
    pub(super) fn declare_constants(&mut self, declares: &str, args: &[Value]) {
        if declares != "readonly" && !flagged(args, &['r']) {
            return;
        }
        for name in args.iter().filter_map(|arg| arg.known_start().split(['=', '[']).next()) {
            if !name.is_empty() && !name.starts_with('-') {
                self.state.set(StateKey::Constant(name.to_string()), Some(StateValue::Set));
            }
        }
    }

    /// Builtins that change what follows. True = nothing else is to be done.
    pub(super) fn state_builtin(
        &mut self,
        name: &str,
        args: &[Value],
        index: usize,
        span: &Range<usize>,
    ) -> bool {
        self.zsh_builtin(name, args, span);
        if SUBSCRIPTS.contains(&name) {
            self.check_subscripts(name, args, index);
        }
        if matches!(name, "declare" | "typeset" | "local" | "readonly" | "export") {
            self.declared_arrays(args);
            self.declare_constants(name, args);
        }
        let first = args.first().and_then(Value::plain_text);
        match name {
            "cd" | "pushd" | "popd" | "chdir" => self.change_directory(name, args),
            "alias" => self.run_alias(args),
            "unset" => self.run_unset(args, span),
            "read" | "mapfile" | "readarray" | "getopts" => {
                self.run_input_builtin(name, args, index, span)
            }
            "printf" if first == Some("-v") => self.print_into(args, span),
            // zsh evaluates the text of a number.
            "printf" if evaluates_number(args) => {
                args[1..].iter().for_each(|arg| self.evaluates_value(arg));
                return false;
            }
            "emulate" => self.run_emulate(args, index),
            "repeat" if args.len() > 1 => {
                self.evaluates_value(&args[0]);
                self.start_command(&args[1..], index);
                return false;
            }
            "integer" | "float" => {
                self.declare_numbers(args);
                return false;
            }
            "let" => self.let_names(args),
            "set" => self.run_set(args, span),
            "shift" => self.run_shift(args),
            "hash" if args.len() == 3 && first == Some("-p") => self.run_hash(&args[1], &args[2]),
            "hash" | "enable" => self.run_redefinition(args, span),
            "trap" => self.run_trap(args, index),
            "eval" => self.run_eval(args, index),
            "bind" | "complete" | "compgen" => self.run_completion(name, args, index),
            "jobs" if first == Some("-x") => self.start_command(&args[1..], index),
            "fc" => self.fix_command(args, index, span),
            "disown" => {
                self.leave_behind(index);
                return false;
            }
            _ => return false,
        }
        true
    }

    /// A subscript in an argument may run a command when it is evaluated.
    fn check_subscripts(&mut self, name: &str, args: &[Value], index: usize) {
        let plain = |a: &Value| a.plain_text().is_some_and(|t| NUMERIC.contains(&t));
        let quiet = matches!(name, "test" | "[") && !args.iter().any(plain);
        let prompt = args.iter().position(|a| name == "read" && a.plain_text() == Some("-p"));
        let prompts = |i: usize| prompt.is_some_and(|p| i == p + 1);
        let risky = args.iter().enumerate().any(|(i, a)| {
            let text = a.known_start();
            (name == "let" || text.contains('['))
                && (text.contains("$(") || text.contains('`'))
                && (name != "printf" || evaluates_number(args))
                && !quiet
                && !prompts(i)
        });
        if risky {
            for arg in args {
                self.evaluate_argument(arg, index);
            }
        } else if !quiet && name != "let" {
            let given = args.iter().enumerate().filter(|(i, _)| match name {
                "printf" => *i == 1 && args[0].plain_text() == Some("-v"),
                _ => !prompts(*i),
            });
            for subscript in given.filter_map(|(_, arg)| bracket_subscript(arg)) {
                self.evaluates_value(&subscript);
            }
        }
    }

    /// What a declaration that is known at run time only reads as an array.
    fn declared_arrays(&mut self, args: &[Value]) {
        for (at, arg) in args.iter().enumerate() {
            let equals = arg.known_start().find('=').filter(|_| !arg.known_start().ends_with('='));
            if let Some(equals) = equals {
                self.evaluates_array(&args[..at], &arg.skip_bytes(equals + 1));
            }
        }
    }

    /// Words that a builtin starts as a command.
    pub(super) fn start_command(&mut self, words: &[Value], index: usize) {
        let words = words.to_vec();
        self.run_next(Next::Words { words, cwd: None, feeds: false }, index, false);
    }

    fn run_alias(&mut self, args: &[Value]) {
        // csh and fish: the name, and then the text.
        if let [name, text @ ..] = args
            && let Some(name) =
                name.plain_text().filter(|n| !n.contains('=') && !n.starts_with('-'))
            && !text.is_empty()
            && let Next::Script { text, .. } = program::effects::join_words(text)
        {
            if let Some(text) = text.text().filter(|_| is_hook(name) || name == "cwdcmd") {
                self.try_definition(text, text_span(args));
            }
            let held = StateValue::Alias(text.text().map(str::to_string));
            return self.state.set(StateKey::Alias(name.to_string()), Some(held));
        }
        for arg in args {
            if let Some((key, text)) = arg.known_start().split_once('=') {
                // zsh puts such a text in other places than a command's first word.
                if arg.text().is_some() && flagged(args, &['g', 's']) {
                    self.try_definition(text, arg.span.clone());
                }
                // `alias -s txt='rm -r'; ./a.txt`
                if arg.text().is_some() && flagged(args, &['s']) {
                    self.try_definition(&format!("{text} \"$1\""), arg.span.clone());
                }
                let text = arg.text().is_some().then(|| text.to_string());
                self.state.set(StateKey::Alias(key.to_string()), Some(StateValue::Alias(text)));
            }
        }
    }

    fn run_unset(&mut self, args: &[Value], span: &Range<usize>) {
        for arg in args {
            let Some(key) = arg.plain_text() else {
                self.out.emit_unknown("unset of a name known only at run time", span.clone());
                continue;
            };
            if key.starts_with('-') {
                continue;
            }
            // Without a path programs are looked for where the shell is.
            if key.split('[').next() == Some("PATH") {
                self.taint_by("PATH");
            }
            let key = key.to_string();
            self.state.set(StateKey::Function(key.clone()), None);
            self.state.set(StateKey::Git(key.clone()), None);
            self.state.set(StateKey::Var(key), Some(StateValue::Var(vec![vec![Vec::new()]])));
        }
    }

    /// `emulate SHELL -c TEXT`
    fn run_emulate(&mut self, args: &[Value], index: usize) {
        let shell = |pair: &&[Value]| flagged(&pair[..1], &['c']);
        if let Some([_, text]) = args.windows(2).find(shell) {
            self.run_script(text, Vec::new(), index);
        }
    }

    /// zsh's `integer` and `float`.
    fn declare_numbers(&mut self, args: &[Value]) {
        for arg in args.iter().filter(|arg| !arg.known_start().starts_with('-')) {
            let name = arg.known_start().split('=').next().unwrap_or_default().to_string();
            self.evaluates_value(arg);
            self.declare_integer(&name);
            self.forget_variable(&name);
        }
    }

    /// `printf -v NAME FORMAT ...`
    fn print_into(&mut self, args: &[Value], span: &Range<usize>) {
        let Some(key) = args.get(1).and_then(Value::plain_text) else { return };
        let key = key.split('[').next().unwrap_or_default().to_string();
        match decode::printf_output(&args[2..]) {
            Some(text) => {
                self.mark_assignment(&key, Some(&text), span.clone(), true);
                self.remember(&key, &text);
            }
            None => {
                self.taint_by(&key);
                self.forget_variable(&key);
            }
        }
    }

    fn let_names(&mut self, args: &[Value]) {
        for arg in args {
            // One that holds a command has been evaluated above.
            if !arg.known_start().contains(['$', '`']) {
                self.evaluates_value(arg);
            }
            for key in super::assign::arithmetic_names(arg.known_start()) {
                self.set_unknown_number(&key);
            }
        }
    }

    fn run_set(&mut self, args: &[Value], span: &Range<usize>) {
        if args.windows(2).any(|pair| {
            pair[0].plain_text() == Some("+o") && pair[1].plain_text() == Some("history")
        }) {
            self.out.emit_history_end(span.clone());
        }
        // Never taken back: that some are exported is not told from all.
        if is_physical(args) {
            self.state.set(StateKey::Physical, Some(StateValue::Set));
        }
        if exports_all(args) {
            self.state.set(StateKey::Exported(ALL.to_string()), Some(StateValue::Set));
        }
        let words = match args.iter().position(|a| a.plain_text() == Some("--")) {
            Some(at) => &args[at + 1..],
            None => {
                // `set -o pipefail` names an option.
                let mut at = 0;
                while args.get(at).is_some_and(|a| a.known_start().starts_with(['-', '+'])) {
                    at += 1 + usize::from(args[at].known_start().ends_with('o'));
                }
                match args.get(at..) {
                    Some(words) if !words.is_empty() => words,
                    _ => return,
                }
            }
        };
        let own = Value::unknown(span.clone());
        let values = std::iter::once(own).chain(words.iter().cloned()).collect();
        self.set_positional(Some(Rc::new(values)));
    }

    fn run_shift(&mut self, args: &[Value]) {
        for arg in args {
            self.evaluates_value(arg);
        }
        let by = args.first().map_or(Some(1), |a| a.plain_text().and_then(|t| t.parse().ok()));
        let left = match (self.positional_parameters(), by) {
            (Some(values), Some(by))
                if values.len() > by && values[1..=by].iter().all(Value::counts_once) =>
            {
                let mut values = (*values).clone();
                values.drain(1..=by);
                Some(Rc::new(values))
            }
            // More than there are: nothing moves.
            (Some(values), Some(by)) if values.len() <= by => Some(values),
            _ => None,
        };
        self.set_positional(left);
    }

    /// `hash -p FILE NAME`: the name is another program from here on.
    fn run_hash(&mut self, file: &Value, name: &Value) {
        if let (path, Some(name)) = (file.plain_text(), name.plain_text()) {
            let held = StateValue::Alias(path.map(str::to_string));
            self.state.set(StateKey::Alias(name.to_string()), Some(held));
        }
    }

    /// The shell starts this file by that name.
    pub(super) fn hold_program(&mut self, name: &str, file: &str) {
        if file.starts_with('/') {
            let held = StateValue::Alias(Some(file.to_string()));
            self.state.set(StateKey::Alias(name.to_string()), Some(held));
        }
    }

    fn run_redefinition(&mut self, args: &[Value], span: &Range<usize>) {
        // zsh's `hash ls=/bin/rm`.
        let pairs = args.iter().filter_map(|arg| arg.plain_text()?.split_once('='));
        pairs.for_each(|(name, file)| self.hold_program(name, file));
        let redefines =
            |a: &Value| ["-p", "-f", "-n"].iter().any(|o| a.known_start().starts_with(o));
        if args.iter().any(redefines) {
            self.state.set(StateKey::Tainted, Some(StateValue::Set));
            self.out.emit_unknown("a builtin that redefines programs", span.clone());
        }
    }

    fn run_trap(&mut self, args: &[Value], index: usize) {
        let from = usize::from(args.first().and_then(Value::plain_text) == Some("--"));
        if args.len() <= from + 1
            || matches!(args[from].plain_text(), Some("-" | ""))
            || args[from].known_start().starts_with("-l")
        {
            return;
        }
        let plain = self.as_if_single(&args[from]);
        let text = plain.as_ref().unwrap_or(&args[from]);
        if plain.is_some() {
            self.out.emit_uncovered("shell text known only at run time", text.span.clone());
        }
        // A function that is defined further down is known at the end only.
        let name = text.plain_text().unwrap_or_default().to_string();
        let is_name = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let later = is_name && self.state.get(&StateKey::Function(name)).is_none();
        // It runs at the end, with the values and in the directory of the end, and maybe before.
        let again = later || text.known_start().contains('$');
        let seen = (!again).then(|| (self.cwd(), is_name.then(|| self.state.mark())));
        let own = self.traps.len();
        self.traps.push(Trap { text: text.clone(), index, seen });
        if later {
            return;
        }
        let before = self.found_so_far();
        self.run_script(text, Vec::new(), index);
        // What it did itself is no change.
        let mark = self.state.mark();
        if let Some((_, Some(seen))) = self.traps.get_mut(own).and_then(|trap| trap.seen.as_mut()) {
            *seen = mark;
        }
        let unsure = |e: &Effect| e.grade == Grade::Unknown;
        if (is_name || text.known_start().contains('$'))
            && !self.room.stopped
            && self.out.analysis.effects[before.effects..].iter().any(unsure)
        {
            // Its variables are not set yet.
            self.take_back(before);
            self.traps.iter_mut().filter(|trap| trap.index == index).for_each(|t| t.seen = None);
        }
    }

    /// `trap "rm -rf $dir" EXIT`: where a value is known by its kind alone, the text says more with the variable in it.
    fn as_if_single(&self, text: &Value) -> Option<Value> {
        let raw = self.frame.source.get(text.span.clone())?;
        let inner = raw.strip_prefix('"')?.strip_suffix('"')?;
        let told = text.text().is_some() || matches!(text.by(), Printer::Stranger);
        (!told && !inner.contains(['"', '`', '\\']) && !inner.contains("$("))
            .then(|| Value::known(inner, text.span.clone()))
    }

    fn run_eval(&mut self, args: &[Value], index: usize) {
        let args = match args.first().and_then(Value::plain_text) {
            Some("--") => &args[1..],
            _ => args,
        };
        if !args.is_empty()
            && let Next::Script { text, .. } = program::effects::join_words(args)
        {
            self.run_script(&text, Vec::new(), index);
        }
    }

    /// What `bind`, `complete` and `compgen` run.
    fn run_completion(&mut self, name: &str, args: &[Value], index: usize) {
        for pair in args.windows(2) {
            match pair[0].plain_text() {
                // The words of a list are expanded.
                Some("-W") if name == "compgen" => self.evaluate_argument(&pair[1], index),
                Some("-F") if name == "compgen" => self.run_script(&pair[1], Vec::new(), index),
                Some("-C") => self.run_script(&pair[1], Vec::new(), index),
                Some("-x") if name == "bind" => {
                    let text = pair[1].known_start().split_once(':').map_or("", |(_, t)| t);
                    let text = text.trim().trim_matches(['"', '\'']).to_string();
                    let text = Value::known(text, pair[1].span.clone());
                    self.run_script(&text, Vec::new(), index);
                }
                _ => {}
            }
        }
    }

    fn fix_command(&mut self, args: &[Value], index: usize, span: &Range<usize>) {
        match args.first().and_then(Value::plain_text) {
            Some(list) if list.starts_with("-l") => {}
            Some("-e") if args.len() > 1 => self.start_command(&args[1..2], index),
            _ => self.out.emit_unknown("an earlier command runs again", span.clone()),
        }
    }

    /// An argument that the shell expands once more: a subscript, a word list.
    pub(super) fn evaluate_argument(&mut self, arg: &Value, index: usize) {
        let text = arg.text().or(arg.outline()).unwrap_or_default();
        if text.contains("$(") || text.contains('`') {
            let quoted = text.replace('"', "\\\"");
            let first = self.out.analysis.effects.len();
            self.walk_nested(&format!(": \"{quoted}\""), arg.span.clone(), Some(index));
            if self.out.analysis.effects.len() == first {
                self.out.emit_unknown("a subscript that holds a command", arg.span.clone());
            }
        }
    }

    /// Where a plain name leads if the call has set CDPATH: that is looked at before the current directory.
    fn leads_by_cdpath(&mut self, value: &Value) -> Option<String> {
        let dots = |name: &&str| matches!(name.split('/').next(), Some("" | "." | ".."));
        let name = value.plain_text().filter(|name| !dots(name))?;
        self.state.find_variable(CDPATH)?;
        let text = self.text_of(CDPATH)?;
        let first = text.split(':').find(|dir| !dir.is_empty())?;
        Some(normalise_path(&join(&join(&self.cwd()?, first), name)))
    }

    /// Is nothing there, and has nothing run yet that could have made it, or that ends the shell where `cd` fails?
    fn is_surely_missing(&mut self, dir: &str) -> bool {
        let done = &self.out.analysis;
        let programs = self.out.place.programs;
        let idle = |command: &SubCommand| {
            let name = command.name.as_str();
            let has = |letter: char| {
                let mut texts = command.args.iter().filter_map(|arg| arg.text.as_deref());
                texts.any(|text| {
                    letter == 'e' && text == "errexit"
                        || text.starts_with('-') && !text.starts_with("--") && text.contains(letter)
                })
            };
            let special = table::find_program(name, programs).and_then(|program| program.special);
            let function = || StateKey::Function(command.name.clone());
            match special {
                // What such a text runs stands beside it, as what a wrapper or a function runs.
                Some(Special::Shell) => has('c') && !has('e'),
                _ if name == "set" => !has('e'),
                _ => command.transparent || self.state.get(&function()).is_some(),
            }
        };
        let looks = |effect: &Effect| matches!(effect.word, Word::Execute | Word::Read);
        done.commands.iter().all(idle)
            && done.effects.iter().all(looks)
            // The shells of Windows have directories of their own there.
            && !(cfg!(windows) && dir.starts_with('/'))
            && !self.out.resolver.exists(dir)
    }

    /// cd, pushd, popd; the directories to come back to are kept as a list that no script can name.
    fn change_directory(&mut self, name: &str, args: &[Value]) {
        const STACK: &str = " directories";
        let at =
            args.iter().find(|a| !a.known_start().starts_with('-') || a.plain_text() == Some("-"));
        let physical = args.iter().rev().find_map(|arg| match arg.plain_text() {
            Some("-P") => Some(true),
            Some("-L") => Some(false),
            _ => None,
        });
        let physical = physical.unwrap_or_else(|| self.state.is_set(&StateKey::Physical));
        let now = self.cwd();
        let row = |dir: &Option<String>| match dir {
            Some(dir) => quoted_atoms(dir),
            None => vec![Atom::unknown_text(true)],
        };
        let known = |row: &[Atom]| field_value(row, 0..0).plain_text().map(str::to_string);
        let to = match at {
            _ if name == "popd" => match self.variable_words(STACK) {
                Some(mut stack) if args.is_empty() => {
                    let top = stack.pop();
                    self.state
                        .set(StateKey::Var(STACK.to_string()), Some(StateValue::Var(vec![stack])));
                    top.and_then(|row| known(&row))
                }
                _ => None,
            },
            None if name == "cd" => {
                let mut home = Vec::new();
                self.expand_variable("HOME", true, &mut home);
                known(&home)
            }
            None => None,
            Some(value) if value.plain_text() == Some("-") => match self.variable_words("OLDPWD") {
                Some(words) => words.first().and_then(|row| known(row)),
                None => None,
            },
            Some(value) if value.known_start().starts_with('+') => None,
            Some(value) if self.leads_by_cdpath(value).is_some() => self.leads_by_cdpath(value),
            Some(value) => match self.out.locate_value(value, Extent::Exact, false) {
                Spot::At(target) => match target.extent {
                    // One of the directories that a glob names.
                    Extent::Glob => {
                        let star = target.lexical.find(['*', '?', '[']).unwrap_or(0);
                        let root = target.lexical[..star].rfind('/').unwrap_or(0);
                        Some(format!("{}/{BLANK}", &target.lexical[..root]))
                    }
                    _ if physical => directory_at(target.by_real_name()),
                    _ => directory_at(target),
                },
                _ => None,
            },
        };
        if name == "pushd" {
            let mut stack = self.variable_words(STACK).unwrap_or_default();
            stack.push(row(&now));
            if stack.len() > limits::PUSHED {
                // One of many: none of them is known.
                stack = vec![row(&None); limits::PUSHED];
            }
            self.state.set(StateKey::Var(STACK.to_string()), Some(StateValue::Var(vec![stack])));
        }
        self.state
            .set(StateKey::Var("OLDPWD".to_string()), Some(StateValue::Var(vec![vec![row(&now)]])));
        // Nobody works deeper than that, and each `cd` would copy it.
        let to = to.filter(|dir: &String| dir.len() <= limits::DIRECTORY);
        let place = self.out.place;
        let above = |dir: &String| {
            [&place.project, &place.home].into_iter().any(|own| own == dir || is_below(own, dir))
        };
        // What a command makes (`mktemp -d`) is there.
        let made = |dir: &String| dir.contains(BLANK);
        let there =
            to.as_ref().is_some_and(|dir| made(dir) || above(dir) || self.out.resolver.is_dir(dir));
        if !there {
            let fails = to.as_ref().is_some_and(|dir| self.is_surely_missing(dir));
            match self.state.get(&StateKey::Stayed) {
                None if fails => self.state.set(StateKey::Stayed, Some(StateValue::Cwd(now))),
                // It may have been made since.
                Some(_) if !fails => self.state.set(StateKey::Stayed, Some(StateValue::Cwd(None))),
                _ => {}
            }
            self.state.set(StateKey::Astray, Some(StateValue::Set));
        } else if at.is_some_and(|value| value.known_start().starts_with('/')) {
            self.state.set(StateKey::Astray, None);
        }
        self.state.set(StateKey::Cwd, Some(StateValue::Cwd(to)));
        if self.state.find_variable("PWD").is_some() {
            self.state.set(StateKey::Var("PWD".to_string()), None);
        }
    }
}

/// Where the arguments stand.
fn text_span(args: &[Value]) -> Range<usize> {
    args.first().map_or(0..0, |first| first.span.start..args[args.len() - 1].span.end)
}

/// Does `printf` take a name, or evaluate an argument as a number?
fn evaluates_number(args: &[Value]) -> bool {
    let Some(format) = args.first() else { return false };
    let converts = |part: &str| {
        let kind = part.trim_start_matches(|c: char| "-+ #0123456789.'".contains(c));
        kind.starts_with(|c: char| "*diouxXeEfFgGaA".contains(c))
    };
    format.plain_text() == Some("-v") || format.known_start().split('%').skip(1).any(converts)
}

/// What stands between the brackets of `name[subscript]`.
pub(super) fn bracket_subscript(arg: &Value) -> Option<Value> {
    let (name, _) = arg.known_start().split_once('[')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| arg.skip_bytes(name.len() + 1))
}

/// `set -P`, `set -o physical`: `cd` follows links before it goes up.
fn is_physical(args: &[Value]) -> bool {
    args.iter().any(|arg| {
        let text = arg.known_start();
        text == "physical" || text.starts_with('-') && !text.starts_with("--") && text.contains('P')
    })
}

/// `set -a`, `set -eax`, `set -o allexport`: every variable is exported.
fn exports_all(args: &[Value]) -> bool {
    let options = args
        .iter()
        .take_while(|arg| arg.known_start().starts_with('-') || arg.known_start() == "allexport");
    options.into_iter().any(|arg| {
        arg.known_start() == "allexport"
            || !arg.known_start().starts_with("--") && arg.known_start().contains('a')
    })
}
