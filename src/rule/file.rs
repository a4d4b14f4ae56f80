//! Rule files: TOML text to rules, every fault of the file collected with its place.
//!
//! The `toml` crate's own tree with spans is walked directly: going through serde would cost twice
//! as much at every event and stop at the first fault.

use std::ops::Range;
use std::path::Path;
use std::rc::Rc;

use toml::de::DeTable;

use crate::effect::program::table::Program;
use crate::event::{Kind, KindSet};
use crate::limits;
use crate::script::Dialect;
use crate::verdict::Verb;

mod check;
pub mod remote;
pub mod server;
mod tables;

pub use self::remote::Remote;
pub use self::tables::{Autopilot, JournalConfig, Override};

use self::check::{check_regexes, check_rule, check_scripts};
use self::tables::{OTHERWISE, read_autopilot, read_journal, read_override, read_packs};
use super::condition::{self, Conditions};
use super::fault::{Fault, Gravity, meant};
use super::packed::{self, Table};
use super::reader::{Item, Key, Reader, TreeValue};
use super::{
    Action, Certainty, Command, Layer, Otherwise, Profile, Redact, Rule, RuleMode, Severity,
    Template, Verdict,
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
    ("question", "what the human is asked, before the reason of `ask`"),
    ("continue", "false beside deny or block: end the turn as well, which is halt"),
    (
        "suppress_output",
        "true: the agent's transcript does not show the answer, where it heeds that",
    ),
    ("rewrite", "change fields of the tool's input, or the `prompt` of the user"),
    ("replace", "change fields of what the tool returned"),
    ("redact", "take secrets out of what the tool returned: true, or a list of regexes"),
    ("context", "tell the model: a text, { file = }, or { run = }"),
    ("run", "run a command; its failure is fed back"),
    ("limit", "kill the rule's commands after this time: seconds, or \"90s\", \"5m\""),
    (
        "hook",
        "an existing hook script as one more judge, or { settings = } for those of Claude Code's settings",
    ),
    ("dialect", "how that script answers: claude, cupcake"),
    ("env", "variables for the agent's later commands"),
    ("notify", "tell the human: a text, or { run = }"),
    ("remote", "ask that server"),
    ("otherwise", "what a failing script or server amounts to: silent, ask, deny"),
    ("mark", "sets marks on the session: private, untrusted, sent"),
    (
        "mode",
        "\"observe\" = evaluate and journal, do not enforce; \"strict\" = enforce in profile strict, else observe",
    ),
    ("severity", "low, medium, high, critical"),
    (
        "priority",
        "0 to 100, 50 unless said: whose reason is told first, and whose changes hold, within a file",
    ),
    ("certainty", "\"possible\" = fire on possible effects too"),
    ("repeat", "how often in a row a stop may be blocked"),
    ("lock", "true in a managed file: a pause does not switch the rule off"),
];

/// The priority of a rule that names none, and the highest.
const PRIORITY: u8 = 50;
const HIGHEST: u8 = 100;

/// The keys at the top of a file, and what each means.
pub const TOP_KEYS: &[(&str, &str)] = &[
    ("version", "the version of this form: 1, as where it is not said"),
    ("requires", "the oldest hookctl that may read this file: \">=0.2\""),
    ("profile", "observe, guard or strict"),
    ("autopilot", "allow harmless read-only, build and test commands: true, or a table of lists"),
    ("soft_deny", "true: refuse a call without ending the run, where an agent can be made to"),
    ("pack", "switches shipped packs on and off"),
    ("override", "changes shipped rules: action, severity, enabled, mode, reason"),
    ("rule", "the rules"),
    ("remote", "servers to ask, or to tell"),
    ("program", "what programs do"),
    ("journal", "what is kept of decisions: enabled, max_size_mb, keep"),
    ("test", "cases for `hookctl test`"),
];

/// The version of the form of rule files that this program reads. It rises where a newer file could not be read as
/// it is meant.
pub const VERSION: u64 = 1;

