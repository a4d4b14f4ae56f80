//! Rule files: TOML text to rules, every fault of the file collected with its place.
//!
//! The `toml` crate's own tree with spans is walked directly: going through serde would cost twice
//! as much at every event and stop at the first fault.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::Duration;

use serde_json::Value;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::event::{Kind, KindSet};
use crate::verdict::Verb;

use super::condition::{self, Conditions, FieldTest, Name, ValueTest};
use super::fault::{Fault, Gravity, did_you_mean, position};
use super::{
    Certainty, Command, Layer, Otherwise, Profile, Redact, Regex, Rule, Severity, Template, Text,
};

/// The keys of a rule that are not conditions, and what each means.
pub const RULE_KEYS: &[(&str, &str)] = &[
    ("on", "the events the rule speaks of"),
    ("unless", "a table of conditions: the rule does not hold where these do, of the same effect"),
    ("deny", "refuse, for this reason"),
    ("ask", "let the user decide, for this reason"),
    ("allow", "do not ask the user, for this reason"),
    ("defer", "suspend the call for later, for this reason"),
    ("halt", "refuse and end the turn, for this reason"),
    ("block", "deny, by its name on prompts, stops and after tools"),
    ("rewrite", "change fields of the tool's input"),
    ("replace", "change fields of what the tool returned"),
    ("redact", "take secrets out of what the tool returned: true, or a list of regexes"),
    ("context", "tell the model: a text, { file = }, or { run = }"),
    ("run", "run a command; its failure is fed back"),
    ("limit", "kill the rule's commands after this time: seconds, or \"90s\", \"5m\""),
    ("hook", "an existing hook script as one more judge"),
    ("dialect", "how that script answers: claude"),
    ("env", "variables for the agent's later commands"),
    ("notify", "tell the human: a text, or { run = }"),
    ("remote", "ask that server"),
    ("otherwise", "what a failing script or server amounts to: silent, ask, deny"),
    ("mode", "\"observe\" = evaluate and journal, do not enforce"),
    ("severity", "low, medium, high, critical"),
    ("certainty", "\"possible\" = fire on possible effects too"),
    ("repeat", "how often in a row a stop may be blocked"),
    ("lock", "true in a managed file: nobody overrides it"),
];

/// The keys at the top of a file, and what each means.
pub const TOP_KEYS: &[(&str, &str)] = &[
    ("profile", "observe, guard or strict"),
    ("autopilot", "allow covered read-only and build commands"),
    ("pack", "switches shipped packs on and off"),
    ("override", "changes shipped rules: action, severity, enabled"),
    ("rule", "the rules"),
    ("remote", "servers to ask"),
    ("program", "what programs do"),
    ("journal", "what is kept of decisions: enabled, max_size_mb, keep"),
    ("test", "cases for `hookctl test`"),
];

/// What a file changes about a shipped rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Override {
    /// The shipped rule's id.
    pub id: String,
    /// A new verdict.
    pub action: Option<Verb>,
    /// A new severity.
    pub severity: Option<Severity>,
    /// False = switched off.
    pub enabled: Option<bool>,
    /// Where in the file.
    pub span: Range<usize>,
}

/// A server that can be asked.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remote {
    /// Its name.
    pub name: String,
    /// Where it is, in the order in which it is tried.
    pub urls: Vec<String>,
}

/// What is kept of decisions.
#[derive(Debug, Clone, PartialEq)]
pub struct JournalConfig {
    /// False = nothing is written.
    pub enabled: bool,
    /// Rotated past this size, in bytes.
    pub max_size: u64,
    /// How many rotated files are kept.
    pub keep: u32,
}

impl Default for JournalConfig {
    fn default() -> Self {
        JournalConfig { enabled: true, max_size: 10 << 20, keep: 3 }
    }
}

/// A rule file that has been read: what is sound of it, and everything that is not.
#[derive(Debug, Clone, Default)]
pub struct RuleFile {
    /// `profile`
    pub profile: Option<Profile>,
    /// `[pack]`: name and on or off.
    pub packs: Vec<(String, bool)>,
    /// `[override.ID]`
    pub overrides: Vec<Override>,
    /// The sound rules, in file order.
    pub rules: Vec<Rc<Rule>>,
    /// `[remote.NAME]`
    pub remotes: Vec<Remote>,
    /// `[journal]`
    pub journal: Option<JournalConfig>,
    /// What is wrong.
    pub faults: Vec<Fault>,
    /// The events of rules that are not sound: those rules' calls are asked about.
    pub broken: KindSet,
}

