//! What each tool of an agent does, by Claude Code's names.

mod fields;

pub use fields::{holds_line, names_line};

use std::borrow::Cow;

use serde_json::{Value as Json, json};

use super::emitter::Emitter;
use super::flow;
use super::host::{decode_percent, host_of};
use super::program::{code, table};
use super::value::Value;
use super::{Analysis, Extent, Grade, Place, Source, Word, path, shell};
use crate::event::Event;
use crate::limits::{self, Cap};
use crate::names::fields::{TEXTS, UNBOXED, WRAPPERS};
use crate::names::tool::{ABOUT, DELETES, QUIET, READERS, SENDS, SHOWS, STORED, TRIFLES, WRITERS};

mod grep;
mod server;

/// The effects of a tool call.
pub fn analyse_tool_call(event: &Event, place: &Place) -> Analysis {
    let mut analysis = analyse_call(event, place);
    flow::settle_input(&mut analysis, &event.input);
    analysis
}

fn analyse_call(event: &Event, place: &Place) -> Analysis {
    let mut own = place.clone();
    if own.cwd.is_empty() {
        own.cwd.clone_from(&event.cwd);
    }
    let (name, input) = (event.tool.as_str(), &event.input);
    let line = input.get("command").and_then(Json::as_str);
    let read = match (line, name) {
        (Some(text), "Bash" | "Monitor") => Some(shell::analyse_command(text, &own)),
        (Some(text), "PowerShell") => Some(powershell(text, &own)),
        _ => None,
    };
    if let Some(mut analysis) = read {
        if leaves_sandbox(input) {
            let mut out = Emitter::new(&own);
            out.emit_uncovered("the command leaves the agent's sandbox", 0..0);
            add(&mut analysis, out);
        }
        return analysis;
    }
    let mut out = Emitter::new(&own);
    match name {
        // One that is called with nothing runs nothing.
        "Bash" if input.as_object().is_some_and(serde_json::Map::is_empty) => {
            return Analysis::default();
        }
        "Bash" => out.emit_unknown("the tool's command is not text", 0..0),
        "PowerShell" | "Monitor" => out.emit_unknown("a shell that is not read", 0..0),
        _ if known(&mut out, event) => {}
        _ => {
            let input = open_texts(input);
            let line = match name.starts_with("mcp__") {
                true => emit_mcp_tool(&mut out, name, &input),
                false => stranger(&mut out, name, &input),
            };
            return with_shell(out.finish(), line, &own);
        }
    }
    out.finish()
}

/// The input with what is JSON in a text opened, and a text alone as what the tool is given.
fn open_texts(input: &Json) -> Cow<'_, Json> {
    let inner = |value: &Json, signs: &[char]| {
        let text = value.as_str().filter(|text| text.trim_start().starts_with(signs))?;
        serde_json::from_str::<Json>(text).ok()
    };
    // A list in what is a text for people is text.
    let field = |(key, value): (&String, &Json)| {
        inner(value, if TEXTS.contains(&key.as_str()) { &['{'] } else { &['{', '['] })
    };
    match input {
        Json::String(text) => {
            let object = inner(input, &['{']);
            Cow::Owned(object.unwrap_or_else(|| json!({ "input": text })))
        }
        // What has one field for all of them.
        Json::Object(map)
            if map.len() == 1
                && let Some((key, value)) = map.iter().next()
                && WRAPPERS.contains(&key.as_str())
                && let Some(object) =
                    field((key, value)).or_else(|| Some(value.clone())).filter(Json::is_object) =>
        {
            Cow::Owned(open_texts(&object).into_owned())
        }
        Json::Object(map) if map.iter().any(|pair| field(pair).is_some()) => {
            let mut opened = serde_json::Map::new();
            for (key, value) in map {
                let Some(inner) = field((key, value)) else {
                    opened.insert(key.clone(), value.clone());
                    continue;
                };
                // A shell would run a part of it.
                let runs = |text: &str| text.contains("$(") || text.contains('`');
                if names_line(key) && value.as_str().is_some_and(runs) {
                    opened.insert("commandline".to_string(), value.clone());
                }
                opened.insert(key.clone(), inner);
            }
            Cow::Owned(Json::Object(opened))
        }
        _ => Cow::Borrowed(input),
    }
}

