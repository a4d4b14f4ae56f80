//! Programs whose arguments follow no common pattern: find, dd, tar, git's tree, shells, curl ...

use super::effects::{Call, Next, joined, operands, role, written};
use super::table::{Program, Role, mark};
use crate::effect::path::split;
use crate::effect::value::{Emitter, Spot, Value, host_of};
use crate::effect::{Extent, Grade, Source, Word};

/// Runs the program's own code; false = it has none, the row says everything.
pub fn run(
    out: &mut Emitter,
    call: &Call,
    program: &Program,
    dry: bool,
    next: &mut Vec<Next>,
) -> bool {
    let values = call.operands();
    if call.name == "git" {
        git_settings(out, call);
    }
    match program.special {
        "" => return false,
        "find" => find(out, call, next),
        "dd" => dd(out, &values),
        "tar" => tar(out, call, &values, next),
        "shell" => shell(out, call, values, next),
        "interpreter" => interpreter(out, call, program, values, dry, next),
        "ln" => ln(out, call, &values),
        "xargs" => xargs(out, call, values, next),
        "env" => env(call, values, next, out),
        "copy" => copy(out, call, &values, dry),
        "gzip" => gzip(out, call, &values),
        "git-tree" => {
            operands(out, call, program, dry, next);
            if !dry {
                out.own_path(Word::Write, ".", Extent::Tree, Grade::Possible, call.span.clone());
            }
        }
        "git-restore" => {
            // Without --worktree, --staged leaves the files alone.
            let staged = call.parsed.option("--staged").is_some()
                && call.parsed.option("--worktree").is_none();
            operands(out, call, program, dry || staged, next);
        }
        "zip" => {
            operands(out, call, program, dry, next);
            if call.parsed.option("-m").is_some() {
                for value in values.iter().skip(1) {
                    out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
                }
            }
        }
        "own-shell" => {
            // Without a command these start a shell on their standard input.
            operands(out, call, program, dry, next);
            let named =
                call.parsed.options.iter().any(|o| o.spec.is_some_and(|s| s.role == Role::Script));
            if !named && !next.iter().any(|n| matches!(n, Next::Words { .. })) {
                next.push(Next::Stdin { lang: "shell" });
            }
        }
        "git-clean" => {
            if !dry {
                if values.is_empty() {
                    out.own_path(
                        Word::Delete,
                        ".",
                        Extent::Tree,
                        Grade::Certain,
                        call.span.clone(),
                    );
                }
                for value in &values {
                    out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
                }
            }
        }
        "git-config" => git_config(out, call, &values),
        "git-clone" => {
            if let Some(url) = values.first() {
                if url.plain().is_some_and(|t| t.starts_with("ext::")) {
                    out.unknown("git's ext transport runs a command", url.span.clone());
                }
                if url.start().contains("://") || url.start().contains('@') || url.text.is_none() {
                    out.contact(url, false, Source::Operand);
                } else {
                    out.path(Word::Read, url, Extent::Tree, Grade::Certain, Source::Operand);
                }
                let name = url.plain().map(|t| {
                    split(t.trim_end_matches('/'))
                        .1
                        .trim_end_matches(".git")
                        .rsplit(':')
                        .next()
                        .unwrap_or_default()
                        .to_string()
                });
                let target = match (values.get(1), name) {
                    (Some(dir), _) => dir.clone(),
                    (None, Some(name)) => Value::known(name, url.span.clone()),
                    (None, None) => {
                        Value { prefix: Some("./".to_string()), ..Value::unknown(url.span.clone()) }
                    }
                };
                out.path(Word::Write, &target, Extent::Tree, Grade::Certain, Source::Operand);
            }
        }
        "git-bisect" => {
            if values.first().and_then(Value::plain) == Some("run") && values.len() > 1 {
                next.push(Next::Words { words: values[1..].to_vec(), cwd: None, feeds: false });
            }
            out.own_path(Word::Write, ".", Extent::Tree, Grade::Possible, call.span.clone());
        }
        "git-submodule" => {
            if let Some(at) = values.iter().position(|v| v.plain() == Some("foreach")) {
                next.push(joined(&values[at + 1..]));
            }
            out.own_path(Word::Write, ".", Extent::Tree, Grade::Possible, call.span.clone());
        }
        "git-filter" => out.unknown("git filter-branch runs its arguments", call.span.clone()),
        "kubectl-exec" => {
            let from = call.args.iter().position(|a| a.plain() == Some("--")).map(|at| at + 1);
            let words: Vec<Value> = match from {
                Some(from) => call.args[from..].to_vec(),
                None => values.iter().skip(1).cloned().collect(),
            };
            if !words.is_empty() {
                next.push(Next::Words { words, cwd: None, feeds: false });
            }
        }
        "unzip" => {
            if let Some(file) = values.first() {
                out.path(Word::Read, file, Extent::Exact, Grade::Certain, Source::Operand);
            }
            if !dry && call.parsed.option("-d").is_none() {
                out.own_path(Word::Write, ".", Extent::Tree, Grade::Certain, call.span.clone());
            }
        }
        "download" => download(out, call, &values, dry),
        "ssh" => ssh(out, call, values, next),
        "flag-c" => {
            // `flock FILE -c TEXT`, `flock FILE CMD`: the text is an option of the rest.
            let Some(file) = values.first() else { return true };
            out.path(Word::Write, file, Extent::Exact, Grade::Certain, Source::Operand);
            let rest = &values[1..];
            match rest.first().and_then(Value::plain) {
                Some("-c" | "--command") => {
                    if let Some(text) = rest.get(1) {
                        next.push(Next::Script { text: text.clone(), rest: Vec::new() });
                    }
                }
                Some(_) | None if !rest.is_empty() => {
                    next.push(Next::Words { words: rest.to_vec(), cwd: None, feeds: false });
                }
                _ => {}
            }
        }
        "eval" => {
            if !values.is_empty() {
                next.push(joined(&values));
            }
        }
        "source" => {
            if let Some(file) = values.first() {
                next.push(Next::File { file: file.clone(), lang: "shell" });
            }
        }
        "alias" => {}
        "test" => {
            for pair in call.args.windows(2) {
                if pair[0].plain().is_some_and(|o| {
                    matches!(o, "-e" | "-f" | "-d" | "-r" | "-w" | "-x" | "-s" | "-L" | "-h")
                }) && pair[1].text.is_some()
                {
                    out.path(Word::Read, &pair[1], Extent::Exact, Grade::Certain, Source::Operand);
                }
            }
        }
        "kill" => out.push(Word::Process, Grade::Certain, Source::Program, call.span.clone()),
        "script-file" => {
            // The first operand is a file that runs, the others are its own.
            if let Some(file) = values.first() {
                next.push(Next::File { file: file.clone(), lang: program.lang });
            }
        }
        "busybox" => {
            if !values.is_empty() {
                next.push(Next::Words { words: values, cwd: None, feeds: false });
            }
        }
        "build" => {
            // make, npm run, cargo test: opaque, but a directory or file option was handled above.
        }
        "docker-run" => docker_run(out, call, &values, next),
        other => {
            debug_assert!(false, "no such special: {other}");
            out.unknown("a program table names code that does not exist", call.span.clone());
        }
    }
    true
}

