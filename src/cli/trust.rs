//! `hookctl trust`: a human reads what a project's file would run and loosen, and approves exactly
//! that content.

use std::fmt::Write as _;
use std::fs::{File, OpenOptions};
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde_json::json;
use toml::de::DeTable;

use super::args::TrustArgs;
use super::written::Written;
use super::{
    BOLD, Context, Exit, FAINT, GREEN, RED, YELLOW, complain, not_human, print, print_json, short,
    visible, write_private,
};
use crate::config::{self, Source};
use crate::files;
use crate::paths;
use crate::rule::condition::KEYS;
use crate::rule::fault::Gravity;
use crate::rule::{Layer, Redact, Rule, Text};
use crate::trust::{self, Entry, Store};
use crate::verdict::Verb;

/// Shows, asks, and stores the approval; or lists or revokes.
///
/// # Errors
/// Where a file cannot be read, or the store not be written.
pub fn run(context: &Context, args: &TrustArgs) -> Result<Exit> {
    if args.list {
        return list(context, args.json);
    }
    let files = files(context, args.path.as_deref())?;
    if args.revoke {
        return revoke(context, &files);
    }
    let mut sources = Vec::new();
    for (layer, path) in files {
        match config::read(layer, path, None) {
            Some(source) if source.refused.is_some() => {
                bail!("{}", source.refused.unwrap_or_default())
            }
            Some(source) => sources.push(source),
            None => {}
        }
    }
    if sources.is_empty() {
        bail!(
            "no {} here: go into the project, or name the file",
            [paths::PROJECT_FILE, paths::LOCAL_FILE].join(" or ")
        );
    }
    let mut broken = false;
    for source in &sources {
        let name = short(context, &source.path);
        for fault in source.file.faults.iter().filter(|fault| fault.gravity == Gravity::Error) {
            broken = true;
            complain(&visible(&fault.report(&name, &source.text)));
        }
    }
    if broken {
        complain("refused: what is not sound cannot be trusted. Mend it, then `hookctl check`.");
        return Ok(Exit::Found);
    }
    if let Some(why) = not_human() {
        complain(&format!("refused: {why}"));
        return Ok(Exit::Found);
    }
    let store = Store::load(&context.paths.trust());
    let mut any = false;
    for source in &sources {
        if store.approves(&source.path, &source.text) {
            print(&format!("{} is trusted already.\n", short(context, &source.path)))?;
            continue;
        }
        any = true;
        let root = source.path.parent().unwrap_or(&context.root);
        let since = format!("{:.0}", jiff::Timestamp::now());
        // Before it is shown: what changes while a human reads is not approved.
        let entry = trust::entry(root, &source.text, &source.file, since);
        print(&show(context, source, &entry))?;
        if !ask(&format!("Trust exactly this content of {}? [y/N] ", source.path.display()))? {
            print("Not trusted; nothing was changed.\n")?;
            return Ok(Exit::Found);
        }
        let mut store = Store::load(&context.paths.trust());
        store.files.insert(key(&source.path)?, entry);
        save(context, &store)?;
        let done = context.paint(GREEN, "Trusted");
        print(&format!("{done} until it changes. Undo: `hookctl trust --revoke`.\n"))?;
    }
    if any {
        print("Running sessions see it at their next event.\n")?;
    }
    Ok(Exit::Ok)
}

/// The project's files that are meant, whether they exist or not.
fn files(context: &Context, path: Option<&Path>) -> Result<Vec<(Layer, PathBuf)>> {
    let both = |root: &Path| {
        vec![
            (Layer::Project, root.join(paths::PROJECT_FILE)),
            (Layer::Local, root.join(paths::LOCAL_FILE)),
        ]
    };
    let Some(path) = path else { return Ok(both(&context.root)) };
    let path = context.cwd.join(path);
    if path.is_dir() {
        let root =
            path.canonicalize().with_context(|| format!("cannot look into {}", path.display()))?;
        return Ok(both(&paths::project_root(&root, &context.paths.home)));
    }
    let layer = match path.file_name().and_then(|name| name.to_str()) {
        Some(paths::PROJECT_FILE) => Layer::Project,
        Some(paths::LOCAL_FILE) => Layer::Local,
        _ => bail!(
            "{} is no project's file: those are called {} and {}",
            path.display(),
            paths::PROJECT_FILE,
            paths::LOCAL_FILE
        ),
    };
    // The directory without links, as sessions name it; the file itself may be gone.
    let dir = path.parent().unwrap_or(Path::new("/"));
    let dir = dir.canonicalize().unwrap_or_else(|_| dir.to_path_buf());
    Ok(vec![(layer, dir.join(path.file_name().unwrap_or_default()))])
}

