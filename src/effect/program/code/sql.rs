//! SQL and the command languages of the database clients, statement by statement.

use std::ops::Range;

use crate::effect::emitter::Emitter;
use crate::effect::program::Next;
use crate::effect::program::table::Language;
use crate::effect::value::Value;
use crate::effect::{Grade, Source, Word};

mod client;
mod condition;

pub use client::{emit_mongo, emit_redis};

use crate::names::sql::{
    CARRIERS, HASHES, KEPT, LANGUAGES, LOSERS, MADE, MASTERS, POWERS, STATEMENTS, WRITERS,
};
use client::{emit_backslash_command, emit_dot_command};
use condition::holds_always;

/// A word, a string (`'`), a quoted name (`"`), or one other byte.
struct SqlToken {
    kind: u8,
    text: String,
}

fn is_word(token: &SqlToken, word: &str) -> bool {
    token.text.eq_ignore_ascii_case(word)
}

/// What statements do to the data.
const DROP: Word = Word::Named("database.drop");
const ALL: Word = Word::Named("database.delete-all");
const WRITE: Word = Word::Named("database.write");
const GRANT: Word = Word::Named("database.grant");
const PROGRAM: Word = Word::Named("database.program");

/// SQL that an inline program hands to a driver: effects only where the text is SQL.
pub fn emit_embedded(out: &mut Emitter, text: &str, span: &Range<usize>) {
    let first =
        text.trim_start().split(|c: char| !c.is_ascii_alphabetic()).next().unwrap_or_default();
    if STATEMENTS.contains(&first.to_ascii_lowercase().as_str()) {
        emit(out, text, span, &mut Vec::new());
    }
}

/// A walk through a client's text.
struct Client<'t, 'o, 'e> {
    out: &'o mut Emitter<'e>,
    next: &'o mut Vec<Next>,
    span: &'o Range<usize>,
    text: &'t str,
    at: usize,
    /// The statement so far.
    tokens: Vec<SqlToken>,
    /// Nothing stands in this line yet.
    fresh: bool,
    /// Tables that end with the connection, as the text makes them.
    temporary: Vec<String>,
    /// How many effects there were when the transaction began that is open.
    began: Option<usize>,
}

/// The effects of a client's text: statements, `\x` and `.x` commands.
pub fn emit(out: &mut Emitter, text: &str, span: &Range<usize>, next: &mut Vec<Next>) {
    let mut client = Client {
        out,
        next,
        span,
        text,
        at: 0,
        tokens: Vec::new(),
        fresh: true,
        temporary: Vec::new(),
        began: None,
    };
    let mut good = true;
    while let Some(byte) = text.as_bytes().get(client.at).copied() {
        match byte {
            b'\n' => {
                client.fresh = true;
                client.at += 1;
            }
            // `.x` commands begin a line, or the text of an argument.
            b';' => {
                client.statement();
                client.at += 1;
            }
            _ => {
                good &= client.step(byte);
                if client.at >= text.len() {
                    break;
                }
                let more = text.as_bytes()[client.at] != b'\n';
                client.fresh &= !more || matches!(byte, b' ' | b'\t' | b'\r');
            }
        }
    }
    client.statement();
    if !good {
        client.out.emit_unknown("SQL whose text does not end", span.clone());
    }
}

