//! SQL and the command languages of the database clients, statement by statement.

use std::ops::Range;

use crate::effect::emitter::Emitter;
use crate::effect::program::Next;
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Word};

mod client;

pub use client::{mongo, redis};

use crate::effect::names::sql::KEPT;
use client::{backslash, dotted};

/// A word, a string (`'`), a quoted name (`"`), or one other byte.
struct Token {
    kind: u8,
    text: String,
}

fn is_word(token: &Token, word: &str) -> bool {
    token.text.eq_ignore_ascii_case(word)
}

/// What statements do to the data.
const DROP: Word = Word::Named("database.drop");
const ALL: Word = Word::Named("database.delete-all");
const WRITE: Word = Word::Named("database.write");

/// SQL that an inline program hands to a driver: effects only where the text is SQL.
pub fn embedded(out: &mut Emitter, text: &str, span: &Range<usize>) {
    let first =
        text.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    let first = first.to_ascii_lowercase();
    if matches!(
        first.as_str(),
        "select"
            | "insert"
            | "update"
            | "delete"
            | "drop"
            | "truncate"
            | "alter"
            | "create"
            | "with"
            | "grant"
            | "revoke"
            | "copy"
            | "attach"
            | "replace"
            | "merge"
            | "load"
    ) {
        emit(out, text, span, &mut Vec::new());
    }
}

/// The effects of a client's text: statements, `\x` and `.x` commands.
pub fn emit(out: &mut Emitter, text: &str, span: &Range<usize>, next: &mut Vec<Next>) {
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut tokens: Vec<Token> = Vec::new();
    let mut fresh = true;
    let mut good = true;
    while at < bytes.len() {
        let byte = bytes[at];
        let rest = &bytes[at..];
        let begin = tokens.is_empty();
        match byte {
            b'\n' => {
                fresh = true;
                at += 1;
                continue;
            }
            b' ' | b'\t' | b'\r' => at += 1,
            b';' => {
                statement(out, &tokens, span, next);
                tokens.clear();
                at += 1;
                // `.x` commands begin a line, or the text of an argument.
                continue;
            }
            b'-' if rest.starts_with(b"--") => at = line_end(bytes, at),
            b'#' if begin => at = line_end(bytes, at),
            b'/' if rest.starts_with(b"/*") => match text[at + 2..].find("*/") {
                // MySQL runs what stands in `/*! */`.
                Some(_) if rest.starts_with(b"/*!") => {
                    at += 3;
                    while at < bytes.len() && bytes[at].is_ascii_digit() {
                        at += 1;
                    }
                }
                Some(n) => at += n + 4,
                None => {
                    good = false;
                    break;
                }
            },
            b'*' if rest.starts_with(b"*/") => at += 2,
            b'.' if begin && fresh => {
                let end = line_end(bytes, at);
                dotted(out, &text[at + 1..end], span, next);
                at = end;
            }
            b's' | b'S'
                if begin
                    && fresh
                    && text.get(at..at + 7).is_some_and(|t| t.eq_ignore_ascii_case("system ")) =>
            {
                let end = line_end(bytes, at);
                let command = text[at + 7..end].trim_end_matches(';');
                next.push(Next::Script {
                    text: Value::known(command, span.clone()),
                    rest: Vec::new(),
                });
                at = end;
            }
            b'\\' => {
                let end = line_end(bytes, at);
                backslash(out, &text[at + 1..end], span, next);
                if !begin {
                    statement(out, &tokens, span, next);
                    tokens.clear();
                }
                at = end;
            }
            b'\'' | b'"' | b'`' => {
                let escapes = tokens.last().is_some_and(|t| t.text == "e");
                let (mut inner, mut n, mut closed) = (Vec::new(), at + 1, false);
                while n < bytes.len() {
                    if bytes[n] == byte {
                        if bytes.get(n + 1) != Some(&byte) {
                            closed = true;
                            break;
                        }
                        n += 1;
                    } else if bytes[n] == b'\\'
                        && (escapes
                            || byte == b'\''
                                && bytes.get(n + 1) == Some(&b'\'')
                                && bytes
                                    .get(n + 2)
                                    .is_some_and(|b| !matches!(b, b' ' | b';' | b',' | b')')))
                    {
                        n += 1;
                    }
                    inner.extend(bytes.get(n));
                    n += 1;
                }
                good &= closed;
                let text = String::from_utf8_lossy(&inner).into_owned();
                tokens.push(Token { kind: if byte == b'\'' { b'\'' } else { b'"' }, text });
                at = n + 1;
            }
            b'$' if dollar(&text[at..]).is_some() => {
                let mark = dollar(&text[at..]).unwrap_or_default();
                let from = at + mark.len();
                match text[from..].find(mark) {
                    Some(n) => {
                        tokens.push(Token { kind: b'\'', text: text[from..from + n].to_string() });
                        at = from + n + mark.len();
                    }
                    None => {
                        good = false;
                        break;
                    }
                }
            }
            _ if byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80 => {
                let from = at;
                while at < bytes.len()
                    && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_' || bytes[at] >= 0x80)
                {
                    at += 1;
                }
                tokens.push(Token { kind: b'w', text: text[from..at].to_ascii_lowercase() });
            }
            _ => {
                tokens.push(Token { kind: byte, text: char::from(byte).to_string() });
                at += 1;
            }
        }
        if at < bytes.len() && bytes[at] != b'\n' && !matches!(byte, b' ' | b'\t' | b'\r') {
            fresh = false;
        }
    }
    statement(out, &tokens, span, next);
    if !good {
        out.unknown("SQL whose text does not end", span.clone());
    }
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| from + n)
}

