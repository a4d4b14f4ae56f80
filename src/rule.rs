//! Rules: what a rule is once it has been read and found sound.
//!
//! `file.rs` and `reader.rs` read rule files and collect every fault, `condition.rs` and its `entries.rs` hold
//! each kind of condition, `list.rs` the lists with exclusions in them, `command.rs`, `path.rs` and `glob.rs` are the
//! patterns, `template.rs` the texts with placeholders, `shipped.rs` the packs inside the binary;
//! `concern.rs` and `index.rs` keep the hook path from reading what the call cannot concern.

use std::iter::Peekable;
use std::str::Chars;
use std::sync::OnceLock;

use crate::event::KindSet;
use crate::limits;
use crate::marks::Marks;
use crate::script::Dialect;
use crate::verdict::Verb;

pub mod action;
pub mod case;
pub mod command;
pub mod compiled;
pub mod concern;
pub mod condition;
pub mod fault;
pub mod file;
pub mod index;
pub mod later;
pub mod list;
pub mod needle;
pub mod packed;
#[cfg(test)]
#[path = "rule/packed/tests.rs"]
mod packed_tests;
pub mod path;
pub mod program;
pub mod reader;
pub mod shipped;
pub mod signature;
pub mod template;

pub use action::{Action, Command, Fields, Otherwise, Redact, Text, Verdict};
pub use condition::Conditions;
pub use list::PatternList;
pub use template::Template;

/// Three-valued: what hangs on a value known only at run time is neither yes nor no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Truth {
    /// Certainly not.
    No,
    /// Perhaps.
    Maybe,
    /// Certainly.
    Yes,
}

impl Truth {
    /// Both hold.
    #[must_use]
    pub fn and(self, other: Truth) -> Truth {
        self.min(other)
    }

    /// One of them holds.
    #[must_use]
    pub fn or(self, other: Truth) -> Truth {
        self.max(other)
    }
}

impl From<bool> for Truth {
    fn from(holds: bool) -> Truth {
        if holds { Truth::Yes } else { Truth::No }
    }
}

words! {
    /// Where a rule comes from, as it is shown before a rule's id: `user:no-force-push`. A later one has more
    /// authority.
    #[derive(Hash)]
    Layer {
        /// Shipped with hookctl.
        Pack = "pack",
        /// `.hookctl.toml` of the project.
        Project = "project",
        /// `.hookctl.local.toml` of the project.
        Local = "local",
        /// The user's own file.
        User = "user",
        /// The machine's administrator.
        Managed = "managed",
    }
}

impl Layer {
    /// Do rules of this layer belong to a repository's content?
    pub const fn is_project(self) -> bool {
        matches!(self, Layer::Project | Layer::Local)
    }
}

words! {
    /// How much harm a rule is about: shipped critical rules also fire on what is only possible.
    #[derive(Default)]
    Severity {
        /// A habit.
        Low = "low",
        /// The usual.
        #[default]
        Medium = "medium",
        /// Hard to undo.
        High = "high",
        /// Cannot be undone.
        Critical = "critical",
    }
}

/// From which grade on a deny or ask fires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Certainty {
    /// What the profile says.
    #[default]
    Profile,
    /// On possible effects too in profile `strict`: shipped rules that say what for.
    Strict,
    /// On possible effects too, in every profile.
    Possible,
}

words! {
    /// Where a rule is enforced; elsewhere it is evaluated, and the journal says what it would have done. A later one is
    /// stricter.
    #[derive(Default)]
    RuleMode {
        /// Nowhere.
        Observe = "observe",
        /// In profile `strict`.
        Strict = "strict",
        /// Everywhere.
        #[default]
        Enforce = "enforce",
    }
}

impl RuleMode {
    /// Is the rule only evaluated in that profile?
    pub fn observes_in(self, profile: Profile) -> bool {
        match self {
            RuleMode::Observe => true,
            RuleMode::Strict => profile != Profile::Strict,
            RuleMode::Enforce => false,
        }
    }
}

