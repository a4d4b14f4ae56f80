//! From a name that is called and its arguments to effects, by the rows of [`super::rows`].

use super::lex::Lang;
use super::scan::{CallArg, Scan, fill_template, module_name};
use super::sql;
use super::val::{GAPS, HANDLE, NAMED, QUOTED, UNSET, Val};
use crate::effect::program::Next;
use crate::effect::program::listed;
use crate::effect::program::table::{self, Class};
use crate::effect::value::{BLANK, Value};
use crate::effect::{Extent, Grade, Source, Word};
use crate::limits;
use crate::text::quote_for_shell;

mod emit;
mod name;
mod role;

/// A name of the directory that the program is in, whichever.
const ANY_NAME: &str = "./\u{10fffb}";
/// What argparse makes of the program's arguments, as a name that no language can spell.
const ARGUMENTS: &str = "(arguments)";
/// What a program calls its own names, as a name that no language can spell.
const NAMESPACE: &str = "(namespace)";
/// The names that the environment has in these languages.
pub(super) const ENVIRONMENTS: [&str; 4] = ["os.environ", "process.env", "ENV", "Deno.env"];
/// Where a client's paths begin, as a name that no language can spell.
const BASE: &str = "(base)";
/// What a shell reads as more than words.
const SHELL_SIGNS: [char; 9] = ['|', ';', '&', '<', '>', '$', '`', '\n', '\\'];

/// What a query without a condition selects, as a member that no language can spell.
const EVERY_ROW: &str = "(every row)";

/// Does that command run what it reads from standard input?
pub fn runs_stdin(command: &str) -> bool {
    let name = command.rsplit('/').next().unwrap_or_default();
    table::has_class(name, Class::Interpreter, &[])
}

impl Scan<'_, '_> {
    /// Calls a value.
    pub fn call_value(&mut self, val: Val, mut args: Vec<CallArg>) -> Val {
        match &val {
            Val::Name(name) => self.call_name(name, args),
            Val::Member(inner) => self.call_method(&inner.0, &inner.1, args),
            Val::Text(name) if matches!(self.lang, Lang::Php | Lang::Perl) => {
                self.call_value(Val::name(name), args)
            }
            // `(0, eval)("...")`
            Val::List(_, items) if self.lang == Lang::Js && !items.is_empty() => {
                self.call_value(items[items.len() - 1].clone(), args)
            }
            Val::Any(_, items) => Val::any_of(
                items.iter().map(|item| self.call_value(item.clone(), args.clone())).collect(),
            ),
            // `system(...)("rm x")`
            Val::Stored if self.lang == Lang::Php => {
                self.emit_hidden("a function whose name is known only at run time");
                Val::Unknown
            }
            _ => {
                args.retain(|a| matches!(a.val, Val::Name(_)));
                self.call_callbacks(None, args);
                Val::Unknown
            }
        }
    }

    /// Calls a function by its name.
    fn call_name(&mut self, name: &str, args: Vec<CallArg>) -> Val {
        if self.lang == Lang::Ruby
            && let Some(from) = name.strip_suffix(".method")
            && let Some(text) = args.first().and_then(|a| a.val.known_text())
        {
            return self.resolve_member(Val::name(from), &text);
        }
        let name = match name.strip_prefix("self.") {
            Some(own) if self.lang == Lang::Ruby && self.rows.contains_key(own) => own,
            _ => name,
        };
        // `method(:system).call("rm x")`
        if self.lang == Lang::Ruby
            && let Some((from, "call" | "to_proc" | "curry" | "unbind" | "bind" | "===" | "yield")) =
                name.rsplit_once('.')
            && let from = from.trim_end_matches(".to_proc").trim_end_matches(".curry")
            && self.rows.contains_key(from)
        {
            return match args.is_empty() {
                true => Val::name(from),
                false => self.call_value(Val::name(from), args),
            };
        }
        let row = self.find_row(name);
        if row.is_none() && name.starts_with('(') && self.calls_library(name, &args) {
            return Val::Unknown;
        }
        // A harmless module's members may still be what is harmful on anything: `File.send`.
        if let Some(row) = row.filter(|row| *row != "-") {
            return self.apply_row(row, None, args);
        }
        if let Some((from, last)) = name.rsplit_once('.')
            && let Some(method) = self.find_row(&format!(".{last}"))
            && !self.rows.contains_key(name)
        {
            return self.apply_row(method, Some(Val::name(from)), args);
        }
        if row.is_none() {
            self.emit_named_secrets(name, &args);
            let variable = name.starts_with('$') && !name.contains('.');
            if variable && matches!(self.lang, Lang::Php | Lang::Perl) {
                self.emit_hidden("a function whose name is known only at run time");
            }
            self.record_call(name, &args);
        }
        if let ([function, items], "map", Lang::Python) = (&args[..], name, self.lang) {
            let each = CallArg { key: None, val: items.val.loop_element(), block: false };
            let made = self.call_value(function.val.clone(), vec![each]);
            return Val::list(vec![made]);
        }
        let kept = match (&args[..], name, self.lang) {
            ([_, items], "filter", Lang::Python) => items.val.clone(),
            _ => Val::Unknown,
        };
        self.call_callbacks(None, args);
        kept
    }