/// PowerShell as its own reader has it: no allow covers that, and what is not plain is not understood.
fn powershell(text: &str, place: &Place) -> Analysis {
    // An operator in front is no option.
    let blank = if text.starts_with(['-', '/']) { " " } else { "" };
    let line = format!("pwsh -c '{blank}{}'", text.replace('\'', "'\\''"));
    let mut analysis = shell::analyse_command(&line, place);
    let mut out = Emitter::new(place);
    match code::unread_powershell(text) {
        None => out.emit_uncovered("PowerShell is read in part", 0..0),
        Some(word) => {
            let word = word.replace('`', "");
            out.emit_unknown(&format!("PowerShell that is not understood: `{word}`"), 0..0)
        }
    }
    add(&mut analysis, out);
    analysis
}

/// The call's own text does that as well: it stands before what the files do that the call runs.
fn add(analysis: &mut Analysis, more: Emitter<'_>) {
    let more = more.finish();
    let at = analysis.own_effects().len();
    if let Some(led) = &mut analysis.led {
        led.effects += more.effects.len();
    }
    analysis.effects.splice(at..at, more.effects);
    analysis.notes.extend(more.notes);
}

/// Is the command to run outside of the sandbox that others of the agent run in? Whoever allows a command speaks of
/// the command.
fn leaves_sandbox(input: &Json) -> bool {
    let plain = |key: &str| fields::bare_name(key).to_ascii_lowercase();
    let set = |value: &Json| !matches!(value, Json::Null | Json::Bool(false));
    let fields = input.as_object().into_iter().flatten();
    fields.into_iter().any(|(key, value)| set(value) && UNBOXED.contains(&plain(key).as_str()))
}

/// The tools that every agent has, by Claude Code's names; false = it is none of them.
fn known(out: &mut Emitter, event: &Event) -> bool {
    let input = &event.input;
    match event.tool.as_str() {
        // No tool at all: other events have none.
        "" if input.as_object().is_none_or(serde_json::Map::is_empty) => {}
        name if QUIET.contains(&name) => {}
        "Read" | "NotebookRead" | "View" => {
            emit_file(out, input, &["file_path", "notebook_path", "path"], &[Word::Read])
        }
        "Write" => emit_file(out, input, &["file_path", "path"], &[Word::Write]),
        "Delete" => emit_file(out, input, &["file_path", "path"], &[Word::Delete]),
        "Edit" | "MultiEdit" => {
            emit_file(out, input, &["file_path", "path"], &[Word::Read, Word::Write])
        }
        "NotebookEdit" => {
            emit_file(out, input, &["notebook_path", "file_path"], &[Word::Read, Word::Write])
        }
        "Glob" | "Grep" | "LS" => emit_search(out, event),
        name @ ("LSP" | "ReadMcpResourceTool") => by_fields(out, name, input, false, true),
        "WebFetch" => fetch(out, input),
        "WebSearch" => out.push(Word::Network, Grade::Certain, Source::Tool, 0..0),
        _ => return false,
    }
    true
}

/// WebFetch: the host of a URL, or a file.
fn fetch(out: &mut Emitter, input: &Json) {
    let urls = input.get("url").or_else(|| input.get("urls"));
    let urls = urls.filter(|urls| urls.is_string() || urls.is_array()).map(server::texts_of);
    match urls.filter(|urls| !urls.is_empty()) {
        Some(urls) => urls.iter().for_each(|url| contact(out, url, false)),
        None => out.push(Word::Network, Grade::Unknown, Source::Tool, 0..0),
    }
}