/// `$$` or `$tag$`.
fn dollar(text: &str) -> Option<&str> {
    let n = text[1..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    (text.as_bytes()[1 + n] == b'$' && !text.as_bytes()[1].is_ascii_digit()).then(|| &text[..n + 2])
}

fn statement(out: &mut Emitter, tokens: &[Token], span: &Range<usize>, next: &mut Vec<Next>) {
    let word = |n: usize| tokens.get(n).filter(|t| t.kind == b'w').map_or("", |t| t.text.as_str());
    let has = |name: &str| tokens.iter().any(|t| t.kind == b'w' && t.text == name);
    let push = |out: &mut Emitter, word: Word| {
        out.push(word, Grade::Certain, Source::Code, span.clone());
    };
    let file = |out: &mut Emitter, kind: Word, name: &str| {
        out.path(
            kind,
            &Value::known(name, span.clone()),
            Extent::Exact,
            Grade::Certain,
            Source::Code,
        );
    };
    // EXPLAIN only shows a plan, unless it is to ANALYZE.
    let start = match word(0) {
        "explain" | "describe" if !has("analyze") => return,
        "explain" => match tokens.iter().position(|t| {
            matches!(t.text.as_str(), "select" | "insert" | "update" | "delete" | "with" | "merge")
        }) {
            Some(n) => n,
            None => return,
        },
        _ => 0,
    };
    let tokens = &tokens[start.min(tokens.len())..];
    let word = |n: usize| {
        let _ = &word;
        tokens.get(n).filter(|t| t.kind == b'w').map_or("", |t| t.text.as_str())
    };
    let text_after = |name: &str| {
        tokens
            .iter()
            .position(|t| t.kind == b'w' && t.text == name)
            .and_then(|n| tokens[n + 1..].iter().take(2).find(|t| matches!(t.kind, b'\'' | b'"')))
            .map(|t| t.text.clone())
    };
    match word(0) {
        "drop" | "truncate" => push(out, DROP),
        "alter" if loses_column(tokens) => push(out, ALL),
        "delete" | "update" => push(out, if everything(tokens) { ALL } else { WRITE }),
        "with" => {
            // A common table expression may itself change data.
            let mut depth = 0;
            let mut found = None;
            for (n, token) in tokens.iter().enumerate() {
                match token.kind {
                    b'(' => depth += 1,
                    b')' => depth -= 1,
                    b'w' if matches!(
                        token.text.as_str(),
                        "delete" | "update" | "insert" | "merge"
                    ) =>
                    {
                        let verb = depth == 0 || n > 0 && tokens[n - 1].kind == b'(';
                        if verb && found.is_none() {
                            found = Some(n);
                        }
                    }
                    _ => {}
                }
            }
            if let Some(n) = found {
                push(
                    out,
                    if matches!(tokens[n].text.as_str(), "delete" | "update")
                        && everything(&tokens[n..])
                    {
                        ALL
                    } else {
                        WRITE
                    },
                );
            }
        }
        "copy" => {
            let to = tokens.iter().any(|t| t.kind == b'w' && t.text == "to");
            if let Some(n) = tokens.iter().position(|t| t.kind == b'w' && t.text == "program") {
                if let Some(text) = tokens.get(n + 1) {
                    next.push(Next::Script {
                        text: Value::known(text.text.clone(), span.clone()),
                        rest: Vec::new(),
                    });
                }
            } else if let Some(name) = text_after(if to { "to" } else { "from" }) {
                file(out, if to { Word::Write } else { Word::Read }, &name);
            }
            if !to {
                push(out, WRITE);
            }
        }
        "load" => {
            if let Some(name) = text_after("infile")
                .or_else(|| tokens.iter().find(|t| t.kind == b'\'').map(|t| t.text.clone()))
            {
                file(out, Word::Read, &name);
            }
            if word(1) == "data" {
                push(out, WRITE);
            } else {
                out.unknown("a database that loads code", span.clone());
            }
        }
        "attach" => {
            let named = |t: &&Token| matches!(t.kind, b'\'' | b'"') || !is_word(t, "database");
            if let Some(name) = tokens[1..].iter().find(named) {
                file(out, Word::Read, &name.text);
                file(out, Word::Write, &name.text);
            }
        }
        "install" if tokens.len() < 6 => out.unknown("a database that loads code", span.clone()),
        "do" => {
            push(out, WRITE);
            out.unknown("a block of code in a database", span.clone());
        }
        "source" => {
            let name: String = tokens[1..].iter().map(|t| t.text.as_str()).collect();
            file(out, Word::Read, &name);
        }
        "vacuum" if tokens.iter().any(|t| is_word(t, "into")) => {
            let into = tokens.iter().position(|t| is_word(t, "into")).unwrap_or_default();
            if let Some(name) = tokens.get(into + 1) {
                file(out, Word::Write, &name.text);
            }
        }
        "insert" | "replace" | "merge" | "alter" | "create" | "grant" | "revoke" | "rename"
        | "comment" | "reindex" | "vacuum" | "cluster" | "refresh" | "call" | "exec"
        | "execute" | "import" | "optimize" | "kill" | "reassign" | "lock" | "upsert" | "purge" => {
            push(out, WRITE)
        }
        _ => {}
    }
    if matches!(word(0), "exec" | "execute")
        && tokens.iter().any(|t| t.text == "xp_cmdshell")
        && let Some(text) = tokens.iter().find(|t| t.kind == b'\'')
    {
        next.push(Next::Script {
            text: Value::known(text.text.clone(), span.clone()),
            rest: Vec::new(),
        });
    }
    if let Some(name) = text_after("outfile").or_else(|| text_after("dumpfile")) {
        file(out, Word::Write, &name);
    }
    if ["load_extension", "sys_exec", "sys_eval", "lo_export", "edit"].iter().any(|f| {
        tokens.windows(2).any(|w| w[0].kind == b'w' && w[0].text == *f && w[1].kind == b'(')
    }) {
        out.unknown("a database that loads or runs code", span.clone());
    }
    for (name, kind) in [
        ("pg_read_file", Word::Read),
        ("pg_read_binary_file", Word::Read),
        ("load_file", Word::Read),
        ("readfile", Word::Read),
        ("writefile", Word::Write),
        ("read_csv", Word::Read),
        ("read_parquet", Word::Read),
        ("read_text", Word::Read),
    ] {
        if has(name)
            && let Some(file_name) = text_after(name)
        {
            file(out, kind, &file_name);
        }
    }
}

/// `ALTER TABLE t DROP COLUMN c`: what stands in the column is lost, as against a constraint.
fn loses_column(tokens: &[Token]) -> bool {
    tokens.windows(2).any(|pair| {
        pair[0].kind == b'w' && pair[0].text == "drop" && !KEPT.contains(&pair[1].text.as_str())
    })
}

/// Does a DELETE or UPDATE name no rows?
fn everything(tokens: &[Token]) -> bool {
    let mut depth = 0;
    for (n, token) in tokens.iter().enumerate() {
        match token.kind {
            b'(' => depth += 1,
            b')' => {
                depth -= 1;
                if depth < 0 {
                    return true;
                }
            }
            b'w' if depth == 0 && token.text == "where" => {
                let rest: Vec<&str> = tokens[n + 1..]
                    .iter()
                    .map(|t| t.text.as_str())
                    .filter(|t| !matches!(*t, "(" | ")"))
                    .take_while(|t| *t != "returning")
                    .collect();
                return match rest[..] {
                    ["true"] | ["1"] | ["not", "false"] => true,
                    [a, "=", b] | [_, "or", a, "=", b] => a == b,
                    [_, "=", .., "or", b, "=", c] => b == c,
                    [.., "or", "true"] => true,
                    _ => false,
                };
            }
            b'w' if depth == 0 && token.text == "limit" => return false,
            _ => {}
        }
    }
    true
}
