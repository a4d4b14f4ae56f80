//! `[[test]]`: calls and the verdicts that people expect of them, for `hookctl test`.
//!
//! A reader of its own: rules are read at every event, tests only where they are run or checked, and
//! no fault of a test costs a rule anything. What is written is taken down first (`Raw`), what it
//! means is settled then (`Raw::cases`).

use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value};
use toml::de::DeTable;

use super::condition::read_marks;
use super::fault::{Fault, meant};
use super::reader::{Item, Reader, Table, TreeValue, to_json_value};
use crate::event::Kind;
use crate::files;
use crate::marks::Marks;
use crate::verdict::Verb;

/// The keys of a test and what each means.
pub const KEYS: &[(&str, &str)] = &[
    ("name", "what the test is about"),
    ("command", "a command of the Bash tool; of a list, each is a case"),
    ("read", "a path for the Read tool; of a list, each is a case"),
    ("write", "a path for the Write tool; of a list, each is a case"),
    ("payload", "a whole event: a table, or the name of a JSON file beside this one"),
    ("tool", "any tool, by Claude Code's name, with `input`"),
    ("input", "that tool's whole input"),
    ("cwd", "the session's directory; ./ is the project, which is the default"),
    ("event", "the event that carries the call: PreToolUse unless said"),
    ("session", "marks that stand in the session: private, untrusted, sent"),
    ("verdict", "halt, deny, defer, ask, allow, silent, stopped, passed; or `not` and one of them"),
    ("rule", "the rule that gives the verdict, as reasons name it, or its bare id"),
];

/// What a call may be written as: a test has exactly one of these.
const CALLS: &[&str] = &["command", "read", "write", "payload", "tool"];

/// The words of `verdict`.
const VERDICTS: &[(&str, ExpectedVerdict)] = &[
    ("halt", ExpectedVerdict::Is(Some(Verb::Halt))),
    ("deny", ExpectedVerdict::Is(Some(Verb::Deny))),
    ("block", ExpectedVerdict::Is(Some(Verb::Deny))),
    ("defer", ExpectedVerdict::Is(Some(Verb::Defer))),
    ("ask", ExpectedVerdict::Is(Some(Verb::Ask))),
    ("allow", ExpectedVerdict::Is(Some(Verb::Allow))),
    ("silent", ExpectedVerdict::Is(None)),
    ("stopped", ExpectedVerdict::Stopped),
    ("passed", ExpectedVerdict::Passed),
];

/// What is expected, as a word says it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ExpectedVerdict {
    /// Exactly that; None = silence.
    Is(Option<Verb>),
    /// Anything that stops the call.
    Stopped,
    /// Silence or an allow.
    Passed,
}

/// The verdict that a test expects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WantedVerdict {
    /// As written: `deny`, `not allow`.
    pub text: String,
    verdict: ExpectedVerdict,
    not: bool,
}

impl WantedVerdict {
    /// Is that verdict what was expected? None = silence.
    pub fn accepts_verdict(&self, verb: Option<Verb>) -> bool {
        let is = match self.verdict {
            ExpectedVerdict::Is(wanted) => verb == wanted,
            ExpectedVerdict::Stopped => verb.is_some_and(Verb::stops_call),
            ExpectedVerdict::Passed => !verb.is_some_and(Verb::stops_call),
        };
        is != self.not
    }
}

/// The call or event of a case.
#[derive(Debug, Clone, PartialEq)]
pub enum CaseCall {
    /// A tool with the value of its main field.
    Main(String, String),
    /// A tool with its whole input.
    Tool(String, Map<String, Value>),
    /// A whole event.
    Payload(Map<String, Value>),
}

/// One call and what is expected of it.
#[derive(Debug, Clone, PartialEq)]
pub struct Case {
    /// What the test is about, empty where it has no name.
    pub name: String,
    /// Its line in the file, from 1.
    pub line: usize,
    /// What happens.
    pub call: CaseCall,
    /// The session's directory as written; None = the project's root.
    pub cwd: Option<String>,
    /// The event; None = what the payload says.
    pub event: Option<Kind>,
    /// The marks that stand in its session.
    pub session: Marks,
    /// The verdict.
    pub wanted: WantedVerdict,
    /// The rule that gives it.
    pub rule: Option<String>,
}

impl Case {
    /// Is that the rule that was expected? A bare id means any layer's.
    pub fn accepts_rule(&self, rule: &str) -> bool {
        self.rule.as_deref().is_none_or(|wanted| {
            wanted == rule || rule.split_once(':').is_some_and(|(_, id)| id == wanted)
        })
    }
}

