//! Programs that run others: shells, interpreters, xargs, env.

use super::{Invocation, packages};
use crate::effect::emitter::Emitter;
use crate::effect::path::split;
use crate::effect::program::code;
use crate::effect::program::effects::{Call, Next, emit_role, join_words, keep_words_apart};
use crate::effect::program::options::ParsedOption;
use crate::effect::program::table::{Language, Role, find_program as find, mark};
use crate::effect::program::twins::note_file;
use crate::effect::value::{BLANK, Printer, Value};
use crate::effect::{Grade, Source, Word};
use crate::limits::Cap;
use crate::names::runner::MODULES;

/// Modules that Python's own ones begin with, where `-m` starts them: one of the project's would be taken for it.
const IMPORTED: &[&str] =
    &["argparse", "runpy", "pkgutil", "re", "os", "io", "json", "types", "struct", "gettext"];

/// Modules of Python that only share their name with another program.
const SHADOWS: &[&str] = &["build", "calendar", "code", "profile", "site", "test", "time", "trace"];

/// What becomes of an item's text.
type TextChange = fn(&str) -> &str;

/// How a mark of parallel's changes an item: `{}`, `{.}`, `{/}`, `{//}`, `{/.}`.
const MARKS: [(&str, TextChange); 5] =
    [("", |text| text), (".", stem), ("/", base), ("//", dir), ("/.", |text| stem(base(text)))];

fn stem(text: &str) -> &str {
    match text.rsplit_once('.') {
        Some((stem, end)) if !end.contains('/') => stem,
        _ => text,
    }
}

fn base(text: &str) -> &str {
    text.rsplit('/').next().unwrap_or_default()
}

fn dir(text: &str) -> &str {
    text.rsplit_once('/').map_or(".", |(dir, _)| dir)
}

/// An item as it stands in the shell text.
fn quoted(item: &Value, change: TextChange) -> String {
    match (item.text(), item.prefix()) {
        (Some(text), _) if item.is_glob() => change(text).to_string(),
        (Some(text), _) => format!("'{}'", change(text).replace('\'', "'\\''")),
        (None, Some(prefix)) => format!("'{}'{BLANK}", prefix.replace('\'', "'\\''")),
        (None, None) => BLANK.to_string(),
    }
}

/// What parallel runs for a row of items: the words are shell text, the items are quoted in it.
pub fn fill_row(words: &[Value], items: &[Value]) -> Next {
    let span = words.first().or(items.first()).map_or(0..0, |w| w.span.clone());
    if let ([], [item, ..]) = (words, items) {
        // Without a command the items are commands.
        return Next::script(item.clone());
    }
    let known: Option<Vec<&str>> = words.iter().map(|word| word.text()).collect();
    let Some(before) = known.map(|words| words.join(" ")) else {
        return Next::script(Value::unknown(span));
    };
    let mut text = before.clone();
    for (mark, change) in MARKS {
        let token = format!("{{{mark}}}");
        if text.contains(&token) {
            let all: Vec<String> = items.iter().map(|item| quoted(item, change)).collect();
            text = text.replace(&token, &all.join(" "));
        }
        for (n, item) in items.iter().enumerate() {
            let token = format!("{{{}{mark}}}", n + 1);
            if text.contains(&token) {
                text = text.replace(&token, &quoted(item, change));
            }
        }
    }
    if before == text {
        text.extend(items.iter().map(|item| format!(" {}", quoted(item, |text| text))));
    }
    let text = text.trim_start().replace("{#}", "1").replace("{%}", "1");
    Next::script(Value::known(text, span))
}