impl Client<'_, '_, '_> {
    /// The statement is complete.
    fn statement(&mut self) {
        let from = self.out.analysis.effects.len();
        emit_statement(self.out, &self.tokens, self.span, self.next);
        let words: Vec<&str> = self.tokens.iter().map(|token| token.text.as_str()).collect();
        let plain = words.iter().filter(|word| !["if", "not", "exists"].contains(word));
        match plain.copied().collect::<Vec<_>>()[..] {
            ["create", "temp" | "temporary", "table", name, ..] => {
                self.temporary.push(name.to_string());
            }
            ["drop" | "truncate", "table", name]
            | ["truncate", name]
            | ["delete", "from", name]
                if self.temporary.iter().any(|own| own == name) =>
            {
                self.only_writes(from, &[DROP, ALL]);
            }
            ["begin", ..] | ["start", "transaction", ..] => self.began = Some(from),
            ["rollback"] | ["rollback", "transaction" | "work"] => {
                // What drops a table ends the transaction of some servers.
                if let Some(began) = self.began.take() {
                    self.only_writes(began, &[ALL]);
                }
            }
            ["commit" | "end" | "create" | "drop" | "alter" | "truncate", ..] => self.began = None,
            _ => {}
        }
        self.tokens.clear();
    }

    /// What the effects from there on lose comes back or was to go.
    fn only_writes(&mut self, from: usize, words: &[Word]) {
        for effect in &mut self.out.analysis.effects[from..] {
            if words.contains(&effect.word) {
                effect.word = WRITE;
            }
        }
    }

    fn skip_line(&mut self) {
        self.at = line_end(self.text.as_bytes(), self.at);
    }

    /// One token, comment or command; false = it does not end.
    fn step(&mut self, byte: u8) -> bool {
        let text = self.text;
        let rest = &text.as_bytes()[self.at..];
        let begin = self.tokens.is_empty();
        match byte {
            b' ' | b'\t' | b'\r' => self.at += 1,
            b'-' if rest.starts_with(b"--") => self.skip_line(),
            b'#' if begin => self.skip_line(),
            b'/' if rest.starts_with(b"/*") => return self.comment(),
            b'*' if rest.starts_with(b"*/") => self.at += 2,
            b'.' | b's' | b'S' | b'h' | b'H' | b'!' | b':'
                if begin && self.fresh && self.command(byte) => {}
            b'\\' => {
                let from = self.at + 1;
                self.skip_line();
                emit_backslash_command(self.out, &text[from..self.at], self.span, self.next);
                if !begin {
                    self.statement();
                }
            }
            b'\'' | b'"' | b'`' => return self.quoted(byte),
            b'$' if dollar_quote(&text[self.at..]).is_some() => return self.dollars(),
            _ if is_letter(byte) => {
                let end = rest.iter().position(|b| !is_letter(*b)).unwrap_or(rest.len());
                let word = text[self.at..self.at + end].to_ascii_lowercase();
                self.tokens.push(SqlToken { kind: b'w', text: word });
                self.at += end;
            }
            _ => {
                self.tokens.push(SqlToken { kind: byte, text: char::from(byte).to_string() });
                self.at += 1;
            }
        }
        true
    }

    /// `/* ... */`; MySQL runs what stands in `/*! */`.
    fn comment(&mut self) -> bool {
        let Some(end) = self.text[self.at + 2..].find("*/") else {
            self.at = self.text.len();
            return false;
        };
        let rest = &self.text.as_bytes()[self.at..];
        self.at += match rest.starts_with(b"/*!") {
            true => 3 + rest[3..].iter().take_while(|b| b.is_ascii_digit()).count(),
            false => end + 4,
        };
        true
    }

    /// `.x` of sqlite, `system x` of mysql; false = it is none.
    fn command(&mut self, byte: u8) -> bool {
        let (text, from) = (self.text, self.at);
        if byte == b'.' {
            self.skip_line();
            emit_dot_command(self.out, &text[from + 1..self.at], self.span, self.next);
            return true;
        }
        let begins = |mark: &&&str| {
            text.get(from..from + mark.len()).is_some_and(|word| word.eq_ignore_ascii_case(mark))
        };
        let Some(mark) = ["system ", "shell ", "host ", "!sh ", ":!!", "!"].iter().find(begins)
        else {
            return false;
        };
        self.skip_line();
        let command = text[from + mark.len()..self.at].trim_end_matches(';');
        self.next.push(Next::script(Value::known(command, self.span.clone())));
        true
    }

    /// A string or a quoted name; false = it is left open.
    fn quoted(&mut self, quote: u8) -> bool {
        let bytes = self.text.as_bytes();
        let escapes = self.tokens.last().is_some_and(|t| t.text == "e");
        let (mut inner, mut at, mut closed) = (Vec::new(), self.at + 1, false);
        while at < bytes.len() {
            if bytes[at] == quote {
                if bytes.get(at + 1) != Some(&quote) {
                    closed = true;
                    break;
                }
                at += 1;
            } else if bytes[at] == b'\\'
                && (escapes || quote == b'\'' && escapes_quote(&bytes[at..]))
            {
                at += 1;
            }
            inner.extend(bytes.get(at));
            at += 1;
        }
        let text = String::from_utf8_lossy(&inner).into_owned();
        self.tokens.push(SqlToken { kind: if quote == b'\'' { b'\'' } else { b'"' }, text });
        self.at = at + 1;
        closed
    }

    /// `$$ ... $$`; false = it is left open.
    fn dollars(&mut self) -> bool {
        let mark = dollar_quote(&self.text[self.at..]).unwrap_or_default();
        let rest = &self.text[self.at + mark.len()..];
        let Some(end) = rest.find(mark) else {
            self.at = self.text.len();
            return false;
        };
        self.tokens.push(SqlToken { kind: b'\'', text: rest[..end].to_string() });
        self.at += end + 2 * mark.len();
        true
    }
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

