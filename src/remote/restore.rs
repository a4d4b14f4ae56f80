//! The way back from a view: a server that returns what it was shown means "unchanged", and then
//! the original is put back, so that no mask ever gets into a user's file.

use std::collections::HashMap;

use serde_json::Value;

use crate::dialect::Reply;
use crate::event::Event;
use crate::redact::MASK;
use crate::rule::file::remote::Send;
use crate::text;

/// Why a text cannot be used that was written out.
const WRITTEN_OUT: &str = "it changes a text whose hidden characters were written out for it";

/// How much of either end of a stand-in is told from the text around it, in bytes.
const PIECE: usize = 4;

/// Puts what was not shown back into what the server changed.
///
/// # Errors
/// Where it changed a text that it has seen only in part: that cannot be used.
pub(super) fn restore_hidden(
    reply: &mut Reply,
    send: Send,
    human: bool,
    seen: &Event,
    own: &Event,
) -> Result<(), String> {
    let back = Restorer { send, human };
    if let Some(new) = reply.input.take()
        && let Value::Object(new) =
            back.restore_value(Value::Object(new), &seen.input, &own.input)?
    {
        reply.input = Some(new).filter(|new| own.input.as_object() != Some(new));
    }
    if let Some(new) = reply.response.take() {
        let none = Value::Null;
        let (seen, own) =
            (seen.tool_response().unwrap_or(&none), own.tool_response().unwrap_or(&none));
        reply.response = Some(back.restore_value(new, seen, own)?).filter(|new| new != own);
    }
    Ok(())
}

struct Restorer {
    send: Send,
    human: bool,
}

impl Restorer {
    /// The value with the own texts in place of those that were shown for them.
    fn restore_value(&self, new: Value, seen: &Value, own: &Value) -> Result<Value, String> {
        if new == *seen {
            return Ok(own.clone());
        }
        match (new, seen, own) {
            // Which key of its own one means that was written out nobody knows.
            (Value::Object(_), Value::Object(seen), Value::Object(own))
                if own.keys().any(|key| !seen.contains_key(key)) =>
            {
                Err(WRITTEN_OUT.into())
            }
            (Value::Object(new), Value::Object(seen), Value::Object(own)) => {
                let field = |(key, value): (String, Value)| {
                    let value = match (seen.get(&key), own.get(&key)) {
                        (Some(seen), Some(own)) => self.restore_value(value, seen, own)?,
                        _ => self.reject_stand_ins(value)?,
                    };
                    Ok((key, value))
                };
                Ok(Value::Object(new.into_iter().map(field).collect::<Result<_, String>>()?))
            }
            (Value::Array(new), Value::Array(seen), Value::Array(own))
                if new.len() == seen.len() && seen.len() == own.len() =>
            {
                let items = new.into_iter().zip(seen.iter().zip(own));
                let items = items.map(|(new, (seen, own))| self.restore_value(new, seen, own));
                Ok(Value::Array(items.collect::<Result<_, String>>()?))
            }
            (Value::Array(new), Value::Array(seen), Value::Array(own)) => {
                self.restore_items(new, seen, own)
            }
            (Value::String(new), Value::String(seen), Value::String(own)) => {
                self.text(new, seen, own)
            }
            (new, _, _) => self.reject_stand_ins(new),
        }
    }

    /// A text that is another one now.
    fn text(&self, new: String, seen: &str, own: &str) -> Result<Value, String> {
        if self.human && seen != own && new.contains(text::WRITTEN_OUT) {
            return Err(WRITTEN_OUT.into());
        }
        let lost = match seen == own {
            // They may have stood there from the first.
            true => self.stand_ins(&new) > self.stand_ins(own),
            false => {
                self.stand_ins(&new) > 0
                    || self.has_piece(&new, seen)
                    || new.to_ascii_lowercase().contains("redacted")
            }
        };
        if lost { Err(self.describe_refusal()) } else { Ok(Value::String(new)) }
    }

    /// An array that became longer or shorter: its items are told by what they are.
    fn restore_items(
        &self,
        new: Vec<Value>,
        seen: &[Value],
        own: &[Value],
    ) -> Result<Value, String> {
        // Where two that are not the same look the same, nobody knows which was meant.
        let mut known: HashMap<String, Option<&Value>> = HashMap::new();
        for (seen, own) in seen.iter().zip(own) {
            let one = known.entry(seen.to_string()).or_insert(Some(own));
            *one = one.filter(|one| *one == own);
        }
        let item = |new: Value| match known.get(&new.to_string()) {
            Some(Some(own)) => Ok((*own).clone()),
            Some(None) => Err(self.describe_refusal()),
            None => self.reject_stand_ins(new),
        };
        Ok(Value::Array(new.into_iter().map(item).collect::<Result<_, String>>()?))
    }

    /// What the server put where nothing was, which must be its own.
    fn reject_stand_ins(&self, new: Value) -> Result<Value, String> {
        fn any_text(value: &Value, found: &dyn Fn(&str) -> bool) -> bool {
            match value {
                Value::String(text) => found(text),
                Value::Array(items) => items.iter().any(|item| any_text(item, found)),
                Value::Object(map) => map.values().any(|value| any_text(value, found)),
                _ => false,
            }
        }
        match any_text(&new, &|text| self.stand_ins(text) > 0) {
            true => Err(self.describe_refusal()),
            false => Ok(new),
        }
    }

    /// Is there a piece of what stood there for the own text? Servers cut texts, too.
    fn has_piece(&self, text: &str, seen: &str) -> bool {
        let ends = |whole: &str| {
            let (first, last) =
                (whole.get(..PIECE), whole.get(whole.len().saturating_sub(PIECE)..));
            first.into_iter().chain(last).map(str::to_ascii_lowercase).collect::<Vec<_>>()
        };
        let text = text.to_ascii_lowercase();
        let whole = self.stand_ins(seen) > 0 && !seen.contains(MASK);
        let pieces = ends(MASK).into_iter().chain(if whole { ends(seen) } else { Vec::new() });
        pieces.into_iter().any(|piece| text.contains(&piece))
    }

    /// How often something stands in the text for what was not shown.
    fn stand_ins(&self, text: &str) -> usize {
        let text = text.to_ascii_lowercase();
        let mut count = text.matches(MASK).count();
        if self.send != Send::Full {
            let number = |part: &str| {
                let digits = part.bytes().rev().take_while(u8::is_ascii_digit).count();
                digits > 0 && part[..part.len() - digits].ends_with('[')
            };
            let parts: Vec<&str> = text.split(" bytes]").collect();
            count += parts[..parts.len() - 1].iter().filter(|part| number(part)).count();
        }
        if self.send == Send::Hash {
            let hex = |part: &&str| part.bytes().take_while(u8::is_ascii_hexdigit).count() >= 64;
            count += text.split("sha256:").skip(1).filter(hex).count();
        }
        count
    }

    fn describe_refusal(&self) -> String {
        match self.send {
            Send::Full => "it changes a text from which a secret was taken out".into(),
            _ => "it changes a text that it was not shown".into(),
        }
    }
}
