//! The shell's own commands that change what follows.

use std::ops::Range;
use std::rc::Rc;

use super::Walker;
use super::assign::ALL;
use super::call::flagged;
use super::state::{Held, Key};
use super::word::{Atom, quoted, value};
use crate::effect::decode;
use crate::effect::emitter::Spot;
use crate::effect::program::{self, Next};
use crate::effect::value::{BLANK, Value};
use crate::effect::{Extent, Grade};
use crate::limits;

/// Builtins that evaluate the subscripts of names that they are given.
const SUBSCRIPTS: &[&str] =
    &["let", "test", "[", "printf", "read", "unset", "wait", "mapfile", "readarray", "getopts"];

/// What makes `test` compare numbers or look up a name: comparing texts, and asking for what is not empty,
/// evaluates nothing.
const NUMERIC: &[&str] = &["-v", "-R", "-t", "-eq", "-ne", "-lt", "-le", "-gt", "-ge"];

impl Walker<'_> {
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
            self.subscripts(name, args, index);
        }
        if matches!(name, "declare" | "typeset" | "local" | "readonly" | "export") {
            self.declared_arrays(args);
        }
        let first = args.first().and_then(Value::plain);
        match name {
            "cd" | "pushd" | "popd" | "chdir" => self.change_directory(name, args),
            "alias" => self.alias(args),
            "unset" => self.unset(args, span),
            "read" | "mapfile" | "readarray" | "getopts" => self.input(name, args, index, span),
            "printf" if first == Some("-v") => self.print_into(args, span),
            // zsh evaluates the text of a number.
            "printf" if numeric(args) => {
                args[1..].iter().for_each(|arg| self.evaluates_value(arg));
                return false;
            }
            "emulate" => self.emulate(args, index),
            "repeat" if args.len() > 1 => {
                self.evaluates_value(&args[0]);
                self.starts(&args[1..], index);
                return false;
            }
            "integer" | "float" => {
                self.numbers(args);
                return false;
            }
            "let" => self.let_names(args),
            "set" => self.set(args, span),
            "shift" => self.shift(args),
            "hash" if args.len() == 3 && first == Some("-p") => self.hash(&args[1], &args[2]),
            "hash" | "enable" => self.redefine(args, span),
            "trap" => self.trap(args, index),
            "eval" => self.eval(args, index),
            "bind" | "complete" | "compgen" => self.complete(name, args, index),
            "jobs" if first == Some("-x") => self.starts(&args[1..], index),
            "fc" => self.fix_command(args, index, span),
            _ => return false,
        }
        true
    }

    /// A subscript in an argument may run a command when it is evaluated.
    fn subscripts(&mut self, name: &str, args: &[Value], index: usize) {
        let plain = |a: &Value| a.plain().is_some_and(|t| NUMERIC.contains(&t));
        let quiet = matches!(name, "test" | "[") && !args.iter().any(plain);
        let prompt = args.iter().position(|a| name == "read" && a.plain() == Some("-p"));
        let prompts = |i: usize| prompt.is_some_and(|p| i == p + 1);
        let risky = args.iter().enumerate().any(|(i, a)| {
            let text = a.start();
            (name == "let" || text.contains('['))
                && (text.contains("$(") || text.contains('`'))
                && (name != "printf" || numeric(args))
                && !quiet
                && !prompts(i)
        });
        if risky {
            for arg in args {
                self.evaluated(arg, index);
            }
        } else if !quiet && name != "let" {
            let given = args.iter().enumerate().filter(|(i, _)| match name {
                "printf" => *i == 1 && args[0].plain() == Some("-v"),
                _ => !prompts(*i),
            });
            for subscript in given.filter_map(|(_, arg)| subscript(arg)) {
                self.evaluates_value(&subscript);
            }
        }
    }

    /// What a declaration that is known at run time only reads as an array.
    fn declared_arrays(&mut self, args: &[Value]) {
        for (at, arg) in args.iter().enumerate() {
            let equals = arg.start().find('=').filter(|_| !arg.start().ends_with('='));
            if let Some(equals) = equals {
                self.evaluates_array(&args[..at], &arg.rest(equals + 1));
            }
        }
    }

    /// Words that a builtin starts as a command.
    fn starts(&mut self, words: &[Value], index: usize) {
        let words = words.to_vec();
        self.next(Next::Words { words, cwd: None, feeds: false }, index, false);
    }

    fn alias(&mut self, args: &[Value]) {
        for arg in args {
            if let Some((key, text)) = arg.start().split_once('=') {
                let text = arg.text().is_some().then(|| text.to_string());
                self.state.set(Key::Alias(key.to_string()), Some(Held::Alias(text)));
            }
        }
    }

    fn unset(&mut self, args: &[Value], span: &Range<usize>) {
        for arg in args {
            let Some(key) = arg.plain() else {
                self.out.unknown("unset of a name known only at run time", span.clone());
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
            self.state.set(Key::Function(key.clone()), None);
            self.state.set(Key::Git(key.clone()), None);
            self.state.set(Key::Var(key), Some(Held::Var(vec![vec![Vec::new()]])));
        }
    }

    /// `emulate SHELL -c TEXT`
    fn emulate(&mut self, args: &[Value], index: usize) {
        let shell = |pair: &&[Value]| flagged(&pair[..1], &['c']);
        if let Some([_, text]) = args.windows(2).find(shell) {
            self.script(text, Vec::new(), index);
        }
    }

    /// zsh's `integer` and `float`.
    fn numbers(&mut self, args: &[Value]) {
        for arg in args.iter().filter(|arg| !arg.start().starts_with('-')) {
            let name = arg.start().split('=').next().unwrap_or_default().to_string();
            self.evaluates_value(arg);
            self.integer(&name);
            self.forget(&name);
        }
    }

    /// `printf -v NAME FORMAT ...`
    fn print_into(&mut self, args: &[Value], span: &Range<usize>) {
        let Some(key) = args.get(1).and_then(Value::plain) else { return };
        let key = key.split('[').next().unwrap_or_default().to_string();
        match decode::printf(&args[2..]) {
            Some(text) => {
                self.mark_assignment(&key, Some(&text), span.clone(), true);
                self.remember(&key, &text);
            }
            None => {
                self.taint_by(&key);
                self.forget(&key);
            }
        }
    }

    fn let_names(&mut self, args: &[Value]) {
        for arg in args {
            // One that holds a command has been evaluated above.
            if !arg.start().contains(['$', '`']) {
                self.evaluates_value(arg);
            }
            for key in super::assign::arithmetic_names(arg.start()) {
                self.number(&key);
            }
        }
    }

    fn set(&mut self, args: &[Value], span: &Range<usize>) {
        // Never taken back: that some are exported is not told from all.
        if exports_all(args) {
            self.state.set(Key::Exported(ALL.to_string()), Some(Held::Set));
        }
        let words = match args.iter().position(|a| a.plain() == Some("--")) {
            Some(at) => &args[at + 1..],
            None => {
                // `set -o pipefail` names an option.
                let mut at = 0;
                while args.get(at).is_some_and(|a| a.start().starts_with(['-', '+'])) {
                    at += 1 + usize::from(args[at].start().ends_with('o'));
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

    fn shift(&mut self, args: &[Value]) {
        for arg in args {
            self.evaluates_value(arg);
        }
        let by = args.first().map_or(Some(1), |a| a.plain().and_then(|t| t.parse().ok()));
        let left = match (self.positional(), by) {
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
    fn hash(&mut self, file: &Value, name: &Value) {
        if let (path, Some(name)) = (file.plain(), name.plain()) {
            let held = Held::Alias(path.map(str::to_string));
            self.state.set(Key::Alias(name.to_string()), Some(held));
        }
    }

    fn redefine(&mut self, args: &[Value], span: &Range<usize>) {
        let redefines = |a: &Value| ["-p", "-f", "-n"].iter().any(|o| a.start().starts_with(o));
        if args.iter().any(redefines) {
            self.state.set(Key::Tainted, Some(Held::Set));
            self.out.unknown("a builtin that redefines programs", span.clone());
        }
    }

    fn trap(&mut self, args: &[Value], index: usize) {
        let from = usize::from(args.first().and_then(Value::plain) == Some("--"));
        if args.len() <= from + 1
            || matches!(args[from].plain(), Some("-" | ""))
            || args[from].start().starts_with("-l")
        {
            return;
        }
        let text = &args[from];
        // A function that is defined further down is known at the end only.
        let name = text.plain().unwrap_or_default().to_string();
        let later = name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
            && self.state.get(&Key::Function(name)).is_none();
        // It runs at the end, with the values and in the directory of the end, and maybe before.
        let again = later || text.start().contains('$');
        self.traps.push((text.clone(), index, (!again).then(|| self.cwd())));
        if later {
            return;
        }
        let (effects, commands) =
            (self.out.analysis.effects.len(), self.out.analysis.commands.len());
        self.script(text, Vec::new(), index);
        let unsure = |e: &crate::effect::Effect| e.grade == Grade::Unknown;
        if text.start().contains('$')
            && !self.room.stopped
            && self.out.analysis.effects[effects..].iter().any(unsure)
        {
            // Its variables are not set yet.
            self.out.analysis.effects.truncate(effects);
            self.out.analysis.commands.truncate(commands);
        }
    }

    fn eval(&mut self, args: &[Value], index: usize) {
        let args = match args.first().and_then(Value::plain) {
            Some("--") => &args[1..],
            _ => args,
        };
        if !args.is_empty()
            && let Next::Script { text, .. } = program::effects::joined(args)
        {
            self.script(&text, Vec::new(), index);
        }
    }

    /// What `bind`, `complete` and `compgen` run.
    fn complete(&mut self, name: &str, args: &[Value], index: usize) {
        for pair in args.windows(2) {
            match pair[0].plain() {
                // The words of a list are expanded.
                Some("-W") if name == "compgen" => self.evaluated(&pair[1], index),
                Some("-F") if name == "compgen" => self.script(&pair[1], Vec::new(), index),
                Some("-C") => self.script(&pair[1], Vec::new(), index),
                Some("-x") if name == "bind" => {
                    let text = pair[1].start().split_once(':').map_or("", |(_, t)| t);
                    let text = text.trim().trim_matches(['"', '\'']).to_string();
                    let text = Value::known(text, pair[1].span.clone());
                    self.script(&text, Vec::new(), index);
                }
                _ => {}
            }
        }
    }

    fn fix_command(&mut self, args: &[Value], index: usize, span: &Range<usize>) {
        match args.first().and_then(Value::plain) {
            Some(list) if list.starts_with("-l") => {}
            Some("-e") if args.len() > 1 => self.starts(&args[1..2], index),
            _ => self.out.unknown("an earlier command runs again", span.clone()),
        }
    }

    /// An argument that the shell expands once more: a subscript, a word list.
    pub(super) fn evaluated(&mut self, arg: &Value, index: usize) {
        let text = arg.text().or(arg.outline()).unwrap_or_default();
        if text.contains("$(") || text.contains('`') {
            let quoted = text.replace('"', "\\\"");
            let first = self.out.analysis.effects.len();
            self.nested(&format!(": \"{quoted}\""), arg.span.clone(), Some(index));
            if self.out.analysis.effects.len() == first {
                self.out.unknown("a subscript that holds a command", arg.span.clone());
            }
        }
    }

    /// cd, pushd, popd; the directories to come back to are kept as a list that no script can name.
    fn change_directory(&mut self, name: &str, args: &[Value]) {
        const STACK: &str = " directories";
        let at = args.iter().find(|a| !a.start().starts_with('-') || a.plain() == Some("-"));
        let now = self.cwd();
        let row = |dir: &Option<String>| match dir {
            Some(dir) => quoted(dir),
            None => vec![Atom::blank(true)],
        };
        let known = |row: &[Atom]| value(row, 0..0).plain().map(str::to_string);
        let to = match at {
            _ if name == "popd" => match self.words(STACK) {
                Some(mut stack) if args.is_empty() => {
                    let top = stack.pop();
                    self.state.set(Key::Var(STACK.to_string()), Some(Held::Var(vec![stack])));
                    top.and_then(|row| known(&row))
                }
                _ => None,
            },
            None if name == "cd" => {
                let mut home = Vec::new();
                self.variable("HOME", true, &mut home);
                known(&home)
            }
            None => None,
            Some(value) if value.plain() == Some("-") => match self.words("OLDPWD") {
                Some(words) => words.first().and_then(|row| known(row)),
                None => None,
            },
            Some(value) if value.start().starts_with('+') => None,
            Some(value) => match self.out.spot(value, Extent::Exact, false) {
                Spot::At(target) => match target.extent {
                    Extent::Exact => Some(target.lexical),
                    Extent::Below => Some(format!("{}/{BLANK}", target.lexical)),
                    // One of the directories that a glob names.
                    Extent::Glob => {
                        let star = target.lexical.find(['*', '?', '[']).unwrap_or(0);
                        let root = target.lexical[..star].rfind('/').unwrap_or(0);
                        Some(format!("{}/{BLANK}", &target.lexical[..root]))
                    }
                    _ => None,
                },
                _ => None,
            },
        };
        if name == "pushd" {
            let mut stack = self.words(STACK).unwrap_or_default();
            stack.push(row(&now));
            if stack.len() > limits::PUSHED {
                // One of many: none of them is known.
                stack = vec![row(&None); limits::PUSHED];
            }
            self.state.set(Key::Var(STACK.to_string()), Some(Held::Var(vec![stack])));
        }
        self.state.set(Key::Var("OLDPWD".to_string()), Some(Held::Var(vec![vec![row(&now)]])));
        // Nobody works deeper than that, and each `cd` would copy it.
        let to = to.filter(|dir: &String| dir.len() <= limits::DIRECTORY);
        if !to.as_ref().is_some_and(|dir| self.out.resolver.is_dir(dir)) {
            self.state.set(Key::Astray, Some(Held::Set));
        }
        self.state.set(Key::Cwd, Some(Held::Cwd(to)));
        if self.state.var("PWD").is_some() {
            self.state.set(Key::Var("PWD".to_string()), None);
        }
    }
}

/// Does `printf` take a name, or evaluate an argument as a number?
fn numeric(args: &[Value]) -> bool {
    let Some(format) = args.first() else { return false };
    let converts = |part: &str| {
        let kind = part.trim_start_matches(|c: char| "-+ #0123456789.'".contains(c));
        kind.starts_with(|c: char| "*diouxXeEfFgGaA".contains(c))
    };
    format.plain() == Some("-v") || format.start().split('%').skip(1).any(converts)
}

/// What stands between the brackets of `name[subscript]`.
pub(super) fn subscript(arg: &Value) -> Option<Value> {
    let (name, _) = arg.start().split_once('[')?;
    let is_name = !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
    is_name.then(|| arg.rest(name.len() + 1))
}

/// `set -a`, `set -eax`, `set -o allexport`: every variable is exported.
fn exports_all(args: &[Value]) -> bool {
    let options =
        args.iter().take_while(|arg| arg.start().starts_with('-') || arg.start() == "allexport");
    options.into_iter().any(|arg| {
        arg.start() == "allexport" || !arg.start().starts_with("--") && arg.start().contains('a')
    })
}
