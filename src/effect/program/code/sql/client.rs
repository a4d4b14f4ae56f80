//! The commands of database clients that are no SQL, and the databases that have none.

use super::*;
use crate::effect::Extent;
use crate::effect::value::Printer;
use crate::names::{mongo, redis};

/// psql's and mysql's `\x`.
pub(super) fn emit_backslash_command(
    out: &mut Emitter,
    text: &str,
    span: &Range<usize>,
    next: &mut Vec<Next>,
) {
    let (name, rest) = match text.strip_prefix('!') {
        Some(rest) => ("!", rest),
        None => text.split_once([' ', '\t']).unwrap_or((text, "")),
    };
    let rest = rest.trim();
    let quoted = |t: &str| t.trim_matches(['\'', '"']).to_string();
    let script = |t: &str| Next::script(Value::known(t, span.clone()));
    let mut file = |word: Word, t: &str, next: &mut Vec<Next>| match piped(t) {
        Some(command) => run_piped(out, command, span, next),
        None if !t.is_empty() => out.code_path(word, &Value::known(quoted(t), span.clone())),
        None => {}
    };
    match name {
        "!" | "system" => next.push(script(rest)),
        "copy" => {
            let lower = rest.to_ascii_lowercase();
            let to = lower.rfind(" to ");
            let from = lower.rfind(" from ");
            let (word, at) = match (to, from) {
                (Some(to), from) if from.is_none_or(|f| f < to) => (Word::Write, to + 4),
                (_, Some(from)) => (Word::Read, from + 6),
                _ => return,
            };
            let target = rest.get(at..).unwrap_or_default().trim();
            if let Some(command) =
                target.get(8..).filter(|_| target.to_ascii_lowercase().starts_with("program "))
            {
                next.push(script(&quoted(command.trim())));
            } else {
                let name = match target.strip_prefix('\'') {
                    Some(inner) => inner.split('\'').next(),
                    None => target.split_whitespace().next(),
                };
                file(
                    word,
                    name.filter(|n| {
                        !matches!(
                            n.to_ascii_lowercase().as_str(),
                            "stdout" | "stdin" | "pstdout" | "pstdin"
                        )
                    })
                    .unwrap_or_default(),
                    next,
                );
            }
            if word == Word::Read {
                out.push(WRITE, Grade::Certain, Source::Code, span.clone());
            }
        }
        "o" | "out" | "g" | "w" | "write" | "s" | "T" | "tee" => file(Word::Write, rest, next),
        "i" | "ir" | "include" | "include_relative" | "." | "source" => {
            match rest.starts_with('|') {
                true => file(Word::Read, rest, next),
                false => run_file(out, &quoted(rest), span, next),
            }
        }
        "gexec" | "e" | "edit" | "ef" | "ev" => {
            out.emit_unknown("a client command that runs what nobody reads", span.clone())
        }
        _ => {}
    }
    if text.contains('`') && name != "!" {
        out.emit_unknown("a client command with a command in it", span.clone());
    }
}

/// What stands behind the bar of `|COMMAND`, in quotes or not.
fn piped(text: &str) -> Option<&str> {
    text.trim_matches(['\'', '"']).strip_prefix('|').map(str::trim)
}

/// A client prints into a command: a shell runs what it prints.
fn run_piped(out: &mut Emitter, command: &str, span: &Range<usize>, next: &mut Vec<Next>) {
    if matches!(command, "sh" | "bash" | "zsh" | "dash" | "ksh") {
        out.push(Word::PipeToInterpreter, Grade::Certain, Source::Code, span.clone());
    }
    next.push(Next::script(Value::known(command, span.clone())));
}

/// sqlite's and duckdb's `.x`.
pub(super) fn emit_dot_command(
    out: &mut Emitter,
    text: &str,
    span: &Range<usize>,
    next: &mut Vec<Next>,
) {
    let mut words = text.split_whitespace();
    let name = words.next().unwrap_or_default();
    let rest = text.trim_start().get(name.len()..).unwrap_or_default().trim();
    let last = words.clone().last().unwrap_or_default().trim_matches(['\'', '"']).to_string();
    let first = words
        .find(|w| !w.starts_with('-'))
        .unwrap_or_default()
        .trim_matches(['\'', '"'])
        .to_string();
    let mut file = |word: Word, name: &str| {
        if !name.is_empty() && !matches!(name, "stdout" | "off" | "-x" | "-e") {
            out.code_path(word, &Value::known(name, span.clone()));
        }
    };
    let is = |names: &[&str]| name.len() > 1 && names.iter().any(|n| n.starts_with(name));
    if is(&["shell", "system"]) {
        next.push(Next::script(Value::known(rest, span.clone())));
    } else if is(&["output", "once", "dump_to", "log", "trace"]) {
        match piped(rest) {
            Some(command) => run_piped(out, command, span, next),
            None => file(Word::Write, &first),
        }
    } else if is(&["read"]) {
        match piped(rest) {
            Some(command) => next.push(Next::script(Value::known(command, span.clone()))),
            None => run_file(out, &first, span, next),
        }
    } else if is(&["backup", "save", "clone"]) {
        file(Word::Write, &last);
    } else if is(&["import"]) {
        match rest.trim_matches(['\'', '"']).strip_prefix('|') {
            Some(_) => out.emit_unknown("a client command with a command in it", span.clone()),
            None => file(Word::Read, &first),
        }
        out.push(WRITE, Grade::Certain, Source::Code, span.clone());
    } else if is(&["restore"]) {
        file(Word::Read, &last);
        out.push(DROP, Grade::Certain, Source::Code, span.clone());
    } else if is(&["open"]) {
        file(Word::Read, &last);
        file(Word::Write, &last);
    } else if is(&["load"]) {
        out.emit_unknown("a database that loads code", span.clone());
    } else if is(&["cd"]) || name == "cd" {
        out.cwd = None;
    } else if is(&["archive", "excel", "edit"]) || name == "ar" || name.starts_with('w') {
        out.emit_unknown("a client command that writes files", span.clone());
    }
}

