//! What a search does to the guarded files that are there: find's expression, asked of one file.
//!
//! Whether `find . -name '*.toml' -delete` takes a file along depends on all of its tests; of a file
//! that is known most of them can be answered. What cannot may hold or not.

use std::fs::{self, Metadata};
use std::time::SystemTime;

use super::super::options::Parsed;
use super::super::table::mark;
use crate::effect::emitter::Emitter;
use crate::effect::guarded;
use crate::effect::path::split;
use crate::effect::value::Value;
use crate::glob;
use crate::limits::{self, Cap};
use crate::names::find::HOLDING;

/// Tests on the whole path.
const PATH_TESTS: &[&str] = &["-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex"];
/// A guarded file that a search meets.
pub struct Met {
    /// Its absolute path.
    pub path: String,
    /// The places, among the arguments, of the actions that are taken on it.
    pub actions: Vec<usize>,
}

/// The guarded files below the starts that the expression takes an action on.
///
/// Where there may be more of them and the actions are `changes`, that is not understood.
pub fn find_guarded(
    out: &mut Emitter,
    starts: &[Value],
    args: &[Value],
    links: bool,
    changes: bool,
) -> Vec<Met> {
    let acts = |a: &Value| {
        matches!(
            a.plain_text(),
            Some("-delete" | "-exec" | "-execdir" | "-ok" | "-okdir" | "-print" | "-print0")
        )
    };
    let mut found = Vec::new();
    let printed = !args.iter().any(acts);
    for start in &search_roots(out, starts, links, changes) {
        let Some(dir) = out.locate_exact(start) else { continue };
        for path in out.guards_below(&dir, changes) {
            if !limits::spend_look() {
                return found;
            }
            let base = [&dir.lexical, &dir.resolved]
                .into_iter()
                .find_map(|d| path.strip_prefix(d.as_str()));
            let Some(rest) = base else { continue };
            let shown = format!("{}{rest}", start.known_start().trim_end_matches('/'));
            let Ok(meta) = fs::symlink_metadata(&path) else { continue };
            let depth = rest.matches('/').count();
            let file = VisitedFile { shown: &shown, meta: &meta, depth };
            let mut search = Search { args, at: 0, file, actions: Vec::new(), pruned: false };
            let truth = search.evaluate();
            let mut actions = search.actions;
            if printed && truth.may {
                actions.push(args.len());
            }
            if !actions.is_empty() && !pruned_above(args, start, rest, &dir.resolved) {
                found.push(Met { path, actions });
            }
        }
    }
    found
}

/// The starts, and the links right below them where links are followed.
fn search_roots(out: &mut Emitter, starts: &[Value], links: bool, changes: bool) -> Vec<Value> {
    let mut roots = starts.to_vec();
    for start in starts.iter().filter(|_| links) {
        let Some(dir) = out.locate_exact(start) else { continue };
        let entries = fs::read_dir(&dir.resolved).into_iter().flatten().flatten();
        for (count, entry) in entries.enumerate() {
            if count >= Cap::Linked.limit() {
                if changes {
                    Cap::Linked.note_reached();
                }
                break;
            }
            if entry.file_type().is_ok_and(|kind| kind.is_symlink())
                && let Ok(name) = entry.file_name().into_string()
            {
                let text = format!("{}/{name}", start.known_start().trim_end_matches('/'));
                roots.push(Value::known(text, start.span.clone()));
            }
        }
    }
    roots
}

/// Does the search leave a directory out that leads to the file?
fn pruned_above(args: &[Value], start: &Value, rest: &str, dir: &str) -> bool {
    if !args.iter().any(|a| a.plain_text() == Some("-prune")) {
        return false;
    }
    let ends = rest.char_indices().filter(|(at, c)| *c == '/' && *at > 0).map(|(at, _)| at);
    ends.into_iter().any(|end| {
        let shown = format!("{}{}", start.known_start().trim_end_matches('/'), &rest[..end]);
        let Ok(meta) = fs::symlink_metadata(format!("{dir}{}", &rest[..end])) else { return false };
        let depth = rest[..end].matches('/').count();
        let file = VisitedFile { shown: &shown, meta: &meta, depth };
        let mut search = Search { args, at: 0, file, actions: Vec::new(), pruned: false };
        search.evaluate();
        search.pruned
    })
}

struct VisitedFile<'a> {
    /// As find shows it.
    shown: &'a str,
    meta: &'a Metadata,
    depth: usize,
}

