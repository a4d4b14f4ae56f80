//! Programs on files: find, dd, tar, ln, gzip.

use super::super::effects::{Call, Next, emit_elsewhere, note_written};
use super::super::options::{self, Parsed};
use super::super::table::{self, Program, Role, Special, mark};
use super::{Invocation, search};
use crate::effect::archive;
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::path::{is_absolute, join, normalise_path, split};
use crate::effect::secret;
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Target, Word};
use crate::glob;
use crate::limits::{self, Cap};
use crate::names::find::{ALONE, LASTING, VALUED};

/// Is that word an action of find's on what it finds?
fn is_action(word: &str) -> bool {
    matches!(word, "-delete" | "-exec" | "-execdir" | "-ok" | "-okdir")
}

/// Does that word begin find's expression?
fn is_test(word: &str) -> bool {
    word.starts_with('-') || matches!(word, "(" | ")" | "!" | ",")
}

/// Does the test go by a name or a place?
fn names_some(test: &str) -> bool {
    matches!(test, "-name" | "-iname" | "-path" | "-ipath" | "-wholename")
}

/// How much of a directory a test leaves out.
enum Share {
    Nothing,
    /// What is left is as good as all.
    Little,
    Much,
}

/// What the test with that value leaves out: `-name '*'` nothing, `-size +0` and `-path './*'` little.
fn share_left_out(test: &str, value: &str) -> Share {
    let wild = |text: &str| text.chars().all(|c| matches!(c, '*' | '?'));
    match test {
        "-name" | "-iname" | "-path" | "-ipath" | "-wholename" | "-iwholename"
            if matches!(value, "*" | "**") =>
        {
            Share::Nothing
        }
        // Whatever is visible, or has a dot, in the way of DOS.
        "-name" | "-iname" if wild(value) || matches!(value, "[!.]*" | "[^.]*" | "*.*") => {
            Share::Little
        }
        "-path" | "-ipath" | "-wholename" | "-iwholename"
            if wild(value.trim_start_matches('.').replace('/', "").as_str()) =>
        {
            Share::Little
        }
        "-regex" | "-iregex" if matches!(value, ".*" | ".+" | "./.*" | "./.+" | ".*/.*") => {
            Share::Little
        }
        // Of a few bytes and more; less than many of the largest unit.
        "-size" if matches!(value.trim_end_matches(['c', 'w', 'b', 'k']), "+0" | "+1") => {
            Share::Little
        }
        "-size" if value.starts_with('-') && value.ends_with('G') => Share::Little,
        "-links" if matches!(value, "+0" | "1") => Share::Little,
        _ => Share::Much,
    }
}

/// How many options stand before the places where find starts.
fn before_starts(args: &[Value]) -> usize {
    let mut at = 0;
    while let Some(option) = args.get(at).and_then(Value::plain_text) {
        at += match option {
            "-H" | "-L" | "-P" => 1,
            "-D" => 2,
            _ if option.starts_with("-O") => 1,
            _ => break,
        };
    }
    at.min(args.len())
}

/// A walk through find's arguments.
struct Finding<'f, 'c> {
    call: &'f Call<'c>,
    starts: Vec<Value>,
    /// Where the expression begins.
    from: usize,
    /// The guarded files that actions are taken on.
    met: Vec<search::Met>,
    /// A test leaves something out.
    filtered: bool,
    /// A test asks for a type, or for something that nearly everything has.
    typed: bool,
    /// It is told how old they are.
    aged: bool,
}

/// find: start paths, tests, actions.
pub fn emit_find(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) {
    let args = call.args;
    let begin = before_starts(args);
    let starts = args[begin..].iter().take_while(|arg| !is_test(arg.known_start()));
    let mut starts: Vec<Value> = starts.cloned().collect();
    let from = begin + starts.len();
    if starts.is_empty() {
        starts.push(Value::known(".", call.span.clone()));
    }
    starts.iter().for_each(|start| out.operand_tree(Word::Read, start));
    let tests = &args[from..];
    let met = match tests.iter().any(|arg| arg.plain_text().is_some_and(is_action)) {
        true => search::find_guarded(
            out,
            &starts,
            tests,
            follows_links(args),
            changes_files(tests, out.place.programs),
        ),
        false => Vec::new(),
    };
    let mut finding =
        Finding { call, starts, from, met, filtered: false, typed: false, aged: false };
    let mut at = from;
    while at < args.len() {
        at = finding.step(out, at, next);
    }
}

