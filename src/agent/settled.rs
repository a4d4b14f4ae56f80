//! What an event of an agent can say of an answer: what it cannot becomes stricter, or silence.
//!
//! The one place where verbs degrade (contracts: verbs). An agent's file says in its table of events
//! what each can express, takes the [`Settled`] answer and writes its words.

use serde_json::{Map, Value};

use super::{EventSpec, Output};
use crate::event::Kind;
use crate::text;
use crate::verdict::{Answer, Verb};

/// The most UTF-16 units that a text may have: the client moves longer context, messages and plain
/// text into a file and shows a preview (observed: 10 000 pass, 10 001 do not). Reasons have no such
/// limit there, but a model's context does.
pub const TEXT_LIMIT: usize = 10_000;

/// The longest name of a rule that is kept where a reason is cut, in bytes.
const LONGEST_NAME: usize = 200;

/// The reason of a verdict that came without one: an empty one reads as a client's own failure.
pub const BLOCKED: &str = "Blocked by hookctl";

/// An answer as far as the event can express it.
#[derive(Debug, Default, PartialEq)]
pub struct Settled {
    /// A verb that the event has; none = the agent goes its own way.
    pub verb: Option<Verb>,
    /// Why; empty without a verb, never empty beside one that refuses.
    pub reason: String,
    /// The complete new input, by Claude Code's keys: only where the event can rewrite and nothing is
    /// refused.
    pub input: Option<Map<String, Value>>,
    /// The same of single operations, by number.
    pub elements: Vec<(usize, Map<String, Value>)>,
    /// The complete new result of the tool, where the event can replace it.
    pub response: Option<Value>,
    /// Text for the model; empty = none.
    pub context: String,
    /// Text for the human; empty = none.
    pub notice: String,
}

impl Settled {
    /// Is the call, the prompt or the end of the turn refused?
    pub fn refuses(&self) -> bool {
        matches!(self.verb, Some(Verb::Deny | Verb::Halt))
    }

    /// As exit status 2 with the reason on stderr, or plain text on stdout for the model.
    pub fn into_exit_status(self) -> Output {
        match self.refuses() {
            true => Output { stderr: self.reason, status: 2, ..Output::default() },
            false => Output { stdout: self.context, stderr: self.notice, ..Output::default() },
        }
    }

    /// Is there nothing to say?
    pub fn is_silent(&self) -> bool {
        *self == Settled::default()
    }
}

/// What the event can say of the answer.
pub fn settle_answer(spec: &EventSpec, answer: &Answer) -> Settled {
    let (mut verb, mut reason) = settle_verdict(spec, answer);
    let mut context: Vec<String> = nonempty_texts(&answer.context).cloned().collect();
    let mut notice: Vec<String> =
        nonempty_texts(&answer.notice).map(|text| text::make_visible(text)).collect();
    if verb.is_some_and(|verb| !spec.verbs.contains(&verb)) {
        // Nothing can be refused here: what the rule had to say is still said.
        let said = std::mem::take(&mut reason);
        verb = None;
        if said != BLOCKED {
            if spec.context { context.push(said) } else { notice.push(said) }
        }
    }
    let refused = matches!(verb, Some(Verb::Deny | Verb::Halt));
    let rewrites = spec.rewrite && !refused;
    Settled {
        verb,
        reason: if verb.is_some() { cap_text(reason) } else { String::new() },
        input: answer.input.clone().filter(|_| rewrites),
        elements: if rewrites { answer.elements.clone() } else { Vec::new() },
        response: answer.response.clone().filter(|one| spec.replace && !one.is_null()),
        context: if spec.context { cap_text(context.join("\n")) } else { String::new() },
        notice: cap_text(notice.join("\n")),
    }
}

/// What the event can express of the verdict: what it cannot becomes stricter, or silence.
pub fn settle_verdict(spec: &EventSpec, answer: &Answer) -> (Option<Verb>, String) {
    let mut verb = answer.verb;
    let mut reason = answer.reason.trim().to_string();
    if (answer.input.is_some() || !answer.elements.is_empty()) && !spec.rewrite {
        if !verb.is_some_and(Verb::stops_call) {
            let name = spec.kind.name();
            reason = format!("A rule rewrites the input, which {name} cannot do. {reason}");
        }
        verb = verb.max(Some(Verb::Deny));
    }
    let verb = match verb {
        Some(verb) if spec.verbs.contains(&verb) => Some(verb),
        None | Some(Verb::Allow) => None,
        // The dialog that is about to open is the question.
        Some(Verb::Ask) if spec.kind == Kind::PermissionRequest => None,
        // The turn is at its end: to refuse that would make the agent go on. It is only said.
        Some(Verb::Halt) if matches!(spec.kind, Kind::Stop | Kind::SubagentStop) => {
            Some(Verb::Halt)
        }
        Some(Verb::Ask | Verb::Defer | Verb::Deny | Verb::Halt) => Some(Verb::Deny),
    };
    let default = match verb {
        Some(Verb::Deny | Verb::Halt) => BLOCKED,
        // A question needs none: nobody answered it elsewhere.
        _ => "",
    };
    let reason = reason.trim_end();
    (verb, if reason.is_empty() { default.to_string() } else { text::make_visible(reason) })
}

/// The texts that say something.
pub fn nonempty_texts(all: &[String]) -> impl Iterator<Item = &String> {
    all.iter().filter(|text| !text.trim().is_empty())
}

/// At most [`TEXT_LIMIT`] units of the text, with a note of how much is missing; the rule that a reason
/// ends with stays.
pub fn cap_text(text: String) -> String {
    // No text has more UTF-16 units than bytes.
    if text.len() <= TEXT_LIMIT || text.encode_utf16().count() <= TEXT_LIMIT {
        return text;
    }
    let note = |missing: usize| format!("\n[cut by hookctl: {missing} characters more]");
    let total = text.chars().count();
    let rule = text.rfind(" [").filter(|at| text.ends_with(']') && text.len() - at <= LONGEST_NAME);
    let rule = rule.map_or("", |at| &text[at..]);
    let room = TEXT_LIMIT - note(total).len() - rule.len();
    let (mut units, mut kept, mut end) = (0, 0, 0);
    for (at, char) in text.char_indices() {
        units += char.len_utf16();
        if units > room {
            break;
        }
        kept += 1;
        end = at + char.len_utf8();
    }
    let missing = total - kept - rule.chars().count();
    format!("{}{}{rule}", &text[..end], note(missing))
}
