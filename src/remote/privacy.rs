//! What a server is shown of an event: never a secret, and with `send = "summary"` or `"hash"` no
//! contents either. A human is shown nothing that hides, reorders or controls what they see, and what a
//! call would do.
//!
//! The view is made once for all dialects, before any of them sees the event, and keeps the shape
//! of the payload: only texts differ. `restore` is the way back.

use std::borrow::Cow;
use std::io::Write as _;
use std::path::Path;

use serde_json::{Map, Value};

use crate::dialect::{self, Note, Request};
use crate::event::Event;
use crate::files;
use crate::payload;
use crate::redact;
use crate::rule::file::remote::Send;
use crate::text;
use crate::trust;

/// Fields of the payload that stay readable in a summary and beside hashes, with all below them.
const NAMES: &[&str] = &[
    // Which event of which session it is: what a server finds its own record of it by.
    "hook_event_name",
    "session_id",
    "prompt_id",
    "correlation_id",
    "tool_use_id",
    "agent_id",
    "task_id",
    "message_id",
    // Who does what: names and words of the agent's own, which a policy decides by.
    "tool_name",
    "agent_type",
    "permission_mode",
    "command_name",
    "command_source",
    "mcp_server_name",
    "notification_type",
    "expansion_type",
    "memory_type",
    "load_reason",
    "source",
    "trigger",
    "event",
    "mode",
    "action",
    "model",
    "from_model",
    "to_model",
    "requested_model",
    "effort",
];

/// Fields that say where it happens: readable in a summary, a hash beside hashes.
const PLACES: &[&str] = &[
    "cwd",
    "old_cwd",
    "new_cwd",
    "directory",
    "worktree_path",
    "transcript_path",
    "agent_transcript_path",
    "file_path",
    "parent_file_path",
];

/// Fields of a tool's input that say what is called on what ([`Event::what`]): as places.
const WHAT: &[&str] = &["command", "file_path", "notebook_path", "path", "url"];

/// Fields with what a tool returned: nobody is asked about it, and it comes back changed.
const RESULTS: &[&str] = &["tool_response", "tool_result"];

/// What of the request is shown with this setting, to a human or to a program; None = all of it, as it came.
pub(super) fn view(request: &Request, send: Send, human: bool) -> Option<Request> {
    let salt = if send == Send::Hash { salt(&request.salt) } else { String::new() };
    let veil = Veil { send, salt, human };
    let event = &request.event;
    let mut raw = event.raw.clone();
    let mut differs = veil.payload(&mut raw);
    let input = match event.raw.get("tool_input") == Some(&event.input) {
        true => raw["tool_input"].clone(),
        false => {
            let mut input = event.input.clone();
            differs |= veil.input(&mut input) | (human && write_out(&mut input));
            input
        }
    };
    let asks = human && send == Send::Full && event.kind.is_gate() && !request.effects.is_empty();
    let mut note = match request.note {
        Note::Nothing if asks => Note::Effects(request.effects.clone()),
        _ => request.note.clone(),
    };
    veil.note(&mut note);
    differs |= note != request.note;
    // What a dialect sends that hands on the bytes; in a test they say so themselves.
    let parsed = payload::parse(&request.bytes).ok();
    let all = parsed.as_ref().is_some_and(|object| is_all(&request.bytes, object));
    let (object, veiled) = match parsed.filter(|object| *object != event.raw) {
        Some(mut object) => {
            let veiled = veil.payload(&mut object);
            (object, veiled)
        }
        None => (raw.clone(), differs),
    };
    let bytes = (veiled || !all).then(|| serde_json::to_vec(&object).unwrap_or_default());
    if !differs && bytes.is_none() {
        return None;
    }
    let shown = |text: &str, place: bool| {
        let mut value = Value::String(text.into());
        if place {
            veil.place(&mut value)
        } else {
            redact::json(&mut value)
        };
        if human {
            write_out(&mut value);
        }
        value.as_str().unwrap_or_default().to_string()
    };
    Some(Request {
        event: Event {
            input,
            cwd: shown(&event.cwd, true),
            session: shown(&event.session, false),
            tool: shown(&event.tool, false),
            raw,
            ..event.clone()
        },
        bytes: bytes.unwrap_or_else(|| request.bytes.clone()),
        id: request.id.clone(),
        note,
        effects: String::new(),
        home: request.home.clone(),
        salt: request.salt.clone(),
        views: Default::default(),
        ..*request
    })
}

/// What is shown of bytes that are no event.
pub(super) fn text(bytes: &[u8], send: Send) -> String {
    let mut value = Value::String(String::from_utf8_lossy(bytes).into_owned());
    if send == Send::Full {
        redact::json(&mut value)
    } else {
        hide(&mut value)
    };
    value.as_str().unwrap_or_default().to_string()
}

/// A setting applied to the parts of a payload. Each says whether anything differs.
struct Veil {
    send: Send,
    salt: String,
    human: bool,
}

impl Veil {
    fn payload(&self, map: &mut Map<String, Value>) -> bool {
        let masked = self.mask(map);
        if !self.human {
            return masked;
        }
        let shown = map.iter_mut().filter(|(key, _)| !RESULTS.contains(&key.as_str()));
        shown.fold(masked, |differs, (_, value)| write_out(value) | differs)
    }