/// The tests of a file.
#[derive(Debug, Clone, Default)]
pub struct Cases {
    /// The sound ones, in file order.
    pub cases: Vec<Case>,
    /// What is wrong with the others.
    pub faults: Vec<Fault>,
    /// The file holds nothing else.
    pub alone: bool,
}

/// Reads the tests of a file; names of payload files are meant from `base`. A file that is no TOML has
/// none: that is the other reader's fault to tell.
pub fn read_cases(text: &str, base: &Path) -> Cases {
    let mut out = Cases::default();
    let Ok(table) = DeTable::parse(text) else { return out };
    let table = Table::from_toml(table.get_ref());
    out.alone = table.keys().all(|key| key.get_ref() == "test");
    let Some(value) = table.get("test") else { return out };
    let mut r = Reader::new(text);
    let TreeValue::Array(items) = value.get_ref() else {
        r.add_error(
            "wrong-type",
            format!("expected tables for `test`, found a {}", value.get_ref().type_str()),
            value.span(),
        )
        .with_hint("write [[test]] above each");
        out.faults = r.faults;
        return out;
    };
    for item in items {
        let before = r.faults.len();
        let cases = Raw::read(item, &mut r).and_then(|raw| raw.into_cases(base, &mut r));
        if r.faults.len() == before {
            out.cases.extend(cases.unwrap_or_default());
        }
    }
    out.faults = r.faults;
    out
}

type Located<T> = Option<(T, Range<usize>)>;

/// A test as written: every value of its type, nothing else settled.
#[derive(Default)]
struct Raw {
    span: Range<usize>,
    name: Located<String>,
    /// The keys of [`CALLS`] that are there.
    calls: Vec<(&'static str, Range<usize>)>,
    /// The values of `command`, `read` or `write`.
    values: Vec<(String, Range<usize>)>,
    payload: Located<Value>,
    tool: Located<String>,
    input: Located<Map<String, Value>>,
    cwd: Located<String>,
    event: Located<String>,
    session: Marks,
    verdict: Located<String>,
    rule: Located<String>,
}

impl Raw {
    fn read(item: &Item<'_>, r: &mut Reader<'_>) -> Option<Raw> {
        let mut raw = Raw { span: item.span(), ..Raw::default() };
        for (key, value) in r.table(item, "test")? {
            let name = key.get_ref();
            if let Some(call) = CALLS.iter().find(|call| **call == name) {
                raw.calls.push((call, key.span()));
            }
            match name {
                "name" => raw.name = r.string(value),
                "command" | "read" | "write" => raw.values = r.strings(value),
                "payload" => match value.get_ref() {
                    TreeValue::Table(_) | TreeValue::String(_) => {
                        raw.payload = to_json_value(value).map(|payload| (payload, value.span()));
                    }
                    _ => r.wrong_type(value, "a table, or the name of a JSON file"),
                },
                "tool" => raw.tool = r.string(value),
                "input" => {
                    if r.table(value, "input").is_some()
                        && let Some(Value::Object(input)) = to_json_value(value)
                    {
                        raw.input = Some((input, key.span()));
                    }
                }
                "cwd" => raw.cwd = r.string(value),
                "event" => raw.event = r.string(value),
                "session" => raw.session = read_marks(value, r),
                "verdict" => raw.verdict = r.string(value),
                "rule" => raw.rule = r.string(value),
                other => r.unknown_key(other, key.span(), KEYS.iter().map(|(key, _)| *key)),
            }
        }
        Some(raw)
    }

    /// What is meant; None where that cannot be told.
    fn into_cases(self, base: &Path, r: &mut Reader<'_>) -> Option<Vec<Case>> {
        let calls = self.read_calls(base, r);
        let event = self.event_kind(r);
        let wanted = self.wanted_verdict(r);
        let (calls, event, wanted) = (calls?, event?, wanted?);
        let name = self.name.map(|(name, _)| name).unwrap_or_default();
        let (cwd, rule) = (self.cwd.map(|(cwd, _)| cwd), self.rule.map(|(rule, _)| rule));
        let case = |(call, at): (CaseCall, Range<usize>)| Case {
            name: name.clone(),
            line: r.line_number(at.start),
            call,
            cwd: cwd.clone(),
            event,
            session: self.session,
            wanted: wanted.clone(),
            rule: rule.clone(),
        };
        Some(calls.into_iter().map(case).collect())
    }

