//! What the arguments of a known function are to it.

use super::*;
use crate::effect::host::decode_percent;
use crate::effect::secret;

/// What a role of one argument does to a path: `read`, `writetree` ... `deep` where an option says so.
const PATHS: &[(&str, &[(Word, Extent)])] = &[
    ("read", &[(Word::Read, Extent::Exact)]),
    ("readtree", &[(Word::Read, Extent::Tree)]),
    ("write", &[(Word::Write, Extent::Exact)]),
    ("writetree", &[(Word::Write, Extent::Tree)]),
    ("edit", &[(Word::Read, Extent::Exact), (Word::Write, Extent::Exact)]),
    ("delete", &[(Word::Delete, Extent::Exact)]),
    ("deletetree", &[(Word::Delete, Extent::Tree)]),
    ("move", &[(Word::Read, Extent::Tree), (Word::Delete, Extent::Tree)]),
    ("perm", &[(Word::Permission, Extent::Exact)]),
    ("permtree", &[(Word::Permission, Extent::Tree)]),
];

/// What looks at a whole call, by the word behind the `@` of a row.
type Whole = fn(&mut Scan, &CallArguments);
const WHOLE: &[(&str, Whole)] = &[
    ("argv", |scan, call| scan.run_words(call.pos.clone(), call)),
    ("bind", |scan, call| scan.bound(call)),
    ("callback", |scan, call| scan.called_back(call)),
    ("chdir", |scan, call| scan.goes(call)),
    ("cmd", |scan, call| scan.command(call)),
    ("curl", |scan, call| scan.curl_option(call)),
    ("denocmd", |scan, call| scan.deno_command(call)),
    ("destroys", |scan, call| scan.destroys(call)),
    ("emptied", |scan, call| scan.empties(call)),
    ("everyrow", |scan, call| scan.deletes_model(call)),
    ("execl", |scan, call| scan.listed(&call.pos, call)),
    ("execv", |scan, call| scan.vector(&call.pos, call)),
    ("extract", |scan, call| scan.extracts(call, "path")),
    ("fetch", |scan, call| scan.fetches(call, true)),
    ("fork", |scan, call| scan.forks(call)),
    ("get", |scan, call| scan.fetches(call, false)),
    ("getattr", |scan, call| scan.attribute(call)),
    ("getfun", |scan, call| scan.function(call)),
    ("include", |scan, call| {
        if let Val::Name(module) = call.at(0) {
            scan.import_all(module.split('.').next().unwrap_or_default());
        }
    }),
    ("kill", |scan, call| scan.kills(call)),
    ("later", |scan, call| {
        call.pos.first().and_then(Val::known_text).iter().for_each(|text| scan.scan_program(text));
        if let [function @ Val::Name(_), rest @ ..] = &call.pos[..] {
            let rest: Vec<Val> = rest.iter().filter(|v| **v != Val::Scalar).cloned().collect();
            scan.call_with(function, &rest);
        }
    }),
    ("members", |scan, call| scan.lists_members(call)),
    ("named", |scan, call| scan.names_function(call)),
    ("netconnect", |scan, call| scan.connects(call)),
    ("open", |scan, call| scan.opens(call)),
    // Behind the handles.
    ("open2", |scan, call| scan.system(&call.behind(2))),
    ("open3", |scan, call| scan.system(&call.behind(3))),
    ("logs", |scan, call| {
        if let Some(file) = call.find_option("filename") {
            scan.emit_path(Word::Write, &file, Extent::Exact);
        }
    }),
    ("netrc", |scan, call| {
        let own = Val::text("~/.netrc");
        scan.emit_path(Word::Read, call.pos.first().unwrap_or(&own), Extent::Exact);
    }),
    ("packs", |scan, call| {
        if let Some(dir) = call.find_option("root_dir") {
            scan.emit_path(Word::Read, &dir, Extent::Tree);
        }
    }),
    ("perlopen", |scan, call| scan.perl_open(call)),
    ("perlsock", |scan, call| scan.perl_socket(call)),
    ("perlsysopen", |scan, call| scan.emit_open(&call.at(1), call.pos.get(2))),
    ("request", |scan, call| scan.requests(call)),
    // A file of Python that a program loads.
    ("pyfile", |scan, call| scan.run_words(vec![Val::text("python3"), call.at(1)], call)),
    ("loads", |scan, call| scan.loads(call)),
    ("requires", |scan, call| {
        // A bare name is a module's.
        if let Some(text) = call.at(0).known_text().filter(|text| text.contains('/')) {
            scan.runs_module(&text);
        }
    }),
    ("runs", |scan, call| {
        // Lua's `dofile()`
        scan.runs_file(call.pos.first().unwrap_or(&Val::text("/dev/stdin")));
    }),
    ("streams", |scan, call| scan.streams(call)),
    ("wrote", |scan, call| scan.keeps(&call.at(0), &call.at(1))),
    ("yaml", |scan, call| {
        let by = call.pos.get(1).cloned().or_else(|| call.find_option("Loader"));
        if matches!(by, Some(Val::Name(name)) if name.ends_with(".Loader") || name.ends_with("UnsafeLoader"))
        {
            scan.loads(call);
        }
    }),
    ("rubyopen", |scan, call| {
        if !scan.piped(call) {
            scan.opens(call);
        }
    }),
    ("rubyread", |scan, call| {
        if !scan.piped(call) {
            scan.emit_path(Word::Read, &call.at(0), Extent::Exact);
        }
    }),
    ("sock", |scan, call| scan.socket(call)),
    ("setenv", |scan, call| {
        let pair = call.at(0).known_text().zip(call.pos.get(1).cloned());
        let pair = pair.map(|(name, val)| (name.to_string(), val));
        let text = call.at(0).known_text();
        // PHP's `putenv("NAME=value")`
        let glued = text.as_ref().and_then(|text| text.split_once('='));
        let glued = glued.map(|(name, val)| (name.to_string(), Val::text(val)));
        for (name, val) in pair.into_iter().chain(glued).chain(call.opts.clone()) {
            scan.env.insert(format!("ENV.{name}"), val);
        }
    }),
    ("shellspawn", |scan, call| scan.spawns(call, true)),
    ("spawn", |scan, call| scan.spawns(call, call.is_on("shell"))),
    ("spawnl", |scan, call| scan.listed(call.rest(), call)),
    ("spawnv", |scan, call| scan.vector(call.rest(), call)),
    ("system", |scan, call| scan.system(call)),
    ("template", |scan, call| scan.runs_template(call)),
    ("text", |scan, call| scan.writes_text(call)),
    ("unarchive", |scan, call| {
        scan.emit_path(Word::Read, &call.at(0), Extent::Exact);
        scan.extracts(call, "extract_dir");
    }),
];

