//! The tables of a rule file beside `[rule]`: what they hold and how they are read.

use std::ops::Range;

use crate::rule::command::CommandPattern;
use crate::rule::fault::meant;
use crate::rule::reader::{Item, Key, Reader, TreeValue};
use crate::rule::shipped;
use crate::rule::template::Template;
use crate::rule::{Layer, Otherwise, PatternList, RuleMode, Severity};
use crate::verdict::Verb;

use super::RuleFile;

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
    /// Where it is enforced.
    pub mode: Option<RuleMode>,
    /// Another reason, for whoever is told.
    pub reason: Option<Template>,
    /// Where in the file.
    pub span: Range<usize>,
}

/// Whether harmless commands are allowed, and which of them build and test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Autopilot {
    /// False = switched off.
    pub on: bool,
    /// In place of the shipped list of build and test commands.
    pub commands: Option<PatternList<CommandPattern>>,
    /// On top of it.
    pub also: PatternList<CommandPattern>,
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

/// What may be said of a shipped rule.
const OVERRIDE_KEYS: &[&str] = &["action", "severity", "enabled", "mode", "reason"];

pub(super) fn read_override(
    id: &Key<'_>,
    body: &Item<'_>,
    file: &mut RuleFile,
    r: &mut Reader<'_>,
) {
    let Some(table) = r.table(body, "override") else { return };
    let mut out = Override { id: id.get_ref().to_string(), span: id.span(), ..Override::default() };
    for (key, value) in table {
        match key.get_ref() {
            "action" => out.action = read_action(value, r),
            "severity" => out.severity = r.one_of("severity", value, Severity::NAMES),
            "enabled" => out.enabled = r.boolean(value),
            "mode" => out.mode = r.one_of("mode", value, RuleMode::NAMES),
            "reason" => out.reason = r.template(value),
            other => r.unknown_key(other, key.span(), OVERRIDE_KEYS.iter().copied()),
        }
    }
    if !shipped::RULES.iter().any(|rule| rule.id == out.id) {
        let others = || "`hookctl packs show PACK` lists a pack's rules".into();
        let hint = meant(&out.id, shipped::RULES.iter().map(|rule| rule.id));
        r.add_warning("unknown-rule", format!("no shipped rule is called `{}`", out.id), id.span())
            .with_hint(hint.unwrap_or_else(others));
    }
    file.overrides.push(out);
}

/// A shipped rule may ask where it denied, and the other way round. As an allow its conditions would
/// let pass everything that they were written to stop.
fn read_action(value: &Item<'_>, r: &mut Reader<'_>) -> Option<Verb> {
    const NAMES: &[(&str, Verb)] = &[("deny", Verb::Deny), ("ask", Verb::Ask)];
    let (text, span) = r.string(value)?;
    let found = NAMES.iter().find(|(name, _)| *name == text).map(|(_, verb)| *verb);
    if found.is_none() {
        let hint = "write \"deny\" or \"ask\"; `enabled = false` switches the rule off, \
                    `mode = \"observe\"` only journals";
        let message = format!("`{text}` is no action of a shipped rule");
        r.add_error("bad-action", message, span).with_hint(hint);
    }
    found
}

/// `[pack]`: name and on or off.
pub(super) fn read_packs(value: &Item<'_>, file: &mut RuleFile, r: &mut Reader<'_>) {
    let Some(table) = r.table(value, "pack") else { return };
    for (name, on) in table {
        let known = || shipped::PACKS.iter().map(|(known, _)| *known);
        let text = name.get_ref();
        if known().all(|known| known != text) {
            let others = || "`hookctl packs` lists them".into();
            r.add_warning("unknown-pack", format!("no pack is called `{text}`"), name.span())
                .with_hint(meant(text, known()).unwrap_or_else(others));
        }
        if let Some(on) = r.boolean(on) {
            file.packs.push((text.to_string(), on));
        }
    }
}

/// What a failing script or server amounts to: `otherwise`.
pub(super) const OTHERWISE: &[(&str, Otherwise)] = &[
    ("silent", Otherwise::Silent),
    ("silence", Otherwise::Silent),
    ("ask", Otherwise::Ask),
    ("deny", Otherwise::Deny),
];

pub(super) fn read_journal(value: &Item<'_>, r: &mut Reader<'_>) -> Option<JournalConfig> {
    let table = r.table(value, "journal")?;
    let mut out = JournalConfig::default();
    for (key, value) in table {
        match key.get_ref() {
            "enabled" => out.enabled = r.boolean(value).unwrap_or(true),
            "max_size_mb" => out.max_size = r.integer(value, 1, 1024).unwrap_or(10) << 20,
            "keep" => out.keep = r.integer(value, 0, 100).unwrap_or(3) as u32,
            other => r.unknown_key(other, key.span(), ["enabled", "max_size_mb", "keep"]),
        }
    }
    Some(out)
}

/// `autopilot = true`, or `{ commands = [...], also = [...] }`: never from a repository.
pub(super) fn read_autopilot(
    value: &Item<'_>,
    layer: Layer,
    r: &mut Reader<'_>,
) -> Option<Autopilot> {
    let mut out = Autopilot { on: true, ..Autopilot::default() };
    let before = r.faults.len();
    match value.get_ref() {
        TreeValue::Table(table) => {
            for (key, value) in table {
                match key.get_ref() {
                    "commands" => out.commands = Some(r.commands(value)),
                    "also" => out.also = r.commands(value),
                    other => r.unknown_key(other, key.span(), ["commands", "also"]),
                }
            }
        }
        _ => out.on = r.boolean(value)?,
    }
    // A list that cannot be read is none that could be allowed.
    out.on &= r.faults.len() == before;
    if layer.is_project() {
        if out.on {
            r.add_warning(
                "only-tightens",
                "a project cannot switch the autopilot on: this is ignored",
                value.span(),
            )
            .with_hint("set it in your own config");
        }
        return None;
    }
    Some(out)
}
