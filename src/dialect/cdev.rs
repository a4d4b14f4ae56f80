//! cdev: a human at a phone decides about calls, and is told of sessions, permission prompts and
//! results. An address is the base of its paths; each body is the agent's own object.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Map, Value};
use sha2::{Digest as _, Sha256};

use super::answer::merge_patch;
use super::{
    Defaults, Dialect, Facts, Note, Reply, Request, Rival, SettingKey, Settings, Takes, object,
    random_number,
};
use crate::event::{Event, Kind};
use crate::files::{self, Refusal};
use crate::verdict::Verb;

pub(super) struct Cdev;

const TOOL_START: SettingKey = SettingKey {
    name: "tool_start",
    doc: "cdev: true = it is also told of each call that goes ahead",
    takes: Takes::Flag(false),
};
const GUARD: SettingKey = SettingKey {
    name: "guard",
    doc: "cdev: false = an allow for the session is believed, whoever gave it",
    takes: Takes::Flag(true),
};

/// What the commands of its own hooks in an agent's settings contain.
const HOOKS: &str = ".cdev/hooks/";
/// The key of its groups there.
const GROUP: &str = "_cdev_managed";
/// Those hooks.
static RIVAL: Rival = Rival {
    name: "cdev",
    remote: Some(
        "[remote.phone]\n\
         url = \"http://127.0.0.1:16180\"\n\
         dialect = \"cdev\"\n\
         events = [\"PreToolUse\", \"SessionStart\", \"Notification\", \"PostToolUse\", \"PostToolUseFailure\"]\n",
    ),
    twice: "the phone would be asked twice about every call",
    marks: &[HOOKS],
    told: Some("tool-start"),
    group_key: Some(GROUP),
};
/// The server reads one MiB and takes a body that is cut there for an empty one.
const LARGEST: usize = 1_000_000;
/// What it is told waits in a file where every quote takes two bytes.
const LARGEST_TOLD: usize = 500_000;
/// Texts up to this length stay whole.
const SHORT: usize = 256;
/// Where a text was cut, or a list.
const CUT: &str = "… [truncated ";
/// The name of that in a map.
const CUT_ITEMS: &str = "… [truncated]";
/// What saying so takes at most.
const MARK: usize = 48;
/// The two names of a result: Claude Code's, and the one that cdev reads.
const RESULTS: [&str; 2] = ["tool_response", "tool_result"];
/// What is cut before anything else: what came of a call.
const CUT_FIRST: [&str; 3] = ["tool_response", "tool_result", "error"];
/// What is called on what: a human must see all of it.
const WHOLE: [&str; 2] = ["command", "file_path"];

/// The tool whose description is shown; of others there is no room for what hookctl has to say.
const DESCRIBED: &str = "Bash";

static FACTS: Facts = Facts {
    names: &["cdev"],
    keys: &[TOOL_START, GUARD],
    // It answers by itself after 60 s. A question that is asked twice cannot be answered.
    defaults: Defaults {
        timeout: 65_000,
        retries: 0,
        delay: 0,
        deadline: 66_000,
        ..Defaults::SLOW
    },
    is_live: true,
    is_plain: false,
    is_human: true,
    remembers: true,
    title: "cdev",
    rival: Some(&RIVAL),
    hints: &[(401, "it wants a token, see token_file"), (426, "it wants https")],
    connect: Some(Duration::from_millis(500)),
    largest: LARGEST,
    ..Facts::ASKED
};

