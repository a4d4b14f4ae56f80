//! Cline's own events as the listener reads them: `tool` beside `toolName`, and a time that is a date.

use super::json::Json;
use crate::dialect::format_time;

/// What is about a tool.
const TOOLS: &[&str] = &["\"preToolUse\"", "\"postToolUse\""];

/// The event with what it lacks; None where it lacks nothing, or is none of Cline's.
pub(super) fn complete_event(body: &[u8]) -> Option<Vec<u8>> {
    let mut event = Json::parse(std::str::from_utf8(body).ok()?)?;
    let mut differs = false;
    if let Json::Object(entries) = &mut event {
        for (key, value) in entries {
            if TOOLS.contains(&key.as_str()) {
                differs |= name_tool(value);
            }
        }
    }
    let text = event.scalar("timestamp").and_then(|text| text.strip_prefix('"')?.strip_suffix('"'));
    if let Some(ms) = text.and_then(|digits| digits.parse().ok()) {
        event.set("timestamp", Json::text(&format_time(ms)));
        differs = true;
    }
    differs.then(|| event.to_compact().into_bytes())
}

/// Puts `tool` behind `toolName`, where it is not there.
fn name_tool(call: &mut Json) -> bool {
    let Json::Object(entries) = call else { return false };
    let at = |name: &str| entries.iter().position(|(key, _)| key == name);
    match (at("\"toolName\""), at("\"tool\"")) {
        (Some(at), None) => {
            let name = entries[at].1.clone();
            entries.insert(at + 1, ("\"tool\"".into(), name));
            true
        }
        _ => false,
    }
}
