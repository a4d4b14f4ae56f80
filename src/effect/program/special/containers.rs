//! Containers and clusters: what a container gets of this machine, and what runs inside.

use std::path::Path;

use super::super::effects::{Call, Next, join_words};
use super::Invocation;
use crate::effect::emitter::{Emitter, Spot};
use crate::effect::path;
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Word, windows};
use crate::names::containers::{CAPABILITIES, GRAVE, OPEN, USUAL};
use crate::names::runner::IMAGES;
use crate::paths::may_be_project;

fn emit_escape(out: &mut Emitter, value: &Value) {
    let word = Word::Named("container.escape");
    out.push(word, Grade::Certain, Source::Operand, value.span.clone());
}

/// docker run and create: what reaches the host; the words behind the image run inside.
pub fn emit_run(out: &mut Emitter, call: &Call, values: &[Value], next: &mut Vec<Next>) {
    call.does(out, Word::Remote);
    for option in &call.parsed.options {
        let name =
            option.names.rsplit(',').next().filter(|n| !n.is_empty()).unwrap_or(&option.name);
        if name == "--privileged" {
            let value = call.args.get(option.at).cloned().unwrap_or_else(|| Value::unknown(0..0));
            call.does(out, Word::Privilege);
            emit_escape(out, &value);
        }
        if let Some(value) = &option.value {
            given(out, name, value);
        }
    }
    let mut entries =
        call.parsed.options.iter().rev().filter(|option| option.is_option("--entrypoint"));
    let entry = entries.find_map(|option| option.value.clone());
    let tool = values.first().filter(|_| entry.is_none()).and_then(tool_of);
    let mut words: Vec<Value> = entry.into_iter().filter(|e| e.plain_text() != Some("")).collect();
    words.extend(values.iter().skip(1).cloned());
    if words.is_empty() {
        return;
    }
    if let Some(tool) = tool {
        let image = Value::known(tool, values[0].span.clone());
        next.push(Next::words(std::iter::once(image).chain(words.iter().cloned()).collect()));
    }
    next.push(Next::words(words));
}

/// The tool that an image starts: `docker run amazon/aws-cli s3 rb s3://b`.
fn tool_of(image: &Value) -> Option<&'static str> {
    let image = image.plain_text()?.split('@').next()?;
    let tag = image.rfind(':').filter(|at| !image[*at..].contains('/'));
    let image = &image[..tag.unwrap_or(image.len())];
    let image = image.strip_prefix("docker.io/").unwrap_or(image);
    IMAGES.iter().find_map(|(name, tool)| (*name == image).then_some(*tool))
}

/// What a container gets of this machine by an option of that name.
fn given(out: &mut Emitter, name: &str, value: &Value) {
    let text = value.known_start();
    match name {
        "--volume" => emit_bind_mount(out, value, bind_source(text), text),
        "--mount" => {
            let mut parts = text.split(',');
            let source =
                parts.find_map(|p| p.strip_prefix("source=").or_else(|| p.strip_prefix("src=")));
            emit_bind_mount(out, value, source.unwrap_or_default(), text);
        }
        // Shared memory and a name give no rights over the machine: Playwright's documents say `--ipc=host`.
        "--pid" | "--userns" | "--cgroupns" if text == "host" => {
            emit_escape(out, value);
        }
        "--cap-add" => {
            let upper = text.to_ascii_uppercase();
            if CAPABILITIES.contains(&upper.trim_start_matches("CAP_")) {
                rises(out, value);
            }
        }
        "--security-opt" if text.contains("unconfined") || text.contains("disable") => {
            rises(out, value);
        }
        "--device" => device(out, value, text.split(':').next().unwrap_or_default()),
        _ => {}
    }
}

/// What stands in front of a mount's first colon, which is not that of a drive.
fn bind_source(text: &str) -> &str {
    let from = match text.as_bytes() {
        [letter, b':', b'/' | b'\\', ..] if letter.is_ascii_alphabetic() => 2,
        _ => 0,
    };
    text[from..].find(':').map_or(text, |end| &text[..from + end])
}

/// A device of this machine.
fn device(out: &mut Emitter, value: &Value, device: &str) {
    let usual = ["/dev/video", "/dev/tty", "/dev/nvidia"];
    if !device.starts_with('/')
        || is_below_any(device, USUAL)
        || usual.iter().any(|start| device.starts_with(start))
    {
        return;
    }
    let value = Value::known(device, value.span.clone());
    out.operand(Word::Read, &value);
    out.emit_path(Word::Write, &value, Extent::Exact, Grade::Possible, Source::Operand);
    rises(out, &value);
}

