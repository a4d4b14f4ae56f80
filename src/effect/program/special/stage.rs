//! Which stage a call works on, as names and variables tell: a database that is there to be thrown away, development, production;
//! and who says yes to a change.

use std::ops::Range;

use super::super::effects::Call;
use super::super::table::{Program, Special};
use crate::effect::emitter::Emitter;
use crate::effect::path::split;
use crate::effect::value::Value;
use crate::effect::{Effect, Grade, Source, Word};
use crate::names::stage::{
    ASKERS, CONNECTING, DEVELOPING, DEVELOPMENT, FORCING, PRODUCTION, SCRATCH, SERVERS, VARIABLES,
    WHO,
};

const DROP: Word = Word::Named("database.drop");
const ALL: Word = Word::Named("database.delete-all");
const GRANT: Word = Word::Named("database.grant");
/// `AWS_ENDPOINT_URL`, and the same of one service: `AWS_ENDPOINT_URL_S3`.
const AWS_ADDRESS: &str = "AWS_ENDPOINT_URL";
/// With it aws passes over those variables.
const AWS_ADDRESSES_OFF: &str = "AWS_IGNORE_CONFIGURED_ENDPOINT_URLS";

/// What a name says of the place that it is of; the later one is the more careful.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Scratch,
    Development,
    Production,
}

/// Do programs here look at that variable?
pub fn is_watched(variable: &str) -> bool {
    VARIABLES.contains(&variable)
        || FORCING.contains(&variable)
        || variable.starts_with("TF_CLI_ARGS")
        || variable.starts_with(AWS_ADDRESS)
        || variable == AWS_ADDRESSES_OFF
        || crate::names::added::VARIABLES.contains(&variable)
}

fn stage_of(word: &str) -> Option<Stage> {
    let word = word.split(['?', '#']).next().unwrap_or_default().to_ascii_lowercase();
    let names = |text: &str, stage: &[&str]| {
        let mut parts = text.split(|c: char| !c.is_ascii_alphanumeric());
        // `tmp123`
        parts.any(|part| stage.contains(&part.trim_end_matches(|c: char| c.is_ascii_digit())))
    };
    if names(&word, PRODUCTION) {
        return Some(Stage::Production);
    }
    let temporary =
        word.starts_with("/tmp/") || word.contains(":/tmp/") || word.contains("///tmp/");
    let temporary = temporary && !word.contains("..");
    let (host, name) = named_by(&word);
    let says = |stage: &[&str]| names(host, stage) || names(name, stage);
    if word == ":memory:" || temporary || says(SCRATCH) {
        return Some(Stage::Scratch);
    }
    says(DEVELOPMENT).then_some(Stage::Development)
}

/// The server and the last name of a place: the directories above a database say nothing of it.
fn named_by(word: &str) -> (&str, &str) {
    let (host, path) = match word.split_once("://") {
        Some((_, rest)) => rest.split_once('/').unwrap_or((rest, "")),
        None => ("", word),
    };
    (host, path.trim_end_matches('/').rsplit('/').next().unwrap_or_default())
}

/// Is it the client of a database?
pub fn is_client(call: &Call) -> bool {
    call.parsed.program.is_some_and(|row| row.special == Some(Special::Client))
}

/// Words that may name a place: no code, no account.
fn naming_words<'a>(call: &'a Call) -> impl Iterator<Item = &'a str> {
    // A file of statements says nothing of the database that they are for.
    let statements = |option: &str| is_client(call) && matches!(option, "-f" | "--file");
    let who = move |at: usize| {
        let before = at.checked_sub(1).and_then(|at| call.args[at].plain_text());
        before.is_some_and(|option| WHO.contains(&option) || statements(option))
    };
    call.args.iter().enumerate().filter_map(move |(at, arg)| {
        let text = arg.known_start();
        let named = !text.contains([' ', '\n', '(', ';']) && (!who(at) || text.contains(':'));
        named.then_some(text)
    })
}

