//! What happened against what the analysis lists.

use hookctl::effect::path::normalise_path;
use hookctl::effect::value::BLANK;
use hookctl::effect::{Analysis, Arg, Effect, Extent, Grade, Word};

use crate::jail::{HOME, Outcome, PROGRAMS, Record, Shell};

/// Does the analysis say that it does not know which programs run?
pub fn gives_up(analysis: &Analysis) -> bool {
    analysis.effects.iter().any(|e| {
        e.word == Word::Execute && e.grade == Grade::Unknown || e.word == Word::PipeToInterpreter
    })
}

/// Does the analysis say, and say why, that it cannot tell all that the text does? No allow covers such a call.
///
/// The effect is the text's own: a program that reads what is known only at run time (`cat "$x"`) leaves one that looks
/// alike, says no more than that of itself, and excuses nothing else. What only zsh does is no excuse in bash.
pub fn untold(shell: Shell, analysis: &Analysis) -> bool {
    let of_text = |effect: &Effect| {
        effect.command.is_none_or(|at| {
            let operand = |arg: &Arg| arg.text.is_none() && arg.span == effect.span;
            !analysis.commands[at].args.iter().any(operand)
                && (analysis.commands[at].name == "eval"
                    || analysis.commands.iter().any(|c| c.parent == Some(at)))
        })
    };
    analysis.notes.iter().any(|why| shell == Shell::Zsh || !why.contains("zsh"))
        && analysis.effects.iter().any(|e| {
            e.word == Word::Read && e.grade == Grade::Unknown && e.path.is_none() && of_text(e)
        })
}