/// One sound rule.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Rule {
    /// `[a-z0-9-]+`, unique in its file.
    pub id: String,
    /// Its file's layer.
    pub layer: Option<Layer>,
    /// The line of its header, from 1.
    pub line: usize,
    /// The events it speaks of.
    pub on: KindSet,
    /// True where the file names the events.
    pub on_named: bool,
    /// What must hold.
    pub conditions: Conditions,
    /// What must not hold of the same effect.
    pub unless: Option<Box<Conditions>>,
    /// What it says where it holds.
    pub verdict: Verdict,
    /// What it does beside that, each kind at most once.
    pub actions: Vec<Action>,
    /// Where it is enforced, and where only evaluated and journalled.
    pub mode: RuleMode,
    /// How grave.
    pub severity: Severity,
    /// From which grade on it fires.
    pub certainty: Certainty,
    /// Where it stands among rules of its layer: the reason of a higher one is told first, its changes hold.
    pub priority: u8,
    /// What the human is asked, before the reason of an ask.
    pub question: Option<Template>,
    /// Of a shipped rule: it denies, and a file has it ask. Its reason speaks to the model, but for the first sentence.
    pub was_deny: bool,
    /// How often in a row a stop may be blocked.
    pub repeat: u32,
    /// A pause leaves it in force, and profile `observe`: a shipped rule that guards hookctl itself, or one that the
    /// administrator locked.
    pub stays: bool,
}

impl Rule {
    /// Is it only evaluated in that profile?
    pub fn is_observed(&self, profile: Profile) -> bool {
        let watched = profile == Profile::Observe && self.layer() == Layer::Pack && !self.stays;
        watched || self.mode.observes_in(profile)
    }

    /// The marks that it sets on the session.
    pub fn marks(&self) -> Marks {
        let marks = self.actions.iter().map(|action| match action {
            Action::Mark(marks) => *marks,
            _ => Marks::NONE,
        });
        marks.fold(Marks::NONE, Marks::union)
    }

    /// Does it ask for marks of the session?
    pub fn asks_session(&self) -> bool {
        let unless = self.unless.as_ref().is_some_and(|unless| !unless.when.session.is_empty());
        unless || !self.conditions.when.session.is_empty()
    }

    /// `user:no-force-push`; shipped rules by their bare id.
    pub fn qualified_name(&self) -> String {
        match self.layer {
            None | Some(Layer::Pack) => self.id.clone(),
            Some(layer) => format!("{}:{}", layer.name(), self.id),
        }
    }

    /// The rule's layer.
    pub fn layer(&self) -> Layer {
        self.layer.unwrap_or(Layer::Pack)
    }

    /// Whose word holds among rules that say alike: the higher layer's, then that of the higher priority.
    pub fn authority(&self) -> (Layer, u8) {
        (self.layer(), self.priority)
    }

    /// Whose reason is told first: of the same authority that of the graver one. Shipped rules stand in the order in
    /// which they say best what is wrong.
    pub fn telling_order(&self) -> (Layer, u8, Severity) {
        let shipped = self.layer() == Layer::Pack;
        (self.layer(), self.priority, if shipped { Severity::default() } else { self.severity })
    }

    /// The verb of its verdict.
    pub fn verb(&self) -> Option<Verb> {
        self.verdict.verb()
    }

    /// Is it a shipped allow beside which no program stands for itself: each must be named by one?
    pub fn is_closed(&self) -> bool {
        matches!(self.verdict, Verdict::Allow { closed: true, .. })
    }

    /// The hook script that judges as well, and how it answers.
    pub fn hook_script(&self) -> Option<(&Command, Dialect)> {
        self.actions.iter().find_map(|action| match action {
            Action::Hook { command, dialect, .. } => Some((command, *dialect)),
            _ => None,
        })
    }

    /// The server that it asks, or tells.
    pub fn remote_name(&self) -> Option<&str> {
        self.actions.iter().find_map(|action| match action {
            Action::Remote { server, .. } => Some(server.as_str()),
            _ => None,
        })
    }

    /// Does it have a judge outside: a script or a server?
    pub fn consults_outside(&self) -> bool {
        self.remote_name().is_some() || self.has_hooks()
    }

    /// Do hook scripts judge as well: one that it names, or those of settings files?
    pub fn has_hooks(&self) -> bool {
        let hooks = |one: &Action| matches!(one, Action::Hook { .. } | Action::HookSettings { .. });
        self.actions.iter().any(hooks)
    }

    /// The settings files whose hooks it runs, as written.
    pub fn hook_settings(&self) -> &[String] {
        let files = self.actions.iter().find_map(|action| match action {
            Action::HookSettings { files, .. } => Some(files.as_slice()),
            _ => None,
        });
        files.unwrap_or_default()
    }

