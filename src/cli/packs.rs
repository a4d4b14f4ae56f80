//! `hookctl packs`: the rules that ship, and what managed and user files make of them.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Value, json};
use toml::de::DeTable;

use super::args::{PackName, PacksArgs, PacksCommand};
use super::install::fold_words;
use super::{
    BOLD, Context, Exit, FAINT, GREEN, RED, YELLOW, display_path, print, print_json, print_stderr,
    written,
};
use crate::config::standing::{FileOverride, RuleChange, Standing, Weight};
use crate::config::{Config, LayerFile};
use crate::rule::fault::{did_you_mean, position_at};
use crate::rule::packed::TreeValue;
use crate::rule::shipped::{AUTOPILOT, PACKS, RULES, Shipped};
use crate::rule::{Profile, Rule, Template};
use crate::verdict::Verb;

/// The width of what is folded.
const WIDTH: usize = 84;

/// Prints the list, a pack or a rule.
///
/// # Errors
/// Where stdout cannot be written.
pub fn run(context: &Context, args: &PacksArgs) -> Result<Exit> {
    let config = Config::load(&context.paths, &context.root, None);
    let view = View { context, config: &config, standings: config.standing_rules() };
    let (text, value) = match &args.command {
        None | Some(PacksCommand::List(_)) => (view.list_packs(), view.list_value()),
        Some(PacksCommand::Show(PackName { id })) => {
            let Some(shown) = view.show(id) else { return Ok(unknown(id)) };
            shown
        }
    };
    match args.json {
        true => print_json(&value),
        false => print(&text),
    }
}

fn unknown(id: &str) -> Exit {
    let known = PACKS.iter().map(|(name, _)| *name);
    let hint = match did_you_mean(id, known.chain(RULES.iter().map(|one| one.id))) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "`hookctl packs` lists the packs".into(),
    };
    print_stderr(&format!("no pack and no shipped rule is called `{id}`: {hint}"));
    Exit::Found
}

/// The packs that are off and the rules that are off by themselves, by name.
pub(super) fn switched_off(config: &Config) -> (Vec<&'static str>, Vec<&'static str>) {
    // Who never switched the autopilot on has switched nothing off.
    let counts = |pack: &str| pack != AUTOPILOT || config.active_autopilot().is_some();
    let packs = PACKS.iter().map(|(name, _)| *name);
    let packs: Vec<&str> =
        packs.filter(|name| counts(name) && !config.pack_state(name).0).collect();
    let off =
        config.standing_rules().into_iter().filter(|one| !one.enabled && counts(one.shipped.pack));
    let off = off.map(|one| one.shipped).filter(|one| !packs.contains(&one.pack));
    let rules = off.map(|one| one.id).collect();
    (packs, rules)
}

struct View<'a> {
    context: &'a Context,
    config: &'a Config,
    standings: Vec<Standing<'a>>,
}