    /// Each call with its place.
    fn read_calls(&self, base: &Path, r: &mut Reader<'_>) -> Option<Vec<(CaseCall, Range<usize>)>> {
        let (key, _) = match self.calls.as_slice() {
            [one] => one,
            [] => {
                r.add_error("bad-test", "the test has no call", self.span.clone())
                    .with_hint(format!("one of {}", CALLS.join(", ")));
                return None;
            }
            [(first, _), (second, span), ..] => {
                r.add_error(
                    "bad-test",
                    format!("`{second}` beside `{first}`: a test has one call"),
                    span.clone(),
                )
                .with_hint("make two tests");
                return None;
            }
        };
        if let Some((_, span)) = self.input.as_ref().filter(|_| *key != "tool") {
            r.add_error("bad-test", format!("`input` beside `{key}`"), span.clone())
                .with_hint("`input` belongs to `tool`");
        }
        let main = |tool: &str| {
            let call = |(value, at): &(String, Range<usize>)| {
                (CaseCall::Main(tool.to_string(), value.clone()), at.clone())
            };
            Some(self.values.iter().map(call).collect())
        };
        match *key {
            "command" => main("Bash"),
            "read" => main("Read"),
            "write" => main("Write"),
            "tool" => {
                let input = self.input.as_ref().map(|(input, _)| input.clone());
                let call = CaseCall::Tool(self.tool.as_ref()?.0.clone(), input.unwrap_or_default());
                Some(vec![(call, self.span.clone())])
            }
            _ => {
                let (payload, span) = self.payload.as_ref()?;
                match payload_object(payload, base) {
                    Ok(payload) => Some(vec![(CaseCall::Payload(payload), self.span.clone())]),
                    Err(why) => {
                        r.add_error("bad-test", why, span.clone());
                        None
                    }
                }
            }
        }
    }

    fn event_kind(&self, r: &mut Reader<'_>) -> Option<Option<Kind>> {
        let whole = self.calls.iter().any(|(key, _)| *key == "payload");
        let Some((name, span)) = &self.event else {
            return Some((!whole).then_some(Kind::PreToolUse));
        };
        let kind = Kind::from_name(name);
        if kind == Kind::Other {
            r.add_error("unknown-event", format!("`{name}` is no event"), span.clone()).hint =
                meant(name, Kind::ALL.iter().map(|kind| kind.name()));
            return None;
        }
        if !whole && !kind.is_tool() {
            r.add_error("bad-test", format!("{name} carries no call of a tool"), span.clone())
                .with_hint("write the whole event as `payload`");
        }
        if whole {
            let named =
                self.payload.as_ref().and_then(|(payload, _)| payload.get("hook_event_name"));
            if named.is_some_and(|named| named != name.as_str()) {
                r.add_error("bad-test", "the payload names another event", span.clone())
                    .with_hint("leave one of the two out");
            }
        }
        Some(Some(kind))
    }