impl RuleFile {
    /// Is something in it unusable?
    pub fn has_errors(&self) -> bool {
        self.faults.iter().any(|fault| fault.gravity == Gravity::Error)
    }
}

/// Reads a rule file of that layer. `only` is the event at hand: other events' rules are read, but
/// not their regular expressions, which cost most and are not asked; None checks everything.
pub fn read(text: &str, path: &Path, layer: Layer, only: Option<Kind>) -> RuleFile {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut file = RuleFile::default();
    let mut r = Reader {
        text,
        base: if layer.is_project() { None } else { path.parent().map(Path::to_path_buf) },
        only,
        rule: None,
        faults: Vec::new(),
        counted: (0, 1),
    };
    for error in errors {
        let span = error.span().unwrap_or(0..0);
        r.fault("syntax", error.message().to_string(), None, span);
    }
    if !r.faults.is_empty() {
        // What is left of a file that does not parse cannot be told from what is missing.
        file.faults = r.faults;
        file.broken = KindSet::ALL;
        return file;
    }
    for (key, value) in table.get_ref() {
        top(key, value, layer, &mut file, &mut r);
    }
    file.faults.append(&mut r.faults);
    if only.is_some() {
        // The process ends soon: taking the tree apart would cost as much as a third of reading it.
        std::mem::forget(table);
    }
    file
}

fn top(
    key: &Spanned<toml::de::DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    layer: Layer,
    file: &mut RuleFile,
    r: &mut Reader<'_>,
) {
    let before = r.faults.len();
    match key.get_ref().as_ref() {
        "profile" => {
            const NAMES: &[(&str, Profile)] = &[
                ("observe", Profile::Observe),
                ("guard", Profile::Guard),
                ("strict", Profile::Strict),
            ];
            file.profile = r.one_of("profile", value, NAMES);
            if layer.is_project() && file.profile.is_some_and(|p| p < Profile::Strict) {
                r.fault(
                    "only-tightens",
                    "a project may only raise the profile".into(),
                    Some("write \"strict\", or set it in your own config".into()),
                    value.span(),
                );
            }
        }
        "autopilot" => {
            r.boolean(value);
        }
        "pack" => {
            if let Some(table) = r.table(value, "pack") {
                for (name, on) in table {
                    if let Some(on) = r.boolean(on) {
                        file.packs.push((name.get_ref().to_string(), on));
                    }
                }
            }
        }
        "override" => {
            if let Some(table) = r.table(value, "override") {
                for (id, body) in table {
                    read_override(id, body, file, r);
                }
            }
        }
        "rule" => {
            if let Some(table) = r.table(value, "rule") {
                for (id, body) in table {
                    read_rule(id, body, layer, file, r);
                }
            }
            // A rule's faults cost that rule's events, not the whole file.
            return;
        }
        "remote" => {
            if let Some(table) = r.table(value, "remote") {
                for (name, body) in table {
                    let mut remote = Remote { name: name.get_ref().to_string(), urls: Vec::new() };
                    if let Some(body) = r.table(body, "remote")
                        && let Some(url) = body.get("url")
                    {
                        remote.urls = r.strings(url).into_iter().map(|(text, _)| text).collect();
                    }
                    file.remotes.push(remote);
                }
            }
        }
        // What programs do and cases belong to other readers; their tables are taken as they are.
        "program" | "test" => {}
        "journal" => file.journal = read_journal(value, r),
        other => {
            let hint = did_you_mean(other, TOP_KEYS.iter().map(|(key, _)| *key));
            r.fault(
                "unknown-key",
                format!("unknown key `{other}`"),
                hint.map(|h| format!("did you mean `{h}`?")).or_else(|| {
                    RULE_KEYS
                        .iter()
                        .chain(condition::KEYS)
                        .any(|(key, _)| *key == other)
                        .then(|| "this belongs into a rule: put [rule.some-id] above it".into())
                }),
                key.span(),
            );
        }
    }
    if r.faults[before..].iter().any(|f| f.gravity == Gravity::Error) {
        file.broken = KindSet::ALL;
    }
}

