//! Names: what they stand for, and what their members and elements are.

use super::*;
use crate::effect::emitter::ScriptFile;
use crate::effect::program::code::scan::given;
use crate::limits;
use crate::names::scan::{GLOBALS, INNER};

impl Scan<'_, '_> {
    /// What a name stands for.
    pub fn resolve_name(&mut self, name: &str) -> Val {
        if let Some(given) = self.given(name) {
            return given;
        }
        if let Some(val) = self.env.get(name) {
            return match val {
                Val::Name(other) => self.given(other).unwrap_or_else(|| val.clone()),
                _ => val.clone(),
            };
        }
        if name == "$argn" && self.lang == Lang::Php {
            // A line of standard input.
            return self.input();
        }
        if matches!(name, "__builtins__" | "__loader__") {
            self.emit_hidden("a program that reaches into its interpreter");
        }
        Val::name(name)
    }

    /// The file that the program stands in, or its directory, by the name that it has there.
    pub(super) fn own_place(&self, name: &str) -> Option<Val> {
        let file = match (self.lang, name) {
            (Lang::Python, "__file__") | (Lang::Ruby, "__FILE__") => true,
            (Lang::Js, "__filename" | "import.meta.filename" | "import.meta.path") => true,
            (Lang::Js, "import.meta.url") => true,
            (Lang::Js, "__dirname" | "import.meta.dirname" | "import.meta.dir") => false,
            (Lang::Ruby, "__dir__") => false,
            _ => return None,
        };
        if self.env.contains_key(name) {
            return None;
        }
        match (&self.out.script, file) {
            (ScriptFile::At(script), true) => Some(Val::text(script)),
            (ScriptFile::At(script), false) => Some(parent_directory(&Val::text(script))),
            // `node -e`
            (ScriptFile::Inline, false) if name == "__dirname" && !self.out.in_script => {
                Some(Val::text("."))
            }
            _ => None,
        }
    }

    /// What the call gives the program, by the name that it has there.
    fn given(&self, name: &str) -> Option<Val> {
        if let Some(place) = self.own_place(name) {
            return Some(place);
        }
        if name == "sys.stdin" && self.lang == Lang::Python && !self.out.lines.is_empty() {
            let line = |value: &Value| match value.is_found() {
                true => Val::text(&format!("{}{NAMED}", value.known_start())),
                false => given(value),
            };
            return Some(Val::any_of(self.out.lines.iter().map(line).collect()));
        }
        let is = match self.lang {
            Lang::Python => name == "sys.argv",
            Lang::Js => name == "process.argv",
            Lang::Ruby => name == "ARGV",
            _ => false,
        };
        match &self.arguments[..] {
            _ if !is => None,
            // Its own name, at most.
            [] => self.bare.then(|| Val::list(vec![Val::Scalar])),
            given => Some(Val::list(given.to_vec())),
        }
    }