/// find: start paths, tests, actions.
fn find(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) {
    let args = call.args;
    let mut at = 0;
    while at < args.len() {
        match args[at].plain() {
            Some("-H" | "-L" | "-P") => at += 1,
            Some("-D") => at += 2,
            Some(o) if o.starts_with("-O") => at += 1,
            _ => break,
        }
    }
    let mut starts: Vec<Value> = Vec::new();
    while at < args.len() {
        let text = args[at].start();
        if text.starts_with('-') || matches!(text, "(" | ")" | "!" | ",") {
            break;
        }
        starts.push(args[at].clone());
        at += 1;
    }
    if starts.is_empty() {
        starts.push(Value::known(".", call.span.clone()));
    }
    let mut filtered = false;
    for start in &starts {
        out.path(Word::Read, start, Extent::Tree, Grade::Certain, Source::Operand);
    }
    while at < args.len() {
        let Some(action) = args[at].plain() else {
            out.unknown("find with an argument known only at run time", args[at].span.clone());
            at += 1;
            continue;
        };
        match action {
            "-delete" => {
                for start in &starts {
                    below(out, Word::Delete, start, filtered);
                }
                at += 1;
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let from = at + 1;
                let mut end = from;
                while end < args.len() && !matches!(args[end].plain(), Some(";" | "+")) {
                    end += 1;
                }
                for start in starts.iter().take(4) {
                    let item = found(start);
                    let words =
                        args[from..end].iter().map(|a| replace(a, "{}", &item)).collect::<Vec<_>>();
                    if !words.is_empty() {
                        next.push(Next::Words { words, cwd: None, feeds: false });
                    }
                }
                if starts.len() > 4 {
                    out.unknown("find -exec from many places", call.span.clone());
                }
                at = end + 1;
            }
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                if let Some(file) = args.get(at + 1) {
                    out.path(Word::Write, file, Extent::Exact, Grade::Certain, Source::Operand);
                }
                at += if action == "-fprintf" { 3 } else { 2 };
            }
            "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename" | "-regex"
            | "-iregex" | "-type" | "-xtype" | "-mtime" | "-atime" | "-ctime" | "-mmin"
            | "-amin" | "-cmin" | "-size" | "-user" | "-group" | "-perm" | "-newer" | "-anewer"
            | "-cnewer" | "-links" | "-inum" | "-uid" | "-gid" | "-samefile" | "-lname"
            | "-ilname" | "-fstype" | "-used" | "-context" | "-newermt" => {
                filtered = true;
                at += 2;
            }
            "-maxdepth" | "-mindepth" | "-regextype" | "-printf" | "-files0-from" => at += 2,
            "-empty" | "-readable" | "-writable" | "-executable" | "-nouser" | "-nogroup"
            | "-prune" | "-not" | "!" => {
                filtered = true;
                at += 1;
            }
            _ => at += 1,
        }
    }
}