    /// The fields of the input that it changes.
    pub fn input_changes(&self) -> Option<&Fields> {
        self.actions.iter().find_map(|action| match action {
            Action::Rewrite(fields) => Some(fields),
            _ => None,
        })
    }

    /// The fields of the tool's result that it changes.
    pub fn result_changes(&self) -> Option<&Fields> {
        self.actions.iter().find_map(|action| match action {
            Action::Replace(fields) => Some(fields),
            _ => None,
        })
    }

    /// Does it take anything out of what a tool returned?
    pub fn redacts_result(&self) -> bool {
        self.actions.iter().any(|action| matches!(action, Action::Redact(_)))
    }

    /// What a failing hook script or server amounts to.
    pub fn failure_fallback(&self) -> Otherwise {
        let mut found = self.actions.iter().filter_map(|action| match action {
            Action::Hook { otherwise, .. }
            | Action::HookSettings { otherwise, .. }
            | Action::Remote { otherwise, .. } => Some(*otherwise),
            _ => None,
        });
        found.next().unwrap_or_default()
    }

    /// Does the rule do anything beside its verdict that touches the world?
    pub fn has_side_effects(&self) -> bool {
        self.runs_or_writes() || self.remote_name().is_some()
    }

    /// Does it run or write anything?
    pub fn runs_or_writes(&self) -> bool {
        self.actions.iter().any(|action| matches!(action, Action::Env(_)))
            || !self.hook_settings().is_empty()
            || self.commands().next().is_some()
    }

    /// May an untrusted project's rule take effect: it only denies or asks on a tool call.
    pub fn only_tightens(&self) -> bool {
        matches!(self.verb(), Some(Verb::Deny | Verb::Ask))
            && self.actions.is_empty()
            && self.commands().next().is_none()
    }

    /// Every text with placeholders in it.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let actions = self.actions.iter().flat_map(Action::templates);
        let commands = self.commands().map(|command| &command.script);
        self.verdict.reason().into_iter().chain(&self.question).chain(actions).chain(commands)
    }

    /// Gives a shipped rule the reason of a file: for whoever is told.
    pub fn replace_reason(&mut self, own: &file::Override) {
        let Some(text) = own.reason.as_ref() else { return };
        self.verdict.replace_reason(text);
        self.question = None;
        self.was_deny = false;
    }

    /// Every command that it runs.
    pub fn commands(&self) -> impl Iterator<Item = &Command> {
        let unless = self.unless.as_ref().and_then(|unless| unless.when.run.as_ref());
        let asked = [self.verdict.awaited_command(), self.conditions.when.run.as_ref(), unless];
        asked.into_iter().flatten().chain(self.actions.iter().filter_map(Action::command))
    }
}

words! {
    /// How much is asked: the shipped rules' own knob.
    #[derive(Default)]
    Profile {
        /// Evaluate and journal only.
        Observe = "observe",
        /// The default.
        #[default]
        Guard = "guard",
        /// Fires on possible effects and unknown reads too.
        Strict = "strict",
    }
}

/// A regular expression, compiled when it is first asked.
///
/// regex-lite on purpose: linear in the text like `regex`, without tables for Unicode, and compiled
/// in microseconds, where `regex` takes half a millisecond (it asks the machine for its processors).
#[derive(Debug, Clone)]
pub struct Regex {
    /// As written.
    pub source: String,
    /// A text that stands in whatever the pattern matches, in lower case; empty where unknown.
    needle: OnceLock<String>,
    compiled: OnceLock<Option<regex_lite::Regex>>,
}

impl PartialEq for Regex {
    fn eq(&self, other: &Regex) -> bool {
        self.source == other.source
    }
}

impl Eq for Regex {}

impl Regex {
    /// A pattern that is compiled later.
    pub fn new(source: impl Into<String>) -> Regex {
        Regex { source: source.into(), needle: OnceLock::new(), compiled: OnceLock::new() }
    }

    /// Why the pattern cannot be used, where it cannot.
    pub fn find_fault(&self) -> Option<String> {
        if self.source.len() > limits::REGEX {
            return Some(format!("longer than {} bytes", limits::REGEX));
        }
        if self.get().is_some() {
            return None;
        }
        Self::compile(&self.source).err().map(|error| error.to_string())
    }