/// A rule file that has been read: what is sound of it, and everything that is not.
#[derive(Debug, Clone, Default)]
pub struct RuleFile {
    /// `profile`
    pub profile: Option<Profile>,
    /// `autopilot`
    pub autopilot: Option<Autopilot>,
    /// `soft_deny`
    pub soft_deny: Option<bool>,
    /// `[pack]`: name and on or off.
    pub packs: Vec<(String, bool)>,
    /// `[override.ID]`
    pub overrides: Vec<Override>,
    /// The sound rules, in file order.
    pub rules: Vec<Rc<Rule>>,
    /// `[remote.NAME]`
    pub remotes: Vec<Remote>,
    /// `[program.NAME]`
    pub programs: Vec<Program>,
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

    /// The file as a whole cannot stand beside another.
    pub(crate) fn refuse_file(&mut self, message: String, hint: &str) {
        let hint = Some(hint.to_string());
        let gravity = Gravity::Error;
        self.faults.push(Fault {
            code: "bad-remote",
            gravity,
            message,
            hint,
            span: 0..0,
            rule: None,
            private: true,
        });
        self.remotes.clear();
        self.broken = KindSet::ALL;
    }
}

/// The header or the key of the line at that place, and the line above it that has the same: of a key in its own table,
/// of a header anywhere.
fn first_place(text: &str, at: usize) -> Option<(&str, usize)> {
    let key = |line: &'_ str| {
        line.split(" #").next().map_or(0..0, |line| {
            let end = if is_header(line) { line.len() } else { line.find('=').unwrap_or(0) };
            0..end
        })
    };
    let above = text.get(..at)?.matches('\n').count() + 1;
    let mut lines: Vec<&str> =
        text.lines().take(above).map(|line| line[key(line)].trim()).collect();
    let own = lines.pop().filter(|own| !own.is_empty())?;
    let mut upwards = lines.iter().rev().take_while(|line| is_header(own) || !is_header(line));
    let line = upwards.position(|line| *line == own)?;
    Some((own, lines.len() - line))
}

fn is_header(line: &str) -> bool {
    line.trim_start().starts_with('[')
}

/// The duplicate keys that only follow from one: those of a table whose header stands twice are added to what the parser
/// last read, whatever that is.
fn follows(text: &str, table: usize, at: usize) -> bool {
    text.get(table..at).is_some_and(|between| !between.lines().skip(1).any(is_header))
}

/// Reads a rule file of that layer. `only` is the event at hand: other events' rules are read, but
/// not their regular expressions, which cost most and are not asked; None checks everything.
pub fn read_rules(text: &str, path: &Path, layer: Layer, only: Option<Kind>) -> RuleFile {
    let (table, errors) = DeTable::parse_recoverable(text);
    let mut r = file_reader(text, path, layer, only);
    r.private = !errors.is_empty() && text.contains("[remote");
    let mut twice: Option<usize> = None;
    for error in errors.into_iter().take(limits::SYNTAX_FAULTS) {
        let span = error.span().unwrap_or(0..0);
        let duplicate = error.message() == "duplicate key";
        if duplicate && twice.is_some_and(|table| follows(text, table, span.start)) {
            continue;
        }
        let first = if duplicate { first_place(text, span.start) } else { None };
        twice = first.filter(|(key, _)| is_header(key)).map(|_| span.start);
        let fault = r.add_error("syntax", error.message().to_string(), span);
        if let Some((key, line)) = first {
            let place = path.file_name().unwrap_or_default().display();
            let mend = if is_header(key) { ": give one of the two another id" } else { "" };
            fault.with_hint(format!("`{key}` stands at {place}:{line} already{mend}"));
        }
    }
    if !r.faults.is_empty() {
        // What is left of a file that does not parse cannot be told from what is missing.
        return RuleFile { faults: r.faults, broken: KindSet::ALL, ..RuleFile::default() };
    }
    let tree = Table::from_toml(table.get_ref());
    let file = read_tables(&tree, layer, r);
    if only.is_some() {
        // The process ends soon: taking the tree apart would cost as much as a third of reading it.
        std::mem::forget(tree);
        std::mem::forget(table);
    }
    file
}

/// Reads a file that was parsed. No event is at hand.
pub(super) fn read_parsed(table: &Table<'_>, text: &str, path: &Path, layer: Layer) -> RuleFile {
    read_tables(table, layer, file_reader(text, path, layer, None))
}

