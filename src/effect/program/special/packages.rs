//! Package managers: where a package comes from, what `npx` and its kin run, whose settings change.

use super::super::effects::{Call, Next, emit_handed, maybe_path};
use super::super::table::{self, Program, mark};
use super::Invocation;
use super::added::{self, INSTALLED};
use crate::effect::emitter::Emitter;
use crate::effect::value::{Value, looks_like_path};
use crate::effect::{Extent, Grade, Source, Word};
use crate::names::added::HOSTED;
use crate::names::runner::{KNOWN, OWNERS, PACKAGES};

/// Packages by name are data; by URL they come from a host, by path they are read.
pub(super) fn emit_packages(i: &mut Invocation) {
    let (call, program) = (i.call, i.program);
    // What is handed on to a script is no package. A file of the project is what the script works on anyway.
    if program.through {
        let from = i.out.analysis.effects.len();
        i.operands();
        let found = i.out.analysis.effects.split_off(from).into_iter();
        i.out.analysis.effects.extend(found.filter(|effect| effect.source == Source::Code));
        return;
    }
    if !program.complete && call.parsed.has_mark(mark::SPARE) && !call.is_dry_run() {
        call.does(i.out, Word::System);
    }
    let editable = call.parsed.options.iter().filter(|o| o.name == "-e" || o.name == "--editable");
    let editable = editable.filter_map(|o| o.value.as_ref());
    for (at, value) in i.values.iter().chain(editable).enumerate() {
        if value.text().is_some_and(|text| package(i.out, program, value, text)) {
            // A package that no registry has, an allow names.
            require_named_operands(i.out, call.parsed.subs + at + 1);
        }
    }
    run_project_binary(call, i.next);
}

/// Where one package comes from; true = from a host that is no registry.
fn package(out: &mut Emitter, program: &Program, value: &Value, text: &str) -> bool {
    // `name @ https://host/x.whl`, `git+ssh://host/x`, `name@git+https://host/x`.
    if let Some(at) = text.find("://") {
        let from = text[..at].rfind(['@', ' ', '=']).map_or(0, |before| before + 1);
        out.emit_contact(&value.skip_bytes(from), false, Source::Operand);
        return true;
    }
    let path = text.strip_prefix("file:").unwrap_or(text);
    if path.starts_with(['.', '/', '~']) || path.len() < text.len() || path.ends_with(".go") {
        let path = path.split('[').next().unwrap_or(path).trim_end_matches("/...");
        let from = out.analysis.effects.len();
        let path = Value::known(path, value.span.clone());
        if !emit_handed(out, &path) {
            out.operand_tree(Word::Read, &path);
        }
        out.code_from_elsewhere(from);
        return false;
    }
    let owned = text.split_once('/').is_some_and(|(owner, name)| {
        !owner.is_empty() && !owner.starts_with(['@', '.', '~']) && !name.contains('/')
    });
    let hosted =
        HOSTED.iter().any(|(start, _)| text.starts_with(start)) || program.special_host(owned);
    if hosted {
        let host = Value::known("github.com", value.span.clone());
        out.emit_contact(&host, false, Source::Operand);
    }
    hosted
}

impl Program {
    /// npm and its kin read `owner/name` as a repository on GitHub.
    fn special_host(&self, slash: bool) -> bool {
        let installs = |verb: &str| matches!(verb, "install" | "i" | "add" | "in" | "it");
        let mut words = self.name.split(' ');
        let node = matches!(words.next(), Some("npm" | "pnpm" | "yarn" | "bun"));
        slash && node && words.next().is_some_and(installs)
    }
}

/// Variables of make that its own rules start, or that hold words of its own command line.
const STARTED: &str = "SHELL MAKE CC CXX CPP AR AS LD FC RM LEX YACC LINT TEX CO GET WEAVE TANGLE CMD COMMAND EXEC RUNNER PYTHON NODE GO";
const WORDS: &str =
    "MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES MAKEOVERRIDES .SHELLFLAGS .RECIPEPREFIX";