/// Does a script for the database, in capitals, take every key away?
fn empties(script: &str) -> bool {
    let has = |name: &str| {
        script.contains(&format!("'{name}'")) || script.contains(&format!("\"{name}\""))
    };
    has("FLUSHALL") || has("FLUSHDB") || has("KEYS") && (has("DEL") || has("UNLINK"))
}

/// redis-cli's words.
pub fn emit_redis(out: &mut Emitter, words: &[Value], span: &Range<usize>) {
    let text = |n: usize| {
        words.get(n).and_then(Value::plain_text).unwrap_or_default().to_ascii_uppercase()
    };
    let mut push = |word: Word| out.push(word, Grade::Certain, Source::Code, span.clone());
    match text(0).as_str() {
        "" if words.is_empty() => {}
        // `--cluster call HOST:PORT COMMAND`
        node if node.contains(':') && words.len() > 1 => emit_redis(out, &words[1..], span),
        "FLUSHALL" | "FLUSHDB" | "SWAPDB" => push(DROP),
        "CONFIG" if text(1) == "GET" && text(2) == "REQUIREPASS" => {
            push(Word::Named("cloud.secret"));
        }
        "DEBUG" if text(1) == "FLUSHALL" => push(DROP),
        "DEBUG" if matches!(text(1).as_str(), "SEGFAULT" | "PANIC" | "OOM" | "RESTART") => {
            push(ALL)
        }
        "CONFIG" if text(1) == "SET" => {
            push(WRITE);
            if matches!(
                (text(2).as_str(), text(3).as_str()),
                ("PROTECTED-MODE", "NO") | ("REQUIREPASS", "")
            ) {
                push(GRANT);
            }
            if matches!(text(2).as_str(), "DIR" | "DBFILENAME")
                && let Some(dir) = words.get(3)
            {
                out.emit_path(Word::Write, dir, Extent::Tree, Grade::Certain, Source::Code);
            }
        }
        // Another server's data takes the place of what is here.
        "REPLICAOF" | "SLAVEOF" if text(1) != "NO" => push(ALL),
        "LTRIM" if (text(2).as_str(), text(3).as_str()) == ("1", "0") => push(ALL),
        "XTRIM" if words.last().is_some_and(|last| last.plain_text() == Some("0")) => push(ALL),
        // `0 -1`: the end reads as an option.
        "ZREMRANGEBYRANK" if text(2) == "0" && matches!(&*text(3), "" | "-1") => push(ALL),
        "CLUSTER" if matches!(text(1).as_str(), "RESET" | "FLUSHSLOTS") => push(ALL),
        "FT.DROPINDEX" if text(2) == "DD" => push(ALL),
        "ACL" if text(1) == "SETUSER" => {
            let wide = |n: usize| matches!(text(n).as_str(), "NOPASS" | "+@ALL" | "ALLCOMMANDS");
            push(if (3..words.len()).any(wide) { GRANT } else { WRITE });
        }
        // Keys that another command lists.
        "DEL" | "UNLINK" if words[1..].iter().any(|key| key.by() == Printer::Stranger) => push(ALL),
        "EVAL" if empties(&text(1)) => push(DROP),
        "EVAL" | "EVALSHA" | "FCALL" | "SCRIPT" | "FUNCTION" | "MODULE" | "" => {
            push(WRITE);
            out.emit_unknown("code that runs in a database", span.clone());
        }
        name if redis::READING.contains(&name) => {}
        _ => push(WRITE),
    }
}

/// `db.users.aggregate([..., {$out: "users"}])`: what comes out takes the place of what went in.
fn replaces_itself(squeezed: &str) -> bool {
    squeezed.split_once("{$out:").is_some_and(|(before, rest)| {
        let name = rest.split(['}', ',']).next().unwrap_or_default();
        !name.is_empty() && before.contains(&format!("db.{name}.aggregate("))
    })
}

/// mongosh's JavaScript: the methods that say what they do.
pub fn emit_mongo(out: &mut Emitter, text: &str, span: &Range<usize>) {
    let squeezed: String =
        text.chars().filter(|c| !c.is_whitespace() && !matches!(c, '\'' | '"' | '`')).collect();
    let mut push = |word: Word| out.push(word, Grade::Certain, Source::Code, span.clone());
    let has = |names: &[&str]| names.iter().any(|n| squeezed.contains(n));
    if has(mongo::DROPS) {
        push(DROP);
    } else if has(mongo::ALL) || replaces_itself(&squeezed) {
        push(ALL);
    } else if has(mongo::CHANGES) {
        push(WRITE);
    }
    if has(mongo::GRANTS) && has(mongo::POWERS) {
        push(GRANT);
    }
    if has(&["runProgram(", "run(", "load(", "eval(", "require("]) && !squeezed.contains(".run(") {
        out.emit_unknown("code that runs in a database client", span.clone());
    }
}
