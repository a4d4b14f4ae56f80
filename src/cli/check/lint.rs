//! What `check` finds beyond faults: rules that load and yet cannot do what they were meant for.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

use globset::GlobBuilder;
use toml::de::DeTable;

use super::FindingSeverity;
use crate::agent::{self, EventSpec};
use crate::cli::written::{self, WrittenRule, for_each_string};
use crate::cli::{Context, scope};
use crate::config::LayerFile;
use crate::effect::Word;
use crate::effect::program::table::{self, Program, packed};
use crate::event::{Kind, KindSet};
use crate::order::to_set;
use crate::rule::condition::{KEYS, Sort, WHEN_KEYS};
use crate::rule::fault::{Fault, Gravity, did_you_mean};
use crate::rule::file::Remote;
use crate::rule::{Action, Rule};
use crate::script::{Dialect, cupcake};
use crate::settings;
use crate::verdict::Verb;

mod breadth;
mod never;
mod shadow;
mod spelled;
mod values;

/// What rules are held against.
pub(super) struct LintContext<'a> {
    sources: &'a [LayerFile],
    /// The events that the agent's settings register us for; empty where hookctl is not installed.
    registered: BTreeSet<String>,
    home: &'a Path,
}

impl<'a> LintContext<'a> {
    pub(super) fn new(context: &'a Context, sources: &'a [LayerFile]) -> LintContext<'a> {
        let registered = scope::all_scope_files(context)
            .into_iter()
            .filter_map(|place| settings::read_settings(&place).ok().flatten())
            .flat_map(|read| read.survey.own)
            .filter(|own| own.seen)
            .map(|own| own.event);
        LintContext { sources, registered: to_set(registered), home: &context.paths.home }
    }

    /// The events that are wanted and that no entry delivers; none where hookctl is not installed.
    fn unregistered_events(&self, wanted: KindSet) -> Vec<&'static str> {
        if self.registered.is_empty() || wanted == KindSet::ALL {
            return Vec::new();
        }
        wanted.iter().map(Kind::name).filter(|name| !self.registered.contains(*name)).collect()
    }
}

/// How events come to be registered.
const REGISTER: &str = "run `hookctl install` again: it registers what rules and servers need";

fn not_registered(missing: &[&str]) -> String {
    format!("the agent's settings do not register hookctl for {}", missing.join(", "))
}

/// What is found of the servers of one file.
fn lint_servers(
    source: &LayerFile,
    table: Option<&DeTable<'_>>,
    world: &LintContext<'_>,
) -> Vec<Fault> {
    let missing = |remote: &Remote| {
        let missing = world.unregistered_events(remote.events);
        let span = table.map_or(0..0, |table| written::server_events_span(table, &remote.name));
        (!missing.is_empty()).then(|| Fault {
            code: "event-not-registered",
            gravity: Gravity::Warning,
            message: format!("[remote.{}]: {}", remote.name, not_registered(&missing)),
            hint: Some(REGISTER.into()),
            span,
            rule: None,
            private: true,
        })
    };
    source.file.remotes.iter().filter_map(missing).collect()
}

/// Every finding of one file that was read.
pub(super) fn lint_source(
    source: &LayerFile,
    world: &LintContext<'_>,
) -> Vec<(Fault, FindingSeverity)> {
    let warnings =
        |found: Vec<Fault>| found.into_iter().map(|fault| (fault, FindingSeverity::Warning));
    if source.is_settings() {
        return warnings(lint_servers(source, None, world)).collect();
    }
    let (table, errors) = DeTable::parse_recoverable(&source.text);
    if !errors.is_empty() {
        return Vec::new();
    }
    let mut out: Vec<_> = warnings(lint_servers(source, Some(table.get_ref()), world)).collect();
    for rule in &source.file.rules {
        let written = WrittenRule::find_rule(table.get_ref(), &rule.id);
        let mut lint = Lint { rule, written, found: &mut out };
        lint.never_matches();
        lint.impossible_patterns();
        lint.tools_without_commands();
        lint.impossible_hosts();
        lint.foreign_spellings();
        lint.missing_script(world.home);
        lint.missing_values();
        lint.unknown_effects(world);
        lint.keys_for_events();
        lint.check_limits();
        lint.check_allow_breadth();
        lint.check_more_operands();
        lint.check_globs();
        lint.check_shadowed(world);
        lint.check_registered(world);
        lint.check_remote(world);
        lint.check_cupcake();
        if source.layer.is_project() && !source.trusted && !rule.only_tightens() {
            lint.add_finding(
                FindingSeverity::Info,
                "waits-for-trust",
                format!("`{}` does more than deny or ask: it waits for trust", rule.id),
                Some("read it, then `hookctl trust`".into()),
                lint.header_span(),
            );
        }
    }
    out
}