fn key(path: &Path) -> Result<String> {
    let key = path.to_str().map(str::to_string);
    key.with_context(|| format!("{} is not valid Unicode: move it", path.display()))
}

fn save(context: &Context, store: &Store) -> Result<()> {
    let mut text = serde_json::to_vec_pretty(store)?;
    text.push(b'\n');
    write_private(&context.paths.trust(), &text)
}

/// What a human has to know before saying yes.
fn show(context: &Context, source: &Source, entry: &Entry) -> String {
    let mut out = String::new();
    let name = short(context, &source.path);
    let _ = writeln!(out, "{}", context.paint(BOLD, &name));
    let waiting: Vec<&Rule> = source
        .file
        .rules
        .iter()
        .map(AsRef::as_ref)
        .filter(|rule: &&Rule| !rule.only_tightens())
        .collect();
    let tightens = source.file.rules.len() - waiting.len();
    for rule in &waiting {
        let head = format!("[rule.{}]  line {}", rule.id, rule.line);
        let _ = writeln!(out, "\n  {}", context.paint(BOLD, &head));
        let conditions = conditions(&source.text, rule);
        for (what, text) in conditions.into_iter().chain(consequences(rule)) {
            let what = match what {
                "where" => context.paint(FAINT, &format!("{what:<12}")),
                "allows" | "runs" | "asks script" => context.paint(RED, &format!("{what:<12}")),
                _ => context.paint(YELLOW, &format!("{what:<12}")),
            };
            let indent = format!("\n    {:<12} ", "");
            let _ = writeln!(out, "    {what} {}", visible(&text).replace('\n', &indent));
        }
    }
    let servers = servers(&source.text);
    for (name, keys) in &servers {
        let head = context.paint(BOLD, &format!("[remote.{}]", visible(name)));
        let _ = writeln!(out, "\n  {head}  whole events are sent there");
        for key in keys {
            let _ = writeln!(out, "    {}", visible(key));
        }
    }
    let tables = other_tables(&source.text);
    for (what, names) in &tables {
        let _ = writeln!(out, "\n  [{what}]  {}", visible(&names.join(", ")));
    }
    if waiting.is_empty() && tables.is_empty() && servers.is_empty() {
        out.push_str("\n  nothing to approve: its rules only deny or ask, and hold already\n");
    }
    if tightens > 0 {
        let _ = writeln!(out, "\n  {tightens} more only deny or ask, and hold in any case");
    }
    for (path, hash) in &entry.programs {
        let path = short(context, Path::new(path));
        let _ = writeln!(out, "\n  with the program {path} as it is now (sha256 {})", &hash[..16]);
    }
    out.push('\n');
    out
}

/// When the rule holds, as its file says it.
fn conditions(text: &str, rule: &Rule) -> Vec<(&'static str, String)> {
    let (table, _) = DeTable::parse_recoverable(text);
    let written = Written::of(table.get_ref(), &rule.id);
    let body = written.body.into_iter().flat_map(|body| body.iter());
    let condition = |key: &str| {
        matches!(key, "on" | "unless") || KEYS.iter().any(|(condition, _)| *condition == key)
    };
    body.filter(|(key, _)| condition(key.get_ref()))
        .map(|(key, value)| {
            let value = text.get(value.span()).unwrap_or_default();
            ("where", format!("{} = {value}", key.get_ref()))
        })
        .collect()
}

/// What a rule would run or loosen: a word and a text each.
fn consequences(rule: &Rule) -> Vec<(&'static str, String)> {
    let mut out = Vec::new();
    match &rule.verdict {
        Some((Verb::Allow, reason)) => {
            out.push(("allows", format!("without a question: {}", reason.source())));
        }
        Some((verb, reason)) => out.push((verb.name(), reason.source().to_string())),
        None => {}
    }
    let mut run = |what, command: &Option<crate::rule::Command>| {
        if let Some(command) = command {
            out.push((what, command.script.source().to_string()));
        }
    };
    run("runs", &rule.run);
    run("asks script", &rule.hook);
    run("runs", &rule.conditions.when.run);
    run("runs", &rule.unless.as_ref().and_then(|unless| unless.when.run.clone()));
    for (what, text) in [("tells model", &rule.context), ("notifies", &rule.notify)] {
        match text {
            Some(Text::Run(command)) => {
                out.push(("runs", command.script.source().to_string()));
                out.push((what, "what that prints".into()));
            }
            Some(Text::File(path)) => out.push((what, format!("the file {}", path.display()))),
            Some(Text::Plain(text)) => out.push((what, text.source().to_string())),
            None => {}
        }
    }
    for (field, template) in &rule.rewrite {
        out.push(("rewrites", format!("{} = {}", field.join("."), template.source())));
    }
    for (field, template) in &rule.replace {
        out.push(("replaces", format!("{} = {}", field.join("."), template.source())));
    }
    match &rule.redact {
        Some(Redact::Secrets) => out.push(("redacts", "secrets".into())),
        Some(Redact::Patterns(all)) => {
            let all: Vec<&str> = all.iter().map(|regex| regex.source.as_str()).collect();
            out.push(("redacts", all.join(", ")));
        }
        None => {}
    }
    for (name, value) in &rule.env {
        out.push(("sets", format!("{name}={}", value.source())));
    }
    if let Some(server) = &rule.remote {
        out.push(("sends to", format!("[remote.{server}] the whole event")));
    }
    out
}