/// What a URL leads to: a file of this machine, or a host.
fn contact(out: &mut Emitter, url: &str, send: bool) {
    // As browsers take it.
    let url: String = url.trim().chars().filter(|c| !matches!(c, '\t' | '\n' | '\r')).collect();
    let url = url.strip_prefix("view-source:").unwrap_or(&url);
    let path = resolve_location(url, &out.place.home);
    if path != url {
        let path = Value::known(path, 0..0);
        return out.emit_path(Word::Read, &path, Extent::Exact, Grade::Certain, Source::Tool);
    }
    let host = |url: &str| host_of(&Value::known(url, 0..0));
    let hosts = match (host(url), url.rsplit_once('@')) {
        // Browsers end the host at `\\`, others begin it behind `@`.
        (None, Some((_, behind))) if url.contains('\\') => {
            vec![host(&url.replace('\\', "/")), host(behind)]
        }
        (host, _) => vec![host],
    };
    for host in hosts {
        let grade = if host.is_some() { Grade::Certain } else { Grade::Unknown };
        out.push_effect(Word::Network, grade, None, host.clone(), Source::Tool, 0..0);
        if send {
            out.push_effect(Word::Send, grade, None, host, Source::Tool, 0..0);
        }
    }
}

/// What comes back from an address that a tool of others is given: anybody may have written it.
fn emit_content(out: &mut Emitter, url: &str, grade: Grade) {
    if let Some(host) = host_of(&Value::known(url.trim(), 0..0)) {
        let word = Word::Named("content.untrusted");
        out.push_effect(word, grade, None, Some(host), Source::Tool, 0..0);
    }
}

/// What is left of a call when its effects are found: the command lines in it, and where they run.
struct Lines {
    lines: Vec<String>,
    directory: Option<String>,
}

impl Lines {
    fn of(out: &Emitter, name: &str, input: &Json, runs: bool) -> Lines {
        let fields::Told { mut lines, typed, guessed } =
            fields::command_lines(name, input, runs, out.place.guarded.names);
        // Of what is no shell's text the walk understands little.
        let understood = |text: &String| {
            let found = shell::analyse_command(text, out.place);
            found.effects.iter().all(|effect| effect.grade != Grade::Unknown)
        };
        let named = runs.then(|| fields::program_line(name, input)).flatten();
        // Of a program in another language something may be left over; what changes something is told all the same.
        let tells = |text: &String| {
            let found = shell::analyse_command(text, out.place);
            let idle = |word| matches!(word, Word::Execute | Word::Code | Word::Read);
            found.effects.iter().any(|e| e.grade == Grade::Certain && !idle(e.word))
        };
        lines.extend(guessed.into_iter().filter(|text| understood(text) || tells(text)));
        lines.extend(typed.into_iter().chain(named).filter(understood));
        Lines {
            lines,
            directory: fields::directory_field(input).and_then(Json::as_str).map(str::to_string),
        }
    }
}

/// A tool that nobody knows: its fields say what it does.
fn stranger(out: &mut Emitter, name: &str, input: &Json) -> Lines {
    out.push(Word::Execute, Grade::Certain, Source::Tool, 0..0);
    by_row(out, name, input, true)
}

/// What a table says of a tool, and of what it does not say the fields.
fn by_row(out: &mut Emitter, name: &str, input: &Json, runs: bool) -> Lines {
    if fields::ends_guard(name, input) {
        out.guard_ended(0..0);
    }
    let Some(row) = server::find_row(name) else {
        by_fields(out, name, input, runs, true);
        emit_send(out, name, input);
        if name.starts_with("mcp__") {
            emit_named(out, name);
        }
        return Lines::of(out, name, input, runs);
    };
    let left = server::emit_row(out, row, input);
    by_fields(out, name, &left, runs, !row.is_remote());
    let mut lines = Lines::of(out, name, &left, runs);
    lines.lines.extend(server::command_line(row, input));
    if let Some(directory) = server::directory_of(row, input) {
        lines.directory = Some(directory.to_string());
    }
    lines
}

/// What the fields of a tool that only reads, or `runs`, say; `local` = a path without a root is one of this machine.
fn by_fields(out: &mut Emitter, name: &str, input: &Json, runs: bool, local: bool) {
    emit_path_leaves(out, input, runs);
    fields::emit_changes(out, name, input, !runs, local);
}

