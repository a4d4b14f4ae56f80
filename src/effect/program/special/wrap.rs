//! Programs that run others: shells, interpreters, xargs, env.

use super::super::effects::{Call, Next, apart, joined, role};
use super::super::table::{Language, Program, Role, mark, program as find};
use crate::effect::emitter::Emitter;
use crate::effect::path::split;
use crate::effect::value::{BLANK, Printer, Value};
use crate::effect::{Extent, Grade, Source, Word};
use crate::limits::Cap;

/// Modules of Python that only share their name with another program.
const SHADOWS: &[&str] = &["build", "calendar", "code", "profile", "site", "test", "time", "trace"];

/// What parallel runs for a row of items: the words are shell text, the items are quoted in it.
pub fn fill(words: &[Value], items: &[Value]) -> Next {
    let span = words.first().or(items.first()).map_or(0..0, |w| w.span.clone());
    if let ([], [item, ..]) = (words, items) {
        // Without a command the items are commands.
        return Next::Script { text: item.clone(), rest: Vec::new() };
    }
    let quoted = |item: &Value, change: &dyn Fn(&str) -> String| match (item.text(), item.prefix())
    {
        (Some(text), _) if item.is_glob() => change(text),
        (Some(text), _) => format!("'{}'", change(text).replace('\'', "'\\''")),
        (None, Some(prefix)) => format!("'{}'{BLANK}", prefix.replace('\'', "'\\''")),
        (None, None) => BLANK.to_string(),
    };
    let stem = |t: &str| match t.rsplit_once('.') {
        Some((stem, end)) if !end.contains('/') => stem.to_string(),
        _ => t.to_string(),
    };
    let base = |t: &str| t.rsplit('/').next().unwrap_or_default().to_string();
    let dir = |t: &str| t.rsplit_once('/').map_or(".".to_string(), |(d, _)| d.to_string());
    type Change<'a> = &'a dyn Fn(&str) -> String;
    let marks: [(&str, Change); 5] = [
        ("", &|t: &str| t.to_string()),
        (".", &stem),
        ("/", &base),
        ("//", &dir),
        ("/.", &|t: &str| stem(&base(t))),
    ];
    let mut text = String::new();
    let mut known = true;
    for word in words {
        if !text.is_empty() {
            text.push(' ');
        }
        match word.text() {
            Some(word) => text.push_str(word),
            None => known = false,
        }
    }
    if !known {
        return Next::Script { text: Value::unknown(span), rest: Vec::new() };
    }
    let before = text.clone();
    for (mark, change) in marks {
        let all = || items.iter().map(|i| quoted(i, change)).collect::<Vec<_>>().join(" ");
        if text.contains(&format!("{{{mark}}}")) {
            text = text.replace(&format!("{{{mark}}}"), &all());
        }
        for (n, item) in items.iter().enumerate() {
            let token = format!("{{{}{mark}}}", n + 1);
            if text.contains(&token) {
                text = text.replace(&token, &quoted(item, change));
            }
        }
    }
    if before == text {
        for item in items {
            text.push(' ');
            text.push_str(&quoted(item, &|t: &str| t.to_string()));
        }
    }
    let text = text.trim_start().replace("{#}", "1").replace("{%}", "1");
    Next::Script { text: Value::known(text, span), rest: Vec::new() }
}