/// Rows are deleted or changed without a condition.
const DELETE_ALL: Word = Word::Named("database.delete-all");

/// Why a call is not understood that names its function itself.
const OPEN_NAME: &str = "a function whose name is known only at run time";

impl Scan<'_, '_> {
    /// Effects of one argument.
    pub(super) fn emit_role(&mut self, kind: &str, val: &Val, call: &CallArguments) {
        if self.silent {
            return;
        }
        if let Some((_, effects)) = PATHS.iter().find(|(own, _)| *own == kind) {
            let deep = matches!(kind, "delete" | "perm")
                && ["recursive", "recurse", "r"].iter().any(|name| call.is_on(name));
            // Each name of the directory, with all below it, is the whole directory.
            let any = kind == "deletetree" && matches!(val, Val::Text(text) if **text == *ANY_NAME);
            let whole = any.then(|| Val::Glob("*".into()));
            let val = whole.as_ref().unwrap_or(val);
            for (word, extent) in *effects {
                self.emit_path(*word, val, if deep { Extent::Tree } else { *extent });
            }
            return;
        }
        match kind {
            "-" | "" => {}
            // Of a method that many things have: where nothing is known of it, it is no path.
            "saved" if val.part().starts_with(BLANK) => {}
            "saved" => self.emit_path(Word::Write, val, Extent::Exact),
            "!" => self.emit_hidden("an inline program that hides what it does"),
            "link" => {
                let from = self.out.analysis.effects.len();
                self.emit_path(Word::Read, val, Extent::Exact);
                self.out.emit_second_names(from);
            }
            "url" | "send" => self.emit_contact(val, kind == "send" || call.sends_data()),
            "host" => self.emit_contact(val, true),
            // A name or address that is put together may carry data.
            "asked" => {
                let text = val.to_text().filter(|_| val.known_text().is_none());
                if text.is_some_and(|text| text.contains(|c: char| c != BLANK)) {
                    self.emit_contact(val, true);
                }
            }
            "network" => self.push(Word::Network),
            "listen" => self.push(Word::Listen),
            "drops" => self.push(Word::Named("database.drop")),
            "removes" => self.push(Word::Named("cloud.delete")),
            "grants" => self.push(Word::Named("cloud.grant")),
            "secret" => self.push(Word::Named("cloud.secret")),
            "process" => self.push(Word::Process),
            "sh" => self.run_shell_text(val, call),
            "code" => self.evaluates(val),
            "fetched" => {
                self.emit_path(Word::Write, val, Extent::Exact);
                self.keep_text(val, &Val::Fed, false);
            }
            "sql" => {
                for text in val.alternatives().iter().filter_map(Val::to_text) {
                    let span = self.span.clone();
                    sql::emit_embedded(self.out, &text.replace(BLANK, "?"), &span);
                }
            }
            _ => debug_assert!(false, "no such role: {kind}"),
        }
    }