/// A tool of an MCP server: what a file says of it, else what its name says.
fn emit_mcp_tool(out: &mut Emitter, name: &str, input: &Json) -> Lines {
    let known = out
        .place
        .programs
        .iter()
        .find(|p| p.name.starts_with("mcp__") && crate::glob::matches(p.name, name));
    let Some(program) = known else {
        let from = out.analysis.effects.len();
        emit_statements(out, name, input);
        let word = match only_reads(name) && out.analysis.effects.len() == from {
            true => Word::Read,
            false => Word::Execute,
        };
        out.push(word, Grade::Certain, Source::Tool, 0..0);
        return by_row(out, name, input, word == Word::Execute);
    };
    for word in program.effects {
        out.push(*word, Grade::Certain, Source::Tool, 0..0);
    }
    if !program.complete {
        let writes = |word: &Word| !matches!(word, Word::Read | Word::Network);
        emit_path_leaves(out, input, program.effects.iter().any(writes));
    }
    match program.effects.contains(&Word::Execute) {
        true => Lines::of(out, name, input, true),
        false => Lines { lines: Vec::new(), directory: None },
    }
}

/// The statements that a tool hands to a database.
fn emit_statements(out: &mut Emitter, name: &str, input: &Json) {
    let (server, tool) = name_words(name);
    let searches = ["search", "find", "list", "lookup", "describe"];
    // A tool `query_database` of another server may be asked in plain words.
    let asks = tool.last().is_some_and(|last| last == "query");
    let database = name.ends_with("__query")
        || name.contains("sql")
        || server::names_database(&server)
        || asks && server::names_database(&tool);
    let database = database && !tool.iter().any(|word| searches.contains(&word.as_str()));
    for text in fields::statements(input, database) {
        let text = Value::known(text, 0..0);
        code::emit_inline(out, table::Language::Sql, &text, &mut Vec::new());
    }
}

/// What the name of a tool says where neither a table nor a field says more: it deletes what others may use, or shows a
/// secret that is stored.
fn emit_named(out: &mut Emitter, name: &str) {
    let (server, words) = name_words(name);
    let has = |list: &[&str]| words.iter().any(|word| list.contains(&word.as_str()));
    let reads = words.first().is_some_and(|first| READERS.contains(&first.as_str()));
    let files = out.analysis.effects.iter().any(|effect| effect.path.is_some());
    if has(DELETES) && words != ["reset"] && !reads && !files && !has(TRIFLES) {
        out.push(Word::Named("cloud.delete"), Grade::Certain, Source::Tool, 0..0);
    }
    let all = format!("_{}_", [&server[..], &words[..]].concat().join("_"));
    let stored = STORED.iter().any(|what| all.contains(&format!("_{what}_")));
    if stored && has(SHOWS) && !has(ABOUT) {
        out.push(Word::Named("cloud.secret"), Grade::Certain, Source::Tool, 0..0);
    }
}

/// A tool that runs commands is one more road to the shell: its command lines are read as such.
fn with_shell(own: Analysis, told: Lines, place: &Place) -> Analysis {
    let Lines { lines, directory } = told;
    if lines.is_empty() {
        return own;
    }
    let mut place = place.clone();
    if let Some(dir) = directory {
        let dir = resolve_location(&dir, &place.home);
        let dir = match dir.strip_prefix("~/") {
            Some(rest) => format!("{}/{rest}", place.home),
            None => dir,
        };
        place.cwd = path::normalise_path(&path::join(&place.cwd, &dir));
    }
    let mut analysis = shell::analyse_command(&lines.join("\n"), &place);
    // Its own effects belong to no sub-command, so they can stand beside those.
    let at = analysis.own_effects().len();
    if let Some(led) = &mut analysis.led {
        led.effects += own.effects.len();
    }
    analysis.effects.splice(at..at, own.effects);
    analysis.notes.extend(own.notes);
    analysis
}

/// `get_issue`, `listUsers`, `notion-search`: a reading verb comes first, behind the server's own
/// name at most, and no other verb stands in the name.
fn only_reads(name: &str) -> bool {
    let (_, words) = name_words(name);
    words.first().is_some_and(|first| READERS.contains(&first.as_str()))
        && !words.iter().any(|word| WRITERS.contains(&word.as_str()))
}

/// The words of an MCP server's name, and those of its tool, without its server's where others follow.
fn name_words(name: &str) -> (Vec<String>, Vec<String>) {
    let of_server = name.strip_prefix("mcp__").and_then(|n| n.rsplit_once("__"));
    let (server, tool) = of_server.unwrap_or(("", name));
    let (server, mut words) = (split_name(server), split_name(tool));
    let lead = words.iter().take_while(|word| server.contains(word)).count();
    words.drain(..lead.min(words.len().saturating_sub(1)));
    (server, words)
}

