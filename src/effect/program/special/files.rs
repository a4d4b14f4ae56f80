//! Programs on files: find, dd, tar, ln, gzip.

use super::super::effects::{Call, Next, elsewhere, written};
use super::super::options;
use super::super::table::{self, Program, Role, Special, mark};
use super::{Invocation, search};
use crate::effect::archive;
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::names::find::{ALONE, VALUED};
use crate::effect::path::{join, normalise, split};
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Target, Word};
use crate::glob;
use crate::limits::{self, Cap};

/// Is that word an action of find's on what it finds?
fn is_action(word: &str) -> bool {
    matches!(word, "-delete" | "-exec" | "-execdir" | "-ok" | "-okdir")
}

/// Does that word begin find's expression?
fn is_test(word: &str) -> bool {
    word.starts_with('-') || matches!(word, "(" | ")" | "!" | ",")
}

/// How many options stand before the places where find starts.
fn before_starts(args: &[Value]) -> usize {
    let mut at = 0;
    while let Some(option) = args.get(at).and_then(Value::plain) {
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
    /// A test asks for a type.
    typed: bool,
}

/// find: start paths, tests, actions.
pub fn find(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) {
    let args = call.args;
    let begin = before_starts(args);
    let starts = args[begin..].iter().take_while(|arg| !is_test(arg.start()));
    let mut starts: Vec<Value> = starts.cloned().collect();
    let from = begin + starts.len();
    if starts.is_empty() {
        starts.push(Value::known(".", call.span.clone()));
    }
    starts.iter().for_each(|start| out.operand_tree(Word::Read, start));
    let tests = &args[from..];
    let met = match tests.iter().any(|arg| arg.plain().is_some_and(is_action)) {
        true => search::met(out, &starts, tests, follows(args), changes(tests, out.place.programs)),
        false => Vec::new(),
    };
    let mut finding = Finding { call, starts, from, met, filtered: false, typed: false };
    let mut at = from;
    while at < args.len() {
        at = finding.step(out, at, next);
    }
}

impl Finding<'_, '_> {
    /// One test or action; returns where the next one stands.
    fn step(&mut self, out: &mut Emitter, at: usize, next: &mut Vec<Next>) -> usize {
        let Some(word) = self.call.args[at].plain() else {
            let span = self.call.args[at].span.clone();
            out.unknown("find with an argument known only at run time", span);
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
            "-not" | "!" => self.filtered = true,
            _ if ALONE.contains(&word) => self.filtered = true,
            _ if VALUED.contains(&word) => {
                // `-name '*'` leaves nothing out.
                self.filtered |= value.is_none_or(|a| !matches!(a.plain(), Some("*" | "**")));
                return at + 2;
            }
            _ => {}
        }
        at + 1
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
            below(out, Word::Delete, start, self.filtered);
            let guarded = guarded_names(out, start, args);
            named(start, args).iter().chain(&guarded).for_each(|n| out.operand(Word::Delete, n));
        }
        for path in self.taken(at) {
            out.guard_changed(Word::Delete, &path, self.call.span.clone());
        }
    }

    /// `-exec CMD ;`; returns what stands behind it.
    fn runs(&self, out: &mut Emitter, at: usize, next: &mut Vec<Next>) -> usize {
        let args = self.call.args;
        let behind = &args[at + 1..];
        let ends = |arg: &Value| matches!(arg.plain(), Some(";" | "+"));
        let command = &behind[..behind.iter().position(ends).unwrap_or(behind.len())];
        if command.is_empty() {
            return at + 2;
        }
        let mut run = |item: &Value| {
            next.push(Next::words(command.iter().map(|a| a.with("{}", item)).collect()));
        };
        for path in self.taken(at) {
            run(&Value::known(path, self.call.span.clone()));
        }
        let reads = reads(command, out.place.programs) && !has_or(args);
        let placed = command.iter().any(|a| a.start().contains("{}"));
        for start in &self.starts {
            let names = named(start, args);
            if names.is_empty() || !reads {
                run(&start.below());
            }
            names.iter().for_each(&mut run);
            guarded_names(out, start, args).iter().for_each(&mut run);
            if self.typed && !self.filtered && deletes(command, out.place.programs) {
                all(start).iter().for_each(&mut run);
            }
            // Without a test the start itself is among what is found.
            if !self.filtered && !self.typed && placed {
                run(start);
            }
        }
        at + command.len() + 2
    }
}