    /// Calls a method of a value.
    fn call_method(&mut self, from: &Val, method: &str, args: Vec<CallArg>) -> Val {
        let dotted = format!(".{method}");
        let row = match from.is_path() {
            true => self.rows.get(format!("Path{dotted}").as_str()).copied(),
            false => None,
        };
        if let Some(row) = row.or_else(|| self.find_row(&dotted)) {
            return self.apply_row(row, Some(from.clone()), args);
        }
        let first = args.first().and_then(|a| a.val.known_text());
        match (from, method) {
            (Val::Text(_), "join") if self.lang == Lang::Python => {
                match args.first().map(|a| &a.val) {
                    Some(Val::List(_, items)) => {
                        join_items(items, &from.known_text().unwrap_or_default())
                    }
                    _ => Val::Unknown,
                }
            }
            (Val::Text(_) | Val::Glob(_) | Val::Any(..), "replace")
                if self.lang == Lang::Python =>
            {
                match &args[..] {
                    [old, new] => match (old.val.known_text(), new.val.known_text()) {
                        (Some(old), Some(new)) => from.replaced(&old, &new),
                        _ => Val::Unknown,
                    },
                    _ => Val::Unknown,
                }
            }
            // A file whose text is known.
            (Val::Text(_), "read") => from.clone(),
            (Val::Dict(_, items), "get") => {
                let found = items.iter().find(|(key, _)| Some(key.as_str()) == first.as_deref());
                found.map_or(Val::Unknown, |(_, val)| val.clone())
            }
            (Val::Dict(..), "entries") => from.members("pairs"),
            (Val::Dict(..), "keys" | "values") => from.members(method),
            (Val::List(..), "slice") => from.clone(),
            (Val::List(_, items), "join") => join_items(items, &first.unwrap_or_default()),
            (Val::Any(_, items), "read" | "readlines" | "split" | "splitlines") => {
                let each = |item: &Val| self.call_method(item, method, args.clone());
                Val::any_of(items.iter().map(each).collect())
            }
            // A list that a program prints, or a directory's names.
            (Val::Text(text), "readlines" | "split" | "splitlines")
                if text.ends_with(GAPS) && (args.is_empty() || first.as_deref() == Some("\n")) =>
            {
                from.clone()
            }
            (Val::Text(text), "splitlines") => Val::list(text.lines().map(Val::text).collect()),
            (Val::Text(text), "split") if first.as_deref() == Some("\n") => {
                Val::list(text.split('\n').map(Val::text).collect())
            }
            (Val::Text(text), "split") if args.is_empty() || first.as_deref() == Some(" ") => {
                Val::list(text.split_whitespace().map(Val::text).collect())
            }
            (Val::Text(_), "concat") => {
                args.into_iter().fold(from.clone(), |a, b| a.join(&b.val, ""))
            }
            (Val::Text(_), "format") => {
                let given: Vec<Val> = args.into_iter().map(|a| a.val).collect();
                fill_template(from, &given)
            }
            (Val::Name(_) | Val::Member(_), "call" | "apply" | "bind" | "()") => {
                self.call_value(from.clone(), args)
            }
            _ => {
                self.emit_named_secrets(method, &args);
                let came = matches!(from, Val::Fed | Val::Stored);
                self.call_callbacks(Some(from.clone()), args);
                if came { from.clone() } else { Val::Unknown }
            }
        }
    }