/// What stands behind the user is the shell's: `su bob -- -lc TEXT`, `runuser bob --command=TEXT`.
pub fn shell_text(values: &[Value]) -> Option<Value> {
    values.iter().enumerate().find_map(|(at, value)| {
        let word = value.plain_text()?;
        match word.split_once('=') {
            Some(("--command" | "--session-command", text)) => {
                Some(value.skip_bytes(word.len() - text.len()))
            }
            _ if matches!(word, "--command" | "--session-command")
                || word.strip_prefix('-').is_some_and(|w| w.ends_with('c') && !w.contains('-')) =>
            {
                values.get(at + 1).cloned()
            }
            _ => None,
        }
    })
}

/// Does a list of items begin behind that word of parallel's?
fn begins_list(value: &Value) -> bool {
    matches!(value.plain_text(), Some(":::" | ":::+" | "::::" | "::::+"))
}

/// parallel: a command for every item of its lists, or for every line of standard input.
fn run_parallel(i: &mut Invocation) {
    let Invocation { out, call, values, next, .. } = i;
    if call.is_dry_run() {
        return;
    }
    let end = values.iter().position(begins_list).unwrap_or(values.len());
    let mut words = values[..end].to_vec();
    for option in call.parsed.options.iter().filter(|o| o.name == "-I") {
        if let Some(token) = option.value.as_ref().and_then(Value::plain_text) {
            let item = Value::known("{}", 0..0);
            words = words.iter().map(|w| w.replace_token(token, &item)).collect();
        }
    }
    let lists = &values[end..];
    if lists.is_empty() && !call.has("-a") {
        return next.push(match words.is_empty() {
            // Every line is a command.
            true => Next::Stdin { lang: Language::Shell },
            false => Next::Each { words, token: None },
        });
    }
    if !Cap::Lists.admits(lists.iter().filter(|v| begins_list(v)).count()) {
        return;
    }
    let rows = match lists.is_empty() {
        true => vec![vec![Value::unknown(call.span.clone())]],
        false => rows(out, call, lists),
    };
    let rows = Cap::Rows.first_admitted(&rows);
    next.extend(rows.iter().map(|row| fill_row(&words, row)));
    next.extend(rows.iter().filter_map(|row| keep_words_apart(&words, row)));
}

/// Rows of items: every list multiplies, `:::+` goes along with the one before.
fn rows(out: &mut Emitter, call: &Call, lists: &[Value]) -> Vec<Vec<Value>> {
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    let mut rest = lists;
    while let Some((kind, behind)) = rest.split_first() {
        let (list, more) =
            behind.split_at(behind.iter().position(begins_list).unwrap_or(behind.len()));
        rest = more;
        let mut items = list.to_vec();
        if kind.known_start().starts_with("::::") {
            list.iter().for_each(|file| out.operand(Word::Read, file));
            items = vec![Value::unknown(call.span.clone())];
        }
        if kind.known_start().ends_with('+') {
            for (at, row) in rows.iter_mut().enumerate() {
                row.extend(items.get(at % items.len().max(1)).cloned());
            }
        } else {
            let with =
                |row: &Vec<Value>, item: &Value| [&row[..], std::slice::from_ref(item)].concat();
            let all = rows.iter().flat_map(|row| items.iter().map(move |item| with(row, item)));
            rows = all.take(Cap::Rows.limit() + 1).collect();
        }
    }
    rows
}

/// bash, sh, zsh ...: `-c TEXT`, a file, or standard input.
pub(super) fn run_shell(i: &mut Invocation) {
    let Invocation { out, call, values, next, .. } = i;
    if call.has("-n") && !call.args.iter().any(|a| a.known_start().starts_with('+')) {
        // Only the syntax is checked.
        if let Some(file) = values.first().filter(|_| !call.parsed.has_mark(mark::SCRIPT)) {
            out.operand(Word::Read, file);
        }
        return;
    }
    if call.parsed.has_mark(mark::SCRIPT) || call.parsed.options.iter().any(holds_c) {
        if let Some((text, rest)) = values.split_first() {
            next.push(Next::Script { text: text.clone(), rest: rest.to_vec() });
        }
        return;
    }
    if values.is_empty() && call.has_any(&["-c", "--command", "--commands"]) {
        // The text was an option's value.
        return;
    }
    next.extend(hidden_scripts(call));
    next.push(match values.first() {
        Some(file) if !call.parsed.has_mark(mark::STDIN) && file.plain_text() != Some("-") => {
            note_file(out, values);
            Next::File { file: file.clone(), lang: Some(Language::Shell) }
        }
        _ => Next::Stdin { lang: Language::Shell },
    });
}