    /// Text of the same language that runs.
    fn evaluates(&mut self, val: &Val) {
        match val {
            // `perl -ne 'eval $_'`
            Val::Name(name) if **name == *"$_" && self.out.unread => {
                self.push(Word::PipeToInterpreter);
            }
            Val::Name(_) if self.lang != Lang::Python => {}
            Val::Scalar | Val::Stored | Val::List(..) | Val::Dict(..) => {}
            Val::Fed => self.push(Word::PipeToInterpreter),
            val => {
                for one in val.alternatives() {
                    match one.known_text() {
                        Some(text) => self.scan_program(&text),
                        None => self.emit_hidden("program text known only at run time"),
                    }
                }
            }
        }
    }

    /// Libraries that are a program's own words: what they do is what the program does.
    pub(super) fn calls_library(&mut self, name: &str, args: &[CallArg]) -> bool {
        let own = name.strip_prefix("(repo).");
        let git = own
            .and_then(|own| own.strip_prefix("git."))
            .or_else(|| own.and_then(|own| own.strip_prefix("remotes")?.rsplit('.').next()));
        let docker = name.strip_prefix("(docker).");
        let none = CallArguments { pos: Vec::new(), opts: Vec::new() };
        let mut words: Vec<Val> = match (git, docker) {
            (Some("execute"), _) => {
                let words = args.first().map_or(Val::Unknown, |arg| arg.val.clone());
                self.emit_whole_call("system", &CallArguments { pos: vec![words], ..none });
                return true;
            }
            (Some(git), _) => vec![Val::text("git"), Val::text(&git.replace('_', "-"))],
            (None, Some(docker)) => {
                let words = docker.split('.').map(|word| Val::text(word.trim_end_matches('s')));
                std::iter::once(Val::text("docker")).chain(words).collect()
            }
            _ => return own.is_some(),
        };
        // `force=True`
        let is_on = |arg: &&CallArg| matches!(&arg.val, Val::Name(name) if **name == *"True");
        for key in args.iter().filter(is_on).filter_map(|arg| arg.key.as_ref()) {
            let dash = if key.len() == 1 { "-" } else { "--" };
            words.push(Val::text(&format!("{dash}{}", key.replace('_', "-"))));
        }
        words.extend(args.iter().filter(|arg| arg.key.is_none()).map(|arg| arg.val.clone()));
        if !self.silent {
            self.run_words(words, &none);
        }
        true
    }

