//! gh and glab: requests by hand, aliases, clones.

use super::super::effects::Call;
use crate::effect::emitter::Emitter;
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Word};

/// `gh api`: GET unless a method or fields say otherwise; a GraphQL query is a read, a mutation a
/// write.
pub fn api(out: &mut Emitter, call: &Call, values: &[Value]) {
    let mut push = |word| out.push(word, Grade::Certain, Source::Program, call.span.clone());
    push(Word::Network);
    let value = |name: &str| call.parsed.option(name).map(|o| o.value.as_ref());
    let fields = ["-f", "--input"].iter().any(|name| call.parsed.option(name).is_some());
    let graphql = values.first().and_then(Value::plain) == Some("graphql");
    let reads = match value("-X") {
        _ if graphql => call.parsed.options.iter().filter_map(|o| o.value.as_ref()).all(|value| {
            value
                .plain()
                .is_some_and(|text| !text.contains("mutation") && !text.starts_with("query=@"))
        }),
        Some(method) => method.and_then(Value::plain).is_some_and(|method| {
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
        .and_then(Value::plain)
        .is_some_and(|method| method.eq_ignore_ascii_case("DELETE"));
    if deletes {
        push(Word::Named("cloud.delete"));
    }
}

/// `gh alias set NAME TEXT`: text behind `!` is run by a shell from then on.
pub fn alias(out: &mut Emitter, values: &[Value]) {
    if let Some(text) = values.get(1).filter(|v| v.start().starts_with('!') || v.text().is_none()) {
        out.unknown("an alias that runs shell text", text.span.clone());
    }
}

/// `gh repo clone OWNER/NAME [DIR]`.
pub fn clone(out: &mut Emitter, values: &[Value]) {
    let dir = match values {
        [_, dir, ..] => dir.clone(),
        [from] => {
            let last = from.plain().map(|t| t.trim_end_matches(".git").rsplit('/').next());
            match last.flatten() {
                Some(name) => Value::known(name, from.span.clone()),
                None => Value::begins("./", from.span.clone()),
            }
        }
        [] => return,
    };
    out.path(Word::Write, &dir, Extent::Tree, Grade::Certain, Source::Operand);
}
