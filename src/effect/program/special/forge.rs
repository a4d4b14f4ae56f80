//! gh and glab: requests by hand, aliases, clones.

use super::super::effects::Call;
use super::git::named_after;
use crate::effect::Word;
use crate::effect::emitter::Emitter;
use crate::effect::value::Value;

/// `gh api`: GET unless a method or fields say otherwise; a GraphQL query is a read, a mutation a
/// write.
pub fn emit_api(out: &mut Emitter, call: &Call, values: &[Value]) {
    let mut push = |word| call.does(out, word);
    push(Word::Network);
    let value = |name: &str| call.parsed.find_option(name).map(|o| o.value.as_ref());
    let fields = call.has_any(&["-f", "--input"]);
    let graphql = values.first().and_then(Value::plain_text) == Some("graphql");
    let reads = match value("-X") {
        _ if graphql => call.parsed.options.iter().filter_map(|o| o.value.as_ref()).all(|value| {
            value
                .plain_text()
                .is_some_and(|text| !text.contains("mutation") && !text.starts_with("query=@"))
        }),
        Some(method) => method.and_then(Value::plain_text).is_some_and(|method| {
            ["GET", "HEAD", "OPTIONS"].iter().any(|safe| method.eq_ignore_ascii_case(safe))
        }),
        None => !fields,
    };
    if reads {
        return;
    }
    push(Word::Send);
    let deletes = value("-X")
        .flatten()
        .and_then(Value::plain_text)
        .is_some_and(|method| method.eq_ignore_ascii_case("DELETE"));
    if deletes {
        push(Word::Named("cloud.delete"));
    }
}

/// `gh alias set NAME TEXT`: text behind `!` is run by a shell from then on.
pub fn emit_alias(out: &mut Emitter, values: &[Value]) {
    if let Some(text) =
        values.get(1).filter(|v| v.known_start().starts_with('!') || v.text().is_none())
    {
        out.emit_unknown("an alias that runs shell text", text.span.clone());
    }
}

/// `gh repo clone OWNER/NAME [DIR]`.
pub fn emit_clone(out: &mut Emitter, values: &[Value]) {
    let dir = match values {
        [_, dir, ..] => dir.clone(),
        [from] => {
            let last =
                from.plain_text().and_then(|t| t.trim_end_matches(".git").rsplit('/').next());
            named_after(from, last)
        }
        [] => return,
    };
    out.operand_tree(Word::Write, &dir);
}