/// What the call's words and variables say.
fn stages(out: &Emitter, call: &Call) -> Vec<Stage> {
    let variables = out.variables.iter().filter(|(name, _)| VARIABLES.contains(&name.as_str()));
    let values = variables.filter_map(|(_, value)| stage_of(value.as_deref()?));
    // Without a file it has nothing but what is in memory.
    let memory = call.name == "duckdb" && call.parsed.operands.is_empty();
    let values = values.chain(memory.then_some(Stage::Scratch));
    let values = values.chain(is_queue_here(call).then_some(Stage::Development));
    let values = values.chain(stage_of_files(out, call));
    let told: Vec<Stage> = values.chain(naming_words(call).filter_map(stage_of)).collect();
    match told[..] {
        [] if develops(out, call) => vec![Stage::Development],
        _ => told,
    }
}

/// Is it one of redis's further databases, or a queue of this machine? Neither has a name that tells.
fn is_queue_here(call: &Call) -> bool {
    let is = |name: &str, here: fn(&str) -> bool| {
        let mut options = call.parsed.options.iter().filter(|option| &*option.name == name);
        options.any(|o| o.value.as_ref().and_then(Value::text).is_some_and(here))
    };
    let empties = |arg: &Value| arg.known_start().eq_ignore_ascii_case("flushdb");
    match call.name {
        "redis-cli" | "valkey-cli" | "keydb-cli" => {
            is("-n", is_further) && call.args.iter().any(empties)
        }
        name => {
            let server = |value: &str| is_here(value.split(':').next().unwrap_or_default());
            name.starts_with("kafka-topics") && is("--bootstrap-server", server)
        }
    }
}

/// Does a database of redis have another number than the first one?
fn is_further(number: &str) -> bool {
    number.parse().is_ok_and(|number: u32| number > 0)
}

/// Does the program take the database of development, as nothing says otherwise, and refuse or ask in production?
fn develops(out: &Emitter, call: &Call) -> bool {
    let told = |(name, _): &(String, Option<String>)| {
        name.ends_with("_ENV") || name == "DATABASE_URL" || FORCING.contains(&name.as_str())
    };
    // What runs elsewhere has the variables of that machine.
    let outer = out.analysis.with_wrappers(out.command);
    let remote = |effect: &Effect| {
        effect.word == Word::Remote && effect.command.is_some_and(|at| outer.contains(&at))
    };
    // Statements that a person types there go where that person meant them to.
    let types = |row: &Program| matches!(row.special, Some(Special::Client | Special::Interpreter));
    let forced = |arg: &Value| FORCING.iter().any(|name| arg.known_start().starts_with(name));
    DEVELOPING.contains(&call.name)
        && !call.parsed.program.is_some_and(types)
        && !call.args.iter().any(forced)
        && !out.variables.iter().any(told)
        && !out.analysis.effects.iter().any(remote)
        && !call.has_any(&["-e", "--environment", "--env", "--database", "--force"])
}

/// The stage of the files of databases that an inline program opens, if it talks to no server; the worst of several.
fn stage_of_files(out: &Emitter, call: &Call) -> Option<Stage> {
    let own = || out.analysis.effects.iter().filter(|effect| effect.command == out.command);
    let texts = || call.args.iter().map(|arg| arg.known_start().to_ascii_lowercase());
    let names_server = |text: String| SERVERS.iter().any(|server| text.contains(server));
    if is_client(call)
        || own().any(|effect| effect.word == Word::Network)
        || texts().any(names_server)
    {
        return None;
    }
    let opened = own().filter(|effect| effect.word == Word::Write && effect.source == Source::Code);
    let files = opened.filter_map(|effect| effect.path.as_ref()).map(|target| {
        let file = &*target.resolved;
        stage_of(if file.starts_with("/tmp/") { file } else { split(file).1 })
    });
    // What is in memory has no file.
    let memory = || texts().any(|text| text.contains(":memory:"));
    let stages = files.collect::<Option<Vec<_>>>()?;
    stages.into_iter().max().or_else(|| memory().then_some(Stage::Scratch))
}

