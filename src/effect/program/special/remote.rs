//! Programs that talk to others: scp and rsync, curl and wget, ssh.

use super::super::effects::{Call, Next, is_directory, joined, sends, written};
use super::super::options;
use super::super::table::{Language, Special, mark};
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::host::host_of;
use crate::effect::path::split;
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Target, Word};

/// Where a bucket or a remote path lives, as far as the word says.
fn place_of(value: &Value) -> Option<String> {
    let text = value.start();
    let bucket = |rest: &str| rest.split('/').next().unwrap_or_default().to_ascii_lowercase();
    if let Some(rest) = text.strip_prefix("s3://") {
        return Some(format!("{}.s3.amazonaws.com", bucket(rest)));
    }
    if let Some(rest) = text.strip_prefix("gs://") {
        return Some(format!("{}.storage.googleapis.com", bucket(rest)));
    }
    let cut = text.split("://").last().unwrap_or_default();
    host_of(&Value::known(cut.replacen(':', "/", 1), value.span.clone()))
}

/// scp, rsync, aws s3 cp, docker cp: `host:path` or local; the last one is written.
pub fn copy(out: &mut Emitter, call: &Call, values: &[Value]) {
    let row = call.parsed.program.map_or("", |p| p.name);
    // A container of this machine is no other machine; a remote of rclone is a name, no host.
    let near = call.parsed.program.is_some_and(|p| p.special == Some(Special::CopyNear));
    let pods = row.starts_with("kubectl");
    let named = call.name != "rclone" && !pods;
    let moves = row.ends_with(" mv") || row.contains(" move");
    let remote = |v: &Value| {
        let text = v.start();
        text.contains("://")
            || text.find(':').is_some_and(|colon| {
                // `namespace/pod:path` is no local file.
                let before = &text[..colon];
                colon > 0 && (!before.contains('/') || pods && !before.starts_with(['/', '.']))
            })
    };
    let deep = row.ends_with(" sync") || row.starts_with("rclone");
    let tree = if deep || call.parsed.has(mark::TREE) { Extent::Tree } else { Extent::Exact };
    let count = values.len();
    for (i, value) in values.iter().enumerate() {
        let last = i + 1 == count && count > 1;
        let span = value.span.clone();
        if value.plain() == Some("-") || near && remote(value) {
            continue;
        }
        if remote(value) {
            let host = place_of(value).filter(|_| named);
            let source = Source::Operand;
            out.effect(Word::Network, Grade::Certain, None, host.clone(), source, span.clone());
            if last && !call.dry() {
                out.effect(Word::Send, Grade::Certain, None, host, source, span);
            }
            continue;
        }
        if value.text().is_none() && !value.start().starts_with('/') && !call.dry() && !near {
            out.effect(Word::Send, Grade::Unknown, None, None, Source::Operand, span.clone());
        }
        if !last {
            // A directory goes into a container whole.
            let tree = if near || pods { Extent::Tree } else { tree };
            out.path(Word::Read, value, tree, Grade::Certain, Source::Operand);
            if (moves || call.parsed.option("--remove-source-files").is_some()) && !call.dry() {
                out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
            }
            continue;
        }
        if call.dry() {
            continue;
        }
        out.path(Word::Write, value, tree, Grade::Certain, Source::Operand);
        let excludes = call.parsed.option("--exclude").is_some();
        for source in
            values[..i].iter().filter(|_| matches!(call.name, "rsync" | "scp") && !excludes)
        {
            arrives(out, source, value, remote(source));
        }
        if let Spot::At(target) = out.spot(value, Extent::Exact, true)
            && tree == Extent::Exact
            && (value.start().ends_with('/') || out.resolver.is_dir(&target.resolved))
        {
            let inner = Target { extent: Extent::Below, ..target };
            out.effect(Word::Write, Grade::Certain, Some(inner), None, Source::Operand, span);
        }
        if call.parsed.has(mark::SPARE) {
            out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
        }
        written(out, value);
    }
}

