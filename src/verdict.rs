//! Verdicts: how strong each is, and what an event's judgement amounts to.

use serde_json::{Map, Value};

words! {
    /// What a rule says, weakest first: a stronger one of any rule wins.
    Verb {
        /// Let it happen without asking the user.
        Allow = "allow",
        /// Ask the user.
        Ask = "ask",
        /// Suspend the call for later (print mode).
        Defer = "defer",
        /// Refuse. `block` is the same verb by its name on prompts, stops and after tools.
        Deny = "deny",
        /// Refuse and end the turn.
        Halt = "halt",
    }
}

impl Verb {
    /// Every verb, strongest first.
    pub const ALL: &'static [Verb] = &[Verb::Halt, Verb::Deny, Verb::Defer, Verb::Ask, Verb::Allow];

    /// Does it stop the call?
    pub const fn stops_call(self) -> bool {
        !matches!(self, Verb::Allow)
    }
}

/// Everything that is to be said to the agent about one event. Empty = silence.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The verdict, none where no rule spoke.
    pub verb: Option<Verb>,
    /// Why: ends with the rule that said so, `[user:no-force-push]`.
    pub reason: String,
    /// The complete new input of the tool.
    pub input: Option<Map<String, Value>>,
    /// The same of single operations, by number, where the call has several.
    pub elements: Vec<(usize, Map<String, Value>)>,
    /// The complete new result of the tool.
    pub response: Option<Value>,
    /// Texts for the model.
    pub context: Vec<String>,
    /// Texts for the human.
    pub notice: Vec<String>,
    /// A hook script asked for its output to be hidden: passed on, though today's client ignores
    /// it.
    pub suppress: bool,
    /// A refusal leaves the agent's run going, where its plain one ends it (`soft_deny`). Set on no
    /// answer that is silent.
    pub soft: bool,
}

impl Answer {
    /// Is there nothing to say?
    pub fn is_silent(&self) -> bool {
        *self == Answer::default()
    }
}