impl Finding<'_, '_> {
    /// One test or action; returns where the next one stands.
    fn step(&mut self, out: &mut Emitter, at: usize, next: &mut Vec<Next>) -> usize {
        let Some(word) = self.call.args[at].plain_text() else {
            let span = self.call.args[at].span.clone();
            out.emit_unknown("find with an argument known only at run time", span);
            return at + 1;
        };
        let value = self.call.args.get(at + 1);
        match word {
            "-delete" => self.deletes(out, at),
            "-exec" | "-execdir" | "-ok" | "-okdir" => return self.runs(out, at, next),
            "-fprint" | "-fprint0" | "-fls" | "-fprintf" => {
                value.iter().for_each(|file| out.operand(Word::Write, file));
                return at + if word == "-fprintf" { 3 } else { 2 };
            }
            // All files, or all directories, are as much as everything.
            "-type" | "-xtype" => {
                self.typed = true;
                return at + 2;
            }
            "-maxdepth" | "-mindepth" | "-regextype" | "-printf" | "-files0-from" => return at + 2,
            // All but a name or a place is as good as all.
            "-not" | "!" if value.is_some_and(|test| names_some(test.known_start())) => {
                self.typed = true;
                return at + 3;
            }
            "-not" | "!" if value.is_some_and(|test| test.plain_text() == Some("-empty")) => {
                self.typed = true;
                return at + 2;
            }
            "-not" | "!" => self.filtered = true,
            // The history and the sources of a project are old as well.
            "-mtime" | "-atime" | "-ctime" | "-mmin" | "-amin" | "-cmin" => {
                self.aged = true;
                return at + 2;
            }
            // Whoever may delete them may read them, mostly.
            "-readable" | "-writable" => self.typed = true,
            _ if ALONE.contains(&word) => self.filtered = true,
            _ if VALUED.contains(&word) => {
                match value.and_then(Value::plain_text).map(|value| share_left_out(word, value)) {
                    Some(Share::Nothing) => {}
                    Some(Share::Little) => self.typed = true,
                    Some(Share::Much) | None => self.filtered = true,
                }
                return at + 2;
            }
            _ => {}
        }
        at + 1
    }

    /// The project's history, most of which is older than any file, where all is found that is of some age.
    fn history(&self, out: &mut Emitter, start: &Value) -> Option<Value> {
        let all = self.aged && !self.typed && !self.filtered;
        let project = all && out.locate_exact(start)?.resolved == out.place.project;
        let dir = start.plain_text()?.trim_end_matches('/');
        project.then(|| Value::known(format!("{dir}/.git"), start.span.clone()))
    }

    /// The guarded files that the action at that place is taken on.
    fn taken(&self, at: usize) -> Vec<String> {
        let on = |one: &&search::Met| one.actions.contains(&(at - self.from));
        self.met.iter().filter(on).map(|one| one.path.clone()).collect()
    }

    /// `-delete`
    fn deletes(&self, out: &mut Emitter, at: usize) {
        let args = self.call.args;
        for start in &self.starts {
            emit_found_deletion(out, Word::Delete, start, self.filtered || self.aged);
            self.history(out, start).iter().for_each(|dir| out.operand_tree(Word::Delete, dir));
            let guarded = guarded_names(out, start, args);
            named_globs(start, args)
                .iter()
                .chain(&guarded)
                .for_each(|n| out.operand(Word::Delete, n));
        }
        for path in self.taken(at) {
            out.guard_changed(Word::Delete, &path, self.call.span.clone());
        }
    }