/// What rsync puts into a directory: a source by its name, or with a slash behind it its content.
fn arrives(out: &mut Emitter, source: &Value, target: &Value, remote: bool) {
    let (Some(text), Some(into)) = (source.plain(), target.plain()) else { return };
    let path = if remote { text.rsplit(':').next().unwrap_or(text) } else { text };
    if path.ends_with('/') || matches!(split(path).1, "." | "..") {
        if !remote {
            out.brought(source, target);
        }
        return;
    }
    if is_directory(into) {
        let name = split(path).1;
        let inner = Value::known(format!("{}/{name}", into.trim_end_matches('/')), 0..0);
        out.path(Word::Write, &inner, Extent::Tree, Grade::Certain, Source::Operand);
    }
}

/// curl, wget: hosts, and files named after the URL.
pub fn download(out: &mut Emitter, call: &Call, values: &[Value]) {
    let mut send = sends(call);
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
    send |= settings(out, call);
    for url in &urls {
        let text = url.text().unwrap_or_default();
        if let Some(file) = text.strip_prefix("file://") {
            out.path(
                Word::Read,
                &Value::known(file, url.span.clone()),
                Extent::Exact,
                Grade::Certain,
                Source::Operand,
            );
        }
        out.contact(url, send && !call.dry(), Source::Operand);
        let named = call.parsed.has(mark::SPARE)
            || wget && !call.parsed.has(mark::STDOUT) && call.parsed.option("-O").is_none();
        if named {
            let name = match url.text() {
                Some(text) => {
                    let rest = text.split_once("://").map_or(text, |(_, r)| r);
                    let path = rest.split(['?', '#']).next().unwrap_or_default();
                    match path.rsplit_once('/') {
                        Some((_, last)) if !last.is_empty() => Value::known(last, url.span.clone()),
                        _ => Value::known("index.html", url.span.clone()),
                    }
                }
                None => Value::begins("./", url.span.clone()),
            };
            let dir = ["-P", "--output-dir"]
                .iter()
                .find_map(|n| call.parsed.option(n))
                .and_then(|o| o.value.as_ref())
                .and_then(Value::plain);
            let name = match (dir, name.text()) {
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

/// Options of curl and wget that name hosts in a file, or others than the URL does.
const ELSEWHERE: &[&str] =
    &["-K", "--resolve", "--unix-socket", "-i", "--config", "--execute", "--base"];

/// Options of curl and wget whose value says in a way of its own what is read, sent or contacted.
/// True if data leaves.
fn settings(out: &mut Emitter, call: &Call) -> bool {
    let mut send = false;
    for option in &call.parsed.options {
        let Some(value) = &option.value else { continue };
        let text = value.text().unwrap_or_default();
        let mut file = None;
        if ELSEWHERE.iter().any(|name| option.is(name)) {
            out.push(Word::Network, Grade::Certain, Source::Operand, value.span.clone());
        }
        match option.name.as_str() {
            // `name@file`, where no `=` makes it text.
            "--data-urlencode" | "--variable" | "--url-query" => {
                file = text.split_once('@').filter(|(name, _)| !name.contains('=')).map(|p| p.1);
                send |= option.name == "--url-query" && file.is_some();
            }
            // `%output{FILE}`: what follows is written there.
            "-w" | "--write-out" => {
                for part in text.split("%output{").skip(1) {
                    let name = part.split('}').next().unwrap_or_default().trim_start_matches(">>");
                    let file = Value::known(name, value.span.clone());
                    out.path(Word::Write, &file, Extent::Exact, Grade::Certain, Source::Code);
                }
            }
            // A cookie has a `=`, all else is a file of cookies.
            "-b" | "--cookie" if call.name == "curl" && !text.contains('=') => file = Some(text),
            "--connect-to" => {
                if let Some(host) = text.split(':').nth(2).filter(|h| !h.is_empty()) {
                    let host = Value::known(host, value.span.clone());
                    out.contact(&host, false, Source::Operand);
                }
            }
            "--output-dir" => {
                if let Some(name) = call.parsed.option("-o").and_then(|o| o.value.as_ref()) {
                    let file = Value::known(format!("{text}/{}", name.start()), value.span.clone());
                    out.path(Word::Write, &file, Extent::Exact, Grade::Certain, Source::Operand);
                    written(out, &file);
                }
            }
            // `-T '{a,b}'` sends both.
            "-T" | "--upload-file" => {
                if let Some((before, rest)) = text.split_once('{')
                    && let Some((names, after)) = rest.split_once('}')
                {
                    for name in names.split(',') {
                        let name = format!("{before}{name}{after}");
                        let name = Value::known(name, value.span.clone());
                        out.path(Word::Read, &name, Extent::Exact, Grade::Certain, Source::Operand);
                    }
                }
            }
            // A line of wgetrc.
            "-e" | "--execute" if call.name == "wget" => {
                let (key, rest) = text.split_once('=').unwrap_or((text, ""));
                let (key, rest) = (key.trim().replace(['_', '-'], ""), rest.trim());
                match key.to_ascii_lowercase().as_str() {
                    "useaskpass" => out.unknown("wget starts a program", value.span.clone()),
                    "postfile" | "bodyfile" => {
                        file = Some(rest);
                        send = true;
                    }
                    key if key.ends_with("proxy") && key != "useproxy" => {
                        let host = Value::known(rest, value.span.clone());
                        out.contact(&host, false, Source::Operand);
                    }
                    _ => {}
                }
            }
            _ => {}
        }
        if let Some(file) = file.filter(|f| !matches!(*f, "" | "-")) {
            let file = Value::known(file, value.span.clone());
            out.path(Word::Read, &file, Extent::Exact, Grade::Certain, Source::Operand);
        }
    }
    send
}

/// `-o Key=Value` of ssh, scp and sftp: some name programs, some files.
pub fn ssh_settings(out: &mut Emitter, call: &Call, found: &[options::Found]) {
    for option in found.iter().filter(|o| o.name == "-o") {
        let known = option.value.as_ref().and_then(Value::text);
        let text = known.unwrap_or_default();
        let (key, value) = text.split_once(['=', ' ']).unwrap_or((text, ""));
        let key = key.trim().to_ascii_lowercase();
        let runs = key.ends_with("command") && key != "permitlocalcommand"
            || key.starts_with("pkcs11")
            || matches!(key.as_str(), "include" | "securitykeyprovider" | "xauthlocation");
        if known.is_none() || runs {
            out.unknown("an ssh option that can name a program", call.span.clone());
        } else if matches!(key.as_str(), "identityfile" | "certificatefile") {
            let file = Value::known(value.trim(), call.span.clone());
            out.path(Word::Read, &file, Extent::Exact, Grade::Certain, Source::Operand);
        } else if matches!(key.as_str(), "hostname" | "proxyjump") {
            out.contact(&Value::known(value.trim(), call.span.clone()), false, Source::Operand);
        }
    }
}

/// ssh: the host, then a command there.
pub fn ssh(out: &mut Emitter, call: &Call, values: Vec<Value>, next: &mut Vec<Next>) {
    let Some((host, rest)) = values.split_first() else { return };
    // What it is fed goes to the other side.
    let send = call.fed && call.parsed.option("-n").is_none();
    out.contact(host, send, Source::Operand);
    let known = host_of(host);
    let grade = if host.text().is_some() { Grade::Certain } else { Grade::Unknown };
    out.effect(Word::Remote, grade, None, known, Source::Operand, host.span.clone());
    // OpenSSH takes options behind the host as well.
    let behind = options::parse("ssh", rest, &[]);
    let rest: Vec<Value> = behind.operands.iter().map(|i| rest[*i].clone()).collect();
    ssh_settings(out, call, &call.parsed.options);
    ssh_settings(out, call, &behind.options);
    if rest.is_empty() {
        next.push(Next::Stdin { lang: Language::Shell });
    } else {
        next.push(joined(&rest));
    }
}