/// The container gets rights by which it gets out.
fn rises(out: &mut Emitter, value: &Value) {
    out.push(Word::Privilege, Grade::Certain, Source::Program, value.span.clone());
    emit_escape(out, value);
}

fn is_below_any(text: &str, dirs: &[&str]) -> bool {
    dirs.iter().any(|dir| {
        text.strip_prefix(dir).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    })
}

/// A bind mount: the container reads the path, and may write it.
fn emit_bind_mount(out: &mut Emitter, value: &Value, host: &str, text: &str) {
    if !host.starts_with(['/', '.', '~']) && windows::canonical_path(host).is_none() {
        // A volume's name; what nobody knows may be any path.
        if value.text().is_none() && host.is_empty() {
            out.operand_tree(Word::Write, value);
        }
        return;
    }
    let known = match value.text() {
        Some(_) => Value::known(host, value.span.clone()),
        None => value.clone(),
    };
    let readonly = [":ro", ",ro", "readonly", "ro=true"].iter().any(|t| text.contains(t));
    out.operand_tree(Word::Read, &known);
    if !readonly {
        out.emit_path(Word::Write, &known, Extent::Tree, Grade::Possible, Source::Operand);
        out.emit_risked_write(&known);
    }
    let lexical = match out.locate_value(&known, Extent::Tree, false) {
        Spot::At(target) => target.lexical,
        _ => path::normalise_path(host),
    };
    let socket = [".sock"].iter().any(|s| lexical.ends_with(s))
        && ["docker", "containerd", "crio", "podman"].iter().any(|s| lexical.contains(s));
    let home = is_below_any(&lexical, &["/home", "/Users"]) && lexical.matches('/').count() > 1
        || path::is_below(&lexical, &out.place.home);
    let project = out.place.project.as_str();
    // Wherever it lies, it is what the work is on.
    let own = is_below_any(&lexical, &[project])
        && may_be_project(Path::new(project), Path::new(&out.place.home));
    let spared = is_below_any(&lexical, USUAL) || home || own;
    let open = lexical == "/" || is_below_any(&lexical, OPEN) && !spared;
    if socket || open && (!readonly || OPEN.contains(&lexical.as_str()) || lexical == "/") {
        emit_escape(out, value);
    }
}

/// The words behind `--` run inside.
pub fn run_inside(call: &Call, values: &[Value], skip: usize, next: &mut Vec<Next>) {
    let from = call.args.iter().position(|a| a.plain_text() == Some("--")).map(|at| at + 1);
    let words: Vec<Value> = match from {
        Some(from) => call.args[from..].to_vec(),
        None => values.iter().skip(skip).cloned().collect(),
    };
    if !words.is_empty() {
        next.push(Next::words(words));
    }
}

/// The row says what the operands are; what stands behind `--` runs inside.
pub(super) fn inside_only(i: &mut Invocation) {
    i.operands();
    run_inside(i.call, &[], 0, i.next);
}

/// Kinds of objects, of `pod`, `pod/x`, `pods,services`.
fn object_kinds(values: &[Value]) -> impl Iterator<Item = &str> {
    let own = values.first().map_or("", Value::known_start).split(',');
    let slashed = values.iter().skip(1).map(Value::known_start).filter(|v| v.contains('/'));
    own.chain(slashed).map(|word| {
        let kind = word.split('/').next().unwrap_or_default();
        kind.split('.').next().unwrap_or_default()
    })
}

/// Is it one of the kinds, in whichever letter case?
fn is_any(kind: &str, kinds: &[&str]) -> bool {
    kinds.iter().any(|own| own.eq_ignore_ascii_case(kind))
}

/// kubectl delete: of what holds data or other objects it is more than of a workload.
pub fn emit_delete(out: &mut Emitter, call: &Call, values: &[Value]) {
    let any = |names: &[&str]| object_kinds(values).any(|kind| is_any(kind, names));
    // A project of OpenShift is a namespace with all that belongs to it.
    let name = match () {
        () if call.is_dry_run() => return,
        () if any(&["project", "projects"]) => "cloud.destroy",
        () if any(GRAVE) => "container.delete-data",
        () => "container.delete",
    };
    call.does(out, Word::Named(name));
}

