//! Package managers: where a package comes from, what `npx` and its kin run, whose settings change.

use super::super::effects::{Call, Next, maybe_path};
use super::super::table::{self, Program, mark};
use crate::effect::emitter::Emitter;
use crate::effect::value::{Value, looks_like_path};
use crate::effect::{Extent, Grade, Source, Word};

/// Beginnings of packages that are a repository of somebody's.
const HOSTED: &[&str] = &["github:", "gitlab:", "bitbucket:", "gist:"];

/// Packages by name are data; by URL they come from a host, by path they are read.
pub fn packages(out: &mut Emitter, call: &Call, program: &Program, values: &[Value]) {
    if !program.complete && call.parsed.has(mark::SPARE) && !call.dry() {
        out.push(Word::System, Grade::Certain, Source::Program, call.span.clone());
    }
    let editable = call.parsed.options.iter().filter(|o| o.name == "-e" || o.name == "--editable");
    let editable = editable.filter_map(|o| o.value.as_ref());
    for (at, value) in values.iter().chain(editable).enumerate() {
        let Some(text) = value.text() else { continue };
        // A package that no registry has, an allow names.
        let elsewhere = |out: &mut Emitter| names(out, call.parsed.subs + at + 1);
        // `name @ https://host/x.whl`, `git+ssh://host/x`, `name@git+https://host/x`.
        let url = text
            .find("://")
            .map(|at| text[..at].rfind(['@', ' ', '=']).map_or(0, |before| before + 1));
        let path = text.strip_prefix("file:").unwrap_or(text);
        let owner = text.split_once('/').filter(|(owner, name)| {
            !owner.is_empty() && !owner.starts_with(['@', '.', '~']) && !name.contains('/')
        });
        if let Some(at) = url {
            out.contact(&value.rest(at), false, Source::Operand);
            elsewhere(out);
        } else if path.starts_with(['.', '/', '~']) || path.len() < text.len() {
            let path = path.split('[').next().unwrap_or(path).trim_end_matches("/...");
            let path = Value::known(path, value.span.clone());
            out.path(Word::Read, &path, Extent::Tree, Grade::Certain, Source::Operand);
        } else if HOSTED.iter().any(|host| text.starts_with(host))
            || program.special_host(owner.is_some())
        {
            let host = Value::known("github.com", value.span.clone());
            out.contact(&host, false, Source::Operand);
            elsewhere(out);
        }
    }
}

impl Program {
    /// npm and its kin read `owner/name` as a repository on GitHub.
    fn special_host(&self, slash: bool) -> bool {
        let installs = |verb: &str| matches!(verb, "install" | "i" | "add" | "in" | "it");
        let node = self.name.starts_with("npm ")
            || self.name.starts_with("pnpm ")
            || self.name.starts_with("yarn ")
            || self.name.starts_with("bun ");
        slash && node && self.name.split(' ').nth(1).is_some_and(installs)
    }
}

/// Variables of make that its own rules start, or that hold words of its own command line.
const STARTED: &str = "SHELL MAKE CC CXX CPP AR AS LD FC RM LEX YACC LINT TEX CO GET WEAVE TANGLE";
const WORDS: &str =
    "MAKEFLAGS MFLAGS GNUMAKEFLAGS MAKEFILES MAKEOVERRIDES .SHELLFLAGS .RECIPEPREFIX";

/// `make NAME=VALUE`: what runs every line of the recipes, a compiler of the caller's, make's own text.
pub fn variable(out: &mut Emitter, value: &Value, next: &mut Vec<Next>) {
    let Some((name, text)) = value.plain().and_then(|t| t.split_once('=')) else { return };
    let bare = name.trim_end_matches([':', '?', '+', '!']);
    let is = |list: &str| list.split(' ').any(|own| own == bare);
    let text = Value::known(text, value.span.clone());
    let program = !text.start().contains(['/', ' ', '$', '`', ';', '|', '&']);
    if name.ends_with('!') || bare == "SHELL" || is(STARTED) && !program {
        next.push(Next::Script { text, rest: Vec::new() });
    } else if is(WORDS) || text.start().contains("$(") || text.start().contains("${") {
        super::super::code::emit(out, table::Language::Make, &text, next);
    }
}
/// Where a package's own programs lie.
const INSTALLED: &str = "node_modules/.bin/";

/// `yarn prisma migrate`: a name that is no sub-command is a program of the project.
pub fn binary(call: &Call, next: &mut Vec<Next>) {
    let Some(at) = call.parsed.operands.get(call.parsed.subs) else { return };
    let own = matches!(call.name, "yarn" | "pnpm" | "bun");
    let installed = |name| table::is(name, table::Class::Installed, &[]);
    if own && call.args[*at].plain().is_some_and(installed) {
        let words = call.args[*at..].to_vec();
        next.push(Next::Words { words, cwd: None, feeds: false });
    }
}

/// Does that runner take programs from a registry, so that one with a system program's name is another?
fn fetches(runner: &str) -> bool {
    let (name, sub) = runner.split_once(' ').unwrap_or((runner, ""));
    match name {
        "npx" | "pnpx" | "bunx" | "uvx" | "pipx" | "npm" | "bun" => true,
        "uv" => sub != "run",
        _ => matches!(sub, "dlx" | "create" | "init"),
    }
}