fn read_override(
    id: &Spanned<toml::de::DeString<'_>>,
    body: &Spanned<DeValue<'_>>,
    file: &mut RuleFile,
    r: &mut Reader<'_>,
) {
    let Some(table) = r.table(body, "override") else { return };
    let mut out = Override { id: id.get_ref().to_string(), span: id.span(), ..Override::default() };
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "action" => {
                const NAMES: &[(&str, Verb)] =
                    &[("deny", Verb::Deny), ("ask", Verb::Ask), ("allow", Verb::Allow)];
                out.action = r.one_of("action", value, NAMES);
            }
            "severity" => out.severity = r.one_of("severity", value, SEVERITIES),
            "enabled" => out.enabled = r.boolean(value),
            other => r.unknown_key(other, key.span(), ["action", "severity", "enabled"]),
        }
    }
    if !super::shipped::RULES.iter().any(|rule| rule.id == out.id) {
        let hint = did_you_mean(&out.id, super::shipped::RULES.iter().map(|rule| rule.id));
        r.warn(
            "unknown-rule",
            format!("no shipped rule is called `{}`", out.id),
            hint.map(|h| format!("did you mean `{h}`?")),
            id.span(),
        );
    }
    file.overrides.push(out);
}

const SEVERITIES: &[(&str, Severity)] = &[
    ("low", Severity::Low),
    ("medium", Severity::Medium),
    ("high", Severity::High),
    ("critical", Severity::Critical),
];

fn read_journal(value: &Spanned<DeValue<'_>>, r: &mut Reader<'_>) -> Option<JournalConfig> {
    let table = r.table(value, "journal")?;
    let mut out = JournalConfig::default();
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "enabled" => out.enabled = r.boolean(value).unwrap_or(true),
            "max_size_mb" => out.max_size = r.integer(value, 1, 1024).unwrap_or(10) << 20,
            "keep" => out.keep = r.integer(value, 0, 100).unwrap_or(3) as u32,
            other => r.unknown_key(other, key.span(), ["enabled", "max_size_mb", "keep"]),
        }
    }
    Some(out)
}

fn read_rule(
    id: &Spanned<toml::de::DeString<'_>>,
    body: &Spanned<DeValue<'_>>,
    layer: Layer,
    file: &mut RuleFile,
    r: &mut Reader<'_>,
) {
    let name = id.get_ref().to_string();
    let before = r.faults.len();
    r.rule = Some(name.clone());
    if name.is_empty()
        || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    {
        r.fault(
            "bad-id",
            format!("`{name}` is no id: lower-case letters, digits and dashes"),
            None,
            id.span(),
        );
    }
    let mut rule = Rule {
        id: name,
        layer: Some(layer),
        line: r.line(id.span().start),
        repeat: 1,
        ..Rule::default()
    };
    let mut seen = Seen::default();
    if let Some(table) = r.table(body, "rule") {
        // The tool condition of a hook script has the client's matcher semantics.
        let matcher = table.keys().any(|key| key.get_ref() == "hook");
        // Events first: they say which regular expressions are worth compiling.
        for (key, value) in table {
            if key.get_ref() == "on" {
                r.events(value, &mut rule);
            }
        }
        // On the hook path a rule of other events costs nothing more.
        if r.only.is_some_and(|kind| rule.on_named && !rule.on.contains(kind)) {
            r.rule = None;
            return;
        }
        for (key, value) in table {
            read_key(key, value, matcher, &mut rule, &mut seen, r);
        }
    }
    default_events(&mut rule, &seen);
    check_rule(&rule, &seen, id.span(), r);
    let deep = r.only.is_none_or(|kind| rule.on.contains(kind));
    if deep {
        check_regexes(&rule, id.span(), r);
    }
    let broken = r.faults[before..].iter().any(|f| f.gravity == Gravity::Error);
    r.rule = None;
    if broken {
        file.broken = file.broken.union(rule.on);
    } else {
        file.rules.push(Rc::new(rule));
    }
}