/// Everything that happened and is not listed.
pub fn unlisted(shell: Shell, analysis: &Analysis, outcome: &Outcome) -> Vec<String> {
    if gives_up(analysis) || untold(shell, analysis) {
        return Vec::new();
    }
    let mut faults = Vec::new();
    for record in &outcome.records {
        let listed = match record.kind {
            'X' => program(shell, analysis, record),
            'R' if shell == Shell::Zsh && sought(record) => true,
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
fn program(shell: Shell, analysis: &Analysis, record: &Record) -> bool {
    let Some(name) = record.fields[0].rsplit('/').next() else { return false };
    let actual = record.fields.get(2..).unwrap_or_default();
    if shell == Shell::Zsh && (no_program(record) || copies(name, actual)) {
        return true;
    }
    // A group is listed as the names that it stands for. Where none of them is there the shell hands
    // on the pattern itself, which is no name that any file has.
    let group = actual.iter().any(|a| a.starts_with("@("));
    let called = analysis
        .commands
        .iter()
        .any(|c| c.name == name && (group || given(shell, &c.args, actual)));
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
    let pieces = |text: &str| {
        shell == Shell::Zsh
            && text.contains(char::is_whitespace)
            && text.split_whitespace().all(|piece| touches_path(analysis, word, record, piece))
    };
    // A pattern that is handed on as it is written has found no file, and names none. What one would have found to read is
    // not listed where the disk that is asked, and that is not the jail's, has none of it.
    let of_name = analysis.commands.iter().filter(|c| c.name == name);
    let globs: Vec<&str> = of_name
        .flat_map(|c| &c.args)
        .filter(|arg| arg.glob)
        .filter_map(|arg| arg.text.as_deref())
        .collect();
    let found_none = |text: &str| {
        globs.iter().any(|glob| *glob == text || word == Word::Read && fits(glob, text))
    };
    called
        && (!operands_only
            || actual.iter().all(|a| {
                touches_path(analysis, word, record, a)
                    || pieces(a)
                    || found_none(a)
                    || word == Word::Delete && is_made(analysis, record, a)
            }))
}

/// Does the line make it first? The analysis asks the disk whether it was there before, and has not the jail's.
fn is_made(analysis: &Analysis, record: &Record, path: &str) -> bool {
    let made =
        |effect: &Effect| effect.command.is_some_and(|at| analysis.commands[at].name == "mkdir");
    let outside = |path: &str| !format!("{}/", record.cwd).starts_with(&format!("{path}/"));
    let path = absolute(record, path);
    outside(&path)
        && analysis.effects.iter().any(|e| e.word == Word::Write && made(e) && covers(e, &path))
}

/// The path without `.` and `..`, from where the program ran.
fn absolute(record: &Record, path: &str) -> String {
    normalise_path(&match path.starts_with('/') {
        true => path.to_string(),
        false => format!("{}/{path}", record.cwd),
    })
}

/// The value of a variable, taken as one word for a program's name: no program is called `rm a`, and zsh looks for it in
/// `PATH` only.
fn no_program(record: &Record) -> bool {
    record.fields[0].contains(char::is_whitespace) && !record.fields[0].contains('/')
}

/// Redirections without a command: zsh starts `cat` or a pager there, which copy what they are fed. What the redirections
/// themselves open is looked at as with every other.
fn copies(name: &str, actual: &[String]) -> bool {
    actual.is_empty() && matches!(name, "cat" | "more" | "pager")
}

/// A program that the jail does not have: zsh opens what it could not start, to see what it is. Nothing is there.
fn sought(record: &Record) -> bool {
    let place = record.fields.first().and_then(|path| path.rsplit_once('/'));
    place.is_some_and(|(dir, name)| {
        matches!(dir, "/usr/local/bin" | "/usr/bin" | "/bin") && !PROGRAMS.contains(&name)
    })
}

/// Are these the arguments, as that shell makes them?
///
/// zsh leaves what a variable holds as it is, one word, where bash splits it. The words of bash are listed, and they tell
/// more: each path in them is one of its own, and the path with the blanks lies outside of no place that all of them lie
/// in. A word that is empty names nothing; bash leaves out those of `$x` and `{,a}`.
fn given(shell: Shell, listed: &[Arg], actual: &[String]) -> bool {
    if shell == Shell::Bash || same(listed, actual) {
        return same(listed, actual);
    }
    // A tilde behind `=` or `:` stays one: what lies below a directory of that name lies in the own directory.
    let home = |text: &str| {
        let alone = text.strip_suffix("=~").map(|name| format!("{name}={HOME}"));
        let text = alone.unwrap_or_else(|| text.to_string());
        text.replace("=~/", &format!("={HOME}/")).replace(":~/", &format!(":{HOME}/"))
    };
    let split: Vec<String> = actual.iter().flat_map(|a| a.split_whitespace()).map(home).collect();
    let listed: Vec<Arg> = listed
        .iter()
        .flat_map(|arg| match &arg.text {
            Some(text) if !arg.glob => {
                let piece = |text: &str| Arg { text: Some(text.to_string()), ..arg.clone() };
                text.split_whitespace().map(piece).collect()
            }
            _ => vec![arg.clone()],
        })
        .collect();
    same(&listed, &split)
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

/// Does a glob fit, or is it what stays of it where it fits nothing? A class that is written stays as it is, while a
/// number, and what a variable holds, stands for itself.
fn fits(pattern: &str, text: &str) -> bool {
    let literal: String = unescaped(pattern).collect();
    literal == text
        || pattern == text
        || classes(pattern).iter().any(|pattern| {
            globset::GlobBuilder::new(pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .build()
                .is_ok_and(|g| g.compile_matcher().is_match(text))
        })
}

fn unescaped(pattern: &str) -> impl Iterator<Item = char> + '_ {
    let mut chars = pattern.chars();
    std::iter::from_fn(move || match chars.next()? {
        '\\' => Some(chars.next().unwrap_or('\\')),
        c => Some(c),
    })
}

/// The pattern with each class either as it is or taken for text, and numbers that may be none at all.
fn classes(pattern: &str) -> Vec<String> {
    const NUMBER: &str = "[-0-9]*";
    let mut all = vec![String::new()];
    let mut rest = pattern;
    while let Some(c) = rest.chars().next() {
        let (text, ways): (&str, Vec<String>) = if rest.starts_with(NUMBER) {
            (NUMBER, vec![NUMBER.into(), String::new()])
        } else if c == '[' {
            let end = rest.find(":]]").map(|end| end + 3).or(rest.find(']').map(|end| end + 1));
            let text = &rest[..end.unwrap_or(1)];
            let literal = text.replace('[', "\\[").replace(']', "\\]");
            (text, vec![text.replace("[:alpha:]", "a-zA-Z"), literal])
        } else if c == '\\' {
            let text = &rest[..1 + rest[1..].chars().next().map_or(0, char::len_utf8)];
            (text, vec![text.into()])
        } else {
            let text = &rest[..c.len_utf8()];
            (text, vec![if "{}".contains(c) { format!("\\{c}") } else { text.into() }])
        };
        // More of them than that no line has.
        let ways = if all.len() > 64 { &ways[..1] } else { &ways[..] };
        all = all
            .iter()
            .flat_map(|head| ways.iter().map(move |way| format!("{head}{way}")))
            .collect();
        rest = &rest[text.len()..];
    }
    all
}

/// Is that word listed of the path in that field?
fn touches(analysis: &Analysis, word: Word, record: &Record, field: usize) -> bool {
    record.fields.get(field).is_some_and(|path| touches_path(analysis, word, record, path))
}

fn touches_path(analysis: &Analysis, word: Word, record: &Record, path: &str) -> bool {
    if path.is_empty() {
        // Nothing is there.
        return true;
    }
    let path = absolute(record, path);
    // The descriptor's own file is listed where it is opened.
    if path == "/dev/null" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/") {
        return true;
    }
    // The file of zsh's `=(cmd)`, which is as a pipe: the shell makes it and takes it away.
    if path.strip_prefix("/tmp/zsh").is_some_and(|name| name.len() == 6) {
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
