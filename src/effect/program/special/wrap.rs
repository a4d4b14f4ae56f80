//! Programs that run others: shells, interpreters, xargs, env.

use super::super::effects::{Call, Feeds, Next, role};
use super::super::table::{Program, Role, mark};
use crate::effect::value::{Emitter, Value};

/// `token` in an argument becomes `item`.
pub fn replace(arg: &Value, token: &str, item: &Value) -> Value {
    match &arg.text {
        Some(text) if text == token => Value { span: arg.span.clone(), ..item.clone() },
        Some(text) if text.contains(token) => {
            if text.contains(char::is_whitespace) {
                // Text that a shell may read: there the item is one unknown word.
                Value { text: Some(text.replace(token, "$__hookctl_item")), ..arg.clone() }
            } else {
                let before = text.split(token).next().unwrap_or_default();
                Value {
                    text: None,
                    prefix: (!before.is_empty()).then(|| before.to_string()),
                    ..arg.clone()
                }
            }
        }
        _ => arg.clone(),
    }
}

/// bash, sh, zsh ...: `-c TEXT`, a file, or standard input.
pub fn shell(out: &mut Emitter, call: &Call, values: Vec<Value>, next: &mut Vec<Next>) {
    let _ = out;
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
        let mut words = vec![Value::unknown(call.span.clone())];
        let dash = values.first().and_then(Value::plain) == Some("-");
        words.extend(values.into_iter().skip(usize::from(dash)));
        next.push(Next::Stdin { lang: "shell", words });
        return;
    }
    next.push(Next::File { words: values, lang: "shell" });
}

/// python, node, perl ...: inline text was handled as an option; else a file or standard input.
pub fn interpreter(
    out: &mut Emitter,
    call: &Call,
    program: &Program,
    values: Vec<Value>,
    dry: bool,
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
            role(out, call, kind, value, dry, next);
        }
        return;
    }
    if call.parsed.has(mark::MODULE) {
        for value in &values {
            role(out, call, Role::MaybePath, value, dry, next);
        }
        return;
    }
    match values.first() {
        None => next.push(Next::Stdin { lang: program.lang, words: Vec::new() }),
        Some(v) if v.plain() == Some("-") => {
            next.push(Next::Stdin { lang: program.lang, words: Vec::new() })
        }
        Some(file) => {
            next.push(Next::File { words: vec![file.clone()], lang: program.lang });
            for value in &values[1..] {
                role(out, call, Role::MaybePath, value, dry, next);
            }
        }
    }
}

/// xargs and parallel: a command whose last operands come from standard input.
pub fn xargs(out: &mut Emitter, call: &Call, values: Vec<Value>, next: &mut Vec<Next>) {
    let _ = out;
    if values.is_empty() {
        return;
    }
    let token = ["-I", "-i", "--replace"]
        .iter()
        .find_map(|n| call.parsed.option(n))
        .map(|o| o.value.as_ref().and_then(|v| v.plain()).unwrap_or("{}").to_string());
    let item = Value::unknown(call.span.clone());
    let words: Vec<Value> = match &token {
        Some(token) if !token.is_empty() => {
            values.iter().map(|v| replace(v, token, &item)).collect()
        }
        _ if call.name == "parallel" => {
            let end =
                values.iter().position(|v| v.start().starts_with(":::")).unwrap_or(values.len());
            let any = values[..end].iter().any(|v| v.start().contains("{}"));
            let mut words: Vec<Value> =
                values[..end].iter().map(|v| replace(v, "{}", &item)).collect();
            if !any {
                words.push(item);
            }
            words
        }
        _ => values,
    };
    if words.is_empty() {
        return;
    }
    if call.name == "parallel"
        && words.len() == 2
        && words[0].text.as_deref().is_some_and(|t| t.contains(' '))
    {
        let text = words[0].text.clone().unwrap_or_default();
        next.push(Next::Script {
            text: Value::known(format!("{text} $__hookctl_item"), words[0].span.clone()),
            rest: Vec::new(),
        });
        return;
    }
    let has = |names: &[&str]| names.iter().any(|n| call.parsed.option(n).is_some());
    let feeds = if token.is_some() || call.name != "xargs" {
        Feeds::Nothing
    } else if has(&["-a"]) {
        Feeds::File
    } else if has(&["-0", "-d", "-L", "-l", "-E", "-e", "-s"]) {
        Feeds::Items
    } else {
        let most = call.parsed.option("-n").and_then(|o| o.value.clone());
        match most.map(|v| v.plain().and_then(|t| t.parse().ok())) {
            None => Feeds::Blanks { most: 0 },
            Some(Some(most)) => Feeds::Blanks { most },
            Some(None) => Feeds::Items,
        }
    };
    next.push(Next::Words { words, cwd: None, feeds });
}

/// env and sudo: assignments, then a command.
pub fn env(call: &Call, values: Vec<Value>, next: &mut Vec<Next>, out: &mut Emitter) {
    let mut values = values;
    for option in &call.parsed.options {
        if option.spec.is_some_and(|s| s.marks & mark::SPLITS != 0)
            && let Some(value) = &option.value
        {
            match value.plain() {
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
        next.push(Next::Stdin { lang: "shell", words: Vec::new() });
    }
    if !values.is_empty() {
        next.push(Next::Words {
            words: values,
            cwd: out.cwd.clone().map(|c| Value::known(c, 0..0)),
            feeds: Feeds::Nothing,
        });
    }
}