/// What a rule's keys were, as far as checks need it.
#[derive(Default)]
struct Seen {
    verdicts: Vec<(&'static str, Range<usize>)>,
    on: Option<Range<usize>>,
    limit: Option<Duration>,
    dialect: Option<Range<usize>>,
    otherwise: bool,
}

fn read_key(
    key: &Spanned<toml::de::DeString<'_>>,
    value: &Spanned<DeValue<'_>>,
    matcher: bool,
    rule: &mut Rule,
    seen: &mut Seen,
    r: &mut Reader<'_>,
) {
    let name = key.get_ref().as_ref();
    let verb = match name {
        "deny" => Some(("deny", Verb::Deny)),
        "block" => Some(("block", Verb::Deny)),
        "ask" => Some(("ask", Verb::Ask)),
        "allow" => Some(("allow", Verb::Allow)),
        "defer" => Some(("defer", Verb::Defer)),
        "halt" => Some(("halt", Verb::Halt)),
        _ => None,
    };
    if let Some((written, verb)) = verb {
        seen.verdicts.push((written, key.span()));
        if let Some(template) = r.template(value) {
            rule.verdict = Some((verb, template));
        }
        return;
    }
    match name {
        "on" => seen.on = Some(value.span()),
        "unless" => {
            if let Some(table) = r.table(value, "unless") {
                let mut unless = Conditions::default();
                for (key, value) in table {
                    if !unless.read(key.get_ref(), value, false, r) {
                        r.unknown_key(
                            key.get_ref(),
                            key.span(),
                            condition::KEYS.iter().map(|(k, _)| *k),
                        );
                    }
                }
                rule.unless = Some(Box::new(unless));
            }
        }
        "rewrite" => rule.rewrite = r.fields(value),
        "replace" => rule.replace = r.fields(value),
        "redact" => {
            rule.redact = match value.get_ref() {
                DeValue::Boolean(true) => Some(Redact::Secrets),
                DeValue::Boolean(false) => None,
                _ => Some(Redact::Patterns(r.regexes(value))),
            }
        }
        "context" => rule.context = r.text_source(value, true),
        "notify" => rule.notify = r.text_source(value, false),
        "run" => rule.run = r.command(value),
        "hook" => rule.hook = r.command(value),
        "limit" => seen.limit = r.duration(value),
        "dialect" => {
            seen.dialect = Some(key.span());
            r.one_of("dialect", value, &[("claude", ())]);
        }
        "env" => {
            if let Some(table) = r.table(value, "env") {
                for (name, value) in table {
                    let text = name.get_ref().as_ref();
                    let good = !text.is_empty()
                        && !text.starts_with(|c: char| c.is_ascii_digit())
                        && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                    if !good {
                        r.fault(
                            "bad-name",
                            format!("`{text}` is no name of a variable"),
                            None,
                            name.span(),
                        );
                    }
                    if let Some(template) = r.template(value) {
                        rule.env.push((text.to_string(), template));
                    }
                }
            }
        }
        "remote" => rule.remote = r.string(value).map(|(text, _)| text),
        "otherwise" => {
            seen.otherwise = true;
            const NAMES: &[(&str, Otherwise)] = &[
                ("silent", Otherwise::Silent),
                ("silence", Otherwise::Silent),
                ("ask", Otherwise::Ask),
                ("deny", Otherwise::Deny),
            ];
            rule.otherwise = r.one_of("otherwise", value, NAMES).unwrap_or_default();
        }
        "mode" => {
            rule.observe = r
                .one_of("mode", value, &[("observe", true), ("enforce", false)])
                .unwrap_or_default();
        }
        "severity" => {
            rule.severity = r.one_of("severity", value, SEVERITIES).unwrap_or_default();
        }
        "certainty" => {
            const NAMES: &[(&str, Certainty)] =
                &[("possible", Certainty::Possible), ("certain", Certainty::Profile)];
            const SHIPPED: &[(&str, Certainty)] =
                &[("possible", Certainty::Possible), ("unknown", Certainty::Unknown)];
            let names = if rule.layer() == Layer::Pack { SHIPPED } else { NAMES };
            rule.certainty = r.one_of("certainty", value, names).unwrap_or_default();
        }
        "danger" if rule.layer() == Layer::Pack => {
            rule.danger = r.strings(value).into_iter().map(|(text, _)| text).collect();
        }
        "repeat" => rule.repeat = r.integer(value, 1, 100).unwrap_or(1) as u32,
        "lock" => {
            rule.lock = r.boolean(value).unwrap_or_default();
            if rule.lock && rule.layer() != Layer::Managed {
                r.warn(
                    "lock-ignored",
                    "lock has a meaning in the managed file only".into(),
                    None,
                    key.span(),
                );
            }
        }
        _ => {
            if !rule.conditions.read(name, value, matcher, r) {
                r.unknown_key(
                    name,
                    key.span(),
                    RULE_KEYS.iter().chain(condition::KEYS).map(|(key, _)| *key),
                );
            }
        }
    }
}

/// Without `on` the keys decide.
fn default_events(rule: &mut Rule, seen: &Seen) {
    if let Some(limit) = seen.limit {
        for command in [&mut rule.run, &mut rule.hook, &mut rule.conditions.when.run] {
            if let Some(command) = command {
                command.limit = Some(limit);
            }
        }
        for text in [&mut rule.context, &mut rule.notify] {
            if let Some(Text::Run(command)) = text {
                command.limit = Some(limit);
            }
        }
    }
    if rule.remote.is_some() && !seen.otherwise {
        rule.otherwise = Otherwise::Ask;
    }
    if rule.on_named {
        return;
    }
    let gate = KindSet::of(&[Kind::PreToolUse, Kind::PermissionRequest]);
    rule.on = if !rule.conditions.prompt.is_empty() {
        KindSet::of(&[Kind::UserPromptSubmit])
    } else if !rule.conditions.response.is_empty()
        || rule.redact.is_some()
        || !rule.replace.is_empty()
    {
        KindSet::of(&[Kind::PostToolUse])
    } else {
        match rule.verdict {
            Some((Verb::Deny | Verb::Allow | Verb::Halt, _)) => gate,
            _ => KindSet::of(&[Kind::PreToolUse]),
        }
    };
}

fn check_rule(rule: &Rule, seen: &Seen, id: Range<usize>, r: &mut Reader<'_>) {
    if let [(first, _), (second, span), ..] = seen.verdicts.as_slice() {
        r.fault(
            "two-verdicts",
            format!("a rule has one verdict: `{first}` or `{second}`"),
            Some("make two rules".into()),
            span.clone(),
        );
    }
    let does_something = rule.verdict.is_some()
        || rule.acts()
        || !rule.rewrite.is_empty()
        || !rule.replace.is_empty()
        || rule.redact.is_some()
        || rule.context.is_some()
        || rule.notify.is_some();
    if !does_something && !r.has_fault_of_rule() {
        r.fault(
            "no-effect",
            "the rule does nothing".into(),
            Some("give it deny, ask, allow, run, context ...".into()),
            id.clone(),
        );
    }
    if let Some((written, span)) = seen.verdicts.first() {
        if *written == "block" && !rule.on_named {
            r.fault(
                "block-without-event",
                "`block` must say its event".into(),
                Some("add on = \"Stop\", or write deny for a tool call".into()),
                span.clone(),
            );
        }
        if *written == "allow" && rule.run.is_some() {
            r.fault(
                "run-beside-allow",
                "`run` beside `allow` has no meaning: an allow does not wait for a command".into(),
                Some("use when = { run = ... }".into()),
                span.clone(),
            );
        }
        if rule.on_named {
            check_verbs(rule, written, span, r);
        }
    }
    if seen.dialect.is_some() && rule.hook.is_none() {
        r.warn("unused-key", "`dialect` belongs to `hook`".into(), None, id.clone());
    }
    let scripts = [&rule.run, &rule.hook, &rule.conditions.when.run];
    let texts = [&rule.context, &rule.notify].map(|text| match text {
        Some(Text::Run(command)) => Some(command),
        _ => None,
    });
    for command in scripts.into_iter().map(Option::as_ref).chain(texts).flatten() {
        if command.script.has_quoted_placeholder() {
            r.fault(
                "quoted-placeholder",
                "a placeholder stands inside quotes".into(),
                Some("take the quotes off: it becomes a quoted variable by itself".into()),
                id.clone(),
            );
        }
    }
}

/// A verb that an explicitly named event cannot express is a fault.
fn check_verbs(rule: &Rule, written: &str, span: &Range<usize>, r: &mut Reader<'_>) {
    let Some((verb, _)) = &rule.verdict else { return };
    let agent = crate::agent::AGENTS[0];
    for kind in rule.on.iter() {
        let Some(spec) = agent.spec(kind) else { continue };
        // The dialog of a permission request is the question; an ask there is silence by design.
        let silence = *verb == Verb::Ask && kind == Kind::PermissionRequest;
        // "every event" means every event that can: `on = "*"` names none.
        if spec.verbs.contains(verb)
            || (silence && rule.on != KindSet::of(&[kind]))
            || rule.on == KindSet::ALL
        {
            continue;
        }
        let valid: Vec<&str> = spec.verbs.iter().map(|verb| verb.name()).collect();
        let valid = if valid.is_empty() { "no verdict at all".into() } else { valid.join(", ") };
        r.fault(
            "verb-not-for-event",
            format!("{} cannot express `{written}`", kind.name()),
            Some(format!("it takes {valid}")),
            span.clone(),
        );
    }
}

fn check_regexes(rule: &Rule, id: Range<usize>, r: &mut Reader<'_>) {
    let mut all: Vec<&Regex> = Vec::new();
    let of = |conditions: &Conditions, all: &mut Vec<Regex>| {
        all.extend(conditions.prompt.iter().cloned());
        for test in conditions.input.iter().chain(&conditions.response) {
            for test in &test.tests {
                if let ValueTest::Regex(regex) = test {
                    all.push(regex.clone());
                }
            }
        }
    };
    let mut owned = Vec::new();
    of(&rule.conditions, &mut owned);
    if let Some(unless) = &rule.unless {
        of(unless, &mut owned);
    }
    if let Some(Redact::Patterns(patterns)) = &rule.redact {
        all.extend(patterns);
    }
    for (_, template) in rule.rewrite.iter().chain(&rule.replace) {
        all.extend(template.regexes());
    }
    for regex in all.into_iter().chain(&owned) {
        if let Some(why) = regex.fault() {
            r.fault("bad-regex", format!("`{}`: {why}", regex.source), None, id.clone());
        }
    }
}

/// Reads values and collects what is wrong with them.
pub struct Reader<'t> {
    text: &'t str,
    base: Option<PathBuf>,
    only: Option<Kind>,
    rule: Option<String>,
    faults: Vec<Fault>,
    /// How far lines were counted, and the line there.
    counted: (usize, usize),
}

