//! Programs on files: find, dd, tar, ln, gzip.

use super::super::effects::{Call, Next, elsewhere, operands, role, written};
use super::super::table::{self, Language, Program, Role, Special, mark};
use super::super::{code, options};
use super::search;
use crate::effect::archive;
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::path::{join, normalise, split};
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Target, Word};
use crate::glob;
use crate::limits::{self, Cap};

/// What find does with what it finds.
const ACTIONS: &[&str] = &["-delete", "-exec", "-execdir", "-ok", "-okdir"];
/// find: start paths, tests, actions.
pub fn find(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) {
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
    let (mut filtered, mut typed) = (false, false);
    for start in &starts {
        out.path(Word::Read, start, Extent::Tree, Grade::Certain, Source::Operand);
    }
    let tests = &args[at..];
    let from = at;
    let met = match tests
        .iter()
        .any(|a| matches!(a.plain(), Some(action) if ACTIONS.contains(&action)))
    {
        true => search::met(out, &starts, tests, follows(args), changes(tests, out.place.programs)),
        false => Vec::new(),
    };
    let taken = |action: usize| {
        let on = move |one: &&search::Met| one.actions.contains(&(action - from));
        met.iter().filter(on).map(|one| one.path.clone()).collect::<Vec<String>>()
    };
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
                    let mut names = named(start, args);
                    names.extend(guarded_names(out, start, args));
                    for name in names {
                        out.path(
                            Word::Delete,
                            &name,
                            Extent::Exact,
                            Grade::Certain,
                            Source::Operand,
                        );
                    }
                }
                for path in taken(at) {
                    out.guard_changed(Word::Delete, &path, call.span.clone());
                }
                at += 1;
            }
            "-exec" | "-execdir" | "-ok" | "-okdir" => {
                let first = at + 1;
                let mut end = first;
                while end < args.len() && !matches!(args[end].plain(), Some(";" | "+")) {
                    end += 1;
                }
                let command = &args[first..end];
                let reads = reads(command, out.place.programs) && !has_or(args);
                for path in taken(at).into_iter().filter(|_| !command.is_empty()) {
                    let item = Value::known(path, call.span.clone());
                    let words = command.iter().map(|a| a.with("{}", &item)).collect();
                    next.push(Next::Words { words, cwd: None, feeds: false });
                }
                for start in starts.iter().filter(|_| !command.is_empty()) {
                    let mut run = |item: &Value| {
                        let words = command.iter().map(|a| a.with("{}", item)).collect();
                        next.push(Next::Words { words, cwd: None, feeds: false });
                    };
                    let names = named(start, args);
                    if names.is_empty() || !reads {
                        run(&start.below());
                    }
                    names.iter().for_each(&mut run);
                    guarded_names(out, start, args).iter().for_each(&mut run);
                    if typed && !filtered && deletes(command, out.place.programs) {
                        all(start).iter().for_each(&mut run);
                    }
                    // Without a test the start itself is among what is found.
                    if !filtered && !typed && command.iter().any(|a| a.start().contains("{}")) {
                        run(start);
                    }
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
            | "-iregex" | "-mtime" | "-atime" | "-ctime" | "-mmin" | "-amin" | "-cmin"
            | "-size" | "-user" | "-group" | "-perm" | "-newer" | "-anewer" | "-cnewer"
            | "-links" | "-inum" | "-uid" | "-gid" | "-samefile" | "-lname" | "-ilname"
            | "-fstype" | "-used" | "-context" | "-newermt" => {
                // `-name '*'` leaves nothing out.
                filtered |= args.get(at + 1).is_none_or(|a| !matches!(a.plain(), Some("*" | "**")));
                at += 2;
            }
            // All files, or all directories, are as much as everything.
            "-type" | "-xtype" => {
                typed = true;
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

/// Does find do more to what it finds than read it?
fn changes(tests: &[Value], own: &'static [Program]) -> bool {
    tests.iter().enumerate().any(|(at, test)| match test.plain() {
        Some("-delete") => true,
        Some("-exec" | "-execdir" | "-ok" | "-okdir") => {
            let command = tests[at + 1..].split(|a| matches!(a.plain(), Some(";" | "+"))).next();
            !command.is_some_and(|command| reads(command, own))
        }
        _ => false,
    })
}

/// Does find go where links lead?
fn follows(args: &[Value]) -> bool {
    args.iter().any(|a| matches!(a.plain(), Some("-L" | "-follow")))
}

/// The guarded files that a find without actions prints.
pub fn printed(out: &mut Emitter, args: &[Value]) -> Vec<Value> {
    let option =
        |a: &&Value| matches!(a.plain(), Some("-H" | "-L" | "-P")) || a.start().starts_with("-O");
    let links = follows(args);
    let args = &args[args.iter().take_while(option).count()..];
    let is_test =
        |a: &Value| a.start().starts_with('-') || matches!(a.start(), "(" | ")" | "!" | ",");
    let (starts, tests) = args.split_at(args.iter().position(is_test).unwrap_or(args.len()));
    let here = [Value::known(".", 0..0)];
    let starts = if starts.is_empty() { &here[..] } else { starts };
    let met = search::met(out, starts, tests, links, false);
    let named = starts.iter().flat_map(|start| guarded_names(out, start, tests));
    let named: Vec<Value> = named.collect();
    met.into_iter().map(|one| Value::known(one.path, 0..0)).chain(named).collect()
}

/// fd: a pattern, directories, and behind `-x` a command for what is found there.
pub fn fd(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) {
    let run = |a: &Value| matches!(a.plain(), Some("-x" | "--exec" | "-X" | "--exec-batch"));
    let cut = call.args.iter().position(run).unwrap_or(call.args.len());
    let own = options::parse(call.name, &call.args[..cut], out.place.programs);
    let mut starts: Vec<Value> =
        own.operands.iter().skip(1).map(|i| call.args[*i].clone()).collect();
    if starts.is_empty() {
        starts.push(Value::known(".", call.span.clone()));
    }
    let extent = if own.has(mark::TREE) { Extent::Tree } else { Extent::Visible };
    for start in &starts {
        out.path(Word::Read, start, extent, Grade::Certain, Source::Operand);
    }
    let Some(command) = call.args.get(cut + 1..).filter(|c| !c.is_empty()) else { return };
    let pattern = own.operands.first().map(|i| &call.args[*i]);
    let mut items: Vec<Value> = Vec::new();
    for start in &starts {
        items.push(start.below());
        let changes = !reads(command, out.place.programs);
        items.extend(search::by_pattern(out, &own, start, pattern, changes));
    }
    for item in items {
        let mut words: Vec<Value> = command.to_vec();
        for token in ["{}", "{/}", "{//}", "{.}", "{/.}"] {
            words = words.iter().map(|w| w.with(token, &item)).collect();
        }
        let placed = command.iter().any(|w| w.text().is_some_and(|t| t.contains('{')));
        if !placed {
            words.push(item);
        }
        next.push(Next::Words { words, cwd: None, feeds: false });
    }
}

/// Does that command delete its operands? Then it matters that nothing is left out.
pub fn deletes(words: &[Value], own: &'static [Program]) -> bool {
    let name = words.first().and_then(Value::plain).map(|name| split(name).1);
    name.and_then(|name| table::program(name, own))
        .is_some_and(|row| matches!(row.repeat, Role::Delete | Role::DeleteTree))
}

/// Does find take what passes any of several tests?
fn has_or(args: &[Value]) -> bool {
    args.iter().any(|a| matches!(a.start(), "-o" | "-or" | ","))
}

/// Does that command do no more than read its operands? Then their names say all.
fn reads(words: &[Value], own: &'static [Program]) -> bool {
    let Some((first, args)) = words.split_first() else { return false };
    let name = first.plain().map_or("", |name| split(name).1);
    table::program(name, own).is_some_and(|row| {
        row.complete
            && matches!(row.special, None | Some(Special::Jq))
            && row.effects.is_empty()
            && row.last.is_none()
            && row.repeat == Role::Read
            && row.before.iter().all(|role| *role == Role::Text)
            && {
                let parsed = options::parse(name, args, own);
                parsed.harmless && !parsed.has(mark::INPLACE | mark::LINKS)
            }
    })
}

/// jq's program and files, without what `--arg NAME VALUE` and `--args VALUE...` hand to the program.
pub fn jq(out: &mut Emitter, call: &Call, program: &Program, next: &mut Vec<Next>) {
    let mut parsed = call.parsed.clone();
    for option in &call.parsed.options {
        let file = option.is("--slurpfile") || option.is("--rawfile");
        let value = option.at + 2;
        if option.is("--args") || option.is("--jsonargs") {
            let first = parsed.operands.first().copied();
            parsed.operands.retain(|at| *at < option.at || Some(*at) == first);
        } else if (file || option.is("--arg") || option.is("--argjson"))
            && call.args.get(option.at..=value).is_some_and(|w| w.iter().all(Value::counts_once))
        {
            parsed.operands.retain(|at| *at != value);
            if file {
                role(out, call, Role::Read, &call.args[value], next);
            }
        }
    }
    let Call { name, args, fed, .. } = *call;
    let call = &Call { name, args, parsed: &parsed, span: call.span.clone(), fed };
    for (i, value) in call.operands().iter().enumerate() {
        if i == 0 || value.text().is_some() {
            code::emit(out, Language::Jq, value, next);
        }
    }
    operands(out, call, program, next);
}

/// Everything in the directory, as a glob: what a find prints that leaves nothing out but by type.
pub fn all(start: &Value) -> Option<Value> {
    let dir = start.plain()?.trim_end_matches('/');
    Some(Value::glob(format!("{dir}/*"), start.span.clone()))
}

/// The same as globs, where tests ask for a name. They stand beside [`Value::below`]: what is deleted or opened
/// up is more than a name.
pub fn named(start: &Value, args: &[Value]) -> Vec<Value> {
    let has = |words: &[&str]| args.iter().any(|a| words.contains(&a.start()));
    // What is left out is not found.
    let but = has(&["!", "-not"]) || has(&["-prune"]) && has(&["-o", "-or"]);
    let Some(dir) = start.plain().filter(|_| !but) else { return Vec::new() };
    let names = args.windows(2).filter_map(|pair| Some((pair[0].plain()?, &pair[1])));
    let mut found: Vec<Value> = Vec::new();
    for (test, name) in names {
        let value = match test {
            "-name" => name.clone(),
            "-iname" => name.map(str::to_lowercase),
            // A whole path is told as well.
            "-path" | "-wholename" if name.plain().is_some_and(|t| !glob::has_active(t)) => {
                found.push(name.clone());
                continue;
            }
            _ => continue,
        };
        found.extend(value.at_any_depth(dir));
    }
    found.truncate(Cap::Asked.first(&found).len());
    found
}

/// Guarded names that find asks for, right below its start: the likeliest place, there or not.
fn guarded_names(out: &mut Emitter, start: &Value, args: &[Value]) -> Vec<Value> {
    let Some(dir) = start.plain() else { return Vec::new() };
    let asks = |pair: &&[Value]| matches!(pair[0].plain(), Some("-name" | "-iname"));
    let names = args.windows(2).filter(asks).filter_map(|pair| pair[1].plain());
    let path = |name: &str| format!("{}/{name}", dir.trim_end_matches('/'));
    let here = out.cwd.clone().unwrap_or_default();
    let guarded = |path: &String| out.place.is_guarded(&normalise(&join(&here, path)));
    let named = names.map(path).filter(guarded);
    let mut named: Vec<Value> = named.map(|path| Value::known(path, start.span.clone())).collect();
    named.extend(search::by_path(out, start, args));
    named
}

/// A deletion by find: everything, or only what passes the tests.
pub fn below(out: &mut Emitter, word: Word, start: &Value, filtered: bool) {
    let extent = if filtered { Extent::Below } else { Extent::Tree };
    out.path(word, start, extent, Grade::Certain, Source::Operand);
}

/// dd: `if=` is read, `of=` is written.
pub fn dd(out: &mut Emitter, values: &[Value]) {
    for value in values {
        let text = value.start();
        if text.starts_with("if=") {
            out.path(Word::Read, &value.rest(3), Extent::Exact, Grade::Certain, Source::Operand);
        } else if text.starts_with("of=") {
            out.path(Word::Write, &value.rest(3), Extent::Exact, Grade::Certain, Source::Operand);
            written(out, &value.rest(3));
        } else if value.text().is_none() && !text.contains('=') {
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

/// tar in both styles of options.
pub fn tar(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
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
    let mut start = None;
    let mut absolute = false;
    let old = values.first().and_then(Value::plain).filter(|_| mode.is_none()).map(str::to_string);
    if let Some(old) = old {
        // The old style: `tar czf FILE ...`; letters with values take the next words in order.
        values.remove(0);
        mode = old.chars().find(|c| "cxtruAd".contains(*c));
        absolute |= old.contains('P');
        for letter in old.chars() {
            if "fCTXbIF".contains(letter) && !values.is_empty() {
                let value = values.remove(0);
                match letter {
                    'f' => archive = Some(value),
                    'C' => start = Some(value),
                    'I' | 'F' => next.push(Next::Script { text: value, rest: Vec::new() }),
                    _ => {
                        out.path(Word::Read, &value, Extent::Exact, Grade::Certain, Source::Operand)
                    }
                }
            }
        }
    }
    for option in call.parsed.options.iter().filter(|o| o.name.starts_with("--checkpoint-a")) {
        // `--checkpoint-action=exec=CMD`; the others print.
        match option.value.as_ref().map(|v| (v, v.plain())) {
            Some((value, Some(text))) if text.starts_with("exec=") => {
                next.push(Next::Script { text: value.rest(5), rest: Vec::new() });
            }
            Some((value, None)) => out.unknown("tar with an unknown action", value.span.clone()),
            _ => {}
        }
    }
    let reading = matches!(mode, Some('x' | 't' | 'd'));
    let start = call.parsed.option("-C").and_then(|o| o.value.clone()).or(start);
    let fetched = archive.as_ref().is_some_and(|a| match out.spot(a, Extent::Exact, false) {
        Spot::At(target) => out.written.contains_key(&target.resolved),
        _ => call.fed,
    });
    let listed =
        archive.as_ref().filter(|_| mode == Some('x')).map(|a| out.spot(a, Extent::Exact, false));
    if let Some(archive) = archive.filter(|a| a.plain() != Some("-")) {
        let word = if reading { Word::Read } else { Word::Write };
        out.path(word, &archive, Extent::Exact, Grade::Certain, Source::Operand);
    }
    if let Some(dir) = start {
        out.chdir(&dir);
        if mode == Some('x') {
            elsewhere(out, call);
        }
    }
    match mode {
        Some('x') => {
            if !has(&["-O", "--to-stdout"]) {
                out.own_path(Word::Write, ".", Extent::Tree, Grade::Certain, call.span.clone());
                members(out, &values, has(&["--wildcards"]));
                if let Some(Spot::At(file)) = listed.filter(|_| values.is_empty()) {
                    unpacked(out, &file.resolved, ".");
                }
                if fetched {
                    out.fetch_into(&Value::known(".", call.span.clone()));
                }
            }
            if absolute || has(&["-P", "--absolute-names"]) {
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

/// The files of an archive that are asked for by name.
pub fn members(out: &mut Emitter, values: &[Value], globs: bool) {
    for value in values {
        let value = match value.text() {
            Some(text) => {
                Value::known(text, value.span.clone()).globbed(globs && glob::has_active(text))
            }
            None => value.clone(),
        };
        out.path(Word::Write, &value, Extent::Tree, Grade::Certain, Source::Operand);
    }
}

/// unzip: the files that are asked for behind the archive, or all of it.
pub fn unzip(out: &mut Emitter, call: &Call, values: &[Value]) {
    let Some((file, asked)) = values.split_first() else { return };
    let into = call.parsed.option("-d").and_then(|o| o.value.as_ref()).and_then(Value::plain);
    let Spot::At(archive) = out.spot(file, Extent::Exact, false) else { return };
    if asked.is_empty() || call.parsed.option("-x").is_some() {
        return unpacked(out, &archive.resolved, into.unwrap_or("."));
    }
    let inner = |value: &Value| match into {
        Some(dir) => value.map(|text| format!("{dir}/{text}")),
        None => value.clone(),
    };
    members(out, &asked.iter().map(inner).collect::<Vec<_>>(), true);
}

/// An archive that is there is unpacked into a directory: what of it lands on something guarded.
pub fn unpacked(out: &mut Emitter, file: &str, dir: &str) {
    let dir = Value::known(dir, 0..0);
    let Spot::At(dir) = out.spot(&dir, Extent::Exact, true) else { return };
    if !out.may_guard(&dir) {
        return;
    }
    let bytes = out.content(file, limits::ARCHIVE);
    let (names, whole) = archive::names(bytes.as_deref().unwrap_or_default());
    if bytes.is_none() && out.resolver.exists(file) || !whole {
        // Everyday archives are large: what of them is not seen is possible, not unknown.
        out.note("an archive with more in it than is looked at");
        let target = Target { extent: Extent::Tree, ..dir.clone() };
        out.effect(Word::Write, Grade::Possible, Some(target), None, Source::Operand, 0..0);
    }
    for name in names {
        let path = normalise(&format!("{}/{name}", dir.lexical));
        if out.place.is_guarded(&path) {
            out.guard_changed(Word::Write, &path, 0..0);
        }
    }
}

/// ln: the name is written, and leads to the target from then on.
pub fn ln(out: &mut Emitter, call: &Call, values: &[Value]) {
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
        let from = out.analysis.effects.len();
        out.path(Word::Read, source, Extent::Tree, Grade::Certain, Source::Operand);
        out.linked(from);
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
        let own = normalise(&own);
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

/// gzip and its kin: FILE becomes FILE.gz.
pub fn gzip(out: &mut Emitter, call: &Call, values: &[Value]) {
    let quiet = call.parsed.has(mark::STDOUT);
    for value in values {
        if value.plain() == Some("-") {
            continue;
        }
        let extent = if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Exact };
        out.path(Word::Read, value, extent, Grade::Certain, Source::Operand);
        if !quiet {
            out.path(Word::Write, value, extent, Grade::Certain, Source::Operand);
            let keeps = match call.name {
                "zstd" | "unzstd" => call.parsed.option("--rm").is_none(),
                _ => call.parsed.has(mark::KEEP),
            };
            if !keeps {
                out.path(Word::Delete, value, extent, Grade::Certain, Source::Operand);
            }
        }
    }
}
