//! What is wrong with a rule as a whole, when each of its keys is sound.

use std::ops::Range;

use super::Seen;
use crate::effect::shell;
use crate::event::{Kind, KindSet};
use crate::rule::reader::{Reader, clip_text};
use crate::rule::{Action, Layer, Redact, Rule, Template};
use crate::verdict::Verb;

pub(super) fn check_rule(rule: &Rule, seen: &Seen, id: Range<usize>, r: &mut Reader<'_>) {
    if let [(first, _), (second, span), ..] = seen.verdicts.as_slice() {
        r.add_error(
            "two-verdicts",
            format!("a rule has one verdict: `{first}` or `{second}`"),
            span.clone(),
        )
        .with_hint("make two rules");
    }
    let does_something =
        rule.verb().is_some() || rule.has_side_effects() || !rule.actions.is_empty();
    if !does_something && !r.has_fault_of_rule() {
        r.add_error("no-effect", "the rule does nothing", id.clone())
            .with_hint("give it deny, ask, allow, run, context ...");
    }
    if let Some((written, span)) = seen.verdicts.first() {
        if *written == "block" && !rule.on_named {
            r.add_error("block-without-event", "`block` must say its event", span.clone())
                .with_hint("add on = \"Stop\", or write deny for a tool call");
        }
        if *written == "allow" && seen.run.is_some() {
            r.add_error(
                "run-beside-allow",
                "`run` beside `allow` has no meaning: an allow does not wait for a command",
                span.clone(),
            )
            .with_hint("use when = { run = ... }");
        }
        if rule.on_named {
            check_verbs(rule, written, span, r);
        }
    }
    if rule.remote_name().is_some() && matches!(rule.verb(), Some(Verb::Deny | Verb::Halt)) {
        let message = "`remote` beside a deny has no effect: a deny is final";
        r.add_warning("unused-key", message, id.clone())
            .with_hint("take the deny out: the server gives it");
    }
    if seen.dialect.is_some() && rule.hook_script().is_none() {
        r.add_warning("unused-key", "`dialect` belongs to `hook`", id.clone());
    }
    // A file may have a shipped rule ask.
    if rule.question.is_some() && rule.verb() != Some(Verb::Ask) && rule.layer != Some(Layer::Pack)
    {
        r.add_warning("unused-key", "`question` belongs to `ask`", id.clone())
            .with_hint("say it in the reason, or write ask");
    }
    if seen.ends
        && !seen.verdicts.iter().any(|(written, _)| ["deny", "block", "halt"].contains(written))
    {
        r.add_error("continue-alone", "`continue = false` needs a reason", id.clone())
            .with_hint("write halt = \"...\", or put deny or block beside it");
    }
    check_allow(rule, &id, r);
    check_remote_flag(rule, &id, r);
    check_session(rule, &id, r);
    for command in rule.commands() {
        if command.script.has_quoted_placeholder() {
            r.add_error("quoted-placeholder", "a placeholder stands inside quotes", id.clone())
                .with_hint("take the quotes off: it becomes a quoted variable by itself");
        }
    }
}

/// A line that was forgotten is no wish to allow every call. On other events there is nothing to open.
fn check_allow(rule: &Rule, id: &Range<usize>, r: &mut Reader<'_>) {
    let open = rule.conditions.ask_nothing() && rule.unless.is_none();
    if rule.verb() == Some(Verb::Allow)
        && open
        && rule.on.iter().any(Kind::is_tool)
        && !r.has_fault_of_rule()
    {
        r.add_error("no-condition", "an allow without a condition allows every call", id.clone())
            .with_hint("say what: command, path, effect ...; tool = \"*\" means every call");
    }
}

/// A variable says that a session is remote, and a repository's settings can set it: what that says may not loosen.
fn check_remote_flag(rule: &Rule, id: &Range<usize>, r: &mut Reader<'_>) {
    let unless = rule.unless.as_ref().and_then(|unless| unless.when.remote);
    let remote = [rule.conditions.when.remote, unless.map(|remote| !remote)];
    let tells_only =
        |action: &Action| matches!(action, Action::Context(_) | Action::Notify(_) | Action::Env(_));
    let fault = match rule.verb() {
        Some(Verb::Allow) => remote.contains(&Some(true)).then_some(("allows", "false")),
        None if rule.actions.iter().all(tells_only) => None,
        _ => remote.contains(&Some(false)).then_some(("is stricter", "true")),
    };
    if let Some((does, wanted)) = fault {
        let message = format!(
            "`remote` loosens here: a repository can set the variable that says so, and this rule {does}"
        );
        r.add_error("remote-loosens", message, id.clone())
            .with_hint(format!("write when = {{ remote = {wanted} }}, or leave it out"));
    }
}

