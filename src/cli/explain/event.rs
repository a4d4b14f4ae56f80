//! `hookctl explain --event NAME`: what an event brings, what its answer may carry, what blocks.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Map, Value, json};

use crate::agent::{Agent, EventSpec, Output};
use crate::cli::{BOLD, Context, Exit, print, print_json, print_stderr, scope};
use crate::dry;
use crate::event::{Event, Kind};
use crate::verdict::{Answer, Verb};

/// One event, or where there is none of that name, all of them.
///
/// # Errors
/// Where stdout cannot be written.
pub(super) fn run(
    context: &Context,
    agent: &'static dyn Agent,
    name: &str,
    as_json: bool,
) -> Result<Exit> {
    let is_named = |spec: &&EventSpec| {
        spec.name.eq_ignore_ascii_case(name) || spec.kind.name().eq_ignore_ascii_case(name)
    };
    let folded = agent.events().iter().find(is_named);
    if let Some(spec) = folded {
        return match as_json {
            true => print_json(&render_json(agent, spec)),
            false => print(&render_text(context, agent, spec)),
        };
    }
    if as_json {
        let all: Vec<Value> = agent.events().iter().map(|spec| render_json(agent, spec)).collect();
        print_json(&all)?;
    } else {
        print(&list_events(context, agent))?;
    }
    if name.is_empty() {
        return Ok(Exit::Ok);
    }
    print_stderr(&format!("error: {}", scope::no_event(agent, name)));
    Ok(Exit::Failed)
}

fn verb_names(spec: &EventSpec) -> String {
    let verbs: Vec<&str> = spec.verbs.iter().map(|verb| verb.name()).collect();
    if verbs.is_empty() { "none".into() } else { verbs.join(" ") }
}

/// What a rule may carry on this event beside a verdict.
fn extra_actions(spec: &EventSpec) -> Vec<&'static str> {
    let mut out = Vec::new();
    for (can, word) in [
        (spec.rewrite, "rewrite"),
        (spec.replace, "replace, redact"),
        (spec.context, "context"),
        (spec.output.contains("env file"), "env"),
    ] {
        if can {
            out.push(word);
        }
    }
    out
}

/// The agent's name of the event, and that of the rules where it is another.
fn both_names(spec: &EventSpec) -> String {
    match (spec.name, spec.kind.name()) {
        (own, rules) if own == rules => own.into(),
        (own, rules) => format!("{own} ({rules})"),
    }
}

fn list_events(context: &Context, agent: &dyn Agent) -> String {
    let head = format!("{:<20} {:<27} {:<27} registered", "event", "verdicts", "also");
    let mut out = format!("{}\n", context.paint(BOLD, &head));
    for spec in agent.events() {
        let usual = if spec.by_default { "by default" } else { "when a rule needs it" };
        let name = both_names(spec);
        let also = extra_actions(spec).join(", ");
        let _ = writeln!(out, "{name:<20} {:<27} {also:<27} {usual}", verb_names(spec));
    }
    out.push_str("\nOne event in full: `hookctl explain --event NAME`\n");
    out
}

fn render_text(context: &Context, agent: &'static dyn Agent, spec: &EventSpec) -> String {
    let mut out = format!(
        "{} ({}, timeout {} s, registered {})\n",
        context.paint(BOLD, &both_names(spec)),
        agent.title(),
        spec.timeout,
        if spec.by_default { "by default" } else { "when a rule needs it" }
    );
    let mut line = |name: &str, value: &str| {
        let _ = writeln!(out, "{} {value}", context.paint(BOLD, &format!("{name:<9}")));
    };
    line("input", spec.input);
    line("", &format!("common: {}", agent.facts().common_input));
    line("output", spec.output);
    line("", &format!("common: {}", agent.facts().common_output));
    line("verdicts", &verb_names(spec));
    let blocks: Vec<&str> = spec
        .verbs
        .iter()
        .filter(|verb| matches!(verb, Verb::Deny | Verb::Halt))
        .map(|verb| verb.name())
        .collect();
    let blocks = match blocks.is_empty() {
        true => "nothing: this event cannot be blocked".to_string(),
        false => format!("{} (`block` is a deny)", blocks.join(", ")),
    };
    line("blocks", &blocks);
    let extras = extra_actions(spec);
    if !extras.is_empty() {
        line("also", &extras.join(", "));
    }
    if let Some(field) = spec.matched {
        line("matcher", &format!("the agent's settings match on {field}; hookctl's rules on all"));
    }
    out.push_str("\nsample answers:\n");
    for (name, output) in sample_answers(agent, spec) {
        let _ = writeln!(out, "  {}", context.paint(BOLD, &name));
        for said in output_lines(&output) {
            let _ = writeln!(out, "    {said}");
        }
    }
    out
}