/// What may be the script where an option that nobody knows took its value: `-X x -c TEXT`, `-oc pipefail TEXT`.
fn hidden_scripts(call: &Call) -> Vec<Next> {
    let hides = |o: &&ParsedOption| {
        o.spec.is_none() || o.is_option("-o") && call.args[o.at].known_start().ends_with('c')
    };
    let Some(first) = call.parsed.options.iter().find(hides).map(|o| o.at) else {
        return Vec::new();
    };
    let behind = &call.args[first..];
    let asks = |arg: &Value| {
        let text = arg.known_start();
        matches!(text, "--command" | "--commands")
            || text.len() < 8 && text.starts_with('-') && text.ends_with('c')
    };
    let Some(at) = behind.iter().position(asks) else { return Vec::new() };
    let words = behind[at + 1..].iter().filter(|arg| !arg.known_start().starts_with(['-', '+']));
    words.cloned().map(Next::script).collect()
}

/// Is it a bundle of letters that nobody knows, with `c` among them?
fn holds_c(option: &ParsedOption) -> bool {
    let name = option.name.as_str();
    let bundle = name.len() < 8 && name.starts_with('-') && !name.starts_with("--");
    option.spec.is_none() && bundle && name.contains('c')
}

/// python, node, perl ...: inline text was handled as an option; else a file or standard input.
pub(super) fn run_interpreter(i: &mut Invocation) {
    let call = i.call;
    let values = std::mem::take(&mut i.values);
    // node's `-p` takes the next word only where that is no option: `node -p -e CODE`.
    let option = |value: &&Value| {
        i.program.lang == Some(Language::Node) && value.known_start().starts_with('-')
    };
    if let Some(option) = call.value("-p").filter(option) {
        let words = std::iter::once(Value::known(call.name, call.span.clone()));
        let words = words.chain([option.clone()]).chain(values).collect();
        return i.next.push(Next::words(words));
    }
    // A library that is named by its file runs as well: `ruby -r /tmp/x.rb -e 1`.
    for name in ["-r", "-l"] {
        let library = call.value(name).filter(|file| file.known_start().contains('/'));
        if let (Some(file), Some(lang @ (Language::Ruby | Language::Lua))) =
            (library, i.program.lang)
        {
            let end = if lang == Language::Lua { ".lua" } else { "" };
            let file = file.clone().map(|file| format!("{file}{end}"));
            i.next.push(Next::File { file, lang: Some(lang) });
        }
    }
    if call.parsed.options.iter().any(|o| o.spec.is_some_and(|s| s.role == Role::Code)) {
        // `perl -pe`, `ruby -ne`: the operands are files.
        let files = i.program.name != "node" && call.has_any(&["-n", "-p"]);
        let read = files || call.parsed.has_mark(mark::INPLACE);
        return are(i, if read { Role::Read } else { Role::MaybePath }, &values);
    }
    if (call.is_dry_run() || call.has("--run")) && values.is_empty() {
        // `node --check FILE` runs nothing, `node --run NAME` what package.json says.
        return;
    }
    if call.parsed.has_mark(mark::MODULE) {
        return module(i, values);
    }
    let Some(file) = values.first().filter(|file| file.plain_text() != Some("-")) else {
        return i.reads_program();
    };
    if i.program.name == "deno" && file.known_start().contains(':') {
        // `deno https://x`, `deno -A jsr:@a/b`
        let words = ["deno", "run"].map(|word| Value::known(word, file.span.clone()));
        return i.next.push(Next::words(words.into_iter().chain(values).collect()));
    }
    // `bb '(shell "ls")'`
    if file.plain_text().is_some_and(|text| text.starts_with('(')) {
        return are(i, Role::Code, &values[..1]);
    }
    note_file(i.out, &values);
    i.next.push(Next::File { file: file.clone(), lang: i.program.lang });
    // `python manage.py flush`, `php artisan db:wipe`: scripts that the tables know.
    const SCRIPTS: &[&str] = &["manage.py", "artisan", "rails", "rake", "console", "setup.py"];
    if file.plain_text().is_some_and(|file| SCRIPTS.contains(&split(file).1)) {
        return i.next.push(Next::words(values));
    }
    // `node node_modules/.bin/prisma migrate reset`
    let installed = file.plain_text().and_then(packages::program_at);
    if let Some(name) = installed.filter(|name| find(name, &[]).is_some()) {
        let name = Value::known(name, file.span.clone());
        let words = std::iter::once(name).chain(values[1..].iter().cloned()).collect();
        return i.next.push(Next::words(words));
    }
    are(i, Role::MaybePath, &values[1..]);
}