/// Reads a part of a file that was read before, whole, and had no fault; None where what was kept of it is damaged.
pub fn unpack_file(packed: &'static str, path: &Path, layer: Layer) -> Option<RuleFile> {
    let table = packed::unpack_table(packed)?;
    Some(read_tables(&table, layer, sound_reader(path, layer, None)))
}

/// Reads a rule of such a file; None where what was kept of it is damaged, no rule where it is about other events.
pub fn unpack_rule(
    id: &str,
    packed: &'static str,
    path: &Path,
    layer: Layer,
    only: Option<Kind>,
) -> Option<Option<Rc<Rule>>> {
    let table = packed::unpack_table(packed)?;
    let mut r = sound_reader(path, layer, only);
    // In its place from the start: a rule is long, and moving it costs as much as reading it.
    let mut rule = Rc::<Rule>::default();
    let own = Rc::get_mut(&mut rule)?;
    set_unsaid(own);
    (own.id, own.layer, own.line) = (id.to_string(), Some(layer), 1);
    let read = read_rule_table(&table, own, &mut r).is_some();
    std::mem::forget(table);
    r.faults.is_empty().then(|| read.then_some(rule))
}

fn sound_reader(path: &Path, layer: Layer, only: Option<Kind>) -> Reader<'_> {
    Reader { sound: true, ..file_reader("", path, layer, only) }
}

fn file_reader<'t>(text: &'t str, path: &'t Path, layer: Layer, only: Option<Kind>) -> Reader<'t> {
    let file = (!layer.is_project()).then_some(path);
    Reader { file, only, of_project: layer.is_project(), ..Reader::new(text) }
}

fn read_tables(table: &Table<'_>, layer: Layer, mut r: Reader<'_>) -> RuleFile {
    let mut file = RuleFile::default();
    for (key, value) in table {
        read_top_level(key, value, layer, &mut file, &mut r);
    }
    file.faults.append(&mut r.faults);
    file
}

fn read_top_level(
    key: &Key<'_>,
    value: &Item<'_>,
    layer: Layer,
    file: &mut RuleFile,
    r: &mut Reader<'_>,
) {
    let before = r.faults.len();
    let name = key.get_ref();
    match name {
        // A rule's faults cost that rule's events, not the whole file.
        "rule" => return read_rules_table(value, layer, file, r),
        "version" => check_version(value, r),
        "requires" => check_required(value, r),
        "profile" => file.profile = read_profile(value, layer, r),
        "autopilot" => file.autopilot = read_autopilot(value, layer, r),
        "soft_deny" => {
            ignored_here(key, layer, r);
            file.soft_deny = r.boolean(value);
        }
        "pack" => {
            ignored_here(key, layer, r);
            read_packs(value, file, r);
        }
        "override" => {
            ignored_here(key, layer, r);
            for (id, body) in r.table(value, name).into_iter().flatten() {
                read_override(id, body, file, r);
            }
        }
        "remote" => {
            r.private = true;
            for (name, body) in r.table(value, name).into_iter().flatten() {
                file.remotes.extend(remote::read_remote(name, body, r));
            }
            r.private = false;
        }
        "program" => {
            for (name, body) in r.table(value, name).into_iter().flatten() {
                file.programs.extend(super::program::read_program(name, body, r));
            }
        }
        // `case.rs` reads them, where they are asked for: here they cost nothing.
        "test" => {}
        "journal" => file.journal = read_journal(value, r),
        _ => unknown_at_top(key, r),
    }
    if r.faults[before..].iter().any(|f| f.gravity == Gravity::Error) {
        file.broken = KindSet::ALL;
    }
}

/// What a newer file says may mean what this program does not know: it says so, before its unknown keys do.
fn check_version(value: &Item<'_>, r: &mut Reader<'_>) {
    let Some(version) = r.integer(value, 1, u64::MAX) else { return };
    if version > VERSION {
        let own = env!("CARGO_PKG_VERSION");
        let message = format!(
            "the file is of version {version}, and this hookctl ({own}) reads version {VERSION}"
        );
        r.add_error("newer-version", message, value.span())
            .with_hint("install a newer hookctl, or write the file in version 1 and say so");
    }
}

