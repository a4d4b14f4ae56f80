//! What the arguments of a known function are to it.

use super::*;

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
type Whole = fn(&mut Scan, &Call);
const WHOLE: &[(&str, Whole)] = &[
    ("argv", |scan, call| scan.words(call.pos.clone(), call)),
    ("bind", |scan, call| scan.bound(call)),
    ("callback", |scan, call| scan.called_back(call)),
    ("chdir", |scan, call| scan.goes(call)),
    ("cmd", |scan, call| scan.command(call)),
    ("curl", |scan, call| scan.curl_option(call)),
    ("denocmd", |scan, call| scan.deno_command(call)),
    ("execl", |scan, call| scan.listed(&call.pos, call)),
    ("execv", |scan, call| scan.vector(&call.pos, call)),
    ("extract", |scan, call| scan.extracts(call, "path")),
    ("fetch", |scan, call| scan.fetches(call, true)),
    ("fork", |scan, call| scan.forks(call)),
    ("get", |scan, call| scan.fetches(call, false)),
    ("getattr", |scan, call| scan.attribute(call)),
    ("getfun", |scan, call| scan.function(call)),
    ("netconnect", |scan, call| scan.connects(call)),
    ("open", |scan, call| scan.opens(call)),
    ("perlopen", |scan, call| scan.perl_open(call)),
    ("perlsock", |scan, call| scan.perl_socket(call)),
    ("perlsysopen", |scan, call| scan.open(&call.at(1), call.pos.get(2))),
    ("request", |scan, call| scan.requests(call)),
    ("rubyopen", |scan, call| {
        if !scan.piped(call) {
            scan.opens(call);
        }
    }),
    ("rubyread", |scan, call| {
        if !scan.piped(call) {
            scan.path(Word::Read, &call.at(0), Extent::Exact);
        }
    }),
    ("sock", |scan, call| scan.socket(call)),
    ("spawn", |scan, call| scan.spawns(call)),
    ("spawnl", |scan, call| scan.listed(call.rest(), call)),
    ("spawnv", |scan, call| scan.vector(call.rest(), call)),
    ("system", |scan, call| scan.system(call)),
    ("text", |scan, call| scan.writes_text(call)),
    ("unarchive", |scan, call| {
        scan.path(Word::Read, &call.at(0), Extent::Exact);
        scan.extracts(call, "extract_dir");
    }),
];

/// Why a call is not understood that names its function itself.
const OPEN_NAME: &str = "a function whose name is known only at run time";

impl Scan<'_, '_> {
    /// Effects of one argument.
    pub(super) fn role(&mut self, kind: &str, val: &Val, call: &Call) {
        if self.silent {
            return;
        }
        if let Some((_, effects)) = PATHS.iter().find(|(own, _)| *own == kind) {
            let deep = matches!(kind, "delete" | "perm")
                && ["recursive", "recurse", "r"].iter().any(|name| call.on(name));
            for (word, extent) in *effects {
                self.path(*word, val, if deep { Extent::Tree } else { *extent });
            }
            return;
        }
        match kind {
            "-" | "" => {}
            "!" => self.hide("an inline program that hides what it does"),
            "link" => {
                let from = self.out.analysis.effects.len();
                self.path(Word::Read, val, Extent::Exact);
                self.out.linked(from);
            }
            "url" | "send" => self.contact(val, kind == "send" || call.sends()),
            "host" => self.contact(val, true),
            "network" => self.push(Word::Network),
            "listen" => self.push(Word::Listen),
            "process" => self.push(Word::Process),
            "sh" => self.shell(val, call),
            "code" => self.evaluates(val),
            "timer" => val.whole().iter().for_each(|text| self.program(text)),
            "sql" => {
                for text in val.each().iter().filter_map(Val::string) {
                    let span = self.span.clone();
                    sql::embedded(self.out, &text.replace(BLANK, "?"), &span);
                }
            }
            _ => debug_assert!(false, "no such role: {kind}"),
        }
    }

    /// Text of the same language that runs.
    fn evaluates(&mut self, val: &Val) {
        match val {
            Val::Name(_) if self.lang != Lang::Python => {}
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
        }
    }

    /// What a whole call does.
    pub(super) fn whole(&mut self, kind: &str, call: &Call) {
        // These are the only ones that learn something in the first walk.
        if self.silent {
            return;
        }
        match WHOLE.iter().find(|(own, _)| *own == kind) {
            Some((_, read)) => read(self, call),
            None => debug_assert!(false, "no such call: {kind}"),
        }
    }

    /// A file by its name and its mode.
    fn opens(&mut self, call: &Call) {
        let mode = call.pos.get(1).cloned().or_else(|| call.opt("mode"));
        if call.at(0) != Val::Scalar {
            self.open(&call.at(0), mode.as_ref());
        }
    }