impl VisitedFile<'_> {
    /// A test on its name or path; the outer None = it is none.
    fn named(&self, test: &str, value: &str) -> Option<Option<bool>> {
        let folded = |text: &str| text.to_lowercase();
        let name = split(self.shown).1;
        Some(match test {
            "-name" => Some(glob::matches(value, name)),
            "-iname" => Some(glob::matches(&folded(value), &folded(name))),
            "-path" | "-wholename" => Some(glob::matches(value, self.shown)),
            "-ipath" | "-iwholename" => Some(glob::matches(&folded(value), &folded(self.shown))),
            "-regex" | "-iregex" => matches_path(value, self.shown, test == "-iregex"),
            _ => return None,
        })
    }

    /// A test on its type, its age, its size; None = it cannot be told.
    fn is(&self, test: &str, value: &str) -> Option<bool> {
        let meta = self.meta;
        Some(match test {
            "-type" | "-xtype" => value.split(',').any(|kind| match kind {
                "f" => meta.is_file(),
                "d" => meta.is_dir(),
                "l" => meta.is_symlink(),
                _ => false,
            }),
            "-maxdepth" => value.parse::<usize>().is_ok_and(|most| self.depth <= most),
            "-mindepth" => value.parse::<usize>().is_ok_and(|least| self.depth >= least),
            "-mtime" | "-ctime" | "-atime" => {
                compare_number(value, age_in_seconds(meta)? / 86_400)?
            }
            "-mmin" | "-cmin" | "-amin" => compare_number(value, age_in_seconds(meta)? / 60)?,
            "-size" => compare_size(value, meta.len())?,
            "-newer" | "-anewer" | "-cnewer" => {
                fs::metadata(value).ok()?.modified().ok()? < meta.modified().ok()?
            }
            "-perm" => has_mode(value, meta)?,
            "-regextype" | "-printf" | "-fprint" | "-fprint0" | "-fls" | "-fprintf" => true,
            _ => return None,
        })
    }
}

/// One walk through the expression for one file.
struct Search<'a> {
    args: &'a [Value],
    at: usize,
    file: VisitedFile<'a>,
    actions: Vec<usize>,
    pruned: bool,
}

/// Does something hold? Of what cannot be told both are so.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SearchTruth {
    /// It may hold.
    may: bool,
    /// It holds for certain.
    must: bool,
}

impl SearchTruth {
    const YES: SearchTruth = SearchTruth { may: true, must: true };
    const NO: SearchTruth = SearchTruth { may: false, must: false };
    const OPEN: SearchTruth = SearchTruth { may: true, must: false };

    fn from_answer(told: Option<bool>) -> SearchTruth {
        match told {
            Some(true) => SearchTruth::YES,
            Some(false) => SearchTruth::NO,
            None => SearchTruth::OPEN,
        }
    }

    fn not(self, not: bool) -> SearchTruth {
        if not { SearchTruth { may: !self.must, must: !self.may } } else { self }
    }

    fn and(self, other: SearchTruth) -> SearchTruth {
        SearchTruth { may: self.may && other.may, must: self.must && other.must }
    }

    fn or(self, other: SearchTruth) -> SearchTruth {
        SearchTruth { may: self.may || other.may, must: self.must || other.must }
    }
}

/// What is known within one pair of brackets.
struct Level {
    /// Is it evaluated at all?
    live: SearchTruth,
    /// Does a `!` stand before the bracket?
    not: bool,
    /// An alternative before the present one held.
    any: SearchTruth,
    /// All of the present alternative held so far.
    all: SearchTruth,
}

impl Level {
    fn new(live: SearchTruth, not: bool) -> Level {
        Level { live, not, any: SearchTruth::NO, all: SearchTruth::YES }
    }

    fn truth(&self) -> SearchTruth {
        self.any.or(self.all)
    }

    fn is_live(&self) -> SearchTruth {
        self.live.and(self.any.not(true)).and(self.all)
    }
}