/// What the file was written for: an older program would only stumble over a key that it does not know.
fn check_required(value: &Item<'_>, r: &mut Reader<'_>) {
    let Some((text, span)) = r.string(value) else { return };
    let own = env!("CARGO_PKG_VERSION");
    match version_numbers(text.trim_start_matches(">=")) {
        None => {
            r.add_error("newer-version", format!("`{text}` is no version"), span)
                .with_hint("write \">=0.2\" or \"0.2.1\": this one and all newer ones");
        }
        Some(wanted) if version_numbers(own).is_some_and(|own| own < wanted) => {
            let message = format!("the file wants hookctl {text}, and this is {own}");
            r.add_error("newer-version", message, span)
                .with_hint("`hookctl upgrade` says how to get a newer one");
        }
        Some(_) => {}
    }
}

/// A version of up to three numbers; those that are not said are 0.
fn version_numbers(text: &str) -> Option<[u32; 3]> {
    let mut numbers = [0; 3];
    for (at, part) in text.trim().split('.').enumerate() {
        *numbers.get_mut(at)? = part.parse().ok()?;
    }
    Some(numbers)
}

fn unknown_at_top(key: &Key<'_>, r: &mut Reader<'_>) {
    let name = key.get_ref();
    let hint = meant(name, TOP_KEYS.iter().map(|(key, _)| *key)).or_else(|| {
        known_in_rules()
            .any(|key| key == name)
            .then(|| "this belongs into a rule: put [rule.some-id] above it".into())
    });
    r.add_error("unknown-key", format!("unknown key `{name}`"), key.span()).hint = hint;
}

/// Every key of a rule.
fn known_in_rules() -> impl Iterator<Item = &'static str> {
    RULE_KEYS.iter().map(|(key, _)| *key).chain(condition::KEYS.iter().map(|key| key.name))
}

fn read_profile(value: &Item<'_>, layer: Layer, r: &mut Reader<'_>) -> Option<Profile> {
    let profile = r.one_of("profile", value, Profile::NAMES);
    if layer.is_project() && profile.is_some_and(|p| p < Profile::Strict) {
        r.add_error("only-tightens", "a project may only raise the profile", value.span())
            .with_hint("write \"strict\", or set it in your own config");
    }
    profile
}

fn read_rules_table(value: &Item<'_>, layer: Layer, file: &mut RuleFile, r: &mut Reader<'_>) {
    let Some(table) = r.table(value, "rule") else {
        // No rule of the file holds, so that any event may be one of theirs.
        file.broken = KindSet::ALL;
        return;
    };
    let most = if layer.is_project() { limits::PROJECT_RULES } else { limits::OWN_RULES };
    for (id, body) in table.iter().take(most) {
        read_rule(id, body, layer, file, r);
    }
    if let Some((id, _)) = table[..].get(most) {
        let message = format!("{} rules: {most} are the most in this file", table.len());
        r.add_error("too-many", message, id.span())
            .with_hint("put several patterns into one rule; those from here on do not hold");
        file.broken = KindSet::ALL;
    }
}

/// Warns of a table that counts in managed and user files only.
fn ignored_here(key: &Key<'_>, layer: Layer, r: &mut Reader<'_>) {
    if layer.is_project() {
        r.add_warning(
            "ignored-here",
            format!("`{}` counts in managed and user files only", key.get_ref()),
            key.span(),
        )
        .with_hint("a project tightens with rules of its own and with profile = \"strict\"");
    }
}

fn read_rule(id: &Key<'_>, body: &Item<'_>, layer: Layer, file: &mut RuleFile, r: &mut Reader<'_>) {
    let name = id.get_ref().to_string();
    let before = r.faults.len();
    r.rule = Some(name.clone());
    if name.is_empty()
        || !name.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    {
        r.add_error(
            "bad-id",
            format!("`{name}` is no id: lower-case letters, digits and dashes"),
            id.span(),
        );
    }
    let line = r.line_number(id.span().start);
    let mut rule = Rule { id: name, layer: Some(layer), line, ..Rule::default() };
    set_unsaid(&mut rule);
    let seen = match r.table(body, "rule") {
        Some(table) => read_rule_table(table, &mut rule, r),
        None => {
            default_events(&mut rule);
            Some(Seen::default())
        }
    };
    let Some(seen) = seen else {
        r.rule = None;
        return;
    };
    check_rule(&rule, &seen, id.span(), r);
    if r.only.is_none_or(|kind| rule.on.contains(kind)) {
        check_regexes(&rule, id.span(), r);
        check_scripts(&rule, id.span(), r);
    }
    let broken = r.faults[before..].iter().any(|f| f.gravity == Gravity::Error);
    r.rule = None;
    if broken {
        file.broken = file.broken.union(rule.on);
    } else {
        file.rules.push(Rc::new(rule));
    }
}