impl View<'_> {
    fn pack_rules<'s>(&'s self, pack: &'s str) -> impl Iterator<Item = &'s Standing<'s>> {
        self.standings.iter().filter(move |one| one.shipped.pack == pack)
    }

    /// The pack or rule of that name, for people and for programs.
    fn show(&self, id: &str) -> Option<(String, Value)> {
        if let Some((name, sentence)) = PACKS.iter().find(|(name, _)| *name == id) {
            return Some((self.render_pack(name, sentence), self.pack_value(name, sentence, true)));
        }
        let one = self.standings.iter().find(|one| one.shipped.id == id)?;
        Some((self.render_rule(one), self.rule_value(one)))
    }

    fn is_observing(&self, rule: &Rule) -> bool {
        rule.is_observed(self.config.profile)
    }

    // ---- for people -----------------------------------------------------------------------

    fn list_packs(&self) -> String {
        let mut packs = PACKS.to_vec();
        crate::order::sort(&mut packs);
        let mut text = String::new();
        if let Some(line) = self.profile_line() {
            let _ = writeln!(text, "{line}\n");
        }
        for (name, sentence) in packs {
            let indent = " ".repeat(23);
            let words: Vec<&str> = sentence.split(' ').collect();
            let sentence = fold_words(&words, WIDTH - 10, &indent);
            let _ = writeln!(text, "{}\n{indent}{sentence}", self.pack_line(name));
        }
        let _ = writeln!(
            text,
            "\n{} packs, {} rules. `hookctl packs show ID` shows a pack or a rule.",
            PACKS.len(),
            RULES.len()
        );
        text.push_str("\n`strict` adds these, which ask about what is only possible, too:\n\n");
        for one in &self.standings {
            for_each_condition(one.shipped, &mut |key, purpose| {
                if key == "strict" {
                    let words: Vec<&str> = purpose.split(' ').collect();
                    let _ = writeln!(
                        text,
                        "  {:<20} {}",
                        one.shipped.id,
                        fold_words(&words, WIDTH - 10, &" ".repeat(23))
                    );
                }
            });
        }
        text
    }

    /// Where the profile is not the usual one: what it does.
    fn profile_line(&self) -> Option<String> {
        let (profile, from) = self.config.profile_from();
        let what = match profile {
            Profile::Guard => return None,
            Profile::Observe => "no shipped rule is enforced, all are journalled",
            Profile::Strict => "some rules fire on possible effects, too",
        };
        let from = from.map(|source| format!(" ({})", self.source_position(source, &["profile"])));
        let name = self.context.paint(YELLOW, &format!("profile {}", profile.name()));
        Some(format!("{name}: {what}{}", from.unwrap_or_default()))
    }

    /// Name, on or off, rules by verdict, what files change.
    fn pack_line(&self, name: &str) -> String {
        let (on, from) = self.config.pack_state(name);
        let word =
            if on { self.context.paint(GREEN, "on ") } else { self.context.paint(RED, "off") };
        let mut line = format!("{} {word}  ", self.context.paint(BOLD, &format!("{name:<17}")));
        let mut verdicts: BTreeMap<Verb, usize> = BTreeMap::new();
        for verb in self.pack_rules(name).filter_map(|one| one.rule.verb()) {
            *verdicts.entry(verb).or_default() += 1;
        }
        let counts = verdicts.iter().rev().map(|(verb, many)| format!("{many} {}", verb.name()));
        line.push_str(&counts.collect::<Vec<_>>().join(", "));
        let enabled = self.pack_rules(name).filter(|one| one.enabled);
        let changes = match on {
            true => [
                ("switched off", self.pack_rules(name).filter(|one| !one.enabled).count()),
                ("overridden", enabled.filter(|one| one.is_overridden()).count()),
            ],
            false => [("kept on", enabled.count()), ("", 0)],
        };
        let changes = changes.iter().filter(|(_, many)| *many > 0);
        let changes: String = changes.map(|(what, many)| format!(", {many} {what}")).collect();
        line.push_str(&self.context.paint(YELLOW, &changes));
        if let Some(source) = from {
            let place = self.source_position(source, &["pack", name]);
            line.push_str(&self.context.paint(FAINT, &format!("  ({place})")));
        }
        line
    }

    fn render_pack(&self, name: &str, sentence: &str) -> String {
        let mut text = format!("{}\n{sentence}\n", self.pack_line(name));
        if let Some(line) = self.profile_line() {
            let _ = writeln!(text, "{line}");
        }
        for one in self.pack_rules(name) {
            let _ = write!(text, "\n{}", self.render_entry(one));
        }
        let _ = writeln!(
            text,
            "\n`hookctl packs show RULE` shows how to change one. All of it off, in {}:\n\n    \
             [pack]\n    {name} = false",
            display_path(self.context, &self.context.paths.user_config())
        );
        text
    }

    /// A rule of a pack: verdict, reason, conditions, what files change.
    fn render_entry(&self, one: &Standing<'_>) -> String {
        let mut text = format!("{}  {}\n", self.render_head(one), one.own.severity.name());
        let mut body = String::new();
        for_each_condition(one.shipped, &mut |key, value| match key {
            "deny" | "ask" | "allow" => body.insert_str(0, &fold_key_value("", value)),
            "severity" | "danger" | "always" => {}
            key => body.push_str(&fold_key_value(key, value)),
        });
        text.push_str(&body);
        for line in self.change_lines(one, false) {
            let _ = writeln!(text, "    {:<10}{line}", "changed");
        }
        text
    }

    fn render_head(&self, one: &Standing<'_>) -> String {
        let verb = one.rule.verb().map_or("-", Verb::name);
        let sgr = match verb {
            "deny" => RED,
            "allow" => GREEN,
            _ => YELLOW,
        };
        let id = self.context.paint(BOLD, &format!("{:<22}", one.shipped.id));
        let word = match (one.enabled, self.is_observing(&one.rule)) {
            (false, _) => self.context.paint(FAINT, "off"),
            (true, true) => self.context.paint(FAINT, &format!("{verb} (observed)")),
            (true, false) => self.context.paint(sgr, verb),
        };
        format!("{id} {word}")
    }

    /// What files say of the rule and, where that is asked for, what switches its pack off.
    fn change_lines(&self, one: &Standing<'_>, pack: bool) -> Vec<String> {
        let line = |said: &FileOverride<'_>| {
            let path: &[&str] = match said.change {
                RuleChange::Pack(_) => &["pack", one.shipped.pack],
                change => &["override", one.shipped.id, change.key()],
            };
            let place = self.source_position(said.source, path);
            let weight = match said.weight {
                Weight::Counts => String::new(),
                other => self
                    .context
                    .paint(YELLOW, &format!("; does not count: {}", describe_weight(other))),
            };
            let place = self.context.paint(FAINT, &format!("({place})"));
            format!("{} {place}{weight}", said.as_override_text(one.shipped))
        };
        let tells = |said: &&FileOverride<'_>| match said.change {
            RuleChange::Pack(on) => pack && !on,
            _ => true,
        };
        one.said.iter().filter(tells).map(line).collect()
    }

    fn render_rule(&self, one: &Standing<'_>) -> String {
        let (shipped, rule) = (one.shipped, &one.rule);
        let pack = format!("pack {}", shipped.pack);
        let mut text = format!("{}  {}, {pack}\n\n", self.render_head(one), rule.severity.name());
        let _ = writeln!(text, "{}\n", shipped.text());
        if rule.severity == crate::rule::Severity::Critical {
            text.push_str("Critical: it fires on what is only possible, too.\n");
        }
        if let Some(line) = self.profile_line() {
            let _ = writeln!(text, "{line}");
        }
        let changes = self.change_lines(one, true);
        if changes.is_empty() {
            text.push_str("No file changes it.");
        } else {
            text.push_str("Changed by\n");
            for line in changes {
                let _ = writeln!(text, "    {line}");
            }
        }
        let other = match one.own.verb() {
            Some(Verb::Ask) => "deny",
            _ => "ask",
        };
        let _ = write!(
            text,
            "\nTo change it, in {} (one of these is enough):\n\n    [override.{}]\n    \
             action = \"{other}\"\n    severity = \"{}\"\n    mode = \"observe\"     # only journal\n    \
             enabled = false      # off\n",
            display_path(self.context, &self.context.paths.user_config()),
            shipped.id,
            if one.own.severity.name() == "high" { "critical" } else { "high" },
        );
        text
    }

    /// The file, and the line where that key stands in it.
    fn source_position(&self, source: &LayerFile, key: &[&str]) -> String {
        let file = display_path(self.context, &source.path);
        match find_key_line(&source.text, key) {
            Some(line) => format!("{file}:{line}"),
            None => file,
        }
    }

    // ---- for programs ---------------------------------------------------------------------

    fn list_value(&self) -> Value {
        let packs = PACKS.iter().map(|(name, sentence)| self.pack_value(name, sentence, false));
        let (profile, from) = self.config.profile_from();
        json!({
            "profile": profile.name(),
            "profile_from": from.map(|source| &source.path),
            "packs": packs.collect::<Vec<_>>(),
        })
    }

    fn pack_value(&self, name: &str, sentence: &str, whole: bool) -> Value {
        let (enabled, from) = self.config.pack_state(name);
        let rules = self.pack_rules(name).map(|one| match whole {
            true => self.rule_value(one),
            false => json!({ "id": one.shipped.id, "enabled": one.enabled }),
        });
        json!({
            "id": name,
            "description": sentence,
            "enabled": enabled,
            "enabled_from": from.map(|source| &source.path),
            "rules": rules.collect::<Vec<_>>(),
        })
    }

    fn rule_value(&self, one: &Standing<'_>) -> Value {
        let state = |rule: &Rule| {
            let verb = rule.verb().map_or("", Verb::name);
            let reason = rule.verdict.reason().map_or("", Template::source);
            (verb, reason.to_string(), rule.severity.name())
        };
        let (verdict, reason, severity) = state(&one.rule);
        let (own_verdict, _, own_severity) = state(&one.own);
        let changes = one.said.iter().map(|said| {
            json!({
                "file": said.source.path,
                "layer": said.source.layer.name(),
                "key": said.change.key(),
                "value": said.value(one.shipped),
                "counts": said.weight == Weight::Counts,
            })
        });
        json!({
            "id": one.shipped.id,
            "pack": one.shipped.pack,
            "enabled": one.enabled,
            "enforced": one.enabled && !self.is_observing(&one.rule),
            "verdict": verdict,
            "severity": severity,
            "reason": reason,
            "shipped": { "verdict": own_verdict, "severity": own_severity, "text": one.shipped.text() },
            "changes": changes.collect::<Vec<_>>(),
        })
    }
}

