//! Programs that talk to others: scp and rsync, curl and wget, ssh.

use super::super::effects::{Call, Next, joined, written};
use super::super::options;
use super::super::table::mark;
use crate::effect::value::{Emitter, Spot, Value, host_of};
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
pub fn copy(out: &mut Emitter, call: &Call, values: &[Value], dry: bool) {
    let row = call.parsed.program.map_or("", |p| p.name);
    // A container of this machine is no other machine; a remote of rclone is a name, no host.
    let near = call.parsed.program.is_some_and(|p| p.special == "copy-near");
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
    if row == "scp" {
        settings(out, call, call.parsed.options.iter());
    }
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
            if last && !dry {
                out.effect(Word::Send, Grade::Certain, None, host, source, span);
            }
            continue;
        }
        if value.text.is_none() && !value.start().starts_with('/') && !dry && !near {
            out.effect(Word::Send, Grade::Unknown, None, None, Source::Operand, span.clone());
        }
        if !last {
            out.path(Word::Read, value, tree, Grade::Certain, Source::Operand);
            if (moves || call.parsed.option("--remove-source-files").is_some()) && !dry {
                out.path(Word::Delete, value, Extent::Tree, Grade::Certain, Source::Operand);
            }
            continue;
        }
        if dry {
            continue;
        }
        out.path(Word::Write, value, tree, Grade::Certain, Source::Operand);
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

/// `-o` of ssh and scp: some settings name programs.
fn settings<'f>(out: &mut Emitter, call: &Call, found: impl Iterator<Item = &'f options::Found>) {
    for option in found {
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
}

/// ssh: the host, then a command there.
pub fn ssh(out: &mut Emitter, call: &Call, values: Vec<Value>, next: &mut Vec<Next>) {
    let Some((host, rest)) = values.split_first() else { return };
    out.contact(host, false, Source::Operand);
    let known = host_of(host);
    let grade = if host.text.is_some() { Grade::Certain } else { Grade::Unknown };
    out.effect(Word::Remote, grade, None, known, Source::Operand, host.span.clone());
    // OpenSSH takes options behind the host as well.
    let behind = options::parse("ssh", rest, &[]);
    let rest: Vec<Value> = behind.operands.iter().map(|i| rest[*i].clone()).collect();
    settings(out, call, call.parsed.options.iter().chain(&behind.options));
    if rest.is_empty() {
        next.push(Next::Stdin { lang: "shell" });
    } else {
        next.push(joined(&rest));
    }
}