/// Does the backslash stand before a quote behind which the string goes on?
fn escapes_quote(rest: &[u8]) -> bool {
    let ends = |byte: &u8| matches!(byte, b' ' | b';' | b',' | b')');
    rest.get(1) == Some(&b'\'') && rest.get(2).is_some_and(|byte| !ends(byte))
}

fn line_end(bytes: &[u8], from: usize) -> usize {
    bytes[from..].iter().position(|b| *b == b'\n').map_or(bytes.len(), |n| from + n)
}

/// `$$` or `$tag$`.
fn dollar_quote(text: &str) -> Option<&str> {
    let n = text[1..].find(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))?;
    (text.as_bytes()[1 + n] == b'$' && !text.as_bytes()[1].is_ascii_digit()).then(|| &text[..n + 2])
}

fn emit_statement(
    out: &mut Emitter,
    tokens: &[SqlToken],
    span: &Range<usize>,
    next: &mut Vec<Next>,
) {
    let Some(tokens) = carried_out(tokens) else { return };
    let mut statement = Statement { out, next, span, tokens };
    statement.verb();
    statement.functions();
}

/// The part of a statement that happens: EXPLAIN only shows a plan, unless it is to ANALYZE. What is
/// prepared is there to be executed.
fn carried_out(tokens: &[SqlToken]) -> Option<&[SqlToken]> {
    const VERBS: &[&str] = &["select", "insert", "update", "delete", "with", "merge"];
    let analyses = || tokens.iter().any(|t| t.kind == b'w' && t.text == "analyze");
    match tokens.first().filter(|t| t.kind == b'w').map(|t| t.text.as_str()) {
        Some("explain" | "describe") if !analyses() => None,
        Some("explain") => {
            let at = tokens.iter().position(|t| VERBS.contains(&t.text.as_str()))?;
            Some(&tokens[at..])
        }
        Some("prepare") => {
            let at = tokens.iter().position(|t| t.kind == b'w' && t.text == "as")?;
            Some(&tokens[at + 1..])
        }
        _ => Some(tokens),
    }
}

/// A statement, and where its effects go.
struct Statement<'s, 'e> {
    out: &'s mut Emitter<'e>,
    next: &'s mut Vec<Next>,
    span: &'s Range<usize>,
    tokens: &'s [SqlToken],
}

/// Statements of a file: `\i FILE`, `source FILE`, `.read FILE`.
fn run_file(out: &mut Emitter, name: &str, span: &Range<usize>, next: &mut Vec<Next>) {
    let file = Value::known(name, span.clone());
    out.code_path(Word::Read, &file);
    // Of others that it reads no more is said than of `psql < FILE`.
    if out.locate_exact(&file).is_some_and(|target| out.written.contains_key(&target.resolved)) {
        next.push(Next::File { file, lang: Some(Language::Sql) });
    }
}