impl Dialect for Cdev {
    fn facts(&self) -> &'static Facts {
        &FACTS
    }

    fn address_fault(&self, path: &str) -> Option<(&'static str, &'static str)> {
        let whole = path.contains("/api/hooks");
        whole.then_some(("the address of cdev is its base", "end it before /api/hooks"))
    }

    fn is_asked_about(&self, kind: Kind) -> bool {
        kind.is_gate()
    }

    fn is_told_of(&self, kind: Kind) -> bool {
        matches!(kind, Kind::SessionStart | Kind::Notification) || is_end(kind)
    }

    /// Of notifications it knows one type.
    fn tells_of(&self, event: &Event) -> bool {
        let asks = || event.str_field("notification_type") == Some("permission_prompt");
        self.is_told_of(event.kind) && (event.kind != Kind::Notification || asks())
    }

    fn tells_starts(&self, own: &Settings) -> bool {
        own.flag(&TOOL_START)
    }

    fn believes_session_allow(&self, own: &Settings) -> bool {
        !own.flag(&GUARD)
    }

    /// What cannot be read may say so.
    fn is_asked_beside(&self, files: &[PathBuf]) -> bool {
        files.iter().any(|file| match files::read(file, files::LONG) {
            Ok(bytes) => {
                let text = String::from_utf8_lossy(&bytes).replace("\\\\", "/");
                [HOOKS, GROUP].iter().any(|mark| text.contains(mark))
            }
            Err(refusal) => !matches!(refusal, Refusal::Absent),
        })
    }

    fn body(&self, request: &Request, _: &Settings) -> Vec<u8> {
        let event = &request.event;
        let mut object = event.raw.clone();
        if is_end(event.kind) {
            let result = RESULTS.iter().find_map(|key| object.get(*key));
            // What went wrong is the result of a tool that failed.
            let result = result.or(object.get("error")).cloned();
            for key in RESULTS {
                if let (false, Some(result)) = (object.contains_key(key), &result) {
                    object.insert(key.into(), result.clone());
                }
            }
        }
        let is_told = matches!(request.note, Note::Test | Note::Ended(_));
        let most = if is_told { LARGEST_TOLD } else { LARGEST };
        if let Note::Effects(effects) = &request.note
            && event.tool == DESCRIBED
        {
            prepend_effects(&mut object, effects);
        }
        // Questions are known by it: of two with the same, nobody could answer the first.
        if event.kind.is_gate() {
            match event.call_id() {
                None => drop(object.insert("tool_use_id".into(), fresh_question_id(event).into())),
                Some(call) if request.twice => {
                    let own = format!("{call}-{:08x}", random_number() as u32);
                    object.insert("tool_use_id".into(), own.into());
                }
                Some(_) => {}
            }
        }
        fit_object(object, most, is_told)
    }

    fn read_answer(&self, _: &Settings, event: &Event, body: &str) -> Result<Reply, String> {
        let answer = object(body)?;
        let text = |key: &str| answer.get(key).and_then(Value::as_str).filter(|t| !t.is_empty());
        let decision = match answer.get("decision") {
            None | Some(Value::Null) if answer.get("ok") == Some(&Value::Bool(true)) => {
                return Err("not blocking: an old cdev, or no cdev at all".into());
            }
            None | Some(Value::Null) => return Err("it has no decision".into()),
            Some(decision) => decision.as_str().unwrap_or("?"),
        };
        let message = text("message");
        let mut reply = Reply::default();
        match decision {
            "" => return Err("it has no decision".into()),
            // Nobody looked at it: the agent's own mode holds.
            "allow" if message == Some("bypass_permissions") => {
                reply.passed_over = true;
                reply.notes.push("nobody was asked: the session bypasses permissions".into());
            }
            "allow" => {
                reply.verb = Some(Verb::Allow);
                reply.explicit = true;
                reply.reason = message.unwrap_or("Approved by cdev").into();
                reply.input = answered_input(&answer, event)?;
            }
            "deny" => {
                let interrupt = answer.get("interrupt") == Some(&Value::Bool(true));
                reply.verb = Some(if interrupt { Verb::Halt } else { Verb::Deny });
                reply.reason = message.unwrap_or("Denied by cdev").into();
            }
            _ => {
                reply.verb = Some(Verb::Ask);
                reply.notes.extend(message.map(|why| format!("it leaves the question: {why}")));
            }
        }
        if text("scope") == Some("session") && reply.verb.is_some() {
            let pattern = text("pattern").unwrap_or("no pattern");
            reply.notes.push(format!("for the session: {pattern}"));
        }
        Ok(reply)
    }

    fn request_path(&self, kind: Kind, told: bool) -> Option<&'static str> {
        Some(match kind {
            Kind::SessionStart => "/api/hooks/session",
            Kind::Notification => "/api/hooks/notification",
            kind if is_end(kind) => "/api/hooks/tool-end",
            Kind::PreToolUse if told => "/api/hooks/tool-start",
            _ => "/api/hooks/permission-request",
        })
    }

    /// It remembers by session, and asks nobody in two modes.
    fn in_new_session(&self, event: &Event, number: u64) -> Option<Event> {
        let mut event = event.clone();
        let session = format!("{}-{:08x}", event.session, number as u32);
        event.raw.insert("session_id".into(), session.into());
        // Nor may an id come twice. Without one, the body gets its own.
        if let Some(call) = event.call_id() {
            let call = format!("{call}-{:08x}", number as u32);
            event.raw.insert("tool_use_id".into(), call.into());
        }
        if event.raw.contains_key("permission_mode") {
            event.raw.insert("permission_mode".into(), "default".into());
        }
        Some(event)
    }

    /// Its health is open to all, and says nothing of tokens and questions.
    fn unattended_question(&self, event: &Event) -> Option<Event> {
        let mut event = event.clone();
        event.raw.insert("permission_mode".into(), "bypassPermissions".into());
        // The body gets one of its own each time.
        event.raw.shift_remove("tool_use_id");
        Some(event)
    }
}

