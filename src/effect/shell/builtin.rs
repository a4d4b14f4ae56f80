//! The shell's own commands that change what follows.

use std::ops::Range;
use std::rc::Rc;

use super::state::{Held, Key};
use super::{Feed, Walker};
use crate::effect::Extent;
use crate::effect::program::{self, Next};
use crate::effect::value::{Spot, Value};

impl Walker<'_> {
    /// Builtins that change what follows. True = nothing else is to be done.
    pub(super) fn state_builtin(
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
                        self.set_positional(Some(Rc::new(values)));
                    }
                    None if args.iter().any(|a| !a.start().starts_with(['-', '+'])) => {
                        self.set_positional(None)
                    }
                    None => {}
                }
                true
            }
            "shift" => {
                let count = match args {
                    [] => Some(1),
                    [one] => one.plain().and_then(|t| t.parse::<usize>().ok()),
                    _ => None,
                };
                let left = match (self.positional(), count) {
                    (Some(values), Some(count))
                        if values.len() > count
                            && !values[1..=count].iter().any(Value::several) =>
                    {
                        let mut values = (*values).clone();
                        values.drain(1..=count);
                        Some(Rc::new(values))
                    }
                    _ => None,
                };
                self.set_positional(left);
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
                    // It runs at the end, with the values and in the directory of the end.
                    if self.traps.len() < 20 {
                        self.traps.push((text, index, self.cwd()));
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