/// Marks that cannot be read stand: what hangs on them may only tighten.
fn check_session(rule: &Rule, id: &Range<usize>, r: &mut Reader<'_>) {
    let unless = rule.unless.as_ref().is_some_and(|unless| !unless.when.session.is_empty());
    let allows = rule.verb() == Some(Verb::Allow);
    if unless != allows && rule.asks_session() {
        let message = "`session` loosens here: marks that cannot be read stand, and this rule would be less strict for it";
        r.add_error("session-loosens", message, id.clone()).with_hint(
            "ask for it in the `when` of a rule that stops, or in the `unless` of an allow",
        );
    }
}

/// A script that no shell runs whole: its exit status would say something else than the rule means.
pub(super) fn check_scripts(rule: &Rule, id: Range<usize>, r: &mut Reader<'_>) {
    for command in rule.commands() {
        let (script, _) = command.script.to_script(&|_| None);
        if let Some(why) = shell::fault::find_fault(&script) {
            let source = command.script.source();
            r.add_error(
                "bad-script",
                format!("the shell cannot run `{source}`: {why}"),
                id.clone(),
            )
            .with_hint("close what is open; `{{` is a brace");
        }
        if script.contains("$\"$HOOKCTL_") {
            r.add_error("bad-script", "a `$` stands in front of a placeholder", id.clone())
                .with_hint("take it off: the placeholder becomes a quoted variable by itself");
        }
    }
}

/// A verb that an explicitly named event cannot express is a fault.
fn check_verbs(rule: &Rule, written: &str, span: &Range<usize>, r: &mut Reader<'_>) {
    let Some(verb) = &rule.verb() else { return };
    let agent = crate::agent::default_agent();
    for kind in rule.on.iter() {
        let Some(spec) = agent.event_spec(kind) else { continue };
        // The dialog of a permission request is the question; an ask there is silence by design.
        let silence = *verb == Verb::Ask && kind == Kind::PermissionRequest;
        // "every event" means every event that can: `on = "*"` names none.
        if spec.verbs.contains(verb)
            || (silence && rule.on != KindSet::from_kinds(&[kind]))
            || rule.on == KindSet::ALL
        {
            continue;
        }
        let valid: Vec<&str> = spec.verbs.iter().map(|verb| verb.name()).collect();
        let valid = if valid.is_empty() { "no verdict at all".into() } else { valid.join(", ") };
        r.add_error(
            "verb-not-for-event",
            format!("{} cannot express `{written}`", kind.name()),
            span.clone(),
        )
        .with_hint(format!("it takes {valid}"));
    }
}

pub(super) fn check_regexes(rule: &Rule, id: Range<usize>, r: &mut Reader<'_>) {
    let mut all = rule.conditions.all_regexes();
    all.extend(rule.unless.iter().flat_map(|unless| unless.all_regexes()));
    all.extend(rule.actions.iter().flat_map(|action| match action {
        Action::Redact(Redact::Patterns(patterns)) => patterns.as_slice(),
        _ => &[],
    }));
    all.extend(rule.templates().flat_map(Template::regexes));
    for regex in all {
        if let Some(why) = regex.find_fault() {
            let span = place_of(&regex.source, &id, r.text);
            r.add_error("bad-regex", format!("`{}`: {why}", clip_text(&regex.source)), span)
                .with_hint(
                    "`\\` in front of a mark means the mark itself; 'single quotes' keep a `\\`",
                );
        }
    }
}

/// Where a pattern is written behind the rule's header: rules do not keep that. The header, where it is written with escapes.
fn place_of(pattern: &str, id: &Range<usize>, text: &str) -> Range<usize> {
    let behind = text.get(id.end..).unwrap_or_default();
    match behind.find(pattern) {
        Some(at) if !pattern.is_empty() => id.end + at..id.end + at + pattern.len(),
        _ => id.clone(),
    }
}