/// The databases that statements of the call drop by name, and whether they drop more than those.
fn dropped_by_name(call: &Call) -> (Vec<String>, bool) {
    let (mut names, mut drops) = (Vec::new(), 0);
    for arg in call.args.iter().filter_map(Value::text).filter(|t| t.contains(' ')) {
        let lower = arg.to_ascii_lowercase();
        let words: Vec<&str> =
            lower.split([' ', ';', '"', '`', '\n']).filter(|w| !w.is_empty()).collect();
        for (at, word) in words.iter().enumerate() {
            drops += usize::from(matches!(*word, "drop" | "truncate"));
            if *word == "drop" && words.get(at + 1) == Some(&"database") {
                let mut rest = words[at + 2..].iter().filter(|w| !matches!(**w, "if" | "exists"));
                names.push(rest.next().map_or(String::new(), |name| name.to_string()));
            }
        }
    }
    let more = drops > names.len();
    (names, more)
}

/// Is a database opened that its name says nothing of: one of another machine, or a further one that statements name?
fn opens_another(call: &Call) -> bool {
    let mut texts = call.args.iter().map(Value::known_start);
    let host = call.parsed.options.iter().find(|o| matches!(&*o.name, "-h" | "--host"));
    let host = host.and_then(|option| option.value.as_ref()).map(Value::known_start);
    host.is_some_and(|host| !is_here(host))
        || texts.any(|text| {
            let text = text.to_ascii_lowercase();
            names_another_host(&text)
                || [".open ", ".restore ", "attach "].iter().any(|sign| text.contains(sign))
        })
}

/// Is that this machine, or a socket of it?
fn is_here(host: &str) -> bool {
    matches!(host, "" | "localhost" | "127.0.0.1" | "::1" | "[::1]") || host.starts_with('/')
}

/// `postgres://user@HOST:5432/shop_test`, `host=HOST dbname=shop_test`.
fn names_another_host(text: &str) -> bool {
    let server = text.split_once("://").map(|(_, rest)| {
        let server = rest.split(['/', '?', '#']).next().unwrap_or_default();
        let server = server.rsplit_once('@').map_or(server, |(_, server)| server);
        server
            .rsplit_once(':')
            .filter(|(_, port)| !port.contains(']'))
            .map_or(server, |(host, _)| host)
    });
    let keyed = text.split_ascii_whitespace().find_map(|word| word.strip_prefix("host="));
    [server, keyed].into_iter().flatten().any(|host| !is_here(host))
}

/// The stage of what is dropped; None = nobody says, or it is what counts.
fn stage_of_drop(out: &Emitter, call: &Call) -> Option<Stage> {
    let (names, more) = dropped_by_name(call);
    let mut found: Vec<Option<Stage>> = names.iter().map(|name| stage_of(name)).collect();
    let around = stages(out, call);
    let elsewhere = |(name, value): &(String, Option<String>)| {
        let value = value.as_deref().unwrap_or_default();
        names_another_host(value) || name.ends_with("HOST") && !is_here(value)
    };
    let elsewhere = opens_another(call) || out.variables.iter().any(elsewhere);
    if around.contains(&Stage::Production) || elsewhere {
        return None;
    }
    if names.is_empty() || more {
        found.push(around.into_iter().max());
    }
    let worst = found.into_iter().collect::<Option<Vec<_>>>()?.into_iter().max();
    worst.filter(|stage| *stage != Stage::Production)
}

/// Is something changed where others may use it?
fn changes(effect: &Effect, call: &Call) -> bool {
    let uploads = effect.word == Word::Send && matches!(call.name, "aws" | "gcloud" | "gsutil");
    let name = effect.word.text();
    effect.grade == Grade::Certain
        && (uploads
            || ["cloud.write", "container.write", "database.write"].contains(&name)
            || ["cloud.destroy", "cloud.publish"].contains(&name) && ASKERS.contains(&call.name))
}

/// A variable's value that is not empty and does not say no.
fn is_on(value: Option<&str>) -> bool {
    !matches!(value, None | Some("" | "0" | "false"))
}