/// What find prints: something below its start.
pub fn found(start: &Value) -> Value {
    match start.plain() {
        Some(text) => Value {
            prefix: Some(format!("{}/", text.trim_end_matches('/'))),
            span: start.span.clone(),
            ..Value::default()
        },
        None => Value::unknown(start.span.clone()),
    }
}

fn below(out: &mut Emitter, word: Word, start: &Value, filtered: bool) {
    let extent = if filtered { Extent::Below } else { Extent::Tree };
    out.path(word, start, extent, Grade::Certain, Source::Operand);
}

/// `token` in an argument becomes `item`.
fn replace(arg: &Value, token: &str, item: &Value) -> Value {
    match &arg.text {
        Some(text) if text == token => Value { span: arg.span.clone(), ..item.clone() },
        Some(text) if text.contains(token) => {
            if text.contains(char::is_whitespace) {
                // Text that a shell may read: there the item is one unknown word.
                Value { text: Some(text.replace(token, "$__hookctl_item")), ..arg.clone() }
            } else {
                let before = text.split(token).next().unwrap_or_default();
                Value {
                    text: None,
                    prefix: (!before.is_empty()).then(|| before.to_string()),
                    ..arg.clone()
                }
            }
        }
        _ => arg.clone(),
    }
}

fn dd(out: &mut Emitter, values: &[Value]) {
    for value in values {
        let text = value.start();
        if text.starts_with("if=") {
            out.path(Word::Read, &value.rest(3), Extent::Exact, Grade::Certain, Source::Operand);
        } else if text.starts_with("of=") {
            out.path(Word::Write, &value.rest(3), Extent::Exact, Grade::Certain, Source::Operand);
            written(out, &value.rest(3));
        } else if value.text.is_none() && !text.contains('=') {
            out.path(
                Word::Write,
                &Value::unknown(value.span.clone()),
                Extent::Exact,
                Grade::Certain,
                Source::Operand,
            );
        }
    }
}

