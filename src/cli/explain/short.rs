//! The explanation in short: the verdict in the first line, the effects that mattered with the ways to them,
//! and what else there is to know.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::considered::Considered;
use super::report::Explanation;
use crate::cli::terminal::{self, wrap};
use crate::cli::{
    BOLD, Context, FAINT, GREEN, RED, YELLOW, display_path, flatten_lines, make_visible, one_line,
};
use crate::effect::{Effect, Grade};
use crate::judge::{Pending, PendingEnd, WOULD_ASK};
use crate::marks::Marks;
use crate::verdict::Verb;

/// How many effects are shown where none mattered more than another.
const EFFECTS: usize = 12;
/// How much of a command is shown in a branch, in columns.
const BRANCH: usize = 100;

/// A branch of what the call does: its text, and what it leads to.
#[derive(Default)]
struct Branch {
    text: String,
    below: Vec<Branch>,
}

impl Branch {
    /// Adds a way, from here on: what is there already is taken.
    fn add_way(&mut self, way: &[String]) {
        let Some((first, rest)) = way.split_first() else { return };
        let at = self.below.iter().position(|branch| branch.text == *first).unwrap_or_else(|| {
            self.below.push(Branch { text: first.clone(), below: Vec::new() });
            self.below.len() - 1
        });
        self.below[at].add_way(rest);
    }

    /// The lines of what is below it.
    fn write_below(&self, before: &str, top: bool, out: &mut String) {
        for (at, branch) in self.below.iter().enumerate() {
            let last = at + 1 == self.below.len();
            let (own, more) = match (top, last) {
                (true, _) => ("", ""),
                (false, true) => ("\u{2514}\u{2500} ", "   "),
                (false, false) => ("\u{251c}\u{2500} ", "\u{2502}  "),
            };
            let room = terminal::columns().unwrap_or(usize::MAX);
            let line = format!("{before}{own}{}", branch.text);
            // What is painted is short enough.
            let line = if line.contains('\u{1b}') { line } else { terminal::cut(&line, room) };
            let _ = writeln!(out, "{line}");
            branch.write_below(&format!("{before}{more}"), false, out);
        }
    }
}