    fn wanted_verdict(&self, r: &mut Reader<'_>) -> Option<WantedVerdict> {
        let Some((text, span)) = &self.verdict else {
            r.add_error("bad-test", "the test expects nothing", self.span.clone())
                .with_hint("verdict = \"deny\", or what else should come of it");
            return None;
        };
        let (word, not) = match text.strip_prefix("not ") {
            Some(word) => (word.trim(), true),
            None => (text.as_str(), false),
        };
        let Some((_, verdict)) = VERDICTS.iter().find(|(name, _)| *name == word) else {
            r.unknown_word("verdict", word, span.clone(), VERDICTS.iter().map(|(name, _)| *name));
            return None;
        };
        let wanted = WantedVerdict { text: text.clone(), verdict: *verdict, not };
        if let Some((rule, span)) = &self.rule
            && *verdict == ExpectedVerdict::Is(None)
            && !not
        {
            r.add_error(
                "bad-test",
                format!("`{rule}` cannot give silence: no rule does"),
                span.clone(),
            )
            .with_hint("leave `rule` out");
        }
        Some(wanted)
    }
}

/// The payload itself, or what the file of that name holds.
fn payload_object(payload: &Value, base: &Path) -> Result<Map<String, Value>, String> {
    match payload {
        Value::Object(payload) => Ok(payload.clone()),
        Value::String(name) => {
            let bytes = files::read(&base.join(name), files::LARGE)
                .map_err(|refusal| format!("`{name}` {refusal}"))?;
            crate::payload::parse(&bytes).map_err(|error| format!("`{name}`: {error}"))
        }
        _ => Err("neither a table nor the name of a file".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(test: &str) -> Vec<(&'static str, String)> {
        let text = format!("[[test]]\n{test}\n");
        let read = read_cases(&text, Path::new("/nowhere"));
        assert_eq!(read.cases.is_empty(), !read.faults.is_empty(), "{test}");
        let part = |fault: &Fault| text[fault.span.clone()].to_string();
        read.faults.iter().map(|fault| (fault.code, part(fault))).collect()
    }

    #[test]
    fn every_fault_of_a_test_is_told_with_its_place() {
        let none: &[(&str, &str)] = &[];
        for (test, wanted) in [
            ("command = \"ls\"\nverdict = \"silent\"", none),
            ("command = [\"ls\", \"id\"]\nverdict = \"not allow\"", none),
            ("payload = { hook_event_name = \"Stop\" }\nverdict = \"passed\"", none),
            ("tool = \"WebSearch\"\nverdict = \"stopped\"\nrule = \"x\"", none),
            ("command = \"ls\"", &[("bad-test", "[[test]]")]),
            ("verdict = \"deny\"", &[("bad-test", "[[test]]")]),
            ("command = \"ls\"\nread = \"x\"\nverdict = \"ask\"", &[("bad-test", "read")]),
            (
                "comand = \"ls\"\nverdict = \"ask\"",
                &[("unknown-key", "comand"), ("bad-test", "[[test]]")],
            ),
            ("command = 3\nverdict = \"ask\"", &[("wrong-type", "3")]),
            ("command = []\nverdict = \"ask\"", &[("empty-list", "[]")]),
            ("command = \"ls\"\nverdict = \"dney\"", &[("unknown-word", "\"dney\"")]),
            (
                "command = \"ls\"\nverdict = true",
                &[("wrong-type", "true"), ("bad-test", "[[test]]")],
            ),
            (
                "command = \"ls\"\nevent = \"Nope\"\nverdict = \"ask\"",
                &[("unknown-event", "\"Nope\"")],
            ),
            ("command = \"ls\"\nevent = \"Stop\"\nverdict = \"ask\"", &[("bad-test", "\"Stop\"")]),
            ("command = \"ls\"\ninput = { a = 1 }\nverdict = \"ask\"", &[("bad-test", "input")]),
            ("tool = \"X\"\ninput = \"a\"\nverdict = \"ask\"", &[("wrong-type", "\"a\"")]),
            ("payload = \"no.json\"\nverdict = \"ask\"", &[("bad-test", "\"no.json\"")]),
            ("payload = 3\nverdict = \"ask\"", &[("wrong-type", "3")]),
            ("command = \"ls\"\nverdict = \"silent\"\nrule = \"x\"", &[("bad-test", "\"x\"")]),
            (
                "payload = { hook_event_name = \"Stop\" }\nevent = \"SubagentStop\"\nverdict = \"ask\"",
                &[("bad-test", "\"SubagentStop\"")],
            ),
        ] {
            let found = faults(test);
            let found: Vec<(&str, &str)> = found.iter().map(|(c, s)| (*c, s.as_str())).collect();
            assert_eq!(found, wanted, "{test}");
        }
        let text = "[test]\ncommand = \"ls\"\n";
        assert_eq!(read_cases(text, Path::new("/")).faults[0].code, "wrong-type");
    }

    #[test]
    fn a_list_is_as_many_cases_each_with_its_line() {
        let text = "[rule.x]\ndeny = \"x\"\n[[test]]\nname = \"n\"\ncommand = [\n  \"a\",\n  \"b\",\n]\nverdict = \"deny\"\n";
        let read = read_cases(text, Path::new("/"));
        assert!(!read.alone);
        let lines: Vec<usize> = read.cases.iter().map(|case| case.line).collect();
        assert_eq!(lines, [6, 7]);
        assert_eq!(read.cases[1].call, CaseCall::Main("Bash".into(), "b".into()));
        assert!(super::read_cases("[[test]]\n", Path::new("/")).alone);
    }

    #[test]
    fn what_words_mean() {
        let wanted = |text: &str| {
            let text = format!("[[test]]\ncommand = \"x\"\nverdict = \"{text}\"\n");
            read_cases(&text, Path::new("/")).cases.remove(0).wanted
        };
        let verbs = [None, Some(Verb::Allow), Some(Verb::Ask), Some(Verb::Deny)];
        for (word, holds) in [
            ("silent", [true, false, false, false]),
            ("passed", [true, true, false, false]),
            ("stopped", [false, false, true, true]),
            ("block", [false, false, false, true]),
            ("not allow", [true, false, true, true]),
            ("not stopped", [true, true, false, false]),
        ] {
            assert_eq!(verbs.map(|verb| wanted(word).accepts_verdict(verb)), holds, "{word}");
        }
    }

    #[test]
    fn a_bare_id_means_any_layer() {
        let text = "[[test]]\ncommand = \"x\"\nverdict = \"deny\"\nrule = \"a\"\n";
        let case = read_cases(text, Path::new("/")).cases.remove(0);
        assert!(
            case.accepts_rule("a") && case.accepts_rule("user:a") && !case.accepts_rule("user:b")
        );
    }
}
