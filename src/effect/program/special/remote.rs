//! Programs that talk to others: scp and rsync, curl and wget, ssh.

use super::super::effects::{
    Call, Next, emit_message, is_directory, is_message, join_words, note_written, sends_data,
};
use super::super::table::{Language, Special, mark};
use super::super::{code, options};
use super::Invocation;
use super::git::named_after;
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::host::host_of;
use crate::effect::path::split;
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Target, Word, windows};
use crate::glob;

/// Where a bucket or a remote path lives, as far as the word says.
fn place_of(value: &Value) -> Option<String> {
    let text = value.known_start();
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

/// How one program copies.
struct Copying<'c, 'a> {
    call: &'c Call<'a>,
    /// A container of this machine is no other machine.
    near: bool,
    /// The other side is a pod.
    pods: bool,
    /// What stands before the colon is a host; a remote of rclone is a name.
    named: bool,
    /// The source goes.
    moves: bool,
    tree: Extent,
}

impl Copying<'_, '_> {
    /// Does the word name the other side?
    fn is_remote(&self, value: &Value) -> bool {
        let text = value.known_start();
        // A host of one letter is rarer there than a drive.
        if cfg!(windows) && windows::canonical_path(text).is_some() {
            return false;
        }
        text.contains("://")
            || text.find(':').is_some_and(|colon| {
                // `namespace/pod:path` is no local file.
                let before = &text[..colon];
                let pod = self.pods && !before.starts_with(['/', '.']);
                colon > 0 && (pod || !before.contains('/'))
            })
    }

    /// The other side is asked, and where it is the last word sent to.
    fn contacts(&self, out: &mut Emitter, value: &Value, last: bool) {
        let host = place_of(value).filter(|_| self.named);
        let mut push = |word, host| {
            out.push_effect(word, Grade::Certain, None, host, Source::Operand, value.span.clone());
        };
        push(Word::Network, host.clone());
        if last && !self.call.is_dry_run() {
            push(Word::Send, host);
        }
    }

    /// A file that is copied from here.
    fn takes(&self, out: &mut Emitter, value: &Value) {
        // A directory goes into a container whole.
        let tree = if self.near || self.pods { Extent::Tree } else { self.tree };
        out.emit_path(Word::Read, value, tree, Grade::Certain, Source::Operand);
        if self.moves && !self.call.is_dry_run() {
            out.operand_tree(Word::Delete, value);
        }
    }

    /// A place here that is copied to.
    fn fills(&self, out: &mut Emitter, sources: &[Value], value: &Value) {
        let call = self.call;
        out.emit_path(Word::Write, value, self.tree, Grade::Certain, Source::Operand);
        if matches!(call.name, "rsync" | "scp") && !call.has("--exclude") {
            for source in sources {
                emit_arrivals(out, source, value, self.is_remote(source));
            }
        }
        if let Spot::At(target) = out.locate_value(value, Extent::Exact, true)
            && self.tree == Extent::Exact
            && (value.known_start().ends_with('/') || out.resolver.is_dir(&target.resolved))
        {
            let extent = if self.near || self.pods { Extent::Tree } else { Extent::Exact };
            for source in sources {
                let span = value.span.clone();
                let Some(name) = name_of(source) else {
                    let inner = Some(Target { extent: Extent::Below, ..target.clone() });
                    out.push_effect(
                        Word::Write,
                        Grade::Certain,
                        inner,
                        None,
                        Source::Operand,
                        span,
                    );
                    continue;
                };
                let inner = Value::known(format!("{}/{name}", target.lexical), span);
                out.emit_path(Word::Write, &inner, extent, Grade::Certain, Source::Operand);
            }
        }
        if call.parsed.has_mark(mark::SPARE) {
            out.operand_tree(Word::Delete, value);
        }
        // What a whole directory elsewhere holds, nobody has read.
        if self.tree == Extent::Tree && !self.near && sources.iter().any(|s| self.is_remote(s)) {
            out.fetch_into(value);
        }
        note_written(out, value);
    }
}

/// scp, rsync, aws s3 cp, docker cp: `host:path` or local; the last one is written.
pub fn emit_copy(out: &mut Emitter, call: &Call, values: &[Value]) {
    let row = call.row();
    let pods = row.starts_with("kubectl");
    let deep =
        row.ends_with(" sync") || row.starts_with("rclone") || call.parsed.has_mark(mark::TREE);
    let moves = row.ends_with(" mv") || row.contains(" move");
    let copying = Copying {
        call,
        near: call.parsed.program.is_some_and(|p| p.special == Some(Special::CopyNear)),
        pods,
        named: call.name != "rclone" && !pods,
        moves: moves || call.has("--remove-source-files"),
        tree: if deep { Extent::Tree } else { Extent::Exact },
    };
    for (at, value) in values.iter().enumerate() {
        let last = at > 0 && at + 1 == values.len();
        let remote = copying.is_remote(value);
        if value.plain_text() == Some("-") || copying.near && remote {
            continue;
        }
        if remote {
            copying.contacts(out, value, last);
            continue;
        }
        if value.text().is_none()
            && !value.known_start().starts_with('/')
            && !call.is_dry_run()
            && !copying.near
        {
            let span = value.span.clone();
            out.push_effect(Word::Send, Grade::Unknown, None, None, Source::Operand, span);
        }
        if !last {
            copying.takes(out, value);
        } else if !call.is_dry_run() {
            copying.fills(out, &values[..at], value);
        }
    }
}

/// scp: as other copies, with the options of ssh.
pub(super) fn scp(i: &mut Invocation) {
    ssh_settings(i.out, i.call, &i.call.parsed.options);
    emit_copy(i.out, i.call, &i.values);
}

/// sftp: the options of ssh, and commands that may come from standard input.
pub(super) fn sftp(i: &mut Invocation) {
    ssh_settings(i.out, i.call, &i.call.parsed.options);
    i.operands();
    // `sftp HOST:FILE` fetches it to here.
    let fetched = i.values.first().filter(|place| place.known_start().contains(':')).cloned();
    if let Some(source) = fetched {
        let here = Value::known(".", i.call.span.clone());
        let into = i.values.get(1).cloned();
        i.out.fetch_into(into.as_ref().unwrap_or(&here));
        if let Some(into) = into {
            i.out.operand(Word::Write, &into);
            emit_arrivals(i.out, &source, &into, true);
        }
    }
    if !i.call.has("-b") {
        i.next.push(Next::Stdin { lang: Language::Sftp });
    }
}

/// lftp, tftp, ftp: the host, then commands.
pub(super) fn transfer(i: &mut Invocation) {
    let Some((host, words)) = i.values.split_first() else { return };
    i.out.emit_contact(host, true, Source::Operand);
    let told: Vec<&str> = words.iter().map(Value::known_start).collect();
    code::emit_transfer(i.out, &told, &i.call.span, i.next);
    if told.is_empty() {
        i.next.push(Next::Stdin { lang: Language::Sftp });
    }
}

/// The name that a source has where it arrives, as far as it says it.
fn name_of(source: &Value) -> Option<&str> {
    let text = source.plain_text()?;
    let name = split(text.rsplit(':').next().unwrap_or(text).trim_end_matches('/')).1;
    let told = !matches!(name, "" | "." | "..") && !source.is_glob() && !glob::has_active(name);
    told.then_some(name)
}

/// What rsync puts into a directory: a source by its name, or with a slash behind it its content.
fn emit_arrivals(out: &mut Emitter, source: &Value, target: &Value, remote: bool) {
    let (Some(text), Some(into)) = (source.plain_text(), target.plain_text()) else { return };
    let path = if remote { text.rsplit(':').next().unwrap_or(text) } else { text };
    if path.ends_with('/') || matches!(split(path).1, "." | "..") {
        if !remote {
            out.emit_overlaid(source, target);
        }
        return;
    }
    if is_directory(into) {
        let name = split(path).1;
        let inner = Value::known(format!("{}/{name}", into.trim_end_matches('/')), 0..0);
        out.operand_tree(Word::Write, &inner);
    }
}

/// curl, wget: hosts, and files named after the URL.
pub fn emit_download(out: &mut Emitter, call: &Call, values: &[Value]) {
    let options = &call.parsed.options;
    let reads = |value: &Value| matches!(value.plain_text(), Some("GET" | "HEAD" | "OPTIONS"));
    let method = options.iter().any(|option| {
        matches!(option.name.as_str(), "-X" | "--request" | "--method")
            && !option.value.as_ref().is_some_and(reads)
    });
    let more = options.iter().filter(|option| option.name == "--url");
    let urls: Vec<&Value> = values.iter().chain(more.filter_map(|o| o.value.as_ref())).collect();
    let named = call.parsed.has_mark(mark::SPARE)
        || call.name == "wget" && !call.parsed.has_mark(mark::STDOUT) && !call.has("-O");
    let send = emit_settings(out, call) || method || sends_data(call);
    for url in &urls {
        let text = url.text().unwrap_or_default();
        if let Some(file) = crate::effect::host::file_of(text) {
            out.operand(Word::Read, &Value::known(file, url.span.clone()));
        }
        super::forge::emit_request(out, call, url);
        super::web::emit_request(out, call, url);
        // telnet sends what it is fed.
        let typed = call.fed && text.starts_with("telnet:");
        let sends = (send || typed) && !call.is_dry_run();
        match sends && !call.fed && is_message(call, url) {
            true => emit_message(out, url),
            false => out.emit_contact(url, sends, Source::Operand),
        }
        if named {
            let file = kept_as(call, url);
            out.operand(Word::Write, &file);
            note_written(out, &file);
        }
    }
    if urls.is_empty() {
        out.push(Word::Network, Grade::Unknown, Source::Program, call.span.clone());
    }
    // A list (`wget -i LIST`) or the server says what the files are called.
    let by_server = ["-J", "--content-disposition", "-r", "-m"];
    if named && (urls.is_empty() || call.has_any(&by_server)) {
        out.fetch_into(named_dir(call).unwrap_or(&Value::known(".", call.span.clone())));
    }
}

/// The directory that options name for what is fetched.
fn named_dir<'c>(call: &'c Call) -> Option<&'c Value> {
    let dir = ["-P", "--output-dir"].iter().find_map(|n| call.parsed.find_option(n));
    dir.and_then(|option| option.value.as_ref())
}