    /// `-exec CMD ;`; returns what stands behind it.
    fn runs(&self, out: &mut Emitter, at: usize, next: &mut Vec<Next>) -> usize {
        let args = self.call.args;
        let behind = &args[at + 1..];
        let ends = |arg: &Value| matches!(arg.plain_text(), Some(";" | "+"));
        let command = &behind[..behind.iter().position(ends).unwrap_or(behind.len())];
        if command.is_empty() {
            return at + 2;
        }
        let mut run = |item: &Value| {
            next.push(Next::words(command.iter().map(|a| a.replace_token("{}", item)).collect()));
        };
        for path in self.taken(at) {
            run(&Value::known(path, self.call.span.clone()));
        }
        let reads = only_reads_operands(command, out.place.programs) && !has_or(args);
        let placed = command.iter().any(|a| a.known_start().contains("{}"));
        for start in &self.starts {
            let names = named_globs(start, args);
            if names.is_empty() || !reads {
                run(&start.unknown_below());
            }
            names.iter().for_each(&mut run);
            guarded_names(out, start, args).iter().for_each(&mut run);
            if deletes_operands(command, out.place.programs) {
                let all = self.typed && !self.aged && !self.filtered;
                directory_glob(start).iter().filter(|_| all).for_each(&mut run);
                self.history(out, start).iter().for_each(&mut run);
            }
            // Without a test the start itself is among what is found.
            if !self.filtered && !self.typed && !self.aged && placed {
                run(start);
            }
        }
        at + command.len() + 2
    }
}

/// Does find do more to what it finds than read it?
fn changes_files(tests: &[Value], own: &'static [Program]) -> bool {
    tests.iter().enumerate().any(|(at, test)| match test.plain_text() {
        Some("-delete") => true,
        Some(action) if is_action(action) => {
            let command =
                tests[at + 1..].split(|a| matches!(a.plain_text(), Some(";" | "+"))).next();
            !command.is_some_and(|command| only_reads_operands(command, own))
        }
        _ => false,
    })
}

/// Does find go where links lead?
fn follows_links(args: &[Value]) -> bool {
    args.iter().any(|a| matches!(a.plain_text(), Some("-L" | "-follow")))
}

/// The guarded files that a find without actions prints.
pub fn printed_guarded_files(out: &mut Emitter, args: &[Value]) -> Vec<Value> {
    let option = |a: &&Value| {
        matches!(a.plain_text(), Some("-H" | "-L" | "-P")) || a.known_start().starts_with("-O")
    };
    let links = follows_links(args);
    let args = &args[args.iter().take_while(option).count()..];
    let expression = args.iter().position(|arg| is_test(arg.known_start()));
    let (starts, tests) = args.split_at(expression.unwrap_or(args.len()));
    let here = [Value::known(".", 0..0)];
    let starts = if starts.is_empty() { &here[..] } else { starts };
    let met = search::find_guarded(out, starts, tests, links, false);
    let named = starts.iter().flat_map(|start| guarded_names(out, start, tests));
    let named: Vec<Value> = named.collect();
    met.into_iter().map(|one| Value::known(one.path, 0..0)).chain(named).collect()
}