fn tar(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
    let has = |names: &[&str]| names.iter().any(|n| call.parsed.option(n).is_some());
    let mut mode =
        ['c', 'x', 't', 'r', 'u', 'A', 'd'].into_iter().find(|m| has(&[&format!("-{m}")]));
    for (name, letter) in [
        ("--create", 'c'),
        ("--extract", 'x'),
        ("--get", 'x'),
        ("--list", 't'),
        ("--append", 'r'),
        ("--update", 'u'),
        ("--diff", 'd'),
    ] {
        if has(&[name]) {
            mode = Some(letter);
        }
    }
    let mut values = values.to_vec();
    let mut archive = call.parsed.option("-f").and_then(|o| o.value.clone());
    let mut chdir = None;
    let old = values.first().and_then(Value::plain).filter(|_| mode.is_none()).map(str::to_string);
    if let Some(old) = old {
        // The old style: `tar czf FILE ...`; letters with values take the next words in order.
        values.remove(0);
        mode = old.chars().find(|c| "cxtruAd".contains(*c));
        for letter in old.chars() {
            if "fCTXbIF".contains(letter) && !values.is_empty() {
                let value = values.remove(0);
                match letter {
                    'f' => archive = Some(value),
                    'C' => chdir = Some(value),
                    'I' | 'F' => next.push(Next::Script { text: value, rest: Vec::new() }),
                    _ => {
                        out.path(Word::Read, &value, Extent::Exact, Grade::Certain, Source::Operand)
                    }
                }
            }
        }
    }
    let reading = matches!(mode, Some('x' | 't' | 'd'));
    let chdir = call.parsed.option("-C").and_then(|o| o.value.clone()).or(chdir);
    if let Some(archive) = archive.filter(|a| a.plain() != Some("-")) {
        let word = if reading { Word::Read } else { Word::Write };
        out.path(word, &archive, Extent::Exact, Grade::Certain, Source::Operand);
    }
    if let Some(dir) = chdir {
        super::effects::chdir(out, &dir);
    }
    match mode {
        Some('x') => {
            if !has(&["-O", "--to-stdout"]) {
                out.own_path(Word::Write, ".", Extent::Tree, Grade::Certain, call.span.clone());
            }
            if has(&["-P", "--absolute-names"]) {
                out.push(Word::Write, Grade::Unknown, Source::Operand, call.span.clone());
            }
        }
        Some('t' | 'd') => {}
        Some(_) => {
            for value in &values {
                out.path(Word::Read, value, Extent::Tree, Grade::Certain, Source::Operand);
                if has(&["--remove-files"]) {
                    out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
                }
            }
        }
        None => out.push(Word::Write, Grade::Unknown, Source::Operand, call.span.clone()),
    }
}

/// bash, sh, zsh ...: `-c TEXT`, a file, or standard input.
fn shell(out: &mut Emitter, call: &Call, values: Vec<Value>, next: &mut Vec<Next>) {
    let _ = out;
    let script = call.parsed.has(mark::SCRIPT)
        || call.parsed.options.iter().any(|o| {
            o.spec.is_none()
                && o.name.len() < 8
                && o.name.starts_with('-')
                && !o.name.starts_with("--")
                && o.name.contains('c')
        });
    if script {
        if let Some((text, rest)) = values.split_first() {
            next.push(Next::Script { text: text.clone(), rest: rest.to_vec() });
        }
        return;
    }
    if call.parsed.has(mark::STDIN) || values.is_empty() || values[0].plain() == Some("-") {
        next.push(Next::Stdin { lang: "shell" });
        return;
    }
    next.push(Next::File { file: values[0].clone(), lang: "shell" });
}