    /// A command behind a bar, where Ruby takes a file's name.
    fn piped(&mut self, call: &Call) -> bool {
        let text = call.at(0).string().unwrap_or_default();
        let command = text.strip_prefix('|');
        command.iter().for_each(|command| self.shell(&Val::text(command), call));
        command.is_some()
    }

    /// Words, or text for a shell.
    fn command(&mut self, call: &Call) {
        match call.at(0) {
            one @ Val::List(..) if call.on("shell") => self.shell(&one.element(), call),
            Val::List(_, items) => self.words(items.to_vec(), call),
            any @ Val::Any(..) => {
                for one in any.each() {
                    match one {
                        Val::List(_, items) => self.words(items.to_vec(), call),
                        one => self.shell(&one, call),
                    }
                }
            }
            one => self.shell(&one, call),
        }
    }

    /// One argument is text for a shell, several are words.
    fn system(&mut self, call: &Call) {
        let plain = call.pos.iter().filter(|v| !matches!(v, Val::Dict(..)));
        let plain: Vec<Val> = plain.cloned().collect();
        match &plain[..] {
            [Val::List(_, items)] => self.words(items.to_vec(), call),
            [one] => self.shell(one, call),
            _ => self.words(plain, call),
        }
    }

    /// A program, and the list of its arguments.
    fn spawns(&mut self, call: &Call) {
        let mut words = vec![call.at(0)];
        match call.pos.get(1) {
            Some(Val::List(_, items)) => words.extend(items.iter().cloned()),
            Some(Val::Dict(..) | Val::Scalar) | None => {}
            Some(_) => words.push(Val::Unknown),
        }
        match call.on("shell") {
            true => self.shell(&joined(&words, " "), call),
            false => self.words(words, call),
        }
    }

    /// A script that node runs.
    fn forks(&mut self, call: &Call) {
        let mut words = vec![Val::text("node"), call.at(0)];
        if let Some(Val::List(_, items)) = call.pos.get(1) {
            words.extend(items.iter().cloned());
        }
        self.words(words, call);
    }

    /// `exec(path, [name, ...])`
    fn vector(&mut self, all: &[Val], call: &Call) {
        let mut words: Vec<Val> = all.first().cloned().into_iter().collect();
        match all.get(1) {
            Some(Val::List(_, items)) => words.extend(items.iter().skip(1).cloned()),
            None => {}
            Some(_) => words.push(Val::Unknown),
        }
        self.words(words, call);
    }

    /// `exec(path, name, ...)`
    fn listed(&mut self, all: &[Val], call: &Call) {
        self.words(all.iter().take(1).chain(all.iter().skip(2)).cloned().collect(), call);
    }

    fn attribute(&mut self, call: &Call) {
        if call.pos.get(1).is_some_and(|v| v.whole().is_none()) {
            self.hide(OPEN_NAME);
        }
    }

    fn function(&mut self, call: &Call) {
        let first = call.at(0);
        match first.whole() {
            Some(text) if !self.rows.contains_key(text.as_ref()) => {}
            None if matches!(first, Val::Name(_) | Val::Scalar) => {}
            _ => self.hide(OPEN_NAME),
        }
    }

    fn called_back(&mut self, call: &Call) {
        if matches!(call.at(0), Val::Unknown) {
            self.hide(OPEN_NAME);
        }
        let args = call.pos.iter().map(|v| Arg { key: None, val: v.clone(), block: false });
        self.callbacks(None, args.collect());
    }

    fn deno_command(&mut self, call: &Call) {
        let words = match call.at(0) {
            Val::List(_, items) => items.to_vec(),
            first => std::iter::once(first).chain(call.opt("args")).collect(),
        };
        self.words(words, call);
    }

    fn goes(&mut self, call: &Call) {
        self.moved = true;
        let value = call.at(0).value(&self.span);
        self.out.chdir(&value);
    }

    /// `connect({host})`, `connect(port, host)`
    fn connects(&mut self, call: &Call) {
        let host = match call.at(0) {
            Val::Dict(..) => call.opt("host"),
            _ => call.pos.get(1).cloned(),
        };
        self.contact(&host.unwrap_or(Val::Scalar), true);
    }

    fn perl_socket(&mut self, call: &Call) {
        match call.opt("PeerAddr").or_else(|| call.opt("PeerHost")) {
            Some(host) => self.contact(&host, true),
            None => self.push(Word::Listen),
        }
    }

    /// `(host, port)` among the arguments.
    fn socket(&mut self, call: &Call) {
        let pair = |val: &&Val| matches!(val, Val::List(_, items) if items.len() >= 2);
        if let Some(Val::List(_, items)) = call.pos.iter().find(pair) {
            self.contact(&items[0], true);
        }
    }