const fn describe_weight(weight: Weight) -> &'static str {
    match weight {
        Weight::Counts => "",
        Weight::Settled => "settled already by a higher file, or by the rule's own override",
        Weight::Held => "the managed file holds the rule, and this would loosen it",
    }
}

/// A key with its value in lines that are folded.
fn fold_key_value(key: &str, value: &str) -> String {
    let words: Vec<&str> = value.split(' ').collect();
    match key {
        "" => format!("    {}\n", fold_words(&words, WIDTH, "    ")),
        _ => format!("    {key:<10}{}\n", fold_words(&words, WIDTH - 10, &" ".repeat(14))),
    }
}

/// The keys of a rule with their values in short.
fn for_each_condition(rule: &Shipped, take: &mut dyn FnMut(&str, &str)) {
    fn short_value(found: &TreeValue<'_>) -> String {
        match found {
            TreeValue::String(text) => text.to_string(),
            TreeValue::Patterns(_) => String::new(),
            TreeValue::Boolean(flag) => flag.to_string(),
            TreeValue::Array(items) => {
                items.iter().map(|item| short_value(item.get_ref())).collect::<Vec<_>>().join(", ")
            }
            TreeValue::Table(table) => {
                let pairs = table.iter().map(|(key, found)| {
                    format!("{} {}", key.get_ref(), short_value(found.get_ref()))
                });
                pairs.collect::<Vec<_>>().join("; ")
            }
            TreeValue::Other(other) => {
                other.as_integer().map(|number| number.as_str().to_string()).unwrap_or_default()
            }
        }
    }
    for (key, found) in rule.table().iter().flatten() {
        take(key.get_ref(), &short_value(found.get_ref()));
    }
}

/// The line where a key of a file stands, from 1.
fn find_key_line(text: &str, path: &[&str]) -> Option<usize> {
    let table = DeTable::parse(text).ok()?;
    written::find(table.get_ref(), path).map(|(span, _)| position_at(text, span.start).line)
}