/// The servers that it names, with every key as it is written: where events go, and with which
/// of the user's own secrets.
fn servers(text: &str) -> Vec<(String, Vec<String>)> {
    let (table, _) = DeTable::parse_recoverable(text);
    let found = table.get_ref().iter().find(|(key, _)| key.get_ref() == "remote");
    let servers = found.and_then(|(_, value)| value.get_ref().as_table());
    let keys = |body: &DeTable<'_>| {
        body.iter()
            .map(|(key, value)| {
                let value = text.get(value.span()).unwrap_or_default();
                format!("{} = {value}", key.get_ref())
            })
            .collect()
    };
    let servers = servers.into_iter().flat_map(|servers| servers.iter());
    servers
        .map(|(name, body)| {
            let body = body.get_ref().as_table();
            (name.get_ref().to_string(), body.map(keys).unwrap_or_default())
        })
        .collect()
}

/// Tables beside the rules that count once the file is trusted.
fn other_tables(text: &str) -> Vec<(&'static str, Vec<String>)> {
    let (table, _) = DeTable::parse_recoverable(text);
    let names = |what: &'static str| {
        let value = table.get_ref().iter().find(|(key, _)| key.get_ref() == what)?.1;
        let names = value.get_ref().as_table()?.iter();
        let names: Vec<String> = names.map(|(name, _)| name.get_ref().to_string()).collect();
        (!names.is_empty()).then_some((what, names))
    };
    ["program", "pack"].into_iter().filter_map(names).collect()
}

/// Asks on the terminal itself, whatever stdin is.
fn ask(question: &str) -> Result<bool> {
    let (mut out, input) = terminal().context("cannot open the terminal to ask")?;
    out.write_all(visible(question).as_bytes())?;
    out.flush()?;
    let mut answer = String::new();
    BufReader::new(input).read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_ascii_lowercase().as_str(), "y" | "yes"))
}

#[cfg(unix)]
fn terminal() -> io::Result<(File, File)> {
    let file = OpenOptions::new().read(true).write(true).open("/dev/tty")?;
    Ok((file.try_clone()?, file))
}

#[cfg(not(unix))]
fn terminal() -> io::Result<(File, File)> {
    let out = OpenOptions::new().write(true).open("CONOUT$")?;
    Ok((out, OpenOptions::new().read(true).write(true).open("CONIN$")?))
}

/// What is trusted, and whether it still is what was approved.
fn list(context: &Context, as_json: bool) -> Result<Exit> {
    let store = Store::load(&context.paths.trust());
    let state = |path: &str| match files::text(Path::new(path), files::LARGE) {
        Err(_) => "gone",
        Ok(text) => {
            let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
            if store.approves(Path::new(path), text) { "trusted" } else { "changed" }
        }
    };
    if as_json {
        let all: Vec<_> = store
            .files
            .iter()
            .map(|(path, entry)| {
                json!({
                    "file": path,
                    "state": state(path),
                    "since": entry.since,
                    "hash": entry.hash,
                    "programs": entry.programs,
                })
            })
            .collect();
        return print_json(&all);
    }
    if store.files.is_empty() {
        return print("No project's file is trusted.\n");
    }
    let mut text = String::new();
    for (path, entry) in &store.files {
        let state = state(path);
        let sgr = if state == "trusted" { GREEN } else { YELLOW };
        let name = short(context, Path::new(path));
        let state = context.paint(sgr, &format!("{state:<7}"));
        let _ = writeln!(text, "{state}  {name}  since {}", visible(&entry.since));
    }
    print(&text)
}

/// Takes the approval back, which anybody may: it tightens.
fn revoke(context: &Context, files: &[(Layer, PathBuf)]) -> Result<Exit> {
    let mut store = Store::load(&context.paths.trust());
    let mut text = String::new();
    for (_, path) in files {
        if store.files.remove(&key(path)?).is_some() {
            let _ = writeln!(text, "{} is trusted no more.", short(context, path));
        }
    }
    if text.is_empty() {
        let names: Vec<String> = files.iter().map(|(_, path)| short(context, path)).collect();
        return print(&format!("Not trusted in the first place: {}\n", names.join(", ")));
    }
    save(context, &store)?;
    print(&text)
}