/// `send_alert`, `publish`, `slack_webhook`, `{"method": "POST"}`: the call hands something to others.
fn emit_send(out: &mut Emitter, name: &str, input: &Json) {
    let (server, words) = name_words(name);
    let sends = |word: &String| SENDS.contains(&word.as_str());
    let reads = words.first().is_some_and(|first| READERS.contains(&first.as_str()));
    let grade = match words.first().is_some_and(sends) || fields::posts(input) {
        true => Grade::Certain,
        false if reads || !words.iter().chain(&server).any(sends) => return,
        false => Grade::Possible,
    };
    let mut hosts = fields::hosts(input);
    if hosts.is_empty() {
        hosts.push(None);
    }
    for host in hosts {
        out.push_effect(Word::Send, grade, None, host, Source::Tool, 0..0);
    }
}

/// The words of a name, in lower case: `write_file`, `writeFile`.
fn split_name(name: &str) -> Vec<String> {
    let mut words: Vec<String> = vec![String::new()];
    let mut lower = false;
    for c in name.chars() {
        let ends = matches!(c, '_' | '-' | '.' | ' ') || lower && c.is_ascii_uppercase();
        if ends {
            words.push(String::new());
        }
        if c.is_ascii_alphanumeric()
            && let Some(last) = words.last_mut()
        {
            last.push(c.to_ascii_lowercase());
        }
        lower = c.is_ascii_lowercase();
    }
    words.retain(|word| !word.is_empty());
    words
}

/// The effects on the file that one of the keys names.
fn emit_file(out: &mut Emitter, input: &Json, keys: &[&str], words: &[Word]) {
    let mut found = false;
    for key in keys {
        match input.get(key) {
            Some(Json::String(path)) if !path.is_empty() => {
                found = true;
                let value = tool_path(out, path);
                for word in words {
                    out.emit_path(*word, &value, Extent::Exact, Grade::Certain, Source::Tool);
                }
            }
            None | Some(Json::Null) => {}
            Some(_) => {
                found = false;
                break;
            }
        }
    }
    if !found {
        for word in words {
            out.push(*word, Grade::Unknown, Source::Tool, 0..0);
        }
        // Another name of the field, or a list of paths.
        by_fields(out, "", input, false, true);
    }
}

/// A path as a tool takes it: `~` is the home, nothing is a glob.
fn tool_path(out: &Emitter, path: &str) -> Value {
    let text = path::in_home(path, &out.place.home).unwrap_or_else(|| path.to_string());
    Value::known(text, 0..0)
}

/// Glob, Grep and LS read a directory with all that is in it.
fn emit_search(out: &mut Emitter, event: &Event) {
    let input = &event.input;
    let base = match input.get("path") {
        Some(Json::String(path)) if !path.is_empty() => tool_path(out, path),
        None | Some(Json::Null | Json::String(_)) => Value::known(".", 0..0),
        Some(_) => {
            out.push(Word::Read, Grade::Unknown, Source::Tool, 0..0);
            return;
        }
    };
    if event.tool == "Grep" {
        return grep::emit_grep(out, input, &base);
    }
    let extent = if event.tool == "LS" { Extent::Exact } else { Extent::Tree };
    if event.tool == "Glob"
        && let Some(pattern) = input.get("pattern").and_then(Json::as_str)
    {
        // A pattern with a directory of its own looks there.
        let pattern = tool_path(out, pattern);
        let pattern = pattern.known_start();
        let literal = pattern.split(['*', '?', '[', '{']).next().unwrap_or_default();
        let dir = literal.rsplit_once('/').map(|(dir, _)| if dir.is_empty() { "/" } else { dir });
        let signs = pattern.find(['*', '?', '[', '{', '(']).unwrap_or(pattern.len());
        if leads_anywhere(&pattern[signs..]) {
            out.push(Word::Read, Grade::Unknown, Source::Tool, 0..0);
        }
        if let Some(dir) = dir {
            let whole = format!("{}/{dir}", base.text().unwrap_or("."));
            let text = if path::is_absolute(dir) { dir.to_string() } else { whole };
            return emit_listing(out, &Value::known(text, 0..0), extent);
        }
    }
    emit_listing(out, &base, extent);
}