/// One rule under examination.
struct Lint<'a> {
    rule: &'a Rule,
    written: WrittenRule<'a>,
    found: &'a mut Vec<(Fault, FindingSeverity)>,
}

impl<'a> Lint<'a> {
    fn add_finding(
        &mut self,
        severity: FindingSeverity,
        code: &'static str,
        message: String,
        hint: Option<String>,
        span: Range<usize>,
    ) {
        let gravity = match severity {
            FindingSeverity::Error => Gravity::Error,
            FindingSeverity::Warning | FindingSeverity::Info => Gravity::Warning,
        };
        let rule = Some(self.rule.id.clone());
        let fault = Fault { code, gravity, message, hint, span, rule, private: false };
        self.found.push((fault, severity));
    }

    fn add_warning(&mut self, code: &'static str, message: String, hint: &str, span: Range<usize>) {
        let hint = (!hint.is_empty()).then(|| hint.to_string());
        self.add_finding(FindingSeverity::Warning, code, message, hint, span);
    }

    /// Each text of a key that holds patterns, in `unless` too; of `match` what stands in `Bash(...)`.
    fn for_each_pattern(&self, key: &str, take: &mut dyn FnMut(&str, Range<usize>)) {
        let unless = self.written.find_value("unless").and_then(|value| value.get_ref().as_table());
        for table in self.written.body.into_iter().chain(unless) {
            if let Some(value) = table.get(key) {
                for_each_string(value, take);
            }
        }
    }

    fn header_span(&self) -> Range<usize> {
        self.written.header_span()
    }

    fn key_span(&self, key: &str) -> Range<usize> {
        self.written.key_span(key)
    }

    /// A named effect may come from any file's `[program]`, so that only all files together tell.
    fn unknown_effects(&mut self, world: &LintContext<'_>) {
        let own = |program: &Program| {
            let options =
                program.option_lines().filter_map(|(_, rest)| packed::unpack_option(rest).effect);
            program.effects.iter().copied().chain(options).collect::<Vec<Word>>()
        };
        let of_files: Vec<Word> =
            world.sources.iter().flat_map(|s| &s.file.programs).flat_map(own).collect();
        for word in &self.rule.conditions.effect {
            let text = word.text();
            if !matches!(word, Word::Named(_))
                || Word::from_text(text).is_some()
                || of_files.contains(word)
            {
                continue;
            }
            let hint = did_you_mean(text, table::NAMES.iter().map(|(name, _)| *name))
                .map(|hint| format!("did you mean `{hint}`?"))
                .unwrap_or_else(|| "docs/programs.md lists the names; [program] adds more".into());
            let message = format!("no program has the effect `{text}`");
            let span = self.key_span("effect");
            self.add_finding(FindingSeverity::Error, "unknown-effect", message, Some(hint), span);
        }
    }

    // ---- keys that the named events cannot express ----------------------------------------