    fn bound(&mut self, call: &Call) {
        if call.pos.iter().any(|v| matches!(v, Val::List(..))) {
            self.push(Word::Listen);
        }
    }

    /// The path and, where it is known, what is written there.
    fn writes_text(&mut self, call: &Call) {
        let first = call.at(0);
        self.path(Word::Write, &first, Extent::Exact);
        if let (Some(_), Some(text)) = (first.whole(), call.pos.get(1).and_then(Val::whole))
            && let Spot::At(target) = self.out.spot(&first.value(&self.span), Extent::Exact, false)
        {
            self.out.written.insert(target.resolved, Some(text.to_string()));
        }
    }

    /// A directory is filled: the second argument, the option, or this one.
    fn extracts(&mut self, call: &Call, option: &str) {
        let into = call.pos.get(1).cloned().or_else(|| call.opt(option));
        self.path(Word::Write, &into.unwrap_or_else(|| Val::text(".")), Extent::Tree);
    }

    /// A method, and a URL.
    fn requests(&mut self, call: &Call) {
        let get = call.at(0).whole().is_some_and(|method| only_asks(&method));
        self.contact(&call.at(1), !get || call.sends());
    }

    /// A URL and what is sent there; what stands behind the URL of a GET (`bodies` = false) is its callback.
    fn fetches(&mut self, call: &Call, bodies: bool) {
        // `http.get({host: ...})`
        let url = match call.at(0) {
            Val::Dict(..) => call.opt("hostname").or_else(|| call.opt("host")),
            first => Some(first),
        };
        let body = |val: &Val| matches!(val, Val::Text(_) | Val::Unknown);
        let send = call.sends() || bodies && call.rest().iter().any(body);
        self.contact(&url.unwrap_or(Val::Unknown), send);
    }

    fn curl_option(&mut self, call: &Call) {
        let Some(Val::Name(option)) = call.pos.get(1) else { return };
        if option.contains("CURLOPT_URL") {
            self.contact(&call.at(2), false);
        } else if ["POST", "UPLOAD", "INFILE"].iter().any(|part| option.contains(part)) {
            self.push(Word::Send);
        }
    }

    /// A file is opened; the mode says for what.
    pub(super) fn open(&mut self, path: &Val, mode: Option<&Val>) {
        let text = mode.and_then(Val::whole);
        let (read, write) = match (mode, text.as_deref()) {
            (None | Some(Val::Dict(..) | Val::Scalar), _) => (true, false),
            (_, Some(mode)) => {
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
    pub(super) fn perl_open(&mut self, call: &Call) {
        let Some(text) = call.pos.get(1).and_then(Val::string) else { return };
        match call.pos.get(2) {
            Some(path) => self.perl_mode(text.trim(), path, call),
            None => self.perl_text(text.trim(), call),
        }
    }

    /// `open F, MODE, PATH`
    fn perl_mode(&mut self, text: &str, path: &Val, call: &Call) {
        let kind = text.split([':', ' ']).next().unwrap_or_default();
        if matches!(kind, "-|" | "|-") {
            match call.pos.len() > 3 {
                true => self.words(call.pos[2..].to_vec(), call),
                false => self.shell(path, call),
            }
        } else if kind.contains(BLANK) {
            self.hide("a file that is opened in a way known only at run time");
        } else if !matches!(path, Val::Scalar) && !kind.contains('&') {
            let mode = match kind {
                "<" => "r",
                "+<" | "+>" => "r+",
                _ => "w",
            };
            self.open(path, Some(&Val::text(mode)));
        }
    }

    /// `open F, "MODE PATH"`
    fn perl_text(&mut self, text: &str, call: &Call) {
        if let Some(command) = text.strip_prefix('|').or_else(|| text.strip_suffix('|')) {
            return self.shell(&Val::text(command.trim()), call);
        }
        if text.contains('&') && text.starts_with(['>', '<']) {
            return;
        }
        // Two arguments, the second one computed: it may be a command.
        if text.starts_with(BLANK) {
            return self.hide("a file or command known only at run time");
        }
        let (word, signs) = match text.as_bytes() {
            [b'>', b'>', ..] | [b'+', b'>' | b'<', ..] => (Word::Write, 2),
            [b'>', ..] => (Word::Write, 1),
            [b'<', ..] => (Word::Read, 1),
            _ => (Word::Read, 0),
        };
        self.path(word, &Val::text(text[signs..].trim()), Extent::Exact);
    }
}

/// Is it the method of a request that sends nothing?
pub(super) fn only_asks(method: &str) -> bool {
    matches!(method.to_ascii_uppercase().as_str(), "GET" | "HEAD" | "OPTIONS")
}
