//! What the arguments of a known function are to it.

use super::*;

impl Scan<'_, '_> {
    /// Effects of one argument.
    pub(super) fn role(&mut self, kind: &str, val: &Val, call: &Call) {
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
            "link" => {
                let from = self.out.analysis.effects.len();
                self.path(Word::Read, val, Extent::Exact);
                self.out.linked(from);
            }
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
                        sql::embedded(self.out, &text.replace(BLANK, "?"), &span);
                    }
                }
            }
            _ => debug_assert!(false, "no such role: {kind}"),
        }
    }

    /// What a whole call does.
    pub(super) fn whole(&mut self, kind: &str, call: &Call) {
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
                self.out.chdir(&value);
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
        } else if text.starts_with(BLANK) {
            // Two arguments, the second one computed: it may be a command.
            self.hide("a file or command known only at run time");
        } else {
            self.path(Word::Read, &Val::text(text), Extent::Exact);
        }
    }
}