fn render_json(agent: &'static dyn Agent, spec: &EventSpec) -> Value {
    let samples: Map<String, Value> = sample_answers(agent, spec)
        .into_iter()
        .map(|(name, out)| {
            let stdout =
                serde_json::from_slice(out.stdout.as_bytes()).unwrap_or(Value::from(out.stdout));
            (name, json!({ "stdout": stdout, "stderr": out.stderr, "exit": out.status }))
        })
        .collect();
    json!({
        "event": spec.kind.name(),
        "name": spec.name,
        "agent": agent.id(),
        "input": spec.input,
        "common_input": agent.facts().common_input,
        "output": spec.output,
        "common_output": agent.facts().common_output,
        "verbs": spec.verbs.iter().map(|verb| verb.name()).collect::<Vec<_>>(),
        "rewrite": spec.rewrite,
        "replace": spec.replace,
        "context": spec.context,
        "matched": spec.matched,
        "timeout": spec.timeout,
        "by_default": spec.by_default,
        "samples": samples,
    })
}

/// What is answered for each verb of the event, and for what else a rule may say.
fn sample_answers(agent: &'static dyn Agent, spec: &EventSpec) -> Vec<(String, Output)> {
    let mut payload = Map::new();
    payload.insert("hook_event_name".into(), spec.kind.name().into());
    if spec.kind.is_tool() {
        payload.insert("tool_name".into(), "Bash".into());
        payload.insert("tool_input".into(), json!({ "command": "ls" }));
    }
    if spec.replace {
        payload.insert("tool_response".into(), json!({ "stdout": "", "stderr": "" }));
    }
    let (_, event) = dry::synthetic_event(payload, agent, None);
    let event = Event { name: spec.name.into(), ..event };
    let mut out = Vec::new();
    for verb in spec.verbs {
        let reason = "Why. [user:some-rule]".into();
        let answer = Answer { verb: Some(*verb), reason, ..Answer::default() };
        out.push((verb.name().to_string(), agent.render(&event, &answer)));
    }
    let mut sample = |name: &str, answer: Answer| {
        out.push((name.to_string(), agent.render(&event, &answer)));
    };
    if spec.rewrite {
        let input = json!({ "command": "ls -l" }).as_object().cloned();
        let allow = (spec.kind == Kind::PermissionRequest).then_some(Verb::Allow);
        let name = if allow.is_some() { "rewrite, with an allow" } else { "rewrite" };
        sample(name, Answer { input, verb: allow, ..Answer::default() });
    }
    if spec.replace {
        let response = Some(json!({ "stdout": "[redacted]", "stderr": "" }));
        sample("replace", Answer { response, ..Answer::default() });
    }
    if spec.context {
        sample("context", Answer { context: vec!["A text.".into()], ..Answer::default() });
    }
    sample("notify", Answer { notice: vec!["A text.".into()], ..Answer::default() });
    sample("silence", Answer::default());
    out
}

/// What leaves the process, a line each.
pub(super) fn output_lines(output: &Output) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, text) in [("stdout", &output.stdout), ("stderr", &output.stderr)] {
        for line in text.lines() {
            lines.push(format!("{name}  {}", crate::cli::make_visible(line)));
        }
    }
    if lines.is_empty() {
        lines.push("stdout  (nothing)".into());
    }
    lines.push(format!("exit    {}", output.status));
    lines
}