/// Each of the operands has that role.
fn are(i: &mut Invocation, kind: Role, values: &[Value]) {
    values.iter().for_each(|value| emit_role(i.out, i.call, kind, value, i.next));
}

/// `python -m http.server`: a module that the tables know.
fn module(i: &mut Invocation, values: Vec<Value>) {
    let known = |name: &str| !SHADOWS.contains(&name) && find(name, &[]).is_some();
    let named =
        |module: &str| MODULES.iter().find(|(own, _)| *own == module).map(|(_, name)| *name);
    let module = i.call.value("-m");
    let first = module.and_then(Value::plain_text).and_then(|name| name.split('.').next());
    let modules: Vec<&str> = IMPORTED.iter().copied().chain(first).collect();
    if !i.call.has_any(&["-I", "-P"]) && code::lies_here(i.out, &modules) {
        i.out.disown();
    }
    match module.map(|module| (module, module.plain_text())) {
        Some((module, Some(name))) if named(name).is_some() || known(name) => {
            let program = named(name).map(|program| Value::known(program, module.span.clone()));
            let program = program.unwrap_or_else(|| module.clone());
            let words = std::iter::once(program).chain(values).collect();
            return i.next.push(Next::words(words));
        }
        Some((_, Some("code" | "asyncio"))) => return i.reads_program(),
        Some((module, Some(name))) => {
            // `curl -o x.py URL; python -m x`
            let file =
                Value::known(format!("./{}.py", name.replace('.', "/")), module.span.clone());
            let target = i.out.locate_exact(&file);
            if target.is_some_and(|at| i.out.written.contains_key(&at.resolved)) {
                i.next.push(Next::File { file, lang: i.program.lang });
            }
        }
        _ => {
            let span = module.map_or(&i.call.span, |module| &module.span);
            i.out.emit_unknown("a module known only at run time", span.clone());
        }
    }
    are(i, Role::MaybePath, &values);
}

/// `k3s kubectl delete ns x`, `gh copilot -- -p x`: a program that another one has inside, by its own name.
pub(super) fn run_nested(i: &mut Invocation) {
    let name = i.program.name.rsplit(' ').next().unwrap_or_default();
    let values = std::mem::take(&mut i.values).into_iter();
    let values = values.skip_while(|value| value.plain_text() == Some("--"));
    let said = i.call.parsed.operands.get(i.call.parsed.subs.wrapping_sub(1));
    let span = said.map_or(&i.call.span, |at| &i.call.args[*at].span);
    let name = Value::known(name, span.clone());
    i.next.push(Next::words(std::iter::once(name).chain(values).collect()));
}