    /// The compiled pattern; None where it cannot be compiled, which loading has reported.
    pub fn get(&self) -> Option<&regex_lite::Regex> {
        let build = || {
            (self.source.len() <= limits::REGEX).then(|| Self::compile(&self.source).ok()).flatten()
        };
        self.compiled.get_or_init(build).as_ref()
    }

    /// Does it match anywhere in the text?
    pub fn is_match(&self, text: &str) -> bool {
        let needle = self.needle.get_or_init(|| longest_literal(&self.source));
        contains_folded(text, needle)
            && self.is_affordable(text)
            && self.get().is_some_and(|regex| regex.is_match(text))
    }

    /// Does the event's budget reach for a search of that text?
    pub fn is_affordable(&self, text: &str) -> bool {
        limits::may_search(text.len(), count_states(&self.source))
    }

    /// The text with each match, or only the first, as `each` writes it; None where the event's budget or the
    /// most that a text may become does not reach for it.
    pub fn replace(
        &self,
        text: &str,
        all: bool,
        mut each: impl FnMut(&regex_lite::Captures<'_>, &mut String),
    ) -> Option<String> {
        if !self.is_affordable(text) {
            return None;
        }
        let mut out = String::new();
        let mut done = 0;
        let most = if all { usize::MAX } else { 1 };
        for found in self.get()?.captures_iter(text).take(most) {
            let whole = found.get(0)?;
            out.push_str(&text[done..whole.start()]);
            each(&found, &mut out);
            done = whole.end();
            // Each may have been sought to the end of the text.
            if out.len() > limits::FILLED || !limits::spend_steps(64 + (text.len() - done) / 16) {
                return None;
            }
        }
        out.push_str(&text[done..]);
        Some(out)
    }

    fn compile(source: &str) -> Result<regex_lite::Regex, regex_lite::Error> {
        regex_lite::RegexBuilder::new(source).size_limit(limits::REGEX_MEMORY).build()
    }
}

/// About how many states the pattern has when it is compiled: a count of repetitions multiplies.
fn count_states(pattern: &str) -> usize {
    /// More are not compiled.
    const MOST: usize = limits::REGEX_MEMORY;
    let mut groups: Vec<usize> = Vec::new();
    // What there is so far in this group, and its last element.
    let (mut sum, mut last) = (0_usize, 0_usize);
    let mut rest = pattern.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        let element = match byte {
            b'(' => {
                groups.push(sum);
                (sum, last) = (0, 0);
                continue;
            }
            b')' => {
                let inside = sum + 2;
                sum = groups.pop().unwrap_or_default();
                inside
            }
            b'{' => {
                let text = pattern[at + 1..].split('}').next().unwrap_or_default();
                let count = text.split(',').filter_map(|n| n.trim().parse::<usize>().ok()).max();
                last = last.saturating_mul(count.unwrap_or(1)).min(MOST);
                last
            }
            b'\\' => {
                rest.next();
                1
            }
            _ => 1,
        };
        if byte != b'{' {
            last = element;
        }
        sum = (sum + element).min(MOST);
    }
    groups.iter().fold(sum, |all, outer| all + outer).min(MOST)
}

/// Does the text hold the ASCII needle, which is in lower case, in any case?
fn contains_folded(text: &str, needle: &str) -> bool {
    let (text, needle) = (text.as_bytes(), needle.as_bytes());
    let Some((&first, rest)) = needle.split_first() else { return true };
    let mut at = 0;
    while let Some(found) =
        memchr::memchr2(first, first.to_ascii_uppercase(), text.get(at..).unwrap_or_default())
    {
        at += found + 1;
        if text.get(at..at + rest.len()).is_some_and(|next| next.eq_ignore_ascii_case(rest)) {
            return true;
        }
    }
    false
}

/// The longest text that every match of the pattern holds, as far as a look over it can tell:
/// nothing inside groups and classes counts, and nothing at all where there are alternatives.
fn longest_literal(pattern: &str) -> String {
    let mut rest = pattern;
    for flags in ["(?i)", "(?s)", "(?m)", "(?is)", "(?im)", "(?ms)"] {
        rest = rest.strip_prefix(flags).unwrap_or(rest);
    }
    if rest.contains('|') || rest.contains("(?") {
        return String::new();
    }
    let (mut best, mut run) = (String::new(), String::new());
    let mut chars = rest.chars().peekable();
    let mut depth = 0;
    while let Some(c) = chars.next() {
        let literal = match element(c, &mut chars, &mut depth) {
            Element::Char(c) => Some(c),
            Element::Other => None,
            Element::Unclear => return String::new(),
        };
        // Only plain ASCII outside of groups, and not where it may be left out.
        let optional = matches!(chars.peek(), Some('*' | '?' | '{'));
        match literal {
            Some(c) if depth == 0 && c.is_ascii() && !optional => run.push(c.to_ascii_lowercase()),
            _ => {
                if run.len() > best.len() {
                    best.clone_from(&run);
                }
                run.clear();
            }
        }
    }
    if run.len() > best.len() { run } else { best }
}

