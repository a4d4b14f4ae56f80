//! What a human reads before trusting a project's file: everything in it that will hold, in its own words,
//! and the programs that are pinned.

use std::fmt::Write as _;
use std::path::Path;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::super::written::WrittenRule;
use super::super::{BOLD, Context, FAINT, RED, YELLOW, display_path, make_visible};
use crate::config::LayerFile;
use crate::effect::program::table::packed;
use crate::rule::condition::KEYS;
use crate::rule::{Action, Command, Fields, Redact, Rule, Template, Text};
use crate::script::settings::SettingsHooks;
use crate::trust::TrustEntry;
use crate::verdict::Verb;

/// The keys beside conditions that say when or how a rule holds.
const BESIDE: [&str; 8] =
    ["on", "unless", "limit", "mode", "severity", "certainty", "repeat", "otherwise"];
/// How deep tables are shown.
const DEEPEST: usize = 16;

/// A line for people: what it is about, how grave that is, its text.
type ConsequenceLine = (&'static str, u8, String);

/// What a human has to know before saying yes.
pub(super) fn render_trust(context: &Context, source: &LayerFile, entry: &TrustEntry) -> String {
    let mut out = String::new();
    let name = display_path(context, &source.path);
    let _ = writeln!(out, "{}", context.paint(BOLD, &name));
    let (table, _) = DeTable::parse_recoverable(&source.text);
    let file = WrittenFile { text: &source.text, table: table.get_ref() };
    let (tightens, waiting): (Vec<&Rule>, Vec<&Rule>) =
        source.file.rules.iter().map(AsRef::as_ref).partition(|rule: &&Rule| rule.only_tightens());
    for rule in &waiting {
        show_rule(context, &file, rule, &mut out);
    }
    let others = file.other_entries();
    for (head, note, keys) in &others {
        let note =
            if note.is_empty() { String::new() } else { format!("  {}", context.paint(RED, note)) };
        let _ = writeln!(out, "\n  {}{note}", context.paint(BOLD, &make_visible(head)));
        for key in keys {
            let _ = writeln!(out, "    {}", make_visible(key).replace('\n', "\n      "));
        }
    }
    if waiting.is_empty() && others.is_empty() {
        out.push_str("\n  nothing to approve: its rules only deny or ask, and hold already\n");
    }
    if !tightens.is_empty() {
        let _ = writeln!(out, "\n  {} more only deny or ask, and hold in any case", tightens.len());
        for rule in &tightens {
            show_rule(context, &file, rule, &mut out);
        }
    }
    show_pins(context, entry, &mut out);
    out.push('\n');
    out
}

/// The same of a settings file: the hooks that rules want to run, and what they run.
pub(super) fn render_hooks(
    context: &Context,
    path: &Path,
    hooks: &SettingsHooks,
    entry: &TrustEntry,
) -> String {
    let mut out = format!("{}\n", context.paint(BOLD, &display_path(context, path)));
    for hook in &hooks.entries {
        let matcher = if hook.matcher.is_empty() { "*" } else { &hook.matcher };
        let condition = hook.condition.as_ref().map(|line| format!(", if {line}"));
        let head = format!("{} {matcher}{}", hook.event, condition.unwrap_or_default());
        let runs = context.paint(RED, &format!("{:<12}", "runs"));
        let script = make_visible(&hook.script).replace('\n', &format!("\n    {:<12} ", ""));
        let head = context.paint(BOLD, &make_visible(&head));
        let _ = writeln!(out, "\n  {head}\n    {runs} {script}");
    }
    if hooks.entries.is_empty() {
        out.push_str("\n  no hooks that would be run\n");
    }
    show_pins(context, entry, &mut out);
    out.push('\n');
    out
}

fn show_rule(context: &Context, file: &WrittenFile<'_>, rule: &Rule, out: &mut String) {
    let head = format!("[rule.{}]  line {}", rule.id, rule.line);
    let _ = writeln!(out, "\n  {}", context.paint(BOLD, &head));
    let conditions = file.rule_conditions(&rule.id).into_iter().map(|text| ("where", FAINT, text));
    for (what, sgr, text) in conditions.chain(rule_consequences(rule)) {
        let what = context.paint(sgr, &format!("{what:<12}"));
        let indent = format!("\n    {:<12} ", "");
        let _ = writeln!(out, "    {what} {}", make_visible(&text).replace('\n', &indent));
    }
}

fn show_pins(context: &Context, entry: &TrustEntry, out: &mut String) {
    let path = |path: &str| display_path(context, Path::new(path));
    for (name, hash) in &entry.programs {
        let _ = writeln!(
            out,
            "\n  with the program {} as it is now (sha256 {})",
            path(name),
            &hash[..16]
        );
    }
    for (name, real) in &entry.links {
        let _ = writeln!(out, "\n  as long as {} leads to {}", path(name), path(real));
    }
    for one in &entry.listings {
        let names =
            one.names.as_ref().map_or(String::new(), |names| format!("/{}", make_visible(names)));
        let _ = writeln!(out, "\n  with all of {}{names} as it is now", path(&one.dir));
    }
    for name in &entry.absent {
        let _ = writeln!(out, "\n  as long as there is no {}", path(name));
    }
    if !entry.unpinned.is_empty() {
        let head = "NOT PINNED: this may change later, and nobody is asked again";
        let _ = writeln!(out, "\n  {}", context.paint(RED, head));
        for what in &entry.unpinned {
            let _ = writeln!(
                out,
                "    {}",
                context.paint(RED, &make_visible(what).replace('\n', "\n    "))
            );
        }
    }
    if !entry.programs.is_empty() || !entry.listings.is_empty() {
        out.push_str("\n  What these programs run or read in turn is not pinned.\n");
    }
}

/// The file as it is written.
struct WrittenFile<'a> {
    text: &'a str,
    table: &'a DeTable<'a>,
}