    fn mask(&self, map: &mut Map<String, Value>) -> bool {
        if self.send == Send::Full {
            return redact::fields(map);
        }
        let mut differs = false;
        for (key, value) in map {
            differs |= match (key.as_str(), value) {
                (key, value) if NAMES.contains(&key) => redact::json(value),
                (key, value) if PLACES.contains(&key) => self.place(value),
                ("tool_input", value) => self.input(value),
                // A batch of calls.
                ("tool_calls", Value::Array(calls)) => {
                    calls.iter_mut().fold(false, |differs, call| {
                        let call = match call {
                            Value::Object(call) => self.payload(call),
                            other => hide(other),
                        };
                        differs | call
                    })
                }
                (_, value) => hide(value),
            };
        }
        differs
    }

    fn input(&self, input: &mut Value) -> bool {
        match input {
            input if self.send == Send::Full => redact::json(input),
            Value::Object(map) => map.iter_mut().fold(false, |differs, (key, value)| {
                let shown = WHAT.contains(&key.as_str());
                differs | if shown { self.place(value) } else { hide(value) }
            }),
            other => hide(other),
        }
    }

    fn place(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) if self.send == Send::Hash && !text.is_empty() => {
                *text =
                    format!("sha256:{}", trust::hash(format!("{}{text}", self.salt).as_bytes()));
                true
            }
            Value::String(_) => redact::json(value),
            _ if self.send == Send::Full => redact::json(value),
            _ => hide(value),
        }
    }

    /// What hookctl itself says of an event: its words and the rule's name stay readable.
    fn note(&self, note: &mut Note) {
        let texts = match note {
            Note::Nothing | Note::Test => return,
            Note::Effects(effects) => [None, Some(effects)],
            Note::Ended(ending) => [Some(&mut ending.rule), Some(&mut ending.reason)],
        };
        for (text, says_more) in texts.into_iter().zip([false, true]) {
            let Some(text) = text else { continue };
            let mut value = Value::String(std::mem::take(text));
            if self.human {
                write_out(&mut value);
            }
            match says_more && self.send != Send::Full {
                true => hide(&mut value),
                false => redact::json(&mut value),
            };
            *text = value.as_str().unwrap_or_default().to_string();
        }
    }
}

/// Texts and keys as a human can read them: does any differ?
fn write_out(value: &mut Value) -> bool {
    match value {
        Value::String(text) => match text::written_out(text) {
            Cow::Owned(new) => {
                *text = new;
                true
            }
            Cow::Borrowed(_) => false,
        },
        Value::Array(items) => items.iter_mut().fold(false, |any, item| write_out(item) | any),
        Value::Object(map) => {
            let any = map.values_mut().fold(false, |any, value| write_out(value) | any);
            let is_hidden = |key: &String| matches!(text::written_out(key), Cow::Owned(_));
            if !map.keys().any(is_hidden) {
                return any;
            }
            for (key, value) in std::mem::take(map) {
                let mut key = text::visible(&key);
                // Another one may be called so from the first.
                while map.contains_key(&key) {
                    key.push('_');
                }
                map.insert(key, value);
            }
            true
        }
        _ => false,
    }
}

/// Puts its length in place of each text; keys, numbers and the shape stay.
fn hide(value: &mut Value) -> bool {
    match value {
        Value::String(text) if !text.is_empty() => {
            *text = format!("[{} bytes]", text.len());
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| any | hide(item)),
        Value::Object(map) => map.values_mut().fold(false, |any, value| any | hide(value)),
        _ => false,
    }
}

/// Is everything that the bytes say in the object? Of a key that comes twice only one value is, and
/// the other has not been looked at.
fn is_all(bytes: &[u8], object: &Map<String, Value>) -> bool {
    fn texts(value: &Value) -> usize {
        match value {
            Value::String(_) => 1,
            Value::Array(items) => items.iter().map(texts).sum(),
            Value::Object(map) => map.values().map(|value| 1 + texts(value)).sum(),
            _ => 0,
        }
    }
    let mut quotes = 0;
    let mut rest = bytes;
    while let Some(at) = memchr::memchr2(b'"', b'\\', rest) {
        let escaped = rest[at] == b'\\';
        quotes += usize::from(!escaped);
        rest = rest.get(at + if escaped { 2 } else { 1 }..).unwrap_or_default();
    }
    quotes == 2 * object.values().map(|value| 1 + texts(value)).sum::<usize>()
}

/// What makes hashes of this installation its own: nobody else can tell what `ls` would be. Where
/// it cannot be kept, it is good for this event only.
fn salt(path: &Path) -> String {
    let read = || files::state_text(path, files::SMALL).ok().filter(|text| text.len() == 64);
    let make = || {
        let dir = path.parent()?;
        files::private_dir(dir).ok()?;
        // For its owner's eyes only, as the system's temporary files are.
        let mut file = tempfile::NamedTempFile::new_in(dir).ok()?;
        file.write_all(random().as_bytes()).ok()?;
        // Of two that come at once the first stays.
        let _ = file.persist_noclobber(path);
        read()
    };
    read().or_else(make).unwrap_or_else(random)
}

fn random() -> String {
    (0..4).map(|_| format!("{:016x}", dialect::random())).collect()
}

#[cfg(test)]
mod tests;
