//! What happened against what the analysis lists.

use hookctl::effect::path::normalise;
use hookctl::effect::value::BLANK;
use hookctl::effect::{Analysis, Arg, Effect, Extent, Grade, Word};

use crate::jail::{Outcome, Record};

/// Does the analysis say that it does not know which programs run?
pub fn gives_up(analysis: &Analysis) -> bool {
    analysis.effects.iter().any(|e| {
        e.word == Word::Execute && e.grade == Grade::Unknown || e.word == Word::PipeToInterpreter
    })
}

/// Everything that happened and is not listed.
pub fn unlisted(analysis: &Analysis, outcome: &Outcome) -> Vec<String> {
    if gives_up(analysis) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for record in &outcome.records {
        let listed = match record.kind {
            'X' => program(analysis, record),
            'R' => touches(analysis, Word::Read, record, 0),
            'W' => touches(analysis, Word::Write, record, 0),
            'N' => analysis.effects.iter().any(|e| {
                e.word == Word::Network
                    && e.host
                        .as_deref()
                        .is_none_or(|h| Some(h) == record.fields.first().map(String::as_str))
            }),
            _ => false,
        };
        if !listed {
            let what = match record.kind {
                'X' => "ran",
                'R' => "opened to read",
                'W' => "opened to write",
                _ => "contacted",
            };
            let fault = format!("{what} {:?} in {}", record.fields, record.cwd);
            if !faults.contains(&fault) {
                faults.push(fault);
            }
        }
    }
    faults
}

/// A program that ran: one of the listed commands of that name has these arguments. Of a few
/// programs also what they touch, which shows whether the directory was right.
fn program(analysis: &Analysis, record: &Record) -> bool {
    let Some(name) = record.fields[0].rsplit('/').next() else { return false };
    let actual = record.fields.get(2..).unwrap_or_default();
    // A group is listed as the names that it stands for. Where none of them is there the shell hands
    // on the pattern itself, which is no name that any file has.
    let group = actual.iter().any(|a| a.starts_with("@("));
    let called =
        analysis.commands.iter().any(|c| c.name == name && (group || same(&c.args, actual)));
    if group {
        return called;
    }
    let operands_only =
        !actual.is_empty() && actual.iter().all(|a| !a.starts_with('-') && !a.is_empty());
    let word = match name {
        "rm" => Word::Delete,
        "touch" => Word::Write,
        "cat" => Word::Read,
        _ => return called,
    };
    called && (!operands_only || (0..actual.len()).all(|i| touches(analysis, word, record, i + 2)))
}

/// Are these the arguments? One that is unknown may be any number of them, and so may a glob.
fn same(listed: &[Arg], actual: &[String]) -> bool {
    let Some((first, rest)) = listed.split_first() else { return actual.is_empty() };
    match &first.text {
        None => (0..=actual.len()).any(|n| same(rest, &actual[n..])),
        Some(text) if first.glob => (0..=actual.len())
            .take_while(|n| {
                *n == 0 || fits(&squeezed(text), &actual[n - 1]) || fits(text, &actual[n - 1])
            })
            .any(|n| same(rest, &actual[n..])),
        Some(text) => actual.first().is_some_and(|a| equal(text, a)) && same(rest, &actual[1..]),
    }
}

/// Is it that text, with whatever stands for the parts that are not known (what find or xargs put
/// into it), or the path of that program?
fn equal(listed: &str, actual: &str) -> bool {
    let Some((before, after)) = listed.split_once(BLANK) else {
        // `command -v` tells the path, and that of `command -p` is another one.
        let own = actual.strip_prefix("/usr").unwrap_or(actual).strip_prefix("/bin/");
        return listed == actual || own == Some(listed);
    };
    let after = after.rsplit(BLANK).next().unwrap_or_default();
    actual.starts_with(before) && actual.ends_with(after)
}

/// A glob as its matches are written: with one slash behind a directory.
fn squeezed(glob: &str) -> String {
    let mut text = glob.to_string();
    while text.ends_with("//") {
        text.pop();
    }
    text
}

/// Does a glob fit, or is it what stays of it where it fits nothing?
fn fits(pattern: &str, text: &str) -> bool {
    let mut literal = String::new();
    let mut chars = pattern.chars();
    while let Some(c) = chars.next() {
        literal.push(if c == '\\' { chars.next().unwrap_or(c) } else { c });
    }
    let raw = pattern;
    let pattern =
        &pattern.replace("[[:alpha:]]", "[a-zA-Z]").replace('{', "\\{").replace('}', "\\}");
    // A number stands where the analysis wrote this; the rest may be text.
    let number = |rest: &str| rest.trim_start_matches(|c: char| c.is_ascii_digit()).to_string();
    if let Some((before, after)) = literal.split_once("[-0-9]*")
        && text.strip_prefix(before).is_some_and(|rest| number(rest) == after)
    {
        return true;
    }
    literal == text
        || raw == text
        || globset::GlobBuilder::new(pattern)
            .literal_separator(true)
            .backslash_escape(true)
            .build()
            .is_ok_and(|g| g.compile_matcher().is_match(text))
}

/// Is that word listed of the path in that field?
fn touches(analysis: &Analysis, word: Word, record: &Record, field: usize) -> bool {
    let Some(path) = record.fields.get(field) else { return false };
    if path.is_empty() {
        // Nothing is there.
        return true;
    }
    let path = if path.starts_with('/') { path.clone() } else { format!("{}/{path}", record.cwd) };
    let path = normalise(&path);
    if path == "/dev/null" || path.starts_with("/dev/fd/") {
        return true;
    }
    analysis.effects.iter().filter(|e| e.word == word).any(|e| covers(e, &path))
}

fn covers(effect: &Effect, path: &str) -> bool {
    let Some(target) = &effect.path else { return effect.grade == Grade::Unknown };
    [&target.lexical, &target.resolved].into_iter().any(|root| {
        let below =
            path.strip_prefix(root.trim_end_matches('/')).is_some_and(|r| r.starts_with('/'));
        match target.extent {
            Extent::Exact => root == path,
            Extent::Tree | Extent::Visible => root == path || below,
            Extent::Children | Extent::Below => below || root == path,
            Extent::Glob => fits(root, path),
        }
    })
}