    /// A function of a row that is handed to another one: it is called with what else is there.
    fn call_callbacks(&mut self, from: Option<Val>, args: Vec<CallArg>) {
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
            let mut rest: Vec<CallArg> = Vec::new();
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
                        rest.push(CallArg {
                            key: None,
                            val: Val::any_of(items.to_vec()),
                            block: false,
                        });
                    }
                    Val::Scalar | Val::Name(_) => {}
                    val => {
                        rest.push(CallArg { key: None, val: val.element_or_self(), block: false })
                    }
                }
            }
            if rest.is_empty() {
                rest.push(CallArg { key: None, val: Val::Unknown, block: false });
            }
            self.apply_row(row, None, rest);
        }
    }

    /// Carries out a row.
    pub(super) fn apply_row(
        &mut self,
        row: &'static str,
        from: Option<Val>,
        args: Vec<CallArg>,
    ) -> Val {
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
        let call = CallArguments { pos, opts };
        let mut result = Val::Unknown;
        let mut i = 0;
        for part in row.trim_start_matches('~').split(' ') {
            if let Some(kind) = part.strip_prefix("->") {
                result = self.returned_value(kind, &call);
            } else if let Some(kind) = part.strip_prefix('@') {
                self.emit_whole_call(kind, &call);
            } else if let Some(kind) = part.strip_suffix('*') {
                for val in call.pos.iter().skip(i) {
                    self.emit_role(kind, val, &call);
                }
            } else if matches!(
                part,
                "!" | "process"
                    | "listen"
                    | "network"
                    | "drops"
                    | "removes"
                    | "grants"
                    | "secret"
                    | ""
            ) {
                self.emit_role(part, &Val::Unknown, &call);
            } else {
                if let Some(val) = call.pos.get(i) {
                    self.emit_role(part, val, &call);
                }
                i += 1;
            }
        }
        result
    }

    /// What a call returns, by the word behind the `->` of a row.
    fn returned_value(&mut self, kind: &str, call: &CallArguments) -> Val {
        match kind {
            "stored" => self.stored(&call.at(0)),
            "stdin" => self.input(),
            "require" | "(repo)" | "(archive)" | "(repo).remotes" | "(docker)" => Val::name(kind),
            // A client has the functions of its module.
            "requests" | "axios" => {
                let base =
                    ["base_url", "baseURL", "prefixUrl"].iter().find_map(|o| call.find_option(o));
                if let Some(base) = base {
                    self.env.insert(BASE.to_string(), base);
                }
                Val::name(kind)
            }
            "handle" => Val::Member((call.at(0), HANDLE.to_string()).into()),
            "opened" => match role::opens_for(call.mode().as_ref()) {
                (_, true) => Val::Member((call.at(0), HANDLE.to_string()).into()),
                _ => self.stored(&call.at(0)),
            },
            "name" => {
                let names =
                    call.at(0).alternatives().into_iter().map(|one| match one.known_text() {
                        Some(text) if self.lang == Lang::Ruby => {
                            Val::name(&text.replace("::", "."))
                        }
                        Some(text) => {
                            self.imports(&text);
                            Val::name(&module_name(&text))
                        }
                        None => Val::Unknown,
                    });
                let names: Vec<Val> = names.collect();
                if names.contains(&Val::Unknown) {
                    self.emit_hidden("a module whose name is known only at run time");
                }
                Val::any_of(names)
            }
            "resolved" => self.resolved_url(call),
            "default" => self.added_argument(call),
            "arguments" if self.bare && self.arguments.is_empty() => Val::name(ARGUMENTS),
            "printed" => self.printed(call),
            "env" => match (self.environment_value(&call.at(0)), call.pos.get(1)) {
                (val, Some(other)) if val.is_unset() => other.clone(),
                (val, _) => val,
            },
            "expand" | "home" | "homepath" => self.at_home(kind, call.at(0)),
            "opttext" => match call.find_option("text") {
                Some(text) => text,
                None => self.stored(&call.at(0)),
            },
            "shift" => self.env.get("@_").map_or(Val::Unknown, Val::loop_element),
            "rubysend" => self.sent(call),
            "method" => match (&call.pos[..], self.lang) {
                ([Val::Text(name)], _) => Val::name(name),
                ([val, Val::Text(name), ..], _) => self.resolve_member(val.clone(), name),
                // `getattr(module, name)` for each of these names.
                ([val, Val::Any(_, names), ..], _) => {
                    let known = names.iter().filter_map(Val::known_text);
                    let all = known.map(|name| self.resolve_member(val.clone(), &name));
                    Val::any_of(all.collect())
                }
                _ => Val::Unknown,
            },
            _ => made(kind, call),
        }
    }

    /// `new URL("../x", import.meta.url)`: a file beside the program's own.
    fn resolved_url(&self, call: &CallArguments) -> Val {
        let own = self.own_place("import.meta.url");
        match (call.at(0).to_text(), own) {
            (Some(text), Some(own))
                if call.at(1) == own && !text.contains([':', '%', '\\', '?']) =>
            {
                Val::path(parent_directory(&own).join(&call.at(0), "/"))
            }
            _ => Val::Unknown,
        }
    }

    /// `add_argument("-o", "--out", default="x")`: what the option is where the call gives none.
    fn added_argument(&mut self, call: &CallArguments) -> Val {
        let names: Vec<_> = call.pos.iter().filter_map(Val::known_text).collect();
        let long = names.iter().find(|name| name.starts_with("--")).or(names.last());
        let own = call.find_option("dest").and_then(|dest| dest.known_text());
        if let Some(name) = own.as_ref().or(long).filter(|name| name.len() < limits::NAME) {
            let name = format!("{ARGUMENTS}.{}", name.trim_start_matches('-').replace('-', "_"));
            let default = call.find_option("default").unwrap_or(Val::Scalar);
            self.env.insert(name, default);
        }
        Val::Unknown
    }

    /// What a program prints: where it lists files, these.
    fn printed(&mut self, call: &CallArguments) -> Val {
        let known =
            |words: &[Val]| words.iter().map(|word| Some(word.known_text()?.to_string())).collect();
        let words: Option<Vec<String>> = match (call.at(0), call.pos.get(1)) {
            (Val::List(_, words), _) => known(&words),
            // `execFileSync(program, [word, ...])`
            (first, Some(Val::List(_, more))) => known(&[&[first][..], &more[..]].concat()),
            (one, _) => one.known_text().filter(|text| !text.contains(SHELL_SIGNS)).map(|text| {
                text.split_whitespace().map(|word| word.trim_matches(['\'', '"']).into()).collect()
            }),
        };
        let named = words.as_ref().is_some_and(|words| {
            let words: Vec<&str> = words.iter().map(String::as_str).collect();
            words.first() == Some(&"git") && listed::names_only(&words[1..])
        });
        let below = words.filter(|_| call.find_option("cwd").is_none());
        match below.and_then(|words| listed::listed_below(&words, self.out.place.programs)) {
            Some(dir) => Val::text(&format!("{}/{NAMED}", dir.trim_end_matches('/'))),
            None if named => Val::text(&NAMED.to_string()),
            None => self.stored(&call.at(0)),
        }
    }

    /// What a file holds: what came over the network, where the call wrote the file.
    fn stored(&mut self, file: &Val) -> Val {
        if *file == Val::Fed {
            return Val::Fed;
        }
        if is_input(file, self.lang) {
            return match self.input() {
                Val::Unknown => Val::Stored,
                known => known,
            };
        }
        let mut values = Vec::new();
        file.push_values(&self.span, &mut values);
        for value in values {
            if value.known_start().contains("://") && !value.known_start().starts_with("php:") {
                return Val::Fed;
            }
            if let Some(target) = self.out.locate_exact(&value)
                && let Some(text) = self.out.written.get(&target.resolved)
            {
                return text.as_ref().map_or(Val::Fed, |text| Val::text(text));
            }
        }
        Val::Stored
    }

    /// What standard input holds.
    pub(super) fn input(&self) -> Val {
        match &self.out.input {
            _ if self.out.unread => Val::Fed,
            Some(text) => Val::text(text),
            None => Val::Unknown,
        }
    }

    /// The home directory, or a path with `~` for it.
    fn at_home(&self, kind: &str, path: Val) -> Val {
        let home = &self.out.place.home;
        match kind {
            "home" => Val::text(home),
            "homepath" => Val::path(Val::text(home)),
            _ => match path.to_text() {
                Some(text) if text.starts_with('~') && !text.starts_with("~+") => {
                    Val::text(&format!("{home}{}", text.trim_start_matches('~')))
                }
                _ => path,
            },
        }
    }

    /// Ruby's `send`: a function by its name, called on what stands before the name.
    fn sent(&mut self, call: &CallArguments) -> Val {
        let at = call.pos.iter().position(|v| matches!(v, Val::Text(_))).filter(|at| *at < 2);
        let Some(at) = at else {
            self.emit_hidden("a function whose name is known only at run time");
            return Val::Unknown;
        };
        let name = call.pos[at].known_text().unwrap_or_default();
        let function = match call.pos[..at].first() {
            Some(from) => self.resolve_member(from.clone(), &name),
            None => Val::name(&name),
        };
        // Kernel's functions answer to every object.
        let function =
            if self.rows.contains_key(name.as_ref()) { Val::name(&name) } else { function };
        let args = call.pos[at + 1..].iter();
        let args = args.map(|v| CallArg { key: None, val: v.clone(), block: false }).collect();
        self.call_value(function, args)
    }
}