impl Search<'_> {
    fn current_word(&self) -> Option<&str> {
        self.args.get(self.at).map(Value::known_start)
    }

    /// The whole expression: `a b` before `a -o b` before `a , b`, brackets by a stack of their own.
    fn evaluate(&mut self) -> SearchTruth {
        let mut outer: Vec<Level> = Vec::new();
        let mut level = Level::new(SearchTruth::YES, false);
        let mut not = false;
        while let Some(word) = self.current_word() {
            match word {
                "!" | "-not" => not = !not,
                "(" => {
                    let inner = Level::new(level.is_live(), std::mem::take(&mut not));
                    outer.push(std::mem::replace(&mut level, inner));
                }
                ")" => {
                    let truth = level.truth().not(level.not);
                    level = outer.pop().unwrap_or_else(|| Level::new(SearchTruth::YES, false));
                    level.all = level.all.and(truth);
                }
                "-o" | "-or" => {
                    level = Level { any: level.truth(), all: SearchTruth::YES, ..level }
                }
                "," => level = Level { any: SearchTruth::NO, all: SearchTruth::YES, ..level },
                "-a" | "-and" => {}
                _ => {
                    let truth = SearchTruth::from_answer(self.evaluate_test(level.is_live()));
                    level.all = level.all.and(truth.not(std::mem::take(&mut not)));
                    continue;
                }
            }
            self.at += 1;
        }
        while let Some(up) = outer.pop() {
            let truth = level.truth().not(level.not);
            level = Level { all: up.all.and(truth), ..up };
        }
        level.truth()
    }

    /// One test or action; None = it cannot be told.
    fn evaluate_test(&mut self, live: SearchTruth) -> Option<bool> {
        let at = self.at;
        let word = self.current_word().unwrap_or_default().to_string();
        self.at += 1;
        match word.as_str() {
            "-delete" | "-print" | "-print0" => return Some(self.note_action(at, live)),
            "-exec" | "-execdir" | "-ok" | "-okdir" => return self.command(at, live),
            "-prune" => {
                self.pruned |= live.must;
                return Some(true);
            }
            "-false" | "-nouser" | "-nogroup" => return Some(false),
            "-empty" => return Some(self.file.meta.is_file() && self.file.meta.len() == 0),
            "-readable" | "-writable" | "-executable" => return None,
            word if HOLDING.contains(&word) => return Some(true),
            _ => {}
        }
        let value = self.args.get(self.at).and_then(Value::text);
        self.at += usize::from(word.starts_with('-'));
        self.at += usize::from(value.is_some() && word == "-fprintf");
        let value = value?;
        let file = &self.file;
        file.named(&word, value).unwrap_or_else(|| file.is(&word, value))
    }

    /// `-exec CMD ;`: one that runs for each file is a test as well.
    fn command(&mut self, at: usize, live: SearchTruth) -> Option<bool> {
        while self.current_word().is_some_and(|word| !matches!(word, ";" | "+")) {
            self.at += 1;
        }
        let each = self.current_word() == Some(";");
        self.at += 1;
        self.note_action(at, live);
        (!each).then_some(true)
    }

    fn note_action(&mut self, at: usize, live: SearchTruth) -> bool {
        if live.may {
            self.actions.push(at);
        }
        true
    }
}

/// The guarded paths below a start that a test on whole paths asks for, there or not.
pub fn by_path(out: &mut Emitter, start: &Value, args: &[Value]) -> Vec<Value> {
    let has = |words: &[&str]| args.iter().any(|a| words.contains(&a.known_start()));
    let but = has(&["!", "-not"]) || has(&["-prune"]) && has(&["-o", "-or"]);
    let tests: Vec<(&str, &str)> = args
        .windows(2)
        .filter_map(|pair| Some((pair[0].plain_text()?, pair[1].plain_text()?)))
        .filter(|(test, _)| PATH_TESTS.contains(test))
        .collect();
    let Some(dir) = out.locate_exact(start) else { return Vec::new() };
    if but || tests.is_empty() || !out.may_guard(&dir) {
        return Vec::new();
    }
    let folded = |text: &str| text.to_lowercase();
    let passes = |shown: &str| {
        let fits = |(test, pattern): &(&str, &str)| {
            // Who asks for it says some of its name.
            let said = pattern.replace(['\\', '[', ']'], "").to_lowercase();
            let parts = shown.split(['/', '.']).filter(|part| part.len() > 4);
            parts.clone().any(|part| said.contains(&folded(part)))
                && match *test {
                    "-path" | "-wholename" => glob::matches(pattern, shown),
                    "-ipath" | "-iwholename" => glob::matches(&folded(pattern), &folded(shown)),
                    _ => matches_path(pattern, shown, *test == "-iregex") != Some(false),
                }
        };
        match has(&["-o", "-or", ","]) {
            true => tests.iter().any(fits),
            false => tests.iter().all(fits),
        }
    };
    let base = start.known_start().trim_end_matches('/');
    let below = |path: String| {
        let rest = path.strip_prefix(dir.lexical.trim_end_matches('/'))?;
        (rest.starts_with('/') && passes(&format!("{base}{rest}"))).then_some(path)
    };
    let paths = out.place.guarded_paths().into_iter().flat_map(|path| {
        // What lies in a guarded directory.
        let inner = format!("{path}/settings.json");
        [path, inner]
    });
    let found = paths.filter_map(below);
    found.map(|path| Value::known(path, start.span.clone())).collect()
}

