//! The explanation itself: where, effects, every rule considered, the verdict, the bytes.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::considered::Considered;
use super::event::output_lines;
use crate::agent::Output;
use crate::agent::settled;
use crate::cli::install::fold_words;
use crate::cli::{
    BOLD, Context, FAINT, GREEN, RED, YELLOW, display_path, flatten_lines, indent_following_lines,
    one_line,
};
use crate::config::Config;
use crate::dry::Dry;
use crate::effect::{Effect, Grade, SubCommand};
use crate::verdict::Verb;

/// Everything that is known of the judgement.
pub(super) struct Explanation<'a> {
    pub(super) dry: &'a Dry,
    pub(super) config: &'a Config,
    pub(super) output: &'a Output,
}

impl Explanation<'_> {
    pub(super) fn collect_notes(&self, rules: &[Considered]) -> Vec<String> {
        let mut notes = self.dry.analysis.notes.clone();
        for note in self.dry.judgement.notes.iter().chain(&self.config.warnings) {
            if !notes.contains(note) {
                notes.push(note.clone());
            }
        }
        if self.dry.paused {
            notes.push("paused: rules are judged and not enforced, but for those that guard hookctl itself".into());
        }
        let uncovered = self.uncovered_effects(rules);
        let allowed = rules.iter().any(|rule| rule.matched && rule.verdict == "allow");
        if !uncovered.is_empty() {
            let all: Vec<String> = uncovered.iter().map(|at| self.effect_name(*at)).collect();
            notes.push(format!("the allow does not hold, nothing covers {}", all.join(", ")));
        } else if allowed && self.dry.judgement.answer.verb.is_none() && !self.dry.paused {
            notes.push(self.possible_stop_note());
        }
        notes
    }

    /// An effect in short: `delete /root`.
    pub(super) fn effect_name(&self, at: usize) -> String {
        let effect = &self.dry.analysis.effects[at];
        let program = || effect.command.and_then(|at| self.dry.analysis.commands.get(at));
        let object = effect.object_text().or_else(|| program().map(|command| command.name.clone()));
        match object {
            Some(object) => format!("{} {}", effect.word.text(), flatten_lines(&object)),
            None => effect.word.text().to_string(),
        }
    }

    pub(super) fn effect_snippet(&self, effect: &Effect) -> Option<&str> {
        self.dry.analysis.text.get(effect.span.clone()).filter(|text| !text.is_empty())
    }

    // ---- for people -----------------------------------------------------------------------

    pub(super) fn render_text(&self, context: &Context, verbose: bool) -> String {
        let rules = self.considered_rules();
        let mut out = self.render_short(context, &rules);
        if verbose {
            out.push('\n');
            out.push_str(&self.render_sections(context, &rules));
        }
        out
    }

    /// The verdict that may come, the strictest of those that wait for a command included.
    pub(super) fn strictest_verb(&self) -> Option<Verb> {
        let judgement = &self.dry.judgement;
        judgement.pending.iter().filter_map(|one| one.verb).chain(judgement.answer.verb).max()
    }

    fn render_sections(&self, context: &Context, rules: &[Considered]) -> String {
        let mut out = String::new();
        let mut section = |name: &str, lines: &[String]| {
            for (at, line) in lines.iter().enumerate() {
                let name = if at == 0 { name } else { "" };
                let line = indent_following_lines(line, 10);
                let _ = writeln!(out, "{} {line}", context.paint(BOLD, &format!("{name:<9}")));
            }
        };
        section("where", &self.where_lines(context));
        section("event", &[self.event_line()]);
        if let Some(command) = self.dry.event.command() {
            section("command", &[one_line(command, 400)]);
        }
        section("runs", &self.command_lines(context));
        let effects = self.effect_lines(context);
        let nothing = vec![context.paint(FAINT, "none")];
        let shown =
            if effects.is_empty() && self.dry.event.kind.is_tool() { &nothing } else { &effects };
        section("effects", shown);
        section("rules", &self.rule_lines(context, rules));
        section("answer", &output_lines(self.output));
        out
    }

    fn where_lines(&self, context: &Context) -> Vec<String> {
        let place = &self.dry.place;
        let mut lines = vec![format!("project {}", flatten_lines(&place.project))];
        if place.cwd != place.project {
            lines.push(format!("cwd     {}", flatten_lines(&place.cwd)));
        }
        for source in &self.config.sources {
            let state = match (&source.refused, source.describe_trust()) {
                (Some(_), _) => context.paint(RED, "  refused"),
                (_, "") if source.file.has_errors() => context.paint(RED, "  has faults"),
                (_, "") => String::new(),
                (_, trust) if source.holds_whole() => format!("  {trust}"),
                (_, trust) => context.paint(YELLOW, &format!("  {trust}")),
            };
            let path = display_path(context, &source.path);
            let layer = source.layer.name();
            lines.push(format!("{layer:<7} {path}  {}{state}", source.describe_content()));
        }
        lines.push(format!("profile {}", self.config.profile.name()));
        if self.config.active_autopilot().is_some() {
            lines.push("autopilot on".into());
        }
        lines
    }

    fn event_line(&self) -> String {
        let mut line = if self.dry.event.name.is_empty() {
            "(unnamed)".to_string()
        } else {
            one_line(&self.dry.event.name, 80)
        };
        if self.dry.event.kind == crate::event::Kind::Other {
            line.push_str(" (not known to this version)");
        }
        for part in [&self.dry.event.tool, self.dry.event.file_path().unwrap_or_default()] {
            if !part.is_empty() {
                line.push(' ');
                line.push_str(&one_line(part, 200));
            }
        }
        let _ = write!(line, "  ({})", self.dry.agent.title());
        line
    }

    fn command_lines(&self, context: &Context) -> Vec<String> {
        let commands = &self.dry.analysis.commands;
        let depth = |command: &SubCommand| {
            let mut depth = 0;
            let mut at = command.parent;
            while let Some(parent) = at.and_then(|at| commands.get(at)).filter(|_| depth < 16) {
                depth += 1;
                at = parent.parent;
            }
            depth
        };
        commands
            .iter()
            .map(|command| {
                let name = match command.name.as_str() {
                    "" => "(known at run time)",
                    name => name,
                };
                let args = command.args.iter().map(|arg| arg.text.as_deref().unwrap_or("(?)"));
                let words: Vec<&str> = std::iter::once(name).chain(args).collect();
                let line = format!("{}{}", "  ".repeat(depth(command)), words.join(" "));
                let mut marks = Vec::new();
                for (is, mark) in [
                    (command.transparent, "transparent"),
                    (command.neutral_wrapper, "wrapper"),
                    (!command.genuine, "not the system's own program"),
                ] {
                    if is {
                        marks.push(mark);
                    }
                }
                let marks = match marks.is_empty() {
                    true => String::new(),
                    false => context.paint(FAINT, &format!("  ({})", marks.join(", "))),
                };
                format!("{}{marks}", one_line(&line, 160))
            })
            .collect()
    }

    fn effect_lines(&self, context: &Context) -> Vec<String> {
        let line = |(at, effect): (usize, &Effect)| {
            let grade = grade_name(effect.grade);
            let sgr = match effect.grade {
                Grade::Certain => 0,
                Grade::Possible | Grade::Unknown => YELLOW,
            };
            let grade = format!("{grade:<8}");
            let grade = if sgr == 0 { grade } else { context.paint(sgr, &grade) };
            let mut line = format!("{:<10} {grade}", effect.word.text());
            if let Some(object) = effect.object_text() {
                let _ = write!(line, "  {}", one_line(&object, 120));
            }
            if let Some(target) = &effect.path
                && target.resolved != target.lexical
            {
                let _ = write!(line, " -> {}", one_line(&target.resolved, 120));
            }
            if let Some(text) = self.effect_snippet(effect) {
                let cause = match self.dry.analysis.way_to(at) {
                    Some(way) => format!("  via {}", one_line(way, 120)),
                    None => format!("  from `{}`", one_line(text, 60)),
                };
                line.push_str(&context.paint(FAINT, &cause));
            }
            line
        };
        self.dry.analysis.effects.iter().enumerate().map(line).collect()
    }

    /// Those that matched with their effects; the others by the reason why they did not.
    fn rule_lines(&self, context: &Context, rules: &[Considered]) -> Vec<String> {
        let matched = || rules.iter().filter(|rule| rule.matched);
        let width = matched().map(|rule| rule.name.chars().count()).max().unwrap_or(0).min(40);
        let mut lines = Vec::new();
        for rule in matched() {
            let observed = if rule.observed { " (observed)" } else { "" };
            let on: Vec<String> =
                rule.effects.iter().take(4).map(|at| self.effect_name(*at)).collect();
            let on = match on.is_empty() {
                true => String::new(),
                false => one_line(&format!("  on {}", on.join(", ")), 120),
            };
            let sgr = match rule.verdict {
                "allow" => GREEN,
                "deny" | "halt" => RED,
                _ => YELLOW,
            };
            let name = context.paint(sgr, &format!("{:<width$}  {:<5}", rule.name, rule.verdict));
            let place = context.paint(FAINT, &format!("  {}", flatten_lines(&rule.place)));
            lines.push(format!("matched  {name}{observed}{on}{place}"));
        }
        if lines.is_empty() {
            lines.push("none matched".into());
        }
        let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
        for rule in rules {
            let Some(why) = rule.why.as_deref() else { continue };
            match reasons.iter_mut().find(|(reason, _)| *reason == why) {
                Some((_, names)) => names.push(&rule.name),
                None => reasons.push((why, vec![&rule.name])),
            }
        }
        for (why, names) in reasons {
            lines.push(context.paint(FAINT, &format!("not      {why}:")));
            let names = fold_words(&names, 76, "");
            lines.extend(
                names.lines().map(|line| context.paint(FAINT, &format!("         {line}"))),
            );
        }
        lines
    }

    /// What the agent cannot be told here, or does not heed.
    pub(super) fn degraded_line(&self, verb: Verb) -> Option<String> {
        let Dry { agent, event, judgement, .. } = self.dry;
        let told = match agent.spec_of(event) {
            Some(spec) => settled::settle_answer(spec, &judgement.answer).verb,
            None => None,
        };
        let title = agent.title();
        let said = match told {
            // Seen with its auto mode: the classifier decides, whatever a hook allows.
            Some(Verb::Allow) if event.str_field("permission_mode") == Some("auto") => {
                format!("{title} does not heed an allow in its auto mode")
            }
            Some(told) if told == verb => return None,
            Some(told) => {
                format!("{title} knows no {} here: it is told {}", verb.name(), told.name())
            }
            None => format!("{title} knows no {} here: it is told nothing", verb.name()),
        };
        Some(said)
    }

    // ---- for programs ---------------------------------------------------------------------

    pub(super) fn render_json(&self) -> Value {
        let rules = self.considered_rules();
        let answer = &self.dry.judgement.answer;
        let layers: Vec<Value> = self
            .config
            .sources
            .iter()
            .map(|source| {
                json!({
                    "layer": source.layer.name(),
                    "file": source.path,
                    "rules": source.file.rules.len(),
                    "trusted": source.trusted,
                    "refused": source.refused,
                    "faults": source.file.faults.len(),
                })
            })
            .collect();
        let commands: Vec<Value> = self
            .dry
            .analysis
            .commands
            .iter()
            .map(|command| {
                let args: Vec<_> = command.args.iter().map(|arg| &arg.text).collect();
                json!({
                    "name": command.name,
                    "args": args,
                    "parent": command.parent,
                    "transparent": command.transparent,
                    "genuine": command.genuine,
                    "span": [command.span.start, command.span.end],
                })
            })
            .collect();
        let effects: Vec<Value> = self
            .dry
            .analysis
            .effects
            .iter()
            .enumerate()
            .map(|(at, effect)| {
                json!({
                    "via": self.dry.analysis.way_to(at),
                    "effect": effect.word.text(),
                    "grade": grade_name(effect.grade),
                    "path": effect.path.as_ref().map(|target| &target.lexical),
                    "resolved": effect.path.as_ref().map(|target| &target.resolved),
                    "extent": effect.path.as_ref().map(|target| target.extent.name()),
                    "host": effect.host,
                    "package": effect.package.as_ref().map(ToString::to_string),
                    "command": effect.command,
                    "span": [effect.span.start, effect.span.end],
                    "text": self.effect_snippet(effect),
                })
            })
            .collect();
        json!({
            "project": self.dry.place.project,
            "cwd": self.dry.place.cwd,
            "profile": self.config.profile.name(),
            "autopilot": self.config.active_autopilot().is_some(),
            "paused": self.dry.paused,
            "layers": layers,
            "agent": self.dry.agent.id(),
            "event": self.dry.event.name,
            "tool": self.dry.event.tool,
            "input": self.dry.event.input,
            "commands": commands,
            "effects": effects,
            "rules": rules,
            "marks": { "standing": self.dry.marks.names(), "set": self.dry.judgement.marks.names() },
            "pending": self.pending_json(),
            "verdict": answer.verb.map(Verb::name),
            "rule": (!self.dry.judgement.rule.is_empty()).then_some(&self.dry.judgement.rule),
            "reason": answer.verb.map(|_| &answer.reason),
            "new_input": answer.input,
            "new_response": answer.response,
            "context": answer.context,
            "notice": answer.notice,
            "remotes": self.dry.judgement.remotes,
            "notes": self.collect_notes(&rules),
            "answer": {
                "stdout": self.output.stdout,
                "stderr": self.output.stderr,
                "exit": self.output.status,
            },
        })
    }
}

fn grade_name(grade: Grade) -> &'static str {
    match grade {
        Grade::Certain => "certain",
        Grade::Possible => "possible",
        Grade::Unknown => "unknown",
    }
}