/// fd: a pattern, directories, and behind `-x` a command for what is found there.
pub fn emit_fd(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) {
    let run = |a: &Value| matches!(a.plain_text(), Some("-x" | "--exec" | "-X" | "--exec-batch"));
    let cut = call.args.iter().position(run).unwrap_or(call.args.len());
    let own = options::parse_arguments(call.name, &call.args[..cut], out.place.programs);
    let mut starts: Vec<Value> =
        own.operands.iter().skip(1).map(|i| call.args[*i].clone()).collect();
    if starts.is_empty() {
        starts.push(Value::known(".", call.span.clone()));
    }
    let extent = if own.has_mark(mark::TREE) { Extent::Tree } else { Extent::Visible };
    for start in &starts {
        out.emit_path(Word::Read, start, extent, Grade::Certain, Source::Operand);
    }
    let Some(command) = call.args.get(cut + 1..).filter(|c| !c.is_empty()) else { return };
    let mut items = lasting_found(&own, call.args);
    let pattern = own.operands.first().map(|i| &call.args[*i]);
    for start in &starts {
        items.push(start.unknown_below());
        let changes = !only_reads_operands(command, out.place.programs);
        items.extend(search::by_pattern(out, &own, start, pattern, changes));
        let all = own.options.iter().all(|o| ["-H", "-I", "-t"].iter().any(|any| o.is_option(any)))
            && pattern.is_none_or(|p| matches!(p.plain_text(), Some("." | "")));
        if all && deletes_operands(command, out.place.programs) {
            items.extend(directory_glob(start));
        }
    }
    for item in items {
        let mut words: Vec<Value> = command.to_vec();
        for token in ["{}", "{/}", "{//}", "{.}", "{/.}"] {
            words = words.iter().map(|w| w.replace_token(token, &item)).collect();
        }
        let placed = command.iter().any(|w| w.text().is_some_and(|t| t.contains('{')));
        if !placed {
            words.push(item);
        }
        next.push(Next::words(words));
    }
}

/// Does that command delete or overwrite its operands? Then it matters that nothing is left out.
pub fn deletes_operands(words: &[Value], own: &'static [Program]) -> bool {
    let name = words.first().and_then(Value::plain_text).map(|name| split(name).1);
    name.and_then(|name| table::find_program(name, own))
        .is_some_and(|row| matches!(row.repeat, Role::Delete | Role::DeleteTree | Role::Write))
}

/// Does find take what passes any of several tests?
fn has_or(args: &[Value]) -> bool {
    args.iter().any(|a| matches!(a.known_start(), "-o" | "-or" | ","))
}

/// Does that command do no more than read its operands? Then their names say all.
fn only_reads_operands(words: &[Value], own: &'static [Program]) -> bool {
    let Some((first, args)) = words.split_first() else { return false };
    let name = first.plain_text().map_or("", |name| split(name).1);
    table::find_program(name, own).is_some_and(|row| {
        row.complete
            && matches!(row.special, None | Some(Special::Jq))
            && row.effects.is_empty()
            && row.last.is_none()
            && row.repeat == Role::Read
            && row.before.iter().all(|role| *role == Role::Text)
            && {
                let parsed = options::parse_arguments(name, args, own);
                parsed.harmless && !parsed.has_mark(mark::INPLACE | mark::LINKS)
            }
    })
}

/// Everything in the directory, as a glob: what a find prints that leaves nothing out but by type.
pub fn directory_glob(start: &Value) -> Option<Value> {
    let dir = start.plain_text()?.trim_end_matches('/');
    Some(Value::glob(format!("{dir}/*"), start.span.clone()))
}

/// The same as globs, where tests ask for a name. They stand beside [`Value::unknown_below`]: what is deleted or opened
/// up is more than a name.
pub fn named_globs(start: &Value, args: &[Value]) -> Vec<Value> {
    let has = |words: &[&str]| args.iter().any(|a| words.contains(&a.known_start()));
    // What is left out is not found.
    let but = has(&["!", "-not"]) || has(&["-prune"]) && has(&["-o", "-or"]);
    let Some(dir) = start.plain_text() else { return Vec::new() };
    let mut found = lasting_tests(dir, args);
    let names = args.windows(2).filter_map(|pair| Some((pair[0].plain_text()?, &pair[1])));
    for (test, name) in names.filter(|_| !but) {
        let value = match test {
            "-name" => name.clone(),
            "-iname" => name.map(str::to_lowercase),
            // A whole path is told as well.
            "-path" | "-wholename" if name.plain_text().is_some_and(|t| !glob::has_active(t)) => {
                found.push(name.clone());
                continue;
            }
            _ => continue,
        };
        found.extend(value.at_any_depth(dir));
    }
    found.truncate(Cap::Asked.first_admitted(&found).len());
    found
}

