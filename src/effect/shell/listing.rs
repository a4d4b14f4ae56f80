//! Commands that print paths: what every line of theirs is known to lie below.

use super::Feed;
use crate::effect::program::special;
use crate::effect::value::Value;

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

/// Does no argument lead out of the directory?
pub fn stays_below(args: &[Value]) -> bool {
    args.iter().all(|a| {
        a.text()
            .is_some_and(|t| !t.starts_with(['/', '~']) && !t.contains("=/") && !t.contains(".."))
    })
}

/// find prints what lies below its one start.
pub(super) fn find_listing(args: &[Value]) -> Option<Feed> {
    let mut at = 0;
    while args.get(at).is_some_and(|a| {
        matches!(a.plain_text(), Some("-H" | "-L" | "-P")) || a.known_start().starts_with("-O")
    }) {
        at += 1;
    }
    let other = |a: &Value| {
        ["-printf", "-exec", "-ls", "-fls", "-files0", "-D"]
            .iter()
            .any(|o| a.known_start().starts_with(o))
    };
    if args[at..].iter().any(other) {
        return None;
    }
    let starts: Vec<&Value> =
        args[at..].iter().take_while(|a| !a.known_start().starts_with(['-', '(', '!'])).collect();
    let start = match starts[..] {
        [] => Value::known(".", 0..0),
        [one] => one.clone(),
        _ => return None,
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

/// `grep -l`, `rg --files`: prints the names of files.
pub fn names_files(program: &str, args: &[Value]) -> bool {
    args.iter().any(|a| {
        let text = a.known_start();
        text.starts_with("--files-with")
            || program == "rg" && text == "--files"
            || text.starts_with('-') && !text.starts_with("--") && text.contains('l')
    })
}

/// Does a filter print lines of its input as they are, and nothing else?
pub fn whole_lines(program: &str, args: &[Value], operands: &[&Value]) -> bool {
    let allowed = match program {
        "grep" | "egrep" | "rg" => "viEFxwmaPe0123456789",
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
    options && files.count() <= usize::from(matches!(program, "grep" | "egrep" | "rg"))
}