/// Functions that read or write the file that their first text names.
const FILES: &[(&str, Word)] = &[
    ("pg_read_file", Word::Read),
    ("pg_read_binary_file", Word::Read),
    ("load_file", Word::Read),
    ("readfile", Word::Read),
    ("writefile", Word::Write),
    ("read_csv", Word::Read),
    ("read_parquet", Word::Read),
    ("read_text", Word::Read),
];

impl<'s> Statement<'s, '_> {
    fn word(&self, n: usize) -> &'s str {
        self.tokens.get(n).filter(|t| t.kind == b'w').map_or("", |t| t.text.as_str())
    }

    /// Where that word stands.
    fn place(&self, name: &str) -> Option<usize> {
        self.tokens.iter().position(|t| t.kind == b'w' && t.text == name)
    }

    /// The text right behind that word.
    fn text_after(&self, name: &str) -> Option<&'s str> {
        let mut behind = self.tokens[self.place(name)? + 1..].iter().take(2);
        behind.find(|t| matches!(t.kind, b'\'' | b'"')).map(|t| t.text.as_str())
    }

    /// The first string.
    fn string(&self) -> Option<&'s str> {
        self.tokens.iter().find(|t| t.kind == b'\'').map(|t| t.text.as_str())
    }

    fn push(&mut self, word: Word) {
        self.out.push(word, Grade::Certain, Source::Code, self.span.clone());
    }

    fn file(&mut self, word: Word, name: &str) {
        self.out.code_path(word, &Value::known(name, self.span.clone()));
    }

    fn script(&mut self, text: &str) {
        self.next.push(Next::script(Value::known(text, self.span.clone())));
    }

    fn unknown(&mut self, why: &str) {
        self.out.emit_unknown(why, self.span.clone());
    }

    /// `DROP TABLE pg_temp.x`: is it one table, of the schema that ends with the connection?
    fn names_temporary(&self) -> bool {
        let mut rest = self.tokens.iter().skip(1).filter(|token| {
            !["table", "view", "if", "exists"].iter().any(|word| is_word(token, word))
        });
        let schema = rest.next().is_some_and(|token| token.text == "pg_temp");
        schema && rest.next().is_some_and(|t| t.kind == b'.') && rest.nth(1).is_none()
    }

    /// `CREATE OR REPLACE TABLE`: what was there goes. In DuckDB that is how a table is loaded.
    fn is_replaced(&mut self) -> bool {
        let holds = matches!(self.word(3), "database" | "schema" | "table" | "transient");
        holds
            && (self.word(1), self.word(2)) == ("or", "replace")
            && self.out.own_command().is_none_or(|command| command.name != "duckdb")
    }

    /// What the first word says.
    fn verb(&mut self) {
        if widens(self.tokens) {
            self.push(GRANT);
        }
        match self.word(0) {
            // What depends on it may be a table's column.
            "drop" if MADE.contains(&self.word(1)) && self.place("cascade").is_none() => {
                self.push(WRITE)
            }
            // It lasts no longer than the connection.
            "drop" if self.word(1) == "temporary" => self.push(WRITE),
            "drop" | "truncate" if self.names_temporary() => self.push(WRITE),
            "drop" | "truncate" => self.push(DROP),
            "create" if self.is_replaced() => {
                self.push(if matches!(self.word(3), "database" | "schema") { DROP } else { ALL })
            }
            // A stage's files, in Snowflake.
            "remove" | "rm" if self.tokens.get(1).is_some_and(|t| t.kind == b'@') => self.push(ALL),
            // SurrealDB's.
            "remove" if matches!(self.word(1), "table" | "database" | "namespace") => {
                self.push(DROP)
            }
            "alter" if loses_column(self.tokens) => self.push(ALL),
            "alter" if mutation(self.tokens).is_some_and(affects_all_rows) => self.push(ALL),
            "delete" | "update" => {
                self.push(if affects_all_rows(self.tokens) { ALL } else { WRITE })
            }
            // Cypher: everything that fits is deleted.
            "match" | "detach" if self.tokens.iter().any(|t| is_word(t, "delete")) => {
                self.push(if self.tokens.iter().any(|t| is_word(t, "where")) { WRITE } else { ALL })
            }
            "merge" => {
                let condition = self.place("on").zip(self.place("when"));
                let all = condition.and_then(|(on, when)| self.tokens.get(on + 1..when));
                let loses = self.place("delete").or_else(|| self.place("update")).is_some();
                let all = loses && all.is_some_and(|condition| holds_always(condition, ""));
                self.push(if all { ALL } else { WRITE });
            }
            // The way back to any moment since the last backup.
            "purge" | "reset" if matches!(self.word(1), "binary" | "master" | "recyclebin") => {
                self.push(ALL)
            }
            "restore" if self.word(1) == "database" && self.place("replace").is_some() => {
                self.push(ALL)
            }
            "with" => self.with(),
            "copy" => self.copy(),
            "load" => self.load(),
            "attach" => {
                let named =
                    |t: &&SqlToken| matches!(t.kind, b'\'' | b'"') || !is_word(t, "database");
                if let Some(name) = self.tokens[1..].iter().find(named) {
                    self.file(Word::Read, &name.text);
                    self.file(Word::Write, &name.text);
                }
            }
            "install" if self.tokens.len() < 6 => self.unknown("a database that loads code"),
            "do" => {
                self.push(WRITE);
                self.unknown("a block of code in a database");
            }
            "source" => {
                let name: String = self.tokens[1..].iter().map(|t| t.text.as_str()).collect();
                run_file(self.out, &name, self.span, self.next);
            }
            "vacuum" => match self.tokens.iter().position(|t| is_word(t, "into")) {
                Some(into) => {
                    let name = self.tokens.get(into + 1);
                    name.iter().for_each(|name| self.file(Word::Write, &name.text));
                }
                None => self.push(WRITE),
            },
            verb if WRITERS.contains(&verb) => self.push(WRITE),
            _ => {}
        }
    }

    /// A common table expression may itself change data.
    fn with(&mut self) {
        let mut depth = 0;
        for (n, token) in self.tokens.iter().enumerate() {
            match (token.kind, token.text.as_str()) {
                (b'(', _) => depth += 1,
                (b')', _) => depth -= 1,
                (b'w', verb @ ("delete" | "update" | "insert" | "merge"))
                    if depth == 0 || n > 0 && self.tokens[n - 1].kind == b'(' =>
                {
                    let all =
                        matches!(verb, "delete" | "update") && affects_all_rows(&self.tokens[n..]);
                    return self.push(if all { ALL } else { WRITE });
                }
                _ => {}
            }
        }
    }

    /// `COPY t TO 'file'`, `COPY t FROM PROGRAM 'cmd'`
    fn copy(&mut self) {
        let to = self.place("to").is_some();
        let (side, word) = if to { ("to", Word::Write) } else { ("from", Word::Read) };
        if let Some(n) = self.place("program") {
            let text = self.tokens.get(n + 1);
            text.iter().for_each(|text| self.script(&text.text));
            self.push(PROGRAM);
        } else if let Some(name) = self.text_after(side) {
            self.file(word, name);
        }
        if !to {
            self.push(WRITE);
        }
    }

    /// `LOAD DATA INFILE 'file'`, `LOAD 'extension'`
    fn load(&mut self) {
        if let Some(name) = self.text_after("infile").or_else(|| self.string()) {
            self.file(Word::Read, name);
        }
        match self.word(1) == "data" {
            true => self.push(WRITE),
            false => self.unknown("a database that loads code"),
        }
    }

    /// What functions and clauses anywhere say.
    fn functions(&mut self) {
        const CODE: &[&str] = &["load_extension", "sys_exec", "sys_eval", "lo_export", "edit"];
        if matches!(self.word(0), "exec" | "execute")
            && self.tokens.iter().any(|t| t.text == "xp_cmdshell")
            && let Some(text) = self.string()
        {
            self.script(text);
            self.push(PROGRAM);
        }
        // Their texts are run, by this server or another.
        let carries =
            |t: &SqlToken| t.kind == b'w' && CARRIERS.contains(&&*t.text.to_ascii_lowercase());
        if matches!(self.word(0), "exec" | "execute") || self.tokens.iter().any(carries) {
            let said = self.tokens.iter().filter(|t| t.kind == b'\'' && t.text.contains(' '));
            said.for_each(|text| emit_embedded(self.out, &text.text, self.span));
        }
        if self.tokens.iter().any(|t| t.kind == b'w' && LOSERS.contains(&t.text.as_str())) {
            self.push(ALL);
        }
        // `INSERT INTO FUNCTION url('https://x', ...)` of ClickHouse.
        if self.word(0) == "insert"
            && let Some(at) = self.place("function")
            && self.word(at + 1) != "file"
            && let Some(host) = self.tokens[at..].iter().find(|t| t.kind == b'\'')
        {
            let host = Value::known(&host.text, self.span.clone());
            self.out.emit_contact(&host, true, Source::Code);
        }
        if self
            .place("language")
            .and_then(|n| self.tokens.get(n + 1))
            .is_some_and(|name| LANGUAGES.contains(&&*name.text.to_ascii_lowercase()))
        {
            self.push(PROGRAM);
        }
        if starts_program(self.tokens) {
            self.push(PROGRAM);
        }
        if reads_hashes(self.tokens) {
            self.push(Word::Named("cloud.secret"));
        }
        if let Some(name) = self.text_after("outfile").or_else(|| self.text_after("dumpfile")) {
            self.file(Word::Write, name);
        }
        let calls = |pair: &[SqlToken]| {
            pair[0].kind == b'w' && pair[1].kind == b'(' && CODE.contains(&pair[0].text.as_str())
        };
        if self.tokens.windows(2).any(calls) {
            self.unknown("a database that loads or runs code");
        }
        for (name, word) in FILES {
            if let Some(file) = self.text_after(name) {
                self.file(*word, file);
            }
        }
    }
}