/// python, node, perl ...: inline text was handled as an option; else a file or standard input.
fn interpreter(
    out: &mut Emitter,
    call: &Call,
    program: &Program,
    values: Vec<Value>,
    dry: bool,
    next: &mut Vec<Next>,
) {
    let inline = call.parsed.options.iter().any(|o| o.spec.is_some_and(|s| s.role == Role::Code));
    if inline {
        // `perl -pe`, `ruby -ne`: the operands are files.
        let files =
            ["-n", "-p"].iter().any(|n| program.name != "node" && call.parsed.option(n).is_some());
        let kind =
            if files || call.parsed.has(mark::INPLACE) { Role::Read } else { Role::MaybePath };
        for value in &values {
            role(out, call, kind, value, dry, next);
        }
        return;
    }
    if call.parsed.has(mark::MODULE) {
        for value in &values {
            role(out, call, Role::MaybePath, value, dry, next);
        }
        return;
    }
    match values.first() {
        None => next.push(Next::Stdin { lang: program.lang }),
        Some(v) if v.plain() == Some("-") => next.push(Next::Stdin { lang: program.lang }),
        Some(file) => {
            next.push(Next::File { file: file.clone(), lang: program.lang });
            for value in &values[1..] {
                role(out, call, Role::MaybePath, value, dry, next);
            }
        }
    }
}

fn ln(out: &mut Emitter, call: &Call, values: &[Value]) {
    let symbolic = call.parsed.option("-s").is_some();
    let into = call.parsed.option("-t").and_then(|o| o.value.clone());
    let (sources, name) = match (&into, values) {
        (Some(dir), sources) => (sources, Some(dir.clone())),
        (None, [only]) => (std::slice::from_ref(only), None),
        (None, [sources @ .., last]) => (sources, Some(last.clone())),
        (None, []) => return,
    };
    let span = call.span.clone();
    let dir = match &name {
        None => out.cwd.clone().map(|c| (c, true)),
        Some(value) => match out.spot(value, Extent::Exact, true) {
            Spot::At(t) if t.extent == Extent::Exact => {
                let is_dir =
                    into.is_some() || sources.len() > 1 || out.resolver.is_dir(&t.resolved);
                Some((t.lexical, is_dir))
            }
            _ => None,
        },
    };
    for source in sources {
        out.path(Word::Read, source, Extent::Tree, Grade::Certain, Source::Operand);
        let text = source.plain();
        let Some((dir, is_dir)) = &dir else {
            out.push(Word::Write, Grade::Unknown, Source::Operand, span.clone());
            continue;
        };
        let Some(text) = text else {
            // Paths through this link would lead nobody knows where.
            out.push(Word::Write, Grade::Unknown, Source::Operand, span.clone());
            continue;
        };
        let own = if *is_dir {
            format!("{dir}/{}", split(text.trim_end_matches('/')).1)
        } else {
            dir.clone()
        };
        let own = super::super::path::normalise(&own);
        out.path(
            Word::Write,
            &Value::known(own.clone(), span.clone()),
            Extent::Exact,
            Grade::Certain,
            Source::Operand,
        );
        let to = if symbolic || text.starts_with('/') {
            Some(text.to_string())
        } else {
            out.cwd.as_ref().map(|cwd| format!("{cwd}/{text}"))
        };
        match to {
            Some(to) => out.resolver.link(&own, &to),
            None => out.push(Word::Write, Grade::Unknown, Source::Operand, span.clone()),
        }
    }
}

fn xargs(out: &mut Emitter, call: &Call, values: Vec<Value>, next: &mut Vec<Next>) {
    let _ = out;
    if values.is_empty() {
        return;
    }
    let token = ["-I", "-i", "--replace"]
        .iter()
        .find_map(|n| call.parsed.option(n))
        .map(|o| o.value.as_ref().and_then(|v| v.plain()).unwrap_or("{}").to_string());
    let item = Value::unknown(call.span.clone());
    let words: Vec<Value> = match &token {
        Some(token) if !token.is_empty() => {
            values.iter().map(|v| replace(v, token, &item)).collect()
        }
        _ if call.name == "parallel" => {
            let end =
                values.iter().position(|v| v.start().starts_with(":::")).unwrap_or(values.len());
            let any = values[..end].iter().any(|v| v.start().contains("{}"));
            let mut words: Vec<Value> =
                values[..end].iter().map(|v| replace(v, "{}", &item)).collect();
            if !any {
                words.push(item);
            }
            words
        }
        _ => values,
    };
    if words.is_empty() {
        return;
    }
    if call.name == "parallel"
        && words.len() == 2
        && words[0].text.as_deref().is_some_and(|t| t.contains(' '))
    {
        let text = words[0].text.clone().unwrap_or_default();
        next.push(Next::Script {
            text: Value::known(format!("{text} $__hookctl_item"), words[0].span.clone()),
            rest: Vec::new(),
        });
        return;
    }
    next.push(Next::Words { words, cwd: None, feeds: token.is_none() && call.name == "xargs" });
}

