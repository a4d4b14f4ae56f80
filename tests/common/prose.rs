//! What a sentence looks like that a placeholder without a value has left a hole in.

/// What empty placeholders and unread ones leave behind.
const HOLES: &[&str] = &["  ", " ,", " ;", " : ", " . ", "()", "``", "\"\""];
/// What a template's placeholders begin with.
const OPEN: &[&str] =
    &["{path", "{command", "{tool", "{host", "{run.", "{error", "{input.", "{rule", "{reason"];

/// The hole in what somebody is told, if there is one. What stands so in the call itself is a quotation.
pub fn hole(told: &str, call: &str) -> Option<String> {
    let at_end = |found: char| found.is_whitespace();
    if told.starts_with(at_end) || told.ends_with(at_end) {
        return Some(format!("a blank at an end of {told:?}"));
    }
    if told.starts_with(['.', ',', ';', ':']) && told[1..].starts_with(' ') || told.ends_with(" .")
    {
        return Some(format!("a mark without a word in {told:?}"));
    }
    let quoted = |what: &str| call.contains(what);
    let found = HOLES.iter().chain(OPEN).find(|what| told.contains(**what) && !quoted(what))?;
    Some(format!("{found:?} in {told:?}"))
}
