//! Answers for Claude Code: one compact JSON object, PreCompact's plain text, an exit status 2 with
//! a reason on stderr where nothing else blocks, or nothing.
//!
//! Observed with 2.1.329: one wrong type, one `null` or a `hookEventName` that is not the event's
//! makes the client drop the whole answer and run the tool. So a field is written only where the
//! event honours it, and never without a value.

use super::events::EVENTS;
use crate::agent::Output;
use crate::agent::settled::{BLOCKED, cap_text, nonempty_texts, settle_verdict};
use crate::event::Kind;
use crate::text;
use crate::verdict::{Answer, Verb};
use serde_json::{Map, Value, json};

/// The answer to the event `kind`, sent as `name`, about `tool`.
pub fn render_event(kind: Kind, name: &str, tool: &str, answer: &Answer) -> Output {
    // Whatever a WorktreeCreate hook prints is taken for the worktree's path.
    if kind == Kind::WorktreeCreate || answer.is_silent() {
        return Output::default();
    }
    let mut body = Body { suppress: answer.suppress, ..Body::default() };
    body.notices = nonempty_texts(&answer.notice).map(|text| text::make_visible(text)).collect();
    let Some(spec) = EVENTS.iter().find(|spec| spec.kind == kind) else {
        // Of an event nobody knows, the common keys are all that can be relied on.
        return body.into_output(name);
    };
    let (verb, reason) = settle_verdict(spec, answer);
    if verb.is_some_and(Verb::stops_call) && !spec.verbs.is_empty() {
        body.refusal = Some(cap_text(reason.clone()));
    }
    let mut context =
        if spec.context { nonempty_texts(&answer.context).cloned().collect() } else { Vec::new() };

    match (kind, verb) {
        (Kind::PreToolUse | Kind::PreModelSwitch, Some(verb)) => {
            body.set_permission(verb, &reason);
            // `continue: false` alone lets the tool run and ends the turn after it (observed).
            if verb == Verb::Halt {
                body.end_turn(&reason);
            }
        }
        (Kind::PermissionRequest, Some(verb)) => body.set_dialog(verb, &reason, answer),
        // Their answers know the common keys only, and of these none refuses.
        (
            Kind::TaskCreated | Kind::TaskCompleted | Kind::TeammateIdle | Kind::ConfigChange,
            Some(_),
        ) => {
            // Nothing on stdout beside an exit status 2: the client reads JSON there all the same.
            return Output { stderr: cap_text(reason), status: 2, ..Output::default() };
        }
        (_, Some(_)) if spec.verbs.is_empty() => {
            // Nothing can be refused here: what the rule had to say is still said.
            if reason != BLOCKED {
                let told = if spec.context { &mut context } else { &mut body.notices };
                told.push(reason);
            }
        }
        (_, Some(Verb::Halt)) => body.end_turn(&reason),
        (_, Some(_)) => {
            body.top.insert("decision".into(), "block".into());
            body.top.insert("reason".into(), cap_text(reason).into());
        }
        (_, None) => {}
    }

    if kind == Kind::PreToolUse && matches!(verb, None | Some(Verb::Allow | Verb::Ask)) {
        body.change_input(answer);
    }
    if spec.replace {
        body.change_result(tool, answer);
    }
    if kind == Kind::PreCompact {
        // One or the other: the instructions of the summary are plain text, all else is JSON. A
        // notice gives way to the text, which is what the summary depends on.
        if verb.is_none() && !context.is_empty() {
            return Output { stdout: summary_instructions(&context), ..Output::default() };
        }
    } else if !context.is_empty() && hears_context(kind, verb) {
        body.specific.insert("additionalContext".into(), cap_text(context.join("\n")).into());
    }
    body.into_output(name)
}