/// env and sudo: assignments, then a command.
fn env(call: &Call, values: Vec<Value>, next: &mut Vec<Next>, out: &mut Emitter) {
    let mut values = values;
    for option in &call.parsed.options {
        if option.spec.is_some_and(|s| s.marks & mark::SPLITS != 0)
            && let Some(value) = &option.value
        {
            match value.plain() {
                Some(text) => {
                    let mut words: Vec<Value> = text
                        .split_whitespace()
                        .map(|w| Value::known(w.trim_matches(['"', '\'']), value.span.clone()))
                        .collect();
                    if text.contains(['\\', '$', '"', '\'']) {
                        out.unknown("env -S with quoting", value.span.clone());
                    }
                    words.append(&mut values);
                    values = words;
                }
                None => out.unknown("env -S with text known only at run time", value.span.clone()),
            }
        }
    }
    let shell = call.name == "sudo" && ["-s", "-i"].iter().any(|n| call.parsed.option(n).is_some());
    if values.is_empty() && shell {
        next.push(Next::Stdin { lang: "shell" });
    }
    if !values.is_empty() {
        next.push(Next::Words {
            words: values,
            cwd: out.cwd.clone().map(|c| Value::known(c, 0..0)),
            feeds: false,
        });
    }
}

/// scp, rsync: `host:path` or local; the last one is written.
fn copy(out: &mut Emitter, call: &Call, values: &[Value], dry: bool) {
    let remote = |v: &Value| {
        let text = v.start();
        text.contains("://")
            || text.find(':').is_some_and(|colon| !text[..colon].contains('/') && colon > 0)
    };
    let count = values.len();
    let sending = values.last().is_some_and(remote);
    for (i, value) in values.iter().enumerate() {
        let last = i + 1 == count && count > 1;
        if remote(value) {
            let cut = value.start().split("://").last().unwrap_or_default().to_string();
            let host = host_of(&Value::known(cut.replacen(':', "/", 1), value.span.clone()));
            out.effect(
                Word::Network,
                Grade::Certain,
                None,
                host.clone(),
                Source::Operand,
                value.span.clone(),
            );
            if last && !dry {
                out.effect(
                    Word::Send,
                    Grade::Certain,
                    None,
                    host,
                    Source::Operand,
                    value.span.clone(),
                );
            }
            continue;
        }
        if value.text.is_none() && !value.start().starts_with('/') && !dry {
            out.effect(Word::Send, Grade::Unknown, None, None, Source::Operand, value.span.clone());
        }
        if last {
            if !dry {
                let extent = if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Exact };
                out.path(Word::Write, value, extent, Grade::Certain, Source::Operand);
                let spot = out.spot(value, Extent::Exact, true);
                if let Spot::At(target) = spot
                    && extent == Extent::Exact
                    && (value.start().ends_with('/') || out.resolver.is_dir(&target.resolved))
                {
                    let inner = crate::effect::Target { extent: Extent::Below, ..target };
                    out.effect(
                        Word::Write,
                        Grade::Certain,
                        Some(inner),
                        None,
                        Source::Operand,
                        value.span.clone(),
                    );
                }
                if call.parsed.has(mark::SPARE) {
                    out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
                }
                written(out, value);
            }
        } else {
            let extent = if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Exact };
            out.path(Word::Read, value, extent, Grade::Certain, Source::Operand);
            if call.parsed.option("--remove-source-files").is_some() && !dry {
                out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
            }
        }
    }
    let _ = sending;
}