/// `make NAME=VALUE`: what runs every line of the recipes, a compiler of the caller's, make's own text.
pub fn emit_make_variable(out: &mut Emitter, value: &Value, next: &mut Vec<Next>) {
    let Some((name, text)) = value.plain_text().and_then(|t| t.split_once('=')) else { return };
    let bare = name.trim_end_matches([':', '?', '+', '!']);
    let is = |list: &str| list.split(' ').any(|own| own == bare);
    let text = Value::known(text, value.span.clone());
    // The shell of a recipe reads it wherever the recipe has it.
    if text.known_start().contains([';', '|', '&', '`', '<', '>', '\n', '\'', '"']) {
        out.emit_uncovered("a value that the shell of a recipe reads", value.span.clone());
    }
    let program = !text.known_start().contains(['/', ' ', '$', '`', ';', '|', '&']);
    if name.ends_with('!') || bare == "SHELL" || is(STARTED) && !program {
        next.push(Next::script(text));
    } else if is(WORDS) || text.known_start().contains("$(") || text.known_start().contains("${") {
        super::super::code::emit_inline(out, table::Language::Make, &text, next);
    }
}
/// `yarn prisma migrate`: a name that is no sub-command is a program of the project.
fn run_project_binary(call: &Call, next: &mut Vec<Next>) {
    let Some(at) = call.parsed.operands.get(call.parsed.subs) else { return };
    let own = matches!(call.name, "yarn" | "pnpm" | "bun");
    let installed = |name| table::has_class(name, table::Class::Installed, &[]);
    if own && call.args[*at].plain_text().is_some_and(installed) {
        let words = call.args[*at..].to_vec();
        next.push(Next::words(words));
    }
}

/// Does that runner take programs from a registry, so that one with a system program's name is another?
fn fetches_programs(runner: &str) -> bool {
    let (name, sub) = runner.split_once(' ').unwrap_or((runner, ""));
    match name {
        "npx" | "pnpx" | "bunx" | "uvx" | "pipx" | "npm" | "bun" => true,
        "uv" => sub != "run",
        _ => matches!(sub, "dlx" | "create" | "init"),
    }
}

const FOREIGN: Word = Word::Named("package.foreign");

/// What a runner is told to fetch: everybody runs it, or the project has it.
fn is_expected(out: &mut Emitter, program: &Program, package: &Value) -> bool {
    let Some(text) = package.plain_text() else { return true };
    let creates = ["create", "init", "innit"].iter().any(|verb| program.name.ends_with(verb));
    let python = ["uv", "pipx"].iter().any(|name| program.name.starts_with(name));
    let (owner, bare) = match text.strip_prefix('@').map(|scoped| scoped.split_once('/')) {
        Some(Some((owner, bare))) => (owner, bare),
        // `npm init @scope`
        Some(None) => (text.trim_start_matches('@').split('@').next().unwrap_or_default(), ""),
        None => ("", text),
    };
    let bare = bare.split(['@', '=', '[', '<', '>', '~']).next().unwrap_or_default();
    if bare.starts_with('-') || looks_like_path(text) && owner.is_empty() {
        // Options that the row does not name, and files.
        return !bare.contains('/') || bare.starts_with(['.', '/']) || python;
    }
    let created = format!("create-{bare}");
    let name = if creates { created.as_str() } else { bare };
    KNOWN.contains(&name)
        || owner.is_empty() && !creates && table::find_program(name, &[]).is_some()
        || OWNERS.contains(&owner)
        || !python && (is_of_the_project(out, text, bare) || is_much_used(text, creates))
}

/// Is it among the packages that everybody uses? A name that nobody owns yet is none of them.
fn is_much_used(package: &str, creates: bool) -> bool {
    let package = package.rfind('@').filter(|at| *at > 0).map_or(package, |at| &package[..at]);
    !creates && super::lookalike::is_listed("npm", package)
}

/// Does the project install it, or name it?
fn is_of_the_project(out: &mut Emitter, package: &str, bare: &str) -> bool {
    let package = package.rfind('@').filter(|at| *at > 0).map_or(package, |at| &package[..at]);
    added::is_of_the_project(out, "npm", &[package, bare])
}

/// `--package X`, `--from X`, `--with X`: packages beside the one that runs.
fn emit_options_packages(out: &mut Emitter, call: &Call, program: &Program) {
    const NAMES: &[&str] = &["-p", "--package", "--from", "--with", "--spec"];
    let named = call.parsed.options.iter().filter(|o| NAMES.contains(&o.name.as_str()));
    let values: Vec<Value> = named.filter_map(|o| o.value.clone()).collect();
    for value in &values {
        if value.known_start().contains("://") {
            added::emit_package(out, program.name, value, false);
            continue;
        }
        if (fetches_programs(program.name) || program.name == "uv run")
            && !(program.name.starts_with("uv")
                && value.known_start().bytes().all(|b| b.is_ascii_digit() || b == b'.'))
        {
            emit_fetched(out, program, value);
        }
    }
}

/// A runner fetches a package, unless the project has it; what nobody knows is told so.
fn emit_fetched(out: &mut Emitter, program: &Program, package: &Value) {
    let text = package.plain_text().unwrap_or_default();
    let python = ["uv", "pipx"].iter().any(|name| program.name.starts_with(name));
    if !is_expected(out, program, package) {
        out.push(FOREIGN, Grade::Certain, Source::Operand, package.span.clone());
    } else if !always_fetches(program.name)
        || !is_package(text)
        || python && text.starts_with(|c: char| c.is_ascii_digit())
        || !python && is_of_the_project(out, text, text.rsplit('/').next().unwrap_or_default())
    {
        return;
    }
    added::emit_package(out, program.name, &created(program, package), false);
}