/// npx, uv run, bundle exec: the program that they run is no part of them.
pub fn runner(out: &mut Emitter, program: &Program, values: &[Value], next: &mut Vec<Next>) {
    let Some(first) = values.first() else { return };
    if fetched(out, first) {
        return;
    }
    if first.text().is_none() {
        // Nobody knows which: no allow covers it.
        out.push(Word::Read, Grade::Unknown, Source::Program, first.span.clone());
        return values[1..].iter().for_each(|value| maybe_path(out, value));
    }
    // `@scope/name@1.2` is looked for under its name.
    let name = match first.start().strip_prefix('@').and_then(|scoped| scoped.split_once('/')) {
        Some((_, name)) => name,
        None => first.start(),
    };
    // `npm init @scope`
    let name = name.strip_prefix('@').unwrap_or(name).split('@').next().unwrap_or_default();
    if first.start().ends_with(".py") || first.start().ends_with(".rb") {
        script(out, program, values, next);
    } else if !name.is_empty() {
        let known = table::program(name, &[]);
        let creates = ["create", "init", "innit"].iter().any(|verb| program.name.ends_with(verb));
        let name = match known {
            _ if creates => format!("create-{name}"),
            Some(known) if known.complete && fetches(program.name) => format!("{INSTALLED}{name}"),
            _ => name.to_string(),
        };
        let mut words = values.to_vec();
        words[0] = Value::known(name, first.span.clone());
        next.push(Next::Words { words, cwd: None, feeds: false });
    }
}

/// `npm pkg set`: what the project's scripts run.
pub fn fields(out: &mut Emitter, call: &Call, values: &[Value]) {
    let runs = |value: &Value| {
        value.text().is_none_or(|text| {
            ["scripts", "bin", "config", "gypfile", "[", "{"]
                .iter()
                .any(|key| text.starts_with(key))
        })
    };
    if values.iter().any(runs) {
        out.push(Word::Code, Grade::Certain, Source::Program, call.span.clone());
    }
}

/// A program that is named by its URL: it comes from that host, and runs.
pub fn fetched(out: &mut Emitter, file: &Value) -> bool {
    let there = file.start().contains("://") && !file.start().starts_with("file:")
        || HOSTED.iter().any(|host| file.start().starts_with(host));
    if there {
        out.contact(file, false, Source::Operand);
        out.unknown("a program that is fetched runs", file.span.clone());
    }
    there
}

/// `bun FILE`: a file that runs; a bare word is a script of package.json.
pub fn script(out: &mut Emitter, program: &Program, values: &[Value], next: &mut Vec<Next>) {
    let Some((file, rest)) = values.split_first() else { return };
    if file.plain() == Some("-") {
        next.push(Next::Stdin { lang: program.language() });
    } else if !fetched(out, file) && file.text().is_some_and(looks_like_path) {
        let lang = program.lang.or(Some(table::Language::Python));
        next.push(Next::File { file: file.clone(), lang });
    }
    rest.iter().for_each(|value| maybe_path(out, value));
}

/// `npm config set`, `pip config set`: the user's settings; some keys name programs.
pub fn config(out: &mut Emitter, call: &Call, program: &Program, values: &[Value]) {
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
        out.unknown("a setting of a package manager that can name a program", call.span.clone());
    }
}

/// An allow has to name so many operands to mean the call.
fn names(out: &mut Emitter, named: usize) {
    if let Some(command) = out.command.and_then(|at| out.analysis.commands.get_mut(at)) {
        command.scope.named = named;
    }
}

/// npm takes any beginning of a sub-command's name that is like no other: what has no row may be each. What changes an
/// account or the registry, an allow names.
pub fn scope(out: &mut Emitter, call: &Call) {
    let any = call.name == "npm" && call.parsed.subs == 0 && !call.parsed.operands.is_empty();
    let abroad = |word: &Word| matches!(word, Word::Named(name) if name.starts_with("cloud."));
    if any || call.parsed.program.is_some_and(|row| row.effects.iter().any(abroad)) {
        names(out, 1);
    }
}

/// mvn and gradle: goals that publish, which an allow names.
pub fn build(out: &mut Emitter, call: &Call, values: &[Value]) {
    let publishes = |goal: &str| {
        let last = goal.rsplit(':').next().unwrap_or_default();
        matches!(last, "deploy" | "deploy-file" | "perform" | "publish" | "publishPlugins")
            || last.starts_with("publish") && !last.ends_with("ToMavenLocal")
            || matches!(last, "closeAndReleaseRepository" | "uploadArchives" | "jreleaserDeploy")
    };
    let task = values.iter().rposition(|value| publishes(value.start()));
    if let Some(task) = task.filter(|_| !call.dry()) {
        names(out, task + 1);
        for word in [Word::Send, Word::Named("cloud.publish")] {
            out.push(word, Grade::Certain, Source::Program, call.span.clone());
        }
    }
}
