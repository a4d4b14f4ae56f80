//! Inline programs in a language that is not known: only looked at.
//!
//! A list of words says whether they could execute, write, delete or send. Without such a word the
//! program is code and nothing more; with one it is also an execution that nobody understands.

use super::super::call::Next;
use super::super::guess;
use crate::effect::emitter::Emitter;
use crate::effect::value::{Value, looks_like_path};
use crate::effect::{Extent, Grade, Source, Word};
use crate::limits::{self, Cap};
use crate::names::generic::{HARMLESS, SIGNS};

/// Looks at a program in a language that nothing else here knows.
pub fn emit(out: &mut Emitter, text: &str, span: &std::ops::Range<usize>, next: &mut Vec<Next>) {
    emit_paths(out, text, span);
    let mut rest = text.to_string();
    for word in HARMLESS {
        if rest.contains(word) {
            rest = rest.replace(word, " ");
        }
    }
    if let Some(sign) = SIGNS.iter().find(|sign| rest.contains(**sign)) {
        let why = format!(
            "an inline program that may execute or write: `{}`",
            sign.trim().replace('`', "backticks")
        );
        out.emit_unknown(&why, span.clone());
    }
    next.extend(guess::of_value(&Value::known(text, span.clone())));
}

/// String literals that look like paths: read for certain, possibly written.
fn emit_paths(out: &mut Emitter, text: &str, span: &std::ops::Range<usize>) {
    let mut rest = text;
    let mut found = 0;
    while let Some(at) = rest.find(['"', '\'']) {
        let quote = rest.as_bytes()[at];
        let inner = &rest[at + 1..];
        let Some(end) = inner.bytes().position(|b| b == quote) else { break };
        let literal = &inner[..end];
        let shaped = literal.len() < limits::PATH_MAX
            && !literal.contains([' ', '\n', '*', '%', '{', '<'])
            && looks_like_path(literal)
            && Cap::Literals.admits(found + 1);
        if shaped {
            found += 1;
            let home = out.place.home.clone();
            let literal = match literal.strip_prefix("~/") {
                Some(rest) => format!("{home}/{rest}"),
                None => literal.to_string(),
            };
            let value = Value::known(literal, span.clone());
            out.code_path(Word::Read, &value);
            out.emit_path(Word::Write, &value, Extent::Exact, Grade::Possible, Source::Code);
        }
        rest = &inner[end + 1..];
    }
}