/// kubectl get: secrets whose values are printed.
pub fn emit_get(out: &mut Emitter, call: &Call, values: &[Value]) {
    let secret = object_kinds(values).any(|kind| is_any(kind, &["secret", "secrets"]));
    let shown = call.parsed.find_option("-o").is_some_and(|o| {
        o.value.as_ref().is_none_or(|v| !matches!(v.plain_text(), Some("name" | "wide")))
    }) || call.has("--template");
    if secret && shown {
        let word = Word::Named("cloud.secret");
        call.does(out, word);
    }
    // `-o custom-columns-file=x`, `-o go-template-file=x`
    for value in
        call.parsed.options.iter().filter(|o| o.is_option("-o")).filter_map(|o| o.value.as_ref())
    {
        if let Some((format, _)) = value.known_start().split_once('=')
            && format.ends_with("file")
        {
            let from = out.analysis.effects.len();
            out.operand(Word::Read, &value.skip_bytes(format.len() + 1));
            out.code_from_elsewhere(from);
        }
    }
}

/// `ansible HOSTS -m shell -a TEXT`: the text runs on the hosts.
pub fn emit_ansible(out: &mut Emitter, call: &Call, next: &mut Vec<Next>) {
    let value = |name: &str| call.value(name).cloned();
    let module = value("-m");
    let module = module.as_ref().map_or("command", Value::known_start);
    let module = module.rsplit('.').next().unwrap_or_default().to_string();
    match (module.as_str(), value("-a")) {
        ("ping" | "setup" | "debug" | "stat" | "gather_facts" | "service_facts", _) | (_, None) => {
        }
        ("shell" | "command" | "raw" | "script" | "win_shell" | "win_command", Some(text))
            if !call.is_dry_run() =>
        {
            next.push(join_words(std::slice::from_ref(&text)));
        }
        ("file", Some(text))
            if !call.is_dry_run() && text.known_start().contains("state=absent") =>
        {
            let paths = text.known_start().split_whitespace().filter_map(|word| {
                let (key, path) = word.split_once('=')?;
                matches!(key, "path" | "dest" | "name").then_some(path)
            });
            for path in paths {
                let home = out.place.home.clone();
                let path = path.strip_prefix('~').map_or(path.to_string(), |rest| home + rest);
                out.operand_tree(Word::Delete, &Value::known(path, text.span.clone()));
            }
        }
        (_, Some(text)) if !call.is_dry_run() => {
            // Other modules change the hosts: the text names files there, and this may be one of them.
            for word in text.known_start().split_whitespace() {
                out.emit_risked_write(&Value::known(word, text.span.clone()));
            }
            out.push(Word::Named("cloud.write"), Grade::Certain, Source::Operand, text.span);
        }
        _ => {}
    }
}

/// docker compose: a file, or a project, from elsewhere is nobody's; nor are the settings of a file that are printed.
pub fn emit_compose_project(out: &mut Emitter, call: &Call) {
    let operands = call.operands();
    let verb = operands.first().and_then(Value::plain_text);
    let prints = matches!(verb, Some("config" | "convert"));
    let project = out.place.project.clone();
    let mut strange = !out.cwd.as_ref().is_some_and(|cwd| is_below_any(cwd, &[&project]));
    for option in &call.parsed.options {
        let Some(value) = &option.value else { continue };
        strange |= if option.is_option("--env-file") {
            prints
        } else {
            (option.is_option("--file") || option.is_option("--project-directory"))
                && !lies_in(out, value, &project)
        };
    }
    if strange {
        out.disown();
    }
}

/// Is it a file of that directory? `-` is nobody's, `git@host:x` a repository.
fn lies_in(out: &mut Emitter, value: &Value, dir: &str) -> bool {
    let text = value.known_start();
    let file =
        value.plain_text() != Some("-") && !text.contains(':') && !text.starts_with("github.com/");
    file && matches!(out.locate_value(value, Extent::Exact, false),
        Spot::At(target) if is_below_any(&target.lexical, &[dir]))
}

#[cfg(test)]
mod tests {
    use crate::effect::{Place, Word, shell};

    #[test]
    fn a_project_is_no_escape_wherever_it_lies() {
        let escapes = |project: &str, line: &str| {
            let place = Place {
                cwd: project.into(),
                project: project.into(),
                home: "/home/dev".into(),
                ..Place::default()
            };
            let analysis = shell::analyse_command(line, &place);
            analysis.effects.iter().any(|e| e.word == Word::Named("container.escape"))
        };
        for project in ["/var/www/shop", "/usr/src/app", "/srv/x"] {
            for line in ["docker run -v .:/app x", "docker run -v ./data:/data x"] {
                assert!(!escapes(project, line), "{project}: {line}");
            }
            for line in
                ["docker run -v /etc:/x x", "docker run -v /:/x x", "docker run -v ../..:/x x"]
            {
                assert!(escapes(project, line) || project == "/srv/x", "{project}: {line}");
            }
        }
        assert!(escapes("/var", "docker run -v .:/app x"));
        assert!(escapes("/", "docker run -v .:/app x"));
    }
}