/// Names alone are told: outside of the project those in the directory, whose files stay unread.
fn emit_listing(out: &mut Emitter, dir: &Value, extent: Extent) {
    let elsewhere = out.locate_exact(dir).is_some_and(|target| out.is_elsewhere(&target));
    let extent = if elsewhere { Extent::Exact } else { extent };
    out.emit_path(Word::Read, dir, extent, Grade::Certain, Source::Tool);
}

/// May what stands behind a pattern's first sign lead out of the directory before it: `{../..,x}/*`, `@(src|..)/*`, `{/etc,x}`?
fn leads_anywhere(rest: &str) -> bool {
    let rest = rest.replace('\\', "");
    let mut parts = rest.split(['/', '{', '}', ',', '(', ')', '|']);
    parts.any(|part| part == "..")
        || ["{/", ",/", "(/", "|/"].iter().any(|root| rest.contains(root))
}

/// The path that a URI of a file or a variable stands for; any other text as it is.
fn resolve_location(text: &str, home: &str) -> String {
    const SCHEMES: &[&str] =
        &["file", "vscode-remote", "vscode-local", "vscode-userdata", "vscode-file", "vscode-vfs"];
    for start in ["$HOME/", "${HOME}/", "$env:HOME/", "%HOME%/"] {
        if let Some(rest) = text.strip_prefix(start) {
            return format!("{home}/{rest}");
        }
    }
    let Some((scheme, rest)) = text.split_once(':') else { return text.to_string() };
    if !SCHEMES.contains(&scheme.to_ascii_lowercase().as_str()) {
        return text.to_string();
    }
    let rest = match rest.strip_prefix("//") {
        // Behind the host, if there is one.
        Some(rest) if rest.starts_with('~') => rest,
        Some(rest) => rest.find('/').map_or(rest, |slash| &rest[slash..]),
        None => rest,
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let drive = rest.as_bytes().get(2) == Some(&b':') && rest.starts_with('/');
    decode_percent(if drive { &rest[1..] } else { rest })
}

/// Does a text look like a path, wherever it stands?
fn looks_like_path(path: &str) -> bool {
    (path::is_absolute(path) && !path.starts_with("//")
        || ["~/", "./", "../"].iter().any(|start| path.starts_with(start))
        || path == "~")
        && path.len() < limits::PATH_MAX
        && !path.contains('\n')
}

/// String leaves that look like absolute paths: read for certain, possibly written. Where a command line
/// runs is no path of those: the walk of the line says what it does there.
fn emit_path_leaves(out: &mut Emitter, input: &Json, writes: bool) {
    let runs = writes && input.as_object().is_some_and(holds_line);
    let place = if runs { fields::directory_field(input) } else { None };
    let mut todo = vec![input];
    let mut count = 0;
    while let Some(json) = todo.pop() {
        count += 1;
        if !Cap::Leaves.admits(count) {
            return;
        }
        match json {
            _ if place.is_some_and(|place| std::ptr::eq(place, json)) => {}
            Json::Array(items) => todo.extend(items.iter().rev()),
            Json::Object(map) => todo.extend(map.values().rev()),
            Json::String(text) => {
                let path = resolve_location(text, &out.place.home);
                if looks_like_path(&path) {
                    let value = tool_path(out, &path);
                    out.emit_path(Word::Read, &value, Extent::Tree, Grade::Certain, Source::Tool);
                    if writes {
                        out.emit_path(
                            Word::Write,
                            &value,
                            Extent::Tree,
                            Grade::Possible,
                            Source::Tool,
                        );
                    }
                } else if text.contains("://") && !text.contains([' ', '\n']) {
                    let host = host_of(&Value::known(text.clone(), 0..0));
                    out.push_effect(Word::Network, Grade::Possible, None, host, Source::Tool, 0..0);
                    emit_content(out, text, Grade::Possible);
                }
            }
            _ => {}
        }
    }
}