/// Has a tool ended with events of this kind?
fn is_end(kind: Kind) -> bool {
    matches!(kind, Kind::PostToolUse | Kind::PostToolUseFailure)
}

/// An id for a question whose call has none: never twice the same.
fn fresh_question_id(event: &Event) -> String {
    let text = format!("{}\0{}\0{}", event.session, event.tool, event.input);
    let digest = Sha256::digest(text.as_bytes());
    let call = digest.iter().take(8).fold(0, |call, byte| call << 8 | u64::from(*byte));
    format!("hookctl-{call:016x}-{:08x}", random_number() as u32)
}

/// Puts the effects in front of what the agent says that it does.
fn prepend_effects(object: &mut Map<String, Value>, effects: &str) {
    let Some(Value::Object(input)) = object.get_mut("tool_input") else { return };
    let own = input.get("description").and_then(Value::as_str).unwrap_or_default();
    let description = format!("[{effects}] {own}");
    input.insert("description".into(), description.trim_end().into());
}

/// The input that the answer wants, whole.
fn answered_input(
    answer: &Map<String, Value>,
    event: &Event,
) -> Result<Option<Map<String, Value>>, String> {
    match answer.get("updated_input") {
        None | Some(Value::Null) => Ok(None),
        Some(patch @ Value::Object(_)) => {
            if patch.to_string().contains(CUT) {
                return Err("it changes a text that it was shown in part".into());
            }
            let (mut new, mut patch) = (event.input.clone(), patch.clone());
            // The phone was shown more there than the agent's own.
            if let (DESCRIBED, Some(patch)) = (event.tool.as_str(), patch.as_object_mut()) {
                patch.remove("description");
            }
            merge_patch(&mut new, &patch);
            Ok(new.as_object().filter(|_| new != event.input).cloned())
        }
        Some(_) => Err("an updated_input that is no object".into()),
    }
}

