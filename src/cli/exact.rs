//! `hookctl allow --last` and `hookctl deny --last`: the last call that was stopped or asked about becomes an exact rule.
//!
//! Here as well: how a rule is written, for all commands that write some, and how it comes into the user's file.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Result, bail};

use super::history::{Bench, Judged, PastCall, Sources};
use super::install::unified_diff;
use super::report::Report;
use super::{Context, Exit, display_path, human, make_visible, one_line, print};
use crate::config::{Config, LayerFile};
use crate::effect::{Analysis, Effect, Extent, Grade, SubCommand, Word, windows};
use crate::rule::Layer;
use crate::settings::{self, EditMode};
use crate::text;
use crate::verdict::Verb;

/// A rule that is to be written.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct NewRule {
    pub(super) id: String,
    /// Keys and values as they are written.
    pub(super) keys: Vec<(&'static str, String)>,
}

impl NewRule {
    pub(super) fn new(id: &str) -> NewRule {
        NewRule { id: id.to_string(), keys: Vec::new() }
    }

    /// A key with a text, or a list of some.
    pub(super) fn with<S: AsRef<str>>(mut self, key: &'static str, texts: &[S]) -> NewRule {
        self.keys.push((key, quote_list(texts)));
        self
    }

    /// Only in that project.
    pub(super) fn in_project(mut self, root: &str) -> NewRule {
        self.keys.push(("when", format!("{{ project = {} }}", quote(&escape_glob(root)))));
        self
    }

    pub(super) fn to_toml(&self) -> String {
        let keys = self.keys.iter().map(|(key, value)| format!("{key} = {value}\n"));
        format!("[rule.{}]\n{}", self.id, keys.collect::<String>())
    }
}

/// A text as TOML has it.
pub(super) fn quote(text: &str) -> String {
    let json = serde_json::to_string(text).unwrap_or_default();
    text::escape_json(&json).replace('\u{7f}', "\\u007f")
}

/// One text, or a list.
pub(super) fn quote_list<S: AsRef<str>>(texts: &[S]) -> String {
    match texts {
        [one] => quote(one.as_ref()),
        all => {
            let all: Vec<String> = all.iter().map(|one| quote(one.as_ref())).collect();
            format!("[{}]", all.join(", "))
        }
    }
}