    /// A function that nobody knows and whose name says that it reads is given a file of secrets.
    pub(super) fn emit_named_secrets(&mut self, name: &str, args: &[CallArg]) {
        const READS: &[&str] = &[
            "read", "load", "open", "parse", "file", "upload", "copy", "zip", "tar", "archive",
            "send", "put", "cat", "dump", "netrc", "getline", "show", "json",
        ];
        let last = name.rsplit('.').next().unwrap_or(name).to_ascii_lowercase();
        if self.silent || !READS.iter().any(|own| last.contains(own)) {
            return;
        }
        for arg in args {
            for one in arg.val.clone().element_or_self().alternatives() {
                let path = one.known_text().filter(|text| {
                    text.starts_with(['/', '~']) && !text.contains(['\n', ' ', '*'])
                });
                if let Some(path) =
                    path.filter(|path| secret::is_told(path) || secret::is_file(path))
                {
                    self.emit_path(Word::Read, &Val::text(&path), Extent::Exact);
                }
            }
        }
    }

    /// What a whole call does.
    pub(super) fn emit_whole_call(&mut self, kind: &str, call: &CallArguments) {
        // These are the only ones that learn something in the first walk.
        if self.silent {
            return;
        }
        match WHOLE.iter().find(|(own, _)| *own == kind) {
            Some((_, read)) => read(self, call),
            None => debug_assert!(false, "no such call: {kind}"),
        }
    }

    /// Rows are deleted, of whatever the receiver selects: of a model, or of all of one, each.
    fn deletes_model(&mut self, call: &CallArguments) {
        let all = match call.at(0) {
            Val::Member(inner) => inner.1 == EVERY_ROW,
            Val::Name(name) => {
                name.starts_with(|c: char| c.is_ascii_uppercase())
                    && matches!(self.lang, Lang::Ruby | Lang::Php)
            }
            _ => false,
        };
        if all {
            self.push(DELETE_ALL);
        }
    }

    /// Rows are deleted or changed by a condition, the first argument: there is none, or an empty one.
    fn empties(&mut self, call: &CallArguments) {
        if call.opts.is_empty() && call.rest().iter().all(is_empty) {
            self.push(DELETE_ALL);
        }
    }

    /// `Model.destroy({ where: {}, truncate: true })`
    fn destroys(&mut self, call: &CallArguments) {
        if call.is_on("truncate") || call.find_option("where").is_some_and(|val| is_empty(&val)) {
            self.push(DELETE_ALL);
        }
    }

    /// A file by its name and its mode.
    fn opens(&mut self, call: &CallArguments) {
        if call.at(0) != Val::Scalar {
            self.emit_open(&call.at(0), call.mode().as_ref());
        }
    }

    /// A command behind a bar, where Ruby takes a file's name.
    fn piped(&mut self, call: &CallArguments) -> bool {
        let text = call.at(0).to_text().unwrap_or_default();
        let command = text.strip_prefix('|');
        command.iter().for_each(|command| self.run_shell_text(&Val::text(command), call));
        command.is_some()
    }

    /// Words, or text for a shell.
    fn command(&mut self, call: &CallArguments) {
        match call.at(0) {
            one @ Val::List(..) if call.is_on("shell") => {
                self.run_shell_text(&one.loop_element(), call)
            }
            Val::List(_, items) => self.run_words(items.to_vec(), call),
            any @ Val::Any(..) => {
                for one in any.alternatives() {
                    match one {
                        Val::List(_, items) => self.run_words(items.to_vec(), call),
                        one => self.run_shell_text(&one, call),
                    }
                }
            }
            one => self.run_shell_text(&one, call),
        }
    }

    /// One argument is text for a shell, several are words.
    fn system(&mut self, call: &CallArguments) {
        let plain = call.pos.iter().filter(|v| !matches!(v, Val::Dict(..)));
        let plain: Vec<Val> = plain.cloned().collect();
        match &plain[..] {
            [Val::List(_, items)] => self.run_words(items.to_vec(), call),
            [one] => self.run_shell_text(one, call),
            _ => self.run_words(plain, call),
        }
    }