/// The files of lasting data that find asks for by how their names end, unless it asks for all but these.
fn lasting_tests(dir: &str, args: &[Value]) -> Vec<Value> {
    let word = |at: usize| args.get(at).and_then(Value::plain_text).unwrap_or_default();
    let not = |at: usize| matches!(word(at), "!" | "-not");
    if (0..args.len()).any(|at| not(at) && word(at + 1) == "(") {
        return Vec::new();
    }
    let asks = |at: &usize| {
        let test = word(*at);
        (names_some(test) || matches!(test, "-regex" | "-iregex"))
            && (*at == 0 || !not(at - 1))
            && word(at + 2) != "-prune"
    };
    let places = (0..args.len()).filter(asks);
    places.filter_map(|at| lasting_glob(dir, args.get(at + 1)?)).collect()
}

/// The files of lasting data that a pattern names by how they end (`*.db`, `.*\.db$`, `*.env`), at any depth: of them
/// the end says enough.
pub fn lasting_glob(dir: &str, pattern: &Value) -> Option<Value> {
    let text = pattern.text()?.to_lowercase().replace(".*", "*").replace('\\', "");
    let name = split(&text).1.trim_end_matches('$');
    let (start, end) = name.rsplit_once('.').filter(|(start, _)| start.starts_with('*'))?;
    let mut words = end.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let told = match words.find(|word| LASTING.contains(word)) {
        Some(word) if word == end => name.to_string(),
        Some(word) => format!("*.{word}"),
        // What the shell's `*` leaves out.
        None if start == "*" && secret::is_told(&name[1..]) => name[1..].to_string(),
        None => return None,
    };
    Some(Value::glob(format!("{}/**/{told}", dir.trim_end_matches('/')), pattern.span.clone()))
}

/// The same for what fd finds.
pub fn lasting_found(own: &Parsed, args: &[Value]) -> Vec<Value> {
    let ends = own.options.iter().filter(|o| o.is_option("-e"));
    let ends = ends.filter_map(|o| Some(o.value.as_ref()?.map(|end| format!("*.{end}"))));
    let whole = own.find_option("-g").is_some();
    let pattern = own.operands.first().map(|at| &args[*at]);
    let pattern = pattern.map(|p| p.map(|p| if whole { p.to_string() } else { format!("*{p}") }));
    let dir = own.operands.get(1).and_then(|at| args[*at].plain_text()).unwrap_or(".");
    ends.chain(pattern).filter_map(|pattern| lasting_glob(dir, &pattern)).collect()
}

/// Guarded names that find asks for, right below its start: the likeliest place, there or not.
fn guarded_names(out: &mut Emitter, start: &Value, args: &[Value]) -> Vec<Value> {
    let Some(dir) = start.plain_text() else { return Vec::new() };
    let asks = |pair: &&[Value]| matches!(pair[0].plain_text(), Some("-name" | "-iname"));
    let names = args.windows(2).filter(asks).filter_map(|pair| pair[1].plain_text());
    let path = |name: &str| format!("{}/{name}", dir.trim_end_matches('/'));
    let here = out.cwd.clone().unwrap_or_default();
    let guarded = |path: &String| out.place.is_guarded(&normalise_path(&join(&here, path)));
    let named = names.map(path).filter(guarded);
    let mut named: Vec<Value> = named.map(|path| Value::known(path, start.span.clone())).collect();
    named.extend(search::by_path(out, start, args));
    named
}

/// A deletion by find: everything, or only what passes the tests.
pub fn emit_found_deletion(out: &mut Emitter, word: Word, start: &Value, filtered: bool) {
    let extent = if filtered { Extent::Below } else { Extent::Tree };
    out.emit_path(word, start, extent, Grade::Certain, Source::Operand);
}