/// The text as a glob that holds for it alone.
pub(super) fn escape_glob(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if "*?[\\".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// The text as an id.
pub(super) fn make_id(text: &str) -> String {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let all: String = text.chars().map(plain).collect();
    let parts: Vec<&str> = all.split('-').filter(|part| !part.is_empty()).take(6).collect();
    let id = parts.join("-");
    id.get(..40).unwrap_or(&id).trim_end_matches('-').to_string()
}

/// An id that no rule of the user's has.
pub(super) fn free_id(wanted: &str, taken: &mut BTreeSet<String>) -> String {
    let wanted = if wanted.is_empty() { "rule" } else { wanted };
    let numbered = (2..).map(|n| format!("{wanted}-{n}"));
    let mut all = std::iter::once(wanted.to_string()).chain(numbered);
    let id = all.find(|id| !taken.contains(id)).unwrap_or_default();
    taken.insert(id.clone());
    id
}

/// The ids of the user's rules.
pub(super) fn taken_ids(context: &Context) -> BTreeSet<String> {
    let config = Config::load(&context.paths, &context.root, None);
    let own = config.sources.iter().filter(|source| source.layer == Layer::User);
    own.flat_map(|source| &source.file.rules).map(|rule| rule.id.to_string()).collect()
}

/// The sub-command as a pattern of it alone; None where no pattern can say it.
pub(super) fn exact_pattern(command: &SubCommand) -> Option<String> {
    let word = |text: &str| {
        let odd = |c: char| c.is_whitespace() || c.is_control() || "()|$".contains(c);
        (!text.is_empty() && !text.contains(odd) && text != "**").then(|| escape_glob(text))
    };
    let program = match command.file {
        Some(_) => command.word.text.as_deref()?,
        None => &command.name,
    };
    let mut words = vec![word(program)?];
    for at in &command.operands {
        let arg = command.args.get(*at).filter(|arg| !arg.glob)?;
        let text = arg.text.as_deref()?;
        // An operand behind `--` that looks like an option would be taken for one.
        words.push(word(text).filter(|_| !text.starts_with(['-', '!']))?);
    }
    for option in &command.options {
        let name = word(&option.name)?;
        words.push(match &option.value {
            None => name,
            Some(value) => format!("{name}={}", word(value.text.as_deref()?)?),
        });
    }
    words.push("$".into());
    Some(words.join(" "))
}

/// The path as a pattern of it alone: in the project, below home, or absolute.
pub(super) fn path_pattern(path: &str, root: &str, home: &str) -> String {
    let below = |dir: &str| path.strip_prefix(dir).filter(|rest| rest.starts_with('/'));
    match (below(root), below(home)) {
        (Some(rest), _) => format!(".{}", escape_glob(rest)),
        (_, Some(rest)) => format!("~{}", escape_glob(rest)),
        _ => escape_glob(path),
    }
}

/// Appends a text to the user's file, when a human has seen the difference and typed the words. False = not wanted.
pub(super) fn append(
    context: &Context,
    report: &mut Report,
    rules: &str,
    (lost, words): (&str, &str),
) -> Result<Option<Exit>> {
    let file = context.paths.user_config();
    let mode = |dry_run| EditMode { dry_run, may_loosen: true };
    let planned = settings::append_text(&context.paths, &file, rules, mode(true))?;
    let after = planned.after.clone().unwrap_or_default();
    let read = LayerFile::from_text(Layer::User, file.clone(), after.clone());
    if let Some(fault) = read.file.faults.iter().find(|fault| fault.gravity_name() == "error") {
        bail!("{}", make_visible(&fault.to_report(&display_path(context, &file), &after)));
    }
    print(&make_visible(&unified_diff(&planned)))?;
    if !human::confirm_typed(context, lost, words)? {
        return Ok(Some(report.refuse_silently(human::DECLINED)));
    }
    let done = settings::append_text(&context.paths, &file, rules, mode(false))?;
    if done.before != planned.before {
        bail!("{} changed meanwhile: look at it", display_path(context, &file));
    }
    report.tell(&format!(
        "Written to {}. Running sessions see it at their next event.\n",
        display_path(context, &file)
    ))?;
    Ok(None)
}

/// Makes the rule, shows it, asks, writes it.
///
/// # Errors
/// Where journal or config cannot be read or written.
pub(super) fn run(context: &Context, verb: Verb, report: &mut Report) -> Result<Exit> {
    if let Some(why) = human::not_human() {
        return Ok(report.refuse(why));
    }
    let Some(call) = last_stopped(context)? else {
        return Ok(report.refuse("the journal tells of no call that was stopped or asked about"));
    };
    let what = one_line(&call.what(), 200);
    let line = call.line.clone().unwrap_or_default();
    let by = if line.rule.is_empty() { "the agent" } else { &line.rule };
    print(&format!(
        "The last one, {}: {} {what} in {}\n  {} by {}\n\n",
        one_line(&line.time, 30),
        call.tool,
        display_path(context, Path::new(&call.cwd)),
        if line.decision == "silent" { "asked" } else { &line.decision },
        one_line(by, 80),
    ))?;
    let user = context.paths.user_config();
    let mut bench = Bench::new(context, user.clone(), "");
    let root = windows::native_text(&bench.root(&call.cwd));
    let rules = exact_rules(context, verb, &call, &bench.analyse(&call), &root);
    let Some(rules) = rules.filter(|rules| !rules.is_empty()) else {
        return Ok(report.refuse("no rule can say exactly this call: write one by hand"));
    };
    let text: String = rules.iter().map(|rule| format!("\n{}", rule.to_toml())).collect();
    let judged = Bench::new(context, user, &text).judge(&call);
    if judged.verb.is_none_or(|now| now != verb && !(verb == Verb::Deny && now == Verb::Halt)) {
        return Ok(report.refuse(why_not(verb, &judged)));
    }
    let lost = match verb {
        Verb::Allow => "From now on this call passes without a question, in this project.",
        _ => "From now on this call is denied, in every project.",
    };
    let stopped = append(context, report, &text, (lost, &format!("{} this", verb.name())))?;
    Ok(stopped.unwrap_or(Exit::Ok))
}

/// Why the rule would not do.
fn why_not(verb: Verb, judged: &Judged) -> String {
    let rule = one_line(&judged.rule, 80);
    match judged.verb {
        Some(other) if verb == Verb::Allow => format!(
            "{rule} says {} of it, and an allow never outweighs that. If the rule is wrong for you, change it: \
             your own with `unless`, a shipped one with [override.{rule}] in config.toml",
            other.name()
        ),
        _ => "not all of this call can be put into a rule: see `hookctl explain`".into(),
    }
}

/// The last call of the journal that was stopped or asked about.
fn last_stopped(context: &Context) -> Result<Option<PastCall>> {
    let mut last = None;
    Sources::of_journal(context, None)?.read(|call| {
        let stopped = call.line.as_ref().is_some_and(|line| {
            matches!(line.decision.as_str(), "halt" | "deny" | "defer" | "ask")
        });
        if stopped || call.asked == Some(true) {
            last = Some(call);
        }
        Ok(())
    })?;
    Ok(last)
}

/// Rules for exactly this call; None where none can say it.
fn exact_rules(
    context: &Context,
    verb: Verb,
    call: &PastCall,
    analysis: &Analysis,
    root: &str,
) -> Option<Vec<NewRule>> {
    let mut taken = taken_ids(context);
    let home = windows::native_text(&context.paths.home);
    let what = call.what();
    let base = make_id(&format!("{} {what}", verb.name()));
    let reason = [format!("`hookctl {} --last`", verb.name())];
    let mut rules = Vec::new();
    let mut finish = |rule: NewRule| {
        let rule = NewRule { id: free_id(&base, &mut taken), ..rule };
        let rule = if verb == Verb::Allow { rule.in_project(root) } else { rule };
        rules.push(rule.with(verb.name(), &reason));
    };
    let named: Vec<&SubCommand> =
        analysis.own_commands().iter().filter(|command| !command.stands_for_itself()).collect();
    if !named.is_empty() {
        let patterns: Option<BTreeSet<String>> = named.into_iter().map(exact_pattern).collect();
        let patterns: Vec<String> = patterns?.into_iter().collect();
        finish(NewRule::default().with("command", &patterns));
    }
    for word in [Word::Read, Word::Write, Word::Delete, Word::Network] {
        let own = |effect: &&Effect| {
            let command = effect.command.and_then(|at| analysis.commands.get(at));
            let told = command.is_none_or(SubCommand::stands_for_itself);
            effect.word == word && effect.grade != Grade::Unknown && told
        };
        let effects: Vec<&Effect> = analysis.own_effects().iter().filter(own).collect();
        let mut paths = BTreeSet::new();
        for target in effects.iter().filter_map(|effect| effect.path.as_ref()) {
            if target.extent != Extent::Exact && verb == Verb::Allow {
                return None;
            }
            paths.insert(path_pattern(&target.lexical, root, &home));
        }
        let hosts: BTreeSet<String> =
            effects.iter().filter_map(|effect| effect.host.as_deref().map(escape_glob)).collect();
        for (key, names) in [("path", paths), ("host", hosts)] {
            if !names.is_empty() {
                let names: Vec<String> = names.into_iter().collect();
                let rule = NewRule::default().with("tool", &[&call.tool]);
                finish(rule.with("effect", &[word.text()]).with(key, &names));
            }
        }
    }
    Some(rules)
}

/// The test of a rule.
pub(super) fn test_toml(call: &str, value: &str, cwd: Option<&str>, verdict: &str) -> String {
    let mut out = format!("[[test]]\n{call} = {value}\n");
    if let Some(cwd) = cwd {
        let _ = writeln!(out, "cwd = {}", quote(cwd));
    }
    let _ = writeln!(out, "verdict = {}", quote(verdict));
    out
}