/// Does that runner look in a registry whatever the project has? `npx tsc` starts what is installed, by a name that is none of
/// a package.
fn always_fetches(runner: &str) -> bool {
    let words: Vec<&str> = runner.split(' ').collect();
    match words.as_slice() {
        ["uv" | "uvx" | "pipx" | "pnpx", ..] => true,
        [.., last] => matches!(*last, "dlx" | "create" | "init" | "innit"),
        [] => false,
    }
}

/// Is it the name of a package, and no file, option or version of an interpreter?
fn is_package(text: &str) -> bool {
    !text.is_empty()
        && !text.starts_with(['-', '.', '/', '~'])
        && !text.ends_with(".py")
        && (text.starts_with('@') || !text.contains('/'))
}

/// The package that `npm create NAME` fetches.
fn created(program: &Program, package: &Value) -> Value {
    let creates = ["create", "init", "innit"].iter().any(|verb| program.name.ends_with(verb));
    let Some(text) = package.plain_text().filter(|text| creates && is_package(text)) else {
        return package.clone();
    };
    let name = match text.strip_prefix('@') {
        None => format!("create-{text}"),
        Some(scoped) => match scoped.split_once('/') {
            Some((scope, name)) => format!("@{scope}/create-{name}"),
            None => format!("@{}/create", scoped.split('@').next().unwrap_or_default()),
        },
    };
    Value::known(name, package.span.clone())
}

/// A runner: what it fetches, and what it runs.
pub(super) fn run(i: &mut Invocation) {
    emit_options_packages(i.out, i.call, i.program);
    emit_runner(i.out, i.program, &i.values, i.next);
}

/// npx, uv run, bundle exec: the program that they run is no part of them.
pub fn emit_runner(out: &mut Emitter, program: &Program, values: &[Value], next: &mut Vec<Next>) {
    let Some(first) = values.first() else { return };
    // `uv run - < x.py`
    if first.plain_text() == Some("-") && program.lang.is_some() {
        return script_of(out, program, values, next);
    }
    if emit_fetched_program(out, first) {
        return added::emit_package(out, program.name, first, false);
    }
    if fetches_programs(program.name) {
        emit_fetched(out, program, first);
    }
    if first.text().is_none() {
        // Nobody knows which: no allow covers it.
        out.push(Word::Read, Grade::Unknown, Source::Program, first.span.clone());
        return values[1..].iter().for_each(|value| maybe_path(out, value));
    }
    // `npx aws-cdk`, `npx @sentry/cli@2`: the program has another name.
    let published = fetches_programs(program.name).then(|| program_of(first.known_start()));
    // `@scope/name@1.2` is looked for under its name.
    let name = match first.known_start().strip_prefix('@').and_then(|scoped| scoped.split_once('/'))
    {
        Some((_, name)) => name,
        None => first.known_start(),
    };
    // `npm init @scope`
    let name = name.strip_prefix('@').unwrap_or(name).split('@').next().unwrap_or_default();
    let name = published.flatten().unwrap_or(name);
    if first.known_start().ends_with(".py") || first.known_start().ends_with(".rb") {
        script_of(out, program, values, next);
        // `uv run manage.py flush`
        if table::find_program(name, &[]).is_some() {
            next.push(Next::words(values.to_vec()));
        }
    } else if !name.is_empty() {
        let known = table::find_program(name, &[]);
        let creates = ["create", "init", "innit"].iter().any(|verb| program.name.ends_with(verb));
        let name = match known {
            _ if creates => format!("create-{name}"),
            Some(known) if known.complete && fetches_programs(program.name) => {
                format!("{INSTALLED}{name}")
            }
            _ => name.to_string(),
        };
        let mut words = values.to_vec();
        words[0] = Value::known(name, first.span.clone());
        next.push(Next::words(words));
    }
}

/// The program of a package that has another name.
pub fn program_of(package: &str) -> Option<&'static str> {
    let version = package.rfind('@').filter(|at| *at > 0);
    let package = version.map_or(package, |at| &package[..at]);
    PACKAGES.iter().find_map(|(name, program)| (*name == package).then_some(*program))
}

/// The program that lies there among the packages of a project: `node_modules/.bin/NAME`, `node_modules/NAME/cli.js`.
pub fn program_at(path: &str) -> Option<&str> {
    let rest = path.rsplit_once("node_modules/").map(|(_, rest)| rest)?;
    let (first, below) = rest.split_once('/')?;
    if first == ".bin" {
        return Some(below);
    }
    let end = match first.starts_with('@') {
        true => first.len() + 1 + below.find('/')?,
        false => first.len(),
    };
    let package = &rest[..end];
    program_of(package).or_else(|| package.rsplit('/').next())
}