/// dd: `if=` is read, `of=` is written.
pub fn emit_dd(out: &mut Emitter, values: &[Value]) {
    for value in values {
        let text = value.known_start();
        if text.starts_with("if=") {
            out.operand(Word::Read, &value.skip_bytes(3));
        } else if text.starts_with("of=") {
            out.operand(Word::Write, &value.skip_bytes(3));
            note_written(out, &value.skip_bytes(3));
        } else if value.text().is_none() && !text.contains('=') {
            out.operand(Word::Write, &Value::unknown(value.span.clone()));
        }
    }
}

/// What tar is called to do.
#[derive(Default)]
struct Tape {
    /// The letter of what is done: `c`, `x`, `t` ...
    mode: Option<char>,
    archive: Option<Value>,
    /// The directory that it works in.
    start: Option<Value>,
    /// Names may begin with a slash.
    absolute: bool,
}

/// The letters of tar's modes, with the long names that say the same; a later long name counts more.
const MODES: &[(&str, char)] = &[
    ("--create", 'c'),
    ("--extract", 'x'),
    ("--get", 'x'),
    ("--list", 't'),
    ("--append", 'r'),
    ("--update", 'u'),
    ("--diff", 'd'),
];

/// tar in both styles of options.
pub fn emit_tar(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
    let long = MODES.iter().rev().find(|(name, _)| call.has(name)).map(|(_, letter)| *letter);
    let short =
        || ['c', 'x', 't', 'r', 'u', 'A', 'd'].into_iter().find(|m| call.has(&format!("-{m}")));
    let mut tape =
        Tape { mode: long.or_else(short), archive: call.value("-f").cloned(), ..Tape::default() };
    let mut members = values;
    if tape.mode.is_none()
        && let Some((letters, rest)) = values.split_first()
        && let Some(letters) = letters.plain_text()
    {
        members = old_style(out, &mut tape, letters, rest, next);
    }
    checkpoints(out, call, next);
    tape.start = call.value("-C").cloned().or(tape.start);
    tape.absolute |= call.has_any(&["-P", "--absolute-names"]);
    match tape.mode {
        Some('x') => extracted(out, call, tape, members),
        Some('t' | 'd') => opened(out, Word::Read, &tape),
        Some(_) => {
            opened(out, Word::Write, &tape);
            for value in members {
                out.operand_tree(Word::Read, value);
                if call.has("--remove-files") {
                    out.operand_tree(Word::Delete, value);
                }
            }
        }
        None => {
            opened(out, Word::Write, &tape);
            out.push(Word::Write, Grade::Unknown, Source::Operand, call.span.clone());
        }
    }
}

/// The old style: `tar czf FILE ...`; letters with values take the next words in order. Returns the words that are left.
fn old_style<'v>(
    out: &mut Emitter,
    tape: &mut Tape,
    letters: &str,
    rest: &'v [Value],
    next: &mut Vec<Next>,
) -> &'v [Value] {
    tape.mode = letters.chars().find(|c| "cxtruAd".contains(*c));
    tape.absolute |= letters.contains('P');
    let mut rest = rest.iter();
    for letter in letters.chars().filter(|letter| "fCTXbIF".contains(*letter)) {
        let Some(value) = rest.next() else { break };
        match letter {
            'f' => tape.archive = Some(value.clone()),
            'C' => tape.start = Some(value.clone()),
            'I' | 'F' => next.push(Next::script(value.clone())),
            _ => out.operand(Word::Read, value),
        }
    }
    rest.as_slice()
}

/// `--checkpoint-action=exec=CMD`; the others print.
fn checkpoints(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) {
    for option in call.parsed.options.iter().filter(|o| o.name.starts_with("--checkpoint-a")) {
        let Some(value) = &option.value else { continue };
        match value.plain_text() {
            Some(text) if text.starts_with("exec=") => next.push(Next::script(value.skip_bytes(5))),
            Some(_) => {}
            None => out.emit_unknown("tar with an unknown action", value.span.clone()),
        }
    }
}