    /// A program, and the list of its arguments; `shell` = one reads them.
    fn spawns(&mut self, call: &CallArguments, shell: bool) {
        let mut words = vec![call.at(0)];
        match call.pos.get(1) {
            Some(Val::List(_, items)) => words.extend(items.iter().cloned()),
            Some(Val::Dict(..) | Val::Scalar) | None => {}
            Some(_) => words.push(Val::Unknown),
        }
        match shell {
            true => self.run_shell_text(&join_items(&words, " "), call),
            false => self.run_words(words, call),
        }
    }

    /// A script that node runs.
    fn forks(&mut self, call: &CallArguments) {
        // A worker's first argument may be its program.
        if call.is_on("eval") || call.at(0).part().starts_with("data:") {
            return self.emit_hidden("program text known only at run time");
        }
        let mut words = vec![Val::text("node"), call.at(0)];
        if let Some(Val::List(_, items)) = call.pos.get(1) {
            words.extend(items.iter().cloned());
        }
        self.run_words(words, call);
    }

    /// `exec(path, [name, ...])`
    fn vector(&mut self, all: &[Val], call: &CallArguments) {
        let mut words: Vec<Val> = all.first().cloned().into_iter().collect();
        match all.get(1) {
            Some(Val::List(_, items)) => words.extend(items.iter().skip(1).cloned()),
            None => {}
            Some(_) => words.push(Val::Unknown),
        }
        self.run_words(words, call);
    }

    /// `exec(path, name, ...)`
    fn listed(&mut self, all: &[Val], call: &CallArguments) {
        self.run_words(all.iter().take(1).chain(all.iter().skip(2)).cloned().collect(), call);
    }

    fn attribute(&mut self, call: &CallArguments) {
        let Some(name) = call.pos.get(1) else { return };
        if name.alternatives().iter().all(|one| one.known_text().is_some()) {
            return;
        }
        // Of a module whose functions do no harm it is one of these.
        let told = |one: &Val| match one {
            Val::Name(name) => name.contains('.') && !name.contains("__"),
            _ => false,
        };
        match call.at(0).alternatives().iter().all(told) {
            true => self.lists_members(call),
            false => self.emit_hidden(OPEN_NAME),
        }
    }

    /// A function is called with these values.
    fn call_with(&mut self, function: &Val, rest: &[Val]) {
        let args = rest.iter();
        let args = args.map(|v| CallArg { key: None, val: v.clone(), block: false }).collect();
        self.call_value(function.clone(), args);
    }

    /// A signal for processes, by their numbers: as the program `kill` would send it.
    fn kills(&mut self, call: &CallArguments) {
        let all = || call.pos.iter().chain(call.opts.iter().map(|(_, val)| val));
        let named =
            |end: &str| all().any(|val| matches!(val, Val::Name(name) if name.ends_with(end)));
        let whom = match (named("-1"), named("ppid")) {
            (true, _) => "kill -9 -1",
            (_, true) => "kill -9 $PPID",
            _ => return self.push(Word::Process),
        };
        self.run_shell_text(&Val::text(whom), call);
    }

    /// All members of a module, of which some do harm: `Object.values(require("child_process"))`.
    fn lists_members(&mut self, call: &CallArguments) {
        for one in call.at(0).alternatives() {
            let Val::Name(module) = one else { continue };
            let start = format!("{module}.");
            let acts = |(own, row): (&&str, &&str)| {
                own.starts_with(&start) && !row.starts_with(['-', '!'])
            };
            if self.rows.get(start.as_str()) == Some(&"!")
                || self.lang == Lang::Python && self.rows.iter().any(acts)
            {
                self.emit_hidden(OPEN_NAME);
            }
        }
    }