/// What stands behind the user is the shell's: `su bob -- -lc TEXT`, `runuser bob --command=TEXT`.
pub fn shell_text(values: &[Value]) -> Option<Value> {
    values.iter().enumerate().find_map(|(at, value)| {
        let word = value.plain()?;
        match word.split_once('=') {
            Some(("--command" | "--session-command", text)) => {
                Some(value.rest(word.len() - text.len()))
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

/// parallel: a command for every item of its lists, or for every line of standard input.
pub fn parallel(call: &Call, values: Vec<Value>, out: &mut Emitter, next: &mut Vec<Next>) {
    if call.parsed.has(mark::DRY) {
        return;
    }
    let mark = |v: &Value| matches!(v.plain(), Some(":::" | ":::+" | "::::" | "::::+"));
    let end = values.iter().position(mark).unwrap_or(values.len());
    let mut words = values[..end].to_vec();
    for option in call.parsed.options.iter().filter(|o| o.name == "-I") {
        if let Some(token) = option.value.as_ref().and_then(Value::plain) {
            let item = Value::known("{}", 0..0);
            words = words.iter().map(|w| w.with(token, &item)).collect();
        }
    }
    if end == values.len() && call.parsed.option("-a").is_none() {
        next.push(match words.is_empty() {
            // Every line is a command.
            true => Next::Stdin { lang: Language::Shell },
            false => Next::Each { words, token: None },
        });
        return;
    }
    // Rows of items: every list multiplies, `:::+` goes along with the one before.
    let mut rows: Vec<Vec<Value>> = vec![Vec::new()];
    let mut at = end;
    if !Cap::Lists.holds(values[end..].iter().filter(|v| mark(v)).count()) {
        return;
    }
    while at < values.len() {
        let stop = values[at + 1..].iter().position(mark).map_or(values.len(), |n| at + 1 + n);
        let list = &values[at + 1..stop];
        let kind = values[at].start();
        let items: Vec<Value> = if kind.starts_with("::::") {
            for file in list {
                out.path(Word::Read, file, Extent::Exact, Grade::Certain, Source::Operand);
            }
            vec![Value::unknown(call.span.clone())]
        } else {
            list.to_vec()
        };
        if kind.ends_with('+') {
            for (i, row) in rows.iter_mut().enumerate() {
                row.extend(items.get(i % items.len().max(1)).cloned());
            }
        } else {
            rows = rows
                .iter()
                .flat_map(|row| {
                    items.iter().map(|i| [row.as_slice(), std::slice::from_ref(i)].concat())
                })
                .take(Cap::Rows.most() + 1)
                .collect();
        }
        at = stop;
    }
    if end == values.len() {
        rows = vec![vec![Value::unknown(call.span.clone())]];
    }
    let rows = Cap::Rows.first(&rows);
    next.extend(rows.iter().map(|row| fill(&words, row)));
    next.extend(rows.iter().filter_map(|row| apart(&words, row)));
}

/// bash, sh, zsh ...: `-c TEXT`, a file, or standard input.
pub fn shell(out: &mut Emitter, call: &Call, values: Vec<Value>, next: &mut Vec<Next>) {
    if call.parsed.option("-n").is_some() && !call.args.iter().any(|a| a.start().starts_with('+')) {
        // Only the syntax is checked.
        if !call.parsed.has(mark::SCRIPT)
            && let Some(file) = values.first()
        {
            out.path(Word::Read, file, Extent::Exact, Grade::Certain, Source::Operand);
        }
        return;
    }
    let script = call.parsed.has(mark::SCRIPT)
        || call.parsed.options.iter().any(|o| {
            o.spec.is_none()
                && o.name.len() < 8
                && o.name.starts_with('-')
                && !o.name.starts_with("--")
                && o.name.contains('c')
        });
    if script {
        if let Some((text, rest)) = values.split_first() {
            next.push(Next::Script { text: text.clone(), rest: rest.to_vec() });
        }
        return;
    }
    if call.parsed.has(mark::STDIN) || values.is_empty() || values[0].plain() == Some("-") {
        next.push(Next::Stdin { lang: Language::Shell });
        return;
    }
    next.push(Next::File { file: values[0].clone(), lang: Some(Language::Shell) });
}

/// python, node, perl ...: inline text was handled as an option; else a file or standard input.
pub fn interpreter(
    out: &mut Emitter,
    call: &Call,
    program: &Program,
    values: Vec<Value>,
    next: &mut Vec<Next>,
) {
    let inline = call.parsed.options.iter().any(|o| o.spec.is_some_and(|s| s.role == Role::Code));
    if inline {
        // `perl -pe`, `ruby -ne`: the operands are files.
        let files =
            ["-n", "-p"].iter().any(|n| program.name != "node" && call.parsed.option(n).is_some());
        let kind =
            if files || call.parsed.has(mark::INPLACE) { Role::Read } else { Role::MaybePath };
        for value in &values {
            role(out, call, kind, value, next);
        }
        return;
    }
    if call.dry() && values.is_empty() {
        // `node --check FILE` runs nothing.
        return;
    }
    if call.parsed.has(mark::MODULE) {
        // `python -m http.server`: a module that the tables know.
        let module = call.parsed.option("-m").and_then(|o| o.value.clone());
        let known = |name: &str| !SHADOWS.contains(&name) && find(name, &[]).is_some();
        match &module {
            None => out.unknown("a module known only at run time", call.span.clone()),
            Some(module) if module.plain().is_none() => {
                out.unknown("a module known only at run time", module.span.clone());
            }
            Some(module) if module.plain().is_some_and(known) => {
                let words = std::iter::once(module.clone()).chain(values).collect();
                return next.push(Next::Words { words, cwd: None, feeds: false });
            }
            _ => {}
        }
        for value in &values {
            role(out, call, Role::MaybePath, value, next);
        }
        return;
    }
    match values.first() {
        None => next.push(Next::Stdin { lang: program.language() }),
        Some(v) if v.plain() == Some("-") => next.push(Next::Stdin { lang: program.language() }),
        Some(file) => {
            next.push(Next::File { file: file.clone(), lang: program.lang });
            // `python manage.py flush`, `php artisan db:wipe`: scripts that the tables know.
            if file.plain().is_some_and(|f| {
                matches!(split(f).1, "manage.py" | "artisan" | "rails" | "rake" | "console")
            }) {
                return next.push(Next::Words { words: values, cwd: None, feeds: false });
            }
            for value in &values[1..] {
                role(out, call, Role::MaybePath, value, next);
            }
        }
    }
}

/// xargs: a command whose last operands, or those that a token stands for, come from standard input.
pub fn xargs(call: &Call, values: Vec<Value>, next: &mut Vec<Next>) {
    if values.is_empty() {
        return;
    }
    let token = ["-I", "-i", "--replace", "-J"]
        .iter()
        .find_map(|n| call.parsed.option(n))
        .map(|o| o.value.as_ref().and_then(|v| v.plain()).unwrap_or("{}").to_string())
        .filter(|t| !t.is_empty());
    if call.parsed.option("-a").is_some() {
        // The items stand in a file, not on standard input.
        let item = Value::unknown(call.span.clone());
        let mut words = values;
        match &token {
            Some(token) => words = words.iter().map(|w| w.with(token, &item)).collect(),
            None => words.push(item),
        }
        next.push(Next::Words { words, cwd: None, feeds: false });
        return;
    }
    next.push(match token {
        Some(_) => Next::Each { words: values, token },
        None => Next::Words { words: values, cwd: None, feeds: true },
    });
}

/// env and sudo: assignments, then a command.
pub fn env(call: &Call, values: Vec<Value>, next: &mut Vec<Next>, out: &mut Emitter) {
    let mut values = values;
    if call.name == "env" && values.first().and_then(Value::plain) == Some("-") {
        // The old spelling of -i.
        values.remove(0);
    }
    // `env $(cat .env | xargs) npm start`: a file's settings, as much as `source .env`.
    let settings =
        |v: &Value| v.text().is_none() && matches!(v.by(), Printer::File | Printer::Settings);
    while values.len() > 1 && settings(&values[0]) && values[1..].iter().any(|v| v.text().is_some())
    {
        let value = values.remove(0);
        // Of `a=$b` the second word is the program.
        if value.outline().is_some_and(|text| text.contains('=')) {
            let own = out.command.take();
            out.untold("a value that may be several words", value.span.clone());
            out.command = own;
        }
        out.push(Word::Code, Grade::Certain, Source::Program, value.span);
    }
    for option in &call.parsed.options {
        if option.spec.is_some_and(|s| s.marks & mark::SPLITS != 0)
            && let Some(value) = &option.value
        {
            match value.plain() {
                Some(text)
                    if text.contains(['\\', '$', '"', '\''])
                        && !text.contains([';', '|', '&', '<', '>', '(', '`']) =>
                {
                    // Its quotes are a shell's.
                    values.insert(0, value.clone());
                    next.push(joined(&values));
                    return;
                }
                Some(text) => {
                    let mut words: Vec<Value> = text
                        .split_whitespace()
                        .map(|w| Value::known(w.trim_matches(['"', '\'']), value.span.clone()))
                        .collect();
                    if text.contains(['\\', '$', '"', '\'']) {
                        out.unknown("env -S with quoting", value.span.clone());
                    }
                    words.append(&mut values);
                    values = words;
                }
                None => out.unknown("env -S with text known only at run time", value.span.clone()),
            }
        }
    }
    let shell = call.name == "sudo" && ["-s", "-i"].iter().any(|n| call.parsed.option(n).is_some());
    if values.is_empty() && shell {
        next.push(Next::Stdin { lang: Language::Shell });
    }
    if !values.is_empty() {
        next.push(Next::Words {
            words: values,
            cwd: out.cwd.clone().map(|c| Value::known(c, 0..0)),
            feeds: false,
        });
    }
}