/// The options that variables put into a call of terraform.
fn options_by_variable<'a>(out: &'a Emitter, verb: &str) -> Vec<&'a str> {
    let own = out.variables.iter().filter(|(name, _)| {
        name.strip_prefix("TF_CLI_ARGS").is_some_and(|rest| rest.is_empty() || &rest[1..] == verb)
    });
    own.filter_map(|(_, value)| value.as_deref()).flat_map(str::split_ascii_whitespace).collect()
}

/// What variables and standard input answer before a program asks.
fn emit_answers(out: &mut Emitter, call: &Call) {
    if !ASKERS.contains(&call.name) {
        return;
    }
    let first = call.args.iter().filter_map(Value::plain_text).find(|w| !w.starts_with('-'));
    let options = options_by_variable(out, first.unwrap_or_default());
    let has = |wanted: &str| options.iter().any(|o| o.trim_start_matches('-').starts_with(wanted));
    let variable = match call.name {
        "terragrunt" => "NON_INTERACTIVE",
        "pulumi" => "PULUMI_SKIP_CONFIRMATIONS",
        _ => "none",
    };
    let asked = |(name, value): &(String, Option<String>)| {
        name.ends_with(variable) && is_on(value.as_deref())
    };
    let (destroys, terraform) =
        (has("destroy"), !matches!(call.name, "pulumi" | "cdk" | "helmfile"));
    let approved =
        out.answered || terraform && has("auto-approve") || out.variables.iter().any(asked);
    for (holds, name) in [(destroys && terraform, "cloud.destroy"), (approved, "cloud.unasked")] {
        if holds {
            out.push(Word::Named(name), Grade::Certain, Source::Program, call.span.clone());
        }
    }
}

/// A client whose statements come from a program that fetches, unpacks or dumps them.
fn emit_unread(out: &mut Emitter, call: &Call) {
    let given = ["-c", "-e", "-f", "-Q", "-q", "-l"];
    if is_client(call) && out.unread && !call.has_any(&given) && worst_stage(out, call).is_none() {
        let word = Word::Named("database.unread");
        out.push(word, Grade::Certain, Source::Program, call.span.clone());
    }
}

/// The stage below production that the call names.
fn worst_stage(out: &Emitter, call: &Call) -> Option<Stage> {
    stages(out, call).into_iter().max().filter(|stage| *stage != Stage::Production)
}

/// What is dropped is worth what the database is: of the call's own statements, its standard input's among them.
pub fn settle_drops(out: &mut Emitter, call: &Call, from: usize) {
    for (made, text) in std::mem::take(&mut out.programs) {
        settle_program(out, &text, made);
    }
    let command = out.command;
    let loses =
        |effect: &Effect| effect.command == command && [DROP, ALL, GRANT].contains(&effect.word);
    if !out.analysis.effects[from..].iter().any(loses) {
        return;
    }
    let stage = stage_of_drop(out, call);
    for effect in out.analysis.effects[from..].iter_mut().filter(|effect| loses(effect)) {
        effect.word = match stage {
            Some(Stage::Scratch) => Word::Named("database.write"),
            Some(Stage::Development) if effect.word == GRANT => Word::Named("database.write"),
            Some(Stage::Development) if effect.word == DROP => Word::Named("database.scratch"),
            _ => effect.word,
        };
    }
}

/// Is the cloud one that this machine plays itself: `aws --endpoint-url http://localhost:4566`?
fn is_emulated(out: &Emitter, call: &Call) -> bool {
    let here = |address: &str| address.contains("://") && !names_another_host(address);
    let options = call.parsed.options.iter().filter(|o| &*o.name == "--endpoint-url");
    let mut options = options.map(|option| option.value.as_ref().and_then(Value::text)).peekable();
    if options.peek().is_some() {
        return options.all(|address| address.is_some_and(here));
    }
    let named =
        |start: &'static str| out.variables.iter().filter(move |(name, _)| name.starts_with(start));
    let mut set = named(AWS_ADDRESS).peekable();
    call.name == "aws"
        && set.peek().is_some()
        && set.all(|(_, value)| value.as_deref().is_some_and(here))
        && named(AWS_ADDRESSES_OFF).next().is_none()
}