/// The object as JSON of that size at most, in time that grows with it: of the longest texts of its
/// result, then of its input, only the beginning stays, and of a result, or of an input that is `told`, only
/// the first items where that is too little. Larger where even that does not help.
fn fit_object(mut object: Map<String, Value>, most: usize, told: bool) -> Vec<u8> {
    let json = |object: &Map<String, Value>| serde_json::to_vec(object).unwrap_or_default();
    let whole = json(&object);
    let mut length = whole.len();
    for (keys, kept, items) in [(&CUT_FIRST[..], &[][..], true), (&["tool_input"], &WHOLE, told)] {
        if length <= most {
            break;
        }
        let parts = keys.iter().filter_map(|key| Some((*key, object.get(*key)?)));
        let now: usize = parts
            .clone()
            .map(|(_, value)| serde_json::to_vec(value).map_or(0, |all| all.len()))
            .sum();
        let sizes: Vec<(&str, Size)> =
            parts.map(|(key, value)| (key, Size::from_value(value, kept))).collect();
        let all: usize = sizes.iter().map(|(_, size)| size.all).sum();
        // What is cut later leaves room as well.
        let room = (most + now).saturating_sub(length).max(most / 8);
        for (key, size) in sizes {
            let mut cut = size.plan_cut(room * size.all / all.max(1), items);
            let part = object.get(key).and_then(|value| cut.cut_value(value, kept));
            object.insert(key.into(), part.unwrap_or_else(|| cut_items(1)));
        }
        length = json(&object).len();
    }
    if length <= most { json(&object) } else { whole }
}

/// How much room a value takes as JSON.
#[derive(Default)]
struct Size {
    /// At most, in bytes.
    all: usize,
    /// Those of its texts that may be cut.
    texts: Vec<usize>,
}

impl Size {
    fn from_value(value: &Value, kept: &[&str]) -> Size {
        let mut size = Size::default();
        size.add_value(value, kept);
        size
    }

    fn add_value(&mut self, value: &Value, kept: &[&str]) {
        self.all += own_size(value);
        match value {
            Value::String(text) => {
                self.texts.extend(Some(escaped_length(text)).filter(|len| *len > SHORT))
            }
            Value::Array(items) => items.iter().for_each(|item| self.add_value(item, &[])),
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                self.all += key_size(key);
                match kept.contains(&key.as_str()) {
                    true => self.all += own_size(value),
                    false => self.add_value(value, &[]),
                }
            }),
            _ => {}
        }
    }

    /// How it is cut to fit into that room. `items`: where shorter texts are too little, items go.
    fn plan_cut(&self, room: usize, items: bool) -> Cut {
        let saved = |longest: usize| -> usize {
            self.texts.iter().map(|text| text.saturating_sub(longest + MARK)).sum()
        };
        let mut longest = room.max(SHORT);
        while longest > SHORT && self.all - saved(longest) > room {
            longest = (longest / 2).max(SHORT);
        }
        let enough = !items || self.all - saved(longest) <= room;
        Cut { longest, room: if enough { usize::MAX } else { room } }
    }
}

/// What stays of a value.
struct Cut {
    /// The longest text, as JSON.
    longest: usize,
    /// The room that is left; once it is too little for something, nothing more stays.
    room: usize,
}

impl Cut {
    /// The value with no text longer than that, and no more items than there is room for; those of the names
    /// `kept` stay as they are. None where there is no room.
    fn cut_value(&mut self, value: &Value, kept: &[&str]) -> Option<Value> {
        let text = match value {
            Value::String(text) => cut_text(text, self.longest),
            _ => None,
        };
        let value = text.as_ref().unwrap_or(value);
        self.take_room(own_size(value))?;
        let mut gone = 0;
        match value {
            Value::Array(items) => {
                let mut out = Vec::new();
                for item in items {
                    match self.cut_value(item, &[]) {
                        Some(item) => out.push(item),
                        None => gone += 1,
                    }
                }
                out.extend((gone > 0).then(|| cut_items(gone)));
                Some(out.into())
            }
            Value::Object(map) => {
                let mut out = Map::new();
                for (key, value) in map {
                    let item = match kept.contains(&key.as_str()) {
                        true => Some(value.clone()),
                        false => {
                            self.take_room(key_size(key)).and_then(|()| self.cut_value(value, &[]))
                        }
                    };
                    match item {
                        Some(item) => drop(out.insert(key.clone(), item)),
                        None => gone += 1,
                    }
                }
                if gone > 0 {
                    out.insert(CUT_ITEMS.into(), cut_items(gone));
                }
                Some(out.into())
            }
            _ => Some(value.clone()),
        }
    }