/// The archive, and the directory that is gone to.
fn opened(out: &mut Emitter, word: Word, tape: &Tape) {
    if let Some(archive) = tape.archive.as_ref().filter(|a| a.plain_text() != Some("-")) {
        out.operand(word, archive);
        // `HOST:FILE` is fetched, or put, by a shell there.
        let host = archive.known_start().split_once(':').map_or("", |(host, _)| host);
        if !host.is_empty() && !host.contains('/') {
            let host = Value::known(host, archive.span.clone());
            out.emit_contact(&host, word == Word::Write, Source::Operand);
            out.push(Word::Code, Grade::Certain, Source::Code, archive.span.clone());
        }
    }
    if let Some(dir) = &tape.start {
        out.chdir(dir);
    }
}

/// What is unpacked here.
fn extracted(out: &mut Emitter, call: &Call, tape: Tape, asked: &[Value]) {
    let spot = tape.archive.as_ref().map(|archive| out.locate_value(archive, Extent::Exact, false));
    let fetched = match &spot {
        Some(Spot::At(target)) => {
            out.written.contains_key(&target.resolved) || out.is_fetched(&target.resolved)
        }
        Some(_) => call.fed,
        None => call.fed,
    };
    opened(out, Word::Read, &tape);
    if tape.start.is_some() {
        emit_elsewhere(out, call);
    }
    if !call.has_any(&["-O", "--to-stdout"]) {
        out.own_path(Word::Write, ".", Extent::Tree, Grade::Certain, call.span.clone());
        emit_members(out, asked, call.has("--wildcards"));
        if let Some(Spot::At(file)) = spot.filter(|_| asked.is_empty()) {
            emit_unpacked(out, &file.resolved, ".");
        }
        if fetched {
            out.fetch_into(&Value::known(".", call.span.clone()));
        }
    }
    if tape.absolute {
        out.push(Word::Write, Grade::Unknown, Source::Operand, call.span.clone());
    }
}

/// The files of an archive that are asked for by name.
pub fn emit_members(out: &mut Emitter, values: &[Value], globs: bool) {
    for value in values {
        let value = match value.text() {
            Some(text) => {
                Value::known(text, value.span.clone()).globbed(globs && glob::has_active(text))
            }
            None => value.clone(),
        };
        out.operand_tree(Word::Write, &value);
    }
}

/// unzip: the archive is read, and all of it, or what is asked for, is written.
pub fn emit_unzip(out: &mut Emitter, call: &Call, values: &[Value]) {
    if let Some(file) = values.first() {
        out.operand(Word::Read, file);
    }
    if call.is_dry_run() {
        return;
    }
    if !call.has("-d") {
        out.own_path(Word::Write, ".", Extent::Tree, Grade::Certain, call.span.clone());
    }
    let Some((file, asked)) = values.split_first() else { return };
    let into = call.value("-d").and_then(Value::plain_text);
    let Some(archive) = out.locate_exact(file) else { return };
    if out.written.contains_key(&archive.resolved) || out.is_fetched(&archive.resolved) {
        out.fetch_into(&Value::known(into.unwrap_or("."), call.span.clone()));
    }
    if asked.is_empty() || call.has("-x") {
        return emit_unpacked(out, &archive.resolved, into.unwrap_or("."));
    }
    let inner = |value: &Value| match into {
        Some(dir) => value.map(|text| format!("{dir}/{text}")),
        None => value.clone(),
    };
    emit_members(out, &asked.iter().map(inner).collect::<Vec<_>>(), true);
}

/// zip: `-m` moves what it packs.
pub(super) fn zip(i: &mut Invocation) {
    i.operands();
    if i.call.has_any(&["-m", "-sdel"]) {
        i.values.iter().skip(1).for_each(|value| i.out.operand_tree(Word::Delete, value));
    }
}

/// test, `[`: the files that are asked about.
pub fn test(out: &mut Emitter, call: &Call) {
    const ASKS: &[&str] = &["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h"];
    for pair in call.args.windows(2) {
        if pair[0].plain_text().is_some_and(|o| ASKS.contains(&o)) && pair[1].text().is_some() {
            out.operand(Word::Read, &pair[1]);
        }
    }
}