    /// A function that the first argument names, of anything: `methodcaller("system", "rm x")`.
    fn names_function(&mut self, call: &CallArguments) {
        let acts = |name: &str| {
            let is = |(own, row): (&&str, &&str)| {
                own.rsplit('.').next() == Some(name) && !row.starts_with(['-', '!'])
            };
            self.rows.iter().any(is)
        };
        if call.at(0).known_text().is_none_or(|name| acts(&name)) {
            self.emit_hidden(OPEN_NAME);
        }
    }

    fn function(&mut self, call: &CallArguments) {
        let first = call.at(0);
        if let (Val::Name(_), Some(Val::List(_, items))) = (&first, call.pos.get(1)) {
            return self.call_with(&first, items);
        }
        match first.known_text() {
            Some(text) if !self.rows.contains_key(text.as_ref()) => {}
            None if matches!(first, Val::Name(_) | Val::Scalar) => {}
            _ => self.emit_hidden(OPEN_NAME),
        }
    }

    fn called_back(&mut self, call: &CallArguments) {
        if matches!(call.at(0), Val::Unknown) {
            self.emit_hidden(OPEN_NAME);
        }
        let args = call.pos.iter().map(|v| CallArg { key: None, val: v.clone(), block: false });
        self.call_callbacks(None, args.collect());
    }

    fn deno_command(&mut self, call: &CallArguments) {
        let words = match call.at(0) {
            Val::List(_, items) => items.to_vec(),
            Val::Dict(..) => match call.find_option("cmd") {
                Some(Val::List(_, items)) => items.to_vec(),
                other => other.into_iter().collect(),
            },
            first => std::iter::once(first).chain(call.find_option("args")).collect(),
        };
        self.run_words(words, call);
    }

    fn goes(&mut self, call: &CallArguments) {
        self.moved = true;
        let value = call.at(0).to_value(&self.span);
        self.out.chdir(&value);
    }

    /// `connect({host})`, `connect(port, host)`
    fn connects(&mut self, call: &CallArguments) {
        let host = match call.at(0) {
            Val::Dict(..) => call.find_option("host"),
            _ => call.pos.get(1).cloned(),
        };
        self.emit_contact(&host.unwrap_or(Val::Scalar), true);
    }

    fn perl_socket(&mut self, call: &CallArguments) {
        match call.find_option("PeerAddr").or_else(|| call.find_option("PeerHost")) {
            Some(host) => self.emit_contact(&host, true),
            None => self.push(Word::Listen),
        }
    }

    /// `(host, port)` among the arguments.
    fn socket(&mut self, call: &CallArguments) {
        let pair = |val: &&Val| matches!(val, Val::List(_, items) if items.len() >= 2);
        if let Some(Val::List(_, items)) = call.pos.iter().find(pair) {
            self.emit_contact(&items[0], true);
        }
    }

    fn bound(&mut self, call: &CallArguments) {
        if call.pos.iter().any(|v| matches!(v, Val::List(..))) {
            self.push(Word::Listen);
        }
    }

    /// The path and, where it is known, what is written there.
    fn writes_text(&mut self, call: &CallArguments) {
        let first = call.at(0);
        self.emit_path(Word::Write, &first, Extent::Exact);
        self.keep_text(&first, &call.at(1), false);
    }

    /// A file gets that text, behind what stands there or in its place. What nobody knows is the program's own.
    fn keep_text(&mut self, file: &Val, text: &Val, more: bool) {
        if file.known_text().is_none() {
            return;
        }
        let Some(target) = self.out.locate_exact(&file.to_value(&self.span)) else { return };
        let old = self.out.written.get(&target.resolved).cloned().filter(|_| more);
        let text = match (text.known_text(), old) {
            _ if text.alternatives().contains(&Val::Fed) => None,
            (_, Some(None)) => None,
            (Some(new), old) => Some(old.flatten().unwrap_or_default() + &new),
            (None, None) => return,
            (None, Some(_)) => {
                self.out.written.remove(&target.resolved);
                return;
            }
        };
        if text.as_ref().is_none_or(|text| text.len() <= limits::TEXT) {
            self.out.written.insert(target.resolved, text);
        }
    }