    fn take_room(&mut self, size: usize) -> Option<()> {
        let left = self.room.checked_sub(size);
        self.room = left.unwrap_or(0);
        left.map(drop)
    }
}

/// At most so much a value takes by itself: with a comma, and where it has items with room for what says
/// that some are gone.
fn own_size(value: &Value) -> usize {
    match value {
        Value::Null | Value::Bool(_) => 6,
        Value::Number(number) => number.to_string().len() + 1,
        Value::String(text) => escaped_length(text) + 3,
        Value::Array(items) if items.is_empty() => 3,
        Value::Object(map) if map.is_empty() => 3,
        Value::Array(_) | Value::Object(_) => 3 + 2 * MARK,
    }
}

/// The same of a key.
fn key_size(key: &str) -> usize {
    escaped_length(key) + 3
}

/// The length of a text in JSON, without its quotes.
fn escaped_length(text: &str) -> usize {
    text.bytes().map(escaped_byte).sum()
}

fn escaped_byte(byte: u8) -> usize {
    match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 2,
        0..0x20 => 6,
        _ => 1,
    }
}

/// The beginning of a text that is longer than that as JSON, and how much is gone.
fn cut_text(text: &str, longest: usize) -> Option<Value> {
    // No text takes more than six times its length.
    if text.len() <= longest / 6 || escaped_length(text) <= longest + MARK {
        return None;
    }
    let mut room = longest;
    let fits = |byte: u8| {
        let left = room.checked_sub(escaped_byte(byte));
        room = left.unwrap_or(0);
        left.is_some()
    };
    let end = text.bytes().map(fits).position(|fits| !fits).unwrap_or(text.len());
    let end = text.floor_char_boundary(end);
    Some(format!("{}{CUT}{} bytes]", &text[..end], text.len() - end).into())
}

/// In the place of items that are gone.
fn cut_items(gone: usize) -> Value {
    format!("{CUT}{gone} items]").into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(value: Value) -> Map<String, Value> {
        super::object(&value.to_string()).unwrap()
    }

    #[test]
    fn s0_15_a_human_has_the_servers_time_and_one_request() {
        let defaults = FACTS.defaults;
        assert_eq!((defaults.timeout, defaults.retries), (65_000, 0));
        assert!(defaults.deadline >= defaults.timeout);
        assert!(FACTS.is_human);
    }

    #[test]
    fn s0_21_only_the_longest_texts_are_cut_and_never_what_is_called() {
        let (long, short) = ("ä\"".repeat(900_000), "x".repeat(200));
        let command = "y".repeat(300_000);
        let body = fit_object(
            object(json!({
                "session_id": "s", "tool_name": "Bash", "tool_use_id": "toolu_1",
                "tool_input": { "command": command, "content": long, "edits": [{ "new_string": long }] },
                "tool_response": { "stdout": long, "stderr": short },
            })),
            LARGEST,
            false,
        );
        assert!(body.len() <= LARGEST, "{}", body.len());
        let body: Value = serde_json::from_slice(&body).unwrap();
        assert_eq!(body["tool_use_id"], "toolu_1");
        assert_eq!(body["tool_input"]["command"], command);
        assert_eq!(body["tool_response"]["stderr"], short);
        for text in
            [&body["tool_response"]["stdout"], &body["tool_input"]["edits"][0]["new_string"]]
        {
            let text = text.as_str().unwrap();
            let (kept, rest) = text.split_once(CUT).unwrap();
            assert!(long.starts_with(kept));
            assert_eq!(rest, format!("{} bytes]", long.len() - kept.len()));
        }
        // What must not be cut may be too much.
        for (key, told) in [("command", false), ("command", true), ("items", false)] {
            let much = match key {
                "items" => json!(vec!["twenty letters, each"; 50_000]),
                _ => "z".repeat(LARGEST).into(),
            };
            let large = fit_object(object(json!({ "tool_input": { key: much } })), LARGEST, told);
            assert!(large.len() > LARGEST, "{key}");
        }
    }
}