/// An archive that is there is unpacked into a directory: what of it lands on something guarded.
pub fn emit_unpacked(out: &mut Emitter, file: &str, dir: &str) {
    let dir = Value::known(dir, 0..0);
    let Spot::At(dir) = out.locate_value(&dir, Extent::Exact, true) else { return };
    if !out.may_guard(&dir) {
        return;
    }
    let bytes = out.read_content(file, limits::ARCHIVE);
    let (names, whole) = archive::member_names(bytes.as_deref().unwrap_or_default());
    if bytes.is_none() && out.resolver.exists(file) || !whole {
        // Everyday archives are large: what of them is not seen is possible, not unknown.
        out.add_note("an archive with more in it than is looked at");
        let target = Target { extent: Extent::Tree, ..dir.clone() };
        out.push_effect(Word::Write, Grade::Possible, Some(target), None, Source::Operand, 0..0);
    }
    for name in names {
        let path = normalise_path(&format!("{}/{name}", dir.lexical));
        if out.place.is_guarded(&path) {
            out.guard_changed(Word::Write, &path, 0..0);
        }
    }
}

/// ln: the name is written, and leads to the target from then on.
pub fn emit_ln(out: &mut Emitter, call: &Call, values: &[Value]) {
    let into = call.value("-t");
    let (sources, name) = match (into, values) {
        (Some(dir), sources) => (sources, Some(dir)),
        (None, [only]) => (std::slice::from_ref(only), None),
        (None, [sources @ .., last]) => (sources, Some(last)),
        (None, []) => return,
    };
    let dir = match name.map(|name| out.locate_value(name, Extent::Exact, true)) {
        None => out.cwd.clone().map(|cwd| (cwd, true)),
        Some(Spot::At(t)) if t.extent == Extent::Exact => {
            let is_dir = into.is_some() || sources.len() > 1 || out.resolver.is_dir(&t.resolved);
            Some((t.lexical, is_dir))
        }
        Some(_) => None,
    };
    for source in sources {
        let from = out.analysis.effects.len();
        out.operand_tree(Word::Read, source);
        out.emit_second_names(from);
        let made = dir.as_ref().and_then(|dir| link(out, call, source.plain_text()?, dir));
        if made.is_none() {
            // Paths through this link would lead nobody knows where.
            out.push(Word::Write, Grade::Unknown, Source::Operand, call.span.clone());
        }
    }
}

/// Makes one link, in a directory or as what is named; None = nobody knows where it leads.
fn link(out: &mut Emitter, call: &Call, text: &str, place: &(String, bool)) -> Option<()> {
    let (place, is_dir) = place;
    let own = match is_dir {
        true => normalise_path(&format!("{place}/{}", split(text.trim_end_matches('/')).1)),
        false => normalise_path(place),
    };
    out.operand(Word::Write, &Value::known(own.clone(), call.span.clone()));
    let to = match call.has("-s") || is_absolute(text) {
        true => text.to_string(),
        false => format!("{}/{text}", out.cwd.as_ref()?),
    };
    out.resolver.add_link(&own, &to);
    Some(())
}

/// gzip and its kin: FILE becomes FILE.gz.
pub fn emit_gzip(out: &mut Emitter, call: &Call, values: &[Value]) {
    let keeps = match call.name {
        "zstd" | "unzstd" => !call.has("--rm"),
        _ => call.parsed.has_mark(mark::KEEP),
    };
    let words: &[Word] = match (call.parsed.has_mark(mark::STDOUT), keeps) {
        (true, _) => &[Word::Read],
        (false, true) => &[Word::Read, Word::Write],
        (false, false) => &[Word::Read, Word::Write, Word::Delete],
    };
    for value in values {
        if value.plain_text() == Some("-") {
            continue;
        }
        let extent = if call.parsed.has_mark(mark::TREE) { Extent::Tree } else { Extent::Exact };
        for word in words {
            out.emit_path(*word, value, extent, Grade::Certain, Source::Operand);
        }
    }
}