fn gzip(out: &mut Emitter, call: &Call, values: &[Value]) {
    let quiet = call.parsed.has(mark::STDOUT);
    for value in values {
        if value.plain() == Some("-") {
            continue;
        }
        let extent = if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Exact };
        out.path(Word::Read, value, extent, Grade::Certain, Source::Operand);
        if !quiet {
            out.path(Word::Write, value, extent, Grade::Certain, Source::Operand);
            if !call.parsed.has(mark::KEEP) {
                out.path(Word::Delete, value, extent, Grade::Certain, Source::Operand);
            }
        }
    }
}

/// Settings of git that name programs, or shell text.
pub fn executes(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.starts_with("core.")
        && !matches!(
            key.as_str(),
            "core.quotepath"
                | "core.autocrlf"
                | "core.filemode"
                | "core.ignorecase"
                | "core.bare"
                | "core.abbrev"
                | "core.eol"
                | "core.safecrlf"
                | "core.longpaths"
        )
        || key.starts_with("alias.")
        || key.starts_with("include")
        || key.starts_with("protocol.")
        || key.starts_with("url.")
        || [
            "command",
            "cmd",
            "helper",
            "program",
            "editor",
            "pager",
            "driver",
            "textconv",
            "clean",
            "smudge",
            "process",
            "path",
            "proxy",
            "hookspath",
            "external",
            "askpass",
            "uploadpack",
            "receivepack",
            "vcs",
            "tool",
        ]
        .iter()
        .any(|tail| key.ends_with(tail))
        || key.starts_with("pager.")
}

/// `git -c key=value` and `git clone -c`: some keys name programs.
fn git_settings(out: &mut Emitter, call: &Call) {
    for option in &call.parsed.options {
        if !(option.name == "-c" || option.name == "--config" || option.name == "--config-env")
            || option.spec.is_none_or(|s| s.marks & mark::SPARE == 0)
        {
            continue;
        }
        let Some(value) = &option.value else { continue };
        let harmless = value.plain().is_some_and(|text| {
            let (key, set) = text.split_once('=').unwrap_or((text, "true"));
            !executes(key)
                || key.eq_ignore_ascii_case("core.pager") && matches!(set, "cat" | "" | "less")
                || key.to_ascii_lowercase().starts_with("pager.") && matches!(set, "false" | "cat")
        });
        if !harmless {
            out.unknown("a git setting that can name a program", value.span.clone());
        }
    }
}

fn git_config(out: &mut Emitter, call: &Call, values: &[Value]) {
    let global = call.parsed.option("--global").is_some();
    let reading = ["--get", "--get-all", "--get-regexp", "--list", "-l"]
        .iter()
        .any(|n| call.parsed.option(n).is_some())
        || values.len() < 2 && call.parsed.option("--unset").is_none()
        || values.first().and_then(Value::plain).is_some_and(|v| matches!(v, "get" | "list"));
    if reading {
        return;
    }
    let home = out.place.home.clone();
    let project = out.place.project.clone();
    let file = if call.parsed.option("--system").is_some() {
        "/etc/gitconfig".to_string()
    } else if global {
        format!("{home}/.gitconfig")
    } else {
        format!("{project}/.git/config")
    };
    out.own_path(Word::Write, &file, Extent::Exact, Grade::Certain, call.span.clone());
    match values.iter().find(|v| v.plain() != Some("set")).map(Value::plain) {
        Some(Some(key)) if !executes(key) => {}
        _ => out.unknown("a git setting that can name a program", call.span.clone()),
    }
}