/// `ALTER TABLE t DROP COLUMN c`: what stands in the column is lost, as against a constraint.
fn loses_column(tokens: &[SqlToken]) -> bool {
    tokens.windows(2).any(|pair| {
        pair[0].kind == b'w' && pair[0].text == "drop" && !KEPT.contains(&pair[1].text.as_str())
    })
}

/// Where ClickHouse's `ALTER TABLE t DELETE WHERE ...` and `UPDATE` begin; MySQL's `TRUNCATE PARTITION`.
fn mutation(tokens: &[SqlToken]) -> Option<&[SqlToken]> {
    let begins = |pair: &[SqlToken]| {
        pair[1].kind == b'w'
            && matches!(pair[1].text.as_str(), "delete" | "update" | "truncate")
            && !matches!(pair[0].text.as_str(), "on" | "column" | "add" | "rename" | "to")
    };
    let table = tokens.get(1).is_some_and(|t| is_word(t, "table"));
    tokens.windows(2).position(begins).filter(|at| table && *at > 1).map(|at| &tokens[at + 1..])
}

/// Does a DELETE or UPDATE name no rows, or all of them?
fn affects_all_rows(tokens: &[SqlToken]) -> bool {
    let mut depth = 0;
    let mut condition = None;
    let mut end = tokens.len();
    for (n, token) in tokens.iter().enumerate() {
        match token.kind {
            b'(' => depth += 1,
            b')' => depth -= 1,
            b'w' if depth == 0 && token.text == "where" => condition = condition.or(Some(n + 1)),
            b'w' if depth == 0 && token.text == "limit" => return false,
            b'w' if depth == 0 && token.text == "returning" => end = end.min(n),
            _ => {}
        }
        // The statement ends where the parentheses around it do.
        if depth < 0 {
            end = end.min(n);
            break;
        }
    }
    condition.is_none_or(|from| {
        holds_always(tokens.get(from..end).unwrap_or_default(), &table_of(tokens))
    })
}