/// The file that is named after a URL.
fn kept_as(call: &Call, url: &Value) -> Value {
    let Some(text) = url.text() else { return named_after(url, None) };
    let rest = text.split_once("://").map_or(text, |(_, rest)| rest);
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    let last = path.rsplit_once('/').map(|(_, last)| last).filter(|last| !last.is_empty());
    let name = last.unwrap_or("index.html");
    match named_dir(call).and_then(Value::plain_text) {
        Some(dir) => Value::known(format!("{dir}/{name}"), url.span.clone()),
        None => Value::known(name, url.span.clone()),
    }
}

/// Options of curl and wget that name hosts in a file, or others than the URL does.
const ELSEWHERE: &[&str] =
    &["-K", "--resolve", "--unix-socket", "-i", "--config", "--execute", "--base"];

/// Options of curl and wget whose value says in a way of its own what is read, sent or contacted.
/// True if data leaves.
fn emit_settings(out: &mut Emitter, call: &Call) -> bool {
    let mut send = false;
    for option in &call.parsed.options {
        let Some(value) = &option.value else { continue };
        if ELSEWHERE.iter().any(|name| option.is_option(name)) {
            out.push(Word::Network, Grade::Certain, Source::Operand, value.span.clone());
        }
        send |= set(out, call, &option.name, value);
    }
    send
}

