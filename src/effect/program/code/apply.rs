//! From a name that is called and its arguments to effects, by the rows of [`super::rows`].

use super::lex::Lang;
use super::scan::{Arg, Scan, module_name, template};
use super::sql;
use super::val::{HOLE, Val};
use crate::effect::program::{Next, effects};
use crate::effect::value::{Spot, Value};
use crate::effect::{Extent, Grade, Source, Word};

/// How many effects one program has.
const MAX_EFFECTS: usize = 400;
/// Programs that run what they read from standard input.
pub const INTERPRETERS: &[&str] = &[
    "sh", "bash", "zsh", "dash", "ksh", "fish", "python", "python3", "node", "perl", "ruby", "php",
];

impl Scan<'_, '_> {
    /// What a name stands for.
    pub fn resolve(&mut self, name: &str) -> Val {
        if let Some(val) = self.env.get(name) {
            return val.clone();
        }
        if matches!(name, "__builtins__" | "__loader__") {
            self.hide("a program that reaches into its interpreter");
        }
        Val::name(name)
    }

    /// A member of a value.
    pub fn member(&mut self, val: Val, name: &str) -> Val {
        if matches!(
            name,
            "__globals__"
                | "__builtins__"
                | "__subclasses__"
                | "__getattribute__"
                | "__loader__"
                | "__mro__"
                | "__import__"
        ) {
            self.hide("a program that reaches into its interpreter");
        }
        match val {
            Val::Name(from) => {
                if matches!(
                    from.as_ref(),
                    "globalThis"
                        | "global"
                        | "window"
                        | "builtins"
                        | "Kernel"
                        | "__builtin__"
                        | "CORE"
                        | "CORE.GLOBAL"
                ) {
                    return Val::name(name);
                }
                if from.as_ref() == "fs" && name == "promises" {
                    return Val::Name(from);
                }
                if matches!(name, "then" | "catch" | "finally") {
                    return Val::Member((Val::Name(from), name.to_string()).into());
                }
                match (from.as_ref(), name) {
                    ("process.env", _) => return self.variable(&Val::text(name)),
                    ("sys", "executable") => return Val::text("python3"),
                    ("process", "execPath") => return Val::text("node"),
                    _ => {}
                }
                let full = format!("{from}.{name}");
                match self.env.get(&full) {
                    Some(val) => val.clone(),
                    None => Val::name(&full),
                }
            }
            Val::Member(inner) => {
                if inner.1 == "constructor" && name == "constructor" {
                    self.hide("a program that makes functions from text");
                }
                let val = self.bare(Val::Member(inner));
                let val = if matches!(val, Val::Member(_)) { Val::Unknown } else { val };
                Val::Member((val, name.to_string()).into())
            }
            Val::Dict(_, items) => match items.iter().find(|(k, _)| k == name) {
                Some((_, val)) => val.clone(),
                None => Val::Member((Val::Dict(1, items.clone()), name.to_string()).into()),
            },
            other => Val::Member((other, name.to_string()).into()),
        }
    }

    /// A name or member that is not called.
    pub fn bare(&mut self, val: Val) -> Val {
        let calls = matches!(self.lang, Lang::Perl | Lang::Ruby);
        if let Val::Name(name) = &val {
            self.escapes(name);
        }
        match &val {
            Val::Name(name) if calls && self.row(name).is_some() => {
                self.call(val.clone(), Vec::new())
            }
            Val::Member(inner) => match (&inner.0, inner.1.as_str()) {
                (Val::Fed, _) => Val::Fed,
                (Val::Stored, _) => Val::Stored,
                (Val::Path(path), "parent" | "dirname") => Val::Path(parent(path).into()),
                (Val::Path(_), "path") => inner.0.clone(),
                (Val::Path(_), "name" | "stem" | "suffix" | "parts") => Val::Unknown,
                (Val::List(..), "length" | "size" | "count") => Val::Scalar,
                _ if calls
                    && (self.rows.contains_key(format!(".{}", inner.1).as_str())
                        || matches!(inner.0, Val::Path(_))
                            && self.rows.contains_key(format!("Path.{}", inner.1).as_str())) =>
                {
                    self.call(val.clone(), Vec::new())
                }
                (
                    Val::List(..) | Val::Glob(_),
                    "first" | "last" | "sort" | "reverse" | "to_a" | "uniq",
                ) => inner.0.clone(),
                _ => val,
            },
            _ => val,
        }
    }