/// The whole path against an expression in Emacs' way of writing, where brackets and bars are escaped.
fn matches_path(pattern: &str, text: &str, fold: bool) -> Option<bool> {
    let plain = pattern.replace("\\(", "(").replace("\\)", ")").replace("\\|", "|");
    let flag = if fold { "(?i)" } else { "" };
    let whole = format!("{flag}^(?:{plain})$");
    Some(compile_expression(&whole)?.is_match(text))
}

/// An expression of a bounded size.
pub fn compile_expression(text: &str) -> Option<regex_lite::Regex> {
    regex_lite::RegexBuilder::new(text).size_limit(limits::EXPRESSION).build().ok()
}

/// Has the file such a mode, in numbers: just that one, all of its bits (`-`), or one of them (`/`)?
#[cfg(unix)]
fn has_mode(wanted: &str, meta: &Metadata) -> Option<bool> {
    use std::os::unix::fs::MetadataExt as _;
    let mode = meta.mode() & 0o7777;
    let bits = u32::from_str_radix(wanted.trim_start_matches(['-', '/']), 8).ok()?;
    Some(match wanted.as_bytes().first()? {
        b'-' => mode & bits == bits,
        b'/' => bits == 0 || mode & bits != 0,
        _ => mode == bits,
    })
}

#[cfg(not(unix))]
fn has_mode(_wanted: &str, _meta: &Metadata) -> Option<bool> {
    None
}

fn age_in_seconds(meta: &Metadata) -> Option<u64> {
    Some(SystemTime::now().duration_since(meta.modified().ok()?).ok()?.as_secs())
}

/// `+N` more, `-N` less, `N` exactly.
fn compare_number(wanted: &str, value: u64) -> Option<bool> {
    let number = |text: &str| text.parse::<u64>().ok();
    Some(match wanted.as_bytes().first()? {
        b'+' => value > number(&wanted[1..])?,
        b'-' => value < number(&wanted[1..])?,
        _ => value == number(wanted)?,
    })
}

fn compare_size(wanted: &str, bytes: u64) -> Option<bool> {
    let (number, unit) = match wanted.as_bytes().last()? {
        b'c' => (&wanted[..wanted.len() - 1], 1),
        b'w' => (&wanted[..wanted.len() - 1], 2),
        b'k' => (&wanted[..wanted.len() - 1], 1 << 10),
        b'M' => (&wanted[..wanted.len() - 1], 1 << 20),
        b'G' => (&wanted[..wanted.len() - 1], 1 << 30),
        b'b' => (&wanted[..wanted.len() - 1], 512),
        _ => (wanted, 512),
    };
    compare_number(number, bytes.div_ceil(unit))
}

/// The guarded files below a start that fd finds by its pattern.
pub fn by_pattern(
    out: &mut Emitter,
    own: &Parsed,
    start: &Value,
    pattern: Option<&Value>,
    changes: bool,
) -> Vec<Value> {
    let Some(dir) = out.locate_exact(start) else { return Vec::new() };
    let there = out.guards_below(&dir, changes);
    let text = pattern.map_or("", Value::known_start);
    let ends = own
        .find_option("-e")
        .and_then(|o| o.value.as_ref())
        .map(|v| format!(".{}", v.known_start()));
    let kind = own.find_option("-t").and_then(|o| o.value.as_ref()).and_then(Value::plain_text);
    let hidden = own.has_mark(mark::TREE);
    let finds = |path: &str, sure: bool| {
        let name = split(path).1;
        let shown = path.strip_prefix(dir.lexical.trim_end_matches('/')).unwrap_or(path);
        (hidden || !shown.contains("/."))
            && ends.as_ref().is_none_or(|end| name.ends_with(end.as_str()))
            && kind.is_none_or(|kind| {
                !sure || kind.starts_with('f') != fs::metadata(path).is_ok_and(|m| m.is_dir())
            })
            && match text {
                "" | "." => true,
                _ if own.find_option("-g").is_some() => glob::matches(text, name),
                _ if own.find_option("-F").is_some() => name.contains(text),
                _ => {
                    let fold = if text.chars().any(char::is_uppercase) { "" } else { "(?i)" };
                    compile_expression(&format!("{fold}{text}")).is_none_or(|re| re.is_match(name))
                }
            }
    };
    let mut found: Vec<String> = there.into_iter().filter(|path| finds(path, true)).collect();
    // Who asks for it by name means it, there or not.
    if text.contains(guarded::NAME) {
        let named = out.place.guarded_paths().into_iter();
        let within = |path: &String| path.starts_with(&dir.lexical) && !found.contains(path);
        found.extend(named.filter(|path| within(path) && finds(path, false)).collect::<Vec<_>>());
    }
    found.into_iter().map(|path| Value::known(path, start.span.clone())).collect()
}