/// The effects of one such option; true if data leaves.
fn set(out: &mut Emitter, call: &Call, name: &str, value: &Value) -> bool {
    let text = value.text().unwrap_or_default();
    match name {
        // `name@file`, where no `=` makes it text.
        "--data-urlencode" | "--variable" | "--url-query" => {
            let file = text.split_once('@').filter(|(name, _)| !name.contains('='));
            reads(out, value, file.map(|(_, file)| file));
            return name == "--url-query" && file.is_some();
        }
        "-w" | "--write-out" => outputs(out, value, text),
        // A cookie has a `=`, all else is a file of cookies.
        "-b" | "--cookie" if call.name == "curl" && !text.contains('=') => {
            reads(out, value, Some(text));
        }
        "--connect-to" => {
            if let Some(host) = text.split(':').nth(2).filter(|h| !h.is_empty()) {
                out.emit_contact(&Value::known(host, value.span.clone()), false, Source::Operand);
            }
        }
        "--output-dir" => {
            if let Some(name) = call.value("-o") {
                let file =
                    Value::known(format!("{text}/{}", name.known_start()), value.span.clone());
                out.operand(Word::Write, &file);
                note_written(out, &file);
            }
        }
        "-T" | "--upload-file" => uploads(out, value, text),
        "-e" | "--execute" if call.name == "wget" => return wgetrc(out, value, text),
        _ => {}
    }
    false
}