    fn keys_for_events(&mut self) {
        let rule = self.rule;
        if !rule.on_named || rule.on == KindSet::ALL {
            return;
        }
        type Can = fn(&EventSpec) -> bool;
        let has = |is: fn(&Action) -> bool| rule.actions.iter().any(is);
        let changes = |prompt: bool| {
            let fields = rule.input_changes().into_iter().flatten();
            fields.filter(|(field, _)| (field.as_slice() == ["prompt"]) == prompt).count() > 0
        };
        let keys: [(&'static str, bool, Can, &str); 6] = [
            (
                "context",
                has(|one| matches!(one, Action::Context(_))),
                |s| s.context,
                "tell the model anything",
            ),
            ("rewrite", changes(false), |s| s.rewrite, "change the input"),
            (
                "rewrite",
                changes(true),
                |s| s.rewrite || s.kind == Kind::UserPromptSubmit,
                "change the input",
            ),
            (
                "replace",
                rule.result_changes().is_some(),
                |s| s.replace,
                "change what a tool returned",
            ),
            ("redact", rule.redacts_result(), |s| s.replace, "change what a tool returned"),
            (
                "env",
                has(|one| matches!(one, Action::Env(_))),
                |s| s.output.contains("env file"),
                "set variables",
            ),
        ];
        let agent = agent::default_agent();
        for (key, used, can, what) in keys {
            let cannot = |kind: &Kind| agent.event_spec(*kind).is_some_and(|spec| !can(spec));
            let failing: Vec<Kind> = rule.on.iter().filter(cannot).collect();
            if !used || failing.is_empty() {
                continue;
            }
            let all = failing.len() == rule.on.iter().count();
            let failing = failing.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
            let able = agent.events().iter().filter(|spec| can(spec));
            let able: Vec<&str> = able.map(|spec| spec.kind.name()).take(6).collect();
            let severity = if all { FindingSeverity::Error } else { FindingSeverity::Warning };
            self.add_finding(
                severity,
                "key-not-for-event",
                format!("`{key}`: {failing} cannot {what}"),
                Some(format!("these can: {}", able.join(", "))),
                self.key_span(key),
            );
        }
    }

    // ---- limits ---------------------------------------------------------------------------

    fn check_limits(&mut self) {
        let limit = self.rule.commands().filter_map(|c| c.limit).max();
        let Some(limit) = limit else { return };
        let deadline = |kind: Kind| {
            let timeout = agent::default_agent().event_spec(kind).map_or(60, |spec| spec.timeout);
            Duration::from_secs(u64::from(timeout.saturating_sub(1)))
        };
        let over: Vec<Kind> = self.rule.on.iter().filter(|kind| limit > deadline(*kind)).collect();
        // A rule on every event means the long ones where it asks for long.
        if over.is_empty() || (self.rule.on == KindSet::ALL && limit <= deadline(Kind::Stop)) {
            return;
        }
        let shortest = over.iter().copied().min_by_key(|kind| deadline(*kind));
        let Some(kind) = shortest else { return };
        let (limit, deadline) = (limit.as_secs_f64(), deadline(kind).as_secs());
        self.add_warning(
            "limit-over-deadline",
            format!("limit of {limit} s, but {} must be answered in {deadline} s", kind.name()),
            "the command is killed then; name an event with more time, or make it faster",
            self.key_span("limit"),
        );
    }

    // ---- room -----------------------------------------------------------------------------

    /// An allow that covers operands or options which a writer may not have thought of.
    fn check_allow_breadth(&mut self) {
        if self.rule.verb() != Some(Verb::Allow) {
            return;
        }
        for key in ["command", "match"] {
            let mut all = Vec::new();
            if let Some(value) = self.written.find_value(key) {
                for_each_string(value, &mut |text, span| all.push((text.to_string(), span)));
            }
            for (text, span) in all {
                if let Some((message, hint)) = unexpected_breadth(&text) {
                    self.add_finding(
                        FindingSeverity::Info,
                        "allow-leaves-room",
                        message,
                        Some(hint.into()),
                        span,
                    );
                }
            }
        }
    }

    // ---- globs ----------------------------------------------------------------------------

    fn check_globs(&mut self) {
        let Some(body) = self.written.body else { return };
        // A hook script's `tool` is the client's matcher, not a glob.
        let matcher = self.rule.has_hooks();
        self.globs_of(body, matcher);
    }

    fn globs_of(&mut self, table: &'a DeTable<'a>, matcher: bool) {
        for (key, value) in table {
            let key = key.get_ref().as_ref();
            if matches!(key, "unless" | "when") {
                if let Some(table) = value.get_ref().as_table() {
                    self.globs_of(table, false);
                }
                continue;
            }
            let sort = KEYS.iter().chain(WHEN_KEYS).find(|k| k.name == key).map(|k| k.sort);
            let path = sort == Some(Sort::Paths);
            if !(path || matches!(sort, Some(Sort::Names | Sort::Ways)))
                || (key == "tool" && matcher)
            {
                continue;
            }
            let mut all = Vec::new();
            for_each_string(value, &mut |text, span| all.push((text.to_string(), span)));
            for (text, span) in all {
                let glob = text.trim_start_matches('!');
                let literal = glob.replace('{', "[{]").replace('}', "[}]");
                if let Err(error) = GlobBuilder::new(&literal).literal_separator(path).build() {
                    let message = format!("`{glob}` is no glob: {}", error.kind());
                    self.add_finding(FindingSeverity::Error, "bad-glob", message, None, span);
                } else if let (Some(open), Some(close)) = (glob.find('{'), glob.rfind('}'))
                    && glob[open..close.max(open)].contains(',')
                {
                    let message = format!("the braces in `{glob}` are taken as they stand");
                    self.add_warning(
                        "brace-in-glob",
                        message,
                        "write a list of patterns instead",
                        span,
                    );
                }
            }
        }
    }

    // ---- cupcake ----------------------------------------------------------------------------

    fn check_cupcake(&mut self) {
        let rule = self.rule;
        let Some((hook, Dialect::Cupcake)) = rule.hook_script() else { return };
        let script = hook.script.source();
        // Behind a script of the user's own, nobody sees its options.
        if cupcake::is_run_by(script) && !cupcake::is_strict(script) {
            let message = "without `--strict`, Cupcake ends with status 0 where its policies fail";
            let hint = "add `--strict` behind `cupcake eval`: then `otherwise` answers surely";
            self.add_warning("cupcake-not-strict", message.into(), hint, self.key_span("hook"));
        }
        let unknown: Vec<&str> = rule
            .on
            .iter()
            .filter(|kind| !cupcake::EVENTS.contains(*kind))
            .map(Kind::name)
            .collect();
        if rule.on != KindSet::ALL && !unknown.is_empty() {
            let message = format!("Cupcake cannot read {}", unknown.join(", "));
            let hint = "it fails there: name its events only";
            self.add_warning("cupcake-event", message, hint, self.key_span("on"));
        }
    }

    // ---- registered -----------------------------------------------------------------------

    fn check_registered(&mut self, world: &LintContext<'_>) {
        let rule = self.rule;
        let missing = world.unregistered_events(rule.on);
        // Without `on`, a rule on a call is heard where one of its events is.
        if missing.is_empty() || (!rule.on_named && missing.len() < rule.on.iter().count()) {
            return;
        }
        let (message, span) = (not_registered(&missing), self.key_span("on"));
        self.add_warning("event-not-registered", message, REGISTER, span);
    }

    fn check_remote(&mut self, world: &LintContext<'_>) {
        let Some(server) = self.rule.remote_name() else { return };
        let mut known = world.sources.iter().flat_map(|source| &source.file.remotes);
        if let Some(remote) = known.find(|remote| remote.name == server) {
            let dialect = remote.dialect;
            let asked = self.rule.on.iter().any(|kind| dialect.is_asked_about(kind));
            let told = self.rule.on.iter().any(|kind| dialect.is_told_of(kind));
            if !asked && !told {
                let message = format!("`{server}` is neither asked about these events nor told");
                let hint = "`otherwise` answers";
                self.add_warning("key-not-for-event", message, hint, self.key_span("remote"));
            } else if !asked && self.written.find_value("otherwise").is_some() {
                let message = format!("`otherwise` has no effect: `{server}` is told, not asked");
                self.add_warning("unused-key", message, "", self.key_span("otherwise"));
            }
        } else {
            let message = format!("there is no [remote.{server}]");
            let hint = "until there is, `otherwise` answers";
            self.add_warning("unknown-remote", message, hint, self.key_span("remote"));
        }
    }
}

/// What an allow on the pattern covers beyond what it says, and what it does not.
fn unexpected_breadth(pattern: &str) -> Option<(String, &'static str)> {
    let body = pattern.strip_prefix("Bash(").and_then(|rest| rest.strip_suffix(')'));
    let text = body.unwrap_or(pattern).replace(":*", " *");
    let words: Vec<&str> = text.split_whitespace().collect();
    let name = words.first().filter(|name| !name.starts_with('!'))?;
    if words.contains(&"--*") {
        let message =
            format!("`--*` covers each option of `{name}`, also those that run, write or send");
        return Some((message, "name the options that are meant: harmless ones need no naming"));
    }
    let operands: Vec<&str> = words.iter().copied().filter(|word| !word.starts_with('-')).collect();
    let open = operands.len() < 4 || matches!(operands[3], "*" | "**");
    if !operands.starts_with(&["git", "push"]) || !open || operands.last() == Some(&"$") {
        return None;
    }
    let message = format!("`{pattern}` covers every branch and tag that the call names");
    let hint = "`git push origin main` covers that one; `+x`, `:x`, `--force` and pushes to a URL stay asked";
    Some((message, hint))
}