/// Sets what a rule is that says nothing of it, where that is no zero.
fn set_unsaid(rule: &mut Rule) {
    (rule.repeat, rule.priority) = (1, PRIORITY);
}

/// Reads what a rule says; None where it is about other events than the one at hand.
fn read_rule_table(table: &Table<'_>, rule: &mut Rule, r: &mut Reader<'_>) -> Option<Seen> {
    let mut seen = Seen::default();
    // The tool condition of a hook script has the client's matcher semantics.
    let mut matcher = false;
    // First what others hang on. Events say which regular expressions are worth compiling, and on the hook path a rule
    // of other events costs nothing more.
    if let Some(value) = table.get("on") {
        r.events(value, rule);
    }
    if r.only.is_some_and(|kind| rule.on_named && !rule.on.contains(kind)) {
        return None;
    }
    for (key, value) in table {
        match key.get_ref() {
            "hook" => matcher = true,
            "limit" => r.limit = r.duration(value),
            "remote" => seen.remote = true,
            "otherwise" => seen.otherwise = r.one_of("otherwise", value, OTHERWISE),
            "dialect" => seen.dialect = r.one_of("dialect", value, Dialect::NAMES),
            _ => {}
        }
    }
    for (key, value) in table {
        read_key(key, value, matcher, rule, &mut seen, r);
    }
    if rule.layer() != Layer::Pack {
        rule.conditions.list = rule.unless.as_ref().and_then(|unless| unless.as_list());
        // Shipped rules mean what the program itself does, not what `find -exec` or an alias of git starts.
        if let Some(unless) = &mut rule.unless {
            unless.around = true;
        }
    }
    r.limit = None;
    seen.set_verdict(rule);
    rule.conditions.stops = rule.verb().is_some_and(Verb::stops_call);
    default_events(rule);
    Some(seen)
}

/// What a rule's keys were, as far as they hang on each other and checks need it.
#[derive(Default)]
struct Seen {
    verdicts: Vec<(&'static str, Range<usize>)>,
    verdict: Option<(Verb, Template)>,
    run: Option<Command>,
    /// `continue = false`
    ends: bool,
    remote: bool,
    otherwise: Option<Otherwise>,
    dialect: Option<Dialect>,
    closed: bool,
    not_understood: bool,
    danger: Vec<String>,
}

impl Seen {
    /// What a failing script or server amounts to.
    fn failure_fallback(&self) -> Otherwise {
        let usual = if self.remote { Otherwise::Ask } else { Otherwise::Silent };
        self.otherwise.unwrap_or(usual)
    }

    /// How the script answers: as the rule says, else as the script is known to.
    fn script_dialect(&self, script: &Command) -> Dialect {
        self.dialect.unwrap_or_else(|| Dialect::from_script(script.script.source()))
    }