    /// A member of a value.
    pub fn resolve_member(&mut self, val: Val, name: &str) -> Val {
        // The classes above one, and those that the project made of its own one, only show what there is.
        let shown = match (&val, name) {
            (Val::Name(from), "__subclasses__") => {
                !matches!(from.as_ref(), "object" | "type") && !from.contains("__")
            }
            (_, name) => name == "__mro__",
        };
        if INNER.contains(&name) && !shown {
            self.emit_hidden("a program that reaches into its interpreter");
        }
        match val {
            Val::Name(from) => {
                if GLOBALS.contains(&from.as_ref()) {
                    return Val::name(name);
                }
                if from.as_ref() == "fs" && name == "promises" {
                    return Val::Name(from);
                }
                if matches!(name, "then" | "catch" | "finally") {
                    return Val::Member((Val::Name(from), name.to_string()).into());
                }
                match (from.as_ref(), name) {
                    ("process.env", _) => return self.environment_value(&Val::text(name)),
                    ("sys", "executable") => return Val::text("python3"),
                    ("process", "execPath") => return Val::text("node"),
                    _ => {}
                }
                let full = format!("{from}.{name}");
                if let Some(given) = self.given(&full) {
                    return given;
                }
                match self.env.get(&full) {
                    Some(val) => val.clone(),
                    // A module that another one has imported: `glob.os.system`.
                    None if self.lang == Lang::Python
                        && matches!(name, "os" | "_os" | "subprocess" | "shutil" | "_shutil")
                        && !from.starts_with(['(', '_'])
                        && !matches!(from.as_ref(), "self" | "cls" | "asyncio") =>
                    {
                        Val::name(name.trim_start_matches('_'))
                    }
                    None => Val::name(&full),
                }
            }
            Val::Member(inner) => {
                if inner.1 == "constructor" && name == "constructor" {
                    self.emit_hidden("a program that makes functions from text");
                }
                let val = self.resolve_bare(Val::Member(inner));
                if let Val::Name(_) = val {
                    return self.resolve_member(val, name);
                }
                let lost =
                    matches!(&val, Val::Member(inner) if !matches!(&*inner.1, EVERY_ROW | HANDLE));
                let val = if lost { Val::Unknown } else { val };
                Val::Member((val, name.to_string()).into())
            }
            // One of several modules.
            Val::Any(_, items) if items.iter().any(|item| matches!(item, Val::Name(_))) => {
                Val::any_of(items.iter().map(|i| self.resolve_member(i.clone(), name)).collect())
            }
            Val::Dict(_, items) => match items.iter().find(|(k, _)| k == name) {
                Some((_, val)) => val.clone(),
                None => Val::Member((Val::Dict(1, items.clone()), name.to_string()).into()),
            },
            other => Val::Member((other, name.to_string()).into()),
        }
    }