/// `npm pkg set`: what the project's scripts run.
pub fn emit_package_fields(out: &mut Emitter, call: &Call, values: &[Value]) {
    let runs = |value: &Value| {
        value.text().is_none_or(|text| {
            ["scripts", "bin", "config", "gypfile", "[", "{"]
                .iter()
                .any(|key| text.starts_with(key))
        })
    };
    if values.iter().any(runs) {
        call.does(out, Word::Code);
    }
}

/// A program that is named by its URL: it comes from that host, and runs.
pub fn emit_fetched_program(out: &mut Emitter, file: &Value) -> bool {
    let there = file.known_start().contains("://") && !file.known_start().starts_with("file:")
        || HOSTED.iter().any(|(start, _)| file.known_start().starts_with(start));
    if there {
        out.emit_contact(file, false, Source::Operand);
        out.emit_unknown("a program that is fetched runs", file.span.clone());
    }
    there
}

/// `bun FILE`, or a program of the project.
pub(super) fn emit_script(i: &mut Invocation) {
    script_of(i.out, i.program, &i.values, i.next);
    run_project_binary(i.call, i.next);
}

/// `bun FILE`: a file that runs; a bare word is a script of package.json.
fn script_of(out: &mut Emitter, program: &Program, values: &[Value], next: &mut Vec<Next>) {
    let Some((file, rest)) = values.split_first() else { return };
    if file.plain_text() == Some("-") {
        next.push(Next::Stdin { lang: program.language() });
    } else if emit_fetched_program(out, file) {
        added::emit_package(out, program.name, file, false);
    } else if file.text().is_some_and(looks_like_path) {
        let lang = program.lang.or(Some(table::Language::Python));
        next.push(Next::File { file: file.clone(), lang });
    }
    rest.iter().for_each(|value| maybe_path(out, value));
}

/// `npm config set`, `pip config set`: the user's settings; some keys name programs.
pub fn emit_config(out: &mut Emitter, call: &Call, program: &Program, values: &[Value]) {
    let file = match program.name.split(' ').next() {
        Some("yarn") => ".yarnrc",
        Some("pip" | "pip3") => ".config/pip/pip.conf",
        _ => ".npmrc",
    };
    let file = format!("{}/{file}", out.place.home);
    out.own_path(Word::Write, &file, Extent::Exact, Grade::Certain, call.span.clone());
    let names_program = values.iter().any(|value| {
        value.text().is_none_or(|text| {
            let key = text.split('=').next().unwrap_or_default();
            matches!(key, "script-shell" | "shell" | "editor" | "git" | "viewer" | "node-options")
                || matches!(key, "onload-script" | "yarnPath" | "yarn-path")
        })
    });
    if names_program {
        out.emit_unknown(
            "a setting of a package manager that can name a program",
            call.span.clone(),
        );
    }
}

/// An allow has to name so many operands to mean the call.
fn require_named_operands(out: &mut Emitter, named: usize) {
    if let Some(command) = out.own_command() {
        command.scope.named = named;
    }
}

/// npm takes any beginning of a sub-command's name that is like no other: what has no row may be each. What changes an
/// account or the registry, an allow names.
pub fn note_scope(out: &mut Emitter, call: &Call) {
    let any = call.name == "npm" && call.parsed.subs == 0 && !call.parsed.operands.is_empty();
    let abroad = |word: &Word| matches!(word, Word::Named(name) if name.starts_with("cloud."));
    if any || call.parsed.program.is_some_and(|row| row.effects.iter().any(abroad)) {
        require_named_operands(out, 1);
    }
}

/// mvn and gradle: goals that publish, which an allow names.
pub fn emit_build(out: &mut Emitter, call: &Call, values: &[Value]) {
    let publishes = |goal: &str| {
        let last = goal.rsplit(':').next().unwrap_or_default();
        matches!(last, "deploy" | "deploy-file" | "perform" | "publish" | "publishPlugins")
            || last.starts_with("publish") && !last.ends_with("ToMavenLocal")
            || matches!(
                last,
                "closeAndReleaseRepository" | "uploadArchives" | "jreleaserDeploy" | "jib"
            )
            || goal.ends_with("jib:build")
    };
    let task = values.iter().rposition(|value| publishes(value.known_start()));
    if let Some(task) = task.filter(|_| !call.is_dry_run()) {
        require_named_operands(out, task + 1);
        for word in [Word::Send, Word::Named("cloud.publish")] {
            call.does(out, word);
        }
    }
}
