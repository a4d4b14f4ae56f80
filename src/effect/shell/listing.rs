//! Commands that print paths: what every line of theirs is known to lie below.

use super::Feed;
use super::filter::{self, Handed};
use crate::effect::program::listed::stays_below;
use crate::effect::program::special;
use crate::effect::program::table::Program;
use crate::effect::value::Value;
use crate::limits;

/// Something below the directory.
pub(super) fn anything_below() -> Feed {
    Feed::Lines(Value::known(".", 0..0).unknown_below())
}

/// The same where some of it is known by name.
pub(super) fn files_below(args: &[Value], named: Vec<Value>) -> Option<Feed> {
    let some = stays_below(args).then(|| Value::known(".", 0..0).unknown_below())?;
    Some(if named.is_empty() { Feed::Lines(some) } else { Feed::Found(some, named) })
}

/// The files of lasting data that a program is to name.
pub(super) fn lasting(args: &[Value]) -> Vec<Value> {
    args.iter().filter_map(|pattern| special::lasting_glob(".", pattern)).collect()
}

/// find's words, with a test in place of each program that it starts; None where that may print anything.
fn without_runs(args: &[Value], own: &'static [Program]) -> Option<Vec<Value>> {
    let (mut words, mut at) = (Vec::new(), 0);
    while let Some(arg) = args.get(at) {
        at += 1;
        if arg.plain_text() != Some("-exec") {
            words.push(arg.clone());
            continue;
        }
        let ends = |arg: &Value| matches!(arg.plain_text(), Some(";" | "+"));
        let length = args[at..].iter().position(ends)?;
        if !keeps_names(&args[at..at + length], own) {
            return None;
        }
        words.push(Value::known("-executable", arg.span.clone()));
        at += length + 1;
    }
    Some(words)
}

/// Does a program that is given what find found print some of it, or nothing?
fn keeps_names(run: &[Value], own: &'static [Program]) -> bool {
    matches!(filter::handed_on(run, Some("{}"), own), Some(Handed::Paths | Handed::Nothing))
}

/// find prints what lies below its one start.
pub(super) fn find_listing(args: &[Value], own: &'static [Program]) -> Option<Feed> {
    let args = &without_runs(args, own)?[..];
    let mut at = 0;
    while args.get(at).is_some_and(|a| {
        matches!(a.plain_text(), Some("-H" | "-L" | "-P")) || a.known_start().starts_with("-O")
    }) {
        at += 1;
    }
    let other = |a: &Value| {
        ["-printf", "-execdir", "-ls", "-fls", "-files0", "-D"]
            .iter()
            .any(|o| a.known_start().starts_with(o))
    };
    if args[at..].iter().any(other) {
        return None;
    }
    let starts: Vec<&Value> = args[at..].iter().take_while(|a| is_start(a)).collect();
    let start = match starts[..] {
        [] => Value::known(".", 0..0),
        [one] => one.clone(),
        // Of several that is known which lie below the directory.
        _ => {
            let apart = |start: &&Value| !start.known_start().trim_matches(['.', '/']).is_empty();
            let named = special::named_globs(&Value::known(".", 0..0), args);
            let starts: Vec<Value> = starts.into_iter().filter(apart).cloned().collect();
            let count = args[at..].iter().take_while(|a| is_start(a)).count();
            return files_below(&starts, named).filter(|_| starts.len() == count);
        }
    };
    let mut tests = args[at..].iter().filter(|a| a.known_start().starts_with(['-', '(', '!']));
    let plain = ["-print", "-print0", "-depth", "-d", "-xdev", "-mount"];
    let by_type = ["-type", "-maxdepth", "-mindepth"];
    Some(if tests.clone().all(|a| plain.contains(&a.known_start())) {
        Feed::Tree(start)
    } else if tests.all(|a| plain.contains(&a.known_start()) || by_type.contains(&a.known_start()))
    {
        Feed::Whole(start.unknown_below(), special::directory_glob(&start))
    } else {
        match special::named_globs(&start, args) {
            named if named.is_empty() => Feed::Lines(start.unknown_below()),
            named => Feed::Found(start.unknown_below(), named),
        }
    })
}

/// Is it no test of find's?
fn is_start(arg: &Value) -> bool {
    !arg.known_start().starts_with(['-', '(', '!'])
}

/// Does printf print each of its words, and between them nothing but what ends a name?
pub fn prints_each(format: &str) -> bool {
    let end = format.strip_prefix("%s").unwrap_or_default();
    matches!(end, "\\n" | "\\0" | "\\000" | "\n" | " ")
}

/// The words that a program prints one by one, where some of them are globs.
pub fn printed_words(words: &[Value]) -> Option<Feed> {
    let (first, rest) = words.split_first()?;
    let told = |word: &Value| word.is_glob() || word.plain_text().is_some() || word.is_found();
    (rest.len() <= limits::VALUES && words.iter().all(told)).then(|| match rest {
        [] => Feed::Lines(first.clone()),
        _ => Feed::Found(first.clone(), rest.to_vec()),
    })
}

/// Does a filter print lines of its input as they are, and nothing else?
pub fn whole_lines(program: &str, args: &[Value], operands: &[&Value]) -> bool {
    let allowed = match program {
        "grep" | "egrep" | "rg" => "viEFGxwmaPsze0123456789",
        "sort" => "nruzfkthVgds0123456789.,:",
        "uniq" => "duiz",
        "head" | "tail" => "nqz0123456789",
        _ => "nzr0123456789",
    };
    let options = args.iter().filter(|a| a.known_start().starts_with('-')).all(|a| {
        let text = a.known_start();
        a.text().is_some()
            && (matches!(text, "--invert-match" | "--ignore-case" | "--unique" | "--reverse")
                || text[1..].chars().all(|c| allowed.contains(c)))
    });
    // Another operand than grep's pattern may be a file, which it would read instead.
    let files = operands.iter().filter(|o| {
        o.plain_text()
            .is_none_or(|t| t.len() > 1 && t.trim_start_matches('+').parse::<i64>().is_err())
    });
    let searches = matches!(program, "grep" | "egrep" | "rg");
    let patterns = args.iter().filter(|a| is_pattern_option(a.known_start())).count();
    options && files.count() <= if searches { patterns.max(1) } else { 0 }
}

/// `-e`, `-ve`: the next word is a pattern.
fn is_pattern_option(text: &str) -> bool {
    text.starts_with('-') && !text.starts_with("--") && text.ends_with('e')
}