/// The table that a DELETE or UPDATE names, without its schema.
fn table_of(tokens: &[SqlToken]) -> String {
    let words = ["delete", "update", "from", "only"];
    let mut rest =
        tokens.iter().skip_while(|t| t.kind == b'w' && words.contains(&&*t.text)).peekable();
    let mut name = rest.next();
    while rest.next_if(|t| t.kind == b'.').is_some() {
        name = rest.next();
    }
    name.map_or(String::new(), |name| name.text.to_ascii_lowercase())
}

/// Do these words follow each other?
fn has_words(tokens: &[SqlToken], words: &[&str]) -> bool {
    tokens.windows(words.len()).any(|run| {
        run.iter().zip(words).all(|(token, word)| token.kind != b'\'' && is_word(token, word))
    })
}

/// Does the statement give rights over everything, or to everybody, or take a guard of rows away? A table that is handed to the
/// application's own account is everyday work.
fn widens(tokens: &[SqlToken]) -> bool {
    let word = |n: usize| tokens.get(n).map_or("", |t| t.text.as_str());
    let any = |words: &[&str]| tokens.iter().any(|t| t.kind != b'\'' && words.contains(&&*t.text));
    match word(0) {
        "grant" => {
            let changes = any(&["all", "insert", "update", "delete", "truncate"]);
            changes && (has_words(tokens, &["*", ".", "*"]) || has_words(tokens, &["to", "public"]))
                || any(POWERS)
        }
        "alter" | "create" if matches!(word(1), "role" | "user" | "group" | "server") => {
            let master = |t: &SqlToken| MASTERS.contains(&&*t.text.to_ascii_lowercase());
            any(POWERS)
                || word(0) == "alter"
                    && any(&["password", "identified"])
                    && tokens.get(2).is_some_and(master)
        }
        "alter" if matches!(word(1), "system" | "default") => {
            has_words(tokens, &["to", "public"]) || any(&["fsync", "archive_mode"])
        }
        "set" => word(1) == "password",
        "exec" | "execute" => any(&["sp_addsrvrolemember"]),
        "insert" | "update" | "delete" | "replace" => has_words(tokens, &["mysql", ".", "user"]),
        "alter" => {
            has_words(tokens, &["disable", "row", "level"])
                || has_words(tokens, &["no", "force", "row"])
        }
        // With IF EXISTS it is about to be made anew.
        "drop" => word(1) == "policy" && word(2) != "if",
        _ => false,
    }
}