impl WrittenFile<'_> {
    /// When the rule holds, as its file says it.
    fn rule_conditions(&self, id: &str) -> Vec<String> {
        let condition =
            |key: &str| BESIDE.contains(&key) || KEYS.iter().any(|condition| condition.name == key);
        let body = WrittenRule::find_rule(self.table, id).body;
        let mut out = Vec::new();
        for (key, value) in body.into_iter().flatten().filter(|(key, _)| condition(key.get_ref())) {
            self.add_lines(key.get_ref(), value, &mut out);
        }
        out
    }

    /// What stands beside the rules and counts once the file is trusted: head, note and keys of each.
    fn other_entries(&self) -> Vec<(String, &'static str, Vec<String>)> {
        let mut out = Vec::new();
        for (key, value) in self.table {
            let name = key.get_ref().as_ref();
            match (name, value.get_ref().as_table()) {
                ("rule" | "test", _) => {}
                ("program" | "remote", Some(tables)) => {
                    for (of, body) in tables {
                        let note = match name {
                            "remote" => "whole events are sent there",
                            _ if packed::find_packed(of.get_ref()).is_some() => {
                                "replaces what ships"
                            }
                            _ => "",
                        };
                        let mut keys = Vec::new();
                        self.add_lines("", body, &mut keys);
                        out.push((format!("[{name}.{}]", of.get_ref()), note, keys));
                    }
                }
                (_, table) => {
                    let mut keys = Vec::new();
                    self.add_lines(if table.is_some() { "" } else { name }, value, &mut keys);
                    out.push((format!("[{name}]"), "", keys));
                }
            }
        }
        out
    }

    /// A line for each key of the value, as it is written.
    fn add_lines(&self, name: &str, value: &Spanned<DeValue<'_>>, out: &mut Vec<String>) {
        let mut left = vec![(name.to_string(), value, 0)];
        while let Some((name, value, depth)) = left.pop() {
            let written = self.text.get(value.span()).unwrap_or_default();
            let below = |key: &str| match name.as_str() {
                "" => key.to_string(),
                name => format!("{name}.{key}"),
            };
            match value.get_ref() {
                // An inline table is its own text; that of another is only its head.
                DeValue::Table(table) if !written.starts_with('{') && depth < DEEPEST => {
                    for (key, value) in table.iter().rev() {
                        left.push((below(key.get_ref()), value, depth + 1));
                    }
                }
                DeValue::Array(items) if written.starts_with("[[") && depth < DEEPEST => {
                    for (at, item) in items.iter().enumerate().rev() {
                        left.push((format!("{name}[{at}]"), item, depth + 1));
                    }
                }
                _ => out.push(format!("{name} = {written}")),
            }
        }
    }
}