    /// The verdict that its keys make together. What an allow has no room for is left.
    fn set_verdict(&mut self, rule: &mut Rule) {
        let danger = std::mem::take(&mut self.danger);
        rule.verdict = match self.verdict.take() {
            None => Verdict::None { run: self.run.take() },
            Some((verb, reason)) if self.not_understood => {
                Verdict::NotUnderstood { verb, reason, danger }
            }
            Some((Verb::Allow, reason)) => Verdict::Allow { reason, closed: self.closed },
            Some((verb, reason)) => {
                let verb = if self.ends && verb == Verb::Deny { Verb::Halt } else { verb };
                Verdict::Stop { verb, reason, run: self.run.take() }
            }
        };
    }
}

fn read_key(
    key: &Key<'_>,
    value: &Item<'_>,
    matcher: bool,
    rule: &mut Rule,
    seen: &mut Seen,
    r: &mut Reader<'_>,
) {
    let name = key.get_ref();
    // Most keys are conditions'.
    let matches = matcher && name == "tool";
    if !matches && rule.conditions.read_key(name, value, r) {
        return;
    }
    match name {
        // They were read first.
        "on" | "limit" | "dialect" | "otherwise" => {}
        "unless" => {
            if let Some(table) = r.table(value, name) {
                rule.unless = Some(read_unless(table, value.span(), r));
            }
        }
        "run" => seen.run = r.command(value),
        "continue" => seen.ends = r.boolean(value) == Some(false),
        _ if matches => rule.conditions.tool = r.matchers(value),
        _ => {
            let known = read_verdict(key, value, seen, r)
                || read_action(name, value, rule, seen, r)
                || read_degree(key, value, rule, r)
                || rule.layer() == Layer::Pack && read_shipped(name, value, rule, seen, r);
            if !known {
                r.unknown_key(name, key.span(), known_in_rules());
            }
        }
    }
}

/// Reads a verdict. False = the key is none.
fn read_verdict(key: &Key<'_>, value: &Item<'_>, seen: &mut Seen, r: &mut Reader<'_>) -> bool {
    let name = key.get_ref();
    let found = match name {
        "block" => Some(("block", Verb::Deny)),
        _ => Verb::NAMES.iter().copied().find(|(word, _)| *word == name),
    };
    let Some((written, verb)) = found else { return false };
    seen.verdicts.push((written, key.span()));
    if let Some(template) = r.template(value) {
        seen.verdict = Some((verb, template));
    }
    true
}

fn read_unless(table: &Table<'_>, span: Range<usize>, r: &mut Reader<'_>) -> Box<Conditions> {
    let mut unless = Box::<Conditions>::default();
    let before = r.faults.len();
    for (key, value) in table {
        if !unless.read_key(key.get_ref(), value, r) {
            r.unknown_key(key.get_ref(), key.span(), condition::KEYS.iter().map(|key| key.name));
        }
    }
    // Each of no conditions holds: the rule would be excepted everywhere.
    if r.faults.len() == before && unless.ask_nothing() {
        let message = "an `unless` without a condition always holds: the rule never speaks";
        r.add_error("empty-table", message, span)
            .with_hint("leave it out, or say what is excepted: unless = { path = \"./x/\" }");
    }
    unless
}

/// Reads what the rule does beside its verdict. False = the key says nothing of that.
fn read_action(
    name: &str,
    value: &Item<'_>,
    rule: &mut Rule,
    seen: &Seen,
    r: &mut Reader<'_>,
) -> bool {
    let action = match name {
        "rewrite" => r.fields(value).map(Action::Rewrite),
        "replace" => r.fields(value).map(Action::Replace),
        "redact" => match value.get_ref() {
            TreeValue::Boolean(on) => on.then_some(Action::Redact(Redact::Secrets)),
            _ => Some(Action::Redact(Redact::Patterns(r.regexes(value)))),
        },
        "context" => r.text_source(value, true).map(Action::Context),
        "notify" => r.text_source(value, false).map(Action::Notify),
        "hook" => read_hook(value, seen, r),
        "suppress_output" => r.boolean(value).filter(|on| *on).map(|_| Action::Suppress),
        "mark" => Some(condition::read_marks(value, r)).filter(|m| !m.is_empty()).map(Action::Mark),
        "env" => Some(read_env(value, r)).filter(|env| !env.is_empty()).map(Action::Env),
        "remote" => {
            let otherwise = seen.failure_fallback();
            r.string(value).map(|(server, _)| Action::Remote { server, otherwise })
        }
        _ => return false,
    };
    rule.actions.extend(action);
    true
}

/// Reads `hook`: a command, or a table that names settings files.
fn read_hook(value: &Item<'_>, seen: &Seen, r: &mut Reader<'_>) -> Option<Action> {
    let otherwise = seen.failure_fallback();
    let TreeValue::Table(table) = value.get_ref() else {
        return read_script(value, seen, r);
    };
    if table.get("command").is_some() {
        return read_script(value, seen, r);
    }
    let mut files = Vec::new();
    for (key, value) in table {
        match key.get_ref() {
            "settings" => files.extend(r.strings(value).into_iter().map(|(file, _)| file)),
            other => r.unknown_key(other, key.span(), ["settings", "command"]),
        }
    }
    if files.iter().any(String::is_empty) || table.is_empty() {
        r.add_error("empty-table", "no settings file is named", value.span())
            .with_hint("write { settings = \"~/.claude/settings.json\" }");
        return None;
    }
    Some(Action::HookSettings { files, limit: r.limit, otherwise })
}

/// Reads the one script of `hook`.
fn read_script(value: &Item<'_>, seen: &Seen, r: &mut Reader<'_>) -> Option<Action> {
    let (otherwise, command) = (seen.failure_fallback(), r.command(value)?);
    Some(Action::Hook { dialect: seen.script_dialect(&command), otherwise, command })
}

fn read_env(value: &Item<'_>, r: &mut Reader<'_>) -> Vec<(String, Template)> {
    let mut env = Vec::new();
    for (name, value) in r.table(value, "env").into_iter().flatten() {
        let text = name.get_ref();
        let good = !text.is_empty()
            && !text.starts_with(|c: char| c.is_ascii_digit())
            && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        if !good {
            r.add_error("bad-name", format!("`{text}` is no name of a variable"), name.span());
        }
        env.extend(r.template(value).map(|template| (text.to_string(), template)));
    }
    env
}

/// Reads how grave the rule is, and how much it is enforced. False = the key says nothing of that.
fn read_degree(key: &Key<'_>, value: &Item<'_>, rule: &mut Rule, r: &mut Reader<'_>) -> bool {
    let name = key.get_ref();
    match name {
        "mode" => rule.mode = r.one_of(name, value, RuleMode::NAMES).unwrap_or_default(),
        "severity" => {
            rule.severity = r.one_of(name, value, Severity::NAMES).unwrap_or_default();
        }
        "certainty" if rule.layer() != Layer::Pack => {
            const NAMES: &[(&str, Certainty)] =
                &[("possible", Certainty::Possible), ("certain", Certainty::Profile)];
            rule.certainty = r.one_of(name, value, NAMES).unwrap_or_default();
        }
        "priority" => {
            let priority = r.integer(value, 0, HIGHEST.into());
            rule.priority = priority.map_or(PRIORITY, |priority| priority as u8);
        }
        "question" => rule.question = r.template(value),
        "repeat" => rule.repeat = r.integer(value, 1, limits::REPEAT).unwrap_or(1) as u32,
        "lock" => {
            let managed = rule.layer() == Layer::Managed;
            let lock = r.boolean(value).unwrap_or_default();
            rule.stays = lock && managed;
            if lock && !managed {
                let message = "lock has a meaning in the managed file only";
                r.add_warning("lock-ignored", message, key.span());
            }
        }
        _ => return false,
    }
    true
}

/// Reads what shipped rules alone say. False = they say nothing by that key either.
fn read_shipped(
    name: &str,
    value: &Item<'_>,
    rule: &mut Rule,
    seen: &mut Seen,
    r: &mut Reader<'_>,
) -> bool {
    match name {
        "certainty" => {
            // Only on what was not understood: the shipped rule `not-understood`.
            const NAMES: &[(&str, Option<Certainty>)] =
                &[("possible", Some(Certainty::Possible)), ("unknown", None)];
            let certainty = r.one_of(name, value, NAMES);
            seen.not_understood = certainty == Some(None);
            rule.certainty = certainty.flatten().unwrap_or_default();
        }
        // What profile `strict` adds by this rule: for people, `hookctl packs` shows it.
        "strict" => rule.certainty = Certainty::Strict,
        "danger" => {
            seen.danger = r.strings(value).into_iter().map(|(text, _)| text).collect();
        }
        "always" => rule.stays = r.boolean(value).unwrap_or_default(),
        "closed" => seen.closed = r.boolean(value).unwrap_or_default(),
        _ => return false,
    }
    true
}

/// Without `on` the keys decide.
fn default_events(rule: &mut Rule) {
    if rule.on_named {
        return;
    }
    let gate = KindSet::from_kinds(&[Kind::PreToolUse, Kind::PermissionRequest]);
    rule.on = if let Some(kind) = rule.conditions.event_meant() {
        KindSet::from_kinds(&[kind])
    } else if rule.actions.iter().any(Action::is_of_the_response) {
        KindSet::from_kinds(&[Kind::PostToolUse])
    } else {
        match rule.verb() {
            Some(Verb::Deny | Verb::Allow | Verb::Halt) => gate,
            _ => KindSet::from_kinds(&[Kind::PreToolUse]),
        }
    };
}