impl Reader<'_> {
    fn push(
        &mut self,
        gravity: Gravity,
        code: &'static str,
        message: String,
        hint: Option<String>,
        span: Range<usize>,
    ) {
        self.faults.push(Fault { code, gravity, message, hint, span, rule: self.rule.clone() });
    }

    /// Notes an error.
    pub fn fault(
        &mut self,
        code: &'static str,
        message: String,
        hint: Option<String>,
        span: Range<usize>,
    ) {
        self.push(Gravity::Error, code, message, hint, span);
    }

    fn warn(
        &mut self,
        code: &'static str,
        message: String,
        hint: Option<String>,
        span: Range<usize>,
    ) {
        self.push(Gravity::Warning, code, message, hint, span);
    }

    /// The line of a byte. Rules come in file order, so each line is counted once.
    fn line(&mut self, offset: usize) -> usize {
        if offset < self.counted.0 {
            return position(self.text, offset).line;
        }
        let between = &self.text.as_bytes()[self.counted.0..offset];
        let line = self.counted.1 + between.iter().filter(|byte| **byte == b'\n').count();
        self.counted = (offset, line);
        line
    }

    fn has_fault_of_rule(&self) -> bool {
        self.faults.iter().any(|fault| fault.rule == self.rule)
    }

    /// Notes a key that does not exist.
    pub fn unknown_key<'a>(
        &mut self,
        key: &str,
        span: Range<usize>,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        let hint = did_you_mean(key, known).map(|hint| format!("did you mean `{hint}`?"));
        self.fault("unknown-key", format!("unknown key `{key}`"), hint, span);
    }

    /// Notes a word that does not exist.
    pub fn unknown_word<'a>(
        &mut self,
        what: &str,
        word: &str,
        span: Range<usize>,
        known: impl IntoIterator<Item = &'a str>,
    ) {
        let known: Vec<&str> = known.into_iter().collect();
        let hint = match did_you_mean(word, known.iter().copied()) {
            Some(hint) => format!("did you mean `{hint}`?"),
            None => format!("there are {}", known.join(", ")),
        };
        self.fault("unknown-word", format!("`{word}` is no {what}"), Some(hint), span);
    }

    fn wrong_type(&mut self, value: &Spanned<DeValue<'_>>, wanted: &str) {
        let found = value.get_ref().type_str();
        self.fault("wrong-type", format!("expected {wanted}, found {found}"), None, value.span());
    }

    /// A table.
    pub fn table<'v, 'i>(
        &mut self,
        value: &'v Spanned<DeValue<'i>>,
        what: &str,
    ) -> Option<&'v DeTable<'i>> {
        match value.get_ref() {
            DeValue::Table(table) => Some(table),
            _ => {
                self.wrong_type(value, &format!("a table for `{what}`"));
                None
            }
        }
    }

    /// A string.
    pub fn string(&mut self, value: &Spanned<DeValue<'_>>) -> Option<(String, Range<usize>)> {
        match value.get_ref() {
            DeValue::String(text) => Some((text.to_string(), value.span())),
            _ => {
                self.wrong_type(value, "a string");
                None
            }
        }
    }

    /// One string or a list of them.
    pub fn strings(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<(String, Range<usize>)> {
        match value.get_ref() {
            DeValue::String(text) => vec![(text.to_string(), value.span())],
            DeValue::Array(items) => {
                if items.is_empty() {
                    self.fault(
                        "empty-list",
                        "an empty list holds for nothing".into(),
                        Some("leave the key out, or name something".into()),
                        value.span(),
                    );
                }
                items.iter().filter_map(|item| self.string(item)).collect()
            }
            _ => {
                self.wrong_type(value, "a string or a list of strings");
                Vec::new()
            }
        }
    }

    /// One string or a list, each read by `parse`.
    pub fn each<T>(
        &mut self,
        value: &Spanned<DeValue<'_>>,
        code: &'static str,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> Vec<T> {
        let mut out = Vec::new();
        for (text, span) in self.strings(value) {
            match parse(&text) {
                Ok(read) => out.push(read),
                Err(why) => self.fault(code, format!("`{text}`: {why}"), None, span),
            }
        }
        out
    }

    /// Globs over names.
    pub fn names(&mut self, value: &Spanned<DeValue<'_>>, matcher: bool) -> Vec<Name> {
        self.each(value, "bad-glob", |text| match super::glob::fault(text) {
            Some(why) if !matcher => Err(why.to_string()),
            _ => Ok(Name::parse(text, matcher)),
        })
        .into_iter()
        .flatten()
        .collect()
    }

    /// Regular expressions; whether they can be compiled is checked with the whole rule.
    pub fn regexes(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<Regex> {
        self.strings(value).into_iter().map(|(text, _)| Regex::new(text)).collect()
    }

    /// true or false.
    pub fn boolean(&mut self, value: &Spanned<DeValue<'_>>) -> Option<bool> {
        match value.get_ref() {
            DeValue::Boolean(flag) => Some(*flag),
            _ => {
                self.wrong_type(value, "true or false");
                None
            }
        }
    }

    fn integer(&mut self, value: &Spanned<DeValue<'_>>, least: u64, most: u64) -> Option<u64> {
        let DeValue::Integer(integer) = value.get_ref() else {
            self.wrong_type(value, "a whole number");
            return None;
        };
        let number = u64::from_str_radix(integer.as_str(), integer.radix()).ok();
        let good = number.filter(|n| (least..=most).contains(n));
        if good.is_none() {
            self.fault(
                "out-of-range",
                format!("expected a number from {least} to {most}"),
                None,
                value.span(),
            );
        }
        good
    }

    /// Seconds as a number, or a text such as "90s", "5m", "500ms".
    fn duration(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Duration> {
        let parsed = match value.get_ref() {
            DeValue::Integer(_) => return self.integer(value, 1, 86_400).map(Duration::from_secs),
            DeValue::Float(number) => number
                .as_str()
                .parse()
                .ok()
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            DeValue::String(text) => parse_duration(text),
            _ => None,
        };
        if parsed.is_none_or(|d| d.is_zero()) {
            self.fault(
                "bad-duration",
                "expected seconds, or a text such as \"90s\", \"5m\", \"500ms\"".into(),
                None,
                value.span(),
            );
        }
        parsed.filter(|d| !d.is_zero())
    }

    fn one_of<T: Copy>(
        &mut self,
        what: &str,
        value: &Spanned<DeValue<'_>>,
        names: &[(&str, T)],
    ) -> Option<T> {
        let (text, span) = self.string(value)?;
        let found = names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value);
        if found.is_none() {
            self.unknown_word(what, &text, span, names.iter().map(|(name, _)| *name));
        }
        found
    }

    fn template(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Template> {
        let (text, span) = self.string(value)?;
        match Template::parse(&text) {
            Ok(template) => Some(template),
            Err(why) => {
                self.fault("bad-template", why, None, span);
                None
            }
        }
    }

    /// A shell command: a string.
    pub fn command(&mut self, value: &Spanned<DeValue<'_>>) -> Option<Command> {
        let script = self.template(value)?;
        if script.source().trim().is_empty() {
            self.fault("empty-command", "the command is empty".into(), None, value.span());
            return None;
        }
        Some(Command { script, limit: None, base: self.base.clone() })
    }

    fn text_source(&mut self, value: &Spanned<DeValue<'_>>, files: bool) -> Option<Text> {
        let table = match value.get_ref() {
            DeValue::Table(table) => table,
            _ => return self.template(value).map(Text::Plain),
        };
        let known: &[&str] = if files { &["file", "run"] } else { &["run"] };
        let mut out = None;
        for (key, value) in table {
            match key.get_ref().as_ref() {
                "file" if files => {
                    out = self.string(value).map(|(text, _)| {
                        let path = PathBuf::from(text);
                        Text::File(self.base.as_ref().map_or(path.clone(), |base| base.join(path)))
                    });
                }
                "run" => out = self.command(value).map(Text::Run),
                other => self.unknown_key(other, key.span(), known.iter().copied()),
            }
        }
        if table.is_empty() {
            self.fault(
                "empty-table",
                format!("the table is empty: it takes {}", known.join(" or ")),
                None,
                value.span(),
            );
        }
        out
    }

    /// A table of field path to template; keys may be dotted.
    fn fields(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<(Vec<String>, Template)> {
        let mut out = Vec::new();
        if let Some(table) = self.table(value, "field = text") {
            self.fields_below(table, &mut Vec::new(), &mut out);
        }
        out
    }

    fn fields_below(
        &mut self,
        table: &DeTable<'_>,
        prefix: &mut Vec<String>,
        out: &mut Vec<(Vec<String>, Template)>,
    ) {
        for (key, value) in table {
            let depth = prefix.len();
            prefix.extend(key.get_ref().split('.').map(str::to_string));
            match value.get_ref() {
                DeValue::Table(below) => self.fields_below(below, prefix, out),
                _ => {
                    if let Some(template) = self.template(value) {
                        out.push((prefix.clone(), template));
                    }
                }
            }
            prefix.truncate(depth);
        }
    }

    /// A table of field path to what the value must be.
    pub fn field_tests(&mut self, value: &Spanned<DeValue<'_>>) -> Vec<FieldTest> {
        let Some(table) = self.table(value, "field = value") else { return Vec::new() };
        let mut out = Vec::new();
        for (key, value) in table {
            let field = key.get_ref().to_string();
            let tests = match value.get_ref() {
                DeValue::Array(items) => {
                    items.iter().filter_map(|item| self.value_test(item)).collect()
                }
                _ => self.value_test(value).into_iter().collect(),
            };
            out.push(FieldTest { field, tests });
        }
        out
    }

    fn value_test(&mut self, value: &Spanned<DeValue<'_>>) -> Option<ValueTest> {
        match value.get_ref() {
            DeValue::String(text) => Some(ValueTest::Glob(text.to_string())),
            DeValue::Table(table) => {
                let mut out = None;
                for (key, value) in table {
                    match key.get_ref().as_ref() {
                        "equals" => out = json(value).map(ValueTest::Equals),
                        "glob" => out = self.string(value).map(|(t, _)| ValueTest::Glob(t)),
                        "regex" => {
                            out = self.string(value).map(|(t, _)| ValueTest::Regex(Regex::new(t)));
                        }
                        "exists" => out = self.boolean(value).map(ValueTest::Exists),
                        other => {
                            let known = ["equals", "glob", "regex", "exists"];
                            self.unknown_key(other, key.span(), known);
                        }
                    }
                }
                out
            }
            _ => json(value).map(ValueTest::Equals),
        }
    }

    /// The events of `on`.
    fn events(&mut self, value: &Spanned<DeValue<'_>>, rule: &mut Rule) {
        for (text, span) in self.strings(value) {
            rule.on_named = true;
            match Kind::from_name(&text) {
                Kind::Other if text == "*" => rule.on = KindSet::ALL,
                Kind::Other => {
                    let names = Kind::ALL.iter().map(|kind| kind.name());
                    let hint = did_you_mean(&text, names)
                        .map(|h| format!("did you mean `{h}`?"))
                        .or_else(|| Some("`hookctl explain --event NAME` shows each".into()));
                    self.fault("unknown-event", format!("`{text}` is no event"), hint, span);
                    // Which one was meant is not known, so all of them are asked about.
                    rule.on = KindSet::ALL;
                }
                kind => rule.on.insert(kind),
            }
        }
        if rule.on.is_empty() {
            rule.on = KindSet::ALL;
        }
    }
}

/// `90s`, `5m`, `2h`, `500ms`, or a bare number of seconds.
pub fn parse_duration(text: &str) -> Option<Duration> {
    let text = text.trim();
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let number: u64 = text[..digits].parse().ok()?;
    match text[digits..].trim() {
        "ms" => Some(Duration::from_millis(number)),
        "" | "s" => Some(Duration::from_secs(number)),
        "m" | "min" => number.checked_mul(60).map(Duration::from_secs),
        "h" => number.checked_mul(3600).map(Duration::from_secs),
        "d" => number.checked_mul(86_400).map(Duration::from_secs),
        _ => None,
    }
}

/// A TOML value as JSON.
fn json(value: &Spanned<DeValue<'_>>) -> Option<Value> {
    Some(match value.get_ref() {
        DeValue::String(text) => Value::String(text.to_string()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Integer(number) => {
            Value::from(i64::from_str_radix(number.as_str(), number.radix()).ok()?)
        }
        DeValue::Float(number) => Value::from(number.as_str().parse::<f64>().ok()?),
        DeValue::Datetime(time) => Value::String(time.to_string()),
        DeValue::Array(items) => Value::Array(items.iter().filter_map(json).collect()),
        DeValue::Table(table) => Value::Object(
            table
                .iter()
                .filter_map(|(key, value)| Some((key.get_ref().to_string(), json(value)?)))
                .collect(),
        ),
    })
}