/// What is changed in a cloud that this machine plays is as good as a file of its own.
fn settle_emulated(out: &mut Emitter, call: &Call, from: usize) {
    if !is_emulated(out, call) {
        return;
    }
    let command = out.command;
    for effect in out.analysis.effects[from..].iter_mut().filter(|e| e.command == command) {
        if effect.word.text().starts_with("cloud.") {
            effect.word = Word::Named("cloud.write");
        }
    }
}

/// What names and variables make of the effects from there on.
pub fn settle(out: &mut Emitter, call: &Call, from: usize) {
    emit_unread(out, call);
    settle_emulated(out, call, from);
    let own = &out.analysis.effects[from..];
    if call.is_dry_run()
        || !own.iter().any(|e| [DROP, ALL, GRANT].contains(&e.word) || changes(e, call))
    {
        return;
    }
    settle_drops(out, call, from);
    emit_answers(out, call);
    // A setting of the program itself reaches nobody.
    let settles = call.operands().first().is_some_and(|v| v.known_start().starts_with("config"));
    if !settles && stages(out, call).contains(&Stage::Production) {
        out.push(
            Word::Named("cloud.production"),
            Grade::Certain,
            Source::Program,
            call.span.clone(),
        );
    }
}

/// What stands in quotes in a program, and where.
fn literals(text: &str) -> Vec<(usize, &str)> {
    let (mut found, mut open) = (Vec::new(), None);
    for (at, c) in text.char_indices() {
        match open {
            Some((from, quote)) if c == quote => {
                found.push((from, &text[from..at]));
                open = None;
            }
            None if matches!(c, '"' | '\'' | '`') => open = Some((at + 1, c)),
            _ => {}
        }
    }
    found
}

/// The stage of the database that an address in a program names, on this machine; None = it is no address.
fn stage_of_address(text: &str) -> Option<Option<Stage>> {
    let file = |name: &str| match name.trim_start_matches('/') {
        "" | ":memory:" => Some(Stage::Scratch),
        _ if name.starts_with("//tmp/") => stage_of(&name[1..]),
        _ => stage_of(split(name).1),
    };
    if text == ":memory:" || text.starts_with("file:") && text.contains("memory") {
        return Some(Some(Stage::Scratch));
    }
    if let Some((_, rest)) = text.split_once("dbname=") {
        let name = rest.split(' ').next().unwrap_or_default();
        return Some(stage_of(name).filter(|_| !names_another_host(text)));
    }
    let (scheme, rest) = text.split_once("://")?;
    let here = !names_another_host(text);
    let name = rest.split_once('/').map_or("", |(_, path)| path);
    let stage = match scheme.split('+').next().unwrap_or_default() {
        "sqlite" | "duckdb" => file(rest),
        "redis" | "valkey" => is_further(name).then_some(Stage::Development),
        // Its databases are named later on.
        "mongodb" if name.is_empty() => Some(Stage::Scratch),
        "mongodb" | "postgres" | "postgresql" | "mysql" | "mariadb" => stage_of(name),
        _ => return None,
    };
    Some(stage.filter(|_| here || scheme.starts_with("sqlite")))
}

/// The value of one of these keys among a call's arguments: `db=15`, `database: 'shop_test'`.
fn keyed<'t>(arguments: &'t str, keys: &[&str]) -> Option<&'t str> {
    let mut parts = arguments.split([',', '{', '(']).filter_map(|part| part.split_once(['=', ':']));
    let (_, value) = parts.find(|(key, _)| keys.contains(&key.trim()))?;
    Some(value.trim_matches(|c: char| c.is_whitespace() || "'\"})".contains(c)))
}