/// Does find do more to what it finds than read it?
fn changes(tests: &[Value], own: &'static [Program]) -> bool {
    tests.iter().enumerate().any(|(at, test)| match test.plain() {
        Some("-delete") => true,
        Some(action) if is_action(action) => {
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
    let expression = args.iter().position(|arg| is_test(arg.start()));
    let (starts, tests) = args.split_at(expression.unwrap_or(args.len()));
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
        next.push(Next::words(words));
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
            out.operand(Word::Read, &value.rest(3));
        } else if text.starts_with("of=") {
            out.operand(Word::Write, &value.rest(3));
            written(out, &value.rest(3));
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
pub fn tar(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
    let long = MODES.iter().rev().find(|(name, _)| call.has(name)).map(|(_, letter)| *letter);
    let short =
        || ['c', 'x', 't', 'r', 'u', 'A', 'd'].into_iter().find(|m| call.has(&format!("-{m}")));
    let mut tape =
        Tape { mode: long.or_else(short), archive: call.value("-f").cloned(), ..Tape::default() };
    let mut members = values;
    if tape.mode.is_none()
        && let Some((letters, rest)) = values.split_first()
        && let Some(letters) = letters.plain()
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
        match value.plain() {
            Some(text) if text.starts_with("exec=") => next.push(Next::script(value.rest(5))),
            Some(_) => {}
            None => out.unknown("tar with an unknown action", value.span.clone()),
        }
    }
}

/// The archive, and the directory that is gone to.
fn opened(out: &mut Emitter, word: Word, tape: &Tape) {
    if let Some(archive) = tape.archive.as_ref().filter(|a| a.plain() != Some("-")) {
        out.operand(word, archive);
    }
    if let Some(dir) = &tape.start {
        out.chdir(dir);
    }
}

/// What is unpacked here.
fn extracted(out: &mut Emitter, call: &Call, tape: Tape, asked: &[Value]) {
    let spot = tape.archive.as_ref().map(|archive| out.spot(archive, Extent::Exact, false));
    let fetched = match &spot {
        Some(Spot::At(target)) => out.written.contains_key(&target.resolved),
        Some(_) => call.fed,
        None => false,
    };
    opened(out, Word::Read, &tape);
    if tape.start.is_some() {
        elsewhere(out, call);
    }
    if !call.has_any(&["-O", "--to-stdout"]) {
        out.own_path(Word::Write, ".", Extent::Tree, Grade::Certain, call.span.clone());
        members(out, asked, call.has("--wildcards"));
        if let Some(Spot::At(file)) = spot.filter(|_| asked.is_empty()) {
            unpacked(out, &file.resolved, ".");
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
pub fn members(out: &mut Emitter, values: &[Value], globs: bool) {
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
pub fn unzip(out: &mut Emitter, call: &Call, values: &[Value]) {
    if let Some(file) = values.first() {
        out.operand(Word::Read, file);
    }
    if call.dry() {
        return;
    }
    if !call.has("-d") {
        out.own_path(Word::Write, ".", Extent::Tree, Grade::Certain, call.span.clone());
    }
    let Some((file, asked)) = values.split_first() else { return };
    let into = call.value("-d").and_then(Value::plain);
    let Spot::At(archive) = out.spot(file, Extent::Exact, false) else { return };
    if asked.is_empty() || call.has("-x") {
        return unpacked(out, &archive.resolved, into.unwrap_or("."));
    }
    let inner = |value: &Value| match into {
        Some(dir) => value.map(|text| format!("{dir}/{text}")),
        None => value.clone(),
    };
    members(out, &asked.iter().map(inner).collect::<Vec<_>>(), true);
}

/// zip: `-m` moves what it packs.
pub(super) fn zip(i: &mut Invocation) {
    i.operands();
    if i.call.has("-m") {
        i.values.iter().skip(1).for_each(|value| i.out.operand_tree(Word::Delete, value));
    }
}

/// test, `[`: the files that are asked about.
pub fn test(out: &mut Emitter, call: &Call) {
    const ASKS: &[&str] = &["-e", "-f", "-d", "-r", "-w", "-x", "-s", "-L", "-h"];
    for pair in call.args.windows(2) {
        if pair[0].plain().is_some_and(|o| ASKS.contains(&o)) && pair[1].text().is_some() {
            out.operand(Word::Read, &pair[1]);
        }
    }
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
    let into = call.value("-t");
    let (sources, name) = match (into, values) {
        (Some(dir), sources) => (sources, Some(dir)),
        (None, [only]) => (std::slice::from_ref(only), None),
        (None, [sources @ .., last]) => (sources, Some(last)),
        (None, []) => return,
    };
    let dir = match name.map(|name| out.spot(name, Extent::Exact, true)) {
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
        out.linked(from);
        let made = dir.as_ref().and_then(|dir| link(out, call, source.plain()?, dir));
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
        true => normalise(&format!("{place}/{}", split(text.trim_end_matches('/')).1)),
        false => normalise(place),
    };
    out.operand(Word::Write, &Value::known(own.clone(), call.span.clone()));
    let to = match call.has("-s") || text.starts_with('/') {
        true => text.to_string(),
        false => format!("{}/{text}", out.cwd.as_ref()?),
    };
    out.resolver.link(&own, &to);
    Some(())
}

/// gzip and its kin: FILE becomes FILE.gz.
pub fn gzip(out: &mut Emitter, call: &Call, values: &[Value]) {
    let keeps = match call.name {
        "zstd" | "unzstd" => !call.has("--rm"),
        _ => call.parsed.has(mark::KEEP),
    };
    let words: &[Word] = match (call.parsed.has(mark::STDOUT), keeps) {
        (true, _) => &[Word::Read],
        (false, true) => &[Word::Read, Word::Write],
        (false, false) => &[Word::Read, Word::Write, Word::Delete],
    };
    for value in values {
        if value.plain() == Some("-") {
            continue;
        }
        let extent = if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Exact };
        for word in words {
            out.path(*word, value, extent, Grade::Certain, Source::Operand);
        }
    }
}