/// curl, wget: hosts, and files named after the URL.
fn download(out: &mut Emitter, call: &Call, values: &[Value], dry: bool) {
    let mut send = call.parsed.has(mark::SEND);
    let mut urls: Vec<Value> = values.to_vec();
    for option in &call.parsed.options {
        if matches!(option.name.as_str(), "-X" | "--request" | "--method")
            && option
                .value
                .as_ref()
                .is_none_or(|v| !v.plain().is_some_and(|m| matches!(m, "GET" | "HEAD" | "OPTIONS")))
        {
            send = true;
        }
        if option.name == "--url" {
            urls.extend(option.value.clone());
        }
    }
    let wget = call.name == "wget";
    for url in &urls {
        let text = url.text.as_deref().unwrap_or_default();
        if let Some(file) = text.strip_prefix("file://") {
            out.path(
                Word::Read,
                &Value::known(file, url.span.clone()),
                Extent::Exact,
                Grade::Certain,
                Source::Operand,
            );
        }
        out.contact(url, send && !dry, Source::Operand);
        let named = call.parsed.has(mark::SPARE)
            || wget && !call.parsed.has(mark::STDOUT) && call.parsed.option("-O").is_none();
        if named {
            let name = match url.text.as_deref() {
                Some(text) => {
                    let rest = text.split_once("://").map_or(text, |(_, r)| r);
                    let path = rest.split(['?', '#']).next().unwrap_or_default();
                    match path.rsplit_once('/') {
                        Some((_, last)) if !last.is_empty() => Value::known(last, url.span.clone()),
                        _ => Value::known("index.html", url.span.clone()),
                    }
                }
                None => {
                    Value { prefix: Some("./".to_string()), ..Value::unknown(url.span.clone()) }
                }
            };
            let dir = ["-P", "--output-dir"]
                .iter()
                .find_map(|n| call.parsed.option(n))
                .and_then(|o| o.value.as_ref())
                .and_then(Value::plain);
            let name = match (dir, &name.text) {
                (Some(dir), Some(text)) => Value::known(format!("{dir}/{text}"), url.span.clone()),
                _ => name,
            };
            out.path(Word::Write, &name, Extent::Exact, Grade::Certain, Source::Operand);
            written(out, &name);
        }
    }
    if urls.is_empty() {
        out.push(Word::Network, Grade::Unknown, Source::Program, call.span.clone());
    }
}

fn ssh(out: &mut Emitter, call: &Call, values: Vec<Value>, next: &mut Vec<Next>) {
    let Some((host, rest)) = values.split_first() else { return };
    out.contact(host, false, Source::Operand);
    let known = host_of(host);
    let grade = if host.text.is_some() { Grade::Certain } else { Grade::Unknown };
    out.effect(Word::Remote, grade, None, known, Source::Operand, host.span.clone());
    // OpenSSH takes options behind the host as well.
    let behind = super::options::parse("ssh", rest);
    let rest: Vec<Value> = behind.operands.iter().map(|i| rest[*i].clone()).collect();
    for option in call.parsed.options.iter().chain(&behind.options) {
        if option.name == "-o"
            && option.value.as_ref().is_none_or(|v| {
                let text = v.start().to_ascii_lowercase();
                v.text.is_none()
                    || text.contains("command")
                    || text.starts_with("pkcs11")
                    || text.contains("include")
            })
        {
            out.unknown("an ssh option that can name a program", call.span.clone());
        }
    }
    if rest.is_empty() {
        next.push(Next::Stdin { lang: "shell" });
    } else {
        next.push(joined(&rest));
    }
}

fn docker_run(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
    out.push(Word::Remote, Grade::Certain, Source::Program, call.span.clone());
    for option in &call.parsed.options {
        if matches!(option.name.as_str(), "-v" | "--volume" | "--mount")
            && let Some(value) = &option.value
        {
            let text = value.start();
            let host = if option.name == "--mount" {
                text.split(',')
                    .find_map(|p| p.strip_prefix("source=").or_else(|| p.strip_prefix("src=")))
                    .unwrap_or_default()
            } else {
                text.split(':').next().unwrap_or_default()
            };
            if host.starts_with(['/', '.', '~']) {
                let host = Value::known(host, value.span.clone());
                out.path(Word::Read, &host, Extent::Tree, Grade::Certain, Source::Operand);
                if !text.ends_with(":ro") {
                    out.path(Word::Write, &host, Extent::Tree, Grade::Possible, Source::Operand);
                }
            } else if value.text.is_none() {
                out.path(Word::Write, value, Extent::Tree, Grade::Certain, Source::Operand);
            }
        }
        if option.name == "--privileged" {
            out.push(Word::Privilege, Grade::Certain, Source::Program, call.span.clone());
        }
    }
    if values.len() > 1 {
        next.push(Next::Words { words: values[1..].to_vec(), cwd: None, feeds: false });
    }
}