/// The stage of what a call that connects is given; None = that is not known.
fn stage_of_connection(text: &str, arguments: &str) -> Option<Stage> {
    let named = literals(arguments).into_iter().find_map(|(_, one)| stage_of_address(one));
    let first = arguments.split(',').next().unwrap_or_default().trim();
    let bound = || {
        let mut all = literals(text).into_iter().filter(|(at, _)| {
            let before = text[..at - 1].trim_end().strip_suffix('=').unwrap_or_default().trim_end();
            before.strip_suffix(first).is_some_and(|rest| {
                !rest.ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
            })
        });
        let one = all.next().filter(|_| all.next().is_none());
        one.and_then(|(_, one)| stage_of_address(one))
    };
    if let Some(stage) = named.or_else(bound) {
        return stage;
    }
    keyed(arguments, &["host", "hostname"]).is_none_or(is_here).then_some(())?;
    let name = keyed(arguments, &["dbname", "database", "db"])?;
    if is_further(name) { Some(Stage::Development) } else { stage_of(name) }
}

/// The stage of the databases that a program connects to, where it names each of them; the worst of several.
fn stage_of_program(text: &str) -> Option<Stage> {
    const NAMING: &[&str] = &["db(", "database("];
    // It empties the others as well.
    if text.contains("flushall") {
        return None;
    }
    let mut stages = Vec::new();
    for name in CONNECTING {
        for (at, _) in text.match_indices(name) {
            let rest = &text[at + name.len()..];
            let inner = text[..at].ends_with(|c: char| c.is_ascii_alphanumeric() || c == '_');
            let end = rest.find([')', '\n', ';']).unwrap_or(rest.len());
            if !inner && !rest[..end].trim().is_empty() {
                stages.push(stage_of_connection(text, &rest[..end])?);
            }
        }
    }
    let (all, mut names) = (literals(text), 0);
    for (at, one) in &all {
        let before = &text[..at - 1];
        let names_one = NAMING.iter().any(|call| before.ends_with(call));
        let holds = before.strip_suffix('[').is_some_and(|b| b.ends_with(char::is_alphanumeric));
        match stage_of_address(one) {
            Some(stage) => stages.push(stage?),
            None if text.contains("mongo") && (names_one || holds) => {
                names += 1;
                stages.push(stage_of(one)?);
            }
            None => {}
        }
    }
    let unnamed = all.iter().any(|(_, one)| {
        one.strip_prefix("mongodb://")
            .is_some_and(|rest| !rest.contains('/') || rest.ends_with('/'))
    });
    if unnamed && names == 0 {
        return None;
    }
    // Without a connection of its own that one is in memory.
    if stages.is_empty() && text.contains("duckdb") && !text.contains("connect") {
        stages.push(Stage::Scratch);
    }
    stages.into_iter().max().filter(|stage| *stage != Stage::Production)
}

/// Is each cloud that a program talks to one that this machine plays itself?
fn is_emulated_in(text: &str) -> bool {
    let calls = || ["client(", "resource("].iter().flat_map(|name| text.match_indices(name));
    let here = |(at, _): (usize, &str)| {
        let rest = &text[at..];
        let call = &rest[..rest.find(')').unwrap_or(rest.len())];
        let url = call.split_once("endpoint_url").map_or("", |(_, value)| value);
        let url = literals(url).first().map_or("", |(_, address)| address);
        url.contains("://") && !names_another_host(url)
    };
    calls().next().is_some() && calls().all(here)
}

/// What an inline program drops is worth what the database is that it connects to.
fn settle_program(out: &mut Emitter, text: &str, made: Range<usize>) {
    let (cloud, data) = (|e: &Effect| e.word.text().starts_with("cloud."), [DROP, ALL]);
    let own = &out.analysis.effects[made.clone()];
    let text = text.to_ascii_lowercase();
    let emulated = own.iter().any(cloud) && is_emulated_in(&text);
    let loses = own.iter().any(|effect| data.contains(&effect.word));
    let stage = if loses { stage_of_program(&text) } else { None };
    for effect in &mut out.analysis.effects[made] {
        effect.word = match stage {
            _ if cloud(effect) && emulated => Word::Named("cloud.write"),
            Some(Stage::Scratch) if data.contains(&effect.word) => Word::Named("database.write"),
            Some(Stage::Development) if effect.word == DROP => Word::Named("database.scratch"),
            _ => effect.word,
        };
    }
}