/// xargs: a command whose last operands, or those that a token stands for, come from standard input.
pub(super) fn run_xargs(i: &mut Invocation) {
    match i.call.name {
        "parallel" => return run_parallel(i),
        "zargs" => return run_zargs(i),
        _ => {}
    }
    let call = i.call;
    let words = std::mem::take(&mut i.values);
    if words.is_empty() {
        return;
    }
    let token = ["-I", "-i", "--replace", "-J"].iter().find_map(|n| call.parsed.find_option(n));
    let token = token
        .map(|o| o.value.as_ref().and_then(Value::plain_text).unwrap_or("{}").to_string())
        .filter(|t| !t.is_empty());
    i.next.push(match token {
        Some(_) => Next::Each { words, token },
        None => Next::Words { words, cwd: None, feeds: true },
    });
}

/// zsh's `zargs ITEM... -- COMMAND`: the items come last, or where a token of `-i` stands.
fn run_zargs(i: &mut Invocation) {
    let mut items = std::mem::take(&mut i.values);
    let Some(end) = items.iter().position(|word| word.plain_text() == Some("--")) else { return };
    let mut words = items.split_off(end);
    words.remove(0);
    if i.call.has_any(&["-i", "-I"]) {
        let unknown = Value::unknown(i.call.span.clone());
        words = words.iter().map(|word| word.replace_token("{}", &unknown)).collect();
    }
    words.extend(items);
    i.next.push(Next::Words { words, cwd: None, feeds: false });
}

/// env and sudo: assignments, then a command.
pub(super) fn run_env(i: &mut Invocation) {
    let call = i.call;
    if call.name == "env" && i.values.first().and_then(Value::plain_text) == Some("-") {
        // The old spelling of -i.
        i.values.remove(0);
    }
    sourced(i.out, &mut i.values);
    for option in &call.parsed.options {
        if option.spec.is_some_and(|s| s.marks & mark::SPLITS != 0)
            && let Some(value) = &option.value
            && splits(i, value)
        {
            return;
        }
    }
    let shell = call.name == "sudo" && call.has_any(&["-s", "-i"]);
    if i.values.is_empty() && shell {
        i.next.push(Next::Stdin { lang: Language::Shell });
    }
    if !i.values.is_empty() {
        i.next.push(Next::Words {
            words: std::mem::take(&mut i.values),
            cwd: i.out.cwd.clone().map(|c| Value::known(c, 0..0)),
            feeds: false,
        });
    }
}

/// `env $(cat .env | xargs) npm start`: a file's settings, as much as `source .env`.
fn sourced(out: &mut Emitter, values: &mut Vec<Value>) {
    let settings =
        |v: &Value| v.text().is_none() && matches!(v.by(), Printer::File | Printer::Settings);
    while values.len() > 1 && settings(&values[0]) && values[1..].iter().any(|v| v.text().is_some())
    {
        let value = values.remove(0);
        // Of `a=$b` the second word is the program.
        if value.outline().is_some_and(|text| text.contains('=')) {
            let own = out.command.take();
            out.emit_uncovered("a value that may be several words", value.span.clone());
            out.command = own;
        }
        out.push(Word::Code, Grade::Certain, Source::Program, value.span);
    }
}

/// `env -S TEXT`: its words stand in front of the others; true = a shell reads them all.
fn splits(i: &mut Invocation, value: &Value) -> bool {
    let span = &value.span;
    let Some(text) = value.plain_text() else {
        i.out.emit_unknown("env -S with text known only at run time", span.clone());
        return false;
    };
    let quotes = text.contains(['\\', '$', '"', '\'']);
    if quotes && !text.contains([';', '|', '&', '<', '>', '(', '`']) {
        // Its quotes are a shell's.
        i.values.insert(0, value.clone());
        i.next.push(join_words(&i.values));
        return true;
    }
    if quotes {
        i.out.emit_unknown("env -S with quoting", span.clone());
    }
    let words = text.split_whitespace().map(|word| word.trim_matches(['"', '\'']));
    i.values.splice(0..0, words.map(|word| Value::known(word, span.clone())));
    false
}