/// Does context still reach the model beside that verdict? A refused prompt is never sent, and at a
/// stop context makes the agent go on, against the halt.
fn hears_context(kind: Kind, verb: Option<Verb>) -> bool {
    match kind {
        Kind::UserPromptSubmit | Kind::UserPromptExpansion => verb.is_none(),
        Kind::Stop | Kind::SubagentStop => verb != Some(Verb::Halt),
        _ => true,
    }
}

/// The parts of an answer that is JSON.
#[derive(Default)]
struct Body {
    /// The keys at the top.
    top: Map<String, Value>,
    /// What goes into `hookSpecificOutput`.
    specific: Map<String, Value>,
    /// Texts for the human.
    notices: Vec<String>,
    suppress: bool,
    /// The reason, where the answer stops something.
    refusal: Option<String>,
}

impl Body {
    /// The decision on a tool call or a switch of the model.
    fn set_permission(&mut self, verb: Verb, reason: &str) {
        let decision = match verb {
            Verb::Halt => Verb::Deny.name(),
            verb => verb.name(),
        };
        self.specific.insert("permissionDecision".into(), decision.into());
        if !reason.is_empty() {
            self.specific.insert("permissionDecisionReason".into(), cap_text(reason.into()).into());
        }
    }

    /// The answer in the place of a permission dialog. `interrupt` aborts the run.
    fn set_dialog(&mut self, verb: Verb, reason: &str, answer: &Answer) {
        let decision = match (verb, &answer.input) {
            (Verb::Allow, Some(input)) => json!({ "behavior": "allow", "updatedInput": input }),
            (Verb::Allow, None) => json!({ "behavior": "allow" }),
            (Verb::Halt, _) => {
                json!({ "behavior": "deny", "message": cap_text(reason.into()), "interrupt": true })
            }
            _ => json!({ "behavior": "deny", "message": cap_text(reason.into()) }),
        };
        self.specific.insert("decision".into(), decision);
    }

    /// The whole object, for it replaces the input; without a decision beside it the call takes its normal way
    /// through the permissions (both observed). A deferred call comes back to the rules when the session is resumed.
    fn change_input(&mut self, answer: &Answer) {
        if let Some(input) = &answer.input {
            self.specific.insert("updatedInput".into(), Value::Object(input.clone()));
        }
    }

    /// What the tool returned, also by the older name which only tools of MCP servers had.
    fn change_result(&mut self, tool: &str, answer: &Answer) {
        let Some(response) = answer.response.as_ref().filter(|one| !one.is_null()) else { return };
        self.specific.insert("updatedToolOutput".into(), response.clone());
        if tool.starts_with("mcp__") {
            self.specific.insert("updatedMCPToolOutput".into(), response.clone());
        }
    }

    /// Ends the turn, with the text that the client shows for it.
    fn end_turn(&mut self, reason: &str) {
        self.top.insert("continue".into(), false.into());
        self.top.insert("stopReason".into(), cap_text(reason.into()).into());
    }

    /// The one object, or nothing where there is nothing to say.
    fn into_output(mut self, name: &str) -> Output {
        if self.suppress {
            self.top.insert("suppressOutput".into(), true.into());
        }
        if !self.notices.is_empty() {
            self.top.insert("systemMessage".into(), cap_text(self.notices.join("\n")).into());
        }
        if !self.specific.is_empty() {
            let mut specific = Map::new();
            specific.insert("hookEventName".into(), name.into());
            specific.append(&mut self.specific);
            self.top.insert("hookSpecificOutput".into(), specific.into());
        }
        if self.top.is_empty() {
            return Output::default();
        }
        let stdout = Value::Object(self.top).to_string();
        Output { stdout, refusal: self.refusal, ..Output::default() }
    }
}

/// The instructions for a summary. A text that looks like JSON would be taken for an answer, so it
/// gets a first line that does not.
fn summary_instructions(context: &[String]) -> String {
    let text = context.join("\n\n");
    let json = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
    if json.starts_with(['{', '[']) { cap_text(format!("Note:\n{text}")) } else { cap_text(text) }
}