    /// `x[key]`, `x{key}`.
    pub fn index(&mut self, val: Val, args: Vec<Arg>) -> Val {
        let key = args.first().map_or(Val::Unknown, |a| a.val.clone());
        match &val {
            Val::Name(name) => {
                let name = name.as_ref();
                let all = match name.strip_prefix('$') {
                    Some(rest) if self.lang == Lang::Perl => {
                        let list = self
                            .env
                            .get(&format!("@{rest}"))
                            .or_else(|| self.env.get(&format!("%{rest}")));
                        if let Some(list) = list.cloned() {
                            return self.index(list, args);
                        }
                        rest
                    }
                    _ => name,
                };
                if matches!(
                    all,
                    "os.environ" | "process.env" | "ENV" | "%ENV" | "_ENV" | "_SERVER" | "Deno.env"
                ) {
                    return self.variable(&key);
                }
                if name == "Dir" && self.lang == Lang::Ruby {
                    return glob(&key);
                }
                match key.whole() {
                    Some(text) if name == "sys.modules" => Val::name(&text),
                    Some(text) => self.member(val.clone(), &text),
                    None => {
                        let dangerous = matches!(
                            name,
                            "globalThis" | "global" | "window" | "require" | "module"
                        ) || name.contains("__")
                            || self.rows.get(format!("{name}.").as_str()) == Some(&"!")
                                && name != "process";
                        if dangerous && !matches!(key, Val::Scalar) {
                            self.hide("a function whose name is known only at run time");
                        }
                        Val::Unknown
                    }
                }
            }
            Val::Fed | Val::Stored => val,
            Val::List(..) if args.iter().any(|a| a.key.is_some()) => val,
            Val::List(..) | Val::Any(..) => val.element(),
            Val::Dict(_, items) => match key.whole() {
                Some(key) => {
                    items.iter().find(|(k, _)| *k == *key).map_or(Val::Unknown, |(_, v)| v.clone())
                }
                None => Val::any(items.iter().map(|(_, v)| v.clone()).collect()),
            },
            _ => match key.whole() {
                Some(text) if self.lang == Lang::Js => self.member(val, &text),
                _ => Val::Unknown,
            },
        }
    }

    /// An environment variable.
    fn variable(&self, key: &Val) -> Val {
        match key.whole().as_deref() {
            Some("HOME" | "USERPROFILE") => Val::text(&self.out.place.home),
            Some("TMPDIR" | "TMP" | "TEMP") => Val::text("/tmp"),
            Some("PWD") => Val::text("."),
            _ => Val::Unknown,
        }
    }