    /// A file that was opened before is written.
    fn keeps(&mut self, to: &Val, text: &Val) {
        if let Val::Member(inner) = to
            && inner.1 == HANDLE
        {
            self.keep_text(&inner.0, text, true);
        }
    }

    /// What one thing holds is put into another one.
    fn streams(&mut self, call: &CallArguments) {
        let (from, to) = (call.at(0), call.at(1));
        let from = match &from {
            Val::Text(_) | Val::Path(_) | Val::Name(_) => self.stored(&from),
            _ => from,
        };
        match to {
            Val::Member(_) => self.keeps(&to, &from),
            to if from != Val::Stored => self.keep_text(&to, &from, false),
            _ => {}
        }
    }

    /// A file whose text runs.
    fn runs_file(&mut self, file: &Val) {
        if !is_input(file, self.lang) {
            self.emit_path(Word::Read, file, Extent::Exact);
        }
        if file.known_text().is_some_and(|text| text.starts_with("data:")) {
            self.emit_hidden("an inline program that hides what it does");
        }
        // R's own way to install: a rule speaks of it.
        let address = file.to_text().is_some_and(|text| text.contains("://"));
        let text = self.stored(file);
        if matches!(text, Val::Fed | Val::Text(_)) && !(address && self.lang == Lang::R) {
            self.evaluates(&text);
        }
    }

    /// A module by what names it: what the call has fetched, or what is fetched for it, runs.
    pub(in super::super) fn imports(&mut self, module: &str) {
        let call = CallArguments { pos: Vec::new(), opts: Vec::new() };
        if self.silent {
        } else if module.starts_with("https://") || module.starts_with("jsr:") {
            self.run_words(["deno", "run", module].map(Val::text).to_vec(), &call);
        } else if let Some((_, text)) =
            module.split_once(',').filter(|_| module.starts_with("data:"))
        {
            self.scan_program(&decode_percent(text));
        } else if module.starts_with('/') && module.ends_with(".json") {
            self.emit_path(Word::Read, &Val::text(module), Extent::Exact);
        } else if module.starts_with(['.', '/']) {
            self.runs_module(module);
        }
    }

    /// A module by its file, which may be named without its end: what the call itself put there runs.
    pub(in super::super) fn runs_module(&mut self, file: &str) {
        if self.silent || self.out.written.is_empty() {
            return;
        }
        for end in ["", ".py", ".js", ".rb", ".lua"] {
            let text = self.stored(&Val::text(&format!("{file}{end}")));
            if matches!(text, Val::Fed | Val::Text(_)) {
                return self.evaluates(&text);
            }
        }
    }

    /// Objects that bring code of their own.
    fn loads(&mut self, call: &CallArguments) {
        let first = call.at(0);
        let held = match &first {
            Val::Text(_) | Val::Path(_) => {
                self.emit_path(Word::Read, &first, Extent::Exact);
                self.stored(&first)
            }
            _ => first,
        };
        if held == Val::Fed {
            self.push(Word::PipeToInterpreter);
        }
    }

    /// A directory is filled: the second argument, the option, or this one.
    fn extracts(&mut self, call: &CallArguments, option: &str) {
        let into = call.pos.get(1).cloned().or_else(|| call.find_option(option));
        self.emit_path(Word::Write, &into.unwrap_or_else(|| Val::text(".")), Extent::Tree);
    }

    /// A method, and a URL.
    fn requests(&mut self, call: &CallArguments) {
        let get = call.at(0).known_text().is_some_and(|method| only_asks(&method));
        self.emit_contact(&call.at(1), !get || call.sends_data());
    }

    /// A URL and what is sent there; what stands behind the URL of a GET (`bodies` = false) is its callback.
    fn fetches(&mut self, call: &CallArguments, bodies: bool) {
        // `http.get({host: ...})`
        let url = match call.at(0) {
            Val::Dict(..) => call.find_option("hostname").or_else(|| call.find_option("host")),
            first => Some(first),
        };
        let body = |val: &Val| matches!(val, Val::Text(_) | Val::Unknown);
        let send = call.sends_data() || bodies && call.rest().iter().any(body);
        self.emit_contact(&url.unwrap_or(Val::Unknown), send);
    }