impl Explanation<'_> {
    pub(super) fn render_short(&self, context: &Context, rules: &[Considered]) -> String {
        let mut out = String::new();
        for line in self.head_lines(context, rules) {
            let _ = writeln!(out, "{}", wrap(&line, 2));
        }
        let tree = self.effect_tree(context, rules);
        if !tree.is_empty() {
            let _ = write!(out, "\n{tree}");
        }
        let facts = self.facts(context, rules);
        if !facts.is_empty() {
            out.push('\n');
        }
        for (name, fact) in facts {
            let name = context.paint(BOLD, &format!("{name:<9}"));
            let _ = writeln!(out, "{}", wrap(&format!("{name} {fact}"), 10));
        }
        out
    }

    // ---- the verdict ------------------------------------------------------------------------

    /// The verdict, its rule and its reason; what may come instead where a command decides.
    fn head_lines(&self, context: &Context, rules: &[Considered]) -> Vec<String> {
        let judgement = &self.dry.judgement;
        let mut lines = Vec::new();
        for pending in self.deciding_commands() {
            let verb = pending.verb.unwrap_or(Verb::Deny);
            let end = match pending.end {
                PendingEnd::Fails => "fails",
                PendingEnd::Succeeds => "succeeds",
            };
            let command = one_line(&pending.command, 200);
            let head = paint_verb(context, verb, third_person(verb));
            let head = format!("{head} if `{command}` {end}");
            let reason = make_visible(&pending.reason);
            push_reason(&mut lines, &format!("{head}, by {}", pending.rule), reason.lines());
        }
        let other = if lines.is_empty() { "" } else { "else " };
        let decided = self.deciding_commands().any(|one| one.rule == judgement.rule);
        match judgement.answer.verb {
            Some(_) if decided => {}
            Some(verb) => {
                let said = make_visible(&judgement.answer.reason);
                let mark = format!(" [{}]", judgement.rule);
                let said = said.lines().map(|line| line.strip_suffix(&mark).unwrap_or(line));
                let head = paint_verb(context, verb, verb.name());
                push_reason(&mut lines, &format!("{other}{head} by {}", judgement.rule), said);
            }
            None => {
                let head = context.paint(FAINT, "silent");
                let why = self.why_silent(rules);
                let why = if lines.is_empty() {
                    why
                } else {
                    "the agent's own permissions decide".into()
                };
                lines.push(format!("{other}{head}: {why}"));
            }
        }
        lines
    }

    /// The commands whose end the verdict hangs on, those of the strictest verdict first.
    fn deciding_commands(&self) -> impl Iterator<Item = &Pending> {
        let judgement = &self.dry.judgement;
        // What is stricter without a command needs none.
        let mattering = move |one: &&Pending| {
            one.verb > judgement.answer.verb || one.rule == judgement.rule && one.verb.is_some()
        };
        let mut all: Vec<&Pending> = judgement.pending.iter().filter(mattering).collect();
        crate::order::sort_by_key(&mut all, |one| std::cmp::Reverse(one.verb));
        all.into_iter()
    }

    fn why_silent(&self, rules: &[Considered]) -> String {
        let own = "the agent's own permissions decide";
        let judgement = &self.dry.judgement;
        if let Some(asks) = judgement.notes.iter().find(|note| note.starts_with(WOULD_ASK)) {
            return format!("hookctl {asks}; its answer decides");
        }
        let would = rules.iter().filter(|rule| rule.matched && is_stop(rule.verdict));
        if let Some(rule) =
            would.max_by_key(|rule| (rule.verdict == "deny", rule.verdict == "halt"))
        {
            let why = match self.dry.paused {
                true => "hookctl is paused",
                false => "it only observes",
            };
            if rule.observed || self.dry.paused {
                return format!("{} would {}, but {why}; {own}", rule.name, rule.verdict);
            }
        }
        if rules.iter().any(|rule| rule.matched && rule.verdict == "allow") {
            let note =
                self.collect_notes(rules).into_iter().find(|note| note.starts_with("the allow"));
            return format!("{}; {own}", note.unwrap_or_else(|| "the allow does not hold".into()));
        }
        match rules.iter().find(|rule| rule.speaks) {
            Some(rule) => format!("{}; {own}", self.describe_action(&rule.name)),
            None => format!("no rule speaks; {own}"),
        }
    }

    /// What a rule without a verdict does.
    fn describe_action(&self, rule: &str) -> String {
        let judgement = &self.dry.judgement;
        if let Some(one) = judgement.pending.iter().find(|one| one.rule == rule) {
            let command = one_line(&one.command, 200);
            return format!("{rule} runs `{command}` and tells the model if it fails");
        }
        let answer = &judgement.answer;
        let what = match (&answer.input, &answer.response) {
            (Some(_), _) => "changes the input and stops nothing",
            (_, Some(_)) => "changes the result",
            _ if !answer.context.is_empty() => "tells the model something and stops nothing",
            _ => "stops nothing",
        };
        format!("{rule} {what}")
    }

    // ---- the effects ------------------------------------------------------------------------

    /// The effects that mattered, below the commands and files that they come from.
    fn effect_tree(&self, context: &Context, rules: &[Considered]) -> String {
        let (shown, more) = self.mattering_effects(rules);
        let several = shown.iter().any(|(_, rule)| *rule != shown[0].1);
        let mut root = Branch::default();
        for (at, rule) in shown {
            let mut way = self.way_of(at);
            let by =
                rule.filter(|_| several).map(|rule| context.paint(FAINT, &format!("  {rule}")));
            way.push(format!("{}{}", self.effect_text(context, at, &way), by.unwrap_or_default()));
            root.add_way(&way);
        }
        let mut out = String::new();
        root.write_below("", true, &mut out);
        if more > 0 {
            let _ = writeln!(out, "{}", context.paint(FAINT, &format!("and {more} more: -v")));
        }
        out
    }

    /// The effects that the rules of the verdict speak of; where there is none, all but that programs run.
    fn mattering_effects<'r>(
        &self,
        rules: &'r [Considered],
    ) -> (Vec<(usize, Option<&'r str>)>, usize) {
        let effects = &self.dry.analysis.effects;
        let verdict = self.strictest_verb().map(Verb::name);
        let speaks = |rule: &&Considered| {
            rule.matched
                && !rule.effects.is_empty()
                && (Some(rule.verdict) == verdict || verdict.is_none() && is_stop(rule.verdict))
        };
        let mut shown: Vec<(usize, Option<&str>)> = Vec::new();
        for rule in rules.iter().filter(speaks) {
            for at in rule.effects.iter().filter(|at| **at < effects.len()) {
                if shown.iter().all(|(known, _)| known != at) {
                    shown.push((*at, Some(&rule.name)));
                }
            }
        }
        if shown.is_empty() {
            let plain = |effect: &Effect| {
                effect.word.text() == "execute"
                    && effect.grade == Grade::Certain
                    && effect.path.is_none()
            };
            let told = (0..effects.len()).filter(|at| !plain(&effects[*at]));
            shown = told.map(|at| (at, None)).collect();
            if shown.is_empty() {
                shown = (0..effects.len()).map(|at| (at, None)).collect();
            }
        }
        let more = shown.len().saturating_sub(EFFECTS);
        shown.truncate(EFFECTS);
        shown.sort_unstable_by_key(|(at, _)| *at);
        (shown, more)
    }

    /// The commands and places that lead to the effect, the outermost first.
    fn way_of(&self, at: usize) -> Vec<String> {
        let analysis = &self.dry.analysis;
        let effect = &analysis.effects[at];
        let told = |at: usize| self.describe_command(at);
        let own = analysis.own_commands().len();
        let mut commands =
            analysis.with_wrappers(effect.command.filter(|at| *at < analysis.commands.len()));
        commands.reverse();
        let Some(way) = analysis.way_to(at) else {
            return commands.into_iter().map(told).collect();
        };
        let mut out: Vec<String> = Vec::new();
        out.extend(self.effect_snippet(effect).map(|text| one_line(text, BRANCH)));
        for step in way.split(" -> ") {
            let step = one_line(step, BRANCH);
            if out.last() != Some(&step) {
                out.push(step);
            }
        }
        // In the file it is this that does it.
        let inner = commands.into_iter().filter(|at| *at >= own).map(told);
        if let Some(last) = out.last_mut() {
            let inner: Vec<String> = inner.collect();
            if let Some(command) = inner.last() {
                *last = one_line(&format!("{last}: {command}"), BRANCH);
            }
        }
        out
    }

    /// A command as the call has it, or as it is called where that stands in quotes or in a file.
    fn describe_command(&self, at: usize) -> String {
        let analysis = &self.dry.analysis;
        let command = &analysis.commands[at];
        let own = !command.quoted && at < analysis.own_commands().len();
        let written =
            analysis.text.get(command.span.clone()).filter(|text| own && !text.is_empty());
        if let Some(text) = written {
            return one_line(text, BRANCH);
        }
        let name = if command.name.is_empty() { "(known at run time)" } else { &command.name };
        let args = command.args.iter().map(|arg| arg.text.as_deref().unwrap_or("(?)"));
        let words: Vec<&str> = std::iter::once(name).chain(args).collect();
        one_line(&words.join(" "), BRANCH)
    }

    /// What the effect is, on what, how sure, and which word of the call says so.
    fn effect_text(&self, context: &Context, at: usize, way: &[String]) -> String {
        let effect = &self.dry.analysis.effects[at];
        let mut text = effect.word.text().to_string();
        if let Some(object) = effect.object_text() {
            let _ = write!(text, " {}", one_line(&object, 120));
        }
        if let Some(target) = effect.path.as_ref().filter(|path| path.resolved != path.lexical) {
            let _ = write!(text, ", which is {}", one_line(&target.resolved, 120));
        }
        match effect.grade {
            Grade::Certain => {}
            Grade::Possible => text.push_str(&context.paint(YELLOW, " (possible)")),
            Grade::Unknown => text.push_str(&context.paint(YELLOW, " (not understood)")),
        }
        let snippet = self.effect_snippet(effect).map(|snippet| one_line(snippet, 60));
        let known = |snippet: &String| {
            way.iter().any(|step| step == snippet) || effect.object_text().as_ref() == Some(snippet)
        };
        if self.dry.analysis.way_to(at).is_none()
            && let Some(snippet) = snippet.filter(|snippet| !known(snippet))
        {
            text.push_str(&context.paint(FAINT, &format!(", from `{snippet}`")));
        }
        text
    }

    // ---- what else there is to know -----------------------------------------------------------

    fn facts(&self, context: &Context, rules: &[Considered]) -> Vec<(&'static str, String)> {
        let judgement = &self.dry.judgement;
        let answer = &judgement.answer;
        let mut facts = Vec::new();
        let matched = || rules.iter().filter(|rule| rule.speaks);
        let decides = |rule: &&Considered| {
            rule.name == judgement.rule || judgement.pending.iter().any(|one| one.rule == rule.name)
        };
        let observed = |rule: &Considered| if rule.observed { " (observed)" } else { "" };
        // Where none decides, each is as good as the others.
        let none = !matched().any(|rule| decides(&rule));
        for rule in matched().filter(|rule| none || decides(rule)) {
            let place = context.paint(FAINT, &flatten_lines(&rule.place));
            facts.push((
                "rule",
                format!("{} {}{}, {place}", rule.name, rule.verdict, observed(rule)),
            ));
        }
        let also = matched().filter(|rule| !none && !decides(rule));
        let also = also.map(|rule| format!("{} {}{}", rule.name, rule.verdict, observed(rule)));
        let also: Vec<String> = also.collect();
        if !also.is_empty() {
            facts.push(("also", also.join(", ")));
        }
        for source in self.config.sources.iter().filter(|source| !source.holds_whole()) {
            let (path, trust) = (display_path(context, &source.path), source.describe_trust());
            let mend = if source.is_other { "" } else { " (`hookctl trust`)" };
            facts.push((
                "waits",
                format!("{path} is {trust}: only its deny and ask rules hold{mend}"),
            ));
        }
        facts.extend(self.mark_lines().into_iter().map(|line| ("marks", line)));
        if let Some(said) = answer.verb.and_then(|verb| self.degraded_line(verb)) {
            facts.push(("told", said));
        }
        if let Some(input) = &answer.input {
            let input = Value::Object(input.clone()).to_string();
            facts.push(("new input", one_line(&input, 400)));
        }
        if let Some(response) = &answer.response {
            facts.push(("new result", one_line(&response.to_string(), 400)));
        }
        for text in &answer.context {
            facts.push(("context", one_line(text, 400)));
        }
        let in_head = judgement.notes.iter().find(|note| note.starts_with(WOULD_ASK));
        for note in self.collect_notes(rules) {
            if answer.verb.is_some() || in_head != Some(&note) {
                facts.push(("note", one_line(&note, 2_000)));
            }
        }
        facts
    }

    /// The marks that stand in the session, and those that the call would set; nothing where there are none.
    fn mark_lines(&self) -> Vec<String> {
        let said = |what: &str, marks: Marks| {
            (!marks.is_empty()).then(|| format!("{what} {}", marks.names().join(", ")))
        };
        let set = self.dry.judgement.marks;
        let mut lines: Vec<String> =
            [said("stand:", self.dry.marks), said("it sets:", set)].into_iter().flatten().collect();
        if let Some(fault) = self.dry.place.session.as_ref().and_then(|s| s.fault()) {
            lines.push(format!("all stand, for nobody knows: {}", one_line(fault, 400)));
        }
        lines
    }

    pub(super) fn pending_json(&self) -> Vec<Value> {
        let one = |one: &Pending| {
            json!({
                "rule": one.rule,
                "verdict": one.verb.map(Verb::name),
                "command": one.command,
                "if": match one.end {
                    PendingEnd::Fails => "fails",
                    PendingEnd::Succeeds => "succeeds",
                },
                "reason": one.reason,
            })
        };
        self.dry.judgement.pending.iter().map(one).collect()
    }
}

/// A head with the reason behind it; further lines of the reason are indented.
fn push_reason<'r>(lines: &mut Vec<String>, head: &str, mut reason: impl Iterator<Item = &'r str>) {
    let first = reason.next().filter(|first| !first.is_empty());
    lines.push(format!("{head}{}", first.map(|first| format!(": {first}")).unwrap_or_default()));
    lines.extend(reason.map(|line| format!("  {}", line.trim_end())));
}

fn is_stop(verdict: &str) -> bool {
    matches!(verdict, "ask" | "defer" | "deny" | "halt")
}

fn third_person(verb: Verb) -> &'static str {
    match verb {
        Verb::Allow => "allows",
        Verb::Ask => "asks",
        Verb::Defer => "defers",
        Verb::Deny => "denies",
        Verb::Halt => "halts",
    }
}

fn paint_verb(context: &Context, verb: Verb, word: &str) -> String {
    let sgr = match verb {
        Verb::Allow => GREEN,
        Verb::Ask | Verb::Defer => YELLOW,
        Verb::Deny | Verb::Halt => RED,
    };
    context.paint(sgr, word)
}