    /// The row of a name.
    fn row(&self, name: &str) -> Option<&'static str> {
        let lower;
        let name = match self.lang {
            Lang::Php => {
                lower = name.to_ascii_lowercase();
                lower.as_str()
            }
            Lang::Js => name.strip_suffix("Sync").unwrap_or(name),
            _ => name,
        };
        if let Some(row) = self.rows.get(name) {
            return Some(row);
        }
        // Perl's functions by their module: the last part says it.
        if self.lang == Lang::Perl
            && let Some((_, last)) = name.rsplit_once("::")
        {
            return self.rows.get(last).copied();
        }
        for (at, _) in name.rmatch_indices('.') {
            if let Some(row) = self.rows.get(&name[..=at]) {
                return Some(row);
            }
        }
        None
    }

    /// Calls a value.
    pub fn call(&mut self, val: Val, args: Vec<Arg>) -> Val {
        let mut args = args;
        match &val {
            Val::Name(name) => {
                if self.lang == Lang::Ruby
                    && let Some(from) = name.strip_suffix(".method")
                    && let Some(text) = args.first().and_then(|a| a.val.whole())
                {
                    return self.member(Val::name(from), &text);
                }
                let row = self.row(name);
                // A harmless module's members may still be what is harmful on anything: `File.send`.
                if let Some(row) = row
                    && row != "-"
                {
                    return self.apply(row, None, args);
                }
                if let Some((from, last)) = name.rsplit_once('.')
                    && let Some(method) = self.row(&format!(".{last}"))
                    && !self.rows.contains_key(name.as_ref())
                {
                    return self.apply(method, Some(Val::name(from)), args);
                }
                if row.is_some() {
                    self.callbacks(None, args);
                    return Val::Unknown;
                }
                if name.starts_with('$')
                    && matches!(self.lang, Lang::Php | Lang::Perl)
                    && !name.contains('.')
                {
                    self.hide("a function whose name is known only at run time");
                }
                self.record(name, &args);
                self.callbacks(None, args);
                Val::Unknown
            }
            Val::Member(inner) => {
                let (from, method) = (&inner.0, inner.1.as_str());
                let dotted = format!(".{method}");
                let row = match from {
                    Val::Path(_) => self.rows.get(format!("Path{dotted}").as_str()).copied(),
                    _ => None,
                };
                if let Some(row) = row.or_else(|| self.row(&dotted)) {
                    return self.apply(row, Some(from.clone()), args);
                }
                match (from, method) {
                    (Val::Fed | Val::Stored, _) => {
                        self.callbacks(Some(from.clone()), args);
                        from.clone()
                    }
                    (Val::Text(_), "join") if self.lang == Lang::Python => {
                        let between = from.whole().unwrap_or_default();
                        match args.first().map(|a| a.val.clone()) {
                            Some(Val::List(_, items)) => items
                                .iter()
                                .cloned()
                                .reduce(|a, b| a.join(&b, &between))
                                .unwrap_or(Val::Unknown),
                            _ => Val::Unknown,
                        }
                    }
                    (Val::List(_, items), "join") => {
                        let between = args.first().and_then(|a| a.val.whole()).unwrap_or_default();
                        items
                            .iter()
                            .cloned()
                            .reduce(|a, b| a.join(&b, &between))
                            .unwrap_or(Val::Unknown)
                    }
                    (Val::Text(text), "split")
                        if args.is_empty() || args[0].val.whole().as_deref() == Some(" ") =>
                    {
                        Val::list(text.split_whitespace().map(Val::text).collect())
                    }
                    (Val::Text(_), "concat") => {
                        args.into_iter().fold(from.clone(), |a, b| a.join(&b.val, ""))
                    }
                    (Val::Text(_), "format") => {
                        let given: Vec<Val> = args.into_iter().map(|a| a.val).collect();
                        template(from, &given)
                    }
                    (Val::Name(_) | Val::Member(_), "call" | "apply" | "bind" | "()") => {
                        self.call(from.clone(), args)
                    }
                    _ => {
                        self.callbacks(Some(from.clone()), args);
                        Val::Unknown
                    }
                }
            }
            Val::Text(name) if matches!(self.lang, Lang::Php | Lang::Perl) => {
                let name = Val::name(name);
                self.call(name, args)
            }
            // `(0, eval)("...")`
            Val::List(_, items) if self.lang == Lang::Js && !items.is_empty() => {
                self.call(items[items.len() - 1].clone(), args)
            }
            Val::Any(_, items) => {
                let mut out = Vec::new();
                for item in items.iter() {
                    out.push(self.call(item.clone(), args.clone()));
                }
                Val::any(out)
            }
            _ => {
                args.retain(|a| matches!(a.val, Val::Name(_)));
                self.callbacks(None, args);
                Val::Unknown
            }
        }
    }

    /// A function of a row that is handed to another one: it is called with what else is there.
    fn callbacks(&mut self, from: Option<Val>, args: Vec<Arg>) {
        for (i, arg) in args.iter().enumerate() {
            let row = match &arg.val {
                Val::Name(name) => {
                    let lower = name.to_ascii_lowercase();
                    let name = if self.lang == Lang::Php { lower.as_str() } else { name.as_ref() };
                    self.rows.get(name.strip_suffix("Sync").unwrap_or(name)).copied()
                }
                Val::Text(method) if arg.block => {
                    self.rows.get(format!(".{method}").as_str()).copied()
                }
                Val::Text(name) if self.lang == Lang::Php => self.rows.get(name.as_ref()).copied(),
                _ => None,
            };
            let Some(row) = row else { continue };
            if row.starts_with("->") || row == "-" || self.lang == Lang::Php && row.starts_with('~')
            {
                continue;
            }
            let mut rest: Vec<Arg> = Vec::new();
            let others = from.iter().cloned().chain(
                args.iter().enumerate().filter(|(n, _)| *n != i).map(|(_, a)| a.val.clone()),
            );
            for val in others {
                match val {
                    Val::List(_, items)
                        if row.starts_with("sh")
                            || row.contains("delete")
                            || args.len() > 1 && from.is_none() =>
                    {
                        rest.push(Arg { key: None, val: Val::any(items.to_vec()), block: false });
                    }
                    Val::Scalar | Val::Name(_) => {}
                    val => rest.push(Arg { key: None, val: val.element_or_self(), block: false }),
                }
            }
            if rest.is_empty() {
                rest.push(Arg { key: None, val: Val::Unknown, block: false });
            }
            self.apply(row, None, rest);
        }
    }

    /// Carries out a row.
    fn apply(&mut self, row: &'static str, from: Option<Val>, args: Vec<Arg>) -> Val {
        let mut pos: Vec<Val> = from.into_iter().collect();
        let mut opts: Vec<(String, Val)> = Vec::new();
        for arg in args {
            if let Val::Dict(_, items) = &arg.val {
                opts.extend(items.iter().cloned());
            }
            match arg.key {
                Some(key) => opts.push((key, arg.val)),
                None => pos.push(arg.val),
            }
        }
        if pos.is_empty() && self.lang == Lang::Perl && row != "!" {
            pos.push(self.env.get("$_").cloned().unwrap_or(Val::Unknown));
        }
        if pos.is_empty()
            && let Some(first) = opts.iter().position(|(k, _)| {
                matches!(k.as_str(), "path" | "src" | "name" | "file" | "url" | "args" | "command")
            })
        {
            pos.push(opts[first].1.clone());
        }
        let call = Call { pos, opts };
        let mut result = Val::Unknown;
        let mut i = 0;
        for part in row.trim_start_matches('~').split(' ') {
            if let Some(kind) = part.strip_prefix("->") {
                result = self.returned(kind, &call);
            } else if let Some(kind) = part.strip_prefix('@') {
                self.whole(kind, &call);
            } else if let Some(kind) = part.strip_suffix('*') {
                for val in call.pos.iter().skip(i) {
                    self.role(kind, val, &call);
                }
            } else if matches!(part, "!" | "process" | "listen" | "network" | "") {
                self.role(part, &Val::Unknown, &call);
            } else {
                if let Some(val) = call.pos.get(i) {
                    self.role(part, val, &call);
                }
                i += 1;
            }
        }
        result
    }

    fn returned(&mut self, kind: &str, call: &Call) -> Val {
        let first = call.pos.first().cloned().unwrap_or(Val::Unknown);
        let joined = |pos: &[Val]| {
            pos.iter().cloned().reduce(|a, b| a.join(&b, "/")).unwrap_or_else(|| Val::text("."))
        };
        match kind {
            "Path" => Val::Path(joined(&call.pos).into()),
            "join" => joined(&call.pos),
            "under" => match &first {
                Val::Path(_) => Val::Path(joined(&call.pos).into()),
                _ => joined(&call.pos),
            },
            "self" => first,
            "expand" => match first.string() {
                Some(text) if text.starts_with('~') && !text.starts_with("~+") => {
                    let rest = text.trim_start_matches('~').to_string();
                    Val::text(&format!("{}{rest}", self.out.place.home))
                }
                _ => first,
            },
            "home" => Val::text(&self.out.place.home.clone()),
            "homepath" => Val::Path(Val::text(&self.out.place.home.clone()).into()),
            "cwd" => Val::text("."),
            "tmp" => Val::text(&format!("/tmp/{HOLE}")),
            "glob" => glob(&first),
            "globs" => glob(&joined(&call.pos)),
            "below" => joined(&[first, Val::text(&HOLE.to_string())]),
            "paths" => Val::Path(joined(&[first, Val::text(&HOLE.to_string())]).into()),
            "parent" => parent(&first),
            "fed" => Val::Fed,
            "stored" => {
                let mut values = Vec::new();
                first.values(&self.span, &mut values);
                for value in values {
                    if value.start().contains("://") && !value.start().starts_with("php:") {
                        return Val::Fed;
                    }
                    if let Spot::At(target) = self.out.spot(&value, Extent::Exact, false)
                        && self.out.written.contains_key(&target.resolved)
                    {
                        return Val::Fed;
                    }
                }
                Val::Stored
            }
            "name" => match first.whole() {
                Some(text) => Val::name(&module_name(&text)),
                None => {
                    self.hide("a module whose name is known only at run time");
                    Val::Unknown
                }
            },
            "env" => self.variable(&first),
            "scalar" => Val::Scalar,
            "shift" => self.env.get("@_").map_or(Val::Unknown, Val::element),
            "words" => match first.whole() {
                Some(text) => Val::list(text.split_whitespace().map(Val::text).collect()),
                None => Val::Unknown,
            },
            "globwords" => match first.whole() {
                Some(text) => {
                    Val::any(text.split_whitespace().map(|t| glob(&Val::text(t))).collect())
                }
                None => first,
            },
            "opttext" => call.opt("text").unwrap_or(Val::Stored),
            "rubysend" => {
                let at =
                    call.pos.iter().position(|v| matches!(v, Val::Text(_))).filter(|at| *at < 2);
                let Some(at) = at else {
                    self.hide("a function whose name is known only at run time");
                    return Val::Unknown;
                };
                let name = call.pos[at].whole().unwrap_or_default();
                let function = match call.pos[..at].first() {
                    Some(from) => self.member(from.clone(), &name),
                    None => Val::name(&name),
                };
                // Kernel's functions answer to every object.
                let function =
                    if self.rows.contains_key(name.as_ref()) { Val::name(&name) } else { function };
                let args = call.pos[at + 1..].iter();
                let args = args.map(|v| Arg { key: None, val: v.clone(), block: false }).collect();
                self.call(function, args)
            }
            "zip" => match &first {
                Val::List(_, items) => Val::list(
                    items.iter().map(|i| Val::list(vec![Val::Scalar, i.clone()])).collect(),
                ),
                _ => Val::Unknown,
            },
            "method" => match (&call.pos[..], self.lang) {
                ([Val::Text(name)], _) => Val::name(name),
                ([val, Val::Text(name), ..], _) => {
                    let val = val.clone();
                    self.member(val, &name.clone())
                }
                _ => Val::Unknown,
            },
            _ => Val::Unknown,
        }
    }

    /// Effects of one argument.
    fn role(&mut self, kind: &str, val: &Val, call: &Call) {
        if self.silent {
            return;
        }
        let tree = matches!(val, Val::Path(_)) && kind.is_empty();
        let recursive = call.on("recursive") || call.on("recurse") || call.on("r");
        let deep = |yes: bool| if yes || tree { Extent::Tree } else { Extent::Exact };
        match kind {
            "-" | "" => {}
            "!" => self.hide("an inline program that hides what it does"),
            "read" => self.path(Word::Read, val, Extent::Exact),
            "readtree" => self.path(Word::Read, val, Extent::Tree),
            "write" => self.path(Word::Write, val, Extent::Exact),
            "writetree" => self.path(Word::Write, val, Extent::Tree),
            "edit" => {
                self.path(Word::Read, val, Extent::Exact);
                self.path(Word::Write, val, Extent::Exact);
            }
            "delete" => self.path(Word::Delete, val, deep(recursive)),
            "deletetree" => self.path(Word::Delete, val, Extent::Tree),
            "move" => {
                self.path(Word::Read, val, Extent::Tree);
                self.path(Word::Delete, val, Extent::Tree);
            }
            "perm" => self.path(Word::Permission, val, deep(recursive)),
            "permtree" => self.path(Word::Permission, val, Extent::Tree),
            "url" | "send" => self.contact(val, kind == "send" || call.sends()),
            "host" => self.contact(val, true),
            "network" => self.push(Word::Network),
            "listen" => self.push(Word::Listen),
            "process" => self.push(Word::Process),
            "sh" => self.shell(val, call),
            "code" => match val {
                Val::Scalar | Val::Name(_) if self.lang != Lang::Python => {}
                Val::Scalar | Val::Stored | Val::List(..) | Val::Dict(..) => {}
                Val::Fed => self.push(Word::PipeToInterpreter),
                val => {
                    for one in val.each() {
                        match one.whole() {
                            Some(text) => self.program(&text),
                            None => self.hide("program text known only at run time"),
                        }
                    }
                }
            },
            "timer" => {
                if let Some(text) = val.whole() {
                    self.program(&text);
                }
            }
            "sql" => {
                for one in val.each() {
                    if let Some(text) = one.string() {
                        let span = self.span.clone();
                        sql::embedded(self.out, &text.replace(HOLE, "?"), &span);
                    }
                }
            }
            _ => debug_assert!(false, "no such role: {kind}"),
        }
    }

    /// What a whole call does.
    fn whole(&mut self, kind: &str, call: &Call) {
        let first = call.pos.first().cloned().unwrap_or(Val::Unknown);
        let rest = call.pos.get(1..).unwrap_or_default();
        match kind {
            // These are the only ones that learn something in the first walk.
            _ if self.silent => {}
            "open" | "rubyopen" => {
                let mode = call.pos.get(1).cloned().or_else(|| call.opt("mode"));
                let text = first.string().unwrap_or_default();
                if kind == "rubyopen" && text.starts_with('|') {
                    self.shell(&Val::text(&text[1..]), call);
                } else if first != Val::Scalar {
                    self.open(&first, mode.as_ref());
                }
            }
            "perlopen" => self.perl_open(call),
            "cmd" => match &first {
                Val::List(..) if call.on("shell") => {
                    let item = first.element();
                    self.shell(&item, call);
                }
                Val::List(_, items) => self.words(items.to_vec(), call),
                Val::Any(..) => {
                    for one in first.each() {
                        match one {
                            Val::List(_, items) => self.words(items.to_vec(), call),
                            one => self.shell(&one, call),
                        }
                    }
                }
                _ => self.shell(&first, call),
            },
            "system" => {
                let plain: Vec<Val> =
                    call.pos.iter().filter(|v| !matches!(v, Val::Dict(..))).cloned().collect();
                match &plain[..] {
                    [Val::List(_, items)] => self.words(items.to_vec(), call),
                    [one] => self.shell(one, call),
                    _ => self.words(plain, call),
                }
            }
            "argv" => self.words(call.pos.clone(), call),
            "argv1" => self.words(rest.to_vec(), call),
            "spawn" => {
                let mut words = vec![first];
                match rest.first() {
                    Some(Val::List(_, items)) => words.extend(items.iter().cloned()),
                    Some(Val::Dict(..) | Val::Scalar) | None => {}
                    Some(_) => words.push(Val::Unknown),
                }
                if call.on("shell") {
                    let text =
                        words.into_iter().reduce(|a, b| a.join(&b, " ")).unwrap_or(Val::Unknown);
                    self.shell(&text, call);
                } else {
                    self.words(words, call);
                }
            }
            "fork" => {
                let mut words = vec![Val::text("node"), first];
                if let Some(Val::List(_, items)) = rest.first() {
                    words.extend(items.iter().cloned());
                }
                self.words(words, call);
            }
            "execv" | "spawnv" => {
                let all = if kind == "execv" { &call.pos[..] } else { rest };
                let mut words: Vec<Val> = all.first().cloned().into_iter().collect();
                match all.get(1) {
                    Some(Val::List(_, items)) => words.extend(items.iter().skip(1).cloned()),
                    None => {}
                    Some(_) => words.push(Val::Unknown),
                }
                self.words(words, call);
            }
            "execl" | "spawnl" => {
                let all = if kind == "execl" { &call.pos[..] } else { rest };
                let words =
                    all.first().cloned().into_iter().chain(all.iter().skip(2).cloned()).collect();
                self.words(words, call);
            }
            "getattr" => {
                if call.pos.get(1).is_some_and(|v| v.whole().is_none()) {
                    self.hide("a function whose name is known only at run time");
                }
            }
            "denocmd" => match &first {
                Val::List(_, items) => self.words(items.to_vec(), call),
                _ => {
                    let mut words = vec![first];
                    words.extend(call.opt("args"));
                    self.words(words, call);
                }
            },
            "netconnect" => {
                let host = match &first {
                    Val::Dict(..) => call.opt("host").unwrap_or(Val::Scalar),
                    _ => call.pos.get(1).cloned().unwrap_or(Val::Scalar),
                };
                self.contact(&host, true);
            }
            "perlsysopen" => self.open(&rest.first().cloned().unwrap_or(Val::Unknown), rest.get(1)),
            "perlsock" => match call.opt("PeerAddr").or_else(|| call.opt("PeerHost")) {
                Some(host) => self.contact(&host, true),
                None => self.push(Word::Listen),
            },
            "rubyread" => match first.string() {
                Some(text) if text.starts_with('|') => self.shell(&Val::text(&text[1..]), call),
                _ => self.path(Word::Read, &first, Extent::Exact),
            },
            "getfun" => match first.whole() {
                Some(text) if !self.rows.contains_key(text.as_ref()) => {}
                None if matches!(first, Val::Name(_) | Val::Scalar) => {}
                _ => self.hide("a function whose name is known only at run time"),
            },
            "callback" => {
                let args = call.pos.iter().map(|v| Arg { key: None, val: v.clone(), block: false });
                if matches!(first, Val::Unknown) {
                    self.hide("a function whose name is known only at run time");
                }
                self.callbacks(None, args.collect());
            }
            "chdir" => {
                self.moved = true;
                let value = first.value(&self.span);
                effects::chdir(self.out, &value);
            }
            "sock" => {
                if let Some(Val::List(_, items)) =
                    call.pos.iter().find(|v| matches!(v, Val::List(_, i) if i.len() >= 2))
                {
                    let host = items[0].clone();
                    self.contact(&host, true);
                }
            }
            "bind" => {
                if call.pos.iter().any(|v| matches!(v, Val::List(..))) {
                    self.push(Word::Listen);
                }
            }
            "text" => {
                // The path and, where it is known, what is written there.
                self.path(Word::Write, &first, Extent::Exact);
                if let (Some(_), Some(text)) = (first.whole(), call.pos.get(1).and_then(Val::whole))
                    && let Spot::At(target) =
                        self.out.spot(&first.value(&self.span), Extent::Exact, false)
                {
                    self.out.written.insert(target.resolved, Some(text.to_string()));
                }
            }
            "unarchive" => {
                self.path(Word::Read, &first, Extent::Exact);
                let into = rest.first().cloned().or_else(|| call.opt("extract_dir"));
                self.path(Word::Write, &into.unwrap_or_else(|| Val::text(".")), Extent::Tree);
            }
            "extract" => {
                let into = rest.first().cloned().or_else(|| call.opt("path"));
                self.path(Word::Write, &into.unwrap_or_else(|| Val::text(".")), Extent::Tree);
            }
            "request" => {
                let url = call.pos.get(1).cloned().unwrap_or(Val::Unknown);
                let get = first.whole().is_some_and(|m| {
                    matches!(m.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
                });
                self.contact(&url, !get || call.sends());
            }
            "fetch" | "get" => {
                // `http.get({host: ...})`
                let url = match &first {
                    Val::Dict(..) => {
                        call.opt("hostname").or_else(|| call.opt("host")).unwrap_or(Val::Unknown)
                    }
                    _ => first,
                };
                self.contact(
                    &url,
                    // What stands behind the URL of a GET is its callback.
                    call.sends()
                        || kind == "fetch"
                            && rest.iter().any(|v| matches!(v, Val::Text(_) | Val::Unknown)),
                );
            }
            "listfile" => {
                for val in &call.pos {
                    self.path(Word::Read, val, Extent::Exact);
                }
            }
            "curl" => {
                let option = call.pos.get(1);
                let named = |part: &str| matches!(option, Some(Val::Name(n)) if n.contains(part));
                let value = call.pos.get(2).cloned().unwrap_or(Val::Unknown);
                if named("CURLOPT_URL") {
                    self.contact(&value, false);
                } else if named("POST") || named("UPLOAD") || named("INFILE") {
                    self.push(Word::Send);
                }
            }
            _ => debug_assert!(false, "no such call: {kind}"),
        }
    }

    /// A file is opened; the mode says for what.
    fn open(&mut self, path: &Val, mode: Option<&Val>) {
        let text = mode.and_then(Val::whole);
        let (read, write) = match (mode, text.as_deref()) {
            (None | Some(Val::Dict(..) | Val::Scalar), _) => (true, false),
            (_, Some(mode)) if mode.len() < 40 => {
                let mode = mode.split(':').next().unwrap_or_default();
                let write = mode.contains(['w', 'a', 'x', '+', 'c', '>']);
                (mode.contains(['r', '+']) || !write, write)
            }
            (Some(Val::Name(name)), _) if name.ends_with("RDONLY") => (true, false),
            _ => (true, true),
        };
        if read {
            self.path(Word::Read, path, Extent::Exact);
        }
        if write {
            self.path(Word::Write, path, Extent::Exact);
        }
    }

    /// Perl's open, with two or three arguments.
    fn perl_open(&mut self, call: &Call) {
        let Some(mode) = call.pos.get(1) else {
            return;
        };
        let Some(text) = mode.string() else { return };
        let text = text.trim();
        if let Some(path) = call.pos.get(2) {
            let kind = text.split([':', ' ']).next().unwrap_or_default();
            if matches!(kind, "-|" | "|-") {
                match call.pos.get(3..) {
                    Some(more) if !more.is_empty() => self.words(call.pos[2..].to_vec(), call),
                    _ => self.shell(path, call),
                }
            } else if kind.contains(HOLE) {
                self.hide("a file that is opened in a way known only at run time");
            } else if !matches!(path, Val::Scalar) && !kind.contains('&') {
                let mode = match kind {
                    "<" => "r",
                    "+<" | "+>" => "r+",
                    _ => "w",
                };
                self.open(path, Some(&Val::text(mode)));
            }
            return;
        }
        let rest = |n: usize| Val::text(text[n..].trim());
        if text.starts_with('|') {
            self.shell(&rest(1), call);
        } else if let Some(command) = text.strip_suffix('|') {
            self.shell(&Val::text(command.trim()), call);
        } else if text.contains('&') && text.starts_with(['>', '<']) {
        } else if text.starts_with(">>") || text.starts_with("+>") || text.starts_with("+<") {
            self.path(Word::Write, &rest(2), Extent::Exact);
        } else if text.starts_with('>') {
            self.path(Word::Write, &rest(1), Extent::Exact);
        } else if text.starts_with('<') {
            self.path(Word::Read, &rest(1), Extent::Exact);
        } else if text.starts_with(HOLE) {
            // Two arguments, the second one computed: it may be a command.
            self.hide("a file or command known only at run time");
        } else {
            self.path(Word::Read, &Val::text(text), Extent::Exact);
        }
    }

    fn full(&mut self) -> bool {
        self.count += 1;
        if self.count > MAX_EFFECTS {
            self.hide("more effects than are followed");
        }
        self.silent || self.count > MAX_EFFECTS
    }

    fn push(&mut self, word: Word) {
        if !self.full() {
            let span = self.span.clone();
            self.out.push(word, Grade::Certain, Source::Code, span);
        }
    }

    fn path(&mut self, word: Word, val: &Val, extent: Extent) {
        let mut values = Vec::new();
        val.values(&self.span, &mut values);
        for mut value in values {
            if self.full() {
                return;
            }
            let text = value.text.as_deref().unwrap_or_default();
            if text == ":memory:" || text.starts_with("php://") || text.starts_with("data:") {
                continue;
            }
            if value.start().contains("://") && !text.starts_with("file:") {
                let span = self.span.clone();
                let _ = span;
                self.out.contact(&value, word != Word::Read, Source::Code);
                continue;
            }
            if let Some(rest) = text.strip_prefix("~/") {
                value.text = Some(format!("{}/{rest}", self.out.place.home));
            } else if let Some(rest) = text.strip_prefix("file://") {
                value.text = Some(rest.to_string());
            }
            self.out.path(word, &value, extent, Grade::Certain, Source::Code);
        }
    }

    fn contact(&mut self, val: &Val, send: bool) {
        let mut values = Vec::new();
        val.values(&self.span, &mut values);
        for value in values {
            if self.full() {
                return;
            }
            if let Some(file) = value.text.as_deref().and_then(|t| t.strip_prefix("file://")) {
                let value = Value::known(file, self.span.clone());
                self.out.path(Word::Read, &value, Extent::Exact, Grade::Certain, Source::Code);
            } else {
                self.out.contact(&value, send, Source::Code);
            }
        }
    }

    /// Text that a shell runs.
    fn shell(&mut self, val: &Val, call: &Call) {
        for one in val.each() {
            if self.full() {
                return;
            }
            let input = call.opt("input");
            let value = match one.string() {
                _ if matches!(one, Val::Scalar) => continue,
                Some(text) if text.contains(HOLE) && text.trim_start().starts_with(HOLE) => {
                    one.value(&self.span)
                }
                Some(text) if text.contains(HOLE) => {
                    self.hide("shell text of which a part is known only at run time");
                    Value::known(text.replace(HOLE, "$__hookctl_item"), self.span.clone())
                }
                _ => one.value(&self.span),
            };
            let value = self.fed(value, input, call);
            let cwd = self.elsewhere(call);
            if cwd.is_some() && value.text.is_some() {
                let sh = |t: &str| Value::known(t, self.span.clone());
                let words = vec![sh("sh"), sh("-c"), value];
                self.next.push(Next::Words { words, cwd, feeds: false });
            } else {
                self.next.push(Next::Script { text: value, rest: Vec::new() });
            }
        }
    }

    /// The directory that something runs in, where it is another one.
    fn elsewhere(&self, call: &Call) -> Option<Value> {
        match call.opt("cwd").or_else(|| call.opt("chdir")) {
            Some(Val::Name(name))
                if matches!(name.as_ref(), "None" | "null" | "undefined" | "nil") =>
            {
                None
            }
            Some(cwd) => Some(cwd.value(&self.span)),
            None if self.moved => Some(match &self.out.cwd {
                Some(cwd) => Value::known(cwd.clone(), self.span.clone()),
                None => Value::unknown(self.span.clone()),
            }),
            None => None,
        }
    }

    /// A shell or interpreter without arguments runs what it is fed.
    fn fed(&mut self, value: Value, input: Option<Val>, _call: &Call) -> Value {
        let Some(text) = value.plain() else { return value };
        let name = text.trim().rsplit('/').next().unwrap_or_default();
        match input {
            Some(input) => match input.whole() {
                Some(input) => {
                    let text = format!("{text} <<'__HOOKCTL__'\n{input}\n__HOOKCTL__\n");
                    Value::known(text, value.span)
                }
                None => {
                    if INTERPRETERS.contains(&name) {
                        self.hide("an interpreter that is fed by the program");
                    }
                    value
                }
            },
            None => {
                if INTERPRETERS.contains(&name) {
                    self.hide("an interpreter that is fed by the program");
                }
                value
            }
        }
    }

    /// Words that are a command.
    fn words(&mut self, words: Vec<Val>, call: &Call) {
        // One word with several values is several commands.
        let many = words.iter().position(|w| matches!(w, Val::Any(..)));
        if let Some(at) = many {
            for one in words[at].each() {
                let mut words = words.clone();
                words[at] = if matches!(one, Val::Any(..)) { Val::Unknown } else { one };
                for (i, word) in words.iter_mut().enumerate() {
                    if i != at && matches!(word, Val::Any(..)) {
                        *word = Val::Unknown;
                    }
                }
                self.words(words, call);
            }
            return;
        }
        if self.full() {
            return;
        }
        let mut values: Vec<Value> = Vec::new();
        for word in &words {
            match word {
                Val::List(_, items) => values.extend(items.iter().map(|i| i.value(&self.span))),
                Val::Dict(..) => {}
                Val::Name(name) if matches!(name.as_ref(), "None" | "null" | "nil" | "undef") => {}
                word => values.push(word.value(&self.span)),
            }
        }
        if let [one] = &values[..] {
            let fed = self.fed(one.clone(), call.opt("input"), call);
            if fed != *one {
                self.shell(
                    &Val::text(&fed.text.unwrap_or_default()),
                    &Call { pos: Vec::new(), opts: Vec::new() },
                );
                return;
            }
        } else if let (Some(input), Some(name)) = (call.opt("input"), values.first())
            && INTERPRETERS.contains(&name.start().rsplit('/').next().unwrap_or_default())
        {
            let known: Option<Vec<&str>> = values.iter().map(Value::plain).collect();
            match (known, input.whole()) {
                (Some(words), Some(input))
                    if words.iter().all(|w| {
                        w.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_./".contains(&b))
                    }) =>
                {
                    let text =
                        format!("{} <<'__HOOKCTL__'\n{input}\n__HOOKCTL__\n", words.join(" "));
                    self.next.push(Next::Script {
                        text: Value::known(text, self.span.clone()),
                        rest: Vec::new(),
                    });
                    return;
                }
                _ => self.hide("an interpreter that is fed by the program"),
            }
        }
        let cwd = self.elsewhere(call);
        self.next.push(Next::Words { words: values, cwd, feeds: false });
    }
}