/// Does it name standard input? The only number that a file has is that one's.
pub(super) fn is_input(file: &Val, lang: Lang) -> bool {
    match file {
        Val::Scalar => matches!(lang, Lang::Python | Lang::Js),
        Val::Name(name) => {
            let name = name.rsplit('.').find(|part| !matches!(*part, "fd" | "buffer"));
            matches!(name, Some("stdin" | "STDIN" | "$stdin" | "ARGF" | "STDIN_FILENO"))
        }
        file => match file.known_text().as_deref() {
            Some("stdin") => lang == Lang::R,
            Some(text) => {
                matches!(text, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0" | "php://stdin")
            }
            None => false,
        },
    }
}

/// What a call returns that only its arguments tell.
fn made(kind: &str, call: &CallArguments) -> Val {
    let first = call.at(0);
    let whole = || {
        call.pos.iter().cloned().reduce(|a, b| a.join(&b, "/")).unwrap_or_else(|| Val::text("."))
    };
    let below = |val: Val| val.join(&Val::text(&NAMED.to_string()), "/");
    match kind {
        "Path" => Val::path(whole()),
        "join" => whole(),
        "under" if first.is_path() => Val::path(whole()),
        "under" => whole(),
        "self" => first,
        "quoted" => first.quoted(),
        "namespace" if call.pos.is_empty() => Val::name(NAMESPACE),
        "namespace" => first,
        "cwd" => Val::text("."),
        "cwdpath" => Val::path(Val::text(".")),
        "sibling" => Val::path(sibling(&first, &call.at(1))),
        "beside" => Val::path(sibling(&first, &Val::Unknown)),
        "keys" | "values" | "pairs" if matches!(first, Val::Dict(..)) => first.members(kind),
        "keys" | "values" | "pairs" => first,
        "tmp" => Val::text(&format!("/tmp/{BLANK}")),
        "glob" => glob_value(&first),
        "globs" => glob_value(&whole()),
        "below" => below(first),
        "paths" => Val::path(below(first)),
        "parent" => parent_directory(&first),
        "fed" => Val::Fed,
        "rows" => Val::Member((Val::Unknown, EVERY_ROW.to_string()).into()),
        "scalar" => Val::Scalar,
        "template" => Val::name("$"),
        "ppid" => Val::name("ppid"),
        "list" => Val::list(call.pos.clone()),
        "globwords" => match first.known_text() {
            Some(text) => {
                Val::any_of(text.split_whitespace().map(|t| glob_value(&Val::text(t))).collect())
            }
            None => first,
        },
        "zip" => match &first {
            Val::List(_, items) => {
                let pair = |item: &Val| Val::list(vec![Val::Scalar, item.clone()]);
                Val::list(items.iter().map(pair).collect())
            }
            first => Val::list(vec![Val::list(vec![Val::Scalar, first.loop_element()])]),
        },
        "chain" => Val::list(call.pos.iter().map(Val::loop_element).collect()),
        "flat" => Val::list(vec![first.loop_element().loop_element()]),
        "tuples" => Val::list(vec![Val::list(call.pos.iter().map(Val::loop_element).collect())]),
        "collect" if call.pos.is_empty() => Val::list(Vec::new()),
        "collect" => first,
        "table" if call.pos.is_empty() || !call.opts.is_empty() => Val::dict(call.opts.clone()),
        "table" if matches!(first, Val::Dict(..)) => first,
        // Without their directory, they are names of the one that the program is in.
        "names" => Val::text(ANY_NAME),
        "stem" => Val::list(vec![first.cut_end()]),
        "relative" => relative(&first, &call.at(1)),
        "relativepath" => match relative(&first, &call.at(1)) {
            // It is an error where the path does not lie there.
            Val::Unknown => first,
            inside => Val::path(inside),
        },
        _ => Val::Unknown,
    }
}

/// The arguments of a call, by position and by name.
struct CallArguments {
    pos: Vec<Val>,
    opts: Vec<(String, Val)>,
}

impl CallArguments {
    /// The argument at that place.
    fn at(&self, place: usize) -> Val {
        self.pos.get(place).cloned().unwrap_or(Val::Unknown)
    }

    /// The call without its first arguments.
    fn behind(&self, count: usize) -> CallArguments {
        let pos = self.pos.get(count..).unwrap_or_default().to_vec();
        CallArguments { pos, opts: self.opts.clone() }
    }

    /// How a file is opened.
    fn mode(&self) -> Option<Val> {
        self.pos.get(1).cloned().or_else(|| self.find_option("mode"))
    }

    /// What stands behind the first argument.
    fn rest(&self) -> &[Val] {
        self.pos.get(1..).unwrap_or_default()
    }

    fn find_option(&self, name: &str) -> Option<Val> {
        self.opts.iter().find(|(k, _)| k.trim_start_matches(':') == name).map(|(_, v)| v.clone())
    }

    /// Is that option there and not switched off?
    fn is_on(&self, name: &str) -> bool {
        self.find_option(name).is_some_and(|v| match v {
            Val::Name(n) => {
                !matches!(n.as_ref(), "False" | "false" | "FALSE" | "None" | "null" | "nil" | "F")
            }
            _ => true,
        })
    }

    /// Does a request carry data?
    fn sends_data(&self) -> bool {
        let method = self.find_option("method").or_else(|| self.find_option("type"));
        let get = |v: &Val| v.known_text().is_some_and(|method| role::only_asks(&method));
        method.is_some_and(|m| !get(&m))
            || ["data", "json", "body", "files", "content"].iter().any(|k| self.is_on(k))
    }
}

impl Val {
    /// Quoted for a shell, as one word.
    fn quoted(&self) -> Val {
        let plain = |c: char| c.is_ascii_alphanumeric() || "@%+=:,./_-".contains(c);
        match self {
            Val::Any(_, items) => Val::any_of(items.iter().map(Val::quoted).collect()),
            Val::Scalar => Val::Scalar,
            one => match one.known_text() {
                Some(text) => Val::text(&quote_for_shell(&text)),
                // What is known of it stays, where it needs no quotes.
                None => match one.part().replace(GAPS, "") {
                    text if text.chars().all(plain) => {
                        Val::text(&one.part().replace(GAPS, QUOTED.encode_utf8(&mut [0; 4])))
                    }
                    _ => Val::text(&QUOTED.to_string()),
                },
            },
        }
    }

    fn element_or_self(self) -> Val {
        match self {
            Val::List(..) => self.loop_element(),
            other => other,
        }
    }
}

/// A list's items as one text.
fn join_items(items: &[Val], between: &str) -> Val {
    items.iter().cloned().reduce(|a, b| a.join(&b, between)).unwrap_or(Val::Unknown)
}

/// The files that a pattern names.
fn glob_value(val: &Val) -> Val {
    match val {
        Val::List(_, items) | Val::Any(_, items) => {
            Val::any_of(items.iter().map(glob_value).collect())
        }
        _ => match val.to_text() {
            Some(text) if !text.contains(BLANK) => {
                // Outside of a shell nothing expands braces or a tilde.
                if text.contains(['*', '?', '[']) { Val::Glob(text) } else { Val::Text(text) }
            }
            Some(text) => Val::Text(text),
            None => Val::Unknown,
        },
    }
}

/// A path as it is seen from a directory, where it lies below that.
fn relative(path: &Val, start: &Val) -> Val {
    let (Some(start), Some(_)) = (start.known_text(), path.to_text()) else { return Val::Unknown };
    let start = start.trim_end_matches('/');
    let of_glob = |val: &Val| matches!(val, Val::Glob(_));
    let glob = match path {
        Val::Path(inner) => of_glob(inner),
        other => of_glob(other),
    };
    let text = path.as_key();
    match text.strip_prefix(start).and_then(|rest| rest.strip_prefix('/')) {
        Some(rest) if !start.is_empty() && !glob => Val::text(&format!("./{rest}")),
        _ => Val::Unknown,
    }
}

/// A file beside another one; without its name, any.
fn sibling(val: &Val, name: &Val) -> Val {
    let name = if *name == Val::Unknown { Val::text(&BLANK.to_string()) } else { name.clone() };
    match val {
        Val::Any(_, items) => Val::any_of(items.iter().map(|one| sibling(one, &name)).collect()),
        // Somewhere below a directory: so is what stands beside it.
        _ if val
            .to_text()
            .is_some_and(|text| text.strip_suffix(BLANK).is_some_and(|dir| dir.ends_with('/'))) =>
        {
            val.clone()
        }
        _ => parent_directory(val).join(&name, "/"),
    }
}

/// The directory of a path.
fn parent_directory(val: &Val) -> Val {
    if let Val::Any(_, items) = val {
        return Val::any_of(items.iter().map(parent_directory).collect());
    }
    let of_glob = |val: &Val| match val {
        Val::Glob(text) => Some(text.clone()),
        _ => None,
    };
    let found = match val {
        Val::Path(inner) => of_glob(inner),
        _ => of_glob(val),
    };
    if let Some(text) = found {
        return match text.rsplit_once('/') {
            Some((dir, _)) if !crate::glob::has_active(dir) => Val::text(dir),
            Some(_) => Val::Unknown,
            None => Val::text("."),
        };
    }
    match val.to_text() {
        // Something below a directory lies in it or deeper.
        Some(text) if text.find(BLANK).is_some_and(|at| text[at..].chars().count() == 1) => {
            match text.rsplit_once('/') {
                Some((dir, _)) => {
                    let dir = if dir.is_empty() { "/" } else { dir };
                    let deeper = Val::text(dir).join(&Val::text(&BLANK.to_string()), "/");
                    Val::any_of(vec![Val::text(dir), deeper])
                }
                None => Val::Unknown,
            }
        }
        // The root is its own, and one more step up is not one less.
        Some(text) if text.starts_with('/') && text.trim_end_matches('/').is_empty() => {
            Val::text("/")
        }
        Some(text) if text.trim_end_matches('/').ends_with("/..") => {
            Val::text(&format!("{text}/.."))
        }
        Some(text) if !text.ends_with(BLANK) => match text.trim_end_matches('/').rsplit_once('/') {
            Some(("", _)) => Val::text("/"),
            Some((dir, _)) => Val::text(dir),
            None if text.contains(BLANK) => Val::Unknown,
            None if text.starts_with('.') => Val::text(".."),
            None => Val::text("."),
        },
        _ => Val::Unknown,
    }
}