/// What stands in a pattern, for [`longest_literal`].
enum Element {
    /// This character itself.
    Char(char),
    /// Something else.
    Other,
    /// What is not worth following.
    Unclear,
}

/// What begins with that character; the rest of it is taken. `depth` counts groups.
fn element(c: char, rest: &mut Peekable<Chars<'_>>, depth: &mut i32) -> Element {
    match c {
        '\\' => match rest.next() {
            Some(escaped) if escaped.is_ascii_punctuation() => return Element::Char(escaped),
            Some('b' | 'B' | 'd' | 'D' | 'w' | 'W' | 's' | 'S' | 'A' | 'z') => {}
            // Code points and whatever else comes.
            _ => return Element::Unclear,
        },
        '[' => return class(rest),
        '(' => *depth += 1,
        ')' => *depth -= 1,
        '{' => drop(rest.find(|c| *c == '}')),
        '.' | '^' | '$' | '*' | '+' | '?' | '}' | ']' => {}
        c => return Element::Char(c),
    }
    Element::Other
}

/// The rest of a class.
fn class(rest: &mut Peekable<Chars<'_>>) -> Element {
    let mut first = true;
    while let Some(inside) = rest.next() {
        match inside {
            '\\' => drop(rest.next()),
            // Classes can hold classes: too much for a look.
            '[' => return Element::Unclear,
            ']' if !first => break,
            '^' if first => continue,
            _ => {}
        }
        first = false;
    }
    Element::Other
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn states_of_patterns() {
        for (pattern, least, most) in [
            ("abc", 3, 6),
            ("a{100}", 100, 200),
            ("(a{100}){50}b", 5000, 12_000),
            ("(a|b(c|d{3})){10}", 50, 200),
            ("(a{1000}){1000}", 100_000, 1 << 20),
            (r"\{5000}x{", 3, 20_000),
            ("a{1000}(b){100}", 1000, 3000),
        ] {
            let found = count_states(pattern);
            assert!((least..=most).contains(&found), "{pattern}: {found}");
        }
        assert!(Regex::new("(a{1000}){1000}").find_fault().is_some());
        assert!(Regex::new("a".repeat(20_000)).find_fault().unwrap().contains("longer than"));
    }

    #[test]
    fn literals_of_patterns() {
        for (pattern, wanted) in [
            (r"(?i)\bdo not merge\b", "do not merge"),
            ("colou?r", "colo"),
            ("a+bc", "bc"),
            ("x{2}yz", "yz"),
            ("(abc)?de", "de"),
            ("[abc]def", "def"),
            ("a|bcd", ""),
            (r"\d{3}-token", "-token"),
            (r"a\.b", "a.b"),
        ] {
            assert_eq!(longest_literal(pattern), wanted, "{pattern}");
        }
    }

    #[test]
    fn a_needle_is_found_in_any_case() {
        for (text, needle, wanted) in [
            ("", "", true),
            ("x", "", true),
            ("", "a", false),
            ("xabc", "abc", true),
            ("aABc", "abc", true),
            ("aab", "ab", true),
            ("ab", "abc", false),
            ("acb", "ab", false),
        ] {
            assert_eq!(contains_folded(text, needle), wanted, "{needle} in {text}");
        }
    }

    proptest! {
        #[test]
        fn a_literal_never_hides_a_match(
            pattern in r"(\(\?i\))?([ab.*+?^$]|\[ab\]|\(a\)|\\w|\\b|a\{1,2\}){0,8}",
            text in "[abAB]{0,8}",
        ) {
            let Ok(oracle) = regex_lite::Regex::new(&pattern) else { return Ok(()) };
            prop_assert_eq!(Regex::new(pattern.clone()).is_match(&text), oracle.is_match(&text), "{}", pattern);
        }
    }
}