/// The arguments of a call, by position and by name.
struct Call {
    pos: Vec<Val>,
    opts: Vec<(String, Val)>,
}

impl Call {
    fn opt(&self, name: &str) -> Option<Val> {
        self.opts.iter().find(|(k, _)| k.trim_start_matches(':') == name).map(|(_, v)| v.clone())
    }

    /// Is that option there and not switched off?
    fn on(&self, name: &str) -> bool {
        self.opt(name).is_some_and(|v| match v {
            Val::Name(n) => {
                !matches!(n.as_ref(), "False" | "false" | "FALSE" | "None" | "null" | "nil" | "F")
            }
            _ => true,
        })
    }

    /// Does a request carry data?
    fn sends(&self) -> bool {
        let method = self.opt("method").or_else(|| self.opt("type"));
        let get = |v: &Val| {
            v.whole().is_some_and(|m| {
                matches!(m.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
            })
        };
        method.is_some_and(|m| !get(&m))
            || ["data", "json", "body", "files", "content"].iter().any(|k| self.on(k))
    }
}

impl Val {
    fn element_or_self(self) -> Val {
        match self {
            Val::List(..) => self.element(),
            other => other,
        }
    }
}

/// The files that a pattern names.
fn glob(val: &Val) -> Val {
    match val {
        Val::List(_, items) => Val::any(items.iter().map(glob).collect()),
        _ => match val.string() {
            Some(text) if !text.contains(HOLE) => {
                // Outside of a shell nothing expands braces or a tilde.
                if text.contains(['*', '?', '[']) { Val::Glob(text) } else { Val::Text(text) }
            }
            Some(text) => Val::Text(text),
            None => Val::Unknown,
        },
    }
}

/// The directory of a path.
fn parent(val: &Val) -> Val {
    match val.string() {
        Some(text) if !text.ends_with(HOLE) => match text.trim_end_matches('/').rsplit_once('/') {
            Some(("", _)) => Val::text("/"),
            Some((dir, _)) => Val::text(dir),
            None if text.contains(HOLE) => Val::Unknown,
            None if text.starts_with('.') => Val::text(".."),
            None => Val::text("."),
        },
        _ => Val::Unknown,
    }
}