/// What a rule would run or loosen: a word and a text each.
fn rule_consequences(rule: &Rule) -> Vec<ConsequenceLine> {
    let mut out = Vec::new();
    let run = |command: &Command| ("runs", RED, shown_command(command));
    match (rule.verb(), rule.verdict.reason()) {
        (Some(Verb::Allow), Some(reason)) => {
            out.push(("allows", RED, format!("without a question: {}", reason.source())));
        }
        (Some(verb), Some(reason)) => out.push((verb.name(), YELLOW, reason.source().to_string())),
        _ => {}
    }
    let unless = rule.unless.as_ref().and_then(|unless| unless.when.run.as_ref());
    let asked = [rule.verdict.awaited_command(), rule.conditions.when.run.as_ref(), unless];
    out.extend(asked.into_iter().flatten().map(run));
    for action in &rule.actions {
        add_consequence(action, &mut out);
    }
    out
}

/// The script, and where it runs where that is not the project's root.
fn shown_command(command: &Command) -> String {
    let script = command.script.source();
    command.dir.as_ref().map_or_else(|| script.to_string(), |dir| format!("{script} (in {dir})"))
}

fn add_consequence(action: &Action, out: &mut Vec<ConsequenceLine>) {
    let (what, text) = match action {
        Action::Hook { command, .. } => {
            return out.push(("asks script", RED, shown_command(command)));
        }
        Action::HookSettings { files, .. } => {
            let of = files.iter().map(|file| ("runs hooks", RED, format!("of {file}")));
            return out.extend(of);
        }
        Action::Remote { server, .. } => {
            return out.push(("sends to", RED, format!("[remote.{server}] the whole event")));
        }
        Action::Mark(marks) => {
            return out.push(("marks", YELLOW, marks.names().join(", ")));
        }
        Action::Suppress => {
            return out.push(("hides", YELLOW, "the answer from the transcript".into()));
        }
        Action::Context(text) => ("tells model", text),
        Action::Notify(text) => ("notifies", text),
        Action::Rewrite(fields) => return add_field_changes("rewrites", fields, out),
        Action::Replace(fields) => return add_field_changes("replaces", fields, out),
        Action::Redact(Redact::Secrets) => return out.push(("redacts", YELLOW, "secrets".into())),
        Action::Redact(Redact::Patterns(all)) => {
            let all: Vec<&str> = all.iter().map(|regex| regex.source.as_str()).collect();
            return out.push(("redacts", YELLOW, all.join(", ")));
        }
        Action::Env(variables) => {
            let line = |(name, value): &(String, Template)| format!("{name}={}", value.source());
            return out.extend(variables.iter().map(|one| ("sets", YELLOW, line(one))));
        }
    };
    match text {
        Text::Run(command) => {
            out.push(("runs", RED, shown_command(command)));
            out.push((what, YELLOW, "what that prints".into()));
        }
        Text::File(path) => out.push((what, YELLOW, format!("the file {}", path.display()))),
        Text::Plain(text) => out.push((what, YELLOW, text.source().to_string())),
    }
}

fn add_field_changes(what: &'static str, fields: &Fields, out: &mut Vec<ConsequenceLine>) {
    for (field, template) in fields {
        out.push((what, YELLOW, format!("{} = {}", field.join("."), template.source())));
    }
}
