//! The commands of sftp, ftp and tftp.

use std::ops::Range;

use super::super::call::Next;
use crate::effect::emitter::Emitter;
use crate::effect::value::Value;
use crate::effect::{Extent, Grade, Source, Word};

/// One command: `put FILE`, `get FILE [HERE]`, `!CMD`.
pub fn emit_transfer(out: &mut Emitter, words: &[&str], span: &Range<usize>, next: &mut Vec<Next>) {
    let Some((verb, rest)) = words.split_first() else { return };
    if let Some(command) = verb.strip_prefix('!') {
        let text = [&[command], rest].concat().join(" ");
        next.push(Next::script(Value::known(text, span.clone())));
        return;
    }
    let files: Vec<&str> = rest.iter().filter(|w| !w.starts_with('-')).copied().collect();
    let deep = rest.iter().any(|w| w.starts_with('-') && w.contains(['r', 'R']));
    let mut file = |word: Word, name: &str| {
        let value = Value::known(name, span.clone()).globbed(name.contains(['*', '?']));
        let extent = if deep { Extent::Tree } else { Extent::Exact };
        out.emit_path(word, &value, extent, Grade::Certain, Source::Code);
    };
    match *verb {
        "put" | "reput" | "send" | "append" => {
            files.iter().take(1).for_each(|name| file(Word::Read, name))
        }
        "mput" => files.iter().for_each(|name| file(Word::Read, name)),
        "get" | "reget" | "recv" | "mget" => match files[..] {
            [_, here] => file(Word::Write, here),
            _ => file(Word::Write, "."),
        },
        _ => {}
    }
}