    /// A name or member that is not called.
    pub fn resolve_bare(&mut self, val: Val) -> Val {
        let calls = matches!(self.lang, Lang::Perl | Lang::Ruby);
        if let Val::Name(name) = &val {
            self.record_escape(name);
            if self.out.unread && is_input(&val, self.lang) {
                return Val::Fed;
            }
        }
        match &val {
            Val::Name(name)
                if calls
                    && (self.find_row(name).is_some()
                        || name
                            .rfind('.')
                            .is_some_and(|at| self.rows.contains_key(&name[at..]))) =>
            {
                self.call_value(val.clone(), Vec::new())
            }
            Val::Member(inner) => match (&inner.0, inner.1.as_str()) {
                (Val::Fed, _) => Val::Fed,
                (Val::Stored, _) => Val::Stored,
                // What a program has printed that lists files.
                (Val::Text(text), "stdout") if text.ends_with(GAPS) => inner.0.clone(),
                (Val::Path(path), "parent" | "dirname") => Val::path(parent_directory(path)),
                (Val::Any(_, items), "parent") if inner.0.is_path() => {
                    Val::path(Val::any_of(items.iter().map(parent_directory).collect()))
                }
                (Val::Path(_), "path" | "pathname") => inner.0.clone(),
                (Val::Path(_), "name" | "stem" | "suffix") => Val::text(&NAMED.to_string()),
                (Val::Path(_), "parts") => Val::Unknown,
                (Val::List(..), "length" | "size" | "count") => Val::Scalar,
                _ if calls
                    && (self.rows.contains_key(format!(".{}", inner.1).as_str())
                        || matches!(inner.0, Val::Path(_))
                            && self.rows.contains_key(format!("Path.{}", inner.1).as_str())) =>
                {
                    self.call_value(val.clone(), Vec::new())
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
    pub fn resolve_index(&mut self, val: Val, args: Vec<CallArg>) -> Val {
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
                            return self.resolve_index(list, args);
                        }
                        rest
                    }
                    _ => name,
                };
                if matches!(
                    all,
                    "os.environ"
                        | "process.env"
                        | "ENV"
                        | "%ENV"
                        | "_ENV"
                        | "_SERVER"
                        | "$_SERVER"
                        | "$_ENV"
                        | "Deno.env"
                ) {
                    return self.environment_value(&key);
                }
                if name == NAMESPACE {
                    self.emit_hidden("a function whose name is known only at run time");
                }
                if name == "Dir" && self.lang == Lang::Ruby {
                    return glob_value(&key);
                }
                // `method(:system)["rm x"]`
                if self.lang == Lang::Ruby && self.rows.contains_key(name) && !name.contains('.') {
                    return self.call_value(val.clone(), args);
                }
                match key.known_text() {
                    Some(text) if name == "sys.modules" => Val::name(&text),
                    Some(text) => self.resolve_member(val.clone(), &text),
                    // `(os.system,)[0]`
                    None if self.rows.contains_key(name) && key == Val::Scalar => val.clone(),
                    None => {
                        let dangerous = matches!(
                            name,
                            "globalThis" | "global" | "window" | "require" | "module"
                        ) || name.contains("__")
                            || self.rows.get(format!("{name}.").as_str()) == Some(&"!")
                                && name != "process";
                        if dangerous && !matches!(key, Val::Scalar) {
                            self.emit_hidden("a function whose name is known only at run time");
                        }
                        Val::Unknown
                    }
                }
            }
            Val::Fed | Val::Stored => val,
            Val::List(..) if args.iter().any(|a| a.key.is_some()) => val,
            // `list[1:]`
            Val::List(..) if args.is_empty() && self.lang == Lang::Python => val,
            Val::List(..) => val.loop_element(),
            Val::Any(_, items) => {
                let each = items.iter().map(|item| self.resolve_index(item.clone(), args.clone()));
                Val::any_of(each.collect())
            }
            Val::Dict(_, items) => match key.known_text() {
                Some(key) => {
                    items.iter().find(|(k, _)| *k == *key).map_or(Val::Unknown, |(_, v)| v.clone())
                }
                None => Val::any_of(items.iter().map(|(_, v)| v.clone()).collect()),
            },
            _ => match key.known_text() {
                Some(text) if self.lang == Lang::Js => self.resolve_member(val, &text),
                _ => Val::Unknown,
            },
        }
    }

    /// `Path(x).parents[n]`
    pub(in super::super) fn ancestor(&self, val: &Val, number: &str) -> Option<Val> {
        let Val::Member(inner) = val else { return None };
        let (Val::Path(path), "parents") = (&inner.0, inner.1.as_str()) else { return None };
        let count: usize = number.parse().ok().filter(|count| *count < limits::WRAPPERS)?;
        let mut above = (**path).clone();
        for _ in 0..=count {
            let up = parent_directory(&above);
            // There are not as many, or nobody means the root.
            if up == above || up.known_text().as_deref() == Some("/") {
                return Some(Val::Unknown);
            }
            above = up;
        }
        Some(Val::path(above))
    }

    /// An environment variable.
    pub(super) fn environment_value(&self, key: &Val) -> Val {
        match key.known_text().as_deref() {
            Some("HOME" | "USERPROFILE") => Val::text(&self.out.place.home),
            Some("TMPDIR" | "TMP" | "TEMP") => Val::text("/tmp"),
            Some("PWD") => Val::text("."),
            Some(key) => {
                let is = |(name, _): &&(String, Option<String>)| name.trim_end_matches('=') == key;
                match self.out.variables.iter().find(is) {
                    Some((_, Some(text))) => Val::text(text),
                    Some(_) => Val::Unknown,
                    // Nobody knows; what the program takes where nothing is set may tell.
                    None => Val::Member((Val::Unknown, UNSET.to_string()).into()),
                }
            }
            None => Val::Unknown,
        }
    }

    /// The row of a name.
    pub fn find_row(&self, name: &str) -> Option<&'static str> {
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
        // R's by their package: `base::unlink`.
        if self.lang == Lang::R
            && let Some((_, last)) = name.split_once('.')
            && let Some(row) = self.rows.get(last)
        {
            return Some(row);
        }
        for (at, _) in name.rmatch_indices('.') {
            if let Some(row) = self.rows.get(&name[..=at]) {
                return Some(row);
            }
        }
        None
    }
}
