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

use crate::dialect::{self, Note, Origin, Request};
use crate::event::Event;
use crate::files;
use crate::names::privacy::{NAMES, PLACES};
use crate::payload;
use crate::redact;
use crate::rule::file::remote::Send;
use crate::text;
use crate::trust;

/// Fields of a tool's input that say what is called on what ([`Event::call_summary`]): as places.
const WHAT: &[&str] = &["command", "file_path", "notebook_path", "path", "url"];

/// Fields with what a tool returned: nobody is asked about it, and it comes back changed.
const RESULTS: &[&str] = &["tool_response", "tool_result"];

/// What of the request is shown with this setting, to a human or to a program; None = all of it, as it came.
pub(super) fn restricted_view(request: &Request, send: Send, human: bool) -> Option<Request> {
    let salt = if send == Send::Hash { load_salt(&request.salt) } else { String::new() };
    let veil = Veil { send, salt, human };
    let event = &request.event;
    let mut raw = event.raw.clone();
    let mut differs = veil.veil_payload(&mut raw);
    let input = match event.raw.get("tool_input") == Some(&event.input) {
        true => raw["tool_input"].clone(),
        false => {
            let mut input = event.input.clone();
            differs |= veil.veil_input(&mut input) | (human && write_out(&mut input));
            input
        }
    };
    let asks = human && send == Send::Full && event.kind.is_gate() && !request.effects.is_empty();
    let mut note = match request.note {
        Note::Nothing if asks => Note::Effects(request.effects.clone()),
        _ => request.note.clone(),
    };
    veil.veil_note(&mut note);
    differs |= note != request.note;
    // What a dialect sends that hands on the bytes; in a test they say so themselves.
    let parsed = payload::parse(&request.bytes).ok();
    let all = parsed.as_ref().is_some_and(|object| is_all(&request.bytes, object));
    let (object, veiled) = match parsed.filter(|object| *object != event.raw) {
        Some(mut object) => {
            let veiled = veil.veil_payload(&mut object);
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
            veil.veil_value(&mut value)
        } else {
            redact::mask_json(&mut value)
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
pub(super) fn shown_text(bytes: &[u8], send: Send) -> String {
    let mut value = Value::String(String::from_utf8_lossy(bytes).into_owned());
    if send == Send::Full {
        redact::mask_json(&mut value)
    } else {
        hide_texts(&mut value)
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
    fn veil_payload(&self, map: &mut Map<String, Value>) -> bool {
        let masked = self.mask_fields(map);
        if !self.human {
            return masked;
        }
        let shown = map.iter_mut().filter(|(key, _)| !RESULTS.contains(&key.as_str()));
        shown.fold(masked, |differs, (_, value)| write_out(value) | differs)
    }

    fn mask_fields(&self, map: &mut Map<String, Value>) -> bool {
        if self.send == Send::Full {
            return redact::mask_fields(map);
        }
        let mut differs = false;
        for (key, value) in map {
            differs |= match (key.as_str(), value) {
                (key, value) if NAMES.contains(&key) => redact::mask_json(value),
                (key, value) if PLACES.contains(&key) => self.veil_value(value),
                ("tool_input", value) => self.veil_input(value),
                // A batch of calls.
                ("tool_calls", Value::Array(calls)) => {
                    calls.iter_mut().fold(false, |differs, call| {
                        let call = match call {
                            Value::Object(call) => self.veil_payload(call),
                            other => hide_texts(other),
                        };
                        differs | call
                    })
                }
                (_, value) => hide_texts(value),
            };
        }
        differs
    }

    fn veil_input(&self, input: &mut Value) -> bool {
        match input {
            input if self.send == Send::Full => redact::mask_json(input),
            Value::Object(map) => map.iter_mut().fold(false, |differs, (key, value)| {
                let shown = WHAT.contains(&key.as_str());
                differs | if shown { self.veil_value(value) } else { hide_texts(value) }
            }),
            other => hide_texts(other),
        }
    }

    fn veil_value(&self, value: &mut Value) -> bool {
        match value {
            Value::String(text) if self.send == Send::Hash && !text.is_empty() => {
                *text = format!(
                    "sha256:{}",
                    trust::sha256_hex(format!("{}{text}", self.salt).as_bytes())
                );
                true
            }
            Value::String(_) => redact::mask_json(value),
            _ if self.send == Send::Full => redact::mask_json(value),
            _ => hide_texts(value),
        }
    }

    /// What hookctl itself says of an event: its words and the rule's name stay readable.
    fn veil_note(&self, note: &mut Note) {
        // Whether it says more than a name.
        let mut origin = None;
        let texts: Vec<(&mut String, bool)> = match note {
            Note::Nothing | Note::Test => return,
            Note::Effects(effects) => vec![(effects, true)],
            Note::Ended(ending) => {
                origin = Some(&mut ending.origin);
                vec![(&mut ending.rule, false), (&mut ending.reason, true)]
            }
            Note::Heartbeat(heartbeat) => {
                origin = Some(&mut heartbeat.origin);
                // These are of the machine, and of no call: without them nobody could mend it.
                let hide = self.send == Send::Hash;
                heartbeat.problems.iter_mut().map(|problem| (problem, hide)).collect()
            }
        };
        // Who and where is a name that tells machines apart: of hashes the same machine has the same.
        for text in origin.into_iter().flat_map(|Origin { user, host }| [user, host]) {
            let mut value = Value::String(std::mem::take(text));
            if self.send == Send::Hash {
                self.veil_value(&mut value);
            }
            *text = value.as_str().unwrap_or_default().to_string();
        }
        for (text, says_more) in texts {
            let mut value = Value::String(std::mem::take(text));
            if self.human {
                write_out(&mut value);
            }
            match says_more && self.send != Send::Full {
                true => hide_texts(&mut value),
                false => redact::mask_json(&mut value),
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
                let mut key = text::make_visible(&key);
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
fn hide_texts(value: &mut Value) -> bool {
    match value {
        Value::String(text) if !text.is_empty() => {
            *text = format!("[{} bytes]", text.len());
            true
        }
        Value::Array(items) => items.iter_mut().fold(false, |any, item| any | hide_texts(item)),
        Value::Object(map) => map.values_mut().fold(false, |any, value| any | hide_texts(value)),
        _ => false,
    }
}

/// Is everything that the bytes say in the object? Of a key that comes twice only one value is, and
/// the other has not been looked at.
fn is_all(bytes: &[u8], object: &Map<String, Value>) -> bool {
    fn count_texts(value: &Value) -> usize {
        match value {
            Value::String(_) => 1,
            Value::Array(items) => items.iter().map(count_texts).sum(),
            Value::Object(map) => map.values().map(|value| 1 + count_texts(value)).sum(),
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
    quotes == 2 * object.values().map(|value| 1 + count_texts(value)).sum::<usize>()
}

/// What makes hashes of this installation its own: nobody else can tell what `ls` would be. Where
/// it cannot be kept, it is good for this event only.
pub(super) fn load_salt(path: &Path) -> String {
    let read = || files::state_text(path, files::SMALL).ok().filter(|text| text.len() == 64);
    let make = || {
        let dir = path.parent()?;
        files::private_dir(dir).ok()?;
        // For its owner's eyes only, as the system's temporary files are.
        let mut file = tempfile::NamedTempFile::new_in(dir).ok()?;
        file.write_all(random_salt().as_bytes()).ok()?;
        // Of two that come at once the first stays.
        let _ = file.persist_noclobber(path);
        read()
    };
    read().or_else(make).unwrap_or_else(random_salt)
}

fn random_salt() -> String {
    (0..4).map(|_| format!("{:016x}", dialect::random_number())).collect()
}

#[cfg(test)]
mod tests;