/// A file that is read; `-` is standard input.
fn reads(out: &mut Emitter, value: &Value, file: Option<&str>) {
    if let Some(file) = file.filter(|file| !matches!(*file, "" | "-")) {
        out.operand(Word::Read, &Value::known(file, value.span.clone()));
    }
}

/// `%output{FILE}`: what follows is written there.
fn outputs(out: &mut Emitter, value: &Value, text: &str) {
    for part in text.split("%output{").skip(1) {
        let name = part.split('}').next().unwrap_or_default().trim_start_matches(">>");
        out.code_path(Word::Write, &Value::known(name, value.span.clone()));
    }
}

/// `-T '{a,b}'` sends both.
fn uploads(out: &mut Emitter, value: &Value, text: &str) {
    if let Some((before, rest)) = text.split_once('{')
        && let Some((names, after)) = rest.split_once('}')
    {
        for name in names.split(',') {
            let name = format!("{before}{name}{after}");
            out.operand(Word::Read, &Value::known(name, value.span.clone()));
        }
    }
}

/// A line of wgetrc; true if data leaves.
fn wgetrc(out: &mut Emitter, value: &Value, text: &str) -> bool {
    let (key, rest) = text.split_once('=').unwrap_or((text, ""));
    let (key, rest) = (key.trim().replace(['_', '-'], ""), rest.trim());
    match key.to_ascii_lowercase().as_str() {
        "useaskpass" => out.emit_unknown("wget starts a program", value.span.clone()),
        "postfile" | "bodyfile" => {
            reads(out, value, Some(rest));
            return true;
        }
        key if key.ends_with("proxy") && key != "useproxy" => {
            out.emit_contact(&Value::known(rest, value.span.clone()), false, Source::Operand);
        }
        _ => {}
    }
    false
}

/// `-o Key=Value` of ssh, scp and sftp: some name programs, some files.
fn ssh_settings(out: &mut Emitter, call: &Call, found: &[options::ParsedOption]) {
    for option in found.iter().filter(|o| o.name == "-o") {
        let known = option.value.as_ref().and_then(Value::text);
        let text = known.unwrap_or_default();
        let (key, value) = text.split_once(['=', ' ']).unwrap_or((text, ""));
        let key = key.trim().to_ascii_lowercase();
        let runs = key.ends_with("command") && key != "permitlocalcommand"
            || key.starts_with("pkcs11")
            || matches!(key.as_str(), "include" | "securitykeyprovider" | "xauthlocation");
        if known.is_none() || runs {
            out.emit_unknown("an ssh option that can name a program", call.span.clone());
        } else if matches!(key.as_str(), "identityfile" | "certificatefile") {
            let file = Value::known(value.trim(), call.span.clone());
            out.operand(Word::Read, &file);
        } else if matches!(key.as_str(), "hostname" | "proxyjump") {
            out.emit_contact(
                &Value::known(value.trim(), call.span.clone()),
                false,
                Source::Operand,
            );
        }
    }
}

/// ssh: the host, then a command there.
pub(super) fn emit_ssh(i: &mut Invocation) {
    let Invocation { out, call, values, next, .. } = i;
    let Some((host, rest)) = values.split_first() else { return };
    // What it is fed goes to the other side.
    out.emit_contact(host, call.fed && !call.has("-n"), Source::Operand);
    let known = host_of(host);
    let grade = if host.text().is_some() { Grade::Certain } else { Grade::Unknown };
    out.push_effect(Word::Remote, grade, None, known, Source::Operand, host.span.clone());
    // OpenSSH takes options behind the host as well.
    let behind = options::parse_arguments("ssh", rest, &[]);
    let rest: Vec<Value> = behind.operands.iter().map(|i| rest[*i].clone()).collect();
    ssh_settings(out, call, &call.parsed.options);
    ssh_settings(out, call, &behind.options);
    next.push(match rest.is_empty() {
        true => Next::Stdin { lang: Language::Shell },
        false => join_words(&rest),
    });
}
