//! Programs that talk to others: scp and rsync, curl and wget, ssh, docker run.

use super::super::effects::{Call, Feeds, Next, joined, written};
use super::super::options;
use super::super::table::mark;
use crate::effect::value::{Emitter, Spot, Value, host_of};
use crate::effect::{Extent, Grade, Source, Target, Word};

/// scp, rsync: `host:path` or local; the last one is written.
pub fn copy(out: &mut Emitter, call: &Call, values: &[Value], dry: bool) {
    let remote = |v: &Value| {
        let text = v.start();
        text.contains("://")
            || text.find(':').is_some_and(|colon| !text[..colon].contains('/') && colon > 0)
    };
    let count = values.len();
    let sending = values.last().is_some_and(remote);
    for (i, value) in values.iter().enumerate() {
        let last = i + 1 == count && count > 1;
        if remote(value) {
            let cut = value.start().split("://").last().unwrap_or_default().to_string();
            let host = host_of(&Value::known(cut.replacen(':', "/", 1), value.span.clone()));
            out.effect(
                Word::Network,
                Grade::Certain,
                None,
                host.clone(),
                Source::Operand,
                value.span.clone(),
            );
            if last && !dry {
                out.effect(
                    Word::Send,
                    Grade::Certain,
                    None,
                    host,
                    Source::Operand,
                    value.span.clone(),
                );
            }
            continue;
        }
        if value.text.is_none() && !value.start().starts_with('/') && !dry {
            out.effect(Word::Send, Grade::Unknown, None, None, Source::Operand, value.span.clone());
        }
        if last {
            if !dry {
                let extent = if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Exact };
                out.path(Word::Write, value, extent, Grade::Certain, Source::Operand);
                let spot = out.spot(value, Extent::Exact, true);
                if let Spot::At(target) = spot
                    && extent == Extent::Exact
                    && (value.start().ends_with('/') || out.resolver.is_dir(&target.resolved))
                {
                    let inner = Target { extent: Extent::Below, ..target };
                    out.effect(
                        Word::Write,
                        Grade::Certain,
                        Some(inner),
                        None,
                        Source::Operand,
                        value.span.clone(),
                    );
                }
                if call.parsed.has(mark::SPARE) {
                    out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
                }
                written(out, value);
            }
        } else {
            let extent = if call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Exact };
            out.path(Word::Read, value, extent, Grade::Certain, Source::Operand);
            if call.parsed.option("--remove-source-files").is_some() && !dry {
                out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
            }
        }
    }
    let _ = sending;
}

/// curl, wget: hosts, and files named after the URL.
pub fn download(out: &mut Emitter, call: &Call, values: &[Value], dry: bool) {
    let mut send = call.parsed.has(mark::SEND);
    let mut urls: Vec<Value> = values.to_vec();
    for option in &call.parsed.options {
        if matches!(option.name.as_str(), "-X" | "--request" | "--method")
            && option
                .value
                .as_ref()
                .is_none_or(|v| !v.plain().is_some_and(|m| matches!(m, "GET" | "HEAD" | "OPTIONS")))
        {
            send = true;
        }
        if option.name == "--url" {
            urls.extend(option.value.clone());
        }
    }
    let wget = call.name == "wget";
    for url in &urls {
        let text = url.text.as_deref().unwrap_or_default();
        if let Some(file) = text.strip_prefix("file://") {
            out.path(
                Word::Read,
                &Value::known(file, url.span.clone()),
                Extent::Exact,
                Grade::Certain,
                Source::Operand,
            );
        }
        out.contact(url, send && !dry, Source::Operand);
        let named = call.parsed.has(mark::SPARE)
            || wget && !call.parsed.has(mark::STDOUT) && call.parsed.option("-O").is_none();
        if named {
            let name = match url.text.as_deref() {
                Some(text) => {
                    let rest = text.split_once("://").map_or(text, |(_, r)| r);
                    let path = rest.split(['?', '#']).next().unwrap_or_default();
                    match path.rsplit_once('/') {
                        Some((_, last)) if !last.is_empty() => Value::known(last, url.span.clone()),
                        _ => Value::known("index.html", url.span.clone()),
                    }
                }
                None => {
                    Value { prefix: Some("./".to_string()), ..Value::unknown(url.span.clone()) }
                }
            };
            let dir = ["-P", "--output-dir"]
                .iter()
                .find_map(|n| call.parsed.option(n))
                .and_then(|o| o.value.as_ref())
                .and_then(Value::plain);
            let name = match (dir, &name.text) {
                (Some(dir), Some(text)) => Value::known(format!("{dir}/{text}"), url.span.clone()),
                _ => name,
            };
            out.path(Word::Write, &name, Extent::Exact, Grade::Certain, Source::Operand);
            written(out, &name);
        }
    }
    if urls.is_empty() {
        out.push(Word::Network, Grade::Unknown, Source::Program, call.span.clone());
    }
}

/// ssh: the host, then a command there.
pub fn ssh(out: &mut Emitter, call: &Call, values: Vec<Value>, next: &mut Vec<Next>) {
    let Some((host, rest)) = values.split_first() else { return };
    out.contact(host, false, Source::Operand);
    let known = host_of(host);
    let grade = if host.text.is_some() { Grade::Certain } else { Grade::Unknown };
    out.effect(Word::Remote, grade, None, known, Source::Operand, host.span.clone());
    // OpenSSH takes options behind the host as well.
    let behind = options::parse("ssh", rest);
    let rest: Vec<Value> = behind.operands.iter().map(|i| rest[*i].clone()).collect();
    for option in call.parsed.options.iter().chain(&behind.options) {
        if option.name == "-o"
            && option.value.as_ref().is_none_or(|v| {
                let text = v.start().to_ascii_lowercase();
                v.text.is_none()
                    || text.contains("command")
                    || text.starts_with("pkcs11")
                    || text.contains("include")
            })
        {
            out.unknown("an ssh option that can name a program", call.span.clone());
        }
    }
    if rest.is_empty() {
        next.push(Next::Stdin { lang: "shell", words: Vec::new() });
    } else {
        next.push(joined(&rest));
    }
}

/// docker run: volumes reach the host, the rest is a command in the container.
pub fn docker_run(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
    out.push(Word::Remote, Grade::Certain, Source::Program, call.span.clone());
    for option in &call.parsed.options {
        if matches!(option.name.as_str(), "-v" | "--volume" | "--mount")
            && let Some(value) = &option.value
        {
            let text = value.start();
            let host = if option.name == "--mount" {
                text.split(',')
                    .find_map(|p| p.strip_prefix("source=").or_else(|| p.strip_prefix("src=")))
                    .unwrap_or_default()
            } else {
                text.split(':').next().unwrap_or_default()
            };
            if host.starts_with(['/', '.', '~']) {
                let host = Value::known(host, value.span.clone());
                out.path(Word::Read, &host, Extent::Tree, Grade::Certain, Source::Operand);
                if !text.ends_with(":ro") {
                    out.path(Word::Write, &host, Extent::Tree, Grade::Possible, Source::Operand);
                }
            } else if value.text.is_none() {
                out.path(Word::Write, value, Extent::Tree, Grade::Certain, Source::Operand);
            }
        }
        if option.name == "--privileged" {
            out.push(Word::Privilege, Grade::Certain, Source::Program, call.span.clone());
        }
    }
    if values.len() > 1 {
        next.push(Next::Words { words: values[1..].to_vec(), cwd: None, feeds: Feeds::Nothing });
    }
}