    fn curl_option(&mut self, call: &CallArguments) {
        let Some(Val::Name(option)) = call.pos.get(1) else { return };
        if option.contains("CURLOPT_URL") {
            self.emit_contact(&call.at(2), false);
        } else if ["POST", "UPLOAD", "INFILE"].iter().any(|part| option.contains(part)) {
            self.push(Word::Send);
        }
    }

    /// A file is opened; the mode says for what.
    pub(super) fn emit_open(&mut self, path: &Val, mode: Option<&Val>) {
        let (read, write) = opens_for(mode);
        if read {
            self.emit_path(Word::Read, path, Extent::Exact);
        }
        if write {
            self.emit_path(Word::Write, path, Extent::Exact);
        }
    }

    /// Perl's open, with two or three arguments.
    pub(super) fn perl_open(&mut self, call: &CallArguments) {
        let Some(text) = call.pos.get(1).and_then(Val::to_text) else { return };
        match call.pos.get(2) {
            Some(path) => self.perl_mode(text.trim(), path, call),
            None => self.perl_text(text.trim(), call),
        }
    }

    /// `open F, MODE, PATH`
    fn perl_mode(&mut self, text: &str, path: &Val, call: &CallArguments) {
        let kind = text.split([':', ' ']).next().unwrap_or_default();
        if matches!(kind, "-|" | "|-") {
            match call.pos.len() > 3 {
                true => self.run_words(call.pos[2..].to_vec(), call),
                false => self.run_shell_text(path, call),
            }
        } else if kind.contains(BLANK) {
            self.emit_hidden("a file that is opened in a way known only at run time");
        } else if !matches!(path, Val::Scalar) && !kind.contains('&') {
            let mode = match kind {
                "<" => "r",
                "+<" | "+>" => "r+",
                _ => "w",
            };
            self.emit_open(path, Some(&Val::text(mode)));
        }
    }

    /// `open F, "MODE PATH"`
    fn perl_text(&mut self, text: &str, call: &CallArguments) {
        if let Some(command) = text.strip_prefix('|').or_else(|| text.strip_suffix('|')) {
            return self.run_shell_text(&Val::text(command.trim()), call);
        }
        if text.contains('&') && text.starts_with(['>', '<']) {
            return;
        }
        // Two arguments, the second one computed: it may be a command.
        if text.starts_with(BLANK) {
            return self.emit_hidden("a file or command known only at run time");
        }
        let (word, signs) = match text.as_bytes() {
            [b'>', b'>', ..] | [b'+', b'>' | b'<', ..] => (Word::Write, 2),
            [b'>', ..] => (Word::Write, 1),
            [b'<', ..] => (Word::Read, 1),
            _ => (Word::Read, 0),
        };
        self.emit_path(word, &Val::text(text[signs..].trim()), Extent::Exact);
    }
}

/// Is a file opened to be read, and to be written?
pub(super) fn opens_for(mode: Option<&Val>) -> (bool, bool) {
    let text = mode.and_then(Val::known_text);
    match (mode, text.as_deref()) {
        (None | Some(Val::Dict(..) | Val::Scalar), _) => (true, false),
        (_, Some(mode)) => {
            let mode = mode.split(':').next().unwrap_or_default();
            let write = mode.contains(['w', 'a', 'x', '+', 'c', '>']);
            (mode.contains(['r', '+']) || !write, write)
        }
        (Some(Val::Name(name)), _) if name.ends_with("RDONLY") => (true, false),
        _ => (true, true),
    }
}

/// A table without a key: a condition that holds for everything.
fn is_empty(val: &Val) -> bool {
    matches!(val, Val::Dict(_, items) if items.is_empty())
}

/// Is it the method of a request that sends nothing?
pub(super) fn only_asks(method: &str) -> bool {
    matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
}