/// Does a setting, an extension or a function start programs of the server's machine, or load code into it?
fn starts_program(tokens: &[SqlToken]) -> bool {
    let word = |n: usize| tokens.get(n).map_or("", |t| t.text.as_str());
    match (word(0), word(1)) {
        ("alter", "system") => ["_command", "_libraries"].iter().any(|end| word(3).ends_with(end)),
        ("create", "extension") => tokens.iter().any(|t| LANGUAGES.contains(&&*t.text)),
        ("create", _) => {
            tokens.iter().any(|t| is_word(t, "soname")) || has_words(tokens, &["language", "c"])
        }
        _ => has_words(tokens, &["executable", "("]),
    }
}

/// Are the hashes of passwords among what is asked for?
fn reads_hashes(tokens: &[SqlToken]) -> bool {
    let held =
        tokens.iter().any(|t| t.kind != b'\'' && matches!(&*t.text, "pg_shadow" | "pg_authid"))
            || has_words(tokens, &["mysql", ".", "user"]);
    let shown = |t: &SqlToken| t.kind != b'\'' && (HASHES.contains(&&*t.text) || t.kind == b'*');
    held && tokens.first().is_some_and(|t| matches!(&*t.text, "select" | "copy" | "with" | "table"))
        && (tokens.iter().any(shown) || !tokens.iter().any(|t| t.text == "select"))
}
